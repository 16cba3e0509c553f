"""The picture of an automaton as DOT text."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from test_conditions import FIG_1A, FIG_1D
from test_pda import automaton

from loopless.automaton import dot
from loopless.terms import greater, variable
from loopless.terms.types import IntType

TESTS = Path(__file__).resolve().parent.parent


def edges(text: str) -> set[tuple[str, str]]:
    return set(re.findall(r"^  (s\d+) -> (s\d+) \[", text, re.MULTILINE))


def line(text: str, start: str) -> str:
    (found,) = (part for part in text.splitlines() if part.startswith(start))
    return found


def test_states_and_transitions_are_those_of_the_automaton() -> None:
    found = automaton(FIG_1A)
    text = dot(found)
    assert edges(text) == {(t.source, t.target) for t in found.transitions}
    assert re.findall(r"^  (s\d+) \[", text, re.MULTILINE) == [s.name for s in found.states]
    assert text.count("{") - text.count("}") == 0
    assert text.startswith("digraph")


def test_initial_and_accepting_states_are_marked() -> None:
    some = automaton(FIG_1A, greater(variable("x", IntType(32)), variable("n", IntType(32))))
    text = dot(some)
    exit = some.accepting[0]
    assert "peripheries=2" in line(text, f"  {exit.name} [")
    assert re.findall(r"^  start_(s\d+) ->", text, re.MULTILINE) == [exit.name]
    endless = dot(automaton("int f(int i) { while (i < 10) i = 0; return i; }"))
    assert "octagon" in line(endless, "  s1 [")
    assert "octagon" not in line(endless, "  s2 [")


def test_the_legend_says_what_the_marks_mean_that_there_are() -> None:
    heading = line(dot(automaton(FIG_1A)), "  label=")
    assert "red: the loop may begin here; double border: leaves the loop" in heading
    assert "octagon" not in heading
    assert "dashed" not in heading
    endless = line(dot(automaton("int f(int i) { while (i < 10) i = 0; return i; }")), "  label=")
    assert "octagon: no path follows" in endless


def test_states_name_the_paths_that_they_are() -> None:
    found = automaton(FIG_1A)
    for state in found.states:
        assert f"{state.name} = path {state.path.id}" in line(dot(found), f"  {state.name} [")


def test_labels_name_counter_guard_and_update() -> None:
    found = automaton(FIG_1A)
    text = dot(found, title='the "first" loop')
    for one in found.transitions:
        label = line(text, f"  {one.source} -> {one.target} [")
        assert f"φ: {one.counter.name} = " in label
        assert "ϕ: " in label
        assert "U: " in label
    assert '\\"first\\"' in text


def test_approximate_transitions_are_dashed() -> None:
    assert "dashed" not in dot(automaton(FIG_1A))
    found = automaton("int f(const int *a, int i, int n) { while (i < n && a[i] != 3) i++; return i; }")
    assert dot(found).count("style=dashed") == len(found.transitions) > 0


def test_the_same_loop_gives_the_same_text_whatever_the_hash_seed() -> None:
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]; from loopless.automaton import dot; from test_pda import automaton;"
        "from test_conditions import FIG_1D; sys.stdout.buffer.write(dot(automaton(FIG_1D), 'loop').encode())"
    )
    folders = [str(TESTS), str(TESTS / "automaton"), str(TESTS.parent / "src")]
    texts = {
        subprocess.run(
            [sys.executable, "-c", program, *folders],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout.decode()
        for seed in ("1", "2")
    }
    assert texts == {dot(automaton(FIG_1D), "loop")}

"""The picture of an automaton as DOT text."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from automata_in_c import automaton
from figures_of_proteus import FIG_1A, FIG_1D
from loopless.automaton import dot, number_of_edges
from loopless.automaton.drawing import _broken
from loopless.terms import TRUE, greater, variable
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
    assert "arrow from nowhere: the loop may begin here; double border: leaves the loop" in heading
    assert "red" not in heading
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
        assert f"times: {one.times}" in label
        assert ("if " in label) is (one.guard is not TRUE)
        assert all(f"{var.name}' = " in label for var in one.update)
    assert '\\"first\\"' in text


def test_approximate_transitions_are_dashed() -> None:
    assert "dashed" not in dot(automaton(FIG_1A))
    found = automaton("int f(const int *a, int i, int n) { while (i < n && a[i] != 3) i++; return i; }")
    assert dot(found).count("style=dashed") == len(found.transitions) > 0


def test_undefined_ends_look_unlike_others() -> None:
    text = dot(automaton("int f(int i, int n) { while (i < n) i += 2; return i; }"))
    assert "red: undefined behaviour" in line(text, "  label=")
    ways_out = [line(text, f"  {name} [") for name in ("s2", "s3")]
    assert ["peripheries=2" in one for one in ways_out] == [True, False]
    assert ["style=filled" in one for one in ways_out] == [False, True]
    assert "undefined (signed overflow), line 1" in ways_out[1]


CHOICES = """int f(const unsigned char *s, int i, int n) {
    while (i < n) {
        if (s[i] < 10) i += 1;
        else if (s[i] < 20) i += 2;
        else if (s[i] < 30) i += 3;
        else i += 4;
    }
    return i;
}"""


def test_paths_that_follow_one_another_in_any_order_are_one_state_of_a_picture() -> None:
    found = automaton(CHOICES)
    whole, folded = dot(found), dot(found, folded=True)
    assert edges(whole) == {(t.source, t.target) for t in found.transitions}
    assert len(edges(whole)) > 20
    # All four in one, the way out, and what is undefined.
    assert edges(folded) == {("s1", "s1"), ("s1", "s5"), ("s1", "s6")}
    assert number_of_edges(found) == 3
    for path in found.paths.all:
        assert f"{path.id}: " in folded
    small = automaton(FIG_1A)
    assert dot(small, folded=True) == dot(small)


def test_long_conditions_are_broken_between_their_parts() -> None:
    whole = "if i < 100 && " + " && ".join(f"(i != {number} || j > {number})" for number in range(10, 40))
    lines = _broken(whole).split("\n")
    assert " ".join(line.strip() for line in lines) == whole
    assert all(30 < len(line) <= 60 for line in lines[:-1])
    assert _broken("i' = i + 1, j' = j + 1", ", ") == "i' = i + 1, j' = j + 1"


def test_the_same_loop_gives_the_same_text_whatever_the_hash_seed() -> None:
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]; from loopless.automaton import dot; from automata_in_c import automaton;"
        "from figures_of_proteus import FIG_1D; sys.stdout.buffer.write(dot(automaton(FIG_1D), 'loop').encode())"
    )
    folders = [str(TESTS / "support"), str(TESTS.parent / "src")]
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

"""Execution patterns and loop types against the papers, the examples, and concrete runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from automata_in_c import DETERMINISTIC, FIG_6A, WITH_INPUT, loop
from example_expectations import EXAMPLES, LoopFact, example_files, expectations
from figures_of_proteus import FIG_1A, FIG_1B, FIG_1C, FIG_1D, FIG_1E, FIG_1F, NONDET
from loopless.automaton import Component, Pattern, classify, execution
from loopless.flowgraph import build
from loopless.paths import LoopPaths, loop_paths
from loopless.source import load
from loopless.terms import evaluate, text
from loops_in_c import paths
from walking import Run, Walker

STATED = [file for file in example_files() if any(isinstance(e, LoopFact) for e in expectations(file))]

FIG_6A_WHOLE = (
    NONDET + "int f(int m, int n) { int i = 0, j = 0; __VERIFIER_assume(0 < m && m < n);"
    " while (i < n) { if (j < m) j++; else { j = 0; i++; } } return 1000 * i + j; }"
)


@pytest.mark.parametrize(
    ("source", "type"),
    [
        pytest.param(FIG_1A, 1, id="1a"),
        pytest.param(FIG_1B, 2, id="1b"),
        pytest.param(FIG_1C, 3, id="1c"),
        pytest.param(FIG_1D, 4, id="1d"),
        pytest.param(FIG_1E, 4, id="1e"),
        pytest.param(FIG_1F, 3, id="1f"),
    ],
)
def test_the_loops_of_proteus_figure_1_have_the_types_that_section_2_2_says(source: str, type: int) -> None:
    assert classify(loop(source)).type == type


@pytest.mark.parametrize("file", STATED, ids=lambda file: str(file.relative_to(EXAMPLES)))
def test_the_examples_have_the_types_and_paths_that_they_state(file: Path) -> None:
    program = load([file])
    for fact in expectations(file):
        if not isinstance(fact, LoopFact):
            continue
        graph = build(program.inlined.functions[fact.function], program.inlined)
        found = loop_paths(graph, sorted(graph.loops, key=lambda info: info.line)[fact.index - 1])
        assert isinstance(found, LoopPaths), found
        if fact.kind == "type":
            assert classify(found).type == fact.value
        else:
            assert len(found.iterative) == fact.value


@pytest.mark.parametrize(
    ("source", "conditions", "pattern"),
    [
        (FIG_1A, "IV", "periodic"),
        (FIG_1B, "IV", "irregular"),
        (FIG_1C, "NIV", "sequential"),
        (FIG_1D, "NIV", "irregular"),
        (FIG_1E, "NIV", "irregular"),
        (FIG_1F, "NIV", "periodic"),
        (FIG_6A, "NIV", "periodic"),
    ],
    ids=["1a", "1b", "1c", "1d", "1e", "1f", "6a"],
)
def test_rows_and_columns_of_table_1(source: str, conditions: str, pattern: str) -> None:
    found = classify(loop(source))
    assert (found.conditions, found.execution) == (conditions, pattern)
    assert found.decided
    assert (found.type == 1) == (not found.reasons)


def test_an_outer_loop_has_no_type_while_its_inner_loop_is_not_summarized() -> None:
    source = "int f(int n) { int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) s ^= j; return s; }"
    answers = [classify(paths(source, index)) for index in range(2)]
    outer, inner = sorted(answers, key=lambda answer: answer.loop.depth)
    assert (outer.type, outer.label, outer.execution) == (None, "-", None)
    assert outer.refused is not None
    assert outer.refused.detail in outer.reasons
    assert inner.type == 1


def periods(source: str) -> list[dict[str, str]]:
    return [
        {name: text(times) for name, times in period}
        for component in execution(loop(source)).components
        for period in component.periods
    ]


def test_the_period_of_figure_1a_is_one_and_one() -> None:
    assert [sorted(period.values()) for period in periods(FIG_1A)] == [["1", "1"]]


@pytest.mark.parametrize("source", [FIG_6A, FIG_6A_WHOLE])
def test_the_period_of_figure_6a_is_m_and_one(source: str) -> None:
    assert [sorted(period.values()) for period in periods(source)] == [["1", "m"]]


def test_the_round_of_figure_1f_has_four_paths_once_each() -> None:
    assert [list(period.values()) for period in periods(FIG_1F)] == [["1"] * 4]


def orders(source: str) -> list[int]:
    return [component.order for component in execution(loop(source)).components]


def test_components_are_ordered_by_size_and_listed_as_a_run_passes_them() -> None:
    # LoopSCC, Fig. 1(a): three branches without a way back; (d): one component of three.
    assert orders(
        "int f(int i, int x) { while (i < 100) { if (x > 1) { x += 1; i += 3; } else if (x < -1) { x += 1; i += 5; }"
        " else { x += 1; i += 7; } } return x + i; }"
    ) == [1, 1, 1]
    assert orders(
        "int f(int i, int x) { while (i < 100) { if (x > 1) { x -= 5; i += 3; } else if (x < -1) { x += 1; i += 5; }"
        " else { x += 9; i += 7; } } return x + i; }"
    ) == [3]
    flag = execution(loop("int f(int i, int b) { while (i < 9) { if (b) i++; else b = 1; } return i; }"))
    assert [component.order for component in flag.components] == [0, 1]
    assert flag.pattern is Pattern.SEQUENTIAL


@pytest.mark.parametrize(
    ("source", "pattern"),
    [
        pytest.param("int f(int x) { while (x < 50) { if (x < 10) x += 3; else x += 2; } return x; }",
                     Pattern.SEQUENTIAL, id="two phases"),
        pytest.param("int f(int x, int y) { while (x < y) { if (x < 10) x += 40; else if (x > 30) x += 1;"
                     " else x += 2; } return x; }", Pattern.SEQUENTIAL, id="a jump over a phase"),
        pytest.param("int f(int x, int n) { while (n > 0) { if (x < 5) x += 2; else x -= 5; n--; } return x; }",
                     Pattern.IRREGULAR, id="two or three steps up"),
        pytest.param("int f(int x, int n) { while (n > 0) { if (x < 6) x += 2; else x -= 6; n--; } return x; }",
                     Pattern.PERIODIC, id="three steps up"),
        pytest.param("unsigned f(unsigned x, unsigned n) { while (n) { if (x < 100) x += 7; else x = 0; n--; }"
                     " return x; }", Pattern.PERIODIC, id="a reset"),
        pytest.param("int f(int x, int n, int m) { while (n > 0) { if (x < m) x += 3; else x = 1; n--; } return x; }",
                     Pattern.PERIODIC, id="a reset at a limit that is not known"),
        pytest.param("int f(int x, int n, int m) { while (n > 0) { if (x < m) x += 3; else { x = 1; m++; } n--; }"
                     " return x; }", Pattern.IRREGULAR, id="a reset at a limit that moves"),
        pytest.param("int f(int a, int b, int n) { while (n-- > 0) { int t = a; if (a > b) { a = b; b = t; }"
                     " else a++; } return a; }", Pattern.PERIODIC, id="a swap that comes after each step in the end"),
    ],
)  # fmt: skip
def test_patterns_that_follow_from_the_definitions(source: str, pattern: Pattern) -> None:
    found = execution(loop(source))
    assert found.pattern is pattern
    assert found.decided


def test_too_little_time_gives_an_undecided_irregular_pattern() -> None:
    found = classify(loop(FIG_1A), operations=50)
    assert (found.type, found.execution, found.decided) == (2, "irregular", False)
    assert any("too long" in reason for reason in found.reasons)


def test_what_the_logic_cannot_express_is_undecided_and_says_why() -> None:
    found = classify(loop("int f(int a, int b) { while (a != b) { if (a > b) a -= b; else b -= a; } return a; }"))
    assert (found.type, found.decided) == (4, False)
    assert any("the logic cannot follow" in reason for reason in found.reasons)


# -- concrete runs ---------------------------------------------------------------------------------


def inside(component: Component, runs: list[Run], names: dict[str, str]) -> list[Run]:
    return [run for run in runs if names[run.path.id] in component.states]


@pytest.mark.parametrize("source", DETERMINISTIC + WITH_INPUT)
def test_concrete_runs_keep_to_the_pattern(source: str) -> None:
    given = loop(source)
    found = execution(given)
    names = {path.id: f"s{number}" for number, path in enumerate(given.all, start=1)}
    walker = Walker(given, 3)
    for _ in range(60):
        runs = walker.runs(walker.start(), 150)
        passed = [next(i for i, c in enumerate(found.components) if names[run.path.id] in c.states) for run in runs]
        assert passed == sorted(passed)
        for component in found.components:
            part = inside(component, runs, names)
            taken = [names[run.path.id] for run in part]
            match component.pattern:
                case Pattern.SEQUENTIAL:
                    assert len(set(taken)) == len(taken)
                case Pattern.PERIODIC:
                    for run in part[len(component.states) :]:
                        here, there = names[run.path.id], names[run.following.id]
                        for period in map(dict, component.periods):
                            if here in period and there in period:
                                assert run.times == evaluate(period[here], run.start, walker.memory)
                case Pattern.IRREGULAR:
                    pass


@pytest.mark.parametrize(
    "source",
    [
        FIG_1B,
        FIG_1D,
        FIG_1E,
        "int f(int x, int n) { while (n > 0) { if (x < 5) x += 2; else x -= 5; n--; } return x; }",
        "int f(int n, int x) { while (n > 0) { if (x >= 50) x -= 2; else if (x < 0) x++; else x += 11; n--; } return x; }",
    ],
)
@pytest.mark.slow
def test_irregular_loops_do_differ_between_rounds(source: str) -> None:
    given = loop(source)
    found = execution(given)
    assert found.pattern is Pattern.IRREGULAR
    assert found.decided
    names = {path.id: f"s{number}" for number, path in enumerate(given.all, start=1)}
    (component,) = (c for c in found.components if c.pattern is Pattern.IRREGULAR)
    walker = Walker(given, 5)
    rounds: dict[str, set[tuple[str, int]]] = {}
    for _ in range(300):
        part = inside(component, walker.runs(walker.start(), 150), names)
        for run in part[len(component.states) :]:
            if names[run.following.id] in component.states:
                rounds.setdefault(run.path.id, set()).add((run.following.id, run.times))
    assert any(len(ways) > 1 for ways in rounds.values())

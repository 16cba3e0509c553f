"""IV and NIV conditions against Proteus's definitions, its examples, and concrete iterations."""

from __future__ import annotations

from itertools import pairwise

import pytest

from figures_of_proteus import FIG_1A, FIG_1B, FIG_1C, FIG_1D, FIG_1E, FIG_1F
from loopless.automaton import LoopCondition, loop_conditions
from loopless.paths import LoopPaths
from loopless.terms import IntType, Layout, Rows, Scalar, as_declared, evaluate, text
from loops_in_c import paths
from walking import Walker

INTS = Layout((Rows(0, None, 4, "", {(0, 4): Scalar("", IntType(32))}),))
"""What the pointers of these programs point to."""


def conditions(source: str) -> dict[str, LoopCondition]:
    found = paths(source)
    assert isinstance(found, LoopPaths), found
    with as_declared(dict.fromkeys(("a", "b"), INTS)):
        return {text(one.condition): one for one in loop_conditions(found)}


def kinds(source: str) -> dict[str, str]:
    return {shown: one.kind for shown, one in conditions(source).items()}


def either_way(*conditions: str) -> frozenset[str]:
    return frozenset(conditions)


def check(found: dict[str, str], *expected: tuple[frozenset[str], str]) -> None:
    """Each condition, in one of its two directions, is of its kind, and there are no others."""
    assert len(found) == len(expected), found
    for ways, kind in expected:
        assert [found[way] for way in ways if way in found] == [kind], (ways, found)


def test_figure_1a_x_less_than_n_is_an_iv_condition_that_moves_by_one_on_one_path_only() -> None:
    found = conditions(FIG_1A)
    check(
        {shown: one.kind for shown, one in found.items()},
        (either_way("x < n", "n <= x"), "IV"),
        (either_way("x < z", "z <= x", "z > x"), "IV"),
    )
    moves = next(one for shown, one in found.items() if "n" in shown).changes
    assert sorted(abs(evaluate(change, {})) for change in moves.values()) == [0, 1]


def test_figure_1b_has_iv_conditions_only() -> None:
    assert set(kinds(FIG_1B).values()) == {"IV"}
    assert len(kinds(FIG_1B)) == 3


def test_figure_1c_the_counter_that_moves_by_an_input_is_niv_and_assumptions_are_no_conditions() -> None:
    found = conditions(FIG_1C)
    assert [(one.kind, one.input_dependent) for one in found.values()] == [("NIV", True)]


def test_figure_1d_conditions_on_inputs_are_input_dependent() -> None:
    found = conditions(FIG_1D)
    on_inputs = [one for shown, one in found.items() if shown.startswith("c")]
    assert len(on_inputs) == 2
    assert all(not one.induction and one.input_dependent for one in on_inputs)
    assert [one.kind for shown, one in found.items() if shown.startswith("x")] == ["IV"] * 3


def test_figure_1e_i_less_than_n_is_niv_but_not_for_the_inputs_sake() -> None:
    found = conditions(FIG_1E)
    reading = [one for shown, one in found.items() if "[" in shown]
    others = [one for shown, one in found.items() if "[" not in shown]
    assert [(one.kind, one.input_dependent) for one in reading] == [("NIV", True)]
    assert [(one.kind, one.input_dependent) for one in others] == [("NIV", False)] * 2


def test_figure_1f_the_state_that_falls_back_from_five_to_one_moves_by_constants() -> None:
    found = conditions(FIG_1F)
    assert {one.kind for shown, one in found.items() if shown.startswith("s ")} == {"IV"}
    assert any(one.input_dependent for one in found.values())


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            "int f(int n, int s) { int i = 0; while (i < n) { s += i * i; i++; } return s; }",
            [(either_way("i < n", "n <= i"), "IV")],
            id="checks for overflow are no conditions",
        ),
        pytest.param(
            "int f(int i, int n, int d, int s) { while (i < n) { s += 7 / (d - s); i++; } return s; }",
            [(either_way("i < n", "n <= i"), "IV")],
            id="nor are checks for division by zero",
        ),
        pytest.param(
            "unsigned f(unsigned x) { while (x > 5) x += 3; return x; }",
            [(either_way("x >= 6", "x <= 5"), "IV")],
            id="a counter that wraps",
        ),
        pytest.param(
            "unsigned f(unsigned i, unsigned n, unsigned m) { while (i != n) i += m; return i; }",
            [(either_way("i != n", "i == n", "n != i", "n == i"), "IV")],
            id="a step that the loop does not change",
        ),
        pytest.param(
            "unsigned f(unsigned i, unsigned n, unsigned m) { while (i != n) { i += m; m++; } return i; }",
            [(either_way("i != n", "i == n", "n != i", "n == i"), "NIV")],
            id="a step that the loop changes",
        ),
        pytest.param(
            "int f(int x) { while (x > 1) x /= 2; return x; }",
            [(either_way("x > 1", "x >= 2", "x <= 1"), "NIV")],
            id="halving",
        ),
        pytest.param(
            "int f(int x) { while (x < 10) x = 0; return x; }",
            [(either_way("x < 10", "x <= 9", "x >= 10"), "NIV")],
            id="a reset from many values",
        ),
        pytest.param(
            "int f(int x, int n) { while (n > 0) { if (x == 3) x = -4; else x++; n--; } return x; }",
            [(either_way("n > 0", "n <= 0"), "IV"), (either_way("x == 3", "x != 3"), "IV")],
            id="a reset from one value",
        ),
        pytest.param(
            "int f(const int *a, int n, int i) { while (i < a[n]) i++; return i; }",
            [(either_way("i < a[n]", "a[n] <= i"), "IV")],
            id="an array at a fixed place",
        ),
        pytest.param("int f(int x) { while (1) x = x ^ 5; return x; }", [], id="no condition at all"),
    ],
)
def test_one_condition_at_a_time(source: str, expected: list[tuple[frozenset[str], str]]) -> None:
    check(kinds(source), *expected)


def test_a_branch_on_the_same_bound_as_a_check_counts() -> None:
    source = "int f(int i, int s) { while (i < 2147483647) { i++; s ^= i; } return s; }"
    check(kinds(source), (either_way("i < 2147483647", "i <= 2147483646", "i >= 2147483647"), "IV"))


@pytest.mark.parametrize("source", [FIG_1A, FIG_1B, FIG_1C, FIG_1D, FIG_1E, FIG_1F])
@pytest.mark.parametrize("seed", range(3))
def test_the_changes_are_those_of_concrete_iterations(source: str, seed: int) -> None:
    found = paths(source)
    assert isinstance(found, LoopPaths)
    moving = [one for one in loop_conditions(found) if not one.input_dependent]
    # The only condition of Figure 1(c) is about inputs.
    assert any(one.changes for one in moving) == (source != FIG_1C)
    walker, compared = Walker(found, seed), 0
    for _ in range(40):
        steps = list(walker.steps(walker.start(), 60))
        for (path, before), (_, after) in pairwise(steps):
            for one in moving:
                if path.id in one.changes:
                    expression = one.condition.term
                    change = evaluate(expression, after) - evaluate(expression, before)
                    assert change == evaluate(one.changes[path.id], before), (text(one.condition), path.id)
                    compared += 1
    assert compared > 10 or source == FIG_1C


@pytest.mark.parametrize("source", [FIG_1E, "int f(int x) { while (x > 1) x /= 2; return x; }"])
def test_niv_conditions_do_change_by_different_amounts(source: str) -> None:
    found = paths(source)
    assert isinstance(found, LoopPaths)
    walker = Walker(found, 1)
    varying = [one for one in loop_conditions(found) if not (one.induction or one.input_dependent)]
    assert varying
    for one in varying:
        changes: dict[str, set[int]] = {}
        for _ in range(100):
            steps = list(walker.steps(walker.start(), 20))
            for (path, before), (_, after) in pairwise(steps):
                change = evaluate(one.condition.term, after) - evaluate(one.condition.term, before)
                changes.setdefault(path.id, set()).add(change)
        assert any(len(seen) > 1 for path, seen in changes.items() if path not in one.changes), text(one.condition)

"""Merged cases say what the cases say; Proteus's Fig. 1(a) has the paper's three transformers and four traces."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping

import pytest

from loopless import terms as t
from loopless.paths import LoopPaths
from loopless.summary import Cycle, LoopSummary, Merged, PathRun, Step, merged, readable
from loopless.summary.presentation.merging import alone, folded
from loopless.summary.presentation.readable import Guards
from loopless.terms import Var, const, evaluate, holds, less
from loops_in_c import paths, summary

FIG_1A = """int f(int x, int z, int n) {
    while (x < n) { if (z > x) x++; else z++; }
    return x + z;
}
"""
STATES = """int f(int s, int n) {
    while (n > 0) { switch (s) { case 0: s = 1; break; case 1: s = 2; break; default: s = 0; } n--; }
    return s + n;
}
"""
EXITS = """int f(int i, int j, int n) {
    while (i < n) { if (j > 20) return i; if (j == 7) break; i += 2; j++; }
    return i + j;
}
"""
BYTES = """int f(unsigned char a, signed char b) {
    while (a > 3) { if (b > 0) { b--; a--; } else a = a - 2; }
    return a + b;
}
"""
SOURCES = {"fig1a": FIG_1A, "states": STATES, "exits": EXITS, "bytes": BYTES}


def points(found: LoopSummary, amount: int) -> list[dict[Var, int]]:
    variables = sorted({*found.paths.state, *found.paths.invariants}, key=lambda v: v.key)
    chance = random.Random(7)

    def value(var: Var) -> int:
        low, high = var.type.min, var.type.max
        assert low is not None and high is not None
        edges = [low, low + 1, high - 1, high, max(0, low), 1]
        near = chance.randint(max(low, -4), min(high, 30))
        return chance.choice([near, near, near, chance.choice(edges), chance.randint(low, high)])

    return [{var: value(var) for var in variables} for _ in range(amount)]


def language(trace: tuple[Step, ...], exit_path: str, entry: Mapping[Var, int]) -> str:
    """The words that a trace stands for at an entry state, as a regular expression."""

    def part(step: Step) -> str:
        times = "*" if step.times is None else f"{{{evaluate(step.times, entry)}}}"
        if isinstance(step, PathRun):
            return f"(?:<{step.path}>){times}"
        if isinstance(step, Cycle):
            return f"(?:{''.join(map(part, step.body))}){times}"
        return f"(?:{'|'.join(f'<{path}>' for path in step.paths)}){times}"

    return "".join(map(part, trace)) + f"<{exit_path}>"


def walk(found: LoopSummary, entry: Mapping[Var, int]) -> str:
    """The paths that a run takes, one after the other."""
    state, word = dict(entry), ""
    while True:
        (path,) = [path for path in found.paths.all if holds(path.condition, state)]
        word += f"<{path.id}>"
        if path.exit is not None:
            return word
        state |= {var: evaluate(term, state) for var, term in path.update.items()}


@pytest.mark.parametrize("name", SOURCES)
def test_merged_cases_say_what_the_cases_say(name: str) -> None:
    found = readable(summary(SOURCES[name]))
    groups = merged(found)
    assert sorted(number for group in groups for number in group.cases) == list(range(len(found.cases)))
    met, walked = set(), 0
    for entry in points(found, 1500):
        (case,) = [c for c in found.cases if holds(c.when, entry)] or [None]
        here = [group for group in groups if holds(group.when, entry)]
        assert len(here) == (case is not None)
        if case is None:
            continue
        (group,) = here
        met.add(groups.index(group))
        assert found.cases.index(case) in group.cases
        assert group.exit == case.exit
        assert evaluate(group.iterations, entry) == evaluate(case.iterations, entry)
        known = found.known(case)
        assert set(group.then) == set(known)
        assert all(evaluate(term, entry) == evaluate(group.then[var], entry) for var, term in known.items())
        if case.result is not None:
            assert group.result is not None
            assert evaluate(group.result, entry) == evaluate(case.result, entry)
        (traced,) = [t for t in group.traces if holds(t.when, entry)]
        assert traced.exit_path == case.exit_path
        if evaluate(case.iterations, entry) < 200:
            word = walk(found, entry)
            walked += 1
            assert re.fullmatch(language(case.trace, case.exit_path, entry), word)
            assert re.fullmatch(language(traced.trace, traced.exit_path, entry), word)
    assert len(met) > 1
    assert walked > 100


def test_fig_1a_has_three_effects_and_four_traces() -> None:
    """The transformers as the paper's introduction gives them, and one trace for each order in which x and z move."""
    found = readable(summary(FIG_1A))
    groups = merged(found)
    assert len(groups) == 3
    assert sum(len(group.traces) for group in groups) == 4
    state = {var.name: var for var in (*found.paths.state, *found.paths.invariants)}

    def group_of(x: int, z: int, n: int) -> Merged:
        entry = {state["x"]: x, state["z"]: z, state["n"]: n}
        (group,) = [group for group in groups if holds(group.when, entry)]
        return group

    unchanged, to_n, both = group_of(5, 0, 3), group_of(0, 9, 5), group_of(0, 0, 5)
    assert both is group_of(0, 3, 5) is group_of(4, 1, 5) is group_of(3, 4, 5) is group_of(1, 3, 5)
    x, z, n = state["x"], state["z"], state["n"]
    assert [(group.then[x], group.then[z]) for group in (unchanged, to_n, both)] == [(x, z), (n, z), (n, n)]
    assert len(both.traces) == 2


def test_rounds_beside_their_cycle_are_folded_into_it() -> None:
    k = const(5)
    cycle = Cycle((PathRun("2", const(1)), PathRun("1", None)), k)
    one, other = PathRun("2", const(1)), PathRun("1", const(7))
    (whole,) = folded([one, other, cycle, one, other, one, PathRun("1", const(1))])
    assert whole == Cycle(cycle.body, const(8))
    assert folded([cycle, one]) == (cycle, one)
    assert folded([cycle, other, one]) == (cycle, other, one)
    assert folded([cycle, PathRun("2", const(2)), other]) == (cycle, PathRun("2", const(2)), other)


def test_without_a_budget_each_case_stays_by_itself() -> None:
    found = readable(summary(FIG_1A))
    groups = merged(found, operations=1)
    assert [group.cases for group in groups] == [(number,) for number in range(len(found.cases))]
    assert all(group.when is found.cases[group.cases[0]].when for group in groups)


def test_different_exits_are_not_merged() -> None:
    found = readable(summary(EXITS))
    for group in merged(found):
        assert len({found.cases[number].exit for number in group.cases}) == 1


def test_a_case_by_itself_is_what_it_is() -> None:
    found = summary(EXITS)
    assert isinstance(paths(EXITS), LoopPaths)
    one = alone(1, found)
    assert (one.cases, one.when, one.then) == ((1,), found.cases[1].when, found.known(found.cases[1]))


@pytest.mark.parametrize("name", SOURCES)
def test_a_readable_summary_says_the_same(name: str) -> None:
    """On each point the same case (or region) with the same values, and the words are no more than before."""
    plain = summary(SOURCES[name])
    found = readable(plain)
    assert len(found.cases) == len(plain.cases)
    compared = 0
    for entry in points(plain, 1000):
        before = [c for c in plain.cases if holds(c.when, entry)]
        after = [c for c in found.cases if holds(c.when, entry)]
        assert len(before) == len(after) <= 1
        assert holds(plain.diverges, entry) == holds(found.diverges, entry)
        undefined = {(u.kind, u.line) for u in plain.undefined if holds(u.when, entry)}
        assert undefined == {(u.kind, u.line) for u in found.undefined if holds(u.when, entry)}
        residual = {r.why for r in plain.residual if holds(r.when, entry)}
        assert residual == {r.why for r in found.residual if holds(r.when, entry)}
        for old, new in zip(before, after, strict=True):
            compared += 1
            assert (old.exit, old.exit_path) == (new.exit, new.exit_path)
            assert set(old.then) == set(new.then)
            assert all(evaluate(term, entry) == evaluate(new.then[var], entry) for var, term in old.then.items())
            assert evaluate(old.iterations, entry) == evaluate(new.iterations, entry)
            counts = {path: evaluate(term, entry) for path, term in old.per_path.items()}
            assert counts == {path: evaluate(term, entry) for path, term in new.per_path.items()}
            if evaluate(old.iterations, entry) < 200:
                assert re.fullmatch(language(new.trace, new.exit_path, entry), walk(plain, entry))
    assert compared > 50


def test_cases_without_an_iteration_come_first_and_guards_before_bounds() -> None:
    found = readable(summary("int f(int i, int x) { while (i < x) i = i + 2; return i; }"))
    assert str(found.cases[0].iterations) == "0"
    assert str(found.cases[0].when) == "x <= i"
    assert str(found.cases[1].when).startswith("i < x && ")


def test_a_readable_summary_keeps_what_was_assumed_out() -> None:
    plain = summary("int f(int i, int x) { while (i < x) i = i + 2; return i; }")
    i, x = sorted((*plain.paths.state, *plain.paths.invariants), key=lambda v: v.name)
    from loopless.terms import const

    given = less(x, const(100))
    found = readable(plain, given)
    for entry in points(plain, 600):
        if holds(given, entry):
            assert [holds(c.when, entry) for c in found.cases] == [holds(c.when, entry) for c in plain.cases]
    assert "2147483647" not in str(found.cases[1].when)
    assert i in found.paths.state


def test_what_divides_by_a_variable_is_shown_behind_what_keeps_it_from_zero():
    x, y = t.variable("x", t.IntType(8)), t.variable("y", t.IntType(8))
    quotient, guard = t.less(t.floor_div(x, y), x), t.greater(y, t.ZERO)
    guards = Guards.ordered((quotient, guard), ())
    assert t.conjuncts(guards.arranged(t.conjunction((quotient, guard)))) == (guard, quotient)

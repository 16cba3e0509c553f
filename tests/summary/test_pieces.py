"""What elimination works with: cells of invariants, lengths of runs, totals, transitions with one transformer."""

from __future__ import annotations

import random
from itertools import combinations, product

import pytest

from judged import judge_alone
from loopless import terms as t
from loopless.logic import Region, budget
from loopless.summary.exit_time.run_length import run_lengths
from loopless.summary.obligations.monotone_accumulators import monotone_accumulators
from loopless.summary.portfolio import summarize_by_parts
from loopless.summary.transitions.partition import cells
from loopless.summary.transitions.repeat import control_forms, longest_runs
from loopless.summary.transitions.subsumption import gathered
from loopless.summary.transitions.system import ControlSystem, build_system
from loopless.summary.transitions.transformer import COUNTER, GuardedTransition
from loops_in_c import paths

BY_INVARIANTS = "int f(int x, int c, int n) { while (x < n) { if (c > 3) x += 2; else x += 5; } return x; }"
BY_SIGN = "int f(int i, int n, int s, int y) { while (i < n) { if (i % 2) s += y; else s += 1; i++; } return s; }"
MANY = (
    "int f(int x, int n, int a, int b, int c, int d, int e) { while (x < n) { if (a > x) x++; if (b > 0) x++; if (c > 0) x++; "
    "if (d > 0) x++; if (e > 0) x++; x++; } return x; }"
)


def system(source: str) -> ControlSystem:
    found = paths(source)
    with budget(2_000_000):
        return build_system(found)


def point(where: Region, **values: int) -> dict[t.Var, int]:
    return {var: values[var.name] for var in where.variables}


# -- cells ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [BY_INVARIANTS, BY_SIGN, MANY])
def test_cells_divide_the_universe(source):
    whole = system(source)
    parts = cells(whole)
    assert len(parts) > 1
    assert all(a.universe.disjoint(b.universe) for a, b in combinations(parts, 2))
    union = parts[0].universe
    for part in parts[1:]:
        union |= part.universe
    assert union.is_equal(whole.universe)
    for part in parts:
        regions = [part.ended, *(transition.where for transition in part.transitions)]
        assert all(region.is_subset(part.universe) for region in regions)


def test_paths_that_exclude_each_other_by_invariants_are_apart():
    for part in cells(system(BY_INVARIANTS)):
        assert len({transition.transformer.trace() for transition in part.transitions}) <= 1


def test_in_some_cell_nothing_can_be_undefined():
    """x overshoots n by one, so that only the largest n is in danger."""
    parts = cells(system("int f(int x, int n) { while (x != n) { if (x < n) x += 2; else x--; } return x; }"))
    safe = [part for part in parts if not any(v.path.exit and v.path.exit.kind == "undefined" for v in part.exits)]
    assert any(part.universe.contains(point(part.universe, x=0, n=2**31 - 2)) for part in safe)
    assert not any(part.universe.contains(point(part.universe, x=0, n=2**31 - 1)) for part in safe)


def test_what_is_added_has_one_sign_in_each_cell():
    for part in cells(system(BY_SIGN)):
        y = next(var for var in part.variables if var.name == "y")
        low, high = part.universe.range_of(y)
        assert low is not None
        assert high is not None
        assert low >= 0 or high < 0


# -- lengths ----------------------------------------------------------------------------------------------------------

RUNS = {
    "up": "unsigned f(unsigned char x, unsigned char n) { while (x < n) x += 3; return x; }",
    "until": "unsigned f(unsigned char x, unsigned char n) { while (x != n) x += 6; return x; }",
    "either": "unsigned f(unsigned char x, unsigned char n) { while (x < 20 || (x > 100 && x < n)) x += 5; return x; }",
    "window": "unsigned f(unsigned char x, unsigned char n) { while (x + 4 < n && x > 10 && x % 3 == n % 3) x += 9; return x; }",
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_as_long_as_it_takes(name):
    """Steps that do not wrap around, followed one by one from every point."""
    all_compared = 0
    for transition in system(RUNS[name]).transitions:
        forms = control_forms(transition)
        assert isinstance(forms, dict)
        lengths, never = run_lengths(transition.where, [transition], forms)
        variables = transition.where.variables
        inside = transition.where.condition()
        compared = 0
        for values in product(range(0, 256, 3), range(0, 256, 5)):
            start = dict(zip(variables, values, strict=True))
            if not t.holds(inside, start):
                assert not any(region.contains(start) for region, _ in lengths)
                continue
            state, count = dict(start), 0
            while t.holds(inside, state) and count < 1000:
                state |= {var: t.evaluate(term, state) for var, term in transition.control.items()}
                count += 1
            hits = [t.evaluate(length, start) for region, length in lengths if region.contains(start)]
            assert hits == ([] if count == 1000 else [count]), (start, transition.control)
            assert never.contains(start) == (count == 1000)
            compared += 1
        all_compared += compared
    assert all_compared > 100


def test_a_step_of_zero_never_ends():
    (transition,) = system(
        "int f(int x, int n) { while (x < n) { if (x > n - 9) x = x; x += 0; } return x; }"
    ).transitions[:1]
    lengths, never = run_lengths(transition.where, [transition], {})
    assert lengths == ()
    assert never.is_equal(transition.where)


# -- totals -----------------------------------------------------------------------------------------------------------

RISING = "int f(int i, int n, int s) { while (i < n) { if (i % 2) s += i * i; else s += 1; i++; } return s; }"
ROUND = "int f(unsigned char i, unsigned char n, int s) { while (i < n) { if (i % 2) s += i * i; else s += 1; i++; } return s; }"
FALLING = ROUND.replace("s +=", "s -=")
BOTH = ROUND.replace("s += 1", "s -= 1")


@pytest.mark.parametrize(("source", "expected"), [(ROUND, [True]), (FALLING, [False]), (BOTH, [])])
def test_what_moves_one_way_is_a_total(source, expected):
    transitions, totals = monotone_accumulators(system(source).transitions)
    assert [total.rising for total in totals] == expected
    left = [
        obligation
        for transition in transitions
        for obligation in transition.transformer.obligations()
        if "s" in {v.name for v in obligation.condition.variables}
    ]
    assert bool(left) == (not expected)


def test_a_total_fits_where_its_type_has_it():
    (total,) = monotone_accumulators(system(ROUND).transitions)[1]
    value = t.Var("value", t.INTEGERS)
    assert [t.holds(total.fits(value), {value: v}) for v in (2**31 - 1, 2**31)] == [True, False]
    (total,) = monotone_accumulators(system(FALLING).transitions)[1]
    assert [t.holds(total.fits(value), {value: v}) for v in (-(2**31), -(2**31) - 1)] == [True, False]


@pytest.mark.parametrize(("source", "edge"), [(ROUND, 2**31), (FALLING, -(2**31))])
def test_sums_overflow_exactly_where_their_total_does(source, edge):
    inward = -1 if edge > 0 else 1
    near = [edge + inward * k for k in (1, 2, 3, 50, 120, 1000, 10**4, 10**5, 10**6, 3 * 10**6)]
    _, regions = judge_alone(source, summarize_by_parts, count=400, near={"s": near})
    assert regions["undefined"] > 20
    assert regions["case"] > 50
    assert not regions["residual"]


# -- transitions with one transformer -------------------------------------------------------------------------------------------


def transformer(transition: GuardedTransition, state: dict[t.Var, int]) -> dict[t.Var, int]:
    counters = dict.fromkeys((v for v in transition.transformer.values if v not in state), 0)
    whole = {**transition.transformer.values, **transition.control}
    return {var: t.evaluate(term, state | counters) for var, term in whole.items()}


def split_at(transition: GuardedTransition, *bounds: int) -> list[GuardedTransition]:
    """The transition in parts, by the values of x."""
    x = next(var for var in transition.where.variables if var.name == "x")
    parts = []
    low = 0
    for high in (*bounds, 256):
        here = transition.where & Region.of(t.between(low, x, high - 1), transition.where.variables)
        parts.append(transition.within(here))
        low = high
    return parts


def test_parts_of_one_run_are_put_together_again():
    whole = system(RUNS["up"])
    runs, never = longest_runs(whole, whole.transitions[0])
    assert never.is_empty()
    parts = [part for run in runs for part in split_at(run, 17, 90)]
    together = gathered(parts)
    assert len(together) < len(parts)
    assert all(a.where.disjoint(b.where) for a, b in combinations(together, 2))
    chosen = random.Random(7)
    compared = 0
    for _ in range(500):
        state = point(whole.universe, x=chosen.randrange(256), n=chosen.randrange(256))
        before = [part for part in parts if part.where.contains(state)]
        after = [part for part in together if part.where.contains(state)]
        assert len(before) == len(after)
        for one, other in zip(before, after, strict=True):
            assert transformer(one, state) == transformer(other, state)
            compared += 1
    assert compared > 50


def test_different_effects_stay_apart():
    source = (
        "unsigned f(unsigned char x, unsigned char n) { while (x < n) { if (x < 9) x += 1; else x += 2; } return x; }"
    )
    transitions = system(source).transitions
    assert len(gathered(transitions)) == len(transitions)


def test_a_run_of_known_length_is_an_instance_of_a_longer_one():
    """From x == 250, x < n and n <= 253 follows one iteration of three: as the general run says."""
    whole = system(RUNS["up"])
    transition = whole.transitions[0]
    general = [run for run in longest_runs(whole, transition)[0] if COUNTER not in run.where.variables]
    x, n = whole.variables if whole.variables[0].name == "x" else whole.variables[::-1]
    fixed = Region.of(t.conjunction((t.equal(x, t.const(100)), t.equal(n, t.const(103)))), whole.variables)
    once = transition.within(transition.where & fixed)
    rest = [run.within((run.where - fixed).coalesce()) for run in general]
    together = gathered([*rest, once])
    assert len(together) == len(rest)
    assert sum(part.where.contains({x: 100, n: 103}) for part in together) == 1

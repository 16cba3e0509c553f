"""Loops whose paths take turns, by rotation and elimination, against the judge from any state at their header."""

from __future__ import annotations

import random

import pytest

from judged import judge_alone
from loopless import terms as t
from loopless.logic import budget
from loopless.summary import Cycle, Interleaving, LoopSummary, Residual
from loopless.summary.portfolio import summarize_by_parts
from loopless.summary.transitions.guarded import split
from loopless.summary.transitions.oscillating_groups import Selector, find_group, separated
from loopless.summary.transitions.repeat import short_runs
from loopless.summary.transitions.system import build_system
from loopless.summary.transitions.transformer import COUNTER
from loops_in_c import graph, paths


def kinds_of_step(summary: LoopSummary) -> set[type]:
    return {type(step) for case in summary.cases for step in case.trace}


# -- rotation: how often a step is high --------------------------------------------------------------------------------


def test_high_steps_are_counted():
    """Up by a below 0, down by b from 0 on: among the first k steps as many are high as the form says."""
    low = t.variable("l", t.INTEGERS)
    chosen = random.Random(5)
    for _ in range(60):
        up, down = chosen.randint(1, 12), chosen.randint(1, 12)
        # The selector's term is <= 0 where L < 0, so that it is L + 1.
        selector = Selector(t.add(low, t.const(1)), up, down)
        start = chosen.randint(-60, 60)
        level, high = start, 0
        for k in range(40):
            given = {low: start, COUNTER: k}
            assert t.evaluate(selector.high_steps, given) == high, (up, down, start, k)
            if -down <= start < up:
                assert t.holds(selector.inside, given)
                assert t.evaluate(selector.high_steps_inside, given) == high
            else:
                assert not t.holds(selector.inside, given)
            high += level >= 0
            level += up if level < 0 else -down


def test_movement_is_separated_by_selectors_or_not():
    signs = [(False, False), (False, True), (True, False), (True, True)]
    assert separated(signs, [5, 3, 7, 5]) == [5, 2, -2]
    assert separated(signs, [5, 3, 7, 6]) is None
    assert separated([(False,), (True,)], [3, -4]) == [3, -7]


TWO = "int f(int x, int y, int n) {{ int i = 0; while (i < n) {{ if (x < {b}) x += {u}; else x -= {d}; {more} i++; }} return x + y; }}"


@pytest.mark.parametrize("seed", range(5))
def test_two_paths_that_take_turns(seed):
    chosen = random.Random(seed)
    up, down = chosen.sample(range(1, 9), 2)
    source = TWO.format(b=chosen.randrange(-20, 90), u=up, d=down, more="")
    summary, regions = judge_alone(source, summarize_by_parts, seed=seed)
    assert summary.complete
    assert Interleaving in kinds_of_step(summary)
    assert regions["case"] > 100


def test_the_border_may_be_a_variable():
    source = (
        "int f(int x, int m, int n) { int i = 0; while (i < n) { if (x < m) x += 3; else x -= 5; i++; } return x; }"
    )
    summary, regions = judge_alone(source, summarize_by_parts)
    assert summary.complete
    assert Interleaving in kinds_of_step(summary)
    assert regions["undefined"] > 0


def test_two_independent_turns_are_a_product():
    source = TWO.format(b=10, u=3, d=5, more="if (y < 7) y += 2; else y -= 1;")
    group = find_group(build_system(paths(source)).transitions)
    assert group is not None
    assert (len(group.members), len(group.selectors)) == (4, 2)
    summary, _ = judge_alone(source, summarize_by_parts)
    assert summary.complete
    long = max((case for case in summary.cases), key=lambda case: len(case.trace))
    assert any(isinstance(step, Interleaving) and len(step.paths) == 4 for step in long.trace)


def test_strict_alternation_keeps_its_trace():
    source = TWO.format(b=0, u=4, d=4, more="")
    summary, _ = judge_alone(source, summarize_by_parts)
    assert summary.complete
    assert Cycle in kinds_of_step(summary)
    assert Interleaving not in kinds_of_step(summary)


# -- turning: what accumulators come to --------------------------------------------------------------------------------

ACCUMULATORS = {
    "counts": "if (x < 10) { x += 3; s += 7; } else { x -= 5; s -= 2; }",
    "one side": "if (x < 10) x += 3; else { x -= 5; s += 4; }",
    "the control": "if (x < 10) { x += 3; s += x; } else { x -= 5; s += x; }",
    "the control on one side": "if (x < 10) { x += 3; s += 2 * x + 1; } else { x -= 5; s += 2; }",
    "the clock": "if (x < 10) { x += 3; s += i; } else { x -= 5; s -= 3 * i; }",
    "last value": "if (x < 10) { x += 3; s = x + 1; } else { x -= 5; s = 2 * x + i; }",
    "kept or set": "if (x < 10) { x += 3; s = 99; } else x -= 5;",
    "bits": "if (x < 10) { x += 3; s |= 6; } else x -= 5;",
    "a parameter": "if (x < 10) { x += 3; s += n; } else { x -= 5; s += 1; }",
}


@pytest.mark.parametrize("what", ACCUMULATORS)
def test_accumulators_of_paths_that_take_turns(what):
    source = f"unsigned f(int x, unsigned s, int n) {{ for (int i = 0; i < n; i++) {{ {ACCUMULATORS[what]} }} return s + x; }}"
    summary, regions = judge_alone(source, summarize_by_parts, near={"i": (0, 1, 5), "n": (3, 40, 700)})
    assert summary.complete, [str(part.why) for part in summary.residual]
    assert regions["case"] > 150
    assert Interleaving in kinds_of_step(summary)


def test_a_small_ring():
    """The sum wraps around in 8 bits many times."""
    source = (
        "unsigned f(int x, unsigned char s, int n) { for (int i = 0; i < n; i++) "
        "{ if (x < 10) { x += 3; s += (unsigned)x; } else { x -= 5; s += 91; } } return s; }"
    )
    near = {"i": (0, 1), "n": (30, 900, 4000), "x": (5, 9, 10, 12)}
    summary, regions = judge_alone(source, summarize_by_parts, near=near)
    assert Interleaving in kinds_of_step(summary)
    assert regions["case"] > 100


def test_a_sum_in_turns_overflows_exactly_where_it_does():
    source = (
        "int f(int x, int s, int n) { for (int i = 0; i < n; i++) "
        "{ if (x < 10) { x += 3; s += 5; } else { x -= 5; s += 2; } } return s; }"
    )
    edge = [2**31 - k for k in (1, 2, 6, 9, 60, 300, 1000, 4000)]
    near = {"s": edge, "i": (0, 1), "n": (3, 40, 700), "x": (5, 9, 10, 12, 30)}
    summary, regions = judge_alone(source, summarize_by_parts, count=600, near=near)
    assert summary.complete
    assert regions["undefined"] > 60
    assert regions["case"] > 100


# -- elimination -------------------------------------------------------------------------------------------------------

AT_8_BITS = {
    "alternate": "if (x < n) { if (x % 2) x += 3; else x++; } else break;",
    "to a fixed point": "if (n < 4) break; if (n % 2) { x = x / 2; n--; } else n -= 3;",
    "doubling": "if (x >= n) break; if (x < 100) x = 2 * x + 1; else x += 30;",
    "halving": "if (x < 2 || n > 200) break; if (x > n) x /= 2; else n += 20;",
    "race of two": "if (x > 250 || n < 3) break; if (x < n) x += 5; else n -= 2;",
    "subtraction": "if (x == n) break; if (x > n) x -= n; else n -= x;",
    "reset": "if (n > 240) break; if (x > 9) { x = 0; n += 10; } else x++;",
}


EVERY_STATE = ("alternate", "halving")


@pytest.mark.slow
@pytest.mark.parametrize("what", AT_8_BITS)
def test_every_state_lies_in_one_region_and_does_what_is_said(what):
    """Where limits cut something off, the residual takes it, and nothing else."""
    source = f"unsigned f(unsigned char x, unsigned char n) {{ for (;;) {{ {AT_8_BITS[what]} }} return 256 * x + n; }}"
    count = 0 if what in EVERY_STATE else 4000
    summary, regions = judge_alone(source, summarize_by_parts, count=count)
    assert sum(regions.values()) == (count or 1 << 16)
    assert regions["case"] >= (256 if what == "subtraction" else 1000)
    assert summary.complete == (what != "subtraction")


def test_what_no_method_follows_is_left_over_with_its_reason():
    """The larger loses the smaller one, by an amount that no constant bounds."""
    source = "unsigned f(unsigned a, unsigned b) { while (a != b) { if (a > b) a -= b; else b -= a; } return a; }"
    summary, regions = judge_alone(source, summarize_by_parts)
    assert regions["residual"] > 0
    assert regions["case"] > 0
    assert all(isinstance(part, Residual) and "not affine" in part.why.detail for part in summary.residual)


def test_short_runs_follow_doubling():
    source = "unsigned f(unsigned char x, unsigned n) { while (x < 100) x = 2 * x + 1; return x; }"
    (transition,) = build_system(paths(source)).transitions
    with budget(2_000_000):
        runs = short_runs(transition)
    assert runs is not None
    (x,) = transition.where.variables
    for start in range(256):
        value, count = start, 0
        while value < 100:
            value, count = 2 * value + 1, count + 1
        (run, *more) = [run for run in runs if run.where.contains({x: start})] or [None]
        assert not more
        if count == 0:
            assert run is None
        else:
            assert run is not None
            assert t.evaluate(run.control[x], {x: start}) == value


def test_a_step_that_may_rest_is_split_at_its_fixed_point():
    source = "unsigned f(unsigned char x, unsigned n) { while (n) { x = x / 2; n--; if (x > n) return x; } return x; }"
    transitions = [p for p in build_system(paths(source)).transitions if any("x" in v.name for v in p.control)]
    parts = split(transitions[0])
    assert parts is not None
    assert len(parts) == 2
    x = next(v for v in transitions[0].where.variables if v.name == "x")
    resting = [part for part in parts if part.control.get(x, x) in (x, t.const(0))]
    assert len(resting) == 1
    assert resting[0].where.range_of(x) == (0, 0)


LONG = {
    "turns": (
        "int f(int x, int n) { int i = 0; while (i < n) { if (x < 50) x += 3; else x -= 4; i++; } return x; }",
        {"x": 50, "i": 0, "n": 7 * 10**8},
        {"x": 50, "i": 7 * 10**8},
    ),
    "reset": (
        "unsigned f(int x, unsigned n) { unsigned c = 0; while (n > 0) { if (x >= 9) { x = 0; c++; } else x++; n--; } return c; }",
        {"x": 0, "n": 4 * 10**9, "c": 0},
        {"x": 0, "n": 0, "c": 4 * 10**8},
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_long_runs_take_no_longer(name):
    """Ten states, or seven, come again and again: after whole rounds all is as it was."""
    source, entry, after = LONG[name]
    summary = summarize_by_parts(paths(source))
    found = summary(**entry)
    assert {key: found[key] for key in after if key in found} == {key: after[key] for key in after if key in found}
    assert len(set(after) & set(found)) > 1
    assert graph(source).loops


def test_what_the_first_rounds_of_an_endless_run_do_may_be_undefined() -> None:
    """s is z + 100 in the first round and y + 100 in all others; z has grown by 50 for each p before."""
    source = """int f(int n, int p, int y, int z, int s) {
        while (n > 0) { if (p > 0) { p--; z += 50; } else { s = z + 100; z = y; } }
        return s;
    }"""
    top = 2**31 - 1
    near = {"n": (0, 1, 2), "p": range(-1, 5), "z": range(top - 320, top - 80), "y": (0, 5, top - 100, top - 99, top)}
    summary, regions = judge_alone(source, summarize_by_parts, count=300, near=near)
    assert summary.complete
    assert regions["undefined"] > 20
    assert regions["diverges"] > 20

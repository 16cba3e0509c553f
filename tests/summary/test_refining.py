"""Loops that are solved in smaller parts: autonomous subsystems, idle variables, the signs of what is added to a sum."""

from __future__ import annotations

import pytest

import loops_in_c
from judged import judge_alone
from loopless.logic import Region
from loopless.paths import loop_paths
from loopless.portfolio import Tried
from loopless.refusals import Reason, Refused
from loopless.summary.case_builder import CaseBuilder
from loopless.summary.methods.elimination import DIVIDED_DOMAINS
from loopless.summary.methods.partitioning import PARTITIONING, by_signs, without_diverging, without_idle
from loopless.summary.parts import PartAnswer, PartQuestion, summarize_parts
from loopless.summary.portfolio import PART_METHODS
from loopless.summary.transitions.elimination import ExitSegment
from loopless.summary.transitions.guarded import by_one_way_borders
from loopless.summary.transitions.system import build_system
from loopless.summary.transitions.transformer import GuardedTransition, NoIteration
from loopless.terms import const, holds, less_equal
from loops_in_c import graph

CLOCK = "unsigned char f(unsigned char n, unsigned char s, unsigned char u)"
CLOCK += " { do { if (u < n) u += 1; else u += 2; n -= 2; } while (n >= s); return u; }"
BLIND = "signed char f(signed char x, signed char n, signed char y)"
BLIND += " { for (; y != n; y += 2) { if (x < n) x += 3; else x += 1; } return x; }"
ROUND = "int f(int i, int n, int x, int s) { while (i < n) { if (x < 10) { x += 7; s += i; } else x -= 5; i++; } return s; }"


def system(text):
    g = graph(text)
    return build_system(loop_paths(g, g.loops[0]))


@pytest.mark.parametrize("text", [CLOCK, BLIND])
@pytest.mark.slow
def test_at_eight_bits(text):
    summary, _ = judge_alone(text, count=500, max_steps=1000)
    assert summary.complete


def test_sums_that_change_direction_while_paths_take_turns():
    ends = [*range(-30, 31), 2**31 - 1, 2**31 - 40, -(2**31), 2**31 - 500]
    summary, regions = judge_alone(
        ROUND, count=600, near={"i": range(-60, 30), "n": range(-20, 60), "s": ends, "x": ends}
    )
    assert summary.complete
    assert regions["undefined"] > 20
    assert regions["case"] > 100


def test_a_clock_that_misses_its_end_runs_for_ever():
    whole = system(
        "int f(unsigned char i, unsigned char x) { while (i != 10) { if (x < 5) x += 3; else x -= 2; i += 2; } return x; }"
    )
    i = whole.variables[0]
    smaller, never = without_diverging(whole)
    for value in range(256):
        assert never.contains({v: value if v is i else 0 for v in whole.variables}) == (value % 2 == 1)
    assert smaller.universe.disjoint(never)
    assert (smaller.universe | never).is_equal(whole.universe)


def test_what_depends_on_more_is_no_clock():
    whole = system(
        "int f(unsigned char i, unsigned char x) { while (i != 10) { if (x < 5) { x += 3; i++; } else x -= 2; } return x; }"
    )
    smaller, never = without_diverging(whole)
    assert smaller is whole
    assert never.is_empty()


def test_a_variable_that_chooses_nothing_is_idle():
    text = "int f(int i, int n, int t, unsigned char x) { while (i < n) { if (t > 3 && x > 7) i += 1; else i += 2; x *= 3; } return x; }"
    whole = system(text)
    t, x = (next(v for v in whole.variables if v.name == name) for name in "tx")
    assert without_idle(whole) is whole
    low = whole.within(Region.of(less_equal(t, const(3)), whole.variables))
    assert x in low.control
    assert x not in without_idle(low).control


def test_nothing_to_divide_by_signs():
    assert (
        by_signs(
            system("int f(int i, int n, int s) { while (i < n) { if (s > 3) s -= 2; else s = 9; i++; } return s; }")
        )
        is None
    )


@pytest.mark.slow
def test_domains_of_many_parts_are_divided():
    text = "signed char f(signed char i, signed char n, signed char x)"
    text += " { while (i < x && n % 5 != 0) { i *= 2; n++; } return n; }"
    summary, _ = judge_alone(text, count=500)
    assert summary.complete
    assert "elimination on divided domains" in summary.method
    others = [method for method in PART_METHODS if method is not DIVIDED_DOMAINS]
    assert not judge_alone(text, lambda paths: summarize_parts(paths, others), count=100)[0].complete


def test_borders_that_are_crossed_one_way_divide():
    text = (
        "int f(unsigned y, int c, int n) { while (y > 0) { if (c > 9 || y % 2 == 0) c++; else n--; y--; } return c; }"
    )
    transitions = system(text).transitions
    parts = by_one_way_borders(transitions)
    c = next(var for var in transitions[0].where.variables if var.name == "c")
    for part in parts:
        low, high = part.where.range_of(c)
        assert (high is not None and high <= 9) or (low is not None and low >= 10)
    assert len(parts) > len(transitions)


FOR_EVER = "int f(unsigned x, int s, int a, unsigned short i) { while ((unsigned short)(i + 1) < x)"
FOR_EVER += " { if (a < 20) { a += 2; s++; } else a -= 13; i++; } return s; }"


def test_sums_overflow_in_runs_that_have_no_other_end():
    """A part of a part of a loop has the checks that were left to final values."""
    near = {"x": [*range(1 << 16, (1 << 16) + 9), 2**32 - 1], "s": [2**31 - 1 - k for k in range(9)], "a": range(40)}
    _, regions = judge_alone(FOR_EVER, count=400, near=near, max_steps=3000)
    assert regions["undefined"] + regions["residual"] > 40


def test_parts_of_a_part_keep_what_stands_for_checks():
    whole = system(FOR_EVER).within(system(FOR_EVER).universe)
    assert [total.var.name for total in whole.monotone] == ["s"]
    assert whole.within(whole.universe).monotone == whole.monotone


def given_up(system):
    builder = CaseBuilder(system)
    why = Refused(Reason.BUDGET, "here", "nothing is said")
    builder.add(ExitSegment(GuardedTransition(system.universe, {}, NoIteration()), "stuck", why=why))
    return PartAnswer(builder, ())


def test_states_that_never_end_are_told_where_the_others_have_gaps():
    cell = system(
        "int f(unsigned char i, unsigned char x) { while (i != 10) { if (x < 5) x += 3; else x -= 2; i += 2; } return x; }"
    )
    i, x = (next(var for var in cell.variables if var.name == name) for name in "ix")
    builder = PARTITIONING.run(PartQuestion(cell, 400, given_up), Tried())
    for value in (1, 7, 10, 12, 255):
        state = {i: value, x: 3}
        told = [*builder.diverges, *(part.when for part in builder.residual)]
        assert sum(holds(when, state) for when in told) == 1


ONLY_THERE = """
unsigned char f(unsigned char n, unsigned char x, unsigned char y, unsigned char z, int s, int t, unsigned char c) {
    while (n == 16) {
        if (s == 16 && c == 2 && y < 2) { n++; z += 3; }
        y += y;
        if (x == t) { n += z; z++; }
        ++c;
    }
    return c + n + z;
}
"""


@pytest.mark.slow
def test_a_variable_that_is_idle_in_some_states_chooses_in_the_others():
    """Where n is not changed and is 16, the loop never ends; so elsewhere n is not 16, and seems to choose nothing."""
    near = {"n": (15, 16, 16, 16, 17), "s": (16, 0, 3), "t": range(6), "x": range(6), "c": range(6), "z": (0, 1, 255)}
    _, regions = judge_alone(ONLY_THERE, count=600, near=near, max_steps=2000)
    assert regions["diverges"] > 50


LEADS_THERE = """
unsigned char f(unsigned char i, int s) {
    while (1) {
        if (i != 5) s -= s;
        if (s) return i;
        i <<= 1;
    }
}
"""


def test_what_leads_to_states_that_never_end_is_told():
    """Where i is 5 the loop may end, but from 5 with s == 0 it does not."""
    summary, regions = judge_alone(LEADS_THERE, count=500, near={"i": range(256), "s": range(-2, 3)}, max_steps=2000)
    assert regions["diverges"] > 200
    assert regions["case"] > 0
    assert summary.complete


RUNS_OUT = """
signed char f(signed char n, signed char x) {
    signed char s = 0;
    for (s = 0; s < n; ++s) {
        if (s <= n) x += 3;
        if (x < n) x ^= 1;
        if (n < s || s < (-2)) {
            if (x > 64) { x += n + 1 + x; x += (signed char)2 + 7; }
            else x /= 10;
        } else { x -= x; x += s; }
    }
    return s;
}
"""


def test_operations_that_run_out_in_the_middle_do_not_crash():
    """isl crashed while it made quotients explicit."""
    found = loops_in_c.summary(RUNS_OUT)
    assert found.cases

"""Recurrent sets: the interpreter never leaves a loop from a state in one, and inputs can be chosen where it needs them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import product

import pytest

from loopless.bounds.methods.nontermination import Recurrent, recurrent
from loopless.bounds.ranking.linear import rank
from loopless.paths import LoopPaths
from loopless.refusals import Refused
from loopless.summary import LoopSummary, summarize
from loopless.terms import Read, Var, evaluate, holds, replace_terms, walk
from loopless_fuzz.judging.loop_alone import LoopAlone
from loopless_fuzz.judging.states import constants, draw_states
from loops_in_c import graph, paths

INPUT = "int __VERIFIER_nondet_int(void); "

ENDLESS = {
    "a step of 0": "int f(int x, int y) { while (x > 0) x -= y; return x; }",
    "to and fro": "int f(int x) { while (x > 0) { if (x > 5) x--; else x++; } return x; }",
    "swaps": "int f(int x, int y) { while (x != y) { int t = x; x = y; y = t; } return x; }",
    "signs": "int f(int x) { while (x != 0) x = -x; return x; }",
    "Euclid at 0": "unsigned f(unsigned a, unsigned b) { while (a != b) { if (a > b) a -= b; else b -= a; } return a; }",
    "wraps": "unsigned f(unsigned x, unsigned n) { while (x <= n) x++; return x; }",
    "8 bits": "signed char f(signed char x, signed char y) { while (x > y) y += x - x; return x; }",
    "a product": "int f(int x, int y) { while (x == y) { y = x * 1; } return x * y; }",
    "Collatz at 0": "unsigned f(unsigned n) { while (n != 1) { if (n % 2) n = 3 * n + 1; else n /= 2; } return n; }",
}


@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.parametrize("with_summary", [False, True])
def test_no_run_leaves_a_recurrent_set(name, with_summary):
    g, found = graph(ENDLESS[name]), paths(ENDLESS[name])
    assert isinstance(found, LoopPaths)
    summary = summarize(found)
    sets = recurrent(found, summary if with_summary and isinstance(summary, LoopSummary) else None)
    assert sets
    assert not any(s.chosen for s in sets)
    alone = LoopAlone(g, g.loops[0])
    numbers = constants([part for p in found.all for part in (p.condition, *p.update.values())])
    inside = [s for s in draw_states(alone.entry, numbers, 3, 4000) if any(holds(r.condition, s) for r in sets)]
    inside += [dict.fromkeys(alone.entry, 0) | s for r in sets for s in _solutions(r)]
    for state in inside[-60:]:
        assert alone.run(state, max_steps=3000).status in ("timeout", "diverges"), (state, sets)
    assert inside


def _solutions(found: Recurrent) -> list[Mapping[Var, int]]:
    """A state in the set, none where the logic cannot express it."""
    from loopless.logic import NotPresburger, Region

    try:
        point = Region.of(found.condition).sample()
    except NotPresburger:
        return []
    assert point is not None
    return [point]


BY_CHOICE = {
    "stay": INPUT + "int f(int x) { while (x > 0) { if (__VERIFIER_nondet_int()) x--; } return x; }",
    "a step that is read": INPUT
    + "int f(int x) { while (x > 0) { int k = __VERIFIER_nondet_int(); if (k > 5 || k < -5) break; x -= k; } return x; }",
    "back again": INPUT + "int f(int x, int y) { while (x < y) { x = __VERIFIER_nondet_int(); } return x; }",
}


@pytest.mark.parametrize("name", BY_CHOICE)
def test_inputs_can_be_chosen(name):
    found = paths(BY_CHOICE[name])
    assert isinstance(found, LoopPaths)
    sets = recurrent(found)
    assert sets[0].chosen == ("nondet_int",) or "nondet" in sets[0].chosen[0]
    chosen = random.Random(5)
    states = draw_states((*found.state, *found.invariants), (0, 1), 2, 500)
    inside = [s for s in states if holds(sets[0].condition, s)][:20]
    assert len(inside) == 20
    for state in inside:
        for _ in range(10):
            state = _next(found, sets[0], state, chosen)


def _next(found: LoopPaths, kept: Recurrent, state: Mapping[Var, int], chosen: random.Random) -> dict[Var, int]:
    """A state of the set that some input leads to."""
    for value in (0, 1, -1, *(chosen.randint(-(2**31), 2**31 - 1) for _ in range(300))):
        for path in found.iterative:
            values = dict(state) | {u.var: value for u in path.unknowns}
            if holds(path.condition, values):
                after = dict(state) | {v: evaluate(t, values) for v, t in path.update.items()}
                if holds(kept.condition, after):
                    return after
    raise AssertionError((state, kept))


ENDING = (
    "int f(int x, int n) { while (x < n) x++; return x; }",
    "int f(int x) { while (x > 0) x++; return x; }",
    "unsigned f(unsigned x) { while (x) x &= x - 1; return x; }",
    "int f(int x, int y) { while (x > 0) { x += y; y--; } return x; }",
    INPUT + "int f(int x, int y) { while (x > 0 && y > 0) { if (__VERIFIER_nondet_int()) x--; else y--; } return x; }",
)


@pytest.mark.parametrize("source", ENDING)
def test_a_loop_that_always_ends_has_no_recurrent_set(source):
    found = paths(source)
    assert isinstance(found, LoopPaths)
    assert recurrent(found) == ()
    assert not isinstance(rank(found), Refused)


def test_what_a_call_returns_is_told_apart_from_inputs():
    found = paths("int g(void); int f(int x) { while (x > 0) { if (g() > 3) x--; } return x; }")
    assert isinstance(found, LoopPaths)
    (only,) = recurrent(found)
    assert only.chosen == only.returned == ("g",)


def test_an_iteration_that_changes_nothing_goes_on_for_ever():
    """What it changes beside that decides nothing, and its own condition is all that is told."""
    source = """unsigned f(const unsigned char *p, unsigned n) {
        unsigned i = 0, seen = 0;
        while (i < n) { if (p[i] == 7) i += 1; else i += p[i]; seen++; }
        return seen;
    }"""
    found = paths(source)
    assert isinstance(found, LoopPaths)
    (only,) = recurrent(found)
    assert not only.chosen
    reads = [node for node in walk(only.condition) if isinstance(node, Read)]
    assert {(str(node.offset), node.type.width) for node in reads} == {("i", 8)}
    names = {node: Var("read", node.type) for node in reads}
    told = replace_terms(only.condition, names)
    for i, n, value in product((0, 1, 2**32 - 1), (0, 1, 2**32 - 1), (0, 1, 7, 255)):
        state = {var: {"i": i, "n": n, "read": value}[var.name.split(".")[0]] for var in told.variables}
        assert holds(told, state) == (i < n and value == 0)


def test_a_step_beside_that_decides_is_no_such_iteration():
    """The limit falls, so each of these loops ends."""
    source = """unsigned f(const unsigned char *p, unsigned n) {
        unsigned i = 0;
        while (i < n) { i += p[0]; n--; }
        return i;
    }"""
    found = paths(source)
    assert isinstance(found, LoopPaths)
    assert recurrent(found) == ()

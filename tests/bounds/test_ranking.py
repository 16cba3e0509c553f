"""Ranking functions: the bounds are judged by the interpreter, the kinds by what the literature says of such loops."""

from __future__ import annotations

import pytest

from loopless.bounds.ranking.linear import rank
from loopless.paths import LoopPaths
from loopless.refusals import Reason, Refused
from loopless.terms import TRUE, conjunction, const, evaluate, greater_equal, holds, less_equal
from loops_in_c import graph as graph_of
from loops_in_c import paths, variable
from ranked import judged, judged_with_inputs, ranked

LINEAR = {
    "up to a limit": "int f(int x, int n) { while (x < n) x += 2; return x; }",
    "the least of two": "int f(int x, int y) { while (x > 0 && y > 0) { x--; y -= 3; } return x; }",
    "a limit that moves": "int f(int x, int n) { while (x < n) { x++; n -= 2; } return x; }",
    "unsigned, downwards": "unsigned f(unsigned x) { while (x >= 7) x -= 7; return x; }",
    "a do loop": "int f(int x) { do { x -= 3; } while (x > 10); return x; }",
    "a product as a limit": "int f(short n, short m) { int i = 0; while (i < n * m) i++; return i; }",
    "8 bits": "signed char f(signed char x, signed char n) { while (x < n) x += 1; return x; }",
    "a step that is given": "int f(int x, int y) { while (x > 0) x -= y; return x; }",
    "not equal": "int f(int x, int n) { while (x != n) x++; return x; }",
    "steps over the limit": "unsigned f(unsigned a, unsigned n) { while (a < n) a += 3; return a; }",
    "until it overflows": "int f(int x) { while (x > 2147480000) x++; return x; }",
    "bits": "unsigned f(unsigned x) { while (x) x &= x - 1; return x; }",
    "Euclid": "unsigned f(unsigned a, unsigned b) { while (a != b) { if (a > b) a -= b; else b -= a; } return a; }",
    "turns": "int f(int x, int y) { while (x > 0 && y > 0) { int t = x; x = y - 1; y = t; } return x; }",
    "either": "int f(int x, int y, int z) { while (x > 0 || y > 0) { if (x > 0) x -= z > 3; else y--; } return x; }",
}

TIGHT = ("up to a limit", "the least of two", "unsigned, downwards", "a product as a limit", "8 bits", "not equal")


@pytest.mark.parametrize("name", LINEAR)
def test_no_bound_is_below_the_truth(name):
    counts = judged(LINEAR[name])
    if name in TIGHT:
        assert counts["tight"] == counts["left"] > 100, counts


LEXICOGRAPHIC = {
    "a loop in a loop's clothes": "int f(int i, int j, int n, int m) { while (i < n) { if (j < m) j++; else { j = 0; i++; } } return j; }",
    "what one takes the other gives": "int f(int x, int y) { while (x > 0) { if (y > 0) y--; else { x--; y = x; } } return y; }",
    "three levels": "int f(unsigned char a, unsigned char b, unsigned char c) { while (a > 0) { if (c > 0) c--; else if (b > 0) "
    "{ b--; c = 3; } else { a--; b = 2; } } return c; }",
}


@pytest.mark.parametrize("name", LEXICOGRAPHIC)
def test_functions_one_after_another(name):
    _, found = ranked(LEXICOGRAPHIC[name])
    assert found[0].kind == "lexicographic", found
    assert found[0].valid_when is TRUE
    assert not found[0].by_type
    judged(LEXICOGRAPHIC[name])


PHASES = {
    "two": "int f(int x, int y) { while (x > 0) { x += y; y--; } return x; }",
    "two, of which the first is given": "int f(int x, int y) { while (x >= 0) { x -= y; y++; } return x; }",
    "three": "int f(int x, int y, int z) { while (x > 0) { x += y; y += z; z--; } return x; }",
    "by twos": "int f(int x, int y) { while (x > 0) { x += y; y -= 2; } return x; }",
    "towards a limit": "int f(int x, int n, int y) { while (x < n) { x += y; y++; n--; } return x; }",
}

EXACT_PHASES = ("two", "two, of which the first is given", "by twos")


@pytest.mark.parametrize("name", PHASES)
def test_phases(name):
    _, found = ranked(PHASES[name])
    assert found[0].kind == "multi-phase", found
    assert found[0].valid_when is TRUE
    counts = judged(PHASES[name])
    if name in EXACT_PHASES:
        assert counts["tight"] == counts["left"] > 100, counts


GEOMETRIC = {
    "halves": "unsigned f(unsigned x) { while (x > 0) x /= 2; return x; }",
    "shifts": "unsigned f(unsigned x) { while (x) x >>= 3; return x; }",
    "doubles": "int f(int x, int n) { while (x < n && x > 0) x *= 2; return x; }",
    "what is taken doubles": "int f(int x) { int y = 1; while (x > 0) { x -= y; y *= 2; } return y; }",
    "grows by a half": "int f(int x, int n) { while (x < n && x > 1) x = x + x / 2; return x; }",
    "a third and one": "unsigned f(unsigned x) { while (x > 5) x = x / 3 + 1; return x; }",
    "on one of two ways": "int f(int x, int y) { while (x > 1) { if (y > 3) x /= 2; else x /= 3; y++; } return x; }",
}


@pytest.mark.parametrize("name", GEOMETRIC)
def test_logarithms(name):
    paths, found = ranked(GEOMETRIC[name])
    assert found[0].kind == "logarithmic", found
    judged(GEOMETRIC[name])
    x = next(v for v in paths.state if v.name == "x")
    state = dict.fromkeys((*paths.state, *paths.invariants), 1) | {x: 10**9}
    assert evaluate(found[0].iterations, state) < 40


WITH_INPUTS = {
    "either goes down": "int __VERIFIER_nondet_int(void); int f(int x, int y) { while (x > 0 && y > 0) { if (__VERIFIER_nondet_int()) { x--; y += 3; } else y--; } return x; }",
    "one is set anew": "int __VERIFIER_nondet_int(void); int f(int x, int y, int n) { while (x > 0 && y > 0) { if (__VERIFIER_nondet_int()) x--; else { y--; x = n; } } return x; }",
    "a step that is read": "int __VERIFIER_nondet_int(void); int f(int x) { while (x > 0) { int k = __VERIFIER_nondet_int(); if (k <= 0) break; x -= k; } return x; }",
}


@pytest.mark.parametrize("name", WITH_INPUTS)
def test_choices_that_nobody_knows(name):
    source = WITH_INPUTS[name]
    _, found = ranked(source)
    assert found[0].valid_when is TRUE
    assert not found[0].by_type
    assert judged_with_inputs(source, [(-3, 40)] * source.split("f(")[1].split(")")[0].count("int")) > 100


def test_what_is_known_at_the_entry_is_used():
    source = LINEAR["a step that is given"]
    y, x = variable(graph_of(source), "y"), variable(graph_of(source), "x")
    entry = conjunction((greater_equal(y, const(2)), less_equal(x, const(1000))))
    _, found = ranked(source, entry)
    assert found[0].valid_when is TRUE
    assert evaluate(found[0].iterations, {x: 100, y: 2}) in range(50, 101)
    judged(source, entry=entry, count=4000)


def test_a_loop_without_an_iteration():
    found = rank(paths("int f(int x) { while (x > 0) { x = 1; if (x > 0) break; } return x; }"))
    assert not isinstance(found, Refused)
    assert [r.kind for r in found] == ["none"]


NEVER_ENDS = {
    "unsigned f(unsigned x) { while (x != 7) x += 2; return x; }": {"x": 8},
    "int f(int x) { while (x > 0) { if (x > 5) x--; else x++; } return x; }": {"x": 9},
    "int f(int x, int y) { while (x > 0) x -= y; return x; }": {"x": 9, "y": 0},
}


@pytest.mark.parametrize("source", NEVER_ENDS)
def test_no_bound_is_valid_where_the_loop_never_ends(source):
    found = rank(paths(source))
    state = {variable(graph_of(source), name): value for name, value in NEVER_ENDS[source].items()}
    if "-= y" in source:  # the others have no inputs under which all entries end
        assert not isinstance(found, Refused)
        assert [holds(r.valid_when, state) for r in found] == [False]
        assert [holds(r.valid_when, state | {variable(graph_of(source), "y"): 1}) for r in found] == [True]
    else:
        assert isinstance(found, Refused)
        assert found.reason is Reason.NO_RANKING


def test_a_refusal_has_its_reason():
    found = rank(paths("int f(int x) { while (x > 0) { if (x > 5) x = 1; else x++; } return x; }"))
    assert isinstance(found, Refused)
    assert found.reason is Reason.NO_RANKING


def test_paths_of_inputs_may_be_given():
    found = paths(WITH_INPUTS["a step that is read"])
    assert isinstance(found, LoopPaths)
    assert any(p.unknowns for p in found.iterative)


def test_what_is_read_leaves_the_limits_under_which_nothing_wraps_around() -> None:
    """kc wraps around only where hi is 255; what g returns decides which way the loop is left."""
    source = """int g(int); int f(unsigned char lo, unsigned char hi) {
        for (unsigned char kc = lo; kc <= hi; ++kc) if (g(kc)) return kc;
        return 0; }"""
    found = rank(paths(source))
    assert not isinstance(found, Refused)
    hi, kc = (variable(graph_of(source), name) for name in ("hi", "kc"))
    states = [({hi: high, kc: low}, max(0, high - low + 1)) for high in (0, 7, 254) for low in (0, 5, 200, 255)]
    for state, count in states:
        assert {evaluate(r.iterations, state) for r in found if holds(r.valid_when, state)} == {count}
    assert not any(holds(r.valid_when, {hi: 255, kc: 3}) for r in found)

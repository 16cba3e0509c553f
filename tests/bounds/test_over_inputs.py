"""Totals of functions whose loops run as long as what they read lets them: a bound over the inputs alone beside them."""

from __future__ import annotations

import itertools
import random

import pytest

from loopless.bounds.model import reads
from loopless.bounds.reads.without_data import simplest
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.bounds.answers import class_of
from loopless.queries.call_values.at_inputs import at_values
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.report.numbers import unwindset
from loopless.terms import INTEGERS, IntType, Read, Var, evaluate, minimum

SEARCH = """int f(const int *a, int n, int x) {
    int low = 0, high = n;
    while (low < high) { int mid = low + (high - low) / 2; if (a[mid] < x) low = mid + 1; else high = mid; }
    return low;
}"""
CODES = """void f(int *code, unsigned char *length, int low, int high, int size) {
    int next = 0;
    for (int n = low; n <= high; n++) {
        for (int i = 0; i < size; i++)
            if (length[i] == n) { code[i] = next; next++; }
        next <<= 1;
    }
}"""


def bound(tmp_path, source):
    file = tmp_path / "a.c"
    file.write_text(source, encoding="utf-8")
    (found,) = answer_bounds(load([file]).functions, "all", Settings())
    return found


def searched(n, x, a):
    low, high, rounds = 0, n, 0
    while low < high:
        mid = low + (high - low) // 2
        low, high = (mid + 1, high) if a[mid] < x else (low, mid)
        rounds += 1
    return rounds


def test_a_binary_search_takes_logarithmic_time(tmp_path):
    found = bound(tmp_path, SEARCH)
    grows = class_of(found)
    assert grows is not None
    assert grows.text() == "O(log(n))"
    most = found.over_inputs
    assert most is not None
    assert not reads(most)
    assert {var.name for var in most.variables} == {"n"}
    drawn = random.Random(7)
    (n,) = most.variables
    for size in range(-2, 70):
        for _ in range(20):
            a = [drawn.randrange(100) for _ in range(size)]
            assert searched(size, drawn.randrange(100), a) <= evaluate(most, {n: size}) <= max(0, size).bit_length()


@pytest.mark.parametrize(("low", "high", "size"), [(0, 3, 5), (1, 1, 7), (2, 1, 9), (-3, 4, -1), (0, 0, 0)])
@pytest.mark.slow
def test_a_nest_whose_count_is_over_what_it_reads(tmp_path, low, high, size):
    most = bound(tmp_path, CODES).over_inputs
    assert most is not None
    assert not reads(most)
    values = {var: {"low": low, "high": high, "size": size}[var.name] for var in most.variables}
    rounds = max(0, high - low + 1)
    assert evaluate(most, values) == rounds + rounds * max(0, size)


def test_the_end_of_a_type_is_not_told_as_such_a_bound(tmp_path):
    found = bound(tmp_path, "int f(const char *s) { int i = 0; while (s[i]) i++; return i; }")
    assert found.call.upper is not None
    assert found.over_inputs is None


OPTIONS = """
int f(const unsigned char *opt, unsigned n) {
    unsigned left = n, at = 0;
    while (left > 0) {
        if (opt[at] == 0) return 1;
        if (opt[at] == 1) { at++; left--; continue; }
        if (left < 2 || opt[at + 1] > left || opt[at + 1] < LEAST) return -1;
        left -= opt[at + 1];
        at += opt[at + 1];
    }
    return 0;
}
"""


def walked(opt: tuple[int, ...]) -> int:
    """The rounds of the walk over the options by hand."""
    at = rounds = 0
    while at < len(opt) and opt[at] != 0:
        if opt[at] == 1:
            step = 1
        elif len(opt) - at < 2 or opt[at + 1] > len(opt) - at or opt[at + 1] < 2:
            break
        else:
            step = opt[at + 1]
        at, rounds = at + step, rounds + 1
    return rounds


def test_a_loop_whose_count_is_over_what_it_reads_has_a_bound_over_the_inputs(tmp_path):
    (loop,) = bound(tmp_path, OPTIONS.replace("LEAST", "2")).counts
    most = loop.over_inputs
    assert most is not None
    assert not reads(most)
    (n,) = most.variables
    for size in range(5):
        counts = [walked(opt) for opt in itertools.product(range(4), repeat=size)]
        assert max(counts) == size == evaluate(most, {n: size})


def test_a_loop_that_may_never_end_has_none(tmp_path):
    (loop,) = bound(tmp_path, OPTIONS.replace("LEAST", "0")).counts
    assert loop.over_inputs is None


LIMITED = """extern int __VERIFIER_nondet_int(void);
int f(int m) {
    int n = __VERIFIER_nondet_int(), s = 0;
    if (n > m) return 0;
    for (int i = 0; i < n; i++) s += 2;
    return s; }
"""
TABLE = """int f(const unsigned char *t, int m) {
    int k = t[0], s = 0;
    for (int i = 0; i < k && i < m; i++) s ^= i;
    return s; }
"""


def test_at_inputs_a_loop_takes_no_more_than_whatever_it_reads(tmp_path):
    """The number read is at most m: at m = 7 there are 7 iterations, and some run has them."""
    found = bound(tmp_path, LIMITED)
    (loop,) = found.counts
    here = at_values(found.names, loop.call, {"m": 7}, loop.over_inputs)
    assert (here.value, here.whatever) == (7, True)


def test_in_python_most_at_holds_whatever_is_read(tmp_path):
    """Of five options, of which each takes one place, the walk makes five rounds; the count itself is not known."""
    found = bound(tmp_path, OPTIONS.replace("LEAST", "2"))
    most = max(walked(opt) for opt in itertools.product(range(4), repeat=5))
    assert found.most_at(n=5) == found.loops[0].most_at(n=5) == most
    assert found.at(n=5) is None
    assert bound(tmp_path, LIMITED).most_at(m=7) == 7
    assert bound(tmp_path, LIMITED).most_at() is None


@pytest.mark.parametrize("text", [LIMITED, TABLE])
def test_unwinding_limits_need_no_values_of_what_is_read(tmp_path, text):
    found = bound(tmp_path, text)
    said, missing = unwindset([found], [loop.answer.loop.name for loop in found.counts], {"m": 7})
    assert (said, missing) == ("--unwindset f.0:8", [])


def test_of_several_bounds_the_simplest_speaks_of_no_memory():
    n, m = Var("n", INTEGERS), Var("m", INTEGERS)
    element = Read("a", n, IntType(32))
    assert simplest((None, element, n)) is n
    assert simplest((element, None)) is element
    assert simplest((minimum(element, m),)) is m
    assert simplest(()) is None

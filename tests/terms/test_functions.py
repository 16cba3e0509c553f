"""Named functions as terms: against search and addition, their ranges, their forms for isl and solvers."""

from __future__ import annotations

import copy
import pickle
import random

import pytest

from loopless import terms as t
from loopless.logic import NotPresburger, Region
from loopless.terms import powers

U8, I8 = t.IntType(8, signed=False), t.IntType(8)
U, V = t.variable("u", U8), t.variable("v", U8)
N = t.variable("n", I8)


def least(u: int, a: int, m: int, low: int, high: int) -> int:
    return next((k for k in range(m) if low <= (u + a * k) % m <= high), m)


@pytest.mark.parametrize("seed", range(40))
def test_first_in_range_is_the_least_visit(seed):
    chosen = random.Random(seed)
    m = chosen.choice((256, 256, 16, 10, 1, 97))
    a = chosen.randrange(-300, 300)
    low = chosen.choice((V, t.add(V, t.ONE), t.const(chosen.randrange(-5, 260)), N))
    high = chosen.choice((low, t.const(m - 1), t.add(low, t.const(chosen.randrange(9))), N))
    term = t.first_in_range(U, t.const(a), m, low, high)
    bottom, top = t.range_of(term)
    for _ in range(300):
        values = {U: chosen.randrange(256), V: chosen.randrange(256), N: chosen.randrange(-128, 128)}
        expected = least(values[U], a, m, t.evaluate(low, values), t.evaluate(high, values))
        assert t.evaluate(term, values) == expected, (term, values)
        assert bottom <= expected <= top
        assert t.evaluate(t.substitute(term, {U: t.const(values[U])}), values) == expected
        whole = t.substitute(term, {v: t.const(x) for v, x in values.items()})
        assert whole is t.const(expected)


@pytest.mark.parametrize("seed", range(40))
def test_floor_sum_adds_up(seed):
    chosen = random.Random(seed)
    m, a = chosen.choice((1, 2, 7, 16, 100)), chosen.randrange(-40, 40)
    count = t.variable("k", t.IntType(6, signed=False))
    term = t.floor_sum(count, m, t.const(a), N)
    residues = t.sum_of_residues(count, m, t.const(a), N)
    bottom, top = t.range_of(term)
    for k in range(64):
        values = {count: k, N: chosen.randrange(-128, 128)}
        expected = sum((a * i + values[N]) // m for i in range(k))
        assert t.evaluate(term, values) == expected
        assert bottom <= expected <= top
        assert t.evaluate(residues, values) == sum((a * i + values[N]) % m for i in range(k))
        assert t.substitute(term, {v: t.const(x) for v, x in values.items()}) is t.const(expected)
        assert t.evaluate(t.substitute(term, {count: t.const(k)}), values) == expected
    with pytest.raises(t.EvaluationError):
        t.evaluate(t.floor_sum(N, 7, t.const(3), N), {N: -1})


def entry(entries: list[int], index: int) -> int:
    return entries[min(max(index, 0), len(entries) - 1)]


@pytest.mark.parametrize("seed", range(30))
def test_table_looks_up(seed):
    chosen = random.Random(seed)
    length = chosen.choice((1, 2, 3, 8, 60))
    start, step = chosen.randrange(9), chosen.randrange(9)
    regular = chosen.random() < 0.3
    entries = [start + step * i if regular else chosen.randrange(-3, 4) for i in range(length)]
    index = chosen.choice((N, t.mod(N, t.const(length)), t.add(U, t.const(-2))))
    term = t.table(index, entries)
    bottom, top = t.range_of(term)
    here = Region.of(t.at_most_zero(term), (N, U))
    for _ in range(200):
        values = {U: chosen.randrange(70), N: chosen.randrange(-128, 128)}
        expected = entry(entries, t.evaluate(index, values))
        assert t.evaluate(term, values) == expected
        assert bottom <= expected <= top
        assert here.contains(values) == (expected <= 0)
        assert t.substitute(term, {v: t.const(x) for v, x in values.items()}) is t.const(expected)


def test_an_arithmetic_table_within_its_bounds_is_linear():
    index = t.mod(N, t.const(3))
    assert t.table(index, [5, 7, 9]) is t.add(t.scale(index, 2), t.const(5))
    assert isinstance(t.table(N, [5, 7, 9]), t.Op)


def test_a_table_means_the_same_to_a_solver():
    import z3

    entries = [3, 3, 1, 4, 1, 5]
    shown = t.smt(t.table(N, entries))
    for index in range(-3, 9):
        solver = z3.Solver()
        solver.from_string(
            f"(declare-const n Int)(assert (= n {index}))(assert (distinct {shown} {entry(entries, index)}))"
        )
        assert solver.check() == z3.unsat


def test_recursive_functions_are_not_presburger_and_have_no_smt_form():
    for term in (t.first_in_range(U, t.const(37), 256, t.ZERO, t.const(9)), t.floor_sum(V, 256, t.const(37), U)):
        assert t.smt(term) is None
        with pytest.raises(NotPresburger):
            Region.of(t.at_most_zero(term))
        assert copy.deepcopy(term) is term
        assert pickle.loads(pickle.dumps(term)) is term


def test_named_functions_are_printed_by_name():
    assert t.text(t.first_in_range(U, t.const(37), 256, V, t.const(255))) == "first_in_range(u, 37, 256, v, 255)"
    assert t.text(t.first_in_range(U, t.const(250), 256, V, t.const(255))) == "first_in_range(u, -6, 256, v, 255)"
    assert t.text(t.table(t.mod(N, t.const(3)), [1, 2, 5])) == "table(mod(n, 3); 1, 2, 5)"
    assert t.text(t.floor_sum(V, 10, t.const(3), U)) == "floor_sum(v, 10, 3, u)"


def test_powers_that_are_too_large_are_worked_out_once_and_those_of_zero_not_at_all(monkeypatch):
    asked = []
    repeated = powers.repeated

    def counted(*args, **named):
        asked.append(args)
        return repeated(*args, **named)

    monkeypatch.setattr(powers, "repeated", counted)
    fibonacci = (2, 1, 1, 1, 0)
    powers._power_within.cache_clear()
    for _ in range(3):
        with pytest.raises(ValueError, match="more than 1048576 bits"):
            powers.first_component([2**31, *fibonacci, 1, 0])
        assert powers.first_component([10, *fibonacci, 1, 0]) == 89
        # Within another limit it is another question.
        with pytest.raises(ValueError, match="more than 6 bits"):
            powers.first_component([10, *fibonacci, 1, 0], limit=6)
    assert len(asked) == 3
    assert powers.first_component([2**31, *fibonacci, 0, 0]) == 0

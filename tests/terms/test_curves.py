"""First signs of exponential polynomials, powers of matrices and sums of digits: against search and repetition."""

from __future__ import annotations

import copy
import pickle
import random
import time
from itertools import pairwise

import pytest

from loopless import terms as t
from loopless.logic import NotPresburger, Region
from loopless.terms import curves, powers

U8, I8 = t.IntType(8, signed=False), t.IntType(8)
U, V = t.variable("u", U8), t.variable("v", U8)
N, K = t.variable("n", I8), t.variable("k", I8)
FAR = 80


def sign(value: int) -> int:
    return (value > 0) - (value < 0)


def value(curve: dict[tuple[int, int], int], k: int) -> int:
    return sum(c * base**k * k**degree for (base, degree), c in curve.items())


def random_curve(chosen: random.Random, bases: tuple[int, ...] = (1, 1, 1, 1, 2, 3, 5)) -> dict[tuple[int, int], int]:
    return {
        (chosen.choice(bases), chosen.randrange(5)): chosen.randrange(-30, 31) * chosen.choice((1, 1, 50, 1000))
        for _ in range(chosen.randrange(6))
    }


@pytest.mark.parametrize("seed", range(20))
def test_stretches_have_the_sign_that_they_say(seed):
    chosen = random.Random(seed)
    for _ in range(100):
        curve = random_curve(chosen)
        found = list(curves.stretches(curve))
        assert found[0][0] == 0
        assert found[-1][1] is None
        for before, after in pairwise(found):
            assert before[1] == after[0]
            assert before[2] != after[2]
        for start, end, own in found:
            for k in range(start, FAR if end is None else min(end, FAR)):
                assert sign(value(curve, k)) == own, (curve, found, k)
        for k in (FAR, 1000, 2500):
            own = next(s for start, end, s in found if start <= k and (end is None or k < end))
            assert sign(value(curve, k)) == own, (curve, found, k)
        assert curves.eventual_sign(curve) == found[-1][2]


@pytest.mark.parametrize("degree", range(1, 8))
def test_signs_change_at_the_roots_and_nowhere_else(degree):
    chosen = random.Random(degree)
    for _ in range(50):
        size = 10 ** chosen.randrange(2, 20)
        roots = sorted({chosen.randrange(1, size) for _ in range(degree)})
        coefficients = [1]
        for root in roots:
            shifted = [0, *coefficients]
            coefficients = [a - root * b for a, b in zip(shifted, [*coefficients, 0], strict=True)]
        curve = {(1, d): c for d, c in enumerate(coefficients)}
        found = [k for start, end, own in curves.stretches(curve) if own == 0 for k in range(start, end)]
        assert found == roots
        assert curves.first_of_sign(curve, 0) == roots[0]
        after = [0, *(root + 1 for root in roots)]
        assert curves.first_of_sign(curve, 1) == next(k for k in after if value(curve, k) > 0)


def test_large_numbers_take_no_time():
    start = time.process_time()
    assert curves.first_of_sign({(1, 2): 1, (1, 0): -(10**400)}, 1) == 10**200 + 1
    assert curves.first_of_sign({(10, 0): 1, (1, 0): -(10**400)}, 0) == 400
    assert curves.first_of_sign({(3, 0): -1, (1, 3): 10**100, (1, 0): -(10**105)}, 1) == 47
    assert curves.first_of_sign({(2, 0): 1, (1, 1): -(10**30), (1, 0): -5}, 1) > 100
    assert time.process_time() - start < 1
    with pytest.raises(ValueError, match="bits"):
        curves.first_of_sign({(1000001, 0): 1, (1000000, 0): -(10**400)}, 1)


@pytest.mark.parametrize("seed", range(40))
def test_first_positive_and_first_zero_are_least(seed):
    chosen = random.Random(seed)
    shape = chosen.choice(
        (((1, 0), (1, 1), (1, 2)), ((1, 0), (2, 0)), ((1, 0), (1, 1), (3, 0)), ((1, 0), (1, 1)), ((1, 0), (1, 3)))
    )
    pool = (U, N, t.sub(U, V), t.neg(V), t.add(V, t.ONE), t.ONE, t.const(-2), t.mul(N, N))
    curve = {key: t.scale(chosen.choice(pool), chosen.choice((1, 2, -6))) for key in shape}
    both = (t.first_positive(curve), 1), (t.first_zero(curve), 0)
    for _ in range(100):
        values = {U: chosen.randrange(256), V: chosen.randrange(256), N: chosen.randrange(-128, 128)}
        numbers = {key: t.evaluate(c, values) for key, c in curve.items()}
        for term, wanted in both:
            bottom, top = t.range_of(term)
            expected = t.evaluate(term, values)
            search = next((k for k in range(600) if sign(value(numbers, k)) == wanted), -1)
            assert search == expected or (search == -1 and expected >= 600), (curve, values)
            assert expected == -1 or sign(value(numbers, expected)) == wanted
            assert bottom <= expected
            assert top is None or expected <= top
            whole = t.substitute(term, {v: t.const(x) for v, x in values.items()})
            assert whole is t.const(expected)
            assert t.evaluate(t.substitute(term, {U: t.const(values[U])}), values) == expected
        if t.eventually_positive(curve):
            assert t.evaluate(both[0][0], values) >= 0


def test_the_range_of_a_first_time_is_tight_for_a_square_root():
    n = t.variable("n", t.IntType(32, signed=False))
    assert t.range_of(t.first_positive({(1, 2): t.ONE, (1, 0): t.sub(t.ONE, n)})) == (0, 65536)


@pytest.mark.parametrize("seed", range(30))
def test_linear_power_repeats_the_map(seed):
    chosen = random.Random(seed)
    size = chosen.randrange(1, 4)
    pool = (U, N, t.ONE, t.ZERO, t.const(-3), t.const(2))
    matrix = [[chosen.choice(pool) for _ in range(size)] for _ in range(size)]
    start = [chosen.choice((U, V, N, t.ONE)) for _ in range(size)]
    term = t.linear_power(K, matrix, start)
    wrapped = t.wrap(term, t.IntType(32, signed=False))
    for k in (-5, 0, 1, 2, 3, 4, 5, 9, 40):
        values = {U: chosen.randrange(256), V: chosen.randrange(256), N: chosen.randrange(-128, 128), K: k}
        rows = [[t.evaluate(c, values) for c in row] for row in matrix]
        vector = [t.evaluate(c, values) for c in start]
        for _ in range(k):
            vector = [sum(a * x for a, x in zip(row, vector, strict=True)) for row in rows]
        assert t.evaluate(term, values) == vector[0]
        assert t.evaluate(wrapped, values) == vector[0] % 2**32
        assert t.evaluate(t.substitute(term, {K: t.const(k)}), values) == vector[0]
        bottom, _ = t.range_of(term)
        assert bottom is None or bottom <= vector[0]


def test_fibonacci_numbers_modulo_a_power_of_two():
    n = t.variable("n", t.IntType(64, signed=False))
    term = t.linear_power(n, [[t.ZERO, t.ONE], [t.ONE, t.ONE]], [t.ZERO, t.ONE])
    assert t.evaluate(term, {n: 90}) == 2880067194370816120
    wrapped = t.wrap(term, t.IntType(64, signed=False))
    assert t.evaluate(wrapped, {n: 3 * 2**63}) == 0  # the Pisano period of 2^64 is 3·2^63
    assert t.evaluate(wrapped, {n: 3 * 2**63 + 7}) == 13
    with pytest.raises(t.EvaluationError):
        t.evaluate(term, {n: 2**63})


@pytest.mark.parametrize("seed", range(30))
def test_digits_are_read_from_the_lowest(seed):
    chosen = random.Random(seed)
    base = chosen.choice((2, 3, 10, 16))
    factor = chosen.choice((t.ONE, t.const(base), t.const(7), t.const(-2), V, t.ZERO))
    term = t.digits(N, base, factor, K)
    wrapped = t.wrap(term, t.IntType(16, signed=False))
    for k in (-2, 0, 1, 2, 3, 4, 7, 8, 9, 60):
        values = {V: chosen.randrange(256), N: chosen.randrange(-128, 128), K: k}
        n, total = values[N], 0
        for _ in range(k):
            total = total * t.evaluate(factor, values) + n % base
            n //= base
        assert t.evaluate(term, values) == total
        assert t.evaluate(wrapped, values) == total % 2**16
        assert t.evaluate(t.substitute(term, {K: t.const(k)}), values) == total
        assert (
            t.substitute(term, {v: t.const(x) for v, x in values.items()}) is t.const(total) or total.bit_length() > 200
        )
        bottom, _ = t.range_of(term)
        assert bottom is None or bottom <= total


def test_digits_of_long_runs():
    assert powers.horner_of_digits(0b1011, 2, 1, 10**18) == 3
    assert powers.horner_of_digits(-1, 2, 1, 10**18) == 10**18
    assert powers.horner_of_digits(12345, 10, 10, 5) == 54321
    assert powers.horner_of_digits(-1, 2, 2, 10**18, 2**32) == 2**32 - 1


FORMS = [
    (t.first_positive({(1, 2): t.ONE, (1, 0): t.sub(t.ONE, U)}), "least(k: k*k >= u)"),
    (t.first_positive({(2, 0): N, (1, 0): t.neg(U)}), "least(k: n*pow(2, k) > u)"),
    (t.first_positive({(1, 2): K, (1, 0): t.neg(U)}), "least(k1: k1*k1*k > u)"),
    (t.first_zero({(1, 2): t.ONE, (1, 0): t.neg(U)}), "least(k: k*k == u)"),
    (t.linear_power(U, [[t.ZERO, t.ONE], [t.ONE, t.ONE]], [N, V]), "linear_power(u; [0, 1], [1, 1]; [n, v])"),
    (t.digits(U, 10, t.ONE, V), "digits(u, 10, 1, v)"),
]


@pytest.mark.parametrize(("term", "shown"), FORMS)
def test_they_are_printed_by_name_and_have_no_form_for_solvers(term, shown):
    assert t.text(term) == shown
    assert t.smt(term) is None
    with pytest.raises(NotPresburger):
        Region.of(t.at_most_zero(term))
    assert copy.deepcopy(term) is term
    assert pickle.loads(pickle.dumps(term)) is term

"""Simplified conditions agree with the original wherever the context holds."""

from __future__ import annotations

import subprocess
import sys

import pytest

from loopless import logic
from loopless import terms as t
from loopless.logic import Region
from loopless.terms import Condition, Var
from quasi_affine import I4, X, Z, check, condition, points

PAIR = (X, Z)
Y = Var("y", I4)
N, M = Var("n", t.IntType(32)), Var("m", t.IntType(32))


@check(120, condition(PAIR), condition(PAIR, depth=1))
def test_it_agrees_where_the_context_holds(c: Condition, context: Condition) -> None:
    simple = logic.simplify(c, context)
    for p in points(PAIR):
        if t.holds(context, p):
            assert t.holds(simple, p) == t.holds(c, p)


@check(60, condition((X, Y), depth=1), condition((X, Y), depth=0))
def test_parts_that_are_not_presburger_stay(c: Condition, context: Condition) -> None:
    product = t.less(t.mul(X, Y), t.const(7))
    power = t.equal(t.bit_and(X, Y), t.const(2))
    for mixed in (
        t.conjunction((c, product)),
        t.disjunction((t.conjunction((power, c)), product, t.negate(c))),
        t.conjunction((t.disjunction((c, power)), context, product)),
    ):
        simple = logic.simplify(mixed, context)
        for p in points((X, Y)):
            if t.holds(context, p):
                assert t.holds(simple, p) == t.holds(mixed, p)


@pytest.mark.parametrize(
    ("given_", "context", "expected"),
    [
        (t.conjunction((t.less(N, M), t.less(N, t.add(M, t.const(5))))), t.TRUE, "n < m"),
        (t.conjunction((t.less_equal(N, M), t.less_equal(M, N))), t.TRUE, "m == n"),
        (t.disjunction((t.less(N, t.const(5)), t.greater(N, t.const(5)))), t.TRUE, "n != 5"),
        (t.less(N, t.const(9)), t.less(N, M), "n <= 8"),
        (t.conjunction((t.less(N, M), t.less(N, t.const(9)))), t.less(N, M), "n <= 8"),
        (t.less_equal(N, t.const(2**31 - 1)), t.TRUE, "true"),
        (t.less(t.wrap(t.add(N, t.const(1)), N.type), M), t.less(N, t.const(100)), "n + 2 <= m"),
        (t.disjunction((t.equal(N, t.const(0)), t.less(t.const(0), N))), t.greater_equal(N, t.const(0)), "true"),
        (t.less(N, M), t.less(M, N), "false"),
    ],
)
def test_what_people_read(given_: Condition, context: Condition, expected: str) -> None:
    assert t.text(logic.simplify(given_, context)) == expected


def test_too_costly_or_no_shorter_means_unchanged() -> None:
    c = t.conjunction((t.less(N, M), t.equal(t.mod(N, t.const(3)), t.const(1))))
    assert logic.simplify(c) is c
    assert logic.simplify(t.conjunction((c, t.less(N, t.add(M, t.const(1))))), operations=10).variables == {N, M}


SCRIPT = """
from loopless import logic, terms as t
names = [t.Var(name, t.IntType(32)) for name in ("n", "x", "z", "a", "b", "q")]
k = t.Var("k", t.INTEGERS)
n, x, z, a, b, q = names
c = t.disjunction((
    t.conjunction((t.less(x, n), t.not_equal(z, a), t.equal(t.mod(t.add(x, b), t.const(3)), t.const(1)))),
    t.conjunction((t.less(b, q), t.less_equal(n, t.add(x, z)), t.equal(a, t.scale(q, 2)))),
))
print(logic.Region.of(c))
print(logic.Region.of(c).complement())
print(logic.Region.of(c).sample())
print(logic.first(t.disjunction((c, t.greater_equal(t.add(x, t.scale(k, 7)), n))), k))
print(logic.simplify(c, t.less(n, z)))
print(logic.satisfiable(t.conjunction((c, t.equal(t.mul(x, z), t.mul(n, q)), t.greater(z, t.const(2))))))
"""


def test_the_same_text_whatever_the_hash_seed() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(outputs) == 1
    assert "mod(" in outputs.pop()


@check(60, condition(PAIR))
def test_the_text_does_not_depend_on_the_order_of_union(c: Condition) -> None:
    a, b = Region.of(c, PAIR), Region.of(t.less(X, t.const(0)), PAIR)
    assert (a | b).condition() is (a | b).condition()
    assert (a & b).condition().variables <= set(PAIR)


@check(12, condition((X, Y)), condition((X, Y), depth=0))
def test_what_is_implied_goes_without_a_change_of_meaning(c: Condition, context: Condition) -> None:
    product = t.mul(X, Y)
    power = t.equal(t.bit_and(X, Y), t.const(2))
    remainder = t.equal(t.operation("trunc_rem", (X, Y)), t.ONE)
    for mixed in (
        t.conjunction((c, t.less(product, t.const(7)), t.less(product, t.const(9)), power)),
        t.disjunction(
            (t.conjunction((power, c)), t.less(product, t.const(7)), t.conjunction((t.less(product, t.const(3)), c)))
        ),
        t.conjunction((t.disjunction((c, power)), t.not_zero(Y), remainder)),
        t.conjunction((t.less_equal(product, t.ONE), t.not_equal(product, t.ONE), c)),
    ):
        thin = logic.without_implied(mixed, context)
        for p in points((X, Y)):
            if t.holds(context, p):
                assert t.holds(thin, p) == t.holds(mixed, p)


def test_implied_parts_of_nonlinear_conditions_are_left_out() -> None:
    product = t.mul(X, Y)
    low, high = t.less_equal(t.const(5), product), t.less_equal(product, t.const(5))
    assert logic.without_implied(t.conjunction((low, high))) is t.equal(product, t.const(5))
    assert logic.without_implied(t.conjunction((high, t.less_equal(product, t.const(8))))) is high
    assert logic.without_implied(t.conjunction((high, t.less(t.const(6), product)))) is t.FALSE
    days = t.less_equal(t.const(5), X)  # x >= 5 && (x == 6 || x >= 5)
    assert logic.without_implied(t.conjunction((days, t.disjunction((t.equal(X, t.const(6)), days))))) is days


def test_what_a_division_needs_stays_before_it() -> None:
    remainder = t.less(t.ZERO, t.operation("trunc_rem", (X, Y)))
    guarded = t.conjunction((t.not_zero(Y), remainder))
    assert logic.without_implied(guarded) is guarded


def test_the_solver_leaves_out_what_products_imply() -> None:
    x, y = Var("x", t.IntType(16)), Var("y", t.IntType(16))
    positive = t.conjunction((t.less(t.ZERO, x), t.less(t.ZERO, y)))
    products = t.add(t.mul(x, y), t.mul(x, x), x, y)
    implied, denied = t.less(t.ZERO, products), t.less(products, t.ZERO)
    open_ = t.less(products, t.const(700))
    asked = logic.Questions(9)
    assert logic.without_nonlinear(t.conjunction((positive, implied)), t.TRUE, asked) is positive
    assert asked.left < 9
    assert logic.without_nonlinear(implied, positive, logic.Questions(9)) is t.TRUE
    either = t.disjunction((t.conjunction((positive, denied, open_)), t.equal(x, t.const(-5))))
    assert logic.without_nonlinear(either, t.TRUE, logic.Questions(9)) is t.equal(x, t.const(-5))
    assert logic.without_nonlinear(t.conjunction((positive, implied)), t.TRUE, logic.Questions(0)) is not positive
    kept = t.conjunction((positive, open_))
    assert set(t.conjuncts(logic.without_nonlinear(kept, t.TRUE, logic.Questions(9)))) == set(t.conjuncts(kept))


def _of_residue(modulus: int, residue: int, least: int) -> Condition:
    return t.conjunction((t.equal(t.mod(N, t.const(modulus)), t.const(residue)), t.less_equal(t.const(least), N)))


@pytest.mark.parametrize(
    ("arms", "joined"),
    [
        ([(4, 1, 4), (4, 3, 6)], _of_residue(2, 1, 4)),
        ([(3, 0, 7), (3, 1, 7), (3, 2, 7)], t.less_equal(t.const(7), N)),
        ([(6, 1, 2), (6, 4, 2)], _of_residue(3, 1, 2)),
    ],
)
def test_alternatives_that_differ_in_residues_are_one(arms: list[tuple[int, int, int]], joined: Condition) -> None:
    apart = t.disjunction(_of_residue(*arm) for arm in arms)
    found = logic.simplify(apart)
    assert sum(1 for part in t.walk(found) if isinstance(part, t.Compare)) <= 2
    for value in (*range(-40, 40), 2**31 - 2, 2**31 - 1, -(2**31)):
        assert t.holds(found, {N: value}) == t.holds(apart, {N: value}) == t.holds(joined, {N: value})


def test_alternatives_of_other_ranges_stay_apart() -> None:
    apart = t.disjunction((_of_residue(4, 1, 4), _of_residue(4, 3, 60)))
    found = logic.simplify(apart)
    for value in range(-10, 120):
        assert t.holds(found, {N: value}) == t.holds(apart, {N: value})

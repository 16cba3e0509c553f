"""What known comparisons decide, compared with their values at all small points."""

from __future__ import annotations

from itertools import product

import pytest

from loopless import terms as t
from loopless.terms.knowing import Known, without_implied

I32 = t.IntType(32, signed=True)
X, Y, Z = (t.Var(name, I32) for name in "xyz")
XY = t.mul(X, Y)
POINTS = [dict(zip((X, Y, Z), values, strict=True)) for values in product(range(-4, 5), repeat=3)]


def at_most(term: t.Term, value: int) -> t.Condition:
    return t.less_equal(term, t.const(value))


def test_the_same_form_with_another_constant_is_decided() -> None:
    known = Known([at_most(t.add(XY, Z), 5)])
    assert known.decide(at_most(t.add(XY, Z), 7)) is t.TRUE
    assert known.decide(t.greater_equal(t.add(XY, Z), t.const(6))) is t.FALSE
    narrower = at_most(t.add(XY, Z), 4)
    assert known.decide(narrower) is narrower


def test_summands_that_are_bounded_bound_the_sum() -> None:
    known = Known([at_most(XY, 3), at_most(Z, 2)])
    assert known.decide(at_most(t.add(XY, Z), 5)) is t.TRUE
    assert known.decide(t.greater_equal(t.add(XY, Z), t.const(6))) is t.FALSE
    assert known.decide(at_most(t.sub(XY, Z), 5)) is not t.TRUE


FORMS = [X, t.neg(X), Y, t.add(X, Y), t.sub(X, Y), XY, t.add(XY, Z), t.add(t.scale(X, 2), t.neg(XY))]
COMPARED = [relation(form, t.const(value)) for form in FORMS for value in (-2, 0, 3)
            for relation in (t.less_equal, t.greater_equal, t.equal, t.not_equal)]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("first", COMPARED, ids=str)
def test_nothing_changes_where_what_is_known_holds(first: t.Condition) -> None:
    for second in COMPARED[::3]:
        known = Known([first, second])
        either = t.disjunction((t.conjunction((COMPARED[7], COMPARED[20])), COMPARED[31]))
        where = [point for point in POINTS if t.holds(t.conjunction((first, second)), point)]
        for asked in (*COMPARED[1::5], either):
            found = known.decide(asked)
            assert all(t.holds(found, point) == t.holds(asked, point) for point in where)


def test_conjuncts_that_follow_are_left_out() -> None:
    whole = t.conjunction((at_most(X, 3), at_most(X, 5), t.disjunction((at_most(X, 4), at_most(Y, 0)))))
    assert without_implied(whole) is at_most(X, 3)
    assert without_implied(t.conjunction((at_most(X, 3), t.greater_equal(X, t.const(4))))) is t.FALSE
    for first, second, third in zip(COMPARED, COMPARED[5:], COMPARED[11:], strict=False):
        whole = t.conjunction((first, t.disjunction((second, third)), second))
        shorter = without_implied(whole)
        assert all(t.holds(whole, point) == t.holds(shorter, point) for point in POINTS)

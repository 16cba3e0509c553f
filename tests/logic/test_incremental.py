"""Questions to Z3 about one conjunction that grows."""

from __future__ import annotations

from loopless.logic.incremental import Conjunction
from loopless.logic.solver import SmtAnswer
from loopless.terms import INTEGERS, IntType, Var, const, equal, greater_equal, less_equal

X = Var("x", INTEGERS)
BYTE = Var("byte", IntType(8, signed=False))


def test_what_is_asked_once_does_not_stay():
    asked = Conjunction()
    asked.add([greater_equal(X, const(2))])
    assert asked.check([less_equal(X, const(1))], 1_000)[0] is SmtAnswer.NO
    assert asked.check([], 1_000)[0] is SmtAnswer.YES
    assert asked.check([less_equal(BYTE, const(-1))], 1_000)[0] is SmtAnswer.NO
    answer, values = asked.check([equal(X, const(7)), greater_equal(BYTE, const(255))], 1_000)
    assert (answer, values) == (SmtAnswer.YES, {X: 7, BYTE: 255})
    asked.add([less_equal(X, const(3)), greater_equal(BYTE, X)])
    assert asked.check([equal(X, const(7))], 1_000)[0] is SmtAnswer.NO
    assert asked.check([equal(X, const(3)), less_equal(BYTE, const(2))], 1_000)[0] is SmtAnswer.NO
    assert asked.check([equal(X, const(3))], 1_000)[0] is SmtAnswer.YES


def test_a_text_that_z3_gives_up_in_is_not_the_end():
    asked = Conjunction()
    asked.add([greater_equal(X, const(2))])
    asked._solver.failed = True
    asked.add([less_equal(X, const(2))])
    assert asked.check([], 1_000) == (SmtAnswer.YES, {X: 2})

"""Questions to Z3 about one conjunction that grows."""

from __future__ import annotations

from loopless.logic.incremental import Conjunction
from loopless.logic.solver import SmtAnswer, Solver
from loopless.terms import INTEGERS, IntType, Var, add, const, equal, greater_equal, less_equal

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


def test_variables_are_declared_in_the_order_of_their_names(monkeypatch):
    """Sets of variables are ordered by addresses, and Z3's models depend on the order of what it is told."""
    told: list[str] = []
    monkeypatch.setattr(Solver, "tell_text", lambda _, text: bool(told.append(text)))
    names = [f"n{number:02}" for number in range(40)]
    together = add(*(Var(name, INTEGERS) for name in names))
    assert list(together.variables) != sorted(together.variables, key=lambda one: one.key)
    Conjunction().add([greater_equal(together, const(2))])
    declared = [line.split()[1] for line in told[0].splitlines() if line.startswith("(declare-const")]
    assert declared == names

"""What is told a solver stays, what is asked does not; limits and texts that Z3 gives up in are no wrong answers."""

from __future__ import annotations

import pytest
import z3

from loopless import clock
from loopless.logic.solver import SmtAnswer, Solver

ENGINES = ("simple", "tactics")


def told(engine):
    """A solver that knows 0 <= x < 10, and x."""
    solver = Solver(engine=engine)
    solver.limit(1000)
    x = z3.Int("x", solver.context)
    solver.tell(x >= 0, x < 10)
    return solver, x


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_asked_does_not_stay(engine):
    solver, x = told(engine)
    assert solver.ask(x == 10) is SmtAnswer.NO
    assert solver.ask(x == 3, x == 4) is SmtAnswer.NO
    for value in range(10):
        answer, model = solver.ask_model(x == value)
        assert (answer, model[x].as_long()) == (SmtAnswer.YES, value)
    solver.tell(x > 8)
    answer, model = solver.ask_model()
    assert (answer, model[x].as_long()) == (SmtAnswer.YES, 9)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_told_in_a_scope_is_forgotten_behind(engine):
    solver, x = told(engine)
    with solver.scope():
        solver.tell(x > 20)
        assert solver.ask() is SmtAnswer.NO
    assert solver.ask() is SmtAnswer.YES
    with pytest.raises(AttributeError), solver.scope():
        solver.tell(x > 20, x.no_such_thing())
    assert solver.ask() is SmtAnswer.YES


@pytest.mark.parametrize("engine", ENGINES)
def test_an_answer_rests_on_what_is_assumed(engine):
    solver, x = told(engine)
    low, high, odd = (solver.flag(name) for name in ("low", "high", "odd"))
    solver.tell(z3.Implies(low, x < 3), z3.Implies(high, x > 5), z3.Implies(odd, x % 2 == 1))
    assert solver.ask(given=(low, odd)) is SmtAnswer.YES
    assert solver.ask(given=(low, odd, high)) is SmtAnswer.NO
    assert set(solver.core()) == {"low", "high"}
    assert solver.ask() is SmtAnswer.YES


@pytest.mark.parametrize("engine", ENGINES)
def test_at_its_limit_a_question_is_not_decided_and_counts(engine):
    """a*a*a + b*b*b + c*c*c == 114 has no known solution."""
    solver = Solver(engine=engine)
    solver.limit_steps(20_000)
    a, b, c = (z3.Int(name, solver.context) for name in "abc")
    before = clock.counted()
    answer, model = solver.ask_model(a * a * a + b * b * b + c * c * c == 114)
    assert (answer, model) == (SmtAnswer.UNKNOWN, None)
    assert clock.counted() > before


@pytest.mark.parametrize("engine", [*ENGINES, "optimizing"])
def test_texts_are_read_and_wrong_ones_fail(engine):
    solver = Solver(engine=engine)
    solver.limit(1000)
    solver.tell_text("(declare-const x Int) (assert (> x 5)) (assert (< x 7))")
    answer, model = solver.ask_model()
    assert (answer, [model[one].as_long() for one in model.decls()]) == (SmtAnswer.YES, [6])
    assert not solver.failed
    solver.tell_text("(assert (> y 5))")
    assert solver.failed


def test_what_is_made_small_is_the_least():
    solver = Solver(engine="optimizing")
    solver.limit(1000)
    solver.tell_text("(declare-const x Int) (assert (> (* 3 x) 7)) (minimize x)")
    _, model = solver.ask_model()
    assert [model[one].as_long() for one in model.decls()] == [3]

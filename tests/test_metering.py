"""Limits on questions to Z3 by its own count of steps."""

from __future__ import annotations

import pytest
import z3

from loopless import clock
from loopless.metering import check, limit_steps

PROBLEM = "(declare-const x Real)(assert (>= x 3))(minimize x)"


@pytest.mark.parametrize("kind", [z3.Solver, z3.SimpleSolver, z3.Optimize])
def test_steps_of_each_kind_of_solver_count_as_work(kind):
    """An optimizer tells its steps only once it was asked; the steps of a context before a question are not counted."""
    context = z3.Context()
    before = z3.SimpleSolver(ctx=context)
    before.from_string("(declare-const y Int)(assert (= (* y y) 1764))(assert (> y 0))")
    limit_steps(before, 1_000_000)
    assert check(before) == z3.sat
    solver = kind(ctx=context)
    limit_steps(solver, 1_000_000)
    solver.from_string(PROBLEM if kind is z3.Optimize else PROBLEM.partition("(minimize")[0])
    counted = clock.counted()
    assert check(solver) == z3.sat
    assert 0 < clock.counted() - counted < 0.05

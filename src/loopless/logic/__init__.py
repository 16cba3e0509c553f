"""The logic: exact Presburger regions (isl), and SMT questions for what is not Presburger (Z3).

The only package of the methods that imports ``islpy`` and ``z3``. Its interface speaks of variables by name
(:class:`loopless.terms.Var`) and of :class:`loopless.terms.Condition`; dimensions, contexts and engine objects stay
inside. A variable takes the values of its type's range and no others; every statement here is about such values.

Regions
    ``Region.of(condition, variables)``, ``Region.universe(variables)``; ``&``, ``|``, ``-``, ``complement``,
    ``project_out``, ``preimage``, ``image``, ``gist``, ``coalesce``, ``is_empty``, ``is_subset``, ``is_equal``,
    ``disjoint``, ``contains``, ``sample``, ``range_of``, and back by ``condition()``. Exact; a condition that is not
    quasi-affine raises :class:`NotPresburger`, which names the first term in the way. ``enclosing_region`` and
    ``over_approximation`` are the inexact, larger counterparts for such conditions.
Least values and quantifiers
    ``first(condition, counter)`` and ``last``: the least (greatest) counter for each value of the other variables, in
    pieces, and where there is none. ``least`` and ``greatest`` of a term while a variable runs, ``pieces_of`` a term,
    ``exists`` and ``for_all`` over an interval.
Conditions for people
    ``simplify(condition, context)``, ``pruned(condition)``, ``without_implied(condition, context)``,
    ``without_nonlinear(condition, context, questions)``, ``expanded(condition, context)``,
    ``shortest_where(term, condition)``, ``equal_where(a, b, condition, region)``; at a few points first:
    ``sample_points``, ``may_be_equal``; of a premise what regions can speak of: ``presburger_part``.
Quick questions
    ``feasible(condition)``: False means surely not; ``has_point(condition)``: True means surely.
    ``Intervals(conditions)``: what follows from them at once.
    ``independent(conditions)``: conjunctions of them that have nothing in common.
    ``is_quasi_affine(node)``: whether regions can speak of a term or a condition.
Beyond Presburger
    ``satisfiable``, ``valid``: an :class:`SmtOutcome` with an :class:`SmtAnswer` and a checked :class:`Model`;
    ``load_solver`` before processes are forked.
Limits
    ``with budget(operations):`` bounds the isl work of a block, by isl's own count; beyond it every call raises
    :class:`BudgetExceeded`, and after the block all is as before. Z3 is bounded by its steps, then by time. Both look
    at their limits between elementary operations: on numbers of many thousand digits one operation may take long, so
    the last fence is a child process. Costly by nature: subtracting from or complementing unions of many parts with
    divisions, projections through several divisions, large moduli that do not divide each other.
"""

from __future__ import annotations

from loopless.logic.abstraction import OverApproximation, enclosing_region, over_approximation
from loopless.logic.engine import BudgetExceeded, budget
from loopless.logic.feasible import feasible, independent
from loopless.logic.intervals import Intervals
from loopless.logic.least import (
    FirstValue,
    Pieces,
    Unbounded,
    exists,
    first,
    first_exit,
    for_all,
    greatest,
    last,
    least,
    pieces_of,
)
from loopless.logic.pinning import equal_where, shortest_where
from loopless.logic.points import Point, may_be_equal, sample_points
from loopless.logic.region import EmptyRegion, Region
from loopless.logic.simplify import (
    Questions,
    expanded,
    presburger_part,
    pruned,
    shorter,
    simplify,
    without_implied,
    without_nonlinear,
)
from loopless.logic.smt import Model, SmtOutcome, load_solver, satisfiable, valid
from loopless.logic.solver import SmtAnswer
from loopless.logic.translate import NotPresburger, is_quasi_affine
from loopless.logic.witness import has_point

__all__ = [
    "BudgetExceeded",
    "EmptyRegion",
    "FirstValue",
    "Intervals",
    "Model",
    "NotPresburger",
    "OverApproximation",
    "Pieces",
    "Point",
    "Questions",
    "Region",
    "SmtAnswer",
    "SmtOutcome",
    "Unbounded",
    "budget",
    "enclosing_region",
    "equal_where",
    "exists",
    "expanded",
    "feasible",
    "first",
    "first_exit",
    "for_all",
    "greatest",
    "has_point",
    "independent",
    "is_quasi_affine",
    "last",
    "least",
    "load_solver",
    "may_be_equal",
    "over_approximation",
    "pieces_of",
    "presburger_part",
    "pruned",
    "sample_points",
    "satisfiable",
    "shorter",
    "shortest_where",
    "simplify",
    "valid",
    "without_implied",
    "without_nonlinear",
]

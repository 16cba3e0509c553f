"""The logic: exact Presburger regions (isl), and SMT questions for what is not Presburger (Z3).

The only package of the methods that imports ``islpy`` and ``z3``. Its interface speaks of variables by name
(:class:`loopless.terms.Var`) and of :class:`loopless.terms.Condition`; dimensions, contexts and engine objects stay
inside.

A variable takes the values of its type's range and no others; every statement here is about such values.
"""

from __future__ import annotations

from loopless.logic.engine import DEFAULT_OPERATIONS, BudgetExceeded, budget
from loopless.logic.least import First, Pieces, Unbounded, exists, first, for_all, greatest, last, least, pieces_of
from loopless.logic.region import EmptyRegion, Region
from loopless.logic.translate import NotPresburger

__all__ = [
    "DEFAULT_OPERATIONS",
    "BudgetExceeded",
    "EmptyRegion",
    "First",
    "NotPresburger",
    "Pieces",
    "Region",
    "Unbounded",
    "budget",
    "exists",
    "first",
    "for_all",
    "greatest",
    "last",
    "least",
    "pieces_of",
]

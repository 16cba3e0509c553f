"""The one question that summaries of data put to the logic."""

from __future__ import annotations

from loopless.logic import feasible
from loopless.terms import Condition


def possible(condition: Condition) -> bool:
    """Whether the condition may hold somewhere, whatever is read. Z3 is not asked about products, which may take it
    seconds: what is not sure counts as possible.
    """
    return feasible(condition, solver=False)

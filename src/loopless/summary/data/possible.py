"""The one question that summaries of data put to the logic."""

from __future__ import annotations

from loopless import terms as t
from loopless.logic import feasible


def possible(condition: t.Condition) -> bool:
    """Whether the condition may hold somewhere, whatever is read. Z3 is not asked about products, which may take it
    seconds: what is not sure counts as possible.
    """
    return feasible(condition, solver=False)

"""A variable that moves one way only keeps within its type all along exactly if its final value does.

So one comparison on the value at the end stands for the checks of all iterations. Here is what this rests on; which
variables move one way is found for single paths (:mod:`loopless.summary.obligations.monotone_path`), for accumulators
of several paths (:mod:`loopless.summary.obligations.monotone_accumulators`), and for counters that conditions read
(:mod:`loopless.summary.obligations.monotone_counters`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loopless import terms as t
from loopless.paths.model import Exit


def fits(value: t.Term, type: t.IntType, *, up: bool) -> t.Condition:
    """Whether the final ``value`` of a variable that only rises (``up``), or only falls, has not passed the end of its
    ``type`` on that side. The type must have ends.
    """
    assert type.min is not None
    assert type.max is not None
    return t.at_most_zero(value - type.max if up else type.min - value)


def needed_to_follow(check: t.Condition, var: t.Var, moved: t.Term, *, up: bool) -> t.Term | None:
    """The term that must be ≥ 0 for ``check`` to hold where the value of ``var`` before a step by ``moved``, and that
    after it, fit the type; None where that is not seen.
    """
    if not isinstance(check, t.Compare) or check.relation != "le":
        return None
    factor = t.polynomial(check.term).get(((var, 1),), 0)
    rest = check.term - var * factor
    if factor == 0 or var in rest.variables:
        return None
    low, high = var.type.min, var.type.max
    assert low is not None
    assert high is not None
    # The check is factor*var + rest <= 0. What bounds var: where it rises, its new value from above, the one before
    # from below; where it falls the other way round.
    end = t.const(high if factor > 0 else low)
    most = end - moved if up == (factor > 0) else end
    return -(most * factor + rest)


def exit_of_all(exits: Sequence[Exit]) -> Exit:
    """The exit for the checks of all ``exits``; its line is 0 where they are of several lines."""
    same = all(exit.line == exits[0].line for exit in exits)
    return exits[0] if same else replace(exits[0], line=0)

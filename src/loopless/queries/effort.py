"""How long a costly search may take: as long as the limit allows for a few loops, less for each where there are many.

Real code has hundreds of loops, and a search that needs seconds seldom succeeds there: with ten seconds for each the
answers of a build would come after an hour. So cheap answers come first, for all loops; what they leave open is
searched for in turn, and the time for each falls with the number of loops that are asked for at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from loopless.bounds.floating_counters import floating_counts
from loopless.bounds.induction import Counted, induction_counts
from loopless.queries.program import Function
from loopless.queries.sandbox import Overrun, attempted
from loopless.queries.settings import Settings
from loopless.refusals import Refused

FEW: Final = 8
"""So many loops have the whole limit of time each. A guess: the programs of papers have fewer."""
LEAST_S: Final = 0.15
"""No search for a bound has less time than this. Nearly all one-iteration scopes of zlib's loops take no longer."""
LEAST_FOR_SUMMARY_S: Final = 0.3
"""No search for a summary has less time than this."""
HURRIED_S: Final = 0.5
"""Where each search has less time than this, what has a count already is not summarized. A guess."""
SETTLED_S: Final = 2.0
"""The time for the summary of a loop whose iterations are counted already. A guess."""

Inductions = Mapping[str, Counted]
"""By the names of loops, what induction variables say."""


@dataclass(frozen=True, slots=True)
class Effort:
    """The limits of a request: ``settings`` for what is open, ``settled`` for loops whose count is known already.

    ``hurried``: there are so many loops that only those are summarized that are open and stand in the function's text:
    not copies of inlined functions.
    """

    settings: Settings
    settled: Settings
    hurried: bool = False


def effort_for(functions: Sequence[Function], settings: Settings) -> Effort:
    """The effort for bounds of all loops of ``functions``."""
    loops = sum(loop.id.inlined_from is None for function in functions for loop in function.loops)
    share = shared(settings, loops)
    if share is settings or share.loop_timeout_s is None:
        hurried, for_settled = False, settings if settings.thorough else within(settings, SETTLED_S)
    else:
        hurried, for_settled = share.loop_timeout_s < HURRIED_S, within(share, SETTLED_S)
    return Effort(share, for_settled, hurried=hurried)


def shared(settings: Settings, loops: int, least_s: float = LEAST_S) -> Settings:
    """The settings for work on so many loops at once."""
    limit = settings.loop_timeout_s
    if limit is None or settings.thorough or loops <= FEW:
        return settings
    return within(settings, max(least_s, limit * (FEW / loops) ** 2))


def within(settings: Settings, seconds: float) -> Settings:
    """The settings with no more time than that for each loop. A share that is small by itself is not to be made smaller
    by what else the machine does: it is time of the processor.
    """
    limit = settings.loop_timeout_s
    if limit is not None and limit <= seconds:
        return settings
    return replace(settings, loop_timeout_s=seconds, of_processor=True)


def inductions_of(function: Function) -> Inductions:
    """What induction variables, and floating-point counters, say of the loops of a function; those of which they say
    nothing are missing.
    """
    graph, module = function.graph(), function.program.source.inlined
    if isinstance(graph, Refused):
        return {}
    floating = attempted(lambda: floating_counts(module.functions[function.code.name], module, graph))
    given = {} if isinstance(floating, Overrun) else floating
    found = attempted(lambda: induction_counts(graph, given))
    if isinstance(found, Overrun):
        return given
    return {name: counted for name, counted in found.items() if isinstance(counted, Counted) and counted.bounds}

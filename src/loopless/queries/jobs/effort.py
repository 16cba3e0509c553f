"""How long a costly search may take: as long as the limit allows for a few loops, less for each where there are many.

Real code has hundreds of loops, and a search that needs seconds seldom succeeds there: with ten seconds for each the
answers of a build would come after an hour. So cheap answers come first, for all loops; what they leave open is
searched for in turn, and the time for each falls with the number of loops that are asked for at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from loopless.debugging import tell_method, tells_methods
from loopless.limits.queries import (
    FEW_LOOPS,
    HURRIED_S,
    HURRIED_SEARCHES_S,
    LEAST_FOR_BOUNDS_S,
    SETTLED_S,
)
from loopless.queries.jobs.overrun import Overrun, attempted
from loopless.queries.program import AnalyzedFunction
from loopless.queries.settings import Settings
from loopless.records import dataclass
from loopless.refusals import Refused

if TYPE_CHECKING:
    from loopless.bounds.induction.counts import Counted

NOT_SEARCHED: Final = (
    "so many loops were asked for at once that no search was made beyond induction variables; "
    "ask for this function alone with --function, or for --thorough"
)
"""Why there is no more, of functions that were left out."""

Inductions = Mapping[str, "Counted"]
"""By the names of loops, what induction variables say."""


@dataclass(frozen=True, slots=True)
class Effort:
    """The limits of a request: ``settings`` for what is open, ``settled`` for loops whose count is known already.

    ``hurried``: there are so many loops that none is summarized for its bounds.
    """

    settings: Settings
    settled: Settings
    hurried: bool = False

    def with_workers(self, workers: int) -> Effort:
        """The same with so many processes."""
        settings, settled = (replace(one, workers=workers) for one in (self.settings, self.settled))
        return replace(self, settings=settings, settled=settled)

    def searched(
        self, functions: Sequence[AnalyzedFunction], inductions: Sequence[Inductions]
    ) -> Collection[AnalyzedFunction]:
        """The functions of which bounds are searched for: in a hurry the smallest of those with open loops, as many as
        the time for all together allows.
        """
        if not self.hurried or self.settings.loop_timeout_s is None:
            return functions
        still_open = [
            function
            for function, own in zip(functions, inductions, strict=True)
            if any(_is_open(own.get(loop.name)) for loop in function.loops if loop.id.inlined_from is None)
        ]
        most = max(1, round(HURRIED_SEARCHES_S / self.settings.loop_timeout_s))
        return sorted(still_open, key=_size)[:most]


def _is_open(counted: Counted | None) -> bool:
    """Whether no bound is known, and a counter may bound the loop."""
    from loopless.bounds.model import least

    return counted is None or (least(counted.bounds) is None and not counted.reads.inputs)


def _size(function: AnalyzedFunction) -> int:
    graph = function.graph()
    return 0 if isinstance(graph, Refused) else len(graph.blocks)


def effort_for(functions: Sequence[AnalyzedFunction], settings: Settings) -> Effort:
    """The effort for bounds of all loops of ``functions``."""
    # The loops of one function are searched together: many of them do not make many searches.
    own = [sum(loop.id.inlined_from is None for loop in function.loops) for function in functions]
    loops = sum(min(FEW_LOOPS, of_function) for of_function in own)
    share = shared(settings, loops)
    if share is settings or share.loop_timeout_s is None:
        unlimited = settings.thorough or settings.loop_timeout_s is None
        hurried, for_settled = False, settings if unlimited else within(settings, SETTLED_S)
    else:
        hurried, for_settled = share.loop_timeout_s < HURRIED_S, within(share, SETTLED_S)
    return Effort(share, for_settled, hurried=hurried)


def shared(settings: Settings, loops: int, least_s: float = LEAST_FOR_BOUNDS_S) -> Settings:
    """The settings for work on so many loops at once."""
    limit = settings.loop_timeout_s
    if limit is None or settings.thorough or loops <= FEW_LOOPS:
        return settings
    return within(settings, max(least_s, limit * (FEW_LOOPS / loops) ** 2))


def within(settings: Settings, seconds: float) -> Settings:
    """The settings with no more time than that for each loop, which is a share of what it has alone."""
    limit = settings.loop_timeout_s
    if limit is not None and limit <= seconds:
        return settings
    return replace(settings, loop_timeout_s=seconds, shared=True)


def inductions_of(function: AnalyzedFunction) -> Inductions:
    """What induction variables, and floating-point counters, say of the loops of a function; those of which they say
    nothing are missing.
    """
    from loopless.bounds.induction.counts import Counted, induction_counts
    from loopless.bounds.induction.floating.counters import floating_counts

    graph, module = function.over_cells, function.program.source.inlined
    if isinstance(graph, Refused):
        return {}
    floating = attempted(lambda: floating_counts(module.functions[function.code.name], module, graph))
    given = {} if isinstance(floating, Overrun) else floating
    found = attempted(lambda: induction_counts(graph, given, function.program.transformers))
    if tells_methods():
        _tell_developers(function, found)
    if isinstance(found, Overrun):
        return given
    counts = {name: counted for name, counted in found.items() if isinstance(counted, Counted)}
    return {name: counted for name, counted in counts.items() if counted.bounds or counted.reads.sources}


def _tell_developers(function: AnalyzedFunction, found: Mapping[str, Counted | Refused] | Overrun) -> None:
    """Write one line about each loop, as :func:`loopless.portfolio.answered` does about each method."""
    for loop in function.loops:
        counted = found.refused(loop.id.place) if isinstance(found, Overrun) else found.get(loop.name)
        if counted is None:
            said = "not applicable"
        elif isinstance(counted, Refused):
            said = str(counted)
        elif counted.reads.sources:
            said = f"no answer, since {counted.reads}"
        else:
            said = "answered" if counted.bounds else "no answer"
        tell_method(f"Inductions at {loop.id.place}", "induction", said)

"""What several sources know of the iterations of a loop, of one entry and of a call: the best of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from loopless import terms as t
from loopless.bounds import Claim, claim
from loopless.bounds.asymptotics.compare import lesser, surely_at_most
from loopless.bounds.claims.joint import may_be_undefined
from loopless.bounds.induction.counts import Counted
from loopless.bounds.iteration.outside import NO_READS, Reads
from loopless.bounds.model import Bounds, by_types, least, size
from loopless.flowgraph.model import Flowgraph
from loopless.limits.bounds import LARGE_CONSTANT
from loopless.queries.loops.exit_counts import Counts
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.summary import LoopSummary


@dataclass(frozen=True, slots=True)
class KnownClaims:
    """By the names of the loops of a function: ``alone``, summaries of what decides when they are left; ``counted``,
    what induction variables say.
    """

    alone: Counts = field(default_factory=dict)
    counted: Mapping[str, Counted] = field(default_factory=dict)

    def bounds(self) -> dict[str, Bounds]:
        """Bounds on the iterations of one entry."""
        return {name: found.bounds for name, found in self.counted.items()}

    def granted(self) -> tuple[str, ...]:
        """What is taken for granted of calls."""
        return tuple(dict.fromkeys(text for found in self.counted.values() for text in found.granted))

    def reads(self, name: str, entry: Claim) -> Reads:
        """What is read anew and alone decides how long a loop runs, where no bound is known but the end of a type."""
        bounded = entry.upper is not None and not entry.has_gap and not by_types(entry.upper)
        if bounded or name not in self.counted:
            return NO_READS
        most = least((*self.counted[name].any_entry, *self.counted[name].total))  # by where the function enters it
        return self.counted[name].reads if most is None or by_types(most) else NO_READS

    def total(self, name: str, bounds: Bounds = ()) -> Bounds:
        """Bounds on the iterations in a call: beside ``bounds``, or in place of them, what induction variables say."""
        more = self.counted[name].total if name in self.counted else ()
        best, quick = least(bounds), least(more)
        if quick is None or (best is not None and not _tells_more(quick, best)):
            return bounds
        both = (
            () if best is None or surely_at_most(quick, best) else (bound for bound in bounds if bound.when is t.TRUE)
        )
        return (*more, *both, *(bound for bound in bounds if bound.when is not t.TRUE))

    def any_entry(self, name: str, bounds: Bounds, total: t.Term | None) -> t.Term | None:
        """A bound on the iterations of any entry in a call, which takes no more than the whole call, ``total``."""
        quick = self.counted[name].any_entry if name in self.counted else ()
        best = least((*quick, *bounds)) if least(bounds) is None else least(bounds)
        for term in (least(quick), total):
            if best is None:
                best = term
            elif term is not None and size(term) <= size(best) and _tells_more(term, best):
                best = lesser(term, best)
        return best

    def claim(self, graph: Flowgraph | Refused, name: str, summary: LoopSummary | None, bounds: Bounds) -> Claim:
        """What is known of one entry of a loop, with the loop's ``summary`` and other ``bounds``."""
        found = claim(summary, bounds)
        if name in self.alone:
            alone = claim(self.alone[name], bounds)
            if alone.exact:
                # Whatever else the iterations do may be undefined.
                return replace(alone, undefined=t.TRUE)
        exact = self.counted[name].exact if name in self.counted else None
        if exact is None or (found.exact and not found.has_gap):
            completed = self.counted[name].completed if name in self.counted else None
            if completed is None or found.exact:
                return found
            return replace(found, completed=completed, undefined=_undefined(graph, name))
        if (
            found.upper is not None
            and not found.has_gap
            and found.when is t.TRUE
            and by_types(exact) > by_types(found.upper)
        ):
            return found
        counted = self.counted[name]
        undefined, endless = _undefined(graph, name), counted.endless
        if endless is t.FALSE:
            return Claim(exact, exact, exact=True, undefined=undefined, method=counted.method)
        if found.upper is not None and found.when is t.TRUE and not found.has_gap:
            return replace(found, completed=exact, undefined=undefined)
        when = ~endless
        return Claim(exact, exact, exact=True, when=when, never=endless, undefined=undefined, method=counted.method)


def _tells_more(term: t.Term, best: t.Term) -> bool:
    """Whether one bound says something beside another: it is no larger, or below a number that the other may exceed."""
    most, other = t.range_of(term)[1], t.range_of(best)[1]
    below = most is not None and most < LARGE_CONSTANT and (other is None or most < other)
    return below or surely_at_most(term, best)


def _undefined(graph: Flowgraph | Refused, name: str) -> t.Condition:
    """Where a run of the loop may meet undefined behaviour."""
    if isinstance(graph, Refused):
        return t.TRUE
    blocks = next((loop.blocks for loop in graph.loops if loop.name == name), frozenset[str]())
    return t.TRUE if any(may_be_undefined(s) for label in blocks for s in graph.blocks[label].statements) else t.FALSE

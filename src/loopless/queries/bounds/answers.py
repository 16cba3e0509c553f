"""What is found out about how often loops run, as values that travel between processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from loopless import terms as t
from loopless.bounds import (
    AsymptoticClass,
    Claim,
)
from loopless.bounds.asymptotics.lower import class_of_bound, has_class
from loopless.bounds.claims.lines import LineBound
from loopless.bounds.iteration.outside import NO_READS, Reads
from loopless.bounds.methods.nontermination import Recurrent
from loopless.queries.loops.answer import LoopAnswer
from loopless.queries.returning import NO_CALLS, CallNotes
from loopless.refusals import Refused
from loopless.summary import FunctionSummary


@dataclass(frozen=True, slots=True)
class LoopBound:
    """What is known of how often a loop runs.

    ``entry``: the iterations of one entry, over the values there; ``call``: those of one call of the function, over its
    inputs; ``any_entry``: no entry in a call takes more iterations than that, over the inputs. ``lines``: the visits of
    lines in one call. ``refused``: why there is no bound on one entry, ``refused_call``: why there is none on a call.
    """

    answer: LoopAnswer
    entry: Claim
    call: Claim
    any_entry: t.Term | None = None
    lines: tuple[LineBound, ...] = ()
    refused: Refused | None = None
    refused_call: Refused | None = None
    from_header: bool = False
    """Whether the loop is left from its header only, in which nothing of the body stands."""
    recurrent: tuple[Recurrent, ...] = ()
    """Where no bound on one entry is known: states at the header from which the loop never ends, or need not."""
    calls: CallNotes = NO_CALLS
    reads: Reads = NO_READS
    """Where no bound on one entry is known: what decides how long the loop runs."""
    loosened: tuple[str, ...] = ()
    """Where a bound is as large as a type: what is in the way of a smaller one."""
    cut: Refused | None = None
    """Which limit on time or memory ended the search for more, where the iterations are not known exactly."""

    @property
    def reasons(self) -> tuple[Refused, ...]:
        """Why there is no bound, and which limit ended the search where that does not say it."""
        found = dict.fromkeys(one for one in (self.refused, self.refused_call) if one is not None)
        if self.cut is not None and not any(self.cut.detail in one.detail for one in found):
            found[self.cut] = None
        return tuple(found)


@dataclass(frozen=True, slots=True)
class FunctionBound:
    """The bounds of one function: ``call`` is about the iterations of all its loops, those of inlined functions too.

    ``shown``: the source names of the variables; ``own``: the names of the loops that stand in the function's text.
    """

    name: str
    place: str
    loops: tuple[LoopBound, ...] = ()
    call: Claim = field(default_factory=lambda: Claim(None, gap=t.TRUE))
    shown: Mapping[t.Var, str] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()
    refused: Refused | None = None
    trouble: str = ""
    time_ms: float = 0.0
    wider: t.Term | None = None
    """Another upper bound on the iterations of all loops, which may be larger but be of a lower class."""
    over_inputs: t.Term | None = None
    """A bound over the inputs alone, where that of ``call`` is over values that the call reads."""
    summary: FunctionSummary | None = None
    """What the function does, where that is known."""
    ambiguous: frozenset[str] = frozenset()
    """Source names of several of the variables of which the bounds speak, or may: by such a name none is meant."""
    calls: CallNotes = NO_CALLS
    layouts: Mapping[str, t.Layout] = field(default_factory=dict)
    """What is declared in objects, by their names."""


def class_of(found: FunctionBound) -> AsymptoticClass | None:
    """How fast the iterations of all loops grow at most, where there is a bound for all inputs for which they end."""
    if not has_class(found.call):
        return None
    known = [class_of_bound(found.call.upper, found.shown, exact=found.call.exact)]
    known += [class_of_bound(term, found.shown, exact=False) for term in (found.wider, found.over_inputs)]
    return min((g for g in known if g is not None), key=lambda g: g.degree, default=None)

"""Bounds of which a report could not be made within the limits: what is short in them, and why there is no more."""

from __future__ import annotations

from dataclasses import replace

from loopless import terms as t
from loopless.bounds import Claim
from loopless.queries.bounds.answers import FunctionBound, LoopBound, LoopIterations, OverflowEnd
from loopless.queries.jobs.overrun import Overrun
from loopless.report.functions import assumptions_of
from loopless.report.making import loop_without, unwritten


def loop_bound_without(bound: LoopBound, overrun: Overrun) -> LoopBound:
    """The bounds of a loop with the reason why no more is told; they stay where they are short."""
    return LoopBound(bounds_without(bound.function, overrun), _counts_without(bound.counts, overrun))


def bounds_without(found: FunctionBound, overrun: Overrun) -> FunctionBound:
    """The same of the bounds of a function."""
    granted = assumptions_of(found.summary) if found.summary is not None else []
    call = _short(found.call)
    if call is not found.call and found.call.never is t.FALSE:
        larger = next((term for term in map(_short_term, (found.wider, found.over_inputs)) if term is not None), None)
        call = call if larger is None else Claim(larger)
    why = unwritten("all but what is told", overrun, found.place)
    return replace(
        found,
        summary=None,
        counts=tuple(_counts_without(bound, overrun) for bound in found.counts),
        call=call,
        wider=_short_term(found.wider),
        over_inputs=_short_term(found.over_inputs),
        granted=(*granted, *found.granted),
        refused=why if call is not found.call else found.refused or why,
    )


def _counts_without(bound: LoopIterations, overrun: Overrun) -> LoopIterations:
    answer = loop_without(replace(bound.answer, refused=None), overrun)
    entry, call = _short(bound.entry), _short(bound.call)
    return replace(
        bound,
        answer=answer,
        entry=entry,
        call=call,
        any_entry=_short_term(bound.any_entry),
        over_inputs=_short_term(bound.over_inputs),
        lines=tuple(line for line in bound.lines if t.is_plain(line.upper)),
        recurrent=tuple(states for states in bound.recurrent if t.is_plain(states.condition)),
        ends_by_overflow=_short_end(bound.ends_by_overflow),
        refused=answer.refused if entry is not bound.entry else bound.refused or answer.refused,
        refused_call=answer.refused if call is not bound.call else bound.refused_call,
    )


def _short_end(end: OverflowEnd | None) -> OverflowEnd | None:
    if end is None or (t.is_plain(end.entry) and t.is_plain(end.call)):
        return end
    return replace(end, entry=t.FALSE, call=t.FALSE)


def _short(claim: Claim) -> Claim:
    terms: tuple[t.Node | None, ...] = (claim.upper, claim.lower, claim.when, claim.never, claim.gap, claim.undefined)
    terms = (*terms, claim.reached, claim.completed)
    return claim if all(term is None or t.is_plain(term) for term in terms) else Claim(None, gap=t.TRUE)


def _short_term(term: t.Term | None) -> t.Term | None:
    return term if term is not None and t.is_plain(term) else None

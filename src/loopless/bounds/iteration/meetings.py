"""Ways that meet in one iteration, and the iteration way by way where what holds of all of them says too little.

Where ways meet, a variable becomes a symbol (:mod:`loopless.bounds.iteration.one_iteration`), and what one way does to
several variables at once is lost: that a search lowers the upper end of a range *or* raises the lower one, each by
half. A term over such symbols is looked at again with the values that each way brought along, under what held there.
Only ways on which the term depends are told apart, only so many of them; what is left has its symbols, and their
intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from loopless import terms as t
from loopless.bounds.iteration.facts import Facts, SymbolIntervals
from loopless.limits.bounds import MAX_COMPARED_WAYS, MAX_MEETING_WAYS
from loopless.records import dataclass


@dataclass(slots=True)
class Meeting:
    """Ways that meet: what held on each, and by symbols the values that each brought along.

    ``values``: those through which conditions are followed back; ``others``: the rest.
    """

    facts: tuple[Facts, ...]
    values: dict[t.Var, tuple[t.Term, ...]] = field(default_factory=dict)
    others: dict[t.Var, tuple[t.Term, ...]] = field(default_factory=dict)

    def on(self, way: int, values: Mapping[t.Var, t.Term]) -> Mapping[t.Var, t.Term]:
        """Values behind the meeting, for runs that came on one of the ways."""
        brought = {symbol: found[way] for symbol, found in self.values.items()}
        try:
            return {v: t.substitute(term, brought) for v, term in values.items()}
        except t.TermTooLarge:
            return values


def ends_of(meeting: Meeting, intervals: SymbolIntervals) -> list[t.Term]:
    """What is at most 0 where ways meet: a value is the least, or the greatest, of those that were brought along, as
    of a minimum that is written as a choice.
    """
    found = []
    for symbol, terms in meeting.others.items():
        for term in terms if len(terms) <= MAX_COMPARED_WAYS else ():
            apart = [(facts, other - term) for facts, other in zip(meeting.facts, terms, strict=True)]
            if all(facts.imply(difference, intervals) for facts, difference in apart):
                found.append(symbol - term)
            elif all(facts.imply(-difference, intervals) for facts, difference in apart):
                found.append(term - symbol)
    return found


@dataclass(frozen=True, slots=True)
class MeetingWay:
    """Some terms as they are on one of the ways of an iteration, and what holds there."""

    terms: tuple[t.Term, ...]
    facts: Facts


Meetings = Mapping[t.Var, Meeting]
"""By symbols for values that ways brought along where these met, in the order of the iteration."""


def ways(terms: Sequence[t.Term], facts: Facts, meetings: Meetings, intervals: SymbolIntervals) -> list[MeetingWay]:
    """The terms way by way: on each way of an iteration on which ``facts`` hold at the end, one of these is right.

    The latest meetings come first, since the values that they stand for may speak of earlier ones.
    """
    place = {symbol: number for number, symbol in enumerate(meetings)}
    done: list[MeetingWay] = []
    waiting = [MeetingWay(tuple(terms), facts)]
    while waiting:
        way = waiting.pop()
        symbols = [v for term in way.terms for v in term.variables if v in place]
        if not symbols:
            done.append(way)
            continue
        meeting = meetings[max(symbols, key=place.__getitem__)]
        if len(done) + len(waiting) + len(meeting.facts) > MAX_MEETING_WAYS:
            return [MeetingWay(tuple(terms), facts)]
        try:
            waiting += _divided(way, meeting, intervals)
        except t.TermTooLarge:
            return [MeetingWay(tuple(terms), facts)]
    return done


def _divided(way: MeetingWay, meeting: Meeting, intervals: SymbolIntervals) -> list[MeetingWay]:
    """A way once for each of those that meet, without those that cannot be. Raises
    :class:`loopless.terms.TermTooLarge`.
    """
    found = []
    for number, facts in enumerate(meeting.facts):
        both = way.facts.joined_with(facts, intervals) if facts.possible else None
        if both is None:
            continue
        brought = {symbol: value[number] for symbol, value in (*meeting.values.items(), *meeting.others.items())}
        here = _told(both, brought, intervals)
        if here is not None:
            found.append(MeetingWay(tuple(t.substitute(term, brought) for term in way.terms), here))
    return found


def _told(facts: Facts, brought: Mapping[t.Var, t.Term], intervals: SymbolIntervals) -> Facts | None:
    """The facts with what they say of what a way brought along; None where it cannot have been that way. Raises
    :class:`loopless.terms.TermTooLarge`.
    """
    found: Facts | None = facts
    for linear, most in facts.most.items():
        if found is not None and not linear.variables.isdisjoint(brought):
            here = intervals.unwrapped(t.substitute(linear, brought), found)
            found = found.at_most(here - most, intervals)
    for term in facts.unequal:
        if found is not None and not term.variables.isdisjoint(brought):
            claim = t.not_zero(intervals.unwrapped(t.substitute(term, brought), found))
            if claim is t.FALSE:
                return None
            found = found.under(claim, intervals) if isinstance(claim, t.Compare) else found
    return found

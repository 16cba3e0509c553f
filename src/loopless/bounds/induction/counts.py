"""How often a loop runs, by its induction variables: from what one iteration does, without following paths.

Every completed iteration satisfies some inequalities; where one of them says that a term is at least 0, and every
iteration lowers the term by at least d ≥ 1, there are no more than floor(s₀ / d) + 1 iterations. A condition ``≠`` on
what moves by 1 is met after the difference modulo 2^width. Where each way out of the loop contradicts an inequality
whose count is exact, the least of these counts is exact: what a compiler's scalar evolution calls the backedge-taken
count (van Engelen, Efficient symbolic analysis for optimizing compilers, CC 2001; Bachmann, Wang, Zima, Chains of
recurrences, ISSAC 1994), here also for steps in intervals and several exits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from loopless import terms as t
from loopless.bounds.callees.effects import Returned, Transformers, is_seen
from loopless.bounds.claims.endings import Endings
from loopless.bounds.claims.entries import EntryOf
from loopless.bounds.induction.fact_counts import Counts, FactCount
from loopless.bounds.induction.modular_counts import modular_counts
from loopless.bounds.induction.slacks import Slacks
from loopless.bounds.iteration.body_facts import Beyond, LoopBodyFacts
from loopless.bounds.iteration.constants import constants
from loopless.bounds.iteration.facts import Facts, SymbolIntervals
from loopless.bounds.iteration.left_behind import left_behind
from loopless.bounds.iteration.loop_effects import LoopEffect
from loopless.bounds.iteration.meetings import Meetings, ways
from loopless.bounds.iteration.one_iteration import whole_iteration
from loopless.bounds.iteration.outside import NO_READS, Reads
from loopless.bounds.looperman.nested import raised
from loopless.bounds.looperman.scopes import deciding
from loopless.bounds.model import Bounds, TermBound, by_types, kept, least, positive
from loopless.bounds.reads.moves import EntryFacts
from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.model import Check, Flowgraph, LoopInfo
from loopless.limits.bounds import LARGE_CONSTANT
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.terms.ranges import Range

NAME: Final = "induction"
"""What bounds are called that induction variables give."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What induction variables say of a loop: ``bounds`` on the iterations of one entry, and their ``exact`` number in
    runs that end and meet no undefined behaviour. ``completed``: their exact number in entries behind which the
    function goes on.

    ``any_entry``: bounds on those of any entry, over the function's inputs; ``total``: on all in a call. ``method``:
    what gave the exact number. ``visits``: how many iterations come to a block, at most.
    """

    bounds: Bounds = ()
    exact: t.Term | None = None
    any_entry: Bounds = ()
    total: Bounds = ()
    reads: Reads = NO_READS
    """Where there is no bound: what is read anew in each iteration and alone decides how long the loop runs."""
    method: str = NAME
    visits: Mapping[str, t.Term] = field(default_factory=dict)
    completed: t.Term | None = None
    endless: t.Condition = t.FALSE
    """Where entries surely do not come to an end by the loop's own conditions: ``exact`` and ``completed`` say nothing
    of these."""
    granted: tuple[str, ...] = ()
    """What is taken for granted of the calls of the function."""
    slacks: tuple[t.Term, ...] = ()
    """Terms over the values at the header that are at least 0 in every completed iteration: what may fall."""


def walked(graph: Flowgraph, calls: Transformers) -> tuple[Sequence[Returned], Meetings, SymbolIntervals] | None:
    """The returns of a function, for its callers; None where they are not known."""
    untold = any(block.end is not None and block.end.kind == "unsupported" for block in graph.blocks.values())
    if untold or graph.refused is not None:
        return None
    wanted = frozenset(graph.variables)
    live = live_at_entry(graph.blocks, frozenset(var for var in wanted if is_seen(graph, var)))
    effects: dict[str, LoopEffect] = {}
    for loop in sorted(graph.loops, key=lambda loop: -loop.depth):
        whole = whole_iteration(graph, loop, wanted, live, effects, beyond=Beyond(calls=calls))
        if isinstance(whole, LoopBodyFacts):
            effects[loop.header] = _effect(whole, counted(whole), live[loop.header])
    found = whole_iteration(graph, None, wanted, live, effects, beyond=Beyond(calls=calls))
    if isinstance(found, Refused):
        return None
    return found.returned, found.meetings, found.intervals


def _effect(whole: LoopBodyFacts, counts: Counted, live: frozenset[t.Var]) -> LoopEffect:
    """What a loop does to what is around it, where values of ``live`` variables are followed at its header."""
    number = counts.exact if counts.endless is t.FALSE else None
    tops = [bound.term for bound in counts.bounds if bound.when is t.TRUE]
    return whole.effect().counted(live, number, tops)


def induction_counts(
    graph: Flowgraph, given: Mapping[str, Counted] | None = None, calls: Transformers | None = None
) -> dict[str, Counted | Refused]:
    """By the names of the loops of a function, what induction variables say of them, beside what is ``given``.

    ``calls``: what the functions do that are called.
    """
    wanted = deciding(graph, _indices(graph))
    live, endings = live_at_entry(graph.blocks, frozenset()), Endings(graph)
    fixed = constants(graph, live[graph.entry])
    effects: dict[str, LoopEffect] = {}
    bounded: set[str] = set()
    wholes: dict[str, LoopBodyFacts | Refused] = {}
    found: dict[str, Counted | Refused] = {}
    for loop in sorted(graph.loops, key=lambda loop: -loop.depth):
        beyond = Beyond(endings.behind(loop), constants=fixed)
        whole = whole_iteration(graph, loop, wanted, live, effects, frozenset(bounded), beyond=beyond)
        wholes[loop.header] = whole
        if isinstance(whole, Refused):
            found[loop.name] = whole
            continue
        counts = counted(whole)
        if calls is not None and _is_open(counts):  # cheap first: what calls do is asked for where it may help
            beyond = replace(beyond, calls=calls)
            told = whole_iteration(graph, loop, wanted, live, effects, frozenset(bounded), beyond=beyond)
            if isinstance(told, LoopBodyFacts) and told.called and not _is_open(more := counted(told)):
                wholes[loop.header], whole, counts = told, told, more
        for slack in (0, 1) if all(by_types(bound.term) for bound in counts.bounds) else ():
            known = left_behind(whole, slack)
            if known is not None:
                holding, when = known
                there = replace(beyond, holding=holding)
                again = whole_iteration(graph, loop, wanted, live, effects, frozenset(bounded), beyond=there)
                counts = _where(when, counts, again)
                counts = _from_the_second(whole, counts, again) if slack == 0 else counts
        found[loop.name] = replace(counts, slacks=tuple(dict.fromkeys(Counts(whole).slacks())))
        effects[loop.header] = _effect(whole, counts, live[loop.header])
        if least(counts.bounds) is not None or loop.name in (given or {}):
            bounded.add(loop.header)
    for name, other in (given or {}).items():
        found[name] = _beside(found[name], other)
    if any(isinstance(counts, Counted) for counts in found.values()):
        wholes[""] = whole_iteration(graph, None, wanted, live, effects)
        _carry_outwards(graph, wholes, found)
        for loop in graph.loops:
            one = found[loop.name]
            if isinstance(one, Counted) and _is_open(one):
                found[loop.name] = replace(one, reads=_reads(graph, loop, wholes))
    granted = tuple(
        dict.fromkeys(g for whole in wholes.values() if isinstance(whole, LoopBodyFacts) for g in whole.granted)
    )
    return {n: replace(one, granted=granted) if isinstance(one, Counted) else one for n, one in found.items()}


def _is_open(counts: Counted) -> bool:
    """Whether no bound is known but the end of a type, and no exact number."""
    most = least(counts.bounds)
    return (most is None or by_types(most)) and (counts.exact is None or counts.endless is not t.FALSE)


def _where(when: t.Condition, known: Counted, again: LoopBodyFacts | Refused) -> Counted:
    """What is known, with the bounds that another look at the iteration gives where something holds at the entry."""
    if isinstance(again, Refused):
        return known
    more = [TermBound(bound.term, bound.when & when, NAME) for bound in counted(again).bounds]
    return replace(known, bounds=kept((*known.bounds, *(bound for bound in more if not by_types(bound.term)))))


def _from_the_second(whole: LoopBodyFacts, known: Counted, again: LoopBodyFacts | Refused) -> Counted:
    """What is known, with bounds that hold from the second iteration on, over the values that the first one leaves."""
    if isinstance(again, Refused) or least(known.bounds) is not None:
        return known
    bounds = list(known.bounds)
    for bound in counted(again).bounds:
        if bound.when is not t.TRUE or by_types(bound.term):
            continue
        try:
            there = t.substitute(bound.term, whole.after)
            most = raised(there, frozenset(whole.intervals.symbols), lambda part: _at_most(whole, part))
        except t.TermTooLarge:
            continue
        if most is not None:
            bounds.append(TermBound(positive(most) + 1, method=NAME))
    return replace(known, bounds=kept(bounds))


def _at_most(whole: LoopBodyFacts, part: t.Term) -> t.Term | None:
    """What a linear term never exceeds behind a completed iteration."""
    most = whole.facts.most_of(part, whole.intervals)
    return None if most is None or most >= LARGE_CONSTANT else t.const(most)


def _reads(graph: Flowgraph, loop: LoopInfo, wholes: Mapping[str, LoopBodyFacts | Refused]) -> Reads:
    """What is read anew in each iteration and alone decides how long a loop runs."""
    whole = wholes[loop.header]
    if isinstance(whole, Refused) or whole.game is None:
        return NO_READS
    return whole.game.reads(_context(graph, loop, whole.changed, wholes))


def _context(
    graph: Flowgraph, loop: LoopInfo, changed: frozenset[t.Var], wholes: Mapping[str, LoopBodyFacts | Refused]
) -> EntryFacts:
    """What is known wherever a loop is entered, by the code before it in each loop around it that leaves that alone."""
    by_header = {other.header: other for other in graph.loops}
    begun: dict[t.Var, int] = {}
    defined: dict[t.Var, t.Term] = {}
    holding: list[t.Condition] = []
    starting: list[t.Condition] = []
    header, set_before = loop.header, set[t.Var]()
    while header:
        around = wholes[by_header[header].parent or ""]
        point = around.entered.get(header) if isinstance(around, LoopBodyFacts) else None
        if isinstance(around, Refused) or point is None:
            break
        for var, value in point.values.items():
            if isinstance(value, t.Const) and var not in set_before:
                begun.setdefault(var, value.value)
        other = set_before | point.values.keys() | around.intervals.symbols
        about = [linear.le(most) for linear, most in point.facts.most.items()]
        about = [
            claim for claim in (*about, *map(t.not_zero, point.facts.unequal)) if claim.variables.isdisjoint(other)
        ]
        for var in sorted(point.values.keys() - set_before):
            value = point.values[var]
            if var in begun:
                continue
            if value.variables.isdisjoint(other if var in changed else other | changed):
                if var not in changed:
                    defined[var] = value
                    continue
                about.append(var.eq(value))
            about += _between(var, _ends(value, point.facts, around))
        holding += [claim for claim in about if claim.variables.isdisjoint(changed)]
        starting += [claim for claim in about if not claim.variables.isdisjoint(changed)]
        set_before |= around.changed | point.values.keys()
        header = by_header[header].parent or ""
    return EntryFacts(begun, defined, holding, starting)


def _ends(value: t.Term, facts: Facts, around: LoopBodyFacts) -> Range:
    """Between what a value lies on all ways that lead here."""
    some = ways((value,), facts, around.meetings, around.intervals)
    most = [way.facts.most_of(way.terms[0], around.intervals) for way in some]
    least = [way.facts.most_of(-way.terms[0], around.intervals) for way in some]
    highs, lows = [end for end in most if end is not None], [-end for end in least if end is not None]
    low = min(lows) if lows and len(lows) == len(some) else None
    return low, max(highs) if highs and len(highs) == len(some) else None


def _between(var: t.Var, ends: Range) -> list[t.Condition]:
    """That a variable lies between some ends, where its type does not say so."""
    (low, high), (least, most) = ends, (var.type.min, var.type.max)
    found = [var.ge(low)] if low is not None and (least is None or low > least) else []
    return [*found, *([var.le(high)] if high is not None and (most is None or high < most) else [])]


def _indices(graph: Flowgraph) -> frozenset[t.Var]:
    """The variables that checks say are inside of an array: what runs out of it ends a loop, too."""
    checks = (s for block in graph.blocks.values() for s in block.statements if isinstance(s, Check))
    return frozenset().union(*(check.condition.variables for check in checks if check.kind == "bounds"))


def _beside(own: Counted | Refused, other: Counted) -> Counted:
    """What is known by ``own``, and by ``other``, whose exact number is preferred."""
    if isinstance(own, Refused):
        return other
    both = kept((*other.bounds, *own.bounds))
    known = replace(own, bounds=both, any_entry=other.any_entry, total=other.total, visits=other.visits)
    if other.exact is None:
        return known
    return replace(known, exact=other.exact, method=other.method, completed=other.exact, endless=t.FALSE)


def _carry_outwards(
    graph: Flowgraph, wholes: Mapping[str, LoopBodyFacts | Refused], found: dict[str, Counted | Refused]
) -> None:
    """Add what bounds on one entry say of a call."""
    by_header = {loop.header: loop for loop in graph.loops}
    for loop in graph.loops:
        counts = found[loop.name]
        if isinstance(counts, Refused):
            continue
        each = total = None
        header: str | None = loop.header
        while header is not None:
            parent = by_header[header].parent or ""
            around = wholes[parent]
            if isinstance(around, Refused) or header not in around.entered:
                each = total = None
                break
            outer = found[by_header[parent].name] if parent else None
            visits = outer.visits.get(header) if isinstance(outer, Counted) else None
            entry = EntryOf(graph, around, around.entered[header], visits)
            if header == loop.header:
                each = total = entry.least_of(counts.bounds)
            total = None if total is None else entry.in_all(total)
            each = None if each is None else entry.at_most(each)
            if each is None:
                total = None
                break
            if not parent:
                break
            header = parent
        some: Bounds = () if each is None else (TermBound(each, method=NAME),)
        whole: Bounds = () if total is None else (TermBound(total, method=NAME),)
        some, whole = kept((*counts.any_entry, *some)), kept((*counts.total, *whole))
        found[loop.name] = replace(counts, any_entry=some, total=whole)


def counted(whole: LoopBodyFacts) -> Counted:
    """What is known of the iterations of one entry, over the values there."""
    if not whole.facts.possible:
        return Counted((TermBound(t.ZERO, method=NAME),), t.ZERO)
    all_counts = Counts(whole)
    counts = list(all_counts.all())
    bounds = kept(TermBound(count.term, count.when, NAME) for count in counts)
    if all(bound.when is not t.TRUE or by_types(bound.term) for bound in bounds):
        only = on_its_only_way(whole)
        more = () if only is None else Counts(only).all()
        bounds = kept((*bounds, *(TermBound(count.term, count.when, NAME) for count in more)))
        slower = (TermBound(term, when, NAME) for term, when in Slacks(whole, all_counts.slacks()).bounds())
        bounds = kept((*bounds, *slower))
    exact_ones = [count for count in counts if count.exact and count.when is t.TRUE]
    completed, round_a_modulus = _exact(whole, whole.exits, exact_ones), list[FactCount]()
    if completed is None:
        round_a_modulus = list(modular_counts(all_counts, counts))
        exact_ones += [count for count in round_a_modulus if count.when is t.TRUE]
        completed = _exact(whole, whole.exits, exact_ones)
    exact = _exact(whole, (*whole.exits, *whole.ended), exact_ones) if whole.ended else completed
    if completed is None:
        return _unless_endless(whole, (*counts, *round_a_modulus), Counted(bounds, completed=completed))
    # What checks leave of an exact count is no more than that: runs that fail them are undefined.
    if exact is not None:
        told = TermBound(exact, method=NAME)
        bounds = kept((told, *bounds)) if by_types(exact) else (told,)
    return Counted(bounds, exact, completed=completed)


def on_its_only_way(whole: LoopBodyFacts) -> LoopBodyFacts | None:
    """The iteration where all ways but one contradict what holds whenever it is completed; None where that is not so.

    As where the rest of a range is the last part: the iteration that takes it leaves the loop.
    """
    told = frozenset[t.Var]().union(*(linear.variables for linear in whole.facts.most)) & whole.meetings.keys()
    moving = [var for var, value in whole.after.items() if not value.variables.isdisjoint(told)]
    values = [whole.after[var] for var in moving]
    found = ways(values, whole.facts, whole.meetings, whole.intervals)
    if len(found) != 1 or list(found[0].terms) == values:
        return None
    return replace(whole, after={**whole.after, **dict(zip(moving, found[0].terms, strict=True))}, facts=found[0].facts)


def _unless_endless(whole: LoopBodyFacts, counts: Sequence[FactCount], known: Counted) -> Counted:
    """What is known, with the count of a fact that each way out contradicts, and that may hold for ever."""
    for count in counts:
        if count.never is not t.FALSE and whole.exits and all(count.fact.fails(facts, whole) for facts in whole.exits):
            exact = None if whole.ended else count.term
            return replace(known, exact=exact, completed=count.term, endless=count.never)
    return known


def _exact(whole: LoopBodyFacts, exits: Sequence[Facts], counts: Sequence[FactCount]) -> t.Term | None:
    """The least of the counts of facts, where each of these ways out contradicts one of them."""
    used: dict[FactCount, None] = {}
    for facts in exits:
        failing = next((count for count in counts if count.fact.fails(facts, whole)), None)
        if failing is None:
            return None
        used[failing] = None
    if not used:
        return None
    terms = list(dict.fromkeys(count.term for count in used))
    return terms[0] if len(terms) == 1 else t.minimum(*terms)

"""Nested loops, inside out: the summary of an inner loop is a step of the paths around it (LoopSCC, section 4.2).

A loop whose summary is not complete is looked at again under what is known where it is entered, such as that a counter
starts at 0, and under what of that stays true, such as that it is not negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, replace

from loopless import terms as t
from loopless.flowgraph.memory.statement_effects import changed_in, written_in
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.limits.summary import MAX_ALIASES
from loopless.paths import Exit, Inner, InnerStep, LoopPaths, NoPaths, loop_paths
from loopless.paths.context import entry_facts, entry_values
from loopless.paths.relevance import Writes
from loopless.portfolio import answered
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.summary.approximation.method import approximation
from loopless.summary.entry import Entry, EntrySummary
from loopless.summary.list_contents import with_node_contents
from loopless.summary.lists import goes_along
from loopless.summary.memory.telling import (
    WritingPaths,
    changes_memory,
    of_entry_elements,
    with_contents,
    writes_memory,
)
from loopless.summary.methods.entry_invariants import about, inductive_facts
from loopless.summary.methods.entry_values import METHOD as AT_ENTRY_VALUES
from loopless.summary.model import LoopSummary, Outcome, nodes_of
from loopless.summary.portfolio import ENTRY_METHODS, summarize
from loopless.summary.transitions.system import place_of


@dataclass(frozen=True, slots=True)
class _Question:
    """An inner loop, the variables whose values behind it matter, whether all its checks do, what it may assume, and
    whether what memory holds behind it is asked for.
    """

    header: str
    used: tuple[t.Var, ...]
    all_checks: bool
    given: t.Condition
    writes: bool = False


@dataclass(slots=True)
class KnownLoops:
    """What is known of the inner loops of one function: loops around the same one often ask the same."""

    paths: dict[_Question, LoopPaths | NoPaths] = field(default_factory=dict)
    outcomes: dict[_Question, Outcome] = field(default_factory=dict)

    def apart(self) -> KnownLoops:
        """A copy to work with under a budget, under which less may be found."""
        return KnownLoops(dict(self.paths), dict(self.outcomes))


def paths_of(
    graph: Flowgraph,
    loop: LoopInfo,
    interest: Iterable[t.Var] | None = None,
    *,
    all_checks: bool | None = None,
    given: t.Condition = t.TRUE,
    known: KnownLoops | None = None,
    approximate: bool = False,
) -> LoopPaths | NoPaths:
    """As :func:`loopless.paths.loop_paths`, with the loops inside summarized first.

    ``known``: what was found for other loops of ``graph``; what is found is put there. ``approximate``: loops inside
    that have no complete summary are passed by what approximations of them say; the paths are then not exact.
    """
    inside = known if known is not None else KnownLoops()

    def inner(within: LoopInfo, used: tuple[t.Var, ...], context: t.Condition, checks: bool) -> Inner | Refused:  # noqa: FBT001  passed on
        asked = _Question(within.header, used, checks, t.TRUE)
        outcome = _in_context(graph, within, asked, context, inside)
        told = isinstance(outcome, LoopSummary) and outcome.complete and not _reads_written(graph, loop, outcome)
        if approximate and not told:
            loose = paths_of(graph, within, used, all_checks=checks, known=inside, approximate=True)
            if isinstance(loose, LoopPaths):
                return _approximate_steps(loose, context, graph)
        return outcome if isinstance(outcome, Refused) else _steps(outcome, graph)

    return loop_paths(graph, loop, interest, inner, all_checks=all_checks, given=given)


def _reads_written(graph: Flowgraph, loop: LoopInfo, inner: LoopSummary) -> bool:
    """Whether the summary of an inner loop speaks of memory that the loop around it may write, or of a list, which that
    loop may choose or change.
    """
    reads = {part.array for node in nodes_of(inner) for part in t.walk_inside(node) if isinstance(part, t.Read)}
    arrays = {array for array in reads if not array.endswith(t.STREAM)}
    anywhere = written_in(graph, loop.blocks) is None
    written = changed_in(graph, loop.blocks).names(graph)
    return any(anywhere or array in written or t.in_list(array) is not None for array in arrays)


def writing_paths(
    graph: Flowgraph,
    loop: LoopInfo,
    *,
    interest: Iterable[t.Var] | None = None,
    given: t.Condition = t.TRUE,
    known: KnownLoops | None = None,
    writes: Writes = Writes.OBJECTS,
) -> LoopPaths | NoPaths:
    """As :func:`paths_of` with all checks; the paths tell what they write to memory."""
    inside = known if known is not None else KnownLoops()

    def inner(within: LoopInfo, used: tuple[t.Var, ...], context: t.Condition, checks: bool) -> Inner | Refused:  # noqa: FBT001  passed on
        asked = _Question(within.header, used, checks, t.TRUE, writes=writes_memory(graph, within))
        outcome = _in_context(graph, within, asked, context, inside)
        return outcome if isinstance(outcome, Refused) else _steps(outcome, graph)

    return loop_paths(graph, loop, interest, inner, all_checks=True, given=given, writes=writes)


def writing_ways(
    graph: Flowgraph,
    loop: LoopInfo,
    *,
    interest: Iterable[t.Var] | None = None,
    given: t.Condition = t.TRUE,
    known: KnownLoops | None = None,
) -> tuple[WritingPaths, ...]:
    """As :func:`writing_paths`, for each way in which pointers may point into one object or not, with the condition
    that says so; where paths cannot be built, nothing is told of the states under that condition.
    """
    wanted = None if interest is None else tuple(interest)
    waiting: list[t.Condition] = [t.TRUE]
    found: list[WritingPaths] = []
    while waiting:
        alike = waiting.pop()
        paths = writing_paths(graph, loop, interest=wanted, given=given & alike, known=known)
        if isinstance(paths, LoopPaths):
            found.append(WritingPaths(alike, paths))
        elif _is_new(paths.alike, alike):
            assert paths.alike is not None
            waiting += [alike & paths.alike, alike & ~paths.alike]
        else:
            found.append(WritingPaths(alike, paths))
    return tuple(found)


def _with_contents(
    graph: Flowgraph,
    paths: LoopPaths | NoPaths,
    outcome: Outcome,
    interest: Iterable[t.Var] | None,
    given: t.Condition,
    known: KnownLoops | None,
) -> tuple[LoopPaths | NoPaths, Outcome]:
    """The paths and the summary of a loop with what memory holds behind it, nodes of lists first."""
    if isinstance(paths, LoopPaths) and goes_along(paths):
        writing = writing_paths(graph, paths.loop, interest=interest, given=given, known=known, writes=Writes.NODES)
        found = with_node_contents(paths, outcome, writing)
        if found is not None:
            return found
    if not writes_memory(graph, paths.loop):
        return paths, outcome
    return with_contents(paths, outcome, writing_ways(graph, paths.loop, interest=interest, given=given, known=known))


def _is_new(asked: t.Condition | None, decided: t.Condition) -> bool:
    """Whether a condition on pointers is asked for that is not decided yet, and not too many are."""
    known = t.conjuncts(decided)
    return asked is not None and len(known) < MAX_ALIASES and asked not in known and ~asked not in known


def _in_context(graph: Flowgraph, loop: LoopInfo, asked: _Question, context: t.Condition, known: KnownLoops) -> Outcome:
    """The summary of an inner loop that is entered in states of ``context`` only, which is all that it need cover."""
    kept = inductive_facts(_inner_paths(graph, loop, asked, known), context)
    if kept is t.TRUE:
        return _outcome(graph, loop, asked, known)
    found = _outcome(graph, loop, replace(asked, given=kept), known)
    if isinstance(found, LoopSummary) and found.complete:
        return found
    return _outcome(graph, loop, asked, known) if isinstance(found, Refused) else found


def _inner_paths(graph: Flowgraph, loop: LoopInfo, asked: _Question, known: KnownLoops) -> LoopPaths | NoPaths:
    found = known.paths.get(asked)
    if found is None:
        found = paths_of(graph, loop, asked.used, all_checks=asked.all_checks, given=asked.given, known=known)
        known.paths[asked] = found
    return found


def _outcome(graph: Flowgraph, loop: LoopInfo, asked: _Question, known: KnownLoops) -> Outcome:
    found = known.outcomes.get(asked)
    if found is None:
        paths = _inner_paths(graph, loop, asked, known)
        found = summarize(paths)
        if asked.writes:
            _, found = _with_contents(graph, paths, found, asked.used, asked.given, known)
        known.outcomes[asked] = found
    return found


def summarized(
    graph: Flowgraph,
    paths: LoopPaths | NoPaths,
    interest: Iterable[t.Var] | None = None,
    *,
    given: t.Condition = t.TRUE,
    known: KnownLoops | None = None,
) -> tuple[LoopPaths | NoPaths, Outcome]:
    """The summary of a loop from its paths, which :func:`paths_of` gave for the rest; with what memory holds behind it,
    where no variables are named. Where it knows more of memory, it is about other paths, which are given, too.
    """
    outcome = summarize(paths)
    if interest is not None or not changes_memory(graph, paths.loop):
        return paths, outcome
    return _with_contents(graph, paths, outcome, None, given, known)


def with_memory(
    graph: Flowgraph,
    paths: LoopPaths,
    outcome: Outcome,
    interest: Iterable[t.Var] | None = None,
    known: KnownLoops | None = None,
) -> tuple[LoopPaths, Outcome]:
    """The paths and the summary of a loop, with what memory that it writes holds behind it, where no variables are
    named; and by what is known of that, where ``outcome``, which knows nothing of it, is not complete.
    """
    if interest is not None or not changes_memory(graph, paths.loop):
        return paths, outcome
    own, told = _with_contents(graph, paths, outcome, None, t.TRUE, known)
    found = own if isinstance(own, LoopPaths) else paths
    return from_entry(graph, found, told, interest, known, contents=True)


def from_entry(
    graph: Flowgraph,
    paths: LoopPaths,
    outcome: Outcome,
    interest: Iterable[t.Var] | None = None,
    known: KnownLoops | None = None,
    *,
    contents: bool = False,
) -> tuple[LoopPaths, Outcome]:
    """Where ``outcome``, the summary by ``paths``, is not complete: paths and a summary of the states in which the
    program enters the loop, if that is complete, or the only one. ``contents``: whether it is to tell what memory holds
    behind the loop, and may use that.
    """
    if isinstance(outcome, LoopSummary) and outcome.complete:
        return paths, outcome
    try:
        facts = t.conjunction(fact for fact in t.conjuncts(entry_facts(graph, paths.loop)) if _is_plain(fact))
    except t.TermTooLarge:
        return paths, outcome

    def narrowed(kept: t.Condition) -> tuple[LoopPaths | NoPaths, Outcome]:
        own = known.apart() if known is not None else None
        narrow = paths_of(graph, paths.loop, interest, given=kept, known=own)
        if contents:
            return summarized(graph, narrow, interest, given=kept, known=own)
        return narrow, summarize(narrow)

    found = _entered(paths, outcome, facts, narrowed)
    if found is None or not found.summary.complete:
        set_to = (var.eq(term) for var, term in entry_values(graph, paths.loop).items())
        every = t.conjunction((facts, *(fact for fact in set_to if _is_plain(fact))))
        better = _entered(paths, outcome, every, None) if every is not facts else None
        found = better or found
    if found is None or not (found.summary.complete or isinstance(outcome, Refused)):
        return paths, outcome
    return found.paths, of_entry_elements(found.summary)


def _entered(
    paths: LoopPaths,
    outcome: Outcome,
    facts: t.Condition,
    narrowed: Callable[[t.Condition], tuple[LoopPaths | NoPaths, Outcome]] | None,
) -> EntrySummary | None:
    """What is said of the states in which the loop is entered, where ``facts`` hold there; without ``narrowed``, by the
    summary alone.
    """
    entered = about(paths, facts)
    if entered is t.TRUE:
        return None
    tried = answered(
        ENTRY_METHODS if narrowed is not None else (AT_ENTRY_VALUES,),
        Entry(paths, outcome, facts, entered, narrowed or (lambda _: (paths, outcome))),
        place_of(paths),
        complete=lambda found: found.summary.complete,
    )
    found = tried.answer
    return found and replace(found, summary=replace(found.summary, method=found.summary.method or tried.method))


def _is_plain(fact: t.Condition) -> bool:
    """Whether a fact is about polynomials, so that every format has words for it."""
    return all(isinstance(node, t.Var | t.Const | t.Sum | t.Condition) for node in t.walk(fact))


def _approximate_steps(paths: LoopPaths, context: t.Condition, graph: Flowgraph) -> Inner:
    """What a loop that is entered where ``context`` holds may do, as steps of a path around it."""
    loop, found = paths.loop, approximation(paths, context)
    uncounted = frozenset(other.name for other in graph.loops if other.header in loop.blocks)
    steps = [
        InnerStep(
            case.when & case.facts,
            case.then,
            case.exit,
            {},
            uncounted,
            case.result,
            exact=False,
            free=case.free,
        )
        for case in found.cases
    ]
    exits = [(found.may_diverge, Exit("endless", loop.line, loop.header))]
    exits += [(u.when, Exit("undefined", u.line, loop.header, detail=u.kind)) for u in found.may_be_undefined]
    exits += [
        (lost.when, Exit("unknown", loop.line, loop.header, detail=lost.why.detail, refused=lost.why))
        for lost in found.may_be_lost
    ]
    steps += [InnerStep(when, {}, exit, {}, uncounted, exact=False) for when, exit in exits if when is not t.FALSE]
    return Inner(tuple(steps), frozenset(paths.shown), paths.assumptions)


def _steps(summary: LoopSummary, graph: Flowgraph) -> Inner:
    """What a loop does, as a step of a path around it."""
    loop = summary.loop
    names = {other.name for other in graph.loops if other.header in loop.blocks}
    steps: list[InnerStep] = []
    for case in summary.cases:
        counts = {loop.name: case.iterations, **case.totals}
        missing = frozenset(names - counts.keys())
        step = InnerStep(case.when, case.then, case.exit, counts, missing, case.result, case.exact)
        steps.append(replace(step, contents=case.contents))
    if summary.diverges is not t.FALSE:
        steps.append(InnerStep(summary.diverges, {}, Exit("endless", loop.line, loop.header), {}))
    for undefined in summary.undefined:
        exit = Exit("undefined", undefined.line, loop.header, detail=undefined.kind)
        steps.append(InnerStep(undefined.when, {}, exit, {}))
    for residual in summary.residual:
        exit = Exit("unknown", loop.line, loop.header, detail=residual.why.detail, refused=residual.why)
        steps.append(InnerStep(residual.when, {}, exit, {}))
    return Inner(tuple(steps), frozenset(summary.paths.shown), summary.assumptions)

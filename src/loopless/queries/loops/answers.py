"""How one loop is answered: by its paths, its type, and what methods find, as far as that goes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Final

from loopless import clock
from loopless import terms as t
from loopless.automaton import build_automaton, classify
from loopless.errors import UsageError
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.logic import budget, feasible
from loopless.paths import LoopPaths, NoPaths
from loopless.paths.build import changed_variables
from loopless.paths.coarse import coarse_paths
from loopless.paths.context import entry_facts, entry_values
from loopless.queries.assume.of_loop import assumption_of
from loopless.queries.call_values.layouts import layouts_in
from loopless.queries.jobs.overrun import Overrun, attempted
from loopless.queries.jobs.sandbox import note
from loopless.queries.loops.answer import LoopAnswer, Question
from loopless.queries.loops.name import LoopName
from loopless.queries.loops.unreported import occurring, pointers_shown, shown_at_exit, untold, used_variables
from loopless.queries.program import Function
from loopless.queries.returning import ends_in_calls
from loopless.queries.selection import variables_named
from loopless.refusals import Reason, Refused
from loopless.summary import (
    AtEntry,
    KnownLoops,
    Outcome,
    Residual,
    Summary,
    approximated,
    at_entry,
    from_entry,
    merged,
    paths_of,
    readable,
    readable_paths,
    relative,
    relative_paths,
    summarize,
)
from loopless.summary.rewrite.entry import narrowed, restricted

_NOTED_AFTER_S: Final = 0.1
"""What is found sooner is told once it is in the words that people read: the limit is seldom met then. A guess."""
_HURRIED: Final = 60_000
"""isl operations in a hurry for an approximation, and as many for putting a summary in words: some 0.1 s on the large
sets of real code, where those that are allowed otherwise take more than a second. A guess."""


def answer_loop(function: Function, name: LoopName, question: Question) -> LoopAnswer:
    """What ``question`` asks about one loop. Errors inside Loopless become refusals; raises ``UsageError`` only."""
    layouts = layouts_in(function)
    with t.as_declared(layouts):
        return _answer_loop(function, name, question, layouts)


def _answer_loop(function: Function, name: LoopName, question: Question, layouts: Mapping[str, t.Layout]) -> LoopAnswer:
    started = clock.now()
    begun = LoopAnswer(name, refused=_not_asked(name))
    found = begun if question.partly else attempted(lambda: _answer(function, name, question))
    if isinstance(found, Overrun):
        found = LoopAnswer(name, refused=found.refused(name.place), trouble=found.traceback)

    if question.summarize:
        found = _with_untold(found, function, question)

    def finished(answer: LoopAnswer) -> LoopAnswer:
        granted = (*answer.assumptions, *function.stubs)
        time_ms = 1000 * (clock.now() - started)
        pointers = pointers_shown(function.graph(), answer.shown)
        answer = replace(answer, pointers=pointers, layouts=layouts)
        return replace(answer, assumptions=granted, loop=replace(name, info=None), time_ms=time_ms)

    if question.entered and not question.partly:
        note(finished(found))  # what is found is told, whatever becomes of the rest
        found = found if found.at_entry is not None else _at_entry(found, function, question)
    if question.partly or (question.entered and question.exactly):
        if not question.partly:
            note(finished(found))
        found = _partly(found, function, question, lambda answer: note(finished(answer)))
    return finished(found)


def _answer(function: Function, name: LoopName, question: Question) -> LoopAnswer:
    started = clock.now()
    graph = function.over_streams if question.streams else function.graph()
    if name.refused is not None or name.info is None or isinstance(graph, Refused):
        refused = graph if isinstance(graph, Refused) else name.refused
        return LoopAnswer(name, refused=refused, trouble=function.trouble)
    if question.coarsely:
        return _coarsely(LoopAnswer(name, refused=_not_asked(name)), graph, question, function)
    found = paths_of(graph, name.info, _interest(graph, name.info, question), known=_known(function, question))
    if isinstance(found, NoPaths):
        return _without_paths(LoopAnswer(name, refused=found.refused), graph, question, function)
    shown_paths = found.uncounted()
    shown = {var: info.shown for var, info in graph.variables.items() if info.is_source}
    answer = LoopAnswer(name, shown_paths, shown={v: shown[v] for v in occurring(shown_paths) if v in shown})
    assumed = assumption_of(function, graph, name.info, question.assume)
    if assumed is not None and question.assume is not None:
        found = _under(found, assumed, name, question.assume)
        shown_paths = found.uncounted()
        answer = replace(answer, assumptions=(f"on entry: {question.assume.strip()}",))
    outcome: Outcome | None = None
    paths = found
    ends = None if question.past_calls else ends_in_calls(graph, name)
    if question.summarize and (ends is None or question.approximate):
        without = ends or (None if question.exactly else _not_asked(name))
        paths, outcome = _outcome(found, without, assumed, function, question)
        outcome = outcome if not question.approximate else _with_lost(outcome, ends)

    def tell(answer: LoopAnswer) -> None:
        """What people read is made of the outcome yet, which may take longer than to find it."""
        if isinstance(outcome, Summary) and clock.now() > started + _NOTED_AFTER_S:
            there = replace(answer, paths=relative_paths(paths.uncounted()))
            plain = _summarized(there, outcome, shown, replace(question, merge=False))
            plain = replace(_with_untold(plain, function, question), loop=replace(name, info=None))
            note(replace(plain, assumptions=(*plain.assumptions, *function.stubs)))

    tell(answer)
    if question.classify:
        with _granted(question):
            answer = _classified(answer, shown_paths)
        answer = _typed_all_the_same(answer, _around(graph, name.info, question, function))
        tell(answer)
    with _granted(question):
        shown_paths = readable_paths(shown_paths)
    answer = replace(answer, paths=relative_paths(shown_paths))
    if question.draw:
        answer = _drawn(answer, shown_paths, assumed)
    if outcome is None:
        return replace(answer, refused=ends if question.summarize else answer.untyped)
    if paths is not found:
        with _granted(question):
            answer = replace(answer, paths=relative_paths(readable_paths(paths.uncounted())))
    if isinstance(outcome, Refused):
        return replace(answer, refused=outcome)
    with _granted(question):
        answer = _first_at_entry(answer, outcome, function, question, tell)
    tell(answer)
    with _granted(question):
        absolute = readable(outcome, assumed if assumed is not None else t.TRUE)
    return _summarized(answer, absolute, shown, question)


def _under(paths: LoopPaths, assumed: t.Condition, name: LoopName, said: str) -> LoopPaths:
    """The paths from entry states that satisfy the assumption. Raises ``UsageError`` where there is no such state."""
    found = narrowed(paths, assumed)
    if not feasible(assumed) or (paths.all and not found.all):
        raise UsageError(f"no entry state of the loop {name.place} satisfies the assumption {said!r}")
    return found


def _outcome(
    found: LoopPaths, refused: Refused | None, assumed: t.Condition | None, function: Function, question: Question
) -> tuple[LoopPaths, Outcome]:
    """The summary of a loop, and the paths that it speaks of: those from where the program enters it, perhaps.

    ``refused``: why no exact method is asked.
    """
    graph = function.over_streams if question.streams else function.graph()
    assert not isinstance(graph, Refused)
    paths, outcome = found, summarize(found) if refused is None else refused
    if assumed is None and refused is None:
        known = _known(function, question)
        paths, outcome = from_entry(graph, found, outcome, _interest(graph, found.loop, question), known)
    if assumed is not None and isinstance(outcome, Summary):
        outcome = restricted(outcome, assumed)
    if question.approximate:
        told = frozenset(var for var, info in graph.variables.items() if info.is_source)
        with _granted(question):
            outcome = approximated(paths, outcome, assumed if assumed is not None else t.TRUE, told)
    return paths, outcome


def _summarized(answer: LoopAnswer, absolute: Summary, shown: Mapping[t.Var, str], question: Question) -> LoopAnswer:
    """The answer with a summary, in which streams are counted from the loop's entry."""
    summary = relative(absolute)
    answer = replace(answer, shown={**answer.shown, **shown_at_exit(summary, shown)})
    answer = replace(answer, summary=summary, merged=merged(summary) if question.merge else ())
    return answer if summary is absolute else replace(answer, absolute=absolute)


def _partly(
    answer: LoopAnswer, function: Function, question: Question, tell: Callable[[LoopAnswer], None]
) -> LoopAnswer:
    """The answer; where it is not complete, one without the variables that are in the way, if there is a complete one:
    how often the loop runs, and what all the other variables become. ``tell`` is given what is found on the way.
    """
    graph, info = function.over_streams if question.streams else function.graph(), answer.loop.info
    if answer.answered and answer.status == "exact":
        return answer
    if info is None or isinstance(graph, Refused) or question.variables is not None or question.assume is not None:
        return answer
    if not (question.approximate and question.summarize) or ends_in_calls(graph, answer.loop) is not None:
        return answer
    before = frozenset(answer.paths.state) if answer.paths is not None else None
    better = [answer]

    def search() -> None:
        for paths, absolute in _without_some(graph, info, function, question, before):
            better.append(_at_entry(_with_others(answer, graph, paths, absolute), function, question))
            tell(better[-1])

    attempted(search)
    return better[-1]


def _with_others(answer: LoopAnswer, graph: Flowgraph, paths: LoopPaths, absolute: Summary) -> LoopAnswer:
    """The answer with a summary that leaves some variables out."""
    assert answer.loop.info is not None
    summary, own = relative(absolute), relative_paths(readable_paths(paths.uncounted()))
    shown = {var: variable.shown for var, variable in graph.variables.items() if variable.is_source}
    body = answer.body or answer.paths
    spoken = (*occurring(paths), *occurring(own), *(occurring(body) if body is not None else ()))
    names = {var: shown[var] for var in spoken if var in shown}
    reasons = [part.why for part in answer.summary.residual] if answer.summary is not None else []
    why = answer.refused or next(iter(reasons), None) or _not_asked(answer.loop)
    return replace(
        answer,
        paths=own,
        summary=summary,
        absolute=None if summary is absolute else absolute,
        merged=merged(summary),
        at_entry=None,
        refused=None,
        partly=why,
        body=body,
        untyped=None if answer.type is not None else answer.untyped or why,
        untold=untold(graph, answer.loop.info, summary, None),
        shown=names,
    )


def _without_some(
    graph: Flowgraph, info: LoopInfo, function: Function, question: Question, before: frozenset[t.Var] | None
) -> Iterator[tuple[LoopPaths, Summary]]:
    """The paths and the summary, where it is complete, of those variables alone that decide how the loop goes on, then
    with more of those that are used behind it, as long as it is complete with them. Nothing where those that decide are
    all those ``before``, for which it is not.
    """

    def found(interest: tuple[t.Var, ...], *, all_checks: bool) -> tuple[LoopPaths, Summary] | None:
        known = _known(function, question)
        paths = paths_of(graph, info, interest, all_checks=all_checks, known=known)
        if isinstance(paths, NoPaths) or (all_checks and before is not None and before <= frozenset(paths.state)):
            return None
        own, outcome = from_entry(graph, paths, summarize(paths), interest, known)
        return (own, readable(outcome)) if isinstance(outcome, Summary) and outcome.complete and outcome.exact else None

    for all_checks in (True, False):
        best = found((), all_checks=all_checks)
        if best is not None:
            break
    else:
        return
    yield best
    kept: tuple[t.Var, ...] = ()
    for var in used_variables(graph, info):
        if var not in best[0].state and graph.variables[var].is_source:
            more = found((*kept, var), all_checks=all_checks)
            if more is not None:
                kept, best = (*kept, var), more
                yield best


def _with_untold(answer: LoopAnswer, function: Function, question: Question) -> LoopAnswer:
    """The answer with the names of what it does not tell."""
    graph, info = function.over_streams if question.streams else function.graph(), answer.loop.info
    if info is None or isinstance(graph, Refused) or answer.summary is None:
        return answer
    return replace(answer, untold=untold(graph, info, answer.summary, _interest(graph, info, question)))


def _at_entry(
    answer: LoopAnswer, function: Function, question: Question, tell: Callable[[LoopAnswer], None] = lambda _: None
) -> LoopAnswer:
    """The answer with what its summary says of the states in which the program enters the loop; ``tell`` is given the
    same in more words first.
    """
    graph = function.over_streams if question.streams else function.graph()
    info, summary = answer.loop.info, answer.summary
    if summary is None or info is None or isinstance(graph, Refused) or question.assume:
        return answer
    known = {var for var, variable in graph.variables.items() if variable.is_source}
    values = {v: term for v, term in entry_values(graph, info).items() if v in known and term.variables <= known}
    facts = t.conjunction(fact for fact in t.conjuncts(entry_facts(graph, info)) if fact.variables <= known)
    parts = frozenset(var for var in known if graph.variables[var].pointer_part)

    def with_it(found: AtEntry) -> LoopAnswer:
        names = {v: graph.variables[v].shown for v in (*found.fixed, *found.summary.entered.variables) if v in known}
        return replace(answer, at_entry=found, shown={**names, **answer.shown})

    found = attempted(lambda: at_entry(summary, facts, values, parts, lambda found: tell(with_it(found))))
    return answer if found is None or isinstance(found, Overrun) else with_it(found)


def _first_at_entry(
    answer: LoopAnswer, outcome: Summary, function: Function, question: Question, tell: Callable[[LoopAnswer], None]
) -> LoopAnswer:
    """The answer with what most people read: to tell it of all states of the header may take long."""
    if not question.entered:
        return answer
    there = _at_entry(replace(answer, summary=relative(outcome)), function, question, tell)
    return replace(answer, at_entry=there.at_entry, shown=there.shown)


def _known(function: Function, question: Question) -> KnownLoops:
    """What was found out about loops inside others."""
    return function.inner if question.streams else function.inner_without_streams


def _granted(question: Question) -> AbstractContextManager[object]:
    """What the logic may do for a step that tells less where it meets a limit."""
    return budget(_HURRIED) if question.hurried else nullcontext()


def _not_asked(name: LoopName) -> Refused:
    return Refused(Reason.BUDGET, name.place, "no exact method was asked")


def _with_lost(outcome: Outcome, ends: Refused | None) -> Outcome:
    """What is said of a loop, which knows nothing of runs that end in its calls."""
    if ends is None or isinstance(outcome, Refused) or outcome.approximation is None:
        return outcome
    found = outcome.approximation
    found = replace(found, may_be_lost=(*found.may_be_lost, Residual(t.TRUE, ends)))
    return replace(outcome, approximation=found)


def _around(
    graph: Flowgraph, info: LoopInfo, question: Question, function: Function
) -> Callable[[], LoopPaths | NoPaths]:
    """The paths by approximations of the loops inside, worked out when first asked for."""
    interest, known = _interest(graph, info, question), _known(function, question)
    return functools.cache(lambda: paths_of(graph, info, interest, known=known, approximate=True))


def _around_inner(
    answer: LoopAnswer, graph: Flowgraph, question: Question, around: Callable[[], LoopPaths | NoPaths]
) -> LoopAnswer:
    """The refusal of a loop without paths, or what follows from approximations of the loops inside."""
    why = answer.refused
    if why is None or why.reason is not Reason.NESTED or question.assume is not None:
        return answer
    paths = around()
    if isinstance(paths, NoPaths):
        return answer
    with _granted(question):
        own = readable_paths(paths.uncounted())
    return _over_approximated(answer, graph, question, paths, own)


def _typed_all_the_same(answer: LoopAnswer, around: Callable[[], LoopPaths | NoPaths]) -> LoopAnswer:
    """The answer with a type by what approximations of the loops inside say, where these have no exact summary."""
    why = answer.untyped or answer.refused
    if answer.type is not None or why is None or why.reason is not Reason.NESTED:
        return answer
    paths = around()
    found = classify(paths if isinstance(paths, NoPaths) else paths.uncounted())
    if found.type is None:
        return answer
    reasons = (*found.reasons, "of a loop inside only an over-approximation is known")
    return replace(answer, classification=replace(found, reasons=reasons), untyped=None)


def _without_paths(answer: LoopAnswer, graph: Flowgraph, question: Question, function: Function) -> LoopAnswer:
    """The refusal of a loop without paths, or what can be said all the same."""
    assert answer.loop.info is not None
    around = _around(graph, answer.loop.info, question, function)
    if question.classify:
        answer = _typed_all_the_same(answer, around)
    if not question.summarize:
        return answer if answer.type is None else replace(answer, refused=None)
    if not question.approximate:
        return answer
    found = _around_inner(answer, graph, question, around)
    return found if found.refused is None else _coarsely(answer, graph, question, function)


def _coarsely(answer: LoopAnswer, graph: Flowgraph, question: Question, function: Function) -> LoopAnswer:
    """What holds of a loop that is refused, whatever its paths are."""
    info = answer.loop.info
    assert info is not None
    paths = coarse_paths(graph, info)
    assumed = assumption_of(function, graph, info, question.assume)
    found = _over_approximated(answer, graph, question, paths, paths, assumed if assumed is not None else t.TRUE)
    if found is answer or assumed is None or question.assume is None:
        return found
    return replace(found, assumptions=(f"on entry: {question.assume.strip()}",))


def _over_approximated(
    answer: LoopAnswer,
    graph: Flowgraph,
    question: Question,
    paths: LoopPaths,
    own: LoopPaths,
    within: t.Condition = t.TRUE,
) -> LoopAnswer:
    """The answer with what runs by ``paths`` may do, in place of a refusal; ``own``: the paths in few words."""
    why = answer.refused
    assert why is not None
    sources = {var: variable.shown for var, variable in graph.variables.items() if variable.is_source}
    with _granted(question):
        outcome = approximated(paths, why, within, frozenset(sources))
    summary = _with_lost(outcome, ends_in_calls(graph, answer.loop))
    if isinstance(summary, Refused):
        return answer
    occurs = occurring(paths.uncounted())
    names = {var: sources[var] for var in occurs if var in sources} | shown_at_exit(summary, sources)
    with _granted(question):
        summary = readable(relative(summary))
    untyped = why if answer.type is None else None
    own = relative_paths(own)
    return replace(answer, paths=own, summary=summary, refused=None, untyped=untyped, shown=names)


def _classified(answer: LoopAnswer, paths: LoopPaths) -> LoopAnswer:
    found = classify(paths)
    return replace(answer, classification=found, untyped=found.refused)


def _drawn(answer: LoopAnswer, paths: LoopPaths, assumed: t.Condition | None) -> LoopAnswer:
    """The answer with the automaton; without it the loop is refused only where nothing else was asked."""
    automaton = build_automaton(paths, assumed if assumed is not None else t.TRUE)
    if isinstance(automaton, Refused):
        return replace(answer, untyped=answer.untyped or automaton)
    return replace(answer, automaton=automaton)


def _interest(graph: Flowgraph, loop: LoopInfo, question: Question) -> tuple[t.Var, ...] | None:
    if question.variables is None:
        return None
    inside = changed_variables(graph, loop)
    return tuple(dict.fromkeys(v for name in question.variables for v in variables_named(graph, name, inside)))

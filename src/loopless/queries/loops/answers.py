"""How one loop is answered: by its paths, its type, and what methods find, as far as that goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopless import clock
from loopless import terms as t
from loopless.automaton import build_automaton, classify
from loopless.errors import UsageError
from loopless.flowgraph.model import Flowgraph, LoopInfo, MemoryObject
from loopless.limits.queries import LOOP_NOTED_AFTER_S
from loopless.logic import feasible
from loopless.paths import LoopPaths, NoPaths
from loopless.queries.assume.of_loop import assumption_of
from loopless.queries.call_values.layouts import layouts_in
from loopless.queries.jobs.overrun import Overrun, attempted
from loopless.queries.jobs.sandbox import note
from loopless.queries.loops.answer import LoopAnswer, Question
from loopless.queries.loops.approximating import (
    around_inner_loops,
    typed_by_approximations,
    whatever_the_paths,
    with_lost,
    without_paths,
)
from loopless.queries.loops.ending import ending_by_bounds, with_bounds
from loopless.queries.loops.entered_states import entry_first, with_entry
from loopless.queries.loops.fewer_variables import with_fewer_variables
from loopless.queries.loops.name import LoopName
from loopless.queries.loops.scope import allowance, graph_for, known_loops, not_asked, variables_asked
from loopless.queries.loops.unreported import occurring, pointers_shown, shown_at_exit, untold
from loopless.queries.program import AnalyzedFunction
from loopless.queries.returning import ends_in_calls
from loopless.refusals import Refused
from loopless.summary import (
    KnownLoops,
    LoopSummary,
    Outcome,
    approximated,
    from_entry,
    merged,
    paths_of,
    readable,
    readable_paths,
    relative,
    relative_paths,
    summarize,
    summarized,
    with_memory,
)
from loopless.summary.memory.telling import changes_memory, of_entry_elements
from loopless.summary.rewrite.entry import narrowed, restricted


def answer_loop(function: AnalyzedFunction, name: LoopName, question: Question) -> LoopAnswer:
    """What ``question`` asks about one loop. Errors inside Loopless become refusals; raises ``UsageError`` only."""
    with t.as_declared(layouts_in(function)):
        return _answer_loop(function, name, question)


def _answer_loop(function: AnalyzedFunction, name: LoopName, question: Question) -> LoopAnswer:
    started = clock.now()
    begun = LoopAnswer(name, refused=not_asked(name))
    found = begun if question.partly else attempted(_answer, function, name, question)
    if isinstance(found, Overrun):
        found = LoopAnswer(name, refused=found.refused(name.place), trouble=found.traceback)

    if question.summarize:
        found = with_bounds(_with_untold(found, function, question), function, question)

    def finished(answer: LoopAnswer) -> LoopAnswer:
        return replace(_in_words(answer, function), time_ms=1000 * (clock.now() - started))

    if question.entered and not question.partly:
        note(finished(found))  # what is found is told, whatever becomes of the rest
        found = found if found.at_entry is not None else with_entry(found, function, question)
    if question.partly or (question.entered and question.exactly):
        if not question.partly:
            note(finished(found))
        found = with_fewer_variables(found, function, question, lambda answer: note(finished(answer)))
    return finished(found)


def _in_words(answer: LoopAnswer, function: AnalyzedFunction) -> LoopAnswer:
    """The answer with what its texts are made of: how memory is declared, what pointers and objects are called."""
    graph = function.graph()
    objects = {} if isinstance(graph, Refused) else _objects_in(answer, graph)
    pointers = pointers_shown(graph, answer.shown)
    granted = (*answer.granted, *function.stubs)
    answer = replace(answer, pointers=pointers, layouts=t.declared(), objects=objects)
    return replace(answer, granted=granted, loop=replace(answer.loop, info=None))


def _objects_in(answer: LoopAnswer, graph: Flowgraph) -> dict[int, MemoryObject]:
    """The objects whose numbers the values of pointers may be that the answer tells."""
    if answer.summary is None or not answer.summary.lists:
        return {}
    return {number: held for number, held in graph.objects.items() if held.kind in ("parameter", "global", "local")}


def _answer(function: AnalyzedFunction, name: LoopName, question: Question) -> LoopAnswer:
    graph = graph_for(function, question)
    if name.refused is not None or name.info is None or isinstance(graph, Refused):
        refused = graph if isinstance(graph, Refused) else name.refused
        return LoopAnswer(name, refused=refused, trouble=function.trouble)
    if question.coarsely:
        return whatever_the_paths(LoopAnswer(name, refused=not_asked(name)), graph, question, function)
    return _answer_from(function, graph, name, name.info, question)


def _answer_from(
    function: AnalyzedFunction, graph: Flowgraph, name: LoopName, loop: LoopInfo, question: Question
) -> LoopAnswer:
    """The answer about ``loop`` in the function as ``graph`` has it, by its paths."""
    started = clock.now()
    variables, known = variables_asked(graph, loop, question), known_loops(function, question)
    found, begun = _paths(graph, loop, variables, known)
    if isinstance(found, NoPaths):
        return without_paths(LoopAnswer(name, refused=found.refused), graph, question, function)
    shown_paths = found.uncounted()
    shown = {var: info.shown for var, info in graph.variables.items() if info.is_source}
    answer = LoopAnswer(name, shown_paths, shown={v: shown[v] for v in occurring(shown_paths) if v in shown})
    ends = None if question.past_calls or not question.summarize else ends_in_calls(graph, name)
    answer = replace(answer, past_calls=ends)
    assumed = assumption_of(function, graph, loop, question.assume)
    if assumed is not None and question.assume is not None:
        found = _under(found, assumed, name, question.assume)
        shown_paths = found.uncounted()
        answer = replace(answer, granted=(f"on entry: {question.assume.strip()}",))
    paths, outcome = found, None
    if question.summarize and (ends is None or question.approximate):
        paths, outcome = _outcome(found, begun if question.exactly else not_asked(name), assumed, function, question)

    def tell(answer: LoopAnswer, *, at_once: bool = False) -> None:
        """What people read is made of the outcome yet, which may take longer than to find it."""
        if isinstance(outcome, LoopSummary) and (at_once or clock.now() > started + LOOP_NOTED_AFTER_S):
            there = replace(answer, paths=relative_paths(paths.uncounted()))
            plain = _summarized(there, outcome, shown, replace(question, merge=False))
            note(_in_words(_with_untold(plain, function, question), function))

    def approximating(outcome: Outcome) -> Outcome:
        return with_lost(_approximated(outcome, paths, graph, assumed, question), ends)

    if outcome is not None:
        plain, outcome = outcome, approximating(outcome)
        if question.exactly and assumed is None and changes_memory(graph, loop):
            tell(answer, at_once=True)
            paths, told = with_memory(graph, paths, plain, variables, known)
            outcome = outcome if told is plain else approximating(told)
    tell(answer)
    outcome = ending_by_bounds(outcome, graph, loop, function, question)
    if question.classify:
        with allowance(question):
            answer = _classified(answer, shown_paths)
        answer = typed_by_approximations(answer, around_inner_loops(graph, loop, question, function))
        tell(answer)
    shown_paths, answer = _with_paths(answer, shown_paths, question)
    answer = _drawn(answer, shown_paths, assumed) if question.draw else answer
    if outcome is None:
        return replace(answer, refused=ends if question.summarize else answer.untyped)
    if paths is not found:
        _, answer = _with_paths(answer, paths.uncounted(), question)
    if isinstance(outcome, Refused):
        return replace(answer, refused=outcome)
    with allowance(question):
        answer = entry_first(answer, outcome, function, question, tell)
    tell(answer)
    with allowance(question):
        return _summarized(answer, readable(outcome, assumed or t.TRUE), shown, question)


def _with_paths(answer: LoopAnswer, paths: LoopPaths, question: Question) -> tuple[LoopPaths, LoopAnswer]:
    """The paths in few words, and the answer with them."""
    with allowance(question):
        shown = readable_paths(paths)
    return shown, replace(answer, paths=relative_paths(shown))


def _under(paths: LoopPaths, assumed: t.Condition, name: LoopName, said: str) -> LoopPaths:
    """The paths from entry states that satisfy the assumption. Raises ``UsageError`` where there is no such state."""
    found = narrowed(paths, assumed)
    if not feasible(assumed) or (paths.all and not found.all):
        raise UsageError(f"no entry state of the loop {name.place} satisfies the assumption {said!r}")
    return found


def _outcome(
    found: LoopPaths,
    begun: Outcome | None,
    assumed: t.Condition | None,
    function: AnalyzedFunction,
    question: Question,
) -> tuple[LoopPaths, Outcome]:
    """The summary of a loop, and the paths that it speaks of: those from where the program enters it, perhaps.

    ``begun``: the summary, where it is known, or why no exact method is asked.
    """
    graph = graph_for(function, question)
    assert not isinstance(graph, Refused)
    paths, outcome = found, begun or summarize(found)
    if assumed is None and not isinstance(begun, Refused):
        interest = variables_asked(graph, found.loop, question)
        paths, outcome = from_entry(graph, found, outcome, interest, known_loops(function, question))
    if assumed is not None and isinstance(outcome, LoopSummary):
        outcome = restricted(outcome, assumed)
    return paths, outcome


def _paths(
    graph: Flowgraph, loop: LoopInfo, variables: tuple[t.Var, ...] | None, known: KnownLoops
) -> tuple[LoopPaths | NoPaths, Outcome | None]:
    """The paths of a loop, and its summary where only what is known of memory lets there be paths."""
    found = paths_of(graph, loop, variables, known=known)
    if isinstance(found, LoopPaths):
        return found, None
    own, begun = summarized(graph, found, variables, known=known)
    return (own, begun) if isinstance(own, LoopPaths) else (found, None)


def _approximated(
    outcome: Outcome, paths: LoopPaths, graph: Flowgraph, assumed: t.Condition | None, question: Question
) -> Outcome:
    """The outcome, with an approximation of what it leaves open where that is asked for."""
    if not question.approximate:
        return outcome
    told = frozenset(var for var, info in graph.variables.items() if info.is_source)
    with allowance(question):
        found = approximated(paths, outcome, assumed if assumed is not None else t.TRUE, told)
    return of_entry_elements(found) if isinstance(found, LoopSummary) else found


def _summarized(
    answer: LoopAnswer, absolute: LoopSummary, shown: Mapping[t.Var, str], question: Question
) -> LoopAnswer:
    """The answer with a summary, in which streams are counted from the loop's entry."""
    summary = relative(absolute)
    answer = replace(answer, shown={**answer.shown, **shown_at_exit(summary, shown)})
    answer = replace(answer, summary=summary, merged=merged(summary) if question.merge else ())
    return answer if summary is absolute else replace(answer, absolute=absolute)


def _with_untold(answer: LoopAnswer, function: AnalyzedFunction, question: Question) -> LoopAnswer:
    """The answer with the names of what it does not tell."""
    graph, info = graph_for(function, question), answer.loop.info
    if info is None or isinstance(graph, Refused) or answer.summary is None:
        return answer
    return replace(answer, untold=untold(graph, info, answer.summary, variables_asked(graph, info, question)))


def _classified(answer: LoopAnswer, paths: LoopPaths) -> LoopAnswer:
    found = classify(paths)
    return replace(answer, classification=found, untyped=found.refused)


def _drawn(answer: LoopAnswer, paths: LoopPaths, assumed: t.Condition | None) -> LoopAnswer:
    """The answer with the automaton; without it the loop is refused only where nothing else was asked."""
    automaton = build_automaton(paths, assumed if assumed is not None else t.TRUE)
    if isinstance(automaton, Refused):
        return replace(answer, untyped=answer.untyped or automaton)
    return replace(answer, automaton=automaton)

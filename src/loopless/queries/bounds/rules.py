"""A coding rule: every loop has a bound (NASA/JPL's rule 2 of ten; what users of bounded model checkers ask for).

A loop breaks the rule where a run enters it and never leaves it: a run from ``main``, or in a program without one any
call of the function. States at its header in which no run enters it are none of its entries.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from loopless import clock
from loopless import terms as t
from loopless.bounds.model import by_types
from loopless.bounds.reads.without_data import simplest
from loopless.limits.queries import DEFAULT_VERIFICATION_S
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.bounds.answers import LoopBound
from loopless.queries.bounds.runs import RunBound
from loopless.queries.bounds.whole_program import ProgramBounds, answer_run
from loopless.queries.program import AnalyzedFunction, AnalyzedLoop, AnalyzedProgram
from loopless.queries.selection import select_loops
from loopless.queries.settings import Settings
from loopless.queries.verification.endless_runs import EndlessRun, of_function, of_program
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class RuledLoop:
    """A loop under the rule. ``bound``: the most iterations of one entry, over the variables of ``told_by``; ``never``:
    with these inputs of the function of ``told_by``, which is ``main`` where there is one, it surely never ends;
    ``run``: such a run; ``perhaps``: with these states at its header it would never end, and whether it is entered so
    is not known; ``by_overflow``: only a signed overflow bounds it, or ends it with these inputs; ``meant``: it is on
    the list of those that are to run for ever; ``reached``: a run from ``main`` may come to it.
    """

    found: LoopBound
    bound: t.Term | None
    never: t.Condition
    meant: bool
    perhaps: t.Condition = t.FALSE
    told_by: LoopBound | None = None
    run: EndlessRun | None = None
    reached: bool = True
    by_overflow: bool = False

    @property
    def kept(self) -> bool:
        """Whether the loop keeps the rule, as far as is known."""
        return self.bound is not None or self.meant or not self.reached

    @property
    def broken(self) -> bool:
        """Whether a run enters the loop and never leaves it."""
        return not self.kept and (self.never is not t.FALSE or self.run is not None)


def verdict_of(loops: Sequence[RuledLoop]) -> str:
    """``true`` where all loops keep the rule, ``false(bounded-loops)`` where one never ends, else ``unknown``."""
    if all(loop.kept for loop in loops):
        return "true"
    return "false(bounded-loops)" if any(loop.broken for loop in loops) else "unknown"


def bounded_loops(
    program: AnalyzedProgram, meant: Sequence[str], settings: Settings, until: float | None = None
) -> list[RuledLoop]:
    """The loops of a program under the rule; ``meant``: places of those that are to run for ever.

    Raises:
        UsageError: there is no loop at a place of ``meant``.
    """
    forever: Collection[AnalyzedLoop] = select_loops(program, (), tuple(meant)) if meant else ()
    names = {loop.name for loop in forever}
    functions = [function for function in program.functions if function.is_listed and function.loops]
    loops = [
        _ruled(found, meant=found.name in names)
        for answer in answer_bounds(functions, "all", settings, until)
        for found in answer.own
    ]
    if all(loop.kept for loop in loops):
        return loops
    main = next((function for function in program.functions if function.code.name == "main"), None)
    if main is None:
        return _with_calls(loops, functions)
    run = answer_run(program, main, "all", settings, until)
    known = {bound.loop.name: bound for bound in run.loops}
    loops = [loop if loop.kept else _in_run(loop, known.get(loop.found.name), run) for loop in loops]
    if all(loop.kept or loop.broken for loop in loops):
        return loops
    deadline = clock.counted() + (DEFAULT_VERIFICATION_S if settings.timeout_s is None else settings.timeout_s)
    endless = of_program(program, settings, deadline)
    loops = [_with_run(loop, endless) for loop in loops]
    if not any(loop.by_overflow and not loop.kept and not loop.broken for loop in loops):
        return loops
    wrapping = of_program(program, settings, deadline, behind_counters=True)
    return [_with_run(loop, wrapping) if loop.by_overflow else loop for loop in loops]


def _ruled(found: LoopBound, *, meant: bool) -> RuledLoop:
    entry = found.per_entry
    bound = simplest(found.unconditional)
    states = t.disjunction((entry.never, *(one.condition for one in found.counts.recurrent if not one.returned)))
    never = found.call.never if entry.entered else t.FALSE
    end = found.counts.ends_by_overflow
    if end is None or (bound is not None and not by_types(bound)):
        return RuledLoop(found, bound, never, meant, perhaps=states)
    if never is not t.FALSE:  # it hangs whatever overflows
        return RuledLoop(found, None, never, meant, perhaps=states)
    hidden = end.call if end.entered and not end.of_control else t.FALSE
    states = states if end.of_control else t.disjunction((states, end.entry))
    return RuledLoop(found, None, hidden, meant, perhaps=states, by_overflow=True)


def _in_run(loop: RuledLoop, bound: RunBound | None, run: ProgramBounds) -> RuledLoop:
    """The loop as runs from ``main`` enter it."""
    if bound is None:
        return replace(loop, reached=False)
    of_main = {id(copy) for copy in run.entry.counts}
    copies = [copy for copy in bound.copies if id(copy) in of_main]
    told_by = LoopBound(run.entry, copies[0] if copies else loop.found.counts)
    most = bound.any_entry if bound.any_entry is not None else bound.total
    if most is not None and not (loop.by_overflow and by_types(most)):
        return replace(loop, bound=most, never=t.FALSE, told_by=told_by)
    endless = next((copy for copy in copies if copy.entry.entered and copy.call.never is not t.FALSE), None)
    if endless is None:
        return replace(loop, never=t.FALSE)
    return replace(loop, never=endless.call.never, told_by=LoopBound(run.entry, endless))


def _with_calls(loops: Sequence[RuledLoop], functions: Sequence[AnalyzedFunction]) -> list[RuledLoop]:
    """The loops with calls of their functions that never leave them, in a program without ``main``."""
    by_name = {function.name: function for function in functions}
    runs: dict[tuple[str, bool], list[EndlessRun]] = {}
    found = []
    for loop in loops:
        name, by_overflow = loop.found.function.name, loop.by_overflow
        if not loop.kept and not loop.broken and loop.perhaps is not t.FALSE and (name, by_overflow) not in runs:
            function = by_name[name]
            runs[name, by_overflow] = of_function(function.without_overflow if by_overflow else function)
        found.append(_with_run(loop, runs.get((name, by_overflow), ())))
    return found


def _with_run(loop: RuledLoop, runs: Sequence[EndlessRun]) -> RuledLoop:
    here = loop.found.answer.loop
    own = (run for run in runs if (run.place.line, run.place.column) == (here.line, here.column))
    found = None if loop.kept or loop.broken else next((r for r in own if r.place.file == here.file), None)
    return replace(loop, run=found)

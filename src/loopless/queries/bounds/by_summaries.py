"""Bounds of a function by the summaries of its loops alone: what is said where no search for better ones ends."""

from __future__ import annotations

from dataclasses import replace

from loopless import terms as t
from loopless.bounds import (
    Claim,
    claim_of_call,
)
from loopless.bounds.claims.agreement import agreeing
from loopless.bounds.claims.joint import (
    always,
    apart,
    of_all,
    somewhere,
    unless_ended,
)
from loopless.flowgraph.callees.call_graph import NOT_BY_NAME
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.queries.bounds.answers import FunctionBound, LoopIterations
from loopless.queries.bounds.entry_claims import KnownClaims
from loopless.queries.call_values.call_inputs import ambiguous
from loopless.queries.call_values.layouts import layouts_in
from loopless.queries.functions import FunctionAnswer
from loopless.queries.loops.answer import LoopAnswer
from loopless.queries.loops.never_ending import Entries, LoopClaims
from loopless.queries.program import AnalyzedFunction
from loopless.queries.returning import leaving
from loopless.refusals import Reason, Refused
from loopless.summary import CallSummary


def loop_bound(  # noqa: PLR0913  each is known of the loop by another way
    loop: LoopAnswer,
    whole: CallSummary | None,
    refused: Refused,
    entry: Claim,
    known: KnownClaims,
    entries: Entries,
    *,
    ends: bool = False,
    info: LoopInfo | None = None,
) -> LoopIterations:
    """The bounds of a loop by its own summary and that of the ``whole`` function; ``refused``: why there are no others.

    ``entry``: what is known of one entry; ``ends``: whether the loop may be left by ending the run.
    """
    name = loop.loop.name
    entry = somewhere(unless_ended(entry) if ends else entry)
    total = known.total(name)
    call = agreeing(somewhere(claim_of_call(whole, name, total)), total, ends=False)
    any_entry = known.any_entry(name, (), always(call))
    told = entries.told(info, LoopClaims(entry, call), any_entry)
    entry, call = told.entry, told.call
    reads = known.reads(name, entry)
    why = Refused(Reason.NO_BOUND, loop.loop.place, str(reads)) if reads.sources else refused
    missing, lacking = (None if found.upper is not None else why for found in (entry, call))
    return LoopIterations(loop, entry, call, any_entry, refused=missing, refused_call=lacking, reads=reads)


def summaries_alone(
    function: AnalyzedFunction, answer: FunctionAnswer, known: KnownClaims, refused: Refused
) -> FunctionBound:
    """The bounds of a function by what is ``known`` of its loops; ``refused``: why there are no others."""
    graph = function.over_cells
    infos = () if isinstance(graph, Refused) else graph.loops
    ends = {info.name for info in infos if not isinstance(graph, Refused) and leaving(graph, info.blocks)}
    names = [(loop, loop.loop.name) for loop in answer.loops]
    entries = [known.claim(graph, n, loop.summary, known.bounds().get(n, ())) for loop, n in names]
    by_name = {info.name: info for info in infos}
    states = Entries(function, graph, answer)
    loops = tuple(
        loop_bound(loop, answer.summary, refused, entry, known, states, ends=n in ends, info=by_name.get(n))
        for (loop, n), entry in zip(names, entries, strict=True)
    )
    shown = {var: name for loop in answer.loops for var, name in loop.shown.items()}
    granted: tuple[str, ...] = ()
    beyond = beyond_loops(function)
    if not isinstance(graph, Refused):
        shown |= names_of(graph)
        granted = granted_for(function, graph, known)
    alternatives = () if isinstance(graph, Refused) else apart(graph, [n for _, n in names])
    whole = of_all([loop.call for loop in loops], alternatives) if beyond is None else Claim(None, gap=t.TRUE)
    found = FunctionBound(function.name, function.place, loops, whole, shown, granted, refused=beyond or refused)
    found = replace(found, layouts=layouts_in(function))
    return replace(found, ambiguous=ambiguous(function, None if isinstance(graph, Refused) else graph, found))


def names_of(graph: Flowgraph) -> dict[t.Var, str]:
    """What the source calls the variables."""
    return {var: info.shown for var, info in graph.variables.items() if info.is_source}


def granted_for(function: AnalyzedFunction, graph: Flowgraph, known: KnownClaims) -> tuple[str, ...]:
    """What the bounds of a function take for granted."""
    return (*function.stubs, *graph.assumptions, *known.granted(), *([NOT_BY_NAME] if function.reached.outside else []))


def beyond_loops(function: AnalyzedFunction) -> Refused | None:
    """Why the loops of a call are not only those of the function: it calls functions with loops, or itself."""
    graph = function.graph()
    if isinstance(graph, Refused):
        return Refused(graph.reason, function.place, f"what {function.name} calls is not known")
    reached = function.reached
    by_name = {other.code.name: other for other in function.program.functions}
    for name in reached.names:
        found, by_pointer = by_name[name], name in reached.by_pointer
        stranger = reached.outside
        who = "a pointer leads to" if stranger == "a pointer" else f"{stranger}, which is not defined, calls"
        if name == function.code.name:
            detail = f"{function.name} may be what {who}" if by_pointer else f"{function.name} calls itself"
            return Refused(Reason.RECURSION, function.place, detail)
        if found.loops:
            called = f"may be what {who}" if by_pointer else "is called"
            detail = f"the loops of {found.name}, which {called}, are not counted"
            return Refused(Reason.UNKNOWN_CALL, function.place, detail)
        again = found.reached
        if name in again.names and name not in again.by_pointer:
            detail = f"the calls of {found.name}, which calls others that call it, are not counted"
            return Refused(Reason.RECURSION, function.place, detail)
    return None

"""Bounds once it is known of the functions that are called whether they come to an end.

A function of the program that has loops, and may not leave otherwise, returns where each of its loops has a bound and
so has each function that it calls. Where a loop of it surely never ends for some inputs, a run may stop counting in the
call: what is counted around it is an upper bound. Where neither is known, that its calls return is said beside a count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from loopless import terms as t
from loopless.bounds import Claim, claim_of_call
from loopless.bounds.claims.joint import at_most, unless_ended
from loopless.flowgraph.model import Call
from loopless.graphs import bottom_up, least_fixed_point, reachable
from loopless.paths.build import called, calls_return
from loopless.queries.bounds.answers import FunctionBound, LoopIterations
from loopless.queries.loops.answer import LoopAnswer
from loopless.queries.program import AnalyzedFunction
from loopless.queries.returning import CallNotes, before, calls_in
from loopless.records import dataclass
from loopless.refusals import Refused


@dataclass(frozen=True, slots=True)
class _End:
    """Whether calls of a function come to an end: surely, or surely not always, for the reason ``never``."""

    sure: bool = False
    never: str = ""


_UNKNOWN: Final = _End()


def awaited(functions: Sequence[AnalyzedFunction], found: Sequence[FunctionBound]) -> list[AnalyzedFunction]:
    """The other functions whose bounds it takes to settle these, which were ``found`` of each by itself."""
    called_by, own = _called_by(functions, found), {f.code.name for f in functions}
    bodies = {f.code.name: f for f in functions[0].program.functions} if called_by else {}
    return [bodies[name] for name in called_by if name not in own and bodies[name].loops]


def settled(
    functions: Sequence[AnalyzedFunction],
    found: Sequence[FunctionBound],
    others: Mapping[AnalyzedFunction, FunctionBound],
) -> list[FunctionBound]:
    """The bounds of ``functions``, with what is made of them by those that they call; ``others`` are the bounds of
    those that :func:`awaited` names.
    """
    bodies = {f.code.name: f for f in functions[0].program.functions} if functions else {}
    known = dict(zip((f.code.name for f in functions), found, strict=True))
    known |= {other.code.name: bound for other, bound in others.items()}
    ends = _ends(_called_by(functions, found), bodies, known)
    return [_told(f, bound, ends) for f, bound in zip(functions, found, strict=True)]


def _called_by(functions: Sequence[AnalyzedFunction], found: Sequence[FunctionBound]) -> dict[str, list[str]]:
    """The functions whose ends matter to what was found, and which of them each calls."""
    counting = [f for f, bound in zip(functions, found, strict=True) if _counts(bound)]
    return _call_graph(counting, {f.code.name: f for f in counting[0].program.functions}) if counting else {}


def asked_with(function: AnalyzedFunction, among: Mapping[str, AnalyzedFunction]) -> frozenset[str]:
    """The names of those functions ``among`` whose bounds it takes to settle those of one: of all that it may call."""
    return frozenset(_call_graph([function], among))


def _counts(bound: FunctionBound) -> bool:
    """Whether something is said of how often at least."""
    return any(claim.exact or claim.lower is not t.ZERO for loop in bound.counts for claim in (loop.entry, loop.call))


def _body(function: AnalyzedFunction, call: Call) -> str | None:
    """The function of the program whose body must tell whether a call returns."""
    return None if call.returns or call.leaves else function.program.returning.body(call.callee)


def _call_graph(functions: Iterable[AnalyzedFunction], bodies: Mapping[str, AnalyzedFunction]) -> dict[str, list[str]]:
    """The functions whose ends are asked for, and which of them each calls."""
    found: dict[str, list[str]] = {}

    def following(name: str) -> list[str]:
        found[name] = _called(bodies[name])
        return found[name]

    reachable((name for function in functions for name in _called(function)), following)
    return found


def _called(function: AnalyzedFunction) -> list[str]:
    graph = function.graph()
    if isinstance(graph, Refused):
        return []
    names = (_body(function, call) for call in calls_in(graph, graph.blocks))
    return list(dict.fromkeys(name for name in names if name is not None))


def _ends(
    called_by: Mapping[str, list[str]], bodies: Mapping[str, AnalyzedFunction], known: Mapping[str, FunctionBound]
) -> dict[str, _End]:
    own = {name: _own_end(bodies[name], known.get(name)) for name in called_by}

    def transfer(name: str, ends: Mapping[str, _End]) -> _End:
        every = (own[name], *(ends[other] for other in called_by[name]))
        never = next((end.never for end in every if end.never), "")
        return _End(not never and all(end.sure for end in every), never)

    # A recursion is not sure to come to an end; that one of its loops never does, all of it learns.
    repeated = least_fixed_point(called_by, transfer, start=_UNKNOWN, join=_joined)
    return bottom_up(called_by, transfer, recursive=repeated, unknown=_UNKNOWN)


def _joined(one: _End, other: _End) -> _End:
    return one if one.never else other


def _own_end(function: AnalyzedFunction, bound: FunctionBound | None) -> _End:
    """Whether calls come to an end, if those in the function do."""
    graph = function.graph()
    if isinstance(graph, Refused) or graph.irreducible:
        return _UNKNOWN
    known = all(call.returns or _body(function, call) is not None for call in calls_in(graph, graph.blocks))
    if not function.loops:
        return _End(known)
    if bound is None or not bound.counts:
        return _UNKNOWN
    endless = next((loop.answer.loop for loop in bound.counts if loop.call.never is not t.FALSE), None)
    if endless is not None:
        return _End(never=f"the loop at {endless.place} never ends for some inputs")
    return _End(known and all(_is_bounded(loop.entry) or _is_bounded(loop.call) for loop in bound.counts))


def _is_bounded(claim: Claim) -> bool:
    """Whether the iterations are bounded whatever the values at the beginning."""
    return claim.upper is not None and not claim.has_gap and claim.never is t.FALSE


# -- what that makes of the bounds of a caller ------------------------------------------------------------------------


def _told(function: AnalyzedFunction, bound: FunctionBound, ends: Mapping[str, _End]) -> FunctionBound:
    graph = function.graph()
    if isinstance(graph, Refused):
        return bound
    infos = {info.name: info for info in graph.loops}
    loops = []
    for loop in bound.counts:
        info = infos.get(loop.answer.loop.name)
        if info is None:
            loops.append(loop)
            continue
        inside = _Made(function, calls_in(graph, info.blocks), ends)
        way = _Made(function, calls_in(graph, before(graph, info)), ends)
        by_summary = claim_of_call(bound.summary, info.name, ()).exact  # which tells of the calls before the loop
        loops.append(_of_loop(loop, inside, way, by_summary=by_summary))
    whole = _Made(function, calls_in(graph, graph.blocks), ends)
    on_the_way = tuple(dict.fromkeys(sentence for loop in loops for sentence in loop.calls.on_the_way))
    call = bound.call
    if any(new.call is not old.call for new, old in zip(loops, bound.counts, strict=True)):
        call = at_most(call)
    return replace(bound, counts=tuple(loops), call=call, calls=CallNotes((), on_the_way, whole.granted))


def _of_loop(loop: LoopIterations, inside: _Made, way: _Made, *, by_summary: bool) -> LoopIterations:
    entry = unless_ended(loop.entry) if inside.endless and _says_least(loop.entry) else loop.entry
    call = loop.call
    if way.endless and _says_least(call) and not by_summary:
        call = at_most(call)
    counts = _says_least(call) and not by_summary
    granted = way.granted if counts else inside.granted
    calls = CallNotes(inside.ends, way.ends, granted, way.unshown if counts else inside.unshown)
    return replace(loop, entry=entry, call=call, calls=calls, answer=_without(loop.answer, inside.settled))


def _says_least(claim: Claim) -> bool:
    return claim.exact or claim.lower is not t.ZERO or claim.never is not t.FALSE


class _Made:
    """What is known of some calls of a function."""

    def __init__(self, function: AnalyzedFunction, calls: Sequence[Call], ends: Mapping[str, _End]) -> None:
        self.settled: set[str] = set()
        """What is not taken for granted any more."""
        told: dict[str, None] = {}
        granted: dict[str, None] = {}
        self.endless = self.unshown = False
        for call in calls:
            name = _body(function, call)
            end = ends.get(name, _UNKNOWN) if name is not None else _UNKNOWN
            self.endless = self.endless or bool(end.never)
            if call.leaves or end.never:
                told[f"{called(call.callee)} need not return: {call.leaves or end.never}"] = None
                self.settled.add(calls_return(call))
            elif call.returns or end.sure:
                self.settled.add(calls_return(call))
            else:
                granted[calls_return(call)] = None
                self.unshown = self.unshown or name is not None
        self.ends, self.granted = tuple(told), tuple(sorted(granted))


def _without(answer: LoopAnswer, settled: set[str]) -> LoopAnswer:
    """The answer without what is not taken for granted any more."""
    paths, summary = answer.paths, answer.summary
    if paths is not None:
        paths = replace(paths, assumptions=tuple(a for a in paths.assumptions if a not in settled))
    if summary is not None:
        summary = replace(summary, assumptions=tuple(a for a in summary.assumptions if a not in settled))
    return replace(answer, paths=paths, summary=summary)

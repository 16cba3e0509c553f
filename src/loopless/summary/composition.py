"""Composition: straight code, branches, loops in sequence and calls become the summary of a function."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final, TypeVar

from loopless import terms as t
from loopless.flowgraph.model import OBJECT_PART, Flowgraph, Kind, Origin
from loopless.limits.summary import (
    FUNCTION_CONDITION_OPERATIONS,
    FUNCTION_OPERATIONS,
    FUNCTION_SHORTENING_OPERATIONS,
    MAX_JOINED_CONDITIONS,
)
from loopless.logic import budget, simplify
from loopless.paths.build import memory_assumptions, without_wraps
from loopless.paths.execution import Finished
from loopless.paths.joining import join
from loopless.paths.model import Unknown
from loopless.refusals import Reason, Refused
from loopless.summary.function import CallSummary, Diverges, FunctionCase, FunctionOutcome, SummaryInput
from loopless.summary.function_memory import FunctionMemory
from loopless.summary.function_paths import Callees, FunctionPath, FunctionPaths
from loopless.summary.model import Outcome, Residual, Undefined
from loopless.summary.presentation.nonlinear import decided, plainer
from loopless.terms.contents import INDEX, nodes_in

_FINAL: Final = ("return", "exit", "abort")
"""The ends at which the final values are told."""

_K = TypeVar("_K")


def summarize_function(
    graph: Flowgraph, outcomes: Mapping[str, Outcome], callees: Callees | None = None, *, memory: bool = True
) -> FunctionOutcome:
    """The summary of a function, from the summaries of its outermost loops by their names.

    The loops' summaries must be those of the default variables of interest, without assumptions. Entry states that
    come to a loop without a summary, or to anything else that is not answered, are in the residual, with the reason;
    where that is all of them the function is refused. ``memory``: whether what callers see of memory must be told; it
    never is, so that entry states that reach a write to it are in the residual, unless nobody asks.
    """
    paths = FunctionPaths(graph, outcomes, callees or (lambda _: None), memory=memory)
    with budget(FUNCTION_OPERATIONS):
        paths.run()
    with budget(FUNCTION_SHORTENING_OPERATIONS):
        summary = _summary(paths)
    if not summary.cases and not summary.diverges and not summary.undefined and len(summary.residual) == 1:
        return summary.residual[0].why
    return summary


def _summary(paths: FunctionPaths) -> CallSummary:
    graph = paths.graph
    cases, residual = _cases(paths)
    ended = [(f.exit, f.state) for f in paths.finished if f.exit is not None]
    failed = [(exit, state) for exit, state in ended if exit.kind == "undefined"]
    undefined = _grouped(((exit.detail, exit.line), state) for exit, state in failed if state.exact)
    # Of regions nothing can be said but that runs come there: where that is not sure they are residual.
    unsure = [state for state in (*(s for _, s in failed), *(s for s, _ in paths.diverging)) if not state.exact]
    inexact = Refused(Reason.NO_CLOSED_FORM, paths.where, "a loop or call on the way goes by an over-approximation")
    left = (*paths.residual, *residual, *((state, inexact) for state in unsure))
    gaps = _grouped((why, state) for state, why in left)
    regions = (
        tuple(Diverges(when, loop) for loop, when in _grouped((loop, s) for s, loop in paths.diverging if s.exact)),
        tuple(Undefined(when, kind, line) for (kind, line), when in undefined),
        tuple(Residual(when, why) for why, when in gaps),
    )
    occurring = _occurring(cases, regions)
    states = [f.state for f in paths.finished] + [s for s, _ in paths.residual] + [s for s, _ in paths.diverging]
    changed = {var for case in cases for var in case.then}
    named = {var: info.shown for var, info in graph.variables.items() if info.is_source}
    return CallSummary(
        graph.source_name,
        paths.where,
        graph.parameters,
        _inputs(graph, occurring, {u.var: u for s in states for u in s.unknowns}),
        cases,
        *regions,
        tuple(loop.name for loop in graph.loops),
        {var: named[var] for var in sorted(occurring | changed, key=_key) if var in named},
        _assumptions(graph, occurring | changed, cases, paths.held),
        places={var: graph.variables[var] for var in sorted(occurring | changed, key=_key) if _is_placed(graph, var)},
        objects={number: found for number, found in paths.held.objects.items() if found.kind in _SHARED},
    )


def _assumptions(
    graph: Flowgraph, variables: set[t.Var], cases: Iterable[FunctionCase], held: FunctionMemory
) -> tuple[str, ...]:
    """What is taken for granted about memory; where cases tell what it holds, that objects do not overlap, too."""
    told = (*graph.assumptions, *held.granted) if any(case.contents for case in cases) else ()
    return tuple(dict.fromkeys((*told, *memory_assumptions(graph, graph.blocks, variables))))


_SHARED: Final = ("parameter", "global")
"""The kinds of objects that callers may know."""


def _is_placed(graph: Flowgraph, var: t.Var) -> bool:
    """Whether a variable stands for a part of an object that callers may know."""
    info = graph.variables.get(var)
    found = None if info is None or info.object is None else graph.objects.get(info.object)
    return found is not None and found.kind in _SHARED


def _cases(paths: FunctionPaths) -> tuple[tuple[FunctionCase, ...], list[tuple[FunctionPath, Refused]]]:
    """The cases, finished paths of equal transformer being one; and the paths whose result has no name."""
    groups: dict[tuple[object, ...], list[tuple[FunctionPath, FunctionCase]]] = {}
    residual: list[tuple[FunctionPath, Refused]] = []
    for finished in paths.finished:
        if finished.exit is None or finished.exit.kind == "undefined":
            continue
        case = _case(paths, finished)
        if isinstance(case, Refused):
            residual.append((finished.state, case))
            continue
        transformer = (*case.then.items(), None, *case.iterations.items())
        memory = (None if case.contents is None else tuple(case.contents.items()), *case.nodes.items())
        key = (
            case.kind,
            case.line,
            case.result,
            case.points_to,
            case.node,
            transformer,
            finished.state.unknowns,
            case.exact,
        )
        groups.setdefault((*key, memory), []).append((finished.state, case))
    cases = []
    for group in groups.values():
        state = paths.union([state for state, _ in group])
        first = group[0][1]
        when = _when([state for state, _ in group])
        if when is t.FALSE:
            continue
        cases.append(
            FunctionCase(
                when,
                first.kind,
                first.line,
                _plain(first.result, when) if first.result is not None else None,
                first.points_to,
                {var: _plain(term, when) for var, term in first.then.items()},
                {n: _plain(count, when) for n, count in first.iterations.items() if n not in state.uncounted},
                first.inputs,
                state.passed,
                tuple(sorted(state.lines)),
                state.assumptions,
                state.uncounted,
                first.exact,
                None if first.contents is None else _plain_contents(first.contents, when),
                _plain_contents(first.nodes, when),
                _plain(first.node, when) if first.node is not None else None,
            )
        )
    return tuple(cases), residual


def _plain(term: t.Term, when: t.Condition) -> t.Term:
    return without_wraps(decided(term, when), when)


def _plain_contents(contents: t.Contents, when: t.Condition) -> t.Contents:
    """The contents where ``when`` holds."""
    found: dict[str, t.Layers] = {}
    for array, layers in contents.items():
        kept = []
        for layer in layers:
            where = simplify(layer.where, when, operations=FUNCTION_CONDITION_OPERATIONS)
            there = when & where
            value = None if layer.value is None else _plain(layer.value, there)
            kept.append(replace(layer, start=_plain(layer.start, when), where=where, value=value))
        found[array] = tuple(layer for layer in kept if layer.where is not t.FALSE)
    return {array: layers for array, layers in found.items() if layers}


def _visible(paths: FunctionPaths, state: FunctionPath) -> t.Contents | None:
    """What memory that callers see holds; None where nothing is told of it."""
    if not paths.memory or state.memory.written is None:
        return None
    contents = sorted(state.memory.contents.items())
    return {array: layers for array, layers in contents if not paths.held.is_own(array)}


def _case(paths: FunctionPaths, finished: Finished[FunctionPath]) -> FunctionCase | Refused:
    """The transformer of one path, without its condition."""
    state, exit = finished.state, finished.exit
    assert exit is not None
    result, points_to, node = finished.result, "", None
    if finished.result_object is not None:
        owner = decided(finished.result_object, t.conjunction(state.condition))
        known = paths.graph.objects.get(owner.value) if isinstance(owner, t.Const) else None
        shared = {number for number, held in paths.graph.objects.items() if held.kind in _SHARED}
        if known is None and (result is None or not _is_of_list(owner, result, shared)):
            return Refused(Reason.POINTER, paths.where, "the pointer that is returned may point into several objects")
        points_to = "" if known is None else known.name
        node = owner if known is None else None
    then: dict[t.Var, t.Term] = {}
    contents = None
    if exit.kind in _FINAL:
        values = state.values
        contents = _visible(paths, state)
        then = {v: values[v] for v in sorted(values, key=_key) if v in paths.seen and values[v] is not v}
    counts = {name: state.values[counter] for counter, name in paths.counters.items() if counter in state.values}
    inputs = tuple(u.var for u in state.unknowns if u.origin is Origin.NONDET)
    return FunctionCase(
        t.FALSE,
        exit.kind,
        exit.line,
        result,
        points_to,
        then,
        counts,
        inputs,
        (),
        (),
        exact=state.exact,
        contents=contents,
        nodes=state.memory.nodes if exit.kind in _FINAL else {},
        node=node,
    )


def _is_of_list(owner: t.Term, offset: t.Term, shared: Collection[int]) -> bool:
    """Whether a pointer leads to a node of a list, or to the beginning of an object of ``shared``, or is null."""
    if isinstance(owner, t.Ite):
        same = isinstance(offset, t.Ite) and owner.condition is offset.condition
        sides = (offset.then, offset.otherwise) if same and isinstance(offset, t.Ite) else (offset, offset)
        return _is_of_list(owner.then, sides[0], shared) and _is_of_list(owner.otherwise, sides[1], shared)
    if offset is t.ZERO and (t.is_made(owner) or isinstance(owner, t.Const)):
        return owner is t.ZERO or t.is_made(owner) or (isinstance(owner, t.Const) and owner.value in shared)
    place = t.offset_in_list(owner)
    return place is not None and isinstance(offset, t.Read) and place == (offset.array, offset.offset)


def _grouped(ends: Iterable[tuple[_K, FunctionPath]]) -> list[tuple[_K, t.Condition]]:
    """The conditions of paths that end alike, each once."""
    groups: dict[_K, list[FunctionPath]] = {}
    for end, state in ends:
        groups.setdefault(end, []).append(state)
    found = [(end, _when(states)) for end, states in groups.items()]
    return [(end, when) for end, when in found if when is not t.FALSE]


def _when(states: list[FunctionPath]) -> t.Condition:
    """Where some of the states is, in few words."""
    if len(states) <= MAX_JOINED_CONDITIONS:
        whole = t.conjunction(join([state.condition for state in states]))
    else:
        whole = t.disjunction(t.conjunction(state.condition) for state in states)
    return simplify(plainer(whole), operations=FUNCTION_CONDITION_OPERATIONS)


def _occurring(
    cases: Iterable[FunctionCase], regions: Iterable[Iterable[Diverges | Undefined | Residual]]
) -> set[t.Var]:
    nodes: list[t.Node] = [region.when for kind in regions for region in kind]
    for case in cases:
        nodes += [case.when, *case.then.values(), *case.iterations.values()]
        nodes += [case.result] if case.result is not None else []
        nodes += nodes_in(case.told)
    return {var for node in nodes for var in node.variables} - {INDEX}


_KINDS: Final = {
    Origin.NONDET: "nondet",
    Origin.CALL: "call",
    Origin.UNINITIALISED: "uninitialised",
}


_ORDER: Final = ("parameter", "pointee", "global", "uninitialised", "nondet", "call")


def _inputs(graph: Flowgraph, occurring: set[t.Var], unknowns: Mapping[t.Var, Unknown]) -> tuple[SummaryInput, ...]:
    """What the variables of the answer stand for."""
    given = {var for p in graph.parameters for var in (p.var, p.null) if var is not None}
    found: list[SummaryInput] = []
    for var in sorted(occurring, key=_key):
        if var in unknowns:
            origin = unknowns[var].origin
            number = int(var.name.removesuffix(OBJECT_PART).rpartition("'")[2]) if origin is Origin.NONDET else 0
            found.append(SummaryInput(var, _KINDS[origin], number))
        elif var in given:
            found.append(SummaryInput(var, "parameter"))
        else:
            kind = graph.variables[var].kind if var in graph.variables else Kind.TEMPORARY
            found.append(SummaryInput(var, kind.value if kind in (Kind.GLOBAL, Kind.POINTEE) else "uninitialised"))
    order = [p.var for p in graph.parameters]
    found.sort(key=lambda i: (_ORDER.index(i.kind), order.index(i.var) if i.var in order else 0, i.number))
    return tuple(found)


def _key(var: t.Var) -> str:
    return var.key

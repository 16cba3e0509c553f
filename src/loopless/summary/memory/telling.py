"""Summaries that tell what memory holds behind the loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from loopless import terms as t
from loopless.flowgraph.model import Call, Copy, Fill, Flowgraph, LoopInfo, Store
from loopless.limits.summary import CONTENTS_OPERATIONS, MAX_CONTENT_NODES, MAX_WISHES
from loopless.logic import budget
from loopless.paths.build import without_wraps
from loopless.paths.model import LoopPaths, NoPaths
from loopless.paths.relevance import frees
from loopless.portfolio import LIMITS
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.summary.data.possible import possible
from loopless.summary.memory.elements import Resolved, is_hidden, is_open, resolved, spoken
from loopless.summary.memory.layers import TIMES, Layering
from loopless.summary.model import Case, LoopSummary, Outcome, Residual, said
from loopless.summary.portfolio import summarize
from loopless.terms.contents import mapped, nodes_in, single, variables_in
from loopless.terms.knowing import Known

_ENDS = ("normal", "return", "exit", "abort")
"""The ways out at which contents are told."""


def writes_memory(graph: Flowgraph, loop: LoopInfo) -> bool:
    """Whether the loop has statements that write memory."""
    return any(isinstance(s, Store | Fill | Copy) for label in loop.blocks for s in graph.blocks[label].statements)


def changes_memory(graph: Flowgraph, loop: LoopInfo) -> bool:
    """Whether the loop has statements that write memory or free it."""
    calls = (s for label in loop.blocks for s in graph.blocks[label].statements if isinstance(s, Call))
    return writes_memory(graph, loop) or any(map(frees, calls))


@dataclass(frozen=True, slots=True)
class WritingPaths:
    """The paths of a loop with what they write, where ``when`` holds at its entry."""

    when: t.Condition
    paths: LoopPaths | NoPaths


def with_contents(
    paths: LoopPaths | NoPaths, outcome: Outcome, writing: Sequence[WritingPaths]
) -> tuple[LoopPaths | NoPaths, Outcome]:
    """The paths and the summary of a loop, with what memory holds behind it. ``writing``: paths that tell what they
    write, under conditions that exclude one another; elsewhere nothing is told. Where ``outcome``, which knows nothing
    of memory that the loop writes, is not complete, the loop is summarized anew with what is known of it.
    """
    try:
        with budget(CONTENTS_OPERATIONS):
            ways = [found for way in writing for found in known_ways(way)]
    except LIMITS as limit:
        return paths, _without(outcome, str(limit))
    if not ways:
        why = next((way.paths.refused.detail for way in writing if isinstance(way.paths, NoPaths)), "")
        return paths, _without(outcome, why)
    if not (isinstance(outcome, LoopSummary) and outcome.complete):
        again = _anew(ways, outcome)
        if again is not None and (isinstance(outcome, Refused) or _tells_more(again, outcome)):
            paths, outcome = _with_own_paths(again, paths, ways, writing)
    if isinstance(outcome, Refused):
        return paths, outcome
    try:
        with budget(CONTENTS_OPERATIONS):
            return paths, told_contents(outcome, ways)
    except LIMITS as limit:
        return paths, _without(outcome, str(limit))


def _with_own_paths(
    again: LoopSummary, paths: LoopPaths | NoPaths, ways: Sequence[Resolved], writing: Sequence[WritingPaths]
) -> tuple[LoopPaths | NoPaths, LoopSummary]:
    """The summary, and the paths that it counts: what holds under a condition at the entry does not say which paths the
    loop has. Where these are not known, nothing is counted by path.
    """
    if len(ways) == 1 and ways[0].entry is t.TRUE:
        return again.paths, again
    first = writing[0]
    if len(writing) == 1 and first.when is t.TRUE and isinstance(first.paths, LoopPaths):
        iterative, exits = (
            tuple(replace(path, writes=()) for path in group) for group in (first.paths.iterative, first.paths.exits)
        )
        own = replace(first.paths, iterative=iterative, exits=exits)
        return own, replace(again, paths=own)
    cases = tuple(replace(case, per_path={}, trace=()) for case in again.cases)
    return paths, replace(again, cases=cases)


def _tells_more(one: LoopSummary, other: LoopSummary) -> bool:
    """Whether ``one`` says something exact of all states of which ``other`` does, and of more."""
    if one.complete:
        return True
    left, open_ = (t.disjunction(part.when for part in summary.residual) for summary in (one, other))
    return not possible(left & ~open_) and possible(open_ & ~left)


def _without(outcome: Outcome, why: str) -> Outcome:
    """The summary, with the reason why nothing is told of memory."""
    return replace(outcome, untold={"": why}) if isinstance(outcome, LoopSummary) and why else outcome


def known_ways(way: WritingPaths) -> list[Resolved]:
    """What the loop reads of what it writes, by conditions at the entry under which that is known."""
    if isinstance(way.paths, NoPaths) or not way.paths.iterative:
        return []
    found = resolved(way.paths, way.when)
    for wish in found.wishes[:MAX_WISHES]:
        better = resolved(way.paths, way.when & wish)
        if _unknown(better) < _unknown(found):
            return [better, resolved(way.paths, way.when & ~wish)]
    return [found]


def _unknown(found: Resolved) -> int:
    """How many parts of the paths speak of memory that is not known."""
    nodes = [node for path in found.paths.all for node in (*spoken(path), *(n for w in path.writes for n in w.nodes))]
    return sum(map(found.is_unknown, nodes))


def _anew(ways: Sequence[Resolved], outcome: Outcome) -> LoopSummary | None:
    """The summary of the loop by what is known of memory that it writes; None where there is none."""
    every: list[LoopSummary] = []
    left: list[t.Condition] = [t.conjunction(~found.entry for found in ways)]
    why = outcome if isinstance(outcome, Refused) else next(iter(outcome.residual)).why
    for found in ways:
        again = None if found.open else summarize(found.closed)
        if isinstance(again, LoopSummary):
            every.append(_where(of_entry_elements(again), found.entry))
        else:
            left.append(found.entry)
    ends = [[(path.id, path.exit, path.outputs) for path in one.paths.exits] for one in every]
    if not every or any(other != ends[0] for other in ends):
        return None
    residual = [part for one in every for part in one.residual]
    residual += [Residual(when, why) for when in left if when is not t.FALSE]
    first = every[0]
    if len(every) == 1 and len(residual) == len(first.residual):
        return first
    return replace(
        first,
        cases=tuple(case for one in every for case in one.cases),
        diverges=t.disjunction(one.diverges for one in every),
        undefined=tuple(part for one in every for part in one.undefined),
        residual=tuple(residual),
        assumptions=tuple(dict.fromkeys(text for one in every for text in one.assumptions)),
    )


def _where(summary: LoopSummary, entry: t.Condition) -> LoopSummary:
    """What the summary says of the states in ``entry``."""
    if entry is t.TRUE:
        return summary
    cases = tuple(replace(case, when=case.when & entry) for case in summary.cases)
    undefined = tuple(replace(part, when=part.when & entry) for part in summary.undefined)
    residual = tuple(replace(part, when=part.when & entry) for part in summary.residual)
    return replace(summary, cases=cases, diverges=summary.diverges & entry, undefined=undefined, residual=residual)


def told_contents(outcome: LoopSummary, ways: Sequence[Resolved]) -> LoopSummary:
    """The summary with contents in its cases, which are divided where contents are known under conditions."""
    layerings = [Layering(found) for found in ways]
    after = [layering.after() for layering in layerings]
    granted = dict.fromkeys((*outcome.assumptions, *(text for found in ways for text in found.paths.assumptions)))
    cases: list[Case] = []
    for case in outcome.cases:
        parts: list[Case] = []
        left = case.when
        for found, layering, layers in zip(ways, layerings, after, strict=True):
            when = case.when & found.entry
            if when is t.FALSE or not possible(when):
                continue
            parts.append(_case(replace(case, when=when), layering, layers, outcome.known(case)))
            left = left & ~found.entry
        if left is not t.FALSE and possible(left):
            parts.append(replace(case, when=left))
        alike = parts and all(part.contents == parts[0].contents for part in parts)
        cases += [replace(parts[0], when=case.when)] if alike else parts
    why = {array: text for layering in layerings for array, text in layering.why.items()}
    return replace(outcome, cases=tuple(cases), assumptions=tuple(granted), untold=why)


def _case(case: Case, layering: Layering, after: Mapping[str, t.Layers], then: Mapping[t.Var, t.Term]) -> Case:
    """The case with what memory holds behind it. ``then``: what variables hold there."""
    if not case.exact or case.exit.kind not in _ENDS:
        return case
    ways = [path for path in layering.paths.exits if path.exit == case.exit]
    if not ways:
        return case
    times: dict[t.Var, t.Term] = {TIMES: case.iterations}

    def of(node: t.Node) -> t.Node:
        assert isinstance(node, t.Term | t.Condition)
        return t.substitute(node, times)

    repeated = {} if case.iterations is t.ZERO else after
    contents = {array: _settled(mapped(layers, of), case.when) for array, layers in repeated.items()}
    for path in ways:
        leaving = layering.leaving(path, case.iterations)
        when = t.TRUE if len(ways) == 1 or not leaving else layering.condition(path, case.iterations)
        if is_hidden(when):
            return case
        for array, layers in leaving.items():
            above = tuple(replace(layer, where=layer.where & when) for layer in layers)
            contents[array] = (*above, *contents.get(array, ()))
    contents = _with_pointers(contents, layering, then)
    if sum(1 for node in nodes_in(contents) for _ in t.walk_inside(node)) > MAX_CONTENT_NODES:
        return case
    if not variables_in(contents) <= layering.entry or any(map(is_open, nodes_in(contents))):
        return case  # they speak of what the entry does not have
    return replace(case, contents={array: layers for array, layers in contents.items() if layers})


def _with_pointers(
    contents: Mapping[str, t.Layers], layering: Layering, then: Mapping[t.Var, t.Term]
) -> dict[str, t.Layers]:
    """The contents with the pointers that places hold which iterations write, where variables go along with them."""
    found = dict(contents)
    for held in layering.paths.pointers:
        if held.array not in found:
            continue  # neither iterations nor the way out write it
        object, inside = then.get(held.object), then.get(held.inside)
        if object is None or inside is None:
            layering.why.setdefault(held.array, "what the pointers are that lie there is not known")
            continue
        layer = replace(single(held.type, held.offset, None), pointer=t.Target(object, inside))
        found[held.array] = (layer, *(below for below in found[held.array] if not _covers(layer, below, t.TRUE)))
    return found


def _settled(layers: t.Layers, when: t.Condition) -> t.Layers:
    """The layers without conditions that hold anyway, ``when`` holding, and without those that are nowhere, or below
    others everywhere.
    """
    found: list[t.Layer] = []
    for layer in layers:
        known = Known(t.conjuncts(when))
        parts = list(t.conjuncts(known.decide(layer.where)))
        for part in list(parts):
            others = t.conjunction(other for other in parts if other is not part)
            if _is_plain(part) and not possible(when & others & ~part):
                parts.remove(part)
        where = t.conjunction(parts)
        if where is not t.FALSE and possible(when & where) and not any(_covers(above, layer, when) for above in found):
            value = None if layer.value is None else without_wraps(layer.value, when & where)
            found.append(replace(layer, where=where, value=value))
    return tuple(found)


def _covers(above: t.Layer, layer: t.Layer, when: t.Condition) -> bool:
    """Whether all elements of ``layer`` lie below those of another one."""
    alike = (above.start, above.stride, above.size) == (layer.start, layer.stride, layer.size)
    return alike and above.is_told and not possible(when & layer.where & ~above.where)


def _is_plain(node: t.Node) -> bool:
    return not any(isinstance(part, t.Read | t.Aggregate) for part in t.walk_inside(node))


def of_entry_elements(summary: LoopSummary) -> LoopSummary:
    """The summary with elements of the entry in place of the variables that stand for them."""
    start = summary.paths.carried
    return said(summary, lambda node: t.substituted(node, start), left_out=start.keys()) if start else summary

"""Summaries that tell what memory holds behind the loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopless import terms as t
from loopless.flowgraph.model import Copy, Fill, Flowgraph, LoopInfo, Store
from loopless.limits.summary import CONTENTS_OPERATIONS, MAX_CONTENT_NODES
from loopless.logic import budget
from loopless.paths.build import without_wraps
from loopless.paths.model import LoopPaths, NoPaths
from loopless.portfolio import LIMITS
from loopless.refusals import Refused
from loopless.summary.data.possible import possible
from loopless.summary.memory.elements import Resolved, is_hidden, resolved
from loopless.summary.memory.layers import TIMES, Layering
from loopless.summary.model import Case, LoopSummary, Outcome
from loopless.summary.portfolio import summarize
from loopless.terms.contents import mapped, nodes_in, variables_in
from loopless.terms.knowing import Known

_ENDS = ("normal", "return", "exit", "abort")
"""The ways out at which contents are told."""


def writes_memory(graph: Flowgraph, loop: LoopInfo) -> bool:
    """Whether the loop has statements that write memory."""
    return any(isinstance(s, Store | Fill | Copy) for label in loop.blocks for s in graph.blocks[label].statements)


def with_contents(
    paths: LoopPaths | NoPaths, outcome: Outcome, writing: LoopPaths | NoPaths
) -> tuple[LoopPaths | NoPaths, Outcome]:
    """The paths and the summary of a loop, with what memory holds behind it. ``writing``: paths that tell what they
    write. Where ``outcome``, which knows nothing of memory that the loop writes, is not complete, the loop is
    summarized anew with what is known of it.
    """
    if isinstance(writing, NoPaths):
        return paths, outcome
    try:
        with budget(CONTENTS_OPERATIONS):
            found = resolved(writing)
    except LIMITS:
        return paths, outcome
    if not (isinstance(outcome, LoopSummary) and outcome.complete) and not found.open:
        again = summarize(found.paths)
        if isinstance(again, LoopSummary) and (again.complete or isinstance(outcome, Refused)):
            paths, outcome = found.paths, _from_entry(again, found)
    if isinstance(outcome, Refused):
        return paths, outcome
    try:
        with budget(CONTENTS_OPERATIONS):
            return paths, _told(outcome, found)
    except LIMITS:
        return paths, outcome


def _told(outcome: LoopSummary, found: Resolved) -> LoopSummary:
    """The summary with contents in its cases."""
    layering = Layering(found)
    after = layering.after()
    granted = tuple(dict.fromkeys((*outcome.assumptions, *found.paths.assumptions)))
    cases = tuple(_case(case, layering, after) for case in outcome.cases)
    return replace(outcome, cases=cases, assumptions=granted)


def _case(case: Case, layering: Layering, after: Mapping[str, t.Layers]) -> Case:
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
    if sum(1 for node in nodes_in(contents) for _ in t.walk_inside(node)) > MAX_CONTENT_NODES:
        return case
    foreign = variables_in(contents) - layering.entry
    assert not foreign, f"contents speak of {sorted(foreign)}"
    return replace(case, contents={array: layers for array, layers in contents.items() if layers})


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
    return alike and above.value is not None and not possible(when & layer.where & ~above.where)


def _is_plain(node: t.Node) -> bool:
    return not any(isinstance(part, t.Read | t.Aggregate) for part in t.walk_inside(node))


def _from_entry(summary: LoopSummary, found: Resolved) -> LoopSummary:
    """The summary with elements of the entry in place of what is carried."""
    start: dict[t.Var, t.Term] = dict(found.carried)
    if not start:
        return summary

    def of(terms: Mapping[str, t.Term]) -> dict[str, t.Term]:
        return {key: t.substitute(term, start) for key, term in terms.items()}

    cases = tuple(
        replace(
            case,
            when=t.substitute(case.when, start),
            then={var: t.substitute(term, start) for var, term in case.then.items() if var not in start},
            iterations=t.substitute(case.iterations, start),
            per_path=of(case.per_path),
            totals=of(case.totals),
            result=None if case.result is None else t.substitute(case.result, start),
        )
        for case in summary.cases
    )
    return replace(
        summary,
        cases=cases,
        diverges=t.substitute(summary.diverges, start),
        undefined=tuple(replace(part, when=t.substitute(part.when, start)) for part in summary.undefined),
        residual=tuple(replace(part, when=t.substitute(part.when, start)) for part in summary.residual),
    )

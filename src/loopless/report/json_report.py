"""Answers about loops as JSON, with the fields of ``schema.json`` beside this file (described in ``docs/json.md``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, assert_never

from loopless import terms as t
from loopless.flowgraph.callees.streams import counts_inputs
from loopless.paths import Exit, Path
from loopless.queries.loops.answer import LoopAnswer
from loopless.refusals import Refused
from loopless.report.contents import ShownLayer, element_words, shown_layers
from loopless.report.names import Names
from loopless.summary import (
    Approximation,
    Case,
    Cycle,
    Interleaving,
    LoopSummary,
    Merged,
    PathRun,
    Residual,
    Step,
    Undefined,
)


def loop(answer: LoopAnswer) -> dict[str, Any]:
    """All that is known of one loop."""
    names = Names(answer)
    id, summary = answer.loop, answer.summary
    return {
        "name": id.name,
        "function": id.function,
        "file": id.file,
        "line": id.line,
        "column": id.column,
        "parent": id.parent,
        "type": answer.type,
        "status": answer.status,
        "complete": answer.complete,
        "method": summary.method if summary is not None and summary.method else None,
        "entered": [expression(part, names) for part in (t.conjuncts(summary.entered) if summary is not None else ())],
        "paths": [_path(path, names) for path in (answer.paths.all if answer.paths is not None else ())],
        "cases": [_case(case, summary, names) for case in summary.cases] if summary is not None else [],
        "merged": [_merged(found, names) for found in answer.merged],
        "diverges": [
            expression(part, names) for part in (t.disjuncts(summary.diverges) if summary is not None else ())
        ],
        "undefined": _undefined(summary.undefined if summary is not None else (), names),
        "residual": _residual(summary.residual if summary is not None else (), names),
        "approximation": _approximation(summary.approximation, names)
        if summary is not None and summary.approximation is not None
        else None,
        "refused": refused_json(answer.refused) if answer.refused is not None else None,
        **_beside(answer),
        "assumptions": assumptions_of(answer),
        "time_ms": round(answer.time_ms, 1),
    }


def _beside(answer: LoopAnswer) -> dict[str, Any]:
    """What is said of the summary as a whole, where there is something to say."""
    found: dict[str, Any] = {}
    if answer.untold:
        found["not_told"] = [{"name": one.name, "used": one.used} for one in answer.untold]
    if answer.summary is not None and answer.summary.untold:
        found["memory_not_told"] = [{"object": array, "why": why} for array, why in answer.summary.untold.items()]
    if answer.partly is not None:
        found["partly"] = refused_json(answer.partly)
    if answer.past_calls is not None:
        found["past_calls"] = refused_json(answer.past_calls)
    if answer.cut is not None:
        found["cut"] = refused_json(answer.cut)
    if answer.at_entry is not None:
        summary, cases = answer.at_entry.summary, answer.at_entry.merged
        names = Names(replace(answer, summary=summary, merged=cases), (summary.entered,))
        found["at_entry"] = {
            "entered": [expression(part, names) for part in t.conjuncts(summary.entered)],
            "merged": [_merged(one, names) for one in cases],
            "diverges": [expression(part, names) for part in t.disjuncts(summary.diverges)],
            "undefined": _undefined(summary.undefined, names),
            "residual": _residual(summary.residual, names),
        }
    if answer.advice:
        found["try"] = [{"command": advice.command, "tells": advice.tells} for advice in answer.advice]
    return found


def _undefined(parts: Iterable[Undefined], names: Names) -> list[dict[str, Any]]:
    return [{"when": expression(part.when, names), "kind": part.kind, "line": part.line} for part in parts]


def _residual(parts: Iterable[Residual], names: Names) -> list[dict[str, Any]]:
    return [{"when": expression(part.when, names), **refused_json(part.why)} for part in parts]


def _approximation(found: Approximation, names: Names) -> dict[str, Any]:
    return {
        "cases": [_relation(case, names) for case in found.cases],
        "may_diverge": [expression(part, names) for part in t.disjuncts(found.may_diverge)],
        "may_be_undefined": _undefined(found.may_be_undefined, names),
        "may_be_lost": _residual(found.may_be_lost, names),
    }


def _relation(case: Case, names: Names) -> dict[str, Any]:
    return {
        "when": expression(case.when, names),
        "free": [names.name(var) for var in case.free],
        "facts": [expression(part, names) for part in t.conjuncts(case.facts)],
        "then": _values(case.then, case.result, names),
        "exit": _exit(case.exit),
        "iterations": {
            **expression(case.iterations, names),
            "per_path": {path: expression(case.per_path[path], names) for path in sorted(case.per_path)},
        },
    }


def assumptions_of(answer: LoopAnswer) -> list[str]:
    """All that the answer takes for granted, each once."""
    found = list(answer.granted)
    found += answer.paths.assumptions if answer.paths is not None else ()
    if isinstance(answer.summary, LoopSummary):
        found += answer.summary.assumptions
        found += [assumption for case in answer.summary.cases for assumption in case.assumptions]
    return list(dict.fromkeys(found))


def expression(node: t.Node, names: Names) -> dict[str, Any]:
    """A term or condition; where it is long, with what the names of parts in its text stand for; where it speaks of
    what memory holds, with the types of what is read.
    """
    shown, parts, reads = names.alone(node)
    found: dict[str, Any] = {"text": shown, "smt": names.smt(node)}
    if parts:
        found["definitions"] = [{"name": name, "is": value} for name, value in parts]
    if reads:
        found["reads"] = sorted((_read(one) for one in reads), key=lambda one: [str(part) for part in one.values()])
    return found


def _read(told: t.ReadAs) -> dict[str, Any]:
    """How an expression names what is read: as a declared element, or by its bytes, and the type of the value."""
    return {
        "array": told.array,
        "element": told.element,
        "declared": None if told.declared is None else t.read_as(told.declared),
        "type": t.read_as(told.type),
        "width": told.type.width,
        "signed": told.type.signed,
    }


def refused_json(refused: Refused) -> dict[str, Any]:
    """A reason for no answer."""
    return {
        "reason": refused.reason.label,
        "code": refused.reason.code,
        "where": refused.where,
        "detail": refused.detail,
    }


def _path(path: Path, names: Names) -> dict[str, Any]:
    changed = [var for var in _ordered(path.update) if names.is_source(var)]
    update = {names.name(var): expression(path.update[var], names) for var in changed}
    if path.result is not None:
        update["return"] = expression(path.result, names)
    return {
        "id": path.id,
        "condition": expression(path.condition, names),
        "update": update,
        "exits": _exit(path.exit) if path.exit is not None else None,
    }


def _exit(exit: Exit) -> dict[str, Any]:
    return {"line": exit.line, "kind": exit.kind, **({"detail": exit.detail} if exit.detail else {})}


def _case(case: Case, summary: LoopSummary, names: Names) -> dict[str, Any]:
    return {
        "when": expression(case.when, names),
        "exact": case.exact,
        "then": _values(summary.known(case), case.result, names),
        "exit": _exit(case.exit),
        "iterations": {
            **expression(case.iterations, names),
            "per_path": {path: expression(case.per_path[path], names) for path in sorted(case.per_path)},
        },
        "totals": _totals(case.totals, names),
        **contents_told(case.contents, case.when, names),
        **inputs_read(case.then, names),
        "trace": _trace(case.trace, case.exit_path, names),
    }


def _merged(found: Merged, names: Names) -> dict[str, Any]:
    return {
        "cases": list(found.cases),
        "when": expression(found.when, names),
        "exact": found.exact,
        "then": _values(found.then, found.result, names),
        "exit": _exit(found.exit),
        "iterations": expression(found.iterations, names),
        "totals": _totals(found.totals, names),
        **contents_told(found.contents, found.when, names),
        **inputs_read(found.then, names),
        "traces": [
            {
                "cases": list(traced.cases),
                "when": expression(traced.when, names),
                "trace": _trace(traced.trace, traced.exit_path, names),
            }
            for traced in found.traces
        ],
    }


def inputs_read(then: Mapping[t.Var, t.Term], names: Names) -> dict[str, Any]:
    """How many inputs are read, where loops read some."""
    read = next((term for var, term in then.items() if counts_inputs(var)), t.ZERO)
    return {} if read is t.ZERO else {"inputs_read": expression(read, names)}


def contents_told(contents: t.Contents | None, when: t.Condition, names: Names) -> dict[str, Any]:
    """What memory holds at the exit, where something is told of that."""
    if contents is None:
        return {}
    return {"contents": [_layer(shown, names) for shown in shown_layers(contents, when, names)]}


def _layer(shown: ShownLayer, names: Names) -> dict[str, Any]:
    layer = shown.layer
    return {
        "array": shown.array.removeprefix("*"),
        "element": element_words(shown, names),
        "index": names.name(t.INDEX),
        "type": t.read_as(layer.type),
        "width": layer.type.width,
        "signed": layer.type.signed,
        "start": expression(layer.start, names),
        "stride": layer.stride,
        "where": expression(layer.where, names),
        "value": None if layer.value is None else expression(layer.value, names),
        **({} if layer.pointer is None else {"pointer": _target(layer.pointer, names)}),
        "under": shown.under,
    }


def _target(pointer: t.Target, names: Names) -> dict[str, Any]:
    return {"object": expression(pointer.object, names), "offset": expression(pointer.offset, names)}


def _totals(totals: Mapping[str, t.Term], names: Names) -> dict[str, Any]:
    return {name: expression(totals[name], names) for name in sorted(totals)}


def _values(values: Mapping[t.Var, t.Term], result: t.Term | None, names: Names) -> dict[str, Any]:
    then = {names.name(var): expression(value, names) for var, value in values.items() if names.is_source(var)}
    return then if result is None else {**then, "return": expression(result, names)}


def _trace(steps: Sequence[Step], exit_path: str, names: Names) -> list[dict[str, Any]]:
    return [*(_step(step, names) for step in steps), {"path": exit_path, "times": {"text": "1", "smt": "1"}}]


def _step(step: Step, names: Names) -> dict[str, Any]:
    times = expression(step.times, names) if step.times is not None else None
    match step:
        case PathRun():
            return {"path": step.path, "times": times}
        case Cycle():
            return {"cycle": [_step(inner, names) for inner in step.body], "times": times}
        case Interleaving():
            return {"interleaving": list(step.paths), "times": times}
        case _:
            assert_never(step)


def _ordered(values: Mapping[Any, Any]) -> list[Any]:
    return sorted(values, key=lambda var: var.key)

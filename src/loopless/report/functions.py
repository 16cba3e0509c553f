"""Summaries of whole functions, as text and as JSON."""

from __future__ import annotations

from typing import Any, Final

from loopless import terms as t
from loopless.queries.functions import FunctionAnswer
from loopless.queries.loops.name import split_place
from loopless.report.contents import content_lines, nodes_shown
from loopless.report.json_report import contents_told, expression, inputs_read, refused_json
from loopless.report.names import Names
from loopless.report.text import OVER_APPROXIMATE, condition_lines, gap_lines, inputs_lines, reason_lines, region_lines
from loopless.summary import CallSummary, FunctionCase, SummaryInput

_ENDS: Final = {
    "abort": "ends the program by abort",
    "exit": "ends the program by exit",
    "error": "reaches the error",
    "assumption": "no such run, an assumption fails",
}
_INPUTS: Final = {
    "uninitialised": "what the variable holds before it is written",
    "call": "the result or effect of a call",
}


def function_summary(answer: FunctionAnswer) -> str:
    """The answer about one function, as a paragraph."""
    return "\n".join(_lines(answer))


def _lines(answer: FunctionAnswer) -> list[str]:
    words = [answer.status, *([] if answer.complete is None else ["complete" if answer.complete else "not complete"])]
    lines = [f"{answer.name} ({answer.place.removesuffix(':0')}): {', '.join(words)}"]
    summary = answer.summary
    if answer.refused is not None:
        lines += reason_lines(answer.refused)
    if summary is None:
        return lines
    names = Names(summary)
    for case in summary.cases:
        lines += _shortened(case, summary, names)
    for region in summary.diverges:
        lines += region_lines("diverges", region.when, f" (in {short_loop(region.loop, summary)})", names)
    lines += gap_lines(summary, names)
    origins = [f"    {names.name(input.var)}: {origin(input)}" for input in summary.inputs if origin(input)]
    origins += names.where()
    lines += ["  where", *origins] if origins else []
    found = assumptions_of(summary)
    return [*lines, *(["  assuming", *(f"    {assumption}" for assumption in found)] if found else [])]


def _shortened(case: FunctionCase, summary: CallSummary, names: Names) -> list[str]:
    """The lines about a case, with names for exit times that stand there more than once."""
    result = () if case.result is None else (case.result,)
    told = nodes_shown(case.told, case.when, names)
    nodes = (case.when, *case.then.values(), *case.iterations.values(), *result, *told)
    return names.shortened(lambda own: _case_lines(case, summary, own), nodes)


def _case_lines(case: FunctionCase, summary: CallSummary, names: Names) -> list[str]:
    lines = condition_lines("  when ", case.when, names)
    lines += [] if case.exact else [f"    {OVER_APPROXIMATE}"]
    lines.append(f"    {end_words(case, names)}")
    lines += [f"    {effect}" for effect in names.effects(case.then.items())]
    lines += [f"    {line}" for line in content_lines(case.told, case.when, names)]
    lines += inputs_lines(case.then, names)
    for name, count in case.iterations.items():
        if count is not t.ZERO:
            word = "iteration" if count is t.ONE else "iterations"
            lines.append(f"    {names.text(count)} {word} of {short_loop(name, summary)}")
    lines += [f"    iterations of {short_loop(name, summary)}: not known" for name in sorted(case.uncounted)]
    return lines


def end_words(case: FunctionCase, names: Names) -> str:
    """How the run ends, in words, with the value returned."""
    if case.kind != "return":
        return f"{_ENDS[case.kind]} in line {case.line}"
    if case.points_to:
        assert case.result is not None
        return f"returns a pointer to byte {names.text(case.result)} of {case.points_to}"
    if case.node is not None and case.result is not None:
        return f"returns {names.pointer(case.node, case.result)}"
    return "returns" if case.result is None else f"returns {names.text(case.result)}"


def origin(input: SummaryInput) -> str:
    """Where an input comes from, in words; empty for those that the call is given."""
    if input.kind == "nondet":
        return f"input {input.number} of the program"
    shown = input.var.name if input.kind == "uninitialised" else ""
    return "the address as a number" if shown.startswith("&") else _INPUTS.get(input.kind, "")


def short_loop(loop: str, summary: CallSummary) -> str:
    """A loop's name without the file and the function where they are those of the summary."""
    file = summary.place.rsplit(":", 2)[0]
    return f"the loop {loop.removeprefix(f'{file}:{summary.name}:')}"


def assumptions_of(summary: CallSummary) -> list[str]:
    """All that the summary takes for granted, each once."""
    found = [*summary.assumptions, *(assumption for case in summary.cases for assumption in case.assumptions)]
    return list(dict.fromkeys(found))


def function_json(answer: FunctionAnswer) -> dict[str, Any]:
    """The summary of one function."""
    summary = answer.summary
    file, line, column = split_place(answer.place)
    return {
        "name": answer.name,
        "file": file,
        "line": line,
        "column": column,
        "status": answer.status,
        "complete": answer.complete,
        **_regions(summary),
        "refused": refused_json(answer.refused) if answer.refused is not None else None,
        "assumptions": assumptions_of(summary) if summary is not None else [],
        "time_ms": round(answer.time_ms, 1),
    }


def _regions(summary: CallSummary | None) -> dict[str, Any]:
    if summary is None:
        return {"inputs": [], "cases": [], "diverges": [], "undefined": [], "residual": []}
    names = Names(summary)
    return {
        "inputs": [
            {"name": names.name(i.var), "type": t.type_name(i.var.type), "kind": i.kind, "number": i.number or None}
            for i in summary.inputs
        ],
        "cases": [_case(case, names) for case in summary.cases],
        "diverges": [{"when": expression(d.when, names), "loop": d.loop} for d in summary.diverges],
        "undefined": [{"when": expression(u.when, names), "kind": u.kind, "line": u.line} for u in summary.undefined],
        "residual": [{"when": expression(r.when, names), **refused_json(r.why)} for r in summary.residual],
    }


def _case(case: FunctionCase, names: Names) -> dict[str, Any]:
    then = {names.name(var): expression(term, names) for var, term in case.then.items() if names.is_source(var)}
    if case.result is not None:
        then["return"] = expression(case.result, names)
    return {
        "when": expression(case.when, names),
        "exact": case.exact,
        "then": then,
        "points_to": case.points_to or None,
        "exit": {"line": case.line, "kind": case.kind},
        "iterations": {name: expression(count, names) for name, count in case.iterations.items()},
        "uncounted": sorted(case.uncounted),
        "passed": [{"loop": step.loop, "case": step.case} for step in case.passed],
        "lines": list(case.lines),
        "reads": [names.name(var) for var in case.inputs],
        **contents_told(case.contents, case.when, names),
        **({"nodes": contents_told(case.nodes, case.when, names)["contents"]} if case.nodes else {}),
        **inputs_read(case.then, names),
        "assumptions": list(case.assumptions),
    }

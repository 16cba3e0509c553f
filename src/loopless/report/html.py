"""Answers as HTML for notebooks: one element that stands by itself, without scripts, style sheets or fixed colours.

Letters have the colour of the page around them, and lines are half transparent, so light and dark pages will do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from typing import Final

from loopless import terms as t
from loopless.automaton import LoopClass
from loopless.paths import Path
from loopless.queries.functions import FunctionAnswer
from loopless.queries.loops.answer import LoopAnswer
from loopless.queries.loops.name import LoopName
from loopless.refusals import Refused
from loopless.report.contents import content_lines, nodes_shown
from loopless.report.exits import exit_words
from loopless.report.explanations import way_out
from loopless.report.functions import assumptions_of as function_assumptions
from loopless.report.functions import end_words, origin, short_loop
from loopless.report.json_report import assumptions_of
from loopless.report.names import Names
from loopless.report.text import (
    OVER_APPROXIMATE,
    as_asked,
    condition_lines,
    counts_apart,
    trace_words,
    values_apart,
    verdict,
)
from loopless.summary import Approximation, CallSummary, Case, FunctionCase, LoopSummary, Merged

_LINE: Final = "1px solid rgba(128,128,128,.35)"
_BOX: Final = "text-align:left;line-height:1.45;margin:.3em 0"
_CELL: Final = (
    f"text-align:left;vertical-align:top;padding:.25em 1.2em .25em 0;border:0;border-top:{_LINE};white-space:normal"
)
_BELOW: Final = _CELL.replace(f"border-top:{_LINE}", "padding-top:0")
_HEAD: Final = (
    "text-align:left;vertical-align:bottom;padding:0 1.2em .25em 0;border:0;font-weight:normal;opacity:.7;"
    "white-space:nowrap"
)
_CODE: Final = "font-family:monospace;overflow-wrap:anywhere"
_TABLE: Final = "border-collapse:collapse;margin:.3em 0;border:0;background:none;font-size:inherit;color:inherit"

Cell = Sequence[str]
"""The lines of a cell, not escaped."""


# -- pieces -----------------------------------------------------------------------------------------------------------


def box(parts: Iterable[str]) -> str:
    """One element with these parts."""
    return f'<div class="loopless" style="{_BOX}">{"".join(parts)}</div>'


def heading(name: str, words: str = "") -> str:
    """The name of what is shown, and what is said of it in a few words."""
    about = f' <span style="opacity:.75">{escape(words)}</span>' if words else ""
    return f'<div style="margin-top:.5em"><b>{escape(name)}</b>{about}</div>'


def note(title: str, lines: Sequence[str]) -> str:
    """A line beneath a heading; nothing where there is nothing to say."""
    shown = "; ".join(map(escape, lines))
    return f'<div><span style="opacity:.75">{escape(title)}</span> {shown}</div>' if lines else ""


def table(columns: Sequence[str], rows: Sequence[str]) -> str:
    """A table of rows made by :func:`row`."""
    head = "".join(f'<th style="{_HEAD}">{escape(column)}</th>' for column in columns)
    return f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def row(cells: Sequence[Cell], words: Iterable[int] = (), last: int = 1, style: str = _CELL) -> str:
    """A row; the columns numbered in ``words`` are plain text, the others code; the ``last`` cell takes so many."""
    plain = set(words)
    shown = []
    for number, lines in enumerate(cells):
        span = f' colspan="{last}"' if number == len(cells) - 1 and last > 1 else ""
        own = style if number in plain else f"{style};{_CODE}"
        shown.append(f'<td{span} style="{own}">{"<br>".join(map(escape, lines))}</td>')
    return f'<tr style="background:none">{"".join(shown)}</tr>'


def folded(title: str, inside: str) -> str:
    """What is shown on a click."""
    return f'<details><summary style="opacity:.75">{escape(title)}</summary>{inside}</details>'


def condition(shown: t.Condition, names: Names) -> Cell:
    """A condition, one line a disjunct."""
    return ["always"] if shown is t.TRUE else [line.strip() for line in condition_lines("   ", shown, names)]


def why(refused: Refused) -> list[str]:
    """The sentences that say why there is no answer, and what to do."""
    label = f"[{refused.reason.code} {refused.reason.label}]"
    advice = way_out(refused.reason)
    more = f"loopless explain {refused.reason.code}"
    return [f"{refused.detail} (at {refused.where}) {label}", f"{advice} More: {more}" if advice else more]


def refusal(refused: Refused) -> str:
    """Why there is no answer, and what to do."""
    reason, advice = why(refused)
    return note("why:", [reason]) + note("what to do:", [advice])


# -- loops ------------------------------------------------------------------------------------------------------------

_OF_LOOPS: Final = ("when, at the entry", "iterations", "at the exit", "leaves", "trace")


def loop_summary(answer: LoopAnswer) -> str:
    """The answer of ``summarize`` about one loop."""
    names, summary = Names(answer), answer.summary
    parts = [heading(answer.loop.name, ", ".join(verdict(answer)))]
    if answer.refused is not None:
        parts.append(refusal(answer.refused))
    if summary is not None:
        if summary.entered is not t.TRUE:
            parts.append(note("entered only with", [" or ".join(condition(summary.entered, names))]))
        rows = [_case(case, answer.loop, names) for case in as_asked(answer)]
        rows += _never([(summary.diverges, "")], names, len(_OF_LOOPS)) + _gaps(summary, names, len(_OF_LOOPS))
        parts.append(table(_OF_LOOPS, rows))
    parts.append(note("assuming", assumptions_of(answer)))
    if answer.paths is not None:
        rows = [row(_path(path, names)) for path in answer.paths.all]
        parts.append(folded("paths", table(("path", "if", "what one iteration does"), rows)))
    return box(parts)


def _path(path: Path, names: Names) -> list[Cell]:
    effect = names.effects((var, path.update[var]) for var in sorted(path.update, key=lambda var: var.key))
    if path.result is not None:
        effect.append(f"returns {names.text(path.result)}")
    if path.exit is not None:
        effect.append(exit_words(path.exit))
    return [[path.id], condition(path.condition, names), effect or ["changes nothing"]]


def _case(case: Merged, loop: LoopName, names: Names) -> str:
    conditions = (case.when, *(traced.when for traced in case.traces))
    values = (case.iterations, *case.totals.values(), *case.then.values())
    result = () if case.result is None else (case.result,)
    nodes = (*values, *conditions, *result, *nodes_shown(case.contents, case.when, names))
    return _abbreviated(lambda own: _case_cells(case, loop, own), nodes, names, words=(3,))


def _case_cells(case: Merged, loop: LoopName, names: Names) -> list[Cell]:
    beside = f"{loop.file}:{loop.function}:"
    counts = [names.text(case.iterations)]
    counts += [f"{names.text(case.totals[n])} of the loop {n.removeprefix(beside)}" for n in sorted(case.totals)]
    changed = {var: term for var, term in case.then.items() if term is not var and names.is_source(var)}
    values = [*names.effects(changed.items()), *content_lines(case.contents, case.when, names, pointers=False)]
    if case.result is not None:
        values.append(f"returns {names.text(case.result)}")
    traces = [trace_words(traced.trace, traced.exit_path, names) for traced in case.traces]
    if len(traces) > 1:
        whens = [" or ".join(condition(traced.when, names)) for traced in case.traces]
        traces = [f"{trace} if {when}" for trace, when in zip(traces, whens, strict=True)]
    leaves = [*([] if case.exact else [OVER_APPROXIMATE]), exit_words(case.exit)]
    return [condition(case.when, names), counts, values, leaves, traces]


def _abbreviated(
    cells: Callable[[Names], list[Cell]],
    nodes: Iterable[t.Node],
    names: Names,
    words: Sequence[int] = (),
    last: int = 1,
) -> str:
    """A row in which exit times that stand there more than once have names, and below it what these are."""
    other, short = names.abbreviated(lambda own: [line for cell in cells(own) for line in cell], nodes)
    shown = cells(other)
    where = [f"where {name} = {long}" for long, name in short.items()]
    return row(shown, words, last) + (row([where], last=len(shown) - 1 + last, style=_BELOW) if where else "")


def _never(
    regions: Iterable[tuple[t.Condition, str]], names: Names, columns: int, word: str = "never ends"
) -> list[str]:
    return [
        row([condition(when, names), [f"{word}{about}"]], words=(1,), last=columns - 1)
        for when, about in regions
        if when is not t.FALSE
    ]


def _gaps(summary: LoopSummary | CallSummary, names: Names, columns: int) -> list[str]:
    """Where the run is undefined, and where nothing is said, with the reasons."""
    rows = []
    for undefined in summary.undefined:
        place = f" in line {undefined.line}" if undefined.line else ""
        about = f"undefined: {undefined.kind.replace('-', ' ')}{place}"
        rows.append(_region(undefined.when, [about], names, columns))
    found = summary.approximation if isinstance(summary, LoopSummary) else None
    reasons: dict[Refused, list[t.Condition]] = {}
    for residual in summary.residual:
        reasons.setdefault(residual.why, []).append(residual.when)
    rows += [
        _region(t.disjunction(regions), ["unknown" if found is None else "not exact", *why(refused)], names, columns)
        for refused, regions in reasons.items()
    ]
    return rows if found is None else [*rows, *_approximation(found, names, columns)]


def _approximation(found: Approximation, names: Names, columns: int) -> Iterator[str]:
    """What runs may do of which nothing exact is known."""
    for case in found.cases:
        nodes = (case.when, case.facts, case.iterations, *case.then.values(), *case.per_path.values())
        yield _abbreviated(lambda own, case=case: _relation(case, own), nodes, names, words=(3,))  # type: ignore[misc]
    yield from _never([(found.may_diverge, "")], names, columns, "may never end")
    for undefined in found.may_be_undefined:
        place = f" in line {undefined.line}" if undefined.line else ""
        about = f"may be undefined: {undefined.kind.replace('-', ' ')}{place}"
        yield _region(undefined.when, [about], names, columns)
    for lost in found.may_be_lost:
        yield _region(lost.when, [f"may come to what is not followed: {lost.why.detail}"], names, columns)


def _relation(case: Case, names: Names) -> list[Cell]:
    counts = [names.text(case.iterations)]
    counts += [f"{names.text(count)} by {path}" for path, count in counts_apart(case)]
    values = names.effects(values_apart(case, names))
    if case.result is not None and case.result not in case.free:
        values.append(f"returns {names.text(case.result)}")
    facts = [] if case.facts is t.TRUE else condition(case.facts, names)
    some = [f"for some {', '.join(names.listed(case.free))}"] if case.free else []
    leaves = ["over-approximate: may leave so", exit_words(case.exit)]
    return [condition(case.when, names), counts, values, leaves, [*some, *([" or ".join(facts)] if facts else [])]]


def _region(when: t.Condition, about: Cell, names: Names, columns: int) -> str:
    return _abbreviated(lambda own: [condition(when, own), about], (when,), names, words=(1,), last=columns - 1)


def classification(answer: LoopAnswer, found: LoopClass) -> str:
    """The answer of ``classify`` about one loop."""
    decided = "" if found.decided else " (no regular pattern was found)"
    parts = [heading(answer.loop.name, f"type {found.label}")]
    parts.append(note("conditions:", [found.conditions] if found.conditions is not None else []))
    parts.append(note("execution:", [f"{found.execution}{decided}"] if found.execution is not None else []))
    parts.append(note("harder than type 1 by:", found.reasons))
    return box(parts)


# -- functions --------------------------------------------------------------------------------------------------------

_OF_FUNCTIONS: Final = ("when, at the call", "the call", "afterwards", "iterations")


def function_summary(answer: FunctionAnswer) -> str:
    """The answer of ``summarize --whole`` about one function."""
    summary = answer.summary
    words = [answer.status, *([] if answer.complete is None else ["complete" if answer.complete else "not complete"])]
    parts = [heading(answer.name, f"({answer.place.removesuffix(':0')}) {', '.join(words)}")]
    if answer.refused is not None:
        parts.append(refusal(answer.refused))
    if summary is None:
        return box(parts)
    names = Names(summary)
    rows = [row(_function_case(case, summary, names)) for case in summary.cases]
    endless = [(region.when, f" (in {short_loop(region.loop, summary)})") for region in summary.diverges]
    rows += _never(endless, names, len(_OF_FUNCTIONS)) + _gaps(summary, names, len(_OF_FUNCTIONS))
    parts.append(table(_OF_FUNCTIONS, rows))
    parts.append(note("where", [f"{names.name(i.var)}: {origin(i)}" for i in summary.inputs if origin(i)]))
    parts.append(note("assuming", function_assumptions(summary)))
    return box(parts)


def _function_case(case: FunctionCase, summary: CallSummary, names: Names) -> list[Cell]:
    values = [*names.effects(case.then.items()), *content_lines(case.told, case.when, names)]
    counts = [
        f"{names.text(count)} of {short_loop(name, summary)}"
        for name, count in case.iterations.items()
        if count is not t.ZERO
    ]
    counts += [f"not known: {short_loop(name, summary)}" for name in sorted(case.uncounted)]
    ends = [*([] if case.exact else [OVER_APPROXIMATE]), end_words(case, names)]
    return [condition(case.when, names), ends, values, counts]

"""Answers as text: the answer first, then why, then what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from types import MappingProxyType
from typing import Final, assert_never

from loopless import terms as t
from loopless.flowgraph.callees.streams import counts_inputs
from loopless.flowgraph.words import afterwards
from loopless.limits.report import MAX_ANSWER_LINES, MAX_SUMMARY_HEADLINE
from loopless.patterns import pattern
from loopless.queries.loops.answer import LoopAnswer
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.report.brevity import EXTENTS, WHOLE, Extent, chosen, cut, lines_for, more
from loopless.report.contents import content_lines, nodes_shown
from loopless.report.exits import exit_words
from loopless.report.explanations import way_out
from loopless.report.json_report import assumptions_of
from loopless.report.names import Names
from loopless.report.path_text import iteration_lines, path_lines, told_body
from loopless.summary import (
    Approximation,
    CallSummary,
    Case,
    Cycle,
    Interleaving,
    LoopSummary,
    Merged,
    PathRun,
    Step,
)
from loopless.summary.presentation.merging import alone
from loopless.terms.contents import nodes_in

_WIDTH = 120
_NOTHING: Final[Mapping[t.Var, t.Term]] = MappingProxyType({})

OVER_APPROXIMATE = "over-approximate: a run from there may end otherwise"
"""What is said of a case that is not exact."""


@dataclass(frozen=True, slots=True)
class TextLayout:
    """What text has of an answer. ``traces``: one case a trace, not one an effect; ``paths``: the paths through the
    body too, and the traces of cases over them; ``all_states``: all states of the loop's header, not only those in
    which the program enters the loop; ``all_cases``: all of what is long.
    """

    traces: bool = False
    paths: bool = False
    all_states: bool = False
    all_cases: bool = False

    @property
    def with_paths(self) -> bool:
        """Whether paths and traces are shown."""
        return self.paths or self.traces


BRIEF: Final = TextLayout()
"""The layout of ``summarize`` where nothing is asked for."""


def summaries(answers: Sequence[LoopAnswer], layout: TextLayout = BRIEF) -> str:
    """The answers of ``summarize``, one paragraph a loop."""
    if not answers:
        return "no loops"
    share = lines_for([answer.loop.function for answer in answers])
    return "\n\n".join(loop_summary(answer, layout, share[answer.loop.function]) for answer in answers)


def loop_summary(answer: LoopAnswer, layout: TextLayout = BRIEF, most: int = MAX_ANSWER_LINES) -> str:
    """One paragraph of :func:`summaries`, of at most so many lines where parts of it can be left out."""
    return "\n".join(_summary_lines(answer, layout, most))


def _summary_lines(answer: LoopAnswer, layout: TextLayout, most: int) -> list[str]:
    """The paragraph; where not all is asked for with so much of it left out that it has at most so many lines."""
    if layout.all_cases:
        return _lines_with(answer, layout, WHOLE)
    lines: list[str] = []
    for extent in EXTENTS:
        lines = _lines_with(answer, layout, extent)
        if len(lines) <= most:
            break
    return lines


def _lines_with(answer: LoopAnswer, layout: TextLayout, extent: Extent) -> list[str]:
    there = None if layout.all_states or layout.traces else answer.at_entry
    shown = answer if there is None else replace(answer, summary=there.summary, merged=there.merged)
    fixed = {} if there is None else there.fixed
    summary, body = shown.summary, told_body(answer)
    spoken = shown if layout.with_paths or body is None else replace(shown, paths=body)
    names = Names(spoken, () if summary is None else (summary.entered,), extent=extent)
    names.name_folds(_printed(shown, layout))
    endless = None if summary is None else _endless_words(summary, names)
    words = verdict(answer)
    if endless is not None:
        words.insert(next(at for at, word in enumerate([*words, "by "]) if word.startswith(("type ", "by "))), endless)
    lines = [f"{answer.loop.name}: {', '.join(words)}"]
    if answer.refused is not None:
        lines += reason_lines(answer.refused)
    if summary is not None:
        lines += entered_lines(summary.entered, names)
        asked = list(as_asked(shown, traces=layout.traces))
        cases = [_case_lines(case, names, fixed, traces=layout.with_paths) for case in asked]
        said = [(case.exit, case.iterations, *map(tuple, _told(case)), case.result) for case in asked]
        printed = chosen([sum(map(len, case)) for case in cases], extent.cases, said)
        lines += [line for at in printed for line in cases[at]]
        lines += more("  and {} more {}", len(cases) - len(printed), "case")
        lines += [] if endless is not None else _region("diverges", summary.diverges, "", names)
        lines += gap_lines(summary, names, fixed)
    lines += untold_lines(answer)
    lines += cut_lines(answer, lines)
    if body is not None and not layout.with_paths:
        lines += iteration_lines(body, names, extent.cases)
    lines += advice_lines(answer)
    lines += assumption_lines(assumptions_of(answer))
    if answer.paths is not None and (layout.with_paths or summary is None):
        lines += ["  paths", *path_lines(answer.paths.all, names)]
    if layout.all_cases:
        return [*lines, *where_lines(names)]
    lines = list(map(cut, lines))
    return [*lines, *map(cut, where_lines(names, lines))]


def _told(case: Merged) -> tuple[Iterable[tuple[t.Var, t.Term]], Iterable[tuple[str, t.Layers]]]:
    """The final values of a case, and what memory holds."""
    return case.then.items(), (case.contents or {}).items()


def _printed(answer: LoopAnswer, layout: TextLayout) -> Iterator[t.Node]:
    """The terms and conditions that are printed of an answer with a summary."""
    if answer.summary is None:
        return
    for case in as_asked(answer, traces=layout.traces):
        yield from (case.when, case.iterations, *case.totals.values(), *case.then.values())
        yield from () if case.result is None else (case.result,)
        yield from nodes_in(case.contents or {})
    yield answer.summary.diverges
    yield from (part.when for part in answer.summary.undefined)
    yield from (part.when for part in answer.summary.residual)


def _endless_words(summary: LoopSummary, names: Names) -> str | None:
    """From where the loop never ends, for the headline; None where that is nowhere, or takes more words."""
    if summary.diverges is t.FALSE:
        return None
    if summary.diverges is t.TRUE:
        return "never ends"
    shown = names.text(summary.diverges)
    return (
        f"never ends when {shown}"
        if len(shown) <= MAX_SUMMARY_HEADLINE and len(t.disjuncts(summary.diverges)) == 1
        else None
    )


def untold_lines(answer: LoopAnswer) -> list[str]:
    """What changes and is not told, by name."""
    used = [one.name for one in answer.untold if one.used]
    unused = [one.name for one in answer.untold if not one.used]
    lines = [f"  not told: {', '.join(used)}"] if used else []
    lines += [f"  {line}" for line in reason_lines(answer.partly)] if answer.partly is not None else []
    if used and answer.partly is None and answer.summary is not None:
        for array, why in answer.summary.untold.items():
            lines.append(f"    why: {array + ': ' if array else ''}{why}")
    return [*lines, *([f"  not told, not used afterwards: {', '.join(unused)}"] if unused else [])]


def assumption_lines(assumptions: Sequence[str]) -> list[str]:
    """What is taken for granted, in as few lines as it fits in."""
    head, margin = "  assuming ", "           "
    lines: list[str] = []
    for found in _together(assumptions):
        if lines and len(lines[-1]) + len(found) + 2 <= _WIDTH:
            lines[-1] += f"; {found}"
        else:
            lines[-1:] = [f"{line};" for line in lines[-1:]]
            lines.append(f"{margin if lines else head}{found}")
    return lines


_INSIDE: Final = pattern(r"accesses to (\S+) stay inside the memory that it points to")


def _together(assumptions: Sequence[str]) -> list[str]:
    """The assumptions, those that say the same of several pointers in one sentence."""
    inside = [match[1] for found in assumptions if (match := _INSIDE.fullmatch(found))]
    if len(inside) <= 1:
        return list(assumptions)
    whole = f"accesses to {', '.join(inside[:-1])} and {inside[-1]} stay inside the memory that these point to"
    return [*(found for found in assumptions if not _INSIDE.fullmatch(found)), whole]


def where_lines(names: Names, lines: Sequence[str] | None = None) -> list[str]:
    """What the names of parts stand for: of all that were printed, or of those in these ``lines``."""
    found = names.where() if lines is None else names.where_in(lines)
    return ["  where", *found] if found else []


def entered_lines(entered: t.Condition, names: Names) -> list[str]:
    """The states that the summary speaks of, where it does not speak of all."""
    return condition_lines("  entered only with ", entered, names) if entered is not t.TRUE else []


def verdict(answer: LoopAnswer) -> list[str]:
    """What the answer is: its status first."""
    words = [answer.status if answer.partly is None else exact_but(answer)]
    if answer.past_calls is not None and words[0].startswith("exact"):
        words[0] += " where calls return"
    approximated = answer.summary is not None and answer.summary.approximation is not None
    if answer.complete is not None and not approximated:
        words.append("complete" if answer.complete else "not complete")
    if answer.type is not None:
        words.append(f"type {answer.type}")
    if answer.summary is not None and answer.summary.method:
        words.append(f"by {answer.summary.method}")
    if answer.loop.inlined_from is not None:
        words.append(f"inlined at {answer.loop.inlined_from}")
    return words


def exact_but(answer: LoopAnswer) -> str:
    """The status of an answer that is complete without some variables."""
    missing = [one.name for one in answer.untold if one.used]
    return f"exact but for {', '.join(missing)}" if missing else "exact as far as it assumes"


def reason_lines(refused: Refused) -> list[str]:
    """Why there is no answer."""
    code = refused.reason.code
    where = "" if refused.where in refused.detail else f" (at {refused.where})"
    return [f"  why: {refused.detail}{where} [{code} {refused.reason.label}] (loopless explain {code})"]


def cut_lines(answer: LoopAnswer, lines: Sequence[str]) -> list[str]:
    """Which limit ended the search for more, where these lines do not say it yet."""
    found = answer.cut
    if found is None or any(found.detail in line for line in lines):
        return []
    return [f"  {found.detail} [{found.reason.code} {found.reason.label}]"]


def advice_lines(answer: LoopAnswer) -> list[str]:
    """Commands that answer more."""
    return [f"  try: {advice.command} ({advice.tells})" for advice in answer.advice]


def why(refused: Refused) -> list[str]:
    """Why there is no answer, and what to do."""
    lines = [f"  why: {refused.detail} (at {refused.where}) [{refused.reason.code} {refused.reason.label}]"]
    advice = way_out(refused.reason)
    more = f"loopless explain {refused.reason.code}"
    lines.append(f"  what to do: {advice} More: {more}" if advice else f"  what to do: {more}")
    return lines


def as_asked(answer: LoopAnswer, *, traces: bool = False) -> Iterable[Merged]:
    """The merged cases; with ``traces``, each of their traces by itself."""
    assert answer.summary is not None
    for found in answer.merged or map(alone, range(len(answer.summary.cases)), repeat(answer.summary)):
        if traces:
            yield from (replace(found, traces=(traced,), when=traced.when) for traced in found.traces)
        else:
            yield found


def gap_lines(summary: LoopSummary | CallSummary, names: Names, fixed: Mapping[t.Var, t.Term] = _NOTHING) -> list[str]:
    """Where the run is undefined, and where nothing is said, with the reasons."""
    lines: list[str] = []
    printed = chosen([0] * len(summary.undefined), names.extent.regions)
    for undefined in (summary.undefined[at] for at in printed):
        place = f" in line {undefined.line}" if undefined.line else ""
        about = f" ({undefined.kind.replace('-', ' ')}{place})"
        lines += _region("undefined", undefined.when, about, names)
    lines += more("  and {} more {} of undefined behaviour", len(summary.undefined) - len(printed), "region")
    reasons: dict[Refused, list[t.Condition]] = {}
    for residual in summary.residual:
        reasons.setdefault(residual.why, []).append(residual.when)
    approximation = summary.approximation if isinstance(summary, LoopSummary) else None
    for refused, regions in reasons.items():
        lines += _region("unknown" if approximation is None else "not exact", t.disjunction(regions), "", names)
        lines += ["  " + line for line in reason_lines(refused)]
    return lines if approximation is None else [*lines, *_approximation_lines(approximation, names, fixed)]


def _approximation_lines(found: Approximation, names: Names, fixed: Mapping[t.Var, t.Term]) -> list[str]:
    """What runs from the states before may do."""
    lines: list[str] = []
    for case in found.cases:
        nodes = (case.when, case.facts, case.iterations, *case.then.values(), *case.per_path.values())
        lines += names.shortened(lambda own, case=case: _relation_lines(case, own, fixed), nodes)  # type: ignore[misc]
    lines += _region("may run for ever", found.may_diverge, "", names)
    places: dict[tuple[t.Condition, str], list[int]] = {}
    for undefined in found.may_be_undefined:
        places.setdefault((undefined.when, undefined.kind), []).append(undefined.line)
    for (when, kind), in_lines in places.items():
        about = f" ({kind.replace('-', ' ')}{in_words(in_lines)})"
        lines += _region("may be undefined", when, about, names)
    for lost in found.may_be_lost:
        lines += _region("may come to what is not followed", lost.when, f" ({lost.why.detail})", names)
    return lines


def in_words(lines: Iterable[int]) -> str:
    """In which lines of the source; empty where none is known."""
    known = [str(line) for line in sorted({line for line in lines if line})]
    if len(known) < 2:
        return f" in line {known[0]}" if known else ""
    return f" in lines {', '.join(known[:-1])} and {known[-1]}"


def _relation_lines(case: Case, names: Names, fixed: Mapping[t.Var, t.Term]) -> list[str]:
    head = condition_lines("  may leave when ", case.when, names)
    if case.free:
        head[-1] += f", for some {', '.join(names.listed(case.free))}"
    lines = [f"    {count_words(case.iterations, names)}, then {exit_words(case.exit)}"]
    lines += [f"    {names.text(count)} by {path}" for path, count in counts_apart(case)]
    lines += [f"    {effect}" for effect in names.effects(values_apart(case, names, fixed))]
    if case.result is not None and case.result not in case.free:
        lines.append(f"    returns {names.text(case.result)}")
    lines += [] if case.facts is t.TRUE else condition_lines("    such that ", case.facts, names)
    return _joined(head, lines)


def counts_apart(case: Case) -> list[tuple[str, t.Term]]:
    """How often each path is taken, where a relation says more of it than that it is the only one."""
    taken = [(path, case.per_path[path]) for path in sorted(case.per_path) if case.per_path[path] is not t.ZERO]
    return [] if len(taken) == 1 and taken[0][1] is case.iterations else taken


def values_apart(case: Case, names: Names, fixed: Mapping[t.Var, t.Term] = _NOTHING) -> list[tuple[t.Var, t.Term]]:
    """The values of a relation that change, without those that are free variables of their own; ``fixed``: those that
    are known before.
    """

    def is_own(var: t.Var, term: t.Term) -> bool:
        return isinstance(term, t.Var) and term in case.free and names.name(term) == afterwards(names.name(var))

    return [
        (var, term)
        for var, term in sorted(case.then.items(), key=lambda pair: _key(pair[0]))
        if term is not var and term is not fixed.get(var) and not is_own(var, term) and names.is_source(var)
    ]


def _region(title: str, when: t.Condition, about: str, names: Names) -> list[str]:
    return names.shortened(lambda own: region_lines(title, when, about, own), (when,))


def _case_lines(case: Merged, names: Names, fixed: Mapping[t.Var, t.Term], *, traces: bool) -> list[str]:
    conditions = (case.when, *(traced.when for traced in case.traces if traces))
    values = (case.iterations, *case.totals.values(), *case.then.values())
    result = () if case.result is None else (case.result,)
    nodes = (*values, *conditions, *result, *nodes_shown(case.contents, case.when, names))
    return names.shortened(lambda own: _lines_of(case, own, fixed, traces=traces), nodes)


def _lines_of(case: Merged, names: Names, fixed: Mapping[t.Var, t.Term], *, traces: bool) -> list[str]:
    head = condition_lines("  when ", case.when, names)
    lines = [] if case.exact else [f"    {OVER_APPROXIMATE}"]
    lines.append(f"    {count_words(case.iterations, names)}, then {exit_words(case.exit)}")
    if case.iterations is not t.ZERO:
        lines += [f"    {count_words(case.totals[name], names)} of {name}" for name in sorted(case.totals)]
    then = {var: term for var, term in case.then.items() if term is not var and term is not fixed.get(var)}
    lines += [f"    {effect}" for effect in names.effects(then.items())]
    lines += [f"    {line}" for line in content_lines(case.contents, case.when, names, untold=False, pointers=False)]
    lines += inputs_lines(case.then, names)
    if case.result is not None:
        lines.append(f"    returns {names.text(case.result)}")
    if not traces:
        return _joined(head, lines)
    return [*head, *lines, *_trace_lines(case, names)]


def _joined(head: list[str], lines: list[str]) -> list[str]:
    """A condition with the one thing that is said about it on one line, where these are short."""
    if len(head) == len(lines) == 1 and len(head[0]) + len(lines[0]) <= _WIDTH:
        return [f"{head[0]}: {lines[0].strip()}"]
    return [*head, *lines]


def _trace_lines(case: Merged, names: Names) -> list[str]:
    shown = [trace_words(traced.trace, traced.exit_path, names) for traced in case.traces]
    if len(shown) == 1:
        return [f"    trace {shown[0]}"]
    lines = ["    traces"]
    for words, traced in zip(shown, case.traces, strict=True):
        found = condition_lines(f"      {words} if ", traced.when, names)
        if len(found) > 1 or len(found[0]) > _WIDTH:
            found = [f"      {words}", *condition_lines("        if ", traced.when, names)]
        lines += found
    return lines


def inputs_lines(then: Mapping[t.Var, t.Term], names: Names) -> list[str]:
    """How many inputs are read, where some are."""
    read = next((term for var, term in then.items() if counts_inputs(var)), t.ZERO)
    return [] if read is t.ZERO else [f"    reads {names.text(read)} {'input' if read is t.ONE else 'inputs'}"]


def trace_words(trace: Sequence[Step], exit_path: str, names: Names) -> str:
    """A trace as a path expression."""
    return " ".join([*(_step(step, names) for step in trace), exit_path])


def _step(step: Step, names: Names) -> str:
    """A part of a trace as a path expression; a star where each round of the cycle around it has its own number."""
    match step:
        case PathRun():
            word = step.path
        case Cycle():
            word = f"({' '.join(_step(inner, names) for inner in step.body)})"
        case Interleaving():
            word = f"({' | '.join(step.paths)})"
        case _:
            assert_never(step)
    return f"{word}*" if step.times is None else _power(word, step.times, names)


def count_words(iterations: t.Term, names: Names) -> str:
    """How many iterations, in words."""
    shown = names.text(iterations)
    if iterations is t.ONE:
        return "1 iteration"
    return "no iteration" if shown == "0" else f"{shown} iterations"


def _power(path: str, times: t.Term, names: Names) -> str:
    shown = names.text(times)
    if shown == "1":
        return path
    return f"{path}^{shown}" if shown.isalnum() else f"{path}^({shown})"


def region_lines(word: str, region: t.Condition, about: str, names: Names) -> list[str]:
    """A region of a summary, one line a disjunct; none where it is empty."""
    if region is t.FALSE:
        return []
    lines = condition_lines(f"  {word} when ", region, names)
    if about:
        lines[-1] += about
    return lines


def condition_lines(head: str, condition: t.Condition, names: Names) -> list[str]:
    """A condition behind ``head``, one line a disjunct."""
    if condition is t.TRUE:
        return [f"{head}always".replace(" when always", " always")]
    parts = names.alternatives(condition) or ["never"]
    shown = [parts[at] for at in chosen(list(map(len, parts)), names.extent.arms)]
    margin = " " * (len(head) - 3)
    rest = more(f"{margin}or {{}} more", len(parts) - len(shown))
    return [head + shown[0], *(f"{margin}or {part}" for part in shown[1:]), *rest]


def _key(node: t.Node) -> str:
    return node.key


def table(rows: Sequence[Sequence[str]], *, right: Iterable[int] = ()) -> str:
    """Columns side by side; those numbered in ``right`` are flush right."""
    if not rows:
        return ""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    flush = set(right)
    return "\n".join(
        "  ".join(cell.rjust(widths[i]) if i in flush else cell.ljust(widths[i]) for i, cell in enumerate(row)).rstrip()
        for row in rows
    )

"""What ``bench/build.py`` makes of answers: a row for each loop, and tables of rows."""

from __future__ import annotations

import collections
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scev import is_bound

from loopless.limits.bounds import LARGE_CONSTANT

EXACT, COMPLETED, BOUNDED, BY_TYPE, SOMETIMES, CHOSEN, ENDLESS, BY_MEMORY, REFUSED = CLASSES = (
    "exact count",
    "exact count if the function goes on behind it",
    "bounded under no condition",
    "end of a type",
    "bounded under a condition",
    "runs as long as an input chooses",
    "shown not to end",
    "decided by memory that it may write",
    "refused",
)
"""What a loop's bound can be, the best first; each loop is one of these."""
COMPLETE, BUT_FOR, PARTIAL, APPROXIMATE, NONE = SUMMARIES = (
    "complete", "complete but for some variables", "partial", "over-approximate", "refused",
)  # fmt: skip

Row = dict[str, Any]
Run = Mapping[str, Any]

_NUMBER = re.compile(r"(?<![\w.])\d+")
_NAME = re.compile(r"\bt\d+\b")


# -- one loop ---------------------------------------------------------------------------------------------------------


def bound_row(loop: Mapping[str, Any]) -> Row:
    """What is kept of a loop in an answer of ``bound``: its class, the bound on one entry, or why there is none.

    A bound on any entry over the function's inputs, or on all entries in one call, is one on each entry too; one that holds
    for some calls is not taken for one, since mostly these do not come to the loop.
    """
    entry = loop["per_entry"]
    in_call = loop["upper"] if _always(loop["valid_when"]) else None
    told = [("entry", entry["upper"], entry["valid_when"]), ("any entry", entry["any"], None), ("call", in_call, None)]
    found = [
        (_class(upper, when, exact=of == "entry" and entry["exact"]), of, upper, when)
        for of, upper, when in told
        if upper is not None
    ]
    refused = loop["refused"] or {"code": "-", "detail": ""}
    row = {
        "class": REFUSED,
        "of": "",
        "upper": "",
        "when": "",
        "method": "",
        "code": refused["code"],
        "detail": refused["detail"],
    }
    if found:
        kind, of, upper, when = min(found, key=lambda one: CLASSES.index(one[0]))
        method = (entry["method"] if of == "entry" else loop["method"]) or ""
        condition = "" if when is None or _always(when) else _whole(when)
        if kind in (BY_TYPE, SOMETIMES) and entry.get("by_inputs"):
            kind = CHOSEN
        if loop.get("ends_by_overflow") is not None and kind in (EXACT, BOUNDED):
            kind = BY_TYPE
        if entry.get("completed") and kind in (BOUNDED, BY_TYPE, SOMETIMES):
            kind, upper, of, condition = COMPLETED, entry["completed"], "entry", ""
        row |= {"class": kind, "of": of, "upper": _whole(upper), "when": condition, "method": method}
    elif any(states["chosen"] for states in entry["never_ends"]) or entry.get("by_inputs"):
        row["class"] = CHOSEN
    elif entry.get("reads"):
        row["class"] = BY_MEMORY
    elif entry["never_ends"] or loop["diverges"]:
        row["class"] = ENDLESS
    return row


def _class(upper: Mapping[str, Any], when: Mapping[str, Any] | None, *, exact: bool) -> str:
    if exact:
        return EXACT
    if when is not None and not _always(when):
        return SOMETIMES
    parts = {part["name"]: part["is"] for part in upper.get("definitions", ())}
    return BY_TYPE if owes_to_types(upper["text"], parts) else BOUNDED


def _always(when: Mapping[str, Any] | None) -> bool:
    return when is not None and when["text"] == "true"


def _whole(expression: Mapping[str, Any]) -> str:
    parts = [f"{part['name']} = {part['is']}" for part in expression.get("definitions", ())]
    return str(expression["text"]) + (f" where {', '.join(parts)}" if parts else "")


_QUOTIENT = re.compile(r"(?:\+ (\d+)\) )?/ (\d+)\b")


def owes_to_types(text: str, parts: Mapping[str, str] | None = None) -> bool:
    """Whether a bound has a number as only the end of a type is, so that nothing smaller limits it.

    Of a minimum all operands must have one, of a conditional one of its values, the condition aside.
    """
    parts, text = parts or {}, text.strip()
    while text.startswith("(") and _close(text, 0) == len(text) - 1:
        text = text[1:-1].strip()
    if (mark := _at_top(text, "?")) is not None:
        behind = text[mark + 1 :]
        colon = _colon(behind)
        return owes_to_types(behind[:colon], parts) or owes_to_types(behind[colon + 1 :], parts)
    if text.startswith("min(") and _close(text, 3) == len(text) - 1:
        return all(owes_to_types(operand, parts) for operand in _operands(text[4:-1]))
    if text in parts:
        return owes_to_types(parts[text], parts)
    for quotient in list(_QUOTIENT.finditer(text)):  # rounded by a large number
        if int(quotient[1] or 0) < int(quotient[2]):
            text = text.replace(quotient[0], "")
    named = (parts[name] for name in _NAME.findall(text) if name in parts)
    return any(int(number) >= LARGE_CONSTANT for number in _NUMBER.findall(text)) or any(
        owes_to_types(one, parts) for one in named
    )


def _close(text: str, start: int) -> int:
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] == "(") - (text[index] == ")")
        if depth == 0:
            return index
    return len(text)


def _at_top(text: str, sign: str, start: int = 0) -> int | None:
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] == "(") - (text[index] == ")")
        if depth == 0 and text[index] == sign:
            return index
    return None


def _colon(text: str) -> int:
    """The place of the colon that belongs to a question mark before ``text``."""
    depth = open_ = 0
    for index, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and sign == "?":
            open_ += 1
        elif depth == 0 and sign == ":":
            if open_ == 0:
                return index
            open_ -= 1
    return len(text)


def _operands(text: str) -> list[str]:
    found, start = [], 0
    while (comma := _at_top(text, ",", start)) is not None:
        found.append(text[start:comma])
        start = comma + 1
    return [*found, text[start:]]


def summary_row(loop: Mapping[str, Any]) -> Row:
    """What is kept of a loop in an answer of ``summarize``."""
    refused, residual = loop["refused"], [part["code"] for part in loop["residual"]]
    kind = NONE if refused is not None else COMPLETE if loop["complete"] else PARTIAL
    if kind == COMPLETE and loop.get("partly") is not None:
        kind = BUT_FOR
    if kind == PARTIAL and loop.get("approximation") is not None:
        kind = APPROXIMATE
    codes = [refused["code"]] if refused is not None else list(dict.fromkeys(residual))
    return {"class": kind, "codes": codes, "method": loop["method"] or ""}


_BULKY = frozenset({"smt", "paths", "cases", "merged", "edges"})


def pruned(answer: Any) -> Any:
    """An answer without what it says in other words, and without what the loop does: what is kept of it."""
    if isinstance(answer, Mapping):
        return {name: pruned(value) for name, value in answer.items() if name not in _BULKY}
    return [pruned(value) for value in answer] if isinstance(answer, list) else answer


def renewed(run: Run) -> Run:
    """A kept run, its answers read as they are read now."""
    readers = (("bound", bound_row), ("summarize", summary_row))
    for row in run["rows"].values():
        for question, read in readers:
            if question in row:
                row[question] |= read(row[question]["answer"])
    return run


def rank(row: Mapping[str, Any]) -> int:
    """How bad an answer is, 0 the best."""
    return (CLASSES if row["class"] in CLASSES and "code" in row else SUMMARIES).index(row["class"])


# -- a table of runs --------------------------------------------------------------------------------------------------


def table(runs: Sequence[Run]) -> str:
    """The figures of some runs, a column each."""
    columns = [_figures(run) for run in runs]
    names = list(dict.fromkeys(name for name, _ in sorted((pair for c in columns for pair in c), key=_section)))
    found = [{name: value for (name, _), value in column.items()} for column in columns]
    lines = ["| | " + " | ".join(run["label"] for run in runs) + " |", "|---" * (len(runs) + 1) + "|"]
    told = [name for name in names if any(column.get(name) for column in found)]
    lines += [f"| {name} | " + " | ".join(column.get(name, "") for column in found) + " |" for name in told]
    return "\n".join(lines)


def _section(pair: tuple[str, tuple[int, str]]) -> tuple[int, str]:
    return pair[1]


def _figures(run: Run) -> dict[tuple[str, tuple[int, str]], str]:
    """By name, with what it is sorted by."""
    rows: list[Row] = list(run["rows"].values())
    found: dict[tuple[str, tuple[int, str]], str] = {}

    def put(name: str, value: object, sub: str = "") -> None:
        order[0] += not sub
        found[name, (order[0], sub)] = str(value)

    order = [0]
    put(
        "files, programs",
        f"{run['files']}, {run['programs']}" + (f" ({len(run['unread'])} not read)" if run["unread"] else ""),
    )
    put("**loops**", len(rows))
    bounds = [row["bound"] for row in rows if "bound" in row]
    summaries = [row["summarize"] for row in rows if "summarize" in row]
    put("without an answer of their own (inlined only)", len(rows) - max(len(bounds), len(summaries)))
    for kind in CLASSES:
        part = [row for row in bounds if row["class"] == kind]
        put(f"**{kind}**" if kind in (EXACT, COMPLETED, BOUNDED) else kind, _share(part, rows) if bounds else "")
        if kind == SOMETIMES:
            put("– of these where no iteration is taken", sum(row["upper"] == "0" for row in part) if bounds else "")
        codes = collections.Counter(row["code"] for row in part) if kind == REFUSED else {}
        for code in sorted(codes):
            put(f"– of these {code}", codes[code], code)
    put("complete summaries", _share([row for row in summaries if row["class"] == COMPLETE], rows) if summaries else "")
    but_for = [row for row in summaries if row["class"] == BUT_FOR]
    if but_for:
        put("complete but for some variables, which are named", _share(but_for, rows))
    put("summaries of a part", _share([row for row in summaries if row["class"] == PARTIAL], rows) if summaries else "")
    part = [row for row in summaries if row["class"] == NONE]
    approximate = [row for row in summaries if row["class"] == APPROXIMATE]
    if approximate:
        put("over-approximate summaries", _share(approximate, rows))
    put("no summary", _share(part, rows) if summaries else "")
    if bounds and summaries:
        whole = [row for row in rows if row.get("summarize", {}).get("class") in (COMPLETE, BUT_FOR)]
        for title, classes in (
            ("**exact count, by a bound or by a complete summary**", (EXACT, COMPLETED)),
            ("**bounded or as long as an input chooses, or a complete summary**", (EXACT, COMPLETED, BOUNDED, CHOSEN)),
        ):
            put(title, _share([row for row in rows if row in whole or _ours(row) in classes], rows))
    codes = collections.Counter(row["codes"][0] for row in part)
    for code in sorted(codes):
        put(f"– of these without one {code}", codes[code], code)
    for question in ("bound", "summarize"):
        limited = sum(bool(_limits(row.get(question, {}))) for row in rows)
        put(f"lost to a limit, `{question}`", limited if question in run["times"] else "")
    _times(run, len(rows), put)
    _beside(run, rows, put)
    return found


def _limits(row: Mapping[str, Any]) -> list[str]:
    """The limits that cost a loop its bound, or a part of its summary."""
    codes = row.get("codes") or ([row["code"]] if row.get("class") == REFUSED else [])
    return [code for code in codes if code.startswith("L30")]


def _times(run: Run, loops: int, put: Callable[..., None]) -> None:
    times = run["times"]
    for question in ("bound", "summarize"):
        took = times.get(question)
        rate = f"{loops / took['wall']:.2f}, {loops / took['cpu']:.2f}" if took else ""
        put(f"`{question}`: loops a second, by the wall and by the processor", rate)
        put(
            f"`{question}`: seconds, by the wall and of the processor",
            f"{took['wall']:.0f}, {took['cpu']:.0f}" if took else "",
        )
        for name in ("clang", "gcc"):
            beside = times.get(name)
            put(
                f"`{question}`: times the processor time of `{name} -O2 -c`",
                f"{took['cpu'] / beside['cpu']:.0f}" if took and beside else "",
            )
    for name in ("clang", "gcc"):
        put(f"`{name} -O2 -c`: seconds of the processor", f"{times[name]['cpu']:.1f}" if name in times else "")


def _beside(run: Run, rows: Sequence[Row], put: Callable[..., None]) -> None:
    both = [row for row in rows if row["scev"] is not None]
    told = bool(run["opt"])
    put("ScalarEvolution: loops found there too", len(both) if told else "")
    put("ScalarEvolution: exact count", _share([r for r in both if "exact" in r["scev"]], both) if told else "")
    bounded = [r for r in both if "exact" not in r["scev"] and is_bound(r["scev"])]
    put("ScalarEvolution: bounded, not exact", _share(bounded, both) if told else "")
    ends = [r for r in both if "most" in r["scev"] and not is_bound(r["scev"])]
    put("ScalarEvolution: end of a type", _share(ends, both) if told else "")
    asked = told and "bound" in run["times"]
    for name, chosen in (*_MISSED, *_GAINED):
        put(name, sum(map(chosen, both)) if asked else "")


def _ours(row: Row) -> str:
    return row["bound"]["class"] if "bound" in row else REFUSED


_COUNTED = (EXACT, COMPLETED)
"""What ScalarEvolution calls exact: it counts what the loop's own conditions end, and knows no calls that end the run."""
_MISSED: Sequence[tuple[str, Callable[[Row], bool]]] = (
    ("exact there, not here", lambda r: "exact" in r["scev"] and _ours(r) not in _COUNTED),
    ("bounded there, without a bound here", lambda r: is_bound(r["scev"]) and _ours(r) not in (*_COUNTED, BOUNDED)),
)
_GAINED: Sequence[tuple[str, Callable[[Row], bool]]] = (
    ("exact here, not there", lambda r: "exact" not in r["scev"] and _ours(r) in _COUNTED),
    ("bounded here, without a bound there", lambda r: not is_bound(r["scev"]) and _ours(r) in (*_COUNTED, BOUNDED)),
)


def _share(part: Sequence[object], whole: Sequence[object]) -> str:
    return f"{len(part)} ({100 * len(part) / max(len(whole), 1):.0f} %)"


# -- lists ------------------------------------------------------------------------------------------------------------


def lists(run: Run) -> str:
    """What cannot be counted only: loops lost to limits, and what ScalarEvolution has that is missing here."""
    rows: Mapping[str, Row] = run["rows"]
    lines = [f"\nnot read: {file}: {why}" for file, why in run["unread"].items()]
    lines += [f"\nnot read by opt: {what}" for what in run["opt_failed"]]
    for question in ("bound", "summarize"):
        lost = {key: limits for key, row in rows.items() if (limits := _limits(row.get(question, {})))}
        lines += [f"\nLost to a limit, `{question}`: {len(lost)}\n"] if lost else []
        lines += [f"- {key}: {', '.join(limits)}" for key, limits in lost.items()]
    for title, chosen in _MISSED if run["opt"] and "bound" in run["times"] else ():
        missed = {key: row for key, row in rows.items() if row["scev"] is not None and chosen(row)}
        lines += [f"\nBy ScalarEvolution {title}: {len(missed)}\n"] if missed else []
        for key, row in missed.items():
            said = row["scev"].get("exact") or f"at most {row['scev'].get('most')}"
            lines.append(f"- {key} {row['function']}: {_shown(row.get('bound'))}; there {said[:90]}")
    return "\n".join(lines)


def _shown(bound: Mapping[str, Any] | None) -> str:
    """A bound, or why there is none, in some words."""
    if bound is None:
        return "no answer"
    if not bound["upper"]:
        return f"{bound['class']}, {bound['code']}: {bound['detail'][:110]}"
    when = f" if {bound['when'][:60]}" if bound["when"] else ""
    return f"{bound['class']}: {bound['upper'][:80]}{when}"


def slowest(run: Run, number: int) -> str:
    """The functions that took the longest, by the stages that the answers tell of."""
    lines = ["", "| function | stage | s |", "|---|---|---|"]
    return "\n".join(
        [*lines, *(f"| {name} | {stage} | {ms / 1000:.1f} |" for name, stage, ms in run["slowest"][:number])]
    )


def compared(old: Run, new: Run) -> str:
    """The loops whose answers got better, got worse, or read otherwise."""
    before, after = old["rows"], new["rows"]
    lines = [f"\nAgainst {old['label']}, {len(before)} loops before, {len(after)} now"]
    lines += [f"- gone: {key}" for key in before if key not in after] + [
        f"- new: {key}" for key in after if key not in before
    ]
    for question, told in (("bound", _shown), ("summarize", _summed_up)):
        pairs = [
            (key, before[key][question], after[key][question])
            for key in after
            if key in before and question in before[key] and question in after[key]
        ]
        for title, chosen in (
            ("lost", [pair for pair in pairs if rank(pair[2]) > rank(pair[1])]),
            ("gained", [pair for pair in pairs if rank(pair[2]) < rank(pair[1])]),
            ("other", [pair for pair in pairs if rank(pair[2]) == rank(pair[1]) and told(pair[1]) != told(pair[2])]),
        ):
            lines += [f"\n`{question}`, {title}: {len(chosen)}\n"] if chosen else []
            lines += [f"- {key}: {told(a)} → {told(b)}" for key, a, b in chosen]
    return "\n".join(lines)


def _summed_up(summary: Mapping[str, Any]) -> str:
    codes = f" ({', '.join(summary['codes'])})" if summary["codes"] else ""
    return f"{summary['class']}{codes}"

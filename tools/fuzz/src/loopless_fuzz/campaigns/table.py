"""What a campaign came to, as tables in Markdown."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from loopless_fuzz.campaigns.loops import STAGES
from loopless_fuzz.campaigns.rows import CleanRow, FunctionRow, LoopRow, ProgramRow, Row

COMPLETE: Final = frozenset(("complete", "entered"))
"""The status of loops whose summary leaves nothing open."""


def report(rows: Sequence[Row]) -> str:
    """All that a campaign found out: programs, pairs judged, mismatches, shares by construct, causes."""
    rows = sorted(rows, key=lambda row: (row.profile, row.seed))
    loops = [(row, loop) for row in rows for loop in row.loops]
    functions = [(row, row.function) for row in rows if row.function is not None]
    lines = [_head(rows)]
    if loops:
        lines += _loops(loops)
    if functions:
        lines += _functions(functions)
    programs = [row.program for row in rows if row.program is not None]
    if programs:
        lines += _programs(programs)
    clean = [row.clean for row in rows if row.clean is not None]
    if clean:
        lines += _clean(clean)
    for row in rows:
        parts: tuple[tuple[str, Sequence[LoopRow | FunctionRow | ProgramRow | CleanRow]], ...] = (
            ("loop", row.loops),
            ("call", [row.function] if row.function else []),
            ("run", [row.program] if row.program else []),
            ("run", [row.clean] if row.clean else []),
        )
        for name, found in ((name, _first(part)) for name, part in parts):
            if found is not None:
                lines += ["", f"{row.profile} {row.seed}, {name} {found[0]}: {found[1][:600]}"]
        if row.status == "crash":
            lines += ["", f"{row.profile} {row.seed} crashed at {row.stage or 'its end'}: {_last_line(row.note)}"]
    return "\n".join(lines)


def progress(rows: Sequence[Row], seconds: float) -> str:
    """One line while the campaign runs."""
    loops = [loop for row in rows for loop in row.loops]
    complete = sum(loop.status in COMPLETE for loop in loops)
    wrong = sum(row.wrong for row in rows)
    pairs = sum(loop.compared for loop in loops) + sum(row.function.compared for row in rows if row.function)
    runs = sum(row.program.runs for row in rows if row.program)
    clean = [row.clean for row in rows if row.clean]
    if clean:
        many = sum(row.programs for row in clean)
        return f"{_number(many, 'program')}, {_number(sum(row.clean for row in clean), 'clean run')}, {wrong} wrong"
    if runs:
        return f"{_number(len(rows), 'program')}, {_number(runs, 'run')}, {wrong} wrong"
    rate = f", {60 * len(rows) / seconds:.0f} a minute" if seconds > 1 else ""
    return (
        f"{_number(len(rows), 'program')}{rate}, {_number(pairs, 'pair')} compared, {_share(complete, len(loops))} of "
        f"{_number(len(loops), 'loop')} complete, {wrong} wrong"
    )


def _head(rows: Sequence[Row]) -> str:
    crashed = sum(row.status == "crash" for row in rows)
    limited = sum(row.status != "crash" and _met_a_limit(row) for row in rows)
    profiles = f" of {', '.join(sorted({row.profile for row in rows}))}" if rows else ""
    mismatches = sum(row.mismatches > 0 for row in rows)
    what = "file" if any(row.clean is not None for row in rows) else "program"
    return (
        f"{_number(len(rows), what)}{profiles}: {mismatches} with a mismatch, {crashed} crashed, {limited} met a limit"
    )


def _met_a_limit(row: Row) -> bool:
    """Whether the work on the program, or on a part of it, did."""
    whole = row.function is not None and row.function.status == "limit"
    return row.status == "limit" or whole or any(loop.status == "limit" for loop in row.loops)


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _first(rows: Iterable[LoopRow | FunctionRow | ProgramRow | CleanRow]) -> tuple[object, str] | None:
    return next(((where, why) for row in rows for where, why in row.mismatches), None)


def _last_line(text: str) -> str:
    return text.strip().splitlines()[-1][:200] if text.strip() else ""


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.1f}%"


# ------------------------------------------------------------------------------------------------------------- loops


def _loops(loops: Sequence[tuple[Row, LoopRow]]) -> list[str]:
    rows = [loop for _, loop in loops]
    complete = [loop for loop in rows if loop.status in COMPLETE]
    entered = sum(loop.status == "entered" for loop in rows)
    states, compared = sum(loop.states for loop in rows), sum(loop.compared for loop in rows)
    judged = f"{_number(states, 'state')} judged, {compared} by a run"
    lines = [
        "",
        f"{_number(len(rows), 'loop')}, {_share(len(complete), len(rows))} complete; {judged}",
        f"complete only for the states in which the program enters the loop: {_share(entered, len(rows))}",
        "status: " + _counted(Counter(loop.status for loop in rows)),
        "runs: " + _counted(_sum(loop.outcomes for loop in rows)),
        "regions: " + _counted(_sum(loop.regions for loop in rows)),
        *_written(rows),
    ]
    unjudged = Counter(_PLACE.sub("a loop", loop.unjudged)[:80] for loop in rows if loop.unjudged)
    if unjudged:
        lines.append("not judged, or not to the end: " + _counted(unjudged))
    lines += ["", "| stage | ms median | p90 | max | s in all |", "|---|---|---|---|---|"]
    for stage in STAGES:
        spent = sorted(1000 * loop.seconds[stage] for loop in rows if stage in loop.seconds)
        if spent:
            lines.append(
                f"| {stage} | {statistics.median(spent):.1f} | {spent[len(spent) * 9 // 10]:.1f} | {spent[-1]:.0f} "
                f"| {sum(spent) / 1000:.0f} |"
            )
    pieces = sorted(loop.pieces for loop in complete)
    if pieces:
        middle, high = pieces[len(pieces) // 2], pieces[len(pieces) * 9 // 10]
        lines += ["", f"pieces of complete loops: median {middle}, p90 {high}, most {pieces[-1]}"]
    lines += _table("cause of what is not complete | loops", Counter(name for loop in rows for name in loop.causes))
    kinds = Counter(kind for loop in rows for kind in {kind_of(text) for text in loop.details})
    lines += _table("what is in the way | loops", kinds, 25)
    lines += ["", "| construct | loops | complete |", "|---|---|---|"]
    named = [(frozenset((*row.features, *_own_features(loop))), loop) for row, loop in loops]
    for name in sorted({name for names, _ in named for name in names}):
        having = [loop for names, loop in named if name in names]
        good = sum(loop.status in COMPLETE for loop in having)
        lines.append(f"| {name} | {len(having)} | {100 * good / len(having):.0f}% |")
    return lines


def _written(rows: Sequence[LoopRow]) -> list[str]:
    """How much summaries say of what memory holds behind loops that write it."""
    writing = [loop for loop in rows if loop.writes]
    if not writing:
        return []
    memory = _sum(loop.memory for loop in writing)
    wrong = sum(bool(loop.mismatches) for loop in writing)
    told = _counted(Counter(loop.writes for loop in writing))
    compared = (
        f"memory: {_number(memory['states'], 'state')} with {_number(memory['compared'], 'byte')} compared, of which "
        f"{memory['changed']} had changed, {memory['untold']} not told; "
        f"{_number(memory['beyond'], 'element')} speak of what the loop does not access"
    )
    return [
        f"{_number(len(writing), 'loop')} write memory, what it holds behind them: {told}; {wrong} wrong",
        compared,
    ]


def _own_features(loop: LoopRow) -> list[str]:
    return [f"depth: {loop.depth}", *([f"paths: {loop.paths}"] if loop.paths else [])]


_PLACE: Final = re.compile(r"(the loop )?case\.c:\w+:\d+:\d+")
_KINDS: Final = (
    ("after k rounds", "pow(", "control grows or shrinks by a factor"),
    ("after k rounds", "#k*#k", "control is a polynomial in the number of rounds"),
    ("after k rounds", "#k*", "control steps by an invariant"),
    ("after k rounds", "", "control has another closed form"),
    ("take turns has no closed form", "", "a sum over paths that take turns"),
    ("in each iteration", "is not linear", "an update that is not linear"),
    ("has no closed form", "", "no closed form of one path"),
    ("not affine in the number", "", "a condition that is not affine in the number of iterations"),
    ("holds all along is not decided", "", "a check along the run"),
    ("ends at some time", "", "whether a run ends by undefined behaviour"),
    ("budget", "", "the budget"),
)


def kind_of(detail: str) -> str:
    """What a refusal complains of, without the names of its variables."""
    for word, other, kind in _KINDS:
        if word in detail and other in detail:
            return kind
    return _PLACE.sub("a loop", detail)[:80]


# --------------------------------------------------------------------------------------------------------- functions


def _functions(functions: Sequence[tuple[Row, FunctionRow]]) -> list[str]:
    rows = [function for _, function in functions]
    calls, compared = sum(row.calls for row in rows), sum(row.compared for row in rows)
    complete = sum(row.status == "complete" for row in rows)
    by = _sum(row.by for row in rows)
    judged = f"{_number(calls, 'call')}, {compared} compared natively"
    lines = [
        "",
        f"{_number(len(rows), 'function')}: {_share(complete, len(rows))} complete; {judged}",
        "status: " + _counted(Counter(row.status or "not composed" for row in rows)),
        "native runs: " + _counted(_sum(row.outcomes for row in rows)),
        "answered by: " + ", ".join(f"{count} {name} ({_share(count, calls)})" for name, count in by.most_common()),
    ]
    lines += _table("cause of what is not complete | functions", Counter(name for row in rows for name in row.causes))
    lines += _table("a call is unknown because | calls", _sum(row.unknown for row in rows), 12)
    who = ("whole", "summary", "interpretation", "unknown")
    head = "| construct | functions | complete | " + " | ".join(f"a call by {name}" for name in who) + " |"
    lines += ["", head, "|---" * (3 + len(who)) + "|"]
    for name in sorted({name for row, _ in functions for name in row.features}):
        having = [function for row, function in functions if name in row.features]
        good = sum(function.status == "complete" for function in having)
        counts = [sum(bool(function.by.get(each)) for function in having) for each in who]
        cells = " | ".join(map(str, counts))
        lines.append(f"| {name} | {len(having)} | {100 * good / len(having):.0f}% | {cells} |")
    return lines


# ---------------------------------------------------------------------------------------------------------- programs


def _programs(rows: Sequence[ProgramRow]) -> list[str]:
    """Runs of programs of several functions, and how bounds stood to what they counted."""
    runs = sum(row.runs for row in rows)
    functions, loops = sum(row.functions for row in rows), sum(row.loops for row in rows)
    head = (
        f"{_number(functions, 'function')}, {_number(loops, 'loop')}; "
        f"{_number(runs, 'run')}, {sum(row.iterations for row in rows)} iterations counted, "
        f"{sum(row.undefined for row in rows)} runs undefined and left out, {sum(row.cut for row in rows)} cut short, "
        f"{sum(row.interpreted for row in rows)} interpreted, too"
    )
    lines = [
        "",
        head,
        "runs: " + _counted(_sum(row.outcomes for row in rows)),
        "",
        "| bound | compared | tight | above | wrong | not evaluated | what it takes for granted is not so |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in sorted({kind for row in rows for kind in row.found}):
        counts = _sum(row.found.get(kind, {}) for row in rows)
        compared = sum(counts[verdict] for verdict in ("tight", "above", "below"))
        cells = (compared, *(counts[verdict] for verdict in ("tight", "above", "below", "unknown", "granted")))
        lines.append(f"| {kind} | {' | '.join(map(str, cells))} |")
    return lines


def _clean(rows: Sequence[CleanRow]) -> list[str]:
    """Runs that are clean, and what was compared with them."""
    programs, runs, clean = (sum(getattr(row, name) for row in rows) for name in ("programs", "runs", "clean"))
    by = Counter({name: sum(row.programs for row in rows if row.language == name) for name in ("c", "c++")})
    witness = sum(row.sanitized for row in rows)
    compared = _sum(row.compared for row in rows)
    head = f"{_number(programs, 'program')} ({_counted(by)}), {_number(runs, 'run')}, {_share(clean, runs)} of them"
    return [
        "",
        f"{head} clean; gcc's sanitizers were a witness for {witness} of {_number(len(rows), 'file')}",
        "runs that are not compared: " + (_counted(_sum(row.outcomes for row in rows)) or "none"),
        "compared: " + (_counted(compared) or "nothing"),
        *_table("what was asked, and came out | times", _sum(row.asked for row in rows)),
        *_table("the interpreter knows nothing of a run because | runs", _sum(row.unknown for row in rows), 12),
    ]


def _table(head: str, counts: Counter[str], most: int | None = None) -> list[str]:
    if not counts:
        return []
    return ["", f"| {head} |", "|---|---|", *(f"| {name} | {count} |" for name, count in counts.most_common(most))]


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in Counter(counts).most_common())


def _sum(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return total

"""What there is in a program, as HTML for notebooks: functions and loops, of which nothing has been asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from loopless.limits.report import MAX_ROWS
from loopless.queries.evaluation.evaluate import Evaluation
from loopless.queries.program import AnalyzedFunction, AnalyzedLoop, AnalyzedProgram
from loopless.report.evaluation import evaluation_text
from loopless.report.html import box, heading, note, refusal, row, table
from loopless.report.text import table as columns

_COLUMNS: Final = ("function", "loop", "name", "")


def program(shown: AnalyzedProgram) -> str:
    """The functions of a program, each with its loops."""
    return box([heading(", ".join(shown.files), _count(shown)), *_listed(shown.functions)])


def program_lines(shown: AnalyzedProgram) -> str:
    """The same as text: one line a function or loop, inner loops indented."""
    rows = [(name, line, loop) for name, line, loop, _ in _rows(shown.functions)]
    return columns([("function", "line", "loop"), *rows]) if rows else "no functions"


def function(shown: AnalyzedFunction) -> str:
    """A function and its loops."""
    return box([heading(shown.name, shown.place), *_listed([shown])])


def loop(shown: AnalyzedLoop) -> str:
    """A loop: where it stands, and in which loop."""
    id = shown.id
    parts = [heading(id.name, f"a loop of {id.function}")]
    parts.append(note("inside", [id.parent] if id.parent is not None else []))
    parts.append(note("inlined at", [id.inlined_from] if id.inlined_from is not None else []))
    return box([*parts, *([refusal(id.refused)] if id.refused is not None else [])])


def evaluation(found: Evaluation) -> str:
    """The result of one call."""
    first, *rest = evaluation_text(found).split("\n")
    return box([heading(first), *(note("", [line.strip()]) for line in rest)])


def _count(shown: AnalyzedProgram) -> str:
    functions, loops = len(shown.functions), sum(len(f.loops) for f in shown.functions)
    return f"{functions} function{'s' * (functions != 1)}, {loops} loop{'s' * (loops != 1)}"


def _listed(functions: Sequence[AnalyzedFunction]) -> Iterable[str]:
    rows = list(_rows(functions))
    if rows:
        yield table(_COLUMNS, [row([[cell] for cell in cells], words=(3,)) for cells in rows[:MAX_ROWS]])
    if len(rows) > MAX_ROWS:
        yield note("and", [f"{len(rows) - MAX_ROWS} more"])


def _rows(functions: Iterable[AnalyzedFunction]) -> Iterable[tuple[str, str, str, str]]:
    """Function, line, name and remark, one row a loop; a function without loops has a row of its own."""
    for shown in functions:
        if not shown.loops:
            line = str(shown.code.loc.line) if shown.code.loc is not None else ""
            yield shown.name, line, "", "no loops"
        for number, found in enumerate(shown.loops):
            id = found.id
            remark = f"inlined at {id.inlined_from}" if id.inlined_from is not None else ""
            if id.refused is not None:
                remark = f"{id.refused.reason.code} {id.refused.reason.label}"
            margin = "\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}" * (id.depth - 1)
            yield (shown.name if number == 0 else ""), f"{margin}line {id.line}", id.name, remark

"""The census of loop types, per file and in all, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loopless.project.survey import CensusLine, FileAnswers, count, distinct
from loopless.report.text import table


def census_table(files: Sequence[FileAnswers]) -> str:
    """One line a file and a total, in which a loop of a header counts once; the reasons why loops have no type stand
    below.
    """
    rows: list[tuple[str, ...]] = [("file", "loops", "type 1", "type 2", "type 3", "type 4", "untyped")]
    rows += [_row(file.file, count(file.answers)) if file.error is None else _unread(file.file) for file in files]
    total = count(distinct(files))
    if len(files) > 1:
        rows.append(_row(f"total of {len(files)} files", total))
    lines = [table(rows, right=range(1, 7))]
    if total.untyped:
        lines.append("untyped: " + ", ".join(f"{number} {reason}" for reason, number in total.untyped))
    unread = sum(file.error is not None for file in files)
    if unread:
        lines.append(f"not read: {unread} {'file' if unread == 1 else 'files'}")
    return "\n".join(lines)


def _row(name: str, line: CensusLine) -> tuple[str, ...]:
    return (name, str(line.loops), *map(str, line.types), str(line.without_type))


def _unread(name: str) -> tuple[str, ...]:
    return (name, *("-" for _ in range(6)))


def census_json(files: Sequence[FileAnswers]) -> dict[str, Any]:
    """The same for programs; files that could not be read are in the document's ``errors``."""
    return {
        "files": {file.file: _count(count(file.answers)) for file in files if file.error is None},
        "total": _count(count(distinct(files))),
    }


def _count(line: CensusLine) -> dict[str, Any]:
    types = {f"type{number}": amount for number, amount in enumerate(line.types, start=1)}
    return {"loops": line.loops, **types, "untyped": dict(line.untyped)}

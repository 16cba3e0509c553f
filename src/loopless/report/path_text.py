"""The paths through a loop's body, as text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from loopless.paths import LoopPaths, Path
from loopless.queries.loops.answer import LoopAnswer
from loopless.report.brevity import more
from loopless.report.exits import exit_words
from loopless.report.names import Names

_WIDTH: Final = 120


def told_body(answer: LoopAnswer) -> LoopPaths | None:
    """The paths that say what one iteration does, where the summary does not say what many come to: it is
    over-approximate, or leaves some variables out. None where it says all.
    """
    if answer.partly is not None:
        return answer.body
    approximated = answer.summary is not None and answer.summary.approximation is not None
    return answer.paths if approximated else None


def iteration_lines(body: LoopPaths, names: Names, most: int) -> list[str]:
    """What an iteration does on each of at most so many paths, undefined behaviour aside, which regions tell."""
    paths = [path for path in body.all if path.exit is None or path.exit.kind != "undefined"]
    if not body.iterative:
        return []
    lines = ["  one iteration", *path_lines(paths[:most], names)]
    return [*lines, *more("    and {} more {}", len(paths) - most, "path", "--paths")]


def path_lines(paths: Iterable[Path], names: Names) -> list[str]:
    """Each path by its name: under which condition, and what it does."""
    rows = []
    for path in paths:
        effect = names.effects((var, path.update[var]) for var in sorted(path.update, key=lambda var: var.key))
        if path.result is not None:
            effect.append(f"returns {names.text(path.result)}")
        if path.exit is not None:
            effect.append(exit_words(path.exit))
        rows.append((path.id, names.text(path.condition), ", ".join(effect) or "changes nothing"))
    width = max((len(id) for id, _, _ in rows), default=0)
    lines = []
    for id, condition, shown in rows:
        line = f"    {id:<{width}}  if {condition}: {shown}"
        if len(line) > _WIDTH:
            lines += [f"    {id:<{width}}  if {condition}:", f"    {'':<{width}}    {shown}"]
        else:
            lines.append(line)
    return lines

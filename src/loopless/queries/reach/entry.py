"""The function in which runs begin that are to lead to a target."""

from __future__ import annotations

from pathlib import Path

from loopless.errors import UsageError
from loopless.queries.program import AnalyzedProgram, is_called
from loopless.source.targets import SourceTarget, out_of_sight
from loopless.source.vocabulary import TARGET


def entry_of(program: AnalyzedProgram, target: SourceTarget, function: str | None) -> str:
    """The name in the module of ``function``; where it is None, ``main`` or, without one, what the target is in.

    Raises:
        UsageError: there is no such function, or no code at the target.
    """
    module = program.source.module
    defined = [one.name for one in module.defined()]
    holding = [one.name for one in module.defined() if any(i.callee_name == TARGET for i in one.instructions())]
    if not holding:
        raise UsageError(_nothing_there(program, target))
    hidden = [name for name in holding if out_of_sight(name)]
    if hidden:
        raise UsageError(f"{target} is in {hidden[0]}, whose name says what it means: its body is not followed")
    if function is not None:
        return named(program, function)
    if "main" in defined:
        return "main"
    if len(holding) > 1:
        raise UsageError(f"{target} is in several functions; choose one with --function: {', '.join(holding)}")
    return holding[0]


def named(program: AnalyzedProgram, function: str) -> str:
    """The name in the module of the function that is called so. Raises ``UsageError`` where there is not one."""
    defined = list(program.source.module.defined())
    found = [one for one in defined if function == one.name]
    found = found or [one for one in defined if function == one.source_name]
    found = found or [one for one in defined if is_called(one, function)]
    if len(found) > 1:
        shown = ", ".join(one.source_name if one.source_name != function else one.name for one in found)
        raise UsageError(f"there are several functions {function}; name one of {shown}")
    if not found:
        known = ", ".join(one.source_name for one in defined) or "none"
        raise UsageError(f"there is no function {function} in {', '.join(program.files)}; its functions: {known}")
    return found[0].name


def begun_with(program: AnalyzedProgram, function: str | None) -> str:
    """The name in the module of ``function``; where it is None, ``main``, or the only function that there is.

    Raises:
        UsageError: there is no such function, or one has to be chosen.
    """
    if function is not None:
        return named(program, function)
    defined = list(program.source.module.defined())
    names = [one.name for one in defined]
    if "main" in names or len(names) == 1:
        return "main" if "main" in names else names[0]
    known = ", ".join(one.source_name for one in defined) or "none"
    raise UsageError(f"there is no main in {', '.join(program.files)}; choose with --function: {known}")


def _nothing_there(program: AnalyzedProgram, target: SourceTarget) -> str:
    if target.line is None:
        return f"nothing calls {target.callee} in {', '.join(program.files)}"
    lines = {
        loc.line
        for one in program.source.module.defined()
        for instruction in one.instructions()
        if (loc := instruction.loc) is not None and Path(loc.file).name == Path(target.file).name
    }
    near = sorted(lines, key=lambda line: (abs(line - (target.line or 0)), line))[:3]
    beside = f"; lines near it that have some: {', '.join(map(str, sorted(near)))}" if near else ""
    return f"{target.file}:{target.line} has no code{beside}"

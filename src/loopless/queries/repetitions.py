"""Functions of one program that are the same text, compiled with several of its files: ``static`` ones of a header that
these include. Their loops are the same loops of the source.
"""

from __future__ import annotations

import re
from typing import Final

from loopless.source import ir

_NAME: Final = re.compile(r"name='([^']*)'")
_SUFFIX: Final = re.compile(r"\.\d+$")
"""What linking adds to the names of functions, variables and types that another file has, too."""


def repetitions(module: ir.Module) -> frozenset[str]:
    """The names of the functions that stand at the place of one before them and do the same.

    Macros can make different functions of one text; these are no repetitions.
    """
    alike: dict[tuple[str, str], list[ir.Function]] = {}
    for function in module.defined():
        if function.loc is not None:
            alike.setdefault((function.source_name, str(function.loc)), []).append(function)
    found: list[str] = []
    for functions in alike.values():
        if len(functions) > 1:
            first = {_code(function, module): function.name for function in reversed(functions)}
            found += [function.name for function in functions if function.name not in first.values()]
    return frozenset(found)


def _code(function: ir.Function, module: ir.Module) -> str:
    """The instructions of a function as text, in which names are those before linking."""

    def name(m: re.Match[str]) -> str:
        named, variable = module.functions.get(m[1]), module.globals.get(m[1])
        if named is not None:
            return f"{named.source_name} {named.loc}"
        if variable is not None and variable.debug is not None:
            return f"{variable.debug.name} {variable.debug.declared}"
        if variable is not None and variable.initializer is not None:
            return repr(variable.initializer)
        return _SUFFIX.sub("", m[1])

    found: list[str] = []
    for block in function.blocks:
        found += [block.label, *(_NAME.sub(name, repr(_parts(i))) for i in block.code())]
    return "\n".join(found)


def _parts(i: ir.Instruction) -> tuple[object, ...]:
    values = i.result, i.type, i.operands, i.callee, i.incoming, i.gep, i.access
    return (i.op, *values, sorted(i.flags), i.predicate, i.cases, i.targets, i.indices, str(i.loc), i.text)

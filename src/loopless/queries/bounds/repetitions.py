"""Functions of one program that are the same text, compiled with several of its files: ``static`` ones of a header that
these include. Their loops are the same loops of the source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from loopless.patterns import pattern
from loopless.source import ir

_NAME: Final = pattern(r"name='([^']*)'")
_SUFFIX: Final = pattern(r"\.\d+$")
"""What linking adds to the names of functions, variables and types that another file has, too."""


def repetitions(module: ir.Module) -> frozenset[str]:
    """The names of the functions that stand at the place of one before them and do the same.

    Macros can make different functions of one text; these are no repetitions, nor is what calls them.
    """
    first: dict[tuple[str, str], str] = {}
    places = {f.name: (f.source_name, str(f.loc)) for f in module.defined() if f.loc is not None}
    same = {name: first.setdefault(place, name) for name, place in places.items()}
    while True:
        shared = {name for name, other in same.items() if name != other}
        alike = shared | {same[name] for name in shared}
        codes = {name: (same[name], _code(module.functions[name], module, same)) for name in alike}
        firsts: dict[tuple[str, str], str] = {}
        refined = {name: firsts.setdefault(codes[name], name) if name in codes else name for name in same}
        if refined == same:
            return frozenset(shared)
        same = refined


def _code(function: ir.SourceFunction, module: ir.Module, same: Mapping[str, str]) -> str:
    """The instructions of a function as text, in which names are those before linking; ``same``: by the names of
    functions, that of the one that they are taken for.
    """

    def name(m: re.Match[str]) -> str:
        variable = module.globals.get(m[1])
        if m[1] in module.functions:
            return same.get(m[1], m[1])
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

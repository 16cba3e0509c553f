"""What memory holds when a program begins, and what of it never changes.

A run begins in ``main``: nothing of the program runs before, where it has no constructors, so globals have the values
that their definitions give them. A global that nothing of the program writes has that value in every function; where it
is an array, a read of it is a read of a table of constants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from loopless import terms as t
from loopless.flowgraph.callees.call_graph import CallGraph
from loopless.flowgraph.memory.cells import OUTSIDE
from loopless.flowgraph.memory.known_contents import with_tables
from loopless.flowgraph.memory.mod_ref import facts_of, is_internal
from loopless.flowgraph.memory.pointees import STANDING_IN
from loopless.flowgraph.model import (
    Assign,
    Fill,
    Flowgraph,
    Kind,
    MemoryObject,
    Pointer,
    Statement,
    VariableInfo,
)
from loopless.source import ir

CONSTRUCTORS: Final = ("llvm.global_ctors", "llvm.global_dtors")
"""What a module calls before ``main``, and after it."""
_REPLACEABLE: Final = (*ir.REPLACEABLE, "common", "available_externally")
"""Another module may define these otherwise."""


def begins_at(module: ir.Module, name: str) -> bool:
    """Whether a run of a program begins with a call of this function, before which nothing else has run."""
    return name == "main" and CONSTRUCTORS[0] not in module.globals


def is_defined_here(variable: ir.GlobalVar) -> bool:
    """Whether a global has the value of its definition when a program of this module alone begins."""
    plain = not variable.thread_local and not variable.externally_initialized
    return plain and variable.initializer is not None and not variable.linkage.startswith(_REPLACEABLE)


def never_written(module: ir.Module, *, whole: bool) -> frozenset[str]:
    """The globals with a definition that nothing of a program writes.

    ``whole``: the module is the whole program, but for functions that it declares and does not define; else only those
    count that no other module can name.
    """
    facts = facts_of(module)
    written: set[str] = set()
    anything = False
    strange = any(effects.strange for effects in facts.effects.values()) and not (whole and _is_closed(module))
    for effects in facts.effects.values():
        written |= {cell.base.name for cell in effects.writes if cell.base.kind == "global"}
        outside = any(cell.base.kind in (OUTSIDE.kind, *STANDING_IN) for cell in effects.writes)
        anything = anything or strange or outside
    if strange:
        written |= {cell.base.name for cell in (*facts.strange.writes, *facts.strange.main)}
    return frozenset(
        name
        for name, variable in module.globals.items()
        if is_defined_here(variable)
        and name not in written
        and (variable.constant or name not in facts.exposed or (whole and not anything))
        and (whole or is_internal(variable))
        and not name.startswith("llvm.")
    )


def _is_closed(module: ir.Module) -> bool:
    """Whether nothing but functions of the module is called, and of the library those of which all is known: then what
    calls through pointers write some function of the module writes.
    """
    reach = CallGraph(module)
    calls = [i for f in module.defined() for i in f.instructions() if i.op in ("call", "invoke", "callbr")]
    assembly = any(isinstance(call.callee, ir.OtherConst) for call in calls)
    return not (reach.strangers or assembly) and all(reach.target(call)[1] in ("", "a pointer") for call in calls)


def begun(
    graph: Flowgraph, module: ir.Module, *, first: bool, fixed: frozenset[str], free: frozenset[str] = frozenset()
) -> Flowgraph:
    """The function with the values that globals have at its beginning: of all where a run begins with it (``first``),
    else of those that are never written (``fixed``); reads of arrays among these become tables. Nothing is said of
    those that are ``free``.
    """
    if module.layout.big_endian:
        return graph
    known = {name for name, variable in module.globals.items() if is_defined_here(variable)} if first else fixed
    known = known - free
    contents = {number: (found.content, found) for number, found in graph.objects.items() if found.symbol in known}
    plain = {n: content for n, (content, found) in contents.items() if content is not None and not found.relocations}
    never = {n: content for n, content in plain.items() if graph.objects[n].symbol in fixed}
    graph = with_tables(graph, {n: content for n, content in plain.items() if n not in never}, never)
    cleared = _zeros(graph, {n: content for n, content in plain.items() if n not in never}) if first else ()
    start = (*_values(graph, contents), *cleared)
    entry = graph.blocks[graph.entry]
    blocks = {**graph.blocks, graph.entry: replace(entry, statements=(*start, *entry.statements))}
    return replace(graph, blocks=blocks)


Contents = Mapping[int, tuple[bytes | None, MemoryObject]]


def _zeros(graph: Flowgraph, contents: Mapping[int, bytes]) -> Iterable[Statement]:
    """That objects hold zeros, of those of which no part is a variable."""
    parts = {info.object for info in graph.variables.values()}
    for number, content in contents.items():
        if content and not any(content) and number not in parts and not graph.objects[number].constant:
            place = Pointer(t.const(number), t.ZERO)
            yield Fill(place, t.ZERO, t.const(len(content)), graph.loc, frozenset((number,)))


def _values(graph: Flowgraph, contents: Contents) -> Iterable[Statement]:
    """The assignments of the first values of variables that stand for parts of these objects."""
    numbers = {found.symbol: number for number, found in graph.objects.items() if found.symbol}
    pairs: dict[tuple[int, int], dict[str, t.Var]] = {}
    for var, info in graph.variables.items():
        if info.kind is not Kind.GLOBAL or info.object is None or info.object not in contents:
            continue
        if info.pointer_part:
            pairs.setdefault((info.object, info.offset), {})[info.pointer_part] = var
            continue
        value = _number(var, info, contents)
        if value is not None:
            yield Assign(var, t.const(value))
    for (number, offset), parts in pairs.items():
        found = _pointer(contents[number], offset, graph.variables[parts["offset"]].size, numbers)
        if found is not None:
            yield from (Assign(parts[part], t.const(value)) for part, value in found.items() if part in parts)


def _number(var: t.Var, info: VariableInfo, contents: Contents) -> int | None:
    assert info.object is not None
    content, found = contents[info.object]
    if content is None or info.offset < 0 or info.offset + info.size > len(content) or not info.size:
        return None
    if any(at < info.offset + info.size and info.offset < at + 8 for at, _, _ in found.relocations):
        return None
    value = int.from_bytes(content[info.offset : info.offset + info.size], "little")
    if var.type.width is None:
        return t.IntType(8 * info.size).wrap(value)
    if var.type.width == 1:
        return value if value in (0, 1) else None
    return var.type.wrap(value) if var.type.width == 8 * info.size else None


def _pointer(
    known: tuple[bytes | None, MemoryObject], offset: int, size: int, numbers: Mapping[str, int]
) -> dict[str, int] | None:
    """The object and the offset of a pointer's first value."""
    content, found = known
    if content is None or offset + size > len(content):
        return None
    for at, symbol, behind in found.relocations:
        if at == offset:
            return {"object": numbers[symbol], "offset": behind} if symbol in numbers else None
    if any(at < offset + size and offset < at + size for at, _, _ in found.relocations):
        return None
    return {"object": 0, "offset": 0} if not any(content[offset : offset + size]) else None

"""The arrays in what a function reads, as debug records have them, for names as C has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from loopless.flowgraph.model import MemoryObject
from loopless.flowgraph.places import Base
from loopless.flowgraph.source_types import type_in
from loopless.queries.program import Function
from loopless.refusals import Refused
from loopless.source.debug import DebugType, DebugTypes, Kind
from loopless.terms import Rows

_MOST_MEMBERS: Final = 200
"""Structures of more members are not looked into. A guess."""
_KINDS: Final = ("local", "global", "parameter")


def rows_in(function: Function) -> dict[str, tuple[Rows, ...]]:
    """The arrays of structures, and those in structures, of the objects that the function touches, by their names."""
    graph = function.graph()
    if isinstance(graph, Refused):
        return {}
    module = function.program.source.inlined
    code = module.functions[function.code.name]
    pointer = module.pointer_bits // 8  # a parameter has the name of the variable that holds it
    held = [o for o in graph.objects.values() if o.name and o.kind in _KINDS and (o.size is None or o.size > pointer)]
    count = Counter(found.name for found in held)
    found: dict[str, tuple[Rows, ...]] = {}
    for one in held:
        own = type_in(Base(one.kind, one.symbol or one.name), code, module, {}) if count[one.name] == 1 else None
        rows = () if own is None else tuple(_rows(module.debug_types, own, one))
        if rows:
            found[one.name] = rows
    return found


def _rows(types: DebugTypes, type: DebugType, held: MemoryObject) -> Iterator[Rows]:
    """The arrays in an object of a type; a pointer points to as many of its type as there are."""
    element = types.element(type) if type.kind is Kind.ARRAY else type
    if element is None or element.kind is not Kind.STRUCT or not element.bits or len(type.counts) > 1:
        return
    if type.kind is not Kind.ARRAY:
        for member in types.members(element):
            inner = types.element(member.type) if member.type.kind is Kind.ARRAY else None
            if member.name and inner is not None and inner.bits and len(member.type.counts) == 1:
                head = f"{'->' if held.kind == 'parameter' else '.'}{member.name}"
                start, end = member.offset // 8, (member.offset + member.bits) // 8
                yield Rows(start, end, inner.bits // 8, head, _members(types, inner))
    if type.kind is Kind.ARRAY or held.kind == "parameter":
        yield Rows(0, None, element.bits // 8, "", _members(types, element))


def _members(types: DebugTypes, element: DebugType) -> dict[tuple[int, int], str]:
    """The members of a structure that are no structures or arrays; of anything else the whole."""
    if element.kind is not Kind.STRUCT:
        return {(0, element.bits // 8): ""}
    found: dict[tuple[int, int], str] = {}
    for member in types.members(element)[:_MOST_MEMBERS]:
        if member.name and not member.bitfield and member.type.kind not in (Kind.STRUCT, Kind.ARRAY):
            found.setdefault((member.offset // 8, member.bits // 8), f".{member.name}")
    return found

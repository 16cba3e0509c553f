"""The arguments of a call, or of the adapter of a function, as the process of native runs takes them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loopless.check.oracle.adapters import RESULT
from loopless.check.oracle.signature import CType, Declared, Parameter, Signature
from loopless.queries.call_values.reached import GivenValue, MemoryContent
from loopless.queries.call_values.route_inputs import FORMATS


def wired(arguments: Sequence[GivenValue], signature: Signature) -> list[Any]:
    """One value for each parameter of the signature."""
    if not signature.declared:
        places = {given.name: number for number, given in enumerate(arguments)}
        return [_wired(given, places) for given in arguments]
    groups: list[tuple[int, Declared, GivenValue | None]] = []
    waiting, at = iter(arguments), 0
    for one in signature.declared:
        groups.append((at, one, None if signature.params[at] == RESULT else next(waiting)))
        at += one.parts
    places = {given.name: at for at, _, given in groups if given is not None and not given.by_value}
    for at, _, given in groups:
        if given is not None and given.by_value and given.memory is not None:
            places |= {one.name: at + one.offset // 8 for one in given.memory.pointers}
    found: list[Any] = []
    for at, one, given in groups:
        types = signature.params[at : at + one.parts]
        if given is None:
            found.append(None)
        elif given.by_value and given.memory is not None and not one.in_memory:
            found += _parts(given.memory, types, places)
        else:
            found.append(_wired(given, places))
    return found


def _parts(memory: MemoryContent, types: Sequence[Parameter], places: Mapping[str, int]) -> Iterator[Any]:
    """The eightbytes of a structure."""
    for index, type_ in enumerate(types):
        at = 8 * index
        if isinstance(type_, CType):
            yield type_.wrap(int.from_bytes(memory.content[at : at + type_.size], "little"))
        else:
            led = next((one for one in memory.pointers if one.offset == at), None)
            yield None if led is None else _wired_memory(led.memory, places)


def _wired(given: GivenValue, places: Mapping[str, int]) -> Any:
    if given.memory is not None:
        return _wired_memory(given.memory, places)
    if isinstance(given.value, float):
        return int.from_bytes(struct.pack(FORMATS[given.type], given.value), "little")
    return given.listed if given.value is None else given.value


def _wired_memory(memory: MemoryContent, places: Mapping[str, int]) -> dict[str, Any]:
    """Memory for the process of native runs; ``places``: the numbers of arguments by their names."""
    behind: list[list[Any]] = []
    for one in memory.pointers:
        if one.same:
            behind.append([one.offset, {"same": places.get(one.same, one.same)}, one.at])
        else:
            behind.append([one.offset, {**_wired_memory(one.memory, places), "name": one.name}, one.at])
    return {"content": memory.content.hex(), "pointers": behind, "start": memory.start}

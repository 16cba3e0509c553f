"""The initial bytes of a global variable."""

from __future__ import annotations

from loopless.limits.flowgraph import MAX_INITIALIZER_BYTES
from loopless.source import ir

Relocations = tuple[tuple[int, str, int], ...]


def initial_content(module: ir.Module, variable: ir.GlobalVar) -> tuple[bytes | None, Relocations]:
    """The bytes and the pointers in them, (None, ()) where the initializer is not plain data or is very large."""
    size = module.layout.size_of(variable.type)
    if variable.initializer is None or size > MAX_INITIALIZER_BYTES:
        return None, ()
    data = bytearray(size)
    relocations: list[tuple[int, str, int]] = []
    if not _fill(module, variable.initializer, variable.type, data, 0, relocations):
        return None, ()
    return bytes(data), tuple(relocations)


def _fill(
    module: ir.Module,
    value: ir.Value,
    type: ir.Type,
    data: bytearray,
    at: int,
    relocations: list[tuple[int, str, int]],
) -> bool:
    match value:
        case ir.ZeroInit() | ir.NullPtr() | ir.Undef() | ir.Poison():
            return True
        case ir.IntConst():
            size = module.layout.store_size(type)
            data[at : at + size] = value.unsigned.to_bytes(size, "little")
            return True
        case ir.BytesConst():
            data[at : at + len(value.data)] = value.data
            return True
        case ir.GlobalRef():
            relocations.append((at, value.name, 0))
            return True
        case ir.AddressOf():
            relocations.append((at, value.name, value.offset))
            return True
        case ir.ConstantAggregate():
            return _fill_aggregate(module, value, data, at, relocations)
        case _:
            return False


def _fill_aggregate(
    module: ir.Module,
    value: ir.ConstantAggregate,
    data: bytearray,
    at: int,
    relocations: list[tuple[int, str, int]],
) -> bool:
    match value.type:
        case ir.ArrayT(element=element) | ir.VectorT(element=element):
            step = module.layout.size_of(element)
            return all(
                _fill(module, part, element, data, at + i * step, relocations) for i, part in enumerate(value.elements)
            )
        case ir.StructT() as struct:
            return all(
                _fill(module, part, type, data, at + offset, relocations)
                for part, type, offset in zip(
                    value.elements, struct.fields, module.layout.offsets_of(struct), strict=True
                )
            )
        case _:
            return False

"""Objects of interpreted runs: bytes, in which pointers are stored as what they are.

A :class:`Storage` is one object. Its bytes are initialised or not; a pointer that is stored is kept as the object and
the offset that it points to, so its bytes have no numbers: reading them as an integer ends the run as ``unknown``. Byte
order is little-endian, as on all targets that the source package compiles for.
"""

from __future__ import annotations

from dataclasses import field

from loopless.check.interpreter.values import MissingValue, Stop, Value
from loopless.flowgraph.model import MemoryObject
from loopless.limits.check import MAX_OBJECT_BYTES
from loopless.records import dataclass

_UNSET, _SET, _OPAQUE = 0, 1, 2


@dataclass(slots=True, eq=False)
class Storage:
    """One object, equal to itself only. ``data`` holds the bytes, ``mask`` says of each whether it is unset, set, or
    part of a ``cell``.

    ``cells``: by offset, what is stored there that is not bytes: a pointer (storage, offset, size) or an integer of ℤ
    outside its type (None, value, size). ``holes`` counts the bytes that are not set; size -1: nothing is known.
    """

    name: str
    data: bytearray
    mask: bytearray
    holes: int
    size: int
    constant: bool = False
    dead: str = ""
    symbol: str = ""
    cells: dict[int, tuple[Storage | None, int, int]] = field(default_factory=dict)
    unknown: dict[int, str] = field(default_factory=dict)
    """By offset, why the value that was stored in a byte is not known."""

    def content(self) -> Content:
        """A copy of everything that may change."""
        return bytes(self.data), bytes(self.mask) if self.holes else b"", dict(self.cells)


def blank(name: str, size: int, *, zeroed: bool = False, constant: bool = False) -> Storage:
    """A storage of ``size`` bytes, uninitialised unless ``zeroed``."""
    if size > MAX_OBJECT_BYTES:
        raise Stop("unknown", f"{name} has {size} bytes, more than the {MAX_OBJECT_BYTES} that the interpreter holds")
    mask = bytearray(b"\x01" * size if zeroed else size)
    return Storage(name, bytearray(size), mask, 0 if zeroed else size, size, constant)


Content = tuple[bytes, bytes, dict[int, tuple[Storage | None, int, int]]]
"""What an object holds."""


def initialise(storage: Storage, described: MemoryObject) -> None:
    """Give a global its bytes at the start of the program (its pointers aside)."""
    assert described.size is not None
    assert described.content is not None
    if described.size > MAX_OBJECT_BYTES:
        raise Stop("unknown", f"{described.name} has {described.size} bytes, more than the interpreter holds")
    storage.name = described.name
    storage.data = bytearray(described.content.ljust(described.size, b"\0"))
    storage.mask = bytearray((_SET,)) * described.size
    storage.holes = 0
    storage.size = described.size
    storage.constant = described.constant


def check_range(storage: Storage, at: int, size: int) -> None:
    """End the run unless the bytes exist."""
    if storage.dead:
        raise Stop("undefined", f"access to {storage.name}, {storage.dead}")
    if storage.size < 0:
        raise Stop("unknown", f"the content of {storage.name} is not known")
    if at < 0 or at + size > storage.size:
        raise Stop("undefined", f"access to byte {at} of {storage.name}, which has {storage.size} bytes")


def load_slowly(storage: Storage, at: int, size: int, signed: bool) -> int:  # noqa: FBT001
    """The integer of ``size`` bytes at ``at``, with all checks."""
    return known(read_slowly(storage, at, size, signed))


def known(value: Value) -> int:
    """The number that a value is; ends the run where it is not known."""
    if isinstance(value, MissingValue):
        value.refuse()
    return value


def read_slowly(storage: Storage, at: int, size: int, signed: bool) -> Value:  # noqa: FBT001
    """The integer of ``size`` bytes at ``at``, unknown where it is not initialised, with all checks."""
    if size == 0:
        raise Stop("unknown", f"an access to {storage.name} has no size")
    check_range(storage, at, size)
    mask = storage.mask[at : at + size]
    if _OPAQUE in mask:
        cell = storage.cells.get(at)
        if cell is not None and cell[0] is None and cell[2] == size:
            return cell[1]
        raise Stop("unknown", f"reads bytes of a pointer in {storage.name} as an integer")
    if _UNSET in mask:
        byte = at + mask.index(_UNSET)
        never = f"reads uninitialised memory: byte {byte} of {storage.name}"
        return MissingValue(storage.unknown.get(byte, never))
    return int.from_bytes(storage.data[at : at + size], "little", signed=signed)


def store_slowly(storage: Storage, at: int, size: int, value: Value, signed: bool | None = None) -> None:  # noqa: FBT001
    """An integer (or an unknown value) goes to ``at``, with all checks.

    With ``signed`` an integer outside that range of its size is kept as it is (it is one of ℤ); without, all integers
    that fit the bytes in either reading become bytes.
    """
    if size == 0:
        raise Stop("unknown", f"an access to {storage.name} has no size")
    _prepare_write(storage, at, size)
    if isinstance(value, MissingValue):
        _set_mask(storage, at, size, _UNSET)
        storage.unknown.update(dict.fromkeys(range(at, at + size), value.reason))
    elif (0 if signed is False else -1 << 8 * size - 1) <= value < 1 << 8 * size - bool(signed):
        storage.data[at : at + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        _set_mask(storage, at, size, _SET)
    else:
        put_cell(storage, at, (None, value, size))


def load_pointer_from(storage: Storage, at: int, size: int) -> tuple[Storage | None, int]:
    """The pointer at ``at``; bytes that no pointer was stored to are a number, 0 the null pointer."""
    check_range(storage, at, size)
    cell = storage.cells.get(at)
    if cell is not None and cell[0] is not None and cell[2] == size:
        return cell[0], cell[1]
    if _OPAQUE in storage.mask[at : at + size]:
        raise Stop("unknown", f"reads a part of a pointer in {storage.name}")
    return None, load_slowly(storage, at, size, False)


def store_cell(storage: Storage, at: int, cell: tuple[Storage | None, int, int]) -> None:
    """A pointer goes to ``at``, with all checks."""
    _prepare_write(storage, at, cell[2])
    put_cell(storage, at, cell)


def put_cell(storage: Storage, at: int, cell: tuple[Storage | None, int, int]) -> None:
    """A pointer, or an integer of ℤ, is at ``at``, whether or not it can be written there."""
    storage.data[at : at + cell[2]] = bytes(cell[2])
    storage.cells[at] = cell
    _set_mask(storage, at, cell[2], _OPAQUE)


def _prepare_write(storage: Storage, at: int, size: int) -> None:
    """Check the range, and break the cells that the write overlaps: what is left of them is no value any more."""
    check_range(storage, at, size)
    if storage.constant:
        raise Stop("undefined", f"writes to {storage.name}, which is constant")
    if storage.cells:
        for start in [s for s, cell in storage.cells.items() if s < at + size and at < s + cell[2]]:
            del storage.cells[start]
    for byte in range(at, at + size) if storage.unknown else ():
        storage.unknown.pop(byte, None)


def _set_mask(storage: Storage, at: int, size: int, state: int) -> None:
    storage.holes += storage.mask.count(_SET, at, at + size) - (size if state == _SET else 0)
    storage.mask[at : at + size] = bytes((state,)) * size


def copy_bytes(target: Storage, start: int, source: Storage, at: int, length: int) -> None:
    """``length`` bytes go from ``source`` to ``target``, pointers that lie wholly in them as pointers."""
    check_range(source, at, length)
    data, mask = bytes(source.data[at : at + length]), bytes(source.mask[at : at + length])
    cells = {s - at: c for s, c in source.cells.items() if at <= s and s + c[2] <= at + length}
    _prepare_write(target, start, length)
    target.data[start : start + length] = data
    target.holes += target.mask.count(_SET, start, start + length) - mask.count(_SET)
    target.mask[start : start + length] = mask
    for offset, why in list(source.unknown.items()):
        if at <= offset < at + length:
            target.unknown[offset - at + start] = why
    for offset, cell in cells.items():
        target.cells[start + offset] = cell


def fill_bytes(storage: Storage, at: int, byte: int, length: int) -> None:
    """``length`` bytes become ``byte``, with all checks."""
    _prepare_write(storage, at, length)
    storage.data[at : at + length] = bytes((byte & 255,)) * length
    _set_mask(storage, at, length, _SET)

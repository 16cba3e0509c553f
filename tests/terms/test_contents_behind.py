"""What memory holds behind contents, element by element, against their meaning byte by byte."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from loopless import terms as t
from loopless.terms.contents import UnknownElement, placed, reader_behind
from loopless.terms.memory_names import bytes_of

N = t.Var("n", t.IntType(32))
J = t.INDEX
TYPES = (t.IntType(8), t.IntType(8, signed=False), t.IntType(16), t.IntType(32), t.IntType(32, signed=False))
BYTE = t.IntType(8, signed=False)


def before(array: str, offset: int, type: t.IntType) -> int:
    """A memory that differs from byte to byte."""
    size = bytes_of(type)
    assert size is not None
    held = bytes((37 * at + 11 * len(array)) % 251 for at in range(offset, offset + size))
    return type.wrap(int.from_bytes(held, "little"))


def layers(chance: random.Random) -> t.Layers:
    """Layers that overlap in all ways, some without a value."""

    def one() -> t.Layer:
        type = chance.choice(TYPES)
        size = bytes_of(type)
        assert size is not None
        low = chance.randint(-2, 5)
        where = chance.choice(
            (
                J.ge(low) & J.lt(N + chance.randint(-2, 3)),
                J.eq(low),
                (2 * J).le(N),
                J.ge(0) & J.ne(low),
                t.mod(J, t.const(2)).eq(0),
            )
        )
        position = t.position()
        prefix = t.wrap(t.total(position, J + 1, t.read("b", 4 * position, TYPES[3])), type)
        value = chance.choice((t.wrap(3 * J + N, type), prefix, t.read("a", size * J, type), None))
        return t.Layer(type, t.const(chance.randint(-3, 6)), size + chance.randint(0, 3), where, value)

    return tuple(one() for _ in range(chance.randint(1, 3)))


def byte_at(held: t.Layers, values: Mapping[t.Var, int], at: int) -> int | None:
    """The byte that the newest layer gives which has it; None where that is not told."""
    for layer in held:
        for index in range(-30, 60):
            inside = at - t.evaluate(layer.start, values) - layer.stride * index
            there = {**values, J: index}
            if 0 <= inside < layer.size and t.holds(layer.where, there, before):
                if layer.value is None:
                    return None
                value = t.evaluate(layer.value, there, before)
                return (
                    value.to_bytes(8, "little", signed=True)[inside]
                    if value < 0
                    else value.to_bytes(8, "little")[inside]
                )
    return before("a", at, BYTE)


@pytest.mark.parametrize("seed", range(60))
def test_elements_are_the_bytes_of_the_newest_layers(seed):
    chance = random.Random(seed)
    held, values = layers(chance), {N: chance.randint(-1, 9)}
    reader = reader_behind({"a": held}, values, before)
    for at in range(-4, 24):
        type = chance.choice(TYPES)
        size = bytes_of(type)
        assert size is not None
        expected = [byte_at(held, values, at + one) for one in range(size)]
        if None in expected:
            with pytest.raises(UnknownElement):
                reader("a", at, type)
        else:
            known = bytes(byte for byte in expected if byte is not None)
            assert reader("a", at, type) == type.wrap(int.from_bytes(known, "little"))


def test_prefixes_are_found_in_one_pass():
    """So many elements of a prefix sum take as many reads, not as many for each."""
    count, reads = 3000, 0

    def counted(array: str, offset: int, type: t.IntType) -> int:
        nonlocal reads
        reads += 1
        return offset // 4

    position = t.position()
    prefix = t.total(position, J + 1, t.read("b", 4 * position, TYPES[3]))
    contents = {"a": (t.Layer(TYPES[3], t.ZERO, 4, J.ge(0) & J.lt(N), prefix),)}
    reader = reader_behind(contents, {N: count}, counted)
    found = [reader("a", 4 * at, TYPES[3]) for at in range(count)]
    assert found == [at * (at + 1) // 2 for at in range(count)]
    assert reads <= 2 * count


def test_nothing_is_known_of_objects_that_get_one_name():
    first, second = (t.Layer(TYPES[3], t.ZERO, 4, J.eq(0), t.const(value)) for value in (1, 2))
    found = placed({"p": (first,), "q": (second,)}, {}, {"p": "a", "q": "a"})
    with pytest.raises(UnknownElement):
        reader_behind(found, {}, before)("a", 0, TYPES[3])
    apart = placed({"p": (first,), "q": (second,)}, {}, {"p": "a"})
    assert reader_behind(apart, {}, before)("a", 0, TYPES[3]) == 1

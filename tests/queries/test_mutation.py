"""Inputs next to those of a test: they fit the parameters, and what is told of them is what they are."""

from __future__ import annotations

import random

from loopless.check.oracle.signature import CType, Declared, Leaf, Opaque, PointerType, Signature
from loopless.queries.call_values.mutation import Mutator, constants
from loopless.queries.call_values.reached import (
    Field,
    GivenValue,
    Inputs,
    MemoryContent,
    PointerIn,
    RepeatedValue,
    runs_of,
    unrolled,
)
from loopless.queries.call_values.route_inputs import structure
from loopless.source import load

CHAR, BYTE, INT = CType("char", 8, signed=True), CType("unsigned char", 8, signed=False), CType("int", 32, signed=True)


def drawn(inputs: Inputs, signature: Signature, numbers=(59, 70001), count=400):
    mutator = Mutator(signature, numbers, random.Random(7))
    return [mutator.next_to(inputs) for _ in range(count)]


def test_integers_and_elements_fit_their_types():
    inputs = Inputs(
        "f",
        (
            GivenValue("c", "unsigned char", 255),
            GivenValue("s", "char", elements=runs_of(b"ab=")),
            GivenValue("n", "int", 3),
        ),
    )
    found = drawn(inputs, Signature((BYTE, PointerType(CHAR), INT), INT))
    assert all(0 <= one.arguments[0].value <= 255 for one in found)
    assert all(-128 <= value <= 127 for one in found for value in unrolled(one.arguments[1].elements))
    assert {0, 254, 59} <= {one.arguments[0].value for one in found}
    assert 70001 in {one.arguments[2].value for one in found}
    texts = {bytes(value % 256 for value in unrolled(one.arguments[1].elements)) for one in found}
    assert any(59 in text for text in texts)
    assert len({len(text) for text in texts}) > 3


def test_fields_are_those_of_the_bytes():
    inner = MemoryContent(b"\5\0\0\0", fields=(Field("p->q->n", 0, 4, 5),))
    memory = MemoryContent(bytes(8) + b"\7\0\0\0" + bytes(4), (PointerIn("p->q", 0, inner),), (Field("p->k", 8, 4, 7),))
    found = drawn(Inputs("f", (GivenValue("p", "void", memory=memory),)), Signature((Opaque("pointer"),), INT))
    for one in found:
        held = one.arguments[0].memory
        assert held.content[:8] == bytes(8)  # a pointer stays one
        for part in (held, held.pointers[0].memory):
            for field in part.fields:
                assert field.value == int.from_bytes(
                    part.content[field.offset : field.offset + 4], "little", signed=True
                )
    assert len({one.arguments[0].memory.content for one in found}) > 20
    assert len({one.arguments[0].memory.pointers[0].memory.content for one in found}) > 20


def test_structures_themselves_keep_their_size():
    point = Declared("p", "struct point", 1, 8, (Leaf("p.x", 0, INT), Leaf("p.y", 4, INT)))
    signature = Signature((CType("unsigned long", 64, signed=False),), INT, (point,))
    found = drawn(Inputs("f", (structure(point, b"\1\0\0\0\2\0\0\0"),)), signature)
    assert all(len(one.arguments[0].memory.content) == 8 and one.arguments[0].by_value for one in found)
    fields = {(f.name, f.value) for one in found for f in one.arguments[0].memory.fields}
    assert ("p.x", 59) in fields
    assert ("p.y", 70001) in fields


def test_long_lists_are_left_alone_and_inputs_in_their_order_are_not():
    long = GivenValue("a", "int", elements=(RepeatedValue(1_000_000, 1),))
    found = drawn(Inputs("f", (long,), nondet=runs_of([1, 2, 3])), Signature((PointerType(INT),), INT), count=100)
    assert all(one.arguments[0] == long for one in found)
    assert len({one.nondet for one in found}) > 20


def test_constants_are_those_that_are_compared_first(tmp_path):
    file = tmp_path / "a.c"
    file.write_text("int f(int x) { x += 1234; if (x == 77) return 1; switch (x) { case 99: return 2; } return 0; }\n")
    found = constants(load([file]).module.defined())
    assert {77, 99, 1234} <= set(found)
    assert max(found.index(77), found.index(99)) < found.index(1234)

"""Inputs drawn at random."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Iterator, Sequence
from typing import Final

from loopless.check.oracle.adapters import RESULT
from loopless.check.oracle.signature import CType, Declared, Opaque, Parameter, PointerType, Signature
from loopless.flowgraph.model import Flowgraph
from loopless.queries.call_values.reached import GivenValue, Inputs, MemoryContent, RepeatedValue, runs_of
from loopless.queries.call_values.route_inputs import FORMATS, PROGRAM, structure

USUAL: Final = (0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 10.0, 100.0, 0.1, 1e-9, 1e9, 1e300, math.inf, -math.inf, math.nan)
"""Floating-point numbers that are tried. A guess."""


class Drawing:
    """One draw: small numbers, and such as are near to ``numbers``."""

    def __init__(self, numbers: Sequence[int], random_: random.Random) -> None:
        self.numbers, self.random = numbers, random_
        self.floats = (*USUAL, *map(float, numbers))

    def inputs(self, graph: Flowgraph, signature: Signature, declared: Sequence[Declared]) -> Inputs:
        """Inputs of a call of the function; ``declared``: the parameters of the source."""
        random_, numbers = self.random, self.numbers
        arguments = tuple(self._arguments(graph, signature, declared)) if graph.source_name != "main" else ()
        words: tuple[tuple[RepeatedValue, ...], ...] = ()
        if graph.source_name == "main" and graph.parameters:
            letters = [number for number in numbers if 32 <= number < 127] or [ord("a")]
            lengths = [random_.randint(0, 4) for _ in range(random_.randint(0, 4))]
            texts = [[random_.choice(letters) for _ in range(length)] for length in lengths]
            words = (runs_of(PROGRAM), *map(runs_of, texts))
        few_numbers = numbers or range(13)
        nondet = [random_.choice(few_numbers) if random_.random() < 0.3 else random_.randint(-2, 12) for _ in range(64)]
        return Inputs(graph.source_name, arguments, runs_of(nondet), repeats=True, words=words)

    def _value(self, type_: CType, *, small: bool) -> int:
        kind = self.random.random()
        if self.numbers and kind < 0.4:
            return int(type_.wrap(self.random.choice(self.numbers) + self.random.choice((0, 0, 1, -1))))
        if small or kind < 0.8:
            return int(type_.wrap(self.random.randint(-2 if kind < 0.5 else 0, 12)))
        return self.random.randint(type_.low, type_.high)

    def _arguments(self, graph: Flowgraph, signature: Signature, declared: Sequence[Declared]) -> Iterator[GivenValue]:
        few = self.random.random() < 0.5
        at = 0
        for one in declared:
            if one.size:
                yield self._structure(one)
            elif signature.params[at] != RESULT:
                yield self._argument(graph.parameters[at].name, signature.params[at], few=few)
            at += one.parts

    def _argument(self, name: str, type_: Parameter, *, few: bool) -> GivenValue:
        match type_:
            case CType(name="float" | "double" as kind):
                return GivenValue(name, kind, rounded(self.random.choice(self.floats), kind))
            case CType():
                return GivenValue(name, type_.name, self._value(type_, small=self.random.random() < 0.8))
            case PointerType(element=element):
                kinds = [self._value(element, small=True) for _ in range(2)] if few else []
                elements = [self.random.choice(kinds) if few else self._value(element, small=True) for _ in range(24)]
                return GivenValue(name, element.name, elements=runs_of([*elements, 0]))
            case Opaque(name="pointer"):
                bytes_ = bytes(self.random.choice((0, 0, 0, 1, 2, 3, 7)) for _ in range(64))
                return GivenValue(name, "void", memory=MemoryContent(bytes_))
            case _:
                return GivenValue(name, "void")

    def _structure(self, declared: Declared) -> GivenValue:
        content = bytearray(declared.size)
        for leaf in declared.leaves:
            if isinstance(leaf.type, Opaque):
                raw = packed(self.random.choice(self.floats), leaf.type.name)
            else:
                value = self._value(leaf.type, small=True) & ((1 << leaf.type.bits) - 1)
                raw = value.to_bytes(leaf.type.size, "little")
            content[leaf.offset : leaf.offset + len(raw)] = raw
        return structure(declared, bytes(content))


def packed(value: float, name: str) -> bytes:
    """The bytes of a floating-point number; of one that is too large for a ``float``, those of infinity."""
    try:
        return struct.pack(FORMATS[name], value)
    except OverflowError:
        return struct.pack(FORMATS[name], math.copysign(math.inf, value))


def rounded(value: float, name: str) -> float:
    """The nearest number of that type."""
    (found,) = struct.unpack(FORMATS[name], packed(value, name))
    return float(found)

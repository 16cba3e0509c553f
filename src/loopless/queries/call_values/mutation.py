"""Inputs next to those of a test: one value, or a few, are others.

What lies next to a known run often takes the other side of a branch that it comes by, and a native run is cheaper than
a question to a solver.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from loopless.check.oracle.signature import CType, PointerType, Signature
from loopless.limits.queries import MAX_INTEGER_CONSTANTS, MAX_MUTATED_VALUES
from loopless.queries.call_values.random_inputs import USUAL, rounded
from loopless.queries.call_values.reached import GivenValue, Inputs, MemoryContent, RepeatedValue, runs_of, unrolled
from loopless.queries.call_values.route_inputs import structure
from loopless.source.ir import IntConst, SourceFunction

WIDTHS: Final = (1, 1, 2, 4, 8)
"""Bytes of an integer in memory that is given another value."""


def constants(functions: Iterable[SourceFunction]) -> list[int]:
    """The integers with which functions compare, and others that stand in them."""
    compared: dict[int, None] = {}
    others: dict[int, None] = {}
    for one in functions:
        for instruction in one.instructions():
            into = compared if instruction.op in ("icmp", "switch") else others
            compared |= dict.fromkeys(value for value, _ in instruction.cases)
            for operand in instruction.operands:
                if isinstance(operand, IntConst):
                    into[operand.value] = None
    return list(dict.fromkeys((*compared, *others)))[:MAX_INTEGER_CONSTANTS]


class Mutator:
    """Draws inputs next to others; ``numbers``: constants of the program."""

    def __init__(self, signature: Signature, numbers: Sequence[int], random_: random.Random) -> None:
        self.signature, self.random = signature, random_
        near = (number + by for number in numbers for by in (0, 1, -1))
        self.numbers = list(dict.fromkeys((*near, 0, 1, -1, 2)))

    def next_to(self, inputs: Inputs) -> Inputs:
        """One to four changes of single values; the same inputs where nothing can be changed."""
        for _ in range(self.random.choice((1, 1, 1, 2, 2, 3, 4))):
            changes = [*self._of_arguments(inputs), *self._others(inputs)]
            if changes:
                inputs = self.random.choice(changes)()
        return inputs

    def _of_arguments(self, inputs: Inputs) -> list[Callable[[], Inputs]]:
        found: list[Callable[[], Inputs]] = []
        declared = [one for one in self.signature.declared if one.name]
        for index, given in enumerate(inputs.arguments):
            type_ = self.signature.params[index] if not declared else None

            def changed(index: int = index, given: GivenValue = given, type_: object = type_) -> Inputs:
                arguments = list(inputs.arguments)
                arguments[index] = self._argument(given, type_ if isinstance(type_, CType) else None)
                if given.by_value and arguments[index].memory is not None:
                    memory = arguments[index].memory
                    arguments[index] = structure(declared[index], memory.content, memory.pointers) if memory else given
                return replace(inputs, arguments=tuple(arguments))

            if given.value is not None or given.elements is not None or given.memory is not None:
                found.append(changed)
        return found

    def _others(self, inputs: Inputs) -> list[Callable[[], Inputs]]:
        found: list[Callable[[], Inputs]] = []
        if inputs.nondet:
            found.append(lambda: replace(inputs, nondet=self._listed(inputs.nondet, self._number)))
        if len(inputs.words) > 1:

            def other_word() -> Inputs:
                words = list(inputs.words)
                index = self.random.randrange(1, len(words))
                letters = self._listed(words[index], self._letter)
                words[index] = tuple(run for run in letters if run.value)
                return replace(inputs, words=tuple(words))

            found.append(other_word)
        return found

    def _argument(self, given: GivenValue, type_: CType | None) -> GivenValue:
        if isinstance(given.value, float):
            return replace(given, value=rounded(self._float(given.value), given.type))
        if given.value is not None:
            value = self._around(given.value)
            kind = type_ or self._named(given)
            return replace(given, value=kind.wrap(value) if kind is not None else given.value)
        if given.elements is not None:
            elements = (one.element for one in self.signature.params if isinstance(one, PointerType))
            kind = next((one for one in elements if one.name == given.type), None)
            if kind is None:
                return given
            letters = kind.bits == 8
            return replace(
                given,
                elements=tuple(
                    RepeatedValue(run.count, kind.wrap(run.value))
                    for run in self._listed(given.elements, self._letter if letters else self._number)
                ),
            )
        return replace(given, memory=self._memory(given.memory)) if given.memory is not None else given

    def _named(self, given: GivenValue) -> CType | None:
        """The integer type of an argument."""
        return next((one for one in self.signature.params if isinstance(one, CType) and one.name == given.type), None)

    def _memory(self, memory: MemoryContent) -> MemoryContent:
        led = [index for index, one in enumerate(memory.pointers) if not one.same]
        if led and (not memory.content or self.random.random() < len(led) / (len(led) + 1)):
            pointers = list(memory.pointers)
            index = self.random.choice(led)
            pointers[index] = replace(pointers[index], memory=self._memory(pointers[index].memory))
            return replace(memory, pointers=tuple(pointers))
        taken = {at for one in memory.pointers for at in range(one.offset, one.offset + 8)}
        width = self.random.choice(WIDTHS)
        starts = range(0, len(memory.content) - width + 1, width)
        places = [at for at in starts if taken.isdisjoint(range(at, at + width))]
        if not places or len(memory.content) > MAX_MUTATED_VALUES:
            return memory
        at = self.random.choice(places)
        held = int.from_bytes(memory.content[at : at + width], "little", signed=True)
        value = self._around(held) & ((1 << (8 * width)) - 1)
        content = memory.content[:at] + value.to_bytes(width, "little") + memory.content[at + width :]
        named = [
            replace(one, value=int.from_bytes(content[one.offset : one.offset + one.size], "little", signed=True))
            for one in memory.fields
        ]
        return replace(memory, content=content, fields=tuple(one for one in named if one.value))

    def _listed(self, runs: tuple[RepeatedValue, ...], draw: Callable[[], int]) -> tuple[RepeatedValue, ...]:
        """Values with one that is another, comes again, is new or is left out, or without those behind it."""
        if sum(run.count for run in runs) > MAX_MUTATED_VALUES:
            return runs
        values = list(unrolled(runs))
        at = (
            self.random.randrange(len(values) + 1)
            if self.random.random() < 0.4
            else self.random.randrange(min(len(values), 8) + 1)
        )
        match self.random.choice(("other", "other", "other", "new", "out", "again", "end")):
            case "other" if at < len(values):
                values[at] = draw() if self.random.random() < 0.8 else values[at] + self.random.choice((1, -1))
            case "out" if at < len(values):
                del values[at]
            case "again" if values:
                values.insert(at, values[min(at, len(values) - 1)])
            case "end":
                values[at:] = [0]
            case _:
                values.insert(at, draw())
        return runs_of(values)

    def _around(self, value: int) -> int:
        kind = self.random.random()
        if kind < 0.3:
            return value + self.random.choice((1, -1, 2, -2))
        return self._number() if kind < 0.9 else self.random.choice((-value, 2 * value, value // 2, value ^ 1))

    def _number(self) -> int:
        return self.random.choice(self.numbers) if self.random.random() < 0.7 else self.random.randint(-2, 16)

    def _letter(self) -> int:
        small = [number for number in self.numbers if -128 <= number < 256] if self.random.random() < 0.7 else []
        return self.random.choice(small) if small else self.random.randint(32, 126)

    def _float(self, value: float) -> float:
        kind = self.random.random()
        if kind < 0.3 and math.isfinite(value):
            return self.random.choice((value + 1, value - 1, -value, value * 2, math.nextafter(value, math.inf)))
        return float(self._number()) if kind < 0.7 else self.random.choice(USUAL)

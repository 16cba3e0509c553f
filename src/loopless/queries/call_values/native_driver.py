"""Native runs with inputs that were found, or drawn at random: what ``reach`` answers is replayed here."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from loopless.check.oracle.signature import CType, Declared, Opaque, Parameter
from loopless.check.outcome import Outcome
from loopless.flowgraph.model import Flowgraph
from loopless.limits.queries import FLOAT_DRAWS, REPLAY_S
from loopless.queries.call_values.random_inputs import USUAL, Drawing, packed, rounded
from loopless.queries.call_values.reached import (
    GivenValue,
    Inputs,
    MemoryContent,
    RepeatedValue,
    joined,
    runs_of,
    unrolled,
)
from loopless.queries.call_values.route_inputs import FORMATS, structure
from loopless.queries.call_values.wire_form import wired

LONGER: Final = (16, 256, 8192, 1 << 18)
"""So many zeros are put behind arrays that a run leaves."""
PREFIXES: Final = (0, 1, 2, 4, 8, 16, 32)
"""So many of the inputs drawn at random are tried alone: most functions read few of them, or none. A guess."""


class Driver:
    """Native runs of one program with a target. It compiles when it is first asked; ``close`` ends its process."""

    one_of_many = False
    """Whether it serves one target of many, whose runs may get there by the way."""

    def __init__(self, files: Sequence[str], options: Any, function: str, deadline: float) -> None:
        self.files, self.options, self.function, self.deadline = files, options, function, deadline
        self._oracle: Any = None

    def close(self) -> None:
        """End the process of native runs."""
        if self._oracle is not None:
            self._oracle.close()

    @property
    def oracle(self) -> Any:
        """The compiled program."""
        from loopless.check.oracle.native import NativeLimits, NativeOracle

        if self._oracle is None:
            files = [Path(file) for file in self.files]
            self._oracle = NativeOracle(files, options=self.options, limits=NativeLimits(seconds=REPLAY_S))
            self._oracle.any_result = True
        return self._oracle

    @property
    def signature(self) -> Any:
        """The types of the function, or those of its adapter, where it has one."""
        return self.oracle.signature(self.entry)

    @property
    def entry(self) -> str:
        """What is called for the function."""
        found: str = self.oracle.entry(self.function)
        return found

    def replay(self, inputs: Inputs) -> tuple[bool, str, Inputs]:
        """Whether a run with these inputs gets to the target, how it ends, and the inputs that it was given."""
        outcome, longer = self.long_enough(inputs)
        if outcome.stdin is not None and self.is_there(outcome):
            longer = replace(longer, stdin=outcome.stdin, nondet=runs_of(outcome.nondet), repeats=False)
        return self.is_there(outcome), f"{outcome.status} {outcome.detail}".strip(), longer

    def is_there(self, outcome: Outcome) -> bool:
        """Whether a native run came to the target."""
        return bool(outcome.status == "error-reached" and outcome.detail == "target")

    def long_enough(self, inputs: Inputs) -> tuple[Outcome, Inputs]:
        """How a run ends, with inputs whose arrays are as long as it needs them: paths know these as far as the target
        depends on them.
        """
        (outcome,) = self.oracle.run_many(self.entry, [self._run(inputs)])
        found = inputs
        for longer in lengthened(inputs):
            if not leaves_arrays(outcome):
                break
            found = longer
            (outcome,) = self.oracle.run_many(self.entry, [self._run(longer)])
        return outcome, found

    def _run(self, inputs: Inputs) -> Any:
        from loopless.check.oracle.native import NativeRun as Native

        arguments = wired(inputs.arguments, self.signature)
        if inputs.words:
            words = {"words": [bytes(unrolled(word)).hex() for word in inputs.words]}
            arguments = [len(inputs.words), words, None][: len(self.signature.params)]
        nondet = [value for run in inputs.nondet for value in (run.value,) * run.count]
        names = {name.rpartition(".")[2] for name in self.oracle.prepared.locals}
        scalars = {one.name for one in self.oracle.prepared.globals if one.type is not None}
        return Native(
            args=arguments,
            nondet=nondet if inputs.repeats else [*nondet, *[0] * 64],
            uninit={name: value for name, value in inputs.uninitialised.items() if name in names},
            globals={name: value for name, value in inputs.globals.items() if name in scalars},
            repeat=inputs.repeats,
        )

    def by_chance(self, graph: Flowgraph, numbers: Sequence[int], count: int, seconds: float) -> Inputs | None:
        """Inputs of a run that gets there, among some drawn at random."""
        drawn = self.drawn(graph, numbers, count)
        kept = self.oracle.limits
        self.oracle.limits = replace(kept, seconds=seconds)
        try:
            outcomes = self.oracle.run_many(self.entry, [self._run(one) for one in drawn])
        finally:
            self.oracle.limits = kept
        found = next((one for one, outcome in zip(drawn, outcomes, strict=True) if self.is_there(outcome)), None)
        return None if found is None else self._with_fewer(found)

    def _with_fewer(self, inputs: Inputs) -> Inputs:
        """The same with as few inputs as bring the run there: one that asks for more than it is given ends there."""
        values = [value for run in inputs.nondet for value in (run.value,) * run.count]
        fewer = [replace(inputs, nondet=runs_of(values[:count]), repeats=False) for count in PREFIXES]
        runs = [replace(self._run(one), nondet=values[:count]) for one, count in zip(fewer, PREFIXES, strict=True)]
        outcomes = self.oracle.run_many(self.entry, runs)
        return next((one for one, outcome in zip(fewer, outcomes, strict=True) if self.is_there(outcome)), inputs)

    def drawn(self, graph: Flowgraph, numbers: Sequence[int], count: int, seed: int = 1) -> list[Inputs]:
        """Inputs drawn at random, small ones and such as conditions compare with among them."""
        declared = self._declared(graph)
        return [
            Drawing(numbers, random.Random(seed * 100_000 + index)).inputs(graph, self.signature, declared)
            for index in range(count)
        ]

    def _declared(self, graph: Flowgraph) -> Sequence[Declared]:
        """The parameters of the source."""
        params = zip(graph.parameters, self.signature.params, strict=True)
        return self.signature.declared or [Declared(one.name, "", 1) for one, _ in params]

    def with_floats(self, inputs: Inputs, constants: Sequence[float], seconds: float) -> Inputs | None:
        """Inputs that get there, with other floating-point numbers among the arguments: the ``constants`` and what lies
        next to them, and usual ones.
        """
        pool = list(
            dict.fromkeys(
                near
                for one in (*constants, *USUAL)
                for near in (
                    one,
                    math.nextafter(one, math.inf),
                    math.nextafter(one, -math.inf),
                    one * (1 + 2.0**-23),
                    one * (1 - 2.0**-23),
                    -one,
                    one + 1,
                    one - 1,
                )
            )
        )
        random_ = random.Random(1)
        declared = [one for one in self.signature.declared if one.name]
        tried = [self._with(inputs, declared, itertools.repeat(one).__next__) for one in pool]
        tried += [self._with(inputs, declared, lambda: random_.choice(pool)) for _ in range(FLOAT_DRAWS)]
        kept = self.oracle.limits
        self.oracle.limits = replace(kept, seconds=seconds)
        try:
            outcomes = self.oracle.run_many(self.entry, [self._run(one) for one in tried])
        finally:
            self.oracle.limits = kept
        return next((one for one, outcome in zip(tried, outcomes, strict=True) if self.is_there(outcome)), None)

    @staticmethod
    def _with(inputs: Inputs, declared: Sequence[Declared], draw: Callable[[], float]) -> Inputs:
        """The inputs with all floating-point numbers drawn anew."""
        arguments = []
        for one, type_ in zip(inputs.arguments, declared, strict=True):
            if isinstance(one.value, float):
                arguments.append(replace(one, value=rounded(draw(), one.type)))
            elif one.by_value and one.memory is not None:
                content = bytearray(one.memory.content)
                for leaf in type_.leaves:
                    if isinstance(leaf.type, Opaque):
                        raw = packed(draw(), leaf.type.name)
                        content[leaf.offset : leaf.offset + len(raw)] = raw
                arguments.append(structure(type_, bytes(content), one.memory.pointers))
            else:
                arguments.append(one)
        return replace(inputs, arguments=tuple(arguments))

    @property
    def floats(self) -> tuple[str, ...]:
        """The floating-point numbers among the arguments, by their names."""
        found: list[str] = []
        for one, type_ in zip(self.signature.declared, self._first_types(), strict=True):
            found += [leaf.name for leaf in one.leaves if isinstance(leaf.type, Opaque)]
            found += [one.name] if not one.size and isinstance(type_, CType) and type_.name in FORMATS else []
        return tuple(found)

    def _first_types(self) -> Iterator[Parameter]:
        at = 0
        for one in self.signature.declared:
            yield self.signature.params[at]
            at += one.parts


def _longer(given: GivenValue, more: int) -> GivenValue:
    if given.by_value and given.memory is not None:
        return replace(given, memory=replace(given.memory, pointers=_longer_memory(given.memory, more).pointers))
    if given.memory is not None:
        return replace(given, memory=_longer_memory(given.memory, more))
    return (
        given if given.elements is None else replace(given, elements=joined([*given.elements, RepeatedValue(more, 0)]))
    )


def _longer_memory(memory: MemoryContent, more: int) -> MemoryContent:
    pointers = tuple(
        one if one.same else replace(one, memory=_longer_memory(one.memory, more)) for one in memory.pointers
    )
    return replace(memory, content=memory.content + bytes(more), pointers=pointers)


def lengthened(inputs: Inputs) -> Iterator[Inputs]:
    """The inputs with ever more zeros behind the elements of arrays."""
    if any(given.elements is not None or given.memory is not None for given in inputs.arguments):
        for more in LONGER:
            yield replace(inputs, arguments=tuple(_longer(given, more) for given in inputs.arguments))


def leaves_arrays(outcome: Any) -> bool:
    """Whether a native run ended because it left an object."""
    return outcome.status == "crashed" or (outcome.status == "undefined" and "outside of the object" in outcome.detail)

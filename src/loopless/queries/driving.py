"""From a path to the inputs of a run, and native runs with them: what ``reach`` answers is replayed here.

A function is called with integers, with arrays of integers, and with null pointers; input functions return what they
are given in order.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from loopless.flowgraph.model import Flowgraph, Kind, Origin
from loopless.navigation.search import Route
from loopless.navigation.store import size_of
from loopless.queries.reached import Given, Inputs, Run, runs_of
from loopless.terms import Term, Var, evaluate
from loopless.verification.transitions import TransitionSystem

LONGEST: Final = 1 << 22
"""More elements of an array, or inputs, than this are not written down. A guess."""


LONGER: Final = (16, 256, 8192, 1 << 18)
"""So many zeros are put behind arrays that a run leaves."""


class NotDriven(Exception):
    """The inputs of a path cannot be given to the function; carries why."""


def inputs_of(route: Route, system: TransitionSystem, function: str, signature: Any) -> Inputs:
    """The inputs by which a run takes the path. Raises :class:`NotDriven`."""
    graph = system.graph
    values = dict(route.values)

    def number(term: Term) -> int:
        unknown = {var: 0 for var in term.variables if var not in values}
        return evaluate(term, {**unknown, **values})

    def at_begin(var: Var | None) -> int:
        return 0 if var is None else number(route.begin.get(var, var))

    nondet: list[Run] = []
    uninitialised: dict[str, int] = {}
    length = 0
    for step in route.steps:
        drawn: list[int] = []
        for one, term in step.inputs.items():
            value = one.var.type.wrap(number(term))
            if one.origin in (Origin.NONDET, Origin.CALL):
                drawn.append(value)
            elif one.origin is Origin.UNINITIALISED:
                shown = graph.blocks[one.block].statements[one.index]
                info = graph.variables.get(getattr(shown, "target", None))  # type: ignore[arg-type]
                if info is not None:
                    uninitialised[info.shown] = value
        length += len(drawn) * step.count
        if length > LONGEST:
            raise NotDriven(f"it takes more than {LONGEST:,} inputs")
        if len(drawn) == 1:
            nondet.append(Run(step.count, drawn[0]))
        else:
            nondet.extend(runs_of(drawn * step.count))
    arguments = tuple(_arguments(route, graph, signature, at_begin))
    own = {
        info.shown: at_begin(var)
        for var, info in graph.variables.items()
        if info.kind is Kind.GLOBAL and function != "main" and (var in route.begin or var in values)
    }
    return Inputs(function, arguments, _joined(nondet), uninitialised=uninitialised, globals=own)


def _joined(runs: Sequence[Run]) -> tuple[Run, ...]:
    found: list[Run] = []
    for run in runs:
        if found and found[-1].value == run.value:
            found[-1] = Run(found[-1].count + run.count, run.value)
        elif run.count:
            found.append(run)
    return tuple(found)


def _arguments(route: Route, graph: Flowgraph, signature: Any, at_begin: Any) -> Iterator[Given]:
    from loopless.check.oracle.signature import CType, Pointer

    if graph.source_name == "main":
        return
    for parameter, type_ in zip(graph.parameters, signature.params, strict=True):
        name = parameter.name
        match type_:
            case CType():
                yield Given(name, type_.name, type_.wrap(at_begin(parameter.var)))
            case Pointer(element=element):
                if parameter.null is not None and at_begin(parameter.null):
                    yield Given(name, element.name)
                    continue
                if parameter.shared or parameter.object is None:
                    raise NotDriven(f"{name} points into the same memory as another parameter")
                yield Given(name, element.name, elements=_elements(route, graph, parameter.object, element, at_begin))
            case _:
                if parameter.object is not None and _is_touched(route, graph, parameter.object):
                    raise NotDriven(f"{name} is {type_.name}, which cannot be given to it")
                yield Given(name, "void")


def _is_touched(route: Route, graph: Flowgraph, number: int) -> bool:
    """Whether a run looks into an object."""
    name = graph.objects[number].name
    inside = any(info.object == number and info.kind is Kind.POINTEE for info in graph.variables.values())
    return inside or any(array == name for array, _ in route.cells) or any(run.array == name for run in route.runs)


def _elements(route: Route, graph: Flowgraph, number: int, element: Any, at_begin: Any) -> tuple[Run, ...]:
    """What lies behind a pointer, as far as the path reads it."""
    name, size = graph.objects[number].name, element.size
    single: dict[int, int] = {}
    for (array, offset), var in route.cells.items():
        if array == name:
            if size_of(var.type) != size or offset % size or offset < 0:
                raise NotDriven(f"{name} is read at byte {offset} as {size_of(var.type)} bytes")
            single[offset // size] = element.wrap(at_begin(var))
    for var, info in graph.variables.items():
        if info.kind is Kind.POINTEE and info.object == number and not info.pointer_part:
            if info.size != size or info.offset % size or info.offset < 0:
                raise NotDriven(f"{info.shown} is not like the elements of {name}")
            single[info.offset // size] = element.wrap(at_begin(var))
    spans: list[tuple[int, int, int]] = []
    for run in route.runs:
        if run.array == name:
            low, high = run.span
            if size_of(run.type) != size or low % size or low < 0 or abs(run.stride) % size:
                raise NotDriven(f"{name} is read at byte {low} as {size_of(run.type)} bytes")
            if abs(run.stride) == size:
                spans.append((low // size, high // size, element.wrap(run.value)))
            else:
                for index in range(run.count):
                    single[(run.start + run.stride * index) // size] = element.wrap(run.value)
    last = max((*single, *(high - 1 for _, high, _ in spans)), default=-1)
    if last >= LONGEST:
        raise NotDriven(f"{name} has more than {LONGEST:,} elements")
    filled = [0] * (last + 1)
    for low, high, value in spans:
        filled[low:high] = [value] * (high - low)
    for index, value in single.items():
        filled[index] = value
    return runs_of(filled)


class Driver:
    """Native runs of one program with a target. It compiles when it is first asked; ``close`` ends its process."""

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
        from loopless.check.oracle.native import Limits, NativeOracle

        if self._oracle is None:
            files = [Path(file) for file in self.files]
            self._oracle = NativeOracle(files, options=self.options, limits=Limits(seconds=10.0))
        return self._oracle

    @property
    def signature(self) -> Any:
        """The types of the function."""
        return self.oracle.signature(self.function)

    def replay(self, inputs: Inputs) -> tuple[bool, str, Inputs]:
        """Whether a run with these inputs gets to the target, how it ends, and the inputs that it was given: where a run
        leaves its arrays, which paths know as far as the target depends on them, these are made longer.
        """
        for longer in lengthened(inputs):
            (outcome,) = self.oracle.run_many(self.function, [self._run(longer)])
            if not leaves_arrays(outcome):
                break
        return is_reached(outcome), f"{outcome.status} {outcome.detail}".strip(), longer

    def _run(self, inputs: Inputs) -> Any:
        from loopless.check.oracle.native import Run as Native

        arguments = [given.listed if given.value is None else given.value for given in inputs.arguments]
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

    def by_chance(self, graph: Flowgraph, numbers: Sequence[int], count: int, seconds: float, seed: int = 1) -> Inputs | None:
        """Inputs of a run that gets there, among some drawn at random."""
        drawn = self.drawn(graph, numbers, count, seed)
        kept = self.oracle.limits
        self.oracle.limits = replace(kept, seconds=seconds)
        try:
            outcomes = self.oracle.run_many(self.function, [self._run(one) for one in drawn])
        finally:
            self.oracle.limits = kept
        return next((one for one, outcome in zip(drawn, outcomes, strict=True) if is_reached(outcome)), None)

    def drawn(self, graph: Flowgraph, numbers: Sequence[int], count: int, seed: int = 1) -> list[Inputs]:
        """Inputs drawn at random, small ones and such as conditions compare with among them."""
        return [self._drawn(graph, numbers, random.Random(seed * 100_000 + index)) for index in range(count)]

    def _drawn(self, graph: Flowgraph, numbers: Sequence[int], random_: random.Random) -> Inputs:
        from loopless.check.oracle.signature import CType, Pointer

        def value(type_: Any, small: bool) -> int:
            kind = random_.random()
            if numbers and kind < 0.4:
                return int(type_.wrap(random_.choice(numbers) + random_.choice((0, 0, 1, -1))))
            if small or kind < 0.8:
                return int(type_.wrap(random_.randint(-2 if kind < 0.5 else 0, 12)))
            return random_.randint(type_.low, type_.high)

        arguments = []
        if graph.source_name != "main":
            few = random_.random() < 0.5
            for parameter, type_ in zip(graph.parameters, self.signature.params, strict=True):
                match type_:
                    case CType():
                        arguments.append(Given(parameter.name, type_.name, value(type_, random_.random() < 0.8)))
                    case Pointer(element=element):
                        kinds = [value(element, small=True) for _ in range(2)] if few else []
                        elements = [random_.choice(kinds) if few else value(element, small=True) for _ in range(24)]
                        arguments.append(Given(parameter.name, element.name, elements=runs_of([*elements, 0])))
                    case _:
                        arguments.append(Given(parameter.name, "void"))
        nondet = [random_.choice(numbers) if numbers and random_.random() < 0.3 else random_.randint(-2, 12) for _ in range(64)]
        return Inputs(graph.source_name, tuple(arguments), runs_of(nondet), repeats=True)


def lengthened(inputs: Inputs) -> Iterator[Inputs]:
    """The inputs, and the same with ever more zeros behind the elements of arrays."""
    yield inputs
    if any(given.elements is not None for given in inputs.arguments):
        for more in LONGER:
            arguments = tuple(
                given if given.elements is None else replace(given, elements=_joined([*given.elements, Run(more, 0)]))
                for given in inputs.arguments
            )
            yield replace(inputs, arguments=arguments)


def leaves_arrays(outcome: Any) -> bool:
    """Whether a native run ended because it left an object."""
    return outcome.status == "crashed" or (outcome.status == "undefined" and "outside of the object" in outcome.detail)


def is_reached(outcome: Any) -> bool:
    """Whether a native run came to the target."""
    return bool(outcome.status == "error-reached" and outcome.detail == "target")



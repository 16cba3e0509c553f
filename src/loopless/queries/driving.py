"""From a path to the inputs of a run, and native runs with them: what ``reach`` answers is replayed here.

A function is called with integers, with arrays of integers, and with null pointers; input functions return what they
are given in order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from loopless.check.oracle.signature import CType, Opaque, Parameter, Pointer, Signature
from loopless.check.outcome import Outcome
from loopless.flowgraph.model import NULL_OBJECT, Call, Flowgraph, Havoc, Kind, Origin, VariableInfo
from loopless.navigation.memory import Led, pointer_size
from loopless.navigation.routes import Route
from loopless.navigation.store import size_of
from loopless.queries.reached import Field, Given, Inputs, Memory, Pointed, Run, runs_of, unrolled
from loopless.terms import Term, Var, evaluate
from loopless.verification.transitions import Input, TransitionSystem

DEEPEST: Final = 40
"""Pointers behind pointers are followed so far. A guess."""
LONGEST: Final = 1 << 22
"""More elements of an array, or inputs, than this are not written down. A guess."""
MOST_WORDS: Final = 4_096
"""More words behind the command than this are not given. A guess."""
PROGRAM: Final = b"program"
"""The first word of argv, where the run does not depend on it."""
ANY_WORD: Final = b"x"
"""A word of argv that the run does not read."""
LONGER: Final = (16, 256, 8192, 1 << 18)
"""So many zeros are put behind arrays that a run leaves."""
PREFIXES: Final = (0, 1, 2, 4, 8, 16, 32)
"""So many of the inputs drawn at random are tried alone: most functions read few of them, or none. A guess."""


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
            if _is_returned(one, graph):
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
    words = tuple(_words(route, graph, at_begin)) if function == "main" else ()
    return Inputs(function, arguments, _joined(nondet), uninitialised=uninitialised, globals=own, words=words)


def _is_returned(one: Input, graph: Flowgraph) -> bool:
    """Whether an input function returns it in a native run; what a call may have written to memory is none of these."""
    if one.origin is not Origin.CALL:
        return one.origin is Origin.NONDET
    statements = graph.blocks[one.block].statements
    match statements[one.index]:
        case Havoc(target=target, name=name):
            calls = [other for other in statements[: one.index] if isinstance(other, Call) and other.callee == name]
            return not calls or calls[-1].target == target
        case _:
            return False


def _words(route: Route, graph: Flowgraph, at_begin: Callable[[Var | None], int]) -> Iterator[tuple[Run, ...]]:
    """The words of argv, the name of the program first; none where the path does not depend on them."""
    if not graph.parameters or (argc := graph.parameters[0].var) is None:
        return
    number = graph.parameters[1].object if len(graph.parameters) > 1 else None
    name = graph.objects[number].name if number is not None else ""
    read = {offset: led for (array, offset), led in route.pointers.items() if array == name}
    if argc not in route.begin and argc not in route.values and not read:
        return
    count = at_begin(argc)
    if not 1 <= count <= MOST_WORDS:
        raise NotDriven(f"it takes an argc of {count:,}, which is not given to a program")
    size = pointer_size(graph)
    for index in range(count):
        led = read.get(size * index)
        if led is None:
            yield runs_of(ANY_WORD if index else PROGRAM)
        else:
            yield _word(route, led.array, at_begin)


def _word(route: Route, array: str, at_begin: Callable[[Var | None], int]) -> tuple[Run, ...]:
    """A string, up to its end where the path reads so far, else so far as it is read."""
    content: dict[int, int] = {}
    for run in route.runs:
        if run.array == array:
            content |= {run.start + run.stride * index: run.value for index in range(run.count)}
    for (name, offset, type_), var in route.cells.items():
        if name == array:
            value = at_begin(var) & ((1 << (8 * size_of(type_))) - 1)
            content |= {offset + index: byte for index, byte in enumerate(value.to_bytes(size_of(type_), "little"))}
    if content and (min(content) < 0 or max(content) > LONGEST):
        raise NotDriven("it reads outside of a word of argv")
    end = next((at for at in sorted(content) if content[at] & 255 == 0), max(content, default=-1) + 1)
    return runs_of(content.get(at, ord("a")) & 255 for at in range(end))


def _joined(runs: Sequence[Run]) -> tuple[Run, ...]:
    found: list[Run] = []
    for run in runs:
        if found and found[-1].value == run.value:
            found[-1] = Run(found[-1].count + run.count, run.value)
        elif run.count:
            found.append(run)
    return tuple(found)


def _arguments(
    route: Route, graph: Flowgraph, signature: Signature, at_begin: Callable[[Var | None], int]
) -> Iterator[Given]:
    if graph.source_name == "main":
        return
    image = _Image(route, graph, at_begin)
    for parameter, type_ in zip(graph.parameters, signature.params, strict=True):
        name = parameter.name
        match type_:
            case CType():
                yield Given(name, type_.name, type_.wrap(at_begin(parameter.var)))
            case Pointer() | Opaque(name="pointer"):
                if parameter.null is not None and at_begin(parameter.null):
                    yield Given(name, _called(type_))
                    continue
                if parameter.shared or parameter.object is None:
                    raise NotDriven(f"{name} points into the same memory as another parameter")
                if isinstance(type_, Pointer):
                    yield Given(name, type_.element.name, elements=image.elements(parameter.object, type_.element))
                else:
                    named = graph.objects[parameter.object].name
                    yield Given(name, "void", memory=image.memory(parameter.object, [named]))
            case _:
                raise NotDriven(f"{name} is {type_.name}, which cannot be given to it")


def _called(type_: Parameter) -> str:
    return type_.element.name if isinstance(type_, Pointer) else "void"


class _Image:
    """The bytes of objects at the beginning, as far as a path reads them."""

    def __init__(self, route: Route, graph: Flowgraph, at_begin: Callable[[Var | None], int]) -> None:
        self.route, self.graph, self.at_begin = route, graph, at_begin
        self.halves: dict[tuple[int, int], dict[str, Var]] = {}
        self.fields: dict[int, list[tuple[Var, VariableInfo]]] = {}
        for var, info in graph.variables.items():
            if info.object is not None and info.kind in (Kind.POINTEE, Kind.GLOBAL):
                if info.pointer_part:
                    self.halves.setdefault((info.object, info.offset), {})[info.pointer_part] = var
                else:
                    self.fields.setdefault(info.object, []).append((var, info))

    def memory(self, number: int | None, names: Sequence[str], depth: int = 0) -> Memory:
        """What lies in an object of this number, which reads may call by any of the names."""
        if depth > DEEPEST:
            raise NotDriven("it follows too many pointers")
        image = _Bytes()
        fields: list[Field] = []
        for run in self.route.runs:
            if run.array in names:
                for index in range(run.count):
                    image.put(run.start + run.stride * index, size_of(run.type), run.value)
        for (array, offset, _), var in self.route.cells.items():
            if array in names:
                image.put(offset, size_of(var.type), self.at_begin(var))
        pointers = []
        if number is not None:
            for var, info in self.fields.get(number, ()):
                value = self.at_begin(var)
                image.put(info.offset, info.size, value)
                if value:
                    fields.append(Field(info.shown, info.offset, info.size, value))
            for (holder, offset), halves in self.halves.items():
                if holder == number and "object" in halves and not self._is_null(halves["object"]):
                    pointers.append(self._half(number, offset, halves, depth))
                    image.put(offset, 8, 0)
        for (array, offset), led in self.route.pointers.items():
            if array in names:
                image.put(offset, pointer_size(self.graph), 0)
                pointers += self._led(led, offset, depth)
        moved = tuple(replace(one, offset=one.offset + image.before) for one in pointers)
        named = tuple(replace(one, offset=one.offset + image.before) for one in fields)
        return Memory(bytes(image.content), moved, named, image.before)

    def _half(self, number: int, offset: int, halves: Mapping[str, Var], depth: int) -> Pointed:
        """What a pointer leads to that is a variable."""
        owner = halves["object"]
        behind = self._behind(number, offset)
        shown = self.graph.variables[owner].shown.removesuffix(".object")
        at = self.at_begin(halves.get("offset"))
        if abs(at) > LONGEST:
            raise NotDriven(f"{shown} leads to byte {at:,} of what it is given")
        alias = self.route.aliases.get(owner, behind)
        if alias is not None and alias != behind:
            return Pointed(shown, offset, Memory(b""), at, self._called(alias))
        name = self.graph.pointee_name(owner)
        inner = self.memory(behind, [n for n in (name, self._named(behind)) if n], depth + 1)
        return Pointed(shown, offset, inner, inner.start + at)

    def _called(self, number: int) -> str:
        """The name of the pointer that leads to an object."""
        found = self.graph.objects[number]
        if found.parameter is not None:
            return self.graph.parameters[found.parameter].name
        owner = self.halves.get(found.holder, {}).get("object") if found.holder is not None else None
        if owner is None:
            raise NotDriven(f"a pointer leads to {found.name} that is told as another one")
        return self.graph.variables[owner].shown.removesuffix(".object")

    def _led(self, led: Led, offset: int, depth: int) -> Iterator[Pointed]:
        """What a pointer that the path found at a byte leads to; nothing where it is null."""
        number = self.at_begin(led.owner) if led.owner in self.route.values else led.number
        if number == NULL_OBJECT:
            return
        if led.owner in self.route.aliases:
            yield Pointed(led.shown, offset, Memory(b""), 0, self._called(number))
            return
        if number != led.number and number in {one.number for one in self.route.pointers.values()}:
            raise NotDriven(f"{led.shown} points into the same memory as another pointer")
        yield Pointed(led.shown, offset, self.memory(None, [led.array], depth + 1))

    def _is_null(self, owner: Var) -> bool:
        known = owner in self.route.values or owner in self.route.begin
        return known and self.at_begin(owner) == NULL_OBJECT

    def _behind(self, number: int, offset: int) -> int | None:
        return next((n for n, found in self.graph.objects.items() if found.holder == (number, offset)), None)

    def _named(self, number: int | None) -> str:
        return self.graph.objects[number].name if number is not None else ""

    def elements(self, number: int, element: CType) -> tuple[Run, ...]:
        """What lies there as an array of integers."""
        name = self.graph.objects[number].name
        if not self.fields.get(number) and not any(array == name for array, _, _ in self.route.cells):
            found = self._alike(name, element)
            if found is not None:
                return found
        found_ = self.memory(number, [name])
        if found_.start:
            raise NotDriven(f"it reads in front of what {name} points to")
        content = found_.content
        size = element.size
        whole = content + bytes(-len(content) % size)
        return runs_of([
            int.from_bytes(whole[at : at + size], "little", signed=element.signed) for at in range(0, len(whole), size)
        ])

    def _alike(self, name: str, element: CType) -> tuple[Run, ...] | None:
        """The same where a path reads nothing but runs of elements, one behind the other."""
        spans = sorted((run for run in self.route.runs if run.array == name), key=lambda run: run.span)
        found: list[Run] = []
        at = 0
        for run in spans:
            low, high = run.span
            if low != at or abs(run.stride) != element.size or size_of(run.type) != element.size:
                return None
            found.append(Run(run.count, element.wrap(run.value)))
            at = high
        return _joined(found)


class _Bytes:
    """Bytes around a place; ``before`` of them lie in front of it."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.before = 0

    def put(self, offset: int, size: int, value: int) -> None:
        """Let an integer lie at this byte."""
        if abs(offset) + size > LONGEST:
            raise NotDriven(f"it reads at byte {offset} of what it is given")
        if offset < -self.before:
            more = -(-(-offset - self.before) // 16) * 16
            self.content[:0] = bytes(more)
            self.before += more
        at = offset + self.before
        if len(self.content) < at + size:
            self.content.extend(bytes(at + size - len(self.content)))
        self.content[at : at + size] = (value & ((1 << (8 * size)) - 1)).to_bytes(size, "little")


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
            self._oracle.any_result = True
        return self._oracle

    @property
    def signature(self) -> Any:
        """The types of the function."""
        return self.oracle.signature(self.function)

    def replay(self, inputs: Inputs) -> tuple[bool, str, Inputs]:
        """Whether a run with these inputs gets to the target, how it ends, and the inputs that it was given."""
        outcome, longer = self.long_enough(inputs)
        return self.is_there(outcome), f"{outcome.status} {outcome.detail}".strip(), longer

    def is_there(self, outcome: Outcome) -> bool:
        """Whether a native run came to the target."""
        return bool(outcome.status == "error-reached" and outcome.detail == "target")

    def long_enough(self, inputs: Inputs) -> tuple[Outcome, Inputs]:
        """How a run ends, with inputs whose arrays are as long as it needs them: paths know these as far as the target
        depends on them.
        """
        (outcome,) = self.oracle.run_many(self.function, [self._run(inputs)])
        found = inputs
        for longer in lengthened(inputs):
            if not leaves_arrays(outcome):
                break
            found = longer
            (outcome,) = self.oracle.run_many(self.function, [self._run(longer)])
        return outcome, found

    def _run(self, inputs: Inputs) -> Any:
        from loopless.check.oracle.native import Run as Native

        places = {given.name: number for number, given in enumerate(inputs.arguments)}
        arguments: list[Any] = [_wired(given, places) for given in inputs.arguments]
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
            outcomes = self.oracle.run_many(self.function, [self._run(one) for one in drawn])
        finally:
            self.oracle.limits = kept
        found = next((one for one, outcome in zip(drawn, outcomes, strict=True) if self.is_there(outcome)), None)
        return None if found is None else self._with_fewer(found)

    def _with_fewer(self, inputs: Inputs) -> Inputs:
        """The same with as few inputs as bring the run there: one that asks for more than it is given ends there."""
        values = [value for run in inputs.nondet for value in (run.value,) * run.count]
        fewer = [replace(inputs, nondet=runs_of(values[:count]), repeats=False) for count in PREFIXES]
        runs = [
            replace(self._run(one), nondet=values[:count]) for one, count in zip(fewer, PREFIXES, strict=True)
        ]
        outcomes = self.oracle.run_many(self.function, runs)
        return next((one for one, outcome in zip(fewer, outcomes, strict=True) if self.is_there(outcome)), inputs)

    def drawn(self, graph: Flowgraph, numbers: Sequence[int], count: int, seed: int = 1) -> list[Inputs]:
        """Inputs drawn at random, small ones and such as conditions compare with among them."""
        return [self._drawn(graph, numbers, random.Random(seed * 100_000 + index)) for index in range(count)]

    def _drawn(self, graph: Flowgraph, numbers: Sequence[int], random_: random.Random) -> Inputs:
        def value(type_: CType, *, small: bool) -> int:
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
                        arguments.append(Given(parameter.name, type_.name, value(type_, small=random_.random() < 0.8)))
                    case Pointer(element=element):
                        kinds = [value(element, small=True) for _ in range(2)] if few else []
                        elements = [random_.choice(kinds) if few else value(element, small=True) for _ in range(24)]
                        arguments.append(Given(parameter.name, element.name, elements=runs_of([*elements, 0])))
                    case Opaque(name="pointer"):
                        bytes_ = bytes(random_.choice((0, 0, 0, 1, 2, 3, 7)) for _ in range(64))
                        arguments.append(Given(parameter.name, "void", memory=Memory(bytes_)))
                    case _:
                        arguments.append(Given(parameter.name, "void"))
        words: tuple[tuple[Run, ...], ...] = ()
        if graph.source_name == "main" and graph.parameters:
            letters = [number for number in numbers if 32 <= number < 127] or [ord("a")]
            lengths = [random_.randint(0, 4) for _ in range(random_.randint(0, 4))]
            texts = [[random_.choice(letters) for _ in range(length)] for length in lengths]
            words = (runs_of(PROGRAM), *map(runs_of, texts))
        few_numbers = numbers or range(13)
        nondet = [
            random_.choice(few_numbers) if random_.random() < 0.3 else random_.randint(-2, 12) for _ in range(64)
        ]
        return Inputs(graph.source_name, tuple(arguments), runs_of(nondet), repeats=True, words=words)


def _wired(given: Given, places: Mapping[str, int]) -> Any:
    if given.memory is not None:
        return _wired_memory(given.memory, places)
    return given.listed if given.value is None else given.value


def _wired_memory(memory: Memory, places: Mapping[str, int]) -> dict[str, Any]:
    """Memory for the process of native runs; ``places``: the numbers of arguments by their names."""
    behind: list[list[Any]] = []
    for one in memory.pointers:
        if one.same:
            behind.append([one.offset, {"same": places.get(one.same, one.same)}, one.at])
        else:
            behind.append([one.offset, {**_wired_memory(one.memory, places), "name": one.name}, one.at])
    return {"content": memory.content.hex(), "pointers": behind, "start": memory.start}


def _longer(given: Given, more: int) -> Given:
    if given.memory is not None:
        return replace(given, memory=_longer_memory(given.memory, more))
    return given if given.elements is None else replace(given, elements=_joined([*given.elements, Run(more, 0)]))


def _longer_memory(memory: Memory, more: int) -> Memory:
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

"""The judge's interpreter: runs a function's flowgraph on given inputs, exactly, without the methods it judges.

>>> interpreter = Interpreter(program.module, flowgraph)  # doctest: +SKIP
>>> interpreter.run([5, [1, 2, 3]], nondet=[7]).outcome  # doctest: +SKIP

A run says ``diverges`` only where the whole state that decides how it goes on has repeated itself; a run that goes on
for too long without that is a ``timeout``, and one that needs something nobody knows is ``unknown``, with the reason.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Any

from loopless import terms as t
from loopless.check.interpreter.codegen import Compiled, Uncompilable, compile_flowgraph
from loopless.check.interpreter.expressions import byte_size
from loopless.check.interpreter.memory import World
from loopless.check.interpreter.naming import symbol_of
from loopless.check.interpreter.services import (
    Application,
    CallHook,
    Hooks,
    Jump,
    LoopHook,
    Services,
    StepLimits,
    execute,
)
from loopless.check.interpreter.storage import Storage, blank, load_slowly, store_cell, store_slowly
from loopless.check.interpreter.values import InputStream, MissingValue, Stop, UsedUp
from loopless.check.outcome import Outcome, Status
from loopless.errors import UsageError
from loopless.flowgraph import Options, build
from loopless.flowgraph.memory.initial_bytes import initial_content
from loopless.flowgraph.model import Flowgraph, MemoryObject, Parameter
from loopless.limits.check import MAX_FOLLOWED_POINTERS, MAX_POINTER_DEPTH
from loopless.records import dataclass
from loopless.source import ir
from loopless.source.debug import TypeKind as DebugKind
from loopless.source.ir import Loc

__all__ = [
    "Application",
    "Argument",
    "CallHook",
    "Interpreter",
    "InterpreterRun",
    "Jump",
    "LoopHook",
    "PointedContent",
    "SameContent",
    "WholeObject",
]


@dataclass(frozen=True, slots=True)
class SameContent:
    """The content of this ``name``, that another pointer points to, from ``at`` bytes behind where that one points."""

    name: str
    at: int = 0


@dataclass(frozen=True, slots=True)
class PointedContent:
    """What a pointer points to: its bytes, and by their offsets there the pointers in it that are not null. ``name``:
    of the content, for other pointers to it; ``start``: the byte to which the pointer points.
    """

    content: bytes
    pointers: tuple[tuple[int, bytes | PointedContent | SameContent], ...]
    name: str = ""
    start: int = 0


Argument = int | Sequence[int] | PointedContent | None
"""An integer, the elements (or, as ``bytes``, the bytes) that a pointer points to, or None for the null pointer. For a
pointer that shares its object with an earlier one: an integer, the index of the element that it points to."""

Lookup = Callable[[str], Flowgraph | None]

_FRAMES_A_CALL = 4


def _no_counts() -> Mapping[str, int]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class WholeObject:
    """What a pointer points to, from the beginning of its object on: bytes, and by their offsets the pointers there
    that are not null, with what they point to (None where that is not told).
    """

    content: bytes
    pointers: Mapping[int, WholeObject | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InterpreterRun:
    """One run.

    ``iterations`` has the taken back edges by loop name, of all activations; ``nondet_used`` how many inputs were read;
    ``where`` the place at which the run ended, or of several ``return`` statements of the function the one by which it
    returned; ``memory``: of a run that returned, what the pointers among the parameters point to; ``reason`` why it
    ended, for people; ``calls``: how often each function was called by another or by itself; ``wanted``: of a run whose
    inputs were used up, the type of the next one.
    """

    outcome: Outcome
    iterations: Mapping[str, int] = field(default_factory=_no_counts)
    nondet_used: int = 0
    where: Loc | None = None
    reason: str = ""
    calls: Mapping[str, int] = field(default_factory=_no_counts)
    memory: Sequence[WholeObject | None] = ()
    wanted: t.IntType | None = None

    @property
    def status(self) -> Status:
        """How the run ended."""
        return self.outcome.status


@dataclass(frozen=True, slots=True)
class GlobalScalar:
    """A writable global integer of the program: its symbol, its name in the source, its type, its memory."""

    symbol: str
    name: str
    type: t.IntType
    described: MemoryObject


class Interpreter:
    """Runs one flowgraph. Compiles it, and the functions that it calls, on first use; runs share nothing else."""

    def __init__(
        self,
        program: ir.Module | Lookup | None,
        flowgraph: Flowgraph,
        *,
        options: Options | None = None,
        checked: bool = False,
        pointer_size: int | None = None,
    ) -> None:
        """``program`` is the module that the function is from, or gives the flowgraphs of the functions it calls by
        their names; without it such calls are unknown, and only those globals are known that the flowgraph names.

        ``options`` are those the flowgraph was built with. ``checked`` tests the flowgraph's promises (ranges,
        exclusive branches) as it runs, at half the speed, and ends a run that breaks one as ``unknown``.
        """
        self.flowgraph = flowgraph
        self.module = program if isinstance(program, ir.Module) else None
        self._options = options
        self.mathematical = options is not None and options.mathematical
        self._lookup = self._build if isinstance(program, ir.Module) else program
        self._checked = checked
        self.pointer_size = pointer_size or (self.module.pointer_bits // 8 if self.module is not None else 8)
        self._flowgraphs: dict[str, Flowgraph | None] = {flowgraph.name: flowgraph}
        self._compiled: dict[tuple[str, bool], Compiled] = {}
        self._globals = self._find_globals()
        self._symbols = {scalar.name: scalar for scalar in self._globals}

    # -- the program --------------------------------------------------------------------------------------------------

    def _build(self, name: str) -> Flowgraph | None:
        assert self.module is not None
        function = self.module.functions.get(name)
        if function is None or function.is_declaration:
            return None
        return build(function, self.module, self._options)

    def _flowgraph(self, name: str) -> Flowgraph | None:
        if name not in self._flowgraphs:
            self._flowgraphs[name] = self._lookup(name) if self._lookup is not None else None
        return self._flowgraphs[name]

    def compiled(self, name: str, *, hooked: bool = False) -> Compiled | None:
        """The compiled function of that name, None where there is no body."""
        found = self._compiled.get((name, hooked))
        if found is None:
            flowgraph = self._flowgraph(name)
            if flowgraph is None:
                return None
            found = self._compiled[name, hooked] = compile_flowgraph(
                flowgraph,
                defined=lambda callee: self._flowgraph(callee) is not None,
                hooked=hooked,
                checked=self._checked,
                pointer_size=self.pointer_size,
            )
        return found

    def _describe(self, symbol: str) -> MemoryObject | None:
        """A global of the module."""
        found = self.module.globals.get(symbol) if self.module is not None else None
        if found is None or self.module is None or found.initializer is None:
            return None
        content, relocations = initial_content(self.module, found)
        size = self.module.layout.size_of(found.type)
        return MemoryObject(
            0,
            symbol,
            "global",
            size,
            constant=found.constant,
            content=content,
            symbol=symbol,
            relocations=relocations,
        )

    def _find_globals(self) -> tuple[GlobalScalar, ...]:
        """The scalar integer globals that a run reports."""
        if self.module is None:
            named = [o for o in self.flowgraph.objects.values() if o.kind == "global" and not o.constant]
            return tuple(
                GlobalScalar(symbol_of(o), o.name, o.element, o)
                for o in named
                if o.element is not None and o.size == byte_size(o.element)
            )
        found: list[GlobalScalar] = []
        for symbol, variable in self.module.globals.items():
            debug = variable.debug
            if variable.constant or variable.thread_local or debug is None or debug.type.signed is None:
                continue
            described = self._describe(symbol)
            if described is None or debug.bits not in (8, 16, 32, 64) or debug.kind is DebugKind.ARRAY:
                continue
            boolean = debug.kind is DebugKind.BOOL
            owner = debug.declared.function if debug.declared is not None else ""
            name = f"{owner}.{debug.name}" if owner else debug.name
            type = t.IntType(1 if boolean else debug.bits, debug.type.signed)
            found.append(GlobalScalar(symbol, name, type, described))
        return tuple(found)

    # -- runs ---------------------------------------------------------------------------------------------------------

    def run(  # noqa: PLR0913  each keyword is a thing to say about one run
        self,
        arguments: Sequence[Argument] = (),
        nondet: Sequence[int] = (),
        *,
        uninitialised: Sequence[int] | None = None,
        globals: Mapping[str, int] | None = None,
        max_steps: int = 10_000_000,
        deadline: float | None = None,
        max_depth: int = 1000,
        on_loop: LoopHook | None = None,
        on_call: CallHook | None = None,
        repeats: bool = False,
    ) -> InterpreterRun:
        """One run from the program's initial state.

        ``nondet``: what the program's inputs return, in order, and the last of them again and again where it
        ``repeats``. ``uninitialised``: what uninitialised variables hold, in the order in which they come to life;
        without it, using one is ``unknown``. ``globals``: scalar globals that start with another value. ``max_steps``
        bounds the taken back edges and calls, ``deadline`` is a time of :func:`loopless.clock.now`. ``on_loop`` may
        jump over the function's own loops (not those of functions it calls), ``on_call`` over the whole call.

        Raises:
            UsageError: if an argument does not fit its parameter, or there is no such global.
        """
        overrides: dict[str, int] = {}
        for name, value in (globals or {}).items():
            scalar = self._symbols.get(name)
            if scalar is None:
                raise UsageError(f"the program has no scalar global {name}")
            overrides[scalar.symbol] = value
        world = World(self._describe if self.module is not None else None, overrides)
        services = Services(
            self.compiled,
            world,
            InputStream(nondet, uninitialised, repeats),
            StepLimits(max_steps, deadline, max_depth),
            hooks=Hooks(on_loop, on_call),
            pointer_size=self.pointer_size,
            mathematical=self.mathematical,
        )
        parameters = self.flowgraph.parameters
        values = self._arguments(arguments, world)
        limit = sys.getrecursionlimit()
        needed = 500 + _FRAMES_A_CALL * max_depth
        if needed > limit:
            sys.setrecursionlimit(needed)
        try:
            outcome, where, reason, wanted = self._outcome(services, values, hooked=on_loop is not None)
        finally:
            sys.setrecursionlimit(limit)
        memory: list[WholeObject | None] = []
        if outcome.status == "ok":
            name, place = services.returned
            where = place if name == self.flowgraph.name else None
            pairs = zip(parameters, values, strict=True)
            told: list[Storage] = []
            memory = [_memory_of(value, told) if parameter.object is not None else None for parameter, value in pairs]
        counts = services.iterations, services.drawn, where, reason, services.calls
        return InterpreterRun(outcome, *counts, memory, wanted)

    def _outcome(
        self, services: Services, values: list[Any], *, hooked: bool
    ) -> tuple[Outcome, Loc | None, str, t.IntType | None]:
        try:
            code = self.compiled(self.flowgraph.name, hooked=hooked)
            assert code is not None
            result = execute(services, code, values)
            return self._returned(result, values, services.world), None, "", None
        except Stop as stop:
            wanted = stop.type if isinstance(stop, UsedUp) else None
            return Outcome(stop.status, detail=stop.reason), stop.where or _stopped_at(stop), stop.reason, wanted
        except Uncompilable as error:
            reason = str(error)
        except RecursionError:
            reason = "calls are nested too deep for the interpreter"
        except ZeroDivisionError:
            reason = "a division by zero that no check of the flowgraph precedes"
        except (ValueError, OverflowError) as error:
            if "shift" not in str(error) and "exponent" not in str(error) and "too large" not in str(error):
                raise
            reason = f"an operation without a value that no check of the flowgraph precedes: {error}"
        except MemoryError:
            reason = "the run takes more memory than there is"
        return Outcome("unknown", detail=reason), None, reason, None

    def _returned(self, result: Any, values: list[Any], world: World) -> Outcome:
        if isinstance(result, MissingValue):
            if self.flowgraph.result is not None:
                result.refuse()
            result = None
        outputs: list[tuple[int, ...]] = []
        for parameter, value in zip(self.flowgraph.parameters, values, strict=True):
            if parameter.object is not None and parameter.pointee is not None:
                storage = value[0]
                outputs.append(() if storage is None else elements(storage, parameter.pointee))
        finals = {scalar.name: self._final(scalar, world) for scalar in self._globals}
        returned = result if isinstance(result, int) and not self.flowgraph.result_is_pointer else None
        return Outcome("ok", returned, tuple(outputs), MappingProxyType(finals))

    def _final(self, scalar: GlobalScalar, world: World) -> int:
        storage = world.filled(scalar.described, self.pointer_size)
        return load_slowly(storage, 0, storage.size, scalar.type.signed)

    def _arguments(self, arguments: Sequence[Argument], world: World) -> list[Any]:
        parameters = self.flowgraph.parameters
        name = self.flowgraph.source_name
        given: list[Argument] = list(arguments)
        if name == "main" and not given and len(parameters) >= 2:
            given = [1, *[None] * (len(parameters) - 1)]
        if len(given) != len(parameters):
            raise UsageError(f"{name} takes {len(parameters)} arguments, not {len(given)}")
        values: list[Any] = []
        shared: dict[int, Any] = {}
        given_memory = _GivenMemory(world, self.pointer_size)
        for parameter, value in zip(parameters, given, strict=True):
            first = shared.get(parameter.object) if parameter.shared and parameter.object is not None else None
            if first is not None and isinstance(value, int):
                size = byte_size(parameter.pointee) if parameter.pointee is not None else 1
                values.append((first, value * size))
                continue
            values.append(self._argument(parameter, value, given_memory))
            if parameter.shared and parameter.object is not None and values[-1][0] is not None:
                shared.setdefault(parameter.object, values[-1][0])
        given_memory.lead_back()
        return values

    def _argument(self, parameter: Parameter, value: Argument, memory: _GivenMemory) -> Any:
        name = self.flowgraph.source_name
        if parameter.object is None:
            if value is None and parameter.var is None:
                return MissingValue(f"reads the parameter {parameter.name}, which is no integer")
            if not isinstance(value, int):
                raise UsageError(f"{name}: the parameter {parameter.name} takes an integer, not {value!r}")
            kind = parameter.type
            held = parameter.var.type if parameter.var is not None else kind
            if kind is not None and held is not None and held.width is not None and not kind.holds(value):
                raise UsageError(f"{name}: {value} is outside the range of {parameter.name}")
            return value
        if value is None:
            if name == "main":
                # argv: there, but what it points to is not given
                return memory.world.add(Storage(parameter.name, bytearray(), bytearray(), 0, -1)), 0
            return None, 0
        if isinstance(value, int):
            raise UsageError(f"{name}: the pointer {parameter.name} takes a list of values, not {value}")
        if isinstance(value, bytes | bytearray | PointedContent):
            return memory.stored(parameter.name, value)
        if parameter.pointee is None:
            raise UsageError(f"{name}: {parameter.name} does not point to integers; give its content as bytes")
        size = byte_size(parameter.pointee)
        signed = parameter.pointee.signed if self.mathematical else None
        storage = blank(parameter.name, size * len(value), zeroed=True)
        for at, element in enumerate(value):
            store_slowly(storage, at * size, size, element, signed)
        return memory.world.add(storage), 0


class _GivenMemory:
    """The memory that the arguments of one run point to."""

    def __init__(self, world: World, pointer_size: int) -> None:
        self.world, self.pointer_size = world, pointer_size
        self.named: dict[str, tuple[Storage, int]] = {}
        self.back: list[tuple[Storage, int, SameContent]] = []
        """Pointers to memory that has a name: where they lie, and where they lead."""

    def stored(self, name: str, value: bytes | bytearray | PointedContent) -> tuple[Storage, int]:
        """New memory with this content, and the byte to which the pointer points."""
        given = value if isinstance(value, PointedContent) else PointedContent(bytes(value), ())
        storage = blank(name, len(given.content), zeroed=True)
        storage.data[:] = given.content
        if given.name:
            self.named[given.name] = storage, given.start
        for at, inner in given.pointers:
            if isinstance(inner, SameContent):
                self.back.append((storage, at, inner))
            else:
                store_cell(storage, at, (*self.stored(f"what {name} leads to", inner), self.pointer_size))
        return self.world.add(storage), given.start

    def lead_back(self) -> None:
        """Set the pointers to memory that has a name."""
        for storage, at, same in self.back:
            if same.name not in self.named:
                raise UsageError(f"there is no content {same.name} that a pointer leads to")
            pointee, start = self.named[same.name]
            store_cell(storage, at, (pointee, start + same.at, self.pointer_size))


def _stopped_at(stop: Stop) -> Loc | None:
    """The place of the statement at which a run ended that did not know its own."""
    found, here = None, stop.__traceback__
    while here is not None:
        code = here.tb_frame.f_globals.get("code")
        if isinstance(code, Compiled):
            found = code.place(here.tb_lineno)
        here = here.tb_next
    return found


def _memory_of(
    pointer: tuple[Storage | None, int], told: list[Storage], around: tuple[Storage, ...] = ()
) -> WholeObject | None:
    """What a pointer points to, None where there is no such memory; ``around``: the objects that led there; ``told``:
    those that were told before, once for each way.
    """
    storage = pointer[0]
    if storage is None or storage.size < 0 or storage.dead:
        return None
    if (
        len(around) >= MAX_POINTER_DEPTH
        or len(told) >= MAX_FOLLOWED_POINTERS
        or any(storage is other for other in around)
    ):
        return None
    told.append(storage)
    found = {
        at: _memory_of((cell[0], 0), told, (*around, storage)) if cell[1] == 0 else None
        for at, cell in sorted(storage.cells.items(), key=lambda pair: pair[0])
        if cell[0] is not None
    }
    return WholeObject(bytes(storage.data), found)


def elements(storage: Storage, type: t.IntType) -> tuple[int, ...]:
    """The content of an argument as integers of its element type."""
    size = byte_size(type)
    if size == 0 or storage.size < 0:
        return ()
    return tuple(load_slowly(storage, at, size, type.signed) for at in range(0, storage.size - size + 1, size))

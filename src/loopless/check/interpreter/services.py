"""What compiled flowgraphs ask of the run while they execute: inputs, calls, jumps over loops, and whether to go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from loopless import clock
from loopless import terms as t
from loopless.check.interpreter.by_value import own_copies
from loopless.check.interpreter.guarded import GuardedFrame
from loopless.check.interpreter.library import is_library, library_call
from loopless.check.interpreter.memory import ActivationMemory, World
from loopless.check.interpreter.naming import callee_named, holding, object_named, symbol_of
from loopless.check.interpreter.repeating import REPEATED_CALL, LoopWatch, OpenCalls, equal
from loopless.check.interpreter.storage import Storage
from loopless.check.interpreter.values import InputStream, MissingValue, Stop, UsedUp, Value, reduced
from loopless.check.outcome import Status
from loopless.flowgraph.callees.streams import INPUTS, counts_inputs
from loopless.flowgraph.model import Flowgraph, LoopInfo, MemoryObject, Parameter
from loopless.limits.check import FIRST_CHARGED_ITERATION, MAX_UNCHARGED_ITERATIONS
from loopless.records import dataclass
from loopless.source.ir import Loc
from loopless.stepping import forbidden, stepping

if TYPE_CHECKING:
    from loopless.check.interpreter.codegen import Compiled


def _no_numbers() -> Mapping[str, int]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Extent:
    """The bytes of an object, from ``low`` to before ``high``, as a function counts them; ``storage`` is the object."""

    storage: Storage
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Written:
    """An element that is written: ``value``, of ``type``, at the byte ``offset`` of what a function calls ``array``."""

    array: str
    offset: int
    type: t.IntType
    value: int


@dataclass(frozen=True, slots=True)
class Jump:
    """A loop passed over at once.

    ``status`` "exits": the loop is left by ``edge``, a pair (block, index of its edge) of the loop's ``exits``, where
    the variables of ``values`` have these values (the others are as at entry); the edge's own assignments are still to
    come. ``iterations`` counts the taken back edges, by loop name, of this loop and those inside. ``written``: what is
    written to memory, in this order. With another status the run ends in the loop, for ``reason``.
    """

    values: Mapping[t.Var, int] = field(default_factory=lambda: MappingProxyType({}))
    edge: tuple[str, int] | None = None
    iterations: Mapping[str, int] = field(default_factory=_no_numbers)
    status: Literal["exits", "diverges", "undefined", "error-reached", "aborted", "unknown"] = "exits"
    reason: str = ""
    written: Sequence[Written] = ()


@dataclass(frozen=True, slots=True)
class Application:
    """A whole call passed over at once.

    With ``status`` "ok" it returns ``result``, and the variables of ``values`` that stand for memory of the caller have
    these values (the others are as at entry). With another status it ends for ``reason``. ``iterations`` counts the
    taken back edges by loop name, ``drawn`` the inputs that were read.
    """

    status: Status = "ok"
    result: int | None = None
    values: Mapping[t.Var, int] = field(default_factory=lambda: MappingProxyType({}))
    iterations: Mapping[str, int] = field(default_factory=_no_numbers)
    drawn: int = 0
    reason: str = ""


CallHook = Callable[[Mapping[t.Var, int], Sequence[int]], "Application | None"]
"""Called at the entry of the outermost call, with the values of all variables that have one and with the inputs that
can be read; None: interpret it."""


class LoopState(dict[t.Var, int]):
    """The values of variables at a loop's header; ``content``: what memory holds there, by the names of objects;
    ``extent``: where the bytes of an object are.
    """

    def __init__(self, values: Mapping[t.Var, int], content: t.Reader, extent: Callable[[str], Extent]) -> None:
        super().__init__(values)
        self.content = content
        self.extent = extent


LoopHook = Callable[[LoopInfo, LoopState], "Jump | None"]
"""Called at each entry of a loop from outside, with the values of all variables that have one; None: interpret it."""


@dataclass(frozen=True, slots=True)
class StepLimits:
    """Bounds on one run: taken back edges and calls, a time of :func:`loopless.clock.now`, the nesting of calls."""

    max_steps: int = 10_000_000
    deadline: float | None = None
    max_depth: int = 1000


@dataclass(frozen=True, slots=True)
class Hooks:
    """Who may pass over loops, and over the whole call."""

    on_loop: LoopHook | None = None
    on_call: CallHook | None = None


_NO_HOOKS = Hooks()


class Services:
    """One run: its inputs, its memory, its limits, its counts."""

    def __init__(
        self,
        compiled: Callable[[str], Compiled | None],
        world: World,
        inputs: InputStream,
        limits: StepLimits,
        *,
        hooks: Hooks = _NO_HOOKS,
        pointer_size: int = 8,
        mathematical: bool = False,
    ) -> None:
        self.compiled = compiled
        self.world = world
        self.inputs = inputs
        self.nondet = inputs.nondet
        self.uninitialised = inputs.uninitialised
        self.limits = limits
        self.hook = hooks.on_loop
        self.on_call = hooks.on_call
        self.pointer_size = pointer_size
        self.mathematical = mathematical
        self.first = 1 if forbidden() else min(FIRST_CHARGED_ITERATION, limits.max_steps + 1)
        self.steps = self.depth = 0
        self.drawn = self.uninitialised_drawn = 0
        self.iterations: dict[str, int] = {}
        self.calls: dict[str, int] = {}
        self.open = OpenCalls()
        self.returned: tuple[str, Loc | None] = ("", None)
        """The function that came last to one of several returns, and to which."""

    def enter(self, code: Compiled, frame: ActivationMemory) -> Activation:
        """An activation of the function begins."""
        return Activation(self, code, frame)

    def draw(self, width: int | None, signed: bool, place: tuple[str, Loc | None]) -> int:  # noqa: FBT001
        """The next input of the program, reduced to its type as a native run does."""
        at = self.inputs.place(self.drawn)
        if at >= len(self.nondet):
            name, loc = place
            reason = f"the inputs are used up: {name}{_at(loc)} asks for input {at + 1}"
            raise UsedUp(reason, loc, t.IntType(width, signed))
        self.drawn += 1
        return reduced(self.nondet[at], t.IntType(width, signed))

    def fresh(self, width: int | None, signed: bool, missing: MissingValue) -> Value:  # noqa: FBT001
        """What an uninitialised variable holds: the next of the values given for that, or an unknown value."""
        stream = self.uninitialised
        if stream is None:
            return missing
        at = self.uninitialised_drawn
        if at >= len(stream):
            reason = f"the values for uninitialised variables are used up: {missing.reason}"
            raise Stop("unknown", reason, missing.where)
        self.uninitialised_drawn = at + 1
        return t.IntType(width, signed).wrap(stream[at])

    def position(self) -> tuple[int, int]:
        """Which inputs are still to come."""
        return self.inputs.place(self.drawn), self.uninitialised_drawn

    def step(self) -> None:
        """A back edge that belongs to no loop."""
        stepping("a way back is interpreted")
        self.charge(1)

    def charge(self, steps: int) -> None:
        """Count steps, and end the run at its limits."""
        self.steps += steps
        if self.steps > self.limits.max_steps:
            raise Stop("timeout", f"more than {self.limits.max_steps} steps")
        if self.limits.deadline is not None and clock.now() > self.limits.deadline:
            raise Stop("timeout", f"the time limit, after {self.steps} steps")


class Activation:
    """One activation of a function."""

    def __init__(self, services: Services, code: Compiled, frame: ActivationMemory) -> None:
        self.services = services
        self.code = code
        self.frame = frame
        self.watches: dict[int, LoopWatch] = {}
        self.calls = 0

    def tick(self, loop: int, count: int, key: tuple[Value, ...], place: int) -> tuple[int, Value | None]:
        """Iteration ``count`` of the loop is over and the state is ``key``: go on, until the counter reaches the first
        of the results or the variable at ``place`` of the key equals the second.

        Raises :class:`Stop` ``diverges`` where the whole state, memory and inputs included, is one that the same loop
        of this activation was in before, and ``timeout`` at the limits.
        """
        stepping(f"an iteration of {self.code.loops[loop].name} was interpreted")
        services = self.services
        watch = self.watches.get(loop)
        if watch is None:
            watch = self.watches[loop] = LoopWatch(charge=services.first)
        inputs = services.position()
        then, mark = watch.key, watch.mark
        if then is not None and mark is not None and watch.inputs == inputs:  # noqa: SIM102  cheap tests come first
            if equal(key, then) and services.world.same(mark):
                raise Stop("diverges", "the state of the loop repeats itself", self.code.loops[loop].loc)
        if count >= watch.renew:
            watch.key, watch.inputs, watch.mark = key, inputs, services.world.mark()
            watch.renew = 2 * count
        if count >= watch.charge:
            passed, watch.charged = count - watch.charged, count
            watch.charge = count + max(
                1, min(MAX_UNCHARGED_ITERATIONS, services.limits.max_steps - services.steps - passed + 1)
            )
            services.charge(passed)
        return min(watch.renew, watch.charge), watch.key[place] if place >= 0 and watch.key is not None else None

    def _content(self, values: Mapping[t.Var, int], array: str, offset: int, type: t.IntType) -> int:
        """What memory holds: an element of the object that the function calls ``array``, or a pointer points to; or an
        input that is still to come.
        """
        if array == INPUTS:
            services = self.services
            place = services.inputs.place(services.drawn + offset)
            if place >= len(services.nondet):
                raise t.EvaluationError("the inputs are used up")
            return reduced(services.nondet[place], type)
        number = self._number(values, array)
        if type.width is None:
            raise t.EvaluationError(f"the content of {array} is not known")
        try:
            held = self.frame.load(number, offset, (type.width + 7) // 8, type.signed)
        except Stop as stop:
            raise t.EvaluationError(stop.reason) from None
        return holding(held, type)

    def _number(self, values: Mapping[t.Var, int], array: str) -> int:
        """The number of the object that the function calls ``array``, or a pointer of that name points to. Raises
        :class:`EvaluationError` where there is none.
        """
        number = object_named(self.code.flowgraph, array)
        pointer = self.code.flowgraph.pointer_called(array) if number < 0 else None
        number = number if pointer is None else values.get(pointer, -1)
        if number < 0:
            raise t.EvaluationError(f"the content of {array} is not known")
        return number

    def _extent(self, values: Mapping[t.Var, int], array: str) -> Extent:
        """Where the bytes of an object are."""
        try:
            storage, base = self.frame.place(self._number(values, array))
        except Stop as stop:
            raise t.EvaluationError(stop.reason) from None
        if storage.dead or storage.size < 0 or self.services.mathematical:
            raise t.EvaluationError(f"the content of {array} is not known")
        return Extent(storage, -base, storage.size - base)

    def jump(self, loop: int, values: tuple[Value, ...]) -> tuple[int, tuple[Value, ...]] | None:
        """Ask the hook whether it knows what the loop does from here."""
        hook = self.services.hook
        code = self.code
        if hook is None:
            return None
        info = code.loops[loop]
        known = {v: x for v, x in zip(code.variables, values, strict=True) if not isinstance(x, MissingValue)}
        found = hook(info, LoopState(known, partial(self._content, known), partial(self._extent, known)))
        if found is None:
            return None
        for name, count in found.iterations.items():
            self.services.iterations[name] = self.services.iterations.get(name, 0) + count
        if found.status != "exits":
            raise Stop(found.status, found.reason, info.loc)
        if found.edge not in info.exits:
            raise ValueError(f"{info.name} has no exit {found.edge}")
        for one in found.written:
            number, size = self._number(known, one.array), (one.type.width or 0) // 8
            self.frame.store(number, one.offset, size, one.value, one.type.signed)
        changed = list(values)
        for var, value in found.values.items():
            if counts_inputs(var):
                self.services.drawn += value
                continue
            if not var.type.holds(value):
                raise ValueError(f"{value} is outside the range of {var.name}")
            changed[code.index[var]] = value
        return info.exits.index(found.edge), tuple(changed)

    def leave(self, counts: tuple[int, ...]) -> None:
        """The activation ends, in whatever way."""
        services = self.services
        for at, count in enumerate(counts):
            if count:
                name = self.code.loops[at].name
                services.iterations[name] = services.iterations.get(name, 0) + count
                watch = self.watches.get(at)
                services.steps += count - (watch.charged if watch is not None else 0)
        self.frame.leave()

    # -- calls --------------------------------------------------------------------------------------------------------

    def call(self, place: tuple[str, Loc | None], arguments: tuple[Any, ...], writes: bool) -> Any:  # noqa: FBT001
        """The result of a call: an integer, a pointer in this activation's numbers, an unknown value, or None."""
        name, loc = place
        services = self.services
        code = services.compiled(name)
        if code is None:
            if is_library(name):
                self.frame.watching = False
                result = library_call(name, self.frame, arguments)
                self.frame.watching = True
                return result
            if writes:
                raise Stop("unknown", f"calls {callee_named(name)}{_at(loc)}, whose body is not known", loc)
            return MissingValue(f"needs the result of {callee_named(name)}{_at(loc)}, whose body is not known", loc)
        services.depth += 1
        if services.depth > services.limits.max_depth:
            raise Stop(
                "unknown", f"calls are nested more than {services.limits.max_depth} deep, at {name}{_at(loc)}", loc
            )
        self.calls += 1
        number = services.calls[name] = services.calls.get(name, 0) + 1
        services.charge(1)
        outside = tuple(self.frame.pointer(*a) if isinstance(a, tuple) else a for a in arguments)
        if services.open.begin((name, number, services.depth), outside, services.position(), services.world):
            raise Stop("diverges", REPEATED_CALL, loc)
        outside, copies = own_copies(code.flowgraph, outside, services.world)
        result = execute(services, code, outside)
        for copy in copies:
            services.world.end(copy, "whose function has returned")
        services.open.end(name, services.depth)
        services.depth -= 1
        if isinstance(result, tuple):
            return self.frame.number_of(*result)
        return result


def execute(services: Services, code: Compiled, arguments: Sequence[Any]) -> Any:
    """One activation of ``code``. Arguments and result: integers, unknown values, pointers as (storage, offset)."""
    flowgraph = code.flowgraph
    frame = _frame(services, code)
    values: list[Value] = [_no_value(var) for var in code.variables]
    bind_parameters(code, frame, values, arguments)
    bind_pointees(code, frame)
    for item in code.shared:
        if item.local:
            continue
        if (
            item.number in frame.places
            or flowgraph.objects[item.number].kind != "parameter"
            or item.number in frame.null
        ):
            signed, width = item.var.type.signed, item.var.type.width
            if item.owner is not None:
                owner, offset = frame.fetch_pointer(item.number, item.offset, item.size)
                values[code.index[item.owner]], values[code.index[item.var]] = owner, offset
            else:
                values[code.index[item.var]] = frame.fetch(item.number, item.offset, item.size, signed, width)
    application = _ask(services, code, values) if services.on_call is not None and services.depth == 0 else None
    result = (
        code.run(services, frame, values) if application is None else _land(services, code, frame, values, application)
    )
    if isinstance(result, tuple) and not any(isinstance(part, MissingValue) for part in result):
        return frame.pointer(*result)
    return result[0] if isinstance(result, tuple) else result


def _ask(services: Services, code: Compiled, values: Sequence[Value]) -> Application | None:
    """Whether the hook knows what the call does."""
    assert services.on_call is not None
    given = {v: x for v, x in zip(code.variables, values, strict=True) if not isinstance(x, MissingValue)}
    return services.on_call(given, services.nondet)


def _land(
    services: Services, code: Compiled, frame: ActivationMemory, values: list[Value], application: Application
) -> int | None:
    """Carry out what the hook says."""
    services.drawn += application.drawn
    for name, count in application.iterations.items():
        services.iterations[name] = services.iterations.get(name, 0) + count
    if application.status != "ok":
        raise Stop(application.status, application.reason)
    for var, value in application.values.items():
        if not var.type.holds(value):
            raise ValueError(f"{value} is outside the range of {var.name}")
        values[code.index[var]] = value
    for item in code.shared:
        if item.local or not item.size or (item.var not in application.values and item.owner not in application.values):
            continue
        held = values[code.index[item.var]]
        if item.owner is not None:
            frame.sync_pointer(item.number, item.offset, item.size, values[code.index[item.owner]], held)
        else:
            frame.sync(item.number, item.offset, item.size, held, item.var.type.signed)
    return application.result


_NO_VALUES: dict[t.Var, MissingValue] = {}


def _no_value(var: t.Var) -> MissingValue:
    found = _NO_VALUES.get(var)
    if found is None:
        found = _NO_VALUES[var] = MissingValue(f"reads {var.name}, which has no value")
    return found


def bind_parameters(code: Compiled, frame: ActivationMemory, values: list[Value], arguments: Sequence[Any]) -> None:
    """Give the parameters their values."""
    parameters = code.flowgraph.parameters
    if len(parameters) != len(arguments):
        given = f"{code.flowgraph.source_name} is called with {len(arguments)} arguments"
        if len(arguments) > len(parameters):  # variable ones, or what a declaration without a prototype lets pass
            raise Stop("unknown", f"{given}, of which it names {len(parameters)}; the others are not followed")
        raise Stop("unknown", f"{given} instead of {len(parameters)}")
    for parameter, argument in zip(parameters, arguments, strict=True):
        if parameter.object is not None:
            if not isinstance(argument, tuple):
                raise Stop("unknown", f"the argument for the pointer {parameter.name} is no pointer")
            storage, offset = argument
            if storage is None and offset != 0:
                raise Stop("unknown", f"the argument for {parameter.name} is a number turned into a pointer")
            start = 0
            if parameter.shared and parameter.object in frame.places:
                start = _shared_offset(code.flowgraph, frame, parameter, storage, offset)
            else:
                _bind_pointer(code.flowgraph, frame, parameter.object, storage, offset)
            if parameter.var is not None:
                values[code.index[parameter.var]] = start
            if parameter.null is not None:
                values[code.index[parameter.null]] = int(storage is None)
            elif storage is None:
                raise Stop("unknown", f"{parameter.name} is null, and the function is taken never to see that")
        elif parameter.var is not None:
            if isinstance(argument, tuple):
                raise Stop("unknown", f"the argument for {parameter.name} is a pointer")
            if not isinstance(argument, MissingValue):
                argument = _read_as(argument, parameter.type, parameter.var.type)
            values[code.index[parameter.var]] = argument


def _frame(services: Services, code: Compiled) -> ActivationMemory:
    """The memory of an activation; watched where variables stand for parts of it."""
    graph = code.flowgraph
    if not code.held:
        return ActivationMemory(
            services.world, graph.objects, services.pointer_size, mathematical=services.mathematical
        )
    return GuardedFrame(
        services.world,
        graph.objects,
        services.pointer_size,
        code.held,
        graph.assumptions,
        mathematical=services.mathematical,
    )


def bind_pointees(code: Compiled, frame: ActivationMemory) -> None:
    """Let the objects that stand for what pointers in memory point to be those that they point to now."""
    flowgraph = code.flowgraph
    wanted = {item.number for item in code.shared if flowgraph.objects[item.number].kind == "pointee"}
    for number in sorted(wanted, key=lambda number: _depth(flowgraph, number)):
        holder = flowgraph.objects[number].holder
        assert holder is not None
        try:
            storage, at = frame.pointer_at(*holder)
        except Stop:
            continue  # there is no pointer, or none that is known
        if storage is None:
            frame.null.add(number)
        else:
            _bind_pointer(flowgraph, frame, number, storage, at)


def _depth(flowgraph: Flowgraph, number: int) -> int:
    holder = flowgraph.objects[number].holder
    return 0 if holder is None else 1 + _depth(flowgraph, holder[0])


def _read_as(value: int, declared: t.IntType | None, held: t.IntType) -> int:
    """The bits of an argument, which the caller may have read with another sign, as the parameter reads them."""
    if held.width is None:
        return value
    if declared is not None and declared.width == 1:
        return int(value != 0)
    return held.wrap(value)


def _bind_pointer(
    flowgraph: Flowgraph, frame: ActivationMemory, number: int, storage: Storage | None, offset: int
) -> None:
    """Let the parameter's object stand for what the argument points to."""
    if storage is None:
        frame.null.add(number)
        return
    named = storage.symbol and any(_is_symbol(o, storage.symbol) for o in flowgraph.objects.values())
    if id(storage) in frame.numbers or named:
        # The flowgraph takes its objects to be different ones.
        raise Stop("unknown", f"two pointers of {flowgraph.source_name} point into {storage.name}")
    frame.bind(number, storage, offset)


def _shared_offset(
    flowgraph: Flowgraph, frame: ActivationMemory, parameter: Parameter, storage: Storage | None, offset: int
) -> int:
    """Where the pointer points in the object that it shares with an earlier parameter."""
    assert parameter.object is not None
    first, base = frame.places[parameter.object]
    if storage is not first:
        others = [p.name for p in flowgraph.parameters if p.object == parameter.object]
        names = " and ".join(others)
        raise Stop("unknown", f"{names} are compared, so they are taken to point into one object, but they do not")
    return offset - base


def _is_symbol(described: MemoryObject, symbol: str) -> bool:
    return described.kind == "global" and symbol_of(described) == symbol


def _at(loc: Loc | None) -> str:
    return f" at {loc}" if loc is not None else ""

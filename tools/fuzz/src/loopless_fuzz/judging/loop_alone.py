"""One loop taken out of its function: any state at the loop's header is an input, the state at its exit the result.

The loop's blocks are those of the function, unchanged; only where they lead out of the loop does the run end. What the
interpreter says of such a run is the truth about the loop, whether or not the function ever comes to that state.

What the objects hold that the loop reads or writes is part of the state: see :mod:`loopless_fuzz.judging.contents`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Literal

from loopless import terms as t
from loopless.check.interpreter.codegen import Compiled
from loopless.check.interpreter.memory import World
from loopless.check.interpreter.relevance import RelevantVariables
from loopless.check.interpreter.run import Interpreter
from loopless.check.interpreter.services import Services, StepLimits
from loopless.check.interpreter.values import InputStream, Stop, UsedUp, Value
from loopless.check.outcome import Status
from loopless.errors import UsageError
from loopless.flowgraph.callees.streams import INPUTS, counter_of
from loopless.flowgraph.model import (
    Assign,
    Assume,
    Block,
    Check,
    Copy,
    Edge,
    End,
    Expire,
    Fill,
    Flowgraph,
    Havoc,
    Kind,
    Load,
    LoopInfo,
    MemoryObject,
    Origin,
    Parameter,
    Statement,
    Store,
    VariableInfo,
)
from loopless_fuzz.judging.contents import (
    INPUT_SIZE,
    Content,
    Contents,
    Given,
    Outside,
    accessed_by,
    countable,
    inputs_of,
    looked_at,
)

_NOTHING_GIVEN: Final[Contents] = MappingProxyType({})
_DIGIT = 1 << 66
_OFFSET = 1 << 65
"""A state is returned as one integer, a digit for each variable: wide enough for 64 bits with either sign."""


def _nothing() -> Mapping[t.Var, int]:
    return {}


def _no_counts() -> Mapping[str, int]:
    return {}


def _no_reads() -> Mapping[str, frozenset[int]]:
    return {}


@dataclass(frozen=True, slots=True)
class Truth:
    """What the loop does from one state at its header.

    ``status``: "ok" where it is left by an edge of the flowgraph, ``exit``, with ``values`` just before that edge; the
    others as in :class:`loopless.check.outcome.Outcome`. ``iterations``: taken back edges; ``per_path``: how many of
    them began in a state that satisfies the path's condition; ``totals``: those of the loops inside, by name, that were
    entered. ``line``: where the run ended, if it was not left.

    ``status`` "outside": it reads or writes where no content is given, so that nothing is known of what follows.
    ``reads``: by the names of objects whose size the flowgraph does not know, the bytes that were read or written.
    ``after``: what the objects hold at the end that the loop may write.
    """

    status: Status | Literal["outside"]
    exit: tuple[str, int] | None = None
    values: Mapping[t.Var, int] = field(default_factory=_nothing)
    iterations: int = 0
    per_path: Mapping[str, int] = field(default_factory=_no_counts)
    line: int = 0
    reason: str = ""
    totals: Mapping[str, int] = field(default_factory=_no_counts)
    reads: Mapping[str, frozenset[int]] = field(default_factory=_no_reads)
    after: Contents = field(default_factory=lambda: _NOTHING_GIVEN)


class LoopAlone:
    """The judge of one loop that works on integer variables and on memory."""

    def __init__(self, flowgraph: Flowgraph, loop: LoopInfo, paths: Mapping[str, t.Condition] | None = None) -> None:
        """``paths``: the conditions, on the state at the header, by which iterations are counted. Those that hold terms
        the interpreter does not know, or read what pointers point to by the pointers' names, are not counted.

        Raises:
            UsageError: if the loop accesses unknown objects, handles pointers in memory, or calls functions, so that
                its header's state and the contents of objects do not decide what it does.
        """
        self.loop = loop
        blocks = {label: flowgraph.blocks[label] for label in flowgraph.blocks if label in loop.blocks}
        _refuse_what_is_outside(flowgraph, loop, blocks)
        self.contents: tuple[Content, ...] = accessed_by(flowgraph, loop, blocks.values())
        """The objects that the loop reads or writes."""
        read = frozenset(content.name for content in self.contents)
        occurring = _occurring(blocks.values())
        if any(content.name == INPUTS for content in self.contents):
            occurring |= {counter_of(INPUTS)}
        self.variables = tuple(sorted(occurring, key=lambda var: var.key))
        """All variables that the loop names, and the number of inputs that are read, 0 at the header."""
        self.paths = {
            name: condition
            for name, condition in (paths or {}).items()
            if countable(condition, read) and condition.variables <= occurring
        }
        counters = {name: _counter(at) for at, name in enumerate(self.paths)}
        live = RelevantVariables(flowgraph, results=True).at
        used = live[loop.header].union(*(live[flowgraph.blocks[at].edges[index].target] for at, index in loop.exits))
        shown = tuple(v for v in self.variables if v in used)
        self._digits = (*shown, *counters.values())
        self._reads_inputs = any(content.name == INPUTS for content in self.contents)
        objects = looked_at(flowgraph, self.contents)
        graph = _alone(flowgraph, loop, blocks, (self.variables, self.paths, counters), self._digits, objects)
        relevant = RelevantVariables(graph, results=True).at[loop.header]
        self.entry = tuple(v for v in self.variables if v in relevant)
        """The variables whose values at the header matter: to what the run does, or to what is shown of it."""
        parts = {var: flowgraph.variables[var].pointer_part for var in self.entry if var in flowgraph.variables}
        self.positions = frozenset(var for var, part in parts.items() if part == "offset")
        """Those of ``entry`` that are byte offsets of pointers."""
        self.owners = frozenset(var for var, part in parts.items() if part == "object")
        """Those of ``entry`` that are numbers of objects."""
        self._interpreter = Interpreter(None, graph)
        self._counters = counters
        self._name = loop.name

    def run(
        self,
        state: Mapping[t.Var, int],
        contents: Contents = _NOTHING_GIVEN,
        *,
        max_steps: int = 100_000,
        deadline: float | None = None,
    ) -> Truth:
        """What the loop does from ``state``; variables that are not in it are 0. ``contents``: the bytes of the objects
        that it reads, by their names; of constant tables they are known, and need not be given.
        """
        code = self._code()
        world = World(None, {})
        inputs = InputStream(inputs_of(contents))
        services = Services(self._interpreter.compiled, world, inputs, StepLimits(max_steps, deadline))
        values: list[Value] = [state.get(var, 0) for var in code.variables]
        frame = Given(world, self.contents, contents)

        def reads() -> Mapping[str, frozenset[int]]:
            drawn = {INPUTS: frozenset(range(INPUT_SIZE * services.drawn))} if self._reads_inputs else {}
            return {**frame.bytes_accessed(), **drawn}

        try:
            result = code.run(services, frame, values)
        except (Outside, UsedUp) as outside:
            iterations = services.iterations.get(self._name, 0)
            return Truth("outside", iterations=iterations, reason=outside.reason, reads=reads())
        except Stop as stop:
            line = stop.where.line if stop.where is not None else 0
            iterations = services.iterations.get(self._name, 0)
            return Truth(stop.status, iterations=iterations, line=line, reason=stop.reason, reads=reads())
        except (ArithmeticError, ValueError, MemoryError) as error:
            # What no check of the flowgraph guards has no value; the interpreter knows the words for it.
            if self.contents:
                return Truth("unknown", reason=str(error))
            run = self._interpreter.run([state.get(var, 0) for var in self.variables], max_steps=max_steps)
            return Truth("unknown", reason=run.reason)
        assert isinstance(result, int)
        found = self._decoded(result, services.iterations)
        if self._reads_inputs:
            found = replace(found, values={**found.values, counter_of(INPUTS): services.drawn})
        return replace(found, reads=reads(), after=frame.after())

    def _code(self) -> Compiled:
        found = self._interpreter.compiled(self._interpreter.flowgraph.name)
        assert found is not None
        return found

    def _decoded(self, code: int, iterations: Mapping[str, int]) -> Truth:
        code, exit = divmod(code, _DIGIT)
        values: dict[t.Var, int] = {}
        for var in self._digits:
            code, digit = divmod(code, _DIGIT)
            values[var] = digit - _OFFSET
        counts = {name: values.pop(counter) for name, counter in self._counters.items()}
        totals = {name: count for name, count in iterations.items() if name != self._name}
        return Truth("ok", self.loop.exits[exit], values, iterations.get(self._name, 0), counts, totals=totals)


def _counter(at: int) -> t.Var:
    return t.Var(f"iterations of path {at}", t.INTEGERS)


def _alone(
    flowgraph: Flowgraph,
    loop: LoopInfo,
    blocks: Mapping[str, Block],
    what: tuple[Sequence[t.Var], Mapping[str, t.Condition], Mapping[str, t.Var]],
    digits: Sequence[t.Var],
    objects: Mapping[int, MemoryObject],
) -> Flowgraph:
    variables, paths, counters = what
    made: dict[str, Block] = {}
    entry = _fresh("alone", blocks)
    start = [Assign(counter, t.ZERO) for counter in counters.values()]
    made[entry] = Block(entry, tuple(start), (Edge(t.TRUE, loop.header),))
    leaving = {edge: f"{entry} exit {at}" for at, edge in enumerate(loop.exits)}
    for label, block in blocks.items():
        edges = tuple(
            Edge(edge.condition, leaving[label, at], (), edge.loc) if (label, at) in leaving else edge
            for at, edge in enumerate(block.edges)
        )
        statements: tuple[Statement, ...] = tuple(s for s in block.statements if not _taken_for_granted(s))
        if label == loop.header:
            counted = [Assign(counters[n], t.ite(c, counters[n] + 1, counters[n])) for n, c in paths.items()]
            statements = (*counted, *statements)
        made[label] = replace(block, statements=statements, edges=edges)
    for at, label in enumerate(leaving.values()):
        made[label] = Block(label, (), (), End("return", _code(at, digits)))
    parameters = tuple(Parameter(var.name, var, var.type) for var in variables)
    infos = {var: VariableInfo(var, var.name, Kind.LOCAL) for var in (*variables, *counters.values())}
    inside = tuple(other for other in flowgraph.loops if other.header in loop.blocks)
    own = tuple(replace(other, parent=None) if other.header == loop.header else other for other in inside)
    return Flowgraph(
        flowgraph.name, flowgraph.source_name, parameters, None, False, made, entry, infos, objects, own, (), loop.loc
    )


def _taken_for_granted(statement: Statement) -> bool:
    """Whether it checks only that an access stays inside of its object, which is not what the loop is judged by."""
    return isinstance(statement, Check) and statement.of_access


def _code(exit: int, digits: Sequence[t.Var]) -> t.Term:
    parts: list[t.Term] = [t.const(exit)]
    place = _DIGIT
    for var in digits:
        parts.append((var + _OFFSET) * place)
        place *= _DIGIT
    return t.add(*parts)


def _fresh(name: str, blocks: Mapping[str, Block]) -> str:
    while any(label.startswith(name) for label in blocks):
        name += "_"
    return name


def _nodes(block: Block) -> Iterable[t.Node]:
    """The terms and conditions of a block without calls."""
    for statement in block.statements:
        match statement:
            case Assign():
                yield statement.target
                yield statement.value
            case Check() | Assume():
                yield statement.condition
            case Havoc():
                yield statement.target
            case Load():
                yield from (statement.target, statement.address.object, statement.address.offset)
            case Store():
                yield from (statement.address.object, statement.address.offset, statement.value)
            case Fill():
                yield from (statement.address.object, statement.address.offset, statement.byte, statement.length)
            case Copy(target=to, source=source):
                yield from (to.object, to.offset, source.object, source.offset, statement.length)
            case _:
                pass
    for edge in block.edges:
        yield edge.condition
        for target, value in edge.assigns:
            yield target
            yield value


def _occurring(blocks: Iterable[Block]) -> frozenset[t.Var]:
    return frozenset(
        var for block in blocks for node in _nodes(block) for var in t.walk(node) if isinstance(var, t.Var)
    )


def _refuse_what_is_outside(flowgraph: Flowgraph, loop: LoopInfo, blocks: Mapping[str, Block]) -> None:
    for label, block in blocks.items():
        if label in flowgraph.blocked:
            raise UsageError(f"{loop.name}: {flowgraph.blocked[label].detail}")
        for statement in block.statements:
            if isinstance(statement, Havoc) and statement.origin is Origin.NONDET:
                continue
            if not isinstance(statement, Assign | Check | Assume | Load | Store | Fill | Copy | Expire):
                raise UsageError(f"{loop.name} depends on more than its variables: {type(statement).__name__.lower()}")

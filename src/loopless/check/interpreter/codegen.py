"""A flowgraph as one Python function, compiled.

The function takes the run's services, the frame of the activation, and the initial values of all variables; it returns
the result or raises :class:`loopless.check.interpreter.values.Stop`. Variables are Python locals, exact integers; loops
are Python loops (see :mod:`loopless.check.interpreter.block_order`). Every back edge counts an iteration, and asks the
services now and then, and whenever the state may have repeated itself, whether to go on.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from loopless import terms as t
from loopless.check.interpreter.block_order import BlockLayout, BlockRegion, layout
from loopless.check.interpreter.expressions import HELPERS
from loopless.check.interpreter.guarded import Held
from loopless.check.interpreter.relevance import RelevantVariables, perhaps_missing
from loopless.check.interpreter.statements import Shared, StatementWriter, as_integer, as_pointer, assigned
from loopless.check.interpreter.values import MissingValue, Stop, Value
from loopless.flowgraph.model import (
    Block,
    Call,
    Copy,
    Edge,
    Fill,
    Flowgraph,
    Havoc,
    Kind,
    Load,
    LoopInfo,
    Origin,
    Statement,
    Store,
)
from loopless.limits.check import MAX_CHAINED_EDGES, MAX_INDENT
from loopless.records import dataclass
from loopless.source.ir import Loc


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A compiled flowgraph.

    ``run(services, frame, values)`` takes the values of ``variables`` in order. ``keys`` are, by loop, the variables
    whose values decide how a run goes on from the loop's header; ``shared`` the scalars to fetch before and to write
    back after the run (which the function does itself where it returns); ``held`` the bytes of objects that variables
    stand for, where anything else accesses memory.
    """

    flowgraph: Flowgraph
    source: str
    run: Callable[..., Any]
    variables: tuple[t.Var, ...]
    index: Mapping[t.Var, int]
    loops: tuple[LoopInfo, ...]
    keys: tuple[tuple[t.Var, ...], ...]
    shared: tuple[Shared, ...]
    held: Held
    lines: tuple[tuple[int, Loc | None], ...] = ()
    """Where the statements begin in ``source``, lines from 0 on, and their places in the program."""

    def place(self, line: int) -> Loc | None:
        """The place in the program of what stands in this line of ``source``, from 1 on."""
        at = bisect_left(self.lines, line, key=lambda pair: pair[0])
        return self.lines[at - 1][1] if at else None


class Uncompilable(Exception):
    """The flowgraph is beyond what Python's compiler takes."""


def compile_flowgraph(
    flowgraph: Flowgraph,
    *,
    defined: Callable[[str], bool] = lambda _: False,
    hooked: bool = False,
    checked: bool = False,
    pointer_size: int = 8,
) -> Compiled:
    """Compile ``flowgraph``.

    ``defined`` says of which callees the bodies are known; with ``hooked`` loops can be jumped; with ``checked`` every
    value is tested against its variable's range and every branch for exactly one way on.

    Raises:
        Uncompilable: where the terms are too deep or the code too large.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 20_000))
    try:
        return _Writer(flowgraph, defined, pointer_size, hooked=hooked, checked=checked).compile()
    except (RecursionError, SyntaxError, MemoryError) as error:
        raise Uncompilable(f"{flowgraph.source_name} cannot be compiled for interpretation: {error}") from error
    finally:
        sys.setrecursionlimit(limit)


class _Writer(StatementWriter):
    def __init__(
        self, flowgraph: Flowgraph, defined: Callable[[str], bool], pointer_size: int, *, hooked: bool, checked: bool
    ) -> None:
        super().__init__(flowgraph, defined, pointer_size, checked=checked)
        self.hooked = hooked
        self.layout: BlockLayout = layout(flowgraph.blocks, flowgraph.entry, flowgraph.loops)
        relevance = RelevantVariables(flowgraph)
        self.keys = tuple(
            tuple(v for v in self.variables if v in relevance.at[loop.header] and v in self.assigned)
            for loop in flowgraph.loops
        )
        self.emitted: set[str] = set()
        self.begun: list[tuple[int, Loc | None]] = []
        live = RelevantVariables(flowgraph, results=True).at[flowgraph.entry]
        given = {var for p in flowgraph.parameters for var in (p.var, p.null) if var is not None}
        given |= {var for item in self.shared if not item.local for var in (item.var, item.owner) if var is not None}
        doubtful = perhaps_missing(flowgraph, frozenset(given), live)
        loops = zip(flowgraph.loops, self.keys, strict=True)
        self.witnesses = [self._witness(loop, key, doubtful) for loop, key in loops]

    def _witness(self, loop: LoopInfo, key: tuple[t.Var, ...], doubtful: frozenset[t.Var]) -> t.Var | None:
        """A variable whose equality with an earlier value is a cheap sign that the state may have repeated itself."""
        inside = assigned(self.flowgraph, loop.blocks)
        edges = [edge for label in loop.blocks for edge in self.flowgraph.blocks[label].edges]
        steering = {var for edge in edges for var in edge.condition.variables}
        choices = [var for var in key if var in inside and var not in doubtful]

        def rank(var: t.Var) -> tuple[bool, bool, int]:
            info = self.flowgraph.variables.get(var)
            return info is not None and info.kind is Kind.FLAG, var not in steering, -(var.type.width or 64)

        return min(choices, key=rank, default=None)

    # -- the whole ----------------------------------------------------------------------------------------------------

    def compile(self) -> Compiled:
        """Write and compile the function."""
        out = self.out
        out("def run(rt, fr, values):")
        with out.deeper():
            if self.variables:
                out(f"{', '.join(self.names[v] for v in self.variables)}, = values")
            out("ld, st, ldp, stp = fr.read, fr.store, fr.load_pointer, fr.store_pointer")
            out("sync, syncp, fetch, fetchp = fr.sync, fr.sync_pointer, fr.fetch, fr.fetch_pointer")
            loops = range(len(self.flowgraph.loops))
            for loop in loops:
                out(f"i{loop} = 0; l{loop} = rt.first; w{loop} = None")
            out("activation = rt.enter(code, fr); tick = activation.tick; jump = activation.jump")
            out("draw, fresh, call, step = rt.draw, rt.fresh, activation.call, rt.step")
            out("try:")
            with out.deeper():
                self._body()
            out("finally:")
            with out.deeper():
                out(f"activation.leave(({''.join(f'i{loop}, ' for loop in loops)}))")
        source = "\n".join(out.lines) + "\n"
        namespace: dict[str, Any] = dict(HELPERS)
        namespace.update(Stop=Stop, Missing=MissingValue, stop=self._stopper(), lost=_lost)
        namespace.update(chk=_check_range, same=_check_same)
        namespace.update(K=self.missing, P=self.places, as_integer=as_integer, as_pointer=as_pointer)
        exec(compile(source, f"<{self.flowgraph.source_name}>", "exec"), namespace)  # noqa: S102  our own code
        compiled = Compiled(
            self.flowgraph,
            source,
            namespace["run"],
            self.variables,
            {var: at for at, var in enumerate(self.variables)},
            self.flowgraph.loops,
            self.keys,
            self.shared,
            self._held(),
            tuple(self.begun),
        )
        namespace["code"] = compiled
        return compiled

    def _held(self) -> Held:
        """By object the bytes that variables stand for, where something else in the function accesses memory."""
        statements = (s for block in self.flowgraph.blocks.values() for s in block.statements)
        if not any(isinstance(s, Load | Store | Fill | Copy) for s in statements):
            return {}
        held: dict[int, list[tuple[int, int]]] = {}
        for item in self.shared:
            if item.size:
                held.setdefault(item.number, []).append((item.offset, item.offset + item.size))
        return {number: tuple(ranges) for number, ranges in held.items()}

    def _stopper(self) -> Callable[[int], NoReturn]:
        ends = tuple(self.ends)

        def stop(number: int) -> NoReturn:
            raise Stop(*ends[number])

        return stop

    def _body(self) -> None:
        top = self.layout.top
        self.out(f"b = {self.layout.numbers[self.flowgraph.entry]}")
        if top.again:
            self.out("while True:")
            with self.out.deeper():
                self._items(top)
        else:
            self._items(top)

    def _items(self, region: BlockRegion) -> None:
        """The body of a region: its items one after the other, each behind a test of the number."""
        out = self.out
        for at, item in enumerate(region.items):
            label = item if isinstance(item, str) else item.header
            if isinstance(item, str) and item in self.emitted:
                continue
            unguarded = at == 0 and region.doors <= {label}
            if isinstance(item, BlockRegion) and item.doors - {item.header}:
                unguarded = at == 0 and region.doors <= item.blocks
                out("if True:" if unguarded else f"if {item.low} <= b <= {item.high}:")
            else:
                out("if True:" if unguarded else f"if b == {self.layout.numbers[label]}:")
            with out.deeper():
                if isinstance(item, str):
                    self._block(item, region)
                else:
                    self._loop(item, region)
        out("lost(b)")

    def _loop(self, region: BlockRegion, around: BlockRegion) -> None:
        out, loop = self.out, region.loop
        assert loop is not None
        if self.hooked:
            names = "".join(f"{self.names[v]}, " for v in self.variables)
            out(f"j = jump({loop}, ({names})) if b == {self.layout.numbers[region.header]} else None")
            out("if j is None:")
            with out.deeper():
                self._while(region)
            out("else:")
            with out.deeper():
                if self.variables:
                    out(f"e, ({names}) = j")
                for at, (label, number) in enumerate(self.flowgraph.loops[loop].exits):
                    out(f"{'if' if at == 0 else 'elif'} e == {at}:")
                    with out.deeper():
                        edge = self.flowgraph.blocks[label].edges[number]
                        self._assigns(edge)
                        self._came(edge)
                        self._count(label, edge)
                        out(f"b = {self.layout.numbers[edge.target]}")
        else:
            self._while(region)
        self._onward(region, around)

    def _while(self, region: BlockRegion) -> None:
        self.out("while True:")
        with self.out.deeper():
            self._items(region)

    def _onward(self, region: BlockRegion, around: BlockRegion) -> None:
        """Where to go after a loop: on, back in the region around it, or out of that too."""
        leaves = {e.target for label in region.blocks for e in self.flowgraph.blocks[label].edges} - region.blocks
        at = around.place[region.header]
        back = sorted(self.layout.numbers[v] for v in leaves if v in around.blocks and around.place[v] <= at)
        away = sorted(self.layout.numbers[v] for v in leaves if v not in around.blocks)
        for numbers, word in ((back, "continue"), (away, "break")):
            if numbers:
                test = f"b == {numbers[0]}" if len(numbers) == 1 else f"b in {tuple(numbers)}"
                self.out(f"if {test}: {word}")

    # -- blocks and edges ---------------------------------------------------------------------------------------------

    def _block(self, label: str, region: BlockRegion) -> None:
        self.emitted.add(label)
        block = self.flowgraph.blocks[label]
        refused = self.flowgraph.blocked.get(label)
        if refused is not None:
            self.out(self.stop("unknown", refused.detail, None))
            return
        called: str | None = None
        for at, statement in enumerate(block.statements):
            if isinstance(statement, Havoc) and statement.origin is Origin.CALL and statement.name == called:
                continue  # the call has set the variable, or has ended the run
            called = statement.callee if isinstance(statement, Call) else None
            if called is not None:
                self.forgotten = _forgotten(called, block.statements[at + 1 :])
            self.expressions.begin()
            self.begun.append((len(self.out.lines), statement.loc))
            self.statement(statement)
        self.expressions.begin()
        if block.end is not None:
            self.end(block.end)
        else:
            self._edges(block, region)

    def _edges(self, block: Block, region: BlockRegion) -> None:
        out, edges = self.out, block.edges
        nowhere = self.stop("unknown", "no way on from a block of the flowgraph: its conditions do not cover", None)
        if self.checked and len(edges) > 1:
            tests = " + ".join(f"bool({self.expressions.condition(e.condition)})" for e in edges)
            both = self.stop("unknown", "the ways on from a block of the flowgraph are not exclusive", None)
            out(f"if {tests} != 1: {both}")
        # An `elif` has no place for the statements of a large condition, and long chains nest in Python's syntax tree.
        grouped = len(edges) > MAX_CHAINED_EDGES or not all(self.expressions.small(e.condition) for e in edges)
        for at, edge in enumerate(edges):
            self.expressions.begin()
            rest = at == 1 == len(edges) - 1 and edge.condition is ~edges[0].condition
            total = rest or edge.condition is t.TRUE
            if at == 0 and edge.condition is t.TRUE:
                self._edge(block.label, edge, region)
                return
            if grouped:
                out(f"if {'n' if at else 'True'}:")
                with out.deeper():
                    self.expressions.begin()
                    out(f"n = not ({self.expressions.condition(edge.condition)})")
                    out("if not n:")
                    with out.deeper():
                        self._edge(block.label, edge, region, inline=False)
                continue
            test = self.expressions.condition(edge.condition)
            out("else:" if total else f"{'if' if at == 0 else 'elif'} {test}:")
            with out.deeper():
                self._edge(block.label, edge, region)
            if total:
                return
        out(f"if n: {nowhere}" if grouped else f"else: {nowhere}" if edges else nowhere)

    def _edge(self, label: str, edge: Edge, region: BlockRegion, *, inline: bool = True) -> None:
        """Assignments, the count of a back edge, and the transfer of control."""
        out, target = self.out, edge.target
        self._assigns(edge)
        self._came(edge)
        self._count(label, edge)
        inside = target in region.blocks
        forward = inside and region.place[target] > region.place[label]
        alone = self.layout.incoming[target] == 1 and target != self.flowgraph.entry
        if inline and forward and alone and self.layout.home[target] is region and out.level < MAX_INDENT:
            self._block(target, region)
            return
        if not (inside and not forward and region.doors == {target}):
            out(f"b = {self.layout.numbers[target]}")
        if not forward:
            out("continue" if inside else "break")

    def _came(self, edge: Edge) -> None:
        """Note by which of several ``return`` statements the function returns."""
        end = self.flowgraph.blocks[edge.target].end
        several = end is not None and end.kind == "return" and self.layout.incoming[edge.target] > 1
        if several and edge.loc is not None and edge.loc.inlined_at is None:  # else a callee's returns meet there
            self.places.append((self.flowgraph.name, edge.loc))
            self.out(f"rt.returned = P[{len(self.places) - 1}]")

    def _count(self, label: str, edge: Edge) -> None:
        """Count a back edge to a header, and ask whether to go on."""
        counted = False
        for at, loop in enumerate(self.flowgraph.loops):
            if loop.header == edge.target and label in loop.blocks:
                counted = True
                key = "".join(f"{self.names[v]}, " for v in self.keys[at])
                self.out(f"i{at} += 1")
                witness = self.witnesses[at]
                if witness is not None:
                    self.out(f"if i{at} >= l{at} or {self.names[witness]} == w{at}:")
                    place = self.keys[at].index(witness)
                    self.out(f" l{at}, w{at} = tick({at}, i{at}, ({key}), {place})")
                else:
                    self.out(f"tick({at}, i{at}, ({key}), -1)")
        numbers = self.layout.numbers
        if not counted and numbers[edge.target] <= numbers[label]:
            self.out("step()")

    def _assigns(self, edge: Edge) -> None:
        """The parallel assignments of an edge."""
        self.expressions.begin()
        pairs = [(target, value) for target, value in edge.assigns if target is not value]
        values = [self.expressions.term(value) for _, value in pairs]
        targets = [target for target, _ in pairs]
        apart = all(target not in value.variables for at, target in enumerate(targets) for _, value in pairs[at + 1 :])
        if apart:
            for target, value in zip(targets, values, strict=True):
                self.out(f"{self.names[target]} = {value}")
        else:
            self.out(f"{', '.join(self.names[label] for label in targets)} = {', '.join(values)}")
        for target in targets:
            self.in_range(target, edge.loc)


def _lost(number: int) -> NoReturn:
    raise Stop("unknown", f"the compiled function lost its way to block {number}; this is a defect of the interpreter")


def _forgotten(called: str, behind: Sequence[Statement]) -> frozenset[t.Var]:
    """The variables of which the statements right behind a call say that they have an unknown value."""
    found: set[t.Var] = set()
    for statement in behind:
        if not (isinstance(statement, Havoc) and statement.origin is Origin.CALL and statement.name == called):
            break
        found.add(statement.target)
    return frozenset(found)


def _check_same(before: tuple[Value, ...], after: tuple[Value, ...], called: str, name: str, where: str) -> None:
    for old, new in zip(before, after, strict=True):
        if old.__class__ is MissingValue and new.__class__ is MissingValue:
            continue
        if old.__class__ is MissingValue or new.__class__ is MissingValue or old != new:
            raise Stop("unknown", f"the flowgraph says that {called} does not change {name}, which it does at {where}")


def _check_range(value: Value, low: int, high: int, name: str, where: str) -> None:
    if value.__class__ is not MissingValue and not low <= value <= high:
        raise Stop("unknown", f"the flowgraph gives {name} the value {value!r} outside its type at {where}")

"""Functions that call themselves once on each way, as the loops they are.

A call whose result is returned as it is becomes a jump to the entry, with the arguments for the parameters. Where the
callers change the result by factor·result + term in the ring of its type, factor and term gather on the way down. Else,
where the caller's parameters can be had back from those of the call, a second loop goes the way up again, from the
last call to the first, and does what stands behind the call. Both loops carry the function's place as their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from loopless import terms as t
from loopless.flowgraph.build import build
from loopless.flowgraph.callees.self_calls import (
    NotLinear,
    SelfCallStep,
    Site,
    Ways,
    argument,
    first_place,
    fitting,
    inverse,
    reached,
    step_of,
    used_from,
)
from loopless.flowgraph.calls import ITSELF
from loopless.flowgraph.def_use import assigned_in, defined_by
from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.loops import loop_forest
from loopless.flowgraph.memory.objects import Options
from loopless.flowgraph.model import (
    Allocate,
    Assign,
    Begin,
    Block,
    Call,
    Check,
    Copy,
    Edge,
    End,
    Fill,
    Flowgraph,
    Kind,
    Load,
    LoopInfo,
    Statement,
    Store,
    VariableInfo,
)
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.source import ir

_ENTRY: Final = ".call"
_UP: Final = ".return"
_RETURNS: Final = "~returns"
"""Behind the name of the loop that goes the way up."""


@dataclass(frozen=True, slots=True)
class _Gathered:
    """What gathers on the way down: a variable, its first value, and its next one at each call."""

    var: t.Var
    start: t.Term
    values: list[t.Term]


def as_loop(
    function: ir.SourceFunction, module: ir.Module, options: Options | None = None
) -> Flowgraph | Refused | None:
    """The flowgraph of ``function`` without its calls of itself; None where it has none, else why they stay."""
    if not any(_calls(instruction, function.name) for instruction in function.instructions()):
        return None
    try:
        own, other = _apart(function, module)
        graph = build(own, other, options, known=module)
        return _Unrolled(own, graph).graph()
    except NotLinear as reason:
        where = str(function.loc) if function.loc is not None else function.source_name
        return Refused(Reason.RECURSION, where, f"{function.source_name} can call itself again, and {reason}")


def _calls(instruction: ir.Instruction, name: str) -> bool:
    return instruction.op in ("call", "invoke") and instruction.callee_name == name


def _apart(function: ir.SourceFunction, module: ir.Module) -> tuple[ir.SourceFunction, ir.Module]:
    """The function with its calls of itself as calls of a stranger that touches no memory.

    So its globals are variables; that such a call may change them is known to the translator, by the name.
    """

    def renamed(instruction: ir.Instruction) -> ir.Instruction:
        if not _calls(instruction, function.name):
            return instruction
        assert isinstance(instruction.callee, ir.GlobalRef)
        return replace(instruction, callee=replace(instruction.callee, name=ITSELF))

    blocks = tuple(replace(b, instructions=tuple(map(renamed, b.instructions))) for b in function.blocks)
    own = replace(function, blocks=blocks)
    stranger = replace(function, name=ITSELF, blocks=(), attributes=frozenset({"memory(none)"}))
    return own, replace(module, functions={**module.functions, function.name: own, ITSELF: stranger})


class _Unrolled:
    """One function on its way to loops."""

    def __init__(self, function: ir.SourceFunction, graph: Flowgraph) -> None:
        self.function = function
        self.old = graph
        self.blocks = dict(graph.blocks)
        self.variables = dict(graph.variables)
        self.sites = [
            Site(block.label, at, statement)
            for block in graph.blocks.values()
            for at, statement in enumerate(block.statements)
            if isinstance(statement, Call) and statement.callee == ITSELF
        ]
        self.first = Ways(graph)

    def graph(self) -> Flowgraph:
        """The function as loops. Raises :class:`NotLinear`."""
        self._demand()
        if not self.sites:  # no run comes to a call
            return self._finished(self.old.entry, {})
        after = [self.first.after(site) for site in self.sites]
        found = [
            step_of(each, site, self.old.result, self.globals) if each is not None and each.plain else None
            for each, site in zip(after, self.sites, strict=True)
        ]
        steps = [step for step in found if step is not None]
        if len(steps) < len(found):
            return self._up_again()
        if not any(step.check for step in steps):
            return self._downwards(steps, self._ring(steps))
        if any(step.factor != t.ONE or (step.check is None and step.term != t.ZERO) for step in steps):
            return self._up_again()
        if len({step.sign for step in steps}) == 1 and steps[0].sign:
            return self._downwards(steps, self._sum(steps))
        try:
            return self._up_again()
        except NotLinear:
            return self._downwards(steps, self._sum(steps), guarded=True)

    def _demand(self) -> None:
        """What every construction takes for granted."""
        graph = self.old
        if graph.irreducible or graph.blocked:
            raise NotLinear("it has parts that are not followed")
        if any(found.kind == "pointee" for found in graph.objects.values()):
            raise NotLinear("it uses what pointers in memory point to")
        for parameter in graph.parameters:
            if parameter.object is not None or parameter.var is None:
                raise NotLinear(f"its parameter {parameter.name} is no integer")
        if self.function.variadic or any(len(s.call.arguments) != len(graph.parameters) for s in self.sites):
            raise NotLinear("it takes a number of arguments that is not fixed")
        if graph.result_is_pointer:
            raise NotLinear("it returns a pointer")
        for block in graph.blocks.values():
            for statement in block.statements:
                if isinstance(statement, Store | Fill | Copy | Allocate | Begin | Load):
                    raise NotLinear("it uses memory that is not followed as variables")
        places = {site.label for site in self.sites}
        if any(site.call.changes for site in self.sites):
            raise NotLinear("the address of a variable of its own may be kept by a call")
        for site in self.sites:
            again = self.first.reached(graph.blocks[site.label].successors)
            if again & places or sum(other.label == site.label for other in self.sites) > 1:
                raise NotLinear("more than once on one way")

    # -- downwards ----------------------------------------------------------------------------------------------------

    def _ring(self, steps: Sequence[SelfCallStep]) -> list[_Gathered]:
        """Factor and term of all calls so far, in the ring of the result's type."""
        result = self.old.result
        if all(step.factor == t.ONE and step.term == t.ZERO for step in steps):
            return []
        assert result is not None
        factor: t.Term = t.ONE
        gathered: list[_Gathered] = []
        if any(step.factor != t.ONE for step in steps):
            factor = made = self._fresh("factor", result)
            gathered.append(_Gathered(made, t.ONE, [t.wrap(made * step.factor, result) for step in steps]))
        total = self._fresh("sum", result)
        gathered.append(_Gathered(total, t.ZERO, [t.wrap(total + factor * s.term, result) for s in steps]))
        self._return(lambda value: t.wrap(factor * value + total, result), None)
        return gathered

    def _sum(self, steps: Sequence[SelfCallStep]) -> list[_Gathered]:
        """The sum of all terms so far, in ℤ. Where no two have different signs, each result on the way up fits the
        type if the last one does, since the first one, of the last call, does.
        """
        total, result = self._fresh("sum", t.INTEGERS), self.old.result
        assert result is not None
        checks = [step.check for step in steps if step.check is not None]
        same = len({check.loc for check in checks}) == 1
        check = replace(checks[0], condition=t.TRUE, loc=checks[0].loc if same else None)
        self._return(lambda value: value + total, check)
        return [_Gathered(total, t.ZERO, [total + step.term for step in steps])]

    def _return(self, value_of: Callable[[t.Term], t.Term], check: Check | None) -> None:
        """Change what is returned; with ``check`` undefined where that does not fit the type."""
        for label, block in self.blocks.items():
            if block.end is None or block.end.kind != "return" or block.end.value is None:
                continue
            value, statements = value_of(block.end.value), block.statements
            if check is not None and self.old.result is not None:
                statements = (*statements, replace(check, condition=fitting(value, self.old.result)))
            self.blocks[label] = replace(block, statements=statements, end=replace(block.end, value=value))

    def _downwards(
        self, steps: Sequence[SelfCallStep], gathered: Sequence[_Gathered], *, guarded: bool = False
    ) -> Flowgraph:
        """One loop. ``guarded``: terms below 0 end the answer."""
        for number, (site, step) in enumerate(zip(self.sites, steps, strict=True)):
            negative = step.term.lt(0) if guarded else t.FALSE
            self._cut(site, [(each.var, each.values[number]) for each in gathered], negative)
        return self._finished(_ENTRY, {self.old.entry: ""}, [(each.var, each.start) for each in gathered])

    def _cut(self, site: Site, more: Iterable[tuple[t.Var, t.Term]], unless: t.Condition = t.FALSE) -> None:
        """The call as a jump to the entry, except where ``unless`` holds."""
        block = self.blocks[site.label]
        arguments = zip(self.old.parameters, site.call.arguments, strict=True)
        passed = [(p.var, argument(p, value)) for p, value in arguments if p.var is not None]
        edges = [Edge(~unless, self.old.entry, (*passed, *more), site.call.loc)]
        if unless is not t.FALSE:
            other = f"{_UP}:{site.label}:mixed"
            detail = f"{self.function.source_name} adds terms of both signs to the result of its own call"
            refused = Refused(Reason.RECURSION, str(site.call.loc or self.function.source_name), detail)
            self.blocks[other] = Block(other, (), (), End("unsupported", None, None, site.call.loc, refused))
            edges.append(Edge(unless, other, (), site.call.loc))
        self.blocks[site.label] = Block(block.label, block.statements[: site.at], tuple(edges), None)

    # -- and up again -------------------------------------------------------------------------------------------------

    def _up_again(self) -> Flowgraph:
        """Two loops, one that counts the calls and one that does for each what stands behind it."""
        if len(self.sites) > 1:
            raise NotLinear("what stands behind its calls depends on which of them it was")
        (site,) = self.sites
        block = self.old.blocks[site.label]
        copied = self.first.reached(block.successors)
        live = live_at_entry({label: self.old.blocks[label] for label in copied}, self.globals)
        needed = set(used_from(block, site.at + 1, live, self.globals)) - self.globals
        if site.call.target is not None:
            needed.discard(site.call.target)
        again, needed = self._again(block.statements[: site.at], needed)
        back = self._back(site, needed)
        # A parameter that the function changes is kept beside, as the call had it.
        moving = assigned_in(self.old.blocks.values())
        beside = {var: self._fresh(f"{var.name}.given", var.type) for var in back if var in moving}
        depth = self._fresh("depth", t.INTEGERS)
        result = self._fresh("result", self.old.result) if self.old.result is not None else None
        for label in copied:
            self.blocks[f"{_UP}:{label}"] = self._above(self.old.blocks[label], f"{_UP}:{label}", result, 0)
        step, up, last = f"{_UP}:step", f"{_UP}:{site.label}", f"{_UP}:last"
        values = {var: t.substitute(value, beside) for var, value in back.items()}
        checks = [Check(fitting(value, var.type), "signed-overflow", self.old.loc) for var, value in values.items()]
        moves = [(beside.get(var, var), value) for var, value in values.items()]
        moves += [(var, values[var]) for var in beside]
        self.blocks[step] = Block(
            step, tuple(check for check in checks if check.condition is not t.TRUE), (Edge(t.TRUE, up, tuple(moves)),)
        )
        target = site.call.target
        taken = [] if target is None or result is None else [Assign(target, t.wrap(result, target.type))]
        above = self._above(block, up, result, site.at + 1)
        self.blocks[up] = replace(above, statements=(*again, *taken, *above.statements))
        down = ((depth, depth - 1),)
        self.blocks[_UP] = Block(_UP, (), (Edge(depth.gt(0), step, down), Edge(depth.le(0), last)))
        self.blocks[last] = Block(last, (), (), End("return", result, None, self.old.loc))
        for label in self.old.blocks:
            old = self.blocks[label]
            if old.end is not None and old.end.kind == "return":
                self.blocks[label] = replace(old, edges=(self._ends(old.end, result),), end=None)
        passed = {p.var: argument(p, a) for p, a in zip(self.old.parameters, site.call.arguments, strict=True) if p.var}
        self._cut(site, [(depth, depth + 1), *((kept, passed[var]) for var, kept in beside.items())])
        start = [(depth, t.ZERO), *((kept, var) for var, kept in beside.items())]
        return self._finished(_ENTRY, {self.old.entry: "", _UP: _RETURNS}, start)

    def _above(self, block: Block, label: str, result: t.Var | None, start: int) -> Block:
        """A copy of what stands behind the call, as part of the way up."""
        edges = tuple(replace(edge, target=f"{_UP}:{edge.target}") for edge in block.edges)
        if block.end is not None and block.end.kind == "return":
            return Block(label, block.statements[start:], (self._ends(block.end, result),), None)
        return Block(label, block.statements[start:], edges, block.end)

    def _ends(self, end: End, result: t.Var | None) -> Edge:
        """A return as a step to the caller."""
        if result is None or end.value is None:
            return Edge(t.TRUE, _UP, (), end.loc)
        return Edge(t.TRUE, _UP, ((result, end.value),), end.loc)

    def _again(self, statements: Sequence[Statement], needed: set[t.Var]) -> tuple[list[Statement], set[t.Var]]:
        """The assignments before the call that what stands behind it needs, and the variables that these need."""
        kept: list[Statement] = []
        for statement in reversed(statements):
            if isinstance(statement, Assign) and statement.target in needed:
                if statement.value.variables & self.globals:
                    raise NotLinear("what stands behind its call needs what a global was before")
                needed = (needed - {statement.target}) | statement.value.variables
                kept.append(statement)
        return kept[::-1], needed

    def _back(self, site: Site, needed: set[t.Var]) -> dict[t.Var, t.Term]:
        """The ``needed`` parameters of the caller from those of the call."""
        own = {p.var: argument(p, a) for p, a in zip(self.old.parameters, site.call.arguments, strict=True) if p.var}
        values: dict[t.Var, t.Term] = {}
        for label in self.old.blocks:
            statements = self.old.blocks[label].statements
            for statement in statements[: site.at] if label == site.label else statements:
                if not isinstance(statement, Assign):
                    for var in defined_by(statement):
                        if var in own:
                            raise NotLinear(f"its parameter {var.name} is changed in a way that is not followed")
                    continue
                if statement.target not in own:
                    continue
                if label != site.label and site.label in self.first.reached((label,)):
                    raise NotLinear(f"its parameter {statement.target.name} is changed on the way to its call")
                if label == site.label:
                    values[statement.target] = t.substitute(statement.value, values)
        moved = {var: t.substitute(value, values) for var, value in own.items()}
        same = {var for var, value in moved.items() if value is var}
        back: dict[t.Var, t.Term] = {}
        for var in sorted(needed, key=lambda var: var.key):
            found = inverse(var, moved[var], same) if var in moved else None
            if found is None:
                raise NotLinear(f"what stands behind its call needs {var.name}, which cannot be had back")
            back[var] = found
        others = {v for value in back.values() for v in value.variables} - back.keys()
        return back | {var: var for var in sorted(others, key=lambda var: var.key)}  # by these, others change

    # -- the whole ----------------------------------------------------------------------------------------------------

    @property
    def globals(self) -> frozenset[t.Var]:
        """The globals that are variables."""
        return frozenset(var for var, info in self.old.variables.items() if info.kind is Kind.GLOBAL)

    def _fresh(self, name: str, type: t.IntType) -> t.Var:
        shown = f"{self.function.source_name}.{name}"
        taken = {var.name for var in self.variables}
        while shown in taken:
            shown += "'"
        var = t.Var(shown, type)
        self.variables[var] = VariableInfo(var, shown, Kind.TEMPORARY)
        return var

    def _finished(self, entry: str, named: Mapping[str, str], start: Sequence[tuple[t.Var, t.Term]] = ()) -> Flowgraph:
        """The flowgraph of what is reachable; ``named`` are the headers of the new loops, with the ends of names."""
        graph = self.old
        if entry != graph.entry:
            self.blocks = {
                entry: Block(entry, (), (Edge(t.TRUE, graph.entry, tuple(start), None),), None),
                **self.blocks,
            }
        kept = reached(self.blocks, (entry,))
        blocks = {label: block for label, block in self.blocks.items() if label in kept}
        places = {label: first_place(block) for label, block in blocks.items()}
        loops, irreducible = loop_forest(blocks, entry, self.function, places)
        return replace(
            graph,
            blocks=blocks,
            entry=entry,
            variables=self.variables,
            loops=tuple(self._named(loop, named[loop.header]) if loop.header in named else loop for loop in loops),
            irreducible=irreducible,
            callees=graph.callees - {ITSELF},
        )

    def _named(self, loop: LoopInfo, suffix: str) -> LoopInfo:
        loc = self.function.loc
        if loc is None:
            return replace(loop, name=f"?:{self.function.source_name}:0:0{suffix}", loc=None, inlined_from=None)
        name = f"{loc.file}:{self.function.source_name}:{loc.line}:{loc.column}{suffix}"
        return replace(loop, name=name, loc=loc, line=loc.line, column=loc.column, file=loc.file, inlined_from=None)

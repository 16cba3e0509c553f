"""A program whose calls are not inlined as one flowgraph: at each call a run may go into the callee, or pass over it.

A run that never ends, or that violates something, does so in some activation: it goes into the calls that have not
returned, and passes over those that have. So each of its parts is a part of a run of this flowgraph, in which what a
call returns and changes is any value where it is passed over, and the run ends where the activation does that was gone
into. The pointers that it is given point anywhere. In the words of Horn clauses: of each procedure only its
preconditions are kept (Podelski and Rybalchenko, ARMC, PADL 2007, for termination; Cook, Podelski and Rybalchenko,
Summarization for termination, FMSD 2009).

Of what a call that is passed over returns, a *contract* may be known: a condition on what the function was given and
what it returns. It is assumed behind the calls that are passed over, and checked where the function returns. Calls that
are passed over have returned before the one does whose contract is checked: so the checks prove it by induction on time
(Hoare, Procedures and parameters, 1971: partial correctness). A contract that is not proved means nothing.

This over-approximates runs, and is for proofs alone: nothing may be run on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from loopless import terms as t
from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.loops import exits_of
from loopless.flowgraph.model import (
    Allocate,
    Assign,
    Assume,
    Begin,
    Block,
    Call,
    Check,
    ContractSignature,
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
    Origin,
    Passage,
    Pointer,
    Statement,
    Store,
    VariableInfo,
)
from loopless.graphs import reachable
from loopless.limits.flowgraph import MAX_BLOCKS
from loopless.refusals import Refused
from loopless.source import ir

BodyOf = Callable[[str], Flowgraph | None]
"""The flowgraph of a function that calls may go into, by its name; None where there is none."""

ContractOf = Callable[[ContractSignature], Sequence[t.Condition] | None]
"""The contract of a function, as conjuncts over the variables of its signature; None where it has none."""

CONTRACT = "contract"
"""The kind of the checks that prove contracts."""

GONE_INTO = "whether a call is gone into"
"""What the variable is called that says whether a run goes into a call."""


def entered(graph: Flowgraph, body: BodyOf, contract_of: ContractOf = lambda _: None) -> Flowgraph:
    """``graph`` with ways into the functions that it calls, and with their contracts; itself where there are none."""
    found: dict[str, Flowgraph] = {}

    def called(name: str) -> Iterator[str]:
        inside = graph if name == "" else found[name]
        for callee in dict.fromkeys(c.callee for c in _calls(inside)):
            known = found.get(callee) or body(callee)
            if known is not None and known.refused is None:
                found[callee] = known
                yield callee

    names = [name for name in reachable(("",), lambda name: list(called(name))) if name]
    size = len(graph.blocks) + sum(len(found[name].blocks) for name in names)
    if not names or size > MAX_BLOCKS:
        return graph
    calls = [call for inside in (graph, *(found[name] for name in names)) for call in _calls(inside)]
    parts = {name: _Part(name, found[name], [c for c in calls if c.callee == name], contract_of) for name in names}
    main = _Part("", graph)
    blocks: dict[str, Block] = {}
    variables: dict[t.Var, VariableInfo] = {}
    loops: list[LoopInfo] = []
    blocked: dict[str, Refused] = {}
    for part in (main, *parts.values()):
        blocks |= part.with_ways(parts)
        variables |= part.variables | part.flags
        loops += part.loops(blocks)
        blocked |= {part.label(label): why for label, why in part.graph.blocked.items()}
    return replace(
        graph,
        blocks=blocks,
        variables=variables,
        loops=tuple(loops),
        blocked=blocked,
        signatures={name: part.signature for name, part in parts.items()},
        passages={label: passage for part in (main, *parts.values()) for label, passage in part.passages.items()},
    )


def given_any_pointers(function: ir.SourceFunction, pointer_bits: int) -> ir.SourceFunction:
    """The function as any call may come to it: its pointer parameters point anywhere. An answer about a function by
    itself takes for granted, and lists, that these do not overlap with one another and with globals.
    """
    pointers = {p.name for p in function.params if isinstance(p.type, ir.PtrT) and p.byval is None}
    if not pointers or function.is_declaration:
        return function
    number = ir.IntT(pointer_bits)

    def address(name: str) -> str:
        return f"{name}.address"

    params = tuple(
        replace(p, name=address(p.name), type=number, attributes=frozenset(), sret=None, debug=None)
        if p.name in pointers
        else p
        for p in function.params
    )
    made = tuple(
        ir.Instruction("inttoptr", p.name, p.type, (ir.Local(address(p.name), number),), loc=function.loc)
        for p in function.params
        if p.name in pointers
    )
    first, *rest = function.blocks
    first = replace(first, instructions=(*made, *first.instructions))
    return replace(function, params=params, blocks=(first, *rest))


def _calls(graph: Flowgraph) -> Iterator[Call]:
    return (s for block in graph.blocks.values() for s in block.statements if isinstance(s, Call))


class _Part:
    """One function of the whole, with names of its own for labels and variables."""

    def __init__(
        self,
        name: str,
        graph: Flowgraph,
        calls: Iterable[Call] = (),
        contract_of: ContractOf = lambda _: None,
    ) -> None:
        """``calls``: of this function, in the whole program."""
        self.name, self.graph = name, graph
        self.renamed: dict[t.Var, t.Var] = {var: self._own(var) for var in graph.variables}
        self.variables = {self.renamed[var]: replace(i, var=self.renamed[var]) for var, i in graph.variables.items()}
        self.flags: dict[t.Var, VariableInfo] = {}
        self.live = live_at_entry(graph.blocks, frozenset())[graph.entry]
        self.passages: dict[str, Passage] = {}
        self.pieces: dict[str, list[str]] = {}
        """By the label of a block the labels of what it has become, in their order."""
        self.signature = self._signature([call.target for call in calls if call.target is not None])
        self.contract = contract_of(self.signature) if name else None

    def _signature(self, targets: Sequence[t.Var]) -> ContractSignature:
        plain = [p.var for p in self.graph.parameters if p.var is not None and p.object is None and p.null is None]
        kept = [var for var, info in self.graph.variables.items() if self._global(info) and not info.pointer_part]
        given = {self.renamed[var]: t.Var(f"{self.name}::{var.name}@call", var.type) for var in (*plain, *kept)}
        returns = targets and not self.graph.result_is_pointer
        result = t.Var(f"{self.name}::@result", targets[0].type) if returns else None
        globals_ = tuple(self.renamed[var] for var in kept)
        return ContractSignature(self.name, given, result, globals_, f"{self.name}::@returned")

    @property
    def begin(self) -> str:
        """The label of the block where a run is that goes into the function."""
        return self.label(self.graph.entry) if self.contract is None else f"{self.name}::@begin"

    def _framed(self) -> Iterator[Block]:
        """What a contract needs: the function's beginning, where what it was given is kept, and its return."""
        if self.contract is None:
            return
        found = self.signature
        kept = tuple(Assign(held, var) for var, held in found.given.items())
        told = (*found.given.values(), *(() if found.result is None else (found.result,)))
        self.flags |= {var: VariableInfo(var, var.name, Kind.TEMPORARY) for var in told}
        yield Block(self.begin, kept, (Edge(t.TRUE, self.label(self.graph.entry)),))
        checks = tuple(Check(condition, CONTRACT, self.graph.loc) for condition in self.contract)
        yield Block(found.returned, checks, (), End("return", loc=self.graph.loc))

    def _own(self, var: t.Var) -> t.Var:
        return t.Var(f"{self.name}::{var.name}", var.type) if self.name else var

    def label(self, label: str) -> str:
        """The label of a block of the function in the whole."""
        return f"{self.name}::{label}" if self.name else label

    def loops(self, blocks: Mapping[str, Block]) -> Iterator[LoopInfo]:
        """The loops of the function among the ``blocks`` with ways, where a block with calls has become several."""
        for loop in self.graph.loops:
            inside = frozenset(piece for label in loop.blocks for piece in self.pieces[self.label(label)])
            yield replace(
                loop,
                header=self.label(loop.header),
                blocks=inside,
                latches=tuple(self.pieces[self.label(label)][-1] for label in loop.latches),
                exits=exits_of(inside, blocks),
                parent=None if loop.parent is None else self.label(loop.parent),
            )

    def with_ways(self, parts: Mapping[str, _Part]) -> dict[str, Block]:
        """The blocks, with a way into each callee in front of its call."""
        found: dict[str, Block] = {}
        for block in self.graph.blocks.values():
            here, held = self.label(block.label), list[Statement]()
            self.pieces[here] = pieces = [here]
            number = 0
            for statement in block.statements:
                told = self._statement(statement)
                callee = parts.get(statement.callee) if isinstance(statement, Call) else None
                if isinstance(told, Call) and callee is not None and _fits(told, callee.graph):
                    number += 1
                    behind, into = f"{here}#behind{number}", f"{here}#into{number}"
                    flag = t.Var(f"{here}#goes{number}", t.IntType(1, signed=False))
                    self.flags[flag] = VariableInfo(flag, flag.name, Kind.TEMPORARY)
                    held.append(Havoc(flag, Origin.UNSUPPORTED, GONE_INTO, told.loc))
                    passed: t.Condition = t.equals_zero(flag)
                    ways = (Edge(passed, behind, (), told.loc), Edge(~passed, into, (), told.loc))
                    found[here] = Block(here, tuple(held), ways)
                    found[into] = self._into(into, told, callee)
                    here, told = behind, replace(told, entered=True)
                    pieces.append(behind)
                    self.passages[behind] = Passage(callee.name, into, self._shared(callee))
                    held = self._passed_over(behind, told, callee)
                elif told is not None:
                    held.append(told)
            edges = tuple(self._edge(edge) for edge in block.edges)
            end = block.end
            if end is not None and end.value is not None and self.name:
                end = replace(end, value=None, value_object=None)
            if end is not None and end.kind == "return" and self.contract is not None:
                result, value = self.signature.result, block.end.value if block.end is not None else None
                if result is not None and value is not None:
                    held.append(Assign(result, t.wrap(self._term(value), result.type), end.loc))
                elif result is not None:
                    held.append(Havoc(result, Origin.UNSUPPORTED, "what is returned", end.loc))
                edges, end = (Edge(t.TRUE, self.signature.returned, (), end.loc),), None
            found[here] = Block(here, tuple(held), edges, end)
        return found | {block.label: block for block in self._framed()}

    def _shared(self, callee: _Part) -> dict[t.Var, t.Var]:
        """By the callee's variables for globals, those of this function."""
        here = {key: var for var, info in self.graph.variables.items() if (key := self._global(info)) is not None}
        found = {}
        for var, info in callee.graph.variables.items():
            key = callee._global(info)
            if key in here and here[key].type == var.type:
                found[callee.renamed[var]] = self.renamed[here[key]]
        return found

    def _passed_over(self, label: str, call: Call, callee: _Part) -> list[Statement]:
        """The call where it is passed over, with what the contract of the callee says of what it returns."""
        if not callee.contract:
            return [call]
        told = callee.signature
        given: dict[t.Var, t.Term] = {}
        values: dict[t.Var, t.Term] = {}
        for parameter, argument in zip(callee.graph.parameters, call.arguments, strict=True):
            held = None if parameter.var is None else told.given.get(callee.renamed[parameter.var])
            if held is not None and not isinstance(argument, Pointer):
                given[held] = t.wrap(argument, held.type)
        for var, mine in self._shared(callee).items():
            if var in told.given:
                given[told.given[var]] = mine
            if mine in call.changes:
                values[var] = mine
        if told.result is not None and call.target is not None and call.target.type == told.result.type:
            values[told.result] = call.target
        # What the call was given is kept: its target, and what it changes, may be variables of the arguments.
        statements: list[Statement] = []
        for held, term in given.items():
            kept = t.Var(f"{label}#{held.name}", held.type)
            self.flags[kept] = VariableInfo(kept, kept.name, Kind.TEMPORARY)
            statements.append(Assign(kept, term, call.loc))
            values[held] = kept
        known = [condition for condition in callee.contract if condition.variables <= values.keys()]
        return [*statements, call, *(Assume(t.substitute(condition, values), call.loc) for condition in known)]

    def _into(self, label: str, call: Call, callee: _Part) -> Block:
        """The way into a callee: parameters get their arguments, globals stay as they are, all else is any value."""
        given: dict[t.Var, t.Term] = {}
        for parameter, argument in zip(callee.graph.parameters, call.arguments, strict=True):
            if parameter.var is not None and not isinstance(argument, Pointer) and parameter.object is None:
                given[callee.renamed[parameter.var]] = t.wrap(argument, parameter.var.type)
        given |= self._shared(callee)
        # The variables of the callee may be those of the caller, in another activation: what is handed over is kept
        # before they become any value.
        statements: list[Statement] = []
        passed: list[tuple[t.Var, t.Term]] = []
        for index, (target, term) in enumerate(given.items()):
            if term is target:
                continue
            held = t.Var(f"{label}#{index}", target.type)
            self.flags[held] = VariableInfo(held, held.name, Kind.TEMPORARY)
            statements.append(Assign(held, term, call.loc))
            passed.append((target, held))
        unknown = sorted((callee.renamed[var] for var in callee.live), key=lambda var: var.key)
        statements += [
            Havoc(var, Origin.UNSUPPORTED, "value at a call", call.loc) for var in unknown if var not in given
        ]
        return Block(label, tuple(statements), (Edge(t.TRUE, callee.begin, tuple(passed), call.loc),))

    def _global(self, info: VariableInfo) -> tuple[str, int, int, str] | None:
        if info.kind is not Kind.GLOBAL or info.object is None or info.object not in self.graph.objects:
            return None
        symbol = self.graph.objects[info.object].symbol
        return (symbol, info.offset, info.size, info.pointer_part) if symbol else None

    # -- renaming -----------------------------------------------------------------------------------------------------

    def _edge(self, edge: Edge) -> Edge:
        assigns = tuple((self.renamed[target], self._term(value)) for target, value in edge.assigns)
        return Edge(self._condition(edge.condition), self.label(edge.target), assigns, edge.loc)

    def _term(self, term: t.Term) -> t.Term:
        return t.substitute(term, self.renamed) if self.name else term

    def _condition(self, condition: t.Condition) -> t.Condition:
        return t.substitute(condition, self.renamed) if self.name else condition

    def _pointer(self, pointer: Pointer) -> Pointer:
        return Pointer(self._term(pointer.object), self._term(pointer.offset))

    def _var(self, var: t.Var | None) -> t.Var | None:
        return None if var is None else self.renamed[var]

    def _statement(self, statement: Statement) -> Statement | None:
        """The statement in the whole. Of a callee nothing is known of memory: the numbers of objects are its own."""
        if not self.name:
            return statement
        match statement:
            case Assign(target=target, value=value, loc=loc):
                return Assign(self.renamed[target], self._term(value), loc)
            case Check():
                return replace(statement, condition=self._condition(statement.condition))
            case Assume():
                return replace(statement, condition=self._condition(statement.condition))
            case Havoc():
                return replace(statement, target=self.renamed[statement.target])
            case Load(target=target, target_object=owner, loc=loc):
                if owner is not None:
                    return Load(self.renamed[target], _NOWHERE, statement.type, self.renamed[owner], loc)
                return Havoc(self.renamed[target], Origin.MEMORY, "memory of a call", loc)
            case Allocate(target=target, loc=loc):
                return Havoc(self.renamed[target], Origin.MEMORY, "memory of a call", loc)
            case Call():
                arguments = tuple(
                    self._pointer(a) if isinstance(a, Pointer) else self._term(a) for a in statement.arguments
                )
                return replace(
                    statement,
                    arguments=arguments,
                    target=self._var(statement.target),
                    target_object=self._var(statement.target_object),
                    reads=tuple(self.renamed[var] for var in statement.reads),
                    changes=tuple(self.renamed[var] for var in statement.changes),
                    objects=None,
                    looks=None,
                )
            case Store() | Fill() | Copy() | Begin() | Expire():
                return None


_NOWHERE = Pointer(t.ZERO, t.ZERO)


def _fits(call: Call, callee: Flowgraph) -> bool:
    return len(call.arguments) == len(callee.parameters)

"""Which variables decide how a run goes on: the key by which states are compared to prove that a run never ends.

A variable is relevant at a place if its value there can reach a condition, a check, an assumption, an access to memory,
a call or an operation that may fail. Values that only reach the result of the function, or nothing, are not. If at two
visits of one place all relevant variables, the memory and the positions in the input streams agree, then every decision
from there on is the same, so the run repeats itself forever. An accumulator whose overflow is checked is relevant by
that check; one that wraps and is read by nothing but the return statement is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from loopless import terms as t
from loopless.check.interpreter.expressions import partial
from loopless.flowgraph.exact_arithmetic import without_overflow_checks
from loopless.flowgraph.model import (
    Allocate,
    Assign,
    Assume,
    Begin,
    Block,
    Call,
    Check,
    Copy,
    Edge,
    Expire,
    Fill,
    Flowgraph,
    Havoc,
    Load,
    Pointer,
    Statement,
    Store,
)


class RelevantVariables:
    """The relevant variables at the start of each block of a flowgraph.

    With ``results`` returned values count as decisions too: then it is plain liveness.
    """

    def __init__(self, flowgraph: Flowgraph, *, results: bool = False) -> None:
        self.results = results
        self.in_memory = frozenset(var for var, info in flowgraph.variables.items() if info.object is not None)
        self.shared = frozenset(var for var in self.in_memory if not _is_local(flowgraph, var))
        self.at: Mapping[str, frozenset[t.Var]] = self._solve(flowgraph.blocks)

    def _solve(self, blocks: Mapping[str, Block]) -> dict[str, frozenset[t.Var]]:
        at: dict[str, frozenset[t.Var]] = dict.fromkeys(blocks, frozenset())
        callers: dict[str, list[str]] = {label: [] for label in blocks}
        for label, block in blocks.items():
            for target in block.successors:
                callers[target].append(label)
        queue: dict[str, None] = dict.fromkeys(reversed(list(blocks)))
        while queue:
            label = next(iter(queue))
            del queue[label]
            found = self._before(blocks[label], at)
            if found != at[label]:
                at[label] = found
                queue.update(dict.fromkeys(callers[label]))
        return at

    def _before(self, block: Block, at: Mapping[str, frozenset[t.Var]]) -> frozenset[t.Var]:
        live: set[t.Var] = set()
        if block.end is not None and self.results:
            live |= _variables((block.end.value, block.end.value_object))
            if block.end.kind == "return":
                live |= self.shared
        for edge in block.edges:
            live |= self._along(edge, at[edge.target])
        for statement in reversed(block.statements):
            self._through(statement, live)
        return frozenset(live)

    def _along(self, edge: Edge, after: frozenset[t.Var]) -> set[t.Var]:
        live = set(after) - {target for target, _ in edge.assigns}
        live |= edge.condition.variables
        for target, value in edge.assigns:
            if target in after or partial(value):
                live |= value.variables
        return live

    def _through(self, statement: Statement, live: set[t.Var]) -> None:
        match statement:
            case Assign(target=target, value=value):
                wanted = target in live
                live.discard(target)
                if wanted or partial(value):
                    live |= value.variables
            case Check(condition=condition) | Assume(condition=condition):
                live |= condition.variables
            case Havoc(target=target):
                live.discard(target)
            case Load():
                _forget(live, statement.target, statement.target_object)
                live |= _variables((statement.address,))
            case Store():
                live |= _variables((statement.address, statement.value, statement.value_object))
            case Fill():
                live |= _variables((statement.address, statement.byte, statement.length))
            case Copy():
                live |= _variables((statement.target, statement.source, statement.length))
            case Expire():
                pass
            case Begin():
                live |= statement.size.variables
            case Allocate():
                live.discard(statement.target)
                live |= statement.size.variables
            case Call():
                _forget(live, statement.target, statement.target_object)
                live |= self.in_memory | _variables(statement.arguments)
            case _:
                assert_never(statement)


def controlling(flowgraph: Flowgraph) -> frozenset[t.Var]:
    """The variables that decide, in some loop of a function, how the loop goes on, if counters beside it do not
    overflow: what nothing but an overflow makes relevant is none of them. They depend on none but others of them.
    """
    found: set[t.Var] = set()
    for loop in flowgraph.loops:
        blocks = {label: without_overflow_checks(flowgraph.blocks[label]) for label in loop.blocks}
        behind = {target for block in blocks.values() for target in block.successors if target not in blocks}
        part = replace(flowgraph, blocks={**blocks, **{label: Block(label, (), ()) for label in behind}})
        found.update(*RelevantVariables(part).at.values())
    return frozenset(_with_operands(flowgraph, found))


def _with_operands(flowgraph: Flowgraph, found: set[t.Var]) -> set[t.Var]:
    """These variables, and those on which what is put into them depends anywhere in the function."""
    waiting = set(found)
    while waiting:
        operands: set[t.Var] = set()
        for block in flowgraph.blocks.values():
            assigned = [(s.target, s.value) for s in block.statements if isinstance(s, Assign)]
            assigned += [pair for edge in block.edges for pair in edge.assigns]
            operands.update(*(value.variables for target, value in assigned if target in waiting))
        waiting = operands - found
        found |= operands
    return found


def _is_local(flowgraph: Flowgraph, var: t.Var) -> bool:
    number = flowgraph.variables[var].object
    described = flowgraph.objects.get(number) if number is not None else None
    return described is not None and described.kind == "local"


def _forget(live: set[t.Var], *targets: t.Var | None) -> None:
    for target in targets:
        if target is not None:
            live.discard(target)


def _variables(values: Iterable[t.Term | Pointer | None]) -> set[t.Var]:
    found: set[t.Var] = set()
    for value in values:
        if isinstance(value, Pointer):
            found |= value.object.variables | value.offset.variables
        elif isinstance(value, t.Node):
            found |= value.variables
    return found


def perhaps_missing(flowgraph: Flowgraph, given: frozenset[t.Var], entry_live: frozenset[t.Var]) -> frozenset[t.Var]:
    """Variables that may hold an unknown value: by a havoc, a call, no value at entry, or a copy of such."""
    found = set(entry_live - given)
    copies: list[tuple[t.Var, t.Term]] = []
    for block in flowgraph.blocks.values():
        copies.extend(pair for edge in block.edges for pair in edge.assigns)
        for statement in block.statements:
            match statement:
                case Assign(target=target, value=value):
                    copies.append((target, value))
                case Havoc(target=target):
                    found.add(target)
                case Call(target=target, target_object=other):
                    found |= {var for var in (target, other) if var is not None}
                    found |= {var for var, info in flowgraph.variables.items() if info.object is not None}
                case _:
                    pass
    changed = True
    while changed:
        changed = False
        for target, value in copies:
            if target not in found and not found.isdisjoint(value.variables):
                found.add(target)
                changed = True
    return frozenset(found)

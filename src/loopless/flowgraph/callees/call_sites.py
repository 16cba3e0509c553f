"""Calls as loops: what a call adds to a count, as a loop in the caller that takes as many iterations.

Where a call of a function takes T(arguments) iterations of a loop, a loop ``k = T(arguments); while (k > 0) k--;`` in
front of the call takes as many at the same place, with the values that are there: what it takes in all is the sum of T
over all calls, and what it takes in one entry the largest T. So all that bounds loops inside others bounds calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from loopless import terms as t
from loopless.flowgraph.model import (
    Assign,
    Block,
    Call,
    Edge,
    Flowgraph,
    Kind,
    LoopInfo,
    Parameter,
    Pointer,
    VariableInfo,
)
from loopless.records import dataclass
from loopless.source import ir

MARK: Final = "~calls"
"""How the names of the loops begin that stand for calls."""


@dataclass(frozen=True, slots=True)
class SiteLoop:
    """A loop that stands for a call in the block ``label``, and takes ``term`` iterations there."""

    name: str
    label: str
    call: Call
    term: t.Term


Wanted = Callable[[Call, str], Sequence[t.Term]]
"""Which numbers of iterations a call stands for, over the values in front of it; the call's block is given, too."""


def with_sites(graph: Flowgraph, wanted: Wanted) -> tuple[Flowgraph, tuple[SiteLoop, ...]]:
    """The function with a loop for each of the terms of each call, and these loops."""
    made = _Sites(graph)
    for label, block in graph.blocks.items():
        made.take(block, [(at, s, wanted(s, label)) for at, s in enumerate(block.statements) if isinstance(s, Call)])
    return made.finished(), tuple(made.sites)


class _Sites:
    """The blocks and loops of a function while calls get loops of their own."""

    def __init__(self, graph: Flowgraph) -> None:
        self.graph = graph
        self.blocks: dict[str, Block] = {}
        self.variables: dict[t.Var, VariableInfo] = {}
        self.sites: list[SiteLoop] = []
        self.inside: dict[str, list[str]] = {}
        """By blocks that are taken apart, the labels of what is made of them."""
        self.last: dict[str, str] = {}
        """By blocks that are taken apart, the last part, which has their edges."""
        self.own: list[tuple[str, LoopInfo]] = []
        self._names = {var.name for var in graph.variables}

    def take(self, block: Block, calls: Sequence[tuple[int, Call, Sequence[t.Term]]]) -> None:
        """Note a block, taken apart in front of each of the calls for which there are terms."""
        label, statements = block.label, list(block.statements)
        begun, here = 0, label
        for at, call, terms in calls:
            for term in terms:
                count = self._fresh()
                start = Assign(count, t.maximum(t.ZERO, term), call.loc)
                header, body, behind = (self._label(label, part) for part in ("calls", "called", "call"))
                to_header = (Edge(t.TRUE, header, (), call.loc),)
                self.blocks[here] = Block(here, (*statements[begun:at], start), to_header)
                more, done = count.gt(0), count.le(0)
                edges = (Edge(more, body, (), call.loc), Edge(done, behind, (), call.loc))
                self.blocks[header] = Block(header, (), edges)
                self.blocks[body] = Block(body, (Assign(count, count - 1, call.loc),), to_header)
                self.inside.setdefault(label, []).extend((header, body, behind))
                self._loop(label, header, body, call, term)
                begun, here = at, behind
        self.blocks[here] = Block(here, tuple(statements[begun:]), block.edges, block.end)
        self.last[label] = here

    def _loop(self, label: str, header: str, body: str, call: Call, term: t.Term) -> None:
        name = f"{MARK}:{self.graph.source_name}:{len(self.sites)}"
        around = [loop for loop in self.graph.loops if label in loop.blocks]
        parent = max(around, key=lambda loop: loop.depth) if around else None
        loc = call.loc
        info = LoopInfo(
            name,
            header,
            frozenset((header, body)),
            (body,),
            ((header, 1),),
            parent.header if parent is not None else None,
            parent.depth + 1 if parent is not None else 1,
            loc,
            loc.line if loc is not None else 0,
            loc.column if loc is not None else 0,
            loc.file if loc is not None else "",
            call.callee,
        )
        self.own.append((label, info))
        self.sites.append(SiteLoop(name, label, call, term))

    def _fresh(self) -> t.Var:
        number = len(self.sites)
        name = f"{MARK}{number}"
        while name in self._names:
            name += "'"
        self._names.add(name)
        var = t.Var(name, t.INTEGERS)
        self.variables[var] = VariableInfo(var, name, Kind.TEMPORARY)
        return var

    def _label(self, label: str, part: str) -> str:
        return f"{label}~{part}{len(self.sites)}"

    def finished(self) -> Flowgraph:
        """The whole function."""
        graph = self.graph
        if not self.sites:
            return graph
        order = {label: number for number, label in enumerate(self.blocks)}
        loops = [*(self._grown(loop) for loop in graph.loops), *(info for _, info in self.own)]
        loops.sort(key=lambda loop: order[loop.header])
        variables = {**graph.variables, **self.variables}
        return replace(graph, blocks=self.blocks, variables=variables, loops=tuple(loops))

    def _grown(self, loop: LoopInfo) -> LoopInfo:
        more = (label for block in loop.blocks for label in self.inside.get(block, ()))
        latches = tuple(self.last.get(label, label) for label in loop.latches)
        exits = tuple((self.last.get(label, label), index) for label, index in loop.exits)
        return replace(loop, blocks=loop.blocks | frozenset(more), latches=latches, exits=exits)


# -- the values of a call ---------------------------------------------------------------------------------------------


def widths(code: ir.SourceFunction) -> tuple[int | None, ...]:
    """The widths of the parameters of a function as it is compiled."""
    return tuple(param.type.bits if isinstance(param.type, ir.IntT) else None for param in code.params)


@dataclass(frozen=True, slots=True)
class Handed:
    """How a caller sees what a callee begins with: ``caller`` and ``callee`` are their flowgraphs; ``bits`` the widths
    of the callee's parameters as they are compiled, None for those that are no integers.
    """

    caller: Flowgraph
    callee: Flowgraph
    bits: Sequence[int | None]

    def at(self, call: Call, term: t.Term) -> t.Term | None:
        """A term over the inputs of the callee, over the values in front of a call of it; None where one of the inputs
        is not known there.
        """
        if any(isinstance(node, t.Read) for node in t.walk_inside(term)):
            return None
        values: dict[t.Var, t.Term] = {}
        for var in term.variables:
            value = self.value(call, var)
            if value is None:
                return None
            values[var] = value
        return t.substitute(term, values)

    def value(self, call: Call, var: t.Var) -> t.Term | None:
        """An input of the callee over the variables of the caller; None where it is not known."""
        info = self.callee.variables.get(var)
        if info is None:
            return None
        match info.kind:
            case Kind.PARAMETER:
                return self._argument(call, var)
            case Kind.GLOBAL if not info.pointer_part and info.object is not None:
                symbol = self.callee.objects[info.object].symbol
                return self._held(symbol, None, info.offset, info, var)
            case Kind.POINTEE if not info.pointer_part and info.object is not None:
                at = self.callee.objects[info.object].parameter
                pointer = call.arguments[at] if at is not None and at < len(call.arguments) else None
                if not isinstance(pointer, Pointer) or not self._plain(pointer) or self._is_shared(at):
                    return None
                assert isinstance(pointer.object, t.Const)
                assert isinstance(pointer.offset, t.Const)
                return self._held("", pointer.object.value, pointer.offset.value + info.offset, info, var)
            case _:
                return None

    def _plain(self, pointer: Pointer) -> bool:
        return isinstance(pointer.object, t.Const) and isinstance(pointer.offset, t.Const)

    def _is_shared(self, at: int | None) -> bool:
        return at is None or self.callee.parameters[at].shared

    def _argument(self, call: Call, var: t.Var) -> t.Term | None:
        """The argument for an integer parameter, as the parameter reads it."""
        for at, (parameter, value) in enumerate(zip(self.callee.parameters, call.arguments, strict=False)):
            if parameter.var is not var or parameter.object is not None or isinstance(value, Pointer):
                continue
            if var.type.width is None:
                return value
            return t.wrap(value, var.type) if self.bits[at] == var.type.width else None
        return None

    def _held(self, symbol: str, number: int | None, offset: int, info: VariableInfo, var: t.Var) -> t.Term | None:
        """The caller's variable for the same memory."""
        for own, found in self.caller.variables.items():
            if found.object is None or found.offset != offset or found.size != info.size or found.pointer_part:
                continue
            if (found.object == number) if number is not None else (self._symbol(found) == symbol):
                if own.type == var.type:
                    return own
                return None if own.type.width is None or var.type.width != own.type.width else t.wrap(own, var.type)
        return None

    def _symbol(self, info: VariableInfo) -> str:
        found = self.caller.objects.get(info.object) if info.object is not None else None
        return found.symbol if found is not None else ""

    def apart(self, call: Call) -> bool:
        """Whether what the callee's pointer parameters point into surely does not overlap, nor with the globals that it
        uses: each of them is another local of the caller.
        """
        given = [
            value.object
            for parameter, value in zip(self.callee.parameters, call.arguments, strict=False)
            if _points(parameter) and isinstance(value, Pointer)
        ]
        if len(given) != sum(_points(parameter) for parameter in self.callee.parameters):
            return False
        numbers = [number.value for number in given if isinstance(number, t.Const)]
        local = [n for n in numbers if n in self.caller.objects and self.caller.objects[n].kind == "local"]
        return len(set(local)) == len(given)


def _points(parameter: Parameter) -> bool:
    return parameter.object is not None

"""History variables: what a run has done so far, told by variables that the program never reads.

A certificate names those that it speaks of, and the judge adds them to the flowgraph by itself. They are assigned on
edges and read by no condition, so each run with them is one without them, and what is proved with them is proved,
whatever they count (auxiliary variables: Owicki and Gries, An axiomatic proof technique for parallel programs I, Acta
Informatica 6, 1976; history variables: Abadi and Lamport, The existence of refinement mappings, TCS 82, 1991).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from loopless import terms as t
from loopless.check.certificates.formulas import symbols_of
from loopless.errors import UsageError
from loopless.flowgraph.model import Assign, Block, Edge, Flowgraph, FollowedCell, Kind, LoopInfo, VariableInfo
from loopless.patterns import pattern
from loopless.records import dataclass

SPACE: Final = "history:"
"""All names of history variables begin so, and no name of a program may: no two variables are ever taken for one."""
BEGIN: Final = "history:begin"
"""The block in which history begins, before the entry of the program."""
_NAME: Final = pattern(r"history:[A-Za-z0-9_.:@()<>,-]+")
_KEYS: Final = ({"name", "loop"}, {"name", "loop", "block"}, {"name", "block"}, {"name", "loop", "variable"})


@dataclass(frozen=True, slots=True)
class HistoryVariable:
    """What one history variable tells, an unbounded integer that never wraps.

    With a ``loop`` alone, by the label of its header: its back edges taken since it was last entered. With a ``block``
    of it, too: visits of that block since then. With a ``block`` alone: visits since the run began. With a ``loop`` and
    a ``variable`` of the program, by its symbol: what it held when the loop was last entered, before an iteration.
    Before a loop is entered for the first time counts are 0, and variables those of the beginning. Calls that are
    passed over count nothing.
    """

    name: str
    loop: str | None = None
    block: str | None = None
    variable: str | None = None


def history_of(document: Mapping[str, Any]) -> tuple[HistoryVariable, ...]:
    """The history variables that a certificate of version 2 names. Raises ``UsageError`` where one is none."""
    found = []
    for one in document["history"]:
        if set(one) not in _KEYS or not all(isinstance(value, str) for value in one.values()):
            raise UsageError(f"the certificate has a history variable that tells nothing: {one}")
        found.append(HistoryVariable(**one))
    return tuple(found)


def history_json(history: Iterable[HistoryVariable]) -> list[dict[str, str]]:
    """History variables as certificates write them."""
    parts = ("name", "loop", "block", "variable")
    return [{part: value for part in parts if (value := getattr(one, part)) is not None} for one in history]


def with_history(graph: Flowgraph, history: Iterable[HistoryVariable]) -> Flowgraph:
    """The flowgraph with these variables, which a block before its entry gives their first values.

    Raises:
        UsageError: a variable has no name of its own, or speaks of no loop, block or variable of the program.
    """
    told = tuple(history)
    if not told:
        return graph
    check_names(graph, [one.name for one in told])
    loops = {loop.header: loop for loop in graph.loops}
    kept = [_kept(graph, one, loops) for one in told]
    blocks = {label: _instrumented(block, kept) for label, block in graph.blocks.items()}
    first = tuple(Assign(one.var, t.ZERO if one.value is None else one.value) for one in kept)
    begin = _instrumented(Block(BEGIN, first, (Edge(t.TRUE, graph.entry),)), kept)
    variables = {**graph.variables, **{one.var: VariableInfo(one.var, one.var.name, Kind.FLAG) for one in kept}}
    made = replace(graph, blocks={BEGIN: begin, **blocks}, entry=BEGIN, variables=variables)
    elsewhere = graph.elsewhere | {one.var for one in kept if one.value in graph.elsewhere}
    cells, pairs = _with_earlier(graph.cells, kept), _with_earlier(graph.pairs, kept)
    return replace(made, cells=cells, pairs=pairs, elsewhere=elsewhere)


def _with_earlier(cells: Mapping[int, FollowedCell], kept: Iterable[_Kept]) -> dict[int, FollowedCell]:
    """The cells with what their variables held earlier."""
    found = dict(cells)
    for one in kept:
        for number, cell in cells.items():
            if one.value in (cell.cell, cell.number, cell.last):
                found[number] = replace(found[number], before=found[number].before | {one.var})
    return found


@dataclass(frozen=True, slots=True)
class _Kept:
    """A variable and what it tells: visits of ``block``, of back edges where that is None, or the ``value`` of another
    variable when the ``loop`` is entered.
    """

    var: t.Var
    loop: LoopInfo | None
    block: str | None = None
    value: t.Var | None = None

    def after(self, source: str, edge: Edge) -> t.Term | None:
        """What it holds behind an edge from the block ``source``; None where that is what it held before."""
        loop = self.loop
        enters = loop is not None and edge.target == loop.header and source not in loop.blocks
        if self.value is not None:
            return dict(edge.assigns).get(self.value, self.value) if enters else None
        if loop is None or self.block is not None:
            visits = edge.target == self.block
            if enters:
                return t.const(int(visits))
            return self.var + 1 if visits else None
        if enters:
            return t.ZERO
        return self.var + 1 if edge.target == loop.header else None


def _instrumented(block: Block, kept: Iterable[_Kept]) -> Block:
    edges = []
    for edge in block.edges:
        told = ((one.var, one.after(block.label, edge)) for one in kept)
        edges.append(replace(edge, assigns=(*edge.assigns, *((var, term) for var, term in told if term is not None))))
    return replace(block, edges=tuple(edges))


def check_names(graph: Flowgraph, names: Sequence[str]) -> None:
    """Raises ``UsageError`` where variables of these names cannot be added to the program."""
    if len(set(names)) < len(names):
        raise UsageError("the certificate has two history variables of one name")
    strange = next((name for name in names if not _NAME.fullmatch(name)), None)
    if strange is not None:
        raise UsageError(f"the certificate has a history variable {strange}, whose name does not begin with {SPACE}")
    taken = (*(symbol for symbol in symbols_of(graph.variables)), *graph.blocks)
    if any(name.startswith(SPACE) for name in (*taken, *(var.name for var in graph.variables))):
        raise UsageError(f"the program has a name that begins with {SPACE}, as only history variables may")


def _kept(graph: Flowgraph, one: HistoryVariable, loops: Mapping[str, LoopInfo]) -> _Kept:
    loop = None if one.loop is None else loops.get(one.loop)
    if one.loop is not None and loop is None:
        raise UsageError(f"the certificate has history of a loop {one.loop}, which the program does not have")
    if one.block is not None and one.block not in (graph.blocks if loop is None else loop.blocks):
        raise UsageError(f"the certificate has history of a block {one.block}, which is not there")
    if one.variable is None:
        return _Kept(t.Var(one.name, t.INTEGERS), loop, one.block)
    value = symbols_of(graph.variables).get(one.variable)
    if value is None:
        raise UsageError(f"the certificate has history of a variable {one.variable}, which the program does not have")
    return _Kept(t.Var(one.name, value.type), loop, value=value)

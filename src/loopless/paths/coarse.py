"""The paths of a loop as if its body were one: what an iteration surely does, how it may leave.

For loops whose paths are too many, take too long to find, or cannot be read. Each block is looked at by itself: of what
comes before it in the iteration, only that is known which is changed at one place that every iteration passes. What is
not known is a value from outside, so nothing that a run does is excluded (as Proteus, FSE 2016, section 4.2, takes what
depends on inputs). Takes some milliseconds, and asks no logic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from loopless import terms as t
from loopless.flowgraph.def_use import assigned_in, edge_uses
from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.model import (
    Assume,
    Block,
    Check,
    Edge,
    Flowgraph,
    LoopInfo,
    Origin,
)
from loopless.flowgraph.transfer import Domain, Source, through
from loopless.flowgraph.values import FLAG_TYPE
from loopless.flowgraph.words import with_number
from loopless.graphs import dominators, reachable
from loopless.paths.build import (
    calls_assumptions,
    changed_variables,
    default_interest,
    memory_assumptions,
    seen_at_ends,
)
from loopless.paths.execution import line_of
from loopless.paths.model import Exit, LoopPaths, Path, Unknown
from loopless.paths.symbolic import exit_kind, exit_line
from loopless.records import dataclass
from loopless.source.ir import Loc


def coarse_paths(graph: Flowgraph, loop: LoopInfo) -> LoopPaths:
    """One path for all iterations, and one for each way out. None of them is exact."""
    return _Coarse(graph, loop).paths()


@dataclass(slots=True)
class _Walk:
    """A block, walked through: what variables hold behind a part of it, over the header; which checks may fail."""

    values: dict[t.Var, t.Term]
    ends: list[tuple[Exit, t.Condition]] = field(default_factory=list)


class _Coarse(Domain[_Walk]):
    def __init__(self, graph: Flowgraph, loop: LoopInfo) -> None:
        self.graph = graph
        self.loop = loop
        self.blocks = {label: block for label, block in graph.blocks.items() if label in loop.blocks}
        self.changed = changed_variables(graph, loop)
        self.ends = seen_at_ends(graph)
        self.live = live_at_entry(graph.blocks, self.ends)
        self.interest = default_interest(graph, loop, self.live, self.ends, self.changed)
        self.unknowns: list[Unknown] = []
        within = self.blocks.keys() - {loop.header}
        forward = {label: [at for at in block.successors if at in within] for label, block in self.blocks.items()}
        self._above = dominators(forward, loop.header)
        self._after = {label: frozenset(reachable(forward[label], forward.__getitem__)) for label in self.blocks}
        self.steady = self._steady()

    # -- what each iteration does --

    def _steady(self) -> dict[t.Var, tuple[str, t.Term]]:
        """Variables that every iteration changes once and in the same way, by terms over themselves and what no
        iteration changes: the block, and the value behind it.
        """
        places: dict[t.Var, set[str]] = {}
        for label, block in self.blocks.items():
            for var in assigned_in((block,)):
                places.setdefault(var, set()).add(label)
        if self.graph.irreducible:
            return {}  # blocks may be passed several times in one iteration
        inner = (other for other in self.graph.loops if other.header in self._after[self.loop.header])
        inside = {label for other in inner if other.header != self.loop.header for label in other.blocks}
        found: dict[t.Var, tuple[str, t.Term]] = {}
        for label, block in self.blocks.items():
            own = [var for var, at in places.items() if at == {label}]
            if label in inside or not own or not all(self._dominates(label, latch) for latch in self.loop.latches):
                continue
            if any(target in own for edge in block.edges for target, _ in edge.assigns):
                continue
            values = self._walked(block, {}).values
            for var in own:
                term = values.get(var, var)
                if term.variables & self.changed <= {var} and not self._foreign(term) and not _reads(term):
                    found[var] = label, term
        return found

    def _foreign(self, term: t.Term) -> bool:
        """Whether a value from outside occurs."""
        return not term.variables.isdisjoint({unknown.var for unknown in self.unknowns})

    def _dominates(self, label: str, other: str) -> bool:
        current: str | None = other
        while current is not None and current != label:
            current = self._above.get(current)
        return current == label

    # -- blocks --

    def _begin(self, block: Block) -> dict[t.Var, t.Term]:
        """What changed variables that are used in or behind the block hold where it is entered."""
        label = block.label
        if label == self.loop.header:
            return {}
        used = self.live[label].union(*(self._needed(edge) for edge in block.edges if edge.target not in self.blocks))
        values: dict[t.Var, t.Term] = {}
        for var in sorted(self.changed & used, key=lambda var: var.key):
            steady = self.steady.get(var)
            if steady is None:
                values[var] = self._unknown(var)
            elif steady[0] == label or label not in self._after[steady[0]]:
                values[var] = var
            else:
                values[var] = steady[1] if self._dominates(steady[0], label) else self._unknown(var)
        return values

    def _unknown(self, var: t.Var) -> t.Var:
        found = t.Var(with_number(var.name, len(self.unknowns) + 1), var.type)
        self.unknowns.append(Unknown(found, Origin.UNSUPPORTED, var.name, self.loop.loc))
        return found

    def _walked(self, block: Block, values: dict[t.Var, t.Term]) -> _Walk:
        """Through a block from ``values``."""
        (walk,) = through(self, block, _Walk(values))
        return walk

    def value(self, state: _Walk, term: t.Term, target: t.Var) -> t.Term:
        return self._inside(term, state.values) or self._unknown(target)

    def assigned(self, state: _Walk, values: Mapping[t.Var, t.Term], loc: Loc | None) -> _Walk:  # noqa: ARG002
        state.values.update(values)
        return state

    def fresh(self, state: _Walk, target: t.Var, origin: Origin, name: str, source: Source) -> _Walk:  # noqa: ARG002
        state.values[target] = self._unknown(target)
        return state

    def keeps(self, label: str, statement: Check | Assume) -> bool:  # noqa: ARG002
        return isinstance(statement, Assume) or not statement.of_access  # accesses stay inside, that is granted

    def holds(self, state: _Walk, label: str, statement: Check | Assume) -> Sequence[_Walk]:
        kind, detail = ("undefined", statement.kind) if isinstance(statement, Check) else ("assumption", "")
        failed = ~self._holding(statement.condition, state.values)
        state.ends.append((Exit(kind, line_of(statement.loc), label, detail=detail), failed))
        return (state,)

    def _inside(self, term: t.Term, values: Mapping[t.Var, t.Term]) -> t.Term | None:
        try:
            found = t.substitute(term, values)
        except t.TermTooLarge:
            return None
        return None if _reads(found) else found

    def _holding(self, condition: t.Condition, values: Mapping[t.Var, t.Term]) -> t.Condition:
        """``condition`` there, or what it may be: some condition on a value from outside."""
        try:
            found = t.substitute(condition, values)
        except t.TermTooLarge:
            return self._undecided()
        return self._undecided() if _reads(found) else found

    def _undecided(self) -> t.Condition:
        return t.equals_zero(self._unknown(t.Var("a condition", FLAG_TYPE)))

    # -- paths --

    def paths(self) -> LoopPaths:
        """All of them."""
        walks = {label: self._walked(block, self._begin(block)) for label, block in self.blocks.items()}
        header = self.blocks[self.loop.header]
        staying = t.disjunction(
            self._holding(edge.condition, walks[header.label].values)
            for edge in header.edges
            if edge.target in self.blocks
        )
        exits: dict[tuple[Exit, t.Condition], dict[t.Var, t.Term]] = {}
        back: list[t.Condition] = []
        for label, block in self.blocks.items():
            there = t.TRUE if label == header.label else staying
            for exit, when in self._ends(label, block, walks[label]):
                exits.setdefault((exit, there & when), {})
            for index, edge in enumerate(block.edges):
                when = there & self._holding(edge.condition, walks[label].values)
                if edge.target == header.label:
                    back.append(when)
                elif edge.target not in self.blocks:
                    kind = exit_kind(self.graph, self.loop, edge.target)
                    exit = Exit(kind, exit_line(self.graph, edge, kind), label, index, edge.target)
                    exits[exit, when] = walks[label].values
        again = staying & t.disjunction(back)
        update = {var: self.steady[var][1] if var in self.steady else self._unknown(var) for var in self._state()}
        leaving = [self._exit(exit, when, values) for (exit, when), values in exits.items() if when is not t.FALSE]
        unknowns = tuple(self.unknowns)
        iterative = () if again is t.FALSE else (Path("1", again, update, None, unknowns, self._lines(), exact=False),)
        numbered = tuple(
            Path(f"e{at}", p.condition, p.update, p.exit, unknowns, p.lines, p.result, p.outputs, exact=False)
            for at, p in enumerate(leaving, start=1)
        )
        occurring = {v for p in (*iterative, *numbered) for v in p.condition.variables | set(p.update)}
        occurring |= {v for p in (*iterative, *numbered) for term in p.update.values() for v in term.variables}
        state = tuple(update)
        invariants = tuple(sorted(occurring - {u.var for u in unknowns} - self.changed, key=lambda var: var.key))
        granted = calls_assumptions(self.graph, self.loop)
        granted += memory_assumptions(self.graph, self.loop.blocks, occurring)
        assumptions = tuple(dict.fromkeys(granted))
        return LoopPaths(self.loop, iterative, numbered, state, invariants, self.interest, assumptions)

    def _state(self) -> list[t.Var]:
        used = self.live[self.loop.header] | frozenset(self.interest)
        return sorted(self.changed & used, key=lambda var: var.key)

    def _lines(self) -> tuple[int, ...]:
        places = (s.loc for block in self.blocks.values() for s in block.statements)
        return tuple(sorted({loc.line for loc in places if loc is not None}))

    def _ends(self, label: str, block: Block, walk: _Walk) -> Iterator[tuple[Exit, t.Condition]]:
        """The ways in which the run ends in a block, or is not followed any more."""
        yield from walk.ends
        blocked = self.graph.blocked.get(label)
        if blocked is not None:
            yield Exit("unsupported", self.loop.line, label, None, None, blocked.detail, blocked), t.TRUE
        if block.end is not None:
            why = block.end.refused
            kind = "unsupported" if why is not None else block.end.kind
            detail = why.detail if why is not None else "unreachable" if kind == "undefined" else ""
            yield Exit(kind, line_of(block.end.loc), label, None, None, detail, why), t.TRUE
        if label != self.loop.header and any(inner.header == label for inner in self.graph.loops):
            yield Exit("endless", self.loop.line, label), t.TRUE

    def _needed(self, edge: Edge) -> frozenset[t.Var]:
        """The variables whose values matter on a way out."""
        return frozenset(edge_uses(edge, self.live[edge.target])) | frozenset(self.interest)

    def _exit(self, exit: Exit, when: t.Condition, values: Mapping[t.Var, t.Term]) -> Path:
        """The way out by ``exit``; at an end of the run nothing is known of what has changed."""
        if exit.edge is not None and exit.target is not None:
            needed = self._needed(self.graph.blocks[exit.block].edges[exit.edge])
            update = {var: values.get(var, var) for var in sorted(needed & self.changed, key=lambda var: var.key)}
        elif exit.kind in ("return", "exit", "abort"):
            needed = self.ends | frozenset(self.interest)
            update = {var: self._unknown(var) for var in sorted(needed & self.changed, key=lambda var: var.key)}
        else:
            needed, update = frozenset(), {}
        end = self.graph.blocks[exit.block].end
        result: t.Term | None = None
        if exit.kind == "return" and exit.edge is None and end is not None and end.value is not None:
            result = self._unknown(t.Var("result", self.graph.result)) if self.graph.result is not None else None
        changing = {var: term for var, term in update.items() if term is not var}
        return Path("", when, changing, exit, (), (exit.line,) if exit.line else (), result, needed, exact=False)


def _reads(node: t.Term | t.Condition) -> bool:
    """Whether something is read from memory, which the loop may write."""
    return any(isinstance(part, t.Read) for part in t.walk_inside(node))

"""Invariants from what loops write: what cells of arrays hold after so many iterations, over history variables.

What a loop makes of an array is layers over what it held at the loop's entry (:mod:`loopless.summary.memory`). Read at
the place of the cell that is followed (:mod:`loopless.flowgraph.memory.array_cells`), with the number of iterations so
far as a history variable, that is an invariant about one element that is any but fixed. What it says of an earlier
loop stays true behind that loop, since the history of a loop changes only where the loop is entered again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import product

from loopless import terms as t
from loopless.check.certificates.history import SPACE, HistoryVariable
from loopless.flowgraph.def_use import assigned_in
from loopless.flowgraph.memory.statement_effects import changed_in
from loopless.flowgraph.model import Flowgraph, FollowedCell, LoopInfo
from loopless.graphs import reachable
from loopless.limits.summary import CONTENTS_OPERATIONS
from loopless.limits.verification import MAX_HISTORY_CASES
from loopless.logic import budget
from loopless.paths.build import changed_variables
from loopless.paths.context import facts_behind
from loopless.paths.model import NoPaths
from loopless.portfolio import LIMITS
from loopless.records import dataclass
from loopless.summary.memory.elements import resolved
from loopless.summary.memory.layers import TIMES, Layering
from loopless.summary.nests import KnownLoops, writing_paths
from loopless.terms.contents import INDEX, Overlapping, index_at
from loopless.transition.relation import START, Step, TransitionSystem
from loopless.verification.history import HistoryInvariants, one_of


def content_invariants(system: TransitionSystem, plain: Flowgraph) -> HistoryInvariants | None:
    """What may hold at the headers of loops of arrays and of what is computed beside them. ``plain``: the flowgraph of
    the system before it had cells. None where there are no cells.
    """
    cells = tuple(system.graph.cells.values())
    if not cells or not plain.loops:
        return None
    made = _Making(system, plain, cells)
    for loop in sorted(plain.loops, key=lambda loop: -loop.depth):
        made.iterate(loop)
    proposed = {label: tuple(dict.fromkeys(made.at(label))) for label in system.cutpoints}
    spoken = frozenset[t.Var]().union(*(part.variables for parts in proposed.values() for part in parts))
    history = tuple(one for one in made.history if any(one.name == var.name for var in spoken))
    return HistoryInvariants(history, proposed, spoken & made.fixed)


@dataclass(frozen=True, slots=True)
class _Claim:
    """Under ``when``, a variable holds ``term``: both over the loop's entry and its count."""

    when: t.Condition
    term: t.Term


_Claims = tuple[_Claim, ...]


@dataclass(frozen=True, slots=True)
class _Reached:
    """What iterations of a loop come to. ``given``: what holds of the count; ``holds``: of variables."""

    given: tuple[t.Condition, ...]
    holds: Mapping[t.Var, _Claims]


@dataclass(slots=True)
class _Making:
    system: TransitionSystem
    plain: Flowgraph
    cells: tuple[FollowedCell, ...]
    history: list[HistoryVariable] = field(default_factory=list)
    known: KnownLoops = field(default_factory=KnownLoops)
    fixed: frozenset[t.Var] = field(init=False)
    """The variables that nothing changes once a loop is reached."""
    loops: Mapping[str, LoopInfo] = field(init=False)
    reached: dict[str, _Reached] = field(default_factory=dict)
    entries: dict[str, dict[t.Var, t.Term]] = field(default_factory=dict)
    """By header, what variables held at the entry."""
    facts: dict[str, tuple[t.Condition, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        graph = self.system.graph
        behind = reachable(self.system.cutpoints, lambda label: graph.blocks[label].successors)
        self.fixed = graph.variables.keys() - assigned_in(graph.blocks[label] for label in behind)
        self.loops = {loop.header: loop for loop in graph.loops if loop.header in self.system.cutpoints}

    # -- one loop -----------------------------------------------------------------------------------------------------

    def iterate(self, plain: LoopInfo) -> None:
        """Find what iterations of a loop come to."""
        label = plain.header
        loop = self.loops.get(label)
        if loop is None:
            return
        entry = self._entry(loop)
        count = t.Var(f"{SPACE}iterations{len(self.entries)}", t.INTEGERS)
        self.entries[label] = entry
        self.history.append(HistoryVariable(count.name, loop=label))
        changed = changed_variables(self.system.graph, loop)
        state = self.system.state[label]
        holds: dict[t.Var, _Claims] = {}
        for var in state:
            if var not in changed and var not in self.fixed:
                holds[var] = (_Claim(t.TRUE, entry[var]),)
        given = [count.ge(0)]
        try:
            with budget(CONTENTS_OPERATIONS):
                told = self._told(plain, [var for var in state if var in changed], count, entry)
        except LIMITS:
            told = None
        if told is not None:
            given += told.given
            holds |= told.holds
        self.reached[label] = _Reached(tuple(given), holds)

    def _entry(self, loop: LoopInfo) -> dict[t.Var, t.Term]:
        """What variables hold where a loop is entered: themselves where nothing changes them, a constant where that is
        known, else a history variable.
        """
        number = len(self.entries)
        steps = [step for step in self.system.transitions if _enters(step, loop)]
        found: dict[t.Var, t.Term] = {var: var for var in self.fixed}
        for i, var in enumerate(self.system.state[loop.header]):
            if var in self.fixed:
                continue
            values = {self._by_fixed(step, var) for step in steps}
            value = next(iter(values)) if len(values) == 1 else None
            if value is None:
                held = t.Var(f"{SPACE}entry{number}.{i}", var.type)
                symbol = t.symbol(var.name).strip("|")
                self.history.append(HistoryVariable(held.name, loop=loop.header, variable=symbol))
                value = held
            found[var] = value
        return found

    def _by_fixed(self, step: Step, var: t.Var) -> t.Term | None:
        """What a step gives to a variable, over what nothing changes; None where it is something else."""
        value = step.update.get(var)
        if value is None:
            return None
        if step.source == START:
            inputs: dict[t.Var, t.Term] = {
                term: name for name, term in step.update.items() if isinstance(term, t.Var) and name in self.fixed
            }
            value = t.substitute(value, inputs)
        return value if value.variables <= self.fixed else None

    def _told(
        self, loop: LoopInfo, changed: Sequence[t.Var], count: t.Var, entry: Mapping[t.Var, t.Term]
    ) -> _Reached | None:
        """What is known of ``changed`` variables."""
        scalars = [var for var in changed if var in self.plain.variables]
        paths = writing_paths(self.plain, loop, interest=scalars, known=self.known)
        if isinstance(paths, NoPaths) or not paths.iterative:
            return None
        layering = Layering(resolved(paths))
        seen = _Seeing(self.cells, self.plain, {**entry, TIMES: count})
        given: list[t.Condition] = []
        for part in t.conjuncts(layering.holding(count - 1)):
            there = seen.of(part)
            if there is not None:
                given.append(count.le(0) | ~there[1] | there[0])
        holds: dict[t.Var, _Claims] = {}
        for var, term in layering.values(frozenset(scalars), count).items():
            found = seen.of(term)
            if found is not None:
                holds[var] = (_Claim(found[1], found[0]),)
        layers = layering.after()
        written = changed_in(self.plain, loop.blocks)
        for cell in self.cells:
            if not written.hits(cell.object):
                continue
            own = layers.get(self.plain.objects[cell.object].name)
            if cell.cell in entry and own is not None:
                holds[cell.cell] = tuple(seen.claims(own, cell, entry[cell.cell]))
        return _Reached(tuple(given), holds)

    # -- what holds at a header ---------------------------------------------------------------------------------------

    def at(self, label: str) -> Iterator[t.Condition]:
        """What may hold at a header."""
        found = self.reached.get(label)
        if found is None:
            return
        parts = [*self.entered(label), *found.given]
        parts += (~one.when | var.eq(one.term) for var, claims in found.holds.items() for one in claims)
        yield from (part for part in parts if t.smt(part) is not None)

    def entered(self, label: str) -> tuple[t.Condition, ...]:
        """What holds of the entry of a loop, and of what ran before it."""
        if label not in self.facts:
            self.facts[label] = ()  # of a loop that is its own origin, by a way outside, nothing is said
            self.facts[label] = tuple(one_of(self._ways(label)))
        return self.facts[label]

    def _ways(self, label: str) -> list[tuple[t.Condition, ...]]:
        ways: list[tuple[t.Condition, ...]] = []
        for step in self.system.transitions:
            if not _enters(step, self.loops[label]):
                continue
            if step.source == START:
                shown = frozenset(self.system.state[label]) | self.fixed
                facts = facts_behind(t.conjuncts(step.condition), step.update, shown)
                ways.append(tuple(t.substitute(fact, self.entries[label]) for fact in facts))
            elif step.source in self.reached:
                ways.append(tuple(self._behind(step, label)))
            else:
                return []
            if len(ways) > MAX_HISTORY_CASES:
                return []
        return ways

    def _behind(self, step: Step, label: str) -> Iterator[t.Condition]:
        """What holds where a loop is entered by a step from another one."""
        before = self.reached[step.source]
        yield from self.entered(step.source)
        yield from before.given
        entry = self.entries[label]
        parts = list(t.conjuncts(step.condition))
        parts += (held.eq(step.update.get(var, var)) for var, held in entry.items() if var not in self.fixed)
        inputs = {one.var for one in step.taken} | {one.var for one in step.inputs}
        history = {var for held in entry.values() for var in held.variables}
        for part in parts:
            variables = sorted(part.variables - self.fixed - history, key=lambda var: var.key)
            if inputs.intersection(variables) or not all(var in before.holds for var in variables):
                continue
            for chosen in product(*(before.holds[var] for var in variables)):
                values = {var: one.term for var, one in zip(variables, chosen, strict=True)}
                yield t.disjunction((*(~one.when for one in chosen), t.substitute(part, values)))


def _enters(step: Step, loop: LoopInfo) -> bool:
    return step.target == loop.header and step.source not in loop.blocks


@dataclass(frozen=True, slots=True)
class _Seeing:
    """What is read of arrays, by their cells, at the ``values`` of variables."""

    cells: tuple[FollowedCell, ...]
    graph: Flowgraph
    values: Mapping[t.Var, t.Term]

    def of(self, node: t.Node) -> tuple[t.Node, t.Condition] | None:
        """``node`` with cells in place of what is read, and where these are what is read; None where it reads other
        memory.
        """
        named = {self.graph.objects[cell.object].name: cell for cell in self.cells}
        guards: list[t.Condition] = []
        lost = False

        def of_read(array: str, offset: t.Term, type: t.IntType) -> t.Term:
            nonlocal lost
            cell = named.get(array)
            held = None if cell is None else self.values.get(cell.cell)
            bound = any(var.name.startswith((t.BOUND, t.OPENED)) for var in offset.variables)
            if cell is None or held is None or bound or type.width != cell.cell.type.width:
                lost = True
                return t.read(array, offset, type)
            guards.append(cell.hit(offset))
            return t.wrap(held, type)

        found = t.with_reads(t.substituted(node, self.values), of_read)
        if lost or any(isinstance(part, t.Aggregate) for part in t.walk_inside(found)):
            return None
        return found, t.conjunction(guards)

    def claims(self, layers: t.Layers, cell: FollowedCell, before: t.Term) -> Iterator[_Claim]:
        """What a cell holds under ``layers``, over what it held ``before``."""
        others: t.Condition = t.TRUE
        for layer in layers:
            try:
                index = index_at(layer, cell.place, cell.cell.type)
            except Overlapping:
                return
            if index is None:
                continue
            at, aligned = index
            there = self.of(aligned & t.substitute(layer.where, {INDEX: at}))
            if there is None:
                return
            where, guard = there
            assert isinstance(where, t.Condition)
            if layer.value is not None:
                held = self.of(t.wrap(t.substitute(layer.value, {INDEX: at}), cell.cell.type))
                if held is not None:
                    value, read = held
                    assert isinstance(value, t.Term)
                    yield _Claim(others & guard & where & read, value)
            others = others & guard & ~where
        yield _Claim(others, before)

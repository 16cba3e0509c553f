"""Invariants from what loops write: what cells of arrays hold after so many iterations, over history variables.

What a loop makes of an array is layers over what it held at the loop's entry (:mod:`loopless.summary.memory`). Read at
the place of the cell that is followed (:mod:`loopless.flowgraph.memory.array_cells`), with the number of iterations so
far as a history variable, that is an invariant about one element that is any but fixed. What it says of an earlier
loop stays true behind that loop, since the history of a loop changes only where the loop is entered again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from itertools import product

from loopless import terms as t
from loopless.check.certificates.history import SPACE, HistoryVariable
from loopless.flowgraph.def_use import assigned_in
from loopless.flowgraph.memory.statement_effects import changed_in
from loopless.flowgraph.model import Flowgraph, FollowedCell, Havoc, LoopInfo
from loopless.graphs import reachable
from loopless.limits.summary import CONTENTS_OPERATIONS
from loopless.limits.verification import MAX_HISTORY_CASES
from loopless.logic import budget
from loopless.paths.build import changed_variables
from loopless.paths.context import facts_behind
from loopless.paths.model import NoPaths, Path
from loopless.portfolio import LIMITS
from loopless.records import dataclass
from loopless.summary.data.possible import possible
from loopless.summary.memory.elements import Resolved, changed, resolved
from loopless.summary.memory.layers import TIMES, Layering
from loopless.summary.nests import KnownLoops, writing_paths
from loopless.terms.contents import INDEX, Overlapping, element, followed, index_at, mapped, unknown
from loopless.terms.knowing import Known
from loopless.transition.relation import START, Step, TransitionInput, TransitionSystem
from loopless.verification.history import HistoryInvariants, one_of


def content_invariants(system: TransitionSystem, plain: Flowgraph) -> HistoryInvariants | None:
    """What may hold at the headers of loops of arrays and of what is computed beside them. ``plain``: the flowgraph of
    the system before it had cells. None where there are no cells.
    """
    cells = tuple(system.graph.cells.values())
    if not cells or not plain.loops:
        return None
    made = _Making(system, plain, cells)
    loops = {loop.header: loop for loop in plain.loops}
    for label in system.cutpoints:  # what runs before comes first
        if label in loops:
            made.iterate(loops[label])
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
    """What iterations of a loop come to. ``given``: what holds of the count; ``holds``: of variables; ``contents``: of
    objects, over what these held when the run began; ``relations``: what else holds of variables.
    """

    given: tuple[t.Condition, ...]
    holds: Mapping[t.Var, _Claims]
    contents: t.Contents = field(default_factory=dict)
    relations: tuple[t.Condition, ...] = ()

    @property
    def known(self) -> dict[t.Var, t.Term]:
        """What variables hold in any case."""
        return {var: claims[0].term for var, claims in self.holds.items() if claims and claims[0].when is t.TRUE}


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
    contents: dict[str, t.Contents] = field(default_factory=dict)
    """By header, what objects held at the entry, over what they held when the run began."""

    def __post_init__(self) -> None:
        graph = self.system.graph
        behind = reachable(self.system.cutpoints, lambda label: graph.blocks[label].successors)
        self.fixed = frozenset(graph.variables) - assigned_in(graph.blocks[label] for label in behind)
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
        moved = changed_variables(self.system.graph, loop)
        state = self.system.state[label]
        holds: dict[t.Var, _Claims] = {}
        for var in state:
            if var not in moved and var not in self.fixed:
                holds[var] = (_Claim(t.TRUE, entry[var]),)
        self.reached[label] = _Reached((count.ge(0),), holds)
        self.contents[label] = self._contents(loop)
        try:
            with budget(CONTENTS_OPERATIONS):
                self.reached[label] = self._told(plain, [var for var in state if var in moved], count)
        except LIMITS:
            pass

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
            value = t.substitute(value, self._inputs(step))
        return value if value.variables <= self.fixed else None

    def _inputs(self, step: Step) -> dict[t.Var, t.Term]:
        """What the beginning of a run takes from outside, by the variables that keep it."""
        kept = ((term, name) for name, term in step.update.items() if isinstance(term, t.Var) and name in self.fixed)
        return dict(kept)

    def _begins(self, one: TransitionInput, cell: FollowedCell) -> bool:
        """Whether an input is what a cell holds when a run begins."""
        if one.index < 0:
            return False
        statement = self.system.graph.blocks[one.block].statements[one.index]
        return isinstance(statement, Havoc) and statement.target == cell.cell

    def _told(self, loop: LoopInfo, changed: Sequence[t.Var], count: t.Var) -> _Reached:
        """What is known of ``changed`` variables, too."""
        label = loop.header
        entry, before = self.entries[label], self.reached[label]
        scalars = [var for var in changed if var in self.plain.variables]
        paths = writing_paths(self.plain, loop, interest=scalars, known=self.known)
        if isinstance(paths, NoPaths) or not paths.iterative:
            return before
        found = resolved(paths)
        entered = (*self.entered(label), *before.given)
        first = Layering(found)
        values = first.values(frozenset(scalars), count)
        now = (var.eq(t.substitute(term, entry)) for var, term in values.items() if not _reads(term))
        fixed = (var.eq(term) for var, term in before.known.items())
        at_header = t.conjunction((*entered, *now, *fixed))
        plainer = self._read_before(found, label, at_header)
        layering = first if plainer is found else Layering(plainer)
        seen = _Seeing(self.cells, self.plain, {**entry, TIMES: count}, self.contents[label], t.conjunction(entered))
        given: list[t.Condition] = list(before.given)
        for part in t.conjuncts(layering.holding(count - 1)):
            there = seen.of(part)
            if there is not None:
                held = there[0]
                assert isinstance(held, t.Condition)
                given.append(count.le(0) | ~there[1] | held)
        seen = replace(seen, facts=t.conjunction((*entered, *given)))
        holds = dict(before.holds)
        relations: list[t.Condition] = []
        for var, term in layering.values(frozenset(scalars), count).items():
            told = seen.of(term)
            if told is not None:
                held = told[0]
                assert isinstance(held, t.Term)
                holds[var] = (_Claim(told[1], held),)
            elif isinstance(term, t.Aggregate):
                relations += seen.extremes(var, term)
        layers = {array: seen.substituted(own) for array, own in layering.after().items()}
        written = changed_in(self.plain, loop.blocks)
        for cell in self.cells:
            if not written.hits(cell.object):
                continue
            own = layers.setdefault(self.plain.objects[cell.object].name, (unknown(),))
            if cell.cell in entry:
                holds[cell.cell] = tuple(seen.claims(own, cell, entry[cell.cell]))
        contents = followed(self.contents[label], layers, _deciding(seen.facts))
        return _Reached(tuple(given), holds, contents, tuple(relations))

    def _read_before(self, found: Resolved, label: str, facts: t.Condition) -> Resolved:
        """The loop with what it reads of what ran before, where that is known; itself where it reads none of it."""

        def of(path: Path) -> Path:
            seen = _Seeing(self.cells, self.plain, {}, self.contents[label], facts & path.condition)
            return changed(path, seen.resolved)

        iterative = tuple(map(of, found.paths.iterative))
        if all(a == b for a, b in zip(iterative, found.paths.iterative, strict=True)):
            return found
        iterative = tuple(path for path in iterative if path.condition is not t.FALSE)
        return replace(found, paths=replace(found.paths, iterative=iterative)) if iterative else found

    def _contents(self, loop: LoopInfo) -> t.Contents:
        """What objects hold where a loop is entered."""
        ways = [self._brought(step) for step in self.system.transitions if _enters(step, loop)]
        if ways and all(way == ways[0] for way in ways):
            return ways[0]
        return {self.plain.objects[cell.object].name: (unknown(),) for cell in self.cells}

    def _brought(self, step: Step) -> t.Contents:
        """What objects hold behind a step into a loop."""
        before = self.reached.get(step.source)
        base: dict[str, t.Layers] = {} if before is None else dict(before.contents)
        values = {} if before is None else before.known
        written: dict[str, t.Layers] = {}
        for cell in self.cells:
            name = self.plain.objects[cell.object].name
            value = step.update.get(cell.cell, cell.cell)
            if before is None and step.source != START:
                base[name] = (unknown(),)
            elif not isinstance(value, t.Var):
                held = t.read(name, INDEX * cell.size, cell.cell.type)
                brought = {one.var: held for one in step.inputs if self._begins(one, cell)}
                inputs = self._inputs(step) if step.source == START else {}
                there = t.substitute(value, {**inputs, **brought})
                there = t.substitute(there, {**values, cell.number: INDEX, cell.cell: held})
                known = there.variables <= self.fixed | {INDEX} | _history(there)
                where = self._inside(cell)
                written[name] = (t.Layer(cell.cell.type, t.ZERO, cell.size, where, there if known else None),)
        return followed(base, written, lambda condition: condition)

    def _inside(self, cell: FollowedCell) -> t.Condition:
        """Where an object has elements, as far as its size keeps its value; behind its end nothing is read."""
        described = self.plain.objects[cell.object]
        size = t.const(described.size) if described.size is not None else described.extent
        if size is None or not size.variables <= self.fixed:
            return INDEX.ge(0)
        return INDEX.ge(0) & INDEX.lt(size // cell.size)

    # -- what holds at a header ---------------------------------------------------------------------------------------

    def at(self, label: str) -> Iterator[t.Condition]:
        """What may hold at a header."""
        found = self.reached.get(label)
        if found is None:
            return
        parts = [*self.entered(label), *found.given, *found.relations]
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
                begun = (t.substitute(fact, self.entries[label]) for fact in facts)
                ways.append((*begun, *self._begun(step, label)))
            elif step.source in self.reached:
                ways.append(tuple(self._behind(step, label)))
            else:
                return []
            if len(ways) > MAX_HISTORY_CASES:
                return []
        return ways

    def _begun(self, step: Step, label: str) -> Iterator[t.Condition]:
        """What the beginning of a run gives to the variables of a loop's entry, in the cases in which that is known."""
        inputs = self._inputs(step)
        cells = {cell.cell for cell in self.cells}
        for var, held in self.entries[label].items():
            if var in step.update and (_history(held) or (var in self.fixed and var in cells)):
                for when, value in _cases(t.substitute(step.update[var], inputs)):
                    if (when.variables | value.variables) <= self.fixed:
                        yield ~when | held.eq(value)

    def _behind(self, step: Step, label: str) -> Iterator[t.Condition]:
        """What holds where a loop is entered by a step from another one."""
        before = self.reached[step.source]
        yield from self.entered(step.source)
        yield from before.given
        entry = self.entries[label]
        parts = list(t.conjuncts(step.condition))
        parts += (held.eq(step.update.get(var, var)) for var, held in entry.items() if var not in self.fixed)
        kept = {var: held for var, held in entry.items() if var not in step.update}
        for part in before.relations:
            if part.variables <= kept.keys() | _history(part):
                yield t.substitute(part, kept)
        inputs = {one.var for one in step.taken} | {one.var for one in step.inputs}
        history = {var for held in entry.values() for var in held.variables}
        for part in parts:
            variables = sorted(part.variables - self.fixed - history, key=lambda var: var.key)
            if inputs.intersection(variables) or not all(var in before.holds for var in variables):
                continue
            for chosen in product(*(before.holds[var] for var in variables)):
                values = {var: one.term for var, one in zip(variables, chosen, strict=True)}
                yield t.disjunction((*(~one.when for one in chosen), t.substitute(part, values)))


def _deciding(facts: t.Condition) -> Callable[[t.Condition], t.Condition]:
    """What decides conditions where ``facts`` hold."""
    known = Known(t.conjuncts(facts))

    def decide(condition: t.Condition) -> t.Condition:
        left = known.decide(condition)
        if not isinstance(left, t.Truth):
            if not possible(facts & left):
                return t.FALSE
            if not possible(facts & ~left):
                return t.TRUE
        return left

    return decide


def _cases(term: t.Term, when: t.Condition = t.TRUE) -> Iterator[tuple[t.Condition, t.Term]]:
    """The cases of a term that is a choice."""
    if isinstance(term, t.Ite):
        yield from _cases(term.then, when & term.condition)
        yield from _cases(term.otherwise, when & ~term.condition)
    else:
        yield when, term


def _reads(node: t.Node) -> bool:
    return any(isinstance(part, t.Read) for part in t.walk_inside(node))


def _is_bound(node: t.Node) -> bool:
    return any(var.name.startswith((t.BOUND, t.OPENED)) for var in node.variables)


def _history(node: t.Node) -> frozenset[t.Var]:
    return frozenset(var for var in node.variables if var.name.startswith(SPACE))


def _enters(step: Step, loop: LoopInfo) -> bool:
    return step.target == loop.header and step.source not in loop.blocks


@dataclass(frozen=True, slots=True)
class _Seeing:
    """What is read of arrays, by their cells, at the ``values`` of variables."""

    cells: tuple[FollowedCell, ...]
    graph: Flowgraph
    values: Mapping[t.Var, t.Term]
    contents: t.Contents
    """What objects hold where the loop is entered, over what they held when the run began."""
    facts: t.Condition

    def resolved(self, node: t.Node) -> t.Node:
        """``node`` with values in place of what is read of memory that something wrote before, where that is known."""
        decide = _deciding(self.facts)

        def of_read(array: str, offset: t.Term, type: t.IntType) -> t.Term:
            found = None
            if array in self.contents and not _is_bound(offset):
                with suppress(Overlapping):
                    found = element(self.contents, array, offset, type, decide)
            return t.read(array, offset, type) if found is None or _reads(found) else found

        return t.with_reads(node, of_read)

    def substituted(self, layers: t.Layers) -> t.Layers:
        """The layers at the values of variables."""
        return mapped(layers, lambda node: t.substituted(node, self.values))

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
            if cell is None or held is None or _is_bound(offset) or type.width != cell.cell.type.width:
                lost = True
                return t.read(array, offset, type)
            guards.append(cell.hit(offset))
            return t.wrap(held, type)

        found = t.with_reads(self.resolved(t.substituted(node, self.values)), of_read)
        if lost or any(isinstance(part, t.Aggregate) for part in t.walk_inside(found)):
            return None
        return found, t.conjunction(guards)

    def extremes(self, var: t.Var, term: t.Aggregate) -> Iterator[t.Condition]:
        """What holds of a variable that is the greatest, or the least, of elements: each that is among them is no more,
        or no less.
        """
        if term.kind not in ("least", "greatest"):
            return
        (length, start), (at,), (value,) = term.outside, term.bound, term.inside
        offered: list[tuple[t.Condition, t.Node]] = [(t.TRUE, start)]
        reads = {part for part in t.walk_inside(value) if isinstance(part, t.Read)}
        cells = {self.graph.objects[cell.object].name: cell for cell in self.cells}
        if len(reads) == 1 and (cell := cells.get((read := reads.pop()).array)) is not None:
            rest = t.polynomial(t.substitute(read.offset - cell.size * at, self.values))
            if all(factor % cell.size == 0 for factor in rest.values()):
                index = cell.number - t.from_polynomial({part: factor // cell.size for part, factor in rest.items()})
                offered.append((index.ge(0) & index.lt(length), t.substituted(value, {at: index})))
        for where, node in offered:
            found, there = self.of(node), self.of(where)
            if found is not None and there is not None:
                held, when = found[0], there[0]
                assert isinstance(held, t.Term)
                assert isinstance(when, t.Condition)
                yield ~when | ~found[1] | (var.ge(held) if term.kind == "greatest" else var.le(held))

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

"""The relation of a program from its flowgraph: steps between cutpoints, each all ways from one to the next at once.

Cutpoints lie on every cycle, so a run is a sequence of transitions. Ways between two cutpoints that meet on the way
become one, whose values are choices (large-block encoding: Beyer et al., Software model checking via large-block
encoding, FMCAD 2009). What comes from outside on the way is an input of the transition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from loopless import terms as t
from loopless.flowgraph.def_use import assigned_in
from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.memory.statement_effects import Written, changed_by, changed_in, read_type
from loopless.flowgraph.model import (
    Allocate,
    Assume,
    Begin,
    Block,
    Call,
    Check,
    Copy,
    Expire,
    Fill,
    Flowgraph,
    Load,
    Origin,
    Statement,
    Store,
)
from loopless.flowgraph.transfer import Domain, Source, after, along
from loopless.graphs import reachable, reverse_postorder
from loopless.limits.verification import MAX_READS
from loopless.logic.steps import Instance
from loopless.paths.build import changed_variables
from loopless.paths.model import Exit
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.source.ir import Loc
from loopless.summary import LoopSummary
from loopless.terms.relation import GuardedUpdate, join
from loopless.transition.accesses import giving, over, together
from loopless.transition.algebra import apart
from loopless.transition.elements import ReadElement, instances
from loopless.transition.known_reads import KnownRead, Reads, on_all_ways, same_place, unwritten
from loopless.transition.relation import (
    DIVERGES,
    OPEN,
    START,
    UNDEFINED,
    VIOLATION,
    Access,
    Kind,
    Passes,
    Step,
    TransitionInput,
    TransitionSystem,
    Violates,
    multiplies,
)

_ROOTS: Final = "~roots"
"""Leads to the blocks with which ways begin."""
_UNTOLD: Final = -1
"""The place of an input that no statement takes: any value of a variable that a summary says nothing of."""


def system_of(  # noqa: PLR0913
    graph: Flowgraph,
    violates: Violates,
    calls: Passes,
    *,
    ends: bool = True,
    ways: int = 1,
    accesses: bool = False,
    leaps: Mapping[str, LoopSummary] | None = None,
    kept: frozenset[t.Var] = frozenset(),
    only: frozenset[t.Var] | None = None,
    elements: bool = False,
) -> TransitionSystem | Refused:
    """The transitions of ``graph``. ``calls`` says why a call cannot be passed over; ``ends``: without it nothing is
    kept of runs that end. ``ways``: maximum number of states that stay separate where paths with different values meet.
    ``accesses``: transitions say what they do to memory. ``leaps``: by the header of a loop the summary whose
    cases are steps in place of its iterations. ``kept``: variables whose values matter everywhere, also where runs end,
    though none reads them. ``only``: the variables that are followed, with all on which they depend; a check of others
    is passed over. ``elements``: what holds of followed elements of arrays is taken to hold of those that are read.
    """
    cutpoints = cutpoints_of(graph)
    live = {label: found | kept for label, found in live_at_entry(graph.blocks, frozenset()).items()}
    live |= {VIOLATION: kept, OPEN: kept}
    if only is not None:
        live = {label: found & only for label, found in live.items()}
    made = _Maker(graph, violates, calls, frozenset(cutpoints), live, ways, accesses, leaps or {}, only, elements)
    try:
        for start in (START, *cutpoints):
            made.begin(start)
    except t.TermTooLarge as error:
        return Refused(Reason.BUDGET, graph.source_name, f"an expression grows too large: {error}")
    transitions = [transition for transition in made.transitions if ends or transition.target in cutpoints]
    if ways > 1 or multiplies(transitions):
        transitions = [part for transition in transitions for part in apart(transition)]
    state = {label: tuple(sorted(live[label], key=lambda v: v.key)) for label in cutpoints}
    failing, unknown = tuple(made.failing), tuple(made.open)
    return TransitionSystem(graph, cutpoints, tuple(transitions), state, failing, unknown, violates, calls)


def cutpoints_of(graph: Flowgraph) -> tuple[str, ...]:
    """The targets of the edges that lead back in reverse postorder: they lie on every cycle, and of reducible
    flowgraphs they are the headers of loops. Where functions have contracts also what these are checked at.
    """
    successors = {label: block.successors for label, block in graph.blocks.items()}
    order = reverse_postorder(successors, graph.entry)
    place = {label: index for index, label in enumerate(order)}
    back = {target for label in order for target in successors[label] if place[target] <= place[label]}
    back |= {signature.returned for signature in graph.signatures.values() if signature.returned in place}
    return tuple(label for label in order if label in back)


@dataclass(slots=True)
class _State:
    condition: t.Condition
    values: dict[t.Var, t.Term]
    taken: tuple[TransitionInput, ...] = ()
    accesses: tuple[Access, ...] = ()
    reads: Reads = ()
    untouched: frozenset[int] = frozenset()
    """The objects with a followed cell that nothing but known stores has written since the cutpoint."""


@dataclass
class _Maker(Domain[_State]):
    graph: Flowgraph
    violates: Violates
    calls: Passes
    cutpoints: frozenset[str]
    live: Mapping[str, frozenset[t.Var]]
    ways: int
    accesses: bool
    leaps: Mapping[str, LoopSummary]
    only: frozenset[t.Var] | None
    elements: bool = False
    transitions: list[Step] = field(default_factory=list)
    failing: list[Step] = field(default_factory=list)
    open: list[Refused] = field(default_factory=list)
    start: str = START
    place: tuple[str, int] = ("", 0)
    """The block of the statement that is looked at, and its number there."""
    inputs: list[TransitionInput] = field(default_factory=list)
    facts: list[t.Condition] = field(default_factory=list)
    elements_read: list[ReadElement] = field(default_factory=list)
    stores: dict[int, list[tuple[t.Condition, t.Term, t.Term]]] = field(default_factory=dict)
    """By objects with followed cells, what was stored where since the cutpoint: when, where and what."""
    arrived: dict[str, list[_State]] = field(default_factory=dict)
    written: Written = field(init=False)
    moved: frozenset[t.Var] = field(init=False)
    """The variables that some statement or edge assigns."""

    def __post_init__(self) -> None:
        self.written = changed_in(self.graph, self.graph.blocks)
        self.moved = assigned_in(self.graph.blocks.values()) if self.accesses else frozenset()

    def begin(self, start: str) -> None:
        """The transitions from one cutpoint."""
        self.start, self.inputs, self.facts, self.elements_read, self.stores = start, [], [], [], {}
        first = self.graph.entry if start == START else start
        untouched = frozenset(self.graph.cells) if self.elements and start != START else frozenset[int]()
        same = self.graph.same_where_one_place() if untouched else t.TRUE
        self.arrived = {first: [_State(same, {}, untouched=untouched)]}
        if start == START and first in self.cutpoints:
            self._emit(first, _State(t.TRUE, {}), None)
            return
        targets: dict[str, list[_State]] = {}
        blocks = self.graph.blocks
        if start in self.leaps:
            self.arrived = self._leapt(self.leaps[start], targets)
        roots = tuple(self.arrived)

        def onward(label: str) -> list[str]:
            return [to for to in blocks[label].successors if to not in self.cutpoints]

        inner = {label: onward(label) for label in reachable(roots, onward)}
        for label in reverse_postorder({**inner, _ROOTS: list(roots)}, _ROOTS)[1:]:
            states = self.arrived.pop(label, [])
            for state in self._kept(label, states):
                self._block(blocks[label], state, targets)
        for target, states in targets.items():
            for state in self._kept(target, states):
                self._emit(target, state, None)

    def _leapt(self, summary: LoopSummary, targets: dict[str, list[_State]]) -> dict[str, list[_State]]:
        """The states behind a loop, by the blocks that they come to; those at cutpoints are added to ``targets``. Where
        nothing is said of a state, it is in the loop, before an iteration.
        """
        arrived: dict[str, list[_State]] = {}
        changed = changed_variables(self.graph, summary.loop)
        for number, case in enumerate(summary.cases):
            known = summary.known(case)
            values: dict[t.Var, t.Term] = {var: term for var, term in known.items() if term is not var}
            state = _State(case.when, values)
            for var in sorted(changed - known.keys(), key=lambda var: var.key):
                values[var] = self._untold(summary.loop.header, var, number)
            exit = case.exit
            if exit.edge is None:
                self._left(exit, state)
                continue
            edge = self.graph.blocks[exit.block].edges[exit.edge]
            state.values = {**values, **{v: t.substitute(term, values) for v, term in edge.assigns}}
            (targets if edge.target in self.cutpoints else arrived).setdefault(edge.target, []).append(state)
        for undefined in summary.undefined:
            exit = Exit("undefined", undefined.line, summary.loop.header, detail=undefined.kind)
            self._left(exit, _State(undefined.when, {}))
        if summary.diverges is not t.FALSE:
            self._emit(DIVERGES, _State(summary.diverges, {}), None)
        residual = t.disjunction(part.when for part in summary.residual)
        if residual is not t.FALSE:
            arrived.setdefault(summary.loop.header, []).append(_State(residual, {}))
        return arrived

    def _untold(self, header: str, var: t.Var, case: int) -> t.Var:
        """Any value of a variable that a case of a summary says nothing of, for which runs take nothing."""
        found = TransitionInput(t.Var(f"?{header}>{var.name}.{case}", var.type), Origin.UNSUPPORTED, header, _UNTOLD)
        self.inputs.append(found)
        return found.var

    def _left(self, exit: Exit, state: _State) -> None:
        """The end of runs inside a loop."""
        end = self.graph.blocks[exit.block].end if exit.kind != "undefined" else None
        checked = Check(t.FALSE, exit.detail) if exit.kind == "undefined" else None
        if any(what is not None and self.violates(what) for what in (end, checked)):
            self._emit(VIOLATION, state, end.loc if end is not None else None)
        elif exit.kind == "undefined":
            self.failing.append(Step(self.start, UNDEFINED, state.condition, {}, ()))
        elif exit.kind in ("unsupported", "unknown"):
            self._opened(exit.refused or Refused(Reason.UNSUPPORTED_INSTRUCTION, exit.block, "not followed"), state)

    def _emit(self, target: str, state: _State, loc: Loc | None, condition: t.Condition | None = None) -> None:
        """A transition to ``target`` from a state, of which ``condition`` holds where that is not its own."""
        condition = state.condition if condition is None else condition
        if condition is t.FALSE:
            return
        kept = self.live.get(target, frozenset())
        update = {var: term for var, term in state.values.items() if var in kept and term is not var}
        used = condition.variables.union(*(term.variables for term in update.values()))
        inputs = tuple(one for one in self.inputs if one.var in used)
        told = (state.taken, state.accesses, tuple(self.facts))
        kind = Kind.OVER if any(one.index == _UNTOLD for one in inputs) else Kind.EXACT
        step = Step(self.start, target, condition, update, inputs, loc, *told, kind, self._instances())
        self.transitions.append(step)

    def _kept(self, label: str, states: Sequence[_State]) -> Sequence[_State]:
        """The states with which runs go on from ``label``: those that come to the same are one, and so are all where
        they are too many.
        """
        if len(states) < 2:
            return states
        if self.ways > 1:
            alike: dict[object, list[_State]] = {}
            for state in states:
                matters = frozenset((var, term) for var, term in state.values.items() if var in self.live[label])
                alike.setdefault((matters, state.taken, state.accesses), []).append(state)
            if len(alike) <= self.ways:
                return [self._joined(label, group) for group in alike.values()]
        return [self._joined(label, states)]

    def _joined(self, label: str, states: Sequence[_State]) -> _State:
        """One state for all that meet; their conditions exclude one another."""
        if len(states) == 1:
            return states[0]
        whole = join([GuardedUpdate(state.condition, state.values) for state in states], self.live[label])
        taken = tuple(dict.fromkeys(one for state in states for one in state.taken))
        reads = on_all_ways([state.reads for state in states])
        accesses = together([state.accesses for state in states])
        untouched = frozenset.intersection(*(state.untouched for state in states))
        return _State(whole.condition, dict(whole.update), taken, accesses, reads, untouched)

    def _block(self, block: Block, state: _State, targets: dict[str, list[_State]]) -> None:
        refused = self.graph.blocked.get(block.label)
        if refused is not None:
            self._opened(refused, state)
            return
        for index, statement in enumerate(block.statements):
            self.place = block.label, index
            state.reads = unwritten(state.reads, changed_by(self.graph, statement)) if state.reads else ()
            if state.untouched:
                self._touched(state, statement)
            after(self, block.label, statement, state)  # it changes the state, which nobody else holds
            if state.condition is t.FALSE:
                return
        if block.end is not None:
            if self.violates(block.end):
                self._emit(VIOLATION, state, block.end.loc)
            elif block.end.kind == "unsupported":
                unknown = Refused(Reason.UNSUPPORTED_INSTRUCTION, self.graph.source_name, "not followed")
                self._opened(block.end.refused or unknown, state)
            elif block.end.kind == "undefined":
                self.failing.append(Step(self.start, UNDEFINED, state.condition, {}, (), block.end.loc))
            return
        for edge in block.edges:
            condition = state.condition & t.substitute(edge.condition, state.values)
            if condition is t.FALSE:
                continue
            following = targets if edge.target in self.cutpoints else self.arrived
            taken = replace(state, condition=condition, values=dict(state.values))
            following.setdefault(edge.target, []).append(along(self, edge, taken))

    def _instances(self) -> tuple[Instance, ...]:
        return instances(self.graph, self.elements_read)

    def _touched(self, state: _State, statement: Statement) -> None:
        """Notes what a statement does to objects with followed cells."""
        if isinstance(statement, Store) and isinstance(statement.address.object, t.Const):
            cell = self.graph.cells.get(statement.address.object.value)
            if cell is None:
                return
            if statement.type.width == cell.cell.type.width and statement.value_object is None:
                parts = (statement.address.offset, statement.value)
                offset, value = (t.substitute(part, state.values) for part in parts)
                self.stores.setdefault(cell.object, []).append((state.condition, offset, value))
                return
        if isinstance(statement, Begin):
            state.untouched -= {statement.object}
        written = changed_by(self.graph, statement)
        state.untouched = frozenset(number for number in state.untouched if not written.hits(number))

    def _opened(self, refused: Refused, state: _State) -> None:
        self.open.append(refused)
        self._emit(OPEN, state, None)

    # -- statements ---------------------------------------------------------------------------------------------------

    def wanted(self, target: t.Var) -> bool:
        return self.only is None or target in self.only

    def keeps(self, label: str, statement: Check | Assume) -> bool:  # noqa: ARG002
        return self.only is None or isinstance(statement, Assume) or statement.condition.variables <= self.only

    def value(self, state: _State, term: t.Term, target: t.Var) -> t.Term:  # noqa: ARG002
        return t.substitute(term, state.values)

    def assigned(self, state: _State, values: Mapping[t.Var, t.Term], loc: Loc | None) -> _State:  # noqa: ARG002
        state.values.update(values)
        return state

    def fresh(self, state: _State, target: t.Var, origin: Origin, name: str, source: Source) -> _State:  # noqa: ARG002
        part = target.name if isinstance(source, Call) else "object" if target == _owner_of(source) else ""
        state.values[target] = self._input(state, target, origin, part)
        return state

    def holds(self, state: _State, label: str, statement: Check | Assume) -> Sequence[_State]:  # noqa: ARG002
        condition = t.substitute(statement.condition, state.values)
        failing = state.condition & ~condition
        if isinstance(statement, Check) and self.violates(statement):
            self._emit(VIOLATION, state, statement.loc, failing)
        elif isinstance(statement, Check) and failing is not t.FALSE:
            told = Step(self.start, UNDEFINED, failing, {}, (), statement.loc, facts=(~condition,))
            self.failing.append(told)
        state.condition = state.condition & condition
        return (state,)

    def load(self, state: _State, statement: Load) -> Sequence[_State]:
        shown = self._shown(state, statement)
        value = state.values[statement.target] = self._loaded(statement, state)
        if statement.target_object is not None:
            self.fresh(state, statement.target_object, Origin.MEMORY, "", statement)
        if isinstance(value, t.Var):
            self._accessed(state, shown)
            self._element(state, statement, value)
        return (state,)

    def _element(self, state: _State, load: Load, found: t.Var) -> None:
        """Notes an element that is read of an object with a followed cell: what was stored there since the cutpoint, or
        what the element was at the cutpoint.
        """
        owner = t.substitute(load.address.object, state.values)
        cell = self.graph.cells.get(owner.value) if isinstance(owner, t.Const) else None
        if cell is None or cell.object not in state.untouched:
            return
        if found.type.width != cell.cell.type.width or load.type.width != cell.cell.type.width:
            return
        offset = t.substitute(load.address.offset, state.values)
        kept = state.condition
        second = self.graph.pairs.get(cell.object)
        known: list[t.Condition] = []
        for one in (cell,) if second is None else (cell, second):
            held = t.wrap(state.values.get(one.cell, one.cell), found.type)
            known.append(t.implies(one.hit(offset), found.eq(held)))
        for then, at, stored in reversed(self.stores.get(cell.object, ())):
            known.append(t.implies(kept & then & at.eq(offset), found.eq(t.wrap(stored, found.type))))
            kept = kept & ~(then & at.eq(offset))
        value = t.wrap(found, cell.cell.type)
        known += (  # of other ways, too: both were the element at the cutpoint
            t.implies(other.when & kept & other.offset.eq(offset), other.value.eq(value))
            for other in self.elements_read
            if other.cell is cell
        )
        self.facts += known
        state.condition = t.conjunction((state.condition, *known))
        self.elements_read.append(ReadElement(cell, kept, offset, value))

    def allocate(self, state: _State, statement: Allocate) -> Sequence[_State]:
        shown = self._shown(state, statement)
        self.fresh(state, statement.target, Origin.MEMORY, "", statement)
        self._accessed(state, shown)
        return (state,)

    def write(self, state: _State, statement: Store | Fill | Copy | Expire) -> Sequence[_State]:
        self._accessed(state, self._shown(state, statement))  # what it changes is memory that no variable holds
        return (state,)

    def call(self, state: _State, statement: Call) -> Sequence[_State]:
        refused = self.calls(statement)
        if refused is not None:
            self._opened(refused, state)
        shown = self._shown(state, statement)
        self.havocked(state, statement)
        self._accessed(state, shown)
        return (state,)

    def _shown(self, state: _State, statement: Statement) -> Access:
        """The statement over the values that it is given, before it changes some; None where that is not asked for."""
        return over(statement, state.values) if self.accesses else None

    def _accessed(self, state: _State, shown: Access) -> None:
        """Notes what a statement does to memory; its targets now hold inputs."""
        if shown is not None:
            state.accesses = (*state.accesses, giving(shown, state.values))

    def _input(self, state: _State, target: t.Var, origin: Origin, part: str = "") -> t.Var:
        label, index = self.place
        var = t.Var(f"?{self.start}>{label}:{index}.{part}", target.type)
        found = TransitionInput(var, origin, label, index)
        if found not in self.inputs:
            self.inputs.append(found)
        if found not in state.taken:
            state.taken = (*state.taken, found)
        return var

    def _loaded(self, load: Load, state: _State) -> t.Term:
        owner = t.substitute(load.address.object, state.values)
        number = owner.value if isinstance(owner, t.Const) else None
        objects = self.graph.objects
        kept = number is not None and number in objects and not self.written.hits(number)
        if kept and number is not None and load.target_object is None:
            offset = t.substitute(load.address.offset, state.values)
            return t.read(objects[number].name, offset, read_type(load))
        if self.accesses and isinstance(owner, t.Var) and load.target_object is None and self._is_kept(owner, load):
            name = self.graph.pointee_name(owner)
            if name is not None:
                held = read_type(load)
                return t.read(name, t.substitute(load.address.offset, state.values), held)
        found = self._input(state, load.target, Origin.MEMORY)
        if number is not None and load.target_object is None and not self.accesses:
            new = KnownRead(number, load.type, t.substitute(load.address.offset, state.values), found)
            same = same_place(state.reads, new)
            self.facts += same
            state.condition = t.conjunction((state.condition, *same))
            state.reads = (*state.reads, new)[-MAX_READS:]
        return found

    def _is_kept(self, owner: t.Var, load: Load) -> bool:
        """Whether a pointer leads to the same object all the time, and nothing writes what it leads to there."""
        return owner not in self.moved and self.written.spares(self.graph, load.objects)


def _owner_of(source: Source) -> t.Var | None:
    """The variable that says into which object a pointer leads that a statement gives."""
    return source.target_object if isinstance(source, Load | Call) else None

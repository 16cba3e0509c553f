"""Symbolic execution of one loop body: from the header back to it, or out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from loopless import terms as t
from loopless.flowgraph.def_use import assigned_in, defined_by
from loopless.flowgraph.memory.statement_effects import (
    apart,
    changed_in,
    read_by,
    read_type,
    written_by,
    written_in,
)
from loopless.flowgraph.model import (
    Allocate,
    Assume,
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
    LoopInfo,
    Origin,
    Pointer,
    Store,
)
from loopless.flowgraph.transfer import Source
from loopless.flowgraph.words import Numbered, unknown_in_words
from loopless.graphs import reverse_postorder
from loopless.limits.paths import MAX_PATHS, MAX_VISITS
from loopless.paths.context import common_facts
from loopless.paths.execution import Execution, ExecutionState, Finished, TooManyPaths, Unreadable, line_of
from loopless.paths.iteration_memory import IterationMemory
from loopless.paths.model import Exit, HeldPointer, Inner, InnerStep, Member, Stored, Unknown, Write
from loopless.paths.readings import not_null
from loopless.paths.relevance import Relevance, Writes, frees
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.source.vocabulary import WORKED_OUT
from loopless.terms.contents import nodes_in, placed

ENDING: Final = ("endless", "unknown", "undefined")
"""The kinds of exits behind which no values are asked for."""
UNSEEN: Final = (Origin.MEMORY, Origin.UNINITIALISED)
"""Where unknown values come from that need not be told of where nothing depends on them."""


@dataclass(frozen=True, slots=True)
class Doubtful:
    """Memory that an execution does not follow. ``moving``: the objects of pointers that iterations may change;
    ``together``: by objects without a number, in words, what is lost where these are.
    """

    moving: frozenset[t.Var] = frozenset()
    together: Mapping[str, frozenset[str]] = field(default_factory=dict)


class Body(Execution[ExecutionState]):
    """One iteration of a loop, executed on symbols."""

    def __init__(
        self,
        graph: Flowgraph,
        loop: LoopInfo,
        relevant: Relevance,
        live: Mapping[str, frozenset[t.Var]],
        steps: Callable[[LoopInfo, t.Condition], Inner | Refused],
        given: t.Condition = t.TRUE,
        *,
        doubtful: Doubtful | None = None,
    ) -> None:
        """``steps`` gives what an inner loop does where some condition holds; ``given`` holds at the header;
        ``doubtful``: what earlier executions found that is not followed.
        """
        super().__init__(graph, live, loop.blocks, str(loop.loc) if loop.loc is not None else loop.name)
        doubtful = doubtful or Doubtful()
        self.moving = doubtful.moving
        self.together = doubtful.together
        self.loop = loop
        self.relevant = relevant
        self.inner = {info.header: info for info in graph.loops if info.parent == loop.header}
        self.counters: dict[t.Var, str] = {}
        self.uncounted: set[str] = set()
        self.assumptions: dict[str, None] = {}
        self.stored: dict[Stored, None] | None = {}
        """Where iterations write; None where they may write elsewhere."""
        if any(changed_in(graph, info.blocks).some for info in self.inner.values()):
            self.stored = None
        self._steps = steps
        self._given = given
        self._found: dict[str, Inner | Refused] = {}
        self._unknowns = Numbered()
        self._visits = 0
        nodes = relevant.writes is Writes.NODES
        self._memory = IterationMemory(self, given, nodes=nodes) if relevant.writes else None
        if self._memory is not None:
            self.stored = None

    @property
    def pointers(self) -> tuple[HeldPointer, ...]:
        """The places of pointers that the iteration writes, where variables go along with them."""
        return () if self._memory is None else tuple(self._memory.pointers)

    @property
    def passed_inner(self) -> bool:
        """Whether some path goes past an inner loop."""
        return bool(self._found)

    def run(self) -> list[Finished[ExecutionState]]:
        """All paths of one iteration. Raises :class:`TooManyPaths`, :class:`Unreadable`."""
        waiting: dict[str, list[ExecutionState]] = {
            self.loop.header: [ExecutionState(t.conjuncts(self._given), {}, (), ())]
        }
        for label in self._order():
            states = self.merged(label, waiting.pop(label, []))
            self._visits += len(states)
            if len(states) > MAX_PATHS or self._visits > MAX_VISITS:
                raise TooManyPaths
            if label in self.inner and states:
                context = common_facts(states, self.live[label] & self.relevant.variables)
                self._found[label] = self._steps(self.inner[label], context)
            for state in states:
                for target, following in self._onward(label, state):
                    waiting.setdefault(target, []).append(following)
        if waiting:
            detail = "jumps enter a cycle inside the loop at several places"
            raise Unreadable(Refused(Reason.IRREDUCIBLE, self.where, detail))
        if self._memory is not None:
            self._memory.check()
        return self.finished

    def _order(self) -> list[str]:
        """Topological order of the body, inner loops as single nodes named by their headers."""
        home = {label: label for label in self.loop.blocks}
        for header, info in self.inner.items():
            home |= dict.fromkeys(info.blocks, header)
        following = {label: self._nodes_after(label, home) for label in self.loop.blocks}
        return reverse_postorder(following, self.loop.header)

    def _nodes_after(self, label: str, home: Mapping[str, str]) -> list[str]:
        inside = self.inner[label].blocks if label in self.inner else (label,)
        targets = [e.target for name in sorted(inside) for e in self.graph.blocks[name].edges]
        nodes = dict.fromkeys(home[to] for to in targets if to in home and to != self.loop.header)
        return [node for node in nodes if node != label]

    def wanted(self, target: t.Var) -> bool:
        return target in self.relevant.variables

    def keeps(self, label: str, statement: Check | Assume) -> bool:
        if isinstance(statement, Assume):
            return True
        return not statement.of_access and self.relevant.keeps(label, statement)

    def decides(self, label: str) -> bool:
        return label in self.relevant.branches

    def _onward(self, label: str, state: ExecutionState) -> list[tuple[str, ExecutionState]]:
        """Through a block, and to where that leads inside the loop."""
        if label in self.inner:
            return self._through_inner(self.inner[label], state)
        block = self.graph.blocks[label]
        result: list[tuple[str, ExecutionState]] = []
        for after in self.through(block, state):
            if block.end is not None:
                self.end(block, after)
            else:
                result += self._edges(block, after)
        return result

    def needed(self, label: str) -> frozenset[t.Var]:
        return self.live[label] | self.counters.keys()

    def same(self, state: ExecutionState) -> tuple[object, ...]:
        return *spoken_of(state.unknowns, [*state.values.values(), *terms_of(state.writes)]), *state.writes

    def union(self, group: list[ExecutionState]) -> ExecutionState:
        """One state for several with the same values; what memory held does not matter where nothing speaks of it."""
        whole = super().union(group)
        found = dict.fromkeys(unknown for state in group for unknown in state.unknowns)
        spoken: list[t.Node] = [*whole.condition, *whole.values.values(), *terms_of(whole.writes)]
        return replace(whole, unknowns=spoken_of(found, spoken))

    # -- inner loops --------------------------------------------------------------------------------------------------

    def _through_inner(self, loop: LoopInfo, state: ExecutionState) -> list[tuple[str, ExecutionState]]:
        """Past an inner loop, by each of its steps."""
        inner = self._found[loop.header]
        place = str(loop.loc) if loop.loc is not None else self.where
        if isinstance(inner, Refused):
            detail = f"the loop {loop.name} runs inside this one and has no summary: {inner.detail}"
            raise Unreadable(Refused(Reason.NESTED, place, f"{detail} [{inner.reason.code} {inner.reason.label}]"))
        self.assumptions |= dict.fromkeys(inner.assumptions)
        result: list[tuple[str, ExecutionState]] = []
        for given in inner.steps:
            begun, step = self._with_values_for(self._as_called_here(given, state), state, loop)
            taken = self.under(begun, self.holding(begun, step.when), None)
            if taken is None:
                continue
            used = (step.when, *self._used_behind(step))
            if not self._is_told(used, state):
                detail = f"the loop {loop.name} reads memory that the loop around it writes"
                if any(isinstance(part, t.Read) and t.in_list(part.array) for n in used for part in t.walk_inside(n)):
                    detail = f"the loop {loop.name} walks a list, which the loop around it may choose or change"
                raise Unreadable(Refused(Reason.MEMORY, place, detail))
            after = self._stepped(taken, step)
            if self._memory is not None:
                after = self._memory.behind_step(taken, after, loop, step)
            if step.exit.edge is None:
                result_value = self.inside(state, step.result) if step.result is not None else None
                self.finished.append(Finished(after, step.exit, result_value))
            else:
                result += self._along(self.graph.blocks[step.exit.block], step.exit.edge, after)
        return result

    def _is_told(self, nodes: Iterable[t.Node], state: ExecutionState) -> bool:
        """Whether what ``nodes`` read from memory is known."""
        if self._memory is not None:
            return self._memory.stays(state, nodes)
        return all(self.known_content(node, state) for node in nodes)

    def keeps_behind(self, pointer: t.Var) -> bool:
        if super().keeps_behind(pointer):
            return True
        blocks = [self.graph.blocks[label] for label in self.loop.blocks]
        accesses = [s for b in blocks for s in b.statements if isinstance(s, Load | Call) and _reads_at(s, pointer)]
        objects = [found for access in accesses if (found := read_by(access)) is not None]
        if not accesses or len(objects) < len(accesses) or pointer in assigned_in(blocks):
            return False
        written = written_in(self.graph, self.loop.blocks)
        needed = apart(self.graph, written, frozenset[int]().union(*objects))
        self.assumptions |= dict.fromkeys(needed or ())
        return needed is not None

    def _as_called_here(self, step: InnerStep, state: ExecutionState) -> InnerStep:
        """A step where the memory that it reads is called as it is at the entry of the inner loop."""
        result = () if step.result is None else (step.result,)
        told = () if step.contents is None else nodes_in(step.contents)
        names = self.arrays_at(state, (step.when, *step.then.values(), *step.counts.values(), *result, *told))
        if not names:
            return step
        return replace(
            step,
            when=t.renamed_arrays(step.when, names),
            then={var: t.renamed_arrays(term, names) for var, term in step.then.items()},
            counts={name: t.renamed_arrays(term, names) for name, term in step.counts.items()},
            result=t.renamed_arrays(step.result, names) if step.result is not None else None,
            contents=None if step.contents is None else placed(step.contents, {}, names),
        )

    def _with_values_for(
        self, step: InnerStep, state: ExecutionState, loop: LoopInfo
    ) -> tuple[ExecutionState, InnerStep]:
        """A step with unknown values for what it leaves open."""
        if not step.free:
            return state, step
        detail = f"the loop {loop.name} inside is summarized by an over-approximation"
        refused = Refused(Reason.NESTED, str(loop.loc) if loop.loc is not None else self.where, detail)
        fresh: dict[t.Var, t.Var] = {}
        for var in step.free:
            fresh[var] = t.Var(self._unknowns.name(var.name), var.type)
        found = tuple(Unknown(var, Origin.UNSUPPORTED, loop.name, loop.loc, refused) for var in fresh.values())
        renamed = replace(
            step,
            when=t.substitute(step.when, fresh),
            then={var: t.substitute(term, fresh) for var, term in step.then.items()},
            result=t.substitute(step.result, fresh) if step.result is not None else None,
            free=(),
        )
        return replace(state, unknowns=(*state.unknowns, *found)), renamed

    def _used_behind(self, step: InnerStep) -> list[t.Term]:
        """The values behind an inner loop that something looks at there."""
        edge = None if step.exit.edge is None else self.graph.blocks[step.exit.block].edges[step.exit.edge]
        if edge is None or edge.target not in self.loop.blocks:
            return list(step.then.values())
        used = self.live[edge.target].union(*(value.variables for _, value in edge.assigns))
        return [term for var, term in step.then.items() if var in used]

    def _stepped(self, state: ExecutionState, step: InnerStep) -> ExecutionState:
        changed = {var: self.inside(state, term) for var, term in step.then.items() if self.wanted(var)}
        values = {**state.values, **changed}
        for name, count in step.counts.items():
            if not self._is_told((count,), state):
                self.uncounted.add(name)  # it counts what the loop may write
                continue
            counter = counter_of(name)
            self.counters[counter] = name
            values[counter] = values.get(counter, counter) + self.inside(state, count)
        self.uncounted |= step.uncounted
        return replace(state, values=values, exact=state.exact and step.exact)

    # -- statements ---------------------------------------------------------------------------------------------------

    def inside(self, state: ExecutionState, term: t.Term) -> t.Term:
        found = super().inside(state, term)
        if self._memory is not None:
            seen = self._memory.seen(state, found)
            assert isinstance(seen, t.Term)
            return seen
        return found

    def holding(self, state: ExecutionState, condition: t.Condition) -> t.Condition:
        found = super().holding(state, condition)
        if self._memory is not None:
            seen = self._memory.seen(state, found)
            assert isinstance(seen, t.Condition)
            return seen
        return found

    def write(self, state: ExecutionState, statement: Store | Fill | Copy | Expire) -> Sequence[ExecutionState]:
        if self._memory is not None:
            return (self._memory.written(state, statement),)
        if isinstance(statement, Store) and statement.type.width is not None and self.stored is not None:
            owner = not_null(self.inside(state, statement.address.object))
            offset = self.inside(state, statement.address.offset)
            self.stored[Stored(owner, offset, (statement.type.width + 7) // 8)] = None
        elif not isinstance(statement, Expire):
            self.stored = None
        return (state,)

    def load(self, state: ExecutionState, statement: Load) -> Sequence[ExecutionState]:
        if self._memory is not None and self.wanted(statement.target):
            found = self._memory.read(state, statement)
            if found is not None:
                return (found,)
        return super().load(state, statement)

    def held(self, state: ExecutionState, load: Load, element: t.Read) -> tuple[ExecutionState, t.Var]:
        """The state in which it is known what ``element`` of memory holds when the iteration begins, and the variable
        that stands for that.
        """
        known = next((unknown.var for unknown in state.unknowns if unknown.held is element), None)
        if known is not None:
            return state, known
        line = line_of(load.loc)
        called = unknown_in_words(self.graph.variables, load.target, Origin.MEMORY, element.array, line, load.shown)
        var = t.Var(self._unknowns.name(called), element.type)
        unknown = Unknown(var, Origin.MEMORY, element.array, load.loc, held=element)
        return replace(state, unknowns=(*state.unknowns, unknown)), var

    def call(self, state: ExecutionState, statement: Call) -> Sequence[ExecutionState]:
        if statement.writes_memory:
            self.stored = None
        if self._memory is not None and self.relevant.writes is Writes.NODES and frees(statement):
            return (self._memory.freed(state, statement),)
        if self._memory is not None and statement.writes_memory:
            state = self._memory.lost(state, written_by(statement), statement)
        if not any(map(self.wanted, defined_by(statement))):
            return (state,)
        known = self.called(state, statement)
        return super().call(state, statement) if known is None else known

    def fresh(self, state: ExecutionState, target: t.Var, origin: Origin, name: str, source: Source) -> ExecutionState:
        if not self.wanted(target) and origin is not Origin.NONDET:
            return state
        shown = source.shown if isinstance(source, Load) else ""
        refused = source.refused if isinstance(source, Havoc | Call) else None
        called = unknown_in_words(self.graph.variables, target, origin, name, line_of(source.loc), shown)
        var = t.Var(self._unknowns.name(called), target.type)
        member = self._member(state, source, target) if isinstance(source, Load) else None
        made = target if isinstance(source, Allocate) and not source.own else None
        return self.take(state, Unknown(var, origin, name, source.loc, refused, member=member, made=made), target)

    def _member(self, state: ExecutionState, load: Load, target: t.Var) -> Member | None:
        """What a load reads through a pointer; None where that is not known."""
        owner = not_null(self.inside(state, load.address.object))
        if not isinstance(owner, t.Var):
            return None
        offset = self.inside(state, load.address.offset)
        name = load.shown.rpartition("->")[2] if "->" in load.shown else ""
        kept, behind = self._is_kept(load), len(state.writes)
        if load.target_object is None:
            return Member(owner, offset, read_type(load), "", name, kept, behind)
        part = "object" if target is load.target_object else "offset"
        return Member(owner, offset, target.type, part, name, kept, behind)

    def _edges(self, block: Block, state: ExecutionState) -> list[tuple[str, ExecutionState]]:
        result: list[tuple[str, ExecutionState]] = []
        for index, _, taken in self.ways(block, state):
            result += self._along(block, index, taken)
        return result

    def _along(self, block: Block, index: int, state: ExecutionState) -> list[tuple[str, ExecutionState]]:
        """Over an edge that is taken: on inside the loop, back to its header, or out."""
        edge = block.edges[index]
        if len(self.finished) > 4 * MAX_PATHS:
            raise TooManyPaths
        if edge.target == self.loop.header:
            self.finished.append(Finished(self.along(state, edge), None))
        elif edge.target not in self.loop.blocks:
            found = obstacle(self.graph.blocks[edge.target])
            if found is not None:  # the run goes on in a way that is not followed, perhaps with the next iteration
                exit = Exit("unsupported", line_of(edge.loc), block.label, None, None, found.detail, found)
            else:
                kind = exit_kind(self.graph, self.loop, edge.target)
                exit = Exit(kind, exit_line(self.graph, edge, kind), block.label, index, edge.target)
            self.finished.append(Finished(state, exit))
        else:
            return [(edge.target, self.along(state, edge))]
        return []


def _reads_at(access: Load | Call, pointer: t.Var) -> bool:
    """Whether an access surely reads what a pointer leads to, by the variable that says which object that is."""
    if isinstance(access, Load):
        return access.address.object is pointer
    reads = access.outside and access.callee in WORKED_OUT
    return reads and any(isinstance(at, Pointer) and at.object is pointer for at in access.arguments)


def counter_of(loop: str) -> t.Var:
    """Sums up the iterations of an inner loop; no variable of a program has such a name."""
    return t.Var(f"iterations of {loop}", t.INTEGERS)


def terms_of(writes: Iterable[Write]) -> Iterator[t.Node]:
    """The terms and conditions of which writes are made."""
    for write in writes:
        yield from write.nodes


def spoken_of(unknowns: Iterable[Unknown], nodes: Iterable[t.Node]) -> tuple[Unknown, ...]:
    """Those of ``unknowns`` that count: inputs that are read, and what memory held where ``nodes`` speak of it."""
    spoken = frozenset[t.Var]().union(*(node.variables for node in nodes))
    unknowns = tuple(unknowns)
    for unknown in reversed(unknowns):  # where an element lies, earlier ones may say
        if unknown.held is not None and unknown.var in spoken:
            spoken |= unknown.held.variables
        if unknown.member is not None and unknown.var in spoken:
            spoken |= unknown.member.offset.variables | {unknown.member.owner}
    return tuple(unknown for unknown in unknowns if unknown.origin not in UNSEEN or unknown.var in spoken)


def obstacle(block: Block) -> Refused | None:
    """Why a run that comes to ``block`` is not followed, where that does not end it; else None."""
    end = block.end
    if end is None or end.kind != "unsupported" or end.refused is None:
        return None
    return end.refused if end.refused.reason in (Reason.UNDEF_VALUE, Reason.RECURSION) else None


def exit_kind(graph: Flowgraph, loop: LoopInfo, target: str) -> str:
    """What an edge out of the loop to ``target`` means: "normal" (the code behind the loop, a break included), or
    "return", "abort", "exit", "error" where that alone can follow.
    """
    by_block = {label: graph.blocks[label].edges[index].target for label, index in loop.exits}
    # A do loop is left from its latch, the others from their header.
    usual = {by_block[label] for label in loop.latches if label in by_block}
    usual = usual or {by_block[label] for label in (loop.header,) if label in by_block}
    current = _chain(graph, target)
    if usual & set(current):
        return "normal"
    end = graph.blocks[current[-1]].end
    if end is None or not usual:
        return "normal"
    return end.kind if end.kind in ("return", "abort", "exit", "error") else "normal"


def exit_line(graph: Flowgraph, edge: Edge, kind: str) -> int:
    """The line of an edge out of a loop: that of the ``return`` which alone can follow, else that of the branch."""
    if kind == "return":
        block = graph.blocks[edge.target]
        if block.end is None:  # where all returns meet stands no line of any of them
            places = [statement.loc for statement in block.statements] + [after.loc for after in block.edges]
            line = next((line_of(loc) for loc in places if line_of(loc)), 0)
            return line or line_of(edge.loc)
    return line_of(edge.loc)


def _chain(graph: Flowgraph, label: str) -> list[str]:
    """The blocks that surely follow each other from ``label`` on."""
    chain = [label]
    while True:
        after = graph.blocks[chain[-1]].successors
        if len(after) != 1 or after[0] in chain:
            return chain
        chain.append(after[0])

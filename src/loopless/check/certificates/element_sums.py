"""Sums over the elements of an array, told by variables that the program never reads: how often a value stands there,
what the elements add up to.

A certificate says what is summed, and up to which place. The judge adds the variables to the flowgraph by itself, and
what each statement does to them follows from that definition alone: a write changes a sum by what the new element
counts for less what the old one did, a place that moves by the elements between. No condition of the program reads
them, so each run with them is one without them (auxiliary variables, as in :mod:`loopless.check.certificates.history`;
counts as ghosts of multisets: Perrelle and Halbwachs, An analysis of permutations in arrays, VMCAI 2010).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, field, replace
from itertools import combinations
from typing import Any, Final

from loopless import terms as t
from loopless.check.certificates.formulas import symbols_of, term_of
from loopless.check.certificates.history import SPACE, check_names
from loopless.errors import UsageError
from loopless.flowgraph.def_use import defined_by
from loopless.flowgraph.memory.statement_effects import Objects, written_by
from loopless.flowgraph.model import (
    Assign,
    Assume,
    Begin,
    Block,
    Edge,
    Expire,
    Flowgraph,
    FollowedCell,
    Havoc,
    Kind,
    Load,
    Origin,
    Pointer,
    Statement,
    Store,
    VariableInfo,
)
from loopless.limits.check import MAX_SUM_STEP
from loopless.records import dataclass

ANY: Final = "history:any"
"""What sums may speak of beside the program: a number that is any but fixed."""
_KEYS: Final = ({"name", "over", "sum", "below"}, {"name", "over", "sum", "below", "bits"})
_MOST_BITS: Final = 64


@dataclass(frozen=True, slots=True)
class ElementSum:
    """What one of these variables tells: the sum of the term ``sum`` over all elements of an array from number 0 to
    before number ``below``, as they are now; with ``bits`` what that is modulo 2 to the power of these.

    ``over`` is the symbol of the number of the array's followed cell: ``sum`` is a term over it, over what the cell
    holds, over other variables of the program and :data:`ANY`; ``below`` one over variables of the program. Behind the
    end of the array, and before its beginning, there are taken to be elements that never change; where ``below`` is
    negative, the sum is that of the elements from there to before 0, negated. So it is 0 at 0, and changes by what one
    element counts for with each step.
    """

    name: str
    over: str
    sum: str
    below: str
    bits: int | None = None


@dataclass(frozen=True, slots=True)
class ElementSums:
    """The sums that a certificate speaks of. ``any``: a term over variables of the program; of the runs that come to an
    error only those count in which :data:`ANY` is its value there. No condition of the program depends on that number,
    so where a run comes to an error, one with this number does. None: sums do not speak of it.
    """

    sums: tuple[ElementSum, ...] = ()
    any: str | None = None


NO_SUMS: Final = ElementSums()


def sums_of(document: Mapping[str, Any]) -> ElementSums:
    """The sums that a certificate names. Raises ``UsageError`` where one is none."""
    found = []
    for one in document.get("sums", ()):
        texts = (value for key, value in one.items() if key != "bits")
        bits = one.get("bits", 1)
        if set(one) not in _KEYS or not all(isinstance(value, str) for value in texts):
            raise UsageError(f"the certificate has a sum over elements that tells nothing: {one}")
        if type(bits) is not int or not 1 <= bits <= _MOST_BITS:
            raise UsageError(f"the certificate has a sum over elements modulo 2 to the power of {bits}")
        found.append(ElementSum(**one))
    any_ = document.get("any")
    if any_ is not None and not (isinstance(any_, str) and found):
        raise UsageError("a certificate tells what any number is at an error where it has sums, by a term")
    return ElementSums(tuple(found), any_)


def sums_json(told: ElementSums) -> dict[str, Any]:
    """Sums as certificates write them, by keys; nothing where there are none."""
    sums = [{key: value for key, value in asdict(one).items() if value is not None} for one in told.sums]
    return {**({"sums": sums} if sums else {}), **({} if told.any is None else {"any": told.any})}


def with_sums(graph: Flowgraph, told: ElementSums) -> Flowgraph:
    """The flowgraph, which follows cells, with these variables.

    Raises:
        UsageError: a variable has no name of its own, or its sum is not one of an array of the program.
    """
    if not told.sums:
        return graph
    any_ = () if told.any is None else (t.Var(ANY, t.INTEGERS),)
    check_names(graph, [*(one.name for one in told.sums), *(var.name for var in any_)])
    made = _Making(graph, [_kept(graph, one, any_) for one in told.sums])
    blocks = {block.label: made.block(block) for block in graph.blocks.values()}
    if told.any is not None:
        blocks = _with_any(graph, blocks, t.Var(ANY, t.INTEGERS), term_of(told.any, _known(graph)))
    fresh = {var: VariableInfo(var, var.name, Kind.TEMPORARY) for var in made.fresh}
    told_by = {var: VariableInfo(var, var.name, Kind.FLAG) for var in (*any_, *(one.var for one in made.kept))}
    return replace(graph, blocks=blocks, variables={**graph.variables, **told_by, **fresh})


def _with_any(graph: Flowgraph, blocks: Mapping[str, Block], any_: t.Var, chosen: t.Term) -> dict[str, Block]:
    """The blocks with a number that is any from the beginning, and the chosen one at errors."""
    found = dict(blocks)
    for block in blocks.values():
        statements = block.statements
        if block.label == graph.entry:
            statements = (Havoc(any_, Origin.UNSUPPORTED, "any number"), *statements)
        if block.end is not None and block.end.kind == "error":
            statements = (*statements, Assume(any_.eq(chosen), block.end.loc))
        found[block.label] = replace(block, statements=statements)
    return found


def _known(graph: Flowgraph) -> dict[str, t.Var]:
    """The variables of the program by their symbols: without those of cells, in which runs differ that are one."""
    cells = (*graph.cells.values(), *graph.pairs.values())
    strange = graph.elsewhere.union(*(cell.variables for cell in cells))
    return {name: var for name, var in symbols_of(graph.variables).items() if var not in strange}


@dataclass(frozen=True, slots=True)
class _Kept:
    """A variable, and what it is the sum of."""

    var: t.Var
    cell: FollowedCell
    term: t.Term
    below: t.Term

    @property
    def beside(self) -> frozenset[t.Var]:
        """The variables beside the elements on which it depends what these count for."""
        return self.term.variables - {self.cell.cell, self.cell.number}

    def is_like(self, other: _Kept) -> bool:
        """Whether the other one is the same sum but for where it ends."""
        return (self.cell.object, self.term, self.var.type) == (other.cell.object, other.term, other.var.type)

    def of(self, index: t.Term, value: t.Term) -> t.Term:
        """What an element counts for."""
        return t.substitute(self.term, {self.cell.number: index, self.cell.cell: value})

    def plus(self, more: t.Term) -> t.Term:
        """The sum and ``more``."""
        return t.wrap(self.var + more, self.var.type)


def _kept(graph: Flowgraph, one: ElementSum, beside: Iterable[t.Var]) -> _Kept:
    """What a sum is. ``beside``: what it may speak of and the program does not have."""
    cell = next((cell for cell in graph.cells.values() if t.symbol(cell.number.name).strip("|") == one.over), None)
    if cell is None:
        raise UsageError(f"the certificate has a sum over {one.over}, which is no element of an array that is followed")
    known = _known(graph)
    below = term_of(one.below, known)
    known |= symbols_of(dict.fromkeys((cell.number, cell.cell, *beside)))
    held = t.INTEGERS if one.bits is None else t.IntType(one.bits, signed=False)
    return _Kept(t.Var(one.name, held), cell, term_of(one.sum, known), below)


def _lost(statement: Statement) -> Objects:
    """The objects of which nothing is known behind a statement; None for all."""
    return frozenset((statement.object,)) if isinstance(statement, Begin | Expire) else written_by(statement)


@dataclass(slots=True)
class _Making:
    """What statements do to sums."""

    graph: Flowgraph
    kept: list[_Kept]
    fresh: list[t.Var] = field(default_factory=list)
    before: list[Statement] = field(default_factory=list)
    """What must be read before the statement that is looked at."""

    def block(self, block: Block) -> Block:
        """The block with what it does to the sums."""
        made: list[Statement] = []
        if block.label == self.graph.entry:
            made += [self._anything(one.var) for one in self.kept]
        if any(loop.header == block.label for loop in self.graph.loops):
            made.append(Assume(t.conjunction(self._equal())))
        for statement in block.statements:
            after = list(self._behind(statement))
            made += [*self._taken(), statement, *after]
        edges = [self._along(edge) for edge in block.edges]
        return replace(block, statements=(*made, *self._taken()), edges=tuple(edges))

    def _taken(self) -> list[Statement]:
        found, self.before = self.before, []
        return found

    def _equal(self) -> Iterator[t.Condition]:
        """What holds of sums wherever a run is: equal ones up to places that are equal, and none up to place 0."""
        for one in self.kept:
            yield ~one.below.eq(0) | one.var.eq(0)
        for one, other in combinations(self.kept, 2):
            if one.is_like(other):
                yield ~one.below.eq(other.below) | one.var.eq(other.var)

    def _behind(self, statement: Statement) -> Iterator[Statement]:
        """What follows a statement; what must be read before it is noted."""
        match statement:
            case Assign(target=target, value=value):
                for var, now in self._moved({target: value}).items():
                    held = self._temporary(var.type)
                    self.before.append(Assign(held, now))
                    yield Assign(var, held, statement.loc)
            case Store(address=Pointer(object=t.Const(value=number))) if self._is_element(statement):
                self._written(statement, [one for one in self.kept if one.cell.object == number])
            case _:
                objects = _lost(statement)
                anything = objects is None or any(number < 0 for number in objects)
                new = frozenset(defined_by(statement))
                for one in self.kept:
                    lost = anything or (objects is not None and one.cell.object in objects)
                    if lost or not new.isdisjoint(one.beside | one.below.variables):
                        yield self._anything(one.var)

    def _is_element(self, store: Store) -> bool:
        """Whether a store is to an element of a followed array."""
        cell = self.graph.cells.get(store.address.object.value) if isinstance(store.address.object, t.Const) else None
        return cell is not None and store.value_object is None and store.type.width == cell.cell.type.width

    def _written(self, store: Store, sums: list[_Kept]) -> None:
        """What a write to an element changes: one that is outside of the array is undefined, a check has ended that
        run.
        """
        if not sums:
            return
        cell = sums[0].cell
        index, new = store.address.offset // cell.size, t.wrap(store.value, cell.cell.type)
        old = self._read(cell, index)
        for one in sums:
            change = one.of(index, new) - one.of(index, old)
            self.before.append(Assign(one.var, one.plus(t.ite(index.lt(one.below), change, t.ZERO)), store.loc))

    def _along(self, edge: Edge) -> Edge:
        return replace(edge, assigns=(*edge.assigns, *self._moved(dict(edge.assigns)).items()))

    def _moved(self, assigned: Mapping[t.Var, t.Term]) -> dict[t.Var, t.Term]:
        """What sums are behind assignments, by their variables: those that change."""
        found: dict[t.Var, t.Term] = {}
        for one in self.kept:
            if not one.beside.isdisjoint(assigned):
                found[one.var] = self._unknown(one)
            elif not one.below.variables.isdisjoint(assigned):
                found[one.var] = self._up_to(one, t.substitute(one.below, assigned))
        return found

    def _up_to(self, one: _Kept, place: t.Term) -> t.Term:
        """The sum up to another place."""
        match place:
            case t.Ite(condition=condition, then=then, otherwise=otherwise):
                return t.ite(condition, self._up_to(one, then), self._up_to(one, otherwise))
            case t.Wrap(arg=arg):
                return t.ite(place.eq(arg), self._up_to(one, arg), self._unknown(one))
            case _:
                pass
        steps = place - one.below
        if isinstance(steps, t.Const) and abs(steps.value) <= MAX_SUM_STEP:
            first, last, sign = (0, steps.value, 1) if steps.value >= 0 else (steps.value, 0, -1)
            return one.plus(t.add(*(self._of_next(one, one.below + step) * sign for step in range(first, last))))
        known = next((other.var for other in self.kept if other.is_like(one) and other.below is place), None)
        if known is not None:
            return known
        if isinstance(place, t.Const) and 0 <= place.value <= MAX_SUM_STEP:
            return t.wrap(t.add(*(self._of_next(one, t.const(at)) for at in range(place.value))), one.var.type)
        return self._unknown(one)

    def _of_next(self, one: _Kept, index: t.Term) -> t.Term:
        return one.of(index, self._read(one.cell, index))

    def _read(self, cell: FollowedCell, index: t.Term) -> t.Var:
        """An element before the statement that is looked at."""
        held = self._temporary(cell.cell.type)
        address = Pointer(t.const(cell.object), index * cell.size)
        self.before.append(Load(held, address, cell.cell.type, objects=frozenset((cell.object,))))
        return held

    def _unknown(self, one: _Kept) -> t.Term:
        held = self._temporary(one.var.type)
        self.before.append(self._anything(held))
        return held

    def _anything(self, var: t.Var) -> Statement:
        return Havoc(var, Origin.UNSUPPORTED, "sum over elements")

    def _temporary(self, held: t.IntType) -> t.Var:
        self.fresh.append(t.Var(f"{SPACE}element {len(self.fresh)}", held))  # as no certificate may call one
        return self.fresh[-1]

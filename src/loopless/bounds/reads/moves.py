"""The moves of one iteration, and what is chosen in it: what :mod:`loopless.bounds.reads.choices` plays with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field

from loopless import terms as t
from loopless.bounds.iteration.outside import Before, Chooser, free_objects, left_by, read_from
from loopless.flowgraph.memory.statement_effects import Written
from loopless.flowgraph.model import Flowgraph, Load, Statement
from loopless.records import dataclass

Place = tuple[str, int]
"""A block, and the way by which it was come to."""
Atom = t.Var
"""What is chosen: what a symbol stands for that is read anew, a variable that no iteration changes, or what all of an
object of memory holds."""


@dataclass(frozen=True, slots=True)
class Move:
    """One way on from a block. ``condition``: over the values at the beginning of the iteration and symbols; ``goal``:
    where it leads: True to the end of the iteration, False out of it, else the node.
    """

    condition: t.Condition
    goal: bool | Place


@dataclass(slots=True)
class IterationMoves:
    """The moves of one iteration, by node.

    ``fresh``: symbols for values that are read anew, with where from; ``loads``: those from memory; ``same``: symbols
    for what was read from a place before, with the first one for it; ``steady``: those for what lies at one place that
    no iteration writes; ``free``: the objects of memory of which nothing is known, and that nobody writes in the
    meantime; ``writes``: whether the iteration writes memory; ``unsure``: sources that are no inputs, for that or
    another reason; ``assumed``: by block, what is taken for granted there; ``leaving``: by block, the functions called
    that need not return. ``moving``: what iterations change, and symbols; ``before``: who decides what memory holds.
    """

    free: Collection[str] = ()
    writes: bool = False
    moving: Callable[[t.Var], bool] = bool
    before: Before | None = None
    steady: set[t.Var] = field(default_factory=set)
    fresh: dict[t.Var, str] = field(default_factory=dict)
    same: dict[t.Var, t.Var] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)
    moves: dict[Place, list[Move]] = field(default_factory=dict)
    assumed: dict[str, list[t.Condition]] = field(default_factory=dict)
    leaving: dict[str, list[str]] = field(default_factory=dict)
    loads: dict[t.Var, Load] = field(default_factory=dict)
    _places: dict[tuple[t.Term, t.Term, int | None, bool], t.Var] = field(default_factory=dict)

    @staticmethod
    def of(graph: Flowgraph, start: str, written: Written, moving: Callable[[t.Var], bool]) -> IterationMoves:
        """Those of a loop that begins at ``start``, before its moves are known."""
        return IterationMoves(free_objects(graph, written), written.some, moving, Before(graph, start, written))

    def note(self, symbol: t.Var, statement: Statement, values: Mapping[t.Var, t.Term], *, left: bool = False) -> None:
        """A symbol stands for a value that comes from ``statement``, where variables have these ``values``.

        ``left``: it is what a call leaves in memory.
        """
        variables = self.before.graph.variables if self.before is not None else {}
        source, sure = left_by(statement) if left else read_from(statement, variables)
        if not source:
            return
        self.fresh[symbol] = source
        if not sure:
            self.unsure.add(source)
        if isinstance(statement, Load):
            self.loads[symbol] = statement
            try:
                place = [
                    t.substitute(t.substitute(part, values), self.same)
                    for part in (statement.address.object, statement.address.offset)
                ]
            except t.TermTooLarge:
                return
            is_object = values.get(statement.target) is not symbol
            key = (place[0], place[1], statement.target.type.width, is_object)
            if not self.writes and not any(self.moving(v) and v not in self.steady for p in place for v in p.variables):
                self.steady.add(symbol)
            first = self._places.setdefault(key, symbol)
            if first is not symbol:
                self.same[symbol] = first

    def sort(self) -> None:
        """Leave out what nobody chooses, and tell apart what is chosen from outside."""
        if self.before is None:
            return
        for symbol, load in self.loads.items():
            chooser = self.before.chooser(load)
            if chooser is Chooser.NOBODY:
                self.fresh.pop(symbol, None)
                self.steady.discard(symbol)
            elif chooser is Chooser.UNSURE:
                self.unsure.add(self.fresh[symbol])
        self.unsure |= {memory_of(name) for name in self.free if self.before.is_limited(name)}


def memory_of(name: str) -> str:
    """What is read from an object of memory."""
    return f"memory of {name}"


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """What is known wherever a loop is entered.

    ``begun``: the values of variables there, those that are known; ``defined``: those of variables that no iteration
    changes, over others of these; ``holding``: what holds of things that no iteration changes; ``starting``: what holds
    of others before the first one.
    """

    begun: Mapping[t.Var, int]
    defined: Mapping[t.Var, t.Term]
    holding: Sequence[t.Condition]
    starting: Sequence[t.Condition] = ()

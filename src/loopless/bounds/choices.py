"""Loops that run as long as what they read lets them: a game on one iteration.

Where a condition speaks only of values that are read anew in the iteration (from memory that is not followed, or as
results of calls), whoever chooses these values chooses the way; where it speaks of anything else, the state of the loop
does. If the first one can bring every iteration to its end whatever the state is, no counter bounds the loop: it goes
on as long as the values that it reads let it, undefined behaviour aside.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from loopless.flowgraph.model import Call, Flowgraph, Havoc, Load, Origin, Statement
from loopless.paths.execution import Written
from loopless.terms import (
    FALSE,
    TRUE,
    Compare,
    Condition,
    Const,
    Read,
    Term,
    Var,
    holds,
    polynomial,
    replace_terms,
    walk,
)

MAX_TRIED: Final = 400
"""So many values are tried for what is read in one condition. A guess."""


@dataclass(frozen=True, slots=True)
class Reads:
    """``sources``: what is read anew in each iteration and alone decides how long a loop runs, with where; none where
    something else may. ``inputs``: all of it is chosen from outside: not memory that the loop may write.
    """

    sources: tuple[str, ...] = ()
    inputs: bool = False

    def __str__(self) -> str:
        what = ", ".join(self.sources[:_SHOWN]) + (", …" if len(self.sources) > _SHOWN else "")
        if self.inputs:
            return f"it runs as long as what it reads lets it: {what}"
        return f"memory that it may write decides how long it runs, which is not followed: {what}"


_SHOWN: Final = 4
"""So many sources are named in a sentence."""
NO_READS: Final = Reads()


@dataclass(frozen=True, slots=True)
class Move:
    """One way on from a block. ``condition``: over the values at the beginning of the iteration and symbols; ``goal``:
    where it leads: True to the end of the iteration, False out of it, else the node.
    """

    condition: Condition
    goal: bool | tuple[str, int]


@dataclass(slots=True)
class Choices:
    """The moves of one iteration, by node: a block, and the way by which it was come to; ``fresh``: symbols for values
    that are read anew, with where from; ``free``: the objects of memory of which nothing is known, and that nobody
    writes in the meantime; ``writes``: whether the iteration writes memory; ``unsure``: what is read of memory then.
    """

    free: Collection[str] = ()
    writes: bool = False
    fresh: dict[Var, str] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)
    moves: dict[tuple[str, int], list[Move]] = field(default_factory=dict)

    def note(self, symbol: Var, statement: Statement) -> None:
        """A symbol stands for a value that comes from ``statement``."""
        source = _read_from(statement)
        if source:
            self.fresh[symbol] = source
            if self.writes and isinstance(statement, Load):
                self.unsure.add(source)

    def reads(self, start: tuple[str, int], order: Sequence[str], changed: frozenset[Var]) -> Reads:
        """What decides how long the loop runs, where nothing else does.

        ``order``: the blocks, each before those that it leads to.
        """
        atoms = {node: self._atoms(moves, changed) for node, moves in self.moves.items()}
        blocks = Counter(key for keys in _by_block(atoms).values() for key in keys)
        place = {label: number for number, label in enumerate(order)}
        won: dict[tuple[str, int], bool] = {}
        used: dict[str, None] = {}
        for node in sorted(self.moves, key=lambda node: -place[node[0]]):
            found = atoms[node]
            chosen = found is not None and bool(found) and all(blocks[key] == 1 for key in found)
            results = [
                won.get(move.goal, False) if isinstance(move.goal, tuple) else move.goal
                for move in self.moves[node]
                if not chosen or self._may_hold(move.condition, changed)
            ]
            won[node] = bool(results) and (any(results) if chosen else all(results))
            if chosen and won[node] and not all(results):
                used |= dict.fromkeys(sorted(found or ()))
        sources = tuple(used) if won.get(start, False) else ()
        return Reads(sources, inputs=bool(sources) and self.unsure.isdisjoint(sources))

    def _atoms(self, moves: Iterable[Move], changed: frozenset[Var]) -> frozenset[str] | None:
        """What the conditions of a node speak of, where that is read anew; None where they speak of more."""
        keys: set[str] = set()
        for move in moves:
            if move.condition in (TRUE, FALSE):
                continue
            replaced, known = self._chosen(move.condition, changed)
            if not replaced.variables or not replaced.variables <= known.keys():
                return None
            keys |= {known[var] for var in replaced.variables}
        return frozenset(keys)

    def _chosen(self, condition: Condition, changed: frozenset[Var]) -> tuple[Condition, dict[Var, str]]:
        """The condition with symbols for what is read of free memory, and where each symbol comes from."""
        known = {var: self.fresh[var] for var in condition.variables if var in self.fresh}
        replaced: dict[Term, Term] = {}
        for node in walk(condition):
            anew = isinstance(node, Read) and node.array in self.free
            if isinstance(node, Read) and anew and not node.offset.variables.isdisjoint(changed | self.fresh.keys()):
                symbol = Var(f"'{node.array}", node.type)
                replaced[node] = symbol
                known[symbol] = f"memory of {node.array}"
        return (replace_terms(condition, replaced) if replaced else condition), known

    def _may_hold(self, condition: Condition, changed: frozenset[Var]) -> bool:
        """Whether some values make a condition on what is read true: tried, not proved."""
        if condition is TRUE:
            return True
        replaced, _ = self._chosen(condition, changed)
        return any(holds(replaced, values) for values in itertools.islice(_tried(replaced), MAX_TRIED))


def _by_block(atoms: Mapping[tuple[str, int], frozenset[str] | None]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for (label, _), keys in atoms.items():
        found.setdefault(label, set()).update(keys or ())
    return found


def _tried(condition: Condition) -> Iterable[dict[Var, int]]:
    """Values around the constants of a condition, at the ends of types, and the same for all variables."""
    constants = {0, 1}
    for node in walk(condition):
        if isinstance(node, Compare):
            constants.add(abs(polynomial(node.term).get((), 0)))
        if isinstance(node, Const):
            constants.add(node.value)
    near = sorted({sign * value + by for value in constants for sign in (1, -1) for by in (-1, 0, 1)})
    variables = sorted(condition.variables)
    ends = [
        sorted({*(v for v in near if var.type.holds(v)), *(e for e in (var.type.min, var.type.max) if e is not None)})
        for var in variables
    ]
    for values in itertools.product(*ends):
        yield dict(zip(variables, values, strict=True))


def free_objects(graph: Flowgraph, written: Written) -> frozenset[str]:
    """The objects of memory that hold anything at first, and that nobody writes."""
    unknown = (o for o in graph.objects.values() if o.kind in ("parameter", "global") and not o.constant)
    return frozenset(o.name for o in unknown if not written.anything and o.number not in written)


_ANEW: Final = (Origin.NONDET, Origin.VOLATILE, Origin.CALL, Origin.MEMORY)


def _read_from(statement: Statement) -> str:
    """Where a value comes from that may be any; empty for what nobody chooses."""
    match statement:
        case Load(loc=loc):
            what = "memory"
        case Call(callee=callee, loc=loc):
            what = f"what {callee} returns"
        case Havoc(origin=origin, name=name, loc=loc) if origin in _ANEW:
            what = name
        case _:
            return ""
    return f"{what} at {loc}" if loc is not None else what

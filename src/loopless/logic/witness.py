"""A point at which a condition holds, looked for near a few others: that costs a tenth of what sets or solvers take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from heapq import heappop, heappush
from typing import Final

from loopless import terms as t
from loopless.limits.logic import (
    MAX_FULFILLED_PARTS,
    MAX_FULFILLED_TIMES,
    MAX_LOOKS,
    MAX_REPAIRS,
    MAX_SEARCHED_PARTS,
    MAX_TRIED_CONSTANTS,
    REMEMBERED_SWEEPS,
    UNBOUNDED_VALUE,
)
from loopless.logic.intervals import Intervals
from loopless.records import dataclass
from loopless.terms.ranges import Range

_OTHERS: Final = (0, 1, 2, 3, 8, 32)
"""Values that are tried where a term is not linear. A guess."""


_Change = tuple[int, "t.Var | t.Read", int, set[int]]
"""How many parts fail after it, what changes, its new value, which parts fail then."""


def is_near_ends(group: t.Condition, bounds: Mapping[t.Var, Range]) -> bool:
    """Whether the condition holds at one of a few points, or near one. ``bounds``: where some variables lie."""
    parts = t.conjuncts(group)
    if any(map(_sweeps, parts)):
        return False
    search = _Search(parts, {v: bounds.get(v, (v.type.min, v.type.max)) for v in group.variables})
    return any(search.leads_to_one(point) for point in search.starts())


def is_found(group: t.Condition, known: Intervals) -> bool:
    """Whether a point at which the condition holds is found by changing, again and again, one value so that one more
    part holds and as few others as possible do not any more. ``known``: what follows from the condition by intervals.
    """
    parts = t.conjuncts(group)
    if len(parts) > MAX_SEARCHED_PARTS or any(map(_sweeps, parts)):
        return False
    search = _Search(parts, {v: known.range_of(v) for v in group.variables})
    return any(search.climbs_to_one(point) for point in search.starts())


@lru_cache(REMEMBERED_SWEEPS)
def _sweeps(part: t.Condition) -> bool:
    """Whether it speaks of what loops find in memory, which may be much: that is not worked out at points."""
    return any(isinstance(node, t.Aggregate) for node in t.walk(part))


def has_point(condition: t.Condition) -> bool:
    """True only if surely some values within the types' ranges fulfil ``condition``."""
    return is_near_ends(condition, {}) or is_found(condition, Intervals((condition,)))


@dataclass(slots=True)
class _Point:
    """Values of variables, between ``low`` and ``high``, and what memory holds: ``held`` but for a few places."""

    values: dict[t.Var, int]
    low: Mapping[t.Var, int]
    high: Mapping[t.Var, int]
    held: int
    memory: dict[tuple[str, int, t.IntType], int] = field(default_factory=dict)

    def content(self, array: str, offset: int, type: t.IntType) -> int:
        """What a place in memory holds."""
        return self.memory.get((array, offset, type), self.held if type.holds(self.held) else 0)

    def fulfils(self, part: t.Condition) -> bool:
        """Whether the condition holds here."""
        return t.holds(part, self.values, self.content)

    def value(self, term: t.Term) -> int:
        """The value of a term here. Raises :class:`EvaluationError`."""
        return t.evaluate(term, self.values, self.content)

    def move(self, part: t.Condition) -> t.Term | None:
        """Change one value so that a comparison holds, or one of several; what was changed, None where nothing can."""
        if isinstance(part, t.Or):
            return next((moved for some in part.args if (moved := self.move(some)) is not None), None)
        if not isinstance(part, t.Compare):
            return None
        value = self.value(part.term)
        for monomial, coefficient in t.polynomial(part.term).items():
            if len(monomial) != 1 or monomial[0][1] != 1 or (part.relation == "eq" and value % coefficient):
                continue
            atom = monomial[0][0]
            for by in (1, -1) if part.relation == "ne" else (_step(part.relation, value, coefficient),):
                if isinstance(atom, t.Var | t.Read) and self.put(atom, self.value(atom) + by):
                    return atom
        return None

    def put(self, atom: t.Var | t.Read, value: int) -> bool:
        """Give a variable, or a place in memory, a value; whether it may have that."""
        if isinstance(atom, t.Var):
            if not self.low[atom] <= value <= self.high[atom]:
                return False
            self.values[atom] = value
            return True
        if not atom.type.holds(value):
            return False
        self.memory[atom.array, self.value(atom.offset), atom.type] = value
        return True


def _step(relation: str, value: int, slope: int) -> int:
    """The least step by which a term comes to 0, or below."""
    return -value // slope if slope > 0 or relation == "eq" else -(-value // -slope)


class _Search:
    """The search for a point at which all ``parts`` hold; ``ends``: where the variables may lie."""

    def __init__(self, parts: Sequence[t.Condition], ends: Mapping[t.Var, Range]) -> None:
        self.parts = parts
        self.low = {v: -UNBOUNDED_VALUE if least is None else least for v, (least, _) in ends.items()}
        self.high = {v: UNBOUNDED_VALUE if most is None else most for v, (_, most) in ends.items()}
        self.speaking: dict[t.Term, list[int]] = {v: [] for v in ends}
        """By variables, the parts that speak of them."""
        for at, part in enumerate(parts):
            for variable in part.variables:
                self.speaking[variable].append(at)
        self.looks = MAX_LOOKS
        self.evaluated, self.most = 0, MAX_FULFILLED_PARTS + MAX_FULFILLED_TIMES * len(parts)

    def starts(self) -> Iterator[_Point]:
        """The points from which a search begins."""
        wanted = dict.fromkeys(sorted(self.low), 0)
        for part in self.parts:
            if isinstance(part, t.Compare) and part.relation == "le" and isinstance(part.term, t.Sum):
                for monomial, coefficient in part.term.items:
                    for atom, _ in monomial:
                        if isinstance(atom, t.Var):
                            wanted[atom] += 1 if coefficient > 0 else -1
        for held in (0, 1):
            near = {v: min(max(held, self.low[v]), self.high[v]) for v in wanted}
            # Each variable at the end that most inequalities prefer.
            sides = ((v, wanted[v]) for v in wanted)
            preferred = {v: self.low[v] if side > 0 else self.high[v] if side < 0 else near[v] for v, side in sides}
            for values in (near, preferred):
                yield _Point(values, self.low, self.high, held)

    def leads_to_one(self, point: _Point) -> bool:
        """Whether all parts hold at the point, or at one near it: where one does not hold, something that it is about
        is moved so that it does, and so on.
        """
        parts = self.parts
        unknown = list(range(len(parts)))  # a heap: the first that fails is moved
        try:
            for _ in range(len(parts) + MAX_REPAIRS):
                while unknown and self.evaluated < self.most and point.fulfils(parts[unknown[0]]):
                    self.evaluated += 1
                    heappop(unknown)
                if not unknown:
                    return True
                if self.evaluated >= self.most:
                    return False
                moved = point.move(parts[unknown[0]])
                if moved is None:
                    return False
                for at in self._speaking(moved):
                    if at not in unknown:
                        heappush(unknown, at)
        except (t.EvaluationError, ArithmeticError):
            pass
        return False

    def _speaking(self, atom: t.Term) -> Sequence[int]:
        """The parts that may not hold any more where ``atom`` has another value."""
        return self.speaking[atom] if isinstance(atom, t.Var) else range(len(self.parts))

    # -- the dearer one -----------------------------------------------------------------------------------------------

    def climbs_to_one(self, point: _Point) -> bool:
        """Whether all parts hold at a point that changes of single values lead to from this one."""
        failing = {at for at in range(len(self.parts)) if not self._fulfils(point, at)}
        tried: set[tuple[t.Term, int]] = set()
        for turn in range(2 * len(self.parts) + MAX_REPAIRS):
            if not failing or self.looks <= 0:
                break
            best: _Change | None = None
            for at in _beginning_with(sorted(failing), turn):
                best = self._best(point, at, failing, tried)
                if best is not None:
                    break
            if best is None:
                return False
            _, atom, value, failing = best
            tried.add((atom, value))
            point.put(atom, value)
        return not failing

    def _best(self, point: _Point, at: int, failing: set[int], tried: set[tuple[t.Term, int]]) -> _Change | None:
        """The change that lets one part hold and the fewest fail; where there is none, the one that brings an
        inequality closest to holding.
        """
        best: _Change | None = None
        closest: _Change | None = None
        part = self.parts[at]
        least = self._value(point, part.term) if isinstance(part, t.Compare) and part.relation == "le" else None
        for atom, value in dict.fromkeys(self._moves(point, part)):
            if (atom, value) in tried or self.looks <= 0:
                continue
            before = self._value(point, atom)
            if before is None or not point.put(atom, value):
                continue
            if self._fulfils(point, at):
                after = self._failing(point, atom, failing)
                if best is None or len(after) < best[0]:
                    best = len(after), atom, value, after
            elif least is not None and best is None and isinstance(part, t.Compare):
                now = self._value(point, part.term)
                if now is not None and now < least:
                    least, closest = now, (0, atom, value, self._failing(point, atom, failing))
            point.put(atom, before)
            if best is not None and best[0] < len(failing):
                break  # it is better already
        return best or closest

    def _failing(self, point: _Point, atom: t.Term, before: set[int]) -> set[int]:
        """What fails now that ``atom`` has another value."""
        affected = self._speaking(atom)
        return before.difference(affected) | {at for at in affected if not self._fulfils(point, at)}

    def _moves(self, point: _Point, part: t.Condition) -> Iterator[tuple[t.Var | t.Read, int]]:
        """Changes of single values after which the part may hold."""
        if isinstance(part, t.And | t.Or):
            for arg in part.args:
                yield from self._moves(point, arg)
        elif isinstance(part, t.Compare):
            yield from self._moves_of(point, part)

    def _moves_of(self, point: _Point, part: t.Compare) -> Iterator[tuple[t.Var | t.Read, int]]:
        term, relation = part.term, part.relation
        now = self._value(point, term)
        if now is None or (now <= 0 if relation == "le" else (now == 0) == (relation == "eq")):
            return
        nodes = list(t.walk(term))
        named = [node.value for node in nodes if isinstance(node, t.Const)][:MAX_TRIED_CONSTANTS]
        for atom in nodes:
            if not isinstance(atom, t.Var | t.Read):
                continue
            at = self._value(point, atom)
            if at is None:
                continue
            slope = self._slope(point, term, now, atom, at)
            if slope:
                by = (1, -1) if relation == "ne" else (_step(relation, now, slope),)
                yield from ((atom, self._inside(atom, at + step)) for step in by)
            others = (*(at ^ mask for mask in named), *_OTHERS, *named, at + 1, at - 1)
            if not (isinstance(term, t.Sum) and any(monomial == ((atom, 1),) for monomial, _ in term.items)):
                yield from ((atom, self._inside(atom, value)) for value in others)
                yield from ((atom, end) for end in self._ends(atom))

    def _slope(self, point: _Point, term: t.Term, now: int, atom: t.Var | t.Read, at: int) -> int:
        """By how much the term grows where a value grows by 1; 0 where that does not tell."""
        for step in (1, -1):
            if point.put(atom, at + step):
                then = self._value(point, term)
                point.put(atom, at)
                return 0 if then is None else step * (then - now)
        return 0

    def _ends(self, atom: t.Var | t.Read) -> Iterable[int]:
        if isinstance(atom, t.Var):
            return self.low[atom], self.high[atom]
        return [end for end in (atom.type.min, atom.type.max) if end is not None]

    def _inside(self, atom: t.Var | t.Read, value: int) -> int:
        return min(max(value, self.low[atom]), self.high[atom]) if isinstance(atom, t.Var) else value

    def _value(self, point: _Point, term: t.Term) -> int | None:
        self.looks -= 1
        try:
            return point.value(term)
        except ArithmeticError:
            return None

    def _fulfils(self, point: _Point, at: int) -> bool:
        self.looks -= 1
        try:
            return point.fulfils(self.parts[at])
        except ArithmeticError:
            return False


def _beginning_with(numbers: Sequence[int], turn: int) -> Sequence[int]:
    first = turn % len(numbers)
    return [*numbers[first:], *numbers[:first]]

"""Oscillating groups: pieces that take turns by the sign of a linear form that they move to and fro.

What their runs come to is told in :mod:`loopless.summary.methods.oscillation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from loopless.logic import Region
from loopless.summary.obligations.totals import Total
from loopless.summary.transitions.transformer import COUNTER, Once, Piece
from loopless.terms import (
    ZERO,
    And,
    Compare,
    Condition,
    Const,
    Or,
    Term,
    Var,
    add,
    at_most_zero,
    conjunction,
    const,
    floor_div,
    less_equal,
    maximum,
    minimum,
    polynomial,
    scale,
    sub,
)

MAX_SELECTORS = 3
"""Products of more oscillations than this are not looked for."""


@dataclass(frozen=True, slots=True)
class Selector:
    """``low`` is the condition L < 0, as a term that is ≤ 0 there; ``up`` = a, ``down`` = b."""

    low: Term
    up: int
    down: int

    @property
    def high_steps(self) -> Term:
        """How many of the first :data:`COUNTER` iterations are high."""
        moved = add(self.low, const(self.down - 1), scale(COUNTER, self.up))
        return minimum(COUNTER, maximum(ZERO, floor_div(moved, const(self.up + self.down))))

    @property
    def inside(self) -> Condition:
        """The interval that is gone round, -b <= L < a."""
        return conjunction((less_equal(const(1 - self.down), self.low), less_equal(self.low, const(self.up))))

    @property
    def high_steps_inside(self) -> Term:
        """:attr:`high_steps` for starts in the interval."""
        moved = add(self.low, const(self.down - 1), scale(COUNTER, self.up))
        return floor_div(moved, const(self.up + self.down))


@dataclass(slots=True, eq=False)
class Group:
    """Pieces that take turns as selectors say: ``signs`` has for each piece which selectors are high."""

    members: tuple[Piece, ...]
    selectors: tuple[Selector, ...]
    signs: tuple[tuple[bool, ...], ...]
    inside: bool = False
    """Whether the members are restricted to where the selectors are in their intervals."""
    totals: tuple[Total, ...] = ()
    """Sums whose checks along the run are left to what they come to."""

    @property
    def highs(self) -> list[Term]:
        """How many of the first :data:`COUNTER` iterations are high, for each selector."""
        return [s.high_steps_inside if self.inside else s.high_steps for s in self.selectors]


def find_group(pieces: Sequence[Piece]) -> Group | None:
    """A group of at least two pieces that goes round, of as many pieces as possible."""
    moving = [piece for piece in pieces if isinstance(piece.effect, Once) and steps(piece) is not None]
    candidates = candidate_selectors(moving)
    tried: list[Group] = []
    for low in candidates:
        for members in _memberships(low, moving):
            whole = _grouped(members, low, candidates)
            if whole is not None and _goes_round(whole, pieces):
                tried.append(whole)
            else:
                tried += [some for some in _of_one_step(members, low, candidates) if _goes_round(some, pieces)]
    return max(tried, key=lambda group: len(group.members), default=None)


def steps(piece: Piece) -> dict[Var, int] | None:
    """By how much each control variable moves, None where one does not move by a constant."""
    found = {}
    for var, term in piece.control.items():
        moved = sub(term, var)
        if not isinstance(moved, Const):
            return None
        found[var] = moved.value
    return found


def candidate_selectors(pieces: Iterable[Piece]) -> list[Term]:
    """Linear terms that are ≤ 0 in a condition of some path."""
    found: dict[Term, None] = {}
    for piece in pieces:
        _collect(piece.where.rough_condition(), frozenset(piece.control), found)
    return list(found)


def _collect(condition: Condition, control: frozenset[Var], found: dict[Term, None]) -> None:
    match condition:
        case Compare():
            term = condition.term
            if condition.relation == "le" and term.variables & control and _is_linear(term):
                found[term] = None
        case And() | Or():
            for part in condition.args:
                _collect(part, control, found)
        case _:
            pass


def _is_linear(term: Term) -> bool:
    return all(
        not monomial or (len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], Var))
        for monomial in polynomial(term)
    )


def _step_of(term: Term, moves: Mapping[Var, int]) -> int:
    """By how much a linear term moves."""
    total = 0
    for monomial, coefficient in polynomial(term).items():
        if monomial and isinstance(monomial[0][0], Var):
            total += coefficient * moves.get(monomial[0][0], 0)
    return total


def side_of(piece: Piece, low: Term) -> bool | None:
    """Whether the piece is high (True) or low for the selector, None where it is neither throughout."""
    is_low = Region.of(at_most_zero(low), piece.where.variables)
    try:
        if piece.where.is_subset(is_low):
            return False
        return True if piece.where.disjoint(is_low) else None
    except ValueError:
        return None


def _memberships(low: Term, pieces: Iterable[Piece]) -> list[list[tuple[Piece, bool]]]:
    """The sets of pieces that ``low`` may select between: one for each pair of steps."""
    lows: dict[int, list[Piece]] = {}
    highs: dict[int, list[Piece]] = {}
    for piece in pieces:
        if not low.variables <= set(piece.where.variables):
            continue
        side = side_of(piece, low)
        if side is None:
            continue
        moves = steps(piece)
        assert moves is not None
        step = _step_of(low, moves)
        if not side and step > 0:
            lows.setdefault(step, []).append(piece)
        elif side and step < 0:
            highs.setdefault(-step, []).append(piece)
    return [
        [(piece, False) for piece in below] + [(piece, True) for piece in above]
        for below in lows.values()
        for above in highs.values()
    ]


def _grouped(members: list[tuple[Piece, bool]], low: Term, candidates: Iterable[Term]) -> Group | None:
    """The group of these members, with further selectors where the first does not decide all movement."""
    pieces = tuple(piece for piece, _ in members)
    first_selector = _selector(low, members)
    if first_selector.up == first_selector.down:
        return None  # strict alternation: elimination finds it, with the trace
    selectors = [first_selector]
    columns = [[high for _, high in members]]
    group = Group(pieces, tuple(selectors), tuple(zip(*columns, strict=True)))
    if _is_separable(group):
        return group
    for other in candidates:
        if other is low or len(selectors) == MAX_SELECTORS:
            continue
        found = [m for m in _memberships(other, pieces) if len(m) == len(pieces)]
        if not found:
            continue
        sides = {id(piece): high for piece, high in found[0]}
        column = [sides[id(piece)] for piece in pieces]
        if column in columns or [not high for high in column] in columns:
            continue
        selectors.append(_selector(other, found[0]))
        columns.append(column)
        group = Group(pieces, tuple(selectors), tuple(zip(*columns, strict=True)))
        if _is_separable(group):
            return group
    return None


def _of_one_step(members: list[tuple[Piece, bool]], low: Term, candidates: Iterable[Term]) -> list[Group]:
    """The groups of those members of each side that move alike: others wrap around, say."""
    classes: dict[tuple[bool, tuple[tuple[Var, int], ...]], list[tuple[Piece, bool]]] = {}
    for piece, high in members:
        moves = tuple(sorted((steps(piece) or {}).items()))
        classes.setdefault((high, moves), []).append((piece, high))
    if len(classes) <= 2:
        return []
    sides = [[found for (high, _), found in classes.items() if high is side] for side in (False, True)]
    groups = [_grouped(below + above, low, candidates) for below in sides[0] for above in sides[1]]
    return [group for group in groups if group is not None]


def _selector(low: Term, members: Iterable[tuple[Piece, bool]]) -> Selector:
    found = {}
    for piece, high in members:
        moves = steps(piece)
        assert moves is not None
        found[high] = abs(_step_of(low, moves))
    return Selector(low, found[False], found[True])


def _is_separable(group: Group) -> bool:
    """Whether the selectors decide, each on its own, how the control variables move."""
    moves = [steps(piece) or {} for piece in group.members]
    control = {var for move in moves for var in move}
    return all(separated(group.signs, [move.get(var, 0) for move in moves]) is not None for var in control)


def separated(signs: Sequence[Sequence[bool]], values: Sequence[int]) -> list[int] | None:
    """Integers c_0, c_1, … with value = c_0 + Σ c_j over the high selectors j, for every member; else None."""
    width = len(signs[0]) + 1
    rows = [
        [Fraction(1), *(Fraction(int(high)) for high in row), Fraction(value)]
        for row, value in zip(signs, values, strict=True)
    ]
    pivots: list[int] = []
    for column in range(width):
        at = len(pivots)
        pivot = next((i for i in range(at, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [x / rows[at][column] for x in rows[at]]
        for i, row in enumerate(rows):
            if i != at and row[column]:
                rows[i] = [x - row[column] * y for x, y in zip(row, rows[at], strict=True)]
        pivots.append(column)
    if any(row[-1] for row in rows[len(pivots) :]):
        return None
    result = [Fraction(0)] * width
    for i, column in enumerate(pivots):
        result[column] = rows[i][-1]
    return [int(x) for x in result] if all(x.denominator == 1 for x in result) else None


def _goes_round(group: Group, pieces: Iterable[Piece]) -> bool:
    """Whether inside the intervals that the selectors go round no other piece takes over."""
    variables = group.members[0].where.variables
    core = Region.of(conjunction(s.inside for s in group.selectors), variables)
    others = [piece for piece in pieces if piece not in group.members]
    for member in group.members:
        begun = member.where & core
        if begun.is_empty():
            return False
        if any(not other.where.preimage(member.control).disjoint(begun) for other in others):
            return False
    return True

"""Accumulators that only grow, or only fall: their checks hold all along exactly if the final value fits its type.

One comparison on the value at the exit then stands for the checks of all iterations (prototype-widths, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from loopless.logic import NotPresburger, Region
from loopless.logic.smt import Answer, satisfiable
from loopless.paths.model import Exit, Path
from loopless.summary.obligations.signs import never_negative
from loopless.summary.transitions.transformer import Once, Piece, Side
from loopless.terms import (
    ZERO,
    Compare,
    Condition,
    IntType,
    Term,
    TermTooLarge,
    Var,
    add,
    at_most_zero,
    conjunction,
    const,
    greater,
    neg,
    polynomial,
    scale,
    sub,
)


@dataclass(frozen=True, slots=True)
class Total:
    """``var`` moves one way only, up if ``rising``: no check on it fails exactly if its final value fits its type."""

    var: Var
    rising: bool
    exit: Exit
    type: IntType

    def fits(self, value: Term) -> Condition:
        """Whether the final ``value`` fits."""
        low, high = self.type.min, self.type.max
        assert low is not None
        assert high is not None
        return at_most_zero(sub(value, const(high)) if self.rising else sub(const(low), value))


def find_totals(pieces: list[Piece]) -> tuple[list[Piece], list[Total]]:
    """The pieces without the checks that a total stands for, and the totals."""
    checked = sorted({v for piece in pieces for side in piece.effect.sides() for v in side.condition.variables})
    totals: list[Total] = []
    for var in checked:
        found = _total(var, pieces)
        if found is not None:
            totals.append(found)
            pieces = [_without(piece, var) for piece in pieces]
    return pieces, totals


def _path(piece: Piece) -> Path:
    assert isinstance(piece.effect, Once)
    return piece.effect.path


def _without(piece: Piece, var: Var) -> Piece:
    sides = piece.effect.sides()
    kept = tuple(side for side in sides if var not in side.condition.variables)
    if len(kept) == len(sides):
        return piece
    return Piece(piece.where, piece.control, Once(_path(piece), piece.control, kept))


def _total(var: Var, pieces: list[Piece]) -> Total | None:
    if var.type.min is None or var.type.max is None or var in pieces[0].control:
        return None
    exits: list[Exit] = []
    directions: set[bool] = set()
    for piece in pieces:
        own = [side for side in piece.effect.sides() if var in side.condition.variables]
        try:
            moved = sub(_path(piece).update.get(var, var), var)
        except TermTooLarge:
            return None
        if var in moved.variables:
            return None
        if not own:
            if moved is not ZERO:
                return None
            continue
        rising = _never_negative(moved, piece)
        if not rising and not _never_negative(neg(moved), piece):
            return None
        directions.add(rising)
        if not all(_follows(side, var, moved, piece, rising=rising) for side in own):
            return None
        exits += [side.exit for side in own]
    if len(directions) != 1 or not exits:
        return None
    rising = directions.pop()
    same = all(exit.line == exits[0].line for exit in exits)
    return Total(var, rising, exits[0] if same else replace(exits[0], line=0), var.type)


def _follows(side: Side, var: Var, moved: Term, piece: Piece, *, rising: bool) -> bool:
    """Whether the check holds where the new value, and the one before, fit the type."""
    condition = side.condition
    if not isinstance(condition, Compare) or condition.relation != "le":
        return False
    factor = polynomial(condition.term).get(((var, 1),), 0)
    if factor == 0:
        return False
    rest = sub(condition.term, scale(var, factor))
    if var in rest.variables:
        return False
    low, high = var.type.min, var.type.max
    assert low is not None
    assert high is not None
    # The check is factor*var + rest <= 0. What bounds var: where the sum rises, its new value from above, the one
    # before from below; where it falls the other way round.
    if factor > 0:
        most = sub(const(high), moved) if rising else const(high)
    else:
        most = const(low) if rising else sub(const(low), moved)
    needed = neg(add(scale(most, factor), rest))
    return _never_negative(needed, piece)


_SOLVER_STEPS = 200_000
_SOLVER_MS = 3_000


def _never_negative(term: Term, piece: Piece) -> bool:
    """Whether ``term`` is surely not negative where the piece is taken."""
    negative = greater(ZERO, term)
    try:
        return (piece.where & Region.of(negative)).is_empty()
    except NotPresburger:
        if never_negative(term, piece.where):
            return True
    whole = conjunction((piece.where.rough_condition(), negative))
    return satisfiable(whole, _SOLVER_MS, steps=_SOLVER_STEPS).answer is Answer.NO

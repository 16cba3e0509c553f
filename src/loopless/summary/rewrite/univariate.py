"""Polynomial conditions in one variable with constant coefficients as unions of intervals: x^7 < x^3 + 2 is x <= 1.

The roots are isolated over the integers (:mod:`loopless.terms.curves`), so the result is equivalent, and Presburger.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from loopless import terms as t
from loopless.limits.summary import MAX_INTERVALS
from loopless.paths.model import LoopPaths, Path
from loopless.recurrences import NoClosedForm, curves_of
from loopless.terms.curves import stretches

_WANTED: Final = {"le": (-1, 0), "eq": (0,), "ne": (-1, 1)}
_COUNT = t.Var("#distance", t.INTEGERS)


def with_intervals(paths: LoopPaths) -> LoopPaths:
    """The paths with equivalent conditions; the paths themselves where none changes."""
    iterative, exits = tuple(map(_of_path, paths.iterative)), tuple(map(_of_path, paths.exits))
    if all(new is old for new, old in zip((*iterative, *exits), paths.all, strict=True)):
        return paths
    return replace(paths, iterative=iterative, exits=exits)


def _of_path(path: Path) -> Path:
    condition = as_intervals(path.condition)
    return path if condition is path.condition else replace(path, condition=condition)


def as_intervals(condition: t.Condition) -> t.Condition:
    """An equivalent condition in which polynomials of one variable are compared no more; itself if none is."""
    match condition:
        case t.And() | t.Or():
            parts = [as_intervals(part) for part in condition.args]
            if all(new is old for new, old in zip(parts, condition.args, strict=True)):
                return condition
            return (t.conjunction if isinstance(condition, t.And) else t.disjunction)(parts)
        case t.Compare():
            return _as_intervals(condition)
        case _:
            return condition


def between_signs(condition: t.Compare, variable: t.Var, low: int, high: int | None) -> t.Condition:
    """The comparison, of ``variable`` alone, as intervals of its values from ``low`` to ``high`` (None: no end):
    polynomials, and powers of constants. The comparison itself where that is not found out.
    """
    try:
        found = curves_of(t.substitute(condition.term, {variable: low + _COUNT}), _COUNT)
    except (NoClosedForm, t.TermTooLarge):
        return condition
    if len(found) != 1 or not all(isinstance(factor, t.Const) for factor in found[0].values()):
        return condition
    curve = {key: factor.value for key, factor in found[0].items() if isinstance(factor, t.Const)}
    wanted = _WANTED[condition.relation]
    intervals: list[t.Condition] = []
    try:
        for first, end, sign in stretches(curve):
            if high is not None and low + first > high:
                break
            if sign in wanted:
                last = None if end is None else low + end - 1
                intervals.append(t.between(low + first, variable, last))
            if len(intervals) > MAX_INTERVALS:
                return condition
    except ValueError:
        return condition
    return t.disjunction(intervals)


def _as_intervals(condition: t.Compare) -> t.Condition:
    if len(condition.variables) != 1:
        return condition
    (variable,) = condition.variables
    poly = t.polynomial(condition.term)
    if any(atom is not variable for monomial in poly for atom, _ in monomial):
        return condition
    if max(exponent for monomial in poly for _, exponent in monomial) < 2:
        return condition
    wanted = _WANTED[condition.relation]
    try:
        found = list(_intervals(condition, variable, wanted))
    except (t.TermTooLarge, ValueError):
        return condition
    if len(found) > MAX_INTERVALS:
        return condition
    return t.disjunction(
        t.between(low, variable, high) if low is None or low != high else variable.eq(low) for low, high in found
    )


def _intervals(
    condition: t.Compare, variable: t.Var, wanted: tuple[int, ...]
) -> Iterator[tuple[int | None, int | None]]:
    """The intervals of values with a wanted sign, disjoint and apart, from below."""
    low, high = variable.type.min, variable.type.max
    transitions: list[tuple[int | None, int | None]] = []
    if low is None:
        below = [(None if b is None else -1 - b, -1 - a) for a, b in _runs(condition, variable, -1, -1, wanted)]
        transitions += below[::-1]
    start = 0 if low is None else low
    transitions += [
        (start + a, None if b is None else start + b) for a, b in _runs(condition, variable, start, 1, wanted)
    ]
    pending: tuple[int | None, int | None] | None = None
    for bottom, top in transitions:
        if bottom is not None and high is not None and bottom > high:
            break
        if pending is not None and pending[1] is not None and bottom == pending[1] + 1:
            pending = (pending[0], top)
            continue
        if pending is not None:
            yield pending
        pending = (bottom, top)
    if pending is not None:
        yield pending


def _runs(
    condition: t.Compare, variable: t.Var, start: int, direction: int, wanted: tuple[int, ...]
) -> Iterator[tuple[int, int | None]]:
    """First and last k (None: no end) of the stretches of wanted signs, for the variable = start + direction·k."""
    moved = t.substitute(condition.term, {variable: (t.add if direction > 0 else t.sub)(t.const(start), _COUNT)})
    curve = {
        (1, sum(exponent for _, exponent in monomial)): coefficient
        for monomial, coefficient in t.polynomial(moved).items()
    }
    for first, end, sign in stretches(curve):
        if sign in wanted:
            yield first, None if end is None else end - 1

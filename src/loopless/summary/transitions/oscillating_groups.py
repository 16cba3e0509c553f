"""Oscillating groups: transitions that take turns by the sign of a linear form that they move to and fro.

The closed forms of their runs are found in :mod:`loopless.summary.methods.oscillation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from loopless import terms as t
from loopless.limits.summary import MAX_SELECTORS
from loopless.logic import Region
from loopless.records import dataclass
from loopless.summary.obligations.monotone_accumulators import MonotoneAccumulator
from loopless.summary.transitions.transformer import COUNTER, GuardedTransition, Once


@dataclass(frozen=True, slots=True)
class Selector:
    """``low`` is the condition L < 0, as a term that is ≤ 0 there; ``up`` = a, ``down`` = b."""

    low: t.Term
    up: int
    down: int

    @property
    def high_steps(self) -> t.Term:
        """How many of the first :data:`COUNTER` iterations are high."""
        moved = self.low + (self.down - 1) + COUNTER * self.up
        return t.minimum(COUNTER, t.maximum(t.ZERO, moved // (self.up + self.down)))

    @property
    def inside(self) -> t.Condition:
        """The interval that is gone round, -b <= L < a."""
        return self.low.ge(1 - self.down) & self.low.le(self.up)

    @property
    def high_steps_inside(self) -> t.Term:
        """:attr:`high_steps` for starts in the interval."""
        moved = self.low + (self.down - 1) + COUNTER * self.up
        return moved // (self.up + self.down)


@dataclass(slots=True, eq=False)
class OscillatingGroup:
    """Transitions that take turns as selectors say: ``signs`` has for each transition which selectors are high."""

    members: tuple[GuardedTransition, ...]
    selectors: tuple[Selector, ...]
    signs: tuple[tuple[bool, ...], ...]
    inside: bool = False
    """Whether the members are restricted to where the selectors are in their intervals."""
    monotone: tuple[MonotoneAccumulator, ...] = ()
    """Sums whose checks along the run are left to what they come to."""

    @property
    def highs(self) -> list[t.Term]:
        """How many of the first :data:`COUNTER` iterations are high, for each selector."""
        return [s.high_steps_inside if self.inside else s.high_steps for s in self.selectors]


def find_group(transitions: Sequence[GuardedTransition]) -> OscillatingGroup | None:
    """A group of at least two transitions that goes round, of as many transitions as possible."""
    moving = [
        transition
        for transition in transitions
        if isinstance(transition.transformer, Once) and steps(transition) is not None
    ]
    candidates = candidate_selectors(moving)
    tried: list[OscillatingGroup] = []
    for low in candidates:
        for members in _memberships(low, moving):
            whole = _grouped(members, low, candidates)
            if whole is not None and _goes_round(whole, transitions):
                tried.append(whole)
            else:
                tried += [some for some in _of_one_step(members, low, candidates) if _goes_round(some, transitions)]
    return max(tried, key=lambda group: len(group.members), default=None)


def steps(transition: GuardedTransition) -> dict[t.Var, int] | None:
    """By how much each control variable moves, None where one does not move by a constant."""
    found = {}
    for var, term in transition.control.items():
        moved = term - var
        if not isinstance(moved, t.Const):
            return None
        found[var] = moved.value
    return found


def candidate_selectors(transitions: Iterable[GuardedTransition]) -> list[t.Term]:
    """Linear terms that are ≤ 0 in a condition of some path."""
    found: dict[t.Term, None] = {}
    for transition in transitions:
        _collect(transition.where.rough_condition(), frozenset(transition.control), found)
    return list(found)


def _collect(condition: t.Condition, control: frozenset[t.Var], found: dict[t.Term, None]) -> None:
    match condition:
        case t.Compare():
            term = condition.term
            if condition.relation == "le" and term.variables & control and _is_linear(term):
                found[term] = None
        case t.And() | t.Or():
            for part in condition.args:
                _collect(part, control, found)
        case _:
            pass


def _is_linear(term: t.Term) -> bool:
    return all(
        not monomial or (len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], t.Var))
        for monomial in t.polynomial(term)
    )


def _step_of(term: t.Term, moves: Mapping[t.Var, int]) -> int:
    """By how much a linear term moves."""
    total = 0
    for monomial, coefficient in t.polynomial(term).items():
        if monomial and isinstance(monomial[0][0], t.Var):
            total += coefficient * moves.get(monomial[0][0], 0)
    return total


def side_of(transition: GuardedTransition, low: t.Term) -> bool | None:
    """Whether the transition is high (True) or low for the selector, None where it is neither throughout."""
    is_low = Region.of(t.at_most_zero(low), transition.where.variables)
    try:
        if transition.where.is_subset(is_low):
            return False
        return True if transition.where.disjoint(is_low) else None
    except ValueError:
        return None


def _memberships(low: t.Term, transitions: Iterable[GuardedTransition]) -> list[list[tuple[GuardedTransition, bool]]]:
    """The sets of transitions that ``low`` may select between: one for each pair of steps."""
    lows: dict[int, list[GuardedTransition]] = {}
    highs: dict[int, list[GuardedTransition]] = {}
    for transition in transitions:
        if not low.variables <= set(transition.where.variables):
            continue
        obligation = side_of(transition, low)
        if obligation is None:
            continue
        moves = steps(transition)
        assert moves is not None
        step = _step_of(low, moves)
        if not obligation and step > 0:
            lows.setdefault(step, []).append(transition)
        elif obligation and step < 0:
            highs.setdefault(-step, []).append(transition)
    return [
        [(transition, False) for transition in below] + [(transition, True) for transition in above]
        for below in lows.values()
        for above in highs.values()
    ]


def _grouped(
    members: list[tuple[GuardedTransition, bool]], low: t.Term, candidates: Iterable[t.Term]
) -> OscillatingGroup | None:
    """The group of these members, with further selectors where the first does not decide all movement."""
    transitions = tuple(transition for transition, _ in members)
    first_selector = _selector(low, members)
    if first_selector.up == first_selector.down:
        return None  # strict alternation: elimination finds it, with the trace
    selectors = [first_selector]
    columns = [[high for _, high in members]]
    group = OscillatingGroup(transitions, tuple(selectors), tuple(zip(*columns, strict=True)))
    if _is_separable(group):
        return group
    for other in candidates:
        if other is low or len(selectors) == MAX_SELECTORS:
            continue
        found = [m for m in _memberships(other, transitions) if len(m) == len(transitions)]
        if not found:
            continue
        obligations = {id(transition): high for transition, high in found[0]}
        column = [obligations[id(transition)] for transition in transitions]
        if column in columns or [not high for high in column] in columns:
            continue
        selectors.append(_selector(other, found[0]))
        columns.append(column)
        group = OscillatingGroup(transitions, tuple(selectors), tuple(zip(*columns, strict=True)))
        if _is_separable(group):
            return group
    return None


def _of_one_step(
    members: list[tuple[GuardedTransition, bool]], low: t.Term, candidates: Iterable[t.Term]
) -> list[OscillatingGroup]:
    """The groups of those members of each side that move alike: others wrap around, say."""
    classes: dict[tuple[bool, tuple[tuple[t.Var, int], ...]], list[tuple[GuardedTransition, bool]]] = {}
    for transition, high in members:
        moves = tuple(sorted((steps(transition) or {}).items()))
        classes.setdefault((high, moves), []).append((transition, high))
    if len(classes) <= 2:
        return []
    obligations = [
        [found for (high, _), found in classes.items() if high is obligation] for obligation in (False, True)
    ]
    groups = [_grouped(below + above, low, candidates) for below in obligations[0] for above in obligations[1]]
    return [group for group in groups if group is not None]


def _selector(low: t.Term, members: Iterable[tuple[GuardedTransition, bool]]) -> Selector:
    found = {}
    for transition, high in members:
        moves = steps(transition)
        assert moves is not None
        found[high] = abs(_step_of(low, moves))
    return Selector(low, found[False], found[True])


def _is_separable(group: OscillatingGroup) -> bool:
    """Whether the selectors decide, each on its own, how the control variables move."""
    moves = [steps(transition) or {} for transition in group.members]
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


def _goes_round(group: OscillatingGroup, transitions: Iterable[GuardedTransition]) -> bool:
    """Whether inside the intervals that the selectors go round no other transition takes over."""
    variables = group.members[0].where.variables
    core = Region.of(t.conjunction(s.inside for s in group.selectors), variables)
    others = [transition for transition in transitions if transition not in group.members]
    for member in group.members:
        begun = member.where & core
        if begun.is_empty():
            return False
        if any(not other.where.preimage(member.control).disjoint(begun) for other in others):
            return False
    return True

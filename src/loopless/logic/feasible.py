"""Whether a condition can be fulfilled at all: asked at every branch while paths are built, so it must be quick."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final

from loopless.logic.abstraction import over_approximation
from loopless.logic.engine import BudgetExceeded, budget, metered
from loopless.logic.smt import Answer, satisfiable
from loopless.logic.translate import NotPresburger, frame_of
from loopless.terms import (
    FALSE,
    And,
    Compare,
    Condition,
    EvaluationError,
    IntType,
    Or,
    Read,
    Sum,
    Term,
    Truth,
    Var,
    conjuncts,
    evaluate,
    holds,
    polynomial,
    walk_inside,
)

OPERATIONS: Final = 200_000
"""The isl operations that one question may cost: 25 ms, more on large sets."""

MANY: Final = 24
"""Z3 is asked first where there are more variables: 30 ms, where one of isl's operations on sets of so many dimensions
may cost so much that its budget lasts for a second.
"""

SOLVER_STEPS: Final = 400_000
"""What Z3 may do for one question that is not Presburger: some 50 ms."""

SOLVER_MS: Final = 2_000
"""A limit in time that the steps do not reach, so that the answer is the same on every machine."""

_CACHE_LIMIT: Final = 50_000
"""Conditions whose answers, and whose subjects, are remembered: some 10 MB each. A guess."""
_known: dict[tuple[Condition, bool], bool] = {}
_subjects: dict[Condition, tuple[str, ...]] = {}


def feasible(condition: Condition, *, solver: bool = True) -> bool:
    """False only if surely no values within the types' ranges fulfil ``condition``; True also when undecided.

    Exact for Presburger conditions within :data:`OPERATIONS`. Others are relaxed to Presburger, then put to Z3 if
    ``solver``, for at most :data:`SOLVER_STEPS`.
    """
    if isinstance(condition, Truth):
        return condition.value
    found = _known.get((condition, solver))
    if found is not None:
        return found
    return all(_group_feasible(group, solver=solver) for group in _groups(conjuncts(condition)))


def _groups(parts: Sequence[Condition]) -> Iterable[Condition]:
    """Conjunctions that share no variable or memory object: each can be fulfilled for itself."""
    if len(parts) == 1:
        return parts
    home: dict[str, list[Condition]] = {}
    for part in parts:
        merged: list[Condition] = []
        for group in {id(home[name]): home[name] for name in _names(part) if name in home}.values():
            merged.extend(group)
        merged.append(part)
        for member in merged:
            for name in _names(member):
                home[name] = merged
    groups = {id(group): group for group in home.values()}.values()
    return [group[0] if len(group) == 1 else And(tuple(group)) for group in groups]


def _names(part: Condition) -> tuple[str, ...]:
    """What the condition is about: the keys of its variables, the names of the objects that it reads;
    the empty name where it is about nothing.
    """
    found = _subjects.get(part)
    if found is None:
        arrays = {f"memory {node.array}" for node in walk_inside(part) if isinstance(node, Read)}
        found = tuple(sorted({variable.key for variable in part.variables} | arrays)) or ("",)
        if len(_subjects) > _CACHE_LIMIT:
            _subjects.clear()
        _subjects[part] = found
    return found


def _group_feasible(group: Condition, *, solver: bool) -> bool:
    found = _known.get((group, solver))
    if found is None:
        intervals: _Intervals = {}
        found = _by_intervals(group, intervals)
        if found is None and _is_witnessed(group, intervals):
            found = True
        certain = found is not None
        if found is None:
            found, certain = _by_isl(group, solver=solver)
        if certain:
            if len(_known) > _CACHE_LIMIT:
                _known.clear()
            _known[group, solver] = found
    return found


_Intervals = dict[Var, tuple[int | None, int | None]]


def _by_intervals(group: Condition, bounds: _Intervals) -> bool | None:
    """The answer where the conjuncts bound single variables, None where it takes more. ``bounds`` is filled with what
    they say of variables.
    """
    excluded: dict[Var, set[int]] = {}
    plain = True
    for part in conjuncts(group):
        single = _single(part) if isinstance(part, Compare) else None
        if single is None:
            plain = False
            continue
        relation, variable, sign, constant = single
        limit = -constant * sign
        low, high = bounds.get(variable, (variable.type.min, variable.type.max))
        if relation == "ne":
            excluded.setdefault(variable, set()).add(limit)
        if relation == "eq" or (relation == "le" and sign < 0):
            low = limit if low is None else max(low, limit)
        if relation == "eq" or (relation == "le" and sign > 0):
            high = limit if high is None else min(high, limit)
        if low is not None and high is not None and low > high:
            return False
        bounds[variable] = (low, high)
    for variable, values in excluded.items():
        low, high = bounds[variable]
        if low is not None and high is not None and all(v in values for v in range(low, min(high, low + 64) + 1)):
            if high <= low + 64:
                return False
            plain = False
    return True if plain else None


_FAR: Final = 1 << 20
"""Where a variable has no bound, it is tried so far away."""
_REPAIRS: Final = 6
"""So often a point is moved beyond once for each part. A guess."""


def _is_witnessed(group: Condition, bounds: _Intervals) -> bool:
    """Whether the condition holds at one of a few points, or near one: that costs a tenth of what isl takes to find
    one.
    """
    variables = sorted(group.variables)
    parts = conjuncts(group)
    wanted = dict.fromkeys(variables, 0)
    for part in parts:
        if isinstance(part, Compare) and part.relation == "le" and isinstance(part.term, Sum):
            for monomial, coefficient in part.term.items:
                for atom, _ in monomial:
                    if isinstance(atom, Var):
                        wanted[atom] += 1 if coefficient > 0 else -1
    ends = {v: bounds.get(v, (v.type.min, v.type.max)) for v in variables}
    low = {v: -_FAR if least is None else least for v, (least, _) in ends.items()}
    high = {v: _FAR if most is None else most for v, (_, most) in ends.items()}
    speaking: dict[Var, list[int]] = {v: [] for v in variables}
    for at, part in enumerate(parts):
        for variable in part.variables:
            speaking[variable].append(at)
    for held in (0, 1):
        near = {v: min(max(held, low[v]), high[v]) for v in variables}
        # Each variable at the end that most inequalities prefer.
        preferred = {v: low[v] if wanted[v] > 0 else high[v] if wanted[v] < 0 else near[v] for v in variables}
        if any(_leads_to_one(parts, speaking, _Point(values, low, high, held)) for values in (near, preferred)):
            return True
    return False


@dataclass(slots=True)
class _Point:
    """Values of variables, between ``low`` and ``high``, and what memory holds: ``held`` but for a few places."""

    values: dict[Var, int]
    low: Mapping[Var, int]
    high: Mapping[Var, int]
    held: int
    memory: dict[tuple[str, int, IntType], int] = field(default_factory=dict)

    def content(self, array: str, offset: int, type: IntType) -> int:
        """What a place in memory holds."""
        return self.memory.get((array, offset, type), self.held if type.holds(self.held) else 0)

    def fulfils(self, part: Condition) -> bool:
        """Whether the condition holds here."""
        return holds(part, self.values, self.content)

    def move(self, part: Condition) -> Term | None:
        """Change one value so that a comparison holds, or one of several; what was changed, None where nothing can."""
        if isinstance(part, Or):
            return next((moved for some in part.args if (moved := self.move(some)) is not None), None)
        if not isinstance(part, Compare):
            return None
        value = evaluate(part.term, self.values, self.content)
        for monomial, coefficient in polynomial(part.term).items():
            if len(monomial) != 1 or monomial[0][1] != 1 or (part.relation == "eq" and value % coefficient):
                continue
            # The least step by which the term comes to 0, or below.
            step = -value // coefficient if coefficient > 0 or part.relation == "eq" else -(-value // -coefficient)
            for by in (1, -1) if part.relation == "ne" else (step,):
                if self._add(monomial[0][0], by):
                    return monomial[0][0]
        return None

    def _add(self, atom: Term, by: int) -> bool:
        if isinstance(atom, Var):
            moved = self.values[atom] + by
            if not self.low[atom] <= moved <= self.high[atom]:
                return False
            self.values[atom] = moved
            return True
        if not isinstance(atom, Read):
            return False
        place = atom.array, evaluate(atom.offset, self.values, self.content), atom.type
        moved = self.content(*place) + by
        if atom.type.holds(moved):
            self.memory[place] = moved
        return atom.type.holds(moved)


def _leads_to_one(parts: Sequence[Condition], speaking: Mapping[Var, Sequence[int]], point: _Point) -> bool:
    """Whether all parts hold at the point, or at one near it: where one does not hold, something that it is about is
    moved so that it does, and so on. ``speaking``: by variables, the parts that speak of them.
    """
    unknown = list(range(len(parts)))  # a heap: the first that fails is moved
    try:
        for _ in range(len(parts) + _REPAIRS):
            while unknown and point.fulfils(parts[unknown[0]]):
                heappop(unknown)
            if not unknown:
                return True
            moved = point.move(parts[unknown[0]])
            if moved is None:
                return False
            # What does not speak of the variable that was moved holds as before.
            for at in speaking[moved] if isinstance(moved, Var) else range(len(parts)):
                if at not in unknown:
                    heappush(unknown, at)
    except (EvaluationError, ArithmeticError):
        pass
    return False


def _single(part: Compare) -> tuple[str, Var, int, int] | None:
    """(relation, v, ±1, k) where the part is ±v + k ~ 0."""
    term = part.term
    if isinstance(term, Var):
        return part.relation, term, 1, 0
    if not isinstance(term, Sum) or len(term.items) > 2:
        return None
    constant = 0
    found: tuple[Var, int] | None = None
    for monomial, coefficient in term.items:
        if not monomial:
            constant = coefficient
        elif len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], Var) and coefficient in (1, -1):
            found = (monomial[0][0], coefficient)
        else:
            return None
    return None if found is None or len(term.items) - (constant != 0) != 1 else (part.relation, *found, constant)


def _by_isl(group: Condition, *, solver: bool) -> tuple[bool, bool]:
    """The answer, and whether it is one for all times: not where an outer budget cut the question short."""
    with budget(OPERATIONS) as granted:
        if granted == OPERATIONS and len(group.variables) > MANY:
            found = satisfiable(group, SOLVER_MS, steps=SOLVER_STEPS).answer
            if found is not Answer.UNKNOWN:
                return found is Answer.YES, True
        try:
            return not _is_empty(group), True
        except NotPresburger:
            pass
        except BudgetExceeded:
            return True, granted == OPERATIONS
        try:
            relaxed = over_approximation(group).condition
            if relaxed is FALSE or _is_empty(relaxed):
                return False, True
        except BudgetExceeded:
            if granted != OPERATIONS:
                return True, False
    if not solver:
        return True, True
    return satisfiable(group, SOLVER_MS, steps=SOLVER_STEPS).answer is not Answer.NO, True


@metered
def _is_empty(condition: Condition) -> bool:
    frame = frame_of(condition.variables)
    return frame.points(condition).intersect(frame.box).is_empty()

"""Runs of one path: its repetition k times, what the variables hold then, and how long a run can last.

This is the computation behind Proteus's Algorithm 1. A run of path i ends in path j after k iterations if i's condition
holds before each of them and j's after the last. For conditions that exclude each other that is the least k after which
i's condition fails; where an input chooses, every k up to there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loopless.automaton.conditions import is_from_outside
from loopless.automaton.regions import Behaviour, Precision, View
from loopless.logic import BudgetExceeded, NotPresburger, Region, budget, first
from loopless.paths import Path
from loopless.recurrences import Closed, solve
from loopless.terms import (
    INTEGERS,
    ONE,
    EvaluationError,
    Term,
    TermTooLarge,
    Var,
    at_most_zero,
    const,
    equal,
    ite,
    less_equal,
    sub,
)

COUNTER = Var("#k", INTEGERS)
"""How many iterations of a path run one after the other. No variable of a program has such a name."""

_AT_LEAST_ONE = less_equal(ONE, COUNTER)
_MAX_PREFIX = 8
"""Closed forms that hold only after more iterations than this are not used."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What the variables that a path changes hold after k ≥ 1 iterations of it: ``forms`` over the values before and
    the counter; ``scattered`` are those of which nothing is said.
    """

    forms: Mapping[Var, Term]
    scattered: frozenset[Var]


@dataclass(frozen=True, slots=True)
class Ending:
    """The runs of one path that end in another: ``where`` over the values before and the counter.

    ``single``: the runs are one iteration long because the path never follows itself. ``known``: ``where`` speaks of
    the counter; if not, the logic could not follow the run, and ``where`` allows every length.
    """

    where: Region
    single: bool
    known: bool
    precision: Precision
    reason: str = ""


class Runs:
    """The runs of the iterative paths of one loop, each computed once."""

    def __init__(self, view: View, operations: int) -> None:
        self.view = view
        self.operations = operations
        self._effects: dict[str, Effect] = {}
        self._lengths: dict[str, tuple[Region, Precision] | str] = {}
        self._endings: dict[tuple[str, str], Ending | None] = {}

    def follows(self, source: Path, target: Path) -> bool:
        """Whether some iteration of ``source`` may lead to ``target``. Raises :class:`BudgetExceeded`."""
        a, b = self.view.behaviour(source), self.view.behaviour(target)
        return not a.after(a.where).disjoint(b.where)

    def effect(self, path: Path) -> Effect:
        """What all variables hold after a run of ``path``."""
        return effect(path.update, self.view.unknowns)

    def ending(self, source: Path, target: Path) -> Ending | None:
        """The runs of ``source`` that end in ``target``, None if there is none.

        Raises :class:`BudgetExceeded` only where the budget around the call is used up.
        """
        key = (source.id, target.id)
        if key not in self._endings:
            self._endings[key] = self._ending(self.view.behaviour(source), self.view.behaviour(target))
        return self._endings[key]

    def landing(self, before: Region | None, source: Path, target: Path) -> Region:
        """Where the runs of ``source`` that begin in ``before`` (None: anywhere) enter ``target``.

        Raises :class:`BudgetExceeded`.
        """
        a, b = self.view.behaviour(source), self.view.behaviour(target)
        start = a.where if before is None else a.where & before
        ending = self.ending(source, target)
        if ending is None:
            return Region.empty(b.where.variables)
        if ending.single:
            return (a.after(start) & b.where).coalesce()
        if not ending.known:
            return a.after(a.where) & b.where
        found = self._control_effect(source)
        moved = (ending.where & start).image(found.forms).project_out((COUNTER, *found.scattered))
        return (moved & b.where).coalesce()

    def _ending(self, a: Behaviour, b: Behaviour) -> Ending | None:
        precision = max(a.step_precision, b.where_precision)
        after = a.after(a.where)
        if after.disjoint(b.where):
            return None
        if after.disjoint(a.where):
            where = a.before(b.where) & Region.of(equal(COUNTER, ONE))
            return Ending(where, single=True, known=True, precision=precision)
        lengths = self._length(a)
        if isinstance(lengths, str):
            where = a.where & Region.of(_AT_LEAST_ONE)
            return Ending(where, single=False, known=False, precision=Precision.LOGIC, reason=lengths)
        within, length_precision = lengths
        found = self._control_effect(a.path)
        reached = b.where.project_out(found.scattered).preimage(found.forms)
        where = (within & reached).coalesce()
        if where.is_empty():
            return None
        reason = ""
        precision = max(length_precision, b.where_precision)
        if precision is Precision.LOGIC:
            reason = f"the logic cannot follow all of path {a.path.id} or of path {b.path.id}"
        return Ending(where, single=False, known=True, precision=precision, reason=reason)

    def _length(self, a: Behaviour) -> tuple[Region, Precision] | str:
        """The values before a run and the k ≥ 1 such that the path's condition holds before each of k iterations; or
        why that is not known.
        """
        if a.path.id not in self._lengths:
            try:
                with budget(self.operations):
                    self._lengths[a.path.id] = self._compute_length(a)
            except BudgetExceeded:
                self._lengths[a.path.id] = f"how often path {a.path.id} repeats takes the logic too long"
        return self._lengths[a.path.id]

    def _compute_length(self, a: Behaviour) -> tuple[Region, Precision]:
        found = self._control_effect(a.path)
        precision = a.where_precision
        for var in found.scattered:
            precision = max(precision, self._scatter_precision(a.path, var))
        inside = a.where.project_out(found.scattered).preimage(found.forms).over((COUNTER,))
        ends = first(inside.complement(), COUNTER, at_least=ONE, within=a.where)
        where = ends.never & Region.of(_AT_LEAST_ONE)
        for region, length in ends.pieces:
            where = where | (region & Region.of(_AT_LEAST_ONE) & Region.of(less_equal(COUNTER, length)))
        return (where & a.where).coalesce(), precision

    def _control_effect(self, path: Path) -> Effect:
        found = self._effects.get(path.id)
        if found is None:
            control = {var: value for var, value in path.update.items() if var in self.view.control}
            whole = effect(control, self.view.unknowns)
            usable = {var: form for var, form in whole.forms.items() if _is_presburger(form)}
            found = Effect(usable, whole.scattered | (whole.forms.keys() - usable.keys()))
            self._effects[path.id] = found
        return found

    def _scatter_precision(self, path: Path, var: Var) -> Precision:
        """How much is lost where nothing is said of ``var`` after an iteration."""
        value = path.update[var]
        others = [path.condition, *(path.update[v] for v in path.update if v in self.view.control and v is not var)]
        if isinstance(value, Var) and value in self.view.unknowns and value.type == var.type:
            if not any(value in other.variables for other in others):
                return Precision.EXACT  # any value of its type indeed, each time anew
            return Precision.INPUT
        from_outside = is_from_outside(value, self.view.outside, self.view.changing)
        return Precision.INPUT if from_outside else Precision.LOGIC


def effect(update: Mapping[Var, Term], unknowns: frozenset[Var]) -> Effect:
    """Closed forms of iterating ``update``; the ``unknowns`` are fresh in each iteration."""
    changed = frozenset(update)
    known = {var: value for var, value in update.items() if not is_from_outside(value, unknowns, changed)}
    lost = set(update) - set(known)
    while True:
        reading = {var for var, value in known.items() if value.variables & lost}
        if not reading:
            break
        lost |= reading
        known = {var: value for var, value in known.items() if var not in reading}
    solution = solve(known, COUNTER)
    forms: dict[Var, Term] = {}
    for var in known:
        form = _form(solution.closed[var]) if var in solution.closed else None
        if form is None:
            lost.add(var)
        else:
            forms[var] = form
    return Effect(forms, frozenset(lost))


def _form(closed: Closed) -> Term | None:
    """The value after k iterations as one term that is right for every k ≥ 1."""
    if closed.term is None or closed.valid_from > _MAX_PREFIX:
        return None
    try:
        result = closed.term
        for k in range(closed.valid_from - 1, 0, -1):
            result = ite(at_most_zero(sub(COUNTER, const(k))), closed.at(k), result)
    except (EvaluationError, TermTooLarge):
        return None
    return result


def _is_presburger(term: Term) -> bool:
    try:
        Region.of(equal(Var("#value", INTEGERS), term))
    except NotPresburger:
        return False
    return True

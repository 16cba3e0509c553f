"""Runs of one path: its repetition k times, what the variables hold then, and how long a run can last.

This is the computation behind Proteus's Algorithm 1. A run of path i ends in path j after k iterations if i's condition
holds before each of them and j's after the last. For conditions that exclude each other that is the least k after which
i's condition fails; where an input chooses, every k up to there.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopless import terms as t
from loopless.automaton.conditions import is_from_outside
from loopless.automaton.regions import Behaviour, Precision, View
from loopless.limits.automaton import MAX_PREFIX, WRAPPED_OPERATIONS
from loopless.logic import BudgetExceeded, NotPresburger, Region, budget, feasible, first_exit
from loopless.paths import Path
from loopless.records import dataclass
from loopless.recurrences import Closed, solve

COUNTER = t.Var("#k", t.INTEGERS)
"""How many iterations of a path run one after the other. No variable of a program has such a name."""

_AT_LEAST_ONE = COUNTER.ge(1)


@dataclass(frozen=True, slots=True)
class IteratedForms:
    """What the variables that a path changes hold after k ≥ 1 iterations of it: ``forms`` over the values before and
    the counter; ``scattered`` are those of which nothing is said.
    """

    forms: Mapping[t.Var, t.Term]
    scattered: frozenset[t.Var]


@dataclass(frozen=True, slots=True)
class _ControlForms:
    """:class:`IteratedForms` on control variables that the logic can express.

    ``within``: simpler forms that are right as long as the path goes on, and outside the variables' ranges after that.
    ``costly``: inequalities about the forms are hard for the logic, since they wrap around many times.
    """

    forms: Mapping[t.Var, t.Term]
    scattered: frozenset[t.Var]
    within: Mapping[t.Var, t.Term]
    costly: bool


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
        self._reached: dict[str, Region] = {}
        self._control_forms_of: dict[str, _ControlForms] = {}
        self._lengths: dict[str, tuple[Region, Precision] | str] = {}
        self._endings: dict[tuple[str, str], Ending | None] = {}

    def follows(self, source: Path, target: Path) -> bool:
        """Whether some iteration of ``source`` may lead to ``target``."""
        fresh = {var: t.Var(f"{var.name} next", var.type) for var in self.view.unknowns}
        try:
            then = t.substitute(target.condition, {**fresh, **source.update})
        except t.TermTooLarge:
            return True
        return feasible(source.condition & then, solver=False)

    def _after(self, a: Behaviour) -> Region:
        """Where one iteration may lead."""
        if a.path.id not in self._reached:
            self._reached[a.path.id] = a.after(a.where).coalesce()
        return self._reached[a.path.id]

    def iterated(self, path: Path) -> IteratedForms:
        """What all variables hold after a run of ``path``."""
        return iterated(path.update, self.view.unknowns)

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
            return self._after(a) & b.where
        found = self._control_forms(a)
        moved = (ending.where & start).image(found.forms).project_out((COUNTER, *found.scattered))
        return (moved & b.where).coalesce()

    def allowance(self, path: Path) -> int:
        """The isl operations that one question about the runs of ``path`` may cost. Raises :class:`BudgetExceeded`."""
        costly = self._control_forms(self.view.behaviour(path)).costly
        return min(self.operations, WRAPPED_OPERATIONS) if costly else self.operations

    def _ending(self, a: Behaviour, b: Behaviour) -> Ending | None:
        after = self._after(a)
        if after.disjoint(b.where):
            return None
        if after.disjoint(a.where):
            precision = max(a.step_precision, b.where_precision)
            where = a.before(b.where) & Region.of(COUNTER.eq(1))
            return Ending(where, single=True, known=True, precision=precision)
        lengths = self._length(a)
        if isinstance(lengths, str):
            return _unclear(a, lengths)
        try:
            with budget(self.allowance(a.path)):
                return self._known_ending(a, b, *lengths)
        except BudgetExceeded:
            return _unclear(a, f"where the runs of path {a.path.id} end takes the logic too long")

    def _known_ending(self, a: Behaviour, b: Behaviour, within: Region, precision: Precision) -> Ending | None:
        found = self._control_forms(a)
        reached = b.where.project_out(found.scattered).preimage(found.forms)
        where = (within & reached).coalesce()
        if where.is_empty():
            return None
        precision = max(precision, b.where_precision)
        unclear = precision is Precision.LOGIC
        reason = f"the logic cannot follow all of path {a.path.id} or of path {b.path.id}" if unclear else ""
        return Ending(where, single=False, known=True, precision=precision, reason=reason)

    def _length(self, a: Behaviour) -> tuple[Region, Precision] | str:
        """The values before a run and the k ≥ 1 such that the path's condition holds before each of k iterations; or
        why that is not known.
        """
        if a.path.id not in self._lengths:
            try:
                with budget(self.allowance(a.path)):
                    self._lengths[a.path.id] = self._compute_length(a)
            except BudgetExceeded:
                self._lengths[a.path.id] = f"how often path {a.path.id} repeats takes the logic too long"
        return self._lengths[a.path.id]

    def _compute_length(self, a: Behaviour) -> tuple[Region, Precision]:
        found = self._control_forms(a)
        precision = a.where_precision
        for var in found.scattered:
            precision = max(precision, self._scatter_precision(a.path, var))
        ends = first_exit(a.where.project_out(found.scattered), found.within, COUNTER, within=a.where)
        where = ends.never & Region.of(_AT_LEAST_ONE)
        for region, length in ends.pieces:
            where = where | (region & Region.of(_AT_LEAST_ONE) & Region.of(COUNTER.le(length)))
        return (where & a.where).coalesce(), precision

    def _control_forms(self, a: Behaviour) -> _ControlForms:
        found = self._control_forms_of.get(a.path.id)
        if found is None:
            found = self._control_forms_of[a.path.id] = self._compute_control_forms(a)
        return found

    def _compute_control_forms(self, a: Behaviour) -> _ControlForms:
        control = {var: value for var, value in a.path.update.items() if var in self.view.control}
        whole = iterated(control, self.view.unknowns)
        forms = {var: form for var, form in whole.forms.items() if _is_presburger(form)}
        scattered = whole.scattered | (whole.forms.keys() - forms.keys())
        wrapping = {var: value for var, value in control.items() if isinstance(value, t.Wrap) and var in forms}
        if wrapping and self._wrapping_leaves(a, wrapping):
            unreduced = {var: value.arg if isinstance(value, t.Wrap) else value for var, value in control.items()}
            plain = iterated(unreduced, self.view.unknowns).forms
            if all(var in plain and _is_presburger(plain[var]) for var in forms):
                once = {var: _wrapped_once(wrapping[var], plain[var]) for var in wrapping}
                return _ControlForms({**forms, **once}, scattered, {var: plain[var] for var in forms}, costly=False)
        costly = any(isinstance(node, t.Wrap) for form in forms.values() for node in t.walk(form))
        return _ControlForms(forms, scattered, forms, costly)

    def _wrapping_leaves(self, a: Behaviour, wrapping: Mapping[t.Var, t.Wrap]) -> bool:
        """Whether the path never follows itself where one of the variables has just wrapped around."""
        for value in wrapping.values():
            try:
                wraps = Region.of(~t.between(value.type.min, value.arg, value.type.max))
            except NotPresburger:
                return False
            if not a.after(a.where & wraps).disjoint(a.where):
                return False
        return True

    def _scatter_precision(self, path: Path, var: t.Var) -> Precision:
        """How much is lost where nothing is said of ``var`` after an iteration."""
        value = path.update[var]
        others = [path.condition, *(path.update[v] for v in path.update if v in self.view.control and v is not var)]
        if isinstance(value, t.Var) and value in self.view.unknowns and value.type == var.type:
            if not any(value in other.variables for other in others):
                return Precision.EXACT  # any value of its type indeed, each time anew
            return Precision.INPUT
        from_outside = is_from_outside(value, self.view.outside, self.view.changing)
        return Precision.INPUT if from_outside else Precision.LOGIC


def _unclear(a: Behaviour, reason: str) -> Ending:
    """Any number of iterations."""
    where = a.where & Region.of(_AT_LEAST_ONE)
    return Ending(where, single=False, known=False, precision=Precision.LOGIC, reason=reason)


def iterated(update: Mapping[t.Var, t.Term], unknowns: frozenset[t.Var]) -> IteratedForms:
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
    forms: dict[t.Var, t.Term] = {}
    for var in known:
        form = _form(solution.closed[var]) if var in solution.closed else None
        if form is None:
            lost.add(var)
        else:
            forms[var] = form
    return IteratedForms(forms, frozenset(lost))


def _form(closed: Closed) -> t.Term | None:
    """The value after k iterations as one term that is right for every k ≥ 1."""
    if closed.term is None or closed.valid_from > MAX_PREFIX:
        return None
    try:
        result = closed.term
        for k in range(closed.valid_from - 1, 0, -1):
            result = t.ite(t.at_most_zero(COUNTER - k), closed.at(k), result)
    except (t.EvaluationError, t.TermTooLarge):
        return None
    return result


def _wrapped_once(value: t.Wrap, plain: t.Term) -> t.Term:
    """``plain`` brought into the range of ``value``, which it leaves with the last iteration only, if at all."""
    type = value.type
    low, high = t.range_of(value.arg)
    if type.width is None or type.min is None or type.max is None or low is None or high is None:
        return t.wrap(plain, type)
    modulus = 1 << type.width
    if low < type.min - modulus or high > type.max + modulus:
        return t.wrap(plain, type)
    below = t.ite(plain.lt(type.min), plain + modulus, plain)
    return t.ite(plain.le(type.max), below, plain - modulus)


def _is_presburger(term: t.Term) -> bool:
    try:
        Region.of(t.Var("#value", t.INTEGERS).eq(term))
    except NotPresburger:
        return False
    return True

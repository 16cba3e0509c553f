"""The largest inductive subset of candidate invariants, by Z3."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from loopless import clock
from loopless import terms as t
from loopless.limits.foundation import PRODUCT_STEPS_PER_MS, STEPS_PER_MS
from loopless.limits.logic import CANDIDATE_CHARGE_S, INDUCTION_CHECK_MS, SPLIT_QUESTION_FACTOR
from loopless.logic.houdini import Kept, Lost, largest_inductive_subset
from loopless.logic.smt import integer_steps_per_ms
from loopless.logic.smt_integers import IntegerTranslation
from loopless.logic.solver import SmtAnswer, Solver
from loopless.logic.steps import Locations, PlaceStep, everywhere
from loopless.logic.strongest import Strongest
from loopless.metering import new_context
from loopless.terms.ideals import (
    Combinations,
    cases_of_constants,
    degree_of,
    eliminated,
    equations,
    excluded_by_cases,
    excluded_by_equations,
    has_products,
    has_products_inside,
    is_one_of_constants,
)
from loopless.terms.relation import behind, pre


def inductive_subset(
    steps: Sequence[PlaceStep],
    candidates: Locations,
    deadline: float,
    *,
    check_ms: int = INDUCTION_CHECK_MS,
    context: Any = None,
) -> dict[str, tuple[t.Condition, ...]]:
    """Of the ``candidates``, those that hold whenever a run comes to their location: each step that keeps those at its
    source makes those at its target true. Steps begin where no candidates are with nothing known.

    At the ``deadline`` (by :func:`loopless.clock.counted`) what is not proved is dropped: what is given back is
    inductive. ``context``: of :func:`solver_context`; None: one of its own.
    """
    import z3  # type: ignore[import-untyped]

    context, strongest = context or new_context(), Strongest()

    def asking(step: PlaceStep, kept: Kept) -> Lost:
        asked = _Asked(z3, step, kept, check_ms, strongest, context)

        def lost(kept: Kept) -> Sequence[t.Condition]:
            if clock.counted() > deadline:
                raise _OutOfTime
            return asked.lost(kept, deadline)

        return lost

    try:
        return largest_inductive_subset(steps, candidates, asking)
    except _OutOfTime:
        return dict.fromkeys(candidates, ())


class _OutOfTime(Exception):
    """The deadline came before all questions were asked."""


def entailed(
    step: PlaceStep,
    given: Sequence[t.Condition],
    wanted: t.Condition,
    check_ms: int = INDUCTION_CHECK_MS,
    context: Any = None,
) -> bool:
    """Whether ``wanted`` surely holds behind the step where ``given`` hold before it."""
    known = Entailing((*(everywhere(step, part) for part in Strongest().needed(given)), step.condition), context)
    return known.entails(behind(step, wanted), check_ms)


def solver_context() -> Any:
    """Where many are asked in turn: a context of the solver for all of them, since one takes 5 ms to make."""
    return new_context()


class Entailing:
    """What is ``given`` of one state, to ask more than once what it entails: it is put to the solver once."""

    def __init__(self, given: Sequence[t.Condition], context: Any = None) -> None:
        self.given, self.context = tuple(given), context
        self._asked: _Incremental | None = None

    def entails(self, wanted: t.Condition, check_ms: int = INDUCTION_CHECK_MS) -> bool:
        """Whether ``wanted`` surely holds of it, too."""
        parts = (*self.given, ~wanted)
        whole = t.conjunction(parts)
        if whole is t.FALSE or excluded_by_equations(parts):
            return True
        cases = cases_of_constants(whole)
        if len(cases) == 1 and eliminated(whole) is whole:
            self._asked = self._asked or _Incremental(self.given, self.context)
            return self._asked.excludes(~wanted, check_ms)
        until = clock.counted() + check_ms / 1000
        for each in cases:
            case = eliminated(each)
            if case is not each and (case is t.FALSE or excluded_by_equations((case,))):
                continue
            left = int(1000 * (until - clock.counted()))
            if left <= 0 or not _Incremental((case,), self.context).excludes(t.TRUE, left):
                return False
        return True


class _Incremental:
    """A solver that is given these."""

    def __init__(self, given: Sequence[t.Condition], context: Any) -> None:
        import z3

        self._solver = Solver(context)
        self._translated = IntegerTranslation(z3, self._solver.context)
        self._solver.tell(*map(self._translated.condition, given))
        self._multiplies = any(map(has_products_inside, given))
        self._told = 0

    def excludes(self, condition: t.Condition, check_ms: int) -> bool:
        """Whether a condition surely does not hold beside what is given."""
        refuted = self._translated.condition(condition)
        self._solver.tell(*self._translated.facts[self._told :])
        self._told = len(self._translated.facts)
        products = self._multiplies or has_products_inside(condition)
        self._solver.limit(check_ms, PRODUCT_STEPS_PER_MS if products else STEPS_PER_MS)
        return self._solver.ask(refuted) is SmtAnswer.NO


class _Asked:
    """The questions about one step."""

    def __init__(
        self,
        z3: Any,
        step: PlaceStep,
        kept: Kept,
        check_ms: int,
        strongest: Strongest,
        context: Any,
    ) -> None:
        self.z3, self.step, self.check_ms, self.strongest, self.context = z3, step, check_ms, strongest, context
        translated = IntegerTranslation(z3, context)
        self.solver, self.plain = Solver(context), Solver(context)
        """``plain`` knows nothing of what is multiplied."""
        self.plainly: set[t.Condition] = set()
        """The candidates at the target that it is asked for."""
        for part in t.conjuncts(step.condition):
            self._add(translated.condition(part), part)
        self.given: dict[t.Condition, Any] = {}
        self.wanted: dict[t.Condition, Any] = {}
        self.after: dict[t.Condition, Any] = {}
        self.products: dict[t.Condition, t.Term] = {}
        """What is to be 0 behind the step, where that is an equation with products."""
        self.multiplies = any(map(has_products_inside, kept.get(step.source, ())))
        self.splits = self.multiplies and any(map(is_one_of_constants, kept.get(step.source, ())))
        """Whether questions fall into cases in which less is multiplied."""
        for index, condition in enumerate(kept.get(step.source, ())):
            flag = self.given[condition] = self.solver.flag(f"given {index}")
            told = everywhere(step, condition)
            self._add(z3.Implies(flag, translated.condition(told)), told)
        for index, condition in enumerate(kept[step.target]):
            flag = self.wanted[condition] = self.solver.flag(f"wanted {index}")
            after = behind(step, condition)
            if isinstance(after, t.Compare) and after.relation == "eq" and has_products_inside(after):
                self.products[condition] = after.term
            self.after[condition] = translated.condition(after)
            if self._add(z3.Implies(flag, z3.Not(self.after[condition])), after):
                self.plainly.add(condition)
        self.solver.tell(*translated.facts)
        self.plain.tell(*translated.facts)
        self.is_plain = not self.multiplies and not has_products_inside(step.condition)
        plain = self.is_plain and len(self.plainly) == len(self.wanted)
        asked = (step.condition, *step.update.values())  # of the candidates few decide an answer
        self.solver.limit(check_ms, integer_steps_per_ms(asked, products=not plain))
        self.plain.limit(check_ms)

    def _add(self, formula: Any, condition: t.Condition) -> bool:
        """Tell the solvers; whether both, since nothing is multiplied in the condition of which it speaks."""
        clock.count(CANDIDATE_CHARGE_S)
        self.solver.tell(formula)
        is_plain = not has_products_inside(condition)
        if is_plain:
            self.plain.tell(formula)
        return is_plain

    def lost(self, kept: Kept, deadline: float) -> list[t.Condition]:
        """The candidates at the target that need not hold behind the step."""
        known = self.strongest.needed(kept.get(self.step.source, ()))
        given = [self.given[condition] for condition in known]
        shown = self._by_equations(kept, known)
        lost: dict[t.Condition, None] = {}
        while True:
            left = [condition for condition in kept[self.step.target] if condition not in lost]
            # What follows from others is asked once these are lost.
            open_ = [condition for condition in self.strongest.needed(left) if condition not in shown]
            if not self.is_plain:
                shown |= self._without_products(given, open_)
                open_ = [condition for condition in open_ if condition not in shown]
            if not open_:
                return list(lost)
            goal = self.z3.Or(*(self.wanted[condition] for condition in open_))
            found, model = self.solver.ask_model(goal, given=given)
            if found is SmtAnswer.NO:
                return list(lost)
            if model is None:
                dropped = self._one_by_one(known, open_, deadline)
                shown |= {condition for condition in open_ if condition not in dropped}
            else:
                false = (c for c in left if self.z3.is_false(model.eval(self.after[c], model_completion=True)))
                dropped = list(false) or open_[:1]
            lost.update(dict.fromkeys(dropped))
            if clock.counted() > deadline:
                return [*lost, *(condition for condition in left if condition not in lost)]

    def _without_products(self, given: list[Any], open_: Sequence[t.Condition]) -> set[t.Condition]:
        """What of this follows without what is known of products, each of which takes time."""
        asked = [condition for condition in open_ if condition in self.plainly]
        while asked:
            goal = self.z3.Or(*(self.wanted[condition] for condition in asked))
            found, model = self.plain.ask_model(goal, given=given)
            if found is SmtAnswer.NO:
                return set(asked)
            if model is None:
                return set()
            asked = [c for c in asked if not self.z3.is_false(model.eval(self.after[c], model_completion=True))]
        return set()

    def _by_equations(self, kept: Kept, given: Sequence[t.Condition]) -> set[t.Condition]:
        """The candidates that are combinations of the equations that are known: products are hard for the solver."""
        hard = [c for c in kept[self.step.target] if c in self.products]
        if not hard:
            return set()
        known = equations((*given, self.step.condition))
        products = {c: term for c in hard if has_products(term := self.products[c])}
        combined = Combinations(known, 1 + max(map(degree_of, (*known, *products.values())), default=1))
        shown = {condition for condition, term in products.items() if combined.has(term)}
        settled = [c for c in given if not isinstance(c, t.Compare) or c.relation == "eq"]
        for condition in hard:
            failing = pre(self.step, ~condition)
            if condition not in shown and excluded_by_cases(t.conjunction((*settled, failing))):
                shown.add(condition)
        return shown

    def _one_by_one(
        self, given: Sequence[t.Condition], open_: Sequence[t.Condition], deadline: float
    ) -> list[t.Condition]:
        """What cannot be proved together is proved alone, or dropped."""
        flags = [self.given[condition] for condition in given]
        dropped = []
        for condition in open_:
            if clock.counted() > deadline:
                dropped.append(condition)
                continue
            found = self.solver.ask(self.wanted[condition], given=flags)
            again = found is SmtAnswer.UNKNOWN and (self.splits or condition in self.products)
            if found is not SmtAnswer.NO and not (
                again and entailed(self.step, given, condition, SPLIT_QUESTION_FACTOR * self.check_ms, self.context)
            ):
                dropped.append(condition)
        return dropped


def needed(
    known: Mapping[str, Sequence[t.Condition]],
    inner: Sequence[PlaceStep],
    goals: Iterable[tuple[PlaceStep, t.Condition]],
    context: Any,
    check_ms: int = 2000,
    until: float = math.inf,
) -> dict[str, tuple[t.Condition, ...]] | None:
    """Of what is ``known``, by place, what the solver's proofs use of the ``goals``, conditions behind steps, and of
    itself behind the ``inner`` steps; None where a proof does not come to an end, or the time is over.
    """
    found: dict[str, dict[t.Condition, None]] = {label: {} for label in known}
    cores: dict[int, Cores] = {}  # by the identity of the step, which each keeps
    waiting = list(goals)
    while waiting:
        step, wanted = waiting.pop()
        if clock.counted() >= until:
            return None
        if id(step) not in cores:
            cores[id(step)] = Cores(step, known.get(step.source, ()), context)
        used = cores[id(step)].of(wanted, check_ms)
        if used is None:
            return None
        for one in used:
            if one not in found[step.source]:
                found[step.source][one] = None
                waiting += [(into, one) for into in inner if into.target == step.source]
    return {label: tuple(conditions) for label, conditions in found.items()}


class Cores:
    """What of ``given`` is enough for one condition behind a step, and for others: it is put to the solver once."""

    def __init__(self, step: PlaceStep, given: Sequence[t.Condition], context: Any = None) -> None:
        import z3

        self._not, self._implies = z3.Not, z3.Implies
        self._step, self._solver = step, Solver(context)
        self._translated = IntegerTranslation(z3, self._solver.context)
        self._solver.tell(self._translated.condition(step.condition))
        self._given = {f"given {index}": condition for index, condition in enumerate(given)}
        for name, condition in self._given.items():
            told = self._translated.condition(everywhere(step, condition))
            self._solver.tell(self._implies(self._solver.flag(name), told))
        self._asked = self._told = 0

    def of(self, wanted: t.Condition, check_ms: int = 2000) -> tuple[t.Condition, ...] | None:
        """The conditions; None where it was not shown."""
        asked = self._solver.flag(f"asked {self._asked}")
        self._asked += 1
        self._solver.limit(check_ms)
        failing = self._not(self._translated.condition(behind(self._step, wanted)))
        self._solver.tell(self._implies(asked, failing), *self._translated.facts[self._told :])
        self._told = len(self._translated.facts)
        flags = [asked, *(self._solver.flag(name) for name in self._given)]
        if self._solver.ask(given=flags) is not SmtAnswer.NO:
            return None
        return tuple(self._given[name] for name in self._solver.core() if name in self._given)

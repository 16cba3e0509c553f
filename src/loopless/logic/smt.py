"""Questions to Z3 about conditions that are not Presburger.

A satisfiable answer is believed only after its model has been evaluated with :func:`loopless.terms.holds`; an
unsatisfiable one rests on Z3 and on translations that never lose a solution. Everything else is UNKNOWN.

Each question has a Z3 context and a seed of its own, so that its answer does not depend on the questions before it.
The limit is one on Z3's own count of steps, which is the same on every machine. Z3 looks at it now and then only:
simplifying very long numbers or terms can overrun it, and a child process is the last fence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from loopless import terms as t
from loopless.limits.foundation import STEPS_PER_MS
from loopless.logic.operators import BIT_OPERATORS
from loopless.logic.smt_bits import BitTranslation
from loopless.logic.smt_integers import IntegerTranslation
from loopless.logic.solver import SmtAnswer, Solver
from loopless.metering import new_context, steps_per_ms
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class Model:
    """Values of variables, and of the elements of memory objects: (object, byte offset, type) to value."""

    values: Mapping[t.Var, int]
    elements: Mapping[tuple[str, int, t.IntType], int]

    def read(self, array: str, offset: int, type: t.IntType) -> int:
        """The element at a byte offset, for :func:`loopless.terms.evaluate`."""
        try:
            return self.elements[array, offset, type]
        except KeyError:
            raise t.EvaluationError(f"the content of {array} at {offset} is not given") from None


@dataclass(frozen=True, slots=True)
class SmtOutcome:
    """An answer; with YES of :func:`satisfiable` a solution, with NO of :func:`valid` a counterexample."""

    answer: SmtAnswer
    model: Model | None = None


def satisfiable(condition: t.Condition, timeout_ms: int = 1000, *, steps: int | None = None) -> SmtOutcome:
    """Whether some values within the types' ranges fulfil ``condition``.

    ``steps`` limits Z3's own steps (default: as many as count as ``timeout_ms``).
    """
    if condition is t.TRUE:
        return SmtOutcome(SmtAnswer.YES, Model({}, {}))
    translations = _translations(condition)
    share = len(translations)
    for kind in translations:
        per_ms = STEPS_PER_MS if kind is BitTranslation else integer_steps_per_ms((condition,))
        outcome = _ask(condition, kind, (steps or timeout_ms * per_ms) // share, per_ms)
        if outcome.answer is not SmtAnswer.UNKNOWN:
            return outcome
    return SmtOutcome(SmtAnswer.UNKNOWN)


def valid(condition: t.Condition, given: t.Condition = t.TRUE, timeout_ms: int = 1000) -> SmtOutcome:
    """Whether ``condition`` holds for all values within the types' ranges for which ``given`` does.

    Values at which a term has no value (a division by zero) count for neither side.
    """
    outcome = satisfiable(given & ~condition, timeout_ms)
    match outcome.answer:
        case SmtAnswer.YES:
            return SmtOutcome(SmtAnswer.NO, outcome.model)
        case SmtAnswer.NO:
            return SmtOutcome(SmtAnswer.YES)
        case SmtAnswer.UNKNOWN:
            return outcome


Translation = type[IntegerTranslation] | type[BitTranslation]


def _translations(condition: t.Condition) -> tuple[Translation, ...]:
    """The translations worth trying, best first."""
    if not BitTranslation.applies(condition):
        return (IntegerTranslation,)
    if any(isinstance(node, t.Op) and node.op in BIT_OPERATORS for node in t.walk(condition)):
        return (BitTranslation,)
    if not any(_is_nonlinear(node) for node in t.walk(condition)):
        return (IntegerTranslation,)
    if any(isinstance(node, t.Wrap) and _is_nonlinear(node.arg) for node in t.walk(condition)):
        return (BitTranslation, IntegerTranslation)
    return (IntegerTranslation, BitTranslation)


def integer_steps_per_ms(asked: Iterable[t.Node], *, products: bool = False) -> int:
    """How many of Z3's steps over the integers count as a millisecond, by what it is ``asked`` about; ``products``:
    something else that it knows multiplies unknowns.
    """
    quotients = 0
    for node in {node for one in asked for node in t.walk(one)}:
        divides = isinstance(node, t.Op) and node.op in t.DIVISIONS
        quotients += divides
        by_unknown = divides and not isinstance(node.children[1], t.Const)
        products = products or by_unknown or _is_nonlinear(node)
    return steps_per_ms(quotients, products=products)


def _is_nonlinear(node: t.Node) -> bool:
    return isinstance(node, t.Sum) and any(sum(exponent for _, exponent in m) > 1 for m, _ in node.items)


def load_solver() -> None:
    """Import Z3 now: processes that are forked from here on have it, where each would take a tenth of a second."""
    import z3  # type: ignore[import-untyped]  # noqa: F401


def _ask(condition: t.Condition, kind: Translation, steps: int, per_ms: int) -> SmtOutcome:
    import z3

    context = new_context()
    translation = kind(z3, context)
    goal = translation.condition(condition)
    solver = Solver(context, "tactics")
    solver.limit_steps(steps, per_ms)
    solver.tell(goal, *translation.facts)
    answer, model = solver.ask_model()
    if model is None:
        return SmtOutcome(answer)
    try:
        return _checked(condition, translation, model)
    except z3.Z3Exception:
        return SmtOutcome(SmtAnswer.UNKNOWN)  # out of its limits in the middle of something


def _checked(condition: t.Condition, translation: IntegerTranslation | BitTranslation, found: Any) -> SmtOutcome:
    """The solver's model as ours, if the condition really holds there; what aggregates come to no model says."""
    if any(isinstance(node, t.Aggregate) for node in t.walk(condition)):
        return SmtOutcome(SmtAnswer.UNKNOWN)
    values = {variable: translation.number(found, known) for variable, known in translation.variables.items()}
    elements = {
        (array, translation.number(found, offset), type_): translation.number(found, element)
        for (array, type_), reads in translation.reads.items()
        for offset, element in reads
    }
    model = Model(values, elements)
    try:
        right = _one_memory(elements) and t.holds(condition, values, model.read)
    except t.EvaluationError:
        right = False
    return SmtOutcome(SmtAnswer.YES, model) if right else SmtOutcome(SmtAnswer.UNKNOWN)


def _one_memory(elements: Mapping[tuple[str, int, t.IntType], int]) -> bool:
    """Whether no two elements of one object overlap without being the same one; values of streams are 1 apart."""
    spans = sorted(
        (array, offset, 1 if t.counts_values(array) else (type_.width or 8) // 8) for array, offset, type_ in elements
    )
    return all(a[0] != b[0] or a[1] + a[2] <= b[1] for a, b in pairwise(spans))

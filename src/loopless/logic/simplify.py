"""Conditions in fewer words, for people."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from loopless import terms as t
from loopless.limits.logic import (
    MIN_ASKED_LENGTH,
    REMEMBERED_VALUELESS,
    RESIDUE_OPERATIONS,
    SIMPLIFICATION_OPERATIONS,
    SIMPLIFICATION_SOLVER_MS,
    SIMPLIFICATION_SOLVER_STEPS,
)
from loopless.logic.engine import BudgetExceeded, budget
from loopless.logic.feasible import feasible, independent
from loopless.logic.region import Region
from loopless.logic.residue_classes import joined_residues
from loopless.logic.smt import satisfiable
from loopless.logic.solver import SmtAnswer
from loopless.logic.translate import is_quasi_affine
from loopless.records import dataclass


def simplify(
    condition: t.Condition, context: t.Condition = t.TRUE, *, operations: int = SIMPLIFICATION_OPERATIONS
) -> t.Condition:
    """A condition that agrees with ``condition`` wherever ``context`` and the type ranges hold, in fewer words.

    Parts that are not Presburger, or cost more than ``operations``, stay as they are, and so does what does not get
    shorter: the words of the source are kept where they are as good. ``context`` is used as far as it is Presburger.
    """
    try:
        with budget(operations) as granted:
            return _simplified(condition, _presburger_parts(context)) if granted else condition
    except BudgetExceeded:
        return condition


def pruned(condition: t.Condition, *, operations: int = SIMPLIFICATION_OPERATIONS) -> t.Condition:
    """``condition`` without the parts that its other parts and the types say anyway: quicker than :func:`simplify`,
    and enough for what the logic has once written down.
    """
    if not is_quasi_affine(condition):
        return condition
    with budget(operations) as granted:
        return _pruned(condition, t.TRUE) if granted else condition


def without_implied(
    condition: t.Condition, context: t.Condition = t.TRUE, *, operations: int = SIMPLIFICATION_OPERATIONS
) -> t.Condition:
    """A condition that agrees with ``condition`` wherever ``context`` and the type ranges hold, without the parts that
    its other parts say anyway, and false where it cannot hold.

    Products, reads and named functions are any values of their ranges, the same ones everywhere. What a part needs to
    have a value, as the range of an index before a read, stays in front of it. What takes more than ``operations``
    stays as it is.
    """
    with budget(operations) as granted:
        if not granted:
            return condition
        if not feasible(context & condition, solver=False):
            return t.FALSE
        return _thinned(condition, tuple(t.conjuncts(context)))


@dataclass(slots=True)
class Questions:
    """How many questions to the solver are left."""

    left: int

    def denied(self, condition: t.Condition) -> bool:
        """Whether ``condition`` surely cannot hold, by the solver; False where no question is left."""
        if self.left <= 0:
            return False
        self.left -= 1
        return (
            satisfiable(condition, SIMPLIFICATION_SOLVER_MS, steps=SIMPLIFICATION_SOLVER_STEPS).answer is SmtAnswer.NO
        )


def without_nonlinear(condition: t.Condition, context: t.Condition, questions: Questions) -> t.Condition:
    """As :func:`without_implied`, of long parts that are not Presburger, by what the solver knows of products."""
    if questions.left <= 0:
        return condition
    given = tuple(t.conjuncts(context))
    arms: list[t.Condition] = []
    for arm in t.disjuncts(condition):
        parts = list(t.conjuncts(arm))
        asked = [part for part in parts if not is_quasi_affine(part) and _written(part) >= MIN_ASKED_LENGTH]
        for part in sorted(asked, key=_written, reverse=True):
            others = [other for other in parts if other is not part]
            if questions.denied(t.conjunction((*_before(part, (*given, *others)), ~part))):
                parts = others
        impossible = len(asked) > 1 and questions.denied(t.conjunction((*given, *parts)))
        arms += [] if impossible else [t.conjunction(parts)]
    return t.disjunction(arms)


def _written(condition: t.Condition) -> int:
    """How long the condition is for who reads it; of very long ones it is enough that they are."""
    return len(t.text(condition)) if t.is_plain(condition) else 10_000


def _thinned(condition: t.Condition, given: tuple[t.Condition, ...]) -> t.Condition:
    match condition:
        case t.And():
            return _thinned_conjunction(_joined(list(condition.args)), given)
        case t.Or():
            return _thinned_disjunction(list(condition.args), given)
        case _:
            return condition


def _thinned_conjunction(parts: list[t.Condition], given: tuple[t.Condition, ...]) -> t.Condition:
    for part in sorted(parts, key=_comparisons)[::-1]:
        others = [other for other in parts if other is not part]
        if _follows(part, *_before(part, (*given, *others))):
            parts = others
    for index, part in enumerate(parts):
        if isinstance(part, t.Or):
            others = [*parts[:index], *parts[index + 1 :]]
            parts[index] = _thinned(part, _before(part, (*given, *others)))
    return t.conjunction(_joined(parts))


def _thinned_disjunction(parts: list[t.Condition], given: tuple[t.Condition, ...]) -> t.Condition:
    for part in parts[::-1]:
        others = [other for other in parts if other is not part]
        rest = t.disjunction(others)
        if _follows(rest, part, *_before(rest, given)):
            parts = others
    return t.disjunction(_thinned(part, given) for part in parts)


def _before(part: t.Condition, others: Iterable[t.Condition]) -> tuple[t.Condition, ...]:
    """Those of the others that may make ``part`` superfluous: what always has a value cannot be left out on the word
    of what may have none.
    """
    return tuple(others) if is_partial(part) else tuple(other for other in others if not is_partial(other))


@lru_cache(maxsize=REMEMBERED_VALUELESS)
def is_partial(condition: t.Condition) -> bool:
    """Whether the condition may have no value where other conditions do not hold: it divides, or reads memory."""
    return t.may_lack_value(condition) or any(isinstance(node, t.Read) for node in t.walk_inside(condition))


def _joined(parts: list[t.Condition]) -> list[t.Condition]:
    """The conjuncts with t <= 0 and -t <= 0 as t == 0, and t <= 0 and t != 0 as t < 0."""
    found: list[t.Condition] = []
    for part in parts:
        for index, other in enumerate(found):
            both = _both(other, part)
            if both is not None:
                found[index] = both
                break
        else:
            found.append(part)
    return found


def _both(first: t.Condition, second: t.Condition) -> t.Condition | None:
    if not isinstance(first, t.Compare) or not isinstance(second, t.Compare):
        return None
    signs = {first.relation, second.relation}
    same, opposite = first.term is second.term, first.term + second.term is t.ZERO
    if signs == {"le"} and opposite:
        return t.equals_zero(first.term)
    if signs == {"le", "ne"} and (same or opposite):
        least = first if first.relation == "le" else second
        return t.at_most_zero(least.term + 1)
    return None


def expanded(condition: t.Condition, context: t.Condition = t.TRUE) -> t.Condition:
    """A Presburger condition that agrees with ``condition`` wherever ``context`` and the type ranges hold, without the
    conjuncts of its arms that the other arms make superfluous: x < 5 || x >= 5 && y > 0 is x < 5 || y > 0.

    Each arm is made as large as it gets by leaving out conjuncts, the longest first, and arms that others contain are
    left out (the steps "expand" and "irredundant" of two-level minimization: Brayton et al., Logic Minimization
    Algorithms for VLSI Synthesis, 1984). Raises :class:`NotPresburger` and :class:`BudgetExceeded`.
    """
    return _expanded(condition, presburger_part(context))


def _expanded(condition: t.Condition, given: Region) -> t.Condition:
    match condition:
        case t.And():
            return _expanded_conjunction(list(condition.args), given)
        case t.Or():
            return _expanded_disjunction(condition, given)
        case _:
            return condition


def _expanded_conjunction(parts: list[t.Condition], given: Region) -> t.Condition:
    for index, part in enumerate(parts):
        if isinstance(part, t.Or):
            within = given & Region.of(t.conjunction((*parts[:index], *parts[index + 1 :])))
            parts[index] = _single(part, within) or _expanded_disjunction(part, within)
    return t.conjunction(parts)


def _single(condition: t.Or, given: Region) -> t.Condition | None:
    """A comparison from within ``condition`` that says as much where ``given`` holds."""
    whole = given & Region.of(condition)
    for one in t.walk(condition):
        if isinstance(one, t.Compare) and (given & Region.of(one)).is_equal(whole):
            return one
    return None


def _expanded_disjunction(condition: t.Or, given: Region) -> t.Condition:
    outside = (Region.universe(condition.variables) & given - Region.of(condition)).joined()
    found: dict[t.Condition, Region] = {}
    for arm in condition.args:
        parts = list(t.conjuncts(arm))
        for part in sorted(parts, key=lambda one: -len(t.text(one))):
            others = [one for one in parts if one is not part]
            if (outside & Region.of(t.conjunction(others))).is_empty():
                parts = others
        larger = t.conjunction(parts)
        found.setdefault(larger, Region.of(larger))
    for arm, region in list(found.items())[::-1]:
        if any(other is not arm and (given & region).is_subset(larger) for other, larger in found.items()):
            del found[arm]
    return t.disjunction(found)


def presburger_part(context: t.Condition) -> Region:
    """What the Presburger conjuncts of the context say: less than it says, which is sound where it is a premise."""
    return Region.of(_presburger_parts(context))


def _presburger_parts(context: t.Condition) -> t.Condition:
    return t.conjunction(part for part in t.conjuncts(context) if is_quasi_affine(part))


def _simplified(condition: t.Condition, given: t.Condition) -> t.Condition:
    if not is_quasi_affine(condition):
        return _by_parts(condition, given)
    if _follows(condition, given):
        return t.TRUE
    # What has nothing in common is no shorter together, and alternatives would multiply.
    parts = t.conjuncts(condition)
    groups = independent(parts) if given is t.TRUE else [condition]
    if len(groups) == 1:
        return _shortened(condition, given)
    place = {part: at for at, part in enumerate(parts)}
    found = [(place[t.conjuncts(group)[0]], one) for group in groups for one in t.conjuncts(_shortened(group, given))]
    return t.conjunction(one for _, one in sorted(found, key=lambda pair: place.get(pair[1], pair[0])))


def _shortened(condition: t.Condition, given: t.Condition) -> t.Condition:
    region = Region.of(condition).gist(Region.of(given)).joined()
    short = shorter(_pruned(condition, given), (region & Region.universe(region.variables)).condition())
    try:
        with budget(RESIDUE_OPERATIONS):
            return min((short, *joined_residues(short, given)), key=_length)
    except BudgetExceeded:
        return short


def _follows(condition: t.Condition, *given: t.Condition) -> bool:
    """Whether ``condition`` surely holds wherever all that is given does. Mostly that is seen without a set: at a point
    where it does not, or by intervals.
    """
    return not feasible(t.conjunction((*given, ~condition)), solver=False)


def _pruned(condition: t.Condition, given: t.Condition) -> t.Condition:
    """``condition``, which is Presburger, without the parts that its other parts and ``given`` say anyway."""
    match condition:
        case t.And():
            return _pruned_conjunction(list(condition.args), given)
        case t.Or():
            return _pruned_disjunction(list(condition.args), given)
        case _:
            return condition


def _pruned_conjunction(parts: list[t.Condition], given: t.Condition) -> t.Condition:
    for part in parts[::-1]:
        others = [other for other in parts if other is not part]
        if _follows(part, given, *others):
            parts = others
    for index, part in enumerate(parts):
        if isinstance(part, t.Or):
            others = [*parts[:index], *parts[index + 1 :]]
            parts[index] = _pruned(part, t.conjunction((given, *others)))
    return t.conjunction(parts)


def _pruned_disjunction(parts: list[t.Condition], given: t.Condition) -> t.Condition:
    for part in parts[::-1]:
        others = [other for other in parts if other is not part]
        if _follows(t.disjunction(others), given, part):
            parts = others
    return t.disjunction(_pruned(part, given) for part in parts)


def _by_parts(condition: t.Condition, given: t.Condition) -> t.Condition:
    match condition:
        case t.And():
            plain, others = _sorted_out(condition.args)
            if plain:
                simple = _simplified(t.conjunction(plain), given)
                # What the other conjuncts are needed for is only where the plain ones hold.
                given = t.conjunction((given, *plain))
                return t.conjunction((simple, *(_by_parts(part, given) for part in others)))
            return t.conjunction(_by_parts(part, given) for part in others)
        case t.Or():
            plain, others = _sorted_out(condition.args)
            kept = [_by_parts(part, given) for part in others]
            return t.disjunction(([_simplified(t.disjunction(plain), given)] if plain else []) + kept)
        case _:
            return condition


def _sorted_out(parts: Iterable[t.Condition]) -> tuple[list[t.Condition], list[t.Condition]]:
    """The Presburger parts and the others."""
    found = {part: is_quasi_affine(part) for part in parts}
    return [part for part, plain in found.items() if plain], [part for part, plain in found.items() if not plain]


def shorter(first: t.Condition, second: t.Condition) -> t.Condition:
    """The one that takes fewer words; the first if they are equally long."""
    return second if _length(second) < _length(first) else first


def _length(condition: t.Condition) -> tuple[int, int]:
    comparisons = _comparisons(condition)
    return comparisons, sum(1 for _ in t.walk(condition))


def _comparisons(condition: t.Condition) -> int:
    """How many comparisons are written out, a shared one at each of its places."""
    count: dict[t.Node, int] = {}
    for node in t.walk(condition, lambda below: not isinstance(below, t.Condition)):
        inside = sum(count[part] for part in node.children if part in count)
        count[node] = 1 if isinstance(node, t.Compare) else inside
    return count[condition]

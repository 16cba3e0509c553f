"""Subsumption: transitions with the same transformer as one. Short runs and ties often are instances of a longer word,
with counts of 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from loopless import terms as t
from loopless.limits.summary import MAX_COMPARED_TRANSITIONS
from loopless.logic import NotPresburger, Region
from loopless.summary.model import Cycle, Interleaving, PathRun, Step
from loopless.summary.transitions.transformer import GuardedTransition, NoIteration, joined

Same = Callable[[t.Term, t.Term], bool]


def gathered(transitions: Sequence[GuardedTransition]) -> list[GuardedTransition]:
    """The transitions, those whose transformer and word are instances of another one's put together with that one.

    Not those with checks on the side: what these require was worked out for the domain that the transition has.
    """
    if len(transitions) < 2 or len(transitions) > MAX_COMPARED_TRANSITIONS:
        return list(transitions)
    fixed = [transition.where.equalities() for transition in transitions]
    # The most general ones come first, so that the others are put together with these.
    order = sorted(range(len(transitions)), key=lambda i: len(fixed[i]))
    fixed = [fixed[i] for i in order]
    kept: list[GuardedTransition | None] = [transitions[i] for i in order]
    for i, transition in enumerate(kept):
        if transition is None or transition.transformer.checked or isinstance(transition.transformer, NoIteration):
            continue
        for j, other in enumerate(kept):
            if (
                other is None
                or other is transition
                or other.transformer.checked
                or isinstance(other.transformer, NoIteration)
            ):
                continue
            if _is_instance(transition, other, fixed[i]):
                whole = other.within((other.where | transition.where).coalesce())
                kept[j] = whole
                fixed[j] = {} if not fixed[j] else whole.where.equalities()
                kept[i] = None
                break
    return [transition for transition in kept if transition is not None]


def _is_instance(transition: GuardedTransition, of: GuardedTransition, equalities: Mapping[t.Var, t.Term]) -> bool:
    """Whether ``of`` describes ``transition`` too: the same values and word wherever ``transition`` applies."""
    if equalities:
        first, second = (_normal(p.transformer.trace(), equalities) for p in (transition, of))
        if first == second:
            return _same_values(transition, of, lambda a, b: t.substitute(a - b, equalities) is t.ZERO)
    first, second = transition.transformer.trace(), of.transformer.trace()
    if _shape(first) != _shape(second):
        return False
    sample = transition.where.sample()
    if sample is None:
        return False
    pairs = list(zip(_times(first), _times(second), strict=True))
    here, everywhere = _agreeing_at(sample), _agreeing(transition.where)
    # One state first: it tells most that differ apart, and asks nothing of the logic.
    return all(all(same(a, b) for a, b in pairs) and _same_values(transition, of, same) for same in (here, everywhere))


def _same_values(transition: GuardedTransition, of: GuardedTransition, same: Same) -> bool:
    if transition.transformer.lost or of.transformer.lost:
        return False
    first = {**transition.transformer.values, **transition.control}
    second = {**of.transformer.values, **of.control}
    # Counters too: a form may have been shortened by what holds on its own domain only.
    compared = ((first.get(v, v), second.get(v, v)) for v in sorted({*first, *second}))
    return all(a is b or same(a, b) for a, b in compared)


def _agreeing_at(sample: Mapping[t.Var, int]) -> Same:
    """Whether two terms are equal in one state, or have no value there that could tell."""

    def same(a: t.Term, b: t.Term) -> bool:
        try:
            return t.evaluate(a, sample) == t.evaluate(b, sample)
        except t.EvaluationError:
            return True

    return same


def _agreeing(where: Region) -> Same:
    """Whether two terms are equal in all points of ``where``; False where the logic cannot say."""

    def same(a: t.Term, b: t.Term) -> bool:
        if a is b:
            return True
        try:
            return (where & Region.of(a.ne(b))).is_empty()
        except NotPresburger:
            return False

    return same


def _shape(steps: Sequence[Step]) -> tuple[object, ...]:
    """The word without its counts."""
    found: list[object] = []
    for step in steps:
        match step:
            case PathRun():
                found.append(step.path)
            case Cycle():
                found.append(step.body)
            case Interleaving():
                found.append(("turns", *step.paths))
    return tuple(found)


def _times(steps: Sequence[Step]) -> list[t.Term]:
    return [step.times for step in steps if step.times is not None]


def _normal(steps: Sequence[Step], equalities: Mapping[t.Var, t.Term]) -> tuple[Step, ...]:
    """The word under the equalities, parts that never run left out, single rounds written out."""
    found: list[Step] = []
    for step in steps:
        times = t.substitute(step.times, equalities) if step.times is not None else None
        if times is t.ZERO:
            continue
        match step:
            case PathRun():
                found.append(PathRun(step.path, times))
            case Cycle():
                if times is t.ONE:
                    found += step.body
                else:
                    found.append(Cycle(step.body, times))
            case Interleaving():
                found.append(Interleaving(step.paths, times))
    return joined(tuple(found))

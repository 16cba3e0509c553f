"""Steps of a program one after the other, over other values, and divided by their choices.

What holds of all guarded updates is in :mod:`loopless.terms.relation`: preimages, which are Dijkstra's weakest
preconditions together with the guard (A Discipline of Programming, 1976), and ways that meet. Here steps keep their
inputs apart, and say what may follow from them. The algebra is that of Tarjan's path expressions (Fast algorithms for
solving path problems, JACM 1981), whose star is :mod:`loopless.transition.star`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from loopless import terms as t
from loopless.limits.verification import MAX_APART
from loopless.terms import relation
from loopless.transition.accesses import giving, over
from loopless.transition.relation import Step


def identity(location: str) -> Step:
    """The step that stays where it is and changes nothing."""
    return Step(location, location, t.TRUE, {}, ())


def given(step: Step, values: Mapping[t.Var, t.Term]) -> Step:
    """The step with terms in place of variables at its source, or of inputs; inputs that are given are none any more.
    What its accesses give keeps its name. Raises :class:`loopless.terms.TermTooLarge`.
    """
    if not values:
        return step
    placed = relation.over(step, values)
    return replace(
        step,
        condition=placed.condition,
        update=placed.update,
        inputs=tuple(one for one in step.inputs if one.var not in values),
        taken=tuple(one for one in step.taken if one.var not in values),
        facts=tuple(t.substitute(fact, values) for fact in step.facts),
        accesses=tuple(over(one, values) if one is not None else None for one in step.accesses),
    )


def named_at(var: t.Var, number: int) -> t.Var:
    """The name that an input has in the step of this number on a path."""
    return t.Var(f"{var.name}@{number}", var.type)


def numbered(step: Step, number: int) -> Step:
    """The step with names of its inputs that no step of another number has."""
    names = {one.var: named_at(one.var, number) for one in (*step.inputs, *step.taken)}
    if not names:
        return step
    renamed = given(step, names)
    return replace(
        renamed,
        inputs=tuple(replace(one, var=names[one.var]) for one in step.inputs),
        taken=tuple(replace(one, var=names[one.var]) for one in step.taken),
        accesses=tuple(giving(one, names) if one is not None else None for one in renamed.accesses),
    )


def compose(first: Step, second: Step) -> Step:
    """Both steps, one after the other. Inputs of the same name are one value: :func:`numbered` tells those of different
    steps apart. Raises :class:`ValueError` where the second does not begin where the first leads;
    :class:`loopless.transition.relation.NothingFollowsError`; :class:`loopless.terms.TermTooLarge`.
    """
    if first.target != second.source:
        raise ValueError(f"a step to {first.target} is not followed by one from {second.source}")
    late = given(second, first.update)
    return replace(
        late,
        source=first.source,
        condition=first.condition & late.condition,
        update={**first.update, **late.update},
        inputs=tuple(dict.fromkeys((*first.inputs, *second.inputs))),
        taken=tuple(dict.fromkeys((*first.taken, *second.taken))),
        accesses=(*first.accesses, *late.accesses),
        facts=tuple(dict.fromkeys((*first.facts, *late.facts))),
        kind=first.kind.then(second.kind),
    )


def rewritten(step: Step, terms: Mapping[t.Term, t.Term]) -> Step:
    """The step with terms in place of others, in its condition and in what it updates."""
    if not terms:
        return step
    update = {var: t.replace_terms(term, terms) for var, term in step.update.items()}
    return replace(step, condition=t.replace_terms(step.condition, terms), update=update)


Cases = Sequence[tuple[t.Condition, Mapping[t.Term, t.Term]]]
"""Conditions of which one holds, each with what terms are under it."""


def divided(
    step: Step,
    cases_of: Callable[[Step], Cases],
    most: int,
    possible: Callable[[t.Condition], bool] = lambda condition: condition is not t.FALSE,
) -> list[Step]:
    """The step as one for each of its cases, as long as it has some and the steps are fewer than ``most``. Those whose
    condition is not ``possible`` are left out.
    """
    waiting, done = [step], list[Step]()
    while waiting:
        one = waiting.pop()
        cases = cases_of(one) if len(waiting) + len(done) < most else ()
        parts = [rewritten(replace(one, condition=one.condition & case), terms) for case, terms in cases]
        waiting.extend(part for part in parts if possible(part.condition))
        if not cases:
            done.append(one)
    return done


def apart(transition: Step) -> list[Step]:
    """The transition as several without choices in what it updates, which make products hard; it alone where these
    would be too many.
    """
    parts = divided(transition, _choices, MAX_APART + 1)
    return parts if len(parts) <= MAX_APART + 1 else [transition]


def _choices(step: Step) -> Cases:
    """The cases of the first choice in what is updated."""
    choice = next((n for term in step.update.values() for n in t.walk(term) if isinstance(n, t.Ite)), None)
    if choice is None:
        return ()
    parts = {part for term in step.update.values() for part in t.walk(term) if isinstance(part, t.Ite)}
    alike = [part for part in parts if part.condition is choice.condition]
    return (
        (choice.condition, {part: part.then for part in alike}),
        (~choice.condition, {part: part.otherwise for part in alike}),
    )

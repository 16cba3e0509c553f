"""The algebra of steps: one after the other, ways that meet, what held before and what holds behind.

A step is a guarded simultaneous update over the state at its source and its inputs. So `pre` is Dijkstra's weakest
precondition of it (A Discipline of Programming, 1976) together with its guard, and `compose` is the product of
relations. The algebra is that of Tarjan's path expressions (Fast algorithms for solving path problems, JACM 1981),
whose star is :mod:`loopless.transition.star`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from loopless import terms as t
from loopless.limits.verification import MAX_APART
from loopless.transition.accesses import over
from loopless.transition.relation import Step

Effect = tuple[t.Condition, Mapping[t.Var, t.Term]]
"""A condition, and the values of variables where it holds."""
_Node = TypeVar("_Node", t.Term, t.Condition)


def identity(location: str) -> Step:
    """The step that stays where it is and changes nothing."""
    return Step(location, location, t.TRUE, {}, ())


def behind(step: Step, node: _Node) -> _Node:
    """A term, or a condition, over the state that the step leads to, as one over the state and inputs before it. Raises
    :class:`loopless.terms.TermTooLarge`.
    """
    return t.substitute(node, step.update)


def pre(step: Step, condition: t.Condition) -> t.Condition:
    """That the step is taken and ``condition`` holds behind it, over the state and inputs before. Raises
    :class:`loopless.terms.TermTooLarge`.
    """
    return step.condition & behind(step, condition)


def given(step: Step, values: Mapping[t.Var, t.Term]) -> Step:
    """The step with terms in place of variables at its source, or of inputs; inputs that are given are none any more.
    What its accesses give keeps its name. Raises :class:`loopless.terms.TermTooLarge`.
    """
    if not values:
        return step
    return replace(
        step,
        condition=t.substitute(step.condition, values),
        update={var: t.substitute(term, values) for var, term in step.update.items()},
        inputs=tuple(one for one in step.inputs if one.var not in values),
        taken=tuple(one for one in step.taken if one.var not in values),
        facts=tuple(t.substitute(fact, values) for fact in step.facts),
        accesses=tuple(
            replace(one, statement=over(one.statement, values)) if one.statement is not None else one
            for one in step.accesses
        ),
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
    accesses = tuple(replace(one, gives=_renamed(one.gives, names)) for one in renamed.accesses)
    return replace(
        renamed,
        inputs=tuple(replace(one, var=names[one.var]) for one in step.inputs),
        taken=tuple(replace(one, var=names[one.var]) for one in step.taken),
        accesses=accesses,
    )


def _renamed(
    gives: tuple[t.Var | None, t.Var | None], names: Mapping[t.Var, t.Var]
) -> tuple[t.Var | None, t.Var | None]:
    value, owner = gives
    return names.get(value, value) if value else None, names.get(owner, owner) if owner else None


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


def join(ways: Sequence[Effect], wanted: Collection[t.Var]) -> Effect:
    """One effect for ways that meet, of the variables that are ``wanted``; their conditions exclude one another."""
    every = [dict.fromkeys(t.conjuncts(condition)) for condition, _ in ways]
    common = [part for part in every[0] if all(part in other for other in every)]
    own = [t.conjunction(part for part in parts if part not in common) for parts in every]
    changed = dict.fromkeys(var for _, values in ways for var in values if var in wanted)
    joined: dict[t.Var, t.Term] = {}
    for var in changed:
        term = ways[-1][1].get(var, var)
        for (_, values), condition in zip(reversed(ways[:-1]), reversed(own[:-1]), strict=True):
            term = t.ite(condition, values.get(var, var), term)
        joined[var] = term
    return t.conjunction((*common, t.disjunction(own))), joined


def apart(transition: Step) -> list[Step]:
    """The transition as several without choices in what it updates, which make products hard; it alone where these
    would be too many.
    """
    waiting, done = [transition], list[Step]()
    while waiting:
        if len(waiting) + len(done) > MAX_APART:
            return [transition]
        one = waiting.pop()
        choice = next((n for term in one.update.values() for n in t.walk(term) if isinstance(n, t.Ite)), None)
        if choice is None:
            done.append(one)
            continue
        for condition in (choice.condition, ~choice.condition):
            whole = one.condition & condition
            if whole is not t.FALSE:
                update = {
                    v: _chosen(term, choice.condition, condition is choice.condition) for v, term in one.update.items()
                }
                waiting.append(replace(one, condition=whole, update=update))
    return done


def _chosen(term: t.Term, condition: t.Condition, holds: bool) -> t.Term:  # noqa: FBT001  which branch
    choices = [n for n in t.walk(term) if isinstance(n, t.Ite) and n.condition is condition]
    return t.replace_terms(term, {n: n.then if holds else n.otherwise for n in choices}) if choices else term

"""The relation between states before and after a step, and its algebra: composition, join, and preimages.

A step is a guarded simultaneous assignment: where its ``condition`` holds of the values before, the variables of
``update`` take these values, and others keep theirs. Paths through iterations, transitions between cutpoints, linear
transitions and edges of products are such steps, each with more that is told of it. What is done with them is done
here: the preimage of a condition, one step after another, ways that meet as one step, and a step over other values.
A loop's closure is its summary (:mod:`loopless.summary`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, overload

from loopless.records import dataclass
from loopless.terms.build import ite, sub
from loopless.terms.conditions import conjunction, conjuncts, disjunction
from loopless.terms.nodes import ZERO, Condition, Node, Term, Var
from loopless.terms.substitute import substitute, substituted

Update = Mapping[Var, Term]
"""What variables become, all at once, over the values before; others keep theirs."""


class Guarded(Protocol):
    """A step: where ``condition`` holds, ``update`` says what variables become."""

    @property
    def condition(self) -> Condition: ...

    @property
    def update(self) -> Update: ...


@dataclass(frozen=True, slots=True)
class GuardedUpdate:
    """A step and nothing else."""

    condition: Condition
    update: Update


@overload
def behind(step: Guarded, node: Term) -> Term: ...
@overload
def behind(step: Guarded, node: Condition) -> Condition: ...
def behind(step: Guarded, node: Node) -> Node:
    """What a term or a condition is behind the step, over the values before it. Raises :class:`.TermTooLarge`."""
    return substituted(node, step.update)


def pre(step: Guarded, condition: Condition) -> Condition:
    """The states in which the step is taken and leads to where ``condition`` holds: its preimage. What the step takes
    from outside stays free in it. Raises :class:`.TermTooLarge`.
    """
    return step.condition & substitute(condition, step.update)


def added(step: Guarded, var: Var) -> Term:
    """What the step adds to a variable."""
    return sub(step.update[var], var) if var in step.update else ZERO


def followed(first: Update, second: Update) -> dict[Var, Term]:
    """The update that does ``first`` and behind it ``second``. Raises :class:`.TermTooLarge`."""
    return {**first, **{var: substitute(term, first) for var, term in second.items()}}


def compose(first: Guarded, second: Guarded, fresh: Update | None = None) -> GuardedUpdate:
    """``first`` and behind it ``second``, as one step. ``fresh``: names for what ``second`` takes from outside, apart
    from those of ``first``. Raises :class:`.TermTooLarge`.
    """
    values = {**first.update, **fresh} if fresh else first.update
    condition = first.condition & substitute(second.condition, values)
    return GuardedUpdate(condition, {**first.update, **{v: substitute(x, values) for v, x in second.update.items()}})


def over(step: Guarded, values: Update) -> GuardedUpdate:
    """The step where variables and inputs have these ``values``. Raises :class:`.TermTooLarge`."""
    update = {var: substitute(term, values) for var, term in step.update.items()}
    return GuardedUpdate(substitute(step.condition, values), update)


def join(steps: Sequence[Guarded], wanted: frozenset[Var] | None = None) -> GuardedUpdate:
    """One step for all, whose conditions exclude one another: what they share holds, and of the rest that of one; a
    value is a choice between theirs. ``wanted``: the variables that matter behind it, by default all.
    """
    if len(steps) == 1:
        (only,) = steps
        return GuardedUpdate(only.condition, only.update)
    every = [dict.fromkeys(conjuncts(step.condition)) for step in steps]
    common = [part for part in every[0] if all(part in other for other in every)]
    own = [conjunction(part for part in parts if part not in common) for parts in every]
    changed = dict.fromkeys(var for step in steps for var in step.update if wanted is None or var in wanted)
    update: dict[Var, Term] = {}
    for var in changed:
        term = steps[-1].update.get(var, var)
        for step, condition in zip(reversed(steps[:-1]), reversed(own[:-1]), strict=True):
            term = ite(condition, step.update.get(var, var), term)
        update[var] = term
    return GuardedUpdate(conjunction((*common, disjunction(own))), update)


def computed_from(variables: frozenset[Var], steps: Iterable[Guarded]) -> frozenset[Var]:
    """The variables, and all that the steps compute them from, at once or in turn."""
    updates = [step.update for step in steps]
    found, more = frozenset[Var](), variables
    while more != found:
        found = more
        more = found.union(*(update[var].variables for update in updates for var in found & update.keys()))
    return found

"""What ways do to variables, as far as sums over counters say it: what they add, or what they set it to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from loopless import terms as t
from loopless.logic.steps import INPUT
from loopless.navigation.product import Product
from loopless.records import dataclass
from loopless.terms.relation import added
from loopless.transition.relation import Step, TransitionSystem


@dataclass(frozen=True, slots=True)
class EdgeChange:
    """What a step does to a variable: to add from ``low`` to ``high`` (None: without limit), or to set it to
    ``reset`` (None: to anything).
    """

    low: int | None = 0
    high: int | None = 0
    sets: bool = False
    reset: t.Term | None = None


def changes_of(
    product: Product, system: TransitionSystem, inside: Mapping[int, Step], variables: Iterable[t.Var]
) -> dict[t.Var, dict[int, EdgeChange]]:
    """By variable and number of the step, what the steps of one component do."""
    moving = {var for step in inside.values() for var in step.update}
    return {var: {n: _change(product, system, step, var, moving) for n, step in inside.items()} for var in variables}


def _change(product: Product, system: TransitionSystem, step: Step, var: t.Var, moving: set[t.Var]) -> EdgeChange:
    becomes = product.held(step.target, var)
    if becomes is not None:
        return EdgeChange(sets=True, reset=becomes)
    term = step.update.get(var)
    if term is None:
        held = product.held(step.source, var)
        if held is not None:
            return EdgeChange(sets=True, reset=held)
        matters = var in system.state.get(product.nodes[step.source].label, ())
        return EdgeChange() if matters else EdgeChange(sets=True)
    if var in term.variables:
        rest = added(step, var)
        return EdgeChange(None, None) if var in rest.variables else EdgeChange(*t.range_of(rest))
    stays = not any(isinstance(part, t.Read) for part in t.walk(term)) and not term.variables & moving
    stays = stays and not any(v.name.startswith(INPUT) for v in term.variables)
    return EdgeChange(sets=True, reset=term if stays else None)


def moved_by(start: t.Term, end: t.Term, changes: Sequence[tuple[EdgeChange, t.Term]]) -> t.Condition:
    """Whether ``end`` can be what ``start`` becomes by so many changes that add."""
    parts = []
    if all(change.low is not None for change, _ in changes):
        parts.append(end.ge(t.add(start, *((c.low or 0) * n for c, n in changes))))
    if all(change.high is not None for change, _ in changes):
        parts.append(end.le(t.add(start, *((c.high or 0) * n for c, n in changes))))
    return t.conjunction(parts)


def set_from(  # noqa: PLR0917  what a component has
    taken: tuple[int, Step],
    var: t.Var,
    changes: Mapping[t.Var, Mapping[int, EdgeChange]],
    entry: Mapping[t.Var, t.Term],
    often: Mapping[int, t.Term],
    since: Mapping[int, t.Term],
    new: Callable[..., t.Term],
) -> tuple[t.Term, list[t.Condition]] | None:
    """What a step, ``taken`` with its number, sets a variable to where it does so for the last time, from others that
    are only added to, and what holds then; None where nothing is known of that. ``often``: how often each step is
    taken, ``since``: of those that add to the variable, how often behind that.
    """
    own, step = taken
    term = step.update.get(var)
    if term is None or any(isinstance(part, (t.Read, t.Aggregate)) for part in t.walk(term)):
        return None
    if not all(v in entry and not any(change.sets for change in changes[v].values()) for v in term.variables):
        return None
    before = {number: new("before") for number in often}
    held: list[t.Condition] = []
    for number, count in before.items():
        later = [since[number]] if number in since else []
        last = [t.const(1)] if number == own else []
        held += [count.ge(0), t.add(count, *later, *last).le(often[number])]
    values: dict[t.Term, t.Term] = {}
    for v in sorted(term.variables, key=lambda one: one.key):
        values[v] = new(v.name, v.type)
        held.append(moved_by(entry[v], values[v], [(changes[v][number], count) for number, count in before.items()]))
    return t.replace_terms(term, values), held

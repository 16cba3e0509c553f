"""Guarded transitions: one after another, on a part of their domain, divided, written as plainly as they can be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from loopless import terms as t
from loopless.limits.summary import MAX_COSTLY_DOMAIN_PARTS, MAX_DOMAIN_PARTS, MAX_STEP_VALUES, MAX_TRANSITION_CHOICES
from loopless.logic import NotPresburger, Region, pieces_of
from loopless.summary.rewrite.auxiliary import later, named
from loopless.summary.transitions.transformer import GuardedTransition, NoIteration, Then, Values


def composed(first: GuardedTransition, second: GuardedTransition, region: Region) -> GuardedTransition:
    """``second`` after ``first``, on ``region``."""
    if isinstance(second.transformer, NoIteration):
        return first.within(region)
    control = dict(first.control)
    for var, term in second.control.items():
        control[var] = named(later(term, first.control))
    equalities = region.equalities()
    return GuardedTransition(region, _recognised_steps(control, equalities), Then(first, second, equalities))


def is_translation(transition: GuardedTransition) -> bool:
    """Whether every control variable moves by a constant."""
    return all(isinstance(term - var, t.Const) for var, term in transition.control.items())


def _recognised_steps(control: Values, equalities: Values) -> dict[t.Var, t.Term]:
    """The values, those written as steps that are steps because of the equalities."""
    found = dict(control)
    if not equalities:
        return found
    for var, term in control.items():
        if not _is_step(var, term):
            value = t.substitute(term, equalities)
            moved = t.substitute(term - var, equalities)
            if isinstance(value, t.Const):
                found[var] = value
            elif isinstance(moved, t.Const):
                found[var] = var + moved
    return found


def simplified(control: Values, region: Region) -> dict[t.Var, t.Term]:
    """The values with those that the region fixes, or that move by a constant there, written so."""
    found = {}
    for var, term in control.items():
        found[var] = term if _is_step(var, term) else _recognised(var, term, region)
    return found


def _is_step(var: t.Var, term: t.Term) -> bool:
    return isinstance(term, t.Const | t.Var) or isinstance(term - var, t.Const)


def _recognised(var: t.Var, term: t.Term, region: Region) -> t.Term:
    try:
        low, high = region.range_of(term)
        if low is not None and low == high:
            return t.const(low)
        low, high = region.range_of(term - var)
    except (NotPresburger, ValueError):
        return term
    if low is not None and low == high:
        return var + low
    return term


def resolved(transition: GuardedTransition) -> list[GuardedTransition]:
    """The transition split so that no control variable's value is a choice."""
    result = [transition]
    for var, term in transition.control.items():
        if not any(_is_choice(node) for node in t.walk(term)):
            continue
        parts: list[GuardedTransition] = []
        for part in result:
            for region, value in pieces_of(term, part.where):
                parts.append(GuardedTransition(region, {**part.control, var: value}, part.transformer))
        result = parts
    return result


def _is_choice(node: object) -> bool:
    return isinstance(node, t.Ite) or (isinstance(node, t.Op) and node.op in ("min", "max"))


def chosen(transition: GuardedTransition) -> list[GuardedTransition]:
    """The transition split by the conditions that its values choose by, as they stand there."""
    result: list[GuardedTransition] = []
    waiting = [transition]
    while waiting:
        part = waiting.pop()
        choice = next((c for term in part.control.values() for c in _choices(term)), None)
        if choice is None or len(result) + len(waiting) >= MAX_TRANSITION_CHOICES:
            result.append(part)
            continue
        for holds in (False, True):
            here = part.where & Region.of(choice if holds else ~choice)
            if not here.is_empty():
                control = {var: decided(term, choice, holds=holds) for var, term in part.control.items()}
                waiting.append(GuardedTransition(here.coalesce(), control, part.transformer))
    return result


def _choices(term: t.Term) -> Iterator[t.Condition]:
    for node in t.walk(term):
        if isinstance(node, t.Ite):
            try:
                Region.of(node.condition)
            except NotPresburger:
                continue
            yield node.condition


def decided(term: t.Term, choice: t.Condition, *, holds: bool) -> t.Term:
    """``term`` where the condition of some of its choices is known."""
    nodes = [node for node in t.walk(term) if isinstance(node, t.Ite) and node.condition is choice]
    return t.replace_terms(term, {node: node.then if holds else node.otherwise for node in nodes}) if nodes else term


def convex(transition: GuardedTransition) -> list[GuardedTransition] | None:
    """The transition on each convex part of its domain; None if it has only one, or too many."""
    parts = transition.where.coalesce().made_disjoint().split()
    if not 1 < len(parts) <= MAX_DOMAIN_PARTS:
        return None
    return [GuardedTransition(part, simplified(transition.control, part), transition.transformer) for part in parts]


def divided(transition: GuardedTransition) -> list[GuardedTransition] | None:
    """The transition by the remainders in its domain that its steps change, else on its convex parts; None if it has
    only one of them, or too many.
    """
    classes: dict[tuple[t.Term, int], None] = {}
    for node in t.walk(transition.where.rough_condition()):
        if isinstance(node, t.Op) and node.op == "mod" and isinstance(node.args[1], t.Const):
            dividend, modulus = node.args[0], node.args[1].value
            moved = later(dividend, transition.control) - dividend
            if 1 < modulus <= MAX_COSTLY_DOMAIN_PARTS and isinstance(moved, t.Const) and moved.value % modulus:
                classes.setdefault((dividend - t.polynomial(dividend).get((), 0), modulus))
    parts = [transition]
    for dividend, modulus in classes:
        if len(parts) * modulus > 4 * MAX_COSTLY_DOMAIN_PARTS:
            break
        remainders = [(dividend % modulus).eq(r) for r in range(modulus)]
        parts = [part for whole in parts for part in _parts(whole, remainders)]
    if len(parts) == 1:
        found = [transition.within(part) for part in transition.where.coalesce().made_disjoint().split()]
        parts = [part for part in found if not part.where.is_empty()]
    return parts if 1 < len(parts) <= MAX_COSTLY_DOMAIN_PARTS else None


def by_one_way_borders(transitions: Sequence[GuardedTransition]) -> list[GuardedTransition]:
    """The transitions, each on either side of the borders in their domains that are crossed in one direction only.

    No cycle of transitions then leads over such a border.
    """
    borders: dict[t.Condition, None] = {}
    for transition in transitions:
        for node in t.walk(transition.where.rough_condition()):
            if isinstance(node, t.Compare) and node.relation == "le" and ~node not in borders:
                moves = [later(node.term, other.control) - node.term for other in transitions]
                signs = {(move.value > 0) - (move.value < 0) for move in moves if isinstance(move, t.Const)}
                if all(isinstance(move, t.Const) for move in moves) and signs not in ({0}, {-1, 1}, {-1, 0, 1}):
                    borders.setdefault(node)
    found = list(transitions)
    for border in borders:
        parts = [part for transition in found for part in _parts(transition, (border, ~border))]
        if len(parts) <= MAX_COSTLY_DOMAIN_PARTS:
            found = parts
    return found


def split(transition: GuardedTransition) -> list[GuardedTransition] | None:
    """The transition by the values of a step that is no translation, or by whether it changes anything; None if neither
    divides it.
    """
    for var, term in sorted(transition.control.items()):
        if _is_step(var, term):
            continue
        for measured in _measures(var, term):
            try:
                low, high = transition.where.range_of(measured)
            except (NotPresburger, ValueError):
                continue
            if low is None or high is None or not 0 < high - low < MAX_STEP_VALUES:
                continue
            return _parts(transition, [measured.eq(number) for number in range(low, high + 1)])
        resting = term.eq(var)
        parts = _parts(transition, [resting, ~resting])
        if len(parts) == 2:
            return parts
    return None


def _parts(transition: GuardedTransition, conditions: Iterable[t.Condition]) -> list[GuardedTransition]:
    """The transition where each of the conditions holds, those left out where none can."""
    found = []
    for condition in conditions:
        here = transition.where & Region.of(condition)
        if not here.is_empty():
            here = here.coalesce()
            found.append(GuardedTransition(here, simplified(transition.control, here), transition.transformer))
    return found


def _measures(var: t.Var, term: t.Term) -> list[t.Term]:
    """What may be counted: the step itself, the value, the quotients in it."""
    quotients = [node for node in t.walk(term) if isinstance(node, t.Op) and node.op in ("floor_div", "mod")]
    return [term - var, term, *quotients]

"""Conditions and values that are not Presburger, in plainer words where they can be had.

min(0, n - 1) is 0 where n > 0 holds; floor_div(n*n + n, 2) <= 2147483647 is -65536 <= n <= 65535, since a polynomial of
one variable is at most something on intervals. What was not Presburger often is it afterwards, and then the logic can
shorten the whole. Results are equivalent where the types' ranges and the context hold.
"""

from __future__ import annotations

from typing import TypeVar

from loopless import terms as t
from loopless.limits.summary import MAX_DECIDED_DISJUNCTIONS, MAX_SHORTENING_ROUNDS, MAX_WHOLE_NODES, PLAINER_OPERATIONS
from loopless.logic import (
    BudgetExceeded,
    EmptyRegion,
    NotPresburger,
    Region,
    budget,
    expanded,
    is_quasi_affine,
    presburger_part,
    shorter,
    simplify,
)
from loopless.logic.abstraction import Abstraction
from loopless.summary.rewrite.univariate import as_intervals, between_signs

_Node = TypeVar("_Node", t.Term, t.Condition)


def plainer(
    condition: t.Condition, given: t.Condition = t.TRUE, *, operations: int = PLAINER_OPERATIONS
) -> t.Condition:
    """A condition that agrees with ``condition`` wherever ``given`` and the types' ranges hold.

    Presburger conditions stay as they are. ``given`` is used as far as it is Presburger. ``operations`` bounds the work
    of the logic; beyond it the condition stays as it is.
    """
    if is_quasi_affine(condition):
        return condition
    try:
        with budget(operations):
            return _shortened(_plainer(condition, presburger_part(given)), given)
    except (BudgetExceeded, t.TermTooLarge):
        return condition


def decided(term: t.Term, given: t.Condition, *, operations: int = PLAINER_OPERATIONS) -> t.Term:
    """``term`` with the minima, maxima and choices that come out one way wherever ``given`` holds replaced by what they
    are there. ``given`` is used as far as it is Presburger.
    """
    if not _choices(term):
        return term
    try:
        with budget(operations):
            return _decided(term, presburger_part(given))
    except (BudgetExceeded, t.TermTooLarge):
        return term


def _plainer(condition: t.Condition, given: Region) -> t.Condition:
    match condition:
        case t.And():
            return _conjunction(condition, given)
        case t.Or():
            return _disjunction(condition, given)
        case t.Compare() if not is_quasi_affine(condition.term):
            return _comparison(condition, given)
        case _:
            return condition


def _conjunction(condition: t.Condition, given: Region) -> t.Condition:
    for _ in range(MAX_SHORTENING_ROUNDS):
        if not isinstance(condition, t.And):
            return condition
        plain = [part for part in condition.args if is_quasi_affine(part)]
        others = [part for part in condition.args if part not in plain]
        within = given & Region.of(t.conjunction(plain))
        if within.is_empty():
            return t.FALSE
        found = t.conjunction((*plain, *(_plainer(part, within) for part in others)))
        if found is condition:
            break
        condition = found
    return condition


def _disjunction(condition: t.Or, given: Region) -> t.Condition:
    plain = [part for part in condition.args if is_quasi_affine(part)]
    if plain:  # where one of these holds the others need not
        given = given & Region.of(t.conjunction(map(t.negate, plain)))
        if given.is_empty():
            return t.disjunction(plain)
    return t.disjunction((*plain, *(_plainer(part, given) for part in condition.args if part not in plain)))


def _shortened(condition: t.Condition, given: t.Condition) -> t.Condition:
    """The condition in fewer words, its products and named functions being any values of their ranges."""
    if is_quasi_affine(condition):
        return simplify(condition, given)
    size = sum(1 for _ in t.walk(condition))
    if (
        size > MAX_WHOLE_NODES
        or not any(isinstance(node, t.Or) for node in t.walk(condition))
        or _is_partial(condition)
    ):
        return condition
    names = Abstraction()
    named = names.condition(condition)
    known = t.conjunction((names.bounds(), *map(_signs, names.unknowns, names.unknowns.values()), given))
    simple = expanded(simplify(named, known), known)
    return shorter(condition, t.substitute(simple, {name: term for term, name in names.unknowns.items()}))


def _signs(term: t.Term, name: t.Var) -> t.Condition:
    """What the signs of two factors say about their product, of which ``name`` is the value."""
    ((monomial, _),) = t.polynomial(term).items()
    if len(monomial) != 2 or any(exponent != 1 or not is_quasi_affine(factor) for factor, exponent in monomial):
        return t.TRUE
    first, second = (factor for factor, _ in monomial)
    none = [t.equals_zero(factor) & t.equals_zero(name) for factor in (first, second)]
    some = [
        t.conjunction(t.at_most_zero(one * -sign + 1) for one, sign in ((first, a), (second, b), (name, a * b)))
        for a in (1, -1)
        for b in (1, -1)
    ]
    return t.disjunction((*none, *some))


def _is_partial(condition: t.Condition) -> bool:
    """Whether the condition may have no value where others of its parts do not hold."""
    return t.may_lack_value(condition) or any(isinstance(node, t.Read) for node in t.walk_inside(condition))


def _comparison(condition: t.Compare, given: Region) -> t.Condition:
    found = _decided(condition, given)
    if not isinstance(found, t.Compare):
        return found
    without = _without_quotient(found, given)
    for one in dict.fromkeys((found, without)):
        other = _on_intervals(one, given)
        if is_quasi_affine(other):
            return other
    return without


def _on_intervals(condition: t.Condition, given: Region) -> t.Condition:
    """A comparison of one variable as intervals of that variable within ``given``; itself where it is not found out."""
    if not isinstance(condition, t.Compare) or len(condition.variables) != 1:
        return condition
    choices = _choices(condition)
    if choices:
        return _by_arms(condition, choices[0], given) if len(choices) <= MAX_DECIDED_DISJUNCTIONS else condition
    (variable,) = condition.variables
    try:
        low, high = given.range_of(variable)
        return as_intervals(condition) if low is None else between_signs(condition, variable, low, high)
    except EmptyRegion:
        return t.FALSE


def _by_arms(condition: t.Compare, choice: t.Op | t.Ite, given: Region) -> t.Condition:
    """The comparison for each value of a choice that is made by the same variable."""
    arms: list[t.Condition] = []
    for where, value in _arms(choice):
        if not is_quasi_affine(where):
            return condition
        within = given & Region.of(where)
        if not within.is_empty():
            found = _plainer(t.replace_terms(condition, {choice: value}), within)
            if not is_quasi_affine(found):
                return condition
            arms.append(where & found)
    return t.disjunction(arms)


def _arms(choice: t.Op | t.Ite) -> list[tuple[t.Condition, t.Term]]:
    """Where the choice has which value."""
    if isinstance(choice, t.Ite):
        return [(choice.condition, choice.then), (~choice.condition, choice.otherwise)]
    found = []
    for arg in choice.args:
        others = [other for other in choice.args if other is not arg]
        ends = ((arg, other) if choice.op == "min" else (other, arg) for other in others)
        found.append((t.conjunction(t.less_equal(*pair) for pair in ends), arg))
    return found


def _decided(node: _Node, given: Region) -> _Node:
    """``node`` without the choices that ``given`` decides; from the inside, since what is inside may become affine."""
    for _ in range(MAX_SHORTENING_ROUNDS):
        replaced: dict[t.Term, t.Term] = {
            one: other for one in _choices(node) if (other := _chosen(one, given)) is not one
        }
        if not replaced:
            break
        node = t.replace_terms(node, replaced)
    return node


def _choices(node: t.Term | t.Condition) -> list[t.Op | t.Ite]:
    return [
        one for one in t.walk(node) if isinstance(one, t.Ite) or (isinstance(one, t.Op) and one.op in ("min", "max"))
    ]


def _chosen(choice: t.Op | t.Ite, given: Region) -> t.Term:
    if isinstance(choice, t.Ite):
        if _holds(choice.condition, given):
            return choice.then
        return choice.otherwise if _holds(~choice.condition, given) else choice
    left = list(choice.args)
    for arg in choice.args:
        for other in left:
            ends = (other, arg) if choice.op == "min" else (arg, other)
            if other is not arg and _holds(t.less_equal(*ends), given):
                left.remove(arg)
                break
    if len(left) == len(choice.args):
        return choice
    return (t.minimum if choice.op == "min" else t.maximum)(*left)


def _holds(condition: t.Condition, given: Region) -> bool:
    """Whether the condition holds on all of ``given``; False where it is not Presburger."""
    try:
        return given.is_subset(Region.of(condition))
    except NotPresburger:
        return False


def _without_quotient(condition: t.Compare, given: Region) -> t.Condition:
    """c·floor(p/d) + r <= 0 as a comparison of p where that is one: floor(p/d) <= -r iff p <= d - 1 - d·r, d > 0."""
    if condition.relation != "le":
        return condition
    poly = t.polynomial(condition.term)
    quotients = [m for m in poly if any(isinstance(a, t.Op) and a.op == "floor_div" for a, _ in m)]
    if len(quotients) != 1 or len(quotients[0]) != 1 or quotients[0][0][1] != 1:
        return condition
    factor = poly.pop(quotients[0])
    quotient = quotients[0][0][0]
    assert isinstance(quotient, t.Op)
    dividend, divisor = quotient.args
    if not _holds(divisor.ge(1), given):
        if not _holds(divisor.le(-1), given):
            return condition
        dividend, divisor = -dividend, -divisor
    rest = t.from_polynomial(poly)
    if abs(factor) != 1:
        if not isinstance(rest, t.Const):
            return condition
        # The quotient is an integer: what bounds it may be rounded.
        rest = t.const(-(-rest.value // abs(factor)))
    if factor > 0:
        return t.at_most_zero(dividend + divisor * rest + (1 - divisor))
    return t.at_most_zero(divisor * rest - dividend)

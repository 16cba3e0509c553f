"""Constructors of conditions: comparisons in canonical form (term ≤ 0, = 0, ≠ 0), negation normal form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import gcd
from typing import assert_never

from loopless.limits.terms import MAX_LIFTED_DEPTH, MAX_SIGN_DEPTH
from loopless.terms.build import add, const, from_polynomial, neg, polynomial, scale, sub
from loopless.terms.nodes import (
    FALSE,
    ONE,
    TRUE,
    And,
    Compare,
    Condition,
    Const,
    Ite,
    Node,
    Or,
    Sum,
    Term,
    Truth,
    walk,
)
from loopless.terms.term_ranges import range_of


def truth(value: bool) -> Truth:  # noqa: FBT001  the value is all there is
    """The condition that is always ``value``."""
    return TRUE if value else FALSE


def at_most_zero(term: Term) -> Condition:
    """``term ≤ 0``, divided by the common factor of its coefficients (which tightens it over the integers)."""
    low, high = range_of(term)
    if high is not None and high <= 0:
        return TRUE
    if low is not None and low > 0:
        return FALSE
    lifted = _lift_choice("le", term)
    if lifted is not None:
        return lifted
    poly = polynomial(term)
    common = gcd(*(c for m, c in poly.items() if m))
    if common > 1:
        # Σ c·m + k ≤ 0  ⇔  Σ (c/g)·m ≤ floor(-k/g)
        term = from_polynomial({m: (c // common if m else -(-c // common)) for m, c in poly.items()})
    return Compare("le", term)


def equals_zero(term: Term) -> Condition:
    """``term = 0``."""
    low, high = range_of(term)
    if low == 0 == high:
        return TRUE
    if (low is not None and low > 0) or (high is not None and high < 0):
        return FALSE
    lifted = _lift_choice("eq", term)
    if lifted is not None:
        return lifted
    reduced = _reduced_equality(term)
    return FALSE if reduced is None else Compare("eq", reduced)


def not_zero(term: Term) -> Condition:
    """``term ≠ 0``."""
    return negate(equals_zero(term))


def _reduced_equality(term: Term) -> Term | None:
    """The term divided by its content, leading coefficient positive; None where it cannot be 0."""
    poly = polynomial(term)
    common = gcd(*(c for m, c in poly.items() if m))
    constant = poly.get((), 0)
    if common and constant % common:
        return None
    if common > 1:
        poly = {m: c // common for m, c in poly.items()}
    reduced = from_polynomial(poly)
    leading = reduced.items[0][1] if isinstance(reduced, Sum) else 1
    return neg(reduced) if leading < 0 else reduced


_lifted: dict[tuple[str, Term], Condition | None] = {}
"""Choices between choices share parts: each is lifted once."""


def _lift_choice(relation: str, term: Term) -> Condition | None:
    """c·ite(p, a, b) + k ~ 0 as a condition on p, where a and b are constants or their ranges decide: what a flag
    compared with 0 means, or a value of which the sign is known.
    """
    key = (relation, term)
    if key not in _lifted:
        _lifted[key] = _lift(relation, term)
    return _lifted[key]


def _lift(relation: str, term: Term) -> Condition | None:
    poly = polynomial(term)
    monomials = [m for m in poly if m]
    if len(monomials) != 1 or len(monomials[0]) != 1 or monomials[0][0][1] != 1:
        return None
    choice = monomials[0][0][0]
    if not isinstance(choice, Ite):
        return None
    rest = const(poly.get((), 0))
    factor = poly[monomials[0]]
    flag = _is_flag(choice.then) and _is_flag(choice.otherwise)
    if not flag and not all(_is_decided(relation, arm, factor, rest) for arm in (choice.then, choice.otherwise)):
        return None
    build = at_most_zero if relation == "le" else equals_zero
    then = build(add(scale(choice.then, factor), rest))
    otherwise = build(add(scale(choice.otherwise, factor), rest))
    return disjunction((conjunction((choice.condition, then)), conjunction((negate(choice.condition), otherwise))))


def _is_decided(relation: str, arm: Term, factor: int, rest: Term, depth: int = 1) -> bool:
    """Whether c·arm + k ~ 0 is decided by the range of ``arm``, or by those of what it chooses between."""
    low, high = range_of(add(scale(arm, factor), rest))
    if (low is not None and low > 0) or (high is not None and (high < 0 if relation == "eq" else high <= 0)):
        return True
    if low == 0 == high:
        return True
    if not isinstance(arm, Ite) or depth > MAX_SIGN_DEPTH:
        return False
    return all(_is_decided(relation, part, factor, rest, depth + 1) for part in (arm.then, arm.otherwise))


_flags: dict[Term, int] = {}
"""How deep the choices of a flag are nested, 0 for constants; -1 for what is no flag."""


def _is_flag(term: Term) -> bool:
    """A constant, or a choice between such: what comparisons and short circuits leave."""
    if isinstance(term, Const):
        return True
    if not isinstance(term, Ite):
        return False
    for node in walk(term, lambda below: below in _flags or not isinstance(below, Ite | Const)):
        assert isinstance(node, Ite | Const)
        deep = (0,) if isinstance(node, Const) else (_flags.get(node.then, -1) + 1, _flags.get(node.otherwise, -1) + 1)
        _flags[node] = max(deep) if isinstance(node, Const) or 0 < min(deep) <= max(deep) <= MAX_LIFTED_DEPTH else -1
    return _flags[term] >= 0


def less_equal(a: Term, b: Term) -> Condition:
    """``a ≤ b``."""
    return at_most_zero(sub(a, b))


def less(a: Term, b: Term) -> Condition:
    """``a < b``."""
    return at_most_zero(add(a, neg(b), ONE))


def greater_equal(a: Term, b: Term) -> Condition:
    """``a ≥ b``."""
    return less_equal(b, a)


def greater(a: Term, b: Term) -> Condition:
    """``a > b``."""
    return less(b, a)


def equal(a: Term, b: Term) -> Condition:
    """``a = b``."""
    return equals_zero(sub(a, b))


def not_equal(a: Term, b: Term) -> Condition:
    """``a ≠ b``."""
    return negate(equal(a, b))


def between(low: int | None, term: Term, high: int | None) -> Condition:
    """``low ≤ term ≤ high``; a bound None is no bound."""
    parts: list[Condition] = []
    if low is not None:
        parts.append(less_equal(const(low), term))
    if high is not None:
        parts.append(less_equal(term, const(high)))
    return conjunction(parts)


_negations: dict[Condition, Condition] = {}
"""Nodes live as long as the process, and so do their negations: conjunctions ask for the same ones again and again."""


def negate(condition: Condition) -> Condition:
    """The negation, pushed into the comparisons."""
    found = _negations.get(condition)
    if found is None:
        for node in walk(condition, lambda below: not isinstance(below, Condition) or below in _negations):
            assert isinstance(node, Condition)
            _negations[node] = _negated(node)
        found = _negations[condition]
    return found


def _negated(condition: Condition) -> Condition:
    match condition:
        case Truth():
            return truth(not condition.value)
        case Compare(relation="le"):
            return at_most_zero(add(neg(condition.term), ONE))
        case Compare(relation="eq"):
            return Compare("ne", condition.term)
        case Compare():
            return Compare("eq", condition.term)
        case And():
            return disjunction(_negations[arg] for arg in condition.args)
        case Or():
            return conjunction(_negations[arg] for arg in condition.args)
        case _:
            raise AssertionError(type(condition))


def conjunction(conditions: Iterable[Condition]) -> Condition:
    """All of ``conditions``; true for none."""
    kept: dict[Condition, None] = {}
    for condition in conditions:
        for part in condition.args if isinstance(condition, And) else (condition,):
            if part is FALSE:
                return FALSE
            if part is not TRUE:
                kept[part] = None
    if any(negate(part) in kept for part in kept if isinstance(part, Compare)):
        return FALSE
    return _joined(kept, And, TRUE)


def disjunction(conditions: Iterable[Condition]) -> Condition:
    """Some of ``conditions``; false for none."""
    kept: dict[Condition, None] = {}
    for condition in conditions:
        for part in condition.args if isinstance(condition, Or) else (condition,):
            if part is TRUE:
                return TRUE
            if part is not FALSE:
                kept[part] = None
    if any(negate(part) in kept for part in kept if isinstance(part, Compare)):
        return TRUE
    return _joined(kept, Or, FALSE)


def _joined(kept: dict[Condition, None], node: type[And | Or], empty: Truth) -> Condition:
    if not kept:
        return empty
    if len(kept) == 1:
        return next(iter(kept))
    return node(tuple(kept))


def implies(a: Condition, b: Condition) -> Condition:
    """``b`` wherever ``a``."""
    return disjunction((negate(a), b))


def comparisons(condition: Condition) -> Iterator[Compare]:
    """The comparisons from which and, or are built, each once; not those inside terms."""
    for node in walk(condition, lambda below: not isinstance(below, Condition)):
        if isinstance(node, Compare):
            yield node


def with_comparisons(condition: Condition, change: Callable[[Condition], Condition]) -> Condition:
    """``condition`` with each comparison, and each truth, as ``change`` makes it: once for all places of each."""
    done: dict[Node, Condition] = {}
    for node in walk(condition, lambda below: not isinstance(below, Condition)):
        match node:
            case And():
                done[node] = conjunction(done[arg] for arg in node.args)
            case Or():
                done[node] = disjunction(done[arg] for arg in node.args)
            case Condition():
                done[node] = change(node)
            case _:
                raise AssertionError(type(node))
    return done[condition]


def conjuncts(condition: Condition) -> tuple[Condition, ...]:
    """The parts of a conjunction; one part for anything else, none for true."""
    match condition:
        case And():
            return condition.args
        case Truth() if condition.value:
            return ()
        case Truth() | Compare() | Or():
            return (condition,)
        case _:
            assert_never(condition)  # type: ignore[arg-type]


def disjuncts(condition: Condition) -> tuple[Condition, ...]:
    """The parts of a disjunction; one part for anything else, none for false."""
    if isinstance(condition, Or):
        return condition.args
    return () if condition is FALSE else (condition,)

"""Which of several bounds is surely the least, by how they are built: sums and products of parts that are no larger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import gcd

from loopless import terms as t
from loopless.limits.bounds import CACHED_COMPARISONS, COMPARED_DEPTH, COMPARED_FACTORS


def lesser(*terms: t.Term) -> t.Term:
    """The least of terms, those left out that are surely no less than another."""
    flat: list[t.Term] = []
    for term in _least(terms):
        flat.extend(term.args if isinstance(term, t.Op) and term.op == "min" else (term,))
    return t.minimum(*_least(flat))


def _least(terms: Iterable[t.Term]) -> list[t.Term]:
    kept: list[t.Term] = []
    for term in dict.fromkeys(terms):
        if any(surely_at_most(other, term) for other in kept):
            continue
        kept = [other for other in kept if not surely_at_most(term, other)]
        kept.append(term)
    return kept


@lru_cache(maxsize=CACHED_COMPARISONS)
def surely_at_most(a: t.Term, b: t.Term, depth: int = COMPARED_DEPTH) -> bool:
    """Whether ``a`` ≤ ``b`` for all values of their variables; False also where that is not seen."""
    a, b = _without_content(a), _without_content(b)
    if a is b:
        return True
    high = t.range_of(a - b)[1]
    if high is not None and high <= 0:
        return True
    if depth == 0:
        return False
    if isinstance(a, t.Ite) and all(surely_at_most(arg, b, depth - 1) for arg in (a.then, a.otherwise)):
        return True
    if isinstance(b, t.Ite) and all(surely_at_most(a, arg, depth - 1) for arg in (b.then, b.otherwise)):
        return True
    if isinstance(a, t.Op) and a.op == "max" and all(surely_at_most(arg, b, depth - 1) for arg in a.args):
        return True
    if isinstance(b, t.Op) and b.op == "min" and all(surely_at_most(a, arg, depth - 1) for arg in b.args):
        return True
    if isinstance(a, t.Op) and a.op == "min" and any(surely_at_most(arg, b, depth - 1) for arg in a.args):
        return True
    if isinstance(b, t.Op) and b.op == "max" and any(surely_at_most(a, arg, depth - 1) for arg in b.args):
        return True
    if isinstance(a, t.Op) and a.op == "floor_div" and _is_positive(a.args[1]):
        if isinstance(b, t.Op) and b.op == "floor_div" and a.args[1] is b.args[1]:
            return surely_at_most(a.args[0], b.args[0], depth - 1)
        return surely_at_most(t.maximum(t.ZERO, a.args[0]), b, depth - 1)
    return _by_parts(a, b, depth)


def _is_positive(term: t.Term) -> bool:
    return isinstance(term, t.Const) and term.value > 0


@lru_cache(maxsize=CACHED_COMPARISONS)
def _without_content(term: t.Term) -> t.Term:
    """The same with max(0, 4·n) as 4·max(0, n), where such a term stands for itself or in a sum."""
    found: dict[t.Monomial, int] = {}
    for monomial, coefficient in t.polynomial(term).items():
        atom = monomial[0][0] if len(monomial) == 1 and monomial[0][1] == 1 else None
        parts = [t.polynomial(arg) for arg in atom.args] if isinstance(atom, t.Op) and atom.op in ("max", "min") else []
        content = gcd(*(c for part in parts for c in part.values()))
        if content > 1:
            assert isinstance(atom, t.Op)
            divided = [t.from_polynomial({m: c // content for m, c in part.items()}) for part in parts]
            monomial = ((t.maximum(*divided) if atom.op == "max" else t.minimum(*divided), 1),)
            coefficient *= content
        found[monomial] = found.get(monomial, 0) + coefficient
    return t.from_polynomial(found)


def _by_parts(a: t.Term, b: t.Term, depth: int) -> bool:
    """Whether in ``b`` - ``a`` each part that is taken away has one that is added and no less, and the rest is ≥ 0."""
    parts = t.polynomial(b - a)
    added = {m: c for m, c in parts.items() if c > 0}
    taken = {m: -c for m, c in parts.items() if c < 0}
    if not taken or not added or () in taken:
        return False
    for monomial, coefficient in taken.items():
        larger = next((m for m, c in added.items() if c >= coefficient and _no_larger(monomial, m, depth - 1)), None)
        if larger is None:
            return False
        added[larger] -= coefficient
    return all(coefficient == 0 or _not_negative(monomial) for monomial, coefficient in added.items())


def _no_larger(a: t.Monomial, b: t.Monomial, depth: int) -> bool:
    """Whether a product is no larger: factor by factor in some order, if they are ≥ 0, or where one is but one term."""
    if len(_factors(a)) == 1 and len(_factors(b)) > 1 and _not_negative(a):
        # Where it is not 0 itself it is at least 1, and so is each factor.
        return all(surely_at_most(a[0][0], factor, depth) for factor in dict.fromkeys(_factors(b)))
    if len(_factors(a)) != len(_factors(b)) and () not in (a, b):
        return surely_at_most(t.from_polynomial({a: 1}), t.from_polynomial({b: 1}), depth)
    return _not_negative(a) and _not_negative(b) and _matched(_factors(a), _factors(b), depth)


def _factors(monomial: t.Monomial) -> list[t.Term]:
    return [atom for atom, exponent in monomial for _ in range(exponent)]


def _matched(smaller: Sequence[t.Term], larger: Sequence[t.Term], depth: int) -> bool:
    if len(smaller) != len(larger) or len(larger) > COMPARED_FACTORS:
        return False
    if not smaller:
        return True
    return any(
        surely_at_most(smaller[0], factor, depth) and _matched(smaller[1:], [*larger[:at], *larger[at + 1 :]], depth)
        for at, factor in enumerate(larger)
    )


def _not_negative(monomial: t.Monomial) -> bool:
    """Whether each factor is ≥ 0."""
    lows = [t.range_of(atom)[0] for atom, _ in monomial]
    return all(low is not None and low >= 0 for low in lows)

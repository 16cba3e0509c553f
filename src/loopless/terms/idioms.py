"""What several comparisons say together, in one word: that a value fits a type, that all of a sequence is so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from loopless.terms.build import Polynomial, add, from_polynomial, polynomial, sub
from loopless.terms.nodes import ONE, ZERO, Aggregate, Compare, Condition, Monomial, Term
from loopless.terms.term_ranges import range_of

_TYPES: Final = {
    (-(1 << 31), (1 << 31) - 1): "fits_int",
    (0, (1 << 32) - 1): "fits_unsigned",
    (-(1 << 63), (1 << 63) - 1): "fits_int64",
    (0, (1 << 64) - 1): "fits_uint64",
}

Limits = tuple[Term, int | None, int | None]
"""A term, and the least and the greatest value that it may have (None: any)."""


def fitting(parts: Sequence[Condition], *, all_of: bool) -> dict[int, tuple[str, Term, int]]:
    """Of the conjuncts (else the disjuncts) those that say that a value fits a type (that it does not fit it): by the
    first one of each pair the name of the function, the value, and the place of the second one.
    """
    seen: dict[Term, list[tuple[int, bool, int]]] = {}
    found: dict[int, tuple[str, Term, int]] = {}
    for at, part in enumerate(parts):
        limit = _limit(part, all_of=all_of)
        if limit is None:
            continue
        term, upper, value = limit
        for other, was_upper, before in seen.setdefault(term, []):
            if was_upper == upper or other in found:
                continue
            low, high = (before, value) if upper else (value, before)
            spans = (ends for ends in _TYPES if ends[1] - ends[0] == high - low)
            nearest = min(spans, key=lambda ends: abs(ends[0] - low), default=None)
            if nearest is not None:
                found[other] = _TYPES[nearest], add(term, from_polynomial({(): nearest[0] - low})), at
        seen[term].append((at, upper, value))
    return found


def _limit(part: Condition, *, all_of: bool) -> tuple[Term, bool, int] | None:
    """What a comparison bounds, from above or from below, and by what; of a disjunct what it excludes."""
    if not isinstance(part, Compare) or part.relation != "le":
        return None
    poly = polynomial(part.term)
    constant = poly.pop((), 0)
    if not poly:
        return None
    turned = _first(poly) < 0
    term = from_polynomial({m: -c for m, c in poly.items()}) if turned else from_polynomial(poly)
    # turned: term >= constant; else term <= -constant. A disjunct says what is outside: beyond these.
    if turned:
        return (term, False, constant) if all_of else (term, True, constant - 1)
    return (term, True, -constant) if all_of else (term, False, 1 - constant)


def _first(poly: Polynomial) -> int:
    """The sign by which a polynomial and its opposite are told apart: most variables are added."""
    signs = sum(1 if c > 0 else -1 for c in poly.values())
    if signs:
        return signs
    order: list[Monomial] = sorted(poly, key=lambda m: [(atom.key, power) for atom, power in m])
    return poly[order[0]]


def searched(part: Condition, others: Sequence[Condition]) -> tuple[bool, Aggregate] | None:
    """Whether a comparison says that nothing of a sequence is found (True), or that something is (False), and the
    search; None where it says something else. ``others`` hold as well.
    """
    if not isinstance(part, Compare):
        return None
    for monomial, coefficient in polynomial(part.term).items():
        if len(monomial) != 1 or monomial[0][1] != 1 or abs(coefficient) != 1:
            continue
        search = monomial[0][0]
        if not isinstance(search, Aggregate):
            continue
        if search.kind == "earliest" and part.relation == "le":
            if part.term is add(search, ONE):
                return True, search
            if part.term is sub(ZERO, search):
                return False, search
        if search.kind != "first":
            continue
        length = search.outside[0]
        if part.relation == "le":
            if part.term is add(sub(search, length), ONE):
                return False, search  # it stops before the end
            if part.term is sub(length, search):
                return True, search
        elif part.term in (sub(search, length), sub(length, search)) and _is_natural(length, others):
            return part.relation == "eq", search
    return None


def _is_natural(length: Term, others: Sequence[Condition]) -> bool:
    """Whether a length is surely not negative: that nothing is found in so many positions."""
    low = range_of(length)[0]
    if low is not None and low >= 0:
        return True
    return any(
        isinstance(one, Compare) and one.relation == "le" and add(one.term, length) in (ONE, ZERO) for one in others
    )

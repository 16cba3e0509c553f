"""isl's sets and functions as terms and conditions for people.

isl keeps integer divisions as extra dimensions; here each comes back as a ``floor_div`` or ``mod`` term, so that no
quantifier is left. All rewriting is exact. Results do not depend on the order in which isl happens to keep things.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

import islpy as isl

from loopless.logic.engine import explicit, integer
from loopless.logic.translate import Frame
from loopless.terms import (
    FALSE,
    Compare,
    Condition,
    Const,
    Op,
    Sum,
    Term,
    add,
    at_most_zero,
    conjunction,
    conjuncts,
    const,
    disjunction,
    equals_zero,
    floor_div,
    from_polynomial,
    mod,
    neg,
    negate,
    not_zero,
    polynomial,
    scale,
    sub,
    walk,
)

_SET, _IN, _DIV = isl.dim_type.set, isl.dim_type.in_, isl.dim_type.div


def term_of(function: isl.Aff, frame: Frame) -> Term:
    """A quasi-affine function as a term. Where isl knows that a quotient is exact on the domain, ``floor_div`` is."""
    return tidied(_raw_term(function, frame))


def _raw_term(function: isl.Aff, frame: Frame) -> Term:
    """The floor of a rational quasi-affine function, which is what an integer division of isl is."""
    denominator = function.get_denominator_val()
    whole = function.scale_val(denominator)
    parts: list[Term] = [const(_number(whole.get_constant_val()))]
    for i, variable in enumerate(frame.variables):
        coefficient = _number(whole.get_coefficient_val(_IN, i))
        if coefficient:
            parts.append(scale(variable, coefficient))
    for i in range(whole.dim(_DIV)):
        coefficient = _number(whole.get_coefficient_val(_DIV, i))
        if coefficient:
            parts.append(scale(_raw_term(whole.get_div(i), frame), coefficient))
    return floor_div(add(*parts), const(_number(denominator)))


def _number(val: isl.Val) -> int:
    assert val.is_int(), val
    return integer(val)


def condition_of(points: isl.Set, frame: Frame) -> Condition:
    """The points of a set as a condition, as they are: the caller simplifies the set before."""
    pieces = [_basic(piece, frame) for piece in explicit(points).get_basic_sets()]
    return assembled(pieces)


def _basic(piece: isl.BasicSet, frame: Frame) -> Condition:
    piece = piece.remove_redundancies()
    divisions = [_raw_term(piece.get_div(i), frame) for i in range(piece.dim(_DIV))]
    parts: list[Condition] = []
    for constraint in piece.get_constraints():
        if constraint.is_div_constraint():
            continue  # says only that the division is the floor that its term is
        terms: list[Term] = [const(_number(constraint.get_constant_val()))]
        for i, variable in enumerate(frame.variables):
            coefficient = _number(constraint.get_coefficient_val(_SET, i))
            if coefficient:
                terms.append(scale(variable, coefficient))
        for i, division in enumerate(divisions):
            coefficient = _number(constraint.get_coefficient_val(_DIV, i))
            if coefficient:
                terms.append(scale(division, coefficient))
        total = add(*terms)
        parts.append(zero(total) if constraint.is_equality() else not_negative(total))
    return conjunction(sorted(_flat(parts), key=_rank))


def _flat(parts: Sequence[Condition]) -> list[Condition]:
    return [part for condition in parts for part in (conjuncts(condition) or (condition,))]


def tidied(term: Term) -> Term:
    """``term`` with its divisions in the form that reads best: ``mod`` where that is shorter, no ``-floor_div``."""
    for atom in [node for node in walk(term) if isinstance(node, Op) and node.op == "floor_div"]:
        coefficient = polynomial(term).get(((atom, 1),))
        if coefficient is not None:
            term = _best_division(term, atom, coefficient)
    return term


def _best_division(term: Term, atom: Op, coefficient: int) -> Term:
    argument, divisor = atom.args
    if not isinstance(divisor, Const) or divisor.value <= 0:
        return term
    rest = sub(term, scale(atom, coefficient))
    candidates: list[Term] = []
    if coefficient > 0:
        candidates.append(term)
    else:
        # -floor(e/d) = floor((d - 1 - e)/d)
        flipped = floor_div(add(neg(argument), const(divisor.value - 1)), divisor)
        candidates.append(add(rest, scale(flipped, -coefficient)))
    if coefficient % divisor.value == 0:
        # d·floor(e/d) = e - mod(e, d)
        quotient = coefficient // divisor.value
        candidates.append(add(rest, scale(sub(argument, remainder(argument, divisor.value)), quotient)))
    return min(candidates, key=lambda candidate: (*_monomials(candidate), candidates.index(candidate)))


def _monomials(term: Term) -> tuple[int, int]:
    """How many parts the term has, without and with its constant."""
    poly = polynomial(term)
    return len(poly) - (() in poly), len(poly)


def remainder(term: Term, divisor: int) -> Term:
    """``mod(term, divisor)``, a common factor pulled out."""
    common = gcd(divisor, *polynomial(term).values())
    if common > 1:
        reduced = from_polynomial({m: c // common for m, c in polynomial(term).items()})
        return scale(mod(reduced, const(divisor // common)), common)
    return mod(term, const(divisor))


def not_negative(term: Term) -> Condition:
    """``term ≥ 0`` in its shortest form."""
    term = tidied(term)
    single = _single_division(term)
    if single is not None:
        argument, divisor, coefficient, constant = single
        if coefficient > 0:
            # floor(e/d) ≥ m  ⇔  e ≥ d·m
            least = -(constant // coefficient)
            return at_most_zero(sub(const(divisor * least), argument))
        # floor(e/d) ≤ m  ⇔  e ≤ d·m + d - 1
        most = constant // -coefficient
        return at_most_zero(sub(argument, const(divisor * most + divisor - 1)))
    residue = _single_remainder(term)
    if residue is not None:
        argument, divisor, coefficient, constant = residue
        least, most = (-(constant // coefficient), divisor) if coefficient > 0 else (0, constant // -coefficient)
        if least == divisor - 1 or most == 0:
            return _congruence(argument, divisor, least)
        if least == 1 or most == divisor - 2:
            return negate(_congruence(argument, divisor, 0 if least else divisor - 1))
    return at_most_zero(neg(term))


def zero(term: Term) -> Condition:
    """``term = 0`` in its shortest form."""
    term = tidied(term)
    single = _single_division(term)
    if single is not None:
        argument, divisor, coefficient, constant = single
        if constant % coefficient:
            return FALSE
        quotient = -constant // coefficient
        low = at_most_zero(sub(const(divisor * quotient), argument))
        high = at_most_zero(sub(argument, const(divisor * quotient + divisor - 1)))
        return conjunction((low, high))
    residue = _single_remainder(term)
    if residue is not None:
        argument, divisor, coefficient, constant = residue
        if constant % coefficient:
            return FALSE
        return _congruence(argument, divisor, -constant // coefficient)
    return equals_zero(term)


def _congruence(argument: Term, divisor: int, residue: int) -> Condition:
    """``mod(argument, divisor) = residue``, the argument without constant and with a positive first coefficient."""
    if not 0 <= residue < divisor:
        return FALSE
    poly = dict(polynomial(argument))
    shift = poly.pop((), 0)
    bare = from_polynomial(poly)
    residue = (residue - shift) % divisor
    leading = bare.items[0][1] if isinstance(bare, Sum) else 1
    if leading < 0:
        bare, residue = neg(bare), -residue % divisor
    return equals_zero(sub(remainder(bare, divisor), const(residue)))


def _single_division(term: Term) -> tuple[Term, int, int, int] | None:
    return _single(term, "floor_div")


def _single_remainder(term: Term) -> tuple[Term, int, int, int] | None:
    return _single(term, "mod")


def _single(term: Term, op: str) -> tuple[Term, int, int, int] | None:
    """(e, d, c, k) where ``term`` is c·op(e, d) + k, else None."""
    poly = polynomial(term)
    monomials = [monomial for monomial in poly if monomial]
    if len(monomials) != 1 or len(monomials[0]) != 1 or monomials[0][0][1] != 1:
        return None
    atom = monomials[0][0][0]
    if not isinstance(atom, Op) or atom.op != op or not isinstance(atom.args[1], Const) or atom.args[1].value <= 0:
        return None
    return atom.args[0], atom.args[1].value, poly[monomials[0]], poly.get((), 0)


def _rank(condition: Condition) -> tuple[int, int, str]:
    """Order of conjuncts: equalities first, then by how many variables they speak of."""
    equality = isinstance(condition, Compare) and condition.relation == "eq"
    return (0 if equality else 1, len(condition.variables), condition.key)


def assembled(pieces: Sequence[Condition]) -> Condition:
    """The disjunction of conjunctions, with gaps closed (``t < 0 || t > 0`` is ``t != 0``), common parts in front."""
    groups = [frozenset(conjuncts(piece)) for piece in pieces if piece is not FALSE]
    groups = _without_gaps(list(dict.fromkeys(groups)))
    # p || (!p && q) is p || q
    refuted = {negate(part) for group in groups if len(group) == 1 for part in group}
    groups = [group - refuted if len(group) > 1 else group for group in groups]
    groups = [group for group in groups if not any(other < group for other in groups)]
    if not groups:
        return FALSE
    common = frozenset.intersection(*groups)
    if common in groups:
        return conjunction(sorted(common, key=_rank))
    rest = [conjunction(sorted(group - common, key=_rank)) for group in groups]
    either = disjunction(sorted(rest, key=lambda part: (len(conjuncts(part)), part.key)))
    return conjunction((*sorted(common, key=_rank), either))


def _without_gaps(groups: list[frozenset[Condition]]) -> list[frozenset[Condition]]:
    merged = True
    while merged:
        merged = False
        for i in range(len(groups)):
            for j in range(i + 1, len(groups)):
                joined = _joined(groups[i], groups[j])
                if joined is not None:
                    groups = [g for k, g in enumerate(groups) if k not in (i, j)]
                    groups.append(joined)
                    merged = True
                    break
            if merged:
                break
    return groups


def _joined(a: frozenset[Condition], b: frozenset[Condition]) -> frozenset[Condition] | None:
    """Both groups as one where they differ in one conjunct each, t < 0 and t > 0."""
    if len(a) != len(b) or len(a & b) != len(a) - 1:
        return None
    (left,), (right,) = a - b, b - a
    if not (isinstance(left, Compare) and isinstance(right, Compare) and left.relation == right.relation == "le"):
        return None
    if add(left.term, right.term) != const(2):
        return None
    return (a & b) | set(conjuncts(not_zero(sub(left.term, const(1)))))

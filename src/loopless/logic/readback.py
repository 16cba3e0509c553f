"""isl's sets and functions as terms and conditions for people.

isl keeps integer divisions as extra dimensions; here each comes back as a ``floor_div`` or ``mod`` term, so that no
quantifier is left. All rewriting is exact. Results do not depend on the order in which isl happens to keep things.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

import islpy as isl

from loopless import terms as t
from loopless.logic.engine import explicit, integer
from loopless.logic.translate import Dimensions

_SET, _IN, _DIV = isl.dim_type.set, isl.dim_type.in_, isl.dim_type.div


def term_of(function: isl.Aff, frame: Dimensions) -> t.Term:
    """A quasi-affine function as a term. Where isl knows that a quotient is exact on the domain, ``floor_div`` is."""
    return tidied(_raw_term(function, frame))


def _raw_term(function: isl.Aff, frame: Dimensions) -> t.Term:
    """The floor of a rational quasi-affine function, which is what an integer division of isl is."""
    denominator = function.get_denominator_val()
    whole = function.scale_val(denominator)
    parts: list[t.Term] = [t.const(_number(whole.get_constant_val()))]
    for i, variable in enumerate(frame.variables):
        coefficient = _number(whole.get_coefficient_val(_IN, i))
        if coefficient:
            parts.append(variable * coefficient)
    for i in range(whole.dim(_DIV)):
        coefficient = _number(whole.get_coefficient_val(_DIV, i))
        if coefficient:
            parts.append(_raw_term(whole.get_div(i), frame) * coefficient)
    return t.add(*parts) // _number(denominator)


def _number(val: isl.Val) -> int:
    assert val.is_int(), val
    return integer(val)


def condition_of(points: isl.Set, frame: Dimensions) -> t.Condition:
    """The points of a set as a condition, as they are: the caller simplifies the set before."""
    pieces = [_basic(piece, frame) for piece in explicit(points).get_basic_sets()]
    return assembled(pieces)


def _basic(piece: isl.BasicSet, frame: Dimensions) -> t.Condition:
    piece = piece.remove_redundancies()
    divisions = [_raw_term(piece.get_div(i), frame) for i in range(piece.dim(_DIV))]
    parts: list[t.Condition] = []
    for constraint in piece.get_constraints():
        if constraint.is_div_constraint():
            continue  # says only that the division is the floor that its term is
        terms: list[t.Term] = [t.const(_number(constraint.get_constant_val()))]
        for i, variable in enumerate(frame.variables):
            coefficient = _number(constraint.get_coefficient_val(_SET, i))
            if coefficient:
                terms.append(variable * coefficient)
        for i, division in enumerate(divisions):
            coefficient = _number(constraint.get_coefficient_val(_DIV, i))
            if coefficient:
                terms.append(division * coefficient)
        total = t.add(*terms)
        parts.append(zero(total) if constraint.is_equality() else not_negative(total))
    return t.conjunction(sorted(_flat(parts), key=_rank))


def _flat(parts: Sequence[t.Condition]) -> list[t.Condition]:
    return [part for condition in parts for part in (t.conjuncts(condition) or (condition,))]


def tidied(term: t.Term) -> t.Term:
    """``term`` with its divisions in the form that reads best: ``mod`` where that is shorter, no ``-floor_div``."""
    for atom in [node for node in t.walk(term) if isinstance(node, t.Op) and node.op == "floor_div"]:
        coefficient = t.polynomial(term).get(((atom, 1),))
        if coefficient is not None:
            term = _best_division(term, atom, coefficient)
    return term


def _best_division(term: t.Term, atom: t.Op, coefficient: int) -> t.Term:
    argument, divisor = atom.args
    if not isinstance(divisor, t.Const) or divisor.value <= 0:
        return term
    rest = term - atom * coefficient
    candidates: list[t.Term] = []
    if coefficient > 0:
        candidates.append(term)
    else:
        # -floor(e/d) = floor((d - 1 - e)/d)
        flipped = (-argument + (divisor.value - 1)) // divisor
        candidates.append(rest + flipped * -coefficient)
    if coefficient % divisor.value == 0:
        # d·floor(e/d) = e - mod(e, d)
        quotient = coefficient // divisor.value
        candidates.append(rest + (argument - remainder(argument, divisor.value)) * quotient)
    return min(candidates, key=lambda candidate: (*_monomials(candidate), candidates.index(candidate)))


def _monomials(term: t.Term) -> tuple[int, int]:
    """How many parts the term has, without and with its constant."""
    poly = t.polynomial(term)
    return len(poly) - (() in poly), len(poly)


def remainder(term: t.Term, divisor: int) -> t.Term:
    """``mod(term, divisor)``, a common factor pulled out."""
    common = gcd(divisor, *t.polynomial(term).values())
    if common > 1:
        reduced = t.from_polynomial({m: c // common for m, c in t.polynomial(term).items()})
        return reduced % (divisor // common) * common
    return term % divisor


def not_negative(term: t.Term) -> t.Condition:
    """``term ≥ 0`` in its shortest form."""
    term = tidied(term)
    single = _single_division(term)
    if single is not None:
        argument, divisor, coefficient, constant = single
        if coefficient > 0:
            # floor(e/d) ≥ m  ⇔  e ≥ d·m
            least = -(constant // coefficient)
            return t.at_most_zero(divisor * least - argument)
        # floor(e/d) ≤ m  ⇔  e ≤ d·m + d - 1
        most = constant // -coefficient
        return t.at_most_zero(argument - (divisor * most + divisor - 1))
    residue = _single_remainder(term)
    if residue is not None:
        argument, divisor, coefficient, constant = residue
        least, most = (-(constant // coefficient), divisor) if coefficient > 0 else (0, constant // -coefficient)
        if least == divisor - 1 or most == 0:
            return _congruence(argument, divisor, least)
        if least == 1 or most == divisor - 2:
            return ~_congruence(argument, divisor, 0 if least else divisor - 1)
    return t.at_most_zero(-term)


def zero(term: t.Term) -> t.Condition:
    """``term = 0`` in its shortest form."""
    term = tidied(term)
    single = _single_division(term)
    if single is not None:
        argument, divisor, coefficient, constant = single
        if constant % coefficient:
            return t.FALSE
        quotient = -constant // coefficient
        low = t.at_most_zero(divisor * quotient - argument)
        high = t.at_most_zero(argument - (divisor * quotient + divisor - 1))
        return low & high
    residue = _single_remainder(term)
    if residue is not None:
        argument, divisor, coefficient, constant = residue
        if constant % coefficient:
            return t.FALSE
        return _congruence(argument, divisor, -constant // coefficient)
    return t.equals_zero(term)


def _congruence(argument: t.Term, divisor: int, residue: int) -> t.Condition:
    """``mod(argument, divisor) = residue``, the argument without constant and with a positive first coefficient."""
    if not 0 <= residue < divisor:
        return t.FALSE
    poly = dict(t.polynomial(argument))
    shift = poly.pop((), 0)
    bare = t.from_polynomial(poly)
    residue = (residue - shift) % divisor
    leading = bare.items[0][1] if isinstance(bare, t.Sum) else 1
    if leading < 0:
        bare, residue = -bare, -residue % divisor
    return t.equals_zero(remainder(bare, divisor) - residue)


def _single_division(term: t.Term) -> tuple[t.Term, int, int, int] | None:
    return _single(term, "floor_div")


def _single_remainder(term: t.Term) -> tuple[t.Term, int, int, int] | None:
    return _single(term, "mod")


def _single(term: t.Term, op: str) -> tuple[t.Term, int, int, int] | None:
    """(e, d, c, k) where ``term`` is c·op(e, d) + k, else None."""
    poly = t.polynomial(term)
    monomials = [monomial for monomial in poly if monomial]
    if len(monomials) != 1 or len(monomials[0]) != 1 or monomials[0][0][1] != 1:
        return None
    atom = monomials[0][0][0]
    if not isinstance(atom, t.Op) or atom.op != op or not isinstance(atom.args[1], t.Const) or atom.args[1].value <= 0:
        return None
    return atom.args[0], atom.args[1].value, poly[monomials[0]], poly.get((), 0)


def _rank(condition: t.Condition) -> tuple[int, int, str]:
    """Order of conjuncts: equalities first, then by how many variables they speak of."""
    equality = isinstance(condition, t.Compare) and condition.relation == "eq"
    return (0 if equality else 1, len(condition.variables), condition.key)


def assembled(pieces: Sequence[t.Condition]) -> t.Condition:
    """The disjunction of conjunctions, with gaps closed (``t < 0 || t > 0`` is ``t != 0``), common parts in front."""
    groups = [frozenset(t.conjuncts(piece)) for piece in pieces if piece is not t.FALSE]
    groups = _without_gaps(list(dict.fromkeys(groups)))
    # p || (!p && q) is p || q
    refuted = {~part for group in groups if len(group) == 1 for part in group}
    groups = [group - refuted if len(group) > 1 else group for group in groups]
    groups = [group for group in groups if not any(other < group for other in groups)]
    if not groups:
        return t.FALSE
    common = frozenset.intersection(*groups)
    if common in groups:
        return t.conjunction(sorted(common, key=_rank))
    rest = [t.conjunction(sorted(group - common, key=_rank)) for group in groups]
    either = t.disjunction(sorted(rest, key=lambda part: (len(t.conjuncts(part)), part.key)))
    return t.conjunction((*sorted(common, key=_rank), either))


def _without_gaps(groups: list[frozenset[t.Condition]]) -> list[frozenset[t.Condition]]:
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


def _joined(a: frozenset[t.Condition], b: frozenset[t.Condition]) -> frozenset[t.Condition] | None:
    """Both groups as one where they differ in one conjunct each, t < 0 and t > 0."""
    if len(a) != len(b) or len(a & b) != len(a) - 1:
        return None
    (left,), (right,) = a - b, b - a
    if not (isinstance(left, t.Compare) and isinstance(right, t.Compare) and left.relation == right.relation == "le"):
        return None
    if left.term + right.term != t.const(2):
        return None
    return (a & b) | set(t.conjuncts(t.not_zero(left.term - 1)))

"""Upper bounds that do not speak of what is read, of those that do: a search among n elements takes n steps at most."""

from __future__ import annotations

from loopless.bounds.model import LARGE, Bounds, least, reads
from loopless.terms import (
    ZERO,
    Aggregate,
    Const,
    Ite,
    Op,
    Sum,
    Term,
    Var,
    add,
    counted,
    from_polynomial,
    ite,
    maximum,
    operation,
    scale,
)


def over_inputs(upper: Term | None, others: Bounds, inputs: frozenset[Var]) -> Term | None:
    """A bound that speaks of nothing but ``inputs``, from an ``upper`` bound that may speak of memory, and ``others``
    on the same iterations; None where none is found.
    """
    of_inputs = least(tuple(b for b in others if b.term.variables <= inputs and not reads(b.term)))
    if of_inputs is not None or upper is None:
        return of_inputs
    most = without_data(upper)
    return most if most is not None and most.variables <= inputs else None


def without_data(term: Term) -> Term | None:
    """A term that is nowhere less than ``term``, and speaks of no memory; None where none is found."""
    if not reads(term):
        return term
    match term:
        case Aggregate() if term.kind == "first" or counted(term) is not None:
            length = term.outside[0]
            return None if isinstance(length, Const) and length.value >= LARGE else maximum(ZERO, length)
        case Sum():
            return _sum(term)
        case Ite():
            then, otherwise = without_data(term.then), without_data(term.otherwise)
            if then is None or otherwise is None:
                return None
            return maximum(then, otherwise) if reads(term.condition) else ite(term.condition, then, otherwise)
        case Op(op="min" | "max"):
            args = [without_data(arg) for arg in term.args]
            known = tuple(arg for arg in args if arg is not None)
            if len(known) < len(args) and (term.op == "max" or not known):
                return None
            return known[0] if len(known) == 1 else operation(term.op, known)
        case _:
            return None


def _sum(term: Sum) -> Term | None:
    parts: list[Term] = []
    for monomial, coefficient in term.items:
        whole = from_polynomial({monomial: 1})
        most = without_data(whole) if len(monomial) == 1 and monomial[0][1] == 1 else None if reads(whole) else whole
        if most is None or (most is not whole and coefficient < 0):
            return None
        parts.append(scale(most, coefficient))
    return add(*parts)

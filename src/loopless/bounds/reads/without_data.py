"""Upper bounds that do not speak of what is read, of those that do: a search among n elements takes n steps at most."""

from __future__ import annotations

from collections.abc import Iterable

from loopless import terms as t
from loopless.bounds.model import Bounds, least, reads
from loopless.limits.bounds import LARGE_CONSTANT


def over_inputs(upper: t.Term | None, others: Bounds, inputs: frozenset[t.Var]) -> t.Term | None:
    """A bound that speaks of nothing but ``inputs``, from an ``upper`` bound that may speak of memory, and ``others``
    on the same iterations; None where none is found.
    """
    of_inputs = least(tuple(b for b in others if b.term.variables <= inputs and not reads(b.term)))
    if of_inputs is not None or upper is None:
        return of_inputs
    most = without_data(upper)
    return most if most is not None and most.variables <= inputs else None


def simplest(uppers: Iterable[t.Term | None]) -> t.Term | None:
    """Of several upper bounds the first that speaks of no memory, if need be made of one that does; else the first."""
    known = [upper for upper in uppers if upper is not None]
    without = (most for upper in known if (most := without_data(upper)) is not None)
    return next((upper for upper in known if not reads(upper)), None) or next(without, None) or next(iter(known), None)


def without_data(term: t.Term) -> t.Term | None:
    """A term that is nowhere less than ``term``, and speaks of no memory; None where none is found."""
    if not reads(term):
        return term
    match term:
        case t.Aggregate() if term.kind == "first" or t.counted(term) is not None:
            length = term.outside[0]
            return None if isinstance(length, t.Const) and length.value >= LARGE_CONSTANT else t.maximum(t.ZERO, length)
        case t.Sum():
            return _sum(term)
        case t.Ite():
            then, otherwise = without_data(term.then), without_data(term.otherwise)
            if then is None or otherwise is None:
                return None
            return t.maximum(then, otherwise) if reads(term.condition) else t.ite(term.condition, then, otherwise)
        case t.Op(op="min" | "max"):
            args = [without_data(arg) for arg in term.args]
            known = tuple(arg for arg in args if arg is not None)
            if len(known) < len(args) and (term.op == "max" or not known):
                return None
            return known[0] if len(known) == 1 else t.operation(term.op, known)
        case _:
            return None


def _sum(term: t.Sum) -> t.Term | None:
    parts: list[t.Term] = []
    for monomial, coefficient in term.items:
        whole = t.from_polynomial({monomial: 1})
        most = without_data(whole) if len(monomial) == 1 and monomial[0][1] == 1 else None if reads(whole) else whole
        if most is None or (most is not whole and coefficient < 0):
            return None
        parts.append(most * coefficient)
    return t.add(*parts)

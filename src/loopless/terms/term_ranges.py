"""Ranges of terms: what :mod:`loopless.terms.ranges` makes of operands, from the types of variables upwards."""

from __future__ import annotations

from collections.abc import Callable

from loopless.terms.nodes import (
    Aggregate,
    Const,
    Ite,
    Monomial,
    Node,
    Op,
    Read,
    Sum,
    Term,
    Var,
    Wrap,
    walk,
)
from loopless.terms.operators import OPERATORS
from loopless.terms.ranges import Range, raised, total, union, writable


def range_of(term: Term) -> Range:
    """Bounds on the values that ``term`` takes over all values of its variables."""
    if term._range is None and all(child._range is not None for child in term.children):
        term._range = writable(_compute(term))  # so it is where a term was built step by step
    elif term._range is None:
        for node in walk(term, _has_range):
            if isinstance(node, Term):
                node._range = writable(_compute(node))
    found: Range = term._range
    return found


def range_from(term: Term, known: Callable[[Term], Range]) -> Range:
    """Bounds on the values of ``term`` by what is ``known`` of its operands."""
    return _compute(term, known)


def _has_range(node: Node) -> bool:
    return node._range is not None


def _known(node: Node) -> Range:
    found: Range = node._range
    return found


def _compute(term: Term, known: Callable[[Term], Range] = _known) -> Range:
    match term:
        case Const():
            return term.value, term.value
        case Var() | Read() | Wrap():
            own = (term.type.min, term.type.max)
            if isinstance(term, Wrap) and term.type.width is None:
                return known(term.arg)
            return own
        case Sum():
            return total(term.items, lambda monomial: _monomial(monomial, known))
        case Ite():
            return union(known(term.then), known(term.otherwise))
        case Aggregate():
            return _aggregate(term, known)
        case Op():
            return OPERATORS[term.op].range(*[known(arg) for arg in term.args])
        case _:
            raise AssertionError(type(term))


def _monomial(monomial: Monomial, known: Callable[[Term], Range]) -> Range:
    result: Range = (1, 1)
    for atom, exponent in monomial:
        result = raised(result, known(atom), exponent)
    return result


def _aggregate(term: Aggregate, known: Callable[[Term], Range]) -> Range:
    if term.kind == "earliest":
        return -1, None
    most = known(term.outside[0])[1]
    most = None if most is None else max(most, 0)
    match term.kind:
        case "first":
            return 0, most
        case "last":
            return -1, None if most is None else most - 1
        case "sum":
            low, high = range_of(_term(term.inside[0]))
            return (
                0 if low is not None and low >= 0 else None if low is None or most is None else low * most,
                0 if high is not None and high <= 0 else None if high is None or most is None else high * most,
            )
        case "least" | "greatest":
            start, value = known(term.outside[1]), range_of(_term(term.inside[0]))
            low, high = union(start, value)
            return (low, start[1]) if term.kind == "least" else (start[0], high)
        case _:
            number = term.outside[1]
            assert isinstance(number, Const)
            return union(known(term.outside[2 + number.value]), range_of(_term(term.inside[number.value])))


def _term(node: Node) -> Term:
    assert isinstance(node, Term)
    return node

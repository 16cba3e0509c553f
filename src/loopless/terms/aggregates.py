"""What aggregates are beside nodes: how their bound variables are named, what is simpler than one.

Two aggregates that differ in the names of bound variables only are the same term: a bound variable is named by how deep
aggregates are nested in what it is bound in. No other term has variables of such names, so that substitution captures
none. To build one see :mod:`loopless.terms.sequences`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count as numbers

from loopless.terms import build, conditions
from loopless.terms.nodes import (
    BOUND,
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Aggregate,
    Condition,
    Const,
    Folding,
    Ite,
    Node,
    Term,
    Var,
    walk_inside,
)
from loopless.terms.term_ranges import range_of
from loopless.terms.types import IntType

POSITIONS = IntType(None, signed=False)
"""The type of positions: integers from 0 on."""


def counted(node: Aggregate) -> Condition | None:
    """The condition whose positions ``node`` counts, None where it is no count."""
    if node.kind == "sum" and isinstance(node.inside[0], Ite):
        choice = node.inside[0]
        if choice.then is ONE and choice.otherwise is ZERO:
            return choice.condition
    return None


def aggregates_in(node: Node) -> Iterator[Aggregate]:
    """All aggregates in a term or condition, inner ones first."""
    return (part for part in walk_inside(node) if isinstance(part, Aggregate))


def is_open(node: Node) -> bool:
    """Whether ``node`` is a part of an aggregate that speaks of its position: it means nothing by itself."""
    return any(variable.name.startswith(BOUND) for variable in node.variables)


def folding(node: Node) -> Folding | None:
    """What a fold has in common with those of other lengths; None for anything else, and for one in which a position
    outside of it is spoken of elsewhere than in its length.
    """
    if not isinstance(node, Aggregate) or node.kind != "fold":
        return None
    own = frozenset(node.bound)
    if any(is_open(start) for start in node.outside[2:]):
        return None
    if any(v.name.startswith(BOUND) and v not in own for part in node.inside for v in part.variables):
        return None
    return node.bound, node.outside[2:], node.inside


def bound_names(bound: tuple[Var, ...], inside: tuple[Node, ...]) -> tuple[Var, ...]:
    """How the variables ``bound`` in what is ``inside`` are named."""
    nested = (int(a.bound[0].name[len(BOUND) :]) for part in inside for a in aggregates_in(part))
    depth = 1 + max(nested, default=-1)
    states = (Var(f"{BOUND}{depth}.{number}", variable.type) for number, variable in zip(numbers(1), bound[1:]))
    return (Var(f"{BOUND}{depth}", POSITIONS), *states)


def simplified(kind: str, outside: tuple[Term, ...], bound: tuple[Var, ...], inside: tuple[Node, ...]) -> Term | None:
    """The same without an aggregate, where the number of positions, or what is inside, is simple."""
    if kind == "earliest":
        return ZERO if inside[0] is TRUE else Const(-1) if inside[0] is FALSE else None
    length = outside[0]
    most = range_of(length)[1]
    if most is not None and most <= 0:
        return _of_none(kind, outside)
    part = inside[0]
    natural = build.maximum(length, ZERO)
    if kind in ("first", "last") and part in (TRUE, FALSE):
        if kind == "first":
            return natural if part is FALSE else ZERO
        return Const(-1) if part is FALSE else build.sub(natural, ONE)
    if kind == "sum" and bound[0] not in part.variables:
        assert isinstance(part, Term)
        return build.mul(natural, part)
    if kind in ("least", "greatest") and bound[0] not in part.variables:
        assert isinstance(part, Term)
        extreme = build.minimum if kind == "least" else build.maximum
        return build.ite(conditions.greater(length, ZERO), extreme(outside[1], part), outside[1])
    return None


def _of_none(kind: str, outside: tuple[Term, ...]) -> Term:
    match kind:
        case "last":
            return Const(-1)
        case "least" | "greatest":
            return outside[1]
        case "fold":
            number = outside[1]
            assert isinstance(number, Const)
            return outside[2 + number.value]
        case _:
            return ZERO

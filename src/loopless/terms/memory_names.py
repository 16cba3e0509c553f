"""How C names what lies in memory: members of arrays of structures, and that a pointer is null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loopless.terms.build import Polynomial, from_polynomial, polynomial
from loopless.terms.nodes import Compare, Term, Var


@dataclass(frozen=True, slots=True)
class Rows:
    """An array in an object: from byte ``start`` on, to before ``end`` (None: as far as it goes), elements of ``size``
    bytes. ``head``: how C names the array behind the name of the object, as ``->items``; ``members``: how it names the
    bytes at an offset in an element behind that, by offset and number of bytes: ``.qty``, or nothing for all of it.
    """

    start: int
    end: int | None
    size: int
    head: str
    members: Mapping[tuple[int, int], str]


def member_at(rows: Sequence[Rows], offset: Polynomial, size: int) -> tuple[str, Term, str] | None:
    """The array of ``rows`` in which the ``size`` bytes at an offset lie, by its ``head``, the index in it, and how C
    names the member behind the element; None where that is no member of one.
    """
    constant = offset.get((), 0)
    for row in rows:
        if any(factor % row.size for monomial, factor in offset.items() if monomial):
            continue
        index, inside = divmod(constant - row.start, row.size)
        here = row.start <= constant and (row.end is None or constant < row.end)
        if (inside, size) in row.members and (here or len(rows) == 1):
            steps = {monomial: factor // row.size for monomial, factor in offset.items() if monomial}
            return row.head, from_polynomial({**steps, (): index}), row.members[inside, size]
    return None


def about_null(node: Compare, pointers: Mapping[Var, str]) -> str | None:
    """``p == NULL``, where the comparison says that one of ``pointers`` is null, or that it is not; None where it says
    neither. A variable of them is 0 where its pointer is null; one of a single bit is 1 there, and 0 elsewhere.
    """
    if not pointers or len(node.variables) != 1:
        return None
    (var,) = node.variables
    poly = polynomial(node.term)
    factor, constant = poly.get(((var, 1),), 0), poly.get((), 0)
    if var not in pointers or not factor or len(poly) > 1 + (constant != 0):
        return None
    if var.type.width != 1:
        null = (node.relation == "eq") if node.relation != "le" and not constant else None
    elif node.relation == "le":
        null = factor + constant <= 0 if (factor + constant <= 0) != (constant <= 0) else None
    else:
        null = (factor + constant == 0) == (node.relation == "eq") if 0 in (constant, factor + constant) else None
    return None if null is None else f"{pointers[var]} {'==' if null else '!='} NULL"

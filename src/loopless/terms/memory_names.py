"""How C names what lies in memory: elements and members as they are declared, and that a pointer is null."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import prod
from typing import Final

from loopless.records import dataclass
from loopless.terms.build import Polynomial, from_polynomial, polynomial
from loopless.terms.nodes import (
    LIST,
    OBJECT_IN_LIST,
    Aggregate,
    And,
    Compare,
    Condition,
    Const,
    Monomial,
    Node,
    Op,
    Read,
    Term,
    Var,
    Wrap,
    counts_values,
    in_list,
)
from loopless.terms.types import IntType, type_name


@dataclass(frozen=True, slots=True)
class Scalar:
    """What is declared at a place: how C names it behind the element around it (``.qty``, nothing for all of that), and
    its integer type, None where it is no integer.
    """

    name: str
    type: IntType | None


@dataclass(frozen=True, slots=True)
class Rows:
    """An array in an object: from byte ``start`` on, to before ``end`` (None: as far as it goes), elements of ``size``
    bytes. ``head``: how C names the array behind the name of the object, as ``->items``; ``members``: what is declared
    in an element, by offset and number of bytes; ``inner``: how many elements the inner dimensions have.
    """

    start: int
    end: int | None
    size: int
    head: str
    members: Mapping[tuple[int, int], Scalar]
    inner: tuple[int, ...] = ()

    @property
    def element(self) -> IntType | None:
        """The integer type of the elements, None where they are no integers."""
        only = self.members.get((0, self.size))
        return only.type if only is not None and not only.name else None


@dataclass(frozen=True, slots=True)
class Layout:
    """What is declared in an object: the arrays in it. ``whole``: its name is that of the object, which has an address;
    else of an array or a pointer, which is one. ``content``: its bytes, where nothing changes them.
    """

    rows: tuple[Rows, ...] = ()
    whole: bool = False
    content: bytes | None = None

    @property
    def array(self) -> Rows | None:
        """The array that the name of the object alone means."""
        return next((row for row in self.rows if not row.head), None)


@dataclass(frozen=True, slots=True)
class Place:
    """A declared scalar: the array that it lies in, the indices there, and what is declared."""

    row: Rows
    indices: tuple[Term, ...]
    scalar: Scalar


def member_at(rows: Sequence[Rows], offset: Polynomial, size: int | None) -> Place | None:
    """The scalar of ``size`` bytes (None: of any size) at an offset; None where none is declared there."""
    constant = offset.get((), 0)
    moved = [factor for monomial, factor in offset.items() if monomial]
    whole = next((row.size for row in rows if not row.head), 0)
    for row in rows:
        if any(factor % row.size for factor in moved):
            continue
        if row.head and moved and whole and all(factor % whole == 0 for factor in moved):
            continue  # it goes from structure to structure, not along the array in one
        index, inside = divmod(constant - row.start, row.size)
        here = row.start <= constant and (row.end is None or constant < row.end)
        found = next((m for (at, held), m in row.members.items() if at == inside and size in (held, None)), None)
        if found is not None and (here or len(rows) == 1):
            steps = {monomial: factor // row.size for monomial, factor in offset.items() if monomial}
            return Place(row, _indices({**steps, (): index}, row.inner), found)
    return None


def read_as(type: IntType) -> str:
    """The C name of the type by which memory is read."""
    return "_Bool" if type == IntType(1, signed=False) else type_name(type)


def reading(term: Term) -> Read | None:
    """The element that a term is, which may read the same bytes with another sign; None for other terms."""
    match term:
        case Read() if not counts_values(term.array):
            return term
        case Wrap(arg=Read() as inner, type=type) if inner.type.width == type.width:
            return None if counts_values(inner.array) else Read(inner.array, inner.offset, type)
        case Op(op="mod", args=(Read() as inner, Const(value=value))) if inner.type.width is not None:
            if counts_values(inner.array) or value != 1 << inner.type.width:
                return None
            return Read(inner.array, inner.offset, IntType(inner.type.width, signed=False))
        case _:
            return None


def bytes_of(type: IntType) -> int | None:
    """How many bytes a read of a type takes; None for integers of any size, which take those of the element."""
    return None if type.width is None else (type.width + 7) // 8


def _indices(index: Polynomial, inner: Sequence[int]) -> tuple[Term, ...]:
    """The index of an element as C writes it of an array of several dimensions."""
    found: list[Term] = []
    for at in range(len(inner)):
        stride = prod(inner[at:])
        steps = {monomial: factor for monomial, factor in index.items() if monomial and factor % stride == 0}
        whole, rest = divmod(index.get((), 0), stride)
        found.append(from_polynomial({**{monomial: factor // stride for monomial, factor in steps.items()}, (): whole}))
        index = {**{monomial: factor for monomial, factor in index.items() if monomial not in steps}, (): rest}
    return (*found, from_polynomial(index))


@dataclass(frozen=True, slots=True)
class Located:
    """A read in an object of a ``layout``, at the byte ``offset``; ``place``: the scalar that is declared there, where
    it differs from what is read by a sign at most.
    """

    layout: Layout
    offset: Polynomial
    place: Place | None


def element_called(array: str, place: Place, indices: Sequence[str], mark: str = "") -> str:
    """How C names a scalar, ``a[k]``, ``p->items[k].len``, with a ``mark`` behind the array."""
    return f"{array}{place.row.head}{mark}{''.join(f'[{index}]' for index in indices)}{place.scalar.name}"


@dataclass(frozen=True, slots=True)
class ReadAs:
    """How a text names what is read of an array: as the declared ``element``, ``s[].len``, of the type ``declared``,
    None where it is named by its bytes; ``type`` is that of the value.
    """

    array: str
    element: str | None
    declared: IntType | None
    type: IntType

    @classmethod
    def of(cls, read: Read, place: Place | None) -> ReadAs:
        """What is told of a read at a declared place, or at none."""
        array = read.array.removeprefix("*")
        if place is None:
            return cls(array, None, None, read.type)
        return cls(array, element_called(array, place, [""] * len(place.indices)), place.scalar.type, read.type)


_DECLARED: ContextVar[Mapping[str, Layout]] = ContextVar("declared")


@contextmanager
def as_declared(layouts: Mapping[str, Layout]) -> Iterator[None]:
    """Inside, texts that are written without layouts of their own name elements by these: those of reasons, of which
    nothing else knows what function they are about.
    """
    token = _DECLARED.set(layouts)
    try:
        yield
    finally:
        _DECLARED.reset(token)


def declared() -> Mapping[str, Layout]:
    """The layouts of the innermost :func:`as_declared`."""
    return _DECLARED.get({})


_UNKNOWN: Final = Layout()
"""What is known of an object of which nothing is."""


def located(read: Read, offset: Polynomial, layouts: Mapping[str, Layout]) -> Located:
    """Where a read is, whose offset is this polynomial. Offsets count from where the pointer of the name points to."""
    array = read.array.removeprefix("*")
    offset = _from_pointer(array, offset)
    layout = layouts.get(array, _UNKNOWN)
    place = member_at(layout.rows, offset, bytes_of(read.type))
    declared = None if place is None else place.scalar.type
    same = declared is not None and (read.type.width is None or declared.width == read.type.width)
    return Located(layout, offset, place if same else None)


def scalar_at(read: Read, offset: Polynomial, layouts: Mapping[str, Layout]) -> Place | None:
    """The scalar of any type that is declared where a read is, whose offset is this polynomial."""
    array = read.array.removeprefix("*")
    return member_at(layouts.get(array, _UNKNOWN).rows, _from_pointer(array, offset), bytes_of(read.type))


def _from_pointer(array: str, offset: Polynomial) -> Polynomial:
    """An offset counted from where the pointer of the name points to."""
    return {monomial: c for monomial, c in offset.items() if c != 1 or not _is_called(monomial, array)}


def _is_called(monomial: Monomial, name: str) -> bool:
    """Whether the monomial is the variable of this name."""
    if len(monomial) != 1 or monomial[0][1] != 1:
        return False
    atom = monomial[0][0]
    return isinstance(atom, Var) and atom.name == name


def equal_as_declared(node: Compare, layouts: Mapping[str, Layout], closed: Container[Node] = ()) -> Compare:
    """Where elements are equal, or an element to a number, signs do not matter: the same of elements as declared. What
    is ``closed`` has a name.
    """
    poly = polynomial(node.term)
    number = poly.pop((), 0)
    parts: list[tuple[Read, IntType, int]] = []
    for monomial, factor in poly.items():
        found = reading(monomial[0][0]) if _is_atom(monomial) and monomial[0][0] not in closed else None
        place = None if found is None else located(found, polynomial(found.offset), layouts).place
        if found is None or place is None or place.scalar.type is None or abs(factor) != 1:
            return node
        parts.append((found, place.scalar.type, factor))
    if len({(read.type, declared) for read, declared, _ in parts}) != 1 or len(parts) > 2:
        return node
    if len(parts) == 2 and (number or parts[0][2] == parts[1][2]):
        return node
    read, declared, factor = parts[0]
    if len(parts) == 1:
        if not read.type.holds(-number * factor):
            return node
        number = -declared.wrap(-number * factor) * factor
    own: dict[Monomial, int] = {((Read(r.array, r.offset, declared), 1),): f for r, _, f in parts}
    return Compare(node.relation, from_polynomial({**own, (): number}))


def _is_atom(monomial: Monomial) -> bool:
    return len(monomial) == 1 and monomial[0][1] == 1


def about_pointers(
    parts: Sequence[Condition], halves: Mapping[Var, Var], pointers: Mapping[Var, str], *, all_of: bool
) -> dict[int, tuple[str, int]]:
    """Of conjuncts (``all_of``), or of disjuncts, those pairs that say together that two pointers are the same, that
    they are not, or that one is null: by the number of the first what they say, and the number of the other one.

    ``halves``: by variables that say which object a pointer points into, those of its offset there.
    """
    relation = "eq" if all_of else "ne"
    compared = {part: at for at, part in enumerate(parts) if isinstance(part, Compare) and part.relation == relation}
    found: dict[int, tuple[str, int]] = {}
    for part, at in compared.items() if halves else ():
        shown = _about_objects(part, halves, pointers)
        if shown is not None:
            left, right, offsets = shown
            other = next((n for p, n in compared.items() if p is not part and _is_difference(p, *offsets)), None)
            if other is not None:
                found[min(at, other)] = (f"{left} {'==' if all_of else '!='} {right}", max(at, other))
    return found


def _about_objects(
    part: Compare, halves: Mapping[Var, Var], pointers: Mapping[Var, str]
) -> tuple[str, str, tuple[Var, Var | None]] | None:
    """The two sides of a comparison of the objects of pointers, and their offsets; None for any other."""
    owners = sorted(part.variables, key=lambda var: var.key)
    if not 1 <= len(owners) <= 2 or any(owner not in halves or owner not in pointers for owner in owners):
        return None
    first, second = owners[0], owners[1] if len(owners) > 1 else None
    if not _is_difference(part, first, second):
        return None
    right = "NULL" if second is None else pointers[second]
    return pointers[first], right, (halves[first], halves[second] if second is not None else None)


def _is_difference(part: Compare, first: Var, second: Var | None) -> bool:
    """Whether two variables are compared, or one with 0."""
    expected = {((first, 1),): 1, **({((second, 1),): -1} if second is not None else {})}
    found = {monomial: factor for monomial, factor in polynomial(part.term).items() if monomial or factor}
    return found in (expected, {monomial: -factor for monomial, factor in expected.items()})


def offset_in_list(owner: Node) -> tuple[str, Term] | None:
    """Of what says into which object a pointer in a list points, what reads call its offset there, and the number of
    the node; None for anything else.
    """
    if not isinstance(owner, Read) or in_list(owner.array) is None or not owner.array.endswith(OBJECT_IN_LIST):
        return None
    return owner.array.removesuffix(OBJECT_IN_LIST), owner.offset


def about_nodes(
    parts: Sequence[Condition], halves: Mapping[Var, Var], *, all_of: bool
) -> dict[int, tuple[Term, Term | None, int]]:
    """As :func:`about_pointers` of pointers that lie in lists: by the number of the first of a pair the objects of both
    pointers (None: null), and the number of the other one.
    """
    compared = {
        at: frozenset(polynomial(part.term).items())
        for at, part in enumerate(parts)
        if isinstance(part, Compare) and part.relation == ("eq" if all_of else "ne")
    }
    found: dict[int, tuple[Term, Term | None, int]] = {}
    for at, items in compared.items():
        owners = [monomial[0][0] for monomial, _ in items if _is_atom(monomial)]
        owners.sort(key=lambda owner: (offset_in_list(owner) is None, owner.key))
        if not 1 <= len(owners) == len(items) <= 2 or offset_in_list(owners[0]) is None:
            continue
        wanted = [offset_in_list(owner) or (halves.get(owner) if isinstance(owner, Var) else None) for owner in owners]
        for other, rest in compared.items():
            offsets = [_offset(monomial) for monomial, _ in rest]
            if other != at and None not in wanted and len(rest) == len(wanted) and set(offsets) == set(wanted):
                found[min(at, other)] = owners[0], (owners[1] if len(owners) > 1 else None), max(at, other)
    return found


def _offset(monomial: Monomial) -> tuple[str, Term] | Term | None:
    """What is compared, where the type by which it is read does not matter."""
    atom = monomial[0][0] if _is_atom(monomial) else None
    return (atom.array, atom.offset) if isinstance(atom, Read) else atom


def length_in_words(node: Node) -> str | None:
    """``p, next``, where ``node`` is the number of nodes from the pointer p on by the member next; else None."""
    if not isinstance(node, Aggregate) or node.kind != "earliest" or not isinstance(node.inside[0], And):
        return None
    (condition,) = node.inside
    assert isinstance(condition, And)
    ends = about_nodes(condition.args, {}, all_of=True).get(0)
    if ends is None or len(condition.args) != 2 or ends[1] is not None:
        return None
    owner = ends[0]
    named = in_list(owner.array) if isinstance(owner, Read) else None
    if named is None or named[1] != OBJECT_IN_LIST or not isinstance(owner, Read) or owner.offset is not node.bound[0]:
        return None
    return named[0].removeprefix(LIST).removesuffix(")")


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

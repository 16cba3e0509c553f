"""What memory holds after a loop: layers over what it held before.

The content of an object is its base, which reads name (:class:`.Read`), under layers, the newest first. A layer says of
a row of elements what each holds: ``a'[j] = 2*b[j] for 0 <= j && j < n``. So memory after a loop is a piecewise lambda
over memory before it ("Accelerating Loops with Arrays", LoAT 2026, has lambdas in place of quantifiers, too; fluid
updates are Dillig, Dillig, Aiken, ESOP 2010). Reading from a content gives choices that end in a read of the base, so
everything that is built of terms stays as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from loopless.records import dataclass
from loopless.terms.build import add, const, floor_div, from_polynomial, ite, mod, mul, polynomial, read, sub, wrap
from loopless.terms.conditions import between, conjunction, conjuncts, disjunction, equal, negate
from loopless.terms.evaluate import Reader, Sweep, evaluate
from loopless.terms.memory_names import bytes_of
from loopless.terms.nodes import (
    FALSE,
    OPENED,
    TRUE,
    Compare,
    Condition,
    Node,
    Read,
    Term,
    Var,
    Wrap,
    in_list,
    walk_inside,
)
from loopless.terms.operators import EvaluationError
from loopless.terms.substitute import renamed_arrays, substitute, with_reads_where
from loopless.terms.types import INTEGERS, IntType

INDEX: Final = Var(f"{OPENED}index", INTEGERS)
"""The index of an element in the conditions and values of layers; no variable of a program has its name."""

_OTHER: Final = Var(f"{OPENED}other", INTEGERS)
"""The index of an element of a layer, where an offset speaks of :data:`INDEX`."""

_BYTE: Final = IntType(8, signed=False)

Decide = Callable[[Condition], Condition]
"""A condition that agrees with the given one wherever something is known; true or false where that decides it."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a pointer leads: into ``object``, to the byte ``offset`` there."""

    object: Term
    offset: Term

    def of(self, change: Callable[[Term], Node | None]) -> Target | None:
        """The place with ``change`` applied to its terms; None where it makes None of one."""
        object, offset = change(self.object), change(self.offset)
        return Target(object, offset) if isinstance(object, Term) and isinstance(offset, Term) else None


@dataclass(frozen=True, slots=True)
class Layer:
    """For each integer j, which ``where`` and ``value`` call :data:`INDEX`, for which ``where`` holds: the element of
    ``type`` at the byte ``start`` + ``stride``·j holds ``value``. ``value`` is None where nothing is known of it.

    ``stride`` > 0 is no less than the bytes of an element, so elements do not overlap. ``start`` does not depend on j.
    Of a list, ``start`` and ``stride`` count nodes in place of bytes, see :func:`.in_list`: then elements of another
    size are read at no number. Where elements hold a ``pointer``, ``value`` is None: which number that is nobody knows.
    """

    type: IntType
    start: Term
    stride: int
    where: Condition
    value: Term | None
    pointer: Target | None = None

    @property
    def is_told(self) -> bool:
        """Whether it is known what the elements hold."""
        return self.value is not None or self.pointer is not None

    @property
    def size(self) -> int:
        """The number of bytes of an element."""
        return size_of(self.type)

    @property
    def offset(self) -> Term:
        """The byte offset of element :data:`INDEX`."""
        return add(self.start, mul(const(self.stride), INDEX))

    @property
    def nodes(self) -> tuple[Term | Condition, ...]:
        """What it is made of."""
        held = () if self.pointer is None else (self.pointer.object, self.pointer.offset)
        return (self.start, self.where, *held, *(() if self.value is None else (self.value,)))

    def of(self, change: Callable[[Node], Node | None]) -> Layer | None:
        """The layer with ``change`` applied to its terms and its condition, without a value of which that makes None;
        None where it makes that of its place.
        """
        start, where = change(self.start), change(self.where)
        if start is None or where is None:
            return None
        value = None if self.value is None else change(self.value)
        held = None if self.pointer is None else self.pointer.of(change)
        assert isinstance(start, Term)
        assert isinstance(where, Condition)
        assert value is None or isinstance(value, Term)
        return replace(self, start=start, where=where, value=value, pointer=held)


def size_of(type: IntType) -> int:
    """The number of bytes of an element of a type, which has a width."""
    found = bytes_of(type)
    assert found is not None, "elements in memory have a width"
    return found


Layers = tuple[Layer, ...]
"""The newest first. Where several say something of an element, the newest does."""

Contents = Mapping[str, Layers]
"""By the names that reads have, the layers over what objects held before. Other objects hold what they held."""


class Overlapping(Exception):
    """An element is read that lies across elements of a layer, or may do so."""


class UnknownElement(EvaluationError):
    """The value of an element is asked for of which nothing is known."""


# -- reading -----------------------------------------------------------------------------------------------------------


def element(contents: Contents, array: str, offset: Term, type: IntType, decide: Decide) -> Term | None:
    """The element of ``type`` at byte ``offset`` of ``array``; None where it is not known. ``decide`` knows what holds.

    Raises :class:`Overlapping`.
    """
    found: list[tuple[Condition, Term]] = []
    last: Term | None = None
    for layer in contents.get(array, ()):
        if layer.value is None:
            if decide(_touches(layer, offset, type)) is FALSE:
                continue
            return None
        try:
            index = index_at(layer, offset, type)
        except Overlapping:
            if decide(_overlaps(layer, offset, type)) is FALSE:
                continue
            wider = of_bytes(layer, offset, type, decide)
            if wider is None:
                raise
            there, value = wider
            there = decide(there)
        else:
            if index is None:
                continue
            at, aligned = index
            there = decide(conjunction((aligned, substitute(layer.where, {INDEX: at}))))
            if there is FALSE:
                continue
            value = substitute(layer.value, {INDEX: at})
            if type != layer.type:
                value = _as(value, type, under(decide, there))
        if there is FALSE:
            continue
        if there is TRUE or (found and decide(disjunction((there, *(newer for newer, _ in found)))) is TRUE):
            last = value  # where no newer one says what it holds, this one does
            break
        found.append((there, value))
    value = read(array, offset, type) if last is None else last
    for there, other in reversed(found):
        value = ite(there, other, value)
    return value


def _as(value: Term, type: IntType, decide: Decide) -> Term:
    """What elements of ``type`` hold that hold ``value`` as another type."""
    fits = decide(between(type.min, value, type.max)) is TRUE
    return value if fits else wrap(value, type)


def of_bytes(layer: Layer, offset: Term, type: IntType, decide: Decide) -> tuple[Condition, Term] | None:
    """Where a row of single bytes holds all of the element of ``type`` at byte ``offset``, and the element: of bytes
    that are copied from elsewhere, or are all alike. None for others, and where it may hold a part of the element.
    """
    size = bytes_of(type)
    if size is None or layer.stride != 1 or layer.size != 1 or layer.value is None:
        return None
    first = sub(offset, layer.start)
    byte = layer.value.arg if isinstance(layer.value, Wrap) else layer.value
    if INDEX not in byte.variables:
        value = wrap(mul(wrap(byte, _BYTE), const(sum(1 << 8 * at for at in range(size)))), type)
    elif isinstance(byte, Read) and byte.type.width == 8 and INDEX not in sub(byte.offset, INDEX).variables:
        value = read(byte.array, substitute(byte.offset, {INDEX: first}), type)
    else:
        return None
    each = [substitute(layer.where, {INDEX: add(first, const(at))}) for at in range(size)]
    whole = conjunction(each)
    return (whole, value) if decide(conjunction((disjunction(each), negate(whole)))) is FALSE else None


def index_at(layer: Layer, offset: Term, type: IntType) -> tuple[Term, Condition] | None:
    """The index of the element of ``layer`` that an element of ``type`` at byte ``offset`` is, where a condition holds;
    it is none elsewhere. None where the two surely do not overlap. Raises :class:`Overlapping` where they may do so
    without being the same.
    """
    size = bytes_of(type)
    distance = sub(offset, layer.start)
    stride = layer.stride
    apart = residue(distance, stride)
    if apart is not None:
        if size == layer.size and apart == 0:
            return floor_div(distance, const(stride)), TRUE
        if size is not None and layer.size <= apart and apart + size <= stride:
            return None
        raise Overlapping
    grid = residue(distance, layer.size)
    if grid == 0 and size == layer.size and stride % size == 0:
        return floor_div(distance, const(stride)), equal(mod(distance, const(stride)), const(0))
    raise Overlapping


def _touches(layer: Layer, offset: Term, type: IntType) -> Condition:
    """Where an element of ``type`` at byte ``offset`` may share a byte with an element of ``layer``."""
    size, distance = bytes_of(type), sub(offset, layer.start)
    if size is None or layer.stride != layer.size:
        return _overlaps(layer, offset, type)
    if layer.stride == 1:
        return disjunction(substitute(layer.where, {INDEX: add(distance, const(at))}) for at in range(size))
    apart = residue(distance, layer.stride)
    if apart == 0 and size == layer.size:
        return substitute(layer.where, {INDEX: floor_div(distance, const(layer.stride))})
    return _overlaps(layer, offset, type)


def _overlaps(layer: Layer, offset: Term, type: IntType) -> Condition:
    """That an element of ``type`` at byte ``offset`` shares a byte with the element of ``layer`` of some index, which
    is a variable of its own: no values fulfil it where none shares one.
    """
    size = bytes_of(type)
    if size is None:
        return TRUE
    distance = sub(sub(offset, layer.start), mul(const(layer.stride), _OTHER))
    return conjunction((substitute(layer.where, {INDEX: _OTHER}), between(1 - size, distance, layer.size - 1)))


def residue(term: Term, modulus: int) -> int | None:
    """What ``term`` is modulo a number, where its form says so."""
    poly = polynomial(term)
    if any(factor % modulus for monomial, factor in poly.items() if monomial):
        return None
    return poly.get((), 0) % modulus


# -- composing ---------------------------------------------------------------------------------------------------------


def mapped(layers: Sequence[Layer], of: Callable[[Node], Node]) -> Layers:
    """The layers with ``of`` applied to their terms and conditions; those that are nowhere are left out."""
    changed = (layer.of(of) for layer in layers)
    return tuple(layer for layer in changed if layer is not None and layer.where is not FALSE)


def applied(contents: Contents | None, of: Callable[[Node], Node]) -> dict[str, Layers] | None:
    """The contents with ``of`` applied to all their terms and conditions; None where nothing is told of memory."""
    return None if contents is None else {array: mapped(layers, of) for array, layers in contents.items()}


def placed(
    contents: Contents, values: Mapping[Var, Term], arrays: Mapping[str, str] | None = None
) -> dict[str, Layers]:
    """The contents over other values of the variables, where objects may have other names; nothing is known of one
    that is written and that several become. Raises :class:`.TermTooLarge`.
    """
    names = arrays or {}
    called = Counter(names.get(array, array) for array in {*contents, *arrays_in(contents)}) if names else Counter()

    def of(node: Node) -> Node:
        there = renamed_arrays(node, names) if names else node
        if isinstance(there, Term):
            return substitute(there, values)
        assert isinstance(there, Condition)
        return substitute(there, values)

    found: dict[str, Layers] = {}
    for array, layers in contents.items():
        name = names.get(array, array)
        found[name] = mapped(layers, of) if called[name] <= 1 else (unknown(),)
    return found


def behind(contents: Contents, node: Node, decide: Decide) -> Node | None:
    """``node`` where what it reads is read of these ``contents``; None where that is not known."""
    unknown = False

    def of(array: str, offset: Term, type: IntType, given: Condition) -> Term:
        nonlocal unknown
        if array not in contents:
            return read(array, offset, type)
        try:
            found = element(contents, array, offset, type, decide if given is TRUE else under(decide, given))
        except Overlapping:
            found = None
        if found is None:
            unknown = True
            return read(array, offset, type)
        return found

    result = with_reads_where(node, of)
    return None if unknown else result


def under(decide: Decide, given: Condition) -> Decide:
    """Decides where ``given`` holds, too."""

    def decided(condition: Condition) -> Condition:
        if decide(conjunction((given, condition))) is FALSE:
            return FALSE
        return TRUE if decide(conjunction((given, negate(condition)))) is FALSE else condition

    return decided


def followed(first: Contents, second: Contents, decide: Decide) -> dict[str, Layers]:
    """The contents after ``first`` and behind it ``second``, over what was there before both. A value that ``second``
    reads and ``first`` does not tell is unknown; where such a value says where ``second`` writes, all of the object is.
    """
    found = dict(first)
    for array, layers in second.items():
        above: list[Layer] = []
        for layer in layers:
            there = layer.of(lambda node: behind(first, node, decide))
            if there is None:
                above.append(unknown())
            elif there.where is not FALSE:
                above.append(there)
        found[array] = (*above, *first.get(array, ()))
    return found


# -- evaluating --------------------------------------------------------------------------------------------------------


def reader_behind(contents: Contents, values: Mapping[Var, int], before: Reader) -> Reader:
    """What memory holds where it has these ``contents``, for these values of the variables, over what ``before`` reads.

    The reader raises :class:`UnknownElement` for elements of which nothing is known. Elements that are read one after
    the other are found in one pass.
    """
    return _Held(contents, values, before).element


class _Held:
    """What memory holds at values of the variables."""

    def __init__(self, contents: Contents, values: Mapping[Var, int], before: Reader) -> None:
        self._before = before
        self._layers: dict[str, list[_HeldLayer]] = {}
        """Those that were needed so far."""
        self._contents = contents
        self._values = values

    def element(self, array: str, offset: int, type: IntType) -> int:
        """The element of ``type`` at a byte offset of ``array``."""
        layers = self._layers.get(array)
        if layers is None:
            held = (_HeldLayer(layer, array, self._values, self._before) for layer in self._contents.get(array, ()))
            layers = self._layers[array] = list(held)
        size = bytes_of(type)
        if not layers:
            return self._before(array, offset, type)
        if size is None:
            raise EvaluationError(f"{array} at byte {offset} is read as an integer without a size")
        for layer in layers:
            index, inside = divmod(offset - layer.start, layer.stride)
            if inside == 0 and size == layer.size:
                value = layer.at(index)
                if value is not None:
                    return type.wrap(value)
            elif in_list(array) is not None:
                if inside:
                    continue
                raise UnknownElement(f"{array} is read as {type}, and written as another type")
            elif inside < layer.size or inside + size > layer.stride:
                return self._of_bytes(layers, array, offset, type)
        return self._before(array, offset, type)

    def _of_bytes(self, layers: Sequence[_HeldLayer], array: str, offset: int, type: IntType) -> int:
        """An element that may lie across others."""
        bytes_held: list[int] = []
        for at in range(offset, offset + (bytes_of(type) or 0)):
            held = (layer.byte(at) for layer in layers)
            found = next((byte for byte in held if byte is not None), None)
            bytes_held.append(self._before(array, at, _BYTE) if found is None else found)
        return type.wrap(sum((byte & 0xFF) << (8 * at) for at, byte in enumerate(bytes_held)))


class _HeldLayer:
    """A layer at values of the variables."""

    def __init__(self, layer: Layer, array: str, values: Mapping[Var, int], before: Reader) -> None:
        self._layer, self._array = layer, array
        self.start = evaluate(layer.start, values, before)
        self.stride, self.size = layer.stride, layer.size
        self._sweep = Sweep(INDEX, values, before)
        self._low: int | None = None
        self._high: int | None = None
        self._where = conjunction(part for part in conjuncts(layer.where) if not self._bounded(part, values, before))

    def _bounded(self, part: Condition, values: Mapping[Var, int], before: Reader) -> bool:
        """Take a conjunct that says how large the index is, with the others, and say whether it does."""
        if not isinstance(part, Compare) or part.relation != "le":
            return False
        rest = dict(polynomial(part.term))
        factor = rest.pop(((INDEX, 1),), 0)
        beside = from_polynomial(rest)
        if not factor or INDEX in beside.variables:
            return False
        try:
            limit = evaluate(beside, values, before)
        except EvaluationError:
            return False  # another part may decide
        if factor > 0:
            high = -limit // factor
            self._high = high if self._high is None else min(self._high, high)
        else:
            low = -(-limit // -factor)
            self._low = low if self._low is None else max(self._low, low)
        return True

    def at(self, index: int) -> int | None:
        """What the element of an index holds; None where the layer says nothing of it."""
        if (self._low is not None and index < self._low) or (self._high is not None and index > self._high):
            return None
        self._sweep.go(index)
        if self._where is not TRUE and not self._sweep.holds(self._where):
            return None
        if self._layer.value is None:
            raise UnknownElement(f"what {self._array} holds at byte {self.start + self.stride * index} is not known")
        return self._sweep.evaluate(self._layer.value)

    def byte(self, at: int) -> int | None:
        """The byte at an offset; None where the layer says nothing of it."""
        index, inside = divmod(at - self.start, self.stride)
        value = self.at(index) if inside < self.size else None
        return None if value is None else value >> (8 * inside)


# -- what is spoken of -------------------------------------------------------------------------------------------------


def nodes_in(contents: Contents) -> Iterator[Term | Condition]:
    """All terms and conditions of the contents."""
    for layers in contents.values():
        for layer in layers:
            yield from layer.nodes


def variables_in(contents: Contents) -> frozenset[Var]:
    """The variables that the contents speak of, without the index."""
    return frozenset[Var]().union(*(node.variables for node in nodes_in(contents))) - {INDEX}


def arrays_in(contents: Contents) -> frozenset[str]:
    """The objects that the contents read."""
    parts = (part for node in nodes_in(contents) for part in walk_inside(node))
    return frozenset(part.array for part in parts if isinstance(part, Read))


def single(type: IntType, offset: Term, value: Term | None, where: Condition = TRUE) -> Layer:
    """The layer of one element that is written at byte ``offset`` where a condition holds."""
    return Layer(type, offset, size_of(type), conjunction((where, equal(INDEX, const(0)))), value)


def unknown(size: int | None = None) -> Layer:
    """The layer of an object of ``size`` bytes that may hold anything; None where the size is not known."""
    where = TRUE if size is None else between(0, INDEX, size - 1)
    return Layer(_BYTE, const(0), 1, where, None)

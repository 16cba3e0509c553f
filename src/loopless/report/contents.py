"""What memory holds after a loop, in words: ``a'[j] = 2*b[j] for 0 <= j < n``, one line a layer, the newest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod
from typing import Final

from loopless import terms as t
from loopless.logic import feasible
from loopless.records import dataclass
from loopless.report.names import Names
from loopless.summary.presentation.contents import meets


@dataclass(frozen=True, slots=True)
class ShownLayer:
    """A layer of the object ``array`` as it is shown: in elements as they are declared, counted from the beginning of
    what is declared. ``under``: whether a newer layer may say something of the same elements; ``natural``: whether its
    index surely has a value of :data:`_NATURAL`; ``inner``: the inner dimensions of an array, where it has elements of
    several rows.
    """

    array: str
    layer: t.Layer
    under: bool
    natural: bool
    inner: tuple[int, ...] = ()

    @property
    def at(self) -> tuple[t.Term, t.Condition] | None:
        """The index of the only element that it has, and where it has that; None where it may have others."""
        return only_index(self.layer.where)

    def index(self, names: Names) -> t.Term:
        """The index of its elements, as it is named."""
        only = self.at
        if only is not None:
            return only[0]
        return t.Var(names.name(t.INDEX), _NATURAL) if self.natural else t.INDEX


_NATURAL: Final = t.IntType(64, signed=False)
"""The type of an index that is never negative."""


def shown_layers(contents: t.Contents | None, when: t.Condition, names: Names) -> list[ShownLayer]:
    """The layers of all objects where ``when`` holds, those of one object the newest first."""
    return [
        _shown(array, layers, number, when, names)
        for array, layers in sorted((contents or {}).items())
        for number in range(len(layers))
    ]


def nodes_shown(contents: t.Contents | None, when: t.Condition, names: Names) -> Iterator[t.Node]:
    """The terms and conditions of the layers as they are shown."""
    for shown in shown_layers(contents, when, names):
        yield from shown.layer.nodes


def _shown(array: str, layers: t.Layers, number: int, when: t.Condition, names: Names) -> ShownLayer:
    layer = _as_declared(array, layers[number], names)
    here = when & layer.where
    place = names.place(array, layer.offset, layer.type)
    inner = place.row.inner if place is not None and place.row.size == layer.stride else ()
    natural = not feasible(here & ~t.between(_NATURAL.min, t.INDEX, _NATURAL.max))
    if natural and not feasible(here & t.INDEX.ge(prod(inner))):
        inner = ()
    return ShownLayer(array, layer, meets(layers[:number], layers[number], when), natural, inner)


def content_lines(
    contents: t.Contents | None, when: t.Condition, names: Names, *, untold: bool = True, pointers: bool = True
) -> list[str]:
    """What memory holds where ``when`` holds, a line for each layer; nothing of objects that keep their contents.
    ``untold``: also of objects of which nothing is told; ``pointers``: also places that hold pointers, as variables do
    where a loop moves them.
    """
    known = {
        array: layers for array, layers in (contents or {}).items() if untold or not layers or not _is_all(layers[0])
    }
    halves = {array: _other_half(array, known, names) for array in known}
    told = {
        array: layers for array, layers in known.items() if not array.endswith(t.OBJECT_IN_LIST) or not halves[array]
    }
    return [
        layer_words(shown, names, halves[shown.array][number] if halves[shown.array] else None)
        for array in sorted(told)
        for number, shown in enumerate(shown_layers({array: told[array]}, when, names))
        if pointers or shown.layer.pointer is None
    ]


def _other_half(array: str, contents: t.Contents, names: Names) -> t.Layers:
    """Of members of nodes the layers of the other halves of the pointers that they hold, where the offset as it is
    printed says into which object these point, too; nothing for others.
    """
    is_owner = array.endswith(t.OBJECT_IN_LIST)
    partner = array.removesuffix(t.OBJECT_IN_LIST) if is_owner else array + t.OBJECT_IN_LIST
    owners, offsets = contents.get(array, ()), contents.get(partner, ())
    if not is_owner:
        owners, offsets = offsets, owners
    told = len(owners) == len(offsets) and all(
        (one.start, one.stride, one.where) == (other.start, other.stride, other.where)
        and (one.value is other.value is None or _is_told(one.value, other.value, names))
        for one, other in zip(owners, offsets, strict=True)
    )
    return contents.get(partner, ()) if told else ()


def _is_told(owner: t.Term | None, offset: t.Term | None, names: Names) -> bool:
    return owner is not None and offset is not None and names.is_told_by(owner, offset)


def _is_all(layer: t.Layer) -> bool:
    """Whether nothing is told of an object."""
    return not layer.is_told and layer.where is t.TRUE


def layer_words(shown: ShownLayer, names: Names, owner: t.Layer | None = None) -> str:
    """One layer in words. ``owner``: of offsets of pointers the layer that says into which objects these point."""
    layer = shown.layer
    head = "else " if shown.under else ""
    if _is_all(layer):
        return f"{head}not told: {shown.array.removeprefix('*')}[]"
    if shown.array.endswith(t.FREED):
        at = t.substitute(layer.offset, {t.INDEX: shown.index(names)})
        node = names.text(t.read(shown.array.removesuffix(f".{t.FREED}"), at, t.INTEGERS))
        return f"{'not told: whether it ' * (layer.value is None)}frees {node}{where_words(shown, names)}"
    element, value, place = element_words(shown, names), layer.value, where_words(shown, names)
    if (
        value is None
        and layer.size == 1
        and t.in_list(shown.array) is None
        and names.place(shown.array, layer.offset, layer.type) is None
    ):
        at = t.substitute(layer.offset, {t.INDEX: shown.index(names)})
        return f"{head}not told: byte {names.text(at)} of {shown.array.removeprefix('*')}{place}"
    if layer.pointer is not None and names.is_told_by(layer.pointer.object, layer.pointer.offset):
        return f"{head}{element} = {names.pointer(layer.pointer.object, layer.pointer.offset)}{place}"
    if value is None:
        return f"{head}not told: {element}{place}"
    index = {t.INDEX: shown.index(names)}
    if owner is not None and owner.value is not None:
        held = names.pointer(t.substitute(owner.value, index), t.substitute(value, index))
        return f"{head}{element} = {held}{place}"
    return f"{head}{element} = {names.text(t.substitute(value, index))}{place}"


def element_words(shown: ShownLayer, names: Names) -> str:
    """How the element of a layer is called that is meant as it is afterwards: ``a'[j]``, ``sum'[0]``."""
    layer, index = shown.layer, shown.index(names)
    if not shown.inner:
        offset = t.substitute(layer.offset, {t.INDEX: index})
        place = names.place(shown.array, offset, layer.type) if layer.value is None else None
        if place is not None:
            return names.member(shown.array, place, place.indices)
        return names.element(shown.array, offset, layer.type)
    begin = names.place(shown.array, t.substitute(layer.offset, {t.INDEX: t.ZERO}), layer.type)
    assert begin is not None
    sizes = [prod(shown.inner[at:]) for at in range(len(shown.inner))]
    counts = [t.floor_div(index, t.const(size)) for size in (*sizes, 1)]
    within = [t.mod(count, t.const(most)) for count, most in zip(counts[1:], shown.inner, strict=True)]
    return names.member(shown.array, begin, [begin.indices[0] + counts[0], *within])


def where_words(shown: ShownLayer, names: Names) -> str:
    """Of which elements a layer says something: `` for 0 <= j < n``, `` if n > 0``; nothing where that is one."""
    only = shown.at
    if only is not None:
        return "" if only[1] is t.TRUE else f" if {' or '.join(names.alternatives(only[1]))}"
    if shown.layer.where is t.TRUE:
        return f" for all {names.name(t.INDEX)}"
    index = {t.INDEX: shown.index(names)}
    if t.INDEX not in shown.layer.where.variables:
        return f" for all {names.name(t.INDEX)} if {names.text(shown.layer.where)}"
    return f" for {' or '.join(_chained(part, index, names) for part in t.disjuncts(shown.layer.where))}"


def only_index(where: t.Condition) -> tuple[t.Term, t.Condition] | None:
    """The only index for which a condition holds, and where it does; None where there may be others."""
    parts = t.conjuncts(where)
    for part in parts:
        index = _only(part)
        if index is not None:
            rest = t.conjunction(other for other in parts if other is not part)
            return index, t.substitute(rest, {t.INDEX: index})
    return None


def _only(part: t.Condition) -> t.Term | None:
    """The index that a condition says is the only one."""
    if not isinstance(part, t.Compare) or part.relation != "eq":
        return None
    factor, rest = _beside_index(part.term)
    return None if abs(factor) != 1 or t.INDEX in rest.variables else -factor * rest


def _beside_index(term: t.Term) -> tuple[int, t.Term]:
    """How often the index is added in a term, and the rest of it."""
    poly = t.polynomial(term)
    factor = poly.pop(((t.INDEX, 1),), 0)
    return factor, t.from_polynomial(poly)


@dataclass(frozen=True, slots=True)
class _Bound:
    """That so many ``times`` the index and ``rest`` are at most 0, or, of a ``low`` one, ``rest`` without these."""

    low: bool
    times: int
    rest: t.Term

    @classmethod
    def of(cls, part: t.Condition) -> _Bound | None:
        """The bound on the index that a condition is."""
        if not isinstance(part, t.Compare) or part.relation != "le":
            return None
        factor, rest = _beside_index(part.term)
        return None if factor == 0 or t.INDEX in rest.variables else cls(factor < 0, abs(factor), rest)


def _chained(where: t.Condition, index: Mapping[t.Var, t.Term], names: Names) -> str:
    """A condition in which two bounds on the index are one word: ``0 <= j < n && b[j] > 0``."""
    bounds = {part: bound for part in t.conjuncts(where) if (bound := _Bound.of(part)) is not None}
    low = next((part for part, bound in bounds.items() if bound.low), None)
    high = next((part for part, bound in bounds.items() if not bound.low), None)
    if low is None or high is None:
        return names.text(where)
    both = _between(bounds[low], bounds[high], names) or f"{names.text(low)} && {names.text(high)}"
    rest = t.conjunction(part for part in t.conjuncts(where) if part is not low and part is not high)
    if rest is t.TRUE:
        return both
    other = names.text(t.substitute(rest, index))
    return f"{both} && ({other})" if isinstance(rest, t.Or) else f"{both} && {other}"


def _between(low: _Bound, high: _Bound, names: Names) -> str | None:
    """Two bounds on the same multiple of the index, ``0 <= 2*j < n``; None where they are on different ones."""
    if low.times == 1 and isinstance(low.rest, t.Const):
        low = replace(low, times=high.times, rest=high.times * low.rest)
    if low.times != high.times:
        return None
    middle = names.name(t.INDEX) if low.times == 1 else f"{low.times}*{names.name(t.INDEX)}"
    return f"{_below(low.rest, names)} {middle} {_above(high.rest, names)}"


def _below(rest: t.Term, names: Names) -> str:
    if not isinstance(rest, t.Const) and t.polynomial(rest).get((), 0) == 1:
        return f"{_side(rest - 1, names)} <"
    return f"{_side(rest, names)} <="


def _above(rest: t.Term, names: Names) -> str:
    if not isinstance(rest, t.Const) and t.polynomial(rest).get((), 0) == 0:
        return f"<= {_side(-rest, names)}"
    return f"< {_side(1 - rest, names)}"


def _side(term: t.Term, names: Names) -> str:
    shown = names.text(term)
    return f"({shown})" if "?" in shown else shown


def _as_declared(array: str, layer: t.Layer, names: Names) -> t.Layer:
    """The layer in elements of the declared type, with the index of the element as it is declared."""
    place = names.place(array, layer.offset, layer.type)
    if place is None:
        begun = _moved(layer, t.const(-t.polynomial(_low(layer)).get((), 0)))
        place = names.place(array, begun.offset, layer.type)
        if place is None:
            only = only_index(layer.where)
            at = None if only is None else t.substitute(layer.offset, {t.INDEX: only[0]})
            place = None if at is None else names.place(array, at, layer.type)
            return layer if place is None else _of_type(layer, place.scalar.type)
        layer = begun
    layer = _of_type(layer, place.scalar.type)
    if place.row.size != layer.stride:
        return layer
    start = t.polynomial(layer.start - begin_of(array, layer.start) - place.row.start)
    whole = {m: factor // layer.stride for m, factor in start.items() if not m or factor % layer.stride == 0}
    layer = _moved(layer, t.from_polynomial(whole))
    return _in_a_row(layer, prod(place.row.inner)) if place.row.inner else layer


def _of_type(layer: t.Layer, declared: t.IntType | None) -> t.Layer:
    """The layer with its elements as they are declared, where that is known, and they have as many bytes."""
    if declared is None or declared == layer.type or declared.width != layer.type.width:
        return layer
    return replace(layer, type=declared, value=None if layer.value is None else t.wrap(layer.value, declared))


def begin_of(array: str, offset: t.Term) -> t.Term:
    """Where the pointer points to by whose name an object is called, in an offset that speaks of it: elements count
    from there. Else where the object begins.
    """
    name = array.removeprefix("*")
    for monomial, factor in t.polynomial(offset).items():
        if factor == 1 and len(monomial) == 1 and monomial[0][1] == 1:
            atom = monomial[0][0]
            if isinstance(atom, t.Var) and atom.name == name:
                return atom
    return t.ZERO


def _low(layer: t.Layer) -> t.Term:
    """The index from which on the layer says something; 0 where no part of its condition tells it."""
    bounds = (_Bound.of(part) for part in t.conjuncts(layer.where))
    return next((bound.rest for bound in bounds if bound is not None and bound.low and bound.times == 1), t.ZERO)


def _in_a_row(layer: t.Layer, length: int) -> t.Layer:
    """The layer with an index that counts from the beginning of the row of so many elements in which it begins."""
    rows = {
        monomial: factor - factor % length
        for monomial, factor in t.polynomial(_low(layer)).items()
        if not monomial or factor % length == 0
    }
    return _moved(layer, -t.from_polynomial(rows))


def _moved(layer: t.Layer, steps: t.Term) -> t.Layer:
    """The same layer with the index larger by so many steps."""
    if steps is t.ZERO:
        return layer
    index: dict[t.Var, t.Term] = {t.INDEX: t.INDEX - steps}
    return replace(
        layer,
        start=layer.start - layer.stride * steps,
        where=t.substitute(layer.where, index),
        value=None if layer.value is None else t.substitute(layer.value, index),
    )

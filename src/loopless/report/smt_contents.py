"""What memory holds behind a loop, as terms over the index of an element: for functions of an SMT-LIB document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopless import terms as t
from loopless.records import dataclass
from loopless.report.contents import begin_of, shown_layers
from loopless.report.names import Names
from loopless.summary import Case
from loopless.terms.contents import Overlapping, element, residue


@dataclass(frozen=True, slots=True)
class ElementBehind:
    """The elements of a row of an object: ``name`` as C has them, with a prime, and the ``value`` behind the loop over
    :data:`loopless.terms.INDEX`; None where elements lie across one another.
    """

    name: str
    value: t.Term | None


@dataclass(frozen=True, slots=True)
class _Row:
    """Elements of a type, each so many bytes behind the one before; one of them is ``start`` bytes behind ``begin``."""

    begin: t.Term
    type: t.IntType
    stride: int
    start: int


def elements_behind(case: Case, names: Names) -> Iterator[ElementBehind]:
    """The rows of which a case says what their elements are behind the loop."""
    for array in sorted(case.contents or {}):
        shown = shown_layers({array: (case.contents or {})[array]}, case.when, names)
        layers = tuple(_told(array, one.layer) for one in shown)
        for row in _rows(array, layers):
            offset = row.begin + row.start + row.stride * t.INDEX
            name = names.element(array, offset, row.type)
            try:
                value = element({array: layers}, array, offset, row.type, lambda part: part)
            except (Overlapping, t.TermTooLarge):
                value = None
            yield ElementBehind(name, value)


def _told(array: str, layer: t.Layer) -> t.Layer:
    """The layer; where its value is not told with one that nothing else says anything of."""
    unknown = t.read(f"{array}' not told", layer.offset, layer.type)
    return layer if layer.value is not None else replace(layer, value=unknown)


def _rows(array: str, layers: Sequence[t.Layer]) -> list[_Row]:
    """The rows that the layers have elements in, a wider one not beside one that has all its elements."""
    found = dict.fromkeys(row for layer in layers if (row := _row(array, layer)) is not None)
    return [row for row in found if not any(_has_all(other, row) for other in found if other is not row)]


def _has_all(wider: _Row, row: _Row) -> bool:
    """Whether all elements of a row are elements of another one."""
    same = wider.type == row.type and wider.begin is row.begin
    return same and row.stride % wider.stride == 0 and (row.start - wider.start) % wider.stride == 0


def _row(array: str, layer: t.Layer) -> _Row | None:
    begin = begin_of(array, layer.start)
    start = residue(layer.start - begin, layer.stride)
    if start is not None:
        return _Row(begin, layer.type, layer.stride, start)
    return _Row(begin, layer.type, layer.size, 0) if residue(layer.start - begin, layer.size) == 0 else None

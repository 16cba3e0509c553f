"""What memory and streams may hold so that a condition over aggregates is fulfilled.

Z3 chooses what aggregates come to: the first position at which something holds, a count, a sum. Contents that give just
this are written as runs of equal elements: before the first position elements for which its condition fails, one behind
them for which it holds; so many elements that are counted, and others; a sum in two summands that differ by one.

What is found is a proposal: aggregates that speak of the same elements in other ways may spoil it. Whoever asks tries
it, by a run or by :func:`loopless.terms.holds`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from itertools import pairwise
from math import factorial
from typing import Final, TypeVar, cast

from loopless import terms as t
from loopless.limits.logic import (
    CONTENT_CHECK_MS,
    FEW_POSITIONS,
    MAX_CELL_CONDITIONS,
    MAX_CELL_ORDERS,
    MAX_CONTENT_RUNS,
    MAX_TRIED_POSITIONS,
    REMEMBERED_CHOICES,
)
from loopless.logic.smt import Model, satisfiable
from loopless.logic.solver import SmtAnswer
from loopless.records import dataclass

N = TypeVar("N", bound=t.Node)

_STANDS_FOR: Final = "the value of "
_ENDLESS: Final = 1 << 62
"""The end of what goes on for ever."""


@dataclass(frozen=True, slots=True)
class Run:
    """Rows ``begin`` to ``end`` - 1, each of which holds ``row``."""

    begin: int
    end: int
    row: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Content:
    """What one object or stream holds, in rows of ``width`` elements of ``type``, each ``size`` long, a value of a
    stream 1; zeros where no run is. ``runs`` come in order.
    """

    type: t.IntType
    size: int
    width: int
    runs: tuple[Run, ...]

    def element(self, number: int) -> int:
        """The element of this number."""
        at, column = divmod(number, self.width)
        return next((run.row[column] for run in self.runs if run.begin <= at < run.end), 0)

    @property
    def length(self) -> int:
        """How many elements are told; those behind are 0, unless the last run goes on for ever."""
        return self.runs[-1].end * self.width if self.runs else 0

    def elements(self, length: int) -> list[int]:
        """The first ``length`` elements."""
        found = [0] * length
        for run in self.runs:
            end = min(run.end * self.width, length)
            for column, value in enumerate(run.row):
                at = run.begin * self.width + column
                if value and at < end:
                    found[at : end : self.width] = [value] * len(range(at, end, self.width))
        return found

    def until_steady(self, length: int) -> int:
        """From which element on the first ``length`` elements are alike, the last of them included."""
        steady, value, end = length, None, -(-length // self.width)
        for run in reversed(self.runs):
            if run.begin >= end:
                continue
            if run.end < end or len(set(run.row)) > 1 or value not in (None, run.row[0]):
                break
            steady, value, end = run.begin * self.width, run.row[0], run.begin
        return steady


@dataclass(frozen=True, slots=True)
class Fulfilled:
    """Values of variables, values of aggregates, and contents by the names of objects and streams. ``positions``: the
    number of positions that the longest aggregate goes over.
    """

    values: Mapping[t.Var, int]
    aggregates: Mapping[t.Aggregate, int]
    contents: Mapping[str, Content]
    positions: int = 0

    def value(self, term: t.Term) -> int | None:
        """What a term comes to; None where that is not known."""
        try:
            values = {var: self.values.get(var, 0) for var in term.variables}
            return t.evaluate(t.replace_terms(term, _constants(self.aggregates)), values, self._read)
        except (t.EvaluationError, ArithmeticError):
            return None

    @property
    def iterations(self) -> int:
        """The largest position at which a loop leaves: so many iterations it makes."""
        exits = (value for node, value in self.aggregates.items() if node.kind in ("first", "earliest"))
        return max(exits, default=0)

    def fulfils(self, condition: t.Condition) -> bool:
        """Whether the condition holds here. True where that takes too many positions to be worked out."""
        if self.positions > MAX_TRIED_POSITIONS:
            return True
        values = {var: self.values.get(var, 0) for var in condition.variables}
        try:
            return t.holds(condition, values, self._read)
        except (t.EvaluationError, ArithmeticError):
            return False

    def _read(self, array: str, offset: int, type_: t.IntType) -> int:
        del type_
        content = self.contents.get(array)
        if content is None or offset < 0 or offset % content.size:
            raise t.EvaluationError(f"the content of {array} at {offset} is not given")
        return content.element(offset // content.size)


def fulfilled(condition: t.Condition) -> Fulfilled | None:
    """Contents for which the condition probably holds, with few positions where that is possible; None where the logic
    finds none.
    """
    named = _named(condition)
    groups = _groups(named)
    plain = _told(condition, named, groups)
    for most in (FEW_POSITIONS, None):
        small: t.Condition = t.TRUE
        if most is not None:
            small = t.conjunction(t.less_equal(var, t.Const(most)) for var in named.values())
        outcome = satisfiable(plain & small, CONTENT_CHECK_MS)
        if outcome.model is None:
            continue
        for order in range(min(MAX_CELL_ORDERS, max((factorial(len(group.cells)) for group in groups), default=1))):
            found = _Filling(_over(condition, named), outcome.model, named, groups, order).fulfilled()
            if found is not None and found.fulfils(condition):
                return found
            if found is not None and order * found.positions > MAX_TRIED_POSITIONS:
                break
    return None


def with_facts(condition: t.Condition) -> t.Condition:
    """The condition with a variable in place of each aggregate, and with facts about these values. Where it cannot be
    fulfilled, neither can the condition.
    """
    named = _named(condition)
    return _told(condition, named, _groups(named)) if named else condition


def _told(condition: t.Condition, named: Mapping[t.Aggregate, t.Var], groups: Sequence[_Group]) -> t.Condition:
    facts = [fact for node, var in named.items() for fact in _facts(node, var, named)]
    facts += [fact for group in groups for fact in group.facts(named)]
    return t.conjunction((_over(condition, named), *facts))


def _named(condition: t.Condition) -> dict[t.Aggregate, t.Var]:
    """A variable for each aggregate that is no part of the inside of another, inner ones first."""
    found: dict[t.Aggregate, t.Var] = {}
    for node in t.walk(condition):
        if isinstance(node, t.Aggregate) and node not in found:
            found[node] = _stands_for(node)
    return found


def _stands_for(node: t.Aggregate) -> t.Var:
    """A variable in place of an aggregate."""
    return t.Var(f"{_STANDS_FOR}{t.text(node)}", t.INTEGERS)


def _over(node: N, named: Mapping[t.Aggregate, t.Var]) -> N:
    """The same with variables in place of aggregates."""
    replaced: dict[t.Term, t.Term] = dict(named.items())
    return cast(N, t.replace_terms(node, replaced))


def _constants(values: Mapping[t.Aggregate, int]) -> dict[t.Term, t.Term]:
    return {node: t.Const(value) for node, value in values.items()}


def _facts(node: t.Aggregate, var: t.Var, named: Mapping[t.Aggregate, t.Var]) -> Iterator[t.Condition]:
    """What is true of the value of an aggregate."""
    low, high = t.range_of(node)
    if low is not None:
        yield t.greater_equal(var, t.Const(low))
    if high is not None:
        yield t.less_equal(var, t.Const(high))
    if node.kind in ("first", "earliest", "last"):
        length = _over(node.outside[0], named) if node.outside else None
        yield from _facts_of_position(node, var, length, named)


def _facts_of_position(
    node: t.Aggregate, var: t.Var, length: t.Term | None, named: Mapping[t.Aggregate, t.Var]
) -> Iterator[t.Condition]:
    def at(position: t.Term) -> t.Condition:
        (opened,) = t.opened(node, (_POSITION,))
        assert isinstance(opened, t.Condition)
        placed = t.substitute(_over(opened, named), {_POSITION: position})
        return _over(placed, {inner: _stands_for(inner) for inner in t.walk(placed) if isinstance(inner, t.Aggregate)})

    if node.kind == "first":
        assert length is not None
        yield t.less_equal(var, t.maximum(length, t.ZERO))
        yield t.greater_equal(var, length) | at(var)
        yield t.less_equal(var, t.ZERO) | (~at(t.ZERO) & ~at(var - 1))
    elif node.kind == "earliest":
        yield t.less(var, t.ZERO) | at(var)
        yield t.less_equal(var, t.ZERO) | (~at(t.ZERO) & ~at(var - 1))
        yield t.greater_equal(var, t.ZERO) | ~at(t.ZERO)
    else:
        assert length is not None
        yield t.less(var, t.maximum(length, t.ZERO))
        yield t.less(var, t.ZERO) | at(var)


_POSITION: Final = t.position("position")


@dataclass(frozen=True, slots=True)
class _Stretch:
    """At the positions ``begin`` to ``end`` - 1 the ``condition`` over :data:`_POSITION` holds of what is read."""

    begin: int
    end: int
    condition: t.Condition


class _NotFilledError(Exception):
    """Elements are spoken of in a way that this module does not follow."""


@dataclass(slots=True)
class _Filling:
    """Contents for a model that Z3 has of ``plain``, the condition without aggregates. ``order``: the number of a
    permutation; elements that are counted and elements that are not stand in that order.
    """

    plain: t.Condition
    model: Model
    named: Mapping[t.Aggregate, t.Var]
    groups: Sequence[_Group]
    order: int
    known: dict[t.Aggregate, int] = field(default_factory=dict)

    def fulfilled(self) -> Fulfilled | None:
        """What fulfils the condition, None where nothing is found."""
        self.known = {node: self.model.values.get(var, 0) for node, var in self.named.items()}
        try:
            stretches = self._all_stretches()
            arrays = {read.array for stretch in stretches for read in _reads(stretch.condition)}
            arrays |= {read.array for read in _reads(self.plain)}
            contents = {array: self._content(array, stretches) for array in sorted(arrays)}
            positions = max((self._passed(node) for node in self.known), default=0)
        except (_NotFilledError, t.EvaluationError, ArithmeticError):
            return None
        return Fulfilled(self.model.values, self.known, contents, positions)

    def _passed(self, node: t.Aggregate) -> int:
        """How many positions an aggregate goes over."""
        if node.kind in ("first", "earliest"):
            return self.known[node] if self.known[node] >= 0 else _ENDLESS
        return self._number(node.outside[0])

    def _number(self, term: t.Term) -> int:
        plain = t.replace_terms(term, _constants(self.known))
        values = {var: self.model.values.get(var, 0) for var in plain.variables}
        return t.evaluate(plain, values, self.model.read)

    def _opened(self, node: t.Aggregate) -> t.Node:
        """What is inside, over the position alone, and what aggregates come to before it."""
        (inside,) = t.opened(node, (_POSITION,))
        return self._plainly(inside)

    def _plainly(self, node: N) -> N:
        inside = t.replace_terms(node, _constants(self.known))
        values = {var: t.Const(self.model.values.get(var, 0)) for var in inside.variables - {_POSITION}}
        return cast(N, t.substitute(cast(t.Term, inside), values))

    def _all_stretches(self) -> list[_Stretch]:
        """What is said of the elements by all aggregates."""
        grouped = {node for group in self.groups for node in group.sums}
        for node in self.known:
            is_value = node.kind not in ("first", "earliest", "last")
            if node.kind in ("sum", "fold") and node not in grouped:
                raise _NotFilledError
            if is_value and any(isinstance(part, t.Aggregate) for part in _inside(node)):
                raise _NotFilledError  # its summands depend on all elements before
        found = [s for node, value in self.known.items() if node not in grouped for s in self._stretches(node, value)]
        for group in self.groups:
            laid = [self._laid(group, at) for at in range(len(group.cells))]
            orders = itertools.permutations(laid)
            found += _laid_out(next(itertools.islice(orders, self.order % factorial(len(laid)), None)))
        return found

    def _laid(self, group: _Group, at: int) -> _Cell:
        """What the model says of one choice."""
        condition, terms = group.cells[at]
        values = self.model.values
        varying = [which for which, term in enumerate(terms) if not isinstance(term, t.Const)]
        summed = tuple((self._plainly(terms[w]), values.get(group.share(at, w), 0)) for w in varying)
        return _Cell(values.get(group.number(at), 0), _without_sums(self._plainly(condition), t.TRUE), summed)

    def _stretches(self, node: t.Aggregate, value: int) -> Iterator[_Stretch]:
        length = self._number(node.outside[0]) if node.outside else _ENDLESS
        inside = self._opened(node)
        if isinstance(inside, t.Condition):
            yield from _of_position(node.kind, value, length, inside)
            return
        inside = cast(t.Term, inside)
        if value != self._number(node.outside[1]):
            yield _Stretch(0, 1, t.equal(inside, t.Const(value)))
        beyond = t.greater_equal if node.kind == "least" else t.less_equal
        yield _Stretch(0, length, beyond(inside, t.Const(value)))

    # -- elements -----------------------------------------------------------------------------------------------------

    def _content(self, array: str, stretches: Sequence[_Stretch]) -> Content:
        mine = [s for s in stretches if s.begin < s.end and any(r.array == array for r in _reads(s.condition))]
        if any(read.array != array for stretch in mine for read in _reads(stretch.condition)):
            raise _NotFilledError
        own = [read for read in _reads(self.plain) if read.array == array]
        types = {read.type: None for read in (*own, *(read for stretch in mine for read in _reads(stretch.condition)))}
        is_stream = t.counts_values(array)
        if not is_stream and len({type_.width for type_ in types}) != 1:
            raise _NotFilledError
        size = 1 if is_stream else (next(iter(types)).width or 8) // 8
        fixed = {self._number(read.offset) // size: self._number(read) for read in own}
        return _Rows(array, next(iter(types)), size, fixed, mine).content()


def _of_position(kind: str, value: int, length: int, inside: t.Condition) -> Iterator[_Stretch]:
    """What is said of elements where the position of the first or last at which ``inside`` holds is ``value``. Where
    that depends on what came before, any element may do at the others, and at the position one that alone does so.
    """
    others = _without_sums(~inside, t.TRUE)
    alone = _without_sums(inside, t.FALSE)
    if kind == "last":
        yield _Stretch(value + 1, length, others)
        found = value >= 0
    else:
        yield _Stretch(0, length if value < 0 else value, others)
        found = 0 <= value < length
    if found and alone is not t.FALSE:
        yield _Stretch(value, value + 1, alone)


def _without_sums(condition: t.Condition, instead: t.Condition) -> t.Condition:
    """The condition with another one in place of comparisons with aggregates."""

    def other(compared: t.Condition) -> t.Condition:
        return instead if any(isinstance(node, t.Aggregate) for node in t.walk(compared)) else compared

    return t.with_comparisons(condition, other)


@dataclass(frozen=True, slots=True)
class _Cell:
    """``number`` positions at which the same ``condition`` holds; the ``summed`` terms come to so much there in all."""

    number: int
    condition: t.Condition
    summed: tuple[tuple[t.Term, int], ...]


@dataclass(frozen=True, slots=True)
class _Group:
    """Sums over the same positions. ``cells``: for each choice of the conditions on which they depend, the choice and
    the summands; without choices that no element makes.
    """

    length: t.Term
    sums: tuple[t.Aggregate, ...]
    cells: tuple[tuple[t.Condition, tuple[t.Term, ...]], ...]

    def number(self, at: int) -> t.Var:
        """At how many positions a choice is made."""
        return t.Var(f"{_STANDS_FOR}positions {at} below {t.text(self.length)}", t.INTEGERS)

    def share(self, at: int, which: int) -> t.Var:
        """What a sum comes to over the positions of one choice."""
        return t.Var(f"{_STANDS_FOR}share {at} {which} below {t.text(self.length)}", t.INTEGERS)

    def facts(self, named: Mapping[t.Aggregate, t.Var]) -> Iterator[t.Condition]:
        """What is true of the sums."""
        numbers = [self.number(at) for at in range(len(self.cells))]
        parts: list[list[t.Term]] = [[] for _ in self.sums]
        yield from (t.greater_equal(number, t.ZERO) for number in numbers)
        for at, (_, terms) in enumerate(self.cells):
            for which, term in enumerate(terms):
                if isinstance(term, t.Const):
                    parts[which].append(t.scale(numbers[at], term.value))
                    continue
                share = self.share(at, which)
                parts[which].append(share)
                low, high = t.range_of(term)
                if low is not None:
                    yield t.greater_equal(share, t.scale(numbers[at], low))
                if high is not None:
                    yield t.less_equal(share, t.scale(numbers[at], high))
        yield t.equal(t.add(*numbers), t.maximum(_over(self.length, named), t.ZERO))
        for node, shares in zip(self.sums, parts, strict=True):
            yield t.equal(named[node], t.add(*shares))


def _groups(named: Mapping[t.Aggregate, t.Var]) -> list[_Group]:
    """The sums by the positions that they are over; none of sums that depend on too many conditions."""
    by_length: dict[t.Term, list[t.Aggregate]] = {}
    for node in named:
        if node.kind == "sum":
            by_length.setdefault(node.outside[0], []).append(node)
    found: list[_Group] = []
    for length, sums in by_length.items():
        given: t.Condition = t.TRUE
        if isinstance(length, t.Aggregate) and length.kind in ("first", "earliest"):
            given = ~cast(t.Condition, t.opened(length, (_POSITION,))[0])
        terms = tuple(cast(t.Term, t.opened(node, (_POSITION,))[0]) for node in sums)
        cells = _choices(terms, given)
        if cells is not None:
            found.append(_Group(length, tuple(sums), cells))
    return found


@lru_cache(REMEMBERED_CHOICES)
def _choices(
    terms: tuple[t.Term, ...], given: t.Condition
) -> tuple[tuple[t.Condition, tuple[t.Term, ...]], ...] | None:
    """For each choice of the conditions that terms depend on, that some elements make, what the terms are then; None
    where these are too many.
    """
    deciding = list(dict.fromkeys(node.condition for one in terms for node in t.walk(one) if isinstance(node, t.Ite)))
    if len(deciding) > MAX_CELL_CONDITIONS:
        return None
    found = [(given, terms)]
    for condition in deciding:
        divided = []
        for before, some in found:
            for side, holds in ((condition, True), (~condition, False)):
                if satisfiable(before & side, CONTENT_CHECK_MS).answer is not SmtAnswer.NO:
                    divided.append((before & side, tuple(_decided(one, condition, holds=holds) for one in some)))
        found = divided
    return tuple(found)


def _decided(term: t.Term, condition: t.Condition, *, holds: bool) -> t.Term:
    """The term where the condition holds, or fails."""
    replaced: dict[t.Term, t.Term] = {
        node: node.then if holds else node.otherwise
        for node in t.walk(term)
        if isinstance(node, t.Ite) and node.condition == condition
    }
    return t.replace_terms(term, replaced)


def _laid_out(cells: Iterable[_Cell]) -> Iterator[_Stretch]:
    """The positions of cells one after the other; where a term varies, two summands that differ by one."""
    begin = 0
    for cell in cells:
        if not cell.number:
            continue
        yield _Stretch(begin, begin + cell.number, cell.condition)
        for term, value in cell.summed:
            each, more = divmod(value, cell.number)
            yield _Stretch(begin, begin + more, t.equal(term, t.Const(each + 1)))
            yield _Stretch(begin + more, begin + cell.number, t.equal(term, t.Const(each)))
        begin += cell.number


def _inside(node: t.Aggregate) -> Iterator[t.Node]:
    return (part for inside in node.inside for part in t.walk(inside))


def _reads(node: t.Node) -> Iterator[t.Read]:
    return (part for part in t.walk(node) if isinstance(part, t.Read))


@dataclass(slots=True)
class _Rows:
    """The rows of one object or stream: as many elements as a position moves on by, which all stretches do alike."""

    array: str
    type: t.IntType
    size: int
    fixed: Mapping[int, int]
    stretches: Sequence[_Stretch]
    width: int = 1

    def content(self) -> Content:
        """Its runs. Raises :class:`_NotFilledError`."""
        widths = {self._moves(read) for stretch in self.stretches for read in _reads(stretch.condition)} - {0}
        if len(widths) > 1:
            raise _NotFilledError
        self.width = next(iter(widths), 1)
        if self.width <= 0:
            raise _NotFilledError
        asked = [self._by_rows(stretch) for stretch in self.stretches]
        asked = [stretch for stretch in asked if stretch.begin < stretch.end]
        borders = {border for stretch in asked for border in (stretch.begin, stretch.end)}
        for number in self.fixed:
            borders |= {number // self.width, number // self.width + 1}
        spans = list(pairwise(sorted(borders)))
        if len(spans) > MAX_CONTENT_RUNS:
            raise _NotFilledError
        runs: list[Run] = []
        for begin, end in spans:
            parts = [stretch.condition for stretch in asked if stretch.begin <= begin < stretch.end]
            before = runs[-1].row if runs else (0,) * self.width
            row = self._row(begin, end, t.conjunction(parts), before)
            if runs and runs[-1].end == begin and runs[-1].row == row:
                runs[-1] = Run(runs[-1].begin, end, row)
            else:
                runs.append(Run(begin, end, row))
        return Content(self.type, self.size, self.width, tuple(runs))

    def _moves(self, read: t.Read) -> int:
        """By how many elements a read moves on with the position."""
        parts = t.polynomial(read.offset)
        slope = parts.get(((_POSITION, 1),), 0)
        if not parts.keys() <= {(), ((_POSITION, 1),)} or slope % self.size:
            raise _NotFilledError
        return slope // self.size

    def _number(self, read: t.Read, position: int) -> int:
        return t.evaluate(read.offset, {_POSITION: position}) // self.size

    def _by_rows(self, stretch: _Stretch) -> _Stretch:
        """The stretch over numbers of rows, of columns in place of elements."""
        moving = [read for read in _reads(stretch.condition) if self._moves(read)]
        if not moving:
            raise _NotFilledError
        shift = min(self._number(read, 0) // self.width for read in moving)
        replaced: dict[t.Term, t.Term] = {}
        for read in _reads(stretch.condition):
            number = self._number(read, 0)
            moves = read in moving
            replaced[read] = _column(number % self.width, read.type) if moves else t.Const(self.fixed.get(number, 0))
        condition = t.replace_terms(stretch.condition, replaced)
        moved = t.substitute(condition, {_POSITION: _POSITION - shift})
        return _Stretch(stretch.begin + shift, min(stretch.end + shift, _ENDLESS), moved)

    def _row(self, begin: int, end: int, wanted: t.Condition, before: Sequence[int]) -> tuple[int, ...]:
        """What each row of a span holds."""
        fixed = {
            column: self.fixed[begin * self.width + column]
            for column in range(self.width)
            if begin * self.width + column in self.fixed
        }
        ends = {begin, end - 1} if _POSITION in wanted.variables else {begin}
        asked = t.conjunction(t.substitute(wanted, {_POSITION: t.Const(at)}) for at in sorted(ends))
        columns = sorted(asked.variables, key=lambda var: var.key)
        alike = dict.fromkeys((*self.fixed.values(), 0, 1, -1))  # few runs and small numbers are wanted
        for some in (before, *([value] * self.width for value in alike)):
            guess = tuple(fixed.get(column, value) for column, value in enumerate(some))
            if _is_row(asked, {v: guess[_number_of(v)] for v in columns}):
                return guess
        told = t.conjunction(t.equal(v, t.Const(fixed[_number_of(v)])) for v in columns if _number_of(v) in fixed)
        outcome = satisfiable(asked & told, CONTENT_CHECK_MS)
        if outcome.answer is not SmtAnswer.YES or outcome.model is None:
            raise _NotFilledError
        chosen = {_number_of(var): value for var, value in outcome.model.values.items()}
        return tuple(chosen.get(column, fixed.get(column, 0)) for column in range(self.width))


def _is_row(asked: t.Condition, values: Mapping[t.Var, int]) -> bool:
    """Whether a row may hold these values."""
    try:
        return all(var.type.holds(value) for var, value in values.items()) and t.holds(asked, values)
    except (t.EvaluationError, ArithmeticError):
        return False


def _column(number: int, type_: t.IntType) -> t.Var:
    return t.Var(f"column {number}", type_)


def _number_of(column: t.Var) -> int:
    return int(column.name.rpartition(" ")[2])

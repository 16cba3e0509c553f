"""Layers over what memory held: reading, composing and evaluating them, beside bytes that are written one by one."""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import product

import pytest

from loopless import terms as t
from loopless.logic.feasible import feasible
from loopless.terms.contents import (
    INDEX,
    Contents,
    Decide,
    Layer,
    Layers,
    Overlapping,
    arrays_in,
    behind,
    element,
    followed,
    index_at,
    placed,
    reader_behind,
    single,
    unknown,
    variables_in,
)
from loopless.terms.memory_names import bytes_of

U8, I8, U16, I16, I32, U64 = (
    t.IntType(8, signed=False),
    t.IntType(8),
    t.IntType(16, signed=False),
    t.IntType(16),
    t.IntType(32),
    t.IntType(64, signed=False),
)
TYPES = (U8, U8, I8, I8, U16, I16, I32, U64)
N, X = t.Var("n", I8), t.Var("x", I8)
WINDOW = range(-24, 72)
"""The bytes that are compared; elements of layers begin before and end behind it."""
AROUND = range(-120, 160)
"""The indices of elements that are written one by one: all that meet the window, for each of the layers below."""
UNKNOWN = None

Bytes = dict[int, int | None]
"""What is held at offsets; None where nothing is known of it."""


def size_of(type: t.IntType) -> int:
    return bytes_of(type) or 1


def open_minded(condition: t.Condition) -> t.Condition:
    """Knows nothing but what is written there."""
    return condition


def by_logic(condition: t.Condition) -> t.Condition:
    """Knows what holds of all integers."""
    if not feasible(condition, solver=False):
        return t.FALSE
    return t.TRUE if not feasible(~condition, solver=False) else condition


def base(seed: int) -> t.Reader:
    """A content for each object, without an end."""
    held = {name: random.Random(f"{seed}:{name}").randbytes(256) for name in "abc"}

    def reads(array: str, offset: int, type: t.IntType) -> int:
        return type.wrap(sum(held[array][(offset + at) % 256] << 8 * at for at in range(size_of(type))))

    return reads


class NotKnown(t.EvaluationError):
    """A byte of which nothing is known."""


class Written:
    """Memory whose layers were written one by one, the oldest first, element by element, over a base."""

    def __init__(self, contents: Contents, values: Mapping[t.Var, int], before: t.Reader) -> None:
        self.before = before
        self.held: dict[str, Bytes] = {name: self._written(layers, values) for name, layers in contents.items()}

    def _written(self, layers: Layers, values: Mapping[t.Var, int]) -> Bytes:
        held: Bytes = {}
        for layer in reversed(layers):
            start = t.evaluate(layer.start, values, self.before)
            size = size_of(layer.type)
            for index in AROUND:
                there = {**values, INDEX: index}
                if not t.holds(layer.where, there, self.before):
                    continue
                value = self._value(layer.value, there)
                for at in range(size):
                    byte = UNKNOWN if value is None else value >> 8 * at & 255
                    held[start + layer.stride * index + at] = byte
        return held

    def _value(self, value: t.Term | None, there: Mapping[t.Var, int]) -> int | None:
        try:
            return None if value is None else t.evaluate(value, there, self.before)
        except NotKnown:
            return None

    def __call__(self, array: str, offset: int, type: t.IntType) -> int:
        size = size_of(type)
        held = self.held.get(array, {})
        found = [held[at] if at in held else self.before(array, at, U8) for at in range(offset, offset + size)]
        known = [byte for byte in found if byte is not None]
        if len(known) < size:
            raise NotKnown
        return type.wrap(sum(byte << 8 * at for at, byte in enumerate(known)))


class Drawing:
    """Draws layers over the objects a and b, which read these and the variables n and x."""

    def __init__(self, seed: str, *, gaps: bool = True, lost: float = 0.0) -> None:
        self.random = random.Random(seed)
        self.gaps = gaps
        self.lost = lost
        self.type = self.random.choice(TYPES)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def number(self) -> t.Term:
        pick = self.random.choice
        atom = pick((N, X, INDEX, INDEX, t.const(pick((-3, 0, 1, 2, 5)))))
        kind = self.random.randrange(6)
        if kind == 0:
            at = t.position()
            offset = t.mul(t.const(pick((1, 2))), at + pick((0, 1, -1)))
            return t.total(at, t.add(INDEX, t.const(1)), t.read(pick("ab"), offset, pick((U8, I8))))
        if kind == 1:
            return t.last(t.position(), INDEX + N, t.less(t.read("a", t.position(), I8), X))
        if kind < 4:
            return self.read()
        return t.add(t.mul(t.const(pick((-1, 1, 2))), atom), t.const(pick((-1, 0, 1, 7))))

    def read(self) -> t.Term:
        pick = self.random.choice
        type = self.type if self.chance(0.7) else pick(TYPES)
        stride = size_of(type)
        index = t.add(pick((INDEX, INDEX, X, t.const(2))), t.const(pick((-1, 0, 0, 1))))
        offset = t.mul(t.const(pick((stride, stride, -stride, 2 * stride))), index)
        return t.read(pick("aab"), t.add(offset, t.const(pick((0, 0, 0, 1)) if self.gaps else 0)), type)

    def condition(self) -> t.Condition:
        pick = self.random.choice
        within = pick((t.between(0, INDEX, 6), t.between(-2, INDEX, 3), t.equal(INDEX, X), t.between(1, INDEX, 1)))
        kind = self.random.randrange(7)
        if kind == 0:
            return t.conjunction((within, t.equal(t.mod(INDEX, t.const(2)), t.const(pick((0, 1))))))
        if kind == 1:
            return t.conjunction((within, t.less(self.read(), t.const(pick((0, 60, 100))))))
        if kind == 2:
            return t.conjunction((t.less_equal(t.const(0), INDEX), t.less(INDEX, N)))
        if kind == 3:
            return t.disjunction((t.equal(INDEX, N), t.equal(INDEX, t.const(2))))
        if kind == 4:
            return t.conjunction((within, t.less(self.number(), t.const(9))))
        return within

    def layer(self) -> Layer:
        pick = self.random.choice
        type = self.type if self.chance(0.75) else pick(TYPES)
        size = size_of(type)
        stride = size * pick((1, 1, 1, 2, 3)) if self.chance(0.9) or not self.gaps else size + pick((1, 3))
        start = t.add(pick((t.const(0), t.const(0), t.mul(t.const(size), X))), t.const(size * pick((-1, 0, 0, 0, 1))))
        if self.gaps and self.chance(0.1):
            start = t.add(start, pick((t.const(1), N)))
        if self.chance(0.15):
            return single(type, start, None if self.chance(self.lost) else self.value(type), t.less(N, t.const(9)))
        return Layer(type, start, stride, self.condition(), None if self.chance(self.lost) else self.value(type))

    def value(self, type: t.IntType) -> t.Term:
        if self.chance(0.2):
            return t.const(self.random.choice((type.min or 0, type.max or 0, 1)))
        value = t.wrap(self.number(), type)
        if self.chance(0.2):
            value = t.ite(t.less(INDEX, X), value, t.wrap(self.number(), type))
        return value

    def contents(self, most: int = 4) -> dict[str, Layers]:
        return {
            name: tuple(self.layer() for _ in range(self.random.randint(0, most)))
            for name in ("a", "b")
            if self.chance(0.8)
        }

    def values(self) -> dict[t.Var, int]:
        return {N: self.random.choice((-1, 0, 1, 2, 5, 7)), X: self.random.choice((-2, 0, 0, 1, 2, 4))}


def read_somewhere(drawing: Drawing) -> tuple[t.Term, t.IntType]:
    """An offset over the variables, and a type by which to read there."""
    pick = drawing.random.choice
    type = drawing.type if drawing.chance(0.8) else pick(TYPES)
    size = size_of(type)
    at = t.mul(t.const(pick((size, size, 2 * size, -size, 1))), pick((N, X, t.const(1), t.const(3))))
    return t.add(at, t.const(size * pick((0, 0, 1, -1, 2)) + (pick((1, 2)) if drawing.chance(0.1) else 0))), type


@pytest.mark.parametrize("seed", range(40))
def test_a_reader_behind_layers_reads_what_was_written_one_by_one(seed: int) -> None:
    drawing = Drawing(f"reader:{seed}", lost=0.1)
    for _ in range(4):
        contents, values, before = drawing.contents(), drawing.values(), base(seed)
        written = Written(contents, values, before)
        reader = reader_behind(contents, values, before)
        for array in "abc":
            for type in (U8, drawing.type):
                for offset in WINDOW:
                    assert outcome(reader, array, offset, type) == outcome(written, array, offset, type)


def outcome(reader: t.Reader, array: str, offset: int, type: t.IntType) -> int | None:
    try:
        return reader(array, offset, type)
    except t.EvaluationError:
        return UNKNOWN


@pytest.mark.parametrize(("decide", "share"), [(open_minded, 0.4), (by_logic, 0.5)])
def test_elements_are_those_that_were_written_or_are_not_known(decide: Decide, share: float) -> None:
    answered = asked = 0
    for seed in range(25):
        drawing = Drawing(f"element:{seed}", lost=0.05)
        contents, before = drawing.contents(), base(seed)
        for _ in range(4):
            offset, type = read_somewhere(drawing)
            asked += 1
            try:
                found = element(contents, "a", offset, type, decide)
            except Overlapping:
                continue
            if found is None:
                continue
            answered += 1
            for _ in range(4):
                values = drawing.values()
                written = Written(contents, values, before)
                place = t.evaluate(offset, values, before)
                assert t.evaluate(found, values, before) == written("a", place, type), (contents, str(offset), type)
    assert answered > share * asked


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("type", [U8, U16, I32])
def test_rows_of_elements_in_all_positions(type: t.IntType, known: bool) -> None:
    """Elements of each size with each gap, read by each size along each other row."""
    before, values = base(0), [{N: n} for n in range(-3, 5)]
    size = size_of(type)
    for stride in range(size, size + 5):
        value = t.wrap(t.mul(t.const(77), INDEX), type) if known else None
        contents = {"a": (Layer(type, t.const(1), stride, t.between(0, INDEX, 2), value),)}
        written = Written(contents, {}, before)
        for read_as, along, start in product((U8, I16, I32), range(7), range(6)):
            offset = t.add(t.mul(t.const(along), N), t.const(start))
            try:
                found = element(contents, "a", offset, read_as, open_minded)
            except Overlapping:
                continue
            if found is not None:
                for there in values:
                    place = along * there[N] + start
                    assert t.evaluate(found, there, before) == written("a", place, read_as), (stride, str(offset))


def test_elements_of_one_size_never_overlap_by_halves() -> None:
    for seed in range(100):
        drawing = Drawing(f"aligned:{seed}", gaps=False)
        size = size_of(drawing.type)
        layers = tuple(layer for layer in drawing.contents().get("a", ()) if layer.type == drawing.type)
        offset = t.mul(t.const(size), t.add(N, X))
        assert element({"a": layers}, "a", offset, drawing.type, open_minded) is not None


@pytest.mark.parametrize(("decide", "share"), [(open_minded, 0.3), (by_logic, 0.3)])
def test_contents_followed_are_one_after_the_other(decide: Decide, share: float) -> None:
    told = asked = 0
    for seed in range(50):
        drawing = Drawing(f"followed:{seed}", gaps=drawing_has_gaps(seed), lost=0.03)
        first, second, before = drawing.contents(3), drawing.contents(3), base(seed)
        both = followed(first, second, decide)
        for _ in range(2):
            values = drawing.values()
            middle = Written(first, values, before)
            try:
                after = Written(second, values, middle)
            except NotKnown:
                continue  # where the second writes nobody knows
            reader = reader_behind(both, values, before)
            for array in "ab":
                for offset in WINDOW:
                    said = outcome(reader, array, offset, U8)
                    asked += 1
                    if said is not None:
                        told += 1
                        assert said == after(array, offset, U8), (seed, array, offset)
    assert told > share * asked


def drawing_has_gaps(seed: int) -> bool:
    return seed % 3 == 0


def test_what_is_read_behind_contents_is_read_of_them() -> None:
    for seed in range(100):
        drawing = Drawing(f"behind:{seed}", gaps=False, lost=0.03)
        contents, before = drawing.contents(), base(seed)
        node = t.substitute(drawing.number(), {INDEX: t.const(2)})
        found = behind(contents, node, open_minded)
        for _ in range(4) if found is not None else ():
            values = drawing.values()
            assert isinstance(found, t.Term)
            assert t.evaluate(found, values, before) == t.evaluate(node, values, Written(contents, values, before))


def test_contents_over_other_values_and_names() -> None:
    for seed in range(60):
        drawing = Drawing(f"placed:{seed}", lost=0.1)
        contents, before = drawing.contents(), base(seed)
        there = placed(contents, {N: t.add(X, t.const(2)), X: t.const(1)}, {"a": "c"})
        values = drawing.values()
        written = Written(contents, {N: values[X] + 2, X: 1}, under_other_names(before, {"a": "c"}))
        reader, moved = reader_behind(there, values, before), under_other_names(written, {"c": "a"})
        for array in "cb":
            for offset in WINDOW:
                assert outcome(reader, array, offset, U8) == outcome(moved, array, offset, U8)


def under_other_names(reader: t.Reader, names: Mapping[str, str]) -> t.Reader:
    return lambda array, offset, read_as: reader(names.get(array, array), offset, read_as)


# -- single cases, by reasoning ----------------------------------------------------------------------------------------


def row(type: t.IntType, start: int, stride: int, value: t.Term | None) -> Layer:
    return Layer(type, t.const(start), stride, t.between(0, INDEX, 3), value)


def test_a_byte_of_a_wider_element_is_not_guessed() -> None:
    """The first byte of an int is 1 for 1, and 0 for 256; a layer of ints says no bytes."""
    contents = {"a": (row(I32, 0, 4, t.const(256)),)}
    with pytest.raises(Overlapping):
        element(contents, "a", t.const(4), U8, by_logic)
    assert reader_behind(contents, {}, base(0))("a", 5, U8) == 1


def test_bytes_between_elements_are_those_of_before() -> None:
    """Members of structures of 8 bytes: an int at 0, of which the layer speaks, and one at 4."""
    contents = {"a": (row(I32, 0, 8, t.const(7)),)}
    assert element(contents, "a", t.add(t.mul(t.const(8), N), t.const(4)), I32, open_minded) is t.read(
        "a", t.add(t.mul(t.const(8), N), t.const(4)), I32
    )
    assert element(contents, "a", t.const(8), I32, open_minded) is t.const(7)


def test_another_sign_reads_the_same_bytes() -> None:
    contents = {"a": (row(I8, 0, 1, t.const(-1)),)}
    assert element(contents, "a", t.const(2), U8, open_minded) is t.const(255)


def test_the_newest_layer_says_it() -> None:
    older, newer = row(I8, 0, 1, t.const(1)), row(I8, 2, 1, t.const(2))
    contents = {"a": (newer, older)}
    assert [element(contents, "a", t.const(at), I8, open_minded) for at in (1, 2, 3)] == [
        t.const(1),
        t.const(2),
        t.const(2),
    ]


def test_what_is_known_above_what_is_not() -> None:
    """An element is known where it was surely written after all became unknown."""
    contents = {"a": (row(I8, 0, 1, t.const(5)), unknown())}
    assert element(contents, "a", t.const(3), I8, open_minded) is t.const(5)
    assert element(contents, "a", t.const(4), I8, open_minded) is None
    assert element(contents, "a", N, I8, open_minded) is None
    assert element({"a": (unknown(4),)}, "a", t.const(4), I8, open_minded) is not None


def test_where_the_second_writes_depends_on_what_the_first_wrote() -> None:
    """``a[0] = n; a[a[0]] = 9``, with an element between that nobody knows: then all of a may be anything."""
    first = {"a": (single(I8, t.const(0), N),)}
    second = {"a": (single(I8, t.read("a", t.const(0), I8), t.const(9)),)}
    (newest, *_) = followed(first, second, by_logic)["a"]
    assert newest.start is N
    lost = {"a": (single(I8, t.const(0), None),)}
    (newest, *_) = followed(lost, second, by_logic)["a"]
    assert newest.value is None
    assert newest.where is t.TRUE


def test_integers_without_a_size_are_not_read_behind_layers() -> None:
    contents = {"a": (row(I8, 0, 1, t.const(5)),)}
    with pytest.raises(t.EvaluationError):
        reader_behind(contents, {}, base(0))("a", 0, t.INTEGERS)
    with pytest.raises(Overlapping):
        element(contents, "a", t.const(0), t.INTEGERS, open_minded)


def test_two_objects_do_not_become_one() -> None:
    """Which of two layers is newer is not known of two objects, so nothing is known where they become one."""
    contents = {"a": (row(I8, 0, 1, t.const(5)),), "b": (row(I8, 0, 1, t.const(6)),)}
    assert placed(contents, {}, {"b": "a"}) == {"a": (unknown(),)}
    read = {"a": (row(I8, 0, 1, t.read("b", INDEX, I8)),)}
    assert placed(read, {}, {"b": "a"}) == {"a": (unknown(),)}


def test_an_index_is_none_where_elements_surely_miss() -> None:
    layer = row(I16, 0, 4, t.const(1))
    assert index_at(layer, t.add(t.mul(t.const(4), N), t.const(2)), I16) is None
    at, where = index_at(layer, t.mul(t.const(2), N), I16) or (None, None)
    assert at is not None
    assert where is not None
    for n in range(-6, 7):
        assert t.holds(where, {N: n}) == (n % 2 == 0)
        if n % 2 == 0:
            assert t.evaluate(at, {N: n}) == n // 2


def test_what_contents_speak_of() -> None:
    layer = Layer(I8, X, 1, t.less(INDEX, N), t.read("b", INDEX, I8))
    assert variables_in({"a": (layer,)}) == {N, X}
    assert arrays_in({"a": (layer,)}) == {"b"}

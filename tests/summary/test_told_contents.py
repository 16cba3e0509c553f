"""Contents of memory go along wherever a summary is put into other terms or words: never as they were before."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from contents_by_hand import BYTE, INT, J, row, with_contents
from loopless import terms as t
from loopless.summary import LoopSummary, at_entry, merged, readable, relative
from loopless.summary.model import nodes_of, with_arrays
from loopless.summary.presentation.contents import joined_sums, meets, same_where
from loopless.summary.rewrite.entry import entered_with
from loopless.summary.rewrite.inner_loops import settled
from loopless.terms.contents import UnknownElement, reader_behind
from loops_in_c import summary

COPY = "void f(int *a, const int *b, int n) { for (int i = 0; i < n; i++) a[i] = b[i]; }\n"
POSITION = t.position()


def told(v: Mapping[str, t.Var]) -> t.Contents:
    """Layers that speak of all variables in all their parts."""
    i, n = v["i"], v["n"]
    prefix = t.wrap(t.total(POSITION, J - i + 1, t.read("b", 4 * (POSITION + i), INT)), INT)
    return {
        "a": (
            row(t.wrap(i + n, INT), J.eq(0), 4 * n),
            row(None, J.eq(0) & n.gt(6), 4 * i),
            row(prefix, J.ge(i) & J.lt(n)),
            row(t.ite(i.lt(n), J, n), J.ge(i - 2) & J.lt(n + 2)),
        ),
        "b": (t.Layer(BYTE, i, 1, J.ge(0) & J.lt(2), t.mod(n, t.const(256))),),
    }


def before(array: str, offset: int, type: t.IntType) -> int:
    size = 1 if type == BYTE else 4
    held = bytes((29 * at + 7 * len(array) + ord(array[0])) % 251 for at in range(offset, offset + size))
    return type.wrap(int.from_bytes(held, "little"))


def held_behind(found: LoopSummary, entry: Mapping[t.Var, int], names: Mapping[str, str] | None = None) -> list[object]:
    """What memory holds behind the loop, by the case of these values."""
    called = names or {}
    contents = found.case_at(entry, before).contents
    assert contents is not None
    reader = reader_behind(contents, entry, before)

    def element(array: str, at: int) -> object:
        try:
            return reader(called.get(array, array), at, INT)
        except UnknownElement:
            return None

    return [element(array, at) for array in "ab" for at in range(-4, 40)]


@pytest.fixture(scope="module")
def loop() -> LoopSummary:
    return with_contents(summary(COPY), told)


def entries(found: LoopSummary, i: int | None = None) -> list[dict[t.Var, int]]:
    chance = random.Random(3)
    by_name = {var.name: var for var in (*found.paths.state, *found.paths.invariants)}
    states = [(chance.randint(-1, 4) if i is None else i, chance.randint(-2, 8)) for _ in range(25)]
    return [{by_name["i"]: i, by_name["n"]: n} for i, n in states]


CHANGES: dict[str, Callable[[LoopSummary], LoopSummary]] = {
    "readable": readable,
    "relative": relative,
    "settled": settled,
    "same arrays": lambda found: with_arrays(found, {}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_other_words_say_the_same(loop, change):
    other = CHANGES[change](loop)
    for entry in entries(loop):
        assert held_behind(other, entry) == held_behind(loop, entry)


def test_words_are_fewer_where_the_case_says_more(loop):
    """Behind a case with i < n the choice by i < n is decided."""
    shown = [str(node) for case in readable(loop).cases for node in nodes_in_contents(case.contents)]
    assert not any("i < n ?" in text for text in shown)


def nodes_in_contents(contents: t.Contents | None) -> list[t.Node]:
    return [node for layers in (contents or {}).values() for layer in layers for node in layer.nodes]


def test_arrays_of_other_names_are_read_and_written(loop):
    names = {"a": "left", "b": "right"}

    def renamed(array: str, offset: int, type: t.IntType) -> int:
        return before({"left": "a", "right": "b"}[array], offset, type)

    other = with_arrays(loop, names)
    for entry in entries(loop):
        contents = other.case_at(entry, renamed).contents
        assert contents is not None
        assert contents.keys() <= {"left", "right"}
        mine = loop.case_at(entry, before).contents
        assert mine is not None
        reader, expected = reader_behind(contents, entry, renamed), reader_behind(mine, entry, before)
        for array, at in ((array, at) for array in "ab" for at in range(20, 40)):
            assert reader(names[array], at, BYTE) == expected(array, at, BYTE)


def test_what_is_known_at_the_entry_stands_in_contents_too(loop):
    i = next(var for var in loop.paths.state if var.name == "i")
    there = entered_with(loop, i.eq(0))
    told_of = {var for case in there.cases for node in nodes_in_contents(case.contents) for var in node.variables}
    assert i not in told_of
    found = at_entry(loop, t.TRUE, {i: t.ZERO})
    assert found is not None
    assert all(i not in node.variables for case in found.summary.cases for node in nodes_in_contents(case.contents))
    for entry in entries(loop, i=0):
        assert held_behind(there, entry) == held_behind(loop, entry)
        assert held_behind(found.summary, entry) == held_behind(loop, entry)


def test_a_sum_and_its_next_summand_are_one_sum():
    n = t.Var("n", INT)
    summand = t.mod(t.read("b", 4 * POSITION, INT), t.const(256))
    short, longer = t.total(POSITION, J, summand), t.total(POSITION, J + 1, summand)
    following = t.mod(t.read("b", 4 * J, INT), t.const(256))
    value = t.wrap(3 * short + 3 * following + n, INT)
    assert joined_sums(value, J.ge(0) & J.lt(n)) is t.wrap(3 * longer + n, INT)
    assert joined_sums(value, J.ge(-1)) is value  # at -1 there is no such sum
    assert joined_sums(3 * short + following, J.ge(0)) is 3 * short + following


def test_the_nodes_of_a_summary_are_those_of_contents_too(loop):
    spoken = set(nodes_of(loop))
    assert all(node in spoken for case in loop.cases for node in nodes_in_contents(case.contents))


def test_merged_cases_say_what_each_of_them_does(loop):
    groups = merged(readable(loop))
    shown = readable(loop)
    for group in groups:
        assert group.contents is not None
        for number in group.cases:
            case = shown.cases[number]
            for entry in (one for one in entries(loop) if t.holds(case.when, one, before)):
                ours = replace(shown, cases=(replace(case, contents=group.contents),))
                assert held_behind(ours, entry) == held_behind(loop, entry)


def halves(loop: LoopSummary, one: t.Contents, other: t.Contents) -> int:
    """In how many groups the case with iterations is, divided in two that say this of memory."""
    n = next(var for var in loop.paths.invariants if var.name == "n")
    case = next(case for case in loop.cases if case.iterations is not t.ZERO)
    first = replace(case, when=case.when & n.lt(5), contents=one)
    second = replace(case, when=case.when & n.ge(5), contents=other)
    return len(merged(replace(loop, cases=(first, second))))


def test_cases_are_merged_where_memory_is_the_same(loop):
    n = next(var for var in loop.paths.invariants if var.name == "n")
    fill = row(t.const(7), J.ge(0) & J.lt(n))
    assert halves(loop, {"a": (fill,)}, {"a": (fill,)}) == 1
    assert halves(loop, {"a": (fill,)}, {"a": (row(t.const(8), fill.where),)}) == 2
    assert halves(loop, {"a": (fill,)}, {"b": (fill,)}) == 2
    assert halves(loop, {"a": (fill,)}, {}) == 2
    assert halves(loop, {}, {"a": (row(t.const(7), J.eq(0) & n.eq(3)),)}) == 1  # n >= 5 there
    # The same by other layers: one element apart from the rest.
    parts = (row(t.const(7), J.eq(0)), row(t.const(7), J.ge(1) & J.lt(n)))
    assert halves(loop, {"a": (fill,)}, {"a": parts}) == 1
    assert halves(loop, {"a": (row(None, fill.where),)}, {"a": (fill,)}) == 2


def test_what_is_not_told_is_not_the_same_as_what_keeps_its_content(loop):
    n = next(var for var in loop.paths.invariants if var.name == "n")
    unknown = {"a": (row(None, J.ge(0) & J.lt(n)),)}
    assert not same_where(unknown, {}, t.TRUE)
    assert same_where(unknown, unknown, t.TRUE)
    case = next(case for case in loop.cases if case.iterations is not t.ZERO)
    parts = (
        replace(case, when=case.when & n.lt(5), contents=None),
        replace(case, when=case.when & n.ge(5), contents={}),
    )
    assert len(merged(replace(loop, cases=parts))) == 2


def test_layers_meet_where_elements_share_a_byte():
    n = t.Var("n", INT)
    fill = row(t.ZERO, J.ge(0) & J.lt(n))
    assert meets((fill,), row(t.ONE, J.eq(0), t.const(8)), t.TRUE)
    assert not meets((fill,), row(t.ONE, J.eq(0), t.const(8)), n.le(2))
    assert not meets((fill,), row(t.ONE, J.eq(0), 4 * n), t.TRUE)
    assert meets((fill,), row(t.ONE, J.eq(0), 4 * n - 1), t.TRUE)
    members = [row(t.ZERO, J.ge(0), t.const(at), stride=8) for at in (0, 4)]
    assert not meets(members[:1], members[1], t.TRUE)

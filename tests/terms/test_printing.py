"""What people read says what the conditions mean: numbers by the ends of types, quotients the right way up."""

from __future__ import annotations

import random
import re

from loopless import terms as t
from loopless.terms import INTEGERS, Style, Var

A, B = Var("a", INTEGERS), Var("b", INTEGERS)
PEOPLE = Style(numerals=True)
ENDS = {
    "INT_MAX": 2**31 - 1,
    "INT_MIN": -(2**31),
    "UINT_MAX": 2**32 - 1,
    "INT64_MAX": 2**63 - 1,
    "INT64_MIN": -(2**63),
    "UINT64_MAX": 2**64 - 1,
}


def said(text: str, a: int, b: int) -> bool:
    """What a reader makes of a condition."""
    return bool(eval(re.sub(r"2\^(\d+)", r"2**\1", text), {**ENDS, "a": a, "b": b, "true": True, "false": False}))


def test_a_comparison_near_the_end_of_a_type_says_the_same() -> None:
    rng = random.Random(1)
    near = [*ENDS.values(), 2**31, 2**32, 2**61]
    for _ in range(1500):
        end = rng.choice(near) + rng.choice((0, 0, 1, -1, 2, -2, -12, 48, -63, 64, -65))
        left = (t.scale(v, rng.choice((0, 1, 1, -1, -1, 2))) for v in (A, B))
        condition = rng.choice((t.at_most_zero, t.equals_zero, t.not_zero))(
            t.add(*left, t.const(end * rng.choice((1, -1))))
        )
        shown = t.text(condition, PEOPLE)
        for _ in range(5):
            a = rng.choice((0, 1, -1, rng.choice(near) + rng.randint(-2, 2)))
            b = rng.choice((0, *(s * end + q * a + rng.randint(-1, 1) for s in (1, -1) for q in (1, -1))))
            assert said(shown, a, b) == t.holds(condition, {A: a, B: b}), shown


def test_numbers_that_are_meant_are_named() -> None:
    n, i = Var("n", t.IntType(32)), Var("i", t.IntType(32))
    top = t.const(2**31 - 1)
    for condition, shown in (
        (t.less_equal(t.sub(n, i), top), "n - i <= INT_MAX"),
        (t.less(top, t.sub(n, i)), "n - i > INT_MAX"),
        (t.less(t.add(n, i), t.const(-(2**31))), "i + n < INT_MIN"),
        (t.less(n, top), "n < INT_MAX"),
        (t.less_equal(t.add(n, t.const(3)), top), "n <= INT_MAX - 3"),
        (t.less_equal(t.add(n, i, t.const(-50)), top), "i + n - 50 <= INT_MAX"),
        (t.less(n, t.const(100)), "n < 100"),
        (t.less_equal(top, n), "n == INT_MAX"),
        (t.less_equal(Var("u", t.IntType(8, signed=False)), t.ZERO), "u == 0"),
    ):
        assert t.text(condition, PEOPLE) == shown
        assert "MAX" not in t.text(condition)
    assert t.text(t.sub(t.const(2**31), n), PEOPLE) == "2^31 - n"


def test_a_function_is_told_apart_from_a_variable_of_its_name() -> None:
    x = Var("x", INTEGERS)
    larger = t.maximum(Var("max", INTEGERS), x)
    assert t.text(larger, Style(taken={"max", "x"})) == "MAX(max, x)"
    assert t.text(larger, Style(taken={"max", "MAX", "x"})) == "MAX_(max, x)"
    assert t.text(larger, Style(taken={"x"})) == "max(max, x)"


def test_quotients_stand_upright() -> None:
    x = Var("x", t.IntType(32, signed=False))
    rest = t.add(x, t.scale(t.floor_div(t.sub(t.const(65535), x), t.const(65536)), 65535))
    assert t.text(rest) == "x - 65535*(x / 65536)"


def test_what_fits_a_type_is_said_in_one_word() -> None:
    rng = random.Random(2)
    kinds = {"fits_int": (-(2**31), 2**31 - 1), "fits_unsigned": (0, 2**32 - 1), "fits_int64": (-(2**63), 2**63 - 1)}
    fits = {name: (lambda value, ends=ends: ends[0] <= value <= ends[1]) for name, ends in kinds.items()}
    for _ in range(300):
        low, high = rng.choice(list(kinds.values()))
        off, size = rng.choice((0, 0, 48, -7)), rng.choice((0, 0, 0, 1))
        value = t.add(t.scale(A, rng.choice((1, -1))), t.scale(B, rng.choice((0, 1, -1, 2))))
        inside = (t.less_equal(t.const(low + off), value), t.less_equal(value, t.const(high + off + size)))
        condition = t.conjunction(inside) if rng.random() < 0.5 else t.disjunction(map(t.negate, inside))
        shown = t.text(condition, PEOPLE)
        assert ("fits_" in shown) == (size == 0), shown
        for _ in range(8):
            a, b = (rng.choice((0, low, high, high // 2)) + rng.randint(-60, 60) for _ in range(2))
            python = re.sub(r"!(?=fits)", " not ", shown).replace("&&", " and ").replace("||", " or ")
            python = re.sub(r"2\^(\d+)", r"2**\1", python)
            assert eval(python, {**ENDS, **fits, "a": a, "b": b}) == t.holds(condition, {A: a, B: b}), shown

    for name, (low, high) in kinds.items():  # of types of the same size the one that it fits as it stands
        inside = (t.less_equal(t.const(low), A), t.less_equal(A, t.const(high)))
        assert t.text(t.conjunction(inside), PEOPLE) == f"{name}(a)"


def test_a_search_to_the_end_is_said_of_all_positions() -> None:
    at, n, m = t.position(), Var("n", t.IntType(32)), Var("m", t.IntType(32))
    search = t.first(at, n, t.less(m, t.mul(t.mul(at, at), m)))  # some k with m < k*k*m
    people = Style(numerals=True, quantified=True)
    some, every = "some(k < n: m < m*k*k)", "all(k < n: m*k*k <= m)"
    nothing, natural = t.equal(search, n), t.less_equal(t.ZERO, n)
    for condition, shown in (
        (t.less(search, n), some),
        (t.less_equal(n, search), every),
        (t.conjunction((natural, nothing)), f"n >= 0 && {every}"),
        (t.conjunction((t.less(t.ZERO, n), t.negate(nothing))), f"n > 0 && {some}"),
        (nothing, None),  # where n < 0, nothing is found, and the search ends at 0
        (t.disjunction((natural, nothing)), None),
    ):
        text = t.text(condition, people)
        assert shown is None or sorted(text.split(" && ")) == sorted(shown.split(" && "))
        assert (shown is None) == ("first(" in text)
        for length in (-1, 0, 1, 2, 5):
            for value in (-1, 0, 3):
                found = any(value < k * k * value for k in range(length))
                sense = {some: found, every: not found, "n >= 0": length >= 0, "n > 0": length > 0}
                if shown is not None:
                    said_so = all(sense[part] for part in shown.split(" && "))
                    assert t.holds(condition, {n: length, m: value}) == said_so, (shown, length, value)


def test_a_search_without_end_is_said_of_all_positions() -> None:
    at, n = t.position(), Var("n", t.IntType(32))
    search = t.earliest(at, t.less(n, t.mul(at, at)))
    people = Style(numerals=True, quantified=True)
    assert t.text(t.less(search, t.ZERO), people) == "all(k: k*k <= n)"
    assert t.text(t.less_equal(t.ZERO, search), people) == "some(k: n < k*k)"
    assert "earliest(" in t.text(t.less_equal(t.ONE, search), people)


def test_of_null_pointers_is_told_as_in_c() -> None:
    owner, flag = Var("p.object", INTEGERS), Var("q_is_null", t.IntType(1, signed=False))
    style = Style(numerals=True, pointers={owner: "p", flag: "q"})
    for condition, shown in (
        (t.equals_zero(owner), "p == NULL"),
        (t.not_zero(owner), "p != NULL"),
        (t.equals_zero(t.sub(owner, t.const(3))), "object(p) == 3"),
        (t.equals_zero(t.sub(owner, A)), "a == object(p)"),
        (t.at_most_zero(owner), "object(p) <= 0"),
        (t.equals_zero(flag), "q != NULL"),
        (t.not_zero(flag), "q == NULL"),
        (t.equals_zero(t.sub(flag, t.const(1))), "q == NULL"),
        (t.at_most_zero(flag), "q != NULL"),
        (t.at_most_zero(t.sub(t.const(1), flag)), "q == NULL"),
    ):
        assert t.text(condition, style) == shown
    assert t.text(t.equals_zero(owner), PEOPLE) == "p.object == 0"


def test_pointers_in_two_parts_are_compared_as_pointers() -> None:
    p, q = Var("p", t.IntType(62)), Var("q", t.IntType(62))
    own, other = Var("p.object", INTEGERS), Var("q.object", INTEGERS)
    style = Style(numerals=True, pointers={own: "p", other: "q"}, halves={own: p, other: q})
    same = t.conjunction((t.equal(own, other), t.equal(p, q)))
    null = t.conjunction((t.equals_zero(own), t.equals_zero(p)))
    for condition, shown in (
        (same, "p == q"),
        (t.negate(same), "p != q"),
        (null, "p == NULL"),
        (t.negate(null), "p != NULL"),
        (t.conjunction((same, t.less(A, t.const(3)))), "a <= 2 && p == q"),
        (t.conjunction((t.equal(own, other), t.less(p, q))), "object(p) == object(q) && p < q"),
        (t.conjunction((t.equal(own, other), t.equal(p, t.add(q, t.ONE)))), "object(p) == object(q) && p == q + 1"),
    ):
        assert sorted(t.text(condition, style).split(" && ")) == sorted(shown.split(" && "))
    # One half of an alternative says nothing of the other.
    assert t.text(t.conjunction((t.not_equal(own, other), t.not_equal(p, q))), style) != "p != q"


def test_elements_read_with_another_sign_are_printed_as_declared_where_signs_do_not_matter() -> None:
    unsigned = t.Layout((t.Rows(0, None, 4, "", {(0, 4): t.Scalar("", t.IntType(32, signed=False))}),))
    style = Style(numerals=True, layouts={"a": unsigned})
    read = t.read("a", t.ZERO, t.IntType(32))
    assert t.text(read, style) == "(int32_t)a[0]"
    assert t.text(t.mod(read, t.const(2**32)), style) == "a[0]"
    assert t.text(t.mod(read, t.const(2**31)), style) == "mod((int32_t)a[0], 2^31)"
    assert t.text(t.wrap(read + A, t.IntType(32)), style) == "(int32_t)(a + a[0])"
    assert t.text(t.wrap(read + A, t.IntType(64)), style) == "(int64_t)(a + (int32_t)a[0])"
    assert t.text(t.wrap(read * read + A, t.IntType(32)), style) == "(int32_t)((int32_t)a[0]*(int32_t)a[0] + a)"

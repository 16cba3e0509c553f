"""Counts of induction variables: against counts worked out by hand, and on all 8-bit states."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from loopless.bounds.induction.counts import Counted, induction_counts
from loopless.bounds.induction.halving import divisions, euclid, quotient_of
from loopless.flowgraph.model import Flowgraph
from loopless.refusals import Refused
from loopless.terms import (
    TRUE,
    IntType,
    Term,
    Var,
    bit_and,
    const,
    evaluate,
    floor_div,
    holds,
    shift_right,
    sub,
    wrap,
)
from loopless_fuzz.judging.loop_alone import LoopAlone
from loops_in_c import graph

TYPES = "typedef unsigned char u8; typedef signed char i8; typedef unsigned short u16; typedef unsigned u32;\n"
ASSUME = "extern void __VERIFIER_assume(int);\n"


def counts(text: str) -> tuple[Flowgraph, list[Counted]]:
    """What induction variables say of the loops of ``f``, by line and column; none may be refused."""
    g = graph(TYPES + ASSUME + text)
    found = induction_counts(g)
    ordered = [found[loop.name] for loop in sorted(g.loops, key=lambda loop: (loop.line, loop.column))]
    assert not any(isinstance(one, Refused) for one in ordered)
    return g, [one for one in ordered if isinstance(one, Counted)]


def value(term: Term, given: dict[str, int]) -> int:
    return evaluate(term, {var: given[var.name] for var in term.variables})


def ceil(a: int, b: int) -> int:
    return max(0, -(-a // b))


Exact = Callable[[dict[str, int]], int]

BY_HAND: dict[str, tuple[str, Exact]] = {
    "up": ("(u8 i, u8 n) { while (i < n) i++; return i; }", lambda v: max(0, v["n"] - v["i"])),
    "down": ("(u8 i, u8 n) { while (i > n) i--; return i; }", lambda v: max(0, v["i"] - v["n"])),
    "to 0": ("(u8 i) { while (i) i--; return i; }", lambda v: v["i"]),
    "step 3, which cannot wrap around": (
        "(u8 i, u8 n) { while (i + 0 < (n & 127)) i += 3; return i; }",
        lambda v: ceil(v["n"] % 128 - v["i"], 3),
    ),
    "unequal, up": ("(u8 i, u8 n) { while (i != n) i++; return i; }", lambda v: (v["n"] - v["i"]) % 256),
    "unequal, signed down": ("(i8 i, i8 n) { while (i != n) i--; return i; }", lambda v: (v["i"] - v["n"]) % 256),
    "unequal, both move": (
        "(u8 i, u8 n) { while (i != n) { i += 3; n += 2; } return i; }",
        lambda v: (v["n"] - v["i"]) % 256,
    ),
    "towards each other": (
        "(u8 i, u8 n) { while (i < n) { i++; n--; } return i; }",
        lambda v: ceil(v["n"] - v["i"], 2),
    ),
    "do, up": (
        "(u8 i, u8 n) { do i++; while (i < n); return i; }",
        lambda v: max(0, v["n"] - (v["i"] + 1) % 256),
    ),
    "do, down": (
        "(u8 i, u8 n) { do i--; while (i > n); return i; }",
        lambda v: max(0, (v["i"] - 1) % 256 - v["n"]),
    ),
    "do, unequal": (
        "(u8 i, u8 n) { do i++; while (i != n); return i; }",
        lambda v: (v["n"] - v["i"] - 1) % 256,
    ),
    "two exits": (
        "(u8 i, u8 n, u8 j) { while (1) { if (i >= n) break; if (j == 0) return 1; i++; j--; } return i; }",
        lambda v: min(max(0, v["n"] - v["i"]), v["j"]),
    ),
    "short-circuit": (
        "(u8 i, u8 n, u8 j) { while (i < n && j > 0) { i++; j--; } return i; }",
        lambda v: min(max(0, v["n"] - v["i"]), v["j"]),
    ),
    "a flag": (
        "(u8 i, u8 n) { u8 more; do { more = 0; if (i < n) { more = 1; i++; } } while (more); return i; }",
        lambda v: max(0, v["n"] - v["i"]),
    ),
    "a difference modulo 2^8": ("(u8 i, u8 n) { while ((u8)(n - i) > 0) i++; return i; }", lambda v: (v["n"] - v["i"]) % 256),
    "a cast to signed": (
        "(u8 i, i8 n) { while ((i8)i < n) i++; return i; }",
        lambda v: max(0, v["n"] - ((v["i"] + 128) % 256 - 128)),
    ),
    "a bit that others have": (
        "(u8 i, u8 n) { while (i & n) i >>= 1; return i; }",
        lambda v: next(k for k in range(9) if not v["n"] & (v["i"] >> k)),
    ),
    "bits of two": (
        "(u8 i, u8 n) { while (n & i) i >>= 3; return i; }",
        lambda v: next(k for k in range(4) if not v["n"] & (v["i"] >> 3 * k)),
    ),
    "the same either way": (
        "(u8 i, u8 n, u8 j) { while (i < n) { if (j > 4) i++; else { i += 2; i--; } } return i; }",
        lambda v: max(0, v["n"] - v["i"]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_counts_worked_out_by_hand(name: str) -> None:
    text, expected = BY_HAND[name]
    _, (found,) = counts("int f" + text)
    assert found.exact is not None
    assert any(bound.when is TRUE for bound in found.bounds)
    names = sorted({var.name for var in found.exact.variables})
    signed = {var.name for var in found.exact.variables if var.type.signed}
    edges = [0, 1, 2, 3, 5, 100, 126, 127, 128, 129, 200, 253, 254, 255]
    for row in product(edges, repeat=len(names)):
        given = {n: (x + 128) % 256 - 128 if n in signed else x for n, x in zip(names, row, strict=True)}
        full = {"i": 0, "n": 0, "j": 0} | given
        assert value(found.exact, full) == expected(full), given


def test_the_text_of_a_count() -> None:
    _, (found,) = counts("int f(u8 i, u8 n) { while (i < n) i++; return i; }")
    assert str(found.exact) == "max(0, n - i)"
    assert [str(bound.term) for bound in found.bounds] == ["max(0, n - i)"]


def test_a_narrow_counter_may_pass_its_limit_and_meet_it_after_it_went_round() -> None:
    _, (found,) = counts("int f(u8 i, u8 n) { while (i < n) i += 3; return i; }")
    assert found.exact is not None
    assert str(found.exact) == "n <= 253 ? max(0, ceil_div(n - i, 3)) : first_in_range(i, 3, 256, n, 255)"
    assert value(found.exact, {"i": 2, "n": 9}) == 3
    assert value(found.exact, {"i": 2, "n": 254}) == 84
    # 2, 5, …, 254; 1, 4, …, 253; 0, 3, …, 252, and then 255: three times 85 steps.
    assert value(found.exact, {"i": 2, "n": 255}) == 255


def test_a_limit_of_what_the_lowest_bits_are() -> None:
    _, (found,) = counts("int f(u32 i, u32 n) { while (n && (i & 7)) { i++; n--; } return i; }")
    assert str(found.exact) == "min(mod(-i, 8), n)"
    assert [str(bound.term) for bound in found.bounds] == ["min(mod(-i, 8), n)"]


@pytest.mark.parametrize("null", ["", "if (!p) return 0;"])
def test_a_pointer_that_goes_on_to_where_it_is_aligned(null: str) -> None:
    body = "u32 c = 0; while (n && (unsigned long)p & 7) { c += *p++; n--; } return c;"
    _, (found,) = counts(f"int f(const u8 *p, u32 n) {{ {null} {body} }}")
    assert found.exact is not None
    given = {"p": 2, "p.object": 1, "n": 9}
    # From an address of the form 8k + 3 five steps lead to the next multiple of 8, from a multiple none does.
    for address, steps in ((0x1001, 5), (0x1006, 0), (0x1007, 7), (0x1005, 1)):
        assert value(found.exact, {**given, "&p": address}) == steps
        assert value(found.exact, {**given, "&p": address, "n": 3}) == min(3, steps)
    if null:
        assert value(found.exact, {"p": 0, "p.object": 0, "n": 9, "&p": 0x1001}) == 0


def test_a_limit_that_any_value_meets_gives_nothing_for_it() -> None:
    _, (found,) = counts("int f(u8 i, u8 n) { while (i <= n) i++; return i; }")
    assert found.exact is None or holds(found.endless, dict.fromkeys(found.endless.variables, 255))
    assert all(not holds(bound.when, dict.fromkeys(bound.when.variables, 255)) for bound in found.bounds)


NOTHING = {
    "either way": "(u8 i, u8 n, u8 j) { while (i != n) { if (j > 3) i++; else i--; } return i; }",
    "steps of 2 or 4 to what is unequal": "(u8 i, u8 n, u8 j) { while (i != n) i += j++ > 3 ? 2 : 4; return i; }",
    "halves of what is negative, -1 too": "(i8 x) { while (x < 0) x >>= 1; return x; }",
    "unequal of two widths": "(u8 i, u16 j) { while (i != j) { i += 2; j += 3; } return i; }",
    "a limit that moves beyond the type": "(u8 i, int j) { while (i < j) { i += 3; j++; } return i; }",
    "either of two has a bit": "(u8 x, u8 y) { while (x | y) x >>= 1; return x; }",
    "halves, 0 too": "(int x) { while (x >= 0) x /= 2; return x; }",
    "half the way": "(u8 x, u8 y) { while (x != y) x /= 2; return x; }",
    "a load that the loop changes": "(u32 i, u32 *p) { while (i < p[1]) { p[i & 3] += 2; i++; } return i; }",
    "a load that a call may change": "void g(void); u32 s[2]; int f(u32 i) { while (i < s[i & 1]) { g(); i++; } return i; }",
    # For i from 254 on, i / 2 falls to 0.
    "a quotient below a reduction": "(u8 i, u8 n, u8 m) { while ((u8)(i / 2 + m) < n) i += 2; return i; }",
    # 0x100 & (signed char)(0x100 - 1) is 0x100.
    "bits that a narrower type takes away": "(int x) { while (x > 0) x &= (i8)(x - 1); return x; }",
    "what wraps around inside": "(u8 n, u8 m) { u8 i = 0; while (i < n) { u8 j = m; while (j) { j--; i += 5; } i++; } return i; }",
}  # fmt: skip


@pytest.mark.parametrize("name", NOTHING)
def test_loops_of_which_nothing_is_known(name: str) -> None:
    text = NOTHING[name]
    _, found = counts(text if "int f(" in text else "int f" + text)
    assert found[0].exact is None
    assert not found[0].bounds


INEXACT = {
    "steps of 1 and 2": "int f(int i, int n, u8 k) { while (i < n) { if (k > 4) i++; else i += 2; } return i; }",
    "a limit that is known by its range": "int f(u8 i, u8 k) { while (i < (k += 3) % 7) i++; return i; }",
    "an exit of which nothing is known": "int f(int i, int n, u8 k) { while (i < n) { k *= 5; if (k == 3) break; i++; } return i; }",
    "a condition that need not fail": "int f(int i, int n, int m) { while (i < n || i < m) { i++; if (i > 99) break; } return i; }",
}


@pytest.mark.parametrize("name", INEXACT)
def test_bounds_that_are_not_exact_do_not_say_so(name: str) -> None:
    _, (found,) = counts(INEXACT[name])
    assert found.bounds
    assert found.exact is None


CAPPED = {
    # i = 2^32 - 1 is never reached by a load of 8 bits, but the limit changes: only the type bounds the count.
    "a load that a store changes": "int f(u8 i, u8 *p, u8 n) { while (i < p[n & 3]) { p[n & 1] = i; i++; } return i; }",
    "a volatile limit": "int f(u8 i) { volatile u8 v = 9; while (i < v) i++; return i; }",
}


@pytest.mark.parametrize("name", CAPPED)
def test_a_limit_that_changes_is_known_by_its_type_alone(name: str) -> None:
    _, (found,) = counts(CAPPED[name])
    assert found.exact is None
    assert [value(bound.term, {"i": 5}) for bound in found.bounds] == [250]


def test_losing_bits() -> None:
    for text, most in (
        ("(int x) { while (x > 0) x &= x - 1; return x; }", 31),
        ("(u32 x) { while (x) x ^= x & -x; return x; }", 32),
        ("(u16 x) { while (x) x -= x & -x; return x; }", 16),
    ):
        _, (found,) = counts("int f" + text)
        assert [value(bound.term, {"x": (1 << most) - 1}) for bound in found.bounds] == [most], text
        assert found.exact is None


def digits(number: int, base: int) -> int:
    """How many digits a number ≥ 0 has, none for 0."""
    return 0 if number == 0 else 1 + digits(number // base, base)


def test_a_number_is_divided_as_often_as_it_has_digits() -> None:
    for text, expected in (
        ("(u8 x) { while (x) x /= 2; return x; }", lambda x: digits(x, 2)),
        ("(u8 x) { while (x > 0) x >>= 3; return x; }", lambda x: digits(x, 8)),
        ("(u32 x) { while (x) x /= 10; return x; }", lambda x: digits(x, 10)),
        ("(i8 x) { while (x) x /= 3; return x; }", lambda x: digits(abs(x), 3)),
        # x is at least 10 before each division: as many digits as the rest in front of the last one has.
        ("(u32 x) { while (x >= 10) x /= 10; return x; }", lambda x: digits(x // 10, 10)),
        ("(u32 x) { while (x > 6) x >>= 1; return x; }", lambda x: digits(x // 7, 2)),
    ):
        _, (found,) = counts("int f" + text)
        assert found.exact is not None, text
        edges = [0, 1, 2, 6, 7, 8, 9, 10, 13, 14, 99, 100, 127]
        edges += [-128, -127, -81, -1] if "i8" in text else [128, 255] if "u8" in text else [4_294_967_295, 10**9]
        for x in edges:
            assert value(found.exact, {"x": x}) == expected(x), (text, x)


def test_euclid_takes_the_most_for_numbers_of_fibonacci() -> None:
    """Lamé: as many divisions as Fibonacci's numbers from 1, 2, 3, … lie below the smaller one."""
    for text, most in (
        ("int f(u8 a, u8 b) { while (b > 0) { u8 t = a % b; a = b; b = t; } return a; }", 12),  # 233 is the 12th
        ("int f(u16 a, u16 b) { while (b) { u16 t = a % b; a = b; b = t; } return a; }", 23),  # 46368 the 23rd
        ("int f(int a, int b) { while (b) { int t = a % b; a = b; b = t; } return a; }", 45),  # 1836311903 the 45th
    ):
        _, (found,) = counts(text)
        assert [bound.term for bound in found.bounds] == [const(most)], text

    def steps(a: int, b: int) -> int:
        n = 0
        while b > 0:
            a, b, n = b, a % b, n + 1
        return n

    assert max(steps(a, b) for a in range(256) for b in range(256)) == steps(144, 233) == steps(377, 233) == 12
    worst = [max(steps(a, b) for a in range(170)) for b in range(100)]
    assert [euclid(most) for most in range(100)] == [max(worst[: most + 1]) for most in range(100)]


def test_more_exits_than_are_told_apart_are_all_seen() -> None:
    """One of the ways on has no limit, the last of twelve."""
    ways = " || ".join([*(f"(i < n && k == {at})" for at in range(11)), "k == 11"])
    _, (found,) = counts(f"int f(u32 i, u32 n, u8 k) {{ while ({ways}) i++; return i; }}")
    assert not found.bounds
    assert found.exact is None


def test_what_loses_a_bit_and_what_does_not() -> None:
    wide = Var("w", IntType(32, signed=True))
    assert divisions(bit_and(wide, sub(wide, const(1))), wide, wide.type.max or 0) == 31
    assert divisions(bit_and(wide, sub(wide, const(2))), wide, wide.type.max or 0) is None
    assert divisions(bit_and(wide, wrap(sub(wide, const(1)), IntType(8, signed=True))), wide, 1000) is None
    assert quotient_of(floor_div(wide, const(1)), wide) is None
    assert quotient_of(shift_right(wide, const(0)), wide) is None


BEHIND = {
    "two variables": "u8 jo = j, io = i; i += 61; j += 120; if (j < 2 * i) break;"
    " __VERIFIER_assume(jo <= 50); __VERIFIER_assume(io <= 20);",
    "one is reduced twice": "u16 io = x; x = (u8)x - 1; if (x == n) break; __VERIFIER_assume(io <= 255); i = 0; j = 0;",
}


@pytest.mark.parametrize("name", BEHIND)
def test_a_step_that_only_assumptions_behind_the_exit_keep_from_wrapping_is_not_exact(name: str) -> None:
    """From i = 0 and j = 50 the second iteration ends by the first exit, since j wraps around in it; from x = 0 and
    n = 254 too. In iterations that are completed nothing does.
    """
    g, (found,) = counts(f"int f(u8 i, u8 j, u16 x, u16 n) {{ while (1) {{ {BEHIND[name]} }} return 0; }}")
    (loop,) = g.loops
    alone = LoopAlone(g, loop)
    state = {v: {"i": 0, "j": 50, "x": 0, "n": 254}.get(v.name, 0) for v in alone.entry}
    truth = alone.run(state, max_steps=100)
    assert (truth.status, truth.iterations) == ("ok", 1)
    assert found.exact is None or evaluate(found.exact, state) == 1
    for bound in found.bounds:
        assert evaluate(bound.term, state) >= 1 or not holds(bound.when, state)


def test_an_invariant_load_is_a_limit() -> None:
    _, (found,) = counts("int f(u32 i, u32 *p, u8 k) { while (i < p[k & 3]) i++; return i; }")
    assert found.exact is not None

    def reader(name: str, offset: int, type: IntType) -> int:
        assert (name, offset) == ("p", 8)
        return 20

    given = {var: {"i": 3, "k": 6}.get(var.name, 0) for var in found.exact.variables}
    assert evaluate(found.exact, given, reader) == 17


NESTS = {
    "rectangle": ("for (u8 i = 0; i < n; i++) for (u8 j = 0; j < m; j++);", lambda n, m: (n, m, n * m)),
    "triangle": ("for (u8 i = 0; i < n; i++) for (u8 j = 0; j < i; j++);", lambda n, m: (n, max(0, n - 1), n * max(0, n - 1) // 2)),
    "entered at times": (
        "for (u8 i = 0; i < n; i++) if (i < m) for (u8 j = 0; j < n; j++);",
        lambda n, m: (n, n, m * n),
    ),
    "entered once": ("for (u8 i = 0; i < n; i++) if (i == m) { for (u8 j = 0; j < n; j++); return 1; }", None),
    "a limit that falls": (
        "int k = m; for (u8 i = 0; i < n; i++) { for (int j = 0; j < k; j++); k -= 3; }",
        lambda n, m: (n, m, min(n * m, (2 * m + 3) ** 2 // 24)),  # m, m - 3, …
    ),
    "inner ones move the outer counter": (
        "int i = 0; while (i < n) { i++; for (u8 j = 0; j < m; j++) i += 2; }",
        lambda n, m: (n, m, n * m),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name, (_, totals) in NESTS.items() if totals is not None])
def test_totals_of_nests(name: str) -> None:
    text, totals = NESTS[name]
    _, (outer, inner) = counts(f"int f(u8 n, u8 m) {{ {text} return 0; }}")
    for n, m in product((0, 1, 2, 7, 200, 255), repeat=2):
        given = {"n": n, "m": m}
        found = [min(value(b.term, given) for b in bounds) for bounds in (outer.total, inner.any_entry, inner.total)]
        assert tuple(found) == totals(n, m)


@pytest.mark.parametrize("start", [0, 3])
@pytest.mark.parametrize("step", [1, 2, 3, 5])
@pytest.mark.parametrize(
    "inner", ["j = i; j < n; j++", "j = 0; j < i; j++", "j = i; j < n; j += 2", "j = n; j > i; j -= 3"]
)
def test_sums_over_entries_that_take_ever_more_or_less(start: int, step: int, inner: str) -> None:
    text = f"for (int i = {start}; i < n; i += {step}) for (int {inner});"
    _, (_, found) = counts(f"int f(u8 n) {{ {text} return 0; }}")
    first, until, by = inner.split("; ")
    for n in range(40):
        truth, largest = 0, 0
        for i in range(start, n, step):
            j = {"j = i": i, "j = 0": 0, "j = n": n}[first]
            times = 0
            while {"j < n": j < n, "j < i": j < i, "j > i": j > i}[until]:
                j += {"j++": 1, "j += 2": 2, "j -= 3": -3}[by]
                times += 1
            truth, largest = truth + times, max(largest, times)
        given = {"n": n}
        assert found.total and truth <= min(value(b.term, given) for b in found.total)
        any_entry = min(value(b.term, given) for b in found.any_entry)
        assert largest == any_entry if first != "j = 0" else largest <= any_entry


@pytest.mark.parametrize(
    ("text", "given", "truth"),
    [
        # Of 600 iterations i < 10 holds in 10 of the first 256, of the second, and of the last 88.
        (
            "int f(u8 i, u8 m, int n) { for (int c = 3; c < n + 3; c++) { if (i < m) for (u8 j = 0; j < 1; j++); i++; } return 0; }",
            {"i": 0, "m": 10, "n": 600},
            30,
        ),
        # What does not change holds each time.
        (
            "int f(u8 m, int n) { for (int c = 0; c < n; c++) { if (m > 3) for (u8 j = 0; j < m; j++); } return 0; }",
            {"m": 4, "n": 10},
            40,
        ),
    ],
)
def test_a_place_is_come_past_as_often_as_its_facts_allow(text: str, given: dict[str, int], truth: int) -> None:
    _, (_, inner) = counts(text)
    assert inner.total
    assert all(value(bound.term, given) >= truth for bound in inner.total)


def test_an_iteration_that_is_never_completed_is_counted_as_none() -> None:
    _, (found,) = counts("int f(u8 i, u8 n) { while (i < n) { i++; if (i >= 1) break; } return i; }")
    assert found.exact is not None
    assert value(found.exact, {}) == 0


def test_a_loop_in_front_of_the_exit_is_entered_once_more() -> None:
    _, (_, inner) = counts(
        "int f(u8 n, u8 m) { int i = 0; while (1) { for (u8 j = 0; j < m; j++); if (i >= n) break; i++; } return i; }"
    )
    assert [value(bound.term, {"n": 5, "m": 7}) for bound in inner.total] == [42]


def test_no_bound_on_a_call_speaks_of_what_it_reads() -> None:
    """k is an input of each iteration: of an entry nothing is known but its type, which is too wide to say anything."""
    g, (_, inner) = counts(
        "extern int __VERIFIER_nondet_int(void);"
        "int f(u8 n) { for (u8 i = 0; i < n; i++) { int k = __VERIFIER_nondet_int(); for (int j = 0; j < k; j++); }"
        "return 0; }"
    )
    assert inner.bounds
    assert all(bound.term.variables <= set(g.variables) for bound in inner.any_entry)
    assert not inner.any_entry


def test_what_is_read_inside_is_not_carried_over_writes() -> None:
    text = (
        "int f(u8 *p, u8 n) { for (u8 i = 0; i < 5; i++) { for (u8 j = 0; j < p[n & 3]; j++); p[i] += 9; } return 0; }"
    )
    _, (outer, inner) = counts(text)
    assert inner.exact is not None
    assert [value(bound.term, {}) for bound in outer.total] == [5]
    assert not inner.any_entry
    assert not inner.total


# -- every state of 8 bits --------------------------------------------------------------------------------------------

BRUTE = {
    "up by 7": "while (i < n) i += 7;",
    "down by 5": "while (i > n) i -= 5;",
    "up to and with": "while (i <= n) i++;",
    "do, up by 7": "do i += 7; while (i < n);",
    "do, down by 3, unequal": "do i -= 3; while (i != n);",
    "a sum modulo 2^8": "while ((u8)(i + 10) < n) i++;",
    "a difference of signed": "while ((i8)(n - i) > 3) i += 4;",
    "a difference, steps of 5": "while ((u8)(n - i) > 3) i += 5;",
    "a quotient": "while ((u8)(i / 2 + n) < 77) i += 2;",
    "a complement": "while ((u8)~i > n) i++;",
    "twice": "while (2 * i < n) i++;",
    "either of two steps": "while (i < n) { if (n & 1) i += 2; else i += 3; }",
    "two limits": "while (i != n && i < 100) i++;",
    "bits": "while (i > n) i &= i - 1;",
    "shifts": "while (i >> 2) i >>= 1;",
    "left in the middle": "while (1) { i++; if (i == n) break; if (i > 200) return 1; i++; }",
    "a limit as it was before": "u8 o; do { o = n; i++; n -= 5; } while (i < o && o >= 5);",
    "a flag of two": "int a, b; do { a = b = 0; if (i < n) { i++; a = 1; } if (n > i) { n--; b = 1; } } while (a && b);",
}  # fmt: skip


@pytest.mark.parametrize("name", BRUTE)
@pytest.mark.slow
def test_all_states_of_8_bits(name: str) -> None:
    g, (found,) = counts(f"int f(u8 i, u8 n) {{ {BRUTE[name]} return i; }}")
    (loop,) = g.loops
    alone = LoopAlone(g, loop)
    states = [{v: {"i": i, "n": n}.get(v.name, 0) for v in alone.entry} for i in range(256) for n in range(0, 256, 5)]
    for state in states if found.bounds or found.exact is not None else ():
        truth = alone.run(state, max_steps=4000)
        for bound in found.bounds:
            if holds(bound.when, state):
                assert truth.status != "diverges"
                assert truth.iterations <= evaluate(bound.term, state), (state, str(bound.term))
        if found.exact is not None and truth.status == "ok":
            assert truth.iterations == evaluate(found.exact, state), (state, str(found.exact))


def test_most_of_the_loops_above_are_known() -> None:
    found = {name: counts(f"int f(u8 i, u8 n) {{ {text} return i; }}")[1][0] for name, text in BRUTE.items()}
    assert sum(bool(one.bounds) for one in found.values()) >= 10
    assert sum(one.exact is not None for one in found.values()) >= 5

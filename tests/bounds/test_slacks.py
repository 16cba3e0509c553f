"""Slacks way by way: bounds worked out by hand, and on random loops of each rule's shape, counted natively."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import pytest

from loopless.bounds.induction.counts import Counted, induction_counts
from loopless.check.oracle.native import NativeOracle, NativeRun
from loopless.flowgraph import build
from loopless.flowgraph.model import Flowgraph
from loopless.refusals import Refused
from loopless.source import load
from loopless.terms import Term, evaluate, holds
from loops_in_c import graph

TYPES = "typedef unsigned char u8; typedef signed char i8; typedef unsigned short u16; typedef unsigned u32;\n"
TYPES += "extern int choose(void);\n"


def counts(text: str) -> tuple[Flowgraph, Counted]:
    g = graph(TYPES + text)
    (found,) = induction_counts(g).values()
    assert isinstance(found, Counted)
    return g, found


def value(term: Term, given: dict[str, int]) -> int:
    return evaluate(term, {var: given[var.name] for var in term.variables})


def least_at(found: Counted, given: dict[str, int]) -> int | None:
    """The least bound that holds for these values."""
    fitting = [b.term for b in found.bounds if holds(b.when, {v: given[v.name] for v in b.when.variables})]
    return min((value(term, given) for term in fitting), default=None)


def bits(number: int) -> int:
    return max(number, 0).bit_length()


Expected = Callable[[dict[str, int]], int | None]

BY_HAND: dict[str, tuple[str, Expected]] = {
    # Each lap leaves at most half of the keys: of 15 there are 7, 3, 1, none.
    "the middle excluded": (
        "(int lo, int hi) { while (lo <= hi) { int mid = (lo + hi) >> 1; if (choose()) lo = mid + 1; else hi = mid - 1; } return 0; }",
        lambda v: bits(v["hi"] - v["lo"] + 1),
    ),
    "the middle excluded, rounded to 0": (
        "(int lo, int hi) { while (lo <= hi) { int mid = (lo + hi) / 2; if (choose()) lo = mid + 1; else hi = mid - 1; } return 0; }",
        lambda v: bits(v["hi"] - v["lo"] + 1),
    ),
    "half open": (
        "(u32 lo, u32 hi) { while (lo < hi) { u32 mid = lo + (hi - lo) / 2; if (choose()) lo = mid + 1; else hi = mid; } return 0; }",
        lambda v: bits(v["hi"] - v["lo"]),
    ),
    # From (-3, -2) the middle is -2, and nothing changes.
    "half open, rounded to 0": (
        "(int lo, int hi) { while (lo < hi) { int mid = (lo + hi) / 2; if (choose()) lo = mid + 1; else hi = mid; } return 0; }",
        lambda v: None,
    ),
    # From 2^31 and 2^31 + 2 the sum is 2.
    "the sum wraps around": (
        "(u32 lo, u32 hi) { while (lo < hi) { u32 mid = (lo + hi) / 2; if (choose()) lo = mid + 1; else hi = mid; } return 0; }",
        lambda v: None,
    ),
    "the middle stays": (
        "(u32 lo, u32 hi) { while (lo < hi) { u32 mid = lo + (hi - lo) / 2; if (choose()) lo = mid; else hi = mid; } return 0; }",
        lambda v: None,
    ),
    # 15 numbers apart there are 14 between: 7, 3, 1, none.
    "the ends excluded": (
        "(u32 lo, u32 hi) { while (hi - lo > 1 && hi > lo) { u32 mid = lo + (hi - lo) / 2; if (choose()) lo = mid; else hi = mid; } return 0; }",
        lambda v: max(0, (max(v["hi"] - v["lo"], 1) - 1).bit_length()),
    ),
    "merging": (
        "(int i, int j, int n, int m) { while (i < n && j < m) if (choose()) i++; else j++; return 0; }",
        lambda v: max(0, v["n"] - v["i"] + v["m"] - v["j"] - 1),
    ),
    "merging three": (
        "(u8 i, u8 j, u8 k) { while (i > 0 && j > 0 && k > 0) if (choose()) i--; else if (choose()) j--; else k--; return 0; }",
        lambda v: max(0, v["i"] + v["j"] + v["k"] - 2),
    ),
    "pieces of what is left": (
        "(u32 n) { while (n >= 11) { u32 c = n > 138 ? 138 : n; n -= c; } return 0; }",
        lambda v: v["n"] // 11,
    ),
    "a factor": (
        "(u8 k, u8 n) { while (k < n) k *= 2; return 0; }",
        lambda v: None if v["k"] == 0 or v["n"] > 128 else _doublings(v["k"], v["n"]),
    ),
    "a factor and more": (
        "(u8 k, u8 n) { while (k < n) k = 2 * k + (choose() & 1); return 0; }",
        lambda v: None if v["k"] == 0 or v["n"] > 128 else _doublings(v["k"], v["n"]),
    ),
    "a step that does not change": (
        "(u8 k, u8 n, u8 s) { while (k < n) k += s; return 0; }",
        lambda v: None if v["s"] == 0 or v["n"] + v["s"] > 256 else max(0, -((v["k"] - v["n"]) // v["s"])),
    ),
    # x of the outer ones; each leaves y at 9, which is used up one by one: n + (n + 1)·max(y, 9) or less.
    "one is set again": (
        "(u8 x, u8 y) { while (x > 0 && y <= 200) { if (y > 0) y--; else { x--; y = 9; } } return 0; }",
        None,
    ),
}  # fmt: skip


def _doublings(k: int, n: int) -> int:
    return 0 if k >= n else 1 + _doublings(2 * k, n)


@pytest.mark.parametrize("name", [name for name, (_, expected) in BY_HAND.items() if expected is not None])
def test_bounds_worked_out_by_hand(name: str) -> None:
    text, expected = BY_HAND[name]
    _, found = counts("int f" + text)
    names = sorted({v.name for b in found.bounds for v in (*b.term.variables, *b.when.variables)})
    names = names or ["lo", "hi"]
    edges = (0, 1, 2, 3, 5, 14, 15, 16, 127, 128, 129, 138, 200, 255)
    for row in product(edges if len(names) < 4 else edges[::3], repeat=len(names)):
        given = dict(zip(names, row, strict=True))
        assert least_at(found, given) == expected(given), given


# -- random loops of the rules' shapes --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawn:
    """A loop that begins with the parameters a, b, c, and steps by a pseudo-random s."""

    type: str
    body: str

    def text(self, name: str, *, counting: bool) -> str:
        count = "if (++n > 3000) return -1;" if counting else ""
        body = self.body.replace("COUNT", count)
        return f"int {name}({self.type} a, {self.type} b, {self.type} c, u32 s) {{ int n = 0; {body} return n; }}\n"


CHOICE = "((s = s * 1664525u + 1013904223u) >> 28)"


def ranges(draw: random.Random) -> str:
    middle = draw.choice(
        ("(a + b) / 2", "(a + b) >> 1", "a + (b - a) / 2", "a + ((b - a) >> 1)", "b - (b - a) / 2", "a + (b - a) / 3", "(2 * a + b) / 3")
    )  # fmt: skip
    low, up = draw.choice(("m + 1", "m", "m + 2")), draw.choice(("m", "m - 1"))
    condition = draw.choice(("a < b", "a <= b", "b - a > 1", "a + 1 < b", "a < b && b - a > 3"))
    leave = draw.choice(("", "", f"if ({CHOICE} == 7) break; "))
    return f"while ({condition}) {{ COUNT TYPE m = {middle}; {leave}if ({CHOICE} & 1) a = {low}; else b = {up}; }}"


def sums(draw: random.Random) -> str:
    steps = ["a += {d}", "b -= {d}", "c -= {d}"]
    condition = f"a < 90 && b > {draw.randrange(4)} && c >= {draw.randrange(1, 4)}"
    parts = [draw.choice(steps).format(d=draw.choice((1, 1, 2, 3))) for _ in range(3)]
    if draw.random() < 0.3:
        parts[1] += "; " + draw.choice(("b++", "c++", "a--", "c -= 1"))
    return (
        f"while ({condition}) {{ COUNT u32 r = {CHOICE}; if (r < 5) {{ {parts[0]}; }} else if (r < 9) {{ {parts[1]}; }}"
        f" else {{ {parts[2]}; }} }}"
    )


def resets(draw: random.Random) -> str:
    condition = draw.choice(("a > 0 && b < 60", "a > 0 && b >= 0 && b < 60", "a >= 2 && b <= c"))
    again = draw.choice(("0", "c", "b - 5", "3", f"({CHOICE} & 7)", "b + 1"))
    step, lower = draw.choice(("b++", "b += 2", "b += 1 + (s >> 31)")), draw.choice(("a--", "a -= 2", "a++"))
    return f"while ({condition}) {{ COUNT if ({CHOICE} & 3) {step}; else {{ {lower}; b = {again}; }} }}"


def factors(draw: random.Random) -> str:
    step = draw.choice(
        (
            "a *= 2",
            "a <<= 1",
            "a = 2 * a + 1",
            "a *= 3",
            f"a = 2 * (a + ({CHOICE} & 1))",
            "a += a",
            "a = a * 2 + (s >> 30)",
        )
    )
    return f"while ({draw.choice(('a < b', 'a <= b', 'a < 100', 'a + 5 < b'))}) {{ COUNT {step}; }}"


def steps(draw: random.Random) -> str:
    up = draw.random() < 0.6
    condition = draw.choice(("a < b", "a <= b", "a + 2 < b")) if up else draw.choice(("a > b", "a >= b"))
    by = draw.choice(("c", "c + 1", "2 * c"))
    return f"while ({condition}) {{ COUNT a {'+' if up else '-'}= {by}; }}"


def pieces(draw: random.Random) -> str:
    least, most = draw.randrange(1, 6), draw.randrange(3, 40)
    size = draw.choice((f"a > {most} ? {most} : a", f"a < {most} ? a : {most}", f"b > {most} || b < 1 ? {most} : b"))
    return f"while (a >= {least}) {{ COUNT TYPE m = {size}; a -= m; }}"


def digits(draw: random.Random) -> str:
    condition = draw.choice(("a > 0", "a", "a >= 3", "a > 7"))
    step = draw.choice(
        ("a /= 2", "a >>= 1", "a /= 10", "a &= a - 1", "a ^= a & -a", "a -= a & -a", "a = a / 3", "a >>= 3")
    )
    euclid = "TYPE m = a % b; a = b; b = m"
    if draw.random() < 0.25:
        return f"while ({draw.choice(('b > 0', 'b'))}) {{ COUNT {euclid}; }}"
    return f"while ({condition}) {{ COUNT {step}; }}"


SHAPES = {shape.__name__: shape for shape in (ranges, sums, resets, factors, steps, pieces, digits)}
KINDS = {"u8": (0, 255), "i8": (-128, 127), "u16": (0, 65535), "u32": (0, 2**32 - 1), "int": (-(2**31), 2**31 - 1)}


def drawn(shape: str, seed: int) -> Drawn:
    draw = random.Random(f"{shape} {seed}")
    kind = draw.choice(list(KINDS))
    return Drawn(kind, SHAPES[shape](draw).replace("TYPE", kind))


def arguments(kind: str, draw: random.Random, count: int) -> list[tuple[int, int, int, int]]:
    low, high = KINDS[kind]
    edges = [e for e in (low, low + 1, -3, -2, -1, 0, 1, 2, 3, 7, 15, 16, 63, 100, 127, 128, high // 2, high // 2 + 1, high - 1, high) if low <= e <= high]  # fmt: skip
    near = range(max(low, -20), min(high, 120))

    def one() -> int:
        return draw.choice(edges) if draw.random() < 0.5 else draw.choice(near)

    return [(one(), one(), one(), draw.randrange(2**32)) for _ in range(count)]


@dataclass
class Judged:
    """Of how many loops something is known, how many runs were compared, in how many the bound is the count."""

    loops: int = 0
    known: int = 0
    compared: int = 0
    tight: int = 0


def judge(folder, shape: str, seeds: range, rows: int) -> Judged:
    """No bound may be below a native count, and an exact number is the count."""
    loops = {f"f{seed}": drawn(shape, seed) for seed in seeds}
    file = folder / f"{shape}.c"
    file.write_text(TYPES + "".join(loop.text(name, counting=False) for name, loop in loops.items()))
    program = load([file])
    judged = Judged()
    with NativeOracle(TYPES + "".join(loop.text(name, counting=True) for name, loop in loops.items())) as native:
        for name, loop in loops.items():
            g = build(program.inlined.functions[name], program.inlined)
            assert not isinstance(g, Refused)
            (found,) = induction_counts(g).values()
            assert isinstance(found, Counted)
            judged.loops += 1
            judged.known += bool(found.bounds)
            if not found.bounds:
                continue
            given = arguments(loop.type, random.Random(name), rows)
            for row, run in zip(given, native.run_many(name, [NativeRun(row) for row in given]), strict=True):
                if run.status != "ok" or run.return_value is None:
                    continue
                at = dict(zip("abcs", row, strict=True))
                upper = least_at(found, at)
                truth = 3001 if run.return_value < 0 else run.return_value
                assert upper is None or truth <= upper, (loop.text(name, counting=False), at, truth, upper)
                if found.exact is not None and run.return_value >= 0:
                    assert value(found.exact, at) == truth, (loop.text(name, counting=False), at, truth)
                judged.compared += upper is not None
                judged.tight += upper == truth
    return judged


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_random_loops(tmp_path, shape: str) -> None:
    judged = judge(tmp_path, shape, range(40), 40)
    assert judged.known >= 10
    assert judged.compared >= 200
    assert judged.tight >= 20


@pytest.mark.parametrize(
    "body", ["if (i <= 0) break; i *= 2;", "if (i < 1) break; i <<= 1;", "if (i <= 2) break; i += i;"]
)
def test_a_factor_that_only_completed_iterations_vouch_for(body: str) -> None:
    """Where it grows from what is not positive, no iteration is completed: the count is 0, not "never"."""
    _, found = counts(f"int f(i8 i, i8 n) {{ while (i < n) {{ {body} }} return i; }}")
    least = {"if (i <= 0) break; i *= 2;": 1, "if (i < 1) break; i <<= 1;": 1, "if (i <= 2) break; i += i;": 3}[body]
    assert found.bounds
    for i, n in product(range(-128, 128, 3), range(-128, 65, 7)):
        value_of, truth = i, 0
        while value_of < n and value_of >= least:
            value_of, truth = value_of * 2, truth + 1
        bound = least_at(found, {"i": i, "n": n})
        assert bound is None or bound >= truth, (i, n)

"""Summaries of single-path loops against plain simulation: every region, every value, exactly one region per state.

Each case has the loop in C and the same loop as a Python step written by hand: ``guard``, ``step`` (None for undefined
behaviour), both on a dict of values. All states of two 8-bit inputs are visited, or a sample of wider ones.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from loopless import terms as t
from loopless.flowgraph import Options, build
from loopless.paths import loop_paths
from loopless.source import load
from loopless.summary import LoopSummary, summarize
from loops_in_c import paths, summary

State = dict[str, int]
LIMIT = 70_000


@dataclass(frozen=True)
class Loop:
    name: str
    source: str
    guard: Callable[[State], bool]
    step: Callable[[State], State | None]
    types: dict[str, t.IntType]


I8, U8, I32, U32 = t.IntType(8), t.IntType(8, signed=False), t.IntType(32), t.IntType(32, signed=False)


def int32(value: int) -> int | None:
    return value if -(2**31) <= value < 2**31 else None


def assigned(state: State, **new: int | None) -> State | None:
    return None if None in new.values() else {**state, **{k: v for k, v in new.items() if v is not None}}


LOOPS = [
    Loop(
        "count up",
        "signed char f(signed char x, signed char n) { while (x < n) x++; return x; }",
        lambda s: s["x"] < s["n"],
        lambda s: {**s, "x": I8.wrap(s["x"] + 1)},
        {"x": I8, "n": I8},
    ),
    Loop(
        "step of seven that wraps",
        "signed char f(signed char x, signed char n) { while (x < n) x += 7; return x; }",
        lambda s: s["x"] < s["n"],
        lambda s: {**s, "x": I8.wrap(s["x"] + 7)},
        {"x": I8, "n": I8},
    ),
    Loop(
        "unsigned until equal",
        "unsigned char f(unsigned char x, unsigned char n) { while (x != n) x += 6; return x; }",
        lambda s: s["x"] != s["n"],
        lambda s: {**s, "x": (s["x"] + 6) % 256},
        {"x": U8, "n": U8},
    ),
    Loop(
        "leaves by wrapping",
        "unsigned char f(unsigned char x) { while (x >= 10) x += 6; return x; }",
        lambda s: s["x"] >= 10,
        lambda s: {**s, "x": (s["x"] + 6) % 256},
        {"x": U8},
    ),
    Loop(
        "one step past the wrap never ends",
        "unsigned char f(unsigned char x) { while (x >= 10) x += 16; return x; }",
        lambda s: s["x"] >= 10,
        lambda s: {**s, "x": (s["x"] + 16) % 256},
        {"x": U8},
    ),
    Loop(
        "sum in the ring",
        "unsigned char f(unsigned char i, unsigned char s) { while (i < 200) { s += i * i; i += 3; } return s; }",
        lambda s: s["i"] < 200,
        lambda s: {"s": (s["s"] + s["i"] * s["i"]) % 256, "i": s["i"] + 3},
        {"i": U8, "s": U8},
    ),
    Loop(
        "bound by a product of invariants",
        "int f(signed char n, signed char m) { int i = 0; while (i < n * m) i++; return i; }",
        lambda s: s["i"] < s["n"] * s["m"],
        lambda s: {**s, "i": s["i"] + 1},
        {"n": I8, "m": I8},
    ),
    Loop(
        "swap",
        "int f(unsigned char a, unsigned char n) { int b = 7, c = a, i = 0; "
        "while (i < n) { int k = b; b = c; c = k; i++; } return b - c; }",
        lambda s: s["i"] < s["n"],
        lambda s: {**s, "b": s["c"], "c": s["b"], "i": s["i"] + 1},
        {"n": U8, "a": U8},
    ),
    Loop(
        "signed overflow of the counter",
        "int f(int x) { while (x > 0) x += 1000003; return x; }",
        lambda s: s["x"] > 0,
        lambda s: assigned(s, x=int32(s["x"] + 1000003)),
        {"x": I32},
    ),
    Loop(
        "signed overflow of a sum",
        "int f(int i, int n, int s) { while (i < n) { s += i; i += 65537; } return s; }",
        lambda s: s["i"] < s["n"],
        lambda s: assigned(s, s=int32(s["s"] + s["i"]), i=int32(s["i"] + 65537)),
        {"i": I32, "n": I32, "s": I32},
    ),
    Loop(
        "sum of an invariant",
        "int f(int n, int y, int s) { int i = 0; while (i < n) { s += y; i += 100003; } return s; }",
        lambda s: s["i"] < s["n"],
        lambda s: assigned(s, s=int32(s["s"] + s["y"]), i=int32(s["i"] + 100003)),
        {"n": I32, "y": I32, "s": I32},
    ),
    Loop(
        "concave sum",
        "int f(int i, int s) { while (i > -3000000) { s += i; i -= 1003; } return s; }",
        lambda s: s["i"] > -3000000,
        lambda s: assigned(s, s=int32(s["s"] + s["i"]), i=int32(s["i"] - 1003)),
        {"i": I32, "s": I32},
    ),
    Loop(
        "sum of squares",
        "int f(int i, int n, int s) { while (i < n) { s += i * i; i += 3; } return s; }",
        lambda s: s["i"] < s["n"],
        lambda s: assigned(
            s, s=None if int32(s["i"] ** 2) is None else int32(s["s"] + s["i"] ** 2), i=int32(s["i"] + 3)
        ),
        {"i": I32, "n": I32, "s": I32},
    ),
    Loop(
        "until equal, signed",
        "int f(int x) { while (x != 3) x += 999999; return x; }",
        lambda s: s["x"] != 3,
        lambda s: assigned(s, x=int32(s["x"] + 999999)),
        {"x": I32},
    ),
    Loop(
        "narrow counter widened",
        "int f(unsigned char c, unsigned char k) { int r = k; while (c < 200) { c += 30; r++; } return r; }",
        lambda s: s["c"] < 200,
        lambda s: {**s, "c": (s["c"] + 30) % 256, "r": s["r"] + 1},
        {"c": U8, "k": U8},
    ),
    Loop(
        "multiplied and added",
        "unsigned f(unsigned char n, unsigned h) { unsigned i = 0; while (i < n) { h = h * 33 + i; i++; } return h; }",
        lambda s: s["i"] < s["n"],
        lambda s: {**s, "h": (s["h"] * 33 + s["i"]) % 2**32, "i": s["i"] + 1},
        {"n": U8, "h": U32},
    ),
]
STARTS = {
    "bound by a product of invariants": lambda s: {**s, "i": 0},
    "swap": lambda s: {**s, "b": 7, "c": s["a"], "i": 0},
    "sum of an invariant": lambda s: {**s, "i": 0},
    "narrow counter widened": lambda s: {**s, "r": s["k"]},
    "multiplied and added": lambda s: {**s, "i": 0},
}


def simulate(loop: Loop, state: State) -> tuple[str, State, int] | None:
    """("case" | "diverges" | "undefined", final state, iterations), None where it takes too long."""
    seen: set[tuple[tuple[str, int], ...]] = set()
    count = 0
    while loop.guard(state):
        key = tuple(sorted(state.items()))
        if key in seen:
            return "diverges", state, count
        seen.add(key)
        following = loop.step(state)
        if following is None:
            return "undefined", state, count
        state, count = following, count + 1
        if count > LIMIT:
            return None
    return "case", state, count


def states(loop: Loop) -> list[State]:
    names = sorted(loop.types)
    if all(loop.types[n].width == 8 for n in names):
        values = [range(loop.types[n].min, loop.types[n].max + 1) for n in names]
        if len(names) == 1:
            return [{names[0]: a} for a in values[0]]
        chosen = random.Random(1)
        everything = [{names[0]: a, names[1]: b} for a in values[0] for b in values[1]]
        return chosen.sample(everything, 1500)
    chosen = random.Random(2)
    edges = (0, 1, -1, 2, 3, 2**31 - 1, -(2**31), 2**31 - 2, 100, 65536, -65537, 999999)

    def pick(type_: t.IntType) -> int:
        kind = chosen.randrange(4)
        if kind == 0:
            return type_.wrap(chosen.choice(edges))
        if kind == 1:
            return type_.wrap(chosen.randrange(-300, 300))
        bits = chosen.randrange(1, type_.width + 1)
        return type_.wrap(chosen.getrandbits(bits))

    return [{n: pick(loop.types[n]) for n in names} for _ in range(800)]


def regions_of(found: LoopSummary, values: dict[t.Var, int]) -> list[tuple[str, object]]:
    """All regions that the entry state lies in."""
    hits: list[tuple[str, object]] = [("case", c) for c in found.cases if t.holds(c.when, values)]
    hits += [("diverges", None)] if t.holds(found.diverges, values) else []
    hits += [("undefined", None)] if any(t.holds(u.when, values) for u in found.undefined) else []
    hits += [("residual", r) for r in found.residual if t.holds(r.when, values)]
    return hits


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.name)
@pytest.mark.slow
def test_every_state_lies_in_one_region_and_has_the_simulated_outcome(loop: Loop) -> None:
    found = summary(loop.source)
    start = STARTS.get(loop.name, lambda s: s)
    by_name = {v.name: v for p in found.paths.all for c in [p.condition] for v in c.variables}
    by_name |= {v.name: v for p in found.paths.all for v in p.update}
    by_name |= {v.name: v for p in found.paths.all for term in p.update.values() for v in term.variables}
    compared = {"case": 0, "diverges": 0, "undefined": 0}
    for inputs in states(loop):
        state = start(dict(inputs))
        expected = simulate(loop, dict(state))
        values = {var: state[name] for name, var in by_name.items()}
        hits = regions_of(found, values)
        assert len(hits) == 1, (state, hits)
        kind, detail = hits[0]
        if expected is None:
            continue
        assert kind == expected[0], (state, kind, expected)
        compared[kind] += 1
        if kind == "case":
            assert t.evaluate(detail.iterations, values) == expected[2], state
            for var, value in detail.then.items():
                assert t.evaluate(value, values) == expected[1][var.name], (state, var)
            unchanged = set(by_name.values()) - set(detail.then)
            assert all(expected[1][v.name] == state[v.name] for v in unchanged), (state, unchanged)
    assert compared["case"] > 5
    assert found.complete


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("int f(int n) { int i = 0; do { i += 2; if (i == n) return -1; } while (i < 100); return i; }", "return"),
        ("void abort(void); int f(int n) { int i = 0; while (i < n) { if (i == 77) abort(); i++; } return i; }", "abort"),
        ("void reach_error(void); int f(int n) { int i = 0; while (i < n) { if (i == 9) reach_error(); i++; } return i; }",
         "error"),
    ],
)  # fmt: skip
def test_exits_in_the_middle_have_their_kind(source: str, kind: str) -> None:
    found = summary(source)
    assert kind in {case.exit.kind for case in found.cases}
    assert found.complete


def test_a_loop_with_no_way_out_diverges_everywhere() -> None:
    found = summary("void f(void) { for (;;) ; }")
    assert found.diverges is t.TRUE
    assert not found.cases


def test_several_paths_that_pull_each_other_along() -> None:
    """x comes to n; z, which has to be ahead of x whenever x moves, comes to n too unless it is beyond."""
    source = "int f(int x, int z, int n) { while (x < n) if (z > x) x++; else z++; return x + z; }"
    found = summary(source)
    assert found.complete
    by_name = {var.name: var for var in (*found.paths.state, *found.paths.invariants)}
    for x, z, n in [
        (0, 5, 10**9),
        (7, -(10**9), 10**9),
        (3, 3, 4),
        (3, 4, 4),
        (9, 1, 9),
        (-(2**31), -(2**31), 2**31 - 1),
    ]:
        assert found(x=x, z=z, n=n) == {"x": max(x, n), "z": max(z, n) if x < n else z, "n": n}
        entry = {by_name["x"]: x, by_name["z"]: z, by_name["n"]: n}
        (case,) = [case for case in found.cases if t.holds(case.when, entry)]
        assert t.evaluate(case.iterations, entry) == (max(0, n - x) + max(0, n - z) if x < n else 0)


def test_rounds_without_a_closed_form_leave_a_residual_with_its_reason() -> None:
    """Each grows by the other one in turn, as Fibonacci's numbers do, for as long as n allows."""
    found = summary("int f(int x, int y, int n) { while (x < n) { if (x < y) x += y; else y += x; } return x; }")
    assert not found.complete
    assert "several-interleaving-paths" in {part.why.reason.label for part in found.residual}
    assert found(x=9, y=4, n=9)["x"] == 9
    with pytest.raises(ValueError, match="from round to round"):
        found(x=3, y=9, n=10**6)


def test_a_summary_can_be_called_and_printed() -> None:
    found = summary("int f(int x, int n) { while (x < n) x += 7; return x; }")
    assert found(x=3, n=2_000_000_000) == {"x": 3 + 7 * -(-(2_000_000_000 - 3) // 7), "n": 2_000_000_000}
    assert found(x=9, n=9) == {"x": 9, "n": 9}
    with pytest.raises(ValueError, match="signed-overflow"):
        found(x=5, n=2**31 - 1)
    assert "diverges" not in str(found)
    assert "ceil_div(n - x, 7)" in str(found)


def test_a_float_is_named_as_the_reason() -> None:
    found = summarize(paths("int f(double d, int n) { int i = 0; while (i < n && d > i) i++; return i; }"))
    assert found.reason.label == "floating-point"


def test_values_at_the_exit_include_what_the_last_way_out_changes() -> None:
    source = "int f(int n) { int v = 0, w = 0; while (1) { v += 1; w += 2; if (v > n) break; } return n; }"
    found = summarize(paths(source, 0, ["w"]))
    v, w = 0, 0
    while True:
        v, w = v + 1, w + 2
        if v > 10:
            break
    assert found(v=0, w=0, n=10)["w"] == w


def test_a_variable_that_nothing_uses_can_be_asked_for() -> None:
    found = summarize(
        paths("int f(int n) { int i, t = 0; for (i = 0; i < n; i++) { t = i * 2; } return i; }", 0, ["t"])
    )
    assert found(i=0, n=10, t=7)["t"] == 18
    assert found(i=0, n=0, t=7)["t"] == 7


def test_a_program_may_use_any_name_over_the_integers(tmp_path) -> None:
    (tmp_path / "a.c").write_text("int f(int k) { int i = 0; while (i < k) i += 2; return i; }")
    module = load([tmp_path / "a.c"]).inlined
    g = build(module.functions["f"], module, Options(mathematical=True))
    assert summarize(loop_paths(g, g.loops[0]))(i=0, k=7) == {"i": 8, "k": 7}

"""One iteration as a whole: values and facts worked out by hand, and what of them holds in runs."""

from __future__ import annotations

import pytest

from loopless.bounds.iteration.body_facts import LoopBodyFacts
from loopless.bounds.iteration.facts import Facts
from loopless.bounds.iteration.one_iteration import whole_iteration
from loopless.bounds.looperman.scopes import deciding
from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.refusals import Refused
from loopless.terms import Read, Var, add, const, evaluate, neg, sub, walk
from loopless_fuzz.judging.loop_alone import LoopAlone
from loopless_fuzz.judging.states import constants, draw_states
from loops_in_c import graph, variable

TYPES = "typedef unsigned char u8; typedef signed char i8; typedef unsigned u32;\n"


def wholes(text: str) -> tuple[Flowgraph, dict[str, LoopBodyFacts]]:
    """Of each loop of ``f`` by its header, inner ones first, and of the function by an empty name."""
    g = graph(TYPES + text)
    wanted, live = deciding(g), live_at_entry(g.blocks, frozenset())
    effects = {}
    found: dict[str, LoopBodyFacts] = {}
    for loop in [*sorted(g.loops, key=lambda loop: -loop.depth), None]:
        whole = whole_iteration(g, loop, wanted, live, effects)
        assert not isinstance(whole, Refused)
        found[loop.header if loop is not None else ""] = whole
        if loop is not None:
            effects[loop.header] = whole.effect().counted(live[loop.header], None, ())
    return g, found


def outermost(g: Flowgraph) -> LoopInfo:
    return next(loop for loop in g.loops if loop.parent is None)


def only(text: str) -> tuple[Flowgraph, LoopBodyFacts]:
    g, found = wholes(text)
    return g, found[outermost(g).header]


def named(g: Flowgraph, drift: object) -> dict[str, object]:
    return {g.variables[v].shown: interval for v, interval in drift.items()}  # type: ignore[attr-defined]


def test_a_counter_below_a_limit() -> None:
    g, whole = only("int f(u8 i, u8 n) { while (i < n) i++; return i; }")
    i, n = variable(g, "i"), variable(g, "n")
    assert whole.facts.most == {sub(i, n): -1}
    assert whole.after == {i: add(i, const(1))}  # i < n ≤ 255: nothing wraps around
    assert whole.drift() == {i: (1, 1)}
    assert [facts.most for facts in whole.exits] == [{sub(n, i): 0}]


def test_a_step_that_may_wrap_around_stays_reduced() -> None:
    g, whole = only("int f(u8 i, u8 n) { while (i < n) i += 2; return i; }")
    i = variable(g, "i")
    assert evaluate(whole.after[i], {i: 255}) == 1
    assert whole.drift() == {}


def test_steps_of_several_ways_are_an_interval() -> None:
    g, whole = only(
        "int f(int i, int n, u8 k) { while (i < n) { if (k > 3) i += 1; else if (k) i += 5; else i += 2; } return i; }"
    )
    assert named(g, whole.drift()) == {"i": (1, 5)}


def test_an_end_that_is_not_known_on_one_way_is_not_known() -> None:
    text = """int f(int i, int n, u8 k, u8 m) {
        while (i < n) { if (k > 3) i++; else for (u8 j = 0; j < m; j++) i--; k++; }
        return i;
    }"""
    g, found = wholes(text)
    assert named(g, found[outermost(g).header].drift())["i"] == (None, 1)


def test_a_reduction_into_a_narrower_type_is_a_change() -> None:
    g, whole = only("int f(u32 x, u32 n, u8 k) { while (x < n) { if (k > 3) x = (u8)(x + 1); k++; } return x; }")
    assert "x" not in named(g, whole.drift())


def test_a_way_that_sets_a_variable_leaves_nothing_of_it() -> None:
    g, whole = only("int f(int i, int n, u8 k) { while (i < n) { if (k > 3) i += 1; else i = k; } return i; }")
    assert named(g, whole.drift()) == {}
    assert variable(g, "i") in whole.after


def test_both_of_two_flags_come_from_the_same_way() -> None:
    """Where ``more`` was set, i < n held, and i was raised."""
    text = "int f(u8 i, u8 n) { u8 more; do { more = 0; if (i < n) { i++; more = 1; } } while (more); return i; }"
    g, whole = only(text)
    i, n = variable(g, "i"), variable(g, "n")
    assert whole.facts.most[sub(i, n)] == -1
    assert whole.drift()[i] == (1, 1)
    assert all(facts.most.get(sub(n, i)) == 0 for facts in whole.exits)


def test_what_is_not_0_where_a_part_of_it_is_not() -> None:
    g, whole = only("int f(u8 x, u8 y) { while (x & y) x >>= 1; return x; }")
    assert whole.facts.most[neg(variable(g, "x"))] == -1


def test_an_iteration_that_is_never_completed() -> None:
    _, whole = only("int f(u8 i, u8 n) { while (i < n) { i++; if (i >= 1) break; } return i; }")
    assert not whole.facts.possible
    assert whole.exits


def test_each_way_out_is_told_by_itself() -> None:
    g, whole = only("int f(u8 i, u8 n, u8 m) { while (1) { if (i == n || i > m) break; i++; } return i; }")
    i, m = variable(g, "i"), variable(g, "m")
    assert any(facts.most.get(sub(m, i)) == -1 for facts in whole.exits)
    assert len(whole.exits) >= 2


def test_loops_inside_are_passed_over() -> None:
    text = """int f(int n, int m) {
        int i = 0, k = 0;
        while (i < n) { i++; for (int j = 0; j < m; j++) { i++; k--; } }
        return k;
    }"""
    g, found = wholes(text)
    outer = found[outermost(g).header]
    (inner,) = outer.entered
    i = variable(g, "i")
    assert evaluate(outer.entered[inner].values[i], {i: 3}) == 4
    assert named(g, outer.drift())["i"] == (1, None)
    assert named(g, found[inner].drift())["i"] == (1, 1)


def test_a_loop_inside_that_may_wrap_around_leaves_nothing() -> None:
    text = "int f(u8 n, u8 m) { u8 i = 0; while (i < n) { i++; for (u8 j = 0; j < m; j++) i++; } return i; }"
    g, found = wholes(text)
    assert "i" not in named(g, found[outermost(g).header].drift())


def test_leaving_both_loops_is_a_way_out_of_the_outer_one() -> None:
    text = """int f(u8 n, u8 m) {
        for (u8 i = 0; i < n; i++)
            for (u8 j = 0; j < m; j++)
                if (i > 7) return 1;
        return 0;
    }"""
    g, found = wholes(text)
    outer = found[outermost(g).header]
    i = variable(g, "i")
    assert any(facts.most.get(neg(i)) == -8 for facts in outer.exits)


def test_the_function_says_where_its_loops_are_entered() -> None:
    g, found = wholes("int f(u8 n) { u8 i = 3; if (n > 9) while (i < n) i++; return i; }")
    whole = found[""]
    (point,) = whole.entered.values()
    assert point.values[variable(g, "i")] == const(3)
    assert point.facts.most[neg(variable(g, "n"))] == -10
    assert whole.loop is None


def test_loads_of_what_is_not_written_are_the_same_each_time() -> None:
    _, whole = only("int f(u32 i, u32 *p, u8 k) { while (i < p[k & 3]) { i++; } return i; }")
    assert any(isinstance(node, Read) for linear in whole.facts.most for node in walk(linear))


@pytest.mark.parametrize(
    "text",
    [
        "int f(u32 i, u32 *p, u8 k) { while (i < p[k & 3]) { i++; p[i & 1] = 0; } return i; }",
        "void g(void); u32 s[4]; int f(u32 i, u8 k) { while (i < s[k & 3]) { i++; g(); } return i; }",
        "int f(u32 i, u32 *p, u8 k) { while (i < p[k & 3]) { i++; __builtin_memset(p, 1, 8); } return i; }",
        "int f(u32 i, u32 *p, u32 *q, u8 k) { while (i < p[k & 3]) { i++; __builtin_memcpy(p, q, 8); } return i; }",
        "int f(u32 i, u32 *p, u32 *q, u8 k) { u32 *r = k > 9 ? p : q; while (i < p[k & 3]) { i++; r[1] = i; } return i; }",
    ],
)
def test_loads_of_what_may_be_written_are_not_known(text: str) -> None:
    _, whole = only(text)
    assert not any(isinstance(node, Read) for linear in whole.facts.most for node in walk(linear))


LOOPS = (
    "int f(u8 i, u8 n, u8 k) { while (i < n) { if (k & 1) i += 3; else i++; k += 7; } return i; }",
    "int f(i8 i, i8 n, u8 k) { while (i != n && k) { i--; k /= 2; if (i == 5) k++; } return i; }",
    "int f(u8 i, u8 n, u8 k) { u8 a, b; do { a = b = 0; if (i < n) { a = 2; i++; } if (k > i) b = a; k--; } while (b || a > 3); return i; }",
    "int f(u8 i, u8 n, u8 k) { while (1) { switch (i & 3) { case 0: i++; break; case 1: i += k; if (i > n) return 2; break; default: i--; n++; } if (n < 3) break; } return i; }",
    "int f(u8 i, u8 n, i8 k) { while ((u8)(i - n) > 2 || k > i) { k = k > 3 ? k - 2 : k + 1; i += k > 0; } return i; }",
)  # fmt: skip


@pytest.mark.parametrize("text", LOOPS)
def test_what_is_said_holds_in_every_iteration(text: str) -> None:
    """The facts over variables alone, for whatever states from which an iteration is completed."""
    g, whole = only(text)
    (loop,) = g.loops
    alone = LoopAlone(g, loop)
    facts: Facts = whole.facts
    symbols = whole.intervals.symbols
    told = [(linear, most) for linear, most in facts.most.items() if linear.variables.isdisjoint(symbols)]
    unequal = [term for term in facts.unequal if term.variables.isdisjoint(symbols)]
    compared = 0
    for state in draw_states(alone.entry, constants(facts.most), 3, 400):
        if alone.run(state, max_steps=3_000).iterations == 0:
            continue
        compared += 1
        full: dict[Var, int] = dict.fromkeys(g.variables, 0) | dict(state)
        assert all(evaluate(linear, full) <= most for linear, most in told), state
        assert all(evaluate(term, full) != 0 for term in unequal), state
    assert compared > 10

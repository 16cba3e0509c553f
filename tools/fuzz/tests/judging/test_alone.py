"""One loop alone, from any state at its header; and a judge that notices every kind of wrong claim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from loopless.errors import UsageError
from loopless.flowgraph.model import Flowgraph
from loopless.paths import LoopPaths, loop_paths
from loopless.summary import Case, LoopSummary, summarize
from loopless.terms import FALSE, TRUE, ZERO, Condition, IntType, Var, add, conjunction, const, less_equal, negate
from loopless_fuzz.judging.claims import UNCOUNTED, Claims, judge_all
from loopless_fuzz.judging.loop_alone import LoopAlone, Truth
from loopless_fuzz.judging.states import all_states, constants, draw_states
from loops_in_c import graph

OSCILLATION = """
int final_i, final_x;
void f(int i, int x) {
    while (i < 100) {
        if (x < 5) { x += 2; i += 3; } else { x -= 5; i += 4; }
    }
    final_i = i; final_x = x;
}"""
RACE = """
signed char final_x, final_y;
void f(signed char x, signed char y) {
    while (x < 100) {
        if (y == 7) break;
        x += 3; y -= 1;
    }
    final_x = x; final_y = y;
}"""


def single(source: str) -> tuple[Flowgraph, LoopPaths, LoopAlone]:
    g = graph(source)
    paths = loop_paths(g, g.loops[0])
    assert isinstance(paths, LoopPaths)
    return g, paths, LoopAlone(g, g.loops[0], {path.id: path.condition for path in paths.iterative})


def told(alone: LoopAlone, **state: int) -> Truth:
    return alone.run({var: state[var.name] for var in alone.variables if var.name in state}, max_steps=100_000)


def by_hand(i: int, x: int) -> tuple[int, int, int, int]:
    low = high = 0
    while i < 100:
        if x < 5:
            x, i, low = x + 2, i + 3, low + 1
        else:
            x, i, high = x - 5, i + 4, high + 1
    return i, x, low, high


@pytest.mark.parametrize("i", [-5000, 0, 99, 100])
@pytest.mark.parametrize("x", [-300, 4, 5, 17, 3000])
def test_a_state_that_no_call_of_a_function_may_reach(i: int, x: int) -> None:
    _, _, alone = single(OSCILLATION)
    found = told(alone, i=i, x=x)
    values = {var.name: value for var, value in found.values.items()}
    assert (values["i"], values["x"]) == by_hand(i, x)[:2]
    assert sorted(found.per_path.values()) == sorted(by_hand(i, x)[2:])
    assert found.iterations == sum(by_hand(i, x)[2:])
    assert found.exit in alone.loop.exits


def test_divergence_undefined_behaviour_and_time() -> None:
    _, _, never = single("void f(unsigned char x) { while (x >= 10) x += 16; }")
    assert told(never, x=10).status == "diverges"
    assert told(never, x=9).status == "ok"
    _, _, up = single("void f(int x) { while (x > 0) x++; }")
    assert told(up, x=2**31 - 5).status == "undefined"
    assert told(up, x=1).status == "timeout"
    _, _, divides = single("void f(int x, int y) { while (x > 0) { y = 100 / (x - 3); x--; } }")
    assert told(divides, x=5).status == "undefined"
    assert told(divides, x=2).status == "ok"


def test_several_exits_are_told_apart() -> None:
    _, _, alone = single(RACE)
    assert told(alone, x=0, y=0).exit != told(alone, x=0, y=9).exit


@pytest.mark.parametrize(
    "source",
    [
        "int input(void); void f(int x) { while (x > 0) x = input(); }",
        "void f(int **v, int *p, int n) { for (int i = 0; i < n; i++) v[i] = p; }",
    ],
)
def test_a_loop_that_depends_on_more_is_refused(source: str) -> None:
    g = graph(source)
    with pytest.raises(UsageError, match="depends on more"):
        LoopAlone(g, g.loops[0])


# -- wrong claims -----------------------------------------------------------------------------------------------------


def largest(summary: LoopSummary) -> int:
    """The case with the most iterations' worth of terms: one in which something happens."""
    return max(range(len(summary.cases)), key=lambda at: summary.cases[at].iterations is not ZERO)


def changed(summary: LoopSummary, change: Callable[[Case], Case]) -> LoopSummary:
    at = largest(summary)
    cases = list(summary.cases)
    cases[at] = change(cases[at])
    return replace(summary, cases=tuple(cases))


def first_variable(case: Case) -> Var:
    return next(iter(case.then))


def never(case: Case) -> Condition:
    """Most of the case: all but where its first variable's final value is at most 100."""
    return conjunction((case.when, negate(less_equal(case.then[first_variable(case)], const(100)))))


WRONG: dict[str, Callable[[LoopSummary], LoopSummary]] = {
    "iterations": lambda s: changed(s, lambda c: replace(c, iterations=add(c.iterations, const(1)))),
    "value": lambda s: changed(
        s, lambda c: replace(c, then={**c.then, first_variable(c): add(c.then[first_variable(c)], const(1))})
    ),
    "path counts": lambda s: changed(
        s, lambda c: replace(c, per_path={p: add(n, const(1)) for p, n in c.per_path.items()})
    ),
    "one path count left out": lambda s: changed(
        s, lambda c: replace(c, per_path=dict(list(c.per_path.items())[1:] or [("", ZERO)]))
    ),
    "gap": lambda s: changed(s, lambda c: replace(c, when=never(c))),
    "missing case": lambda s: replace(s, cases=s.cases[: largest(s)] + s.cases[largest(s) + 1 :]),
    "overlap": lambda s: replace(s, diverges=s.cases[largest(s)].when),
    "divergence": lambda s: replace(s, cases=(), undefined=(), residual=(), diverges=TRUE),
    "exit": lambda s: changed(s, lambda c: replace(c, exit=replace(c.exit, block="elsewhere"))),
    "a value that is not changed": lambda s: changed(
        s, lambda c: replace(c, then={v: t for v, t in c.then.items() if v is not first_variable(c)})
    ),
}
SOURCES = {
    "oscillation": OSCILLATION,
    "race": RACE,
    "until equal": "unsigned char final_u; void f(unsigned char u, unsigned char v) { while (u != v) u += 7; final_u = u; }",
}


def judged(source: str, wrong: Callable[[LoopSummary], LoopSummary]) -> list[str]:
    g, paths, alone = single(source)
    summary = summarize(paths)
    assert isinstance(summary, LoopSummary)
    assert g.loops[0] is paths.loop
    claims = Claims(wrong(summary), alone.variables, {path.id: path.outputs for path in paths.exits})
    numbers = constants([path.condition for path in paths.all])
    found = judge_all(alone, claims, draw_states(alone.entry, numbers, 3, 300), max_steps=5000)
    assert found.states == 300 or found.mismatches
    return [why for _, why in found.mismatches]


@pytest.mark.parametrize("name", SOURCES)
def test_a_right_summary_passes(name: str) -> None:
    assert not judged(SOURCES[name], lambda summary: summary)


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("name", SOURCES)
def test_a_wrong_summary_is_noticed(name: str, kind: str) -> None:
    assert judged(SOURCES[name], WRONG[kind])


def test_counts_that_are_not_given_are_seen() -> None:
    _, paths, alone = single(OSCILLATION)
    summary = summarize(paths)
    assert isinstance(summary, LoopSummary)
    silent = changed(summary, lambda c: replace(c, per_path={}))
    found = judge_all(alone, Claims(silent, alone.variables), draw_states(alone.entry, {100}, 3, 300))
    assert not found.mismatches
    assert found.regions[UNCOUNTED] > 5


def test_a_count_that_is_too_small_is_noticed_although_the_run_is_too_long() -> None:
    _, paths, alone = single("unsigned final_i; void f(unsigned i, unsigned n) { while (i < n) i++; final_i = i; }")
    summary = summarize(paths)
    assert isinstance(summary, LoopSummary)
    short = changed(summary, lambda c: replace(c, iterations=const(10)))
    state = {var: {"i": 0, "n": 10**9}[var.name] for var in alone.entry}
    claims = Claims(short, alone.variables)
    assert judge_all(alone, claims, [state], max_steps=100).mismatches
    assert not judge_all(alone, Claims(summary, alone.variables), [state], max_steps=100).mismatches


def test_states_are_all_or_drawn_with_edges() -> None:
    bytes_ = [Var("a", IntType(8)), Var("b", IntType(8, signed=False))]
    found = all_states(bytes_)
    assert found is not None
    assert len({tuple(state.values()) for state in found}) == 2**16
    words = [Var("a", IntType(32)), Var("b", IntType(64, signed=False))]
    assert all_states(words) is None
    drawn = draw_states(words, {1000, -1000}, 1, 2000)
    assert all(var.type.holds(value) for state in drawn for var, value in state.items())
    assert {-(2**31), 2**31 - 1, 1000, -1000} <= {state[words[0]] for state in drawn}
    assert drawn == draw_states(words, {1000, -1000}, 1, 2000) != draw_states(words, {1000, -1000}, 2, 2000)


def test_constants_are_found_with_both_signs() -> None:
    x = Var("x", IntType(32))
    assert {17, -17} <= constants([less_equal(x, const(17)), FALSE])

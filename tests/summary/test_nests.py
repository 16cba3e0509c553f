"""Loops around loops: judged from any state at the outer header, and against recurrences over lengths no run has."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from judged import judge_alone
from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.paths import LoopPaths
from loopless.queries.evaluation.evaluate import Evaluator
from loopless.summary import KnownLoops, LoopSummary, Outcome, from_entry, paths_of, summarize
from loopless.terms import const, evaluate, holds, less_equal
from loopless_fuzz.judging.claims import Claims, judge_all
from loopless_fuzz.judging.loop_alone import LoopAlone
from loopless_fuzz.judging.states import draw_states
from loops_in_c import graph

TRIANGLE = """
long long f(int n) {
    long long c = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            c++;
    return c;
}
"""

BUBBLE = """
long long f(int n) {
    long long c = 0;
    for (int i = n - 1; i > 0; i--)
        for (int j = 0; j < i; j++)
            c++;
    return c;
}
"""

DEEP = """
long long f(int n) {
    long long c = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            for (int k = 0; k < j; k++)
                c++;
    return c;
}
"""

SEVERAL = """
long long f(int n, int m) {
    long long c = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) c++;
        for (int k = i; k < n; k++) c += 2;
    }
    return c;
}
"""

SHARED = """
int f(int x, int y) {
    int c = 0;
    while (x > 0) {
        x--;
        while (y > 0 && x > 0) { x--; y--; c++; }
        c += 3;
    }
    return c;
}
"""

SKIPS = """
unsigned f(unsigned n) {
    unsigned i = 0;
    while (i < n) {
        for (int k = 0; k < 3 && i < n; k++) i++;
        i++;
    }
    return i;
}
"""

GROWING = """
long long f(int n) {
    long long c = 0;
    int s = 0;
    for (int i = 0; i < n; i++) {
        s += 2;
        for (int j = 0; j < s; j++) c++;
    }
    return c;
}
"""

FEEDING_BACK = """
long long f(int n) {
    long long c = 0;
    int s = 0;
    for (int i = 0; i < n; i++) {
        s += i;
        for (int j = 0; j < s; j++) c++;
    }
    return c;
}
"""

LEAVES = """
int f(int n, int m, int k) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (i + j == k) return i;
    return -1;
}
"""

FOREVER = """
int f(int n, int m) {
    int c = 0;
    for (int i = 0; i < n; i++) {
        int j = m;
        while (j != 0) j -= j > 0 ? 2 : 0;
        c++;
    }
    return c;
}
"""

STRIDES = """
int f(int n) {
    int c = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j += 3)
            c++;
    return c;
}
"""

CARRIES = """
int f(int left, int y) {
    int c = 0;
    while (left > 0) {
        left--;
        y += 700;
        while (y >= 35) { y -= 35; c++; }
    }
    return c + y;
}
"""

DOES = """
int f(int n) {
    int c = 0, i = 0;
    do {
        int j = i;
        do { c++; j--; } while (j > 0);
        i++;
    } while (i < n);
    return c;
}
"""

STOPS = """
int f(int n, int m) {
    int c = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            if (i + j == 10) goto out;
            c++;
        }
out:
    return c;
}
"""

SORTS = """
int f(int n, int *a) {
    int c = 0;
    for (int i = 0; i < n - 1; i++)
        for (int j = 0; j < n - 1 - i; j++) {
            c++;
            if (a[j] > a[j + 1]) { int t = a[j]; a[j] = a[j + 1]; a[j + 1] = t; }
        }
    return c;
}
"""

PRODUCTS = """
int f(int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            s += i * j;
    return s;
}
"""

NESTS = {
    "triangle": TRIANGLE,
    "bubble": BUBBLE,
    "deep": DEEP,
    "several": SEVERAL,
    "shared": SHARED,
    "skips": SKIPS,
    "growing": GROWING,
    "forever": FOREVER,
    "strides": STRIDES,
    "carries": CARRIES,
    "does": DOES,
    "stops": STOPS,
}


@pytest.mark.parametrize("name", NESTS)
def test_a_nest_does_what_the_interpreter_does(name: str) -> None:
    near = dict.fromkeys(("i", "j", "k", "n", "m", "x", "y", "s"), range(-4, 40))
    summary, regions = judge_alone(NESTS[name], near=near, max_steps=20_000)
    assert summary.complete, summary.residual
    assert regions["case"] > 50
    inner = len(graph(NESTS[name]).loops) - 1
    assert all(len(case.totals) == inner for case in summary.cases)


EIGHT = {name: text for name, text in NESTS.items() if name in ("triangle", "shared", "forever", "bubble")}


@pytest.mark.parametrize("name", EIGHT)
def test_every_state_at_8_bits(name: str) -> None:
    source = EIGHT[name].replace("long long", "short").replace("int", "signed char")
    summary, regions = judge_alone(source, count=2000, near={"c": range(-3, 4)}, max_steps=20_000)
    assert summary.complete, summary.residual
    assert regions["case"] > 500


def summary_at_entry(g: Flowgraph, loop: LoopInfo) -> Outcome:
    """The summary as the tool has it."""
    paths = paths_of(g, loop)
    outcome = summarize(paths)
    return from_entry(g, paths, outcome)[1] if isinstance(paths, LoopPaths) else outcome


def evaluated(source: str, arguments: tuple[int, ...]) -> tuple[int | None, list[int]]:
    """The value returned and the iterations of the loops in textual order, by summary."""
    g = graph(source)
    evaluator = Evaluator(g, Interpreter(None, g), partial(summary_at_entry, g))
    found = evaluator.run(arguments, max_steps=0)
    assert (found.status, found.by) == ("ok", "summary"), found
    return found.return_value, [found.iterations[loop.name] for loop in g.loops]


def triangle(n: int) -> tuple[int, list[int]]:
    inner = sum(range(n))
    return inner, [n, inner]


def bubble(n: int) -> tuple[int, list[int]]:
    inner = sum(range(n - 1, 0, -1))
    return inner, [n - 1, inner]


def deep(n: int) -> tuple[int, list[int]]:
    middle = innermost = 0
    for i in range(n):
        middle += i
        innermost += sum(range(i))
    return innermost, [n, middle, innermost]


def several(n: int, m: int) -> tuple[int, list[int]]:
    first = second = 0
    for i in range(n):
        first += m
        second += n - i
    return first + 2 * second, [n, first, second]


def growing(n: int) -> tuple[int, list[int]]:
    inner = s = 0
    for _ in range(n):
        s += 2
        inner += s
    return inner, [n, inner]


def feeding_back(n: int) -> tuple[int, list[int]]:
    inner = s = 0
    for i in range(n):
        s += i
        inner += s
    return inner, [n, inner]


LONG = [
    (TRIANGLE, triangle, (44_722,)),
    (BUBBLE, bubble, (44_722,)),
    (DEEP, deep, (1_818,)),
    (SEVERAL, several, (30_000, 20_001)),
    (GROWING, growing, (31_623,)),
    (FEEDING_BACK, feeding_back, (1_818,)),
]


@pytest.mark.parametrize(("source", "recurrence", "arguments"), LONG, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.slow
def test_a_thousand_million_steps_by_summary(source, recurrence, arguments) -> None:
    result, counts = recurrence(*arguments)
    assert sum(counts) > 10**9 // 2
    assert evaluated(source, arguments) == (result, counts)


CHECKED_PRODUCTS = """
int f(int n, int x, int t) {
    int s = 1;
    for (int i = x; i < n; i++)
        for (int j = i; j < 2 * i; j++) s += t;
    return s;
}
"""


def test_checks_on_products_behind_an_inner_loop_are_checks() -> None:
    near = {"i": range(-2, 9), "n": range(12), "t": (-(10**8), -1, 0, 1, 10**8), "s": (0, 1, 2**31 - 1, -(2**31))}
    summary, regions = judge_alone(CHECKED_PRODUCTS, near=near)
    assert summary.complete
    assert regions["case"] > 50
    assert regions["undefined"] > 20


def test_loops_around_one_share_what_is_known_of_it() -> None:
    g = graph(DEEP)
    known = KnownLoops()
    apart = [summarize(paths_of(g, loop)) for loop in g.loops]
    together = [summarize(paths_of(g, loop, known=known)) for loop in g.loops]
    assert known.outcomes
    for one, other in zip(apart, together, strict=True):
        assert isinstance(one, LoopSummary)
        assert isinstance(other, LoopSummary)
        assert one.cases == other.cases
    before = len(known.outcomes)
    paths_of(g, g.loops[0], known=known)
    assert len(known.outcomes) == before


def test_leaving_the_nest_from_inside() -> None:
    assert evaluated(LEAVES, (10, 7, 5)) == (0, [0, 5])
    assert evaluated(LEAVES, (10, 7, 9)) == (3, [3, 3 * 7 + 6])
    assert evaluated(LEAVES, (10, 7, 100)) == (-1, [10, 70])


def test_sorting_whatever_the_array_holds() -> None:
    g = graph(SORTS)
    summary = summarize(paths_of(g, g.loops[0]))
    assert isinstance(summary, LoopSummary)
    assert summary.complete
    values = {"i": 0, "c": 0}
    for n in (2, 3, 40_000):
        entry = {var: values.get(var.name, n) for var in summary.cases[-1].when.variables | {*summary.paths.state}}
        case = next(case for case in summary.cases if holds(case.when, entry))
        inner = sum(n - 1 - i for i in range(n - 1))
        assert evaluate(case.totals[g.loops[1].name], entry) == inner
        assert evaluate(case.iterations, entry) == n - 1


def test_products_of_two_counters_are_checked_from_every_state() -> None:
    summary, regions = judge_alone(PRODUCTS, near={"i": range(-3, 9), "n": range(60)}, max_steps=20_000)
    assert summary.complete
    assert regions["case"] > 50


@pytest.mark.slow
def test_what_is_known_at_the_entry_helps() -> None:
    g = graph(FEEDING_BACK)
    paths = paths_of(g, g.loops[0])
    outcome = summarize(paths)
    assert not (isinstance(outcome, LoopSummary) and outcome.complete)
    assert isinstance(paths, LoopPaths)
    paths, outcome = from_entry(g, paths, outcome)
    assert isinstance(outcome, LoopSummary)
    evaluator = Evaluator(g, Interpreter(None, g), lambda _: outcome)
    for n in (0, 1, 2, 5, 300):
        found = evaluator.run((n,), max_steps=0)
        assert (found.status, found.by, found.return_value) == ("ok", "summary", feeding_back(n)[0])
        assert [found.iterations[loop.name] for loop in g.loops] == feeding_back(n)[1]
    assert evaluator.run((70_000,), max_steps=0).status == "undefined"
    alone = LoopAlone(g, g.loops[0], {path.id: path.condition for path in paths.iterative})
    claims = Claims(outcome, alone.variables, {path.id: path.outputs for path in paths.exits})
    counter = next(var for var in alone.entry if var.name == "i")
    entries = draw_states(alone.entry, (0, 1, 400), 3, 200)
    for at, state in enumerate(entries):
        state[counter] = 0
        state.update({var: at % 60 for var in state if var.name == "n" and at % 2})
        state.update({var: 0 for var in state if var.name in ("s", "c")})
    assert outcome.complete
    assert all(holds(outcome.entered, state) for state in entries)
    judged = judge_all(alone, claims, entries, max_steps=5000)
    assert not judged.mismatches
    assert judged.regions["case"] > 20
    assert not holds(outcome.entered, entries[0] | {counter: 1})
    with pytest.raises(ValueError, match="enters the loop only with"):
        outcome(**{var.name: value + (var == counter) for var, value in entries[0].items()})


def test_values_of_which_a_summary_does_not_speak_are_not_evaluated_by_it() -> None:
    g = graph("int f(int n) { int s = 0; while (n > 0) { s += 2; n--; } return s; }")
    summary = summarize(paths_of(g, g.loops[0]))
    assert isinstance(summary, LoopSummary)
    n = next(var for var in summary.paths.state if var.name == "n")
    elsewhere = replace(summary, entered=less_equal(n, const(3)))
    runs = [Evaluator(g, Interpreter(None, g), lambda _: elsewhere).run((k,)) for k in (3, 4)]
    assert [(run.by, run.return_value) for run in runs] == [("summary", 6), ("interpretation", 8)]


def test_where_an_inner_loop_never_ends_the_nest_never_ends() -> None:
    g = graph(FOREVER)
    summary = summarize(paths_of(g, g.loops[0]))
    assert isinstance(summary, LoopSummary)
    run = Evaluator(g, Interpreter(None, g), lambda _: summary).run((3, 5))
    assert (run.status, run.by) == ("diverges", "summary")
    assert Evaluator(g, Interpreter(None, g), lambda _: summary).run((0, 5)).return_value == 0


def test_a_nest_around_a_loop_without_a_summary_names_it_and_why() -> None:
    source = """
    int more(void);
    int f(int n) { int c = 0; for (int i = 0; i < n; i++) while (more()) c++; return c; }
    """
    g = graph(source)
    refused = summarize(paths_of(g, g.loops[0]))
    assert refused.reason.label == "inner-loop-not-summarized"
    assert g.loops[1].name in refused.detail
    assert "input-dependent-condition" in refused.detail


def test_paths_have_no_counters_for_those_who_read_them() -> None:
    g = graph(TRIANGLE)
    paths = paths_of(g, g.loops[0])
    assert isinstance(paths, LoopPaths)
    assert set(paths.counters.values()) == {g.loops[1].name}
    shown = paths.uncounted()
    assert not shown.counters
    assert not any(var in paths.counters for path in shown.all for var in (*path.update, *path.outputs))


SET_ANEW = """
long long last_s, last_i;
long long f(long long n) {
    long long s = 0;
    long long t = 0;
    long long i = 0;
    do {
        s -= s;
        while (s < i) {
            n -= i + (n <= i ? i : i);
            long long k = 0;
            do { n += 3; k += 1; } while (k < t);
            n -= i;
            s++;
        }
        i++;
    } while (i < t);
    last_s = s;
    last_i = i;
    return n;
}
"""


def test_what_is_known_of_values_that_are_set_anew_is_not_asked_for() -> None:
    g = graph(SET_ANEW)
    paths = paths_of(g, g.loops[0])
    assert isinstance(paths, LoopPaths)
    outcome = from_entry(g, paths, summarize(paths))[1]
    assert isinstance(outcome, LoopSummary)
    alone = LoopAlone(g, g.loops[0], {path.id: path.condition for path in paths.iterative})
    assert outcome.entered.variables <= set(alone.entry)


OVERSHADOWED = """
int f(int n, int x, int t, int s) {
    for (; x < s; x++) {
        for (int j = 0; j < n; j++) t -= 3;
        n += 3;
        t = 3;
    }
    return n + t;
}
"""


def test_a_check_that_another_one_implies_keeps_steps_in_their_type() -> None:
    """That n + 3 fits follows from the check on t, which is no control variable."""
    large = (2**31 - 1, 2**31 - 3, 2**31 - 4, 2**30)
    near = {"n": (*large, 5, -7), "x": range(-3, 3), "s": range(-1, 60), "t": (0, -(2**31))}
    summary, regions = judge_alone(OVERSHADOWED, near=near)
    assert summary.complete
    assert regions["undefined"] > 50

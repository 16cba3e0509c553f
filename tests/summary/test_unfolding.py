"""Loops that leave after few iterations wherever the program enters them."""

from __future__ import annotations

from itertools import product

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.paths import LoopPaths
from loopless.portfolio import NoAnswer, Tried
from loopless.queries.evaluation.evaluate import Evaluator
from loopless.refusals import Reason, Refused
from loopless.stepping import no_stepping
from loopless.summary import LoopSummary, from_entry, paths_of, readable, summarize
from loopless.summary.entry import Entry
from loopless.summary.methods import bounded_unrolling
from loopless.terms import conjunction, const, equal, holds
from loopless_fuzz.judging.claims import Claims, Judgement, judge_all
from loopless_fuzz.judging.loop_alone import LoopAlone
from loopless_fuzz.judging.states import draw_states
from loops_in_c import graph

MACHINE = """
int f(short n, short limit) {
    short s = 3, state = 0;
    for (short i = 0; i < 5; i++) {
        if (state == 0) { n *= 2; if (s >= i) state = 1; if (n > limit) break; }
        else { s += 1; if (s == n) state = 0; }
    }
    return 100 * n + 10 * s + state;
}
"""

SHIFTED = """
int f(unsigned char n, unsigned char x) {
    for (int i = 0; i < 3; i++) {
        if ((x * n & 31) > x) x -= 31 >> n;
        else x += x * n;
    }
    return x;
}
"""

CHECKED = """
int f(int n, int x) {
    for (int i = 0; i < 2; i++) {
        if (x > n) x = x * x - n;
        else if (x * n == 12) return i;
        else n = n - 7;
    }
    return x + n;
}
"""

NESTED = """
int f(int n, int x) {
    for (int i = 0; i < 3; i++) {
        if ((x * x) % 3 == i) for (int j = 0; j < n; j++) x += 2;
        else x = n - x;
    }
    return x;
}
"""

LONG = """
int f(unsigned n, unsigned x, unsigned y) {
    for (int i = 0; i < 1000; i++) {
        if ((x * y + n) % 7 < 3) x = x * y + i;
        else y = x * x + n;
    }
    return x;
}
"""


START = {"i": 0, "s": 3, "state": 0}


def short_runs(source: str) -> tuple[LoopPaths, LoopSummary | None]:
    """The loop, which the function enters with these values, put together from its iterations."""
    g = graph(source)
    paths = paths_of(g, g.loops[0])
    assert isinstance(paths, LoopPaths)
    entered = conjunction(equal(var, const(START[var.name])) for var in paths.state if var.name in START)
    refused = Refused(Reason.MULTI_PATH, "here", "not asked")
    question = Entry(paths, refused, entered, entered, lambda _: (paths, refused))
    try:
        return paths, bounded_unrolling.METHOD.run(question, Tried()).summary
    except NoAnswer:
        return paths, None


def judged(source: str, states: int) -> tuple[LoopSummary, Judgement]:
    """The summary, judged in states in which the program enters the loop."""
    g = graph(source)
    paths, outcome = short_runs(source)
    assert outcome is not None
    assert outcome.complete
    outcome = readable(outcome)
    alone = LoopAlone(g, g.loops[0], {path.id: path.condition for path in paths.iterative})
    claims = Claims(outcome, alone.variables, {path.id: path.outputs for path in paths.exits})
    entries = draw_states(alone.entry, (0, 1, 2, 3, 5, 100), 7, states)
    for state in entries:
        state.update({var: START[var.name] for var in state if var.name in START})
    assert all(holds(outcome.entered, state) for state in entries)
    found = judge_all(alone, claims, entries, max_steps=5000)
    assert not found.mismatches
    return outcome, found


@pytest.mark.parametrize("source", [MACHINE, SHIFTED, CHECKED, NESTED])
def test_short_runs_are_put_together(source: str) -> None:
    _, found = judged(source, 400)
    assert found.regions["case"] > 20


def test_undefined_behaviour_within_the_iterations_is_told() -> None:
    summary, found = judged(CHECKED, 400)
    assert found.regions["undefined"] > 50
    assert {part.kind for part in summary.undefined} == {"signed-overflow"}


@pytest.mark.slow
def test_every_input_of_eight_bits() -> None:
    g = graph(SHIFTED)
    paths = paths_of(g, g.loops[0])
    assert isinstance(paths, LoopPaths)
    outcome = from_entry(g, paths, summarize(paths))[1]
    evaluator = Evaluator(g, Interpreter(None, g), lambda _: outcome)
    for n, x in product(range(32), range(256)):
        expected = x
        for _ in range(3):
            more = expected * n if expected * n & 31 <= expected else -(31 >> n)
            expected = (expected + more) % 256
        found = evaluator.run((n, x), max_steps=0)
        assert (found.status, found.by, found.return_value) == ("ok", "summary", expected), (n, x)
    assert evaluator.run((34, 1), max_steps=0).status == "undefined"


@pytest.mark.slow
def test_many_iterations_are_not_put_together() -> None:
    assert short_runs(LONG)[1] is None


def test_nothing_is_put_together_where_stepping_is_forbidden() -> None:
    assert short_runs(MACHINE)[1] is not None
    with no_stepping():
        assert short_runs(MACHINE)[1] is None

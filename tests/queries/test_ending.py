"""A loop that is bounded does not run for ever by its summary: popcounts, remainders, loops inside, constants."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from asking import asked
from loopless.logic import feasible
from loopless.queries.program import AnalyzedLoop, load
from loopless.queries.settings import Settings
from loopless.summary import LoopSummary
from loopless.terms import FALSE
from loopless_fuzz.judging.claims import Claims, judge_all
from loopless_fuzz.judging.loop_alone import LoopAlone
from loopless_fuzz.judging.states import constants, draw_states

POPCOUNT = "int f(unsigned x) { int n = 0; while (x) { x &= x - 1; n++; } return n; }"
GCD = "unsigned f(unsigned a, unsigned b) { while (b) { unsigned t = a % b; a = b; b = t; } return a; }"


def loops(folder: Path, text: str) -> tuple[AnalyzedLoop, ...]:
    file = folder / "p.c"
    file.write_text(text, encoding="utf-8")
    return load([file], Settings(sandboxed=False)).functions[0].loops


def summarized(loop: AnalyzedLoop, **question: object) -> LoopSummary:
    summary = asked(loop, approximate=True, classify=False, **question).summary
    assert summary is not None
    return summary


@pytest.mark.parametrize("text", [POPCOUNT, GCD])
@pytest.mark.parametrize("question", [{}, {"exactly": False}, {"coarsely": True}])
def test_a_bounded_loop_does_not_run_for_ever(tmp_path: Path, text: str, question: dict[str, bool]) -> None:
    """32 bits are cleared one by one; the remainder falls in each iteration."""
    (loop,) = loops(tmp_path, text)
    found = summarized(loop, **question)
    assert found.approximation is not None
    assert found.approximation.may_diverge is FALSE


@pytest.mark.parametrize("inside", ["if (y % 2) y = 3 * y + 1; else y = y / 2;", "y = y * y;"])
def test_a_loop_inside_without_a_bound_may_run_for_ever(tmp_path: Path, inside: str) -> None:
    """The loop around it is bounded: it may stay in the one inside all the same."""
    text = f"int f(unsigned x, unsigned y) {{ while (x) {{ x &= x - 1; while (y > 1) {{ {inside} }} }} return 0; }}"
    outer = summarized(loops(tmp_path, text)[0], coarsely=True)
    assert outer.approximation is not None
    assert outer.approximation.may_diverge is not FALSE


def test_a_bound_by_constants_says_nothing_of_other_states(tmp_path: Path) -> None:
    """Remainders by a limit of 5; from states with another one it is not known."""
    text = """unsigned f(unsigned a, unsigned b, int c) {
        unsigned limit = 5;
        if (c) limit = 5;
        while (b >= limit) { unsigned t = a % b; a = b; b = t; }
        return a; }"""
    (loop,) = loops(tmp_path, text)
    found = summarized(loop, coarsely=True)
    assert found.approximation is not None
    never = found.approximation.may_diverge
    names = {info.shown: var for var, info in loop.function.graph().variables.items()}
    assert names["limit"] in never.variables
    assert not feasible(never & names["limit"].eq(5))


STATEMENTS = (
    "x = x & (x - 1);",
    "x = x >> 1;",
    "x = x % (y | 1);",
    "x = x - y;",
    "y = y + 1;",
    "y = x ^ y;",
    "x = x / 2 + y;",
    "y = y & x;",
    "{ unsigned char z = x; x = y; y = z; }",
    "if (x > y) x = x - y;",
    "if (y > 3) { y = y - 3; } else { x = x & y; }",
    "while (y > 7) y = y & (y - 1);",
    "x = x & k;",
)
CONDITIONS = ("x", "x > y", "x != y", "y", "x > k", "x && y", "x + y > 9")


def drawn(seed: int) -> str:
    chosen = random.Random(seed)
    body = " ".join(chosen.sample(STATEMENTS, chosen.randrange(1, 4)))
    return f"""int f(unsigned char x, unsigned char y, int c) {{
        unsigned char k = 5; if (c) k = 5;
        while ({chosen.choice(CONDITIONS)}) {{ {body} }}
        return x + y; }}"""


@pytest.mark.slow
def test_random_loops_run_for_ever_only_where_it_is_said(tmp_path: Path) -> None:
    """From states at the header, with other values of the constant, too: against the interpreter."""
    ended = judged = 0
    for seed in range(60):
        loop = loops(tmp_path, drawn(seed))[0]
        graph, info = loop.function.graph(), loop.id.info
        for question in ({"coarsely": True}, {"exactly": False}):
            answer = asked(loop, approximate=True, classify=False, **question)
            summary = answer.absolute or answer.summary
            if summary is None:
                continue
            alone = LoopAlone(graph, info)
            outputs = {path.id: path.outputs for path in summary.paths.exits}
            numbers = constants([path.condition for path in summary.paths.all])
            sample = draw_states(alone.entry, numbers, seed, 200)
            found = judge_all(alone, Claims(summary, alone.variables, outputs), sample, max_steps=3000)
            assert not found.mismatches, (drawn(seed), found.mismatches, str(summary))
            judged += 1
            ended += summary.approximation is not None and summary.approximation.may_diverge is FALSE
    assert judged > 60
    assert ended >= 10

"""What is said of loops without a look at their paths contains every run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from loopless.errors import UsageError
from loopless.flowgraph.model import Flowgraph
from loopless.paths import LoopPaths
from loopless.paths.coarse import coarse_paths
from loopless.queries.loops.answer import Question
from loopless.queries.loops.answers import answer_loop
from loopless.queries.program import load
from loopless.refusals import Reason, Refused
from loopless.summary import LoopSummary, approximated
from loopless.terms import text
from loopless_fuzz.generator.generate import generate
from loopless_fuzz.generator.printer import print_program
from loopless_fuzz.generator.profile import PROFILES
from loopless_fuzz.judging.claims import Claims, judge_all
from loopless_fuzz.judging.entries import draw_entries
from loopless_fuzz.judging.loop_alone import LoopAlone
from loopless_fuzz.judging.states import constants
from loops_in_c import graph

WHY = Refused(Reason.BUDGET, "here", "for this test")


def coarsely(own: LoopPaths) -> LoopSummary:
    found = approximated(own, WHY)
    assert isinstance(found, LoopSummary)
    assert found.approximation is not None and not found.exact and not found.cases
    return found


def judged(g: Flowgraph, seed: int, count: int = 200) -> Counter[str]:
    counts: Counter[str] = Counter()
    for loop in g.loops:
        own = coarse_paths(g, loop)
        summary = coarsely(own)
        try:
            alone = LoopAlone(g, loop)
        except UsageError:
            continue
        numbers = constants([part for path in own.all for part in (path.condition, *path.update.values())])
        claims = Claims(summary, alone.variables, objects=alone.contents)
        judgement = judge_all(alone, claims, draw_entries(alone, numbers, seed, count), max_steps=2000)
        assert not judgement.mismatches, (loop.name, judgement.mismatches, str(summary))
        counts["loops"] += 1
        counts["compared"] += judgement.compared
        counts += judgement.outcomes
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["everything", "nests", "data", "multi-branch", "undefined"])
def test_random_loops_and_states(profile: str) -> None:
    counts: Counter[str] = Counter()
    for seed in range(25):
        try:
            g = graph(print_program(generate(seed, PROFILES[profile])), "f")
        except KeyError:
            continue
        counts += judged(g, seed)
    assert counts["compared"] > 1000, counts


def test_what_every_iteration_does_alike_is_known() -> None:
    g = graph(
        "int in(void); int f(int n, int x) { int i, c = 0; for (i = 0; i < n; i += 2) {"
        " if (in()) c++; else if (in() > c) break; x = in(); } return i + c + x; }"
    )
    (loop,) = g.loops
    summary = coarsely(coarse_paths(g, loop))
    assert summary.approximation is not None
    names = {var.name: var for case in summary.approximation.cases for var in case.then}
    later = [case for case in summary.approximation.cases if text(case.iterations) != "0"]
    assert len(later) == 2  # by the condition, and by the break
    for case in later:
        assert case.then[names["i"]] not in case.free  # it moves by 2
        assert case.then[names["x"]] in case.free


def test_a_do_loop_is_bounded_by_its_end() -> None:
    g = graph("int in(void); int f(int n) { int i = 0; do { i++; if (in()) n -= 0; } while (i < n); return i; }")
    summary = coarsely(coarse_paths(g, g.loops[0]))
    assert summary.approximation is not None
    assert text(summary.approximation.may_diverge) == "false"


def test_limits_and_what_cannot_be_read_leave_a_coarse_answer(tmp_path: Path) -> None:
    file = tmp_path / "case.c"
    file.write_text(
        "struct node { int key; struct node *next; }; void *where[2];\n"
        "int f(struct node *p, int n) { int i = 0; again: if (i < n) { i++; for (struct node *q = p; q; q = q->next) q->key += i;"
        " if (p->key == 3) return i; goto again; } return -i; }\n"
    )
    function = load([file])["f"]
    for loop in function.loops:
        answer = answer_loop(function, loop.id, Question(approximate=True, coarsely=True))
        assert answer.status == "over-approximate"
        assert answer.complete is False
        assert answer.summary is not None and answer.summary.approximation is not None


def test_loops_around_what_is_not_exact_have_types(tmp_path: Path) -> None:
    """``i < n`` is an IV condition, and whether the inner loop iterates comes in any order: type 2."""
    file = tmp_path / "case.c"
    file.write_text(
        "int held[8]; int f(int n) { int c = 0; for (int i = 0; i < n; i++) "
        "while (held[held[c & 7] & 7]) held[held[c++ & 7] & 7]--; return c; }\n"
    )
    outer, inner = load([file])["f"].loops
    for question in (Question(summarize=False), Question(approximate=True), Question()):
        answer = answer_loop(outer.function, outer.id, question)
        assert answer.type == 2
        assert answer.classification is not None
        assert any("over-approximation" in reason for reason in answer.classification.reasons)
        assert (answer.refused is None) is (not question.summarize or question.approximate)
    assert answer_loop(inner.function, inner.id, Question(summarize=False)).type == 3


def test_it_says_what_it_takes_for_granted_of_calls() -> None:
    g = graph("int in(void); int f(int n) { int i = 0; while (i < n && in()) i++; return i; }")
    assert "calls of in return" in coarsely(coarse_paths(g, g.loops[0])).assumptions

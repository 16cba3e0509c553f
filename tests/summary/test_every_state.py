"""Loops of two 8-bit variables: every state at the header, against the loop itself run from there."""

from __future__ import annotations

import own_loops
import pytest

from loopless.summary import LoopSummary, summarize
from loopless_fuzz.judging.claims import Claims, judge_all
from loopless_fuzz.judging.loop_alone import LoopAlone
from loopless_fuzz.judging.states import all_states

PAPERS = ("l1a", "l1b", "l1c", "l1d", "l3a", "l5a", "t30")
OTHERS = ("up", "wrap", "stepn", "u_ne", "u_ne3", "u_ne7", "u_ge6", "u_ge16", "u_l5a7", "u_ge37")
PHASES = ("phases",)


def judged(name: str, ctype: str) -> tuple[LoopSummary, dict[str, int]]:
    graph = own_loops.graph(own_loops.program(own_loops.text(name), ctype))
    paths = own_loops.paths(graph)
    summary = summarize(paths)
    assert isinstance(summary, LoopSummary), summary
    (loop,) = graph.loops
    alone = LoopAlone(graph, loop, {path.id: path.condition for path in paths.iterative})
    claims = Claims(summary, alone.variables, {path.id: path.outputs for path in paths.exits})
    states = all_states(alone.entry)
    assert states is not None
    found = judge_all(alone, claims, states, max_steps=70_000)
    assert not found.mismatches, found.mismatches
    assert found.states == 2 ** (8 * len(alone.entry))
    assert found.compared == found.states - found.regions["residual"] - found.regions["out of reach"]
    return summary, dict(found.regions)


@pytest.mark.slow
@pytest.mark.parametrize("ctype", ["signed char", "unsigned char"])
@pytest.mark.parametrize("name", [*PAPERS, *PHASES])
def test_every_state_of_the_papers_loops(name: str, ctype: str) -> None:
    summary, regions = judged(name, ctype)
    assert summary.complete
    assert regions["case"] > 1000


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_every_state_of_loops_that_wrap(name: str) -> None:
    summary, _ = judged(name, "unsigned char")
    assert summary.complete


def test_residues_that_never_leave_are_counted() -> None:
    """x >= 10 in steps of 16: from 10 to 15 modulo 16 it never ends, six of sixteen."""
    _, regions = judged("u_ge16", "unsigned char")
    assert regions == {"case": 160, "diverges": 96}

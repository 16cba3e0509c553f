"""Bounds by what each iteration leaves behind, and by the lesser of several values: on states of 8 bits."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import pytest

from loopless.bounds.induction.counts import Counted, induction_counts
from loopless.flowgraph.model import Flowgraph
from loopless.terms import TRUE, evaluate, holds
from loopless_fuzz.judging.loop_alone import LoopAlone
from loops_in_c import graph

TYPES = "typedef unsigned char u8; typedef signed char i8;\n"


def counts(text: str) -> tuple[Flowgraph, list[Counted]]:
    """What induction variables say of the loops of ``f``; none may be refused."""
    g = graph(TYPES + text)
    found = list(induction_counts(g).values())
    assert all(isinstance(one, Counted) for one in found)
    return g, [one for one in found if isinstance(one, Counted)]


BY_THE_LESSER = {
    "the lesser of what is left and a limit": "while (i < n) { u8 m = n - i > 7 ? 7 : n - i; i += m; }",
    "of two, down": "while (n) { u8 m = n; if (m > i) m = i; if (!m) break; n -= m; }",
    "the greater, which may be too much": "while (i < n) { u8 m = n - i < 5 ? 5 : n - i; i += m; }",
    "the lesser of three": "while (i < n) { u8 m = n - i; if (m > 9) m = 9; else if (m > 4) m = 4; i += m; }",
    "neither": "while (i < n) { u8 m = i & 1 ? n - i : 3; i += m; }",
    "signs matter": "while (i < n) { i8 m = (i8)(n - i) > 7 ? 7 : (i8)(n - i); i += m; }",
}


def judged(g: Flowgraph, found: Counted, states: Iterable[tuple[int, int]]) -> int:
    """How often a bound was compared with what the loop does alone, from ``states`` of i and n."""
    alone, compared = LoopAlone(g, g.loops[0]), 0
    for i, n in states:
        state = {v: {"i": i, "n": n}.get(v.name, 0) for v in alone.entry}
        truth = alone.run(state, max_steps=4000)
        for bound in found.bounds:
            if holds(bound.when, state):
                compared += 1
                assert truth.status != "diverges", (state, str(bound.term), str(bound.when))
                assert truth.iterations <= evaluate(bound.term, state), (state, str(bound.term), str(bound.when))
    return compared


@pytest.mark.parametrize("name", BY_THE_LESSER)
def test_the_lesser_of_two_values_on_all_states(name: str) -> None:
    g, (found,) = counts(f"int f(u8 i, u8 n) {{ {BY_THE_LESSER[name]} return i; }}")
    assert {"i", "n"} <= {v.name for v in LoopAlone(g, g.loops[0]).entry}
    assert found.bounds or not name.startswith("the lesser")
    assert judged(g, found, product(range(0, 256, 3), range(256))) or not found.bounds


AT_THE_BOTTOM = {
    "steps of what is left": "do { u8 r = 100 - i; if (r > n) r = n; if (!r) break; i += r; } while (i < 100);",
    "what is left, or three": "do { u8 r = (u8)(n - i) > 3 ? 3 : (u8)(n - i); if (!r) break; i += r; } while (i < n);",
    "what may pass the limit": "do { u8 r = (u8)(n - i) + 1; i += r; } while (i < n);",
    "down": "do { u8 r = i > 5 ? 5 : i; i -= r; } while (i > n);",
    "what wraps around": "do { i += 7; } while (i < n);",
    "the limit moves": "do { u8 r = n - i; if (r > 2) n--; i += r > 4 ? 4 : 1; } while (i < n);",
    "twice": "do { i += i < 50 ? i + 1 : 100 - i; } while (i < 100);",
}


@pytest.mark.parametrize("name", AT_THE_BOTTOM)
def test_what_is_left_behind_holds_at_the_top(name: str) -> None:
    """Bounds where the first iteration begins like all others, on all states."""
    g, (found,) = counts(f"int f(u8 i, u8 n) {{ {AT_THE_BOTTOM[name]} return i; }}")
    assert found.bounds or not name.startswith("what is left")
    assert judged(g, found, product(range(0, 256, 3), range(0, 256, 5))) or not found.bounds


def test_from_the_second_iteration_on_the_limit_holds_whatever_the_first_one_begins_with() -> None:
    _, (found,) = counts(f"int f(u8 i, u8 n) {{ {AT_THE_BOTTOM['steps of what is left']} return i; }}")
    (always,) = (bound for bound in found.bounds if bound.when is TRUE)
    # The second iteration begins at i < 100, and no fewer than 0.
    assert evaluate(always.term, {}) == 101

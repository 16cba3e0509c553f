"""Loops of three small numbers, from all states of some values: bounds against what the loop does alone."""

from __future__ import annotations

from itertools import product

from loopless.bounds.induction.counts import Counted, induction_counts
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.terms import evaluate, holds
from loopless_fuzz.judging.loop_alone import LoopAlone
from loops_in_c import graph

TYPES = "typedef unsigned char u8; typedef signed char i8; typedef unsigned short u16; typedef unsigned u32;\n"
VALUES = (0, 1, 2, 3, 7, 100, 127, 128, 200, 250, 254, 255)


def outer(text: str, kind: str = "int") -> tuple[Flowgraph, LoopInfo, Counted]:
    g = graph(f"{TYPES}int f({kind} i, u8 n, u8 m) {{ {text} return 0; }}")
    found = induction_counts(g)
    (loop,) = (loop for loop in g.loops if loop.parent is None)
    counts = found[loop.name]
    assert isinstance(counts, Counted)
    return g, loop, counts


def judge(g: Flowgraph, loop: LoopInfo, found: Counted, kind: str = "int") -> int:
    """How often a bound, or an exact number, was compared with what the loop does alone."""
    alone, compared = LoopAlone(g, loop), 0
    more = (-5, -1, 300) if kind == "int" else (-128, -1) if kind == "i8" else ()
    for i, n, m in product((*VALUES, *more), VALUES, VALUES):
        i = i if kind != "i8" or i < 128 else i - 256
        given = {var: {"i": i, "n": n, "m": m}.get(var.name, 0) for var in alone.entry}
        truth = alone.run(given, max_steps=20_000)
        for bound in found.bounds:
            known = {var: given.get(var, 0) for var in bound.term.variables | bound.when.variables}
            if holds(bound.when, known):
                assert truth.status != "diverges", (i, n, m, str(bound.term))
                assert truth.iterations <= evaluate(bound.term, known), (i, n, m, truth, str(bound.term))
                compared += 1
        if found.exact is not None and truth.status == "ok":
            known = {var: given.get(var, 0) for var in found.exact.variables | found.endless.variables}
            if not holds(found.endless, known):
                assert truth.iterations == evaluate(found.exact, known)
    return compared

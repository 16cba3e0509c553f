"""Scalars in memory that loops follow: which, which not, and that runs over them go as before."""

from __future__ import annotations

import random

import pytest

from counted import judge_entries_in_calls
from loopless.bounds import FunctionBounds, LoopBounds
from loopless.bounds.induction.counts import Counted, induction_counts
from loopless.bounds.iteration.memory_cells import with_cells
from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph import Options, build
from loopless.flowgraph.model import Flowgraph
from loopless.source import load
from loopless_fuzz.generator.generate import PROFILES, generate, nondet_stream, print_program
from loopless_fuzz.generator.inputs import inputs
from loops_in_c import graph

STRUCTS = """
typedef unsigned char u8;
struct s { int have; u8 lens[8]; int limit; unsigned *next; };
struct holder { struct s *s; u8 *out; };
static const u8 order[8] = {3, 1, 4, 0, 5, 2, 6, 7};
extern int in(void);
extern void use(struct holder *);
extern struct s *get(struct holder *);
"""


def cells(text: str) -> dict[str, str]:
    """The names of the scalars in memory that the loops of ``f`` follow, with their types' widths."""
    g = graph(STRUCTS + text)
    over = with_cells(g)
    return {info.shown: str(var.type.width) for var, info in over.variables.items() if var not in g.variables}


FOLLOWED = {
    "a counter beside an array": (
        "int f(struct holder *h) { use(h); struct s *p = get(h);"
        " while (p->have < 8) p->lens[order[p->have++]] = 0; return 0; }",
        {"p->have"},
    ),
    "a limit that nothing changes": (
        "int f(struct holder *h, int i) { struct s *p = get(h); while (i < p->limit) { i++; p->lens[i & 7] = 1; }"
        " return i; }",
        {"p->limit"},
    ),
    "in front of what is written": (
        "int f(struct holder *h, unsigned k) { struct s *p = get(h);"
        " while (p->have < 5) { p->have++; p->lens[k % 8] = 1; k += 3; } return 0; }",
        {"p->have"},
    ),
}
"""By name: a function, and of the scalars that are followed those that must be."""

NOT_FOLLOWED = {
    "an index that may lead anywhere": (
        "int f(struct holder *h, int k) { u8 *q = h->out; struct s *p = get(h); q = (u8 *)p;"
        " while (p->have < 8) { p->have++; q[k] = 0; k += 3; } return 0; }",
        {"p->have"},
    ),
    "a call that may change it": (
        "int f(struct holder *h) { struct s *p = get(h); while (p->have < 8) { p->have++; use(h); } return 0; }",
        {"p->have"},
    ),
    "a byte of it": (
        "int f(struct holder *h) { struct s *p = get(h); while (p->have < 8) { p->have++; ((u8 *)p)[1] = 0; }"
        " return 0; }",
        {"p->have"},
    ),
    "a pointer of unknown origin": (
        "int f(struct holder *h) { struct s *p = get(h), *q = get(h); while (p->have < 8) { p->have++; q->have = 0; }"
        " return 0; }",
        {"p->have"},
    ),
    "an address that the loop moves": (
        "int f(struct holder *h) { struct s *p = get(h); while (p->have < 8) { p->have++; p++; } return 0; }",
        {"p->have"},
    ),
    "what a call may have put there": (
        "int f(struct holder *h, int n) { int x[2]; x[n & 1] = 0; x[1] = 0; h->s = (struct s *)x; use(h);"
        " while (x[1] < 10) { x[1]++; h->s->have = n; } return 0; }",
        {"x[1]"},
    ),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_scalars_are_followed(name: str) -> None:
    text, wanted = FOLLOWED[name]
    assert wanted <= set(cells(text))


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_scalars_that_may_change_are_not(name: str) -> None:
    text, unwanted = NOT_FOLLOWED[name]
    assert unwanted.isdisjoint(cells(text))


def test_what_is_taken_for_granted_is_listed() -> None:
    text = (
        "int f(struct holder *h) { use(h); struct s *p = h->s; u8 *q = h->out;"
        " while (p->have < 8) { p->have++; *q++ = 0; } return 0; }"
    )
    g = graph(STRUCTS + text)
    over = with_cells(g)
    added = [info.shown for var, info in over.variables.items() if var not in g.variables]
    assert "p->have" in added
    assert any("what h->out points to" in text and "what h->s points to" in text for text in over.assumptions)


def known(g: Flowgraph) -> FunctionBounds:
    found = {name: one for name, one in induction_counts(g).items() if isinstance(one, Counted)}
    of = {loop.name: found.get(loop.name, Counted()) for loop in g.loops}
    return FunctionBounds({loop.name: LoopBounds(loop, of[loop.name].bounds) for loop in g.loops})


IN_PLACE = """
unsigned f(unsigned n, unsigned k) {
    unsigned char a[16]; unsigned t = 0, i;
    for (i = 0; i < 16; i++) a[i] = (unsigned char)(n >> (i & 7));
    a[2] = 0;
    while (a[2] < (n & 31)) { a[2] += 1 + (k & 1); a[8 + (t & 7)] += a[2]; t++; }
    do { a[3] -= 3; a[k & 1] = 7; t += a[3] & 1; } while (a[3] > 3);
    for (i = 0; i < 4; i++) while (a[4] != a[5]) { a[4]++; a[6 + (k & 1)] = a[4]; t++; }
    return t + a[2] + a[6] + a[9];
}
"""


def test_runs_over_cells_go_as_before() -> None:
    g = graph(IN_PLACE)
    over = with_cells(g)
    assert len([v for v in over.variables if v not in g.variables]) >= 3
    plain, followed, bounds = Interpreter(None, g), Interpreter(None, over), known(over)
    rng = random.Random(5)
    rows = [[rng.randrange(1 << 32), rng.randrange(1 << 32)] for _ in range(40)] + [[0, 0], [31, 1], [255, 0]]
    for row in rows:
        first, second = plain.run(row, (), max_steps=50_000), followed.run(row, (), max_steps=50_000)
        assert (first.outcome, first.iterations) == (second.outcome, second.iterations), row
    compared = judge_entries_in_calls(over, rows, (), bounds, followed)
    assert compared.compared > 100
    assert compared.tight > 40


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["everything", "arrays"])
def test_random_programs_run_as_before(profile: str, tmp_path) -> None:
    followed_somewhere = 0
    for seed in range(81_000, 81_040):
        made = generate(seed, PROFILES[profile])
        file = tmp_path / f"{seed}.c"
        file.write_text(print_program(made))
        program = load([file])
        g = build(program.inlined.functions["f"], program.inlined, Options())
        over = with_cells(g)
        if over is g:
            continue
        followed_somewhere += 1
        plain, followed = Interpreter(program.inlined, g), Interpreter(program.inlined, over)
        nondet = nondet_stream(seed)
        rows = [list(row) for row in inputs(made.signature, seed, 6)]
        for row in rows:
            first, second = plain.run(row, nondet, max_steps=20_000), followed.run(row, nondet, max_steps=20_000)
            if "timeout" not in (first.status, second.status):
                assert (first.outcome, first.iterations) == (second.outcome, second.iterations), (seed, row)
        judge_entries_in_calls(over, rows, nondet, known(over), followed, max_steps=20_000)
    assert followed_somewhere > 2

"""Tables per cycle: paths that take turns by the value of one variable, against the judge and native runs."""

from __future__ import annotations

import random

import pytest

from judged import judge, natively, states
from loopless import terms as t
from loopless.summary.methods import cyclic_modes, elimination
from loopless.summary.parts import summarize_parts
from loops_in_c import graph, paths

U8, I8, I32, U32 = t.IntType(8, signed=False), t.IntType(8), t.IntType(32), t.IntType(32, signed=False)


def by_cyclic_modes(paths):
    found = summarize_parts(paths, (cyclic_modes.METHOD, elimination.ELIMINATION))
    assert "cyclic modes" in found.method
    return found


def random_loop(seed: int, kind: str) -> str:
    """Three or four branches by the value of x, which rises below and falls above; sums of what each branch adds."""
    chosen = random.Random(seed)
    count = chosen.choice((3, 3, 4))
    borders = sorted(chosen.sample(range(20, 80), count - 1))
    up = [chosen.randrange(1, 12) for _ in range(count - 1)]
    down = borders[-1] - borders[0] + chosen.randrange(1, 12)
    moves = [f"x += {u};" for u in up] + [f"x -= {down};"]
    adds = [
        chosen.choice(("", f"c += {chosen.randrange(1, 90)};", f"d -= {chosen.randrange(1, 90)};", "c += x; d++;"))
        for _ in moves
    ]
    branches = [f"if (x < {b}) {{ {m} {a} }}" for b, m, a in zip(borders, moves, adds, strict=False)]
    branches.append(f"{{ {moves[-1]} {adds[-1]} }}")
    subsystem = chosen.choice(("i < n", "i != n", "i < n && i < 900"))
    last = chosen.choice((1, 1, 2)) if "!=" not in subsystem else 1
    return (
        f"unsigned f({kind} x, unsigned char n) {{ unsigned i = 0, c = n; unsigned short d = 3; "
        f"while ({subsystem}) {{ {' else '.join(branches)} i += {last}; }} return x + 7u * c + 1000u * d + 77 * i; }}"
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["unsigned char", "signed char", "int"])
@pytest.mark.parametrize("seed", range(5))
def test_random_loops_at_8_bits(seed, kind):
    g = graph(random_loop(seed, kind))
    counts = judge(g, by_cyclic_modes, states((U8 if "un" in kind else I8, U8), 250, seed))
    # many ways into many cycles may exceed the limit on cases
    assert counts["case"] > 40


def test_every_state_of_a_cycle_at_8_bits():
    source = (
        "unsigned f(unsigned char x, unsigned char n) { unsigned c = 0; for (unsigned i = 0; i < n; i++) "
        "{ if (x < 100) { x += 50; c += 2; } else if (x < 200) x += 77; else { x -= 130; c += x; } } return c * 256 + x; }"
    )
    counts = judge(graph(source), by_cyclic_modes, [(x, n) for x in range(256) for n in (0, 1, 2, 3, 50, 96, 97, 255)])
    assert counts["case"] == 256 * 8


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.slow
def test_wide_loops_run_natively_as_summarized(seed):
    source = (
        random_loop(200 + seed, "int").replace("unsigned char n", "unsigned n").replace("i < n && i < 900", "i < n")
    )
    found = by_cyclic_modes(paths(source))
    chosen = random.Random(seed)
    entries = [(chosen.randrange(-3000, 3000), chosen.randrange(chosen.choice((5, 300, 10**6)))) for _ in range(60)]
    assert natively(source, found, entries)["ok"] > 5


def test_signed_sums_overflow_exactly_where_they_do():
    source = (
        "int f(unsigned char x, int c, unsigned char n) { unsigned i = 0; while (i < n) { if (x < 7) { x += 5; c += x; } "
        "else if (x < 12) { x += 3; c += x + 2; } else { x -= 9; c += x; } i++; } return c; }"
    )
    chosen = random.Random(4)
    entries = [(chosen.randrange(30), 2**31 - 1 - chosen.randrange(2000), chosen.randrange(256)) for _ in range(300)]
    counts = judge(graph(source), by_cyclic_modes, entries)
    assert counts["case"] > 50
    assert counts["undefined"] > 50
    assert not counts["residual"]


def test_one_case_for_a_cycle():
    source = (
        "unsigned f(int x, unsigned n) { unsigned i = 0, c = 0; while (i < n) { if (x < 7) x += 5; "
        "else if (x < 12) { x += 3; c += 2; } else x -= 9; i++; } return c + x; }"
    )
    found = by_cyclic_modes(paths(source))
    assert found.complete
    x, c = 3, 0
    for _ in range(1000):
        x, c = (x + 5, c) if x < 7 else (x + 3, c + 2) if x < 12 else (x - 9, c)
    long = found(x=3, i=0, n=1000 + 10 * 10**7, c=0)
    assert long["x"] == x
    assert long["c"] == c + 8 * 10**7
    values = {t.variable("x", I32): 3, t.variable("i", U32): 0, t.variable("n", U32): 5, t.variable("c", U32): 0}
    (case,) = [case for case in found.cases if t.holds(case.when, values)]
    assert "table" in str(case.then[t.variable("c", U32)])

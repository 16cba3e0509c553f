"""What is true of paths that take turns only from some round on, or only for some of the paths."""

from __future__ import annotations

import pytest

from judged import judge, judge_alone, states
from loopless import terms as t
from loopless.summary import summarize
from loops_in_c import graph

I32, I8, U32 = t.IntType(32), t.IntType(8), t.IntType(32, signed=False)
MAX, MIN = 2**31 - 1, -(2**31)
NEAR = (-4, -3, -2, -1, 0, 1, 2, 3)


def test_checks_of_a_path_hold_only_where_it_is_taken():
    """From x = -3 and s = INT_MAX the loop never ends: 2 is added only after 2 has been taken away."""
    source = "int f(int x, int s, int n) { while (n) { if (x < 0) { x += 1; s -= 1; } else { x -= 2; s += 2; } } return s + x; }"
    edges = [(x, s, 1) for x in NEAR for s in (MAX, MAX - 1, MAX - 2, MAX - 3, MIN, MIN + 1, MIN + 2, MIN + 3, 0)]
    counts = judge(graph(source), summarize, [*edges, *states((I32,) * 3, 100, 1)], max_steps=2_000)
    assert counts["diverges"] > 30
    assert counts["undefined"] > 5


@pytest.mark.parametrize(
    "wide",
    [
        "if (x < 0) { x += 3; } else { x -= 2; s = (unsigned char)(s + 3); }",
        "if (x < 0) { x += 3; s = (unsigned char)(s + 9); } else { x -= 2; }",
        "if (x < 0) { x += 3; s = (signed char)(s + 9); } else { x -= 2; s = (signed char)(s + 1); }",
    ],
)
def test_a_path_that_keeps_a_value_does_not_reduce_it(wide):
    source = f"unsigned f(signed char x, unsigned s, signed char n) {{ while (n > 0) {{ {wide} n--; }} return s + x; }}"
    edges = [(x, s, n) for x in NEAR for s in (1000, 255, 256, 2**32 - 1, 7) for n in (0, 1, 2, 3, 4, 5, 127)]
    counts = judge(graph(source), summarize, [*edges, *states((I8, U32, I8), 200, 1)])
    assert counts["case"] > 100


def test_a_check_reads_in_the_first_round_what_was_there_before():
    """From t = INT_MAX the very first ``t + 1`` overflows; later t has been x."""
    source = (
        "int f(int x, int t, int n) { int u = 0; while (n > 0) "
        "{ u = t + 1; t = x; if (x < 0) x += 3; else x -= 2; n--; } return t ^ x; }"
    )
    edges = [(x, value, n) for x in (*NEAR, -30, 30) for value in (MAX, MAX - 1, 0) for n in (0, 1, 2, 5)]
    counts = judge(graph(source), summarize, [*edges, *states((I32,) * 3, 100, 1)], max_steps=2_000)
    # With |x| = 30 no turn is taken in 5 rounds; with turns the check may be left undecided.
    assert counts["undefined"] >= 2 * 3
    assert counts["case"] >= 2 * 3 * 2 + sum(n == 0 for _, _, n in edges)


@pytest.mark.parametrize(
    "body", ["if (z > x) x++; else z++;", "if (z > x) x += 2; else z += 3;", "if (z > 5) { x = z; z++; } else z += 3;"]
)
def test_what_the_range_of_a_counter_implies_is_kept_when_it_has_no_bounds(body):
    """With z <= x the counter z overflows at last: x < z keeps x below INT_MAX only as long as z is an int."""
    source = f"int f(int x, int z, int n) {{ while (x != n) {{ {body} }} return z; }}"
    edges = [
        (x, z, n) for x in (0, 5, MAX - 3, MAX) for z in (-3, 0, 7, MAX - 9, MAX) for n in (4, 9, MIN, MAX - 1, MAX)
    ]
    counts = judge(graph(source), summarize, [*edges, *states((I32,) * 3, 100, 1)], max_steps=2_000)
    assert counts["undefined"] > 10
    assert counts["case"] > 20


def test_a_check_that_always_holds_does_not_stand_in_the_way_of_divergence():
    source = "int f(_Bool b, int s, int n) { while (n) { if (b) s += 4; else s -= 4; b = !b; } return s; }"
    edges = [(b, s, n) for b in (0, 1) for s in (MAX, MAX - 3, MAX - 4, 0, MIN, MIN + 3, MIN + 4) for n in (0, 1)]
    counts = judge(graph(source), summarize, edges, max_steps=2_000)
    assert counts["diverges"] > 5


def test_one_condition_that_two_lines_ask_for_names_neither():
    """-t and --t both need t > INT_MIN; the judge holds the line against that of the run."""
    source = """int f(int t, int state) {
        int s = 0;
        while (1) {
            if (state == 0) {
                s = t * (-1);
            } else {
                --t;
            }
        }
        return s;
    }"""
    edges = {"t": (MIN, MIN + 1, MIN + 2, 0), "state": (0, 1, -7)}
    _, counts = judge_alone(source, near=edges, count=200)
    assert counts["undefined"] > 20


@pytest.mark.parametrize("step", ["x += x;", "x *= 3;", "x += 5;", "x = x - 7;"])
def test_a_check_that_every_turn_makes_decides_how_a_loop_without_end_goes_on(step):
    """An odd t never comes down to -128: the loop overflows at last unless x is 0 and stays it."""
    source = f"int f(signed char t, signed char u, int x) {{ while (t > u) {{ t -= 2; {step} }} return x; }}"
    near = {"u": (-128, -127), "t": (3, 4, -125, 127), "x": (0, 1, -1, 7)}
    summary, regions = judge_alone(source, near=near, count=300)
    assert summary.complete
    assert regions["undefined"] > 5

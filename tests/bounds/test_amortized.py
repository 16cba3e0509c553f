"""Inner loops that are paid for by what the iterations around them use up, against runs of the judge's interpreter."""

from __future__ import annotations

from itertools import product

import pytest

from counted import judge_calls
from loopless.bounds import function_bounds, least
from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph import build
from loopless.source import load
from loopless.terms import evaluate

CHUNK = "int q = m < p ? m : p; if (q <= 0) break; m -= q;"

PAID = {
    "pieces of p at most": (f"while (m > 0) {{ {CHUNK} while (q > 0) {{ if (more()) q--; else q -= 2; }} }}", "m"),
    "counted upwards": (
        """for (int i = 0; i < m; ) { int q = m - i < p ? m - i : p; if (q <= 0) break; i += q;
        for (int j = 0; j < q; j++) if (more()) j++; }""",
        "m",
    ),
    "two of each": (f"while (m > 0) {{ {CHUNK} for (int j = 0; j < 2 * q; j++) if (more()) j++; }}", "2*m"),
    "one more in each": (f"while (m > 0) {{ {CHUNK} for (int j = 0; j <= q; j++) if (more()) j++; }}", "2*m"),
    "used up in two places": (
        f"""if (p > 0) while (m > 0) {{ {CHUNK} int r = m < p ? m : p; m -= r;
        while (q > 0 && r > 0) if (more()) q--; else r--; }}""",
        "m",
    ),
    "pieces of one size": (
        "while (p > 0 && p <= m) { int q = p; m -= q; while (q > 0) { q--; if (more()) q--; } }",
        "m",
    ),
    "bytes": (
        """unsigned char left = m; while (left) { unsigned char q = left < (unsigned char)p ? left : (unsigned char)p;
        if (!q) break; left -= q; while (q) { q--; if (more()) break; } }""",
        "m",
    ),
}
"""Programs, and what the inner loop takes at most in all for m, p >= 0."""

NOT_PAID = {
    "given back": f"int k = 2; while (m > 0) {{ {CHUNK} while (q > 0) {{ q--; if (k > 0 && more()) {{ m += 3; k--; }} }} }}",
    "more than is used up": f"while (m > 0) {{ {CHUNK} for (int j = 0; j < q * q; j++) if (more()) j++; }}",
    "kept for the next lap": "int q = 0; while (m > 0) { m--; q += p; while (q > 0) { q--; if (more()) break; } }",
    "used up on one way only": "while (p > 0 && p <= m) { int q = p; if (more()) m -= q; else m--; while (q > 0) q--; }",
    "used up after the last entry": "while (p > 0) { int q = p; while (q > 0) q--; if (p > m) break; m -= p; }",
    "raised where the inner loop is not entered": """int k = 3; while (p > 0 && p <= m) {
        if (k > 0 && more()) { k--; m += 5; continue; } int q = p; m -= q; while (q > 0) q--; }""",
    "below nothing": "while (m > -9) { int q = p; m -= 3; while (q > 0 && m > -p) { q--; if (more()) break; } }",
    "wraps around": """unsigned char left = m; for (int i = 0; i < 3; i++) { unsigned char q = p; left -= q;
        while (q) { q--; if (more()) break; } }""",
    "raised by another loop": f"int k = 2; while (m > 0) {{ {CHUNK} while (q > 0) q--; while (k > 0 && more()) {{ m += 2; k--; }} }}",
}
NOT_ADDED_UP = {NOT_PAID["more than is used up"]}
CHOICES = ([1] * 3000, [0] * 3000, [1, 0] * 1500, [0, 0, 1] * 1000)


def read(folder, body):
    file = folder / "case.c"
    file.write_text(
        f"int __VERIFIER_nondet_int(void);\n#define more __VERIFIER_nondet_int\nvoid f(int m, int p) {{ {body} }}\n"
    )
    program = load([file])
    return program, build(program.inlined.functions["f"], program.inlined)


@pytest.mark.parametrize("body", [*(body for body, _ in PAID.values()), *NOT_PAID.values()], ids=[*PAID, *NOT_PAID])
def test_no_bound_is_below_what_runs_take(tmp_path, body):
    """Each loop but the one of squares has a bound on all calls, and the inner ones do run."""
    program, graph = read(tmp_path, body)
    bounds, interpreter = function_bounds(graph), Interpreter(program.inlined, graph)
    bounded = {loop.name for loop in graph.loops if bounds.loops[loop.name].total}
    inner = max(graph.loops, key=lambda loop: loop.depth)
    assert bounded == {loop.name for loop in graph.loops if loop is not inner or body not in NOT_ADDED_UP}
    rows = list(product((-1, 0, 1, 2, 5, 12, 200), (-1, 0, 1, 3, 7)))
    found = [judge_calls(graph, rows, choices, bounds, interpreter, max_steps=3000) for choices in CHOICES]
    assert all(counted.compared >= len(bounded) * len(rows) for counted in found)
    assert max(counted.longest for counted in found) >= 3
    most = 0
    for choices in CHOICES:
        most = max(most, *(interpreter.run(row, choices, max_steps=3000).iterations.get(inner.name, 0) for row in rows))
    assert most >= 7  # of rows with p = 7


@pytest.mark.parametrize(("body", "most"), PAID.values(), ids=PAID)
def test_pieces_are_added_up_and_not_multiplied(tmp_path, body, most):
    _, graph = read(tmp_path, body)
    inner = max(graph.loops, key=lambda loop: loop.depth)
    total = least(function_bounds(graph).loops[inner.name].total)
    assert total is not None
    m, p = (parameter.var for parameter in graph.parameters)
    for value, piece in product((0, 1, 5, 40), (1, 3, 50)):
        assert evaluate(total, {m: value, p: piece}) <= eval(most, {"m": value})

"""Functions without overflow of signed operations: their runs are those of the function until one overflows there."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from loopless.check.interpreter.run import Interpreter, InterpreterRun
from loopless.flowgraph import build
from loopless.flowgraph.exact_arithmetic import OVERFLOW, as_typed, overflow_checks, with_exact_arithmetic
from loopless.flowgraph.model import Flowgraph
from loopless.source import load

BESIDE = {
    "none": ("", "", "0"),
    "local": ("int n = 0;", "n++;", "n"),
    "global": ("", "g++;", "g"),
    "structure": ("struct { int pad, n; } s = {0, 0};", "s.n++;", "s.n"),
    "wrapping": ("unsigned long n = 0;", "n++;", "(int) n"),
    "two": ("int n = 0, m = 0;", "n++; m += 3;", "n - m"),
}
"""Counters beside control: how they are declared, counted and returned."""

GOES_ON = ("diverges", "timeout")
"""Of a counter in memory the judge sees no state again: that run only uses up its steps."""

VALUES = (0, 1, 2, 5, 100, -1, -7, 2**31 - 1, 2**31 - 2, -(2**31), 1 << 16)


def both(tmp_path: Path, text: str, name: str = "f") -> tuple[Interpreter, Interpreter, Flowgraph]:
    """Interpreters of a function as it is and without overflow, and the flowgraph of the latter."""
    file = tmp_path / "a.c"
    file.write_text(text)
    module = load([file]).inlined
    plain = build(module.functions[name], module)
    exact = with_exact_arithmetic(plain)
    return Interpreter(module, plain), Interpreter(module, exact), exact


def run(interpreter: Interpreter, *arguments: int) -> InterpreterRun:
    """The run with these arguments, for some steps."""
    return interpreter.run(arguments, max_steps=5000)


@pytest.mark.parametrize("kind", BESIDE)
def test_counters_beside_control_hide_no_hang(tmp_path: Path, kind: str) -> None:
    # x moves by 2 modulo 256: compiled with -fwrapv, f never ends for even x and takes (257 - x) / 2 % 128 rounds else.
    declared, counts, result = BESIDE[kind]
    text = f"int g; int f(unsigned char x) {{ {declared} while (x != 1) {{ x += 2; {counts} }} return {result}; }}"
    plain, exact, graph = both(tmp_path, text)
    assert not list(overflow_checks(graph, graph.blocks))
    for x in range(256):
        found = run(exact, x)
        assert (found.status in GOES_ON) == (x % 2 == 0), (x, found)
        assert x % 2 or kind == "structure" or found.status == "diverges", (x, found)
        if x % 2:
            assert found.outcome == run(plain, x).outcome


def test_runs_agree_until_an_operation_overflows(tmp_path: Path) -> None:
    text = """
        int f(int a, int b) {
            int s = a;
            for (int i = 0; i < (b & 15); i++) { s = s * 3 + b; if (s % 7 == 0) s -= a; }
            return s;
        }"""
    plain, exact, _ = both(tmp_path, text)
    draw, seen = random.Random(1), set()
    for _ in range(300):
        a, b = (draw.choice((draw.choice(VALUES), draw.randint(-50, 50))) for _ in range(2))
        before, after = run(plain, a, b), run(exact, a, b)
        seen.add(before.status)
        if before.status == "ok":
            assert after.outcome == before.outcome, (a, b)
        else:
            assert before.reason.replace(" ", "-") == OVERFLOW
            assert after.status == "ok"
    assert seen == {"ok", "undefined"}


def test_inputs_keep_their_types(tmp_path: Path) -> None:
    _, exact, graph = both(tmp_path, "int f(int x) { while (x > 0) x += 1; return x; }")
    (parameter,) = graph.parameters
    assert parameter.var is not None and parameter.var.type.width == 32
    assert set(as_typed(graph).values()) <= set(graph.variables) - set(as_typed(graph))
    assert run(exact, -5).outcome.return_value == -5
    assert run(exact, 2**31 - 1).status in GOES_ON  # x grows beyond its type, and never gets back


def test_functions_without_such_operations_stay_as_they_are(tmp_path: Path) -> None:
    _, _, graph = both(tmp_path, "unsigned f(unsigned x) { while (x & 1) x /= 2; return x + 1; }")
    assert as_typed(graph) == {}

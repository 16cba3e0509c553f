"""A recursive function as a loop does what the function does, edges included."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph import as_loop, build
from loopless.flowgraph.model import Call, Flowgraph
from loopless.refusals import Reason, Refused
from loopless.source import load
from loopless.source.ir import Module
from loopless_fuzz.generator.generate import PROFILES, features, generate, inputs, print_program


def module(text: str, folder: Path) -> Module:
    file = folder / "case.c"
    file.write_text(text)
    return load([file]).inlined


def unrolled(text: str, folder: Path, name: str = "f") -> Flowgraph | Refused | None:
    found = module(text, folder)
    return as_loop(found.functions[name], found)


BYTE = (*range(-9, 30), -128, -127, 126, 127)
LINEAR = {
    "tail": "int f(signed char n, signed char s) { return n <= 0 ? s : f(n - 1, s + n); }",
    "sum": "int f(signed char n, signed char s) { if (n <= 0) return s; return n + f(n - 1, s); }",
    "ring": "unsigned f(signed char n, signed char s) { if (n <= 0) return s; return 3 * f(n - 1, s + 1) - n; }",
    "factors": "unsigned f(signed char n, signed char s) { if (n <= 0) return s; return s * f(n - 2, s + 1) + n; }",
    "narrow": "signed char f(signed char n, signed char s) { if (n <= 0) return s; return f(n - 1, n) * 5 + s; }",
    "ignored": "int f(signed char n, signed char s) { if (n <= 0) return s; f(n - 1, s); return n; }",
    "minus": "int f(signed char n, signed char s) { if (n <= s) return s; return n - f(n - 1, s); }",
    "logarithm": "int f(signed char n, signed char s) { if (n <= 1) return s; return 1 + f(n / 2, s); }",
    "euclid": "int f(signed char n, signed char s) { if (s == 0) return n; return f(s, n % s); }",
    "two ways": "int f(signed char n, signed char s)"
    " { if (n <= 0) return s; if (n & 1) return f(n - 1, s) + 1; return f(n - 2, s) + 3; }",
    "branch behind": "int f(signed char n, signed char s)"
    " { if (n <= 0) return s; int t = f(n - 1, s); if (t > 10) return t - s; return t + 3; }",
    "loop behind": "int f(signed char n, signed char s)"
    " { if (n <= 0) return s; int t = f(n - 1, s) & 7; for (int i = 0; i < n; i++) t += i; return t; }",
    "loop before": "int f(signed char n, signed char s)"
    " { if (n <= 0) return s; for (int i = 0; i < n; i++) s ^= i; return f(n - 1, s); }",
    "parameters change": "int f(signed char n, signed char s)"
    " { if (n <= 0) { s += 7; return s; } n--; int r = f(n, s); s++; n += 4; return r + s - n; }",
    "steps by another": "int f(signed char n, signed char s)"
    " { if (n <= 0 || s <= 0) return n; int r = f(n - s, s); return r * 2 + n; }",
    "unsigned wraps": "int f(unsigned char n, signed char s)"
    " { if (n > 200) return s; int r = f(n - 3, s); return r > 0 ? r - n : r + n; }",
    "upwards": "int f(signed char n, signed char s) { if (n >= s) return 1; return f(n + 3, s) * 2 + n; }",
    "before and behind": "int f(signed char n, signed char s)"
    " { int t = n * 2; if (n <= 0) return s; int u = t + s; int r = f(n - 1, s); return r - u; }",
    "overflow": "int f(signed char n, signed char s)"
    " { if (n <= 0) return s * 10000000; return n * 1000000 + f(n - 1, s); }",
    "overflow of both signs": "int f(signed char n, signed char s)"
    " { if (n <= 0) return s * 16000000; return (n & 1 ? n * 9000000 : n * -9100000) + f(n - 1, s); }",
}
GLOBAL = {
    "before": "int g; void f(signed char n) { g += n; if (n > 0) f(n - 1); }",
    "behind": "int g = 1; void f(signed char n) { if (n > 0) { f(n - 1); g = g * 3 % 1000 - n; } }",
    "between": "int g; int f(signed char n) { if (n <= 0) return g; g += n; int t = f(n - 1); g -= 2; return t + n; }",
    "read before": "int g = 5; int f(signed char n) { if (n <= 0) { g = 9; return 1; } return g + f(n - 1); }",
    "read behind": "int g = 5; int f(signed char n) { if (n <= 0) { g = 9; return 1; } int t = f(n - 1); return t + g; }",
    "overwritten": "int g; int f(signed char n) { if (n <= 0) return g; g = n; int t = f(n - 1); g = 3; return t; }",
}


def compare(text: str, folder: Path, rows: list[tuple[int, ...]], name: str = "f") -> int:
    """How many calls come to the same as those of the function as it is written, which is interpreted with calls."""
    found = module(text, folder)
    graph = as_loop(found.functions[name], found)
    assert isinstance(graph, Flowgraph), graph
    called = [s.callee for block in graph.blocks.values() for s in block.statements if isinstance(s, Call)]
    assert name not in called and ".itself" not in called
    own = Interpreter(found, graph)
    plain = Interpreter(found, build(found.functions[name], found))
    compared = 0
    for row in rows:
        truth = plain.run(row, max_steps=3000, max_depth=300)
        if truth.status in ("unknown", "timeout"):
            continue
        run = own.run(row, max_steps=30_000)
        if "adds terms of both signs" in run.reason:
            continue  # nothing is said
        assert run.status == truth.status, (row, run, truth)
        if truth.status == "ok":
            assert run.outcome.agrees_with(truth.outcome), (row, run, truth)
            for loop in graph.loops:
                if loop.name.removesuffix("~returns") == f"{folder}/case.c:{name}:1:0":
                    assert run.iterations.get(loop.name, 0) == truth.calls.get(name, 0)
        compared += 1
    return compared


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.slow
def test_as_a_loop_it_does_the_same(name: str, tmp_path: Path) -> None:
    values = range(5, 256, 10) if "unsigned char n" in LINEAR[name] else (*range(-3, 16), -128, -127, 99, 127)
    rows = [(n, s) for n in values for s in (*range(-3, 6), -128, 50, 127)]
    assert compare(LINEAR[name], tmp_path, rows) > 60


@pytest.mark.parametrize("name", GLOBAL)
def test_what_happens_to_globals_is_the_same(name: str, tmp_path: Path) -> None:
    assert compare(GLOBAL[name], tmp_path, [(n,) for n in BYTE]) == len(BYTE)


@pytest.mark.slow
def test_random_recursions(tmp_path: Path) -> None:
    as_loops = compared = 0
    for seed in range(60):
        program = generate(seed, PROFILES["recursion-8" if seed % 2 else "recursion"])
        if any(helper.name == "again" for helper in program.helpers):
            continue
        text = print_program(program)
        if not isinstance(unrolled(text, tmp_path), Flowgraph):
            continue
        as_loops += 1
        compared += compare(text, tmp_path, inputs(program.signature, seed, 40))  # type: ignore[arg-type]
        assert "recursion" in features(program)
    assert as_loops > 8 and compared > 150


def test_what_does_not_call_itself_is_left_alone(tmp_path: Path) -> None:
    assert unrolled("int f(int n) { while (n > 9) n /= 2; return n; }", tmp_path) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }", "more than once on one way"),
        ("int f(int m, int n) { if (!m) return n + 1; if (!n) return f(m - 1, 1); return f(m - 1, f(m, n - 1)); }",
         "more than once on one way"),
        ("int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += f(i); return s; }", "more than once on one way"),
        ("int f(int *p, int n) { if (n <= 0) return *p; *p += n; return f(p, n - 1); }", "parameter p is no integer"),
        ("int a[9]; int f(int n) { if (n <= 0) return a[3]; a[n & 7]++; return f(n - 1); }", "memory"),
        ("int f(int n) { if (n <= 1) return n; int r = f(n / 2); return r * r + n; }", "needs n, which cannot be had back"),
        ("int f(int n) { if (n < 2) return n; if (n & 1) return f(n - 1) * 2; return f(n - 2) - n; }",
         "depends on which of them it was"),
    ],
)  # fmt: skip
def test_what_is_not_of_that_kind_is_refused_by_name(text: str, why: str, tmp_path: Path) -> None:
    found = unrolled(text, tmp_path)
    assert isinstance(found, Refused)
    assert found.reason is Reason.RECURSION
    assert why in found.detail and found.detail.startswith("f can call itself again, and ")


def test_the_loops_carry_the_place_of_the_function(tmp_path: Path) -> None:
    graph = unrolled("\n\nint f(int n)\n{ if (n <= 0) return 0; return n + f(n - 1); }", tmp_path)
    assert isinstance(graph, Flowgraph)
    assert [loop.name for loop in graph.loops] == [f"{tmp_path}/case.c:f:3:0", f"{tmp_path}/case.c:f:3:0~returns"]

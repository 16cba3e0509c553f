"""Loops that a floating-point variable counts: their counts are those of native runs."""

from __future__ import annotations

import json
import math
import random
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from loopless.bounds.induction.counts import Counted
from loopless.bounds.induction.floating.arithmetic import rounded
from loopless.bounds.induction.floating.counters import NAME
from loopless.bounds.induction.floating.runs import FloatingExit, completed
from loopless.check.oracle.native import NativeOracle
from loopless.limits.bounds import MAX_FLOATING_STEPS
from loopless.queries.jobs.effort import inductions_of
from loopless.queries.program import load
from loopless.stepping import no_stepping
from loopless.terms import Const, Term

pytestmark = pytest.mark.slow  # each case is compiled and run

EXACT = {
    "tenths in float": "int n = 0; for (float x = 0.0f; x < 10; x += 0.1f) n++; return n;",
    "tenths in double": "int n = 0; for (double x = 0.0; x < 10; x += 0.1) n++; return n;",
    "a step of double on a float": "int n = 0; for (float x = 0; x < 10; x += 0.1) n++; return n;",
    "a float compared as double": "int n = 0; for (float x = 0; x < 0.7; x += 0.1f) n++; return n;",
    "a double rounded to float": "int n = 0; for (double x = 0; x < 3; x = (float)(x + 0.1)) n++; return n;",
    "a double compared as float": "int n = 0; for (double x = 0; (float)x < 0.7f; x += 1e-5) n++; return n;",
    "at most": "int n = 0; for (double x = 0; x <= 360.0; x += 1.5) n++; return n;",
    "unequal": "int n = 0; for (double x = 8; x != 0; x -= 0.25) n++; return n;",
    "unequal, and met late": "int n = 0; for (float x = -4; x != 8191.5f; x += 0.5f) n++; return n;",
    "down": "int n = 0; for (float x = 3; x > -2.5f; x -= 0.01f) n++; return n;",
    "down to": "int n = 0; for (double x = 1; x >= 1e-3; x -= 0.001) n++; return n;",
    "the limit on the left": "int n = 0; for (double x = 0; 7.5 > x; x = x + 0.7) n++; return n;",
    "what is added on the left": "int n = 0; for (double x = 0; x < 7.5; x = 0.7 + x) n++; return n;",
    "growing": "int n = 0; for (float x = 1; x < 1e30f; x *= 1.5f) n++; return n;",
    "halves": "int n = 0; double x = 100; while (x > 1e-9) { x /= 2; n++; } return n;",
    "halves to nothing": "int n = 0; float x = 1; while (x > 0) { x /= 2; n++; } return n;",
    "doubled to infinity": "int n = 0; double x = 1; while (x < 1 / 0.0) { x *= 2; n++; } return n;",
    "divided by the counter": "int n = 0; double x = 1000; while (x > 1) { x = 900 / x - 1; n++; } return n;",
    "two operations": "int n = 0; for (double x = 1; x < 1e6; x = (x + 3) / 0.75) n++; return n;",
    "constant expressions": "int n = 0; for (float x = 10 / 4; x < 1.0f / 3 * 100; x += 3 * 0.125f) n++; return n;",
    "a square compared": "int n = 0; for (double x = 0; x * x < 2; x += 0.01) n++; return n;",
    "a magnitude compared": "int n = 0; double x = -64; while (__builtin_fabs(x) > 0.1) { x /= -3; n++; } return n;",
    "tested at the end": "int n = -1; double x = 0; do { n++; x += 0.3; } while (x < 5); return n;",
    "tested in the middle": "int n = 0; float x = 0; for (;;) { x += 0.1f; if (x >= 2) break; n++; } return n;",
    "changed before it is tested": "int n = 0; float x = 0; while ((x += 0.1f) < 5) n++; return n;",
    "negated": "int n = 0; for (double x = 0; !(x > 4); x += 0.1) n++; return n;",
    "not once": "int n = 0; for (double x = 5; x < 4; x += 0.1) n++; return n;",
    "a million in float": "int n = 0; for (float x = 0; x < 2097152; x += 1) n++; return n;",
    "more than are stepped": "int n = 0; for (double x = 0; x < 1; x += 4e-7) n++; return n;",
    "ties": "int n = 0; for (float x = 8388608; x < 16000000; x += 1.5f) n++; return n;",
    "ties, downwards": "int n = 0; for (float x = 33554432; x > 20000000; x -= 5) n++; return n;",
    "a constant variable": "int n = 0; const double eps = 1e-6; double x = 1; while (x > eps) { x /= 3; n++; } return n;",
    "a global constant": "int n = 0; for (double x = 0; x < LIMIT; x += STEP) n++; return n;",
    "a limit that is an integer": "int n = 0, m = 25; for (float x = 0; x < m; x += 0.3f) n++; return n;",
    "either start": "double x = k ? 0.5 : 0.5; int n = 0; for (; x < 3; x += 0.1) n++; return n;",
    "two tests of one counter": "int n = 0; for (double x = 0; x < 8; x += 0.1) { if (x > 5) break; n++; } return n;",
    "two counters": "int n = 0; double y = 9; for (float x = 0; x < 8; x += 0.1f) { if (y < 5) break; y -= 0.1; n++; } return n;",
    "a sum beside": "int n = 0; double s = 0; for (double t = 0; t < 1; t += 0.001) { s += t; n++; } return n + (s < 0);",
    "no number is above": "int n = 0; double x = 0.0 / 0.0; while (x < 3) { x += 1; n++; } return n;",
    "not above a number": "int n = 0; double x = -1; while (!(x / x < 0.5)) { x += 1; if (x > 9) break; n++; } return n;",
    "signs of nothing": "int n = 0; double x = -0.0; while (1 / x < 0) { x = x + 0.0; n++; } return n;",
}
"""Bodies of ``int f(int k)`` whose one loop is left by its counters only, and which return its iterations."""
PREFIX = "static const double LIMIT = 2.5, STEP = 0.1; "
INNER = {
    "an inner one": (
        "int n = 0; for (int i = 0; i < 7; i++) { for (float x = 0; x < 3; x += 0.1f) n++; } return n;",
        7,
    ),
    "an inner one in a float loop": (
        "int n = 0; for (float y = 0; y < 2; y += 0.5f) for (double x = 1; x < 90; x *= 1.1) n++; return n;",
        4,
    ),
}
WITHOUT = {
    "a parameter at the start": "int f(double x) { int n = 0; for (; x < 1; x += 0.5) n++; return n; }",
    "a parameter as limit": "int f(double m) { int n = 0; for (double x = 0; x < m; x += 0.5) n++; return n; }",
    "a parameter as step": "int f(double d) { int n = 0; for (double x = 0; x < 1; x += d) n++; return n; }",
    "a global": "double x; int f(void) { int n = 0; x = 0; for (; x < 1; x += 0.5) n++; return n; }",
    "a global limit": "double m = 3; int f(void) { int n = 0; for (double x = 0; x < m; x += 0.5) n++; return n; }",
    "its address is known elsewhere": "void g(double *); int f(void) { double x = 0; int n = 0; g(&x); for (; x < 1; x += 0.5) n++; return n; }",
    "volatile": "int f(void) { int n = 0; for (volatile double x = 0; x < 1; x += 0.5) n++; return n; }",
    "long double": "int f(void) { int n = 0; for (long double x = 0; x < 1; x += 0.1L) n++; return n; }",
    "changed now and then": "int f(int k) { int n = 0; double x = 0; while (x < 1) { if (k % 2) x += 0.5; k++; n++; } return n; }",
    "changed twice": "int f(int k) { int n = 0; double x = 0; while (x < 1) { x += 0.5; if (k) x = 0; n++; } return n; }",
    "changed in an inner loop": "int f(int k) { int n = 0; double x = 0; while (x < 1) for (int i = 0; i < k; i++) { x += 0.5; n++; } return n; }",
    "one of two starts is unknown": "int f(int k, double d) { int n = 0; double x = 0; if (k) x = d; for (; x < 1; x += 0.5) n++; return n; }",
    "no new start in the outer loop": "int f(int k) { int n = 0; double x = 0; for (int i = 0; i < k; i++) { for (; x < 1; x += 0.5) n++; x = x - i; } return n; }",
    "compared with what changes": "int f(void) { int n = 0; double y = 1; for (double x = 0; x < y; x += 0.5) { y = y * 1.5; n++; } return n; }",
    "compared now and then": "int f(int k) { int n = 0; double x = 0; while (1) { x += 0.5; if (k++ % 3 && x > 5) break; n++; } return n; }",
    "its step vanishes": "int f(void) { int n = 0; for (double x = 0; x < 1; x += 1e-320 * 0) n++; return n; }",
    "its step is lost": "int f(void) { int n = 0; for (float x = 1; x < 2; x += 1e-20f) n++; return n; }",
    "its step is lost far out": "int f(void) { int n = 0; for (float x = 0; x < 16777217.5f; x += 1) n++; return n; }",
    "stuck at infinity": "int f(void) { int n = 0; for (double x = 1; x != -1; x *= 2) n++; return n; }",
    "back and forth": "int f(void) { int n = 0; for (double x = 1; x != 2; x = -x) n++; return n; }",
    "never a number": "int f(void) { int n = 0; for (double x = 0; !(x > 5); x = x - 1e300 * 1e300 + 1e300 * 1e300) n++; return n; }",
    "the direction of rounding changes": "int fesetround(int); int f(void) { int n = 0; fesetround(1024); for (float x = 0; x < 10; x += 0.1f) n++; return n; }",
    "rounding is changed by assembly": 'int f(unsigned m) { int n = 0; __asm__ volatile("ldmxcsr %0" :: "m"(m)); for (float x = 0; x < 9; x += 0.1f) n++; return n; }',
    "a fused operation": "int f(void) { int n = 0; for (double x = 1; x < 1e6; x = x * 1.1 + 0.1) n++; return n; }",
}
"""Programs whose floating counter has no count."""


def loops_of(folder: Path, text: str, **options: object) -> Mapping[str, Mapping[int, Counted]]:
    """What is known of the loops of each function, by the columns at which they stand."""
    file = folder / "a.c"
    file.write_text(text)
    return {
        function.name: {int(re.sub(r".*:", "", name)): counted for name, counted in inductions_of(function).items()}
        for function in load([file], **options).functions
    }


def floating(counted: Mapping[int, Counted]) -> list[Counted]:
    return [one for one in counted.values() if any(bound.method == NAME for bound in one.bounds)]


def number(term: Term | None) -> int:
    assert isinstance(term, Const), term
    return term.value


def ran(text: str, *arguments: int) -> int:
    """What ``f`` returns in a native run."""
    with NativeOracle(text) as native:
        run = native.run("f", arguments)
    assert run.status == "ok" and run.return_value is not None, run
    return run.return_value


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """All functions of the tables in one program: what is known of their loops, and native runs."""
    bodies = [*EXACT.values(), *(body for body, _ in INNER.values())]
    text = PREFIX + "\n".join(f"int f{index}(int k) {{ {body} }}" for index, body in enumerate(bodies))
    with NativeOracle(text) as native:
        yield loops_of(tmp_path_factory.mktemp("floats"), text), native


@pytest.mark.parametrize("name", EXACT)
def test_counts_are_those_of_the_machine(table, name):
    known, native = table
    function = f"f{list(EXACT).index(name)}"
    run = native.run(function, [1])
    assert run.status == "ok"
    found = floating(known[function])
    assert len(found) == 1, known[function]
    assert number(found[0].exact) == run.return_value
    assert found[0].method == NAME
    for bounds in (found[0].bounds, found[0].any_entry, found[0].total):
        assert min(number(bound.term) for bound in bounds) == run.return_value


@pytest.mark.parametrize("name", INNER)
def test_inner_loops_count_each_time_they_are_entered(table, name):
    known, native = table
    _, entries = INNER[name]
    function = f"f{len(EXACT) + list(INNER).index(name)}"
    total = native.run(function, [1]).return_value
    column, inner = max(known[function].items())
    assert column > min(known[function])
    assert number(inner.exact) * entries == total
    assert number(inner.any_entry[0].term) * entries == total
    assert min(number(bound.term) for bound in inner.total) == total


@pytest.mark.parametrize("name", WITHOUT)
def test_what_is_not_known_has_no_count(tmp_path, name):
    assert not any(floating(found) for found in loops_of(tmp_path, WITHOUT[name]).values())


def test_another_way_out_leaves_a_bound(tmp_path):
    text = "int f(int k) { int n = 0; for (float x = 0; x < 4; x += 0.1f) { if (k == n) break; n++; } return n; }"
    (found,) = floating(loops_of(tmp_path, text)["f"])
    assert found.exact is None or not isinstance(found.exact, Const)
    assert number(next(bound.term for bound in found.bounds if bound.method == NAME)) == ran(text, -1)
    assert ran(text, 3) == 3


def test_of_two_starts_the_longer_way_is_a_bound(tmp_path):
    text = "int f(int k) { int n = 0; float x = 0; if (k) x = 1; for (; x < 4; x += 0.1f) n++; return n; }"
    (found,) = floating(loops_of(tmp_path, text)["f"])
    assert found.exact is None
    assert number(found.bounds[0].term) == ran(text, 0) > ran(text, 1)


def test_a_jump_into_the_loop_leaves_no_count(tmp_path):
    text = "int f(int k) { int n = 0; double x = 0; if (k) { x = -100; goto in; } while (x < 1) { n++; in: x += 0.5; } return n; }"
    assert not floating(loops_of(tmp_path, text)["f"])


def test_a_loop_in_a_cycle_with_two_entries_has_no_count_of_a_call(tmp_path):
    text = """int f(int k) { int n = 0; if (k > 5) goto b;
        a: for (double x = 0; x < 1; x += 0.1) n++;
        b: if (k-- > 0) goto a; else if (k == -7) goto b; return n; }"""
    for found in floating(loops_of(tmp_path, text)["f"]):
        assert all(not isinstance(bound.term, Const) or bound.method != NAME for bound in found.total)


FLAGS = {
    "a faster arithmetic": ["-ffast-math"],
    "no numbers below the least": ["-fdenormal-fp-math=preserve-sign"],
    "operations may be fused": ["-ffp-contract=fast"],
    "the environment may change": ["-frounding-math"],
}


@pytest.mark.parametrize("name", FLAGS)
def test_other_arithmetic_is_not_counted(tmp_path, name):
    text = "int f(void) { int n = 0; for (double x = 1; x < 50; x = x * 1.1) n++; return n; }"
    assert floating(loops_of(tmp_path, text)["f"])
    assert not floating(loops_of(tmp_path, text, flags=tuple(FLAGS[name]))["f"])


def test_processors_that_compute_in_wider_types_are_not_counted(tmp_path):
    text = "int f(void) { int n = 0; for (double x = 0; x < 50; x += 0.1) n++; return n; }"
    assert floating(loops_of(tmp_path, text, data_model="ILP32")["f"])
    assert not floating(loops_of(tmp_path, text, data_model="ILP32", flags=("-mno-sse2",))["f"])


PHI = """define i32 @f() {
entry:
  br label %head
head:
  %x = phi float [ 0.000000e+00, %entry ], [ %y, %body ]
  %n = phi i32 [ 0, %entry ], [ %m, %body ]
  %c = fcmp FLAGS olt float %x, 5.000000e+00
  br i1 %c, label %body, label %end
body:
  %y = fadd FLAGS float %x, 0x3FB99999A0000000
  %m = add i32 %n, 1
  br label %head
end:
  ret i32 %n
}
"""


def test_phis_are_counters(tmp_path):
    plain = PHI.replace("FLAGS ", "")
    (tmp_path / "a.ll").write_text(plain)
    (function,) = load([tmp_path / "a.ll"]).functions
    (found,) = inductions_of(function).values()
    assert number(found.exact) == ran("int f(void) { int n = 0; for (float x = 0; x < 5; x += 0.1f) n++; return n; }")
    (tmp_path / "a.ll").write_text(PHI.replace("FLAGS", "nnan"))
    (function,) = load([tmp_path / "a.ll"]).functions
    assert not floating(dict(enumerate(inductions_of(function).values())))


def test_nothing_is_stepped_through_where_that_is_forbidden(tmp_path):
    (tmp_path / "a.c").write_text("int f(void) { int n = 0; for (float x = 0; x < 9; x += 0.1f) n++; return n; }")
    (function,) = load([tmp_path / "a.c"]).functions
    with no_stepping():
        assert not floating(dict(enumerate(inductions_of(function).values())))


def one_by_one(start: float, add, limit: float, most: int) -> int | None:
    value = start
    for count in range(most):
        if not value < limit:
            return count
        value = add(value)
    return None


@pytest.mark.parametrize("digits", [24, 53])
def test_steps_taken_together_are_steps_taken_one_by_one(digits):
    chosen = random.Random(digits)
    rounds = rounded if digits == 24 else float
    compared = 0
    for _ in range(300):
        exponent = chosen.randint(-6, 6)
        unit = math.ldexp(1.0, exponent - digits)
        start = rounds(math.ldexp(chosen.choice([0.5, 0.75, 1.0, 1.25]), exponent) + chosen.randint(-90, 90) * unit)
        step = rounds(chosen.choice([0.5, 1.0, 1.5, 2.5, 3.0, chosen.uniform(0.4, 9)]) * unit)
        limit = rounds(start + chosen.randint(1, 9000) * step)
        one = one_by_one(start, lambda x, step=step: rounds(x + step), limit, 40_000)
        run = FloatingExit(
            lambda x, step=step: rounds(x + step),
            lambda now, _later, limit=limit: now < limit,
            lambda now, _later, limit=limit: (now > limit) - (now < limit),
            digits,
        )
        if one is not None:
            assert completed(run, start) == one, (start, step, limit)
            compared += one > 100
    assert compared > 100


def test_billions_of_iterations_are_counted_without_stepping_through_them(tmp_path, monkeypatch):
    text = "int f(void) { for (double x = 0; x < 3e9; x += 0.5) ; return 0; }"
    monkeypatch.setattr(sys.modules["loopless.bounds.induction.floating.runs"], "MAX_FLOATING_STEPS", 2000)
    (found,) = floating(loops_of(tmp_path, text)["f"])
    assert number(found.exact) == 6 * 10**9  # halves are exact
    assert number(found.exact) > MAX_FLOATING_STEPS


def test_bound_tells_the_count(tmp_path):
    text = "int f(void) { int n = 0; for (float x = 0.0f; x < 10; x += 0.1f) { n ^= 1; } return n; }"
    (tmp_path / "a.c").write_text(text)
    counting = text.replace("n ^= 1;", "n++;")
    true = ran(counting)
    command = [sys.executable, "-m", "loopless", "bound", str(tmp_path / "a.c"), "--format", "json"]
    done = subprocess.run(command, capture_output=True, check=True)
    (loop,) = json.loads(done.stdout)["loops"]
    assert (loop["per_entry"]["exact"], loop["per_entry"]["method"]) == (True, NAME)
    for found in (loop["upper"], loop["per_entry"]["upper"], loop["per_entry"]["lower"], loop["per_entry"]["any"]):
        assert found["text"] == str(true)

"""Batches of native runs in which many do not end."""

from __future__ import annotations

import pytest

from loopless.check.oracle.native import NativeHost, NativeLimits, NativeOracle, NativeRun
from loopless.check.oracle.runtime import SOURCE
from loopless.source.compile import SourceOptions, compile_ir
from loopless.source.folding import has_choices


def test_many_endless_runs_are_answered_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for one answer longer than one run may take, however many runs there are."""
    with (
        NativeHost() as host,
        NativeOracle("int f(int x) { while (x); return x; }", host=host, limits=NativeLimits(seconds=0.25)) as oracle,
    ):
        assert oracle.run("f", [0]).return_value == 0
        receive = host._receive
        monkeypatch.setattr(host, "_receive", lambda seconds: receive(min(seconds, 1.5)))
        found = oracle.run_many("f", [NativeRun([x]) for x in (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0)])
    assert [outcome.status for outcome in found] == ["timeout"] * 10 + ["ok"]


def test_thousands_of_runs_are_cheap() -> None:
    program = "int f(int x, int n) { int s = 0; while (x < n) { x += 3; s++; } return s; }"
    with NativeHost() as host, NativeOracle(program, host=host) as oracle:
        found = oracle.run_many("f", [NativeRun([x, 100]) for x in range(-2000, 2000)])
    assert [outcome.return_value for outcome in found] == [max(0, -((x - 100) // 3)) for x in range(-2000, 2000)]


def test_what_is_linked_with_programs_is_compiled_once() -> None:
    """Where there are choices, clang is asked again, for what it folds in them."""
    assert not has_choices(compile_ir(SOURCE, SourceOptions()))


def test_what_leaves_memory_that_is_given_does_not_hit_other_memory() -> None:
    """Neither that of other arguments nor what the process has near."""
    away = [*range(8192, 120_000, 4096), *range(-120_000, -8192, 4096)]
    with NativeOracle("char f(const char *a, const char *b, int i) { return b[0] + a[i]; }") as oracle:
        inside, *found = oracle.run_many("f", [NativeRun([bytes(5000), bytes(5000), i]) for i in (4999, *away)])
    assert inside.status == "ok"
    assert {outcome.status for outcome in found} <= {"undefined", "crashed"}

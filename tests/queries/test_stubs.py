"""Answers that rest on stubs: what they gain, what they list, and that they are those of the real functions."""

from __future__ import annotations

from pathlib import Path

import pytest

import loopless
from loopless.check.oracle.native import NativeOracle
from loopless.queries.evaluation import calls
from loopless.source import SourceOptions

PROGRAM = """
extern int clamp(int); extern int byte(int); extern int look(const int *); extern void put(char *, int);
int shared;
int down(int n) { int i = 0; while (n > 0) { n -= clamp(n); i++; } return i; }
int step(int n) { int i = 0, k = 0; while (i < n) { i += byte(i) + 2; k++; } return k; }
int kept(int n) { int i = 0; shared = n; while (i < shared) { char b[4]; put(b, i); if (byte(i) > 2) i += 7; i++; } return i; }
int seen(int n) { int i = 0; while (i < n) { look(&i); i++; } return i; }
int plain(int n) { int i = 0; while (i < n) i++; return i; }
int around(int n) { int s = 0; for (int i = 0; i < 3; i++) s += down(n + i); return s; }
"""
STUBS = """
int clamp(int x) { return x > 10 ? 10 : 1; }
int byte(int) loopless_only_arguments loopless_returns(-1, 2);
int look(const int *) __attribute__((pure));
void put(char *p, int n) __attribute__((access(write_only, 1)));
"""
REAL = "int clamp(int x) { int step = 1; if (x > 10) step = 10; return step; }"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    program, stubs = tmp_path / "p.c", tmp_path / "stubs.c"
    program.write_text(PROGRAM, encoding="utf-8")
    stubs.write_text(STUBS, encoding="utf-8")
    return program, stubs


@pytest.mark.slow
def test_what_is_gained_and_listed(files: tuple[Path, Path]) -> None:
    program, stubs = files
    without, told = loopless.load(program), loopless.load(program, stubs=[stubs])
    for name, line in (("kept", 3), ("down", 2)):
        assert str(without[name].loops[0].summarize()) != str(told[name].loops[0].summarize())
        summary = told[name].loops[0].summarize()
        assert summary.exact and summary.complete
        assert any(text.endswith(f"{stubs}:{line}") for text in summary.assumptions)
    assert f"look is as declared in {stubs}:4" in told["seen"].loops[0].summarize().assumptions
    assert told["seen"].loops[0].summarize()(i=0, n=5)["i"] == 5
    summary = told["kept"].loops[0].summarize()
    assert f"byte is as declared in {stubs}:3" in summary.assumptions
    assert f"put is as declared in {stubs}:5" in summary.assumptions
    assert not any(str(stubs) in text for text in told["plain"].loops[0].summarize().assumptions)
    assert f"clamp is as defined in {stubs}:2" in told["around"].bound().assumptions
    assert all(loop.file == str(program) for loop in told.loops)


def test_bounds_by_the_range_of_a_result(files: tuple[Path, Path]) -> None:
    """Each iteration adds 1 to 4: so of n there are n at most, and a quarter of them at least."""
    program, stubs = files
    found = loopless.load(program, stubs=[stubs])["step"].bound()
    assert "at most max(0, n) iterations" in str(found) and "at least max(0, ceil_div(n, 4))" in str(found)
    assert f"byte is as declared in {stubs}:3" in found.assumptions


def test_a_body_is_the_real_function(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program, stubs = files
    real = tmp_path / "real.c"
    real.write_text(REAL, encoding="utf-8")
    monkeypatch.setattr(calls, "QUICK_STEPS", 0)  # by the summary, however short the call
    told = loopless.load(program, stubs=[stubs])["down"]
    cases = [-3, 0, 1, 9, 10, 11, 12, 99, 100, 12345]
    with NativeOracle([program, real]) as linked:
        expected = [linked.run("down", [n]).return_value for n in cases]
    with NativeOracle([program], options=SourceOptions(stubs=(stubs,))) as stubbed:
        assert [stubbed.run("down", [n]).return_value for n in cases] == expected
    for n, value in zip(cases, expected, strict=True):
        found = told.evaluate(n)
        assert (found.value, found.by) == (value, "summary")
        assert found.assumptions == (f"clamp is as defined in {stubs}:2",)

"""How the time for costly searches is shared, and that what induction variables say does not depend on it."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from loopless.bounds.induction.counts import NAME
from loopless.limits.queries import FEW_LOOPS, HURRIED_S, HURRIED_SEARCHES_S, LEAST_FOR_BOUNDS_S, SETTLED_S
from loopless.queries.bounds import answering as bounds
from loopless.queries.bounds import function_search
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.bounds.answers import LoopIterations
from loopless.queries.jobs import sandbox
from loopless.queries.jobs.effort import effort_for, inductions_of
from loopless.queries.program import AnalyzedProgram, load
from loopless.queries.settings import Settings
from loopless.refusals import Reason
from loopless.terms import TRUE, Var, evaluate

COUNTED = "int f{at}(unsigned char i, unsigned char n) {{ while (i < n) i++; return i; }}\n"
OPEN = """int g(int x, int y, int z) {
    while (x > 0 && y != z) { if (x & 1) { x = x + y; z ^= x; } else { x = x / 2 - z; y = y * 3 + x; } }
    return x;
}
"""


def program(tmp_path, loops: int, settings: Settings, more: str = "") -> AnalyzedProgram:
    file = tmp_path / "a.c"
    file.write_text("".join(COUNTED.format(at=at) for at in range(loops)) + more)
    return load([file], settings)


def test_few_loops_have_the_whole_time(tmp_path) -> None:
    settings = Settings(loop_timeout_s=10.0)
    found = effort_for(program(tmp_path, FEW_LOOPS, settings).functions, settings)
    assert found.settings.loop_timeout_s == 10.0
    assert not found.settings.shared
    assert found.settled.loop_timeout_s == SETTLED_S
    assert found.settled.shared
    assert not found.hurried


def test_many_loops_share_the_time(tmp_path) -> None:
    settings = Settings(loop_timeout_s=10.0)
    twice = effort_for(program(tmp_path, 2 * FEW_LOOPS, settings).functions, settings)
    assert twice.settings.loop_timeout_s == pytest.approx(10.0 / 4)
    assert twice.settings.shared
    assert twice.settled.loop_timeout_s == SETTLED_S
    assert not twice.hurried
    many = effort_for(program(tmp_path, 4 * FEW_LOOPS, settings).functions, settings)
    assert many.settings.loop_timeout_s == pytest.approx(10.0 / 16)
    assert many.settled.loop_timeout_s == pytest.approx(10.0 / 16)
    assert many.hurried
    assert HURRIED_S > 10.0 / 16 > LEAST_FOR_BOUNDS_S
    most = effort_for(program(tmp_path, 20 * FEW_LOOPS, settings).functions, settings)
    assert most.settings.loop_timeout_s == LEAST_FOR_BOUNDS_S


def test_in_a_hurry_all_searches_together_have_their_time(tmp_path) -> None:
    """As many as fit into it with the least time for each, the smallest functions first."""
    settings = Settings(loop_timeout_s=10.0)
    more = OPEN + "".join(OPEN.replace("g(", f"g{at}(") for at in range(9))
    functions = program(tmp_path, 20 * FEW_LOOPS, settings, more).functions
    effort = effort_for(functions, settings)
    assert effort.settings.loop_timeout_s == LEAST_FOR_BOUNDS_S
    found = effort.searched(functions, [inductions_of(function) for function in functions])
    assert len(found) * LEAST_FOR_BOUNDS_S == pytest.approx(HURRIED_SEARCHES_S)
    assert all(function.name.startswith("g") for function in found)


def test_copies_of_inlined_functions_take_no_share(tmp_path) -> None:
    file = tmp_path / "a.c"
    calls = " ".join("s += h(n);" for _ in range(4 * FEW_LOOPS))
    file.write_text(
        "static inline int h(int n) { int i = 0; while (i < n) i++; return i; }\n"
        f"int f(int n) {{ int s = 0; {calls} return s; }}\n"
    )
    settings = Settings(loop_timeout_s=10.0)
    found = effort_for(load([file], settings).functions, settings)
    assert found.settings.loop_timeout_s == 10.0


def test_a_short_limit_is_not_made_longer(tmp_path) -> None:
    settings = Settings(loop_timeout_s=0.05)
    found = effort_for(program(tmp_path, 10 * FEW_LOOPS, settings).functions, settings)
    assert found.settings.loop_timeout_s == 0.05
    assert found.settled.loop_timeout_s == 0.05


@pytest.mark.parametrize("settings", [Settings(thorough=True), Settings(loop_timeout_s=None)])
def test_thorough_requests_and_those_without_a_limit_share_nothing(tmp_path, settings: Settings) -> None:
    found = effort_for(program(tmp_path, 10 * FEW_LOOPS, settings).functions, settings)
    assert (found.settings, found.settled, found.hurried) == (settings, settings, False)


def counted_as_due(found: LoopIterations) -> None:
    """From i to n."""
    assert found.entry.exact
    assert found.entry.when is TRUE
    assert found.entry.upper is not None

    def given(i: int, n: int) -> dict[Var, int]:
        return {var: {"i": i, "n": n}[var.name.rstrip("0123456789#")] for var in found.entry.upper.variables}  # type: ignore[union-attr]

    assert [evaluate(found.entry.upper, given(*row)) for row in ((3, 10), (10, 3), (0, 255))] == [7, 0, 255]


def test_hurried_requests_have_the_counts_of_induction_variables(tmp_path, monkeypatch) -> None:
    asked: list[str] = []
    plain = bounds.answer_all

    def noted(loops, *rest):
        asked.extend(loop.name for loop in loops)
        return plain(loops, *rest)

    monkeypatch.setattr(bounds, "answer_all", noted)
    settings = Settings(workers=1, loop_timeout_s=2.0)
    p = program(tmp_path, 4 * FEW_LOOPS, settings, OPEN)
    assert effort_for(p.functions, settings).hurried
    found = answer_bounds(p.functions, "all", settings)
    loops = [loop for function in found for loop in function.counts]
    assert len(loops) == 4 * FEW_LOOPS + 1
    for loop in loops[:-1]:
        counted_as_due(loop)
        assert loop.entry.method == NAME
        assert loop.call.upper is not None
    assert asked == []


def test_what_is_counted_already_is_summarized_where_there_is_time(tmp_path, monkeypatch) -> None:
    times: dict[str, float | None] = {}
    plain = bounds.answer_all

    def noted(loops, question, settings, until):
        times.update({loop.name: settings.loop_timeout_s for loop in loops})
        return plain(loops, question, settings, until)

    monkeypatch.setattr(bounds, "answer_all", noted)
    settings = Settings(workers=1, loop_timeout_s=5.0)
    p = program(tmp_path, 1, settings, "int h(unsigned x) { while (x != 7) x += x & 3; return x; }\n")
    answer_bounds(p.functions, "all", settings)
    assert {name.split(":")[-3]: limit for name, limit in times.items()} == {"f0": SETTLED_S, "h": 5.0}


def _for_ever(*_: object) -> None:
    time.sleep(60)


@pytest.mark.parametrize("more", ["", "if (x * y % 7 == z) break; z += x; x = x * 3 + y; "])
@pytest.mark.slow
def test_a_loop_whose_search_meets_a_limit_keeps_its_quick_bound(tmp_path, monkeypatch, more: str) -> None:
    monkeypatch.setattr(function_search, "bounds_of", _for_ever)
    # What is put in its place here is there in children that are forked only.
    monkeypatch.setattr(sandbox, "_may_fork", lambda: True)
    file = tmp_path / "a.c"
    file.write_text(
        "unsigned f(unsigned x, unsigned y, unsigned z, unsigned char i, unsigned char n) {"
        f" while (i < n) {{ {more}i++; }} return x; }}"
    )
    p = load([file], Settings(workers=1, loop_timeout_s=1.0))
    (found,) = answer_bounds(p.functions, "all", p.settings)
    assert found.refused is not None
    assert found.refused.reason is Reason.TIME_LIMIT
    (loop,) = found.counts
    assert loop.entry.exact == (not more)
    for claim in (loop.entry, loop.call):
        assert claim.upper is not None
        given = {var: {"i": 3, "n": 10}[var.name] for var in claim.upper.variables}
        assert evaluate(claim.upper, given) == 7


def test_a_function_that_cannot_be_walked_has_no_counts(tmp_path, monkeypatch) -> None:
    p = program(tmp_path, 1, Settings())
    (function,) = p.functions
    assert list(inductions_of(function)) == [loop.name for loop in function.loops]

    def broken(_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("loopless.bounds.induction.counts.induction_counts", broken)
    assert inductions_of(function) == {}


def test_a_read_truth_value_may_be_undefined(tmp_path) -> None:
    """A byte that is neither 0 nor 1: the run ends there, after fewer iterations."""
    file = tmp_path / "a.c"
    file.write_text(
        "_Bool s[4];\n"
        "int f(unsigned char n) { int c = 0; for (unsigned char i = 0; i < n; i++) if (s[i & 3]) n--; return c; }\n"
        "int g(unsigned char n) { unsigned c = 0; for (unsigned char i = 0; i < n; i++) if (s[i & 3]) c++; return c; }\n"
    )
    p = load([file], replace(Settings(), workers=1))
    for found in answer_bounds(p.functions, "all", p.settings):
        (loop,) = found.counts
        assert loop.entry.may_be_fewer
        assert loop.call.may_be_fewer

"""The clock of work: it counts what processes do, not how long that takes by the wall."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest
import z3  # type: ignore[import-untyped]

from loopless import clock, metering

WORKS = "x = 0\nwhile True: x += 1"
SLEEPS = "import time; time.sleep(60)"


def works(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_sleeping_is_no_work() -> None:
    before = clock.now()
    time.sleep(0.3)
    asleep = clock.now() - before
    works(0.3)
    assert asleep < 0.1
    assert clock.now() - before >= 0.3


def test_what_others_do_counts_where_it_is_said() -> None:
    before = clock.now()
    heard: list[float] = []
    clock.listen(listener := lambda: heard.append(clock.now()))
    clock.others(5.0)
    clock.forget(listener)
    clock.others(5.0)
    assert 10.0 <= clock.now() - before < 11.0
    assert len(heard) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_goes_on_with_the_clock() -> None:
    clock.others(100.0)
    before = clock.now()
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(sink, str(clock.now() - before).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert 0 <= float(os.read(source, 100)) < 1.0


@pytest.mark.parametrize(("code", "over"), [(WORKS, "work"), (SLEEPS, "wall")], ids=["works", "sleeps"])
@pytest.mark.slow
def test_a_process_is_watched(code: str, over: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its work ends it, or the fence; waiting for a processor is neither."""
    monkeypatch.setattr(clock, "GRACE_S", 1.0)
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        watch = clock.Watch(process.pid)
        assert watch.over(1.0) is None
        started, found = time.monotonic(), None
        while found is None and time.monotonic() < started + 120:
            time.sleep(0.05)
            found = watch.over(1.0)
        worked = watch.worked
        process.kill()
    assert found == over
    assert worked >= 1.0 if over == "work" else worked < 1.0


def hard(context: z3.Context) -> z3.Solver:
    x, y, z = z3.Ints("x y z", context)
    solver = z3.SimpleSolver(ctx=context)
    bounds = [c for v in (x, y, z) for c in (v > -100_000, v < 100_000)]
    solver.add(x * x * x + y * y * y + z * z * z == 33, *bounds)
    return solver


def test_a_question_to_z3_ends_by_its_steps_alike_each_time() -> None:
    """The same steps count the same, and a limit lies at the same place."""
    counted = []
    for _ in range(2):
        solver = hard(z3.Context())
        metering.limit(solver, 100)
        before = clock.counted()
        assert metering.check(solver) == z3.unknown
        counted.append(round(clock.counted() - before, 9))
    assert counted[0] == counted[1]
    assert 0.1 <= counted[0] < 0.2

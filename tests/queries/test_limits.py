"""Work under limits: what overruns is ended and named, everything else is answered."""

from __future__ import annotations

import errno
import functools
import json
import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hard_cases import run_hard_query, run_hard_subtraction
from loopless import clock
from loopless.errors import LimitError, UsageError
from loopless.queries.jobs import sandbox as limits_module
from loopless.queries.jobs.overrun import Overrun
from loopless.queries.jobs.running import run_all
from loopless.queries.jobs.sandbox import Limits, Pool, note
from loopless.refusals import Reason


def quick(value):
    return value * value


def process():
    return os.getpid()


def hungry(megabytes):
    kept = [bytearray(1 << 20) for _ in range(megabytes)]
    for block in kept:
        block[:] = b"x" * len(block)
    time.sleep(5)
    return len(kept)


def dying():
    os.kill(os.getpid(), 9)


def buggy():
    raise ZeroDivisionError("made to fail")


def misused():
    raise UsageError("there is no such thing")


def exhausted():
    raise LimitError("the budget is used up")


def unpicklable():
    return lambda: None


def talkative():
    os.write(1, b"noise")
    print("more noise")  # noqa: T201
    return 1


@pytest.fixture(params=["fork", "forkserver", "spawn"])
def method(request, monkeypatch):
    if request.param == "fork" and len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208
        pytest.skip("this process has several threads")
    monkeypatch.setattr(limits_module, "_may_fork", lambda: request.param == "fork")
    if request.param == "spawn":
        spawning = multiprocessing.get_context("spawn"), os.getpid()
        monkeypatch.setattr(limits_module, "context_of", lambda *, fork: spawning)
    context, _ = limits_module.context_of(fork=request.param == "fork")
    assert context.get_start_method() == request.param
    return request.param


@pytest.mark.parametrize("hard", [run_hard_subtraction, run_hard_query], ids=["isl", "z3"])
def test_a_call_of_an_engine_that_does_not_return_is_ended_and_the_rest_is_answered(hard, method):
    started = time.monotonic()
    jobs = [functools.partial(quick, 3), hard, functools.partial(quick, 4)]
    first, blocked, last = run_all(jobs, Limits(time_s=1.5), 1)
    assert (first, last) == (9, 16)
    assert isinstance(blocked, Overrun)
    assert blocked.reason is Reason.TIME_LIMIT
    assert "1.5 s" in blocked.detail
    assert "--loop-timeout" in blocked.detail
    assert 1.5 <= blocked.seconds < 10
    assert time.monotonic() - started < 240  # however busy the machine is


def test_results_come_in_the_order_of_the_jobs(method):
    jobs = [functools.partial(quick, n) for n in range(20)]
    assert run_all(jobs, Limits(), 3) == [n * n for n in range(20)]
    assert run_all([], Limits(), 3) == []


def test_memory_is_bounded(method):
    greedy, modest = run_all([functools.partial(hungry, 400), functools.partial(quick, 2)], Limits(20, 100), 1)
    assert modest == 4
    assert isinstance(greedy, Overrun)
    assert greedy.reason is Reason.MEMORY_LIMIT
    assert "100 MB" in greedy.detail or "--loop-memory" in greedy.detail


def test_what_is_shared_with_the_parent_is_not_counted(monkeypatch):
    """Some systems count a page that a child shares with its parent as the child's once it has read it, not before."""
    counted, seen = limits_module._resident, []

    def late(process):
        if process == os.getpid():
            return counted(process)
        seen.append(process)
        return 0 if len(seen) == 1 else counted(os.getpid()) + (1 << 20)

    monkeypatch.setattr(limits_module, "_may_fork", lambda: True)
    monkeypatch.setattr(limits_module, "_resident", late)
    assert run_all([functools.partial(time.sleep, 0.3)], Limits(10, 16)) == [None]
    assert len(seen) > 2


def test_a_child_that_is_not_ready_yet_is_not_over_its_memory(monkeypatch):
    """Where its parent has much memory, and the machine is busy."""
    settle = limits_module._settle

    def slowly(*args):
        time.sleep(0.4)
        settle(*args)

    kept = b"x" * (48 << 20)
    monkeypatch.setattr(limits_module, "_may_fork", lambda: True)
    monkeypatch.setattr(limits_module, "_settle", slowly)
    assert run_all([functools.partial(quick, 3)], Limits(10, 16)) == [9]
    assert len(kept) > 0


def starved(kind):
    if kind == "memory":
        raise MemoryError
    if kind == "system":
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
    raise ValueError("no model") from RuntimeError("b'out of memory'")


@pytest.mark.parametrize("kind", ["memory", "system", "a library"])
def test_what_fails_for_want_of_memory_says_so(kind, method):
    starving, fine = run_all([functools.partial(starved, kind), functools.partial(quick, 2)], Limits(), 1)
    assert fine == 4
    assert isinstance(starving, Overrun)
    assert starving.reason is Reason.MEMORY_LIMIT
    assert "--loop-memory" in starving.detail


def test_libraries_can_be_loaded_under_the_least_limit_of_memory():
    """Or the limit is named: that one does not load is no failure of its own. Here Z3 is asked, by a child first."""
    file = Path(__file__).parents[2] / "examples" / "cases" / "pointer_step.c"
    command = (sys.executable, "-m", "loopless", "summarize", file, "--loop-memory", "16", "--format", "json")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    reasons = {loop["refused"]["code"] for loop in json.loads(done.stdout)["loops"] if loop["refused"] is not None}
    assert reasons <= {Reason.MEMORY_LIMIT.code}


def test_a_process_that_dies_is_replaced(method):
    dead, alive = run_all([dying, functools.partial(quick, 5)], Limits(), 1)
    assert alive == 25
    assert isinstance(dead, Overrun)
    assert dead.reason is Reason.ENGINE_FAILED
    assert "signal 9" in dead.detail


def test_an_unexpected_exception_is_a_failure_of_its_job_alone(method):
    failed, budget, strange, fine = run_all([buggy, exhausted, unpicklable, functools.partial(quick, 5)], Limits(), 1)
    assert fine == 25
    assert isinstance(failed, Overrun)
    assert failed.reason is Reason.ENGINE_FAILED
    assert "ZeroDivisionError: made to fail" in failed.detail
    assert "in buggy" in failed.traceback
    assert isinstance(budget, Overrun)
    assert (budget.reason, budget.detail) == (Reason.BUDGET, "the budget is used up")
    assert isinstance(strange, Overrun)
    assert strange.reason is Reason.ENGINE_FAILED


def test_an_error_on_purpose_ends_the_request(method):
    with pytest.raises(UsageError, match="no such thing"):
        run_all([misused], Limits(), 1)


@pytest.mark.slow
def test_the_deadline_ends_what_runs_and_what_has_not_begun(method):
    started = time.monotonic()
    jobs = [functools.partial(quick, 2), *[functools.partial(time.sleep, 30)] * 50]
    done, *late = run_all(jobs, Limits(None, None, deadline=clock.now() + 1), 2)
    assert done == 4
    assert all(isinstance(result, Overrun) and result.reason is Reason.TIME_LIMIT for result in late)
    assert "--timeout" in late[0].detail
    assert time.monotonic() - started < 15


@pytest.mark.slow
def test_workers_are_kept_unless_fresh_ones_are_asked_for(method):
    assert len(set(run_all([process] * 4, Limits(), 1))) == 1
    assert len(set(run_all([process] * 4, Limits(), 1, fresh=True))) == 4


def squared_by_a_server(monkeypatch):
    monkeypatch.setattr(limits_module, "_may_fork", lambda: False)
    return run_all([functools.partial(quick, 3)], Limits(), 1)


@pytest.mark.skipif(sys.platform != "linux", reason="there is a server on Linux only")
def test_a_fork_of_a_process_with_a_server_starts_its_own(monkeypatch):
    """It is no parent of the server that it knows, and could not wait for it."""
    assert squared_by_a_server(monkeypatch) == [9]
    child = os.fork()
    if child == 0:
        try:
            os._exit(squared_by_a_server(monkeypatch)[0])
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert squared_by_a_server(monkeypatch) == [9]


def test_jobs_run_at_the_same_time():
    # Asleep, not at work: so it holds on a busy machine too. One after the other they take 12 s.
    started = time.monotonic()
    assert run_all([functools.partial(time.sleep, 3)] * 4, Limits(), 4) == [None] * 4
    assert time.monotonic() - started < 11


def test_what_jobs_print_does_not_get_among_the_answers(method, capfd):
    assert run_all([talkative], Limits(), 1) == [1]
    assert capfd.readouterr().out == ""


@pytest.mark.slow
def test_a_pool_takes_arguments_and_goes_on_after_an_overrun(method):
    with Pool([quick, time.sleep], Limits(time_s=1)) as pool:
        assert pool.call(0, 7) == 49
        overrun = pool.call(1, 30)
        assert isinstance(overrun, Overrun)
        assert pool.call(0, 8) == 64


def notes_and_works(seconds: float) -> str:
    note("began", 30.0)
    note("halfway", 0.3)
    until = clock.now() + seconds
    while clock.now() < until:
        pass
    return "done"


def test_what_a_job_noted_is_there_when_it_overruns() -> None:
    limits = Limits(time_s=20.0)
    (late,) = run_all([functools.partial(notes_and_works, 20.0)], limits)
    assert isinstance(late, Overrun)
    assert late.noted == "halfway"
    assert late.seconds < 15
    assert run_all([functools.partial(notes_and_works, 0.0)], limits) == ["done"]


def test_a_process_does_a_number_of_jobs_only() -> None:
    with Pool([os.getpid], Limits(), most=2) as pool:
        found = [pool.call(0) for _ in range(6)]
    assert found[0] == found[1] != found[2] == found[3] != found[4] == found[5]


def sleeps(seconds: float) -> str:
    time.sleep(seconds)
    return "awake"


def test_seconds_of_the_processor_are_those_in_which_a_job_works() -> None:
    limits = Limits(0.4, None)
    with Pool([sleeps, spins], limits) as pool:
        pool.start(1, 0, 1.0)
        pool.start(2, 1)
        found = {}
        while pool.busy:
            found.update(pool.finished())
    assert found[1] == "awake"
    assert isinstance(found[2], Overrun)
    assert found[2].reason is Reason.TIME_LIMIT


def spins() -> None:
    while True:
        pass


SCRIPT = """
import functools, threading, time
from loopless.queries.jobs import running as jobs
from loopless.queries.jobs import sandbox as limits
{prelude}
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print("the program runs", flush=True)
(found,) = jobs.run_all([functools.partial(pow, 2, 10)], limits.Limits(30, 1000))
print(found)
{end}
"""
SPAWN = (
    "import multiprocessing, os\nlimits.context_of = lambda fork: (multiprocessing.get_context('spawn'), os.getpid())"
)


@pytest.mark.parametrize("prelude", ["", SPAWN], ids=["forkserver", "spawn"])
def test_a_script_with_threads_needs_no_guard_against_being_run_again(prelude, tmp_path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(prelude=prelude, end=""), encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=120)
    assert (done.stdout, done.returncode) == ("the program runs\n1024\n", 0), done.stderr


def test_children_of_a_process_with_threads_end_with_it(tmp_path) -> None:
    held = (
        "pool = limits.Pool([time.sleep], limits.Limits(60, 1000))\n"
        "pool.start(0, 0, 60)\n"
        "while not pool._busy[0].ready: list(pool.finished())\n"
        "print(pool._busy[0].process.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(prelude="", end=held), encoding="utf-8")
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        _, _, line = (parent.stdout.readline() for _ in range(3))
        child = Path(f"/proc/{int(line)}")
        assert child.exists()
        parent.kill()
    ended = time.monotonic() + 30
    while child.exists() and time.monotonic() < ended:
        time.sleep(0.05)
    assert not child.exists()

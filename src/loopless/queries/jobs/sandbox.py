"""Work under limits on time and memory, in child processes that are ended and replaced when they overrun.

Limits on time count the work of the child, in seconds of the processor; the wall is a fence behind them
(:mod:`loopless.clock`). Neither a call of isl nor one of Z3 can be interrupted from Python, so the only safe fence is a
process. On Linux the
children are forked from the one that has the program in memory: starting one takes some milliseconds, nothing is
copied, and modules that the parent has imported are there. Where forking is not safe they get the work by pickling: a
parent with several threads, as that of a notebook, starts one process with one thread and all modules, from which they
are forked; on other systems each is started anew. Answers are the same.
"""

from __future__ import annotations

import contextlib
import enum
import gc
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from loopless import clock
from loopless.deadline import OVER, TIMERS, no_deadline
from loopless.errors import LooplessError
from loopless.limits.foundation import GLANCE_S
from loopless.limits.queries import LIBRARIES_MB
from loopless.queries.jobs.overrun import Overrun, attempted
from loopless.queries.jobs.starting import context_of, let_server_end, without_program
from loopless.records import dataclass
from loopless.refusals import Reason
from loopless.terms.pickling import dumps

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

_T = TypeVar("_T")
_GLANCE_S: Final = GLANCE_S
"""How often the parent looks at the memory and the work of its children, in seconds. Rarely enough to cost nothing,
often enough that little is taken in between."""
_MEGABYTE: Final = 1 << 20
"""In bytes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one job may use: seconds of the processor, and megabytes beyond what its process had at its start; None is
    no limit.

    ``deadline`` (by :func:`loopless.clock.now`) ends all jobs; ``time_option`` and ``deadline_option`` are what users
    raise. ``shared``: the seconds are a share of what a loop has that is asked for alone.
    """

    time_s: float | None = 10.0
    memory_mb: int | None = 4096
    deadline: float | None = None
    time_option: str = "--loop-timeout"
    deadline_option: str = "--timeout"
    shared: bool = False


class Usual(enum.Enum):
    """That a job has the time which the limits give."""

    USUAL = enum.auto()


USUAL: Final = Usual.USUAL


class Pool(Generic[_T]):
    """Child processes that can call any of ``functions``. Use as a context manager, which ends them."""

    def __init__(
        self,
        functions: Sequence[Callable[..., _T]],
        limits: Limits,
        *,
        fresh: bool = False,
        most: int | None = None,
    ) -> None:
        """``fresh`` gives each job a process of its own, ``most`` each process that many jobs."""
        self.functions = functions
        self.limits = limits
        self._most = 1 if fresh else most
        self._idle: list[_Child] = []
        self._busy: list[_Child] = []
        left = max(0.0, limits.deadline - clock.now()) if limits.deadline is not None else 0.0
        self._fence_s = clock.fence(left)
        self._passed = 0.0
        """The seconds by the wall that all jobs took which have ended, waits for a processor left out."""

    def __enter__(self) -> Pool[_T]:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._busy:
            clock.others(child.read()[0])
        for child in (*self._idle, *self._busy):
            child.end()
        self._idle, self._busy = [], []

    @property
    def late(self) -> str:
        """Which limit the whole request has met, in words, or "": the deadline, by the work of this process and of
        those that are at work for it, or the fence behind it.
        """
        deadline = self.limits.deadline
        if deadline is None:
            return ""
        read = [child.read() for child in self._busy]
        if clock.now() + sum(worked for worked, _ in read) >= deadline:
            return _deadline_detail(self.limits)
        if self._passed + sum(passed for _, passed in read) >= self._fence_s:
            return f"{clock.CUT_BY_WALL}; {self.limits.deadline_option} raises the limit"
        return ""

    def not_begun(self) -> Overrun:
        """What is said of a job for which the deadline left no time."""
        return Overrun(Reason.TIME_LIMIT, self.late or _deadline_detail(self.limits))

    @property
    def busy(self) -> int:
        """How many jobs are being worked on."""
        return len(self._busy)

    def start(self, key: int, function: int, *args: Any, time_s: float | Usual | None = USUAL) -> None:
        """Let a free or new child call ``functions[function](*args)``; the result will come under ``key``.

        ``time_s``: another time for this job than that of the limits.
        """
        child = self._idle.pop() if self._idle else _Child(self.functions, self.limits)
        child.limits = self.limits if isinstance(time_s, Usual) else replace(self.limits, time_s=time_s)
        child.key = key
        self._busy.append(child)
        child.ask((function, args))

    @property
    def working_on(self) -> tuple[int, ...]:
        """The keys of the jobs that are being worked on."""
        return tuple(sorted(child.key for child in self._busy))

    def call(self, function: int, *args: Any) -> _T | Overrun:
        """The result of one call, waited for."""
        self.start(0, function, *args)
        while True:
            for _, result in self.finished():
                return result

    def finished(self) -> Iterator[tuple[int, _T | Overrun]]:
        """Wait a little; the jobs that have ended since, with their results."""
        from multiprocessing.connection import wait

        if not self._busy:
            return
        wait([child.connection for child in self._busy], _GLANCE_S)
        late = self.late
        for child in tuple(self._busy):
            answer = child.answer(late)
            if answer is None:
                continue
            self._busy.remove(child)
            clock.others(child.spent)
            clock.count(child.counted)
            self._passed += child.passed
            if isinstance(answer, Overrun) and child.ended:
                yield child.key, answer
                continue
            if self._most is not None and child.jobs >= self._most:
                child.end()
            else:
                self._idle.append(child)
            yield child.key, _result(answer)


def _result(answer: Any) -> Any:
    kind, value = answer
    if kind == "error":
        raise value
    return value


class _Child:
    """One child process and the job it is at."""

    def __init__(self, functions: Sequence[Callable[..., Any]], limits: Limits) -> None:
        fork = _may_fork()
        context, parent = context_of(fork=fork)
        self.connection, theirs = context.Pipe()
        self.limits = limits
        self.key = -1
        self.ready = False
        self.ended = False
        self.jobs = 0
        self.noted: Any = None
        self._request: Any = None
        self._watch: clock.Watch | None = None
        self._allowed: float | None = None
        self.counted = 0.0
        self.spent = self.passed = 0.0
        """How long the job worked before its limit was set last, in the end altogether; how long that took by the wall,
        waits for a processor left out."""
        # Some systems count what is shared with the parent only once the child has read it.
        self._shared = _resident(os.getpid()) if fork else 0
        self._base = self._peak = 0
        self.process: BaseProcess = context.Process(
            target=_serve, args=(theirs, functions, limits.memory_mb, parent), daemon=False
        )
        with _no_interruption(), without_program():
            self.process.start()
        theirs.close()

    def ask(self, request: Any) -> None:
        """Send a request as soon as the child is ready, from when on its work counts."""
        self._request, self.noted, self._watch = request, None, None
        self.spent = self.passed = self.counted = 0.0
        self.jobs += 1
        if self.ready:
            self._send()

    def _allow(self, seconds: float | None) -> None:
        """Count from now on; None: only to the deadline."""
        self._count()
        self._allowed, self._watch = seconds, clock.Watch(self._pid)

    def read(self) -> tuple[float, float]:
        """How long the job has worked, and how long that took."""
        worked, passed = self._watch.read() if self._watch is not None else (0.0, 0.0)
        return self.spent + worked, self.passed + passed

    def _count(self) -> None:
        (self.spent, self.passed), self._watch = self.read(), None

    @property
    def _pid(self) -> int:
        found = self.process.pid
        assert found is not None
        return found

    def _send(self) -> None:
        self._base = self._peak = max(self._memory(), self._shared)
        with contextlib.suppress(OSError):
            self.connection.send_bytes(dumps((clock.now(), *self._request)))
        self._allow(self.limits.time_s)

    def answer(self, late: str) -> Any:
        """``(kind, value)``, or the :class:`Overrun` that ended the child, or None where it is still at work.

        ``late``: which limit the whole request has met, if any.
        """
        while self.connection.poll():
            try:
                kind, value = pickle.loads(self.connection.recv_bytes())  # noqa: S301  # from our own child
            except (EOFError, OSError):
                return self._died()
            if kind == "ready":
                self.ready = True
                self._send()
                continue
            if kind == "note":
                self.noted, more_s = value
                if more_s is not None:
                    self._allow(more_s)
                continue
            if kind == "worked":
                self._count()
                self.spent, self.counted = value  # more exact than what the system says
                continue
            return kind, value
        limit = self.limits.memory_mb
        if limit is not None and self.ready:  # before, it has what it shares with its parent
            self._peak = max(self._peak, self._memory())
            if self._peak - self._base > limit * _MEGABYTE:
                return self._overrun(Reason.MEMORY_LIMIT, _memory_detail(limit))
        detail = late or self._out_of_time()
        return self._overrun(Reason.TIME_LIMIT, detail) if detail else None

    def _out_of_time(self) -> str:
        """Which limit of its own the job has met, in words, or ""."""
        if self._watch is None or self._allowed is None:
            return ""
        over = self._watch.over(self._allowed)
        if over == "wall":
            return f"{clock.CUT_BY_WALL}; {self.limits.time_option} raises the limit"
        return self._time_detail() if over is not None else ""

    def _time_detail(self) -> str:
        limits = self.limits
        cut = f"cut by {limits.time_option} ({limits.time_s:g} s of processor time)"
        if not limits.shared:
            return f"{cut}; {limits.time_option} raises the limit"
        return (
            f"cut by a share of {limits.time_option} ({limits.time_s:.2g} s of processor time); "
            "--thorough gives each loop all of it"
        )

    def _died(self) -> Overrun:
        self._count()
        self.process.join(1.0)
        status = self.process.exitcode
        limit = self.limits.memory_mb
        if limit is not None and self._peak - self._base > limit * _MEGABYTE // 2:
            return self._overrun(Reason.MEMORY_LIMIT, _memory_detail(limit))
        how = f"signal {-status}" if status is not None and status < 0 else f"status {status}"
        return self._overrun(Reason.ENGINE_FAILED, f"the process that worked on it died ({how})")

    def _overrun(self, reason: Reason, detail: str) -> Overrun:
        self._count()
        self.counted = self.spent
        self.end()
        return Overrun(reason, detail, seconds=self.spent, noted=self.noted)

    def _memory(self) -> int:
        return _resident(self.process.pid)

    def end(self) -> None:
        """End the process, whatever it is doing."""
        if not self.ended:
            self.ended = True
            self.connection.close()
            self.process.kill()
            self.process.join()
            self.process.close()


def _resident(process: int | None) -> int:
    """The memory of a process in bytes, without files that are mapped into it, as libraries are: these the system takes
    out of memory and brings back as it likes. 0 where the system does not say.
    """
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as file:  # noqa: PTH123  # fifty times a second
            resident, mapped = map(int, file.read().split()[1:3])
            return (resident - mapped) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0


def _deadline_detail(limits: Limits) -> str:
    return f"{OVER} (seconds of processor time); {limits.deadline_option} raises the limit"


def _memory_detail(limit_mb: int) -> str:
    return f"more than {limit_mb} MB were needed; --loop-memory raises the limit"


def _may_fork() -> bool:
    """Forking is safe only where no other thread can hold a lock."""
    try:
        return sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208
    except OSError:
        return False


@contextlib.contextmanager
def _no_interruption() -> Iterator[None]:
    """Hold interrupts back while a child starts, so that none is born that nobody ends."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *TIMERS})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# -- in the child -----------------------------------------------------------------------------------------------------


_noting: list[Connection] = []
"""In a child, the way to its parent."""


def note(value: Any, more_s: float | None = None) -> None:
    """From inside a job: how far it is, in case it overruns, and ``more_s`` seconds from now for what comes next; None
    leaves its limit as it is.

    Without meaning outside of a child process.
    """
    for connection in _noting:
        connection.send_bytes(dumps(("note", (value, more_s))))


def _serve(
    connection: Connection,
    functions: Sequence[Callable[..., Any]],
    memory_mb: int | None,
    parent: int | None,
) -> None:
    _settle(memory_mb, parent)
    _noting[:] = [connection]
    connection.send_bytes(dumps(("ready", None)))
    while True:
        try:
            moment, number, args = connection.recv()
        except (EOFError, OSError):
            return
        clock.go_on_from(moment)
        counted = clock.counted()
        answer = _attempt(functions[number], args)
        connection.send_bytes(dumps(("worked", (clock.now() - moment, clock.counted() - counted))))
        connection.send_bytes(answer)


def _settle(memory_mb: int | None, parent: int | None) -> None:
    """Make this process a quiet child: it ends with its parent, leaves interrupts and standard output to it."""
    gc.freeze()  # what is shared with the parent is not walked, hence not copied, whenever garbage is collected
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    no_deadline()
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, *TIMERS})
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    if sys.platform == "linux":
        _die_with_parent(parent)
    if memory_mb is not None:
        _limit_memory(memory_mb)


def _die_with_parent(parent: int | None) -> None:
    import ctypes

    if parent is None:
        let_server_end()
    kill_me = 1  # PR_SET_PDEATHSIG, see prctl(2)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(kill_me, int(signal.SIGKILL), 0, 0, 0)
    if parent is not None and os.getppid() != parent:
        os._exit(1)


def _limit_memory(memory_mb: int) -> None:
    """A fence behind the parent's own watch: allocations far beyond the limit fail at once."""
    import resource

    with contextlib.suppress(OSError, ValueError), open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        size = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        most = size + (memory_mb * 3 // 2 + LIBRARIES_MB) * _MEGABYTE
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if hard == resource.RLIM_INFINITY or most <= hard:
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _attempt(function: Callable[..., Any], args: tuple[Any, ...]) -> bytes:
    """The pickled answer of one call, whatever happens in it."""
    try:
        # Also what cannot be pickled is a failure of the job.
        found = attempted(lambda: dumps(("result", function(*args))))
        return dumps(("result", found)) if isinstance(found, Overrun) else found
    except LooplessError as error:
        return dumps(("error", error))

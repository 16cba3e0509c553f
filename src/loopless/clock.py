"""Work, by which limits are counted: seconds of the processor, which other work on the machine does not take away.

This is the only module that reads clocks. Moments are those of the clock of work (:func:`now`): it stands still while
this process waits, and counts what other processes did for this one where that is said (:func:`others`). A process that
works for another one continues the clock of that one (:func:`go_on_from`), so that a moment means the same in both.

What decides which methods have their turn, and for how long, is *counted* work (:func:`counted`): operations of which
there is a count, in the seconds that they take on a usual machine. Two runs that do the same count the same, where the
seconds of the processor depend on its caches and on who else uses them.

The wall is a fence behind the limits of work: it ends what sleeps, and waits for a processor take nothing of it where
the system tells of them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Final

from loopless.limits.foundation import FENCE_FACTOR, GRACE_S

CUT_BY_WALL: Final = (
    "cut by the wall clock: the machine was busy or the process slept; the answer may differ in another run"
)
"""What is said of an answer that the fence cut."""


class _Clock:
    """What is added to the processor time of this process; who hears when that changes."""

    def __init__(self) -> None:
        self.added = 0.0
        self.at_fork = 0.0
        self.listeners: list[Callable[[], None]] = []
        self.counted = 0.0
        self.meters: list[Callable[[], float]] = []


_clock = _Clock()


def now() -> float:
    """Seconds of work up to now: of all threads of this process, and of others for it."""
    return time.process_time() + _clock.added


def others(seconds: float) -> None:
    """Count the work that another process did for this one."""
    if seconds > 0:
        _clock.added += seconds
        for listener in tuple(_clock.listeners):
            listener()


def count(seconds: float) -> None:
    """Count operations of this process that take so long on a usual machine."""
    _clock.counted += seconds


def counted() -> float:
    """The seconds of all operations that were counted in this process up to now."""
    return _clock.counted + sum(meter() for meter in _clock.meters)


def meter(read: Callable[[], float]) -> None:
    """Let ``read``, which grows with the work of this process, be among what is counted."""
    _clock.meters.append(read)


def go_on_from(moment: float) -> None:
    """Let the clock stand at ``moment``, in a process that works for another one."""
    _clock.added = moment - time.process_time()


def _before_fork() -> None:
    _clock.at_fork = now()


def _in_child() -> None:
    _clock.listeners.clear()
    go_on_from(_clock.at_fork)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)


def wall() -> float:
    """Seconds by the wall, from some moment on: for fences, and for what people are told of how long they waited."""
    return time.monotonic()


def fence(seconds: float) -> float:
    """How many seconds of the wall are the fence of so many seconds of work."""
    return FENCE_FACTOR * seconds + GRACE_S


def listen(listener: Callable[[], None]) -> None:
    """Call ``listener`` whenever work of other processes is counted."""
    _clock.listeners.append(listener)


def forget(listener: Callable[[], None]) -> None:
    """Call it no more."""
    if listener in _clock.listeners:
        _clock.listeners.remove(listener)


def over_in_words(over: str, what: str, seconds: float) -> str:
    """That ``what`` met a limit on its work, or the fence behind it, as :meth:`Watch.over` says."""
    if over == "wall":
        return f"{what} was {CUT_BY_WALL}; --timeout raises the limit"
    return f"{what} took more than {seconds:g} s of processor time; --timeout raises the limit"


def of_ended_children() -> float:
    """The seconds that all processes worked which this one has started and waited for."""
    try:
        import resource
    except ImportError:
        return 0.0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Watch:
    """How much another process works from now on, with those processes that it starts and waits for."""

    def __init__(self, process: int) -> None:
        self.process = process
        self._since = wall()
        self._worked, self._waited = _used_by(process) or (0.0, 0.0)

    def read(self) -> tuple[float, float]:
        """How long it has worked, and how long it has done neither that nor waited for a processor."""
        passed, used = wall() - self._since, _used_by(self.process)
        if used is None:  # the system does not tell
            return passed, 0.0
        worked, waited = used[0] - self._worked, used[1] - self._waited
        return worked, max(0.0, passed - waited)

    @property
    def worked(self) -> float:
        """The seconds for which it has worked."""
        return self.read()[0]

    def over(self, seconds: float) -> str | None:
        """Return "work" after so many seconds of work, "wall" behind the fence of these, else None."""
        worked, passed = self.read()
        if worked >= seconds:
            return "work"
        return "wall" if passed >= fence(seconds) else None


_TICKS: Final = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def _used_by(process: int) -> tuple[float, float] | None:
    """The seconds for which a process has worked, and has waited for a processor; None where the system does not say.

    What it does not say of waiting is 0.
    """
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:  # noqa: PTH123  # often
            fields = file.read().rpartition(")")[2].split()
        worked = sum(map(int, fields[11:15])) / _TICKS
    except (OSError, ValueError, IndexError):
        return None
    try:
        with open(f"/proc/{process}/schedstat", encoding="ascii") as file:  # noqa: PTH123
            waited = int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        waited = 0.0
    return worked, waited

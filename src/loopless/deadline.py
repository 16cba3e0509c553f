"""When a whole request must end: for work of this process, which has no limits of its own.

The deadline is a moment of the clock of work; a timer of the processor's time ends a block at it. The wall is the fence
behind it, by a second timer.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any, Final

from loopless import clock
from loopless.errors import LimitError

OVER: Final = "the time for the whole request was over"
"""What is said where a deadline has passed."""
_LATER_S: Final = 0.005
"""Seconds after which it is tried again to end a block."""
_SOON_S: Final = 0.001
_FINALIZERS: Final = frozenset({"Finalize.__call__", "finalize.__call__"})
"""Of multiprocessing and weakref: what runs when an object goes, as ``__del__`` does."""
_HAS_TIMERS: Final = hasattr(signal, "setitimer")
TIMERS: Final = frozenset({signal.SIGPROF, signal.SIGALRM}) if _HAS_TIMERS else frozenset[signal.Signals]()
"""The signals by which blocks end: at the limit of work, and at the fence."""


class _Deadlines:
    """The blocks in force, of which the earliest limits hold: moments of the clock of work, and of the wall."""

    def __init__(self) -> None:
        self.blocks: list[tuple[float, float]] = []
        self.held = 0
        """How many blocks must not be interrupted now."""

    def arm(self) -> None:
        """Set the timers for what is left."""
        work_s = wall_s = 0.0
        if self.blocks:
            work_s = max(_SOON_S, min(until for until, _ in self.blocks) - clock.now())
            wall_s = max(_SOON_S, min(fence for _, fence in self.blocks) - clock.wall())
        signal.setitimer(signal.ITIMER_PROF, work_s)
        signal.setitimer(signal.ITIMER_REAL, wall_s)


_deadlines = _Deadlines()


@contextlib.contextmanager
def in_time(until: float | None) -> Iterator[None]:
    """End the block with a :class:`LimitError` at ``until``, by :func:`loopless.clock.now`; None is no limit.

    Within another such block the earlier of the two limits holds. Only the main thread can be interrupted: in others,
    and on systems without timers, there is no limit.
    """
    may = _HAS_TIMERS and threading.current_thread() is threading.main_thread()
    if until is None or not may:
        yield
        return
    before: dict[signal.Signals, Any] = {number: signal.signal(number, _over) for number in TIMERS}
    _deadlines.blocks.append((until, clock.wall() + clock.fence(max(0.0, until - clock.now()))))
    depth = len(_deadlines.blocks)
    if depth == 1:
        clock.listen(_deadlines.arm)
    _deadlines.arm()
    try:
        yield
    except ctypes.ArgumentError as error:
        if LimitError.__name__ in str(error):  # it broke in while ctypes read an argument, which calls all errors so
            raise LimitError(f"{OVER} (seconds of processor time); --timeout raises the limit") from error
        raise
    finally:
        del _deadlines.blocks[depth - 1 :]
        _deadlines.arm()
        if depth == 1:
            clock.forget(_deadlines.arm)
        for number, handler in before.items():
            signal.signal(number, handler)


def _over(number: int, frame: FrameType | None) -> None:
    if _deadlines.held or _finalizes(frame):
        signal.setitimer(signal.ITIMER_REAL if number == signal.SIGALRM else signal.ITIMER_PROF, _LATER_S)
        return
    if number == signal.SIGALRM:
        raise LimitError(f"{OVER}: {clock.CUT_BY_WALL}; --timeout raises the limit")
    raise LimitError(f"{OVER} (seconds of processor time); --timeout raises the limit")


def no_deadline() -> None:
    """In a process that was forked: what was in force in its parent does not hold here."""
    _deadlines.blocks.clear()
    _deadlines.held = 0
    if _HAS_TIMERS:
        _deadlines.arm()
        for number in TIMERS:
            signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def not_interrupted() -> Iterator[None]:
    """Let a time limit wait until the block is done: for what cannot be broken off, as a thread that begins."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    main = threading.current_thread() is threading.main_thread()
    # A thread that begins has the mask of this one. Others, as those of Z3's time limits, may still get the signal, and
    # its handler then breaks in here.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, TIMERS)
    _deadlines.held += main
    try:
        yield
    finally:
        _deadlines.held = max(0, _deadlines.held - main)  # 0 in a child that began in the block
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _finalizes(frame: FrameType | None) -> bool:
    """Is an object being finalized, or does a callback of the garbage collector run? What is raised there reaches
    nobody, and half of the object stays behind.
    """
    callbacks = [getattr(callback, "__code__", None) for callback in gc.callbacks]
    while frame is not None:
        if frame.f_code.co_name == "__del__" or frame.f_code.co_qualname in _FINALIZERS or frame.f_code in callbacks:
            return True
        frame = frame.f_back
    return False

"""When a whole request must end: for work of this process, which has no limits of its own."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Final

from loopless.errors import LimitError

_LATER_S: Final = 0.005
"""Seconds after which it is tried again to end a block."""

_FINALIZERS: Final = frozenset({"Finalize.__call__", "finalize.__call__"})
"""Of multiprocessing and weakref: what runs when an object goes, as ``__del__`` does."""


@contextlib.contextmanager
def in_time(until: float | None) -> Iterator[None]:
    """End the block with a :class:`LimitError` at ``until``, by ``time.monotonic``; None is no limit.

    Within another such block the earlier of the two limits holds. Only the main thread can be interrupted: in others,
    and on systems without timers, there is no limit.
    """
    may = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if until is None or not may:
        yield
        return

    def over(_: int, frame: FrameType | None) -> None:
        if _finalizes(frame):
            signal.setitimer(signal.ITIMER_REAL, _LATER_S)
            return
        raise LimitError("the time for the whole request was over; --timeout raises the limit")

    handler = signal.signal(signal.SIGALRM, over)
    now = time.monotonic()
    left, _ = signal.setitimer(signal.ITIMER_REAL, max(0.001, until - now))
    around = now + left if left > 0 else None
    if around is not None and around < until:
        signal.setitimer(signal.ITIMER_REAL, max(0.001, around - now))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if around is not None:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, around - time.monotonic()))


@contextlib.contextmanager
def not_interrupted() -> Iterator[None]:
    """Let a time limit wait until the block is done: for what cannot be broken off, as a thread that begins."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _finalizes(frame: FrameType | None) -> bool:
    """Is an object being finalized? What is raised there reaches nobody, and half of the object stays behind."""
    while frame is not None:
        if frame.f_code.co_name == "__del__" or frame.f_code.co_qualname in _FINALIZERS:
            return True
        frame = frame.f_back
    return False

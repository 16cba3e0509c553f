"""When a whole request must end: for work of this process, which has no limits of its own."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator

from loopless.errors import LimitError


@contextlib.contextmanager
def in_time(until: float | None) -> Iterator[None]:
    """End the block with a :class:`LimitError` at ``until``, by ``time.monotonic``; None is no limit.

    Only the main thread can be interrupted: in others, and on systems without timers, there is no limit.
    """
    may = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if until is None or not may:
        yield
        return

    def over(*_: object) -> None:
        raise LimitError("the time for the whole request was over; --timeout raises the limit")

    handler = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, max(0.001, until - time.monotonic()))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)

"""How far a command is, on standard error while that is a terminal: how many of how many, and what is worked on.

Written by ``rich`` without the thread that it would refresh from: processes with threads are not forked from.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from loopless.limits.cli import MAX_NAMED_LOOPS

if TYPE_CHECKING:
    from rich.live import Live


def wanted() -> bool:
    """Whether there is somebody to see it."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


class Progress:
    """A line about work that is not done; nothing where nobody sees it.

    Use as a context manager, which takes it away.
    """

    def __init__(self) -> None:
        self._live: Live | None = None
        self._shown = ""
        self._interrupted = False
        self._looks = False
        self._usual: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._usual = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        """Noted for the next look, which is soon: what is raised where processes are forked, or modules are imported,
        is lost there or becomes another error. A second one is raised at once.
        """
        if self._interrupted or not self._looks:
            signal.default_int_handler(number, frame)
        self._interrupted = True

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._usual is not None:
            signal.signal(signal.SIGINT, self._usual)
        self.clear()
        if self._interrupted and kind is None:
            raise KeyboardInterrupt

    def say(self, text: str) -> None:
        """Show ``text`` in place of what is shown."""
        if not wanted() or text == self._shown:
            return
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        self._shown = text
        line = Text(text, style="dim", no_wrap=True, overflow="ellipsis")
        if self._live is None:
            self._live = Live(
                line,
                console=Console(stderr=True),
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start(refresh=True)
        else:
            self._live.update(line, refresh=True)

    def clear(self) -> None:
        """Show nothing, so that something else can be printed."""
        if self._live is not None:
            self._live.stop()
            self._live, self._shown = None, ""

    def watching(self, names: Sequence[str], done: Callable[[], int]) -> Callable[[Sequence[int]], None]:
        """What shows the loops ``names`` that are being worked on, given their numbers, and ends the work where the
        user interrupts it.
        """
        shown = _without_file(names)

        def watch(busy: Sequence[int]) -> None:
            self._looks = True
            if self._interrupted:
                raise KeyboardInterrupt
            at_work = ", ".join(shown[number] for number in busy[:MAX_NAMED_LOOPS])
            more = f" and {len(busy) - MAX_NAMED_LOOPS} more" if len(busy) > MAX_NAMED_LOOPS else ""
            self.say(f"{done()} of {len(names)} answered; working on {at_work}{more}" if busy else self._shown)

        return watch


def _without_file(names: Sequence[str]) -> list[str]:
    """The names of loops, without the file where that is the same of all."""
    files = {name.partition(":")[0] for name in names}
    return [name.partition(":")[2] or name for name in names] if len(files) == 1 else list(names)

"""How child processes are started where the one that has the program in memory may not be forked."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from multiprocessing.context import ForkContext, ForkServerContext, SpawnContext

ENGINES: Final = ("loopless.queries.bounds.answering", "loopless.queries.evaluation.calls")
"""What a process has imported from which others are forked."""


def context_of(*, fork: bool) -> tuple[ForkContext | ForkServerContext | SpawnContext, int | None]:
    """How a child is started, by forking this process where it may ``fork``; and the process that it is born to, None
    for another one than this.
    """
    from multiprocessing import get_context

    if fork:
        return get_context("fork"), os.getpid()
    if sys.platform != "linux":
        return get_context("spawn"), os.getpid()
    _forget_server_in_forks()
    context = get_context("forkserver")
    context.set_forkserver_preload(list(ENGINES))
    return context, None


@contextlib.contextmanager
def without_program() -> Iterator[None]:
    """Hide the program that runs: a child that is started anew would run it again, and no job is defined in it."""
    program = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program


@functools.cache
def _forget_server_in_forks() -> None:
    """Let a process that is forked from this one start a server of its own, as it is no parent of this one's server:
    multiprocessing waits for the one it knows, which fails there.
    """
    os.register_at_fork(after_in_child=_forget_server)


def _forget_server() -> None:
    let_server_end()
    with contextlib.suppress(AttributeError):
        _server()._forkserver_pid = None  # noqa: SLF001


def _server() -> Any:
    from multiprocessing import forkserver

    return forkserver._forkserver  # noqa: SLF001  # no other way to know it


def let_server_end() -> None:
    """Give back what keeps the process alive from which this one was forked: it then ends with the one that asked."""
    server = _server()
    with contextlib.suppress(OSError, TypeError, AttributeError):
        os.close(server._forkserver_alive_fd)  # noqa: SLF001
        server._forkserver_alive_fd = None  # noqa: SLF001

"""A switch under which nothing may be run, interpreted or unrolled: what is answered then was not found by stepping.

Whatever goes through a program step by step, or through states one by one, says so here before it does; under
:func:`no_stepping` that raises. Tests use it to show that an answer comes from a summary alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_most_states: ContextVar[int | None] = ContextVar("most_states", default=None)


class SteppingForbidden(RuntimeError):
    """Something was about to be run, interpreted or unrolled under :func:`no_stepping`."""


@contextmanager
def no_stepping(states: int = 0) -> Iterator[None]:
    """Forbid taken back edges and native runs, and the enumeration of more than ``states`` states at a time."""
    token = _most_states.set(states)
    try:
        yield
    finally:
        _most_states.reset(token)


def forbidden() -> bool:
    """Whether stepping is forbidden here."""
    return _most_states.get() is not None


def stepping(what: str) -> None:
    """``what`` is about to run. Raises :class:`SteppingForbidden` where that is forbidden."""
    if forbidden():
        raise SteppingForbidden(f"{what}, which is forbidden here")


def enumerating(count: int, what: str) -> None:
    """``count`` states of ``what`` are to be visited. Raises :class:`SteppingForbidden` where they are too many."""
    most = _most_states.get()
    if most is not None and count > most:
        raise SteppingForbidden(f"{what} has {count} states to visit; at most {most} are allowed here")

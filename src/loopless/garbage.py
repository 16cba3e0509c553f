"""How often a process looks for garbage in cycles."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

from loopless.limits.cli import OBJECTS_BEFORE_COLLECTION


@contextlib.contextmanager
def seldom_collecting() -> Iterator[None]:
    """Look for garbage in cycles seldom, here and in child processes: nearly all that a command makes stays to its end,
    and looking for what does not took a fifth of the time. Where Loopless is a library that is left to the program.
    """
    usual = gc.get_threshold()
    gc.set_threshold(OBJECTS_BEFORE_COLLECTION, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)

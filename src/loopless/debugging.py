"""What developers see on standard error: tracebacks where LOOPLESS_DEBUG is set, methods too where it is ``methods``.

A line about a method names the question, the method, and what it said::

    loopless: BoundQuestion at a.c:2:0: ranking: not applicable
"""

from __future__ import annotations

import os
import sys


def shows_tracebacks() -> bool:
    """Whether errors inside Loopless are told with their tracebacks."""
    return bool(os.environ.get("LOOPLESS_DEBUG"))


def tells_methods() -> bool:
    """Whether each method that is asked tells what it said."""
    return os.environ.get("LOOPLESS_DEBUG") == "methods"


def tell_method(question: str, method: str, said: str) -> None:
    """Write one line about a method. Child processes write to the same place, so a line is written at once."""
    if sys.stderr is not None:
        sys.stderr.write(f"loopless: {question}: {method}: {' '.join(said.split())}\n")
        sys.stderr.flush()

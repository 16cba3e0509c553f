"""Processor time of a command: of its processes, of theirs, and of those that it leaves behind when it ends.

    python bench/processor.py SECONDS_FILE COMMAND [ARGUMENT...]

A process that its parent does not wait for is missing from the times of children. So the command runs below a process
that takes over all that is left behind (a subreaper, on Linux), and waits for it.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2)."""


def measured(command: Sequence[str], **options: Any) -> tuple[subprocess.CompletedProcess[str], float]:
    """What a command came to, run as :func:`subprocess.run` does with these options, and its seconds."""
    with tempfile.NamedTemporaryFile() as told:
        line = [sys.executable, __file__, told.name, *command]
        done = subprocess.run(line, text=True, check=False, **options)
        return done, float(Path(told.name).read_text() or "nan")


def main() -> int:
    """Run the command, and write how many seconds it took."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    first = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
    seconds, status = 0.0, 1
    while True:
        try:
            process, ended, used = os.wait4(-1, 0)
        except ChildProcessError:
            break
        seconds += used.ru_utime + used.ru_stime
        if process == first:
            status = os.waitstatus_to_exitcode(ended)
    Path(sys.argv[1]).write_text(f"{seconds:.3f}")
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())

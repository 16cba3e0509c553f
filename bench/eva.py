"""The verdict of Frama-C's Eva on a task, for ``bench/verify.py --beside-eva``: an abstract interpreter of C with a GUI,
a decade of users and no loop bounds to give; it proves, and leaves what it cannot prove.

A program has ``unreach-call`` where no call of the error function is reached, ``no-overflow`` where no alarm of a signed
overflow is raised, by ``frama-c -eva -eva-precision 11``. Termination is nothing that Eva asks. The error function gets
a contract that nothing fulfils; functions without bodies return any value (Eva's own default).
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final

_ERRORS: Final = ("reach_error", "__VERIFIER_error")
_MACHINES: Final = {"ILP32": "gcc_x86_32", "LP64": "gcc_x86_64"}


def available() -> bool:
    """Whether the machine has Frama-C (Debian: ``frama-c-base``)."""
    return shutil.which("frama-c") is not None


def asked(file: Path, property_: str, data_model: str, seconds: float, precision: int = 11) -> tuple[str, float]:
    """``true`` where the property is proved, else ``unknown``, ``error`` or ``time``, and the seconds it took."""
    text = file.read_text(encoding="utf-8", errors="replace")
    contracts = "".join(f"/*@ requires \\false; */ extern void {name}();\n" for name in _ERRORS if f"{name}(" in text)
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder) / f"task{file.suffix}"
        task.write_text(contracts + text, encoding="utf-8")
        command = ["frama-c", "-machdep", _MACHINES[data_model], "-eva", "-eva-precision", str(precision), str(task)]
        started = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return "time", time.monotonic() - started
    took = time.monotonic() - started
    if done.returncode != 0 or "[eva] done for function main" not in done.stdout:
        return "error", took
    if property_ == "unreach-call":
        reached = any(f"function {name}: precondition" in done.stdout for name in _ERRORS)
    else:
        reached = "signed overflow. assert" in done.stdout
    return "unknown" if reached else "true", took

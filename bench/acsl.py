"""What summaries say of elements, as ACSL by hand (``bench/acsl``), proved by Frama-C's WP.

    python bench/acsl.py [--seconds 20]

Each file has the line that ``loopless summarize`` prints of its loop, and the same as a contract with loop invariants.
Needs ``frama-c``, ``why3`` and ``z3`` of the system (``why3 config detect`` once).
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "acsl"
_PROVED = re.compile(r"Proved goals:\s*(\d+)\s*/\s*(\d+)")


def main() -> int:
    """Print a table; the status is 1 where a goal is not proved."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=int, default=20, help="limit on each goal")
    seconds = options.parse_args().seconds
    if shutil.which("frama-c") is None:
        print("frama-c is not installed: apt-get install frama-c-base why3 z3")
        return 2
    whole = True
    for file in sorted(FOLDER.glob("*.c")):
        command = ["frama-c", "-wp", "-wp-rte", "-wp-prover", "z3", "-wp-timeout", str(seconds), str(file)]
        text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        found = _PROVED.search(text)
        proved, goals = found.groups() if found is not None else ("0", "?")
        open_ = re.findall(r"Goal (\w+) : (?:Failed|Timeout|Unknown)", text)
        whole = whole and proved == goals
        print(f"{file.stem:12} {proved:>3} of {goals:>3}  {', '.join(open_)}")
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())

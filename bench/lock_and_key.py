"""Locks and keys: programs whose error takes a loop that runs just so often, and how long ``verify`` takes for the inputs.

    python bench/lock_and_key.py [--factors 1 10 100] [--only NAME...] [--timeout 20] [--keep FILE]

Each program calls ``reach_error`` for some inputs only: where one loop, or several in sequence or inside one another, run a
certain number of times N, where counters of letters come to certain numbers, or where a machine is driven by a password.
The kind is that of the lock-and-key programs of GPS (Gonzalez, Kincaid and others, OOPSLA 2025); the programs are our own. ``--factors``
multiplies N, from which the time should not depend. Every answer ``false`` was replayed on the compiled program. Seconds are the
processor's of the whole command, cold.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from pathlib import Path

from processor import measured

FOLDER = Path(__file__).parent / "lock_and_key"
"""One program a file; it defines N where it is not given."""
_NUMBER = re.compile(r"#define N (\d+)")


def main() -> None:
    """Ask for each lock and factor, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--factors", nargs="*", type=int, default=[1, 10, 100])
    parser.add_argument("--only", nargs="*", default=sorted(file.stem for file in FOLDER.glob("*.c")))
    parser.add_argument("--timeout", type=int, default=20)
    parser.add_argument("--keep", type=Path, help="write the rows as JSON")
    options = parser.parse_args()
    rows = [asked(name, factor, options.timeout) for name in options.only for factor in options.factors]
    for factor in options.factors:
        some = [row for row in rows if row["factor"] == factor]
        right = [row for row in some if row["verdict"] == "false"]
        seconds = [row["seconds"] for row in some]
        quick = sum(row["seconds"] <= 2 for row in right)
        print(
            f"N x {factor}: {len(right)} of {len(some)}, {quick} within 2 s; "
            f"median {statistics.median(seconds):.2f} s, all {sum(seconds):.1f} s"
        )
    if options.keep:
        options.keep.write_text(json.dumps(rows, indent=1))


def asked(name: str, factor: int, timeout: int) -> dict[str, object]:
    """One program, and what ``verify`` says of it."""
    file = FOLDER / f"{name}.c"
    found = _NUMBER.search(file.read_text())
    assert found is not None, file
    flags = ["--", f"-DN={int(found[1]) * factor}"]
    command = [sys.executable, "-m", "loopless", "verify", str(file), "--timeout", str(timeout), "--format", "json"]
    done, seconds = measured([*command, *flags], capture_output=True)
    answer = json.loads(done.stdout)
    method = answer.get("method") or answer.get("reason", "")[:70]
    row = {
        "name": name,
        "factor": factor,
        "verdict": answer["verdict"].split("(")[0],
        "seconds": seconds,
        "method": method,
    }
    print(f"{name:10} x {factor:<4} {row['verdict']:8} {seconds:6.2f} s  {method}", flush=True)
    return row


if __name__ == "__main__":
    main()

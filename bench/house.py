"""The size of the code and the cost of a cold command, as a Markdown table.

    python bench/house.py [--source src/loopless] [--runs 9]

Lines and modules by package, the longest module, the partial functions between commands and methods, and the median
time of the processor of ``loopless summarize examples/looperman/fig1.c`` in new processes, which run the package below
``--source``.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
from pathlib import Path

from processor import measured

EXAMPLE = Path(__file__).parent.parent / "examples" / "looperman" / "fig1.c"


def packages(source: Path) -> dict[str, list[int]]:
    """By package, the lines of its modules."""
    found: dict[str, list[int]] = {}
    for module in sorted(source.rglob("*.py")):
        place = module.relative_to(source)
        found.setdefault(place.parts[0] if len(place.parts) > 1 else "(top)", []).append(
            module.read_text(encoding="utf-8").count("\n")
        )
    return found


def partials(source: Path) -> int:
    """How many partial functions are made between commands and methods."""
    modules = (module for name in ("cli", "project", "queries", "report") for module in (source / name).rglob("*.py"))
    return sum(len(re.findall(r"(?<!def )\bpartial\(", module.read_text(encoding="utf-8"))) for module in modules)


def cold(source: Path) -> float:
    """Seconds of the processor that one command takes, those of its children included."""
    environment = os.environ | {"PYTHONPATH": str(source.parent)}
    line = [sys.executable, "-m", "loopless", "summarize", str(EXAMPLE)]
    done, seconds = measured(line, env=environment, capture_output=True)
    done.check_returncode()
    return seconds


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path("src/loopless"))
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    found = packages(options.source)
    print("| package | modules | lines | longest module |\n|---|---|---|---|")
    for name, lines in sorted(found.items(), key=lambda pair: -sum(pair[1])):
        print(f"| {name} | {len(lines)} | {sum(lines)} | {max(lines)} |")
    every = [line for lines in found.values() for line in lines]
    print(f"| all | {len(every)} | {sum(every)} | {max(every)} |")
    print(f"\npartial functions in cli, project, queries and report: {partials(options.source)}")
    times = [cold(options.source.resolve()) for _ in range(options.runs)]
    print(
        f"\ncold command, {options.runs} runs: median {statistics.median(times):.2f} s of the processor, least {min(times):.2f}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

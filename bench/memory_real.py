"""Loops of real code that write memory: of how many all writes are told.

    python bench/memory_real.py FILE... [--together] [--seconds 8]

Each loop of the files once (inlined copies left out) that writes memory by its own body, not only in loops inside. *told*:
all elements behind it; *partly*: some object is not told, or some elements of one; *untold*: nothing is, for the reason
that is printed most often; *time*: the limit of processor time was over. No summary is asked for. ``--together``: the
files are one program, so that the bodies of functions of other files are known, and not each file one.
"""

from __future__ import annotations

import argparse
import signal
from collections import Counter
from pathlib import Path

from loopless.flowgraph import build
from loopless.flowgraph.model import Copy, Fill, Flowgraph, LoopInfo, Store
from loopless.paths import NoPaths
from loopless.source import load
from loopless.summary.memory.layers import Layering
from loopless.summary.memory.telling import known_ways, writes_memory
from loopless.summary.nests import writing_ways


class OutOfTime(Exception):
    """The limit on one loop is over."""


def _over(*_: object) -> None:
    raise OutOfTime


def writes_itself(graph: Flowgraph, loop: LoopInfo) -> bool:
    """Whether the loop writes outside of the loops inside it."""
    inside = frozenset[str]().union(*(other.blocks for other in graph.loops if other.parent == loop.header))
    own = (graph.blocks[label] for label in loop.blocks - inside)
    return any(isinstance(statement, Store | Fill | Copy) for block in own for statement in block.statements)


def told(graph: Flowgraph, loop: LoopInfo) -> tuple[str, str]:
    """What is told of a loop's writes, and why not more."""
    ways = writing_ways(graph, loop)
    refused = [way.paths.refused.detail for way in ways if isinstance(way.paths, NoPaths)]
    found = [known for way in ways for known in known_ways(way)]
    if not found:
        return "untold", next(iter(refused), "no iteration")
    why: dict[str, str] = {}
    for one in found:
        layering = Layering(one)
        layering.after()
        why |= layering.why
    if not why:
        return "told", ""
    return "partly", next(iter(why.values()))


def main() -> None:
    """Print a line for each loop, and the totals."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="+", type=Path)
    options.add_argument("--together", action="store_true", help="take the files for one program")
    options.add_argument("--seconds", type=float, default=8.0, help="limit of processor time for one loop")
    asked = options.parse_args()
    signal.signal(signal.SIGVTALRM, _over)
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    seen: set[tuple[str, int, int]] = set()
    for files in [asked.files] if asked.together else [[file] for file in asked.files]:
        program = load(files)
        for function in program.inlined.functions.values():
            if function.is_declaration:
                continue
            graph = build(function, program.inlined)
            for loop in graph.loops:
                place = loop.file, loop.line, loop.column
                if loop.inlined_from or place in seen or not writes_memory(graph, loop):
                    continue
                seen.add(place)
                if not writes_itself(graph, loop):
                    continue
                signal.setitimer(signal.ITIMER_VIRTUAL, asked.seconds)
                try:
                    verdict, why = told(graph, loop)
                except OutOfTime:
                    verdict, why = "time", ""
                finally:
                    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
                counts[verdict] += 1
                reasons[why] += bool(why)
                print(f"{verdict:7} {Path(loop.file).name}:{loop.line}:{loop.column} {why}")
    print(f"{sum(counts.values())} loops: " + ", ".join(f"{kind} {number}" for kind, number in counts.most_common()))
    for why, number in reasons.most_common(8):
        print(f"  {number} {why}")


if __name__ == "__main__":
    main()

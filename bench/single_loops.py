"""Single loops beside the prototype: transitions and times by loop and width, as a Markdown table.

    python bench/single_loops.py [--loops l5a,l1c] [--widths 32,64] [--limit 60] [--runs 5] [--json FILE]
    python bench/single_loops.py --variants 6

A transition is a case of the summary. Times are processor time from a loop's flowgraph to its summary (paths and summary,
nothing kept from the run before), median of several runs in a warm process of its own, under a limit. The prototype's figures are those
of its report, measured on the same kind of machine: transitions and milliseconds over ℤ, and at a width by guarded steps (A)
and by side inequalities (C). Read times as orders of magnitude.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import own_loops

Figure = tuple[int, float] | None
"""Transitions and milliseconds; None where the prototype had no answer."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the prototype's tables: the loop, signedness, and its figures by width."""

    loop: str
    signed: bool
    figures: dict[int, tuple[Figure, ...]]
    remark: str = ""


def _signed(loop: str, *figures: Figure, remark: str = "") -> Row:
    """The columns A 32, C 32, A 64, C 64."""
    a32, c32, a64, c64 = figures
    return Row(loop, True, {32: (a32, c32), 64: (a64, c64)}, remark)


def _unsigned(loop: str, *figures: Figure, remark: str = "") -> Row:
    """The columns 8, 16, 32, 64 bits."""
    return Row(loop, False, {width: (one,) for width, one in zip((8, 16, 32, 64), figures, strict=True)}, remark)


def _sum(loop: str, transitions: int, ms: float) -> Row:
    return Row(loop, True, {32: ((transitions, ms),)})


CONTROL = (
    _signed("p1a", (4, 12), (4, 9), (4, 17), (4, 9)),
    _signed("p1b", (10, 28), (10, 28), (10, 28), (10, 28)),
    _signed("p1f", (50, 141), (48, 93), (50, 149), (48, 105)),
    _signed("l1a", (14, 28), (13, 19), (14, 32), (13, 18)),
    _signed("l1b", (19, 103), (19, 43), (19, 81), (19, 44)),
    _signed("l1c", (20, 141), (20, 69), (20, 171), (20, 73)),
    _signed("l1d", (52, 225), (50, 102), (51, 378), (50, 104)),
    _signed("l5a", (6, 72), (6, 19), (6, 95), (6, 19)),
    _signed("l3a", (6, 54), (6, 21), (6, 54), (6, 21)),
    _signed("l5b", None, None, None, None, remark="not in the prototype"),
    _signed("custom4", (25, 175), (25, 124), (25, 203), (25, 124)),
    _signed("t27", (17, 77), (19, 39), (17, 72), (19, 42)),
    _signed("t30", (4, 8), (4, 6), (4, 9), (4, 6)),
    _signed("tri", (13, 29), (13, 30), (13, 39), (13, 32)),
    _signed("bubble", (5, 33), (5, 27), (5, 49), (5, 25)),
    _signed("chg", (10, 15), (8, 10), (10, 29), (8, 10)),
    _signed("sumsq", (7, 60), (7, 33), (7, 38), (7, 34)),
    _signed("phases", (3, 4), (3, 4), (3, 6), (3, 4)),
    _signed("big", (6, 29), (6, 12), (6, 40), (6, 12)),
    _signed("l5a_n", (8, 478), (6, 193), (8, 684), (6, 403)),
    _signed("l1c_n", (24, 1941), (20, 1580), (24, 1204), (20, 3599)),
    _signed("up", (1, 3), (1, 2), (1, 2), (1, 2)),
    _signed("stepn", (3, 14), (2, 8), (3, 16), (2, 25)),
    _signed("ne", (2, 17), (2, 4), (2, 16), (2, 8)),
    _signed("p6a", (9, 15), (9, 12), None, (9, 11)),
    Row("x7", True, {64: ((2, 13),)}, "over ℤ, and one step of it by hand"),
)
WRAPS = (
    Row("wrap", False, {32: ((1, 4), (2, 6)), 64: ((3, 6), (3, 4))}, "there a model over ℤ"),
    _unsigned("u_up", (2, 3), (2, 3), (2, 3), (2, 3)),
    _unsigned("stepn", (17, 200), (13, 120), (17, 250), (13, 170)),
    _unsigned("u_ne", (5, 16), (5, 5), (5, 19), (5, 8)),
    _unsigned("u_ne3", (17, 28), (16, 14), (17, 46), (16, 14), remark="one expression by the inverse"),
    _unsigned("u_ne7", (1, 2), (1, 2), (1, 2), (1, 2), remark="one expression by lexmin on the ring"),
    _unsigned("u_ge6", (3, 3), (3, 3), (3, 7), (3, 3)),
    _unsigned("u_ge16", (3, 5), (3, 5), (3, 14), (3, 5)),
    _unsigned("l5a", (4, 39), (4, 12), (4, 27), (4, 20)),
    _unsigned("u_l5a7", (29, 50), (29, 46), (29, 71), (29, 58)),
    _unsigned("l1c", (12, 100), (12, 56), (12, 91), (12, 63)),
    _unsigned("u_l1c60", (476, 1600), (37, 76), (37, 117), (37, 81)),
    _unsigned("u_acc", (2, 4), (2, 4), (2, 4), (2, 4)),
    Row("u_ge37", False, {8: ((10, 32),), 16: (None,), 32: (None,)}, "by the named function: one case"),
    Row("u_ge1003", False, {16: (None,), 32: (None,)}, "by the named function: one case"),
    Row("u_ge1000003", False, {32: (None,), 64: (None,)}, "by the named function: one case"),
)
SUMS = (
    _sum("a_l5a", 6, 190),
    _sum("a_l5a_mixed", 6, 1200),
    _sum("a_l1c", 20, 2800),
    _sum("a_t27", 17, 140),
    _sum("tri", 13, 32),
    _sum("a_tri_i", 28, 110),
    _sum("a_sum7", 7, 300),
    _sum("a_sum29", 7, 300),
    _sum("sumsq", 7, 35),
    Row("a_bubble", True, {32: (None,)}, "refused there"),
)
TABLES = {"Control variables, signed": CONTROL, "Unsigned wraps": WRAPS, "Sums, signed": SUMS}


def measured(name: str, ctype: str, runs: int, seed: int | None = None) -> dict[str, Any]:
    """One loop in this process; with a seed, one with other constants of the same sign."""
    from loopless.paths import loop_paths
    from loopless.refusals import Refused
    from loopless.summary import summarize

    source = own_loops.text(name) if seed is None else own_loops.other_constants(own_loops.text(name), seed)
    graph = own_loops.graph(own_loops.program(source, ctype))
    spent: list[tuple[float, float]] = []
    begun = time.perf_counter()
    while len(spent) < runs and (len(spent) < 2 or time.perf_counter() - begun < 20):
        started = time.process_time()
        paths = loop_paths(graph, graph.loops[0])
        between = time.process_time()
        outcome = summarize(paths)
        spent.append((between - started, time.process_time() - between))
        if len(spent) == 1 and sum(spent[0]) > 5:
            break
    warm = spent[1:] or spent
    found: dict[str, Any] = {
        "paths_ms": 1000 * statistics.median(one for one, _ in warm),
        "summary_ms": 1000 * statistics.median(two for _, two in warm),
        "first_ms": 1000 * sum(spent[0]),
    }
    if isinstance(outcome, Refused):
        return found | {"status": f"refused {outcome.reason.code}", "detail": outcome.detail}
    whys = sorted({f"{part.why.reason.code} {part.why.reason.label}" for part in outcome.residual})
    return found | {
        "status": "complete" if outcome.complete else "residual " + ", ".join(whys),
        "pieces": len(outcome.cases),
        "undefined": len(outcome.undefined),
        "method": outcome.method,
    }


def in_child(name: str, ctype: str, runs: int, limit: float, seed: int | None = None) -> dict[str, Any]:
    """One loop in a process of its own."""
    command = [sys.executable, __file__, "--one", name, ctype, "--runs", str(runs)]
    command += ["--seed", str(seed)] if seed is not None else []
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"status": "time limit"}
    if done.returncode:
        return {"status": "crash", "detail": done.stderr.strip().splitlines()[-1]}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def figure(one: Figure) -> str:
    """As the prototype's report writes it."""
    return f"{one[0]} p {one[1]:g} ms" if one is not None else "no answer"


def beside(found: dict[str, Any], figures: tuple[Figure, ...]) -> str:
    """In a word, how a loop stands beside the better of the prototype's figures: "" where nothing is worse."""
    if found["status"] != "complete":
        return "**not complete**"
    best = [one for one in figures if one is not None]
    if not best:
        return ""
    words = []
    if found["pieces"] > min(transitions for transitions, _ in best):
        words.append("more pieces")
    ratio = (found["paths_ms"] + found["summary_ms"]) / min(ms for _, ms in best)
    if ratio > 1:
        words.append(f"{ratio:.1f} times the time")
    return ", ".join(words)


def table(title: str, rows: tuple[Row, ...], options: argparse.Namespace, kept: list[dict[str, Any]]) -> None:
    """One table, printed as its lines come."""
    print(f"\n### {title}\n")
    print("| loop | bits | pieces | undefined | paths ms | summary ms | outcome | prototype | beside it |")
    print("|---|---|---|---|---|---|---|---|---|")
    names = set(options.loops.split(",")) if options.loops else None
    widths = {int(width) for width in options.widths.split(",")} if options.widths else None
    for row in rows:
        if names is not None and row.loop not in names:
            continue
        for width, figures in row.figures.items():
            if widths is not None and width not in widths:
                continue
            ctype = (own_loops.SIGNED if row.signed else own_loops.UNSIGNED)[width]
            found = in_child(row.loop, ctype, options.runs, options.limit)
            kept.append({"table": title, "loop": row.loop, "type": ctype, "beside": beside(found, figures), **found})
            shown = " / ".join(figure(one) for one in figures) + (f"; {row.remark}" if row.remark else "")
            times = " | ".join(f"{found[key]:.1f}" if key in found else "" for key in ("paths_ms", "summary_ms"))
            print(
                f"| {row.loop} | {'' if row.signed else 'u'}{width} | {found.get('transitions', '')} "
                f"| {found.get('undefined', '')} | {times} | {found['status']} | {shown} | {beside(found, figures)} |",
                flush=True,
            )


PAPERS = (
    "p1a", "p1b", "p1f", "p6a", "l1a", "l1b", "l1c", "l1d", "l3a", "l5a", "l5b", "custom4", "t27", "t30",
)  # fmt: skip


def variants(options: argparse.Namespace) -> None:
    """The papers' loops with every constant replaced by a random one of the same sign: what is still complete."""
    print(
        "\n### Other constants, 32 bits\n\n| loop | variants | complete | pieces | ms | the rest |\n|---|---|---|---|---|---|"
    )
    names = options.loops.split(",") if options.loops else PAPERS
    for name in names:
        found = [in_child(name, "int", 2, options.limit, seed) for seed in range(options.variants)]
        good = [one for one in found if one["status"] == "complete"]
        spent = sorted(one["paths_ms"] + one["summary_ms"] for one in good)
        transitions = sorted(one["pieces"] for one in good)
        rest = sorted({one["status"] for one in found if one["status"] != "complete"})
        print(
            f"| {name} | {len(found)} | {len(good)} | {' to '.join(map(str, (transitions[0], transitions[-1]))) if transitions else ''} "
            f"| {' to '.join(f'{ms:.0f}' for ms in (spent[0], spent[-1])) if spent else ''} | {', '.join(rest)} |",
            flush=True,
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loops", default="", help="only these, with commas between")
    parser.add_argument("--widths", default="", help="only these")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one loop at one width")
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--json", default="", help="file for the figures")
    parser.add_argument("--one", nargs=2, metavar=("LOOP", "TYPE"), help="one loop in this process, as JSON")
    parser.add_argument("--seed", type=int, help="with --one: other constants")
    parser.add_argument("--variants", type=int, default=0, help="instead: N times other constants for each loop")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(*options.one, options.runs, options.seed)))
        return
    if options.variants:
        variants(options)
        return
    kept: list[dict[str, Any]] = []
    for title, rows in TABLES.items():
        table(title, rows, options, kept)
    worse = [row for row in kept if row["beside"]]
    print(
        f"\n{len(kept)} lines, {sum(row['status'] == 'complete' for row in kept)} complete, {len(worse)} worse in some way"
    )
    if options.json:
        Path(options.json).write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()

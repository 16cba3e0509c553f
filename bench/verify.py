"""Verdicts of ``loopless verify`` on suites with known ones: right, wrong, unknown, and how long it took.

    python bench/verify.py SVCOMP --property unreach-call [--timeout 60] [--only loop-acceleration/] [--loopscc]
    python bench/verify.py TPDB --property termination --integers mathematical

SVCOMP and TPDB are folders with a ``manifest.json`` (``file``, ``expected`` by property, ``data_model``; with
``--best-known`` where nothing is expected ``best_known``, what some tool of a competition has said). Of each
``true`` the certificate was accepted by the judge, of each ``false`` a native run came to the violation: else ``verify``
says ``unknown``. ``--keep FILE`` writes the answers as JSON; ``--report FILE...`` makes tables of such files;
``--certificates FOLDER`` keeps the certificates, for ``bench/trust.py --conjuncts``. ``--beside-eva`` asks Frama-C's Eva
too (``bench/eva.py``), each task by the one and then by the other.
Seconds are the processor's of the whole command, cold, those of all its processes included.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import eva
from processor import measured


def main() -> None:
    """One run over a suite, or tables of earlier ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", nargs="?", type=Path)
    parser.add_argument("--property", default="unreach-call")
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--integers", default="machine")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--loopscc", action="store_true", help="the tasks of LoopSCC's table, by its expectations")
    parser.add_argument(
        "--best-known", action="store_true", help="tasks without a given verdict too, by what tools have said of them"
    )
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--certificates", type=Path)
    parser.add_argument("--beside-eva", action="store_true", help="ask Frama-C's Eva too")
    parser.add_argument("--eva-timeout", type=float, help="seconds for Eva; default: as many as Loopless has")
    parser.add_argument("--jobs", type=int, default=1, help="tasks at once")
    parser.add_argument("--report", nargs="*", type=Path)
    options = parser.parse_args()
    if options.report:
        for file in options.report:
            print(f"\n{file.stem}")
            table(json.loads(file.read_text()))
        return
    answers = []
    pool = ThreadPoolExecutor(options.jobs)
    for one in pool.map(lambda each: asked(options, *each), list(tasks(options))):
        answers.append(one)
        print(
            f"{one['judgement']:8}{one['verdict']:22}{one['seconds']:7.2f} s  {one['file']}  {one['why']}"[:160],
            flush=True,
        )
        if options.keep:
            options.keep.write_text(json.dumps(answers, indent=1) + "\n")
    table(answers)


def tasks(options: argparse.Namespace) -> Iterator[tuple[dict[str, Any], bool]]:
    """The tasks with a verdict for the property."""
    for task in json.loads((options.suite / "manifest.json").read_text()):
        expected = (task.get("expected") or {}).get(options.property)
        if expected is None and options.best_known:
            expected = (task.get("best_known") or {}).get(options.property)
        if options.loopscc:
            expected = None if task.get("conflict") else task.get("loopscc_expected_unreach_call")
        wanted = not options.only or any(task["file"].startswith(start) for start in options.only)
        if expected is not None and wanted:
            yield task, expected


def asked(options: argparse.Namespace, task: dict[str, Any], expected: bool) -> dict[str, Any]:  # noqa: FBT001
    """The answer about one task, by the command as users call it."""
    command = [sys.executable, "-m", "loopless", "verify", str(options.suite / task["file"]), "--format", "json"]
    command += ["--property", options.property, "--timeout", str(options.timeout), "--integers", options.integers]
    command += ["--data-model", task.get("data_model") or "ILP32"]
    if options.certificates:
        options.certificates.mkdir(parents=True, exist_ok=True)
        name = f"{task['file']}.{options.property}".replace("/", "-")
        command += ["--certificate", str(options.certificates / f"{name}.json")]
    done, seconds = measured(command, capture_output=True)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {"verdict": "crash", "reason": done.stderr[-300:]}
    verdict = answer.get("verdict") or f"error: {answer['errors'][0]['message'][:60]}"
    said = {"true": True, "false": False}.get(verdict.split("(")[0])
    judgement = "unknown" if said is None else ("right" if said == expected else "WRONG")
    beside = {}
    if options.beside_eva:
        file = options.suite / task["file"]
        found, took = eva.asked(
            file, options.property, task.get("data_model") or "ILP32", options.eva_timeout or options.timeout
        )
        beside = {"eva": found, "eva_seconds": round(took, 2)}
    return beside | {
        "file": task["file"], "features": task.get("features", []), "expected": expected, "verdict": verdict,
        "judgement": judgement, "seconds": round(seconds, 2), "method": answer.get("method"),
        "why": answer.get("reason") or answer.get("method") or "", "assumptions": answer.get("assumptions", []),
        "certified": bool((answer.get("judged") or {}).get("accepted")), "replayed": bool(answer.get("replayed")),
    }  # fmt: skip


def table(answers: list[dict[str, Any]]) -> None:
    """The answers by folder, and what gave them."""
    rows = defaultdict(list)
    for one in answers:
        rows[one["file"].split("/")[0]].append(one)
    print("| suite | tasks | right | unknown | wrong | s in all | median of a true |\n|---|---|---|---|---|---|---|")
    for name, some in [*sorted(rows.items()), ("all", answers)]:
        count = Counter(one["judgement"] for one in some)
        true = [one["seconds"] for one in some if one["verdict"] == "true"]
        median = f"{statistics.median(true):.2f}" if true else "-"
        share = f"{count['right']} ({100 * count['right'] // max(len(some), 1)}%)"
        total = sum(one["seconds"] for one in some)
        print(f"| {name} | {len(some)} | {share} | {count['unknown']} | {count['WRONG']} | {total:.0f} | {median} |")
    methods = Counter((one["verdict"].split("(")[0], one["method"]) for one in answers if one["judgement"] == "right")
    print("; ".join(f"{verdict} by {method}: {number}" for (verdict, method), number in methods.most_common()))
    true = [one for one in answers if one["verdict"] == "true"]
    false = [one for one in answers if one["verdict"].startswith("false")]
    if answers and "eva" in answers[0]:
        eva_table(rows, answers)
    print(
        f"certificates accepted: {sum(one['certified'] for one in true)} of {len(true)}; "
        f"replayed: {sum(one['replayed'] for one in false)} of {len(false)}"
    )


def eva_table(rows: dict[str, list[dict[str, Any]]], answers: list[dict[str, Any]]) -> None:
    """What Eva proves of the tasks whose verdict is true, beside Loopless; it refutes nothing by a run."""
    print(
        "\n| suite | true tasks | Loopless | s | Eva | s | Eva proves what is false | only Eva |\n|---|---|---|---|---|---|---|---|"
    )
    for name, some in [*sorted(rows.items()), ("all", answers)]:
        true = [one for one in some if one["expected"]]
        ours = [one for one in true if one["judgement"] == "right"]
        theirs = [one for one in true if one["eva"] == "true"]
        wrong = sum(one["eva"] == "true" for one in some if not one["expected"])
        only = sum(one["judgement"] != "right" for one in theirs)
        seconds, others = (sum(one[key] for one in true) for key in ("seconds", "eva_seconds"))
        print(
            f"| {name} | {len(true)} | {len(ours)} | {seconds:.0f} | {len(theirs)} | {others:.0f} | {wrong} | {only} |"
        )


if __name__ == "__main__":
    main()

"""Verdicts of ``loopless reach`` on programs whose verdicts were worked out by hand, and what blind search says of them.

    python bench/reach.py [--scales 1 10 100] [--only hello hw] [--no-summary] [--keep FILE]
    python bench/reach.py --svcomp SVCOMP [--keep FILE]
    python bench/reach.py --angr PYTHON [--seconds 60] [--keep FILE]
    python bench/reach.py --report FILE... [--beside FILE...]

The programs are in ``bench/reach/programs``: a comment marks the target, others say what is expected, by default and with
other constants (``variant``); ``SCALE`` makes the constants ten and a hundred times larger. SVCOMP is a folder of the
suites of the verification competition: of its loop-acceleration the programs of Proteus's table 6 and their kind, with
other bounds. PYTHON is one that can import angr; it explores each program breadth first and depth first, at -O0 and -O1.
``--keep`` writes the answers as JSON; ``--report`` makes a table of such files, with those of angr ``--beside``.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

PROGRAMS: Final = Path(__file__).parent / "reach" / "programs"
PAPER: Final = {
    "hello": 0.026, "hw": 0.175, "hwm": 1.997, "doif": 0.388, "doifex": 1.745, "eqcnt": 0.191, "eqcntex": 2.458,
    "oneloop": 0.002, "twoloops": 0.003,
}  # fmt: skip
"""Seconds in the paper's table 2, of its own sources on a computer of 2008: not those of the same programs."""
ORDERS: Final = ("bfs", "dfs")
LEVELS: Final = ("-O0", "-O1")
DEFAULT: Final = "SCALE=1"


@dataclass(frozen=True, slots=True)
class Task:
    """One question: a program with its flags and target, and what is right."""

    name: str
    file: Path
    flags: tuple[str, ...]
    target: tuple[str, ...]
    expected: str
    options: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The program with its constants."""
        given = " ".join(flag.removeprefix("-D") for flag in self.flags)
        return self.name + (f" {given}" if given not in ("", DEFAULT) else "")


def main() -> None:
    """One run, or tables of earlier ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scales", nargs="*", type=int, default=[1])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--no-summary", action="store_true")
    parser.add_argument("--svcomp", type=Path)
    parser.add_argument("--angr", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--report", nargs="*", type=Path)
    parser.add_argument("--beside", nargs="*", type=Path, default=[])
    options = parser.parse_args()
    if options.report:
        table([one for file in options.report for one in json.loads(file.read_text())],
              [one for file in options.beside for one in json.loads(file.read_text())])  # fmt: skip
        return
    answers: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        tasks = of_competition(options.svcomp, Path(scratch)) if options.svcomp else programs(options.scales)
        for task in tasks:
            if options.only and task.name not in options.only:
                continue
            found = explored(task, options, Path(scratch)) if options.angr else [asked(task, options)]
            for one in found:
                answers.append(one)
                print(
                    f"{one['judgement']:8}{one['verdict']:14}{one['seconds']:7.2f} s  {one['name']}  {one['why']}"[
                        :160
                    ],
                    flush=True,
                )
            if options.keep:
                options.keep.write_text(json.dumps(answers, indent=1) + "\n")
    if not options.angr:
        table(answers, [])


# -- tasks ------------------------------------------------------------------------------------------------------------


def programs(scales: list[int]) -> Iterator[Task]:
    """The programs of the folder, by default and in their variants."""
    for file in sorted(PROGRAMS.glob("*.c")):
        text = file.read_text()
        (expected,) = re.findall(r"^/\* expect: (\w+) \*/$", text, re.MULTILINE)
        target = ("--line", str(target_line(text)))
        for scale in scales:
            yield Task(file.stem, file, (f"-DSCALE={scale}",), target, expected)
        if 1 in scales:
            for flags, verdict in re.findall(r"^/\* variant: (.*) -> (\w+) \*/$", text, re.MULTILINE):
                yield Task(file.stem, file, tuple(flags.split()), target, verdict)


def target_line(text: str) -> int:
    """The line that is marked."""
    (line,) = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("/* target */")]
    return line


BOUNDS: Final = (1001, 100_001, 0x0FFFFFFF, 0x7FFFFFFF)
"""From 10^3 to 2^31, all odd: phases_1-2 counts up to its bound, and fails where that is odd."""
SUITE: Final = {
    "functions_1-1": ("0x0fffffff", "unreachable"), "functions_1-2": ("0x0fffffff", "reached"),
    "multivar_1-1": ("1024", "unreachable"), "multivar_1-2": ("1024", "reached"),
    "phases_1-2": ("0x0fffffff", "reached"), "phases_2-1": ("", "reached"), "phases_2-2": ("", "unreachable"),
    "simple_2-1": ("0x0fffffff", "unreachable"), "simple_3-1": ("", "reached"), "simple_3-2": ("", "unreachable"),
    "overflow_1-1": ("", "unreachable"),
}  # fmt: skip
"""The bound in the program's text, and what is right for each of :data:`BOUNDS`. By hand: functions steps by 2 from 0 and
asserts that x is even (1-1) or odd (1-2); multivar keeps y - x, which is 0 (1-1) or 1 (1-2); phases_1-2 see above;
phases_2-1 fails for y == 1, where 2-2 holds, and no other y leaves the loop; simple_2-1 asserts the loop's own end;
simple_3 steps by 2 from 0; overflow wraps around from an even number to 0."""


def of_competition(suite: Path, scratch: Path) -> Iterator[Task]:
    """Programs of loop-acceleration with several bounds."""
    for name, (bound, expected) in SUITE.items():
        file = suite / "loop-acceleration" / f"{name}.c"
        text = file.read_text()
        for value in BOUNDS if bound else (0,):
            changed = scratch / f"{name}_{value}.c" if bound else scratch / f"{name}.c"
            changed.write_text(text.replace(bound, str(value)) if bound else text)
            shown = f"{name} to {value:,}" if bound else name
            yield Task(shown, changed, (), ("--call", "reach_error"), expected, ("--data-model", "ILP32"))


# -- our answers ------------------------------------------------------------------------------------------------------


def asked(task: Task, options: argparse.Namespace) -> dict[str, Any]:
    """The answer about one task, by the command as users call it."""
    command = [sys.executable, "-m", "loopless", "reach", str(task.file), *task.target, *task.options]
    command += ["--format", "json", "--timeout", str(options.timeout)]
    command += ["--no-summary"] if options.no_summary else []
    started = time.monotonic()
    done = subprocess.run([*command, "--", *task.flags], capture_output=True, text=True, check=False)
    seconds = time.monotonic() - started
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {"errors": [{"message": done.stderr[-300:]}]}
    verdict = answer.get("verdict") or f"error: {answer['errors'][0]['message'][:60]}"
    return {
        "name": task.shown, "expected": task.expected, "verdict": verdict, "judgement": judged(verdict, task.expected),
        "seconds": round(seconds, 2), "method": answer.get("method"), "why": answer.get("reason") or answer.get("method") or "",
        "certified": bool((answer.get("judged") or {}).get("accepted")), "replayed": bool(answer.get("replayed")),
        "tool": "loopless" + (" --no-summary" if options.no_summary else ""), "tried": answer.get("tried", []),
    }  # fmt: skip


def judged(verdict: str, expected: str) -> str:
    """Whether a verdict is the right one."""
    if verdict not in ("reached", "unreachable"):
        return "unknown"
    return "right" if verdict == expected else "WRONG"


# -- angr -------------------------------------------------------------------------------------------------------------

MARKED: Final = "void loopless_target(void);\n"
REST: Final = (
    '__attribute__((noinline)) void loopless_target(void) { __asm__ volatile(""); }\nint main(void) { return 0; }\n'
)


def explored(task: Task, options: argparse.Namespace, scratch: Path) -> Iterator[dict[str, Any]]:
    """What angr comes to, in each order and at each level of optimization."""
    text = task.file.read_text()
    function = re.findall(r"^int (\w+)\(([^()]*)\) \{$", text, re.MULTILINE)
    if not function:
        return
    name, parameters = function[-1]
    kinds = [re.sub(r"\bconst\b|\w+$", "", one).strip() for one in parameters.split(",")]
    marked = re.sub(r"^( *)(.*;) /\* target \*/$", r"\1{ loopless_target(); \2 }", text, flags=re.MULTILINE)
    (scratch / "marked.c").write_text(MARKED + marked)
    (scratch / "rest.c").write_text(REST)
    for level in LEVELS:
        program = scratch / "marked"
        command = [
            "cc",
            level,
            "-fno-stack-protector",
            "-static",
            *task.flags,
            "marked.c",
            "rest.c",
            "-o",
            str(program),
        ]
        subprocess.run(command, cwd=scratch, check=True)
        for order in ORDERS:
            words = [str(options.angr), str(Path(__file__).parent / "reach" / "explore.py"), str(program), name, order]
            words += [str(options.seconds), *kinds]
            started = time.monotonic()
            try:
                done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=options.seconds + 30)
                lines = done.stdout.strip().splitlines()
                verdict, _, why = (lines[-1] if lines else f"crash {done.stderr[-100:]!r}").partition(" ")
            except subprocess.TimeoutExpired:
                verdict, why = "timeout", "in one step"
            yield {
                "name": task.shown, "expected": task.expected, "verdict": verdict, "why": why, "tool": f"angr {order} {level}",
                "judgement": judged(verdict, task.expected), "seconds": round(time.monotonic() - started, 2),
            }  # fmt: skip


# -- tables -----------------------------------------------------------------------------------------------------------


def table(answers: list[dict[str, Any]], beside: list[dict[str, Any]]) -> None:
    """The answers in rows; what other tools said in columns."""
    tools = sorted({one["tool"] for one in beside})
    head = ["program", "expected", "verdict", "by", "s", "paper, s", *tools]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for one in answers:
        others = {other["tool"]: other for other in beside if other["name"] == one["name"]}
        told = [f"{others[tool]['verdict']}, {others[tool]['seconds']:.1f}" if tool in others else "" for tool in tools]
        proof = " (certificate)" if one.get("certified") else ""
        paper = PAPER.get(one["name"], "")
        verdict = one["verdict"] if one["judgement"] != "WRONG" else f"**WRONG: {one['verdict']}**"
        cells = [
            one["name"],
            one["expected"],
            verdict + proof,
            one["method"] or "",
            f"{one['seconds']:.2f}",
            str(paper),
            *told,
        ]
        print(f"| {' | '.join(cells)} |")
    for tool in (*sorted({one["tool"] for one in answers}), *tools):
        some = [one for one in (*answers, *beside) if one["tool"] == tool]
        count = Counter(one["judgement"] for one in some)
        print(f"\n{tool}: {count['right']} of {len(some)} right, {count['unknown']} unknown, {count['WRONG']} wrong, "
              f"{sum(one['seconds'] for one in some):.0f} s in all")  # fmt: skip


if __name__ == "__main__":
    main()

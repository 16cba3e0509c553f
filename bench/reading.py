"""What people read of everyday functions: what ``loopless summarize`` tells of each, in how many lines, and what it leaves out.

    python bench/reading.py FOLDER [--keep FILE] [--before FILE] [--only NAME] [--advice]

Each file of the folder is asked for twice with default limits, as a user would, by ``summarize`` and by ``bound``. A row
is a function with loops: *told* is "whole" where the answer on each of its loops is exact and complete, "part" where
some of it is told, "refused" where nothing is; *bound*: whether each loop has an upper bound, or is said never to end,
under whatever condition; *lines* of the answer; *not told*: what the answer names as not told; *silent*: variables that
iterations hand on, or that are used behind the loop, and memory that it writes, whose name the answer has neither with a
value nor among what is not told; *advice*: commands that the answer gives. Seconds are those of the file, for ``summarize``. With ``--advice`` each of the commands
is run, and those that tell nothing are listed.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.model import Copy, Fill, Flowgraph, LoopInfo, Store
from loopless.paths.build import changed_variables, seen_at_ends, used_behind
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.refusals import Refused
from loopless.report.text import table
from loopless.terms import Const

WHOLE, PART, REFUSED = "whole", "part", "refused"
_HEAD = re.compile(r"^(?P<name>\S.*?:\d+:\d+\S*): (?P<verdict>.*)$")
_ADVICE = re.compile(r"^\s+(?:what to do|try): (.*)$")
_NOT_TOLD = re.compile(r"^\s+not (?:told|used afterwards|told, not used afterwards): (.*)$")


@dataclass
class Row:
    """What is told of one function."""

    file: str
    function: str
    told: str
    bound: bool
    lines: int
    not_told: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)
    seconds: float = 0.0


def main() -> int:
    """Ask, and show the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write the rows there")
    parser.add_argument("--before", type=Path, metavar="FILE", help="rows of an earlier run, shown beside these")
    parser.add_argument("--advice", action="store_true", help="run the commands that answers give")
    parser.add_argument("--only", default="", help="files whose name has this in it")
    options = parser.parse_args()
    files = sorted(f for f in options.folder.iterdir() if f.suffix in (".c", ".cpp") and options.only in f.name)
    rows = [row for file in files for row in rows_of(file)]
    if options.keep:
        options.keep.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    before = [Row(**row) for row in json.loads(options.before.read_text(encoding="utf-8"))] if options.before else []
    if options.advice:
        commands = list(
            dict.fromkeys(command for row in rows for command in row.advice if command.startswith("loopless "))
        )
        useless = [command for command in commands if not helps(command)]
        print(f"{len(commands)} commands run, {len(useless)} of them tell nothing", *useless, sep="\n  ")
    print(shown(rows, {(row.file, row.function): row for row in before}))
    return 0


def rows_of(file: Path) -> list[Row]:
    """A row for each function of the file that has loops, in the order of the file."""
    started = time.monotonic()
    paragraphs = answers_in(asked("summarize", file))
    seconds = round(time.monotonic() - started, 1)
    bounded = bounded_loops(json.loads(asked("bound", file, "--format", "json")))
    found: list[Row] = []
    for function in load([file], Settings()).functions:
        loops = [loop for loop in function.loops if loop.id.inlined_from is None]
        if not loops or function.is_stub:
            continue
        own = {loop.name: next((p for name, p in paragraphs.items() if same(name, loop.name)), []) for loop in loops}
        graph = function.graph()
        silent: list[str] = []
        for loop in loops:
            if loop.id.info is not None and not isinstance(graph, Refused):
                silent += [name for name in changed(graph, loop.id.info) if not tells(own[loop.name], name)]
        advice = [m[1] for lines in own.values() for line in lines if (m := _ADVICE.match(line))]
        gaps = list(dict.fromkeys(name for lines in own.values() for name in left_out(lines)))
        length = sum(map(len, own.values())) + max(0, len(loops) - 1)
        bound = all(any(same(name, loop.name) for name in bounded) for loop in loops)
        verdicts = [told(lines) for lines in own.values()]
        whole = WHOLE if set(verdicts) == {WHOLE} else REFUSED if set(verdicts) == {REFUSED} else PART
        found.append(Row(file.name, function.name, whole, bound, length, gaps, sorted(set(silent)), advice, seconds))
    return found


def asked(*words: object) -> str:
    """What the command prints."""
    line = [sys.executable, "-m", "loopless", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, check=False).stdout


def helps(command: str) -> bool:
    """Whether a command that an answer gives tells a bound, or what a call comes to."""
    verb, *words = shlex.split(command.rsplit(" (", 1)[0])[1:]
    text = asked(verb, *words)
    return (
        text.startswith("returns")
        if verb == "eval"
        else bool(re.search(r"^\S+: (?:at most|exactly) ", text, re.MULTILINE))
    )


def answers_in(text: str) -> dict[str, list[str]]:
    """The lines of each answer, by the name of its loop."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if head := _HEAD.match(line):
            found[head["name"]] = [line]
        elif line and found:
            next(reversed(found.values())).append(line)
    return found


def same(shown_name: str, name: str) -> bool:
    """Whether two names of a loop are the same but for the folder of the file."""
    return (
        Path(shown_name.split(":", maxsplit=1)[0]).name == Path(name.split(":", maxsplit=1)[0]).name
        and shown_name.split(":")[1:] == name.split(":")[1:]
    )


def told(lines: Sequence[str]) -> str:
    """How much an answer tells."""
    if not lines:
        return REFUSED
    words = [word.strip() for word in lines[0].split(": ", 1)[-1].split(",")]
    return REFUSED if "refused" in words else WHOLE if words[:2] == ["exact", "complete"] else PART


def left_out(lines: Sequence[str]) -> list[str]:
    """What an answer names as not told, of that which is used behind the loop."""
    found = (_NOT_TOLD.match(line) for line in lines if "afterwards" not in line)
    return [name for match in found if match for name in match[1].split(", ")]


def bounded_loops(document: dict[str, list[dict[str, object]]]) -> list[str]:
    """The names of loops with an upper bound, or of which it is known that they never end."""
    found = []
    for loop in document["loops"]:
        entry = loop["per_entry"]
        assert isinstance(entry, dict)
        if loop["upper"] is not None or any(entry[key] for key in ("upper", "any", "never_ends")) or loop["diverges"]:
            found.append(str(loop["name"]))
    return found


def changed(graph: Flowgraph, loop: LoopInfo) -> Iterable[str]:
    """The names of what the loop changes: variables that iterations hand on or that are used behind it, and memory."""
    ends = seen_at_ends(graph)
    live = live_at_entry(graph.blocks, ends)
    matters = (live[loop.header] | used_behind(graph, loop, live, ends)) & changed_variables(graph, loop)
    infos = [graph.variables[var] for var in matters]
    names = {info.shown for info in infos if info.is_source and info.pointer_part != "object"}
    for label in loop.blocks:
        for statement in graph.blocks[label].statements:
            address = statement.target if isinstance(statement, Copy) else getattr(statement, "address", None)
            if isinstance(statement, Store | Fill | Copy) and address is not None and isinstance(address.object, Const):
                target = graph.objects.get(address.object.value)
                names |= {target.name} if target is not None and target.name else set()
    return sorted(names)


def tells(lines: Sequence[str], name: str) -> bool:
    """Whether an answer says what a variable becomes, or names it among what it does not tell."""
    if lines and re.search(r": .*never ends(?:,|$)|  diverges always", "\n".join(lines[:2])):
        return True  # there is no value at an exit
    value = re.compile(rf"^    {re.escape(name)}(?:\.object|\[[^]]*\])?' = |, for some (?:.*, )?{re.escape(name)}'")
    return any(value.search(line) or name in names_in(line) for line in lines)


def names_in(line: str) -> list[str]:
    """The names of what a line says is not told, without marks of arrays and pointers."""
    gap = _NOT_TOLD.match(line)
    return [re.sub(r"^\*|\[\]$", "", name) for name in gap[1].split(", ")] if gap else []


def shown(rows: Sequence[Row], before: dict[tuple[str, str], Row]) -> str:
    """The table, with medians."""

    def cells(row: Row | None) -> list[str]:
        if row is None:
            return ["-"] * len(titles)
        gaps, silent = (", ".join(names) or "-" for names in (row.not_told, row.silent))
        return [row.told, "yes" if row.bound else "no", str(row.lines), gaps, silent, str(len(row.advice))]

    titles = ["told", "bound", "lines", "not told", "silent about", "advice"]
    head = ["function", *(["before: told", *titles[1:]] if before else []), *titles]
    lines = [head]
    for row in rows:
        earlier = before.get((row.file, row.function))
        lines.append([f"{row.file}:{row.function}", *(cells(earlier) if before else []), *cells(row)])
    totals = [("before", list(before.values()))] if before else []
    words = [total(name, found) for name, found in [*totals, ("now", list(rows))]]
    return "\n".join([table(lines), "", *words])


def total(name: str, rows: Sequence[Row]) -> str:
    """One line about all rows."""
    count = {kind: sum(row.told == kind for row in rows) for kind in (WHOLE, PART, REFUSED)}
    lines = [row.lines for row in rows]
    return (
        f"{name}: {len(rows)} functions: {count[WHOLE]} whole, {count[PART]} in part, {count[REFUSED]} refused; "
        f"{sum(row.bound for row in rows)} with bounds; lines: median {statistics.median(lines):g}, "
        f"most {max(lines)}, {sum(n > 60 for n in lines)} above 60; "
        f"name what they leave out: {sum(bool(row.not_told) for row in rows)}; silent: {sum(bool(row.silent) for row in rows)}; "
        f"advice: {sum(len(row.advice) for row in rows)}"
    )


if __name__ == "__main__":
    sys.exit(main())

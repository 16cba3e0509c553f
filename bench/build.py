"""The loops of a real build: what Loopless says of each, beside two compilers' time and LLVM's ScalarEvolution.

    python bench/build.py BUILD_DIR [FILE...] [--jobs 2] [--question both] [--keep new.json] [--against old.json] [--slowest 10]
    python bench/build.py --report a.json b.json

BUILD_DIR has a compile_commands.json. All its files, or the FILEs of it, are asked about as on the command line, with the default
limits: ``loopless bound -p BUILD_DIR --format json FILE...`` and ``loopless summarize ...``, one process for all files; files
that define the same name do not link, and are spread over as few programs as a first fit, of the largest first, finds. The
answers are put into a Markdown table; ``--report`` prints that of several kept runs, a column each, and their lists.

A loop is a place in the source, ``file:line:column``, not a copy of it in each function that it is inlined into, nor in each file
that includes it: where the answers about copies differ, the worst counts. Counts and bounds are those of one entry to the loop.
ScalarEvolution is asked by ``opt``, where that is installed, as in ``bench/scev.py``.
"""

from __future__ import annotations

import argparse
import collections
import functools
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import build_table
import processor
from scev import theirs_of

import loopless
from loopless.errors import LooplessError
from loopless.graphs import reachable
from loopless.project.discovery import find_sources
from loopless.source import SourceOptions, ir, toolchain
from loopless.source.compile import CXX_SUFFIXES, compile_ir
from loopless.source.database import CompileCommand, CompileDatabase
from loopless.source.reader import read_module

_STRONG = re.compile(
    r"^define (?!internal|private|weak|linkonce|available_externally)[^\n@]*@(\"[^\"]*\"|[\w.$]+)\(", re.MULTILINE
)
_GLOBAL = re.compile(
    r"^@(\"[^\"]*\"|[\w.$]+) = (?:dso_local |thread_local |local_unnamed_addr |hidden )*(?:global|constant) ",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Unit:
    """One file of the build, as it is compiled to IR."""

    file: Path
    command: CompileCommand
    text: str

    @property
    def defined(self) -> frozenset[str]:
        """The names that no other file of a program may define."""
        return frozenset((*_STRONG.findall(self.text), *_GLOBAL.findall(self.text)))


def units_of(build: Path, files: Sequence[Path]) -> tuple[list[Unit], dict[str, str]]:
    """The files of a build, and why some cannot be read."""
    database = CompileDatabase(build)
    found, unread = [], {}
    for file in find_sources(files, build):
        try:
            command = database.command(file)
            found.append(Unit(file, command, compile_ir(file, SourceOptions(), command)))
        except LooplessError as error:
            unread[str(file)] = str(error).splitlines()[0]
    return found, unread


def programs(units: Sequence[Unit]) -> list[list[Unit]]:
    """The files, by first fit so that none of a program defines what another one of it does.

    The largest comes first: of two that define the same it is the one that the others call more, and the small one
    stands alone.
    """
    found: list[tuple[list[Unit], set[str]]] = []
    for unit in sorted(units, key=lambda unit: -len(unit.text)):
        fitting = next((program for program in found if not program[1] & unit.defined), None)
        if fitting is None:
            fitting = ([], set())
            found.append(fitting)
        fitting[0].append(unit)
        fitting[1].update(unit.defined)
    return [members for members, _ in found]


class Clock:
    """The seconds that child processes take while it is entered: by the wall, and of the processor."""

    def __enter__(self) -> Clock:
        self._wall, self._cpu = time.monotonic(), _children()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall, self.cpu = time.monotonic() - self._wall, _children() - self._cpu


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@functools.cache
def as_installed() -> dict[str, str]:
    """The environment in which Loopless runs as where it is installed: from bytecode, whatever this process writes."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    package = str(Path(loopless.__file__).parent)
    subprocess.run([sys.executable, "-m", "compileall", "-q", package], env=environment, check=False)
    return environment


def asked(question: str, build: Path, files: Sequence[Path], jobs: int) -> dict[str, Any]:
    """The answer of the command line about files that make one program. Raises SystemExit where there is none."""
    command = [
        sys.executable,
        "-m",
        "loopless",
        question,
        "-p",
        str(build),
        "--format",
        "json",
        "-j",
        str(jobs),
        *map(str, files),
    ]
    with tempfile.TemporaryFile("w+") as out:
        done, _ = processor.measured(command, stdout=out, stderr=subprocess.PIPE, env=as_installed())
        out.seek(0)
        try:
            answer: dict[str, Any] = json.load(out)
        except ValueError:
            raise SystemExit(
                f"loopless {question} ended with {done.returncode}: {done.stderr.strip()[-500:]}"
            ) from None
    if answer["errors"]:
        raise SystemExit(f"loopless {question}: {answer['errors'][0]['message']}")
    return answer


def compiling(compiler: Sequence[str], units: Sequence[Unit]) -> Clock | None:
    """The time that a compiler takes for the files at -O2, one after the other; None where it refuses one."""
    with tempfile.TemporaryDirectory() as folder, Clock() as clock:
        for unit in units:
            command, own = unit.command, list(compiler)
            if not compiler:
                own = toolchain.clang_command(None, command.data_model, cxx=unit.file.suffix in CXX_SUFFIXES)
                own += ["-fno-sanitize=all"] + (
                    ["-target", toolchain.zig_target(command.target)]
                    if command.target and not command.data_model
                    else []
                )
            words = [*own, *command.flags, "-w", "-O2", "-c", str(command.file.absolute()), "-o", f"{folder}/out.o"]
            status, message = toolchain.run(words, Path(folder), command.directory, 600, f"compiling {unit.file}")
            if status:
                print(f"{own[0]}: {unit.file}: {message.strip()[:200]}", file=sys.stderr)
                return None
    return clock


# -- loops and their places -------------------------------------------------------------------------------------------


class Places:
    """Names for places that do not depend on where the build directory is, nor from where it is read."""

    def __init__(self, build: Path, units: Sequence[Unit]) -> None:
        self.root = build.resolve()
        self.shown = {
            str(path): str(unit.file) for unit in units for path in (unit.file.resolve(), unit.file.absolute())
        }

    def name(self, file: str, line: int, column: int) -> str:
        """``file:line:column``."""
        path = Path(file).resolve() if file in self.shown.values() else Path(file)
        inside = path.relative_to(self.root) if path.is_relative_to(self.root) else path
        return f"{inside}:{line}:{column}"

    def of_answers(self, loops: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The loops of an answer, each with its key: several that one function has at one place get numbers."""
        names: dict[tuple[str, str], list[str]] = collections.defaultdict(list)
        for loop in loops:
            place = self.name(loop["file"], loop["line"], loop["column"])
            here = names[loop["function"], place]
            if loop["name"] not in here:  # else a copy of a static function, of another file
                here.append(loop["name"])
            yield _numbered(place, here.index(loop["name"])), loop

    def of_module(self, module: ir.Module) -> Iterator[tuple[str, str, str, bool]]:
        """The blocks of a module that are a loop's header, or may be: function, header, key, whether it surely is."""
        for function in module.defined():
            following = {block.label: block.successors for block in function.blocks}
            live = set(reachable([function.blocks[0].label], following.__getitem__))
            marked = {
                block.successors[0]: block.loop.start
                for block in function.blocks
                if block.label in live and block.loop is not None and block.loop.start is not None
            }
            seen: collections.Counter[str] = collections.Counter()
            for block in function.blocks:
                first = next((i.loc for i in block.code() if i.loc is not None and i.loc.line), None)
                loc = marked.get(block.label, first)
                if block.label in live and loc is not None:
                    place = self.name(loc.file, loc.line, loc.column)
                    yield function.name, block.label, _numbered(place, seen[place]), block.label in marked
                    seen[place] += block.label in marked


def _numbered(place: str, number: int) -> str:
    return place if number == 0 else f"{place}#{number + 1}"


def scalar_evolution(
    units: Sequence[Unit], places: Places
) -> tuple[set[str], dict[str, dict[str, str]] | None, list[str]]:
    """The loops of the files as clang marks them; ScalarEvolution's counts where ``opt`` is installed; its failures."""
    loops: set[str] = set()
    found: dict[str, dict[str, str]] = {}
    failed = []
    there = shutil.which("opt") is not None
    for unit in units:
        said: dict[tuple[str, str], dict[str, str]] = {}
        try:
            said = theirs_of(unit.text) if there else {}
        except (ValueError, subprocess.TimeoutExpired) as error:
            failed.append(f"{unit.file}: {str(error).splitlines()[0][:200]}")
        for function, header, key, sure in places.of_module(read_module(unit.text, places.shown)):
            loops |= {key} if sure else set()
            if (function, header) in said:
                found.setdefault(key, said[function, header])
    return loops, found if there else None, failed


# -- one run ----------------------------------------------------------------------------------------------------------


def measured(build: Path, files: Sequence[Path], jobs: int, questions: Sequence[str], label: str) -> dict[str, Any]:
    """All that is to be kept of a run."""
    units, unread = units_of(build, files)
    if not units:
        raise SystemExit(f"none of the files of {build} can be read: {next(iter(unread.values()))}")
    places, parts = Places(build, units), programs(units)
    run: dict[str, Any] = {
        "label": label,
        "files": len(units),
        "unread": unread,
        "programs": len(parts),
        "jobs": jobs,
        "times": {},
    }
    yardsticks = {"clang": compiling((), units), "gcc": compiling(["gcc"], units) if shutil.which("gcc") else None}
    run["times"] = {
        name: {"wall": clock.wall, "cpu": clock.cpu} for name, clock in yardsticks.items() if clock is not None
    }
    rows: dict[str, dict[str, Any]] = {}
    functions: collections.Counter[tuple[str, str]] = collections.Counter()
    as_installed()  # not while the clock runs
    for question in questions:
        with Clock() as clock:
            answers = [asked(question, build, [unit.file for unit in part], jobs) for part in parts]
        run["times"][question] = {"wall": clock.wall, "cpu": clock.cpu}
        told = build_table.bound_row if question == "bound" else build_table.summary_row
        for answer in answers:
            _take(question, answer, places, rows, functions, told)
    loops, said, failed = scalar_evolution(units, places)
    for key in sorted(loops - set(rows)):
        rows[key] = {"function": ""}
    for key, row in rows.items():
        row["scev"] = None if said is None else said.get(key)
    run |= {
        "rows": dict(sorted(rows.items(), key=lambda item: _order(item[0]))),
        "opt": said is not None,
        "opt_failed": failed,
    }
    run["slowest"] = [[name, stage, round(ms)] for (name, stage), ms in functions.most_common(100)]
    return run


def _take(question: str, answer: dict[str, Any], places: Places, rows: dict[str, dict[str, Any]],
          functions: collections.Counter[tuple[str, str]], told: Any) -> None:  # fmt: skip
    for key, loop in places.of_answers(answer["loops"]):
        row = rows.setdefault(key, {"function": loop["function"]})
        found = {**told(loop), "answer": build_table.pruned(loop)}
        row[question] = max(row.get(question, found), found, key=build_table.rank)
        functions[loop["function"], f"{question}: its loops"] += loop["time_ms"]
    for function in answer.get("functions", ()):
        functions[function["name"], f"{question}: the function"] += function.get("time_ms", 0)


def _order(key: str) -> tuple[str, int, int]:
    file, line, column = key.rsplit(":", 2)
    return file, int(line), int(column.partition("#")[0])


def _kept(path: Path) -> build_table.Run:
    return build_table.renewed(json.loads(path.read_text()))


def main() -> int:
    """Measure a build, or report what was kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD_DIR", type=Path, nargs="?")
    parser.add_argument("files", metavar="FILE", type=Path, nargs="*", help="of the build; default: all")
    parser.add_argument("--jobs", type=int, default=2, help="workers")
    parser.add_argument("--question", choices=["bound", "summarize", "both"], default="both")
    parser.add_argument("--label", help="what the column is called; default: the name of BUILD_DIR")
    parser.add_argument("--keep", type=Path, help="write the answers loop by loop")
    parser.add_argument(
        "--against", type=Path, help="a kept run: which loops were gained and lost, which bounds differ"
    )
    parser.add_argument("--slowest", type=int, default=0, metavar="N", help="the functions that took longest")
    parser.add_argument("--report", type=Path, nargs="+", metavar="KEPT", help="show kept runs, ask nothing")
    options = parser.parse_args()
    if options.report:
        runs = [_kept(path) for path in options.report]
        print(
            "\n".join([build_table.table(runs), *(f"\n**{run['label']}**\n{build_table.lists(run)}" for run in runs)])
        )
        return 0
    if options.build is None:
        parser.error("name a BUILD_DIR")
    questions = ("bound", "summarize") if options.question == "both" else (options.question,)
    try:
        run = measured(
            options.build, options.files, options.jobs, questions, options.label or options.build.resolve().name
        )
    except LooplessError as error:
        raise SystemExit(str(error)) from None
    if options.keep:
        options.keep.write_text(json.dumps(run, indent=1) + "\n")
    print(build_table.table([run]))
    print(build_table.lists(run))
    if options.slowest:
        print(build_table.slowest(run, options.slowest))
    if options.against:
        print(build_table.compared(_kept(options.against), run))
    return 0


if __name__ == "__main__":
    sys.exit(main())

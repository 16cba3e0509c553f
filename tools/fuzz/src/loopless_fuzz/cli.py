"""The command ``loopless-fuzz``."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from loopless import clock
from loopless.cli.app import ANSWERED, INTERRUPTED, VIOLATED, drop_output, failure
from loopless.cli.options import SECONDS
from loopless.errors import UsageError
from loopless.garbage import seldom_collecting

if TYPE_CHECKING:
    from loopless_fuzz.campaigns.plan import Plan
    from loopless_fuzz.campaigns.rows import Row

_NAME: Final = "loopless-fuzz"
LOG: Final = "programs.jsonl"
"""The file in the folder of ``--keep`` that has a line for each program."""


@click.command(_NAME, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(None, "-V", "--version", package_name=_NAME, message="%(prog)s %(version)s")
@click.option(
    "--profile",
    metavar="NAME",
    default="nests",
    show_default=True,
    help="What kind of programs, as nests, nonlinear, recursion, single-loop, composed, data, everything.",
)
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="The first seed; the others count up from there.",
)
@click.option("--programs", metavar="N", type=click.IntRange(min=1), help="How many programs; default: no end.")
@click.option("--seconds", metavar="S", type=SECONDS, help="Start no program after this time.")
@click.option(
    "-j", "jobs", metavar="N", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes."
)
@click.option(
    "--keep",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep minimized cases and the log there; what the log has is not done again.",
)
@click.option(
    "--only",
    type=click.Choice(["loops", "functions", "programs", "rule", "data", "writing", "readings", "clean"]),
    help="Judge only loops, only whole functions, bounds of programs of several functions, what holds of "
    "loops that are entered in few states, loops and functions that read arrays and strings (the "
    "profile data), loops and functions that write memory (writing), answers on elements that are "
    "read with another sign or width (readings), or clean runs of whole programs.",
)
@click.option(
    "--states",
    metavar="N",
    type=click.IntRange(min=1),
    default=300,
    show_default=True,
    help="States drawn at the header of each loop.",
)
@click.option(
    "--inputs",
    metavar="N",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Inputs drawn for each function.",
)
@click.option(
    "--every",
    metavar="N",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Judge all states of each N-th 8-bit program; 0: of none.",
)
@click.option(
    "--undefined",
    metavar="N",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Give each N-th program _Bool, memcpy and shifts that may be undefined; 0: none.",
)
@click.option(
    "--loop-timeout", metavar="S", type=SECONDS, default=20.0, show_default=True, help="Seconds for each loop."
)
@click.option("--report", is_flag=True, help="Only show the table of what the log has.")
def command(**options: Any) -> int:
    """Draw random programs and compare what summaries say of them with what runs do, until stopped (Ctrl-C).

    Loops: from any state at a loop's header, the state lies in one region only, and exit, values and iterations are as
    that says. Functions: a call evaluated by the function's summary, by those of its loops, interpreted, and run
    natively comes to the same. A fourth of the programs has 8-bit variables, where all states are judged.

    Data: loops that read arrays and strings, where what these hold is a part of the state; at 8 bits, all contents of
    up to four elements, of a few values.

    Writing: functions whose loops write memory; what a summary says of elements is compared byte by byte, and the
    arrays behind a call with those behind native runs.

    Programs: 3 to 9 functions that share memory and call one another; what `bound` says of a run from main, and of
    each call, is never below what native runs count, and the same where it is exact.

    Rule: whole programs whose inputs are tested, assumed, or looked up before their loops; what `verify --rule
    bounded-loops`, `verify --property termination` and `bound` say agrees with native runs, and with each other.

    Readings: functions that read elements signed or unsigned, narrower, wider, or at bytes between; the bound at given
    elements, the call evaluated, the summary, and what is printed come to what native runs say.

    Clean: whole programs in C and C++ with structures by value, temporaries, jumps, and pointers to locals; a run that
    sanitizers call clean (also gcc's, where the machine has it) meets no undefined behaviour for the interpreter, and
    comes to the same; eval, verify and bound are asked about a program of each fourth file of ten.

    Exit status: 0 where nothing is wrong, 1 where an answer is wrong or Loopless crashed, 2 for bad usage.

    \b
    Examples (for a night: --seconds 36000 -j 4 --keep DIR):
      loopless-fuzz --profile single-path --programs 2 --only loops --every 0
      loopless-fuzz --profile composed --programs 1 --only functions --inputs 3
      loopless-fuzz --only programs --programs 2 --inputs 10 --loop-timeout 0.3
      loopless-fuzz --only rule --programs 2 --inputs 10 --loop-timeout 2
      loopless-fuzz --only data --programs 2 --seed 1 --every 0
      loopless-fuzz --only writing --programs 2 --every 0
      loopless-fuzz --only readings --programs 2
      loopless-fuzz --only clean --programs 10 --loop-timeout 1
    """
    from loopless_fuzz.campaigns.rows import read_rows
    from loopless_fuzz.campaigns.table import report

    plan = _plan(options)
    keep: Path | None = options["keep"]
    rows: list[Row] = []
    if keep is not None:
        rows = [row for row in read_rows(keep / LOG) if row.profile == plan.profile]
    if not options["report"]:
        _work(plan, rows, options)
    elif keep is None:
        raise click.UsageError("--report shows the log of an earlier run; name its folder with --keep DIR")
    elif not rows:
        raise UsageError(f"there is nothing to report: {keep / LOG} has no programs of {plan.profile}")
    click.echo(report(rows))
    return VIOLATED if any(row.wrong for row in rows) else ANSWERED


def _plan(options: dict[str, Any]) -> Plan:
    """What is drawn and judged. Raises ``UsageError`` for a profile that there is not."""
    from loopless_fuzz.campaigns.plan import CLEAN, READING, READINGS, RULED, SEVERAL, WRITING, Plan, check_profile

    named = {
        "programs": SEVERAL,
        "rule": RULED,
        "data": READING,
        "writing": WRITING,
        "readings": READINGS,
        "clean": CLEAN,
    }
    return Plan(
        profile=named.get(options["only"] or "") or check_profile(options["profile"]),
        states=options["states"],
        inputs=options["inputs"],
        every=options["every"],
        loops=options["only"] != "functions",
        functions=options["only"] != "loops",
        limit_s=options["loop_timeout"],
        undefined=options["undefined"],
    )


def _of_readings() -> Any:
    """The work on functions that read elements otherwise than declared; what is printed is judged, too."""
    from loopless.report.bounds import function_json as bound_json
    from loopless.report.functions import function_json as summary_json
    from loopless_fuzz.campaigns.campaign import Work
    from loopless_fuzz.campaigns.readings import Printing, judge_readings, keep_reading

    return Work(partial(judge_readings, Printing(bound_json, summary_json)), keep_reading)


def _make_folder(keep: Path) -> None:
    """Make the folder for the log. Raises ``UsageError``."""
    try:
        keep.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {keep} (--keep): {error.strerror or error}") from None
    if not os.access(keep, os.W_OK | os.X_OK):
        raise UsageError(f"cannot write into the folder {keep} (--keep)")


def _work(plan: Any, rows: list[Row], options: dict[str, Any]) -> None:
    """Add the rows of programs that are not done, until all are or somebody ends it."""
    from loopless_fuzz.campaigns.campaign import Work, campaign
    from loopless_fuzz.campaigns.clean import BATCH, judge_clean, keep_clean
    from loopless_fuzz.campaigns.rows import write_rows
    from loopless_fuzz.campaigns.ruled import judge_ruled, keep_ruled
    from loopless_fuzz.campaigns.several import judge_several, keep_several
    from loopless_fuzz.campaigns.table import progress
    from loopless_fuzz.campaigns.writing import judge_writing, keep_writing

    others = {
        "programs": Work(judge_several, keep_several),
        "rule": Work(judge_ruled, keep_ruled),
        "writing": Work(judge_writing, keep_writing),
        "readings": _of_readings(),
        "clean": Work(judge_clean, keep_clean),
    }
    work = others.get(options["only"], Work())
    step = BATCH if options["only"] == "clean" else 1  # programs of one file have one row
    keep: Path | None = options["keep"]
    if keep is not None:
        _make_folder(keep)
    done = {row.seed for row in rows}
    first: int = options["seed"]
    many: int | None = options["programs"]
    wanted = itertools.count(first, step) if many is None else range(first, first + many, step)
    seeds = (seed for seed in wanted if seed not in done)
    started = clock.wall()
    until = None if options["seconds"] is None else started + options["seconds"]
    before, shown = len(rows), sys.stderr.isatty()

    def ended(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, ended)
    with tempfile.TemporaryDirectory(prefix="loopless-fuzz-") as base:
        try:
            for row in campaign(plan, seeds, Path(base), jobs=options["jobs"], until=until, keep=keep, work=work):
                rows.append(row)
                if keep is not None:
                    write_rows(keep / LOG, [row])
                if shown:
                    line = progress(rows[before:], clock.wall() - started)
                    click.echo(f"\r\033[K{line}", nl=False, err=True)
        except KeyboardInterrupt:
            pass
    if shown:
        click.echo(err=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the words of ``argv`` (default: those of this process); its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        with seldom_collecting():
            status = command.main(words, _NAME, standalone_mode=False)
        return status if isinstance(status, int) else ANSWERED
    except click.exceptions.Exit as done:
        return done.exit_code
    except BrokenPipeError:
        drop_output()
        return ANSWERED
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  # whatever it is, users get one sentence
        kind, message, status = failure(error, f"{_NAME} --help")
        if kind == "output":
            drop_output()
        click.echo(f"{_NAME}: {message}", err=True)
        return status

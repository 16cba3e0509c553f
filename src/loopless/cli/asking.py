"""The common course of ``loops`` and ``summarize``: read the program, select loops, ask."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence, Sized
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, TypeVarTuple

import click

from loopless.cli.app import Request
from loopless.cli.colour import show
from loopless.cli.options import deadline_of, names_of, settings_of, show_trouble, warn
from loopless.cli.progress import Progress
from loopless.deadline import in_time
from loopless.records import dataclass

if TYPE_CHECKING:
    from loopless.queries.functions import FunctionAnswer
    from loopless.queries.jobs.overrun import Overrun
    from loopless.queries.loops.answer import LoopAnswer, Question
    from loopless.queries.program import AnalyzedLoop
    from loopless.queries.settings import Settings

_A = TypeVar("_A")
_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")
ENGINES: Final = ("ctypes", "loopless.queries.loops.answering", "loopless.report.making", "loopless.report.text")
"""What answering needs, and each child process at its start: imported while the compiler runs."""
DRAWN: Final = ("dot", "svg")
"""The formats that show the automaton."""
_OF_LOOPS: Final = (("places", "--loop"), ("variables", "--vars"), ("assume", "--assume"), ("traces", "--traces"))
MERGED: Final = ("text", "json")
"""The formats that show which cases come to the same."""


def written(
    request: Request,
    options: Mapping[str, Any],
    make: Callable[[_A], _T],
    answers: Sequence[_A],
    without: Callable[[_A, Overrun], _A],
) -> tuple[list[_T], bool]:
    """What ``make`` makes of the answers under the limits of the options: see :func:`loopless.report.making.parts`."""
    from loopless.report.making import parts

    settings = settings_of(request, options)
    return parts(make, answers, without, settings, deadline_of(request, settings))


def written_whole(request: Request, options: Mapping[str, Any], make: Callable[[*_Ts], _T], *about: *_Ts) -> _T:
    """The same of what is of no use in parts: see :func:`loopless.report.making.whole`."""
    from loopless.report.making import whole

    settings = settings_of(request, options)
    return whole(make, settings, deadline_of(request, settings), *about)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked about which loops, under which settings, and the deadline of the request."""

    loops: Sequence[AnalyzedLoop]
    question: Question
    settings: Settings
    until: float | None


def asked(request: Request, files: Sequence[Path], options: Mapping[str, Any], progress: Progress) -> Asked:
    """Read the program and select the loops that the options speak of."""
    from loopless.queries.program import load_while_importing

    settings = settings_of(request, options)
    until = deadline_of(request, settings)
    progress.say(f"reading {', '.join(map(str, files))}")
    with in_time(until):
        program = load_while_importing(files, settings, ENGINES)
        from loopless.limits.queries import LEAST_FOR_SUMMARY_S
        from loopless.queries.assume.conditions import names_in
        from loopless.queries.jobs.effort import shared
        from loopless.queries.loops.answer import Question
        from loopless.queries.selection import check_variables, select_loops

        loops = select_loops(program, options.get("functions", ()), options.get("places", ()))
        form = options["format_"]
        question = Question(
            names_of(options.get("variables")),
            options.get("assume"),
            draw=form in DRAWN,
            merge=form in MERGED,
            entered=form in MERGED,
            approximate=True,
        )
        spoken_of = names_in(question.assume) if question.assume is not None else ()
        check_variables(loops, (*(question.variables or ()), *spoken_of))
    if not loops and form in (*DRAWN, "smtlib"):
        warn(f"no loops in {', '.join(map(str, files))}")
    return Asked(loops, question, shared(settings, len(loops), LEAST_FOR_SUMMARY_S), until)


def ask(request: Request, files: Sequence[Path], options: Mapping[str, Any]) -> list[LoopAnswer]:
    """The answers about all loops that the options select."""
    with Progress() as progress:
        what = asked(request, files, options, progress)
        found: dict[int, LoopAnswer] = {}
        for at, answer in _found(what, progress, found):
            found[at] = answer  # noqa: PERF403  # how many there are is shown
        advised = _Advising(what)
        answers = [advised(at, found[at]) for at in range(len(what.loops))]
    show_trouble([answer.trouble for answer in answers])
    return answers


def _found(what: Asked, progress: Progress, answered: Sized) -> Generator[tuple[int, LoopAnswer]]:
    """The answers as they are found; ``answered`` grows by them, and is shown as progress."""
    from loopless.queries.loops.answering import answers_as_found

    watch = progress.watching([loop.name for loop in what.loops], lambda: len(answered))
    return answers_as_found(what.loops, what.question, what.settings, what.until, watch)


class _Advising:
    """Puts advice to answers that are not complete. It is tried before it is given, which takes its time."""

    def __init__(self, what: Asked) -> None:
        self.what = what
        self.adviser: Callable[[AnalyzedLoop, LoopAnswer], LoopAnswer] | None = None

    def __call__(self, at: int, answer: LoopAnswer) -> LoopAnswer:
        if answer.answered or not self.what.question.entered:
            return answer
        if self.adviser is None:
            from loopless.queries.loops.advice import Adviser

            self.adviser = Adviser(self.what.settings, self.what.until)
        return self.adviser(self.what.loops[at], answer)


def tell_as_found(
    request: Request,
    files: Sequence[Path],
    options: Mapping[str, Any],
    maker: Callable[[Sequence[AnalyzedLoop]], Callable[[LoopAnswer], str]],
    *,
    apart: bool = True,
) -> bool:
    """Print a paragraph for each loop, in the order of the source and as soon as it and those before it are answered;
    whether all is answered and told. An interruption leaves what was found.

    ``maker`` gives what makes paragraphs of answers about these loops; ``apart``: whether an empty line is in between.
    """
    with Progress() as progress:
        what = asked(request, files, options, progress)
        from loopless.report.making import Making, loop_without  # not before the compiler runs

        found: dict[int, LoopAnswer] = {}
        with Making(maker(what.loops), loop_without, what.settings, what.until) as making:
            telling = Telling(options["color"], progress, apart=apart)
            advised = _Advising(what)

            def tell(_: int, answer: LoopAnswer) -> None:
                telling.tell(*making.made(answer), complete=answer.answered)
                show_trouble([answer.trouble])

            def tell_advised(at: int, answer: LoopAnswer) -> None:
                tell(at, advised(at, answer))

            names = [loop.name for loop in what.loops]
            in_turn(_found(what, progress, found), found, names, tell_advised, interrupted=tell)
    if not what.loops:
        click.echo("no loops")
    return telling.complete


class Telling:
    """Prints paragraphs, and knows whether they said all that was asked."""

    def __init__(self, colour: str, progress: Progress, *, apart: bool = True) -> None:
        self.colour, self.progress, self.apart = colour, progress, apart
        self.any, self.complete = False, True

    def tell(self, text: str, told: bool = True, *, complete: bool = True) -> None:  # noqa: FBT001, FBT002  # a pair
        """Print one more; ``told``: whether it has all that was found, ``complete``: whether all was found."""
        self.progress.clear()
        first, self.any = not self.any, True
        self.complete = self.complete and told and complete
        show(text if first or not self.apart else f"\n{text}", self.colour)


def in_turn(
    answers: Generator[tuple[int, _A]],
    found: dict[int, _A],
    names: Sequence[str],
    tell: Callable[[int, _A], None],
    *,
    interrupted: Callable[[int, _A], None] | None = None,
) -> None:
    """Tell answers that come in any order in that of their numbers, and keep them in ``found``. Where that is
    interrupted, what was found and not told is told (by ``interrupted``, which is to be quick), and of which of
    ``names`` there is no answer.
    """
    following = 0
    try:
        with closing(answers):
            for at, answer in answers:
                found[at] = answer
                while following in found:
                    tell(following, found[following])
                    following += 1
    except KeyboardInterrupt:
        for at in sorted(found):
            if at >= following:
                (interrupted or tell)(at, found[at])
        missing = [name for at, name in enumerate(names) if at not in found]
        warn(f"interrupted: no answer about {', '.join(missing)}" if missing else "interrupted")
        raise


def ask_whole(request: Request, files: Sequence[Path], options: Mapping[str, Any]) -> list[FunctionAnswer]:
    """The summaries of the functions that the options select, with the answers about their loops."""
    from loopless.queries.program import load_while_importing

    for given, option in _OF_LOOPS:
        if options.get(given):
            raise click.UsageError(f"{option} is about loops; leave it out with --whole")
    if options["format_"] not in ("text", "json"):
        raise click.UsageError(f"--format {options['format_']} is about loops; leave it out with --whole")
    settings = settings_of(request, options)
    until = deadline_of(request, settings)
    with in_time(until):
        program = load_while_importing(files, settings, ("loopless.queries.functions",))
        from loopless.limits.queries import LEAST_FOR_SUMMARY_S
        from loopless.queries.functions import answer_functions
        from loopless.queries.jobs.effort import shared
        from loopless.queries.loops.answer import Question

        named = [program[name] for name in options.get("functions", ())]
        functions = [one for one in program.functions if (one in named if named else one.is_listed)]
        for function in functions:
            function.graph()
    share = shared(settings, sum(len(function.loops) for function in functions), LEAST_FOR_SUMMARY_S)
    answers = answer_functions(functions, Question(classify=options["format_"] == "json"), share, until)
    show_trouble([answer.trouble for answer in answers] + [loop.trouble for answer in answers for loop in answer.loops])
    return answers

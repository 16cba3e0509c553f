"""The same question about the loops of many files, each a program of its own, several files at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import field, replace
from pathlib import Path

from loopless.errors import LimitError, LooplessError
from loopless.queries.jobs.overrun import Overrun
from loopless.queries.jobs.running import run_each
from loopless.queries.jobs.sandbox import Limits
from loopless.queries.loops.answer import LoopAnswer, Question
from loopless.queries.loops.answering import answer_all
from loopless.queries.program import AnalyzedLoop, AnalyzedProgram, load
from loopless.queries.settings import Settings
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class FileAnswers:
    """The answers about one file, or why it could not be read (``error``, of the ``kind`` "source" or "limit")."""

    file: str
    answers: tuple[LoopAnswer, ...] = ()
    error: str | None = None
    kind: str = "source"


@dataclass(frozen=True, slots=True)
class CensusLine:
    """A line of the census: how many loops there are of each type; ``untyped`` by reason."""

    loops: int = 0
    types: tuple[int, int, int, int] = (0, 0, 0, 0)
    untyped: tuple[tuple[str, int], ...] = field(default=())

    @property
    def without_type(self) -> int:
        """How many loops have no type."""
        return sum(number for _, number in self.untyped)


def survey_as_found(
    files: Sequence[Path],
    question: Question,
    settings: Settings,
    functions: Sequence[str] = (),
    until: float | None = None,
    watch: Callable[[Sequence[int]], None] = lambda _: None,
) -> Generator[tuple[int, FileAnswers]]:
    """The answers for each file, with its number and as soon as they are found; ``watch`` is told which files are being
    worked on. A file that cannot be read has its error and stops nothing. Each has a process of its own, so that the
    memory it needed is given back. Close it where not all is taken: that ends the work.
    """
    at_once = min(settings.processes, len(files))
    if at_once <= 1 and not settings.sandboxed:
        for at, file in enumerate(files):
            watch((at,))
            yield at, AskFile(file, question, settings, functions, until).run()
        return
    inner = replace(settings, workers=max(1, settings.processes // max(1, len(files))))
    jobs = [AskFile(file, question, inner, functions, until).run for file in files]
    limits = Limits(time_s=None, memory_mb=None, deadline=until)
    for at, result in run_each(jobs, limits, at_once, fresh=True, watch=watch):
        yield at, _overrun(files[at], result) if isinstance(result, Overrun) else result


def _overrun(file: Path, overrun: Overrun) -> FileAnswers:
    return FileAnswers(str(file), error=f"{file}: {overrun.detail}", kind="limit")


@dataclass(frozen=True, slots=True)
class AskFile:
    """The job of answering a question about the loops of one file; with ``functions``, of those that it has."""

    file: Path
    question: Question
    settings: Settings
    functions: Sequence[str]
    until: float | None

    def run(self) -> FileAnswers:
        """The answers, or why the file cannot be read."""
        try:
            loops = loops_of(load(self.file, self.settings), self.functions)
            return FileAnswers(str(self.file), tuple(answer_all(loops, self.question, self.settings, self.until)))
        except LooplessError as error:
            return unread(self.file, error)


def loops_of(program: AnalyzedProgram, functions: Sequence[str]) -> Sequence[AnalyzedLoop]:
    """The loops of a program; with ``functions``, of those functions that it has."""
    return [loop for loop in program.loops if not functions or loop.function.name in functions]


def unread(file: Path, error: LooplessError) -> FileAnswers:
    """What is said of a file that cannot be read."""
    return FileAnswers(str(file), error=str(error), kind="limit" if isinstance(error, LimitError) else "source")


class LoopsSoFar:
    """Which loops the files so far have: one of a header is the same in each file that includes it."""

    def __init__(self) -> None:
        self._known: set[tuple[str, int | None]] = set()

    def new(self, file: FileAnswers) -> tuple[LoopAnswer, ...]:
        """The answers about the next file, without those that an earlier one has of the same loops."""
        new = tuple(answer for answer in file.answers if (answer.loop.name, answer.type) not in self._known)
        self._known.update((answer.loop.name, answer.type) for answer in new)
        return new


def distinct(files: Iterable[FileAnswers]) -> list[LoopAnswer]:
    """The answers about all files, of each loop of the source once."""
    told = LoopsSoFar()
    return [answer for file in files for answer in told.new(file)]


def count(answers: Iterable[LoopAnswer]) -> CensusLine:
    """The census of some loops."""
    found = list(answers)
    types = Counter(answer.type for answer in found)
    untyped = Counter(_why_untyped(answer) for answer in found if answer.type is None)
    return CensusLine(len(found), (types[1], types[2], types[3], types[4]), tuple(sorted(untyped.items())))


def _why_untyped(answer: LoopAnswer) -> str:
    refused = answer.untyped or answer.refused
    return refused.reason.label if refused is not None else "not-asked"

"""Reports made under the limits under which their answers were found: in a child process, which may be ended.

An answer is a few nodes that share their parts; what is written of it, the numbers that are worked out for it and the
classes of its bounds may cost more than finding it did.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Generic, Self, TypeVar, TypeVarTuple

from loopless.errors import LimitError
from loopless.limits.report import MIN_REPORT_MB, MIN_REPORT_S
from loopless.queries.jobs.overrun import Overrun
from loopless.queries.jobs.running import run_all
from loopless.queries.jobs.sandbox import Limits, Pool
from loopless.queries.settings import Settings
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.report.json_report import assumptions_of

if TYPE_CHECKING:
    from loopless.queries.functions import FunctionAnswer
    from loopless.queries.loops.answer import LoopAnswer

_T = TypeVar("_T")
_A = TypeVar("_A")
_Ts = TypeVarTuple("_Ts")


def parts(
    make: Callable[[_A], _T],
    answers: Sequence[_A],
    without: Callable[[_A, Overrun], _A],
    settings: Settings,
    until: float | None = None,
) -> tuple[list[_T], bool]:
    """What ``make`` makes of each of the answers, and whether it could be made of all of them.

    All together have the limits of one loop. Where these do not suffice each is made by itself, and an answer of which
    that is not possible either is one ``without`` what is large in it, which says why. Raises :class:`LimitError` where
    not even that can be made.
    """
    if not settings.sandboxed or not answers:
        return MakeAll(make, answers).run(), True
    limits = _limits(settings, until)
    found = run_all([MakeAll(make, answers).run], limits)[0]
    if not isinstance(found, Overrun):
        return found, True
    if found.traceback:  # no limit, but an error in here
        return MakeAll(make, answers).run(), True
    each = run_all([Make(make, answer).run for answer in answers], limits, settings.processes)
    over = {place: one for place, one in enumerate(each) if isinstance(one, Overrun)}
    brief = [Make(make, without(answers[place], one)).run for place, one in over.items()]
    said = run_all(brief, Limits(MIN_REPORT_S, _memory(settings)), settings.processes)
    for place, instead in zip(over, said, strict=True):
        if isinstance(instead, Overrun):
            raise LimitError(_SENTENCE.format(over[place].detail))
        each[place] = instead
    return [one for one in each if not isinstance(one, Overrun)], not over


@dataclass(frozen=True, slots=True)
class Make(Generic[_A, _T]):
    """The job of making the report of one answer."""

    make: Callable[[_A], _T]
    answer: _A

    def run(self) -> _T:
        """The report."""
        return self.make(self.answer)


@dataclass(frozen=True, slots=True)
class MakeAll(Generic[_A, _T]):
    """The job of making the reports of several answers."""

    make: Callable[[_A], _T]
    answers: Sequence[_A]

    def run(self) -> list[_T]:
        """The reports, in the order of the answers."""
        return [self.make(answer) for answer in self.answers]


@dataclass(frozen=True, slots=True)
class MakeWhole(Generic[_T]):
    """The job of making one report of several values."""

    make: Callable[..., _T]
    about: tuple[object, ...]

    def run(self) -> _T:
        """The report."""
        return self.make(*self.about)


class Making(Generic[_A, _T]):
    """Makes reports one by one, as answers come, in a child process that stays for the next one. Use as a context
    manager, which ends it.

    Each has the limits of one loop; where these do not suffice, it is made of the answer ``without`` what is large in
    it.
    """

    def __init__(
        self,
        make: Callable[[_A], _T],
        without: Callable[[_A, Overrun], _A],
        settings: Settings,
        until: float | None = None,
    ) -> None:
        self._make, self._without, self._settings = make, without, settings
        self._pool: Pool[_T] = Pool([make], _limits(settings, until))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.__exit__()

    def made(self, answer: _A) -> tuple[_T, bool]:
        """The report of one answer, and whether it has all of it. Raises :class:`LimitError` where there is none."""
        if not self._settings.sandboxed:
            return self._make(answer), True
        try:
            found = self._pool.not_begun() if self._pool.late else self._pool.call(0, answer)
        except BaseException:
            self._pool.__exit__()  # what was interrupted must not answer for the next one
            raise
        if not isinstance(found, Overrun):
            return found, True
        if found.traceback:  # no limit, but an error in here
            return self._make(answer), True
        brief = Make(self._make, self._without(answer, found))
        instead = run_all([brief.run], Limits(MIN_REPORT_S, _memory(self._settings)))[0]
        if isinstance(instead, Overrun):
            raise LimitError(_SENTENCE.format(found.detail))
        return instead, False


_SENTENCE: Final = "the answer was found, but not written: {}"


def whole(make: Callable[[*_Ts], _T], settings: Settings, until: float | None, *about: *_Ts) -> _T:
    """The report that ``make`` makes of these values, in one piece. Raises :class:`LimitError` at a limit: a part of it
    would be of no use.
    """
    if not settings.sandboxed:
        return make(*about)
    made = run_all([MakeWhole(make, about).run], _limits(settings, until))[0]
    if isinstance(made, Overrun):
        if made.traceback:
            return make(*about)
        raise LimitError(_SENTENCE.format(made.detail))
    return made


def _limits(settings: Settings, until: float | None) -> Limits:
    time_s = None if settings.loop_timeout_s is None else max(settings.loop_timeout_s, MIN_REPORT_S)
    return Limits(time_s, _memory(settings), until)


def _memory(settings: Settings) -> int | None:
    return None if settings.loop_memory_mb is None else max(settings.loop_memory_mb, MIN_REPORT_MB)


def loop_without(answer: LoopAnswer, overrun: Overrun) -> LoopAnswer:
    """The answer about a loop with the reason why no more of it is told than its type and how good it is."""
    found = [answer.status, *([] if answer.complete is None else ["complete" if answer.complete else "not complete"])]
    refused = unwritten(", ".join(found), overrun, answer.loop.place)
    return replace(
        answer,
        paths=None,
        automaton=None,
        summary=None,
        merged=(),
        granted=tuple(assumptions_of(answer)),
        refused=answer.refused or refused,
        untyped=answer.untyped or (refused if answer.classification is None else None),
    )


def function_without(answer: FunctionAnswer, overrun: Overrun) -> FunctionAnswer:
    """The same of a function."""
    found = [answer.status, *([] if answer.complete is None else ["complete" if answer.complete else "not complete"])]
    refused = unwritten(", ".join(found), overrun, answer.place)
    return replace(answer, summary=None, refused=answer.refused or refused)


def unwritten(found: str, overrun: Overrun, place: str) -> Refused:
    """Why no more is told of the answer at ``place``."""
    return Refused(overrun.reason, place, f"the answer was found ({found}), but not written: {overrun.detail}")

"""Jobs on loops and functions: in child processes under the limits of the settings, or in this process without.

A job is a call without arguments. Mostly it is the ``run`` of a frozen dataclass, which has what it works on: so it can
be pickled where a child is not forked, and its name says what is done.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

from loopless.limits.queries import MANY_JOBS
from loopless.queries.jobs.overrun import Overrun
from loopless.queries.jobs.sandbox import Limits, Pool
from loopless.queries.settings import Settings

_T = TypeVar("_T")


def run_all(
    jobs: Sequence[Callable[[], _T]],
    limits: Limits | None = None,
    workers: int = 1,
    *,
    fresh: bool = False,
) -> list[_T | Overrun]:
    """The results of all jobs, in their order, worked on by at most ``workers`` processes at once.

    ``fresh`` gives each job a process of its own. A job that raises a :class:`LooplessError` ends the whole with that
    error; any other exception is an :class:`Overrun`. What a job prints goes to standard error.
    """
    results = dict(run_each(jobs, limits, workers, fresh=fresh))
    return [results[index] for index in range(len(jobs))]


def run_each(
    jobs: Sequence[Callable[[], _T]],
    limits: Limits | None = None,
    workers: int = 1,
    *,
    fresh: bool = False,
    watch: Callable[[Sequence[int]], None] = lambda _: None,
) -> Generator[tuple[int, _T | Overrun]]:
    """The same, each result with the number of its job and as soon as it is there; ``watch`` is told several times a
    second which jobs are being worked on. Close it where not all is taken: that ends the work.
    """
    with Pool(jobs, limits or Limits(), fresh=fresh) as pool:
        pending = list(reversed(range(len(jobs))))
        while pending or pool.busy:
            while pending and pool.busy < max(1, workers):
                index = pending.pop()
                if pool.late:
                    yield index, pool.not_begun()
                else:
                    pool.start(index, index)
            watch(pool.working_on)
            yield from pool.finished()


def limits_of(settings: Settings, until: float | None = None) -> Limits:
    """The limits of the work on one loop; ``until``: the deadline of the request."""
    return Limits(settings.loop_timeout_s, settings.loop_memory_mb, until, shared=settings.shared)


def work(
    jobs: Sequence[Callable[[], _T]], settings: Settings, until: float | None = None, *, fresh: bool = False
) -> Sequence[_T | Overrun]:
    """The results of all jobs, in their order, each under the limits of a loop; what met one is an :class:`Overrun`.

    ``until``: the deadline of the request by :func:`loopless.clock.now`. ``fresh`` gives each job a process of its own,
    so that what the logic remembers of one neither helps nor hinders another. Raises
    :class:`loopless.errors.LooplessError` if a job does.
    """
    if not settings.sandboxed:
        return [job() for job in jobs]
    limits = limits_of(settings, until)
    if len(jobs) >= MANY_JOBS:
        from loopless.logic import load_solver

        load_solver()
    return run_all(jobs, limits, settings.processes, fresh=fresh)

"""Jobs on loops and functions: in child processes under the limits of the settings, or in this process without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from loopless.queries.sandbox import Limits, Overrun, run_all
from loopless.queries.settings import Settings

_T = TypeVar("_T")
MANY: Final = 4
"""So many jobs are worth importing here what most of them need, and each process would import for itself. A guess."""


def limits_of(settings: Settings, until: float | None = None) -> Limits:
    """The limits of the work on one loop; ``until``: the deadline of the request."""
    return Limits(settings.loop_timeout_s, settings.loop_memory_mb, until, of_processor=settings.of_processor)


def work(
    jobs: Sequence[Callable[[], _T]], settings: Settings, until: float | None = None, *, fresh: bool = False
) -> Sequence[_T | Overrun]:
    """The results of all jobs, in their order, each under the limits of a loop; what met one is an :class:`Overrun`.

    ``until``: the deadline of the request by ``time.monotonic``. ``fresh`` gives each job a process of its own, so that
    what the logic remembers of one neither helps nor hinders another. Raises :class:`loopless.errors.LooplessError` if
    a job does.
    """
    if not settings.sandboxed:
        return [job() for job in jobs]
    limits = limits_of(settings, until)
    if len(jobs) >= MANY:
        from loopless.logic import load_solver

        load_solver()
    return run_all(jobs, limits, settings.processes, fresh=fresh)

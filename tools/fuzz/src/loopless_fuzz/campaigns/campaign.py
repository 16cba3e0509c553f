"""Many programs, worked on in processes that are replaced when they hang or die."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from loopless import clock
from loopless.queries.jobs.overrun import Overrun
from loopless.queries.jobs.sandbox import Limits, Pool
from loopless.refusals import Reason
from loopless_fuzz.campaigns.keeping import keep_program
from loopless_fuzz.campaigns.plan import Plan
from loopless_fuzz.campaigns.programs import START_S, judge_program
from loopless_fuzz.campaigns.rows import Row

MEMORY_MB: Final = 4096
_MOST: Final = 100
"""Jobs of one process, since what it remembers of programs grows."""
_RETRIES: Final = 4
"""How many stages of one program may be left out."""
_JUDGE, _KEEP = 0, 1


@dataclass(frozen=True, slots=True)
class Work:
    """What workers do: ``judge`` makes the row of a seed, ``keep`` writes the case of a row that is wrong."""

    judge: Callable[..., Row] = judge_program
    keep: Callable[..., Path] = keep_program


def campaign(
    plan: Plan,
    seeds: Iterable[int],
    base: Path,
    *,
    jobs: int = 1,
    until: float | None = None,
    keep: Path | None = None,
    work: Work | None = None,
) -> Iterator[Row]:
    """The rows of ``seeds`` as they come, none started after ``until`` (by :func:`loopless.clock.wall`).

    ``base`` is a folder for temporary files. ``keep``: a folder for the minimized cases of what is wrong.
    """
    waiting = iter(seeds)
    again: deque[tuple[int, tuple[Any, ...]]] = deque()
    asked: dict[int, tuple[int, tuple[Any, ...]]] = {}
    work = work or Work()
    functions: list[Callable[..., Row | Path]] = [work.judge, work.keep]
    number = 0
    with Pool(functions, Limits(plan.limit_s + START_S, MEMORY_MB), most=_MOST) as pool:
        while True:
            while pool.busy < max(1, jobs):
                job = again.popleft() if again else None
                if job is None and (until is None or clock.wall() < until):
                    seed = next(waiting, None)
                    job = None if seed is None else (_JUDGE, (plan, seed, base))
                if job is None:
                    break
                number += 1
                asked[number] = job
                pool.start(number, job[0], *job[1])
            if not pool.busy:
                return
            for key, result in pool.finished():
                kind, args = asked.pop(key)
                if kind == _KEEP:
                    continue
                row = result if isinstance(result, Row) else None
                if isinstance(result, Overrun):
                    skip = _skipping(args, result)
                    if skip is not None:
                        again.append((_JUDGE, (*args[:3], skip)))
                        continue
                    row = lost(plan, args[1], result)
                assert isinstance(row, Row)
                if row.wrong and keep is not None:
                    again.append((_KEEP, (plan, row, keep, base, 5 * plan.limit_s)))
                yield row


def _skipping(args: tuple[Any, ...], overrun: Overrun) -> tuple[str, ...] | None:
    """The stages to leave out when the program is tried once more; None where it is not."""
    skip: tuple[str, ...] = args[3] if len(args) > 3 else ()
    row = overrun.noted
    if not isinstance(row, Row) or overrun.reason is Reason.ENGINE_FAILED or len(skip) >= _RETRIES or row.stage in skip:
        return None
    return (*skip, row.stage)


def lost(plan: Plan, seed: int, overrun: Overrun) -> Row:
    """The row of a program whose process is gone: as far as it had come."""
    row = overrun.noted if isinstance(overrun.noted, Row) else Row(plan.profile, seed)
    row.status = "crash" if overrun.reason is Reason.ENGINE_FAILED else "limit"
    row.note = overrun.traceback or overrun.detail
    return row

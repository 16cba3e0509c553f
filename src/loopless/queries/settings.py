"""How questions are answered: the reading of numbers, and the limits on the work."""

from __future__ import annotations

import os
from dataclasses import field, replace
from typing import Final, Literal

from loopless.errors import UsageError
from loopless.records import dataclass
from loopless.source.compile import SourceOptions

LONGEST_S: Final = 1_000_000
"""The longest time that may be asked for, some eleven days: more milliseconds do not fit what waits for processes."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All that a request fixes beside the question itself.

    ``mathematical`` reads signed types as ℤ, ``wrapv`` signed overflow as wrap-around. ``run``: whether user code may
    be run natively. ``loop_timeout_s`` and ``loop_memory_mb`` bound the work on one loop, ``timeout_s`` the whole
    request; None is no limit. ``workers``: how many loops are worked on at once, None for one a processor.
    ``thorough``: each loop has the whole of its time, however many are asked for at once.
    Times are seconds of the processor: other work on the machine takes nothing of them. ``shared``: the time for a loop
    is a share of what it has where it is asked for alone.
    ``apart``: what pointers in memory point to is taken not to overlap with other objects, where answers list that.
    ``exact``: which signed operations give their exact results and never overflow
    (:mod:`loopless.flowgraph.exact_arithmetic`); inputs and memory keep their types.
    ``sandboxed``: whether loops are worked on in child processes, without which the limits on a loop are not kept.
    """

    source: SourceOptions = field(default_factory=SourceOptions)
    mathematical: bool = False
    wrapv: bool = False
    run: bool = True
    loop_timeout_s: float | None = 10.0
    loop_memory_mb: int | None = 4096
    timeout_s: float | None = None
    workers: int | None = None
    thorough: bool = False
    shared: bool = False
    sandboxed: bool = True
    apart: bool = True
    exact: Literal["", "beside control", "all"] = ""

    def for_runs(self, source: SourceOptions) -> SourceOptions:
        """How to compile what is read by ``source`` for native runs, in which overflow is what it is to the reader."""
        return replace(source, flags=(*source.flags, "-fwrapv")) if self.wrapv else source

    @property
    def processes(self) -> int:
        """How many workers to use: those asked for, else one for each processor that this process may use."""
        if self.workers is not None:
            return max(1, self.workers)
        if hasattr(os, "sched_getaffinity"):
            return max(1, len(os.sched_getaffinity(0)))
        return os.cpu_count() or 1

    def check(self) -> None:
        """Raises ``UsageError`` for values that mean nothing, or contradict each other."""
        if self.mathematical and self.wrapv:
            raise UsageError("mathematical integers have no overflow; leave out wrapv")
        for name, value in (("loop_timeout_s", self.loop_timeout_s), ("timeout_s", self.timeout_s)):
            if value is not None and not 0 < value <= LONGEST_S:
                raise UsageError(f"{name} is {value!r}: give seconds, more than 0 and at most {LONGEST_S}, or None")
        for name, number, least in (("loop_memory_mb", self.loop_memory_mb, 16), ("workers", self.workers, 1)):
            if number is not None and number < least:
                raise UsageError(f"{name} is {number!r}: give at least {least}, or None")

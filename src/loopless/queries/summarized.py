"""What answers with a summary have in common: its parts, its names, and calls of it."""

from __future__ import annotations

from typing import Any

from loopless.queries.call_values.given_memory import Entry
from loopless.queries.shown import Shown, presentation
from loopless.summary import CallSummary, LoopSummary, Residual, Undefined


class Summarized(Shown):
    """An answer that may have a ``summary``. Without one its parts raise ``ValueError``."""

    __slots__ = ()
    summary: LoopSummary | CallSummary | None

    @property
    def complete(self) -> bool | None:
        """Whether the summary says something about every entry state, approximations apart; None where there is no
        summary.
        """
        return self.summary.complete if self.summary is not None else None

    @property
    def exact(self) -> bool:
        """Whether every case of the summary is an equivalence."""
        return self.told.exact

    @property
    def undefined(self) -> tuple[Undefined, ...]:
        """The entry values from which a run meets undefined behaviour, by ``kind`` and ``line``."""
        return self.told.undefined

    @property
    def residual(self) -> tuple[Residual, ...]:
        """The entry values about which nothing is said, each with the reason ``why``."""
        return self.told.residual

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is taken for granted, one sentence each."""
        return tuple(presentation().assumptions(self))

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of what the summary depends on: those that a call of it takes."""
        names: tuple[str, ...] = presentation().variables(self)
        return names

    def __call__(self, /, **given: Entry) -> dict[str, Any]:
        """The values behind a loop or a call, by name, for these values at the entry.

        What is read of arrays is given by their names, as elements of the declared type. Arrays that are given, and
        that the loop or call may write, are as they are behind it: a list for a list, bytes for bytes, an array of
        NumPy for one. Those of which not all is told are left out. The time does not grow with the number of
        iterations, but with that of the elements.

        Raises:
            UsageError: a name is not one of ``variables``, one that is needed is missing, or has not such a value.
            ValueError: a run does not leave the loop or return from there, or nothing is said, with the reason.
        """
        found: dict[str, Any] = presentation().outcome(self, given)
        return found

    def to_dict(self) -> dict[str, Any]:
        """The entry in the JSON of the command line."""
        fields: dict[str, Any] = presentation().fields(self)
        return fields

    @property
    def told(self) -> LoopSummary | CallSummary:
        """The summary. Raises ``ValueError`` where there is none."""
        if self.summary is None:
            raise ValueError("there is no summary in this answer; summarize() asks for it")
        return self.summary

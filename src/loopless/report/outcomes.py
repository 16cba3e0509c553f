"""The outcome of a summary from values that people give, all by the names of the source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TypeVar

from loopless import terms as t
from loopless.queries.call_values.given_memory import Entry, GivenMemory
from loopless.queries.functions import FunctionAnswer
from loopless.queries.loops.answer import LoopAnswer
from loopless.records import dataclass
from loopless.report.given_values import evaluated, with_memory
from loopless.report.names import Names
from loopless.summary import CallSummary, LoopSummary

_T = TypeVar("_T")


def outcome(answer: LoopAnswer | FunctionAnswer, given: Mapping[str, Entry]) -> dict[str, int]:
    """The values behind a loop or a call, by name.

    Raises:
        UsageError: a name is none of :func:`variables`, one that is needed is missing, or has not such a value.
        ValueError: a run from there does not leave or return, or nothing is said, with the reason.
    """
    named = _Named(answer)
    values, memory = named.given(given)
    plain = {var.name: value for var, value in values.items()}
    found = named.evaluated(values, lambda: named.summary(memory.read, **plain))
    by_internal = {var.name: named.names.name(var) for var in named.told}
    return {by_internal.get(name, name): value for name, value in found.items()}


def iterations(answer: LoopAnswer, given: Mapping[str, Entry]) -> int:
    """The number of back edges taken from these values at the entry. Raises as :func:`outcome` does."""
    named = _Named(answer)
    summary = named.summary
    assert isinstance(summary, LoopSummary)
    values, memory = named.given(given)

    def count() -> int:
        if t.holds(summary.entered, values, memory.read):
            for case in summary.cases:
                if t.holds(case.when, values, memory.read):
                    return t.evaluate(case.iterations, values, memory.read)
        summary(memory.read, **{var.name: value for var, value in values.items()})  # says why there is no number
        raise AssertionError(answer.name)

    return named.evaluated(values, count)


def variables(answer: LoopAnswer | FunctionAnswer) -> tuple[str, ...]:
    """The names of what a summary depends on."""
    named = _Named(answer)
    return tuple(dict.fromkeys(named.names.name(var) for var in named.entry))


@dataclass(frozen=True)
class _Named:
    """The summary of ``answer`` with the names of its variables."""

    answer: LoopAnswer | FunctionAnswer

    @property
    def summary(self) -> LoopSummary | CallSummary:
        """Raises ``ValueError`` where there is none."""
        return self.answer.told

    @cached_property
    def names(self) -> Names:
        return Names(self.answer if isinstance(self.answer, LoopAnswer) else self.answer.summary)

    @property
    def entry(self) -> tuple[t.Var, ...]:
        """What the summary depends on."""
        if isinstance(self.summary, LoopSummary):
            return (*self.summary.paths.state, *self.summary.paths.invariants)
        given = [p.var for p in self.summary.parameters if p.var is not None and p.object is None]
        return tuple(dict.fromkeys((*given, *(input.var for input in self.summary.inputs))))

    @property
    def told(self) -> tuple[t.Var, ...]:
        """What may have a value in the outcome."""
        if isinstance(self.summary, LoopSummary):
            updated = [var for path in self.summary.paths.all for var in path.update]
            return tuple(dict.fromkeys((*self.entry, *updated)))
        return tuple(dict.fromkeys(var for case in self.summary.cases for var in case.then))

    @property
    def _where(self) -> str:
        return f"the summary of {self.answer.name}"

    def given(self, given: Mapping[str, Entry]) -> tuple[dict[t.Var, int], GivenMemory]:
        """The values by variable, and what memory holds. Raises ``UsageError`` for names that there are not."""
        holder = self.summary if isinstance(self.summary, CallSummary) else self.answer
        assert not isinstance(holder, FunctionAnswer)
        return with_memory(given, self.entry, self.names, holder.layouts, self._where)

    def evaluated(self, given: Mapping[t.Var, int], answer: Callable[[], _T]) -> _T:
        """What ``answer`` gives. Raises ``UsageError`` where it takes a value that is not given."""
        return evaluated(answer, given, self.entry, self.names, self._where)

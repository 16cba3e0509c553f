"""The outcome of a summary from values that people give, all by the names of the source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any, TypeVar

from loopless import terms as t
from loopless.queries.call_values.given_memory import Entry, GivenMemory, alike
from loopless.queries.functions import FunctionAnswer
from loopless.queries.loops.answer import LoopAnswer
from loopless.records import dataclass
from loopless.report.contents import only_index
from loopless.report.given_values import evaluated, with_memory
from loopless.report.names import Names
from loopless.summary import CallSummary, Case, FunctionCase, LoopSummary
from loopless.terms.contents import UnknownElement, reader_behind, variables_in

_T = TypeVar("_T")


def outcome(answer: LoopAnswer | FunctionAnswer, given: Mapping[str, Entry]) -> dict[str, Any]:
    """The values behind a loop or a call, by name. Arrays that are given, and that it may write, are as they are
    behind it, of the kind that was given; those of which not all is told are left out.

    Raises:
        UsageError: a name is none of :func:`variables`, one that is needed is missing, or has not such a value.
        ValueError: a run from there does not leave or return, or nothing is said, with the reason.
    """
    named = _Named(answer)
    values, memory = named.given(given)
    return named.evaluated(values, lambda: _behind(named, values, memory, given))


def _behind(
    named: _Named, values: Mapping[t.Var, int], memory: GivenMemory, given: Mapping[str, Entry]
) -> dict[str, Any]:
    """The values and what memory holds behind a loop or a call, by the names that users know."""
    summary = named.summary
    case: Case | FunctionCase
    if isinstance(summary, LoopSummary):
        case = summary.case_at(values, memory.read)
        variables = summary.values_behind(case, values, memory.read)
    else:
        case = summary.returned(values, memory.read)
        variables = summary.values_behind(case, values, memory.read)
    by_internal = {var.name: named.names.name(var) for var in named.told}
    found: dict[str, Any] = {by_internal.get(name, name): value for name, value in variables.items()}
    if case.contents is None:
        return found
    after = reader_behind(case.contents, values, memory.read)
    written = {array.removeprefix("*"): array for other in summary.cases for array in other.contents or ()}
    for name in given:
        place = memory.places.get(name)
        if place is not None and place.array in written:
            with suppress(UnknownElement):
                elements = [after(written[place.array], offset, place.type) for offset in place.offsets]
                found[name] = elements[0] if place.single else alike(elements, given[name])
    others = {array: layers for array, layers in case.contents.items() if array.removeprefix("*") not in memory}
    return {**named.elements_of(others, values, memory.read), **found}


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
            stored = (variables_in(case.contents or {}) for case in self.summary.cases)
            found = sorted(frozenset[t.Var]().union(*stored), key=lambda var: var.key)
            paths = self.summary.paths
            every = dict.fromkeys((*paths.state, *paths.invariants, *found))
            return tuple(var for var in every if var not in paths.carried)
        given = [p.var for p in self.summary.parameters if p.var is not None and p.object is None]
        return tuple(dict.fromkeys((*given, *(input.var for input in self.summary.inputs))))

    @property
    def told(self) -> tuple[t.Var, ...]:
        """What may have a value in the outcome."""
        if isinstance(self.summary, LoopSummary):
            updated = [var for path in self.summary.paths.all for var in path.update]
            return tuple(dict.fromkeys((*self.entry, *updated)))
        return tuple(dict.fromkeys(var for case in self.summary.cases for var in case.then))

    def elements_of(self, contents: t.Contents, values: Mapping[t.Var, int], before: t.Reader) -> dict[str, int]:
        """What the single elements hold that layers tell, by their names."""
        after = reader_behind(contents, values, before)
        found: dict[str, int] = {}
        for array, layers in contents.items():
            for layer in layers:
                index = only_index(layer.where)
                if index is None or layer.value is None:
                    continue
                there = {**values, t.INDEX: t.evaluate(index[0], values, before)}
                offset = t.evaluate(layer.offset, there, before)
                place = self.names.place(array, t.const(offset), layer.type)
                if place is None or not t.holds(layer.where, there, before):
                    continue
                declared = place.scalar.type
                type = declared if declared is not None and declared.width == layer.type.width else layer.type
                name = self.names.text(t.Read(array, t.const(offset), type))
                with suppress(UnknownElement):
                    found.setdefault(name, after(array, offset, type))
        return found

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

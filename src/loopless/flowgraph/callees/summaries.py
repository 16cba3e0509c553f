"""Summaries of callees: one record a function of what callers know of it, shared by all questions about a program.

A summary maps facts to values. Each layer declares its facts (:class:`Fact`) beside the types of their values, and says
how they are found (:meth:`CalleeSummaries.provide`) or what they are (:meth:`CalleeSummaries.tell`). A record with a
field for each fact could stand only above all these layers, so none of them could ask it. A fact is found when it is
first asked for. The values of a summary do not refer to the program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Generic, TypeVar

from loopless.records import dataclass

_V = TypeVar("_V")


@dataclass(frozen=True, slots=True)
class Fact(Generic[_V]):
    """A question about functions, by its ``name``. ``unknown``: the answer where nothing is known."""

    name: str
    unknown: _V


@dataclass(frozen=True, slots=True)
class CalleeSummary:
    """What is known so far of calls of a function, by the names of facts."""

    function: str
    values: Mapping[str, Any]

    def get(self, fact: Fact[_V]) -> _V:
        """The value of a fact."""
        found: _V = self.values.get(fact.name, fact.unknown)
        return found


@dataclass(slots=True)
class CalleeSummaries:
    """The summaries of the functions of a program, by the names that flowgraphs call them by."""

    _finding: dict[str, Callable[[str], Any]] = field(default_factory=dict)
    _values: dict[str, dict[str, Any]] = field(default_factory=dict)

    def provide(self, fact: Fact[_V], finding: Callable[[str], _V]) -> None:
        """Say how a fact is found; ``finding`` is asked once for each function."""
        self._finding[fact.name] = finding

    def tell(self, function: str, fact: Fact[_V], value: _V) -> None:
        """Say what a fact is of a function, whatever was said before."""
        self._values.setdefault(function, {})[fact.name] = value

    def ask(self, function: str, fact: Fact[_V]) -> _V:
        """A fact of a function. While it is being found it is unknown: so a recursion comes to an end."""
        values = self._values.setdefault(function, {})
        if fact.name not in values:
            finding = self._finding.get(fact.name)
            if finding is None:
                return fact.unknown
            values[fact.name] = fact.unknown
            values[fact.name] = finding(function)
        found: _V = values[fact.name]
        return found

    def told(self, fact: Fact[_V]) -> dict[str, _V]:
        """By functions, what is known so far of a fact."""
        return {function: values[fact.name] for function, values in self._values.items() if fact.name in values}

    def of(self, function: str) -> CalleeSummary:
        """What is known of a function so far: nothing is looked for."""
        return CalleeSummary(function, dict(self._values.get(function, {})))

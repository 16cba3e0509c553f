"""Bounds of loops and functions, as people hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loopless import terms as t
from loopless.bounds import Claim
from loopless.bounds.asymptotics.lower import class_of_claim, lower_class
from loopless.bounds.claims.lines import LineBound
from loopless.errors import UsageError
from loopless.interface.entry import Entry, given_value
from loopless.interface.shown import Shown
from loopless.queries.bounds.answers import FunctionBound as FunctionBoundValue
from loopless.queries.bounds.answers import LoopBound as LoopBoundValue
from loopless.queries.bounds.answers import class_of
from loopless.queries.call_values.inputs import check_values, names_in_bounds, not_meant, number_at
from loopless.queries.program import Function
from loopless.refusals import Refused
from loopless.report import html_bounds
from loopless.report.bounds import (
    bound_json,
    bound_text,
    claim_words,
    function_json,
    granted,
    granted_for,
    names_of,
    names_of_call,
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bound(Shown):
    """How often a loop, or all loops of a function, are run in one call of the function, over its inputs; the unit is
    iterations, taken back edges. ``print`` shows it as ``loopless bound`` does.
    """

    found: FunctionBoundValue
    """All that was found out about the function."""
    shown: tuple[str, ...]
    """The names of the loops that are shown with it."""
    function: Function

    @property
    def _claim(self) -> Claim:
        return self.found.call

    @property
    def name(self) -> str:
        """The name of the loop or function."""
        return self.found.name

    @property
    def upper(self) -> t.Term | None:
        """At most so many; None where no bound is known, or the loop never ends."""
        return self._claim.upper

    @property
    def lower(self) -> t.Term:
        """At least so many in every run that ends and meets no undefined behaviour."""
        return self._claim.lower

    @property
    def exact(self) -> bool:
        """Whether such runs take ``upper`` iterations, no fewer."""
        return self._claim.exact

    @property
    def valid_when(self) -> t.Condition:
        """The inputs of which all this is said."""
        return self._claim.when

    @property
    def never_ends(self) -> t.Condition:
        """The inputs for which it surely never ends."""
        return self._claim.never

    @property
    def always_undefined(self) -> t.Condition:
        """The inputs for which every run meets undefined behaviour, as far as upper and lower bound tell that."""
        return self._claim.always_undefined

    @property
    def gap(self) -> t.Condition:
        """The inputs for which no bound is known."""
        return self._claim.gap

    @property
    def big_o(self) -> str | None:
        """How fast ``upper`` grows, as ``O(n^2)``; None where there is no bound for all inputs for which it ends."""
        grows = class_of(self.found)
        return None if grows is None else grows.text()

    @property
    def refused(self) -> Refused | None:
        """Why there is no bound, or not for all inputs."""
        return self.found.refused

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is taken for granted, one sentence each."""
        return tuple(granted(self.found))

    def at(self, /, **inputs: Entry) -> int | None:
        """The number that ``upper`` comes to for these inputs (numbers, and what pointers point to and arrays hold);
        None where the bound does not hold for them, or depends on something else. Where ``exact`` is false, it may be a
        number that ``upper`` does not exceed, whatever is read.

        Raises ``UsageError`` for a name that is no input, or that several variables have, and for a value that the
        input's type does not have.
        """
        given = {name: given_value(value, name) for name, value in inputs.items()}
        check_values(given, [self.function], names_in_bounds([self.found]))
        value = number_at(self.found, self.upper, self.valid_when, given, exactly=self.exact)
        if value is None and given:
            for sentence in not_meant([self.found], given):
                raise UsageError(sentence.replace("--at", "at()"))
        return value

    def text(self, at: Mapping[str, int] | None = None) -> str:
        """What ``loopless bound`` prints, with the numbers for the inputs ``at``."""
        return bound_text([self.found], self.shown, at)

    def to_dict(self, at: Mapping[str, int] | None = None) -> dict[str, Any]:
        """The entry in the JSON of ``loopless bound``, with the numbers for the inputs ``at``."""
        return function_json(self.found, at)

    def __str__(self) -> str:
        return self.text()

    def _words(self) -> str:
        return claim_words(self.found.call, names_of_call(self.found)) if self.found.loops else "no loops"

    def _brief(self) -> str:
        grows = f" [{self.big_o}]" if self.big_o else ""
        return f"bound of {self.name}: {self._words()}{grows} in a call"

    def _repr_html_(self) -> str:
        return html_bounds.bounds(self.found, self.shown)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FunctionBound(Bound):
    """How often all loops of a function are run in one call of it, those of inlined functions too."""

    @property
    def loops(self) -> tuple[LoopBound, ...]:
        """The bounds of the loops, in textual order."""
        return tuple(
            LoopBound(self.found, (bound.answer.loop.name,), self.function, bound) for bound in self.found.loops
        )

    @property
    def big_omega(self) -> str | None:
        """How fast the count surely grows for some inputs, as ``Omega(n^2)``; None where that is not seen."""
        return lower_class(self.found.call, self.found.shown)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LoopBound(Bound):
    """How often one loop is run, in a call of its function and in one entry of the loop."""

    value: LoopBoundValue
    """All that was found out about the loop."""

    @property
    def _claim(self) -> Claim:
        return self.value.call

    @property
    def name(self) -> str:
        return self.value.answer.loop.name

    @property
    def per_entry(self) -> Claim:
        """The iterations of one entry of the loop, over the values there."""
        return self.value.entry

    @property
    def any_entry(self) -> t.Term | None:
        """No entry in a call takes more iterations, over the inputs of the function."""
        return self.value.any_entry

    @property
    def lines(self) -> tuple[LineBound, ...]:
        """How often each line is visited in a call, at most."""
        return self.value.lines

    @property
    def big_o(self) -> str | None:
        grows = class_of_claim(self.value.call, self.found.shown)
        return None if grows is None else grows.text()

    @property
    def refused(self) -> Refused | None:
        return self.value.refused_call or self.value.refused

    @property
    def assumptions(self) -> tuple[str, ...]:
        return tuple(granted_for(self.found, self.value))

    def to_dict(self, at: Mapping[str, int] | None = None) -> dict[str, Any]:
        """The entry in the JSON of ``loopless bound``, with the numbers for the inputs ``at``."""
        return bound_json((self.found, self.value), at)

    def _words(self) -> str:
        return claim_words(self.value.call, names_of(self.found, self.value))

"""Bounds: what is found out about how often loops run, as values that travel between processes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from loopless import terms as t
from loopless.bounds import (
    AsymptoticClass,
    Claim,
)
from loopless.bounds.asymptotics.lower import class_of_bound, class_of_claim, has_class, lower_class
from loopless.bounds.claims.joint import always
from loopless.bounds.claims.lines import LineBound
from loopless.bounds.iteration.outside import NO_READS, Reads
from loopless.bounds.methods.nontermination import Recurrent
from loopless.errors import UsageError
from loopless.queries.call_values.at_inputs import InputNames, names_in_bounds, not_meant, number_at
from loopless.queries.call_values.given_memory import Entry, given_value
from loopless.queries.call_values.inputs import DeclaredInputs, check_values
from loopless.queries.loops.answer import LoopAnswer
from loopless.queries.returning import NO_CALLS, CallNotes
from loopless.queries.shown import Shown, presentation
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.summary import CallSummary


@dataclass(frozen=True, slots=True)
class OverflowEnd:
    """A loop that a signed overflow ends, whose behaviour C leaves undefined.

    If signed operations had exact results, however large, it would never end from the states ``entry`` at its header,
    nor in calls with the inputs ``call``; where both are ``false`` no bound would be known. ``entered``: whether runs
    enter the loop in all these states. ``counters``: the names of variables that overflow; ``places``: where.
    ``of_control``: they decide how the loop goes on, so that a run behind the overflow may be another one.
    """

    entry: t.Condition
    call: t.Condition
    entered: bool
    counters: tuple[str, ...]
    places: tuple[str, ...]
    of_control: bool = False


@dataclass(frozen=True, slots=True)
class LoopIterations:
    """What is known of how often one loop runs.

    ``entry``: the iterations of one entry, over the values there; ``call``: those of one call of the function, over its
    inputs; ``any_entry``: no entry in a call takes more iterations than that, over the inputs. ``lines``: the visits of
    lines in one call. ``refused``: why there is no bound on one entry, ``refused_call``: why there is none on a call.
    """

    answer: LoopAnswer
    entry: Claim
    call: Claim
    any_entry: t.Term | None = None
    lines: tuple[LineBound, ...] = ()
    refused: Refused | None = None
    refused_call: Refused | None = None
    from_header: bool = False
    """Whether the loop is left from its header only, in which nothing of the body stands."""
    recurrent: tuple[Recurrent, ...] = ()
    """Where no bound on one entry is known: states at the header from which the loop never ends, or need not."""
    calls: CallNotes = NO_CALLS
    reads: Reads = NO_READS
    """Where no bound on one entry is known: what decides how long the loop runs."""
    loosened: tuple[str, ...] = ()
    """Where a bound is as large as a type: what is in the way of a smaller one."""
    cut: Refused | None = None
    """Which limit on time or memory ended the search for more, where the iterations are not known exactly."""
    over_inputs: t.Term | None = None
    """A bound on those of a call over its inputs alone, where that of ``call`` is over values that the call reads."""
    ends_by_overflow: OverflowEnd | None = None
    """Where the loop has its bound, or lacks a region in which it never ends, by a signed overflow only."""

    @property
    def reasons(self) -> tuple[Refused, ...]:
        """Why there is no bound, and which limit ended the search where that does not say it."""
        found = dict.fromkeys(one for one in (self.refused, self.refused_call) if one is not None)
        if self.cut is not None and not any(self.cut.detail in one.detail for one in found):
            found[self.cut] = None
        return tuple(found)


class Bound(Shown, ABC):
    """How often a loop, or all loops of a function, are run in one call of the function, over its inputs; the unit is
    iterations, taken back edges. ``print`` shows it as ``loopless bound`` does.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def claim(self) -> Claim:
        """All that is known of the iterations in a call."""

    @property
    @abstractmethod
    def within(self) -> FunctionBound:
        """The bounds of the function, this one among them."""

    @property
    @abstractmethod
    def over_inputs(self) -> t.Term | None:
        """A bound over the inputs alone, where ``upper`` is over values that the call reads."""

    @property
    def upper(self) -> t.Term | None:
        """At most so many; None where no bound is known, or the loop never ends."""
        return self.claim.upper

    @property
    def lower(self) -> t.Term:
        """At least so many in every run that ends and meets no undefined behaviour."""
        return self.claim.lower

    @property
    def exact(self) -> bool:
        """Whether such runs take ``upper`` iterations, no fewer."""
        return self.claim.exact

    @property
    def valid_when(self) -> t.Condition:
        """The inputs of which all this is said."""
        return self.claim.when

    @property
    def never_ends(self) -> t.Condition:
        """The inputs for which it surely never ends."""
        return self.claim.never

    @property
    def always_undefined(self) -> t.Condition:
        """The inputs for which every run meets undefined behaviour, as far as upper and lower bound tell that."""
        return self.claim.always_undefined

    @property
    def gap(self) -> t.Condition:
        """The inputs for which no bound is known."""
        return self.claim.gap

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is taken for granted, one sentence each."""
        return tuple(presentation().assumptions(self))

    def at(self, /, **inputs: Entry) -> int | None:
        """The number that ``upper`` comes to for these inputs (numbers, and what pointers point to and arrays hold);
        None where the bound does not hold for them, or depends on something else. Where ``exact`` is false, it may be a
        number that ``upper`` does not exceed, whatever is read.

        Raises ``UsageError`` for a name that is no input, or that several variables have, and for a value that the
        input's type does not have.
        """
        names, given = self._given(inputs)
        value = number_at(names, self.upper, self.valid_when, given, exactly=self.exact)
        if value is None:
            self._check_meant(names, given)
        return value

    def most_at(self, /, **inputs: Entry) -> int | None:
        """A number that the iterations do not exceed for these inputs, whatever else a call reads; None where no such
        number is known. Raises ``UsageError`` as :meth:`at` does.
        """
        names, given = self._given(inputs)
        value = number_at(names, self.upper, self.valid_when, given)
        if value is None and self.over_inputs is not None:
            value = number_at(names, self.over_inputs, t.TRUE, given)
        if value is None:
            self._check_meant(names, given)
        return value

    def _given(self, inputs: Mapping[str, Entry]) -> tuple[InputNames, Mapping[str, Any]]:
        """What names of inputs mean, and the values for them. Raises ``UsageError``."""
        names, given = self.within.names, {name: given_value(value, name) for name, value in inputs.items()}
        if self.within.declared is not None:
            check_values(given, [self.within.declared], names_in_bounds([names]))
        return names, given

    @staticmethod
    def _check_meant(names: InputNames, given: Mapping[str, Any]) -> None:
        """Raises ``UsageError`` where a value has a name that several variables have."""
        for sentence in not_meant([names], given) if given else ():
            raise UsageError(sentence.replace("--at", "at()"))

    def text(self, at: Mapping[str, int] | None = None) -> str:
        """What ``loopless bound`` prints, with the numbers for the inputs ``at``."""
        return str(presentation().text(self, at))

    def to_dict(self, at: Mapping[str, int] | None = None) -> dict[str, Any]:
        """The entry in the JSON of ``loopless bound``, with the numbers for the inputs ``at``."""
        fields: dict[str, Any] = presentation().fields(self, at)
        return fields


@dataclass(frozen=True, slots=True, repr=False)
class FunctionBound(Bound):
    """How often all loops of a function are run in one call of it, those of inlined functions too.

    ``call`` is about the iterations of all of them, ``counts`` about each. ``shown``: the source names of the
    variables; ``granted``: what is taken for granted because of the function's code.
    """

    name: str
    place: str
    counts: tuple[LoopIterations, ...] = ()
    call: Claim = field(default_factory=lambda: Claim(None, gap=t.TRUE))
    shown: Mapping[t.Var, str] = field(default_factory=dict)
    granted: tuple[str, ...] = ()
    refused: Refused | None = None
    """Why there is no bound, or not for all inputs."""
    trouble: str = ""
    time_ms: float = 0.0
    wider: t.Term | None = None
    """Another upper bound on the iterations of all loops, which may be larger but be of a lower class."""
    over_inputs: t.Term | None = None
    """A bound over the inputs alone, where that of ``call`` is over values that the call reads."""
    summary: CallSummary | None = None
    """What the function does, where that is known."""
    ambiguous: frozenset[str] = frozenset()
    """Source names of several of the variables of which the bounds speak, or may: by such a name none is meant."""
    calls: CallNotes = NO_CALLS
    layouts: Mapping[str, t.Layout] = field(default_factory=dict)
    """What is declared in objects, by their names."""
    declared: DeclaredInputs | None = None
    """The inputs that :meth:`at` takes values of; None: it does not ask whether there are such inputs."""

    @property
    def claim(self) -> Claim:
        return self.call

    @property
    def within(self) -> FunctionBound:
        return self

    @property
    def loops(self) -> tuple[LoopBound, ...]:
        """The bounds of the loops, in textual order."""
        return tuple(LoopBound(self, counts) for counts in self.counts)

    @property
    def own(self) -> tuple[LoopBound, ...]:
        """The bounds of the loops that stand in the function's text."""
        return tuple(loop for loop in self.loops if loop.answer.loop.inlined_from is None)

    @property
    def big_o(self) -> str | None:
        """How fast ``upper`` grows, as ``O(n^2)``; None where there is no bound for all inputs for which it ends."""
        grows = class_of(self)
        return None if grows is None else grows.text()

    @property
    def big_omega(self) -> str | None:
        """How fast the count surely grows for some inputs, as ``Omega(n^2)``; None where that is not seen."""
        return lower_class(self.call, self.shown)

    @property
    def names(self) -> InputNames:
        """What the names of inputs mean here."""
        nodes: list[t.Node | None] = [self.call.upper, self.call.when, self.call.never, self.over_inputs]
        for loop in self.counts:
            call = loop.call
            nodes += [call.upper, call.when, call.never, loop.any_entry, loop.over_inputs]
            nodes += [line.upper for line in loop.lines]
        spoken_of = frozenset[t.Var]().union(*(node.variables for node in nodes if node is not None))
        return InputNames(self.name, spoken_of, self.shown, self.ambiguous, self.layouts)


@dataclass(frozen=True, slots=True, repr=False)
class LoopBound(Bound):
    """How often one loop is run, in a call of its function and in one entry of the loop."""

    function: FunctionBound
    """The bounds of the function that it is a loop of."""
    counts: LoopIterations
    """What is known of this loop."""

    @property
    def name(self) -> str:
        """The name of the loop."""
        return self.answer.loop.name

    @property
    def answer(self) -> LoopAnswer:
        """What is known of the loop beside its iterations."""
        return self.counts.answer

    @property
    def claim(self) -> Claim:
        return self.counts.call

    @property
    def within(self) -> FunctionBound:
        return self.function

    @property
    def call(self) -> Claim:
        """The iterations of one call of the function, over its inputs."""
        return self.counts.call

    @property
    def per_entry(self) -> Claim:
        """The iterations of one entry of the loop, over the values there."""
        return self.counts.entry

    @property
    def over_inputs(self) -> t.Term | None:
        return self.counts.over_inputs

    @property
    def any_entry(self) -> t.Term | None:
        """No entry in a call takes more iterations, over the inputs of the function."""
        return self.counts.any_entry

    @property
    def unconditional(self) -> tuple[t.Term, ...]:
        """Bounds on the iterations of each entry that hold whatever the inputs are."""
        bounds = (always(self.per_entry), self.any_entry, self.counts.over_inputs, always(self.call))
        return tuple(bound for bound in bounds if bound is not None)

    @property
    def lines(self) -> tuple[LineBound, ...]:
        """How often each line is visited in a call, at most."""
        return self.counts.lines

    @property
    def big_o(self) -> str | None:
        """How fast ``upper`` grows, as ``O(n^2)``; None where there is no bound for all inputs for which it ends."""
        grows = class_of_claim(self.call, self.function.shown)
        return None if grows is None else grows.text()

    @property
    def refused(self) -> Refused | None:
        """Why there is no bound, or not for all inputs."""
        return self.counts.refused_call or self.counts.refused


def class_of(found: FunctionBound) -> AsymptoticClass | None:
    """How fast the iterations of all loops grow at most, where there is a bound for all inputs for which they end."""
    if not has_class(found.call):
        return None
    known = [class_of_bound(found.call.upper, found.shown, exact=found.call.exact)]
    known += [class_of_bound(term, found.shown, exact=False) for term in (found.wider, found.over_inputs)]
    return min((g for g in known if g is not None), key=lambda g: g.degree, default=None)

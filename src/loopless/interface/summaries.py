"""Summaries of loops and functions, types and automata, as people hold them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from loopless import terms as t
from loopless.automaton import LoopClass, PathAutomaton, State, Transition
from loopless.interface.entry import evaluated, with_memory
from loopless.interface.shown import Held
from loopless.paths import LoopPaths
from loopless.queries.call_values.given_memory import Entry, GivenMemory
from loopless.queries.functions import FunctionAnswer
from loopless.queries.loops.answer import LoopAnswer
from loopless.report import html
from loopless.report.dot import drawing
from loopless.report.functions import assumptions_of as function_assumptions
from loopless.report.functions import function_json, function_summary
from loopless.report.json_report import assumptions_of
from loopless.report.json_report import loop as loop_json
from loopless.report.loop_lines import type_list
from loopless.report.names import Names
from loopless.report.smtlib import smtlib
from loopless.report.svg import picture
from loopless.report.text import TextLayout, summaries, verdict
from loopless.summary import (
    Approximation,
    CallSummary,
    Case,
    Diverges,
    FunctionCase,
    LoopSummary,
    Residual,
    SummaryInput,
    Undefined,
)

_T = TypeVar("_T")


class _Summarized(Held):
    """What summaries of loops and of functions have in common."""

    __slots__ = ()
    _value: LoopSummary | CallSummary

    @property
    def undefined(self) -> tuple[Undefined, ...]:
        """The entry values from which a run meets undefined behaviour, by ``kind`` and ``line``."""
        return self._value.undefined

    @property
    def residual(self) -> tuple[Residual, ...]:
        """The entry values about which nothing is said, each with the reason ``why``."""
        return self._value.residual

    @property
    def complete(self) -> bool:
        """Whether something is said about every entry state, of those in which the program enters where it says so."""
        return self._value.complete

    @property
    def exact(self) -> bool:
        """Whether every case is an equivalence."""
        return self._value.exact


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Summary(_Summarized):
    """What a loop does, as cases over the values at its entry; ``print`` shows it as the command line does.

    Called with entry values it gives those at the exit: ``summary(x=0, n=9)["x"]``.
    """

    answer: LoopAnswer
    """All that was found out with it."""
    _value: LoopSummary = field(init=False)
    _names: Names = field(init=False)

    def __post_init__(self) -> None:
        assert self.answer.summary is not None
        object.__setattr__(self, "_value", self.answer.summary)
        object.__setattr__(self, "_names", Names(self.answer))

    @property
    def name(self) -> str:
        """The loop's name, ``file:function:line:column``."""
        return self.answer.loop.name

    @property
    def cases(self) -> tuple[Case, ...]:
        """Each says for which entry values (``when``) the loop leaves where (``exit``), after how many iterations
        (taken back edges), with which values (``then``), by which paths (``trace``). No state is in two of them.
        """
        return self._value.cases

    @property
    def diverges(self) -> t.Condition:
        """The entry values from which the loop never ends."""
        return self._value.diverges

    @property
    def approximation(self) -> Approximation | None:
        """What runs from the states of ``residual`` may do: relations that contain every one of them. None where
        there is nothing to approximate.
        """
        return self._value.approximation

    @property
    def entered(self) -> t.Condition:
        """What holds wherever the program enters the loop; the summary speaks of such states only."""
        return self._value.entered

    @property
    def type(self) -> int | None:
        """The loop's type by Proteus's classification, 1 to 4; None where it has none."""
        return self.answer.type

    @property
    def paths(self) -> LoopPaths:
        """The paths through the loop's body that ``trace`` speaks of."""
        return self._value.paths

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is taken for granted, one sentence each."""
        return tuple(assumptions_of(self.answer))

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of what the summary depends on: those that a call of it takes."""
        return tuple(self._names.name(var) for var in self._entry)

    @property
    def _entry(self) -> tuple[t.Var, ...]:
        return (*self.paths.state, *self.paths.invariants)

    def __call__(self, /, **entry: Entry) -> dict[str, int]:
        """The variables at the exit for these values at the entry, in time that does not grow with the iterations.

        What the loop reads of arrays is given by their names, as elements of the declared type. Variables that are
        neither asked for nor used behind the loop may be missing.

        Raises:
            UsageError: a name is not one of ``variables``, one that is needed is missing, or has not such a value.
            ValueError: the loop does not leave from there, or nothing is said, with the reason.
        """
        given, memory = self._given(entry)
        plain = {var.name: value for var, value in given.items()}
        found = self._evaluated(given, lambda: self._value(memory.read, **plain))
        by_internal = {var.name: self._names.name(var) for var in self._all}
        return {by_internal.get(name, name): value for name, value in found.items()}

    def iterations(self, /, **entry: Entry) -> int:
        """How many back edges are taken from these values at the entry. Raises as a call does."""
        given, memory = self._given(entry)

        def count() -> int:
            if t.holds(self.entered, given, memory.read):
                for case in self.cases:
                    if t.holds(case.when, given, memory.read):
                        return t.evaluate(case.iterations, given, memory.read)
            self._value(memory.read, **{var.name: value for var, value in given.items()})  # says why there is no number
            raise AssertionError(self.name)

        return self._evaluated(given, count)

    @property
    def _all(self) -> tuple[t.Var, ...]:
        updated = [var for path in self.paths.all for var in path.update]
        return tuple(dict.fromkeys((*self._entry, *updated)))

    def _given(self, entry: Mapping[str, Entry]) -> tuple[dict[t.Var, int], GivenMemory]:
        where = f"the summary of {self.name}"
        return with_memory(entry, self._entry, self._names, self.answer.layouts, where)

    def _evaluated(self, given: dict[t.Var, int], answer: Callable[[], _T]) -> _T:
        return evaluated(answer, given, self._entry, self._names, f"the summary of {self.name}")

    def text(
        self, *, traces: bool = False, paths: bool = False, all_states: bool = False, all_cases: bool = False
    ) -> str:
        """What ``loopless summarize`` prints with the options of these names."""
        return summaries([self.answer], TextLayout(traces, paths, all_states, all_cases))

    def to_dict(self) -> dict[str, Any]:
        """The loop's entry in the JSON of ``loopless summarize``."""
        return loop_json(self.answer)

    def smtlib(self) -> str:
        """The relation of entry and exit for an SMT solver, as ``--format smtlib``."""
        return smtlib([self.answer])

    def __str__(self) -> str:
        return self.text()

    def _brief(self) -> str:
        shown = [_counted(len(self.cases), "case")] if self.cases or self.approximation is None else []
        if self.approximation is not None:
            ways = len(self.approximation.cases)
            shown.append(f"{ways} {'way' if ways == 1 else 'ways'} to leave")
        return f"summary of {self.name}: {', '.join([*verdict(self.answer), *shown])}"

    def _repr_html_(self) -> str:
        return html.loop_summary(self.answer)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FunctionSummary(_Summarized):
    """What a call of a function does, as cases over its inputs; ``print`` shows it as ``summarize --whole`` does.

    Called with inputs it gives what the call comes to: ``summary(n=9)["return"]``.
    """

    answer: FunctionAnswer
    """All that was found out with it."""
    _value: CallSummary = field(init=False)
    _names: Names = field(init=False)

    def __post_init__(self) -> None:
        assert self.answer.summary is not None
        object.__setattr__(self, "_value", self.answer.summary)
        object.__setattr__(self, "_names", Names(self.answer.summary))

    @property
    def name(self) -> str:
        """The function's name in the source."""
        return self.answer.name

    @property
    def inputs(self) -> tuple[SummaryInput, ...]:
        """The values that the summary speaks of: parameters, globals, what pointers point to, inputs that are read."""
        return self._value.inputs

    @property
    def cases(self) -> tuple[FunctionCase, ...]:
        """Each says for which inputs (``when``) the run ends how (``kind``), with which ``result`` and final values
        (``then``), after how many ``iterations`` of each loop. No entry state is in two of them.
        """
        return self._value.cases

    @property
    def diverges(self) -> tuple[Diverges, ...]:
        """The inputs for which the call never ends, each with the loop that it stays in."""
        return self._value.diverges

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is taken for granted, one sentence each."""
        return tuple(function_assumptions(self._value))

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the inputs that a call of the summary takes."""
        return tuple(dict.fromkeys(self._names.name(var) for var in self._entry))

    @property
    def _entry(self) -> tuple[t.Var, ...]:
        inputs = [input.var for input in self.inputs]
        given = [p.var for p in self._value.parameters if p.var is not None and p.object is None]
        return tuple(dict.fromkeys((*given, *inputs)))

    def __call__(self, /, **inputs: Entry) -> dict[str, int]:
        """What a call comes to, by name: the final values of what changes, and the value returned as ``return``.

        Raises:
            UsageError: a name is not one of ``variables``, one that is needed is missing, or has not such a value.
            ValueError: the call does not return, or nothing is said, with the reason.
        """
        where = f"the summary of {self.name}"
        given, memory = with_memory(inputs, self._entry, self._names, self._value.layouts, where)
        plain = {var.name: value for var, value in given.items()}
        found = evaluated(lambda: self._value(memory.read, **plain), given, self._entry, self._names, where)
        by_internal = {var.name: self._names.name(var) for case in self.cases for var in case.then}
        return {by_internal.get(name, name): value for name, value in found.items()}

    def to_dict(self) -> dict[str, Any]:
        """The function's entry in the JSON of ``loopless summarize --whole``."""
        return function_json(self.answer)

    def __str__(self) -> str:
        return function_summary(self.answer)

    def _brief(self) -> str:
        words = [self.answer.status, "complete" if self.complete else "not complete"]
        return f"summary of {self.name}: {', '.join(words)}, {_counted(len(self.cases), 'case')}"

    def _repr_html_(self) -> str:
        return html.function_summary(self.answer)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Classification(Held):
    """What kind of loop a loop is (Proteus's Table 1)."""

    answer: LoopAnswer
    """All that was found out with it."""

    @property
    def _value(self) -> LoopClass:
        assert self.answer.classification is not None
        return self.answer.classification

    @property
    def name(self) -> str:
        """The loop's name."""
        return self.answer.loop.name

    @property
    def type(self) -> int | None:
        """1 to 4."""
        return self._value.type

    @property
    def conditions(self) -> str | None:
        """Whether all conditions move with induction variables ("IV"), or some do not ("NIV")."""
        return self._value.conditions

    @property
    def execution(self) -> str | None:
        """How paths follow one another: "sequential", "periodic" or "irregular"."""
        return self._value.execution

    @property
    def decided(self) -> bool:
        """False where the execution is called irregular only because no regular pattern was found."""
        return self._value.decided

    @property
    def reasons(self) -> tuple[str, ...]:
        """One sentence for each thing that makes the loop harder than type 1."""
        return self._value.reasons

    def to_dict(self) -> dict[str, Any]:
        """The loop's entry in the JSON of ``loopless classify``."""
        return loop_json(self.answer)

    def __str__(self) -> str:
        return type_list([self.answer])

    def _brief(self) -> str:
        return f"type {self._value.label} of {self.name}: {self.conditions} conditions, {self.execution}"

    def _repr_html_(self) -> str:
        return html.classification(self.answer, self._value)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Automaton(Held):
    """The path dependency automaton of a loop: which path follows which, when, and with what values.

    A notebook shows its picture; ``print`` shows it in DOT.
    """

    answer: LoopAnswer
    """All that was found out with it."""

    @property
    def _value(self) -> PathAutomaton:
        assert self.answer.automaton is not None
        return self.answer.automaton

    @property
    def name(self) -> str:
        """The loop's name."""
        return self.answer.loop.name

    @property
    def states(self) -> tuple[State, ...]:
        """The states, each of which is a path of the loop."""
        return self._value.states

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """The transitions, with constraint φ, guard ϕ and update U."""
        return self._value.transitions

    @property
    def precondition(self) -> t.Condition:
        """What is assumed of the entry values."""
        return self._value.precondition

    def dot(self) -> str:
        """The automaton in DOT, as ``--format dot``."""
        return drawing([self.answer])

    def svg(self) -> str:
        """The picture as an SVG document, as ``--format svg``."""
        return picture([self.answer])

    def __str__(self) -> str:
        return self.dot()

    def _brief(self) -> str:
        states, transitions = len(self.states), len(self.transitions)
        return f"automaton of {self.name}: {_counted(states, 'state')}, {_counted(transitions, 'transition')}"

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> None:
        """None: the picture says it better."""


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"

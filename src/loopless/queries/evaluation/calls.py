"""Calls of one function, evaluated under limits: short ones are interpreted; where one is long, the loops are
summarized once, and each call from then on jumps over them.

After many calls the summary of the whole function is worked out, from which the others are evaluated three times as
fast; one call, or a few, would not earn it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from loopless import clock
from loopless.check.interpreter.run import Argument
from loopless.errors import UsageError
from loopless.flowgraph.model import Parameter
from loopless.limits.queries import DEFAULT_CALL_S, FIRST_TIME_S, MANY_CALLS, QUICK_STEPS
from loopless.queries.call_values.argument_types import Formal, SourceParameter, as_declared, pointed
from loopless.queries.evaluation.call_arguments import (
    arguments_in_words,
    arguments_of,
    bytes_stepped,
    check_arguments,
    declared_as,
    formals_of,
    in_bytes,
    memory_before,
)
from loopless.queries.evaluation.evaluate import Evaluation
from loopless.queries.evaluation.prepared_calls import PreparedCalls
from loopless.queries.functions import outcomes_of, summary_for_calls
from loopless.queries.jobs.overrun import Overrun
from loopless.queries.jobs.sandbox import Limits, Pool
from loopless.queries.loops.answer import Question
from loopless.queries.loops.answering import answer_all
from loopless.queries.program import AnalyzedFunction, deadline
from loopless.queries.settings import Settings
from loopless.refusals import Reason, Refused
from loopless.stepping import forbidden

if TYPE_CHECKING:
    from loopless.summary import CallSummary, Outcome

MOST_STEPS: Final = 1 << 62


class Calls:
    """Evaluates calls of ``function``. Use as a context manager, which ends the processes that it needs.

    ``outcomes``: the summaries of its loops by their names, or what gives them, where that is not to be done here.
    """

    def __init__(
        self,
        function: AnalyzedFunction,
        settings: Settings,
        until: float | None = None,
        outcomes: Mapping[str, Outcome] | Callable[[], Mapping[str, Outcome]] | None = None,
    ) -> None:
        self._function, self._until = function, until
        graph = function.graph()
        self.refused = graph if isinstance(graph, Refused) else None
        self.variadic = function.code.variadic
        self.parameters: tuple[Parameter, ...] = () if isinstance(graph, Refused) else graph.parameters
        self._limit_s = settings.timeout_s if settings.timeout_s is not None else DEFAULT_CALL_S
        self._limits = Limits(self._limit_s, settings.loop_memory_mb, None, time_option="--timeout")
        self._settings = settings
        self._given = outcomes
        self._prepared = PreparedCalls(function, None)
        self._pool = self._new_pool() if settings.sandboxed else None
        self._calls, self._spent_s = 0, 0.0

    def __enter__(self) -> Calls:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End the processes; the next call starts others."""
        if self._pool is not None:
            self._pool.__exit__()

    def run(self, arguments: Sequence[Argument], nondet: Sequence[int] = ()) -> Evaluation:
        """One call. Raises ``UsageError`` for arguments that the function does not take."""
        if self.refused is not None:
            return _unknown(f"{self.refused.detail} (at {self.refused.where})")
        self.check_count(len(arguments))
        if arguments or not self.is_main:
            units = self._units
            check_arguments(self.parameters, arguments, units)
            arguments = [in_bytes(*each) for each in zip(self.parameters, arguments, units, strict=True)]
        found = None
        if self._prepared.outcomes is None and QUICK_STEPS and not forbidden():
            found = self._run(arguments, nondet, QUICK_STEPS)
        if found is None or found.status == "unknown":
            self._summarize()
            found = self._run(arguments, nondet, MOST_STEPS)
        if self._calls == MANY_CALLS and self._pool is not None:
            self._summarize_whole()
        return self._shown(found, arguments)

    @property
    def is_main(self) -> bool:
        """Whether the call may be without arguments, as one from nowhere is: it is the program that runs."""
        return self._function.name == "main" and len(self.parameters) >= 2

    def check_count(self, count: int) -> None:
        """Raises ``UsageError`` for more arguments than a function names that takes any number of others."""
        if self.variadic and self.refused is None and count > len(self.parameters):
            raise UsageError(
                f"the function takes {arguments_of(self.parameters)} and then any number of others (...), "
                "and calls with such others are not evaluated"
            )

    def _run(self, arguments: Sequence[Argument], nondet: Sequence[int], steps: int) -> Evaluation:
        """One call, of which so many steps are interpreted at most."""
        if self._pool is None:
            return self._prepared.evaluate(arguments, nondet, steps, None)
        started = clock.now()
        found = self._pool.call(0, arguments, nondet, steps, self._limit_s * 0.9)
        self._spent_s += clock.now() - started
        if steps == MOST_STEPS or (not isinstance(found, Overrun) and found.status != "unknown"):
            self._calls += 1
        return _unknown(found.detail) if isinstance(found, Overrun) else found

    def _shown(self, found: Evaluation, arguments: Sequence[Argument]) -> Evaluation:
        """The result with what pointers point to, as C has it."""
        after = pointed(self.formals, found.memory)
        given = [memory_before(formal, value) for formal, value in zip(self.formals, arguments, strict=False)]
        before = pointed(self.formals, given)
        changed = frozenset(name for name, value in after.items() if before.get(name) != value)
        text = frozenset(formal.name for formal in self.formals if formal.is_text)
        return replace(found, pointers=after, changed=changed, text=text, memory=())

    @functools.cached_property
    def formals(self) -> tuple[Formal, ...]:
        """The parameters with what the source says of their types."""
        return () if self.refused is not None else formals_of(self._function)

    @functools.cached_property
    def _units(self) -> list[int]:
        """How many bytes each pointer steps by."""
        return [bytes_stepped(formal) for formal in self.formals]

    @functools.cached_property
    def declared(self) -> list[SourceParameter]:
        """The parameters as the source has them."""
        module = self._function.program.source.inlined
        return as_declared(self.formals, module.functions[self._function.code.name].variables)

    @property
    def takes(self) -> str:
        """How many arguments there are, and which."""
        return arguments_in_words([declared_as(given) for given in self.declared])

    def _deadline(self) -> float | None:
        """When summaries must be done: each call has its own time, the first what reading the program left of it."""
        return self._until if self._calls == 0 else deadline(self._settings)

    def _summarize(self) -> None:
        """Summarize the loops, if that is not done."""
        if self._prepared.outcomes is None:
            given = self._given
            if given is None:
                given = _outcomes(self._function, self._settings, self._deadline())
            self._prepare(given() if callable(given) else given)

    def _prepare(self, outcomes: Mapping[str, Outcome], whole: CallSummary | None = None) -> None:
        self._prepared = PreparedCalls(self._function, outcomes, whole)
        if self._pool is not None:
            self._pool.__exit__()
            self._pool = self._new_pool()

    def _new_pool(self) -> Pool[Evaluation]:
        return Pool([self._prepared.evaluate], self._limits)

    def _summarize_whole(self) -> None:
        """Let the calls to come be evaluated from the summary of the function, if it is to be had in about the time
        that the calls have taken so far.
        """
        time_s = max(FIRST_TIME_S, self._spent_s)
        known = self._prepared.outcomes
        if known is None:
            known = _outcomes(self._function, replace(self._settings, loop_timeout_s=time_s), self._deadline())
            if any(isinstance(one, Refused) and one.reason is Reason.TIME_LIMIT for one in known.values()):
                return  # where a call needs the summaries, there will be more time for them
        whole = summary_for_calls(self._function, known, self._settings, time_s)
        if whole is not None:
            self._prepare(known, whole)


def _outcomes(function: AnalyzedFunction, settings: Settings, until: float | None) -> dict[str, Outcome]:
    """The summaries of the function's loops, each under its own limits."""
    return outcomes_of(answer_all(function.loops, Question(classify=False), settings, until))


def evaluate(
    function: AnalyzedFunction,
    arguments: Sequence[Argument],
    nondet: Sequence[int] = (),
    settings: Settings | None = None,
) -> Evaluation:
    """The result of one call of ``function``; raises ``UsageError`` for arguments that it does not take."""
    with Calls(function, settings or replace(function.program.settings, sandboxed=False)) as calls:
        return calls.run(arguments, nondet)


def _unknown(reason: str) -> Evaluation:
    return Evaluation("unknown", None, (), {}, {}, "interpretation", reason)

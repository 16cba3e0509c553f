"""Calls of one function, evaluated under limits: its loops are summarized once, each call jumps over them."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from loopless.check.interpret import Argument, Interpreter
from loopless.errors import UsageError
from loopless.flowgraph import Options
from loopless.flowgraph.model import Flowgraph, LoopInfo, Parameter
from loopless.queries.answers import Question
from loopless.queries.evaluation import Evaluation, Evaluator
from loopless.queries.limits import Limits, Overrun, Pool
from loopless.queries.session import Function, answer_all
from loopless.queries.settings import Settings
from loopless.refusals import Reason, Refused
from loopless.terms import INTEGERS

if TYPE_CHECKING:
    from loopless.summary import Outcome

DEFAULT_CALL_S = 60.0
"""The time for one call where no limit is asked for, in seconds."""


class Calls:
    """Evaluates calls of ``function``. Use as a context manager, which ends the processes that it needs."""

    def __init__(self, function: Function, settings: Settings, until: float | None = None) -> None:
        graph = function.graph()
        self.refused = graph if isinstance(graph, Refused) else None
        self.parameters: tuple[Parameter, ...] = () if isinstance(graph, Refused) else graph.parameters
        self._limit_s = settings.timeout_s if settings.timeout_s is not None else DEFAULT_CALL_S
        limits = Limits(self._limit_s, settings.loop_memory_mb, None, time_option="--timeout")
        self._call = functools.partial(_evaluate, _Prepared(function, _outcomes(function, settings, until)))
        self._pool: Pool[Evaluation] | None = Pool([self._call], limits) if settings.fenced else None

    def __enter__(self) -> Calls:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.__exit__()

    def run(self, arguments: Sequence[Argument], nondet: Sequence[int] = ()) -> Evaluation:
        """One call. Raises ``UsageError`` for arguments that the function does not take."""
        if self.refused is not None:
            return _unknown(f"{self.refused.detail} (at {self.refused.where})")
        check_arguments(self.parameters, arguments)
        if self._pool is None:
            return self._call(arguments, nondet, None)
        found = self._pool.call(0, arguments, nondet, self._limit_s * 0.9)
        return _unknown(found.detail) if isinstance(found, Overrun) else found


class _Prepared:
    """What all calls share; the interpreter is compiled in the process that needs it."""

    def __init__(self, function: Function, outcomes: Mapping[str, Outcome]) -> None:
        self.function = function
        self.outcomes = outcomes

    @functools.cached_property
    def evaluator(self) -> Evaluator:
        program = self.function.program
        settings = program.settings
        graph = self.function.graph()
        assert isinstance(graph, Flowgraph)
        options = Options(mathematical=settings.mathematical, wrapv=settings.wrapv)
        interpreter = Interpreter(program.source.inlined, graph, options=options)

        def outcome(loop: LoopInfo) -> Outcome:
            missing = Refused(Reason.NO_CLOSED_FORM, loop.name, "the loop was not summarized")
            return self.outcomes.get(loop.name, missing)

        return Evaluator(graph, interpreter, outcome)

    def __getstate__(self) -> dict[str, Any]:
        return {"function": self.function, "outcomes": self.outcomes}


def _evaluate(
    prepared: _Prepared, arguments: Sequence[Argument], nondet: Sequence[int], seconds: float | None
) -> Evaluation:
    until = time.monotonic() + seconds if seconds is not None else None
    found = prepared.evaluator.run(arguments, nondet, max_steps=1 << 62, deadline=until)
    return replace(found, globals=dict(found.globals), iterations=dict(found.iterations))


def _outcomes(function: Function, settings: Settings, until: float | None) -> dict[str, Outcome]:
    """The summaries of the function's loops, each under its own limits."""
    found: dict[str, Outcome] = {}
    for answer in answer_all(function.loops, Question(classify=False), settings, until):
        outcome = answer.summary if answer.summary is not None else answer.refused
        if outcome is not None:
            found[answer.loop.name] = outcome
    return found


def evaluate(
    function: Function,
    arguments: Sequence[Argument],
    nondet: Sequence[int] = (),
    settings: Settings | None = None,
) -> Evaluation:
    """The result of one call of ``function``; raises ``UsageError`` for arguments that it does not take."""
    with Calls(function, settings or replace(function.program.settings, fenced=False)) as calls:
        return calls.run(arguments, nondet)


def check_arguments(parameters: Sequence[Parameter], arguments: Sequence[Argument]) -> None:
    """Raises ``UsageError`` if there are too many or too few arguments, or one is not of its parameter's type."""
    if len(parameters) != len(arguments):
        wanted = ", ".join(_declared(parameter) for parameter in parameters) or "none"
        raise UsageError(f"the function takes {len(parameters)} arguments ({wanted}), not {len(arguments)}")
    for parameter, argument in zip(parameters, arguments, strict=True):
        if parameter.object is not None or parameter.null is not None:
            if parameter.shared and isinstance(argument, int):
                continue  # an index into what an earlier pointer points to
            if isinstance(argument, int):
                raise UsageError(
                    f"{parameter.name} is a pointer: give what it points to as [1, 2, 3], or null, not {argument}"
                )
            values, type = list(argument or ()), parameter.pointee
        elif not isinstance(argument, int):
            raise UsageError(f"{parameter.name} is no pointer: give one integer")
        else:
            values, type = [argument], parameter.type
        for value in values:
            if type is not None and type != INTEGERS and not type.holds(value):
                raise UsageError(f"{value} is not in the range of {_declared(parameter)}: {type.min} to {type.max}")


def _declared(parameter: Parameter) -> str:
    from loopless.terms import type_name

    if parameter.object is not None or parameter.null is not None:
        return f"{type_name(parameter.pointee) if parameter.pointee is not None else 'void'} *{parameter.name}"
    return f"{type_name(parameter.type)} {parameter.name}" if parameter.type is not None else parameter.name


def _unknown(reason: str) -> Evaluation:
    return Evaluation("unknown", None, (), {}, {}, "interpretation", reason)

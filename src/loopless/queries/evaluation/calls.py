"""Calls of one function, evaluated under limits: short ones are interpreted; where one is long, the loops are
summarized once, and each call from then on jumps over them.

After many calls the summary of the whole function is worked out, from which the others are evaluated three times as
fast; one call, or a few, would not earn it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from loopless import clock
from loopless import terms as t
from loopless.check.interpreter.expressions import byte_size
from loopless.check.interpreter.run import Argument, Interpreter, PointedContent, WholeObject
from loopless.errors import UsageError
from loopless.flowgraph import Options
from loopless.flowgraph.model import Flowgraph, LoopInfo, Parameter
from loopless.queries.call_values.argument_types import Formal, SourceParameter, as_declared, pointed
from loopless.queries.call_values.arguments import Characters
from loopless.queries.evaluation.evaluate import Evaluation, Evaluator
from loopless.queries.functions import outcomes_of, summary_for_calls
from loopless.queries.jobs.overrun import Overrun
from loopless.queries.jobs.sandbox import Limits, Pool
from loopless.queries.loops.answer import Question
from loopless.queries.loops.answering import answer_all
from loopless.queries.program import Function, deadline
from loopless.queries.settings import Settings
from loopless.refusals import Reason, Refused
from loopless.source.debug import TypeKind
from loopless.stepping import forbidden

if TYPE_CHECKING:
    from loopless.summary import FunctionSummary, Outcome

DEFAULT_CALL_S: Final = 60.0
"""The time for one call where no limit is asked for, in seconds."""
MANY_CALLS: Final = 500
"""After so many calls the whole function is summarized: what that usually takes, they have taken. A guess."""
MOST_STEPS: Final = 1 << 62
FIRST_TIME_S: Final = 1.0
"""The least time that is given for that, in seconds."""
QUICK_STEPS: Final = 20_000
"""So many iterations and calls of functions are interpreted in less time than a loop is summarized in. A guess."""


class Calls:
    """Evaluates calls of ``function``. Use as a context manager, which ends the processes that it needs.

    ``outcomes``: the summaries of its loops by their names, or what gives them, where that is not to be done here.
    """

    def __init__(
        self,
        function: Function,
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
        self._prepared = _Prepared(function, None)
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
            arguments = [_in_bytes(*each) for each in zip(self.parameters, arguments, units, strict=True)]
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
            return _evaluate(self._prepared, arguments, nondet, steps, None)
        started = clock.now()
        found = self._pool.call(0, arguments, nondet, steps, self._limit_s * 0.9)
        self._spent_s += clock.now() - started
        if steps == MOST_STEPS or (not isinstance(found, Overrun) and found.status != "unknown"):
            self._calls += 1
        return _unknown(found.detail) if isinstance(found, Overrun) else found

    def _shown(self, found: Evaluation, arguments: Sequence[Argument]) -> Evaluation:
        """The result with what pointers point to, as C has it."""
        after = pointed(self.formals, found.memory)
        before = pointed(self.formals, [_memory(f, value) for f, value in zip(self.formals, arguments, strict=False)])
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
        return [_unit(formal) for formal in self.formals]

    @functools.cached_property
    def declared(self) -> list[SourceParameter]:
        """The parameters as the source has them."""
        module = self._function.program.source.inlined
        return as_declared(self.formals, module.functions[self._function.code.name].variables)

    @property
    def takes(self) -> str:
        """How many arguments there are, and which."""
        return arguments_in_words([_declared_as(given) for given in self.declared])

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

    def _prepare(self, outcomes: Mapping[str, Outcome], whole: FunctionSummary | None = None) -> None:
        self._prepared = _Prepared(self._function, outcomes, whole)
        if self._pool is not None:
            self._pool.__exit__()
            self._pool = self._new_pool()

    def _new_pool(self) -> Pool[Evaluation]:
        return Pool([functools.partial(_evaluate, self._prepared)], self._limits)

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


class _Prepared:
    """What all calls share; the interpreter is compiled in the process that needs it."""

    def __init__(
        self, function: Function, outcomes: Mapping[str, Outcome] | None, whole: FunctionSummary | None = None
    ) -> None:
        self.function = function
        self.outcomes = outcomes
        self.whole = whole

    @functools.cached_property
    def evaluator(self) -> Evaluator:
        program = self.function.program
        settings = program.settings
        graph = self.function.graph()
        assert isinstance(graph, Flowgraph)
        options = Options(settings.mathematical, settings.wrapv, settings.apart)
        interpreter = Interpreter(program.source.inlined, graph, options=options)

        def outcome(loop: LoopInfo) -> Outcome:
            missing = Refused(Reason.NO_CLOSED_FORM, loop.name, "the loop was not summarized")
            return (self.outcomes or {}).get(loop.name, missing)

        return Evaluator(graph, interpreter, outcome if self.outcomes is not None else None, self.whole)

    def __getstate__(self) -> dict[str, Any]:
        return {"function": self.function, "outcomes": self.outcomes, "whole": self.whole}


def _evaluate(
    prepared: _Prepared, arguments: Sequence[Argument], nondet: Sequence[int], steps: int, seconds: float | None
) -> Evaluation:
    until = clock.now() + seconds if seconds is not None else None
    found = prepared.evaluator.run(arguments, nondet, max_steps=steps, deadline=until)
    granted = prepared.function.stubs if found.status != "unknown" else ()
    return replace(found, globals=dict(found.globals), iterations=dict(found.iterations), assumptions=granted)


def _memory(formal: Formal, value: Argument) -> WholeObject | None:
    """What a pointer points to before the call."""
    type = formal.parameter.pointee
    if isinstance(value, bytes | bytearray | PointedContent):
        return _held(value)
    if value is None or isinstance(value, int) or type is None:
        return None
    size = byte_size(type)
    return WholeObject(b"".join((part % (1 << 8 * size)).to_bytes(size, "little") for part in value))


def _held(value: bytes | bytearray | PointedContent) -> WholeObject:
    if isinstance(value, PointedContent):
        return WholeObject(value.content, {at: _held(inner) for at, inner in value.pointers})
    return WholeObject(bytes(value))


def formals_of(function: Function) -> tuple[Formal, ...]:
    """The parameters of a function with what the source says of their types."""
    graph, module = function.graph(), function.program.source.inlined
    assert not isinstance(graph, Refused)
    types, code = module.debug_types, module.functions[function.code.name]
    found = []
    for parameter, param in zip(graph.parameters, code.params, strict=False):
        type = param.debug.type if param.debug is not None else None
        is_pointer = type is not None and type.kind is TypeKind.POINTER
        pointee = types[type.element] if type is not None and is_pointer and type.element is not None else None
        if param.byval is not None and type is not None and type.kind is TypeKind.STRUCT:
            pointee = type
        found.append(Formal(parameter, type, pointee, types))
    return tuple(found)


def _outcomes(function: Function, settings: Settings, until: float | None) -> dict[str, Outcome]:
    """The summaries of the function's loops, each under its own limits."""
    return outcomes_of(answer_all(function.loops, Question(classify=False), settings, until))


def evaluate(
    function: Function,
    arguments: Sequence[Argument],
    nondet: Sequence[int] = (),
    settings: Settings | None = None,
) -> Evaluation:
    """The result of one call of ``function``; raises ``UsageError`` for arguments that it does not take."""
    with Calls(function, settings or replace(function.program.settings, sandboxed=False)) as calls:
        return calls.run(arguments, nondet)


def _unit(formal: Formal) -> int:
    """How many bytes a pointer steps by: 1 where what it points to has no size."""
    if formal.parameter.pointee is not None:
        return max(1, byte_size(formal.parameter.pointee))
    return max(1, formal.pointee.bits // 8) if formal.pointee is not None else 1


def _in_bytes(parameter: Parameter, argument: Argument, unit: int) -> Argument:
    """The argument; an index as the interpreter counts, which knows no size of what is no integer."""
    if isinstance(argument, Characters):
        return argument.of(parameter.pointee)
    return argument * unit if parameter.shared and parameter.pointee is None and isinstance(argument, int) else argument


def check_arguments(parameters: Sequence[Parameter], arguments: Sequence[Argument], units: Sequence[int]) -> None:
    """Raises ``UsageError`` if there are too many or too few arguments, or one is not of its parameter's type.

    ``units``: the bytes that each pointer steps by.
    """
    if len(parameters) != len(arguments):
        raise UsageError(f"the function takes {arguments_of(parameters)}, not {len(arguments)}")
    first: dict[int, tuple[str, int]] = {}  # the name, and how many bytes it points to
    for parameter, argument, unit in zip(parameters, arguments, units, strict=True):
        if parameter.object is not None or parameter.null is not None:
            if parameter.shared and isinstance(argument, int) and parameter.object in first:
                name, size = first[parameter.object]
                if not 0 <= argument <= size // unit:
                    raise UsageError(
                        f"{parameter.name} is an index into what {name} points to: "
                        f"from 0 to {size // unit}, not {argument}"
                    )
                continue
            if isinstance(argument, int):
                raise UsageError(
                    f"{parameter.name} is a pointer: give what it points to as [1, 2, 3], or null, not {argument}"
                )
            if parameter.shared and parameter.object is not None and argument is not None:
                first.setdefault(parameter.object, (parameter.name, _size(argument, unit)))
            if isinstance(argument, PointedContent | bytes | bytearray):
                continue  # it was made by its type, or is what memory holds
            type = parameter.pointee
            values = argument.of(type) if isinstance(argument, Characters) else list(argument or ())
        elif parameter.type is None and parameter.var is None:
            continue  # it is no integer: nothing is known of it where the call uses it
        elif not isinstance(argument, int):
            raise UsageError(f"{parameter.name} is no pointer: give one integer")
        else:
            values, type = [argument], parameter.type
        for value in values:
            if type is not None and type != t.INTEGERS and not type.holds(value):
                raise UsageError(f"{value} is not in the range of {_declared(parameter)}: {type.min} to {type.max}")


def _size(argument: bytes | bytearray | PointedContent | Sequence[int], unit: int) -> int:
    """How many bytes what a pointer points to has."""
    if isinstance(argument, PointedContent):
        return len(argument.content)
    return len(argument) * (1 if isinstance(argument, bytes | bytearray) else unit)


def arguments_of(parameters: Sequence[Parameter]) -> str:
    """How many arguments there are, and which."""
    return arguments_in_words([_declared(parameter) for parameter in parameters])


def arguments_in_words(declared: Sequence[str]) -> str:
    """How many arguments there are, and which, as they are declared."""
    return f"{len(declared)} argument{'' if len(declared) == 1 else 's'} ({', '.join(declared) or 'none'})"


def _declared_as(given: SourceParameter) -> str:
    type, pointee = given.formal.type, given.formal.pointee
    if given.is_structure and type is not None:
        return f"{type.description} {given.formal.name}"
    if given.formal.parameter.pointee is None and pointee is not None:
        space = "" if pointee.description.endswith("*") else " "
        return f"{pointee.description}{space}{'' if pointee is type else '*'}{given.formal.name}"
    return _declared(given.formal.parameter)


def _declared(parameter: Parameter) -> str:

    if parameter.object is not None or parameter.null is not None:
        return f"{t.type_name(parameter.pointee) if parameter.pointee is not None else 'void'} *{parameter.name}"
    if parameter.type is None:
        return parameter.name
    return f"{'_Bool' if parameter.type.width == 1 else t.type_name(parameter.type)} {parameter.name}"


def _unknown(reason: str) -> Evaluation:
    return Evaluation("unknown", None, (), {}, {}, "interpretation", reason)

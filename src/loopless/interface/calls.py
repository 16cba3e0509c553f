"""Calls of one function from Python: arguments by place or by name, results that are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from multiprocessing.util import Finalize
from typing import TYPE_CHECKING, Any, Final

from loopless.deadline import in_time
from loopless.errors import UsageError
from loopless.limits.interface import MAX_KEPT_RESULTS
from loopless.queries.call_values.argument_types import SourceParameter
from loopless.queries.call_values.arguments import argument_of, integer_of
from loopless.queries.evaluation.calls import Calls
from loopless.queries.evaluation.evaluate import Evaluation
from loopless.queries.functions import outcomes_of
from loopless.queries.loops.answer import LoopAnswer, Question
from loopless.queries.program import AnalyzedFunction, deadline
from loopless.queries.settings import Settings
from loopless.report.given_values import listed

if TYPE_CHECKING:
    from loopless.check.interpreter.run import Argument

CALLED: Final = Question(classify=False)
"""What evaluation asks about the loops of a function."""


class KeptCalls:
    """The calls of a function, evaluated by a process that lives as long as this object."""

    def __init__(
        self, function: AnalyzedFunction, settings: Settings, loops: Callable[[], Sequence[LoopAnswer]]
    ) -> None:
        """``loops`` gives the answers about the function's loops to :data:`CALLED`, where a call needs them."""
        until = deadline(settings)
        with in_time(until):
            function.graph()
        self._name = function.name
        self._calls = Calls(function, settings, until, lambda: outcomes_of(loops()))
        self._results: dict[object, Evaluation] = {}
        # Before Python waits at its end for processes that are still there.
        Finalize(self, self._calls.end, exitpriority=1)

    def evaluate(self, arguments: Sequence[Any], by_name: Mapping[str, Any], nondet: Iterable[Any]) -> Evaluation:
        """The result of a call. Raises ``UsageError`` for arguments that the function does not take."""
        given = self._in_order(arguments, by_name)
        inputs = tuple(integer_of(value, "an input") for value in nondet)
        key = (tuple(tuple(value) if isinstance(value, list) else value for value in given), inputs)
        if key not in self._results:
            found = self._run(given, inputs)
            if len(self._results) >= MAX_KEPT_RESULTS:
                del self._results[next(iter(self._results))]
            self._results[key] = found
        return self._results[key]

    def _run(self, arguments: Sequence[Argument], inputs: Sequence[int]) -> Evaluation:
        try:
            return self._calls.run(arguments, inputs)
        except UsageError:
            raise
        except BaseException:
            self._calls.end()  # the process may be at work still: its result must not be taken for another call's
            raise

    def _in_order(self, arguments: Sequence[Any], by_name: Mapping[str, Any]) -> list[Argument]:
        """The arguments in the order of the parameters; those beyond stand behind them."""
        if self._calls.refused is not None:
            return []  # whatever they are, the answer is the refusal
        names = [declared.formal.name for declared in self._calls.declared]
        takes = f"{self._name} takes {self._calls.takes}"
        given = dict(zip(names, arguments, strict=False))
        for name, value in by_name.items():
            if name not in names:
                raise UsageError(f"{self._name} has no parameter {name}: {takes}")
            if name in given:
                raise UsageError(f"{name} is given twice: {takes}")
            given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise UsageError(f"there is no value for {listed(missing)}: {takes}")
        beyond = enumerate(arguments[len(names) :], len(names) + 1)
        own = [part for declared in self._calls.declared for part in _arguments(declared, given[declared.formal.name])]
        return [*own, *(argument_of(value, f"argument {number}") for number, value in beyond)]


def _arguments(declared: SourceParameter, value: Any) -> list[Argument]:
    """What the compiled function takes for a value of a parameter."""
    if declared.is_structure or isinstance(value, Mapping | float) or _is_nested(value):
        return declared.arguments(_plain(value))
    return [argument_of(value, declared.formal.name)]


def _is_nested(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(part, Mapping | list | tuple | float) for part in value)


def _plain(value: Any) -> Any:
    """Structures as dictionaries, arrays as lists."""
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value

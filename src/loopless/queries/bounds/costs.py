"""How much a counter variable grows over a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from loopless.bounds.methods.cost import Cost, cost_of
from loopless.errors import UsageError
from loopless.patterns import pattern
from loopless.queries.bounds.answers import FunctionBound
from loopless.queries.jobs.overrun import Overrun, failure
from loopless.queries.jobs.running import work
from loopless.queries.program import AnalyzedFunction, AnalyzedProgram
from loopless.queries.selection import variables_named
from loopless.queries.settings import Settings
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.summary import CallSummary


@dataclass(frozen=True, slots=True)
class CostAnswer:
    """The growth of the variable that the source calls ``variable`` over a call of the function of ``bound``."""

    variable: str
    bound: FunctionBound
    cost: Cost


def function_with(functions: Sequence[AnalyzedFunction], name: str) -> AnalyzedFunction:
    """The one function that has a variable of this name, or ``main`` among several. Raises ``UsageError``."""
    found = []
    for function in functions:
        graph = function.graph()
        if not isinstance(graph, Refused) and variables_named(graph, name, graph.variables):
            found.append(function)
    found = found or [function for function in functions if _in_memory(function, name)]
    if len(found) > 1:
        found = [function for function in found if function.name == "main"] or found
    if len(found) == 1:
        return found[0]
    if not found and len(functions) == 1 and _is_global(functions[0].program, name):
        return functions[0]
    if found:
        choices = ", ".join(f.name for f in found)
        raise UsageError(f"several functions have a variable {name}: {choices}; use --function")
    raise UsageError(f"no function with loops has a variable {name}")


def _is_global(program: AnalyzedProgram, name: str) -> bool:
    return name in program.source.inlined.globals


_STEP: Final = pattern(r"(?:\.|(->))(\w+)|\[\d+\]")


def _in_memory(function: AnalyzedFunction, name: str) -> bool:
    """Whether C has an integer of this name, such as ``x``, ``s.a[2]`` or ``p->k``, in the text of the function."""
    types = function.program.source.module.debug_types
    steps = list(_STEP.finditer(name))
    root = name[: steps[0].start()] if steps else name
    if "".join((root, *(step[0] for step in steps))) != name:
        return False
    code = function.program.source.module.functions[function.code.name]
    declared = [*code.variables.values(), *(param.debug for param in code.params if param.debug is not None)]
    for variable in declared:
        type = variable.type if variable.name == root else None
        for step in steps:
            if type is not None and (step[1] or not step[2]):
                type = types.element(type)
            if type is not None and step[2]:
                type = next((member.type for member in types.members(type) if member.name == step[2]), None)
        if type is not None and type.signed is not None:
            return True
    return False


def answer_cost(
    function: AnalyzedFunction, name: str, bound: FunctionBound, settings: Settings, until: float | None = None
) -> CostAnswer:
    """Bounds on the growth of a variable over a call, under the limits of a loop."""
    index = function.program.functions.index(function)
    job = MeasureCost(function.program, index, name, bound.summary)
    (found,) = work([job.run], settings, until)
    cost = Cost(None, None, found.refused(function.place)) if isinstance(found, Overrun) else found
    return CostAnswer(name, bound, cost)


@dataclass(frozen=True, slots=True)
class MeasureCost:
    """The job of bounding how much the variable ``name`` grows over a call, beside the summary of the function."""

    program: AnalyzedProgram
    index: int
    """Of the function among those of the program."""
    name: str
    summary: CallSummary | None

    def run(self) -> Cost:
        """The bounds, or why there are none. Raises ``UsageError`` for a name of several variables."""
        return _cost(self.program.functions[self.index], self.name, self.summary)


def _cost(function: AnalyzedFunction, name: str, summary: CallSummary | None) -> Cost:
    graph = function.graph()
    if isinstance(graph, Refused):
        return Cost(None, None, graph)
    named = variables_named(graph, name, graph.variables)
    if not named and _in_memory(function, name):
        detail = f"{name} is no variable of its own here: it is read or written together with what is beside it"
        detail += " in memory, its address is given away, or nothing uses it"
        return Cost(None, None, Refused(Reason.MEMORY, function.place, detail))
    if not named:
        detail = f"{name} is changed in calls only, and what they add to it is not known"
        return Cost(None, None, Refused(Reason.UNKNOWN_CALL, function.place, detail))
    if len(named) > 1:
        raise UsageError(f"{name} may be any of {', '.join(v.name for v in named)} in {function.name}; name one")
    try:
        return cost_of(graph, named[0], summary)
    except Exception as error:  # noqa: BLE001  # an error here must not take the bounds with it
        return Cost(None, None, failure(error).refused(function.place))

"""The states in which a function comes to a loop for the first time, composed exactly from its beginning.

What holds at a loop's header in some states says something of the program only where a run enters the loop in one of
them. The states here are such: each is a path from the function's beginning, all steps of which are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from loopless import terms as t
from loopless.flowgraph.model import Flowgraph, Kind, LoopInfo, Origin
from loopless.limits.summary import ARRIVAL_OPERATIONS
from loopless.logic import BudgetExceeded, NotPresburger, budget
from loopless.summary.function_paths import FunctionPath, FunctionPaths
from loopless.summary.model import Outcome

_INPUTS: Final = (Kind.PARAMETER, Kind.GLOBAL, Kind.POINTEE)


class Arrivals:
    """The paths of a function to its outermost loops; ``outcomes`` are the summaries of its loops by their names."""

    def __init__(self, graph: Flowgraph, outcomes: Mapping[str, Outcome]) -> None:
        self._graph, self._outcomes = graph, outcomes
        self._paths: FunctionPaths | None = None

    def inputs_for(self, loop: LoopInfo, states: t.Condition) -> t.Condition:
        """Inputs of the function with which it surely comes to ``loop`` in one of these states of its header; false
        where none are known.
        """
        try:
            with budget(ARRIVAL_OPERATIONS):
                paths = self._found()
                if not states.variables <= paths.live.get(loop.header, frozenset()):
                    return t.FALSE
                found = (self._through(state, states) for state in paths.arrived.get(loop.name, ()))
                return t.disjunction(found)
        except (BudgetExceeded, NotPresburger, t.TermTooLarge):
            return t.FALSE

    def _found(self) -> FunctionPaths:
        if self._paths is None:
            self._paths = FunctionPaths(self._graph, self._outcomes, lambda _: None, memory=False)
            self._paths.run()
        return self._paths

    def _through(self, state: FunctionPath, states: t.Condition) -> t.Condition:
        if not state.exact or state.assumptions:
            return t.FALSE
        values = {var: state.values[var] for var in states.variables if var in state.values}
        found = t.conjunction((*state.condition, t.substitute(states, values)))
        read = {unknown.var for unknown in state.unknowns if unknown.origin is Origin.NONDET}
        chosen = all(var in read or self._is_input(var) for var in found.variables)
        return found if chosen and not any(isinstance(part, t.Read) for part in t.walk_inside(found)) else t.FALSE

    def _is_input(self, var: t.Var) -> bool:
        info = self._graph.variables.get(var)
        return info is not None and info.kind in _INPUTS

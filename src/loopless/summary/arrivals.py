"""The states in which a function comes to a loop for the first time, composed exactly from its beginning.

What holds at a loop's header in some states says something of the program only where a run enters the loop in one of
them. The states here are such: each is a path from the function's beginning, all steps of which are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from loopless import terms as t
from loopless.flowgraph.memory.statement_effects import changed_in
from loopless.flowgraph.model import Flowgraph, Kind, LoopInfo, Origin
from loopless.graphs import predecessors, reachable
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
                may_read = self._is_unwritten(loop)
                found = (self._through(state, states, may_read) for state in paths.arrived.get(loop.name, ()))
                return t.disjunction(found)
        except (BudgetExceeded, NotPresburger, t.TermTooLarge):
            return t.FALSE

    def _found(self) -> FunctionPaths:
        if self._paths is None:
            self._paths = FunctionPaths(self._graph, self._outcomes, lambda _: None, memory=False)
            self._paths.run()
        return self._paths

    def _is_unwritten(self, loop: LoopInfo) -> bool:
        """Whether nothing on the way to the loop, or in it, writes memory: it holds what the function was given."""
        before = predecessors({label: block.successors for label, block in self._graph.blocks.items()})
        written = changed_in(self._graph, reachable((loop.header,), lambda label: before[label]))
        return not written.some and not written.anything

    def _through(self, state: FunctionPath, states: t.Condition, may_read: bool) -> t.Condition:  # noqa: FBT001
        if not state.exact or state.assumptions:
            return t.FALSE
        values = {var: state.values[var] for var in states.variables if var in state.values}
        found = t.conjunction((*state.condition, t.substitute(states, values)))
        read = {unknown.var for unknown in state.unknowns if unknown.origin is Origin.NONDET}
        chosen = all(var in read or self._is_input(var) for var in found.variables)
        arrays = {part.array for part in t.walk_inside(found) if isinstance(part, t.Read)}
        return found if chosen and (not arrays or (may_read and all(map(self._is_given, arrays)))) else t.FALSE

    def _is_given(self, array: str) -> bool:
        """Whether a call may be given any content of an object: tables, and globals that nobody else writes, hold what
        they hold.
        """
        kinds = {found.kind for found in self._graph.objects.values() if found.name == array}
        return "parameter" in kinds and kinds <= {"parameter", "local"}  # a pointer has a local of its name

    def _is_input(self, var: t.Var) -> bool:
        info = self._graph.variables.get(var)
        return info is not None and info.kind in _INPUTS

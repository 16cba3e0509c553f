"""The path dependency automaton of a loop, how its paths follow one another, and its type (Proteus, sections 2, 3).

``classify(paths)``
    Proteus's type 1 to 4 of a loop (:class:`LoopClass`), None where its paths are refused.
``loop_conditions(paths)``
    Each condition of the loop as IV or NIV condition (:class:`LoopCondition`), with its changes along the paths.
``execution(paths)``
    Strongly connected components of the paths in order, their periods, and the :class:`Pattern` of the whole
    (:class:`ExecutionPattern`).
``build_automaton(paths, precondition)``
    The automaton (:class:`PathAutomaton`): states, and transitions with counter constraint φ, guard ϕ and update U.
``dot(automaton)``
    Its picture as DOT text.

Everything here over-approximates where the logic cannot follow, and says so: ``exact``, ``decided``.
"""

from __future__ import annotations

from loopless.automaton.components import Component, ExecutionPattern, Pattern, execution
from loopless.automaton.conditions import LoopCondition, loop_conditions
from loopless.automaton.drawing import dot, number_of_edges
from loopless.automaton.model import PathAutomaton, State, Transition
from loopless.automaton.pda import build_automaton
from loopless.automaton.types import LoopClass, LoopType, classify

__all__ = [
    "Component",
    "ExecutionPattern",
    "LoopClass",
    "LoopCondition",
    "LoopType",
    "PathAutomaton",
    "Pattern",
    "State",
    "Transition",
    "build_automaton",
    "classify",
    "dot",
    "execution",
    "loop_conditions",
    "number_of_edges",
]

"""The path dependency automaton of a loop as a value (Proteus, section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping

from loopless import terms as t
from loopless.flowgraph.model import LoopInfo
from loopless.paths import LoopPaths, Path
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class State:
    """A state: one path of the loop.

    ``condition`` is the path condition θ, ``changes`` the value changes Δ of the variables that the path changes
    (modulo their range where they wrap). ``initial``: the loop may begin with it.
    ``terminal``: an iterative path without successors, a run of which never
    ends (or ends in undefined behaviour where no path says so).
    """

    name: str
    path: Path
    condition: t.Condition
    changes: Mapping[t.Var, t.Term]
    initial: bool
    terminal: bool

    @property
    def iterative(self) -> bool:
        """Whether the path comes back to the loop's header."""
        return self.path.exit is None

    @property
    def accepting(self) -> bool:
        """Whether the state has no successors: exit states and terminal states."""
        return self.terminal or not self.iterative


@dataclass(frozen=True, slots=True)
class Transition:
    """s_i → s_j: after ``counter`` = k ≥ 1 iterations of the path of ``source`` in a row, ``target`` follows.

    All speak of the values before the run, at which the condition of ``source`` holds:

    - ``constraint`` (φ): which k, given that the guard holds;
    - ``guard`` (ϕ): for which values the transition is taken;
    - ``update`` (U): what the changed variables hold after it, over these values and the counter; ``unstated`` are the
      changed variables that have no such form.

    ``times``: k as a term of the values before, where there is one. ``exact``: for values at which the condition of
    ``source`` holds, the guard holds exactly where the transition can be taken, and the constraint exactly for those k
    for which (inputs permitting) it is; otherwise both only hold wherever it is taken, and ``reason`` says why.
    """

    source: str
    target: str
    counter: t.Var
    constraint: t.Condition
    guard: t.Condition
    update: Mapping[t.Var, t.Term]
    unstated: frozenset[t.Var]
    times: t.Term | None
    exact: bool
    reason: str


@dataclass(frozen=True, slots=True)
class PathAutomaton:
    """The path dependency automaton M = (S, init, accept, →) of a loop under a ``precondition``.

    States are named s1, s2, … in the order of the loop's paths, iterative before exit paths; transitions are ordered
    by source and target.
    """

    paths: LoopPaths
    states: tuple[State, ...]
    transitions: tuple[Transition, ...]
    precondition: t.Condition

    @property
    def loop(self) -> LoopInfo:
        """The loop."""
        return self.paths.loop

    @property
    def initial(self) -> tuple[State, ...]:
        """The states with which the loop may begin."""
        return tuple(state for state in self.states if state.initial)

    @property
    def accepting(self) -> tuple[State, ...]:
        """The states without successors."""
        return tuple(state for state in self.states if state.accepting)

    def state(self, name: str) -> State:
        """The state called ``name``. Raises KeyError."""
        for state in self.states:
            if state.name == name:
                return state
        raise KeyError(name)

    def state_of(self, path: Path) -> State:
        """The state of a path of the loop. Raises KeyError."""
        for state in self.states:
            if state.path.id == path.id:
                return state
        raise KeyError(path.id)

    def successors(self, name: str) -> tuple[str, ...]:
        """The names of the states that may follow the state called ``name``."""
        return tuple(transition.target for transition in self.transitions if transition.source == name)

    def transition(self, source: str, target: str) -> Transition | None:
        """The transition between two states, None where there is none."""
        for transition in self.transitions:
            if (transition.source, transition.target) == (source, target):
                return transition
        return None

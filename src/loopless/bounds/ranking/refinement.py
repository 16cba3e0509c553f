"""Which transitions can follow one another: headers distinguished by the transition that led to them, and short chains.

What holds at a header may depend on how a run came there: on a flag that a transition sets, on the phase that a loop
is in. With a header for each transition that leads to it, every one has facts and functions of its own (a refinement
of control flow; Doménech, Gallagher and Genaim, Control-flow refinement by partial evaluation, TPLP 2019).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from loopless import terms as t
from loopless.bounds.ranking.cutpoints import ENTRY, CutpointGraph
from loopless.bounds.ranking.transition_system import LinearTransition, LinearTransitionSystem
from loopless.limits.bounds import LONG_CHAIN, MAX_TRANSITION_PAIRS
from loopless.logic import feasible
from loopless.paths import Path
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.terms.relation import GuardedUpdate, compose


def refined(cutpoints: CutpointGraph, made: LinearTransitionSystem) -> CutpointGraph | Refused:
    """The same transitions, each header distinguished by the transition that led to it."""
    found: list[Path] = []
    source: dict[str, str] = {}
    target: dict[str, str] = {}
    back: dict[str, str] = {}
    for transition in made.transitions:
        here = cutpoints.source[transition.path.id]
        before = [
            step
            for step in made.transitions
            if cutpoints.target[step.path.id] == here and _can_follow(step, transition)
        ]
        for earlier in (None,) if here == ENTRY else before:
            name = f"{transition.name}/{earlier.name}" if earlier is not None else transition.name
            found.append(replace(transition.path, id=name, condition=transition.condition))
            source[name] = _node(cutpoints, earlier) if earlier is not None else ENTRY
            target[name] = _node(cutpoints, transition)
            if transition.path.id in cutpoints.back:
                back[name] = cutpoints.back[transition.path.id]
        if len(found) > MAX_TRANSITION_PAIRS:
            place = cutpoints.paths.loop.name
            return Refused(Reason.BUDGET, place, "there are too many ways between the loops that follow one another")
    return replace(
        cutpoints, paths=replace(cutpoints.paths, iterative=tuple(found)), source=source, target=target, back=back
    )


def _node(cutpoints: CutpointGraph, transition: LinearTransition) -> str:
    return f"{cutpoints.target[transition.path.id]} {transition.name}"


def _can_follow(earlier: LinearTransition, later: LinearTransition) -> bool:
    try:
        condition = compose(_plain(earlier), _plain(later), _renewed(later, "")).condition
    except t.TermTooLarge:
        return True
    return condition is not t.FALSE and feasible(condition, solver=False)


def _plain(of: LinearTransition) -> GuardedUpdate:
    """The transition as the path has it, without what is linear of it."""
    return GuardedUpdate(of.condition, of.path.update)


def _renewed(of: LinearTransition, mark: str) -> dict[t.Var, t.Term]:
    return {u.var: t.Var(f"{u.var.name}~{mark}", u.var.type) for u in of.path.unknowns}


@dataclass(frozen=True, slots=True)
class _Chain:
    """Transitions one after another, of which ``last`` is the last, and what they come to together."""

    last: LinearTransition
    length: int
    whole: GuardedUpdate


def longest(
    transitions: Sequence[LinearTransition], leads: Callable[[LinearTransition, LinearTransition], bool]
) -> int | None:
    """How many of the transitions are taken one after another at most, where that is less than :data:`LONG_CHAIN`.

    ``leads``: whether one ends where another begins.
    """
    waiting = [_Chain(transition, 1, _plain(transition)) for transition in transitions]
    most = 1 if waiting else 0
    while waiting:
        chain = waiting.pop()
        most = max(most, chain.length)
        for following in transitions:
            if not leads(chain.last, following):
                continue
            longer = _longer(chain, following)
            if longer is None:
                continue
            if longer.length >= LONG_CHAIN:
                return None
            waiting.append(longer)
    return most


def _longer(chain: _Chain, following: LinearTransition) -> _Chain | None:
    try:
        whole = compose(chain.whole, _plain(following), _renewed(following, str(chain.length)))
    except t.TermTooLarge:
        return _Chain(following, LONG_CHAIN, chain.whole)
    if whole.condition is t.FALSE or not feasible(whole.condition, solver=False):
        return None
    return _Chain(following, chain.length + 1, whole)

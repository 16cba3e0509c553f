"""Cycles of few transitions that leave the variables as they were which decide how a run goes on: it need never end.

A violation of the system that is made is such a cycle, so liveness becomes safety (Biere, Artho and Schuppan, Liveness
checking as safety checking, FMICS 2002). The deciding variables are those of conditions, and those that they are
computed from. Neither a counter beside them is one nor what memory holds, so a run has to confirm what is found here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from loopless import terms as t
from loopless.graphs import components
from loopless.limits.verification import MAX_LASSO_TRANSITIONS, MAX_LASSOS
from loopless.logic.feasible import feasible
from loopless.verification.runs import is_input
from loopless.verification.transitions import VIOLATION, CutpointTransition, TransitionSystem


def with_lassos(system: TransitionSystem) -> TransitionSystem:
    """The system in which nothing is violated but by a cycle that leaves all that decides as it was, where it takes one
    input value again and again.
    """
    kept = [one for one in system.transitions if one.target in system.cutpoints]
    lassos: list[CutpointTransition] = []
    for within in _components(system.cutpoints, kept):
        own = [one for one in kept if one.source in within and one.target in within]
        leaving = [one for one in system.transitions if one.source in within]
        deciding = _deciding(leaving)
        for cycle in _cycles(own):
            if len(lassos) == MAX_LASSOS:
                break
            lasso = _lasso(system, cycle, deciding)
            if lasso is not None:
                lassos.append(lasso)
    return replace(system, transitions=(*kept, *lassos), failing=())


def _components(labels: Sequence[str], transitions: Sequence[CutpointTransition]) -> list[Collection[str]]:
    """The parts of the system in which runs can go round, by their cutpoints."""
    onward: dict[str, dict[str, None]] = {label: {} for label in labels}
    for one in transitions:
        if one.source in onward:
            onward[one.source][one.target] = None
    found = components({label: tuple(targets) for label, targets in onward.items()})
    return [part for part in found if len(part) > 1 or part[0] in onward[part[0]]]


def _deciding(transitions: Sequence[CutpointTransition]) -> frozenset[t.Var]:
    """The variables on which it depends what is taken of these transitions, now and later."""
    found: set[t.Var] = set()
    for one in transitions:
        found |= one.condition.variables - {taken.var for taken in one.inputs}
    while True:
        more = set(found)
        for one in transitions:
            outside = {taken.var for taken in one.inputs}
            for var in found & one.update.keys():
                more |= one.update[var].variables - outside
        if more == found:
            return frozenset(found)
        found = more


def _cycles(transitions: Sequence[CutpointTransition]) -> Iterator[tuple[CutpointTransition, ...]]:
    """The cycles of few transitions, short ones first, from each of their cutpoints."""
    paths: list[tuple[CutpointTransition, ...]] = [(one,) for one in transitions]
    for _ in range(MAX_LASSO_TRANSITIONS):
        yield from (path for path in paths if path[0].source == path[-1].target)
        paths = [(*path, one) for path in paths for one in transitions if one.source == path[-1].target]


def _lasso(
    system: TransitionSystem, cycle: tuple[CutpointTransition, ...], deciding: Collection[t.Var]
) -> CutpointTransition | None:
    """The cycle as one transition into the violation; None where no state comes back to itself by it."""
    first, *others = cycle
    if others and any(one.inputs or one.taken or one.accesses for one in cycle):
        return None
    condition, update = first.condition, dict(first.update)
    try:
        for one in others:
            condition &= t.substitute(one.condition, update)
            update |= {var: t.substitute(term, update) for var, term in one.update.items()}
        same = [t.equal(update[var], var) for var in sorted(deciding & update.keys(), key=lambda var: var.key)]
    except t.TermTooLarge:
        return None
    drawn = [one for one in first.taken if is_input(system.graph, one.block, one.index)]
    alike = [t.equal(drawn[0].var, one.var) for one in drawn[1:]]
    whole = t.conjunction((condition, *same, *alike))
    if whole is t.FALSE or not feasible(whole, solver=False):
        return None
    inputs = tuple(dict.fromkeys((*first.inputs, *(drawn if alike else ()))))
    return replace(first, target=VIOLATION, condition=whole, update=update, inputs=inputs)

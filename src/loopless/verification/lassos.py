"""Cycles of few transitions that leave the variables as they were which decide how a run goes on: it need never end.

A violation of the system that is made is such a cycle, so liveness becomes safety (Biere, Artho and Schuppan, Liveness
checking as safety checking, FMICS 2002). The deciding variables are those of conditions, and those that they are
computed from. Counters beside these, and memory, are left out. So a run has to confirm what is found here.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from loopless import terms as t
from loopless.graphs import components
from loopless.limits.verification import MAX_LASSO_TRANSITIONS, MAX_LASSOS
from loopless.logic.feasible import feasible
from loopless.logic.steps import successors
from loopless.ranking.recurrent import deciding_variables, unchanged
from loopless.transition.algebra import compose
from loopless.transition.relation import VIOLATION, Step, TransitionSystem
from loopless.verification.runs import is_input


def with_lassos(system: TransitionSystem) -> TransitionSystem:
    """The system in which nothing is violated but by a cycle that leaves all that decides as it was, where it takes one
    input value again and again.
    """
    kept = [one for one in system.transitions if one.target in system.cutpoints]
    lassos: list[Step] = []
    for within in _components(system.cutpoints, kept):
        own = [one for one in kept if one.source in within and one.target in within]
        leaving = [one for one in system.transitions if one.source in within]
        deciding = _deciding(leaving)
        for cycle in _cycles(own):
            if len(lassos) == MAX_LASSOS:
                break
            lassos += _lassos(system, cycle, deciding)
    return replace(system, transitions=(*kept, *lassos), failing=())


def _components(labels: Sequence[str], transitions: Sequence[Step]) -> list[Collection[str]]:
    """The parts of the system in which runs can go round, by their cutpoints."""
    following = successors(transitions)
    onward = {label: following.get(label, []) for label in labels}
    found = components(onward)
    return [part for part in found if len(part) > 1 or part[0] in onward[part[0]]]


def _deciding(transitions: Sequence[Step]) -> frozenset[t.Var]:
    """The variables on which it depends what is taken of these transitions, now and later."""
    return deciding_variables(transitions, transitions) - {taken.var for one in transitions for taken in one.inputs}


def _cycles(transitions: Sequence[Step]) -> Iterator[tuple[Step, ...]]:
    """The cycles of few transitions, short ones first, from each of their cutpoints."""
    paths: list[tuple[Step, ...]] = [(one,) for one in transitions]
    for _ in range(MAX_LASSO_TRANSITIONS):
        yield from (path for path in paths if path[0].source == path[-1].target)
        paths = [(*path, one) for path in paths for one in transitions if one.source == path[-1].target]


def _lassos(system: TransitionSystem, cycle: tuple[Step, ...], deciding: frozenset[t.Var]) -> Iterator[Step]:
    """The cycle as transitions into the violation: where a state comes back to itself by it, and where it does but for
    counters over ℤ that move away from all that would end it.
    """
    first, *others = cycle
    if others and any(one.inputs or one.taken or one.accesses for one in cycle):
        return
    try:
        around = functools.reduce(compose, cycle)
        condition, update = around.condition, around.update
        same = dict(sorted(unchanged(update, deciding).items(), key=lambda one: one[0].key))
        steps = {var: step for var in same if (step := _step(var, update[var]))}
    except t.TermTooLarge:
        return
    drawn = [one for one in first.taken if is_input(system.graph, one.block, one.index)]
    alike = [t.equal(drawn[0].var, one.var) for one in drawn[1:]]
    inputs = tuple(dict.fromkeys((*first.inputs, *(drawn if alike else ()))))
    wanted = [(*t.conjuncts(condition), *same.values())]
    if steps:
        lasting = [_lasting(one, steps) for one in t.conjuncts(condition)]
        wanted.append((*lasting, *(one for var, one in same.items() if var not in steps)))
    for conditions in wanted:
        whole = t.conjunction((*conditions, *alike))
        if whole is not t.FALSE and feasible(whole, solver=False):
            yield replace(first, target=VIOLATION, condition=whole, update=update, inputs=inputs)


def _step(var: t.Var, value: t.Term) -> int:
    """How far a variable over ℤ moves; 0 where that is not always as far."""
    moved = t.sub(value, var)
    return moved.value if var.type is t.INTEGERS and isinstance(moved, t.Const) else 0


def _lasting(condition: t.Condition, steps: Mapping[t.Var, int]) -> t.Condition:
    """A condition by which this one holds for ever while the variables make their steps."""
    if condition.variables.isdisjoint(steps):
        return condition
    if not isinstance(condition, t.Compare):
        return t.FALSE
    moved = t.sub(
        t.substitute(condition.term, {var: t.add(var, t.const(step)) for var, step in steps.items()}), condition.term
    )
    if not isinstance(moved, t.Const):
        return t.FALSE
    if moved.value == 0 or (condition.relation == "le" and moved.value < 0):
        return condition
    if condition.relation != "ne":
        return t.FALSE
    return condition.term.ge(1) if moved.value > 0 else condition.term.le(-1)

"""Proofs that a loop never ends: sets of states at the header that some iteration leads out of and none out of the set.

A closed recurrent set (:mod:`loopless.ranking.recurrent`) is not empty here, and from each of its states an iteration
leads into it again: whatever unknown values are, or for some choice of the program's inputs (Gupta et al., Proving
non-termination, POPL 2008). Iterations are free of undefined behaviour, since what would be undefined leaves the loop
by a path of its own. That the set is reached is for the caller to show.

First, iterations that change nothing that decides how the loop goes on: from where one of them begins it goes on for
ever. Other candidates are where the summary says that the loop diverges; and the states with an iteration, under
inequalities and equalities that iterations may keep, cut down to those that lead to such states again, a few times.
What is found is proved before it is returned, by other means than those that found it where there are no inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from loopless import terms as t
from loopless.bounds.invariants.of_loops import candidates
from loopless.bounds.ranking.transition_system import LinearTransitionSystem, difference, system
from loopless.flowgraph.model import Origin
from loopless.limits.bounds import (
    MAX_EXTREME_PARAMETERS,
    MAX_RECURRENT_PARTS,
    MAX_RECURRENT_SETS,
    MAX_REDUCTIONS,
    NONTERMINATION_OPERATIONS,
)
from loopless.logic import BudgetExceeded, NotPresburger, Region, SmtAnswer, budget, feasible, satisfiable, simplify
from loopless.logic.steps import PlaceStep
from loopless.paths import LoopPaths, Path
from loopless.ranking.recurrent import Rounds, deciding_variables, unchanged
from loopless.records import dataclass
from loopless.summary import LoopSummary
from loopless.summary.rewrite.abstraction import NamedTerms


@dataclass(frozen=True, slots=True)
class Recurrent:
    """From every state at the header in which ``condition`` holds the loop need never end.

    ``chosen``: the inputs that have to be chosen for that, anew in every iteration; without any the loop never ends
    whatever happens. ``returned``: those of them that functions return of which nothing is known, and which may never
    return such values. ``assumptions``: what the paths take for granted.
    """

    condition: t.Condition
    chosen: tuple[str, ...]
    assumptions: tuple[str, ...]
    returned: tuple[str, ...] = ()


def recurrent(paths: LoopPaths, summary: LoopSummary | None = None) -> tuple[Recurrent, ...]:
    """Recurrent sets of a loop, none where none are found. With ``summary`` first the one of which it says that the
    loop diverges.
    """
    paths = paths.uncounted()
    if not paths.iterative or not paths.exact:
        return ()
    found = [Recurrent(_shorter(condition), (), paths.assumptions) for condition in _unchanging(paths)]
    try:
        for condition in _candidates(paths, summary):
            if found and not feasible(t.conjunction((condition, *(~r.condition for r in found))), solver=False):
                continue
            closed = _closed(paths, condition)
            if closed is not None:
                found.append(closed)
                if len(found) >= MAX_RECURRENT_SETS or (summary is not None and condition is summary.diverges):
                    break
    except t.TermTooLarge:
        pass  # what was found so far holds
    return tuple(found)


def _unchanging(paths: LoopPaths) -> Iterator[t.Condition]:
    """For each path of which nothing is unknown, the states from which it leaves all variables as they are that decide
    which path is taken, now and later. The same path follows then, again and again.
    """
    deciding = deciding_variables(paths.all, paths.iterative)
    for path in paths.iterative:
        kept = unchanged(path.update, deciding)
        if path.unknowns or not kept:
            continue
        same = t.conjunction((path.condition, *kept.values()))
        others = (other.condition for other in paths.all if other is not path)
        if same is not t.FALSE and has_point(same) and not any(feasible(same & other) for other in others):
            yield same


def _shorter(condition: t.Condition) -> t.Condition:
    """The same in fewer words."""
    names = NamedTerms()
    named = names.named(condition)
    return names.condition(simplify(named, names.bounds(), operations=NONTERMINATION_OPERATIONS))


def _candidates(paths: LoopPaths, summary: LoopSummary | None) -> Iterator[t.Condition]:
    if summary is not None and summary.diverges is not t.FALSE:
        yield summary.diverges
    whole = system(paths, t.TRUE, split=False)
    assumed: list[t.Condition] = [t.TRUE, *_unmoved(whole), *_extremes(whole), *candidates(whole)]
    for extra in assumed:
        for chosen in (paths.iterative, *((p,) for p in paths.iterative if len(paths.iterative) > 1)):
            yield from _core(paths, chosen, extra)


def _unmoved(whole: LinearTransitionSystem) -> Iterator[t.Condition]:
    """That some step, or all steps, change nothing."""
    steps = {
        difference(transition, v).eq(0)
        for transition in whole.transitions
        for v in transition.after
        if v in whole.state and not isinstance(difference(transition, v), t.Const)
    }
    known = frozenset((*whole.state, *whole.parameters))
    usable = sorted((t.substitute(c, whole.fixed) for c in steps if c.variables <= known), key=lambda c: c.key)
    if len(usable) > 1:
        yield t.conjunction(usable)
    yield from usable


def _extremes(whole: LinearTransitionSystem) -> Iterator[t.Condition]:
    """That a parameter has the least or the greatest value of its type: no other value is beyond it."""
    for var in whole.parameters[:MAX_EXTREME_PARAMETERS]:
        yield from (var.eq(end) for end in (var.type.min, var.type.max) if end is not None)


def _core(paths: LoopPaths, chosen: Sequence[Path], extra: t.Condition) -> Iterator[t.Condition]:
    """The states with ``extra`` from which iterations by ``chosen`` go on and on, if a few steps tell."""
    try:
        with budget(NONTERMINATION_OPERATIONS):
            current = _start(paths, chosen, extra)
            for _ in range(MAX_REDUCTIONS):
                if current.is_empty() or current.parts > MAX_RECURRENT_PARTS:
                    return
                smaller = (current & _before(chosen, current)).coalesce()
                if current.is_subset(smaller):
                    yield current.condition()
                    return
                current = smaller
    except (BudgetExceeded, NotPresburger, t.TermTooLarge):
        return


def _start(paths: LoopPaths, chosen: Sequence[Path], extra: t.Condition) -> Region:
    state = (*paths.state, *paths.invariants)
    conditions = (extra & path.condition for path in chosen)
    return _union(Region.of(c, {*state, *c.variables}).project_onto(state) for c in conditions)


def _before(chosen: Sequence[Path], target: Region) -> Region:
    """The states from which some iteration by ``chosen`` leads into ``target``, for some values of the unknowns."""
    found = []
    for path in chosen:
        step = target.preimage(path.update) & Region.of(path.condition)
        found.append(step.project_out(u.var for u in path.unknowns))
    return _union(found)


def _union(regions: Iterable[Region]) -> Region:
    parts = list(regions)
    whole = parts[0]
    for part in parts[1:]:
        whole |= part
    return whole


# -- proofs -----------------------------------------------------------------------------------------------------------


def _closed(paths: LoopPaths, condition: t.Condition) -> Recurrent | None:
    """The recurrent set, if the condition is one."""
    if not feasible(condition) or not has_point(condition):
        return None
    unknown = {u.var for p in paths.all for u in p.unknowns}
    if not condition.variables.isdisjoint(unknown):
        return None
    kinds: tuple[Callable[[LoopPaths, t.Condition], bool], ...] = (_always, _by_choice)
    for recurs in kinds:
        if recurs(paths, condition):
            inputs = {u for p in paths.iterative for u in p.unknowns} if recurs is _by_choice else set()
            returned = {u.name for u in inputs if u.origin is Origin.CALL}
            chosen = tuple(sorted({u.name for u in inputs}))
            return Recurrent(condition, chosen, paths.assumptions, tuple(sorted(returned)))
    return None


def has_point(condition: t.Condition) -> bool:
    """Whether the condition surely holds somewhere."""
    try:
        return not Region.of(condition).is_empty()
    except (BudgetExceeded, NotPresburger):
        return satisfiable(condition).answer is SmtAnswer.YES


def _always(paths: LoopPaths, condition: t.Condition) -> bool:
    """Whether whatever happens in a state of the set is an iteration that leads into the set."""
    header = paths.loop.header
    staying, leaving = (
        [PlaceStep(header, header, path.condition, path.update) for path in some]
        for some in (paths.iterative, paths.exits)
    )
    # A path of unknown values excludes the others by their values: that some path is iterative must hold for them all.
    covered = any(path.unknowns for path in paths.iterative)
    return Rounds(staying, _excluded, leaving, covered=covered).is_recurrent({header: (condition,)})


def _excluded(given: Sequence[t.Condition], condition: t.Condition) -> bool:
    return not feasible(t.conjunction((*given, condition)))


def _by_choice(paths: LoopPaths, condition: t.Condition) -> bool:
    """Whether inputs can be chosen such that an iteration leads into the set, from each of its states."""
    usable = [p for p in paths.iterative if all(u.origin in (Origin.NONDET, Origin.CALL) for u in p.unknowns)]
    if not any(p.unknowns for p in usable):
        return False
    try:
        with budget(NONTERMINATION_OPERATIONS):
            states = Region.of(condition)
            return states.is_subset(_before(usable, states))
    except (BudgetExceeded, NotPresburger, t.TermTooLarge):
        return False

"""What the paths of a loop do to its variables, and what many iterations of them come to, as a relation.

What a path takes from outside (inputs, memory, results of calls), and what the logic has no words for, is any value of
its type. So all that is said here holds of every run, and perhaps of none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from loopless import terms as t
from loopless.limits.summary import (
    APPROXIMATED_PATH_OPERATIONS,
    LARGE_CHANGE,
    MAX_CONVEX_PARTS,
    MAX_HULLED_PARTS,
    MAX_PATH_COUNTERS,
)
from loopless.logic import BudgetExceeded, EmptyRegion, NotPresburger, Region, budget, enclosing_region
from loopless.paths.model import LoopPaths, Path
from loopless.records import dataclass

UNDECIDED: Final = (BudgetExceeded, NotPresburger, t.TermTooLarge)
"""What a question to the logic may end by without an answer."""


def small(region: Region) -> Region:
    """The region without what makes it costly to go on with, and so perhaps larger.

    Raises :class:`BudgetExceeded` where it is too large for that: its hull may take seconds that no budget counts.
    """
    if region.parts > MAX_HULLED_PARTS:
        raise BudgetExceeded("too many parts")
    found = region.without_divisions()
    if found.parts > 1:
        found = found.coalesce()
    return found if found.parts <= MAX_CONVEX_PARTS else found.hull()


@dataclass(frozen=True, slots=True)
class StepNames:
    """The variables of a loop at several places of a run, and those that stand for what is not known.

    ``entry``: all variables that paths speak of, as they are when the loop is entered. ``state``: those of them that
    iterations change. ``last``: by variable of the state, the same at the header before the last iteration; ``end``:
    at the header where the run leaves.
    """

    entry: tuple[t.Var, ...]
    state: tuple[t.Var, ...]
    last: Mapping[t.Var, t.Var]
    end: Mapping[t.Var, t.Var]
    taken: frozenset[str]

    @staticmethod
    def of(paths: LoopPaths) -> StepNames:
        """Those of a loop."""
        unknown = {u.var for path in paths.all for u in path.unknowns}
        found: set[t.Var] = {*paths.state, *paths.invariants}
        changed: set[t.Var] = set(paths.state)
        for path in paths.all:
            found |= path.condition.variables
            found |= {v for term in path.update.values() for v in term.variables}
            found |= path.result.variables if path.result is not None else frozenset()
        for path in paths.iterative:
            changed |= set(path.update)
        entry = tuple(sorted((found | changed) - unknown, key=_key))
        state = tuple(var for var in entry if var in changed)
        # No variable of a program has such a name.
        last = {var: t.Var(f"{var.name}@last", var.type) for var in state}
        end = {var: t.Var(f"{var.name}@end", var.type) for var in state}
        updated = {var for path in paths.all for var in path.update}
        return StepNames(entry, state, last, end, frozenset(v.name for v in found | changed | unknown | updated))

    @property
    def fixed(self) -> frozenset[t.Var]:
        """The variables that no iteration changes."""
        return frozenset(self.entry) - frozenset(self.state)

    def fresh(self, name: str, type: t.IntType = t.INTEGERS) -> t.Var:
        """A variable of this name, or one like it that no variable of the loop has."""
        while name in self.taken:
            name += "_"
        return t.Var(name, type)


def _key(var: t.Var) -> str:
    return var.key


@dataclass(frozen=True, slots=True)
class PathEffect:
    """What one iteration by a path does to one variable.

    ``adds``: what it adds, where that is always the same. ``low`` and ``high``: what it adds at least and at most.
    ``sets``: whether the value before does not matter; ``least`` and ``most`` then bound the value. None is no bound.
    """

    adds: t.Term | None
    low: int | None
    high: int | None
    sets: bool = False
    least: int | None = None
    most: int | None = None


_NOTHING: Final = PathEffect(t.ZERO, 0, 0)


@dataclass(frozen=True, slots=True)
class CountedPaths:
    """Iterative paths that one ``counter`` counts.

    ``step``: the values before and after such an iteration, over ``StepNames.last`` and ``StepNames.end``, and what no
    iteration changes; None where the logic does not say. ``effects``: by variable of the state.
    """

    counter: t.Var
    paths: tuple[Path, ...]
    step: Region | None
    effects: Mapping[t.Var, PathEffect]


def groups_of(paths: LoopPaths, names: StepNames) -> tuple[CountedPaths, ...]:
    """The counters of a loop: one for each iterative path, or one for all where these are many."""
    steps = [_step(path, names) for path in paths.iterative]
    effects = [{v: _effect(v, p, s, names) for v in names.state} for p, s in zip(paths.iterative, steps, strict=True)]
    if len(steps) <= MAX_PATH_COUNTERS:
        return tuple(
            CountedPaths(names.fresh(f"k{path.id}"), (path,), step, effect)
            for path, step, effect in zip(paths.iterative, steps, effects, strict=True)
        )
    common = {var: _hull([effect[var] for effect in effects], var) for var in names.state}
    return (CountedPaths(names.fresh("k"), paths.iterative, _union(steps), common),)


def _step(path: Path, names: StepNames) -> Region | None:
    """One iteration by a path."""
    after = [names.end[var].eq(t.substitute(path.update.get(var, var), names.last)) for var in names.state]
    try:
        whole = t.conjunction((t.substitute(path.condition, names.last), *after))
        variables = {*whole.variables, *names.last.values(), *names.end.values(), *names.fixed}
        with budget(APPROXIMATED_PATH_OPERATIONS):
            region = enclosing_region(whole, variables)
            kept = {*names.last.values(), *names.end.values(), *names.fixed}
            return small(region.project_out(var for var in region.variables if var not in kept))
    except UNDECIDED:
        return None


def _union(regions: Sequence[Region | None]) -> Region | None:
    known = [region for region in regions if region is not None]
    if len(known) < len(regions) or not known:
        return None
    found = known[0]
    try:
        for region in known[1:]:
            found = found | region
        return small(found)
    except UNDECIDED:
        return None


def is_plain(term: t.Term, variables: frozenset[t.Var]) -> bool:
    """Whether a term speaks of these variables only, and of no memory."""
    return term.variables <= variables and not any(isinstance(node, t.Read) for node in t.walk(term))


def _effect(var: t.Var, path: Path, step: Region | None, names: StepNames) -> PathEffect:
    term = path.update.get(var, var)
    if term is var:
        return _NOTHING
    added = term - var
    if isinstance(added, t.Const):
        return PathEffect(added, added.value, added.value)
    adds = added if is_plain(added, names.fixed) and not t.may_lack_value(added) else None
    least, most = var.type.min, var.type.max
    low: int | None = None
    high: int | None = None
    if step is not None:
        try:
            low, high = step.range_of(names.end[var] - names.last[var])
            least, most = step.range_of(names.end[var])
        except EmptyRegion:
            return _NOTHING  # the path is never taken
        except UNDECIDED:
            pass
    if adds is None:
        low = low if low is not None and low > -LARGE_CHANGE else None
        high = high if high is not None and high < LARGE_CHANGE else None
    sets = adds is None and (var not in term.variables or low is high is None)
    return PathEffect(adds, low, high, sets, least, most)


def _hull(effects: Sequence[PathEffect], var: t.Var) -> PathEffect:
    """What one of several iterations does."""
    adds = effects[0].adds if all(effect.adds is effects[0].adds for effect in effects) else None
    sets = any(effect.sets for effect in effects)
    least = _least((e.least if e.sets else var.type.min for e in effects), var.type.min)
    most = _most((e.most if e.sets else var.type.max for e in effects), var.type.max)
    low = _least((effect.low for effect in effects), None)
    high = _most((effect.high for effect in effects), None)
    return PathEffect(adds, low, high, sets, least, most)


def _least(bounds: Iterable[int | None], otherwise: int | None) -> int | None:
    found = list(bounds)
    known = [bound for bound in found if bound is not None]
    return min(known) if known and len(known) == len(found) else otherwise


def _most(bounds: Iterable[int | None], otherwise: int | None) -> int | None:
    found = list(bounds)
    known = [bound for bound in found if bound is not None]
    return max(known) if known and len(known) == len(found) else otherwise


# -- many iterations --------------------------------------------------------------------------------------------------


def value_after(var: t.Var, groups: Sequence[CountedPaths], counts: Mapping[t.Var, t.Term]) -> t.Term | None:
    """The value of a variable after so many iterations of each group, where each of them adds the same."""
    parts: list[t.Term] = [var]
    for group in groups:
        adds = group.effects[var].adds
        if adds is None:
            return None
        parts.append(adds * counts[group.counter])
    return t.add(*parts)


def after(groups: Sequence[CountedPaths], counts: Mapping[t.Var, t.Term], values: Mapping[t.Var, t.Var]) -> t.Condition:
    """What holds of the ``values`` of the state's variables after ``counts`` iterations of each group, which are at
    least 0; nothing that is not linear.
    """
    return t.conjunction(part for var, value in values.items() for part in _after(var, value, groups, counts))


def _after(
    var: t.Var, value: t.Var, groups: Sequence[CountedPaths], counts: Mapping[t.Var, t.Term]
) -> Iterable[t.Condition]:
    effects = [(counts[group.counter], group.effects[var]) for group in groups]
    setting = [count for count, effect in effects if effect.sets]
    moved = _moved(value, var, [(count, effect) for count, effect in effects if not effect.sets])
    if not setting:
        return moved
    set_to = [effect for _, effect in effects if effect.sets]
    moving = [(c, e) for c, e in effects if not e.sets]
    often = t.add(*setting)
    return (
        *_moved(value, var, effects),
        t.conjunction((t.equals_zero(often), *moved))
        | t.conjunction((often.ge(1), *_since_set(value, set_to, moving))),
    )


def _moved(value: t.Term, begun: t.Term, effects: Sequence[tuple[t.Term, PathEffect]]) -> list[t.Condition]:
    """Where each iteration adds something."""
    found: list[t.Condition] = []
    if all(isinstance(effect.adds, t.Const) for _, effect in effects):
        return [value.eq(t.add(begun, *(e.adds * count for count, e in effects if e.adds is not None)))]
    if all(effect.low is not None for _, effect in effects):
        found.append(value.ge(t.add(begun, *(c * e.low for c, e in effects if e.low is not None))))
    if all(effect.high is not None for _, effect in effects):
        found.append(value.le(t.add(begun, *(c * e.high for c, e in effects if e.high is not None))))
    return found


def _since_set(
    value: t.Term, setting: Sequence[PathEffect], moving: Sequence[tuple[t.Term, PathEffect]]
) -> list[t.Condition]:
    """Where some iteration sets the variable: between the ends of what is set, moved by what may come after."""
    found: list[t.Condition] = []
    least = _least((effect.least for effect in setting), None)
    most = _most((effect.most for effect in setting), None)
    if least is not None and all(effect.low is not None for _, effect in moving):
        down = [count * min(effect.low or 0, 0) for count, effect in moving]
        found.append(value.ge(t.add(t.const(least), *down)))
    if most is not None and all(effect.high is not None for _, effect in moving):
        up = [count * max(effect.high or 0, 0) for count, effect in moving]
        found.append(value.le(t.add(t.const(most), *up)))
    return found

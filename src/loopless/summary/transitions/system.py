"""A loop as a piecewise map on its control variables: what the strategies for several paths work on.

Control variables are those on which some condition depends. The others are accumulators: no transition is chosen by
them, so they follow by sums. A check (that nothing is undefined) on control variables is part of a path's domain; one
on an accumulator is kept on the side.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import lru_cache

from loopless import terms as t
from loopless.graphs import reachable
from loopless.limits.summary import MAX_WRAP_BRANCHES, REMEMBERED_PARTS
from loopless.logic import NotPresburger, Region, feasible
from loopless.paths.model import Exit, LoopPaths, Path
from loopless.portfolio import NoAnswer
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.summary.model import first_to_fail
from loopless.summary.obligations.monotone_accumulators import MonotoneAccumulator, monotone_accumulators
from loopless.summary.obligations.monotone_counters import LiftedCounter, lift, liftable_counters
from loopless.summary.rewrite.abstraction import NamedTerms
from loopless.summary.rewrite.auxiliary import Revealed, auxiliaries_in, bounds
from loopless.summary.rewrite.divisors import with_few_quotients
from loopless.summary.transitions.guarded import chosen
from loopless.summary.transitions.transformer import GuardedTransition, Obligation, Once


@dataclass(frozen=True, slots=True)
class ExitView:
    """An exit path: ``where`` it is taken as far as control variables say, ``rest`` what else must hold."""

    path: Path
    where: Region
    rest: t.Condition


@dataclass(slots=True)
class ControlSystem:
    """A loop in terms of its control variables.

    ``variables``: control variables and the invariants beside them, over which the regions are; ``universe`` their
    ranges. ``transitions`` partition with ``ended`` the universe.
    """

    paths: LoopPaths
    names: NamedTerms
    control: frozenset[t.Var]
    variables: tuple[t.Var, ...]
    universe: Region
    transitions: list[GuardedTransition]
    exits: list[ExitView]
    ended: Region
    rare: list[Region]
    """Where steps wrap around, or are undefined."""
    signs: list[t.Condition]
    """Of terms over invariants that are added to accumulators with checks: whether they are not negative."""
    lifted: tuple[LiftedCounter, ...] = ()
    """Counters that are numbers without bound here."""
    monotone: list[MonotoneAccumulator] = field(default_factory=list)
    """Accumulators and counters whose checks are left to their final values."""
    phases: list[list[GuardedTransition]] = field(default_factory=list)
    """The transitions, if only those of one phase are looked at as taking turns."""
    beside: Region | None = None
    """The states that the system stands for, where variables that it leaves out have a part in that."""
    auxiliaries: bool = False
    """Whether steps or domains speak of terms that the logic does not know, and that change."""
    oscillates: bool = False
    """Whether some transitions were found to take turns, so that the methods need not look again."""

    @property
    def entry(self) -> Region | None:
        """What is known of the entry besides the universe: the values of lifted variables, the states that the system
        stands for; None where that is nothing.
        """
        if not self.lifted:
            return self.beside
        found = Region.of(t.conjunction(t.between(x.var.type.min, x.free, x.var.type.max) for x in self.lifted))
        return found if self.beside is None else found & self.beside

    def original(self, var: t.Var) -> t.Var:
        """The variable of the program that ``var`` stands for."""
        return next((x.var for x in self.lifted if x.free is var), var)

    def within(self, region: Region) -> ControlSystem:
        """The system for entry values in ``region`` over invariants."""

        def part(where: Region) -> Region:
            return (where & region).coalesce()

        restricted = [transition.within(part(transition.where)) for transition in self.transitions]
        transitions, monotone = monotone_accumulators(
            [transition for transition in restricted if not transition.where.is_empty()]
        )
        exits = [replace(view, where=part(view.where)) for view in self.exits]
        return replace(
            self,
            universe=part(self.universe),
            transitions=transitions,
            # Those found before stand for checks that the transitions no longer have.
            monotone=list(dict.fromkeys((*self.monotone, *self._lifted_monotone(), *monotone))),
            exits=[view for view in exits if not view.where.is_empty()],
            ended=part(self.ended),
            rare=[],
            signs=[],
            phases=[],
        )

    def _lifted_monotone(self) -> list[MonotoneAccumulator]:
        return [MonotoneAccumulator(x.free, x.rising, x.exit, x.var.type) for x in self.lifted]

    def shown(self, region: Region) -> t.Condition:
        """The region's condition, named terms put back."""
        return self.names.condition(Revealed(region).condition(region.rough_condition()))


def place_of(paths: LoopPaths) -> str:
    """The loop's place for a refusal."""
    return str(paths.loop.loc) if paths.loop.loc is not None else paths.loop.name


def mentions(condition: t.Condition, part: t.Condition) -> bool:
    """Whether ``part`` stands in ``condition``, by itself or in conjunctions and disjunctions."""
    return part in _standing_in(condition)


@lru_cache(REMEMBERED_PARTS)
def _standing_in(condition: t.Condition) -> frozenset[t.Node]:
    return frozenset(t.walk(condition, lambda below: not isinstance(below, t.Condition)))


def failing_exit(paths: LoopPaths, condition: t.Condition) -> Exit | None:
    """The exit "undefined" taken where the check ``condition`` fails; None if it is no check and nothing else.

    Its line is 0 where checks of several lines ask for the same.
    """
    failed = ~condition
    found = None
    if any(mentions(path.condition, failed) for path in paths.iterative):
        return None
    for path in paths.exits:
        assert path.exit is not None
        if mentions(path.condition, failed):
            if path.exit.kind != "undefined":
                return None
            if found is None:
                found = path.exit
            elif (found.detail, found.line) != (path.exit.detail, path.exit.line):
                kind, line = first_to_fail((found, path.exit))
                found = replace(found, detail=kind, line=line)
    return found


def build_system(paths: LoopPaths, *, all_control: bool = False) -> ControlSystem:
    """The system of a loop without inputs. Raises :class:`NoAnswer`, :class:`loopless.logic.BudgetExceeded`.

    ``all_control``: checks on accumulators are part of the domains too, so that these become control variables.
    """
    paths = with_few_quotients(paths)
    shorter = _without_implied(paths)
    builder = _Builder(shorter, all_control=all_control)
    lifted = tuple(liftable_counters(shorter, builder.control, builder.checks))
    if lifted:
        # What the range of a counter implies does not follow any more once that has no bounds.
        free = _without_implied(lift(paths, lifted))
        found = _Builder(free, lifted, all_control=all_control).build()
        if _is_partition(found) and _is_closed(found):
            return found
    found = builder.build()
    if not _is_closed(found):
        # A check that is left aside, as it is about an accumulator, implied that a step stays in its type.
        found = _Builder(paths, all_control=all_control).build()
        if not all_control and not _is_closed(found):
            return _Builder(paths, all_control=True).build()
    if not all_control and not _is_partition(found):
        return _Builder(shorter, all_control=True).build()
    return found


def _without_implied(paths: LoopPaths) -> LoopPaths:
    """The paths without conjuncts that no path goes against, because the others imply them."""

    def shorter(path: Path) -> Path:
        parts = list(t.conjuncts(path.condition))
        for part in t.conjuncts(path.condition):
            failed = ~part
            if any(mentions(other.condition, failed) for other in paths.all):
                continue
            others = [p for p in parts if p is not part]
            if not feasible(t.conjunction((*others, failed))):
                parts = others
        return replace(path, condition=t.conjunction(parts))

    return replace(paths, iterative=tuple(map(shorter, paths.iterative)))


def _is_partition(system: ControlSystem) -> bool:
    """Whether the domains exclude each other still, now that checks on accumulators are not part of them."""
    regions = [transition.where for transition in system.transitions]
    regions += [view.where for view in system.exits if view.path.exit and view.path.exit.kind != "undefined"]
    eased = [transition.where for transition in system.transitions] if system.lifted or _has_obligations(system) else []
    return all(region is other or region.disjoint(other) for region in eased for other in regions)


def _is_closed(system: ControlSystem) -> bool:
    """Whether no step leads out of the universe: with a counter out of its range another variable may leave its own."""
    return all(
        transition.where.is_subset(system.universe.preimage(transition.control)) for transition in system.transitions
    )


def _has_obligations(system: ControlSystem) -> bool:
    return any(transition.transformer.obligations() for transition in system.transitions)


class _Builder:
    def __init__(self, paths: LoopPaths, lifted: tuple[LiftedCounter, ...] = (), *, all_control: bool) -> None:
        self.paths = paths
        self.lifted = lifted
        self.changing = {v for path in paths.iterative for v in path.update}
        self.names = NamedTerms({item.free: item.var for item in lifted}, self.changing)
        self.checks: dict[t.Condition, Exit] = {}
        for path in paths.iterative:
            for part in t.conjuncts(path.condition):
                exit = failing_exit(paths, part) if part.variables & self.changing else None
                if exit is not None:
                    self.checks[part] = exit
        self.control = self._control(all_control=all_control)
        self.obligation = {
            part: exit for part, exit in self.checks.items() if part.variables & self.changing - self.control
        }

    def _control(self, *, all_control: bool) -> frozenset[t.Var]:
        likely = set() if all_control else set(self.checks) | {~part for part in self.checks}
        selecting = {
            v
            for path in self.paths.all
            for part in t.conjuncts(path.condition)
            for v in self._selecting(part, likely, path) & self.changing
        }

        def read(var: t.Var) -> set[t.Var]:
            found = (path.update[var].variables for path in self.paths.iterative if var in path.update)
            return set().union(*found) & self.changing

        return frozenset(reachable(selecting, read))

    def _selecting(self, part: t.Condition, likely: set[t.Condition], path: Path) -> frozenset[t.Var]:
        """The variables of a conjunct but for those of checks; an exit "undefined" may say which of several fails."""
        if part in likely:
            return frozenset()
        undefined = path.exit is not None and path.exit.kind == "undefined"
        if isinstance(part, t.And | t.Or) and (undefined or all(arg in likely for arg in part.args)):
            return frozenset().union(*(self._selecting(arg, likely, path) for arg in part.args))
        return part.variables

    def build(self) -> ControlSystem:
        domains = [self._domain(path) for path in self.paths.iterative]
        controls = [self._control_update(path) for path in self.paths.iterative]
        builders = [self._builder(path) for path in self.paths.exits]
        signs = self._signs()
        used: set[t.Var] = set(self.control) | set(self.names.variables) | {v for sign in signs for v in sign.variables}
        for condition in (*domains, *(plain for plain, _ in builders)):
            used |= condition.variables
        for control in controls:
            used |= {v for term in control.values() for v in term.variables}
        auxiliaries = auxiliaries_in(used)
        variables = tuple(sorted(used.difference(auxiliaries)))
        limits = [
            t.between(x.var.type.min, x.free, None) if x.rising else t.between(None, x.free, x.var.type.max)
            for x in self.lifted
        ]
        universe = Region.universe(variables) & Region.of(t.conjunction((self.names.bounds(), *limits)), variables)
        transitions: list[GuardedTransition] = []
        wrapping: list[Region] = []
        ended = universe
        for path, domain, control in zip(self.paths.iterative, domains, controls, strict=True):
            region = Region.of(domain, (*variables, *auxiliaries_in(domain.variables))) & universe
            checks = [part for part in t.conjuncts(path.condition) if part in self.obligation]
            # What the conditions of the path, checks on control variables among them, say anyway is no check.
            obligations = tuple(Obligation(p, self.obligation[p]) for p in checks if feasible(domain & ~p))
            given = bounds({v for node in (domain, *control.values()) for v in node.variables})
            limited = region & Region.of(given) if given is not t.TRUE else region
            once = GuardedTransition(limited, control, Once(path, control, obligations))
            split = [part for choice in chosen(once) for part in _wrap_branches(choice)]
            transitions += split
            wrapping += [part.where for part in split[1:]] if len(split) > 1 else []
            ended -= region
        exits = [
            ExitView(path, Region.of(plain, variables) & universe, rest)
            for path, (plain, rest) in zip(self.paths.exits, builders, strict=True)
        ]
        undefined = [view for view in exits if view.path.exit is not None and view.path.exit.kind == "undefined"]
        rare = [view.where & ended for view in undefined if view.rest is t.TRUE]
        if len(rare) < len(undefined):
            rare += self._failing(universe)
        rare = [region for region in (*rare, *wrapping) if not region.is_empty()]
        return ControlSystem(
            self.paths,
            self.names,
            self.control,
            variables,
            universe,
            transitions,
            exits,
            ended.coalesce(),
            rare,
            signs,
            self.lifted,
            auxiliaries=bool(auxiliaries),
        )

    def _failing(self, universe: Region) -> list[Region]:
        """Where a check on control variables fails: an exit may tell it together with checks on accumulators."""
        found = []
        for path in self.paths.iterative:
            parts = list(t.conjuncts(path.condition))
            chosen = t.conjunction(self._named(part, path) for part in parts if part not in self.checks)
            for part in parts:
                if part in self.checks and part not in self.obligation:
                    failed = chosen & ~self._named(part, path)
                    found.append(Region.of(failed) & universe)
        return found

    def _signs(self) -> list[t.Condition]:
        checked = {v for part in self.obligation for v in part.variables & self.changing - self.control}
        found: dict[t.Condition, None] = {}
        for path in self.paths.iterative:
            for var in sorted(checked & path.update.keys()):
                added = path.update[var] - var
                sign = added.ge(0)
                if sign.variables and not sign.variables & self.changing and self._is_plain(sign):
                    found[self.names.named(sign)] = None
        return list(found)

    def _refuse(self, reason: Reason, detail: str) -> NoAnswer:
        return NoAnswer(Refused(reason, place_of(self.paths), detail))

    def _domain(self, path: Path) -> t.Condition:
        parts = [self._named(part, path) for part in t.conjuncts(path.condition) if part not in self.obligation]
        return t.conjunction(parts)

    def _named(self, part: t.Condition, path: Path) -> t.Condition:
        named = self.names.named(part)
        detail = f"the condition {t.brief(part)} of path {path.id} is not affine"
        self._only_invariants(detail, Reason.NON_AFFINE_CONDITION)
        return named

    def _only_invariants(self, detail: str, reason: Reason) -> None:
        if any(term.variables & self.changing for term in self.names.terms):
            raise self._refuse(reason, detail)

    def _control_update(self, path: Path) -> dict[t.Var, t.Term]:
        found = {}
        for var, term in path.update.items():
            if var in self.control:
                found[var] = self.names.named_term(term)
                detail = f"{var.name}' = {t.brief(term)} of path {path.id} is not affine"
                self._only_invariants(detail, Reason.NO_CLOSED_FORM)
        return found

    def _builder(self, path: Path) -> tuple[t.Condition, t.Condition]:
        """The condition of an exit path on control variables, and the rest of it."""
        plain, rest = [], []
        for part in t.conjuncts(path.condition):
            if part.variables & self.changing <= self.control and self._is_plain(part):
                plain.append(self.names.named(part))
            else:
                rest.append(part)
        return t.conjunction(plain), t.conjunction(rest)

    def _is_plain(self, part: t.Condition) -> bool:
        trial = NamedTerms()
        trial.named(part)
        return not any(term.variables & self.changing for term in trial.terms)


def _wrap_branches(transition: GuardedTransition) -> list[GuardedTransition]:
    """The transition split by how often each control variable's new value wraps around."""
    result = [transition]
    for var in sorted(transition.control):
        branches: list[GuardedTransition] = []
        for part in result:
            branches += _branches(part, var)
        result = branches
    return result


def _branches(transition: GuardedTransition, var: t.Var) -> list[GuardedTransition]:
    value = transition.control[var]
    wraps = _wraps_in(value)
    if not wraps:
        return [transition]
    wrapped = wraps[0]
    width, lowest = wrapped.type.width, wrapped.type.min
    if width is None or lowest is None:
        return [transition]
    try:
        low, high = transition.where.range_of(wrapped.arg)
    except NotPresburger:
        return [transition]
    except ValueError:
        return []
    modulus = 1 << width
    if low is None or high is None:
        return [transition]
    first, last = (low - lowest) // modulus, (high - lowest) // modulus
    if last - first >= MAX_WRAP_BRANCHES:
        return [transition]
    found: list[GuardedTransition] = []
    for quotient in sorted(range(first, last + 1), key=abs):
        least = lowest + quotient * modulus
        here = transition.where & Region.of(t.between(least, wrapped.arg, least + modulus - 1))
        if here.is_empty():
            continue
        plain = wrapped.arg - quotient * modulus
        control = {**transition.control, var: _replaced(value, wrapped, plain)}
        found += _branches(GuardedTransition(here.coalesce(), control, transition.transformer), var)
    return found


def _wraps_in(term: t.Term) -> list[t.Wrap]:
    """The reductions that are summands of ``term``."""
    return [m[0][0] for m in t.polynomial(term) if len(m) == 1 and m[0][1] == 1 and isinstance(m[0][0], t.Wrap)]


def _replaced(term: t.Term, wrapped: t.Wrap, plain: t.Term) -> t.Term:
    coefficient = t.polynomial(term)[((wrapped, 1),)]
    return term - wrapped * coefficient + plain * coefficient

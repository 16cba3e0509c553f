"""Ranking functions: how often a loop runs at most, where its iterations have no closed form.

Linear functions that are ≥ 0 at each iteration and decrease by at least 1 (Podelski and Rybalchenko, VMCAI 2004);
several of them, each for some of the transitions while the others do not raise it or raise it only so often (Bradley,
Manna and Sipma, Linear ranking with reachability, CAV 2005; Alias et al., Multi-dimensional rankings, SAS 2010); nested
ones, of which each decreases once the one before is negative (Ben-Amram and Genaim, On multiphase-linear ranking
functions, CAV 2017); and pairs of functions whose quotient falls geometrically.

Every inequality that a bound rests on is proved on the conditions and updates of the paths, on machine integers: a run
that meets undefined behaviour has ended, and what wraps around is a transition of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from loopless import terms as t
from loopless.bounds.invariants.of_loops import candidates, is_inductive, kept
from loopless.bounds.ranking.multiphase import Phased, geometric, grows, nested
from loopless.bounds.ranking.size_bounds import sizes_in_loop, small
from loopless.bounds.ranking.transition_counts import TransitionCounts
from loopless.bounds.ranking.transition_system import (
    LinearTransition,
    LinearTransitionSystem,
    difference,
    system,
    with_not_followed,
)
from loopless.limits.bounds import (
    MAX_ASSUMED_INEQUALITIES,
    MAX_RANKING_ALTERNATIVES,
    MAX_RANKINGS,
    RANKING_OPERATIONS,
    RANKING_WORK,
)
from loopless.logic import BudgetExceeded, budget, feasible
from loopless.logic.farkas import Farkas
from loopless.paths import LoopPaths
from loopless.ranking.affine import Functions
from loopless.ranking.templates import RationalFunction, Template
from loopless.records import dataclass
from loopless.refusals import Reason, Refused

_NONE = "no function of its variables is known to decrease in every iteration"


@dataclass(frozen=True, slots=True)
class RankingFunction:
    """One function of the state: ``function`` / ``divisor`` decreases by at least 1 and is ≥ 0 in each iteration by
    one of ``paths`` (for "multi-phase" and "logarithmic" see :class:`Ranking`). ``bound``: how often, at most.
    """

    function: t.Term
    divisor: int
    paths: tuple[str, ...]
    bound: t.Term | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """At most ``iterations`` iterations follow an entry state in which ``valid_when`` holds (beside what the caller
    said of the entry).

    ``kind``: "none" (no path is iterative), "linear", "lexicographic", "multi-phase" (each function decreases once the
    ones before are negative), or "logarithmic" (the second function stays above the first, while the quotient of the
    two falls by a constant factor). ``iterations`` is a term over entry values, never below 0. ``per_path``: bounds for
    paths, by their ids, where they are better. ``invariants`` hold at the header before every iteration. ``by_type``:
    the bound rests on the range of a type.
    """

    kind: str
    components: tuple[RankingFunction, ...]
    iterations: t.Term
    per_path: Mapping[str, t.Term]
    valid_when: t.Condition
    invariants: tuple[t.Condition, ...]
    by_type: bool


def rank(paths: LoopPaths, entry: t.Condition = t.TRUE) -> tuple[Ranking, ...] | Refused:
    """Bounds on the iterations of a loop; all that are given hold, each under its ``valid_when``.

    ``entry``: what is known of the state at the loop's entry. The first ranking is the one that asks for least.
    """
    paths = with_not_followed(paths)
    if not paths.exact:
        detail = "a loop inside is summarized by an over-approximation"
        return Refused(Reason.NO_RANKING, _place(paths), detail)
    if not paths.iterative:
        return (Ranking("none", (), t.ZERO, {}, t.TRUE, (), by_type=False),)
    try:
        with budget(RANKING_OPERATIONS):
            return _Question(paths, entry).answer()
    except (t.TermTooLarge, BudgetExceeded) as error:
        return Refused(Reason.BUDGET, _place(paths), f"the search for a bound came to a limit: {error}")


def _place(paths: LoopPaths) -> str:
    return str(paths.loop.loc) if paths.loop.loc is not None else paths.loop.name


class _Question:
    """The search for bounds on one loop."""

    def __init__(self, paths: LoopPaths, entry: t.Condition) -> None:
        self.paths = paths
        self.engine = Farkas()
        whole = system(paths, t.TRUE, split=False)
        self.proposed = candidates(whole)
        self.base = kept(paths, (*t.conjuncts(entry), *self.proposed), entry) if entry is not t.TRUE else ()

    def answer(self) -> tuple[Ranking, ...] | Refused:
        self.engine.allow(RANKING_WORK)
        always = self._ranked((), wide=False)
        if always is not None:
            return (always,)
        self.engine.allow(RANKING_WORK)
        found = list(islice(self._assuming(), MAX_RANKINGS))
        self.engine.allow(RANKING_WORK)
        by_type = self._ranked((), wide=True)
        if by_type is not None:
            found.append(by_type)
        if found:
            return tuple(found)
        return Refused(Reason.NO_RANKING, _place(self.paths), _NONE)

    def _assuming(self) -> Iterator[Ranking]:
        """Rankings that hold under conditions at the entry: single ones; else as few together as suffice."""
        conditions = list(islice(self._assumable(), MAX_ASSUMED_INEQUALITIES))
        none = True
        for condition in conditions:
            under = self._ranked((condition,), wide=False)
            if under is not None:
                none = False
                yield under
        if none and len(conditions) > 1:
            together: list[t.Condition] = []
            for condition in conditions:
                if self._goes_on((*together, condition)):
                    together.append(condition)
            under = self._ranked(together, wide=False)
            if under is not None:
                yield self._with_less(together, under)

    def _with_less(self, together: list[t.Condition], under: Ranking) -> Ranking:
        for condition in reversed(together):
            fewer = [c for c in together if c is not condition]
            weaker = self._ranked(fewer, wide=False)
            if weaker is not None:
                together, under = fewer, weaker
        return under

    def _goes_on(self, conditions: Sequence[t.Condition]) -> bool:
        """Whether some iteration is possible."""
        given = t.conjunction((*self.base, *conditions))
        return any(feasible(given & path.condition, solver=False) for path in self.paths.iterative)

    def _assumable(self) -> Iterator[t.Condition]:
        """Inequalities that the iterations keep, and with which the loop can still go on."""
        given = t.conjunction(self.base)
        for condition in self.proposed:
            if condition in self.base or not self._goes_on((condition,)):
                continue
            if is_inductive(self.paths, condition, given):
                yield condition

    def _ranked(self, assumed: Sequence[t.Condition], *, wide: bool) -> Ranking | None:
        if self.engine.left <= 0:
            return None
        invariants = (*self.base, *assumed)
        given, valid_when = t.conjunction(invariants), t.conjunction(assumed)
        single: LinearTransitionSystem | None = None
        for split in (False, True):
            made = system(self.paths, given, split=split)
            if single is not None and _seen(made) == _seen(single):
                break
            single = made
            if not made.transitions:
                return Ranking("none", (), t.ZERO, {}, valid_when, invariants, by_type=wide)
            if not _covers(self.paths, made, given):
                continue
            found = _Search(made, self.engine, wide=wide).result()
            if found is not None:
                kind, components, iterations, per_path = found
                return Ranking(kind, components, iterations, per_path, valid_when, invariants, by_type=wide)
        return None


def _seen(made: LinearTransitionSystem) -> list[tuple[object, ...]]:
    return [(transition.rows, transition.wide, dict(transition.after)) for transition in made.transitions]


def _covers(paths: LoopPaths, made: LinearTransitionSystem, given: t.Condition) -> bool:
    """Whether every iteration is one of the transitions."""
    for path in paths.iterative:
        parts = t.disjunction(transition.condition for transition in made.transitions if transition.path is path)
        if feasible(given & path.condition & ~parts):
            return False
    return True


Found = tuple[str, tuple[RankingFunction, ...], t.Term, Mapping[str, t.Term]]


class _Search:
    """One search for ranking functions, on one system."""

    def __init__(self, made: LinearTransitionSystem, engine: Farkas, *, wide: bool) -> None:
        self.system = made
        self.header = made.paths.loop.header
        self.sizes = sizes_in_loop(made, engine, wide=wide)
        self.in_turn = TransitionCounts(self.sizes.graph, (self.sizes,), self._start)
        self.variables = self.in_turn.variables

    def _start(self, found: Functions, _: Sequence[LinearTransition]) -> t.Term:
        """What functions are at the entry, which is the header."""
        return self.sizes.meaning(found[self.header].term)

    def result(self) -> Found | None:
        transitions = self.system.transitions
        if grows(transitions):
            ratio = geometric(self.sizes, transitions, self.variables)
            if ratio is not None:
                return self._of_all("logarithmic", ratio)
        drifts = self._drifts()
        if drifts:
            linear = self._from_conditions(transitions)
            if not linear:
                found = self._function(transitions, self.variables)
                linear = [found] if found is not None else []
            if linear:
                components = tuple(self._ranking_function(f, transitions, _often(f)) for f in linear)
                return "linear", components, t.minimum(*(c.bound for c in components if c.bound is not None)), {}
        if len(transitions) > 1:
            found_in_turn = self._lexicographic()
            if found_in_turn is not None:
                return found_in_turn
        phases = nested(self.sizes, transitions, self.variables) if drifts else None
        return self._of_all("multi-phase", phases) if phases is not None else None

    def _drifts(self) -> bool:
        """Whether some function falls in each iteration, be it ≥ 0 or not: what many kinds of ranking need."""
        template = Template("f", self.variables)
        steps = map(self.sizes.linear, self.system.transitions)
        return self.sizes.engine.solve([step.falls(template, template, by=1) for step in steps]) is not None

    def _of_all(self, kind: str, found: Phased) -> Found:
        functions, bound = found
        return kind, tuple(self._ranking_function(f, self.system.transitions, None) for f in functions), bound, {}

    def _ranking_function(
        self, f: RationalFunction, transitions: Sequence[LinearTransition], bound: t.Term | None
    ) -> RankingFunction:
        names = tuple(dict.fromkeys(transition.path.id for transition in transitions))
        meaning = self.sizes.meaning
        return RankingFunction(meaning(f.term), f.divisor, names, meaning(bound) if bound is not None else None)

    def _from_conditions(self, transitions: Sequence[LinearTransition]) -> list[RationalFunction]:
        """Functions that are the term of a condition, scaled and shifted."""
        known = frozenset(self.variables)
        rows = dict.fromkeys(
            r for transition in transitions for r in self.sizes.rows(transition) if r.variables <= known
        )
        found: list[RationalFunction] = []
        for row in rows:
            if any(
                isinstance(d, t.Const) and d.value >= 0
                for d in (difference(transition, row) for transition in transitions)
            ):
                continue
            f = self._function(transitions, (row,))
            if f is not None and f not in found:
                found.append(f)
                if len(found) == MAX_RANKING_ALTERNATIVES:
                    break
        return found

    def _function(self, transitions: Sequence[LinearTransition], basis: Sequence[t.Term]) -> RationalFunction | None:
        """A combination of ``basis`` that is ≥ 0 before and falls by 1 with each of the transitions; proved."""
        found = self.in_turn.functions(transitions, (), (), basis=basis)
        return None if found is None else _from_zero(found[self.header])

    def _lexicographic(self) -> Found | None:
        """Group after group of transitions gets a function of its own; none of the later ones raises it."""
        if not self.in_turn.search():
            return None
        components = tuple(
            self._ranking_function(_from_zero(group.functions[self.header]), group.transitions, group.counted.bound)
            for group in self.in_turn.groups
        )
        whole = small(t.add(*(c.bound for c in self.in_turn.counted)))
        if whole is None:
            return None
        return "lexicographic", components, whole, dict(self._per_path())

    def _per_path(self) -> Iterator[tuple[str, t.Term]]:
        for path in self.system.paths.iterative:
            often = self.in_turn.often(
                [transition for transition in self.system.transitions if transition.path is path]
            )
            if often is not None:
                yield path.id, often


def _from_zero(f: RationalFunction) -> RationalFunction:
    """A function that is ≥ 1 where it falls as one that is ≥ 0 there."""
    return RationalFunction(f.term - f.divisor, f.divisor)


def _often(f: RationalFunction) -> t.Term:
    """How often a function can fall by 1 from its value while it is ≥ 0."""
    return t.maximum(t.ZERO, f.floor + 1)

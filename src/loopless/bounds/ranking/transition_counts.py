"""How often transitions are taken, by a lexicographic rank whose components are affine functions that are bounded.

The transitions lead from header to header; a loop is the case of one header. The search is the one of ``ranking``. A
group of transitions gets a function for each header, affine, with one divisor, that falls with the transitions of the
group. Transitions without a count yet do not raise it. Transitions with a count may raise it or set it anew; their
count says how often (Alias et al., Multi-dimensional rankings, SAS 2010; Brockschmidt et al., Analyzing runtime and
size complexity of integer programs, TOPLAS 2016).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction

from loopless import terms as t
from loopless.bounds.asymptotics.classes import asymptotic_class
from loopless.bounds.ranking.size_bounds import SizeBounds, SizeEffect, TakenAtMost, least_of, small
from loopless.bounds.ranking.transition_system import LinearTransition, TransitionGraph
from loopless.ranking.affine import (
    Functions,
    Kept,
    Lowered,
    Raised,
    RankedStep,
    falling_together,
    ranking_functions,
)
from loopless.ranking.lexicographic import Fall, LexicographicSearch, Ranks, cut
from loopless.ranking.templates import LinearStep, RationalFunction, bound_above
from loopless.records import dataclass

Start = Callable[[Functions, Sequence[LinearTransition]], t.Term | None]
"""The most that functions are where a run comes to the headers from outside, or before it first takes one of the
transitions: over entry values, times the divisor. None where that is not known.
"""


@dataclass(frozen=True, slots=True)
class RankedGroup:
    """Transitions, by name, that are together taken at most so often, and the functions that fall with them."""

    transitions: tuple[LinearTransition, ...]
    counted: TakenAtMost
    functions: Functions


class TransitionCounts:
    """How often the transitions of a graph are taken, group after group.

    ``sizes`` say how large terms become by what is counted so far: the least that one of them says is used. They share
    an engine, and are told of each group.
    """

    def __init__(self, graph: TransitionGraph, sizes: Sequence[SizeBounds], start: Start) -> None:
        self.graph = graph
        self.transitions = graph.system.transitions
        self.sizes = sizes
        self.engine = sizes[0].engine
        self.start = start
        self.groups: list[RankedGroup] = []
        self.ranks: Ranks | None = None
        """A rank that falls with all transitions, if the search has found one."""
        self.counted: list[TakenAtMost] = []
        self.headers = sorted(
            {h for transition in self.transitions for h in (graph.source_of(transition), graph.target_of(transition))}
        )
        used = {v for transition in self.transitions for row in self.sizes[0].rows(transition) for v in row.variables}
        moved = {v for transition in self.transitions for v in transition.after}
        known = (*graph.system.state, *graph.system.parameters)
        self.variables = tuple(v for v in known if v in used or v in moved)

    def _linear(self, transition: LinearTransition) -> LinearStep:
        return self.sizes[0].linear(transition)

    # -- counts -------------------------------------------------------------------------------------------------------

    def often(self, transitions: Collection[LinearTransition]) -> t.Term | None:
        """How often these transitions are taken; None where that is not known."""
        names = {transition.name for transition in transitions}
        known = [c for c in self.counted if names & c.names]
        if names - frozenset().union(*(c.names for c in known)):
            return None
        return t.add(*(c.bound for c in known))

    def count(self, counted: TakenAtMost) -> None:
        """Takes note of how often some transitions are taken."""
        self.counted.append(counted)
        for sizes in self.sizes:
            sizes.count(counted)

    def search(self) -> bool:
        """Counts group after group, as long as one is found that can be counted; whether all transitions are."""
        search = LexicographicSearch(ends=self._ends, falls=self._falls_of, apart=False)
        self.ranks = search.ranks(self.headers, self.transitions)
        return self.ranks is not None

    def _ends(self, transition: LinearTransition) -> tuple[str, str]:
        return self.graph.source_of(transition), self.graph.target_of(transition)

    def _falls_of(self, _: Sequence[str], remaining: Sequence[LinearTransition]) -> list[Fall[LinearTransition]]:
        """The functions of a further group, which is counted then; none where none of the ``remaining`` can be."""
        found = self._next(remaining)
        if found is None:
            return []
        self.groups.append(found)
        self.count(found.counted)
        left = tuple(transition for transition in remaining if transition not in found.transitions)
        return [Fall({header: cut(function.term) for header, function in found.functions.items()}, left)]

    def _next(self, remaining: Sequence[LinearTransition]) -> RankedGroup | None:
        """Some of the ``remaining`` and how often they are taken: of several choices the one of the lowest class."""
        done = [transition for transition in self.transitions if transition not in remaining]
        found: list[RankedGroup] = []
        for falling in self._choices(remaining):
            group = self._counted(falling, remaining, done)
            if group is None:
                continue
            found.append(group)
            if _degree(group.counted.bound) <= 1:
                break
        return min(found, key=lambda group: _degree(group.counted.bound), default=None)

    def _choices(self, remaining: Sequence[LinearTransition]) -> Iterator[tuple[LinearTransition, ...]]:
        """Which transitions are to fall together: all, all iterations, the iterations of one loop, each by itself."""
        back = self.graph.back
        iterations = [transition for transition in remaining if transition.path.id in back]
        each = ([one for one in iterations if back[one.path.id] == header] for header in self.headers)
        return falling_together(remaining, iterations, *each)

    def _counted(
        self,
        falling: Sequence[LinearTransition],
        remaining: Sequence[LinearTransition],
        done: Sequence[LinearTransition],
    ) -> RankedGroup | None:
        """Transitions with which functions fall that fall with those of ``falling``, how often they are taken, and the
        functions.
        """
        steady = [transition for transition in remaining if transition not in falling]
        at_all = self.functions(falling, steady, ())
        if at_all is None:
            return None
        for found in self._with_done(falling, steady, done, at_all) if done else (at_all,):
            if found is None:
                continue
            group = tuple(
                transition for transition in remaining if transition in falling or self._falls(found, transition)
            )
            bound = self._count(found, group, done)
            if bound is not None:
                return RankedGroup(group, TakenAtMost(frozenset(transition.name for transition in group), bound), found)
        return None

    def _with_done(
        self,
        falling: Sequence[LinearTransition],
        steady: Sequence[LinearTransition],
        done: Sequence[LinearTransition],
        at_all: Functions,
    ) -> Iterator[Functions | None]:
        """What those ``done`` may do to functions: not raise them, raise them by a constant, anything (``at_all``)."""
        yield self.functions(falling, (*steady, *done), ())
        yield self.functions(falling, steady, done)
        yield at_all

    def _count(
        self, found: Functions, falling: Sequence[LinearTransition], done: Sequence[LinearTransition]
    ) -> t.Term | None:
        """How often transitions with which the functions fall are taken, while those that are ``done`` may raise them
        or set them to something, each as often as is known.
        """
        divisor = next(iter(found.values())).divisor
        start = self.start(found, falling)
        if start is None:
            return None
        raised: dict[TakenAtMost, list[t.Term]] = {}
        renewed: dict[TakenAtMost, list[t.Term]] = {}
        for term in done:
            counted = next(c for c in self.counted if term.name in c.names)
            effect = self._effect(found, term)
            if effect is None:
                return None
            if effect.resets:
                renewed.setdefault(counted, []).append(t.maximum(t.ZERO, effect.amount // divisor))
            elif effect.amount is not t.ZERO:
                raised.setdefault(counted, []).append(effect.amount)
        try:
            if not renewed:
                more = [c.bound * t.maximum(t.ZERO, *each) for c, each in raised.items()]
                return small(t.maximum(t.ZERO, t.add(start, *more) // divisor))
            first = t.maximum(t.ZERO, start // divisor)
            if len(renewed) == 1 and not raised:
                ((c, values),) = renewed.items()
                stretches = self._stretches(c, falling)
                if stretches is not None:
                    return small(stretches * t.maximum(first, *values))
            parts = [first]
            for c in dict.fromkeys((*renewed, *raised)):
                rises = [ceil_div(t.maximum(t.ZERO, each), divisor) for each in raised.get(c, ())]
                parts.append(c.bound * t.maximum(t.ZERO, *renewed.get(c, ()), *rises))
            return small(t.add(*parts))
        except t.TermTooLarge:
            return None

    def _stretches(self, counted: TakenAtMost, falling: Sequence[LinearTransition]) -> t.Term | None:
        """Into how many stretches the ``counted`` transitions divide those of ``falling``; None where there may be one
        more than there are of them.

        If the function by which they were counted is raised by nothing, each takes 1 from it. If those of ``falling``
        are taken only where it is 1 or more, no stretch comes after it has run out.
        """
        clock = next((group.functions for group in self.groups if group.counted is counted), None)
        if clock is None or not all(self._never_rises(clock, transition) for transition in self.transitions):
            return None
        divisor = next(iter(clock.values())).divisor
        sides = [(transition, self._sides(clock, transition)[0]) for transition in falling]
        if not all(self.sizes[0].proves(value, now.term.ge(divisor)) for value, now in sides):
            return None
        start = self.start(clock, falling)
        return None if start is None else t.maximum(t.ZERO, start // divisor)

    # -- functions ----------------------------------------------------------------------------------------------------

    def functions(
        self,
        falling: Sequence[LinearTransition],
        steady: Sequence[LinearTransition],
        limited: Sequence[LinearTransition],
        *,
        drops: Mapping[str, int] | None = None,
        basis: Sequence[t.Term] | None = None,
    ) -> Functions | None:
        """A function for each header, all with one divisor: ≥ 1 before and less by 1 after each of ``falling``, never
        raised by ``steady``, raised by a constant, as little as possible, by ``limited``; proved. ``drops``: instead of
        1, by the names of transitions. ``basis``: of these terms instead of all variables.
        """
        if self.engine.left <= 0:
            return None
        over = self.variables if basis is None else tuple(basis)
        steps: list[RankedStep] = []
        for transition in falling:
            drop = drops[transition.name] if drops else 1
            steps.append(RankedStep(self._linear(transition), Lowered(drop, drop)))
        steps += [RankedStep(self._linear(transition), Kept()) for transition in steady]
        steps += [RankedStep(self._linear(one), Raised(f"rise {one.name}")) for one in limited]
        found = ranking_functions(self.engine, dict.fromkeys(self.headers, over), steps)
        if found is None:
            return None
        falls = all(self._falls(found, transition, drops[transition.name] if drops else 1) for transition in falling)
        return found if falls and all(self._never_rises(found, transition) for transition in steady) else None

    def _sides(self, found: Functions, transition: LinearTransition) -> tuple[RationalFunction, RationalFunction]:
        return found[self.graph.source_of(transition)], found[self.graph.target_of(transition)]

    def _falls(self, found: Functions, transition: LinearTransition, by: int = 1) -> bool:
        before, after = self._sides(found, transition)
        drop = before.term - self.sizes[0].exact(transition, after.term)
        least = t.const(before.divisor * by)
        claim = before.term.ge(least) & drop.ge(least)
        return self.sizes[0].proves(transition, claim)

    def _never_rises(self, found: Functions, transition: LinearTransition) -> bool:
        before, after = self._sides(found, transition)
        return self.sizes[0].proves(transition, before.term.ge(self.sizes[0].exact(transition, after.term)))

    def _effect(self, found: Functions, transition: LinearTransition) -> SizeEffect | None:
        """What a counted transition does to the functions at most, by constants before terms."""
        before, after = self._sides(found, transition)
        sizes = self.sizes[0]
        then = transition.step(after.term)
        exact = sizes.exact(transition, after.term)
        change, exact_change = then - before.term, exact - before.term
        constant = bound_above(self.engine, sizes.rows(transition), change, ())
        if constant is not None and sizes.proves(transition, exact_change.le(constant.floor)):
            most = constant.floor
            return SizeEffect(resets=False, amount=t.ZERO if isinstance(most, t.Const) and most.value <= 0 else most)
        value = least_of(bound for each in self.sizes for bound in each.bounded(transition, then, exact))
        if value is not None:
            return SizeEffect(resets=True, amount=value)
        amount = least_of(bound for each in self.sizes for bound in each.bounded(transition, change, exact_change))
        return None if amount is None else SizeEffect(resets=False, amount=amount)


def ceil_div(term: t.Term, divisor: int) -> t.Term:
    """``term`` / ``divisor``, rounded up."""
    return -(-term // divisor)


def _degree(bound: t.Term) -> Fraction:
    """The degree of a bound; more than any where it is no polynomial's."""
    grows = asymptotic_class(bound, lambda var: var.name)
    return grows.degree if grows is not None else Fraction(1000)

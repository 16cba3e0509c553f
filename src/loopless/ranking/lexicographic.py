"""The search for lexicographic ranks: components one after another, until each step is lowered by one of them.

A component is raised by none of the steps that are left, and lowered by some; the next one is for what it leaves of
them (Bradley, Manna and Sipma, Linear ranking with reachability, CAV 2005; Alias et al., Multi-dimensional rankings,
SAS 2010). Places between which runs go to and fro have ranks of their own, behind a component that says where the run
is. Components are cut off below 0, so that one may rise again once it is used up: phases of a loop are components
(Ben-Amram and Genaim, On multiphase-linear ranking functions, CAV 2017).

Callers say which components there are to try, and prove what these do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

from loopless import terms as t
from loopless.graphs import components
from loopless.logic.steps import PlaceStep
from loopless.records import dataclass
from loopless.terms.relation import behind

S = TypeVar("S")
"""A step between places."""

Component = Mapping[str, t.Term]
"""A component of a rank: at each place a term that is 0 or more."""

Ranks = Mapping[str, tuple[t.Term, ...]]
"""By place the components of a rank, as many at each."""


@dataclass(frozen=True, slots=True)
class Fall(Generic[S]):
    """A ``component`` that none of the steps raises, and what it leaves of them: those, and parts of those, that it
    need not lower.
    """

    component: Component
    left: tuple[S, ...]


@dataclass(frozen=True, slots=True)
class Division(Generic[S]):
    """A ``condition`` that stays false once it is, the steps that keep it, and those that begin where it is false."""

    condition: t.Condition
    holding: tuple[S, ...]
    failing: tuple[S, ...]


class Divisions(Protocol[S]):
    """Conditions that may divide steps between places; none that is ``open``, which divides them already."""

    def __call__(
        self, places: Sequence[str], steps: Sequence[S], open_: Sequence[t.Condition], /
    ) -> Iterable[Division[S]]: ...


@dataclass(frozen=True, slots=True)
class LexicographicSearch(Generic[S]):
    """What a search is given.

    ``ends``: the places between which a step goes. ``falls``: components for steps between places, likely ones first;
    only the first is tried unless ``patient``. ``divisions``: asked where there is none. ``possible``: those of the
    steps of a side that may be taken. ``most``: of components behind one another. ``apart``: whether places between
    which runs do not go to and fro have ranks of their own.
    """

    ends: Callable[[S], tuple[str, str]]
    falls: Callable[[Sequence[str], Sequence[S]], Sequence[Fall[S]]]
    divisions: Divisions[S] = lambda *_: ()
    possible: Callable[[Sequence[S]], Sequence[S]] = lambda steps: steps
    most: int | None = None
    patient: bool = False
    apart: bool = True

    def ranks(self, places: Sequence[str], steps: Sequence[S]) -> Ranks | None:
        """A rank that falls with all of these steps; None where none is found."""
        return self._ranks(places, steps, ())

    def _ranks(
        self, places: Sequence[str], steps: Sequence[S], open_: tuple[t.Condition, ...], depth: int = 0
    ) -> Ranks | None:
        parts = self._parts(places, steps)  # each behind those that it leads to
        found: dict[str, tuple[t.Term, ...]] = {}
        for index, part in enumerate(parts):
            inside = [step for step in steps if all(end in part for end in self.ends(step))]
            ranks = self._part(part, inside, open_, depth) if inside else dict.fromkeys(part, ())
            if ranks is None:
                return None
            for place in part:
                found[place] = (*((t.const(index),) if len(parts) > 1 else ()), *ranks[place])
        return padded({place: found[place] for place in places})

    def _parts(self, places: Sequence[str], steps: Sequence[S]) -> Sequence[Sequence[str]]:
        if not self.apart:
            return (places,)
        ends = [self.ends(step) for step in steps]
        return components({place: [target for source, target in ends if source == place] for place in places})

    def _part(
        self, places: Sequence[str], steps: Sequence[S], open_: tuple[t.Condition, ...], depth: int
    ) -> Ranks | None:
        if self.most is not None and depth >= self.most:
            return None
        falls = self.falls(places, steps)
        for fall in falls if self.patient else falls[:1]:
            rest = self._ranks(places, fall.left, open_, depth + 1) if fall.left else dict.fromkeys(places, ())
            if rest is not None:
                return {place: (fall.component[place], *rest[place]) for place in places}
        return None if falls and not self.patient else self._divided(places, steps, open_, depth)

    def _divided(
        self, places: Sequence[str], steps: Sequence[S], open_: tuple[t.Condition, ...], depth: int
    ) -> Ranks | None:
        """A condition that stays false once it is: a component of its own, and others for each of its two sides."""
        for division in self.divisions(places, steps, open_):
            within = (*open_, division.condition)
            holding = self._ranks(places, self.possible(division.holding), within, depth + 2)
            if holding is None:
                continue
            failing = self._ranks(places, self.possible(division.failing), within, depth + 2)
            if failing is not None:
                return _together(division.condition, holding, failing)
        return None


def _together(condition: t.Condition, holding: Ranks, failing: Ranks) -> Ranks:
    """The components of both sides of a condition as one."""
    width = max(len(terms) for ranks in (holding, failing) for terms in ranks.values())
    one, other = padded(holding, width), padded(failing, width)
    return {
        place: (
            t.ite(condition, t.ONE, t.ZERO),
            *(t.ite(condition, a, b) for a, b in zip(one[place], other[place], strict=True)),
        )
        for place in holding
    }


def padded(ranks: Mapping[str, Sequence[t.Term]], width: int | None = None) -> dict[str, tuple[t.Term, ...]]:
    """The ranks as tuples of one length, by default that of the longest."""
    width = max(map(len, ranks.values()), default=0) if width is None else width
    return {place: (*terms, *[t.ZERO] * (width - len(terms))) for place, terms in ranks.items()}


# -- components -------------------------------------------------------------------------------------------------------


def cut(term: t.Term) -> t.Term:
    """The component of a rank that a term makes: it stays at 0 once the term is below 0."""
    return t.maximum(t.ZERO, term + 1)


def alike(terms: Iterable[t.Term], places: Sequence[str]) -> Iterator[Component]:
    """The same term at all places."""
    return (dict.fromkeys(places, cut(term)) for term in terms)


G = TypeVar("G", bound=PlaceStep)


@dataclass(frozen=True, slots=True)
class Falls(Generic[G]):
    """What components do to guarded steps. ``shown``: whether a condition surely holds before a step that is taken.
    ``is_late``: whether no more components are to be tried. ``most``: maximum number of components that lower some
    steps on some ways only.
    """

    shown: Callable[[G, t.Condition], bool]
    is_late: Callable[[], bool]
    most: int

    def first(self, sources: Iterable[Iterable[Component]], steps: Sequence[G]) -> list[Fall[G]]:
        """Of the sources in turn a component that lowers some of the steps for good, else a few that lower some of them
        on some ways.
        """
        partial: list[Fall[G]] = []
        for source in sources:
            found = self._of(source, steps)
            if any(len(fall.left) < len(steps) for fall in found):
                return found
            partial += found
        return partial[: self.most]

    def _of(self, source: Iterable[Component], steps: Sequence[G]) -> list[Fall[G]]:
        partial: list[Fall[G]] = []
        for component in source:
            if self.is_late():
                break
            try:
                if not all(self._keeps(step, component) for step in steps):
                    continue
            except t.TermTooLarge:
                continue
            left = tuple(rest for step in steps if (rest := self._left(step, component)) is not None)
            if len(left) < len(steps):
                return [Fall(component, left)]
            if len(partial) < self.most and any(a is not b for a, b in zip(left, steps, strict=True)):
                partial.append(Fall(component, left))
        return partial

    def _keeps(self, step: G, component: Component) -> bool:
        """Whether the component is no larger behind the step."""
        return self.shown(step, t.less_equal(*_behind_and_before(step, component)))

    def _left(self, step: G, component: Component) -> G | None:
        """The part of a step that does not lower the component; None where there is none."""
        after, before = _behind_and_before(step, component)
        if self.shown(step, after.lt(before)):
            return None
        if self.shown(step, after.ge(before)):
            return step
        return replace(step, condition=step.condition & after.ge(before))


def _behind_and_before(step: PlaceStep, component: Component) -> tuple[t.Term, t.Term]:
    """The component where a step has led, and where it begins, over the variables there."""
    return behind(step, component[step.target]), component[step.source]

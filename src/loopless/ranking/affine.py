"""Affine ranking functions of steps between places: a function for each place, by Farkas' lemma.

A step lowers the functions, or keeps them from rising, or raises them by a constant at most (Bradley, Manna and Sipma,
Linear ranking with reachability, CAV 2005; Alias et al., Multi-dimensional rankings, SAS 2010). What is found is a
proposal: callers prove it before they use it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import lcm
from typing import TypeVar, assert_never

from loopless import terms as t
from loopless.logic.farkas import Farkas, FarkasClaim
from loopless.ranking.templates import LinearStep, RationalFunction, Template, unknown
from loopless.records import dataclass

Functions = Mapping[str, RationalFunction]
"""A function for each place, all with one divisor."""

S = TypeVar("S")
"""A step, or what stands for it."""


def falling_together(steps: Sequence[S], *some: Sequence[S]) -> Iterator[tuple[S, ...]]:
    """Which steps are to fall together, likely ones first: all, ``some`` of them, each by itself; each choice once."""
    seen: set[tuple[int, ...]] = set()
    for choice in (steps, *some, *((step,) for step in steps)):
        which = tuple(map(id, choice))
        if choice and which not in seen:
            seen.add(which)
            yield tuple(choice)


@dataclass(frozen=True, slots=True)
class Lowered:
    """The step lowers the functions by ``by`` or more, from ``least`` or more."""

    by: int
    least: int


@dataclass(frozen=True, slots=True)
class Kept:
    """The step does not raise the functions."""


@dataclass(frozen=True, slots=True)
class Raised:
    """The step raises the functions by a constant, an unknown of this ``name``, which is to be small."""

    name: str


@dataclass(frozen=True, slots=True)
class RankedStep:
    """A step between two places, and what it may do to the functions."""

    step: LinearStep
    effect: Lowered | Kept | Raised

    def claims(self, templates: Mapping[str, Template]) -> list[FarkasClaim]:
        """What the effect asks of the functions."""
        step, before, behind = self.step, templates[self.step.source], templates[self.step.target]
        match self.effect:
            case Lowered(by, least):
                return [step.claims(before.now(), least=least), step.falls(before, behind, by=by)]
            case Kept():
                return [step.falls(before, behind)]
            case Raised(name):
                return [step.falls(before, behind, unknown(name))]
            case _:
                assert_never(self.effect)


def ranking_functions(
    engine: Farkas, over: Mapping[str, Sequence[t.Term]], steps: Sequence[RankedStep]
) -> Functions | None:
    """Functions of these terms at each place under which all steps have their effects: rises as small as possible, then
    coefficients, then constants. None where there are none, or the engine is at its limit.
    """
    templates = {place: Template(f"f{at} ", tuple(over[place])) for at, place in enumerate(over)}
    claims = [claim for step in steps for claim in step.claims(templates)]
    rises = {step.effect.name: 1 for step in steps if isinstance(step.effect, Raised)}
    size = {name: 1 for template in templates.values() for name in template.size()}
    constants = {name: c for template in templates.values() for name, c in template.constant().items()}
    solution = engine.solve(claims, least=(rises, size, constants) if rises else (size, constants))
    if solution is None:
        return None
    found = {place: template.found(solution) for place, template in templates.items()}
    common = lcm(*(one.divisor for one in found.values()))
    return {place: RationalFunction(one.term * (common // one.divisor), common) for place, one in found.items()}

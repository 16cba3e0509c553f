"""Affine ranking functions of steps between places: a function for each place, by Farkas' lemma.

A step lowers the functions, or keeps them from rising, or raises them by a constant at most (Bradley, Manna and Sipma,
Linear ranking with reachability, CAV 2005; Alias et al., Multi-dimensional rankings, SAS 2010). What is found is a
proposal: callers prove it before they use it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import lcm
from typing import assert_never

from loopless import terms as t
from loopless.logic.farkas import Farkas, FarkasClaim
from loopless.ranking.templates import RationalFunction, Template, plain, total, unknown
from loopless.records import dataclass

Functions = Mapping[str, RationalFunction]
"""A function for each place, all with one divisor."""


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
    """A step between two places, and what it may do to the functions.

    ``rows``: affine terms that are 0 or more where the step is taken. ``after``: gives an affine term after the
    step, as a term over the values before it and over auxiliary variables, which occur in ``rows``.
    """

    source: str
    target: str
    rows: tuple[t.Term, ...]
    after: Callable[[t.Term], t.Term]
    effect: Lowered | Kept | Raised

    def claims(self, templates: Mapping[str, Template]) -> list[FarkasClaim]:
        """What the effect asks of the functions."""
        now, then = templates[self.source].now(), templates[self.target].then(self.after, -1)
        match self.effect:
            case Lowered(by, least):
                wanted = [total(now, plain(-least)) if least else now, total(now, then, plain(-by))]
            case Kept():
                wanted = [total(now, then)]
            case Raised(name):
                wanted = [total(now, then, unknown(name))]
            case _:
                assert_never(self.effect)
        return [FarkasClaim(self.rows, form) for form in wanted]


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

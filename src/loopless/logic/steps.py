"""Transition systems as the engines of this package take them: locations, and transitions between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from loopless import terms as t
from loopless.logic.operators import BIT_OPERATORS
from loopless.logic.smt_bits import BitTranslation, width_of
from loopless.logic.smt_integers import IntegerTranslation
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class Instance:
    """Where ``when`` holds, what is known at a step's source holds of these ``values`` of variables, too."""

    when: t.Condition
    values: Mapping[t.Var, t.Term]


@dataclass(frozen=True, slots=True)
class PlaceStep:
    """From the location ``source`` to ``target`` where ``condition`` holds of the variables there, which take the
    values of ``update``; variables that are no state of the source may have any value of their types.
    """

    source: str
    target: str
    condition: t.Condition
    update: Mapping[t.Var, t.Term]

    @property
    def instances(self) -> tuple[Instance, ...]:
        """Of what else that holds which is known at the source."""
        return ()


def everywhere(step: PlaceStep, condition: t.Condition) -> t.Condition:
    """What is known where ``condition`` is known at the source of a step.

    Raises :class:`loopless.terms.TermTooLarge`.
    """
    instances = step.instances
    if not instances:
        return condition
    told = (t.implies(one.when, t.substitute(condition, one.values)) for one in instances)
    return t.conjunction(
        (
            condition,
            *(
                part
                for one, part in zip(instances, told, strict=True)
                if not condition.variables.isdisjoint(one.values)
            ),
        )
    )


Locations = Mapping[str, Sequence[t.Condition]]
"""Conditions by location."""
State = Mapping[str, Sequence[t.Var]]
"""The variables of each location; a location that is not there has none."""


INPUT: Final = "?"
"""The names of what a step takes from outside begin so: each step has values of its own for these."""


def outgoing(steps: Iterable[PlaceStep]) -> dict[str, list[int]]:
    """By location the numbers of the steps that begin there."""
    found: dict[str, list[int]] = {}
    for number, step in enumerate(steps):
        found.setdefault(step.source, []).append(number)
    return found


def successors(steps: Iterable[PlaceStep]) -> dict[str, list[str]]:
    """By location those to which steps lead from there, each once."""
    found: dict[str, dict[str, None]] = {}
    for step in steps:
        found.setdefault(step.source, {})[step.target] = None
    return {source: list(targets) for source, targets in found.items()}


def translation(z3: Any, context: Any, steps: Sequence[PlaceStep]) -> IntegerTranslation:
    """How these steps are put to Z3: over the integers, or in bits where they work on bits and are bounded."""
    nodes: list[t.Node] = [node for step in steps for node in (step.condition, *step.update.values())]
    if any(isinstance(part, t.Op) and part.op in BIT_OPERATORS for node in nodes for part in t.walk(node)):
        widths = [width_of(node) for node in nodes]
        if all(width is not None for width in widths):
            made = BitTranslation(z3, context)
            made.width = max(width for width in widths if width is not None)
            return made
    return IntegerTranslation(z3, context)

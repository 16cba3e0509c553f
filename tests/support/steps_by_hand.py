"""Small transition systems written by hand, for tests of the engines that prove and search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from loopless.logic.steps import PlaceStep
from loopless.records import dataclass
from loopless.terms import TRUE, Condition, Term, Var


@dataclass(frozen=True)
class Step(PlaceStep):
    condition: Condition = TRUE
    update: Mapping[Var, Term] = field(default_factory=dict)

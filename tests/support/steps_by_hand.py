"""Small transition systems written by hand, for tests of the engines that prove and search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from loopless.terms import TRUE, Condition, Term, Var


@dataclass(frozen=True)
class Step:
    source: str
    target: str
    condition: Condition = TRUE
    update: Mapping[Var, Term] = field(default_factory=dict)

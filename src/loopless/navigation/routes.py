"""What a search finds: a path to the goal, with what it demands of the inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loopless.navigation.store import Cells
from loopless.terms import IntType, Term, Var
from loopless.verification.transitions import Input


@dataclass(frozen=True, slots=True)
class Step:
    """A transition that was taken ``count`` times in a row, with what each value from outside was."""

    transition: int
    count: int
    inputs: Mapping[Input, Term]


@dataclass(frozen=True, slots=True)
class Route:
    """A path to the goal: its steps, the values of symbols, and elements that are alike."""

    steps: tuple[Step, ...]
    values: Mapping[Var, int]
    cells: Mapping[tuple[str, int, IntType], Var]
    runs: tuple[Cells, ...]
    begin: Mapping[Var, Term]


@dataclass(slots=True)
class Searched:
    """``route`` where one was found; ``exhausted``: everything was tried, so that there is none."""

    route: Route | None = None
    exhausted: bool = False
    systems: int = 0
    steps: int = 0
    why: str = ""

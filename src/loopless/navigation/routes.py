"""What a search finds: a path to the goal, with what it demands of the inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from loopless import terms as t
from loopless.navigation.memory import Led
from loopless.navigation.store import ElementRange
from loopless.records import dataclass
from loopless.transition.relation import TransitionInput


@dataclass(frozen=True, slots=True)
class RouteStep:
    """A transition that was taken ``count`` times in a row, with what each value from outside was."""

    transition: int
    count: int
    inputs: Mapping[TransitionInput, t.Term]


@dataclass(frozen=True, slots=True)
class Route:
    """A path to the goal: its steps, the values of symbols, elements that are alike, and where ``pointers`` lead that
    lie in memory that is given, by the name of the object and their places. ``aliases``: the objects of pointers that
    must lead to one that has another name, too, by their numbers. ``drawn``: inputs behind those of the steps, as runs
    of how many and which value. ``uninitialised``: what variables hold beside those of the steps, by their names.
    """

    steps: tuple[RouteStep, ...]
    values: Mapping[t.Var, int]
    cells: Mapping[tuple[str, int, t.IntType], t.Var]
    runs: tuple[ElementRange, ...]
    begin: Mapping[t.Var, t.Term]
    pointers: Mapping[tuple[str, int], Led] = field(default_factory=dict)
    aliases: Mapping[t.Var, int] = field(default_factory=dict)
    drawn: tuple[tuple[int, int], ...] = ()
    uninitialised: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Searched:
    """``route`` where one was found; ``exhausted``: everything was tried, so that there is none."""

    route: Route | None = None
    exhausted: bool = False
    systems: int = 0
    steps: int = 0
    why: str = ""

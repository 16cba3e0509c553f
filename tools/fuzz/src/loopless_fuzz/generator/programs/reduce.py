"""Make a failing program of several functions small: delta debugging as for one function.

What is left out may still be named; then the program does not compile, and whoever is asked says that it does not fail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from loopless_fuzz.generator.minimize import smaller_blocks
from loopless_fuzz.generator.programs.model import Program, Routine
from loopless_fuzz.generator.programs.printer import print_program
from loopless_fuzz.generator.reduction import reduced


def reduce(program: Program, still_fails: Callable[[Program], bool], budget: int = 500) -> Program:
    """The smallest program found that still fails; ``still_fails`` is asked at most ``budget`` times."""

    def complete(whole: Program) -> Iterator[Program]:
        return (one for one in _candidates(whole) if _is_complete(one, print_program(one)))

    return reduced(program, complete, print_program, still_fails, budget)


def _is_complete(program: Program, text: str) -> bool:
    """Whether no function is called that is gone, which compilers would take for one of another program."""
    names = {routine.name for routine in program.routines}
    return "main" in names and all(f"f{index}(" not in text or f"f{index}" in names for index in range(10))


def _candidates(program: Program) -> Iterator[Program]:
    """Smaller programs, the most promising first."""
    routines = program.routines
    for at, routine in enumerate(routines):
        if routine.name != "main":
            yield replace(program, routines=(*routines[:at], *routines[at + 1 :]))
    for at in range(len(program.globals)):
        rest = (*program.globals[:at], *program.globals[at + 1 :])
        name = program.globals[at].name
        yield _unwatched(replace(program, globals=rest), name)
    for at, routine in enumerate(routines):
        for smaller in _routines(routine):
            yield replace(program, routines=(*routines[:at], smaller, *routines[at + 1 :]))


def _routines(routine: Routine) -> Iterator[Routine]:
    for body in smaller_blocks(routine.body):
        yield replace(routine, body=body)


def _unwatched(program: Program, name: str) -> Program:
    """Without a global in what is noted."""

    def without(routine: Routine) -> Routine:
        watched = tuple(value for value in routine.watched if not _names(value, name))
        regions = tuple(region for region in routine.regions if not _names(region[1], name))
        return replace(routine, watched=watched, regions=regions)

    return replace(program, routines=tuple(map(without, program.routines)))


def _names(text: str, name: str) -> bool:
    """Whether an expression names a global."""
    return name in re.findall(r"[A-Za-z_]\w*", text)

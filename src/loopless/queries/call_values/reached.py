"""What ``loopless reach`` answers: whether a run gets to a place, with the inputs that lead there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, TypeAlias

from loopless.queries.shown import Shown, presentation
from loopless.records import dataclass
from loopless.source import SourceOptions
from loopless.source.targets import SourceTarget

Number: TypeAlias = int | float
"""An integer, or a floating-point number."""


@dataclass(frozen=True, slots=True)
class RepeatedValue:
    """``count`` times the integer ``value``: what is long in inputs is written so."""

    count: int
    value: int


@dataclass(frozen=True, slots=True)
class Field:
    """A number of ``size`` bytes that lies at byte ``offset`` of a memory, by its ``name`` in C."""

    name: str
    offset: int
    size: int
    value: Number


@dataclass(frozen=True, slots=True)
class PointerIn:
    """A pointer that lies at byte ``offset`` of a memory and leads to byte ``at`` of another one; its ``name`` in C.
    ``same``: the name of the argument, or of another of these pointers, whose memory it leads to, to the byte ``at``
    counted from the ``start`` of that; ``memory`` is empty then.
    """

    name: str
    offset: int
    memory: MemoryContent
    at: int = 0
    same: str = ""


@dataclass(frozen=True, slots=True)
class MemoryContent:
    """What a pointer leads to that is no array of integers: ``content`` are its bytes, in which ``pointers`` lie.
    ``fields``: what of the content the path reads and is not 0, as far as it has a name. ``start``: the byte of the
    content to which a parameter points.
    """

    content: bytes
    pointers: tuple[PointerIn, ...] = ()
    fields: tuple[Field, ...] = ()
    start: int = 0


@dataclass(frozen=True, slots=True)
class GivenValue:
    """What one parameter gets.

    ``name`` and ``type``: as C has them (``type`` of an array is that of its elements). ``value``: of an integer, or
    (a float) of a floating-point number; ``elements``: of a pointer, what it points to, from the first element on;
    ``memory``: of a pointer to something else, or ``by_value`` of a structure that is passed itself; all None: the null
    pointer.
    """

    name: str
    type: str
    value: Number | None = None
    elements: tuple[RepeatedValue, ...] | None = None
    memory: MemoryContent | None = None
    by_value: bool = False

    @property
    def listed(self) -> list[int] | None:
        """The elements one by one."""
        return None if self.elements is None else list(unrolled(self.elements))


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of one run of ``function``.

    ``arguments``: one per parameter; ``nondet``: what input functions return, in the order of calls, ``repeats``: the
    last of them comes again and again; ``uninitialised``: what locals hold that nothing has written, by name;
    ``globals``: scalar globals that hold something else than the program gives them when ``function`` begins.
    ``words``: of ``main``, the words of argv, the name of the program first, without the zeros at their ends; none:
    where argv does not matter. ``stdin``: the bytes of standard input; None where the function does not read it.
    """

    function: str
    arguments: tuple[GivenValue, ...] = ()
    nondet: tuple[RepeatedValue, ...] = ()
    repeats: bool = False
    uninitialised: Mapping[str, int] = field(default_factory=dict)
    globals: Mapping[str, int] = field(default_factory=dict)
    words: tuple[tuple[RepeatedValue, ...], ...] = ()
    stdin: bytes | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Reached(Shown):
    """Whether some run gets to a target; ``print`` shows it as ``loopless reach`` does.

    ``verdict``: "reached", "unreachable" or "unknown"; ``method``: who found it. ``inputs``: of "reached", with what
    the native run said in ``replayed``. ``certificate``: of "unreachable", the proof that the judge accepted, None
    where it rests on the counters of paths alone. ``reason``: of "unknown". ``tried``: seconds by method. ``loop``: the
    place of the loop that never ends, or goes round so often, where that was asked; ``overflows``: it never ends unless
    a signed number overflows in it.
    """

    target: SourceTarget
    function: str
    verdict: str
    method: str = ""
    inputs: Inputs | None = None
    replayed: str = ""
    certificate: Mapping[str, Any] | None = None
    judged: Mapping[str, Any] | None = None
    reason: str = ""
    assumptions: tuple[str, ...] = ()
    tried: Mapping[str, float] = field(default_factory=dict)
    trouble: str = ""
    loop: str = ""
    overflows: bool = False
    files: tuple[str, ...] = ()
    """The files of the program."""
    options: SourceOptions = field(default_factory=SourceOptions)
    """How the files were read."""

    @property
    def asks_hang(self) -> bool:
        """Whether it was asked for runs that never end, or go round too often."""
        return self.target.endless or self.target.rounds is not None

    @property
    def purpose(self) -> str:
        """What a test with the inputs is for, as a sentence."""
        if self.asks_hang:
            at = f" at {self.loop}" if self.loop else ""
            often = "Never ends" if self.target.endless else f"Goes round more than {self.target.rounds:,} times"
            unless = ", unless a signed number overflows" if self.overflows else ""
            return f"{often}: the loop{at}{unless}."
        return f"Leads to {self.target}."

    def c_test(self, folder: str | Path = ".") -> str:
        """A C file, to be put into ``folder``, that runs the program with the inputs. Raises ``UsageError`` where there
        are none, or they cannot be given in C.
        """
        return str(presentation().c_test(self, Path(folder)))

    def as_json(self) -> dict[str, Any]:
        """The fields that ``loopless reach --format json`` gives."""
        fields: dict[str, Any] = presentation().fields(self)
        return fields

    def __bool__(self) -> bool:
        return self.verdict == "reached"


def runs_of(values: Iterable[int]) -> tuple[RepeatedValue, ...]:
    """A list of integers as runs."""
    found: list[RepeatedValue] = []
    for value in values:
        if found and found[-1].value == value:
            found[-1] = RepeatedValue(found[-1].count + 1, value)
        else:
            found.append(RepeatedValue(1, value))
    return tuple(found)


def joined(runs: Iterable[RepeatedValue]) -> tuple[RepeatedValue, ...]:
    """The same without empty runs, and with one run for neighbours of one value."""
    found: list[RepeatedValue] = []
    for run in runs:
        if found and found[-1].value == run.value:
            found[-1] = RepeatedValue(found[-1].count + run.count, run.value)
        elif run.count:
            found.append(run)
    return tuple(found)


def unrolled(runs: tuple[RepeatedValue, ...]) -> Iterator[int]:
    """The integers one by one."""
    for run in runs:
        yield from (run.value for _ in range(run.count))

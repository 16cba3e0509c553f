"""Answers about one property of one program."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from loopless.check.certificates.property import Property
from loopless.queries.shown import Shown, presentation
from loopless.queries.verification.evidence import ToldInvariant
from loopless.records import dataclass
from loopless.source import SourceOptions


@dataclass(frozen=True, slots=True, repr=False)
class Verdict(Shown):
    r"""Whether all runs of a program have a property; ``print`` shows it as ``loopless verify`` does.

    ``verdict``: "true", "false" or "unknown"; ``method``: who found it. ``inputs``: of a ``false``, what the run reads
    in order, ``uninitialised`` what local variables hold without initialisation; ``replayed``: what the native run
    said. ``certificate``: of a ``true``, the document that the judge accepted, ``judged`` what it said. ``reason``: of
    an ``unknown``, why. ``assumptions``: what a ``true`` takes for granted. ``shares``: seconds by method;
    ``told``: what holds at loops, ``contracts`` by function what calls return and leave, where the proof rests
    on that, in C syntax with ``\result`` and ``\old`` as ACSL has them. ``repeats``: the last input comes again and
    again. ``stdin``: of a ``false``, the bytes of standard input, None where the program does not read it.
    """

    property: Property
    verdict: str
    method: str = ""
    inputs: tuple[int, ...] = ()
    uninitialised: Mapping[str, int] = field(default_factory=dict)
    replayed: str = ""
    place: str = ""
    certificate: Mapping[str, Any] | None = None
    judged: Mapping[str, Any] | None = None
    reason: str = ""
    assumptions: tuple[str, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    trouble: str = ""
    told: tuple[ToldInvariant, ...] = ()
    repeats: bool = False
    contracts: Mapping[str, str] = field(default_factory=dict)
    cut: str = ""
    """Of an ``unknown``, which limit ended the search, where one did."""
    stdin: bytes | None = None
    files: tuple[str, ...] = ()
    """The files of the program."""
    options: SourceOptions = field(default_factory=SourceOptions)
    """How the files were read."""

    @builtins.property
    def holds(self) -> bool | None:
        """True: proved; False: refuted by a run that was replayed; None: neither."""
        return {"true": True, "false": False}.get(self.verdict)

    @builtins.property
    def invariants(self) -> Mapping[str, str]:
        """Of a proof, what holds at each loop, by its place."""
        return {f"{one.file}:{one.line}:{one.column}": one.text for one in self.told}

    @builtins.property
    def harness(self) -> str:
        """A C file that gives the program the inputs of the violation, with paths from the present folder; empty where
        there is none.
        """
        return str(presentation().harness(self))

    def as_json(self) -> dict[str, Any]:
        """The fields that ``loopless verify --format json`` gives."""
        fields: dict[str, Any] = presentation().fields(self)
        return fields

    def __bool__(self) -> bool:
        return self.verdict == "true"

    @builtins.property
    def words(self) -> str:
        """The verdict as competitions write it: ``true``, ``false(unreach-call)``, ``unknown``."""
        return f"false({self.property.value})" if self.verdict == "false" else self.verdict

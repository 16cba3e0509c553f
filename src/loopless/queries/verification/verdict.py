"""Answers about one property of one program."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from loopless.check.certificates.property import Property
from loopless.queries.verification.evidence import ToldInvariant


@dataclass(frozen=True, slots=True)
class Verdict:
    r"""The answer about one property of one program.

    ``verdict``: "true", "false" or "unknown"; ``method``: who found it. ``inputs``: of a ``false``, what the run reads
    in order, ``uninitialised`` what local variables hold without initialisation; ``replayed``: what the native run
    said. ``certificate``: of a ``true``, the document that the judge accepted, ``judged`` what it said. ``reason``: of
    an ``unknown``, why. ``assumptions``: what a ``true`` takes for granted. ``shares``: seconds by method;
    ``invariants``: what holds at loops, ``contracts`` by function what calls return and leave, where the proof rests
    on that, in C syntax with ``\result`` and ``\old`` as ACSL has them. ``repeats``: the last input comes again and
    again.
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
    invariants: tuple[ToldInvariant, ...] = ()
    repeats: bool = False
    contracts: Mapping[str, str] = field(default_factory=dict)
    cut: str = ""
    """Of an ``unknown``, which limit ended the search, where one did."""

    @builtins.property
    def words(self) -> str:
        """The verdict as competitions write it: ``true``, ``false(unreach-call)``, ``unknown``."""
        return f"false({self.property.value})" if self.verdict == "false" else self.verdict

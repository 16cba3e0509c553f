"""The answer about a property of a program, as people hold it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopless.interface.shown import Shown
from loopless.queries.settings import Settings
from loopless.queries.verification.verdict import Verdict as VerdictValue
from loopless.report import html
from loopless.report.verification import harness, verdict_json, verdict_text


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Verdict(Shown):
    """Whether all runs of a program have a property; ``print`` shows it as ``loopless verify`` does."""

    found: VerdictValue
    """All that was found out."""
    files: tuple[str, ...]
    """The files of the program."""
    _settings: Settings = field(default_factory=Settings)

    @property
    def holds(self) -> bool | None:
        """True: proved; False: refuted by a run that was replayed; None: neither."""
        return {"true": True, "false": False}.get(self.found.verdict)

    @property
    def inputs(self) -> tuple[int, ...]:
        """What the run reads in order that violates the property."""
        return self.found.inputs

    @property
    def certificate(self) -> Mapping[str, Any] | None:
        """The certificate of a proof, which the judge accepted."""
        return self.found.certificate

    @property
    def invariants(self) -> Mapping[str, str]:
        """Of a proof, what holds at each loop, by its place."""
        return {f"{one.file}:{one.line}:{one.column}": one.text for one in self.found.invariants}

    @property
    def contracts(self) -> Mapping[str, str]:
        """Of a proof that rests on them, by function what holds when it returns."""
        return self.found.contracts

    @property
    def reason(self) -> str:
        """Why neither is known."""
        return self.found.reason

    @property
    def harness(self) -> str:
        """A C file that gives the program the inputs of the violation, with paths from the present folder; empty where
        there is none.
        """
        from loopless.queries.call_values.surroundings import surroundings

        if self.found.verdict != "false":
            return ""
        files = [Path(file) for file in self.files]
        return harness(self.found, surroundings(files, "main", self._settings.source), Path())

    def as_json(self) -> dict[str, Any]:
        """The fields that ``loopless verify --format json`` gives."""
        return verdict_json(self.found)

    def __bool__(self) -> bool:
        return self.found.verdict == "true"

    def __str__(self) -> str:
        return verdict_text(self.found)

    def _brief(self) -> str:
        return f"{self.found.property.value}: {self.found.words}"

    def _repr_html_(self) -> str:
        heading, *lines = str(self).splitlines()
        told = [html.note("why", [line.strip() for line in lines])] if lines else []
        return html.box([html.heading(self.found.words, heading.partition(": ")[2]), *told])

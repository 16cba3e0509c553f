"""The result of a call, as people hold it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from loopless.interface.shown import Shown
from loopless.queries.evaluation.evaluate import Evaluation as EvaluationValue
from loopless.report import html_programs
from loopless.report.evaluation import evaluation_json, evaluation_text


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation(Shown):
    """The outcome of one call of a function; ``print`` shows it as ``loopless eval`` does."""

    found: EvaluationValue
    """All that was found out."""

    @property
    def status(self) -> str:
        """How the call ends: "ok", "diverges", "undefined", "aborted", "assumption-failed", "error-reached", or
        "unknown".
        """
        return self.found.status

    @property
    def value(self) -> int | None:
        """The integer that the call returns; None where it returns none, or does not return."""
        return self.found.return_value

    @property
    def outputs(self) -> tuple[tuple[int, ...], ...]:
        """What each pointer parameter points to afterwards."""
        return self.found.outputs

    @property
    def globals(self) -> Mapping[str, int]:
        """The values of the program's scalar globals afterwards."""
        return MappingProxyType(dict(self.found.globals))

    @property
    def iterations(self) -> Mapping[str, int]:
        """The taken back edges by the loop's name, over all its entries; loops of which that is not known are left
        out.
        """
        return MappingProxyType(dict(self.found.iterations))

    @property
    def by(self) -> str:
        """How it was found: "summary" where no loop was iterated, else "interpretation"."""
        return self.found.by

    @property
    def reason(self) -> str:
        """Why the call does not end in the ordinary way, or is not known."""
        return self.found.reason

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is taken for granted, one sentence each."""
        return self.found.assumptions

    def to_dict(self) -> dict[str, Any]:
        """The fields of the JSON of ``loopless eval``."""
        return evaluation_json(self.found)

    def __str__(self) -> str:
        return evaluation_text(self.found)

    def _brief(self) -> str:
        return f"call: {str(self).splitlines()[0]}, by {self.by}"

    def _repr_html_(self) -> str:
        return html_programs.evaluation(self.found)

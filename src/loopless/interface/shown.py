"""Refusals as answers, which show themselves."""

from __future__ import annotations

from typing import Any

from loopless.queries.loops.answer import LoopAnswer
from loopless.queries.shown import Shown
from loopless.refusals import Refused
from loopless.report import html
from loopless.report.json_report import refused_json
from loopless.report.text import summaries
from loopless.report.text import why as why_lines


class Refusal(Refused, Shown):
    """A :class:`loopless.Refused` given as an answer: it equals one, and shows itself as the command line does.

    ``reason``, ``where`` and ``detail`` are those of :class:`loopless.Refused`.
    """

    __slots__ = ("_page", "_text")
    _text: str
    _page: str

    def __init__(self, refused: Refused, text: str = "", page: str = "") -> None:
        """``text`` and ``page`` (HTML): all that is shown, where there is more to show than the refusal."""
        super().__init__(refused.reason, refused.where, refused.detail)
        object.__setattr__(self, "_text", text)
        object.__setattr__(self, "_page", page)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Refused):
            return NotImplemented
        return (self.reason, self.where, self.detail) == (other.reason, other.where, other.detail)

    def __hash__(self) -> int:
        return hash((self.reason, self.where, self.detail))

    def __reduce__(self) -> tuple[Any, ...]:
        return Refusal, (Refused(self.reason, self.where, self.detail), self._text, self._page)

    def to_dict(self) -> dict[str, Any]:
        """The fields of ``refused`` in the JSON of the command line."""
        return refused_json(self)

    def _brief(self) -> str:
        return f"refused: {self.reason.code} {self.reason.label} at {self.where}"

    def _repr_html_(self) -> str:
        words = self._brief().removeprefix("refused: ")
        return self._page or html.box([html.heading("refused", words), html.refusal(self)])

    def __repr__(self) -> str:
        return f"<{self._brief()}>"

    def __str__(self) -> str:
        return self._text or "\n".join(line.strip() for line in why_lines(self))


def refusal_of(answer: LoopAnswer) -> Refusal:
    """Why a loop has no answer, in the words of the command line."""
    refused = answer.refused or answer.untyped
    assert refused is not None
    return Refusal(refused, summaries([answer]), html.loop_summary(answer))

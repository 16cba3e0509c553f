"""What the refusals mean, read from their pages: ``docs/refusals.md``, which is shipped with the package."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Final

from loopless.errors import UsageError
from loopless.records import dataclass
from loopless.refusals import Reason

_PLACES: Final = (
    Path(__file__).with_name("refusals.md"),
    Path(__file__).resolve().parents[3] / "docs" / "refusals.md",
)
"""Where an installed package has the page, and where a working copy has it."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The page of one reason: what it means, a small example (empty where no program alone shows it), and the ways out.

    ``language`` is that of the example: "c", "cpp" or "llvm".
    """

    reason: Reason
    meaning: str
    example: str
    what_to_do: str
    language: str = "c"


@functools.cache
def explanations() -> dict[Reason, Explanation]:
    """The pages of all reasons that have one."""
    page = next((place.read_text(encoding="utf-8") for place in _PLACES if place.is_file()), "")
    by_code = {reason.code: reason for reason in Reason}
    found: dict[Reason, Explanation] = {}
    for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        reason = by_code.get(section.split(maxsplit=1)[0])
        if reason is None:
            continue
        example = re.search(r"^```(\w+)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        language, code = example.groups() if example else ("c", "")
        found[reason] = Explanation(reason, _part(section, "Meaning"), code, _part(section, "What to do"), language)
    return found


def _part(section: str, title: str) -> str:
    """The paragraphs after ``**title.**`` as plain text."""
    match = re.search(rf"^\*\*{title}\.\*\*\s*(.*?)(?=^```|^\*\*|\Z)", section, re.MULTILINE | re.DOTALL)
    if match is None:
        return ""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", match[1])
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in plain.strip().split("\n\n"))


def explain(code: str) -> Explanation:
    """The page of a reason, by its code (``L204``) or name. Raises ``UsageError`` for an unknown one."""
    for reason in Reason:
        if code.upper() == reason.code or code.lower() == reason.label:
            return explanations().get(reason) or Explanation(reason, reason.label.replace("-", " "), "", "")
    known = ", ".join(f"{reason.code} {reason.label}" for reason in Reason)
    raise UsageError(f"there is no refusal {code}; there are {known}")


def way_out(reason: Reason) -> str:
    """The first advice for a reason, one sentence; empty where there is none."""
    page = explanations().get(reason)
    if page is None or not page.what_to_do:
        return ""
    return _first_sentence(page.what_to_do)


def explanation_list() -> str:
    """All refusals, one line each: the code, the name, and the first sentence of what it means."""
    widest = max(len(reason.label) for reason in explanations())
    return "\n".join(
        f"{reason.code}  {reason.label:{widest}}  {_first_sentence(page.meaning)}"
        for reason, page in explanations().items()
    )


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.)])\s+(?=[A-Z])", text)[0]


def explanation_text(page: Explanation) -> str:
    """The page of a refusal."""
    parts = [f"{page.reason.code} {page.reason.label}: {page.meaning}"]
    if page.example:
        parts.append("For example:\n\n" + "\n".join(f"    {line}" for line in page.example.rstrip().splitlines()))
    if page.what_to_do:
        parts.append(f"What to do: {page.what_to_do}")
    return "\n\n".join(parts)

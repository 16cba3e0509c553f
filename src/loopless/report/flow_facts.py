"""Bounds for tools that compute worst-case execution times: pragmas, OTAWA's FFX, annotations for aiT.

The formats are those of TACLeBench (``_Pragma( "loopbound min 0 max 16" )``, executions of the body in an entry), of
OTAWA's documentation of FFX (``maxcount`` in an entry, ``totalcount`` in a run), and of aiT's comments in the source
(``ai: loop here min 0 max 16 end;``, executions in an entry, the last, incomplete one included).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import quoteattr

from loopless.records import dataclass

FORMATS: Final = ("pragma", "ffx", "ais")


@dataclass(frozen=True, slots=True)
class FlowFact:
    """A loop and numbers for it: iterations (taken back edges) of any entry, at least and at most, and of a run.

    ``from_header``: the loop is left from its header only, so that its body runs no more often than there are
    iterations. ``most`` and ``total`` are None where they are not known.
    """

    file: str
    line: int
    least: int
    most: int | None
    total: int | None
    exact: bool
    from_header: bool

    @property
    def bodies(self) -> int | None:
        """How often the body runs in an entry at most, the last, incomplete time included."""
        return None if self.most is None else self.most + (not self.from_header)


def flow_facts(facts: Sequence[FlowFact], form: str) -> str:
    """The facts with a number, in one of :data:`FORMATS`."""
    if form == "ffx":
        return "\n".join(_ffx(_by_line(facts)))
    known = [fact for fact in facts if fact.most is not None]
    return "\n".join(f"{fact.file}:{fact.line}: {_pragma(fact) if form == 'pragma' else _ais(fact)}" for fact in known)


def _by_line(facts: Sequence[FlowFact]) -> list[FlowFact]:
    """One fact for each line, which holds of all loops that begin there: FFX knows them by their lines. None for a line
    with a loop without a number.
    """
    lines: dict[tuple[str, int], list[FlowFact]] = {}
    for fact in facts:
        lines.setdefault((fact.file, fact.line), []).append(fact)
    found = []
    for (file, line), there in lines.items():
        most = [fact.most + (not fact.from_header) for fact in there if fact.most is not None]
        if len(most) < len(there):
            continue
        from_header = all(fact.from_header for fact in there)
        totals = {fact.total for fact in there}
        total = None if None in totals else max(t for t in totals if t is not None)
        exact = len(totals) == 1 and all(fact.exact for fact in there)
        least = min(fact.least for fact in there)
        found.append(FlowFact(file, line, least, max(most) - (not from_header), total, exact, from_header))
    return found


def _pragma(fact: FlowFact) -> str:
    return f'_Pragma( "loopbound min {fact.least} max {fact.bodies}" )'


def _ais(fact: FlowFact) -> str:
    assert fact.most is not None
    return f"/* ai: loop here min {fact.least} max {fact.most + 1} end; */"


def _ffx(facts: Sequence[FlowFact]) -> list[str]:
    lines = ['<?xml version="1.0" encoding="UTF-8" standalone="yes"?>', "<flowfacts>"]
    for fact in facts:
        words = [f"source={quoteattr(fact.file)}", f'line="{fact.line}"', f'maxcount="{fact.bodies}"']
        if fact.total is not None and fact.from_header:
            # Elsewhere each entry may add an incomplete execution, and how many entries there are is not said here.
            words.append(f'totalcount="{fact.total}"')
            words.append(f'exact="{str(fact.exact).lower()}"')
        lines.append(f"  <loop {' '.join(words)}/>")
    return [*lines, "</flowfacts>"]

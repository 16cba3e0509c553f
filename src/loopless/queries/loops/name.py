"""Which loop is meant: its stable name and its place."""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING

from loopless.records import dataclass

if TYPE_CHECKING:
    from loopless.flowgraph.model import LoopInfo
    from loopless.refusals import Refused


@dataclass(frozen=True, slots=True)
class LoopName:
    """Which loop: ``name`` is the stable name, ``parent`` that of the loop around it, ``depth`` 1 for outermost ones.

    ``inlined_from``: the place of the call through which the loop's text came into ``function`` (None: it stands
    there, or in no function that is still defined). ``refused``: what makes it no loop that can be answered, as
    irreducible control flow.
    """

    name: str
    function: str
    file: str
    line: int
    column: int
    parent: str | None = None
    depth: int = 1
    inlined_from: str | None = None
    refused: Refused | None = None
    info: LoopInfo | None = field(default=None, repr=False, compare=False)

    @property
    def place(self) -> str:
        """``file:line:column``."""
        return f"{self.file}:{self.line}:{self.column}"


def own_name(name: str) -> str:
    """The name that a loop has in its own function, of the name of a copy that was inlined into another one."""
    return re.sub(r"@[^@~]*:\d+:\d+", "", name)


def split_place(where: str) -> tuple[str, int, int]:
    """File, line and column of a place; empty where it is none."""
    parts = where.rsplit(":", 2)
    if len(parts) == 3 and parts[1].isdigit() and parts[2].isdigit():
        return parts[0], int(parts[1]), int(parts[2])
    return "", 0, 0

"""Places in the source."""

from __future__ import annotations

from dataclasses import field

from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class Loc:
    """A place in the source. ``line`` 0 means that the compiler made the code up (a join, say).

    ``file`` is spelled as the user spelled it where it is one of the given files. ``function`` is the source function
    that contains the place; for inlined code that is the callee, and ``inlined_at`` is the place of the call.
    ``scopes``: the blocks of the source around the place (see :mod:`loopless.source.scopes`), none where not known;
    ``unoptimized``: whether what stands there is as our clang writes it without optimization.
    """

    file: str
    line: int
    column: int
    function: str = ""
    inlined_at: Loc | None = None
    scopes: tuple[tuple[int, int], ...] = field(default=(), compare=False, repr=False)
    unoptimized: bool = field(default=False, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    @property
    def frames(self) -> tuple[Loc, ...]:
        """The place, and those of the calls by which it was inlined, from the inside out."""
        found = [self]
        while found[-1].inlined_at is not None:
            found.append(found[-1].inlined_at)
        return tuple(found)

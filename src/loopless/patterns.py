"""Regular expressions that are compiled when they are first used.

A command imports some two hundred of them and uses a few. Compiled at import they are a twentieth of its start.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

__all__ = ["pattern"]

if TYPE_CHECKING:
    from re import compile as pattern
else:

    class _Pattern:
        """What stands for ``re.compile(text, flags)`` until a method of it is asked for, and passes its methods on."""

        def __init__(self, text: str | bytes, flags: int) -> None:
            self._text = text
            self._flags = flags

        def __getattr__(self, name: str) -> Any:
            # An attribute that was asked for once is found in the instance from then on, without this function.
            if name.startswith("__"):
                raise AttributeError(name)
            found = getattr(re.compile(self._text, self._flags), name)
            self.__dict__[name] = found
            return found

    def pattern(text: str | bytes, flags: int = 0) -> Any:
        """The regular expression ``text`` as :func:`re.compile` has it, compiled when it is first used."""
        return _Pattern(text, flags)

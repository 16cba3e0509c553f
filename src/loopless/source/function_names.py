"""What functions of a module are called in the source: without what linkers and C++ compilers do to their names."""

from __future__ import annotations

import functools
import re
from typing import Final

from loopless.patterns import pattern

_COPY: Final = pattern(r"(?:\.\d+)+$")
"""Behind the name of a function that is in a module more than once: C and C++ have no dots in names."""
_STANDARD: Final = {
    "t": "std",
    "a": "std::allocator",
    "b": "std::basic_string",
    "s": "std::string",
    "i": "std::istream",
    "o": "std::ostream",
    "d": "std::iostream",
}
_OPERATORS: Final = {
    "nw": " new",
    "na": " new[]",
    "dl": " delete",
    "da": " delete[]",
    "ps": "+",
    "ng": "-",
    "ad": "&",
    "de": "*",
    "co": "~",
    "pl": "+",
    "mi": "-",
    "ml": "*",
    "dv": "/",
    "rm": "%",
    "an": "&",
    "or": "|",
    "eo": "^",
    "aS": "=",
    "pL": "+=",
    "mI": "-=",
    "mL": "*=",
    "dV": "/=",
    "rM": "%=",
    "aN": "&=",
    "oR": "|=",
    "eO": "^=",
    "ls": "<<",
    "rs": ">>",
    "lS": "<<=",
    "rS": ">>=",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "gt": ">",
    "le": "<=",
    "ge": ">=",
    "ss": "<=>",
    "nt": "!",
    "aa": "&&",
    "oo": "||",
    "pp": "++",
    "mm": "--",
    "cm": ",",
    "pm": "->*",
    "pt": "->",
    "cl": "()",
    "ix": "[]",
}


@functools.lru_cache(maxsize=4096)
def in_source(name: str) -> str:
    """The name in the source of the function that a module calls ``name``: ``std::terminate`` of ``_ZSt9terminatev``,
    without parameters and arguments of templates. A name that is not understood stays as it is.
    """
    name = _COPY.sub("", name)
    if not name.startswith("_Z"):
        return name
    reader = _Reader(name.removeprefix("_Z"))
    parts = reader.nested() if reader.took("N") else reader.plain()
    return "::".join(parts) if parts else name


class _Reader:
    """Reads the names of the Itanium C++ ABI (section 5.1) as far as they name a function."""

    def __init__(self, text: str) -> None:
        self.text = text

    def took(self, begin: str) -> bool:
        """Whether the text goes on so; then it is read."""
        if not self.text.startswith(begin):
            return False
        self.text = self.text[len(begin) :]
        return True

    def plain(self) -> list[str]:
        """A name in no scope, or in ``std``."""
        scope = ["std"] if self.took("St") else []
        self.took("L")
        part = self.part(scope)
        return [*scope, part] if part else []

    def nested(self) -> list[str]:
        """The parts of a nested name; none where one is not understood."""
        self.text = self.text.lstrip("rVKRO")
        parts: list[str] = []
        while not self.took("E"):
            if self.took("I"):
                if not self.skipped():
                    return []
                continue
            self.took("L")
            if not parts and self.text[:1] == "S" and self.text[1:2] in _STANDARD:
                parts.append(_STANDARD[self.text[1]])
                self.text = self.text[2:]
                continue
            part = self.part(parts)
            if not part:
                return []
            parts.append(part)
        return parts

    def part(self, before: list[str]) -> str:
        """One part of a name; empty where it is not understood."""
        number = re.match(r"\d+", self.text)
        if number is not None:
            end = number.end() + int(number[0])
            found, self.text = self.text[number.end() : end], self.text[end:]
            return "(anonymous namespace)" if found.startswith("_GLOBAL__N") else found
        code = self.text[:2]
        if before and code[:1] in ("C", "D") and code[1:].isdigit():
            self.text = self.text[2:]
            return f"{'~' * (code[0] == 'D')}{before[-1].removeprefix('std::')}"
        self.text = self.text[2:]
        return f"operator{_OPERATORS[code]}" if code in _OPERATORS else ""

    def skipped(self) -> bool:
        """Whether the arguments of a template could be passed over, up to their end."""
        depth = 1
        while depth and self.text:
            number = re.match(r"\d+", self.text)
            if number is not None:
                self.text = self.text[number.end() + int(number[0]) :]
            elif self.took("S") or self.took("T"):  # what was named before, and parameters of templates
                found = re.match(r"[0-9A-Z]*_|[a-z]", self.text)
                self.text = self.text[found.end() if found is not None else 0 :]
            elif self.took("L"):  # a constant
                end = self.text.find("E")
                if end < 0 or self.text[:2] == "_Z":
                    return False
                self.text = self.text[end + 1 :]
            else:
                depth += {"I": 1, "N": 1, "J": 1, "F": 1, "E": -1}.get(self.text[0], 0)
                self.text = self.text[1:]
        return depth == 0

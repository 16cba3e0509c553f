"""Tokens of LLVM assembly, and a cursor over those of one statement."""

from __future__ import annotations

import re
from collections.abc import Callable

from loopless.patterns import pattern

# Strings hold no raw line break and no raw quote (both are escaped), so that one pattern per token is enough.
_TOKEN = pattern(
    r"""
      [%@$]"[^"]*" | [%@$][-\w.$]+        # names
    | !\d+ | !"[^"]*" | ![A-Za-z_][\w.]*  # metadata
    | c?"[^"]*"                           # strings
    | \#\d+                               # attribute groups
    | -?\d+\.\d*(?:[eE][-+]?\d+)?         # decimal floats
    | 0x\w+ | -?\d+(?![\w.])              # hexadecimal floats, integers
    | \.\.\. | [-+]?[A-Za-z_][\w.]*       # words
    | [^\s]
    """,
    re.VERBOSE,
)
_ESCAPE = pattern(r"\\([0-9A-Fa-f]{2}|\\)")

tokenize: Callable[[str], list[str]] = _TOKEN.findall


class Unread(Exception):
    """The text is not of the form we read; caught where a statement can be set aside as unsupported."""


def unescape_bytes(text: str) -> bytes:
    r"""The bytes of a string's inside: ``\XX`` is a byte in hexadecimal, ``\\`` a backslash."""
    if "\\" not in text:
        return text.encode("utf-8")
    out, at = bytearray(), 0
    for m in _ESCAPE.finditer(text):
        out += text[at : m.start()].encode("utf-8")
        out += b"\\" if m.group(1) == "\\" else bytes([int(m.group(1), 16)])
        at = m.end()
    out += text[at:].encode("utf-8")
    return bytes(out)


def unescape(text: str) -> str:
    """The inside of a string or quoted name as text."""
    return unescape_bytes(text).decode("utf-8", "replace") if "\\" in text else text


def name_of(token: str) -> str:
    """The bare name in ``%x``, ``@"a b"``, ``$c``, ``!"s"``."""
    return unescape(token[2:-1]) if token[1:2] == '"' else token[1:]


class Cursor:
    """A position in a list of tokens; ``peek`` past the end gives the empty string."""

    __slots__ = ("at", "tokens")

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0
        tokens.append("")

    def peek(self) -> str:
        return self.tokens[self.at]

    def next(self) -> str:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def accept(self, token: str) -> bool:
        """Step over ``token`` if it stands here."""
        if self.tokens[self.at] == token:
            self.at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        """Step over ``token``; raises :class:`Unread` if another stands here."""
        if self.tokens[self.at] != token:
            raise Unread(f"expected {token!r}, found {self.tokens[self.at]!r}")
        self.at += 1

    def done(self) -> bool:
        return self.tokens[self.at] == ""

    def balanced(self) -> str:
        """Step over a parenthesis and all up to its partner; its text, tokens joined without spaces around brackets."""
        start = self.at
        self.expect("(")
        depth = 1
        while depth:
            token = self.next()
            if token == "":
                raise Unread("unbalanced parenthesis")
            depth += (token == "(") - (token == ")")
        return join(self.tokens[start : self.at])


_TIGHT = pattern(r" ?([()\[\],]) ?")


def join(tokens: list[str]) -> str:
    """Tokens as readable text."""
    return _TIGHT.sub(r"\1", " ".join(tokens)).replace(",", ", ")

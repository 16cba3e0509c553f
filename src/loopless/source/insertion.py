"""Statements put into C text before a line, so that all else keeps its meaning and its line.

What follows ``if (…)``, ``else`` or a loop's head without braces is one statement: there the new one and the old one
get braces around both. A place that is no beginning of a statement makes text that does not compile.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from loopless.errors import UsageError
from loopless.patterns import pattern

_TOKEN: Final = pattern(
    rb"(?P<comment>/\*.*?\*/|//(?:[^\n\\]|\\.)*)|(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|(?P<word>[A-Za-z_]\w*)"
    rb"|(?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*)|(?P<sign>[^\sA-Za-z_])",
    re.DOTALL | re.MULTILINE,
)
_SKIPPED: Final = ("comment", "directive")
_HEADS: Final = (b")", b"else", b"do")
_NOT_SIMPLE: Final = frozenset(
    (b"if", b"for", b"while", b"do", b"switch", b"case", b"default", b"else", b"{", b"}", b";", b"#")
)
_JUMPS: Final = frozenset((b"return", b"goto", b"break", b"continue"))


class _Token(NamedTuple):
    text: bytes
    start: int
    end: int
    kind: str | None

    @property
    def word(self) -> bool:
        return self.kind == "word"


def inserted(text: bytes, number: int, statement: bytes, named: str) -> bytes:
    """The text with a statement before what begins in line ``number`` (from 1), which must be there.

    Raises:
        UsageError: what stands there would be another statement's body; ``named`` is the place in the message.
    """
    start = sum(len(line) + 1 for line in text.split(b"\n")[: number - 1])
    before: _Token | None = None
    behind: list[_Token] = []
    for token in _tokens(text):
        if token.start < start < token.end:
            raise UsageError(f"{named} begins inside a comment, a string or a macro, so nothing can be asked before it")
        if token.kind in _SKIPPED:
            continue
        if token.end <= start:
            before = token
        else:
            behind.append(token)
            if token.text == b";" and not _open(behind):
                break
    if before is None or before.text not in _HEADS:
        return text[:start] + statement + b" " + text[start:]
    first, second = (*behind, *(_Token(b"", 0, 0, None),) * 2)[:2]
    labelled = second.text == b":"
    declares = first.word and second.word and first.text not in _JUMPS
    if not behind or behind[-1].text != b";" or first.text in _NOT_SIMPLE or labelled or declares:
        raise UsageError(
            f"{named} is the body of another statement without braces, and no simple statement: put braces around it, "
            "or ask at a line inside"
        )
    end = behind[-1].end
    return text[:start] + b"{ " + statement + b" " + text[start:end] + b" }" + text[end:]


def _tokens(text: bytes) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        yield _Token(match[0], match.start(), match.end(), match.lastgroup)


def _open(tokens: list[_Token]) -> bool:
    """Whether a bracket is open behind the tokens."""
    opened = sum(token.text in (b"(", b"[", b"{") for token in tokens)
    return opened > sum(token.text in (b")", b"]", b"}") for token in tokens)

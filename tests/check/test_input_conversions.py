"""Formats of scanf: for random inputs, what the bodies store, return and leave is what the C library does.

A model of scanf in Python says what a body draws for given bytes; the program with the body draws that, the program
with the library reads the bytes. Where the bodies draw whatever they like, bytes that are laid out say the same.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

import pytest

from loopless.check.oracle.native import NativeOracle, NativeRun
from loopless.check.oracle.standard_input import laid_out
from loopless.source.compile import SourceOptions, compile_ir
from loopless.source.standard_input import followed

_HEAD = """
#include <stdio.h>
static unsigned h;
static void see(long long value) { h = h * 31 + (unsigned)value + 7u * (unsigned)(value >> 32); }
static void see_text(const char *text, int length) { for (int i = 0; i < length; i++) see(text[i]); }
"""
PIECES = {
    "%d": "int", "%5d": "int", "%1d": "int", "%3d": "int", "%*d": "", "%*2d": "", "%u": "unsigned", "%2u": "unsigned",
    "%ld": "long", "%hd": "short", "%hhd": "signed char", "%llu": "unsigned long long", "%zu": "unsigned long",
    "%x": "unsigned", "%3x": "unsigned", "%lx": "unsigned long", "%i": "int", "%4i": "int", "%c": "char 1", "%3c": "char 3",
    "%*c": "", "%s": "text", "%2s": "text", "%*s": "", "%[a-z]": "text", "%[^\\n]": "text", "%3[0-9]": "text",
    "%*[^,]": "", "%[]x-]": "text", "%%": "", ",": "", "x=": "", " ": "", "\\n": "", ":": "",
}  # fmt: skip
_ALPHABET = [
    b"1",
    b"9",
    b"0",
    b"-",
    b"+",
    b" ",
    b"\n",
    b"x",
    b"a",
    b",",
    b"=",
    b"%",
    b"]",
    b"\0",
    b"0x",
    b":",
    b"12345",
]
_ALPHABET += [b"99999999999", b"-9223372036854775809", b"18446744073709551616", b"\t", b"\xff", b"4294967296", b"-128"]


def _formats(draw: random.Random, pieces: Sequence[str], count: int) -> list[str]:
    return ["".join(draw.choice(pieces) for _ in range(draw.randint(1, 4))) for _ in range(count)]


def _split(text: str) -> list[str]:
    return re.findall(r"%\*?\d*(?:\[\^?\]?[^\]]*\]|(?:hh|h|ll|l|z)?[a-z%])|\\n|.", text)


def _function(number: int, text: str, after: str) -> str:
    """A function that reads by the format twice, then by single bytes until the end."""
    places, seen = [], []
    lines = [f"int f{number}(void) {{", "  h = 7;", "  for (int k = 0; k < 2; k++) {"]
    for at, piece in enumerate(_split(text)):
        type_ = PIECES.get(piece, "")
        if type_.startswith("char "):
            lines.append(f"    char v{at}[3] = {{9, 9, 9}};")
            seen.append(f"see_text(v{at}, 3);")
        elif type_ == "text":
            lines.append(f"    char v{at}[200] = {{9}};")
            seen.append(f"see_text(v{at}, 200);")
        elif type_:
            lines.append(f"    {type_} v{at} = 99;")
            seen.append(f"see((long long)v{at});")
        if type_:
            places.append(f", {'' if type_.startswith('char ') or type_ == 'text' else '&'}v{at}")
    lines += [f'    see(scanf("{text}"{"".join(places)}));', *seen, after, "  }"]
    lines += ["  for (int c; (c = getchar()) != EOF;) see(c);", "  return (int)(h >> 1);", "}"]
    return "\n".join(lines)


class _Model:
    """Reading as the bodies do it: ``draws`` are what they draw."""

    def __init__(self, data: bytes, *, known: bool) -> None:
        self.data, self.at, self.keeps = data, 0, known
        self.draws: list[int] = []
        self.back: int | None = None
        self.behind: int | None = None
        self.ended = self.apart = self.looked = self.cleared = False

    def byte(self) -> int:
        self.looked = False
        if self.back is not None:
            value, self.back, self.behind = self.back, self.behind, None
            return value
        self.cleared = False
        if self.ended:
            return -1
        if self.apart:
            self._skip_spaces()
        self.apart = False
        value = self.data[self.at] if self.at < len(self.data) else -1
        self.at += 1
        self.draws.append(value)
        self.ended = value < 0
        return value

    def _skip_spaces(self) -> None:
        while self.at < len(self.data) and self.data[self.at : self.at + 1].isspace():
            self.at += 1

    def skip(self) -> None:
        self.looked = True
        while self.back is not None:
            if not bytes([self.back]).isspace():
                return
            self.back, self.behind = self.behind, None
        self.cleared = False
        self.apart = not self.ended

    def finished(self) -> bool:
        """``feof``: behind a conversion the next byte was looked at."""
        if self.looked and not self.ended and self.back is None:
            value = self.byte()
            self.back = value if value >= 0 else None
        return self.ended and not self.cleared and self.back is None

    def unget(self, value: int) -> None:
        self.back, self.behind, self.cleared = value, self.back, True

    def number(self, letter: str, width: int, type_: str) -> int:
        self.skip()
        pattern = {"d": rb"[0-9]+", "u": rb"[0-9]+", "x": rb"0[xX][0-9a-fA-F]*|[0-9a-fA-F]+"}.get(
            letter, rb"0[xX][0-9a-fA-F]*|0[0-7]*|[1-9][0-9]*"
        )
        if self.back is not None:
            found = self._spelled(letter, width, type_)
            self.looked = True
            return found
        if self.ended:
            return -1
        self._skip_spaces()
        self.apart = False
        rest = self.data[self.at : self.at + width] if width else self.data[self.at :]
        if not rest:
            self.ended = True
            self.draws.append(-1)
            return -1
        found = re.match(rb"([-+]?)(" + pattern + b")", rest)
        if found is None:
            self.at += rest[:1] in (b"-", b"+")
            value = self.data[self.at] if self.at < len(self.data) else -1
            self.draws += [0, value]
            if self.keeps or not (value >= 0 and chr(value) in "+-0123456789"):
                self.at += 1
                self.back, self.ended = (value, False) if value >= 0 else (None, True)
            return 0
        self.at += found.end()
        self.draws += [1, _value(found[1], found[2], letter, type_)]
        return 1

    def _spelled(self, letter: str, width: int, type_: str) -> int:
        """A number whose first byte is known: byte by byte if it is decimal, else it is lost."""
        assert self.back is not None
        if not (chr(self.back) in "+-0123456789" or (letter == "x" and chr(self.back) in "abcdefABCDEF")):
            return 0
        if letter not in "du":
            known = bytes([self.back]) + (b"" if self.behind is None else bytes([self.behind]))
            inner = _Model(known + self.data[self.at :], known=True)
            found = inner.number(letter, width, type_)
            self.draws.append(found)
            if found:
                self.draws.append(inner.draws[-1])
            self.at += inner.at - (inner.back is not None or inner.ended) - len(known)  # what is left is drawn again
            self.back = self.behind = None
            self.ended = False
            return found
        digits, sign = b"", b""
        value = self.byte()
        left = width or -1
        if value in (43, 45):
            sign = bytes([value])
            left -= 1
            if left == 0:
                return 0
            value = self.byte()
        while value >= 0 and chr(value) in "0123456789":
            digits += bytes([value])
            left -= 1
            if left == 0:
                break
            value = self.byte()
        else:
            self.back = value if value >= 0 else None
        if not digits:
            return 0
        bits = {"int": 32, "unsigned": 32, "short": 16, "signed char": 8}.get(type_, 64)
        most = (1 << (bits - (letter == "d"))) - 1 + (letter == "d" and sign == b"-")
        if int(digits) > most:
            self.draws.append(_value(sign, digits, letter, type_))
        return 1

    def text(self, belongs: re.Pattern[bytes], width: int) -> int:
        value = self.byte()
        if value < 0:
            return -1
        if not belongs.match(bytes([value])):
            self.back = value
            return 0
        count = 1
        while count != width and (value := self.byte()) >= 0:
            if not belongs.match(bytes([value])):
                self.back = value
                break
            count += 1
        return 1

    def directive(self, piece: str) -> int:
        """1 where it goes on, 0 where it does not, -1 at the end."""
        if piece in (" ", "\\n"):
            self.skip()
            return 1
        if not piece.startswith("%") or piece == "%%":
            if piece == "%%":
                self.skip()
            value = self.byte()
            if value >= 0 and value != ord(piece[-1]):
                self.back = value
                return 0
            return -1 if value < 0 else 1
        told = re.match(r"%\*?(\d*)(hh|h|ll|l|z|)(.*)", piece)
        assert told is not None
        width = int(told[1] or 0)
        if told[3][0] == "c":
            if self.byte() < 0:
                return -1
            for _ in range(1, width):
                if self.byte() < 0:
                    break
            return 1
        if told[3][0] == "s":
            self.skip()
            return self.text(re.compile(rb"[^ \t-\r]", re.DOTALL), width)
        if told[3][0] == "[":
            return self.text(re.compile(told[3].replace("[]x-]", r"[\]x\-]").encode(), re.DOTALL), width)
        return self.number(told[3], width, PIECES.get(piece) or "int")

    def scan(self, text: str) -> None:
        for piece in _split(text):
            for one in [piece] if piece[0] in "%\\" else piece:
                if self.directive(one) < 1:
                    return


def _value(sign: bytes, digits: bytes, letter: str, type_: str) -> int:
    """What glibc stores: a number of 64 bits that is as near as it gets, cut to the type."""
    plain = digits.lower()
    base = {"d": 10, "u": 10, "x": 16}.get(letter, 16 if plain[:2] == b"0x" else 8 if plain[:1] == b"0" else 10)
    plain = plain.removeprefix(b"0x") if base == 16 else plain
    value = int(plain or b"0", base) * (-1 if sign == b"-" else 1)
    if letter in "di":
        value = max(-(1 << 63), min((1 << 63) - 1, value))
    elif abs(value) >= 1 << 64:
        value = (1 << 64) - 1
    bits = {"int": 32, "unsigned": 32, "short": 16, "signed char": 8}.get(type_, 64)
    value %= 1 << bits
    return value - (1 << bits) if value >> 63 or (letter in "di" and value >> (bits - 1)) else value


def _inputs(draw: random.Random, count: int) -> Iterator[bytes]:
    yield from (b"", b"\n", b"-", b"+", b" ", b"1", b"12\n", b" 7 ", b"a", b"-x", b"\0")
    for _ in range(count):
        yield b"".join(draw.choice(_ALPHABET) for _ in range(draw.randint(1, 9)))


_NO_KNOWN = [piece for piece in PIECES if piece[0] in "% \\" and not re.search(r"[xi%\[]", piece[1:])]


@pytest.mark.parametrize(("seed", "pieces"), [(1, "all"), (2, "all"), (3, "plain")])
@pytest.mark.slow
def test_formats_do_what_the_library_does(seed: int, pieces: str) -> None:
    draw = random.Random(seed)
    formats = _formats(draw, list(PIECES) if pieces == "all" else _NO_KNOWN, 10)
    if pieces == "all":
        formats[:6] = ["%d,%d", "%[a-z]%d", "%*[^,]%3d", "x=%i", "%x%d", "%5d%c"]
    text = _HEAD + "\n".join(_function(n, one, "") for n, one in enumerate(formats))
    given = followed(compile_ir(text, SourceOptions()), SourceOptions())
    assert not given.unfollowed
    inputs = list(_inputs(draw, 14))
    seen = set()
    with (
        NativeOracle(text, options=SourceOptions()) as library,
        NativeOracle(text, options=SourceOptions(reads_stdin=True)) as bodies,
    ):
        for number, one in enumerate(formats):
            expected = library.run_many(f"f{number}", [NativeRun(stdin=read) for read in inputs])
            runs = [NativeRun(nondet=_drawn(read, one, known=pieces == "all")) for read in inputs]
            found = bodies._run_many(f"f{number}", runs, isolated=False, signature=None)
            for read, run, library_s, ours in zip(inputs, runs, expected, found, strict=True):
                assert library_s.status == "ok", (one, read, library_s)
                seen.add(library_s.return_value)
                assert (ours.status, ours.return_value) == ("ok", library_s.return_value), (one, read, run.nondet, ours)
    assert len(seen) > 60


def _drawn(data: bytes, text: str, *, known: bool) -> list[int]:
    model = _Model(data, known=known)
    for _ in range(2):
        model.scan(text)
    while model.byte() >= 0:
        pass
    return model.draws


_ASKED = """
    see(!!feof(stdin)); see(!!ferror(stdin));
    int c = getchar();
    see(c);
    if (c == '1' || c == ' ') see(ungetc(c, stdin));
    see(!!feof(stdin));
"""


def _asked(data: bytes, text: str) -> list[int]:
    model = _Model(data, known=True)
    for _ in range(2):
        model.scan(text)
        model.finished()
        value = model.byte()
        if value in (49, 32):
            model.unget(value)
        model.finished()
    while model.byte() >= 0:
        pass
    return model.draws


@pytest.mark.slow
@pytest.mark.parametrize("seed", [11, 12])
def test_the_end_and_what_is_put_back_are_those_of_the_library(seed: int) -> None:
    draw = random.Random(seed)
    formats = ["%d", "%3d", "%x", " ", "%s", *_formats(draw, list(PIECES), 5)]
    text = _HEAD + "\n".join(_function(n, one, _ASKED) for n, one in enumerate(formats))
    assert not followed(compile_ir(text, SourceOptions()), SourceOptions()).unfollowed
    inputs = list(_inputs(draw, 14))
    with (
        NativeOracle(text, options=SourceOptions()) as library,
        NativeOracle(text, options=SourceOptions(reads_stdin=True)) as bodies,
    ):
        for number, one in enumerate(formats):
            expected = library.run_many(f"f{number}", [NativeRun(stdin=read) for read in inputs])
            runs = [NativeRun(nondet=_asked(read, one)) for read in inputs]
            found = bodies._run_many(f"f{number}", runs, isolated=False, signature=None)
            for read, run, wanted, ours in zip(inputs, runs, expected, found, strict=True):
                assert (ours.status, ours.return_value) == ("ok", wanted.return_value), (one, read, run.nondet, ours)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_bytes_that_are_laid_out_are_converted_again(seed: int) -> None:
    """Whatever the bodies draw: the bytes that it becomes make the library do the same."""
    draw = random.Random(seed)
    formats = ["%d,%d", "%5d%c", "%3d%3d", "%x%c", "%u %3x", "%[a-z]%d", *_formats(draw, list(PIECES), 4)]
    text = _HEAD + "\n".join(_function(n, one, "") for n, one in enumerate(formats))
    values = [-1, 0, 1, 1, 1, 1, 5, 12, 44, 48, 57, 97, 120, 32, 10, 45, -3, 100, 255]
    with (
        NativeOracle(text, options=SourceOptions()) as library,
        NativeOracle(text, options=SourceOptions(reads_stdin=True)) as bodies,
    ):
        compared = 0
        for number in range(len(formats)):
            draws = [[*(draw.choice(values) for _ in range(draw.randint(1, 12))), *[-1] * 9] for _ in range(40)]
            drawn = bodies._run_many(
                f"f{number}", [NativeRun(nondet=one) for one in draws], isolated=False, signature=None
            )
            kept = [(one, laid_out(one.drawn)) for one in drawn if one.status == "ok" and one.drawn]
            sure = [(one, read.stdin) for one, read in kept if read is not None and read.same]
            again = library.run_many(f"f{number}", [NativeRun(stdin=read) for _, read in sure])
            for (one, read), other in zip(sure, again, strict=True):
                assert one.return_value == other.return_value, (formats[number], read, one.drawn)
            compared += len(sure)
    assert compared > 100

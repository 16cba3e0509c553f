"""Assumptions on the values at a loop's entry, as ``--assume`` takes them: C conditions over source names.

    condition  ::=  an expression of C with the operators  || && | ^ & == != < <= > >= << >> + - * / % ! ~ (type)
                    over integer and character constants and names, with C's precedence and parentheses

It means what C means by it, for the types of the variables and the sizes of types of the program: constants have the
types that their values, bases and suffixes give them, operands are promoted and converted to a common type (so that
``i < n`` compares as unsigned where ``n`` is), unsigned arithmetic wraps around. Where evaluating it would be undefined
(a signed sum that overflows, a divisor that is 0), the assumption is false; what ``&&`` and ``||`` do not evaluate does
not count. What is undefined for all values is an error, and so is a chain ``0 <= x < n``, which C takes for a
comparison with 0 or 1. Under mathematical integers signed types are all integers: nothing overflows, and what C
converts to unsigned is converted. Names are those of the source, member and element accesses (``s.count``, ``a[3]``,
``*p``) included where the loop shows them as variables; a pointer stands for its byte offset.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from loopless import terms as t
from loopless.errors import UsageError
from loopless.patterns import pattern
from loopless.queries.assume.c_arithmetic import Arithmetic, CValue, IntegerKind, Reading, UndefinedValue
from loopless.records import dataclass

_TOKEN: Final = pattern(
    r"\s*(?:(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlL]*)(?![\w.])"
    r"|([A-Za-z_]\w*(?:\s*(?:\.|->)\s*[A-Za-z_]\w*|\s*\[\s*\d+\s*\])*)"
    r"|('(?:[^'\\]|\\[0-7]{1,3}|\\x[0-9a-fA-F]+|\\.)')"
    r"|(\|\||&&|<<|>>|<=|>=|==|!=|[-+*/%()<>!~&|^])|(\S))"
)
_PRECEDENCE: Final = {
    sign: level
    for level, signs in enumerate(("||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / %"))
    for sign in signs.split()
}
_COMPARING: Final = (_PRECEDENCE["=="], _PRECEDENCE["<"])
_UNARY: Final = ("-", "+", "~", "!")
_ESCAPES: Final = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63}
_SUFFIX: Final = pattern(r"[uU]?(?:l|L|ll|LL)?|(?:l|L|ll|LL)[uU]")
_KEYWORDS: Final = frozenset(("char", "short", "int", "long", "signed", "unsigned", "_Bool", "bool"))
_NAMED_TYPE: Final = pattern(r"(u?)int(8|16|32|64)_t")
_LIMITS: Final = {
    "INT_MAX": (32, True, (1 << 31) - 1),
    "INT_MIN": (32, True, -(1 << 31)),
    "UINT_MAX": (32, False, (1 << 32) - 1),
    "INT64_MAX": (64, True, (1 << 63) - 1),
    "INT64_MIN": (64, True, -(1 << 63)),
    "UINT64_MAX": (64, False, (1 << 64) - 1),
}
"""The ends of types that answers speak of: how many bits they have, whether they are signed, and the number."""
_POWER: Final = pattern(r"(?<![\w.)\]])2\^(\d+)(?![\w.])")
"""What answers write for a power of two, and C reads as an exclusive or."""
_MAX_CHARACTER: Final = 127
"""Whether characters beyond are negative, machines do not agree."""

Named = tuple[t.Term, IntegerKind]
"""A variable's value at the loop's entry, and its type."""
Lookup = Callable[[str], Named]
"""From a name in the source to what it means."""


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int
    suffix: str = ""


def _tokens(text: str) -> list[_Token]:
    power = _POWER.search(text)
    if power is not None:
        meant = 1 << min(int(power[1]), 64)
        raise _wrong(text, power.start(), f"{power[0]!r} is an exclusive or in C; the power of two is {meant}")
    found: list[_Token] = []
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        assert match is not None
        number, suffix, name, character, sign, other = match.groups()
        start = match.end() - len(match[0].lstrip())
        if number is not None:
            if _SUFFIX.fullmatch(suffix) is None:
                raise _wrong(text, start, f"{number + suffix!r} has no suffix of C")
            found.append(_Token("number", number, start, suffix.lower()))
        elif name is not None:
            found.append(_Token("name", re.sub(r"\s+", "", name) if re.search(r"[.\[>]", name) else name, start))
        elif character is not None:
            value = _character(character[1:-1])
            if value is None:
                raise _wrong(text, start, f"{character} is no character that is known here; write its number")
            found.append(_Token("number", str(value), start))
        elif sign is not None:
            found.append(_Token("sign", sign, start))
        else:
            raise _wrong(text, start, f"{other!r} is not expected")
        position = match.end()
    return [*found, _Token("end", "", len(text))]


def _character(body: str) -> int | None:
    """The number of a character, None where it is not the same on all machines."""
    if len(body) == 1:
        value = ord(body)
    elif body[1] == "x":
        value = int(f"0{body[1:]}", 0)
    elif body[1:].isdigit():
        value = int(body[1:], 8) if set(body[1:]) <= set("01234567") else -1
    else:
        value = _ESCAPES.get(body[1], -1)
    return value if 0 <= value <= _MAX_CHARACTER else None


def _wrong(text: str, at: int, what: str) -> UsageError:
    return UsageError(f"cannot read the condition {text!r}: at column {at + 1} {what}")


class _Parser:
    """Recursive descent by precedences."""

    def __init__(self, text: str, lookup: Lookup, reading: Reading, *, strict: bool = True) -> None:
        """``strict``: what is undefined for all values is an error."""
        self.text = text
        self.lookup = lookup
        self.reading = reading
        self.arithmetic = Arithmetic(reading)
        self.strict = strict
        self.tokens = _tokens(text)
        self.position = 0

    def parse(self) -> t.Condition:
        value = self.operation(0)
        if self.token.kind != "end":
            raise self.unexpected()
        return value.defined & value.truth

    @property
    def token(self) -> _Token:
        return self.tokens[self.position]

    def unexpected(self) -> UsageError:
        shown = repr(self.token.text) if self.token.text else "the end"
        return _wrong(self.text, self.token.at, f"{shown} is not expected")

    def took(self, *signs: str) -> str | None:
        if self.token.kind == "sign" and self.token.text in signs:
            self.position += 1
            return self.tokens[self.position - 1].text
        return None

    def operation(self, least: int) -> CValue:
        """Operators of the precedence ``least`` and above; those of one precedence from left to right."""
        begin = self.position
        value = self.operand()
        compared: dict[int, tuple[int, int]] = {}
        while self.token.kind == "sign" and _PRECEDENCE.get(self.token.text, -1) >= least:
            level, at = _PRECEDENCE[self.token.text], self.position
            if level in compared:
                raise self.chained(begin, *compared[level], at)
            self.position += 1
            right = self.operation(level + 1)
            value = self.binary(at, value, right)
            if level in _COMPARING:
                compared[level] = at, self.position
        return value

    def binary(self, at: int, left: CValue, right: CValue) -> CValue:
        """The value of the operator at a token. Raises ``UsageError`` for what is undefined for all values."""
        try:
            return self.arithmetic.binary(self.tokens[at].text, left, right)
        except UndefinedValue as error:
            self.reject(at, error)
            return left

    def unary(self, at: int, operand: CValue) -> CValue:
        """The same for an operator with one operand."""
        try:
            return self.arithmetic.unary(self.tokens[at].text, operand)
        except UndefinedValue as error:
            self.reject(at, error)
            return operand

    def reject(self, at: int, error: UndefinedValue) -> None:
        """Raises ``UsageError`` for a value that is always undefined, unless the condition is only looked through."""
        if self.strict:
            raise _wrong(self.text, self.tokens[at].at, str(error)) from None

    def chained(self, begin: int, first: int, end: int, second: int) -> UsageError:
        """Why a second comparison in a row is an error, and how it is written."""
        middle = self.between(first + 1, end)
        self.position = second + 1
        after = self.position
        self.operation(_PRECEDENCE[self.tokens[second].text] + 1)
        left = f"{self.between(begin, first)} {self.tokens[first].text} {middle}"
        right = f"{middle} {self.tokens[second].text} {self.between(after, self.position)}"
        what = f"{self.tokens[second].text!r} compares the 0 or 1 of the comparison before it; write {left} && {right}"
        return _wrong(self.text, self.tokens[second].at, what)

    def between(self, start: int, end: int) -> str:
        """The text of the tokens from ``start`` to before ``end``."""
        return self.text[self.tokens[start].at : self.tokens[end].at].strip()

    def operand(self) -> CValue:
        token, at = self.token, self.position
        if self.took(*_UNARY):
            value = self.operand()
            return self.unary(at, value)
        if self.took("*"):
            if self.token.kind != "name":
                raise self.unexpected()
            self.position += 1
            return self.named(f"*{self.tokens[self.position - 1].text}")
        if self.took("("):
            type = self.type()
            if type is not None:
                return self.arithmetic.converted(self.operand(), type)
            value = self.operation(0)
            if not self.took(")"):
                raise self.unexpected()
            return value
        if token.kind not in ("number", "name"):
            raise self.unexpected()
        self.position += 1
        return self.number(token) if token.kind == "number" else self.named(token.text)

    def named(self, name: str) -> CValue:
        if name in _LIMITS:
            bits, signed, value = _LIMITS[name]
            return CValue(self.reading.sized(bits, signed=signed), t.const(value))
        term, type = self.lookup(name)
        return CValue(type, term)

    def type(self) -> IntegerKind | None:
        """The type of a cast and the parenthesis behind it, None where it is none."""
        end = self.position
        while self.tokens[end].kind == "name":
            end += 1
        words = [token.text for token in self.tokens[self.position : end]]
        if not words or self.tokens[end].text != ")":
            return None
        if len(words) == 1 and words[0] not in _KEYWORDS:
            found = self.named_type(words[0]) if self.begins_operand(end + 1) else None
        else:
            found = _type_of_words(words, self.reading)
            if found is None:
                which = "signed or unsigned, which machines do not agree on" if words == ["char"] else "of integers"
                raise _wrong(self.text, self.token.at, f"{' '.join(words)!r} is no type {which}")
        if found is not None:
            self.position = end + 1
        return found

    def begins_operand(self, at: int) -> bool:
        """Whether what stands there can only be an operand: then a name in parentheses before it is a type."""
        token = self.tokens[at]
        return token.kind in ("number", "name") or token.text in ("(", "~", "!", "-", "+", "*")

    def named_type(self, name: str) -> IntegerKind | None:
        """The type that the headers of C call by a name."""
        sized = _NAMED_TYPE.fullmatch(name)
        if sized is not None:
            return self.reading.sized(int(sized[2]), signed=not sized[1])
        signed = {"size_t": False, "uintptr_t": False, "ssize_t": True, "ptrdiff_t": True, "intptr_t": True}
        if name in signed:
            return self.reading.sized(self.reading.pointer_bits, signed=signed[name])
        return None

    def number(self, token: _Token) -> CValue:
        """A constant, of the first of C's types for it that can hold it."""
        octal = len(token.text) > 1 and token.text.isdigit() and token.text[0] == "0"
        try:
            value = int(token.text, 8 if octal else 0)
        except ValueError:
            raise _wrong(self.text, token.at, f"{token.text!r} is no integer") from None
        least = {"": 0, "l": 1, "ll": 2}[token.suffix.replace("u", "")]
        decimal = token.text.isdigit() and not octal
        for bits in (self.reading.int_bits, self.reading.long_bits, 64)[least:]:
            for signed in (True, False):
                unsuited = signed if "u" in token.suffix else (not signed and decimal)
                if not unsuited and t.IntType(bits, signed).holds(value):
                    return CValue(self.reading.sized(bits, signed=signed), t.const(value))
        if decimal and "u" not in token.suffix and self.reading.mathematical:
            return CValue(self.reading.sized(64, signed=True), t.const(value))
        raise _wrong(self.text, token.at, f"{token.text}{token.suffix} is in no type of C")


def _type_of_words(words: Iterable[str], reading: Reading) -> IntegerKind | None:
    """The type that keywords name, in any order; None where they name none."""
    found = sorted(words)
    count = found.count("long")
    sign = [word for word in found if word in ("signed", "unsigned")]
    rest = tuple(word for word in found if word not in ("long", "signed", "unsigned"))
    bits: Mapping[tuple[tuple[str, ...], int], int] = {
        (("char",), 0): 8,
        (("short",), 0): 16,
        (("int", "short"), 0): 16,
        ((), 0): reading.int_bits if sign else 0,
        (("int",), 0): reading.int_bits,
        ((), 1): reading.long_bits,
        (("int",), 1): reading.long_bits,
        ((), 2): 64,
        (("int",), 2): 64,
    }
    if not sign and not count and rest in (("_Bool",), ("bool",)):
        return IntegerKind(1, signed=False)
    width = bits.get((rest, count), 0) if len(sign) <= 1 else 0
    if not width or (rest == ("char",) and not sign):
        return None
    return reading.sized(width, signed=sign != ["unsigned"])


def parse_condition(text: str, lookup: Lookup, reading: Reading | None = None) -> t.Condition:
    """The condition that ``text`` says, with each name replaced by what ``lookup`` gives for it.

    Raises:
        UsageError: the text is no condition, or ``lookup`` raises it for a name.
    """
    try:
        return _Parser(text, lookup, reading or Reading()).parse()
    except t.TermTooLarge:
        raise UsageError(f"the condition {text!r} is too large") from None


def names_in(text: str) -> tuple[str, ...]:
    """The names that a condition speaks of, in their order, each once. Raises ``UsageError`` if it is none."""
    names: dict[str, None] = {}

    def note(name: str) -> Named:
        names[name] = None
        return t.Var(name, t.IntType(32)), IntegerKind(32, signed=True)

    try:
        _Parser(text, note, Reading(), strict=False).parse()
    except t.TermTooLarge:
        raise UsageError(f"the condition {text!r} is too large") from None
    return tuple(names)

"""Assumptions on the values at a loop's entry, as ``--assume`` takes them: C conditions over source names.

    condition  ::=  or-part { "||" or-part }        or-part  ::=  not-part { "&&" not-part }
    not-part   ::=  "!" not-part | sum comparison sum { comparison sum } | "(" condition ")" | sum
    sum, product, factor: + - * / % and parentheses over integer literals and names, as in C

Numbers are integers without bound, ``/`` and ``%`` are C's. A chain ``0 <= x < n`` means ``0 <= x && x < n``, and a
bare sum means that it is not 0. Names are those of the source, member and element accesses (``s.count``, ``a[3]``,
``*p``) included where the loop shows them as variables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from loopless.errors import UsageError
from loopless.terms import (
    INTEGERS,
    Condition,
    Const,
    Term,
    TermTooLarge,
    Var,
    add,
    conjunction,
    const,
    disjunction,
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    mul,
    neg,
    negate,
    not_equal,
    not_zero,
    sub,
    trunc_div,
    trunc_rem,
)

_TOKEN: Final = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlL]*)(?![\w.])"
    r"|([A-Za-z_]\w*(?:\s*(?:\.|->)\s*[A-Za-z_]\w*|\s*\[\s*\d+\s*\])*)"
    r"|('(?:[^'\\]|\\.)')"
    r"|(\|\||&&|<=|>=|==|!=|[-+*/%()<>!])|(\S))"
)
_COMPARISONS: Final[Mapping[str, Callable[[Term, Term], Condition]]] = {
    "<": less,
    "<=": less_equal,
    ">": greater,
    ">=": greater_equal,
    "==": equal,
    "!=": not_equal,
}
_ESCAPES: Final = {"n": 10, "t": 9, "r": 13, "0": 0, "\\": 92, "'": 39, '"': 34}

Lookup = Callable[[str], Term]
"""From a name in the source to its value at the loop's entry."""


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        assert match is not None
        number, _, name, character, sign, other = match.groups()
        start = match.end() - len(match[0].lstrip())
        if number is not None:
            octal = len(number) > 1 and number.isdigit() and number[0] == "0"
            try:
                found.append(_Token("number", str(int(number, 8 if octal else 0)), start))
            except ValueError:
                raise _wrong(text, start, f"{number!r} is no integer") from None
        elif name is not None:
            found.append(_Token("name", re.sub(r"\s+", "", name), start))
        elif character is not None:
            body = character[1:-1]
            value = _ESCAPES.get(body[1]) if len(body) == 2 else ord(body)
            if value is None:
                raise _wrong(text, start, f"{character} is no character that is known here")
            found.append(_Token("number", str(value), start))
        elif sign is not None:
            found.append(_Token("sign", sign, start))
        else:
            raise _wrong(text, start, f"{other!r} is not expected")
        position = match.end()
    return [*found, _Token("end", "", len(text))]


def _wrong(text: str, at: int, what: str) -> UsageError:
    return UsageError(f"cannot read the condition {text!r}: at column {at + 1} {what}")


class _Parser:
    """Recursive descent; a value is a term or a condition."""

    def __init__(self, text: str, lookup: Lookup) -> None:
        self.text = text
        self.lookup = lookup
        self.tokens = _tokens(text)
        self.position = 0

    def parse(self) -> Condition:
        value = self.condition()
        if self.token.kind != "end":
            raise self.unexpected()
        return value

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

    def condition(self) -> Condition:
        parts = [self.all_of()]
        while self.took("||"):
            parts.append(self.all_of())
        return disjunction(parts)

    def all_of(self) -> Condition:
        parts = [self.one()]
        while self.took("&&"):
            parts.append(self.one())
        return conjunction(parts)

    def one(self) -> Condition:
        if self.took("!"):
            return negate(self.one())
        if self.token.text == "(" and (inner := self.parenthesized()) is not None:
            return inner
        left = self.sum()
        parts: list[Condition] = []
        while sign := self.took(*_COMPARISONS):
            right = self.sum()
            parts.append(_COMPARISONS[sign](left, right))
            left = right
        return conjunction(parts) if parts else not_zero(left)

    def parenthesized(self) -> Condition | None:
        """``( condition )`` where that is what stands here, else None: the parenthesis may open a sum."""
        start = self.position
        self.position += 1
        try:
            inner = self.condition()
        except UsageError:
            self.position = start
            return None
        closed = self.took(")")
        follows = self.token.text
        if closed and follows in ("", ")", "&&", "||"):
            return inner
        self.position = start
        return None

    def sum(self) -> Term:
        value = self.product()
        while sign := self.took("+", "-"):
            value = add(value, self.product()) if sign == "+" else sub(value, self.product())
        return value

    def product(self) -> Term:
        value = self.factor()
        while sign := self.took("*", "/", "%"):
            at = self.token.at
            right = self.factor()
            if sign == "*":
                value = mul(value, right)
            elif isinstance(right, Const) and right.value == 0:
                raise _wrong(self.text, at, "the divisor is 0")
            else:
                value = trunc_div(value, right) if sign == "/" else trunc_rem(value, right)
        return value

    def factor(self) -> Term:
        token = self.token
        if self.took("-"):
            return neg(self.factor())
        if self.took("+"):
            return self.factor()
        if self.took("*"):
            if self.token.kind != "name":
                raise self.unexpected()
            self.position += 1
            return self.lookup(f"*{self.tokens[self.position - 1].text}")
        if self.took("("):
            value = self.sum()
            if not self.took(")"):
                raise self.unexpected()
            return value
        if token.kind not in ("number", "name"):
            raise self.unexpected()
        self.position += 1
        return const(int(token.text)) if token.kind == "number" else self.lookup(token.text)


def parse_condition(text: str, lookup: Lookup) -> Condition:
    """The condition that ``text`` says, with each name replaced by what ``lookup`` gives for it.

    Raises:
        UsageError: the text is no condition, or ``lookup`` raises it for a name.
    """
    try:
        return _Parser(text, lookup).parse()
    except TermTooLarge:
        raise UsageError(f"the condition {text!r} is too large") from None


def names_in(text: str) -> tuple[str, ...]:
    """The names that a condition speaks of, in their order, each once. Raises ``UsageError`` if it is none."""
    names: dict[str, None] = {}

    def note(name: str) -> Term:
        names[name] = None
        return Var(name, INTEGERS)

    parse_condition(text, note)
    return tuple(names)

"""What an answer says, read as people read it: the text of a formula, evaluated over variables and declared elements.

This knows the documented notation (``docs/answers.md``, "What the numbers mean") and nothing of terms: it judges what
is printed. An element is ``a[k]``, in its declared type; a cast ``(T)x`` reduces to the range of the type; and
``*(T *)((char *)a + e)`` is the little-endian value of the bytes of ``a`` from byte ``e`` on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from loopless.errors import UsageError

_MOST_POSITIONS: Final = 10_000
"""So many positions are looked at where a formula gives no limit."""
_TOKEN: Final = re.compile(r"\s*(\d+\^\d+|\d+|[A-Za-z_]\w*'?|&&|\|\||[<>=!]=|<<|>>|->|[-+*/%()\[\]<>?:;,.&|^!=])")
_TYPE: Final = re.compile(r"(u?)int(\d+)_t")
_SEARCHES: Final = ("first", "last", "count", "sum", "all", "some", "least", "greatest", "fold")
_LIMITS: Final = {
    "INT_MAX": 2**31 - 1,
    "INT_MIN": -(2**31),
    "UINT_MAX": 2**32 - 1,
    "INT64_MAX": 2**63 - 1,
    "INT64_MIN": -(2**63),
    "UINT64_MAX": 2**64 - 1,
}

Values = Mapping[str, int]
_Expr = Callable[[Values], int]


class Untold(Exception):
    """The text has no value here: it speaks of what is not given."""


@dataclass(frozen=True, slots=True)
class Array:
    """Elements of a declared type; ``width`` in bits, 1 for ``_Bool``."""

    width: int
    signed: bool
    elements: Sequence[int]

    @property
    def size(self) -> int:
        """The bytes of an element."""
        return (self.width + 7) // 8

    @property
    def content(self) -> bytes:
        """The bytes of all elements."""
        return b"".join((x % (1 << 8 * self.size)).to_bytes(self.size, "little") for x in self.elements)


def evaluate_text(
    text: str, variables: Values, arrays: Mapping[str, Array], definitions: Sequence[tuple[str, str]] = ()
) -> int:
    """The value of a printed term; 1 or 0 for a condition. ``definitions``: what names in the text stand for, each of
    which speaks of names before it only.

    Raises:
        Untold: where it speaks of what is not given.
        UsageError: for a text that is no formula.
    """
    values = dict(variables)
    for name, meaning in definitions:
        values[name] = _Reader(meaning, arrays).whole()(values)
    return _Reader(text, arrays).whole()(values)


def _reduced(value: int, name: str) -> int:
    if name == "_Bool":
        return int(value != 0)
    found = _TYPE.fullmatch(name)
    if found is None:
        raise UsageError(f"{name} is no type")
    width = int(found[2])
    value %= 1 << width
    return value if found[1] or value < 1 << (width - 1) else value - (1 << width)


def _quotient(a: int, b: int) -> int:
    if b == 0:
        raise Untold("a quotient by zero")
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _floored(a: int, b: int) -> int:
    if b == 0:
        raise Untold("a quotient by zero")
    return a // b


_BINARY: Final[Sequence[Mapping[str, Callable[[int, int], int]]]] = (
    {"|": lambda a, b: a | b},
    {"^": lambda a, b: a ^ b},
    {"&": lambda a, b: a & b},
    {"==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b)},
    {
        "<": lambda a, b: int(a < b),
        "<=": lambda a, b: int(a <= b),
        ">": lambda a, b: int(a > b),
        ">=": lambda a, b: int(a >= b),
    },
    {"<<": lambda a, b: a << b, ">>": lambda a, b: a >> b},
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
    {"*": lambda a, b: a * b, "/": _quotient, "%": lambda a, b: a - b * _quotient(a, b)},
)
_FUNCTIONS: Final[Mapping[str, Callable[..., int]]] = {
    "min": min,
    "max": max,
    "mod": lambda a, b: a - b * _floored(a, b),
    "floor_div": _floored,
    "ceil_div": lambda a, b: -_floored(-a, b),
    "pow": lambda a, b: a**b,
    "fits_int": lambda a: int(-(2**31) <= a < 2**31),
    "fits_int64": lambda a: int(-(2**63) <= a < 2**63),
}


def _both(parts: Sequence[_Expr], values: Values, *, decisive: int) -> int:
    """Conjuncts, or disjuncts: one that decides does so whatever has no value."""
    untold: Untold | None = None
    for part in parts:
        try:
            if bool(part(values)) == bool(decisive):
                return decisive
        except Untold as error:
            untold = untold or error
    if untold is not None:
        raise untold
    return 1 - decisive


class _Reader:
    """Reads one formula."""

    def __init__(self, text: str, arrays: Mapping[str, Array]) -> None:
        self._tokens: list[str] = []
        at = 0
        while at < len(text.rstrip()):
            found = _TOKEN.match(text, at)
            if found is None:
                raise UsageError(f"no formula: {text[at : at + 40]!r}")
            self._tokens.append(found[1])
            at = found.end()
        self._at = 0
        self._arrays = arrays

    def whole(self) -> _Expr:
        """The formula as a function of the values of its names."""
        found = self._choice()
        if self._at < len(self._tokens):
            raise UsageError(f"no formula from {' '.join(self._tokens[self._at :][:8])!r} on")
        return found

    def _peek(self, ahead: int = 0) -> str:
        return self._tokens[self._at + ahead] if self._at + ahead < len(self._tokens) else ""

    def _take(self, wanted: str = "") -> str:
        found = self._peek()
        if not found or (wanted and found != wanted):
            raise UsageError(f"{found or 'the end'} where {wanted or 'more'} is awaited")
        self._at += 1
        return found

    def _taken(self, *wanted: str) -> bool:
        """Whether these come next; they are taken then."""
        if all(self._peek(ahead) == token for ahead, token in enumerate(wanted)):
            self._at += len(wanted)
            return True
        return False

    # -- from the weakest operator to the strongest --

    def _choice(self) -> _Expr:
        condition = self._joined("||")
        if not self._taken("?"):
            return condition
        then = self._choice()
        self._take(":")
        otherwise = self._choice()
        return lambda values: then(values) if condition(values) else otherwise(values)

    def _joined(self, word: str) -> _Expr:
        def inner() -> _Expr:
            return self._joined("&&") if word == "||" else self._binary(0)

        parts = [inner()]
        while self._taken(word):
            parts.append(inner())
        decisive = int(word == "||")
        return parts[0] if len(parts) == 1 else lambda values: _both(parts, values, decisive=decisive)

    def _binary(self, level: int) -> _Expr:
        if level == len(_BINARY):
            return self._unary()
        left = self._binary(level + 1)
        while self._peek() in _BINARY[level]:
            left = _applied(_BINARY[level][self._take()], left, self._binary(level + 1))
        return left

    def _unary(self) -> _Expr:
        if self._taken("-"):
            inner = self._unary()
            return lambda values: -inner(values)
        if self._taken("!"):
            inner = self._unary()
            return lambda values: int(not inner(values))
        if self._peek() == "*" and self._peek(1) == "(":
            return self._bytes()
        if self._peek() == "(" and self._peek(2) == ")" and (self._peek(1) == "_Bool" or _TYPE.match(self._peek(1))):
            self._take()
            name = self._take()
            self._take(")")
            inner = self._unary()
            return lambda values: _reduced(inner(values), name)
        return self._primary()

    def _bytes(self) -> _Expr:
        """``*(T *)((char *)a + e)``."""
        for token in ("*", "("):
            self._take(token)
        type = self._take()
        for token in ("*", ")", "(", "(", "char", "*", ")"):
            self._take(token)
        self._taken("&")
        name = self._take()
        self._take("+")
        offset = self._binary(7)
        self._take(")")
        array = self._array(name)
        width = 8 if type == "_Bool" else int(_TYPE.sub(r"\2", type))

        def value(values: Values) -> int:
            start, size = offset(values), width // 8
            content = array.content
            if not 0 <= start <= len(content) - size:
                raise Untold(f"byte {start} of {name}")
            return _reduced(int.from_bytes(content[start : start + size], "little"), type)

        return value

    def _array(self, name: str) -> Array:
        if name not in self._arrays:
            raise Untold(f"elements of {name}")
        return self._arrays[name]

    def _primary(self) -> _Expr:
        word = self._take()
        if word == "(":
            inner = self._choice()
            self._take(")")
            return inner
        if word.isdigit():
            return lambda _: int(word)
        if "^" in word and word[0].isdigit():
            base, exponent = map(int, word.split("^"))
            return lambda _: base**exponent
        if word in _SEARCHES and self._peek() == "(":
            return self._search(word)
        if word in _FUNCTIONS and self._taken("("):
            return self._call(_FUNCTIONS[word])
        if self._peek() == "[":
            return self._element(word)
        if not re.match(r"[A-Za-z_]", word):
            raise UsageError(f"{word} is no name")

        def variable(values: Values) -> int:
            if word in values:
                return values[word]
            if word in _LIMITS:
                return _LIMITS[word]
            if word in ("true", "false"):
                return int(word == "true")
            raise Untold(word)

        return variable

    def _call(self, function: Callable[..., int]) -> _Expr:
        parts = [self._choice()]
        while self._taken(","):
            parts.append(self._choice())
        self._take(")")
        return lambda values: function(*(part(values) for part in parts))

    def _element(self, name: str) -> _Expr:
        """``a[k]``."""
        self._take("[")
        index = self._choice()
        self._take("]")
        array = self._array(name)

        def value(values: Values) -> int:
            at = index(values)
            if not 0 <= at < len(array.elements):
                raise Untold(f"{name}[{at}]")
            return array.elements[at]

        return value

    # -- over positions --

    def _search(self, kind: str) -> _Expr:
        """``first(k < n: condition)``, ``least(start; k < n: term)``, ``fold(v = start; k < n: v' = term)``."""
        self._take("(")
        starts: dict[str, _Expr] = {}
        if kind == "fold" or (kind in ("least", "greatest") and self._peek(1) != ":"):
            while not starts or self._taken(","):
                name = self._take() if kind == "fold" else kind
                self._taken("=") if kind == "fold" else None
                starts[name] = self._choice()
            self._take(";")
        k = self._take()
        limit = self._limit()
        self._take(":")
        steps: dict[str, _Expr] = {}
        while not steps or (kind == "fold" and self._taken(",")):
            name = self._take().rstrip("'") if kind == "fold" else kind
            self._taken("=") if kind == "fold" else None
            steps[name] = self._choice()
        self._take(")")
        chosen = self._take() if kind == "fold" and self._taken(".") else next(iter(steps))
        return _Search(kind, k, limit, starts, steps, chosen).value

    def _limit(self) -> _Expr | None:
        if self._taken("<="):
            most = self._choice()
            return lambda values: most(values) + 1
        return self._choice() if self._taken("<") else None


def _applied(function: Callable[[int, int], int], left: _Expr, right: _Expr) -> _Expr:
    return lambda values: function(left(values), right(values))


@dataclass(frozen=True, slots=True)
class _Search:
    """What is said of positions from 0 on; ``limit``: how many there are, None where there is no end."""

    kind: str
    k: str
    limit: _Expr | None
    starts: Mapping[str, _Expr]
    steps: Mapping[str, _Expr]
    chosen: str

    def value(self, values: Values) -> int:
        """What it comes to."""
        length = _MOST_POSITIONS if self.limit is None else max(0, self.limit(values))
        if self.kind == "fold":
            return self._folded(values, length)
        body = self.steps[self.kind]
        found = (body({**values, self.k: at}) for at in range(length))
        match self.kind:
            case "count":
                return sum(map(bool, found))
            case "sum":
                return sum(found)
            case "last":
                return max((at for at, holds in enumerate(found) if holds), default=-1)
            case "least" | "greatest" if self.starts:
                start = self.starts[self.kind](values)
                return min([start, *found]) if self.kind == "least" else max([start, *found])
        wanted = self.kind != "all"
        at = next((at for at, holds in enumerate(found) if bool(holds) == wanted), None)
        if at is None and self.limit is None:
            raise Untold("a search without an end")
        if self.kind in ("all", "some"):
            return int((at is None) != wanted)
        return length if at is None else at

    def _folded(self, values: Values, length: int) -> int:
        held = {name: start(values) for name, start in self.starts.items()}
        for at in range(length):
            inside = {**values, self.k: at, **held}
            held = {name: step(inside) for name, step in self.steps.items()}
        return held[self.chosen]

"""Random functions that read arrays in other ways than these are declared: with another sign, narrower, wider, at bytes
that are no element, and several ways at once.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

BYTES: Final = 64
"""The bytes of each array: no read goes beyond them for a count of :data:`MOST`."""
MOST: Final = 5


@dataclass(frozen=True, slots=True)
class Element:
    """An integer type of C: its name, and how many bits it has."""

    name: str
    width: int
    signed: bool

    @property
    def size(self) -> int:
        """Its bytes."""
        return (self.width + 7) // 8


ELEMENTS: Final = (
    Element("char", 8, signed=True),
    Element("signed char", 8, signed=True),
    Element("unsigned char", 8, signed=False),
    Element("short", 16, signed=True),
    Element("unsigned short", 16, signed=False),
    Element("int", 32, signed=True),
    Element("unsigned", 32, signed=False),
    Element("long long", 64, signed=True),
    Element("unsigned long long", 64, signed=False),
    Element("_Bool", 1, signed=False),
)
_READ_AS: Final = {element.name: f"r{number}" for number, element in enumerate(ELEMENTS[:-1])}
"""Types of the same values that may lie anywhere, and be read whatever is declared."""
_TYPES: Final = "".join(
    f"typedef {name} {own} __attribute__((aligned(1), may_alias));\n" for name, own in _READ_AS.items()
)
_NUMBERS: Final = (0, 1, 2, 3, 5, -1, -3, 127, 128, 200, 255, 256, 257, 770, 32768, 65535, -128, -32768, 4294967295)
_POOL: Final = (0, 0, 0, 1, 1, 2, 3, 3, 5, 127, 128, 200, 253, 255, 255)


@dataclass(frozen=True, slots=True)
class Reading:
    """A program: ``text`` defines ``f``, ``counted`` besides ``g``, which returns how many iterations the loop of ``f``
    takes; both take the ``arrays``, by name and type, and then ``n``.
    """

    text: str
    counted: str
    arrays: tuple[tuple[str, Element], ...]

    def rows(self, seed: int, count: int) -> list[tuple[tuple[tuple[int, ...], ...], int]]:
        """Contents of the arrays, and n."""
        rng = random.Random(f"contents:{seed}")
        return [
            (tuple(_content(rng, element) for _, element in self.arrays), rng.randint(0, MOST)) for _ in range(count)
        ]


def _content(rng: random.Random, element: Element) -> tuple[int, ...]:
    pool = rng.choice((_POOL, _POOL, (0, 1), (3, 0, 0, 0), (255, 255, 0), tuple(range(256))))
    raw = bytes(rng.choice(pool) for _ in range(BYTES))
    parts = (raw[at : at + element.size] for at in range(0, BYTES, element.size))
    values = [int.from_bytes(part, "little", signed=element.signed) for part in parts]
    return tuple(value & 1 for value in values) if element.width == 1 else tuple(values)


def reading(seed: int) -> Reading:
    """The program of a seed."""
    return _Writer(random.Random(f"readings:{seed}")).program()


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        count = rng.choice((1, 1, 2))
        self.arrays = tuple((name, rng.choice(ELEMENTS)) for name in ("a", "b")[:count])

    def program(self) -> Reading:
        params = "".join(f"const {element.name} *{name}, " for name, element in self.arrays)
        shapes = (self._search, self._count, self._sum, self._fold, self._extreme, self._both, self._library)
        before, condition, body, result = self.rng.choice((self._search, *shapes))()
        counting = ("g", " long long taken = 0;", " taken++;", "taken")
        texts = [
            f"long long {name}({params}int n) {{\n  {before}\n  int i = 0;{more}\n"
            f"  while ({condition}) {{ {body}{step} i++; }}\n  return {returned};\n}}\n"
            for name, more, step, returned in (("f", "", "", result), counting)
        ]
        head = f"#include <string.h>\n{_TYPES}"
        return Reading(head + texts[0], head + "".join(texts), self.arrays)

    # -- what is read --

    def _read(self, at: str = "i") -> str:
        rng = self.rng
        name, element = rng.choice(self.arrays)
        other = rng.choice(list(_READ_AS))
        roll = rng.random()
        if roll < 0.25:
            return f"{name}[{at}]"
        if roll < 0.5 and element.width > 1:
            return f"({self._other_sign(element)}){name}[{at}]"
        if roll < 0.58:
            return f"({other}){name}[{at}]"
        if roll < 0.78:
            return f"((const {_READ_AS[other]} *){name})[{at}]"
        stride, start = rng.choice((1, 1, 2, 3, 4, 8)), rng.randint(0, 7)
        return f"*(const {_READ_AS[other]} *)((const char *){name} + {stride} * {at} + {start})"

    @staticmethod
    def _other_sign(element: Element) -> str:
        return next(e.name for e in ELEMENTS if e.width == element.width and e.signed != element.signed)

    def _condition(self) -> str:
        relation = self.rng.choice(("==", "!=", "<", ">=", "==", "!="))
        right = self._read() if self.rng.random() < 0.3 else f"{self.rng.choice(_NUMBERS)}"
        if self.rng.random() < 0.1:
            return f"({self._read()} & {self.rng.choice((1, 3, 128, 255))})"
        return f"{self._read()} {relation} {right}"

    # -- shapes: what is declared, the condition, the body, the result --

    def _search(self) -> tuple[str, str, str, str]:
        more = f" && {self._condition()}" if self.rng.random() < 0.35 else ""
        return "", f"i < n && {self._condition()}{more}", "", "i"

    def _count(self) -> tuple[str, str, str, str]:
        return "int c = 0;", "i < n", f"if ({self._condition()}) c++;", "c"

    def _both(self) -> tuple[str, str, str, str]:
        body = f"if ({self._condition()}) c++; if ({self._condition()}) c += 2;"
        return "int c = 0;", "i < n", body, "c"

    def _sum(self) -> tuple[str, str, str, str]:
        body = f"c += (unsigned){self._read()};"
        return "unsigned long long c = 0;", "i < n", body, "(long long)(c & 0xffffffffffff)"

    def _fold(self) -> tuple[str, str, str, str]:
        stop = f" && {self._read()} != 0" if self.rng.random() < 0.3 else ""
        return "unsigned h = 5381;", f"i < n{stop}", f"h = h * 33 + {self._read()};", "h"

    def _extreme(self) -> tuple[str, str, str, str]:
        read, relation = self._read(), self.rng.choice("<>")
        return "long long m = 100;", "i < n", f"long long x = {read}; if (x {relation} m) m = x;", "m"

    def _library(self) -> tuple[str, str, str, str]:
        first, last = self.arrays[0][0], self.arrays[-1][0]
        other = last if first != last else f"(const char *){first} + 1"
        texts = f"strncmp((const char *){first}, (const char *){other}, n)"
        call = self.rng.choice((f"memcmp({first}, {other}, n)", texts))
        before = f"int c = {call} {self.rng.choice(('<', '>', '=='))} 0;"
        return before, f"i < n && {self._condition()}", "", "2 * i + c"

"""What is known while a program is drawn: types, functions, what is in scope; and expressions over that.

Numbers stay small by masks and remainders, so that most programs never overflow.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from loopless_fuzz.generator.clean.pieces import Language
from loopless_fuzz.generator.clean.shapes import WORD, Shape

LARGE: Final = 1 << 20
"""Above this an expression is reduced."""
_REST: Final = 1009


@dataclass(slots=True)
class Names:
    """What is in scope: integers that may be written, and read; pointers to them; structures, those that may not be
    written, pointers to them, and arrays of them (three each).
    """

    integers: list[str] = field(default_factory=list)
    read_only: list[str] = field(default_factory=list)
    pointers: list[str] = field(default_factory=list)
    objects: list[tuple[str, Shape]] = field(default_factory=list)
    constants: list[tuple[str, Shape]] = field(default_factory=list)
    places: list[tuple[str, Shape]] = field(default_factory=list)
    arrays: list[tuple[str, Shape]] = field(default_factory=list)
    lines: list[tuple[str, int]] = field(default_factory=list)
    """Arrays of integers and how many they have, a power of two."""
    calls: list[str] = field(default_factory=list)
    """What is called with an integer, and gives one: function objects."""


@dataclass(frozen=True, slots=True)
class Made:
    """The functions that earlier pieces define, by what they do; ``{}`` in the texts stands for the arguments."""

    makers: dict[str, list[str]] = field(default_factory=dict)
    changers: dict[str, list[str]] = field(default_factory=dict)
    pickers: dict[str, str] = field(default_factory=dict)
    users: dict[str, list[str]] = field(default_factory=dict)
    updaters: dict[str, list[str]] = field(default_factory=dict)
    plain: list[str] = field(default_factory=list)


class Writer:
    """Draws the expressions of one program."""

    def __init__(self, seed: int, language: Language) -> None:
        self.rng = random.Random(f"clean:{language}:{seed}")
        self.language: Language = language
        self.tag = str(seed)
        self.shapes: Sequence[Shape] = ()
        self.made = Made()
        self.names = Names()
        self.table = f"table{self.tag}"
        self._count = 0

    def fresh(self, kind: str) -> str:
        """A name that nothing else has."""
        self._count += 1
        return f"{kind}{self._count}"

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is declared inside is gone behind it."""
        outer = self.names
        self.names = Names(*(list(getattr(outer, name)) for name in Names.__dataclass_fields__))
        try:
            yield
        finally:
            self.names = outer

    def chance(self, probability: float) -> bool:
        """Whether something happens."""
        return self.rng.random() < probability

    # ---------------------------------------------------------------------------------------------------- integers

    def number(self, depth: int = 2) -> str:
        """An expression of the type ``int``, or one that is promoted to it, of a small value."""
        text, bound = self._number(depth)
        return text if bound <= _REST else f"({text}) % {_REST}"

    def condition(self) -> str:
        """What decides a branch."""
        left, right = self.number(1), self.number(1)
        draw = self.rng.randrange(8)
        if draw == 0:
            return f"({left}) & {self.rng.choice((1, 2, 5))}"
        if draw == 1:
            return f"{left} > {self.rng.randint(-3, 40)} && {right} < {self.rng.randint(0, 90)}"
        if draw == 2:
            return f"!({left}) || ({right}) % 3 == 1"
        return f"({left}) {self.rng.choice(('<', '<=', '>', '!=', '=='))} ({right})"

    def index(self, count: int) -> str:
        """An index below ``count``."""
        if self.chance(0.5):
            return str(self.rng.randrange(count))
        inner = f"(unsigned)({self._number(1)[0]})"
        return f"{inner} % {count}u" if count & (count - 1) else f"({inner} & {count - 1})"

    def _number(self, depth: int) -> tuple[str, int]:
        if depth <= 0 or self.chance(0.15):
            return self._leaf()
        (left, low), (right, high) = self._small(depth - 1), self._small(depth - 1)
        match self.rng.randrange(15):
            case 0 | 1 | 2:
                return f"({left} {self.rng.choice('+-')} {right})", low + high
            case 3:
                return f"({left} * {right})", low * high
            case 4:
                return f"({left} / (({right} & 7) + 1))", low
            case 5:
                return f"({left} % (({right} & 7) + 2))", 9
            case 6:
                return f"(({left} & 15) << ({right} & 7))", 15 << 7
            case 7:
                return f"({left} >> ({right} & 3))", low + 1
            case 8:
                return f"({left} {self.rng.choice('&|^')} {right})", 2 * max(low, high) + 1
            case 9:
                return f"abs({left})", low
            case 10:
                return f"({self.condition()} ? {left} : {right})", max(low, high)
            case 11:
                return self._converted(left, right)
            case 12:
                return f"({left} {self.rng.choice(('<', '==', '>='))} {right})", 1
            case 13:
                return self._called(depth - 1)
            case _:
                return self._of_value(depth - 1)

    def _small(self, depth: int) -> tuple[str, int]:
        text, bound = self._number(depth)
        return (f"({text} % {_REST})", _REST) if bound > 2000 else (text, bound)

    def _converted(self, left: str, right: str) -> tuple[str, int]:
        """Promotions and conversions."""
        match self.rng.randrange(7):
            case 0:
                return f"(unsigned char)({left})", 255
            case 1:
                return f"((signed char)({left} & 127) - (unsigned char)({right}))", 400
            case 2:
                return f"(short)({left})", 1 << 15
            case 3:
                return f"(int)(((unsigned)({left}) * 2654435761u) >> 20)", 1 << 12
            case 4:
                return f"(~(unsigned char)({left}))", 256
            case 5:
                return f"(int)((long long)({left}) * ({right}) % 997)", 997
            case _:
                return f"((unsigned char)({left}) + (unsigned short)({right} & 255))", 600

    def _leaf(self) -> tuple[str, int]:
        names = self.names
        draws = []
        if names.integers or names.read_only:
            draws += [lambda: (f"({self.rng.choice(names.integers + names.read_only)} & 127)", 127)] * 3
            draws += [lambda: (f"({self.rng.choice(names.integers + names.read_only)} % 50)", 50)] * 2
        if names.pointers:
            draws.append(lambda: (f"(*{self.rng.choice(names.pointers)} & 63)", 63))
        if names.objects or names.constants:
            draws += [self._member] * 3
        if names.lines:
            draws.append(self._element)
        if names.places:
            draws.append(self._behind)
        draws.append(lambda: (str(self.rng.choice((0, 1, 2, 3, 5, 7, 12, 31, 64, 100))), 100))
        draws.append(lambda: (f"{self.table}[{self.rng.randrange(4)}]", 40))
        return self.rng.choice(draws)()

    def _member(self) -> tuple[str, int]:
        name, shape = self.rng.choice(self.names.objects + self.names.constants)
        return self._read(shape, name)

    def _behind(self) -> tuple[str, int]:
        name, shape = self.rng.choice(self.names.places)
        return self._read(shape, f"(*{name})")

    def _read(self, shape: Shape, of: str) -> tuple[str, int]:
        return f"(int)({shape.place(self.rng, of, self._place)[0]} & 127)", 127

    def _place(self, count: int) -> str:
        return (
            str(self.rng.randrange(count))
            if not self.names.integers or self.chance(0.5)
            else (f"(unsigned)({self.rng.choice(self.names.integers)}) % {count}u")
        )

    def _element(self) -> tuple[str, int]:
        name, count = self.rng.choice(self.names.lines)
        return f"({name}[{self._place(count)}] & 127)", 127

    def _called(self, depth: int) -> tuple[str, int]:
        names = [*self.made.plain, *self.names.calls]
        if self.chance(0.5) and self.made.users:
            shape = self.rng.choice([s for s in self.shapes if s.type in self.made.users])
            call = self.rng.choice(self.made.users[shape.type])
            return f"({call.format(self.value(shape, depth), self.number(1))} % 97)", 97
        if not names:
            return self._leaf()
        return f"({self.rng.choice(names).format(self.number(1))} % 101)", 101

    def _of_value(self, depth: int) -> tuple[str, int]:
        """A member of what an expression gives, which has no name."""
        shape = self.rng.choice(self.shapes)
        made = self.value(shape, depth, plain=True)
        return self._read(shape, made)

    # -------------------------------------------------------------------------------------------------- structures

    def literal(self, shape: Shape, depth: int = 1) -> str:
        """In braces."""
        return shape.literal(lambda: self.number(depth if self.chance(0.3) else 0), self.table)

    def value(self, shape: Shape, depth: int = 2, *, plain: bool = False) -> str:
        """An expression of a structure; ``plain``: one that a member may be named of."""
        here = [name for name, of in (*self.names.objects, *self.names.constants) if of is shape]
        here += [f"{name}[{self.index(2)}]" for name, of in self.names.arrays if of is shape]
        here += [f"(*{name})" for name, of in self.names.places if of is shape]
        made = self.made
        draws = [lambda: self.rng.choice(here)] * 2 if here else []
        if depth > 0 or not draws:
            draws += [lambda: self._literal(shape, min(depth, 1))]
        if depth > 0:
            if shape.type in made.makers:
                draws += [lambda: self.rng.choice(made.makers[shape.type]).format(self.number(1))] * 4
            if shape.type in made.changers:
                call = self.rng.choice(made.changers[shape.type])
                draws += [lambda: call.format(self.value(shape, depth - 1), self.number(1))] * 2
            if shape.type in made.pickers and len(here) > 0:
                draws.append(lambda: self._picked(shape))
            draws.append(lambda: self._either(shape, depth))
            outer = [(o, m) for o in self.shapes for m in o.members if m.kind == "nested" and m.shape is shape]
            if outer:
                around, member = self.rng.choice(outer)
                draws.append(lambda: f"{self.value(around, depth - 1, plain=True)}.{member.name}")
            if self.language == "c":
                draws.append(lambda: self._in_statements(shape, depth))
        text = self.rng.choice(draws)()
        return f"({text})" if plain and " " in text and not text.startswith("(") else text

    def _literal(self, shape: Shape, depth: int) -> str:
        made = self.literal(shape, depth)
        return f"({shape.type}){made}" if self.language == "c" else f"{shape.name}{made}"

    def _either(self, shape: Shape, depth: int) -> str:
        return f"({self.condition()} ? {self.value(shape, depth - 1)} : {self.value(shape, depth - 1)})"

    def _picked(self, shape: Shape) -> str:
        places = [f"&{name}" for name, of in self.names.objects if of is shape]
        places += [name for name, of in self.names.places if of is shape]
        if not places:
            return self._literal(shape, 0)
        one, other = self.rng.choice(places), self.rng.choice(places)
        return f"(*{self.made.pickers[shape.type]}({one}, {other}, {self.number(1)}))"

    def _in_statements(self, shape: Shape, depth: int) -> str:
        """A statement expression: the value of a variable whose life ends with it."""
        name = self.fresh("q")
        value = self.value(shape, depth - 1)
        target = shape.addressed(self.rng, name, self._place)
        change = f" {target[0]} = {self._as(target[1], self.number(1))};" if target is not None else ""
        return f"({{ {shape.type} {name} = {value};{change} {name}; }})"

    def _as(self, type_: str, number: str) -> str:
        return f"({number}) != 0" if type_ in ("_Bool", "bool") else f"({type_})({number})"

    def word(self) -> str:
        """A string literal of the length of members that point to one."""
        return f'"{WORD}"'

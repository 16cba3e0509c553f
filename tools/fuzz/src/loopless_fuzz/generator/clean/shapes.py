"""The structures and unions of a program: their members, and expressions that name, read and make them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

INTEGERS: Final = (
    ("int", 4),
    ("int", 4),
    ("int", 4),
    ("unsigned", 4),
    ("short", 2),
    ("unsigned short", 2),
    ("signed char", 1),
    ("unsigned char", 1),
    ("char", 1),
    ("long", 8),
    ("unsigned long", 8),
    ("long long", 8),
    ("_Bool", 1),
)
MOST: Final = 64
"""Bytes of a structure, about."""
WORD: Final = "ramble"
"""What members of the type ``const char *`` point to."""
Kind = Literal["integer", "array", "bits", "nested", "several", "text", "table"]


@dataclass(frozen=True, slots=True)
class Member:
    """A member: an integer, some of them, bits, a structure or some of them, or a pointer to a constant object."""

    name: str
    kind: Kind
    type: str
    count: int = 1
    shape: Shape | None = None

    @property
    def text(self) -> str:
        """Its declaration."""
        match self.kind:
            case "bits":
                return f"{self.type} {self.name} : {self.count};"
            case "array" | "several":
                return f"{self.type} {self.name}[{self.count}];"
            case "text" | "table":
                return f"const {self.type} *{self.name};"
            case _:
                return f"{self.type} {self.name};"


@dataclass(frozen=True, slots=True)
class Shape:
    """A structure, or a union of an integer and its bytes."""

    keyword: str
    name: str
    members: tuple[Member, ...]
    size: int

    @property
    def type(self) -> str:
        """How declarations name it, in both languages."""
        return f"{self.keyword} {self.name}"

    @property
    def is_union(self) -> bool:
        return self.keyword == "union"

    @property
    def text(self) -> str:
        """Its definition."""
        return f"{self.type} {{ {' '.join(member.text for member in self.members)} }};"

    def place(self, rng: random.Random, of: str, index: Callable[[int], str]) -> tuple[str, str]:
        """An integer in the object ``of`` and its type; ``index`` makes an index below a number."""
        text, member = self._member(rng, of, index)
        return text, f"const {member.type}" if member.kind in ("text", "table") else member.type

    def _member(self, rng: random.Random, of: str, index: Callable[[int], str]) -> tuple[str, Member]:
        """The same, with the member that the integer is in, of this shape or of one inside."""
        member = rng.choice(self.members)
        name = f"{of}.{member.name}"
        match member.kind:
            case "array":
                return f"{name}[{index(member.count)}]", member
            case "nested" if member.shape is not None:
                return member.shape._member(rng, name, index)  # noqa: SLF001
            case "several" if member.shape is not None:
                return member.shape._member(rng, f"{name}[{index(member.count)}]", index)  # noqa: SLF001
            case "text" | "table":
                return f"{name}[{index(3)}]", member
            case _:
                return name, member

    def addressed(self, rng: random.Random, of: str, index: Callable[[int], str]) -> tuple[str, str] | None:
        """An integer in the object of which the address may be taken, and that may be written."""
        for _ in range(4):
            text, member = self._member(rng, of, index)
            if member.kind not in ("bits", "text", "table"):
                return text, member.type
        return None

    def literal(self, number: Callable[[], str], table: str) -> str:
        """What makes one, in braces: all members, or those of one of a union."""
        members = self.members[:1] if self.is_union else self.members
        return f"{{{', '.join(self._part(member, number, table) for member in members)}}}"

    def _part(self, member: Member, number: Callable[[], str], table: str) -> str:
        match member.kind:
            case "array":
                return f"{{{', '.join(cast(member.type, number()) for _ in range(member.count))}}}"
            case "nested" if member.shape is not None:
                return member.shape.literal(number, table)
            case "several" if member.shape is not None:
                return f"{{{', '.join(member.shape.literal(number, table) for _ in range(member.count))}}}"
            case "text":
                return f'"{WORD}"'
            case "table":
                return table
            case "bits":
                return f"{number()} & {(1 << member.count - 1) - 1}"
            case _:
                return cast(member.type, number())

    def sum(self, of: str) -> list[str]:
        """Statements that add all of an object to ``unsigned s``; a loop has ``@`` in front of its condition."""
        lines: list[str] = []
        for member in self.members:
            name = f"{of}.{member.name}"
            if member.kind == "nested" and member.shape is not None:
                lines += member.shape.sum(name)
            elif member.kind == "several" and member.shape is not None:
                for at in range(member.count):
                    lines += member.shape.sum(f"{name}[{at}]")
            elif member.kind == "array":
                lines.append(f"for (int i = 0; @i < {member.count}; i++) s = s * 31u + (unsigned){name}[i];")
            elif member.kind in ("text", "table"):
                lines.append(f"s += (unsigned){name}[1];")
            else:
                lines.append(f"s = s * 31u + (unsigned){name};")
        return lines


def cast(type_: str, number: str) -> str:
    """A number as a value of an integer type, without a word of narrowing."""
    return f"({number}) != 0" if type_ == "_Bool" else number if type_ == "int" else f"({type_})({number})"


def draw_shapes(rng: random.Random, tag: str, language: str) -> tuple[Shape, ...]:
    """A few structures, later ones with earlier ones in them, and perhaps a union."""
    found: list[Shape] = []
    for number in range(rng.randint(1, 3)):
        found.append(_structure(rng, f"S{tag}_{number}", found, language))
    if language == "c" and rng.random() < 0.5:
        found.append(_union(rng, f"U{tag}"))
    return tuple(found)


def _structure(rng: random.Random, name: str, known: Sequence[Shape], language: str) -> Shape:
    members: list[Member] = []
    size = 0
    wanted = rng.choice((1, 4, 8, 12, 16, 20, 24, 32, 40, 56, MOST))
    while size < wanted and len(members) < 8:
        member, more = _member(rng, f"m{len(members)}", known, wanted - size, language)
        members.append(member)
        size += more
    return Shape("struct", name, tuple(members), size)


def _member(rng: random.Random, name: str, known: Sequence[Shape], room: int, language: str) -> tuple[Member, int]:
    type_, size = rng.choice([each for each in INTEGERS if each[1] <= max(room, 1)])
    if language == "c++" and type_ == "_Bool":
        type_ = "bool"
    inside = [shape for shape in known if shape.size <= room]
    draw = rng.random()
    if inside and draw < 0.2:
        shape = rng.choice(inside)
        if draw < 0.06 and 2 * shape.size <= room:
            return Member(name, "several", shape.type, 2, shape), 2 * shape.size
        return Member(name, "nested", shape.type, 1, shape), shape.size
    if draw < 0.4 and room >= 2 * size and type_ not in ("_Bool", "bool"):
        count = rng.randint(2, max(2, min(5, room // size)))
        return Member(name, "array", type_, count), count * size
    if draw < 0.42 and room >= 4:
        return Member(name, "bits", rng.choice(("unsigned", "int", "unsigned char")), rng.randint(3, 8)), 4
    if draw < 0.47 and room >= 8:
        return Member(name, *rng.choice((("text", "char"), ("table", "int")))), 8
    return Member(name, "integer", type_), size


def _union(rng: random.Random, name: str) -> Shape:
    type_, size = rng.choice((("int", 4), ("unsigned", 4), ("long", 8), ("short", 2)))
    parts = [Member("whole", "integer", type_), Member("bytes", "array", "unsigned char", size)]
    if size > 2:
        parts.append(Member("halves", "array", "short", size // 2))
    return Shape("union", name, tuple(parts), size)

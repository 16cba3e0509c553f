"""Linked lists in memory that native loops walk, and what summaries say of them: random lists, empty ones, circles, and
lists with one tail.
"""

from __future__ import annotations

import ctypes
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loopless import terms as t
from loopless.flowgraph.model import Flowgraph, VariableInfo
from loopless.summary import LoopSummary
from loops_in_c import variable
from shared_library import shared_library

TYPES = """
struct data { short x; };
struct node { %s };
"""
LAYOUTS = {
    "link first": "struct node *next; int val; unsigned char flag; short key; struct data *data; unsigned long big;",
    "link behind": "unsigned char flag; short key; int val; unsigned long big; struct data *data; struct node *next;",
}
CTYPES = {
    "next": ctypes.c_void_p,
    "val": ctypes.c_int,
    "flag": ctypes.c_ubyte,
    "key": ctypes.c_short,
    "data": ctypes.c_void_p,
    "big": ctypes.c_ulong,
}
MOST = 60
"""A native run that takes more iterations counts as one without an end: no list is so long."""
ENDLESS = -1


@dataclass(frozen=True)
class Walk:
    """A loop: what is before it, its condition, its body, and what it leaves in which variables."""

    before: str
    condition: str
    body: str
    numbers: tuple[str, ...] = ()
    pointers: tuple[str, ...] = ()


def source(walk: Walk, layout: str, *, counted: bool) -> str:
    results = [f"out[{at}] = (long)({name});" for at, name in enumerate(walk.numbers, start=1)]
    first = 1 + len(walk.numbers)
    results += [f"*(struct node **)&out[{at}] = {name};" for at, name in enumerate(walk.pointers, start=first)]
    ticks = f"if (++ticks > {MOST}) {{ *out = {ENDLESS}; return; }}" if counted else ""
    return f"""{TYPES % LAYOUTS[layout]}
    void f(struct node *p, struct node *q, int v, long *out) {{
        {"long ticks = 0;" if counted else ""} {walk.before}
        while ({walk.condition}) {{ {walk.body} {ticks} }}
        {"*out = ticks;" if counted else ""} {" ".join(results)} }}"""


def halves(g: Flowgraph, pointer: str) -> list[t.Var]:
    """The object and the offset of a pointer."""
    named = {info.pointer_part: var for var, info in g.variables.items() if _pointer(info) == pointer}
    return [named["object"], named["offset"]]


def _pointer(info: VariableInfo) -> str:
    """The name of the local pointer that a variable is a half of."""
    return info.shown.removesuffix(".object") if info.pointer_part and info.object is not None else ""


_ADDRESS = t.IntType(64, signed=False)


class Lists:
    """Lists in the memory of this process. A pointer's object is the number of its node, from 1000 on."""

    def __init__(self, layout: str, draw: random.Random, counts: Sequence[int] = (0, 1, 2, 3, 5, 9, 14)) -> None:
        names = [part.split()[-1].lstrip("*") for part in LAYOUTS[layout].split(";") if part.strip()]
        self.node = type("Node", (ctypes.Structure,), {"_fields_": [(name, CTYPES[name]) for name in names]})
        count = draw.choice(counts)
        self.nodes = [self.node() for _ in range(count)]
        self.data = [ctypes.c_short(draw.randint(-9, 9)) for _ in range(count)]
        order = list(range(count))
        draw.shuffle(order)
        for at, number in enumerate(order):
            node = self.nodes[number]
            node.val, node.key = draw.randint(-3, 3), draw.choice((at, draw.randint(-32768, 32767)))
            node.flag, node.big = draw.randint(0, 2), draw.getrandbits(64)
            node.data = ctypes.addressof(self.data[number])
            last = at + 1 == count
            node.next = ctypes.addressof(self.nodes[order[at + 1]]) if not last else None
        if count and draw.random() < 0.4:
            self.nodes[order[-1]].next = ctypes.addressof(self.nodes[draw.choice(order)])
        elif count > 2 and draw.random() < 0.4:
            self.nodes[order[count // 2]].next = None
        self.addresses = [ctypes.addressof(node) for node in self.nodes]

    def half(self, address: int, part: str) -> int:
        places = [*self.addresses, *map(ctypes.addressof, self.data)]
        return places.index(address) + 1000 if part == "object" and address else 0

    def load(self, node: int, offset: int, type: t.IntType = _ADDRESS) -> int:
        if not node:
            raise t.EvaluationError("null is followed")
        assert type.width is not None
        held = ctypes.string_at(node + offset, type.width // 8)
        return int.from_bytes(held, "little", signed=type.signed)


class Endless(Exception):
    """A search goes on behind :data:`MOST` nodes: it goes round in a circle, and finds nothing."""


def reader(summary: LoopSummary, lists: Lists, entry: dict[t.Var, int]) -> t.Reader:
    """What nodes hold, by what the summary says that the names of reads stand for."""

    def read(array: str, number: int, type: t.IntType) -> int:
        value = summary.lists[array]
        if number > 2 * MOST + 2:
            raise Endless
        number_of_node = entry[value.walk.owner]
        address = lists.addresses[number_of_node - 1000] if number_of_node else 0
        for _ in range(number):
            address = lists.load(address, value.walk.link[0])
        if value.part:
            for at in value.way:
                address = lists.load(address, at)
            return lists.half(address, value.part)
        for at in value.way[:-1]:
            address = lists.load(address, at)
        return lists.load(address, value.way[-1], type)

    return read


def at_header(g: Flowgraph, walk: Walk, lists: Lists, start: dict[str, int], v: int) -> dict[t.Var, int]:
    """The state at the loop's header."""
    found = {variable(g, "v"): v}
    for var, info in g.variables.items():
        if info.shown == "v":
            found[var] = v
        elif info.pointer_part:
            address = start.get(info.shown.removesuffix(".object"), 0)
            found[var] = lists.half(address, info.pointer_part)
        elif info.shown.endswith(" is NULL"):
            found[var] = int(start.get(info.shown.removesuffix(" is NULL"), 1) == 0)
    for statement in filter(None, map(str.strip, walk.before.split(";"))):
        name, _, value = statement.partition("=")
        if "*" not in name:
            found[variable(g, name.split()[-1])] = int(value)
    return found


def native(walks: Mapping[str, Walk]) -> ctypes.CDLL:
    """All loops, each as a function that also tells the number of iterations."""
    names = {(name, layout): called(walks, name, layout) for name in walks for layout in LAYOUTS}
    parts = [
        source(walks[name], layout, counted=True)
        .replace("void f(", f"void {function}(")
        .replace("struct node", f"struct node_{function}")
        .replace("struct data", f"struct data_{function}")
        for (name, layout), function in names.items()
    ]
    return shared_library("\n".join(parts))


def called(walks: Mapping[str, Walk], name: str, layout: str) -> str:
    """The function in the library of a loop."""
    return f"f_{list(walks).index(name)}_{list(LAYOUTS).index(layout)}"

"""Loops that walk linked lists, against native runs: of random lists, empty ones, circles, and lists with one tail."""

from __future__ import annotations

import ctypes
import functools
import random
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from loopless import terms as t
from loopless.flowgraph.model import Flowgraph, VariableInfo
from loopless.paths import LoopPaths
from loopless.refusals import Refused
from loopless.source.toolchain import environment, zig
from loopless.summary import LoopSummary, paths_of, summarize, summarize_function
from loops_in_c import graph, variable

_TYPES = """
struct data { short x; };
struct node { %s };
"""
_LAYOUTS = {
    "link first": "struct node *next; int val; unsigned char flag; short key; struct data *data; unsigned long big;",
    "link behind": "unsigned char flag; short key; int val; unsigned long big; struct data *data; struct node *next;",
}
_CTYPES = {
    "next": ctypes.c_void_p,
    "val": ctypes.c_int,
    "flag": ctypes.c_ubyte,
    "key": ctypes.c_short,
    "data": ctypes.c_void_p,
    "big": ctypes.c_ulong,
}
_MOST = 60
"""A native run that takes more iterations counts as one without an end: no list is so long."""
_ENDLESS = -1


@dataclass(frozen=True)
class Walk:
    """A loop: what is before it, its condition, its body, and what it leaves in which variables."""

    before: str
    condition: str
    body: str
    numbers: tuple[str, ...] = ()
    pointers: tuple[str, ...] = ()


# fmt: off
WALKS = {
    "length": Walk("unsigned n = 0;", "p", "n++; p = p->next;", ("n",), ("p",)),
    "sum": Walk("unsigned s = 0;", "p", "s += p->val; p = p->next;", ("s",), ("p",)),
    "sum of shorts and longs": Walk("unsigned long s = 0;", "p", "s += p->key * p->big; p = p->next;", ("s",)),
    "sum by an index that is checked": Walk("int n = 0;", "p", "n = n + p->key; p = p->next;", ("n",)),
    "find": Walk("", "p && p->val != v", "p = p->next;", (), ("p",)),
    "find without an end": Walk("", "p->val != v", "p = p->next;", (), ("p",)),
    "greatest": Walk("int m = -40000;", "p", "if (p->key > m) m = p->key; p = p->next;", ("m",), ("p",)),
    "count": Walk("unsigned n = 0;", "p", "if (p->flag) n++; p = p->next;", ("n",)),
    "last": Walk("", "p->next", "p = p->next;", (), ("p",)),
    "the one before": Walk("struct node *b = 0;", "p", "b = p; p = p->next;", (), ("b",)),
    "through a copy": Walk("struct node *r = 0; unsigned s = 0;", "p",
                           "struct node *x = p->next; s = 31 * s + p->flag; p = x;", ("s",), ("p",)),
    "at most n steps": Walk("unsigned n = 0;", "p && n < 5", "p = p->next; n++;", ("n",), ("p",)),
    "two steps": Walk("unsigned s = 0;", "p && p->next", "s += p->next->val; p = p->next->next;", ("s",), ("p",)),
    "the middle": Walk("", "p && p->next", "q = q->next; p = p->next->next;", (), ("p", "q")),
    "two lists": Walk("unsigned s = 0;", "p && q", "s += p->val * q->val; p = p->next; q = q->next;", ("s",),
                      ("p", "q")),
    "beside each other": Walk("unsigned s = 0;", "p && p->next && p->val <= p->next->val", "s++; p = p->next;", ("s",),
                              ("p",)),
    "behind another pointer": Walk("unsigned s = 0;", "p", "s += p->data->x; p = p->next;", ("s",)),
    "some steps only": Walk("unsigned i = 0;", "p && i < 9", "if (p->flag > i) p = p->next; i++;", ("i",), ("p",)),
    "a meeting": Walk("unsigned i = 0;", "p != q && i < 20", "p = p->next; q = q->next->next; i++;", ("i",),
                      ("p", "q")),
    "a tail that is the same": Walk("unsigned i = 0;", "p && q && p != q", "p = p->next; q = q->next; i++;", ("i",),
                                    ("p", "q")),
    "other members written": Walk("unsigned long s = 0;", "p", "s = 3 * s + p->val; p->big = s; p->flag = 1; p = p->next;",
                                  ("s",), ("p",)),
    "the node behind written": Walk("unsigned i = 0;", "p", "p = p->next; if (p) p->key = 0; i++;", ("i",), ("p",)),
    "two lists written": Walk("unsigned s = 0;", "p && q", "p->key = 3; q->flag = 4; s += p->val - q->val;"
                              " p = p->next; q = q->next;", ("s",), ("p", "q")),
    "polynomial hash": Walk("unsigned h = 7;", "p && h != 0", "h = h * 31 + p->key; p = p->next;", ("h",), ("p",)),
}
# fmt: on


def _source(walk: Walk, layout: str, *, counted: bool) -> str:
    results = [f"out[{at}] = {name};" for at, name in enumerate((*walk.numbers, *walk.pointers), start=1)]
    results = [line.replace("= ", "= (long)(").replace(";", ");") for line in results]
    ticks = f"if (++ticks > {_MOST}) {{ *out = {_ENDLESS}; return; }}" if counted else ""
    return f"""{_TYPES % _LAYOUTS[layout]}
    void f(struct node *p, struct node *q, int v, long *out) {{
        {"long ticks = 0;" if counted else ""} {walk.before}
        while ({walk.condition}) {{ {walk.body} {ticks} }}
        {"*out = ticks;" if counted else ""} {" ".join(results)} }}"""


@functools.cache
def answered(name: str, layout: str) -> tuple[Flowgraph, LoopSummary]:
    g = graph(_source(WALKS[name], layout, counted=False))
    paths = paths_of(g, g.loops[0], _asked(g, WALKS[name]), all_checks=True)
    assert isinstance(paths, LoopPaths), paths
    found = summarize(paths)
    assert isinstance(found, LoopSummary), found
    return g, found


def _asked(g: Flowgraph, walk: Walk) -> list[t.Var]:
    return [
        *(variable(g, name) for name in walk.numbers),
        *(half for name in walk.pointers for half in halves(g, name)),
    ]


def halves(g: Flowgraph, pointer: str) -> list[t.Var]:
    """The object and the offset of a pointer."""
    named = {info.pointer_part: var for var, info in g.variables.items() if _pointer(info) == pointer}
    return [named["object"], named["offset"]]


def _pointer(info: VariableInfo) -> str:
    """The name of the local pointer that a variable is a half of."""
    return info.shown.removesuffix(".object") if info.pointer_part and info.object is not None else ""


@functools.cache
def native() -> ctypes.CDLL:
    """All loops, each as a function that also tells the number of iterations."""
    names = {(name, layout): _called(name, layout) for name in WALKS for layout in _LAYOUTS}
    parts = [
        _source(WALKS[name], layout, counted=True)
        .replace("void f(", f"void {called}(")
        .replace("struct node", f"struct node_{called}")
        .replace("struct data", f"struct data_{called}")
        for (name, layout), called in names.items()
    ]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.c").write_text("\n".join(parts))
        command = [zig(), "cc", "-O1", "-shared", "-fPIC", "-nostdlib", "-fno-sanitize=all", "-o", "a.so", "a.c"]
        subprocess.run(command, cwd=folder, env=environment(Path(folder) / "cache"), check=True)
        return ctypes.CDLL(str(Path(folder) / "a.so"))


def _called(name: str, layout: str) -> str:
    return f"f_{list(WALKS).index(name)}_{list(_LAYOUTS).index(layout)}"


_ADDRESS = t.IntType(64, signed=False)


class Lists:
    """Lists in the memory of this process. A pointer's object is the number of its node, from 1000 on."""

    def __init__(self, layout: str, draw: random.Random) -> None:
        names = [part.split()[-1].lstrip("*") for part in _LAYOUTS[layout].split(";") if part.strip()]
        self.node = type("Node", (ctypes.Structure,), {"_fields_": [(name, _CTYPES[name]) for name in names]})
        count = draw.choice((0, 1, 2, 3, 5, 9, 14))
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
    """A search goes on behind :data:`_MOST` nodes: it goes round in a circle, and finds nothing."""


def reader(summary: LoopSummary, lists: Lists, entry: dict[t.Var, int]) -> t.Reader:
    """What nodes hold, by what the summary says that the names of reads stand for."""

    def read(array: str, number: int, type: t.IntType) -> int:
        value = summary.lists[array]
        if number > 2 * _MOST + 2:
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


def _entry(g: Flowgraph, walk: Walk, lists: Lists, start: dict[str, int], v: int) -> dict[t.Var, int]:
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


@pytest.mark.parametrize("layout", _LAYOUTS)
@pytest.mark.parametrize("name", WALKS)
def test_a_walk_is_exact(name: str, layout: str) -> None:
    walk, draw = WALKS[name], random.Random(f"{name} {layout}")
    g, summary = answered(name, layout)
    assert summary.complete
    assert summary.exact
    assert summary.lists
    compared = endless = 0
    for _ in range(70):
        lists = Lists(layout, draw)
        start = {pointer: draw.choice([0, *lists.addresses[:3]]) for pointer in "pq"}
        if draw.random() < 0.5 or name == "the middle":  # where q comes to an end, p does before
            start["q"] = start["p"]
        v = draw.randint(-4, 4)
        entry = _entry(g, walk, lists, start, v)
        read = reader(summary, lists, entry)
        values = t.Valuation(entry, read)
        cases, times, never, undefined = [], [], False, False
        try:
            cases = [case for case in summary.cases if values.holds(case.when)]
            never = values.holds(summary.diverges) if not cases else False
            undefined = not cases and not never
            after = {var.name: values.evaluate(term) for case in cases for var, term in case.then.items()}
            times = [values.evaluate(case.iterations) for case in cases]
        except Endless:
            never = summary.diverges is not t.FALSE
            assert never
        except (t.EvaluationError, ValueError):
            assert name in _MAY_FOLLOW_NULL  # such a run is not defined
            continue
        if undefined:
            continue
        assert len(cases) + never == 1
        out = (ctypes.c_long * 8)()
        getattr(native(), _called(name, layout))(ctypes.c_void_p(start["p"]), ctypes.c_void_p(start["q"]), v, out)
        compared += 1
        if never:
            assert out[0] == _ENDLESS, (start, v)
            endless += 1
            continue
        assert [out[0]] == times
        for at, wanted in enumerate(walk.numbers, start=1):
            var = variable(g, wanted)
            assert var.type.wrap(out[at]) == after.get(var.name, entry[var]), wanted
        for at, wanted in enumerate(walk.pointers, start=1 + len(walk.numbers)):
            for half, part in zip(halves(g, wanted), ("object", "offset"), strict=True):
                assert lists.half(out[at], part) == after.get(half.name, entry[half]), (wanted, part)
    assert compared > 20
    assert endless or name in _ALWAYS_END


_MAY_FOLLOW_NULL = {"find without an end", "last", "the middle", "a meeting"}
_ALWAYS_END = {"at most n steps", "some steps only", "a meeting", "a tail that is the same"}


_REFUSED = {
    "what is read is written": "while (p) { s += p->val; p->val = 0; p = p->next; }",
    "the link is written": "while (p) { struct node *x = p->next; p->next = q; q = p; p = x; s++; }",
    "the next node is cut off": "while (p) { if (p->next) p->next->next = 0; p = p->next; s++; }",
    "a part of a member is written": "while (p) { s += p->key; ((char *)p)[KEY] = 0; p = p->next; }",
    "a copy of another pointer": "while (p) { struct node *x = p; p = q; p->next = 0; p = x->next; s++; }",
    "an array may be in the nodes": "while (p) { out[s++] = 0; p = p->next; }",
    "a function that is not known": "while (p) { g(p); p = p->next; s++; }",
    "bytes are set": "while (p) { __builtin_memset(p, 0, 4); p = p->next; s++; }",
    "a loop inside writes": "while (p) { for (int i = 0; i < v; i++) p->next->val = i; s += p->val; p = p->next; }",
    "two links": "while (p) { p = p->flag ? p->next : (struct node *)p->data; s++; }",
    "back to the beginning": "while (p) { p = p->flag ? p->next : q; s++; }",
    "behind a pointer while nodes are written": "while (p) { s += p->data->x; p->key = 1; p = p->next; }",
}


@pytest.mark.parametrize("name", _REFUSED)
def test_a_list_that_may_change_is_no_walk(name: str) -> None:
    head = f"void g(struct node *); {_TYPES % _LAYOUTS['link first']}"
    body = _REFUSED[name].replace("KEY", "14")
    source = f"{head} void f(struct node *p, struct node *q, int v, long *out) {{ unsigned s = 0; {body} out[0] = s; }}"
    g = graph(source)
    outer = next(loop for loop in g.loops if loop.parent is None)
    found = summarize(paths_of(g, outer))
    assert isinstance(found, Refused), found


def test_another_pointer_is_taken_to_lead_elsewhere() -> None:
    types = _TYPES % _LAYOUTS["link first"]
    body = "while (p) { q->val = s; p = p->next; s++; } return s;"
    g = graph(f"{types} unsigned f(struct node *p, struct node *q) {{ unsigned s = 0; {body} }}")
    found = summarize(paths_of(g, g.loops[0]))
    assert isinstance(found, LoopSummary)
    apart = {"p and q do not overlap", "q and what p->next points to are the same or do not overlap"}
    assert apart <= set(found.assumptions)


_WHOLE = {
    "": "n = 0; while (p) { n += p->val; p = p->next; } return n;",
    "another pointer": "n = 0; p = p->next; while (p) { n++; p = p->next; } return n;",
    "written before": "n = 0; p->next = 0; while (p) { n++; p = p->next; } return n;",
    "called before": "n = 0; g(p); while (p) { n++; p = p->next; } return n;",
    "written by a loop before": """n = 0; struct node *x = p; while (x) { x->val = 7; x = x->next; }
        while (p) { n += p->val; p = p->next; } return n;""",
    "a loop around": "n = 0; while (v-- > 0) { struct node *x = p; while (x) { n += x->val; x = x->next; } } return n;",
}


@pytest.mark.parametrize("name", _WHOLE)
def test_functions_tell_of_lists_of_the_entry_only(name: str) -> None:
    types = _TYPES % _LAYOUTS["link first"]
    g = graph(f"void g(struct node *); {types} unsigned f(struct node *p, unsigned n, int v) {{ {_WHOLE[name]} }}")
    outcomes = {loop.name: summarize(paths_of(g, loop)) for loop in g.loops}
    whole = summarize_function(g, outcomes)
    told = [case for case in getattr(whole, "cases", ()) if any(map(_speaks_of_lists, (case.when, case.result)))]
    assert bool(told) == (not name), told


def _speaks_of_lists(node: t.Node | None) -> bool:
    return node is not None and any(
        isinstance(part, t.Read) and t.in_list(part.array) is not None for part in t.walk_inside(node)
    )


def test_a_circle_whose_nodes_are_freed_is_no_endless_run() -> None:
    types = _TYPES % _LAYOUTS["link first"]
    body = "while (p) { struct node *x = p->next; free(p); p = x; }"
    g = graph(f"void free(void *); {types} void f(struct node *p) {{ {body} }}")
    found = summarize(paths_of(g, g.loops[0]))
    assert isinstance(found, LoopSummary)
    assert found.diverges is t.FALSE
    assert len(found.residual) == 1
    assert found.cases

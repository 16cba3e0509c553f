"""What members of linked lists hold behind loops that write them, against native runs: random lists, empty ones, lists
in a circle, and two lists with one tail.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import random
from collections import Counter
from typing import Any

import pytest

from linked_lists import (
    CTYPES,
    ENDLESS,
    LAYOUTS,
    TYPES,
    Endless,
    Lists,
    Walk,
    at_header,
    called,
    halves,
    native,
    reader,
    source,
)
from loopless import terms as t
from loopless.flowgraph.model import Flowgraph
from loopless.summary import CallSummary, LoopSummary, paths_of, summarize_function, summarized
from loopless.terms.contents import reader_behind
from loops_in_c import graph, variable
from shared_library import shared_library

# fmt: off
WALKS = {
    "cleared": Walk("", "p", "p->val = 0; p = p->next;"),
    "numbered": Walk("unsigned long i = 0;", "p", "p->big = i++; p = p->next;", ("i",)),
    "added to": Walk("", "p", "p->big += v; p = p->next;"),
    "added to with a sign": Walk("", "p", "p->val += v; p = p->next;"),
    "by a flag": Walk("", "p", "if (p->flag) p->val = v; p = p->next;"),
    "one or the other": Walk("", "p", "p->key = p->flag ? 7 : (short)p->val; p = p->next;"),
    "one member or another": Walk("", "p", "if (p->flag) p->val = v; else p->key = 3; p = p->next;"),
    "sums so far": Walk("unsigned long s = 0;", "p", "s += p->big; p->big = s; p = p->next;", ("s",)),
    "sums of another member": Walk("unsigned long s = 0;", "p", "s += p->val; p->big = s; p = p->next;", ("s",)),
    "sum of what is cleared": Walk("unsigned long s = 0;", "p", "s += p->big; p->big = 0; p = p->next;", ("s",)),
    "one more than before": Walk("", "p && p->next", "p->next->big = p->big + 1; p = p->next;"),
    "the node behind": Walk("unsigned i = 0;", "p", "p = p->next; if (p) p->key = 0; i++;", ("i",)),
    "exchanged": Walk("", "p", "short k = p->key; p->key = p->flag; p->flag = k; p = p->next;"),
    "written twice": Walk("", "p", "p->val = v; p->val = p->val + p->flag; p = p->next;"),
    "read behind the write": Walk("unsigned long s = 0;", "p", "p->big += 2; s += p->big; p = p->next;", ("s",)),
    "five at most": Walk("unsigned i = 0;", "p && i < 5", "p->key = i; p = p->next; i++;", ("i",)),
    "found and marked": Walk("", "p && p->val != v", "p->flag = 1; p = p->next;"),
    "up to what is written": Walk("unsigned i = 0;", "p && p->big != 3", "p->big = 3; p = p->next; i++;", ("i",)),
    "another list beside": Walk("", "p && q", "p->val = q->key; p = p->next; q = q->next;"),
    "two steps": Walk("", "p && p->next", "p->val = 1; p->next->val = 2; p = p->next->next;"),
    "every second": Walk("unsigned i = 0;", "p", "if (i % 2) p->val = i; i++; p = p->next;", ("i",)),
    "turned by a sign": Walk("", "p", "p->val = -p->val; p = p->next;"),
    "a hash so far": Walk("unsigned long h = 7;", "p", "h = h * 31 + p->val; p->big = h; p = p->next;", ("h",)),
    "the greatest so far": Walk("int m = -40000;", "p", "if (p->key > m) m = p->key; p->val = m; p = p->next;", ("m",)),
    "an inverse": Walk("", "p", "p->flag = ~p->flag; p = p->next;"),
    "reversed": Walk("struct node *r = 0;", "p", "struct node *x = p->next; p->next = r; r = p; p = x;", (), ("r",)),
    "reversed and numbered": Walk("struct node *r = 0; long i = 0;", "p",
                                  "struct node *x = p->next; p->next = r; p->big = i++; r = p; p = x;", ("i",), ("r",)),
    "reversed up to the fourth": Walk("struct node *r = 0; int i = 0;", "p && i < 3",
                                      "struct node *x = p->next; p->next = r; r = p; p = x; i++;", ("i",), ("r",)),
    "taken out": Walk("struct node *r = 0;", "p", "struct node *x = p->next; if (p->flag) { p->next = r; r = p; } p = x;",
                      (), ("r",)),
    "cut apart": Walk("", "p", "struct node *x = p->next; p->next = 0; p = x;"),
    "cut behind a value": Walk("", "p", "struct node *x = p->next; if (p->val == v) p->next = 0; p = x;"),
    "back links": Walk("struct node *b = 0;", "p", "p->data = (struct data *)b; b = p; p = p->next;"),
    "forward links": Walk("", "p", "p->data = (struct data *)p->next; p = p->next;"),
    "back links of the next": Walk("", "p && p->next", "p->next->data = (struct data *)p; p = p->next;"),
    "a stop inside": Walk("unsigned i = 0;", "p", "p->val = 9; if (p->flag == 2) break; p = p->next; i++;", ("i",)),
}
# fmt: on
_SIZE = {name: ctypes.sizeof(type) for name, type in CTYPES.items()}


@functools.cache
def library() -> ctypes.CDLL:
    return native(WALKS)


@functools.cache
def answered(name: str, layout: str) -> tuple[Flowgraph, LoopSummary]:
    g = graph(source(WALKS[name], layout, counted=False))
    loop = g.loops[0]
    _, found = summarized(g, paths_of(g, loop))
    assert isinstance(found, LoopSummary), found
    return g, found


def told(summary: LoopSummary, contents: t.Contents, lists: Lists, entry: dict[t.Var, int], read: t.Reader) -> set[str]:
    """Put what the contents tell of nodes into the nodes; the members of which nothing is told, ``number.name``."""
    after = reader_behind(contents, entry, read)
    unknown = set[str]()
    values: dict[tuple[int, str], int] = {}
    places = {getattr(lists.node, name).offset: name for name in _SIZE}
    for array in contents:
        value = summary.lists[array]
        (at,) = value.way
        type = contents[array][-1].type
        name = places[at]
        if value.part == "offset":
            continue
        start, address = entry[value.walk.owner], 0
        address = lists.addresses[start - 1000] if start else 0
        number = 0
        while address and number < len(lists.nodes):
            node = lists.addresses.index(address)
            try:
                held = after(array, number, t.IntType(8 * _SIZE[name], type.signed))
                if value.part:
                    assert after(array.removesuffix(t.OBJECT_IN_LIST), number, type) == 0
                    held = [*lists.addresses, *map(ctypes.addressof, lists.data)][held - 1000] if held else 0
                assert values.setdefault((node, name), held) == held, "a node with two numbers is told twice"
            except (t.EvaluationError, Endless):
                unknown.add(f"{node}.{name}")
            number, address = number + 1, lists.load(address, value.walk.link[0])
    for (node, name), held in values.items():
        setattr(lists.nodes[node], name, held)
    return unknown


def _held(lists: Lists, unknown: set[str]) -> list[dict[str, int | None]]:
    return [
        {name: None if f"{at}.{name}" in unknown else getattr(node, name) for name in _SIZE}
        for at, node in enumerate(lists.nodes)
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", WALKS)
def test_what_nodes_hold_is_exact(name: str, layout: str) -> None:
    walk, draw = WALKS[name], random.Random(f"{name} {layout}")
    g, summary = answered(name, layout)
    assert all(case.contents is not None for case in summary.cases)
    assert any(case.contents for case in summary.cases)
    assert "nodes of the lists that it goes along do not overlap one another" in summary.assumptions
    function = getattr(library(), called(WALKS, name, layout))
    found = Counter(_compared(walk, g, summary, function, Lists(layout, draw), draw) for _ in range(80))
    assert found["the same"] + found["changed"] > 20
    assert found["changed"] > 5
    assert not found.keys() & {"no value", "left open", "partly changed", "partly the same"}


def _compared(walk: Walk, g: Flowgraph, summary: LoopSummary, function: Any, lists: Lists, draw: random.Random) -> str:
    """What comes of a native run, which must do what the summary says."""
    start = {pointer: draw.choice([0, *lists.addresses[:3]]) for pointer in "pq"}
    v = draw.randint(-4, 4)
    entry = at_header(g, walk, lists, start, v)
    read = reader(summary, lists, entry)
    values = t.Valuation(entry, read)
    try:
        cases = [case for case in summary.cases if values.holds(case.when)]
        open_ = [part for part in summary.residual if values.holds(part.when)]
        never = values.holds(summary.diverges)
        times = [values.evaluate(case.iterations) for case in cases]
        after = {var.name: values.evaluate(term) for case in cases for var, term in case.then.items()}
        undefined = sum(values.holds(part.when) for part in summary.undefined)
    except Endless:
        assert _in_circle(lists, start)
        return "not evaluated"
    except t.EvaluationError:
        return "no value"  # of the member of NULL that a fold would come to next
    assert len(cases) + len(open_) + undefined + never == 1
    if not cases and not never:
        return "left open" if open_ and not _in_circle(lists, start) else "not defined"
    before = _held(lists, set())
    saved = [bytes(node) for node in lists.nodes]
    unknown = told(summary, cases[0].contents or {}, lists, entry, read) if cases else set()
    partly = "partly " if unknown and not _in_circle(lists, start) else ""
    wanted = _held(lists, unknown)
    for node, content in zip(lists.nodes, saved, strict=True):
        ctypes.memmove(ctypes.addressof(node), content, len(content))
    out = (ctypes.c_long * 8)()
    function(ctypes.c_void_p(start["p"]), ctypes.c_void_p(start["q"]), v, out)
    if never:
        assert out[0] == ENDLESS
        return "endless"
    assert [out[0]] == times
    is_told = cases[0].contents is not None
    assert not is_told or _held(lists, unknown) == wanted
    for at, number in enumerate(walk.numbers, start=1):
        var = variable(g, number)
        assert var.name not in after or var.type.wrap(out[at]) == after[var.name]
    for at, pointer in enumerate(walk.pointers, start=1 + len(walk.numbers)):
        half = halves(g, pointer)[0]
        assert lists.half(out[at], "object") == after.get(half.name, entry[half]), pointer
    return partly + ("changed" if is_told and _held(lists, set()) != before else "the same")


class _Loops:
    """Random loops that go along a list and write its nodes."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw

    def walk(self) -> Walk:
        body = " ".join(self._statement(0) for _ in range(self.draw.randint(1, 3)))
        condition = self.draw.choice(["p", "p", "p && i < 3", f"p && {self._condition(0)}"])
        if self.draw.random() < 0.5:
            body = f"struct node *x = p->next; {body} b = p; p = x; i++;"
        else:
            body = f"{body} p = p->next; i++;"
        before = "struct node *b = 0; unsigned long i = 0; unsigned long s = 1;"
        return Walk(before, condition, body, ("i", "s"), ("p", "b"))

    def _statement(self, depth: int) -> str:
        kind, value = self.draw.randint(0, 8), f"(unsigned long)({self._value(0)})"
        if kind < 3:
            return f"p->{self._member()} = {value};"
        if kind == 3:
            return f"s = s + {value};"
        if kind == 4:
            return f"if (p->next) p->next->{self._member()} = {value};"
        if kind == 5 and depth < 2:
            return (
                f"if ({self._condition(0)}) {{ {self._statement(depth + 1)} }} else {{ {self._statement(depth + 1)} }}"
            )
        return self.draw.choice(["p->data = (struct data *)b;", "p->next = b;", "b = p;", f"s = {value};"])

    def _member(self) -> str:
        return self.draw.choice(["val", "key", "flag", "big"])

    def _condition(self, depth: int) -> str:
        return f"{self._value(depth + 1)} {self.draw.choice(['<', '!=', '>='])} {self._value(depth + 1)}"

    def _value(self, depth: int) -> str:
        kind = self.draw.randint(0, 5)
        if kind > 3 or depth > 1:
            return self.draw.choice([f"p->{self._member()}", "i", "v", "s", str(self.draw.randint(0, 5))])
        if kind == 0:
            return f"({self._condition(depth)} ? {self._value(depth + 1)} : {self._value(depth + 1)})"
        return f"({self._value(depth + 1)} {self.draw.choice('+-^*')} {self._value(depth + 1)})"


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=() if seed < 1 else pytest.mark.slow) for seed in range(8)])
def test_random_loops_are_exact(seed: int) -> None:
    draw, found = random.Random(seed), Counter[str]()
    loops = _Loops(draw)
    walks = {str(number): loops.walk() for number in range(12)}
    made, layout = native(walks), "link behind"
    for name, walk in walks.items():
        g = graph(source(walk, layout, counted=False))
        _, summary = summarized(g, paths_of(g, g.loops[0]))
        if not isinstance(summary, LoopSummary):
            found["refused"] += 1
            continue
        function = getattr(made, called(walks, name, layout))
        for _ in range(30):
            lists = Lists(layout, draw, _COUNTS)
            found[_compared(walk, g, summary, function, lists, draw)] += 1
    assert found["changed"] > 20
    assert found["refused"] < 6


_COUNTS = (0, 1, 2, 3, 4, 6)
"""How many nodes there may be, of which answers about circles are evaluated at length."""


def _in_circle(lists: Lists, start: dict[str, int]) -> bool:
    """Whether one of the lists leads to a node twice."""
    link = lists.node.next.offset
    for address in start.values():
        seen = set[int]()
        while address and address not in seen:
            seen.add(address)
            address = lists.load(address, link)
        if address:
            return True
    return False


# fmt: off
FREES = {
    "all": "while (p) { x = p->next; free(p); p = x; }",
    "by a flag": "while (p) { x = p->next; if (p->flag) free(p); p = x; }",
    "up to a value": "while (p && p->val != v) { x = p->next; free(p); p = x; }",
    "three at most": "for (i = 0; p && i < 3; i++) { x = p->next; free(p); p = x; }",
    "with their sum": "while (p) { x = p->next; s += p->val; free(p); p = x; }",
    "every second": "while (p && p->next) { x = p->next->next; free(p->next); p = x; }",
    "behind a write": "while (p) { x = p->next; p->val = 0; s += p->val; free(p); p = x; }",
}
# fmt: on


@functools.cache
def freeing_library() -> ctypes.CDLL:
    head = f"static void *freed[{len(FREES)} * 100]; static int count; void **these(void) {{ return freed; }}"
    head += " int reset(void) { int n = count; count = 0; return n; } void free(void *p) { freed[count++] = p; }"
    parts = [_freeing(name).replace(" f(", f" f_{at}(") for at, name in enumerate(FREES)]
    found = shared_library("\n".join([head, TYPES % LAYOUTS["link behind"], *parts]), "-fno-builtin")
    found.these.restype = ctypes.POINTER(ctypes.c_void_p)
    return found


def _freeing(name: str) -> str:
    return f"int f(struct node *p, int v) {{ struct node *x; int i; unsigned s = 0; {FREES[name]} return (int)s; }}"


@pytest.mark.parametrize("name", FREES)
def test_what_a_loop_frees_is_exact(name: str) -> None:
    layout, draw = "link behind", random.Random(name)
    g = graph(f"void free(void *); {TYPES % LAYOUTS[layout]} {_freeing(name)}")
    _, summary = summarized(g, paths_of(g, g.loops[0]))
    assert isinstance(summary, LoopSummary), summary
    assert any(array.endswith(t.FREED) for case in summary.cases for array in case.contents or ())
    compared = freed = 0
    for _ in range(60):
        lists = Lists(layout, draw)
        start, v = {"p": draw.choice([0, *lists.addresses[:3]]), "q": 0}, draw.randint(-4, 4)
        if _in_circle(lists, start):
            continue
        entry = at_header(g, Walk("", "", ""), lists, start, v)
        entry |= {var: 0 for var, info in g.variables.items() if info.shown in ("i", "s")}
        read = reader(summary, lists, entry)
        values = t.Valuation(entry, read)
        (case,) = [case for case in summary.cases if values.holds(case.when)]
        after = reader_behind(case.contents or {}, entry, functools.partial(_before, read))
        wanted: list[int] = []
        address, number = start["p"], 0
        array = next((array for array in case.contents or {} if array.endswith(t.FREED)), None)
        while address and array is not None:
            with contextlib.suppress(_NotFreed):
                assert after(array, number, t.IntType(8, signed=False)) == 1
                wanted.append(address)
            address, number = lists.load(address, lists.node.next.offset), number + 1
        function = getattr(freeing_library(), f"f_{list(FREES).index(name)}")
        function(ctypes.c_void_p(start["p"]), v)
        count = freeing_library().reset()
        assert freeing_library().these()[:count] == wanted
        compared, freed = compared + 1, freed + count
    assert compared > 20
    assert freed > 20


class _NotFreed(Exception):
    """No layer says that a node was freed."""


def _before(read: t.Reader, array: str, number: int, type: t.IntType) -> int:
    if array.endswith(t.FREED):
        raise _NotFreed
    return read(array, number, type)


_UNTOLD = {
    "two lists": "while (p && q) { p->val = 3; q->val = 4; p = p->next; q = q->next; }",
    "the node before": "struct node *b = p; while (p) { b->val = p->val; b = p; p = p->next; }",
    "a part of a member": "while (p) { p->val = 1; ((char *)&p->val)[1] = 0; p = p->next; }",
    "a part of what is read": "while (p) { s += p->val; ((char *)&p->val)[1] = 0; p = p->next; }",
    "bytes are set": "while (p) { __builtin_memset(&p->val, 0, 4); p = p->next; }",
    "a pointer that is read": "while (p && p->next) { p->next->data = p->data; p = p->next; }",
    "a link that is read again": "while (p && p->next) { p->next = p->next->next; p = p->next; }",
    "a link ahead": "while (p && p->next) { p->next->next = q; p = p->next; }",
    "a link and an integer": "while (p) { struct node *x = p->next; p->next = q; *(long *)p = 0; p = x; }",
    "links of two lists": "while (p && q) { struct node *x = p->next; p->next = q; p = x; q = q->next; }",
    "nodes that are read when they are freed": "while (p) { free(p); p = p->next; }",
    "nodes that are written when they are freed": "while (p) { struct node *x = p->next; free(p); p->val = 0; p = x; }",
    "nodes that are freed twice": "while (p) { struct node *x = p->next; free(p); free(p); p = x; }",
    "nodes that are freed ahead": "while (p && p->next) { free(p->next); p = p->next; }",
    "nodes that other functions may free": "while (p) { struct node *x = p->next; free(p); g(x); p = x; }",
    "a function that is not known": "while (p) { p->val = 0; g(p); p = p->next; }",
    "what another pointer leads to": "while (p) { p->data->x = 0; p = p->next; }",
    "an array, too": "while (p) { p->val = 0; out[0] = 1; p = p->next; }",
}


@pytest.mark.parametrize("name", _UNTOLD)
def test_what_is_written_in_another_way_is_not_told(name: str) -> None:
    head = f"void g(struct node *); void free(void *); {TYPES % LAYOUTS['link first']}"
    parameters = "struct node *p, struct node *q, int v, long *out"
    g = graph(f"{head} unsigned f({parameters}) {{ unsigned s = 0; {_UNTOLD[name]} return s; }}")
    _, found = summarized(g, paths_of(g, g.loops[0]))
    for case in found.cases if isinstance(found, LoopSummary) else ():
        layers = [layer for told in (case.contents or {}).values() for layer in told]
        assert all(layer.value is None for layer in layers), case.contents


# fmt: off
_WHOLE = {
    "written and read": "for (x = p; x; x = x->next) x->big = i++; for (x = p; x; x = x->next) s = 3 * s + x->big;",
    "written twice": "for (x = p; x; x = x->next) x->big += v; for (x = p; x; x = x->next) x->big *= 2;",
    "another member": "for (x = p; x; x = x->next) x->val = v; for (x = p; x; x = x->next) s += x->key;",
    "both": "for (x = p; x; x = x->next) x->val = x->key; for (x = p; x; x = x->next) s += x->key - x->val;",
    "searched": "for (x = p; x; x = x->next) if (x->flag) x->val = 77;"
                " for (x = p; x && x->val != 77; x = x->next) s++;",
    "up to the fifth": "for (x = p; x && i < 5; x = x->next, i++) x->flag = i;"
                       " for (x = p; x; x = x->next) s += x->flag;",
    "sums of sums": "for (x = p; x; x = x->next) x->big = s += x->big; for (x = p; x; x = x->next) s += x->big;",
    "under a condition": "if (v > 0) for (x = p; x; x = x->next) x->big = v;"
                         " for (x = p; x; x = x->next) s += x->big;",
}
# fmt: on


@functools.cache
def whole_library() -> ctypes.CDLL:
    parts = [_function(name).replace(" f(", f" f_{at}(") for at, name in enumerate(_WHOLE)]
    found = shared_library("\n".join([TYPES % LAYOUTS["link behind"], *parts]))
    for at in range(len(_WHOLE)):
        getattr(found, f"f_{at}").restype = ctypes.c_ulong
    return found


def _function(name: str) -> str:
    body = f"struct node *x; unsigned long s = 0, i = 0; {_WHOLE[name]} return s;"
    return f"unsigned long f(struct node *p, int v) {{ {body} }}"


def _named(lists: Lists, address: int) -> t.Reader:
    """What nodes hold, by the names that the answers print."""

    def read(array: str, number: int, type: t.IntType) -> int:
        place = t.in_list(array)
        assert place is not None
        assert place[0] == "list(p, next)"
        at = address
        for _ in range(number):
            at = lists.load(at, lists.node.next.offset)
        name = place[1].removeprefix(".").removesuffix(t.OBJECT_IN_LIST)
        if name:
            return lists.load(at, getattr(lists.node, name).offset, type)
        return lists.half(at, "object" if array.endswith(t.OBJECT_IN_LIST) else "offset")

    return read


@pytest.mark.parametrize("name", _WHOLE)
def test_functions_know_what_their_loops_wrote_to_nodes(name: str) -> None:
    layout, draw = "link behind", random.Random(name)
    g = graph(f"{TYPES % LAYOUTS[layout]} {_function(name)}")
    outcomes = {loop.name: summarized(g, paths_of(g, loop))[1] for loop in g.loops}
    summary = summarize_function(g, outcomes)
    assert isinstance(summary, CallSummary)
    assert any(case.nodes for case in summary.cases)
    null = next(var for var in (parameter.null for parameter in g.parameters) if var is not None)
    compared = 0
    for _ in range(60):
        lists = Lists(layout, draw)
        p, v = draw.choice([0, *lists.addresses[:3]]), draw.randint(-4, 4)
        if _in_circle(lists, {"p": p}):
            continue
        entry, read = {null: int(p == 0), variable(g, "v"): v}, _named(lists, p)
        values = t.Valuation(entry, read)
        cases = [case for case in summary.cases if values.holds(case.when)]
        if not cases and name == "up to the fifth":
            assert any(values.holds(part.when) for part in summary.residual)
            continue
        (case,) = cases
        assert case.result is not None
        result = values.evaluate(case.result)
        wanted = [{name: getattr(node, name) for name in _SIZE} for node in lists.nodes]
        after = reader_behind(case.nodes, entry, read)
        for array, layers in case.nodes.items():
            member = array.rpartition(".")[2]
            address, number = p, 0
            while address:
                type = t.IntType(8 * _SIZE[member], layers[0].type.signed)
                wanted[lists.addresses.index(address)][member] = after(array, number, type)
                address, number = lists.load(address, lists.node.next.offset), number + 1
        function = getattr(whole_library(), f"f_{list(_WHOLE).index(name)}")
        assert function(ctypes.c_void_p(p), v) == result
        for node, content in zip(lists.nodes, wanted, strict=True):
            for member, held in content.items():
                assert getattr(node, member) == CTYPES[member](held or 0).value
        compared += 1
    assert compared > 20

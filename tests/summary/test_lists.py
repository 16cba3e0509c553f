"""Loops that walk linked lists, against native runs: of random lists, empty ones, circles, and lists with one tail."""

from __future__ import annotations

import ctypes
import functools
import random

import pytest

from linked_lists import (
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
from loopless.paths import LoopPaths
from loopless.refusals import Refused
from loopless.summary import LoopSummary, paths_of, summarize, summarize_function
from loops_in_c import graph, variable

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


@functools.cache
def answered(name: str, layout: str) -> tuple[Flowgraph, LoopSummary]:
    g = graph(source(WALKS[name], layout, counted=False))
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


@functools.cache
def library() -> ctypes.CDLL:
    return native(WALKS)


@pytest.mark.parametrize("layout", LAYOUTS)
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
        entry = at_header(g, walk, lists, start, v)
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
        getattr(library(), called(WALKS, name, layout))(
            ctypes.c_void_p(start["p"]), ctypes.c_void_p(start["q"]), v, out
        )
        compared += 1
        if never:
            assert out[0] == ENDLESS, (start, v)
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
    head = f"void g(struct node *); {TYPES % LAYOUTS['link first']}"
    body = _REFUSED[name].replace("KEY", "14")
    source = f"{head} void f(struct node *p, struct node *q, int v, long *out) {{ unsigned s = 0; {body} out[0] = s; }}"
    g = graph(source)
    outer = next(loop for loop in g.loops if loop.parent is None)
    found = summarize(paths_of(g, outer))
    assert isinstance(found, Refused), found


def test_another_pointer_is_taken_to_lead_elsewhere() -> None:
    types = TYPES % LAYOUTS["link first"]
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
    types = TYPES % LAYOUTS["link first"]
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
    types = TYPES % LAYOUTS["link first"]
    body = "while (p) { struct node *x = p->next; free(p); p = x; }"
    g = graph(f"void free(void *); {types} void f(struct node *p) {{ {body} }}")
    found = summarize(paths_of(g, g.loops[0]))
    assert isinstance(found, LoopSummary)
    assert found.diverges is t.FALSE
    assert len(found.residual) == 1
    assert found.cases

"""Lists that loops make of new objects, against native runs with an allocator of the test, which may fail."""

from __future__ import annotations

import ctypes
import functools
import random

import pytest

from loopless import terms as t
from loopless.flowgraph.model import Flowgraph
from loopless.summary import LoopSummary, paths_of, summarized
from loopless.terms.contents import reader_behind
from loops_in_c import graph, variable
from shared_library import shared_library

_MOST = 40
_TYPES = "struct node { struct node *next; int val; short key; unsigned long big; };"
_HEAD = f"void *malloc(unsigned long); {_TYPES}"
_ALLOCATOR = f"""{_TYPES}
static struct node arena[{_MOST}]; static int made, fails;
struct node *reset(int at) {{
    for (int i = 0; i < {_MOST}; i++) arena[i] = (struct node){{0, -1, -2, 77}};
    made = 0; fails = at; return arena; }}
void *malloc(unsigned long n) {{ (void)n; int at = made++; return at == fails ? 0 : arena + at; }}
"""


# fmt: off
MADE = {
    "in front": "for (i = 0; i < n; i++) { q = malloc(sizeof *q); q->val = i; q->next = head; head = q; }",
    "in front, other members": "for (i = 0; i < n; i++) { q = malloc(sizeof *q); q->next = head; q->key = i + v;"
                               " q->big = 3 * q->key; head = q; }",
    "in front, downwards": "for (i = n; i > 0; i--) { q = malloc(sizeof *q); q->val = i * i % 7; q->next = head;"
                           " head = q; }",
    "every third": "for (i = 0; i < n; i++) if (i % 3 == 1) { q = malloc(sizeof *q); q->val = i; q->next = head;"
                   " head = q; }",
    "two at a time": "for (i = 0; i < n; i++) { q = malloc(sizeof *q); r = malloc(sizeof *r); q->val = i; r->val = -i;"
                     " q->next = r; r->next = head; head = q; }",
    "until it fails": "for (i = 0; i < n; i++) { q = malloc(sizeof *q); if (!q) break; q->val = v; q->next = head;"
                      " head = q; }",
    "without those that fail": "for (i = 0; i < n; i++) { q = malloc(sizeof *q); if (q) { q->val = i; q->next = head;"
                               " head = q; } }",
    "the last one's value": "for (i = 0; i < n; i++) { q = malloc(sizeof *q); q->big = s; s = 5 * s + i; q->next = 0;"
                            " head = q; }",
    "a member set twice": "for (i = 0; i < n; i++) { q = malloc(sizeof *q); q->val = i; q->next = head;"
                          " q->val = q->val + v; head = q; }",
}
# fmt: on
_CHECKED = {"until it fails", "without those that fail"}
_MEMBERS = {"next": 0, "val": 8, "key": 12, "big": 16}


class Node(ctypes.Structure):
    _fields_ = (
        ("next", ctypes.c_void_p),
        ("val", ctypes.c_int),
        ("key", ctypes.c_short),
        ("big", ctypes.c_ulong),
    )


def _source(name: str) -> str:
    before = "struct node *head = p, *q, *r; int i; unsigned long s = 1;"
    behind = "*(struct node **)&out[0] = head; out[1] = i; out[2] = (long)s;"
    return f"void f(struct node *p, int n, int v, long *out) {{ {before} {MADE[name]} {behind} }}"


@functools.cache
def library() -> ctypes.CDLL:
    parts = [_source(name).replace("void f(", f"void f_{at}(") for at, name in enumerate(MADE)]
    found = shared_library("\n".join([_ALLOCATOR, *parts]), "-fno-builtin")
    found.reset.restype = ctypes.POINTER(Node)
    return found


@functools.cache
def answered(name: str) -> tuple[Flowgraph, LoopSummary]:
    g = graph(f"{_HEAD} {_source(name)}")
    _, found = summarized(g, paths_of(g, g.loops[0]))
    assert isinstance(found, LoopSummary), found
    return g, found


def _sites(summary: LoopSummary) -> list[str]:
    """The places where a loop makes objects, in the order of the source."""
    found = {value.walk.made for value in summary.lists.values()}
    return sorted(found, key=lambda place: [int(part) for part in place.split(":")])


def _number(summary: LoopSummary, array: str, number: int) -> int:
    """Which object of the allocator it is: with two places these take turns."""
    sites = _sites(summary)
    return len(sites) * number + sites.index(summary.lists[array].walk.made)


@pytest.mark.parametrize("name", MADE)
def test_what_a_loop_makes_is_exact(name: str) -> None:
    draw = random.Random(name)
    g, summary = answered(name)
    assert summary.complete
    assert summary.exact
    assert all(case.contents is not None for case in summary.cases)
    compared, failing = 0, [-1]

    def read(array: str, number: int, _: t.IntType) -> int:
        if summary.lists[array].way:
            raise _NothingThere
        at = _number(summary, array, number)
        return 0 if at == failing[0] else 1000 + at

    for _ in range(40):
        n, v = draw.randint(-1, 9), draw.randint(-4, 4)
        fails = draw.choice([-1, 0, 1, 3, 8]) if name in _CHECKED else -1
        arena = library().reset(fails)
        addresses = [ctypes.addressof(arena[at]) for at in range(_MOST)]
        entry = {variable(g, "i"): n if "downwards" in name else 0, variable(g, "n"): n, variable(g, "v"): v}
        entry[variable(g, "s")] = 1
        outside = Node(None, 5, 5, 5)
        for var, info in g.variables.items():
            if info.pointer_part and info.shown.removesuffix(".object") in ("head", "p"):
                entry[var] = 999 if info.pointer_part == "object" else 0
            elif info.shown in ("n", "v"):
                entry[var] = n if info.shown == "n" else v
        places = {0: 0, 999: ctypes.addressof(outside), **{1000 + at: place for at, place in enumerate(addresses)}}
        failing[0] = fails
        values = t.Valuation(entry, read)
        (case,) = [case for case in summary.cases if values.holds(case.when)]
        wanted = [{member: getattr(arena[at], member) for member in _MEMBERS} for at in range(_MOST)]
        after = reader_behind(case.contents or {}, entry, read)
        for array, layers in (case.contents or {}).items():
            value = summary.lists[array]
            member = next(name for name, at in _MEMBERS.items() if value.way == (at,))
            for number in range(_MOST // len(_sites(summary))):
                at = _number(summary, array, number)
                try:
                    held = after(array, number, layers[0].type)
                except _NothingThere:
                    continue
                if value.part == "object":
                    wanted[at]["next"] = places[held] or None
                elif value.part == "":
                    wanted[at][member] = held
        address = ctypes.addressof(outside)
        out = (ctypes.c_long * 4)()
        getattr(library(), f"f_{list(MADE).index(name)}")(ctypes.c_void_p(address), n, v, out)
        for var, term in case.then.items():
            info = g.variables[var]
            if info.shown == "head.object":
                assert out[0] == places[values.evaluate(term)]
            elif info.shown == "i":
                assert out[1] == values.evaluate(term)
        assert [{member: getattr(arena[at], member) for member in _MEMBERS} for at in range(_MOST)] == wanted
        assert (outside.next, outside.val, outside.key, outside.big) == (None, 5, 5, 5)
        compared += n > 0
    assert compared > 20


class _NothingThere(Exception):
    """A member is read that no layer tells."""

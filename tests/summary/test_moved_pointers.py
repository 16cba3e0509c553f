"""Loops that move pointers in memory, or make one of them from another one, against native runs."""

from __future__ import annotations

import ctypes
import functools
import random
from pathlib import Path
from typing import Any

import pytest

from loopless.flowgraph.model import Flowgraph
from loopless.queries import program as session
from loopless.summary import LoopSummary, paths_of, summarize, with_memory
from loopless.summary.model import Case
from loopless.terms import IntType, Var, evaluate, holds
from loopless.terms.contents import INDEX, UnknownElement, reader_behind
from shared_library import shared_library

_HEAD = """struct M { unsigned char *p; int left; unsigned acc; unsigned char *q; };
struct T { struct M *m; unsigned char used[8]; };
"""
_BEFORE = "g(t); for (int j = 0; j < n; j++) t->used[j & 7] = 1;"
"""Here a call may change the pointers, and other members are written, so that no member is a variable of its own."""
_SIZE = 96
_OBJECTS = {"t->m->p": 101, "t->m->q": 102}
_BYTE = IntType(8, signed=False)


class _Native(ctypes.Structure):
    _fields_ = (("p", ctypes.c_void_p), ("left", ctypes.c_int), ("acc", ctypes.c_uint), ("q", ctypes.c_void_p))


class _Outer(ctypes.Structure):
    _fields_ = (("m", ctypes.c_void_p), ("used", ctypes.c_ubyte * 8))


def _statement(rng: random.Random, depth: int = 0) -> str:
    pick = rng.choice
    pointer, other = pick((("t->m->p", "t->m->q"), ("t->m->p", "t->m->q"), ("t->m->q", "t->m->p")))
    plain = [f"{pointer}++;", f"{pointer} += {pick(('2', 'x & 1', '(i & 1)'))};", "t->m->left--;"]
    plain += [f"t->m->acc += *{pointer};", f"t->m->acc = t->m->acc * 3 + {pointer}[1];", f"k += *{pointer}++;"]
    plain += [f"*{pointer} = {pick(('i', '7', 'x'))};"] * 2 + [f"{pointer} = {other} + 1;"]
    plain += [f"if (*{pointer} == {rng.randrange(4)}) break;"]
    if depth == 0:
        condition = pick((f"*{pointer} > 100", "x & 1", "t->m->left > 2"))
        plain += [f"if ({condition}) {{ {_statement(rng, 1)} {_statement(rng, 1)} }}"] * 2
    return pick(plain)


def _loop(seed: int) -> str:
    rng = random.Random(seed)
    condition = rng.choice(("i < n", "i < n && t->m->left > 0", "*t->m->p && i < n"))
    return f"for (i = 0; {condition}; i++) {{ {' '.join(_statement(rng) for _ in range(rng.randint(1, 4)))} }}"


_GIVEN = (
    "for (i = 0; *t->m->p && i < n; i++) { t->m->acc += t->m->q[1]; t->m->q = t->m->p + 1; t->m->p++; *t->m->q = x; }",
    "for (i = 0; i < n; i++) { *t->m->q = x; *t->m->p = i; if (*t->m->p > 2) t->m->q = t->m->p + 1; }",
    "for (i = 0; i < n; i++) { *t->m->p = i; *t->m->q = x; if (i == 2) t->m->q = t->m->p; k += *t->m->p; }",
)
"""The first of two pointers leads elsewhere from some iteration on: what holds of both at the entry ends there."""
_SEEDS = range(120)
_LOOPS = (*_GIVEN, *map(_loop, _SEEDS))


@functools.cache
def _library() -> ctypes.CDLL:
    functions = (
        f"void f_{at}(struct T *t, int n, unsigned x, int *told) "
        f"{{ int i; unsigned k = 0; {loop} told[0] = i; told[1] = k; }}\n"
        for at, loop in enumerate(_LOOPS)
    )
    return shared_library(_HEAD + "".join(functions))


def _summary(loop: str, folder: Path) -> tuple[Flowgraph, LoopSummary | None]:
    """The summary of a loop; None where it is refused, as what an iteration reads may lie anywhere."""
    end = "return k + i + t->used[n & 7];"
    body = f"{_BEFORE} int i; unsigned k = 0;\n{loop} {end}"
    file = folder / "a.c"
    file.write_text(f"{_HEAD}void g(struct T *);\nint f(struct T *t, int n, unsigned x) {{ {body} }}\n", "utf-8")
    graph = session.load([file])["f"].graph()
    assert isinstance(graph, Flowgraph)
    paths = paths_of(graph, graph.loops[1])
    assert not hasattr(paths, "refused"), paths
    _, summary = with_memory(graph, paths, summarize(paths))
    return graph, summary if isinstance(summary, LoopSummary) else None


class _Run:
    """A run from random contents, with pointers into two objects."""

    def __init__(self, rng: random.Random) -> None:
        some = (0, 1, 2, 3, 90, 101, 200)
        self.before = {name: bytes(rng.choice((*some, rng.randrange(256))) for _ in range(_SIZE)) for name in _OBJECTS}
        self.place = {name: rng.randrange(8) for name in _OBJECTS}
        self.n, self.x, self.left, self.acc = (
            rng.randrange(9),
            rng.randrange(4),
            rng.randrange(-1, 8),
            rng.randrange(99),
        )

    def natively(self, function: Any) -> dict[str, Any]:
        """What the run comes to and leaves behind."""
        held = {name: (ctypes.c_ubyte * _SIZE)(*content) for name, content in self.before.items()}
        p, q = (ctypes.addressof(held[name]) + self.place[name] for name in _OBJECTS)
        inner = _Native(p, self.left, self.acc, q)
        told = (ctypes.c_int * 2)()
        function(ctypes.byref(_Outer(ctypes.addressof(inner))), self.n, self.x, told)
        found = {"i": told[0], "k": told[1] % 2**32, "left": inner.left, "acc": inner.acc}
        for name, pointer in zip(_OBJECTS, (inner.p, inner.q), strict=True):
            distance = {other: pointer - ctypes.addressof(buffer) for other, buffer in held.items()}
            into = next(other for other, at in distance.items() if 0 <= at < _SIZE)
            found[f"pointer {name}"] = _OBJECTS[into], distance[into]
        return found | {name: bytes(buffer) for name, buffer in held.items()}

    def read(self, array: str, offset: int, type: IntType) -> int:
        assert type.width is not None
        if array == "t->m":
            cells = bytes(8) + self.left.to_bytes(4, "little", signed=True) + self.acc.to_bytes(4, "little") + bytes(8)
        else:
            cells = self.before[array]
        return type.wrap(int.from_bytes(cells[offset : offset + type.width // 8], "little"))

    def value(self, var: Var) -> int:
        known = {"n": self.n, "x": self.x, "t->m.object": 100, "t->m->left": self.left, "t->m->acc": self.acc}
        known |= {**self.place, **{f"{name}.object": number for name, number in _OBJECTS.items()}}
        return known.get(var.name, 0)


def _compared(summary: LoopSummary, case: Case, run: _Run, values: dict[Var, int], native: dict[str, Any]) -> None:
    """Compare what a case of the summary tells with what the run left."""
    assert evaluate(case.iterations, values, run.read) == native["i"]
    then = {var.name: evaluate(term, values, run.read) for var, term in summary.known(case).items()}
    for name in ("i", "k"):
        assert name not in then or then[name] % 2**32 == native[name], name
    for name in _OBJECTS:
        object, inside = native[f"pointer {name}"]
        assert then.get(name, inside) == inside, name
        assert then.get(f"{name}.object", object) == object, name
    if case.contents is None:
        return
    for layer in case.contents.get("t->m", ()):
        if layer.pointer is not None:
            name = {0: "t->m->p", 16: "t->m->q"}[evaluate(layer.offset, {**values, INDEX: 0}, run.read)]
            held = layer.pointer.object, layer.pointer.offset
            assert tuple(evaluate(part, values, run.read) for part in held) == native[f"pointer {name}"]
    after = reader_behind(case.contents, values, run.read)
    cells = [("t->m", 8, IntType(32), native["left"]), ("t->m", 12, IntType(32, signed=False), native["acc"])]
    for name in _OBJECTS:
        if f"what {name} points to" not in case.contents:
            cells += [(name, i, _BYTE, native[name][i]) for i in range(_SIZE)]
    for array, offset, type, expected in cells:
        try:
            assert after(array, offset, type) == expected, (array, offset)
        except UnknownElement:
            continue


@pytest.mark.parametrize("at", [pytest.param(n, marks=() if n < 40 else pytest.mark.slow) for n in range(len(_LOOPS))])
def test_loops_that_move_pointers_leave_what_native_runs_leave(at: int, tmp_path: Path) -> None:
    graph, summary = _summary(_LOOPS[at], tmp_path)
    if summary is None:
        return
    rng = random.Random(at)
    for _ in range(25):
        run = _Run(rng)
        spoken = {var for case in summary.cases for var in case.when.variables}
        values = {var: run.value(var) for var in (*graph.variables, *spoken)}
        told = [case for case in summary.cases if holds(case.when, values, run.read)]
        assert len(told) <= 1
        assert told or not summary.complete
        for case in told:
            _compared(summary, case, run, values, run.natively(getattr(_library(), f"f_{at}")))


def test_most_of_it_is_told(tmp_path: Path) -> None:
    found: list[LoopSummary] = []
    for at in range(30):
        folder = tmp_path / str(at)
        folder.mkdir()
        summary = _summary(_LOOPS[at], folder)[1]
        found += [] if summary is None else [summary]
    assert sum(summary.complete for summary in found) >= 25
    assert sum(any(case.contents for case in summary.cases) for summary in found) >= 15
    layers = [layer for summary in found for case in summary.cases for layer in (case.contents or {}).get("t->m", ())]
    assert sum(layer.pointer is not None for layer in layers) >= 30

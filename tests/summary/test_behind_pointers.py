"""What random functions write behind pointers that lie in a structure, against native runs."""

from __future__ import annotations

import ctypes
import functools
import random
from pathlib import Path
from typing import Any

import pytest

from loopless.flowgraph.model import Flowgraph
from loopless.queries import program as session
from loopless.queries.functions import summarize_whole
from loopless.summary import CallSummary
from loopless.terms import IntType, Var, evaluate, holds
from loopless.terms.contents import UnknownElement, reader_behind
from shared_library import shared_library

_HEAD = "struct S { unsigned char *p; int n; unsigned char *q; };\n"
_SIZE = 64
_OBJECTS = {"s->p": 101, "s->q": 102}
_BYTE = IntType(8, signed=False)


class _Native(ctypes.Structure):
    _fields_ = (("p", ctypes.c_void_p), ("n", ctypes.c_int), ("q", ctypes.c_void_p))


def _statement(rng: random.Random, i: str, depth: int) -> str:
    """A statement in iteration ``i``, or outside of a loop, where that is "0"; pointers move there only."""
    pick = rng.choice
    pointer = pick(("s->p", "s->p", "s->q", "t"))

    def element(of: str) -> str:
        return f"{of}[{pick(('0', '1', '2', i, '(k & 3)', f'({i} + 1)', '(x & 3)'))}]"

    value = pick((i, "k", "x", "5", f"{element(pointer)} + 1", element("s->q"), element("s->p")))
    condition = pick(("k > 2", "x & 1", "s->n > 3", f"{pointer}[1] > 100"))
    plain = [f"{element(pointer)} = {value};"] * 5
    plain += [f"x += {element(pointer)};", f"s->n = {element(pointer)};", f"*{pointer} = x;", "x ^= s->n;"]
    plain += ["s->n = (s->n & 3) + 1; s->p[s->n++] = k;"]
    if depth == 0:
        guarded = f"{_statement(rng, i, 1)} {_statement(rng, i, 1)}"
        plain += [f"if ({condition}) {{ {guarded} }}"] * 2 + [f"t = {pick(('s->p', 's->q'))};"]
    if i == "0":
        swap = "{ unsigned char *u = s->p; s->p = s->q; s->q = u; }"
        plain += [pick(("s->p++;", "s->q += 2;", swap, "s->p = s->q - 1;"))]
    return pick(plain)


def _function(seed: int) -> str:
    rng = random.Random(seed)
    parts = []
    for _ in range(rng.randint(1, 4)):
        if rng.random() < 0.35:
            body = " ".join(_statement(rng, "i", 1) for _ in range(rng.randint(1, 2)))
            parts.append(f"for (int i = 0; i < {rng.choice(('k', '3', 'k + 1'))}; i++) {{ {body} }}")
        else:
            parts.append(_statement(rng, "0", 0))
    begin = "if (k < 0 || k > 5) return -1; unsigned x = k; unsigned char *t = s->p;"
    return f"int f(struct S *s, int k) {{ {begin} {' '.join(parts)} return x & 0xffff; }}\n"


_SEEDS = range(120)


@functools.cache
def _library() -> ctypes.CDLL:
    return shared_library(_HEAD + "".join(_function(seed).replace(" f(", f" f_{seed}(") for seed in _SEEDS))


class _Run:
    """A call with random contents and pointers into two objects."""

    def __init__(self, rng: random.Random) -> None:
        self.before = {name: bytes(rng.randrange(256) for _ in range(_SIZE)) for name in _OBJECTS}
        self.place = {name: rng.randrange(16, 24) for name in _OBJECTS}
        self.k, self.n = rng.randrange(6), rng.randrange(8)

    def natively(self, function: Any) -> dict[str, Any]:
        """What the call returns and leaves behind."""
        held = {name: (ctypes.c_ubyte * _SIZE)(*content) for name, content in self.before.items()}
        base = {name: ctypes.addressof(buffer) for name, buffer in held.items()}
        structure = _Native(base["s->p"] + self.place["s->p"], self.n, base["s->q"] + self.place["s->q"])
        found: dict[str, Any] = {"return": function(ctypes.byref(structure), self.k), "s->n": structure.n}
        for name, pointer in (("s->p", structure.p), ("s->q", structure.q)):
            into = next(other for other in _OBJECTS if 0 <= pointer - base[other] < _SIZE)
            found |= {name: pointer - base[into], f"{name}.object": _OBJECTS[into], f"*{name}": bytes(held[name])}
        return found

    def read(self, array: str, offset: int, type: IntType) -> int:
        return type.wrap(self.before[array.removeprefix("*")][offset])

    def values(self, graph: Flowgraph, summary: CallSummary) -> dict[Var, int]:
        known = {"k": self.k, "s->n": self.n, **self.place, **{f"{n}.object": o for n, o in _OBJECTS.items()}}
        every = (*graph.variables, *(one.var for one in summary.inputs))
        return {var: known.get(var.name, self._element(var.name)) for var in every}

    def _element(self, name: str) -> int:
        """What a variable holds that stands for one byte (``*s->p``, ``s->p[2]``)."""
        at = _byte_of(name)
        return 0 if at is None else self.before[at[0]][self.place[at[0]] + at[1]]


def _byte_of(name: str) -> tuple[str, int] | None:
    if name.startswith("*") and name[1:] in _OBJECTS:
        return name[1:], 0
    pointer, bracket, index = name.partition("[")
    return (pointer, int(index[:-1])) if bracket and pointer in _OBJECTS and index[:-1].lstrip("-").isdigit() else None


@pytest.mark.parametrize("seed", [pytest.param(n, marks=() if n < 40 else pytest.mark.slow) for n in _SEEDS])
def test_what_functions_write_behind_pointers_is_what_native_runs_show(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(_HEAD + _function(seed), encoding="utf-8")
    function = session.load([file])["f"]
    graph, summary = function.graph(), summarize_whole(function)
    assert isinstance(graph, Flowgraph)
    assert isinstance(summary, CallSummary)
    rng = random.Random(seed)
    for _ in range(25):
        run = _Run(rng)
        values = run.values(graph, summary)
        told = [case for case in summary.cases if holds(case.when, values, run.read)]
        assert len(told) <= 1
        if not told:
            assert not summary.complete
            continue
        (case,) = told
        native = run.natively(getattr(_library(), f"f_{seed}"))
        assert case.result is not None
        assert evaluate(case.result, values, run.read) == native["return"]
        then = {var.name: evaluate(term, values, run.read) for var, term in case.then.items()}
        for name, before in (("s->n", run.n), *run.place.items(), *((f"{n}.object", o) for n, o in _OBJECTS.items())):
            assert then.get(name, before) == native[name], name
        alone = {(at[0], run.place[at[0]] + at[1]): value & 255 for n, value in then.items() if (at := _byte_of(n))}
        after = reader_behind(case.contents or {}, values, run.read)
        for name in _OBJECTS:
            for i in range(_SIZE):
                try:
                    found = alone[name, i] if (name, i) in alone else after(name, i, _BYTE)
                except UnknownElement:
                    continue
                assert found == native[f"*{name}"][i], (name, i)


def test_most_of_it_is_told(tmp_path: Path) -> None:
    exact = 0
    for seed in range(20):
        file = tmp_path / f"{seed}.c"
        file.write_text(_HEAD + _function(seed), encoding="utf-8")
        summary = summarize_whole(session.load([file])["f"])
        exact += isinstance(summary, CallSummary) and summary.complete and summary.exact
    assert exact >= 15

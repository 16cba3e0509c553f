"""Structures in registers: what is copied as a whole is read member by member, and means what it means natively."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from loopless.check.oracle.native import NativeOracle
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.evaluation.calls import evaluate
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.source.ir import ArrayT, Instruction, IntT, SourceFunction, StructT
from loopless.source.reader import read_module
from loopless.terms import evaluate as value_of

SETTINGS = Settings(sandboxed=False)
STRUCTURES = {
    # By name: members, and how a function fills them in from n.
    "two numbers": ("int a; int b;", "r.a = n; r.b = 2 * n;"),
    "two registers": ("long a, b;", "r.a = n; r.b = 2 * n;"),
    "four numbers": ("int a, b, c, d;", "r.a = n; r.c = 7; r.d = n; r.b = n + r.a;"),
    "with room between": ("char c; int b; short s;", "r.c = n; r.b = n + n; r.s = -n;"),
    "of five bytes": ("signed char b, c[4];", "r.b = 2 * n; r.c[3] = n;"),
    "an array": ("short a[3], b;", "r.a[2] = n; r.b = r.a[2] + n;"),
    "a structure inside": ("struct { short x, y; } in; int b;", "r.in.x = n; r.in.y = n; r.b = r.in.x + r.in.y;"),
    "a union": ("union { int i; unsigned char c[4]; } u; int b;", "r.u.i = n; r.b = n + r.u.c[0];"),
    "bits": ("int k : 5, b : 20; int c;", "struct R z = {0}; r = z; r.k = n; r.b = 2 * n; r.c = n;"),
    "a pointer": ("int *p; int b;", "static int x; x = n; r.p = &x; r.b = 2 * *r.p;"),
    "one that is left out": ("int b, never;", "r.b = 2 * n;"),
}
USES = """
static struct R half(int n) {{ if (n > 5) return make(n / 2); struct R r = make(n); return r; }}
static int take(struct R r, struct R s) {{ return r.b - s.b; }}
static int chosen(int n) {{ struct R t; for (int i = 0; i < 3; i++) t = i & 1 ? make(n) : half(i); return t.b; }}
int f(int n) {{ struct R q = half(n), r = q; return q.b + 3 * take(make(n), r) + 100 * chosen(n); }}
int loops(int n) {{ int c = 0; struct R q = make(n); for (int i = 0; i < q.b; i++) c++; return c; }}
"""


def text_of(name: str) -> str:
    members, fill = STRUCTURES[name]
    return f"struct R {{ {members} }};\nstatic struct R make(int n) {{ struct R r; {fill} return r; }}" + USES.format()


@pytest.mark.parametrize("name", STRUCTURES)
def test_calls_come_to_what_they_come_to_natively(name: str, tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(text_of(name))
    program = load([file], SETTINGS)
    with NativeOracle(text_of(name)) as oracle:
        for n in (-9, -1, 0, 1, 2, 6, 11, 40):
            for function in ("f", "loops"):
                natively = oracle.run(function, [n])
                found = evaluate(program[function], [n])
                assert natively.status == "ok"
                assert (found.status, found.return_value) == ("ok", natively.return_value), (function, n)


OTHERWISE = ("with room between", "of five bytes", "a union", "bits")
"""Copied in one block by clang, or not of numbers alone: their bounds are over the values at the loop."""


@pytest.mark.parametrize("name", [name for name in STRUCTURES if name not in OTHERWISE])
def test_bounds_are_over_the_inputs(name: str, tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(text_of(name))
    program = load([file], SETTINGS)
    (found,) = answer_bounds([program["loops"]], "all", SETTINGS)
    (loop,) = found.counts
    assert loop.call.upper is not None
    (n,) = loop.call.upper.variables
    assert [value_of(loop.call.upper, {n: value}) for value in (-3, 0, 1, 7)] == [0, 0, 2, 14]


# ------------------------------------------------------------------------------------------------------------ by hand

MODULE = """
%struct.R = type {{ i32, i8, i16 }}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @use(i64)
define void @f() {{
entry:
  %from = alloca %struct.R
  %to = alloca %struct.R
  %other = alloca {{ i64, i64 }}
  %made = alloca {{ i64 }}
{body}
  ret void
}}
"""


def read(body: str) -> Iterator[Instruction]:
    function: SourceFunction = read_module(MODULE.format(body=body)).functions["f"]
    return (i for i in function.instructions() if i.op in ("load", "store"))


COPY = "  %x = load i64, ptr %from\n"


def test_members_and_the_room_between_are_copied() -> None:
    found = list(read(COPY + "  store i64 %x, ptr %to\n  store i64 %x, ptr %to"))
    kinds = [i.access.type for i in found if i.access is not None]
    assert kinds == [IntT(32), IntT(8), IntT(8), IntT(16)] * 3
    assert [i.op for i in found] == ["load"] * 4 + ["store"] * 8
    assert len({i.result for i in found if i.op == "load"}) == 4


@pytest.mark.parametrize(
    "body",
    [
        COPY + "  call void @use(i64 %x)\n  store i64 %x, ptr %to",
        COPY + "  store i64 %x, ptr %other",
        COPY + "  %y = add i64 %x, 1\n  store i64 %x, ptr %to",
        COPY + "  store volatile i64 %x, ptr %to",
        "  %x = load volatile i64, ptr %from\n  store i64 %x, ptr %to",
        "  %at = getelementptr i8, ptr %from, i64 2\n  %x = load i32, ptr %at\n  store i32 %x, ptr %to",
    ],
    ids=("called", "other members", "computed", "volatile store", "volatile load", "across members"),
)
def test_other_numbers_stay_as_they_are(body: str) -> None:
    (load_, *_) = read(body)
    assert load_.result == "x"


def test_what_clang_made_has_the_members_of_what_is_copied_there() -> None:
    copy = "  call void @llvm.memcpy.p0.p0.i64(ptr %made, ptr %from, i64 8, i1 false)\n"
    loaded = "  %x = load i64, ptr %made\n  store i64 %x, ptr %to"
    assert len(list(read(copy + loaded))) == 8 + 2 * 3  # and those of the copy, but for the room between
    assert len(list(read(loaded))) == 2


@pytest.mark.parametrize(
    ("copy", "loads"),
    [
        ("llvm.memcpy.p0.p0.i64(ptr %to, ptr %other, i64 8, i1 false)", 3),
        ("llvm.memcpy.p0.p0.i64(ptr %other, ptr %to, i64 8, i1 false)", 3),
        ("llvm.memcpy.p0.p0.i64(ptr %to, ptr %other, i64 4, i1 false)", 1),
        ("llvm.memcpy.p0.p0.i64(ptr %to, ptr %other, i64 5, i1 false)", 2),
        ("llvm.memcpy.p0.p0.i64(ptr %to, ptr %other, i64 7, i1 false)", 0),  # a part of a number
        ("llvm.memcpy.p0.p0.i64(ptr %to, ptr %other, i64 16, i1 false)", 0),  # more than there is
        ("llvm.memcpy.p0.p0.i64(ptr %to, ptr %other, i64 8, i1 true)", 0),
        ("llvm.memcpy.p0.p0.i64(ptr %to, ptr %to, i64 8, i1 false)", 0),
        ("llvm.memmove.p0.p0.i64(ptr %to, ptr %other, i64 8, i1 false)", 0),
    ],
)
def test_a_structure_is_assigned_member_by_member(copy: str, loads: int) -> None:
    found = list(read(f"  call void @{copy}\n"))
    assert [i.op for i in found] == ["load"] * loads + ["store"] * loads


def test_parts_of_a_value_are_read_where_the_whole_is() -> None:
    body = """  %x = load { i32, i16 }, ptr %from
  store i32 0, ptr %from
  %a = extractvalue { i32, i16 } %x, 0
  %b = extractvalue { i32, i16 } %x, 1
  %again = extractvalue { i32, i16 } %x, 0
  %sum = add i32 %again, %a
  store i16 %b, ptr %made
  store i32 %sum, ptr %to"""
    found = list(read(body))
    assert [i.result for i in found if i.op == "load"] == ["a", "b"]
    assert [i.op for i in found] == ["load"] * 2 + ["store"] * 3
    assert not any(i.access and isinstance(i.access.type, StructT | ArrayT) for i in found)


def test_a_whole_that_is_used_otherwise_stays() -> None:
    body = "  %x = load { i32, i16 }, ptr %from\n  %y = freeze { i32, i16 } %x\n  %a = extractvalue { i32, i16 } %x, 0"
    assert [i.result for i in read(body)] == ["a", "x"]

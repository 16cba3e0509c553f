"""What functions and loops are called, and what they may be called in a question."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from loopless.errors import UsageError
from loopless.queries.evaluation.evaluate import Evaluation
from loopless.queries.loops.answer import Question
from loopless.queries.loops.answers import answer_loop
from loopless.queries.loops.name import own_name
from loopless.queries.program import AnalyzedProgram, is_called, load
from loopless.queries.settings import Settings
from loopless.report.evaluation import evaluation_text
from loopless.report.text import TextLayout, loop_summary

OVERLOADS = """
namespace a { int f(int n) { int i = 0; while (i < n) i += 2; return i; } }
namespace b { int f(int n) { int i = 0; while (i < n) i += 3; return i; }
              int f(int n, char *p) { while (n > 0) n--; return n; } }
struct S { int v; void g(int n) { for (int i = 0; i < n; i++) v++; } };
template <typename T> T h(T n) { T i = 0; while (i < n) i++; return i; }
int use(int n) { S s; s.v = 0; s.g(n); return s.v + h<int>(n) + b::f(n, 0); }
"""
INLINED = """static int inner(int n) { int s = 0;
  for (int i = 0; i < n; i++) s += 2; return s; }
int outer(int n) { return inner(n) + inner(n - 1); }
"""


def program(folder: Path, name: str, source: str) -> AnalyzedProgram:
    (folder / name).write_text(source)
    return load([folder / name], Settings(workers=1))


def test_overloads_are_told_apart_and_accepted_by_what_they_are_called(tmp_path: Path) -> None:
    read = program(tmp_path, "a.cpp", OVERLOADS)
    names = {function.name for function in read.functions}
    assert {"a::f(int)", "b::f(int)", "f(int,char *)", "g", "h<int>", "use"} <= names
    for name, line in (
        ("a::f(int)", 2),
        ("b::f(int)", 3),
        ("f(int,char *)", 4),
        ("f(int, char*)", 4),
        ("b::f(int,char*)", 4),
    ):
        assert read[name].loops[0].line == line
    assert read["a::f"] is read["a::f(int)"]
    assert read["S::g"] is read["g"]
    assert read["h"] is read["h<int>"]
    with pytest.raises(
        UsageError, match=r"several functions f; name one of a::f\(int\), b::f\(int\), f\(int,char \*\)$"
    ):
        read["f"]
    for wrong in ("c::f", "b::g", "a::f(int,char*)", "f(long)"):
        with pytest.raises(UsageError):
            read[wrong]
    inlined = [loop.name for loop in read["use"].loops if loop.id.inlined_from is not None]
    own = {loop.name for loop in read.loops}
    assert inlined
    assert {own_name(name) for name in inlined} <= own


def test_what_something_stands_in_must_be_its_own(tmp_path: Path) -> None:
    (code,) = (function.code for function in program(tmp_path, "a.c", INLINED).functions if function.name == "outer")
    assert is_called(code, "outer")
    assert not is_called(code, "space::outer")
    assert not is_called(dataclasses.replace(code, source_name="outer2"), "outer")


def test_a_loop_has_the_same_name_where_it_is_inlined(tmp_path: Path) -> None:
    read = program(tmp_path, "a.c", INLINED)
    (own,) = (loop.name for loop in read.loops)
    assert own.endswith("a.c:inner:2:3")
    copies = [loop.name for loop in read["outer"].loops]
    assert copies == [f"{own}@outer:3:27", f"{own}@outer:3:38"]
    shown = evaluation_text(Evaluation("ok", 18, (), {}, {copies[0]: 5, copies[1]: 4}, "summary"))
    assert f"  9 iterations of {own}\n" in shown
    assert f"  1 iteration of {own}\n" in evaluation_text(Evaluation("ok", 2, (), {}, {copies[0]: 1}, "summary"))


def test_values_of_ir_without_debug_records_are_told(tmp_path: Path) -> None:
    text = (
        "define i32 @f(i32 %n) {\nentry:\n  br label %loop\nloop:\n  %i = phi i32 [ 0, %entry ], [ %j, %loop ]\n"
        "  %j = add i32 %i, 3\n  %c = icmp slt i32 %j, %n\n  br i1 %c, label %loop, label %out\n"
        "out:\n  ret i32 %j\n}\n"
    )
    (loop,) = program(tmp_path, "a.ll", text).loops
    shown = loop_summary(answer_loop(loop.function, loop.id, Question()), TextLayout(paths=True))
    assert "    1   if (int32_t)(%i + 3) < n: %i' = (int32_t)(%i + 3)" in shown
    assert shown.count("    %j' = ") == 2

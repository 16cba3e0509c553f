"""Undefined behaviour of objects in what bounds and evaluations say, and where lives end in programs of several parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph import build
from loopless.source import SourceOptions, load

OBJECTS = """
int table(int n) { static const int t[2] = {1, 2}; if (n > 3) ((int *)t)[0] = 9; int k = 0; while (k < t[0] && k < n) k++; return k; }
int outlived(int n) { int w = 5; int *p = &w; if (n > 9) { int z = n; p = &z; } int k = 0; while (k < *p && k < n) k++; return k; }
int buffer(unsigned n) { int k = 0; char b[10]; for (char *p = b; p < b + n; p++) k++; return k; }
"""


WORDS = {
    "const write": "a write to a constant",
    "dangling pointer": "a pointer to an object whose lifetime is over",
    "pointer overflow": "an address outside of its object",
}
"""How answers for readers call kinds of undefined behaviour."""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "objects.c"
    path.write_text(OBJECTS)
    return str(path)


@pytest.mark.parametrize(
    ("function", "value", "answer"),
    [
        ("table", "4", "const write"),
        ("table", "3", "returns 1"),
        ("outlived", "10", "dangling pointer"),
        ("outlived", "9", "returns 5"),
        ("buffer", "11", "pointer overflow"),
        ("buffer", "10", "returns 10"),
    ],
)
@pytest.mark.parametrize("interpreted", [False, True])
def test_evaluations_say_it(run, file: str, function: str, value: str, answer: str, interpreted: bool) -> None:
    if interpreted:
        program = load([file])
        graph = build(program.inlined.functions[function], program.inlined)
        told = Interpreter(program.inlined, graph).run([int(value)])
        found = f"returns {told.outcome.return_value}" if told.status == "ok" else told.reason
    else:
        found = run("eval", file, function, value).stdout
    assert (answer if interpreted else WORDS.get(answer, answer)) in found


def test_bounds_say_it(run, file: str) -> None:
    text = run("bound", file).stdout
    assert text.count("a run that meets undefined behaviour may take fewer") >= 3
    assert "exactly n iterations" in text


def test_lives_end_in_linked_and_inlined_code(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int *get(int n);\nint f(int n) { int *p = get(n); return n < 0 ? 1 : *p; }\n")
    (tmp_path / "b.c").write_text("int v = 4;\nint *get(int n) { int z = n; return n > 9 ? &z : &v; }\n")
    program = load([tmp_path / "a.c", tmp_path / "b.c"])
    interpreter = Interpreter(program.inlined, build(program.inlined.functions["f"], program.inlined))
    assert [interpreter.run([n]).status for n in (-1, 9, 10)] == ["ok", "ok", "undefined"]
    assert interpreter.run([10]).reason == "dangling pointer"


MARKED = """
define i32 @f(i32 %n) {
entry:
  %z = alloca i32
  %p = alloca ptr
  call void @llvm.lifetime.start.p0(ptr %z)
  store i32 %n, ptr %z
  store ptr %z, ptr %p
  %early = icmp slt i32 %n, 3
  br i1 %early, label %inside, label %outside
inside:
  %a = load ptr, ptr %p
  %b = load i32, ptr %a
  call void @llvm.lifetime.end.p0(ptr %z)
  ret i32 %b
outside:
  call void @llvm.lifetime.end.p0(ptr %z)
  %c = load ptr, ptr %p
  %d = load i32, ptr %c
  ret i32 %d
}
declare void @llvm.lifetime.start.p0(ptr)
declare void @llvm.lifetime.end.p0(ptr)
"""


def test_markers_of_llvm_end_lives(tmp_path: Path) -> None:
    (tmp_path / "m.ll").write_text(MARKED)
    program = load([tmp_path / "m.ll"])
    interpreter = Interpreter(program.module, build(program.module.functions["f"], program.module))
    runs = [interpreter.run([n]) for n in (2, 3)]
    assert [(run.status, run.outcome.return_value) for run in runs] == [("ok", 2), ("undefined", None)]


def test_memory_of_a_block_is_new_in_each_round(tmp_path: Path) -> None:
    """What an array held in the round before is not there any more, nor does a pointer in memory reach it."""
    (tmp_path / "a.c").write_text(
        "int old(int n, int i) { int s = 0; for (int k = 0; k < n; k++) { int a[3]; if (k == 0) a[i] = 7; s += a[i]; } return s; }\n"
        "int kept(int n, int i) { int *q[2]; for (int k = 0; k < n; k++) { int z = k; if (k > 0) return *q[i]; q[i] = &z; }"
        " return 5; }\n"
        "int anew(int n, int i) { int s = 0; for (int k = 0; k < n; k++) { int a[3]; a[i] = k; s += a[i]; } return s; }\n"
    )
    program = load([tmp_path / "a.c"])

    def runs(name: str) -> list[tuple[str, int | None]]:
        interpreter = Interpreter(program.inlined, build(program.inlined.functions[name], program.inlined))
        return [(run.status, run.outcome.return_value) for run in (interpreter.run([n, 1]) for n in (1, 2))]

    assert runs("old") == [("ok", 7), ("unknown", None)]
    assert runs("kept") == [("ok", 5), ("undefined", None)]
    assert runs("anew") == [("ok", 0), ("ok", 1)]


def test_folded_addresses_keep_their_flags(tmp_path: Path) -> None:
    """An address that wraps around by the compiler's option is not undefined."""
    (tmp_path / "a.c").write_text("char x[4];\nint f(int n) { char *p = x + 6; return n + (p != x); }\n")
    for flags, status in ((), "undefined"), (("-fwrapv-pointer",), "ok"):
        program = load([tmp_path / "a.c"], SourceOptions(flags=flags))
        run = Interpreter(program.inlined, build(program.inlined.functions["f"], program.inlined)).run([1])
        assert run.status == status, flags

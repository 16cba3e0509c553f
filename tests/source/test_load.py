"""What can be loaded, what each wrong input says, several files, the worker, determinism."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from loopless import clock
from loopless.errors import LimitError, SourceError, UsageError
from loopless.source import SourceOptions, ir, load, worker
from loopless.source.compile import compile_ir
from loopless.source.toolchain import zig, zig_target
from loopless.source.worker import WORKER

SRC = Path(worker.__file__).parents[2]


def error(path: object, **options: object) -> str:
    with pytest.raises(SourceError) as e:
        load(path, SourceOptions(**options))  # type: ignore[arg-type]
    text = str(e.value)
    assert "Traceback" not in text
    return text


# ---------------------------------------------------------------------------------------------- inputs


@pytest.mark.parametrize("name", ["t.c", "t.i", "t.h", "t.cc", "t.cpp", "t.cxx"])
def test_suffixes(read, name):
    program = read("int f(int x) { return x; }", name)
    assert [f.source_name for f in program.module.defined()] == ["f"]
    assert len(program.files) == 1 and program.files[0].endswith(name)
    assert ("_Z" in next(program.module.defined()).name) == name.startswith(("t.cc", "t.cpp", "t.cxx"))


def test_assembly_and_bitcode(read, write, tmp_path):
    import llvmlite.binding as llvm

    text = compile_ir("static int g(int x) { return x + 1; } int f(int x) { return g(x); }")
    (tmp_path / "b.bc").write_bytes(llvm.parse_assembly(text).as_bitcode())
    for program in (read(text, "a.ll"), load(tmp_path / "b.bc"), load(str(tmp_path / "b.bc"))):
        assert [f.name for f in program.module.defined()] == ["f", "g"]
        assert program.module.functions["f"].params[0].debug.name == "x"
        assert not any(i.op == "call" and i.callee_name == "g" for i in program.inlined.functions["f"].instructions())


def test_old_records_and_typed_pointers(read):
    text = """
    define i32 @f(i32* %p, i32 %n) !dbg !5 {
    entry:
      %x = alloca i32
      call void @llvm.dbg.declare(metadata i32* %x, metadata !8, metadata !DIExpression()), !dbg !9
      call void @llvm.dbg.value(metadata i32 %n, metadata !10, metadata !DIExpression()), !dbg !9
      %v = load i32, i32* %p
      ret i32 %v
    }
    declare void @llvm.dbg.declare(metadata, metadata, metadata)
    declare void @llvm.dbg.value(metadata, metadata, metadata)
    !llvm.dbg.cu = !{!0}
    !llvm.module.flags = !{!2}
    !0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: FullDebug)
    !1 = !DIFile(filename: "o.c", directory: "/")
    !2 = !{i32 2, !"Debug Info Version", i32 3}
    !5 = distinct !DISubprogram(name: "f", file: !1, line: 1, type: !6, unit: !0, spFlags: DISPFlagDefinition)
    !6 = !DISubroutineType(types: !7)
    !7 = !{!11}
    !8 = !DILocalVariable(name: "x", scope: !5, file: !1, line: 2, type: !11)
    !9 = !DILocation(line: 2, column: 7, scope: !5)
    !10 = !DILocalVariable(name: "n", arg: 2, scope: !5, file: !1, line: 1, type: !11)
    !11 = !DIBasicType(name: "unsigned int", size: 32, encoding: DW_ATE_unsigned)
    """
    f = read(text, "o.ll").module.functions["f"]
    assert {k: (v.name, v.declared.line) for k, v in f.variables.items()} == {"x": ("x", 2)}
    assert f.params[0].type == ir.PtrT() and f.params[0].debug is None
    assert f.params[1].debug.name == "n" and f.params[1].signed is False


def test_old_records_are_read_without_llvm():
    from loopless.source.reader import read_module

    text = """define void @f(i32 %n) {
  call void @llvm.dbg.value(metadata i32 %n, metadata !1, metadata !DIExpression()), !dbg !3
  tail call void @llvm.dbg.value(metadata !4, metadata !1, metadata !DIExpression()), !dbg !3
  ret void
}
!1 = !DILocalVariable(name: "n", arg: 1, scope: !2, line: 1)
!2 = distinct !DISubprogram(name: "f", line: 1)
!3 = !DILocation(line: 1, column: 1, scope: !2)
!4 = !{}
"""
    first, second, _ = read_module(text).functions["f"].instructions()
    assert (first.op, first.operands, first.variable.name) == ("dbg_value", (ir.Local("n", ir.IntT(32)),), "n")
    assert (second.op, second.operands) == ("dbg_value", ())


def test_a_user_clang(write, tmp_path):
    script = write("myclang", f'#!/bin/sh\necho run >> "{tmp_path}/log"\nexec "{zig()}" cc "$@"\n')
    script.chmod(0o755)
    program = load(write("t.c", "int f(int x) { return x; }"), SourceOptions(clang=str(script)))
    assert "f" in program.module.functions
    assert (tmp_path / "log").read_text() == "run\n"


def test_ir_of_a_clang_that_is_too_new(write):
    script = write("newclang", '#!/bin/sh\nfor last; do :; done\necho "define futuristic" > "$last"\n')
    script.chmod(0o755)
    path = write("t.c", "int x;")
    found = error(path, clang=str(script))
    assert found.startswith(f"cannot read {path} (as compiled by {script}):1:8: ") and "IR up to LLVM 22" in found


def test_programs_can_be_pickled(read):
    program = read("struct S { struct S *next; int v; } *s; int f(int x) { return x ? s->v : 3; }")
    again = pickle.loads(pickle.dumps(program))
    pointer = again.module.globals["s"].debug.type
    target = again.module.debug_types.element(pointer)
    assert again.module.debug_types.member_path(target, 8, 4) == ".v"
    assert [i.op for i in again.inlined.functions["f"].instructions()] == [
        i.op for i in program.inlined.functions["f"].instructions()
    ]


def test_flags(read, write):
    write("inc/deep.h", "#define K 41\n")
    text = "#include <deep.h>\nint k = K + EXTRA; unsigned long w = sizeof(long);"
    flags = ("-Iinc", "-DEXTRA=1", "-m32", "-c", "-o", "x.o", "-O2")
    cwd = Path.cwd()
    path = write("t.c", text)
    os.chdir(path.parent)
    try:
        m = load("t.c", SourceOptions(flags=flags)).module
    finally:
        os.chdir(cwd)
    assert m.globals["k"].initializer.value == 42 and m.globals["w"].initializer.value == 4
    assert not (path.parent / "x.o").exists()
    assert m.globals["k"].debug.declared.file == "t.c"


def test_optimisation_flags_do_not_change_the_shape(read):
    plain, asked = (
        read("int f(int n) { int s = 0; while (n--) s += n; return s; }", flags=f).module for f in ((), ("-O3",))
    )
    ops = [[i.op for i in m.functions["f"].instructions()] for m in (plain, asked)]
    assert ops[0] == ops[1] and "alloca" in ops[0]


def test_traps():
    text = "int f(int a, int b) { return a / b + (a << b); }"
    assert "ubsantrap" not in compile_ir(text)
    assert compile_ir(text, SourceOptions(traps=True)).count("call void @llvm.ubsantrap") >= 3


# ---------------------------------------------------------------------------------------------- errors


def test_missing_empty_directory_and_foreign_files(tmp_path, write):
    assert error(tmp_path / "no.c") == f"there is no file {tmp_path}/no.c"
    assert error(tmp_path) == f"{tmp_path} is a directory; name the files in it"
    assert error(write("e.c", "")) == f"{tmp_path}/e.c is empty"
    assert "neither C" in error(write("t.txt", "int x;"))
    assert "no suffix" in error(write("t", "int x;"))
    with pytest.raises(UsageError):
        load([])


def test_unreadable_file(write, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write("t.c", "int x;")
    monkeypatch.setattr(Path, "open", refuse)
    assert error(path) == f"cannot read {path}: Permission denied"


def test_clangs_errors_are_told(write, tmp_path):
    bad = write("x.c", "int f(int x) {\n  int y\n  return x;\n}\nint f(int x) { return z; }\n")
    first, *others = error(bad).splitlines()
    assert first == f"cannot compile {bad}:2:8: expected ';' at end of declaration"
    assert [line.strip().partition(": ")[0] for line in others] == [f"{bad}:5:5", f"{bad}:5:23"]
    write("h.h", "int g( {\n")
    path = write("i.c", '#include "h.h"\n')
    assert error(path).splitlines()[0] == f"cannot compile {path}: {tmp_path}/h.h:1:8: expected parameter declarator"
    assert "'nope.h' file not found" in error(write("n.c", "#include <nope.h>\n"))
    template = write("t.c", "int f(int x) { return x + {0}; }\n")
    assert error(template) == f"cannot compile {template}:1:27: expected expression"


def test_what_is_no_ir(write, tmp_path):
    path = write("n.ll", "hello\n")
    assert error(path) == f"cannot read {path}:1:1: expected top-level entity (IR up to LLVM 22 is read)"
    assert "not LLVM bitcode" in error(write("n.bc", "hello"))
    (tmp_path / "binary.ll").write_bytes(b"\xff\xfe\x00")
    assert "not LLVM assembly" in error(tmp_path / "binary.ll")
    (tmp_path / "cut.bc").write_bytes(b"BC\xc0\xde1234")
    assert "LLVM 22" in error(tmp_path / "cut.bc")
    unknown = write("newer.ll", "define void @f() {\n  frobnicate i32 1\n  ret void\n}\n")
    assert error(unknown) == f"cannot read {unknown}:2:3: expected instruction opcode (IR up to LLVM 22 is read)"
    wrong = write("w.ll", "define i32 @f() {\n  %x = add i32 %x, 1\n  ret i32 %x\n}\n")
    assert "PHI" in error(wrong)


def test_other_targets_than_asked_for(write):
    text = compile_ir("int x;", SourceOptions(data_model="LP64"))
    assert "64 bits, which is not ILP32 (--data-model)" in error(write("t.ll", text), data_model="ILP32")


def test_a_compiler_that_is_not_there(write):
    assert error(write("t.c", "int x;"), clang="no-such-clang") == "cannot find the compiler no-such-clang (--clang)"


MET = {
    "while :; do :; done": r"compiling .*t\.c took more than 0\.2 s of processor time; --timeout raises the limit",
    "sleep 60": r"compiling .*t\.c was cut by the wall clock: .*; --timeout raises the limit",
}


@pytest.mark.parametrize("command", MET)
def test_time_limit(command, write, monkeypatch):
    monkeypatch.setattr(clock, "GRACE_S", 0.0)
    script = write("slow", f"#!/bin/sh\n{command}\n")
    script.chmod(0o755)
    path = write("t.c", "int x;")
    with pytest.raises(LimitError, match=MET[command]):
        load(path, SourceOptions(clang=str(script), timeout_s=0.2))


def test_works_without_a_writable_home(write, tmp_path):
    path = write("t.c", '#include <stdio.h>\nint f(void) { return puts("x"); }')
    code = f"from loopless.source import load; print(*load({str(path)!r}).module.functions)"
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SRC), "HOME": "/nonexistent", "XDG_CACHE_HOME": "/proc/none"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout.split(), done.stderr) == (["f", "puts"], "")


# -------------------------------------------------------------------------------------- several files


def test_files_are_linked(write):
    write("s.h", "struct S { int a; struct S *next; }; extern int total;\n")
    a = write("a.c", '#include "s.h"\nint total; static int own(void) { return 1; }\nint g(struct S *);\n'
              "int f(struct S *s) { return g(s) + own(); }\n")  # fmt: skip
    b = write("b.c", '#include "s.h"\nstatic int own(void) { return 2; }\n'
              "int g(struct S *s) { total += own(); return s->next->a; }\n")  # fmt: skip
    program = load([a, b])
    assert set(program.module.globals) == {"total"}
    assert [f.source_name for f in program.module.defined()] == ["f", "own", "g", "own"]
    files = {f.name: f.loc.file for f in program.module.defined()}
    assert files["f"] == str(a) and files["g"] == str(b)
    inlined = {i.callee_name for i in program.inlined.functions["f"].instructions() if i.op == "call"}
    assert not inlined & set(files)
    assert program.files == (str(a), str(b))


def test_c_and_ir_mix_and_clashes_are_told(write):
    a = write("a.c", "int g(int); int f(int x) { return g(x); }")
    b = write("b.ll", compile_ir("int g(int x) { return x; }"))
    assert {f.name for f in load([a, b]).module.defined()} == {"f", "g"}
    c = write("c.c", "int g(int x) { return x + 1; }")
    assert error([b, c]) == f"cannot link {c}: g is defined in another of the files too"


def test_files_for_different_targets_do_not_go_together(write):
    a, b = (write(f"{m}.ll", compile_ir("int g(int);", SourceOptions(data_model=m))) for m in ("LP64", "ILP32"))
    assert error([a, b]).startswith(f"cannot link {b}: it is compiled for another target: i386-")
    with pytest.raises(UsageError, match="LLP64 is no data model"):
        load(write("t.c", "int x;"), SourceOptions(data_model="LLP64"))  # type: ignore[arg-type]


# ----------------------------------------------------------------------------------------- the worker


def test_a_crash_of_llvm_is_an_error_and_the_next_request_works(monkeypatch, write):
    child = write(
        "child.py", "import os, sys\nsys.stderr.write('LLVM ERROR: broken\\n')\nsys.stderr.flush()\nos.abort()\n"
    )
    text = compile_ir("int x;")
    path = write("t.ll", text)
    WORKER.close()
    monkeypatch.setattr(worker, "_CHILD", str(child))
    assert error(path) == f"LLVM crashed while reading {path} (signal 6): LLVM ERROR: broken"
    monkeypatch.undo()
    assert "x" in load(path).module.globals


@pytest.mark.slow
def test_a_worker_that_hangs_is_ended(monkeypatch, write):
    child = write("child.py", "import time\ntime.sleep(60)\n")
    path = write("t.ll", compile_ir("int x;"))
    WORKER.close()
    monkeypatch.setattr(worker, "_CHILD", str(child))
    with pytest.raises(LimitError, match="--timeout"):
        load(path, SourceOptions(timeout_s=0.3))
    monkeypatch.undo()
    assert "x" in load(path).module.globals


def test_the_worker_keeps_nothing_between_requests(read):
    text = compile_ir("struct S { int a; }; struct S s;")
    first, second = (WORKER.link([("t.ll", text)], 60) for _ in range(2))
    assert first == second and "%struct.S = type" in first


def test_a_forked_process_has_a_worker_of_its_own(write):
    path = write("t.ll", compile_ir("int x;"))
    code = f"""
import os
from loopless.source import load
from loopless.source.worker import WORKER
load({str(path)!r})
pid = WORKER._process.pid
child = os.fork()
load({str(path)!r})
assert (WORKER._process.pid == pid) == (child != 0)
if child:
    _, status = os.waitpid(child, 0)
    load({str(path)!r})
    print("ok" if status == 0 else "bad")
else:
    WORKER.close()
    os._exit(0)
"""
    env = {**os.environ, "PYTHONPATH": str(SRC)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == ("ok\n", "")


# --------------------------------------------------------------------------------------- determinism


def test_the_same_program_reads_the_same(write):
    text = """
    struct S { int a; }; static int g(struct S *s) { return s->a++; }
    int f(int n) { struct S s = { n }; int r = 0; while (g(&s) < 9) r++; return r; }
    """
    path = write("t.c", text)
    code = f"""
from loopless.source import load
p = load({str(path)!r})
for m in (p.module, p.inlined):
    print(m.text)
    for f in m.functions.values():
        print(f.name, sorted(f.attributes), f.loc, sorted(f.variables))
        for i in f.instructions():
            print(i.op, i.result, i.operands, sorted(i.flags), i.targets, i.loc, i.loop)
"""
    outputs = set()
    for seed in ("0", "1", "77"):
        env = {**os.environ, "PYTHONPATH": str(SRC), "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        outputs.add(done.stdout)
    assert len(outputs) == 1 and "while.cond" in outputs.pop()


def test_names_are_spelled_as_given(write, monkeypatch):
    path = write("sub/t.c", "int f(void) { return 1; }")
    monkeypatch.chdir(path.parent)
    for given in ("t.c", "./t.c", "../sub/t.c", str(path)):
        program = load(given)
        assert program.module.functions["f"].loc.file == str(Path(given)) == program.files[0]


@pytest.mark.parametrize("name", ["-c.c", "@a.c", "a b.c", "ü'\".c"])
def test_odd_names(write, monkeypatch, name):
    path = write(name, "int f(void) { return 1; }")
    monkeypatch.chdir(path.parent)
    program = load(name)
    assert program.module.functions["f"].loc.file == name == program.files[0]
    bad = write("-bad.c", "int f( {")
    assert error(bad.name).splitlines()[0] == "cannot compile -bad.c:1:8: expected parameter declarator"


@pytest.mark.parametrize(
    ("gnu", "target"),
    [
        ("x86_64-pc-linux-gnu", "x86_64-linux-gnu"),
        ("i686-unknown-linux-gnu", "x86-linux-gnu"),
        ("aarch64-linux-gnu", "aarch64-linux-gnu"),
        ("arm-none-eabi", "arm-freestanding-eabi"),
    ],
)
def test_target_spellings(gnu, target):
    assert zig_target(gnu) == target

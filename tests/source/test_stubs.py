"""Stubs: what of a user's file is read, and what each wrong one says."""

from __future__ import annotations

import pytest

from loopless.errors import SourceError, UsageError
from loopless.source import SourceOptions, load
from loopless.source.stubs import read_stubs
from loopless.source.vocabulary import LibraryEffect, LibraryFunction

PROGRAM = "extern int f(int *p, int n); int g(int n) { int x = 0; return f(&x, n); }"
READS = LibraryFunction(LibraryEffect.READS)


def written(*indices: int) -> LibraryFunction:
    return LibraryFunction(LibraryEffect.WRITES, indices)


@pytest.fixture
def stubs(tmp_path):
    def read(text: str, name: str = "stubs.c", **options: object):
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        return read_stubs([file], SourceOptions(**options)).known  # type: ignore[arg-type]

    return read


@pytest.mark.parametrize(
    ("prototype", "effects"),
    [
        ("int f(int) __attribute__((const));", LibraryFunction(LibraryEffect.NONE, pure=True)),
        (
            "int f(const char *) __attribute__((__pure__));",
            LibraryFunction(LibraryEffect.READS, pure=True, anywhere=True),
        ),
        ("void f(char *) __attribute__((access(read_only, 1)));", READS),
        ("void f(char *, int) __attribute__((access(write_only, 1, 2)));", written(0)),
        ("void f(char *, char *) __attribute__((access(read_only, 1), __access__(__read_write__, 2)));", written(1)),
        ("[[gnu::access(read_only, 2)]] void f(char *, char *);", written(0)),
        ("void f(const char *, char *const *, const char **) loopless_only_arguments;", written(2)),
        ("typedef const char *text; void f(text) loopless_only_arguments;", READS),
        ("void f(int) loopless_only_arguments;", LibraryFunction(LibraryEffect.NONE)),
        ("void f(const char *, ...) loopless_only_arguments;", written(-1)),
        ("void f(const char *, ...) loopless_only_reads_arguments;", READS),
        ("char *f(int) __attribute__((malloc));", LibraryFunction(LibraryEffect.ALLOCATES)),
        ("void f(char *) __attribute__((access(none, 1)));", READS),
        ("#define FIRST 1\nvoid f(char *) __attribute__((access(read_only, FIRST)));", READS),
        ("_Noreturn void f(int) loopless_only_arguments;", LibraryFunction(LibraryEffect.NONE, noreturn=True)),
    ],
)
def test_effects(stubs, prototype: str, effects: LibraryFunction) -> None:
    assert stubs(prototype)["f"].effects == effects


@pytest.mark.parametrize(
    ("prototype", "ends"),
    [
        ("int f(void) loopless_returns(-1, 255);", (-1, 255)),
        ("#define MOST (1 << 4)\nint f(void) loopless_returns(-MOST, MOST - 1);", (-16, 15)),
        ("unsigned long long f(void) loopless_returns(1, ~0ULL);", (1, 2**64 - 1)),
        ("unsigned char f(void) loopless_returns(0, 255);", (0, 255)),
        ("long long f(void) loopless_returns(-0x7fffffffffffffff - 1, 0);", (-(2**63), 0)),
        ("int f(void) loopless_returns(0, 0);", (0, 0)),
    ],
)
def test_results(stubs, prototype: str, ends: tuple[int, int]) -> None:
    found = stubs(prototype)["f"]
    assert found.returns == ends
    assert found.effects is None  # of which nothing is said


def test_what_says_nothing_is_no_stub(stubs) -> None:
    """A prototype alone, what is included, and what is named like an attribute but is none."""
    found = stubs("#include <unistd.h>\n#include <string.h>\nint plain(int); int f(int access) { return access; }\n")
    assert found.keys() == {"f"} and found["f"].defined
    assert found["f"].granted.startswith("f is as defined in ") and found["f"].granted.endswith("stubs.c:3")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("int f(int x) { return y; }", ":1:23: use of undeclared identifier 'y'"),
        ("\nint g(int n) { return n; }", ":2 is a stub for g, which the program defines itself at "),
        ("int g(int n) __attribute__((const));", ":1 is a stub for g, which the program defines itself"),
        ("long f(char *x) { return 1; }", "gives f the type i64 (pointer), and the program declares it as i32 (pointer, "),
        ("int f(int *p, int n) __attribute__((access(read_only, 2)));", ":1: argument 2 of f, of which access tells, is no"),
        ("int f(int *p, int n) __attribute__((access(read_only, 3)));", ":1: argument 3 of f"),
        ("int f(int *p, int n) __attribute__((access(reads, 1)));", "has none of the modes read_only, write_only"),
        ("int f(int *p, int n) __attribute__((access(none)));", "names no argument; write access(none, 1)"),
        ("int f(int *p, int n) loopless_returns(5, 3);", "loopless_returns(5, 3) is empty"),
        ("int f(int *p, int n) loopless_returns(0, 1LL << 32);", "does not fit a result of 32 bits"),
        ("int f(int *p, int n) loopless_returns(-1, 0xffffffffu);", "does not fit a result of 32 bits"),
        ("void f(int *p, int n) loopless_returns(0, 1);", "for functions that return an integer"),
        ("int f(int *p, int n) __attribute__((const, access(write_only, 1)));", "writes through an argument and that it is"),
        ("int f(int (*p)(int), int n) loopless_only_arguments;", "a pointer to a function, which it may call"),
        ("struct S { int a[9]; }; int f(struct S s, int n) loopless_only_arguments;", "structure is passed or returned"),
        ("int x;", "declares no function"),
        ("", "is empty"),
    ],
)  # fmt: skip
def test_errors(tmp_path, text: str, says: str) -> None:
    program, file = tmp_path / "p.c", tmp_path / "stubs.c"
    program.write_text(PROGRAM, encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SourceError) as error:
        load(program, SourceOptions(stubs=(file,)))
    assert says in str(error.value) and str(file) in str(error.value) and "\n" not in str(error.value)


def test_other_files_are_no_stubs(tmp_path) -> None:
    with pytest.raises(UsageError, match=r"stubs\.cpp is no C file"):
        read_stubs([tmp_path / "stubs.cpp"], SourceOptions())
    with pytest.raises(SourceError, match="there is no file"):
        read_stubs([tmp_path / "stubs.c"], SourceOptions())


def test_two_stubs_for_one_function(tmp_path) -> None:
    first, second = tmp_path / "a.c", tmp_path / "b.c"
    first.write_text("int f(int x) { return x; }", encoding="utf-8")
    second.write_text("\nint f(int x) __attribute__((const));", encoding="utf-8")
    with pytest.raises(SourceError, match=r"b\.c:2 is a second stub for f, beside .*a\.c:1: leave one out"):
        read_stubs([first, second], SourceOptions())


def test_bodies_are_linked_only_where_the_program_declares_the_function(tmp_path) -> None:
    program, file = tmp_path / "p.c", tmp_path / "stubs.c"
    program.write_text("extern int f(int); int g(int n) { return f(n); } int h(void) { return 1; }", encoding="utf-8")
    file.write_text("static int own(int x) { return x + 1; } int f(int x) { return own(x); }", encoding="utf-8")
    module = load(program, SourceOptions(stubs=(file,))).module
    assert {f.source_name for f in module.defined()} == {"g", "h", "own", "f"}
    assert module.functions["f"].loc.file == str(file) and module.functions["f"].loc.line == 1
    assert "llvm.global.annotations" not in module.globals and set(module.stubs) == {"f"}
    program.write_text("int h(void) { return 1; }", encoding="utf-8")
    unused = load(program, SourceOptions(stubs=(file,))).module
    assert [f.source_name for f in unused.defined()] == ["h"] and not unused.stubs


@pytest.mark.parametrize("model", ["ILP32", "LP64"])
def test_stubs_are_compiled_for_the_target_of_the_program(tmp_path, model: str) -> None:
    program, file = tmp_path / "p.c", tmp_path / "stubs.c"
    program.write_text("extern long f(void); long g(void) { return f(); }", encoding="utf-8")
    file.write_text("long f(void) { return sizeof(long); }", encoding="utf-8")
    module = load(program, SourceOptions(stubs=(file,), data_model=model)).module
    assert module.pointer_bits == {"ILP32": 32, "LP64": 64}[model]
    assert not module.functions["f"].is_declaration

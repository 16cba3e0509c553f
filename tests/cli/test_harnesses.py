"""Programs that declare what they do not define, in all ways: the harness of ``verify`` and the tests of ``reach`` link with
them, and the run comes to the place.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from loopless.cli import main

HEAD = "extern void reach_error(void);\n"
PROGRAMS: dict[str, str | dict[str, str]] = {
    "truth value": """extern _Bool __VERIFIER_nondet_bool(void); extern int __VERIFIER_nondet_int(void);
int main(void) { int n = 0; for (int i = 0; i < 5; i++) n += __VERIFIER_nondet_bool();
  if (n == 4 && __VERIFIER_nondet_int() == 7) reach_error(); return 0; }""",
    "characters of all kinds": """extern char __VERIFIER_nondet_char(void); extern signed char __VERIFIER_nondet_schar(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
int main(void) { int a = __VERIFIER_nondet_char(), b = __VERIFIER_nondet_schar(), c = __VERIFIER_nondet_uchar();
  if (a == -77 && b == -128 && c == 200) reach_error(); return 0; }""",
    "integers of all kinds": """extern unsigned short __VERIFIER_nondet_ushort(void); extern long __VERIFIER_nondet_long(void);
extern short nondet_short(void); extern unsigned long long __VERIFIER_nondet_ulonglong(void);
extern unsigned __VERIFIER_nondet_unsigned(void); extern unsigned __VERIFIER_nondet_uint(void);
extern unsigned long __VERIFIER_nondet_size_t(void);
int main(void) { if (__VERIFIER_nondet_ushort() == 65535 && __VERIFIER_nondet_long() == -5000000000L && nondet_short() == -3
  && __VERIFIER_nondet_ulonglong() == 18446744073709551615ull && __VERIFIER_nondet_unsigned() == 4000000000u
  && __VERIFIER_nondet_uint() == 1 && __VERIFIER_nondet_size_t() == 1ul << 63) reach_error(); return 0; }""",
    "own function of the program": """extern int other(int); int main(void) { int x = other(3);
  if (x == 99 && other(4) == 98) reach_error(); return 0; }""",
    "declared with other types": """typedef unsigned char u8; extern u8 sample(void); extern const int limit(void);
extern long long wide(int, char, const char *); enum mode { OFF, ON = 7 }; extern enum mode mode(void);
int main(void) { if (sample() == 250 && limit() == -9 && wide(1, 'c', "x") == 1ll << 40 && mode() == ON) reach_error();
  return 0; }""",
    "floating-point results": """extern double measured(int); extern float ratio(void); extern long double exact(void);
extern int other(void); int main(void) { double d = measured(3); float f = ratio(); long double e = exact();
  if (other() == 41) reach_error(); return d > 1 && f > 1 && e > 1; }""",
    "pointers returned": """extern void *__VERIFIER_nondet_pointer(void); extern const char *name(int); extern int other(void);
int main(void) { void *p = __VERIFIER_nondet_pointer(); const char *n = name(1); if (other() == 42) reach_error();
  return p == n; }""",
    "structures returned": """struct small { int a, b; }; struct three { char t[3]; }; struct mixed { double d; long n; };
struct floats { float x, y; }; struct big { long v[5]; };
extern struct small small(void); extern struct three three(int); extern struct mixed mixed(void);
extern struct floats floats(void); extern struct big big(int, struct big); extern int other(void);
int main(void) { struct small s = small(); struct three t = three(1); struct mixed m = mixed(); struct floats f = floats();
  struct big b = {{1}}; b = big(2, b); if (other() == 1234) reach_error();
  return s.a + t.t[0] + (m.d > 0) + (f.x > 0) + (int)b.v[4]; }""",
    "variable arguments": """extern int report(const char *, ...); extern void note(int, ...);
int main(void) { note(2, 1.5, "a"); if (report("%d %s", 3, "x") == -12) reach_error(); return 0; }""",
    "without a prototype": """extern int old(); int main(void) { if (old(1, 2) == 5 && old("x") == 6) reach_error(); return 0; }""",
    "nothing returned": """extern void tick(int); extern void *memory(void *, int); extern int other(void);
int main(void) { tick(1); tick(2); if (other() == 8) { tick(3); reach_error(); } return 0; }""",
    "called through a pointer": """extern int first(int); extern int second(int);
int main(void) { int (*f)(int) = first; int a = f(1); f = second; if (a == 50 && f(2) == 51) reach_error(); return 0; }""",
    "given to others": """extern int source(void); static int twice(int (*f)(void)) { return f() + f(); }
int main(void) { if (twice(source) == 77 && source() == 3) reach_error(); return 0; }""",
    "variables elsewhere": """extern int level; extern char room[]; extern const long limits[4]; extern struct { int a, b; } pair;
extern int other(void); int main(void) { int at = level += 2; if (other() == at + 19) reach_error();
  return room[0] + (int)limits[1] + pair.b; }""",
    "assumptions": """extern void __VERIFIER_assume(int); extern int __VERIFIER_nondet_int(void);
int main(void) { int x = __VERIFIER_nondet_int(); __VERIFIER_assume(x > 1000 && x < 1003); if (x & 1) reach_error();
  return 0; }""",
    "errors of its own": """#include <stdlib.h>
extern int __VERIFIER_nondet_int(void); void reach_error(void) { abort(); }
int main(void) { if (__VERIFIER_nondet_int() == 31) reach_error(); return 0; }""",
    "assertions": """extern void __VERIFIER_assert(int); extern int __VERIFIER_nondet_int(void);
int main(void) { int x = __VERIFIER_nondet_int(); __VERIFIER_assert(x != 5555); return 0; }""",
    "the library's assert": """#include <assert.h>
extern int __VERIFIER_nondet_int(void); int main(void) { int x = __VERIFIER_nondet_int(); assert(x != 5556); return 0; }""",
    "names of the library": """extern int abs(int); extern int puts(const char *); extern int __VERIFIER_nondet_int(void);
int main(void) { int x = __VERIFIER_nondet_int(); if (x > -100 && abs(x) == 37) { puts("there"); reach_error(); } return 0; }""",
    "klee": """extern int klee_range(int, int, const char *); extern void klee_make_symbolic(void *, unsigned long, const char *);
extern void klee_assume(unsigned long); extern int klee_int(const char *);
int main(void) { int i = klee_range(3, 9, "i"), k = klee_int("k"); klee_assume(k > 5);
  if (i == 8 && k == 6) reach_error(); return 0; }""",
    "inputs in a loop": """extern unsigned char __VERIFIER_nondet_uchar(void); int main(void) { unsigned s = 0;
  for (int i = 0; i < 40; i++) { unsigned char c = __VERIFIER_nondet_uchar(); if (c < 200) return 0; s += c; }
  if (s >= 8000) reach_error(); return 0; }""",
    "several files": {
        "a.c": "extern int part(int); extern int other(void); int shared = 1;\n"
               "int main(void) { if (part(other()) == 12) reach_error(); return 0; }",
        "b.c": "extern int shared; extern int elsewhere(void); extern long depth;\n"
               "int part(int n) { depth++; n += shared; return n + elsewhere(); }",
    },
    "C++": {
        "a.cpp": """namespace n { struct s { int v; s(int); ~s(); int get(int) const; virtual void f(); }; extern int x;
  int f(int); double f(double); }
extern "C" { int plain(void); bool __VERIFIER_nondet_bool(void); }
extern int other(int &, const char *); template <class T> T twice(T a) { return a + n::f(a); }
int main() { int r = 0; bool b = __VERIFIER_nondet_bool(); if (b && twice(2) == 9 && other(r, "x") == -3 && plain() == 4)
  reach_error(); return n::x; }""",
    },
    "C++ with its library": {
        "a.cpp": """#include <array>
#include <algorithm>
extern "C" int __VERIFIER_nondet_int(void);
int main() { std::array<int, 3> a{3, 1, __VERIFIER_nondet_int()}; int *p = new int(4);
  if (a[2] == 17 && *std::max_element(a.begin(), a.end()) == 17) reach_error(); delete p; return 0; }""",
    },
}  # fmt: skip
UNREACHED = ("C++ with its library",)
"""Of these no violation is found."""


def written(name: str, folder: Path) -> list[Path]:
    """The files of the program."""
    text = PROGRAMS[name]
    files = []
    for file, content in (text if isinstance(text, dict) else {"a.c": text}).items():
        head = f'extern "C" {HEAD}' if file.endswith(".cpp") else HEAD
        own = "void reach_error(void) {" in content or "reach_error" not in content
        (folder / file).write_text(content + "\n" if own else head + content + "\n", encoding="utf-8")
        files.append(folder / file)
    return files


def answer(capsys: pytest.CaptureFixture[str], *words: object) -> dict:
    """What the command says."""
    main([*map(str, words), "--timeout", "60", "--format", "json"])
    return json.loads(capsys.readouterr().out)


def ran(files: list[Path], folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """What a program of these files does, compiled with the compiler that is shipped."""
    compiler = "c++" if any(file.suffix == ".cpp" for file in files) else "cc"
    command = [
        sys.executable,
        "-m",
        "ziglang",
        compiler,
        *flags,
        *map(str, files),
        "-lm",
        "-o",
        str(folder / "program"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return subprocess.run([folder / "program"], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_harness_links_and_fails(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files, harness = written(name, tmp_path), tmp_path / "harness.c"
    found = answer(capsys, "verify", *files, "--harness", harness)
    if name in UNREACHED and found["verdict"] == "unknown":
        return
    assert found["verdict"] == "false(unreach-call)", found["reason"]
    assert ran([*files, harness], tmp_path, "-w").returncode < 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name, text in PROGRAMS.items() if "reach_error();" in str(text) and "C++" not in name]
)
def test_a_test_links_and_gets_there(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files, tests = written(name, tmp_path), tmp_path / "tests"
    found = answer(capsys, "reach", *files, "--call", "reach_error", "--write-test", tests)
    assert found["verdict"] == "reached", found["reason"]
    others = [file for file in files if "int main" not in file.read_text()]
    done = ran([tests / "test.c", *others], tmp_path, "-w")
    assert "error function was called" in done.stdout or done.returncode < 0
    said = subprocess.run([sys.executable, "test.py"], cwd=tests, capture_output=True, text=True, check=False)
    assert "error function was called" in said.stdout or said.returncode < 0, said.stderr

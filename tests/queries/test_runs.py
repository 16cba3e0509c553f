"""Bounds of runs of whole programs: exact values by thought, and none below what native runs count."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from loopless.queries.bounds.whole_program import answer_run
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.terms import Const

SETTINGS = Settings(sandboxed=False)
PADDING = "".join(f"t = (t * {2 * k + 3}u + {k}u) ^ (t >> {k % 5 + 1});" for k in range(130))
"""Makes a function too large to be inlined."""
BIG = "static unsigned t;\nstatic unsigned pad(void);\n"


def large(head: str, body: str) -> str:
    """A function that is not inlined."""
    return f"{head} {{ unsigned t = 1; {PADDING} {body} }}\n"


WORK = large("static int work(int n)", "int i; for (i = 0; i < n; i++) t += i; return (int)(t & 1);")
"""Takes max(0, n) iterations."""

COUNTED = {
    # By name: a program, and of its loops in the order of the source the total and the largest entry.
    "a call in a loop": (
        WORK + "int main(void) { int k; for (k = 0; k < 6; k++) work(k); return 0; }",
        [(15, 5), (6, 6)],
    ),
    "two calls": (WORK + "int main(void) { work(3); work(50); return 0; }", [(53, 50)]),
    "a call of a call": (
        WORK
        + large("static int twice(int m)", "return work(m) + work(m);")
        + "int main(void) { int k; for (k = 0; k < 4; k++) twice(k); return 0; }",
        [(12, 3), (4, 4)],
    ),
    "a global that main sets": (
        "static int n;\n"
        + large("static void down(void)", "int i; for (i = 0; i < n; i++) t += i; n -= (int)(t & 1) * 0 + 1;")
        + "int main(void) { n = 5; down(); return n; }",
        [(5, 5)],
    ),
    "what is never written": (
        "int limit = 7; static int sizes[4] = {1, 5, 2, 9};\n"
        "int main(void) { int i, k, s = 0; for (k = 0; k < limit; k++) s ^= k;"
        " for (i = 0; i < sizes[3]; i++) s ^= i; return s; }",
        [(7, 7), (9, 9)],
    ),
    "a field by pointer": (
        "struct s { int a, b; };\n"
        + large("static int of(struct s *p)", "int i; for (i = 0; i < p->b; i++) t += i; return (int)(t & 1);")
        + "int main(void) { struct s x; x.a = 100; x.b = 4; of(&x); x.b = 6; of(&x); return 0; }",
        [(10, 6)],
    ),
    "a table of functions": (
        "static int acc;\nstatic void three(int n) { int i; for (i = 0; i < 3; i++) acc += n; }\n"
        "static void more(int n) { int i; for (i = 0; i < n; i++) acc += 2; }\n"
        "static void (*const table[3])(int) = { three, more, three };\n"
        "int main(void) { int k; for (k = 0; k < 9; k++) table[k % 3](4); return acc; }",
        [(18, 3), (12, 4), (9, 9)],
    ),
    "a tree of calls": (
        "static int s;\nstatic void g(int n) { int i; for (i = 0; i < n; i++) s ^= i; if (n > 1) { g(n - 2); g(n - 2);"
        " g(n - 2); } }\nint main(void) { g(7); return s; }",
        [(76, 7)],  # 7 + 3·5 + 9·3 + 27·1
    ),
    "a line of calls that writes an array": (
        "static int a[9];\nstatic void g(int n) { int i; for (i = 0; i < n; i++) a[i % 9] ^= i; if (n > 0) g(n - 1); }\n"
        "int main(void) { g(5); return a[3]; }",
        [(15, 5)],
    ),
    # What grows before an entry is what the iterations before it make of it, not those behind the last one.
    "a limit that an inner loop raises": (
        "int s;\nint main(void) { int i, j, k, n = 1; for (i = 0; i < 5; i++) { for (j = 0; j < n; j++) s++;"
        " for (k = 0; k < i; k++) n += 2; } return n; }",
        [(5, 5), (25, 13), (10, 4)],  # 1 + 2·(0 + 1 + 2 + 3)
    ),
    "a limit that is raised before the entry": (
        "int s;\nint main(void) { int i, j, k, n = 0; for (i = 0; i < 5; i++) { for (k = 0; k < i; k++) n++;"
        " for (j = 0; j < n; j++) s++; } return n; }",
        [(5, 5), (10, 4), (20, 10)],
    ),
    "two limits that grow": (
        "int s;\nint main(void) { int i, j, k, n = 0, m = 0; for (i = 1; i < 6; i++) { for (j = 0; j < n + m; j++) s++;"
        " for (k = 0; k < i; k++) n++; for (k = 0; k < 3; k++) m += 2; } return n; }",
        [(5, 5), (80, 34), (15, 5), (15, 3)],  # 1 + 2 + 3 + 4, and 4·6
    ),
    "a limit that grows by 2": (
        "int s;\nint main(void) { int i, j, n = 4; for (i = 10; i > 0; i -= 3) { for (j = 0; j < n; j++) s++; n += 2; }"
        " return n; }",
        [(4, 4), (4 + 6 + 8 + 10, 10)],
    ),
    "entries in one of two branches": (
        "int s;\nint main(void) { int i, j, n = 0; for (i = 0; i < 6; i++) { if (i < 3) n += 4;"
        " else { for (j = 0; j < n; j++) s++; } n++; } return n; }",
        [(6, 6), (15 + 16 + 17, 17)],
    ),
    "a linear recursion": (
        "int s;\nint g(int n) { if (n <= 0) return 0; for (int i = 0; i < n; i++) s ^= i; return g(n - 2); }\n"
        "int main(void) { g(10); g(3); return 0; }",
        [(30 + 4, 10)],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTED)
def test_counts_of_runs(name, tmp_path):
    text, expected = COUNTED[name]
    file = tmp_path / "program.c"
    file.write_text(text + "\n", encoding="utf-8")
    program = load([file], SETTINGS)
    found = answer_run(program, program["main"], "all", SETTINGS)
    values = [(loop.total, loop.any_entry) for loop in found.loops]
    assert [(t.value, e.value) for t, e in values if isinstance(t, Const) and isinstance(e, Const)] == expected


NEVER_BELOW = {
    # What a callee takes for granted of its arguments is not so: *p and *q are one.
    "arguments that are one": large(
        "static int f(int *p, int *q)", "int i, k = 0; *q = 40; for (i = 0; i < *p; i++) k ^= i; return k;"
    )
    + "int main(void) { int a = 3; f(&a, &a); return 0; }",
    # In a call a pointer in memory is taken to point to something else than what holds it.
    "a pointer in memory to its holder": "struct s { int n; int *v; };\n"
    + large(
        "static int f(struct s *s)",
        "int c; for (c = 0; s->n > 0 && c < 40; c++) { s->n -= 2; s->v[0] += 1; } return c;",
    )
    + "int main(void) { struct s s; s.n = 10; s.v = &s.n; return f(&s); }",
    "pointers in memory that are one": "struct s { int *m; int *v; };\n"
    + large(
        "static int f(struct s *s)",
        "int c; for (c = 0; *s->m > 0 && c < 40; c++) { *s->m -= 2; *s->v += 1; } return c;",
    )
    + "int main(void) { struct s s; int n = 10; s.m = &n; s.v = &n; return f(&s); }",
    "a global by pointer": "static int g = 2;\n"
    + large("static int f(int *p)", "int i, k = 0; *p = 30; for (i = 0; i < g; i++) k ^= i; return k;")
    + "int main(void) { f(&g); return 0; }",
    "a global that a callee changes": "static int g = 2;\n"
    + large("static void set(void)", "g = 25;")
    + large("static int f(void)", "int i, k = 0; set(); for (i = 0; i < g; i++) k ^= i; return k;")
    + "int main(void) { int j; for (j = 0; j < 3; j++) f(); return 0; }",
    "an exit in a callee": "#include <stdlib.h>\n"
    + large("static int f(int n)", "int i; for (i = 0; i < 9; i++) { if (n == 2) exit(0); t += i; } return (int)t;")
    + "int main(void) { int k; for (k = 0; k < 5; k++) f(k); return 0; }",
    "a call back": "#include <stdlib.h>\nstatic int n = 1; static int rows[3];\n"
    "static int order(const void *a, const void *b) { n++; return *(const int *)a - *(const int *)b; }\n"
    "int main(void) { int i, s = 0; rows[0] = 3; rows[1] = 2; qsort(rows, 3, sizeof *rows, order);"
    " for (i = 0; i < n; i++) s ^= i; return s; }",
    "a constructor": "static int n = 1;\n__attribute__((constructor)) static void begin(void) { n = 9; }\n"
    "int main(void) { int i, s = 0; for (i = 0; i < n; i++) s ^= i; return s; }",
    "main again": "static int n = 1;\nint main(void) { int i, s = 0; for (i = 0; i < n; i++) s ^= i;"
    " if (n < 5) { n += 3; main(); } return s; }",
    "a table that is written": "static int sizes[3] = {1, 2, 3};\n"
    "static void put(int *p) { *p = 20; }\n"
    "int main(void) { int i, k, s = 0; put(&sizes[1]); for (k = 0; k < 3; k++)"
    " for (i = 0; i < sizes[k]; i++) s ^= i; return s; }",
    "an unsigned argument": large(
        "static int f(unsigned n)", "unsigned i; for (i = 0; i < n; i++) t += i; return (int)t;"
    )
    + "int main(void) { int k; for (k = 3; k >= 0; k--) f((unsigned char)(k - 1)); return 0; }",
    "a static local": "static int f(void) { static int n = 1; int i, s = 0; n++; for (i = 0; i < n; i++) s ^= i; return s; }\n"
    "int main(void) { int k; for (k = 0; k < 4; k++) f(); return 0; }",
    "a pointer to a global": "static int a = 2, b = 11; static int *p = &a;\n"
    "int main(void) { int i, s = 0; p = s ? &a : &b; for (i = 0; i < *p; i++) s ^= i; return s; }",
    "functions that are passed on": "static int acc; typedef int (*fn)(int);\n"
    "static int a(int n) { acc++; return n; }\nstatic int c(int n) { acc--; return 0; }\n"
    "static const fn table[2] = { a, c };\nstatic int call(fn f, int n) { return f(n); }\n"
    "int main(void) { int k, r = 0; for (k = 0; k < 2; k++) r += table[k](k + 1); r += call(a, 3) + call(c, 5);\n"
    "for (k = 0; k < 3; k++) r += 2; return r & 1; }",
    "arguments that overlap": "struct s { int n; int m; };\nint sink;\n"
    "static void e(int k, struct s *s, int *q) { " + "if (sink == k * 7) sink += k; " * 80 + "s->n = 3;\n"
    "for (int i = 0; i < s->n; i++) { sink++; if (i < 20) ++*q; } }\n"
    "int main(void) { struct s t; t.m = 0; e(2, &t, &t.n); e(2, &t, &t.m); return 0; }",
    "a table with holes": "static int acc;\nstatic int up(int n) { int i; for (i = 0; i < n; i++) acc++; return n; }\n"
    "static int down(int n) { int i; for (i = n; i < 9; i++) acc--; return -n; }\n"
    "static int (*table[4])(int) = { up, 0, down, up };\n"
    "int main(void) { int k, r = 0; for (k = 3; k >= 0; k--) { if (k != 1) r += table[k](r + k); } return r; }",
    "a table that changes": "static int acc;\nstatic void up(void) { int i; for (i = 0; i < 3; i++) acc++; }\n"
    "static void far(void) { int i; for (i = 0; i < 30; i++) acc++; }\n"
    "static void (*table[2])(void) = { up, up };\n"
    "int main(void) { int k; for (k = 0; k < 2; k++) { table[k](); table[1] = far; } return acc; }",
    "a pointer to functions": "static int acc;\nstatic void up(void) { int i; for (i = 0; i < 3; i++) acc++; }\n"
    "static void far(void) { int i; for (i = 0; i < 30; i++) acc++; }\n"
    "int main(void) { int k; void (*f)(void) = up; for (k = 0; k < 4; k++) { f(); f = k ? up : far; } return acc; }",
    "a residue of what falls": "static int acc;\n"
    "int main(void) { int i, k; for (k = 20; k > -9; k -= 2) { if (k % 3 == 1) { for (i = 0; i < 4; i++) acc++; } }"
    " return acc; }",
    "a limit that grows at times": "int s;\n"
    "int main(void) { int i, j, n = 0; for (i = 0; i < 9; i++) { if (i == 4) continue; for (j = 0; j < n; j++) s++; n++; }"
    " return n; }",
    "a limit that grows most behind the last entry": "int s;\n"
    "int main(void) { int i, j, k, n = 2; for (i = 0; i < 7; i++) { for (k = 0; k < i; k++) n += i;"
    " if (i == 5) n = 1; for (j = 0; j < n; j++) s++; n += 3; } return n; }",
    "a limit that an inner loop lowers and raises": "int s;\n"
    "int main(void) { int i, j, k, n = 9; for (i = 0; i < 7; i++) { for (j = 0; j < n; j++) s++;"
    " for (k = 0; k < i; k++) n += k % 2 ? 5 : -3; } return n; }",
    "a limit that is set anew": "int s;\n"
    "int main(void) { int i, j, k, n = 0; for (i = 0; i < 7; i++) { for (k = 0; k < 4; k++) n += i;"
    " for (j = 0; j < n; j++) s++; if (i % 3 == 2) n = 30; } return n; }",
    "an outer counter that an inner loop moves back": "int s;\n"
    "int main(void) { int i, j, k, n = 0; for (i = 0; i < 12; i += 4) { for (j = 0; j < n; j++) s++;"
    " for (k = 0; k < 3; k++) { i--; n += 2; } } return n; }",
    "a limit that wraps around": "int s;\n"
    "int main(void) { int i, j, k; unsigned char n = 200; for (i = 0; i < 5; i++) { for (j = 0; j < n; j++) s++;"
    " for (k = 0; k < i; k++) n += 20; } return n; }",
    "entries of a nest of three": "int s;\n"
    "int main(void) { int i, j, k, m, n = 0; for (i = 0; i < 4; i++) { for (k = 0; k < 3; k++) {"
    " for (j = 0; j < n; j++) s++; for (m = 0; m < k + i; m++) n += 2; } n += 7; } return n; }",
    "residues of both signs": "static int acc;\n"
    "int main(void) { int i, k; for (k = -13; k < 9; k += 3) { if (k % 4 != 1) { for (i = 0; i < 4; i++) acc++; } }"
    " return acc; }",
    "trees that depend on memory": "static int acc, g = 3;\nstatic void up(int n) { int i; for (i = 0; i < g; i++) acc++;"
    " g++; if (n > 0) { up(n - 1); up(n - 1); } }\nint main(void) { up(3); return acc; }",
    "a tree whose work grows": "static int acc;\nstatic void up(int n, int m) { int i; for (i = 0; i < 9 - n; i++) acc++;"
    " if (n > 0) { up(n - 1, m); up(n - 1, m + 1); } for (i = 0; i < m; i++) acc++; }\n"
    "int main(void) { up(4, 1); return acc; }",
    "a tree with a choice": "static int acc;\nstatic void f(int n, int k) { int i, t = n; n = n + 7;"
    " for (i = 0; i < n; i++) acc++; t--; for (i = 0; i < k; i++) acc++;"
    " if (t >= 0) { f(t, k); if (acc & 1) f(t, k); else { f(t - 1, k); f(t, k); } } }\n"
    "int main(void) { int k; f(-3, 1); for (k = 0; k < 3; k++) f(k, 2); f(5, 3); return acc; }",
    "a tree that wraps around": "static int acc;\nstatic void f(unsigned char n, int k) { int i; for (i = 0; i < 3; i++) acc++;"
    " if (n > 2 && k < 9) { f(n - 4, k + 1); f(n - 3, k + 1); } }\nint main(void) { f(9, 0); return acc; }",
    "a tree in a loop": "static int acc;\nstatic void f(int n) { int i; for (i = 0; i < n; i++) f(n - 1); }\n"
    "int main(void) { f(4); return acc; }",
    "two recursions": "static int n;\nstatic void g(int d) { int i; for (i = 0; i < d; i++) n ^= i;"
    " if (d > 0) { g(d - 1); g(d - 2); } }\nint main(void) { g(5); return n; }",
}


def natively(text, folder):
    """What each loop takes in all, and in its largest entry, in a run of the machine."""
    numbers = iter(range(100))

    def instrumented(loop):
        number = next(numbers)
        return f"for (ENTER({number}), {loop[1]}; ({loop[2]}) && TICK({number}); {loop[3]})"

    body = re.sub(
        r"for \(([^;]*?); ([^;]*); ([^)]*)\)", instrumented, re.sub(r"for \(int i = 0", "int i; for (i = 0", text)
    )
    head = (
        "#include <stdio.h>\n#include <stdlib.h>\nstatic int total[9], now[9], most[9];\n"
        "static int tick(int k) { total[k]++; if (++now[k] > most[k]) most[k] = now[k]; return 1; }\n"
        "#define TICK(k) tick(k)\n#define ENTER(k) now[k] = 0\n"
        'static void told(void) { for (int k = 0; k < 9; k++) printf("%d %d\\n", total[k], most[k]); }\n'
        "__attribute__((constructor)) static void begin_(void) { atexit(told); }\n"
    )
    source, made = folder / "native.c", folder / "native"
    source.write_text(head + body + "\n", encoding="utf-8")
    subprocess.run(["cc", "-w", "-O0", "-fwrapv", source, "-o", made], check=True, timeout=60)
    out = subprocess.run([made], capture_output=True, text=True, timeout=20, check=False).stdout
    rows = [tuple(map(int, line.split())) for line in out.splitlines()]
    return rows[: next(numbers)]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="native runs need a compiler")
@pytest.mark.parametrize("name", [*NEVER_BELOW, *COUNTED])
def test_never_below_native_counts(name, tmp_path):
    text = NEVER_BELOW[name] if name in NEVER_BELOW else COUNTED[name][0]
    file = tmp_path / "case.c"
    file.write_text(text + "\n", encoding="utf-8")
    program = load([file], SETTINGS)
    found = answer_run(program, program["main"], "all", SETTINGS)
    truth = natively(text, tmp_path)
    assert len(found.loops) == len(truth)
    assert any(total for total, _ in truth)
    for loop, (total, most) in zip(found.loops, truth, strict=True):
        if isinstance(loop.total, Const):
            assert loop.total.value >= total
            assert loop.total.value == total or not loop.exact
        if isinstance(loop.any_entry, Const):
            assert loop.any_entry.value >= most


@pytest.mark.parametrize("start", [0, 1, -5])
@pytest.mark.parametrize(("step", "modulus"), [(1, 2), (1, 3), (2, 4), (3, 3), (2, 5), (7, 6)])
@pytest.mark.slow
def test_visits_by_residue(start, step, modulus, tmp_path):
    """A block that one residue comes to: as many visits as the numbers say, where the start is known."""
    file = tmp_path / "program.c"
    for residue in {0, 1, modulus - 1}:
        text = (
            f"int s;\nint main(void) {{ int k, i; for (k = {start}; k < 20; k += {step})\n"
            f"if (k % {modulus} == {residue}) for (i = 0; i < 3; i++) s ^= i; return 0; }}\n"
        )
        file.write_text(text, encoding="utf-8")
        program = load([file], SETTINGS)
        _, inner = answer_run(program, program["main"], "all", SETTINGS).loops
        rest = [k - modulus * int(k / modulus) for k in range(start, 20, step)]
        assert isinstance(inner.total, Const)
        assert 3 * rest.count(residue) <= inner.total.value
        if start >= 0:
            assert 3 * rest.count(residue) == inner.total.value


def test_what_is_not_counted_beside_loops_that_are(tmp_path):
    """A tree of calls whose loop has a number: what is missing is the number of calls."""
    file = tmp_path / "case.c"
    file.write_text(NEVER_BELOW["two recursions"] + "\n", encoding="utf-8")
    program = load([file], SETTINGS)
    found = answer_run(program, program["main"], "all", SETTINGS)
    assert [loop.total is not None for loop in found.loops] == [True]
    assert found.entry.refused is not None
    assert "the calls of g" in found.entry.refused.detail

"""Programs with loops over arrays, half of them right and half wrong, written for ``bench/verify.py``.

    python bench/array_suite.py FOLDER [--confirm]
    python bench/verify.py FOLDER --property unreach-call --timeout 20

Each kind differs from the others in what its loops do, not in its constants alone: fills, copies, maps, strides, guards,
reversed loops, updates in place, carried values, nests, several arrays, several loops. The number of elements is any
up to that of the array, which is of a fixed size or has just as many. Of each kind there is a program whose assertions hold, by reasoning, and one with a small change
after which one fails. ``--confirm`` runs all natively with few elements and inputs of all kinds: a wrong one must
fail, a right one must not.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from loopless.source.toolchain import clang_command

SIZE: Final = 1000
_BEGIN: Final = """extern void abort(void);
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
void __VERIFIER_assert(int cond) { if (!cond) { reach_error(); abort(); } }
#define SIZE %d
"""
_RUNTIME: Final = """#include <stdlib.h>
static int calls; static unsigned state;
void reach_error(void) { exit(9); }
extern int loopless_n, loopless_seed;
int __VERIFIER_nondet_int(void) {
    if (calls++ == 0) return loopless_n;
    if (calls == 2) state = loopless_seed * 2654435761u + 1;
    state = state * 1103515245u + 12345u;
    return (int)((state >> 16) % 9) - 3;
}
extern int program_main(void);
int loopless_n, loopless_seed;
int main(int argc, char **argv) {
    loopless_n = atoi(argv[1]); loopless_seed = atoi(argv[2]);
    return program_main() == 9 ? 9 : 0;
}
"""


class Kind(NamedTuple):
    """A kind of program: its arrays, its code with ``n`` elements, and the change after which it is wrong."""

    name: str
    arrays: str
    code: str
    change: tuple[str, str]


FOR: Final = "for (i = 0; i < n; i++)"
INPUT: Final = f"{FOR} b[i] = __VERIFIER_nondet_int();"
KINDS: Final = (
    # fills
    Kind("fill-constant", "int a[SIZE];", f"{FOR} a[i] = 42; {FOR} __VERIFIER_assert(a[i] == 42);", ("== 42", "== 43")),
    Kind(
        "fill-index",
        "int a[SIZE];",
        f"{FOR} a[i] = 2 * i + 1; {FOR} __VERIFIER_assert(a[i] == 2 * i + 1);",
        ("= 2 * i + 1; for", "= i + 3; for"),
    ),
    Kind(
        "fill-square",
        "int a[SIZE];",
        f"{FOR} a[i] = i * i; {FOR} __VERIFIER_assert(a[i] == i * i);",
        ("a[i] = i * i", "a[i] = i * i - (i == 2)"),
    ),
    Kind(
        "fill-scalar",
        "int a[SIZE];",
        f"int x = __VERIFIER_nondet_int(); {FOR} a[i] = x; {FOR} __VERIFIER_assert(a[i] == x);",
        ("a[i] = x;", "a[i] = x++;"),
    ),
    Kind(
        "fill-remainder",
        "int a[SIZE];",
        f"{FOR} a[i] = i % 3; {FOR} __VERIFIER_assert(a[i] >= 0 && a[i] <= 2);",
        ("<= 2", "<= 1"),
    ),
    Kind(
        "fill-while-pointer",
        "int a[SIZE];",
        f"int *p = a; while (p < a + n) {{ *p = 7; p++; }} {FOR} __VERIFIER_assert(a[i] == 7);",
        ("*p = 7;", "*p = p == a + 1 ? 8 : 7;"),
    ),
    Kind(
        "fill-from-back",
        "int a[SIZE];",
        f"for (i = n - 1; i >= 0; i--) a[i] = i + 5; {FOR} __VERIFIER_assert(a[i] == i + 5);",
        ("i >= 0", "i > 0"),
    ),
    Kind(
        "fill-reversed-index",
        "int a[SIZE];",
        f"{FOR} a[n - 1 - i] = i; {FOR} __VERIFIER_assert(a[i] == n - 1 - i);",
        ("a[n - 1 - i] = i;", "a[n - 1 - i] = n - i;"),
    ),
    Kind(
        "fill-with-counter",
        "int a[SIZE];",
        f"int c = 10; {FOR} {{ a[i] = c; c += 3; }} {FOR} __VERIFIER_assert(a[i] == 10 + 3 * i);",
        ("c += 3", "c += 2"),
    ),
    Kind(
        "fill-by-sum-of-indices",
        "int a[SIZE];",
        f"int s = 0; {FOR} {{ a[i] = s; s += i; }} {FOR} __VERIFIER_assert(2 * a[i] == i * i - i);",
        ("s += i;", "s += i + 1;"),
    ),
    # strides
    Kind(
        "stride-two",
        "int a[2 * SIZE];",
        "for (i = 0; i < 2 * n; i += 2) { a[i] = 1; a[i + 1] = 2; } "
        "for (i = 0; i < 2 * n; i++) __VERIFIER_assert(a[i] == 1 + i % 2);",
        ("a[i + 1] = 2", "a[i + 1] = 1"),
    ),
    Kind(
        "stride-evens-only",
        "int a[2 * SIZE];",
        f"for (i = 0; i < 2 * n; i++) a[i] = 9; {FOR} a[2 * i] = i; "
        f"{FOR} __VERIFIER_assert(a[2 * i] == i && a[2 * i + 1] == 9);".replace("&& a[2 * i + 1] == 9", ""),
        ("a[2 * i] = i;", "a[2 * i + 1] = i;"),
    ),
    Kind(
        "stride-odds-kept",
        "int a[2 * SIZE];",
        f"for (i = 0; i < 2 * n; i++) a[i] = 9; {FOR} a[2 * i] = i; {FOR} __VERIFIER_assert(a[2 * i + 1] == 9);",
        ("a[2 * i] = i;", "a[2 * i + (i == 1)] = i;"),
    ),
    Kind(
        "stride-shifted",
        "int a[SIZE + 5];",
        f"{FOR} a[i + 5] = i; {FOR} __VERIFIER_assert(a[i + 5] == i);",
        ("a[i + 5] = i;", "a[i + 5] = i + (i == 1);"),
    ),
    # copies and maps
    Kind(
        "copy",
        "int a[SIZE], b[SIZE];",
        f"{INPUT} {FOR} a[i] = b[i]; {FOR} __VERIFIER_assert(a[i] == b[i]);",
        ("a[i] = b[i]", "a[i] = b[i] + (i == 1)"),
    ),
    Kind(
        "copy-twice",
        "int a[SIZE], b[SIZE], c[SIZE];",
        f"{INPUT} {FOR} a[i] = b[i]; {FOR} c[i] = a[i]; {FOR} __VERIFIER_assert(c[i] == b[i]);",
        ("c[i] = a[i]", "c[i] = a[0]"),
    ),
    Kind(
        "map-affine",
        "int a[SIZE], b[SIZE];",
        f"{FOR} {{ b[i] = __VERIFIER_nondet_int(); if (b[i] > 1000 || b[i] < -1000) return 0; }} "
        f"{FOR} a[i] = 3 * b[i] - 1; {FOR} __VERIFIER_assert(a[i] == 3 * b[i] - 1);",
        ("a[i] = 3 * b[i] - 1;", "a[i] = 2 * b[i] - 1;"),
    ),
    Kind(
        "map-absolute",
        "int a[SIZE], b[SIZE];",
        f"{FOR} {{ b[i] = __VERIFIER_nondet_int(); if (b[i] < -5) b[i] = 0; }} "
        f"{FOR} a[i] = b[i] < 0 ? -b[i] : b[i]; {FOR} __VERIFIER_assert(a[i] >= 0);",
        ("a[i] >= 0", "a[i] >= 1"),
    ),
    Kind(
        "map-two-arrays",
        "int a[SIZE], b[SIZE], c[SIZE];",
        f"{FOR} {{ a[i] = i; b[i] = 2 * i; }} {FOR} c[i] = a[i] + b[i]; {FOR} __VERIFIER_assert(c[i] == 3 * i);",
        ("b[i] = 2 * i", "b[i] = 2 * i - (i == 2)"),
    ),
    Kind(
        "copy-reversed",
        "int a[SIZE], b[SIZE];",
        f"{INPUT} {FOR} a[i] = b[n - 1 - i]; {FOR} __VERIFIER_assert(a[i] == b[n - 1 - i]);",
        ("a[i] = b[n - 1 - i];", "a[i] = b[i];"),
    ),
    Kind(
        "copy-shifted",
        "int a[SIZE], b[SIZE + 1];",
        f"for (i = 0; i <= n; i++) b[i] = i * 2; {FOR} a[i] = b[i + 1]; {FOR} __VERIFIER_assert(a[i] == 2 * i + 2);",
        ("a[i] = b[i + 1];", "a[i] = b[i];"),
    ),
    Kind(
        "map-of-map",
        "int a[SIZE], b[SIZE], c[SIZE];",
        f"{FOR} a[i] = i + 1; {FOR} b[i] = 2 * a[i]; {FOR} c[i] = b[i] - a[i]; {FOR} __VERIFIER_assert(c[i] == i + 1);",
        ("c[i] = b[i] - a[i]", "c[i] = b[i] - i"),
    ),
    # guards
    Kind(
        "guard-parity",
        "int a[SIZE];",
        f"{FOR} if (i % 2 == 0) a[i] = 1; else a[i] = 2; "
        f"{FOR} if (i % 2 == 0) __VERIFIER_assert(a[i] == 1); else __VERIFIER_assert(a[i] == 2);",
        ("a[i] = 2;", "a[i] = 1;"),
    ),
    Kind(
        "guard-half",
        "int a[SIZE];",
        f"{FOR} a[i] = 0; {FOR} if (2 * i < n) a[i] = 1; {FOR} __VERIFIER_assert(a[i] == (2 * i < n));",
        ("a[i] = 1;", "a[i] = 2 * i + 1 < n;"),
    ),
    Kind(
        "guard-by-data",
        "int a[SIZE], b[SIZE];",
        f"{INPUT} {FOR} if (b[i] > 0) a[i] = 1; else a[i] = -1; "
        f"{FOR} __VERIFIER_assert(b[i] > 0 ? a[i] == 1 : a[i] == -1);",
        ("if (b[i] > 0) a", "if (b[i] >= 0) a"),
    ),
    Kind(
        "guard-clamp-in-place",
        "int b[SIZE];",
        f"{INPUT} {FOR} if (b[i] < 0) b[i] = 0; {FOR} __VERIFIER_assert(b[i] >= 0);",
        ("b[i] < 0", "b[i] < -1"),
    ),
    Kind(
        "guard-clamp-both",
        "int b[SIZE];",
        f"{INPUT} {FOR} {{ if (b[i] < 0) b[i] = 0; if (b[i] > 3) b[i] = 3; }} "
        f"{FOR} __VERIFIER_assert(b[i] >= 0 && b[i] <= 3);",
        ("b[i] > 3", "b[i] > 4"),
    ),
    Kind(
        "guard-first-differs",
        "int a[SIZE];",
        f"{FOR} {{ if (i == 0) a[i] = 100; else a[i] = 50; }} {FOR} __VERIFIER_assert(a[i] == (i == 0 ? 100 : 50));",
        ("else a[i] = 50;", "else a[i] = 50 + (i == 3);"),
    ),
    # in place, sequences of loops
    Kind(
        "add-in-place",
        "int a[SIZE];",
        f"{FOR} a[i] = i; {FOR} a[i] = a[i] + 4; {FOR} __VERIFIER_assert(a[i] == i + 4);",
        ("a[i] + 4", "a[i] + 4 + (i == 2)"),
    ),
    Kind(
        "double-then-subtract",
        "int a[SIZE];",
        f"{FOR} a[i] = i; {FOR} a[i] *= 2; {FOR} a[i] -= i; {FOR} __VERIFIER_assert(a[i] == i);",
        ("*= 2", "*= 3"),
    ),
    Kind(
        "two-halves",
        "int a[SIZE];",
        "int m = __VERIFIER_nondet_int(); if (m < 0 || m > n) return 0; for (i = 0; i < m; i++) a[i] = 1; "
        f"for (i = m; i < n; i++) a[i] = 2; {FOR} __VERIFIER_assert(a[i] == (i < m ? 1 : 2));",
        ("i < m ? 1", "i <= m ? 1"),
    ),
    Kind(
        "overwrite-prefix",
        "int a[SIZE];",
        f"{FOR} a[i] = 8; for (i = 0; i < n / 2; i++) a[i] = 4; "
        f"for (i = n / 2; i < n; i++) __VERIFIER_assert(a[i] == 8);",
        ("i < n / 2", "i <= n / 2 && i < n"),
    ),
    Kind(
        "check-backwards",
        "int a[SIZE];",
        f"{FOR} a[i] = 3 * i; for (i = n - 1; i >= 0; i--) __VERIFIER_assert(a[i] == 3 * i);",
        ("a[i] = 3 * i;", "a[i] = i ? 3 * i : 1;"),
    ),
    Kind(
        "check-any",
        "int a[SIZE];",
        f"{FOR} a[i] = i - 1; int k = __VERIFIER_nondet_int(); if (k < 0 || k >= n) return 0; "
        "__VERIFIER_assert(a[k] == k - 1);",
        ("a[k] == k - 1", "a[k] <= k - 2 + (k < 2)"),
    ),
    Kind(
        "break-inside",
        "int a[SIZE];",
        "int m = __VERIFIER_nondet_int(); for (i = 0; i < n; i++) { if (i == m) break; a[i] = 6; } int e = i; "
        "for (i = 0; i < e; i++) __VERIFIER_assert(a[i] == 6);",
        ("i < e; i++", "i <= e && i < n; i++"),
    ),
    # carried
    Kind(
        "carried-constant",
        "int a[SIZE];",
        f"if (n < 1) return 0; a[0] = 5; for (i = 1; i < n; i++) a[i] = a[i - 1]; {FOR} __VERIFIER_assert(a[i] == 5);",
        ("a[i - 1];", "a[i - 1] + (i == 2);"),
    ),
    Kind(
        "carried-step",
        "int a[SIZE];",
        f"if (n < 1) return 0; a[0] = 5; for (i = 1; i < n; i++) a[i] = a[i - 1] + 2; "
        f"{FOR} __VERIFIER_assert(a[i] == 5 + 2 * i);",
        ("a[i - 1] + 2", "a[i - 1] + 3"),
    ),
    Kind(
        "prefix-sums-of-ones",
        "int a[SIZE], b[SIZE];",
        f"{FOR} b[i] = 1; int s = 0; {FOR} {{ s += b[i]; a[i] = s; }} {FOR} __VERIFIER_assert(a[i] == i + 1);",
        ("b[i] = 1;", "b[i] = 1 - (i == 2);"),
    ),
    Kind(
        "sum-of-fill",
        "int a[SIZE];",
        f"{FOR} a[i] = 2; int s = 0; {FOR} s += a[i]; __VERIFIER_assert(s == 2 * n);",
        ("a[i] = 2;", "a[i] = 2 + (i == 2);"),
    ),
    Kind(
        "count-of-fill",
        "int a[SIZE];",
        f"{FOR} a[i] = 1; int c = 0; {FOR} if (a[i] == 1) c++; __VERIFIER_assert(c == n);",
        ("a[i] = 1;", "a[i] = 1 + (i == 2);"),
    ),
    # extremes
    Kind(
        "maximum",
        "int b[SIZE];",
        f"{INPUT} if (n < 1) return 0; int m = b[0]; {FOR} if (b[i] > m) m = b[i]; {FOR} __VERIFIER_assert(b[i] <= m);",
        (f"{FOR} if (b", "for (i = 0; i + 1 < n; i++) if (b"),
    ),
    # nests
    Kind(
        "matrix-fill",
        "int a[40][40];",
        "if (n > 40) return 0; int j; for (i = 0; i < n; i++) for (j = 0; j < n; j++) a[i][j] = i + j; "
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) __VERIFIER_assert(a[i][j] == i + j);",
        ("== i + j", "== i + j + (i == 1)"),
    ),
    Kind(
        "matrix-rows",
        "int a[40][40];",
        "if (n > 40) return 0; int j; for (i = 0; i < n; i++) for (j = 0; j < 40; j++) a[i][j] = i; "
        "for (i = 0; i < n; i++) for (j = 0; j < 40; j++) __VERIFIER_assert(a[i][j] == i);",
        ("a[i][j] = i;", "a[i][j] = j < 39 ? i : 0;"),
    ),
    Kind(
        "triangle",
        "int a[40][40];",
        "if (n > 40) return 0; int j; for (i = 0; i < n; i++) for (j = 0; j <= i; j++) a[i][j] = 1; "
        "for (i = 0; i < n; i++) for (j = 0; j <= i; j++) __VERIFIER_assert(a[i][j] == 1);",
        ("j <= i; j++) a", "j < i; j++) a"),
    ),
    Kind(
        "fill-again-and-again",
        "int a[SIZE];",
        f"int k; for (k = 0; k < 3; k++) {FOR} a[i] = k; {FOR} __VERIFIER_assert(a[i] == 2);",
        ("a[i] = k;", "if (i != k) a[i] = k;"),
    ),
    Kind(
        "add-in-nest",
        "int a[SIZE];",
        f"int k; {FOR} a[i] = 0; for (k = 0; k < 4; k++) {FOR} a[i] += 2; {FOR} __VERIFIER_assert(a[i] == 8);",
        ("a[i] += 2", "a[i] += 2 + (i == 1)"),
    ),
    Kind(
        "count-up-each",
        "int a[SIZE];",
        f"int j; {FOR} {{ a[i] = 0; for (j = 0; j < i; j++) a[i]++; }} {FOR} __VERIFIER_assert(a[i] == i);",
        ("j < i", "j <= i"),
    ),
    Kind(
        "check-in-nest",
        "int a[SIZE];",
        f"int k; {FOR} a[i] = i; for (k = 0; k < 5; k++) {FOR} __VERIFIER_assert(a[i] == i);",
        ("a[i] = i;", "a[i] = i > 2 ? 2 : i;"),
    ),
    # types and bytes
    Kind(
        "bytes",
        "unsigned char a[SIZE];",
        f"{FOR} a[i] = (unsigned char)i; {FOR} __VERIFIER_assert(a[i] == i % 256);",
        ("i % 256", "i % 4"),
    ),
    Kind(
        "wide",
        "long long a[SIZE];",
        f"{FOR} a[i] = 1000000000LL * i; {FOR} __VERIFIER_assert(a[i] == 1000000000LL * i);",
        ("a[i] = 1000000000LL * i", "a[i] = (int)(1000000000u * i)"),
    ),
    Kind(
        "unsigned-index",
        "unsigned a[SIZE];",
        "unsigned u; for (u = 0; u < n; u++) a[u] = 4 * u; for (u = 0; u < n; u++) __VERIFIER_assert(a[u] % 4 == 0);",
        ("4 * u", "2 * u"),
    ),
    Kind(
        "local-array",
        "",
        f"int a[SIZE]; {FOR} a[i] = 11; {FOR} __VERIFIER_assert(a[i] == 11);",
        ("a[i] = 11;", "a[i] = 11 + i / 2;"),
    ),
    Kind(
        "zeros-of-global",
        "int a[SIZE];",
        "for (i = 0; i < n / 2; i++) a[i] = 1; for (i = n / 2; i < n; i++) __VERIFIER_assert(a[i] == 0);",
        ("i < n / 2; i++", "i <= n / 2 && i < n; i++"),
    ),
    Kind(
        "swap-two-arrays",
        "int a[SIZE], b[SIZE];",
        f"int x; {FOR} {{ a[i] = 1; b[i] = 2; }} {FOR} {{ x = a[i]; a[i] = b[i]; b[i] = x; }} "
        f"{FOR} __VERIFIER_assert(a[i] == 2 && b[i] == 1);",
        ("b[i] = x;", "b[i] = a[i];"),
    ),
    Kind(
        "flag-all-equal",
        "int a[SIZE], b[SIZE];",
        f"int same = 1; {FOR} {{ b[i] = 3; a[i] = b[i]; }} {FOR} if (a[i] != b[i]) same = 0; __VERIFIER_assert(same);",
        ("a[i] = b[i];", "a[i] = i == 1 ? 0 : 3;"),
    ),
    Kind(
        "search-text-length",
        "int a[SIZE + 1];",
        f"{FOR} a[i] = 1; a[n] = 0; i = 0; while (a[i] != 0) i++; __VERIFIER_assert(i == n);",
        ("i == n)", "i < n)"),
    ),
    Kind(
        "search-written-value",
        "int a[SIZE + 1];",
        "int x = __VERIFIER_nondet_int(); a[n] = x; i = 0; while (a[i] != x) i++; __VERIFIER_assert(i <= n);",
        ("i <= n)", "i < n)"),
    ),
    Kind(
        "queue-of-structure",
        "int a[SIZE];",
        f"struct {{ int items[SIZE], head, tail; }} q; q.head = q.tail = 0; {FOR} {{ q.items[q.tail] = 3; q.tail++; }} int s = 0; "
        "while (q.head < q.tail) { s += q.items[q.head]; q.head++; } __VERIFIER_assert(s == 3 * n);",
        ("= 3; q.tail++", "= 3 + (q.tail == 1); q.tail++"),
    ),
    Kind(
        "search-sentinel",
        "int a[SIZE + 1];",
        f"{FOR} a[i] = 1; a[n] = 0; i = 0; while (a[i] != 0) {{ __VERIFIER_assert(i < n); i++; }}",
        ("i < n)", "i + 1 < n)"),
    ),
)


ZERO: Final = ("zeros-of-global",)
"""Kinds that need arrays which hold zeros when the program begins."""


def programs(kinds: Sequence[Kind] = KINDS) -> Iterator[tuple[str, str, bool]]:
    """The name of each program, its text, and whether it is right: with arrays of a fixed size, and of any."""
    for kind in kinds:
        assert kind.code.count(kind.change[0]) >= 1, kind.name
        for right, code in ((True, kind.code), (False, kind.code.replace(*kind.change, 1))):
            end = "right" if right else "wrong"
            fixed = _program(f"{kind.arrays}\n", "n < 0 || n > SIZE", code)
            yield f"{kind.name}-{end}.c", fixed, right
            if "SIZE" in kind.arrays and kind.name not in ZERO:
                varying = kind.arrays.replace("SIZE", "n")
                yield f"{kind.name}-varying-{end}.c", _program("", "n < 1 || n > SIZE", f"{varying} {code}"), right


def _program(outside: str, unfit: str, code: str) -> str:
    lines = code.replace("; ", ";\n    ").replace("{ ", "{\n    ")
    return (
        f"{_BEGIN % SIZE}{outside}int main(void) {{\n    int i;\n    int n = __VERIFIER_nondet_int();\n"
        f"    if ({unfit}) return 0;\n    {lines}\n    return 0;\n}}\n"
    )


def confirmed(text: str, *, right: bool, folder: Path) -> bool:
    """Whether native runs with up to 8 elements agree."""
    source, runtime, command = folder / "program.c", folder / "runtime.c", folder / "program"
    source.write_text(text.replace("int main(void)", "int program_main(void)"))
    runtime.write_text(_RUNTIME)
    subprocess.run(
        [*clang_command(None, None, cxx=False), "-O1", "-w", str(source), str(runtime), "-o", str(command)], check=True
    )
    runs = ((n, seed) for n in range(9) for seed in range(4))
    ends = [subprocess.run([command, str(n), str(seed)], check=False).returncode for n, seed in runs]
    return set(ends) <= {0} if right else 9 in ends and set(ends) <= {0, 9}


def main(kinds: Sequence[Kind] = KINDS, told: str | None = __doc__) -> None:
    """Write the programs and their manifest. ``told``: what they are."""
    parser = argparse.ArgumentParser(description=told, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--confirm", action="store_true", help="run them natively, too")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    manifest = []
    with tempfile.TemporaryDirectory() as work:
        for name, text, right in programs(kinds):
            (options.folder / name).write_text(text)
            manifest.append({"file": name, "expected": {"unreach-call": right}, "data_model": "LP64"})
            if options.confirm and not confirmed(text, right=right, folder=Path(work)):
                print(f"{name}: native runs say otherwise")
    (options.folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    print(f"{len(manifest)} programs")


if __name__ == "__main__":
    main()

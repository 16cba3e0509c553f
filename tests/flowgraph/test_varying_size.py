"""Arrays of variable length and heap arrays of varying size: their sizes, the lengths that C allows, and runs."""

from __future__ import annotations

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeOracle
from loopless.flowgraph import Options, build
from loopless.flowgraph.model import Begin, Check, Flowgraph
from loopless.source import load
from loops_in_c import graph

HEAD = (
    "typedef unsigned long z; void *malloc(z); void *calloc(z, z); void free(void *); void *memset(void *, int, z);\n"
)


def sizes(g: Flowgraph) -> dict[str, str]:
    return {o.name: str(o.extent) for o in g.objects.values() if o.extent is not None}


def checks(g: Flowgraph, kind: str) -> list[str]:
    every = [s for block in g.blocks.values() for s in block.statements]
    return [str(s.condition) for s in every if isinstance(s, Check) and s.kind == kind]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int f(int n) { int a[n]; a[n / 2] = 1; return a[0]; }", {"a": "4*n"}),
        ("int f(int n, int m) { short a[n][m]; a[n / 2][m / 2] = 1; return a[0][0]; }", {"a": "2*m*n"}),
        ("int f(unsigned char n) { long a[n + 1]; a[n / 2] = 1; return a[0]; }", {"a": "8*n + 8"}),
        ("struct s { int x, y; }; int f(int n) { struct s a[n]; a[n / 2].y = 1; return a[0].x; }", {"a": "8*n"}),
        # The length changes behind the declaration, so that the size is kept:
        ("int f(int n) { int a[n]; a[0] = 1; n = 3; return a[n - 1]; }", {"a": "sizeof(a)"}),
        ("int f(int n) { int a[n]; for (int i = 0; n > 0; n--) a[i++] = n; return a[0]; }", {"a": "sizeof(a)"}),
        ("int f(int n) { n = n * 2 + 1; int a[n]; a[n / 2] = 1; return a[0]; }", {"a": "4*n"}),
        ("int f(int n) { for (; n > 40;) n -= 7; int a[n]; a[n / 2] = 1; return a[0]; }", {"a": "4*n"}),
        # Several objects have no size of their own:
        (
            "int f(int n) { int s = 0; for (int i = 1; i < n; i++) { int a[i]; a[i / 2] = 1; s += a[0]; } return s; }",
            {},
        ),
        # On the heap:
        ("int f(int n) { int *p = malloc(n * sizeof *p); return p ? p[n / 2] : 0; }", {"p#2": "4*n"}),
        ("int f(int n) { int *p = calloc(n, sizeof *p); return p ? p[n / 2] : 0; }", {"p#2": "4*n"}),
        ("int f(unsigned n) { short *p = calloc(2, n); return p ? p[n / 2] : 0; }", {"p#2": "2*n"}),
        ("int f(z n) { char *p = malloc(n); return p ? p[n / 2] : 0; }", {"p#2": "(int64_t)(n)"}),
    ],
)
def test_the_size_of_an_object(text: str, expected: dict[str, str]) -> None:
    found = sizes(graph(HEAD + text))
    assert sorted(found.values()) == sorted(expected.values())
    assert len(found) == len(expected)


@pytest.mark.parametrize(
    ("length", "condition"),
    [
        ("n", "n > 0"),
        ("u", "u > 0"),
        ("c", "c > 0"),
        ("b", "b > 0"),
        ("n + 1", "n >= 0"),
        ("u + 1", "(uint32_t)(u + 1) > 0"),
        ("-n", "n < 0"),
        ("n & 7", "mod(n, 8) > 0"),
        ("l", "l > 0 && l <= 576460752303423487"),
        ("g.n", "g.n > 0"),
        ("two(n)", "(int32_t)(what two returned in line 3) > 0"),
    ],
)
def test_the_length_is_read_with_its_sign(length: str, condition: str) -> None:
    head = "extern int two(int); struct { int m, n; } g;\n"
    g = graph(f"{HEAD}{head}int f(int n, unsigned u, signed char c, unsigned char b, long l) {{ int a[{length}]; a[0] = 1; return a[0]; }}")  # fmt: skip
    assert condition in checks(g, "array-length")
    begins = [s for block in g.blocks.values() for s in block.statements if isinstance(s, Begin)]
    assert len(begins) == 1


def test_accesses_are_checked_against_the_size() -> None:
    g = graph("int f(int n, int i) { int a[n]; for (int k = 0; k < n; k++) a[k] = k; return a[i]; }")
    assert checks(g, "bounds") == ["k >= 0 && k < n", "i >= 0 && i < n"]
    g = graph(f"{HEAD}int f(int n, int i) {{ int *a = calloc(n, 4); if (!a) return 1; return a[i]; }}")
    assert checks(g, "bounds") == ["i >= 0 && i < n"]


PROGRAMS = {
    "fill": "int a[n]; for (int i = 0; i < n; i++) a[i] = i * k; int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s;",
    "one place": "int a[n]; a[0] = k; return a[0];",
    "promoted": "int a[n]; a[0] = k; if (n > 2) a[2] = 5; return a[0] + (n > 2 ? a[2] : 0);",
    "rows": "int a[n][k]; for (int i = 0; i < n; i++) for (int j = 0; j < k; j++) a[i][j] = i - j; return a[n - 1][k - 1];",
    "length changes": "int a[n]; for (int i = 0; i < n; i++) a[i] = i; int m = n; n = 1; return a[m - 1] + n + (int)sizeof a;",
    "signed char": "signed char c = n; int a[c]; for (int i = 0; i < c; i++) a[i] = i; return a[c / 2];",
    "unsigned": "unsigned char c = n; short a[c]; for (int i = 0; i < c; i++) a[i] = i; return a[c / 2];",
    "unsigned minus": "unsigned c = (unsigned)n % 9; int a[c - 1u < 20 ? c - 1u : 3]; a[0] = k; return a[0] + (int)(sizeof a / 4);",
    "long": "long c = n; long a[c]; for (long i = 0; i < c; i++) a[i] = i; return (int)a[c / 2];",
    "memset": "char a[n]; memset(a, 3, n); a[0] = k; return a[n - 1];",
    "pointers": "int a[n], *p = a, *q = a + n; while (p != q) *p++ = k; int s = 0; while (q > a) s += *--q; return s;",
    "in a block": "int s = 0; if (n > k) { int a[n]; a[n / 2] = k; s = a[n / 2]; } return s;",
    "in a loop": "int s = 0; for (int i = k; i < n; i++) { int a[i]; a[i / 2] = i; s += a[i / 2]; } return s;",
    "two": "int a[n], b[k]; a[0] = 1; b[0] = 2; for (int i = 0; i < n; i++) a[i] = 7; return b[0] + a[n - 1] + n;",
    "malloc": "int *p = malloc(n * sizeof *p); if (!p) return -1; for (int i = 0; i < n; i++) p[i] = i; int s = 0;"
    " for (int i = 0; i < n; i++) s += p[i]; free(p); return s;",
    "calloc": "int *p = calloc(n, sizeof *p); if (!p) return -1; for (int i = 0; i < n; i += 2) p[i] = i; int s = 0;"
    " for (int i = 0; i < n; i++) s += p[i] * (i + 1); free(p); return s;",
    "calloc at times": "int *p = 0; if (k > 3) p = calloc(sizeof *p, n); if (!p) return -1; p[n - 1] += k; k = p[n - 1]; free(p); return k;",
    "moved": "short *p = malloc((unsigned)n * 2u), *q = p; if (!p) return -1; if (n > 0) for (int i = 0; i < n; i++) *q++ = i;"
    " k = (int)(q - p); free(p); return k;",
    "returns": "unsigned char *p = malloc(n & 15); if (!p) return -1; memset(p, k, n & 15); if (n & 15) k = p[(n & 15) - 1]; free(p); return k;",
}  # fmt: skip
INPUTS = [
    *((n, k) for n in (-128, -1, 0, 1, 2, 3, 7, 20) for k in (-2, 1, 5)),
    (-(1 << 31), 1),
    (130, 3),
    (255, 2),
    (256, 2),
    (257, 4),
]


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_runs_are_those_of_the_compiled_program(name: str, tmp_path) -> None:
    heap = "alloc(" in PROGRAMS[name]
    text = f"{HEAD}int f(int n, int k) {{ {PROGRAMS[name]} }}"
    (tmp_path / "a.c").write_text(text)
    program = load([tmp_path / "a.c"])
    interpreter = Interpreter(program.inlined, build(program.inlined.functions["f"], program.inlined), checked=True)
    seen = set()
    with NativeOracle(text) as oracle:
        for given in INPUTS:
            native, own = oracle.run("f", given), interpreter.run(given)
            if own.outcome.status == "unknown":
                assert "more than" in own.reason or "uninit" in own.reason, own.reason
                continue
            if heap and own.outcome.status == "undefined" and own.reason == "bounds":
                continue  # nothing watches natively what lies around allocated memory
            assert (own.outcome.status, own.outcome.return_value) == (native.status, native.return_value), given
            seen.add((native.status, native.return_value))
    assert len(seen) > 2


@pytest.mark.parametrize(
    ("body", "inside", "outside"),
    [
        ("int a[n]; a[0] = 3; return a[k];", (4, 0), (4, 4)),
        ("int a[n]; a[0] = 3; return a[k];", (4, 0), (4, -1)),
        ("int a[n]; a[2] = 3; return a[2];", (3, 0), (2, 0)),
        ("int a[n][2]; a[1][0] = 3; return a[1][k];", (2, 0), (2, 2)),
        ("char a[n]; memset(a, 1, k); return a[0];", (4, 4), (4, 5)),
        ("int *p = calloc(n, sizeof *p); if (!p) return 0; k = p[k]; free(p); return k;", (3, 2), (3, 3)),
        ("int *p = malloc(n * sizeof *p); if (!p) return 0; p[k] = 1; k = p[k]; free(p); return k;", (3, 2), (3, 3)),
        ("int *p = malloc(n); if (!p) return 0; *p = 1; k = *p; free(p); return k;", (4, 0), (3, 0)),
    ],
)  # fmt: skip
def test_what_lies_outside_is_undefined(body: str, inside: tuple[int, int], outside: tuple[int, int], tmp_path) -> None:
    (tmp_path / "a.c").write_text(f"{HEAD}int f(int n, int k) {{ {body} }}")
    program = load([tmp_path / "a.c"])
    interpreter = Interpreter(program.inlined, build(program.inlined.functions["f"], program.inlined), checked=True)
    assert interpreter.run(inside).outcome.status == "ok"
    assert interpreter.run(outside).outcome.status == "undefined"


def test_lengths_without_limits(tmp_path) -> None:
    text = "int f(int n) { int a[n]; for (int i = 0; i < n; i++) a[i] = i; return a[n / 2]; }"
    (tmp_path / "a.c").write_text(text)
    program = load([tmp_path / "a.c"])
    found = build(program.inlined.functions["f"], program.inlined, Options(mathematical=True))
    assert sizes(found) == {"a": "4*n"} and "n > 0" in checks(found, "array-length")

"""The interpreter against native execution, construct by construct.

One C file holds a function for each construct; each is run on several inputs in both ways, with functions inlined and
not, and with the flowgraph's promises checked.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeOracle
from loopless.flowgraph import Options, build
from loopless.source.program import SourceProgram, load

C = r"""
#include <stdlib.h>
#include <string.h>
#include <limits.h>
extern int __VERIFIER_nondet_int(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern long long __VERIFIER_nondet_longlong(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);
extern void abort(void);
typedef signed char s8; typedef unsigned char u8; typedef short s16; typedef unsigned short u16;
typedef unsigned u32; typedef long long s64; typedef unsigned long long u64;

int add(int a, int b) { return a + b; }
int subtract(int a, int b) { return a - b; }
int multiply(int a, int b) { return a * b; }
int divide(int a, int b) { return a / b; }
int remainder_(int a, int b) { return a % b; }
s64 divide64(s64 a, s64 b) { return a / b + a % b; }
u32 udivide(u32 a, u32 b) { return a / b * 7u + a % b; }
u64 umultiply64(u64 a, u64 b) { return a * b; }
int negate(int a) { return -a; }
int shl(int a, int n) { return a << n; }
u32 ushl(u32 a, int n) { return a << n; }
int shr(int a, int n) { return a >> n; }
u32 ushr(u32 a, u32 n) { return a >> n; }
s64 shr64(s64 a, int n) { return a >> n; }
int bits(int a, int b) { return (a & b) ^ (a | ~b); }
u16 bits16(u16 a, s16 b) { return (u16)(a & 0x0ff0) | (b & -16); }
int divide_constants(int a) { return a / 7 - a % 7 + a / -3 + a % 8 + (u32)a / 10u; }
s8 narrow(int a) { return (s8)a; }
u8 unarrow(s64 a) { return (u8)a; }
s64 widen(s8 a, u8 b) { return (s64)a * 1000 + b; }
u64 reinterpret(s8 a) { return (u64)a + (u32)a + (u16)a; }
int mixed_compare(int a, u32 b) { return (a < b) * 2 + ((s64)a < (s64)b); }
s8 increments(s8 a) { a++; a += 3; a--; return a; }
u8 uincrements(u8 a) { a--; a *= 3; return a; }
_Bool boolean(int a, int b) { _Bool x = a; x |= b > 3; return !x; }
int selects(int a, int b) { int m = a > b ? a : b; return m < 0 ? -m : m; }
int short_circuit(int a, int b) { return (a != 0 && 100 / a > b) || (b != 0 && a / b == 2); }
int told_overflow(int a, int b) {
    int r, q; short s; u8 u; u32 w; s64 v = 0;
    v = v * 3 + (__builtin_add_overflow(a, b, &r) ? r / 2 : r) + __builtin_sub_overflow((s64)a << 31, (s64)b << 31, &v);
    v ^= __builtin_mul_overflow(a, (u32)b, &s) * 64 + s;
    v ^= __builtin_sub_overflow((u32)a, b, &u) * 4096L + u * 8192L;
    v ^= __builtin_smul_overflow(a, b, &q) ? q % 1000 : q / 3;
    return (int)(v ^ (__builtin_usub_overflow(a, b, &w) ? w >> 3 : w >> 1));
}
int comma(int a) { int b = (a += 2, a * 3); return a - b; }

int count_up(int x, int n) { int c = 0; while (x < n) { x++; c++; } return c; }
u32 sum_up(u32 n) { u32 s = 0; for (u32 i = 0; i < n % 5000; i++) s += i * i; return s; }
int overflow_late(int n) { int s = 1; for (int i = 0; i < n; i++) s *= 3; return s; }
u8 wrap_loop(u8 x) { u8 c = 0; while (x != 7) { x += 3; c++; } return c; }
int do_while(int n) { int c = 0; do { n /= 2; c++; } while (n != 0); return c; }
int collatz(u32 n) { int c = 0; n = n % 1000 + 1; while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; c++; } return c; }
int nested(int n, int m) {
    int s = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < m; j++) { if ((i ^ j) == 5) continue; if (j - i > 20) break; s += i - j; }
    return s;
}
int triple(int n) { int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) for (int k = j; k < i; k++) s += k;
    return s; }
int leave_two(int n) { int i, j = 0; for (i = 0; i < n; i++) for (j = 0; j < n; j++) if (i * j == 42) goto out;
    return -1; out: return i * 100 + j; }
int gotos(int n) { int s = 0; again: if (n <= 0) return s; s += n; n -= 3; if (s % 5 == 0) goto skip; s++;
    skip: if (s < 1000) goto again; return -s; }
int into_loop(int n) { int s = 0; if (n > 5) goto middle; while (n > 0) { s += 10; middle: s += n; n--; } return s; }
int switches(int n) { int s = 0; for (int i = 0; i < n; i++) switch (i % 7) { case 0: s++; break; case 1: case 2: s += 2;
    case 3: s ^= 5; break; case 5: return s; default: s--; } return s; }
int switch_wide(int a) { switch (a) { case INT_MIN: return 1; case -1: return 2; case 0: return 3; case INT_MAX: return 4; }
    return 0; }
int state_machine(int n) { int state = 0, c = 0; while (state != 3) { switch (state) { case 0: state = n > 10 ? 1 : 2; break;
    case 1: n -= 7; state = 0; break; case 2: c += n; state = n < 5 ? 3 : 0; n--; break; } c++; } return c; }
int duff(int n) { int c = 0; if (n <= 0) return 0; int k = (n + 3) / 4; switch (n % 4) { case 0: do { c++; case 3: c++;
    case 2: c++; case 1: c++; } while (--k > 0); } return c; }

int array_sum(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
void array_scale(int *a, int n) { for (int i = 0; i < n; i++) a[i] *= i; }
int array_find(const u8 *a, int n, u8 x) { for (int i = 0; i < n; i++) if (a[i] == x) return i; return -1; }
int walk(const s16 *p, int n) { const s16 *e = p + n; int s = 0; while (p != e) s += *p++; return s; }
int walk_back(int *a, int n) { int *p = a + n; int s = 0; while (p > a) { p--; s = s * 3 + *p; *p = s; } return s; }
void reverse(int *a, int n) { int *p = a, *q = a + n - 1; while (p < q) { int t = *p; *p++ = *q; *q-- = t; } }
void sort(int *a, int n) { for (int i = 1; i < n; i++) { int x = a[i], j = i; while (j > 0 && a[j - 1] > x) { a[j] = a[j - 1];
    j--; } a[j] = x; } }
int copy(int *to, const int *from, int n) { for (int i = 0; i < n; i++) to[i] = from[n - 1 - i]; return n ? to[0] : 0; }
u32 bytes(u32 *p) { u8 *b = (u8 *)p; b[1] = 7; return *p + b[3]; }
int out_parameter(int x, int *y) { *y = x * 2; if (y) *y += 1; return *y > 10; }
int maybe_null(int *p) { return p ? *p : -1; }
int sieve(int n) { u8 a[100] = {0}; int c = 0; if (n > 100) n = 100; for (int i = 2; i < n; i++) { if (a[i]) continue; c++;
    for (int j = 2 * i; j < n; j += i) a[j] = 1; } return c; }
int matrix(int k) { int m[3][4], s = 0; for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) m[i][j] = i * k - j;
    for (int j = 0; j < 4; j++) for (int i = 0; i < 3; i++) s = s * 2 + m[i][j]; return s; }
struct point { s8 x; int y; u16 z[3]; struct point *next; };
int structs(int a) { struct point p = {1, a, {2, 3, 4}, 0}; struct point q = p; q.next = &p; p.y += 5; q.z[a & 1] = 9;
    return q.next->y * 100 + q.y + q.z[0] + q.z[1] + p.z[1] + q.x; }
int list(int n) { struct point a[5]; if (n < 0 || n > 4) return -1; for (int i = 0; i < 5; i++) { a[i].y = i * i;
    a[i].next = i ? &a[i - 1] : 0; } int s = 0; for (struct point *p = &a[n]; p; p = p->next) s = s * 10 + p->y; return s; }
struct flags { unsigned a : 3; int b : 5; unsigned c : 24; };
int bitfields(int a) { struct flags f = {0}; f.a = a; f.b = a; f.c = a; f.b++; return f.a + f.b * 10 + (int)(f.c >> 3); }
union both { u32 w; u8 b[4]; };
int unions(u32 a) { union both u; u.w = a; u.b[2] ^= 0x55; return (int)(u.w >> 8); }
int heap(int n) { if (n < 1 || n > 50) return 0; int *a = malloc(n * sizeof *a); int s = 0; for (int i = 0; i < n; i++) a[i] = i;
    for (int i = 0; i < n; i++) s += a[n - 1 - i] * i; free(a); return s; }
int zeroed(int n) { if (n < 1 || n > 50) return 0; u16 *a = calloc(n, 2); a[n / 2] = 5; int s = 0;
    for (int i = 0; i < n; i++) s += a[i]; return s; }
int variable_length(int n) { if (n < 1 || n > 50) return 0; int a[n]; for (int i = 0; i < n; i++) a[i] = n - i; return a[n / 2]; }
int strings(int n) { char t[16]; strcpy(t, "xyz"); strcat(t, "ab"); if (t[3] != (n > 3 ? 97 : 98)) n += t[1]; const char *s = "hello, world"; return (int)strlen(s) * 10 + s[n & 7]; }
int compare_text(u8 a) { char t[3] = {(char)a, 'b', 0}; return strcmp(t, "ab") == 0 ? 1 : strcmp(t, "ab") < 0 ? 2 : 3; }
int blocks(int k) { int a[4] = {1, 2, 3, k}, b[4]; memcpy(b, a, sizeof a); memset(a, 0xff, 8); memmove(b + 1, b, 8);
    return b[0] + b[1] * 10 + b[2] * 100 + b[3] * 1000 + a[0] + a[2]; }
int absolute(int a) { return abs(a); }

int counter = 5; u8 small = 250; static s64 total; int table[4] = {1, -2, 3, -4}; const int fixed[3] = {7, 8, 9};
const char *names[] = {"ab", "c", "def"}; int *where = &table[1];
int globals(int n) { for (int i = 0; i < n; i++) { counter++; small += 2; total += counter; } return small; }
int global_table(int i) { table[i & 3] += 10; return table[0] + table[1] * 2 + fixed[i & 1] + *where; }
int global_names(int i) { return names[(u32)i % 3][0] + (int)strlen(names[(u32)i % 3]); }
int static_local(int n) { static int calls = 3; calls += n; return calls * 2; }

static int increment(int *p) { return ++*p; }
int calls(int n) { int a = n; int s = 0; for (int i = 0; i < 3; i++) s = s * 10 + increment(&a); counter = s; return a; }
int fib(int n) { if (n > 15) n = 15; return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int ackermann(int m, int n) { if (m < 0 || n < 0 || m > 2 || n > 4) return -1; if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1); return ackermann(m - 1, ackermann(m, n - 1)); }
static int odd(u32 n);
static int even(u32 n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(u32 n) { return n == 0 ? 0 : even(n - 1); }
int parity(u32 n) { return even(n % 64); }
static void hanoi(int n, int a, int b, int c) { if (n == 0) return; hanoi(n - 1, a, c, b); counter += a * c; hanoi(n - 1, b, a, c); }
int towers(int n) { hanoi(n < 0 ? 0 : n % 6, 1, 2, 3); return counter; }
static void fill(int *a, int n, int x) { if (n == 0) return; a[0] = x; fill(a + 1, n - 1, x + 1); }
int recursive_fill(int x) { int a[6]; fill(a, 6, x & 255); return a[0] + a[5] * 2; }
static int *pick(int *a, int *b, int c) { return c > 0 ? a : b; }
int picked(int c) { int x = 1, y = 2; *pick(&x, &y, c) += 10; return x * 100 + y; }

int inputs(int n) { int s = 0; for (int i = 0; i < n; i++) { int x = __VERIFIER_nondet_int(); if (x < 0) break; s ^= x; } return s; }
int input_types(void) { u8 a = __VERIFIER_nondet_uchar(); _Bool b = __VERIFIER_nondet_bool(); s64 c = __VERIFIER_nondet_longlong();
    return a + 1000 * b + (c > 4000000000LL) * 5000; }
int assumes(int x) { __VERIFIER_assume(x > 3); return x - 3; }
int errors(int x) { if (x == 17) reach_error(); return x; }
int aborts(int x) { while (x > 100) { x -= 7; if (x == 104) abort(); } return x; }
int exits(int x) { if (x & 1) exit(3); return x; }
int unreachable_(int x) { if (x > 3) __builtin_unreachable(); return x; }
"""

NUMBERS = [0, 1, 2, 5, 7, -1, -3, 10, 42, 100, 255, -128, 2147483647, -2147483648]
PAIRS = [(a, b) for a in NUMBERS for b in NUMBERS]
WIDE = [0, 1, -1, 2**31, -(2**31), 2**63 - 1, -(2**63), 12345678901, -98765]
SMALL = [-3, 0, 1, 2, 3, 4, 5, 6, 9, 12, 19, 31]
ARRAYS = [[], [4], [3, 1, 2], [5, -5, 5, 0, 2, 2, -9]]


def _unsigned(values: list[int], bits: int) -> list[int]:
    return sorted({value % (1 << bits) for value in values})


CASES: dict[str, list[tuple[list[object], list[int]]]] = {
    **{name: [([a, b], []) for a, b in PAIRS] for name in ["add", "subtract", "multiply", "divide", "remainder_"]},
    "divide64": [([a, b], []) for a in WIDE for b in WIDE],
    "udivide": [([a, b], []) for a in _unsigned(NUMBERS, 32) for b in _unsigned(NUMBERS, 32)],
    "umultiply64": [([a, b], []) for a in _unsigned(WIDE, 64) for b in _unsigned(WIDE, 64)],
    "negate": [([a], []) for a in NUMBERS],
    "shl": [([a, n], []) for a in NUMBERS for n in [0, 1, 5, 30, 31, 32, -1]],
    "ushl": [([a, n], []) for a in _unsigned(NUMBERS, 32) for n in [0, 1, 5, 30, 31, 32, -1]],
    "shr": [([a, n], []) for a in NUMBERS for n in [0, 1, 5, 30, 31, 32, -1]],
    "ushr": [([a, n], []) for a in _unsigned(NUMBERS, 32) for n in [0, 1, 5, 30, 31, 32, 2**32 - 1]],
    "shr64": [([a, n], []) for a in WIDE for n in [0, 1, 31, 32, 63, 64]],
    "bits": [([a, b], []) for a, b in PAIRS],
    "bits16": [([a, b], []) for a in [0, 1, 255, 65535, 4660] for b in [0, -1, 17, -32768]],
    **{
        name: [([a], []) for a in NUMBERS]
        for name in ["divide_constants", "narrow", "comma", "switch_wide", "absolute"]
    },
    "unarrow": [([a], []) for a in WIDE],
    "widen": [([a, b], []) for a in [-128, -1, 0, 127] for b in [0, 128, 255]],
    **{name: [([a], []) for a in range(-128, 128, 5)] for name in ["reinterpret", "increments"]},
    **{name: [([a], []) for a in range(0, 256, 3)] for name in ["uincrements", "wrap_loop", "compare_text"]},
    "mixed_compare": [([a, b], []) for a in NUMBERS for b in _unsigned(NUMBERS, 32)],
    **{name: [([a, b], []) for a, b in PAIRS] for name in ["boolean", "selects", "short_circuit", "told_overflow"]},
    **{name: [([a, b], []) for a in SMALL for b in SMALL] for name in ["count_up", "nested", "ackermann"]},
    **{name: [([a], []) for a in [0, 1, 17, 100, 4999, 2**32 - 1]] for name in ["sum_up", "collatz", "parity"]},
    **{
        name: [([a], []) for a in SMALL]
        for name in [
            *["overflow_late", "do_while", "triple", "leave_two", "gotos", "into_loop", "switches", "state_machine"],
            *["duff", "sieve", "matrix", "structs", "list", "bitfields", "heap", "zeroed", "variable_length"],
            *["strings", "blocks", "globals", "global_table", "global_names", "static_local", "calls", "fib", "towers"],
            *["recursive_fill", "picked", "assumes", "unreachable_"],
        ]
    },
    "unions": [([a], []) for a in _unsigned(NUMBERS, 32)],
    **{
        name: [([a, len(a)], []) for a in ARRAYS]
        for name in ["array_sum", "array_scale", "walk_back", "reverse", "sort"]
    },
    "array_find": [([[1, 2, 3, 255], 4, x], []) for x in [1, 3, 255, 9]],
    "walk": [([a, len(a)], []) for a in ARRAYS],
    "copy": [([[0] * len(a), a, len(a)], []) for a in ARRAYS],
    "bytes": [([[a]], []) for a in _unsigned(NUMBERS, 32)],
    "out_parameter": [([a, [99]], []) for a in NUMBERS],
    "maybe_null": [([None], []), ([[5]], [])],
    "inputs": [([n], [3, 5, 2**31 - 1, -1, 7]) for n in SMALL],
    "input_types": [([], [a, b, c]) for a in [300, -1] for b in [0, 1, 2] for c in [5, 2**40]],
    "errors": [([a], []) for a in [0, 17]],
    "aborts": [([a], []) for a in [0, 101, 111, 112, 140, 200]],
    "exits": [([a], []) for a in [0, 1]],
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> SourceProgram:
    path = tmp_path_factory.mktemp("interpret") / "constructs.c"
    path.write_text(C)
    return load(path)


@pytest.fixture(scope="module")
def oracle() -> Iterator[NativeOracle]:
    with NativeOracle(C) as native:
        yield native


@pytest.mark.parametrize(
    ("name", "arguments", "returned", "outputs"),
    [
        ("multiply", [2**30, 16], 2**34, ()),
        ("negate", [-(2**31)], 2**31, ()),
        ("overflow_late", [50], 3**50, ()),
        ("array_sum", [[2**31 - 1] * 3, 3], 3 * (2**31 - 1), ([2**31 - 1] * 3,)),
        ("array_scale", [[5, 2**31 - 1, 2**31 - 1], 3], None, ([0, 2**31 - 1, 2 * (2**31 - 1)],)),
        ("walk_back", [[2**30, 2**30, 2**30], 3], 13 * 2**30, ([13 * 2**30, 2**32, 2**30],)),
        ("out_parameter", [2**31 - 1, [0]], 1, ([2**32 - 1],)),
        ("udivide", [2**32 - 1, 2], ((2**31 - 1) * 7 + 1) % 2**32, ()),
    ],
)
def test_over_the_integers_signed_types_do_not_overflow(
    program: SourceProgram, name: str, arguments: list[object], returned: int | None, outputs: tuple[list[int], ...]
) -> None:
    options = Options(mathematical=True)
    flowgraph = build(program.inlined.functions[name], program.inlined, options)
    outcome = Interpreter(program.inlined, flowgraph, options=options, checked=True).run(arguments).outcome
    assert (outcome.status, outcome.return_value) == ("ok", returned)
    assert outcome.outputs == tuple(map(tuple, outputs))


@pytest.mark.parametrize("name", CASES)
def test_construct(program: SourceProgram, oracle: NativeOracle, name: str) -> None:
    from loopless.check.oracle.native import NativeRun

    cases = CASES[name]
    native = oracle.run_many(name, [NativeRun(args, nondet) for args, nondet in cases])
    for module in dict.fromkeys((program.module, program.inlined)):
        flowgraph = build(module.functions[name], module)
        for checked in (False, True):
            interpreter = Interpreter(module, flowgraph, checked=checked)
            for (args, nondet), expected in zip(cases, native, strict=True):
                found = interpreter.run(args, nondet)
                assert found.outcome.agrees_with(expected), f"{name}{args}: {found.outcome}, natively {expected}"

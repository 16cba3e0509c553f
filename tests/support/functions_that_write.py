"""Functions in C that write memory, and random calls of them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from loopless.flowgraph.model import Flowgraph
from loopless.terms import IntType

Argument = int | list[int]

STRAIGHT = {
    "one element": "void f(int *a, int n) { a[n & 7] = n; }",
    "read again": "int f(int *a, int n) { int i = n & 7; a[i] = 5; a[i + 1] = a[i]; return a[2]; }",
    "the later write counts": "int f(int *a, int i, int j) { i &= 7; j &= 7; a[i] = 1; a[j] = 2; return a[i] * 10 + a[j]; }",
    "in place": "void f(int *a, int n) { int i = n & 7; a[i] = a[i] / 2 + 7; a[i] = a[i] - n % 100; }",
    "swap": "void f(short *a, int i, int j) { i &= 7; j &= 7; short h = a[i]; a[i] = a[j]; a[j] = h; }",
    "two arrays": "int f(int *a, int *b, int i) { i &= 3; a[i] = b[i + 1]; b[i] = a[i + 1]; return a[i] == b[i]; }",
    "other types": "void f(unsigned char *a, long long *b, int i) { a[i & 7] = i; b[i & 7] = a[3] - i; }",
    "a byte of an int": "int f(int *a, int i) { a[i & 3] = i; return ((unsigned char *)a)[17 + (i & 3)]; }",
    "own array": "int f(int n) { int l[4]; l[n & 3] = n; l[(n + 1) & 3] = 7; return l[n & 3]; }",
    "an array with first values": "int f(int n) { int l[5] = {3, 1, 4, 1, 5}; l[n & 3] = 9; return l[0] + 100 * l[(n + 1) & 3]; }",
    "a structure": "struct s { int x; int y[9]; }; int f(int *a, int i) { struct s *s = (struct s *)a; i &= 7; s->y[i] = s->x; s->x = s->y[3]; return s->x; }",
    "filled": "#include <string.h>\nvoid f(int *a, unsigned n) { memset(a, 0, (n & 7) * sizeof *a); a[2] = a[1] + 1; }",
    "filled with bytes": "#include <string.h>\nvoid f(char *a, unsigned n) { memset(a + 1, n, n & 7); }",
    "filled with ones": "#include <string.h>\nint f(short *a, unsigned n) { memset(a, -1, 8); return a[n & 7]; }",
    "copied": "#include <string.h>\nvoid f(int *a, int *b, unsigned n) { b[2] = 5; memcpy(a, b, (n & 7) * sizeof *a); b[1] = 3; }",
    "moved": "#include <string.h>\nvoid f(int *a, unsigned n) { a[1] = 5; memmove(a + 1, a, (n & 7) * sizeof *a); }",
    "read before it is written": "int f(int *a, int i) { i &= 7; int x = a[i]; int y = a[0]; a[i] = 5; a[0] = x; return y; }",
    "moved down": "#include <string.h>\nvoid f(char *a, unsigned n) { a[n & 7] = 0; memmove(a, a + 2, n % 7); }",
}

BRANCHES = {
    "guarded": "void f(int *a, int n) { if (n > 3) a[n & 7] = 1; a[0] = 2; }",
    "the same place": "int f(int *a, int n) { if (n > 3) a[n & 7] = 1; else a[n & 7] = n; return a[1]; }",
    "other places": "void f(int *a, int n) { if (n > 3) a[n & 7] = a[2]; else if (n < -5) { a[1] = n; a[n & 1] = 3; } else a[4] = a[5]; a[6]++; }",
    "four guards": "void f(int *a, int x, int y) { if (x & 1) a[0] = 1; if (x & 2) a[y & 1] = 2; if (x & 4) a[2] = a[0]; if (x & 8) a[3] = a[1]; }",
    "one of two": "void f(int *a, int *b, int n) { int *p = n > 5 ? a : b; p[n & 7] = 1; p[0] += p[n & 7]; }",
}  # fmt: skip

TEN = "if (n > 10) n = 10; "

LOOPS = {
    "fill and read": f"int f(int *a, int n) {{ {TEN} for (int i = 0; i < n; i++) a[i] = 3 * i; return a[5]; }}",
    "halve": f"void f(int *a, int n) {{ {TEN} for (int i = 0; i < n; i++) a[i] /= 2; a[0]++; }}",
    "copied and read": f"int f(int *a, int *b, int n) {{ {TEN} for (int i = 0; i < n; i++) b[i] = a[i]; return b[3] - b[4] / 2; }}",
    "two loops": f"void f(int *a, int *b, int n) {{ {TEN} for (int i = 0; i < n; i++) b[i] = a[i] / 3;"
    " for (int i = 0; i < n; i++) a[i] = b[n - 1 - i]; }",
    "sum of what was filled": f"int f(short *a, int n) {{ {TEN} for (int i = 0; i < n; i++) a[i] = 3;"
    " int s = 0; for (int i = 0; i < 12; i++) s += a[i]; return s; }",
    "search in what was filled": f"int f(int *a, int n) {{ {TEN} for (int i = 0; i < n; i++) a[i] = i * i;"
    " int i = 0; while (i < 12 && a[i] < 20) i++; return i; }",
    "own array": f"int f(unsigned n) {{ int b[10]; {TEN} for (unsigned i = 0; i < n; i++) b[i] = 2 * i;"
    " int s = 0; for (unsigned i = 0; i < n; i++) s += b[i]; return s; }",
    "a loop behind a write": f"int f(int *a, int n, int k) {{ {TEN} a[k & 7] = 100; int s = 0; for (int i = 0; i < n; i++) if (a[i] == 100) s++; return s; }}",
    "one of two loops": f"void f(int *a, int n, int k) {{ {TEN} if (k > 0) {{ for (int i = 0; i < n; i++) a[i] = k; }}"
    " else { for (int i = 1; i < n; i += 2) a[i] = 0; } a[1] = k; }",
    "filled before": f"#include <string.h>\nint f(int *a, unsigned n) {{ {TEN} memset(a, 0, n * sizeof *a); for (unsigned i = 0; i < n; i++) a[i] += i; return a[1]; }}",
    "copied before": f"#include <string.h>\nvoid f(int *a, int *b, unsigned n) {{ {TEN} memcpy(a, b, n * sizeof *a); for (unsigned i = 0; i < n; i++) b[i] = a[n - 1 - i]; }}",
    "prefix sums": f"void f(short *a, long *b, int n) {{ {TEN} long s = 0; for (int i = 0; i < n; i++) {{ s += a[i]; b[i] = s; }} b[11] = b[3]; }}",
    "first values": "int f(int k) { int t[8] = {1, 2, 4, 8, 16, 32, 64, 128}; t[k & 7] = 0; int s = 0; for (int i = 0; i < 8; i++) s += t[i]; return s; }",
    "a text": 'int f(int k) { char b[8] = "hello"; int i = k & 3; while (b[i]) i++; b[i] = 33; return b[5] + i; }',
    "a text once round": 'int f(int k) { char b[6] = "hello"; int i = 0; while (b[i] != (k & 1 ? 111 : 108)) i = (i + 1) % 6; return i; }',
    "read before a loop": f"int f(int *a, int n) {{ {TEN} int x = a[n & 7]; a[n & 7] = 3; int s = 0; for (int i = 0; i < n; i++) if (a[i] == x) s++;"
    " return s; }",
    "early return": f"int f(int *a, int n) {{ {TEN} for (int i = 0; i < n; i++) {{ if (a[i] == 0) return i; a[i] = 1; }} a[11] = 5; return -1; }}",
}  # fmt: skip


SMALL = "if (n < 0 || n > 10) n = 5; "
SENTINELS = {
    "behind what was filled": f"int f(int n) {{ char b[12]; {SMALL} for (int i = 0; i < n; i++) b[i] = 'x'; b[n] = 0; int k = 0; while (b[k]) k++; return k; }}",
    "from within": f"int f(int n, int k) {{ char b[12]; {SMALL} for (int i = 0; i < n; i++) b[i] = 'x'; b[n] = 0; k &= 15; if (k > n) k = n;"
    " while (b[k]) k++; return k; }",
    "a value that is sought": f"int f(int *a, int n, int x) {{ {SMALL} a[n] = x; int k = 0; while (a[k] != x) k++; return k; }}",
    "down to it": f"int f(int n) {{ int b[12]; {SMALL} b[0] = 7; for (int i = 1; i <= n; i++) b[i] = i + 10; int k = n; while (b[k] != 7) k--; return n - k; }}",
    "in every second place": f"int f(int n) {{ short b[24]; {SMALL} for (int i = 0; i < n; i++) b[2 * i] = i + 1; b[2 * n] = 0; int k = 0;"
    " while (b[k]) k += 2; return k; }",
    "of a row of them": f"int f(int n, unsigned m) {{ int b[24]; {SMALL} m %= 9; int i; for (i = 0; i < n; i++) b[i] = i + 1; for (; i < n + (int)m; i++) b[i] = -1;"
    " b[i] = 0; int k = 0, l = 0; while (b[k] > 0) k++; while (b[l]) l++; return 100 * k + l; }",
    "one before it, perhaps": f"#include <string.h>\nint f(int *a, int n) {{ char s[12]; {SMALL} memset(s, 1, 12); if (n > 0) s[n - 1] = a[0] > 0; s[n] = 0; int k = 0;"
    " while (s[k]) k++; return k; }",
    "overwritten since": f"int f(int *a, int n, int m) {{ {SMALL} a[11] = 0; a[n] = 0; a[m & 7] = 1; int k = 0; while (a[k]) k++; return k; }}",
}  # fmt: skip


QUEUE = "struct q { int items[16]; int head, tail; }; "
MIXED = "#include <string.h>\nstruct s { int n; int a[4]; short m; char c[6]; _Bool b; int *p; struct { long x; unsigned char t[3]; } in; }; "
STRUCTURES = {
    "a queue": QUEUE + f"int f(int n) {{ struct q q; q.head = q.tail = 0; {SMALL} for (int i = 0; i < n; i++) q.items[q.tail++] = i * i;"
    " unsigned s = 0; while (q.head != q.tail) s = s * 3 + q.items[q.head++]; return s & 0xffff; }",
    "a queue of functions": QUEUE + "static void push(struct q *q, int x) { q->items[q->tail++] = x; } static int pop(struct q *q) { return q->items[q->head++]; } "
    f"int f(int *a, int n) {{ struct q q = {{0}}; {SMALL} for (int i = 0; i < n; i++) push(&q, a[i] & 15); int s = 0; while (q.head < q.tail) s += pop(&q); return s; }}",
    "a stack": QUEUE + f"void f(int *a, int n) {{ struct q q = {{0}}; {SMALL} for (int i = 0; i < n; i++) q.items[q.head++] = a[i]; for (int i = 0; i < n; i++)"
    " a[i] = q.items[--q.head]; }",
    "zeros": MIXED + "int f(int i) { struct s s = {0}; s.a[i & 3] = 9; s.n += 3; s.c[i & 3]++; s.in.t[i & 1] = 5; return s.n + s.a[1] + s.m + s.c[2] + s.b + 10 * s.in.t[0] + (int)s.in.x; }",
    "cleared behind a pointer": "#include <string.h>\nstruct s { int n; int a[4]; int m; char c[8]; }; "
    "int f(int *a, int i) { struct s *s = (struct s *)a; memset(s, 0, sizeof *s); s->n += i & 7; s->a[i & 3] = 2; s->m--; return s->m + s->a[1]; }",
    "cleared again": MIXED + "int f(int i) { struct s s; int r = 0; for (int k = 0; k < 3; k++) { memset(&s, 0, sizeof s); s.a[k] = k; s.n += k; r += s.n + s.a[i & 3]; } return r; }",
    "some of it cleared": MIXED + "int f(int i) { struct s t; memset(&t.m, 0, sizeof t.m); memset(t.a, 0, sizeof t.a); memset(&t.in, 0, sizeof t.in); t.n = 2; t.m++; t.a[i & 3] = 4; return t.n + t.m + t.a[2] + (int)t.in.x; }",
    "by turns": MIXED + "int f(int n, int i) { struct s s, r; s.n = r.n = 1; s.a[0] = s.a[1] = s.a[2] = s.a[3] = 0; r.a[0] = r.a[1] = r.a[2] = r.a[3] = 5;"
    " s.a[n & 3] = 3; r.a[i & 3] += s.a[i & 3]; if (n > 0) s.n = r.a[1]; else r.n = 7; return s.n + 10 * r.n + 100 * r.a[2]; }",
    "assigned": "struct p { int x, y; }; int f(int *a, int n) { struct p *p = (struct p *)a, best = p[0]; n &= 3; for (int i = 1; i <= n; i++)"
    " if (p[i].x > best.x) best = p[i]; return best.x; }",
    "swapped as a whole": "struct p { int x, y; }; int f(int *a, int n) { struct p *p = (struct p *)a, h = p[n & 3]; p[n & 3] = p[2]; p[2] = h; return h.y; }",
    "tables of structures": "struct code { unsigned char op, bits; unsigned short val; }; int f(int *a, int n) { const struct code *t = (const struct code *)a, *u; struct code here;"
    " int s = 0; n &= 7; for (int i = 0; i < n; i++) { here = t[i]; s += here.bits & 3; here.val = s; if (here.op & 1) s += here.val & 1; } return s; }",
    "with an array inside": "struct v { int n; int a[3]; short k; }; int f(int i) { struct v v = {1, {2, 3, 4}, 5}, w; v.a[i % 3 < 0 ? 0 : i % 3] = 9; w = v; w.n += v.k; v = w;"
    " return v.n + 10 * v.k; }",
    "a union inside": "struct v { int n; union { unsigned u; unsigned char c[4]; } a; long l; }; int f(int i) { struct v v, w; v.n = i & 7; v.a.u = 0x01020304; v.l = 4; w = v;"
    " return w.n + (int)w.l; }",
    "returned and passed": "struct v { long a, b, c; int d; }; static struct v make(int n) { struct v v = {n, 2, n & 3, 4}; return v; } static int of(struct v v) { v.a = v.c + v.d; return v.a; }"
    " int f(int n) { struct v v = make(n), w = make(n + 1 > n ? 3 : 4); w = v; return of(w) * 10 + (int)v.b; }",
    "a pointer to a member": MIXED + "int f(int n) { struct s s; s.n = 1; s.m = 2; s.a[n & 3] = 6; int *p = &s.n; *p += n & 7; short *m = &s.m; *m = *p; return s.n * 10 + s.m + s.a[n & 3]; }",
}  # fmt: skip


OWN = {
    "an array of variable length": f"int f(int n) {{ if (n < 1) return 7; {TEN} int b[n]; for (int i = 0; i < n; i++) b[i] = 2 * i;"
    " int s = 0; for (int i = 0; i < n; i++) s += b[i]; return s; }",
    "its length changes": f"int f(int n) {{ if (n < 1) n = 1; {TEN} int b[n]; int m = n; for (; n > 0; n--) b[n - 1] = n * n;"
    " return b[m - 1] + b[0]; }",
    "from an array": f"int f(int *a, int n) {{ if (n < 1) n = 1; {TEN} int b[n]; for (int i = 0; i < n; i++) b[i] = a[i] / 2;"
    " for (int i = 0; i < n; i++) a[i] = b[n - 1 - i]; return b[n / 2]; }",
    "on the heap": f"#include <stdlib.h>\nint f(int n) {{ {TEN} int *b = malloc(n * sizeof *b); if (!b) return -1;"
    " for (int i = 0; i < n; i++) b[i] = 3 * i; int s = 0; for (int i = 0; i < n; i++) s += b[i]; free(b); return s; }",
    "on the heap, zeroed": f"#include <stdlib.h>\nint f(int n, int k) {{ {TEN} int *b = calloc(n, sizeof *b); if (!b) return -1;"
    " if (n > 3) { b[2] = k / 2; k = b[k & 3]; } free(b); return k; }",
    "one of it": "#include <stdlib.h>\nint f(int n) { int *b = malloc(sizeof *b); if (!b) return -1; *b = n;"
    " while (*b > 9) *b /= 2; n = *b; free(b); return n; }",
}  # fmt: skip


_LARGE = "s ^= 1; " * 200
"""So large that the compiler does not put the function in place of its calls."""

_CALLEES = f"""int g; int h[4];
__attribute__((noinline)) int fill(int *a, int n, int v) {{
    int s = 0; if (v == 77) {{ {_LARGE} }} for (int i = 0; i < n; i++) a[i] = v; g = n; h[1] += 2; return s; }}
__attribute__((noinline)) void bump(int *p) {{ int s = 0; if (*p == 77) {{ {_LARGE} }} *p = *p / 2 + 1 + s; }}
__attribute__((noinline)) int sum(int *a, int n) {{
    int s = 0; if (n == 77) {{ {_LARGE} }} s = 0; for (int i = 0; i < n; i++) s += a[i] % 100; return s; }}
__attribute__((noinline)) void copy(int *to, int *from, int n) {{
    int s = 0; if (n == 77) {{ {_LARGE} }} for (int i = 0; i < n; i++) to[i] = from[i] + s; }}
struct s {{ int a; int b[3]; }};
__attribute__((noinline)) void set(struct s *p, int k) {{ int s = 0; if (k == 77) {{ {_LARGE} }} p->a = k % 50; p->b[k & 1] = s; }}
"""

CALLS = {
    "filled from an element on": "int f(int *b, int k) { fill(b + 1, 3, k); return b[2] + (g + h[1]) * 2; }",
    "twice": "int f(int *b, int k) { int c[8]; fill(b + 1, 3, 7); fill(c, 8, 4); b[5] = k; return b[2] + c[3] + g; }",
    "addresses of variables": "int f(int *b, int k) { int x = k; bump(&x); bump(b + 3); bump(&g); b[3]--; return x - g; }",
    "what was written is read": "int f(int *b, int k) { b[k & 7] = 5; int s = sum(b, 8); b[1] = 3; return s + sum(b + 1, 4); }",
    "copied": "void f(int *a, int *b, int k) { b[2] = k; copy(a + (k & 3), b, 5); copy(b, a, 4); b[k & 3]++; }",
    "a structure": "int f(int *b, int k) { struct s u; u.a = 3; set(&u, k); b[0] = u.a; set((struct s *)(b + 2), 7); return u.b[k & 1]; }",
    "in branches": "int f(int *b, int k) { if (k > 3) fill(b, 4, 1); else if (k < -3) fill(b + 4, k & 3, 2); return b[2] == b[5]; }",
    "from loops": "int f(int *b, int n) { int c[12]; fill(c, 12, 1); if (n > 12) n = 12; for (int i = 0; i < n; i++) c[i] = b[i] % 9;"
    " return sum(c, 12); }",
}  # fmt: skip


def of_calls(name: str) -> str:
    """A program of :data:`CALLS`."""
    return _CALLEES + CALLS[name]


def element_of(type: IntType | None) -> IntType:
    return type if type is not None else IntType(32)


def written(values: Sequence[int], type: IntType) -> bytes:
    size = (type.width or 0) // 8
    return b"".join((value % (1 << 8 * size)).to_bytes(size, "little") for value in values)


def random_arguments(g: Flowgraph, chance: random.Random, length: int = 12) -> list[Argument]:
    """Small integers, and arrays of integers of any size."""
    found: list[Argument] = []
    for parameter in g.parameters:
        if parameter.object is None:
            assert parameter.type is not None
            found.append(parameter.type.wrap(chance.choice([chance.randint(-9, 9), chance.getrandbits(31)])))
        else:
            type = element_of(parameter.pointee)
            found.append(
                [type.wrap(chance.choice([chance.randint(-3, 3), chance.getrandbits(29)])) for _ in range(length)]
            )
    return found

"""The loops of Proteus's figure 1 as functions in C."""

from __future__ import annotations

NONDET = "extern int __VERIFIER_nondet_int(void); extern void __VERIFIER_assume(int);"
FIG_1A = "int f(int x, int z, int n) { while (x < n) { if (z > x) x++; else z++; } return x + z; }"
FIG_1B = (
    "int f(int i, int a, int j) { while (i < 100) { if (a <= 5) a++; else a -= 4; if (j < 8) j++; else j -= 3; i++; }"
    " return 1000 * a + j; }"
)
FIG_1C = (
    NONDET + "int f(int limit) { int i = 0, k = 0; while (i < limit) { int j = __VERIFIER_nondet_int();"
    " __VERIFIER_assume(1 <= j); __VERIFIER_assume(j < limit); i = i + j; k++; } return i + k; }"
)
FIG_1D = (
    NONDET + "int f(int x1, int x2, int x3, int c1, int c2) { while (x1 > 0 && x2 > 0 && x3 > 0) {"
    " if (c1) x1 = x1 - 1; else if (c2) x2 = x2 - 1; else x3 = x3 - 1;"
    " c1 = __VERIFIER_nondet_int(); c2 = __VERIFIER_nondet_int(); } return 10000 * x1 + 100 * x2 + x3; }"
)
FIG_1E = (
    "int f(const int *a, int n, const int *b, int m) { int i = 0, j = 0; while (i < n && j < m) {"
    " if (a[i] == b[j]) { i++; j++; } else { i = i - j + 1; j = 0; } } return i + j; }"
)
FIG_1F = (
    NONDET + "extern void reach_error(void); int f(void) { int s = 1, x1 = 0, x2 = 0; while (__VERIFIER_nondet_int()) {"
    " if (s == 1) x1++; else if (s == 2) x2++; s++; if (s == 5) s = 1;"
    " if (s == 1 && x1 != x2) reach_error(); } return x1 + x2 + s; }"
)

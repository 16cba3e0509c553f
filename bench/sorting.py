"""Programs that sort, part, merge and search arrays, each once right and once wrong, written for ``bench/verify.py``.

    python bench/sorting.py FOLDER [--confirm]
    python bench/verify.py FOLDER --property unreach-call --timeout 60

What is asserted relates two elements of an array: that it is sorted, that none is larger than one of them, on which
side of a place they lie. Or it is about all of them: that any value stands there as often as before, that they add up
to the same. The rest is as in ``bench/array_suite.py``.
"""

from __future__ import annotations

from typing import Final

from array_suite import FOR, Kind, main

ARRAY: Final = "int a[SIZE];"
INPUT: Final = f"{FOR} a[i] = __VERIFIER_nondet_int();"
SORTED_INPUT: Final = f"{FOR} {{ a[i] = __VERIFIER_nondet_int(); if (i > 0 && a[i] < a[i - 1]) a[i] = a[i - 1]; }}"
SORTED: Final = "for (i = 1; i < n; i++) __VERIFIER_assert(a[i - 1] <= a[i]);"
INSERTION: Final = (
    "int j, x; for (i = 1; i < n; i++) { x = a[i]; j = i - 1; "
    "while (j >= 0 && a[j] > x) { a[j + 1] = a[j]; j--; } a[j + 1] = x; }"
)
BUBBLE: Final = (
    "int j, x; for (i = n - 1; i > 0; i--) for (j = 0; j < i; j++) "
    "if (a[j] > a[j + 1]) { x = a[j]; a[j] = a[j + 1]; a[j + 1] = x; }"
)
SELECTION: Final = (
    "int j, m, x; for (i = 0; i < n; i++) { m = i; for (j = i + 1; j < n; j++) if (a[j] < a[m]) m = j; "
    "x = a[i]; a[i] = a[m]; a[m] = x; }"
)
EXCHANGE: Final = "int j, x; for (i = 0; i < n; i++) for (j = i + 1; j < n; j++) if (a[j] < a[i]) { x = a[i]; a[i] = a[j]; a[j] = x; }"


def _kept(changed: str) -> str:
    """That any value stands in the array as often behind what is done as before."""
    return (
        f"{INPUT} int v = __VERIFIER_nondet_int(), c = 0, d = 0; {FOR} if (a[i] == v) c++; {changed} "
        f"{FOR} if (a[i] == v) d++; __VERIFIER_assert(c == d);"
    )


def _same_sum(changed: str) -> str:
    """That the elements add up to the same behind what is done as before."""
    return f"{INPUT} long c = 0, d = 0; {FOR} c += a[i]; {changed} {FOR} d += a[i]; __VERIFIER_assert(c == d);"


ORDERS: Final = (
    Kind("insertion-sort", ARRAY, f"{INPUT} {INSERTION} {SORTED}", ("j >= 0", "j > 0")),
    Kind("insertion-sort-shifted", ARRAY, f"{INPUT} {INSERTION} {SORTED}", ("a[j + 1] = a[j]; j--", "j--")),
    Kind(
        "bubble-sort",
        ARRAY,
        f"{INPUT} int j, x; for (i = n - 1; i > 0; i--) for (j = 0; j < i; j++) "
        f"if (a[j] > a[j + 1]) {{ x = a[j]; a[j] = a[j + 1]; a[j + 1] = x; }} {SORTED}",
        ("j < i; j++", "j < i - 1; j++"),
    ),
    Kind(
        "bubble-sort-down",
        ARRAY,
        f"{INPUT} int j, x; for (i = 0; i < n; i++) for (j = n - 1; j > i; j--) "
        f"if (a[j - 1] > a[j]) {{ x = a[j]; a[j] = a[j - 1]; a[j - 1] = x; }} {SORTED}",
        ("j > i; j--", "j > i + 1; j--"),
    ),
    Kind(
        "selection-sort",
        ARRAY,
        f"{INPUT} int j, m, x; for (i = 0; i < n; i++) {{ m = i; for (j = i + 1; j < n; j++) if (a[j] < a[m]) m = j; "
        f"x = a[i]; a[i] = a[m]; a[m] = x; }} {SORTED}",
        ("j = i + 1; j < n", "j = i + 2; j < n"),
    ),
    Kind(
        "exchange-sort",
        ARRAY,
        f"{INPUT} int j, x; for (i = 0; i < n; i++) for (j = i + 1; j < n; j++) "
        f"if (a[j] < a[i]) {{ x = a[i]; a[i] = a[j]; a[j] = x; }} {SORTED}",
        ("a[j] < a[i]", "a[j] < a[i] && i != 1"),
    ),
    Kind(
        "partition",
        ARRAY,
        f"if (n < 1) return 0; {INPUT} int j = 0, x, p = a[n - 1]; "
        "for (i = 0; i < n - 1; i++) if (a[i] <= p) { x = a[i]; a[i] = a[j]; a[j] = x; j++; } "
        "x = a[j]; a[j] = a[n - 1]; a[n - 1] = x; for (i = 0; i < j; i++) __VERIFIER_assert(a[i] <= a[j]); "
        "for (i = j + 1; i < n; i++) __VERIFIER_assert(a[i] >= a[j]);",
        ("x = a[j]; a[j] = a[n - 1]", "x = a[0]; a[0] = a[n - 1]"),
    ),
    Kind(
        "dutch-flag",
        ARRAY,
        f"int x, lo = 0, hi = n; {FOR} {{ x = __VERIFIER_nondet_int(); a[i] = x < 0 ? 0 : x > 0 ? 2 : 1; }} i = 0; "
        "while (i < hi) { if (a[i] < 1) { x = a[i]; a[i] = a[lo]; a[lo] = x; lo++; i++; } "
        f"else if (a[i] > 1) {{ hi--; x = a[i]; a[i] = a[hi]; a[hi] = x; }} else i++; }} {SORTED}",
        ("a[hi] = x; }", "a[hi] = x; i++; }"),
    ),
    Kind(
        "merge",
        "int a[SIZE], b[SIZE], c[2 * SIZE];",
        f"int j = 0, k = 0; {SORTED_INPUT} {SORTED_INPUT.replace('a[', 'b[')} i = 0; "
        "while (i < n || j < n) { if (j >= n || (i < n && a[i] <= b[j])) { c[k] = a[i]; i++; } "
        "else { c[k] = b[j]; j++; } k++; } for (i = 1; i < k; i++) __VERIFIER_assert(c[i - 1] <= c[i]);",
        ("a[i] <= b[j]", "a[i] <= b[j] + 1"),
    ),
    Kind(
        "largest",
        ARRAY,
        f"if (n < 1) return 0; {INPUT} int m = 0; for (i = 1; i < n; i++) if (a[i] > a[m]) m = i; "
        f"{FOR} __VERIFIER_assert(a[i] <= a[m]);",
        ("i = 1; i < n", "i = 1; i < n - 1"),
    ),
    Kind(
        "is-sorted",
        ARRAY,
        f"{INPUT} int s = 1; for (i = 1; i < n; i++) if (a[i - 1] > a[i]) s = 0; "
        "if (s) for (i = 1; i < n; i++) __VERIFIER_assert(a[0] <= a[i]);",
        ("s = 0;", "s = i < 3;"),
    ),
    Kind(
        "binary-search",
        ARRAY,
        f"int lo = 0, hi = n, m, x = __VERIFIER_nondet_int(); {SORTED_INPUT} "
        "while (lo < hi) { m = lo + (hi - lo) / 2; if (a[m] < x) lo = m + 1; else hi = m; } "
        "for (i = 0; i < lo; i++) __VERIFIER_assert(a[i] < x); "
        "for (i = lo; i < n; i++) __VERIFIER_assert(a[i] >= x);",
        ("a[m] < x", "a[m] <= x"),
    ),
    Kind(
        "binary-search-behind-insertion-sort",
        ARRAY,
        f"{INPUT} {INSERTION} int lo = 0, hi = n, m; x = __VERIFIER_nondet_int(); "
        "while (lo < hi) { m = lo + (hi - lo) / 2; if (a[m] < x) lo = m + 1; else hi = m; } "
        "for (i = 0; i < lo; i++) __VERIFIER_assert(a[i] < x);",
        ("lo = m + 1", "lo = m + 2"),
    ),
)
"""What is asserted relates two elements."""

SUMS: Final = (
    Kind("insertion-sort-counts", ARRAY, _kept(INSERTION), ("a[j + 1] = x", "a[j + 1] = a[i]")),
    Kind("bubble-sort-counts", ARRAY, _kept(BUBBLE), ("a[j + 1] = x", "a[j + 1] = a[j]")),
    Kind("selection-sort-counts", ARRAY, _kept(SELECTION), ("a[m] = x", "a[m] = a[i]")),
    Kind("exchange-sort-counts", ARRAY, _kept(EXCHANGE), ("a[i] = a[j]; a[j] = x", "a[j] = x; a[i] = a[j]")),
    Kind(
        "reverse-counts",
        ARRAY,
        _kept("int j, x; for (i = 0, j = n - 1; i < j; i++, j--) { x = a[i]; a[i] = a[j]; a[j] = x; }"),
        ("a[j] = x", "a[j] = a[i]"),
    ),
    Kind(
        "rotate-counts",
        ARRAY,
        f"if (n < 1) return 0; {_kept('int x = a[0]; for (i = 0; i + 1 < n; i++) a[i] = a[i + 1]; a[n - 1] = x;')}",
        ("i + 1 < n; i++) a[i] = a[i + 1]", "i + 1 < n; i++) a[i + 1] = a[i]"),
    ),
    Kind(
        "partition-counts",
        ARRAY,
        "if (n < 1) return 0; "
        + _kept(
            "int j = 0, x, p = a[n - 1]; for (i = 0; i < n - 1; i++) if (a[i] <= p) "
            "{ x = a[i]; a[i] = a[j]; a[j] = x; j++; } x = a[j]; a[j] = a[n - 1]; a[n - 1] = x;"
        ),
        ("x = a[j]; a[j] = a[n - 1]", "x = a[0]; a[j] = a[n - 1]"),
    ),
    Kind(
        "shuffle-counts",
        ARRAY,
        _kept(
            "int j, x; for (i = 0; i < n; i++) { j = __VERIFIER_nondet_int(); "
            "if (j >= 0 && j < n) { x = a[i]; a[i] = a[j]; a[j] = x; } }"
        ),
        ("a[j] = x", "a[j] = a[i]"),
    ),
    Kind(
        "copy-backwards-counts",
        "int a[SIZE], b[SIZE];",
        f"{INPUT} int v = __VERIFIER_nondet_int(), c = 0, d = 0; {FOR} b[i] = a[n - 1 - i]; {FOR} if (a[i] == v) c++; "
        f"{FOR} if (b[i] == v) d++; __VERIFIER_assert(c == d);",
        ("b[i] = a[n - 1 - i]", "b[i] = a[i / 2]"),
    ),
    Kind(
        "merge-counts",
        "int a[SIZE], b[SIZE], c[2 * SIZE];",
        f"int j = 0, k = 0, x = 0, y = 0, v = __VERIFIER_nondet_int(); {INPUT} {INPUT.replace('a[', 'b[')} i = 0; "
        "while (i < n || j < n) { if (j >= n || (i < n && a[i] <= b[j])) { c[k] = a[i]; i++; } "
        f"else {{ c[k] = b[j]; j++; }} k++; }} {FOR} if (a[i] == v) x++; {FOR} if (b[i] == v) x++; "
        "for (i = 0; i < k; i++) if (c[i] == v) y++; __VERIFIER_assert(x == y);",
        ("c[k] = b[j]; j++", "c[k] = b[j]; j += 1 + (j > 0)"),
    ),
    Kind(
        "each-counts",
        "int a[SIZE], b[SIZE];",
        f"{FOR} {{ a[i] = __VERIFIER_nondet_int(); b[i] = a[i]; }} {INSERTION} int k, v, c, d; "
        f"for (k = 0; k < n; k++) {{ v = b[k]; c = 0; d = 0; {FOR} if (a[i] == v) c++; {FOR} if (b[i] == v) d++; "
        "__VERIFIER_assert(c == d); }",
        ("a[j + 1] = x", "a[j + 1] = a[i]"),
    ),
    Kind("insertion-sort-sum", ARRAY, _same_sum(INSERTION), ("a[j + 1] = x", "a[j + 1] = a[i]")),
    Kind("bubble-sort-sum", ARRAY, _same_sum(BUBBLE), ("a[j + 1] = x", "a[j + 1] = a[j]")),
    Kind("selection-sort-sum", ARRAY, _same_sum(SELECTION), ("a[m] = x", "a[m] = a[i]")),
    Kind(
        "reverse-sum",
        ARRAY,
        _same_sum("int j, x; for (i = 0, j = n - 1; i < j; i++, j--) { x = a[i]; a[i] = a[j]; a[j] = x; }"),
        ("a[j] = x", "a[j] = a[i]"),
    ),
    Kind(
        "sum-both-ways",
        ARRAY,
        f"{INPUT} long c = 0, d = 0; {FOR} c += a[i]; for (i = n - 1; i >= 0; i--) d += a[i]; __VERIFIER_assert(c == d);",
        ("i >= 0; i--", "i > 0; i--"),
    ),
    Kind(
        "hash-of-unsigned",
        ARRAY,
        f"{INPUT} unsigned c = 0, d = 0; {FOR} c += 31u * (unsigned)a[i] + 7u; {BUBBLE} "
        f"{FOR} d += 31u * (unsigned)a[i] + 7u; __VERIFIER_assert(c == d);",
        ("a[j + 1] = x", "a[j + 1] = a[j]"),
    ),
)
"""What is asserted is about all elements: what they count for, added up."""

KINDS: Final = (*ORDERS, *SUMS)


if __name__ == "__main__":
    main(KINDS, __doc__)

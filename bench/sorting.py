"""Programs that sort, part, merge and search arrays, each once right and once wrong, written for ``bench/verify.py``.

    python bench/sorting.py FOLDER [--confirm]
    python bench/verify.py FOLDER --property unreach-call --timeout 60

What is asserted relates two elements of an array: that it is sorted, that none is larger than one of them, on which
side of a place they lie. The rest is as in ``bench/array_suite.py``.
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
KINDS: Final = (
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


if __name__ == "__main__":
    main(KINDS, __doc__)

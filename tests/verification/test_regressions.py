"""Programs about which ``verify`` once said what is wrong, and some that lie close to these."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loopless.check.certificates.property import Property
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.queries.verification.answering import verify
from loopless.queries.verification.verdict import Verdict

UNREACH, TERMINATION, OVERFLOW = Property.UNREACH_CALL, Property.TERMINATION, Property.NO_OVERFLOW
START = "#include <stdlib.h>\nvoid reach_error(void) { abort(); }\n"


def verdict(text: str, property_: Property, folder: Path, *, run: bool = True, wrapv: bool = False) -> Verdict:
    """The answer about a program; without ``run``, by proofs alone."""
    file = folder / "program.c"
    file.write_text(text, encoding="utf-8")
    settings = replace(Settings(), run=run, wrapv=wrapv, apart=False, sandboxed=False)
    return verify(load([file], settings), property_, settings)


CALLED_BACK = "static int cmp(const void *a, const void *b) { %s return 0; }\n"
SORTS = "int main(void) { int a[2] = {2, 1}; qsort(a, 2, sizeof(int), cmp); return 0; }\n"
LATE = "int z = 2147483647; static void late(void) { %s }\nint main(void) { atexit(late); return 0; }\n"
AROUND = "__attribute__((%s)) static void around(void) { %s }\nint main(void) { return 0; }\n"
THREAD = (
    "#include <pthread.h>\nint g; static void *run(void *p) { %s return p; }\n"
    "int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); int a = g; for (int i = 0; i < 9; i++) ;\n"
    "if (g != a) reach_error(); return 0; }\n"
)
SIGNAL = (
    "#include <signal.h>\nstatic void on(int s) { reach_error(); }\nint main(void) { signal(SIGINT, on); return 0; }\n"
)
THROUGH = (
    "static void call(void (*f)(void), int n) { if (n > 3) f(); else call(f, n + 1); }\n"
    "int main(void) { call(reach_error, 0); return 0; }\n"
)
ALIAS = '%s f(int n) { %s }\n%s g(int n) __attribute__((alias("f")));\nint main(void) { g(0); return 0; }\n'


@pytest.mark.parametrize(
    ("property_", "text"),
    [
        (UNREACH, START + CALLED_BACK % "reach_error();" + SORTS),
        (TERMINATION, START + CALLED_BACK % "for (;;) ;" + SORTS),
        (UNREACH, START + LATE % "reach_error();"),
        (TERMINATION, START + LATE % "for (;;) ;"),
        (OVERFLOW, START + LATE % "z++;"),
        (UNREACH, START + "int main(void) { atexit(reach_error); return 0; }\n"),
        (UNREACH, START + AROUND % ("constructor", "reach_error();")),
        (TERMINATION, START + AROUND % ("constructor", "for (;;) ;")),
        (UNREACH, START + AROUND % ("destructor", "reach_error();")),
        (TERMINATION, START + AROUND % ("destructor", "for (;;) ;")),
        (
            UNREACH,
            START + "static void early(void) { reach_error(); }\n"
            '__attribute__((section(".init_array"), used)) static void (*first)(void) = early;\n'
            "int main(void) { return 0; }\n",
        ),
        (UNREACH, START + THREAD % "reach_error();"),
        (UNREACH, START + THREAD % "g = 1;"),
        (UNREACH, START + SIGNAL),
        (UNREACH, START + THROUGH),
        (
            UNREACH,
            START + 'int x;\n__asm__(".globl zz\\n.set zz, x");\nextern int zz;\n'
            "int main(void) { zz = 1; if (x) reach_error(); return 0; }\n",
        ),
        (TERMINATION, 'int main(void) { __asm__ volatile("1: jmp 1b"); return 0; }\n'),
        (UNREACH, START + ALIAS % ("void", "if (n == 3) reach_error(); else f(n + 1);", "void")),
        (OVERFLOW, START + ALIAS % ("int", "return n < 3 ? f(n + 1) : n + 2147483647;", "int")),
        (TERMINATION, START + ALIAS % ("void", "if (n < 3) f(n + 1); else for (;;) ;", "void")),
    ],
)
def test_what_the_flowgraph_of_main_does_not_show_is_not_passed_over(
    property_: Property, text: str, tmp_path: Path
) -> None:
    assert verdict(text, property_, tmp_path, run=False).verdict == "unknown"


@pytest.mark.parametrize(
    ("property_", "text"),
    [
        (UNREACH, "int q; void assume_abort_if_not(int c) { q = 1; if (!c) abort(); }\n"
                  "int main(void) { assume_abort_if_not(1); if (q == 1) reach_error(); return 0; }\n"),
        (UNREACH, "void __VERIFIER_assert(int c) { if (c) reach_error(); }\n"
                  "int main(void) { __VERIFIER_assert(1); return 0; }\n"),
        (TERMINATION, "void __VERIFIER_assume(int c) { if (!c) { LOOP: goto LOOP; } }\n"
                      "int main(void) { __VERIFIER_assume(0); return 0; }\n"),
    ],
)  # fmt: skip
def test_functions_that_are_not_defined_as_they_are_named(property_: Property, text: str, tmp_path: Path) -> None:
    assert verdict(START + text, property_, tmp_path).verdict == "unknown"


@pytest.mark.parametrize("property_", [TERMINATION, OVERFLOW])
@pytest.mark.parametrize("body", ["", "for (;;) ;"])
def test_an_error_function_that_does_not_end_the_run(property_: Property, body: str, tmp_path: Path) -> None:
    text = f"void reach_error(void) {{ {body} }}\nint main(void) {{ int x = 2147483647; reach_error(); x++; for (;;) ; }}\n"
    assert verdict(text, property_, tmp_path).verdict == "unknown"


@pytest.mark.parametrize("property_", list(Property))
def test_the_usual_definitions_are_followed(property_: Property, tmp_path: Path) -> None:
    text = """
        #include <assert.h>
        extern void abort(void);
        void reach_error() { assert(0); }
        void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
        void __VERIFIER_assert(int cond) { if (!(cond)) { ERROR: { reach_error(); abort(); } } return; }
        int main(void) {
            int i;
            for (i = 0; i < 10; i++) ;
            assume_abort_if_not(i > 3);
            __VERIFIER_assert(i == 10);
            return 0;
        }
    """
    assert verdict(text, property_, tmp_path).verdict == "true"


@pytest.mark.parametrize(
    "value",
    [
        "c ? 2147483647 + 1 : 0",
        "c ? c : 65536 * 65536",
        "c + (c ? -2147483647 - 2 : 1)",
        "(c ? 2147483647 * 3 < 0 : 0) ? 1 : 2",
        "(-2147483647 - 1) / -1",
    ],
)
def test_overflows_that_the_compiler_has_folded_away(value: str, tmp_path: Path) -> None:
    start = "extern _Bool __VERIFIER_nondet_bool(void);\nint main(void) { int c = __VERIFIER_nondet_bool(); int x = "
    assert verdict(f"{start}{value}; return 0; }}\n", OVERFLOW, tmp_path, run=False).verdict != "true"


@pytest.mark.parametrize(
    ("value", "holds"),
    [
        ("x << 1", False),
        ("(x & 255) << 24", False),
        ("(x < 0 ? -2000000000 : 1) << 1", False),
        ("(x < 0 ? -1 : 1) << 3", False),  # C has no result for it
        ("y ? x / y : 0", False),
        ("y ? x % y : 0", False),
        ("7 / y", True),
    ],
)
def test_shifts_and_divisions_that_overflow(value: str, holds: bool, tmp_path: Path) -> None:
    text = (
        f"extern int nondet_int(void);\nint main(void) {{ int x = nondet_int(), y = nondet_int(); return {value}; }}\n"
    )
    assert verdict(text, OVERFLOW, tmp_path).verdict == ("true" if holds else "false")


def test_choices_without_overflow_are_followed(tmp_path: Path) -> None:
    start = "extern _Bool __VERIFIER_nondet_bool(void);\nint main(void) { return "
    text = start + "__VERIFIER_nondet_bool() ? 2147483647 : -5 - 3; }\n"
    assert verdict(text, OVERFLOW, tmp_path).verdict == "true"


def test_a_run_in_which_an_assumption_of_the_compiler_is_false_violates_nothing(tmp_path: Path) -> None:
    text = START + "extern int __VERIFIER_nondet_int(void);\nint main(void) { int x = __VERIFIER_nondet_int();\n"
    text += "__builtin_assume(x > 5); if (x == %d) reach_error(); return 0; }\n"
    assert verdict(text % 5, UNREACH, tmp_path).verdict != "false"
    assert verdict(text % 6, UNREACH, tmp_path).verdict == "false"


AGAIN = "int g, h[4]; static void again(%s, int n) { if (n > 0) { %s again(%s, n - 1); } }\n"
SEVEN = "int seventh; static void seven(int n) { if (n > 9) seven(n - 1); else seventh = 7; }\n"
ONCE = "int main(void) { int a[4] = {0}; %s return 0; }\n"


@pytest.mark.parametrize(
    ("property_", "text"),
    [
        (UNREACH, AGAIN % ("int *p, int *q", "*p = 1; *q = 2; if (*p != 1) reach_error();", "p, q")
                  + ONCE % "again(a, a, 3);"),
        (UNREACH, AGAIN % ("int *p, int *q", "*q = 1; p[n] = 2; if (*q != 1) reach_error();", "p, q")
                  + ONCE % "again(a, a + 3, 3);"),
        (UNREACH, AGAIN % ("int *p", "g = 1; *p = 2; if (g != 1) reach_error();", "p") + ONCE % "again(&g, 3);"),
        (UNREACH, AGAIN % ("int *p", "*p = 1; g = 2; if (*p != 1) reach_error();", "p") + ONCE % "again(&g, 3);"),
        (UNREACH, AGAIN % ("int *p", "if (p == &g) reach_error();", "p") + ONCE % "again(&g, 3);"),
        (UNREACH, AGAIN % ("char *p, char *q",
                           "*p = 1; for (int i = 0; i < 4; i++) q[i] = 2; if (*p != 1) reach_error();", "p, q")
                  + ONCE % "again((char *)a + 2, (char *)a, 3);"),
        (UNREACH, SEVEN + AGAIN % ("int *p", "*p = 1; seven(n); if (*p != 1) reach_error();", "p")
                  + ONCE % "again(&seventh, 3);"),
        (OVERFLOW, AGAIN % ("int *p", "g = 5; *p = 2147483647; g = g + 1;", "p") + ONCE % "again(&g, 3);"),
        (TERMINATION, AGAIN % ("int *p, int *q", "*p = *q = 1; while (*p > 0) { *p = *p - 1; *q = *q + 1; }", "p, q")
                      + ONCE % "again(a, a, 3);"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_pointers_that_a_function_is_given_may_overlap_where_the_calls_are_not_inlined(
    property_: Property, text: str, tmp_path: Path
) -> None:
    assert verdict(START + text, property_, tmp_path, run=False).verdict == "unknown"


CHOSEN = "typedef int (*F)(int); int up(int x) { return x + 1; } int down(int x) { return x - 1; }\n"
CALLS = "int main(void) { %s int r = %s(5); if (r != 6) reach_error(); return 0; }\n"


@pytest.mark.parametrize(
    ("globals_", "before", "called", "holds"),
    [
        ("F t[2] = {up, up};", "", "t[1]", True),  # what is called may write what others can name, but only functions
        ("F f = up;", "", "f", True),  # of the program are called
        ("F t[2] = {up, down};", "", "t[1]", False),
        ("F f = up, *p = &f;", "*p = down;", "f", False),
        ("F f = up; extern void strange(void);", "strange();", "f", False),
        ("extern int strange(int); F f = up, g = strange;", "g(1);", "f", False),
        ("F f = up;", '__asm__ volatile("" ::: "memory");', "f", False),
    ],
)
def test_calls_through_pointers_that_nothing_writes(
    globals_: str, before: str, called: str, holds: bool, tmp_path: Path
) -> None:
    text = START + CHOSEN + globals_ + CALLS % (before, called)
    assert (verdict(text, UNREACH, tmp_path, run=False).verdict == "true") == holds


@pytest.mark.parametrize("expression", ["x + 1 <= x", "-x < 0 && x < -5", "x << 31 < x"])
def test_violations_where_values_wrap_around_are_replayed_so(expression: str, tmp_path: Path) -> None:
    text = (
        f"{START}int nondet_int(void);\nint main(void) {{ int x = nondet_int(); if ({expression}) reach_error(); }}\n"
    )
    assert verdict(text, UNREACH, tmp_path, wrapv=True).verdict == "false"

"""What people read of an answer: the states at the entry, what is left out and by which name, commands that help."""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from answers_in_c import answers
from loopless.cli.app import run
from loopless.errors import LimitError
from loopless.queries.loops import answers as module
from loopless.queries.loops import fewer_variables
from loopless.queries.loops.answer import LoopAnswer
from loopless.report.text import BRIEF, TextLayout, loop_summary
from loopless.terms import evaluate, holds


def told(source: str, layout: TextLayout = BRIEF) -> list[str]:
    """The lines about the one loop of a function."""
    (answer,) = answers(source, merge=True, entered=True, approximate=True)
    return loop_summary(answer, layout).splitlines()


# -- the states at the entry ------------------------------------------------------------------------------------------


def moved(n: int) -> tuple[int, int]:
    i, c = n - 1, 0
    while i >= 0:
        c, i = c + 2, i - 1
    return c // 2, c


def guarded(n: int) -> tuple[int, int]:
    i, c = 3, 0
    while i < n:
        c, i = c + 5, i + 2
    return c // 5, c


def overwritten(n: int) -> tuple[int, int]:
    x, c = n, 0
    while x > 7:
        c, x = c + 1, x - 1
    return c, c


def narrowed(n: int) -> tuple[int, int]:
    i, c = n % 256, 0
    while i < 200:
        c, i = c + 1, i + 1
    return c, c


@pytest.mark.parametrize(
    ("source", "runs"),
    [
        ("int f(int n) { int c = 0; for (int i = n - 1; i >= 0; i--) c += 2; return c; }", moved),
        ("int f(int n) { int c = 0; if (n > 4) for (int i = 3; i < n; i += 2) c += 5; return c; }", guarded),
        ("int f(int n) { int x = n, c = 0; n = 7; while (x > n) { x--; c++; } return c; }", overwritten),
        ("int f(int n) { int c = 0; for (unsigned char i = n; i < 200; i++) c++; return c; }", narrowed),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_the_states_at_the_entry_are_those_that_the_code_before_makes(
    source: str, runs: Callable[[int], tuple[int, int]]
) -> None:
    """By what the loop does when it is run, in Python."""
    (answer,) = answers(source, merge=True, entered=True, approximate=True)
    assert answer.at_entry is not None
    draw = random.Random(5)
    for _ in range(60):
        n = draw.choice([draw.randint(-10, 30), draw.randint(5, 300)])
        if "n > 4" in source and n <= 4:
            continue
        occurring = {var for case in answer.at_entry.merged for var in case.when.variables}
        occurring |= {
            var
            for case in answer.at_entry.merged
            for term in (case.iterations, *case.then.values())
            for var in term.variables
        }
        begin = {"n": 7 if runs is overwritten else n, "i": n % 256, "x": n, "c": 0}
        entry = {var: begin[var.name] for var in occurring}
        (case,) = [case for case in answer.at_entry.merged if holds(case.when, entry)]
        (c,) = [term for var, term in case.then.items() if var.name == "c"]
        assert (evaluate(case.iterations, entry), evaluate(c, entry)) == runs(n)


def test_what_the_loop_begins_with_stands_in_place_of_variables() -> None:
    source = "unsigned f(unsigned n) { unsigned s = 5; for (unsigned i = 0; i < n; i++) s += 3; return s; }"
    lines = told(source)
    assert lines[1] == "  entered only with i == 0 && s == 5"
    assert "    n iterations, then leaves in line 1" in lines
    assert "    s' = (uint32_t)(3*n + 5)" in lines
    everywhere = told(source, TextLayout(all_states=True))
    assert not any("entered" in line for line in everywhere)
    assert "  when i < n" in everywhere


def test_where_it_never_ends_stands_in_the_headline() -> None:
    head = told("int f(int n) { int c = 0; for (unsigned char i = 0; i < n; i++) c = 1; return c; }")[0]
    assert ", never ends when n >= 256, " in head
    assert told("void f(unsigned n) { for (unsigned i = n; i >= 0; i--) ; }")[0].split(", ")[2] == "never ends"


def test_the_offset_of_a_pointer_is_not_told_as_its_value() -> None:
    lines = told(
        "struct n { int v; struct n *next; }; int f(struct n *p) { int c = 0; while (p) { c++; p = p->next; } return c; }"
    )
    assert "  entered only with c == 0" in lines


def test_what_a_variable_is_set_to_says_which_cases_there_are() -> None:
    source = """int f(int n) {
    int m = n / 2, c = 0;
    for (int i = 0; i < n; i++) {
        if (m < 0) c += 2; else c++;
    }
    return c;
}"""
    lines = told(source)
    assert lines[1] == "  entered only with c == 0 && i == 0 && m == n / 2"
    assert lines[2] == "  when n <= 0: no iteration, then leaves in line 3"
    assert [line for line in lines if line.startswith(("  when", "    c'"))][1:] == ["  when n > 0", "    c' = n"]
    assert not any("undefined" in line for line in lines)


def test_what_is_told_of_the_entry_does_not_wait_for_all_states(monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[LoopAnswer] = []

    def too_long(*_: object) -> None:
        raise LimitError("all states take long")

    monkeypatch.setattr(module, "note", noted.append)
    monkeypatch.setattr(module, "LOOP_NOTED_AFTER_S", -1.0)
    for one in (module, fewer_variables):
        monkeypatch.setattr(one, "readable", too_long)
    answers("int f(int n) { int c = 0; while (c < n) c++; return c; }", merge=True, entered=True, approximate=True)
    found = [one for one in noted if one.at_entry is not None]
    assert len(found) == 2  # before it is in few words, and then
    for one in found:
        lines = loop_summary(one).splitlines()
        assert lines[1] == "  entered only with c == 0"
        assert "    c' = n" in lines


# -- what is left out -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("void f(int *a, int n) { for (int i = 0; i < n; i++) a[i & 7] ^= a[a[i & 7] & 7]; }", "not told: part of a[]"),
        (
            "double f(const double *x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s / n; }",
            "not told: s",
        ),
        (
            "int f(int n, unsigned a) { int c = 0; while (n > 0) { n--; c++; a += c; } return c; }",
            "not told, not used afterwards: a",
        ),
        (
            "static void g(int *p, int k) { if (k > 0) { *p += k; g(p, k - 1); g(p, k - 2); } }\n"
            "int f(int n) { int b[4] = {0}; for (int i = 0; i < n; i++) g(b, i); return b[n & 3]; }",
            "not told: b[]",
        ),
    ],
    ids=["memory", "double", "unused", "memory that a call writes"],
)
def test_what_changes_and_is_not_told_is_named(source: str, line: str) -> None:
    lines = told(source)
    assert lines[0].split(": ", 1)[1].startswith("exact, complete, ")
    assert f"  {line}" in lines


def test_what_a_run_in_the_body_alone_holds_is_not_named() -> None:
    source = (
        "int f(const int *a, int n) { int c = 0; for (int i = 0; i < n; i++) { int t = a[i]; c += t > 3; } return c; }"
    )
    assert not any("not told" in line for line in told(source))


def test_a_variable_that_defeats_the_summary_is_left_out_by_name() -> None:
    lines = told("int f(int n) { int c = 0; for (unsigned char i = 0; i < n; i++) c ^= i; return c; }")
    assert lines[0].split(": ", 1)[1].startswith("exact but for c, complete, never ends when n >= 256, ")
    assert "    n iterations, then leaves in line 1" in lines
    at = lines.index("  not told: c")
    assert lines[at + 1].startswith("    why: ")
    assert "[L203 no-closed-form]" in lines[at + 1]
    (answer,) = answers(
        "int f(int n) { int c = 0; for (unsigned char i = 0; i < n; i++) c ^= i; return c; }",
        merge=True, entered=True, approximate=True,
    )  # fmt: skip
    assert (answer.status, answer.answered) == ("over-approximate", False)


def test_of_null_pointers_is_told_as_in_c() -> None:
    source = """struct node { struct node *next; };
unsigned f(const struct node *n) { unsigned c = 0; while (n != 0) { c++; n = n->next; } return c; }"""
    lines = told(source)
    assert "  when n == NULL" in lines
    assert "  when list(n, next) ends && the argument n != NULL" in lines
    assert "    n' = NULL" in lines
    assert not any("object" in line or "is_null" in line for line in lines)
    source = "int f(const int *p, int n) { int i = 0; while (i < n) { if (p == 0) return -1; i++; } return i; }"
    whens = [line for line in told(source) if line.startswith("  when")]
    assert any("p == NULL" in line for line in whens)
    assert any("p != NULL" in line for line in whens)


STRUCTURES = """struct e { int key; short v; char name[8]; };
struct pt { int x, y; } pts[50];
struct buf { int len; int data[16]; struct e es[4]; };
"""


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        ("int f(const struct e *t, int n) { int i = 0; while (i < n && t[i].v != 3) i++; return i; }", "t[k].v == 3"),
        ("int f(struct e *t, int n) { int i = 0; while (i < n && t[i + 1].key) i++; return i; }", "t[k + 1].key == 0"),
        ("int f(int n) { int i = 0; while (i < 50 && pts[i].y > n) i++; return i; }", "pts[k].y <= n"),
        ("int f(struct buf *b) { int i = 0; while (i < 16 && b->data[i]) i++; return i; }", "b->data[k] == 0"),
        ("int f(struct buf *b) { int i = 0; while (i < 4 && b->es[i].key) i++; return i; }", "b->es[k].key == 0"),
    ],
)
def test_what_is_read_of_arrays_of_structures_has_its_name(function: str, shown: str) -> None:
    lines = told(STRUCTURES + function)
    assert any(f": {shown})" in line for line in lines), lines


def test_what_many_iterations_make_of_variables_is_told_once() -> None:
    source = """unsigned f(const unsigned char *s, int n) {
    unsigned h = 1;
    int i = 0;
    while (i < n && h != 77) { h = 3 * h + s[i]; i++; }
    return h;
}"""
    lines = told(source)
    assert "    F(k) = fold(v = 1; k1 < k: v' = (uint32_t)(s[k1] + 3*v))" in lines
    assert "    h' = F(N)" in lines
    assert "    h' = F(n)" in lines
    assert "    where N = first(k < n: F(k) == 77)" in lines
    assert sum("fold(" in line for line in lines) == 1
    both = """unsigned f(const unsigned char *s, unsigned F) {
    unsigned a = 5, b = 7;
    for (unsigned i = 0; i < F; i++) { unsigned t = a; a = b ^ s[i]; b = t + 1; }
    return a - b;
}"""
    lines = told(both)
    assert "    G(k) = fold(v = 5, v1 = 7; k1 < k: v' = (s[k1] ^ v1), v1' = (uint32_t)(v + 1))" in lines
    assert {"    a' = G(F).v", "    b' = G(F).v1"} <= set(lines)


def test_a_quotient_that_stands_more_than_once_is_told_once() -> None:
    source = "int f(int n, int a) { int r = 0; while (r < n) r += a; return r; }"
    lines = told(source)
    at = lines.index("    where N = floor_div(n - 1, a)")
    assert "    N + 1 iterations, then leaves in line 1" in lines[:at]
    assert "    r' = a + a*N" in lines[:at]


# -- advice -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "tells"),
    [
        pytest.param(["a.c", "--wrapv", "--", "-DREST=%"], ["how often it runs at most", "what a call comes to"],
                     id="read with flags"),
        pytest.param(["b.c", "a.c"], ["how often it runs at most"], id="in the second file, and eval takes one"),
    ],
)  # fmt: skip
def test_what_is_advised_helps(
    words: list[str],
    tells: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every command is run. ``bench/reading.py --advice`` does that for all functions of a folder."""
    rest = "REST" if "-DREST=%" in words else "%"
    source = (
        f"unsigned gcd(unsigned a, unsigned b) {{ while (b) {{ unsigned t = a {rest} b; a = b; b = t; }} return a; }}"
    )
    (tmp_path / "a.c").write_text(source + "\n", encoding="utf-8")
    (tmp_path / "b.c").write_text("int same(int n) { return n; }\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def printed(*words: str) -> str:
        run(list(words))
        return capsys.readouterr().out

    advice = re.findall(r"^  try: loopless (.*) \((.*)\)$", printed("summarize", *words), re.MULTILINE)
    assert [what for _, what in advice] == tells
    bound, *calls = [printed(*shlex.split(command)) for command, _ in advice]
    assert re.match(r"a\.c:gcd:1:40: (?:at most|exactly) ", bound)
    assert all(call.startswith("returns 6\n") for call in calls)  # gcd(12, 18)

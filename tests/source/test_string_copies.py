"""Copies of strings are put as copies of as many bytes as the string has."""

from __future__ import annotations

import pytest

from answers_in_c import answers
from loopless.flowgraph.model import Call, Copy
from loopless.summary import LoopSummary
from runs_of_text import came_out, flowgraph, statements

_HEAD = """unsigned long strlen(const char *);
char *strcpy(char *, const char *), *stpcpy(char *, const char *), *strcat(char *, const char *);
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('char a[8] = "wxyz"; strcpy(a, "ab"); return a[1] * 1000 + a[2] * 100 + (a[3] == 122);', 98001),
        ('char a[8] = "wxyz"; return strcpy(a + 1, "ab") == a + 1;', 1),
        ('char a[8]; return stpcpy(a, "abc") == a + 3;', 1),
        ('char a[8] = "ab"; strcat(a, "cd"); return a[3] == 100 && a[4] == 0;', 1),
        ('char a[8] = "ab"; return strcat(a, "cd") == a;', 1),
    ],
)  # fmt: skip
def test_what_is_copied_is_what_the_library_copies(body: str, expected: int) -> None:
    assert came_out(f"{_HEAD}int f(void) {{ {body} }}") == expected


@pytest.mark.parametrize(
    "body",
    [
        'char a[4] = "abc"; strcpy(a, a); return 0;',
        'char a[8] = "abc"; strcpy(a + 1, a); return 0;',
        'char a[3]; strcpy(a, "abc"); return 0;',
        'char a[4] = "ab"; strcat(a, "cd"); return 0;',
        'strcpy((char *)"abc", "x"); return 0;',
        "char a[2] = {1, 2}, b[4]; strcpy(b, a); return 0;",
    ],
)
def test_copies_that_do_not_fit_or_overlap_are_undefined(body: str) -> None:
    assert str(came_out(f"{_HEAD}int f(void) {{ {body} }}")).startswith("undefined")


def test_a_length_of_the_program_is_no_length_of_the_library() -> None:
    own = "unsigned long strlen(const char *a) { return a[0] ? 3 : 0; } char *strcpy(char *, const char *);"
    assert not statements(flowgraph(f"{own} void f(char *a, const char *b) {{ strcpy(a, b); }}"), Copy)


def test_a_function_of_the_program_is_what_it_says() -> None:
    own = "__attribute__((noinline)) char *strcpy(char *a, const char *b) { return strcpy(a + 1, b); }"
    graph = flowgraph(f"unsigned long strlen(const char *); {own} char *f(char *a) {{ return strcpy(a, a); }}")
    assert not statements(graph, Copy)
    assert [call.callee for call in statements(graph, Call)] == ["strcpy"]


def test_a_copy_is_a_length_and_a_copy_of_bytes() -> None:
    graph = flowgraph(f"{_HEAD}void f(char *a, const char *b) {{ strcpy(a, b); strcat(a, b); }}")
    assert [call.callee for call in statements(graph, Call)] == ["strlen", "strlen", "strlen"]
    assert len(statements(graph, Copy)) == 2


def test_a_loop_tells_of_the_strings_that_it_copies() -> None:
    loop = 'for (int i = 0; i < n; i++) { strcpy(t, "abc"); d[i] = t[1]; }'
    (found,) = answers(f"{_HEAD}void f(char *d, int n) {{ char t[16]; {loop} }}")
    assert isinstance(found.summary, LoopSummary)
    assert found.summary.complete
    assert not found.summary.untold

"""What library functions return bounds loops, and what they need not return does not."""

from __future__ import annotations

import pytest

from loopless.bounds.induction.counts import Counted, induction_counts
from loopless.queries.program import load
from loopless.refusals import Refused
from loopless.terms import evaluate

INCLUDES = "#include <stdio.h>\n#include <string.h>\n#include <unistd.h>\n#include <sys/socket.h>\n"


def counted_of(tmp_path, body: str) -> tuple[Counted, list]:
    file = tmp_path / "a.c"
    file.write_text(INCLUDES + body)
    graph = load(file)["f"].graph()
    assert not isinstance(graph, Refused)
    found = induction_counts(graph)[graph.loops[-1].name]
    assert isinstance(found, Counted)
    return found, list(graph.variables)


BOUNDED = [
    ("unsigned long f(FILE *s, char *b, unsigned long n) { unsigned long k = 0; while (k < n) { unsigned long r = fread(b + k, 1, n - k, s); if (!r) break; k += r; } return k; }", {"n": 40, "k": 0}, 40),
    ("unsigned f(int d, char *b, unsigned n) { unsigned k = 0; while (k < n) { int r = read(d, b + k, n - k > 1000 ? 1000 : n - k); if (r <= 0) break; k += r; } return k; }", {"n": 40, "k": 0}, 40),
    ("unsigned f(int d, const char *b, unsigned n) { while (n) { long r = write(d, b, n); if (r < 1) break; n -= r; b += r; } return n; }", {"n": 40}, 40),
    ("unsigned f(void) { unsigned n = 0, c = getchar(); if (c > 255) return 0; for (; c < 300; c++) n ^= 1; return n; }", {"c": 0}, 300),
    ("unsigned f(void) { char a[16]; unsigned i, n = 0; fgets(a, 16, stdin); for (i = 0; i < strlen(a); i++) n ^= 1; return n; }", {"i": 0}, 15),
    ('unsigned f(void) { char a[16]; unsigned long i, n = 0; fgets(a, 16, stdin); for (i = 0; i < strcspn(a + 3, "x"); i++) n ^= 1; return n; }', {"i": 0}, 12),
    ("int rand(void); unsigned f(int k) { unsigned n = 0; while (k > 0) { k = k - 1 - rand(); n ^= 1; if (k < -9) return 0; } return n; }", {"k": 40}, 40),
    ("unsigned f(const char *s) { unsigned long i, n = 0; for (i = 0; i < strnlen(s, 9); i++) n ^= 1; return n; }", {"i": 0}, 9),
]  # fmt: skip


@pytest.mark.parametrize(("body", "state", "most"), BOUNDED)
def test_what_a_function_returns_bounds_a_loop(tmp_path, body, state, most):
    """Each completed iteration moves on by at least 1, by no more than is left."""
    found, variables = counted_of(tmp_path, body)
    values = {var: state.get(var.name, 0) for var in variables}
    bounds = [evaluate(bound.term, values) for bound in found.bounds]
    assert bounds
    assert min(bounds) == most


@pytest.mark.parametrize(
    "body",
    [
        # The program's own functions are not those of the library.
        "__attribute__((noinline)) long read(int d, void *b, size_t n) { return d > 5 ? read(d - 1, b, n) + 1 : d; } unsigned f(int d, char *b, unsigned n) { unsigned k = 0; while (k < n) { int r = read(d, b, n - k); if (r <= 0) break; k += r; } return k; }",
        # What is left may be more than SSIZE_MAX.
        "unsigned long f(int d, char *b, unsigned long n) { unsigned long k = 0; while (k < n) { long r = read(d, b, n - k); if (r <= 0) break; k += r; } return k; }",
        # A packet may be longer than the buffer (MSG_TRUNC).
        "unsigned f(int d, char *b, unsigned n) { unsigned k = 0; while (k < n) { int r = recv(d, b, n - k, MSG_TRUNC); if (r <= 0) break; k += r; } return k; }",
        # -1 may be returned, and 0.
        "unsigned f(int d, char *b, unsigned n) { unsigned k = 0; while (k < n) { int r = read(d, b, n - k > 9 ? 9 : n - k); k += r; } return k; }",
        "unsigned f(int d, char *b, unsigned n) { unsigned k = 0; while (k < n) { int r = read(d, b, n - k > 9 ? 9 : n - k); if (r < 0) break; k += r; } return k; }",
        # The argument is a negative number, and so a large one.
        "unsigned f(int d, char *b, int n) { int k = 1; while (k > 0) { int r = read(d, b, n); if (r <= 0) break; k = (k & 1) + r; } return k; }",
        # The string may begin in another object.
        "unsigned f(const char *s) { unsigned long i; for (i = 0; i < strlen(s); i += 2) ; return i; }",
    ],
)
def test_what_need_not_be_returned_bounds_nothing(tmp_path, body):
    found, _ = counted_of(tmp_path, body)
    assert not [bound for bound in found.bounds if bound.term.variables or evaluate(bound.term, {}) < 1 << 30]


@pytest.mark.parametrize(
    ("body", "chosen"),
    [
        ("unsigned f(int d, char *b, unsigned k) { unsigned n = 0; if (k > 4) return 0; while (read(d, b, k) == 5) n ^= 1; return n; }", False),
        ("unsigned f(int d, char *b, unsigned k) { unsigned n = 0; if (k > 6) return 0; while (read(d, b, k) == 5) n ^= 1; return n; }", True),
        ("unsigned f(int d, char *b) { unsigned n = 0, k = 3; while (read(d, b, k) == 5) { n ^= 1; k = (k * 3) & 3; } return n; }", False),
        ("unsigned f(int d, char *b) { unsigned n = 0, k = 3; while (read(d, b, k) == 0) { n ^= 1; k = (k * 3) & 3; } return n; }", True),
        ("unsigned f(int d, char *b, unsigned k) { unsigned n = 0; do n ^= 1; while (read(d, b, k > 6 ? 6 : k) == 5); return n; }", True),
        ("unsigned f(int d, char *b, unsigned k) { unsigned n = 0; do n ^= 1; while (read(d, b, k > 4 ? 4 : k) == 5); return n; }", False),
        ("unsigned f(void) { unsigned n = 0; while (getchar() >= 256) n ^= 1; return n; }", False),
        ("unsigned f(void) { unsigned n = 0; while (getchar() >= 255) n ^= 1; return n; }", True),
    ],
)  # fmt: skip
def test_what_is_chosen_can_be_returned(tmp_path, body, chosen):
    """``read`` returns no more than it is asked for, ``getchar`` no more than a byte."""
    found, _ = counted_of(tmp_path, body)
    assert found.reads.inputs is chosen


def test_a_buffer_that_is_filled(tmp_path) -> None:
    """Each call but the last reads at least a byte into what is left of the buffer."""
    body = (
        "unsigned f(int d, char *b) { unsigned k = 0; int r; do { r = read(d, b + k, 4096 - k); if (r == 0) break;\n"
        "if (r == -1) return 0; k += r; } while (k < 4096); return k; }"
    )
    found, variables = counted_of(tmp_path, body)
    values = dict.fromkeys(variables, 0)
    assert min(evaluate(bound.term, values) for bound in found.any_entry) == 4096

"""``loopless reach --hang``: inputs of runs that never end, or go round too often, and functions without such runs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import loopless
from reach_asked import asking

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "src" / "loopless" / "report" / "schema.json").read_text(encoding="utf-8"))
Asked = Callable[..., tuple[int, Any, str]]

HANGS = {
    # RIOT-OS/RIOT#12086: an option of length 0 does not advance.
    "options": """
int f(const unsigned char *opt, unsigned len) {
    const unsigned char *p = opt;
    unsigned left = len;
    while (left > 0) {
        if (p[0] == 0) return 0;
        if (p[0] == 1) { p++; left--; continue; }
        if (left < 2 || p[1] > left) return -1;
        left -= p[1];
        p += p[1];
    }
    return 0;
}""",
    # CVE-2019-20421: a box whose length is 0 is visited again and again.
    "boxes": """
extern unsigned __VERIFIER_nondet_uint(void);
int f(unsigned long size) {
    unsigned long at = 0;
    while (at < size) {
        unsigned long begin = at;
        unsigned length = __VERIFIER_nondet_uint();
        __VERIFIER_nondet_uint();
        at = begin + length;
    }
    return 1;
}""",
    # A backslash at the end of the text is not passed.
    "escapes": r"""
int f(const char *s) {
    while (*s) {
        if (*s == '\\') { if (s[1] == 0) continue; s++; }
        s++;
    }
    return 1;
}""",
    # A pointer of DNS that leads to itself, or back to it.
    "names": """
int f(const unsigned char *buf, unsigned long len) {
    unsigned long at = 0;
    while (at < len) {
        unsigned char c = buf[at];
        if (c == 0) return 1;
        if ((c & 0xc0) == 0xc0) { if (at + 1 >= len) return -1; at = buf[at + 1]; continue; }
        at += c + 1;
    }
    return 0;
}""",
    # The sum of 16 bits wraps around to where it was.
    "wraps": """
int f(const unsigned char *b, unsigned short len) {
    unsigned short at = 0;
    while (at < len) {
        if (at + 2u > len) return -1;
        at = (unsigned short)(at + (unsigned short)(b[at] | b[at + 1] << 8) + 2);
    }
    return 0;
}""",
    # Subtraction with 0 changes nothing.
    "subtracted": "int f(unsigned a, unsigned b) { while (a != b) { if (a > b) a -= b; else b -= a; } return 1; }",
    # Two numbers are exchanged: a state comes again with every second iteration.
    "exchanged": """
int f(unsigned a, unsigned b) {
    while (a != 0) { unsigned t = a; a = b; b = t; if (a == 1 && b == 1) a = 0; }
    return 1;
}""",
    # Structures behind pointers.
    "structure": """
struct box { unsigned len, left; };
int f(struct box *b) { while (b->left) { if (b->left < b->len) return -1; b->left -= b->len; } return 0; }""",
    # A list that leads back to itself.
    "list": """
struct node { struct node *next; int value; };
int f(struct node *p) { int x = 0; while (p) { x ^= p->value; p = p->next; } return x; }""",
    # A structure that is passed itself, and memory behind it.
    "view": """
struct view { const unsigned char *data; unsigned long len; };
int f(struct view v) { unsigned long at = 0; while (at + 1 <= v.len) at += v.data[at]; return 1; }""",
    # What was written is read again.
    "written": "int f(unsigned char *b, unsigned n) { unsigned i = 0; while (i < n) { b[i] = 3; if (b[i] == 4) i++; } return 1; }",
    # The words of a command.
    "words": """
int f(int argc, char **argv) {
    const char *s = argc > 1 ? argv[1] : "";
    while (*s) { if (*s == '%') { if (s[1] == 'x') s += 2; } else s++; }
    return 0;
}
int main(int argc, char **argv) { return f(argc, argv); }""",
    # The loop is in a function that is called.
    "callee": """
static int skip(const unsigned char *b, unsigned n) { unsigned i = 0; while (i < n && b[i] != 7) i += b[i]; return 1; }
int f(const unsigned char *b, unsigned n) { return n > 3 ? skip(b, n) : 0; }""",
    # An inner loop sets back what the outer one has moved.
    "set back": """
int f(unsigned char n) {
    unsigned char i = 0;
    while (i < n) { i++; while (i > 0 && n == 9) i--; }
    return 1;
}""",
    # UTF-8: a byte that begins nothing is not passed.
    "encoded": """
int f(const unsigned char *s, unsigned n) {
    unsigned i = 0;
    while (i < n) {
        if (s[i] < 0x80) i += 1;
        else if ((s[i] & 0xe0) == 0xc0) i += 2;
        else if ((s[i] & 0xf0) == 0xe0) i += 3;
    }
    return 1;
}""",
}
"""Functions with calls that never end, whatever overflows."""

COUNTED = {
    "options": """
int f(const unsigned char *p, unsigned left) {
    int seen = 0;
    while (left > 0) {
        if (p[0] == 0) return seen;
        if (left < 2 || p[1] > left) return -1;
        left -= p[1];
        p += p[1];
        seen++;
    }
    return seen;
}""",
    "even": "int f(unsigned char x) { int count = 0; while (x != 1) { x += 2; count++; } return count; }",
    "chain": """
int f(const unsigned char *next) {
    unsigned char i = 0;
    int n = 0;
    while (i != 255) { i = next[i]; n += 1000000; }
    return n;
}""",
    # CVE-2022-0778: no state comes again, but only the overflow of i ends the search.
    "square": """
int f(unsigned t, int e) {
    int i = 1;
    while (t != 1) { i++; if (i == e) return 0; t = (unsigned)((unsigned long long)t * t % 7); }
    return i;
}""",
}
"""The same with a counter beside, whose overflow C leaves undefined."""

ENDS = {
    "options": """
int f(const unsigned char *b, unsigned long len) {
    unsigned long at = 0;
    while (at < len) { if (b[at] == 0) return -1; if (b[at] > len - at) return -1; at += b[at]; }
    return 0;
}""",
    "counter": "int f(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= i; return s; }",
    "odd": "int f(unsigned char x) { if (x % 2 == 0) return 0; while (x != 1) x += 2; return 1; }",
    "no loop": "int f(int n) { return n > 0 ? n : -n; }",
}
"""Functions of which each call ends."""

UNSETTLED = {
    # Each call ends: the numbers stay positive, and their sum falls.
    "greatest divisor": """
int f(unsigned a, unsigned b) {
    if (a == 0 || b == 0) return 0;
    while (a != b) { if (a > b) a -= b; else b -= a; }
    return 1;
}""",
    # What decides is not followed: it never ends where x is infinite.
    "halved": "int f(double x) { while (x > 1.0) x *= 0.5; return 1; }",
    # Each call ends, as trying all 255 tells.
    "3n + 1": "int f(unsigned char c) { unsigned n = c; while (n > 1) n = n % 2 ? 3 * n + 1 : n / 2; return 1; }",
}
"""Functions of which nobody may say that a call never ends for what a state comes to again."""


@pytest.fixture
def asked(capsys: Any, tmp_path: Path) -> Asked:
    return asking(capsys, tmp_path, SCHEMA, "--hang")


@pytest.mark.slow
@pytest.mark.parametrize("name", HANGS)
def test_calls_that_never_end_are_found(asked: Asked, name: str) -> None:
    function = "main" if name == "words" else "f"
    status, found, _ = asked(HANGS[name], "--function", function, "--timeout", 40)
    assert (status, found["verdict"]) == (0, "reached")
    assert found["hang"]["rounds"] is None
    assert not found["hang"]["overflows"]
    assert ".c:" in found["hang"]["loop"]
    assert found["target"] is None


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTED)
def test_a_counter_beside_is_told_apart(asked: Asked, name: str) -> None:
    status, found, _ = asked(COUNTED[name], "--function", "f", "--timeout", 40)
    assert (status, found["verdict"]) == (0, "reached")
    assert found["hang"]["overflows"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDS)
def test_functions_with_bounds_have_no_such_call(asked: Asked, name: str) -> None:
    status, found, _ = asked(ENDS[name], "--function", "f", "--timeout", 40)
    assert (status, found["verdict"], found["method"]) == (1, "unreachable", "bounds")


@pytest.mark.slow
@pytest.mark.parametrize("name", UNSETTLED)
def test_long_runs_are_not_taken_for_endless_ones(asked: Asked, name: str) -> None:
    _, found, _ = asked(UNSETTLED[name], "--function", "f", "--timeout", 8)
    assert found["verdict"] != "reached"


@pytest.mark.slow
def test_a_loop_that_only_an_overflow_ends_is_told_so(asked: Asked) -> None:
    text = "int f(int n) { int i = 5; while (i != n) i += 2; return n; }"
    status, found, _ = asked(text, "--function", "f", "--timeout", 20)
    assert (status, found["verdict"]) == (0, "reached")
    n = found["inputs"]["arguments"][0]["value"]
    assert n < 5 or n % 2 == 0
    assert found["hang"]["overflows"]
    # The overflow comes after 2048 iterations, and then the compiled program ends.
    text = "int f(int n) { int i = 0; while (i >= 0) i += 1 << 20; return n; }"
    status, found, _ = asked(text, "--function", "f", "--timeout", 8)
    assert (status, found["verdict"]) == (3, "unknown")


@pytest.mark.slow
def test_a_recursion_is_not_refuted(asked: Asked) -> None:
    text = "int f(int n) { return n == 0 ? 0 : f(n - 1); }"
    _, found, _ = asked(text, "--function", "f", "--timeout", 20)
    assert found["verdict"] != "unreachable"


@pytest.mark.slow
def test_the_test_of_a_call_that_never_ends_is_stopped(asked: Asked, tmp_path: Path) -> None:
    text = (
        "extern int __VERIFIER_nondet_int(void);\nint f(int n) { while (n) n = __VERIFIER_nondet_int() / 2; return 1; }"
    )
    status, _, _ = asked(text, "--function", "f", "--write-test", tmp_path, "--timeout", 40)
    assert status == 0
    for file in ("test.c", "test.py"):
        written = (tmp_path / file).read_text(encoding="utf-8")
        assert "alarm(10)" in written
        (tmp_path / file).write_text(written.replace("alarm(10)", "alarm(1)"), encoding="utf-8")
    subprocess.run(["cc", "test.c", "-o", "test"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "test"], cwd=tmp_path, check=False).returncode == -14  # SIGALRM
    assert subprocess.run([sys.executable, "test.py"], cwd=tmp_path, check=False).returncode == -14


STEPS = "int f(const unsigned char *b, unsigned n) { unsigned i = 0; while (i < n && b[i] == 'x') i++; return 1; }"
NEST = """int f(unsigned char n) {
    int s = 0;
    for (unsigned i = 0; i < n; i++) for (unsigned j = 0; j < i; j++) s ^= 1;
    return s;
}"""


@pytest.mark.slow
def test_rounds_are_those_of_one_entry(asked: Asked) -> None:
    """The inner loop goes round at most 254 times since it was entered, in all 32,385 times; the outer one 255 times."""
    status, found, _ = asked(NEST, "--function", "f", "--rounds", 254)
    assert (status, found["verdict"], found["hang"]["rounds"]) == (0, "reached", 254)
    assert found["hang"]["loop"].endswith("a.c:f:3:5")
    assert found["inputs"]["arguments"][0]["value"] == 255
    status, found, _ = asked(NEST, "--function", "f", "--rounds", 255)
    assert (status, found["verdict"]) == (1, "unreachable")


@pytest.mark.slow
def test_rounds_of_a_loop_over_a_buffer(asked: Asked) -> None:
    status, found, _ = asked(STEPS, "--function", "f", "--rounds", 20)
    assert (status, found["verdict"]) == (0, "reached")
    number, length = found["inputs"]["arguments"]
    first = number["elements"][0]
    assert first["value"] == ord("x")
    assert first["count"] >= 21
    assert length["value"] >= 21


@pytest.mark.slow
def test_rounds_of_loops_with_the_condition_at_the_end(asked: Asked) -> None:
    """The body of a ``do`` runs once more than the loop goes back to it."""
    text = "int f(void) { int i = 0; do i++; while (i < 5); return i; }"
    assert asked(text, "--function", "f", "--rounds", 3)[1]["verdict"] == "reached"
    assert asked(text, "--function", "f", "--rounds", 4)[1]["verdict"] == "unreachable"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--function", "g"), "there is no function g"),
        (("--rounds", "-1", "--function", "f"), "--rounds takes a number from 0"),
        (("--line", "1"), "leave out --line"),
        (("--cover",), "leave out --hang"),
        ((), "choose with --function: f"),
    ],
)
def test_questions_that_mean_nothing(asked: Asked, words: tuple[str, ...], said: str) -> None:
    text = NEST + "\nint other(int n) { return n; }"
    status, _, beside = asked(text, *words, form="text")
    assert status == 2
    assert said in beside


def test_rounds_are_of_hangs(capsys: Any, tmp_path: Path) -> None:
    status, _, beside = asking(capsys, tmp_path, SCHEMA)(NEST, "--rounds", 3, form="text")
    assert status == 2
    assert "--hang" in beside


@pytest.mark.slow
def test_parameters_that_cannot_be_given_are_named(asked: Asked) -> None:
    text = "int f(long double x, unsigned char n) { while (n) n *= n; return x > 0; }"
    status, found, _ = asked(text, "--function", "f", "--timeout", 20)
    assert status == 3
    assert "x is" in found["reason"] or "long double" in found["reason"]


@pytest.mark.slow
def test_programs_answer_the_same_in_python(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(HANGS["options"], encoding="utf-8")
    program = loopless.load(file)
    found = program.reach(function="f", hang=True)
    assert found
    assert "never ends" in str(found)
    assert "alarm" in found.c_test(tmp_path)
    with pytest.raises(loopless.UsageError, match="leave out line"):
        program.reach(3, hang=True)
    with pytest.raises(loopless.UsageError, match="hang=True"):
        program.reach(3, rounds=3)

"""What is said of loops is said of the states in which a run enters them, and upper, least and never ending agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopless.bounds.claims.joint import always
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.bounds.answers import FunctionBound, LoopIterations
from loopless.queries.bounds.rules import RuledLoop, bounded_loops, verdict_of
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.report.bounds import bound_text
from loopless.report.loop_rules import rule_text
from loopless.stepping import no_stepping
from loopless.terms import FALSE, TRUE, Var, evaluate, holds

SETTINGS = Settings(loop_timeout_s=60.0, sandboxed=False)
READ = """extern unsigned __VERIFIER_nondet_uint(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void __VERIFIER_assume(int);
"""
COLLATZ = "while (x != 1) { if (x % 2) x = 3 * x + 1; else x = x / 2; }"


def ruled(tmp_path: Path, text: str) -> list[RuledLoop]:
    file = tmp_path / "p.c"
    file.write_text(READ + text, encoding="utf-8")
    return bounded_loops(load([file], SETTINGS), (), SETTINGS)


def bounds(tmp_path: Path, text: str) -> FunctionBound:
    file = tmp_path / "p.c"
    file.write_text(READ + text, encoding="utf-8")
    (found,) = answer_bounds(load([file], SETTINGS).functions, "all", SETTINGS)
    return found


def most_steps(values: range) -> int:
    """The longest way to 1, counted."""

    def steps(x: int) -> int:
        count = 0
        while x != 1:
            x, count = (3 * x + 1 if x % 2 else x // 2), count + 1
        return count

    return max(steps(x) for x in values)


# -- the rule ---------------------------------------------------------------------------------------------------------

KEPT = {
    "assumed": (
        f"int main(void) {{ unsigned x = __VERIFIER_nondet_uint(); __VERIFIER_assume(x > 0 && x < 30); {COLLATZ} return 0; }}",
        most_steps(range(1, 30)),
    ),
    "tested": (
        f"int main(void) {{ unsigned x = __VERIFIER_nondet_uint(); if (x != 6) return 0; {COLLATZ} return 0; }}",
        8,
    ),
    "text": ('int main(void) { char b[6] = "hello"; int i = 0; while (b[i]) i = (i + 1) % 6; return 0; }', 5),
    "table": (
        "static const unsigned t[4] = {3, 6, 7, 9}; int main(void) { unsigned x = t[__VERIFIER_nondet_uchar() % 4u];"
        f" if (x != 6) return 1; {COLLATZ} return 0; }}",
        8,
    ),
    "either side": (
        "int main(void) { unsigned x = __VERIFIER_nondet_uint(), y; if (x & 1) y = 4; else y = 6; while (y != 0) y -= 2;"
        " return 0; }",
        3,
    ),
    "a function": (
        f"unsigned f(unsigned x) {{ if (x < 1 || x > 900) return 0; {COLLATZ} return x; }}",
        most_steps(range(1, 901)),
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_loop_that_is_entered_in_few_states_has_a_bound(tmp_path: Path, name: str) -> None:
    text, most = KEPT[name]
    loops = ruled(tmp_path, text)
    assert verdict_of(loops) == "true", rule_text(loops)
    (loop,) = loops
    assert loop.bound is not None
    assert loop.bound.variables or evaluate(loop.bound, {}) == most


BROKEN = {
    "by inputs": "unsigned g(unsigned n) { while (n != 0) n -= 2; return n; }",
    "behind a test": "unsigned g(unsigned n) { if (n < 3) return 0; while (n != 0) n -= 2; return n; }",
    "from main": "int main(void) { unsigned n = __VERIFIER_nondet_uint(); if (n == 4) return 0; while (n != 0) n -= 2; return 0; }",
    "without inputs": "int main(void) { for (;;) { } }",
    "by a run of main": """
int main(void) {
    unsigned char o[8]; for (int i = 0; i < 8; i++) o[i] = __VERIFIER_nondet_uchar();
    unsigned left = 8; const unsigned char *p = o;
    while (left > 0) { if (p[0] == 0) return 0; if (p[0] == 1) { p++; left--; continue; }
        if (left < 2 || p[1] > left) return 1; left -= p[1]; p += p[1]; }
    return 0;
}""",
    "by contents": "int f(const unsigned char *s) { unsigned i = 0; while (s[i]) i = (i + 1) % 6; return i; }",
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.slow
def test_a_loop_that_a_run_enters_and_never_leaves_breaks_the_rule(tmp_path: Path, name: str) -> None:
    loops = ruled(tmp_path, BROKEN[name])
    assert verdict_of(loops) == "false(bounded-loops)", rule_text(loops)
    (broken,) = [loop for loop in loops if loop.broken]
    assert broken.never is not FALSE or broken.run is not None


def test_states_that_nobody_enters_break_nothing(tmp_path: Path) -> None:
    """From an odd n it never ends, and main has even ones only; from g alone any n comes."""
    g = "static unsigned g(unsigned n) { while (n != 0) n -= 2; return n; }\n"
    main = "int main(void) { unsigned n = __VERIFIER_nondet_uchar(); if (n & 1) return 0; g(n); return 0; }"
    assert verdict_of(ruled(tmp_path, g.replace("static ", ""))) == "false(bounded-loops)"
    loops = ruled(tmp_path, g + main)
    assert verdict_of(loops) != "false(bounded-loops)", rule_text(loops)


def test_a_loop_to_which_no_run_comes_keeps_the_rule(tmp_path: Path) -> None:
    loops = ruled(tmp_path, "unsigned g(unsigned n) { while (n != 0) n -= 2; return n; }\nint main(void) { return 0; }")
    assert verdict_of(loops) == "true"
    assert "no run from main comes to it" in rule_text(loops)


def test_what_is_read_behind_the_entry_may_be_anything(tmp_path: Path) -> None:
    """Each run reads on in the loop: following a few says nothing of the others."""
    text = "int main(void) { unsigned n = 3; while (n != 7) n = __VERIFIER_nondet_uint() % 8; return 0; }"
    (loop,) = ruled(tmp_path, text)
    assert loop.bound is None


def test_memory_that_is_allocated_may_not_be_there(tmp_path: Path) -> None:
    text = "void *malloc(unsigned long); int main(void) { int *p = malloc(4); unsigned n = p ? 4 : 5; while (n != 0) n -= 2; return 0; }"
    (loop,) = ruled(tmp_path, text)
    assert loop.bound is None


# -- bounds -----------------------------------------------------------------------------------------------------------


def test_inputs_that_a_summary_leaves_open_are_followed_one_by_one(tmp_path: Path) -> None:
    found = bounds(tmp_path, KEPT["a function"][0])
    (loop,) = found.counts
    assert loop.entry.never is FALSE
    most = always(loop.call)
    assert most is not None
    assert evaluate(most, {}) == most_steps(range(1, 901))


def test_nothing_is_followed_where_stepping_is_forbidden(tmp_path: Path) -> None:
    with no_stepping():
        assert always(bounds(tmp_path, KEPT["a function"][0]).counts[0].call) is None


def test_a_least_number_is_never_above_the_most(tmp_path: Path) -> None:
    """1 << 31 is undefined at once; a[4] is undefined from n == 4 on."""
    one = bounds(
        tmp_path, "int f(int x) { int c = 0; for (int i = 31; i >= 0; i--) c += (x & (1 << i)) != 0; return c; }"
    )
    assert one.call.always_undefined is TRUE
    assert "every run meets undefined behaviour" in bound_text([one], [one.counts[0].answer.loop.name], None)
    text = "int f(int n) { int a[4]; int c = 0; for (int i = 0; i <= n; i++) { a[i] = i; c += a[i]; } return c; }"
    found = bounds(tmp_path, text).call
    (n,) = (var for var in found.upper.variables) if found.upper is not None else ()
    assert isinstance(n, Var)
    for value in range(-2, 9):
        assert evaluate(found.lower, {n: value}) <= evaluate(found.upper, {n: value})
        assert holds(found.undefined, {n: value}) == (value >= 4)
        if value < 4:
            assert evaluate(found.upper, {n: value}) == max(0, value + 1)


def never(loop: LoopIterations) -> bool:
    return loop.entry.never is not FALSE or bool(loop.recurrent) or loop.call.never is not FALSE


@pytest.mark.parametrize(
    "text",
    [
        # each step goes on by 8 at least
        """int f(const unsigned char *d, unsigned size, unsigned char next) {
            unsigned off = 40; if (size > 1500) return -1;
            while (next == 0 || next == 43) { if (off + 8 > size) return -1; off += (d[off + 1] + 1) * 8; next = d[off]; }
            return next; }""",
        # the count overflows where p stands still
        "int f(int n) { int a[5] = {1, 2, 3, 4, 5}; int c = 0; for (int *p = a; p < a + 5; p += n) c++; return c; }",
        "unsigned f(unsigned x) { if (x != 6) return 0; while (x != 1) { if (x % 2) x = 3 * x + 1; else x /= 2; } return x; }",
    ],
    ids=["bounded", "undefined", "not entered"],
)
def test_it_is_not_said_to_run_for_ever(tmp_path: Path, text: str) -> None:
    (loop,) = bounds(tmp_path, text).counts
    assert not never(loop)


def test_where_it_is_not_known_to_be_entered_so_it_may_never_end(tmp_path: Path) -> None:
    """What sensor returns decides whether the loop is entered with an odd n."""
    found = bounds(
        tmp_path, "unsigned sensor(void); unsigned f(void) { unsigned n = sensor(); while (n != 0) n -= 2; return n; }"
    )
    (loop,) = found.counts
    assert never(loop)
    assert not loop.entry.entered
    assert "may never end" in bound_text([found], [loop.answer.loop.name], None)


BACKOFF = """int f(void) {
    int delay = 1, total = 0;
    while (__VERIFIER_nondet_uint() != 0) {
        total += delay;
        if (delay < 64) delay *= 2;
        if (total > 1000) return -1;
    }
    return total; }"""


def test_a_loop_takes_no_more_than_what_each_iteration_comes_to(tmp_path: Path) -> None:
    """By hand it takes 20 iterations at most: its bound lies above, and not above those of the lines in it."""
    found = bounds(tmp_path, BACKOFF)
    (loop,) = found.counts
    total = always(loop.call)
    assert total is not None
    assert 20 <= evaluate(total, {}) <= 80


def test_states_in_which_no_run_enters_lack_no_bound(tmp_path: Path) -> None:
    """The delay is 1 at the entry; from 0 or less nothing would be known."""
    (loop,) = bounds(tmp_path, BACKOFF).counts
    assert (loop.entry.when, loop.entry.gap) == (TRUE, FALSE)
    assert loop.refused is None

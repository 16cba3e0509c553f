"""Memory along a path: what is written and read again, pointers in memory, the words of argv; replayed natively, and beside
all runs of random programs over small inputs.
"""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from loopless import clock
from loopless.check.oracle.native import NativeOracle, NativeRun
from loopless.navigation.search import Navigator
from loopless.queries.call_values.native_driver import Driver
from loopless.queries.call_values.route_inputs import inputs_of
from loopless.source.compile import SourceOptions
from reaching import HEAD, counters, system


def replayed(source: str, folder: Path, **fixed: int):
    """The inputs of a path to the error in ``f``, with which the native run came there too."""
    made = system(source, folder)
    by_name = {var.name: var for var in made.graph.variables}
    found = Navigator(made, {by_name[name]: value for name, value in fixed.items()}, clock.counted() + 30).run()
    assert found.route is not None, found.why
    driver = Driver([str(folder / "f.c")], SourceOptions(), "f", clock.counted() + 30)
    try:
        inputs = inputs_of(found.route, made, "f", driver.signature)
        with NativeOracle(HEAD + source) as oracle:
            outcome = oracle.run_many("f", [driver._run(driver.long_enough(inputs)[1])])[0]
    finally:
        driver.close()
    assert outcome.status == "error-reached", outcome
    return inputs


REACHED = {
    "an array of counts": (
        """void f(const unsigned char *a, int n) { int count[16];
        for (int i = 0; i < 16; i++) count[i] = 0;
        for (int i = 0; i < n; i++) count[a[i] & 15]++;
        if (count[3] == 4 && count[5] == 2) reach_error(); }""",
        {"n": 6},
    ),
    "a stack": (
        """void f(int n, int m) { int stack[8], top = 0, sum = 0;
        for (int i = 0; i < n; i++) if (top < 8) stack[top++] = m + i;
        while (top > 0) sum += stack[--top];
        if (sum == 45) reach_error(); }""",
        {"n": 5},
    ),
    "an argument that is written": (
        """void f(int *a) { for (int i = 0; i < 3; i++) a[i] += a[i + 1];
        if (a[0] == 9 && a[1] == 4 && a[2] == 3 && a[3] == 1) reach_error(); }""",
        {},
    ),
    "bytes of an integer": (
        """void f(unsigned n) { unsigned char b[4]; for (int i = 0; i < 4; i++) b[i] = n >> 8 * i;
        unsigned char c[8] = {0}; for (int i = 0; i < 4; i++) c[4 + i] = b[3 - i];
        if (c[4] == 18 && c[7] == 52) reach_error(); }""",
        {},
    ),
    "a list": (
        """struct s { int n; struct s *next; };
        void f(struct s *p) { int threes = 0, all = 0;
        while (p) { if (p->n == 3) threes++; all++; p = p->next; }
        if (threes == 2 && all == 9) reach_error(); }""",
        {},
    ),
    "strings": (
        """void f(char **names, int n) { int long_ones = 0;
        for (int i = 0; i < n; i++) { int at = 0; while (names[i][at]) at++; if (at == 3 && names[i][0] == 'x') long_ones++; }
        if (long_ones == 2) reach_error(); }""",
        {"n": 3},
    ),
    "texts that are compared": (
        """#include <string.h>
        void f(char **v, int n) { int seen = 0;
        for (int i = 0; i < n; i++) {
            if (!strcmp(v[i], "--help")) seen |= 1;
            else if (!strncmp(v[i], "-D", 2) && strlen(v[i]) == 5) seen |= 2;
            else { char *at = strchr(v[i], '='); if (at && !memcmp(at + 1, "ok", 2) && at[3] == '!') seen |= 4; } }
        if (seen == 7) reach_error(); }""",
        {"n": 3},
    ),
    "a long text": (
        """#include <string.h>
        void f(const char *s, const char *t) {
            if (strlen(s) == 300 && s[7] == 'q' && strnlen(t, 5) == 5 && memchr(t, 'z', 9) == t + 8) reach_error(); }""",
        {},
    ),
    "a pointer back": (
        """struct st; struct zs { int a; struct st *state; }; struct st { int mode; struct zs *owner; };
        void f(struct zs *z) { if (z && z->state && z->state->owner == z && z->state->mode == 13 && z->a == 4)
            reach_error(); }""",
        {},
    ),
}


@pytest.mark.parametrize("name", REACHED)
@pytest.mark.slow
def test_what_the_function_writes_is_read_again(name, tmp_path):
    source, fixed = REACHED[name]
    replayed(source, tmp_path, **fixed)


def test_a_list_is_given_as_long_as_it_must_be(tmp_path):
    inputs = replayed(REACHED["a list"][0], tmp_path)
    depth, memory = 0, inputs.arguments[0].memory
    while memory is not None:
        depth, memory = depth + 1, memory.pointers[0].memory if memory.pointers else None
    assert depth == 9


def test_what_was_written_is_not_what_was_there(tmp_path):
    """Each cell holds its number, so no two are alike; and what is copied is there twice."""
    source = """void f(int n) { int a[4]; for (int i = 0; i < 4; i++) a[i] = i;
        int b[4]; for (int i = 0; i < 4; i++) b[i] = a[i];
        if (a[1] == a[2] || b[3] != 3) reach_error(); }"""
    found = Navigator(system(source, tmp_path), {}, clock.counted() + 30).run()
    assert found.route is None
    assert found.exhausted


def test_what_a_call_writes_is_no_input(tmp_path):
    source = """#include <string.h>
        extern int __VERIFIER_nondet_int(void);
        void f(void) { char b[8]; strcpy(b, "ab"); if (b[1] == 'b' && __VERIFIER_nondet_int() == 51234567) reach_error(); }"""
    assert [run.value for run in replayed(source, tmp_path).nondet] == [51234567]


@pytest.mark.parametrize(("condition", "exhausted"), [("!p", False), ("p == q", False), ("p && p == q", True)])
def test_an_allocation_may_fail(condition, exhausted, tmp_path):
    source = f"#include <stdlib.h>\nvoid f(void) {{ int *p = malloc(4), *q = calloc(2, 4); if ({condition}) reach_error(); }}"
    found = Navigator(system(source, tmp_path), {}, clock.counted() + 30).run()
    assert found.exhausted is exhausted
    assert (found.route is None) is exhausted


def test_what_is_accessed_was_allocated(tmp_path):
    """Null is not accessed: so both hold what is written here, and the second one zeros."""
    source = """#include <stdlib.h>
        void f(int n) { int *p = malloc(sizeof *p), *q = calloc(2, 4); *p = n; q[0] = n;
        if (*p != n || q[0] != n || q[1] || !p) reach_error(); }"""
    found = Navigator(system(source, tmp_path), {}, clock.counted() + 30).run()
    assert found.route is None
    assert found.exhausted


def random_program(random_: random.Random) -> str:
    """A function that fills an array of its own from numbers and elements, changes it, and looks at it."""
    at = lambda: random_.choice(("i % 4", "s[i % 3] & 3", "3 - i % 4", "x & 3", "0", "2"))  # noqa: E731
    value = lambda: random_.choice(("i", "x", "n", "s[i % 3]", "a[i % 4]", f"a[{at()}] + 1", "5"))  # noqa: E731

    def step() -> str:
        return random_.choice((
            f"a[{at()}] = {value()};", f"a[{at()}] += 1;", f"x = a[{at()}];", f"s[i % 3] = {value()};", "x++;",
            f"*p = {value()};", f"p = &a[{at()}];", "memcpy(b, a, sizeof a);", "memset(a, 0, sizeof a);", f"x = b[{at()}];",
            f"if (a[{at()}] > 2) {{ x = 1; a[{at()}] = 0; }}", f"b[{at()}] = (short)x;", f"c = (char *)a; c[{at()}] = 1;",
        ))  # fmt: skip

    loops = "".join(
        f"for (int i = 0; i < {random_.choice(('n', '2', '4'))}; i++) {{ {' '.join(step() for _ in range(2))} }} "
        for _ in range(2)
    )
    goal = f"a[{random_.randint(0, 3)}] == {random_.randint(0, 5)} && x == {random_.randint(0, 4)}"
    head = (
        "#include <string.h>\nint f(int n, int *s) { int a[4] = {1, 2, 3, 0}, b[4] = {0}, *p = &b[1], x = n; char *c;"
    )
    return f"{head} {loops} if ({goal}) reach_error(); return *p + b[0]; }}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_what_some_run_comes_to_is_never_refuted(seed, tmp_path):
    """Neither by the counters nor by a search through memory; and what a search finds with nothing chosen is a run."""
    source = random_program(random.Random(seed))
    inputs = [(n, list(s)) for n in range(5) for s in itertools.product((-1, 0, 1, 3), repeat=3)]
    with NativeOracle(HEAD + source) as oracle:
        outcomes = oracle.run_many("f", [NativeRun(args=one) for one in inputs])
    reached = [one for one, outcome in zip(inputs, outcomes, strict=True) if outcome.status == "error-reached"]
    made = system(source, tmp_path)
    found = Navigator(made, {}, clock.counted() + 2).run()
    if reached:
        assert str(counters(made)) != "Answer.NO", source
        assert not found.exhausted, (source, reached[0])


def test_parts_of_what_was_written_are_read(tmp_path):
    """The halves of 8 bytes, and 8 bytes of two halves."""
    made = system(
        "int f(long v) { int h[2]; long w; __builtin_memcpy(h, &v, 8); if (h[1] != 3 || h[0] != 5) return 0;"
        " h[0] = 6; __builtin_memcpy(&w, h, 8); if (w == 0x300000006) reach_error(); return 0; }",
        tmp_path,
    )
    found = Navigator(made, {}, clock.counted() + 5).run()
    assert found.route is not None
    (v,) = [var for var in found.route.values if var.name == "v"]
    assert found.route.values[v] == 0x300000005

"""Loops that run as long as what they read lets them, and loops of which that must not be said."""

from __future__ import annotations

import pytest

from loopless.bounds.induction.counts import Counted, induction_counts
from loopless.check.interpreter.run import Interpreter
from loopless.queries.program import load
from loopless.refusals import Refused

INPUTS = "extern int __VERIFIER_nondet_int(void); extern void __VERIFIER_assume(int); extern void sink(int *);\n#define in() __VERIFIER_nondet_int()\n"


def graph_of(tmp_path, body: str):
    file = tmp_path / "a.c"
    file.write_text(INPUTS + body)
    program = load(file)
    graph = program["f"].graph()
    assert not isinstance(graph, Refused)
    return program, graph


def reads_of(tmp_path, body: str, loop: int = 0):
    _, graph = graph_of(tmp_path, body)
    found = induction_counts(graph)[graph.loops[loop].name]
    assert isinstance(found, Counted)
    return found.reads


def test_what_is_read_is_told_in_one_order(tmp_path) -> None:
    """Not that of a set, which differs from run to run."""
    read = " ^ ".join(["in()"] * 6)
    sources = reads_of(tmp_path, f"unsigned f(void) {{ unsigned n = 0; while ({read}) n++; return n; }}").sources
    assert len(sources) == 6
    assert list(sources) == sorted(sources)


CHOSEN = [
    ("unsigned f(void) { unsigned n = 0; while (in() != -1) n++; return n; }", 0),
    ("unsigned f(void) { unsigned n = 0; int c; do { c = in(); n++; } while (c > 5); return n; }", 6),
    ("unsigned f(void) { unsigned n = 0; for (;;) { if (in() == 7) return n; n++; } }", 0),
    ("unsigned f(void) { unsigned n = 0; while (in() && in() > 3) n++; return n; }", 9),
    ("unsigned f(unsigned m) { unsigned n = 0; while (in()) { if (n > m) n = 0; else n += 2; } return n; }", 1),
    (
        "unsigned f(void) { unsigned n = 0; for (;;) { unsigned j; if (in() < 0) break; for (j = 0; j < 3; j++) n++; } return n; }",
        2,
    ),
    ("unsigned f(void) { unsigned n = 0; int c = in(); while (c != 10 && c != -1) { c = in(); n++; } return n; }", 0),
    ("unsigned f(int c) { unsigned n = 0; for (; c == 5; c = in()) n++; return n; }", 5),
    ("unsigned f(int m) { unsigned n = 0; while (in() < m) n++; return n; }", -3),
    ("unsigned f(int on) { unsigned n = 0; for (;;) { if (!on) break; if (in() == 4) break; n++; } return n; }", 9),
    (
        "unsigned f(void) { unsigned n = 0; int c, was = 1; do { if (was == 3) break; was = c = in(); n++; } while (c > 1); return n; }",
        7,
    ),
    (
        "unsigned f(unsigned x) { unsigned n = 0; for (;;) { int c = x % 7 > 3 ? in() : in(); if (c >= 8) break; x = x * 5 + 1; n++; } return n; }",
        2,
    ),
    (
        "unsigned f(void) { unsigned n = 0; for (;;) { int c = in(); __VERIFIER_assume(c < 9); if (c == 8) break; n++; } return n; }",
        3,
    ),
    (
        "unsigned f(void) { unsigned n = 0, k = 0; for (;;) { int r = in(); __VERIFIER_assume(r - 1 <= (int)(k & 3)); if (r != 0) break; n++; k += 3; } return n; }",
        0,
    ),
    (
        "unsigned f(void) { unsigned n = 0; for (;;) { switch (in()) { case 0: return n; case 1: n++; break; default: n += 2; } } }",
        5,
    ),
]


@pytest.mark.parametrize(("body", "value"), CHOSEN)
def test_inputs_choose(tmp_path, body, value):
    """And where each input is ``value``, the loop does not stop by itself."""
    program, graph = graph_of(tmp_path, body)
    outer = next(loop for loop in graph.loops if loop.depth == 1)
    found = induction_counts(graph)[outer.name]
    assert isinstance(found, Counted)
    assert found.reads.inputs and all("nondet" in source for source in found.reads.sources)
    run = Interpreter(program.source.inlined, graph).run([5] * len(graph.parameters), [value] * 4000, max_steps=100_000)
    assert run.iterations[outer.name] > 300


@pytest.mark.parametrize(
    "body",
    [
        "int f(int n) { int i = 0; while (i != n && in()) i += 2; return i; }",
        "int f(int n) { int i; for (i = 0; i < n; i++) if (in() < 0) break; return i; }",
        "int f(int x) { while (x != 1) x = x & 1 ? 3 * x + 1 : x / 2; return x; }",
        "int f(int x) { int c = in(); while (c > 0) { x ^= c; if (x == 3) c = 0; } return x; }",
        "unsigned f(void) { unsigned n = 0; int c; do { c = in(); if (c == 1) n++; } while (c == 1 && n < 5); return n; }",
        "unsigned f(void) { unsigned n = 0; int c; for (;;) { c = in(); if (c > 5) break; if (c < 6) break; n++; } return n; }",
        "unsigned f(unsigned x) { unsigned n = 0; while (in()) { while (x != 3) x *= 5; n++; } return n; }",
        "const int t[4] = {1, 1, 1, 0}; unsigned f(unsigned i) { unsigned n = 0; while (t[i & 3]) { i++; n++; } return n; }",
        "int g; int f(int x) { while (g > 0) { x = -x; } return x; }",
        "#include <stdlib.h>\nunsigned f(void) { unsigned n = 0; while (in()) { if (n > 9) exit(1); n++; } return n; }",
        "static int next(int x, ...) { static int k; return k++ + x; } unsigned f(void) { unsigned n = 0; while (next(0) < 10) n++; return n; }",
        "unsigned f(void) { unsigned n = 0; int c = 10; while (c != 10 && c != 4) { c = in(); n++; } return n; }",
        "unsigned f(void) { unsigned n = 0; int m = -2147483647 - 1; while (in() < m) n++; return n; }",
        "unsigned f(int **p) { unsigned n = 0; while (**p == 3 && **p == 4) { p++; n++; } return n; }",
        "unsigned f(const int *s, unsigned i) { unsigned n = 0; while (s[i] == 3 && s[n] == 4) { i++; n++; } return n; }",
        "unsigned f(const char *s) { unsigned n = 0; for (; *s >= '5' && *s <= '2'; s++) n++; return n; }",
        "unsigned f(void) { unsigned n = 0; for (;;) { int c = in(); __VERIFIER_assume(c < 5); if (c < 5) break; n++; } return n; }",
        "unsigned f(void) { unsigned n = 0; int c = in(), b = in(); while (c == b + 1) { c = b; b = in(); c = b; n++; } return n; }",
        "unsigned f(void) { unsigned n = 0; int c = 0; while (c < 9) { c = in() ? c + 1 : c + 2; n++; } return n; }",
        "extern int isdigit(int); unsigned f(int x) { unsigned n = 0; while (isdigit(x)) n++; return n; }",
        "#include <string.h>\nchar *q; unsigned f(void) { unsigned n = 0; for (;;) { if (n == 10) break; if (strlen(q) == 3) break; n++; } return n; }",
        "unsigned f(const int *s) { unsigned n = 0; while (s[3] == 1) n++; return n; }",
        "unsigned f(unsigned m) { unsigned n = 0; if (m) return 0; while ((unsigned)in() < m) n++; return n; }",
        "unsigned f(unsigned m) { unsigned n = 0, k; m = 0; for (k = 0; k < 3; k++) while ((unsigned)in() < m) n++; return n; }",
        "unsigned f(unsigned m) { unsigned n = 0, k; if (m > 4) return 0; for (k = 0; k < 3; k++) while (in() < 7 && m > 4) n++; return n; }",
        "unsigned f(int **s) { unsigned n = 0; while (*s[3] == 1) n++; return n; }",
        "unsigned f(void) { unsigned n = 0; int k = 0; for (;;) { int r = in(); __VERIFIER_assume(r <= k); if (r != 5) break; n ^= 1; k = (k + 1) & 3; } return n; }",
        "unsigned f(int m) { unsigned n = 0; int k = 0; for (;;) { __VERIFIER_assume(m <= k); if (m != 5 || in() == 1) break; n ^= 1; k = (k + 1) & 3; } return n; }",
        "unsigned f(const int *s) { unsigned n = 0, k = 0; for (;;) { __VERIFIER_assume(s[n] <= (int)k); if (s[n] != 5) break; n++; k = (k + 1) & 3; } return n; }",
        "float q; int f(void) { float x = q; int n = 0; while (x > 1) { x /= 2; n ^= 1; } return n; }",
    ],
)
def test_what_else_decides_is_not_called_a_choice(tmp_path, body):
    assert not reads_of(tmp_path, body).sources


def test_memory_that_nobody_writes_is_chosen_from_outside(tmp_path):
    found = reads_of(tmp_path, "unsigned long f(const char *s) { const char *p = s; while (*p) p++; return p - s; }")
    assert found.inputs and found.sources == ("memory of s",)
    assert str(found) == "it runs as long as what it reads lets it: memory of s"


def test_memory_that_the_loop_may_write_is_no_input(tmp_path):
    body = "int f(int **p, int *q) { int n = 0; while (**p) { **p = n; n ^= 5; sink(q); } return n; }"
    found = reads_of(tmp_path, body)
    assert found.sources and not found.inputs
    assert str(found).startswith("memory that it may write decides how long it runs, which is not followed: **p at ")


@pytest.mark.parametrize(
    "body",
    [
        "unsigned f(const char *s) { unsigned n = 0; for (; *s >= '0' && *s <= '9'; s++) n++; return n; }",
        "struct list { struct list *next; }; unsigned f(struct list *p) { unsigned n = 0; while (p) { p = p->next; n++; } return n; }",
        "unsigned f(const unsigned char *l, const unsigned char *r, unsigned x) { unsigned n = 0; unsigned char j = 20;\n"
        "do { if (x & 1) j = l[j]; else j = r[j]; x >>= 1; n ^= 1; } while (j >= 14); return n; }",
    ],
)
def test_one_thing_that_is_read_at_several_places_is_one_choice(tmp_path, body):
    found = reads_of(tmp_path, body)
    assert found.inputs and found.sources


def test_what_a_function_finds_in_memory_is_no_input(tmp_path):
    body = "#include <string.h>\nchar *q; unsigned f(void) { unsigned n = 0; while (strlen(q) > 3) n ^= 1; return n; }"
    found = reads_of(tmp_path, body)
    assert not found.inputs


def test_calls_that_may_end_the_run_are_named(tmp_path):
    """It is taken for granted that they return."""
    body = (
        "#include <stdlib.h>\nstatic void check(int n, ...) { if (n > 99) exit(1); }\n"
        "unsigned f(void) { unsigned n = 0; while (in() != 3) { check(in()); n ^= 1; } return n; }"
    )
    found = reads_of(tmp_path, body)
    assert found.inputs and found.returning == ("check",)
    assert str(found).startswith("it runs as long as what it reads lets it, if calls of check return: ")


HOOKED = "extern void hook(void); {} int f(void) {{ int c = 0; for (lim = 0; lim < 10; lim++) {{ hook(); c ^= 1; }} return c; }}"


def test_what_only_functions_of_the_program_write_is_no_input(tmp_path):
    """A function that is not defined comes to ``lim`` only by calling ``f`` again: what it returns chooses nothing."""
    found = reads_of(tmp_path, HOOKED.format("static int lim;"))
    assert not found.inputs
    assert "what hook returns" not in str(found)


def test_what_code_that_is_not_known_can_write_is_chosen_there(tmp_path):
    found = reads_of(tmp_path, HOOKED.format("int lim;"))
    assert found.inputs


GIVEN = [
    "int f(int **p, int *q) { int n = 0; while (**p) { *q = n; n ^= 5; sink(q); } return n; }",
    "unsigned f(char **t) { const char *p = *t; unsigned n = 0; while (*p++) n++; return n; }",
    "struct h { char *name; }; unsigned f(struct h *h, unsigned mode) { unsigned n = 0; if (mode < 3) return 0; char *s = h->name; if (s) do n++; while (*s++); return n; }",
    "unsigned f(const char *s, char *out) { unsigned n = 0; *out = 0; while (s[n]) n++; return n; }",
    "unsigned f(const char *s, char **t) { unsigned n = 0; **t = 0; while (s[n]) n++; return n; }",
    "struct h { char *in, *out; }; unsigned f(struct h *h) { unsigned n = 0; char *p = h->in, *q = h->out; while (*p++) { *q++ = 1; n++; } return n; }",
    "#include <stdlib.h>\nunsigned f(const char *s) { char *d = malloc(9); unsigned n = 0; d[0] = 7; while (s[n]) n++; free(d); return n; }",
    "#include <string.h>\nunsigned f(const char *s) { const char *p = strrchr(s, '/'); unsigned n = 0; if (!p) return 0; while (p[n]) n++; return n; }",
    "#include <unistd.h>\nunsigned f(int d, char *s) { unsigned n = 0; if (read(d, s, 64) != 64) return 0; while (s[n] == 3) n++; return n; }",
]


@pytest.mark.parametrize("body", GIVEN)
def test_memory_that_a_function_was_given_is_chosen_from_outside(tmp_path, body):
    """A caller may let all pointers point to memory of their own, which holds one value everywhere."""
    assert reads_of(tmp_path, body).inputs


NOT_GIVEN = [
    "static int ok(const unsigned char *p, ...) { int i; for (i = 0; i < 8; i++) if (p[i] > 3) return 0; return 1; } unsigned f(const unsigned char *p) { unsigned i = 0; if (!ok(p, 1)) return 0; while (p[i & 7] > 3) i++; return 0; }",
    "static int d[4]; static int *cur = d; unsigned f(void) { unsigned i = 0; while (cur[i & 1] == 5) i++; return i; }",
    "unsigned f(const unsigned char *p) { unsigned i; for (i = 0; i < 8; i++) if (p[i] > 3) return 0; while (p[i & 7] > 3) i++; return 0; }",
    "static char A[4] = {1, 1, 0}, B[4] = {1, 0}; unsigned f(int c) { const char *p = c ? A : B; unsigned n = 0; while (*p++) n++; return n; }",
    "#include <string.h>\nunsigned f(char *s) { unsigned n = 0; memset(s, 0, 100); while (s[n]) n++; return n; }",
    "unsigned f(int c) { char a[4] = {1, 0}, b[4] = {1, 1, 0}; const char *p = c ? a : b; unsigned n = 0; while (*p++) n++; return n; }",
    "unsigned f(int c, const char *s) { char a[4] = {1, 0}; const char *p = c ? a : s; unsigned n = 0; while (*p++) n++; return n; }",
    'static const char A[] = "abc", B[] = "de"; unsigned f(int c) { const char *p = c ? A : B; unsigned n = 0; while (*p++) n++; return n; }',
    'const char *const T[3] = {"a", "bb", "ccc"}; unsigned f(unsigned c) { const char *p = T[c % 3]; unsigned n = 0; while (*p++) n++; return n; }',
    "unsigned f(char **t) { char *q = *t; q[0] = 1; q[1] = 0; char *p = *t; unsigned n = 0; while (*p++) n++; return n; }",
    "char *Q; unsigned f(void) { char *p = Q; *p = 0; unsigned n = 0; while (*p++) n++; return n; }",
    "struct l { struct l *next; }; unsigned f(struct l *h) { unsigned n = 0; struct l *p = h->next; p->next = 0; for (p = h->next; p; p = p->next) n++; return n; }",
    "#include <stdlib.h>\nstruct l { struct l *next; }; unsigned f(unsigned k) { unsigned n = 0; struct l *h = 0, *p; for (k &= 7; k; k--) { p = malloc(8); p->next = h; h = p; } for (p = h; p; p = p->next) n++; return n; }",
    "unsigned f(char **t, unsigned i) { *t[i] = 0; const char *p = t[i]; unsigned n = 0; while (*p++) n++; return n; }",
    "#include <string.h>\nunsigned f(char *s) { char *p = strchr(s, 1); if (!p) return 0; *p = 0; unsigned n = 0; while (p[n]) n++; return n; }",
    "static void clear(char *s, ...) { s[0] = 0; } unsigned f(char *s) { unsigned n = 0; clear(s, 1); while (s[n]) n++; return n; }",
    "#include <stdio.h>\nunsigned f(char *s) { unsigned n = 0; if (!fgets(s, 10, stdin)) return 0; while (s[n]) n++; return n; }",
    "unsigned f(char *s, unsigned long *k) { char b[4]; *k = (unsigned long)s; char *q = *(char **)k; *q = 0; unsigned n = 0; while (s[n]) n++; return n; }",
    "unsigned f(char *s, char **k, long *m) { *k = s; *m = *(long *)k; char *q = *(char **)m; *q = 0; unsigned n = 0; while (s[n]) n++; return n; }",
]


@pytest.mark.parametrize("body", NOT_GIVEN)
def test_memory_that_the_function_has_written_is_no_input(tmp_path, body):
    """Each of these loops runs less than ten times, whatever the inputs: the function itself has put its end there."""
    assert not reads_of(tmp_path, body, -1).inputs


STATIC = [
    "static int t[8] = {1, 1, 0, 1}; unsigned f(void) { unsigned n = 0; while (t[n & 7]) n++; return n; }",
    "static int t[4]; void on(int i) { t[i & 3] = 1; } unsigned f(void) { unsigned n = 0; while (t[n & 3] == 5) n++; return n; }",
    "struct s { int k, v[4]; }; static struct s t = {1, {2, 2}}; unsigned f(unsigned c) { unsigned n = c; struct s *p = &t; while (p->v[n & 3] == 7) n++; return n; }",
]


@pytest.mark.parametrize("body", STATIC)
def test_a_static_table_is_no_input(tmp_path, body):
    """No caller chooses what it holds: these loops run no more than three times."""
    assert not reads_of(tmp_path, body).inputs


def test_a_table_that_others_can_name_is_an_input(tmp_path):
    assert reads_of(tmp_path, STATIC[0].removeprefix("static ")).inputs
    assert reads_of(tmp_path, STATIC[0].replace("{ unsigned", "{ sink(t); unsigned")).inputs


def test_what_holds_of_other_things_does_not_matter(tmp_path):
    """What the function knows of pointers that decide nothing in the loop cannot be chosen by numbers."""
    body = (
        "struct s; struct t { struct s *own; }; struct s { struct t *back; const char *name; };\n"
        "unsigned f(struct t *t, const char *p) { unsigned n = 0; if (!t || !t->own || t->own->back != t) return 0;\n"
        "do n++; while (*p++); return n + (t->own->back == t); }"
    )
    assert reads_of(tmp_path, body).inputs


@pytest.mark.parametrize(
    "body",
    [
        "unsigned f(unsigned x) { unsigned m = x & 3, n = 0; while (m > 5 && in()) n++; return n; }",
        "unsigned f(unsigned k) { unsigned m = k, n = 0; while (m != k && in()) n++; return n; }",
        "int f(int k) { int m = k < 5 ? k : 5, n = 0; while (m > 6 && in()) n ^= 1; return n; }",
        "unsigned f(unsigned k) { unsigned n = 0, i; k &= 7; for (i = 0; i < 3; i++) while (k > 9 && in()) n++; return n; }",
        "unsigned f(void) { unsigned n = 0, i; for (i = 0; i < 3; i++) { unsigned m = i; while (m > 6 && in()) n++; } return n; }",
    ],
)
def test_what_was_set_before_the_loop_is_not_chosen(tmp_path, body):
    """None of these loops is ever entered."""
    _, graph = graph_of(tmp_path, body)
    inner = max(graph.loops, key=lambda loop: loop.depth)
    found = induction_counts(graph)[inner.name]
    assert isinstance(found, Counted)
    assert not found.reads.sources


def test_what_was_set_before_the_loop_may_depend_on_what_is_chosen(tmp_path):
    assert reads_of(
        tmp_path, "unsigned f(int k) { unsigned n = 0; int m = 2 * k; while (in() + 2 < m) n++; return n; }"
    ).inputs


KEPT = [
    ("unsigned f(unsigned n) { while (n > 4) n -= in(); return n; }", 0, True),
    ("unsigned f(unsigned n) { while (n) { int w = in(); if (w < 0) return 1; n -= w; } return n; }", 0, True),
    (
        "unsigned f(unsigned n) { unsigned r; while ((r = in()) != n) { if (r == -1u) return 1; n -= r; } return n; }",
        0,
        True,
    ),
    ("unsigned f(unsigned n, unsigned s) { while (n > 4) { if (in() == 3) break; n -= s; } return n; }", 0, True),
    ("unsigned f(unsigned n) { n = 0; while (n) n -= in(); return n; }", 0, False),
    ("unsigned f(unsigned n) { if (n > 3) return 1; while (n > 4) n -= in(); return n; }", 0, False),
    ("unsigned f(unsigned n) { unsigned k = n & 3; while (k > 4) k -= in(); return k; }", 0, False),
    (
        "unsigned f(unsigned n) { unsigned k = n; while (k != n) { if (in() == 2) return 1; k += in(); } return k; }",
        0,
        False,
    ),
    ("unsigned f(unsigned m) { unsigned k = m * 2; while (k & 1) k ^= in() * 2; return k; }", 0, False),
    ("unsigned f(unsigned n) { unsigned k = 3; if (n == 3) while (k != n) k ^= in(); return k; }", 0, False),
    ("unsigned f(unsigned n) { while (n > 4) n = in() ? n - 1 : n - 2; return n; }", 0, False),
]


@pytest.mark.parametrize(("body", "value", "chosen"), KEPT)
def test_what_comes_back_with_what_is_read_may_be_chosen(tmp_path, body, value, chosen):
    """Where inputs of ``value`` leave a variable as it is, and it may have that value when the loop is entered."""
    program, graph = graph_of(tmp_path, body)
    (loop,) = graph.loops
    found = induction_counts(graph)[loop.name]
    assert isinstance(found, Counted)
    assert found.reads.inputs is chosen
    if chosen:
        state = [9, 0][: len(graph.parameters)]
        run = Interpreter(program.source.inlined, graph).run(state, [value] * 4000, max_steps=20_000)
        assert run.iterations[loop.name] > 300


@pytest.mark.parametrize(
    ("body", "chosen"),
    [
        ("unsigned f(unsigned m) { unsigned y = m & 3, n = 0; while (y > 5) { y = in(); n++; } return n; }", False),
        ("unsigned f(unsigned m) { unsigned y = m & 7, n = 0; while (y > 5) { y = in(); n++; } return n; }", True),
        (
            "unsigned f(unsigned m) { unsigned y = m, n = 0; if (m > 4) return 0; while (y > 5) { y = in(); n++; } return n; }",
            False,
        ),
        (
            "unsigned f(unsigned m) { unsigned n = 0; if (m > 4) return 0; while (m > 5) { m = in(); n++; } return n; }",
            False,
        ),
        (
            "unsigned f(unsigned m) { unsigned n = 0; if (m > 6) return 0; while (m > 5) { m = in(); n++; } return n; }",
            True,
        ),
    ],
)
def test_the_first_iteration_has_what_was_set_before(tmp_path, body, chosen):
    """A loop whose condition does not hold there is never entered, whatever would be read in it."""
    assert reads_of(tmp_path, body).inputs is chosen

"""What pointers in memory point to: what becomes a variable, what is taken for granted, and runs where that is not so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeOracle
from loopless.flowgraph import build
from loopless.flowgraph.model import Flowgraph, Kind
from loopless.source import load
from loops_in_c import graph

HEAD = (
    "struct t { int a; int b; struct t *next; }; struct s { int n; int k; char *w; int *v; struct t *t; struct t *u; };"
    "void stranger(void); struct s *g; static struct t *own; int hidden; "
)


def pointees(g: Flowgraph) -> set[str]:
    return {
        i.shown for i in g.variables.values() if i.kind in (Kind.POINTEE, Kind.GLOBAL) and i.pointer_part != "object"
    }


@pytest.mark.parametrize(
    ("body", "variables"),
    [
        ("s->w[s->k] = 1;", {"s->w", "s->k"}),
        ("s->t->a = s->n;", {"s->t", "s->t->a", "s->n"}),
        ("s->t->a = s->t->b; s->n++;", {"s->t", "s->t->a", "s->t->b", "s->n"}),
        ("g->t->a = 1; g->n = 2;", {"g", "g->t", "g->t->a", "g->n"}),
        ("own->a = hidden;", {"own", "own->a", "hidden"}),
        ("struct t *old = s->t; stranger(); old->a = 1; s->n = 2;", {"s->t", "s->t->a", "s->n"}),
        # Behind a call the pointer may be another one: which object that is, is not known, but it is not *s.
        ("stranger(); s->t->a = 1; s->n = 2;", {"s->t", "s->n"}),
        ("s->t->a = 1; stranger(); s->t->a = 1; s->n = 2;", {"s->t", "s->n"}),
        # What the function itself stores there.
        ("s->t = p; s->t->a = p->a = s->n;", {"s->t", "s->n"}),
        ("s->t = p; s->t->a = p->b = s->n;", {"s->t", "s->n", "p->b"}),
        ("s->t = s->u; s->t->a = s->n; s->u->b = 1;", {"s->t", "s->n", "s->u", "s->u->b"}),
        ("s->v = &s->k; *s->v = s->n; s->k = 1;", {"s->v", "s->n"}),
        ("s->v = (int *)s; s->v[x] = s->n;", set()),
        # Structures of one type that are parameters may be the same object, where they are accessed.
        ("s->t->a = s->n; p->b = 1;", {"s->t", "s->n", "p->b"}),
        ("s->t->a = s->n; p->a = 1;", {"s->t", "s->n"}),
        # So may those on the way: a ring. may be the same object: a ring.
        ("s->t->next->a = s->t->a; s->t->b = s->n;", {"s->t", "s->n", "s->t->next", "s->t->b"}),
        ("p->next->a = p->a; p->b = p->next->b + x; s->n = 1;", {"p->next", "s->n"}),
        ("p->next->a = p->b; s->n = 1;", {"p->next", "s->n", "p->b"}),
        # Pointers that are compared may point into one object.
        ("char *e = s->w; int *f = s->v; if (e < (char *)f) *e = *f = s->n;", {"s->w", "s->v", "s->n"}),
        ("char *e = s->w; if (e < (char *)s) *e = s->n;", set()),
        ("s->t->a = s->n; if (s->t == s->u) s->n = 3;", {"s->t", "s->n", "s->u"}),
        # A list that may lead back to its beginning.
        ("struct t *q = p; while (x-- && q->next) q = q->next; if (q == p) s->n = 1;", {"s->n"}),
        # Nothing is known.
        ("*(int *)(unsigned long)x = s->n;", set()),
        ("((long *)s)[x] = 0; s->w[1] = s->n;", set()),
        ("*(long *)&s->w = x; s->w[1] = s->n;", set()),
        ("struct t **q = &s->t; q[x]->a = s->n;", set()),
    ],
)  # fmt: skip
def test_variables(body: str, variables: set[str]) -> None:
    g = graph(HEAD + f"void f(struct s *s, struct t *p, int x) {{ {body} }}")
    assert pointees(g) - {"p"} == variables


def test_what_is_taken_for_granted() -> None:
    """Where it is needed, and only there."""
    g = graph(HEAD + "void f(struct s *s) { s->w[s->k] = 1; }")
    assert g.assumptions == ("s and what s->w points to do not overlap",)
    g = graph(HEAD + "void f(struct s *s) { int x = s->w[s->k]; hidden = x; }")
    assert set(g.assumptions) == {"hidden and s do not overlap", "hidden and what s->w points to do not overlap"}
    g = graph(HEAD + "int f(struct s *s) { return s->w[s->k]; }")
    assert g.assumptions == ()  # nothing is written
    g = graph(HEAD + "void f(struct t *p) { p->next->a = p->b; }")
    assert g.assumptions == ("p and what p->next points to are the same or do not overlap",)
    g = graph(HEAD + "static int inner; void f(void) { own->a = inner; }")
    assert "inner" in pointees(g)


# A structure is made, overlapping as m says, and handed to a function that is not inlined.
RUN = (
    "struct t { int a; int b; struct t *next; }; struct s { int n; int k; char *w; int *v; struct t *t; struct t *u; };"
    "int never;"
)
PROGRAMS = {
    "bytes": (
        "static int h(struct s *s) { if (never) return h(s); int c = 0; while (s->k < s->n && c < 50) { s->w[s->k++] = 1; c++; } return c + s->k; }"
        "int f(int n, int m) { struct s s; char b[64]; s.n = n & 31; s.k = 0; s.w = m ? (char *)&s + m - 1 : b; return h(&s); }",
        {0: "ok", 1: "unknown", 5: "unknown"},
    ),
    "integers": (
        "static int h(struct s *s, int *q) { if (never) return h(s, q); int c = 0; for (s->k = 0; s->k < s->n && c < 50; s->k++) { s->v[0] += 2; "
        "*q = s->k; c++; } return c * 100 + s->v[0]; }"
        "int f(int n, int m) { struct s s; int a = 0, b = 0; s.n = n & 7; s.v = m == 1 ? &s.n : m == 2 ? &s.k : m == 3 ? &b : &a;"
        "return h(&s, m == 4 ? &s.n : &b); }",
        {0: "ok", 1: "unknown", 2: "unknown", 3: "unknown", 4: "unknown"},
    ),
    "structures": (
        "static int h(struct s *s) { if (never) return h(s); int c = 0; while (s->t->a > 0 && c < 50) { s->t->a--; s->u->b++; c++; } "
        "return c * 100 + s->t->b; }"
        "int f(int n, int m) { struct s s; struct t x = {n & 15, 1, 0}, y = {3, 4, 0}; s.t = &x; s.u = m ? &x : &y; return h(&s); }",
        {0: "ok", 1: "unknown"},
    ),
    "null": (
        "static int h(struct s *s) { if (never) return h(s); int c = 0; while (s->t->a > 0 && c < 50) { s->t->a--; c++; } return c; }"
        "int f(int n, int m) { struct s s; struct t x = {n & 15, 1, 0}; s.t = m ? 0 : &x; return h(&s); }",
        {0: "ok", 1: "undefined"},
    ),
    "null that is not used": (
        "static int h(struct s *s) { if (never) return h(s); int c = 0; while (s->t && s->t->a > 0 && c < 50) { s->t->a--; c++; } return c; }"
        "int f(int n, int m) { struct s s; struct t x = {n & 15, 1, 0}; s.t = m ? 0 : &x; return h(&s); }",
        {0: "ok", 1: "ok"},
    ),
    "a ring": (
        "static int h(struct t *p) { if (never) return h(p); int c = 0; while (p->a > 0 && c < 50) { p->next->a--; p->a--; c++; } return c; }"
        "int f(int n, int m) { struct t x = {n & 15, 0, 0}, y = {9, 9, &x}; x.next = m ? &x : &y; return h(&x) * 100 + y.a; }",
        {0: "ok", 1: "ok"},
    ),
    "stored by itself": (
        "static int h(struct s *s, int *q, int m) { if (never) return h(s, q, m); int c = 0; if (m) s->v = q; for (*q = 0; *q < s->n && c < 50; *q += 1) "
        "{ s->v[0] += 1; c++; } return c * 100 + s->v[0]; }"
        "int f(int n, int m) { struct s s; int a = 0, b = 0; s.n = n & 15; s.v = &a; return h(&s, &b, m); }",
        {0: "ok", 1: "ok"},
    ),
    "behind a call": (
        "static struct t *other; static void change(struct s *s) { s->t = other; s->k++; if (s->k > 1000) change(s); }"
        "static int h(struct s *s) { if (never) return h(s); int c = 0; struct t *old = s->t; while (s->t->a > 0 && c < 50) "
        "{ s->t->a--; change(s); old->b += 2; c++; } return c * 1000 + s->k * 100 + old->b; }"
        "int f(int n, int m) { struct s s; struct t x = {n & 15, 1, 0}, y = {3, 4, 0}; s.k = 0; s.t = &x; other = m ? &x : &y; "
        "return h(&s); }",
        {0: "ok", 1: "ok"},
    ),
    "a pointer to a local": (
        "static int *kept; static void keep(int *p, int k) { kept = p; if (k) keep(p, k - 1); }"
        "static int h(int n, int m) { if (never) return h(n, m); int x = n & 7, y = 0, c = 0; keep(m ? &x : &y, 1); while (x > 0 && c < 50) { x--; "
        "*kept += m; c++; } return c * 100 + x + y; } int f(int n, int m) { return h(n, m); }",
        {0: "ok", 1: "ok"},
    ),
    "a table": (
        "static int a[4] = {1, 2, 3, 4}, b[4] = {9, 9, 9, 9}; static int *const rows[2] = {a, b};"
        "static int h(int n, int m) { if (never) return h(n, m); int c = 0; for (int i = 0; i < 4; i++) { rows[m & 1][i] = n; c += a[i]; } "
        "return n > 1000000 ? h(n - 1, m) : c + a[1]; } int f(int n, int m) { return h(n & 15, m); }",
        {0: "ok", 1: "ok"},
    ),
    "a global with an address": (
        "static int x = 5; static int *p = &x; int f(int n, int m) { int c = 0; p[0] = n & 15; while (x > 0 && c < 50) { --*p; "
        "c++; } return c * 100 + m; }",
        {0: "ok"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(PROGRAMS))
@pytest.mark.slow
def test_against_native(name: str, tmp_path) -> None:
    """Where objects overlap that are taken not to, the run is not answered; else it is as native ones are."""
    text, expected = PROGRAMS[name]
    source = RUN + text
    (tmp_path / "a.c").write_text(source)
    module = load([tmp_path / "a.c"]).inlined
    for checked in (False, True):
        interpreter = Interpreter(module, build(module.functions["f"], module), checked=checked)
        with NativeOracle(source) as oracle:
            for m, status in expected.items():
                seen = set()
                for n in (0, 1, 3, 6, 15):
                    native, own = oracle.run("f", [n, m]), interpreter.run([n, m])
                    assert "the flowgraph" not in own.reason, own
                    seen.add(own.outcome.status)
                    if own.outcome.status != "unknown" and native.status != "crashed":
                        assert own.outcome.agrees_with(native), (n, m, own, native)
                assert status in seen and (status == "unknown" or seen == {status}), (m, seen, own)


def test_an_access_to_what_is_a_variable_is_found(tmp_path) -> None:
    """A flowgraph that takes nothing for granted is wrong where something reaches its variables."""
    text = (
        "struct s { int n; int k; int *v; }; int never; static int h(struct s *s) { if (never) return h(s); s->n = 3; s->v[never] = 1; "
        "return s->n; } int f(int n) { struct s s, o; s.v = n ? &s.n : &o.n; return h(&s); }"
    )
    (tmp_path / "a.c").write_text(text)
    module = load([tmp_path / "a.c"]).inlined
    reasons = []
    for granted in (True, False):

        def made(name: str, granted=granted) -> Flowgraph:
            found = build(module.functions[name], module)
            return found if granted else replace(found, assumptions=())

        interpreter = Interpreter(made, made("f"), checked=True)
        assert interpreter.run([0]).outcome.return_value == 3
        run = interpreter.run([1])
        assert run.outcome.status == "unknown"
        reasons.append(run.reason)
    assert "taken to point elsewhere" in reasons[0]
    assert "the flowgraph says that nothing reaches" in reasons[1]

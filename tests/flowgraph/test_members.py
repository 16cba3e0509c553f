"""Elements of member arrays: which scalars beside them are variables, and that steps out of the array are undefined."""

from __future__ import annotations

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeOracle
from loopless.flowgraph import build
from loopless.flowgraph.memory.members import members
from loopless.flowgraph.model import Check, Flowgraph, Kind
from loopless.source import load
from loops_in_c import graph

STRUCT = "struct e { short f, d; }; struct s { int n; struct e a[10]; int m[3][4]; int k; int tail[5]; }; "


def pointees(g: Flowgraph) -> set[str]:
    return {info.shown for info in g.variables.values() if info.kind in (Kind.POINTEE, Kind.GLOBAL)}


@pytest.mark.parametrize(
    ("body", "variables"),
    [
        ("s->a[i].f = 0; return s->n + s->k;", {"s->n", "s->k"}),
        ("s->a[i].f = 0; return s->n + s->a[3].d;", {"s->n"}),  # an element of the array is none
        ("s->m[i][s->k] = 1; return s->n;", {"s->n", "s->k"}),
        ("s->m[2][s->k] = 1; return s->n;", {"s->n", "s->k"}),
        ("s->m[7][s->k] = 1; return s->n;", set()),  # outside by its own text
        ("s->tail[i] = 1; return s->n + s->k + s[1].n;", {"s->n", "s->k"}),  # the last member may be longer than it says
        ("s->tail[i] = 1; return s->n + s->tail[2];", {"s->n"}),
        ("s->tail[i] = s->k; s->a[i].f = 2; return s->n;", {"s->n", "s->k"}),
        ("for (int j = 0; j < s->n; j++) if (s->tail[j] < 0) s->k++; return 0;", {"s->n", "s->k"}),
        ("*(int *)&s->a[i].d = 1; return s->n + s->m[0][0];", set()),  # more than what lies there
        ("int *p = &s->tail[i]; *p = 1; return s->n;", set()),
        ("s[i].tail[1] = 1; return s->n;", set()),
        ("int *p = s->m[1]; p[i] = 1; return s->n;", set()),  # no element of a member, but what lies behind a pointer
        ("int *p = &s->m[1][i]; *p = 1; return s->n;", set()),
        ("s->k = 1; ((char *)s)[i] = 1; return s->n;", set()),
        ('s->m[i][s->k] = puts(""); return s->n;', {"s->n", "s->k"}),  # the call comes first
    ],
)  # fmt: skip
def test_scalars_beside_an_element(body: str, variables: set[str]) -> None:
    g = graph(f"int puts(const char *); {STRUCT}int f(struct s *s, int i) {{ {body} }}")
    assert pointees(g) == variables


@pytest.mark.parametrize(
    ("text", "body", "variables"),
    [
        ("struct s { int n; int k; int a[]; };", "s->a[i] = 1; return s->n + s->k;", {"s->n", "s->k"}),
        ("struct s { int n; int a[1]; int k; };", "s->a[i] = 1; return s->n + s->k;", {"s->n"}),  # may stand for more
        ("struct s { int n; int m[3][4]; };", "s->m[i][s->n] = 1; return s->n;", {"s->n"}),
        ("struct s { int n; int m[3][4]; };", "s->m[1][i] = 1; return s->n + s->m[0][3] + s->m[2][0];", {"s->n", "s->m[0][3]", "s->m[2][0]"}),
        ("struct s { int n; struct { int c; int a[4]; } d; int k; };", "s->d.a[i] = 1; return s->n + s->d.c + s->k;", {"s->n", "s->d.c"}),
        ("struct e { int c; int a[4]; }; struct s { int n; struct e d[3]; int k; };",
         "s->d[i].a[i] = 1; return s->n + s->k;", {"s->n"}),
        ("struct s { int n; union { int a[4]; long b[2]; } u; int k; };", "s->u.a[i] = 1; return s->n + s->k;", {"s->n"}),
        ("struct s { int n; union { int a[4]; long b[2]; } u; };", "s->u.b[i] = s->u.a[i]; return s->n;", {"s->n"}),
    ],
)  # fmt: skip
def test_what_lies_in_front_of_an_open_array(text: str, body: str, variables: set[str]) -> None:
    assert pointees(graph(f"{text} int f(struct s *s, int i) {{ {body} }}")) == variables


def test_arrays_of_global_structures_end_where_these_do(tmp_path) -> None:
    (tmp_path / "a.c").write_text(
        "struct { int n; int a[4]; } g; int k; int f(int i) { k = 1; g.a[i] = 5; return g.n + k; }"
    )
    inlined = load([tmp_path / "a.c"]).inlined
    found = build(inlined.functions["f"], inlined)
    assert isinstance(found, Flowgraph)
    assert pointees(found) == {"g.n", "k"}
    interpreter = Interpreter(inlined, found)
    assert [interpreter.run([i]).outcome.status for i in (-1, 0, 3, 4)] == ["undefined", "ok", "ok", "undefined"]


def test_members_of_classes(tmp_path) -> None:
    (tmp_path / "a.cpp").write_text(
        "struct Stack { int size; int items[8]; int sum() const { int s = 0; for (int i = 0; i < size; i++) s += items[i];"
        " return s; } };\nint f(Stack *p) { return p->sum() + p->size; }\n"
    )
    inlined = load([tmp_path / "a.cpp"]).inlined
    found = build(inlined.functions["_Z1fP5Stack"], inlined)
    assert isinstance(found, Flowgraph)
    assert pointees(found) == {"p->size"}


def test_unions_are_places_as_others() -> None:
    text = "struct s { int n; union { int a[4]; long b[2]; struct { int c[3]; int d; } e; } u; int k; }; "
    g = graph(text + "int f(struct s *s, int i) { s->u.e.c[i] = 1; return s->n + s->u.e.d + s->k; }")
    assert pointees(g) == {"s->n", "s->u.e.d", "s->k"} or pointees(g) == {"s->n", "s->u.a[3]", "s->k"}
    g = graph(text + "int f(struct s *s, int i) { s->u.e.c[i] = 1; s->u.b[0] = 2; return s->n + s->u.e.d + s->k; }")
    assert {"s->n", "s->k"} <= pointees(g)
    assert len(pointees(g)) == 3  # and u.e.d, which lies behind b[0]
    g = graph(text + "int f(struct s *s, int i) { s->u.e.c[i] = 1; s->u.b[1] = 2; return s->n + s->u.e.d + s->k; }")
    assert pointees(g) == {"s->n", "s->k"}


def test_nothing_is_said_of_code_that_is_not_c_as_clang_writes_it(tmp_path) -> None:
    (tmp_path / "a.ll").write_text(
        "%s = type { i32, [10 x i32], i32 }\ndefine void @f(ptr %p, i64 %i) {\n"
        "%a = getelementptr inbounds %s, ptr %p, i32 0, i32 1\n%b = getelementptr inbounds [10 x i32], ptr %a, i64 0, i64 %i\n"
        "store i32 0, ptr %b\nret void\n}\n"
    )
    module = load([tmp_path / "a.ll"]).inlined
    assert not members(module.functions["f"], module)


def test_the_step_is_checked() -> None:
    g = graph(STRUCT + "int f(struct s *s, int i) { s->a[i].f = 0; return s->n; }")
    checks = [s for b in g.blocks.values() for s in b.statements if isinstance(s, Check) and s.kind == "bounds"]
    assert len(checks) == 1


PROGRAMS = {
    "one": STRUCT + "struct s g; int f(int n) { g.n = n; g.k = 7; for (int i = 0; i < g.n; i++) g.a[i].d = -1; "
    "return g.n * 100 + g.k + g.a[2].f; }",
    "two": STRUCT + "struct s g; int f(int n) { g.n = n; g.k = 7; for (int i = 0; i < g.n; i++) g.m[1][i] = 50; "
    "return g.n * 100 + g.k + g.m[2][0]; }",
    "three": STRUCT + "struct s g; int h(struct s *p, int n) { p->k = 1; for (int i = 0; i < n; i++) p->m[i / 4][i % 4] = i; "
    "return n > 12 ? h(p, n - 1) : p->k + p->n; } int f(int n) { g.n = 5; return h(&g, n); }",
    "five": "struct c { int n; int a[5]; } g; int f(int n) { g.n = n; g.a[0] = 6; while (g.n > 0 && g.a[g.n - 1] == 0) g.n--; "
    "return g.n + 10 * g.a[n - 1]; }",
    "six": "struct c { int a[6]; int n; } g; static int h(struct c *p) { int s = 0; for (int i = 0; i < p->n; i++) s += p->a[i] + i; "
    "return s; } int f(int n) { g.n = n; g.a[1] = 9; return h(&g); }",
    "four": STRUCT + "int f(int n) { struct s l; l.n = 0; l.k = 3; for (int i = 0; i < n; i++) l.a[i].d = l.n = i; "
    "return l.n + l.k; }",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_against_native(name: str, tmp_path) -> None:
    (tmp_path / "a.c").write_text(PROGRAMS[name])
    program = load([tmp_path / "a.c"])
    interpreter = Interpreter(program.inlined, build(program.inlined.functions["f"], program.inlined))
    seen = set()
    with NativeOracle(PROGRAMS[name]) as oracle:
        for n in (-1, 0, 1, 3, 4, 5, 9, 10, 11, 12, 13, 14):
            native, own = oracle.run("f", [n]), interpreter.run([n])
            seen.add(own.outcome.status)
            assert own.outcome.agrees_with(native), (n, own, native)
    assert seen == {"ok", "undefined"}

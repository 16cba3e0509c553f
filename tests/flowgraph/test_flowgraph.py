"""The flowgraph says what the C program says: variables, machine arithmetic, memory, calls, loops."""

from __future__ import annotations

import pytest

from loopless import terms as t
from loopless.flowgraph.model import Assign, Check, End, Havoc, Kind, Load, Origin, Store
from loops_in_c import graph, variable


def statements(source: str, kind: type) -> list:
    return [s for b in graph(source).blocks.values() for s in b.statements if isinstance(s, kind)]


def test_a_parameter_is_the_variable_that_it_is_copied_to() -> None:
    g = graph("int f(int x) { x = x + 1; return x; }")
    assert [v.name for v in g.variables if g.variables[v].kind is Kind.PARAMETER] == ["x"]
    assert g.parameters[0].var is variable(g, "x")


@pytest.mark.parametrize(
    ("statement", "kinds"),
    [
        ("x = x + y;", {"signed-overflow"}),
        ("u = u + 1u;", set()),
        ("c = c + 1;", set()),
        ("x = x / y;", {"division-by-zero", "signed-overflow"}),
        ("u = u / 3u;", set()),
        ("u = u % v;", {"division-by-zero"}),
        ("x = x >> y;", {"shift"}),
        ("x = x << 3;", {"shift-overflow", "shift-of-negative"}),
        ("x = x << y;", {"left-shift", "shift-overflow", "shift-of-negative"}),
        ("c = c << 3;", {"shift-of-negative"}),
        ("u = u << 3;", set()),
        ("u = u << y;", {"shift"}),
        ("x = a[y];", {"bounds"}),
    ],
)
def test_what_may_be_undefined_has_a_check_of_its_kind(statement: str, kinds: set[str]) -> None:
    source = (
        "int f(int x, int y, unsigned u, unsigned v, signed char c) { int a[4] = {1, 2, 3, 4}; "
        f"{statement} return x + (int)u + c + a[0]; }}"
    )
    added = [c.kind for c in statements(source, Check)]
    base = [c.kind for c in statements(source.replace(statement, ""), Check)]
    assert {k for k in added if added.count(k) > base.count(k)} == kinds


def test_narrow_arithmetic_wraps_by_the_type_of_its_variable() -> None:
    source = "int f(signed char b) { b++; return b; }"
    value = next(s.value for s in statements(source, Assign) if s.target.name == "b")
    b = variable(graph(source), "b")
    assert t.evaluate(value, {b: 127}) == -128
    assert not statements(source, Check)


def test_uninitialised_locals_are_unknown_once() -> None:
    havocs = statements("int f(int n) { int w; while (n > w) n--; return n + w; }", Havoc)
    assert [(h.origin, h.name) for h in havocs] == [(Origin.UNINITIALISED, "w")]
    assert not statements("int f(int n) { int w = 0; while (n > w) n--; return n + w; }", Havoc)


def test_globals_fields_and_pointees_are_variables() -> None:
    source = (
        "struct s { int n; short k; }; int g; int f(struct s *p, int *q) { while (p->n > 0) { p->n--; p->k += 2; *q += 1; "
        "g++; } return p->k; }"
    )
    shown = {info.shown for info in graph(source).variables.values()}
    assert {"p->n", "p->k", "*q", "g"} <= shown
    assert not statements(source, Load)
    assert any("p and q do not overlap" in a or "q and p do not overlap" in a for a in graph(source).assumptions)


def test_memory_that_an_unknown_call_can_reach_is_not_kept() -> None:
    source = "void h(void); int g; int f(int n) { g = 1; while (n-- > 0) { h(); g++; } return g; }"
    assert any(h.target.name == "g" and h.origin is Origin.CALL for h in statements(source, Havoc))
    harmless = (
        'int printf(const char *, ...); int g; int f(int n) { g = 1; while (n-- > 0) { printf("x"); g++; } return g; }'
    )
    assert not [h for h in statements(harmless, Havoc) if h.target.name == "g"]


def test_a_store_through_an_unknown_pointer_reaches_globals_but_not_plain_locals() -> None:
    source = "int g; int f(unsigned long a, int n) { int i = 0; while (i < n) { *(int *)a = 3; g += i; i++; } return g + i; }"
    assert "i" in {v.name for v in graph(source).variables}
    assert any(isinstance(s, Load) for s in statements(source, Load))
    assert not [v for v, info in graph(source).variables.items() if info.kind is Kind.GLOBAL]


def test_pointers_are_objects_and_offsets() -> None:
    g = graph("int f(char *p) { char *q = p; while (*q) q++; return q - p; }")
    assert len(statements("int f(char *p) { char *q = p; while (*q) q++; return q - p; }", Load)) == 1
    end = next(b.end for b in g.blocks.values() if b.end is not None)
    assert end.value is t.wrap(variable_offset(g, "q"), t.IntType(32))


def variable_offset(g, name: str) -> t.Var:
    return next(v for v, info in g.variables.items() if info.shown == name and info.pointer_part == "offset")


def test_parameters_that_are_compared_point_into_one_object() -> None:
    g = graph("int f(int *p, int *e) { int k = 0; while (p != e) { p++; k++; } return k; }")
    assert g.parameters[0].object == g.parameters[1].object
    assert "p, e point into the same object" in g.assumptions


def test_a_pointer_to_a_function_equals_the_function() -> None:
    g = graph("int a(int n) { return n; }\nint f(int n) { int (*p)(int) = a; p(n); if (p == a) n = 7; return n; }")
    equal = [e for b in g.blocks.values() for e in b.edges if e.target.startswith("if.then")]
    assert [e.condition for e in equal] == [t.TRUE]


@pytest.mark.parametrize("declared", ["int w(int)", "int w"])
def test_what_is_declared_weak_may_be_nowhere(declared: str) -> None:
    g = graph(f"extern {declared} __attribute__((weak));\nint f(int n) {{ if (!&w) while (n > 0) n--; return n; }}")
    asked = [e.condition for b in g.blocks.values() for e in b.edges if len(b.edges) > 1]
    assert t.FALSE not in asked


def test_constant_globals_have_their_value() -> None:
    source = "static const int limit[3] = {4, 5, 6}; int f(int i) { while (i < limit[1]) i++; return i; }"
    conditions = [e.condition for b in graph(source).blocks.values() for e in b.edges]
    assert t.less(variable(graph(source), "i"), t.const(5)) in conditions


def test_stores_to_arrays_stay_memory() -> None:
    assert len(statements("void f(int *a, int n) { for (int i = 0; i < n; i++) a[i] = i; }", Store)) == 1


def test_the_vocabulary_ends_and_restricts_runs() -> None:
    source = (
        "void reach_error(void); void abort(void); void __VERIFIER_assume(int); int __VERIFIER_nondet_int(void);"
        "int f(int n) { int k = __VERIFIER_nondet_int(); __VERIFIER_assume(k > 3); if (k == n) reach_error(); "
        "if (k == 7) abort(); return k; }"
    )
    ends = {b.end.kind for b in graph(source).blocks.values() if isinstance(b.end, End)}
    assert ends == {"return", "error", "abort"}
    assert [h.origin for h in statements(source, Havoc)] == [Origin.NONDET]


def test_loops_are_named_by_place_and_nested() -> None:
    g = graph("int f(int n) {\n  int s = 0;\n  for (int i = 0; i < n; i++)\n    while (s < i) s += 2;\n  return s; }")
    assert [loop.name.split(":", 1)[1] for loop in g.loops] == ["f:3:3", "f:4:5"]
    assert g.loops[1].parent == g.loops[0].header
    assert [loop.depth for loop in g.loops] == [1, 2]


def test_loops_of_one_macro_have_different_names() -> None:
    g = graph(
        "#define TWICE(x) do { while (x > 3) x -= 3; while (x < 0) x += 2; } while (0)\nint f(int x) { TWICE(x); return x; }"
    )
    names = [loop.name for loop in g.loops]
    assert len(set(names)) == len(names) >= 2


def test_a_jump_into_a_loop_is_refused_and_the_other_loop_is_still_there() -> None:
    source = (
        "int f(int n) { int i = 0; while (i < 3) i++; if (n) goto inside; top: if (n > 9) return n; n++; inside: n += 2; "
        "goto top; }"
    )
    g = graph(source)
    assert [r.reason.label for r in g.irreducible] == ["irreducible-control-flow"]
    assert len(g.loops) == 1


def test_several_back_edges_are_one_loop() -> None:
    g = graph("int f(int n) { while (n > 0) { if (n % 2) { n -= 3; continue; } n--; } return n; }")
    assert len(g.loops) == 1

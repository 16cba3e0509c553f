"""Pointers that loops load anew are loaded in front of them, where nothing unknown may write these."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from answers_in_c import answers
from loopless import terms as t
from loopless.flowgraph.model import Load
from loopless.summary import LoopSummary
from loopless.summary.model import nodes_of
from runs_of_text import came_out, flowgraph, statements

_HEAD = """struct S { int *to; int n; int *from; struct S *next; };
struct Z { struct S *s; };
void g(void); void take(void *);
"""


@pytest.mark.parametrize(
    ("body", "early"),
    [
        ("for (int i = 0; i < n; i++) s->to[i] = s->from[i];", ["s->from", "s->to"]),
        ("for (int i = 0; i < n; i++) s->to[s->n++] = 1;", ["s->to"]),
        ("for (int i = 0; i < n; i++) s->next->to[i] = 1;", ["s->next", "z->s->next->to"]),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s->to[j] += i;", ["s->to"]),
        ("for (int i = 0; i < n; i++) { s->to[i] = 1; g(); }", []),
        ("for (int i = 0; i < n; i++) { s->to[i] = 1; s->to = s->from; }", ["s->from", "s->to"]),
        ("for (int i = 0; i < n; i++) { s->to[i] = 1; s = s->next; }", []),
        ("for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) s->to[j] = i; g(); }", ["s->to"]),
        ("for (int i = 0; i < n; i++) { int *p = *(int **)((char *)s + i); if (p) s->n++; }", []),
        ("for (int i = 0; i < n; i++) { s->to[i] = 1; *(char *)&s->to = 0; }", []),
        ("int t[4]; for (int i = 0; i < n; i++) { __builtin_memcpy(t, s->to + i, 4); s->n += t[0]; }", ["s->to"]),
        ("int t[4]; take(t); for (int i = 0; i < n; i++) { __builtin_memset(t, i, 4); s->n += *s->to; }", []),
    ],
)  # fmt: skip
def test_pointers_that_a_loop_leaves_are_loaded_before_it(body: str, early: list[str]) -> None:
    # A call in front may have set them: they are no variables of the function.
    graph = flowgraph(f"{_HEAD}void f(struct Z *z, int n) {{ g(); struct S *s = z->s; {body} }}")
    found = [load for load in statements(graph, Load) if load.early]
    assert sorted(load.target.name for load in found) == early
    inside = {label for loop in graph.loops if loop.parent is None for label in loop.blocks}
    if "g(); }" not in body:
        assert not any(s in found for label in inside for s in graph.blocks[label].statements)


def test_what_is_taken_for_granted_for_an_early_load_is_listed() -> None:
    loop = "for (int i = 0; i < n; i++) s->to[s->n++] = 1;"
    graph = flowgraph(f"{_HEAD}void f(struct Z *z, int n) {{ g(); struct S *s = z->s; {loop} }}")
    assert "what z->s points to and what z->s->to points to do not overlap" in graph.assumptions


def test_elements_behind_pointers_loaded_anew_are_told() -> None:
    loop = "for (int i = 0; i < n; i++) s->to[i] = s->from[i] + 1;"
    (found,) = answers(f"{_HEAD}void f(struct Z *z, int n) {{ g(); struct S *s = z->s; {loop} }}")
    assert isinstance(found.summary, LoopSummary)
    assert found.summary.complete
    (case,) = (case for case in found.summary.cases if case.contents)
    ((layer,),) = (case.contents or {}).values()
    assert layer.value is not None
    assert not found.summary.untold


@pytest.mark.parametrize(("n", "expected"), [(0, "0"), (1, "undefined: ")])
def test_a_load_in_front_fails_only_where_the_loop_uses_it(n: int, expected: str) -> None:
    head = f"{_HEAD}static struct S *kept; void h(void) {{ kept = 0; }}"
    text = f"{head} int f(int n) {{ h(); for (int i = 0; i < n; i++) kept->next->to[i] = 1; return n; }}"
    assert str(came_out(text, n)).startswith(expected)


_MOVED = """struct T { unsigned char *p; unsigned char sel[8]; unsigned char *q; int left; };
struct U { struct T *t; };
static void touch(struct T *t, ...) { if (t->left > 1000) t->p = t->q; }
static int run(struct U *u, unsigned char *w, int n, ...) {
  touch(u->t);
  struct T *s = u->t, *r = u->t; int k = 0;
  for (int i = 0; i < n; i++) s->sel[i & 7] = 1;
  %s
  touch(s);
  return 10 * k + *s->p;
}
int f(int n) {
  unsigned char buf[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7};
  struct T t; t.p = buf; t.q = buf + 8; t.left = n;
  struct U u = {&t};
  return run(&u, buf + 3, n);
}"""
_BYTES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7)


def _one_after_another(n: int) -> tuple[int, int]:
    return int("0" + "".join(map(str, _BYTES[:n]))), n


def _set_on_the_way(n: int) -> tuple[int, int]:
    return int("0" + "".join(map(str, (*_BYTES[:2], *_BYTES[8:])[:n]))), n if n <= 2 else 8 + n - 2


def _rows(n: int) -> tuple[int, int]:
    return sum((i + 1) * (_BYTES[2 * i] + _BYTES[2 * i + 1]) for i in range(n)), 2 * n


def _where_even(n: int) -> tuple[int, int]:
    k = p = 0
    for _ in range(n):
        if _BYTES[p] % 2:
            p += 1
        k += _BYTES[p]
        p += 1
    return k, p


def _written_as_bytes(n: int) -> tuple[int, int]:
    return sum((_BYTES[0], *[_BYTES[3]] * n)[:n]), 3 if n else 0


@pytest.mark.parametrize(
    ("loop", "expected", "early"),
    [
        ("for (int i = 0; i < n; i++) k = 10 * k + *s->p++;", _one_after_another, True),
        ("for (int i = 0; i < n; i++) { k = 10 * k + *r->p; s->p++; }", _one_after_another, True),
        ("for (int i = 0; i < n; i++) { if (i == 2) s->p = r->q; k = 10 * k + *s->p++; }", _set_on_the_way, True),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < 2; j++) k += (i + 1) * *s->p++;", _rows, True),
        ("for (int i = 0; i < n; i++) { if (*s->p & 1) s->p++; k += *s->p; s->p = s->p + 1; }", _where_even, True),
        ("for (int i = 0; i < n; i++) { k = 10 * k + *s->p++; touch(s); }", _one_after_another, False),
        (
            "for (int i = 0; i < n; i++) { k += *s->p; __builtin_memcpy(&s->p, &w, sizeof w); }",
            _written_as_bytes,
            False,
        ),
    ],
)
def test_pointers_that_a_loop_moves_go_along_with_their_places(
    loop: str, expected: Callable[[int], tuple[int, int]], early: bool
) -> None:
    text = _MOVED % loop
    assert (
        any(load.early and load.target.name.endswith("p") for load in statements(flowgraph(text, "run"), Load)) == early
    )
    for n in (0, 1, 2, 3, 5):
        k, at = expected(n)
        assert came_out(text, n) == 10 * k + _BYTES[at]


def test_a_loop_that_moves_a_pointer_in_memory_has_a_summary() -> None:
    """As decoders of streams do: what the loop reads lies one byte further in each iteration."""
    head = "struct M { unsigned char *p; int left; }; struct T { struct M *m; unsigned char sel[8]; int k; }; void g(void *);"
    loop = "while (t->m->left > 0) { if (*t->m->p == 9) break; if (*t->m->p > x) t->k++; t->m->p += 2; t->m->left--; }"
    use = "for (int i = 0; i < x; i++) t->sel[i & 7] = 1;"
    found = answers(f"{head} int f(struct T *t, int x) {{ g(t); {use} {loop} return t->sel[x & 7]; }}")[-1]
    summary = found.summary
    assert isinstance(summary, LoopSummary)
    assert summary.complete
    assert summary.exact
    rng = random.Random(3)
    for _ in range(100):
        data, left, x = [rng.randrange(12) for _ in range(24)], rng.randrange(-2, 12), rng.randrange(12)
        count = next((k for k in range(max(0, left)) if data[2 * k] == 9), max(0, left))

        def read(array: str, offset: int, type: t.IntType, data: list[int] = data, left: int = left) -> int:
            return left if array != "t->m->p" else data[offset] if offset < len(data) else 9

        values = {var: x if var.name == "x" else 0 for node in nodes_of(summary) for var in node.variables}
        (case,) = (one for one in summary.cases if t.holds(one.when, values, read))
        assert t.evaluate(case.iterations, values, read) == count


def test_a_loop_beside_a_cycle_of_two_entries_has_loads_in_front() -> None:
    """The header of a loop dominates it, whatever other cycles there are."""
    jumps = "if (n > 3) goto in; while (n > 0) { n--; in: n -= 2; }"
    loop = "for (int i = 0; i < n; i++) s->to[s->n++] = 1;"
    graph = flowgraph(f"{_HEAD}void f(struct Z *z, int n) {{ g(); struct S *s = z->s; {loop} {jumps} }}")
    assert graph.irreducible
    assert [load.target.name for load in statements(graph, Load) if load.early] == ["s->to"]

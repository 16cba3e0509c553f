"""Pointers that loops load anew and do not write are loaded in front of them."""

from __future__ import annotations

import pytest

from answers_in_c import answers
from loopless.flowgraph.model import Load
from loopless.summary import LoopSummary
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
        ("for (int i = 0; i < n; i++) { s->to[i] = 1; s->to = s->from; }", ["s->from"]),
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

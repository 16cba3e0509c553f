"""Memory that a function allocates and keeps: its fields are variables; where the pointer may come elsewhere, not."""

from __future__ import annotations

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeOracle
from loopless.flowgraph import build
from loopless.flowgraph.model import Flowgraph
from loopless.source import load
from loops_in_c import graph

HEAD = "typedef unsigned long z; void *malloc(z); void free(void *); int *kept; void out(int *); struct s { int n; short k; char *t; }; "


def shown(g: Flowgraph) -> set[str]:
    return {info.shown for info in g.variables.values() if set(info.shown) & set("*[>")}


@pytest.mark.parametrize(
    ("body", "variables"),
    [
        ("int *p = malloc(4); if (!p) return 1; *p = n; while (*p > 3) *p -= 2; return *p;", {"*p"}),
        ("int *p = malloc(4); if (!p) return 1; *p = n; while (*p > 3) *p -= 2; n = *p; free(p); return n;", {"*p"}),
        ("struct s *p = malloc(sizeof *p); if (!p) return 1; p->n = n; p->k = 2; while (p->n > p->k) p->n--; return p->n;",
         {"p->n", "p->k"}),
        ("int *p = malloc(4), *q; if (!p) return 1; q = p; *p = n; while (*q > 3) *p -= 2; return *q;", {"*p"}),
        ("int *p = malloc(8); if (!p) return 1; p[0] = n; p[1] = 3; while (p[0] > p[1]) (*p)--; return *p;", {"*p", "p[1]"}),
        ("int *p = 0; if (n > 5) p = malloc(4); if (!p) return 1; *p = n; while (*p > 3) *p -= 2; return *p;", {"*p"}),
        # What is used behind its end:
        ("int *p = malloc(4); if (!p) return 1; *p = n; while (*p > 3) *p -= 2; free(p); return *p;", set()),
        ("int *p = malloc(4); if (!p) return 1; *p = n; for (int i = 0; i < 3; i++) { if (i == n) free(p); *p += 1; } return 5;", set()),
        ("int *p = malloc(4); if (!p) return 1; *p = n; while (*p > 3) *p -= 2; free(p); if (n > 3) free(p); return 2;", set()),
        ("int *p = malloc(4); if (!p) return 1; *p = n; if (n > 9) { free(p); return 2; } n = *p; free(p); return n;", {"*p"}),
        # What another may reach, or there may be several of:
        ("int *p = malloc(4); if (!p) return 1; kept = p; *p = n; while (*p > 3) *p -= 2; return *p;", set()),
        ("int *p = malloc(4); if (!p) return 1; out(p); *p = n; while (*p > 3) *p -= 2; return *p;", set()),
        ("int s = 0; for (int i = 0; i < n; i++) { int *p = malloc(4); if (!p) return 1; *p = i; s += *p; } return s;", set()),
        ("int *p = malloc(4), **q = &p; if (!p) return 1; *p = n; while (*p > 3) *p -= 2; return **q;", set()),
        ("int *p = malloc(n); if (!p) return 1; *p = n; while (*p > 3) *p -= 2; return *p;", {"*p"}),
        ("int *p = malloc(40); if (!p) return 1; *p = n; while (*p > 3) *p -= 2; return p[n];", set()),
    ],
)  # fmt: skip
def test_which_fields_are_variables(body: str, variables: set[str]) -> None:
    assert shown(graph(f"{HEAD}int f(int n) {{ {body} }}")) == variables


PROGRAMS = {
    "one": "int *p = malloc(4); if (!p) return -1; *p = n; while (*p > 3) *p -= 2; n = 10 * *p; free(p); return n;",
    "two": "int *p = malloc(4), *q = malloc(4); if (!p || !q) return -1; *p = n; *q = 5; while (*p > *q) { --*p; ++*q; }"
    " return 100 * *p + *q + 7 * (p == q);",
    "at times": "int *p = 0; if (n > 5) p = malloc(4); if (!p) return -1; *p = n; while (*p > 3) *p -= 2; return *p;",
    "fields": "struct s *p = malloc(sizeof *p); if (!p) return -1; p->n = n; p->k = 70000 + n; p->t = (char *)p;"
    " while (p->n > p->k) p->n--; return p->n + 3 * p->k;",
    "freed twice at most": "int *p = malloc(4), *q = malloc(4), *r; if (!p || !q) return -1; *p = n; *q = 8;"
    " if (n > 5) r = p; else r = q; *r += 1; n = *p + 10 * *q; free(r); if (n < 4) { if (r == q) free(p); else free(q); } return n;",
    "anew": "int *p = malloc(4); if (!p) return -1; *p = n; while (*p > 3) *p -= 2; n = *p; free(p); p = malloc(4);"
    " if (!p) return -1; *p = n + 1; n = 10 * n + *p; free(p); return n;",
    "behind its end": "int *p = malloc(4); if (!p) return -1; *p = n; if (n > 7) return p[1]; return *p;",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_against_native(name: str, tmp_path) -> None:
    text = f"{HEAD}int f(int n) {{ {PROGRAMS[name]} }}"
    (tmp_path / "a.c").write_text(text)
    program = load([tmp_path / "a.c"])
    interpreter = Interpreter(program.inlined, build(program.inlined.functions["f"], program.inlined))
    values = set()
    with NativeOracle(text) as oracle:
        for n in (-9, 0, 1, 3, 4, 5, 6, 7, 8, 11, 90):
            native, own = oracle.run("f", [n]), interpreter.run([n])
            if name == "behind its end" and n > 7:  # nothing watches what lies behind allocated memory natively
                assert own.outcome.status in ("undefined", "unknown")
                continue
            assert (own.outcome.status, native.status) == ("ok", "ok")
            assert own.outcome.return_value == native.return_value
            values.add(native.return_value)
    assert len(values) > 2

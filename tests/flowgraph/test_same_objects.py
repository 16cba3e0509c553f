"""Orders of pointers that are copies of one: known where the same pointer is behind both, unknown elsewhere."""

from __future__ import annotations

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeOracle
from loopless.flowgraph import build
from loopless.flowgraph.model import Assign, Havoc
from loopless.source import load

HEAD = "struct s { char *w; char *v; int n; }; extern void any(struct s *);"
KNOWN = {
    "copies": "int f(struct s *s) { char *p = s->w, *e = s->w + s->n; int c = 0; while (p < e && c < 9) { p++; c++; } return c; }",
    "copies of copies": "int f(struct s *s, int m) { char *p = s->w, *e = p + 5, *q; q = m ? e : p; p = q; return p < e; }",
    "moved downwards": "int f(struct s *s) { char *p = s->w + 9; int c = 0; while (p > s->w) { p--; c++; } return c; }",
    "read anew on each way": "int f(struct s *s, int m) { char *p = s->w, *e = s->w; if (m) { any(s); p = s->w; e = s->w + 1; } return p < e; }",
    "exchanged": "int f(struct s *s, int m) { char *p = s->w, *q = s->w + 1; while (m--) { char *t = p; p = q; q = t; } return p < q; }",
}
UNKNOWN = {
    "others": "int f(struct s *s) { return s->w < s->v; }",
    "another one on one way": "int f(struct s *s, int m) { char *p = s->w, *e = s->w + s->n; if (m) p = s->v; return p < e; }",
    "another one from the second time on": (
        "int f(struct s *s, int m) { char *p = s->w, *e = s->w; int c = 0; while (m--) { c += p < e; p = s->v; } return c; }"
    ),
    "what was there before a call": "int f(struct s *s) { char *p = s->w; any(s); return p < s->w; }",
    "what was there an iteration ago": (
        "int f(struct s *s, int m) { char *o = s->w, *p = s->w; int c = 0; while (m--) { any(s); c += o < p; o = p; p = s->w; } return c; }"
    ),
    "half of an exchange": (
        "int f(struct s *s, int m) { char *p = s->w, *q = s->v; while (m--) { char *t = p; p = q; q = t; } return p < q; }"
    ),
}  # fmt: skip


def orders(text, tmp_path):
    """How many orders are known, and how many not."""
    (tmp_path / "a.c").write_text(HEAD + text)
    module = load([tmp_path / "a.c"]).inlined
    found = [s for b in build(module.functions["f"], module).blocks.values() for s in b.statements]
    known = [s for s in found if isinstance(s, Assign) and s.target.name.startswith("a value")]
    return len(known), len([s for s in found if isinstance(s, Havoc) and s.name == "order"])


@pytest.mark.parametrize("name", KNOWN)
def test_known(name, tmp_path) -> None:
    assert orders(KNOWN[name], tmp_path) == (1, 0)


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown(name, tmp_path) -> None:
    assert orders(UNKNOWN[name], tmp_path) == (0, 1)


RUN = """
struct s { char *w; char *v; int n; };
static char text[64];
static int never;
static int h(struct s *s, int k) {
    if (never) return h(s, k);
    char *p = s->w + 1, *e = s->w + s->n, *old = e;
    int c = 0;
    while (p < e && c < 90) { c++; if (k & 1) { e--; } else { p += 2; } k >>= 1; if (e > old) c += 1000; old = e; }
    while (e >= s->w && c < 90) { e -= 3; c++; }
    return c;
}
int f(int n, int k) { struct s s; s.n = n & 31; s.w = text + 20; s.v = text; return h(&s, k); }
"""


def test_against_native(tmp_path) -> None:
    (tmp_path / "a.c").write_text(RUN)
    module = load([tmp_path / "a.c"]).inlined
    interpreter = Interpreter(module, build(module.functions["f"], module), checked=True)
    statuses = set()
    with NativeOracle(RUN) as oracle:
        for n in (0, 1, 2, 5, 30, 31):
            for k in (0, 1, 2, 5, 77, -1):
                native, own = oracle.run("f", [n, k]), interpreter.run([n, k])
                statuses.add(own.outcome.status)
                assert own.outcome.agrees_with(native), (n, k, own, native)
    assert statuses == {"ok"}

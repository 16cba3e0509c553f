"""Loop paths: all feasible ones, no other, merged by effect, sliced by the variables of interest."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping

import pytest

from loopless import terms as t
from loopless.check.interpreter.run import Interpreter, Jump
from loopless.flowgraph.model import LoopInfo
from loopless.paths import LoopPaths, NoPaths
from loopless.refusals import Reason
from loops_in_c import graph, paths

TWELVE = "".join(f"  if (b & {1 << i}) a{i} += {i + 1};\n" for i in range(12))
DECLARED = "unsigned " + ", ".join(f"a{i} = 0" for i in range(12)) + ", both = 0;"
INDEPENDENT = f"""
unsigned f(unsigned b, unsigned n) {{
  {DECLARED}
  for (unsigned i = 0; i < n; i++) {{
{TWELVE}
    if (b & 4096) both += 1;
    if (b & 8192) both += 5;
    b = b * 5 + 1;
  }}
  return both + {" + ".join(f"a{i}" for i in range(12))};
}}
"""


def found(source: str, names: list[str] | None = None, loop: int = 0) -> LoopPaths:
    answer = paths(source, loop, names)
    assert isinstance(answer, LoopPaths), answer
    return answer


def test_of_twelve_independent_branches_a_variable_sees_only_its_own() -> None:
    assert len(found(INDEPENDENT, ["both"]).iterative) == 4
    assert len(found(INDEPENDENT, ["a3"]).iterative) == 2
    assert len(found(INDEPENDENT, ["i"]).iterative) == 1


def test_the_whole_body_of_independent_branches_is_refused_by_its_size() -> None:
    answer = paths(INDEPENDENT)
    assert isinstance(answer, NoPaths)
    assert answer.refused.reason is Reason.BUDGET


def test_infeasible_ways_are_not_built() -> None:
    answer = found(
        "int f(int x, int n) { while (x < n) { if (x > 5) { if (x < 3) n--; else x++; } else x++; } return x; }"
    )
    assert len(answer.iterative) == 1


def test_short_circuits_are_followed_way_by_way() -> None:
    answer = found("unsigned f(unsigned x, unsigned y, unsigned n) {"
                   " while (x < n && (y > 3 || x > 7)) { x++; if (x == 9 && y != 4) y = 1; } return x; }")  # fmt: skip
    assert all("%" not in str(path.condition) for path in answer.all)
    assert len(answer.iterative) == 2


def test_branches_with_the_same_effect_are_one_path() -> None:
    answer = found(
        "unsigned f(unsigned x, unsigned n) { while (x < n) { if (x % 3 == 0) x += 2; else x += 2; } return x; }"
    )
    assert len(answer.iterative) == 1


def test_checks_of_what_is_sliced_away_are_an_assumption() -> None:
    source = "int f(int n, int s) { int i = 0; while (i < n) { s += i * s; i++; } return s + i; }"
    assert not found(source).assumptions
    sliced = found(source, ["i"])
    assert [v.name for v in sliced.state] == ["i"]
    assert sliced.assumptions == ("no undefined behaviour in what was sliced away",)


@pytest.mark.parametrize(
    "source",
    [
        "int f(int x, int z, int n) { while (x < n) { if (z > x) x++; else z++; } return x + z; }",
        "int f(signed char x, unsigned char u, int n) { do { x += u; u -= 3; if (x > 40 || u == 7) n++; else if (n < 0) "
        "break; n--; } while (x != n); return x + u + n; }",
        "int f(int a, int b) { int k = 0; while (a) { switch (a % 5) { case 0: a /= 5; break; case 1: b++; case -2: a--; "
        "break; default: a += b > 3 ? -1 : 1; if (k > 9) return k; k++; } } return k; }",
        "int f(short n, int z) { int s = 0, k = 0; do { k++; if (n) { if (k - n) s = 1; n -= 2; } } while (k < z); return s; }",
        "int f(unsigned x, int y) { for (;;) { if (x < 10u) goto out; x = x * 3 + (unsigned)y; y >>= 1; if (y & 4) "
        "continue; x ^= 5u; } out: return (int)x; }",
    ],
)  # fmt: skip
def test_running_by_paths_is_running_the_program(source: str) -> None:
    """Iterating the paths' updates, one path per state, against the judge's interpreter on the whole call."""
    answer = found(source)
    loop_graph = graph(source)
    interpreter = Interpreter(None, loop_graph)
    needed = {v for p in answer.all for v in p.condition.variables | set(p.update)}
    chosen = random.Random(5)
    compared: Counter[str] = Counter()

    def by_paths(loop: LoopInfo, seen: Mapping[t.Var, int]) -> Jump | None:
        state = {v: seen[v] for v in needed}
        for count in range(5000):
            taken = [p for p in answer.all if t.holds(p.condition, state)]
            assert len(taken) == 1, (state, taken)
            path = taken[0]
            state |= {v: t.evaluate(term, state) for v, term in path.update.items()}
            if path.exit is not None:
                if path.exit.kind == "undefined":
                    return Jump(status="undefined")
                assert path.exit.edge is not None
                return Jump(state, (path.exit.block, path.exit.edge), {loop.name: count})
        return None

    for _ in range(200):
        values = [
            p.type.wrap(chosen.choice((chosen.randrange(-20, 20), chosen.getrandbits(32))))
            for p in loop_graph.parameters
            if p.type is not None
        ]
        plain = interpreter.run(values, max_steps=4000)
        if plain.status in ("timeout", "diverges", "unknown"):
            continue
        jumped = interpreter.run(values, max_steps=4000, on_loop=by_paths)
        assert jumped.outcome.agrees_with(plain.outcome), (values, plain, jumped)
        if plain.status == "ok":
            assert {k: n for k, n in jumped.iterations.items() if n} == dict(plain.iterations)
        compared[plain.status] += 1
    assert compared["ok"] > 10


def test_a_loop_around_a_cycle_with_two_entries_has_no_paths_rather_than_some() -> None:
    found = paths(
        "int f(int n, int k) { int s = 0; while (n > 0) { n--; if (k & 1) goto b; a: s += 1; k -= 2; if (k < 3) goto c;"
        " b: s += 2; k -= 3; if (k > 5) goto a; c: ; } return s; }"
    )
    assert isinstance(found, NoPaths)
    assert found.refused.reason is Reason.IRREDUCIBLE


def test_a_return_has_the_line_of_its_statement_not_of_the_condition_before_it() -> None:
    source = "int f(const char *s, char c) {\n  int i = 0;\n  while (s[i] != 0) {\n    if (s[i] == c)\n      return i;\n    i++;\n  }\n  return -1;\n}\n"
    lines = {(path.exit.kind, path.exit.line) for path in found(source).exits if path.exit is not None}
    assert {("return", 5), ("normal", 3)} <= lines
    one = "int f(int n) { int i = 0; for (;;) { if (i > n) return i; i++; } }"
    assert {path.exit.line for path in found(one).exits if path.exit is not None} == {1}


def test_allocated_memory_that_the_loop_writes_is_read_anew() -> None:
    head = (
        "void *malloc(long); static int *kept[2];"
        "int f(int n, long m) { int *p = malloc(m), *q = malloc(m), r = 0; kept[0] = p; kept[1] = q; *p = n; *q = n;"
    )
    for body, known in (("while (*p > 2) *p -= 2;", False), ("while (*q > r) *p = r++;", True)):
        (path,) = found(f"{head} {body} return *p; }}").iterative
        assert (not path.unknowns) == known, body

"""Variables of one name are told apart, each by where it is declared; what has no name is told in words."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from loopless.flowgraph.model import Flowgraph
from loopless.queries.verification.evidence import _seen_at
from loops_in_c import graph

STATICS = """
static int a1(void) { static int cnt = 3; return cnt++; }
static int a2(void) { static int cnt = 5; cnt += 2; return cnt; }
int cnt;
static int up(void) { return cnt += 2; }
"""


def shown(g: Flowgraph) -> set[str]:
    return {info.shown for info in g.variables.values() if info.is_source}


@pytest.mark.parametrize(
    ("function", "names", "others"),
    [
        ("int f(int n) { int c = 0; while (a1() + cnt < n) { c++; cnt++; } return c; }", {"cnt", "a1::cnt"}, {"cnt@3"}),
        ("int f(int n) { while (a1() + a2() < n) n--; return n; }", {"a1::cnt", "a2::cnt"}, {"cnt"}),
        ("int f(int n) { int cnt = 0; while (up() < n) cnt++; return cnt; }", {"cnt", "::cnt"}, set()),
        ("int f(int cnt) { while (up() < cnt) cnt--; return cnt; }", {"cnt", "::cnt"}, set()),
        ("int f(int n) { static int cnt; while (cnt < n && up() < 9) cnt++; return cnt; }", {"f::cnt", "cnt"}, set()),
        ("int f(int n) { static int own; while (own < n) own++; return own; }", {"own"}, set()),
    ],
)
def test_statics_and_globals(function: str, names: set[str], others: set[str]) -> None:
    found = shown(graph(STATICS + function))
    assert names <= found
    assert found.isdisjoint(others)


def test_no_two_variables_have_one_name() -> None:
    g = graph(
        "int f(int n) {\n int x = n;\n {\n int x = 5;\n while (x < n) x++;\n }\n { int x = 7; n += x; }\n return x + n; }"
    )
    found = [info.var.name for info in g.variables.values() if info.shown == "x"]
    assert sorted(found) == ["x", "x@4", "x@7"] or sorted(found) == ["x", "x@2", "x@4"]


@pytest.mark.slow
def test_two_files_have_a_static_of_one_name(tmp_path: Path) -> None:
    for name, more in (("one", ""), ("two", "int two(int); ")):
        text = f"static int total; {more}int {name}(int n) {{ int i = 0; while (i < n) {{ i++; total += i; }} return total; }}"
        (tmp_path / f"{name}.c").write_text(text)
    (tmp_path / "three.c").write_text("int one(int); int two(int); int three(int n) { return one(n) + two(n); }")
    words = ["summarize", "one.c", "two.c", "three.c"]
    done = subprocess.run(
        [sys.executable, "-m", "loopless", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert set(re.findall(r"([\w.:]+)' = ", done.stdout)) == {"i", "one.c:total", "two.c:total"}


def test_a_witness_speaks_of_the_variable_that_c_means() -> None:
    g = graph(
        "int f(int n) { int s = 0;\n for (int i = 0; i < n; i++) {\n  for (int i = 5; i < 9; i++) s += i;\n }\n"
        " for (int i = 1; i < n; i++) s ^= i;\n return s; }"
    )
    named = {loop.line: {v.name for v, name in _seen_at(g, loop).items() if name == "i"} for loop in g.loops}
    declared = {
        info.var.name: info.declared.line for info in g.variables.values() if info.shown == "i" and info.declared
    }
    assert {line: {declared[name] for name in names} for line, names in named.items()} == {2: {2}, 3: {3}, 5: {5}}

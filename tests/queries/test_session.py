"""The library: programs, functions, loops."""

from __future__ import annotations

import pickle

import pytest

from asking import automaton_of, paths_of, summary_of, type_of
from loopless.errors import SourceError, UsageError
from loopless.queries import program as session
from loopless.refusals import Reason, Refused
from loopless.summary import LoopSummary
from loopless.terms import evaluate, holds

PROGRAM = """static int helper(int k) {
    int c = 0;
    while (k > 0) { k--; c++; }
    return c;
}
int f(int x, int n) {
    { int y = 1; x += y; }
    while (x < n) {
        int y = 2;
        x += y;
    }
    return x;
}
int g(int n) { return helper(n) + 1; }
int plain(int n) { return n ? n + 1 : 2; }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    file = tmp_path_factory.mktemp("session") / "program.c"
    file.write_text(PROGRAM, encoding="utf-8")
    return session.load(file)


def test_functions_and_loops_are_those_of_the_source(program):
    assert [function.name for function in program.functions] == ["helper", "f", "g", "plain"]
    assert [(loop.function.name, loop.line) for loop in program.loops] == [("helper", 3), ("f", 8)]
    assert program["plain"].loops == ()


def test_a_loop_of_an_inlined_function_is_seen_in_its_caller_too(program):
    (copy,) = program["g"].loops
    assert copy.id.inlined_from is not None
    assert copy not in program.loops


def test_a_summary_speaks_of_any_entry_values(program):
    (loop,) = program["f"].loops
    summary = summary_of(loop)
    assert isinstance(summary, LoopSummary)
    assert summary.complete
    x, n = (next(v for v in {*summary.paths.state, *summary.paths.invariants} if v.name == name) for name in "xn")
    for entry, limit in [(0, 7), (0, 8), (8, 7), (-5, 1_000_000_001)]:
        values = {x: entry, n: limit}
        cases = [case for case in summary.cases if holds(case.when, values)]
        assert len(cases) == 1
        expected = entry if entry >= limit else entry + 2 * -(-(limit - entry) // 2)
        assert evaluate(cases[0].then.get(x, x), values) == expected


def test_an_unknown_function_names_the_known_ones(program):
    with pytest.raises(UsageError, match=r"nosuch.*helper, f, g, plain"):
        program["nosuch"]


def test_types_paths_and_automata(program):
    (loop,) = program["f"].loops
    assert type_of(loop).type == 1
    assert len(paths_of(loop).iterative) == 1
    assert len(automaton_of(loop).states) == len(paths_of(loop).all)


def test_a_refusal_is_a_value(tmp_path):
    file = tmp_path / "nested.c"
    file.write_text(
        "int held[8]; int f(int n) { int c = 0; for (int i = 0; i < n; i++) while (held[held[c & 7] & 7])"
        " held[held[c++ & 7] & 7]--; return c; }\n",
        encoding="utf-8",
    )
    outer, inner = session.load(file)["f"].loops
    refused = summary_of(outer)
    assert isinstance(refused, Refused)
    assert refused.reason is Reason.NESTED
    assert inner.parent is outer
    assert inner.name in refused.detail
    assert "L201" in refused.detail


def test_a_missing_file_is_a_source_error(tmp_path):
    with pytest.raises(SourceError, match=r"nosuch\.c"):
        session.load(tmp_path / "nosuch.c")


def test_options_of_loading(tmp_path):
    file = tmp_path / "o.c"
    file.write_text("int f(int x) { while (x > N) x++; return x; }\n", encoding="utf-8")
    program = session.load(file, flags=("-DN=0",), mathematical=True)
    summary = summary_of(program["f"].loops[0])
    assert summary.undefined == ()
    assert summary.diverges.variables


def test_a_program_travels_to_another_process(program):
    copy = pickle.loads(pickle.dumps(program))
    assert [loop.name for loop in copy.loops] == [loop.name for loop in program.loops]
    assert summary_of(copy["f"].loops[0]).cases == summary_of(program["f"].loops[0]).cases


def test_an_error_inside_one_function_is_a_refusal_of_that_function(program, monkeypatch, tmp_path):
    import loopless.flowgraph

    build = loopless.flowgraph.build

    def broken(function, module, options):
        if function.name == "f":
            raise ZeroDivisionError("made to fail")
        return build(function, module, options)

    monkeypatch.setattr(loopless.flowgraph, "build", broken)
    again = session.load(program.files[0])
    refused, answered = again["f"].loops[0], again["helper"].loops[0]
    assert refused.id.refused.reason is Reason.ENGINE_FAILED
    assert "made to fail" in summary_of(refused).detail
    assert isinstance(summary_of(answered), LoopSummary)


def test_importing_the_package_imports_no_engine():
    import subprocess
    import sys

    code = (
        "import sys, loopless, loopless.cli.app\n"
        "engines = {'z3', 'islpy', 'flint', 'rustworkx', 'llvmlite', 'rich'}\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & engines))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

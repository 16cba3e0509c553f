"""Functions that a program defines under names with a meaning: the body counts for those of the C library, the name for
those of verification; interpreted and native runs, summaries and the reach of calls say the same.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeHost, NativeOracle
from loopless.queries import program as session
from loopless.queries.evaluation.evaluate import Evaluator
from loopless.queries.functions import summarize_whole
from loopless.summary import CallSummary

PROGRAM = """
int seen;
{head} {name}(int x) {{ for (int i = 0; i < 3; i++) seen++; return x + 1; }}
int f(int n) {{ int s = 0; for (int i = 0; i < n; i++) s += {name}(i); return 100 * s + seen; }}
"""
VALUE = 100 * (1 + 2 + 3 + 4) + 12
"""What C says that ``f(4)`` returns."""
LIBRARY = ("exit", "_exit", "_Exit", "quick_exit", "abort", "__assert_fail", "__assert_perror_fail", "__assert_rtn")
WORDS = ("_wassert", "__assert", "_assert", "assert", "assume", "nondet", "nondet_int")


@pytest.fixture(scope="module")
def host():
    with NativeHost() as shared:
        yield shared


@pytest.mark.slow
@pytest.mark.parametrize("head", ["int", "static int"])
@pytest.mark.parametrize("name", LIBRARY + WORDS)
def test_a_body_says_what_a_function_of_the_library_does(name: str, head: str, host, tmp_path: Path) -> None:
    text = PROGRAM.format(name=name, head=head)
    with NativeOracle(text, host=host) as native:
        assert native.run("f", [4]).return_value == VALUE
    file = tmp_path / "p.c"
    file.write_text(text, encoding="utf-8")
    program, plain = session.load(file), session.load(file, inline=False)
    for read in (program, plain):
        assert Interpreter(read.source.inlined, read["f"].graph()).run([4]).outcome.return_value == VALUE
    assert name in plain["f"].reached.names
    f = program["f"]
    whole = summarize_whole(f)
    assert isinstance(whole, CallSummary)
    evaluator = Evaluator(f.graph(), Interpreter(program.source.inlined, f.graph()), lambda _: None, whole)
    run = evaluator.run([4], [])
    assert (run.by, run.return_value) == ("summary", VALUE)


KEPT = {
    "reach_error": ("error-reached", 0),
    "__VERIFIER_error": ("error-reached", 0),
    "__VERIFIER_assert": ("error-reached", 0),
    "__VERIFIER_assume": ("assumption-failed", 0),
    "assume_abort_if_not": ("assumption-failed", 0),
    "__CPROVER_assume": ("assumption-failed", 0),
    "__CPROVER_assert": ("error-reached", 0),
    "klee_assume": ("assumption-failed", 0),
    "klee_silent_exit": ("aborted", 0),
    "klee_warning": ("ok", 0),
    "__VERIFIER_atomic_begin": ("ok", 0),
}


@pytest.mark.parametrize("name", KEPT)
def test_the_names_of_verification_keep_their_meaning(name: str, host, tmp_path: Path) -> None:
    """``seen``, which only the body changes, stays as it was."""
    text = f"int seen;\nvoid {name}(unsigned long x) {{ seen = 1; }}\nint f(int n) {{ {name}(n); return seen; }}\n"
    status, value = KEPT[name]
    file = tmp_path / "p.c"
    file.write_text(text, encoding="utf-8")
    program = session.load(file)
    f = program["f"]
    with NativeOracle(text, host=host) as native:
        outcomes = [native.run("f", [0]), Interpreter(program.source.inlined, f.graph()).run([0]).outcome]
    assert [o.status for o in outcomes] == [status, status]
    assert [o.return_value for o in outcomes if o.status == "ok"] == [value, value] * (status == "ok")
    assert name not in f.reached.names


def test_a_loop_that_begins_with_an_inlined_call(tmp_path):
    """A loop by ``goto`` has the place of the call, and is the caller's, not one of the function that is inlined."""
    file = tmp_path / "again.c"
    file.write_text(
        "static int f(int n)\n{\n    return n ^ 3;\n}\nint g(int k)\n{\n    int r = 0;\nagain:\n    r ^= f(0);\n    k--;\n"
        "    if (k > 0) goto again;\n    return r;\n}\n",
        encoding="utf-8",
    )
    (loop,) = session.load([file])["g"].loops
    assert (loop.id.line, loop.id.column, loop.id.inlined_from) == (9, 10, None)

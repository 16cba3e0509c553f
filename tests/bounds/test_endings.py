"""Counts of entries behind which the function goes on, where runs may end inside of the loop."""

from __future__ import annotations

import pytest

from loopless.bounds.induction.counts import Counted, induction_counts
from loopless.check.interpreter.run import Interpreter
from loopless.queries.program import load
from loopless.refusals import Refused
from loopless.terms import evaluate

HEAD = (
    "extern int __VERIFIER_nondet_int(void); extern void exit(int); extern void abort(void);\n"
    "#define in() __VERIFIER_nondet_int()\n"
)
COMPLETED = {
    "exit": "unsigned f(unsigned n) { unsigned i; for (i = 0; i < n; i++) if (in() == 3) exit(1); return i; }",
    "abort in the middle": "unsigned f(unsigned n) { unsigned i = 0; while (i < (n & 127)) { i++; if (in() == 3) abort(); i++; } return i; }",
    "two of its own": "unsigned f(unsigned n) { unsigned i, k = 7; for (i = 0; i < n; i++) { if (!k--) break; if (in() == 3) exit(1); } return i; }",
    "a cycle before the end": "unsigned f(unsigned n) { unsigned i, j; for (i = 0; i < n; i++)\n"
    "if (in() == 3) { for (j = 0; j < 4; j++) if (in() == 2) n = j; exit(1); } return i; }",
    "do": "unsigned f(unsigned n) { unsigned i = 0; do { if (in() == 3) exit(1); i++; } while (i < n); return i; }",
    "in a loop": "unsigned f(unsigned n) { unsigned i, k; for (k = 0; k < 3; k++) for (i = 0; i < n; i++) if (in() == 3) exit(1); return i; }",
    "no return but another loop": "unsigned f(unsigned n) { unsigned i; for (i = 0; i < n; i++) if (in() == 3) exit(1); for (;;) if (in() == 4) exit(2); }",
}
NOT = {
    "returns too": "unsigned f(unsigned n) { unsigned i; for (i = 0; i < n; i++) if (in() == 3) { if (in()) exit(1); return i; } return i; }",
    "exit or break": "unsigned f(unsigned n) { unsigned i; for (i = 0; i < n; i++) { if (in() == 3) exit(1); if (in() == 4) break; } return i; }",
    "serves on": "unsigned f(unsigned n) { unsigned i; for (;;) { for (i = 0; i < n; i++) if (in() == 3) break; if (in() == 4) exit(1); } }",
    "ends in any case": "unsigned f(unsigned n) { unsigned i; for (i = 0; i < n; i++) if (in() == 3) exit(1); exit(2); }",
}


def asked(tmp_path, body: str):
    file = tmp_path / "a.c"
    file.write_text(HEAD + body)
    program = load(file)
    graph = program["f"].graph()
    assert not isinstance(graph, Refused)
    inner = max(graph.loops, key=lambda loop: (loop.depth, -loop.line, -loop.column))  # not one on the way to the end
    found = induction_counts(graph)[inner.name]
    assert isinstance(found, Counted)
    return program, graph, inner, found


@pytest.mark.parametrize("name", COMPLETED)
def test_entries_behind_which_the_function_goes_on_take_exactly_that(tmp_path, name):
    program, graph, loop, found = asked(tmp_path, COMPLETED[name])
    assert found.exact is None
    assert found.completed is not None
    interpreter = Interpreter(program.source.inlined, graph)
    went_on = ended = 0
    for n in range(12):
        for bad in (None, 0, 2, 5):
            stream = [3 if k == bad else 0 for k in range(60)]
            entered: list[dict] = []

            def note(at, state, entered=entered) -> None:
                if at.name == loop.name:
                    entered.append(dict(state))

            run = interpreter.run([n], stream, max_steps=3_000, on_loop=note)
            counts = [evaluate(found.completed, state) for state in entered]
            truth = run.iterations.get(loop.name, 0)
            assert truth <= sum(counts)
            if run.status == "ok" or (name == "no return but another loop" and run.status != "aborted"):
                went_on += 1
                assert truth == sum(counts), (n, bad)
            else:
                ended += truth < sum(counts)
    assert went_on > 10
    assert ended > 2


@pytest.mark.parametrize("name", NOT)
def test_where_the_function_goes_on_from_within_nothing_is_said(tmp_path, name):
    *_, found = asked(tmp_path, NOT[name])
    assert found.exact is None
    assert found.completed is None

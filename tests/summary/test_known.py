"""What a case says of the values at its exit is true, of those too that nothing uses there."""

from __future__ import annotations

from loopless.summary import LoopSummary, summarize
from loopless.terms import evaluate, holds
from loops_in_c import paths

SOURCE = """int f(int n, int k, int s) {
    while (k < n) { s++; k++; if (s == 77) return s; }
    return s;
}
"""


def run(n: int, k: int, s: int) -> dict[str, int]:
    while k < n:
        s += 1
        k += 1
        if s == 77:
            break
    return {"n": n, "k": k, "s": s}


def test_a_variable_that_changes_unseen_is_not_said_to_keep_its_value() -> None:
    summary = summarize(paths(SOURCE, names=["s"]))
    assert isinstance(summary, LoopSummary)
    by_name = {var.name: var for var in (*summary.paths.state, *summary.paths.invariants)}
    seen = set()
    for start in (
        {"n": 5, "k": 9, "s": 1},
        {"n": 9, "k": 5, "s": 1},
        {"n": 90, "k": 5, "s": 70},
        {"n": 6, "k": 5, "s": 76},
    ):
        entry = {by_name[name]: value for name, value in start.items()}
        (case,) = [case for case in summary.cases if holds(case.when, entry)]
        after = run(**start)
        for var, term in summary.known(case).items():
            assert evaluate(term, entry) == after[var.name]
        seen.add((case.exit.kind, frozenset(var.name for var in summary.known(case))))
        said = summary(**start)
        assert all(after[name] == value for name, value in said.items())
        assert said["s"] == after["s"]
    assert ("return", frozenset({"s"})) in seen

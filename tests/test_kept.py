"""Every mismatch ever found stays here as a small C program with its native outcome."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeOracle
from loopless.check.outcome import Outcome
from loopless.flowgraph import build
from loopless.queries.evaluation.evaluate import Evaluator
from loopless.source import load
from loopless.summary import paths_of, summarize
from loopless_fuzz.generator.case import load_case

KEPT = sorted((Path(__file__).parent / "kept").glob("*.c"))

REFUSED = {"seed1497": "a constant expression overflows"}
"""Cases that are no longer answered wrongly, but with a reason for no answer."""


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.stem)
def test_a_kept_case_evaluates_to_its_native_outcome(file: Path) -> None:
    case = load_case(file)
    program = load([file])
    graph = build(program.inlined.functions[case.function], program.inlined)
    evaluator = Evaluator(graph, Interpreter(program.inlined, graph), lambda loop: summarize(paths_of(graph, loop)))
    found = evaluator.run(list(case.args), case.nondet)
    if file.stem in REFUSED:
        assert (found.status, REFUSED[file.stem] in found.reason) == ("unknown", True)
        return
    own = Outcome(found.status, found.return_value, found.outputs, found.globals)
    assert own.agrees_with(case.expected), (own, case.expected, case.note)


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.stem)
def test_the_native_outcome_of_a_kept_case_is_what_it_says(file: Path) -> None:
    case = load_case(file)
    with NativeOracle(file) as oracle:
        assert oracle.run(case.function, case.args, nondet=case.nondet).agrees_with(case.expected)

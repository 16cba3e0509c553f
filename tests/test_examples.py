"""The examples' expectations, which come from the papers and from reasoning, asked of the tool."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from example_expectations import EXAMPLES, Eval, LoopFact, Loops, example_files, expectations
from loopless.automaton import classify
from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph import build
from loopless.flowgraph.model import Flowgraph
from loopless.paths import LoopPaths
from loopless.queries.evaluation.evaluate import Evaluator
from loopless.source import load
from loopless.source.program import SourceProgram
from loopless.summary import CallSummary, Outcome, paths_of, summarize, summarize_function

FACTS = [fact for file in example_files() for fact in expectations(file)]


@functools.cache
def program(file: Path) -> SourceProgram:
    return load([file])


@functools.cache
def graph(file: Path, function: str) -> Flowgraph:
    module = program(file).inlined
    return build(module.functions[function], module)


@functools.cache
def outcomes(file: Path, function: str) -> dict[str, Outcome]:
    g = graph(file, function)
    return {loop.name: summarize(paths_of(g, loop)) for loop in g.loops}


@functools.cache
def evaluator(file: Path, function: str, *, whole: bool = False) -> Evaluator:
    g, known = graph(file, function), outcomes(file, function)
    found = summarize_function(g, known) if whole else None
    interpreter = Interpreter(program(file).inlined, g)
    return Evaluator(g, interpreter, lambda loop: known[loop.name], found if isinstance(found, CallSummary) else None)


def named(fact: object) -> str:
    file = fact.file.relative_to(EXAMPLES)
    rest = f"{fact.function}-{getattr(fact, 'kind', '')}{getattr(fact, 'args', getattr(fact, 'index', ''))}"
    return f"{file}-{rest}"


@pytest.mark.parametrize("fact", [f for f in FACTS if isinstance(f, Loops)], ids=named)
def test_the_number_of_loops(fact: Loops) -> None:
    assert len(graph(fact.file, fact.function).loops) == fact.count


@pytest.mark.parametrize("fact", [f for f in FACTS if isinstance(f, LoopFact)], ids=named)
def test_type_and_paths_of_a_loop(fact: LoopFact) -> None:
    g = graph(fact.file, fact.function)
    loop = sorted(g.loops, key=lambda found: (found.line, found.column))[fact.index - 1]
    paths = paths_of(g, loop)
    if fact.kind == "type":
        assert classify(paths).type == fact.value
    else:
        assert isinstance(paths, LoopPaths)
        assert len(paths.iterative) == fact.value


@pytest.mark.parametrize("whole", [False, True], ids=["by jumps", "by the summary of the function"])
@pytest.mark.parametrize("fact", [f for f in FACTS if isinstance(f, Eval)], ids=named)
def test_a_call_ends_as_expected(fact: Eval, whole: bool) -> None:
    found = evaluator(fact.file, fact.function, whole=whole).run(list(fact.args), fact.inputs)
    assert (found.return_value if found.status == "ok" else found.status) == fact.result

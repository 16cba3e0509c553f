"""The examples' expectations, which come from the papers and from reasoning, asked of the tool."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from example_expectations import EXAMPLES, Eval, LoopFact, Loops, example_files, expectations
from loopless.automaton import classify
from loopless.check.interpret import Interpreter
from loopless.flowgraph import build
from loopless.flowgraph.model import Flowgraph
from loopless.paths import LoopPaths, loop_paths
from loopless.queries.evaluation import Evaluator
from loopless.source import load
from loopless.source.program import Program
from loopless.summary import summarize

FACTS = [fact for file in example_files() for fact in expectations(file)]


@functools.cache
def program(file: Path) -> Program:
    return load([file])


@functools.cache
def graph(file: Path, function: str) -> Flowgraph:
    module = program(file).inlined
    return build(module.functions[function], module)


@functools.cache
def evaluator(file: Path, function: str) -> Evaluator:
    g = graph(file, function)
    return Evaluator(g, Interpreter(program(file).inlined, g), lambda loop: summarize(loop_paths(g, loop)))


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
    paths = loop_paths(g, loop)
    if fact.kind == "type":
        assert classify(paths).type == fact.value
    else:
        assert isinstance(paths, LoopPaths)
        assert len(paths.iterative) == fact.value


@pytest.mark.parametrize("fact", [f for f in FACTS if isinstance(f, Eval)], ids=named)
def test_a_call_ends_as_expected(fact: Eval) -> None:
    found = evaluator(fact.file, fact.function).run(list(fact.args), fact.inputs)
    assert (found.return_value if found.status == "ok" else found.status) == fact.result

"""What functions write to memory: the elements that summaries tell are those that native runs show."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from functions_that_write import (
    BRANCHES,
    CALLS,
    LOOPS,
    OWN,
    SENTINELS,
    STRAIGHT,
    STRUCTURES,
    Argument,
    element_of,
    of_calls,
    random_arguments,
    written,
)
from loopless.check.oracle.native import NativeOracle, NativeRun
from loopless.flowgraph.model import Flowgraph
from loopless.flowgraph.transfer import ALLOCATION
from loopless.queries import program as session
from loopless.queries.functions import summarize_whole
from loopless.summary import CallSummary, FunctionCase
from loopless.terms import Aggregate, EvaluationError, IntType, Var, evaluate, holds, walk_inside
from loopless.terms.contents import reader_behind


class Called:
    """One call by the summary: what it returns, and what its pointers point to behind it."""

    def __init__(self, g: Flowgraph, summary: CallSummary, arguments: Sequence[Argument]) -> None:
        self.graph = g
        self.memory: dict[str, bytes] = {}
        self.values: dict[Var, int] = {}
        for parameter, argument in zip(g.parameters, arguments, strict=True):
            assert parameter.var is not None
            if isinstance(argument, int):
                self.values[parameter.var] = argument
                continue
            assert parameter.object is not None
            self.values[parameter.var] = 0
            self.memory[g.objects[parameter.object].name] = written(argument, element_of(parameter.pointee))
        for described in summary.objects.values():
            if described.kind == "global" and described.content is not None:
                self.memory[described.name] = described.content
        self.values |= {
            one.var: 1 for one in summary.inputs if one.kind == "call" and ALLOCATION in one.var.name
        }  # it succeeds
        for var, info in g.variables.items():
            held = g.objects.get(info.object) if info.object is not None else None
            if (
                held is not None
                and held.kind in ("parameter", "global")
                and held.name in self.memory
                and not info.pointer_part
            ):
                self.values[var] = self.before(held.name, info.offset, var.type)
        cases = [region for region in summary.regions if holds(region.when, self.values, self.before)]
        assert len(cases) == 1, cases
        (self.case,) = cases
        assert isinstance(self.case, FunctionCase), self.case

    def before(self, array: str, offset: int, type: IntType) -> int:
        """What memory held at the entry."""
        size = (type.width or 0) // 8
        if array not in self.memory or not 0 <= offset <= len(self.memory[array]) - size:
            raise EvaluationError(f"{array} at {offset}")
        return type.wrap(int.from_bytes(self.memory[array][offset : offset + size], "little"))

    @property
    def result(self) -> int | None:
        """What is returned."""
        assert isinstance(self.case, FunctionCase)
        return None if self.case.result is None else evaluate(self.case.result, self.values, self.before)

    @property
    def outputs(self) -> tuple[tuple[int, ...], ...]:
        """What the pointers point to in the end."""
        g = self.graph
        given = ((g.objects[p.object].name, p.pointee) for p in g.parameters if p.object is not None)
        return tuple(self.held_behind(name, element_of(type)) for name, type in given)

    def held_behind(self, name: str, type: IntType) -> tuple[int, ...]:
        """The elements of an object in the end."""
        case, variables, objects = self.case, self.graph.variables, self.graph.objects
        assert isinstance(case, FunctionCase)
        assert case.contents is not None
        after = reader_behind(case.contents, self.values, self.before)
        places = ((var, variables[var]) for var in case.then)
        ends = {
            info.offset: evaluate(case.then[var], self.values, self.before)
            for var, info in places
            if info.object is not None and objects[info.object].name == name
        }
        offsets = range(0, len(self.memory[name]), (type.width or 0) // 8)
        return tuple(ends[at] if at in ends else after(name, at, type) for at in offsets)


def whole(source: str, folder: Path) -> tuple[Flowgraph, CallSummary]:
    """The summary of the function, which must not be refused."""
    file = folder / "a.c"
    file.write_text(source, encoding="utf-8")
    function = session.load(file)["f"]
    found = summarize_whole(function)
    assert isinstance(found, CallSummary), found
    g = function.graph()
    assert isinstance(g, Flowgraph)
    return g, found


def compare(source: str, folder: Path, *, runs: int = 40, length: int = 12) -> None:
    """Random calls: what they return, and all elements."""
    g, summary = whole(source, folder)
    assert summary.complete, summary.residual
    chance = random.Random(source)
    given = [random_arguments(g, chance, length) for _ in range(runs)]
    with NativeOracle(source) as oracle:
        found = oracle.run_many("f", [NativeRun(arguments) for arguments in given])
    for arguments, run in zip(given, found, strict=True):
        assert run.status == "ok", (run, arguments)
        call = Called(g, summary, arguments)
        assert call.result == run.return_value, arguments
        assert call.outputs == run.outputs, arguments
        for name, value in run.globals.items():
            assert name not in call.memory or call.held_behind(name, IntType(32)) == (value,)


@pytest.mark.parametrize("name", [*STRAIGHT, *BRANCHES])
def test_elements_are_those_of_native_runs(name: str, tmp_path: Path) -> None:
    compare((STRAIGHT | BRANCHES)[name], tmp_path)


@pytest.mark.parametrize("name", LOOPS)
def test_elements_behind_loops_are_those_of_native_runs(name: str, tmp_path: Path) -> None:
    compare(LOOPS[name], tmp_path)


@pytest.mark.parametrize("name", STRUCTURES)
def test_members_of_own_structures_are_variables_beside_arrays(name: str, tmp_path: Path) -> None:
    compare(STRUCTURES[name], tmp_path)


@pytest.mark.parametrize("name", SENTINELS)
def test_a_search_ends_where_an_element_was_written(name: str, tmp_path: Path) -> None:
    compare(SENTINELS[name], tmp_path)


def test_a_search_looks_no_further_than_to_what_was_written(tmp_path: Path) -> None:
    """What lies behind it is not known, and not asked for."""
    _, summary = whole(SENTINELS["behind what was filled"], tmp_path)
    assert not any(isinstance(part, Aggregate) for case in summary.cases for part in walk_inside(case.result))


@pytest.mark.parametrize("name", OWN)
def test_elements_of_arrays_of_varying_size_are_followed(name: str, tmp_path: Path) -> None:
    compare(OWN[name], tmp_path)


@pytest.mark.parametrize("name", CALLS)
def test_elements_behind_calls_are_those_of_native_runs(name: str, tmp_path: Path) -> None:
    compare(of_calls(name), tmp_path)

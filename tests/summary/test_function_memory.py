"""What functions write to memory: the elements that summaries tell are those that native runs show."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
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
from loopless.refusals import Refused
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


def _fill(at: dict[str, bytearray], place: dict[str, int], k: int) -> int:
    for i in range(k):
        at["p"][place["p"] + i] = i
    at["p"][place["p"]] = 9
    return at["p"][place["p"] + 2]


def _swap(at: dict[str, bytearray], place: dict[str, int], k: int) -> int:
    at["q"][place["q"]] = k
    at["p"][place["p"]] = 2
    return 2


def _moved(at: dict[str, bytearray], place: dict[str, int], k: int) -> int:
    place["p"] += 1
    at["p"][place["p"]] = 4
    at["p"][place["p"] - 1] = k
    return at["p"][place["p"]]


def _both(at: dict[str, bytearray], place: dict[str, int], k: int) -> int:
    at["p"][place["p"] + k] = 1
    at["q"][place["q"] + 1] = at["p"][place["p"] + 1]
    return at["q"][place["q"] + k]


def _by_another_name(at: dict[str, bytearray], place: dict[str, int], k: int) -> int:
    for i in range(k):
        at["p"][place["p"] + i] = (at["p"][place["p"] + i] + 1) % 256
    return at["p"][place["p"] + 1]


def _appended(at: dict[str, bytearray], place: dict[str, int], k: int) -> int:
    at["p"][place["p"] + k] = 7
    at["p"][place["p"] + k + 1] = at["q"][place["q"] + k]
    return k + 2


@pytest.mark.parametrize(
    ("body", "model"),
    [
        ("for (int i = 0; i < k; i++) s->p[i] = i; s->p[0] = 9; return s->p[2];", _fill),
        ("unsigned char *t = s->p; s->p = s->q; s->q = t; s->p[0] = k; s->q[0] = 2; return t[0];", _swap),
        ("s->p++; *s->p = 4; s->p[-1] = k; return *s->p;", _moved),
        ("s->p[k] = 1; s->q[1] = s->p[1]; return s->q[k];", _both),
        ("unsigned char *t = s->p; for (int i = 0; i < k; i++) t[i] = s->p[i] + 1; return t[1];", _by_another_name),
        ("s->n = k; s->p[s->n++] = 7; s->p[s->n++] = s->q[k]; return s->n;", _appended),
    ],
)
def test_what_lies_behind_pointers_in_memory(
    body: str, model: Callable[[dict[str, bytearray], dict[str, int], int], int], tmp_path: Path
) -> None:
    file = tmp_path / "a.c"
    head = "struct S { unsigned char *p; int n; unsigned char *q; };\n"
    file.write_text(f"{head}int f(struct S *s, int k) {{ if (k < 0 || k > 5) return -1; {body} }}\n")
    function = session.load([file])["f"]
    summary = summarize_whole(function)
    assert isinstance(summary, CallSummary)
    assert summary.complete and summary.exact
    assert "s and what s->p points to do not overlap" in summary.assumptions
    graph = function.graph()
    assert isinstance(graph, Flowgraph)
    rng = random.Random(4)
    for _ in range(60):
        at = {name: bytearray(rng.randrange(256) for _ in range(16)) for name in "pq"}
        before = {name: bytes(held) for name, held in at.items()}
        place, k = {"p": rng.randrange(1, 5), "q": rng.randrange(1, 5)}, rng.randrange(6)
        known = {"s->p": place["p"], "s->q": place["q"], "s->p.object": 101, "s->q.object": 102, "k": k}
        values = {var: known.get(var.name, 0) for var in graph.variables}
        result = model(at, place, k)

        def read(array: str, offset: int, type: IntType, before: dict[str, bytes] = before) -> int:
            return type.wrap(before[array[-1]][offset])

        (case,) = (one for one in summary.cases if holds(one.when, values, read))
        assert case.result is not None
        assert evaluate(case.result, values, read) == result
        after = reader_behind(case.contents or {}, values, read)
        for name, held in at.items():
            assert bytes(after(f"s->{name}", i, IntType(8, signed=False)) for i in range(16)) == held
        moved = {var.name: evaluate(term, values, read) for var, term in case.then.items()}
        if model is not _swap:
            assert {name: moved.get(f"s->{name}", known[f"s->{name}"]) for name in "pq"} == place
        else:
            assert (moved["s->p"], moved["s->q"]) == (place["q"], place["p"])
            assert (moved["s->p.object"], moved["s->q.object"]) == (102, 101)


@pytest.mark.parametrize(
    ("body", "granted"),
    [
        ("s->p[0] = 1; *s->r[0] = 2; return s->p[0];", "what s->p points to and what *s->r points to do not overlap"),
        ("s->p[0] = 1; a[0] = 2; return s->p[0];", "a and what s->p points to do not overlap"),
        ("s->p[0] = 1; o->p[0] = 2; return s->p[0];", "what o->p points to and what s->p points to do not overlap"),
        ("s->p[k & 3] = 1; s->n = other(k); return 1;", "held and what s->p points to do not overlap"),
        (
            "*s->p = 0; s->n = (int)strlen((char *)o->p); return 1;",
            "what o->p points to and what s->p points to do not overlap",
        ),
    ],
)
def test_what_keeps_pointers_in_memory_apart_is_granted(body: str, granted: str, tmp_path: Path) -> None:
    summary = _of_pointers(body, tmp_path)
    assert isinstance(summary, CallSummary)
    assert summary.complete
    assert [str(case.result) for case in summary.cases] == ["1"]
    assert granted in (*summary.assumptions, *(text for case in summary.cases for text in case.assumptions))


@pytest.mark.parametrize(
    "body",
    [
        "unsigned char b[4] = {0}; s->p[k & 3] = 1; s->p = b; s->p[k & 3] = 5; return b[k & 3];",
        "s->p[0] = 1; g(s); return s->p[0];",
        "unsigned char *t = s->r[k]; t[0] = 1; return s->p[0] + *s->r[0];",
    ],
)
def test_pointers_that_may_lead_anywhere_are_not_told_apart(body: str, tmp_path: Path) -> None:
    summary = _of_pointers(body, tmp_path)
    returned = summary.cases if isinstance(summary, CallSummary) else ()
    assert not [case for case in returned if case.kind == "return"]


def _of_pointers(body: str, folder: Path) -> CallSummary | Refused:
    file = folder / "a.c"
    head = (
        "struct S { unsigned char *p; int n; unsigned char **r; }; void g(struct S *); unsigned long strlen(const char *);\n"
        "unsigned char held[8]; static int other(int i, ...) { return held[i & 7]; }\n"
    )
    file.write_text(f"{head}int f(struct S *s, struct S *o, unsigned char *a, int k) {{ {body} }}\n")
    return summarize_whole(session.load([file])["f"])

"""What functions write to memory: the elements that summaries tell are those that native runs show."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from loopless.check.oracle.native import NativeOracle
from loopless.flowgraph.model import Flowgraph
from loopless.queries import program as session
from loopless.queries.functions import summarize_whole
from loopless.summary import CallSummary, FunctionCase
from loopless.terms import EvaluationError, IntType, Var, evaluate, holds
from loopless.terms.contents import reader_behind

Argument = int | list[int]

STRAIGHT = {
    "one element": "void f(int *a, int n) { a[n & 7] = n; }",
    "read again": "int f(int *a, int n) { int i = n & 7; a[i] = 5; a[i + 1] = a[i]; return a[2]; }",
    "the later write counts": "int f(int *a, int i, int j) { i &= 7; j &= 7; a[i] = 1; a[j] = 2; return a[i] * 10 + a[j]; }",
    "in place": "void f(int *a, int n) { int i = n & 7; a[i] = a[i] / 2 + 7; a[i] = a[i] - n % 100; }",
    "swap": "void f(short *a, int i, int j) { i &= 7; j &= 7; short h = a[i]; a[i] = a[j]; a[j] = h; }",
    "two arrays": "int f(int *a, int *b, int i) { i &= 3; a[i] = b[i + 1]; b[i] = a[i + 1]; return a[i] == b[i]; }",
    "other types": "void f(unsigned char *a, long long *b, int i) { a[i & 7] = i; b[i & 7] = a[3] - i; }",
    "a byte of an int": "int f(int *a, int i) { a[i & 3] = i; return ((unsigned char *)a)[17 + (i & 3)]; }",
    "own array": "int f(int n) { int l[4]; l[n & 3] = n; l[(n + 1) & 3] = 7; return l[n & 3]; }",
    "an array with first values": "int f(int n) { int l[5] = {3, 1, 4, 1, 5}; l[n & 3] = 9; return l[0] + 100 * l[(n + 1) & 3]; }",
    "a structure": "struct s { int x; int y[9]; }; int f(int *a, int i) { struct s *s = (struct s *)a; i &= 7; s->y[i] = s->x; s->x = s->y[3]; return s->x; }",
    "filled": "#include <string.h>\nvoid f(int *a, unsigned n) { memset(a, 0, (n & 7) * sizeof *a); a[2] = a[1] + 1; }",
    "filled with bytes": "#include <string.h>\nvoid f(char *a, unsigned n) { memset(a + 1, n, n & 7); }",
    "filled with ones": "#include <string.h>\nint f(short *a, unsigned n) { memset(a, -1, 8); return a[n & 7]; }",
    "copied": "#include <string.h>\nvoid f(int *a, int *b, unsigned n) { b[2] = 5; memcpy(a, b, (n & 7) * sizeof *a); b[1] = 3; }",
    "moved": "#include <string.h>\nvoid f(int *a, unsigned n) { a[1] = 5; memmove(a + 1, a, (n & 7) * sizeof *a); }",
    "moved down": "#include <string.h>\nvoid f(char *a, unsigned n) { a[n & 7] = 0; memmove(a, a + 2, n % 7); }",
}

BRANCHES = {
    "guarded": "void f(int *a, int n) { if (n > 3) a[n & 7] = 1; a[0] = 2; }",
    "the same place": "int f(int *a, int n) { if (n > 3) a[n & 7] = 1; else a[n & 7] = n; return a[1]; }",
    "other places": "void f(int *a, int n) { if (n > 3) a[n & 7] = a[2]; else if (n < -5) { a[1] = n; a[n & 1] = 3; } else a[4] = a[5]; a[6]++; }",
    "four guards": "void f(int *a, int x, int y) { if (x & 1) a[0] = 1; if (x & 2) a[y & 1] = 2; if (x & 4) a[2] = a[0]; if (x & 8) a[3] = a[1]; }",
    "one of two": "void f(int *a, int *b, int n) { int *p = n > 5 ? a : b; p[n & 7] = 1; p[0] += p[n & 7]; }",
}  # fmt: skip

TEN = "if (n > 10) n = 10; "

LOOPS = {
    "fill and read": f"int f(int *a, int n) {{ {TEN} for (int i = 0; i < n; i++) a[i] = 3 * i; return a[5]; }}",
    "halve": f"void f(int *a, int n) {{ {TEN} for (int i = 0; i < n; i++) a[i] /= 2; a[0]++; }}",
    "copied and read": f"int f(int *a, int *b, int n) {{ {TEN} for (int i = 0; i < n; i++) b[i] = a[i]; return b[3] - b[4] / 2; }}",
    "two loops": f"void f(int *a, int *b, int n) {{ {TEN} for (int i = 0; i < n; i++) b[i] = a[i] / 3;"
    " for (int i = 0; i < n; i++) a[i] = b[n - 1 - i]; }",
    "sum of what was filled": f"int f(short *a, int n) {{ {TEN} for (int i = 0; i < n; i++) a[i] = 3;"
    " int s = 0; for (int i = 0; i < 12; i++) s += a[i]; return s; }",
    "search in what was filled": f"int f(int *a, int n) {{ {TEN} for (int i = 0; i < n; i++) a[i] = i * i;"
    " int i = 0; while (i < 12 && a[i] < 20) i++; return i; }",
    "own array": f"int f(unsigned n) {{ int b[10]; {TEN} for (unsigned i = 0; i < n; i++) b[i] = 2 * i;"
    " int s = 0; for (unsigned i = 0; i < n; i++) s += b[i]; return s; }",
    "a loop behind a write": f"int f(int *a, int n, int k) {{ {TEN} a[k & 7] = 100; int s = 0; for (int i = 0; i < n; i++) if (a[i] == 100) s++; return s; }}",
    "one of two loops": f"void f(int *a, int n, int k) {{ {TEN} if (k > 0) {{ for (int i = 0; i < n; i++) a[i] = k; }}"
    " else { for (int i = 1; i < n; i += 2) a[i] = 0; } a[1] = k; }",
    "filled before": f"#include <string.h>\nint f(int *a, unsigned n) {{ {TEN} memset(a, 0, n * sizeof *a); for (unsigned i = 0; i < n; i++) a[i] += i; return a[1]; }}",
    "copied before": f"#include <string.h>\nvoid f(int *a, int *b, unsigned n) {{ {TEN} memcpy(a, b, n * sizeof *a); for (unsigned i = 0; i < n; i++) b[i] = a[n - 1 - i]; }}",
    "prefix sums": f"void f(short *a, long *b, int n) {{ {TEN} long s = 0; for (int i = 0; i < n; i++) {{ s += a[i]; b[i] = s; }} b[11] = b[3]; }}",
    "first values": "int f(int k) { int t[8] = {1, 2, 4, 8, 16, 32, 64, 128}; t[k & 7] = 0; int s = 0; for (int i = 0; i < 8; i++) s += t[i]; return s; }",
    "early return": f"int f(int *a, int n) {{ {TEN} for (int i = 0; i < n; i++) {{ if (a[i] == 0) return i; a[i] = 1; }} a[11] = 5; return -1; }}",
}  # fmt: skip


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
        for var, info in g.variables.items():
            held = g.objects.get(info.object) if info.object is not None else None
            if held is not None and held.kind == "parameter" and held.name in self.memory and not info.pointer_part:
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
        case, g = self.case, self.graph
        assert isinstance(case, FunctionCase)
        assert case.contents is not None
        after = reader_behind(case.contents, self.values, self.before)
        found = []
        for parameter in g.parameters:
            if parameter.object is None or parameter.pointee is None:
                continue
            name, type = g.objects[parameter.object].name, parameter.pointee
            size = (type.width or 0) // 8
            ends = {
                info.offset: evaluate(case.then[var], self.values, self.before)
                for var, info in g.variables.items()
                if info.object == parameter.object and var in case.then
            }
            places = range(0, len(self.memory[name]), size)
            found.append(tuple(ends[at] if at in ends else after(name, at, type) for at in places))
        return tuple(found)


def element_of(type: IntType | None) -> IntType:
    return type if type is not None else IntType(32)


def written(values: Sequence[int], type: IntType) -> bytes:
    size = (type.width or 0) // 8
    return b"".join((value % (1 << 8 * size)).to_bytes(size, "little") for value in values)


def random_arguments(g: Flowgraph, chance: random.Random, length: int = 12) -> list[Argument]:
    """Small integers, and arrays of integers of any size."""
    found: list[Argument] = []
    for parameter in g.parameters:
        if parameter.object is None:
            assert parameter.type is not None
            found.append(parameter.type.wrap(chance.choice([chance.randint(-9, 9), chance.getrandbits(31)])))
        else:
            type = element_of(parameter.pointee)
            found.append(
                [type.wrap(chance.choice([chance.randint(-3, 3), chance.getrandbits(29)])) for _ in range(length)]
            )
    return found


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


def compare(source: str, folder: Path, *, runs: int = 60, length: int = 12) -> None:
    """Random calls: what they return, and all elements."""
    g, summary = whole(source, folder)
    assert summary.complete, summary.residual
    with NativeOracle(source) as oracle:
        chance = random.Random(source)
        for _ in range(runs):
            arguments = random_arguments(g, chance, length)
            run = oracle.run("f", arguments)
            assert run.status == "ok", (run, arguments)
            call = Called(g, summary, arguments)
            assert call.result == run.return_value, arguments
            assert call.outputs == run.outputs, arguments


@pytest.mark.parametrize("name", [*STRAIGHT, *BRANCHES])
def test_elements_are_those_of_native_runs(name: str, tmp_path: Path) -> None:
    compare((STRAIGHT | BRANCHES)[name], tmp_path)


@pytest.mark.parametrize("name", LOOPS)
def test_elements_behind_loops_are_those_of_native_runs(name: str, tmp_path: Path) -> None:
    compare(LOOPS[name], tmp_path)

"""Many native runs in one process, as ``bench/reach_random.py`` makes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from native_runs import Runs, many

from loopless.check.oracle.signature import CType, PointerType, Signature
from loopless.source.targets import SourceTarget

INT = CType("int", 32, True)

PROGRAM = """int seen = 0;
int f(int n, int *p)
{
    seen += 1;
    while (n < 0) {
        n -= seen == 1;
        n += seen == 1;
    }
    int last = p[n & 7];
    last = 100 / last;
    if (seen != 1) {
        seen = 5;
    }
    if (last == 33) {
        seen = 7;
    }
    return n;
}
"""


def runs(tmp_path: Path, inputs: list[tuple[object, ...]], line: int, when: str = "") -> Runs | None:
    file = tmp_path / "program.c"
    file.write_text(PROGRAM, encoding="utf-8")
    found = many(file, SourceTarget(str(file), line, when=when), Signature((INT, PointerType(INT)), INT), inputs, 20.0)
    assert [one.name for one in tmp_path.iterdir()] == ["program.c"]  # nothing is left behind
    return found


@pytest.mark.parametrize(
    ("inputs", "line", "when", "expected"),
    [
        pytest.param([(0, (1,)), (0, (9,)), (0, (3,)), (0, (3,))], 15, "", Runs(2, 2), id="reached by the third"),
        pytest.param([(0, (1,)), (0, (3,))], 15, "n == 1", Runs(None, 2), id="the condition is never so"),
        pytest.param([(0, (1,))] * 3, 12, "", Runs(None, 3), id="globals begin anew"),
        pytest.param([(-1, (1,)), (0, (1,))], 15, "", Runs(None, 1), id="a run without end is broken off"),
        pytest.param([(0, (0,)), (0, (3,))], 15, "", Runs(1, 0), id="a division by zero is broken off"),
        pytest.param([(2, (3, 3)), (0, (1,))], 15, "", Runs(None, 1), id="behind the end of an array"),
        pytest.param([(0, (3,))], 14, "", Runs(0, 0), id="where an if begins"),
    ],
)  # fmt: skip
def test_what_runs_meet(tmp_path, inputs, line, when, expected):
    assert runs(tmp_path, inputs, line, when) == expected


def test_no_statement_begins_there(tmp_path):
    assert runs(tmp_path, [(0, (1,))], 2) is None

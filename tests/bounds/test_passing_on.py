"""What a method found stays when a later one bounds another loop."""

from __future__ import annotations

from pathlib import Path

from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.terms import evaluate

TWO_LOOPS = """unsigned f(unsigned char i, unsigned char n, unsigned x, unsigned y) {
    unsigned c = 0;
    while (x) {
        unsigned z = y + c;
        while (z > 1) { if (z % 2) z = 3 * z + 1; else z = z / 2; c++; }
        if (z == 1) x = x & (x - 1); else x = c;
    }
    while (i < n) { i++; n = n * 3 ^ i; }
    return i;
}
"""


def iterations(i: int, n: int) -> int:
    """Of the last loop, by its meaning in C."""
    count = 0
    while i < n:
        i = i + 1 & 255
        n = (n * 3 ^ i) & 255
        count += 1
    return count


def test_ranks_stay_when_a_summary_bounds_another_loop(tmp_path: Path) -> None:
    """A rank bounds the last loop, and a summary bounds the first one behind it, where it is entered with y == 0."""
    (tmp_path / "a.c").write_text(TWO_LOOPS)
    settings = Settings(workers=1, loop_timeout_s=20.0)
    (found,) = answer_bounds([load([tmp_path / "a.c"], settings)["f"]], "all", settings)
    last = found.loops[-1]
    assert last.upper is not None
    assert not last.call.has_gap
    for i in range(0, 256, 5):
        for n in range(0, 256, 7):
            values = {var: {"i": i, "n": n, "x": 0, "y": 0}[var.name] for var in last.upper.variables}
            assert evaluate(last.upper, values) >= iterations(i, n)

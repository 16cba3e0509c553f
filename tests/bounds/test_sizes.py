"""Size bounds: at every visit of the header and at the exit the interpreter's values lie between them."""

from __future__ import annotations

import pytest

from loopless.bounds.sizes import Size, Sizes, sizes
from loopless.check.alone import LoopAlone
from loopless.check.states import constants, draw_states
from loopless.paths import LoopPaths
from loopless.terms import Term, Var, evaluate, holds
from loops_in_c import graph, paths
from ranked import STEPS, ranked

LOOPS = {
    "down": "int f(int x) { while (x > 0) x -= 3; return x; }",
    "two go up": "int f(int x, int n) { int y = 0; while (x < n) { x += 2; y += 5; } return x + y; }",
    "halves": "unsigned f(unsigned x) { unsigned k = 0; while (x > 0) { x /= 2; k++; } return k + x; }",
    "a loop in a loop's clothes":
        "int f(int i, int j, int n, int m) { while (i < n) { if (j < m) j++; else { j = 0; i++; } } return j + i; }",
    "set anew": "int f(int x, int y, int n) { while (x > 0) { x--; if (y > 10) y = n; else y++; } return y + x; }",
    "phases": "int f(int x, int y) { while (x > 0) { x += y; y--; } return x + y; }",
    "8 bits": "signed char f(signed char x, signed char n) { while (x < n) x += 3; return x; }",
    "one is the other's": "int f(int x, int y, int z) { while (x > 0) { x--; z = y; y = x; } return x + y + z; }",
}


@pytest.mark.parametrize("name", LOOPS)
def test_values_lie_between_the_bounds(name):
    g = graph(LOOPS[name])
    told_of, found = ranked(LOOPS[name])
    alone = LoopAlone(g, g.loops[0])
    numbers = constants([part for p in told_of.all for part in (p.condition, *p.update.values())])
    told = [sizes(told_of, ranking) for ranking in found]
    compared = long = 0
    for state in draw_states(alone.entry, numbers, 11, 300):
        truth = alone.run(state, max_steps=STEPS)
        for bounds in told:
            if not holds(bounds.valid_when, state):
                continue
            assert set(bounds.header) == set(told_of.state)
            if truth.status == "ok":
                compared += 1
                for var, size in bounds.behind.items():
                    assert _inside(truth.values[var], size, state), (state, var, truth, size)
            long += truth.iterations > 3
            for visited in _visits(told_of, state):
                for var, size in bounds.header.items():
                    assert _inside(visited[var], size, state), (state, visited, var, size)
    assert compared > 50 and long > 10


def _inside(value: int, size: Size, state: dict[Var, int]) -> bool:
    low = evaluate(size.lower, state) if size.lower is not None else value
    high = evaluate(size.upper, state) if size.upper is not None else value
    return low <= value <= high


def _visits(found: LoopPaths, state: dict[Var, int]):
    """The states at the header, as the paths have them, for a while."""
    for _ in range(40):
        yield state
        path = next((p for p in found.iterative if holds(p.condition, state)), None)
        if path is None:
            return
        state = state | {v: evaluate(t, state) for v, t in path.update.items()}


def sized(source: str) -> tuple[LoopPaths, Sizes]:
    told_of, found = ranked(source)
    return told_of, sizes(told_of, found[0])


def at(term: Term | None, found: LoopPaths, **values: int) -> int:
    assert term is not None
    return evaluate(term, {v: values[v.name] for v in (*found.state, *found.invariants)})


def test_what_is_left_behind_is_tight():
    told_of, found = sized(LOOPS["down"])
    (size,) = found.behind.values()
    assert [at(size.lower, told_of, x=x) for x in (-7, 0, 1, 2, 9)] == [-7, 0, -2, -1, 0]
    assert [at(size.upper, told_of, x=x) for x in (-7, 0, 1, 2, 9)] == [-7, 0, 0, 0, 0]


def test_sums_are_bounded_by_how_often():
    told_of, found = sized(LOOPS["two go up"])
    y = next(v for v in told_of.state if v.name == "y")
    assert at(found.behind[y].upper, told_of, x=0, y=1, n=10) == 1 + 5 * 5


def test_without_a_bound_on_iterations_conditions_still_bound():
    found = paths("int f(int x, int y) { while (x < 100 && y != 5) { if (x > y) x -= 3; else x += 2; } return x; }")
    assert isinstance(found, LoopPaths)
    x = next(v for v in found.state if v.name == "x")
    upper = sizes(found).header[x].upper
    assert upper is not None
    # From at most 99 it goes up by 2 at most.
    assert evaluate(upper, dict.fromkeys(found.invariants, 1) | {x: 0}) == 101

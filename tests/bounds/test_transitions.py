"""Linear transitions, and what is found on them, against the states of runs that are followed one by one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest

from loopless.bounds.invariants.of_loops import candidates, is_inductive, kept
from loopless.bounds.iteration.linearize import Linearizer, range_under
from loopless.bounds.ranking.multiphase import geometric, nested
from loopless.bounds.ranking.size_bounds import TakenAtMost, sizes_in_loop
from loopless.bounds.ranking.transition_system import difference, system, with_not_followed
from loopless.logic.farkas import Farkas
from loopless.paths import LoopPaths, Path
from loopless.ranking.templates import Template, bound_above
from loopless.terms import (
    TRUE,
    Condition,
    IntType,
    Term,
    Var,
    add,
    between,
    bit_and,
    conjunction,
    const,
    evaluate,
    floor_div,
    greater_equal,
    holds,
    less_equal,
    maximum,
    minimum,
    mod,
    mul,
    scale,
    sub,
    trunc_div,
    trunc_rem,
    wrap,
)
from loops_in_c import paths

I32 = IntType(32)
X, Y, N = Var("x", I32), Var("y", I32), Var("n", I32)
State = dict[Var, int]


def loop(source: str) -> LoopPaths:
    found = paths(source)
    assert isinstance(found, LoopPaths), found
    return found


def visited(found: LoopPaths, start: State, limit: int = 300) -> Iterator[tuple[State, Path]]:
    """The states at the header from which an iteration is taken, with its path."""
    state = dict(start)
    for _ in range(limit):
        taken = [path for path in found.iterative if holds(path.condition, state)]
        if not taken:
            return
        (path,) = taken
        yield state, path
        state = state | {var: evaluate(term, state) for var, term in path.update.items()}


def starts(found: LoopPaths, values: range) -> Iterator[State]:
    names = (*found.state, *found.invariants)
    for row in product(values, repeat=len(names)):
        yield {var: var.type.wrap(value) for var, value in zip(names, row, strict=True)}


# -- linear terms ------------------------------------------------------------------------------------------------------


def drawn(chosen: random.Random, depth: int) -> Term:
    if depth == 0:
        return chosen.choice((X, Y, const(chosen.randint(-5, 5))))
    a, b = drawn(chosen, depth - 1), drawn(chosen, depth - 1)
    c = const(chosen.randint(1, 7))
    made = (
        lambda: add(a, b), lambda: sub(a, b), lambda: mul(a, b), lambda: floor_div(a, c), lambda: mod(a, c),
        lambda: trunc_div(a, c), lambda: trunc_rem(a, c), lambda: minimum(a, b), lambda: maximum(a, b),
        lambda: bit_and(a, b), lambda: wrap(a, IntType(4)), lambda: wrap(a, IntType(8, signed=False)),
    )  # fmt: skip
    return chosen.choice(made)()


def test_the_facts_about_names_hold_of_what_they_stand_for() -> None:
    rows = 0
    inside = conjunction((between(-6, X, 6), between(0, Y, 9)))
    points = [{X: x, Y: y} for x, y in product(range(-6, 7), range(10))]
    for seed in range(150):
        term = drawn(random.Random(seed), 3)
        linearizer = Linearizer(inside, "p", frozenset((X, Y)))
        affine = linearizer.term(term)
        for point in points:
            values = dict(point)
            for stands_for, name in linearizer.names.items():
                if isinstance(name, Var):
                    values[name] = evaluate(stands_for, point)
            assert evaluate(affine, values) == evaluate(term, point), (seed, str(term))
            for row in (*linearizer.rows, *linearizer.wide):
                assert evaluate(row, values) >= 0, (seed, str(term), str(row), point)
        rows += len(linearizer.rows)
    assert rows > 200


def test_what_no_iteration_changes_has_one_name_for_all() -> None:
    linearizer = Linearizer(TRUE, "p", frozenset((X,)))
    fixed, moving = linearizer.term(mul(Y, N)), linearizer.term(mul(X, N))
    assert set(linearizer.fixed.values()) == {mul(Y, N)}
    assert fixed in linearizer.fixed
    assert moving not in linearizer.fixed


def test_a_side_that_is_excluded_moves_the_limit_by_one() -> None:
    linearizer = Linearizer(TRUE, "p", frozenset((X,)))
    linearizer.row(sub(N, X))
    linearizer.excluded(sub(X, N))
    assert linearizer.rows == [sub(sub(N, X), const(1))]


def test_ranges_under_a_condition_are_those_of_enumeration() -> None:
    for seed in range(40):
        chosen = random.Random(seed)
        low, high = sorted((chosen.randint(-9, 9), chosen.randint(-9, 9)))
        where = conjunction((between(low, X, high), less_equal(Y, X), greater_equal(Y, const(-12))))
        term = add(scale(X, chosen.choice((-3, -1, 1, 2))), scale(Y, chosen.choice((1, -1, 2))))
        values = [evaluate(term, {X: x, Y: y}) for x in range(low, high + 1) for y in range(-12, x + 1)]
        assert range_under(term, where) == (min(values), max(values))


# -- transitions -------------------------------------------------------------------------------------------------------

LOOPS = {
    "one path": "int f(int x, int n) { while (x < n) x += 3; return x; }",
    "choices": "int f(int x, int y) { while (x > 0 && y < 9) { if (x > y) x -= 2; else y++; } return x; }",
    "not equal": "int f(int x, int n) { if (x < n) while (x != n && x < 30) x++; return x; }",
    "alternatives": "int f(int x, int y) { while (x > 0 || y > 0) { x -= x > 0 ? 1 : 0; y -= y > 3 ? 3 : 1; } return x; }",
    "quotients": "int f(int x, int y) { while (x > 3) { x = x / 2; y += x % 3; } return y; }",
}


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("name", LOOPS)
def test_transitions_cover_their_paths_and_their_rows_hold(name: str, split: bool) -> None:
    found = loop(LOOPS[name])
    made = system(found, TRUE, split=split)
    assert split or len(made.transitions) <= len(found.iterative)
    compared = exact = 0
    for start in starts(found, range(-3, 13, 3)):
        for state, path in visited(found, start, 20):
            taken = [t for t in made.transitions if holds(t.condition, state)]
            assert taken
            assert all(t.path is path for t in taken)
            for transition in taken:
                for row in (*transition.rows, *transition.wide):
                    if row.variables <= state.keys():
                        assert evaluate(row, state) >= 0, (state, str(row))
                        compared += 1
                for var, term in transition.after.items():
                    if term.variables <= state.keys():
                        assert evaluate(term, state) == evaluate(path.update[var], state)
                        assert (
                            evaluate(difference(transition, var), state)
                            == evaluate(path.update[var], state) - state[var]
                        )
                        exact += 1
    assert compared > 100
    # A quotient has a name, and so has a choice that is not split.
    assert exact > 30 or name == "quotients" or (name == "alternatives" and not split)


def test_what_nothing_is_known_of_may_set_every_variable_to_anything() -> None:
    found = loop("int *q; int f(int x, int n) { while (x < n) { if (x == 4) *q = 3.5f * x; x++; } return x; }")
    untold = [path for path in found.exits if path.exit is not None and path.exit.kind in ("unknown", "unsupported")]
    more = with_not_followed(found)
    assert len(more.iterative) == len(found.iterative) + len(untold)
    for path in more.iterative[len(found.iterative) :]:
        assert set(path.update) == set(found.state)
        assert {unknown.var for unknown in path.unknowns} >= set(path.update.values())


# -- bounds on terms ---------------------------------------------------------------------------------------------------


def test_a_linear_bound_is_above_on_all_points_and_as_small_as_can_be() -> None:
    """2x + y for 0 <= x <= n and 0 <= y <= 3 is at most 2n + 3, which is reached."""
    rows = (X, sub(N, X), Y, sub(const(3), Y))
    found = bound_above(Farkas(), rows, add(scale(X, 2), Y), (N,))
    assert found is not None
    for n in range(9):
        assert evaluate(found.floor, {N: n}) == 2 * n + 3
    assert bound_above(Farkas(), (X,), X, (N,)) is None
    constant = bound_above(Farkas(), (sub(const(7), scale(X, 2)),), X, (N,))  # x <= 7/2
    assert constant is not None
    assert (constant.term, constant.divisor, constant.floor) == (const(7), 2, const(3))


def test_a_template_is_the_function_of_its_solution() -> None:
    template = Template("f", (X, Y))
    half, third = Fraction(1, 2), Fraction(1, 3)
    found = template.found({"f0+": Fraction(4), "f1+": half, "f2-": third})
    assert (found.term, found.divisor) == (add(scale(X, 3), scale(Y, -2), const(24)), 6)
    assert [evaluate(found.floor, {X: x, Y: 1}) for x in (0, 1, 2)] == [3, 4, 4]


SIZES = {
    "raised": ("int f(int x, int y, int n) { while (n > 0) { if (y > 2) x += 3; else x += y; n--; } return x; }", "x"),
    "set": ("int f(int x, int y, int n) { while (n > 0) { if (n == 5) x = 7; else x = y; n--; } return x; }", "x"),
    "set, then raised": (
        "int f(int x, int y, int n) { while (n > 0) { if (y > n) x = 4; else x += 2; n--; } return x; }",
        "x",
    ),
    "falls": ("int f(int x, int y, int n) { while (n > 0) { if (y > n) x -= 4; else x--; n--; } return x; }", "x"),
    "raised by another": ("int f(int x, int y, int n) { while (n > 0) { x += y; y += 2; n--; } return x; }", "x"),
}


@pytest.mark.parametrize("name", SIZES)
def test_no_value_at_the_header_exceeds_the_bound_on_it(name: str) -> None:
    source, variable = SIZES[name]
    found = loop(source)
    made = system(found, TRUE, split=True)
    sizes = sizes_in_loop(made, Farkas(), wide=False)
    by_name = {v.name: v for v in (*found.state, *found.invariants)}
    sizes.count(TakenAtMost(frozenset(t.name for t in made.transitions), maximum(const(0), by_name["n"])))
    upper = sizes.upper(found.loop.header, by_name[variable])
    assert upper is not None
    compared = reached = 0
    for start in starts(found, range(-3, 8)):
        for state, path in visited(found, start):
            for value in (
                state[by_name[variable]],
                evaluate(path.update.get(by_name[variable], by_name[variable]), state),
            ):
                assert value <= evaluate(upper, start), (start, state)
                compared += 1
                reached += value == evaluate(upper, start)
    assert compared > 1000
    assert reached > 0 or name == "raised"  # there both ways of a step are added up


def test_without_a_count_what_is_raised_has_no_bound() -> None:
    source, _ = SIZES["raised"]
    found = loop(source)
    sizes = sizes_in_loop(system(found, TRUE, split=True), Farkas(), wide=False)
    assert sizes.upper(found.loop.header, next(v for v in found.state if v.name == "x")) is None


# -- invariants --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOOPS)
def test_what_iterations_keep_holds_along_runs(name: str) -> None:
    found = loop(LOOPS[name])
    # Without the flags of && and ||, which are 0 or 1.
    variables = sorted((v for v in (*found.state, *found.invariants) if v.type == I32), key=lambda v: v.key)
    proposed = candidates(system(found, TRUE, split=False))
    assert proposed
    entry: Condition = conjunction(greater_equal(v, const(2)) for v in variables)
    facts = kept(found, proposed, entry)
    assert len(facts) < len(proposed)
    alone = [condition for condition in proposed if is_inductive(found, condition, TRUE)]
    compared = entered = 0
    for start in starts(found, range(-3, 13, 3)):
        begun = [condition for condition in alone if holds(condition, start)]
        if holds(entry, start):
            begun += facts
            entered += 1
        for state, path in visited(found, start, 20):
            after = state | {var: evaluate(term, state) for var, term in path.update.items()}
            for condition in begun:
                assert holds(condition, after), (start, after, str(condition))
                compared += 1
    assert compared > 20
    assert entered > 5


# -- bounds that are not linear ----------------------------------------------------------------------------------------

PHASED = {
    "two phases": ("int f(int x, int y) { while (x > 0) { x += y; y--; } return x; }", nested),
    "two phases, by steps": ("int f(int x, int y) { while (x > 0 && x < 1000) { x += y; y -= 2; } return x; }", nested),
    "halved": ("int f(int x, int y) { while (x > y && y > 0) x /= 2; return x; }", geometric),
    "doubled": ("int f(int x, int y) { while (x > 0 && x < y) x *= 2; return x; }", geometric),
    "tripled": ("int f(int x, int y) { while (x > 1 && x < y) x = 3 * x - 1; return x; }", geometric),
}


@pytest.mark.parametrize("name", PHASED)
def test_a_bound_by_phases_or_factors_is_above_the_iterations_and_near_them(name: str) -> None:
    source, method = PHASED[name]
    found = loop(source)
    made = system(found, TRUE, split=True)
    # Without the ranges of types, by which every one of these ends.
    result = method(sizes_in_loop(made, Farkas(), wide=False), made.transitions, (*made.state, *made.parameters))
    assert result is not None
    _, bound = result
    compared = longest = 0
    for start in starts(found, range(-2, 30, 3)):
        taken = sum(1 for _ in visited(found, start, 2000))
        upper = evaluate(bound, start)
        assert taken <= upper, (start, taken, upper)
        if taken:  # a root or a logarithm, and no product
            assert upper <= 3 * taken + 8, (start, taken, upper)
            compared += 1
        longest = max(longest, taken)
    assert compared > 10
    assert longest >= 2

"""How often transitions between the headers of a component are taken: by hand, and never below what runs do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product

import pytest

from headers_walked import arguments, walk
from loopless.bounds.methods.components import CallSearch
from loopless.bounds.ranking.components import HeaderComponent
from loopless.bounds.ranking.cutpoints import ENTRY, CutpointGraph, cutpoints_of
from loopless.bounds.ranking.size_bounds import least_of
from loopless.bounds.ranking.transition_counts import TransitionCounts, _degree
from loopless.terms import ONE, ZERO, IntType, Var, add, const, evaluate, floor_div, maximum, minimum, mul
from loops_in_c import graph, variable

VALUES = (-4, -1, 0, 1, 2, 3, 5, 8)
SMALL = (-2, 0, 1, 2, 5)


def pos(value: int) -> int:
    return max(0, value)


def searched(text: str) -> tuple[CallSearch, list[HeaderComponent]]:
    cutpoints = cutpoints_of(graph(text))
    assert isinstance(cutpoints, CutpointGraph)
    search = CallSearch(cutpoints)
    return search, search.searched()


def all_of(component: HeaderComponent) -> object:
    return component.often(component.transitions)


ONE_LOOP = "int f(int n, int m) {{ int x = n, y = m; while ({}) {{ {} }} return x; }}"
DRAWN = "int nondet(void); " + ONE_LOOP
COUNTS: dict[str, tuple[str, Callable[[int, int], int]]] = {
    "down": (ONE_LOOP.format("x > 0", "x--;"), lambda n, m: pos(n)),
    "by threes": (ONE_LOOP.format("x > 0", "x -= 3;"), lambda n, m: pos(-(-n // 3))),
    "up to": (ONE_LOOP.format("x < y", "x++;"), lambda n, m: pos(m - n)),
    "from both ends": (ONE_LOOP.format("x < y", "x++; y--;"), lambda n, m: pos(-(-(m - n) // 2))),
    "to a number": (ONE_LOOP.format("x < 100", "x += 7;"), lambda n, m: pos(-(-(100 - n) // 7))),
    "never": (ONE_LOOP.format("x > 0 && x < 0", "x--;"), lambda n, m: 0),
    "once": (ONE_LOOP.format("x > 0", "x = -1;"), lambda n, m: 1),
    "one after the other": ("int f(int n, int m) { int x = n, y = m; while (x > 0) x--; while (y > 0) y--; return x; }",
                            lambda n, m: pos(n) + pos(m)),
    "from either": ("int nondet(void); int f(int n, int m) { int x = n; if (nondet()) x = m; while (x > 0) x--; return x; }",
                    lambda n, m: pos(max(n, m))),
    # Each of the other's steps gives some more: 4 for each x but for the last, 1 for each y.
    "either": (DRAWN.format("x > 0 && y > 0", "if (nondet()) x--; else y--;"), lambda n, m: pos(n + m - 1)),
    "paid for": (DRAWN.format("x > 0 && y > 0", "if (nondet()) { x--; y += 3; } else y--;"), lambda n, m: pos(m + 4 * n - 4)),
    # y goes down from m in front of each x, that is n times.
    "renewed": (ONE_LOOP.format("x > 0", "if (y > 0) y--; else { y = m; x--; }"), lambda n, m: pos(n) + pos(m) * pos(n)),
    # And once more after the last of them.
    "renewed to the end": (
        ONE_LOOP.format("x > 0 || y > 0", "if (y > 0) y--; else { y = m; x--; }"),
        lambda n, m: pos(n) + pos(m) * pos(n) + pos(m),
    ),
    "a flag": ("int f(int n, int m) { int b = 1, x = n; while (b) { x--; if (x >= 0) b = 1; else b = 0; } return x; }",
               lambda n, m: 1 + pos(n)),
    # One step to the inner header and one back for each i, and the inner steps.
    "nest": ("int f(int n, int m) { int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s++; return s; }",
             lambda n, m: 2 * pos(n) + pos(n) * pos(m)),
    # 2 for each inner step of the one loop are what the other may take; with 5 more for each i.
    "raised in a nest": ("int nondet(void); int f(int n, int m) { int y = 0; for (int i = 0; i < n; i++) {"
                         " for (int j = 0; j < m; j++) y += 2; while (y > 0 && nondet()) y--; } return y; }",
                         lambda n, m: 3 * pos(n) + 3 * pos(n) * pos(m)),
    "set and raised in a nest": ("int nondet(void); int f(int n, int m) { int y = 0; for (int i = 0; i < n; i++) { y = 5;"
                                 " for (int j = 0; j < m; j++) y += 2; while (y > 0 && nondet()) y--; } return y; }",
                                 lambda n, m: 8 * pos(n) + 3 * pos(n) * pos(m)),
    "nest that pays": ("int nondet(void); int f(int n, int m) { int x = n, y = 0; while (x > 0) { x--; y += 2;"
                       " while (y > 0 && nondet()) y--; } return y; }", lambda n, m: 4 * pos(n)),
    "two headers by goto": ("int nondet(void); int f(int n, int m) { int x = n, y = m;\na: if (x <= 0) return y; x--;\n"
                            "b: if (y > 0 && nondet()) { y--; goto b; } goto a; }", lambda n, m: 2 * pos(n) + pos(m)),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_counts_by_hand(name: str) -> None:
    """What the functions that fall give; where nothing is drawn or renewed, no smaller number is right for all runs."""
    text, expected = COUNTS[name]
    search, order = searched(text)
    by_name = {var.name: var for var in search.cutpoints.inputs}
    for n, m in product(VALUES, repeat=2):
        found = 0
        for component in order:
            often = all_of(component)
            assert often is not None and often.variables <= search.cutpoints.inputs
            found += evaluate(often, {by_name["n"]: n} | ({by_name["m"]: m} if "m" in by_name else {}))
        assert found == expected(n, m), (n, m)


@pytest.mark.parametrize(
    "text",
    [
        DRAWN.format("nondet()", "x--;"),
        DRAWN.format("x != y", "x = nondet();"),
        ONE_LOOP.format("x > 0", "x = y - x;"),
        DRAWN.format("x > 0", "if (nondet()) { x--; y = nondet(); } else if (y > 0) y--; else x++;"),
        # How large y is when the second loop begins is known on one way there only.
        "int nondet(void); int f(int n, int m) { int y = m; if (n) y = nondet(); while (y > 0) y--; return y; }",
        "int nondet(void); int f(int n, int m) { int x = n, y = m; while (x > 0) { x--; if (y > 9) y = nondet(); }"
        " while (y > 0) y--; return y; }",
        "int nondet(void); int f(int n, int m) { int x = n, y = m; while (x > 0) { x--; if (nondet()) y += x; }"
        " while (y > 0 && nondet()) y = y + m - n; return y; }",
    ],
)
def test_what_has_no_known_end_is_not_counted(text: str) -> None:
    _, order = searched(text)
    assert None in [all_of(component) for component in order]


def test_part_of_a_component_may_be_counted() -> None:
    """x goes down n times in all; how often y is drawn anew between, nothing says."""
    _, (component,) = searched(DRAWN.format("x > 0", "if (nondet()) x--; else y = nondet();"))
    x = next(v for v in component.ranked.variables if v.name == "x")
    down = [t for t in component.transitions if x in t.path.update]
    rest = [t for t in component.transitions if t not in down]
    assert down and rest and component.often(rest) is None and component.often(component.transitions) is None
    often = component.often(down)
    assert often is not None
    (n,) = often.variables
    assert [evaluate(often, {n: value}) for value in VALUES] == [pos(value) for value in VALUES]
    assert component.often([]) is ZERO


# -- against runs ------------------------------------------------------------------------------------------------------

RUN = {
    **{name: COUNTS[name][0] for name in ("down", "by threes", "up to", "renewed", "renewed to the end", "a flag", "nest")},
    "in turn": "int f(int n, int m) { int x = n, y = m; while (x > 0) { x--; y += 2; } while (y > 0) y--; return y; }",
    "triangle": "int f(int n, int m) { int s = m; for (int i = 0; i < n; i++) for (int j = i; j < n; j++) s--; return s; }",
    "set by the other": "int f(int n, int m) { int x = n, y = m; while (x > 0) { x--; y = x; while (y > 0) y -= 2; } return y; }",
    "alternating": "int f(int n, int m) { int x = n, y = m, b = 0; while (x > 0 && y > 0) { if (b) { x--; b = 0; }"
    " else { y--; b = 1; } } return x; }",
    "three": "int f(int n, int m) { int x = n, y = 0, z = 0; while (x > 0) { x--; y += m; } while (y > 0) { y--; z += 3; }"
    " while (z > 0) z--; return z; }",
}  # fmt: skip


@pytest.mark.parametrize("name", RUN)
def test_no_run_takes_more_and_no_value_is_above(name: str) -> None:
    g = graph(RUN[name])
    search, order = searched(RUN[name])
    by_path = {t.path.id: (component, t) for component in order for t in component.transitions}
    each = Counter(t.path.id for component in order for t in component.transitions)
    most_after = {
        (t.name, v): c.after(t, v) for c, t in by_path.values() if each[t.path.id] == 1 for v in c.ranked.variables
    }
    compared = tight = sized = 0
    for row in product(SMALL, repeat=len(g.parameters)):
        entry = arguments(g, row)
        taken: Counter[str] = Counter()
        before: tuple | None = None
        for place, state, path in walk(search.cutpoints, entry):
            if before is not None:
                component, t = before
                for var in component.ranked.variables:
                    most = most_after.get((t.name, var))
                    if most is not None and var in state:
                        assert state[var] <= evaluate(most, entry), (row, place, var, most)
                        sized += 1
            before = by_path.get(path.id)
            if before is not None:
                taken[path.id] += 1
        for component in order:
            for counted in component.ranked.counted:
                group = [t for t in component.transitions if t.name in counted.names]
                truth, most = sum(taken[p] for p in {t.path.id for t in group}), evaluate(counted.bound, entry)
                assert truth <= most, (row, counted)
                compared += 1
                tight += truth == most
    assert compared >= 25 and tight * 3 > compared and sized >= 10


# -- components --------------------------------------------------------------------------------------------------------


def test_headers_that_lead_to_one_another_are_together_and_come_in_order() -> None:
    g = graph(RUN["in turn"])
    search, order = searched(RUN["in turn"])
    headers = [loop.header for loop in g.loops]
    assert [component.headers for component in order] == [{header} for header in headers]
    first, second = order
    assert [component.headers for component, _ in first.entering] == [{ENTRY}]
    assert [component for component, _ in second.entering] == [first]
    assert search.components[headers[0]] is first
    (nest,) = searched(COUNTS["nest"][0])[1]
    inside = {loop.header for loop in graph(COUNTS["nest"][0]).loops}
    assert nest.headers == inside and nest.ranked.headers == sorted(inside)


def test_the_size_of_a_variable_goes_from_component_to_component() -> None:
    """y is m + 2 max(0, n) at most when the second loop begins, and so that loop runs as often."""
    _, (first, second) = searched(RUN["in turn"])
    often = all_of(second)
    g = graph(RUN["in turn"])
    n, m = (p.var for p in g.parameters)
    assert n is not None and m is not None
    for a, b in product(VALUES, repeat=2):
        assert evaluate(often, {n: a, m: b}) >= pos(b + 2 * pos(a))
        assert evaluate(often, {n: a, m: pos(b)}) == pos(b) + 2 * pos(a)
    (inside,) = first.transitions
    most = first.after(inside, variable(g, "y"))
    assert most is not None and [evaluate(most, {n: a, m: 5}) for a in (0, 1, 4)] == [7, 9, 15]  # before, and 2 more


def test_values_at_entry_are_those_of_inputs() -> None:
    search, (component,) = searched(COUNTS["renewed"][0])
    n, m = sorted(search.cutpoints.inputs, key=lambda v: v.name, reverse=True)
    x = variable(graph(COUNTS["renewed"][0]), "x")
    for sizes in component.sizes:
        assert sizes.entering(ENTRY, add(n, m)) == [add(n, m)]
        assert sizes.entering(ENTRY, x) is None


def test_what_transitions_add() -> None:
    """``x`` goes down by 1, ``y`` up by 3 in one transition and down by 1 in the other."""
    g = graph(COUNTS["paid for"][0])
    _, (component,) = searched(COUNTS["paid for"][0])
    x, y = variable(g, "x"), variable(g, "y")
    assert sorted({(component.added(t, x), component.added(t, y)) for t in component.transitions}) == [(-1, 3), (0, -1)]
    raised = component.raised(y)
    assert component.raised(x) is ZERO and raised is not None
    (n,) = raised.variables
    assert [evaluate(raised, {n: value}) for value in VALUES] == [3 * pos(value) for value in VALUES]
    renewed = searched(COUNTS["renewed"][0])[1][0]
    assert renewed.raised(variable(graph(COUNTS["renewed"][0]), "y")) is None  # it is set to m, from whatever it was


def test_several_amounts_are_paid_for_together() -> None:
    """Each of n steps pays 2 and perhaps 3 more: no less than 2 n, no more than 5 n in all."""
    text = (
        "int nondet(void); int f(int n, int m) { int x = n, k = 0; while (x > 0) { x--; k += 2; if (nondet()) k += 3; } "
        "int i = 0; while (i < k) i++; return i; }"
    )
    g = graph(text)
    _, order = searched(text)
    raised = order[0].raised(variable(g, "k"))
    assert raised is not None
    (n,) = raised.variables
    assert [evaluate(raised, {n: value}) for value in VALUES] == [5 * pos(value) for value in VALUES]


def test_what_is_raised_in_steps_and_in_nests() -> None:
    """3 for each 2 of n, rounded up to whole steps; 3 for each i and 2 for each of the inner steps."""
    steps = ONE_LOOP.format("x > 0", "x -= 2; y += 3;").replace("return x", "while (y > 0) y--; return x")
    _, (first, _) = searched(steps)
    raised = first.raised(variable(graph(steps), "y"))
    assert raised is not None
    (n,) = raised.variables
    for value in VALUES:
        assert 3 * pos((value + 1) // 2) <= evaluate(raised, {n: value}) <= pos(3 * (value + 1) // 2)
    nest = (
        "int f(int n, int m) { int k = 0; for (int i = 0; i < n; i++) { k += 3; for (int j = 0; j < m; j++) k += 2; }"
    )
    nest += " while (k > 0) k--; return k; }"
    _, (first, _) = searched(nest)
    raised = first.raised(variable(graph(nest), "k"))
    assert raised is not None
    n, m = (next(v for v in raised.variables if v.name == name) for name in "nm")
    for a, b in product(VALUES, repeat=2):
        assert evaluate(raised, {n: a, m: b}) == 3 * pos(a) + 2 * pos(a) * pos(b)


def test_functions_that_counted_divide_the_others_where_nothing_raises_them() -> None:
    """In "renewed", x is such a clock, from n on, and y is not: what renews it raises it."""
    _, (component,) = searched(COUNTS["renewed"][0])
    x = variable(graph(COUNTS["renewed"][0]), "x")
    ranked = component.ranked
    first, second = ranked.groups
    assert [first.counted, second.counted] == ranked.counted
    (function,) = first.functions.values()
    assert (function.term, function.divisor) == (x, 1)
    assert all(ranked._never_rises(first.functions, t) for t in component.transitions)
    assert not all(ranked._never_rises(second.functions, t) for t in component.transitions)
    stretches = ranked._stretches(first.counted, second.transitions)
    assert stretches is not None
    (n,) = stretches.variables
    assert [evaluate(stretches, {n: value}) for value in VALUES] == [pos(value) for value in VALUES]
    assert ranked._stretches(second.counted, second.transitions) is None


@pytest.mark.parametrize("proof", ["_falls", "_never_rises"])
def test_functions_that_are_proposed_and_not_proved_are_not_taken(proof: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, (component,) = searched(COUNTS["renewed"][0])
    x = variable(graph(COUNTS["renewed"][0]), "x")
    falling = [t for t in component.transitions if x in t.path.update]
    steady = [t for t in component.transitions if t not in falling]
    ranked = component.ranked
    found = ranked.functions(falling, steady, ())
    assert found is not None and [f.term for f in found.values()] == [x]
    assert all(ranked._falls(found, t) for t in falling) and not any(ranked._falls(found, t) for t in steady)
    assert ranked._falls(found, falling[0], 1) and not ranked._falls(found, falling[0], 2)
    assert all(ranked._never_rises(found, t) for t in component.transitions)
    monkeypatch.setattr(TransitionCounts, proof, lambda *_: False)
    assert ranked.functions(falling, steady, ()) is None


def test_choices_are_made_once_each_and_all_together_first() -> None:
    search, (nest,) = searched(COUNTS["nest"][0])
    choices = [tuple(t.name for t in choice) for choice in nest.ranked._choices(nest.transitions)]
    assert set(choices[0]) == {t.name for t in nest.transitions}
    assert len(set(choices)) == len(choices) == 5
    back = set(search.cutpoints.back)
    assert {t.path.id for t in nest.transitions if t.name in choices[1]} == back
    assert all(len(choice) == 1 for choice in choices[2:])


def test_a_component_of_no_cycle_is_counted_by_its_longest_chain() -> None:
    """What is behind the first round never comes back: the loop's body is taken twice at most."""
    text = (
        "int f(int n, int m) { int x = n, b = 0; while (x > 0 && b < 2) { b = b + 1; if (b == 1) x = m; } return x; }"
    )
    search, order = searched(text)
    state = {p.var: 7 for p in graph(text).parameters if p.var is not None}
    assert sum(evaluate(all_of(component), state) for component in order) == 2
    assert not search.components[ENTRY].transitions


# -- parts -------------------------------------------------------------------------------------------------------------

N, M = Var("n", IntType(32)), Var("m", IntType(32))


def test_the_least_of_known_bounds() -> None:
    assert least_of([None, N, None]) is N
    assert least_of([None, None]) is None and least_of([]) is None
    assert least_of([N, const(3)]) == minimum(N, const(3))


@pytest.mark.parametrize(
    ("bound", "degree"),
    [
        (ONE, 0),
        (ZERO, 0),
        (maximum(ZERO, N), 1),
        (floor_div(add(N, M), const(2)), 1),
        (mul(maximum(ZERO, N), maximum(ZERO, M)), 2),
        (add(mul(N, mul(N, N)), M), 3),
    ],
)
def test_classes_are_degrees(bound: object, degree: int) -> None:
    assert _degree(bound) == degree  # type: ignore[arg-type]

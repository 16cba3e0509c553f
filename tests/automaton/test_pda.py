"""The path dependency automaton against Proteus's Fig. 2 and against concrete runs."""

from __future__ import annotations

import pytest

from automata_in_c import DETERMINISTIC, FIG_6A, WITH_INPUT, automaton, loop
from figures_of_proteus import FIG_1A, FIG_1B
from loopless.automaton import PathAutomaton, State, Transition, build_automaton
from loopless.logic import NotPresburger, Region
from loopless.terms import (
    INTEGERS,
    TRUE,
    Condition,
    IntType,
    Term,
    Var,
    at_most_zero,
    conjunction,
    const,
    equal,
    evaluate,
    greater,
    holds,
    less,
    less_equal,
    sub,
    text,
)
from walking import Walker, agrees, transition_of

X, Z, N = (Var(name, IntType(32)) for name in "xzn")


def same(a: Condition, b: Condition, given: Condition) -> bool:
    within = Region.of(given, a.variables | b.variables | given.variables)
    return (Region.of(a).over(within.variables) & within).is_equal(Region.of(b).over(within.variables) & within)


def by_step(found: PathAutomaton, var: Var) -> State:
    """The iterative state that changes ``var`` and nothing else."""
    (state,) = (s for s in found.states if s.iterative and list(s.path.update) == [var])
    return state


def transition(found: PathAutomaton, source: State, target: State) -> Transition:
    one = found.transition(source.name, target.name)
    assert one is not None
    return one


# -- Fig. 2 of the paper ---------------------------------------------------------------------------


def test_figure_2_has_three_states_all_initial_and_the_exit_alone_accepting() -> None:
    found = automaton(FIG_1A)
    assert len(found.states) == 3
    assert found.initial == found.states
    assert [state.iterative for state in found.accepting] == [False]
    assert {text(c) for c in by_step(found, X).changes.values()} == {"1"}


def test_figure_2_has_exactly_the_transitions_of_the_paper() -> None:
    found = automaton(FIG_1A)
    s1, s2 = by_step(found, X), by_step(found, Z)
    (s3,) = (s for s in found.states if not s.iterative)
    assert {(t.source, t.target) for t in found.transitions} == {
        (s1.name, s2.name),
        (s1.name, s3.name),
        (s2.name, s1.name),
    }
    assert all(t.exact for t in found.transitions)


@pytest.mark.parametrize(
    ("source", "target", "guard", "times", "after"),
    [
        (X, Z, less(Z, N), sub(Z, X), {X: Z, Z: Z}),
        (Z, X, less(X, N), sub(X, sub(Z, const(1))), {X: X, Z: sub(X, const(-1))}),
        (X, None, less_equal(N, Z), sub(N, X), {X: N, Z: Z}),
    ],
    ids=["s1 to s2", "s2 to s1", "s1 to s3"],
)
def test_figure_2_says_when_how_often_and_what_then(
    source: Var, target: Var | None, guard: Condition, times: Term, after: dict[Var, Term]
) -> None:
    found = automaton(FIG_1A)
    start = by_step(found, source)
    end = by_step(found, target) if target is not None else found.accepting[0]
    one = transition(found, start, end)
    given = start.condition
    assert same(one.guard, guard, given)
    counted = conjunction((given, guard))
    assert same(one.constraint, equal(one.counter, times), counted)
    assert one.times is not None
    for var, value in after.items():
        assert same(equal(one.update.get(var, var), value), TRUE, counted)


def test_the_guard_that_the_state_implies_is_simply_true() -> None:
    found = automaton(FIG_1A)
    assert transition(found, by_step(found, Z), by_step(found, X)).guard is TRUE


def test_a_precondition_limits_the_initial_states() -> None:
    found = automaton(FIG_1A, conjunction((less(X, N), greater(Z, X))))
    assert found.initial == (by_step(found, X),)


def test_the_loop_that_resets_forever_has_a_terminal_state() -> None:
    found = automaton("int f(int i) { while (i < 10) i = 0; return i; }")  # section 3.1
    assert [state.terminal for state in found.states] == [True, False]
    assert found.accepting == found.states
    assert not found.transitions


def test_figure_6a_runs_the_first_path_until_m_and_the_second_once() -> None:
    found = automaton(FIG_6A)
    j = next(v for v in found.paths.state if v.name == "j")
    m = next(v for v in found.paths.invariants if v.name == "m")
    rising = by_step(found, j)
    falling = next(s for s in found.states if s.iterative and s is not rising)
    up = transition(found, rising, falling)
    assert up.times is not None
    assert same(equal(up.times, sub(m, j)), TRUE, rising.condition)
    down = transition(found, falling, rising)
    assert down.times is const(1)


def test_counters_do_not_take_the_names_of_variables() -> None:
    found = automaton("int f(int k12, int n) { while (k12 < n) k12++; return k12; }")
    assert all(t.counter.name != "k12" and t.counter.type == INTEGERS for t in found.transitions)
    assert len(found.transitions) >= 1


def test_too_many_paths_are_refused() -> None:
    branches = "else ".join(f"if (x == {i}) y ^= {i + 1}; " for i in range(70))
    refused = build_automaton(loop(f"int f(int x, int y) {{ while (x < 90) {{ {branches} x++; }} return y; }}"))
    assert not isinstance(refused, PathAutomaton)
    assert refused.reason.label == "budget-exceeded"


def test_what_the_logic_has_no_time_for_is_kept_and_marked() -> None:
    source = loop(FIG_1B)
    hurried = build_automaton(source, operations=20)
    assert isinstance(hurried, PathAutomaton)
    whole = automaton(FIG_1B)
    assert {(t.source, t.target) for t in whole.transitions} <= {(t.source, t.target) for t in hurried.transitions}
    vague = [t for t in hurried.transitions if not t.exact]
    assert vague
    assert all(t.reason for t in vague)
    walker = Walker(source, 0)
    for _ in range(20):
        for run in walker.runs(walker.start(), 50):
            agrees(transition_of(hurried, run), run, walker.memory)


# -- concrete runs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("source", DETERMINISTIC + WITH_INPUT)
@pytest.mark.slow
def test_every_run_takes_a_transition_that_tells_the_truth(source: str) -> None:
    found = automaton(source)
    walker = Walker(found.paths, 7)
    seen = 0
    for _ in range(150):
        for run in walker.runs(walker.start(), 120):
            agrees(transition_of(found, run), run, walker.memory)
            seen += 1
    assert seen > 15


@pytest.mark.parametrize("source", DETERMINISTIC)
def test_exact_guards_hold_for_no_other_run(source: str) -> None:
    found = automaton(source)
    walker, compared = Walker(found.paths, 8), 0
    for _ in range(100):
        for run in walker.runs(walker.start(), 120):
            taken = transition_of(found, run)
            for other in found.transitions:
                if other.source == taken.source and other is not taken and other.exact:
                    assert not holds(other.guard, run.start, walker.memory), (other, run)
                    compared += 1
    exact = [t.source for t in found.transitions if t.exact]
    assert compared > 20 or len(set(exact)) == len(exact)


@pytest.mark.parametrize("source", DETERMINISTIC)
def test_each_exact_transition_is_taken_from_a_state_that_fulfils_it(
    source: str, request: pytest.FixtureRequest
) -> None:
    found = automaton(source)
    walker = Walker(found.paths, 9)
    tried = 0
    for one in found.transitions:
        if not one.exact:
            continue
        source_state = found.state(one.source)
        few = conjunction((less_equal(const(1), one.counter), at_most_zero(sub(one.counter, const(500)))))
        try:
            region = Region.of(conjunction((source_state.condition, one.guard, one.constraint, few)), None)
        except NotPresburger:
            continue
        point = region.over((*walker.entry, one.counter)).sample()
        if point is None:
            continue  # only runs too long to follow
        state = {var: point[var] for var in walker.entry}
        run = walker.runs(state, 510)[0]
        assert found.state_of(run.path).name == one.source
        assert found.state_of(run.following).name == one.target
        assert run.times == point[one.counter]
        tried += 1
    # Of these loops no transition is exact: what they subtract, read or multiply is no linear function.
    assert (tried == 0) == (request.node.callspec.id in ("gcd", "an array", "a square"))


def test_an_input_dependent_transition_counts_as_the_paper_does() -> None:
    # Proteus, section 4.2: from i >= 0 the search stops after k iterations for some 1 <= k <= i, or after i + 1.
    found = automaton("int f(const int *v, int i, int key) { while (i >= 0 && v[i] > key) i--; return i; }")
    i = next(v for v in found.paths.state if v.name == "i")
    endings = [t for t in found.transitions if t.source == "s1"]
    allowed = [
        {k for k in range(1, 9) if holds(conjunction((t.guard, t.constraint)), {i: 5, t.counter: k})} for t in endings
    ]
    assert all(not t.exact for t in endings)
    assert set().union(*allowed) == {1, 2, 3, 4, 5, 6}


def test_states_carry_the_changes_along_their_paths() -> None:
    found = automaton("unsigned f(unsigned x, unsigned n) { while (x != n) { x += 3; n -= 2; } return x; }")
    (state,) = (s for s in found.states if s.iterative)
    assert {var.name: evaluate(change, {}) for var, change in state.changes.items()} == {"x": 3, "n": -2}

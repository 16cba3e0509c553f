"""Verdicts by summaries of loops: steps in place of iterations, against runs that make each iteration."""

from __future__ import annotations

import random

import pytest

from loopless import terms as t
from loopless.check.certificates.property import Property
from loopless.transition.relation import DIVERGES, START, VIOLATION
from loopless.transition.star import accelerated, leaps_of
from loopless.verification import exploration
from loopless.verification.exploration import explored
from loopless.verification.proofs import GOALS, SUMMARIES, Proof, Suspect
from loopless.verification.runs import Runner
from loopless.verification.safe_states import safe_states, unsafe_states, without_large_numbers
from loopless.verification.termination import Ranked, Trap
from programs_in_c import named, proves, search, system, termination

NEST = """int main(void) {
    int n = __VERIFIER_nondet_int(), count = 0;
    if (n < 0 || n > 60000) return 0;
    for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) count++;
    if (count == 1225000050 - 50) reach_error();
    return 0;
}"""
"""n*(n - 1)/2 is 1225000000 for no n: (2n - 1)^2 would be 9800000001, which lies between 98994^2 and 98995^2."""
SUM = """int main(void) {
    int n = __VERIFIER_nondet_int(), s = 0;
    if (n < 1 || n > 1000) return 0;
    for (int i = 1; i <= n; i++) s += i;
    if (2 * s != n * (n + 1)) reach_error();
    return 0;
}"""
WRAPPING_SUM = """int main(void) {
    unsigned n = __VERIFIER_nondet_int(), a = __VERIFIER_nondet_int(), s = a;
    for (unsigned m = n; m > 0; m--) s += m;
    if (2 * (s - a) != n * (n + 1)) reach_error();
    return 0;
}"""
"""True of all 32-bit numbers, since 2 * (s - a) and n * (n + 1) are the same modulo 2^32."""
THERE_AND_BACK = """int main(void) {
    unsigned n = __VERIFIER_nondet_int(), s = 0, i = 0;
    if (n > 1000) return 0;
    while (i < 2 * n) { if (i < n) s += i; else s -= i - n; i++; }
    if (s != 0) reach_error();
    return 0;
}"""
TWICE = """int main(void) {
    unsigned n = __VERIFIER_nondet_int(), k = 0, j = 0;
    if (n > 30000000) return 0;
    for (unsigned i = 0; i < n; i += 3) k++;
    while (k > 0) { k--; j += 3; }
    if (j < n) reach_error();
    return 0;
}"""


@pytest.mark.parametrize(
    ("program", "inputs"),
    [
        (
            "int n = __VERIFIER_nondet_int(), c = 0; for (int i = 0; i < n; i += 7) c++; if (c == {}) reach_error();",
            None,
        ),
        (
            "int n = __VERIFIER_nondet_int(); unsigned x = 3; for (int i = 0; i < n; i++) x += 5; if (x == 3u + 5u * {} && n < {} + 9) reach_error();",
            "{}",
        ),
        (
            "unsigned a = 0, b = {}; int s = __VERIFIER_nondet_int(); while (a < b) {{ if (s == 4) a += 2; else a++; b--; }} if (a == b + 1 && s != 9) reach_error();",
            None,
        ),
        (
            "int n = __VERIFIER_nondet_int(), f = 0; for (int i = 0; i < {}; i++) if (i == n) f = 1; for (int i = 0; i < n; i++) f++; if (f == {} - 5) reach_error();",
            None,
        ),
    ],
    ids=["stride", "wrap", "two ways", "flag and sequence"],
)
@pytest.mark.parametrize("constant", [11, 1100, 110_000])
def test_the_inputs_of_loops_that_run_just_so_often(program, inputs, constant):
    """Locks and keys: the number of iterations decides, whatever that is; a run of the interpreter's says it is right."""
    source = f"int main(void) {{ {program.replace('{}', str(constant))} return 0; }}".replace("{{", "{").replace(
        "}}", "}"
    )
    made = search(source)
    found = made.by_summaries(5.0)
    assert isinstance(found, Suspect), found
    assert found.method == SUMMARIES
    assert inputs is None or found.inputs == (int(inputs.format(constant)),)
    values = iter(found.inputs)
    plain = Runner(made.system.graph, made.system.violates, made.system.state).run(lambda *_: next(values), 2_000_000)
    assert plain.end == "violation"


@pytest.mark.parametrize(
    "source", [SUM, WRAPPING_SUM, THERE_AND_BACK, TWICE], ids=["sum", "wraps", "phases", "two loops"]
)
def test_the_states_from_which_no_violation_is_reached_are_an_invariant(source):
    made = search(source)
    found = made.by_summaries(5.0)
    assert isinstance(found, Proof)
    assert proves(made, found)


def test_what_speaks_of_large_numbers_or_of_first_values_is_left_out_first():
    made = system(SUM)
    leaps, _ = leaps_of(made, 5.0)
    goals = frozenset((VIOLATION,))
    safe = safe_states(accelerated(made, leaps), goals, {})
    assert safe is not None
    short = without_large_numbers(safe)
    assert short is not None
    for label, parts in short.items():
        assert parts
        assert set(parts) < set(safe[label])
    assert without_large_numbers(short) is None


def test_what_no_input_reaches_has_no_path():
    made = system(NEST)
    found = explored(accelerated(made, leaps_of(made, 10.0)[0]), GOALS, 10.0)
    assert found.complete
    assert found.path is None


GUARDED = """int main(void) {
    unsigned char x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
    while (x < y) { if (x < 100) x += 3; else x += 7; y -= 1; }
    if (x - y == 5) reach_error();
    return 0;
}"""
DOWN = """int main(void) {
    unsigned char x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
    while (x != 0) { x -= 1; y += 3; }
    if (y == 77) reach_error();
    return 0;
}"""


@pytest.mark.parametrize("source", [GUARDED, DOWN], ids=["two paths", "wraps"])
def test_the_unsafe_states_are_those_from_which_iterations_lead_to_a_violation(source):
    """Of all states of two bytes at the header, by following the plain transitions one by one."""
    made = system(source)
    (header,) = made.cutpoints
    leaps = leaps_of(made, 20.0)[0]
    assert leaps[header].given is t.TRUE
    unsafe = unsafe_states(accelerated(made, leaps), GOALS, {})
    safe = safe_states(accelerated(made, leaps), GOALS, {})
    assert unsafe is not None
    assert safe is not None
    x, y = named(made.graph, "x"), named(made.graph, "y")
    draw = random.Random(7)
    for _ in range(400):
        state = {x: draw.randrange(256), y: draw.randrange(256)}
        bad = leads_to_violation(made, header, dict(state))
        assert any(t.holds(part, state) for part in unsafe[header]) == bad, state
        assert not (bad and all(t.holds(part, state) for part in safe[header])), state


def test_what_grows_too_large_leaves_it_open_whether_there_is_a_path(monkeypatch):
    made = system(NEST)
    leaping = accelerated(made, leaps_of(made, 10.0)[0])

    def too_large(*_):
        raise t.TermTooLarge("a step")

    monkeypatch.setattr(exploration, "_longer", too_large)
    assert not exploration.explored(leaping, GOALS, 5.0).complete


def test_a_loop_with_a_call_that_is_not_followed_is_not_passed():
    """What is called may call the error, whatever the loop comes to."""
    calls = "void g(int n) { if (n > 5) g(n - 1); if (n == 3) reach_error(); } int main(void) { for (int i = 0; i < 9; i++) %s return 0; }"
    for call, passed in (("g(i);", False), (";", True)):
        made = system(calls % call)
        assert bool(leaps_of(made, 10.0)[0]) == passed


TABLE = """static const unsigned char table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
int main(void) {
    unsigned n = __VERIFIER_nondet_int(), s = 0;
    if (n >= 8) return 0;
    for (unsigned i = 0; i < table[n]; i++) s += 2;
    if (s == 18) reach_error();
    return 0;
}"""


def test_runs_that_jump_read_tables_that_nothing_writes():
    found = search(TABLE).by_summaries(10.0)
    assert isinstance(found, Suspect)
    assert found.inputs == (5,)


def leads_to_violation(made, at, values):
    for _ in range(100_000):
        here = t.Valuation(values, lambda *_: 0)
        step = next((s for s in made.transitions if s.source == at and here.holds(s.condition)), None)
        if step is None:
            return False
        values = {**values, **{var: here.evaluate(term) for var, term in step.update.items()}}
        at = step.target
        if at == VIOLATION:
            return True
    raise AssertionError("it goes on and on")


@pytest.mark.parametrize("source", [SUM, TWICE, GUARDED, DOWN, NEST.replace("60000", "300")])
def test_runs_that_jump_over_loops_end_as_those_that_do_not(source):
    made = system(source)
    summaries = {header: leap.summary for header, leap in leaps_of(made, 10.0)[0].items()}
    assert summaries
    draw = random.Random(3)
    for _ in range(60):
        inputs = [draw.choice((draw.randrange(-300, 1200), draw.randrange(256))) for _ in range(4)]
        ends = []
        for known in ({}, summaries):
            values = iter(inputs)
            run = Runner(made.graph, made.violates, made.state, known).run(lambda *_: next(values), 3_000_000)  # noqa: B023
            ends.append((run.end, run.inputs))
        assert ends[0] == ends[1], inputs


LEFT = """int main(void) {
    int n = __VERIFIER_nondet_int(), m = __VERIFIER_nondet_int();
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j += 3) ;
        for (int j = i; j > 0; j--) ;
    }
    return 0;
}"""
ENDLESS = """int main(void) {
    int n = __VERIFIER_nondet_int(), x = __VERIFIER_nondet_int();
    if (n < 0 || n > 9) return 0;
    while (n != 5) if (x == 123456789) n = (n + 2) % 10; else n = 5;
    return 0;
}"""


def test_the_iterations_that_are_left_are_a_rank():
    made = termination(LEFT)
    found = made.by_summaries(5.0)
    assert isinstance(found, Ranked)
    assert len(made.system.cutpoints) == 3
    assert all(len(rank) == 3 for rank in found.ranks.values())


def test_the_states_from_which_a_loop_never_ends_are_a_recurrent_set():
    found = termination(ENDLESS).by_summaries(5.0)
    assert isinstance(found, Trap)
    n, x = found.inputs
    assert x == 123456789
    assert n in (0, 2, 4, 6, 8)


def test_a_step_into_states_from_which_a_loop_never_ends_is_there_for_termination_only():
    made = system(
        "int main(void) { int x = __VERIFIER_nondet_int(); while (x == 4) ; if (x == 5) reach_error(); return 0; }",
        Property.TERMINATION,
    )
    leaping = accelerated(made, leaps_of(made, 5.0)[0])
    assert {step.target for step in leaping.transitions if step.source != START} >= {DIVERGES}
    found = explored(leaping, (DIVERGES,), 5.0)
    assert list(found.values.values()) == [4]

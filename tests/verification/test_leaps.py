"""Runs that take many iterations at once, and what holds case by case of the states that they come to."""

from __future__ import annotations

import pytest

from loopless.limits.verification import MAX_LEAPS
from loopless.terms import holds
from loopless.verification.proofs import Proof
from programs_in_c import named, proves, search

FAR = "int main(void) {{ int x = 0, y = 7; while (x < 90000000) {{ x += 3; if (x > 30000000) y -= 2; }} {} return 0; }}"


def states(source, name, **kinds):
    """The values of a variable at the only cutpoint, in the order of a run."""
    made = search(source)
    (label,) = made.system.cutpoints
    run = made.runner.run(lambda *_: 0, 400, **kinds)
    return run, [values[named(made.system.graph, name)] for at, values in run.visits if at == label]


def test_a_run_leaps_to_where_an_iteration_does_something_else():
    run, x = states(FAR.format("if (y == 7) reach_error();"), "x", leaps=True)
    assert run.end == "return"
    assert not run.exact
    assert {30000000, 30000003, 89999997, 90000000} <= set(x)  # the borders, and the end
    assert all(value % 3 == 0 and 0 <= value <= 90000000 for value in x)
    assert x == sorted(x)
    run, x = states(FAR.format(""), "x")
    assert run.end == "steps"
    assert max(x) < 30000000


def test_what_a_leap_comes_to_is_what_the_run_comes_to():
    """y falls by 2 from the iteration on behind which x is beyond 30000000: 20000000 times."""
    run, y = states(FAR.format("if (y == -39999993) reach_error();"), "y", leaps=True)
    assert run.end == "violation"
    assert (y[0], y[-1]) == (7, 7 - 2 * 20000000)


@pytest.mark.parametrize(
    "body",
    [
        "while (__VERIFIER_nondet_int() < 5) x++;",  # what is read may be other values later
        "while (x < 100000000) { x++; memory[0] = x; y += memory[0]; }",
        "while (x < 100000000) { x++; y = x * x % 7; }",
    ],
)
def test_no_run_leaps_where_iterations_may_differ(body):
    _, x = states(f"int memory[3]; int main(void) {{ int x = 0, y = 0; {body} return x + y; }}", "x", leaps=True)
    assert x == list(range(len(x)))
    assert len(x) > 3 * MAX_LEAPS / 2


@pytest.mark.parametrize("stops", ["table[x] == 200", "x % 64 == {0}", "(x & 63) == {0}"])
@pytest.mark.parametrize("last", [3, 4, 5, 9, 40])
def test_a_run_leaps_over_no_iteration_that_stops(stops, last):
    """The loop stops in one iteration, and would go on in all others."""
    table = f"static const unsigned char table[64] = {{[{last}] = 200}};"
    body = f"int x = 0; while (x < 64 && !({stops.format(last)})) x++; return x;"
    run, x = states(f"{table} int main(void) {{ {body} }}", "x", leaps=True)
    assert run.end == "return"
    assert x[-1] == last


def test_cases_prove_what_holds_on_either_side_of_a_comparison():
    """y = 50000 until x comes there, and y = x behind: no run of few steps sees that."""
    source = """int main(void) {
        int x = 0, y = 50000;
        while (x < 1000000) { if (x < 50000) x++; else { x++; y++; } }
        if (y != 1000000) reach_error();
        return 0;
    }"""
    made = search(source)
    made.sampled(0.3)
    assert made.by_candidates(2.0) is None
    assert proves(made, made.by_cases(20.0))


def test_cases_prove_equations_up_to_multiples_of_what_values_wrap_around_at():
    source = """int main(void) {
        unsigned n = __VERIFIER_nondet_int(), x = n, z = n;
        while (x > 0) { x--; z++; }
        if (z != 2 * n) reach_error();
        return 0;
    }"""
    made = search(source)
    assert proves(made, made.by_cases(20.0))
    wrong = search(source.replace("z != 2 * n", "z == 2 * n && n > 3000000000u"))
    assert not isinstance(wrong.by_cases(5.0), Proof)


def test_what_is_proposed_case_by_case_holds_of_the_states_seen():
    made = search(FAR.format(""))
    made.sampled(0.5, leaps=True)
    (label,) = made.system.cutpoints
    proposed = made.proposals().cases(label)
    assert proposed
    assert all(holds(one, state) for one in proposed for state in made.seen[label])


def test_a_run_leaps_over_writes_and_claims_nothing_of_what_they_left():
    source = """unsigned a[90000]; int main(void) {
        for (unsigned i = 0; i < 90000; i++) a[i] = 2 * i;
        for (unsigned j = 0; j < 90000; j++) if (a[j] != 2 * j) reach_error();
        return 0; }"""
    made = search(source)
    run = made.runner.run(lambda *_: 3, 1500, leaps=True)
    assert {label for label, _ in run.visits} == {*made.system.cutpoints}
    assert len(made.system.cutpoints) == 2
    assert run.forgot
    assert not run.exact
    assert made.sampled(0.5, leaps=True) is None

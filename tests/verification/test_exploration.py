"""Paths of steps by what the steps say of runs: too much is no violation, too little no proof."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopless import terms as t
from loopless.transition.relation import START, VIOLATION, Kind
from loopless.verification.exploration import explored
from loopless.verification.safe_states import unsafe_states
from programs_in_c import system

STRAIGHT = "int main(void) { int x = __VERIFIER_nondet_int(); if (x == 3) reach_error(); return x; }"
SAFE = """int main(void) {
    int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int(), z = __VERIFIER_nondet_int();
    if (x > y && y > z && z > x) reach_error();
    return x;
}"""


def all_of(kind, source):
    made = system(source)
    return replace(made, transitions=tuple(replace(step, kind=kind) for step in made.transitions))


@pytest.mark.parametrize("kind", Kind)
def test_only_exact_and_under_steps_lead_to_a_violation(kind):
    found = explored(all_of(kind, STRAIGHT), (VIOLATION,), 10.0)
    assert (found.path is not None) == (kind is not Kind.OVER)
    assert not found.complete


@pytest.mark.parametrize("kind", Kind)
def test_only_exact_and_over_steps_prove_that_there_is_no_path(kind):
    made = all_of(kind, SAFE)
    assert any(step.target == VIOLATION for step in made.transitions)
    found = explored(made, (VIOLATION,), 10.0)
    assert found.path is None
    assert found.complete == (kind is not Kind.UNDER)
    assert (unsafe_states(made, (VIOLATION,), {}) is not None) == (kind is not Kind.UNDER)


def test_too_little_behind_too_much_is_neither():
    made = system(STRAIGHT)
    (bad,) = [step for step in made.transitions if step.target == VIOLATION]
    first = replace(bad, target="between", condition=t.TRUE, kind=Kind.OVER)
    second = replace(bad, source="between", kind=Kind.UNDER)
    assert first.source == START
    found = explored(replace(made, transitions=(first, second)), (VIOLATION,), 10.0)
    assert found.path is None
    assert not found.complete

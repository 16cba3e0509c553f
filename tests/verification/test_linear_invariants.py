"""Linear invariants by Farkas' lemma, against runs, and in verdicts."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from loopless import terms as t
from loopless.verification.linear_invariants import linear_invariants
from loopless.verification.proofs import LINEAR, Proof
from programs_in_c import search

SWITCHES = """int main(void) {
    int size = 0, cost = 0, inside = 0;
    while (__VERIFIER_nondet_int()) {
        int digit = __VERIFIER_nondet_int() != 0;
        if (digit != inside) { if (cost > 100000) return 0; cost += 3; }
        inside = digit;
        if (digit) { if (size > 100000) return 0; size += 5; }
    }
    if (5 * cost > 6 * size) reach_error();
    return 0;
}"""
"""Each group of digits has one at least, and is begun and ended by a change: 6 for 5."""

PAIRS = """int main(void) {
    int n = __VERIFIER_nondet_int(), m = __VERIFIER_nondet_int(), equal = 0;
    if (n < 0 || n > 1000 || m < 0 || m > 7) return 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 7; j++)
            if (__VERIFIER_nondet_int()) equal++;
    if (equal > 7 * n) reach_error();
    return 0;
}"""


@pytest.mark.parametrize("program", [SWITCHES, PAIRS], ids=["switches", "pairs"])
def test_what_counts_of_ways_exclude_is_proved(program):
    made = search(program)
    made.sampled(0.3)
    assert made.by_candidates(5.0) is None
    found = made.by_linear_invariants(5.0)
    assert isinstance(found, Proof)
    assert found.method == LINEAR


@pytest.mark.parametrize("program", [SWITCHES.replace("> 6 *", "> 5 *"), PAIRS.replace("> 7 * n", ">= 7 * n")])
def test_what_is_reached_has_no_such_proof(program):
    assert search(program).by_linear_invariants(5.0) is None


def walking(random_: random.Random) -> str:
    """Steps by constants, some of them under a condition, and a question about a sum at the end, which most steps do
    not lower.
    """
    names = ("a", "b", "c")
    weights = [random_.randint(-2, 2) for _ in names]
    ways = []
    for way in range(random_.randint(2, 4)):
        steps = [random_.randint(-2, 3) for _ in names]
        if random_.random() < 0.9 and sum(w * s for w, s in zip(weights, steps, strict=True)) < 0:
            steps = [-step for step in steps]
        guard = random_.choice(("1", "a < 9", "b > a", "c != 4", "a + b <= 12"))
        added = " ".join(f"{name} += {step};" for name, step in zip(names, steps, strict=True))
        ways.append(f"case {way}: if ({guard}) {{ {added} }} break;")
    total = " + ".join(f"({w}) * {name}" for w, name in zip(weights, names, strict=True))
    return f"""int main(void) {{
        int a = {random_.randint(0, 3)}, b = 0, c = __VERIFIER_nondet_int();
        if (c < 0 || c > 3) return 0;
        while (__VERIFIER_nondet_int())
            switch (__VERIFIER_nondet_int()) {{ {" ".join(ways)} default: break; }}
        if ({total} < {random_.randint(-9, 1)}) reach_error();
        return 0;
    }}"""


def test_what_is_proposed_is_true_of_runs_and_excludes_a_way_to_the_error():
    """Each proposal is true of all states of runs at its cutpoint, but where a variable wraps around, which these never
    do, and with it the way that it was made for is not taken. Of 24 programs some have one, some none.
    """
    random_ = random.Random(7)
    answers = 0
    for _ in range(24):
        made = search(walking(random_))
        proposed = list(islice(linear_invariants(made.system, made.bad, made.found), 8))
        made.sampled(0.1)
        for found in proposed:
            answers += 1
            for label, condition in found.items():
                assert all(t.holds(condition, state) for state in made.seen[label]), condition
    assert answers > 3

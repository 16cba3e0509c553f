"""Proofs by what iterations come to: certificates with history variables, which the judge accepts."""

from __future__ import annotations

import pytest

from loopless.check.certificates.history import with_history
from loopless.check.certificates.judge import CertifiedClaim, judged
from loopless.check.certificates.property import Follows, Property, violates
from loopless.queries.verification.evidence import claim_of, told, without_history
from loopless.verification.proofs import Proof
from programs_in_c import graph, program, search, system

DELAY = """int main(void) {
    int a = 0, b = 0, st, c, last = __VERIFIER_nondet_int();
    if (last <= 0) return 0;
    while (1) {
        st = 1;
        for (c = 0; c < 2000; c++) if (c >= last) st = 0;
        if (st == 0 && c == last + 1) { a += 3; b += 3; } else { a += 2; b += 2; }
        if (c == last && st == 0) a = a + 1; else if (st == 1 && last < 2000) a = a + 1;
        if (a != b) reach_error();
    }
}"""
NESTED = """int main(void) {
    unsigned n = __VERIFIER_nondet_int() & 1023, c = 0, i, j;
    for (i = 0; i < n; i++) for (j = 0; j < 5; j++) c += 2;
    if (c != 10 * n) reach_error();
    return 0;
}"""
TURNS = """int main(void) {
    unsigned n = __VERIFIER_nondet_int() & 1023, x = 7, y = 7, i;
    for (i = 0; i < n; i++) if (i < 10) x += 3; else y += 3;
    if (x + y != 14 + 3 * n) reach_error();
    return 0;
}"""
POWERS = """int main(void) {
    unsigned n = __VERIFIER_nondet_int() & 1023, s = 0, i;
    for (i = 0; i < n; i++) s += i;
    if (2 * s != n * n - n) reach_error();
    return 0;
}"""


def by_history(source):
    """The proof with history of a program, though there is one without; None where there is none."""
    return search(source).by_history(8.0)


def is_accepted(source, proof, of=None):
    part = with_history(graph(of or source), proof.history)
    claim = claim_of(proof.invariants, system(source))
    property_ = Property.UNREACH_CALL
    return judged(part, claim, violates(property_), Follows(property_, program(of or source).module)).accepted


@pytest.mark.parametrize("source", [TURNS, NESTED], ids=["phases", "nest"])
def test_closed_forms_of_iterations_are_a_proof_alone(source):
    found = by_history(source)
    assert isinstance(found, Proof)
    assert found.history
    assert is_accepted(source, found)


@pytest.mark.parametrize("source", [TURNS, NESTED], ids=["phases", "nest"])
def test_another_program_is_not_proved_by_it(source):
    wrong = source.replace("+= 3; else", "+= 4; else").replace("c += 2", "c += 3")
    found = by_history(source)
    assert found is not None
    assert graph(wrong).blocks.keys() == graph(source).blocks.keys()
    assert not is_accepted(source, found, of=wrong)
    assert by_history(wrong) is None


@pytest.mark.parametrize("source", [TURNS, NESTED], ids=["phases", "nest"])
def test_no_part_of_a_certificate_is_of_another_loop_or_variable(source):
    found = by_history(source)
    assert found is not None
    claim = claim_of(found.invariants, system(source))
    property_ = Property.UNREACH_CALL
    follows = Follows(property_, program(source).module)
    for label, texts in claim.invariants.items():
        for number, text in enumerate(texts):
            if "history:iterations0" not in text:
                continue
            changed = [
                *texts[:number],
                text.replace("|history:iterations0|", "(+ |history:iterations0| 1)"),
                *texts[number + 1 :],
            ]
            other = CertifiedClaim({**claim.invariants, label: tuple(changed)})
            answer = judged(with_history(graph(source), found.history), other, violates(property_), follows)
            assert not answer.accepted


def test_a_nest_with_delay_is_proved_where_safe_states_alone_are_not_inductive():
    looking = search(DELAY)
    found = looking.by_summaries(8.0)
    assert isinstance(found, Proof)
    assert found.history
    assert is_accepted(DELAY, found)


def test_readers_are_told_what_needs_no_history():
    found = by_history(TURNS)
    assert found is not None
    plain = without_history(found.invariants, system(TURNS))
    variables = graph(TURNS).variables.keys()
    assert all(part.variables <= variables for parts in plain.values() for part in parts)
    assert all("history" not in one.text + one.c for one in told(system(TURNS), plain))

"""Proofs by what holds of each two elements: sorted, parted and merged arrays, and no wrong ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopless.check.certificates.document import judged_document
from loopless.check.certificates.judge import CertifiedClaim, judged
from loopless.check.certificates.property import Follows, Property, violates
from loopless.errors import UsageError
from loopless.flowgraph.memory.cell_pairs import with_pairs
from loopless.queries.verification.evidence import claim_of
from loopless.verification.element_pairs import array_states
from loopless.verification.pair_proofs import proved_by_pairs
from loopless.verification.proofs import Proof
from programs_in_c import graph, program, search, system

BEGIN = """int a[100], b[100];
int main(void) {
    int n = __VERIFIER_nondet_int(), i, j, x, m;
    if (n < 1 || n > 100) return 0;
    for (i = 0; i < n; i++) a[i] = __VERIFIER_nondet_int();
"""
END = " return 0; }"
SORTED = "for (i = 1; i < n; i++) if (a[i - 1] > a[i]) reach_error();"
KINDS = {
    "insertion sort": (
        "for (i = 1; i < n; i++) { x = a[i]; j = i - 1; while (j >= 0 && a[j] > x) { a[j + 1] = a[j]; j--; }"
        " a[j + 1] = x; }" + SORTED,
        ("j >= 0", "j > 0"),
    ),
    "bubble sort": (
        "for (i = n - 1; i > 0; i--) for (j = 0; j < i; j++) if (a[j] > a[j + 1])"
        " { x = a[j]; a[j] = a[j + 1]; a[j + 1] = x; }" + SORTED,
        ("j = 0", "j = 1"),
    ),
    "largest": (
        "m = 0; for (i = 1; i < n; i++) if (a[i] > a[m]) m = i;for (i = 0; i < n; i++) if (a[i] > a[m]) reach_error();",
        ("i = 1; i < n", "i = 1; i < n - 1"),
    ),
    "flag": (
        "m = 1; for (i = 1; i < n; i++) if (a[i - 1] > a[i]) m = 0;"
        "if (m) for (i = 1; i < n; i++) if (a[0] > a[i]) reach_error();",
        ("m = 0", "m = i < 3"),
    ),
}


def of(kind: str, *, wrong: bool = False) -> str:
    code, change = KINDS[kind]
    if wrong:
        assert change[0] in code
        code = code.replace(*change, 1)
    return BEGIN + code + END


def found(source: str) -> Proof | None:
    made = search(source)
    made.sampled(0.3)
    made.by_candidates(5.0)
    return proved_by_pairs(made, 20.0)


def accepted(source: str, claim: CertifiedClaim) -> bool:
    property_ = Property.UNREACH_CALL
    part = with_pairs(graph(source)) if claim.pairs else graph(source)
    return judged(part, claim, violates(property_), Follows(property_, program(source).module)).accepted


def claim_for(source: str, proof: Proof) -> CertifiedClaim:
    return replace(claim_of(proof.invariants, system(source)), elements=proof.elements, pairs=proof.pairs)


@pytest.mark.parametrize("kind", KINDS)
def test_the_judge_accepts_a_proof_and_no_mutant_of_it(kind):
    source = of(kind)
    proof = found(source)
    assert proof is not None
    claim = claim_for(source, proof)
    assert accepted(source, claim)
    tried = 0
    for label, texts in claim.invariants.items():
        for number, text in enumerate(texts):
            if "|a[l]|" not in text:
                continue
            changed = text.replace("|a[l]|", "(- |a[l]| 1)") if "(<= |a[k]|" in text else text.replace("a.l", "a.k")
            other = {**claim.invariants, label: (*texts[:number], changed, *texts[number + 1 :])}
            assert not accepted(source, replace(claim, invariants=other))
            tried += 1
    assert tried


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_with_a_violation_is_not_proved(kind):
    wrong = of(kind, wrong=True)
    assert found(wrong) is None


def test_runs_that_guess_come_far_where_arrays_are_small():
    """Each array is as long as the program says, and its cell has to be inside for a run to go on."""
    source = """int main(void) {
        int n = __VERIFIER_nondet_int(), i;
        if (n < 1 || n > 100) return 0;
        int a[n], b[n], c[n];
        for (i = 0; i < n; i++) { a[i] = i; b[i] = a[i]; }
        for (i = 0; i < n; i++) c[i] = b[i];
        for (i = 0; i < n; i++) if (c[i] < 0) reach_error();
        return 0;
    }"""
    made = system(source)
    assert len(made.graph.cells) == 3
    states = array_states(made)
    assert all(
        len({one.scalars[var] for one in found for var in one.scalars if var.name == "n"}) > 5
        for found in states.values()
    )


# -- certificates by hand ----------------------------------------------------------------------------------------------

SORTED_TO = "(=> (and (< a.k a.l) (< a.l {})) (<= |a[k]| |a[l]|))"
BOUNDS = ("(<= n 100)", "(<= i n)", "(>= i 0)")


def by_hand(source: str, *invariants: tuple[str, ...], pairs: bool = True) -> bool:
    headers = system(source).cutpoints
    claim = CertifiedClaim(dict(zip(headers, invariants, strict=True)), elements=True, pairs=pairs)
    return accepted(source, claim)


SORTED_INPUT = (BEGIN + SORTED + END).replace(
    "a[i] = __VERIFIER_nondet_int();",
    "{ a[i] = __VERIFIER_nondet_int(); if (i > 0 && a[i - 1] > a[i]) return 0; }",
)
FIRST = (*BOUNDS, SORTED_TO.format("i"))
SECOND = ("(<= n 100)", "(>= i 1)", SORTED_TO.format("n"))


def test_what_holds_of_two_elements_is_used_of_those_read():
    assert by_hand(SORTED_INPUT, FIRST, SECOND)
    assert not by_hand(SORTED_INPUT, BOUNDS, SECOND)
    assert not by_hand(SORTED_INPUT, FIRST, (*SECOND[:2], SORTED_TO.format("(- n 1)")))
    assert not by_hand(SORTED_INPUT, FIRST, (*SECOND[:2], SORTED_TO.format("(+ n 1)")))


def test_strict_order_is_not_shown_of_what_may_be_equal():
    strict = tuple(text.replace("(<= |a[k]|", "(< |a[k]|") for text in FIRST)
    assert not by_hand(SORTED_INPUT, strict, tuple(text.replace("(<= |a[k]|", "(< |a[k]|") for text in SECOND))
    rising = SORTED_INPUT.replace("a[i - 1] > a[i]) return", "a[i - 1] >= a[i]) return")
    assert rising != SORTED_INPUT
    assert by_hand(rising, strict, tuple(text.replace("(<= |a[k]|", "(< |a[k]|") for text in SECOND))


@pytest.mark.parametrize(
    "between",
    [
        "a[3] = 0;",
        "if (n > 5) a[n - 1] = a[0];",
        "a[__VERIFIER_nondet_int() & 63] = 7;",
        "{ int *p = n > 5 ? &a[1] : &b[1]; *p = 4; }",
        "__builtin_memset(a + 1, 0, 40);",
        "__builtin_memcpy(a, b, 40);",
        "((char *)a)[9] = 1;",
        "x = a[0]; a[0] = a[1]; a[1] = x;",
    ],
)
def test_two_elements_are_no_longer_in_order_once_one_is_written(between):
    source = SORTED_INPUT.replace("for (i = 1;", f"{between} for (i = 1;")
    assert source != SORTED_INPUT
    if "char" in between:  # then no element is followed
        assert not graph(source).cells
        return
    assert not by_hand(source, FIRST, SECOND)


def test_a_write_between_two_reads_is_seen():
    read = "if (a[i - 1] > a[i]) reach_error();"
    source = SORTED_INPUT.replace(read, "{ x = a[i - 1]; BETWEEN if (x > a[i]) reach_error(); }")
    assert source != SORTED_INPUT
    assert by_hand(source.replace("BETWEEN", ""), FIRST, SECOND)
    assert not by_hand(source.replace("BETWEEN", "a[i] = 0;"), FIRST, SECOND)
    assert not by_hand(source.replace("BETWEEN", "a[__VERIFIER_nondet_int() & 63]--;"), FIRST, SECOND)


def test_an_element_is_not_two_at_once():
    """That all elements at two places are equal says nothing of one element: it has one value."""
    source = SORTED_INPUT.replace("a[i - 1] > a[i]) reach_error", "a[i] != a[i]) reach_error")
    bounds = ("(<= n 100)", "(>= i 0)")
    assert by_hand(source, bounds, bounds)
    equal = "(= |a[k]| |a[l]|)"
    assert not by_hand(source, (*bounds, equal), (*bounds, equal))
    assert by_hand(source, (*bounds, SORTED_TO.format("i")), (*bounds, f"(=> (= a.k a.l) {equal})"))


# -- certificates as documents -----------------------------------------------------------------------------------------


def test_only_certificates_about_elements_are_about_two():
    document = {"format": "loopless-certificate", "version": 1, "property": "unreach-call", "pairs": True}
    with pytest.raises(UsageError, match="each two elements"):
        judged_document(document, 1.0)

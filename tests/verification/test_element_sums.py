"""Proofs by sums over elements: sorts and others that keep all elements, and none that lose one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopless.check.certificates.element_sums import with_sums
from loopless.check.certificates.judge import CertifiedClaim, judged
from loopless.check.certificates.property import Follows, Property, graph_of, violates
from loopless.queries.verification.evidence import claim_of
from loopless.transition.building import system_of
from loopless.verification.accumulations import accumulations, indices, passages, sums_for
from loopless.verification.proofs import Proof
from loopless.verification.sum_proofs import proved_by_sums
from programs_in_c import graph, program, search, system

BEGIN = """int a[100], b[100];
int main(void) {
    int n = __VERIFIER_nondet_int(), i, j, x, m;
    if (n < 1 || n > 100) return 0;
    for (i = 0; i < n; i++) a[i] = __VERIFIER_nondet_int();
"""
END = " return 0; }"
COUNT = "for (i = 0; i < n; i++) if ({0}[i] == v) {1}++;"
COUNTED = f"int v = __VERIFIER_nondet_int(), c = 0, d = 0; {COUNT.format('a', 'c')}"
COUNTED_AGAIN = f"{COUNT.format('a', 'd')} if (c != d) reach_error();"
KINDS = {
    "insertion sort": (
        COUNTED + "for (i = 1; i < n; i++) { x = a[i]; j = i - 1; while (j >= 0 && a[j] > x) { a[j + 1] = a[j]; j--; }"
        " a[j + 1] = x; }" + COUNTED_AGAIN,
        ("a[j + 1] = x", "a[j + 1] = a[i]"),
    ),
    "insertion sort from above": (
        COUNTED + "for (i = 1; i < n; i++) { x = a[i]; for (j = i; j > 0 && a[j - 1] > x; j--) a[j] = a[j - 1];"
        " a[j] = x; }" + COUNTED_AGAIN,
        ("a[j] = x", "if (j > 1) a[j] = x"),
    ),
    "bubble sort": (
        COUNTED + "for (i = n - 1; i > 0; i--) for (j = 0; j < i; j++) if (a[j] > a[j + 1])"
        " { x = a[j]; a[j] = a[j + 1]; a[j + 1] = x; }" + COUNTED_AGAIN,
        ("x = a[j];", "x = a[j + 1];"),
    ),
    "rotation": (
        COUNTED + "x = a[n - 1]; for (i = n - 1; i > 0; i--) a[i] = a[i - 1]; a[0] = x;" + COUNTED_AGAIN,
        ("i > 0", "i > 1"),
    ),
    "copy from behind": (
        COUNTED + "for (i = 0; i < n; i++) b[n - 1 - i] = a[i];" + COUNT.format("b", "d") + "if (c != d) reach_error();",
        ("b[n - 1 - i]", "b[i / 2]"),
    ),
    "count of each": (
        "int k, c, d; for (i = 0; i < n; i++) b[i] = a[i]; x = a[0]; for (i = 0; i < n - 1; i++) a[i] = a[i + 1];"
        "a[n - 1] = x; for (k = 0; k < n; k++) { int v = b[k]; c = 0; d = 0;"
        f"{COUNT.format('a', 'c')} {COUNT.format('b', 'd')} if (c != d) reach_error(); }}",
        ("a[n - 1] = x", "a[n - 1] = b[n - 1]"),
    ),
    "sum of squares": (
        "long c = 0, d = 0; for (i = 0; i < n; i++) a[i] &= 63; for (i = 0; i < n; i++) c += a[i] * a[i];"
        "for (i = 0, j = n - 1; i < j; i++, j--) { x = a[i]; a[i] = a[j]; a[j] = x; }"
        "for (i = n; i > 0; i--) d += a[i - 1] * a[i - 1]; if (c != d) reach_error();",
        ("a[j] = x", "a[j] = -x + 1"),
    ),
    "checksum with places": (
        "unsigned c = 0, d = 0, u; for (i = 0; i < n; i++) c += i * (unsigned)a[i]; a[n - 1] ^= 0;"
        "for (u = 0; u < (unsigned)n; u++) d += u * (unsigned)a[u]; if (c != d) reach_error();",
        ("^= 0", "^= 1"),
    ),
}  # fmt: skip


def of(kind: str, *, wrong: bool = False) -> str:
    code, change = KINDS[kind]
    if wrong:
        assert change[0] in code
        code = code.replace(*change, 1)
    return BEGIN + code + END


def found(source: str) -> Proof | None:
    made = search(source)
    made.sampled(0.3)
    made.by_candidates(3.0)
    plain = graph_of(program(source), "main", Property.UNREACH_CALL, cells=False)
    return proved_by_sums(made, plain, 20.0)


def accepted(source: str, claim: CertifiedClaim, proof: Proof) -> bool:
    property_ = Property.UNREACH_CALL
    part = with_sums(graph(source), proof.sums)
    return judged(part, claim, violates(property_), Follows(property_, program(source).module)).accepted


_LONG = {"checksum with places", "count of each", "sum of squares", "insertion sort from above", "copy from behind"}
"""The kinds that take longest."""
_ASKED = [pytest.param(kind, marks=pytest.mark.slow if kind in _LONG else ()) for kind in KINDS]


@pytest.mark.parametrize("kind", _ASKED)
def test_the_judge_accepts_a_proof_and_no_mutant_of_it(kind):
    source = of(kind)
    proof = found(source)
    assert proof is not None
    claim = replace(claim_of(proof.invariants, system(source)), elements=proof.elements)
    assert accepted(source, claim, proof)
    told = {label: [text for text in texts if "history:" in text] for label, texts in claim.invariants.items()}
    without = {
        label: tuple(text for text in texts if text not in told[label]) for label, texts in claim.invariants.items()
    }
    assert not accepted(source, replace(claim, invariants=without), proof)
    for label, texts in claim.invariants.items():
        for text in told[label]:  # what is false in some run is refused, whatever else is there
            other = {**claim.invariants, label: tuple(f"(not {one})" if one == text else one for one in texts)}
            assert not accepted(source, replace(claim, invariants=other), proof)
    counted = tuple(replace(one, sum=f"(+ 1 {one.sum})") for one in proof.sums.sums)
    assert not accepted(source, claim, replace(proof, sums=replace(proof.sums, sums=counted)))


@pytest.mark.parametrize("kind", _ASKED)
def test_a_program_that_loses_an_element_is_not_proved(kind):
    assert found(of(kind, wrong=True)) is None


# -- what is summed ----------------------------------------------------------------------------------------------------


def summed(loop: str):
    """What loops add up, as text, behind the beginning of the programs above."""
    source = f"{BEGIN} int v = __VERIFIER_nondet_int(), w = 5; long c = 0; unsigned u = 0; {loop} if (c == 12345 + u) reach_error(); {END}"
    plain = graph_of(program(source), "main", Property.UNREACH_CALL, cells=False)
    told = system_of(plain, violates(Property.UNREACH_CALL), lambda _: None, accesses=True)
    return graph(source), told, accumulations(told, graph(source).cells)


@pytest.mark.parametrize(
    ("loop", "term", "bits", "below", "ends"),
    [
        ("for (i = 0; i < n; i++) c += a[i];", "element", None, "i", {"n"}),
        ("for (i = 2; i <= n - 3; i++) c += a[i];", "element", None, "i", {"2", "n - 2"}),
        ("for (i = n - 1; i >= 0; i--) c += a[i];", "element", None, "i + 1", {"n"}),
        ("for (i = 0; i < n; i++) c += a[n - 1 - i];", "element", None, "n - i", {"n"}),
        ("for (i = 0; i < n; i++) c += 2 * a[i] + v;", "2*element + v", None, "i", {"n"}),
        ("for (i = 0; i < n; i++) if (a[i] > v) c += 3;", None, None, "i", {"n"}),
        ("for (i = 0; i < n; i++) u += (unsigned)a[i];", None, 32, "i", {"n"}),
        ("for (i = 1; i < n; i++) c += i * a[i - 1];", None, None, "i - 1", {"n - 1"}),
    ],
)
def test_what_a_loop_adds_for_each_element_is_summed(loop, term, bits, below, ends):
    _, _, found_ = summed(loop)
    (one,) = found_
    assert term is None or str(one.summed.term) == term
    assert one.summed.bits == bits
    assert str(one.passage.below) == below
    assert {str(end) for end in one.passage.ends} == ends


@pytest.mark.parametrize(
    "loop",
    [
        "for (i = 0; i < n; i++) c++;",
        "for (i = 0; i < n; i++) c += a[0];",
        "for (i = 0; i < n; i += 2) c += a[i];",
        "for (i = 0; i < n; i++) c += a[i] * b[i];",
        "for (i = 0; i < n; i++) c = 2 * c + a[i];",
        "for (i = 0; i < n; i++) if (c < 100) c += a[i];",
        "for (i = 0; i < n; i++) { c += a[i] * v; v++; }",
        "for (i = 0; i < n; i++) c += a[i] == __VERIFIER_nondet_int();",
        "for (i = 0; i + 1 < n; i++) c += a[i] - a[i + 1];",
    ],
)
def test_what_depends_on_more_than_an_element_is_not(loop):
    assert summed(loop)[2] == []


def test_sums_are_of_the_elements_that_loops_go_over():
    part, told, found_ = summed(
        "for (i = 0; i < n; i++) c += a[i]; for (j = n; j > 0; j--) b[j - 1] = a[j - 1]; c += b[0];"
    )
    accessed = indices(told.graph, part.cells)
    few = sums_for(part, found_)
    assert {(one.cell.cell.name, str(one.below)) for one in few} == {("a[k]", "i"), ("a[k]", "n")}
    more = sums_for(part, found_, passages(told, accessed))
    behind = {("a[k]", "j"), ("b[k]", "j"), ("b[k]", "n")}
    assert {(one.cell.cell.name, str(one.below)) for one in more} == behind | {("a[k]", "i"), ("a[k]", "n")}

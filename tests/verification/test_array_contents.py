"""Proofs by what loops write to arrays: certificates about all elements, which the judge accepts, and no wrong ones."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import pytest

from loopless.check.certificates.document import judged_document
from loopless.check.certificates.history import with_history
from loopless.check.certificates.judge import CertifiedClaim, judged
from loopless.check.certificates.property import Follows, Property, graph_of, violates
from loopless.errors import UsageError
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.queries.verification.answering import verify
from loopless.queries.verification.evidence import claim_of
from loopless.verification.proofs import Proof, small_sizes
from programs_in_c import HEAD, graph, program, search, system

BEGIN = """int a[1000], b[1000], c[1000];
int main(void) {
    int n = __VERIFIER_nondet_int(), i, s = 0;
    if (n < 0 || n > 1000) return 0;
"""
END = " return 0; }"
CHECKED = "for (i = 0; i < n; i++) if (!({})) reach_error();"
FOR = "for (i = 0; i < n; i++)"

KINDS = {
    "fill": (f"{FOR} a[i] = 2 * i + 1;", "a[i] == 2 * i + 1", ("2 * i + 1;", "2 * i + (i != 7);")),
    "copy": (
        f"{FOR} b[i] = __VERIFIER_nondet_int(); {FOR} a[i] = b[i]; {FOR} c[i] = a[i];",
        "c[i] == b[i]",
        ("c[i] = a[i]", "c[i] = a[0]"),
    ),
    "map of two": (
        f"{FOR} {{ a[i] = i; b[i] = 2 * i; }} {FOR} c[i] = a[i] + b[i];",
        "c[i] == 3 * i",
        ("b[i] = 2 * i", "b[i] = i < 9 ? 2 * i : 0"),
    ),
    "reversed": (f"{FOR} a[n - 1 - i] = i;", "a[i] == n - 1 - i", ("a[n - 1 - i] = i", "a[n - 1 - i] = i + i / 5")),
    "stride": (
        f"{FOR} a[i] = 9; for (i = 0; 2 * i < n; i++) a[2 * i] = i;",
        "i % 2 == 0 || a[i] == 9",
        ("a[2 * i] = i", "a[2 * i + (i == 3 && n > 9)] = i"),
    ),
    "guard": (
        f"{FOR} b[i] = __VERIFIER_nondet_int(); {FOR} if (b[i] > 0) a[i] = 1; else a[i] = -1;",
        "b[i] > 0 ? a[i] == 1 : a[i] == -1",
        ("if (b[i] > 0) a", "if (b[i] >= 0) a"),
    ),
    "in place": (f"{FOR} a[i] = i; {FOR} a[i] = a[i] + 4;", "a[i] == i + 4", ("a[i] + 4", "a[i] + 4 - i / 999")),
    "carried": (
        "if (n < 1) return 0; a[0] = 5; for (i = 1; i < n; i++) a[i] = a[i - 1] + 2;",
        "a[i] == 5 + 2 * i",
        ("a[0] = 5", "a[0] = 4"),
    ),
    "zeros": (f"{FOR} a[i] = b[i];", "a[i] == 0", ("a[i] = b[i]", "a[i] = i == 9")),
    "zeros that stay": (
        "for (i = 5; i < n; i++) a[i] = i;",
        "a[i] == (i < 5 ? 0 : i)",
        ("i = 5", "i = 4"),
    ),
    "prefix sums": (
        f"{FOR} b[i] = 1; {FOR} {{ s += b[i]; a[i] = s; }}",
        "a[i] == i + 1",
        ("b[i] = 1;", "b[i] = i < 8;"),
    ),
    "sum": (f"{FOR} a[i] = 2; {FOR} s += a[i];", "s == 2 * n", ("a[i] = 2;", "a[i] = 2; if (n > 3) a[3] = 0;")),
    "count": (f"{FOR} a[i] = 1; {FOR} if (a[i] == 1) s++;", "s == n", ("a[i] = 1;", "a[i] = i != 3;")),
    "nest": (
        f"int k; {FOR} a[i] = 0; for (k = 0; k < 4; k++) {FOR} a[i] += 2;",
        "a[i] == 8",
        ("k < 4", "k < 5"),
    ),
    "read after written": (
        f"{FOR} {{ b[i] = 3; a[i] = b[i]; }} {FOR} if (a[i] != b[i]) s = 1;",
        "s == 0",
        ("a[i] = b[i]", "a[i] = b[0] + i / 900"),
    ),
}


SEARCHES = {
    "behind a text": (
        "int k = 0, m = n < 999 ? n : 999; for (i = 0; i < m; i++) a[i] = 7; a[m] = 0; while (a[k]) k++; n = 1;",
        "k == m",
        ("a[m] = 0", "a[m] = m == 5 ? 3 : 0"),
    ),
    "a sentinel": (
        "int k = 0, x = __VERIFIER_nondet_int(), m = n; if (n > 999) return 0; a[n] = x; while (a[k] != x) k++; n = 1;",
        "k <= m",
        ("a[n] = x", "a[n + (n > 7 && n < 900)] = x"),
    ),
    "a queue of its own": (
        "struct { int items[1000], head, tail; } q = {0}; for (i = 0; i < n; i++) q.items[q.tail++] = 3; while (q.head < q.tail) s += q.items[q.head++]; i = n = 1;",
        "s == 3 * q.tail",
        ("q.items[q.tail++] = 3", "q.items[q.tail++] = 3 + (i == 4)"),
    ),
}
"""Proofs that need simple candidates beside what loops write."""


def of(kind: str, *, wrong: bool = False) -> str:
    code, wanted, change = (KINDS | SEARCHES)[kind]
    if wrong:
        assert change[0] in code
        code = code.replace(*change)
    return BEGIN + code + CHECKED.format(wanted) + END


def found(source: str, *, simple: bool = False) -> Proof | None:
    plain = graph_of(program(source), "main", Property.UNREACH_CALL, cells=False)
    return search(source).by_contents(plain, 10.0, simple=simple)


def accepted(source: str, proof: Proof, claim: CertifiedClaim | None = None) -> bool:
    claim = claim or replace(claim_of(proof.invariants, system(source)), elements=proof.elements)
    part, property_ = with_history(graph(source), proof.history), Property.UNREACH_CALL
    return judged(part, claim, violates(property_), Follows(property_, program(source).module)).accepted


@pytest.mark.parametrize("kind", KINDS)
def test_what_loops_write_is_a_proof_that_the_judge_accepts(kind):
    proof = found(of(kind))
    assert isinstance(proof, Proof)
    assert accepted(of(kind), proof)


@pytest.mark.parametrize("kind", SEARCHES)
def test_a_search_ends_at_what_was_written(kind):
    proof = found(of(kind), simple=True)
    assert isinstance(proof, Proof)
    assert accepted(of(kind), proof)
    assert max(len(parts) for parts in proof.invariants.values()) < 25
    assert found(of(kind, wrong=True), simple=True) is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_with_a_violation_is_not_proved(kind):
    proof = found(of(kind))
    assert proof is not None
    wrong = of(kind, wrong=True)
    assert found(wrong) is None
    if graph(wrong).blocks.keys() == graph(of(kind)).blocks.keys():
        claim = replace(claim_of(proof.invariants, system(of(kind))), elements=True)
        assert not accepted(wrong, proof, claim)


@pytest.mark.parametrize("kind", ["fill", "carried", "sum"])
def test_no_certificate_passes_with_another_value_or_count(kind):
    source = of(kind)
    proof = found(source)
    assert proof is not None
    claim = claim_of(proof.invariants, system(source))
    tried = 0
    for label, texts in claim.invariants.items():
        for number, text in enumerate(texts):
            if "|a[k]|" not in text:
                continue
            changed = text.replace("|a[k]|", "(+ |a[k]| 1)")
            other = {**claim.invariants, label: (*texts[:number], changed, *texts[number + 1 :])}
            assert not accepted(source, proof, CertifiedClaim(other, elements=True))
            tried += 1
    assert tried


# -- certificates by hand ----------------------------------------------------------------------------------------------

SUM = BEGIN + f"{FOR} a[i] = 2; {FOR} {{ s += a[i]; }} if (s != 2 * n) reach_error();" + END
BOUNDS = ("(>= i 0)", "(<= i n)", "(<= n 1000)", "(>= n 0)")
FILLED = "(=> (< a.k i) (= |a[k]| 2))"
ALL_FILLED = "(=> (< a.k n) (= |a[k]| 2))"


def by_hand(source: str, first: tuple[str, ...], second: tuple[str, ...], *, elements: bool = True) -> bool:
    headers = system(source).cutpoints
    claim = CertifiedClaim(dict(zip(headers, (first, second), strict=True)), elements=elements)
    property_ = Property.UNREACH_CALL
    return judged(graph(source), claim, violates(property_), Follows(property_, program(source).module)).accepted


SECOND = (*BOUNDS, ALL_FILLED, "(= s (* 2 i))")


def test_a_sum_needs_what_holds_of_all_elements():
    first = (*BOUNDS, FILLED, "(= s 0)")
    assert by_hand(SUM, first, SECOND)
    assert not by_hand(SUM, first, SECOND, elements=False)
    assert not by_hand(SUM, (*BOUNDS, "(= s 0)"), SECOND)
    assert not by_hand(SUM, first, (*BOUNDS, "(= s (* 2 i))"))
    assert not by_hand(SUM, first, (*BOUNDS, "(=> (< a.k (- n 1)) (= |a[k]| 2))", "(= s (* 2 i))"))
    assert not by_hand(SUM, first, (*BOUNDS, "(=> (= a.k 0) (= |a[k]| 2))", "(= s (* 2 i))"))


@pytest.mark.parametrize(
    "between",
    [
        "a[i] = 3;",
        "if (n > 5) a[5] = 3;",
        "a[__VERIFIER_nondet_int() & 511] = 7;",
        "__builtin_memset(a, 0, sizeof a);",
        "{ int *p = n > 5 ? &a[1] : &b[1]; *p = 4; }",
        "__builtin_memcpy(a, b, 40);",
    ],
)
def test_an_element_is_not_what_it_was_once_it_is_written(between):
    """What is stored since the header, there or perhaps there, is what is read."""
    source = SUM.replace("{ s += a[i]; }", f"{{ {between} s += a[i]; }}")
    assert source != SUM
    assert not by_hand(source, (*BOUNDS, FILLED, "(= s 0)"), SECOND)


def test_an_element_is_what_was_stored_last():
    source = SUM.replace("{ s += a[i]; }", "{ a[i] = 9; a[0] = 1; a[i] = 2; a[0] = 2; s += a[i]; }")
    assert by_hand(source, (*BOUNDS, FILLED, "(= s 0)"), SECOND)
    swapped = source.replace("a[i] = 2; a[0] = 2;", "a[0] = 2; a[i] = 1;")
    assert swapped != source
    assert not by_hand(swapped, (*BOUNDS, FILLED, "(= s 0)"), SECOND)


def test_what_is_not_read_on_a_way_says_nothing_there():
    """Where i is 10 and more no element is read: nothing is known of the element i + 990, which is not there."""
    begin = SUM.replace("if (n < 0 || n > 1000)", "if (n != 1000)")
    right = begin.replace("{ s += a[i]; }", "{ if (i < 10) s += a[i + 990]; else s += 2; }")
    first = (*BOUNDS, "(= n 1000)", "(<= a.k 999)", FILLED, "(= s 0)")
    second = (*SECOND, "(= n 1000)", "(<= a.k 999)")
    assert by_hand(right, first, second)
    assert not by_hand(right.replace("else s += 2", "else s += 3"), first, second)


# -- certificates as documents -----------------------------------------------------------------------------------------


def test_a_document_is_judged_with_all_elements_and_refused_without(tmp_path):
    file = tmp_path / "a.c"
    file.write_text(HEAD + SUM, encoding="utf-8")
    found = verify(load([file], Settings()), Property.UNREACH_CALL, Settings(), seconds=30.0)
    assert found.verdict == "true"
    assert found.certificate is not None
    assert found.certificate["elements"] is True
    assert judged_document(found.certificate, 30.0)["accepted"]
    assert not judged_document({**found.certificate, "elements": False}, 30.0)["accepted"]
    wrong = HEAD + SUM.replace("a[i] = 2;", "a[i] = 2 - i / 999;")
    file.write_text(wrong, encoding="utf-8")
    assert not judged_document(found.certificate, 30.0)["accepted"]


@pytest.mark.parametrize("more", [{"property": "termination"}, {"property": "unreach-call", "repeating": [1]}])
def test_only_certificates_about_errors_are_about_all_elements(more):
    with pytest.raises(UsageError, match="about all elements"):
        judged_document({"format": "loopless-certificate", "version": 1, "elements": True, **more}, 1.0)


VARYING = """int main(void) {
    int n = __VERIFIER_nondet_int(), i, s = 0;
    if (n <= 0 || n > 100000) return 0;
    int a[n];
    for (i = 0; i < n; i++) a[i] = 2;
    for (i = 0; i < n; i++) s += a[i];
    if (s != 2 * n) reach_error();
    return 0;
}"""


def test_arrays_of_varying_size_are_proved_alike():
    proof = found(VARYING)
    assert proof is not None
    assert accepted(VARYING, proof)
    wrong = VARYING.replace("a[i] = 2", "a[i] = 2 - (i == n - 1)")
    assert found(wrong) is None


def test_runs_with_small_sizes_come_first_and_take_elements_that_differ():
    inputs = list(small_sizes())
    assert [one[0] for one in inputs] == sorted(one[0] for one in inputs)
    assert {one[0] for one in inputs} == {1, 2, 3}
    assert all(len(one) <= 13 for one in inputs)
    assert len(set(chain.from_iterable(inputs))) > 10


COUNTED = """int c[26];
int main(void) {
  int n = __VERIFIER_nondet_int();
  if (n < 0 || n > 1000) return 0;
  for (int i = 0; i < n; i++) { int x = __VERIFIER_nondet_int(); if (x >= 0 && x < 26) c[x]++; }
  for (int i = 0; i < 26; i++) if (c[i] < 0 || c[i] > n) reach_error();
  return 0;
}
"""


def test_counts_begin_with_the_zeros_of_a_global_array(tmp_path):
    def verdict(text):
        file = tmp_path / "a.c"
        file.write_text(HEAD + text, encoding="utf-8")
        return verify(load([file]), Property.UNREACH_CALL, Settings()).words

    assert verdict(COUNTED) == "true"
    assert verdict(COUNTED.replace("c[x]++", "c[x] += 1 + (i == 3)")) == "false(unreach-call)"
    assert verdict(COUNTED.replace("int c[26];", "int c[26] = {0, 5};")) == "false(unreach-call)"

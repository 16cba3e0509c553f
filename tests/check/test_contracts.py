"""Certificates that rest on contracts of functions: what the judge accepts of them, and what it does not."""

from __future__ import annotations

import pytest

from loopless.check.certificates.document import Subject, document_of, judged_document
from loopless.check.certificates.judge import CertifiedClaim
from loopless.check.certificates.property import Property
from loopless.errors import UsageError
from loopless.source import SourceOptions
from programs_in_c import HEAD

MC91 = """
int f(int n) { if (n > 100) return n - 10; return f(f(n + 11)); }
int main(void) { int x = __VERIFIER_nondet_int(); int r = f(x); if (r != 91 && x <= 101) reach_error(); return 0; }
"""
LARGE, SMALL = (
    "(or (<= |f::n@call| 100) (= |f::@result| (- |f::n@call| 10)))",
    "(or (> |f::n@call| 100) (= |f::@result| 91))",
)
DEPTH = """
int depth;
int f(int n) { int r = 0; depth = depth + 1; if (n > 0) { r = f(n - 1); f(n - 2); } depth = depth - 1; return r; }
int main(void) { f(__VERIFIER_nondet_int()); if (depth != 0) reach_error(); return 0; }
"""
SAME = "(= |f::depth| |f::depth@call|)"


@pytest.fixture
def judge(tmp_path):
    """Whether a certificate with these contracts is accepted, with what is said of it."""

    def judged(source, contracts, invariants=None, property_=Property.UNREACH_CALL, ranks=None, recurrent=None):
        file = tmp_path / "a.c"
        file.write_text(HEAD + source, encoding="utf-8")
        held = {"f::@begin": ()} if invariants is None else invariants
        made = document_of(
            Subject((str(file),), SourceOptions(data_model="LP64")), property_,
            CertifiedClaim(held, ranks, recurrent), {}, contracts,
        )  # fmt: skip
        return judged_document(made, 60.0)

    return judged


def test_a_contract_that_proves_itself_and_the_property_is_accepted(judge):
    assert judge(MC91, {"f": (LARGE, SMALL)})["accepted"]


@pytest.mark.parametrize(
    "contract",
    [
        (),  # anything is returned
        (LARGE,),  # says nothing of what main does where x is small
        (SMALL,),  # f(90) = f(101), of which nothing is known
        (LARGE, "(or (> |f::n@call| 100) (= |f::@result| 92))"),  # f(100) is 91
        (LARGE, "(or (> |f::n@call| 99) (= |f::@result| 91))", "(<= |f::@result| 91)"),  # f(200) is 190
        ("(= |f::@result| 91)",),  # f(102) is 92
        ("false",),  # that no call returns
    ],
)
def test_what_is_not_enough_or_not_so_is_refused(judge, contract):
    found = judge(MC91, {"f": contract})
    assert not found["accepted"]
    assert any("violation" in words for words in found["failed"])


def test_a_contract_tells_what_globals_become(judge):
    assert judge(DEPTH, {"f": (SAME,)})["accepted"]
    assert not judge(DEPTH, {"f": ()})["accepted"]
    assert not judge(DEPTH.replace("depth - 1", "depth - (n != -1)"), {"f": (SAME,)})["accepted"]
    assert not judge(DEPTH, {"f": ("(= |f::depth| (+ |f::depth@call| 1))",)})["accepted"]


def test_what_a_call_is_given_is_what_it_held_before_the_call(judge):
    """The target of the call is its argument, and the callee changes its parameter."""
    source = """
    int f(int n) { if (n < 1) { n = n + 1; return n; } n = f(n - 1); return f(n - 1) + 1; }
    int main(void) { int x = 0; x = f(x); if (x != 1) reach_error(); return 0; }
    """
    given = "(or (> |f::n@call| 0) (= |f::@result| (+ |f::n@call| 1)))"
    assert judge(source, {"f": (given,)})["accepted"]
    assert not judge(source.replace("x != 1", "x == 1"), {"f": (given,)})["accepted"]


def test_a_call_that_never_returns_returns_anything(judge):
    """Every contract holds of it; what is behind it is not reached."""
    source = """
    int f(int n) { return f(n) + f(n); }
    int main(void) { f(1); reach_error(); return 0; }
    """
    assert judge(source, {"f": ("false",)})["accepted"]
    assert not judge(source, {"f": ()})["accepted"]


def test_a_rank_may_rest_on_a_contract(judge):
    """f(n) calls f(f(n - 1) - 1) where n > 0: that this is 0 tells the contract."""
    source = """
    int f(int n) { if (n == 0) return 1; return f(f(n - 1) - 1); }
    int main(void) { int x = __VERIFIER_nondet_int(); if (x >= 0) f(x); return 0; }
    """
    held, ranks = {"f::@begin": ("(>= |f::n| 0)",)}, {"f::@begin": ("|f::n|",)}
    one = "(= |f::@result| 1)"
    assert judge(source, {"f": (one,)}, held, Property.TERMINATION, ranks)["accepted"]
    for other in ((), ("(>= |f::@result| 1)",), ("(= |f::@result| 2)",)):
        assert not judge(source, {"f": other}, held, Property.TERMINATION, ranks)["accepted"]


@pytest.mark.parametrize(
    ("contracts", "words"),
    [
        ({"f": ("(= |f::n| 1)",)}, "f::n"),  # what the parameter holds at the return is nothing that a caller knows
        ({"f": ("(= x 1)",)}, "speaks of x"),
        ({"g": ("true",)}, "contract of g"),
    ],
)
def test_contracts_speak_of_what_calls_are_given_and_leave(judge, contracts, words):
    with pytest.raises(UsageError, match=words):
        judge(MC91, contracts)


def test_what_is_said_never_to_end_rests_on_no_contract(judge):
    with pytest.raises(UsageError, match="contracts"):
        judge(MC91, {"f": ("false",)}, property_=Property.TERMINATION, recurrent={"f::@begin": ("true",)})

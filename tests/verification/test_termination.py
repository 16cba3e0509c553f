"""Ranks and recurrent sets of programs about which it is known whether they end."""

from __future__ import annotations

import functools
from itertools import pairwise

import pytest

from loopless.check.certificates.property import Property
from loopless.logic.induction import entailed
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.queries.verification.answering import verify
from loopless.terms import Const, Valuation, holds
from loopless.verification.rank_components import counts_to_end
from loopless.verification.runs import Runner
from loopless.verification.termination import BOUNDS, Ranked, Trap
from programs_in_c import termination, termination_by

ENDING = {
    "count": "int n = __VERIFIER_nondet_int(); while (n > 0) n--;",
    "up": "int n = __VERIFIER_nondet_int(); for (int i = 0; i < n; i++) ;",
    "lexicographic": "int x = __VERIFIER_nondet_int(), y = 0; while (x > 0 && y >= 0) { if (y > 0) y--; else { x--; y = __VERIFIER_nondet_int(); } }",
    "nest": "for (int i = 0; i < 50; i++) for (int j = i; j > 0; j--) ;",
    "phases": "int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int(); if (x > 9999 || y > 9999 || x < -9999 || y < -9999) return 0; while (x > 0) { x += y; y--; }",
    "apart": "int x = __VERIFIER_nondet_int(), y = 5; while (x != y) { if (x > y) y++; else x++; }",
    "moved in between": "int x = __VERIFIER_nondet_int(); if (x > 999) return 0; while (x >= 0) { x++; int y = 1; while (y <= x) y++; x -= 2; }",
    "up by 8 or down by 7": "int x = __VERIFIER_nondet_int(), c = 1; if (x > 999 || x < -999) return 0; while (c > 0) { if (x > 60) { x -= 7; c--; } else { x += 8; c++; } }",
    "values of an array": "int a[99], k = __VERIFIER_nondet_int(); for (int i = 0; i < 99; i++) a[i] = __VERIFIER_nondet_int(); if (k < 0 || k > 98 || a[0] != 23 || a[k] != 42) return 0; for (int x = __VERIFIER_nondet_int() & 1023; x >= 0; x -= k) ;",
    "round about": "int first = __VERIFIER_nondet_int(); if (first < 0 || first > 98) return 0; int at = first + 1; while (at != first) { if (at < 99) at++; else at = 0; }",
    "the smaller one": "int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int(); while (a > 0 && b > 0) { int least = a < b ? a : b; if (__VERIFIER_nondet_int()) { a = least - 1; b = 5000; } else { b = least - 1; a = 7000; } }",
    "places change": "int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int(); if (x > 9999 || y > 9999) return 0; while (x > 0 && y > 0) { int a = x, b = y; if (__VERIFIER_nondet_int()) { x = a - 1; y = a; } else { x = b - 2; y = a + 1; } }",
    "sequence": "int n = __VERIFIER_nondet_int(); while (n > 7) n -= 2; while (n < 5 && n > -100) n++;",
}
ENDLESS = {
    "still": "int x = 3; while (x > 0) ;",
    "parity": "unsigned x = 1; while (x != 10) x += 2;",
    "parity that falls": "unsigned x = __VERIFIER_nondet_uint() | 1; while (x != 10) x -= 6;",
    "input": "int x = __VERIFIER_nondet_int(); while (x > 5) if (x > 7) x--; else x++;",
    "compared values": "int a[9], k = __VERIFIER_nondet_int(); for (int i = 0; i < 9; i++) a[i] = __VERIFIER_nondet_int(); if (k < 0 || k > 8) return 0; while (k < 9) if (a[k] > a[0]) k = 8; else k = 3;",
    "one value within, others before": "int i = __VERIFIER_nondet_int(), j = __VERIFIER_nondet_int(); if (i > 99 || i < -99 || j > 99 || j < -99) return 0; while (i > j) { i -= __VERIFIER_nondet_int() + 1; j += __VERIFIER_nondet_int() + 1; }",
    "swing": "int x = 0, up = 1; while (x >= 0) { if (up) x++; else x--; if (x == 9) up = 0; if (x == 0) up = 1; }",
}


def body(text):
    return f"int main(void) {{ {text} return 0; }}"


@functools.cache
def found(text, kind):
    """What the methods find, in their order: the first answer of that kind."""
    made = termination(body(text))
    answer = next(iter(termination_by(made)), None)
    assert answer is None or isinstance(answer, kind), answer
    return made, answer


@pytest.mark.parametrize("name", ENDING)
@pytest.mark.slow
def test_programs_that_end_have_a_rank(name):
    made, answer = found(ENDING[name], Ranked)
    assert answer is not None
    for step, wanted in made.goals(answer.ranks):
        assert entailed(step, answer.invariants.get(step.source, ()), wanted, 10_000)


@pytest.mark.parametrize("name", ENDING)
def test_ranks_fall_along_single_runs(name):
    """From one visit of a cutpoint to the next of the same run, within one loop and its inner ones."""
    made, answer = found(ENDING[name], Ranked)
    state, fallen = made.system.state, 0
    for first in (0, 3, 20):
        run = Runner(made.system.graph, lambda _: False, state).run(lambda *_, value=first: value, 5000)
        assert run.end == "return"
        ranks = [
            (label, tuple(Valuation(values, lambda *_: 0).evaluate(term) for term in answer.ranks[label]))
            for label, values in run.visits
        ]
        for label in made.system.cutpoints:
            own = [rank for at, rank in ranks if at == label]
            fallen += max(len(own) - 1, 0)
            assert all(before > after for before, after in pairwise(own))
    assert fallen > 10


@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.slow
def test_programs_that_never_end_have_a_recurrent_set(name):
    made, answer = found(ENDLESS[name], Trap)
    assert answer is not None
    runner = Runner(made.system.graph, lambda _: False, made.system.state)
    stream, again = iter(answer.inputs), answer.inputs[-1] if answer.inputs else 0
    run = runner.run(lambda *_: next(stream, again), 4000)
    assert run.end == "steps"
    inside = [
        all(holds(condition, values) for condition in answer.recurrent[label])
        for label, values in run.visits
        if label in answer.recurrent
    ]
    assert inside[-1]
    assert all(later for earlier, later in pairwise(inside) if earlier)


@pytest.mark.parametrize("name", ENDLESS)
def test_programs_that_never_end_have_no_rank(name):
    made = termination(body(ENDLESS[name]))
    assert made.ranked(1.0) is None


BOUNDED = {
    "bits": "unsigned x = __VERIFIER_nondet_uint(); while (x) x &= x - 1;",
    "bits around a loop": "unsigned x = __VERIFIER_nondet_uint(); while (x) { x &= x - 1; for (int i = 0; i < 8; i++) ; }",
    "round the type": "unsigned x = __VERIFIER_nondet_uint(), n = __VERIFIER_nondet_uint(); while (x != n) x++;",
    "count": ENDING["count"],
}


@pytest.mark.parametrize("name", BOUNDED)
def test_bounds_are_ranks(name):
    """Bits are cleared one by one; the difference modulo 2^32 falls."""
    made = termination(body(BOUNDED[name]))
    assert isinstance(made.by_bounds(10.0), Ranked)


@pytest.mark.parametrize("name", ENDLESS)
def test_programs_that_never_end_have_no_rank_of_bounds(name):
    assert termination(body(ENDLESS[name])).by_bounds(3.0) is None


@pytest.mark.parametrize("name", ["bits", "count"])
def test_the_judge_accepts_ranks_of_bounds(name, tmp_path):
    file = tmp_path / "p.c"
    text = "extern unsigned __VERIFIER_nondet_uint(void); extern int __VERIFIER_nondet_int(void);\n" + body(
        BOUNDED[name]
    )
    file.write_text(text, encoding="utf-8")
    settings = Settings(sandboxed=False)
    verdict = verify(load([file], settings), Property.TERMINATION, settings)
    assert verdict.verdict == "true"
    assert verdict.judged["accepted"]
    assert name != "bits" or verdict.method == BOUNDS


def test_of_two_proofs_one_without_overflow_is_told(tmp_path):
    """The difference modulo 2^32 falls whatever n is; that n is at most 1 shows that nothing overflows."""
    file = tmp_path / "p.c"
    text = "int main(void) { int n = __VERIFIER_nondet_int(); if (n > 1) return 0; while (n != 1) n++; return 0; }"
    file.write_text("extern int __VERIFIER_nondet_int(void);\n" + text, encoding="utf-8")
    settings = Settings(sandboxed=False)
    verdict = verify(load([file], settings), Property.TERMINATION, settings)
    assert (verdict.verdict, verdict.assumptions) == ("true", ())


@pytest.mark.parametrize("name", [name for name in ENDING if name != "phases"])
def test_programs_that_end_have_no_recurrent_set(name):
    """Also where a run is long: it is cut off while it still goes on."""
    made = termination(body(ENDING[name].replace("50", "5000")))
    made.sampled(0.3)
    assert made.trapped(3.0) is None


def test_without_loops_every_run_ends():
    made = termination(body("int x = __VERIFIER_nondet_int(); if (x) x = 3;"))
    assert isinstance(made.acyclic(), Ranked)


CALLS = "void f(int n) {{ if ({}) {{ f(n - 1); f(n - 2); }} }} int main(void) {{ f(5); return 0; }}"


def rank_of(source: str) -> Ranked:
    (answer,) = termination_by(termination(source))
    assert isinstance(answer, Ranked)
    return answer


def test_a_rank_may_rest_on_what_holds_case_by_case():
    """t is 1 where b is, else -1; x comes nearer to n either way."""
    made = termination(
        body("""int b = __VERIFIER_nondet_int(), x = __VERIFIER_nondet_int(), n = __VERIFIER_nondet_int();
        int t = b >= 1 ? 1 : -1; while (x <= n) { if (b >= 1) x += t; else x -= t; }""")
    )
    made.sampled(0.3)
    made.by_cases(5.0)
    answer = made.ranked(20.0, patient=True)
    assert isinstance(answer, Ranked)
    for step, wanted in made.goals(answer.ranks):
        assert entailed(step, answer.invariants.get(step.source, ()), wanted, 10_000)


def test_calls_that_call_themselves_end_by_a_rank_over_their_arguments():
    answer = rank_of(CALLS.format("n > 0"))
    assert all(not counts_to_end(term) for terms in answer.ranks.values() for term in terms)


def test_a_rank_that_counts_to_the_end_of_a_type_is_known_as_one():
    """f(-1) goes on to the least value, whose difference overflows."""
    answer = rank_of(CALLS.format("n"))
    assert any(counts_to_end(term) for terms in answer.ranks.values() for term in terms)


def ranks_of_calls(body):
    """The components of the ranks that are found of f(5), called with this body."""
    made = termination(f"void f(int n) {{ {body} }} int main(void) {{ f(5); return 0; }}")
    return [
        term
        for one in termination_by(made, every=True)
        if isinstance(one, Ranked)
        for terms in one.ranks.values()
        for term in terms
    ]


@pytest.mark.parametrize(
    "body", ["if (n > -9) { f(n - 1); f(n / 2); }", "unsigned u = n; f(u % 7 + 1); f(n);", "f(n); f(n);"]
)
@pytest.mark.slow
def test_a_recursion_that_never_ends_has_no_rank(body):
    """f(0) calls f(0) in the first one, after f(-1) has returned."""
    assert ranks_of_calls(body) == []


def test_a_recursion_that_ends_by_an_overflow_only_has_ranks_up_to_that():
    """f(5), f(7), f(9), …: what the verdict has to say."""
    found = ranks_of_calls("if (n % 2) { f(n + 2); f(n - 1); }")
    assert not found or any("21474836" in str(term) for term in found)


def test_components_of_a_rank_are_never_below_0():
    """So that one may rise once it is used up."""
    made, answer = found(ENDING["lexicographic"], Ranked)
    (cut,) = made.system.cutpoints
    terms = [term for term in answer.ranks[cut] if not isinstance(term, Const)]
    assert len(terms) > 1
    for values in ((-5, -7), (0, 0), (9000, -3), (-9000, 9000)):
        here = dict(zip(sorted(made.system.state[cut], key=lambda v: v.name), values, strict=True))
        assert all(Valuation(here, lambda *_: 0).evaluate(term) >= 0 for term in terms)

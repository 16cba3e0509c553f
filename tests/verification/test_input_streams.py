"""Violations behind loops that take inputs in each iteration, by summaries over all inputs."""

from __future__ import annotations

from itertools import chain, repeat

import pytest

from loopless.check.certificates.property import Property
from loopless.verification.proofs import Suspect
from loopless.verification.runs import Runner
from programs_in_c import search

INPUT = "__VERIFIER_nondet_int()"
FOUND = {
    "count": f"int x, c = 0, s = 0; while ((x = {INPUT}) != 0) {{ c++; if (x > 100) s++; }} if (c == 700 && s == 33) reach_error();",
    "sum": f"int n = {INPUT}; long s = 0; for (int i = 0; i < n; i++) s += {INPUT}; if (s == 987654321 && n > 40) reach_error();",
    "pairs": f"int a = 0, b = 0, p; while ((p = {INPUT}) != -1) {{ int q = {INPUT}; if (p > q) a++; else b++; }} if (a == 500 && b == 432) reach_error();",
    "weights": f"int a = 0, b = 0, c; while ((c = {INPUT}) > 0) {{ if (c == 'a') a++; else if (c > 'x') b += 2; }} if (a == 137 && b == 86) reach_error();",
    "two loops": f"int a = 0, b = 0; while ({INPUT}) a++; while ({INPUT} > 7) b++; if (a == 2 * b && b > 90) reach_error();",
    "before and behind": f"int k = {INPUT}, a = 0; while ({INPUT} == k) a++; if (a == 300 && {INPUT} == 2 * k + 1 && k > 5) reach_error();",
}
NOT_THERE = {
    "more than all": f"int c = 0, s = 0, x; while ((x = {INPUT}) != 0) {{ c++; if (x > 100) s++; }} if (s > c) reach_error();",
    "both": f"int c = 0, n = 0, a = 0, b = 0; for (; n < 50; n++) {{ int x = {INPUT}; if (x > 5) a++; if (x < 3) b++; }} if (a + b > 50) reach_error();",
    "none that leaves": f"int x, z = 0; while ((x = {INPUT}) != 0) {{ if (x == 0) z++; }} if (z) reach_error();",
}


@pytest.mark.parametrize("body", FOUND.values(), ids=FOUND)
def test_a_run_by_summaries_comes_to_the_violation(body):
    made = search(f"int main(void) {{ {body} return 0; }}")
    found = made.by_summaries(10.0)
    assert isinstance(found, Suspect)
    assert "over inputs" in found.method
    given = chain(found.inputs, repeat(found.inputs[-1] if found.repeats else 0))
    plain = Runner(made.system.graph, made.system.violates, made.system.state).run(lambda *_: next(given), 2_000_000)
    assert plain.end == "violation"


@pytest.mark.parametrize("body", NOT_THERE.values(), ids=NOT_THERE)
def test_no_run_is_proposed_where_none_comes_to_the_violation(body):
    found = search(f"int main(void) {{ {body} return 0; }}").by_summaries(10.0)
    assert not isinstance(found, Suspect)


def test_an_overflow_behind_more_inputs_than_are_listed_repeats_the_last():
    body = f"int x = 0; while ({INPUT}) x += 4;"
    found = search(f"int main(void) {{ {body} return 0; }}", Property.NO_OVERFLOW).by_summaries(10.0)
    assert isinstance(found, Suspect)
    assert found.repeats
    assert found.inputs[-1] != 0
    assert len(found.inputs) < 10
    assert found.iterations in (2**29 - 1, 2**29)


def test_uninitialised_variables_are_told_by_their_names():
    body = f"int u, c = 0; while ({INPUT} != 0) c++; if (u == 5 && c == 30) reach_error();"
    found = search(f"int main(void) {{ {body} return 0; }}").by_summaries(10.0)
    assert isinstance(found, Suspect)
    assert dict(found.uninitialised) == {"u": 5}


def test_a_sum_is_no_number_of_iterations():
    body = f"int n = {INPUT}; long s = 0; for (int i = 0; i < n; i++) s += {INPUT}; if (s == 987654321 && n > 40) reach_error();"
    found = search(f"int main(void) {{ {body} return 0; }}").by_summaries(10.0)
    assert isinstance(found, Suspect)
    assert found.iterations < 1000


def test_several_streams_have_no_order_that_is_known():
    body = f"extern int other(void); int a = 0; while ({INPUT}) a += other() > 3; if (a == 50) reach_error();"
    assert not isinstance(search(f"int main(void) {{ {body} return 0; }}").by_summaries(10.0), Suspect)

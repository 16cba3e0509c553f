"""Updates of several paths that are not linear, and what becomes of checks on them: against the judge."""

from __future__ import annotations

import pytest

from judged import judge_alone

CHECKS = [
    # n >= -2^62 is asked for because of 2n: then n + s, with an s of 32 bits, cannot overflow
    "long long f(long long n, long long x, int s, int t) { for (; t != 8; t++) { if (n >= 2147483647) break;"
    " if (t >= x) s += n; else x += t; if (n < 16) n *= 2; } return s; }",
]
EDGES = {"n": [0, 1, -1, 15, 16, -(2**62), -(2**62) - 1, -(2**63)], "s": [-(2**31), 2**31 - 1], "t": range(-3, 9)}


@pytest.mark.parametrize("source", CHECKS)
def test_a_check_that_the_conditions_of_its_path_imply_leaves_nothing_open(source):
    summary, _ = judge_alone(source, near=EDGES, count=400)
    assert summary.complete

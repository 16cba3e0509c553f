"""What a change makes of a class, by its text."""

from __future__ import annotations

import pytest

from loopless.report.comparison import _degree


@pytest.mark.parametrize(
    ("text", "degree"),
    [("O(1)", 0), ("O(n)", 1), ("O(*p)", 1), ("O(n**p)", 2), ("O(n*m + k^3)", 3), ("O(a^(1/2))", 0.5)],
)
def test_a_star_before_a_name_is_no_factor(text, degree):
    assert _degree(text) == degree


def test_no_class_is_worse_than_any_and_a_logarithm_less_than_a_power():
    assert _degree(None) > _degree("O(n^9)")
    assert 0 < _degree("O(log(*p))") < _degree("O(a^(1/2))")

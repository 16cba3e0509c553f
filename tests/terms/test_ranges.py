"""How ranges are compared and put together, on all small ranges and pairs of them, by their members.

The ranges of operators are in ``test_operators.py``.
"""

from __future__ import annotations

import itertools

import pytest

from loopless.terms import ranges

FAR = 40
"""Members of open ranges are looked at up to here; all ends and constants are much nearer to 0."""
ENDS = (None, *range(-3, 4))
EVERY = list(itertools.product(ENDS, repeat=2))
"""All ranges with these ends, with empty ones."""
SOME = [(low, high) for low, high in EVERY if low is None or high is None or low <= high]


def members(span):
    low, high = span
    return set(range(-FAR if low is None else low, FAR + 1 if high is None else high + 1))


def tight(numbers, *, low_open, high_open):
    """The least range around numbers that go on for ever where an end is open."""
    return None if low_open else min(numbers), None if high_open else max(numbers)


def test_empty_ranges_have_no_members():
    assert all(ranges.is_empty(span) == (not members(span)) for span in EVERY)


def test_what_lies_in_both_is_a_member_of_each():
    for a, b in itertools.product(EVERY, repeat=2):
        assert members(ranges.both(a, b)) == members(a) & members(b)


def test_a_union_is_the_least_range_around_both():
    for a, b in itertools.product(SOME, repeat=2):
        opens = {"low_open": None in (a[0], b[0]), "high_open": None in (a[1], b[1])}
        assert ranges.union(a, b) == ranges.hull([a, b]) == tight(members(a) | members(b), **opens)


def test_a_hull_of_three_is_around_all():
    for several in itertools.product(SOME[::5], repeat=3):
        found = ranges.hull(several)
        assert all(ranges.is_within(span, found) for span in several)
        assert (found[0] is None) == any(span[0] is None for span in several)
        assert (found[1] is None) == any(span[1] is None for span in several)
    assert ranges.hull(()) == ranges.EVERYTHING


def test_a_range_is_within_one_that_has_all_its_members():
    for a, b in itertools.product(SOME, repeat=2):
        assert ranges.is_within(a, b) == (members(a) <= members(b)), (a, b)


def test_ranges_are_apart_where_all_of_one_lie_below_the_other():
    for a, b in itertools.product(SOME, repeat=2):
        assert ranges.are_apart(a, b) == members(a).isdisjoint(members(b)), (a, b)


def test_sums_are_exact():
    for a, b in itertools.product(SOME, repeat=2):
        sums = {x + y for x in members(a) for y in members(b)}
        opens = {"low_open": None in (a[0], b[0]), "high_open": None in (a[1], b[1])}
        assert ranges.added(a, b) == tight(sums, **opens)


@pytest.mark.parametrize("number", range(-4, 5))
def test_what_constants_do_is_exact(number):
    for span in SOME:
        low, high = (end is None for end in span)
        assert ranges.moved(span, number) == tight({x + number for x in members(span)}, low_open=low, high_open=high)
        if number < 0:
            low, high = high, low
        if number:
            scaled = tight({number * x for x in members(span)}, low_open=low, high_open=high)
            assert ranges.scaled(span, number) == scaled


@pytest.mark.parametrize("factor", [number for number in range(-4, 5) if number])
def test_what_is_shared_out_has_multiples_in_the_range(factor):
    for span in SOME:
        found = ranges.shared_out(span, factor)
        inside = {x for x in range(-FAR, FAR + 1) if (span[0] is None or x * factor >= span[0])}
        inside = {x for x in inside if span[1] is None or x * factor <= span[1]}
        assert members(found) == inside, span


def test_a_total_is_the_sum_of_multiples():
    known = dict(zip("ab", [(-1, 2), (None, 3)], strict=True))
    assert ranges.total([("a", 2), ("b", 1)], known.__getitem__) == (None, 7)
    assert ranges.total([("a", -2), ("b", -1)], known.__getitem__) == (-7, None)
    for a, b in itertools.product(SOME, repeat=2):
        for s, r in itertools.product((-2, -1, 1, 3), repeat=2):
            whole = ranges.total([(a, s), (b, r)], lambda span: span)
            assert whole == ranges.added(ranges.scaled(a, s), ranges.scaled(b, r))


def test_far_ends_are_left_out():
    assert ranges.near((-5, 5), 5) == (-5, 5)
    assert ranges.near((-6, 5), 5) == (None, 5)
    assert ranges.near((-5, 6), 5) == (-5, None)
    assert ranges.near((None, None), 5) == (None, None)


def test_powers_and_shifts_by_an_empty_range_of_large_numbers_are_not_worked_out():
    """Conditions that contradict one another leave ranges whose lower end is above the upper one."""
    empty = (1 << 40, 5)
    assert ranges.power((2, 2), empty) == (0, None)
    assert ranges.shl((1, 3), empty) == (0, None)

"""What a path demands of its inputs: what has one value connects nothing, and is not forgotten either."""

from __future__ import annotations

from loopless.navigation.store import PathDemands
from loopless.terms import IntType, Var, add, const, equal, less, less_equal, not_equal

INT = IntType(32, signed=True)
X, Y, Z = (Var(name, INT) for name in "xyz")


def test_a_value_that_was_chosen_is_kept_to():
    store = PathDemands([])
    assert store.demand([equal(add(X, Y), const(10)), less(const(3), X), less(X, const(9))])
    mark = store.mark()
    assert store.pin(X) is True  # it has others
    chosen = store.pinned[X]
    assert chosen > 3
    assert store.pin(X) is False  # by now it has not
    assert store.pinned[X] == chosen
    assert not store.demand([not_equal(X, const(chosen))])
    assert store.demand([less_equal(Y, const(10 - chosen))])
    assert store.model() == {X: chosen, Y: 10 - chosen}
    store.back(mark)
    other = 4 if chosen != 4 else 5
    assert store.demand([equal(X, const(other))])
    assert store.model() == {X: other, Y: 10 - other}


def test_what_has_one_value_is_not_said_to_have_others():
    store = PathDemands([])
    assert store.demand([equal(X, const(5)), equal(add(X, Y), const(12))])
    assert store.pin(X) is False
    assert store.pin(Y) is False
    assert store.pinned == {X: 5, Y: 7}


def test_over_a_chosen_value_conditions_still_exclude_one_another():
    store = PathDemands([])
    assert store.demand([less(X, Y)])
    assert store.pin(Y) is not None
    at = store.pinned[Y]
    assert store.demand([less(const(at - 2), X)])  # so x is just below
    assert not store.demand([not_equal(X, const(at - 1))])


def test_values_that_held_before_are_no_answer_where_they_do_not_hold():
    store = PathDemands([])
    assert store.demand([less(const(100), X)])
    mark = store.mark()
    assert store.pin(X) is True
    store.back(mark)
    assert store.demand([less(X, const(102))])
    assert store.pin(X) is False
    assert store.pinned[X] == 101
    assert store.demand([equal(Z, X)])
    assert store.forced(Z) == 101


def test_one_value_that_is_changed_is_enough():
    store = PathDemands([])
    cells = [Var(f"c{number}", INT) for number in range(40)]
    assert store.demand([equal(one, cells[0]) for one in cells[1:]])
    assert store.demand([not_equal(Z, one) for one in cells])
    found = store.model()
    assert found is not None
    assert len({found[one] for one in cells}) == 1
    assert found[Z] not in {found[one] for one in cells}
    assert not store.demand([equal(Z, cells[7])])

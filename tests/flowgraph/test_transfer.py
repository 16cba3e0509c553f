"""The meaning of statements, in the domain of runs on numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from loopless import terms as t
from loopless.flowgraph.model import (
    Allocate,
    Assign,
    Assume,
    Block,
    Call,
    Check,
    Edge,
    Expire,
    Havoc,
    Load,
    Origin,
    Pointer,
    Statement,
    Store,
)
from loopless.flowgraph.transfer import Domain, Source, along, through
from loopless.source.ir import Loc

INT = t.IntType(32, signed=True)
X, Y, Z = (t.Var(name, INT) for name in "xyz")
PLACE = Pointer(t.const(1), t.const(0))


@dataclass
class Run:
    """Where a run is: the values, and the statements whose conditions did not hold."""

    values: dict[t.Var, int]
    ended: list[Statement] = field(default_factory=list)


class Numbers(Domain[Run]):
    """Runs on numbers; what comes from outside is a number of its own each time."""

    def __init__(self, unwanted: Sequence[t.Var] = ()) -> None:
        self.unwanted = unwanted
        self.outside: list[tuple[t.Var, Origin, str]] = []
        self.broken: list[Statement] = []

    def wanted(self, target: t.Var) -> bool:
        return target not in self.unwanted

    def value(self, state: Run, term: t.Term, target: t.Var) -> t.Term:
        return t.substitute(term, {var: t.const(number) for var, number in state.values.items()})

    def assigned(self, state: Run, values: Mapping[t.Var, t.Term], loc: Loc | None) -> Run:
        numbers = {var: term.value for var, term in values.items() if isinstance(term, t.Const)}
        return Run({**state.values, **numbers}, state.ended)

    def fresh(self, state: Run, target: t.Var, origin: Origin, name: str, source: Source) -> Run:
        self.outside.append((target, origin, name))
        return Run({**state.values, target: 100 + len(self.outside)}, state.ended)

    def holds(self, state: Run, label: str, statement: Check | Assume) -> Sequence[Run]:
        condition = t.substitute(statement.condition, {var: t.const(n) for var, n in state.values.items()})
        if condition is t.TRUE:
            return (state,)
        self.broken.append(statement)
        return ()


def ran(statements: Sequence[Statement], domain: Numbers | None = None, **values: int) -> list[dict[str, int]]:
    """The values behind the statements, by names; none where no run gets there."""
    begin = Run({var: values[var.name] for var in (X, Y, Z) if var.name in values})
    ends = through(domain or Numbers(), Block("b", tuple(statements)), begin)
    return [{var.name: number for var, number in end.values.items()} for end in ends]


def test_statements_happen_in_their_order() -> None:
    assert ran([Assign(X, X + 1), Assign(Y, X * 2)], x=3, y=0) == [{"x": 4, "y": 8}]


def test_assignments_of_an_edge_happen_all_at_once() -> None:
    swapped = along(Numbers(), Edge(t.TRUE, "b", ((X, Y), (Y, X))), Run({X: 1, Y: 2}))
    assert swapped.values == {X: 2, Y: 1}


@pytest.mark.parametrize("statement", [Check(X.ge(1), "bounds"), Assume(X.ge(1))])
def test_nothing_happens_behind_a_condition_that_does_not_hold(statement: Check | Assume) -> None:
    domain = Numbers()
    assert ran([statement, Assign(Y, X)], domain, x=0, y=9) == []
    assert domain.broken == [statement]
    assert ran([statement, Assign(Y, X)], x=1, y=9) == [{"x": 1, "y": 1}]


def test_values_that_do_not_matter_are_not_worked_out() -> None:
    domain = Numbers(unwanted=(X,))
    assert ran([Assign(X, Y), Load(X, PLACE, INT)], domain, x=1, y=2) == [{"x": 1, "y": 2}]
    assert not domain.outside


def test_a_call_changes_its_target_and_what_it_may_change() -> None:
    domain = Numbers()
    call = Call("f", (), target=X, changes=(Z,))
    assert ran([call], domain, x=1, y=2, z=3) == [{"x": 101, "y": 2, "z": 102}]
    assert domain.outside == [(X, Origin.CALL, "f"), (Z, Origin.CALL, "f")]


def test_values_from_outside_say_where_they_come_from() -> None:
    domain = Numbers()
    ran([Havoc(X, Origin.NONDET, "input"), Load(Y, PLACE, INT, target_object=Z), Allocate(X, t.const(4))], domain)
    assert domain.outside == [
        (X, Origin.NONDET, "input"),
        (Y, Origin.MEMORY, "memory"),
        (Z, Origin.MEMORY, "memory"),
        (X, Origin.CALL, "malloc"),
    ]


def test_what_changes_memory_alone_leaves_variables() -> None:
    assert ran([Store(PLACE, X, INT), Expire(1)], x=5) == [{"x": 5}]


def test_each_of_several_states_goes_on() -> None:
    class Twice(Numbers):
        def call(self, state: Run, statement: Call) -> Sequence[Run]:
            assert statement.target is not None
            return [self.assigned(state, {statement.target: t.const(number)}, None) for number in (1, 2)]

    statements = [Call("f", (), target=X), Call("f", (), target=Y), Assume((X + Y).ge(3))]
    assert ran(statements, Twice()) == [{"x": 1, "y": 2}, {"x": 2, "y": 1}, {"x": 2, "y": 2}]

"""What holds at a loop's header in every call of the function: facts of its entry that no iteration destroys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from loopless import terms as t
from loopless.bounds.induction.measures import entails
from loopless.bounds.looperman.scopes import Scope, Scopes, SymbolicState
from loopless.limits.bounds import MAX_CALL_CANDIDATES
from loopless.logic.steps import PlaceStep
from loopless.paths.invariants import inductive_subsets
from loopless.refusals import Refused


def with_invariants(scopes: Scopes) -> Scopes:
    """The scopes with what is known at each header added to the conditions of its iterations and visits."""
    found = dict(scopes.scopes)
    for loop in sorted(scopes.by_header.values(), key=lambda loop: loop.depth):
        scope, around = found[loop.header], found[loop.parent or ""]
        if isinstance(scope, Refused) or isinstance(around, Refused):
            continue
        facts = t.conjunction(_facts(scope, around, scopes.variables))
        if facts is not t.TRUE:
            found[loop.header] = _under(scope, facts)
    return replace(scopes, scopes=found)


def _facts(scope: Scope, around: Scope, variables: frozenset[t.Var]) -> Iterator[t.Condition]:
    states = around.visits.get(scope.header, ())
    if not states:
        return
    candidates = list(dict.fromkeys(_candidates(states[0], scope, variables)))[:MAX_CALL_CANDIDATES]
    steps = (PlaceStep("", "", iteration.condition, iteration.values) for iteration in scope.iterations)
    yield from inductive_subsets({"": [c for c in candidates if _enters(states, c)]}, steps, solver=False)[""]


def _enters(states: Iterable[SymbolicState], fact: t.Condition) -> bool:
    try:
        return all(entails(state.holds, t.substitute(fact, state.values)) for state in states)
    except t.TermTooLarge:
        return False


def _candidates(state: SymbolicState, scope: Scope, variables: frozenset[t.Var]) -> Iterator[t.Condition]:
    """What a loop's entry says of variables that hold then what they held at the beginning of the scope around."""
    for var in sorted(scope.changed & state.values.keys() & variables):
        value = state.values[var]
        if value.variables <= variables and value.variables.isdisjoint(state.values):
            yield var.ge(value)
            yield var.le(value)
    for part in t.conjuncts(state.holds):
        if isinstance(part, t.Compare) and part.variables <= variables and part.variables.isdisjoint(state.values):
            yield part
    for var in sorted(state.values.keys() & variables - scope.changed):
        # What the path there has made of a value that the loop then leaves alone.
        yield from (var.ge(1), var.ge(0), var.le(0))


def _under(scope: Scope, facts: t.Condition) -> Scope:
    iterations = tuple(replace(iteration, condition=iteration.condition & facts) for iteration in scope.iterations)
    visits = {
        label: tuple(replace(s, condition=t.conjuncts(t.conjunction((*s.condition, facts)))) for s in states)
        for label, states in scope.visits.items()
    }
    return replace(scope, iterations=iterations, visits=visits)

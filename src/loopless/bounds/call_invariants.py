"""What holds at a loop's header in every call of the function: facts of its entry that no lap destroys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopless.bounds.measures import entails
from loopless.bounds.scopes import Lap, Scope, Scopes, Stand
from loopless.refusals import Refused
from loopless.terms import (
    ONE,
    TRUE,
    ZERO,
    Compare,
    Condition,
    TermTooLarge,
    Var,
    conjunction,
    conjuncts,
    greater_equal,
    less_equal,
    substitute,
)

MAX_FACTS = 16
"""So many conditions are tried for one loop."""


def with_facts(scopes: Scopes) -> Scopes:
    """The scopes with what is known at each header added to the conditions of its laps and visits."""
    found = dict(scopes.scopes)
    for loop in sorted(scopes.by_header.values(), key=lambda loop: loop.depth):
        scope, around = found[loop.header], found[loop.parent or ""]
        if isinstance(scope, Refused) or isinstance(around, Refused):
            continue
        facts = conjunction(_facts(scope, around, scopes.variables))
        if facts is not TRUE:
            found[loop.header] = _under(scope, facts)
    return replace(scopes, scopes=found)


def _facts(scope: Scope, around: Scope, variables: frozenset[Var]) -> Iterator[Condition]:
    stands = around.visits.get(scope.header, ())
    if not stands:
        return
    candidates = dict.fromkeys(c for c in _candidates(stands[0], scope, variables))
    for fact in list(candidates)[:MAX_FACTS]:
        try:
            enters = all(entails(stand.holds, substitute(fact, stand.values)) for stand in stands)
            stays = enters and all(_keeps(lap, fact) for lap in scope.laps)
        except TermTooLarge:
            continue
        if stays:
            yield fact


def _keeps(lap: Lap, fact: Condition) -> bool:
    after = substitute(fact, lap.values)
    return after is fact or entails(conjunction((lap.condition, fact)), after)


def _candidates(stand: Stand, scope: Scope, variables: frozenset[Var]) -> Iterator[Condition]:
    """What a loop's entry says of variables that hold then what they held at the beginning of the scope around."""
    for var in sorted(scope.changed & stand.values.keys() & variables):
        value = stand.values[var]
        if value.variables <= variables and value.variables.isdisjoint(stand.values):
            yield greater_equal(var, value)
            yield less_equal(var, value)
    for part in conjuncts(stand.holds):
        if isinstance(part, Compare) and part.variables <= variables and part.variables.isdisjoint(stand.values):
            yield part
    for var in sorted(stand.values.keys() & variables - scope.changed):
        # What the way there has made of a value that the loop then leaves alone.
        yield from (greater_equal(var, ONE), greater_equal(var, ZERO), less_equal(var, ZERO))


def _under(scope: Scope, facts: Condition) -> Scope:
    laps = tuple(replace(lap, condition=conjunction((lap.condition, facts))) for lap in scope.laps)
    visits = {
        label: tuple(replace(s, condition=conjuncts(conjunction((*s.condition, facts)))) for s in stands)
        for label, stands in scope.visits.items()
    }
    return replace(scope, laps=laps, visits=visits)

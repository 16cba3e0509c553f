"""Transitions without wrap-around in them: each divided by whether, and how often, its values wrap.

What adds a constant and may wrap is no sum over counters; what adds a constant and does not, and what adds the constant
less 2^w, both are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from loopless.logic.feasible import feasible
from loopless.terms import (
    FALSE,
    Condition,
    Term,
    Wrap,
    add,
    between,
    conjunction,
    const,
    range_of,
    replace_terms,
    walk,
)
from loopless.verification.transitions import Transition, TransitionSystem

MOST_PARTS: Final = 12
"""A transition is divided into no more parts. A guess."""
MOST_TURNS: Final = 3
"""A value that may wrap around by more multiples than this stays as it is. A guess."""


def without_wraps(system: TransitionSystem) -> TransitionSystem:
    """The same system with transitions divided by where values wrap around."""
    parts = [part for transition in system.transitions for part in _divided(transition)]
    return replace(system, transitions=tuple(parts))


def _divided(transition: Transition) -> list[Transition]:
    waiting, done = [transition], list[Transition]()
    while waiting:
        one = waiting.pop()
        wrapped = next(_wraps(one), None) if len(waiting) + len(done) < MOST_PARTS else None
        if wrapped is None:
            done.append(one)
            continue
        for condition, value in _turns(wrapped):
            whole = conjunction((one.condition, condition))
            whole = replace_terms(whole, {wrapped: value})
            if whole is FALSE or not feasible(whole, solver=False):
                continue
            update = {var: replace_terms(term, {wrapped: value}) for var, term in one.update.items()}
            waiting.append(replace(one, condition=whole, update=update))
    return done


def _wraps(transition: Transition) -> Iterator[Wrap]:
    """Values that wrap around by few multiples, innermost first."""
    for node in (transition.condition, *transition.update.values()):
        for part in walk(node):
            if isinstance(part, Wrap) and not any(isinstance(p, Wrap) for p in walk(part.arg)) and _few(part):
                yield part


def _multiples(wrapped: Wrap) -> range | None:
    low, high = range_of(wrapped.arg)
    least, width = wrapped.type.min, wrapped.type.width
    if low is None or high is None or least is None or width is None:
        return None
    return range((low - least) >> width, ((high - least) >> width) + 1)


def _few(wrapped: Wrap) -> bool:
    found = _multiples(wrapped)
    return found is not None and 1 <= found.stop - found.start <= MOST_TURNS


def _turns(wrapped: Wrap) -> Iterator[tuple[Condition, Term]]:
    multiples, width = _multiples(wrapped), wrapped.type.width
    assert multiples is not None
    assert width is not None
    for number in multiples:
        value = add(wrapped.arg, const(-(number << width)))
        yield between(wrapped.type.min, value, wrapped.type.max), value

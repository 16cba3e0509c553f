"""Transitions without wrap-around in them: each divided by whether, and how often, its values wrap.

What adds a constant and may wrap is no sum over counters; what adds a constant and does not, and what adds the constant
less 2^w, both are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopless import terms as t
from loopless.limits.navigation import MAX_SPLIT_TRANSITIONS, MAX_TURNS
from loopless.logic.feasible import feasible
from loopless.transition.algebra import Cases, divided
from loopless.transition.relation import Step, TransitionSystem


def without_wraps(system: TransitionSystem) -> TransitionSystem:
    """The same system with transitions divided by where values wrap around."""
    parts = [part for step in system.transitions for part in divided(step, _cases, MAX_SPLIT_TRANSITIONS, _is_possible)]
    return replace(system, transitions=tuple(parts))


def _cases(step: Step) -> Cases:
    """How often the first value that wraps around does so, with what it is then."""
    wrapped = next(_wraps(step), None)
    return () if wrapped is None else [(condition, {wrapped: value}) for condition, value in _turns(wrapped)]


def _is_possible(condition: t.Condition) -> bool:
    return condition is not t.FALSE and feasible(condition, solver=False)


def _wraps(transition: Step) -> Iterator[t.Wrap]:
    """Values that wrap around by few multiples, innermost first."""
    for node in (transition.condition, *transition.update.values()):
        for part in t.walk(node):
            if isinstance(part, t.Wrap) and not any(isinstance(p, t.Wrap) for p in t.walk(part.arg)) and _few(part):
                yield part


def _multiples(wrapped: t.Wrap) -> range | None:
    low, high = t.range_of(wrapped.arg)
    least, width = wrapped.type.min, wrapped.type.width
    if low is None or high is None or least is None or width is None:
        return None
    return range((low - least) >> width, ((high - least) >> width) + 1)


def _few(wrapped: t.Wrap) -> bool:
    found = _multiples(wrapped)
    return found is not None and 1 <= found.stop - found.start <= MAX_TURNS


def _turns(wrapped: t.Wrap) -> Iterator[tuple[t.Condition, t.Term]]:
    multiples, width = _multiples(wrapped), wrapped.type.width
    assert multiples is not None
    assert width is not None
    for number in multiples:
        value = wrapped.arg - (number << width)
        yield t.between(wrapped.type.min, value, wrapped.type.max), value

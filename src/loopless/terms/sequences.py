"""Aggregates: functions of what a loop reads, position by position.

A loop that reads memory is summarized by what it finds there: the first position at which a condition holds, how often
one holds, a sum, an extreme value, or a fold of variables over all that is read. (Proteus 4.2 and Looperman's path
counters approximate these.) Each constructor takes the position as a variable of the caller's, which is bound in the
result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from loopless.terms import build
from loopless.terms.aggregates import POSITIONS
from loopless.terms.nodes import ONE, ZERO, Aggregate, Condition, Const, Ite, Node, Term, Var
from loopless.terms.substitute import aggregate, substituted

EVERYWHERE: Final = Const(1 << 62)
"""So many positions that no object has more: the length of a search that surely finds something in an object."""


def position(name: str = "t") -> Var:
    """A variable for the positions of a sequence, to build an aggregate with."""
    return Var(name, POSITIONS)


def first(at: Var, length: Term, condition: Condition) -> Term:
    """The least position ``at`` < ``length`` at which ``condition`` holds; max(length, 0) if there is none."""
    return aggregate("first", (length,), (at,), (condition,))


def earliest(at: Var, condition: Condition) -> Term:
    """The least position ``at`` of all at which ``condition`` holds; -1 if there is none."""
    return aggregate("earliest", (), (at,), (condition,))


def last(at: Var, length: Term, condition: Condition) -> Term:
    """The greatest position ``at`` < ``length`` at which ``condition`` holds; -1 if there is none."""
    return aggregate("last", (length,), (at,), (condition,))


def total(at: Var, length: Term, summand: Term) -> Term:
    """The sum of ``summand`` over the positions ``at`` < ``length``."""
    if isinstance(summand, Ite) and summand.otherwise is ZERO and isinstance(summand.then, Const):
        number = summand.then.value
        if number != 1:
            return build.mul(Const(number), count(at, length, summand.condition))
    return aggregate("sum", (length,), (at,), (summand,))


def count(at: Var, length: Term, condition: Condition) -> Term:
    """At how many positions ``at`` < ``length`` the ``condition`` holds: a sum of ones."""
    return total(at, length, build.ite(condition, ONE, ZERO))


def least(at: Var, length: Term, start: Term, value: Term) -> Term:
    """The least of ``start`` and of ``value`` at the positions ``at`` < ``length``."""
    return aggregate("least", (length, start), (at,), (value,))


def greatest(at: Var, length: Term, start: Term, value: Term) -> Term:
    """The greatest of ``start`` and of ``value`` at the positions ``at`` < ``length``."""
    return aggregate("greatest", (length, start), (at,), (value,))


def fold(at: Var, length: Term, step: Mapping[Var, tuple[Term, Term]], result: Var) -> Term:
    """The value of ``result`` after all positions ``at`` < ``length``, one after another.

    ``step``: for each variable its value before the first position and, over the values before a position, its value
    behind it.
    """
    chosen = list(step).index(result)
    outside = (length, Const(chosen), *(start for start, _ in step.values()))
    return aggregate("fold", outside, (at, *step), tuple(following for _, following in step.values()))


def opened(node: Aggregate, bound: Sequence[Var]) -> tuple[Node, ...]:
    """What is inside, with other variables for the bound ones."""
    return tuple(substituted(part, dict(zip(node.bound, bound, strict=True))) for part in node.inside)

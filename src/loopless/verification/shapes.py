"""What conditions look like: which are few and soon decided is proposed, and shown, before others."""

from __future__ import annotations

from collections.abc import Container

from loopless import terms as t
from loopless.limits.verification import LARGE_CONSTANT


def is_equation(condition: t.Condition) -> bool:
    """Whether a condition is an equation, or says that one of some equations holds."""
    parts = condition.args if isinstance(condition, t.Or) else (condition,)
    return all(isinstance(part, t.Compare) and part.relation == "eq" for part in parts)


def is_one_or_equation(condition: t.Condition) -> bool:
    """Whether a condition is an equation, or speaks plainly of one variable."""
    return is_equation(condition) or is_of_one(condition)


def is_of_equations(condition: t.Condition, asserted: Container[t.Condition]) -> bool:
    """Whether a condition is an equation, speaks of one variable, or is one of the plainest, or asserted."""
    return is_equation(condition) or len(condition.variables) == 1 or is_plainest(condition) or condition in asserted


def is_of_one(condition: t.Condition) -> bool:
    """Whether a condition bounds one variable, or sets it to a number."""
    return len(condition.variables) == 1 and is_plainest(condition)


def is_plainest(condition: t.Condition) -> bool:
    """Whether a condition is a linear equation, a bound of one variable, or an order of two: few, and soon decided."""
    if not isinstance(condition, t.Compare) or condition.relation == "ne":
        return False
    parts = t.polynomial(condition.term)
    atoms = [monomial for monomial in parts if monomial]
    if any(sum(e for _, e in m) > 1 or not isinstance(m[0][0], t.Var) for m in atoms):
        return False
    return condition.relation == "eq" or len(atoms) == 1 or (len(atoms) == 2 and not parts.get((), 0))


def is_plain(condition: t.Condition) -> bool:
    """Whether a condition speaks of no number as large as types are wide, and of few variables, or is an equation."""
    numbers = [c for node in t.walk(condition) if isinstance(node, t.Sum) for m, c in node.items if not m]
    return is_equation(condition) or (len(condition.variables) <= 3 and all(abs(n) < LARGE_CONSTANT for n in numbers))

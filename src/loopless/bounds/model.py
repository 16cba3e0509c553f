"""Bounds as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from loopless import terms as t
from loopless.bounds.asymptotics.compare import lesser, surely_at_most
from loopless.flowgraph.model import LoopInfo
from loopless.limits.bounds import LARGE_CONSTANT, MAX_BOUNDS
from loopless.logic import feasible
from loopless.records import dataclass
from loopless.refusals import Refused


@dataclass(frozen=True, slots=True)
class TermBound:
    """An upper bound on how often something happens, over the values at the beginning; it holds where ``when`` does.

    ``method``: the name of the method that gave it; two bounds that differ in nothing else are the same.
    """

    term: t.Term
    when: t.Condition = t.TRUE
    method: str = field(default="", compare=False)

    def at(self, values: Mapping[t.Var, t.Term]) -> TermBound:
        """The same bound for a beginning with these values."""
        return TermBound(t.substitute(self.term, values), t.substitute(self.when, values), self.method)

    def by(self, method: str) -> TermBound:
        """The bound, named after ``method`` if it has no name yet."""
        return self if self.method else replace(self, method=method)


Bounds = tuple[TermBound, ...]
"""Several bounds on the same, each of which holds."""


def size(node: t.Node) -> int:
    """How long a term or condition is."""
    return sum(1 for _ in t.walk(node))


def reads(node: t.Node) -> bool:
    """Whether a term or condition speaks of memory."""
    return any(isinstance(part, t.Read) for part in t.walk_inside(node))


def by_types(term: t.Term) -> bool:
    """Whether a bound speaks of the end of a type's range; a divisor, and what is rounded by it, do not count."""
    for node in t.walk(term, _is_rounded):
        if isinstance(node, t.Const) and abs(node.value) >= LARGE_CONSTANT:
            return True
        if isinstance(node, t.Sum) and any(abs(c) >= LARGE_CONSTANT for m, c in node.items):
            return True
    return False


def _is_rounded(node: t.Node) -> bool:
    """Whether it is a quotient by a large number in which no number is larger."""
    if not isinstance(node, t.Op) or node.op != "floor_div" or not isinstance(node.args[1], t.Const):
        return False
    divisor, inside = node.args[1].value, node.args[0]
    numbers = [abs(c) for _, c in inside.items] if isinstance(inside, t.Sum) else []
    return divisor >= LARGE_CONSTANT and max(numbers, default=0) < divisor


def kept(bounds: Iterable[TermBound]) -> Bounds:
    """The bounds worth keeping: unconditional ones before others, those of the source before those of types, short
    ones before long ones; of two of which one is never larger, that one; none of those that hold nowhere.
    """
    sometimes = {bound for bound in bounds if bound.when is not t.FALSE}
    ordered = sorted(sometimes, key=_order)
    found: list[TermBound] = []
    for bound in ordered:
        if any(_no_larger(other, bound) for other in found):
            continue
        found = [other for other in found if not _no_larger(bound, other)]
        found.append(bound)
    if any(not by_types(bound.term) and bound.when is t.TRUE for bound in found):
        found = [bound for bound in found if not by_types(bound.term)]
    return tuple(found[:MAX_BOUNDS])


def _order(bound: TermBound) -> tuple[bool, bool, int, str, str, str]:
    """Whatever the order in which bounds are found, they are kept in one."""
    when, term = bound.when, bound.term
    return when is not t.TRUE, by_types(term), size(term), term.key, when.key, bound.method


def _no_larger(a: TermBound, b: TermBound) -> bool:
    """Whether ``a`` is surely no larger than ``b`` and holds wherever that does."""
    if a.term is b.term and a.when is not t.TRUE and b.when is not t.TRUE:
        return a.when is b.when or not feasible(b.when & ~a.when)
    return a.when in (t.TRUE, b.when) and surely_at_most(a.term, b.term)


def least(bounds: Bounds) -> t.Term | None:
    """One term for all unconditional bounds; None where there is none."""
    found = [bound.term for bound in bounds if bound.when is t.TRUE]
    return lesser(*found) if found else None


def ceiling(term: t.Term, divisor: t.Term) -> t.Term:
    """``term`` / ``divisor`` rounded up."""
    if isinstance(divisor, t.Const) and divisor.value == 1:
        return term
    if isinstance(divisor, t.Const):
        return (term + (divisor.value - 1)) // divisor
    return -(-term // divisor)


def plus(*terms: t.Term) -> t.Term:
    """The sum; where all but one are plain, into that one's ``max`` or ``min``."""
    total = t.add(*terms)
    found = t.polynomial(total)
    extremes = [m for m, c in found.items() if _is_extreme(m) and c == 1]
    if len(extremes) != 1 or len(found) == 1:
        return total
    ((atom, _),) = extremes[0]
    assert isinstance(atom, t.Op)
    rest = total - atom
    if any(isinstance(node, t.Op) for node in t.walk(rest)):
        return total
    inner = [arg + rest for arg in atom.args]
    shorter = t.maximum(*inner) if atom.op == "max" else t.minimum(*inner)
    return shorter if size(shorter) < size(total) else total


def _is_extreme(monomial: tuple[tuple[t.Term, int], ...]) -> bool:
    if len(monomial) != 1 or monomial[0][1] != 1:
        return False
    atom = monomial[0][0]
    return isinstance(atom, t.Op) and atom.op in ("max", "min")


def positive(term: t.Term) -> t.Term:
    """``max(0, term)``."""
    return t.maximum(t.ZERO, term)


def both(a: t.Condition, b: t.Condition) -> t.Condition:
    """Both conditions."""
    return a & b


def number(value: int) -> t.Term:
    """A constant."""
    return t.const(value)


@dataclass(frozen=True, slots=True)
class LoopBounds:
    """Upper bounds for one loop.

    ``per_entry``: on the iterations (taken back edges) of one entry, over the values there; ``any_entry``: the same for
    whichever entry, over the function's values at entry; entries are those of runs of the function, in which its
    constants hold. ``total``: on the iterations in one call of the function, over its values at entry. ``blocks``: by
    label, on the visits of the loop's own blocks in one call. ``refused``: why there is no bound on one entry;
    ``refused_total``: why there is none on the call.
    """

    loop: LoopInfo
    per_entry: Bounds = ()
    any_entry: Bounds = ()
    total: Bounds = ()
    blocks: Mapping[str, Bounds] = field(default_factory=dict)
    refused: Refused | None = None
    refused_total: Refused | None = None


@dataclass(frozen=True, slots=True)
class CallBounds:
    """Upper bounds over the inputs of a call: of the iterations of loops, by header, and of those of all loops
    together.
    """

    loops: Mapping[str, TermBound] = field(default_factory=dict)
    whole: TermBound | None = None


@dataclass(frozen=True, slots=True)
class FunctionBounds:
    """The bounds of a function's loops by name; ``refused`` where its code outside of loops could not be followed.

    ``in_call``: bounds of the function as a whole.
    """

    loops: Mapping[str, LoopBounds]
    refused: Refused | None = None
    in_call: CallBounds = CallBounds()

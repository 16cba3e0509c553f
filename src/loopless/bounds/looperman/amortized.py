"""Sums over the entries of an inner loop that are paid for by what the iterations around it use up.

Where every iteration of the outer loop lowers a measure by as much as the inner loop then takes, all entries together
take no more than the measure's first value, however they share it out: a total of m where m is used up in pieces of p
at most, not the number of pieces times p (the potential method of amortized analysis: Tarjan, SIAM J. Algebraic
Discrete Methods 1985; for loop bounds Carbonneaux, Hoffmann, Shao, PLDI 2015).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopless import terms as t
from loopless.bounds.induction.loop_counts import LoopCounts
from loopless.bounds.induction.measures import entails, most_of
from loopless.bounds.looperman.scopes import Iteration, Scope
from loopless.bounds.model import by_types, positive
from loopless.limits.bounds import MAX_AMORTIZED_MEASURES, MAX_OVERDRAFT
from loopless.logic import is_quasi_affine

Each = Sequence[tuple[t.Condition, t.Term]]
"""By path to the inner loop's header: when it is taken, and how much the entry takes at most, which is not negative."""


def amortized(counter: LoopCounts, scope: Scope, header: str, each: Each) -> Iterator[tuple[t.Term, int]]:
    """What pays for ``each`` entry of the loop ``header`` during one entry of the loop around it: the sum over all
    entries is at most the term, and so much more for each of them.
    """
    if not all(is_quasi_affine(term) for _, term in each):
        return
    tops = [most_of(term, condition) for condition, term in each]
    most = max((top for top in tops if top is not None), default=0) if None not in tops else None
    past = [iteration for iteration in scope.iterations if header in iteration.visited]
    for measure in _measures(counter, scope, each):
        try:
            if any(isinstance(measure - t.substitute(measure, iteration.values), t.Const) for iteration in past):
                continue  # what iterations lower by a constant pays for no more than that
            apart = _apart(scope, header, each, positive(measure))
        except t.TermTooLarge:
            continue
        # What each entry takes beyond what is paid may be all that it ever takes.
        if apart is not None and (most is None or apart < most):
            yield positive(measure), apart


def _measures(counter: LoopCounts, scope: Scope, each: Each) -> list[t.Term]:
    """Measures that iterations may lower by as much as ``each``: the loop's own, these without what ``each`` is about
    (as ``m`` where iterations need ``p`` <= ``m``), and the variables of ``each``; as they are, and times its largest
    factor.
    """
    found: dict[t.Term, None] = {}
    amounts = frozenset[t.Var]().union(*(term.variables for _, term in each)) - scope.changed
    for term in counter.measures(scope):
        found[term] = None
        rest = {m: c for m, c in t.polynomial(term).items() if m and all(amounts.isdisjoint(a.variables) for a, _ in m)}
        found[t.from_polynomial(rest)] = None
    for var in sorted({v for _, term in each for v in term.variables & scope.changed}, key=lambda v: v.key):
        found[var] = None
    moving = (term for term in found if not term.variables.isdisjoint(scope.changed))
    plain = [term for term in moving if _is_affine(term) and not by_types(term)][:MAX_AMORTIZED_MEASURES]
    factors = {abs(c) for _, term in each for node in t.walk(term) for c in _coefficients(node)}
    factor = max(factors, default=1)
    return plain if factor <= 1 else [*plain, *(term * factor for term in plain)]


def _is_affine(term: t.Term) -> bool:
    return all(not m or (len(m) == 1 and m[0][1] == 1 and isinstance(m[0][0], t.Var)) for m in t.polynomial(term))


def _coefficients(node: object) -> Iterator[int]:
    if isinstance(node, t.Term) and not isinstance(node, t.Const):
        yield from (c for monomial, c in t.polynomial(node).items() if monomial)


def _apart(scope: Scope, header: str, each: Each, measure: t.Term) -> int | None:
    """How much more than what is used up of ``measure`` an entry takes at most; None where that is not known.

    The last entry takes no more than what is left, and that much more: its iteration need not be complete.
    """
    most = 0
    for iteration in scope.iterations:
        after = t.substitute(measure, iteration.values)
        if not entails(iteration.condition, after.le(measure)):
            return None
        if header not in iteration.visited:
            continue
        more = _most_apart(iteration, each, measure - after)
        if more is None:
            return None
        most = max(most, more)
    for when, term in each:
        more = most_of(term - measure, when)
        if more is None or more > MAX_OVERDRAFT:
            return None
        most = max(most, more)
    return most


def _most_apart(iteration: Iteration, each: Each, drop: t.Term) -> int | None:
    """How much more than ``drop`` the entry in an iteration takes at most, whichever path leads there."""
    most = 0
    for when, term in each:
        both = iteration.condition & when
        more = most_of(term - drop, both)
        if more is None or more > MAX_OVERDRAFT:
            return None
        most = max(most, more)
    return most

"""One claim in which all that is known of the iterations agrees: at most, at least, never ending, undefined.

Each of these is found on its own, and each is right on its own: a least number is about runs that end and meet no
undefined behaviour, and says nothing where there are none; a set of states from which a loop never ends may hold no
state that there is, which a bound tells. What two of them say together is said here, once for all claims.
"""

from __future__ import annotations

from dataclasses import replace

from loopless import terms as t
from loopless.bounds.asymptotics.compare import lesser, surely_at_most
from loopless.bounds.claims.of_summaries import Claim
from loopless.bounds.model import Bounds, least, size
from loopless.limits.bounds import CLAIM_OPERATIONS, MAX_COMPARED_CLAIMS
from loopless.logic import BudgetExceeded, NotPresburger, budget, feasible, simplify


def agreeing(found: Claim, bounds: Bounds, *, ends: bool) -> Claim:
    """The claim, beside ``bounds`` on the same. ``ends``: every run comes to an end, be it by undefined behaviour."""
    return _least_at_most(replace(found, never=unbounded(found.never, bounds)), ends=ends)


def unbounded(never: t.Condition, bounds: Bounds) -> t.Condition:
    """The states of which it is said that a loop never ends there, without those for which a bound holds."""
    if never is t.FALSE or not bounds:
        return never
    if least(bounds) is not None:
        return t.FALSE
    left = t.conjunction((never, *(~bound.when for bound in bounds)))
    return never if left is never or _holds_nowhere(never & ~left) else _shown(left)


def _shown(left: t.Condition) -> t.Condition:
    if _holds_nowhere(left):
        return t.FALSE
    return simplify(left, operations=CLAIM_OPERATIONS)


def _least_at_most(found: Claim, *, ends: bool) -> Claim:
    """The claim with a least number that is no more than the upper bound. Where both contradict each other no run ends
    without undefined behaviour: it would take at least, and at most, so many iterations. Where no run meets undefined
    behaviour there is no such contradiction, whether it can be shown or not.
    """
    upper, lower = found.upper, found.lower
    if upper is None or found.exact or found.undefined is t.FALSE or lower is t.ZERO or surely_at_most(lower, upper):
        return found
    if size(upper) + size(lower) > MAX_COMPARED_CLAIMS:
        return replace(found, lower=lesser(lower, upper))
    contradicted = found.when & upper.lt(lower)
    if _holds_nowhere(contradicted):
        return found
    both = lesser(lower, upper)
    exact = both is upper and found.gap is t.FALSE and found.never is t.FALSE and contradicted is not t.TRUE
    always = _shown(contradicted) if ends else t.FALSE
    return replace(found, lower=both, exact=exact and always is not t.TRUE, always_undefined=always, undefined=t.TRUE)


def _holds_nowhere(condition: t.Condition) -> bool:
    """Whether a condition surely holds nowhere."""
    try:
        with budget(CLAIM_OPERATIONS):
            return not feasible(condition, solver=False)
    except (BudgetExceeded, NotPresburger):
        return False

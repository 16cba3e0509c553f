"""What each iteration leaves behind holds where the next one begins, and in all if it holds where the loop is entered.

A loop that is left at its bottom (``do … while (i < n)``) says nothing at its top. What an iteration that goes on knows
of a variable's new value, as i' ≤ n - 1, is a claim on its value at the beginning of every iteration but the first:
an inductive invariant without a search (Floyd, Assigning meanings to programs, 1967).
"""

from __future__ import annotations

from loopless import terms as t
from loopless.bounds.iteration.body_facts import LoopBodyFacts
from loopless.bounds.iteration.facts import NO_FACTS, Facts
from loopless.limits.bounds import MAX_LEFT_BEHIND


def left_behind(whole: LoopBodyFacts, slack: int) -> tuple[Facts, t.Condition] | None:
    """What holds in every iteration where it does in the first one: as facts, and as a condition on the values there.

    ``slack``: the limits are larger by that, since a first iteration may begin beyond the others, as with n = 0 above.
    None where nothing is known.
    """
    moving = whole.changed | whole.intervals.symbols
    claims: list[t.Compare] = []
    values = [(var, after, after.variables & moving) for var, after in whole.after.items()]
    for linear, most in whole.facts.most.items():
        speaks = linear.variables & moving
        for var, after in ((var, after) for var, after, parts in values if parts == speaks):
            for before, rest in ((var, linear - after), (-var, linear + after)):
                claim = (before + rest).le(most + slack)
                if rest.variables.isdisjoint(moving) and isinstance(claim, t.Compare):
                    claims.append(claim)
    facts = NO_FACTS
    for claim in claims[:MAX_LEFT_BEHIND]:
        facts = facts.under(claim, whole.intervals) or facts
    return (facts, t.conjunction(tuple(claims[:MAX_LEFT_BEHIND]))) if claims else None

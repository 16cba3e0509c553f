"""Sets of states that a loop never leaves, for runs in which a counter grows for ever, so that no state comes again.

The set is around the state in which a run enters the loop: a variable has the value that it has there, or is at least
or at most that. Conjuncts that an iteration need not keep are dropped until all are kept (Houdini: Flanagan and Leino,
FME 2001). The judge then decides whether a run can leave the set.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopless import clock
from loopless import terms as t
from loopless.check.certificates.judge import CertifiedClaim, impossible, judged_recurrent
from loopless.check.certificates.regions import CutpointRegion
from loopless.errors import LooplessError
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.limits.queries import GROWING_QUESTION_MS, GROWING_S, MAX_GROWING_VARIABLES
from loopless.transition.building import cutpoints_of


def never_left(graph: Flowgraph, loop: LoopInfo, state: Mapping[t.Var, int]) -> bool:
    """Whether a run that enters the loop in this state surely never leaves it."""
    if len(state) > MAX_GROWING_VARIABLES:
        return False
    until = clock.counted() + GROWING_S
    try:
        region = CutpointRegion(graph, loop.header, cutpoints_of(graph), lambda _: False, lambda _: False)
        kept = [
            one for var, value in state.items() for one in (t.equal(var, t.const(value)), var.ge(value), var.le(value))
        ]
        if any(arrival.target != loop.header for arrival in region.arrivals if _may_be(arrival.guard, kept)):
            return False
        stable = False
        while not stable:
            stable = True
            for arrival in (one for one in region.arrivals if one.target == loop.header):
                given = t.conjunction((*region.facts, *kept, arrival.guard))
                lost = {one for one in kept if not _holds(t.substitute(one, arrival.values), given)}
                if clock.counted() > until:
                    return False
                stable = stable and not lost
                kept = [one for one in kept if one not in lost]
        texts = tuple(text for one in kept if (text := t.smt(one)) is not None)
        claim = CertifiedClaim(dict.fromkeys(cutpoints_of(graph), ()), recurrent={loop.header: texts})
        return judged_recurrent(graph, claim, seconds=GROWING_S).accepted
    except (LooplessError, t.TermTooLarge):
        return False


def _holds(condition: t.Condition, given: t.Condition) -> bool:
    return condition in t.conjuncts(given) or impossible(given & ~condition, GROWING_QUESTION_MS, {})


def _may_be(guard: t.Condition, kept: list[t.Condition]) -> bool:
    return not impossible(t.conjunction((*kept, guard)), GROWING_QUESTION_MS, {})

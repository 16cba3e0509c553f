"""Bounds on iterations where there is no exact count, and proofs that a loop never ends.

How often loops, and the blocks in them, run at most is worked out after Looperman (Čadek, Strejček, Trtík 2016).
``function_bounds(graph)`` is the algorithm alone: bounds over the values at a loop's entry, and over those at the
function's. ``claim`` puts what a summary says exactly beside such bounds. Every bound is a term over unbounded integers
that holds on machine integers, undefined behaviour being the end of a run.
"""

from __future__ import annotations

from loopless.bounds.asymptotics.classes import LOG, AsymptoticClass, asymptotic_class
from loopless.bounds.claims.of_summaries import Claim, claim, claim_of_call
from loopless.bounds.function import function_bounds
from loopless.bounds.model import Bounds, CallBounds, FunctionBounds, LoopBounds, TermBound, least

__all__ = [
    "LOG",
    "AsymptoticClass",
    "Bounds",
    "Claim",
    "FunctionBounds",
    "LoopBounds",
    "TermBound",
    "asymptotic_class",
    "claim",
    "claim_of_call",
    "function_bounds",
    "least",
]

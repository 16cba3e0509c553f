"""Bounds on iterations where there is no exact count, and proofs that a loop never ends.

How often loops, and the blocks in them, run at most is worked out after Looperman (Čadek, Strejček, Trtík 2016).
``function_bounds(graph)`` is the algorithm alone: bounds over the values at a loop's entry, and over those at the
function's. ``claim`` puts what a summary says exactly beside such bounds. Every bound is a term over unbounded integers
that holds on machine integers, undefined behaviour being the end of a run.
"""

from __future__ import annotations

from loopless.bounds.asymptotics import LOG, Growth, growth_of
from loopless.bounds.claims import Claim, claim, claim_of_call
from loopless.bounds.function import function_bounds
from loopless.bounds.model import Bound, Bounds, CallBounds, FunctionBounds, LoopBounds, least

__all__ = [
    "LOG",
    "Bound",
    "Bounds",
    "Claim",
    "FunctionBounds",
    "Growth",
    "LoopBounds",
    "claim",
    "claim_of_call",
    "function_bounds",
    "growth_of",
    "least",
]

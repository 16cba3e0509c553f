"""What counters of paths say of runs into a target, and runs that they guide there (:mod:`loopless.navigation`)."""

from __future__ import annotations

from loopless.flowgraph.memory.initial_memory import begins_at, is_defined_here
from loopless.logic.solver import SmtAnswer
from loopless.navigation.counters import CounterSystem
from loopless.navigation.product import product_of
from loopless.queries.program import AnalyzedProgram
from loopless.transition.relation import START, TransitionSystem


def counters_of(system: TransitionSystem, *, trips: bool) -> CounterSystem | SmtAnswer:
    """The constraints of all runs to the target; NO where they have no solution, UNKNOWN where there are too many.

    ``trips``: how often inner loops go round as a whole may be used.
    """
    product = product_of(system, START, {})
    if product.goal is None:
        return SmtAnswer.UNKNOWN if product.cut else SmtAnswer.NO
    made = CounterSystem(product, system, trips=trips)
    return made if made.solve() is not SmtAnswer.NO else SmtAnswer.NO


def begun_globals(program: AnalyzedProgram, entry: str) -> frozenset[str]:
    """The globals that hold what the program gives them when a run begins with ``entry``."""
    module = program.source.module
    called = any(i.callee_name == entry for one in module.defined() for i in one.instructions())
    if called or not begins_at(module, entry):
        return frozenset()
    return frozenset(name for name, variable in module.globals.items() if is_defined_here(variable))

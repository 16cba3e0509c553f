"""Proofs by what holds of each two elements of arrays: that they are in order, or parted by a value."""

from __future__ import annotations

from dataclasses import replace

from loopless import clock
from loopless import terms as t
from loopless.errors import LimitError
from loopless.flowgraph.memory.cell_pairs import with_pairs
from loopless.flowgraph.model import Origin
from loopless.limits.verification import MAX_PAIR_CONSTANTS, PAIR_CORE_MS
from loopless.logic.induction import inductive_subset, needed, solver_context
from loopless.transition.building import system_of
from loopless.transition.relation import Step, TransitionSystem
from loopless.verification.element_pairs import array_states, pair_candidates
from loopless.verification.proofs import GOALS, Proof, Search

PAIRS = "orders of elements"


def compares_elements(system: TransitionSystem) -> bool:
    """Whether the way that runs take depends on elements beside other values: what orders them may matter."""
    return any(_compares(step) for step in system.transitions)


def _compares(step: Step) -> bool:
    read = {one.var for one in step.inputs if one.origin is Origin.MEMORY}
    return any(read & c.variables and len(c.variables) > 1 for c in t.comparisons(step.condition))


def proved_by_pairs(search: Search, seconds: float) -> Proof | None:
    """The proof by what of the candidates about elements is inductive, with what is known, if that is one."""
    try:
        return _proved(search, min(search.deadline, clock.counted() + seconds))
    except (LimitError, t.TermTooLarge):
        return None


def _proved(search: Search, until: float) -> Proof | None:
    system = _with_two(search.system)
    if system is None:
        return None
    states = array_states(search.system)
    made = search.proposals()
    cells = frozenset(var for cell in search.system.graph.cells.values() for var in cell.variables)
    plain = {
        label: [c for c in known if len(c.variables) == 1 or c.variables.isdisjoint(cells)]
        for label, known in ((at, dict.fromkeys((*found, *made.simple(at)))) for at, found in search.found.items())
    }
    constants = sorted(made.constants, key=abs)[:MAX_PAIR_CONSTANTS]
    proposed = {
        label: (*plain[label], *pair_candidates(system, label, states[label], constants)) for label in system.cutpoints
    }
    inner = [step for step in system.transitions if step.target not in GOALS]
    kept = inductive_subset(inner, proposed, until)
    bad = [step for step in system.transitions if step.target in GOALS]
    if not all(search.excluded(step, kept) for step in bad):
        return None
    in_time = (step for step in system.failing if clock.counted() < until)
    undefined = [step for step in in_time if search.excluded(step, kept, PAIR_CORE_MS)]
    goals = ((replace(step, update={}), t.FALSE) for step in (*bad, *undefined))
    shorter = needed(kept, inner, goals, solver_context(), PAIR_CORE_MS)
    return Proof(shorter or dict(kept), PAIRS, elements=True, pairs=True)


def _with_two(system: TransitionSystem) -> TransitionSystem | None:
    """The system with two cells of each array; None where its cutpoints are others."""
    graph = with_pairs(system.graph)
    kept = frozenset(var for cell in (*graph.cells.values(), *graph.pairs.values()) for var in (cell.cell, cell.number))
    found = system_of(graph, system.violates, system.calls, kept=kept, elements=True)
    return found if isinstance(found, TransitionSystem) and found.cutpoints == system.cutpoints else None

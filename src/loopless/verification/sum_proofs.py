"""Proofs by sums over the elements of arrays: that a sort keeps how often each value stands there, or what they add up
to.

The sums are those of the judge (:mod:`loopless.check.certificates.element_sums`): variables that each write and each
move of a place change by what follows from their definition. What holds of them is mostly linear equations, which
single runs with few elements propose; where an element is out of its place for a while, as in insertion sort, these
hold but for what is written over it: of the cell that is followed, where that is at the free place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Final

from loopless import clock
from loopless import terms as t
from loopless.check.certificates.element_sums import ElementSum, ElementSums, with_sums
from loopless.check.certificates.history import SPACE
from loopless.errors import LimitError, UsageError
from loopless.flowgraph.model import Flowgraph
from loopless.limits.verification import MAX_SUM_ELEMENTS, PAIR_CORE_MS
from loopless.logic.induction import inductive_subset, needed, solver_context
from loopless.records import dataclass
from loopless.transition.building import system_of
from loopless.transition.relation import START, TransitionSystem
from loopless.verification.accumulations import (
    ANY,
    Accumulation,
    Passage,
    PlacedSum,
    accumulations,
    indices,
    of_any,
    passages,
    sums_for,
)
from loopless.verification.element_pairs import array_states
from loopless.verification.proofs import GOALS, Proof, Search
from loopless.verification.sum_candidates import Free, sum_candidates

SUMS: Final = "sums over elements"


def proved_by_sums(search: Search, plain: Flowgraph, seconds: float) -> Proof | None:
    """The proof by what of the candidates about sums over elements is inductive, with what is known, if that is one.
    ``plain``: the flowgraph without the cells that are followed.
    """
    try:
        return _found(search, plain, min(search.deadline, clock.counted() + seconds))
    except (LimitError, UsageError, t.TermTooLarge):  # a name of the program may be one that certificates keep
        return None


def _found(search: Search, plain: Flowgraph, until: float) -> Proof | None:
    """The proof by the elements that loops sum up, then by those that other loops go over, too."""
    system = search.system
    told = system_of(plain, system.violates, system.calls, accesses=True)
    if not isinstance(told, TransitionSystem):
        return None
    found = accumulations(told, system.graph.cells)
    if not found:
        return None
    accessed = indices(plain, system.graph.cells)
    free = tuple(dict.fromkeys((one.object, one.index) for one in accessed if one.is_written))
    first = sums_for(system.graph, found)
    more = sums_for(system.graph, found, passages(told, accessed))
    proof = _proved(search, found, first, free, until)
    if proof is None and more != first and clock.counted() < until:
        proof = _proved(search, found, more, free, until)
    if proof is None and clock.counted() < until:
        proof = _proved_of_any(search, found, passages(told, accessed), free, until)
    return proof


def _proved_of_any(
    search: Search, found: Sequence[Accumulation], over: Sequence[Passage], free: Sequence[Free], until: float
) -> Proof | None:
    """The proof of what holds for any value that elements count for, where the program goes from one to the next: of
    the one that it has where it fails.
    """
    changed = frozenset(var for step in search.inner if step.source != START for var in step.update)
    generic = [of_any(one, changed) for one in found]
    given = dict.fromkeys(one.given for one in reversed(generic) if one.given is not None)
    every = dict.fromkeys(tuple(sums_for(search.system.graph, generic, also)) for also in ((), over))
    for placed, chosen in product(every, given):
        proof = _proved(search, generic, placed, free, until, chosen)
        if proof is not None or clock.counted() > until:
            return proof
    return None


@dataclass(frozen=True, slots=True)
class _Sums:
    """A system with sums: by their variables which these are, and as the certificate names them."""

    system: TransitionSystem
    placed: Mapping[t.Var, PlacedSum]
    named: ElementSums


def _with(search: Search, placed: Sequence[PlacedSum], chosen: t.Var | None) -> _Sums | None:
    """The system with these sums, those that certificates can write; None where its cutpoints are others. ``chosen``:
    what :data:`ANY` is where a run fails.
    """
    named: list[ElementSum] = []
    told: dict[t.Var, PlacedSum] = {}
    for one in placed:
        term, below = t.smt(one.term), t.smt(one.below)
        if term is None or below is None:
            continue
        over = t.symbol(one.cell.number.name).strip("|")
        named.append(ElementSum(f"{SPACE}sum{len(named)}", over, term, below, one.summed.bits))
        held = t.INTEGERS if one.summed.bits is None else t.IntType(one.summed.bits, signed=False)
        told[t.Var(named[-1].name, held)] = one
    sums = ElementSums(tuple(named), None if chosen is None else t.smt(chosen))
    graph = with_sums(search.system.graph, sums)
    beside = frozenset(told).union(*(one.summed.beside | one.below.variables for one in placed))
    beside |= frozenset() if chosen is None else {ANY, chosen}
    beside |= {var for cell in graph.cells.values() for var in (cell.cell, cell.number)}
    system = system_of(graph, search.system.violates, search.system.calls, kept=beside, elements=True)
    if not isinstance(system, TransitionSystem) or system.cutpoints != search.system.cutpoints:
        return None
    return _Sums(system, told, sums)


def _proved(
    search: Search,
    found: Sequence[Accumulation],
    placed: Sequence[PlacedSum],
    free: Sequence[Free],
    until: float,
    chosen: t.Var | None = None,
) -> Proof | None:
    sums = _with(search, placed, chosen)
    if sums is None:
        return None
    inner = [step for step in sums.system.transitions if step.target not in GOALS]
    bad = [step for step in sums.system.transitions if step.target in GOALS]
    own = search.system.graph.variables.keys()
    seen = {label: tuple(var for var in state if var in own) for label, state in sums.system.state.items()}
    states = array_states(replace(search.system, state=seen), MAX_SUM_ELEMENTS)
    proposed = {label: sum_candidates(sums.system, sums.placed, found, free, label, states[label]) for label in states}
    for simple in (False, True):
        every = {label: (*_plain(search, label, simple=simple), *proposed[label]) for label in proposed}
        if not all(search.excluded(step, every) for step in bad):
            continue  # nor would what is inductive of it
        kept = inductive_subset(inner, every, until)
        if all(search.excluded(step, kept) for step in bad):
            undefined = [step for step in sums.system.failing if search.excluded(step, kept, PAIR_CORE_MS)]
            goals = ((replace(step, update={}), t.FALSE) for step in (*bad, *undefined))
            shorter = needed(kept, inner, goals, solver_context(), PAIR_CORE_MS)
            return Proof(shorter or dict(kept), SUMS, elements=True, sums=sums.named)
    return None


def _plain(search: Search, label: str, *, simple: bool) -> list[t.Condition]:
    """What is known, and with ``simple`` what may hold, of variables that are no elements. What is known anywhere of
    variables that keep their values may hold everywhere.
    """
    cells = frozenset(var for cell in search.system.graph.cells.values() for var in cell.variables)
    changed = frozenset(var for step in search.inner if step.source != START for var in step.update)
    kept = frozenset(search.system.state[label]) - changed
    lasting = (one for found in search.found.values() for one in found if one.variables <= kept)
    every = (*search.found[label], *lasting, *(search.proposals().simple(label) if simple else ()))
    return [one for one in dict.fromkeys(every) if len(one.variables) == 1 or one.variables.isdisjoint(cells)]

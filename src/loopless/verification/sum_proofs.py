"""Proofs by sums over the elements of arrays: that a sort keeps how often each value stands there, or what they add up
to.

The sums are those of the judge (:mod:`loopless.check.certificates.element_sums`): variables that each write and each
move of a place change by what follows from their definition. What holds of them is mostly linear equations, which
single runs with few elements propose; where an element is out of its place for a while, as in insertion sort, these
hold but for what is written over it: of the cell that is followed, where that is at the free place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
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
    PlacedSum,
    accumulations,
    indices,
    of_any,
    passages,
    sums_for,
)
from loopless.verification.element_pairs import ArrayState, array_states
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
    """The proof by the elements that loops sum up, then by those that other loops go over, too; then by the same for
    any value that elements count for.
    """
    system = search.system
    told = system_of(plain, system.violates, system.calls, accesses=True)
    if not isinstance(told, TransitionSystem):
        return None
    found = accumulations(told, system.graph.cells)
    if not found:
        return None
    accessed = indices(plain, system.graph.cells)
    free = tuple(dict.fromkeys((one.object, one.index) for one in accessed if one.is_written))
    every = tuple(dict.fromkeys(var for state in system.state.values() for var in state))
    states = array_states(replace(system, state=dict.fromkeys(system.cutpoints, every)), MAX_SUM_ELEMENTS)
    over = passages(told, accessed)
    for generic, chosen in _of_values(search, found):
        for placed in dict.fromkeys(tuple(sums_for(system.graph, generic, also)) for also in ((), over)):
            sums = _with(search, placed, chosen)
            proof = None if sums is None else _proved(search, sums, generic, free, states, until)
            if proof is not None or clock.counted() > until:
                return proof
    return None


def _of_values(search: Search, found: Sequence[Accumulation]) -> Iterator[tuple[Sequence[Accumulation], t.Var | None]]:
    """What is accumulated, as the program says; then for any value in place of one that the program goes on to change:
    of the runs that fail those count in which it is that one.
    """
    yield found, None
    changed = frozenset(var for step in search.inner if step.source != START for var in step.update)
    generic = [of_any(one, changed) for one in found]
    yield from ((generic, var) for var in dict.fromkeys(one.given for one in reversed(generic)) if var is not None)


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
    sums: _Sums,
    found: Sequence[Accumulation],
    free: Sequence[Free],
    states: Mapping[str, Sequence[ArrayState]],
    until: float,
) -> Proof | None:
    """The proof by what of the candidates is inductive: with what is known, and where that leaves out why runs meet no
    undefined behaviour, with simple candidates.
    """
    system = sums.system
    inner = [step for step in system.transitions if step.target not in GOALS]
    bad = [step for step in system.transitions if step.target in GOALS]
    proposed = {label: sum_candidates(system, sums.placed, found, free, label, states[label]) for label in states}
    proof: Proof | None = None
    for simple in (False, True):
        every = {label: (*_plain(search, label, simple=simple), *proposed[label]) for label in proposed}
        if not all(search.excluded(step, every) for step in bad):
            continue  # nor would what is inductive of it
        kept = inductive_subset(inner, every, until)
        if not all(search.excluded(step, kept) for step in bad):
            continue
        undefined = [step for step in system.failing if search.excluded(step, kept, PAIR_CORE_MS)]
        goals = ((replace(step, update={}), t.FALSE) for step in (*bad, *undefined))
        shorter = needed(kept, inner, goals, solver_context(), PAIR_CORE_MS)
        proof = Proof(shorter or dict(kept), SUMS, elements=True, sums=sums.named)
        if len(undefined) == len(system.failing):
            break
    return proof


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

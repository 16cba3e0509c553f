"""Functions that call themselves several times: how many activations a call comes to, and what they take together.

A parameter that every call of itself lowers by d or more, and that is at least ``low`` where there is such a call, is a
measure: activations lie on 1 + ceil((n - low + 1) / d) levels, of b^j at most on the j-th, where one activation makes b
such calls at most. What one activation takes is a function of the measure that does not fall, so on level j it is taken
at n - d·j, and the sum over the levels has a closed form. The recurrence T(n) = b·T(n - d) + W(n) is that of divide and
conquer with subtraction (Cormen, Leiserson, Rivest and Stein, Introduction to Algorithms, chapter 4).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from loopless.bounds.measures import entails
from loopless.bounds.model import ceiling
from loopless.bounds.scopes import Scope, scopes_of
from loopless.flowgraph.liveness import defined_by
from loopless.flowgraph.model import Assign, Call, Flowgraph, Kind
from loopless.flowgraph.sites import Handed
from loopless.graphs import components
from loopless.terms import (
    ONE,
    ZERO,
    Condition,
    Term,
    Var,
    add,
    const,
    floor_div,
    greater_equal,
    less_equal,
    maximum,
    mul,
    power,
    sub,
    substitute,
)

_LOWEST: Final = (256, 128, 64, 32, 16, 10, 8, 7, 6, 5, 4, 3, 2, 1, 0, -1)
"""Tried as the least value of a measure where a function calls itself. A guess."""
_STEPS: Final = (8, 4, 3, 2, 1)
"""Tried as the least by which a call lowers a measure. A guess."""


@dataclass(frozen=True, slots=True)
class Activations:
    """The activations that a call comes to: at most ``calls`` from each, with ``measure``, an input, lowered by no less
    than ``step``, where it was at least ``low``. ``same``: the inputs that each call passes on as they are.
    """

    measure: Var
    low: int
    step: int
    calls: int
    same: frozenset[Var]

    def total(self, work: Term) -> Term | None:
        """What all activations take, where each takes ``work`` over its inputs at most; None if that is not known."""
        work = maximum(ZERO, work)
        if not self._grows(work):
            return None
        n = self.measure
        if any(n.type.wrap(self.low + more) != self.low + more for more in (-1, 1)):
            return None
        last, first, second = (substitute(work, {n: const(self.low + more)}) for more in (-1, 0, 1))
        slope = sub(second, first)
        line = add(first, mul(slope, sub(n, const(self.low))))
        if not entails(greater_equal(n, const(self.low)), less_equal(work, line)):
            return None
        levels = maximum(ZERO, ceiling(sub(n, const(self.low - 1)), const(self.step)))
        rest = sub(sub(n, const(self.low)), mul(const(self.step), sub(levels, ONE)))
        above, weighted, leaves = self._sums(levels)
        return add(
            mul(add(first, mul(slope, rest)), above),
            mul(mul(slope, const(self.step)), weighted),
            mul(last, leaves),
        )

    def largest(self, work: Term) -> Term | None:
        """The most that one of the activations takes, where each takes at most ``work``."""
        work = maximum(ZERO, work)
        return work if self._grows(work) else None

    def _grows(self, work: Term) -> bool:
        """Whether what an activation takes is no more where the measure is lower, and else the same."""
        n = self.measure
        if not work.variables <= self.same | {n}:
            return False
        if n not in work.variables:
            return True
        lower = Var(f"{n.name}~lower", n.type)
        return entails(less_equal(lower, n), less_equal(substitute(work, {n: lower}), work))

    def _sums(self, levels: Term) -> tuple[Term, Term, Term]:
        """Of L levels: the sums of b^j and of b^j·(L - 1 - j) over all j below L, and b^L."""
        if self.calls == 1:
            return levels, floor_div(mul(levels, sub(levels, ONE)), const(2)), ONE
        leaves = power(const(self.calls), levels)
        above = floor_div(sub(leaves, ONE), const(self.calls - 1))
        return above, floor_div(sub(above, levels), const(self.calls - 1)), leaves


def activations_of(graph: Flowgraph, is_own: Callable[[Call], bool], bits: Sequence[int | None]) -> Activations | None:
    """The activations of a function that calls itself, by the first parameter that is a measure of them; None where
    there is none, or where calls of itself stand in loops.

    ``is_own`` tells its calls of itself; ``bits``: the widths of its parameters as they are compiled.
    """
    if graph.irreducible or graph.blocked:
        return None
    inputs = [var for var, info in graph.variables.items() if info.kind is Kind.PARAMETER]
    inputs = [var for var in sorted(inputs, key=lambda var: var.key) if var.type.width is not None]
    handed = Handed(graph, graph, bits)
    found: dict[Var, list[tuple[str, Term | None]]] = {var: [] for var in inputs}
    at: dict[str, int] = {}
    for label, block in graph.blocks.items():
        for place, statement in enumerate(block.statements):
            if not isinstance(statement, Call) or not is_own(statement):
                continue
            if any(label in loop.blocks for loop in graph.loops):
                return None
            at[label] = at.get(label, 0) + 1
            for var in inputs:
                found[var].append((label, _in_front(graph, label, place, handed.at(statement, var))))
    most = _most(graph, at)
    if most is None:
        return None
    watched = frozenset(v for given in found.values() for _, term in given if term is not None for v in term.variables)
    scope = scopes_of(graph, watched).scopes[""]
    if not isinstance(scope, Scope):
        return None
    passed = {var: _passed(scope, given) for var, given in found.items()}
    same = frozenset(v for v, given in passed.items() if given is not None and all(term is v for _, term in given))
    for var in inputs:
        given = passed[var]
        measure = None if given is None or var in same else _measure(var, given)
        if measure is not None:
            low, step = measure
            return Activations(var, low, step, max(1, most), same)
    return None


def _in_front(graph: Flowgraph, label: str, place: int, term: Term | None) -> Term | None:
    """A term over the values in front of a statement of a block, over those at the block's beginning."""
    for statement in reversed(graph.blocks[label].statements[:place]):
        if term is None:
            return None
        if term.variables.isdisjoint(defined_by(statement)):
            continue
        term = substitute(term, {statement.target: statement.value}) if isinstance(statement, Assign) else None
    return term


def _passed(scope: Scope, given: Collection[tuple[str, Term | None]]) -> list[tuple[Condition, Term]] | None:
    """What calls pass on, over the values at the function's beginning, with what holds there."""
    found: list[tuple[Condition, Term]] = []
    for label, term in given:
        if term is None:
            return None
        found += [(state.holds, substitute(term, dict(state.values))) for state in scope.visits.get(label, ())]
    return found


def _measure(var: Var, given: Collection[tuple[Condition, Term]]) -> tuple[int, int] | None:
    """The least value of an input in front of the calls, and by how much they lower it at least."""

    def always(claim: Callable[[Term], Condition]) -> bool:
        return all(entails(holds, claim(term)) for holds, term in given)

    step = next((d for d in _STEPS if always(lambda term: less_equal(term, sub(var, const(d))))), None)  # noqa: B023
    if step is None:
        return None
    low = next((c for c in _LOWEST if always(lambda _: greater_equal(var, const(c)))), None)  # noqa: B023
    return None if low is None else (low, step)


def _most(graph: Flowgraph, at: dict[str, int]) -> int | None:
    """The most calls that one way through the function comes to; None where one stands on a cycle."""
    following = {label: tuple(block.successors) for label, block in graph.blocks.items()}
    most: dict[str, int] = {}
    for component in components(following):
        own = sum(at.get(label, 0) for label in component)
        if own and (len(component) > 1 or component[0] in following[component[0]]):
            return None
        behind = [most[target] for label in component for target in following[label] if target in most]
        most |= dict.fromkeys(component, own + max(behind, default=0))
    return most[graph.entry]

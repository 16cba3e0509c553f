"""Functions that call themselves several times: how many activations a call comes to, and what they take together.

A parameter that every call of itself lowers by d or more, and that is at least ``low`` where there is such a call, is a
measure: activations lie on 1 + ceil((n - low + 1) / d) levels, of b^j at most on the j-th, where one activation makes b
such calls at most. What one activation takes is a function of the measure that does not fall, so on level j it is taken
at n - d·j, and the sum over the levels has a closed form. The recurrence T(n) = b·T(n - d) + W(n) is that of divide and
conquer with subtraction (Cormen, Leiserson, Rivest and Stein, Introduction to Algorithms, chapter 4).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from loopless import terms as t
from loopless.bounds.induction.measures import entails
from loopless.bounds.looperman.scopes import Scope, scopes_of
from loopless.bounds.model import ceiling
from loopless.flowgraph.callees.call_sites import Handed
from loopless.flowgraph.def_use import defined_by
from loopless.flowgraph.model import Assign, Call, Flowgraph, Kind
from loopless.graphs import bottom_up
from loopless.records import dataclass

_LOWEST: Final = (256, 128, 64, 32, 16, 10, 8, 7, 6, 5, 4, 3, 2, 1, 0, -1)
"""Tried as the least value of a measure where a function calls itself. A guess."""
_STEPS: Final = (8, 4, 3, 2, 1)
"""Tried as the least by which a call lowers a measure. A guess."""


@dataclass(frozen=True, slots=True)
class Activations:
    """The activations that a call comes to: at most ``calls`` from each, with ``measure``, an input, lowered by no less
    than ``step``, where it was at least ``low``. ``same``: the inputs that each call passes on as they are.
    """

    measure: t.Var
    low: int
    step: int
    calls: int
    same: frozenset[t.Var]

    def total(self, work: t.Term) -> t.Term | None:
        """What all activations take, where each takes ``work`` over its inputs at most; None if that is not known."""
        work = t.maximum(t.ZERO, work)
        if not self._grows(work):
            return None
        n = self.measure
        if any(n.type.wrap(self.low + more) != self.low + more for more in (-1, 1)):
            return None
        last, first, second = (t.substitute(work, {n: t.const(self.low + more)}) for more in (-1, 0, 1))
        slope = second - first
        line = first + slope * (n - self.low)
        if not entails(n.ge(self.low), work.le(line)):
            return None
        levels = t.maximum(t.ZERO, ceiling(n - (self.low - 1), t.const(self.step)))
        rest = n - self.low - self.step * (levels - 1)
        above, weighted, leaves = self._sums(levels)
        return (first + slope * rest) * above + slope * self.step * weighted + last * leaves

    def largest(self, work: t.Term) -> t.Term | None:
        """The most that one of the activations takes, where each takes at most ``work``."""
        work = t.maximum(t.ZERO, work)
        return work if self._grows(work) else None

    def _grows(self, work: t.Term) -> bool:
        """Whether what an activation takes is no more where the measure is lower, and else the same."""
        n = self.measure
        if not work.variables <= self.same | {n}:
            return False
        if n not in work.variables:
            return True
        lower = t.Var(f"{n.name}~lower", n.type)
        return entails(lower.le(n), t.substitute(work, {n: lower}).le(work))

    def _sums(self, levels: t.Term) -> tuple[t.Term, t.Term, t.Term]:
        """Of L levels: the sums of b^j and of b^j·(L - 1 - j) over all j below L, and b^L."""
        if self.calls == 1:
            return levels, levels * (levels - 1) // 2, t.ONE
        leaves = t.power(t.const(self.calls), levels)
        above = (leaves - 1) // (self.calls - 1)
        return above, (above - levels) // (self.calls - 1), leaves


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
    found: dict[t.Var, list[tuple[str, t.Term | None]]] = {var: [] for var in inputs}
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


def _in_front(graph: Flowgraph, label: str, place: int, term: t.Term | None) -> t.Term | None:
    """A term over the values in front of a statement of a block, over those at the block's beginning."""
    for statement in reversed(graph.blocks[label].statements[:place]):
        if term is None:
            return None
        if term.variables.isdisjoint(defined_by(statement)):
            continue
        term = t.substitute(term, {statement.target: statement.value}) if isinstance(statement, Assign) else None
    return term


def _passed(scope: Scope, given: Collection[tuple[str, t.Term | None]]) -> list[tuple[t.Condition, t.Term]] | None:
    """What calls pass on, over the values at the function's beginning, with what holds there."""
    found: list[tuple[t.Condition, t.Term]] = []
    for label, term in given:
        if term is None:
            return None
        found += [(state.holds, t.substitute(term, dict(state.values))) for state in scope.visits.get(label, ())]
    return found


def _measure(var: t.Var, given: Collection[tuple[t.Condition, t.Term]]) -> tuple[int, int] | None:
    """The least value of an input in front of the calls, and by how much they lower it at least."""

    def always(claim: Callable[[t.Term], t.Condition]) -> bool:
        return all(entails(holds, claim(term)) for holds, term in given)

    step = next((d for d in _STEPS if always(lambda term: term.le(var - d))), None)  # noqa: B023
    if step is None:
        return None
    low = next((c for c in _LOWEST if always(lambda _: var.ge(c))), None)  # noqa: B023
    return None if low is None else (low, step)


def _most(graph: Flowgraph, at: dict[str, int]) -> int | None:
    """The most calls that one way through the function comes to; None where one stands on a cycle."""
    following = {label: tuple(block.successors) for label, block in graph.blocks.items()}

    def transfer(label: str, most: Mapping[str, int | None]) -> int | None:
        behind = [most[target] for target in following[label]]
        return None if None in behind else at.get(label, 0) + max((one for one in behind if one), default=0)

    def again(labels: Sequence[str], most: Mapping[str, int | None]) -> Mapping[str, int | None]:
        behind = [most[target] for label in labels for target in following[label] if target not in labels]
        sure = None not in behind and at.keys().isdisjoint(labels)
        return dict.fromkeys(labels, max((one for one in behind if one), default=0) if sure else None)

    most: dict[str, int | None] = bottom_up(following, transfer, recursive=again, unknown=0)
    return most[graph.entry]

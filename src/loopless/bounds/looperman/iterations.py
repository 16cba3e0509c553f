"""The iterations of a loop as iterative paths, with the loops inside as steps of which only their drift is known.

An inner loop that has no summary, or whose summary is too long, is passed over: what it changes has new values behind
it. Each complete iteration of it changes a variable by an amount between two numbers, so with k1, k2, … iterations of
each kind the new value differs from the old one by an amount between the same combinations of k1, k2, …: linear facts
with the numbers of iterations as unknowns ≥ 0, shared by all variables (the convex closure of translations; Ancourt,
Coelho, Irigoin, A modular static analysis approach to affine loop invariants detection, NSAD 2010). The last,
incomplete iteration is part of the path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from loopless import terms as t
from loopless.bounds.looperman.scopes import HavocLoop, Iteration, Scope, Scopes
from loopless.flowgraph.model import Origin
from loopless.limits.bounds import MAX_INNER_ITERATIONS
from loopless.logic import BudgetExceeded, enclosing_region
from loopless.logic.region import EmptyRegion
from loopless.paths import LoopPaths, Path, Unknown
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.terms.ranges import Range


def iteration_paths(scopes: Scopes, header: str) -> LoopPaths | Refused:
    """The iterative paths of a loop, without its exits; a refusal where the loop could not be followed."""
    scope = scopes.scopes[header]
    if isinstance(scope, Refused):
        return scope
    assert scope.loop is not None
    drifts = _Drifts(scopes)
    known = frozenset(scopes.graph.variables)
    iterative = tuple(
        _path(number, iteration, drifts, known) for number, iteration in enumerate(scope.iterations, start=1)
    )
    changed = {v for path in iterative for v in path.update}
    occurring = {v for p in iterative for node in (p.condition, *p.update.values()) for v in node.variables} & known
    state = tuple(sorted(changed & known, key=lambda v: v.key))
    invariants = tuple(sorted(occurring - changed, key=lambda v: v.key))
    return LoopPaths(scope.loop, iterative, (), state, invariants, state, ())


def _path(number: int, iteration: Iteration, drifts: _Drifts, known: frozenset[t.Var]) -> Path:
    condition = drifts.condition(iteration)
    occurring = {v for node in (condition, *iteration.values.values()) for v in node.variables}
    unknowns = tuple(
        Unknown(v, Origin.UNSUPPORTED, v.name, None) for v in sorted(occurring - known, key=lambda v: v.key)
    )
    update = {v: term for v, term in iteration.values.items() if v in known}
    return Path(str(number), condition, update, None, unknowns, ())


@dataclass(frozen=True, slots=True)
class _Change:
    """What one kind of iteration does to a variable: the ranges of the difference and of the value after it."""

    by: Range
    to: Range


@dataclass(slots=True)
class _Drifts:
    """What each kind of iteration of inner loops does to variables, worked out once for each loop."""

    scopes: Scopes
    found: dict[str, tuple[Mapping[t.Var, _Change], ...] | None] = field(default_factory=dict)

    def condition(self, iteration: Iteration) -> t.Condition:
        """What must hold for an iteration, with what is known of the inner loops that it passes."""
        return t.conjunction(
            (iteration.condition, *(part for havoc in iteration.passed for part in self._relation(havoc)))
        )

    def _relation(self, havoc: HavocLoop) -> Iterator[t.Condition]:
        """What the complete iterations of an inner loop make of its variables."""
        kinds = self._of(havoc.header)
        if kinds is None:
            return
        counts = [t.Var(f"iterations {havoc.number}.{i}", t.INTEGERS) for i in range(len(kinds))]
        yield from (count.ge(0) for count in counts)
        before = havoc.entry()
        for variable, symbol in havoc.after:
            start = before.get(variable, variable)
            for side, order in ((0, t.greater_equal), (1, t.less_equal)):
                limits = [kind[variable].by[side] if variable in kind else 0 for kind in kinds]
                total = [count * limit for count, limit in zip(counts, limits, strict=True) if limit is not None]
                if len(total) == len(kinds):
                    yield order(symbol - start, t.add(*total))
                end = _end(variable, kinds, side)
                if end is not None:
                    yield order(symbol, (t.minimum, t.maximum)[side](start, end))
        if kinds:
            yield self._none_or_some(havoc, counts, kinds)

    @staticmethod
    def _none_or_some(
        havoc: HavocLoop, counts: Sequence[t.Var], kinds: Sequence[Mapping[t.Var, _Change]]
    ) -> t.Condition:
        """Without an iteration all is as it was; with one, what every iteration sets is as some iteration sets it."""
        before = havoc.entry()
        none = [count.eq(0) for count in counts]
        none += [symbol.eq(before.get(variable, variable)) for variable, symbol in havoc.after]
        some = [t.add(*counts).ge(1)]
        for variable, symbol in havoc.after:
            if all(variable in kind for kind in kinds):
                ends = (_end(variable, kinds, side) for side in (0, 1))
                orders = zip((t.greater_equal, t.less_equal), ends, strict=True)
                some += [order(symbol, end) for order, end in orders if end is not None]
        return t.conjunction(none) | t.conjunction(some)

    def _of(self, header: str) -> tuple[Mapping[t.Var, _Change], ...] | None:
        """For each kind of iteration, what it does to each variable that it changes."""
        if header not in self.found:
            self.found[header] = None  # of a loop inside itself nothing is known
            scope = self.scopes.scopes[header]
            if (
                not isinstance(scope, Refused)
                and len(scope.iterations) <= MAX_INNER_ITERATIONS
                and self._all_read(scope)
            ):
                self.found[header] = tuple(self._changes(iteration) for iteration in scope.iterations)
        return self.found[header]

    def _all_read(self, scope: Scope) -> bool:
        return not any(isinstance(self.scopes.scopes[h], Refused) for h in self.scopes.inside(scope.header))

    def _changes(self, iteration: Iteration) -> Mapping[t.Var, _Change]:
        condition = self.condition(iteration)
        return {
            v: _Change(_range(term - v, condition), _range(term, condition)) for v, term in iteration.values.items()
        }


def _end(variable: t.Var, kinds: Sequence[Mapping[t.Var, _Change]], side: int) -> t.Term | None:
    """The least (``side`` 0) or greatest value that an iteration gives the variable, if that is more than its type
    says.
    """
    ends = [kind[variable].to[side] for kind in kinds if variable in kind]
    known = [end for end in ends if end is not None]
    if not known or len(known) < len(ends):
        return None
    end = (min, max)[side](known)
    width = variable.type.width
    return None if width is not None and abs(end) >= 1 << max(width - 3, 4) else t.const(end)


_RESULT = t.Var("'change", t.INTEGERS)


def _range(term: t.Term, condition: t.Condition) -> Range:
    """The least and the greatest value of ``term`` where ``condition`` holds."""
    if isinstance(term, t.Const):
        return term.value, term.value
    try:
        return enclosing_region(condition & _RESULT.eq(term)).range_of(_RESULT)
    except EmptyRegion:
        return 0, 0
    except BudgetExceeded:
        return t.range_of(term)

"""Candidate invariants: comparisons of the program, bounds by its constants, relations of two variables, remainders,
and the equations that hold of all states seen.

States that runs came to refute most candidates before a solver is asked (Ernst et al., Dynamically discovering likely
program invariants, ICSE 1999; equations by nullspaces: Sharma et al., A data driven approach for algebraic loop
invariants, ESOP 2013).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, combinations_with_replacement, islice
from math import prod
from typing import Final

from loopless import terms as t
from loopless.flowgraph.model import Kind
from loopless.limits.verification import (
    FEW_STATES,
    FEW_VALUES,
    LARGE_VALUE,
    MAX_CANDIDATES,
    MAX_EQUATION_TERMS,
    MAX_MONOMIALS,
    MAX_PARTIAL_CANDIDATES,
    MAX_RELATED_VARIABLES,
)
from loopless.recurrences.relations import relations
from loopless.terms.relation import added
from loopless.transition.algebra import apart
from loopless.transition.relation import TransitionSystem

States = Mapping[str, Sequence[Mapping[t.Var, int]]]
"""By cutpoint, states that runs came to."""

POWERS: Final = (2, 3, 4, 10)
"""Of these bases powers are looked for."""


def constants_of(system: TransitionSystem) -> list[int]:
    """The constants of the program: of comparisons and of updates, and what they come to for one variable."""
    found: dict[int, None] = {0: None, 1: None}
    for transition in system.transitions:
        for comparison in t.comparisons(transition.condition):
            found.update(dict.fromkeys(_limits(comparison)))
        for term in transition.update.values():
            for node in t.walk(term):
                if isinstance(node, t.Const):
                    found[node.value] = None
                elif isinstance(node, t.Sum):
                    found.update(dict.fromkeys(c for m, c in node.items if not m))
                elif isinstance(node, t.Compare):
                    found.update(dict.fromkeys(_limits(node)))
    return [value for value in found if abs(value) < 1 << 64]


def _limits(comparison: t.Compare) -> Iterable[int]:
    parts = t.polynomial(comparison.term)
    free = parts.get((), 0)
    yield from (free, -free)
    linear = [c for m, c in parts.items() if m]
    if len(linear) == 1 and abs(linear[0]) > 1:
        yield from (-free // linear[0], -(free // linear[0]))


class Proposals:
    """What may hold at the cutpoints of a system, by the states seen there."""

    def __init__(self, system: TransitionSystem, seen: States) -> None:
        self.system, self.seen = system, seen
        self.constants = constants_of(system)
        self.inputs = {one.var for transition in system.transitions for one in transition.inputs}
        self.atoms = self._atoms()
        self._simple: dict[str, list[t.Condition]] = {}

    def _atoms(self) -> list[t.Condition]:
        """The comparisons of the program, what they become behind a transition, and their negations."""
        found: dict[t.Condition, None] = {}
        for transition in self.system.transitions:
            for comparison in t.comparisons(transition.condition):
                if comparison.variables & self.inputs:
                    continue
                for atom in (comparison, ~comparison):
                    found[atom] = None
                    if isinstance(atom, t.Compare) and atom.relation == "le":  # where a loop may stop: one step further
                        found[atom.term.le(1)] = None
        return list(found)

    def simple(self, label: str) -> list[t.Condition]:
        """Comparisons of the program, bounds, relations of two variables, remainders."""
        if label not in self._simple:
            self._simple[label] = self._found(label)
        return self._simple[label]

    def _found(self, label: str) -> list[t.Condition]:
        variables = self._variables(label)
        states = self.seen.get(label, ())
        found: dict[t.Condition, None] = {}
        known = frozenset(self.system.state[label])
        near = dict.fromkeys(v for c in self.constants for v in (c, c - 1, c + 1))
        for atom in self.atoms:
            if atom.variables <= known and self._held(atom, states):
                found[atom] = None
        for var in variables:
            found.update(dict.fromkeys(_bounds(var, [s[var] for s in states], near)))
        for a, b in combinations(variables, 2):
            for term in (a - b, a + b):
                values = [_value(term, s) for s in states]
                found.update(dict.fromkeys(_bounds(term, values, near, 2)))
        found.update(dict.fromkeys(self._rests(variables, states)))
        factors = [k for k in self.constants if 2 <= k <= 16]
        for a, b in ((a, b) for a in variables for b in variables if a is not b):
            for factor in factors[:4]:
                for condition in (a.le(b * factor), (b * factor).le(a)):
                    if self._held(condition, states):
                        found[condition] = None
        for a, b in combinations(variables, 2):
            for c in variables:
                if c is a or c is b:
                    continue
                both = a + b
                for condition in (both.le(c), c.le(both), both.le(c * 2)):
                    if len(variables) <= 6 and self._held(condition, states):
                        found[condition] = None
        found.update(dict.fromkeys(self.equations(label, 1)))
        few = [*self._powers(variables, states), *self._few(variables, states)]
        few += [*self._rates(label, variables, states), *self._turns(label, variables, states)]
        return [
            *few,
            *islice(found, MAX_CANDIDATES),
            *self._parts(variables, states),
            *self._remainders(variables, states),
        ]

    def signs(self, label: str) -> list[t.Condition]:
        """That variables are positive, or not negative, where they always were."""
        states = self.seen.get(label, ())
        found = ((var.ge(1), var.ge(0)) for var in self._variables(label))
        held = (next((c for c in both if self._held(c, states)), t.TRUE) for both in found)
        return [c for c in held if c is not t.TRUE]

    def _rests(self, variables: Sequence[t.Var], states: Sequence[Mapping[t.Var, int]]) -> Iterable[t.Condition]:
        """Remainders by constants of the program."""
        steps = {abs(k) for k in self.constants}
        steps |= {k & -k for k in self.constants}  # what stays where values wrap around
        for var in variables:
            for modulus in sorted(k for k in steps if 2 <= k <= 64):
                rests = {s[var] % modulus for s in states}
                if len(rests) == 1 and (len(states) > 2 or not states):
                    yield t.equals_zero((var - rests.pop()) % modulus)

    def _rates(
        self, label: str, variables: Sequence[t.Var], states: Sequence[Mapping[t.Var, int]]
    ) -> Iterable[t.Condition]:
        """How much a variable is at most, and at least, by what iterations add to it out of the data, and a counter of
        these: what bounds on sums over path counters say, as invariants. That nothing wraps around is left to be shown.
        """
        own = (transition for transition in self.system.transitions if transition.source == label == transition.target)
        around = [replace(part, update=_unwrapped(part.update)) for term in own for part in apart(term)]
        entering = [
            transition for transition in self.system.transitions if transition.target == label != transition.source
        ]
        for counter in variables if around else ():
            steps = {added(transition, counter) for transition in around}
            (step,) = steps if len(steps) == 1 else (None,)
            if not isinstance(step, t.Const) or step.value <= 0:
                continue
            for var in variables:
                ranges = [t.range_of(added(transition, var)) for transition in around]
                starts = [(transition.update.get(var), transition.update.get(counter)) for transition in entering]
                for side, choose in ((0, min), (1, max)):
                    rates = [found for found in (one[side] for one in ranges) if found is not None]
                    if var is counter or len(rates) < len(ranges):
                        continue
                    rate = choose(rates)
                    weighed = var * step.value - counter * rate
                    firsts = [
                        step.value * one.value - rate * other.value
                        for one, other in starts
                        if isinstance(one, t.Const) and isinstance(other, t.Const)
                    ]
                    if len(firsts) < len(starts) or not firsts:
                        continue
                    limit = t.const(choose(firsts))
                    candidate = weighed.le(limit) if side else limit.le(weighed)
                    if candidate is not t.TRUE and self._held(candidate, states):
                        yield candidate

    def _turns(
        self, label: str, variables: Sequence[t.Var], states: Sequence[Mapping[t.Var, int]]
    ) -> Iterable[t.Condition]:
        """That two variables are odd at the same times, or never: a flag that is turned whenever a counter counts."""
        around = [
            part
            for transition in self.system.transitions
            if transition.source == label == transition.target
            for part in apart(transition)
        ]
        entering = [
            transition for transition in self.system.transitions if transition.target == label != transition.source
        ]

        def turns(var: t.Var) -> tuple[int, ...] | None:
            """By iteration, whether the variable changes from even to odd and back; None where that varies."""
            changes = [(transition.update.get(var, var), var) for transition in around]
            rests = [(term - old) % 2 for term, old in changes]
            return (
                tuple(rest.value for rest in rests if isinstance(rest, t.Const))
                if all(isinstance(rest, t.Const) for rest in rests)
                else None
            )

        known = {var: found for var in variables if (found := turns(var)) is not None and any(found)}
        for a, b in combinations(known, 2):
            starts = [(transition.update.get(a), transition.update.get(b)) for transition in entering]
            rests = {(x.value - y.value) % 2 for x, y in starts if isinstance(x, t.Const) and isinstance(y, t.Const)}
            numbers = all(isinstance(part, t.Const) for one in starts for part in one)
            if known[a] == known[b] and numbers and len(rests) == 1:
                candidate = t.equals_zero((a - b - rests.pop()) % 2)
                if self._held(candidate, states):
                    yield candidate

    def _remainders(self, variables: Sequence[t.Var], states: Sequence[Mapping[t.Var, int]]) -> list[t.Condition]:
        """Remainders by a variable that never changes and has few values: one condition for each of these."""
        changed = {var for transition in self.system.transitions if transition.source for var in transition.update}
        found: list[t.Condition] = []
        for fixed in (var for var in variables if var not in changed):
            values = sorted({state[fixed] for state in states})
            if not 2 <= len(values) <= FEW_STATES or abs(values[0]) > FEW_STATES or abs(values[-1]) > FEW_STATES:
                continue
            moved = {
                v
                for transition in self.system.transitions
                for v, term in transition.update.items()
                if fixed in term.variables
            }
            for var in (var for var in variables if var in changed and var in moved):
                for value in range(max(values[0], 2), values[-1] + 1):
                    rest = var % value
                    if all(state[var] % value == 0 for state in states if state[fixed] == value):
                        found.append(~fixed.eq(value) | t.equals_zero(rest))
        return found[:MAX_PARTIAL_CANDIDATES]

    def _parts(self, variables: Sequence[t.Var], states: Sequence[Mapping[t.Var, int]]) -> list[t.Condition]:
        """What holds of the states on one side of a variable that never changes: of the part of an array that a loop
        has been at, where that variable is a place in it.
        """
        changed = {var for transition in self.system.transitions if transition.source for var in transition.update}
        places = [v for v in variables if v not in changed and self.system.graph.variables[v].kind is Kind.PLACE][:3]
        counters = [v for v in variables if v in changed][:4]
        guards: list[t.Condition] = [t.TRUE, *(a.lt(b) for a in places for b in counters)]
        guards += [b.le(a) for a in places for b in counters]
        same = (t.TRUE, *(a.eq(b) for a, b in combinations(places, 2)))
        guards = [guard & other for guard in guards for other in same]
        return self._guarded(guards, variables, states)

    def cases(self, label: str) -> list[t.Condition]:
        """What holds of the states on either side of the comparisons of the program."""
        known = frozenset(self.system.state[label])
        terms = (term for transition in self.system.transitions for term in transition.update.values())
        choices = dict.fromkeys(node for term in terms for node in t.walk(term) if isinstance(node, t.Compare))
        atoms = dict.fromkeys((*(part for c in choices for part in (c, ~c)), *self.atoms))
        guards = [atom for atom in atoms if atom.variables <= known]
        states = self.seen.get(label, ())
        variables = self._variables(label)
        return [*self._wrapped(variables, states), *self._guarded(guards, variables, states, cases=True)]

    def _wrapped(self, variables: Sequence[t.Var], states: Sequence[Mapping[t.Var, int]]) -> Iterable[t.Condition]:
        """The linear equations of small values that hold of all others up to multiples of what unsigned values wrap
        around at.
        """
        small = [state for state in states if all(abs(state[var]) < LARGE_VALUE for var in variables)]
        for equation in self._linear(variables[:8], small) if len(small) < len(states) else ():
            widths = {var.type.width for var in equation.variables if not var.type.signed}
            if not isinstance(equation, t.Compare) or self._held(equation, states):
                continue
            for width in sorted(width for width in widths if width is not None):
                candidate = t.equals_zero(equation.term % (1 << width))
                if self._held(candidate, states):
                    yield candidate

    def _guarded(
        self,
        guards: Iterable[t.Condition],
        variables: Sequence[t.Var],
        states: Sequence[Mapping[t.Var, int]],
        *,
        cases: bool = False,
    ) -> list[t.Condition]:
        """What holds of the states in which a guard does; ``cases``: and not of all, with remainders."""
        found: dict[t.Condition, None] = {}
        varied = [var for var in variables if len({state[var] for state in states}) > 1]  # the others without guards
        for guard in guards:
            if guard is t.TRUE:
                continue
            inside = [state for state in states if self._held(guard, (state,))]  # not where it reads memory
            if not 3 <= len(inside) < len(states):
                continue
            facts: list[t.Condition] = []
            for var in varied:
                values = [state[var] for state in inside]
                facts += _bounds(var, values, self.constants, 1)
            facts += [c for c in self._linear(varied[:8], inside) if len(c.variables) > 1]
            facts += _constant_differences(varied[:8], inside)
            if cases:
                facts += self._rests(varied, inside)
            for fact in facts:
                if cases and self._held(fact, states):
                    continue  # it is proposed without a guard
                candidate = ~guard | fact
                if candidate is not t.TRUE:
                    found[candidate] = None
        return list(islice(found, MAX_PARTIAL_CANDIDATES))

    def _linear(self, variables: Sequence[t.Var], states: Sequence[Mapping[t.Var, int]]) -> list[t.Condition]:
        """The linear equations of some states."""
        distinct = list({tuple(s[v] for v in variables): s for s in states}.values())[:200]
        if len(distinct) < len(variables) + 2:
            return []
        found = []
        for vector in relations([[1, *(s[v] for v in variables)] for s in distinct]):
            terms = [var * c for c, var in zip(vector[1:], variables, strict=True) if c]
            found.append(t.equals_zero(t.add(t.const(vector[0]), *terms)))
        return found

    def _powers(self, variables: Sequence[t.Var], states: Sequence[Mapping[t.Var, int]]) -> list[t.Condition]:
        """That a variable is a power, of those of its type, or 0, to which powers of two wrap around: under each of
        these its products are linear; and that others are multiples of it.
        """
        found: list[t.Condition] = []
        for var in variables:
            values = {state[var] for state in states}
            high = var.type.max
            if len(values) < 3 or high is None or min(values) < 0:
                continue
            for base in POWERS:
                powers = [1]
                while powers[-1] * base <= high:
                    powers.append(powers[-1] * base)
                if not values.issubset((0, *powers)):
                    continue
                with_zero = [[0, *powers]] if base & (base - 1) == 0 and not var.type.signed else []
                among = ([powers] if 0 not in values else []) + with_zero
                found += [t.disjunction(var.eq(value) for value in some) for some in among]
                multiples = (t.equals_zero(other % var) for other in variables if other is not var)
                found += [c for c in multiples if 0 not in values and self._held(c, states)]
        return list(dict.fromkeys(found))

    def _few(self, variables: Sequence[t.Var], states: Sequence[Mapping[t.Var, int]]) -> list[t.Condition]:
        """Where few values were seen, that there are no others: of one variable, and of all together."""
        found: list[t.Condition] = []
        if len(states) < 3:
            return found
        for var in variables:
            values = {s[var] for s in states}
            if 1 < len(values) <= FEW_VALUES:
                found.append(t.disjunction(var.eq(value) for value in sorted(values)))
        whole = list(dict.fromkeys(tuple(s[var] for var in variables) for s in states))
        if 1 < len(whole) <= FEW_STATES:
            found.append(
                t.disjunction(
                    t.conjunction(var.eq(value) for var, value in zip(variables, state, strict=True)) for state in whole
                )
            )
        return found

    def equations(self, label: str, degree: int) -> list[t.Condition]:
        """The polynomial equations up to a degree that hold of all states seen; none where too few were seen."""
        variables = self._variables(label)
        states = self.seen.get(label, ())
        monomials: list[tuple[t.Var, ...]] = [()]
        for size in range(1, degree + 1):
            monomials += combinations_with_replacement(variables, size)
        if len(monomials) > MAX_MONOMIALS:
            return []
        distinct = list({tuple(s[v] for v in variables): s for s in states}.values())
        if len(distinct) < min(len(monomials) + 3, 4 + 2 * len(variables)):
            return []
        if any(abs(value) > 1 << 256 for s in distinct for value in s.values()):
            return []
        rows = [[prod(s[v] for v in monomial) for monomial in monomials] for s in distinct[:400]]
        found = []
        for vector in relations(rows):
            used = [(c, m) for c, m in zip(vector, monomials, strict=True) if c]
            if len(used) > MAX_EQUATION_TERMS:
                continue
            terms: list[t.Term] = []
            for coefficient, monomial in used:
                product: t.Term = t.const(1)
                for var in monomial:
                    product = product * var
                terms.append(product * coefficient)
            found.append(t.equals_zero(t.add(*terms)))
        return found

    def _variables(self, label: str) -> list[t.Var]:
        """The variables of a cutpoint that hold numbers, those that change in the program first."""
        info = self.system.graph.variables
        changed = {var for transition in self.system.transitions if transition.source for var in transition.update}
        found = [v for v in self.system.state[label] if v in info and not info[v].pointer_part]
        found.sort(key=lambda v: v not in changed)
        return found[:MAX_RELATED_VARIABLES]

    def _held(self, condition: t.Condition, states: Sequence[Mapping[t.Var, int]]) -> bool:
        try:
            return all(t.holds(condition, state) for state in states)
        except t.EvaluationError:
            return False


def _constant_differences(variables: Sequence[t.Var], states: Sequence[Mapping[t.Var, int]]) -> Iterable[t.Condition]:
    """The differences and sums of two variables that are the same in all states. They follow from all linear equations
    together; where another of these is lost to a value that wraps around, they may remain.
    """
    for a, b in combinations(variables, 2):
        for term in (a - b, a + b):
            values = {_value(term, state) for state in states}
            if len(values) == 1:
                yield term.eq(values.pop())


def _unwrapped(update: Mapping[t.Var, t.Term]) -> Mapping[t.Var, t.Term]:
    """What variables become where no sum wraps around."""
    found = dict(update)
    for var, term in update.items():
        while isinstance(term, t.Wrap):
            term = term.arg
        found[var] = term
    return found


def _value(term: t.Term, state: Mapping[t.Var, int]) -> int:

    return t.evaluate(term, state)


def _bounds(term: t.Term, values: Sequence[int], near: Iterable[int], most: int = 3) -> list[t.Condition]:
    """That the term is between constants of the program, those that are nearest to what was seen first."""
    if not values:
        return [c for k in near for c in (term.ge(k), term.le(k))][: 4 * most]
    least, greatest = min(values), max(values)
    if least == greatest:
        return [t.equals_zero(term - least), term.ge(least), term.le(least)]
    below = sorted((k for k in near if k <= least), reverse=True)[:most]
    above = sorted(k for k in near if k >= greatest)[:most]
    return [*(term.ge(k) for k in below), *(term.le(k) for k in above)]


def conjuncts_under(conditions: Iterable[t.Condition]) -> list[t.Condition]:
    """All conjuncts of these conditions, each once."""
    return list(dict.fromkeys(part for condition in conditions for part in t.conjuncts(condition)))

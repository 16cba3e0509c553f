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

from loopless.flowgraph.model import Kind
from loopless.recurrences.relations import relations
from loopless.terms import (
    TRUE,
    Compare,
    Condition,
    Const,
    EvaluationError,
    Sum,
    Term,
    Var,
    Wrap,
    add,
    comparisons,
    conjunction,
    const,
    disjunction,
    equal,
    equals_zero,
    holds,
    less,
    less_equal,
    mod,
    mul,
    negate,
    polynomial,
    range_of,
    scale,
    sub,
    substitute,
)
from loopless.terms.nodes import walk
from loopless.verification.transitions import TransitionSystem, apart

States = Mapping[str, Sequence[Mapping[Var, int]]]
"""By cutpoint, states that runs came to."""

MAX_VARIABLES: Final = 14
"""Relations are looked for between no more variables of a cutpoint. A guess."""
MAX_CANDIDATES: Final = 260
"""Of a cutpoint no more candidates are proposed. A guess."""
MAX_VALUES: Final = 6
MAX_STATES: Final = 40
"""So many different values of one variable, and states of all, are few. Guesses."""
POWERS: Final = (2, 3, 4, 10)
"""Of these bases powers are looked for."""
MAX_PARTS: Final = 120
"""So many conditions are proposed of parts of the states. A guess."""
SMALL: Final = 1 << 20
"""Values below are small: sums of few of them wrap around nowhere. A guess."""
MAX_MONOMIALS: Final = 130
MAX_TERMS: Final = 10
"""Equations with more terms than this are mostly accidents. A guess."""


def constants_of(system: TransitionSystem) -> list[int]:
    """The constants of the program: of comparisons and of updates, and what they come to for one variable."""
    found: dict[int, None] = {0: None, 1: None}
    for transition in system.transitions:
        for comparison in comparisons(transition.condition):
            found.update(dict.fromkeys(_limits(comparison)))
        for term in transition.update.values():
            for node in walk(term):
                if isinstance(node, Const):
                    found[node.value] = None
                elif isinstance(node, Sum):
                    found.update(dict.fromkeys(c for m, c in node.items if not m))
                elif isinstance(node, Compare):
                    found.update(dict.fromkeys(_limits(node)))
    return [value for value in found if abs(value) < 1 << 64]


def _limits(comparison: Compare) -> Iterable[int]:
    parts = polynomial(comparison.term)
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
        self.inputs = {one.var for t in system.transitions for one in t.inputs}
        self.atoms = self._atoms()
        self._simple: dict[str, list[Condition]] = {}

    def _atoms(self) -> list[Condition]:
        """The comparisons of the program, what they become behind a transition, and their negations."""
        found: dict[Condition, None] = {}
        for transition in self.system.transitions:
            for comparison in comparisons(transition.condition):
                if comparison.variables & self.inputs:
                    continue
                for atom in (comparison, negate(comparison)):
                    found[atom] = None
                    if isinstance(atom, Compare) and atom.relation == "le":  # where a loop may stop: one step further
                        found[less_equal(atom.term, const(1))] = None
        return list(found)

    def simple(self, label: str) -> list[Condition]:
        """Comparisons of the program, bounds, relations of two variables, remainders."""
        if label not in self._simple:
            self._simple[label] = self._found(label)
        return self._simple[label]

    def _found(self, label: str) -> list[Condition]:
        variables = self._variables(label)
        states = self.seen.get(label, ())
        found: dict[Condition, None] = {}
        known = frozenset(self.system.state[label])
        near = dict.fromkeys(v for c in self.constants for v in (c, c - 1, c + 1))
        for atom in self.atoms:
            if atom.variables <= known and self._held(atom, states):
                found[atom] = None
        for var in variables:
            found.update(dict.fromkeys(_bounds(var, [s[var] for s in states], near)))
        for a, b in combinations(variables, 2):
            for term in (sub(a, b), add(a, b)):
                values = [_value(term, s) for s in states]
                found.update(dict.fromkeys(_bounds(term, values, near, 2)))
        found.update(dict.fromkeys(self._rests(variables, states)))
        factors = [k for k in self.constants if 2 <= k <= 16]
        for a, b in ((a, b) for a in variables for b in variables if a is not b):
            for factor in factors[:4]:
                for condition in (less_equal(a, scale(b, factor)), less_equal(scale(b, factor), a)):
                    if self._held(condition, states):
                        found[condition] = None
        for a, b in combinations(variables, 2):
            for c in variables:
                if c is a or c is b:
                    continue
                both = add(a, b)
                for condition in (less_equal(both, c), less_equal(c, both), less_equal(both, scale(c, 2))):
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

    def _rests(self, variables: Sequence[Var], states: Sequence[Mapping[Var, int]]) -> Iterable[Condition]:
        """Remainders by constants of the program."""
        steps = {abs(k) for k in self.constants}
        steps |= {k & -k for k in self.constants}  # what stays where values wrap around
        for var in variables:
            for modulus in sorted(k for k in steps if 2 <= k <= 64):
                rests = {s[var] % modulus for s in states}
                if len(rests) == 1 and (len(states) > 2 or not states):
                    yield equals_zero(mod(sub(var, const(rests.pop())), const(modulus)))

    def _rates(self, label: str, variables: Sequence[Var], states: Sequence[Mapping[Var, int]]) -> Iterable[Condition]:
        """How much a variable is at most, and at least, by what iterations add to it out of the data, and a counter of
        these: what bounds on sums over path counters say, as invariants. That nothing wraps around is left to be shown.
        """
        own = (t for t in self.system.transitions if t.source == label == t.target)
        around = [replace(part, update=_unwrapped(part.update)) for t in own for part in apart(t)]
        entering = [t for t in self.system.transitions if t.target == label != t.source]
        for counter in variables if around else ():
            steps = {sub(t.update.get(counter, counter), counter) for t in around}
            (step,) = steps if len(steps) == 1 else (None,)
            if not isinstance(step, Const) or step.value <= 0:
                continue
            for var in variables:
                ranges = [range_of(sub(t.update.get(var, var), var)) for t in around]
                starts = [(t.update.get(var), t.update.get(counter)) for t in entering]
                for side, choose in ((0, min), (1, max)):
                    rates = [found for found in (one[side] for one in ranges) if found is not None]
                    if var is counter or len(rates) < len(ranges):
                        continue
                    rate = choose(rates)
                    weighed = sub(scale(var, step.value), scale(counter, rate))
                    firsts = [
                        step.value * one.value - rate * other.value
                        for one, other in starts
                        if isinstance(one, Const) and isinstance(other, Const)
                    ]
                    if len(firsts) < len(starts) or not firsts:
                        continue
                    limit = const(choose(firsts))
                    candidate = less_equal(weighed, limit) if side else less_equal(limit, weighed)
                    if candidate is not TRUE and self._held(candidate, states):
                        yield candidate

    def _turns(self, label: str, variables: Sequence[Var], states: Sequence[Mapping[Var, int]]) -> Iterable[Condition]:
        """That two variables are odd at the same times, or never: a flag that is turned whenever a counter counts."""
        around = [part for t in self.system.transitions if t.source == label == t.target for part in apart(t)]
        entering = [t for t in self.system.transitions if t.target == label != t.source]

        def turns(var: Var) -> tuple[int, ...] | None:
            """By iteration, whether the variable changes from even to odd and back; None where that varies."""
            changes = [(t.update.get(var, var), var) for t in around]
            rests = [mod(sub(term, old), const(2)) for term, old in changes]
            return (
                tuple(rest.value for rest in rests if isinstance(rest, Const))
                if all(isinstance(rest, Const) for rest in rests)
                else None
            )

        known = {var: found for var in variables if (found := turns(var)) is not None and any(found)}
        for a, b in combinations(known, 2):
            starts = [(t.update.get(a), t.update.get(b)) for t in entering]
            rests = {(x.value - y.value) % 2 for x, y in starts if isinstance(x, Const) and isinstance(y, Const)}
            numbers = all(isinstance(part, Const) for one in starts for part in one)
            if known[a] == known[b] and numbers and len(rests) == 1:
                candidate = equals_zero(mod(sub(sub(a, b), const(rests.pop())), const(2)))
                if self._held(candidate, states):
                    yield candidate

    def _remainders(self, variables: Sequence[Var], states: Sequence[Mapping[Var, int]]) -> list[Condition]:
        """Remainders by a variable that never changes and has few values: one condition for each of these."""
        changed = {var for t in self.system.transitions if t.source for var in t.update}
        found: list[Condition] = []
        for fixed in (var for var in variables if var not in changed):
            values = sorted({state[fixed] for state in states})
            if not 2 <= len(values) <= MAX_STATES or abs(values[0]) > MAX_STATES or abs(values[-1]) > MAX_STATES:
                continue
            moved = {v for t in self.system.transitions for v, term in t.update.items() if fixed in term.variables}
            for var in (var for var in variables if var in changed and var in moved):
                for value in range(max(values[0], 2), values[-1] + 1):
                    rest = mod(var, const(value))
                    if all(state[var] % value == 0 for state in states if state[fixed] == value):
                        found.append(disjunction((negate(equal(fixed, const(value))), equals_zero(rest))))
        return found[:MAX_PARTS]

    def _parts(self, variables: Sequence[Var], states: Sequence[Mapping[Var, int]]) -> list[Condition]:
        """What holds of the states on one side of a variable that never changes: of the part of an array that a loop
        has been at, where that variable is a place in it.
        """
        changed = {var for t in self.system.transitions if t.source for var in t.update}
        places = [v for v in variables if v not in changed and self.system.graph.variables[v].kind is Kind.PLACE][:3]
        counters = [v for v in variables if v in changed][:4]
        guards: list[Condition] = [TRUE, *(less(a, b) for a in places for b in counters)]
        guards += [less_equal(b, a) for a in places for b in counters]
        same = (TRUE, *(equal(a, b) for a, b in combinations(places, 2)))
        guards = [conjunction((guard, other)) for guard in guards for other in same]
        return self._guarded(guards, variables, states)

    def cases(self, label: str) -> list[Condition]:
        """What holds of the states on either side of the comparisons of the program."""
        known = frozenset(self.system.state[label])
        terms = (term for t in self.system.transitions for term in t.update.values())
        choices = dict.fromkeys(node for term in terms for node in walk(term) if isinstance(node, Compare))
        atoms = dict.fromkeys((*(part for c in choices for part in (c, negate(c))), *self.atoms))
        guards = [atom for atom in atoms if atom.variables <= known]
        states = self.seen.get(label, ())
        variables = self._variables(label)
        return [*self._wrapped(variables, states), *self._guarded(guards, variables, states, cases=True)]

    def _wrapped(self, variables: Sequence[Var], states: Sequence[Mapping[Var, int]]) -> Iterable[Condition]:
        """The linear equations of small values that hold of all others up to multiples of what unsigned values wrap
        around at.
        """
        small = [state for state in states if all(abs(state[var]) < SMALL for var in variables)]
        for equation in self._linear(variables[:8], small) if len(small) < len(states) else ():
            widths = {var.type.width for var in equation.variables if not var.type.signed}
            if not isinstance(equation, Compare) or self._held(equation, states):
                continue
            for width in sorted(width for width in widths if width is not None):
                candidate = equals_zero(mod(equation.term, const(1 << width)))
                if self._held(candidate, states):
                    yield candidate

    def _guarded(
        self,
        guards: Iterable[Condition],
        variables: Sequence[Var],
        states: Sequence[Mapping[Var, int]],
        *,
        cases: bool = False,
    ) -> list[Condition]:
        """What holds of the states in which a guard does; ``cases``: and not of all, with remainders."""
        found: dict[Condition, None] = {}
        varied = [var for var in variables if len({state[var] for state in states}) > 1]  # the others without guards
        for guard in guards:
            if guard is TRUE:
                continue
            inside = [state for state in states if self._held(guard, (state,))]  # not where it reads memory
            if not 3 <= len(inside) < len(states):
                continue
            facts: list[Condition] = []
            for var in varied:
                values = [state[var] for state in inside]
                facts += _bounds(var, values, self.constants, 1)
            facts += [c for c in self._linear(varied[:8], inside) if len(c.variables) > 1]
            if cases:
                facts += self._rests(varied, inside)
            for fact in facts:
                if cases and self._held(fact, states):
                    continue  # it is proposed without a guard
                candidate = disjunction((negate(guard), fact))
                if candidate is not TRUE:
                    found[candidate] = None
        return list(islice(found, MAX_PARTS))

    def _linear(self, variables: Sequence[Var], states: Sequence[Mapping[Var, int]]) -> list[Condition]:
        """The linear equations of some states."""
        distinct = list({tuple(s[v] for v in variables): s for s in states}.values())[:200]
        if len(distinct) < len(variables) + 2:
            return []
        found = []
        for vector in relations([[1, *(s[v] for v in variables)] for s in distinct]):
            terms = [scale(var, c) for c, var in zip(vector[1:], variables, strict=True) if c]
            found.append(equals_zero(add(const(vector[0]), *terms)))
        return found

    def _powers(self, variables: Sequence[Var], states: Sequence[Mapping[Var, int]]) -> list[Condition]:
        """That a variable is a power, of those of its type, or 0, to which powers of two wrap around: under each of
        these its products are linear; and that others are multiples of it.
        """
        found: list[Condition] = []
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
                found += [disjunction(equal(var, const(value)) for value in some) for some in among]
                multiples = (equals_zero(mod(other, var)) for other in variables if other is not var)
                found += [c for c in multiples if 0 not in values and self._held(c, states)]
        return list(dict.fromkeys(found))

    def _few(self, variables: Sequence[Var], states: Sequence[Mapping[Var, int]]) -> list[Condition]:
        """Where few values were seen, that there are no others: of one variable, and of all together."""
        found: list[Condition] = []
        if len(states) < 3:
            return found
        for var in variables:
            values = {s[var] for s in states}
            if 1 < len(values) <= MAX_VALUES:
                found.append(disjunction(equal(var, const(value)) for value in sorted(values)))
        whole = list(dict.fromkeys(tuple(s[var] for var in variables) for s in states))
        if 1 < len(whole) <= MAX_STATES:
            found.append(
                disjunction(
                    conjunction(equal(var, const(value)) for var, value in zip(variables, state, strict=True))
                    for state in whole
                )
            )
        return found

    def equations(self, label: str, degree: int) -> list[Condition]:
        """The polynomial equations up to a degree that hold of all states seen; none where too few were seen."""
        variables = self._variables(label)
        states = self.seen.get(label, ())
        monomials: list[tuple[Var, ...]] = [()]
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
            if len(used) > MAX_TERMS:
                continue
            terms: list[Term] = []
            for coefficient, monomial in used:
                product: Term = const(1)
                for var in monomial:
                    product = mul(product, var)
                terms.append(scale(product, coefficient))
            found.append(equals_zero(add(*terms)))
        return found

    def _variables(self, label: str) -> list[Var]:
        """The variables of a cutpoint that hold numbers, those that change in the program first."""
        info = self.system.graph.variables
        changed = {var for t in self.system.transitions if t.source for var in t.update}
        found = [v for v in self.system.state[label] if v in info and not info[v].pointer_part]
        found.sort(key=lambda v: v not in changed)
        return found[:MAX_VARIABLES]

    def _held(self, condition: Condition, states: Sequence[Mapping[Var, int]]) -> bool:
        try:
            return all(holds(condition, state) for state in states)
        except EvaluationError:
            return False


def _unwrapped(update: Mapping[Var, Term]) -> Mapping[Var, Term]:
    """What variables become where no sum wraps around."""
    found = dict(update)
    for var, term in update.items():
        while isinstance(term, Wrap):
            term = term.arg
        found[var] = term
    return found


def _value(term: Term, state: Mapping[Var, int]) -> int:
    from loopless.terms import evaluate

    return evaluate(term, state)


def _bounds(term: Term, values: Sequence[int], near: Iterable[int], most: int = 3) -> list[Condition]:
    """That the term is between constants of the program, those that are nearest to what was seen first."""
    if not values:
        return [c for k in near for c in (less_equal(const(k), term), less_equal(term, const(k)))][: 4 * most]
    least, greatest = min(values), max(values)
    if least == greatest:
        return [equals_zero(sub(term, const(least))), less_equal(const(least), term), less_equal(term, const(least))]
    below = sorted((k for k in near if k <= least), reverse=True)[:most]
    above = sorted(k for k in near if k >= greatest)[:most]
    return [*(less_equal(const(k), term) for k in below), *(less_equal(term, const(k)) for k in above)]


def conjuncts_under(conditions: Iterable[Condition]) -> list[Condition]:
    """All conjuncts of these conditions, each once."""
    from loopless.terms import conjuncts

    return list(dict.fromkeys(part for condition in conditions for part in conjuncts(condition)))


def moved(condition: Condition, update: Mapping[Var, Term]) -> Condition:
    """The condition on the state before that says that ``condition`` holds behind the update."""
    return substitute(condition, update)

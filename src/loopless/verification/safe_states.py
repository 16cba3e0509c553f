"""The states from which no run comes to a violation, backward along a system without cycles.

What leads from the header of a loop to a violation is known of all its states where its summary is exact. So the other
states are closed under iterations: an invariant that needs no quantifier, no history and no search (the weakest
precondition of a loop, as Dijkstra has it for loops that are unrolled, by its closed form).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from loopless import terms as t
from loopless.limits.verification import MAX_ALTERNATIVES, MAX_SAFE_SIZE, SAFE_STATES_OPERATIONS
from loopless.logic import BudgetExceeded, NotPresburger, Region, budget, feasible, is_quasi_affine
from loopless.summary.rewrite.univariate import as_intervals
from loopless.terms.relation import pre
from loopless.transition.relation import START, Step, TransitionSystem
from loopless.verification.shapes import is_plain

SafeStates = Mapping[str, tuple[t.Condition, ...]]


def safe_states(
    system: TransitionSystem, goals: Collection[str], given: Mapping[str, t.Condition]
) -> SafeStates | None:
    """By cutpoint, conditions that all states fulfil from which no step leads to ``goals``, or to a state that does not
    fulfil those where it leads; ``given`` holds at cutpoints, and is among them. None where there are cycles, or where
    conditions grow too large.
    """
    unsafe = unsafe_states(system, goals, given)
    if unsafe is None:
        return None
    found: dict[str, tuple[t.Condition, ...]] = {}
    for label in system.cutpoints:
        known = t.conjuncts(given.get(label, t.TRUE))
        found[label] = tuple(dict.fromkeys((*known, *_outside(unsafe[label], known))))
    return found


def without_large_numbers(safe: SafeStates) -> SafeStates | None:
    """Of safe states the conditions that speak of nothing that types cannot hold, nor of first values; None where these
    are all. They are fewer and shorter, and mostly enough.
    """
    found = {
        label: tuple(part for part in parts if all(map(_is_plain, t.disjuncts(part)))) for label, parts in safe.items()
    }
    return None if found == safe else found


def unsafe_states(
    system: TransitionSystem, goals: Collection[str], given: Mapping[str, t.Condition]
) -> Mapping[str, tuple[t.Condition, ...]] | None:
    """By cutpoint, alternative conditions: each state from which steps lead to ``goals`` fulfils one of them.

    ``given`` is what holds at cutpoints; other states are left out. Where values from outside decide whether steps lead
    to ``goals``, more states may fulfil a condition. None where there are cycles, where
    some step is an under step, or where conditions grow too large.
    """
    order = _backward(system)
    if order is None or not all(step.kind.proves for step in system.transitions):
        return None
    unsafe: dict[str, tuple[t.Condition, ...]] = dict.fromkeys(goals, (t.TRUE,))
    try:
        with budget(SAFE_STATES_OPERATIONS):
            for label in order:
                steps = [step for step in system.transitions if step.source == label]
                holds = given.get(label, t.TRUE)
                found = tuple(part for step in steps for part in _before(step, unsafe.get(step.target, ()), holds))
                if sum(len(part.key) for part in found) > MAX_SAFE_SIZE:
                    return None
                unsafe[label] = tuple(dict.fromkeys(found))
    except (t.TermTooLarge, BudgetExceeded):
        return None
    return unsafe


def _outside(unsafe: Collection[t.Condition], known: Collection[t.Condition]) -> Iterator[t.Condition]:
    """The negations of ``unsafe`` conditions, without what is ``known``; then stronger ones.

    Those leave out what a condition says of large numbers. Mostly it says that nothing overflows, and an overflow ends
    runs, so that more states are safe than are needed.
    """
    for part in unsafe:
        for one in _alternatives(part):
            rest = [conjunct for conjunct in t.conjuncts(one) if conjunct not in known]
            yield ~t.conjunction(rest)
            plain = t.conjunction(conjunct for conjunct in rest if _is_plain(conjunct))
            if plain is not t.TRUE:
                yield ~plain


def _alternatives(condition: t.Condition) -> list[t.Condition]:
    """Conditions of which one holds where this does, each without alternatives, where they are few."""
    found: list[tuple[t.Condition, ...]] = [()]
    for part in t.conjuncts(condition):
        ways = [t.conjuncts(way) for way in t.disjuncts(part)]
        if len(ways) * len(found) > MAX_ALTERNATIVES:
            ways = [(part,)]
        found = [(*known, *way) for known in found for way in ways]
    return [t.conjunction(parts) for parts in found]


def _is_plain(condition: t.Condition) -> bool:
    return is_plain(condition) and not any(map(_is_searched, t.walk(condition)))


def _is_searched(node: t.Node) -> bool:
    """Whether a value is the first or the last for which something holds: provers know little of it."""
    return isinstance(node, t.Aggregate) or (isinstance(node, t.Op) and node.op.startswith("first"))


def _backward(system: TransitionSystem) -> list[str] | None:
    """The cutpoints, each behind those that its steps lead to; None where there is a cycle."""
    onward = {
        label: {s.target for s in system.transitions if s.source == label} for label in (START, *system.cutpoints)
    }
    done: list[str] = []
    while len(done) < len(onward):
        ready = [at for at, to in onward.items() if at not in done and all(x in done or x not in onward for x in to)]
        if not ready:
            return None
        done += ready
    return [label for label in done if label != START]


def _before(step: Step, unsafe: tuple[t.Condition, ...], given: t.Condition) -> list[t.Condition]:
    """From which states in which ``given`` holds the step may lead into one of these."""
    fixed = _fixed(given)
    found = []
    for part in unsafe:
        before = as_intervals(pre(step, part))
        before = t.without_exact_quotients(t.substitute(before, fixed) if fixed else before)
        chosen = before.variables.intersection(one.var for one in step.inputs)
        if chosen:
            before = _for_some(before, chosen)
        if before is not t.FALSE and feasible(before & given):
            found.append(before)
    return found


def _fixed(given: t.Condition) -> dict[t.Var, t.Term]:
    """The variables that have one value where ``given`` holds."""
    found: dict[t.Var, t.Term] = {}
    for part in t.conjuncts(given):
        if isinstance(part, t.Compare) and part.relation == "eq" and len(part.variables) == 1:
            (var,) = part.variables
            poly = t.polynomial(part.term)
            factor = poly.get(((var, 1),), 0)
            if abs(factor) == 1 and poly.keys() <= {((var, 1),), ()}:
                found[var] = t.const(-factor * poly.get((), 0))
    return found


def _for_some(condition: t.Condition, chosen: Collection[t.Var]) -> t.Condition:
    """That the condition holds for some values of these, or more."""
    if is_quasi_affine(condition):
        try:
            return Region.of(condition).project_out(chosen).condition()
        except NotPresburger:
            pass
    return t.conjunction(part for part in t.conjuncts(condition) if not part.variables.intersection(chosen))

"""Contracts of functions that calls do not see into: what they return and leave in globals, of what they were given.

Calls of a run that come back tell what may hold; of that the largest part is kept that proves itself, assumed behind
calls that are passed over and shown where the function returns (Houdini on the clauses of procedures: Flanagan and
Leino, FME 2001; summaries of recursive procedures as solutions of Horn clauses: Komuravelli, Gurfinkel and Chaki, CAV
2014).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from loopless import clock
from loopless import terms as t
from loopless.flowgraph.model import ContractSignature
from loopless.limits.verification import (
    ACCIDENTAL_BOUND,
    CONTRACT_BLOCKS,
    CONTRACT_CHECK_MS,
    CONTRACT_RUNS_S,
    CONTRACT_RUNS_SHARE,
    LEAST_CONTRACT_RUNS_S,
    MAX_ARGUMENTS,
    MAX_CONTRACT_CANDIDATES,
    MAX_GUARDS,
    MIN_CALLS,
)
from loopless.logic.induction import entailed, inductive_subset
from loopless.records import dataclass
from loopless.recurrences.relations import relations
from loopless.refusals import Refused
from loopless.transition.relation import START, Step, TransitionSystem, Violates
from loopless.verification.proofs import Invariants, Search

Contracts = Mapping[str, tuple[t.Condition, ...]]
"""By function, conditions on the variables of its signature."""

SystemWith = Callable[[Contracts], TransitionSystem | Refused]
"""The program under contracts; each function that has one, be it empty, tells what its calls return."""

Sample = Mapping[t.Var, int]


@dataclass(frozen=True, slots=True)
class Contracted:
    """A program under ``contracts`` that the ``invariants`` prove."""

    contracts: Contracts
    system: TransitionSystem
    invariants: Invariants


def contracted(
    plain: TransitionSystem, system_with: SystemWith, violates: Violates, deadline: float
) -> Contracted | None:
    """The program under the contracts that were found for the functions which calls of ``plain`` may go into; None
    where there are none.
    """
    signatures = {name: one for name, one in plain.graph.signatures.items() if one.result is not None or one.globals}
    contracts: dict[str, tuple[t.Condition, ...]] = dict.fromkeys(signatures, ())
    system = system_with(contracts)
    if not signatures or isinstance(system, Refused):
        return None
    search = Search(system, violates, deadline)
    share = CONTRACT_RUNS_SHARE * (deadline - clock.counted())
    search.sampled(min(CONTRACT_RUNS_S, max(share, LEAST_CONTRACT_RUNS_S)), CONTRACT_BLOCKS)
    constants = [c for c in search.proposals().constants if abs(c) < ACCIDENTAL_BOUND]
    for name, signature in signatures.items():
        samples, atoms = search.returned.get(name, ()), _atoms(system, signature)
        contracts[name] = tuple(_candidates(signature, samples, atoms, constants))
    proposed = {label: search.proposals().simple(label) for label in system.cutpoints}
    while any(contracts.values()) and clock.counted() < deadline:
        made = system_with(contracts)
        if isinstance(made, Refused):
            return None
        steps = Search(made, violates, deadline).inner
        asked = {**proposed, **{signatures[name].returned: parts for name, parts in contracts.items()}}
        kept = inductive_subset(steps, asked, deadline)
        shown = {name: kept.get(signature.returned, ()) for name, signature in signatures.items()}
        if shown == contracts:
            return Contracted(contracts, made, kept)
        contracts = {name: _without_needless(parts, deadline) for name, parts in shown.items()}
    return None


def _atoms(system: TransitionSystem, signature: ContractSignature) -> list[t.Condition]:
    """What the function compares of what it was given."""
    found: dict[t.Condition, None] = {}
    for transition in system.transitions:
        for comparison in t.comparisons(transition.condition):
            if comparison.variables and comparison.variables <= signature.given.keys():
                atom = t.substitute(comparison, signature.given)
                found.update(dict.fromkeys((atom, ~atom)))
    return list(found)


def _candidates(
    signature: ContractSignature, samples: Sequence[Sample], atoms: Sequence[t.Condition], constants: Sequence[int]
) -> list[t.Condition]:
    """What held at the returns seen, for all and case by case."""
    if not samples:
        return []
    given = [v for v in signature.given.values() if len({s[v] for s in samples}) > 1][:MAX_ARGUMENTS]
    results = [*([] if signature.result is None else [signature.result]), *signature.globals]
    near = sorted({v for c in constants for v in (c - 1, c, c + 1)}, key=abs)
    borders = (c for k in near for var in given for c in (var.le(k), var.ge(k + 1)))
    found = list(_facts(given, results, samples, near))
    known = set(found)
    cases = 0
    for guard in dict.fromkeys((*atoms, *borders)):
        inside = [sample for sample in samples if t.holds(guard, sample)]
        if not MIN_CALLS <= len(inside) < len(samples):
            continue
        cases += 1
        if cases > MAX_GUARDS:
            break
        facts = [fact for fact in _facts(given, results, inside, near) if fact not in known]
        found += [~guard | fact for fact in facts]
    return [part for part in dict.fromkeys(found) if part is not t.TRUE and t.smt(part) is not None][
        :MAX_CONTRACT_CANDIDATES
    ]


def _facts(
    given: Sequence[t.Var], results: Sequence[t.Var], samples: Sequence[Sample], near: Sequence[int]
) -> Iterator[t.Condition]:
    """What holds of results at these returns: linear equations, bounds, and differences from what was given."""
    distinct = list({tuple(s[v] for v in (*given, *results)): s for s in samples}.values())[:200]
    for result in results:
        if len({s[result] for s in distinct}) == 1:
            yield t.equals_zero(result - distinct[0][result])
            continue
        if len(distinct) > len(given) + 2:
            rows = [[1, *(s[v] for v in given), s[result]] for s in distinct]
            for vector in relations(rows):
                if vector[-1]:
                    terms = [v * c for c, v in zip(vector[1:], (*given, result), strict=True) if c]
                    yield t.equals_zero(t.add(t.const(vector[0]), *terms))
        for term in (result, *(result - var for var in given), *(result + var for var in given[:2])):
            yield from _between(term, [t.evaluate(term, sample) for sample in distinct], near)


def _between(term: t.Term, values: Sequence[int], near: Sequence[int]) -> Iterator[t.Condition]:
    """That a term is between what was seen, or the next constants of the program."""
    least, greatest = min(values), max(values)
    lows = (least, *islice((k for k in sorted(near, reverse=True) if k <= least), 1))
    highs = (greatest, *islice((k for k in sorted(near) if k >= greatest), 1))
    yield from (term.ge(k) for k in dict.fromkeys(lows) if abs(k) < ACCIDENTAL_BOUND)
    yield from (term.le(k) for k in dict.fromkeys(highs) if abs(k) < ACCIDENTAL_BOUND)


def _without_needless(parts: Sequence[t.Condition], until: float) -> tuple[t.Condition, ...]:
    """The conjuncts that the others do not imply."""
    kept = list(parts)
    for part in sorted(parts, key=lambda one: (-len(one.key), one.key)):
        others = [other for other in kept if other is not part]
        if clock.counted() < until and entailed(Step(START, START, t.TRUE, {}, ()), others, part, CONTRACT_CHECK_MS):
            kept = others
    return tuple(kept)

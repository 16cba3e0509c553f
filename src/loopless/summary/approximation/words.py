"""Relations in few words: equalities solved, and what only the ends of types say left out, which makes them larger."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from loopless.logic import Region, pruned
from loopless.summary.model import Case
from loopless.terms import (
    INTEGERS,
    TRUE,
    Compare,
    Condition,
    Term,
    Var,
    conjunction,
    conjuncts,
    disjunction,
    disjuncts,
    polynomial,
    substitute,
)

_LARGE: Final = 1 << 28
"""Numbers from here on come from the ends of types. A guess."""
_MOST_ARMS: Final = 3
"""A relation of more alternatives is enlarged to its convex hull. A guess."""
_OPERATIONS: Final = 20_000
"""isl's operations for leaving out what is said twice. A guess."""


def written(case: Case, region: Region) -> Case:
    """The case with the facts that ``region`` says of its free variables, and without those that equalities determine
    in terms of others. What it says of entry values alone is the case's condition.
    """
    counters = [var for var in case.free if var.type == INTEGERS]
    values = [var for var in case.free if var.type != INTEGERS]
    found = region.hull().equalities([*values, *counters])
    solved: dict[Var, Term] = {var: term for var, term in found.items() if var in case.free}
    left = tuple(var for var in case.free if var not in solved)
    facts = substitute(_facts(region, frozenset(counters)), solved)
    told = frozenset(left)
    facts = conjunction(part for part in conjuncts(facts) if part.variables & told)
    return replace(
        case,
        then={var: substitute(term, solved) for var, term in case.then.items()},
        iterations=substitute(case.iterations, solved),
        per_path={path: substitute(term, solved) for path, term in case.per_path.items()},
        result=substitute(case.result, solved) if case.result is not None else None,
        free=left,
        facts=facts,
    )


def _facts(region: Region, counters: frozenset[Var]) -> Condition:
    region = region.joined()
    if region.parts == 1:
        return larger(region.rough_condition(), counters)
    common = larger(region.hull().rough_condition(), counters)
    arms = larger(region.rough_condition(), counters) if region.parts <= _MOST_ARMS else TRUE
    return pruned(conjunction((common, arms)), operations=_OPERATIONS) if arms is not TRUE else common


def larger(condition: Condition, counters: frozenset[Var]) -> Condition:
    """``condition`` without the conjuncts that speak of large numbers, but for those that bound counters by entry
    values: it holds at least where the condition does.
    """
    arms = disjuncts(condition)
    if len(arms) > 1:
        return disjunction(larger(arm, counters) for arm in arms)
    kept: list[Condition] = []
    for part in conjuncts(condition):
        if len(disjuncts(part)) > 1:
            kept.append(disjunction(larger(arm, counters) for arm in disjuncts(part)))
        elif not _is_large(part, counters):
            kept.append(part)
    return conjunction(kept) if kept else TRUE


def _is_large(part: Condition, counters: frozenset[Var]) -> bool:
    if not isinstance(part, Compare):
        return False
    factors = polynomial(part.term)
    if any(abs(factor) >= _LARGE for monomial, factor in factors.items() if monomial):
        return True
    if abs(factors.get((), 0)) < _LARGE:
        return False
    counted = [factor for monomial, factor in factors.items() if any(atom in counters for atom, _ in monomial)]
    bounds = part.relation == "le" and bool(counted) and all(factor > 0 for factor in counted)
    return not bounds or len(part.variables) == len(counted)

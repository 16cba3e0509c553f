"""Relations in few words: equalities solved, and what only the ends of types say left out, which makes them larger."""

from __future__ import annotations

from dataclasses import replace

from loopless import terms as t
from loopless.limits.summary import LARGE_APPROXIMATE_NUMBER, MAX_RELATION_ALTERNATIVES, REPETITION_OPERATIONS
from loopless.logic import Region, pruned
from loopless.summary.model import Case
from loopless.terms.contents import placed


def written(case: Case, region: Region) -> Case:
    """The case with the facts that ``region`` says of its free variables, and without those that equalities determine
    in terms of others. What it says of entry values alone is the case's condition.
    """
    counters = [var for var in case.free if var.type == t.INTEGERS]
    values = [var for var in case.free if var.type != t.INTEGERS]
    found = region.hull().equalities([*values, *counters])
    solved: dict[t.Var, t.Term] = {var: term for var, term in found.items() if var in case.free}
    left = tuple(var for var in case.free if var not in solved)
    facts = t.substitute(_facts(region, frozenset(counters)), solved)
    told = frozenset(left)
    facts = t.conjunction(part for part in t.conjuncts(facts) if part.variables & told)
    return replace(
        case,
        then={var: t.substitute(term, solved) for var, term in case.then.items()},
        iterations=t.substitute(case.iterations, solved),
        per_path={path: t.substitute(term, solved) for path, term in case.per_path.items()},
        result=t.substitute(case.result, solved) if case.result is not None else None,
        contents=None if case.contents is None else placed(case.contents, solved),
        free=left,
        facts=facts,
    )


def _facts(region: Region, counters: frozenset[t.Var]) -> t.Condition:
    region = region.joined()
    if region.parts == 1:
        return larger(region.rough_condition(), counters)
    common = larger(region.hull().rough_condition(), counters)
    arms = larger(region.rough_condition(), counters) if region.parts <= MAX_RELATION_ALTERNATIVES else t.TRUE
    return pruned(common & arms, operations=REPETITION_OPERATIONS) if arms is not t.TRUE else common


def larger(condition: t.Condition, counters: frozenset[t.Var]) -> t.Condition:
    """``condition`` without the conjuncts that speak of large numbers, but for those that bound counters by entry
    values: it holds at least where the condition does.
    """
    arms = t.disjuncts(condition)
    if len(arms) > 1:
        return t.disjunction(larger(arm, counters) for arm in arms)
    kept: list[t.Condition] = []
    for part in t.conjuncts(condition):
        if len(t.disjuncts(part)) > 1:
            kept.append(t.disjunction(larger(arm, counters) for arm in t.disjuncts(part)))
        elif not _is_large(part, counters):
            kept.append(part)
    return t.conjunction(kept) if kept else t.TRUE


def _is_large(part: t.Condition, counters: frozenset[t.Var]) -> bool:
    if not isinstance(part, t.Compare):
        return False
    factors = t.polynomial(part.term)
    if any(abs(factor) >= LARGE_APPROXIMATE_NUMBER for monomial, factor in factors.items() if monomial):
        return True
    if abs(factors.get((), 0)) < LARGE_APPROXIMATE_NUMBER:
        return False
    counted = [factor for monomial, factor in factors.items() if any(atom in counters for atom, _ in monomial)]
    bounds = part.relation == "le" and bool(counted) and all(factor > 0 for factor in counted)
    return not bounds or len(part.variables) == len(counted)

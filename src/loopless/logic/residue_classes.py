"""Alternatives that differ in residues only, as one condition: ``x % 4 == 1 && x >= 4 || x % 4 == 3 && x >= 6`` is
``x % 2 == 1 && x >= 4``.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopless import terms as t
from loopless.limits.logic import MAX_JOINED_ALTERNATIVES, MAX_RESIDUE_MODULUS
from loopless.logic.feasible import feasible
from loopless.logic.region import Region


def joined_residues(condition: t.Condition, given: t.Condition) -> Iterator[t.Condition]:
    """Conditions that agree with ``condition`` where ``given`` holds, both Presburger, and speak of a residue once."""
    arms = t.disjuncts(condition)
    if len(arms) > MAX_JOINED_ALTERNATIVES:
        return
    for residue in sorted(_residues(condition), key=lambda one: one.key):
        if len(arms) == 1 and sum(residue in set(t.walk(part)) for part in t.conjuncts(condition)) < 2:
            continue
        term, modulus = residue.args
        assert isinstance(modulus, t.Const)
        taken = [each for each in range(modulus.value) if feasible(condition & given & residue.eq(each))]
        of_residues = _one_of(term, modulus.value, taken)
        if of_residues is None:
            continue
        region = Region.of(condition & given)
        for rest in _rests(arms, residue):
            found = t.conjunction((*rest, of_residues))
            if found is not condition and Region.of(found & given).is_equal(region):
                yield found
                break


def _residues(condition: t.Condition) -> set[t.Op]:
    """The remainders that the condition compares."""
    found = (part for part in t.walk(condition) if isinstance(part, t.Op) and part.op == "mod")
    return {one for one in found if isinstance(one.args[1], t.Const) and 1 < one.args[1].value <= MAX_RESIDUE_MODULUS}


def _rests(arms: tuple[t.Condition, ...], residue: t.Op) -> Iterator[tuple[t.Condition, ...]]:
    """What may hold beside a residue: all that an alternative says beside it, one comparison of that, or nothing."""
    rests = [tuple(part for part in t.conjuncts(arm) if residue not in set(t.walk(part))) for arm in arms]
    yield from rests
    yield from ((part,) for rest in rests for part in rest if isinstance(part, t.Compare))
    yield ()


def _one_of(term: t.Term, modulus: int, residues: list[int]) -> t.Condition | None:
    """That the remainder of ``term`` is one of ``residues``, which ascend; None where that takes more than two
    comparisons.
    """
    if not residues:
        return None
    first, last = residues[0], residues[-1]
    if last - first == len(residues) - 1:
        remainder = term % modulus
        if first == last:
            return remainder.eq(first)
        low = remainder.ge(first) if first > 0 else t.TRUE
        high = remainder.le(last) if last < modulus - 1 else t.TRUE
        return low & high
    step = residues[1] - first
    if modulus % step == 0 and residues == list(range(first, modulus, step)) and first < step:
        return (term % step).eq(first)
    return None

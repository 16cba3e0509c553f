"""Paths around inner loops with their checks as conjuncts of their own.

What the summary of an inner loop says of undefined behaviour is a region, in whatever words the logic found. Here it is
taken apart again: a check of a path is a conjunct whose failure, all others being true, is undefined behaviour. The
exits "undefined" then say for each path which of its checks fails, so that methods recognize the two as each other's
negation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from loopless import terms as t
from loopless.limits.paths import (
    CHECK_OPERATIONS,
    MAX_ALTERNATIVE_PATHS,
    MAX_CONDITION_ALTERNATIVES,
    ONE_CHECK_OPERATIONS,
)
from loopless.logic import BudgetExceeded, NotPresburger, Region, budget
from loopless.logic.feasible import feasible
from loopless.paths.joining import join
from loopless.paths.model import Exit, Path
from loopless.records import dataclass
from loopless.terms.knowing import Known, without_implied


@dataclass(frozen=True, slots=True)
class _Split:
    """A path's condition: what chooses it, and its checks."""

    chosen: tuple[t.Condition, ...]
    checks: tuple[t.Condition, ...]


def with_checks(
    iterative: Sequence[Path], exits: Sequence[Path], changing: frozenset[t.Var]
) -> tuple[list[Path], list[Path]]:
    """The same paths, not numbered; ``changing``: the variables that an iteration changes."""
    if not any(path.exit is not None and path.exit.kind == "undefined" for path in exits):
        return list(iterative), list(exits)
    try:
        with budget(CHECK_OPERATIONS):
            return _apart(iterative, exits, changing)
    except BudgetExceeded:
        return list(iterative), list(exits)


def _apart(
    iterative: Sequence[Path], exits: Sequence[Path], changing: frozenset[t.Var]
) -> tuple[list[Path], list[Path]]:
    iterative = [replace(path, condition=without_implied(path.condition)) for path in iterative]
    exits = [replace(path, condition=without_implied(path.condition)) for path in exits]
    undefined = [path for path in exits if path.exit is not None and path.exit.kind == "undefined"]
    broken = t.disjunction(path.condition for path in undefined)
    others = [path for path in exits if path not in undefined]
    again = [arm for path in iterative for arm in _arms(path, changing)]
    out = [arm for path in others for arm in _arms(path, changing)]
    if len(again) + len(out) > max(MAX_ALTERNATIVE_PATHS, len(iterative) + len(others)):
        again, out = list(iterative), list(others)
    failing: list[tuple[Exit, t.Condition]] = []
    for path in (*again, *out):
        split = _split(path, broken, changing)
        held: list[t.Condition] = []
        for check in split.checks:
            failed = t.conjunction((*split.chosen, *held, ~check))
            held.append(check)
            if not _possible(failed):
                continue
            parts = t.conjuncts(failed)
            exit = _of_several([u.exit for u in undefined if u.exit and _possible_besides(parts, u.condition)])
            if exit is not None:
                failing.append((exit, t.conjunction((*split.chosen, ~check))))
    known = ~t.disjunction(condition for _, condition in failing)
    for path in undefined:
        assert path.exit is not None
        rest = _rest(path.condition, known)
        if rest is not t.FALSE:
            overlapping = _possible(path.condition & ~known)
            failing.append((path.exit, _short(rest) if overlapping else path.condition))
    ends: dict[Exit, list[t.Condition]] = {}
    for exit, condition in failing:
        ends.setdefault(exit, []).append(condition)
    lines = {path.exit: path.lines for path in undefined}
    every = tuple(sorted({line for path in undefined for line in path.lines}))
    exact = all(path.exact for path in (*iterative, *exits))
    made = [
        Path(
            "", t.conjunction(join([t.conjuncts(c) for c in parts])), {}, exit, (), lines.get(exit, every), exact=exact
        )
        for exit, parts in ends.items()
    ]
    return again, [*out, *made]


def _rest(condition: t.Condition, known: t.Condition) -> t.Condition:
    """Both conditions; arm by arm, where there are few, since in an arm most of ``known`` is decided."""
    arms = [t.conjuncts(arm) for arm in _alternatives(condition)]
    rest = t.disjunction(
        t.conjunction((*arm, Known(arm).decide(known))) for arm in arms if _possible_besides(arm, known)
    )
    return t.disjunction(without_implied(arm) for arm in _alternatives(rest) if _possible(arm))


def _alternatives(condition: t.Condition) -> list[t.Condition]:
    """Conditions of which one holds where ``condition`` does: without disjunctions, if they are not too many."""
    arms = [condition]
    while True:
        split: list[t.Condition] = []
        for arm in arms:
            parts = t.conjuncts(arm)
            either = next((part for part in parts if isinstance(part, t.Or)), None)
            if either is None:
                split.append(arm)
                continue
            rest = [part for part in parts if part is not either]
            known = Known(rest)
            split += [t.conjunction((*rest, known.decide(part))) for part in either.args]
        split = _absorbed([arm for arm in split if arm is not t.FALSE])
        if len(split) > MAX_CONDITION_ALTERNATIVES or split == arms:
            return arms
        arms = split


def _absorbed(arms: Sequence[t.Condition]) -> list[t.Condition]:
    """The arms without those that say more than another one."""
    parts = {arm: frozenset(t.conjuncts(arm)) for arm in arms}
    return [arm for arm in parts if not any(other < parts[arm] for other in parts.values())]


def _possible_besides(parts: Sequence[t.Condition], whole: t.Condition) -> bool:
    """Whether ``whole``, which may be large, may hold where all ``parts`` do."""
    rest = Known(parts).decide(whole)
    return rest is not t.FALSE and _possible(t.conjunction((*parts, rest)))


def _possible(condition: t.Condition) -> bool:
    """False only if surely not; products are names here, since what is asked follows from their being the same."""
    return condition is not t.FALSE and feasible(condition, solver=False)


def _short(condition: t.Condition) -> t.Condition:
    try:
        with budget(ONE_CHECK_OPERATIONS):
            return Region.of(condition).coalesce().condition()
    except (NotPresburger, BudgetExceeded):
        return condition


def _of_several(exits: Iterable[Exit]) -> Exit | None:
    """One exit for what may fail in several ways."""
    found = list(dict.fromkeys(exits))
    if len(found) <= 1:
        return found[0] if found else None
    kinds = {exit.detail for exit in found}
    lines = {exit.line for exit in found}
    detail = found[0].detail if len(kinds) == 1 else "undefined-behaviour"
    return replace(found[0], detail=detail, line=found[0].line if len(lines) == 1 else 0)


def _arms(path: Path, changing: frozenset[t.Var]) -> list[Path]:
    """The path, its conjuncts without alternatives that the others exclude; as several paths where a conjunct says that
    a check need not hold in some cases.
    """
    parts = list(t.conjuncts(path.condition))
    for index, part in enumerate(parts):
        if isinstance(part, t.Or):
            rest = parts[:index] + parts[index + 1 :]
            kept = [arm for arm in part.args if _possible(t.conjunction((*rest, arm)))]
            parts[index] = t.disjunction(kept)
    arms = [t.conjunction(parts)]
    for part in t.conjuncts(arms[0]):
        if not isinstance(part, t.Or) or not part.variables & changing:
            continue
        first = [arm for arm in part.args if not arm.variables & changing]
        if not first and not _is_presburger(part):
            first = [arm for arm in part.args if _is_presburger(arm)]
        if not first:
            continue
        plain = t.disjunction(first)
        other = t.disjunction(arm for arm in part.args if arm not in first)
        split = []
        for arm in arms:
            rest = [p for p in t.conjuncts(arm) if p is not part]
            split += [t.conjunction((*rest, plain)), t.conjunction((*rest, ~plain, other))]
        arms = split
    return [replace(path, condition=without_implied(arm)) for arm in arms if _possible(arm)]


def _is_presburger(condition: t.Condition) -> bool:
    try:
        Region.of(condition)
    except NotPresburger:
        return False
    return True


def _split(path: Path, broken: t.Condition, changing: frozenset[t.Var]) -> _Split:
    """Which conjuncts are checks."""
    whole = ~broken
    parts = t.conjuncts(path.condition)

    def surely_undefined(checks: Sequence[t.Condition]) -> bool:
        chosen = [part for part in parts if part not in checks]
        return all(
            not _possible_besides((*chosen, *checks[:place], ~check), whole) for place, check in enumerate(checks)
        )

    likely = [part for part in parts if part.variables & changing and surely_undefined([part])]
    if len(likely) > 1 and not surely_undefined(likely):
        kept: list[t.Condition] = []
        for part in likely:
            if surely_undefined([*kept, part]):
                kept.append(part)
        likely = kept
    return _Split(tuple(part for part in parts if part not in likely), tuple(likely))

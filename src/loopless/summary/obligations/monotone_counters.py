"""Signed counters that only rise, or only fall, as numbers without bound.

A check that such a counter does not overflow can fail in one iteration only, the last one. So the loop is summarized
with the counter in ℤ, and that its final value fits the type is one comparison at the end. With the check in the path
conditions the values of limits near the end of the type would each need cases of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from loopless import terms as t
from loopless.paths.model import Exit, LoopPaths, Path
from loopless.records import dataclass
from loopless.summary.obligations.monotone import exit_of_all
from loopless.terms.relation import added


@dataclass(frozen=True, slots=True)
class LiftedCounter:
    """``var`` as ``free``, which has no bounds; ``rising`` or falling; ``checks`` are left to its final value."""

    var: t.Var
    free: t.Var
    rising: bool
    checks: frozenset[t.Condition]
    exit: Exit


def liftable_counters(
    paths: LoopPaths, control: Iterable[t.Var], checks: Mapping[t.Condition, Exit]
) -> list[LiftedCounter]:
    """The control variables that can be lifted."""
    found = [_lifted(paths, var, checks) for var in sorted(control)]
    return [lifted for lifted in found if lifted is not None]


def _lifted(paths: LoopPaths, var: t.Var, checks: Mapping[t.Condition, Exit]) -> LiftedCounter | None:
    low, high = var.type.min, var.type.max
    if low is None or high is None or not var.type.signed or not _is_linear_throughout(paths, var):
        return None
    moves = [added(path, var) for path in paths.iterative]
    steps = [move.value for move in moves if isinstance(move, t.Const)]
    if len(steps) != len(moves) or (min(steps) < 0 < max(steps)) or not any(steps):
        return None
    rising = max(steps) > 0
    dropped: dict[t.Condition, Exit] = {}
    for path, step in zip(paths.iterative, steps, strict=True):
        for part in t.conjuncts(path.condition):
            if part not in checks or var not in part.variables:
                continue
            if part.variables != {var} or not _says_that_it_fits(part, var, step, high if rising else low):
                return None
            dropped[part] = checks[part]
    if not dropped:
        return None
    exits = list(dropped.values())
    return LiftedCounter(var, t.Var(var.name, t.INTEGERS), rising, frozenset(dropped), exit_of_all(exits))


def _says_that_it_fits(part: t.Condition, var: t.Var, step: int, limit: int) -> bool:
    """Whether ``part`` is just that ``var`` moved by ``step`` does not pass ``limit``."""
    if not isinstance(part, t.Compare) or part.relation != "le" or step == 0:
        return False
    poly = t.polynomial(part.term)
    sign = 1 if step > 0 else -1
    return poly.get(((var, 1),)) == sign and poly.get((), 0) == -sign * (limit - step)


def _is_linear_throughout(paths: LoopPaths, var: t.Var) -> bool:
    """Whether conditions and the updates of iterations use ``var`` as a summand only."""
    for path in paths.all:
        if not all(_is_summand(part.term, var) for part in t.comparisons(path.condition)):
            return False
        if path.exit is None and not all(_is_summand(term, var) for term in path.update.values()):
            return False
    return True


def _is_summand(term: t.Term, var: t.Var) -> bool:
    if var not in term.variables:
        return True
    return all(
        all(var not in atom.variables for atom, _ in monomial) or monomial == ((var, 1),)
        for monomial in t.polynomial(term)
    )


def lift(paths: LoopPaths, lifted: Iterable[LiftedCounter]) -> LoopPaths:
    """The paths with the variables lifted, without the checks on them."""
    free: dict[t.Var, t.Term] = {item.var: item.free for item in lifted}
    names = {item.var: item.free for item in lifted}
    dropped = {check for item in lifted for check in item.checks}

    def of_path(path: Path) -> Path:
        kept = path.condition
        if path.exit is None:
            kept = t.conjunction(part for part in t.conjuncts(path.condition) if part not in dropped)
        placed = replace(path, condition=kept).given(free)
        update = {names.get(v, v): term for v, term in placed.update.items()}
        return replace(placed, update=update, outputs=frozenset(names.get(v, v) for v in path.outputs))

    return replace(
        paths,
        iterative=tuple(map(of_path, paths.iterative)),
        exits=tuple(map(of_path, paths.exits)),
        state=tuple(names.get(v, v) for v in paths.state),
    )

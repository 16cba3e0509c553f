"""Values of a single path that move one way only: all checks on them hold along a run exactly if the last one does.

As :mod:`loopless.summary.obligations.monotone_accumulators` for paths that take turns. Where the direction depends on
signs, as for Fibonacci's numbers, it is known for entry values of one sign, if an iteration keeps that sign.

The direction is shown for values of any size: behind the first failure of a check the closed forms run on over ℤ, and
the last value must still tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from loopless import terms as t
from loopless.logic import feasible
from loopless.paths.model import Exit, Path
from loopless.records import dataclass
from loopless.summary.obligations.monotone import fits, needed_to_follow


@dataclass(frozen=True, slots=True)
class MonotoneValue:
    """For entry values in ``guard``, ``var`` moves one way only, up if ``up``, and its checks are the ``checks``.

    They hold all along exactly if the final value fits; else the run is undefined by ``exit``.
    """

    guard: t.Condition
    var: t.Var
    up: bool
    checks: frozenset[t.Condition]
    exit: Exit

    def fits(self, value: t.Term) -> t.Condition:
        """Whether the final ``value`` fits the type."""
        return fits(value, self.var.type, up=self.up)


@dataclass(frozen=True, slots=True)
class Tightening:
    """For entry values in ``guard``, the term of ``check`` (≤ 0) moves one way only, up if ``up``: the last iteration
    decides, or the first one. Else the run is undefined by ``exit``.
    """

    guard: t.Condition
    check: t.Condition
    up: bool
    exit: Exit


def tightening(path: Path, checks: list[t.Condition], exit_of: Callable[[t.Condition], Exit]) -> Iterator[Tightening]:
    """The ``checks``, among the conjuncts of ``path``, whose terms are known to move one way only."""
    prover = _Prover(path, checks)
    for check in checks:
        for above in (True, False):
            for up in (True, False):
                guard = prover.tightening(check, above=above, up=up)
                if guard is not None:
                    yield Tightening(guard, check, up, exit_of(check))


def rising(path: Path, checks: list[t.Condition], exit_of: Callable[[t.Condition], Exit]) -> Iterator[MonotoneValue]:
    """The values of ``path`` that are known to move one way only and have ``checks``, among its conjuncts."""
    prover = _Prover(path, checks)
    for var in sorted({v for check in checks for v in check.variables if v in path.update}):
        if var.type.min is None:
            continue
        try:
            for above in (True, False):
                for up in (True, False):
                    found = prover.rising(var, above=above, up=up)
                    if found is not None:
                        guard, own = found
                        yield MonotoneValue(guard, var, up, frozenset(own), exit_of(own[0]))
        except t.TermTooLarge:
            continue


class _Prover:
    """What is known of each iteration: the conjuncts that are no ``checks``."""

    def __init__(self, path: Path, checks: list[t.Condition]) -> None:
        self.update = path.update
        self.checks = checks
        self.control = t.conjunction(part for part in t.conjuncts(path.condition) if part not in checks)
        checked = {v for check in checks for v in check.variables if v in path.update}
        self.wide = {v: t.Var(v.name, t.INTEGERS) for v in checked}

    def rising(self, var: t.Var, *, above: bool, up: bool) -> tuple[t.Condition, list[t.Condition]] | None:
        """The checks on ``var``, and the guard under which it rises, or falls if not ``up``: all that its steps depend
        on are ≥ 0, or ≤ 0 if not ``above``.
        """
        moved = self.update[var] - var
        guard = self._kept_signs(moved.variables, above=above)
        if guard is None:
            return None
        if not self._never_negative(moved if up else -moved, guard):
            return None
        own = [c for c in self.checks if var in c.variables and self._follows(c, var, moved, guard, up=up)]
        return (guard, own) if own else None

    def tightening(self, check: t.Condition, *, above: bool, up: bool) -> t.Condition | None:
        """The guard under which the term of ``check`` grows, or falls if not ``up``."""
        if not isinstance(check, t.Compare) or check.relation != "le":
            return None
        try:
            moved = t.substitute(check.term, self.update) - check.term
            guard = self._kept_signs(moved.variables, above=above)
            if guard is None or not self._never_negative(moved if up else -moved, guard):
                return None
        except t.TermTooLarge:
            return None
        return guard

    def _kept_signs(self, variables: Iterable[t.Var], *, above: bool) -> t.Condition | None:
        """That the variables, and those that they are made of, have the sign at the entry; None if it is not kept."""
        signed: list[t.Var] = []
        left = sorted(variables)
        while left:
            var = left.pop()
            if var in signed or (above and _natural(var)):
                continue
            signed.append(var)
            left += sorted(self.update[var].variables) if var in self.update else []
        guard = t.conjunction(v.ge(0) if above else v.le(0) for v in sorted(signed))
        moving = [self.update[v] for v in signed if v in self.update]
        kept = all(self._never_negative(value if above else -value, guard) for value in moving)
        return guard if kept else None

    def _never_negative(self, term: t.Term, guard: t.Condition) -> bool:
        """Whether ``term`` is ≥ 0 in every iteration, checked values being of any size."""
        whole = self.control & guard & term.lt(0)
        return not feasible(t.substitute(whole, self.wide))

    def _follows(self, check: t.Condition, var: t.Var, moved: t.Term, guard: t.Condition, *, up: bool) -> bool:
        """Whether the check holds where the value of ``var``, and the one before, fit the type."""
        needed = needed_to_follow(check, var, moved, up=up)
        return needed is not None and self._never_negative(needed, guard)


def _natural(term: t.Term) -> bool:
    low = t.range_of(term)[0]
    return low is not None and low >= 0


def partition(
    found: Iterable[MonotoneValue | Tightening],
) -> list[tuple[t.Condition, list[MonotoneValue | Tightening]]]:
    """The guards that are not always fulfilled, each with what is known there; then what is known everywhere."""
    by_guard: dict[t.Condition, list[MonotoneValue | Tightening]] = {t.TRUE: []}
    for one in found:
        by_guard.setdefault(one.guard, []).append(one)
    everywhere = by_guard.pop(t.TRUE)
    joined = {guard: [*everywhere, *own] for guard, own in by_guard.items()}
    if len(joined) > 1:  # where all have one sign, all is known
        for above in (True, False):
            guards = [guard for guard in joined if _is_above(guard) == above]
            if len(guards) > 1:
                known = [one for guard in guards for one in by_guard[guard]]
                joined[t.conjunction(guards)] = [*everywhere, *known]
    order = sorted(joined.items(), key=lambda pair: -len(pair[1]))
    return [*order, (t.TRUE, everywhere)]


def _is_above(guard: t.Condition) -> bool:
    """Whether a guard asks for values ≥ 0."""
    part = t.conjuncts(guard)[0]
    return isinstance(part, t.Compare) and any(c < 0 for c in t.polynomial(part.term).values())

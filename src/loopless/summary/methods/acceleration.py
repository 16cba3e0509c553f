"""Loops with at most one iterative path: closed forms and one parametric least value.

The run length from entry values X is n(X) = lexmin {k ≥ 0 : the path's condition fails for X_k}, where X_k is the
closed form of k iterations. Undefined behaviour is an exit like the
others: the path's condition includes that every check holds. Where no such k exists the loop diverges.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopless import terms as t
from loopless.limits.summary import ACCELERATION_OPERATIONS, ONE_WAY_CHECK_STEPS
from loopless.logic import NotPresburger, Region, feasible, first, simplify
from loopless.paths.model import Exit, LoopPaths, Path
from loopless.portfolio import Method, NoAnswer, Tried
from loopless.recurrences import Closed, solve
from loopless.refusals import Reason, Refused
from loopless.summary.case_builder import Cases, TakenIterations
from loopless.summary.exit_time.exponential import until_first
from loopless.summary.exit_time.linear import residue_equality
from loopless.summary.model import LoopSummary, PathRun, Residual, Undefined, first_to_fail
from loopless.summary.obligations.along_run import Undecided, all_along, at_their_widest, split_conjuncts
from loopless.summary.obligations.monotone_path import MonotoneValue, Tightening, partition, rising, tightening
from loopless.summary.obligations.powers import after
from loopless.summary.rewrite.abstraction import NamedTerms
from loopless.summary.transitions.system import mentions, place_of
from loopless.summary.transitions.transformer import COUNTER


class Solver:
    """The closed forms of a loop with at most one iterative path, and the regions as they are collected."""

    def __init__(self, paths: LoopPaths) -> None:
        self.paths = paths
        self.path = paths.iterative[0] if paths.iterative else None
        self.solution = solve(self.path.update if self.path else {}, COUNTER)
        self.names = NamedTerms()
        self.parts = Cases(place_of(paths))
        self.entry = sorted(
            {v for p in paths.all for v in p.condition.variables}
            | {v for p in paths.all for term in p.update.values() for v in term.variables}
            | {v for p in paths.all for v in p.update},
            key=lambda v: v.key,
        )

    # -- closed forms ---------------------------------------------------------------------------------------------

    def refuse(self, reason: Reason, detail: str) -> NoAnswer:
        """The refusal, placed at the loop."""
        return NoAnswer(Refused(reason, place_of(self.paths), detail))

    def _closed(self, variable: t.Var) -> Closed:
        found = self.solution.closed.get(variable)
        if found is None:
            raise self.refuse(Reason.NO_CLOSED_FORM, self.solution.refused[variable])
        if found.term is None:
            detail = f"{variable.name} after k iterations is computed by powers of a matrix, which has no printed form"
            raise self.refuse(Reason.NO_CLOSED_FORM, detail)
        return found

    def start(self, variables: frozenset[t.Var]) -> int:
        """From which iteration on the closed forms of ``variables`` are valid."""
        update = self.path.update if self.path else {}
        return max((self._closed(v).valid_from for v in variables if v in update), default=0)

    def at(self, variables: frozenset[t.Var], count: t.Term | int) -> dict[t.Var, t.Term]:
        """The variables after ``count`` iterations; a term must be ≥ their start."""
        update = self.path.update if self.path else {}
        values: dict[t.Var, t.Term] = {}
        for variable in variables:
            if variable in update:
                closed = self._closed(variable)
                if isinstance(count, int):
                    values[variable] = closed.at(count)
                else:
                    assert closed.term is not None
                    values[variable] = closed.term if count is COUNTER else after(variable, closed.term, COUNTER, count)
        return values

    def along(self, condition: t.Condition) -> list[tuple[t.Condition, t.Condition]]:
        """``condition`` after k iterations, for k by k: pairs (condition on k, condition on the entry values and k)."""
        start = self.start(condition.variables)
        pairs = [(COUNTER.eq(k), t.substitute(condition, self.at(condition.variables, k))) for k in range(start)]
        later = residue_equality(t.substitute(condition, self.at(condition.variables, COUNTER)))
        pairs.append((COUNTER.ge(start), later))
        return pairs

    # -- the run --------------------------------------------------------------------------------------------------

    def solve(self) -> Cases:
        if self.path is None:
            self._land(Region.universe(self.entry), t.ZERO, t.TRUE)
            return self.parts
        plain, obligations = self._split(self.path)
        fails: list[t.Condition] = []
        for part in plain:
            for guard, shown in self.along(part):
                fails.append(guard & ~self._presburger(shown))
        found = first(
            COUNTER.ge(0) & t.disjunction(fails),
            COUNTER,
            self._frame(),
            within=self._universe(),
        )
        for region, count in found.pieces:
            self._transition(region, count, obligations)
        if not found.never.is_empty():
            self._forever(found.never, obligations)
        return self.parts

    def _frame(self) -> list[t.Var]:
        return [*self.entry, *self.names.variables]

    def _universe(self) -> Region:
        """The entry states: type ranges, and the ranges of the abstracted terms."""
        return Region.universe(self._frame()) & Region.of(self.names.bounds(), self._frame())

    def _presburger(self, condition: t.Condition) -> t.Condition:
        """``condition`` with terms over invariants that isl cannot express named by variables."""
        return self.names.named(condition)

    def _split(self, path: Path) -> tuple[list[t.Condition], list[t.Condition]]:
        """The conjuncts of the path's condition that are Presburger along the run, and the other ones."""
        return split_conjuncts(path.condition, self._is_presburger_along, self.is_check, self.refuse)

    def _is_presburger_along(self, condition: t.Condition) -> bool:
        return all(self._is_presburger(shown) for _, shown in self.along(condition))

    def _is_presburger(self, condition: t.Condition) -> bool:
        trial = NamedTerms()
        trial.named(condition)
        return all(COUNTER not in term.variables for term in trial.terms)

    def is_check(self, condition: t.Condition) -> bool:
        """Whether the failure of ``condition`` means undefined behaviour and nothing else."""
        failed = ~condition
        for exit in self.paths.exits:
            assert exit.exit is not None
            if exit.exit.kind != "undefined" and mentions(exit.condition, failed):
                return False
        return any(p.exit and p.exit.kind == "undefined" and mentions(p.condition, failed) for p in self.paths.exits)

    # -- landing --------------------------------------------------------------------------------------------------

    def _transition(self, region: Region, count: t.Term, obligations: list[t.Condition]) -> None:
        """Entry values in ``region`` run ``count`` iterations and then leave."""
        start = self.start(frozenset(v for p in self.paths.exits for v in needed_by(p) | self.outputs(p)))
        for k in range(start):
            part = region & Region.of(count.eq(k), self._frame())
            if not part.is_empty():
                self._checked(part, t.const(k), obligations)
        rest = region & Region.of(count.ge(start), self._frame()) if start else region
        if not rest.is_empty():
            self._checked(rest, count, obligations)

    def _checked(self, region: Region, count: t.Term, obligations: list[t.Condition]) -> None:
        """Split off the entry values whose run fails an obligation."""
        shown = self._shown(region)
        for holds, undecided in self.settled(shown, obligations, self.names.term(count), region):
            if undecided is not None:
                self.parts.residual.append(Residual(shown & holds, undecided))
            else:
                self._land(region, count, holds)

    def settled(
        self, when: t.Condition, obligations: list[t.Condition], count: t.Term, region: Region
    ) -> list[tuple[t.Condition, Refused | None]]:
        """For which entry values in ``region``, where ``when`` holds, all checks hold for ``count`` iterations; those
        where one fails are split off. With a refusal: entry values where that is not decided.
        """
        needed, undecided = self.needed(obligations, count, region)
        parts: list[tuple[t.Condition, list[tuple[t.Condition, Exit]], Refused | None]] = []
        rest: t.Condition = t.TRUE
        if undecided is not None and self.path is not None:
            known: list[MonotoneValue | Tightening] = list(rising(self.path, obligations, self.exit_of_check))
            known += tightening(self.path, obligations, self.exit_of_check)
            for guard, found in partition(known):
                fitting = self._fitting(obligations, found, count, region)
                if fitting is not None:
                    parts.append((rest & guard, *fitting))
                    rest = rest & ~guard
            sure = self._surely(obligations, count, region)
            if sure is not None:
                guard, found_needed = sure
                parts.append((rest & guard, found_needed, None))
                rest = rest & ~guard
        parts.append((rest, needed, undecided))
        result: list[tuple[t.Condition, Refused | None]] = []
        for guard, conditions, refused in parts:
            if guard is t.FALSE or not feasible(when & guard):
                continue
            kind, line = first_to_fail([exit for _, exit in conditions])
            holds = guard
            for along, _ in conditions:
                failed = when & holds & ~along
                failed = failed if guard is t.TRUE else simplify(failed)
                if failed is not t.FALSE:
                    self.parts.undefined.append(Undefined(failed, kind, line))
                holds = holds & along
            result.append((holds, refused))
        return result

    def _surely(
        self, obligations: list[t.Condition], count: t.Term, region: Region
    ) -> tuple[t.Condition, list[tuple[t.Condition, Exit]]] | None:
        """Entry values for which the undecided checks hold whatever values wrap around to, and what the others require;
        None where there are none.
        """
        guards: list[t.Condition] = []
        required: list[tuple[t.Condition, Exit]] = []
        for condition in obligations:
            found, undecided = self.needed([condition], count, region)
            required += found
            if undecided is None:
                continue
            try:
                shown = self.closed_condition(condition)
                widest = at_their_widest(shown, COUNTER)
                if widest is shown:
                    return None
                guards.append(all_along(condition, widest, COUNTER, count, region, steps=ONE_WAY_CHECK_STEPS))
            except Undecided:
                return None
        guard = t.conjunction(guards)
        return None if guard is t.FALSE else (guard, required)

    def _fitting(
        self, obligations: list[t.Condition], found: list[MonotoneValue | Tightening], count: t.Term, region: Region
    ) -> tuple[list[tuple[t.Condition, Exit]], Refused | None] | None:
        """What the checks require where what is ``found`` moves one way only; None where that does not suffice."""
        needed: list[tuple[t.Condition, Exit]] = []
        left = list(obligations)
        for one in found:
            if isinstance(one, MonotoneValue) and not one.checks.isdisjoint(left):
                if self.start(frozenset((one.var,))):
                    continue
                left = [check for check in left if check not in one.checks]
                needed.append((one.fits(self.at(frozenset((one.var,)), count)[one.var]), one.exit))
        for one in found:
            if isinstance(one, Tightening) and one.check in left and not self.start(one.check.variables):
                left.remove(one.check)
                last = count - 1 if one.up else t.ZERO
                there = t.substitute(one.check, self.at(one.check.variables, last))
                needed.append((count.le(0) | there, one.exit))
        others, undecided = self.needed(left, count, region)
        return None if undecided is not None else ([*needed, *others], None)

    def needed(
        self, obligations: list[t.Condition], count: t.Term, region: Region
    ) -> tuple[list[tuple[t.Condition, Exit]], Refused | None]:
        """What each check requires of the entry values, up to the first for which that is not decided, and why not."""
        found: list[tuple[t.Condition, Exit]] = []
        for condition in obligations:
            try:
                shown = self.closed_condition(condition)
                try:
                    along = all_along(condition, shown, COUNTER, count, region, steps=ONE_WAY_CHECK_STEPS)
                except Undecided as undecided:
                    along = until_first(shown, COUNTER, count, undecided)
            except Undecided as undecided:
                return found, Refused(Reason.OVERFLOW_UNDECIDED, place_of(self.paths), str(undecided))
            if along is not t.TRUE:
                found.append((along, self.exit_of_check(condition)))
        return found, None

    def closed_condition(self, condition: t.Condition) -> t.Condition:
        pairs = self.along(condition)
        if len(pairs) > 1:
            raise Undecided(f"{t.brief(condition)} takes its final form only after some iterations")
        return pairs[0][1]

    def exit_of_check(self, condition: t.Condition) -> Exit:
        failed = ~condition
        for path in self.paths.exits:
            if path.exit is not None and path.exit.kind == "undefined" and mentions(path.condition, failed):
                return path.exit
        raise AssertionError(condition)

    def _land(self, region: Region, count: t.Term, holds: t.Condition) -> None:
        """After ``count`` iterations the run leaves by the exit path whose condition holds there."""
        fixed = count.value if isinstance(count, t.Const) else None
        for path in self.paths.exits:
            values = self.at(needed_by(path) | self.outputs(path), count if fixed is None else fixed)
            landed = t.substitute(path.condition, values)
            plain = self._presburger(landed)
            try:
                here = region & Region.of(plain, self._frame())
            except (NotPresburger, ValueError):
                self._land_beyond(region, count, holds, path, landed, values)
                continue
            if not here.is_empty():
                self.emit(self._shown(here) & holds, count, path, values)

    def _land_beyond(
        self,
        region: Region,
        count: t.Term,
        holds: t.Condition,
        path: Path,
        landed: t.Condition,
        values: Mapping[t.Var, t.Term],
    ) -> None:
        """A landing condition that is not Presburger stands in the case as it is."""
        self.emit(self._shown(region) & holds & landed, count, path, values)

    def outputs(self, path: Path) -> frozenset[t.Var]:
        """The variables whose final values a case gives: those asked for or used behind the exit."""
        update = self.path.update if self.path else {}
        return frozenset(v for v in update if v in path.outputs)

    def _shown(self, region: Region) -> t.Condition:
        """The region's condition, abstracted terms put back."""
        return self.names.condition(region.condition())

    def emit(self, when: t.Condition, count: t.Term, path: Path, values: Mapping[t.Var, t.Term]) -> None:
        """Entry values that satisfy ``when`` leave by ``path`` after ``count`` iterations."""
        if when is t.FALSE:
            return
        shown = self.names.term(count)
        taken = TakenIterations(t.ZERO, {}, ())
        if self.path is not None:
            trace = (PathRun(self.path.id, shown),) if count is not t.ZERO else ()
            taken = TakenIterations(shown, {self.path.id: shown}, trace)
        self.parts.leave(when, path, {v: self.names.term(value) for v, value in values.items()}, taken)

    def _forever(self, region: Region, obligations: list[t.Condition]) -> None:
        """Entry values for which the plain conditions hold for ever."""
        if not obligations:
            self.parts.diverges.append(self._shown(region))
            return
        names = ", ".join(str(condition) for condition in obligations)
        detail = f"the loop runs until one of these fails, and when is not decided: {names}"
        refused = Refused(Reason.OVERFLOW_UNDECIDED, place_of(self.paths), detail)
        self.parts.residual.append(Residual(self._shown(region), refused))


def needed_by(path: Path) -> frozenset[t.Var]:
    """The variables that the condition, the update and the result of an exit path read or change."""
    used = set(path.condition.variables) | set(path.update)
    for term in path.update.values():
        used |= term.variables
    if path.result is not None:
        used |= path.result.variables
    return frozenset(used)


def _run(paths: LoopPaths, _: Tried[LoopSummary]) -> LoopSummary:
    return Solver(paths).solve().summary(paths)


def _applies(paths: LoopPaths, tried: Tried[LoopSummary]) -> bool:
    wraps = any(refused.reason is Reason.WRAP for refused in tried.refused)
    return len(paths.iterative) <= 1 and tried.answer is None and not wraps


METHOD = Method(
    "acceleration",
    "Proteus (Xie, Chen, Liu, Le, Li, FSE 2016), section 4.1; parametric least values after Feautrier (RAIRO 1988)",
    _run,
    _applies,
    ACCELERATION_OPERATIONS,
)
"""For loops with at most one iterative path; not where another method found that a value wraps around many times: sets
and least values would run into the time limit.
"""

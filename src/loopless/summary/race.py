"""Loops with one iterative path as a race of first times: the conjunct of its condition that fails first ends the run.

Each conjunct is about one value that moves by a constant, plainly (checked arithmetic) or modulo 2^w (wrap-around).
Its first failure is an expression (:mod:`loopless.summary.moving`). The run ends at the least of these times, by the
exit of that conjunct; if it is a check, that is undefined behaviour. Where none of them comes, the loop diverges. No
set operation is needed, whatever the number of turns (prototype-widths, section 4).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from loopless.logic import feasible, simplify
from loopless.logic.region import Region
from loopless.paths.model import LoopPaths, Path
from loopless.refusals import Reason, Refused
from loopless.summary.effects import COUNTER
from loopless.summary.model import Residual, Summary, Undefined, first_to_fail
from loopless.summary.moving import FirstTime, NotMoving, first_times, many_turns
from loopless.summary.single import Solver, needed_by, summarize_single
from loopless.summary.system import NotSummarized, where
from loopless.terms import (
    FALSE,
    TRUE,
    And,
    Condition,
    Or,
    Term,
    TermTooLarge,
    Var,
    Wrap,
    conjunction,
    conjuncts,
    const,
    disjunction,
    equal,
    less,
    less_equal,
    minimum,
    negate,
    substitute,
    walk,
)

MAX_ALTERNATIVES = 32
"""So many combinations of forms of the first times are written as cases."""

Landing = tuple[tuple[Path, Condition], ...]
"""The exit paths that may be taken, each with what decides it beyond the race."""


def summarize_one(paths: LoopPaths) -> Summary:
    """The summary of a loop with at most one iterative path, by the method that says it best.

    Sets and least values do; first times are for what takes them many turns, or too many operations. Raises
    :class:`NotSummarized`.
    """
    if not turns_many_times(paths):
        try:
            return summarize_single(paths)
        except NotSummarized as failure:
            if failure.refused.reason not in (Reason.BUDGET, Reason.NON_AFFINE_CONDITION):
                raise
            try:
                return summarize_race(paths)
            except NotSummarized:
                raise failure from None
    try:
        return summarize_race(paths)
    except NotSummarized as failure:
        if failure.refused.reason is Reason.WRAP:
            raise  # sets and least values would run into the time limit
        return summarize_single(paths)


def summarize_race(paths: LoopPaths) -> Summary:
    """The summary of a loop with one iterative path and no inputs. Raises :class:`NotSummarized`."""
    race = _Race(paths)
    try:
        race.run()
    except TermTooLarge as error:
        raise NotSummarized(Refused(Reason.BUDGET, where(paths), f"an expression grows too large: {error}")) from None
    parts = race.parts
    return Summary(
        paths.loop,
        paths,
        tuple(parts.cases),
        disjunction(parts.diverges),
        tuple(parts.undefined),
        tuple(parts.residual),
        "race of first times",
        paths.assumptions,
    )


def turns_many_times(paths: LoopPaths) -> bool:
    """Whether some condition is passed over in many wrap-arounds before it fails: nothing for sets and least values."""
    solver = Solver(paths)
    if solver.path is None:
        return False
    try:
        return any(many_turns(solver.along(part)[-1][1], COUNTER) for part in conjuncts(solver.path.condition))
    except (NotSummarized, TermTooLarge):
        return False


@dataclass(frozen=True, slots=True)
class _Group:
    """Neighbouring conjuncts whose failure means the same: where it exists, and the first time of any of them."""

    exists: Condition
    time: Term
    landing: Landing


class _Race(Solver):
    def run(self) -> None:
        """Fill the parts. Raises :class:`NotSummarized`."""
        if self.path is None:
            self.solve()
            return
        timed: list[Condition] = []
        times: list[tuple[FirstTime, ...]] = []
        side: list[Condition] = []
        for part in conjuncts(self.path.condition):
            try:
                times.append(self._first_times(part))
                timed.append(part)
            except NotMoving as failure:
                if not self.is_check(part):
                    wraps = any(isinstance(n, Wrap) for _, shown in self.along(part) for n in walk(shown))
                    reason = Reason.WRAP if wraps else Reason.NON_AFFINE_CONDITION
                    raise self.refuse(reason, f"when the condition {part} fails has no form: {failure}") from None
                side.append(part)
        combinations = 1
        for forms in times:
            combinations *= len(forms)
        if combinations > MAX_ALTERNATIVES:
            raise self.refuse(Reason.BUDGET, f"{combinations} combinations of first times")
        for chosen in product(*times):
            guard = conjunction(form.guard for form in chosen)
            if feasible(guard):
                self._race(guard, timed, chosen, side)

    def _first_times(self, condition: Condition) -> tuple[FirstTime, ...]:
        along = self.along(condition)
        if len(along) > 1:
            raise NotMoving("it takes its final form only after some iterations")
        return first_times(along[0][1], COUNTER)

    def _race(
        self, guard: Condition, timed: list[Condition], chosen: tuple[FirstTime, ...], side: list[Condition]
    ) -> None:
        groups = list(self._groups(timed, chosen))
        for index, group in enumerate(groups):
            first: list[Condition] = [guard, group.exists]
            for place, other in enumerate(groups):
                if place != index:
                    ahead = (less if place < index else less_equal)(group.time, other.time)
                    first.append(disjunction((negate(other.exists), ahead)))
            when = conjunction(first)
            if when is not FALSE:
                self._finish(when, group, side)
        never = conjunction((guard, *(negate(form.exists) for form in chosen)))
        if never is FALSE or not feasible(never):
            return
        if not side:
            self.parts.diverges.append(simplify(never))
            return
        names = ", ".join(str(condition) for condition in side)
        detail = f"the loop runs until one of these fails, and when is not decided: {names}"
        self.parts.residual.append(Residual(never, Refused(Reason.OVERFLOW_UNDECIDED, where(self.paths), detail)))

    def _groups(self, timed: list[Condition], chosen: tuple[FirstTime, ...]) -> Iterator[_Group]:
        current: _Group | None = None
        for index, form in enumerate(chosen):
            if form.exists is FALSE:
                continue
            found = _Group(form.exists, form.time, self._landing(timed, index))
            if current is None:
                current = found
            elif current.landing == found.landing and current.exists is TRUE and found.exists is TRUE:
                current = _Group(TRUE, minimum(current.time, found.time), current.landing)
            else:
                yield current
                current = found
        if current is not None:
            yield current

    def _landing(self, timed: list[Condition], index: int) -> Landing:
        """Where the run goes when the conjunct at ``index`` is the first of the earliest to fail."""
        known: dict[Condition, bool] = {}
        for place, condition in enumerate(timed):
            if place < index:
                known[condition] = True
                known[negate(condition)] = False
        failed = timed[index]
        for condition in (failed, *(failed.args if isinstance(failed, Or) else ())):
            known[condition] = False
            known[negate(condition)] = True
        landing = [(path, _decided(path.condition, known)) for path in self.paths.exits]
        return tuple((path, condition) for path, condition in landing if condition is not FALSE)

    def _finish(self, when: Condition, group: _Group, side: list[Condition]) -> None:
        """The run ends after ``group.time`` iterations, unless a side condition fails before."""
        needed, undecided = self.needed(side, group.time, Region.universe(self.entry))
        kind, line = first_to_fail([exit for _, exit in needed])
        for along, _ in needed:
            failed = conjunction((when, negate(along)))
            if failed is not FALSE:
                self.parts.undefined.append(Undefined(failed, kind, line))
            when = conjunction((when, along))
        if undecided is not None:
            self.parts.residual.append(Residual(when, undecided))
            return
        for path, condition in group.landing:
            used = needed_by(path) | self.outputs(path)
            start = self.start(used)
            for k in range(start):
                self._leave(
                    conjunction((when, equal(group.time, const(k)))), const(k), path, condition, self.at(used, k)
                )
            later = conjunction((when, less_equal(const(start), group.time)))
            self._leave(later, group.time, path, condition, self.at(used, group.time))

    def _leave(
        self, when: Condition, count: Term, path: Path, condition: Condition, values: Mapping[Var, Term]
    ) -> None:
        whole = conjunction((when, substitute(condition, values)))
        if whole is not FALSE and feasible(whole):
            self.emit(simplify(whole), count, path, values)


def _decided(condition: Condition, known: Mapping[Condition, bool]) -> Condition:
    """``condition`` with what is known put in."""
    found = known.get(condition)
    if found is not None:
        return TRUE if found else FALSE
    if isinstance(condition, And):
        return conjunction(_decided(part, known) for part in condition.args)
    if isinstance(condition, Or):
        return disjunction(_decided(part, known) for part in condition.args)
    return condition

"""Loops with one iterative path as the earliest exit: the conjunct of its condition that fails first ends the run.

Each conjunct is about one value that moves by a constant, plainly (checked arithmetic) or modulo 2^w (wrap-around). Its
first failure is an expression (:mod:`loopless.summary.exit_time.linear`). The run ends at the least of these times, by
the exit of that conjunct; if it is a check, that is undefined behaviour. Where none of them comes, the loop diverges.
No set operation is needed, however often values wrap around.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import prod
from typing import Final

from loopless import terms as t
from loopless.limits.summary import MAX_EXIT_TIME_COMBINATIONS
from loopless.logic import feasible, simplify
from loopless.logic.region import Region
from loopless.paths.model import LoopPaths, Path
from loopless.portfolio import Method, NoAnswer, Tried
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.summary.exit_time.exponential import Candidates, at_entry, candidates_of, comes_first, consequences, total
from loopless.summary.exit_time.linear import ExitTime, NoExitTime, many_wraps
from loopless.summary.methods import acceleration
from loopless.summary.methods.acceleration import Solver, needed_by
from loopless.summary.model import LoopSummary, Residual
from loopless.summary.transitions.system import place_of
from loopless.summary.transitions.transformer import COUNTER

ExitChoice = tuple[tuple[Path, t.Condition], ...]
"""The exit paths that may be taken, each with what decides it beyond the race."""


def wraps_many_times(paths: LoopPaths) -> bool:
    """Whether some condition is passed over in many wrap-arounds before it fails: nothing for sets and least values."""
    solver = Solver(paths)
    if solver.path is None:
        return False
    try:
        return any(many_wraps(solver.along(part)[-1][1], COUNTER) for part in t.conjuncts(solver.path.condition))
    except (NoAnswer, t.TermTooLarge):
        return False


@dataclass(frozen=True, slots=True)
class _Contender:
    """A candidate with the form that its first time has under the guard at hand, and the conjunct that it is about."""

    form: ExitTime
    conjunct: int
    wraps: bool


@dataclass(frozen=True, slots=True)
class _Group:
    """Neighbouring runners that mean the same: where one of them arrives, and the first time of any of them; ``wraps``:
    the conjunct whose value wraps around then.
    """

    exists: t.Condition
    time: t.Term
    choice: ExitChoice
    curve: t.Coefficients | None
    wraps: t.Condition | None


class _EarliestExit(Solver):
    def run(self) -> None:
        """Fill the parts. Raises :class:`NoAnswer`."""
        if self.path is None:
            self.solve()
            return
        timed: list[t.Condition] = []
        found: list[Candidates] = []
        obligations: list[t.Condition] = []
        offset = self.start(self.path.condition.variables)
        for part in t.conjuncts(self.path.condition):
            try:
                found.append(self._candidates(part, offset))
                timed.append(part)
            except NoExitTime as failure:
                if not self.is_check(part):
                    wraps = any(isinstance(n, t.Wrap) for _, shown in self.along(part) for n in t.walk(shown))
                    reason = Reason.WRAP if wraps else Reason.NON_AFFINE_CONDITION
                    raise self.refuse(reason, f"when the condition {part} fails has no form: {failure}") from None
                obligations.append(part)
        start: t.Condition = t.TRUE
        if offset and obligations:
            raise self.refuse(
                Reason.NON_AFFINE_CONDITION, f"{t.brief(obligations[0])} takes its final form only later on"
            )
        if offset or any(candidates.curved for candidates in found):
            found = [at_entry(candidates, offset) for candidates in found]
            start = self._entered(timed, found, offset, checked=not obligations)
        racing = [(index, candidate) for index, candidates in enumerate(found) for candidate in candidates.candidates]
        combinations = prod(len(candidate.forms) for _, candidate in racing)
        if combinations > MAX_EXIT_TIME_COMBINATIONS:
            racing = [(index, total(candidate, offset)) for index, candidate in racing]
            combinations = prod(len(candidate.forms) for _, candidate in racing)
        if combinations > MAX_EXIT_TIME_COMBINATIONS:
            raise self.refuse(Reason.BUDGET, f"{combinations} combinations of first times")
        for chosen in product(*(candidate.forms for _, candidate in racing)):
            guard = t.conjunction((start, *(form.guard for form in chosen)))
            if guard is not t.FALSE and feasible(guard):
                contenders = [
                    _Contender(form, index, candidate.wraps)
                    for (index, candidate), form in zip(racing, chosen, strict=True)
                ]
                self._earliest(guard, timed, _in_order(contenders), obligations)

    def _entered(self, timed: list[t.Condition], found: list[Candidates], offset: int, *, checked: bool) -> t.Condition:
        """Split off the entry values that leave after up to ``offset`` iterations, before the race begins, and those
        where a value is out of range then; what is left is returned.
        """
        left: t.Condition = t.TRUE
        whole = t.conjunction(timed)
        for k in range(offset + 1):
            here = t.substitute(whole, self.at(whole.variables, k))
            for path in self.paths.exits:
                when = left if checked else left & ~here
                self._leave(when, t.const(k), path, path.condition, self.at(needed_by(path) | self.outputs(path), k))
            left = left & here
        for part, candidates in zip(timed, found, strict=True):
            if candidates.given is not t.TRUE:
                outside = left & ~candidates.given
                if outside is not t.FALSE and feasible(outside):
                    self.parts.residual.append(Residual(simplify(outside), self._wrapping(part)))
                left = left & candidates.given
        return left

    def _wrapping(self, part: t.Condition) -> Refused:
        detail = f"a value in the condition {t.brief(part)} wraps around before the loop ends"
        return Refused(Reason.WRAP, place_of(self.paths), detail)

    def _candidates(self, condition: t.Condition, offset: int) -> Candidates:
        """The candidates of a condition over the number of iterations from number ``offset`` on."""
        shown = self.along(condition)[-1][1]
        return candidates_of(t.substitute(shown, {COUNTER: COUNTER + offset}) if offset else shown, COUNTER)

    def _earliest(
        self, guard: t.Condition, timed: list[t.Condition], contenders: list[_Contender], obligations: list[t.Condition]
    ) -> None:
        groups = list(self._groups(timed, contenders))
        for index, group in enumerate(groups):
            first: list[t.Condition] = [guard, group.exists]
            for place, other in enumerate(groups):
                beaten = place > index and _surely(group.curve, other.curve)  # a tie is this group's
                if place != index and not beaten:
                    ahead = (t.less if place < index else t.less_equal)(group.time, other.time)
                    first.append(~other.exists | ahead)
            when = t.conjunction(first)
            if when is t.FALSE:
                continue
            if group.wraps is None:
                self._finish(when, group, obligations)
            elif feasible(when):
                self.parts.residual.append(Residual(simplify(when), self._wrapping(group.wraps)))
        never = t.conjunction((guard, *(~contender.form.exists for contender in contenders)))
        if never is t.FALSE or not feasible(t.conjunction((never, *consequences(never)))):
            return
        if not obligations:
            self.parts.diverges.append(simplify(never))
            return
        names = ", ".join(str(condition) for condition in obligations)
        detail = f"the loop runs until one of these fails, and when is not decided: {names}"
        self.parts.residual.append(Residual(never, Refused(Reason.OVERFLOW_UNDECIDED, place_of(self.paths), detail)))

    def _groups(self, timed: list[t.Condition], contenders: list[_Contender]) -> Iterator[_Group]:
        current: _Group | None = None
        for place, contender in enumerate(contenders):
            form = contender.form
            if form.exists is t.FALSE or _beaten(contenders, place):
                continue
            choice = () if contender.wraps else self._choice(timed, contenders, place)
            wraps = timed[contender.conjunct] if contender.wraps else None
            found = _Group(form.exists, form.time, choice, form.curve, wraps)
            if current is None:
                current = found
            elif (
                (current.choice, current.wraps) == (found.choice, found.wraps)
                and current.exists is t.TRUE
                and found.exists is t.TRUE
            ):
                current = _Group(t.TRUE, t.minimum(current.time, found.time), current.choice, None, current.wraps)
            else:
                yield current
                current = found
        if current is not None:
            yield current

    def _choice(self, timed: list[t.Condition], contenders: list[_Contender], place: int) -> ExitChoice:
        """Where the run goes when the runner at ``place`` is the first of the earliest to arrive."""
        later = {contender.conjunct for contender in contenders[place:]}
        known: dict[t.Condition, bool] = {}
        for index, condition in enumerate(timed):
            if index not in later:
                known[condition] = True
                known[~condition] = False
        failed = timed[contenders[place].conjunct]
        for condition in (failed, *(failed.args if isinstance(failed, t.Or) else ())):
            known[condition] = False
            known[~condition] = True
        choice = [(path, _decided(path.condition, known)) for path in self.paths.exits]
        return tuple((path, condition) for path, condition in choice if condition is not t.FALSE)

    def _finish(self, when: t.Condition, group: _Group, obligations: list[t.Condition]) -> None:
        """The run ends after ``group.time`` iterations, unless an obligation fails before."""
        for holds, undecided in self.settled(when, obligations, group.time, Region.universe(self.entry)):
            whole = when & holds
            if undecided is not None:
                self.parts.residual.append(Residual(whole, undecided))
            else:
                self._exits(whole, group)

    def _exits(self, when: t.Condition, group: _Group) -> None:
        """The run leaves after ``group.time`` iterations."""
        for path, condition in group.choice:
            used = needed_by(path) | self.outputs(path)
            start = self.start(used)
            for k in range(start):
                self._leave(when & group.time.eq(k), t.const(k), path, condition, self.at(used, k))
            later = when & group.time.ge(start) if start else when
            self._leave(later, group.time, path, condition, self.at(used, group.time))

    def _leave(
        self, when: t.Condition, count: t.Term, path: Path, condition: t.Condition, values: Mapping[t.Var, t.Term]
    ) -> None:
        whole = when & t.substitute(condition, values)
        if whole is not t.FALSE and feasible(whole):
            self.emit(simplify(whole), count, path, values)


def _in_order(contenders: list[_Contender]) -> list[_Contender]:
    """The runners such that none comes behind one that it surely beats, else as they are given."""
    left, ordered = list(contenders), []
    while left:
        free = next(one for one in left if not any(_beats(other, one) and not _beats(one, other) for other in left))
        ordered.append(free)
        left.remove(free)
    return ordered


def _beats(one: _Contender, other: _Contender) -> bool:
    """Whether ``one`` surely arrives where ``other`` does, and before it or as what is taken then.

    Where a value wraps around, what it would have meant before is not taken; so what says that of one conjunct stays
    before what says that this fails, and nothing of another conjunct stands for it.
    """
    if one is other or one.wraps < other.wraps or (other.wraps and one.conjunct != other.conjunct):
        return False
    return _surely(one.form.curve, other.form.curve)


def _surely(one: t.Coefficients | None, other: t.Coefficients | None) -> bool:
    return one is not None and other is not None and comes_first(one, other)


def _beaten(contenders: list[_Contender], place: int) -> bool:
    """Whether a runner before this one surely beats it, so that it never is the first."""
    return any(_beats(one, contenders[place]) for one in contenders[:place])


def _decided(condition: t.Condition, known: Mapping[t.Condition, bool]) -> t.Condition:
    """``condition`` with what is known put in."""
    found = known.get(condition)
    if found is not None:
        return t.TRUE if found else t.FALSE
    if isinstance(condition, t.And):
        return t.conjunction(_decided(part, known) for part in condition.args)
    if isinstance(condition, t.Or):
        return t.disjunction(_decided(part, known) for part in condition.args)
    return condition


def _run(paths: LoopPaths, _: Tried[LoopSummary]) -> LoopSummary:
    search = _EarliestExit(paths)
    search.run()
    return search.parts.summary(paths)


def _applies_first(paths: LoopPaths, _: Tried[LoopSummary]) -> bool:
    return len(paths.iterative) <= 1 and wraps_many_times(paths)


def _applies_after(paths: LoopPaths, tried: Tried[LoopSummary]) -> bool:
    hard = any(refused.reason in (Reason.BUDGET, Reason.NON_AFFINE_CONDITION) for refused in tried.refused)
    return len(paths.iterative) <= 1 and tried.answer is None and hard and not wraps_many_times(paths)


METHOD = Method("earliest exit", "ours: the least of the exit times of all conditions", _run, _applies_first)
"""What wraps around many times is told by exit times at once."""

AFTER_ACCELERATION = replace(METHOD, applies=_applies_after)
"""Else sets and least values say it better, and exit times are for what takes these too many operations."""

OF_ONE_PATH: Final[tuple[Method[LoopPaths, LoopSummary], ...]] = (METHOD, acceleration.METHOD, AFTER_ACCELERATION)
"""For loops with at most one iterative path, in the order in which they are asked."""

"""From exit segments to cases: the exit that is taken, the values there, and what the checks along the run require."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice

from loopless import terms as t
from loopless.limits.summary import MAX_REDUNDANCY_NODES, MAX_REDUNDANCY_QUESTIONS, REDUNDANCY_OPERATIONS
from loopless.logic import BudgetExceeded, NotPresburger, Region, budget
from loopless.paths.model import Exit, LoopPaths, Path
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.summary.model import (
    Case,
    Cycle,
    Interleaving,
    LoopSummary,
    PathRun,
    Residual,
    Step,
    Undefined,
    first_to_fail,
)
from loopless.summary.obligations.along_run import Undecided, for_ever, growth, repeats
from loopless.summary.rewrite.auxiliary import Revealed, later, preimage
from loopless.summary.transitions.elimination import ExitSegment
from loopless.summary.transitions.system import ControlSystem, ExitView, place_of
from loopless.summary.transitions.transformer import (
    COUNTER,
    TOTAL,
    GuardedTransition,
    Lost,
    Obligation,
    Turns,
    along,
    closed_forms,
    counter_of,
)


@dataclass(frozen=True, slots=True)
class TakenIterations:
    """The iterations of a run: how many, by path, and in which order."""

    iterations: t.Term
    per_path: Mapping[str, t.Term]
    trace: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """How the names that a method works with are put back: the program's variables, and terms over them."""

    variable: Callable[[t.Var], t.Var] = lambda variable: variable
    term: Callable[[t.Term], t.Term] = lambda term: term


AS_IT_IS = Words()


class Cases:
    """The cases and regions of a summary, as they are collected."""

    def __init__(self, place: str) -> None:
        """``place``: of the loop, for refusals."""
        self.place = place
        self.cases: list[Case] = []
        self.diverges: list[t.Condition] = []
        self.undefined: list[Undefined] = []
        self.residual: list[Residual] = []
        self.methods: tuple[str, ...] = ()
        """The methods that gave them, where that are others than the one that was asked."""

    @property
    def size(self) -> int:
        """How many cases and regions there are."""
        return len(self.cases) + len(self.diverges) + len(self.undefined) + len(self.residual)

    def include(self, other: Cases) -> None:
        """Take in all of another part."""
        self.cases += other.cases
        self.diverges += other.diverges
        self.undefined += other.undefined
        self.residual += other.residual

    def summary(self, paths: LoopPaths, method: str = "", entered: t.Condition = t.TRUE) -> LoopSummary:
        """All that is collected, as the summary of the loop with these ``paths``."""
        return LoopSummary(
            paths.loop,
            paths,
            tuple(self.cases),
            t.disjunction(self.diverges),
            tuple(self.undefined),
            tuple(self.residual),
            method,
            paths.assumptions,
            entered,
        )

    def leave(
        self,
        when: t.Condition,
        path: Path,
        values: Mapping[t.Var, t.Term],
        taken: TakenIterations,
        words: Words = AS_IT_IS,
    ) -> None:
        """Entry values that satisfy ``when`` leave by the exit ``path``, with ``values`` at the header then: a case, or
        a region where the exit is no end that a case tells of.
        """
        exit = path.exit
        assert exit is not None
        if exit.kind == "undefined":
            self.undefined.append(Undefined(when, exit.detail, exit.line))
            return
        if exit.kind == "unsupported":
            refused = exit.refused or Refused(Reason.UNSUPPORTED_INSTRUCTION, self.place, exit.detail)
            self.residual.append(Residual(when, refused))
            return
        changed = sorted({*values, *path.update} & path.outputs)
        final = {words.variable(v): words.term(t.substitute(path.update.get(v, v), values)) for v in changed}
        self.cases.append(
            Case(
                when,
                {v: term for v, term in final.items() if term is not v},
                exit,
                path.id,
                taken.iterations,
                taken.per_path,
                taken.trace,
                words.term(t.substitute(path.result, values)) if path.result is not None else None,
            )
        )


class CaseBuilder(Cases):
    """The cases and regions of one system, made from exit segments."""

    def __init__(self, system: ControlSystem) -> None:
        super().__init__(place_of(system.paths))
        self.system = system
        self.nonlinear = False
        """Whether something is said by terms that the logic does not know."""
        self._asked = 0
        self._only = self._only_exit()
        self._entry = system.entry
        self.counters = {path.id: counter_of(path) for path in system.paths.iterative}

    def _only_exit(self) -> ExitView | None:
        """The exit path that all take that leave; None where there are several."""
        ended = self.system.ended
        views = [view for view in self.system.exits if not view.where.disjoint(ended)]
        return views[0] if len(views) == 1 and ended.is_subset(views[0].where) else None

    def add(self, segment: ExitSegment) -> None:
        """Take in one exit segment."""
        if self._entry is not None:
            segment = replace(
                segment, transition=segment.transition.within((segment.transition.where & self._entry).coalesce())
            )
        region = segment.transition.where
        if region.is_empty():
            return
        if segment.kind == "stuck":
            assert segment.why is not None
            self.give_up(region, segment.why)
            return
        try:
            obligations = segment.transition.transformer.obligations()
        except Undecided as undecided:
            self.give_up(region, Refused(Reason.OVERFLOW_UNDECIDED, self.place, str(undecided)))
            return
        except Lost as lost:
            self.give_up(region, Refused(Reason.NO_CLOSED_FORM, self.place, str(lost)))
            return
        totals = self._totals(segment.transition)
        if isinstance(totals, Refused):
            self.give_up(region, totals)
            return
        holds = self._checked(region, (*obligations, *totals))
        if holds is t.FALSE:
            return
        if segment.kind == "forever":
            self._forever(segment, holds)
            return
        if self._only is not None:
            self._leave(segment.transition, self._only, holds)
            return
        for view in self.system.exits:
            here = self.landed(segment.transition, view) & region
            if not here.is_empty():
                self._leave(segment.transition.within(here.coalesce()), view, holds)

    def _totals(self, transition: GuardedTransition) -> tuple[Obligation, ...] | Refused:
        """What the final values of accumulators that move one way only require."""
        found = []
        for total in self.system.monotone:
            if total.var in transition.transformer.lost and total.var not in transition.control:
                return Refused(Reason.OVERFLOW_UNDECIDED, self.place, transition.transformer.lost[total.var])
            value = self._values(transition).get(total.var, total.var)
            if value is not total.var:
                found.append(Obligation(total.fits(value), total.exit))
        return tuple(found)

    def landed(self, transition: GuardedTransition, view: ExitView) -> Region:
        """From where ``transition`` comes to what control variables say of an exit."""
        return preimage(view.where, transition.control)

    def give_up(self, region: Region, why: Refused, holds: t.Condition = t.TRUE) -> None:
        """Nothing is known of ``region``, where ``holds``."""
        self.residual.append(Residual(self.system.shown(region) & holds, why))

    def _checked(self, region: Region, obligations: tuple[Obligation, ...], given: t.Condition = t.TRUE) -> t.Condition:
        """What the checks along the run require; the values (those given) for which one fails are undefined."""
        found = [(self._needed(region, obligation.condition), obligation.exit) for obligation in obligations]
        needed = [(self._with_premise(region, condition), exit) for condition, exit in found if condition is not t.TRUE]
        kind, line = first_to_fail([exit for _, exit in needed])
        holds: t.Condition = t.TRUE
        for (known, condition), _ in needed:
            failed = t.conjunction((self.system.shown(region), given, holds, known, ~condition))
            if failed is not t.FALSE:
                self.undefined.append(Undefined(failed, kind, line))
            holds = holds & known & condition
        return holds

    def _with_premise(self, region: Region, condition: t.Condition) -> tuple[t.Condition, t.Condition]:
        """What holds in the region and the other needs to be right, and ``condition`` with named terms put back."""
        known, shown = Revealed(region).parts(condition)
        return self.system.names.condition(known), self.system.names.condition(shown)

    def _needed(self, region: Region, condition: t.Condition) -> t.Condition:
        """``condition``, or true where it holds on all of the region anyway."""
        self._asked += 1
        if (
            self._asked > MAX_REDUNDANCY_QUESTIONS
            or sum(1 for _ in islice(t.walk(condition), MAX_REDUNDANCY_NODES + 1)) > MAX_REDUNDANCY_NODES
        ):
            return condition
        try:
            with budget(REDUNDANCY_OPERATIONS):
                return t.TRUE if (region & Region.of(~condition)).is_empty() else condition
        except (NotPresburger, BudgetExceeded):
            return condition

    # -- leaving --------------------------------------------------------------------------------------------------

    def _leave(self, transition: GuardedTransition, view: ExitView, holds: t.Condition) -> None:
        path = view.path
        values = self._values(transition)
        revealed = Revealed(transition.where)
        lost = transition.transformer.lost
        needed = view.rest.variables | self._read(path) | {TOTAL}
        gone = sorted(v for v in needed if v in lost and v not in transition.control)
        if gone:
            self.give_up(transition.where, Refused(Reason.NO_CLOSED_FORM, self.place, lost[gone[0]]), holds)
            return
        rest = self._needed(transition.where, later(view.rest, values))
        when = t.conjunction((self.system.shown(transition.where), holds, *self._with_premise(transition.where, rest)))
        if when is t.FALSE:
            return
        taken = TakenIterations(
            self._shown(t.substitute(values.get(TOTAL, t.ZERO), {TOTAL: t.ZERO}), revealed),
            self._counts(transition, revealed),
            tuple(self._step(step, revealed) for step in transition.transformer.trace()),
        )
        self.leave(when, path, values, taken, Words(self.system.original, lambda term: self._shown(term, revealed)))

    @staticmethod
    def _values(transition: GuardedTransition) -> Mapping[t.Var, t.Term]:
        return {**transition.transformer.values, **transition.control}

    @staticmethod
    def _read(path: Path) -> set[t.Var]:
        """The variables whose values at the header the exit path needs."""
        used = {v for v in path.outputs if v not in path.update}
        for term in path.update.values():
            used |= term.variables
        if path.result is not None:
            used |= path.result.variables
        return used

    def _counts(self, transition: GuardedTransition, revealed: Revealed) -> dict[str, t.Term]:
        begun = dict.fromkeys(self.counters.values(), t.ZERO)
        values = transition.transformer.values
        lost = transition.transformer.lost
        counts = {id: t.substitute(values.get(c, c), begun) for id, c in self.counters.items() if c not in lost}
        return {id: self._shown(count, revealed) for id, count in counts.items()}

    def _shown(self, term: t.Term, revealed: Revealed) -> t.Term:
        return self.system.names.term(revealed.term(term))

    def _step(self, step: Step, revealed: Revealed) -> Step:
        times = self._shown(step.times, revealed) if step.times is not None else None
        match step:
            case PathRun():
                return PathRun(step.path, times)
            case Cycle():
                return Cycle(step.body, times)
            case Interleaving():
                return Interleaving(step.paths, times)

    # -- running for ever -----------------------------------------------------------------------------------------

    def _forever(self, segment: ExitSegment, holds: t.Condition) -> None:
        """The loop runs for ever unless a check on an accumulator fails at some time."""
        again, region = segment.again, segment.transition.where
        assert again is not None
        try:
            early: list[Obligation] = []
            moving = self._moving(again, early)
            required = [Obligation(later(s.condition, self._values(segment.transition)), s.exit) for s in early]
            growing: list[Exit] = []
            unclear: list[Exit] = []
            for obligation, term, final in moving:
                always = for_ever(term, COUNTER) if obligation.made is t.TRUE and not final else None
                period = growth(term, COUNTER, again.where) if always is None else None
                if always is not None:
                    required.append(Obligation(later(always, self._values(segment.transition)), obligation.exit))
                elif period == 0 and obligation.recurs:
                    growing.append(obligation.exit)
                elif not period or not (
                    obligation.made is t.TRUE or repeats(obligation.made, COUNTER, period, again.where)
                ):
                    unclear.append(obligation.exit)
                elif not final:
                    bounded = ~obligation.made | t.at_most_zero(term)
                    first = (t.substitute(bounded, {COUNTER: t.const(k)}) for k in range(period))
                    required += [Obligation(later(c, self._values(segment.transition)), obligation.exit) for c in first]
            if unclear and not growing:
                self._undecided(unclear[0])
        except (Undecided, Lost) as failure:
            self.give_up(region, Refused(Reason.OVERFLOW_UNDECIDED, self.place, str(failure)), holds)
            return
        if growing:
            kind, line = first_to_fail([*growing, *unclear, *(obligation.exit for obligation in required)])
            self.undefined.append(Undefined(self.system.shown(region) & holds, kind, line))
            return
        more = self._checked(region, tuple(dict.fromkeys(required)), holds)
        self.diverges.append(self.system.shown(region) & holds & more)

    @staticmethod
    def _undecided(exit: Exit) -> None:
        kind = exit.detail.replace("-", " ")
        raise Undecided(f"whether the loop ends at some time by the {kind} in line {exit.line} is not decided")

    def _moving(self, again: GuardedTransition, required: list[Obligation]) -> list[tuple[Obligation, t.Term, bool]]:
        """For each check on an accumulator the term that must not exceed a bound, after :data:`COUNTER` rounds; True
        for those that the value before the first round was held against. What the first rounds alone ask for goes to
        ``required``.
        """
        turning = isinstance(again.transformer, Turns)
        forms, lost = (again.transformer.values, again.transformer.lost) if turning else closed_forms(again)
        found: list[tuple[Obligation, t.Term, bool]] = []
        for total in self.system.monotone:
            if total.var in lost:
                raise Lost(lost[total.var])
            value = forms.get(total.var, total.var)
            if value is not total.var:
                found.append((Obligation(t.TRUE, total.exit), value if total.rising else -value, True))
        for obligation in again.transformer.obligations():
            early, shown = ([], obligation.condition) if turning else along(again, obligation.condition)
            required += [Obligation(condition, obligation.exit) for condition in early if condition is not t.TRUE]
            if shown is t.TRUE:
                continue
            if not isinstance(shown, t.Compare) or shown.relation != "le":
                raise Undecided(f"whether {t.brief(obligation.condition)} holds all along is not decided")
            found.append((obligation, shown.term, False))
        return found

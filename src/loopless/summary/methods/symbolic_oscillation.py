"""Oscillation by steps that are terms over invariants (LoopSCC, section 4.3.2, with unknown steps).

Two paths take turns by a linear selector L: where L ≤ 0 the one adds a to it, where L > 0 the other takes b away, and a
and b are no numbers but values that no iteration changes. Where both are positive, the interval 1 - b ≤ L ≤ a is
closed, and of the first t iterations from within it floor((L + b - 1 + a·t) / (a + b)) are high, as for numbers
(:mod:`loopless.summary.methods.oscillation`). The logic can express neither that nor what variables come to, so these
values are auxiliary variables; hence the turns must end for a reason that moves evenly, whichever path is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loopless import terms as t
from loopless.limits.summary import SYMBOLIC_OSCILLATION_OPERATIONS
from loopless.logic import BudgetExceeded, NotPresburger, Region, budget, is_quasi_affine
from loopless.paths.model import Path
from loopless.records import dataclass
from loopless.summary.exit_time.run_length import run_lengths
from loopless.summary.methods.oscillation_sums import Turning, accumulated
from loopless.summary.rewrite.auxiliary import auxiliaries_in, later, named
from loopless.summary.transitions.elimination import ExitSegment
from loopless.summary.transitions.nonlinear_repeat import accelerated
from loopless.summary.transitions.oscillating_groups import candidate_selectors, side_of
from loopless.summary.transitions.repeat import control_forms
from loopless.summary.transitions.system import ControlSystem
from loopless.summary.transitions.transformer import (
    COUNTER,
    TOTAL,
    GuardedTransition,
    NoIteration,
    Once,
    Repeat,
    TurnForms,
    Turns,
    counter_of,
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Transitions ``low`` and ``high`` take turns by ``selector`` ≤ 0, to which they add ``up`` and take ``down``."""

    low: GuardedTransition
    high: GuardedTransition
    selector: t.Term
    up: t.Term
    down: t.Term

    @property
    def inside(self) -> t.Condition:
        """Positive steps, and the interval that is gone round then."""
        lowest, highest = 1 - self.down, self.up
        signs = (self.up.ge(1), self.down.ge(1))
        return t.conjunction((*signs, lowest.le(self.selector), self.selector.le(highest)))

    @property
    def high_steps(self) -> t.Term:
        """How many of the first :data:`COUNTER` iterations are high, from within the interval."""
        moved = self.selector + self.down - 1 + self.up * COUNTER
        return moved // (self.up + self.down)


def accelerate_symbolic(
    system: ControlSystem, transitions: Sequence[GuardedTransition]
) -> tuple[list[GuardedTransition], list[ExitSegment]]:
    """The transitions, those that take turns by unknown steps replaced by their longest runs, and where these never
    end.

    Raises :class:`loopless.logic.BudgetExceeded` only where the budget around the call is used up.
    """
    left = list(transitions)
    found: list[GuardedTransition] = []
    segments: list[ExitSegment] = []
    for pair in _pairs(system, left):
        if pair.low not in left or pair.high not in left:
            continue
        try:
            with budget(SYMBOLIC_OSCILLATION_OPERATIONS):
                made = _Turns(system, pair).runs()
        except (BudgetExceeded, t.TermTooLarge, NotPresburger):
            continue
        if made is None:
            continue
        rest, runs, ends = made
        left = [transition for transition in left if transition is not pair.low and transition is not pair.high] + rest
        found += runs
        segments += ends
    return left + found, segments


# -- finding ----------------------------------------------------------------------------------------------------------


def _pairs(system: ControlSystem, transitions: Iterable[GuardedTransition]) -> list[Pair]:
    moving = [p for p in transitions if isinstance(p.transformer, Once) and not p.transformer.checked]
    moving = [p for p in moving if _steps(system, p) is not None]
    found = []
    for low in moving:
        for selector in candidate_selectors([low]):
            up = _step_of(selector, low)
            if side_of(low, selector) is not False:
                continue
            for high in moving:
                if high is low or side_of(high, selector) is not True:
                    continue
                down = -_step_of(selector, high)
                if isinstance(up, t.Const) and isinstance(down, t.Const):
                    continue  # rotation has seen it
                found.append(Pair(low, high, selector, up, down))
    return found


def _steps(system: ControlSystem, transition: GuardedTransition) -> dict[t.Var, t.Term] | None:
    """By what each control variable moves, None where one does not move by a term over invariants."""
    found = {}
    for var, term in transition.control.items():
        step = term - var
        if not is_quasi_affine(step) or auxiliaries_in(step.variables) or not step.variables.isdisjoint(system.control):
            return None
        found[var] = step
    return found


def _step_of(term: t.Term, transition: GuardedTransition) -> t.Term:
    return later(term, transition.control) - term


# -- running ----------------------------------------------------------------------------------------------------------


class _Turns:
    def __init__(self, system: ControlSystem, pair: Pair) -> None:
        self.system, self.pair = system, pair
        self.low, self.high = _steps(system, pair.low) or {}, _steps(system, pair.high) or {}
        names = sorted(self.low.keys() | self.high.keys())
        self.even = [v for v in names if self.low.get(v, t.ZERO) is self.high.get(v, t.ZERO)]
        self.uneven = [v for v in names if v not in self.even]

    def runs(self) -> tuple[list[GuardedTransition], list[GuardedTransition], list[ExitSegment]] | None:
        """What is left of the transitions, their runs in turns, and where these never end; None where that is not
        known.
        """
        whole = self._closed()
        if whole is None:
            return None
        variables = self.pair.low.where.variables
        free = whole.project_out(self.uneven).over(variables)
        lengths = self._lengths(
            GuardedTransition(free.coalesce(), {v: self.pair.low.control[v] for v in self.even}, NoIteration())
        )
        if lengths is None:
            return None
        counts, never = lengths
        forms = self._forms()
        runs = [run for where, count in counts for run in self._run(whole & where, count, forms)]
        endless = (whole & never).coalesce()
        ends = []
        if not endless.is_empty():
            again = GuardedTransition(endless, {v: forms.values[v] for v in self.even}, Turns(forms, COUNTER, tuple))
            ends = [ExitSegment(GuardedTransition(endless, {}, NoIteration()), "forever", again=again)]
        rest = [
            transition.within((transition.where - whole).coalesce()) for transition in (self.pair.low, self.pair.high)
        ]
        return [transition for transition in rest if not transition.where.is_empty()], runs, ends

    def _closed(self) -> Region | None:
        """A part of the interval that is left by what moves evenly only; None where there is no such part."""
        pair = self.pair
        members = pair.low.where | pair.high.where
        core = Region.of(pair.inside, pair.low.where.variables)
        for _ in range(2):
            if (pair.low.where & core).is_empty() or (pair.high.where & core).is_empty():
                return None
            whole = (members & core).coalesce()
            free = whole.project_out(self.uneven).over(whole.variables)
            missing = (core & free) - whole
            if missing.is_empty():
                return whole
            # Values of invariants for which the turns are left in the middle are not looked at here.
            core -= missing.project_out(sorted(self.system.control)).over(whole.variables)
        return None

    @staticmethod
    def _lengths(even: GuardedTransition) -> tuple[list[tuple[Region, t.Term]], Region] | None:
        forms = control_forms(even)
        if not isinstance(forms, str):
            transitions, never = run_lengths(even.where, [even], forms)
            return list(transitions), never
        found = accelerated(even)
        if found is None:
            return None
        runs, never = found.runs()
        return [(run.where, run.transformer.count) for run in runs if isinstance(run.transformer, Repeat)], never

    def _run(self, where: Region, count: t.Term, forms: TurnForms) -> list[GuardedTransition]:
        high = self._high_steps(count)
        control = {v: named(self._moved(v, count, high)) for v in (*self.even, *self.uneven)}
        known = [later(self.pair.inside, control)]
        known += [t.between(v.type.min, control[v], v.type.max) for v in self.uneven]
        here = where & Region.of(t.conjunction(known))
        if here.is_empty():
            return []
        return [GuardedTransition(here.coalesce(), control, Turns(forms, count, tuple))]

    def _high_steps(self, count: t.Term) -> t.Term:
        """A value everywhere, also where the steps are not positive."""
        steps = t.substitute(self.pair.high_steps, {COUNTER: count})
        return named(t.ite((self.pair.up + self.pair.down).gt(0), steps, t.ZERO))

    def _moved(self, var: t.Var, count: t.Term, high: t.Term) -> t.Term:
        low, more = self.low.get(var, t.ZERO), self.high.get(var, t.ZERO) - self.low.get(var, t.ZERO)
        return var + low * count + more * high

    def _forms(self) -> TurnForms:
        """All variables and counters after :data:`COUNTER` iterations."""
        high = self.pair.high_steps
        paths = [_path(self.pair.low), _path(self.pair.high)]
        shares = {paths[0].id: COUNTER - high, paths[1].id: high}
        if paths[0].id == paths[1].id:
            shares = {paths[0].id: COUNTER}
        control = {v: self._moved(v, COUNTER, high) for v in (*self.even, *self.uneven)}
        values: dict[t.Var, t.Term] = {TOTAL: TOTAL + COUNTER, **control}
        lost: dict[t.Var, str] = {}
        for path in paths:
            values[counter_of(path)] = counter_of(path) + shares[path.id]
        turning = Turning(paths, [False, True], shares, self.pair.selector, high, control)
        for var in sorted({v for path in paths for v in path.update} - control.keys()):
            form = accumulated(var, turning)
            if form is None:
                names = ", ".join(shares)
                lost[var] = f"what {var.name} comes to while paths {names} take turns has no closed form"
            else:
                values[var] = form
        return TurnForms(values, lost, tuple(shares), checked=False)


def _path(transition: GuardedTransition) -> Path:
    assert isinstance(transition.transformer, Once)
    return transition.transformer.path

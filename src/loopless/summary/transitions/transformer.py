"""What a transition of a run does: one path, one transition after another, a transition repeated, paths that take
turns.

A transition keeps the transformer on control variables, on which the logic works, as terms. What it does to
accumulators and path counters, and its trace, is worked out when it is asked for: most transitions vanish before that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace

from loopless import terms as t
from loopless.logic import NotPresburger, Region
from loopless.paths.model import Exit, Path
from loopless.records import dataclass
from loopless.summary.model import Cycle, Interleaving, PathRun, Step
from loopless.summary.obligations.along_run import Undecided, tightest
from loopless.summary.obligations.powers import after
from loopless.summary.rewrite.auxiliary import later, moving
from loopless.summary.transitions.closed_form import Forms, forms_of, in_all_rounds

COUNTER = t.Var("#k", t.INTEGERS)
"""How many iterations, or rounds, a run takes; no variable of a program has such a name."""

Values = Mapping[t.Var, t.Term]


class Lost(Exception):
    """The value of a variable has no closed form; the text says which and why."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """``condition``, on the values at the entry, holds exactly if a check along the run does; else ``exit``.

    For a run that never ends: the check is made only after those rounds for which ``made`` holds, and
    surely again and again if ``recurs``.
    """

    condition: t.Condition
    exit: Exit
    made: t.Condition = t.TRUE
    recurs: bool = True


TOTAL = t.Var("#", t.INTEGERS)
"""The counter of all iterations."""


def counter_of(path: Path) -> t.Var:
    """The counter of the iterations of ``path``."""
    return t.Var(f"#{path.id}", t.INTEGERS)


class RunTransformer(ABC):
    """What a run does to all variables and path counters."""

    def __init__(self) -> None:
        self._values: dict[t.Var, t.Term] | None = None
        self._lost: dict[t.Var, str] = {}
        self._trace: tuple[Step, ...] | None = None
        self.simple_by_control: dict[tuple[tuple[t.Var, t.Term], ...], bool] = {}
        """Whether repeating the transformer has closed forms that the logic can follow, by what it does to control
        variables: two transitions may share a transformer and differ in how that is written.
        """
        self.forms_by_control: dict[tuple[tuple[t.Var, t.Term], ...], Forms] = {}
        """The closed forms of repeating it, by the same."""

    @property
    def values(self) -> Values:
        """The changed variables after the run, over the values before; see :attr:`lost`."""
        if self._values is None:
            self._values = self._compute()
        return self._values

    @property
    def lost(self) -> Mapping[t.Var, str]:
        """The variables whose values have no closed form, and why."""
        _ = self.values
        return self._lost

    @abstractmethod
    def _compute(self) -> dict[t.Var, t.Term]: ...

    def trace(self) -> tuple[Step, ...]:
        """The word of the run, times over the values before."""
        if self._trace is None:
            self._trace = self._word()
        return self._trace

    @abstractmethod
    def _word(self) -> tuple[Step, ...]: ...

    @property
    def length(self) -> int:
        """Of how many runs, one after another, it is made."""
        return 1

    @property
    @abstractmethod
    def checked(self) -> bool:
        """Whether there may be checks along the run that are not part of the domain."""

    @abstractmethod
    def obligations(self) -> tuple[Obligation, ...]:
        """The checks along the run that are not part of the domain. Raises :class:`Undecided`, :class:`Lost`."""


class NoIteration(RunTransformer):
    """No iteration."""

    def _compute(self) -> dict[t.Var, t.Term]:
        return {}

    def _word(self) -> tuple[Step, ...]:
        return ()

    @property
    def checked(self) -> bool:
        return False

    def obligations(self) -> tuple[Obligation, ...]:
        return ()


class Once(RunTransformer):
    """One iteration of a path, with those of its checks that are not part of the domain."""

    def __init__(self, path: Path, control: Values, obligations: tuple[Obligation, ...]) -> None:
        super().__init__()
        self.path = path
        self._control = control
        self._obligations = obligations

    def _compute(self) -> dict[t.Var, t.Term]:
        counter = counter_of(self.path)
        return {**self.path.update, **self._control, counter: counter + 1, TOTAL: TOTAL + 1}

    def _word(self) -> tuple[Step, ...]:
        return (PathRun(self.path.id, t.ONE),)

    @property
    def checked(self) -> bool:
        return bool(self._obligations)

    def obligations(self) -> tuple[Obligation, ...]:
        return self._obligations


@dataclass(slots=True, eq=False)
class GuardedTransition:
    """Entry values in ``where`` do ``transformer``, by which the control variables get the values ``control``.

    ``transformer`` is right on ``where`` only, and so is ``control``, which may be simpler than the transformer says.
    """

    where: Region
    control: Values
    transformer: RunTransformer

    def within(self, where: Region) -> GuardedTransition:
        """The same transformer on a smaller domain."""
        return GuardedTransition(where, self.control, self.transformer)


class Then(RunTransformer):
    """``second`` after ``first``, where the ``equalities`` hold."""

    def __init__(self, first: GuardedTransition, second: GuardedTransition, equalities: Values) -> None:
        super().__init__()
        self.first, self.second, self.equalities = first, second, equalities
        self._length = first.transformer.length + second.transformer.length

    @property
    def length(self) -> int:
        return self._length

    def _compute(self) -> dict[t.Var, t.Term]:
        first, second = self.first, self.second
        before = {**first.transformer.values, **first.control}
        state = dict(before)
        lost = dict(first.transformer.lost)
        for var, term in {**second.transformer.values, **second.control}.items():
            reads = sorted(v for v in term.variables if v in lost)
            if reads:
                lost[var] = lost[reads[0]]
                state.pop(var, None)
            else:
                state[var] = later(term, before)
                lost.pop(var, None)
        for var, why in second.transformer.lost.items():
            if var not in second.control:
                lost[var] = why
                state.pop(var, None)
        self._lost = lost
        return {var: self._shorter(var, term) for var, term in state.items()}

    def _shorter(self, var: t.Var, term: t.Term) -> t.Term:
        """``term`` under the equalities where that says it in fewer words."""
        if not self.equalities or term.variables.isdisjoint(self.equalities):
            return term
        moved = t.substitute(term - var, self.equalities)
        return var + moved if len(t.polynomial(moved)) < len(t.polynomial(term)) else term

    def _word(self) -> tuple[Step, ...]:
        second = (_step_after(step, self.first.control) for step in self.second.transformer.trace())
        steps = joined((*self.first.transformer.trace(), *second))
        return tuple(_step_after(step, self.equalities) for step in steps) if self.equalities else steps

    @property
    def checked(self) -> bool:
        return self.first.transformer.checked or self.second.transformer.checked

    def obligations(self) -> tuple[Obligation, ...]:
        obligations = self.second.transformer.obligations()
        if obligations:
            lost = self.first.transformer.lost
            before = {**self.first.transformer.values, **self.first.control}
            for obligation in obligations:
                gone = sorted(v for v in obligation.condition.variables if v in lost)
                if gone:
                    raise Lost(lost[gone[0]])
            obligations = tuple(
                Obligation(later(obligation.condition, before), obligation.exit) for obligation in obligations
            )
        return tuple(dict.fromkeys((*self.first.transformer.obligations(), *obligations)))


class Repeat(RunTransformer):
    """``body`` as often as ``count`` ≥ 1 says, which speaks of the values before the run; ``where`` is their region."""

    def __init__(self, body: GuardedTransition, count: t.Term, where: Region) -> None:
        super().__init__()
        self.body, self.count, self.where = body, count, where

    @property
    def length(self) -> int:
        return self.body.transformer.length

    def _compute(self) -> dict[t.Var, t.Term]:
        forms, self._lost = closed_forms(self.body)
        return {var: after(var, form, COUNTER, self.count) for var, form in forms.items()}

    def _word(self) -> tuple[Step, ...]:
        return repeated(self.body.transformer.trace(), self.count)

    @property
    def checked(self) -> bool:
        return self.body.transformer.checked

    def obligations(self) -> tuple[Obligation, ...]:
        found = []
        for obligation in self.body.transformer.obligations():
            early, shown = along(self.body, obligation.condition)
            try:
                needed = in_all_rounds(obligation.condition, early, shown, COUNTER, self.count, self.where)
            except Undecided:
                if early:
                    raise
                needed = tightest(obligation.condition, shown, COUNTER, self._during(), self.where.variables)
            found += [Obligation(whole, obligation.exit) for whole in needed]
        return tuple(dict.fromkeys(found))

    def _during(self) -> Region:
        try:
            return self.where & Region.of(COUNTER.ge(0) & COUNTER.lt(self.count))
        except NotPresburger as failure:
            raise Undecided(str(failure)) from None


def along(body: GuardedTransition, condition: t.Condition) -> tuple[list[t.Condition], t.Condition]:
    """``condition`` after 0, 1, … rounds of ``body``, as far as its final form is not right; and that form, for
    :data:`COUNTER` more rounds. Raises :class:`Lost`, :class:`Undecided`.
    """
    found = forms_of_body(body)
    gone = sorted(v for v in condition.variables if v in found.lost)
    if gone:
        raise Lost(found.lost[gone[0]])
    if moving(condition.variables, {*found.values, *found.lost}):
        raise Undecided(f"{t.brief(condition)} is not known round by round")
    return found.along(condition)


def closed_forms(body: GuardedTransition) -> tuple[dict[t.Var, t.Term], dict[t.Var, str]]:
    """What all variables hold after :data:`COUNTER` ≥ 1 rounds of ``body``, and which have no closed form, and why."""
    found = forms_of_body(body)
    return dict(found.values), dict(found.lost)


def forms_of_body(body: GuardedTransition) -> Forms:
    """The forms of repeating ``body``."""
    cached = body.transformer.forms_by_control
    key = tuple(sorted(body.control.items()))
    if key not in cached:
        update = {**body.transformer.values, **body.control}
        gone = {
            v: f"{v.name} changes by a number that is another one in each round"
            for v, term in update.items()
            if moving(term.variables, {*update, *body.transformer.lost})
        }
        known = {v: term for v, term in update.items() if v not in gone}
        found = forms_of(known, COUNTER, {**body.transformer.lost, **gone})
        lost = {
            v: _uncounted(v) if v.name.startswith("#") and v not in body.transformer.lost else why
            for v, why in found.lost.items()
        }
        cached[key] = replace(found, lost=lost)
    return cached[key]


def _uncounted(counter: t.Var) -> str:
    if counter is TOTAL:
        return "the number of iterations in rounds of different length has no closed form"
    return f"how often path {counter.name[1:]} is taken has no closed form"


@dataclass(frozen=True, slots=True)
class TurnForms:
    """Paths that take turns, as values after :data:`COUNTER` iterations: ``values`` of all variables and counters.

    ``lost``: what has no closed form. ``paths``: their ids. ``checked``: whether one of them has checks on the side.
    """

    values: Mapping[t.Var, t.Term]
    lost: Mapping[t.Var, str]
    paths: tuple[str, ...]
    checked: bool = True


class Turns(RunTransformer):
    """``count`` ≥ 1 iterations of paths that take turns."""

    def __init__(self, forms: TurnForms, count: t.Term, obligations: Callable[[], tuple[Obligation, ...]]) -> None:
        super().__init__()
        self.forms, self.count, self._obligations = forms, count, obligations

    def _compute(self) -> dict[t.Var, t.Term]:
        self._lost = dict(self.forms.lost)
        return {var: t.substitute(form, {COUNTER: self.count}) for var, form in self.forms.values.items()}

    def _word(self) -> tuple[Step, ...]:
        return (Interleaving(self.forms.paths, self.count),)

    @property
    def checked(self) -> bool:
        return self.forms.checked

    def obligations(self) -> tuple[Obligation, ...]:
        return self._obligations()


# -- traces -----------------------------------------------------------------------------------------------------------


def _step_after(step: Step, control: Values) -> Step:
    times = later(step.times, control) if step.times is not None else None
    match step:
        case PathRun():
            return PathRun(step.path, times)
        case Cycle():
            return Cycle(step.body, times)
        case Interleaving():
            return Interleaving(step.paths, times)


def joined(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps with neighbouring runs of one path as one run."""
    result: list[Step] = []
    for step in steps:
        last = result[-1] if result else None
        if isinstance(step, PathRun) and isinstance(last, PathRun) and step.path == last.path:
            times = None if step.times is None or last.times is None else last.times + step.times
            result[-1] = PathRun(step.path, times)
        else:
            result.append(step)
    return tuple(result)


def repeated(body: tuple[Step, ...], count: t.Term) -> tuple[Step, ...]:
    """The word of ``count`` rounds of ``body``."""
    if isinstance(count, t.Const) and count.value == 1:
        return body
    if len(body) == 1:
        only = body[0]
        if isinstance(only, PathRun) and isinstance(only.times, t.Const):
            return (PathRun(only.path, substitute_times(count, only.times.value)),)
    return (Cycle(tuple(_starred(step) for step in body), count),)


def substitute_times(count: t.Term, factor: int) -> t.Term:
    """``count`` rounds of ``factor`` iterations each."""
    return t.add(*([count] * factor)) if factor < 3 else _scaled(count, factor)


def _scaled(count: t.Term, factor: int) -> t.Term:

    return count * factor


def _starred(step: Step) -> Step:
    """Inside a cycle: times that are the same in every round stay."""
    times = step.times if isinstance(step.times, t.Const) else None
    match step:
        case PathRun():
            return PathRun(step.path, times)
        case Cycle():
            return Cycle(tuple(_starred(inner) for inner in step.body), times)
        case Interleaving():
            return Interleaving(step.paths, times)

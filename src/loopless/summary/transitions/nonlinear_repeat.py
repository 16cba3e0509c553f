"""Nonlinear acceleration: runs of one transition whose length or target the logic cannot express.

Each conjunct of the domain that may come to fail has an exit time at which it does; the run lasts until the least of
these. The exit times, and the values before the last round, become auxiliary variables. What is known of them: the
whole domain holds on the values before the last round, and one more round makes the conjunct fail. Nothing else is
needed for the regions to be exact, since every auxiliary variable has one value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

from loopless import terms as t
from loopless.automaton.runs import iterated
from loopless.limits.summary import MAX_FAILURE_PARTS
from loopless.logic import Region
from loopless.records import dataclass
from loopless.summary.exit_time.exponential import Candidate, at_entry, candidates_of
from loopless.summary.exit_time.linear import ExitTime, NoExitTime
from loopless.summary.exit_time.run_length import may_fail
from loopless.summary.obligations.powers import after as value_after
from loopless.summary.obligations.powers import most_rounds
from loopless.summary.rewrite.auxiliary import auxiliaries_in, expanded, later, moving, named, named_condition, preimage
from loopless.summary.transitions.guarded import resolved
from loopless.summary.transitions.transformer import COUNTER, GuardedTransition, Repeat

Outcome = tuple[t.Condition, t.Term | None]
"""Where the condition holds: the number of rounds after which a conjunct fails first, None if it never does."""


@dataclass(frozen=True, slots=True)
class Failing:
    """When the conjunct ``part`` fails first, where it holds at the beginning; the outcomes' conditions partition.

    ``lasting``: once it fails it fails for ever. Otherwise others of the kind may speak of the same conjunct.
    """

    part: t.Condition
    outcomes: tuple[Outcome, ...]
    lasting: bool


@dataclass(frozen=True, slots=True)
class DomainPart:
    """The part ``where`` of a domain, in which the ``times`` of the conjuncts apply; all rounds begin in ``during``."""

    where: Region
    times: tuple[t.Term | None, ...]
    during: Region


@dataclass(frozen=True, slots=True)
class NonlinearRun:
    """A transition with its closed forms after :data:`COUNTER` rounds, and the conjuncts that may come to fail."""

    transition: GuardedTransition
    forms: Mapping[t.Var, t.Term]
    failing: tuple[Failing, ...]
    begin: int
    """The forms are right after so many rounds."""

    def runs(self) -> tuple[list[GuardedTransition], Region]:
        """The longest runs, and where it repeats for ever. Raises :class:`loopless.logic.BudgetExceeded`."""
        transition = self.transition
        found: list[GuardedTransition] = []
        never = Region.empty(transition.where.variables)
        staying = transition.where
        if self.begin:
            staying = (staying & preimage(staying, transition.control)).coalesce()
            leaving = transition.where - staying
            if not leaving.is_empty():
                found.append(transition.within(leaving.coalesce()))
        for part in self._parts(staying):
            segment = [i for i, time in enumerate(part.times) if time is not None]
            if not segment:
                never |= part.where
            for i in segment:
                found += self._ended_by(i, part)
        return found, never.coalesce()

    def _parts(self, staying: Region) -> Iterator[DomainPart]:
        """``staying`` divided by which conjuncts come to fail."""
        parts = [DomainPart(staying, (), self.transition.where)]
        for failing in self.failing:
            parts = [part for old in parts for part in self._by_outcomes(old, failing.outcomes)]
        yield from parts

    def _by_outcomes(self, part: DomainPart, outcomes: Sequence[Outcome]) -> Iterator[DomainPart]:
        for condition, time in outcomes:
            if condition is t.TRUE:
                yield DomainPart(part.where, (*part.times, time), part.during)
                continue
            region = Region.of(condition)
            here = (part.where & region).coalesce()
            if here.is_empty():
                continue
            during = part.during & region
            if not during.is_subset(preimage(region, self.transition.control)):
                during = part.during
            yield DomainPart(here, (*part.times, time), during)

    def _ended_by(self, i: int, part: DomainPart) -> list[GuardedTransition]:
        """The runs in which conjunct ``i`` fails first, and none before it in the list at the same time."""
        time = part.times[i]
        assert time is not None
        count = named(time + self.begin)
        last = {var: named(_at(var, form, count - 1)) for var, form in self.forms.items()}
        control = {var: later(term, last) for var, term in self.transition.control.items()}
        here = part.where & Region.of(count.ge(1 + self.begin))
        here &= preimage(part.during, last)
        here &= Region.of(later(~self.failing[i].part, control))
        for j, other in enumerate(part.times):
            if other is not None and j != i:
                here &= Region.of(self._not_before(j, other, control, count, strictly=j < i))
        if here.is_empty():
            return []
        here &= Region.of(t.conjunction(self._facts(part, count, last)))
        if here.is_empty():
            return []
        here = here.coalesce()
        return resolved(GuardedTransition(here, control, Repeat(self.transition, count, here)))

    def _not_before(
        self, j: int, time: t.Term, control: Mapping[t.Var, t.Term], count: t.Term, *, strictly: bool
    ) -> t.Condition:
        """Conjunct ``j`` does not fail before ``count`` rounds, nor then if ``strictly``."""
        failing = self.failing[j]
        if failing.lasting:  # it holds before the last round, since the whole domain does
            return later(failing.part, control) if strictly else t.TRUE
        other = named(time + self.begin)
        return count.lt(other) if strictly else count.le(other)

    def _facts(self, part: DomainPart, count: t.Term, last: Mapping[t.Var, t.Term]) -> Iterable[t.Condition]:
        """How far variables have come before the last round, at their least and their greatest step."""
        rounds = count - 1
        for var, term in self.transition.control.items():
            if all(auxiliary is count for auxiliary in auxiliaries_in(last[var].variables)) or self.begin:
                continue
            low, high = part.during.range_of(term - var)
            if low is not None and low >= 0:
                yield last[var].ge(var + rounds * low)
            if high is not None and high <= 0:
                yield last[var].le(var + rounds * high)


def _at(var: t.Var, form: t.Term, rounds: t.Term) -> t.Term:
    """``form`` after ``rounds``; a power of so many rounds as no run within the type has is another value outside."""
    if _has_powers(form):
        rounds = t.maximum(t.ZERO, rounds)
    return value_after(var, form, COUNTER, rounds)


def _is_unbounded(var: t.Var, form: t.Term) -> bool:
    """Whether ``form`` has powers that could not be evaluated for as many rounds as another condition allows."""
    return _has_powers(form) and most_rounds(var, form, COUNTER) is None


def _has_powers(form: t.Term) -> bool:
    return any(isinstance(node, t.Op) and node.op == "pow" for node in t.walk(form))


def accelerated(transition: GuardedTransition) -> NonlinearRun | None:
    """The acceleration of a transition that may follow itself; None if this method says nothing of it."""
    control = transition.control
    read = {v for term in control.values() for v in term.variables}
    condition = transition.where.rough_condition()
    if moving(read, control) or isinstance(condition, t.Or):
        return None
    try:
        found = iterated(control, frozenset())
        if found.scattered or any(_is_unbounded(var, form) for var, form in found.forms.items()):
            return None
        begin = int(any(t.substitute(form, {COUNTER: t.ZERO}) is not v for v, form in found.forms.items()))
        forms = {var: t.substitute(form, {COUNTER: COUNTER + begin}) for var, form in found.forms.items()}
        failing: list[Failing] = []
        for part in _inequalities(condition):
            if may_fail(part, transition.where, [transition]):
                several = _failing(part, forms)
                if several is None:
                    return None
                failing += several
    except t.TermTooLarge:
        return None
    if prod(len(each) for each in {f.outcomes for f in failing}) > MAX_FAILURE_PARTS:
        return None
    return NonlinearRun(transition, found.forms, tuple(failing), begin)


def _inequalities(condition: t.Condition) -> list[t.Condition]:
    found: list[t.Condition] = []
    for part in t.conjuncts(condition):
        if isinstance(part, t.Compare) and part.relation == "eq":
            found += [t.at_most_zero(part.term), t.at_most_zero(-part.term)]
        else:
            found.append(part)
    return found


def _failing(part: t.Condition, forms: Mapping[t.Var, t.Term]) -> list[Failing] | None:
    if not isinstance(part, t.Compare) or part.relation != "le":
        return None
    value = t.substitute(expanded(part.term, forms), dict(forms))
    straight = _line(part, value)
    if straight is not None:
        return [straight]
    try:
        candidates = at_entry(candidates_of(t.at_most_zero(value), COUNTER))
    except NoExitTime:
        return None
    if candidates.given is not t.TRUE or any(candidate.wraps for candidate in candidates.candidates):
        return None
    return [
        Failing(part, _outcomes(candidate), all(map(_is_lasting, candidate.forms)))
        for candidate in candidates.candidates
    ]


def _line(part: t.Condition, value: t.Term) -> Failing | None:
    """Of a value that moves by the same amount in each round."""
    offset: list[t.Term] = []
    slope: list[t.Term] = []
    for monomial, coefficient in t.polynomial(value).items():
        rest = tuple((atom, exponent) for atom, exponent in monomial if atom is not COUNTER)
        degree = sum(exponent for atom, exponent in monomial if atom is COUNTER)
        if degree > 1 or any(COUNTER in atom.variables for atom, _ in rest):
            return None
        (slope if degree else offset).append(t.from_polynomial({rest: coefficient}))
    step = t.add(*slope)
    rises = step.gt(0)
    time = -((t.add(*offset) - 1) // step) if step is not t.ZERO else t.ZERO
    if isinstance(step, t.Const):
        return Failing(part, ((t.TRUE, time if step.value > 0 else None),), lasting=True)
    sign = named_condition(rises)
    return Failing(part, ((sign, t.ite(rises, time, t.const(-1))), (~sign, None)), lasting=True)


def _outcomes(candidate: Candidate) -> tuple[Outcome, ...]:
    found: list[Outcome] = []
    for form in candidate.forms:
        time = form.time if form.guard is t.TRUE else t.ite(form.guard, form.time, t.const(-1))
        found.append((named_condition(form.guard & form.exists), time))
        found.append((named_condition(form.guard & ~form.exists), None))
    return tuple((condition, time) for condition, time in found if condition is not t.FALSE)


def _is_lasting(form: ExitTime) -> bool:
    """Whether the condition, once it fails, fails for ever."""
    if form.curve is None:
        return False
    steps = [c for key, c in form.curve.items() if key != (1, 0) and c is not t.ZERO]
    lows = [t.range_of(c)[0] for c in steps]
    return len(steps) <= 1 or all(low is not None and low >= 0 for low in lows)

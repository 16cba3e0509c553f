"""Exit times of values that move along a curve: polynomials in the number of iterations, powers, repeated division.

Where the closed form of a condition is e(k) ≤ 0 with e an exponential polynomial over the entry values, it fails first
at the least k with e(k) > 0: a quotient for what is linear, else the named function that ``terms`` evaluates exactly by
isolating the changes of sign. A quotient floor(a / L^k) is compared by its multiple a, so no floor is left.

A value that is reduced modulo 2^w is followed until it would wrap around for the first time; that is a candidate too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from loopless import terms as t
from loopless.limits.summary import FIRST_CURVE_VALUES, MAX_CURVE_RESIDUES, MAX_EQUALITY_ORDER
from loopless.records import dataclass
from loopless.recurrences import NoClosedForm, curves_of
from loopless.summary.exit_time.geometric import exit_times_of_geometric
from loopless.summary.exit_time.linear import ExitTime, NoExitTime, exit_times


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that ends what is known of a run: the first time at which a condition fails, or (``wraps``) at which a
    value that it speaks of would wrap around, from where on nothing is known. The guards of ``forms`` partition.
    """

    forms: tuple[ExitTime, ...]
    wraps: bool = False


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates for one condition, valid for entry values where the condition holds at the entry and ``given``.

    ``curved``: whether this takes more than values that move by a constant.
    """

    candidates: tuple[Candidate, ...]
    given: t.Condition = t.TRUE
    curved: bool = True


def candidates_of(condition: t.Condition, counter: t.Var) -> Candidates:
    """When ``condition``, in closed form over the entry values and ``counter`` = k, is false for the first k ≥ 0.

    Raises :class:`NoExitTime`.
    """
    try:
        return Candidates((Candidate(exit_times(condition, counter)),), curved=False)
    except NoExitTime as failure:
        reason = failure
    scaled = exit_times_of_geometric(condition, counter)
    if scaled:
        return Candidates(tuple(Candidate((time,)) for time in scaled))
    try:
        plain, reduced = _without_wraps(condition, counter)
        found: list[Candidate] = []
        given: list[t.Condition] = []
        for inner in reduced:
            low, high = inner.type.min, inner.type.max
            assert low is not None
            assert high is not None
            for excess in (inner.arg - high, low - inner.arg):
                found += [replace(candidate, wraps=True) for candidate in _positive(excess, counter)]
                given.append(t.at_most_zero(t.substitute(excess, {counter: t.ZERO})))
        found += _failing(plain, counter)
    except NoClosedForm as failure:
        if isinstance(condition, t.Compare) and counter not in _moving_part(condition.term, counter).variables:
            raise reason from None
        raise NoExitTime(str(failure)) from None
    return Candidates(tuple(found), t.conjunction(given))


def _moving_part(term: t.Term, counter: t.Var) -> t.Term:
    return t.from_polynomial({m: c for m, c in t.polynomial(term).items() if any(counter in a.variables for a, _ in m)})


def _without_wraps(condition: t.Condition, counter: t.Var) -> tuple[t.Condition, list[t.Wrap]]:
    """The condition with each reduced value that moves as it is before it is reduced, and these reductions."""
    found = [
        n for n in t.walk(condition) if isinstance(n, t.Wrap) and counter in n.variables and n.type.width is not None
    ]
    if not found:
        return condition, []
    if any(isinstance(n, t.Wrap) and counter in n.variables for outer in found for n in t.walk(outer.arg)):
        raise NoExitTime("it is about a value that is reduced twice")
    return _stripped(condition, {inner: inner.arg for inner in found}), found


def _stripped(condition: t.Condition, plain: Mapping[t.Term, t.Term]) -> t.Condition:
    match condition:
        case t.Compare():
            build = {"le": t.at_most_zero, "eq": t.equals_zero, "ne": t.not_zero}[condition.relation]
            return build(t.replace_terms(condition.term, plain))
        case t.Or():
            raise NoExitTime("it is about several values that wrap around")
        case _:
            raise NoExitTime("it is not about one value that moves")


def _failing(condition: t.Condition, counter: t.Var) -> list[Candidate]:
    """When ``condition``, in which nothing is reduced, fails first. Raises NotMoving and NoClosedForm."""
    match condition:
        case t.Compare():
            quotient = _quotient(condition, counter)
            if quotient is not None:
                return quotient
            if condition.relation == "le":
                return _positive(condition.term, counter)
            if condition.relation == "eq":
                return _nonzero(condition.term, counter)
            return _zero(condition.term, counter)
        case t.Or():
            return [_all_failing(condition, counter)]
        case _:
            if counter not in condition.variables:
                return [Candidate((ExitTime(t.TRUE, ~condition, t.ZERO),))]
            raise NoExitTime("it is not about one value that moves")


def _all_failing(condition: t.Or, counter: t.Var) -> Candidate:
    """Alternatives of which each, once it fails, fails for ever: the last one decides."""
    exists: list[t.Condition] = []
    times: list[t.Term] = []
    for part in condition.args:
        if counter not in part.variables:
            exists.append(~part)
            continue
        found = _positive(part.term, counter) if isinstance(part, t.Compare) and part.relation == "le" else []
        form = found[0].forms[0] if len(found) == 1 and len(found[0].forms) == 1 else None
        if form is None or form.curve is None or not _never_falls(form.curve):
            raise NoExitTime("of its alternatives one may fail and hold again")
        exists.append(form.exists)
        times.append(t.maximum(t.ZERO, form.time))
    return Candidate((ExitTime(t.TRUE, t.conjunction(exists), t.maximum(*times)),))


def _never_falls(curve: t.Coefficients) -> bool:
    return all(_at_least(c, 0) for key, c in curve.items() if key != (1, 0))


def _at_least(term: t.Term, bound: int) -> bool:
    low = t.range_of(term)[0]
    return low is not None and low >= bound


def _at_most(term: t.Term, bound: int) -> bool:
    high = t.range_of(term)[1]
    return high is not None and high <= bound


def comes_first(one: t.Coefficients, other: t.Coefficients) -> bool:
    """Whether ``one`` surely is positive wherever ``other`` is."""
    keys = one.keys() | other.keys()
    return all(_at_least(one.get(key, t.ZERO) - other.get(key, t.ZERO), 0) for key in keys)


def _residues(term: t.Term, counter: t.Var) -> tuple[t.Coefficients, ...]:
    found = curves_of(term, counter)
    if len(found) > MAX_CURVE_RESIDUES:
        raise NoExitTime(f"it takes turns with a period of {len(found)}")
    return found


def _positive(term: t.Term, counter: t.Var) -> list[Candidate]:
    """When ``term``, at most 0 at the entry, is positive first."""
    curves = _residues(term, counter)
    if len(curves) == 1:
        return [Candidate(_rising(curves[0]))]
    period = len(curves)
    return [_of_residue(t.first_positive(c), period, r, certain=t.eventually_positive(c)) for r, c in enumerate(curves)]


def _zero(term: t.Term, counter: t.Var) -> list[Candidate]:
    curves = _residues(term, counter)
    return [_of_residue(t.first_zero(c), len(curves), r, certain=False) for r, c in enumerate(curves)]


def _nonzero(term: t.Term, counter: t.Var) -> list[Candidate]:
    """When ``term``, 0 at the entry, is not 0 first: as soon as ever, for it is a recurrence of known order."""
    curves = _residues(term, counter)
    order = len(curves) * max(_order(curve) for curve in curves)
    if order > MAX_EQUALITY_ORDER:
        raise NoExitTime("it is an equality of too many different powers")
    candidates = []
    for k in range(1, order):
        differs = t.not_zero(t.substitute(term, {counter: t.const(k)}))
        candidates.append(Candidate((ExitTime(t.TRUE, differs, t.const(k)),)))
    return candidates


def _order(curve: t.Coefficients) -> int:
    """So many values in a row that are 0 make all of them 0: the order of a recurrence."""
    tops: dict[int, int] = {}
    for base, degree in curve:
        tops[base] = max(tops.get(base, 0), degree + 1)
    return sum(tops.values())


def total(candidate: Candidate, offset: int) -> Candidate:
    """The candidate with one form only, if its forms are about one coefficient's sign; as from :func:`at_entry`."""
    curve = candidate.forms[0].curve
    if len(candidate.forms) == 1 or curve is None or any(form.curve is not curve for form in candidate.forms):
        return candidate
    time = t.first_positive(curve)
    form = ExitTime(t.TRUE, time.ge(0), time + offset, curve)
    return replace(candidate, forms=(form,))


def _of_residue(time: t.Term, period: int, residue: int, *, certain: bool) -> Candidate:
    exists = t.TRUE if certain else time.ge(0)
    return Candidate((ExitTime(t.TRUE, exists, time * period + residue),))


def _rising(curve: t.Coefficients) -> tuple[ExitTime, ...]:
    """When the curve, at most 0 at k = 0, is positive first."""
    moving = {key: c for key, c in curve.items() if key != (1, 0) and c is not t.ZERO}
    if all(_at_most(c, 0) for c in moving.values()):
        return (ExitTime(t.TRUE, t.FALSE, t.ZERO, curve),)
    straight = moving.keys() == {(1, 1)}
    time = _quotient_of(moving[1, 1], curve.get((1, 0), t.ZERO)) if straight else t.first_positive(curve)
    if t.eventually_positive(curve):
        return (ExitTime(t.TRUE, t.TRUE, time, curve),)
    if len(moving) > 1:
        return (ExitTime(t.TRUE, time.ge(0), time, curve),)
    rises = next(iter(moving.values())).gt(0)  # then it does so without end, else never
    return ExitTime(rises, t.TRUE, time, curve), ExitTime(~rises, t.FALSE, t.ZERO, curve)


def at_entry(candidates: Candidates, offset: int = 0) -> Candidates:
    """The same for entry values where the condition holds at the entry: what fails there never does. ``offset``: so
    many iterations come before, which the times then count too.
    """
    return replace(
        candidates, candidates=tuple(replace(r, forms=tuple(_later(r.forms, offset))) for r in candidates.candidates)
    )


def until_first(shown: t.Condition, counter: t.Var, count: t.Term, otherwise: Exception) -> t.Condition:
    """That ``shown``, after ``counter`` iterations, holds for all counters from 0 to ``count`` - 1: by the first time
    at which it fails. Raises ``otherwise`` if that is not known.
    """
    try:
        found = at_entry(candidates_of(shown, counter))
    except NoExitTime:
        raise otherwise from None
    if found.given is not t.TRUE or any(candidate.wraps for candidate in found.candidates):
        raise otherwise  # a value that wraps around does not fail, it only is not known from there on
    parts = [
        ~form.guard | ~form.exists | count.le(form.time) for candidate in found.candidates for form in candidate.forms
    ]
    started = t.conjunction((t.substitute(shown, {counter: t.ZERO}), *parts))
    return count.le(0) | started


def _later(forms: tuple[ExitTime, ...], offset: int) -> Iterator[ExitTime]:
    if len(forms) == 1 and forms[0].curve is not None and forms[0].time is not t.ZERO:
        forms = _rising(forms[0].curve)
    for form in forms:
        exists = t.FALSE if form.time is t.ZERO else form.exists
        yield replace(form, exists=exists, time=form.time + offset)


def _quotient_of(slope: t.Term, start: t.Term) -> t.Term:
    """The least k with slope·k + start > 0, for slope > 0 and start ≤ 0."""
    behind = slope - start
    before = -start
    if len(t.polynomial(before)) < len(t.polynomial(behind)):
        return before // slope + 1
    return behind // slope


# Repeated division: a quotient by a power that grows with the counter.


def _quotient(condition: t.Compare, counter: t.Var) -> list[Candidate] | None:
    """The candidates of a condition on one quotient by a growing power; None for other conditions."""
    moving = {m: c for m, c in t.polynomial(condition.term).items() if any(counter in a.variables for a, _ in m)}
    if len(moving) != 1:
        return None
    monomial, factor = next(iter(moving.items()))
    atom = monomial[0][0]
    if len(monomial) != 1 or monomial[0][1] != 1 or not isinstance(atom, t.Op):
        return None
    if atom.op not in ("floor_div", "trunc_div") or counter not in atom.args[1].variables:
        return None
    rest = condition.term - atom * factor
    whole = _Quotient(atom.op == "trunc_div", atom.args[0], atom.args[1], counter)
    size = abs(factor)
    if condition.relation == "le":  # factor·q + rest ≥ 1 is where it fails
        if factor > 0:
            return [Candidate(tuple(whole.at_least(-((rest - 1) // size))))]
        return [Candidate(tuple(whole.at_most((rest - 1) // size)))]
    if size > 1:
        raise NoExitTime("it compares a multiple of a quotient")
    wanted = -rest if factor > 0 else rest
    if condition.relation == "eq":
        return [
            Candidate(tuple(whole.at_least(wanted + 1))),
            Candidate(tuple(whole.at_most(wanted - 1))),
        ]
    return [Candidate(tuple(whole.equal(wanted)))]


@dataclass(frozen=True, slots=True)
class _Quotient:
    """floor(value / divisor), or C's quotient if ``truncated``; the divisor is positive and grows with ``counter``."""

    truncated: bool
    value: t.Term
    divisor: t.Term
    counter: t.Var

    def at_least(self, bound: t.Term) -> Iterator[ExitTime]:
        """When the quotient is ≥ ``bound`` first, if it is not at k = 0."""
        # truncated: q ≥ m means value ≥ m·divisor for m ≥ 1, and value > (m - 1)·divisor for m ≤ 0
        plain = self.value - bound * self.divisor + 1
        yield from self._cases(bound, plain, self.value - (bound - 1) * self.divisor, t.ONE)

    def at_most(self, bound: t.Term) -> Iterator[ExitTime]:
        """When the quotient is ≤ ``bound`` first, if it is not at k = 0."""
        # q ≤ m means value < (m + 1)·divisor; truncated and m ≤ -1, value ≤ m·divisor
        plain = (bound + 1) * self.divisor - self.value
        yield from self._cases(bound, plain, bound * self.divisor - self.value + 1, t.ZERO)

    def _cases(self, bound: t.Term, floored: t.Term, other: t.Term, least: t.Term) -> Iterator[ExitTime]:
        """``floored`` > 0 decides, but for a truncated quotient whose bound is below ``least``: the ``other``."""
        usual = bound.ge(least)
        if not self.truncated or usual is t.TRUE or _at_least(self.value, 0):
            yield from self._first(t.TRUE, floored)
            return
        yield from self._first(usual, floored)
        yield from self._first(~usual, other)

    def _first(self, guard: t.Condition, excess: t.Term) -> Iterator[ExitTime]:
        for candidate in self._single(excess):
            for form in candidate.forms:
                yield replace(form, guard=guard & form.guard)

    def _single(self, excess: t.Term) -> list[Candidate]:
        found = _positive(excess, self.counter)
        if len(found) != 1:
            raise NoExitTime("it is about a quotient that takes turns")
        return found

    def equal(self, wanted: t.Term) -> Iterator[ExitTime]:
        """When the quotient is ``wanted`` first, if it is not at k = 0."""
        if self.counter in self.value.variables:
            raise NoExitTime("it is about the quotient of a value that moves")
        if wanted is t.ZERO and (self.truncated or _at_least(self.value, 0)):
            size = t.maximum(self.value, -self.value)
            yield from self._first(t.TRUE, self.divisor - size)
            return
        # a quotient falls from above to 0, and rises from below to 0 or -1
        natural = self.value.ge(0)
        for guard, forms in ((natural, self.at_most(wanted)), (~natural, self.at_least(wanted))):
            for form in forms:
                there = self._at(form.time).eq(wanted)
                yield ExitTime(guard & form.guard, form.exists & there, form.time)

    def _at(self, time: t.Term) -> t.Term:
        divisor = t.substitute(self.divisor, {self.counter: t.maximum(t.ZERO, time)})
        return t.operation("trunc_div" if self.truncated else "floor_div", (self.value, divisor))


def consequences(condition: t.Condition) -> Iterator[t.Condition]:
    """What follows, in plainer terms, where the condition says that curves are never positive: their first values are
    not, and what grows fastest is negative, or 0 and the next part is.
    """
    for part in t.conjuncts(condition):
        if not isinstance(part, t.Compare) or part.relation != "le":
            continue
        atoms = [atom for atom in t.walk(part.term) if isinstance(atom, t.Op) and atom.op == "first_positive"]
        if len(atoms) != 1 or part.term is not atoms[0] + 1:
            continue
        curve = t.coefficients(atoms[0].args)
        try:
            yield from (t.at_most_zero(t.curve_at(curve, t.const(k))) for k in range(FIRST_CURVE_VALUES))
        except t.TermTooLarge:
            continue
        falls: t.Condition = t.TRUE
        for key in sorted(curve):
            falls = curve[key].lt(0) | t.equals_zero(curve[key]) & falls
        yield falls

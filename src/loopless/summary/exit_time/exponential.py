"""Exit times of values that move along a curve: polynomials in the number of iterations, powers, repeated division.

Where the closed form of a condition is e(k) ≤ 0 with e an exponential polynomial over the entry values, it fails first
at the least k with e(k) > 0: a quotient for what is linear, else the named function that ``terms`` evaluates exactly by
isolating the changes of sign. A quotient floor(a / L^k) is compared by its multiple a, so no floor is left.

A value that is reduced modulo 2^w is followed until it would wrap around for the first time; that is a candidate too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from loopless.recurrences import NoClosedForm, curves_of
from loopless.summary.exit_time.geometric import exit_times_of_geometric
from loopless.summary.exit_time.linear import ExitTime, NoExitTime, exit_times
from loopless.terms import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Coefficients,
    Compare,
    Condition,
    Op,
    Or,
    Term,
    TermTooLarge,
    Var,
    Wrap,
    add,
    at_most_zero,
    coefficients,
    conjunction,
    conjuncts,
    const,
    curve_at,
    disjunction,
    equal,
    equals_zero,
    eventually_positive,
    first_positive,
    first_zero,
    floor_div,
    from_polynomial,
    greater,
    greater_equal,
    less,
    less_equal,
    maximum,
    mul,
    neg,
    negate,
    not_zero,
    operation,
    polynomial,
    range_of,
    replace_terms,
    scale,
    sub,
    substitute,
    walk,
)

MAX_RESIDUES: Final = 8
"""Curves with more residues of the number of iterations are not followed. A guess."""


MAX_ORDER: Final = 12
"""Equalities whose sides differ, if at all, after more iterations than this are not followed. A guess."""


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
    given: Condition = TRUE
    curved: bool = True


def candidates_of(condition: Condition, counter: Var) -> Candidates:
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
        given: list[Condition] = []
        for inner in reduced:
            low, high = inner.type.min, inner.type.max
            assert low is not None
            assert high is not None
            for excess in (sub(inner.arg, const(high)), sub(const(low), inner.arg)):
                found += [replace(candidate, wraps=True) for candidate in _positive(excess, counter)]
                given.append(at_most_zero(substitute(excess, {counter: ZERO})))
        found += _failing(plain, counter)
    except NoClosedForm as failure:
        if isinstance(condition, Compare) and counter not in _moving_part(condition.term, counter).variables:
            raise reason from None
        raise NoExitTime(str(failure)) from None
    return Candidates(tuple(found), conjunction(given))


def _moving_part(term: Term, counter: Var) -> Term:
    return from_polynomial({m: c for m, c in polynomial(term).items() if any(counter in a.variables for a, _ in m)})


def _without_wraps(condition: Condition, counter: Var) -> tuple[Condition, list[Wrap]]:
    """The condition with each reduced value that moves as it is before it is reduced, and these reductions."""
    found = [n for n in walk(condition) if isinstance(n, Wrap) and counter in n.variables and n.type.width is not None]
    if not found:
        return condition, []
    if any(isinstance(n, Wrap) and counter in n.variables for outer in found for n in walk(outer.arg)):
        raise NoExitTime("it is about a value that is reduced twice")
    return _stripped(condition, {inner: inner.arg for inner in found}), found


def _stripped(condition: Condition, plain: Mapping[Term, Term]) -> Condition:
    match condition:
        case Compare():
            build = {"le": at_most_zero, "eq": equals_zero, "ne": not_zero}[condition.relation]
            return build(replace_terms(condition.term, plain))
        case Or():
            raise NoExitTime("it is about several values that wrap around")
        case _:
            raise NoExitTime("it is not about one value that moves")


def _failing(condition: Condition, counter: Var) -> list[Candidate]:
    """When ``condition``, in which nothing is reduced, fails first. Raises NotMoving and NoClosedForm."""
    match condition:
        case Compare():
            quotient = _quotient(condition, counter)
            if quotient is not None:
                return quotient
            if condition.relation == "le":
                return _positive(condition.term, counter)
            if condition.relation == "eq":
                return _nonzero(condition.term, counter)
            return _zero(condition.term, counter)
        case Or():
            return [_all_failing(condition, counter)]
        case _:
            if counter not in condition.variables:
                return [Candidate((ExitTime(TRUE, negate(condition), ZERO),))]
            raise NoExitTime("it is not about one value that moves")


def _all_failing(condition: Or, counter: Var) -> Candidate:
    """Alternatives of which each, once it fails, fails for ever: the last one decides."""
    exists: list[Condition] = []
    times: list[Term] = []
    for part in condition.args:
        if counter not in part.variables:
            exists.append(negate(part))
            continue
        found = _positive(part.term, counter) if isinstance(part, Compare) and part.relation == "le" else []
        form = found[0].forms[0] if len(found) == 1 and len(found[0].forms) == 1 else None
        if form is None or form.curve is None or not _never_falls(form.curve):
            raise NoExitTime("of its alternatives one may fail and hold again")
        exists.append(form.exists)
        times.append(maximum(ZERO, form.time))
    return Candidate((ExitTime(TRUE, conjunction(exists), maximum(*times)),))


def _never_falls(curve: Coefficients) -> bool:
    return all(_at_least(c, 0) for key, c in curve.items() if key != (1, 0))


def _at_least(term: Term, bound: int) -> bool:
    low = range_of(term)[0]
    return low is not None and low >= bound


def _at_most(term: Term, bound: int) -> bool:
    high = range_of(term)[1]
    return high is not None and high <= bound


def comes_first(one: Coefficients, other: Coefficients) -> bool:
    """Whether ``one`` surely is positive wherever ``other`` is."""
    keys = one.keys() | other.keys()
    return all(_at_least(sub(one.get(key, ZERO), other.get(key, ZERO)), 0) for key in keys)


def _residues(term: Term, counter: Var) -> tuple[Coefficients, ...]:
    found = curves_of(term, counter)
    if len(found) > MAX_RESIDUES:
        raise NoExitTime(f"it takes turns with a period of {len(found)}")
    return found


def _positive(term: Term, counter: Var) -> list[Candidate]:
    """When ``term``, at most 0 at the entry, is positive first."""
    curves = _residues(term, counter)
    if len(curves) == 1:
        return [Candidate(_rising(curves[0]))]
    period = len(curves)
    return [_of_residue(first_positive(c), period, r, certain=eventually_positive(c)) for r, c in enumerate(curves)]


def _zero(term: Term, counter: Var) -> list[Candidate]:
    curves = _residues(term, counter)
    return [_of_residue(first_zero(c), len(curves), r, certain=False) for r, c in enumerate(curves)]


def _nonzero(term: Term, counter: Var) -> list[Candidate]:
    """When ``term``, 0 at the entry, is not 0 first: as soon as ever, for it is a recurrence of known order."""
    curves = _residues(term, counter)
    order = len(curves) * max(_order(curve) for curve in curves)
    if order > MAX_ORDER:
        raise NoExitTime("it is an equality of too many different powers")
    candidates = []
    for k in range(1, order):
        differs = not_zero(substitute(term, {counter: const(k)}))
        candidates.append(Candidate((ExitTime(TRUE, differs, const(k)),)))
    return candidates


def _order(curve: Coefficients) -> int:
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
    time = first_positive(curve)
    form = ExitTime(TRUE, greater_equal(time, ZERO), add(time, const(offset)), curve)
    return replace(candidate, forms=(form,))


def _of_residue(time: Term, period: int, residue: int, *, certain: bool) -> Candidate:
    exists = TRUE if certain else greater_equal(time, ZERO)
    return Candidate((ExitTime(TRUE, exists, add(scale(time, period), const(residue))),))


def _rising(curve: Coefficients) -> tuple[ExitTime, ...]:
    """When the curve, at most 0 at k = 0, is positive first."""
    moving = {key: c for key, c in curve.items() if key != (1, 0) and c is not ZERO}
    if all(_at_most(c, 0) for c in moving.values()):
        return (ExitTime(TRUE, FALSE, ZERO, curve),)
    straight = moving.keys() == {(1, 1)}
    time = _quotient_of(moving[1, 1], curve.get((1, 0), ZERO)) if straight else first_positive(curve)
    if eventually_positive(curve):
        return (ExitTime(TRUE, TRUE, time, curve),)
    if len(moving) > 1:
        return (ExitTime(TRUE, greater_equal(time, ZERO), time, curve),)
    rises = greater(next(iter(moving.values())), ZERO)  # then it does so without end, else never
    return ExitTime(rises, TRUE, time, curve), ExitTime(negate(rises), FALSE, ZERO, curve)


def at_entry(candidates: Candidates, offset: int = 0) -> Candidates:
    """The same for entry values where the condition holds at the entry: what fails there never does. ``offset``: so
    many iterations come before, which the times then count too.
    """
    return replace(
        candidates, candidates=tuple(replace(r, forms=tuple(_later(r.forms, offset))) for r in candidates.candidates)
    )


def until_first(shown: Condition, counter: Var, count: Term, otherwise: Exception) -> Condition:
    """That ``shown``, after ``counter`` iterations, holds for all counters from 0 to ``count`` - 1: by the first time
    at which it fails. Raises ``otherwise`` if that is not known.
    """
    try:
        found = at_entry(candidates_of(shown, counter))
    except NoExitTime:
        raise otherwise from None
    if found.given is not TRUE or any(candidate.wraps for candidate in found.candidates):
        raise otherwise  # a value that wraps around does not fail, it only is not known from there on
    parts = [
        disjunction((negate(form.guard), negate(form.exists), less_equal(count, form.time)))
        for candidate in found.candidates
        for form in candidate.forms
    ]
    started = conjunction((substitute(shown, {counter: ZERO}), *parts))
    return disjunction((less_equal(count, ZERO), started))


def _later(forms: tuple[ExitTime, ...], offset: int) -> Iterator[ExitTime]:
    if len(forms) == 1 and forms[0].curve is not None and forms[0].time is not ZERO:
        forms = _rising(forms[0].curve)
    for form in forms:
        exists = FALSE if form.time is ZERO else form.exists
        yield replace(form, exists=exists, time=add(form.time, const(offset)))


def _quotient_of(slope: Term, start: Term) -> Term:
    """The least k with slope·k + start > 0, for slope > 0 and start ≤ 0."""
    behind = sub(slope, start)
    before = neg(start)
    if len(polynomial(before)) < len(polynomial(behind)):
        return add(floor_div(before, slope), ONE)
    return floor_div(behind, slope)


# Repeated division: a quotient by a power that grows with the counter.


def _quotient(condition: Compare, counter: Var) -> list[Candidate] | None:
    """The candidates of a condition on one quotient by a growing power; None for other conditions."""
    moving = {m: c for m, c in polynomial(condition.term).items() if any(counter in a.variables for a, _ in m)}
    if len(moving) != 1:
        return None
    monomial, factor = next(iter(moving.items()))
    atom = monomial[0][0]
    if len(monomial) != 1 or monomial[0][1] != 1 or not isinstance(atom, Op):
        return None
    if atom.op not in ("floor_div", "trunc_div") or counter not in atom.args[1].variables:
        return None
    rest = sub(condition.term, scale(atom, factor))
    whole = _Quotient(atom.op == "trunc_div", atom.args[0], atom.args[1], counter)
    size = abs(factor)
    if condition.relation == "le":  # factor·q + rest ≥ 1 is where it fails
        if factor > 0:
            return [Candidate(tuple(whole.at_least(neg(floor_div(sub(rest, ONE), const(size))))))]
        return [Candidate(tuple(whole.at_most(floor_div(sub(rest, ONE), const(size)))))]
    if size > 1:
        raise NoExitTime("it compares a multiple of a quotient")
    wanted = neg(rest) if factor > 0 else rest
    if condition.relation == "eq":
        return [
            Candidate(tuple(whole.at_least(add(wanted, ONE)))),
            Candidate(tuple(whole.at_most(sub(wanted, ONE)))),
        ]
    return [Candidate(tuple(whole.equal(wanted)))]


@dataclass(frozen=True, slots=True)
class _Quotient:
    """floor(value / divisor), or C's quotient if ``truncated``; the divisor is positive and grows with ``counter``."""

    truncated: bool
    value: Term
    divisor: Term
    counter: Var

    def at_least(self, bound: Term) -> Iterator[ExitTime]:
        """When the quotient is ≥ ``bound`` first, if it is not at k = 0."""
        # truncated: q ≥ m means value ≥ m·divisor for m ≥ 1, and value > (m - 1)·divisor for m ≤ 0
        plain = add(sub(self.value, mul(bound, self.divisor)), ONE)
        yield from self._cases(bound, plain, sub(self.value, mul(sub(bound, ONE), self.divisor)), ONE)

    def at_most(self, bound: Term) -> Iterator[ExitTime]:
        """When the quotient is ≤ ``bound`` first, if it is not at k = 0."""
        # q ≤ m means value < (m + 1)·divisor; truncated and m ≤ -1, value ≤ m·divisor
        plain = sub(mul(add(bound, ONE), self.divisor), self.value)
        yield from self._cases(bound, plain, add(sub(mul(bound, self.divisor), self.value), ONE), ZERO)

    def _cases(self, bound: Term, floored: Term, other: Term, least: Term) -> Iterator[ExitTime]:
        """``floored`` > 0 decides, but for a truncated quotient whose bound is below ``least``: the ``other``."""
        usual = greater_equal(bound, least)
        if not self.truncated or usual is TRUE or _at_least(self.value, 0):
            yield from self._first(TRUE, floored)
            return
        yield from self._first(usual, floored)
        yield from self._first(negate(usual), other)

    def _first(self, guard: Condition, excess: Term) -> Iterator[ExitTime]:
        for candidate in self._single(excess):
            for form in candidate.forms:
                yield replace(form, guard=conjunction((guard, form.guard)))

    def _single(self, excess: Term) -> list[Candidate]:
        found = _positive(excess, self.counter)
        if len(found) != 1:
            raise NoExitTime("it is about a quotient that takes turns")
        return found

    def equal(self, wanted: Term) -> Iterator[ExitTime]:
        """When the quotient is ``wanted`` first, if it is not at k = 0."""
        if self.counter in self.value.variables:
            raise NoExitTime("it is about the quotient of a value that moves")
        if wanted is ZERO and (self.truncated or _at_least(self.value, 0)):
            size = maximum(self.value, neg(self.value))
            yield from self._first(TRUE, sub(self.divisor, size))
            return
        # a quotient falls from above to 0, and rises from below to 0 or -1
        natural = greater_equal(self.value, ZERO)
        for guard, forms in ((natural, self.at_most(wanted)), (negate(natural), self.at_least(wanted))):
            for form in forms:
                there = equal(self._at(form.time), wanted)
                yield ExitTime(conjunction((guard, form.guard)), conjunction((form.exists, there)), form.time)

    def _at(self, time: Term) -> Term:
        divisor = substitute(self.divisor, {self.counter: maximum(ZERO, time)})
        return operation("trunc_div" if self.truncated else "floor_div", (self.value, divisor))


def consequences(condition: Condition) -> Iterator[Condition]:
    """What follows, in plainer terms, where the condition says that curves are never positive: their first values are
    not, and what grows fastest is negative, or 0 and the next part is.
    """
    for part in conjuncts(condition):
        if not isinstance(part, Compare) or part.relation != "le":
            continue
        atoms = [atom for atom in walk(part.term) if isinstance(atom, Op) and atom.op == "first_positive"]
        if len(atoms) != 1 or part.term is not add(atoms[0], ONE):
            continue
        curve = coefficients(atoms[0].args)
        try:
            yield from (at_most_zero(curve_at(curve, const(k))) for k in range(_FIRST_VALUES))
        except TermTooLarge:
            continue
        falls: Condition = TRUE
        for key in sorted(curve):
            falls = disjunction((less(curve[key], ZERO), conjunction((equals_zero(curve[key]), falls))))
        yield falls


_FIRST_VALUES: Final = 4
"""Values of a curve, the first ones, of which it is asked whether they are negative already. A guess."""

"""How often facts hold from the first iteration on, by what one iteration does to induction variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopless import terms as t
from loopless.bounds.induction.halving import divisions, euclid, is_remainder, log, quotient_of
from loopless.bounds.induction.slacks import fallen
from loopless.bounds.iteration.body_facts import LoopBodyFacts
from loopless.bounds.iteration.facts import Facts, split
from loopless.bounds.model import size
from loopless.limits.bounds import LARGE_CONSTANT
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class InductionFact:
    """``linear`` ≤ ``most``, or for None ``linear`` ≠ 0, in every completed iteration."""

    linear: t.Term
    most: int | None

    def fails(self, facts: Facts, whole: LoopBodyFacts) -> bool:
        """Whether it does not hold where ``facts`` do."""
        if not facts.possible:
            return True
        intervals = whole.intervals
        if self.most is None:
            return facts.imply(self.linear, intervals) and facts.imply(-self.linear, intervals)
        return facts.contradict(self.linear, self.most, intervals)


@dataclass(frozen=True, slots=True)
class FactCount:
    """A bound on the iterations in which a fact holds from the first one on; ``exact``: it fails right behind them.

    ``never``: where the fact always holds, as where its limit is the end of the type, or beyond.
    """

    term: t.Term
    fact: InductionFact
    exact: bool = False
    when: t.Condition = t.TRUE
    never: t.Condition = t.FALSE


class Counts:
    """The counts that the facts of a loop give."""

    def __init__(self, whole: LoopBodyFacts) -> None:
        self.whole = whole
        self.changed = whole.changed - whole.steady
        self.after = {v: whole.intervals.unwrapped(term, whole.facts) for v, term in whole.after.items()}

    def all(self) -> Iterator[FactCount]:
        """All counts. Those of what holds at the end of an iteration are about the value that it has then."""
        facts = self.whole.facts
        every = [InductionFact(linear, most) for linear, most in facts.most.items()]
        every += [InductionFact(term, None) for term in facts.unequal]
        for fact in every:
            try:
                yield from self._at_the_beginning(fact)
                yield from self._at_the_end(fact)
            except t.TermTooLarge:
                continue

    def slacks(self) -> list[t.Term]:
        """Terms that are at least 0 in every completed iteration."""
        facts, intervals = self.whole.facts, self.whole.intervals
        plain = (most - intervals.unwrapped(linear, facts) for linear, most in facts.most.items())
        found = (self._slack(term)[0] for term in plain)
        return [slack for slack in found if slack is not None]

    def visits(self, facts: Facts) -> t.Term | None:
        """A bound on the visits of a place where ``facts`` hold, of which there is at most one in an iteration."""
        found = [fact for linear, most in facts.most.items() for fact in self._strictly(InductionFact(linear, most))]
        found += [count.term + 1 for count in self.all() if count.when is t.TRUE]
        return min(found, key=lambda term: (size(term), term.key), default=None)

    def _strictly(self, fact: InductionFact) -> Iterator[t.Term]:
        """The count of a fact that need not hold in iterations that do not come past."""
        assert fact.most is not None
        slack, _ = self._slack(fact.most - fact.linear)
        if slack is not None:
            step = self.step(slack)
            high = None if step is None else self.whole.intervals.range_of(step)[1]
            if high is not None and high < 0:
                yield fallen(slack, -high)

    def step(self, linear: t.Term) -> t.Term | None:
        """By how much an iteration changes a linear term; None where that is not known, or it may wrap around."""
        found = self._step(linear, self.whole.facts, held=False)
        return None if found is None else found[0]

    def _at_the_beginning(self, fact: InductionFact) -> Iterator[FactCount]:
        if fact.most is None:
            yield from self._unequal(fact, fact.linear, {})
            yield from self._strides(fact, fact.linear, {})
            yield from self._quotient(fact)
            return
        slack, sharp = self._slack(fact.most - fact.linear)
        if slack is not None:
            yield from self._falling(fact, slack, self.whole.facts, {}, sharp=sharp)
            yield from self._around(fact, slack, {}, sharp=sharp)
            if sharp:
                yield from self._shrinking(fact, slack)
        yield from self._bits(fact)

    def _at_the_end(self, fact: InductionFact) -> Iterator[FactCount]:
        """Where a fact speaks of what a variable will be, and of nothing else that changes."""
        becomes: dict[t.Term, t.Term] = {
            term: v for v, term in self.whole.after.items() if isinstance(term, t.Wrap) and self.is_named(term)
        }
        changing = frozenset(self.whole.after) | self.changed
        there = t.replace_terms(fact.linear, becomes)
        if there is fact.linear or not isinstance(there, t.Term):
            return
        spoken = there.variables & changing
        if not t.replace_terms(fact.linear, dict.fromkeys(becomes, t.ZERO)).variables.isdisjoint(changing):
            return
        first = {v: self.whole.after[v] for v in spoken if v in self.whole.after}
        if len(first) != len(spoken):
            return
        if fact.most is None:
            yield from self._unequal(fact, there, first)
            yield from self._strides(fact, there, first)
            return
        slack, sharp = self._slack(fact.most - there)
        if slack is not None and sharp:
            linear, constant = split(there - fact.most)
            known = Facts({**self.whole.facts.most, linear: -constant}, self.whole.facts.unequal)
            yield from self._falling(fact, slack, known, first, sharp=self._never_falls_faster(slack))
            yield from self._around(fact, slack, first, sharp=False)

    def _never_falls_faster(self, slack: t.Term) -> bool:
        """Whether an iteration that is not completed, of which no fact need hold, makes a linear term fall by no more
        than others do: each part falls by a number, and where one wraps around the term only grows.
        """
        changing = ((m[0][0], c) for m, c in t.polynomial(slack).items() if not self.is_same(m))
        for atom, coefficient in changing:
            after = self._after(atom, self.whole.after)
            if not isinstance(after, t.Wrap) or not isinstance(atom, t.Var | t.Wrap) or after.type != atom.type:
                return False
            by = after.arg - atom
            if not isinstance(by, t.Const) or coefficient * by.value > 0:
                return False
        return True

    def is_same(self, monomial: t.Monomial) -> bool:
        """Whether no iteration changes it."""
        return all(atom.variables.isdisjoint(self.changed) for atom, _ in monomial)

    def is_named(self, term: t.Term) -> bool:
        """Whether a term speaks of no symbols."""
        return term.variables.isdisjoint(self.whole.intervals.symbols)

    # -- what is linear in induction variables ------------------------------------------------------------------------

    def _slack(self, term: t.Term) -> tuple[t.Term | None, bool]:
        """A term of variables, and of what does not change, that is at least as great as ``term``; and whether it is
        the same. None where there is none.
        """
        changing = frozenset(self.whole.after) | self.changed
        symbols = self.whole.intervals.symbols
        parts: dict[t.Monomial, int] = {}
        beside, sharp = 0, True
        for monomial, coefficient in t.polynomial(term).items():
            single = len(monomial) == 1 and monomial[0][1] == 1
            plain = all(
                atom.variables.isdisjoint(changing) and atom.variables.isdisjoint(symbols) for atom, _ in monomial
            )
            if plain or (single and self._follows(monomial[0][0])):
                parts[monomial] = coefficient
                continue
            low, high = self.whole.intervals.range_of(t.from_polynomial({monomial: 1}))
            end = high if coefficient > 0 else low
            if end is None or abs(end * coefficient) >= LARGE_CONSTANT:
                return None, False
            beside, sharp = beside + coefficient * end, False
        return t.from_polynomial(parts) + beside, sharp

    def _follows(self, atom: t.Term) -> bool:
        """Whether something is known of an atom behind an iteration, or it is a variable that the program has."""
        if isinstance(atom, t.Var):
            return atom not in self.whole.intervals.symbols
        return self._after(atom) is not None

    def _after(self, atom: t.Term, values: Mapping[t.Var, t.Term] | None = None) -> t.Term | None:
        """What becomes of a variable, or of what a sum of variables is modulo 2^width. ``values``: others than those
        behind completed iterations.
        """
        values = self.after if values is None else values
        if not isinstance(atom, t.Wrap):
            return values.get(atom) if isinstance(atom, t.Var) else None
        # What a quotient of an unreduced variable is tells nothing, not even modulo 2^width.
        inside = {
            v for m in t.polynomial(atom.arg) for part, _ in m if not isinstance(part, t.Var) for v in part.variables
        }
        becomes = {v: term if v in inside else _unreduced(term, v, atom.type.width) for v, term in values.items()}
        try:
            moved = t.substitute(atom.arg, becomes)
        except t.TermTooLarge:
            return None
        by = moved - atom.arg
        known = by.variables <= self.whole.intervals.symbols and self.is_named(atom)
        known = known and (atom.variables & self.changed) <= values.keys()
        return t.Wrap(atom + by, atom.type) if known else None

    def _step(self, slack: t.Term, facts: Facts, *, held: bool) -> tuple[t.Term, t.Condition] | None:
        """By how much an iteration changes a linear term, and where nothing wraps around that it speaks of; ``held``:
        whether the term is at least 0 in every completed iteration.
        """
        changed: list[t.Term] = []
        when: list[t.Condition] = []
        for monomial, coefficient in t.polynomial(slack).items():
            if self.is_same(monomial):
                continue
            var = monomial[0][0]
            after = self._after(var) if len(monomial) == 1 and monomial[0][1] == 1 else None
            if after is None:
                return None  # it is changed in a way of which nothing is known
            value = self.whole.intervals.unwrapped(after, facts)
            if isinstance(value, t.Wrap) and isinstance(var, t.Var | t.Wrap) and value.type == var.type:
                fits = self._fits(var, value.arg - var, slack, coefficient) if held else None
                if fits is None:
                    return None
                when.append(fits)
                value = value.arg
            changed.append((value - var) * coefficient)
        return t.add(*changed), t.conjunction(when)

    def _fits(self, var: t.Var | t.Wrap, by: t.Term, slack: t.Term, coefficient: int) -> t.Condition | None:
        """Where ``var`` + ``by`` does not wrap around while ``slack`` ≥ 0, over what does not change."""
        low, high = self.whole.intervals.range_of(by)
        if by.variables - self.whole.intervals.symbols or abs(coefficient) != 1:
            return None
        rest = slack - var * coefficient
        if not rest.variables.isdisjoint(self.changed) or var.type.max is None or var.type.min is None:
            return None
        if coefficient < 0 and low is not None and low >= 0 and high is not None:  # var ≤ rest
            return (rest + high).le(var.type.max)
        if coefficient > 0 and high is not None and high <= 0 and low is not None:  # var ≥ -rest
            return (low - rest).ge(var.type.min)
        return None

    def _falling(
        self, fact: InductionFact, slack: t.Term, facts: Facts, first: Mapping[t.Var, t.Term], *, sharp: bool
    ) -> Iterator[FactCount]:
        """``slack`` is at least 0 in every iteration, or behind it, where ``first`` says what the first one makes of
        variables.
        """
        found = self._step(slack, facts, held=True)
        if found is None:
            return
        step, when = found
        low, high = self.whole.intervals.range_of(step)
        if high is None or high >= 0:
            return
        start = t.substitute(slack, first) if first else slack
        exact = sharp and low == high
        # In single steps a variable is within the limit or at the end of its type, which is no further.
        yield FactCount(fallen(start, -high), fact, exact, when, ~when if exact and high == -1 else t.FALSE)

    def _around(
        self, fact: InductionFact, slack: t.Term, first: Mapping[t.Var, t.Term], *, sharp: bool
    ) -> Iterator[FactCount]:
        """A variable is at most a limit in every iteration and falls, until it wraps around to beyond the limit."""
        changing = [(m, c) for m, c in t.polynomial(slack).items() if not self.is_same(m)]
        if len(changing) != 1 or len(changing[0][0]) != 1 or changing[0][1] != -1:
            return
        ((var, power),) = changing[0][0]
        value = self._after(var) if power == 1 and isinstance(var, t.Var | t.Wrap) else None
        if not isinstance(var, t.Var | t.Wrap) or not isinstance(value, t.Wrap) or value.type != var.type:
            return
        least, most, by = var.type.min, var.type.max, value.arg - var
        low, high = self.whole.intervals.range_of(by)
        if by.variables - self.whole.intervals.symbols or low is None or high is None or high >= 0:
            return
        if least != 0 or most is None or -low > most:
            return
        limit = slack + var
        when = (limit - low).le(most)
        start, held = (t.substitute(term, first) if first else term for term in (var, slack))
        count, top = start // -high + 1, self.whole.intervals.range_of(limit)[1]
        if sharp and low == high:
            yield FactCount(t.ite(held.ge(0), count, t.ZERO), fact, exact=True, when=when)
        short = top is not None and top < LARGE_CONSTANT
        yield FactCount(t.const(max(0, top // -high + 1)) if top is not None and short else count, fact, when=when)

    def _unequal(self, fact: InductionFact, term: t.Term, first: Mapping[t.Var, t.Term]) -> Iterator[FactCount]:
        """``term`` ≠ 0, and every iteration moves it by 1, modulo 2^width."""
        if not self.is_named(term):
            return
        # Behind an iteration that is not completed, facts need not hold by which values were shown not to wrap around.
        values = self.whole.after if first else self.after
        steps = 0
        widths = set()
        for monomial, coefficient in t.polynomial(term).items():
            if self.is_same(monomial):
                continue
            var = monomial[0][0]
            if len(monomial) > 1 or monomial[0][1] > 1 or not isinstance(var, t.Var) or var not in values:
                return
            value = values[var]
            moved = (value.arg if isinstance(value, t.Wrap) and value.type == var.type else value) - var
            if not isinstance(moved, t.Const):
                return
            steps += coefficient * moved.value
            widths.add(var.type.width)
        low, high = t.range_of(term)
        if len(widths) != 1 or steps not in (1, -1) or low is None or high is None:
            return
        (width,) = widths
        if width is None or low <= -(1 << width) or high >= 1 << width:
            return
        start = (t.substitute(term, first) if first else term) * -steps
        least = t.range_of(start)[0]
        count = start if least is not None and least >= 0 else t.wrap(start, t.IntType(width, signed=False))
        yield FactCount(count, fact, exact=True)

    def _strides(self, fact: InductionFact, term: t.Term, first: Mapping[t.Var, t.Term]) -> Iterator[FactCount]:
        """``term`` ≠ 0, and every iteration moves it by more than 1, or by what does not change: it is met where the
        distance is a multiple of that, and nothing wraps around before, since all values lie between the first and that
        where the term is 0.
        """
        values = self.whole.after if first else self.after
        moving = [(m, c) for m, c in t.polynomial(term).items() if not self.is_same(m)]
        if not self.is_named(term) or len(moving) != 1 or len(moving[0][0]) != 1 or abs(moving[0][1]) != 1:
            return
        (((var, power),), sign) = moving[0]
        if power != 1 or not isinstance(var, t.Var) or var not in values:
            return
        value = values[var]
        by = (value.arg if isinstance(value, t.Wrap) and value.type == var.type else value) - var
        same = self.is_named(by) and by.variables.isdisjoint(self.changed)
        met, (least, most) = var - term * sign, (var.type.min, var.type.max)
        low, high = self.whole.intervals.range_of(met)
        inside = least is None or (low is not None and low >= least)
        inside = inside and (most is None or (high is not None and high <= most))
        if not same or not inside or (isinstance(by, t.Const) and abs(by.value) <= 1):
            return
        distance = (t.substitute(term, first) if first else term) * -sign
        for length, stride in ((distance, by), (-distance, -by)):
            fastest, farthest = t.range_of(stride)[1], t.range_of(length)[1]
            if (fastest is None or fastest >= 1) and (farthest is None or farthest >= 0):
                when = [stride.ge(1), length.ge(0), (length % stride).eq(0)]
                yield FactCount(length // stride, fact, exact=True, when=t.conjunction(when))

    def _quotient(self, fact: InductionFact) -> Iterator[FactCount]:
        """A variable that is not 0, and is divided: rounded to 0 in any case, rounded down if it is not negative."""
        var = fact.linear
        if not isinstance(var, t.Var) or var not in self.after:
            return
        value, (low, high) = self.after[var], t.range_of(var)
        if self._is_remainder(var) and isinstance(value, t.Op) and value.op == "trunc_rem":
            if low is not None and high is not None:  # the same of what they are without their signs
                yield FactCount(t.const(euclid(max(-low, high))), fact)
            return
        by = quotient_of(value, var)
        if by is not None and isinstance(value, t.Op):
            to_zero = value.op == "trunc_div"
            start = t.maximum(var, -var) if to_zero else var
            # What is negative stays so where it is rounded down, and never is 0.
            when = t.TRUE if to_zero else var.ge(0)
            yield FactCount(log(start, by), fact, True, when, ~when)

    def _shrinking(self, fact: InductionFact, slack: t.Term) -> Iterator[FactCount]:
        """A variable that is positive in every iteration, and is divided, or loses a bit, by each."""
        linear, constant = split(slack)
        if not isinstance(linear, t.Var) or constant >= 0 or linear not in self.after:
            return
        value = self.after[linear]
        by, most = quotient_of(value, linear), t.range_of(linear)[1]
        if by is not None:
            # The value is at least -constant ≥ 1: however it is rounded, k divisions leave floor(value / by^k).
            yield FactCount(log(linear, by, -constant), fact, exact=True)
            return
        if most is not None and self._is_remainder(linear):
            yield FactCount(t.const(euclid(most)), fact)
        times = None if most is None else divisions(value, linear, most)
        if times is not None:
            yield FactCount(t.const(times), fact)

    def _bits(self, fact: InductionFact) -> Iterator[FactCount]:
        """Some bits that do not change, of which one is set in a value that is shifted right by each iteration: until
        it has none of them, or nothing is left of it.
        """
        bits = -fact.linear
        if fact.most != -1 or not isinstance(bits, t.Op) or bits.op != "bit_and":
            return
        for var, mask in (bits.args, bits.args[::-1]):
            if not isinstance(var, t.Var) or var not in self.after or not mask.variables.isdisjoint(self.changed):
                continue
            by, (low, high) = quotient_of(self.after[var], var), t.range_of(var)
            if by is None or by & (by - 1) or low is None or low < 0 or high is None or not self.is_named(mask):
                continue
            shift, at = by.bit_length() - 1, t.position()
            left = t.shift_right(var, at * shift)
            length = t.const(-(-high.bit_length() // shift))
            yield FactCount(t.first(at, length, t.bit_and(mask, left).eq(0)), fact, exact=True)

    def _is_remainder(self, var: t.Var) -> bool:
        """Whether a variable becomes the remainder of another by it, and the other what it was."""
        other = is_remainder(self.after[var], var)
        return other is not None and self.after.get(other) is var


def _unreduced(value: t.Term, var: t.Var, width: int | None) -> t.Term:
    """A term that is the new value modulo 2^width."""
    plain = isinstance(value, t.Wrap) and value.type.width is not None and value.type.width == width == var.type.width
    return value.arg if plain and isinstance(value, t.Wrap) else value

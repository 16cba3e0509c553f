"""Bounds carried outwards: from the entry of an inner loop to that of the loop around it, and to the function's.

An inner loop's bound at its k-th entry is summed over the entries, not multiplied by their number (Looperman, section
3.4). What a loop has made of variables is bounded by what its iterations add to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from loopless import terms as t
from loopless.bounds.asymptotics.compare import lesser
from loopless.bounds.induction.loop_counts import LoopCounts, What
from loopless.bounds.induction.measures import Becomes, Grows, at_least_one, entails, most_of
from loopless.bounds.looperman.amortized import amortized
from loopless.bounds.looperman.scopes import HavocLoop, Scope, SymbolicState
from loopless.bounds.looperman.sums import sum_of_progression
from loopless.bounds.model import Bounds, TermBound, both, by_types, kept, least, plus, positive
from loopless.limits.bounds import MAX_EARLIER_MEASURES, MAX_TYPE_BOUND


def lifted(counter: LoopCounts, base: str, header: str, what: What) -> Iterator[TermBound]:
    """Bounds over the entry of ``base`` from those over the entries of the loop ``header``, which lies inside."""
    around = counter.scopes.by_header[header].parent
    assert around is not None
    if around == base:
        scope = counter.scope(around)
        if scope is not None:
            for bound in counter.count(header, header, what):
                yield from _summed(counter, scope, header, bound)
        return
    for bound in counter.count(around, header, what):
        yield from carried(counter, base, around, bound)


def carried(counter: LoopCounts, base: str, header: str, bound: TermBound) -> Iterator[TermBound]:
    """A bound over one entry of the loop ``header``, summed over all its entries during one entry of ``base``."""
    around = counter.scopes.by_header[header].parent
    scope = counter.scope(around) if around is not None else None
    if scope is None or around is None:
        return
    for sum in _summed(counter, scope, header, bound):
        if around == base:
            yield sum
        else:
            yield from carried(counter, base, around, sum)


def over_call(counter: LoopCounts, header: str, bound: TermBound) -> Iterator[TermBound]:
    """A bound over one entry of an outermost loop as one over a call of the function, which enters it once at most."""
    function = counter.scope("")
    if function is None:
        return
    found: list[t.Term] = []
    when: t.Condition = t.TRUE
    for state in function.visits.get(header, ()):
        at = _at(counter, function, state, bound)
        if at is None:
            return
        found.append(at.term)
        when = both(when, at.when)
    yield TermBound(t.maximum(t.ZERO, *found), when)


def of_any_entry(counter: LoopCounts, header: str, bound: TermBound) -> Iterator[TermBound]:
    """A bound over one entry of a loop as one over a call of the function: no entry in the call exceeds it."""
    around = counter.scopes.by_header[header].parent
    if around is None:
        yield from over_call(counter, header, bound)
        return
    scope = counter.scope(around)
    if scope is None:
        return
    found: list[t.Term] = []
    for state in scope.visits.get(header, ()):
        at = _at(counter, scope, state, bound)
        term = None if at is None or at.when is not t.TRUE else _worst(counter, scope, header, at.term)
        if term is None:
            return
        found.append(term)
    yield from of_any_entry(counter, around, TermBound(t.maximum(t.ZERO, *found)))


def _worst(counter: LoopCounts, scope: Scope, header: str | None, term: t.Term) -> t.Term | None:
    """A term over the entry of a loop that ``term`` exceeds at the beginning of no iteration that enters the loop
    ``header`` inside; for None of no iteration at all.
    """
    before = None if header is None else _iterations_before(counter, scope, header)
    try:
        return raised(term, scope.changed, lambda part: most_after(counter, scope.header, part, before))
    except t.TermTooLarge:
        return None


def _iterations_before(counter: LoopCounts, scope: Scope, header: str) -> t.Term | None:
    """A bound on the iterations that are completed before one that enters the loop ``header`` inside: where all of
    them enter it, each but the last entry is of one that comes before.
    """
    # What an iteration may have visited need not have been; but only paths that passed the same loops are one.
    if all(any(havoc.header == header for havoc in iteration.passed) for iteration in scope.iterations):
        entries = least(counter.count(scope.header, scope.header, header))
        return None if entries is None else positive(entries - 1)
    constants = counter.constants.get(scope.header, {})
    for measure in [term for term in counter.measures(scope) if not by_types(term)][:MAX_EARLIER_MEASURES]:
        steps = [counter.effect(scope.header, measure, iteration) for iteration in scope.iterations]
        falls = [-s.by.value for s in steps if isinstance(s, Grows) and isinstance(s.by, t.Const)]
        if len(falls) < len(steps) or min(falls, default=0) < 1 or counter.reads_written(scope.header, measure):
            continue
        # Inner loops may change it, too.
        inside = [h for h in counter.scopes.inside(scope.header) if h != scope.header]
        if not measure.variables.isdisjoint(frozenset().union(*(counter.changed(h) for h in inside))):
            continue
        if all(entails(state.holds, at_least_one(measure)) for state in scope.visits.get(header, ())):
            return positive((t.substitute(measure, constants) - 1) // min(falls))
    return None


def _at(counter: LoopCounts, scope: Scope, state: SymbolicState, bound: TermBound) -> TermBound | None:
    """The bound, which is over where ``state`` is, over the beginning of the scope; None where that is not possible."""
    if any(counter.reads_written(scope.header, term) for term in (bound.term, *_terms(bound.when))):
        return None
    try:
        here = bound.at(state.values)
        term = above(counter, here.term, state)
    except t.TermTooLarge:
        return None
    if term is None:
        return None
    return TermBound(term, here.when) if here.when.variables <= counter.variables else None


def _terms(condition: t.Condition) -> Iterator[t.Term]:
    return (node.term for node in t.walk(condition) if isinstance(node, t.Compare))


# -- what is not known ------------------------------------------------------------------------------------------------


def above(counter: LoopCounts, term: t.Term, state: SymbolicState) -> t.Term | None:
    """A term over the beginning of the scope that is nowhere less than ``term``, which may speak of values that inner
    loops have made or that come from outside.
    """

    def of_inputs(part: t.Term) -> t.Term | None:
        most = most_of(part, state.holds)
        return t.const(most) if most is not None and most <= MAX_TYPE_BOUND else None

    for havoc in reversed(state.passed):
        symbols = frozenset(symbol for _, symbol in havoc.after)

        def of_havoc(part: t.Term, havoc: HavocLoop = havoc) -> t.Term | None:
            return _after(counter, part, havoc) or of_inputs(part)

        found = raised(term, symbols, of_havoc)
        if found is None:
            return None
        term = found
    foreign = term.variables - counter.variables
    return raised(term, foreign, of_inputs) if foreign else term


def _after(counter: LoopCounts, part: t.Term, havoc: HavocLoop) -> t.Term | None:
    """A bound on a linear term over what an inner loop has made of variables, at the loop's entry."""
    back = {symbol: var for var, symbol in havoc.after}
    measure = t.substitute(part, back)
    grown = most_after(counter, havoc.header, measure)
    if grown is None:
        return None
    return t.substitute(grown, havoc.entry())


def most_after(counter: LoopCounts, base: str, measure: t.Term, before: t.Term | None = None) -> t.Term | None:
    """A term over the entry of a loop that ``measure`` never exceeds at the loop's header; ``before``: in the first
    iterations, of which no more than so many come before.
    """
    growing: list[tuple[tuple[str, int], t.Term]] = []
    others: list[t.Term] = []
    for header in counter.scopes.inside(base):
        scope = counter.scope(header)
        if scope is None:
            return None
        for number, iteration in enumerate(scope.iterations):
            effect = counter.effect(base, measure, iteration)
            if effect is None:
                return None
            if isinstance(effect, Becomes):
                if header != base:
                    return None
                others.append(effect.value)
            elif not (isinstance(effect.by, t.Const) and effect.by.value <= 0):
                growing.append(((header, number), positive(effect.by)))
    grown = counter.grown(base, growing, None if before is None else _first(counter, base, before))
    if grown is None or grown.when is not t.TRUE:
        return None
    return plus(t.maximum(measure, *others), grown.term)


def _first(counter: LoopCounts, base: str, before: t.Term) -> Callable[[str, tuple[int, ...]], Bounds]:
    """How often iterations happen in the first ``before`` iterations of the loop ``base``."""
    scope = counter.scope(base)

    def times(header: str, numbers: tuple[int, ...]) -> Bounds:
        whole = counter.count(base, header, numbers)
        if header == base:
            return (*(TermBound(lesser(b.term, before), b.when) for b in whole), TermBound(before))[:1]
        if scope is None or counter.scopes.by_header[header].parent != base:
            return whole
        each = counter.count(header, header, numbers)
        return kept((*(sum for bound in each for sum in _summed(counter, scope, header, bound, before)), *whole))

    return times


def raised(term: t.Term, symbols: frozenset[t.Var], bound: Callable[[t.Term], t.Term | None]) -> t.Term | None:
    """A term without ``symbols`` that is nowhere less than ``term``; ``bound`` gives one for terms linear in them."""
    if term.variables.isdisjoint(symbols):
        return term
    if isinstance(term, t.Op) and term.op in ("max", "min"):
        parts = [raised(arg, symbols, bound) for arg in term.args]
        known = [part for part in parts if part is not None]
        if term.op == "max":
            return t.maximum(*known) if len(known) == len(parts) else None
        return t.minimum(*known) if known else None
    if isinstance(term, t.Op) and term.op == "floor_div" and _positive_constant(term.args[1]):
        inner = raised(term.args[0], symbols, bound)
        return None if inner is None else inner // term.args[1]
    if not isinstance(term, t.Sum | t.Var):
        most = t.range_of(term)[1]
        return t.const(most) if most is not None and most <= MAX_TYPE_BOUND else None
    whole = _one_quotient(term)
    if whole is not None:
        inner = raised(whole[0], symbols, bound)
        if inner is not None:
            return inner // whole[1]
    poly = t.polynomial(term)
    linear: dict[t.Monomial, int] = {}
    parts_: list[t.Term] = []
    for monomial, coefficient in poly.items():
        if all(atom.variables.isdisjoint(symbols) for atom, _ in monomial):
            parts_.append(t.from_polynomial({monomial: coefficient}))
        elif len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], t.Var):
            linear[monomial] = coefficient
        else:
            found = _raised_product(monomial, coefficient, symbols, bound)
            if found is None:
                return None
            parts_.append(found)
    if linear:
        found = bound(t.from_polynomial(linear))
        if found is None:
            return None
        parts_.append(found)
    return plus(*parts_)


def _one_quotient(term: t.Term) -> tuple[t.Term, int] | None:
    """What a sum with one quotient rounded down is as a whole: what is divided, and by what."""
    quotients = [
        (monomial, coefficient)
        for monomial, coefficient in t.polynomial(term).items()
        if any(isinstance(part, t.Op) for atom, _ in monomial for part in t.walk(atom))
    ]
    if len(quotients) != 1 or len(quotients[0][0]) != 1 or quotients[0][0][0][1] != 1:
        return None
    monomial, coefficient = quotients[0]
    atom = monomial[0][0]
    if not isinstance(atom, t.Op) or atom.op != "floor_div" or coefficient not in (1, -1):
        return None
    dividend, divisor = atom.args
    if (
        not isinstance(divisor, t.Const)
        or divisor.value <= 0
        or any(isinstance(part, t.Op) for part in t.walk(dividend))
    ):
        return None
    rest = (term - t.from_polynomial({monomial: coefficient})) * divisor.value
    if coefficient > 0:
        return rest + dividend, divisor.value
    return rest + (divisor.value - 1) - dividend, divisor.value


def _positive_constant(term: t.Term) -> bool:
    return isinstance(term, t.Const) and term.value > 0


def _raised_product(
    monomial: t.Monomial, coefficient: int, symbols: frozenset[t.Var], bound: Callable[[t.Term], t.Term | None]
) -> t.Term | None:
    factors: list[t.Term] = []
    if coefficient > 0 and len(monomial) == 1 and monomial[0][1] == 1:
        single = raised(monomial[0][0], symbols, bound)
        return None if single is None else single * coefficient
    if coefficient < 0:
        # What is not negative takes nothing away.
        lows = [t.range_of(atom)[0] for atom, _ in monomial]
        return t.ZERO if all(low is not None and low >= 0 for low in lows) else None
    for atom, exponent in monomial:
        if atom.variables.isdisjoint(symbols):
            high: t.Term | None = atom
        elif isinstance(atom, t.Var):
            high = bound(atom)
        else:
            high = raised(atom, symbols, bound)
        low = t.range_of(atom)[0]
        if high is None or low is None or low < 0:
            return None
        factors += [high] * exponent
    return t.product(factors) * coefficient


# -- sums over the entries of an inner loop ---------------------------------------------------------------------------


def _summed(
    counter: LoopCounts, scope: Scope, header: str, bound: TermBound, first: t.Term | None = None
) -> Iterator[TermBound]:
    """The sum of a bound over all entries of the loop ``header`` during one entry of the loop around it, or over the
    ``first`` of them.
    """
    terms: dict[t.Term, None] = {}
    each_path: list[tuple[t.Condition, t.Term]] = []
    when: t.Condition = t.TRUE
    for state in scope.visits.get(header, ()):
        at = _at(counter, scope, state, bound)
        if at is None:
            return
        if not at.when.variables.isdisjoint(scope.changed):
            return
        when = both(when, at.when) if at.when is not t.TRUE else when
        terms[at.term] = None
        each_path.append((state.holds, positive(at.term)))
    if when is not t.TRUE and not when.variables.isdisjoint(scope.changed):
        return
    each = t.maximum(t.ZERO, *terms)
    paid = [] if isinstance(each, t.Const) else list(amortized(counter, scope, header, each_path))
    for entries in counter.count(scope.header, scope.header, header):
        if first is not None:
            entries = TermBound(lesser(entries.term, first), entries.when)
        valid = both(when, entries.when)
        yield from (TermBound(plus(used, entries.term * apart), valid) for used, apart in paid)
        if each.variables.isdisjoint(scope.changed):
            yield TermBound(entries.term * each, valid)
            continue
        try:
            # Where iterations pay for their entries, what these take does not move steadily: its sum would be long and
            # worse.
            found = _progression(counter, scope, header, each, entries.term) if not paid else None
            if found is not None:
                yield TermBound(found, valid)
                continue
            worst = _worst(counter, scope, header if first is None else None, each)
            if worst is not None:
                yield TermBound(entries.term * worst, valid)
        except t.TermTooLarge:
            continue


def _progression(counter: LoopCounts, scope: Scope, header: str, each: t.Term, times: t.Term) -> t.Term | None:
    """The sum where ``each`` is made of one ``max`` of a constant and a measure that moves steadily."""
    atoms = {
        node
        for node in t.walk(each)
        if isinstance(node, t.Op) and node.op == "max" and not node.variables.isdisjoint(scope.changed)
    }
    atom: t.Term
    floor: t.Term
    if not atoms:
        atom = measure = each
        floor = t.ZERO
    elif len(atoms) == 1:
        (atom,) = atoms
        assert isinstance(atom, t.Op)
        moving = [arg for arg in atom.args if not arg.variables.isdisjoint(scope.changed)]
        if len(moving) != 1:
            return None
        measure = moving[0]
        rest = [arg for arg in atom.args if arg is not measure]
        floor = t.maximum(*rest) if rest else t.ZERO
    else:
        return None
    if any(len(m) != 1 or m[0][1] != 1 or not isinstance(m[0][0], t.Var) for m in t.polynomial(measure) if m):
        return None
    pace = _pace(counter, scope, header, measure)
    if pace is None:
        return None
    start, slope = pace
    start = t.substitute(start, counter.constants.get(scope.header, {}))
    place = t.Var("'each", t.INTEGERS)
    shape = t.replace_terms(each, {atom: place})
    if not shape.variables.isdisjoint(scope.changed):
        return None
    return sum_of_progression(shape, place, floor, start, slope, times)


def _pace(counter: LoopCounts, scope: Scope, header: str, measure: t.Term) -> tuple[t.Term, int] | None:
    """(b, a) such that ``measure`` is at most b + a·K at the (K+1)-th entry of the loop ``header``."""
    slope: int | None = None
    start: list[t.Term] = [measure]
    for inside in counter.scopes.inside(scope.header):
        inner = counter.scope(inside)
        if inner is None:
            return None
        for number, iteration in enumerate(inner.iterations):
            effect = counter.effect(scope.header, measure, iteration)
            if not isinstance(effect, Grows):
                return None
            counted = inside == scope.header and header in iteration.visited
            if counted:
                if not isinstance(effect.by, t.Const):
                    return None
                slope = effect.by.value if slope is None else max(slope, effect.by.value)
            elif not (isinstance(effect.by, t.Const) and effect.by.value <= 0):
                times = [b for b in counter.count(scope.header, inside, (number,)) if b.when is t.TRUE]
                if not times:
                    return None
                start.append(positive(effect.by) * times[0].term)
    return t.add(*start), slope or 0

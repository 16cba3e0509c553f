"""From terms over solved variables to sequences: what an expression is worth in iteration i."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from loopless import terms as t
from loopless.limits.recurrences import MAX_PERIOD
from loopless.records import dataclass
from loopless.recurrences.expoly import ExpPoly, NoClosedForm, constant, invariant
from loopless.recurrences.sequences import Sequence, aligned, constant_sequence, floor_quotient, remainder


@dataclass(frozen=True, slots=True)
class KnownSequence:
    """What is known of a changing variable: the values of ``sequence``, reduced into ``wrap`` (None: over ℤ).

    The first ``raw`` of them are exact as they stand. Without a sequence, ``reason`` says why.
    """

    sequence: Sequence | None
    wrap: t.IntType | None = None
    raw: int = 0
    reason: str = "it has no closed form"


def lift(term: t.Term, known: Mapping[t.Var, KnownSequence], ring: int | None = None) -> Sequence:
    """The sequence of ``term``, in which the variables in ``known`` move and all others keep their entry value.

    With ``ring`` w the sequence is congruent to the term modulo 2^w only; without, it is equal.
    Raises :class:`NoClosedForm`.
    """
    if not any(v in known for v in term.variables):
        return constant_sequence(term)
    once = known if isinstance(known, _Once) else _Once(known)
    if (term, ring) not in once.found:
        once.found[term, ring] = _lift(term, once, ring)
    return once.found[term, ring]


class _Once(Mapping[t.Var, KnownSequence]):
    """What is known of variables, with the sequences found by it: terms share their parts."""

    def __init__(self, known: Mapping[t.Var, KnownSequence]) -> None:
        self._known = known
        self.found: dict[tuple[t.Term, int | None], Sequence] = {}

    def __getitem__(self, var: t.Var) -> KnownSequence:
        return self._known[var]

    def __iter__(self) -> Iterator[t.Var]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def _lift(term: t.Term, known: Mapping[t.Var, KnownSequence], ring: int | None) -> Sequence:
    try:
        return _lifted(term, known, ring)
    except NoClosedForm:
        if not isinstance(term, t.Wrap | t.Op | t.Ite):
            raise
        found = _of_few_values(term, known)
        if found is None:
            raise
        return found


def _of_few_values(term: t.Term, known: Mapping[t.Var, KnownSequence]) -> Sequence | None:
    """The sequence of any term over variables that take the same values again and again; None if some do not."""
    for node in t.walk(term):
        if isinstance(node, t.Op) and node.op in t.PARTIAL and any(v in known for v in node.args[1].variables):
            return None  # it need not have a value after so many iterations as are not made
    read = [(v, known[v]) for v in sorted(term.variables) if v in known]
    if any(k.sequence is None or any(f.degree or f.bases - {1} for f in k.sequence.forms) for _, k in read):
        return None
    start = max(max(k.sequence.start, k.raw) for _, k in read if k.sequence is not None)
    even = aligned([k.sequence.from_start(start) for _, k in read if k.sequence is not None])

    def at(values: Iterable[ExpPoly], index: int) -> ExpPoly:
        shown = (value.value_term() for value in values)
        reduced = (
            (v, value if k.wrap is None or index < k.raw else t.wrap(value, k.wrap))
            for (v, k), value in zip(read, shown, strict=True)
        )
        return invariant(t.substitute(term, dict(reduced)))

    prefix = tuple(at([s.prefix[i] for s in even], i) for i in range(start))
    return Sequence(prefix, tuple(at([s.forms[r] for s in even], start + r) for r in range(even[0].period)))


def _lifted(term: t.Term, known: Mapping[t.Var, KnownSequence], ring: int | None) -> Sequence:
    match term:
        case t.Var():
            return _variable(term, known[term], ring)
        case t.Sum():
            total = Sequence((), (ExpPoly({}),))
            for monomial, coefficient in term.items:
                part = Sequence((), (constant(coefficient),))
                for atom, exponent in monomial:
                    factor = lift(atom, known, ring)
                    for _ in range(exponent):
                        part = part * factor
                total = total + part
            return total
        case t.Wrap():
            return _wrap(term, known, ring)
        case t.Op():
            return _operator(term, known, ring)
        case t.Ite():
            raise NoClosedForm(f"{t.brief(term)} is piecewise")
        case t.Read() | t.Aggregate():
            raise NoClosedForm(f"{t.brief(term)} reads at an offset that changes")
        case _:
            raise AssertionError(type(term))


def _variable(var: t.Var, known: KnownSequence, ring: int | None) -> Sequence:
    if known.sequence is None:
        raise NoClosedForm(f"{var.name} has no closed form over powers of the counter: {known.reason}")
    if known.wrap is not None and known.wrap.width is not None:
        if ring is None:
            raise NoClosedForm(
                f"{var.name} wraps around at {known.wrap.width} bits and is read where its exact value counts, "
                "not its residue"
            )
        if known.wrap.width < ring:
            raise NoClosedForm(f"{var.name} wraps around at {known.wrap.width} bits and is read at {ring} bits")
    return known.sequence


def _wrap(term: t.Wrap, known: Mapping[t.Var, KnownSequence], ring: int | None) -> Sequence:
    width = term.type.width
    if width is None or (ring is not None and width >= ring):
        return lift(term.arg, known, ring)
    raise NoClosedForm(f"{t.brief(term)} wraps around at {width} bits inside an expression that needs more")


def _operator(term: t.Op, known: Mapping[t.Var, KnownSequence], ring: int | None) -> Sequence:
    if term.op in ("min", "max"):
        raise NoClosedForm(f"{t.brief(term)} is piecewise")
    if term.op in t.NAMED_FUNCTIONS:
        raise NoClosedForm(f"{term.op} of what changes is not summed")
    left, right = term.args
    if term.op in ("floor_div", "mod") and isinstance(right, t.Const) and right.value > 0:
        divisor = right.value
        if term.op == "floor_div":
            return floor_quotient(lift(left, known), divisor)
        two_power = divisor & (divisor - 1) == 0
        return remainder(lift(left, known, divisor.bit_length() - 1 if two_power else None), divisor)
    if term.op == "shl":
        return lift(left, known, ring) * _exponential(2, lift(right, known), term)
    if term.op == "pow" and isinstance(left, t.Const) and left.value != 0:
        return _exponential(left.value, lift(right, known), term)
    if term.op in ("trunc_div", "trunc_rem"):
        raise NoClosedForm(f"{t.brief(term)} rounds towards 0, and the sign of what it divides may change")
    raise NoClosedForm(f"{t.brief(term)} is not a polynomial of variables with a closed form")


def _exponential(base: int, exponent: Sequence, term: t.Term) -> Sequence:
    """base^exponent for exponent c + d·i with d ≥ 0; c is the first exponent, so c ≥ 0 wherever the body runs."""
    if exponent.period == 1 and not exponent.prefix and exponent.forms[0].bases <= {1}:
        form = exponent.forms[0]
        start = form.at(0)
        steps = dict((form - start).items)
        slope = steps.get((1, 1, ()))
        if len(steps) == 1 and slope is not None and slope.q == 1 and 0 < slope.p <= MAX_PERIOD:
            factor = invariant(t.power(t.const(base), start.value_term()))
            return Sequence((), (factor * ExpPoly({(base ** int(slope.p), 0, ()): constant(1).items[(1, 0, ())]}),))
    raise NoClosedForm(f"the exponent of {t.brief(term)} does not grow by a constant")

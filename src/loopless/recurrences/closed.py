"""Closed forms as values: what a variable holds after k iterations, as a term and as an evaluator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from loopless import terms as t
from loopless.limits.recurrences import MAX_PERIOD, MAX_SYMBOLIC_ITERATIONS
from loopless.records import dataclass
from loopless.recurrences.linearize import LinearSystem
from loopless.recurrences.sequences import Sequence

Kind = Literal[
    "constant",
    "linear",
    "polynomial",
    "geometric",
    "periodic",
    "quotient",
    "residue",
    "residue-sum",
    "digit-sum",
    "composed",
    "c-finite",
    "ring",
]
"""``geometric``: powers with exponent k. ``periodic``: a case distinction on k mod p. ``quotient``: repeated division
by a constant. ``residue``: the remainder of it each time. ``residue-sum``: with ``floor_sum`` of the counter.
``digit-sum``: with ``digits``. ``composed``: an expression over closed forms at k - 1. ``c-finite`` and ``ring``: a
matrix's powers, over ℤ and modulo 2^width, with a term (``linear_power``) only if the matrix is small."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """The evaluator of x' = ``update`` where x reaches a fixed point after logarithmically many steps."""

    update: t.Term


@dataclass(frozen=True, slots=True)
class Composed:
    """The evaluator of x' = ``update`` over variables with their own closed forms (x itself not among them)."""

    update: t.Term
    sources: Mapping[t.Var, Closed]


Evaluator = LinearSystem | Repeated | Composed


@dataclass(frozen=True, slots=True)
class Closed:
    """The value of ``var`` after k iterations, over the entry values (the variables themselves) and ``counter`` = k.

    ``term`` is exact for every k ≥ ``valid_from``; ``prefix`` holds the values for smaller k. A term is integer valued:
    each of its divisions is ``floor_div`` of a whole numerator. For k = 0 the value is ``var``, also where the term has
    no value (a division by an entry value 0 in a body that never runs). ``wrap`` is the type into which the value is
    reduced (None: over ℤ). ``period`` is that of the case distinction on k in the term. ``evaluator`` serves large k
    where the term is absent or would build large numbers.
    """

    var: t.Var
    counter: t.Var
    kind: Kind
    term: t.Term | None
    valid_from: int = 0
    period: int = 1
    prefix: tuple[t.Term, ...] = ()
    wrap: t.IntType | None = None
    evaluator: Evaluator | None = field(default=None, repr=False)

    def at(self, k: int) -> t.Term:
        """The value after ``k`` ≥ 0 iterations as a term over the entry values.

        Raises :class:`loopless.terms.EvaluationError` where there is no term and k > :data:`MAX_SYMBOLIC_ITERATIONS`.
        """
        if k < 0:
            raise t.EvaluationError(f"{k} iterations")
        if k == 0:
            return self.var
        if k < self.valid_from:
            return self.prefix[k]
        if self.term is not None:
            return t.substitute(self.term, {self.counter: t.const(k)})
        if k > MAX_SYMBOLIC_ITERATIONS:
            raise t.EvaluationError(f"the value of {self.var.name} after {k} iterations is not composed symbolically")
        if isinstance(self.evaluator, Composed):
            return t.substitute(
                self.evaluator.update, {v: closed.at(k - 1) for v, closed in self.evaluator.sources.items()}
            )
        assert isinstance(self.evaluator, LinearSystem)
        return self.evaluator.symbolic(k)

    def evaluate(self, values: Mapping[t.Var, int], k: int, reader: t.Reader | None = None) -> int:
        """The value after ``k`` ≥ 0 iterations from the entry ``values``, in time logarithmic in k.

        A value over ℤ with more bits than :data:`loopless.limits.terms.MAX_BITS` raises
        :class:`loopless.terms.EvaluationError`; reduced values are computed modulo 2^width times the denominator.
        """
        if k < 0:
            raise t.EvaluationError(f"{k} iterations")
        if k == 0:
            return values[self.var]
        if k < self.valid_from:
            return t.evaluate(self.prefix[k], values, reader)
        match self.evaluator:
            case LinearSystem():
                return self.evaluator.evaluate(values, k, reader)
            case Composed():
                before = {v: closed.evaluate(values, k - 1, reader) for v, closed in self.evaluator.sources.items()}
                return t.evaluate(self.evaluator.update, {**values, **before}, reader)
            case Repeated():
                return self._repeat(self.evaluator.update, values, k, reader)
            case None:
                assert self.term is not None
                return t.evaluate(self.term, {**values, self.counter: k}, reader)

    def _repeat(self, update: t.Term, values: Mapping[t.Var, int], k: int, reader: t.Reader | None) -> int:
        current = dict(values)
        for _ in range(k):
            value = t.evaluate(update, current, reader)
            if value == current[self.var]:
                break
            current[self.var] = value
        return current[self.var]


@dataclass(frozen=True, slots=True)
class Solution:
    """The closed forms of an update, and for the other variables one sentence that names variable, update and cause.

    ``closed`` and ``refused`` together have exactly the variables of the update.
    """

    counter: t.Var
    closed: Mapping[t.Var, Closed]
    refused: Mapping[t.Var, str]

    def at(self, k: int) -> dict[t.Var, t.Term]:
        """The solved variables after ``k`` iterations as terms over the entry values."""
        return {variable: closed.at(k) for variable, closed in self.closed.items()}


def closed_of(var: t.Var, counter: t.Var, sequence: Sequence, wrap: t.IntType | None, raw: int) -> Closed:
    """The closed form with the values of ``sequence``, from index ``raw`` on reduced into ``wrap``."""
    while raw and (wrap is None or t.fits(sequence.at(raw - 1).value_term(), wrap)):
        raw -= 1
    if wrap is not None and not _outgrows(sequence, wrap):
        wrap = None
    shown = _without_signs(sequence).from_start(max(raw, sequence.start))
    body = shown_term(shown, counter)
    values = [value.value_term() for value in shown.prefix]
    prefix = tuple(value if i < raw or wrap is None else t.wrap(value, wrap) for i, value in enumerate(values))
    return Closed(
        var,
        counter,
        kind_of(shown),
        body if wrap is None else t.wrap(body, wrap),
        shown.start,
        shown.period,
        prefix,
        wrap,
    )


def _outgrows(sequence: Sequence, type: t.IntType) -> bool:
    """Whether some value may lie outside the range of ``type``, as far as ranges of terms can tell."""
    values = (*sequence.prefix, *sequence.forms)
    return any(value.bases - {1} or value.degree for value in values) or not all(
        t.fits(value.value_term(), type) for value in values
    )


def kind_of(sequence: Sequence) -> Kind:
    """The kind of a sequence."""
    if sequence.period > 1 or any(-1 in form.bases for form in sequence.forms):
        return "periodic"
    form = sequence.forms[0]
    if form.bases - {1}:
        return "geometric"
    if form.degree > 1:
        return "polynomial"
    return "linear" if form.degree else "constant"


def _without_signs(sequence: Sequence) -> Sequence:
    """Sequences of bases 1 and -1 only, as polynomials per residue of twice the period."""
    bases = frozenset().union(*(form.bases for form in sequence.forms))
    if -1 in bases and bases <= {1, -1} and 2 * sequence.period <= MAX_PERIOD:
        return sequence.with_period(2 * sequence.period)
    return sequence


def shown_term(sequence: Sequence, counter: t.Term) -> t.Term:
    """The term of a sequence at ``counter`` ≥ its start."""
    offset = counter - sequence.start
    if sequence.period == 1:
        return sequence.forms[0].term(offset, shift=sequence.start)
    period = t.const(sequence.period)
    quotient = offset // period
    residue = offset % period
    result = sequence.forms[-1].term(quotient)
    for index in range(sequence.period - 2, -1, -1):
        chosen = residue.eq(index)
        result = t.ite(chosen, sequence.forms[index].term(quotient), result)
    return result

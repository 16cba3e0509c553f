"""Closed forms as exponential polynomials of the number of iterations, whose signs :mod:`loopless.terms` can tell."""

from __future__ import annotations

from loopless import terms as t
from loopless.recurrences.expoly import ExpPoly, NoClosedForm
from loopless.recurrences.lifting import KnownSequence, lift
from loopless.recurrences.sequences import index_sequence


def curves_of(term: t.Term, counter: t.Var) -> tuple[t.Coefficients, ...]:
    """``term`` by residues of ``counter``: of the p answers number r, at q, has the sign of the term at p·q + r.

    ``term`` is built as for :func:`loopless.recurrences.sum_over`. Raises :class:`NoClosedForm`.
    """
    try:
        sequence = lift(term, {counter: KnownSequence(index_sequence())}).normal()
        if any(base < 0 for form in sequence.forms for base in form.bases):
            sequence = sequence.with_period(2 * sequence.period)
        if sequence.start:
            raise NoClosedForm(f"{t.brief(term)} takes its final form only after some iterations")
        return tuple(_coefficients(form) for form in sequence.forms)
    except t.TermTooLarge as failure:
        raise NoClosedForm(f"the expression is too large: {failure}") from None


def _coefficients(form: ExpPoly) -> t.Coefficients:
    """The form times its denominator."""
    denominator = form.denominator()
    found: dict[tuple[int, int], dict[t.Monomial, int]] = {}
    for (base, degree, monomial), value in form.items.items():
        found.setdefault((base, degree), {})[monomial] = int((value * denominator).p)
    return {key: t.from_polynomial(poly) for key, poly in found.items()}

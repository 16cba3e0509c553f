"""Sums of values that move by a constant and are reduced or divided: with the named function ``floor_sum``."""

from __future__ import annotations

from collections.abc import Mapping

from loopless import terms as t
from loopless.recurrences.closed import shown_term
from loopless.recurrences.expoly import ExpPoly, NoClosedForm
from loopless.recurrences.lifting import KnownSequence, lift
from loopless.recurrences.sequences import solve_first_order


def sum_of_residues(term: t.Term, known: Mapping[t.Var, KnownSequence], counter: t.Var, ring: int | None) -> t.Term:
    """The sum of ``term`` over the iterations 0 to counter - 1, modulo 2^ring only if ``ring`` is given.

    ``term`` is a sum; what has no closed form to be summed over must be a constant times a residue or quotient of a
    value that moves by a constant. Raises :class:`NoClosedForm`.
    """
    plain: list[t.Term] = []
    total: list[t.Term] = []
    for monomial, coefficient in t.polynomial(term).items():
        part = t.from_polynomial({monomial: coefficient})
        if _is_plain(part, known, ring):
            plain.append(part)
        elif len(monomial) == 1 and monomial[0][1] == 1:
            total.append(_sum(monomial[0][0], known, counter) * coefficient)
        else:
            raise NoClosedForm(f"{t.brief(part)} is not a residue of a value that moves by a constant")
    summed = solve_first_order(1, lift(t.add(*plain), known, ring), ExpPoly({})).normal()
    if summed.start:
        raise NoClosedForm("the summands have no common form")
    return t.add(shown_term(summed, counter), *total)


def _is_plain(part: t.Term, known: Mapping[t.Var, KnownSequence], ring: int | None) -> bool:
    try:
        return lift(part, known, ring).period == 1
    except NoClosedForm:
        return False


def _sum(atom: t.Term, known: Mapping[t.Var, KnownSequence], counter: t.Var) -> t.Term:
    """The sum of one residue or quotient."""
    if isinstance(atom, t.Var) and atom in known:
        found = known[atom]
        if found.wrap is None or found.sequence is None:
            raise NoClosedForm(f"{atom.name} has no closed form over powers of the counter: {found.reason}")
        if found.raw and not t.fits(atom, found.wrap):
            raise NoClosedForm(f"{atom.name} is reduced from its second value on only")
        start, step = _line(atom, {atom: KnownSequence(found.sequence)})
        return _reduced(start, step, found.wrap, counter)
    if isinstance(atom, t.Wrap):
        return _reduced(*_line(atom.arg, known, atom.type.width), atom.type, counter)
    if isinstance(atom, t.Op) and atom.op in ("floor_div", "mod"):
        divisor = atom.args[1]
        if isinstance(divisor, t.Const) and divisor.value > 0:
            start, step = _line(atom.args[0], known)
            if atom.op == "mod":
                return t.sum_of_residues(counter, divisor.value, step, start)
            return t.floor_sum(counter, divisor.value, step, start)
    raise NoClosedForm(f"{t.brief(atom)} is not a residue of a value that moves by a constant")


def _reduced(start: t.Term, step: t.Term, type: t.IntType, counter: t.Var) -> t.Term:
    """The sum of start + step·i reduced into ``type``: its residues from the least value on."""
    assert type.width is not None
    assert type.min is not None
    shifted = start - type.min
    return t.sum_of_residues(counter, 1 << type.width, step, shifted) + counter * type.min


def _line(term: t.Term, known: Mapping[t.Var, KnownSequence], ring: int | None = None) -> tuple[t.Term, t.Term]:
    """Start and step of a value that moves by a constant over the entry values."""
    sequence = lift(term, known, ring).normal()
    form = sequence.forms[0]
    if sequence.period > 1 or sequence.start or form.bases - {1} or form.degree > 1:
        raise NoClosedForm(f"{t.brief(term)} does not move by a constant")
    start = form.at(0).value_term()
    return start, form.at(1).value_term() - start

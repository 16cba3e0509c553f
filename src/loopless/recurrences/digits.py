"""Sums over a value that is divided by a constant again and again, and over its digits: s = s·m + n % L, n = n / L.

With n_i = L·n_(i+1) + d_i the sum T = Σ n_i·m^(k-1-i) follows from that of the digits, D = Σ d_i·m^(k-1-i):
L·(m·T - m^k·n_0 + n_k) = T - D. (Legendre's formula is the case m = 1.) C's / and % of a negative n are those of -n,
negated.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopless import terms as t
from loopless.records import dataclass
from loopless.recurrences.closed import shown_term
from loopless.recurrences.expoly import NoClosedForm, invariant
from loopless.recurrences.lifting import KnownSequence, lift
from loopless.recurrences.sequences import solve_first_order


@dataclass(frozen=True, slots=True)
class Halved:
    """A variable that is divided by ``base`` ≥ 2 in each iteration: rounded down, or as C does if ``truncated``."""

    base: int
    truncated: bool


def sum_of_digits(
    var: t.Var,
    update: t.Term,
    halved: Mapping[t.Var, Halved],
    known: Mapping[t.Var, KnownSequence],
    counter: t.Var,
    ring: int | None,
) -> t.Term:
    """``var`` after ``counter`` iterations of var' = ``update``, a sum of multiples of itself, of digits and of values
    with a closed form; modulo 2^ring only if ``ring`` is given. Raises :class:`NoClosedForm`.
    """
    plain: list[t.Term] = []
    sums: list[tuple[t.Term, int]] = []
    ratio = 0
    for monomial, coefficient in t.polynomial(update).items():
        part = t.from_polynomial({monomial: coefficient})
        if monomial == ((var, 1),):
            ratio = coefficient
        elif var in part.variables:
            raise NoClosedForm("it is not a sum of digits")
        elif part.variables.isdisjoint(halved):
            plain.append(part)
        elif len(monomial) == 1 and monomial[0][1] == 1:
            sums.append((monomial[0][0], coefficient))
        else:
            raise NoClosedForm(f"{t.brief(part)} is not a multiple of a digit")
    if not ratio or not sums:
        raise NoClosedForm("it is not a sum of digits")
    rest = solve_first_order(ratio, lift(t.add(*plain), known, ring), invariant(var)).normal()
    if rest.start:
        raise NoClosedForm("its summands take their final form only after some iterations")
    summed = [_sum(atom, halved, ratio, counter) * coefficient for atom, coefficient in sums]
    return t.add(shown_term(rest, counter), *summed)


def _sum(atom: t.Term, halved: Mapping[t.Var, Halved], ratio: int, counter: t.Var) -> t.Term:
    """Σ atom_i·ratio^(counter-1-i) for a digit or a quotient of a variable that is divided again and again."""
    inner, digit = atom, None
    if isinstance(atom, t.Op) and atom.op in ("mod", "trunc_rem") and isinstance(atom.args[1], t.Const):
        inner, digit = atom.args[0], atom
    variable, start = _start(inner)
    found = halved.get(variable)
    if found is None:
        raise NoClosedForm(f"{t.brief(atom)} is not about a value that is divided again and again")
    for op in (digit, inner):
        if isinstance(op, t.Op):
            _check(op, variable, found, is_digit=op is digit)
    if not found.truncated:
        return _natural(start, found.base, ratio, counter, digit=digit is not None)
    above = _natural(start, found.base, ratio, counter, digit=digit is not None)
    below = _natural(-start, found.base, ratio, counter, digit=digit is not None)
    return t.ite(variable.ge(0), above, -below)


def _start(term: t.Term) -> tuple[t.Var, t.Term]:
    """The variable and the term itself, if that is the variable or a quotient of it."""
    if isinstance(term, t.Var):
        return term, term
    if isinstance(term, t.Op) and term.op in ("floor_div", "trunc_div") and isinstance(term.args[0], t.Var):
        return term.args[0], term
    raise NoClosedForm(f"{t.brief(term)} is not about a value that is divided again and again")


def _check(op: t.Op, variable: t.Var, halved: Halved, *, is_digit: bool) -> None:
    """The divisor must be the base, or for a quotient a power of it, and the rounding the same."""
    low = t.range_of(variable)[0]
    divisor = op.args[1].value if isinstance(op.args[1], t.Const) else 0
    while not is_digit and divisor > halved.base and divisor % halved.base == 0:
        divisor //= halved.base
    same = op.op.startswith("trunc") == halved.truncated or (low is not None and low >= 0)
    if divisor != halved.base or not same:
        raise NoClosedForm(f"{t.brief(op)} is not a digit to base {halved.base}, by which {variable.name} is divided")


def _natural(start: t.Term, base: int, ratio: int, counter: t.Var, *, digit: bool) -> t.Term:
    digits = t.digits(start, base, t.const(ratio), counter)
    if digit:
        return digits
    last = start // t.power(t.const(base), counter)
    grown = t.power(t.const(ratio), counter) * start if ratio != 1 else start
    return ((grown - last) * base - digits) // (base * ratio - 1)

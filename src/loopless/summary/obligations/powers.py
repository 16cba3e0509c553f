"""Powers of constants along a run: c + a·L^k, of which only so many rounds matter as a type has bits.

Such a value moves one way, or to and fro in ever wider steps, so that its first and last rounds are its extremes. And
once L^k exceeds what c can make up for, a larger k changes no sign: exponents stay small in what is said of a run.
"""

from __future__ import annotations

from loopless import terms as t
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class Powers:
    """A term c + s·floor((b + a·L^k) / d), with s = d = 1 and b = 0 where there is no quotient.

    ``term`` itself, ``base`` L of at least 2 in size, ``counter`` k, ``rest`` c, ``inner`` b, ``divisor`` d.
    """

    term: t.Term
    base: int
    counter: t.Var
    rest: t.Term
    inner: t.Term
    divisor: int

    def enough(self, slack: int = 0) -> int | None:
        """A k from which on the term is farther than ``slack`` from 0 and has the sign of s·a·L^k, for every a ≠ 0."""
        low, high = t.range_of(self.rest)
        below, above = t.range_of(self.inner)
        if low is None or high is None or below is None or above is None:
            return None
        outside = max(-low, high, 0) + slack + 2
        return (outside * self.divisor + max(-below, above, 0)).bit_length() + 1

    def at(self, count: t.Term) -> t.Term:
        """The term after ``count`` rounds."""
        return t.substitute(self.term, {self.counter: count})

    def extremes(self, final: t.Term) -> list[t.Term]:
        """Values that all are at most 0 exactly if the term is for every k from 0 to ``final`` ≥ 0."""
        most = self.enough()
        last = final if most is None else t.minimum(final, t.const(most + 1))
        before = final - 1 if most is None else t.minimum(final - 1, t.const(most))
        other = t.ZERO if self.base > 0 else t.maximum(t.ZERO, before)
        return list(dict.fromkeys((self.at(t.ZERO), self.at(other), self.at(last))))


def powers(term: t.Term, counter: t.Var) -> Powers | None:
    """``term`` as :class:`Powers` of ``counter``, None if it is nothing of the kind."""
    moving, rest = _apart(term, counter)
    if not moving:
        return None
    base = _base(moving, counter)
    if base is not None:
        return Powers(term, base, counter, rest, t.ZERO, 1)
    atom = next(iter(moving))[0][0] if len(moving) == 1 else None
    if not (isinstance(atom, t.Op) and atom.op == "floor_div" and moving.keys() == {((atom, 1),)}):
        return None
    numerator, divisor = atom.args
    if not isinstance(divisor, t.Const) or divisor.value <= 0:
        return None
    inside, inner = _apart(numerator, counter)
    base = _base(inside, counter)
    return Powers(term, base, counter, rest, inner, divisor.value) if base is not None else None


def _apart(term: t.Term, counter: t.Var) -> tuple[dict[t.Monomial, int], t.Term]:
    """The monomials in which the counter occurs, and the sum of the others."""
    items = t.polynomial(term)
    moving = {m: c for m, c in items.items() if any(counter in atom.variables for atom, _ in m)}
    return moving, t.from_polynomial({m: c for m, c in items.items() if m not in moving})


def _base(items: dict[t.Monomial, int], counter: t.Var) -> int | None:
    """The L of a sum of multiples of L^counter, at least 2 in size; None for anything else."""
    bases: set[int] = set()
    for monomial in items:
        own = [(atom, exponent) for atom, exponent in monomial if counter in atom.variables]
        atom, exponent = own[0]
        if len(own) != 1 or exponent != 1 or not isinstance(atom, t.Op) or atom.op != "pow":
            return None
        base, index = atom.args
        if index is not counter or not isinstance(base, t.Const):
            return None
        bases.add(base.value)
    found = bases.pop() if len(bases) == 1 else 0
    return found if abs(found) > 1 else None


def after(var: t.Var, form: t.Term, counter: t.Var, count: t.Term) -> t.Term:
    """``form``, what ``var`` is after ``counter`` rounds in which it stays in its type, after ``count`` of them."""
    most = most_rounds(var, form, counter) if not isinstance(count, t.Const) else None
    return t.substitute(form, {counter: count if most is None else t.minimum(count, t.const(most))})


def most_rounds(var: t.Var, form: t.Term, counter: t.Var) -> int | None:
    """More rounds of powers than this leave the type of ``var`` or change nothing; None if that is not known."""
    if var.type.width is None:
        return None
    found = powers(form, counter)
    return found.enough(1 << var.type.width) if found is not None else _used_up(form, counter)


def _used_up(form: t.Term, counter: t.Var) -> int | None:
    """A number of rounds after which a value divided by a constant in each of them does not change any more."""
    if not isinstance(form, t.Op) or form.op not in ("floor_div", "trunc_div"):
        return None
    value, divisor = form.args
    moving, rest = _apart(divisor, counter)
    if counter in value.variables or rest is not t.ZERO or (_base(moving, counter) or 0) < 2:
        return None
    low, high = t.range_of(value)
    return None if low is None or high is None else max(-low, high, 0).bit_length() + 1

"""Affine functions with wanted properties on polyhedra, by Farkas' lemma.

A polyhedron is given by rows, affine terms that are each ≥ 0 on it. An affine form is ≥ 0 on all of a non-empty
polyhedron exactly if it is a sum of the rows with multipliers ≥ 0 and of a constant ≥ 0. Where the form's coefficients
are linear in unknowns, the multipliers are further unknowns of one linear system, without quantifiers: Z3 solves it
over the rationals (Podelski and Rybalchenko, A complete method for the synthesis of linear ranking functions, VMCAI
2004). Points between the integers count too, so that some forms that are ≥ 0 on all integer points are not found.

What is found is a proposal: callers prove it by other means before they say it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from loopless import terms as t
from loopless.limits.logic import FARKAS_STEPS, MAX_MULTIPLIERS, REMEMBERED_AFFINE_FORMS
from loopless.logic.solver import Solver
from loopless.metering import new_context
from loopless.records import dataclass

Linear = Mapping[str, int | Fraction]
"""A linear expression: coefficients by the names of unknowns, the constant by the empty name."""

Form = Mapping[t.Var | None, Linear]
"""An affine form: the coefficients of variables, each linear in unknowns; that of None is the constant."""


@dataclass(frozen=True, slots=True)
class FarkasClaim:
    """``form`` is ≥ 0 wherever all ``rows`` are; each row is an affine term over variables."""

    rows: tuple[t.Term, ...]
    form: Form


class Farkas:
    """Solves the systems of one question, one after another.

    They share a Z3 context, which is slow to make; the same systems in the same order have the same solutions.
    """

    def __init__(self) -> None:
        self._context = new_context()
        self._left = MAX_MULTIPLIERS

    def allow(self, multipliers: int) -> None:
        """Lets the systems from here on have so many multipliers together; beyond that nothing is found."""
        self._left = multipliers

    @property
    def left(self) -> int:
        """How many multipliers systems may still have."""
        return self._left

    def solve(
        self, claims: Sequence[FarkasClaim], *, least: Sequence[Linear] = (), steps: int = FARKAS_STEPS
    ) -> dict[str, Fraction] | None:
        """Values ≥ 0 of the unknowns under which all claims hold, None where there are none or the limit is reached.

        ``least``: what is made as small as possible, the first one first. Raises ValueError for a row that is not
        affine.
        """
        size = sum(len(claim.rows) + 1 for claim in claims)
        if size > MAX_MULTIPLIERS:
            return None
        self._left -= size
        if self._left < 0:
            return None
        script = _Script()
        for at, claim in enumerate(claims):
            script.claim(at, claim)
        for linear in least:
            script.lines.append(f"(minimize {script.linear(linear)})")
        solver = Solver(self._context, "optimizing" if least else "simple", seed=0)
        solver.limit_steps(steps)
        model = solver.ask_model()[1] if solver.tell_text(script.text()) else None
        if model is None:
            return None
        values = {str(declared): model[declared] for declared in model.decls()}
        return {name: _fraction(values.get(short)) for name, short in script.unknowns.items()}


class _Script:
    """A linear system as SMT-LIB text, which Z3 reads many times faster than its interface builds it."""

    def __init__(self) -> None:
        self.unknowns: dict[str, str] = {}
        self.declared: list[str] = []
        self.lines: list[str] = []

    def text(self) -> str:
        return "\n".join((*self.declared, *self.lines))

    def linear(self, linear: Linear) -> str:
        return _sum(_scaled(c, self._unknown(name)) if name else _number(c) for name, c in linear.items() if c)

    def _unknown(self, name: str) -> str:
        found = self.unknowns.get(name)
        if found is None:
            found = self.unknowns[name] = f"u{len(self.unknowns)}"
            self._declare(found)
        return found

    def _declare(self, name: str) -> None:
        self.declared += (f"(declare-const {name} Real)", f"(assert (>= {name} 0))")

    def claim(self, at: int, claim: FarkasClaim) -> None:
        """That the form is a sum of the rows, each times its multiplier ≥ 0, plus a constant ≥ 0."""
        sums: dict[t.Var | None, list[str]] = {}
        for number, row in enumerate(claim.rows):
            multiplier = f"m{at}_{number}"
            self._declare(multiplier)
            for variable, coefficient in affine(row).items():
                sums.setdefault(variable, []).append(_scaled(coefficient, multiplier))
        for variable in dict.fromkeys((*claim.form, *sums, None)):
            relation = "=" if variable is not None else ">="
            left, right = self.linear(claim.form.get(variable, {})), _sum(sums.get(variable, ()))
            if left != right:
                self.lines.append(f"(assert ({relation} {left} {right}))")


def _sum(parts: Iterable[str]) -> str:
    found = list(parts)
    return f"(+ {' '.join(found)})" if len(found) > 1 else "".join(found) or "0"


def _scaled(coefficient: int | Fraction, name: str) -> str:
    return name if coefficient == 1 else f"(* {_number(coefficient)} {name})"


def _number(value: int | Fraction) -> str:
    if isinstance(value, int):
        return f"{value}.0" if value >= 0 else f"(- {-value}.0)"
    return f"(/ {_number(value.numerator)} {value.denominator}.0)"


def _fraction(value: Any) -> Fraction:
    """A value of the model; what the model does not name may be anything."""
    return Fraction(value.numerator_as_long(), value.denominator_as_long()) if value is not None else Fraction(0)


def affine(term: t.Term) -> Mapping[t.Var | None, int]:
    """The coefficients of an affine term, that of None the constant. Raises ValueError for other terms."""
    known = _affine.get(term)
    if known is None:
        if len(_affine) > REMEMBERED_AFFINE_FORMS:
            _affine.clear()
        known = _affine[term] = _coefficients(term)
    return known


_affine: dict[t.Term, Mapping[t.Var | None, int]] = {}


def _coefficients(term: t.Term) -> dict[t.Var | None, int]:
    found: dict[t.Var | None, int] = {}
    for monomial, coefficient in t.polynomial(term).items():
        if not monomial:
            found[None] = coefficient
            continue
        atom, exponent = monomial[0]
        if len(monomial) > 1 or exponent > 1 or not isinstance(atom, t.Var):
            raise ValueError(f"not affine: {term}")
        found[atom] = coefficient
    return found

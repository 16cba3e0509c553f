"""Evaluation of recurrences without a printed closed form: the monomials that an update maps among themselves.

If the images of a variable's monomials under the update stay in a finite set, the update acts on that set as a matrix
(de Oliveira, Bensalem, Prevosto: Polynomial invariants by linear algebra, ATVA 2016), and k iterations are one matrix
power, over ℤ or modulo 2^width.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopless import terms as t
from loopless.limits.recurrences import MAX_MONOMIALS, MAX_SHOWN_ROWS
from loopless.limits.terms import MAX_BITS
from loopless.records import dataclass
from loopless.recurrences.expoly import NoClosedForm, times
from loopless.terms import powers


@dataclass(frozen=True, slots=True)
class LinearSystem:
    """``basis`` monomials in the changing variables, the first of them ``target``; ``rows`` the image of each one.

    ``rows[i][j]`` is the coefficient, a term over invariants, of basis j in the image of basis i. ``wrap`` is the type
    into which the target is reduced; the system then holds modulo 2^width. ``update`` is what the system came from.
    """

    target: t.Var
    basis: tuple[t.Monomial, ...]
    rows: tuple[Mapping[int, t.Term], ...]
    wrap: t.IntType | None
    update: Mapping[t.Var, t.Term]

    def evaluate(self, values: Mapping[t.Var, int], k: int, reader: t.Reader | None = None) -> int:
        """The target after ``k`` ≥ 1 iterations. Raises :class:`EvaluationError` where a value over ℤ is too large."""
        size = len(self.basis)
        matrix = [[0] * size for _ in range(size)]
        for i, row in enumerate(self.rows):
            for j, coefficient in row.items():
                matrix[i][j] = t.evaluate(coefficient, values, reader)
        entry = [t.evaluate(t.from_polynomial({m: 1}), values, reader) for m in self.basis]
        if self.wrap is not None and self.wrap.width is not None:
            return self.wrap.wrap(powers.repeated(matrix, entry, k, 1 << self.wrap.width))
        try:
            return powers.repeated(matrix, entry, k, limit=MAX_BITS)
        except ValueError as error:
            raise t.EvaluationError(str(error)) from None

    def power(self, count: t.Term) -> t.Term | None:
        """The target after ``count`` iterations as a power of the matrix; None where that is too large to be read."""
        if len(self.basis) > MAX_SHOWN_ROWS:
            return None
        matrix = [[row.get(j, t.ZERO) for j in range(len(self.basis))] for row in self.rows]
        found = t.linear_power(count, matrix, [t.from_polynomial({m: 1}) for m in self.basis])
        return found if self.wrap is None else t.wrap(found, self.wrap)

    def symbolic(self, k: int) -> t.Term:
        """The target after ``k`` ≥ 1 iterations as a term. Raises :class:`loopless.terms.TermTooLarge`."""
        current: dict[t.Var, t.Term] = dict(self.update)
        for _ in range(k - 1):
            current = {v: t.substitute(term, current) for v, term in self.update.items()}
        return current[self.target]


def linearize(
    target: t.Var, update: Mapping[t.Var, t.Term], changing: frozenset[t.Var], wrap: t.IntType | None
) -> LinearSystem:
    """The system of ``target`` under ``update``; ``changing`` are the variables that it changes.

    ``wrap`` is the type into which the target is reduced and decides the ring; in it every variable that is read must
    be exact or wrapped to at least as many bits. Raises :class:`NoClosedForm`.
    """
    used: dict[t.Var, t.Term] = {}
    basis: list[t.Monomial] = [((target, 1),)]
    index: dict[t.Monomial, int] = {basis[0]: 0}
    rows: list[dict[int, t.Term]] = []
    while len(rows) < len(basis):
        row: dict[int, t.Term] = {}
        for monomial, coefficient in _image(basis[len(rows)], update, wrap, used).items():
            moving = tuple((a, e) for a, e in monomial if a in changing)
            fixed = tuple((a, e) for a, e in monomial if a not in changing)
            for atom, _ in fixed:
                _check_invariant(atom, changing)
            if moving not in index:
                if len(basis) == MAX_MONOMIALS or sum(e for _, e in moving) > 8:
                    raise NoClosedForm("its powers and products do not close under the update")
                index[moving] = len(basis)
                basis.append(moving)
            part = t.from_polynomial({fixed: coefficient})
            row[index[moving]] = row.get(index[moving], t.ZERO) + part
        rows.append(row)
    return LinearSystem(target, tuple(basis), tuple(rows), wrap, used)


def _image(
    monomial: t.Monomial,
    update: Mapping[t.Var, t.Term],
    wrap: t.IntType | None,
    used: dict[t.Var, t.Term],
) -> dict[t.Monomial, int]:
    image: dict[t.Monomial, int] = {(): 1}
    for atom, exponent in monomial:
        assert isinstance(atom, t.Var)
        used[atom] = update[atom]
        factor = t.polynomial(_in_ring(atom, update[atom], wrap))
        for _ in range(exponent):
            if len(image) * len(factor) > 400:
                raise NoClosedForm("its powers and products do not close under the update")
            product: dict[t.Monomial, int] = {}
            for m, c in image.items():
                for n, d in factor.items():
                    key = times(m, n)
                    product[key] = product.get(key, 0) + c * d
            image = {m: c for m, c in product.items() if c}
    return image


def _in_ring(var: t.Var, update: t.Term, wrap: t.IntType | None) -> t.Term:
    """The update without its outermost reduction, where that is sound in the ring of ``wrap``."""
    if not isinstance(update, t.Wrap) or update.type.width is None:
        return update
    if wrap is None:
        raise NoClosedForm(f"{var.name} wraps at {update.type.width} bits and is read where its exact value counts")
    assert wrap.width is not None
    if update.type.width < wrap.width:
        raise NoClosedForm(f"{var.name} wraps at {update.type.width} bits and is read at {wrap.width} bits")
    return update.arg


def _check_invariant(atom: t.Term, changing: frozenset[t.Var]) -> None:
    moving = sorted(v.name for v in atom.variables & changing)
    if moving:
        raise NoClosedForm(f"{t.brief(atom)} is not a polynomial of {moving[0]}, which changes")

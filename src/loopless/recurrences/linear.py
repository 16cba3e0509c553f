"""Mutually linear recurrences X' = A·X + e with an integer matrix A: closed forms where some power of A has rational
eigenvalues (swaps, signed permutations, rotations by roots of unity, Jordan blocks, x, y = y, 2x).

A power B = A^p with integer eigenvalues is made triangular by rows w with w·B = λ·w + (earlier rows); each row is then
one first-order recurrence, and the p residues follow by p - 1 plain steps.
"""

from __future__ import annotations

from flint import fmpq, fmpq_mat, fmpz_mat

from loopless.limits.recurrences import MAX_MATRIX_POWER, MAX_PERIOD
from loopless.recurrences.expoly import ExpPoly, NoClosedForm, constant, total_of
from loopless.recurrences.sequences import Sequence, aligned, solve_first_order

Matrix = list[list[int]]


def solve_linear(matrix: Matrix, forcing: list[Sequence], start: list[ExpPoly]) -> list[Sequence]:
    """The sequences with X_0 = ``start`` and X_(i+1) = matrix·X_i + forcing_i. Raises :class:`NoClosedForm`."""
    order = _rational_order(matrix)
    given = aligned(forcing, order)
    period = given[0].period
    offset = given[0].start
    values = [start]
    for index in range(offset):
        values.append(_step(matrix, values[-1], [e.prefix[index] for e in given]))
    residues = [_first_residue(matrix, period, [e.forms for e in given], values[-1])]
    for r in range(period - 1):
        steps = [Sequence((), (e.forms[r],)) for e in given]
        residues.append(_sequence_step(matrix, residues[-1], steps))
    return [
        _interleaved([values[i][v] for i in range(offset)], [residue[v] for residue in residues])
        for v in range(len(start))
    ]


def _rational_order(matrix: Matrix) -> int:
    """The least p such that matrix^p has integer eigenvalues only."""
    base = fmpz_mat(matrix)
    powered = base
    for order in range(1, MAX_MATRIX_POWER + 1):
        _, factors = powered.charpoly().factor()
        if all(factor.degree() == 1 for factor, _ in factors):
            return order
        powered = powered * base
    raise NoClosedForm("the eigenvalues of the system are not rational, nor is a power of them up to the 24th")


def _step(matrix: Matrix, values: list[ExpPoly], given: list[ExpPoly]) -> list[ExpPoly]:
    return [
        total_of((e, *(x * constant(a) for a, x in zip(row, values, strict=True) if a)))
        for row, e in zip(matrix, given, strict=True)
    ]


def _sequence_step(matrix: Matrix, values: list[Sequence], given: list[Sequence]) -> list[Sequence]:
    result: list[Sequence] = []
    for row, e in zip(matrix, given, strict=True):
        total = e
        for a, x in zip(row, values, strict=True):
            if a:
                total = total + _scaled(x, fmpq(a))
        result.append(total)
    return result


def _scaled(sequence: Sequence, factor: fmpq) -> Sequence:
    return sequence.map(lambda value: value.scale(factor))


def _first_residue(
    matrix: Matrix, period: int, forms: list[tuple[ExpPoly, ...]], start: list[ExpPoly]
) -> list[Sequence]:
    """X at the indices of residue 0, as sequences in q: X(q+1) = matrix^period·X(q) + G(q), X(0) = start."""
    gathered = [ExpPoly({}) for _ in start]
    for r in range(period):
        gathered = _step(matrix, gathered, [f[r] for f in forms])
    rows, triangle = _triangular(fmpz_mat(matrix) ** period)
    size = len(start)
    solved: list[Sequence] = []
    for j in range(size):
        begin = total_of(start[v].scale(rows[j, v]) for v in range(size))
        drive = Sequence((), (total_of(gathered[v].scale(rows[j, v]) for v in range(size)),))
        for i in range(j):
            if triangle[j, i] != 0:
                drive = drive + _scaled(solved[i], triangle[j, i])
        solved.append(solve_first_order(int(triangle[j, j].p), drive, begin))
    back = rows.inv()
    result: list[Sequence] = []
    for v in range(size):
        total = Sequence((), (ExpPoly({}),))
        for j in range(size):
            if back[v, j] != 0:
                total = total + _scaled(solved[j], back[v, j])
        result.append(total)
    return result


def _triangular(matrix: fmpz_mat) -> tuple[fmpq_mat, fmpq_mat]:
    """An invertible W and a lower triangular L with W·matrix = L·W."""
    size = matrix.nrows()
    _, factors = matrix.charpoly().factor()
    rows: list[list[fmpq]] = []
    for factor, multiplicity in factors:
        eigenvalue = -factor[0]
        for _ in range(multiplicity):
            shifted = [[fmpq(matrix[i, j]) - (eigenvalue if i == j else 0) for j in range(size)] for i in range(size)]
            rows.append(_new_row(shifted, rows))
    change = fmpq_mat(rows)
    return change, change * fmpq_mat(matrix) * change.inv()


def _new_row(shifted: list[list[fmpq]], rows: list[list[fmpq]]) -> list[fmpq]:
    """A row w outside the span of ``rows`` with w·shifted inside it."""
    size = len(shifted)
    stacked = fmpq_mat(shifted + rows).transpose()
    for vector in _nullspace(stacked):
        candidate = vector[:size]
        if fmpq_mat([*rows, candidate]).rank() == len(rows) + 1:
            return candidate
    raise AssertionError("a remaining eigenvalue has an eigenvector modulo the rows found")


def _nullspace(matrix: fmpq_mat) -> list[list[fmpq]]:
    """A basis of the v with matrix·v = 0."""
    reduced, rank = matrix.rref()
    columns = matrix.ncols()
    pivots = [next(j for j in range(columns) if reduced[i, j] != 0) for i in range(rank)]
    basis: list[list[fmpq]] = []
    for free in range(columns):
        if free in pivots:
            continue
        vector = [fmpq(0)] * columns
        vector[free] = fmpq(1)
        for i, pivot in enumerate(pivots):
            vector[pivot] = -reduced[i, free]
        basis.append(vector)
    return basis


def _interleaved(prefix: list[ExpPoly], residues: list[Sequence]) -> Sequence:
    """One sequence from its first values and the sequences of its residues."""
    period = len(residues)
    if period > MAX_PERIOD:
        raise NoClosedForm(f"its period is {period}, more than {MAX_PERIOD}")
    start = max(s.start for s in residues)
    even = [s.from_start(start) for s in residues]
    values = [even[r].prefix[q] for q in range(start) for r in range(period)]
    return Sequence((*prefix, *values), tuple(s.forms[0] for s in even))

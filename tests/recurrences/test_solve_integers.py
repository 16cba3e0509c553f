"""Closed forms over ℤ against plain iteration, class by class; every update of a class must be solved."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopless import terms as t
from loopless.terms import INTEGERS, EvaluationError, Var
from stepping import (
    K,
    check,
    floored,
    linear,
    number,
    plus,
    polynomials,
    residue,
    run,
    solved,
    times,
    values_of,
    variable,
)

W, X, Y, Z, I, S, N = (Var(name, INTEGERS) for name in "wxyzisn")  # noqa: E741
ALL = (W, X, Y, Z, I, S, N)
SMALL = st.integers(-3, 3)


def text_of(var, program):
    return t.text(solved(program).closed[var].term)


@given(st.data(), values_of(ALL))
def test_triangular_polynomial_sums(data, values):
    """Each variable adds a polynomial of those before it: Faulhaber at every level."""
    program = {}
    for count, var in enumerate((I, X, Y, S)):
        gain = data.draw(polynomials((*program, N, Z), degree=2 if count < 2 else 1))
        program[var] = plus(variable(var), gain)
    solution = check(program, values)
    assert not solution.refused
    assert {c.kind for c in solution.closed.values()} <= {"constant", "linear", "polynomial"}


@given(st.data(), values_of(ALL))
def test_triangular_geometric(data, values):
    """x' = a·x + (products of what is solved), with equal, opposite and zero ratios among them."""
    program = {}
    for var in (I, X, Y, S):
        gain = data.draw(polynomials((*program, N), degree=2))
        program[var] = plus(times(number(data.draw(SMALL)), variable(var)), gain)
    refused = check(program, values, last=20).refused
    assert all("too large" in why for why in refused.values()), refused
    assert not refused.keys() & {I, X}


@given(st.data(), values_of(ALL))
def test_resets_copies_and_shift_registers(data, values):
    order = data.draw(st.permutations((X, Y, Z, W)))
    source = [variable(order[1]), variable(order[2]), variable(order[3]), data.draw(polynomials((N,)))]
    program = dict(zip(order, source, strict=True))
    solution = check(program, values, last=8)
    assert not solution.refused
    assert all(c.kind == "constant" and c.valid_from <= 4 for c in solution.closed.values())


@given(st.data(), values_of(ALL))
def test_signed_permutations_with_drift(data, values):
    variables = (X, Y, Z, W)
    order = data.draw(st.permutations(variables))
    program = {}
    for var, source in zip(variables, order, strict=True):
        sign = data.draw(st.sampled_from((1, -1)))
        program[var] = plus(times(number(sign), variable(source)), linear([data.draw(SMALL)], [N], data.draw(SMALL)))
    program[S] = plus(variable(S), variable(X), times(variable(Y), number(2)))
    solution = check(program, values)
    assert not solution.refused
    for var in variables:
        closed = solution.closed[var]
        assert closed.kind in ("constant", "linear", "periodic") and closed.period <= 12


@given(st.data(), values_of(ALL))
def test_any_integer_matrix(data, values):
    """With a printed form where the eigenvalues allow one, by matrix powers otherwise."""
    variables = (X, Y, Z)
    program = {
        var: plus(linear([data.draw(SMALL) for _ in variables], variables), data.draw(polynomials((N, I))))
        for var in variables
    }
    program[I] = plus(variable(I), number(1))
    assert not check(program, values, last=20).refused


@given(st.data(), values_of(ALL))
def test_jordan_blocks(data, values):
    """Triangular matrices, zero and repeated eigenvalues among them, in another basis: always printed."""
    variables = (X, Y, Z)
    matrix = [[data.draw(SMALL) if j >= i else 0 for j in range(3)] for i in range(3)]
    for _ in range(3):
        i, j = data.draw(st.sampled_from([(i, j) for i in range(3) for j in range(3) if i != j]))
        c = data.draw(st.integers(-2, 2))
        matrix[i] = [a + c * b for a, b in zip(matrix[i], matrix[j], strict=True)]
        for row in matrix:
            row[j] -= c * row[i]
    program = {I: plus(variable(I), number(2))}
    for var, row in zip(variables, matrix, strict=True):
        program[var] = plus(linear(row, variables), data.draw(polynomials((I, N), degree=1)))
    solution = check(program, values, last=15)
    assert not solution.refused
    assert all(c.term is not None for c in solution.closed.values())


@given(st.data(), values_of(ALL), st.integers(1, 6))
def test_floors_and_remainders_of_solved_variables(data, values, divisor):
    slope = data.draw(st.integers(-4, 4))
    inner = plus(variable(I), data.draw(polynomials((N,), degree=1)))
    program = {
        I: plus(variable(I), number(slope)),
        S: plus(variable(S), floored(inner, divisor)),
        X: plus(variable(X), residue(times(inner, inner), divisor)),
    }
    assert not check(program, values, last=30).refused


@given(values_of(ALL), st.integers(2, 10), st.integers(-5, 5))
def test_repeated_division(values, divisor, offset):
    program = {X: floored(plus(variable(X), number(offset)), divisor), Y: residue(variable(X), divisor)}
    solution = check(program, values, last=70)
    assert not solution.refused
    far = run(program, values, 300)
    assert solution.closed[X].evaluate(values, 10**18) == far[X]
    assert solution.closed[Y].evaluate(values, 10**18) == far[Y]


def test_c_division_repeated():
    for start in (12345, -12345, 0, 9, -9):
        closed = solved({X: (t.trunc_div(X, t.const(10)), lambda v: 0)}).closed[X]
        for k in range(8):
            expected = abs(start) // 10**k * (1 if start >= 0 else -1)
            assert closed.evaluate({X: start}, k) == expected
            assert t.evaluate(closed.term, {X: start, K: k}) == expected


def test_idempotent_updates():
    operations = {
        X: (t.mod(X, N), lambda v: v[X] % v[N]),
        Y: (t.minimum(Y, N), lambda v: min(v[Y], v[N])),
        Z: (t.bit_and(Z, N), lambda v: v[Z] & v[N]),
        W: (t.bit_xor(W, N), lambda v: v[W] ^ v[N]),
        I: (t.trunc_rem(I, N), lambda v: abs(v[I]) % abs(v[N]) * (1 if v[I] > 0 else -1)),
        S: (t.maximum(S, N, t.ZERO), lambda v: max(v[S], v[N], 0)),
    }
    for n in (1, 3, -4, 100):
        solution = check(operations, {X: 17, Y: 5, Z: 12, W: 9, I: -41, S: 0, N: n}, last=7)
        assert not solution.refused


def test_textbook_forms():
    assert text_of(S, {S: plus(variable(S), variable(N))}) == "k*n + s"
    squares = {I: plus(variable(I), number(1)), S: plus(variable(S), times(variable(I), variable(I)))}
    squares[Y] = plus(variable(Y), variable(S))
    for n in (0, 1, 2, 10, 1000):
        expected = sum(j * j for j in range(n))
        assert solved(squares).closed[S].evaluate({I: 0, S: 0, Y: 0}, n) == expected == n * (n - 1) * (2 * n - 1) // 6
    triple = solved({X: times(number(3), variable(X))}).closed[X]
    assert (t.text(triple.term), triple.kind) == ("pow(3, k)*x", "geometric")
    swap = solved({X: variable(Y), Y: plus(variable(X), number(-3))})
    assert {v: (c.kind, c.period) for v, c in swap.closed.items()} == {X: ("periodic", 2), Y: ("periodic", 2)}
    mixed = check({X: plus(times(number(2), variable(X)), variable(I)), I: plus(variable(I), number(1))}, {X: 5, I: -2})
    # 2^k (x + i + 1) - (i + k + 1) solves x' = 2x + i, i' = i + 1: substitute
    for k in range(60):
        assert mixed.closed[X].evaluate({X: 5, I: -2}, k) == 2**k * 4 - (k - 1)


def test_powers_with_a_growing_exponent():
    power = (t.shift_left(t.ONE, I), lambda v: 1 << v[I])
    program = {I: plus(variable(I), number(2)), S: plus(variable(S), power)}
    for start in (0, 1, 5):
        assert not check(program, {I: start, S: 3}, last=12).refused
    assert solved(program).closed[S].evaluate({I: -1, S: 3}, 0) == 3


def test_symbolic_ratio():
    program = {X: times(variable(X), variable(N)), S: plus(variable(S), variable(X))}
    for n in (0, 1, -1, 2, -5):
        solution = check(program, {X: 3, S: 1, N: n}, last=12)
        assert not solution.refused
    assert t.text(solution.closed[X].term) == "pow(n, k)*x"
    assert solution.closed[S].kind == "c-finite"


def test_fibonacci_over_the_integers():
    solution = check({X: variable(Y), Y: plus(variable(X), variable(Y))}, {X: 0, Y: 1}, last=90)
    assert solution.closed[X].kind == "c-finite"
    shown = t.substitute(solution.closed[X].term, {solution.counter: t.const(1000)})
    assert t.evaluate(shown, {X: 0, Y: 1}) == _fibonacci(1000)
    assert solution.closed[X].evaluate({X: 0, Y: 1}, 1000) % 10**9 == _fibonacci(1000) % 10**9
    with pytest.raises(EvaluationError):
        solution.closed[X].evaluate({X: 0, Y: 1}, 10**18)


def _fibonacci(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def test_accumulator_of_fibonacci_is_evaluated():
    program = {X: variable(Y), Y: plus(variable(X), variable(Y)), S: plus(variable(S), times(variable(X), variable(X)))}
    solution = check(program, {X: 0, Y: 1, S: 0}, last=40)
    # Σ F_i² for i < k is F_(k-1)·F_k
    assert solution.closed[S].evaluate({X: 0, Y: 1, S: 0}, 500) == _fibonacci(499) * _fibonacci(500)


def test_a_number_too_large_is_an_error_not_a_wait():
    closed = solved({X: times(number(3), variable(X))}).closed[X]
    with pytest.raises(EvaluationError):
        closed.evaluate({X: 1}, 10**18)


REFUSED = [
    ({X: times(variable(X), variable(X))}, X, "x*x multiplies"),
    ({X: times(variable(X), variable(I)), I: plus(variable(I), number(1))}, X, "x is multiplied by i, which changes"),
    ({X: (t.ite(t.less(X, N), t.add(X, t.ONE), t.ZERO), None)}, X, "is not linear in x"),
    ({X: plus(variable(X), (t.minimum(I, N), None)), I: plus(variable(I), number(1))}, X, "min(i, n) is piecewise"),
    (
        {X: plus(variable(X), (t.read("a", I, INTEGERS), None)), I: plus(variable(I), number(1))},
        X,
        "reads at an offset",
    ),
    (
        {X: plus(variable(X), (t.trunc_div(I, t.const(3)), None)), I: plus(variable(I), number(1))},
        X,
        "rounds towards 0",
    ),
    (
        {X: plus(variable(X), residue(times(variable(I), variable(I)), 67)), I: plus(variable(I), number(1))},
        X,
        "modulo 67 have no period",
    ),
    ({X: (t.trunc_div(t.add(X, X, t.ONE), t.const(3)), None)}, X, "(2*x + 1) / 3 is not linear in x"),
    ({X: (t.add(X, t.trunc_div(t.sub(X, t.const(3)), t.const(3))), None)}, X, "(x - 3) / 3 is not linear in x"),
    ({X: plus(variable(X), (t.shift_left(t.ONE, I), None)), I: plus(variable(I), number(-1))}, X, "does not grow by"),
    ({X: plus(variable(X), variable(Y)), Y: times(variable(Y), variable(Y))}, X, "y has no closed form"),
]


@pytest.mark.parametrize(("program", "var", "reason"), REFUSED, ids=[r[2] for r in REFUSED])
def test_refusals_name_variable_update_and_cause(program, var, reason):
    solution = solved(program)
    assert reason in solution.refused[var]


@pytest.mark.parametrize("start", [0, 66, -1, -67, 1000])
def test_remainders_of_a_counter_are_summed(start):
    program = {X: plus(variable(X), residue(variable(I), 67)), I: plus(variable(I), number(1))}
    solution = check(program, {X: 5, I: start}, last=300)
    assert solution.closed[X].term is not None


@given(st.integers(0, 3), values_of(ALL))
def test_temporaries_are_composed(shape, values):
    body = (
        (t.ite(t.less(I, N), I, t.neg(I)), lambda v: v[I] if v[I] < v[N] else -v[I]),
        (t.minimum(I, N), lambda v: min(v[I], v[N])),
        (t.trunc_div(I, t.const(3)), lambda v: abs(v[I]) // 3 * (1 if v[I] >= 0 else -1)),
        (t.mod(I, t.const(1000)), lambda v: v[I] % 1000),
    )[shape]
    program = {I: plus(variable(I), number(2)), X: body, Y: variable(X)}
    solution = check(program, values, last=10)
    assert not solution.refused
    assert solution.closed[X].kind == "composed"


@given(st.data(), values_of((X, Y, N)))
def test_quotients_with_summands_again_and_again(data, values):
    """x' = (x + a) / c + b with C's quotient; nothing changes any more after as many steps as x has digits."""
    values = {v: value % 1000 - 500 if v is not X else value for v, value in values.items()}
    divisor = data.draw(st.integers(2, 11))
    inner = data.draw(st.sampled_from([number(0), number(3), number(-8), variable(N)]))
    outer = data.draw(st.sampled_from([number(1), number(-1), number(17), plus(variable(N), number(-2))]))

    def meaning(given):
        top = given[X] + inner[1](given)
        return abs(top) // divisor * (1 if top >= 0 else -1) + outer[1](given)

    term = t.add(t.trunc_div(t.add(X, inner[0]), t.const(divisor)), outer[0])
    solution = check({X: (term, meaning)}, values, last=90)
    assert not solution.refused
    assert solution.closed[X].evaluate(values, 10**18) == run({X: (term, meaning)}, values, 200)[X]


@given(st.integers(-200, 200), st.integers(1, 90), st.integers(-9, 9), st.integers(2, 5), st.integers(-9, 9))
def test_the_range_of_what_is_divided_again_and_again(low, size, inner, divisor, outer):
    x = Var("x", INTEGERS)
    shown = t.divided(
        K, t.minimum(t.maximum(x, t.const(low)), t.const(low + size)), t.const(inner), divisor, t.const(outer)
    )
    least, most = t.range_of(shown)
    values = [t.evaluate(shown, {x: start, K: k}) for start in range(low, low + size + 1) for k in (0, 1, 2, 3, 30)]
    assert least <= min(values)
    assert max(values) <= most

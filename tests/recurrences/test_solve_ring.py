"""Closed forms modulo 2^width against plain iteration at 8 to 64 bits, and against squaring for huge counts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loopless import terms as t
from loopless.terms import INTEGERS, IntType, Var
from stepping import (
    I8,
    I64,
    U8,
    U32,
    U64,
    check,
    floored,
    linear,
    number,
    plus,
    polynomials,
    residue,
    solved,
    times,
    values_of,
    variable,
    wrapped,
)

X, Y, N = (Var(name, INTEGERS) for name in "xyn")
WIDTHS = st.sampled_from((8, 16, 31, 32, 64))
HUGE = st.one_of(st.integers(0, 10**18), st.sampled_from((10**18, 2**64, 2**64 - 1, 2**32, 10**9)))


def typed(data, *names):
    width = data.draw(WIDTHS)
    return tuple(Var(name, IntType(width, data.draw(st.booleans()))) for name in names)


@given(st.data())
def test_triangular_accumulators(data):
    i, x, s, n = typed(data, "i", "x", "s", "n")
    program = {}
    for var in (i, x, s):
        ratio = data.draw(st.sampled_from((0, 1, 1, 1, -1, 2, 3, 255)))
        gain = data.draw(polynomials((*program, n)))
        program[var] = wrapped(plus(times(number(ratio), variable(var)), gain), var.type)
    assert not check(program, data.draw(values_of((i, x, s, n)))).refused


@given(st.data())
def test_sums_of_residues(data):
    """A narrow variable that wraps, summed where its exact value counts: as it is, reduced again, divided."""
    u, v = Var("u", data.draw(st.sampled_from((I8, U8)))), Var("v", U32)
    s = Var("s", data.draw(st.sampled_from((U64, I64, U32))))
    program = {
        u: wrapped(plus(variable(u), number(data.draw(st.integers(-300, 300)))), u.type),
        v: plus(variable(v), number(data.draw(st.integers(0, 40)))),
    }
    summands = [variable(u), wrapped(variable(v), I8), floored(variable(v), 100), residue(variable(v), 77), variable(v)]
    gain = [times(number(data.draw(st.integers(-9, 9))), part) for part in summands]
    program[s] = wrapped(plus(variable(s), *gain, number(5)), s.type)
    entry = data.draw(values_of((u, v, s)))
    entry[v] //= 2
    assert not check(program, entry).refused


@given(st.data())
def test_matrices(data):
    variables = typed(data, "x", "y", "z")
    program = {
        v: wrapped(linear([data.draw(st.integers(-3, 3)) for _ in variables], variables, 1), v.type) for v in variables
    }
    assert not check(program, data.draw(values_of(variables))).refused


def affine_power(a: int, c: int, k: int, modulus: int) -> tuple[int, int]:
    """x ↦ a·x + c composed k times, by squaring."""
    scale, shift = 1, 0
    while k:
        if k & 1:
            scale, shift = a * scale % modulus, (a * shift + c) % modulus
        a, c = a * a % modulus, (a * c + c) % modulus
        k >>= 1
    return scale, shift


@given(st.data(), st.integers(-(2**63), 2**64), st.integers(-(2**63), 2**64), HUGE)
def test_affine_power_by_squaring(data, a, c, k):
    (x,) = typed(data, "x")
    values = data.draw(values_of((x,)))
    solution = solved({x: wrapped(plus(times(number(a), variable(x)), number(c)), x.type)})
    modulus = 1 << x.type.width
    scale, shift = affine_power(a % modulus, c % modulus, k, modulus)
    expected = x.type.wrap(scale * values[x] + shift) if k else values[x]
    assert solution.closed[x].evaluate(values, k) == expected


def test_lcg_modulo_2_32():
    x = Var("x", U32)
    closed = solved({x: wrapped(plus(times(number(1664525), variable(x)), number(1013904223)), U32)}).closed[x]
    assert closed.kind == "geometric" and closed.wrap == U32
    state = 42
    for k in range(1000):
        assert closed.evaluate({x: 42}, k) == state
        state = (1664525 * state + 1013904223) % 2**32
    # the period of this generator is 2^32 (Hull and Dobell)
    assert closed.evaluate({x: 42}, 2**32) == 42
    assert closed.evaluate({x: 42}, 10**18) == closed.evaluate({x: 42}, 10**18 % 2**32)


@given(st.data(), HUGE)
def test_sums_of_powers_at_huge_counts(data, k):
    """Faulhaber's denominators: the division comes before the reduction."""
    i, a, b, c = typed(data, "i", "a", "b", "c")
    square = times(variable(i), variable(i))
    program = {
        i: wrapped(plus(variable(i), number(1)), i.type),
        a: wrapped(plus(variable(a), variable(i)), a.type),
        b: wrapped(plus(variable(b), square), b.type),
        c: wrapped(plus(variable(c), times(square, variable(i))), c.type),
    }
    solution = solved(program)
    values = dict.fromkeys(program, 0)
    wrap = {v: v.type.wrap for v in program}
    assert solution.closed[a].evaluate(values, k) == wrap[a](k * (k - 1) // 2)
    assert solution.closed[b].evaluate(values, k) == wrap[b](k * (k - 1) * (2 * k - 1) // 6)
    assert solution.closed[c].evaluate(values, k) == wrap[c]((k * (k - 1) // 2) ** 2)


def test_power_of_three_at_a_billion():
    x, s = Var("x", U64), Var("s", U64)
    program = {
        x: wrapped(times(number(3), variable(x)), U64),
        s: wrapped(plus(variable(s), variable(x)), U64),
    }
    solution = solved(program)
    for k in (10**9, 10**18):
        assert solution.closed[x].evaluate({x: 1, s: 0}, k) == pow(3, k, 2**64)
        assert solution.closed[s].evaluate({x: 1, s: 0}, k) == (pow(3, k, 2**65) - 1) // 2 % 2**64


def fibonacci_pair(n: int, modulus: int) -> tuple[int, int]:
    """F_n and F_(n+1) by doubling: F_2m = F_m·(2·F_(m+1) - F_m), F_(2m+1) = F_m² + F_(m+1)²."""
    if n == 0:
        return 0, 1
    a, b = fibonacci_pair(n // 2, modulus)
    c, d = a * (2 * b - a) % modulus, (a * a + b * b) % modulus
    return (d, (c + d) % modulus) if n % 2 else (c, d)


@given(HUGE)
def test_fibonacci_with_a_copy(k):
    a, b = Var("a", U64), Var("b", U64)
    solution = solved({a: variable(b), b: wrapped(plus(variable(a), variable(b)), U64)})
    assert {c.kind for c in solution.closed.values()} == {"ring"}
    assert solution.closed[a].evaluate({a: 0, b: 1}, k) == fibonacci_pair(k, 2**64)[0]
    assert solution.closed[b].evaluate({a: 0, b: 1}, k) == fibonacci_pair(k, 2**64)[1]


def test_a_hash_with_a_symbolic_factor():
    h, m, i = Var("h", U32), Var("m", U32), Var("i", U32)
    program = {
        h: wrapped(plus(times(variable(h), variable(m)), variable(i)), U32),
        i: wrapped(plus(variable(i), number(1)), U32),
    }
    for entry in ({h: 5381, m: 33, i: 0}, {h: 2**32 - 1, m: 2**32 - 1, i: 2**32 - 3}, {h: 0, m: 0, i: 9}):
        assert not check(program, entry).refused


def test_reading_a_wrapped_variable():
    u, v, w, s = Var("u", U8), Var("v", U8), Var("w", U32), Var("s", INTEGERS)
    x, y = Var("x", U32), Var("y", INTEGERS)
    program = {
        u: wrapped(plus(variable(u), number(7)), U8),
        v: wrapped(plus(variable(v), variable(u)), U8),
        w: wrapped(plus(variable(w), variable(u)), U32),
        s: plus(variable(s), variable(u)),
        x: wrapped(plus(variable(x), times(variable(u), variable(u))), U32),
        y: plus(variable(y), times(variable(u), variable(u))),
    }
    solution = check(program, {u: 250, v: 9, w: 0, s: 0, x: 0, y: 0})
    assert solution.closed.keys() == {u, v, w, s}
    assert (solution.closed[v].kind, solution.closed[v].valid_from) == ("polynomial", 0)
    assert {solution.closed[w].kind, solution.closed[s].kind} == {"residue-sum"}
    assert "u wraps around at 8 bits and is read at 32 bits" in solution.refused[x]
    assert "u wraps around at 8 bits and is read where its exact value counts" in solution.refused[y]


def test_low_bits_of_a_wrapped_variable():
    u, s, q = Var("u", U32), Var("s", INTEGERS), Var("q", INTEGERS)
    program = {
        u: wrapped(plus(variable(u), number(3)), U32),
        s: plus(variable(s), residue(variable(u), 8)),
        q: plus(variable(q), floored(variable(u), 8)),
    }
    solution = check(program, {u: 2**32 - 10, s: 0, q: 0})
    assert s in solution.closed and q in solution.refused


def test_a_mutual_dependency_of_two_widths():
    u, v = Var("u", U8), Var("v", U32)
    program = {
        u: wrapped(plus(variable(u), variable(v)), U8),
        v: wrapped(plus(variable(u), variable(v)), U32),
    }
    solution = check(program, {u: 250, v: 2**32 - 1})
    assert "different widths" in solution.refused[v]


def test_entry_values_outside_the_ring():
    """A wide variable that is reduced to few bits, and copies of it."""
    x, y, z = Var("x", I64), Var("y", I64), Var("z", I8)
    program = {
        x: wrapped(plus(variable(x), number(1)), U8),
        y: variable(x),
        z: wrapped(plus(variable(z), variable(x)), I8),
    }
    for start in (0, 255, 256, -1, 2**63 - 1, -(2**63)):
        assert not check(program, {x: start, y: -5, z: 100}).refused


@given(st.data())
def test_copies_among_wrapped_variables(data):
    y = Var("y", U8)
    x = Var("x", data.draw(st.sampled_from((U8, I64))))
    z = Var("z", data.draw(st.sampled_from((x.type, I64))))
    program = {
        x: variable(y),
        y: wrapped(plus(variable(x), times(number(data.draw(st.integers(-2, 2))), variable(z))), U8),
        z: data.draw(st.sampled_from((variable(x), variable(y)))),
    }
    check(program, data.draw(values_of((x, y, z))))


def test_signed_char_counts_around():
    b = Var("b", I8)
    closed = solved({b: wrapped(plus(variable(b), number(1)), I8)}).closed[b]
    assert [closed.evaluate({b: 126}, k) for k in range(4)] == [126, 127, -128, -127]
    assert closed.evaluate({b: 126}, 10**18) == (126 + 10**18 + 128) % 256 - 128
    assert t.text(closed.term) == "(int8_t)(b + k)" and closed.valid_from == 0


def test_residues_by_other_numbers_need_the_exact_value():
    u, s = Var("u", U8), Var("s", INTEGERS)
    program = {u: wrapped(plus(variable(u), number(2)), U8), s: plus(variable(s), residue(variable(u), 3))}
    solution = check(program, {u: 250, s: 0})
    assert "u wraps around at 8 bits" in solution.refused[s]


def test_a_mutual_dependency_with_an_exact_variable():
    u, s = Var("u", U8), Var("s", INTEGERS)
    program = {u: wrapped(plus(variable(u), variable(s)), U8), s: plus(variable(s), variable(u))}
    solution = check(program, {u: 250, s: 3})
    assert "u wraps around at 8 bits and s, on which it depends in turn, needs exact values" in solution.refused[s]


def remainder(a, divisor):
    def meaning(values):
        value = a[1](values)
        return abs(value) % divisor * (1 if value >= 0 else -1)

    return t.trunc_rem(a[0], t.const(divisor)), meaning


@given(st.data(), values_of((X, Y, N)), st.integers(2, 12))
def test_remainders_of_what_moves_by_an_invariant(data, values, divisor):
    values = {v: value % 256 if v is N else value for v, value in values.items()}
    take = data.draw(st.sampled_from([residue, remainder]))
    step = data.draw(st.sampled_from([number(3), number(-7), number(25), number(-25), plus(variable(N), number(-9))]))
    solution = check({X: take(plus(variable(X), step), divisor)}, values)
    assert not solution.refused


@given(st.data(), values_of((X, Y, N)))
def test_what_takes_the_same_values_again_and_again_may_be_read_by_anything(data, values):
    """x' = c - x wraps around; y sums what is no polynomial of x."""
    x8 = data.draw(st.sampled_from([Var("x", I8), Var("x", U8)]))
    values = {x8: x8.type.wrap(values[X]), Y: values[Y], N: values[N]}
    swinging = wrapped(plus(variable(N), times(number(-1), variable(x8))), x8.type)
    small = wrapped(times(variable(x8), variable(x8)), I8)
    read = data.draw(st.sampled_from([swinging, small, remainder(variable(x8), 7), remainder(swinging, 5)]))
    solution = check({x8: swinging, Y: plus(variable(Y), read)}, values)
    assert not solution.refused


@given(st.data(), values_of((X, Y)))
def test_factors_that_are_powers_of_what_moves(data, values):
    """x' = c·2^(a·i + b)·x while i rises."""
    x = Var("x", data.draw(st.sampled_from((I8, U32, I64))))
    i = Var("i", IntType(8, signed=False))
    base, slope, start = data.draw(st.integers(2, 5)), data.draw(st.integers(0, 3)), data.draw(st.integers(0, 4))
    exponent = plus(number(start), times(number(slope), variable(i)))
    power = t.power(t.const(base), exponent[0]), lambda values: base ** exponent[1](values)
    factor = times(number(data.draw(st.sampled_from((1, 1, -1, 3)))), power)
    program = {
        i: plus(variable(i), number(data.draw(st.integers(0, 2)))),
        x: wrapped(times(factor, variable(x)), x.type),
    }
    values = {x: x.type.wrap(values[X]), i: abs(values[Y]) % 9}
    assert not check(program, values).refused

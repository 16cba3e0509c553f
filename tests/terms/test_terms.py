"""Terms mean what their constructors say: every simplification is compared with plain integer arithmetic."""

from __future__ import annotations

import pickle
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopless import terms as t

I8, U8, I4, U4 = t.IntType(8), t.IntType(8, False), t.IntType(4), t.IntType(4, False)
VARIABLES = (t.Var("x", I4), t.Var("u", U4), t.Var("s", I8), t.Var("z", t.INTEGERS))


def trunc_div(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


BINARY = {
    t.add: lambda a, b: a + b,
    t.sub: lambda a, b: a - b,
    t.mul: lambda a, b: a * b,
    t.minimum: min,
    t.maximum: max,
    t.bit_and: lambda a, b: a & b,
    t.bit_or: lambda a, b: a | b,
    t.bit_xor: lambda a, b: a ^ b,
}
DIVISIONS = {
    t.floor_div: lambda a, b: a // b,
    t.mod: lambda a, b: a % b,
    t.trunc_div: trunc_div,
    t.trunc_rem: lambda a, b: a - b * trunc_div(a, b),
}
RELATIONS = {
    t.less: lambda a, b: a < b,
    t.less_equal: lambda a, b: a <= b,
    t.greater: lambda a, b: a > b,
    t.greater_equal: lambda a, b: a >= b,
    t.equal: lambda a, b: a == b,
    t.not_equal: lambda a, b: a != b,
}


@st.composite
def built(draw, depth=4):
    """A term and the function of its variables that it was built to denote."""
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        if draw(st.booleans()):
            value = draw(st.one_of(st.integers(-9, 9), st.sampled_from([-128, 127, 255, 256, 1 << 31])))
            return t.const(value), lambda env, value=value: value
        var = draw(st.sampled_from(VARIABLES))
        return var, lambda env, var=var: env[var]
    a, fa = draw(built(depth=depth - 1))
    kind = draw(st.integers(0, 3))
    if kind == 0:
        kind_of = draw(st.sampled_from([I8, U8, I4, U4]))
        return t.wrap(a, kind_of), lambda env: kind_of.wrap(fa(env))
    if kind == 1:
        make = draw(st.sampled_from(sorted(DIVISIONS, key=lambda f: f.__name__)))
        divisor = draw(st.sampled_from([-7, -3, -1, 1, 2, 3, 4, 8, 10, 16, 256]))
        return make(a, t.const(divisor)), lambda env: DIVISIONS[make](fa(env), divisor)
    b, fb = draw(built(depth=depth - 1))
    if kind == 2:
        make = draw(st.sampled_from(sorted(RELATIONS, key=lambda f: f.__name__)))
        condition = make(a, b)
        if draw(st.booleans()):
            condition = t.negate(t.negate(condition))
        return t.ite(condition, t.const(1), a), lambda env: 1 if RELATIONS[make](fa(env), fb(env)) else fa(env)
    make = draw(st.sampled_from(sorted(BINARY, key=lambda f: f.__name__)))
    return make(a, b), lambda env: BINARY[make](fa(env), fb(env))


environments = st.fixed_dictionaries(
    {
        var: st.integers(-20 if var.type.min is None else var.type.min, 20 if var.type.max is None else var.type.max)
        for var in VARIABLES
    }
)


@given(built(), environments)
def test_a_term_has_the_value_it_was_built_for(pair, env):
    term, meaning = pair
    assert t.evaluate(term, env) == meaning(env)


@given(built(), environments)
def test_the_range_holds_the_value(pair, env):
    term, meaning = pair
    low, high = t.range_of(term)
    value = meaning(env)
    assert (low is None or low <= value) and (high is None or value <= high)


@given(built(depth=3), built(depth=2), environments)
def test_substitution_is_evaluation_of_the_replacement(pair, replacement, env):
    term, meaning = pair
    new, new_meaning = replacement
    z = VARIABLES[3]
    assert t.evaluate(t.substitute(term, {z: new}), env) == meaning({**env, z: new_meaning(env)})


@given(built(depth=3), built(depth=3), built(depth=2), environments)
def test_conditions_follow_the_logic(a, b, c, env):
    p, q, r = t.less(a[0], b[0]), t.equal(b[0], c[0]), t.not_equal(a[0], c[0])
    vp, vq, vr = a[1](env) < b[1](env), b[1](env) == c[1](env), a[1](env) != c[1](env)
    mixed = t.disjunction((t.conjunction((p, t.negate(q))), r))
    assert t.holds(mixed, env) == ((vp and not vq) or vr)
    assert t.holds(t.negate(mixed), env) != t.holds(mixed, env)


@given(built(depth=3))
def test_terms_are_interned_and_survive_pickling(pair):
    assert pickle.loads(pickle.dumps(pair[0])) is pair[0]


@pytest.mark.parametrize(("signed", "written"), [(False, "(mod n d)"), (True, None)])
def test_a_remainder_by_a_variable_is_written_where_it_is_that_of_smtlib(signed, written):
    """By negative numbers SMT-LIB divides in another way; by 0 a term has no value."""
    width = t.IntType(32, signed=signed)
    assert t.smt(t.mod(t.Var("n", width), t.Var("d", width))) == written
    assert t.smt(t.mod(t.Var("n", width), t.const(0))) is None


@given(built(depth=3).filter(lambda pair: t.smt(pair[0]) is not None), environments)
def test_printed_smt_is_read_back_with_the_same_value(pair, env):
    import z3

    term, meaning = pair
    shown = t.smt(term)
    lines = [f"(declare-const {t.symbol(v.name)} Int)(assert (= {t.symbol(v.name)} {env[v]}))" for v in VARIABLES]
    solver = z3.Solver()
    solver.from_string("\n".join(_signed(lines)) + f"(declare-const out Int)(assert (= out {shown}))")
    assert solver.check() == z3.sat
    assert solver.model()[z3.Int("out")].as_long() == meaning(env)


def _signed(lines):
    import re

    return [re.sub(r" -(\d+)\)\)$", r" (- \1)))", line) for line in lines]


def test_powers_under_a_wrap_are_never_built():
    k = t.Var("k", t.INTEGERS)
    term = t.wrap(t.mul(t.power(t.const(3), k), VARIABLES[2]), t.IntType(32))
    expected = (pow(3, 10**18, 1 << 32) * 5) % (1 << 32)
    assert t.evaluate(term, {k: 10**18, VARIABLES[2]: 5}) % (1 << 32) == expected


def test_the_text_is_c():
    x, n, u = t.Var("x", t.IntType(32)), t.Var("n", t.IntType(32)), t.Var("u", t.IntType(8, False))
    assert str(t.less(x, n)) == "x < n"
    assert str(t.less(x, t.const(100))) == "x < 100"
    assert str(t.wrap(t.add(u, t.const(3)), U8)) == "(uint8_t)(u + 3)"
    assert str(t.floor_div(t.add(n, t.neg(x), t.const(6)), t.const(7))) == "ceil_div(n - x, 7)"
    assert str(t.equal(t.add(x, n), t.const(-4))) == "n + x == -4"
    assert str(t.mod(u, t.const(2))) == "u % 2"


X, Y = t.variable("x", I8), t.variable("y", I8)


def test_what_has_no_value_matters_only_where_nothing_else_decides():
    quotient, guard = t.greater(t.floor_div(X, Y), t.const(2)), t.greater(Y, t.ZERO)
    for parts in ((quotient, guard), (guard, quotient)):
        both, either = t.conjunction(parts), t.disjunction((t.negate(guard), t.negate(quotient)))
        for x, y in ((7, 0), (7, 2), (1, 2)):
            assert t.holds(both, {X: x, Y: y}) == (y > 0 and x // y > 2)
            assert t.holds(either, {X: x, Y: y}) == (not (y > 0 and x // y > 2))
    for missing in (0, 3):
        undecided = t.conjunction((quotient, t.greater(X, t.ZERO)))
        assert t.holds(undecided, {X: 1, Y: 0}, missing=missing) == (missing > 2)
    with pytest.raises(t.EvaluationError):
        t.evaluate(t.floor_div(X, Y), {X: 1, Y: 0})
    either_way = t.disjunction((quotient, t.conjunction((t.less_equal(Y, t.ZERO), t.negate(quotient)))))
    assert t.holds(either_way, {X: 1, Y: 0})
    assert not t.holds(t.negate(either_way), {X: 1, Y: 0})


def test_what_may_lack_a_value():
    assert all(t.may_lack_value(term) for term in (t.floor_div(X, Y), t.power(t.const(3), Y), t.shift_left(X, Y)))
    assert not any(t.may_lack_value(term) for term in (t.floor_div(X, t.const(-3)), t.mod(X, t.const(8)), t.mul(X, Y)))


def test_ranges_have_no_ends_that_cannot_be_written():
    power = t.power(t.const(3), t.Var("k", U8))
    assert t.range_of(power) == (1, 3**255)
    assert t.range_of(t.power(t.const(3), t.Var("k", U4))) == (1, 3**15)
    product = t.product([power] * 40)  # up to 3^10200, of more digits than Python writes
    low, high = t.range_of(product)
    assert low is not None
    assert low <= 1
    assert high is None
    t.less_equal(product, t.const(10**4000))


def test_repeated_squares_come_to_an_end():
    square = VARIABLES[0]
    for _ in range(8):
        square = t.mul(square, square)
    with pytest.raises(t.TermTooLarge):
        t.mul(square, square)
    constant = t.const(3)
    for _ in range(12):
        constant = t.power(constant, t.const(200))
    assert len(t.text(constant)) < 10_000
    low, high = t.range_of(t.power(t.const(10), t.power(t.const(10), t.const(3))))
    assert low is None or high is None or low <= high


@given(built(depth=2), built(depth=2), st.integers(-3, 3))
def test_sums_have_one_form_however_they_are_built(a, b, factor):
    """So that equal ones are one object: term by term, by a difference, a multiple, or a constant that is added last."""
    (first, _), (second, _) = a, b
    try:
        total = t.add(first, second)
    except t.TermTooLarge:
        return
    assert t.sub(total, second) is first
    assert t.sub(total, first) is second
    assert t.add(second, first) is total
    assert t.scale(total, factor) is t.add(t.scale(first, factor), t.scale(second, factor))
    assert t.sub(first, second) is t.neg(t.sub(second, first))
    moved = t.add(first, t.const(factor))
    assert moved is t.add(t.const(factor), first) is t.sub(first, t.const(-factor))
    assert t.from_polynomial(t.polynomial(moved)) is moved
    assert moved.variables == first.variables == frozenset(n for n in t.walk(first) if isinstance(n, t.Var))


@pytest.mark.parametrize(
    ("x", "y", "floor", "left"),
    [
        ((1, 0), (2, -1), 0, True),  # 2z - 1 >= z where z > 0
        ((1, 0), (2, -2), 0, False),  # 0 where z = 1
        ((2, 1), (3, 1), 0, True),
        ((2, 1), (3, 0), 0, False),  # by z = 0 it would be true of integers, but not of halves
        ((1, 0), (3, -7), 2, False),
        ((1, 0), (3, -6), 2, True),
        ((-1, 0), (-2, -1), 0, True),
        ((1, 0), (-1, 5), 0, False),
        ((-1, 4), (-4, 13), 0, True),
    ],
)
def test_of_two_raised_terms_the_lower_one_is_left(x, y, floor, left):
    """Expected values by thought: y >= x wherever x > floor."""
    z = VARIABLES[-1]

    def raised(line: tuple[int, int]) -> t.Term:
        return t.maximum(t.Const(floor), t.add(t.scale(z, line[0]), t.Const(line[1])))

    found = t.minimum(raised(x), raised(y))
    assert (found is raised(x)) == left
    for value in range(-40, 41):
        expected = min(max(floor, a * value + b) for a, b in (x, y))
        assert t.evaluate(found, {z: value}) == expected


@given(st.tuples(*[st.integers(-4, 4)] * 6), st.integers(-3, 3))
def test_the_least_of_raised_terms(coefficients, floor):
    z, s = VARIABLES[-1], VARIABLES[2]
    a, b, c, d, e, f = coefficients

    def term(at_z: int, at_s: int, by: int) -> t.Term:
        return t.maximum(t.Const(floor), t.add(t.add(t.scale(z, at_z), t.scale(s, at_s)), t.Const(by)))

    found = t.minimum(term(a, b, c), term(d, e, f))
    for at_z in range(-9, 10):
        for at_s in (-128, -5, -1, 0, 1, 2, 77, 127):
            lines = (a * at_z + b * at_s + c, d * at_z + e * at_s + f)
            assert t.evaluate(found, {z: at_z, s: at_s}) == min(max(floor, line) for line in lines)


def test_the_least_of_terms_that_are_raised_to_one_floor() -> None:
    n = t.Var("n", t.IntType(32))
    lower, upper = t.maximum(t.const(0), t.sub(n, t.const(1))), t.maximum(t.const(0), n)
    assert t.minimum(lower, upper) is lower and t.maximum(lower, upper) is upper
    other = t.maximum(t.const(1), t.sub(n, t.const(1)))  # of another floor: more for n = 0
    for value in (-3, 0, 1, 2, 9):
        for one, two in ((lower, upper), (other, upper)):
            least = min(t.evaluate(one, {n: value}), t.evaluate(two, {n: value}))
            assert t.evaluate(t.minimum(one, two), {n: value}) == least


def test_constants_end_at_a_limit():
    """Beyond that Python does not write them; repeated squares get there in a few steps."""
    with pytest.raises(t.TermTooLarge, match="bits"):
        reduce(lambda square, _: t.mul(square, square), range(20), t.Const(2))
    large = t.Const(1 << 13_990)
    assert str(large.value) in str(large)
    with pytest.raises(t.TermTooLarge):
        t.mul(large, t.Var("x", t.INTEGERS) * (1 << 100))

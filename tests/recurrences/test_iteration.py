"""Symbolic powers of an update, and the order at which one becomes a translation."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loopless import terms as t
from loopless.recurrences import finite_order, iterate
from loopless.terms import INTEGERS, Var
from loopless.terms.relation import followed
from stepping import U8, linear, number, plus, polynomials, run, step, times, values_of, variable, wrapped

W, X, Y, Z, N = (Var(name, INTEGERS) for name in "wxyzn")
U = Var("u", U8)
VARIABLES = (W, X, Y, Z, N, U)


def terms_of(program):
    return {var: term for var, (term, _) in program.items()}


@given(st.data(), values_of(VARIABLES), st.integers(0, 12))
def test_powers(data, values, n):
    program = {
        X: plus(variable(Y), data.draw(polynomials((N,)))),
        Y: plus(times(number(2), variable(X)), variable(U)),
        U: wrapped(plus(variable(U), variable(Y)), U8),
    }
    update = iterate(terms_of(program), n)
    after = run(program, values, n)
    assert {v: t.evaluate(term, values) for v, term in update.items()} == {v: after[v] for v in program}


@given(st.data(), values_of(VARIABLES))
def test_composition_of_different_updates(data, values):
    first = {X: data.draw(polynomials(VARIABLES)), Y: data.draw(polynomials(VARIABLES))}
    second = {Y: data.draw(polynomials(VARIABLES)), Z: data.draw(polynomials(VARIABLES))}
    both = followed(terms_of(first), terms_of(second))
    expected = step(second, step(first, values))
    assert both.keys() == {X, Y, Z}
    assert all(t.evaluate(term, values) == expected[v] for v, term in both.items())


@given(st.data(), values_of(VARIABLES), st.integers(0, 5))
def test_translation_of_signed_permutations(data, values, turns):
    """U^(start + r + k·period) = U^(start + r) + k·translation, by running it; and no smaller pair does."""
    variables = (W, X, Y, Z)
    order = data.draw(st.permutations(variables))
    program = {}
    for var, source in zip(variables, order, strict=True):
        reset = data.draw(st.integers(0, 4)) == 0
        sign = 0 if reset else data.draw(st.sampled_from((1, 1, -1)))
        program[var] = linear([sign], [source], data.draw(st.integers(-3, 3)))
    found = finite_order(terms_of(program), variables, max_start=5)
    assert found is not None
    for residue in range(found.period):
        base = run(program, values, found.start + residue)
        far = run(program, values, found.start + residue + turns * found.period)
        symbolic = found.at(residue, t.const(turns))
        for v in variables:
            assert far[v] == base[v] + turns * found.translation[v].value
            assert far[v] == t.evaluate(symbolic[v], values)
    assert not any(
        is_translation(program, start, period)
        for start in range(found.start + 1)
        for period in range(1, 13 if start < found.start else found.period)
    )


def is_translation(program, start, period):
    """Whether U^(start+period) - U^start is constant: an affine map is, if it agrees at 0 and at the unit vectors."""
    points = [dict.fromkeys(VARIABLES, 0)] + [{**dict.fromkeys(VARIABLES, 0), v: 1} for v in VARIABLES]
    shifts = []
    for point in points:
        late, early = run(program, point, start + period), run(program, point, start)
        shifts.append(tuple(late[v] - early[v] for v in program))
    return len(set(shifts)) == 1


def test_known_orders():
    drift = finite_order({X: Y, Y: t.add(X, t.const(-3))}, (X, Y))
    assert (drift.start, drift.period, drift.translation) == (0, 2, {X: t.const(-3), Y: t.const(-3)})
    copies = finite_order({X: Y, Y: Z, Z: t.add(Z, t.ONE)}, (X, Y, Z))
    assert (copies.start, copies.period) == (2, 1)
    assert finite_order({X: t.scale(X, 2)}, (X,)) is None
    assert finite_order({X: t.add(X, N)}, (X,)) is None
    symbolic = finite_order({X: t.add(X, N)}, (X,), symbolic=True)
    assert symbolic.translation == {X: N}
    assert finite_order({X: t.add(X, Y), Y: t.add(Y, t.ONE)}, (X,), symbolic=True) is None


def test_control_ignores_what_it_does_not_read():
    update = {X: t.add(X, t.ONE), Y: t.mul(Y, Y)}
    found = finite_order(update, (X, N))
    assert found.translation == {X: t.ONE} and all(Y not in step for step in found.iterates)


def test_products_too_large_are_no_order():
    update = {X: t.mul(t.add(X, Y, Z, N), t.add(X, Y, t.ONE)), Y: t.mul(t.add(X, W), t.add(Y, Z)), Z: t.mul(X, Z)}
    assert finite_order(update, (X, Y, Z)) is None

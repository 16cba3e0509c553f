"""Updates beside plain Python functions that mean the same, and the plain iteration to compare with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hypothesis import strategies as st

from loopless import terms as t
from loopless.recurrences import Solution, solve
from loopless.terms import INTEGERS, IntType, Term, Var

Meaning = Callable[[Mapping[Var, int]], int]
Expression = tuple[Term, Meaning]
Program = dict[Var, Expression]

K = Var("k", INTEGERS)
I8, U8, I32, U32, I64, U64 = (IntType(w, s) for w in (8, 32, 64) for s in (True, False))
EDGES = (0, 1, -1, 2, 7, -128, 127, 255, -(1 << 31), (1 << 31) - 1, (1 << 32) - 1, (1 << 63) - 1, -(1 << 63), 1 << 64)


def number(value: int) -> Expression:
    return t.const(value), lambda _: value


def variable(var: Var) -> Expression:
    return var, lambda values: values[var]


def plus(*parts: Expression) -> Expression:
    return t.add(*(p[0] for p in parts)), lambda values: sum(p[1](values) for p in parts)


def times(a: Expression, b: Expression) -> Expression:
    return t.mul(a[0], b[0]), lambda values: a[1](values) * b[1](values)


def wrapped(a: Expression, type: IntType) -> Expression:
    half = 1 << (type.width - 1)

    def meaning(values: Mapping[Var, int]) -> int:
        if type.signed:
            return (a[1](values) + half) % (2 * half) - half
        return a[1](values) % (2 * half)

    return t.wrap(a[0], type), meaning


def floored(a: Expression, divisor: int) -> Expression:
    return t.floor_div(a[0], t.const(divisor)), lambda values: a[1](values) // divisor


def residue(a: Expression, divisor: int) -> Expression:
    return t.mod(a[0], t.const(divisor)), lambda values: a[1](values) % divisor


def linear(coefficients: Sequence[int], variables: Sequence[Var], constant: int = 0) -> Expression:
    return plus(
        number(constant), *(times(number(c), variable(v)) for c, v in zip(coefficients, variables, strict=True))
    )


def polynomials(variables: Sequence[Var], degree: int = 2) -> st.SearchStrategy[Expression]:
    """Polynomials of up to three monomials."""
    atoms = st.sampled_from([variable(v) for v in variables]) if variables else st.just(number(1))

    def monomial(factors: list[Expression], coefficient: int) -> Expression:
        result = number(coefficient)
        for factor in factors:
            result = times(result, factor)
        return result

    part = st.builds(monomial, st.lists(atoms, max_size=degree), st.integers(-4, 4))
    return st.lists(part, max_size=3).map(lambda parts: plus(number(0), *parts))


def values_of(variables: Sequence[Var]) -> st.SearchStrategy[dict[Var, int]]:
    """Entry values within the types, edges included."""

    def one(var: Var) -> st.SearchStrategy[int]:
        if var.type.width is None:
            return st.one_of(st.integers(-20, 20), st.sampled_from(EDGES))
        inside = [e for e in EDGES if var.type.holds(e)]
        return st.one_of(st.sampled_from(inside), st.integers(var.type.min, var.type.max))

    return st.fixed_dictionaries({v: one(v) for v in variables})


def step(program: Program, values: Mapping[Var, int]) -> dict[Var, int]:
    return {**values, **{v: meaning(values) for v, (_, meaning) in program.items()}}


def run(program: Program, values: Mapping[Var, int], n: int) -> dict[Var, int]:
    current = dict(values)
    for _ in range(n):
        current = step(program, current)
    return current


def solved(program: Program) -> Solution:
    solution = solve({v: term for v, (term, _) in program.items()}, K)
    assert solution.closed.keys() | solution.refused.keys() == program.keys()
    assert not solution.closed.keys() & solution.refused.keys()
    for var, reason in solution.refused.items():
        assert reason.startswith(f"{var.name} becomes {t.text(program[var][0])} in each iteration: ")
    return solution


def check(program: Program, values: Mapping[Var, int], last: int = 40) -> Solution:
    """Compare every closed form with plain iteration for k = 0 … last."""
    solution = solved(program)
    current = dict(values)
    for k in range(last + 1):
        for var, closed in solution.closed.items():
            assert closed.evaluate(values, k) == current[var], (var, k, closed)
            if k >= closed.valid_from and closed.term is not None:
                assert t.evaluate(closed.term, {**values, K: k}) == current[var], (var, k, closed)
            if k < 6:
                assert t.evaluate(closed.at(k), values) == current[var], (var, k, closed.at(k))
        current = step(program, current)
    return solution

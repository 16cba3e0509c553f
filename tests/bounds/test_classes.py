"""Classes of terms and of counts: by reasoning, and against the values that terms take at the ends of their types."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from loopless.bounds import asymptotic_class
from loopless.bounds.asymptotics.lower import lower_class, lower_class_of
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.bounds.answers import class_of
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.terms import (
    INTEGERS,
    EvaluationError,
    IntType,
    Var,
    add,
    bit_and,
    const,
    evaluate,
    first_positive,
    floor_div,
    ite,
    less,
    maximum,
    minimum,
    mod,
    mul,
    neg,
    sub,
    trunc_div,
    trunc_rem,
    wrap,
)

I32, U32, U16, I64 = IntType(32), IntType(32, signed=False), IntType(16, signed=False), IntType(64)
N, M, K = Var("n", I32), Var("m", I32), Var("k", I64)
A, B, H = Var("a", U32), Var("b", U32), Var("h", U16)
Z = Var("z", INTEGERS)

TERMS = {
    "what is taken away from what is taken away is added": (neg(trunc_div(sub(A, B), const(2))), "O(b)"),
    "the least of a negative quotient": (neg(floor_div(sub(A, B), const(3))), "O(b)"),
    "what is taken away from an unsigned value": (sub(A, B), "O(a)"),
    "what is taken away from a signed value": (sub(N, M), "O(m + n)"),
    "a divisor of any sign": (floor_div(sub(A, B), N), "O(a + b)"),
    "a product of differences": (mul(sub(A, B), floor_div(sub(A, B), const(5))), "O(a*b + a^2 + b^2)"),
    "a negative maximum": (neg(maximum(sub(A, B), neg(B))), "O(b)"),
    # b·k + b ≥ a: by b = 1 from k = a - 1 on
    "a curve with an unsigned slope": (first_positive({(1, 1): B, (1, 0): sub(B, A)}), "O(a)"),
    "a curve with a slope of any sign": (first_positive({(1, 1): N, (1, 0): sub(B, A)}), "O(a + b)"),
    "a logarithm of what grows as one": (
        first_positive({(3, 0): const(1), (1, 0): neg(first_positive({(2, 0): const(1), (1, 0): neg(A)}))}),
        "O(log(a))",
    ),
    "a remainder by what may be negative": (trunc_rem(A, sub(N, M)), "O(m + n)"),
    "the lesser of a sum and a part of it": (minimum(sub(add(N, const(1)), M), floor_div(N, const(2))), "O(n)"),
    "a remainder by a constant": (trunc_rem(N, const(100_000)), "O(1)"),
    "bits of what may be negative": (bit_and(N, M), "O(m + n)"),
    "bits of what is not negative": (bit_and(N, A), "O(a)"),
    "bits under a mask as wide as the type": (bit_and(N, const((1 << 31) - 1)), None),
    "a wrap upwards": (wrap(add(A, const(1)), U32), "O(a)"),
    "a square that wraps": (wrap(mul(A, A), U32), "O(a^2)"),
    "a wrap downwards, to the type's end": (wrap(sub(A, const(1)), U32), None),
    "a difference that wraps": (wrap(sub(A, B), U32), None),
    "a signed wrap": (wrap(mul(const(3), N), I32), "O(n)"),
    "a wrap into a narrow type": (wrap(N, U16), "O(1)"),
    "a wrap into a type that is shorter, but not narrow": (wrap(K, I32), "O(k)"),
    "a wrap of an integer": (wrap(Z, U32), None),
    "a wrap of an integer into a narrow type": (wrap(Z, U16), "O(1)"),
    "a wrap of any sign into one": (wrap(K, U32), None),
    "a mask of such a type": (bit_and(maximum(const(0), K), const((1 << 32) - 1)), "O(k)"),
    "a remainder of such a type": (mod(maximum(const(0), K), const(1 << 32)), "O(k)"),
    "the end of the shorter type of two": (add(K, sub(const((1 << 31) - 1), N)), None),
    "the end of the one type that has one": (add(Z, sub(const((1 << 32) - 1), A)), None),
    "the end of a narrow type beside a wide one": (add(N, sub(const((1 << 16) - 1), H)), "O(n)"),
    "a wrap into the type of one of two": (wrap(add(A, sub(const(0), K)), U32), None),
    "the end of a type": (sub(const((1 << 32) - 5), A), None),
    "remainders by the end of a type": (mod(mul(const(-7), A), const(1 << 32)), None),
    "a power of two over the integers": (mod(Z, const(1 << 32)), "O(1)"),
    "a large constant over the integers": (add(Z, const(1 << 40)), "O(z)"),
}


@pytest.mark.parametrize("name", TERMS)
def test_classes_of_terms(name):
    term, expected = TERMS[name]
    grows = asymptotic_class(term, lambda var: var.name)
    assert (grows and grows.text()) == expected


def drawn(chosen: random.Random, depth: int):
    """A term over variables of several types."""
    if depth == 0:
        return chosen.choice((A, B, H, N, M, const(chosen.randint(-9, 99))))
    a, b = drawn(chosen, depth - 1), drawn(chosen, depth - chosen.randint(1, depth))
    c = const(chosen.randint(1, 9))
    made = (
        lambda: add(a, b), lambda: sub(a, b), lambda: mul(a, b), lambda: maximum(a, b), lambda: minimum(a, b),
        lambda: neg(a), lambda: floor_div(a, b), lambda: trunc_div(a, c), lambda: floor_div(a, neg(c)),
        lambda: mod(a, b), lambda: mod(a, c), lambda: trunc_rem(a, b), lambda: bit_and(a, b),
        lambda: wrap(a, chosen.choice((U32, I32, I64))), lambda: ite(less(a, b), b, a),
        lambda: mul(floor_div(a, b), b), lambda: first_positive({(1, 1): b, (1, 0): a}),
        lambda: first_positive({(1, 2): b, (1, 0): sub(a, b), (1, 1): c}),
    )  # fmt: skip
    return chosen.choice(made)()


def test_no_value_is_beyond_its_class():
    chosen, compared = random.Random(8), 0
    for _ in range(3000):
        term = drawn(chosen, chosen.choice((1, 2, 2, 3)))
        grows = asymptotic_class(term, lambda var: var.name)
        if grows is None or not term.variables or any(name.startswith("log ") for p in grows.products for name, _ in p):
            continue
        for _ in range(12):
            values = {}
            for var in term.variables:
                few = (0, 1, 2, 3, -1, -2, var.type.min, var.type.max, var.type.max - 1, 1 << chosen.randint(2, 30))
                values[var] = var.type.wrap(chosen.choice(few) * chosen.choice((1, 1, 1, -1)))
            try:
                value = evaluate(term, values)
            except EvaluationError:
                continue
            sizes = {var.name: abs(value) + 1 for var, value in values.items()}
            most = Fraction(0)
            for product in grows.products:
                total = Fraction(1)
                for name, exponent in product:
                    total *= Fraction(int(sizes[name] ** float(exponent)) + 1)
                most += total
            assert value <= most * (1 << 26), (term, grows, values)
            compared += 1
    assert compared > 10_000


def functions(folder, text: str, *, mathematical: bool = False):
    file = folder / "a.c"
    file.write_text(text)
    program = load([file], Settings(workers=1, mathematical=mathematical))
    return {f.name: f for f in answer_bounds(list(program.functions), "all", program.settings)}


def classes(found) -> tuple[str | None, str | None]:
    upper = class_of(found)
    return upper and upper.text(), lower_class(found.call, found.shown)


COUNTS = {
    "stops at a constant": ("void f(int n) { for (int i = 0; i < n && i < 20000; i++) ; }", "O(1)", "Omega(1)"),
    "a remainder": ("void f(int n) { int k = n % 100000; for (int i = 0; i < k; i++) ; }", "O(1)", "Omega(1)"),
    "a remainder near the type's end": (
        "void f(int n) { int k = n % 1000000007; for (int i = 0; i < k; i++) ; }", "O(n)", "Omega(1)"),
    "one unsigned value more": ("void f(unsigned n) { for (unsigned i = 0; i < n + 1; i++) ; }", "O(n)", "Omega(n)"),
    # From 65536 on the square wraps, and that of 7·2^29 is 0.
    "a square that wraps": ("void f(unsigned n) { for (unsigned i = 0; i != n * n; i++) ; }", "O(n^2)", None),
    # n = 0 takes 4294967295
    "one unsigned value less": ("void f(unsigned n) { for (unsigned i = 0; i < n - 1; i++) ; }", None, "Omega(size)"),
    "a narrow copy": ("void f(int n) { short k = n; for (short i = 0; i < k; i++) ; }", "O(1)", None),
    "a wide input cut off": ("void f(long n) { int k = (int) n; while (k > 0) k -= 2; }", "O(n)", None),
    "a wide input under a mask": (
        "void f(unsigned long n) { unsigned long m = n & 0xffffffffUL; for (unsigned long i = 0; i < m; i++) ; }",
        "O(n)", None),
    "a value that others change": ("volatile int w; void f(void) { for (int i = 0; i < w; i++) ; }", None, None),
    "such a value beside a wide one": (
        "volatile int w; void f(long n) { for (long i = 0; i < n; i++) for (int j = 0; j < w; j++) ; }", None, None),
    "a short value that others change": (
        "volatile short w; void f(int n) { for (int i = 0; i < n; i++) for (int j = 0; j < w; j++) ; }", "O(n)", None),
    "a string": ("void f(const char *s) { while (*s) s++; }", None, None),
    "a large constant": ("void f(void) { for (int i = 0; i < 2147483647; i++) ; }", "O(1)", "Omega(1)"),
    "half of what is taken away": (
        "void f(unsigned short m, unsigned short n) { int k = 0 - (m - n) / 2; for (int i = 0; i < k; i++) ; }",
        "O(n)", "Omega(n)"),
    "bits of both": ("void f(int n, int m) { int k = n & m; for (int i = 0; i < k; i++) ; }", "O(m + n)", "Omega(size)"),
    # Every run with n > 2147 is undefined.
    "undefined beyond": (
        "int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += 1000000; return s; }", "O(n)", None),
    "undefined for large products": (
        "int f(int n) { int c = 0; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c++; return c; }",
        "O(n^2)", None),
    "assumed to be small": (
        "void __VERIFIER_assume(int); void f(int n) { __VERIFIER_assume(n < 20000); for (int i = 0; i < n; i++) ; }",
        "O(1)", None),
    "of no input": ("int f(int m) { int s = 0; for (int i = 3; i < 10; i++) s ^= m; return s; }", "O(1)", "Omega(1)"),
    "doubling up to what does not wrap": (
        "int f(unsigned n) { int c = 0; for (unsigned m = 1; m && m <= n; m <<= 1) c++; return c; }",
        "O(log(n))", "Omega(log(n))"),
    "doubling until no bit is left": ("void f(unsigned n) { while (n) n *= 2; }", "O(1)", "Omega(1)"),
    "halving": ("void f(unsigned n) { while (n) n /= 2; }", "O(log(n))", "Omega(log(n))"),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.slow
def test_classes_of_counts(tmp_path, name):
    text, upper, lower = COUNTS[name]
    assert classes(functions(tmp_path, text)["f"]) == (upper, lower)


def test_growth_up_to_where_runs_are_undefined(tmp_path):
    found = functions(tmp_path, COUNTS["undefined for large products"][0])["f"]
    assert lower_class_of(found.call, found.shown) is None
    limited = lower_class_of(found.call, found.shown, limited=True)
    assert (limited.degree, set(limited.ray.values())) == (2, {1})
    assert 1 << 14 <= limited.until <= 46340  # 46341 squared is beyond an int


def test_over_the_integers_constants_stay_behind(tmp_path):
    text = """void f(int n) { for (int i = 0; i < n && i < 1000000000; i++) ; }
    void g(int n) { int k = n % 100000; for (int i = 0; i < k; i++) ; }
    void h(int n, int m) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) ; }"""
    found = functions(tmp_path, text, mathematical=True)
    assert classes(found["f"])[1] == "Omega(1)"
    assert classes(found["g"]) == ("O(1)", "Omega(1)")
    assert classes(found["h"]) == ("O(m*n)", "Omega(m*n)")


def test_a_bound_that_holds_for_some_inputs_only_has_no_class(tmp_path):
    text = """int s;
    int f(int n) { int i = 0;
    a: s ^= i; if (i < n) { i++; goto a; } if (s < 1000) { s += 2000; goto a; }
    for (int j = 0; j < 3; j++) s ^= j; return s; }"""
    found = functions(tmp_path, text)["f"]
    assert found.call.has_gap
    assert class_of(found) is None

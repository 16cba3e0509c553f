"""Proofs and violations of programs about which it is known by reasoning whether they are right."""

from __future__ import annotations

import pytest

from loopless.check.certificates.property import Property
from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph import build
from loopless.logic.induction import entailed
from loopless.verification.proofs import Proof, Suspect
from programs_in_c import program, proves, search

COUNTS = "int main(void) {{ int x = 0; while (x < 10) x++; if (x {} 10) reach_error(); return x; }}"
EVEN = "int main(void) {{ int x = 0; while (__VERIFIER_nondet_int()) {{ if (x > 90) x = 0; x += 2; }} if (x == {}) reach_error(); return x; }}"
CUBES = """int main(void) {
    int n = 0, x = 0, y = 1, z = 6;
    while (n < 100) { n++; x += y; y += z; z += 6; if (x != n * n * n) reach_error(); }
    return x;
}"""
TWO_PHASES = "int main(void) { int x = 0, y = 50; while (x < 100) { x++; if (x > 50) y++; } if (y != 100) reach_error(); return y; }"
RARE = "int main(void) { int x = __VERIFIER_nondet_int(); while (x > 1000) x -= 1000; if (x == 777) { if (__VERIFIER_nondet_int() == 123456) reach_error(); } return x; }"


def interpreted(source, inputs):
    module = program(source).inlined
    return Interpreter(module, build(module.functions["main"], module)).run([], (*inputs, *[0] * 8)).outcome.status


def test_without_loops_no_invariant_is_needed():
    right = search("int main(void) { int x = __VERIFIER_nondet_int(); if (x > 5 && x < 4) reach_error(); return 0; }")
    assert proves(right, right.trivially())
    assert (
        search("int main(void) { int x = __VERIFIER_nondet_int(); if (x > 5) reach_error(); return 0; }").trivially()
        is None
    )


@pytest.mark.parametrize(
    "source", [COUNTS.format("!="), EVEN.format(41), EVEN.format(94)], ids=["counts", "odd", "bound"]
)
def test_houdini_proves_what_simple_candidates_are_enough_for(source):
    made = search(source)
    made.sampled(1.0)
    assert proves(made, made.by_candidates(20.0))


ROTATED = """int main(void) {{
    int a = 1, b = 2, c = 3, x;
    for (int i = 0; i != 500; i++) {{ if (a == {}) reach_error(); x = a; a = b; b = c; c = x; }}
    return 0;
}}"""


@pytest.mark.parametrize(
    ("value", "most", "proved"), [(7, 1, False), (7, 2, False), (7, 3, True), (3, 4, False), (1, 4, False)]
)
def test_k_induction_proves_what_k_steps_tell(value, most, proved):
    """a = 7 is excluded by the two values that come after it; a is 3 in the third iteration, and 1 in the first."""
    made = search(ROTATED.format(value))
    found = made.by_steps(20.0, most)
    assert proves(made, found) if proved else found is None


@pytest.mark.slow
def test_equations_prove_what_needs_polynomials():
    made = search(CUBES)
    made.sampled(1.0)
    assert made.by_candidates(1.0) is None
    assert proves(made, made.by_equations(30.0, 3))


DIVISION = """int main(void) {
    int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
    if (a < 0 || b < 1) return 0;
    long long r = a, d = b, p = 1, q = 0;
    while (r >= d) { if (r != a || d != b * p) reach_error(); d = 2 * d; p = 2 * p; }
    while (1) {
        if (a != q * b + r || d != b * p) reach_error();
        if (p == 1) break;
        d = d / 2; p = p / 2;
        if (r >= d) { r = r - d; q = q + p; }
    }
    return 0;
}"""


@pytest.mark.slow
def test_equations_are_tried_with_what_is_plain_before_they_are_tried_with_all():
    """Beside two hundred inequalities the same equations are too much."""
    made = search(DIVISION)
    made.sampled(1.0)
    proof = made.by_plain_equations(60.0)
    assert isinstance(proof, Proof)
    assert all(len(parts) < 120 for parts in proof.invariants.values())


@pytest.mark.parametrize("wrong", [0, 1])
@pytest.mark.slow
def test_equations_alone_prove_a_division(wrong):
    """Powers of two, multiples of them, the equations that are asserted and signs are enough."""
    made = search(DIVISION.replace("q * b + r ||", f"q * b + r + {wrong} ||"))
    made.sampled(0.3)
    proof = made.by_fewest_equations(30.0)
    if wrong:
        assert proof is None
        made.inner = None  # what was asked to the end is not asked again
        assert made.by_fewest_equations(30.0) is None
    else:
        assert isinstance(proof, Proof)
        assert all(len(parts) < 25 for parts in proof.invariants.values())


PRODUCT = """extern unsigned __VERIFIER_nondet_uint(void);
int main(void) {{
    unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uint(), i = 0, s = 7 * b;
    while (i != a) {{ if (s != (i + 7) * b + {}) reach_error(); i++; s += b; }}
    return 0;
}}"""


@pytest.mark.parametrize("wrong", [0, 1])
def test_what_is_asserted_of_products_that_wrap_around_is_tried_alone(wrong):
    """s is (i + 7) * b modulo 2^32, and no equation of integers."""
    made = search(PRODUCT.format(wrong))
    made.sampled(0.3)
    proof = made.by_fewest_equations(20.0)
    assert proof is None if wrong else proves(made, proof)


UNSIGNED_DIVISION = """extern unsigned __VERIFIER_nondet_uint(void);
int main(void) {{
    unsigned a = __VERIFIER_nondet_uint(), q = 0, r = a, b = 1;
    while (r >= b) b = 2 * b;
    while (b != 1) {{
        q = 2 * q; b = b / 2;
        if (r >= b) {{ q = q + 1; r = r - b; }}
        if (a != q * b + r + {}) reach_error();
    }}
    return 0;
}}"""


@pytest.mark.parametrize("wrong", [0, 1])
@pytest.mark.slow
def test_what_is_doubled_is_a_power_or_wraps_around_to_0(wrong):
    """The first loop never ends where b is 0; behind it, b divides what it has to."""
    made = search(UNSIGNED_DIVISION.format(wrong))
    made.sampled(0.3)
    proof = made.by_plain_equations(60.0)
    if wrong:
        assert proof is None
        made.inner = None  # what was asked to the end is not asked again
        assert made.by_plain_equations(60.0) is None
    else:
        assert isinstance(proof, Proof)
        shorter = made.shortened(proof.invariants, made.safety_goals(), 20.0)
        assert all(len(parts) < 8 for parts in shorter.values())


def test_spacer_proves_what_needs_a_disjunction_of_its_own():
    made = search(
        "int main(void) { int x = 0, up = 1; while (__VERIFIER_nondet_int()) { if (up) x++; else x--; if (x == 9) up = 0; if (x == 0) up = 1; } if (x < 0) reach_error(); return x; }"
    )
    assert proves(made, made.by_horn(20.0))


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        COUNTS.format("=="),
        EVEN.format(40),
        COUNTS.replace("if", "if (x < 0) reach_error(); if").format("=="),
        CUBES.replace("n * n * n", "n * n * n + (n == 37)"),
        TWO_PHASES.replace("y != 100", "y == 100"),
    ],
    ids=["counts", "even", "one of two", "cubes", "phases"],
)
def test_wrong_programs_are_not_proved(source):
    made = search(source)
    assert made.trivially() is None
    made.sampled(1.0)
    assert made.by_candidates(3.0) is None
    assert made.by_equations(3.0, 2) is None
    assert not isinstance(made.by_horn(2.0), Proof)


def test_single_runs_find_what_small_inputs_violate():
    source = "int main(void) { int n = __VERIFIER_nondet_int(), k = 0; while (n > 0) { n--; k++; } if (k == 5) reach_error(); return 0; }"
    found = search(source).sampled(10.0)
    assert isinstance(found, Suspect)
    assert interpreted(source, found.inputs) == "error-reached"


def test_paths_find_what_only_few_inputs_violate():
    made = search(RARE)
    found = made.by_paths(30.0)
    assert isinstance(found, Suspect)
    assert found.inputs[0] % 1000 == 777
    assert found.inputs[1] == 123456
    assert interpreted(RARE, found.inputs) == "error-reached"


def test_paths_of_right_programs_end_without_a_suspect():
    assert search(COUNTS.format("!=")).by_paths(20.0, 30) is None


def test_uninitialised_variables_are_part_of_a_violation():
    source = "int main(void) { int x; int i = 0; while (i < 3) { i++; if (x == 4711) reach_error(); } return 0; }"
    found = search(source).by_paths(20.0)
    assert isinstance(found, Suspect)
    assert (found.inputs, dict(found.uninitialised)) == ((), {"x": 4711})


def test_an_overflow_is_found_with_its_inputs():
    source = "int main(void) { int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int(); if (x < 0 || y < 0) return 0; return x + y; }"
    found = search(source, Property.NO_OVERFLOW).by_paths(20.0)
    assert isinstance(found, Suspect)
    x, y = found.inputs
    assert min(x, y) >= 0
    assert x + y > 2147483647


def test_a_shortened_proof_is_one_and_has_no_conjunct_too_many():
    made = search(COUNTS.format("!="))
    made.sampled(1.0)
    found = made.by_candidates(20.0)
    kept = made.shortened(found.invariants, made.safety_goals(), 30.0)
    (cut,) = made.system.cutpoints
    assert len(kept[cut]) < len(found.invariants[cut])
    assert proves(made, Proof(kept, ""))
    for part in kept[cut]:
        rest = [other for other in kept[cut] if other is not part]
        inductive = all(entailed(t, rest if t.source == cut else (), other, 5000) for t in made.inner for other in rest)
        enough = all(entailed(t, rest, wanted, 5000) for t, wanted in made.safety_goals())
        overflows = not all(made.excluded(t, {cut: tuple(rest)}) for t in made.system.failing)
        assert not (inductive and enough) or overflows


def test_what_a_call_that_is_not_inlined_violates_is_not_proved():
    made = search(
        "void f(int n) { if (n > 0) { f(n - 1); f(n - 2); } else reach_error(); } int main(void) { f(5); return 0; }"
    )
    assert made.trivially() is None
    assert not isinstance(made.by_horn(5.0), Proof)


def exact(body: str) -> bool:
    """Whether a run with all inputs 0 is said to be one of the program as it is."""
    made = search(f"int main(void) {{ {body} return 0; }}")
    return made.runner.run(lambda *_: 0, 500).exact


def test_a_run_is_exact_only_where_all_that_it_reads_is_known():
    """A recurrent set counts as reached only by an exact run."""
    assert exact("int x = __VERIFIER_nondet_int(); while (x < 5) x++;")
    array = "int a[4]; for (int i = 0; i < 4; i++) a[i] = i;"
    assert exact(f"{array} int s = 0; for (int i = 0; i < 4; i++) s += a[i];")
    assert not exact(f"{array} int s = 0; for (int i = 0; i < 16; i++) s += ((char *)a)[i];")
    assert not exact(
        f"{array} int b[4]; __builtin_memcpy(b, a, sizeof b); int s = 0; for (int i = 0; i < 4; i++) s += b[i];"
    )
    assert not exact("int a[4]; int s = 0; for (int i = 0; i < 4; i++) s += a[i];")
    assert not exact("extern int unknown(int *); int x = 1; unknown(&x); while (x > 5) x--;")


COFACTORS = """int main(void) {{
    int x = __VERIFIER_nondet_short(), y = __VERIFIER_nondet_short();
    if (x < 1 || y < 1) return 0;
    long long a = x, b = y, p = 1, q = 0, r = 0, s = 1;
    while (a != b) {{ if (a > b) {{ a -= b; p -= q; r -= s; }} else {{ b -= a; q -= p; s -= r; }} }}
    if (p * s - q * r != {}) reach_error();
    return 0;
}}"""
HALVED = """int main(void) {{
    int n = __VERIFIER_nondet_short(), m = __VERIFIER_nondet_uchar();
    if (n < 1 || m < 1) return 0;
    int d = m, p = 1;
    while (n >= d) {{ d = 2 * d; p = 2 * p; }}
    while (p != 1) {{ d = d / 2; p = p / 2; }}
    if (d != m + {}) reach_error();
    return 0;
}}"""


@pytest.mark.parametrize(
    ("source", "right", "seconds"), [(COFACTORS, 1, 0.0), (HALVED, 0, 10.0)], ids=["cofactors", "powers"]
)
@pytest.mark.slow
def test_products_are_proved_by_equations_and_case_by_case(source, right, seconds):
    """The determinant stays 1; p is a power of two, for each of which d = m * p is linear."""
    made = search(source.format(right))
    made.sampled(3.0)
    made.by_candidates(seconds)
    assert proves(made, made.by_equations(20.0, 2))
    wrong = search(source.format(right + 1))
    assert isinstance(wrong.sampled(0.3), Suspect)
    assert wrong.by_equations(1.0, 2) is None

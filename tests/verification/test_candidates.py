"""What is proposed as invariants: it holds of the states seen, and what is needed is among it."""

from __future__ import annotations

import pytest

from loopless.logic.induction import entailed
from loopless.terms import IntType, Read, add, const, disjunction, equal, holds, less_equal, mod, mul, scale, sub
from loopless.verification.candidates import Proposals, constants_of
from programs_in_c import named, search, system
from steps_by_hand import Step

STEPS_OF_3 = (
    "int main(void) { int i = 0, s = 7; while (i < 60) { i += 3; s -= 6; } if (i + s > 999) reach_error(); return s; }"
)


def seen(source):
    """The different states at the one cutpoint of single runs."""
    made = search(source)
    made.sampled(5.0)
    (cut,) = made.system.cutpoints
    return made, cut, list({tuple(state.items()): state for state in made.seen[cut]}.values())


def follows(candidates, wanted):
    """Whether the candidates together say that."""
    return entailed(Step("", ""), candidates, wanted, 5000)


def test_the_constants_of_comparisons_and_steps_are_taken():
    found = set(constants_of(system(STEPS_OF_3)))
    assert {0, 3, 7, -6} <= found
    assert {59, 60} & found
    assert {999, 1000} & found


def test_all_that_is_proposed_holds_of_the_states_seen():
    made, cut, states = seen(STEPS_OF_3)
    assert len(states) == 21
    proposed = made.proposals()
    for condition in (*proposed.simple(cut), *proposed.equations(cut, 1), *proposed.equations(cut, 2)):
        assert all(holds(condition, state) for state in states)


def test_what_the_loop_keeps_is_proposed():
    made, cut, _ = seen(STEPS_OF_3)
    i, s = named(made.system.graph, "i"), named(made.system.graph, "s")
    proposed = made.proposals().simple(cut)
    for wanted in (
        less_equal(const(0), i),
        less_equal(i, const(60)),
        equal(mod(i, const(3)), const(0)),
        equal(add(s, scale(i, 2)), const(7)),
        less_equal(s, const(7)),
    ):
        assert follows(proposed, wanted), wanted
    assert not follows(proposed, less_equal(i, const(59)))


def test_comparisons_of_memory_are_no_guards():
    """Its content is in none of the states."""
    source = (
        "extern int __VERIFIER_nondet_int(void); int main(void) { int a[9], i = 0, s = 0; for (int k = 0; k < 9; k++) "
        "a[k] = __VERIFIER_nondet_int(); while (i < 9) { s = a[i] > 3 ? 7 : s; i++; } if (s > 7) reach_error(); return s; }"
    )
    made = search(source)
    made.sampled(5.0)
    proposed = made.proposals()
    i = named(made.system.graph, "i")
    (cut,) = [label for label in made.system.cutpoints if len({state.get(i) for state in made.seen.get(label, ())}) > 9]
    memory = less_equal(Read("a", scale(i, 4), IntType(32)), const(3))
    variables, states = proposed._variables(cut), proposed.seen[cut]
    assert proposed._guarded([memory], variables, states) == []
    assert proposed._guarded([memory, less_equal(i, const(4))], variables, states)


def test_where_few_values_occur_there_are_no_others():
    """x goes 1, 3, 9, 27 - 26 = 1, …"""
    made, cut, _ = seen(
        "int main(void) { int x = 1; for (int k = 0; k < 30; k++) { x *= 3; if (x == 27) x = 1; if (x == 5) reach_error(); } return x; }"
    )
    x = named(made.system.graph, "x")
    assert disjunction(equal(x, const(value)) for value in (1, 3, 9)) in made.proposals().simple(cut)


@pytest.mark.parametrize(
    ("body", "degree", "wanted"),
    [
        ("s += i; i++;", 2, lambda i, s: equal(scale(s, 2), sub(mul(i, i), i))),
        ("i++; s += 3 * i * i - 3 * i + 1;", 3, lambda i, s: equal(s, mul(mul(i, i), i))),
        ("s += 5; i++;", 1, lambda i, s: equal(s, scale(i, 5))),
    ],
)
def test_equations_of_accumulators(body, degree, wanted):
    """Sums of 0, 1, 2, …; sums of the differences of cubes; multiples."""
    source = f"int main(void) {{ int i = 0, s = 0; while (i < 40) {{ {body} }} if (s == -1) reach_error(); return s; }}"
    made, cut, states = seen(source)
    assert len(states) == 41
    i, s = (named(made.system.graph, name) for name in "is")
    found = made.proposals().equations(cut, degree)
    assert follows(found, wanted(i, s))
    if degree > 1:
        assert not follows(made.proposals().equations(cut, degree - 1), wanted(i, s))


def test_few_states_say_nothing_of_equations():
    made = system("int main(void) { int i = 0, s = 0; while (i < 2) { s += i; i++; } return s; }")
    (cut,) = made.cutpoints
    i, s = (named(made.graph, name) for name in "is")
    assert Proposals(made, {cut: [{i: 0, s: 0}, {i: 1, s: 0}]}).equations(cut, 2) == []
    many = [{i: k, s: k * (k - 1) // 2} for k in range(12)]
    assert len(Proposals(made, {cut: many}).equations(cut, 2)) == 1


def test_what_iterations_add_is_proposed_though_sums_may_wrap_around():
    """Each of at most 255 iterations adds at most 255, or takes 255, so that no unsigned sum wraps around."""
    source = """int main(void) { unsigned char n = __VERIFIER_nondet_uchar(); unsigned s = 70000, u = 0, i = 0;
        while (i < n) { unsigned char v = __VERIFIER_nondet_uchar(); s -= v; u += v; i++; }
        return s + u; }"""
    made, cut, _ = seen(source)
    s, u, i = (named(made.system.graph, name) for name in "sui")
    proposed = made.proposals().simple(cut)
    assert less_equal(u, scale(i, 255)) in proposed
    assert less_equal(sub(const(70000), scale(i, 255)), s) in proposed

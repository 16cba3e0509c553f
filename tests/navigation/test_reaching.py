"""Systems over counters and the searches that they lead: by programs whose answer is worked out by hand, and beside all
runs of random programs over small inputs.
"""

from __future__ import annotations

import dataclasses
import itertools
import random

import pytest

from loopless import clock
from loopless.check.oracle.native import NativeOracle, NativeRun
from loopless.logic.solver import SmtAnswer
from loopless.navigation.counters import CounterSystem, Plan
from loopless.navigation.product import product_of
from loopless.navigation.search import Navigator
from loopless.navigation.splitting import without_wraps
from loopless.queries.guided import counters_of
from loopless.terms import Const, IntType, Var, Wrap, add, evaluate, holds, walk, wrap
from loopless.terms.relation import added
from loopless.transition.relation import START, Kind, Step
from reaching import HEAD, counters, of_kind, system

REFUTED = {
    # 4 t = 15 has no solution.
    "steps of four": "void f(int n) { int i = 0; while (i < n) i += 4; if (i == 15) reach_error(); }",
    # The parity of t is q.
    "toggles": """void f(const char *s, int n) { int q = 0, t = 0;
        for (int i = 0; i < n; i++) if (s[i] == '"') { q = 1 - q; t++; }
        if (t == 15 && q == 0) reach_error(); }""",
    # 100 bytes are at most 25500.
    "a sum of bytes": """void f(const unsigned char *s) { int t = 0;
        for (int i = 0; i < 100; i++) t += s[i]; if (t > 25500) reach_error(); }""",
    # Of 12 pairs no 13 are alike.
    "a nest": """void f(const int *a, const int *b) { int c = 0;
        for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) if (a[i] == b[j]) c++;
        if (c == 13) reach_error(); }""",
    # The second way needs x >= 50, from where at most 50 steps are left.
    "guards": """void f(const int *s) { int x = 0, late = 0; for (int i = 0; i < 100; i++) {
        if (s[i] && x >= 50) late++; x++; } if (late == 51) reach_error(); }""",
    # The unsigned value is even for ever, also when it wraps around.
    "wrap-around": "void f(void) { unsigned x = 10; while (x >= 10) x += 2; if (x % 2) reach_error(); }",
    # A word is found where its letters follow one another: after it the state is 2 at most.
    "a reset": """void f(const char *s) { int at = 0, steps = 0;
        for (int i = 0; s[i]; i++) { at = s[i] == 'a' ? 1 : at == 1 ? 2 : 0; steps++; }
        if (at == 3) reach_error(); }""",
    # Three groups with four marks each have twelve.
    "totals of an inner loop": """void f(const char *s, int n) { int full = 0, all = 0;
        for (int i = 0; i < n; i++) { int m = 0; for (int k = 0; k < 5; k++) if (s[5 * i + k]) { m++; all++; }
            if (m == 4) full++; }
        if (full == 3 && all < 12) reach_error(); }""",
    # Five open at once, and none in the end, take ten marks.
    "the most that a variable was": """void f(const char *s, int n) { int depth = 0, most = 0;
        for (int i = 0; i < n; i++) { if (s[i] == '(') depth++; else if (s[i] == ')') depth--;
            if (depth > most) most = depth; }
        if (n < 10 && depth == 0 && most >= 5) reach_error(); }""",
    # What the first loop leaves at is what the second one begins with.
    "one place": """void f(const char *s) { int i = 0; while (s[i] != 'x') i++; int j = i; while (s[j] == 'y') j++;
        if (j > i) reach_error(); }""",
}


@pytest.mark.parametrize("name", REFUTED)
def test_what_no_run_comes_to_has_no_solution(name, tmp_path):
    assert counters(system(REFUTED[name], tmp_path)) is SmtAnswer.NO


@pytest.mark.parametrize("other", ["i1", "i2", "i11", "j"])
def test_variables_whose_names_differ_by_digits_are_not_confused(other, tmp_path):
    """There is one run, which gets to the error behind 20 iterations, in which each of the ways is taken ten times."""
    made = system(
        """void f(void) { int i = 0, J = 0; while (i < 20) { if (J < 20) J += 3; else J--; i++; }
        reach_error(); }""".replace("J", other),
        tmp_path,
    )
    plan = counters(made)
    assert isinstance(plan, Plan)
    assert sorted(plan.counts.values()) == [1, 1, 10, 10]


def test_what_was_not_explored_to_the_end_refutes_nothing(tmp_path):
    made = system(REFUTED["steps of four"], tmp_path)
    whole = product_of(made, START, {})
    assert CounterSystem(whole, made).solve() is SmtAnswer.NO
    assert CounterSystem(dataclasses.replace(whole, cut=True), made).solve() is SmtAnswer.UNKNOWN


@pytest.mark.parametrize("kind", Kind)
def test_only_exact_and_over_steps_refute(kind, tmp_path):
    made = of_kind(system(REFUTED["steps of four"], tmp_path), kind)
    assert counters_of(made, trips=True).__class__ is (CounterSystem if kind is Kind.UNDER else SmtAnswer)
    assert counters(made) is (SmtAnswer.UNKNOWN if kind is Kind.UNDER else SmtAnswer.NO)


@pytest.mark.parametrize("kind", Kind)
def test_modes_that_never_meet_the_target_refute_by_exact_and_over_steps(kind, tmp_path):
    """No node of the product has the target, so no counter is asked."""
    source = "void f(const char *s) { int q = 0; for (int i = 0; s[i]; i++) q = 1 - q; if (q == 2) reach_error(); }"
    made = of_kind(system(source, tmp_path), kind)
    assert product_of(made, START, {}).goal is None
    assert counters_of(made, trips=True) is (SmtAnswer.UNKNOWN if kind is Kind.UNDER else SmtAnswer.NO)


@pytest.mark.parametrize("kind", Kind)
def test_a_search_takes_exact_and_under_steps_only(kind, tmp_path):
    source = """void f(const int *a, const int *b) { int c = 0;
        for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) if (a[i] == b[j]) c++;
        if (c == %d) reach_error(); }"""
    reached = Navigator(of_kind(system(source % 4, tmp_path), kind), {}, clock.counted() + 60).run()
    assert (reached.route is not None) == (kind is not Kind.OVER)
    assert not reached.exhausted
    none = Navigator(of_kind(system(source % 5, tmp_path), kind), {}, clock.counted() + 60).run()
    assert none.route is None
    assert none.exhausted == (kind is Kind.EXACT)


@pytest.mark.parametrize("first", range(8))
def test_a_step_divided_by_wraps_runs_as_one_of_its_parts(first, tmp_path):
    small = IntType(3, signed=False)
    x, y = Var("x", small), Var("y", small)
    total = wrap(add(x, y), small)
    step = Step("a", "b", total.le(5), {x: total, y: wrap(add(total, y), small)}, ())
    parts = without_wraps(dataclasses.replace(system("void f(void) {}", tmp_path), transitions=(step,))).transitions
    assert not any(isinstance(node, Wrap) for part in parts for term in part.update.values() for node in walk(term))
    for second in range(8):
        state = {x: first, y: second}
        taken = [part for part in parts if holds(part.condition, state)]
        after = [{var: evaluate(term, state) for var, term in part.update.items()} for part in taken]
        meant = (first + second) % 8
        assert after == ([{x: meant, y: (meant + second) % 8}] if meant <= 5 else [])


def test_a_plan_has_the_counts_of_a_run(tmp_path):
    """Of 15 elements 13 or more are 1, and of the other 15 as many are 2 as make 23 with them."""
    made = system(
        """void f(const int *A, const int *B) { int a = 0, b = 0;
        for (int i = 0; i < 15; ++i) if (A[i] == 1) ++a;
        for (int j = 0; j < 15; ++j) if (B[j] == 2) ++b;
        if (a > 12 && a + b == 23) reach_error(); }""",
        tmp_path,
    )
    product = product_of(made, START, {})
    found = CounterSystem(product, made).solve()
    assert isinstance(found, Plan)
    by_name = {var.name: var for var in made.graph.variables}

    def times(name: str) -> int:
        raises = [
            number for number, step in enumerate(product.steps) if added(step, by_name[name]) == Const(1)
        ]  # fmt: skip
        return sum(found.counts.get(number, 0) for number in raises)

    assert times("i") == times("j") == 15
    assert times("a") >= 13
    assert times("a") + times("b") == 23


def test_finite_states_are_told_apart(tmp_path):
    made = system("void f(const char *s) { int q = 0; for (int i = 0; s[i]; i++) q = 1 - q; if (q) reach_error(); }",
                  tmp_path)  # fmt: skip
    product = product_of(made, START, {})
    held = {
        tuple((var.name, value) for var, value in node.fixed.items() if var.name == "q")
        for node in product.nodes.values()
    }
    assert {(("q", 0),), (("q", 1),)} <= held


def test_a_long_run_is_a_few_steps(tmp_path):
    made = system(
        """void f(const char *s, int n) { int a = 0; for (int i = 0; i < n; i++) if (s[i] == 'x') a++;
        if (a == 1000000) reach_error(); }""",
        tmp_path,
    )
    n = next(var for var in made.graph.variables if var.name == "n")
    found = Navigator(made, {n: 1_000_000}, clock.counted() + 30).run()
    assert found.route is not None
    assert found.steps < 20
    (run,) = found.route.runs
    assert (run.count, run.stride, run.value) == (1_000_000, 1, ord("x"))


def test_a_search_that_fixed_nothing_and_tried_everything_proves(tmp_path):
    """Both of a equal: an even number of pairs; else at most one of each column. So 5 of 6 is none."""
    source = """void f(const int *a, const int *b) { int c = 0;
        for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) if (a[i] == b[j]) c++;
        if (c == %d) reach_error(); }"""
    for wanted, there in ((5, False), (4, True), (6, True)):
        made = system(source % wanted, tmp_path)
        found = Navigator(made, {}, clock.counted() + 60).run()
        assert (found.route is not None, found.exhausted) == (there, not there)


def test_addresses_that_the_data_move_are_followed(tmp_path):
    """Lengths stand in front of what they count: 3, three marks, and so on, eight bytes in all."""
    made = system(
        """void f(const unsigned char *s) { int at = 0, records = 0;
        while (at < 8) { int marks = 0, length = s[at]; for (int k = 1; k <= length; k++) if (s[at + k] == 9) marks++;
            at += length + 1; if (marks == 3) records++; }
        if (records == 2) reach_error(); }""",
        tmp_path,
    )
    found = Navigator(made, {}, clock.counted() + 60).run()
    assert found.route is not None
    read = {offset: found.route.values.get(var, 0) for (_, offset, _), var in found.route.cells.items()}
    at, records = 0, 0
    while at < 8:
        length = read.get(at, 0)
        records += [read.get(at + k, 0) for k in range(1, length + 1)].count(9) == 3
        at += length + 1
    assert records == 2
    assert not found.exhausted


def random_program(random_: random.Random) -> str:
    """A function of two numbers and three elements, with loops around choices, and an error behind a condition."""

    def condition() -> str:
        left = random_.choice(("x", "y", "i", "q", "s[i % 3]", "n"))
        return f"{left} {random_.choice(('<', '==', '>', '!=', '>='))} {random_.choice(('0', '1', '2', '3', 'n', 'm'))}"

    def step() -> str:
        return random_.choice((
            "x++;", "x += 2;", "y--;", "y += 3;", "x = 0;", "q = 1 - q;", "q = 2;", "y = x;", "y += s[i % 3] & 1;", "x--;",
            "if (y > 4) y = 1;",
        ))  # fmt: skip

    def loop(depth: int) -> str:
        index = "ij"[depth]
        inside = [f"if ({condition()}) {{ {step()} }} else {{ {step()} {step()} }}", step()]
        if depth == 0 and random_.random() < 0.4:
            inside.append(loop(1))
        if random_.random() < 0.3:
            inside.append(f"if ({condition()}) break;")
        random_.shuffle(inside)
        limit = random_.choice(("n", "m", "3", "2"))
        return f"for ({index} = 0; {index} < {limit}; {index}++) {{ {' '.join(inside)} }}"

    loops = " ".join(loop(0) for _ in range(random_.choice((1, 1, 2))))
    goal = f"{random_.choice('xyq')} == {random_.randint(-2, 6)} && {condition().replace('[i % 3]', '[0]')}"
    begin = "int f(int n, int m, const int *s) { int x = 0, y = 1, q = 0, i = 0, j = 0;"
    return f"{begin} {loops} if ({goal}) reach_error(); return j; }}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_what_some_run_comes_to_is_never_refuted(seed, tmp_path):
    """Neither by the counters nor by a search, whatever the run begins with; and what a search finds is a run."""
    source = random_program(random.Random(seed))
    inputs = [
        (n, m, list(s)) for n in range(-1, 5) for m in (0, 1, 3) for s in itertools.product((-1, 0, 1, 3), repeat=3)
    ]
    with NativeOracle(HEAD + source) as oracle:
        outcomes = oracle.run_many("f", [NativeRun(args=one) for one in inputs])
    reached = [one for one, outcome in zip(inputs, outcomes, strict=True) if outcome.status == "error-reached"]
    made = system(source, tmp_path)
    if reached:
        n, m, _ = reached[0]
        assert counters(made) is not SmtAnswer.NO, source
        assert counters(made, n=n, m=m) is not SmtAnswer.NO, (source, n, m)
        by_name = {var.name: var for var in made.graph.variables}
        fixed = {by_name["n"]: n, by_name["m"]: m}
        found = Navigator(made, fixed, clock.counted() + 5)
        found.complete = True  # as though nothing had been chosen: of these n and m everything is to be tried
        assert not found.run().exhausted, (source, n, m)

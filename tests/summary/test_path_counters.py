"""Over-approximate summaries: every run is one of those that they allow, and they say what Proteus' section 4.2 says."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from answers_in_c import answers
from forgetting import forgetful, shadow
from judged import EDGES
from loopless import terms as t
from loopless.check.interpreter.run import Interpreter
from loopless.errors import UsageError
from loopless.flowgraph.model import Flowgraph
from loopless.logic import Region, budget
from loopless.paths import LoopPaths, NoPaths
from loopless.queries.evaluation.evaluate import Evaluator
from loopless.refusals import Reason, Refused
from loopless.report import html, text
from loopless.report.json_report import loop as loop_json
from loopless.report.smtlib import smtlib
from loopless.summary import Approximation, Case, LoopSummary, approximated, nests, paths_of, summarize
from loopless.summary.approximation.method import approximation
from loopless_fuzz.generator.generate import generate, print_program
from loopless_fuzz.judging.claims import Claims, judge_all, relation_holds
from loopless_fuzz.judging.entries import draw_entries
from loopless_fuzz.judging.loop_alone import LoopAlone, Truth
from loopless_fuzz.judging.states import all_states, constants, draw_states
from loops_in_c import graph, paths, variable

INPUT = "extern int __VERIFIER_nondet_int(void);\n"
FIG_1C = (
    INPUT
    + "int f(int n) { int i = 0; while (i < n) { int j = __VERIFIER_nondet_int(); if (j > 0) i += j; else i++; } return i; }"
)
FIG_1D = (
    INPUT
    + """int f(int x1, int x2, int x3) {
    while (x1 > 0 && x2 > 0 && x3 > 0) {
        if (__VERIFIER_nondet_int()) x1--;
        else if (__VERIFIER_nondet_int()) x2--;
        else x3--;
    }
    return (unsigned)x1 + x2 + x3;
}"""
)
ELEMENTS = "int f(int *v, int i, int key) { while (i >= 0 && v[i] > key) i--; return i; }"
COUNTED = "int held[8]; int f(int n) { int c = 0; for (int i = 0; i < n; i++) { held[c & 7] ^= 1; if (held[i & 7] > 0) c++; } return c; }"
SEARCH = """int f(const int *a, int lo, int hi, int key) {
    while (lo <= hi) {
        int m = lo + (hi - lo) / 2;
        if (a[m] == key) return m;
        if (a[m] < key) lo = m + 1; else hi = m - 1;
    }
    return -1;
}"""


def told(g: Flowgraph) -> frozenset[t.Var]:
    return frozenset(var for var, info in g.variables.items() if info.is_source)


def found(source: str, within: t.Condition = t.TRUE) -> tuple[Flowgraph, Approximation]:
    g = graph(source)
    return g, approximation(paths(source), within, told(g))


def later(allowed: Approximation, kind: str = "normal") -> Case:
    (case,) = [case for case in allowed.cases if case.iterations is not t.ZERO and case.exit.kind == kind]
    return case


def implies(case: Case, conclusion: t.Condition) -> bool:
    """Whether what the case says, its condition and its facts, implies something about entry and free variables."""
    said = t.conjunction((case.when, case.facts))
    variables = said.variables | conclusion.variables
    return Region.of(said, variables).is_subset(Region.of(conclusion, variables))


def same(case: Case, said: t.Condition) -> bool:
    here = t.conjunction((case.when, case.facts))
    variables = said.variables | here.variables
    return Region.of(said, variables).is_equal(Region.of(here, variables))


# -- Proteus, section 4.2 ----------------------------------------------------------------------------------------------


def test_a_monotone_variable_counts_as_if_it_moved_by_one():
    """ "The variable i in Fig. 1(c) is a non-induction variable but it is always increased": i' - i bounds the count."""
    g, allowed = found(FIG_1C)
    i, n = variable(g, "i"), variable(g, "n")
    case = later(allowed)
    assert implies(case, t.less_equal(case.iterations, t.sub(n, i)))
    assert implies(case, t.greater_equal(case.iterations, t.ONE))
    assert implies(case, t.greater_equal(case.then[i], n))
    assert allowed.may_diverge is t.FALSE


def test_a_condition_on_the_input_is_true():
    """ "(1) the trace summary for p1 -> p2 is (i > 0, 1 <= k12 <= i, i' = i - k12) and (2) the trace summary for
    p1 -> p3 is (i > 0, k13 = i + 1, i' = -1)"; without the paper's assumption i > 0 the second needs i >= 0.
    """
    g, allowed = found(ELEMENTS)
    i = variable(g, "i")
    case = later(allowed)
    (k,) = case.free
    assert case.iterations is k
    assert case.then[i] is t.sub(i, k)
    first = t.conjunction((t.greater(i, t.ZERO), t.less_equal(t.ONE, k), t.less_equal(k, i)))
    second = t.conjunction(
        (t.greater_equal(i, t.ZERO), t.equal(k, t.add(i, t.ONE)), t.equal(case.then[i], t.const(-1)))
    )
    assert same(case, t.disjunction((first, second)))


def test_paths_in_no_order_have_their_counts():
    """ "By simplifying the constraints, we can get x1 = 0, x2 > 0, x3 > 0. Similarly, if the last iteration is path 2 or
    path 3, we can compute x2 = 0 or x3 = 0": of Fig. 1(d), and nothing else is said of the counts.
    """
    g, allowed = found(FIG_1D)
    case = later(allowed)
    after = [case.then[variable(g, name)] for name in ("x1", "x2", "x3")]
    counts = list(case.per_path.values())
    assert {t.sub(variable(g, name), case.then[variable(g, name)]) for name in ("x1", "x2", "x3")} == set(counts)
    assert case.iterations is t.add(*counts)
    none_before = t.conjunction(t.greater(variable(g, name), t.ZERO) for name in ("x1", "x2", "x3"))
    last = [
        t.conjunction((t.equal(one, t.ZERO), *(t.greater(other, t.ZERO) for other in after if other is not one)))
        for one in after
    ]
    counted = [t.greater_equal(count, t.ZERO) for count in counts]
    assert same(case, t.conjunction((none_before, *counted, t.disjunction(last))))
    assert allowed.may_diverge is t.FALSE
    assert allowed.may_be_undefined == ()


# -- what else there is ------------------------------------------------------------------------------------------------


def test_what_is_added_always_alike_is_exact():
    t.Var("k2", t.IntType(None))  # as others may name it: the words do not depend on which object its type is
    g, allowed = found(COUNTED)
    c, i, n = (variable(g, name) for name in ("c", "i", "n"))
    case = later(allowed)
    assert case.iterations is t.sub(n, i)
    assert case.then[i] is n
    (k,) = case.free
    assert case.then[c] is t.add(c, k)
    assert implies(case, t.conjunction((t.less_equal(t.ZERO, k), t.less_equal(k, t.sub(n, i)))))
    (undefined,) = allowed.may_be_undefined
    # c + (n - i) must pass the end of the type: the largest c for which that is so cannot overflow.
    assert not t.holds(undefined.when, {c: 2**31 - 11, i: 0, n: 10})
    assert t.holds(undefined.when, {c: 2**31 - 10, i: 0, n: 10})


def test_a_binary_search_takes_no_more_iterations_than_there_are_elements():
    g, allowed = found(SEARCH)
    lo, hi = variable(g, "lo"), variable(g, "hi")
    case = later(allowed)
    assert implies(case, t.less_equal(case.iterations, t.add(hi, t.neg(lo), t.ONE)))
    assert allowed.may_diverge is t.FALSE
    assert {case.exit.kind for case in allowed.cases} == {"normal", "return"}


def test_how_often_a_branch_is_taken_is_bounded_by_its_own_condition():
    """Looperman, Fig. 2, as a choice of the input: the branch is taken three times at most."""
    source = (
        INPUT
        + "int f(int n) { int b = 0; for (int i = 0; i < n; i++) if (b < 3 && __VERIFIER_nondet_int()) b++; return b; }"
    )
    g, allowed = found(source)
    case = later(allowed)
    taken = case.per_path[
        next(
            path
            for path in case.per_path
            if implies(
                case, t.less_equal(case.per_path[path], t.add(t.const(3), t.maximum(t.neg(variable(g, "b")), t.ZERO)))
            )
        )
    ]
    assert case.then[variable(g, "b")] is t.add(variable(g, "b"), taken)


def test_a_loop_that_only_the_input_ends_may_run_for_ever():
    """Unsigned, so that nothing ends it: from every state."""
    _, allowed = found(INPUT + "unsigned f(void) { unsigned i = 0; while (__VERIFIER_nondet_int()) i++; return i; }")
    assert allowed.may_diverge is t.TRUE
    _, allowed = found(INPUT + "int f(void) { int i = 0; while (__VERIFIER_nondet_int()) i++; return i; }")
    assert allowed.may_diverge is t.FALSE
    assert [part.kind for part in allowed.may_be_undefined] == ["signed-overflow"]


def test_without_the_logic_there_is_an_answer_all_the_same():
    with budget(50):
        allowed = approximation(paths(COUNTED))
    assert allowed.may_diverge is t.TRUE
    assert all(case.when is t.TRUE for case in allowed.cases)
    assert len(allowed.cases) == 1


# -- every run is allowed ----------------------------------------------------------------------------------------------

EIGHT_BITS = [
    "{t} f({t} x, {t} y) {{ while (x < y) {{ if (x & 1) x += 3; else y -= 2; }} return x + y; }}",
    "{t} f({t} x, {t} y) {{ while (x != y) {{ if (x < y) y -= x; else x -= y; }} return x + y; }}",
    "{t} f({t} x, {t} y) {{ {t} m = 0; while (x > 0) {{ x /= 2; if (y > x) m = y; else m += 1; y ^= x; }} return m + x + y; }}",
    "{t} f({t} x, {t} y) {{ do {{ x = x * 5 + 3; if (x > 100) break; y++; }} while (y < 50); return x + y; }}",
    "{t} f({t} x, {t} y) {{ while (1) {{ if (x == 7) return y; if (y > 90) break; x += y; y += 7; }} return x + y; }}",
]


def judged(g: Flowgraph, seed: int, count: int = 150) -> Counter[str]:
    """Each loop of a function, as it is and without each of its variables; all its states where ``count`` is 0."""
    counts: Counter[str] = Counter()
    for loop in g.loops:
        own = paths_of(g, loop)
        try:
            if not isinstance(own, LoopPaths) or any(path.unknowns for path in own.all):
                continue
            alone = LoopAlone(g, loop, {path.id: path.condition for path in own.iterative})
        except UsageError:
            continue
        numbers = constants([part for path in own.all for part in (path.condition, *path.update.values())])
        for variant in forgetful(own):
            few = all_states(alone.entry) if not count else None
            states = few if few is not None else draw_entries(alone, numbers, seed, count or 30_000)
            summary = shadow(variant)
            claims = Claims(summary, alone.variables, objects=alone.contents)
            judgement = judge_all(alone, claims, states, max_steps=2000)
            assert not judgement.mismatches, (loop.name, judgement.mismatches, str(summary))
            counts["loops"] += 1
            counts["compared"] += judgement.compared
            counts += judgement.outcomes
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("ctype", ["signed char", "unsigned char"])
@pytest.mark.parametrize("source", EIGHT_BITS)
def test_every_state_of_loops_of_two_bytes(source: str, ctype: str) -> None:
    """Of a loop of three of them, 30,000 for each variable that is forgotten."""
    counts = judged(graph(source.format(t=ctype)), 1, 0)
    assert counts["compared"] > 80_000
    assert counts["ok"] > 10_000


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 40))])
def test_random_loops_and_states(seed: int) -> None:
    try:
        g = graph(print_program(generate(seed)))
    except KeyError:
        return
    counts = judged(g, seed)
    assert counts["compared"] + counts["timeout"] > 0 or not counts["loops"]


READING = [
    FIG_1C,
    FIG_1D,
    INPUT
    + "int f(int n, int m) { for (int i = 0; i < n; i++) { int x = __VERIFIER_nondet_int(); if (x > m) m = x; } return m; }",
    INPUT
    + "int f(int n, int s) { while (n > 0) { int x = __VERIFIER_nondet_int(); if (x < 0) return s; s ^= x; n -= 1 + (x & 3); } return (unsigned)s + n; }",
    INPUT
    + "unsigned f(unsigned s, int n) { while (n-- > 0) { if (__VERIFIER_nondet_int() & 1) s += 7; else s = 3 * s; } return s; }",
    INPUT
    + "int f(int a, int b) { while (__VERIFIER_nondet_int() > 0) { if (a < b) a += 2; else { b += 3; a--; } } return (unsigned)a - b; }",
]


@pytest.mark.parametrize("source", READING)
def test_runs_that_read_inputs_are_allowed(source: str) -> None:
    """The value at the exit that is returned, and the iterations, of runs of the whole function with random inputs."""
    g = graph(source)
    allowed = approximation(paths(source))
    interpreter = Interpreter(None, g)
    chosen = random.Random(source)
    compared: Counter[str] = Counter()
    for _ in range(400):
        arguments = [parameter.type.wrap(chosen.choice((*EDGES, *range(-30, 30)))) for parameter in g.parameters]
        inputs = [chosen.choice((-1, 0, 1, 2, 3, chosen.randrange(-60, 60), 2**31 - 1)) for _ in range(300)]
        seen: list[dict[t.Var, int]] = []
        run = interpreter.run(arguments, inputs, max_steps=280, on_loop=lambda _, v, seen=seen: seen.append(dict(v)))
        if not seen or run.status not in ("ok", "undefined"):
            continue
        before, steps = seen[0], sum(run.iterations.values())
        if run.status == "undefined":
            assert any(t.holds(part.when, before) for part in allowed.may_be_undefined), (arguments, run)
        else:
            ways = [result_fits(g, case, before, steps, run.outcome.return_value) for case in allowed.cases]
            assert True in ways or None in ways, (arguments, inputs[: steps + 1], run, ways)
            compared["all"] += None not in ways
        compared[run.status] += 1
    assert compared["ok"] > 50, compared


def result_fits(g: Flowgraph, case: Case, before: dict[t.Var, int], steps: int, returned: int | None) -> bool | None:
    """Whether a relation allows so many iterations and, where one variable tells it, this value returned."""
    if not t.holds(case.when, before):
        return False
    said = [t.equal(case.iterations, t.const(steps))]
    if case.result is not None:
        said.append(t.equal(case.result, t.const(returned or 0)))
    region = Region.of(t.conjunction(part for part in t.conjuncts(case.facts)), case.facts.variables | set(case.free))
    known = {var: t.const(value) for var, value in before.items()}
    try:
        whole = t.substitute(t.conjunction((region.condition(), *said)), known)
        return not Region.of(whole).is_empty()
    except Exception:  # noqa: BLE001  a term beyond Presburger: not compared
        return None


def test_the_judge_finds_what_a_relation_wrongly_excludes():
    g = graph("int f(int x, int y) { int c = 0; while (x < y) { if (x & 1) c++; x++; } return c + x; }")
    (loop,) = g.loops
    own = paths_of(g, loop)
    assert isinstance(own, LoopPaths)
    alone = LoopAlone(g, loop, {path.id: path.condition for path in own.iterative})
    right = shadow(own)
    assert right.approximation is not None
    numbers = constants([path.condition for path in own.all])

    def wrong(allowed: Approximation) -> int:
        claims = Claims(replace(right, approximation=allowed), alone.variables)
        return len(judge_all(alone, claims, draw_states(alone.entry, numbers, 1, 400), max_steps=2000).mismatches)

    allowed = right.approximation
    assert wrong(allowed) == 0
    assert wrong(replace(allowed, cases=allowed.cases[:1])) > 0
    assert wrong(replace(allowed, may_be_undefined=())) > 0
    count = variable(g, "c")
    for case in allowed.cases:
        others = tuple(other for other in allowed.cases if other is not case)
        more = replace(case, facts=t.conjunction((case.facts, t.less(case.iterations, t.const(2)))))
        if case.iterations is not t.ZERO:
            assert wrong(replace(allowed, cases=(*others, more))) > 0
            moved = replace(case, then={**case.then, count: t.add(case.then[count], t.ONE)})
            assert wrong(replace(allowed, cases=(*others, moved))) > 0


def test_free_values_are_found_where_a_run_does_not_tell_them():
    k = t.variable("k", t.INTEGERS)
    x = t.variable("x", t.IntType(32))
    exit = later(found(COUNTED)[1]).exit
    case = Case(
        t.TRUE,
        {x: t.add(x, k)},
        exit,
        "e1",
        t.const(5),
        {},
        (),
        exact=False,
        free=(k,),
        facts=t.less_equal(k, t.const(3)),
    )
    truth = Truth("ok", (exit.block, exit.edge or 0), {x: 12}, 5)
    assert relation_holds(case, {x: 10}, truth) is True
    assert relation_holds(case, {x: 8}, truth) is False
    assert relation_holds(replace(case, free=(k, x)), {}, truth) is None


# -- as part of a summary ----------------------------------------------------------------------------------------------


def test_exact_cases_stay_and_the_rest_is_approximated():
    """Where the budget of a method ends, its cases stay; the approximation is of the residual states only."""
    source = "int f(int x, int n) { while (x < n) x += 1; return x; }"
    exact = summarize(paths(source))
    assert isinstance(exact, LoopSummary)
    assert approximated(exact.paths, exact) is exact
    g = graph(source)
    x, n = variable(g, "x"), variable(g, "n")
    left = [case for case in exact.cases if t.holds(case.when, {x: 0, n: 5})]
    kept = tuple(case for case in exact.cases if case not in left)
    reason = shadow(exact.paths).residual[0].why
    partial = replace(
        exact, cases=kept, residual=tuple(replace(shadow(exact.paths).residual[0], when=c.when) for c in left)
    )
    whole = approximated(exact.paths, partial)
    assert isinstance(whole, LoopSummary)
    assert whole.cases == kept
    assert not whole.complete
    assert not whole.exact
    assert whole.residual[0].why == reason
    assert whole.approximation is not None
    # Runs from x > n are told exactly, and not once more.
    at_once, running = whole.approximation.cases
    assert at_once.when is t.equal(x, n)
    assert running.iterations is t.sub(n, x)


def test_nothing_is_evaluated_by_an_approximation():
    g = graph(COUNTED.replace("int f(", "int f(int q, ").replace("__VERIFIER_nondet_int() > 0", "(q ^ i) * i > 0"))
    (loop,) = g.loops
    own = paths_of(g, loop)
    assert isinstance(own, LoopPaths)
    summary = shadow(own)
    with pytest.raises(ValueError, match="for the test"):
        summary(**{var.name: 1 for var in (*own.state, *own.invariants)})
    run = Evaluator(g, Interpreter(None, g), lambda _: summary).run([1, 5])
    assert run.by == "interpretation"


def test_the_answer_of_summarize_is_labelled():
    (answer,) = answers(COUNTED, classify=False, approximate=True)
    assert (answer.status, answer.complete, answer.refused, answer.answered) == ("over-approximate", False, None, False)
    words = text.loop_summary(answer)
    assert words.splitlines()[0].endswith(": over-approximate, by path counters")
    assert "may leave when i < n, for some k2" in words
    assert "n - i iterations" in words
    assert "c' = c + k2" in words
    assert "may be undefined when" in words
    shown = loop_json(answer)
    assert (shown["cases"], shown["status"], shown["complete"]) == ([], "over-approximate", False)
    assert shown["residual"][0]["code"] == Reason.INPUT_DEPENDENT.code
    relation = shown["approximation"]["cases"][1]
    assert relation["free"] == ["k2"]
    assert relation["iterations"]["per_path"]["2"]["text"] == "k2"
    assert "may leave so" in html.loop_summary(answer)
    (plain,) = answers(COUNTED, classify=False)
    assert plain.status == "refused"


def test_the_relation_for_solvers_contains_a_run_and_excludes_what_cannot_be():
    z3 = pytest.importorskip("z3")
    (answer,) = answers(COUNTED, classify=False, approximate=True)
    script = smtlib([answer])
    assert "over-approximate" in script
    assert "No relation f_1: nothing exact is said" in script

    def possible(c: int, i: int, n: int, c_after: int, i_after: int) -> bool:
        solver = z3.Solver()
        call = f"(assert (f_2.may {c} {i} {n} {c_after} {i_after}))".replace("f_2", "f_1")
        solver.from_string(script + call)
        return solver.check() == z3.sat

    assert possible(0, 0, 5, 3, 5)
    assert not possible(0, 0, 5, 6, 5)
    assert not possible(0, 0, 5, 3, 4)


# -- loops around others -----------------------------------------------------------------------------------------------

NESTS = [
    "int f(int n, int m) { int c = 0; for (int i = 0; i < n; i++) { int j = i; while (j < m) { j += 2; c++; } } return c; }",
    "unsigned f(unsigned n, unsigned x) { while (n > 0) { while (x > n) { if (x & 1) x -= n; else x /= 2; } n -= 3; x += 7; } return x; }",
    """int f(int n, int x) {
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < i; j++) { if (x > 90) return i; x += j; if (x & 4) break; }
            x--;
        }
        return x;
    }""",
]


@pytest.mark.parametrize("source", NESTS)
def test_loops_around_what_is_approximated(source, monkeypatch):
    """The inner loop as if nothing exact were known of it."""
    why = Refused(Reason.NO_CLOSED_FORM, "here", "for the test")
    monkeypatch.setattr(nests, "summarize", lambda *_: why)
    g = graph(source)
    outer = next(loop for loop in g.loops if any(other.parent == loop.header for other in g.loops))
    exact = paths_of(g, outer)
    assert isinstance(exact, NoPaths)
    assert exact.refused.reason is Reason.NESTED
    loose = paths_of(g, outer, approximate=True)
    assert isinstance(loose, LoopPaths)
    assert not loose.exact
    # An exact method has nothing to say of such paths.
    assert isinstance(summarize(loose), Refused)
    alone = LoopAlone(g, outer, {})  # what the inner loop leaves open chooses the path
    numbers = constants([part for path in loose.all for part in (path.condition, *path.update.values())])
    claims = Claims(shadow(loose), alone.variables)
    judgement = judge_all(alone, claims, draw_states(alone.entry, numbers, 3, 300), max_steps=300)
    assert not judgement.mismatches, judgement.mismatches
    assert judgement.compared > 100


def test_a_nest_of_loops_that_read_is_labelled():
    inner = "for (int j = 0; j < n; j++) { held[c & 7]--; if (held[j & 7] > i) c++; }"
    source = f"int held[8]; int f(int n) {{ int c = 0; for (int i = 0; i < n; i++) {inner} return c; }}"
    outer, inner = answers(source, classify=False, approximate=True)
    assert (outer.status, inner.status) == ("over-approximate", "over-approximate")
    assert outer.summary is not None
    assert outer.summary.residual[0].why.reason is Reason.NESTED
    assert outer.summary.approximation is not None
    case = later(outer.summary.approximation)
    names = {var.name: var for var in case.then}
    # What the inner loop counts is one of its path counters: c never falls.
    assert implies(case, t.greater_equal(case.then[names["c"]], names["c"]))
    assert case.then[names["i"]].variables == {t.variable("n", t.IntType(32))}

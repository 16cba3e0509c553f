"""What ``bound`` claims in the end, upper, lower, exact and never, against counts of the interpreter."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import product

import pytest

from loopless.bounds import Claim, TermBound
from loopless.bounds.claims.joint import of_all, together
from loopless.bounds.methods import components
from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph import Options
from loopless.queries.bounds import function_search
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.bounds.answers import class_of
from loopless.queries.jobs import sandbox as limits
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.refusals import Reason
from loopless.terms import FALSE, TRUE, ZERO, EvaluationError, IntType, Var, const, evaluate, holds, less
from loopless_fuzz.generator.generate import PROFILES, generate, nondet_stream, print_program

EDGES = (0, 1, -1, -(2**31), 2**31 - 1, 2**32 - 1, 127, -128, 255, 5, 10)


def drawn(parameter, chosen: random.Random) -> object:
    if parameter.object is not None:
        return [chosen.choice((0, 1, 3, -2, 9, 40, 127)) for _ in range(64)]
    values = (chosen.choice(EDGES), chosen.randint(-200, 200), chosen.randint(-3, 20), chosen.randint(-3, 20))
    return parameter.type.wrap(values[chosen.randrange(4)])


def compare(claim, values, run, count: int, seen: Counter[str]) -> None:
    """A run that ends without undefined behaviour is as claimed; any run takes no more; fewer only where that is said."""
    try:
        if not holds(claim.when, values) or holds(claim.never, values):
            seen["never"] += holds(claim.never, values)
            assert not (holds(claim.never, values) and run.status == "ok")
            return
        upper = None if claim.upper is None else evaluate(claim.upper, values)
        lower = evaluate(claim.lower, values)
        fewer = holds(claim.undefined, values)
    except EvaluationError:  # it speaks of memory or of globals
        return
    seen["upper"] += upper is not None
    assert upper is None or count <= upper, (values, count, upper)
    if run.status == "ok":
        seen["exact"] += claim.exact
        assert lower <= count, (values, count, lower)
        assert not claim.exact or count == upper, (values, count, upper)
    elif run.status == "undefined" and count < lower:
        seen["fewer"] += 1
        assert fewer, (values, count, lower)


def judge(folder, text: str, seed: int, rows=(), *, mathematical: bool = False) -> Counter[str]:
    """The claims on the loops of ``f``, and on all together, for random inputs and ``rows``."""
    file = folder / f"{seed}.c"
    file.write_text(text)
    program = load([file], Settings(loop_timeout_s=8.0, workers=1, mathematical=mathematical))
    function = program["f"]
    (found,) = answer_bounds([function], "all", program.settings)
    assert not found.trouble
    g, chosen, seen = function.graph(), random.Random(seed), Counter()
    interpreter = Interpreter(program.source.inlined, g, options=Options(mathematical=mathematical))
    for arguments in [*rows, *([drawn(p, chosen) for p in g.parameters] for _ in range(30))]:
        run = interpreter.run(arguments, nondet_stream(seed), max_steps=50_000)
        pairs = zip(g.parameters, arguments, strict=True)
        values = {p.var: a if isinstance(a, int) else 0 for p, a in pairs if p.var is not None}
        for loop in found.counts:
            compare(loop.call, values, run, run.iterations.get(loop.answer.loop.name, 0), seen)
        if found.counts:
            compare(found.call, values, run, sum(run.iterations.values()), seen)
    return seen


@pytest.mark.slow
@pytest.mark.parametrize(("profile", "first"), [("nests", 700), ("composed", 700), ("everything", 700)])
def test_claims_on_random_programs(tmp_path, profile, first):
    seen: Counter[str] = Counter()
    for seed in range(first, first + 3):
        seen += judge(tmp_path, print_program(generate(seed, PROFILES[profile])), seed)
    assert seen["upper"] > 20


OVERFLOWS = """int f(int n, int m) {
    int c = 2147483000;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) c++;
    return c;
}"""


def test_runs_that_meet_undefined_behaviour_may_take_fewer_and_the_claim_says_so(tmp_path):
    seen = judge(tmp_path, OVERFLOWS, 1, [(100, 100), (1000, 10), (10, 10), (1, 1000)])
    assert seen["fewer"] > 0
    assert seen["exact"] > 0


DOUBLING_INSIDE = """int f(int n) {
    int x, y;
    for (x = n; x >= 0; x--) {
        y = 1;
        while (y < x) y = 2 * y;
    }
    return 0;
}"""


def test_loops_whose_iterations_a_summary_does_not_count_are_not_said_to_have_none(tmp_path):
    seen = judge(tmp_path, DOUBLING_INSIDE, 2, [(2,), (3,), (9,), (40,)], mathematical=True)
    assert seen["upper"] > 20


COUNTED_ALONE = {
    "best": "int f(int n) { int b = 0, at = 0; for (int i = 2; i < n; i += 3) { int s = nondet();"
    " if (b == 0 || s < b) { b = s; at = i; } } return at; }",
    "shifts": "unsigned f(int n, unsigned v) { unsigned s = 0; for (int i = 0; i < n; i++)"
    " { s = s * s + (v >> i); if (nondet()) s++; } return s; }",
    "stops": "int f(int n) { int s = 0; for (int i = 0; i < n; i++) { if (nondet()) break; s += nondet(); } return s; }",
}


@pytest.mark.parametrize("name", COUNTED_ALONE)
def test_counts_of_loops_whose_values_are_not_known(tmp_path, name):
    file = tmp_path / f"{name}.c"
    file.write_text("int nondet(void);\n" + COUNTED_ALONE[name])
    program = load([file], Settings(workers=1))
    function = program["f"]
    (found,) = answer_bounds([function], "all", program.settings)
    entry = found.counts[0].entry
    assert entry.exact == (name != "stops")
    assert entry.upper is not None
    g, chosen = function.graph(), random.Random(3)
    interpreter, longest, fewer = Interpreter(program.source.inlined, g), 0, 0
    for n in (*range(-3, 45), 100):
        seen: list[dict] = []
        run = interpreter.run(
            [n, 77][: len(g.parameters)], [chosen.choice((0, 0, 0, 0, 0, 1, -1, 3)) for _ in range(500)],
            on_loop=lambda _, v, seen=seen: seen.append(dict(v)),
        )  # fmt: skip
        count, upper = sum(run.iterations.values()), evaluate(entry.upper, seen[0])
        assert count <= upper
        if entry.exact and run.status == "ok":
            assert count == upper
        if run.status == "undefined" and count < upper:
            fewer += 1
            assert holds(entry.undefined, seen[0])
        longest = max(longest, count)
    assert longest > 3
    assert (fewer > 0) == (name == "shifts")


NEVER_ENDLESS = {
    "outgrows": ("int f(int x, int y) { while (x > 0 && x < y) { x = 3 * x; y = y + 7; } return x; }", 1),
    "under_a_condition": (
        "int f(int x, int y) { if (x + y <= 0) while (x > 0) { x = x + x + y; y = y - 1; } return x; }", 1),
    "turns_its_sign": ("int f(int x) { while (x > 0) x = -3 * x + 22; return x; }", 0),
    "one_lap": ("int f(int x, int y) { if (y > x) while (x >= 0) x = x - y; return x; }", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", NEVER_ENDLESS)
def test_loops_that_always_end_are_not_said_to_run_for_ever(tmp_path, name):
    text, degree = NEVER_ENDLESS[name]
    seen = judge(tmp_path, text, 5, mathematical=True)
    assert seen["upper"] > 20
    program = load([tmp_path / "5.c"], Settings(workers=1, mathematical=True))
    (found,) = answer_bounds([program["f"]], "all", program.settings)
    assert found.call.never is FALSE
    assert class_of(found).degree <= degree


def test_inputs_have_no_limits_over_the_integers(tmp_path):
    file = tmp_path / "doubling.c"
    file.write_text(
        "int nondet_int(void);\n"
        "int f(int x, int y) { while (x > 1 && x >= 2 * y) { y = x; x = nondet_int(); } return x; }"
    )
    for mathematical in (False, True):
        program = load([file], Settings(workers=1, mathematical=mathematical))
        (found,) = answer_bounds([program["f"]], "all", program.settings)
        assert (found.call.upper is None) == mathematical


SORTS = """int f(int n, int *a) {
  int c = 0;
  for (int i = 0; i < n - 1; i++)
    for (int j = 0; j < n - i - 1; j++) {
      c++;
      if (a[j + 1] < a[j]) { int t = a[j]; a[j] = a[j + 1]; a[j + 1] = t; }
    }
  return c;
}
"""
READS = """int f(int n, int *a) {
  a[n & 1] = n + 1;
  int k = a[0], c = 0;
  while (c < k) c++;
  return c;
}
"""


def claimed(folder, text: str):
    """The function in ``text`` and the claim on all its loops."""
    file = folder / "a.c"
    file.write_text(text)
    function = load([file], Settings(workers=1))["f"]
    (found,) = answer_bounds([function], "all", Settings(workers=1))
    return function, found.call


def test_writes_to_memory_do_not_stand_in_the_way_of_counts(tmp_path):
    function, claim = claimed(tmp_path, SORTS)
    assert claim.exact
    (n,) = claim.upper.variables
    interpreter = Interpreter(function.program.source.inlined, function.graph())
    for k in (-3, 0, 1, 2, 3, 9, 33, 64):
        run = interpreter.run([k, list(range(64, 0, -1))], max_steps=50_000)
        assert sum(run.iterations.values()) == evaluate(claim.upper, {n: k})


def test_what_is_read_after_a_write_is_what_was_written(tmp_path):
    function, claim = claimed(tmp_path, READS)
    assert claim.exact
    interpreter = Interpreter(function.program.source.inlined, function.graph())
    n = next(p.var for p in function.graph().parameters if p.name == "n")
    for k, first in product((-3, -2, -1, 0, 1, 2, 8, 9), (-2, 0, 5)):
        run = interpreter.run([k, [first, 0]])
        assert sum(run.iterations.values()) == evaluate(claim.upper, {n: k}, lambda *_, held=first: held)


def _of_f(tmp_path, text):
    """The bounds of a function f."""
    file = tmp_path / "a.c"
    file.write_text(text)
    program = load([file], Settings(workers=1))
    (found,) = answer_bounds([program["f"]], "all", program.settings)
    return found


def test_a_bound_that_holds_nowhere_is_none(tmp_path):
    """Of the inner loop nothing is known in a call: 0 iterations, for no inputs, say nothing."""
    found = _of_f(tmp_path, "int in(void); void f(int n) { for (int i = 0; i < n; i++) while (in()) ; }")
    outer, inner = found.counts
    assert (inner.call.upper, inner.call.when, inner.call.gap) == (None, TRUE, TRUE)
    assert (found.call.upper, found.call.when) == (None, TRUE)
    assert found.call.lower is outer.call.lower
    assert evaluate(found.call.lower, dict.fromkeys(found.call.lower.variables, 7)) == 7


def test_an_inner_loop_as_long_as_what_is_read_says(tmp_path):
    """By element: a[0] iterations, then a[1], ..., none for those below 0."""
    found = _of_f(
        tmp_path, "void f(const int *a, int n) { for (int i = 0; i < n; i++) for (int j = 0; j < a[i]; j++) ; }"
    )
    _, inner = found.counts
    content = (3, -4, 0, 5)
    values = dict.fromkeys(inner.call.upper.variables, 4)
    assert evaluate(inner.call.upper, values, lambda _array, offset, _type: content[offset // 4]) == 8
    assert inner.call.exact


def test_no_bound_is_told_of_a_loop_that_never_ends_where_a_run_comes_to_it(tmp_path):
    """From 100 it goes to 44, and then round and round; or the run has met undefined behaviour before."""
    file = tmp_path / "a.c"
    file.write_text(
        "void f(int n) { int x = 1; for (int i = 0; i < n; i++) x *= 3;"
        " int z = 100; while (z != 1 && z != 4) { if (z > 50) z -= 7; else z += 3; } }"
    )
    program = load([file], Settings(workers=1))
    (found,) = answer_bounds([program["f"]], "all", program.settings)
    call = found.counts[1].call
    assert (call.upper, call.when) == (None, TRUE)
    (n,) = call.never.variables
    assert holds(call.never, {n: 3})
    assert not holds(call.never, {n: 40})


def test_what_holds_of_some_inputs_is_not_said_of_all():
    """A lower bound of one loop, that holds for n > 0 only, beside a loop without a bound, and under one on both."""
    n = Var("n", IntType(32))
    some = Claim(const(9), const(9), exact=True, when=less(ZERO, n))
    whole = of_all([some, Claim(None, gap=TRUE)])
    below = together(replace(some, exact=False), TermBound(const(20)))
    for claim in (whole, below):
        assert claim.when is TRUE
        assert [evaluate(claim.lower, {n: value}) for value in (-1, 0, 1)] == [0, 0, 9]


NEVER = """int __VERIFIER_nondet_int(void);
void f(int x, int y) { while (x > 0) { if (__VERIFIER_nondet_int()) x = x - y; else x = x - 2 * y; if (x > 1000) x = 1000; } }
void g(int x) { while (x > 0) { if (__VERIFIER_nondet_int()) x--; else x++; if (x > 1000) x = 1000; } }
"""


@pytest.mark.slow
def test_where_there_is_no_bound_the_states_from_which_a_loop_never_ends_are_told(tmp_path):
    file = tmp_path / "a.c"
    file.write_text(NEVER)
    program = load([file], Settings(workers=1))
    for name, rows, choices in (("f", [[5, 0], [1000, 0]], ([0], [1])), ("g", [[5], [1]], ([0],))):
        (found,) = answer_bounds([program[name]], "all", program.settings)
        graph = program[name].graph()
        interpreter = Interpreter(program.source.inlined, graph)
        sure = [states for states in found.counts[0].recurrent if not states.chosen]
        assert bool(sure) == (name == "f")
        for row, choice in product(rows, choices):
            values = {p.var: value for p, value in zip(graph.parameters, row, strict=True)}
            assert any(holds(states.condition, values) for states in found.counts[0].recurrent)
            run = interpreter.run(row, choice * 4000, max_steps=4000)
            # It is still at it when the steps, or the inputs, are used up.
            assert run.status == "unknown"
            assert sum(run.iterations.values()) > 100
        assert not any(holds(s.condition, dict.fromkeys(values, 0)) for s in found.counts[0].recurrent)


@pytest.mark.slow
def test_what_is_found_until_the_limit_of_time_is_told(tmp_path, monkeypatch):
    """The search over the function as a whole takes for ever: the bounds of the loops by themselves are known by then."""
    file = tmp_path / "a.c"
    file.write_text(
        "int __VERIFIER_nondet_int(void);"
        "void f(int n) { while (n > 0) { if (__VERIFIER_nondet_int()) n--; else n -= 3; }"
        " while (n != 7) n += __VERIFIER_nondet_int() & 3; }"
    )
    # A child that is spawned, as where earlier tests have left threads, would know nothing of what is replaced here.
    monkeypatch.setattr(limits, "_may_fork", lambda: True)
    monkeypatch.setattr(function_search, "BOUNDS_NOTED_AFTER_S", 0.0)
    monkeypatch.setattr(components, "call_bounds", lambda graph: sum(iter(int, 1)))
    program = load([file], Settings(loop_timeout_s=4.0, workers=1))
    (found,) = answer_bounds([program["f"]], "all", program.settings)
    assert found.refused is not None
    assert found.refused.reason is Reason.TIME_LIMIT
    assert "not finished" in found.refused.detail
    first, second = found.counts
    (n,) = first.call.upper.variables
    assert [evaluate(first.call.upper, {n: value}) for value in (-1, 0, 7)] == [0, 0, 7]
    assert second.call.upper is None
    assert second.refused_call.reason is Reason.TIME_LIMIT
    assert found.time_ms >= 4000


def test_a_number_stands_beside_a_bound_by_an_input_that_may_be_larger(tmp_path):
    """As many iterations as bits are set: no more than there are bits, and no more than the value itself."""
    file = tmp_path / "bits.c"
    file.write_text("unsigned f(unsigned x) { unsigned n = 0; for (; x; x &= x - 1) n++; return n; }")
    (found,) = answer_bounds([load([file], Settings())["f"]], "all", Settings())
    (loop,) = found.counts
    x = next(var for var in loop.call.upper.variables if var.name == "x")
    assert [evaluate(loop.call.upper, {x: value}) for value in (0, 3, 31, 2**32 - 1)] == [0, 3, 31, 32]
    assert evaluate(loop.any_entry, {x: 2**32 - 1}) == 32

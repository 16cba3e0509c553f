"""Calls that need not return: what is counted around them is an upper bound, and where they surely do, exact."""

from __future__ import annotations

import itertools

import pytest

from asking import summary_of
from loopless.check.interpreter.run import Interpreter
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.bounds.costs import answer_cost
from loopless.queries.functions import answer_functions, outcomes_of, summarize_whole
from loopless.queries.loops.answer import Question
from loopless.queries.loops.answers import answer_loop
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.refusals import Reason, Refused
from loopless.report.numbers import facts
from loopless.summary import LoopSummary
from loopless.terms import FALSE, TRUE, ZERO, evaluate, holds

LARGE = "".join(f"    t = (t * {2 * k + 3} + {k}) ^ (t >> {k % 5 + 1}); u += t & {k};\n" for k in range(100))
"""More than is inlined."""
HEAD = (
    "void exit(int); void abort(void); void longjmp(void *, int); void pthread_exit(void *);\n"
    "int printf(const char *, ...); unsigned long strlen(const char *); int unknown(int);\n"
    "void __VERIFIER_assume(int); void stop(int) __attribute__((noreturn)); unsigned u; int z;\n"
)
LOOP = "int f(int n) { int k = 0; for (int i = 0; i < n; i++) { k ^= i; %s } return k; }\n"


def variadic(body: str) -> str:
    """A function that is not inlined, called as g(x), and a loop that calls it."""
    return f"static int g(int x, ...) {{ {body} return x; }}\n" + LOOP % "g(i);"


LEAVES = {
    "large": f"static unsigned g(unsigned t, int x) {{\n{LARGE}    if (x == 3) exit(0);\n    return u;\n}}\n"
    + LOOP % "u += g(u, i);",
    "recursive": "static void g(int n) { if (n > 5) exit(1); if (n > 0) g(n + 1); }\n" + LOOP % "g(i);",
    "mutual": "static void h(int n);\nstatic void g(int n) { if (n == 4) exit(1); if (n > 0) h(n - 1); }\n"
    "static void h(int n) { if (n > 0) g(n - 1); }\n" + LOOP % "g(i);",
    "pointer": "static void a(int x) { if (x == 2) abort(); }\nstatic void b(int x) { u += x; }\n"
    "int f(int n) { void (*to)(int) = n > 4 ? a : b; int k = 0; for (int i = 0; i < n; i++) { to(i); k++; } return k; }",
    "address of exit": "int f(int n) { void (*to)(int) = exit; if (z) to = 0; int k = 0;\n"
    "for (int i = 0; i < n; i++) { k++; to(i); } return k; }",
    "noreturn": variadic("if (x == 3) stop(x);"),
    "another mode": "static int mode;\nvoid set(int m) { mode = m; }\n" + variadic("if (mode == 2) exit(1); u += x;"),
    "always": variadic("exit(x);"),
    "long jump": variadic("if (x == 3) longjmp(&u, 1);"),
    "thread": variadic("if (x == 3) pthread_exit(0);"),
    "assumption": variadic("__VERIFIER_assume(x != 3);"),
    "further down": "static int h(int x, ...) { if (x == 3) exit(0); return x; }\n" + variadic("return h(x) + 1;"),
    "endless": variadic("if (x == 3) for (;;) u++;"),
    "endless for some": variadic("while (x == 3) u++;"),
    "called back": "void sort(int (*)(int));\nstatic int less(int x) { if (x == 3) exit(1); return x; }\n"
    "int f(int n) { int k = 0; for (int i = 0; i < n; i++) { k ^= i; sort(less); } return k; }",
    "without effect": "__attribute__((const, noinline)) static int g(int x, ...) { if (x == 3) exit(0); return x; }\n"
    + LOOP % "k ^= g(i);",
}
RETURNS = {
    "large": f"static unsigned g(unsigned t, int x) {{\n{LARGE}    return u + x;\n}}\n" + LOOP % "u += g(u, i);",
    "recursive": "static int g(int n) { return n <= 0 ? 0 : 1 + g(n - 1); }\n" + LOOP % "z ^= g(i);",
    "with a loop": variadic("for (int j = 0; j < x; j++) u ^= j;"),
    "further down": "static int h(int x, ...) { for (int j = 0; j < x; j++) u ^= j; return x; }\n"
    + variadic("return h(x) + 1;"),
    "library": LOOP % 'printf("%d", i); k ^= (int)strlen("loop");',
    "behind the loop": "static int g(int x, ...) { if (x == 3) exit(0); return x; }\n"
    "int f(int n) { int k = 0; for (int i = 0; i < n; i++) k ^= i; return g(n) + k; }",
}


def program_of(folder, text: str):
    file = folder / "a.c"
    file.write_text(HEAD + text, encoding="utf-8")
    return load([file], Settings(loop_timeout_s=20.0, workers=1))


def bound_of(program):
    (found,) = answer_bounds([program["f"]], "all", program.settings)
    assert not found.trouble
    return found


def compare(program, found) -> tuple[int, int]:
    """Whatever ends a run, the claims hold of it; how many runs were compared, and how many ended in a call."""
    graph = program["f"].graph()
    interpreter = Interpreter(program.source.inlined, graph)
    compared = ended = 0
    for n in (*range(-1, 9), 40):
        run = interpreter.run([n], [], max_steps=2_000)
        if run.status == "unknown":
            continue
        compared += 1
        ended += run.status not in ("ok", "undefined")
        values = {graph.parameters[0].var: n}
        for loop in found.counts:
            count = run.iterations.get(loop.answer.loop.name, 0)
            each = loop.entry.completed
            if run.status == "ok" and each is not None and len(found.counts) == 1:  # which is entered once
                at_entry = {var: 0 if graph.variables[var].shown == "i" else n for var in each.variables}
                assert count == evaluate(each, at_entry), (n, count, str(each))
            claim = loop.call
            if not holds(claim.when, values):
                continue
            assert claim.upper is None or count <= evaluate(claim.upper, values), (n, count)
            assert evaluate(claim.lower, values) <= count, (n, count, str(claim.lower))
            assert not claim.exact or count == evaluate(claim.upper, values), (n, count)
    return compared, ended


@pytest.mark.parametrize("name", LEAVES)
@pytest.mark.slow
def test_counts_around_calls_that_need_not_return_are_upper_bounds(tmp_path, name):
    program = program_of(tmp_path, LEAVES[name])
    found = bound_of(program)
    (loop,) = found.counts
    assert loop.call.upper is not None
    for claim in (loop.entry, loop.call, found.call):
        assert not claim.exact
        assert claim.lower is ZERO
        assert claim.never is FALSE
    (sentence,) = loop.calls.ends
    assert "need not return: " in sentence
    assert not any("return" in assumption for assumption in loop.calls.granted)
    assert loop.entry.completed is not None
    compared, _ = compare(program, found)
    assert compared >= 2  # runs of n <= 0, which make no call


ENDED = ("large", "recursive", "mutual", "always", "assumption", "further down", "endless", "endless for some")


@pytest.mark.parametrize("name", ENDED)
def test_runs_that_end_in_a_call_are_as_claimed(tmp_path, name):
    program = program_of(tmp_path, LEAVES[name])
    compared, ended = compare(program, bound_of(program))
    assert compared > 5
    assert ended > 0


@pytest.mark.parametrize("name", RETURNS)
def test_counts_around_calls_that_return_stay_exact_without_an_assumption(tmp_path, name):
    program = program_of(tmp_path, RETURNS[name])
    found = bound_of(program)
    loop = found.counts[0]
    assert loop.entry.exact
    assert loop.call.exact
    assert loop.calls == type(loop.calls)()
    assert loop.answer.paths is not None
    assert not any(a.startswith("calls of") for a in loop.answer.paths.assumptions)
    assert compare(program, found)[0] > 5


def test_what_is_run_before_a_call_that_may_end_the_run_is_sure(tmp_path):
    text = "static void g(int x, ...) { if (x > 9) exit(0); }\n"
    text += "int f(int n) { int k = 0; for (int i = 0; i < 30; i++) { k ^= i; if (i >= 12) g(n); } return k; }"
    program = program_of(tmp_path, text)
    found = bound_of(program)
    (loop,) = found.counts
    assert not loop.call.exact
    assert loop.call.lower.value == 12
    compared, ended = compare(program, found)
    assert compared > 5
    assert ended == 1


def test_a_call_before_a_loop_may_end_the_run_though_each_entry_is_exact(tmp_path):
    text = "static void g(int x, ...) { if (x > u) exit(0); }\n"
    text += "int f(int n) { int k = 0; g(n); for (int i = 0; i < n; i++) k ^= i; return k; }"
    program = program_of(tmp_path, text)
    (loop,) = bound_of(program).counts
    assert loop.entry.exact
    assert not loop.call.exact
    assert loop.call.lower is ZERO
    assert loop.calls.ends == ()
    assert len(loop.calls.on_the_way) == 1


def test_an_inner_loop_is_exact_on_each_entry_though_a_call_behind_it_may_end_the_run(tmp_path):
    text = "static void g(int x, ...) { if (x == 3) exit(0); }\n"
    text += "int f(int n) { int k = 0; for (int i = 0; i < n; i++) { for (int j = 0; j < 10; j++) k ^= j; g(i); } return k; }"
    program = program_of(tmp_path, text)
    found = bound_of(program)
    outer, inner = found.counts
    assert inner.entry.exact
    assert not any(claim.exact for claim in (outer.entry, outer.call, inner.call, found.call))
    assert compare(program, found)[1] > 0


def test_a_loop_that_a_call_may_end_does_not_surely_go_on_for_ever(tmp_path):
    text = "static void g(int x, ...) { if (x == 3) exit(0); }\n"
    text += "int f(int n) { unsigned i = n; for (;;) { g(i); i++; } }"
    found = bound_of(program_of(tmp_path, text))
    assert found.counts[0].entry.never is FALSE
    assert found.counts[0].recurrent == ()
    without = bound_of(program_of(tmp_path, text.replace("exit(0)", "u++")))
    assert without.counts[0].entry.never is TRUE


def test_where_a_function_is_not_shown_to_end_that_is_said_and_no_number_for_a_tool_hangs_on_it(tmp_path):
    text = "static int g(int n) { return n <= 0 ? 1 : g(n - 1) + g(n - 2); }\n"
    text += "int main(void) { int k = 0; for (int i = 0; i < 10; i++) k += g(i); return k; }"
    for source, sure in ((text, False), (text.replace(" + g(n - 2)", ""), True)):
        program = program_of(tmp_path, source)
        (found,) = answer_bounds([program["main"]], "all", program.settings)
        (loop,) = found.counts
        assert loop.call.exact
        assert loop.calls.granted == (() if sure else ("calls of g return",))
        ((fact,), _) = facts([found], [loop.answer.loop.name], None)
        assert fact.least == 0
        assert not fact.exact or sure


def test_a_summary_does_not_pass_over_a_call_that_need_not_return(tmp_path):
    for name in ("recursive", "called back", "without effect"):
        program = program_of(tmp_path, LEAVES[name])
        (loop,) = program["f"].loops
        summary = summary_of(loop, vars=["i"])
        assert isinstance(summary, Refused)
        assert summary.reason is Reason.UNKNOWN_CALL
        assert "need not return: " in summary.detail
        assert "exit is called at" in summary.detail
        whole = summarize_whole(program["f"])
        assert isinstance(whole, Refused)
    program = program_of(tmp_path, RETURNS["large"])
    summary = summary_of(program["f"].loops[0], vars=["i"])
    assert not isinstance(summary, Refused)
    assert summary.complete
    assert not any("return" in assumption for assumption in summary.paths.assumptions)


def test_what_is_counted_by_hand_may_end_where_a_call_ends_the_run(tmp_path):
    text = "static void g(int x, ...) { if (x == 3) exit(0); }\n"
    text += (
        "int f(int n) { int k = 0; for (int i = 0; i < n; i++) k++; g(n); for (int i = 0; i < n; i++) k--; return k; }"
    )
    program = program_of(tmp_path, text)
    cost = answer_cost(program["f"], "k", bound_of(program), program.settings).cost
    var = program["f"].graph().parameters[0].var
    assert cost.upper is None or evaluate(cost.upper, {var: 3}) >= 3  # the run that ends in g
    assert cost.lower is None or evaluate(cost.lower, {var: 3}) <= 3


@pytest.mark.parametrize(("called", "comes_back"), [("realloc(p, i + 1)", True), ("other(p, i + 1)", False)])
def test_functions_of_the_library_call_nothing_of_the_program(tmp_path, called, comes_back):
    """Another one may call what is handed out, and that may end the run."""
    text = (
        "void *realloc(void *, unsigned long); void *other(void *, unsigned long); void sort(int (*)(int));\n"
        "static int less(int x) { if (x == 3) exit(1); return x; }\nvoid hand(void) { sort(less); }\nvoid *p;\n"
    )
    text += LOOP % f"p = {called};"
    (loop,) = bound_of(program_of(tmp_path, text)).counts
    assert loop.entry.exact == comes_back
    assert bool(loop.calls.ends) != comes_back
    assert loop.entry.exact or loop.entry.completed is not None


def test_what_runs_do_whose_calls_return_is_told_exactly(tmp_path):
    """A run whose calls return comes to what the summary says; one that ends in a call takes no more iterations."""
    text = "static void g(int x, ...) { if (x == z) exit(0); }\n"
    text += "int f(int n) { int k = 7, i; for (i = 0; i < n; i += 2) { k += 3; g(i); } return k + i; }"
    program = program_of(tmp_path, text)
    loop = program["f"].loops[0]
    found = answer_loop(loop.function, loop.id, Question(approximate=True))
    assert (found.status, found.complete) == ("exact", True)
    assert found.past_calls is not None
    assert "exit is called at" in found.past_calls.detail
    assert any("calls of g return, which they need not" in assumption for assumption in found.assumptions)
    ends = set()
    graph = program["f"].graph()
    for z, n in itertools.product((-1, 0, 4, 5), range(-1, 9)):
        run = Interpreter(program.source.inlined, graph).run([n], [], globals={"z": z}, max_steps=2_000)
        count, behind = run.iterations.get(loop.id.name, 0), found(i=0, k=7, n=n)
        told = behind["i"] // 2
        ends.add(run.status)
        assert count <= told
        if run.status == "ok":
            assert (count, run.outcome.return_value) == (told, behind["k"] + behind["i"])
    assert len(ends) == 2


def test_what_is_told_of_runs_whose_calls_return_is_not_taken_for_all_runs(tmp_path):
    text = "static void g(int x, ...) { if (x == 3) exit(0); }\n"
    text += "int f(int n) { int i; for (i = 0; i < n; i++) g(i); return i; }\n"
    program = program_of(tmp_path, text)
    loop = program["f"].loops[0]
    found = answer_loop(loop.function, loop.id, Question(approximate=True))
    assert found.summary is not None
    assert found.summary.complete
    (outcome,) = outcomes_of([found]).values()
    assert isinstance(outcome, LoopSummary)
    assert not outcome.complete
    assert outcome.cases == ()
    assert outcome.approximation is not None
    assert len(outcome.approximation.cases) == len(found.summary.cases)
    assert [lost.when for lost in outcome.approximation.may_be_lost] == [TRUE]
    (whole,) = answer_functions([program["f"]], Question(approximate=True), program.settings)
    assert whole.status != "exact"

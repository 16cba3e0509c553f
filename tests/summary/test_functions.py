"""Summaries of functions: all entry states of 8-bit functions, and what is said where something is in the way."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import pytest

from loopless.check.interpreter.run import Interpreter, InterpreterRun
from loopless.flowgraph.model import Flowgraph
from loopless.queries import program as session
from loopless.queries.functions import summarize_whole
from loopless.refusals import Reason, Refused
from loopless.summary import (
    CallSummary,
    Diverges,
    FunctionCase,
    LoopSummary,
    Residual,
    Undefined,
    paths_of,
    summarize,
    summarize_function,
)
from loopless.summary.function import Region
from loopless.terms import Condition, Var, evaluate, holds
from loopless_fuzz.generator.generate import PROFILES, generate, print_program
from loops_in_c import graph

ENDS = {"abort": "aborted", "exit": "aborted", "error": "error-reached", "assumption": "assumption-failed"}

ONE_INPUT = {
    "two loops": "int f(signed char x) { while (x < 10) x += 3; if (x > 100) x -= 50; while (x > 0) x -= 7; return x; }",
    "branches": "int f(signed char x) { int r = 0; if (x > 5) r = 1; else if (x < -5) r = 2; else return 7;"
    " for (int i = 0; i < x; i++) r += i; return r; }",
    "an end in the middle": "void abort(void); int f(unsigned char x) { if (x % 3 == 1) abort();"
    " while (x != 7) { if (x == 100) return 1; x += 12; } return x; }",
    "for ever": "int f(unsigned char x) { if (x > 200) x = 3; while (x >= 10) x += 16; while (x & 1) { } return x; }",
    "overflow": "int f(signed char x) { int y = 1 << 30; while (x > 3) { y += 40000000; x--; } y += y / 2; return y; }",
    "an error": "void reach_error(void); int f(signed char x) { while (x > 9) x -= 10; if (x == 3) reach_error(); return x; }",
    "a helper": "static int up(int a, int b) { while (a < b) a += 4; return a; }"
    " int f(signed char x) { return up(x, 10) * 3 + up(0, x); }",
    "a global": "int g; int f(signed char x) { g = 5; if (x < 0) { g = x; return 1; }"
    " while (x > 1) { x -= 2; g += 3; } return x; }",
    "a do loop": "int f(unsigned char x) { unsigned k = 0; do { x += 37; k++; } while (x > 30); return x + k; }",
    "an early return": "int f(signed char x) { if (x == 3) return 1; int s = 0; for (int i = x; i < 20; i += 3) s -= i;"
    " return x > 4 ? s : -s; }",
}


def composed(g: Flowgraph) -> CallSummary:
    """The summary of the function, which must not be refused."""
    found = summarize_function(g, {loop.name: summarize(paths_of(g, loop)) for loop in g.loops})
    assert not isinstance(found, Refused), found
    return found


def only_region(summary: CallSummary, values: Mapping[Var, int]) -> Region:
    """The one region that the state lies in."""
    (region,) = [region for region in summary.regions if holds(region.when, values)]
    return region


def only_region_at(summary: CallSummary, values: Mapping[Var, int]) -> Region:
    """The one region that the state lies in where all memory holds 0."""
    (region,) = [region for region in summary.regions if holds(region.when, values, lambda *_: 0)]
    return region


def check(g: Flowgraph, region: Region, values: Mapping[Var, int], run: InterpreterRun) -> None:
    """What the region says is what the interpreter did."""
    match region:
        case FunctionCase():
            assert run.status == ENDS.get(region.kind, "ok")
            counts = {name: evaluate(count, values) for name, count in region.iterations.items()}
            assert {name: n for name, n in counts.items() if n} == dict(run.iterations)
            if region.kind == "return":
                assert region.result is not None
                assert evaluate(region.result, values) == run.outcome.return_value
                for name, final in run.outcome.globals.items():
                    var = next((v for v, info in g.variables.items() if info.shown == name), None)
                    before = {} if var is None else {var: 0}
                    assert final == (0 if var is None else evaluate(region.then.get(var, var), before | dict(values)))
        case Diverges():
            assert run.status == "diverges"
        case Undefined():
            assert run.status == "undefined"
        case Residual():
            pytest.fail(f"nothing is said: {region.why}")


def entries(g: Flowgraph) -> Iterator[tuple[int, ...]]:
    """All arguments."""
    types = [p.type for p in g.parameters]
    return itertools.product(*(range(t.min, t.max + 1) for t in types))


def state(g: Flowgraph, summary: CallSummary, arguments: Sequence[int], **more: int) -> dict[Var, int]:
    """The entry state: arguments, and globals with their values at the start of the program."""
    given = {p.var: value for p, value in zip(g.parameters, arguments, strict=True)}
    rest = {i.var: more.get(g.variables[i.var].shown, 0) for i in summary.inputs if i.kind in ("global", "pointee")}
    return rest | given


@pytest.mark.parametrize("name", ONE_INPUT)
def test_every_state_of_one_input(name: str) -> None:
    g = graph(ONE_INPUT[name])
    summary = composed(g)
    assert summary.complete
    interpreter = Interpreter(None, g)
    for arguments in entries(g):
        values = state(g, summary, arguments)
        check(g, only_region(summary, values), values, interpreter.run(arguments))


@pytest.mark.slow
def test_every_state_of_two_inputs() -> None:
    g = graph(
        "int f(signed char x, unsigned char n) { int s = 0; if (n > 200) return x; while (x < n) x += 5;"
        " for (int i = n; i > x - 40; i -= 2) s++; return s - x; }"
    )
    summary = composed(g)
    interpreter = Interpreter(None, g)
    for arguments in entries(g):
        values = state(g, summary, arguments)
        check(g, only_region(summary, values), values, interpreter.run(arguments))


@pytest.mark.parametrize("seed", range(8))
def test_every_state_of_random_functions(seed: int) -> None:
    profile = PROFILES["composed-8"]
    candidates = (generate(1000 * seed + i, profile) for i in range(200))
    program = next(p for p in candidates if len(p.signature.params) == 1)
    g = graph(print_program(program))
    found = composed(g)
    interpreter = Interpreter(None, g)
    compared = 0
    for arguments in entries(g):
        values = state(g, found, arguments)
        region = only_region(found, values)
        if not isinstance(region, Residual):
            run = interpreter.run(arguments, max_steps=20_000)
            if run.status != "timeout":
                check(g, region, values, run)
                compared += 1
    # Half of a program may be more than a method follows; the others are answered in full.
    assert compared >= (256 if found.complete else 128)
    assert found.complete or seed == 6


def test_inputs_that_are_read_once_are_named_in_their_order() -> None:
    g = graph(
        "extern int __VERIFIER_nondet_int(void); extern unsigned char __VERIFIER_nondet_uchar(void);"
        " int f(signed char n) { int a = 0; if (n > 3) a = __VERIFIER_nondet_int() % 100;"
        " int b = __VERIFIER_nondet_uchar(); while (n < b) n += 2; return n - a; }"
    )
    summary = composed(g)
    assert summary.complete
    assert {(i.number, i.var.type.width) for i in summary.inputs if i.kind == "nondet"} == {(1, 32), (1, 8), (2, 8)}
    interpreter = Interpreter(None, g)
    for n, first, second in itertools.product((-128, -1, 0, 3, 4, 126, 127), (-5, 0, 7, 300), (0, 1, 200, 511)):
        stream = (first, second)
        values = state(g, summary, (n,))
        values |= {i.var: i.var.type.wrap(stream[i.number - 1]) for i in summary.inputs if i.kind == "nondet"}
        region, run = only_region(summary, values), interpreter.run((n,), stream)
        check(g, region, values, run)
        if isinstance(region, FunctionCase):
            assert len(region.inputs) == run.nondet_used


def test_an_uninitialised_local_is_an_input() -> None:
    g = graph("int f(int n) { int y; if (n > 3) y = 1; while (n < 0) n++; return y + (n > 0); }")
    summary = composed(g)
    (input,) = [i for i in summary.inputs if i.kind == "uninitialised"]
    interpreter = Interpreter(None, g)
    for n, y in itertools.product((-9, 0, 3, 4), (0, 41, -1, 2**31 - 1)):
        values = state(g, summary, (n,)) | {input.var: y}
        check(g, only_region(summary, values), values, interpreter.run((n,), uninitialised=[y]))


def test_what_pointers_point_to_is_an_input_and_a_result() -> None:
    g = graph("int f(int *p, int n) { while (n > *p) { n -= 3; } *p = n; return n; }")
    summary = composed(g)
    (pointee,) = [i.var for i in summary.inputs if i.kind == "pointee"]
    n = next(p.var for p in g.parameters if p.name == "n")
    interpreter = Interpreter(None, g)
    for before, value in itertools.product((-7, 0, 5), (-3, 0, 5, 6, 100)):
        values = {pointee: before, n: value}
        region, run = only_region(summary, values), interpreter.run(([before], value))
        assert isinstance(region, FunctionCase)
        assert (evaluate(region.then.get(pointee, pointee), values),) == run.outcome.outputs[0]


def residuals(summary: CallSummary) -> dict[Reason, Residual]:
    """The residual by its reasons."""
    return {residual.why.reason: residual for residual in summary.residual}


def test_a_refused_loop_costs_only_the_states_that_reach_it() -> None:
    source = (
        "int f(int n) { if (n < 100) { while (n > 3) n -= 2; return n; }"
        " for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) n -= j; return 0; }"
    )
    g = graph(source)
    refused = Refused(Reason.NESTED, "here", "made for this test")
    outcomes = {loop.name: summarize(paths_of(g, loop)) if loop is g.loops[0] else refused for loop in g.loops}
    summary = summarize_function(g, outcomes)
    assert isinstance(summary, CallSummary)
    (residual,) = summary.residual
    assert residual.why is refused
    n = g.parameters[0].var
    for value in (-(2**31), -1, 0, 3, 4, 99, 100, 101, 2**31 - 1):
        assert isinstance(only_region(summary, {n: value}), Residual) == (value >= 100)


def test_a_residual_of_a_loop_is_passed_on_with_its_reason() -> None:
    g = graph("int f(int n, int k) { if (k > 5) n = 7; while (n > 3) n -= 2; return n; }")
    (loop,) = g.loops
    known = summarize(paths_of(g, loop))
    assert isinstance(known, LoopSummary)
    why = Refused(Reason.BUDGET, "here", "made for this test")
    # The case with iterations is taken for the residual.
    moved = next(case for case in known.cases if case.trace)
    accelerated = LoopSummary(
        known.loop,
        known.paths,
        tuple(case for case in known.cases if case is not moved),
        known.diverges,
        known.undefined,
        (loopless_residual(moved.when, why),),
        known.method,
    )
    summary = summarize_function(g, {loop.name: accelerated})
    assert isinstance(summary, CallSummary)
    n, k = (p.var for p in g.parameters)
    for at, kept in itertools.product((-5, 3, 4, 9), (5, 6)):
        region = only_region(summary, {n: at, k: kept})
        assert isinstance(region, Residual) == (at > 3 or kept > 5)
        assert not isinstance(region, Residual) or region.why is why


def loopless_residual(when: Condition, why: Refused) -> Residual:
    return Residual(when, why)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("int f(int **a, int n) { if (n > 3) *a[n] = 1; return n; }", Reason.MEMORY),
        ("int f(int n) { if (n > 3) { int b[9]; b[n & 3] = 1; return b[5]; } return n; }", Reason.MEMORY),
        ("int f(int n) { if (n > 3) { float x = n; return x > 7.5f; } return n; }", Reason.FLOAT),
        ("int f(int n, int (*g)(int)) { if (n > 3) return g(n); return n; }", Reason.UNKNOWN_CALL),
        ("int f(int n, int k) { if (n <= 3) return n; if (k) goto in; while (k < 7) { k++; in: k += 2; } return k; }",
         Reason.IRREDUCIBLE),
    ],
)  # fmt: skip
def test_what_is_in_the_way_costs_only_the_states_that_reach_it(source: str, reason: Reason) -> None:
    g = graph(source)
    summary = composed(g)
    assert reason in residuals(summary)
    n = next(p.var for p in g.parameters if p.name == "n")
    region = only_region(summary, {n: 2} | {i.var: 0 for i in summary.inputs if i.var is not n})
    assert isinstance(region, FunctionCase)
    assert region.result is not None
    assert evaluate(region.result, {n: 2}) == 2
    assert isinstance(only_region(summary, {n: 4} | {i.var: 0 for i in summary.inputs if i.var is not n}), Residual)


def test_own_arrays_are_nobody_elses_business_and_hold_what_was_written() -> None:
    g = graph("int f(int n) { int b[8]; b[n & 7] = n; while (n > 0) n--; return n; }")
    summary = composed(g)
    assert summary.complete
    assert all(case.contents == {} for case in summary.cases)
    g = graph("int f(int n) { int b[8]; b[n & 3] = n; if (n < -5) return b[n & 3]; return b[3]; }")
    summary = composed(g)
    n = g.parameters[0].var
    for value in (-9, -6):
        region = only_region(summary, {n: value})
        assert isinstance(region, FunctionCase)
        assert evaluate(region.result, {n: value}) == value
    assert set(residuals(summary)) == {Reason.MEMORY}
    for value in (-5, 0, 2, 8):  # b[3] may not be written
        assert isinstance(only_region(summary, {n: value}), Residual)


def test_a_loop_that_reads_what_was_written_before_sees_it() -> None:
    source = "int g[10]; int f(unsigned n) { %s unsigned i = 0; while (i < n && i < 10 && g[2] > 3) i++; return i; }"
    written, plain = graph(source % "if (n < 10) g[n] = 9;"), graph(source % "")
    found = composed(written)
    assert found.complete
    interpreter = Interpreter(None, written)
    n = written.parameters[0].var
    for value in (0, 1, 2, 3, 5, 9, 10, 2**32 - 1):
        region = only_region_at(found, {n: value})
        assert isinstance(region, FunctionCase)
        result = evaluate(region.result, {n: value}, lambda *_: 0)
        assert result == interpreter.run((value,)).outcome.return_value
    answered = composed(plain)
    assert answered.complete
    (cell,) = [i.var for i in answered.inputs if i.kind == "global"]
    for n_at, cell_at in itertools.product((0, 1, 9, 10, 11, 2**32 - 1), (0, 3, 4, 9)):
        region = only_region(answered, {plain.parameters[0].var: n_at, cell: cell_at})
        assert isinstance(region, FunctionCase)
        assert region.result is not None
        result = evaluate(region.result, {plain.parameters[0].var: n_at, cell: cell_at})
        assert result == (min(n_at, 10) if cell_at > 3 else 0)


@pytest.mark.slow
def test_too_many_ways_are_a_residual_and_no_error() -> None:
    bits = "".join(f"if (n & {1 << i}) s = s * {i + 3} + {i};" for i in range(11))
    g = graph(f"unsigned f(unsigned n) {{ unsigned s = 1; if (n > 2000) return 5; {bits} return s; }}")
    summary = composed(g)
    assert set(residuals(summary)) == {Reason.BUDGET}
    n = g.parameters[0].var
    interpreter = Interpreter(None, g)
    answered = 0
    for value in (*range(0, 2001, 3), 2001, 2**32 - 1):
        region = only_region(summary, {n: value})
        if not isinstance(region, Residual):
            check(g, region, {n: value}, interpreter.run((value,)))
            answered += 1
    assert answered > 20
    assert isinstance(only_region(summary, {n: 2001}), FunctionCase)


def test_the_result_of_an_unknown_call_has_a_name() -> None:
    g = graph("extern int get(int); int f(int n) { int r = get(n); while (n > r) n--; return n + (r > 5); }")
    summary = composed(g)
    assert summary.complete
    (call,) = [i.var for i in summary.inputs if i.kind == "call"]
    n = g.parameters[0].var
    for value, result in itertools.product((-5, 0, 9), (-2, 0, 6)):
        region = only_region(summary, {n: value, call: result})
        assert isinstance(region, FunctionCase)
        assert region.result is not None
        assert evaluate(region.result, {n: value, call: result}) == min(value, result) + (result > 5)
        assert any("get" in assumption for assumption in region.assumptions)


TOO_LARGE_TO_INLINE = "s ^= 1; " * 200

CALLS = f"""void abort(void);
int steps(signed char x, signed char n) {{
    int s = 0;
    if (x == 77) {{ {TOO_LARGE_TO_INLINE} abort(); }}
    while (x < n) {{ x += 3; s++; }}
    if (n == 9) while (1) {{ }}
    return s;
}}
int f(int a, int b) {{
    if (a > 1000) return -1;
    int s = steps(a, b);
    while (s > 10) s -= 10;
    return s + steps(b, 1);
}}
int down(int n) {{ return n < 2 ? n : down(n - 1) + down(n - 2); }}
int g(int n) {{ if (n > 10) return down(n); return n; }}
"""


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    file = tmp_path_factory.mktemp("calls") / "calls.c"
    file.write_text(CALLS, encoding="utf-8")
    return session.load(file)


def test_calls_of_functions_that_compute_are_composed(calls) -> None:
    function = calls["f"]
    g = function.graph()
    assert "steps" in g.callees
    summary = summarize_whole(function)
    assert isinstance(summary, CallSummary)
    assert summary.complete
    interpreter = Interpreter(calls.source.inlined, g)
    values = (-300, -129, -128, -5, 0, 1, 9, 77, 100, 127, 128, 200, 255, 265, 1001)
    seen = set()
    for arguments in itertools.product(values, values):
        entry = state(g, summary, arguments)
        run = interpreter.run(arguments)
        check(g, only_region(summary, entry), entry, run)
        seen.add(run.status)
    assert seen == {"ok", "aborted", "diverges"}


def test_recursion_costs_only_the_states_that_reach_it(calls) -> None:
    summary = summarize_whole(calls["g"])
    assert set(residuals(summary)) == {Reason.RECURSION}
    n = calls["g"].graph().parameters[0].var
    assert [isinstance(only_region(summary, {n: value}), Residual) for value in (-3, 10, 11)] == [False, False, True]


def test_a_summary_can_be_called(calls) -> None:
    summary = summarize_whole(calls["f"])
    assert summary(a=2000, b=1) == {"return": -1}
    with pytest.raises(ValueError, match="never ends"):
        summary(a=0, b=9)
    with pytest.raises(ValueError, match="abort"):
        summary(a=77, b=1)
    with pytest.raises(KeyError):
        summary(c=1)


def test_what_is_undefined_for_sure_is_not_in_the_residual_too() -> None:
    g = graph("long f(long n, long x) { long s = 0; while (s < 10) { x += s;\n n += x;\n s += 3; } return n; }")
    (loop,) = g.loops
    summary = summarize(paths_of(g, loop))
    assert isinstance(summary, LoopSummary)
    regions = [*(c.when for c in summary.cases), *(u.when for u in summary.undefined)]
    regions += [summary.diverges, *(r.when for r in summary.residual)]
    n, x = (p.var for p in g.parameters)
    s = next(v for v, info in g.variables.items() if info.shown == "s")
    edges = (-(2**63), -(2**62), -1, 0, 1, 2**62, 2**63 - 18, 2**63 - 17, 2**63 - 1)
    for values in itertools.product(edges, edges, (-100, 0, 9, 10)):
        assert sum(holds(when, dict(zip((n, x, s), values, strict=True))) for when in regions) == 1, values

"""What calls do to the variables of their callers: against runs of the callees, and bounds of loops around calls."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from counted import judge_calls, judge_entries_in_calls
from loopless.bounds import FunctionBounds, LoopBounds
from loopless.bounds.callees.effects import Transformers
from loopless.bounds.induction.counts import Counted, induction_counts, walked
from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph import build
from loopless.flowgraph.callees.call_sites import widths
from loopless.flowgraph.model import Flowgraph
from loopless.queries.program import load as load_program
from loopless.source import ir, load
from loopless.terms import evaluate
from loopless_fuzz.generator.generate import PROFILES, generate, nondet_stream, print_program
from loopless_fuzz.generator.inputs import inputs
from runs_of_text import module


def transformers(program: ir.Module, *, taken: bool = True) -> Transformers:
    def graph(name: str) -> tuple[Flowgraph, Sequence[int | None]] | None:
        function = program.functions.get(name)
        if function is None or function.is_declaration:
            return None
        return build(function, program), widths(function)

    return Transformers(graph, walked, taken)


def bounds_of(g: Flowgraph, program: ir.Module) -> FunctionBounds:
    found = {n: c for n, c in induction_counts(g, None, transformers(program)).items() if isinstance(c, Counted)}
    of = {loop.name: found.get(loop.name, Counted()) for loop in g.loops}
    return FunctionBounds(
        {
            loop.name: LoopBounds(loop, of[loop.name].bounds, of[loop.name].any_entry, of[loop.name].total)
            for loop in g.loops
        }
    )


CALLEES = {
    "clamp": "unsigned clamp(unsigned x) { return x > 7 ? 7 : x; }",
    "nested": "static int half(int x) { return x / 2; } int clamp(int x) { return x > 9 ? half(x) : x + 1; }",
    "narrow": "signed char clamp(signed char x) { if (x < -3) return -3; return x; }",
    "wraps": "unsigned char clamp(unsigned char x) { return x + 3; }",
    "looping": "int clamp(int x) { int i = 0; while (i < x) i += 2; return i; }",
    "ends": "void abort(void); int clamp(int x) { if (x < 0) abort(); return x & 15; }",
}


@pytest.mark.parametrize("name", CALLEES)
def test_a_result_is_on_one_of_the_ways(name: str) -> None:
    program = module(CALLEES[name], inlined=False)
    found = transformers(program).of("clamp")
    assert found is not None and found.outcomes
    g = build(program.functions["clamp"], program)
    (parameter,) = g.parameters
    assert parameter.var is not None
    interpreter = Interpreter(program, g)
    values = [v for v in (*range(-20, 40), 127, 128, 200, 255) if parameter.type.wrap(v) == v]
    for value in values:
        run = interpreter.run([value], (), max_steps=2_000)
        if run.status != "ok":
            assert name == "ends" and value < 0
            continue
        fitting = 0
        for outcome in found.outcomes:
            assert outcome.result is not None
            entry = {parameter.var: value}
            if outcome.result.variables & found.intervals.symbols:  # some value of the symbols has to do
                fitting += name in ("looping", "nested")
                continue
            plain = [(t, most) for t, most in outcome.facts.most.items() if t.variables <= entry.keys()]
            holds = all(evaluate(linear, entry) <= most for linear, most in plain)
            if holds and evaluate(outcome.result, entry) == run.outcome.return_value:
                fitting += 1
        assert fitting >= 1, (name, value)


COUNTED = {
    # By name: a program with a loop in f, inputs, and how often it may run at most by thought.
    "a counter behind a pointer": (
        "struct s { int a, b; }; static void dec(struct s *p) { if (p->a > 3) p->a -= 2; else p->a -= 1; p->b++; }"
        "int f(int n) { struct s x = {n, 0}; while (x.a > 0) dec(&x); return x.b; }",
        lambda n: max(0, n),
    ),
    "a step that a call chooses": (
        "static int step(int x) { return x & 1 ? 3 : 1; }"
        "int f(int n) { int i = 0; while (i < n && i < 1000) i += step(i); return i; }",
        lambda n: max(0, min(n, 1000)),
    ),
    "a global that a call lowers, or ends": (
        "static int left, over; static void use(void) { if (left & 1) over = 1; else left -= 2; }"
        "int f(int n) { left = n; over = 0; while (left > 0 && !over) use(); return left; }",
        None,
    ),
    "a call of a call": (
        "static int up(int x) { return x + 2; } static int more(int x) { return up(x) + 1; }"
        "int f(int n) { int i = 0; while (i < n && i < 5000) i = more(i); return i; }",
        lambda n: -(-max(0, min(n, 5000)) // 3),
    ),
    "a result that is checked": (
        "static int get(int k) { return k % 7 == 0 ? -1 : k; }"
        "int f(int n) { int i = 0; while (i < n && i < 900) { if (get(i + 1) < 0) break; i++; } return i; }",
        lambda n: max(0, min(n, 900)),
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_loops_around_calls_are_bounded(name: str) -> None:
    text, most = COUNTED[name]
    program = module(text, inlined=False)
    g = build(program.functions["f"], program)
    rows = [[n] for n in (*range(-3, 40), 1000, 1001)]
    bounds, interpreter = bounds_of(g, program), Interpreter(program, g)
    (loop,) = bounds.loops.values()
    compared = judge_calls(g, rows, (), bounds, interpreter)
    assert compared.compared >= (len(rows) if most is not None else 0)
    if most is not None:
        for (n,) in rows:
            entry = {p.var: n for p in g.parameters if p.var is not None}
            tops = [evaluate(b.term, entry) for b in loop.total if b.term.variables <= entry.keys()]
            assert tops and min(tops) <= most(n) + 1, (name, n, tops)


NOT_BOUNDED = {
    "it may go back": "static int step(int x) { return x & 1 ? -3 : 1; }"
    "int f(int n) { int i = 0; while (i < n && i < 1000) i += step(i); return i; }",
    "two pointers to one": "static void move(int *p, int *q) { *p -= 1; *q += 1; }"
    "int f(int n) { int x = n; while (x > 0) { move(&x, &x); n = x; } return n; }",
    "a global by pointer, too": "static int x; static void move(int *p) { *p -= 1; x += 1; }"
    "int f(int n) { x = n; while (x > 0) move(&x); return x; }",
}


@pytest.mark.parametrize("name", NOT_BOUNDED)
def test_loops_around_calls_that_may_not_end(name: str) -> None:
    program = module(NOT_BOUNDED[name], inlined=False)
    g = build(program.functions["f"], program)
    counts = induction_counts(g, None, transformers(program))
    assert all(not c.bounds for c in counts.values() if isinstance(c, Counted))


@pytest.mark.parametrize("linkage", ["static", "", "__attribute__((weak))"])
def test_another_definition_may_be_linked(linkage: str, tmp_path) -> None:
    step = f"{linkage} int step(int x) {{ return {' + '.join(['1'] * 80)} - x * 0; }}"
    padding = "".join(
        f"int g{k}(int x) {{ return {'+'.join(['x * x'] * 60)}; }}\n" for k in range(40)
    )  # a large module
    file = tmp_path / "a.c"
    file.write_text(
        f"{padding} {linkage} int step(int); int f(int n) {{ int i = 0; while (i < n) i += step(i); return i; }} {step}"
    )
    program = load_program(file, sandboxed=False)
    assert (program.transformers.of("step") is not None) == (linkage != "__attribute__((weak))")


def test_what_is_taken_for_granted_in_a_callee_is_listed() -> None:
    text = "static void put(int *p, int *q) { *p -= 1; *q = 5; } int f(int *a, int *b) {"
    text += " while (*a > 0) put(a, b); return *a; }"
    program = module(text, inlined=False)
    g = build(program.functions["f"], program)
    (one,) = induction_counts(g, None, transformers(program)).values()
    assert isinstance(one, Counted) and one.bounds
    assert any(text.startswith("where put is called") for text in one.granted)
    (one,) = induction_counts(g, None, transformers(program, taken=False)).values()
    assert isinstance(one, Counted) and not one.bounds


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["everything", "composed"])
def test_random_programs_with_helpers(profile: str, tmp_path) -> None:
    compared = calls = 0
    for seed in range(91_000, 91_040):
        made = generate(seed, PROFILES[profile])
        file = tmp_path / f"{seed}.c"
        file.write_text(print_program(made))
        program = load([file]).module
        g = build(program.functions["f"], program)
        bounds, nondet = bounds_of(g, program), nondet_stream(seed)
        calls += bool(g.callees & {f.name for f in program.defined()})
        rows = [list(row) for row in inputs(made.signature, seed, 8)]
        interpreter = Interpreter(program, g)
        compared += judge_calls(g, rows, nondet, bounds, interpreter, 6_000).compared
        compared += judge_entries_in_calls(g, rows, nondet, bounds, interpreter, 6_000).compared
    assert compared > 100
    assert calls > 3

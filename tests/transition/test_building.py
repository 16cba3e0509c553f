"""Programs as transitions between cutpoints: what they are by reasoning, and runs along them beside the interpreter's."""

from __future__ import annotations

import pytest

from loopless.check.certificates.property import Property
from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph import build
from loopless.flowgraph.model import Origin
from loopless.terms import Valuation, add, const
from loopless.transition.building import cutpoints_of
from loopless.transition.relation import OPEN, START, VIOLATION
from loopless.verification.runs import Runner
from programs_in_c import graph, named, program, search, system

COUNTS = "int main(void) { int x = 0; while (x < 10) x++; if (x == 11) reach_error(); return x; }"


def by_ends(made):
    """The transitions by where they begin and end; there is one for each pair here."""
    found = {(t.source, t.target): t for t in made.transitions}
    assert len(found) == len(made.transitions)
    return found


def test_a_loop_is_one_cutpoint_with_one_transition_around():
    made = system(COUNTS)
    (cut,) = made.cutpoints
    x = named(made.graph, "x")
    found = by_ends(made)
    assert set(found) == {(START, cut), (cut, cut), (cut, VIOLATION)}
    assert found[START, cut].update == {x: const(0)}
    assert found[cut, cut].update == {x: add(x, const(1))}
    assert made.state[cut] == (x,)
    for value in (-3, 0, 9, 10, 11, 12):
        here = Valuation({x: value}, lambda *_: 0)
        assert here.holds(found[cut, cut].condition) == (value < 10)
        assert here.holds(found[cut, VIOLATION].condition) == (value == 11)


def test_ways_that_meet_are_one_transition_with_a_choice():
    made = system(
        "int main(void) { int x = 0, y = 0; while (x < 9) { if (x < 4) y += 2; else y -= 1; x++; } return y; }"
    )
    (cut,) = made.cutpoints
    (around,) = [t for t in made.transitions if t.source == t.target == cut]
    x, y = named(made.graph, "x"), named(made.graph, "y")
    for value, after in ((0, 102), (3, 102), (4, 99), (8, 99)):
        here = Valuation({x: value, y: 100}, lambda *_: 0)
        assert here.evaluate(around.update[y]) == after


def test_inputs_are_variables_of_their_transition():
    made = system(
        "int main(void) { int x = __VERIFIER_nondet_int(); while (x > 0) x -= __VERIFIER_nondet_int(); return 0; }"
    )
    (cut,) = made.cutpoints
    ((first,), (again,)) = (
        [t for t in made.transitions if (t.source, t.target) == ends] for ends in ((START, cut), (cut, cut))
    )
    (one,), (other,) = first.inputs, again.inputs
    assert one.origin is other.origin is Origin.NONDET
    assert one.var is not other.var
    assert first.update[named(made.graph, "x")] is one.var
    assert other.var in again.update[named(made.graph, "x")].variables
    assert not {one.var, other.var} & set(made.state[cut])


def test_each_loop_of_a_nest_is_a_cutpoint():
    made = system(
        "int main(void) { for (int i = 0; i < 5; i++) for (int j = 0; j < i; j++) if (j > 7) reach_error(); return 0; }"
    )
    outer, inner = made.cutpoints
    assert {loop.header for loop in made.graph.loops} == {outer, inner}
    ends = {(t.source, t.target) for t in made.transitions}
    assert ends == {(START, outer), (outer, inner), (inner, inner), (inner, outer), (inner, VIOLATION)}


def test_cutpoints_lie_on_the_cycles_of_goto_too():
    part = graph(
        "int main(void) { int x = 0; if (__VERIFIER_nondet_int()) goto b; a: x++; b: if (x < 9) goto a; return x; }"
    )
    cuts = cutpoints_of(part)
    rest = {
        label: [t for t in block.successors if t not in cuts]
        for label, block in part.blocks.items()
        if label not in cuts
    }
    seen = set()
    while free := [label for label, targets in rest.items() if label not in seen and set(targets) <= seen]:
        seen.update(free)
    assert cuts
    assert seen == set(rest)  # all else can be put in an order, so it has no cycle


def test_an_overflow_is_a_violation_of_its_property_and_ends_a_run_else():
    source = "int main(void) { int x = __VERIFIER_nondet_int(); while (x > 0) x = x + 7; return x; }"
    x = named(graph(source), "x")
    asked = system(source, Property.NO_OVERFLOW)
    (bad,) = [t for t in asked.transitions if t.target == VIOLATION]
    assert (not asked.failing, bad.loc.line) == (True, 2)
    other = system(source)
    assert all(t.target != VIOLATION for t in other.transitions)
    (ended,) = other.failing
    for value in (-5, 1, 2147483640, 2147483641):
        here = Valuation({x: value}, lambda *_: 0)
        assert here.holds(bad.condition) == here.holds(ended.condition) == (value > 2147483640)


def test_a_run_ends_where_it_meets_undefined_behaviour():
    made = system(
        "int main(void) { int x = __VERIFIER_nondet_int(); int y = 10 / x; if (x == 0) reach_error(); return y; }"
    )
    assert [t for t in made.transitions if t.target == VIOLATION] == []
    assert len(made.failing) == 1


def test_what_a_call_that_is_not_inlined_may_violate_is_seen():
    recursive = "void f(int n) {{ if (n > 0) {{ f(n - 1); f(n - 2); }} {} }} int main(void) {{ f(5); return 0; }}"
    assert any(t.target in (OPEN, VIOLATION) for t in system(recursive.format("else reach_error();")).transitions)
    assert all(t.target != OPEN for t in system(recursive.format("")).transitions)
    assert all(t.target != VIOLATION for t in system(recursive.format("")).transitions)
    around = system(recursive.format(""), Property.TERMINATION).transitions
    assert any(t.target == OPEN for t in around) or any(t.source == t.target for t in around)


def test_the_first_values_of_globals_are_known_in_main():
    made = system("int g = 3; int main(void) { while (g > 0) g--; if (g != 0) reach_error(); return 0; }")
    (first,) = [t for t in made.transitions if t.source == START]
    assert first.update[named(made.graph, "g")] == const(3)


def test_constant_tables_are_read_and_written_arrays_are_any_value():
    table = (
        "int t[3] = {{4, 5, 6}}; int main(void) {{ int i = 0, s = 0; while (i < 3) {{ s = t[i]; {} i++; }} return s; }}"
    )
    kept, written = (system(table.format(text)) for text in ("", "t[i] = s + 1;"))
    s = named(kept.graph, "s")
    (term,) = [t.update[s] for t in kept.transitions if t.source == t.target]
    (value,) = [t.update[s] for t in written.transitions if t.source == t.target]
    assert term.variables == {named(kept.graph, "i")}
    (memory,) = [one for t in written.transitions for one in t.inputs]
    assert (memory.origin, value) == (Origin.MEMORY, memory.var)


PROGRAMS = {
    "sum": ("int main(void) { int n = __VERIFIER_nondet_int(), s = 0; while (n > 0 && n < 50) { s += __VERIFIER_nondet_int(); n--; }"
            " if (s == 42) reach_error(); return s; }",
            [[0], [51], [2, 40, 2], [2, 1, 1], [3, 14, 14, 14], [1, -1]]),
    "nest": ("int main(void) { int n = __VERIFIER_nondet_int(), c = 0; for (int i = 0; i < n && i < 9; i++)"
             " for (int j = i; j < n; j += 2) c++; if (c == 6) reach_error(); return c; }",
             [[-1], [0], [1], [2], [3], [4], [5], [6]]),
    "unsigned": ("int main(void) { unsigned char x = __VERIFIER_nondet_int(); int k = 0; while (x != 4) { x += 12; k++; }"
                 " if (k == 21) reach_error(); return k; }",
                 [[4], [248], [0], [8], [260]]),
    "assumed": ("extern void __VERIFIER_assume(int); int main(void) { int x = __VERIFIER_nondet_int(); __VERIFIER_assume(x < 20);"
                " while (x > 3) { x -= 4; if (x == 2) reach_error(); } return x; }",
                [[20], [18], [17], [3], [-9]]),
}  # fmt: skip
CASES = [(name, inputs) for name, (_, lists) in PROGRAMS.items() for inputs in lists]


def interpreted(source, inputs):
    """How the interpreter says that the run ends, and the iterations of all loops."""
    module = program(source).inlined
    done = Interpreter(module, build(module.functions["main"], module)).run([], inputs)
    return done.outcome.status, sum(done.iterations.values())


def along(made, inputs):
    """How a run along the transitions ends, and how often it comes to a cutpoint from itself or from one inside."""
    stream, label, values, visits = list(inputs), START, {}, {}
    while label not in (VIOLATION, OPEN):
        for one in made.transitions:
            if one.source != label:
                continue
            here = {**values, **dict(zip((i.var for i in one.inputs), stream, strict=False))}
            if one.condition.variables <= here.keys() and Valuation(here, lambda *_: 0).holds(one.condition):
                new = {v: Valuation(here, lambda *_: 0).evaluate(term) for v, term in one.update.items()}
                values, stream, label = {**here, **new}, stream[len(one.inputs) :], one.target
                visits[label] = visits.get(label, 0) + 1
                break
        else:
            return "ended", visits
    return label, visits


@pytest.mark.parametrize(("name", "inputs"), CASES)
def test_runs_along_the_transitions_end_as_the_interpreter_says(name, inputs):
    source = PROGRAMS[name][0]
    status, iterations = interpreted(source, inputs)
    assert status in ("ok", "error-reached", "assumption-failed")
    label, visits = along(system(source), inputs)
    assert (label == VIOLATION) == (status == "error-reached")
    if name != "nest":  # one loop is entered once
        assert sum(n for at, n in visits.items() if at not in (VIOLATION, OPEN)) == iterations + (
            status != "assumption-failed"
        )


@pytest.mark.parametrize(("name", "inputs"), CASES)
def test_single_runs_end_as_the_interpreter_says(name, inputs):
    source = PROGRAMS[name][0]
    made, stream = search(source), iter(inputs)
    run = Runner(made.system.graph, made.runner.violates, made.system.state).run(lambda *_: next(stream), 100_000)
    assert run.exact
    said = {"violation": "error-reached", "return": "ok", "assumption": "assumption-failed"}[run.end]
    assert said == interpreted(source, inputs)[0]
    assert run.inputs == inputs[: len(run.inputs)]


def test_a_run_that_is_cut_off_says_so():
    made = search("int main(void) { while (1) ; }")
    assert made.runner.run(lambda *_: 0, 50).end == "steps"

"""Contracts of functions that call themselves: what is found holds of all calls that return."""

from __future__ import annotations

import pytest

from loopless import clock
from loopless.check.certificates.property import Follows, Property, graph_of, violates
from loopless.refusals import Reason, Refused
from loopless.terms import TRUE, conjunction, holds
from loopless.transition.building import system_of
from loopless.verification.contracts import contracted
from loopless.verification.proofs import GOALS, Search
from loopless.verification.runs import Runner
from programs_in_c import program

MAIN = "int main(void) {{ int x = __VERIFIER_nondet_int(); if ({}) return 0; int r = f(x); {} return 0; }}"
BAD = "if ({}) reach_error();"


def system_under(source, property_):
    follows = Follows(property_, program(source).module)

    def calls(call):
        return None if follows(call) else Refused(Reason.UNKNOWN_CALL, "", call.callee)

    def made(contracts):
        graph = graph_of(program(source), "main", property_, contract_of=lambda s: (contracts or {}).get(s.function))
        return graph.refused or system_of(graph, violates(property_), calls)

    return made


def found(source, property_=Property.UNREACH_CALL):
    made = system_under(source, property_)
    return contracted(made(None), made, violates(property_), clock.counted() + 30.0)


def mc91(n):
    return n - 10 if n > 100 else 91


def fib(n):
    a, b = 0, 1
    for _ in range(max(n, 0)):
        a, b = b, a + b
    return a


def nested(n):
    """f(f(f(n - 2) - 1)) + 1 where n > 0: 1, since f(1) = f(f(-1)) + 1."""
    return int(n > 0)


FUNCTIONS = {
    "mc91": ("int f(int n) { if (n > 100) return n - 10; return f(f(n + 11)); }", mc91, "r != 91 && x < 102"),
    "fib": ("int f(int n) { if (n < 1) return 0; if (n == 1) return 1; return f(n - 1) + f(n - 2); }", fib, "r < 0"),
    "nested": ("int f(int n) { if (n <= 0) return 0; return f(f(f(n - 2) - 1)) + 1; }", nested, "r > 1"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_found_holds_of_what_is_returned_and_is_enough(name):
    code, value, bad = FUNCTIONS[name]
    answer = found(code + MAIN.format("x > 40 && x < 50", BAD.format(bad)))
    contract = conjunction(answer.contracts["f"])
    assert contract is not TRUE
    signature = answer.system.graph.signatures["f"]
    (given,) = signature.given.values()
    for n in (*range(-5, 42), 99, 100, 101, 102, 103, 2000):
        if name != "fib" or n < 42:
            assert holds(contract, {given: n, signature.result: value(n)}), n
            assert not holds(contract, {given: n, signature.result: value(n) - 1}) or name == "fib", n
    search = Search(answer.system, violates(Property.UNREACH_CALL), clock.counted() + 30.0, answer.invariants)
    assert all(search.excluded(t, search.found) for t in answer.system.transitions if t.target in GOALS)


def test_globals_that_calls_change_are_told():
    source = """
    int depth;
    int f(int n) { int r = 0; depth++; if (n > 0) { r = f(n - 1); r += f(n - 2); } depth--; return r; }
    """ + MAIN.format("x > 9", BAD.format("depth != 0"))
    answer = found(source)
    signature = answer.system.graph.signatures["f"]
    depth = next(var for var in signature.globals)
    state = dict.fromkeys(signature.variables, 3)
    assert not holds(conjunction(answer.contracts["f"]), {**state, depth: 4})
    assert not holds(conjunction(answer.contracts["f"]), {**state, depth: 2})


def test_a_violation_behind_a_call_stays_one():
    """f(45) is beyond int, where a run ends; f(44) is 701408733."""
    code, _, _ = FUNCTIONS["fib"]
    answer = found(code + MAIN.format("x > 44", BAD.format("r == 701408733")))
    search = Search(answer.system, violates(Property.UNREACH_CALL), clock.counted() + 30.0, answer.invariants)
    assert not all(search.excluded(t, search.found) for t in search.bad)


def test_single_runs_carry_out_calls_where_returns_are_told():
    source = FUNCTIONS["mc91"][0] + MAIN.format("0", BAD.format("r == 93"))
    made = system_under(source, Property.UNREACH_CALL)({"f": ()})
    runner = Runner(made.graph, violates(Property.UNREACH_CALL), made.state)
    ends = {}
    for n in (87, 101, 102, 103, 104):
        run = runner.run(lambda target, *_, n=n: 0 if target.name.startswith("entry#") else n, 4000)
        ends[n] = run.end, run.inputs
        assert all(v[runner.graph.signatures["f"].result] == mc91(given_of(runner, v)) for _, v in run.returned)
    assert ends == {n: ("violation" if n == 103 else "return", [n]) for n in ends}


def given_of(runner, values):
    (given,) = runner.graph.signatures["f"].given.values()
    return values[given]

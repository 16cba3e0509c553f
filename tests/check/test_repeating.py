"""Runs of the interpreter that repeat a state, of a loop or of calls that go deeper, and runs that only seem to."""

from __future__ import annotations

import pytest

from loopless.check.interpreter.repeating import REPEATED_CALL
from loopless.check.interpreter.run import Interpreter, InterpreterRun
from loopless.flowgraph import build
from programs_in_c import program


def run(text: str, *inputs: int, repeats: bool = False) -> InterpreterRun:
    """A run of main."""
    module = program(text).inlined
    return Interpreter(module, build(module.functions["main"], module)).run([], inputs, repeats=repeats)


DEEPER = {
    "same argument": "static int f(int n) { return n > 3 ? f(n - 1) + 1 : f(3) + f(2); } int main(void) { return f(9); }",
    "mutual": "static int g(int n); static int f(int n) { return g(n / 2) + 1; } static int g(int n) { return f(n) - f(0); }"
    " int main(void) { return f(1000); }",
    "global": "int s; static int f(void) { s = (s + 1) % 7; return f() + f(); } int main(void) { return f(); }",
    "calls that return": "static int f(int n) { if (n == 0) return 0; return f(n - 1) + (n == 5 ? f(5) : 0); }"
    " int main(void) { return f(5); }",
    "a pointer to the same": "static int f(int *p) { return *p ? f(p) + 1 : f(p) - 1; } int x; int main(void) { return f(&x); }",
}
FLAT = {
    "counted in a global": "int s; static int f(void) { return s++ < 500 ? f() + 1 : 0; } int main(void) { return f() == 500; }",
    "counted behind a pointer": "static int f(int *p) { return (*p)++ < 500 ? f(p) + 1 : 0; }"
    " int main(void) { int x = 0; return f(&x) == 500; }",
    "counted where a global points": "int *q; static int f(void) { return (*q)++ < 500 ? f() + 1 : 0; }"
    " int main(void) { int x[2] = {0}; q = x; return f() == 500; }",
    "by inputs": "static int f(void) { return __VERIFIER_nondet_int() ? f() + 1 : 0; } int main(void) { return f() == 12; }",
    "the same calls one after the other": "int s; static int f(int n) { return n ? f(n - 1) + 1 : 0; }"
    " int main(void) { for (int i = 0; i < 90; i++) s += f(9); return s == 810; }",
}


@pytest.mark.parametrize("name", DEEPER)
def test_a_call_in_the_state_of_one_that_has_not_returned_never_ends(name: str) -> None:
    found = run(DEEPER[name])
    assert (found.status, found.reason) == ("diverges", REPEATED_CALL)


@pytest.mark.parametrize("name", FLAT)
def test_calls_that_differ_in_what_they_reach_return(name: str) -> None:
    found = run(FLAT[name], *[1] * 12, 0)
    assert (found.status, found.outcome.return_value) == ("ok", 1)


def test_objects_that_hold_the_same_are_different_to_pointers() -> None:
    """A state in which a pointer has moved to another object with the same content is another state."""
    text = """
#include <stdlib.h>
int main(void) {
    int *h[2], *x = calloc(1, 4), *y = calloc(1, 4), *z = calloc(1, 4), i = __VERIFIER_nondet_int();
    h[i] = x;
    while (h[i] != z) { if (h[i] == x) h[i] = y; else h[i] = z; }
    return 7;
}"""
    assert run(text, 1).outcome.return_value == 7


def test_the_last_input_again_and_again() -> None:
    text = "int main(void) { int a[4] = {1, 1, 1, 1}, i = 0; while (a[i] > 0) { i = __VERIFIER_nondet_int(); a[i] = a[i] + 0; } return i; }"
    assert run(text, 2).status == "unknown"
    assert run(text, 2, repeats=True).status == "diverges"
    assert run(text, 0, 1, 3, repeats=True).status == "diverges"
    ending = text.replace("a[i] + 0", "0")
    assert run(ending, 0, 1, 3, repeats=True).outcome.return_value == 0
    summed = "int main(void) { int s = 0; while (s < 100) s += __VERIFIER_nondet_int(); return s; }"
    assert run(summed, 5, 0, 7, repeats=True).outcome.return_value == 103
    assert run(summed, 5, 7, 0, repeats=True).status == "diverges"

"""Structures that functions return and take in memory, through the commands.

The callee's variable is the caller's object there, and does not die where the callee returns.
"""

from __future__ import annotations

import json

import pytest

from loopless.check.oracle.native import NativeOracle
from loopless.cli import main

pytestmark = pytest.mark.slow  # run natively

HEAD = """extern void reach_error(void);
extern unsigned __VERIFIER_nondet_uint(void);
struct R { long key; int low, high, twice, thrice; };
static struct R span(int v) { struct R r = {v, v - 1, v + 1, 2 * v, 3 * v}; return r; }
static struct R span_of(int v) { return span(v + 1); }
static int width(struct R r) { return r.high - r.low + r.thrice; }
"""
CONDITIONS = {
    "member": "span(4).high == 5",
    "assigned": "({ struct R t; t = span(4); t.twice; }) == 8",
    "again": "({ struct R t = span(1); t = span(t.high); t = span_of(t.high); t.key; }) == 4",
    "passed": "width(span_of(3)) == 14",
    "elements": "({ struct R t[2]; for (int i = 0; i < 2; i++) t[i] = span_of(i); t[1].low; }) == 1",
    "chosen": "(span(1).low ? span(2) : span(3)).key == 3",
    "literal": "({ struct R *p = &(struct R){7}; *p = span(p->key); p->thrice; }) == 21",
}
"""Each is true, as the native run says."""
PROVED = ("member",)
"""Of these a proof is found; the others copy structures, which proofs do not follow."""
COUNTING = """int counting(int n) { int i, k = 0; struct R t; for (i = 0; i < n; i++) { t = span(i); k += t.high - t.low; } return k; }
int covered(int x) { struct R t; t = span(x); if (t.high > 10) return 1; return 0; }
"""


@pytest.fixture
def asked(capsys, tmp_path):
    """Status and JSON of a command about a program, in this process."""

    def command(name: str, text: str, *words: object) -> tuple[int, dict]:
        file = tmp_path / "a.c"
        file.write_text(HEAD + text, encoding="utf-8")
        status = main([name, str(file), *map(str, words), "--format", "json"])
        return status, json.loads(capsys.readouterr().out)

    return command


def program(condition: str) -> str:
    return f"int main(void) {{\n  if ({condition})\n    reach_error();\n  return 0;\n}}\n"


@pytest.mark.parametrize("name", CONDITIONS)
def test_natively_each_condition_holds(name: str) -> None:
    with NativeOracle(HEAD + f"int f(void) {{ return {CONDITIONS[name]}; }}") as oracle:
        run = oracle.run("f", ())
    assert (run.status, run.return_value) == ("ok", 1)


@pytest.mark.parametrize("name", CONDITIONS)
def test_an_error_behind_a_result_is_reached(name: str, asked) -> None:
    status, found = asked("verify", program(CONDITIONS[name]))
    assert (status, found["verdict"]) == (1, "false(unreach-call)"), found
    assert found["replayed"]
    status, found = asked("reach", program(CONDITIONS[name]), "--call", "reach_error")
    assert (status, found["verdict"]) == (0, "reached"), found


@pytest.mark.parametrize("name", CONDITIONS)
def test_what_holds_of_a_result_is_proved(name: str, asked) -> None:
    _, found = asked("verify", program(f"!({CONDITIONS[name]})"))
    assert found["verdict"] in (("true",) if name in PROVED else ("true", "unknown")), found
    _, found = asked("reach", program(f"!({CONDITIONS[name]})"), "--call", "reach_error")
    assert found["verdict"] == "unreachable", found


def test_an_error_behind_a_hash_and_a_result_is_reached(asked) -> None:
    """Only one input comes there: random runs do not."""
    text = program("__VERIFIER_nondet_uint() * 2654435761u == 77u && span(4).high == 5")
    status, found = asked("verify", text)
    assert (status, found["verdict"]) == (1, "false(unreach-call)"), found
    assert found["inputs"][0] * 2654435761 % 2**32 == 77


def test_a_loop_that_a_result_keeps_going_does_not_end(asked) -> None:
    endless = "int main(void) { while (span(4).high == 5) { } return 0; }"
    status, found = asked("verify", endless, "--property", "termination")
    assert (status, found["verdict"]) == (1, "false(termination)"), found
    ends = "int main(void) { int i = 0; while (span(i).high < 5) i++; return 0; }"
    status, found = asked("verify", ends, "--property", "termination")
    assert (status, found["verdict"]) == (0, "true"), found


def test_iterations_with_a_result_are_counted(asked) -> None:
    status, found = asked("bound", COUNTING, "--at", "n=10")
    (loop,) = found["loops"]
    assert (status, loop["exact"], loop["value"]) == (0, True, 10), loop


@pytest.mark.parametrize(("call", "expected"), [("counting 10", 20), ("covered 20", 1), ("covered 9", 0)])
def test_calls_with_a_result_are_evaluated(call: str, expected: int, asked) -> None:
    function, argument = call.split()
    status, found = asked("eval", COUNTING, function, argument)
    assert (status, found["status"], found["return"]) == (0, "ok", expected), found

"""Control that the edges of a flowgraph do not tell: computed jumps, second returns, calls that do not come back."""

from __future__ import annotations

import pytest

from asking import summary_of
from loopless.errors import UsageError
from loopless.queries import program as session
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.functions import summarize_whole
from loopless.queries.selection import check_variables
from loopless.queries.settings import Settings
from loopless.refusals import Reason, Refused
from loopless.terms import evaluate, holds

PROGRAM = """#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>
extern int chance(void) __attribute__((returns_twice));
_Noreturn void leave(int);
static jmp_buf place;

/* The inner loop is entered with x = 6, 7, ..., n - 1, and its number of iterations differs. */
int computed(int n) {
    void *t[] = {&&a, &&b};
    int i = 6, c = 0;
a:  {
        int x = i;
        c = 0;
        while (x > 1 && c < 9) { x = x % 2 ? 3 * x + 1 : x / 2; c++; }
    }
    i++;
    goto *t[i >= n];
b:  return c;
}
int only_computed(int n) {
    void *t[] = {&&again, &&done};
    int i = 0;
again:
    i++;
    goto *t[i >= n];
done:
    return i;
}
int two_entries(int n) {
    void *t[] = {&&a, &&b};
    int i = 0;
    goto *t[n & 1];
a:  while (i < n) i++;
    return i;
b:  while (i < 2 * n) i++;
    return i;
}
int by_assembly(int n) {
    int i = 0;
a:  i++;
    for (int j = 0; j < 3; j++) i++;
    __asm__ goto("cmp %0, %1; jl %l2" : : "r"(n), "r"(i) : : a);
    return i;
}
int forwards(int n) {
    void *t[] = {&&a, &&b};
    goto *t[n & 1];
a:  return 1;
b:  return 2;
}

/* longjmp comes back to the call of setjmp, so the loop runs 3 times more for every three that k lacks of n. */
int second_returns(int n) {
    volatile int k = 0;
    setjmp(place);
    for (int i = 0; i < 3; i++) k++;
    if (k < n) longjmp(place, 1);
    return k;
}
int round_by_longjmp(int n) {
    int v = setjmp(place);
    if (v < n) longjmp(place, v + 1);
    return v;
}
int forks(int n) { int k = 0; if (vfork() == 0) k = 1; while (k < n) k++; return k; }
int said_so(int n) { int k = 0; chance(); while (k < n) k++; return k; }

int throws(int n) { int i = 0; while (i < n) { if (i == 7) leave(i); i++; } return i; }
int jumps_away(int n) { while (n > 0) { if (n == 7) longjmp(place, 1); n--; } return n; }
int ends(int n) { int i = 0; while (i < n) { if (i == 7) exit(3); i++; } return i; }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    file = tmp_path_factory.mktemp("control") / "program.c"
    file.write_text(PROGRAM, encoding="utf-8")
    return session.load(file)


def lines_of(text: str) -> list[int]:
    return [number for number, line in enumerate(PROGRAM.splitlines(), start=1) if text in line]


@pytest.mark.parametrize(
    ("function", "reason", "loops"),
    [
        ("computed", Reason.UNSUPPORTED_INSTRUCTION, 2),
        ("only_computed", Reason.UNSUPPORTED_INSTRUCTION, 1),
        ("two_entries", Reason.UNSUPPORTED_INSTRUCTION, 2),
        ("by_assembly", Reason.UNSUPPORTED_INSTRUCTION, 2),
        ("second_returns", Reason.UNKNOWN_CALL, 1),
        ("round_by_longjmp", Reason.UNKNOWN_CALL, 1),
        ("forks", Reason.UNKNOWN_CALL, 1),
        ("said_so", Reason.UNKNOWN_CALL, 1),
    ],
)
def test_every_loop_and_the_whole_are_refused(program, function, reason, loops):
    found = program[function].loops
    assert len(found) == loops
    for outcome in (*(summary_of(loop) for loop in found), summarize_whole(program[function])):
        assert isinstance(outcome, Refused)
        assert outcome.reason is reason


def test_the_refusal_names_the_jump(program):
    (loop,) = program["only_computed"].loops
    refused = summary_of(loop)
    _, where = lines_of("goto *t[i >= n];")
    assert refused.where.split(":")[-2] == str(where)
    assert "indirectbr" in refused.detail


def test_a_computed_goto_forwards_makes_no_loop(program):
    assert program["forwards"].loops == ()
    assert isinstance(summarize_whole(program["forwards"]), Refused)


@pytest.mark.parametrize(("function", "known"), [("throws", (0, 5, 7)), ("jumps_away", (-3, 0, 6))])
def test_where_a_call_leaves_for_an_unknown_place_nothing_is_said(program, function, known):
    whole = summarize_whole(program[function])
    n = program[function].graph().parameters[0].var
    assert {end.kind for end in whole.cases} == {"return"}
    for value in known:
        (case,) = [case for case in whole.cases if holds(case.when, {n: value})]
        assert evaluate(case.result, {n: value}) == (max(value, 0) if function == "throws" else min(value, 0))
    (rest,) = whole.residual
    assert rest.why.reason is Reason.UNKNOWN_CALL
    assert [holds(rest.when, {n: value}) for value in (6, 8, 20)] == [False, True, True]


def test_a_loop_does_not_take_for_granted_that_such_a_call_returns(program):
    (loop,) = program["throws"].loops
    summary = summary_of(loop)
    assert not any("return" in assumption for assumption in summary.assumptions)
    assert not any(path.exit.kind in ("abort", "exit") for path in summary.paths.exits)


def test_a_call_that_is_known_to_end_the_program_is_answered(program):
    whole = summarize_whole(program["ends"])
    assert whole.complete
    assert {case.kind for case in whole.cases} == {"return", "exit"}


THROWS = """extern int other(int);
/* Entered again while c < n: 3 iterations for every three that n has, so for n = 10 there are 12. */
int thrown(int n) {
    int c = 0;
again:
    for (int j = 0; j < 3; j++) c++;
    try { if (c < n) throw 1; } catch (int e) { goto again; }
    return c;
}
int called(int n) {
    int c = 0;
again:
    for (int j = 0; j < 3; j++) c++;
    try { if (c < n) other(c); } catch (int e) { goto again; }
    return c;
}
"""


@pytest.mark.parametrize("function", ["thrown", "called"])
def test_a_loop_is_entered_again_from_where_an_exception_is_caught(tmp_path, function):
    file = tmp_path / "program.cpp"
    file.write_text(THROWS, encoding="utf-8")
    program = session.load(file)
    outer, inner = program[function].loops
    assert inner.id.parent == outer.name
    refused = summary_of(outer)
    assert isinstance(refused, Refused)
    assert refused.reason is Reason.EXCEPTION
    summary = summary_of(inner)
    assert summary.complete
    assert "c" not in {var.name for var in summary.entered.variables}
    (bounds,) = answer_bounds([program[function]], "all", Settings(sandboxed=False))
    upper = {bound.answer.loop.name: bound.call.upper for bound in bounds.counts}
    assert upper == {outer.name: None, inner.name: None}


def test_names_of_a_function_that_is_not_read_are_not_wrong(program):
    loops = program["computed"].loops
    check_variables(loops, ["c"])
    with pytest.raises(UsageError):
        check_variables(program["throws"].loops, ["c"])


EARLY = """define i32 @f(i32 %n) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %back ]
  %early = add nsw i32 %i, 2147483600
  %next = add i32 %i, 1
  %use = icmp slt i32 %i, 10
  %kept = select i1 %use, i32 %early, i32 0
  %more = icmp slt i32 %next, %n
  br i1 %more, label %back, label %done
back:
  br label %head
done:
  ret i32 %kept
}
"""


def test_a_value_that_is_computed_early_and_not_used_does_not_end_a_loop(tmp_path):
    """From i = 48 on %early is poison, and is not used: the loop goes on until i = n - 1."""
    file = tmp_path / "early.ll"
    file.write_text(EARLY, encoding="utf-8")
    (loop,) = session.load(file)["f"].loops
    summary = summary_of(loop)
    (n,) = (var for var in summary.paths.invariants if var.name == "n")
    (i,) = (var for var in {*summary.paths.state, *summary.paths.shown} if "i" in var.name)
    for value in (20, 48):
        (case,) = [case for case in summary.cases if holds(case.when, {i: 0, n: value})]
        assert evaluate(case.iterations, {i: 0, n: value}) == value - 1
    (rest,) = summary.residual
    assert rest.why.reason is Reason.UNDEF_VALUE
    assert holds(rest.when, {i: 0, n: 1000})
    assert not any(holds(case.when, {i: 0, n: 1000}) for case in summary.cases)


def test_no_bound_holds_where_a_promise_may_be_broken(tmp_path):
    """For n = 1000 the loop takes 999 iterations, past the moment at which %early is poison."""
    file = tmp_path / "early.ll"
    file.write_text(EARLY, encoding="utf-8")
    program = session.load(file)
    (found,) = answer_bounds([program["f"]], "all", program.settings)
    for claim in (found.call, found.counts[0].call):
        if claim.upper is not None:
            values = dict.fromkeys(claim.upper.variables | claim.when.variables, 1000)
            assert not holds(claim.when, values) or evaluate(claim.upper, values) >= 999
    assert found.over_inputs is None

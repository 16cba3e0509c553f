"""Counters of rounds in the module's text: where they begin anew, and where they call the target."""

from __future__ import annotations

from loopless.check.oracle.native import NativeOracle, NativeRun
from loopless.check.oracle.signature import CType, Signature
from loopless.source.rounds import CountedLoop, counted

PHIS = """
define i32 @f(i32 %n) {
  %zero = icmp eq i32 %n, 0
  br i1 %zero, label %out, label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, %n
  br i1 %again, label %loop, label %out
out:
  %r = phi i32 [ 0, %0 ], [ %next, %loop ]
  ret i32 %r
}
"""
"""The loop goes back n - 1 times."""

NEST = """
define i32 @f(i32 %n) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i1, %next ]
  switch i32 %n, label %inner [
    i32 77, label %out
    i32 78, label %inner
  ]
inner:
  %j = phi i32 [ 0, %outer ], [ 0, %outer ], [ %j1, %inner ]
  %j1 = add i32 %j, 1
  %c = icmp ult i32 %j1, 5
  br i1 %c, label %inner, label %next
next:
  %i1 = add i32 %i, 1
  %d = icmp ult i32 %i1, %n
  br i1 %d, label %outer, label %out
out:
  ret i32 0
}
"""
"""The inner loop goes back 4 times each time that it is entered, the outer one n - 1 times."""


INT = CType("int", 32, signed=True)


def ends(text: str, rounds: int, n: int) -> tuple[str, tuple[int, ...]]:
    """How a native run of f(n) ends, and the loops that it tells of."""
    marked, loops = counted(text, rounds, tell=True)
    oracle = NativeOracle(marked, ir=True)
    oracle.sides = len(loops)
    try:
        (outcome,) = oracle.run_many("f", [NativeRun(args=[n])], signature=Signature((INT,), INT))
    finally:
        oracle.close()
    return outcome.status, tuple(outcome.covered)


def test_rounds_of_a_header_with_phis_are_back_edges() -> None:
    assert [ends(PHIS, rounds, 5) for rounds in (3, 4)] == [("error-reached", (0,)), ("ok", ())]
    assert ends(PHIS, 0, 1) == ("ok", ())
    assert ends(PHIS, 0, 0) == ("ok", ())


def test_counters_begin_anew_where_the_loop_is_entered_again() -> None:
    assert ends(NEST, 3, 2) == ("error-reached", (1,))
    assert ends(NEST, 4, 5) == ("ok", ())
    assert ends(NEST, 4, 6) == ("error-reached", (0,))
    assert ends(NEST, 0, 77) == ("ok", ())


def test_a_module_without_loops_stays_as_it_is() -> None:
    text = "define i32 @f(i32 %n) {\n  ret i32 %n\n}\n"
    assert counted(text, 3) == (text, [])


def test_loops_are_told_with_their_functions() -> None:
    assert counted(NEST, 3)[1] == [CountedLoop("f", 0), CountedLoop("f", 0)]

"""Nothing that a loop changes is passed over in silence."""

from __future__ import annotations

import loopless

MEAN = "double mean(const double *x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s / n; }\n"
BY_THREE = """define i32 @f(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %j = add i32 %i, 3
  %c = icmp slt i32 %j, %n
  br i1 %c, label %loop, label %out
out:
  ret i32 %j
}
"""


def test_a_double_that_is_returned_is_named(tmp_path):
    (tmp_path / "a.c").write_text(MEAN, encoding="utf-8")
    program = loopless.load(tmp_path / "a.c")
    shown = str(program["mean"].loops[0].summarize())
    assert "not told" in shown
    assert " s" in shown.split("not told", 1)[1].splitlines()[0]
    assert program["mean"].evaluate([1.5, 2.5], 2).status == "unknown"


def test_values_without_debug_records_are_told(tmp_path):
    """From 0 in steps of 3 up to the first value that is 10 or more: 3, 6, 9, 12, and so 3 ways back."""
    (tmp_path / "a.ll").write_text(BY_THREE, encoding="utf-8")
    function = loopless.load(tmp_path / "a.ll")["f"]
    shown = str(function.loops[0].summarize())
    assert "%j' = " in shown
    assert "changes nothing" not in shown
    assert function.bound().at(n=10) == 3
    call = function.evaluate(10)
    assert (call.value, list(call.iterations.values())) == (12, [3])


def test_a_bound_comes_to_a_number_where_it_is_said_what_memory_holds(tmp_path):
    (tmp_path / "a.c").write_text(
        "int f(const int *a, int n) { int k = 0; for (int i = 0; i < n; i++) for (int j = 0; j < a[i]; j++) k++; return k; }\n",
        encoding="utf-8",
    )
    bound = loopless.load(tmp_path / "a.c")["f"].bound()
    assert bound.at(n=3, a=[4, -1, 2]) == 3 + 4 + 2
    assert bound.at(n=3, a=[4, -1]) is None

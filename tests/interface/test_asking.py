"""How things are named and asked, and what is said of what is not there."""

from __future__ import annotations

import pytest

import loopless
from asked_both_ways import loaded


def test_a_summary_can_be_called():
    (loop,) = loaded("examples/looperman/fig1.c").loops
    summary = loop.summarize()
    assert set(summary.variables) == {"x", "i"}
    for x, i in [(9, 0), (10, 0), (3, 7), (2_000_000_000, -2_000_000_000)]:
        rounds = max(0, -(-(x - i) // 2))
        assert summary(x=x, i=i) == {"x": x, "i": i + 2 * rounds}
        assert summary.iterations(x=x, i=i) == rounds
    with pytest.raises(ValueError, match=r"undefined behaviour \(signed-overflow\) in line 12"):
        summary(x=2**31 - 1, i=0)
    with pytest.raises(ValueError, match=r"undefined behaviour"):
        summary.iterations(x=2**31 - 1, i=0)


def test_a_summary_of_a_function_can_be_called(program):
    summary = program["f"].summarize()
    assert summary(n=3, m=4)["return"] == 24
    assert summary(n=-3, m=4)["return"] == 0
    with pytest.raises(loopless.UsageError, match="no k in the summary of f; it speaks of n, m"):
        summary(k=1)
    with pytest.raises(loopless.UsageError, match="give a value to m too"):
        summary(n=5)


def test_variables_have_the_names_that_are_shown(tmp_path):
    """Inside, the second i is i#2; where it is the only one that the answer speaks of it is shown as i."""
    file = tmp_path / "names.c"
    file.write_text(
        "int f(int n) { for (int i = 0; i < 2; i++) n++; int c = 0; for (int i = 5; i < n; i++) c++; return c; }\n",
        encoding="utf-8",
    )
    summary = loopless.load(file, sandboxed=False)["f"].loops[1].summarize()
    assert set(summary.variables) == {"i", "n", "c"}
    assert summary(i=5, n=9, c=1)["c"] == 5


def test_variables_are_those_of_the_program(tmp_path):
    """What an iteration hands to the next one in an element is no value that users give."""
    file = tmp_path / "sums.c"
    file.write_text("void f(unsigned *a, int n) { for (int i = 1; i < n; i++) a[i] += a[i - 1]; }\n", encoding="utf-8")
    summary = loopless.load(file, sandboxed=False)["f"].loops[0].summarize()
    assert set(summary.variables) == {"i", "n"}
    assert summary(i=1, n=4, a=[5, 2, 6, 7])["a"] == [5, 7, 13, 20]


def test_a_variable_may_have_any_name(tmp_path):
    file = tmp_path / "names.c"
    text = "int f(int self, int *p) { while (*p < self) *p += 2; return self; }\n"
    file.write_text(text, encoding="utf-8")
    function = loopless.load(file, sandboxed=False)["f"]
    summary = function.loops[0].summarize()
    assert summary(**{"self": 9, "*p": 4})["*p"] == 10
    assert summary.iterations(**{"self": 9, "*p": 4}) == 3
    assert function.summarize()(**{"self": 9, "*p": 4}) == {"*p": 10, "return": 9}
    assert function.bound().at(**{"self": 9, "*p": 4}) == 3
    assert function.evaluate(self=9, p=[4]).outputs == ((10,),)


def test_arguments_go_by_place_and_by_name(program):
    total = program["sum"]
    assert total.evaluate([4, 5], n=2) is total.evaluate(a=[4, 5], n=2) is total.evaluate([4, 5], 2)
    assert total.evaluate((4, 5), 2).value == 9
    assert total.evaluate(b"\x04\0\0\0\x05\0\0\0", 2).value == 9
    assert program["ask"].evaluate(3, nondet=[1, 1, 7]).value == 1  # 3 > 1, 2 > 1, 1 <= 7


class Whole:
    """An integer of another library."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class Array(list):
    """An array of another library, which has the method of an integer, for those with one element."""

    def __index__(self) -> int:
        raise TypeError("only integer scalar arrays can be converted to a scalar index")


def test_numbers_and_arrays_of_other_libraries_will_do(program):
    assert program["sum"].evaluate(Array([Whole(4), Whole(5)]), Whole(2)).value == 9
    assert program["f"].bound().at(n=Whole(2), m=3) == 2 + 6


def test_lines_and_names_lead_to_functions_and_loops(program):
    f = program["f"]
    outer, inner = f.loops
    assert program[4] is f[4] is outer is program.loop(f"{program.files[0]}:4") is f[outer.name]
    assert f[5] is inner
    assert inner.parent is outer
    assert outer.inner == (inner,)
    assert (outer.depth, inner.depth) == (1, 2)
    assert list(f) == [outer, inner]
    assert list(program) == list(program.functions)
    assert [function.name for function in program] == ["f", "sum", "length", "count", "plain", "twice", "ask", "drop"]
    assert "f" in program
    assert "g" not in program
    assert 5 in f
    assert 6 not in f
    assert (len(program), len(f), len(program["plain"])) == (8, 2, 0)
    assert program["plain"]
    assert program._ipython_key_completions_()[:2] == ["f", "sum"]


@pytest.mark.parametrize(
    ("ask", "kind", "words"),
    [
        (lambda p: p["g"], "UsageError", r"no function g in .*; it has f, sum, length, count, plain, twice, ask, drop"),
        (lambda p: p[3], "UsageError", r"no loop at 3; there are loops at .*nest\.c:4, .*nest\.c:5"),
        (lambda p: p[13], "UsageError", r"several loops at 13: .*13:\d+, .*13:\d+"),
        (lambda p: p["twice"][13], "UsageError", r"several loops of twice start in line 13; name one of .*, "),
        (lambda p: p["f"][6], "UsageError", r"no loop 6 in f; its loops are .*:4:5, .*:5:9"),
        (lambda p: p["plain"][6], "UsageError", r"no loop 6 in plain; its loops are nothing"),
        (lambda p: p[4].summarize(vars="k"), "UsageError", r"no variable k in f; known ones: .*n.*m"),
        (lambda p: p[4].summarize(vars=[]), "UsageError", "vars names no variable"),
        (lambda p: p[4].summarize(assume="k > 1"), "UsageError", r"no variable k in f; known ones"),
        (lambda p: p[4].summarize(assume="i < i"), "UsageError", "no entry state"),
        (lambda p: p[4].automaton(vars="k"), "UsageError", "no variable k in f"),
        (lambda p: p[4].summarize()(k=1), "UsageError", r"there is no k in the summary of .*; it speaks of "),
        (lambda p: p[4].summarize()(i=2**40), "UsageError", "1099511627776 is not in the range of int32_t i"),
        (lambda p: p[4].summarize()(i=1.5), "UsageError", "i must be an integer, not 1.5"),
        (lambda p: p["f"].bound().at(k=1), "UsageError", r"no input k in f; inputs are n, m"),
        (lambda p: p["f"].bound().at(n=2**40), "UsageError", "not in the range of int32_t n"),
        (lambda p: p["f"].bound("magic"), "UsageError", "no method 'magic'; there are all, looperman"),
        (lambda p: p["f"].evaluate(1), "UsageError", r"no value for m: f takes 2 arguments \(int32_t n, int32_t m\)"),
        (lambda p: p["f"].evaluate(1, 2, 3), "UsageError", r"takes 2 arguments \(.*\), not 3"),
        (lambda p: p["f"].evaluate(1, n=2, m=3), "UsageError", "n is given twice: f takes"),
        (lambda p: p["f"].evaluate(1, k=3), "UsageError", "f has no parameter k: f takes"),
        (lambda p: p["f"].evaluate(1, 2.5), "UsageError", r"m is no pointer: give one integer, not 2\.5"),
        (lambda p: p["f"].evaluate(1, [2]), "UsageError", "m is no pointer"),
        (lambda p: p["sum"].evaluate(7, 1), "UsageError", "a is a pointer"),
        (lambda p: p["sum"].evaluate([1, "x"], 1), "UsageError", "what a points to must be an integer, not 'x'"),
        (lambda p: p["sum"].evaluate({1: 2}, 1), "UsageError", r"is no integer for a\[0\]"),
        (lambda p: p["f"].evaluate(1, 2**40), "UsageError", "not in the range of int32_t m"),
        (lambda p: p.with_settings(speed=3), "UsageError", "no setting speed; there are mathematical, wrapv"),
        (lambda p: p.with_settings(clang="clang"), "UsageError", "clang is for the compiler.* load the files again"),
        (lambda p: p.with_settings(loop_timeout_s=0), "UsageError", "loop_timeout_s is 0: give seconds"),
        (lambda p: p.with_settings(loop_memory_mb=1), "UsageError", "loop_memory_mb is 1: give at least 16"),
        (lambda p: p.with_settings(wrapv=True, mathematical=True), "UsageError", "leave out wrapv"),
        (lambda p: loopless.load(p.files, speed=3), "UsageError", "no setting speed; there are .*flags"),
        (lambda p: loopless.load(p.files, flags="-DN=1"), "UsageError", r"flags are a list, as \['-DN=1'\]"),
        (lambda p: loopless.load("nosuch.c"), "SourceError", "no file nosuch.c"),
    ],
)
def test_what_is_wrong_is_said_with_what_there_is(program, ask, kind, words):
    with pytest.raises(loopless.LooplessError, match=words) as caught:
        ask(program)
    assert type(caught.value) is getattr(loopless, kind)
    assert "\n" not in str(caught.value)

"""Answers called with arrays give them as they are behind the loop; the judge is the loop, written in Python."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import loopless
from contents_by_hand import INT, J, answer, row
from loopless import terms as t
from loopless.summary import CallSummary, FunctionCase

SOURCE = """struct line { int length; char text[8]; };
void twice(int *a, const int *b, int n) { for (int i = 0; i < n; i++) a[i] = 2*b[i]; }
void prefix(int *a, const unsigned *b, int n) { int s = 0; for (int i = 0; i < n; i++) { s += b[i] & 255; a[i] = s; } }
void fill(unsigned char *to, int from, int n) { for (int i = from; i < n; i++) to[i] = 200 + i; }
void copy(char *to, const char *from) { while ((*to++ = *from++)); }
void append(struct line *p, char c, int n) { int m = p->length; for (int i = 0; i < n && m < 8; i++) p->text[m++] = c; }
int table[3][4];
void column(int n, int x) { for (int i = 0; i < n; i++) table[1][i] = x; }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> loopless.Program:
    file = tmp_path_factory.mktemp("arrays") / "a.c"
    file.write_text(SOURCE, encoding="utf-8")
    return loopless.load(file)


def told(program: loopless.Program, function: str) -> loopless.LoopAnswer:
    found = program[function].loops[0].summarize()
    assert isinstance(found, loopless.LoopAnswer)
    return found


def test_lists_come_back_as_lists(program):
    twice, chance = told(program, "twice"), random.Random(1)
    for _ in range(20):
        size = chance.randint(1, 8)
        a, b = ([chance.randint(-99, 99) for _ in range(size)] for _ in range(2))
        i, n = chance.randint(0, 3), chance.randint(-1, size)
        found = twice(i=i, n=n, a=a, b=b)
        assert found["a"] == [2 * b[at] if i <= at < n else a[at] for at in range(size)]
        assert "b" not in found  # it is as it was
        assert isinstance(twice(i=i, n=n, a=tuple(a), b=b)["a"], tuple)


def test_prefix_sums_are_those_of_a_run(program):
    found = told(program, "prefix")(i=0, n=4, s=0, a=[9] * 6, b=[1, 2, 259, 4])
    assert found["a"] == [1, 3, 6, 10, 9, 9]
    assert "s" not in found  # the answer does not tell it


def test_bytes_come_back_as_bytes(program):
    fill = told(program, "fill")
    assert fill(i=1, n=3, to=b"abcd")["to"] == b"a\xc9\xcad"
    assert fill(i=1, n=3, to=bytearray(b"abcd"))["to"] == bytearray(b"a\xc9\xcad")
    assert fill(i=54, n=58, to=[0] * 60)["to"][54:58] == [254, 255, 0, 1]  # modulo 2^8


def test_strings_come_back_as_strings(program):
    copy = told(program, "copy")
    found = copy(to="......", **{"from": "abc"})
    assert found["to"] == "abc"  # behind it stands the terminator
    assert copy(to=b"......", **{"from": "abc"})["to"] == b"abc\0.."


def test_arrays_of_numpy_come_back_as_such(program):
    twice = told(program, "twice")
    a, b = np.full(5, 7, dtype=np.int32), np.arange(5, dtype=np.int64)
    after = twice(i=1, n=4, a=a, b=b)["a"]
    assert isinstance(after, np.ndarray)
    assert after.dtype == a.dtype
    assert after.tolist() == [7, 2, 4, 6, 7]
    assert a.tolist() == [7] * 5  # what is given stays as it is
    small = twice(i=0, n=2, a=np.zeros(2, dtype=np.int8), b=[100, 3])["a"]
    assert small.tolist() == [200, 6]  # which the type does not have
    with pytest.raises(loopless.UsageError, match="must be integers"):
        twice(i=0, n=2, a=np.zeros(2), b=[1, 2])


def test_arrays_of_several_dimensions_keep_their_shape(program):
    column = told(program, "column")
    after = column(i=0, n=3, x=5, table=np.zeros((3, 4), dtype=np.int32))["table"]
    assert after.tolist() == [[0, 0, 0, 0], [5, 5, 5, 0], [0, 0, 0, 0]]


def test_members_are_given_and_told_by_their_names(program):
    found = told(program, "append")(i=0, m=2, c=ord("x"), n=3, **{"p->text": b"abcdefgh"})
    assert found["p->text"] == b"abxxxfgh"
    assert (found["i"], found["m"]) == (3, 5)


def test_one_element_is_told_without_being_given():
    source = "void f(int *a, const int *b, int n) { for (int i = 0; i < n; i++) a[i] = b[i]; }\n"
    found = answer(source, lambda v: {"a": (row(v["n"] + 1, J.eq(2)),)})
    assert found(i=0, n=4, b=[0] * 4) == {"i": 4, "n": 4, "a[2]": 5}
    assert found(i=0, n=4, b=[0] * 4, a=[7] * 4) == {"i": 4, "n": 4, "a": [7, 7, 5, 7]}
    assert found(i=0, n=4, b=[0] * 4, **{"a[1]": 3}) == {"i": 4, "n": 4, "a[1]": 3}


def test_arrays_of_which_not_all_is_told_are_left_out():
    source = "void f(int *a, const int *b, int n) { for (int i = 0; i < n; i++) a[i] = b[i]; }\n"
    found = answer(source, lambda v: {"a": (row(None, J.ge(4) & J.lt(v["n"])),)})
    assert found(i=0, n=4, b=[0] * 4, a=[7] * 6)["a"] == [7] * 6
    assert "a" not in found(i=0, n=5, b=[0] * 5, a=[7] * 6)
    assert found(i=0, n=5, b=[0] * 5, a=[7] * 4)["a"] == [7] * 4


def test_functions_are_called_with_arrays_too(program):
    prefix = program["prefix"].summarize()
    assert prefix(n=4, a=np.zeros(5, dtype=np.int32), b=[1, 2, 259, 4])["a"].tolist() == [1, 3, 6, 10, 0]
    assert program["copy"].summarize()(to=b"......", **{"from": "abc"})["to"] == b"abc\0.."
    assert program["column"].summarize()(n=2, x=5, table=[0] * 12)["table"] == [0, 0, 0, 0, 5, 5, 0, 0, 0, 0, 0, 0]


def test_summaries_say_what_memory_holds(program):
    summary = told(program, "twice").summary
    assert summary is not None

    def before(array: str, offset: int, type: t.IntType) -> int:
        return {"a": 1, "b": 5}[array] * (offset // 4)

    after = summary.memory(before, i=1, n=3)
    assert [after("a", 4 * at, INT) for at in range(5)] == [0, 10, 20, 3, 4]
    assert after("b", 8, INT) == 10


def test_summaries_of_functions_say_what_memory_holds():
    var, told_of = t.Var("n", INT), {"a": (row(J + 1, J.ge(0) & J.lt(t.Var("n", INT))),)}
    case = FunctionCase(t.TRUE, "return", 3, None, "", {}, {}, (), (), (), contents=told_of)
    summary = CallSummary("f", "a.c:1:1", (), (), (case,), (), (), (), (), {})
    summary = replace(summary, inputs=(loopless.summary.SummaryInput(var, "global"),))
    after = summary.memory(lambda *_: 7, n=2)
    assert [after("a", 4 * at, INT) for at in range(-1, 4)] == [7, 1, 2, 7, 7]
    assert not summary.reads_streams
    from_inputs = {"a": (row(t.read(f"input{t.STREAM}", J, INT), J.eq(0)),)}
    assert replace(summary, cases=(replace(case, contents=from_inputs),)).reads_streams
    silent = replace(summary, cases=(replace(case, contents=None),))
    with pytest.raises(ValueError, match="nothing is told"):
        silent.memory(lambda *_: 7, n=2)


def test_numpy_is_imported_by_those_only_who_give_its_arrays(tmp_path):
    (tmp_path / "a.c").write_text(SOURCE, encoding="utf-8")
    code = (
        "import loopless, sys\n"
        f"found = loopless.load({str(tmp_path / 'a.c')!r})['twice'].loops[0].summarize()\n"
        "assert found(i=0, n=2, a=[0, 0], b=[1, 2])['a'] == [2, 4]\n"
        "assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)

"""Arguments of ``loopless eval``: what words mean for parameters of each type, and what comes of calls with them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from loopless.cli.arguments import arguments_of_words, parse, parse_line
from loopless.errors import UsageError
from loopless.queries.evaluation import calls as calls_module
from loopless.queries.evaluation.calls import Calls
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.report.evaluation import evaluation_json, evaluation_text

PROGRAM = """#include <stddef.h>
struct point { int x, y; };
struct node { short key; unsigned char flag : 3; unsigned char rest : 5; struct point at; double w; void *next; char s[4]; };
struct three { long a, b, c; }; struct list { int v; struct list *next; };
int find(const char *s, char c)
{
    int i = 0;
    while (s[i] != '\\0') {
        if (s[i] == c)
            return i;
        i++;
    }
    return -1;
}
int trace(int m[3][4]) { int t = 0; for (int i = 0; i < 3; i++) { t += m[i][i]; m[i][0] = 7; } return t; }
int area(struct point *p, int n) { int t = 0; for (int i = 0; i < n; i++) { t += p[i].x * p[i].y; p[i].y = -1; } return t; }
int inside(struct node *p) { p->at.x = 3; p->flag = 2; return p->key + p->rest + p->at.y + p->s[1]; }
int by_value(struct point p, int n) { int k = 0; while (p.x < n) { p.x += p.y; k++; } return k; }
long by_copy(int n, struct three t) { for (int i = 0; i < n; i++) t.a += t.b * t.c; return t.a; }
void upper(char *s) { for (; *s; s++) if (*s >= 'a' && *s <= 'z') *s -= 32; }
int count(const double *x, int n) { int k = 0; for (int i = 0; i < n; i++) k += 2; return k; }
_Bool flip(_Bool b, unsigned char u) { while (u > 3) { u /= 2; b = !b; } return b; }
int between(const int *b, const int *e) { int k = 0; while (b != e) { k += *b; b++; } return k; }
int table[5];
int look(int n)
{
    int s = 0;
    for (int i = 0; i <= n; i++)
        s += table[i];
    return s;
}
void stop(int n)
{
    static const int fixed = 5;
    if (n > 3)
        *(int *)&fixed = n;
}
int twice(int n) { int k = 0; for (int i = 0; i < n; i++) k++;
    for (int i = 0; i < n; i += 2) k++; return k; }
double mean(const double *x, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += x[i];
    return s / n;
}
int __VERIFIER_nondet_int(void);
int bump(struct list *p) { int s = 0; for (; p; p = p->next) s += p->v++; return s; }
int letters(const char **a, int n) { int k = 0; for (int i = 0; i < n; i++) for (int j = 0; a[i][j]; j++) k++; return k; }
struct list *turned(struct list *p) { struct list *q = p->next; q->next = p; p->next = 0; return q; }
struct list *ring(struct list *p) { p->next = p; return p; }
int main(int argc, char **argv) { int k = 0; for (int i = 0; i < argc; i++) k++; return k; }
static int inner(int n) { int s = 0; for (int i = 0; i < n; i++) s += 2; return s; }
void ones(void *p, int n) { char *c = p; for (int i = 0; i < n; i++) c[i] = 1; }
int outer(int n) { return inner(n) + inner(2 * n); }
static int one_of(int n) { if (n > 2) return 2 * n; return 7; }
int calling(int n) { return one_of(n); }
int take(int n) { int s = 0; for (int i = 0; i < n; i++) s += __VERIFIER_nondet_int(); return s; }
struct led { char *p; int a, b; };
long apart(struct led x) { return 10L * x.a + x.b; }
int large(float *x, int n) { return n; }
int among(struct list *b, struct list *e) { int s = 0; for (; b != e; b++) s += b->v; return s; }
"""


@pytest.fixture(scope="module")
def called(tmp_path_factory):
    """Calls of a function with words as on the command line."""
    file = tmp_path_factory.mktemp("eval") / "a.c"
    file.write_text(PROGRAM, encoding="utf-8")
    program = load([file], Settings())
    found = {}

    def call(name: str, *words: str, nondet: tuple[int, ...] = ()):
        if name not in found:
            found[name] = Calls(program[name], replace(Settings(), sandboxed=False))
        arguments = arguments_of_words(words, found[name], name) if words or name != "main" else []
        return found[name].run(arguments, nondet)

    call.loops = lambda name: program[name].loops
    call.calls = lambda name: Calls(program[name], replace(Settings(), sandboxed=False))
    return call


@pytest.mark.parametrize(
    ("words", "value", "pointers"),
    [
        pytest.param(["find", "hello", "l"], 2, {"s": [104, 101, 108, 108, 111, 0]}, id="text without quotes"),
        pytest.param(["find", '"123"', "'3'"], 2, {"s": [49, 50, 51, 0]}, id="quotes for what is a number otherwise"),
        pytest.param(["find", "c=108", "s=hello"], 2, {"s": [104, 101, 108, 108, 111, 0]}, id="by names"),
        pytest.param(["find", "c=o", "hello"], 4, {"s": [104, 101, 108, 108, 111, 0]}, id="the others in their order"),
        pytest.param(["trace", "[[1, 2, 3, 4], [5, 6], [9, 10, 0x0B, 12]]"], 18,
                     {"m": [[7, 2, 3, 4], [7, 6, 0, 0], [7, 10, 11, 12]]}, id="an array of two dimensions"),
        pytest.param(["area", '[{x: 2, y: 3}, {"x": 4, ".y": 5}]', "2"], 26,
                     {"p": [{"x": 2, "y": -1}, {"x": 4, "y": -1}]}, id="structures"),
        pytest.param(["area", "{y: 3}", "1"], 0, {"p": {"x": 0, "y": -1}}, id="one of them, with a member left out"),
        pytest.param(["inside", '{key: 5, rest: 31, at: [1, 2], w: 1.5, s: "ab"}'], 5 + 31 + 2 + 98,
                     {"p": {"key": 5, "flag": 2, "rest": 31, "at": {"x": 3, "y": 2}, "w": 1.5, "next": None,
                            "s": [97, 98, 0, 0]}}, id="bit-fields, structures inside, and characters"),
        pytest.param(["by_value", "{x: 1, y: 2}", "9"], 4, {}, id="a structure in a register"),
        pytest.param(["by_copy", "3", "[1, 2, 3]"], 19, {}, id="a structure in memory"),
        pytest.param(["apart", "[1]", str(4 + (5 << 32))], 45, {"x.coerce0": [1]}, id="a structure with a pointer in it"),
        pytest.param(["count", "[1.5, 2]", "2"], 4, {"x": [1.5, 2.0]}, id="floating-point numbers"),
        pytest.param(["flip", "true", "200"], 1, {}, id="truth values"),  # 200, 100, 50, 25, 12, 6, 3: six times
        pytest.param(["bump", "{v: 1, next: {v: 2, next: {v: 3, next: null}}}"], 6,
                     {"p": {"v": 2, "next": {"v": 3, "next": {"v": 4, "next": None}}}}, id="a list"),
        pytest.param(["letters", '["ab", c]', "2"], 3, {"a": [[97, 98, 0], [99, 0]]}, id="an array of strings"),
        pytest.param(["turned", "{v: 1, next: {v: 2}}"], None, {"p": {"v": 1, "next": None}}, id="what is led to no more"),
        pytest.param(["ring", "{v: 1}"], None, {"p": {"v": 1, "next": "pointer"}}, id="a pointer to where it lies"),
        pytest.param(["ones", "[0, 7, 255]", "2"], None, {"p": [1, 1, 255]}, id="bytes of what has no type"),
        pytest.param(["main"], 1, {}, id="a program that is called without arguments"),
        pytest.param(["main", "2", "[a, b]"], 2, {"argv": [[97, 0], [98, 0]]}, id="a program with arguments"),
        pytest.param(["between", "[1, 2, 3]", "2"], 3, {"b": [1, 2, 3]}, id="an index into what another points to"),
        pytest.param(["among", "[{v: 1}, {v: 2}, {v: 4}]", "2"], 3,
                     {"b": [{"v": 1, "next": None}, {"v": 2, "next": None}, {"v": 4, "next": None}]},
                     id="an index that counts structures"),
    ],
)  # fmt: skip
def test_what_words_mean(called, words, value, pointers):
    found = called(*words)
    assert (found.status, found.return_value, dict(found.pointers)) == ("ok", value, pointers)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["look"], "there is no value for n: look takes 1 argument (int32_t n), not 0"),
        (["look", "1", "2"], "look takes 1 argument (int32_t n), not 2"),
        (["look", "n=1", "n=2"], "n is given twice"),
        (["look", "m=1"], "look has no parameter m"),
        (["look", "x"], "n is no pointer: give one integer, not 'x'"),
        (["apart", "[1]", "{a: 4, b: 5}"], "x.coerce1 is no pointer: give one integer"),
        (["among", "[{v: 1}, {v: 2}]", "3"], "e is an index into what b points to: from 0 to 2, not 3"),
        (["large", "[1e40]", "1"], "1e+40 is not in the range of float x[0]"),
        (["look", "1.5"], "give one integer, not 1.5"),
        (["look", "2^31"], "2147483648 is not in the range of int32_t n"),
        (["look", "--nondett"], "there is no option --nondett"),
        (["find", "hello", "lo"], "c is no pointer: give one integer or a character, not 'lo'"),
        (["find", "12", "l"], "s is a pointer"),
        (["trace", "[1, 2]"], "m[0] is an array, int[4]"),
        (["trace", "[[1, 2, 3, 4, 5]]"], "m[0] has 4 elements, not 5"),
        (["area", "{x: 2, z: 3}", "1"], "p[0] has no member z: struct point has x, y"),
        (["area", "hello", "1"], 'give {"x": 0, "y": 0}'),
        (["inside", "{flag: 8}"], "8 is not in the range of unsigned char p.flag: 0 to 7"),
        (["inside", "{next: 5}"], "p.next is a pointer, void *: give null, not 5"),
        (["by_value", "1", "2"], 'p is struct point: give {"x": …, "y": …}, not 1'),
        (["by_value"], "by_value takes 2 arguments (struct point p, int32_t n)"),
        (["between", "[1]", "2"], "from 0 to 1, not 2"),
        (["ones", "[256]", "1"], "what p points to has no type: give its bytes"),
        (["bump", "{next: 3}"], "p.next is a pointer, struct list *: give what it points to, or null, not 3"),
        (["bump", "{next: {w: 3}}"], "p.next[0] has no member w"),
        (["area", "[{x: 1]", "1"], "cannot read [{x: 1]"),
    ],
)
def test_what_is_no_argument_is_said_before_any_work(called, monkeypatch, words, said):
    monkeypatch.setattr(calls_module, "answer_all", None)
    with pytest.raises(UsageError) as raised:
        called(*words)
    assert said in str(raised.value)


@pytest.mark.parametrize("word", ["[1,", "[1 2]", "{x 1}", "{x: 1, x: 2}", "'ab'", "'\\q'", '"a', "[1]]", "{:}"])
def test_what_cannot_be_read(word):
    with pytest.raises(UsageError, match="cannot read"):
        parse(word)


def test_characters_are_those_of_c():
    assert [parse(word) for word in ("'a'", "'\\n'", "'\\0'", "'\\x41'", "'\\''", "'\\xff'")] == [97, 10, 0, 65, 39, -1]
    assert parse("INT_MAX") == 2**31 - 1
    assert parse("[[-1], 'a', \"b]\", null]") == [[-1], 97, "b]", "null"]


def first_line(found) -> str:
    return evaluation_text(found).splitlines()[0]


def test_the_line_of_the_end_is_told(called):
    """``return i`` stands in line 10, ``return -1`` in 13; a function with one return needs no line."""
    assert first_line(called("find", "hello", "l")) == "returns 2 in line 10"
    assert first_line(called("find", "hello", "z")) == "returns -1 in line 13"
    assert first_line(called("look", "2")) == "returns 0"
    assert first_line(called("calling", "3")) == "returns 6"  # of whose callee it is another one
    wrong = called("look", "7")
    assert first_line(wrong).startswith("undefined behaviour: an access outside of its object at ")
    assert wrong.place.endswith("a.c:29")
    assert called("stop", "4").place.endswith("a.c:36")
    assert first_line(called("mean", "[1.5]", "1")).startswith("unknown: floating-point values are not followed (at ")


def test_text_is_shown_as_text_where_it_changed(called):
    assert '  s = "HI YOU"' in evaluation_text(called("upper", "Hi you")).splitlines()
    assert "hello" not in evaluation_text(called("find", "hello", "l"))


def test_loops_are_told_in_the_order_of_their_lines(called):
    text = evaluation_text(called("twice", "1"))
    first, second = (line for line in text.splitlines() if "iteration" in line)
    assert first.startswith("  1 iteration of ")
    assert (":38:" in first, ":39:" in second) == (True, True)
    found = replace(called("twice", "1"), iterations={f"a.c:f:{line}:1": 2 for line in (100, 20, 3)})
    assert [int(name.split(":")[2]) for name in evaluation_json(found)["iterations"]] == [3, 20, 100]


def test_a_loop_has_the_name_of_the_function_in_which_it_stands(called):
    """5 iterations by the first call of ``inner``, 10 by the second: 15 of the loop that has that name in all commands."""
    (name,) = (loop.name for loop in called.loops("inner"))
    assert f"  15 iterations of {name}" in evaluation_text(called("outer", "5")).splitlines()


def test_inputs_that_were_not_read_are_told(called):
    found = called("take", "2", nondet=(5, 6, 7, 8))
    assert (found.return_value, found.nondet_used, found.nondet_given) == (11, 2, 4)
    assert evaluation_text(found).splitlines()[-1] == "  4 inputs given, 2 read"
    assert "given" not in evaluation_text(called("take", "2", nondet=(5, 6)))


def test_short_calls_are_interpreted_and_long_ones_summarized_once(called, monkeypatch):
    asked = []
    answer_all = calls_module.answer_all
    monkeypatch.setattr(calls_module, "answer_all", lambda *how: asked.append(1) or answer_all(*how))
    calls = called.calls("twice")
    runs = [calls.run([n]) for n in (10, 2_000_000, 10, 2**30)]
    assert [run.by for run in runs] == ["interpretation", "summary", "summary", "summary"]
    assert [run.return_value for run in runs] == [15, 3_000_000, 15, 3 * 2**29]
    assert len(asked) == 1


def test_lines_of_a_stream_take_the_same_values(called):
    calls = called.calls("area")
    arguments, inputs = parse_line(json.dumps({"args": [[{"x": 2, "y": 3}], 1], "nondet": [4]}), calls)
    assert (calls.run(arguments, inputs).return_value, inputs) == (6, [4])
    for args in ([True, 1], [[{"x": True}], 1], [[{"x": "a"}], 1], [1], [[], 1, 2]):
        with pytest.raises(UsageError):
            calls.run(*parse_line(json.dumps({"args": args}), calls))

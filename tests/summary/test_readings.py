"""Elements that are read with another sign or width than declared: each answer comes to what native runs say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import loopless
from loopless.check.oracle.native import NativeOracle
from loopless.errors import UsageError
from loopless.queries.call_values.arguments import characters, unquoted
from loopless.queries.evaluation.calls import evaluate
from loopless_fuzz.judging.printed import Array, evaluate_text

SIGNS = """
int both(const char *s, int n) {
    int c = 0;
    for (int i = 0; i < n; i++) { if ((unsigned char)s[i] >= 128) c++; if (s[i] > 5) c++; }
    return c;
}
unsigned hash(const char *s) {
    unsigned h = 5381;
    while (*s) h = h * 33 + (unsigned char)*s++;
    return h;
}
int hi(const char *s) { int i = 0; while ((unsigned char)s[i] >= 128) i++; return i; }
int fnd(const int *s, unsigned n) { unsigned i = 0; while (i < n && (unsigned)s[i] < 100u) i++; return i; }
long long su(const int *s, int n) { long long c = 0; for (int i = 0; i < n; i++) c += (unsigned)s[i]; return c; }
"""
WIDTHS = """
typedef unsigned short wide __attribute__((may_alias));
int w1(const unsigned char *b, int n) { int i = 0; while (i < n && ((const wide *)b)[i] != 3) i++; return i; }
int w2(const short *a, int n) { int i = 0; while (i < n && ((const unsigned char *)a)[2 * i] != 3) i++; return i; }
int w3(const int *a, int n) {
    int c = 0;
    const unsigned char *p = (const unsigned char *)a;
    for (int i = 0; i < n; i++) c += p[i] == 1;
    return c;
}
"""
TEXTS = """
#include <string.h>
int u2(const char *a, const char *b) { return strcmp(a, b) < 0 ? (int)strlen(a) : (int)strlen(b); }
"""
CALLS = (
    (SIGNS, "both", {"s": [-1, 3], "n": 2}, 1),
    (SIGNS, "hash", {"s": [-1, 3, 0]}, 5868327),
    (SIGNS, "hi", {"s": [-56, -1, 3]}, 2),
    (SIGNS, "fnd", {"s": [5, -5, 3], "n": 3}, 1),
    (SIGNS, "su", {"s": [-1], "n": 1}, 4294967295),
    (WIDTHS, "w1", {"b": [3, 1, 3, 0, 0, 0], "n": 3}, 1),
    (WIDTHS, "w2", {"a": [5, 1, 3, 3], "n": 3}, 2),
    (WIDTHS, "w3", {"a": [257, 1], "n": 2}, 2),
    (TEXTS, "u2", {"a": [-1, -1, 0], "b": [97, 0]}, 1),
)
DECLARED = {
    "s": {"fnd": (32, True), "su": (32, True)},
    "b": {"w1": (8, False)},
    "a": {"w2": (16, True), "w3": (32, True)},
}


def program_of(text: str, folder: Path) -> loopless.Program:
    file = folder / "a.c"
    file.write_text(text, encoding="utf-8")
    return loopless.load(file)


@pytest.mark.parametrize(("text", "name", "given", "truth"), CALLS, ids=[name for _, name, *_ in CALLS])
@pytest.mark.slow
def test_every_answer_is_that_of_the_run(text: str, name: str, given: dict, truth: int, tmp_path: Path) -> None:
    with NativeOracle(text) as native:
        assert native.run(name, list(given.values())).return_value == truth
    program = program_of(text, tmp_path)
    assert evaluate(program[name], list(given.values())).return_value == truth
    summary = program[name].summarize()
    assert summary(**given)["return"] == truth
    arrays = {
        array: Array(*DECLARED.get(array, {}).get(name, (8, True)), values)
        for array, values in given.items()
        if isinstance(values, list)
    }
    numbers = dict.fromkeys(arrays, 0) | {"n": given.get("n", 0)}
    cases = summary.to_dict()["cases"]
    held = [case for case in cases if read_text(case["when"], numbers, arrays)]
    assert [read_text(case["then"]["return"], numbers, arrays) for case in held] == [truth]
    if name in ("hi", "fnd", "w1", "w2"):
        assert program[name].bound().at(**given) == truth


def read_text(expression: dict, numbers: dict[str, int], arrays: dict[str, Array]) -> int:
    definitions = [(part["name"], part["is"]) for part in expression.get("definitions", ())]
    return evaluate_text(expression["text"], numbers, arrays, definitions)


def test_both_readings_of_an_element_are_of_one_element(tmp_path: Path) -> None:
    text = SIGNS + (
        "int never(const signed char *s, int n) {\n"
        "    int c = 0;\n"
        "    for (int i = 0; i < n; i++) { if ((unsigned char)s[i] == 255 && s[i] != -1) c += 100; c++; }\n"
        "    return c;\n}\n"
    )
    program = program_of(text, tmp_path)
    assert "c' = n" in str(program["never"].loops[0].summarize())
    shown = str(program["both"].loops[0].summarize())
    assert "(uint8_t)s[k]" in shown and "? 2 :" not in shown


STRUCTURES = """
struct item { int qty; unsigned char tag; signed char sign; short low; _Bool on; float w; };
struct out { int a[4]; struct item in[2]; };
int sign(const struct item *v, int n) { int i = 0; while (i < n && (unsigned char)v[i].sign != 200) i++; return i; }
int low(const struct item *v, int n) {
    int i = 0;
    while (i < n && *(const unsigned char *)&v[i].low != 200) i++;
    return i;
}
int inner(const struct out *v, int n) { int i = 0; while (i < n && v[i].in[1].tag != 3) i++; return i; }
int row(const struct out *v, int n) { int i = 0; while (i < n && i < 4 && (unsigned)v->a[i] != 4294967293u) i++; return i; }
int deep[2][3][4];
int cube(int n) { int i = 0; while (i < n && i < 2 && deep[i][1][2] != 3) i++; return i; }
int untyped(const void *b, int n) { int i = 0; const short *p = b; while (i < n && p[i] != 257) i++; return i; }
int floats(const float *b, int n) { int i = 0; const int *p = (const int *)b; while (i < n && p[i] != 257) i++; return i; }
static const signed char table[6] = {1, -1, 5, -56, 7, 0};
int constant(int n) { int i = 0; while (i < n && i < 6 && (unsigned char)table[i] != 200) i++; return i; }
int high(const unsigned char *s) { int i = 0; while ((signed char)s[i] < 0) i++; return i; }
int truth(const _Bool *b, int n) { int i = 0; while (i < n && *((const unsigned char *)b + i) != 1) i++; return i; }
"""


@pytest.mark.slow
def test_members_rows_and_tables(tmp_path: Path) -> None:
    program = program_of(STRUCTURES, tmp_path)

    def told(name: str) -> str:
        return str(program[name].bound())

    def at(name: str, **given) -> int | None:
        return program[name].bound().at(**given)

    assert "v[k].sign == -56" in told("sign")
    assert at("sign", n=3, **{"v[0].sign": 1, "v[1].sign": -56}) == 1
    assert "*(uint8_t *)((char *)v + (16*k + 6)) == 200" in told("low")
    assert at("low", n=3, **{"v[0].low": 1, "v[1].low": 456}) == 1
    assert "v[k].in[1].tag == 3" in told("inner")
    assert at("inner", n=3, **{"v[0].in[1].tag": 4, "v[1].in[1].tag": 3}) == 1
    assert "v->a[k] == -3" in told("row")
    assert at("row", n=3, **{"v->a": [1, 2, -3, 4]}) == 2
    assert "deep[k][1][2] == 3" in told("cube")
    assert at("cube", n=2, deep=[0] * 18 + [3]) == 1
    assert at("cube", n=2, **{"deep[0][1][2]": 5, "deep[1][1][2]": 3}) == 1
    assert "*(int16_t *)((char *)b + 2*k)" in told("untyped")
    assert at("untyped", n=2, b=[1, 0, 1, 1]) == 1
    assert at("constant", n=6) == 3
    assert at("high", s=b"\xff\x80\x01") == at("high", s="\u00e9") == 2
    assert at("truth", n=3, b=[0, 1, 0]) == 1
    for name, given, said in (
        ("untyped", {"n": 2, "b": [1, 0, 1, -1]}, "give their bytes"),
        ("floats", {"n": 2, "b": [1, 0]}, "no integers"),
        ("truth", {"n": 2, "b": [0, 2]}, "_Bool b"),
        ("high", {"s": [-1]}, "-1 is not in the range of uint8_t"),
    ):
        with pytest.raises(UsageError, match=said):
            at(name, **given)


def test_what_is_not_given_is_not_guessed(tmp_path: Path) -> None:
    program = program_of(WIDTHS, tmp_path)
    assert program["w1"].bound().at(b=[5, 1, 3], n=3) is None
    loop = program["w1"].loops[0].summarize()
    assert loop(b=[5, 1, 3, 0], n=2, i=0)["i"] == 1 and loop.iterations(b=[5, 1, 3, 0], n=2, i=0) == 1
    with pytest.raises(ValueError, match="no value for byte 2 of b"):
        loop(b=[5, 1, 3], n=3, i=0)
    with pytest.raises(UsageError, match="no array a"):
        loop(a=[5], n=3, i=0)


def test_a_char_is_as_the_compiler_has_it(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("int f(const char *s) { int i = 0; while (s[i] > 100) i++; return i; }", encoding="utf-8")
    for flag, declared, truth in (("-funsigned-char", "uint8_t", 2), ("-fsigned-char", "int8_t", 0)):
        function = loopless.load(file, flags=[flag])["f"]
        assert function.bound().at(s="\u00e9") == truth
        (read,) = function.bound().to_dict()["upper"]["reads"]
        assert read == {
            "array": "s",
            "element": "s[]",
            "declared": declared,
            "type": declared,
            "width": 8,
            "signed": declared == "int8_t",
        }


def test_json_has_the_type_of_what_is_read(tmp_path: Path) -> None:
    program = program_of(SIGNS + WIDTHS, tmp_path)

    def reads(name: str) -> list[dict]:
        text = json.dumps(program[name].loops[0].summarize().to_dict()["cases"])
        found = [dict(pairs) for pairs in {tuple(read.items()) for read in collected(json.loads(text))}]
        return sorted(found, key=lambda read: read["type"])

    assert [(r["element"], r["declared"], r["type"]) for r in reads("both")] == [
        ("s[]", "int8_t", "int8_t"),
        ("s[]", "int8_t", "uint8_t"),
    ]
    assert [(r["element"], r["declared"], r["type"], r["width"]) for r in reads("w2")] == [(None, None, "uint8_t", 8)]


def collected(found: object) -> list[dict]:
    if isinstance(found, dict):
        return [*found.get("reads", ()), *(read for part in found.values() for read in collected(part))]
    return [read for part in found for read in collected(part)] if isinstance(found, list) else []


def test_strings_of_c() -> None:
    assert list(characters(unquoted(r'"\xff\x41é\101\n\"\\"'))) == [-1, 65, -61, -87, 65, 10, 34, 92, 0]
    assert list(characters(unquoted('"\\u00e9\\ud83d\\ude00"'))) == list(characters("\u00e9\U0001f600"))
    for wrong in ('"', '"a', '"\\"', '"\\q"', '"a"b"', '"\\777"'):
        with pytest.raises(ValueError) as error:  # noqa: PT011  its text is the string, or a part of it
            unquoted(wrong)
        assert str(error.value) in wrong

"""``loopless summarize --whole``: what functions do."""

from __future__ import annotations

import pytest

PROGRAM = """extern int __VERIFIER_nondet_int(void);
int total;
int climb(int x, int n) {
    if (n > 1000) return -1;
    while (x < n) x += 2;
    for (int i = 0; i < x; i++) total++;
    return x;
}
int waits(unsigned char x) {
    while (x >= 10) x += 16;
    return x;
}
int reads(int n) {
    return n > 5 ? __VERIFIER_nondet_int() : 3;
}
int nested(int n) {
    int c = 0;
    if (n < 0) return 4;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) c += c ^ j;
    return c;
}
const int *where(int n) {
    static const int places[4] = {1, 2, 3, 4};
    return n > 0 && n < 4 ? places + n : places;
}
"""


@pytest.fixture
def program(tmp_path):
    file = tmp_path / "program.c"
    file.write_text(PROGRAM, encoding="utf-8")
    return file


def function(document, name):
    return next(found for found in document["functions"] if found["name"] == name)


@pytest.mark.slow
def test_functions_are_answered_beside_their_loops(answer, program):
    status, document = answer("summarize", program, "--whole", "--unknown-ok")
    assert status == 0
    names = ["climb", "waits", "reads", "nested", "where"]
    assert [found["name"] for found in document["functions"]] == names
    assert [loop["line"] for loop in document["loops"]] == [5, 6, 10, 19, 20]


def test_a_case_composes_branches_and_loops(answer, program):
    status, document = answer("summarize", program, "--whole", "--function", "climb")
    assert status == 0
    climb = function(document, "climb")
    assert (climb["status"], climb["complete"], climb["line"]) == ("exact", True, 3)
    assert [(i["name"], i["type"], i["kind"]) for i in climb["inputs"]] == [
        ("x", "int32_t", "parameter"),
        ("n", "int32_t", "parameter"),
        ("total", "int32_t", "global"),
    ]
    early = next(case for case in climb["cases"] if case["then"]["return"]["text"] == "-1")
    assert (early["when"]["text"], early["iterations"], early["passed"]) in (
        ("n > 1000", {}, []),
        ("n >= 1001", {}, []),
    )
    unchanged = next(case for case in climb["cases"] if case["then"]["return"]["text"] == "x")
    assert list(unchanged["iterations"]) == [f"{program}:climb:5:5", f"{program}:climb:6:5"]
    assert {step["loop"] for case in climb["cases"] for step in case["passed"]} == set(unchanged["iterations"])
    assert {u["line"] for u in climb["undefined"]} == {6}
    assert any("total" in case["then"] for case in climb["cases"])


@pytest.mark.slow
def test_regions_name_their_loop_or_their_reason(answer, program):
    _, document = answer("summarize", program, "--whole", "--unknown-ok")
    (region,) = function(document, "waits")["diverges"]
    assert region["loop"] == f"{program}:waits:10:5"
    nested = function(document, "nested")
    assert (nested["status"], nested["complete"]) == ("exact", False)
    (residual,) = nested["residual"]
    assert residual["code"].startswith("L")
    assert residual["when"]["text"] in ("n >= 2", "n > 1")


@pytest.mark.slow
def test_inputs_and_pointers(answer, program):
    _, document = answer("summarize", program, "--whole", "--unknown-ok")
    reads = function(document, "reads")
    assert [(i["kind"], i["number"]) for i in reads["inputs"]] == [("parameter", None), ("nondet", 1)]
    assert sorted(len(case["reads"]) for case in reads["cases"]) == [0, 1]
    where = function(document, "where")
    assert all(case["points_to"] for case in where["cases"])
    assert {case["then"]["return"]["text"] for case in where["cases"]} == {"0", "4*n"}


@pytest.mark.slow
def test_text_says_it_in_words(run, program):
    done = run("summarize", program, "--whole")
    assert done.returncode == 3
    assert f"climb ({program}:3): exact, complete" in done.stdout
    assert "iterations of the loop 5:5" in done.stdout
    assert "(in the loop 10:5)" in done.stdout
    assert "nondet_int()'1: input 1 of the program" in done.stdout
    assert "[L20" in done.stdout


@pytest.mark.parametrize(
    "words",
    [["--vars", "x"], ["--assume", "x > 0"], ["--loop", "5"], ["--format", "dot"], ["--traces"]],
    ids=lambda words: words[0],
)
def test_what_is_about_loops_is_bad_usage(run, program, words):
    done = run("summarize", program, "--whole", *words)
    assert done.returncode == 2
    assert "--whole" in done.stderr


def test_a_function_that_takes_too_long_is_refused_and_the_others_answered(answer, program):
    _, document = answer("summarize", program, "--whole", "--unknown-ok", "--loop-timeout", "0.000001")
    refused = [found for found in document["functions"] if found["status"] == "refused"]
    assert refused  # a function that is done before the next look at the clock is answered
    assert {found["refused"]["code"] for found in refused} == {"L302"}

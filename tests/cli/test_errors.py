"""What users see when something is wrong: one sentence that names the place and the way out, and the exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

GOOD = "int f(int x, int n) {\n    while (x < n) x += 3;\n    return x;\n}\n"
NEWER_IR = """; ModuleID = 'a.c'
target triple = "x86_64-unknown-linux-gnu"

define i32 @f(i32 %x) brandnewattribute {
entry:
  ret i32 %x
}
"""
IRREDUCIBLE = """int f(int x) {
    if (x > 5) goto inside;
top:
    x += 2;
inside:
    x += 3;
    if (x < 100) goto top;
    return x;
}
int g(int x, int n) {
    while (x < n) x += 3;
    return x;
}
"""
FLOAT = """int f(double x) {
    int n = 0;
    while (x > 1.0) { x /= 2; n++; }
    return n;
}
int g(int x, int n) {
    while (x < n) x += 3;
    return x;
}
"""
BETWEEN = "int between(int *p, int *q) { int n = 0; while (p < q) { p++; n++; } return n; }\n"


@pytest.fixture
def good(tmp_path):
    file = tmp_path / "good.c"
    file.write_text(GOOD, encoding="utf-8")
    return file


def one_sentence(done, *parts):
    assert done.stdout == ""
    assert done.stderr.startswith("loopless: ")
    assert done.stderr.count("\n") == 1
    for part in parts:
        assert part in done.stderr


def test_a_missing_file(run, tmp_path):
    done = run("summarize", "nosuch.c", cwd=tmp_path)
    assert done.returncode == 2
    one_sentence(done, "nosuch.c")


def test_a_missing_file_among_others(run, good):
    done = run("classify", good, "nosuch.c", cwd=good.parent)
    assert done.returncode == 2
    one_sentence(done, "nosuch.c")


def test_c_that_does_not_compile_shows_the_compilers_message_with_its_line(run, tmp_path):
    (tmp_path / "bad.c").write_text("int f(int x) {\n    return y + x;\n}\n", encoding="utf-8")
    done = run("summarize", "bad.c", cwd=tmp_path)
    assert done.returncode == 2
    one_sentence(done, "bad.c:2:12", "undeclared identifier 'y'")


def test_no_loop_at_the_line_names_the_loops_there_are(run, good):
    done = run("summarize", good, "--loop", f"{good}:3")
    assert done.returncode == 2
    one_sentence(done, f"{good}:3", f"{good}:2")


def test_an_unknown_function_names_the_functions_there_are(run, good):
    for words in (("summarize", good, "--function", "nosuch"), ("eval", good, "nosuch", "1")):
        done = run(*words)
        assert done.returncode == 2
        one_sentence(done, "nosuch", "it has f")


def test_an_unknown_variable_names_the_variables_there_are(run, good):
    for words in (("--vars", "x,nosuch"), ("--assume", "nosuch < 3")):
        done = run("summarize", good, *words)
        assert done.returncode == 2
        one_sentence(done, "nosuch", "x, n")


def test_ir_of_a_newer_llvm(run, tmp_path):
    (tmp_path / "new.ll").write_text(NEWER_IR, encoding="utf-8")
    done = run("summarize", "new.ll", cwd=tmp_path)
    assert done.returncode == 2
    one_sentence(done, "new.ll:4", "IR up to LLVM")


@pytest.mark.parametrize(
    ("text", "code", "reason", "line"),
    [
        (IRREDUCIBLE, "L101", "irreducible-control-flow", 4),
    ],
)
def test_a_loop_that_cannot_be_answered_leaves_the_others_answered(answer, tmp_path, text, code, reason, line):
    (tmp_path / "some.c").write_text(text, encoding="utf-8")
    status, document = answer("summarize", "some.c", cwd=tmp_path)
    assert status == 3
    refused, answered = document["loops"]
    assert (refused["function"], refused["status"], refused["cases"]) == ("f", "refused", [])
    assert (refused["refused"]["code"], refused["refused"]["reason"]) == (code, reason)
    assert refused["refused"]["where"].startswith("some.c:")
    assert abs(refused["line"] - line) <= 2
    assert (answered["function"], answered["status"], answered["complete"]) == ("g", "exact", True)


def test_what_is_not_followed_is_why_a_summary_is_not_exact(answer, tmp_path):
    (tmp_path / "some.c").write_text(FLOAT, encoding="utf-8")
    status, document = answer("summarize", "some.c", cwd=tmp_path)
    assert status == 3
    approximate, answered = document["loops"]
    assert (approximate["status"], approximate["complete"], approximate["refused"]) == ("over-approximate", False, None)
    (residual,) = approximate["residual"]
    assert (residual["code"], residual["reason"], residual["when"]["text"]) == ("L102", "floating-point", "true")
    assert residual["where"].startswith("some.c:3")
    assert (answered["function"], answered["status"], answered["complete"]) == ("g", "exact", True)


def test_a_refusal_does_not_hide_the_paths(answer, tmp_path):
    text = "int held[8];\nint f(int n) {\n    int i = 0;\n    while (i < n && held[held[i & 7] & 7]) held[held[i++ & 7] & 7]--;\n    return i;\n}\n"
    (tmp_path / "some.c").write_text(text, encoding="utf-8")
    status, document = answer("summarize", "some.c", cwd=tmp_path)
    (loop,) = document["loops"]
    assert (status, loop["status"], loop["complete"], loop["cases"]) == (3, "over-approximate", False, [])
    assert [path["id"] for path in loop["paths"] if path["exits"] is None] == ["1"]


@pytest.mark.parametrize(
    "words", [["--no-such-option"], ["--loop-timeout", "never"], ["--loop-timeout", "-1"], ["-j", "0"]]
)
def test_bad_options(run, good, words):
    done = run("summarize", good, *words)
    assert done.returncode == 2
    one_sentence(done, words[0], "--help")


def test_no_command_shows_the_help(run):
    done = run()
    assert "summarize" in done.stdout + done.stderr
    assert run("nosuch").returncode == 2


@pytest.mark.parametrize(
    "condition", ["x <", "x < 3)", "x <<< 3", "0 < x < n", "x % 0 == 1", "f(x) < 3", "x < 3 y", "", "1.5 < x"]
)
def test_a_condition_that_is_none(run, good, condition):
    done = run("summarize", good, "--assume", condition)
    assert done.returncode == 2
    one_sentence(done, repr(condition))


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["1"], "takes 2 arguments (int32_t x, int32_t n), not 1"),
        (["1", "2", "3"], "not 3"),
        (["1", "[2]"], "n is no pointer"),
        (["1", "2147483648"], "-2147483648 to 2147483647"),
        (["1", "two"], "give one integer, not 'two'"),
        (["1", "--nosuch"], "there is no option --nosuch"),
        (["1", "2", "--nondet", "x"], "'x' is no integer"),
    ],
)
def test_bad_arguments_of_a_call(run, good, words, part):
    done = run("eval", good, "f", *words)
    assert done.returncode == 2
    one_sentence(done, part)


@pytest.mark.parametrize(
    "condition", ["x < 0 && x > 5", "0", "n > 99999999999", "x < n && n < 0 && x > 5", "n * n < 0"]
)
def test_an_assumption_that_nothing_satisfies(run, good, condition):
    done = run("summarize", good, "--assume", condition)
    one_sentence(done, f"no entry state of the loop {good}:2:5 satisfies the assumption", condition)
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("[1,2,3]", 4), "from 0 to 3, not 4"),
        (("[1,2,3]", -1), "from 0 to 3, not -1"),
        (("[]", 1), "from 0 to 0, not 1"),
        ((1, "[1,2,3]"), "p is a pointer"),
        (("null", 0), "q is a pointer"),
    ],
)
def test_an_index_outside_of_what_the_first_pointer_points_to(run, tmp_path, words, part):
    file = tmp_path / "between.c"
    file.write_text(BETWEEN, encoding="utf-8")
    done = run("eval", file, "between", *words)
    one_sentence(done, part)
    assert done.returncode == 2


def test_an_index_just_behind_what_the_first_pointer_points_to(run, tmp_path):
    file = tmp_path / "between.c"
    file.write_text(BETWEEN, encoding="utf-8")
    assert run("eval", file, "between", "[1,2,3]", 3).stdout.startswith("returns 3\n")


@pytest.mark.parametrize(
    ("words", "kind", "status"),
    [
        (["summarize", "nosuch.c"], "source", 2),
        (["loops", "bad.c"], "source", 2),
        (["classify", "bad.c"], "source", 2),
        (["classify", "empty"], "usage", 2),
        (["summarize", "good.c", "--function", "nosuch"], "usage", 2),
        (["summarize", "good.c", "--loop", "good.c:99"], "usage", 2),
        (["summarize", "good.c", "--nosuch"], "usage", 2),
        (["summarize"], "usage", 2),
        (["eval", "good.c", "f", "1"], "usage", 2),
        (["explain", "L999"], "usage", 2),
        (["summarize", "good.c", "--timeout", "0.001"], "limit", 3),
    ],
)
def test_errors_are_json_where_json_is_asked_for(answer, good, words, kind, status):
    (good.parent / "bad.c").write_text("int f(void) { return nosuch; }\n", encoding="utf-8")
    (good.parent / "empty").mkdir()
    found, document = answer(*words, cwd=good.parent)
    assert found == status
    assert [error["kind"] for error in document["errors"]] == [kind]
    if words[0] in ("loops", "summarize", "classify"):
        assert document["loops"] == []


def test_a_file_that_does_not_compile_does_not_stop_the_census(answer, good):
    bad = good.parent / "bad.c"
    bad.write_text("int f(void) { return nosuch; }\n", encoding="utf-8")
    status, document = answer("classify", good.parent)
    assert status == 0
    assert [(error["kind"], Path(error["file"]).name) for error in document["errors"]] == [("source", "bad.c")]
    assert "nosuch" in document["errors"][0]["message"]
    assert [loop["type"] for loop in document["loops"]] == [1]


def test_an_error_inside_is_one_sentence_and_has_its_own_status(run, good, tmp_path):
    broken = tmp_path / "site"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        "import loopless.report.explanations as page\ndef broken(code): raise RuntimeError('made to fail')\n"
        "page.explain = broken\n",
        encoding="utf-8",
    )
    path = f"{broken}:{Path(__file__).resolve().parents[2] / 'src'}"
    done = run("explain", "L101", env={"PYTHONPATH": path})
    assert done.returncode == 101
    one_sentence(done, "made to fail", "LOOPLESS_DEBUG=1")
    loud = run("explain", "L101", env={"PYTHONPATH": path, "LOOPLESS_DEBUG": "1"})
    assert loud.returncode == 101
    assert "Traceback" in loud.stderr

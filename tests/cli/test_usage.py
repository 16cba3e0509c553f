"""What is asked for wrongly, or cannot be printed: one sentence, and status 2; nothing is ignored in silence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"
PROGRAM = """int f(int x, int n) {
    while (x < n) x += 3;
    return x;
}
int g(void) {
    return 7;
}
int k(signed char n) {
    int i = 0;
    while (i < n) i++;
    return i;
}
"""


@pytest.fixture
def program(tmp_path):
    file = tmp_path / "program.c"
    file.write_text(PROGRAM, encoding="utf-8")
    return file


@pytest.fixture
def no_loop(tmp_path):
    file = tmp_path / "plain.c"
    file.write_text("int f(int n) { return n + 1; }\n", encoding="utf-8")
    return file


def refused(done, *parts):
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("loopless: ")
    assert done.stderr.count("\n") == 1
    for part in parts:
        assert part in done.stderr


def shell(text, *words):
    """Run ``loopless WORDS`` with what ``text`` does to its streams."""
    return subprocess.run(
        ["sh", "-c", f'"$0" -m loopless "$@" {text}', sys.executable, *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(SRC)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("words", [[], ["--"]])
def test_no_command_at_all_shows_the_help(run, words):
    done = run(*words)
    assert done.returncode == 2
    assert done.stderr.startswith("Usage: loopless ")
    assert "summarize" in done.stderr


def test_a_full_disk_is_one_sentence(program):
    for words in (["loops", program], ["loops", program, "--format", "json"], ["--help"]):
        refused(shell("> /dev/full", *words), "cannot write the output: No space left on device")
    refused(shell("> /dev/full", "loops", "nosuch.c", "--format", "json"), "no file nosuch.c")


def test_a_closed_output_is_one_sentence(program):
    refused(shell(">&-", "loops", program), "cannot write the output: standard output is closed")


def test_a_closed_pipe_is_silent(program):
    done = shell("| true", "summarize", program)
    assert done.stderr == ""


@pytest.mark.parametrize("option", ["--timeout", "--loop-timeout"])
@pytest.mark.parametrize("time", ["inf", "nan", "1e300", "0"])
def test_times_have_an_end(run, program, option, time):
    refused(run("loops", program, option, time), option, repr(time))


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--at", "q=1"], ["no input q in f; inputs are x, n"]),
        (["--at", "i=1"], ["no input i in f"]),
        (["--at", ""], ["--at", "n=10,m=3"]),
        (["--at", "n=1,n=2"], ["--at", "n more than one value"]),
        (["--at", "n=99999999999999"], ["int32_t n of f: -2147483648 to 2147483647"]),
        (["--at", "n=-2147483649"], ["int32_t n of f: -2147483648 to 2147483647"]),
        (["--entry", "f"], ["--entry", "--function"]),
        (["--unwindset", "--flow-facts", "ffx"], ["--unwindset", "--flow-facts"]),
        (["--flow-facts", "ffx", "--cost", "x"], ["--flow-facts", "--cost"]),
        (["--integers", "mathematical", "--wrapv"], ["--integers", "--wrapv"]),
    ],
)
def test_bounds_ignore_nothing(run, program, words, parts):
    refused(run("bound", program, "--function", "f", *words), *parts)


def test_values_are_for_inputs_of_any_function_that_is_asked_about(run, program):
    assert run("bound", program, "--at", "x=5,n=9").returncode == 0
    refused(run("bound", program, "--at", "n=300"), "int8_t n of k: -128 to 127")
    wide = run("bound", program, "--function", "f", "--at", "x=0,n=99999999999999", "--integers", "mathematical")
    assert wide.returncode == 0
    assert "at x=0, n=99999999999999: 33333333333333" in wide.stdout


def test_globals_and_what_pointers_point_to_have_values(answer, tmp_path):
    file = tmp_path / "memory.c"
    file.write_text("int G; int f(const int *p) { int c = 0; for (int i = *p; i < G; i++) c++; return c; }\n")
    status, document = answer("bound", file, "--at", "*p=3,G=10")
    assert (status, document["loops"][0]["value"]) == (0, 7)


def test_a_cost_in_a_run_is_shown(run, tmp_path):
    file = tmp_path / "cost.c"
    file.write_text("int main(void) { int t = 0; for (int i = 0; i < 5; i++) t += 2; return t; }\n")
    done = run("bound", file, "--entry", "main", "--cost", "t")
    assert done.returncode == 0
    assert "t grows in a call of main by" in done.stdout
    assert "in a run from main" in done.stdout
    refused(run("bound", file, "--entry", "main", "--at", "n=3"), "no input n in main; it has none")


OURS = {"command": "bound", "loops": [], "functions": [], "errors": []}


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[1]", "other.json was not written by loopless bound --format json"),
        ("no JSON", "other.json was not written by loopless bound --format json"),
        (json.dumps({**OURS, "loops": [{"name": 3}]}), "other.json was not written by"),
        (json.dumps({**OURS, "run": {"entry": "f", "loops": [{"name": "x"}]}}), "other.json was not written by"),
        (json.dumps({**OURS, "run": {"entry": "f", "loops": 3}}), "other.json was not written by"),
        (json.dumps({**OURS, "errors": [{"kind": "source", "message": "no file x"}]}), "an error: no file x"),
    ],
)
def test_only_answers_are_compared(run, tmp_path, text, part):
    (tmp_path / "ours.json").write_text(json.dumps(OURS))
    (tmp_path / "other.json").write_text(text)
    refused(run("bound", "--compare", "ours.json", "other.json", cwd=tmp_path), part)


def test_comparing_asks_nothing_new(run, tmp_path):
    (tmp_path / "ours.json").write_text(json.dumps(OURS))
    same = ("bound", "--compare", "ours.json", "ours.json")
    assert run(*same, cwd=tmp_path).stdout == "no changes\n"
    refused(run(*same, "--at", "n=3", cwd=tmp_path), "--compare", "--at")
    refused(run("bound", "--compare", "ours.json", "nosuch.json", cwd=tmp_path), "there is no file nosuch.json")


def test_errors_of_bound_have_empty_lists(answer):
    status, document = answer("bound", "nosuch.c")
    assert status == 2
    assert document["loops"] == document["functions"] == []


@pytest.mark.parametrize(
    "words",
    [
        ["summarize", "--format", "svg"],
        ["summarize", "--format", "dot"],
        ["classify", "--format", "dot"],
        ["bound", "--unwindset"],
        ["bound", "--flow-facts", "pragma"],
    ],
)
def test_where_there_is_no_loop_it_is_said(run, no_loop, words):
    done = run(words[0], no_loop, *words[1:])
    assert done.returncode == 0
    assert done.stderr == f"loopless: no loops in {no_loop}\n"


def test_a_census_is_no_picture(run, program):
    refused(run("classify", program, "--census", "--format", "svg"), "--census")


def test_calls_need_arguments(run, program):
    refused(run("eval", program, "f"), "f takes 2 arguments (int32_t x, int32_t n)", '{"args": [...], "nondet": [...]}')
    refused(run("eval", program, "f", "--nondet", "3", stdin='{"args": [1, 2]}\n'), "f takes 2 arguments")
    refused(run("eval", program, "f", "--stream", "1", "2"), "--stream", "leave out 1")
    refused(run("eval", program, "f", "--stream", "--nondet", "1"), "--stream", "--nondet")
    assert run("eval", program, "f", "--stream").returncode == 0


def test_calls_with_a_number_of_arguments_that_is_not_fixed(run, tmp_path):
    (tmp_path / "va.c").write_text("int f(int n, ...) { int i = 0; while (i < n) i++; return i; }\n")
    refused(run("eval", "va.c", "f", "2", "3", cwd=tmp_path), "1 argument (int32_t n) and then any number of others")
    assert run("eval", "va.c", "f", "2", cwd=tmp_path).stdout.startswith("returns 2\n")


@pytest.mark.parametrize("place", ["foo", "program.c:x"])
def test_what_is_no_place(run, program, place):
    refused(run("summarize", program, "--loop", place), repr(place), "FILE:LINE")


def test_pipes_are_not_read(run, program):
    refused(run("loops", "/dev/stdin", stdin=PROGRAM), "/dev/stdin is a pipe")


@pytest.mark.slow
def test_functions_that_nothing_calls_have_loops_too(answer, run, tmp_path):
    (tmp_path / "used.h").write_text("static inline int h(int n) { while (n > 3) n--; return n; }\n")
    (tmp_path / "unused.c").write_text(
        '#include "used.h"\n'
        "static inline int a(int n) { int i = 0; while (i < n) i++; return h(i); }\n"
        "static int b(n) int n; { while (n > a(n)) n--; return n; }\n"
        "static int declared(int);\n"
    )
    status, document = answer("loops", "unused.c", "--", "-Werror=unused-function", cwd=tmp_path)
    assert status == 0
    found = {(loop["function"], Path(loop["file"]).name, loop["line"]) for loop in document["loops"]}
    assert found == {("a", "unused.c", 2), ("b", "unused.c", 3), ("h", "used.h", 1)}
    _, document = answer("summarize", "unused.c", "--whole", cwd=tmp_path)
    assert {function["name"] for function in document["functions"]} == {"a", "b", "h"}
    assert run("eval", "unused.c", "a", "2", cwd=tmp_path).stdout.startswith("returns 2\n")
    alone = run("loops", "used.h", cwd=tmp_path)
    assert alone.stdout.startswith("used.h:h:1:")


def test_a_function_that_is_not_compiled_is_said_to_be_so(run, tmp_path):
    (tmp_path / "inline.c").write_text(
        "inline int a(int n) { while (n > 3) n--; return n; }\nint b(void) { return 1; }\n"
    )
    refused(
        run("summarize", "inline.c", "--function", "a", cwd=tmp_path), "it has b (only declared, or inline", "a is not"
    )
    assert "only declared" not in run("summarize", "inline.c", "--function", "c", cwd=tmp_path).stderr


@pytest.mark.parametrize("name", ["colon:1.c", "line\nbreak.c", 'quote":.c'])
def test_odd_names_of_files(answer, run, tmp_path, name):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "limit.h").write_text("#define LIMIT 7\n")
    file = tmp_path / "deep" / name
    file.write_text('#include "limit.h"\nint f(int n) { while (n < LIMIT) n++; return n; }\n')
    status, document = answer("loops", file, cwd=tmp_path)
    (loop,) = document["loops"]
    assert (status, loop["file"], loop["line"]) == (0, str(file), 2)
    file.write_text("int f(int n) { return m; }\n")
    assert ":1:23: use of undeclared" in run("loops", file).stderr


def test_a_full_stop_does_not_stand_inside_a_sentence(run):
    refused(run("summarize"), "'FILE...' (see loopless summarize --help)")


def test_flags_for_clang_are_for_what_compiles(run):
    refused(run("explain", "L101", "--", "-DX"), "--")

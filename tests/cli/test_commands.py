"""What the commands answer, by their meaning, and their exit status."""

from __future__ import annotations

import atexit
import gc
import html
import json
import re
import sys

import click
import pytest

from loopless.cli import main
from loopless.cli.app import COMMANDS, _Group, group
from loopless.errors import UsageError

THREE = """int held[8]; int f(int x, int n) {
    while (x < n) x += 3;
    return x;
}
static int helper(int k) {
    int c = 0;
    while (k > 0) { k--; c++; }
    return c;
}
int g(int n) {
    return helper(n) + 1;
}
int h(int n) {
    int c = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; held[held[c & 7] & 7]; j++) { held[held[c & 7] & 7]--; c++; }
    return c;
}
"""


@pytest.fixture
def three(tmp_path):
    file = tmp_path / "three.c"
    file.write_text(THREE, encoding="utf-8")
    return file


def test_a_command_leaves_the_collecting_of_garbage_to_whoever_calls_it(monkeypatch):
    """It collects seldom while it runs, which is nothing that a program that calls ``main`` asked for."""
    before, inside = gc.get_threshold(), []

    def noted(*_, **__):
        inside.append(gc.get_threshold())
        raise UsageError("no more")

    monkeypatch.setattr(group, "main", noted)
    assert main(["loops"]) == 2
    assert inside[0][0] > before[0] and inside[0][1:] == before[1:]
    assert gc.get_threshold() == before and gc.isenabled()


def test_only_a_process_of_its_own_ends_without_looking_for_garbage(monkeypatch, capsys):
    at_end = []
    monkeypatch.setattr(atexit, "register", at_end.append)
    monkeypatch.setattr(sys, "argv", ["loopless", "--version"])
    assert main(["--version"]) == 0
    assert not at_end
    assert main() == 0
    assert at_end == [gc.freeze]
    assert capsys.readouterr().out.count("loopless") == 2


def test_version_is_one_line(run):
    done = run("--version")
    assert done.returncode == 0
    assert re.fullmatch(r"loopless \S+\n", done.stdout)


@pytest.mark.slow
def test_loops_lists_each_loop_of_the_source_once_with_its_nesting(answer, run, three):
    status, document = answer("loops", three)
    assert status == 0
    assert [(loop["function"], loop["line"]) for loop in document["loops"]] == [
        ("f", 2),
        ("helper", 7),
        ("h", 15),
        ("h", 16),
    ]
    names = {loop["line"]: loop["name"] for loop in document["loops"]}
    assert names[2] == f"{three}:f:2:5"
    assert [loop["parent"] for loop in document["loops"]] == [None, None, None, names[15]]
    lines = run("loops", three).stdout.splitlines()
    assert [line.split()[0] for line in lines] == [names[2], names[7], names[15], names[16]]
    assert lines[3].startswith("  ")
    assert {word for line in lines for word in ("exact", "refused") if word in line.split()} <= {"exact", "refused"}


@pytest.mark.parametrize("place", ["{file}:2", "three.c:2", "{file}:f:2:5", "2", "{file}:2:5"])
def test_a_loop_is_selected_by_its_place_or_its_name(answer, three, place):
    status, document = answer("summarize", three, "--loop", place.format(file=three))
    assert status == 0
    assert [loop["line"] for loop in document["loops"]] == [2]


def test_a_function_is_selected_by_its_name(answer, three):
    _, document = answer("summarize", three, "--function", "helper", "--function", "f")
    assert [loop["function"] for loop in document["loops"]] == ["f", "helper"]


def test_summarize_says_what_the_loop_does(answer, three):
    status, document = answer("summarize", three, "--function", "helper")
    (loop,) = document["loops"]
    assert status == 0
    assert (loop["status"], loop["complete"], loop["type"], loop["refused"]) == ("exact", True, 1, None)
    long = next(case for case in loop["cases"] if case["iterations"]["text"] == "k")
    assert long["then"]["k"] == {"text": "0", "smt": "0"}
    assert long["then"]["c"]["text"] in ("c + k", "k + c")
    assert long["exit"] == {"line": 7, "kind": "normal"}
    assert [run["path"] for run in long["trace"]] == ["1", "e1"]
    short = next(case for case in loop["cases"] if case["iterations"]["text"] == "0")
    assert {name: value["text"] for name, value in short["then"].items()} == {"c": "c", "k": "k"}
    assert loop["diverges"] == []
    assert loop["residual"] == []


def test_vars_leave_the_rest_out(answer, three):
    _, document = answer("summarize", three, "--function", "helper", "--vars", "k")
    (loop,) = document["loops"]
    assert {name for case in loop["cases"] for name in case["then"]} == {"k"}
    assert loop["undefined"] == []


def test_assume_narrows_the_entry_values(answer, three):
    _, whole = answer("summarize", three, "--function", "f")
    status, document = answer("summarize", three, "--function", "f", "--assume", "x < n && n <= 1000")
    (loop,) = document["loops"]
    assert status == 0
    assert len(whole["loops"][0]["cases"]) == 2
    assert whole["loops"][0]["undefined"] != []
    assert len(loop["cases"]) == 1
    assert loop["undefined"] == []
    assert document["assumptions"] == ["on entry: x < n && n <= 1000"]
    assert "on entry: x < n && n <= 1000" in loop["assumptions"]


def test_an_assumption_that_iterations_keep_can_leave_one_path(answer):
    file = "examples/proteus/fig1a.c"
    _, document = answer("summarize", file)
    assert [path["id"] for path in document["loops"][0]["paths"] if path["exits"] is None] == ["1", "2"]
    status, document = answer("summarize", file, "--assume", "z > n")
    (loop,) = document["loops"]
    assert status == 0
    assert loop["complete"] is True
    assert [path["id"] for path in loop["paths"] if path["exits"] is None] == ["2"]
    moving = next(case for case in loop["cases"] if case["iterations"]["text"] != "0")
    assert moving["then"]["x"]["text"] == "n"
    assert moving["then"]["z"]["text"] == "z"


@pytest.mark.slow
def test_what_has_no_complete_answer_is_status_3_unless_that_is_fine(run, three):
    assert run("summarize", three, "--function", "h").returncode == 3
    assert run("summarize", three, "--function", "h", "--unknown-ok").returncode == 0
    assert run("loops", three, "--function", "h").returncode == 0


def test_text_has_the_answer_first_then_why_then_what_helps(run, three):
    done = run("summarize", three, "--loop", "15")
    lines = done.stdout.splitlines()
    assert lines[0] == f"{three}:h:15:5: over-approximate, type 2, by path counters"
    assert lines[1] == "  entered only with c == 0 && i == 0"
    assert lines[2] == "  not exact always"
    assert lines[3].startswith("    why: ")
    assert lines[3].endswith("[L205 inner-loop-not-summarized] (loopless explain L205)")
    assert lines[4].startswith("  may leave when ")
    assert "  not told: held[]" in lines
    assert lines[-1].startswith("  try: loopless ")
    assert done.stderr == ""


def test_a_loop_has_a_type_where_one_inside_reads_what_it_writes(answer, tmp_path):
    """A summary of the loop inside speaks of a list that the loop around it chooses: it is passed by what holds all the
    same.
    """
    (tmp_path / "w.c").write_text(
        """struct node { struct node *next; int v; };
int f(struct node *p, int *a, int n) {
    int c = 0;
    for (int i = 0; i < n; i++) {
        struct node *q = p;
        while (q->v != i) q = q->next;
        p = q;
        a[i & 7] = c++;
    }
    return c;
}
""",
        encoding="utf-8",
    )
    status, found = answer("summarize", tmp_path / "w.c", "--loop", "w.c:4")
    (loop,) = found["loops"]
    assert (status, loop["status"], loop["type"]) == (3, "over-approximate", 2)
    assert "walks a list" in loop["residual"][0]["detail"]


def test_flags_for_clang_stand_behind_two_dashes(answer, tmp_path):
    (tmp_path / "d.c").write_text("int f(int x) { while (x < N) x++; return x; }\n", encoding="utf-8")
    status, document = answer("summarize", "d.c", "--", "-DN=77", cwd=tmp_path)
    assert status == 0
    assert any(case["then"]["x"]["text"] == "77" for case in document["loops"][0]["cases"])


def test_negative_numbers_stand_before_two_dashes(run, answer, tmp_path):
    (tmp_path / "d.c").write_text("int f(int x) { while (x < 5) x++; return x; }\n", encoding="utf-8")
    done = run("eval", "d.c", "f", "--", "-20", cwd=tmp_path)
    assert done.returncode == 2
    assert (
        done.stderr
        == "loopless: what stands behind -- is for clang, and -20 is a number: write it before, without --\n"
    )
    assert run("eval", "d.c", "f", "-20", cwd=tmp_path).stdout.startswith("returns 5\n")


def test_a_compile_database_gives_the_flags_and_the_files(answer, tmp_path):
    (tmp_path / "d.c").write_text("int f(int x) { while (x < N) x++; return x; }\n", encoding="utf-8")
    (tmp_path / "not_in_it.c").write_text("#error no\n", encoding="utf-8")
    (tmp_path / "build").mkdir()
    entry = {"directory": str(tmp_path), "file": "d.c", "command": "cc -DN=77 -O2 -c d.c -o d.o"}
    (tmp_path / "build" / "compile_commands.json").write_text(json.dumps([entry]), encoding="utf-8")
    for paths in ((), (tmp_path,)):
        status, document = answer("classify", *paths, "-p", "build", cwd=tmp_path)
        assert status == 0
        assert [(loop["function"], loop["type"]) for loop in document["loops"]] == [("f", 1)]
    status, document = answer("summarize", "d.c", "-p", "build", cwd=tmp_path)
    assert any(case["then"]["x"]["text"] == "77" for case in document["loops"][0]["cases"])


@pytest.mark.slow
def test_readings_of_overflow(answer, tmp_path):
    (tmp_path / "o.c").write_text("int f(int x) { while (x > 0) x++; return x; }\n", encoding="utf-8")

    def regions(*words):
        _, document = answer("summarize", "o.c", *words, cwd=tmp_path)
        (loop,) = document["loops"]
        return bool(loop["undefined"]), bool(loop["diverges"]), len(loop["cases"])

    assert regions() == (True, False, 1)
    assert regions("--wrapv") == (False, False, 2)
    assert regions("--integers", "mathematical") == (False, True, 1)


@pytest.mark.slow
def test_classify_counts_the_types_per_file_and_in_all(answer, run, tmp_path):
    folder = tmp_path / "deep" / "er"
    folder.mkdir(parents=True)
    (folder / "one.c").write_text("int f(int x, int n) { while (x < n) x++; return x; }\n", encoding="utf-8")
    (tmp_path / "two.c").write_text(THREE, encoding="utf-8")
    (tmp_path / "header.h").write_text("#error not a source\n", encoding="utf-8")
    status, document = answer("classify", tmp_path)
    assert status == 0
    assert document["errors"] == []
    census = document["census"]
    assert {name: line["loops"] for name, line in census["files"].items()} == {
        str(tmp_path / "two.c"): 4,
        str(folder / "one.c"): 1,
    }
    assert census["total"]["loops"] == len(document["loops"]) == 5
    typed = sum(census["total"][f"type{k}"] for k in (1, 2, 3, 4))
    assert typed + sum(census["total"]["untyped"].values()) == 5
    text = run("classify", tmp_path, "--census").stdout
    assert "total of 2 files" in text
    assert "three" not in text


@pytest.mark.slow
def test_cases_that_come_to_the_same_are_shown_as_one(answer, run):
    """Proteus, Fig. 1(a): three effects, four traces."""
    file = "examples/proteus/fig1a.c"
    _, document = answer("summarize", file)
    (loop,) = document["loops"]
    assert sorted(k for part in loop["merged"] for k in part["cases"]) == list(range(len(loop["cases"])))
    then = [{name: value["text"] for name, value in part["then"].items()} for part in loop["merged"]]
    assert sorted(then, key=str) == [{"x": "n", "z": "n"}, {"x": "n", "z": "z"}, {"x": "x", "z": "z"}]
    assert sum(len(part["traces"]) for part in loop["merged"]) == 4
    assert run("summarize", file).stdout.count("iteration") == 3
    assert run("summarize", file, "--traces").stdout.count("iteration") == 4
    _, document = answer("classify", file)
    assert document["loops"][0]["merged"] == []


def test_a_summary_as_smtlib_is_nothing_but_smtlib(run, three):
    done = run("summarize", three, "--format", "smtlib")
    assert done.returncode == 3
    assert all(line == "" or line[0] in ";( " for line in done.stdout.splitlines())
    assert "(define-fun f_2 " in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("command", ["summarize", "classify"])
def test_the_automaton_is_a_picture(run, three, command):
    done = run(command, three, "--function", "f", "--format", "svg")
    assert done.returncode == 0
    assert done.stdout.startswith("<?xml")
    assert f"{three}:f:2:5" in html.unescape(done.stdout)
    assert done.stderr == ""


@pytest.mark.slow
def test_the_automaton_is_drawn(run, three):
    for command in ("summarize", "classify"):
        drawn = run(command, three, "--function", "f", "--format", "dot").stdout
        assert drawn.startswith("digraph ")
        assert drawn.count("{") == drawn.count("}")
        assert f"{three}:f:2:5" in drawn


def test_explain_takes_codes_and_names(answer, run):
    _, by_code = answer("explain", "l204")
    _, by_name = answer("explain", "several-interleaving-paths")
    assert (by_code["code"], by_code["meaning"]) == (by_name["code"], by_name["meaning"])
    assert "while" in by_code["example"]
    assert run("explain", "L204").stdout.startswith("L204 several-interleaving-paths: ")


def commands():
    return {name: _Group.get_command(group, click.Context(group), name) for name in COMMANDS}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_examples(name):
    text = commands()[name].help
    examples = re.findall(r"^ *(loopless .*)$", text, re.MULTILINE)
    assert examples
    assert all(example.split()[1] == name for example in examples)


EXAMPLES = [
    example
    for command in commands().values()
    for example in re.findall(r"^ *(loopless .*)$", command.help, re.MULTILINE)
]


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.slow
def test_the_examples_of_the_help_work(run, tmp_path, example):
    import shlex

    words = shlex.split(example)[1:]
    for at, word in enumerate(words):
        if word.endswith(".json"):  # an answer of an earlier day
            words[at] = str(tmp_path / word)
            (tmp_path / word).write_text(run("bound", "examples/looperman/fig1.c", "--format", "json").stdout)
    done = run(*words)
    assert done.returncode in (0, 3), done.stderr
    # What an answer in a format without room for it takes for granted is told beside it.
    told = done.stderr.splitlines()
    assert all(line.startswith("loopless: taken for granted: ") for line in told)
    assert not told or "--unwindset" in words or "--flow-facts" in words
    assert done.stdout
    assert "error inside" not in done.stdout


def test_the_help_names_every_exit_status(run):
    text = run("--help").stdout
    for status in ("0", "1", "2", "3", "101"):
        assert re.search(rf"^ +{status}  ", text, re.MULTILINE)
    assert run("summarize", "--help").stdout.count("--assume") >= 1


@pytest.mark.parametrize("command", ["loops", "summarize", "classify", "eval", "explain"])
def test_examples_in_the_help_stand_on_lines_of_their_own(run, command):
    text = run(command, "--help").stdout
    assert "\\b" not in text
    assert re.search(r"^ +loopless " + command, text, re.MULTILINE)

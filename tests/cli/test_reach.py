"""``loopless reach``: places, verdicts, exit statuses, tests on disk, and what is no place."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from loopless.cli import main
from reach_asked import HASHED, asking

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "src" / "loopless" / "report" / "schema.json").read_text(encoding="utf-8"))

ONES = """int f(const int *a, int n) {
    int ones = 0;
    for (int i = 0; i < n && i < 9; i++)
        if (a[i] == 1)
            ones++;
    if (ones == 7 && n == 8)
        return 1;
    if (ones > 9)
        return 2;
    return 0;
}
"""
READS = """extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int n = 0;
    while (__VERIFIER_nondet_int() > 4)
        n++;
    if (n == 6)
        reach_error();
    return n;
}
"""


@pytest.fixture
def asked(capsys, tmp_path):
    """Status, JSON and what was said beside, of the command in this process, about a program in ``a.c``."""

    return asking(capsys, tmp_path, SCHEMA)


def listed(runs):
    return [run["value"] for run in runs for _ in range(run["count"])]


def test_a_line_is_reached_with_arguments(asked, tmp_path):
    status, found, said = asked(ONES, "--line", 7)
    assert (status, found["verdict"], found["function"], found["reason"], said) == (0, "reached", "f", None, "")
    assert found["target"] == {"file": str(tmp_path / "a.c"), "line": 7, "call": None, "when": None}
    a, n = found["inputs"]["arguments"]
    assert (a["name"], a["type"], a["value"], n["name"], n["type"], n["value"]) == ("a", "int", None, "n", "int", 8)
    assert listed(a["elements"])[:8].count(1) == 7


def test_nothing_reaches_a_line(asked):
    status, found, said = asked(ONES, "--line", "a.c:9", "--write-test", "none")
    assert (status, found["verdict"], found["inputs"]) == (1, "unreachable", None)
    assert found["judged"]["accepted"] is True
    assert said == "loopless: the answer is unreachable: there is no test to write\n"


def test_where_values_wrap_around_native_runs_do_so_too(asked):
    status, found, _ = asked(
        "int f(int x) {\n    if (x + 1 < x)\n        return 1;\n    return 0;\n}\n", "--line", 3, "--wrapv"
    )
    assert (status, found["verdict"], found["inputs"]["arguments"][0]["value"]) == (0, "reached", 2**31 - 1)


@pytest.mark.slow
def test_what_is_not_found_in_time_is_unknown(asked):
    status, found, _ = asked(HASHED, "--line", 5, "--timeout", 1.5)
    assert (status, found["verdict"], found["inputs"]) == (3, "unknown", None)
    assert found["reason"]
    assert asked(HASHED, "--line", 5, "--no-run", "--timeout", 1.5, "--unknown-ok")[0] == 0


def test_a_condition_at_a_line_that_is_a_body_without_braces(asked):
    """Seven elements are needed before the seventh one is counted as it stands there, since i < 9."""
    status, found, _ = asked(ONES, "--line", 5, "--when", "ones == 6 && i == 8")
    assert (status, found["target"]["when"]) == (0, "ones == 6 && i == 8")
    elements = listed(found["inputs"]["arguments"][0]["elements"])
    assert (elements[:8].count(1), elements[8]) == (6, 1)
    assert asked(ONES, "--line", 5, "--when", "ones == 6 && i == 5")[0] == 1


def test_tests_are_written_and_get_there(asked, tmp_path):
    status, found, said = asked(READS, "--call", "reach_error", "--write-test", tmp_path / "new" / "tests")
    assert (status, said) == (0, "")
    values = listed(found["inputs"]["nondet"])
    assert all(value > 4 for value in values[:6])
    folder = tmp_path / "new" / "tests"
    assert sorted(file.name for file in folder.iterdir()) == ["metadata.xml", "test.c", "test.py", "test.xml"]
    assert [int(one.text) for one in ET.parse(folder / "test.xml").getroot()] == values
    if shutil.which("cc") is None:
        (folder / "cc").write_text(f'#!/bin/sh\nexec {sys.executable} -m ziglang cc "$@"\n')
        (folder / "cc").chmod(0o755)
    env = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    for command in ("cc test.c -o test && ./test", f"{sys.executable} test.py"):
        done = subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True, text=True, check=True)
        assert done.stdout == "the error function was called\n"


BRANCHES = """int g(unsigned n) {
    int s = 0;
    for (unsigned i = 0; i < n; i++)
        s ^= 3;
    if (s == 3 && n == 4001)
        return 1;
    switch (s) {
        case 0: return 2;
        case 1: return 3;
        default: return 4;
    }
}
"""
"""Nothing takes the case 1, since s is 0 or 3."""


WORDS = """extern void reach_error(void);
int main(int argc, char **argv) {
    int verbose = 0, n = 0;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1] == 'v' && !argv[i][2]) verbose++;
        else for (const char *p = argv[i]; *p >= '0' && *p <= '9'; p++) n = n * 10 + (*p - '0');
    }
    if (verbose == 2 && n == 47 && argc == 4) reach_error();
    return argv[argc] ? 5 : 0;
}
"""


def test_the_words_of_argv_are_found_and_written(asked, tmp_path):
    status, found, said = asked(WORDS, "--call", "reach_error", "--write-test", tmp_path / "tests")
    assert (status, found["verdict"]) == (0, "reached")
    words = ["".join(map(chr, listed(word))) for word in found["inputs"]["words"]]
    assert len(words) == 4
    flags = [word for word in words[1:] if word == "-v"]
    (number,) = [word for word in words[1:] if word != "-v"]
    assert len(flags) == 2
    assert number[:2] == "47"
    assert not number[2:3].isdigit()
    assert said == "loopless: no test in XML: its format has no words of argv, only what input functions return\n"
    folder = tmp_path / "tests"
    assert {file.name for file in folder.iterdir()} == {"test.c", "test.py"}
    subprocess.run(["cc", "-w", "test.c", "-o", "test"], cwd=folder, check=True)
    for command in (["./test"], [sys.executable, "test.py"]):
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert ran.stdout == "the error function was called\n"


WRITTEN = """extern void reach_error(void);
int main(int argc, char **argv) {
    if (argc != 2) return 0;
    for (char *p = argv[1]; *p; p++) *p = *p - 1;
    if (argv[1][0] == 'y' && !argv[1][1]) reach_error();
    return 0;
}
"""


def test_a_test_has_words_that_may_be_written(asked, tmp_path):
    folder = tmp_path / "tests"
    _, found, _ = asked(WRITTEN, "--call", "reach_error", "--write-test", folder)
    assert ["".join(map(chr, listed(word))) for word in found["inputs"]["words"]][1:] == ["z"]
    subprocess.run(["cc", "-w", "test.c", "-o", "test"], cwd=folder, check=True)
    for command in (["./test"], [sys.executable, "test.py"]):
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert ran.stdout == "the error function was called\n"


def test_flags_of_the_compile_database_are_used_and_written(capsys, tmp_path):
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "limit.h").write_text("#define LIMIT 47\n", encoding="utf-8")
    file = tmp_path / "a.c"
    text = '#include "limit.h"\nextern int puts(const char *);\nint f(int n) {\n  if (n == LIMIT + EXTRA)\n    puts("there");\n  return 0;\n}\n'
    file.write_text(text, encoding="utf-8")
    entry = {"directory": str(tmp_path), "file": "a.c", "arguments": ["cc", "-Iinc", "-DEXTRA=3", "-c", "a.c"]}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]), encoding="utf-8")
    folder = tmp_path / "tests"
    assert main(["reach", str(file), "-p", str(tmp_path), "--line", "5", "--write-test", str(folder)]) == 0
    assert "n = 50" in capsys.readouterr().out
    built = (folder / "test.c").read_text(encoding="utf-8").partition("In this folder: ")[2].partition(" && ")[0]
    assert "-I../inc -DEXTRA=3" in built
    subprocess.run(built.split(), cwd=folder, check=True)
    assert subprocess.run(["./test"], cwd=folder, capture_output=True, text=True, check=True).stdout == "there\n"


BACK = """extern int puts(const char *);
struct st;
struct zs { int a; struct st *state; };
struct st { int mode; struct zs *owner; };
double f(const char *s, struct zs *z) {
    if (z && z->state && z->state->owner == z && z->state->mode == 13 && s[1] == 'q')
        return puts("there") * 1.5;
    return 0;
}
"""


def test_a_pointer_back_is_found_and_written(asked, tmp_path):
    status, found, said = asked(BACK, "--line", 7, "--write-test", tmp_path / "tests")
    assert (status, found["verdict"], said) == (0, "reached", "")
    (state,) = found["inputs"]["arguments"][1]["memory"]["pointers"]
    (owner,) = state["memory"]["pointers"]
    assert (owner["same"], owner["at"], owner["memory"]) == ("z", 0, None)
    folder = tmp_path / "tests"
    subprocess.run(["cc", "-w", "test.c", "-o", "test"], cwd=folder, check=True)
    for command in (["./test"], [sys.executable, "test.py"]):
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        assert "there" in ran.stdout.splitlines()


@pytest.mark.slow
def test_behind_the_words_of_argv_is_a_null_pointer(asked):
    _, found, _ = asked(WORDS, "--line", 9, "--when", "argv[argc]", "--timeout", "2", "--unknown-ok")
    assert found["verdict"] in ("unreachable", "unknown")


@pytest.mark.slow
def test_tests_for_all_branches(asked, tmp_path):
    folder = tmp_path / "tests"
    status, found, _ = asked(BRANCHES, "--cover", "--write-test", folder)
    sides = {(side["line"], side["side"], side["branch"]): side for side in found["sides"]}
    taken = {place: side["verdict"] for place, side in sides.items()}
    assert [verdict for (line, words, _), verdict in taken.items() if line == 7 and words == "case 1"] in (
        ["unreachable"],
        ["unknown"],
    )
    assert [place for place, verdict in taken.items() if verdict != "covered"] == [
        p for p in taken if p[:2] == (7, "case 1")
    ]
    assert status == (0 if "unknown" not in taken.values() else 3)
    assert len(sides) == 9
    assert sorted(file.name for file in folder.glob("*.c")) == [
        f"test-{n}.c" for n in range(1, len(found["tests"]) + 1)
    ]
    by_branch = {number for side in found["sides"] for number in side["tests"]}
    assert by_branch == set(range(1, len(found["tests"]) + 1))


def test_what_is_reached_as_text(run, tmp_path):
    file = tmp_path / "a.c"
    file.write_text(READS, encoding="utf-8")
    done = run("reach", file, "--call", "reach_error")
    assert done.returncode == 0
    assert done.stdout.startswith("reached: a call of reach_error\n  by ")
    assert "\n  main()\n  inputs in their order: " in done.stdout


WRONG = {
    "no place": ([], "--line or by --call"),
    "two places": (["--line", "3", "--call", "g"], "--line or by --call"),
    "no line": (["--line", "x"], "takes N or FILE:N"),
    "a line behind the end": (["--line", "99"], "a.c has 11 lines, so none is line 99"),
    "line 0": (["--line", "0"], "none is line 0"),
    "a line with a brace only": (["--line", "b.c:4"], "no code"),
    "no function": (["--line", "7", "--function", "g"], "there is no function g"),
    "no call": (["--call", "g"], "nothing calls g"),
    "no name": (["--call", "g(1)"], "takes the name of a function"),
    "a condition without a line": (["--call", "f", "--when", "n > 1"], "name that with --line"),
    "no condition": (["--line", "6", "--when", " "], "--when is empty"),
    "a condition that does not compile": (["--line", "6", "--when", "ones >"], "--when 'ones >' does not compile at"),
    "a condition of what is not there": (["--line", "6", "--when", "i > 3"], "undeclared identifier 'i'"),
    "a condition in a header": (["--line", "a.h:3", "--when", "n > 1"], "not in a header"),
    "an assignment": (["--line", "6", "--when", "ones = 3"], "would change what the program does"),
    "an increment": (["--line", "6", "--when", "ones++ > 3"], "would change what the program does"),
    "more than a condition": (["--line", "6", "--when", "1) ones = 0; if (1"], "takes one condition"),
    "a condition where no statement begins": (["--line", "4", "--when", "n > 1"], "put braces around it"),
    "a place and all of them": (["--line", "6", "--cover"], "is about every side of every branch"),
    "no way to be small": (["--line", "6", "--minimize", "x"], "--minimize"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_asked_wrongly_is_one_sentence(asked, what):
    words, message = WRONG[what]
    status, found, said = asked(ONES, *words)
    assert (status, said) == (2, "")
    (error,) = found["errors"]
    assert message in error["message"]
    assert "\n" not in error["message"]
    assert error["kind"] in ("usage", "source")


def test_of_several_files_the_one_with_the_line_is_named(capsys, tmp_path):
    for name, text in {"a.c": ONES, "b.c": "int g(void) { return 3; }\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = [str(tmp_path / name) for name in ("a.c", "b.c")]
    assert main(["reach", *files, "--line", "1"]) == 2
    assert "is of one of 2 files" in capsys.readouterr().err
    assert main(["reach", *files, "--line", "b.c:1"]) == 0
    assert main(["reach", *files, "--line", "a.c:7", "--function", "f"]) == 0
    assert capsys.readouterr().out.count("reached: ") == 2

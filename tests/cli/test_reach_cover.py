"""``loopless reach --cover``: which sides of branches are covered, exit statuses, tests on disk, and wrong usage."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from loopless.check.certificates.document import judged_document
from reach_asked import HASHED, asking

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "src" / "loopless" / "report" / "schema.json").read_text(encoding="utf-8"))

MARKED = """extern int puts(const char *);
#ifdef MARKS
#define MARK(name) puts(name)
#else
#define MARK(name) (void)0
#endif
struct pair { int first; short *second; };
int f(const struct pair *p, unsigned n) {
    if (!p) { MARK("null"); return 0; }
    if (p->second[2] == -30007)
        MARK("found");
    switch (n % 3) {
    case 0: MARK("zero"); break;
    case 2: MARK("two"); break;
    case 3: MARK("three"); break;
    default: MARK("one"); break;
    }
    return 1;
}
"""
"""Sides: 2 of line 9; 2 of line 10; of the switch 4, of which case 3 cannot be taken, since n % 3 < 3."""
READS = """extern int __VERIFIER_nondet_int(void);
int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n == 1000003)
        return 1;
    return 0;
}
"""


@pytest.fixture
def asked(capsys, tmp_path):
    """Status, answer (JSON or text) and what was said beside, of the command in this process, about a program in ``a.c``."""

    return asking(capsys, tmp_path, SCHEMA, "--cover")


def run_all(folder, flags):
    """What each of the tests in C prints, compiled with these flags."""
    if shutil.which("cc") is None:
        (folder / "cc").write_text(f'#!/bin/sh\nexec {sys.executable} -m ziglang cc "$@"\n')
        (folder / "cc").chmod(0o755)
    env = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    told = []
    for file in sorted(folder.glob("test-*.c")):
        command = f"cc {flags} {file.name} -o {file.stem} && ./{file.stem}"
        done = subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True, text=True, check=True)
        told.append(done.stdout.split())
    return told


@pytest.mark.slow
def test_the_tests_take_every_side_that_can_be_taken(asked, tmp_path):
    folder = tmp_path / "tests"
    status, found, said = asked(MARKED, "--write-test", folder)
    assert (status, said, found["function"]) == (0, "", "f")
    assert (found["covered"], found["unreachable"], found["unknown"], len(found["sides"])) == (7, 1, 0, 8)
    (never,) = [one for one in found["sides"] if one["verdict"] != "covered"]
    assert (never["line"], never["side"], never["verdict"], never["tests"]) == (12, "case 3", "unreachable", [])
    assert judged_document(never["certificate"], 10.0)["accepted"] is True
    other = {**never["certificate"]["program"]["target"], "branch": [never["branch"], 2]}  # case 2
    wrong = {**never["certificate"], "program": {**never["certificate"]["program"], "target": other}}
    assert judged_document(wrong, 10.0)["accepted"] is False
    numbers = [one["number"] for one in found["tests"]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert {file.name for file in folder.iterdir()} == {
        f"test-{number}.{kind}" for number in numbers for kind in ("c", "py")
    }
    told = run_all(folder, "-DMARKS")
    assert {mark for marks in told for mark in marks} == {"null", "found", "zero", "two", "one"}
    (zero,) = [one for one in found["sides"] if (one["line"], one["side"]) == (12, "case 0")]
    assert zero["tests"] == [number for number, marks in zip(numbers, told, strict=True) if "zero" in marks]


def test_tests_of_what_main_reads_are_test_cases_of_the_competition(asked, tmp_path):
    status, found, said = asked(READS, "--write-test", tmp_path / "tests")
    assert (status, said, found["covered"]) == (0, "", 2)
    about = ET.parse(tmp_path / "tests" / "metadata.xml").getroot()
    assert about.findtext("specification") == "COVER( init(main()), FQL(COVER EDGES(@DECISIONEDGE)) )"
    cases = [ET.parse(file).getroot() for file in sorted((tmp_path / "tests").glob("test-*.xml"))]
    assert sorted(int(case[0].text) == 1000003 for case in cases) == [False, True]


@pytest.mark.slow
def test_what_is_not_known_makes_the_status_3(asked):
    status, text, said = asked(HASHED, "--timeout", 1.5, form="text")
    assert (status, said) == (3, "")
    first, second, *_ = text.splitlines()
    assert first == "3 of 4 sides of branches covered by 1 test, 0 cannot be taken, 1 unknown"
    assert second.startswith("  line 4, true: unknown: ")


def test_nothing_is_run_where_that_is_forbidden_and_a_terminal_sees_how_far_it_is(asked, monkeypatch):
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda _: True)
    status, found, said = asked(READS, "--no-run", "--unknown-ok")
    assert (status, found["covered"], found["unknown"], found["tests"]) == (0, 0, 2, [])
    assert all("--no-run" in one["reason"] for one in found["sides"])
    assert "0 of 2 sides of branches settled; line 4" in said
    assert said.endswith("\r\033[K")


PARSER = """enum st { START, KEY, VAL, DONE, ERR };
int f(const char *s, int len) {
    enum st state = START;
    int i = 0;
    while (i < len && state != DONE && state != ERR) {
        char c = s[i++];
        switch (state) {
        case START: if (c >= 'a' && c <= 'z') state = KEY; else if (c != ' ') state = ERR; break;
        case KEY: if (c == '=') state = VAL; else if (!(c >= 'a' && c <= 'z')) state = ERR; break;
        case VAL: if (c == ';') state = DONE; else if (!(c >= '0' && c <= '9')) state = ERR; break;
        default: state = ERR;
        }
    }
    return state == DONE ? i : -1;
}
"""


@pytest.mark.slow
def test_a_parser_is_covered_in_the_time_of_some_searches(asked):
    """Of its sides only the switch's default cannot be taken: the loop has ended in the other states."""
    _, found, _ = asked(PARSER, "--timeout", 20)
    assert (found["covered"], found["unreachable"] + found["unknown"], len(found["sides"])) == (29, 1, 30)
    (never,) = [one for one in found["sides"] if one["verdict"] != "covered"]
    assert (never["line"], never["side"]) == (7, "default")


def test_a_side_that_a_call_of_the_function_itself_takes_is_not_refuted(asked):
    """The first call has depth 0; whether the second one is looked at or not, the side is taken there."""
    text = "static int depth;\nint main(void) {\n  if (depth == 1)\n    return 7;\n  depth = 1;\n  return main();\n}\n"
    _, found, _ = asked(text, "--no-run", "--timeout", 8, "--unknown-ok")
    assert (found["unreachable"], found["covered"], len(found["sides"])) == (0, 0, 2)


def test_an_error_that_is_no_target_ends_the_run(asked):
    """Behind the error nothing is taken; in front of it both sides are."""
    text = (
        "extern void reach_error(void);\nint f(int n) {\n  if (n == 1234567)\n    reach_error();\n"
        "  if (n == 1234567)\n    return 1;\n  return 0;\n}\n"
    )
    _, found, _ = asked(text, "--timeout", 10)
    assert (found["covered"], found["unreachable"]) == (3, 1)
    (never,) = [one for one in found["sides"] if one["verdict"] == "unreachable"]
    assert (never["line"], never["side"]) == (5, "true")


def test_a_function_without_branches(asked, tmp_path):
    status, text, said = asked("int f(int n) { return n + 1; }\n", "--write-test", tmp_path / "no", form="text")
    assert (status, said) == (0, "loopless: no side of a branch is covered: there is no test to write\n")
    assert text.splitlines()[1] == "  f has no branches"
    assert not (tmp_path / "no").exists()


WRONG = {
    "a line": (["--line", "3"], "--cover is about every side of every branch; leave out --line"),
    "a call": (["--call", "g"], "leave out --call"),
    "a condition": (["--when", "n > 1"], "leave out --when"),
    "short runs": (["--minimize", "run"], "leave out --minimize"),
    "no function": (["--function", "g"], "there is no function g in"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_asked_wrongly_is_one_sentence(asked, what):
    words, message = WRONG[what]
    status, found, said = asked(READS, *words)
    assert (status, said) == (2, "")
    (error,) = found["errors"]
    assert message in error["message"]
    assert "\n" not in error["message"]


def test_of_several_functions_one_is_chosen(asked):
    status, found, _ = asked("int f(int n) { return n ? 1 : 2; }\nint g(int n) { return f(n); }\n")
    assert (status, found["errors"][0]["message"]) == (
        2,
        "which function is to be covered? Choose one with --function: f, g",
    )

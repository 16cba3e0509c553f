"""Case files are read as their page says; differences are found, and updates keep what a person wrote."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from case_files import CASES, DifferentError, MalformedError, judge_case, neutral, read_case
from command import ROOT, run_forked

HEAD = """A call returns twice its argument.
why: f adds n to n.
  So 4 makes 8.

--- file a.c
int f(int n) { return n + n; }

--- native
#include <stdio.h>
#include "a.c"
int main(void) { printf("returns %d\\n", f(4)); return 0; }

--- session
"""
SESSION = """$ loopless eval a.c f 4
returns 8

$ loopless eval a.c g '4 5'
stderr: loopless: no g
status: 2
"""
OF_CASE = {"f": ("returns 8\n", "", 0), "g": ("", "loopless: no g\n", 2)}


def told(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A command that prints what the case says."""
    assert (folder / "a.c").read_text().startswith("int f")
    out, err, status = OF_CASE[words[2]]
    return subprocess.CompletedProcess(words, status, out, err)


def other(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A command that prints more than the case says, and as much as its native program does."""
    done = told(words, folder)
    return subprocess.CompletedProcess(words, 3, done.stdout + f"in 0.25 s\n\nof {folder}\n", done.stderr)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "twice.case"
    path.write_text(HEAD + SESSION, encoding="utf-8")
    return path


def test_a_case_has_all_that_its_file_says(file: Path) -> None:
    case = read_case(file)
    assert (case.name, case.head, case.why) == ("twice", HEAD, ("f adds n to n. So 4 makes 8.",))
    assert list(case.files) == ["a.c"]
    assert "f(4)" in (case.native or "")
    first, second = case.session
    assert (first.out, first.err, first.status) == (("returns 8",), (), 0)
    assert (second.line, second.out, second.err, second.status) == (
        "loopless eval a.c g '4 5'", (), ("loopless: no g",), 2
    )  # fmt: skip


def test_the_same_output_passes_and_leaves_the_file(file: Path, tmp_path: Path) -> None:
    for update in (False, True):
        judge_case(file, told, tmp_path, update=update)
        assert file.read_text(encoding="utf-8") == HEAD + SESSION


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("\nreturns 8\n", "\nreturns 8 \n"),
        ("\nreturns 8\n", "\nreturns 8\n\n"),
        ("stderr: loopless: no g", "stderr: loopless: no h"),
        ("stderr: loopless: no g\n", ""),
        ("status: 2", "status: 3"),
        ("status: 2\n", ""),
    ],
)
def test_a_planted_difference_fails_and_names_the_option(file: Path, tmp_path: Path, right: str, planted: str) -> None:
    assert right in SESSION
    text = HEAD + SESSION.replace(right, planted)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DifferentError, match="--update-cases") as said:
        judge_case(file, told, tmp_path)
    assert re.search(r"^[-+][^-+]?", str(said.value), re.MULTILINE)
    assert file.read_text(encoding="utf-8") == text


def test_an_update_rewrites_the_output_only_and_asks_for_a_look(file: Path, tmp_path: Path) -> None:
    with pytest.raises(DifferentError, match="by hand") as said:
        judge_case(file, other, tmp_path, update=True)
    assert "why: f adds n to n. So 4 makes 8." in str(said.value)
    assert "+in N s" in str(said.value)
    text = file.read_text(encoding="utf-8")
    assert text.startswith(HEAD)
    assert text.removeprefix(HEAD).startswith(
        "$ loopless eval a.c f 4\nreturns 8\nin N s\n\nof FOLDER\nstatus: 3\n\n$ loopless eval a.c g '4 5'\nin N s\n"
    )
    judge_case(file, other, tmp_path)


def test_output_that_the_native_run_contradicts_is_not_written(file: Path, tmp_path: Path) -> None:
    text = HEAD.replace("f(4)", "f(40)") + SESSION
    file.write_text(text, encoding="utf-8")
    for update in (False, True):
        with pytest.raises(DifferentError, match="native program prints 'returns 80'"):
            judge_case(file, told, tmp_path, update=update)
    assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("main", "said"),
    [
        ('puts("returns"); return 0;', None),
        ('puts("turns 8"); return 0;', "prints 'turns 8'"),
        ('puts("returns 8"); return 1;', "status 1"),
        ("return 0;", "nothing"),
        ('puts("returns 8"); return f(2147483647);', "status -"),
        ("return", "status 1"),
    ],
)
def test_native_programs_say_something_and_end_well(file: Path, tmp_path: Path, main: str, said: str | None) -> None:
    native = re.sub(r"int main.*", f"int main(void) {{ {main} }}", HEAD)
    file.write_text(native + SESSION, encoding="utf-8")
    if said is None:
        judge_case(file, told, tmp_path)
        return
    with pytest.raises(DifferentError, match=re.escape(said)):
        judge_case(file, told, tmp_path)


MALFORMED = {
    "no title": ("A call returns twice its argument.\n", "", "1: the first line must say"),
    "no reason": ("why: f adds n to n.\n  So 4 makes 8.\n", "", "1: a line 'why: ...' is missing"),
    "an empty reason": ("why: f adds n to n.\n  So 4 makes 8.\n", "why: \n", "1: a line 'why: ...' is missing"),
    "a stray line": ("  So 4", "So 4", "3: before the first part only"),
    "a folder": ("--- file a.c", "--- file b/a.c", "5: a part begins with"),
    "an unknown part": ("--- native", "--- nativ", "8: a part begins with"),
    "a name twice": ("--- native", "--- file a.c", "8: a part begins with"),
    "no session": ("--- session\n", "", "the line '--- session' is missing"),
    "a part behind the session": ("status: 2\n", "status: 2\n--- native\n", "20: no part may follow"),
    "no command": ("$ loopless eval a.c f 4\n", "", "13: a session begins with a command"),
    "another command": ("$ loopless eval a.c f", "$ rm f", "14: a session has commands of loopless only"),
    "an open quote": ("'4 5'", "'4 5", "17: the command cannot be split into words"),
    "a status of 0": ("status: 2", "status: 0", "19: a status is a number, and 0 is not written"),
    "a status that is none": ("status: 2", "status: two", "19: a status is a number"),
    "output behind a status": ("status: 2\n", "status: 2\nmore\n", "20: nothing may follow the status"),
    "output behind an error": ("status: 2\n", "more\n", "19: standard output stands before"),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_a_malformed_file_is_refused_in_one_sentence(file: Path, what: str) -> None:
    right, wrong, said = MALFORMED[what]
    assert right in HEAD + SESSION
    file.write_text((HEAD + SESSION).replace(right, wrong), encoding="utf-8")
    with pytest.raises(MalformedError) as refused:
        read_case(file)
    assert said in str(refused.value)
    assert str(refused.value).startswith("twice.case:")
    assert "\n" not in str(refused.value)


def test_output_that_reads_like_a_part_is_not_written(file: Path, tmp_path: Path) -> None:
    def tricky(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(words, 0, "returns 8\n$ loopless\n", "")

    with pytest.raises(MalformedError, match="something else"):
        judge_case(file, tricky, tmp_path, update=True)
    assert file.read_text(encoding="utf-8") == HEAD + SESSION


def test_only_times_and_the_folder_are_made_neutral(tmp_path: Path) -> None:
    text = f"{tmp_path}/a.c:3: 4 steps in 1.25 s, 3 s, 2.5 times"
    assert neutral(text, tmp_path) == "FOLDER/a.c:3: 4 steps in N s, 3 s, 2.5 times"


def test_the_page_shows_a_case_that_holds(tmp_path: Path) -> None:
    page = (CASES / "README.md").read_text(encoding="utf-8")
    block = page.partition("like this:\n\n")[2].partition("\n- The first")[0]
    path = tmp_path / "page.case"
    path.write_text("".join(line.removeprefix("    ") for line in block.splitlines(keepends=True)).rstrip("\n") + "\n")
    judge_case(path, run_forked, tmp_path)


def test_a_machine_of_many_updates_nothing() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "--update-cases", "--collect-only", "tests/test_case_files.py"]
    env = {**os.environ, "CI": "true"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--update-cases is for a person" in done.stderr

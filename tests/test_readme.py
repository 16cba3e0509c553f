"""What the documentation quotes is what is printed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import z3

ROOT = Path(__file__).resolve().parent.parent


def command(*words: str, statuses: tuple[int, ...] = (0,)) -> str:
    line = [sys.executable, "-m", "loopless", *words]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in statuses, done.stderr
    return done.stdout


def indented(page: str) -> str:
    return "".join(line.removeprefix("    ") for line in page.splitlines(keepends=True))


def test_the_readme_shows_what_is_printed() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"<!-- output:begin -->\n(.*?)<!-- output:end -->", page, re.DOTALL)
    assert indented(shown) == command("summarize", "examples/looperman/fig1.c")


def test_the_readme_shows_what_verify_prints() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"<!-- verify:begin ([^\n]*) -->\n(.*?)<!-- verify:end -->", page, re.DOTALL)
    assert [shown.split(":")[0].strip() for _, shown in found] == ["true", "false(no-overflow)"]
    for words, shown in found:
        assert f"`loopless verify {words}`" in page
        assert indented(shown) == command("verify", *words.split(), statuses=(0, 1))


def test_the_readme_shows_what_reach_prints() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"<!-- reach:begin ([^\n]*) -->\n(.*?)<!-- reach:end -->", page, re.DOTALL)
    assert [shown.split(":")[0].strip() for _, shown in found] == ["reached", "unreachable"]
    for words, shown in found:
        assert f"`loopless reach {words}`" in page
        assert indented(shown) == command("reach", *words.split(), statuses=(0, 1))


def test_the_page_on_json_shows_what_is_printed() -> None:
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"For example, `loopless ([^`]*)`", page)
    (shown,) = re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    untimed = re.compile(r'"time_ms": [0-9.]+')
    assert untimed.sub("", shown) == untimed.sub("", command(*line.split()))
    assert json.loads(shown)["command"] == line.split()[0]


def test_the_page_on_smtlib_has_an_example_that_works() -> None:
    page = (ROOT / "docs" / "smtlib.md").read_text(encoding="utf-8")
    (line, asked) = re.findall(
        r"^    loopless (.*) > fig1.smt2\n    cat.*\n((?:    .*\n)*?)    END$", page, re.MULTILINE
    )[0]
    solver = z3.Solver()
    solver.from_string(command(*line.split()) + indented(asked).replace("(check-sat)", ""))
    assert solver.check() == z3.sat

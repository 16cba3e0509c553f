"""What the documentation quotes is what is printed."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
import z3

from loopless.cli.app import COMMANDS, command_of

ROOT = Path(__file__).resolve().parent.parent


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_CONSOLE = re.compile(r"^```console\n\$ ([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = [
    (page.relative_to(ROOT).as_posix(), line, shown)
    for page in PAGES
    for line, shown in _CONSOLE.findall(page.read_text(encoding="utf-8"))
]
"""Of each page the commands in it, with what it says they print: on a terminal, so errors stand there, too."""


def run(line: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """A command as a page writes it, with what it prints on either stream."""
    program, *words = shlex.split(line)
    assert program == "loopless"
    full = [sys.executable, "-m", "loopless", *words]
    return subprocess.run(full, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def command(*words: str) -> str:
    line = [sys.executable, "-m", "loopless", *words]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def indented(page: str) -> str:
    return "".join(line.removeprefix("    ") for line in page.splitlines(keepends=True))


@pytest.mark.parametrize(("page", "line", "shown"), SHOWN, ids=[f"{page}: {line}" for page, line, _ in SHOWN])
def test_a_page_shows_what_a_command_prints(page: str, line: str, shown: str) -> None:
    done = run(line)
    assert done.returncode in {0, 1}
    assert done.stdout == shown


def first_words(page: str) -> list[tuple[str, str]]:
    """By command of a page, what it is and how its answer begins."""
    return [(line.split()[1], shown.split(":")[0]) for name, line, shown in SHOWN if name == page]


def test_the_pages_show_each_kind_of_answer() -> None:
    assert [name for name, _ in first_words("README.md")] == ["summarize", "bound", "verify", "bound"]
    verdicts = [("verify", "true"), ("verify", "false(no-overflow)"), ("verify", "false(unreach-call)")]
    assert first_words("docs/verification.md") == verdicts
    assert first_words("docs/reach.md") == [("reach", "reached"), ("reach", "unreachable"), ("reach", "reached")]
    assert {name for name, _ in first_words("docs/commands.md")} == {"summarize", "bound", "eval"}


def test_the_readme_is_short() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("\n") <= 160
    assert len(text.split()) <= 900


def test_the_readme_begins_with_what_sets_up_and_runs_the_main_job_and_the_tests() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(r"^    \./dev try .*\n    \./dev test ", text, re.MULTILINE)
    script = (ROOT / "dev").read_text(encoding="utf-8")
    (example,) = re.findall(r'^example="(.*)"$', script, re.MULTILINE)
    assert f'set -- summarize "{"$example"}"' in script
    assert SHOWN[0][:2] == ("README.md", f"loopless summarize {example}")


def test_the_readme_asks_about_a_project(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    recipe = text.partition("## Your own project\n")[2].partition("\n## ")[0]
    made, *lines = re.findall(r"^    (\S.*)$", recipe, re.MULTILINE)
    assert (made.split()[0], len(lines)) == ("cmake", 2)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "count.c").write_text("int count(int n) { int i = 0; while (i < n) i++; return i + STEP; }\n")
    (tmp_path / "build").mkdir()
    entry = {"directory": str(tmp_path), "file": "src/count.c", "arguments": ["cc", "-DSTEP=2", "-c", "src/count.c"]}
    (tmp_path / "build" / "compile_commands.json").write_text(json.dumps([entry]))
    census, bound = (run(line.replace("FILE.c", "count.c"), tmp_path) for line in lines)
    assert (census.returncode, bound.returncode) == (0, 0), census.stdout + bound.stdout
    assert re.search(r"^src/count\.c +1 ", census.stdout, re.MULTILINE), census.stdout
    assert "exactly max(0, n) iterations" in bound.stdout


OF_ALL = "## Options of all commands that read programs"


def sections(text: str) -> dict[str, str]:
    """The parts of a page by the words of their headings."""
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    return {word: part for title, part in zip(parts[1::2], parts[2::2], strict=True) for word in title.split(" and ")}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_page_on_commands_names_every_option(name: str) -> None:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    found = sections(text)
    documented = found[name] + found[OF_ALL.removeprefix("## ")]
    options = {
        max(parameter.opts, key=len)
        for parameter in command_of(name).params
        if isinstance(parameter, click.Option) and "--help" not in parameter.opts
    }
    assert options
    assert {option for option in options if not re.search(rf"(?<![\w-]){option}(?![\w-])", documented)} == set()


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

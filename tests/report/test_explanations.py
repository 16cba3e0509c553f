"""The examples on the page of refusals are refused for the reason that they are examples of."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from loopless.bounds.ranking.linear import rank
from loopless.paths import LoopPaths
from loopless.refusals import Reason, Refused
from loopless.report.explanations import explain
from loops_in_c import paths

ROOT = Path(__file__).resolve().parent.parent.parent
WITHOUT_EXAMPLE = ("L208", "L303", "L304", "L305")
"""No command says the first and third; the others depend on the machine, or on an error of ours."""
SUFFIX = {"c": ".c", "cpp": ".cpp", "llvm": ".ll"}


def command(folder: Path, *words: str) -> str:
    """What ``loopless WORDS`` prints in ``folder``."""
    line = [sys.executable, "-m", "loopless", *words]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False).stdout


def written(code: str, folder: Path) -> tuple[str, ...]:
    """Puts the example of ``code`` into ``folder``; the command of it."""
    page = explain(code)
    file = f"a{SUFFIX[page.language]}"
    (folder / file).write_text(page.example, encoding="utf-8")
    given = re.match(r"(?:/\*|;) loopless (.*?)(?: \*/)?\n", page.example)
    words = tuple(given[1].split()) if given else ("summarize", file)
    assert file in words
    return words


@pytest.mark.parametrize("code", [reason.code for reason in Reason if reason.code not in WITHOUT_EXAMPLE])
@pytest.mark.slow
def test_an_example_is_refused_for_its_reason(code: str, tmp_path: Path) -> None:
    words = written(code, tmp_path)
    limit = () if "--loop-timeout" in words else ("--loop-timeout", "120")
    printed = command(tmp_path, *words, *limit)
    assert f"[{code} {explain(code).reason.label}]" in printed, printed


@pytest.mark.parametrize("code", WITHOUT_EXAMPLE)
def test_what_no_program_alone_shows_has_no_example(code: str) -> None:
    assert not explain(code).example


def test_what_only_the_library_says() -> None:
    # From x > 0 on x never gets below 1, so no measure decreases.
    found = paths("int f(int x) { while (x > 0) { if (x > 5) x = 1; else x++; } return x; }")
    assert isinstance(found, LoopPaths)
    refused = rank(found)
    assert isinstance(refused, Refused)
    assert refused.reason is Reason.NO_RANKING


def test_the_page_shows_what_is_printed(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "refusals.md").read_text(encoding="utf-8")
    shown = "".join(
        line.removeprefix("    ") for line in re.findall(r"^    .*\n", page.split("\n## ")[0], re.MULTILINE)
    )
    words = written("L101", tmp_path)
    assert shown
    assert command(tmp_path, *words).startswith(shown)
    (carried,) = re.findall(r"`(\{.*?\})`", page)
    (loop,) = json.loads(command(tmp_path, *words, "--format", "json"))["loops"]
    assert loop["refused"] == json.loads(carried)


def test_what_is_advised_against_exceptions_helps(tmp_path: Path) -> None:
    written("L110", tmp_path)
    text = (tmp_path / "a.cpp").read_text(encoding="utf-8")
    (tmp_path / "a.cpp").write_text(text.replace("int g(int);", "int g(int) noexcept;"), encoding="utf-8")
    assert "exact, complete" in command(tmp_path, "summarize", "a.cpp")


Change = tuple[str, str]
UP = "static int up(int k) { for (int i = 0; i < 3; i++) k++; return k; }\n"
ADVICE: dict[str, tuple[list[Change], str]] = {
    # By reason: replacements in the text of the example, and the options with which `summarize` is exact.
    "L101": ([("if (x > 5) goto inside;", "if (x > 5) { x += 3; if (x >= 100) return x; }"), ("inside:", "")], ""),
    "L106": ([], "--function f --vars n"),
    "L107": ([("for (int i = 0; i < 3; i++) k++;", "k = up(k);"), ("int f(", UP + "int f(")], "--function up"),
    "L108": ([("int *end", "int size"), ("p < end", "p < *from + size")], ""),
    "L109": ([], ""),
    "L201": ([], "--vars i"),
    "L202": ([], "--assume y==3"),
    "L206": ([], "--assume u<1000&&v<100000"),
    "L207": ([], "--wrapv"),
}
COUNTED = {
    # By reason: a command that tells more, and a part of its answer.
    "L203": ("eval a.c gcd 12 18", "2 iterations"),
    "L204": ("eval a.c f 1 2 30", "7 iterations"),
    "L206": ("eval a.c f 12 15", "1 iteration"),
    "L209": ("summarize a.c", "never ends when x == 0"),
    "L301": ("bound a.c", ": n iterations [O(n)] in a call"),
}


@pytest.mark.slow
@pytest.mark.parametrize("code", ADVICE)
def test_what_is_advised_gives_an_exact_summary(code: str, tmp_path: Path) -> None:
    changes, words = ADVICE[code]
    written(code, tmp_path)
    text = (tmp_path / "a.c").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "a.c").write_text(text, encoding="utf-8")
    assert "exact, complete" in command(tmp_path, "summarize", "a.c", *words.split())


@pytest.mark.slow
@pytest.mark.parametrize("code", COUNTED)
def test_what_is_advised_counts(code: str, tmp_path: Path) -> None:
    words, says = COUNTED[code]
    written(code, tmp_path)
    assert says in command(tmp_path, *words.split())

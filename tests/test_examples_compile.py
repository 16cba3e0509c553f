"""The examples: their comments are in the grammar, they compile without warnings, and native runs do as they say."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from example_expectations import (
    EXAMPLES,
    Eval,
    Expectation,
    LoopFact,
    Loops,
    MalformedError,
    example_files,
    expectations,
    parse_line,
)
from loopless.check.oracle.native import NativeHost, NativeLimits, NativeOracle

FILES = example_files()


def name(file: Path) -> str:
    return str(file.relative_to(EXAMPLES))


def functions(file: Path) -> set[str]:
    return set(re.findall(r"^[a-z][\w ]*?\**(\w+)\([^;]*\) \{", file.read_text(encoding="utf-8"), re.MULTILINE))


def evals(file: Path) -> list[Eval]:
    return [found for found in expectations(file) if isinstance(found, Eval)]


@pytest.fixture(scope="module")
def host() -> Iterator[NativeHost]:
    with NativeHost() as shared:
        yield shared


def test_every_folder_of_the_readme_has_examples() -> None:
    counted = Counter(file.parent.name for file in FILES)
    listed = re.findall(r"^\| `(\w+)/` \|", (EXAMPLES / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(counted) == set(listed)


@pytest.mark.parametrize("file", FILES, ids=name)
def test_expectations_speak_of_the_functions_of_their_file(file: Path) -> None:
    found = list(expectations(file))
    assert {one.function for one in found} == functions(file)
    counts = {one.function: one.count for one in found if isinstance(one, Loops)}
    assert set(counts) == functions(file)
    assert any(isinstance(one, Eval) for one in found)
    facts = [one for one in found if isinstance(one, LoopFact)]
    assert all(1 <= one.index <= counts[one.function] for one in facts)
    assert all(1 <= one.value <= 4 for one in facts if one.kind == "type")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("loops f 2", Loops(Path("f.c"), "f", 2)),
        ("type f:1 3", LoopFact(Path("f.c"), "type", "f", 1, 3)),
        ("paths g:2  4", LoopFact(Path("f.c"), "paths", "g", 2, 4)),
        ("eval f() -> -7", Eval(Path("f.c"), 9, "f", (), (), -7)),
        ("eval f(-1, [2, -3], []) with 4, -5 -> 6", Eval(Path("f.c"), 9, "f", (-1, (2, -3), ()), (4, -5), 6)),
        ("eval f(1) -> diverges", Eval(Path("f.c"), 9, "f", (1,), (), "diverges")),
    ],
)
def test_the_grammar(text: str, expected: Expectation) -> None:
    assert parse_line(Path("f.c"), 9, text) == expected


@pytest.mark.parametrize(
    "text",
    ["type f 1", "eval f(x) -> 1", "eval f(1) -> maybe", "eval f(1)", "loops f", "bound f:1 n", "eval f(1,,2) -> 3"],
)
def test_what_is_not_in_the_grammar(text: str) -> None:
    with pytest.raises(MalformedError):
        parse_line(Path("f.c"), 9, text)


def test_all_compile_without_warnings() -> None:
    command = [sys.executable, "-m", "ziglang", "clang", "-fsyntax-only", "-std=c11", "-Wall", "-Wextra", "-Wpedantic"]
    done = subprocess.run([*command, *map(str, FILES)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("file", FILES, ids=name)
def test_native_runs_end_as_expected(file: Path, host: NativeHost) -> None:
    check_natively([case for case in evals(file) if case.result != "diverges"], host, seconds=30)


@pytest.mark.parametrize("file", [file for file in FILES if " -> diverges" in file.read_text()], ids=name)
def test_runs_that_diverge_are_still_going_at_a_time_limit(file: Path, host: NativeHost) -> None:
    """Divergence cannot be seen by running; this is as much of it as can."""
    check_natively([case for case in evals(file) if case.result == "diverges"], host, seconds=0.2)


def check_natively(cases: list[Eval], host: NativeHost, seconds: float) -> None:
    source = cases[0].file.read_text(encoding="utf-8")
    with NativeOracle(source, host=host, limits=NativeLimits(seconds=seconds)) as oracle:
        for case in cases:
            outcome = oracle.run(case.function, case.args, nondet=case.inputs)
            found = {"ok": outcome.return_value, "timeout": "diverges"}.get(outcome.status, outcome.status)
            assert found == case.result, f"{case.file}:{case.line}: {outcome}"

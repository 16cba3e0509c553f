"""The programs of ``bench/reach``: inputs worked out by hand lead to the targets that are to be reached."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import reach as bench

from loopless.check.oracle.native import NativeHost, NativeOracle
from loopless.source.compile import SourceOptions
from loopless.source.targets import SourceTarget

TASKS = {task.shown: task for task in bench.programs([1])}


def text(words: str) -> tuple[int, ...]:
    return (*words.encode(), 0)


WITNESSES: dict[str, tuple[object, ...]] = {
    "byte_sum SUM=25500": ((255,) * 100,),
    "classes": ((*b"7" * 30, *b"x" * 20), 50),
    "doif": ((1,) * 9 + (2,) * 5 + (3,) * 7 + (4,) * 4, 25),
    "doifex": ((1,) * 5 + (2,) * 4 + (3,) * 3, 12, (1,) * 5 + (2,) * 2 + (3,) * 3 + (0,) * 3, 13),
    "eqcnt": ((1, 1, 1, 1), (1, 1, 1, 2), 4),
    "eqcntex SUM=10": ((1, 1), (1, 1, 1), (1, 1), (1, 1, 2)),
    "eqcntm": ((5,) * 12, 3, 4),
    "fig1": ((1,) * 13 + (0,) * 2, (2,) * 10 + (0,) * 5),
    "hash_chains": ((1, 1, 1, 1, 0) * 3 + (0, 0), 17),
    "hash_walk": ((1, 1, 1), 3, (0, 1, *[0] * 30)),
    "hello": (text("Hello"),),
    "hw": (text("HelloWorld"),),
    "hwm": (text("HelloWorldAtMicrosoft!"),),
    "hwm_onwards": (text("HelloWorldAtMicrosoft!"),),
    "records": ((4, 0xAA, 0xAA, 0xAA, 0xAA) * 3 + (0, 0), 17),
    "resets": ((1, 1, 1, 2, 2, 2, 2, 2), 8),
    "switches": ((*b"1 1 1 1 ", *b"1" * 16), 24),
    "toggles OPEN=1": (text('"' * 15),),
    "tokenizer": (text("letters letters letters letters"),),
}


@pytest.fixture(scope="module")
def host():
    with NativeHost() as shared:
        yield shared


def test_each_program_that_is_to_be_reached_has_a_witness():
    assert {name for name, task in TASKS.items() if task.expected == "reached"} == set(WITNESSES)


@pytest.mark.parametrize("name", WITNESSES)
def test_a_witness_leads_to_the_target(name, host):
    task = TASKS[name]
    target = SourceTarget(str(task.file), int(task.target[1]))
    with NativeOracle(task.file, options=SourceOptions(flags=task.flags, target=target), host=host) as oracle:
        outcome = oracle.run(task.file.stem, WITNESSES[name])
    assert (outcome.status, outcome.detail) == ("error-reached", "target")


def test_all_compile_without_warnings_at_every_scale():
    files = sorted({task.file for task in TASKS.values()})
    for scale in (1, 100):
        command = [sys.executable, "-m", "ziglang", "clang", "-fsyntax-only", "-Wall", "-Wextra", f"-DSCALE={scale}"]
        done = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_an_answer_is_right_wrong_or_unknown():
    assert bench.judged("reached", "reached") == "right"
    assert bench.judged("unreachable", "reached") == "WRONG"
    assert bench.judged("timeout", "reached") == "unknown"
    assert bench.target_line(Path(TASKS["hello"].file).read_text()) == int(TASKS["hello"].target[1])

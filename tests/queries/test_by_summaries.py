"""Inputs that take loops which run just so often: by summaries of loops, and by counters of what loops read."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopless import source
from loopless.check.certificates.property import Property
from loopless.queries.program import AnalyzedProgram
from loopless.queries.reach.answering import reach
from loopless.queries.settings import Settings
from loopless.queries.verification.answering import verify
from loopless.source.targets import SourceTarget

HERE = Settings(sandboxed=False)
STRIDES = """int f(int n, int k) {
    int c = 0;
    for (int i = 0; i < n; i += 7) {
        c++;
        if (i == 7 * k && c == 100001 && k > 5)
            return 2;
    }
    if (c == 1000000 && n % 7 == 3)
        return 1;
    return 0;
}
"""
READS = """int f(const unsigned char *s, int k) {
    int sum = 0;
    for (int i = 0; i < k; i++) sum += 3;
    if (s[2] == 'z' && sum == 33)
        return 2;
    return 0;
}
"""
HEAD = (
    "extern void reach_error(void); extern char __VERIFIER_nondet_char(void); extern int __VERIFIER_nondet_int(void);\n"
)
LETTERS = """int main(void) {
    int a = 0, b = 0;
    for (int i = 0; i < 2000; i++) {
        char c = __VERIFIER_nondet_char();
        if (c == 'a') a++; else if (c == 'b') b++;
    }
    if (a == 567 && b == 89) reach_error();
    return 0;
}
"""
MACHINE = """int main(void) {
    int state = 0, c;
    while ((c = __VERIFIER_nondet_int()) != -1) {
        switch (state) {
            case 0: state = c == 'k'; break;
            case 1: if (c == 'e') state = 2; else state = 0; break;
            case 2: if (c == 'y') state = 3; else state = 0; break;
        }
    }
    if (state == 3) reach_error();
    return 0;
}
"""
FAR = """int main(void) {
    unsigned n = __VERIFIER_nondet_int(), c = 0;
    if (n < 4000000000u) return 0;
    for (unsigned i = 0; i < n; i++) for (unsigned j = 0; j < n; j++) if (i == n - 1 && j == n - 1) c = 1;
    if (c == 1) reach_error();
    return 0;
}
"""


def found(folder: Path, text: str, line: int):
    file = folder / "f.c"
    file.write_text(text, encoding="utf-8")
    return reach([file], SourceTarget("f.c", line), "f", HERE, seconds=30.0)


@pytest.mark.parametrize("line", [6, 9])
def test_lines_in_and_behind_a_loop_are_reached_by_its_summary(tmp_path: Path, line: int) -> None:
    """By reasoning: i is 7*k in iteration k + 1, so k is 100000; c is the least c with 7*c >= n."""
    answer = found(tmp_path, STRIDES, line)
    assert (answer.verdict, answer.method) == ("reached", "summaries of loops")
    n, k = (argument.value for argument in answer.inputs.arguments)
    assert k == 100_000 and n > 700_000 if line == 6 else n == 6_999_996


def test_what_a_path_reads_of_arrays_is_given_to_the_run(tmp_path: Path) -> None:
    answer = found(tmp_path, READS, 5)
    assert (answer.verdict, answer.method) == ("reached", "summaries of loops")
    assert answer.inputs.arguments[1].value == 11


def verdict(folder: Path, text: str, seconds: float):
    file = folder / "main.c"
    file.write_text(HEAD + text, encoding="utf-8")
    return verify(AnalyzedProgram(source.load([file], HERE.source), HERE), Property.UNREACH_CALL, HERE, seconds=seconds)


def test_counters_of_ways_lead_verify_to_a_violation(tmp_path: Path) -> None:
    answer = verdict(tmp_path, MACHINE, 30.0)
    assert (answer.verdict, answer.method) == ("false", "guided search")
    assert b"key" in bytes(value & 255 for value in answer.inputs)  # nothing leads away from there


def test_counts_of_letters_are_written_as_inputs(tmp_path: Path) -> None:
    answer = verdict(tmp_path, LETTERS, 30.0)
    assert (answer.verdict, answer.method) == ("false", "summaries of loops, over inputs")
    read = bytes(value & 255 for value in answer.inputs)
    assert (read.count(b"a"), read.count(b"b")) == (567, 89)


@pytest.mark.slow
def test_a_violation_with_inputs_may_be_too_far_for_a_run(tmp_path: Path) -> None:
    """The least n takes 1.6 times ten to the 19 iterations."""
    answer = verdict(tmp_path, FAR, 10.0)
    assert answer.verdict == "unknown"
    assert "behind at least 10^19 iterations" in answer.reason

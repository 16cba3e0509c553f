"""All runs of a program one by one: the judge accepts what is right of each, and nothing where runs are left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from loopless.check.certificates.all_runs import AllRuns, judged_runs
from loopless.check.certificates.document import judged_document
from loopless.check.certificates.judge import Judgement
from loopless.check.certificates.property import Property
from loopless.errors import UsageError
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.queries.verification.answering import verify
from programs_in_c import HEAD, program

SORTED = """int main(void) {
    int a[9];
    unsigned h = 7;
    for (int i = 0; i < 9; i++) { h = h * 1103515245u + 12345u; a[i] = (int)(h >> 16) % 100; }
    for (int i = 0; i < 9; i++)
        for (int j = 0; j + 1 < 9; j++)
            if (a[j] > a[j + 1]) { int x = a[j]; a[j] = a[j + 1]; a[j + 1] = x; }
    for (int i = 0; i + 1 < 9; i++) if (a[i] > a[i + 1]) reach_error();
    return 0;
}"""
BYTES = "extern signed char __VERIFIER_nondet_schar(void); extern _Bool __VERIFIER_nondet_bool(void);"
SMALL = f"{BYTES} int main(void) {{ int b = __VERIFIER_nondet_bool(), c = b ? __VERIFIER_nondet_schar() : 5; if (c == 127 && !b) reach_error(); return c; }}"

RIGHT = {
    "no inputs": (SORTED, 1),
    "few inputs": (SMALL, 1 + 2 + 256),
    "assumptions": (
        f"{BYTES} int main(void) {{ int c = __VERIFIER_nondet_schar(); __VERIFIER_assume(c > 3); if (c < 3) reach_error(); return 0; }}",
        257,
    ),
    "recursion": (
        "static int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); } int main(void) { if (f(12) != 144) reach_error(); return 0; }",
        1,
    ),
    "what does not matter": (
        'extern int printf(const char *, ...); int main(void) { int u; printf("%d", 3); int v = u; (void)v; return 0; }',
        1,
    ),
}
WRONG = {
    "an error": SORTED.replace("a[j] > a[j + 1]", "a[j] > 40 + a[j + 1]"),
    "an error with one of the inputs": SMALL.replace("127 && !b", "-128 && b"),
    "an overflow": f"{BYTES} int main(void) {{ int c = __VERIFIER_nondet_schar(); return 2147483521 + c - (c == 127); }}",
    "outside of an array": f"{BYTES} int main(void) {{ int a[127] = {{0}}, c = __VERIFIER_nondet_schar(); return c < 0 ? 0 : a[c]; }}",
    "a run without an end": f"{BYTES} int main(void) {{ unsigned char c = __VERIFIER_nondet_schar(); while (c != 200 && c & 255) c += 2; return 0; }}",
    "an input of many values": "int main(void) { return __VERIFIER_nondet_int() == 5; }",
    "one behind a branch": f"{BYTES} int main(void) {{ if (__VERIFIER_nondet_bool()) return __VERIFIER_nondet_int() == 5; return 0; }}",
    "inputs without an end": f"{BYTES} int main(void) {{ while (__VERIFIER_nondet_bool()); return 0; }}",
    "a value that nobody gave": "int main(void) { int a[2]; if (a[1]) return 1; return 0; }",
    "arguments of the program": "int main(int n, char **v) { return n; }",
    "an allocation": "#include <stdlib.h>\nint main(void) { int *p = malloc(8); if (!p) reach_error(); return 0; }",
    "what the standard leaves open": '#include <string.h>\nint main(void) { char s[] = "b"; if (strcmp(s, "a") != 1) reach_error(); return 0; }',
    "what a function without a body returns": "extern int other(void); int main(void) { if (other()) reach_error(); return 0; }",
    "a function that need not return": "extern void other(void); int main(void) { other(); return 0; }",
    "what runs before": "int x; __attribute__((constructor)) static void first(void) { x = 1; } int main(void) { if (x) reach_error(); return 0; }",
}


def judgement(text: str) -> Judgement:
    """What the judge says of all runs."""
    return judged_runs(program(text), "main", mathematical=False, wrapv=False, seconds=60.0)


@pytest.mark.parametrize("name", RIGHT)
def test_all_runs_are_taken(name: str) -> None:
    text, ends = RIGHT[name]
    found = judgement(text)
    assert (found.accepted, found.failed) == (True, ())
    assert found.questions == ends


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_or_open_in_one_run_is_not_accepted(name: str) -> None:
    found = judgement(WRONG[name])
    assert not found.accepted
    assert found.failed


def test_steps_are_limited() -> None:
    runs = AllRuns(program(SORTED), "main")
    steps = runs.enumerated().steps
    assert runs.enumerated(steps).why == ""
    assert "more than" in runs.enumerated(steps // 2).why


@pytest.fixture
def asked(tmp_path: Path) -> Callable[[str, Property], object]:
    def ask(text: str, property_: Property) -> object:
        file = tmp_path / "a.c"
        file.write_text(HEAD + text, encoding="utf-8")
        return verify(load([file]), property_, Settings(sandboxed=False), seconds=30.0)

    return ask


@pytest.mark.parametrize("property_", list(Property))
def test_a_sorted_array_without_inputs(asked: Callable, property_: Property) -> None:
    found = asked(SORTED, property_)
    assert found.verdict == "true"
    if property_ is Property.UNREACH_CALL:
        assert found.certificate["all_runs"] is True


def test_a_certificate_of_all_runs_is_of_one_program_and_says_nothing_else(asked: Callable, tmp_path: Path) -> None:
    certificate = json.loads(json.dumps(asked(SORTED, Property.UNREACH_CALL).certificate))
    assert judged_document(certificate, 30.0)["accepted"]
    for more in ({"ranks": []}, {"elements": True}, {"repeating": [1]}, {"all_runs": False}):
        with pytest.raises(UsageError):
            judged_document({**certificate, **more}, 30.0)
    (tmp_path / "a.c").write_text(HEAD + WRONG["an error"], encoding="utf-8")
    assert not judged_document(certificate, 30.0)["accepted"]

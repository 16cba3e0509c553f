"""Programs with arrays of variable length and heap arrays of varying size: proofs over all lengths, and violations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loopless.check.certificates.property import Property
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.queries.verification.answering import verify

START = (
    "#include <stdlib.h>\nextern int __VERIFIER_nondet_int(void);\nvoid reach_error(void) { abort(); }\n"
    "int main(void) { int n = __VERIFIER_nondet_int(); %s return 0; }\n"
)
FILL = "for (int i = 0; i < n; i++) a[i] = 3; "
TEST = "for (int i = 0; i < n; i++) if (a[i] != 3) reach_error();"
HEAP = "int *a = malloc(n * sizeof *a); "


def verdict(body: str, folder: Path, *, run: bool) -> str:
    (folder / "program.c").write_text(START % body, encoding="utf-8")
    settings = replace(Settings(), run=run, apart=False, sandboxed=False)
    return verify(load([folder / "program.c"], settings), Property.UNREACH_CALL, settings).verdict


@pytest.mark.parametrize(
    "body",
    [
        "int *a = calloc(n, sizeof *a); if (!a) return 1; for (int i = 0; i < n; i++) if (a[i]) reach_error();",
        "int a[n]; if (n <= 0) reach_error();",
        "int a[n]; if (n < 3) return 1; a[2] = n; if (a[2] != n) reach_error();",
        f"{HEAP} if (a && n < 0) reach_error();",
        pytest.param(f"int a[n]; {FILL} {TEST}", marks=pytest.mark.slow),
        pytest.param(f"{HEAP} if (!a) return 1; {FILL} {TEST}", marks=pytest.mark.slow),
    ],
)
def test_what_holds_is_proved(body: str, tmp_path) -> None:
    assert verdict(body, tmp_path, run=False) == "true"


@pytest.mark.parametrize(
    "body",
    [
        "if (n <= 0) reach_error(); int a[n]; a[0] = 1;",
        "char b[2]; if (n > 9) { *(int *)b = 4; for (int i = 0; i < n; i++) if (((int *)b)[i] == n) return 1; } if (n == 3) reach_error();",
        pytest.param(f"{HEAP} if (!a) {{ if (n < 0) reach_error(); return 1; }} {FILL} {TEST}", marks=pytest.mark.slow),
        pytest.param(f"{HEAP} if (!a) return 1; {FILL} {TEST} if (n == 0) reach_error();", marks=pytest.mark.slow),
        pytest.param(f"int a[n]; {FILL} a[n - 1] = 4; {TEST}", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_what_does_not_hold_is_not_proved(body: str, tmp_path) -> None:
    assert verdict(body, tmp_path, run=True) == "false"

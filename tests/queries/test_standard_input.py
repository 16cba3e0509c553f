"""Programs that read standard input: what is reached is seen natively with the bytes, what is not is not seen so."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from loopless.check.certificates.property import Property
from loopless.check.oracle.standard_input import laid_out
from loopless.queries.program import load
from loopless.queries.reach.answering import reach
from loopless.queries.reach.hang import hang
from loopless.queries.settings import Settings
from loopless.queries.verification.answering import verify
from loopless.source.compile import SourceOptions, compile_ir
from loopless.source.standard_input import followed, is_followed, with_inputs
from loopless.source.targets import SourceTarget

_HEAD = "#include <stdio.h>\n#include <stdlib.h>\nvoid reach_error(void);\n"
_ERROR = "#include <unistd.h>\nvoid reach_error(void) { _exit(77); }\n"
_SETTINGS = replace(Settings(), sandboxed=False)

PASSWORD = """
int main(void) {
  const char *word = "open";
  int i = 0, c;
  while ((c = getchar()) != EOF && c != '\\n')
    if (i < 4 && c == word[i]) i++; else i = 5;
  if (i == 4 && c == '\\n') reach_error();
}
"""
MENU = """
int main(void) {
  int state = 0;
  for (int i = 0; i < 6; i++) {
    int c = fgetc(stdin);
    if (c == 'q') return 0;
    if (state == 0 && c == 'a') state = 1;
    else if (state == 1 && c == 'b') state = 2;
    else if (state == 2 && c == EOF) reach_error();
    else state = 0;
  }
}
"""
NUMBER_THEN_BYTE = """
int main(void) {
  int x = 0;
  if (scanf("%d", &x) == 1 && x == 42 && getchar() == '!') reach_error();
}
"""
TWO_NUMBERS = """
int main(void) {
  int x = 0; unsigned y = 0;
  if (scanf("%d %u", &x, &y) == 2 && x == -7 && y == 4000000000u && getchar() == EOF) reach_error();
}
"""
LEFT_BYTE = """
int main(void) {
  int x = 0;
  if (scanf("%d", &x) == 0 && scanf("%d", &x) == 0 && getchar() == 'k') reach_error();
}
"""
LINE = """
#include <string.h>
int main(void) { char b[8]; if (fgets(b, 8, stdin) && strcmp(b, "ab\\n") == 0) reach_error(); }
"""
WORD = 'int main(void) { char b[10]; if (scanf("%9s", b) == 1 && b[0] == 97 && b[1] == 0) reach_error(); }'
SUM = """
int main(void) {
  int s = 0, x;
  while (scanf("%d", &x) == 1) { if (x < 0 || x > 100) return 0; s += x; if (s == 250) reach_error(); }
}
"""
DESCRIPTOR = """
#include <unistd.h>
int main(void) { char b[3]; if (read(0, b, 3) == 3 && b[0] == 'x' && b[2] == 'z' && read(0, b, 1) == 0) reach_error(); }
"""
CONVERSIONS = """
int main(void) {
  int x, y;
  if (scanf("%d,%2d", &x, &y) == 2 && x == 1234 && y > 40 && getchar() == '7') reach_error();
}
"""
PUT_BACK = """
int main(void) {
  int c = getchar();
  if (c != 'k' || ungetc(c, stdin) != c) return 1;
  if (getchar() == 'k' && getchar() == EOF && feof(stdin)) reach_error();
}
"""
REACHED = {
    "conversions": CONVERSIONS,
    "put back": PUT_BACK,
    "line": LINE,
    "word": WORD,
    "sum": SUM,
    "descriptor": DESCRIPTOR,
    "password": PASSWORD,
    "menu": MENU,
    "number": NUMBER_THEN_BYTE,
    "numbers": TWO_NUMBERS,
    "left byte": LEFT_BYTE,
}
NEVER = {
    "ended": "int main(void) { while (getchar() != EOF); if (getchar() != EOF) reach_error(); }",
    "a byte": "int main(void) { int c = getchar(); if (c < -1 || c > 255) reach_error(); }",
    "a digit behind a number": """
int main(void) { int x, c; if (scanf("%d", &x) == 1) { c = getchar(); if (c >= '0' && c <= '9') reach_error(); } }
""",
    "a number of a width": 'int main(void) { int x; if (scanf("%2d", &x) == 1 && (x > 99 || x < -9)) reach_error(); }',
    "another literal": 'int main(void) { char c; if (scanf("x%c", &c) == 0 && getchar() == 120) reach_error(); }',
    "what is put back": "int main(void) { if (ungetc('a', stdin) == 'a' && getchar() != 'a') reach_error(); }",
    "a letter stays": """
int main(void) { int x, y; if (scanf("%d", &x) == 0 && (y = getchar()) == 'a' && y != 'a') reach_error(); }
""",
}


def _compiled(text: str, folder: Path) -> Path:
    (folder / "p.c").write_text(_HEAD + text)
    (folder / "e.c").write_text(_ERROR)
    compiler = ["cc"] if shutil.which("cc") else [sys.executable, "-m", "ziglang", "cc"]
    subprocess.run([*compiler, "-w", "p.c", "e.c", "-o", "p"], cwd=folder, check=True)
    return folder / "p"


def _gets_there(program: Path, given: bytes) -> bool:
    return subprocess.run([program], input=given, capture_output=True, check=False, timeout=20).returncode == 77


@pytest.mark.parametrize("name", REACHED)
def test_bytes_that_lead_to_the_place_do_so_natively(name: str, tmp_path: Path) -> None:
    program = _compiled(REACHED[name], tmp_path)
    found = reach([tmp_path / "p.c"], SourceTarget(callee="reach_error"), None, _SETTINGS, seconds=30.0)
    assert found.verdict == "reached", found.reason
    assert found.inputs is not None
    assert found.inputs.stdin is not None
    assert _gets_there(program, found.inputs.stdin)
    assert not _gets_there(program, b"")


@pytest.mark.parametrize("name", NEVER)
def test_what_no_standard_input_leads_to_is_proved(name: str, tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(_HEAD + NEVER[name])
    verdict = verify(load([tmp_path / "p.c"], _SETTINGS), Property.UNREACH_CALL, _SETTINGS, seconds=30.0)
    assert verdict.verdict == "true", verdict.reason
    assert any("standard input" in one for one in verdict.assumptions)


def _random_program(draw: random.Random) -> str:
    lines = ["int main(void) {", "  int a = 0, b = 0, n = 0, c = 0;"]
    for _ in range(draw.randint(2, 4)):
        kind = draw.randrange(4)
        if kind == 0:
            lines.append("  c = getchar();")
        elif kind == 1:
            lines.append(f'  n = scanf("%d", &{draw.choice("ab")});')
        elif kind == 2:
            lines.append('  n = scanf("%d %u", &a, (unsigned *)&b);')
        else:
            lines.append('  { char d = 1; n = scanf(" %c", &d); c = d; }')
        left = draw.choice(["n", "n", "a", "c", "a + b > 3 && c", "b"])
        test = f"{left} {draw.choice(['==', '!=', '<'])} {draw.choice([-1, 0, 1, 2, 9, 10, 32, 45, 49, 120])}"
        lines.append(f"  if ({test}) return 0;" if draw.random() < 0.6 else f"  if (!({test})) return 0;")
    return "\n".join([*lines, "  reach_error();", "}"])


def _random_input(draw: random.Random) -> bytes:
    return "".join(
        draw.choice(["1", "9", "-", "+", " ", "\n", "x", "12", "0", "\t"]) for _ in range(draw.randint(0, 9))
    ).encode()


@pytest.mark.parametrize("seed", range(8))
def test_verdicts_of_random_programs_agree_with_native_runs(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    text = _random_program(draw)
    program = _compiled(text, tmp_path)
    verdict = verify(load([tmp_path / "p.c"], _SETTINGS), Property.UNREACH_CALL, _SETTINGS, seconds=15.0)
    if verdict.verdict == "false":
        assert _gets_there(program, verdict.stdin or b""), text
    elif verdict.verdict == "true":
        for _ in range(300):
            given = _random_input(draw)
            assert not _gets_there(program, given), (text, given)


@pytest.mark.parametrize(
    "text",
    [
        "int main(void) { FILE *f = stdin; return getc(f); }",
        "int main(void) { char b[9]; rewind(stdin); return getchar(); }",
        'int main(void) { float x; scanf("%f", &x); return getchar(); }',
        "void strange(void); int main(void) { strange(); return getchar(); }",
        "int main(void) { int (*f)(void) = getchar; return f() + getchar(); }",
        "int main(void) { clearerr(stdin); return getchar(); }",
        "long read(int, void *, unsigned long); int main(void) { char c; read(0, &c, 1); return getchar(); }",
        "char *gets(char *); int main(void) { char b[9]; gets(b); return getchar(); }",
        'int main(void) { __asm__ volatile ("nop" ::: "memory"); return getchar(); }',
        "int fgetc(FILE *f) { return f != 0; } int main(void) { return fgetc(stdin) + getchar(); }",
        "int feof(FILE *f) { return f == 0; } int main(void) { return feof(stdin) + getchar(); }",
        'int main(void) { int x; scanf("%[z-a]", (char *)&x); return getchar(); }',
        'int main(void) { int x; scanf("%d%n", &x, &x); return getchar(); }',
        "int main(void) { static char b[BUFSIZ]; setvbuf(stdin, b, _IOFBF, BUFSIZ); return getchar(); }",
        "long lseek(int, long, int); int main(void) { lseek(0, 0, 0); return getchar(); }",
    ],
)
def test_other_ways_to_read_leave_the_module(text: str) -> None:
    module = compile_ir(_HEAD + text, SourceOptions())
    assert with_inputs(module, SourceOptions()) == module


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("int main(void) { clearerr(stdin); getchar(); }", "it is given to clearerr"),
        ('int main(void) { float x; scanf("%f", &x); return getchar(); }', "'%f' in the format"),
        ("void strange(void); int main(void) { strange(); return getchar(); }", "strange has no body"),
        (
            "long read(int, void *, unsigned long); int main(void) { char c; read(0, &c, 1); getchar(); }",
            "past the buffer",
        ),
        ("long read(int, void *, unsigned long); int main(int n, char **v) { char c; read(n, &c, 1); }", "other than"),
        ("int main(void) { FILE *f = stdin; return getc(f); }", "a variable holds its stream"),
        ("int main(void) { int (*f)(void) = getchar; return f() + getchar(); }", "the address of getchar is taken"),
    ],
)
def test_the_reason_is_said(text: str, why: str) -> None:
    given = followed(compile_ir(_HEAD + text, SourceOptions()), SourceOptions())
    assert why in given.unfollowed


def test_an_answer_has_the_reason(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(_HEAD + "int main(void) { clearerr(stdin); if (getchar() == 7) reach_error(); }")
    verdict = verify(load([tmp_path / "p.c"], _SETTINGS), Property.UNREACH_CALL, _SETTINGS, seconds=5.0)
    assert verdict.verdict == "unknown"
    assert "standard input is not followed: it is given to clearerr" in verdict.reason


HANGS = {
    "end": "int main(void) { while (getchar() != '\\n'); }",
    "empty line": """
int main(void) {
  char b[8];
  while (fgets(b, 8, stdin)) {
    int i = 0;
    while (b[i] != '\\n' || i == 0) { if (b[i] == '\\n') continue; if (b[i] == 0) break; i++; }
  }
}
""",
    "number": 'int main(void) { int x = 0; while (x != 7) scanf("%d", &x); }',
}


def check_that_it_hangs(program: Path, folder: Path) -> None:
    """Bytes are found with which the compiled program goes on for ever."""
    found = hang([folder / "p.c"], None, _SETTINGS, seconds=30.0)
    assert found.verdict == "reached", found.reason
    assert found.inputs is not None
    assert found.inputs.stdin is not None
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run([program], input=found.inputs.stdin, capture_output=True, check=False, timeout=2)


@pytest.mark.parametrize("name", HANGS)
def test_bytes_with_which_a_program_never_ends(name: str, tmp_path: Path) -> None:
    text = HANGS[name]
    program = _compiled(text, tmp_path)
    check_that_it_hangs(program, tmp_path)


ROUNDS = """
int main(void) {
  char b[16];
  int x = 0;
  if (!fgets(b, sizeof b, stdin)) return 1;
  for (int i = 0; b[i] >= '0' && b[i] <= '9'; i++) x = (x * 10 + (b[i] - '0')) % 1000;
  int n = 0;
  for (; x > 1; n++) x -= 2;
  if (n > 450) reach_error();
}
"""


def test_bytes_with_which_a_loop_goes_round_too_often(tmp_path: Path) -> None:
    """The native program tells that its loop took more than 450 rounds."""
    program = _compiled(ROUNDS, tmp_path)
    found = hang([tmp_path / "p.c"], None, _SETTINGS, seconds=30.0, rounds=450)
    assert found.verdict == "reached", found.reason
    assert found.inputs is not None
    assert found.inputs.stdin is not None
    assert found.loop.endswith("main:11:3")
    assert _gets_there(program, found.inputs.stdin)


def test_a_line_bounds_the_rounds(tmp_path: Path) -> None:
    text = "int main(void) { char b[16]; int i = 0; if (fgets(b, 16, stdin)) while (i < 20 && b[0] != 'x') i++; }"
    (tmp_path / "p.c").write_text(_HEAD + text)
    assert hang([tmp_path / "p.c"], None, _SETTINGS, seconds=30.0, rounds=20).verdict == "unreachable"
    assert hang([tmp_path / "p.c"], None, _SETTINGS, seconds=30.0, rounds=19).verdict == "reached"


ENDING = {
    "lines": """
int main(void) {
  char line[32];
  int n = 0;
  while (fgets(line, sizeof line, stdin))
    for (int i = 0; line[i]; i++) if (line[i] == 'x') n = (n + 1) % 7;
  return n;
}
""",
    "bytes": "int main(void) { int c, n = 0; while ((c = getchar()) != EOF) if (c == 40) n ^= 1; return n; }",
    "numbers": 'int main(void) { int x, n = 0; while (scanf("%d", &x) == 1) n ^= x; return n; }',
    "what is no number": """
int main(void) { int x; for (;;) { int got = scanf("%3d", &x); if (got == EOF || (!got && getchar() == EOF)) return 0; } }
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDING)
def test_what_reads_until_the_end_ends(name: str, tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(_HEAD + ENDING[name])
    verdict = verify(load([tmp_path / "p.c"], _SETTINGS), Property.TERMINATION, _SETTINGS, seconds=40.0)
    assert verdict.verdict == "true", verdict.reason
    assert "standard input has an end" in verdict.assumptions
    assert verdict.certificate is not None
    assert verdict.certificate["program"]["finite_stdin"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "int main(void) { while (getchar() != '\\n'); }",
        'int main(void) { int x; while (scanf("%d", &x) != EOF); }',
        "int main(void) { int c; while ((c = getchar()) != EOF) ungetc(c, stdin); }",
    ],
)
def test_what_does_not_come_to_the_end_is_not_proved_to_end(text: str, tmp_path: Path) -> None:
    program = _compiled(text, tmp_path)
    check_that_it_hangs(program, tmp_path)
    verdict = verify(load([tmp_path / "p.c"], _SETTINGS), Property.TERMINATION, _SETTINGS, seconds=10.0)
    assert verdict.verdict != "true"


def test_a_function_that_reads_until_the_end_ends(tmp_path: Path) -> None:
    """Only of the function that reads the answer rests on the end of standard input."""
    (tmp_path / "p.c").write_text(
        _HEAD
        + """
int skip(int x) { int c, n = 0; while ((c = getchar()) != EOF) if (c == x) n ^= 1; return n; }
int plain(int x) { int n = 0; for (int i = 0; i < (x & 7); i++) n ^= i; return n; }
int main(void) { return skip(3) + plain(2); }
"""
    )
    for name, reads in (("skip", True), ("plain", False)):
        found = hang([tmp_path / "p.c"], name, _SETTINGS, seconds=30.0)
        assert found.verdict == "unreachable", found.reason
        assert ("standard input has an end" in found.assumptions) == reads


def test_lines_are_verified(tmp_path: Path) -> None:
    """A depth that is kept within bounds; without them a closing bracket goes below 0."""
    text = """
int main(void) {
  int c, depth = 0;
  while ((c = getchar()) != EOF) {
    if (c == '(' && depth < 100) depth++;
    if (c == ')' && MAY) depth--;
    if (depth < 0) reach_error();
  }
}
"""
    (tmp_path / "p.c").write_text(_HEAD + text.replace("MAY", "depth > 0"))
    verdict = verify(load([tmp_path / "p.c"], _SETTINGS), Property.UNREACH_CALL, _SETTINGS, seconds=20.0)
    assert verdict.verdict == "true", verdict.reason
    program = _compiled(text.replace("MAY", "1"), tmp_path)
    verdict = verify(load([tmp_path / "p.c"], _SETTINGS), Property.UNREACH_CALL, _SETTINGS, seconds=20.0)
    assert verdict.verdict == "false", verdict.reason
    assert _gets_there(program, verdict.stdin or b"")


def test_stubs_leave_the_module(tmp_path: Path) -> None:
    """A stub says what its function does, or reads by itself."""
    stub = tmp_path / "stub.c"
    stub.write_text("int getchar(void) { return 5; }")
    module = compile_ir(_HEAD + "int main(void) { return getchar(); }", SourceOptions())
    assert is_followed(with_inputs(module, SourceOptions()))
    assert with_inputs(module, SourceOptions(stubs=(stub,))) == module


def test_streams_other_than_stdin_are_left_alone() -> None:
    text = 'int main(void) { FILE *f = fopen("x", "r"); return f ? fgetc(f) + getchar() : 0; }'
    module = with_inputs(compile_ir(_HEAD + text, SourceOptions()), SourceOptions())
    assert is_followed(module)
    assert "@fgetc(" in module


def test_draws_are_laid_out_in_their_order() -> None:
    byte, skipped, outcome, rest, decimal = 1, 2, 3, 4, 5
    found = laid_out([outcome, 1, decimal, 12, outcome, 1, decimal, -3, byte, 33, 0, 8, outcome, 0, rest, 120])
    assert found is not None
    assert (found.stdin, found.nondet) == (b"12 -3!x", (8,))
    between = laid_out([outcome, 1, decimal, 1, skipped, 50, byte, -1])
    assert between is not None
    assert between.stdin == b"1 2"
    assert laid_out([byte, -1, byte, 65]) is None


@pytest.mark.skipif(shutil.which("cc") is None, reason="tests that are written call cc")
@pytest.mark.parametrize("name", ["password", "numbers"])
def test_written_tests_lead_to_the_place(name: str, tmp_path: Path) -> None:
    (tmp_path / "given.c").write_text(_HEAD + REACHED[name] + _ERROR)
    folder = tmp_path / "test"
    where = ["reach", "given.c", "--call", "reach_error", "--write-test", "test"]
    subprocess.run([sys.executable, "-m", "loopless", *where], cwd=tmp_path, check=True, capture_output=True)
    assert subprocess.run([sys.executable, "test.py"], cwd=folder, check=False, capture_output=True).returncode == 77
    subprocess.run(["cc", "-w", "test.c", "-o", "run"], cwd=folder, check=True)
    given = (folder / "stdin.bin").read_bytes()
    assert subprocess.run([folder / "run"], input=given, check=False, capture_output=True).returncode == 77

"""First times that stand in a case more than once get names there, and are told below it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = "int f(int n, int N, int c) { while (n > N) { n /= 10; c++; } return c; }"


def test_a_long_first_time_is_told_once(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(SOURCE)
    words = ["summarize", str(file), "--loop-timeout", "120"]
    done = subprocess.run([sys.executable, "-m", "loopless", *words], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    told = [line.split(" = ", 1) for line in lines if line.startswith("    where ")]
    assert told
    for name, meaning in told:
        assert name.removeprefix("    where ") != "N", "a variable has this name"
        assert meaning.startswith("least(")
    for at, line in enumerate(lines):
        if line.startswith("    M iterations"):
            below = lines[at:]
            assert any(other.startswith("    where M = least(") for other in below)
            assert "least(" not in line


CAPTURES = """
int pointer(const int *k, int n) { int i = 0; while (i < n && k[i]) i++; return i; }
int two(const int *k, const int *k1, int n) {
  int c = 0;
  for (int i = 0; i < n; i++) if (k[i] > k1[i]) c += 3; else c += k1[i] & 7;
  return c;
}
unsigned folded(const unsigned *v, const unsigned *v1, int first, unsigned F, int k) {
  unsigned h = F, g = 0;
  for (int i = 0; i < first; i++) { h = h * 3 + v[i]; g = g * h + v1[i] + k; }
  return h + g;
}
int found(const int *N, int n) { int i = 0; while (i < n && N[i]) i++; return i; }
struct s { int N; };
int member(const int *M, struct s *N, int n) { int i = 0; while (i < n && M[i] && M[i] != N->N) i++; return i + N->N; }
int root(long long m, int k) { int i = 0; while ((long long)i * i < m + k) i++; return i; }
int counted(const int *k, int n, int N) { int i = 0, s = 0; while (i < n && k[i] != N) { s += k[i] > 5; i++; } return i + s; }
"""
_BINDS = re.compile(
    r"\b(?:FIRST|first|earliest|last|sum|count|least|greatest|fold|all|some)_?\((?:[^():]*; )?(\w+)(?: <|:)"
    r"|\bfold\((\w+) = |\bwhere (\w+) = |^ *([A-Z]\d*)\(\w+\) = ",
    re.MULTILINE,
)


_FUNCTION = re.compile(r"^(?:int|unsigned) (\w+)\(.*?(?=^int|^unsigned|^struct|\Z)", re.DOTALL | re.MULTILINE)


def _answers(shown: str, *, json_asked: bool) -> Iterator[tuple[str, str]]:
    """What is said, by function."""
    if json_asked:
        yield from ((loop["function"], json.dumps(loop)) for loop in json.loads(shown)["loops"])
        return
    for part in shown.split("\n\n"):
        head = re.match(r"(?:\S+/a\.c:)?(\w+)", part)
        assert head is not None
        yield head[1], part


@pytest.mark.parametrize(
    "words", [["summarize"], ["summarize", "--whole"], ["bound"], ["summarize", "--format", "json"]], ids=" ".join
)
def test_no_bound_name_is_one_of_the_function(tmp_path: Path, words: list[str]) -> None:
    file = tmp_path / "a.c"
    file.write_text(CAPTURES)
    own = {found[1]: set(re.findall(r"[A-Za-z_]\w*", found[0])) for found in _FUNCTION.finditer(CAPTURES)}
    assert len(own) == 7
    command = [sys.executable, "-m", "loopless", *words, str(file), "--loop-timeout", "60"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    told = set()
    for function, shown in _answers(done.stdout, json_asked="json" in words):
        bound = {name for match in _BINDS.finditer(shown) for name in match.groups() if name}
        told |= {function} if bound else set()
        assert own[function].isdisjoint(bound), shown
    assert told >= {"pointer", "folded", "found", "member", "counted"} - ({"folded"} if words == ["bound"] else set())

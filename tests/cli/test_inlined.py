"""Commands about loops and lines of functions that compilers inline."""

from __future__ import annotations

import shutil
import subprocess

import pytest

HEADER = """inline int helper(int n) {
  int s = 0;
  for (int i = 0; i < n; i += 5)
    s++;
  if (s == 11)
    s = 12;
  return s;
}
"""
TEXT = """#include "h.h"
#define ALWAYS static inline __attribute__((always_inline))
extern int __VERIFIER_nondet_int(void);
ALWAYS int count(int n) {
  int c = 0;
  while (n > 0) {
    n -= 3;
    c++;
    if (c == 7)
      c += 100;
  }
  return c;
}
ALWAYS unsigned spin(unsigned n) {
  while (n != 0)
    n -= 2;
  return n;
}
ALWAYS int twice(int n) {
  return count(n) + count(4) + helper(n);
}
int entry(int n) {
  return twice(n) + spin(2 * (unsigned)n);
}
int main(void) {
  int n = __VERIFIER_nondet_int();
  return n > 100 ? 0 : twice(n) > 50;
}
"""
NAMES = ["a.c:count:6:3", "a.c:spin:15:3", "h.h:helper:3:3"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inlined")
    (folder / "h.h").write_text(HEADER)
    (folder / "a.c").write_text(TEXT)
    return folder


@pytest.mark.slow
def test_all_listings_have_the_loops_by_their_names(answer, folder):
    for command in "loops", "classify", "summarize", "bound":
        status, document = answer(command, "a.c", "--loop-timeout", 1, cwd=folder)
        assert status in {0, 3}
        assert [loop["name"] for loop in document["loops"]] == NAMES


@pytest.mark.slow
def test_the_rule_counts_them(run, folder):
    """spin steps over 0 where n is odd; main does not come to it."""
    done = run("verify", "a.c", "--rule", "bounded-loops", cwd=folder)
    assert done.stdout.startswith("true: 2 of 3 loops have a bound\n")
    assert "a.c:spin:15:3: " in done.stdout
    (folder / "b.c").write_text(TEXT.replace("twice(n) > 50", "spin(n) > 50"))
    done = run("verify", "b.c", "--rule", "bounded-loops", cwd=folder)
    assert done.stdout.startswith("false(bounded-loops): 2 of 3 loops have a bound\n")
    assert "b.c:spin:15:3: " in done.stdout


def test_calls_and_counts_of_them(answer, run, folder):
    """ceil(10 / 3) iterations of one call of count, and 2 of the other; 2 of helper."""
    assert run("eval", "a.c", "count", "10", cwd=folder).stdout.startswith(
        "returns 4\n  4 iterations of a.c:count:6:3\n"
    )
    _, document = answer("bound", "a.c", "--function", "count", "--at", "n=10", cwd=folder)
    assert [loop["value"] for loop in document["loops"]] == [4]
    done = run("eval", "a.c", "twice", "10", cwd=folder)
    assert done.stdout.startswith("returns 8")
    assert "6 iterations of a.c:count:6:3" in done.stdout
    assert "2 iterations of h.h:helper:3:3" in done.stdout


@pytest.mark.parametrize(("line", "statement"), [("a.c:10", "c += 100;"), ("h.h:6", "s = 12;")])
def test_lines_in_them_are_reached_by_tests_that_compile(answer, folder, tmp_path, line, statement):
    """The test runs in a program that ends with 77 at the line. Its inline functions are plain ones: gcc would not link
    an inline definition.
    """
    tests = folder / line.replace(":", "-")
    status, document = answer("reach", "a.c", "--line", line, "--write-test", tests, cwd=folder)
    assert (status, document["verdict"]) == (0, "reached")
    if shutil.which("gcc") is None:
        return
    for name, text in ("h.h", HEADER), ("a.c", "void _Exit(int);\n" + TEXT):
        (tmp_path / name).write_text(text.replace(statement, "_Exit(77);"))
    (tmp_path / "tests").mkdir()
    shutil.copy(tests / "test.c", tmp_path / "tests")
    plain = ["-Dinline=", "-Dalways_inline=unused", "-w"]
    subprocess.run(["gcc", *plain, "test.c", "-o", "test"], cwd=tmp_path / "tests", check=True)
    assert subprocess.run([tmp_path / "tests" / "test"], check=False).returncode == 77

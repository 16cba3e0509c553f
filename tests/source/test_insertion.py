"""Statements put into C text change nothing else that it does."""

from __future__ import annotations

import subprocess
import sys

import pytest

from loopless.errors import UsageError
from loopless.source.insertion import inserted

MARK = b"{ mark(); }"
"""What is put in, in these tests."""


def put(text, number):
    return inserted(text.encode(), number, MARK, f"a.c:{number}").decode()


@pytest.mark.parametrize(
    ("text", "number", "expected"),
    [
        ("f();\ng();\n", 2, "f();\n{ mark(); } g();\n"),
        ("f();\n}\n", 2, "f();\n{ mark(); } }\n"),
        ("if (x)\n  f();\ng();\n", 2, "if (x)\n{ { mark(); }   f(); }\ng();\n"),
        ("if (x)\n  f();\ng();\n", 3, "if (x)\n  f();\n{ mark(); } g();\n"),
        ("else // if (y) {\n  return x; g();\n", 2, "else // if (y) {\n{ { mark(); }   return x; } g();\n"),
        ("if (x) /* ;\n*/\n  f(1,\n  ';', \";\");\n", 3, "if (x) /* ;\n*/\n{ { mark(); }   f(1,\n  ';', \";\"); }\n"),
        ("do\n  f();\nwhile (x);\n", 2, "do\n{ { mark(); }   f(); }\nwhile (x);\n"),
        ("if (x)\n#if 1\n  f();\n#endif\n", 3, "if (x)\n#if 1\n{ { mark(); }   f(); }\n#endif\n"),
        ("case 1:\n  f();\n", 2, "case 1:\n{ mark(); }   f();\n"),
        ("while (x) {\n  if (y) f();\n}\n", 2, "while (x) {\n{ mark(); }   if (y) f();\n}\n"),
        ("if (x)\n  a = (struct s){ .b = 1; };\n", 2, "if (x)\n{ { mark(); }   a = (struct s){ .b = 1; }; }\n"),
    ],
)
def test_where_it_goes(text, number, expected):
    assert put(text, number) == expected


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("if (x)\n  if (y) f();\n", 2),
        ("for (;;)\n  while (x) f();\n", 2),
        ("if (x)\n  { f(); g(); }\n", 2),
        ("if (x)\n  int y = 3;\n", 2),
        ("if (x)\n  a: f();\n", 2),
        ("if (x)\n  case 1: f();\n", 2),
        ("if (x)\n  ;\n", 2),
        ("/* f();\ng(); */\n", 2),
        ("#define F \\\nf();\n", 2),
    ],
)
def test_where_it_cannot_go(text, number):
    with pytest.raises(UsageError, match=r"a\.c:2"):
        put(text, number)


PROGRAM = """#include <stdio.h>
static int marks;
static void mark(void) { marks++; }
static int f(int x) {
  int s = 0;
  for (int i = 0; i < x; i++)
    if (i % 2)
      s += i;
    else
      s -= 1;
  do
    s++;
  while (s < 20 && x > 3);
  switch (x) {
    case 1:
      s = 7;
      break;
    default:
      if (x == 2) return s;
      else
        return s + 1;
  }
  return s;
}
int main(void) {
  for (int x = 0; x < 6; x++) printf("%d ", f(x));
  mark(), marks--;
  return 0;
}
"""
WHERE = [5, 6, 8, 10, 11, 12, 14, 16, 17, 19, 21, 23, 25]
"""The lines of PROGRAM that begin with a statement, and no larger one that is a body."""


def test_programs_do_what_they_did(tmp_path):
    shown = set()
    for number in (None, *WHERE):
        file = tmp_path / f"p{number}.c"
        file.write_text(PROGRAM if number is None else put(PROGRAM, number), encoding="utf-8")
        command = [sys.executable, "-m", "ziglang", "cc", "-O0", file.name, "-o", f"p{number}"]
        if number in (None, 10, 21):
            subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
            shown.add(subprocess.run([tmp_path / f"p{number}"], capture_output=True, text=True, check=True).stdout)
    assert len(shown) == 1

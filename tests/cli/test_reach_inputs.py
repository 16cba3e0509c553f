"""``loopless reach``: arguments of all kinds, in the answer and in the tests that are written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from reach_asked import asking

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "src" / "loopless" / "report" / "schema.json").read_text(encoding="utf-8"))
HEAD = "extern int puts(const char *);\n"


@pytest.fixture
def asked(capsys, tmp_path):
    return asking(capsys, tmp_path, SCHEMA)


KINDS = {
    "a structure in one register": """struct point { int x, y; };
int f(struct point p) { if (p.x == 70001 && p.y == -3)
    return puts("there");
  return 0; }
""",
    "a structure in memory, an array in it": """struct big { long a, b, c; char t[8]; };
int f(struct big p, int k) { if (p.t[k] == 'q' && p.c == 99)
    return puts("there");
  return 0; }
""",
    "a structure that is written and returned": """struct pair { int a, b; };
struct pair f(struct pair s, int n) { if (s.a == 1234 && n == 77)
    s.b = puts("there");
  s.a++; return s; }
""",
    "a structure with a pointer to a list": """struct l { struct l *next; int v; }; struct q { struct l *head; int n; };
int f(struct q q) { int c = 0; for (struct l *p = q.head; p; p = p->next) c++; if (c == 3 && q.n == 17)
    return puts("there");
  return 0; }
""",
    "a union in a structure without a name": """typedef struct { unsigned char kind; union { int i; short h[2]; } u; } V;
int f(V v) { if (v.kind == 3 && v.u.i == 70000)
    return puts("there");
  return 0; }
""",
    "a number on which nothing depends": """int f(double d, float e, int n) { if (n == 40001)
    return puts("there");
  return d > e; }
""",
    "a number next to a constant": """int f(double d, int n) { if (n == 1201 && d > 3.75 && d < 3.7500001)
    return puts("there");
  return 0; }
""",
    "numbers in structures and registers": """struct v { float x, y; int n; };
int f(struct v a, float z) { if (a.n == 5 && z == 1.25f && a.y == 1.25f)
    return puts("there");
  return 0; }
""",
    "rows and columns": """int f(int m[][4], int n) { if (n == 3 && m[2][3] == 77 && m[0][1] == 5)
    return puts("there");
  return 0; }
""",
    "pointers to characters": """int f(char **names, int n) { if (n == 2 && names[1][0] == 'k' && names[0][3] == 'z')
    return puts("there");
  return 0; }
""",
    "structures in structures": """struct in { int *v; int n; }; struct s { struct in *in; char *name; };
int f(struct s *s) { if (s->in->n == 3 && s->in->v[2] == 17 && s->name[0] == 'q')
    return puts("there");
  return 0; }
""",
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.slow
def test_what_is_found_is_written_and_gets_there(name, asked, tmp_path):
    text = HEAD + KINDS[name]
    line = 1 + next(number for number, one in enumerate(text.splitlines()) if '"there"' in one)
    status, found, said = asked(text, "--line", line, "--write-test", tmp_path / "tests")
    assert (status, found["verdict"], said) == (0, "reached", ""), found["reason"]
    folder = tmp_path / "tests"
    subprocess.run(["cc", "-w", "test.c", "-o", "test"], cwd=folder, check=True)
    for command in (["./test"], [sys.executable, "test.py"]):
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        assert "there" in ran.stdout.splitlines()


def test_a_structure_itself_is_told_by_its_fields(asked):
    _, found, _ = asked(HEAD + KINDS["a structure in one register"], "--line", 4)
    (given,) = found["inputs"]["arguments"]
    assert (given["name"], given["type"], given["by_value"], given["value"]) == ("p", "struct point", True, None)
    assert [(one["name"], one["offset"], one["value"]) for one in given["memory"]["fields"]] == [
        ("p.x", 0, 70001),
        ("p.y", 4, -3),
    ]
    _, text, _ = asked(HEAD + KINDS["a structure in one register"], "--line", 4, form="text")
    assert "p: p.x = 70001, p.y = -3" in text


def test_a_number_is_told_as_c_writes_it(asked):
    _, found, _ = asked(HEAD + KINDS["a number next to a constant"], "--line", 3)
    given, n = found["inputs"]["arguments"]
    assert (given["type"], n["value"], 3.75 < given["value"] < 3.7500001) == ("double", 1201, True)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("int f(long double x, int n) {\n if (n == 1234)\n  return 1;\n return 0; }\n", "x is long double"),
        ("int f(double x) {\n if (x * x - 2 * x == 1234.5)\n  return 1;\n return 0; }\n", "tried for x gets there"),
    ],
)
@pytest.mark.slow
def test_what_cannot_be_given_is_named(text, reason, asked):
    status, found, _ = asked(text, "--line", 3, "--timeout", 16)
    assert (status, found["verdict"]) == (3, "unknown")
    assert reason in found["reason"]


def test_no_test_gives_a_structure_whose_type_has_no_name(asked, tmp_path):
    text = "int f(union { int i; char c[4]; } u) {\n if (u.c[1] == 9)\n  return 1;\n return 0; }\n"
    _, found, said = asked(text, "--line", 3, "--write-test", tmp_path / "tests")
    assert found["verdict"] == "reached"
    assert "the type of u has no name" in said


PAIRS = """int f(const int *a, const int *b, int n) {
    int equal = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (a[i] == b[j])
                equal++;
    if (equal == 120)
        return 1;
    return 0;
}
"""


@pytest.mark.slow
def test_a_beginning_is_found_behind_many_that_fail_at_once(asked):
    """120 equal pairs need 11 rows at least, so the smallest values to begin with are none."""
    _, found, _ = asked(PAIRS, "--line", 8, "--timeout", 60)
    assert found["verdict"] == "reached"
    a, b, n = found["inputs"]["arguments"]
    first, second = ([run["value"] for run in one["elements"] for _ in range(run["count"])] for one in (a, b))
    assert sum(x == y for x in first[: n["value"]] for y in second[: n["value"]]) == 120

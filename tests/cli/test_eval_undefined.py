"""What ``loopless eval`` says of small programs that do what C does not define, and of others that do almost the same.

The kinds follow the standard (C11 6.5.6p8, 6.5.7p4, 6.7.3p6, 7.24.2.1); the values are worked out by hand.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopless.queries.evaluation import calls as calls_module
from loopless.queries.evaluation.calls import Calls
from loopless.queries.program import load
from loopless.queries.settings import Settings

PROGRAM = """void *memcpy(void *, const void *, unsigned long);
void exit(int);
_Bool truth(int n) { _Bool b; *(char *)&b = n; int k = 0; while (b) { k++; b = 0; } return k; }
int constant(int n) { static const int T[2] = {1, 2}; int *p = (int *)T; int k = 0; if (n > 9) p[0] = 9;
    while (k < T[0] && k < n) k++; return k; }
int literal(int n) { char *s = "abc"; int k = 0; if (n > 3) s[1] = 'x'; while (k < n && s[k]) k++; return k; }
static void leave(int n) { if (n > 5) exit(1); if (n > 0) leave(n + 1); }
int leaves(int n) { int k = 0; for (int i = 0; i < n; i++) { leave(i); k++; } return k; }
int overlap(int n) { char b[10] = "abcdefghi"; for (int i = 0; i < 4; i++) memcpy(b, b + n, 8 - n); return b[0]; }
int past(unsigned n) { int k = 0; char b[10]; for (char *p = b; p < b + n; p++) k++; return k; }
int beyond(int n) { int x[3]; int *e = x + 3; int k = 0; for (int *p = x; p < e; p += n) k++; return k; }
int shifted(int n) { int x = 1; for (int i = 0; i < n; i++) x = x << 1; return x; }
int doubled(int x) { int k = 0; while (x > 0) { x <<= 1; k++; } return k; }
int scope(int n) { int *p; int z = 0; p = &z; if (n > 3) { int y = n; p = &y; } int k = 0;
    while (*p > 0) { (*p)--; k++; } return k; }
static int *dangling(int n) { int z = n; return &z; }
int frame(int n) { int k = 0, z = 2; int *p = n > 3 ? dangling(n) : &z; while (*p > 0 && k < 9) { (*p)--; k++; } return k; }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    file = tmp_path_factory.mktemp("undefined") / "a.c"
    file.write_text(PROGRAM, encoding="utf-8")
    return load([file], Settings())


@pytest.mark.parametrize("steps", [calls_module.QUICK_STEPS, 0], ids=["interpreted", "summarized"])
@pytest.mark.parametrize(
    ("function", "defined", "value", "other", "status", "line"),
    [
        pytest.param("truth", 1, 1, 2, "undefined", 3, id="a _Bool that holds 2"),
        pytest.param("constant", 9, 1, 10, "undefined", 4, id="a write to a constant"),
        pytest.param("literal", 3, 3, 4, "undefined", 6, id="a write to a string literal"),
        pytest.param("leaves", 1, 1, 2, "aborted", 7, id="a callee that ends the program"),
        pytest.param("overlap", 0, ord("a"), 1, "undefined", 9, id="memcpy of what overlaps"),
        pytest.param("past", 10, 10, 11, "undefined", 10, id="an address past the end of an array"),
        pytest.param("beyond", 3, 1, 2, "undefined", 11, id="an address two elements past the end"),
        pytest.param("shifted", 30, 2**30, 31, "undefined", 12, id="1 << 31"),
        pytest.param("doubled", 0, 0, 4, "undefined", 13, id="a left shift that does not fit"),
        pytest.param("scope", 3, 0, 4, "undefined", 15, id="a pointer to an object of a block that was left"),
        pytest.param("frame", 3, 2, 4, "undefined", 17, id="a pointer to an object of a function that returned"),
    ],
)
def test_where_a_call_ends(program, monkeypatch, steps, function, defined, value, other, status, line):
    monkeypatch.setattr(calls_module, "QUICK_STEPS", steps)
    calls = Calls(program[function], replace(Settings(), sandboxed=False))
    found = calls.run([defined])
    assert (found.status, found.return_value) == ("ok", value)
    ended = calls.run([other])
    assert (ended.status, ended.place.rpartition(":")[2]) == (status, str(line))

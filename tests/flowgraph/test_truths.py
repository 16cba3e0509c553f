"""Which bytes that are read as a ``_Bool`` surely hold 0 or 1; and what a run does where one does not."""

from __future__ import annotations

import pytest

from loopless.flowgraph.memory.objects import Options, describe_memory
from loopless.flowgraph.memory.truths import truths_of
from loopless.flowgraph.model import Load
from loopless.flowgraph.uses import find_uses
from loopless.flowgraph.values import FLAG_TYPE
from runs_of_text import came_out, flowgraph, module, statements

LIBRARY = """
typedef unsigned char byte;
void *memset(void *, int, unsigned long), *memcpy(void *, const void *, unsigned long);
unsigned long fread(void *, unsigned long, unsigned long, void *);
void stranger(void *);
int puts(const char *);
struct s { int n; _Bool b; byte c; };
_Bool flags[8];
static const _Bool yes[4] = {1, 0, 1, 1};
static const byte bytes[4] = {1, 2, 3, 4};
struct s whole;
union either { _Bool b; byte c; };
"""


def surely(body: str, parameters: str = "int n, int i, byte c") -> list[bool]:
    """For each read of a ``_Bool``, in order, whether it surely holds 0 or 1."""
    found = module(f"{LIBRARY}int f({parameters}) {{ {body} }}")
    function = found.functions["f"]
    truths = truths_of(describe_memory(function, found, Options()))
    loads = find_uses(function).truths
    reads = [i for i in function.instructions() if i.op == "load" and i.result in loads]
    return [truths.surely(i.operands[0]) for i in reads]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # What is stored: 0, 1 and what was a truth value before.
        ("_Bool a[8]; a[i] = n; return a[i];", [True]),
        ("_Bool a[8]; a[i] = n > 3; a[n] = 1; a[0] = 0; return a[i];", [True]),
        ("_Bool a[8]; ((byte *)a)[i] = c; return a[n];", [False]),
        ("_Bool a[8]; ((byte *)a)[i] = 2; return a[n];", [False]),
        ("_Bool a[8]; ((byte *)a)[i] = 1; return a[n];", [True]),
        # Where: other places, other objects, steps of several bytes.
        ("_Bool a[8], b[8]; ((byte *)b)[i] = c; return a[n];", [True]),
        ("_Bool a[8]; ((byte *)a)[3] = c; return a[2];", [True]),
        ("_Bool a[8]; ((byte *)a)[3] = c; return a[4] + a[3];", [True, False]),
        ("_Bool a[8]; *(short *)((byte *)a + 4) = n; return a[6];", [True]),
        ("struct s t[4]; t[i].c = c; t[n].b = 1; return t[i].b;", [True]),
        ("struct s t[4]; ((byte *)&t[i].b)[0] = c; return t[n].b;", [False]),
        ("struct s t[4]; ((byte *)t)[i] = c; return t[n].b;", [False]),
        ("byte a[8]; a[i] = c; return *(_Bool *)&a[n];", [False]),
        # Blocks.
        ("_Bool a[8]; memset(a, 0, 8); return a[i];", [True]),
        ("_Bool a[8]; memset(a, 1, 8); return a[i];", [True]),
        ("_Bool a[8]; memset(a, 2, 8); return a[i];", [False]),
        ("_Bool a[8]; memset(a, n, 8); return a[i];", [False]),
        ("_Bool a[8]; memset(a, 2, 4); return a[2] + a[5];", [False, True]),
        ("_Bool a[8]; memset(a, 2, n); return a[5];", [False]),
        ("_Bool a[8]; memcpy(a, flags, 8); return a[i];", [True]),
        ("_Bool a[4]; memcpy(a, yes, 4); return a[i];", [True]),
        ("_Bool a[4]; memcpy(a, bytes, 4); return a[i];", [False]),
        ("_Bool a[4] = {1, 0, 1}; return a[i];", [True]),
        ("_Bool a[4], b[4]; byte d[4]; memcpy(b, d, 4); memcpy(a, b, 4); return a[i];", [False]),
        ("_Bool a[4], b[4]; memcpy(b, flags, 4); memcpy(a, b, 4); return a[i];", [True]),
        ("struct s t = whole; return (&t)[i].b;", [True]),
        # Others.
        ("_Bool a[8]; fread(a, 1, 8, 0); return a[i];", [False]),
        ('_Bool a[8]; a[n] = 1; puts("x"); return a[i];', [True]),
        ("_Bool a[8]; stranger(a); return a[i];", [True]),  # what it leaves behind is taken to be of the type
        ("return flags[i];", [True]),
        ("flags[n] = c; return flags[i];", [True]),
        ("((byte *)flags)[n] = c; return flags[i];", [False]),
        ("union { _Bool b; byte c; } u; u.c = c; return u.b;", [False]),
        ("union { _Bool b[4]; byte c; } u; u.b[n] = 1; return u.b[i];", [True]),
    ],
)
def test_of_locals_and_globals(body: str, expected: list[bool]) -> None:
    assert surely(body) == expected


@pytest.mark.parametrize(
    ("parameters", "body", "expected"),
    [
        ("_Bool *p, int i", "return p[i];", True),
        ("_Bool *p, int i", "p[0] = i; return p[i];", True),
        ("_Bool *p, byte *q, int i", "q[0] = i; return p[i];", True),  # they do not overlap
        ("_Bool *p, int i", "((byte *)p)[1] = i; return p[i];", False),
        ("_Bool *p, int *q, int i", "q[0] = i; return p[i];", True),
        ("byte *p, int i", "return *(_Bool *)&p[i];", False),
        ("union either *p, int i", "return p[i].b;", False),
        ("_Bool **p, int *q, int i", "q[0] = i; return p[0][i];", True),  # no int is written where a _Bool is declared
        ("_Bool **p, byte *q, int i", "q[0] = i; return p[0][i];", False),
        ("_Bool **p, byte **q, int i", "q[0][0] = i; return p[0][i];", False),
        ("_Bool **p, int **q, int i", "q[0][0] = i; return p[0][i];", True),
        ("_Bool *p, byte **q, int i", "q[0][0] = i; return p[i];", False),
        ("struct s *p, int i", "return p[i].b;", True),
        ("struct s *p, int i", "p[i].n = i; return p[i].b;", True),
        ("struct s *p, int i", "p[i].c = i; return p[i].b;", False),  # places behind pointers are not told apart
    ],
)
def test_behind_pointers(parameters: str, body: str, expected: bool) -> None:
    assert surely(body, parameters) == [expected]


@pytest.mark.parametrize(("body", "sure"), [("a[i] = n;", True), ("((byte *)a)[i] = n;", False)])
def test_what_is_sure_is_read_as_one_bit(body: str, sure: bool) -> None:
    text = f"{LIBRARY}int f(int n, int i) {{ _Bool a[8] = {{0}}; {body} return a[i]; }}"
    (load,) = statements(flowgraph(text), Load)
    assert (load.type == FLAG_TYPE) == (load.target.type == FLAG_TYPE) == sure
    runs = [came_out(text, n, i) for n, i in ((0, 3), (1, 7), (2, 0), (256, 1))]
    assert runs == ([0, 1, 1, 1] if sure else [0, 1, "undefined: invalid bool", 0])


TRUTHS_IN_MEMORY = """
define i8 @f(ptr %p, i8 %n, i64 %at) {
  %c = icmp sgt i8 %n, 3
  %slot = getelementptr inbounds i8, ptr %p, i64 %at
  store i1 %c, ptr %slot
  %read = load i1, ptr %p
  %r = select i1 %read, i8 1, i8 0
  ret i8 %r
}
"""


@pytest.mark.parametrize(
    ("content", "n", "at", "expected"),
    [
        (b"\7\0", 4, 0, 1),
        (b"\7\0", 3, 0, 0),
        (b"\1\0", 3, 1, 1),
        (b"\0\0", 4, 1, 0),
        (b"\2\0", 4, 1, "undefined: invalid bool"),
    ],
)
def test_truth_values_of_assembly_take_a_byte(content: bytes, n: int, at: int, expected: int | str) -> None:
    assert came_out(TRUTHS_IN_MEMORY, content, n, at) == expected

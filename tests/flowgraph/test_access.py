"""Loads, stores and address computations: what C11 says of each small program, found by running its flowgraph, and
natively; and which statements stand for them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loopless.check.oracle.native import NativeOracle
from loopless.flowgraph import Options
from loopless.flowgraph.model import Allocate, Check, Havoc, Load, Origin, Store
from loopless.refusals import Reason
from loopless.terms import const
from runs_of_text import came_out, ends, flowgraph, statements

pytestmark = pytest.mark.slow  # run natively

BOUNDS, OUTSIDE, NULL, CONSTANT, BOOL, LENGTH = (
    f"undefined: {kind}"
    for kind in ("bounds", "pointer overflow", "null pointer", "const write", "invalid bool", "array length")
)
PROGRAMS = r"""
struct pair { short a; int b; };
struct link { struct link *next; int value; };
static const int table[3] = {40, 50, 60};
static const short spread = 0x0102;
int word = 9;
int at(int i) { int a[4] = {10, 11, 12, 13}; return a[i]; }
int put(int i) { int a[4] = {0}; a[i] = 7; return a[0] + 10 * a[3]; }
long behind(int i) { int a[4]; int *p = a + i; return p - a; }
int at_behind(int i) { int a[4] = {0}; int *p = a + i; return *p; }
int byte(int x, int i) { return ((unsigned char *)&x)[i]; }
int low_byte(int v) { union { int whole; unsigned char part[4]; } u; u.whole = v; u.part[0] = 1; return u.whole; }
int high_half(int v) { union { int whole; short part[2]; } u; u.whole = v; return u.part[1]; }
int joined(int v) { unsigned char b[4]; for (int i = 0; i < 4; i++) b[i] = v + i; return *(int *)b; }
int straddling(int v) { char b[8] = {0}; *(int *)(b + 2) = v; return b[2] + b[5] + b[6]; }
int too_wide(int i) { char b[6] = {1, 2, 3, 4, 5, 6}; return *(int *)(b + i) != 0; }
int read_null(int n) { int x = 5; int *p = n ? &x : 0; return *p; }
int write_null(int n) { int x = 5; int *p = n ? &x : 0; *p = 8; return x; }
int step_null(int n) { int *p = 0; int *q = p + n; return q == 0; }
int field_of_null(int n) { struct pair x = {3, 4}; struct pair *p = n ? &x : 0; return p->b; }
int alias(int n) { int x = 1, y = 2; int *p = &x, *q = n ? &x : &y; *p = 10; *q = 20; return x * 100 + y; }
int swapped(int n) { int a = 1, b = 2, *p = &a, *q = &b; if (n) { int *t = p; p = q; q = t; } *p = 30; return a * 100 + b; }
int global(int n) { int x = 3, *p = n ? &word : &x; word = 5; *p += 1; return word * 10 + x; }
int literal(int n) { char *s = "ab"; if (n) s[0] = 'x'; return s[1]; }
int constant(int n) { int x = 1, *p = n ? &x : (int *)&table[1]; *p = 4; return x; }
int known(int n) { return table[1] + n; }
int chosen(int i) { return table[i]; }
int low_of_known(void) { return *(const char *)&spread; }
int high_of_known(void) { return ((const char *)&spread)[1]; }
int variable(int n) { int a[n]; a[n - 1] = 5; return a[n - 1] + (int)sizeof a; }
int variable_at(int n, int i) { int a[n]; a[0] = 1; a[n - 1] = 2; return a[i]; }
int fields(int n) { struct pair x = {1, 2}; x.a = n; x.b += x.a; return x.b; }
int copied(int n) { struct pair x = {n, 2}, y = x; x.a = 0; return y.a + y.b; }
int chain(int n) { struct link a = {0, n}, b = {&a, 4}; b.next->value += 3; return a.value; }
int rows(int i, int j) { int m[2][3] = {{1, 2, 3}, {4, 5, 6}}; return m[i][j]; }
int truth(unsigned char n) { _Bool b = 0; *(unsigned char *)&b = n; return b; }
int truths(int n) { _Bool b[2]; b[0] = n; b[1] = n & 2; return b[0] + 2 * b[1]; }
int either(int n, int i) { int a[2] = {1, 2}, b[4] = {3, 4, 5, 6}, *p = n ? a : b; return p[i]; }
int backwards(int i) { int a[4] = {1, 2, 3, 4}; int *p = a + 4; return p[-i]; }
int twice(int n) { int x = n, *p = &x, **pp = &p; **pp += 1; return x; }
"""
RUNS: dict[tuple[object, ...], int | str] = {
    ("at", 0): 10, ("at", 3): 13, ("at", 4): BOUNDS, ("at", -1): BOUNDS, ("at", 2**31 - 1): BOUNDS,
    ("put", 0): 7, ("put", 3): 70, ("put", 4): BOUNDS, ("put", -1): BOUNDS,
    ("behind", 0): 0, ("behind", 4): 4, ("behind", 5): OUTSIDE, ("behind", -1): OUTSIDE,
    ("at_behind", 3): 0, ("at_behind", 4): BOUNDS, ("at_behind", 5): OUTSIDE,
    ("byte", 0x01020304, 0): 4, ("byte", 0x01020304, 3): 1, ("byte", -1, 2): 255, ("byte", 0, 4): BOUNDS,
    ("low_byte", 0x11223344): 0x11223301, ("low_byte", -1): -255,
    ("high_half", -65536): -1, ("high_half", 0x7FFF0000): 0x7FFF,
    ("joined", 1): 0x04030201, ("joined", 254): 0x0100FFFE,
    ("straddling", 0x05000006): 11, ("straddling", -1): -2,
    ("too_wide", 0): 1, ("too_wide", 2): 1, ("too_wide", 3): BOUNDS, ("too_wide", -1): BOUNDS,
    ("read_null", 1): 5, ("read_null", 0): NULL,
    ("write_null", 1): 8, ("write_null", 0): NULL,
    ("step_null", 0): 1, ("step_null", 1): OUTSIDE,
    ("field_of_null", 1): 4, ("field_of_null", 0): NULL,
    ("alias", 0): 1020, ("alias", 1): 2002,
    ("swapped", 0): 3002, ("swapped", 1): 130,
    ("global", 0): 54, ("global", 1): 63,
    ("literal", 0): ord("b"), ("literal", 1): CONSTANT,
    ("constant", 1): 4, ("constant", 0): CONSTANT,
    ("known", 1): 51, ("chosen", 0): 40, ("chosen", 2): 60, ("chosen", 3): BOUNDS,
    ("low_of_known",): 2, ("high_of_known",): 1,
    ("variable", 3): 17, ("variable", 0): LENGTH,
    ("variable_at", 3, 2): 2, ("variable_at", 1, 0): 2,
    ("fields", 5): 7, ("fields", 65537): 3,
    ("copied", 5): 7, ("chain", 5): 8,
    ("rows", 1, 2): 6, ("rows", 0, 1): 2, ("rows", 1, 3): BOUNDS, ("rows", 2, 0): BOUNDS, ("rows", 3, 0): OUTSIDE,
    ("truth", 0): 0, ("truth", 1): 1, ("truth", 2): BOOL, ("truth", 255): BOOL,
    ("truths", 0): 0, ("truths", 1): 1, ("truths", 256): 1, ("truths", 2): 3,
    ("backwards", 1): 4, ("backwards", 4): 1, ("backwards", 0): BOUNDS, ("backwards", 5): BOUNDS,
    ("twice", 6): 7,
    ("either", 1, 1): 2, ("either", 1, 2): BOUNDS, ("either", 0, 3): 6, ("either", 0, 4): BOUNDS,
}  # fmt: skip


@pytest.mark.parametrize("call", RUNS, ids=lambda call: "-".join(map(str, call)))
def test_runs(call: tuple) -> None:
    assert came_out(PROGRAMS, *call[1:], function=call[0]) == RUNS[call]


@pytest.fixture(scope="module")
def native() -> Iterator[NativeOracle]:
    with NativeOracle(PROGRAMS) as oracle:
        yield oracle


@pytest.mark.parametrize("call", RUNS, ids=lambda call: "-".join(map(str, call)))
def test_runs_natively(call: tuple, native: NativeOracle) -> None:
    run, expected = native.run(call[0], call[1:]), RUNS[call]
    if isinstance(expected, int):
        assert (run.status, run.return_value) == ("ok", expected)
    else:
        assert run.status in (("undefined", "crashed") if expected == NULL else ("undefined",))


# -- lengths -----------------------------------------------------------------------------------------------------------

LENGTHS = """
int by_short(short n) { char a[n]; a[0] = 1; return n; }
int by_byte(unsigned char n) { char a[n]; a[0] = 1; return n; }
int by_long(long n) { char a[n]; a[0] = 1; return n; }
int by_two(short n, short m) { char a[n][m]; a[0][0] = 1; return sizeof a; }
int later(short n) { char a[n++]; a[0] = 1; return n; }
"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (("by_short", 5), 5),
        (("by_short", 0), LENGTH),
        (("by_byte", 127), 127),
        (("by_byte", 0), LENGTH),
        (("by_long", 3), 3),
        (("by_long", 0), LENGTH),
        (("by_long", -1), LENGTH),
        (("by_two", 2, 3), 6),
        (("by_two", 2, 0), LENGTH),
        (("later", 5), 6),
        (("by_short", -1), None),
        (("by_two", -1, 1), None),
        (("by_two", 1, -1), None),
        (("by_two", -1, -1), None),
        (("later", -1), None),
        (("later", 32767), -32768),
    ],
)
def test_a_length_whose_sign_is_not_known_is_not_answered(call: tuple, expected: int | str | None) -> None:
    """C 6.7.6.2p5 wants lengths above 0, and clang widens them by zeros. A negative one is never taken as a large one."""
    found = came_out(LENGTHS, *call[1:], function=call[0])
    if expected is None:
        assert isinstance(found, str) and found.startswith("unknown: the length of an array is negative, or")
    else:
        assert found == expected


@pytest.mark.parametrize(("n", "expected"), [(5, 5), (0, LENGTH), (-1, LENGTH), (-(2**40), LENGTH)])
def test_mathematical_lengths_are_signed(n: int, expected: int | str) -> None:
    assert came_out(LENGTHS, n, function="by_short", options=Options(mathematical=True)) == expected


# -- statements --------------------------------------------------------------------------------------------------------


def kinds(source: str, options: Options | None = None) -> list[str]:
    return [check.kind for check in statements(flowgraph(source, options=options), Check)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("int f(int i) { int a[4] = {0}; return a[i]; }", ["bounds"]),
        ("int f(int i) { int a[4] = {0}; return a[i & 3]; }", []),
        ("int f(int i) { int a[4] = {0}; int *p = a + i; return *p; }", ["pointer-overflow", "bounds"]),
        ("int f(int i) { int a[4] = {0}; int *p = a + (i & 3); return *p; }", ["bounds"]),
        ("int f(int *p) { return p[3]; }", []),
        ("int f(int *p, int n) { return p ? *p : n; }", ["null-pointer"]),
        ("int f(int *p) { return *p; }", []),
        ("int f(char *p, long n) { return p[n]; }", ["pointer-overflow"]),
        ("extern int a[]; int f(int n) { return a[n & 255]; }", []),
        ("static const int k = 3; int f(void) { return k; }", []),
        ("static const int k = 3; void f(void) { *(int *)&k = 4; }", ["const-write"]),
        ("int f(int n) { int x[2]; return x + n == x; }", ["pointer-overflow"]),
    ],
)
def test_checks_are_made_where_something_may_be_wrong(source: str, expected: list[str]) -> None:
    assert kinds(source) == expected


def test_where_addresses_wrap_around_only_accesses_are_checked() -> None:
    source = "int f(int i) { int a[4] = {0}; int *p = a + i; return *p; }"
    assert "pointer-overflow" in kinds(source)
    assert "bounds" in kinds(source, Options(wrapv=True))
    assert came_out(source, 4, options=Options(wrapv=True)) == BOUNDS
    step = "int f(int i) { int a[4]; int *p = a + i; return p == a; }"
    assert (came_out(step, 9), came_out(step, 9, options=Options(wrapv=True))) == (OUTSIDE, 0)


@pytest.mark.parametrize(
    ("step", "expected"), [(2**61 - 1, 0), (2**61, OUTSIDE), (-(2**61), 0), (-(2**61) - 1, OUTSIDE)]
)
def test_no_object_is_larger_than_a_quarter_of_the_address_space(step: int, expected: int | str) -> None:
    assert came_out("int f(char *p, long n) { return p + n == p; }", [1], step) == expected


@pytest.mark.parametrize(
    ("declared", "used", "unknown"),
    [
        ("int x = n;", "x", 0),
        ("volatile int x = n;", "x", 1),
        ("_Atomic int x = n;", "x", 1),
        ("volatile _Bool x = n;", "x", 1),
        ("int *volatile x = &n;", "*x", 2),
    ],
)
def test_volatile_and_atomic_reads_are_unknown_each_time(declared: str, used: str, unknown: int) -> None:
    g = flowgraph(f"int f(int n) {{ {declared} return {used}; }}")
    assert [h.origin for h in statements(g, Havoc)] == [Origin.VOLATILE] * unknown
    twice = flowgraph(f"int f(int n) {{ {declared} return {used} + {used}; }}")
    assert len(statements(twice, Havoc)) == 2 * unknown


def test_volatile_writes_are_stores() -> None:
    assert len(statements(flowgraph("void f(int n) { volatile int x; x = n; x = n; }"), Store)) == 2
    assert not statements(flowgraph("int f(int n) { int x; x = n; x = n; return x; }"), Store)


def test_a_float_in_memory_is_unknown_with_its_reason() -> None:
    g = flowgraph("int f(int n) { union { float x; int y; } u; u.x = n; return u.y; }")
    (havoc,) = statements(g, Havoc)
    assert havoc.refused.reason is Reason.FLOAT
    (store,) = statements(g, Store)
    assert store.value is havoc.target and store.type.width == 32


def test_an_array_of_variable_length_is_allocated_as_it_is_reached() -> None:
    (made,) = statements(flowgraph("int f(int n) { int a[n]; a[0] = n; return a[0]; }"), Allocate)
    assert str(made.size) == "4*(uint32_t)(n)" and not made.zeroed


def test_an_element_of_a_constant_at_a_constant_place_is_a_number() -> None:
    g = flowgraph("static const int table[3] = {40, 50, 60}; int f(int n) { return table[1] + 0 * n; }")
    assert [end.value for end in ends(g)] == [const(50)]


def test_a_constant_that_holds_a_pointer_is_no_number() -> None:
    text = "static int x; static int *const at[2] = {0, &x}; static const long two[2] = {1, 2};\n"
    found = came_out(text + "long f(void) { return *(const long *)&at[1]; }")
    assert found == "unknown: reads bytes of a pointer in at as an integer"
    assert came_out(text + "long f(void) { return *(const long *)&two[1]; }") == 2


CHOSEN_FROM_ITSELF = """
define i32 @f(i64 %n) {
  %a = alloca [2 x i32]
  %b = alloca i32
  %p = alloca ptr
  store i32 0, ptr %a
  %second = getelementptr inbounds i8, ptr %a, i64 4
  store i32 5, ptr %second
  store i32 9, ptr %b
  %start = getelementptr inbounds i8, ptr %a, i64 %n
  store ptr %start, ptr %p
  %held = load ptr, ptr %p
  %same = icmp eq ptr %held, %second
  %other = select i1 %same, ptr %b, ptr %a
  store ptr %other, ptr %p
  %end = load ptr, ptr %p
  %r = load i32, ptr %end
  ret i32 %r
}
"""


def test_the_object_of_a_pointer_is_chosen_by_what_its_offset_was() -> None:
    """The pointer is written in two steps; the choice speaks of the offset before the first."""
    assert came_out(CHOSEN_FROM_ITSELF, 4) == 9
    assert came_out(CHOSEN_FROM_ITSELF, 0) == 0


PROMISED = """
define i32 @f(ptr %p) {
  %byte = load i8, ptr %p, align 1, !range !0
  %r = zext i8 %byte to i32
  ret i32 %r
}
!0 = !{i8 0, i8 2}
"""


@pytest.mark.parametrize(("byte", "expected"), [(0, 0), (1, 1), (2, BOOL), (255, BOOL)])
def test_a_byte_that_optimized_code_takes_as_a_truth_value(byte: int, expected: int | str) -> None:
    assert came_out(PROMISED, bytes([byte])) == expected


def test_vectors_of_pointers_are_not_followed() -> None:
    text = """
define i32 @f(<2 x ptr> %p) {
  %q = getelementptr i32, <2 x ptr> %p, i64 1
  %one = extractelement <2 x ptr> %q, i32 0
  %r = load i32, ptr %one
  ret i32 %r
}
"""
    found = came_out(text, None)
    assert isinstance(found, str) and found.startswith("unknown")


def test_an_unsigned_index_counts_upwards() -> None:
    """The compiler promises that the address does not wrap around: so -1 as an index is none below the object."""
    text = "int f(const char *s, unsigned long n) { return s[n]; } int g(const char *s, long n) { return s[n]; }"
    for name, signed in (("f", False), ("g", True)):
        graph = flowgraph(text, name)
        (load,) = statements(graph, Load)
        (n,) = (var for var in graph.variables if var.name == "n")
        assert load.address.offset is n
        assert n.type.signed is signed

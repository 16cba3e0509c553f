"""Ends of lives: uses of pointers to what does not live any more are undefined (C11 6.2.4p2), and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loopless.check.oracle.native import NativeOracle
from loopless.flowgraph.memory.lifetimes import with_lifetimes_and_points
from loopless.flowgraph.memory.points_to import analyse
from loopless.flowgraph.model import Check, Expire
from loopless.source import ir
from runs_of_text import came_out, flowgraph, module, statements

pytestmark = pytest.mark.slow  # run natively

GONE = "undefined: dangling pointer"
PROGRAMS = """
struct link { int *to; };
int read(int n) { int *p = &n; if (n) { int x = 5; p = &x; } return *p; }
int written(int n) { int y = 2, *p = &y; if (n) { int x = 5; p = &x; } *p = 7; return y; }
int in_time(int n) { int *p, r = 0; if (n) { int x = 5; p = &x; r = *p; } return r; }
int renewed(int n) { int y = 3, *p = &y; if (n) { int x = 5; p = &x; *p += 1; } p = &y; return *p; }
int compared(int n) { int *p = 0; if (n) { int x = 5; p = &x; } return p != 0; }
int moved(int n) { int a[2] = {3, 8}, *p = a; if (n) { int x[2]; p = x; } p++; return n ? 1 : *p; }
int copied(int n) { int y = 4, *p = &y, *q; if (n) { int x = 5; p = &x; } q = p; return n; }
int number(int n) { int *p = &n; if (n) { int x = 5; p = &x; } return (unsigned long)p != 0; }
int last_round(int n) { int *p = &n, s = 0; for (int i = 0; i < n; i++) { int x = i; if (i) s += *p; p = &x; } return s; }
int this_round(int n) { int *p, s = 0; for (int i = 0; i < n; i++) { int x = i; p = &x; s += *p; } return s; }
int kept(int n) { int *p = &n, x = 9; for (int i = 0; i < 2; i++) { if (i == n) p = &x; } return *p; }
int left(int n) { int *p = &n; { int x = 5; p = &x; if (n) goto out; p = &n; } out: return *p; }
int again(int n) { int i = 0, *p = &n, s = 0; top:; int x = i; if (i) s += *p; p = &x; if (++i < n) goto top; return s; }
int broken(int n) { int *p = &n; while (1) { int x = 5; p = &x; if (n) break; p = &n; break; } return *p; }
int in_memory(int n) { int y = 1; struct link a = {&y}; if (n) { int x = 5; a.to = &x; } return *a.to; }
int behind(int n) { int y = 1, *p = &y, **pp = &p; if (n) { int x = 5; *pp = &x; } return **pp; }
int do_round(int n) { int *p = &n, s = 0, i = 0; do { int x = i; if (i) s += *p; p = &x; } while (++i < n); return s; }
static void note(int *p) { *p += 1; }
int cleaned(int n) { int s = n; { __attribute__((cleanup(note))) int x = 5; s += x; } return s; }
int array(int n) { int *p = &n; if (n) { int x[3] = {1, 2, 3}; p = x + 1; } return *p; }
int one_of_two(int n) { int y = 1, *p = &y; if (n) { int x = 5, *q = n > 1 ? &x : &y; p = q; } return *p; }
static int *local(int n) { int x = n; int *p = &x; return p; }
int returned(int n) { int *p = local(n), *q = &n; if (n) q = p; return *q; }
static int lent(int *p) { int x = *p; return x + 1; }
int inlined(int n) { int x = n; return lent(&x); }
int unnamed(int n) { int s = 0; for (int i = 0; i < 3; i++) { int x; if (i == n) x = 4; else x = i; s += x; } return s; }
int stays(int n) { int s = 0; for (int i = 0; i < 2; i++) { int x; if (i == 0) x = n; s += x; } return s; }
void *memset(void *, int, unsigned long), *memcpy(void *, const void *, unsigned long);
int filled(int n, int k) { int y = 3, *p = &y; if (n) { int x; p = &x; } memset(p, 0, k); return y; }
struct big { int a[6]; };
static struct big made(int v) { struct big s = {{v, v + 1, v + 2}}; return s; }
static struct big passed_on(int v) { return made(v + 1); }
static struct big one_of(int c) { if (c) { struct big s = made(4); s.a[0]++; return s; } return made(7); }
static int sum(struct big s) { return s.a[0] + s.a[1] + s.a[2]; }
static int through(struct big s) { struct big *p = &s; return p->a[1]; }
int result(int n) { return made(n).a[2]; }
int assigned(int n) { struct big t = made(n); t = made(t.a[1]); t = passed_on(t.a[1]); return t.a[0]; }
int result_of_result(int n) { return passed_on(n).a[0] + one_of(n).a[0]; }
int given_on(int n) { return sum(made(n)) + through(passed_on(n)); }
int given_twice(int n) { struct big t = made(n); int r = through(t) + sum(t); return r + through(t) + t.a[0]; }
int in_array(int n) { struct big t[2]; for (int i = 0; i < 2; i++) t[i] = made(n + i); return t[0].a[0] + t[1].a[2]; }
int counted(int n) { int i = 0; while (made(i).a[1] < n) i++; return i; }
int chosen(int n) { struct big t = n > 1 ? made(n) : one_of(n); return t.a[0]; }
int literal(int n) { struct big *p = &(struct big){{n, 2}}; *p = made(p->a[1]); return p->a[0] + sum(*p); }
int result_kept(int n) { int *p = &n; for (int i = 0; i < 2; i++) { struct big t = made(i); if (i) n += *p; p = t.a; } return n; }
static inline __attribute__((always_inline)) struct big at_once(int v) {
  for (int i = 0;; i++) { struct big s = {{v, i}}; if (i >= (v & 3)) return s; }
}
int inlined_by_clang(int n) { struct big t = at_once(n); t = at_once(t.a[1] + n); return t.a[0] + t.a[1]; }
static int deeper(struct big s, int k) { s.a[0] += 2; return k > 0 ? deeper(s, k - 1) + s.a[0] : s.a[0]; }
int own_copies(int n) { struct big t = made(n); int r = deeper(t, 2); return 100 * r + t.a[0]; }
struct node { int v; struct node *next; };
int chained(int n) { struct node *h = 0; for (int i = 0; i < n; i++) { struct node *q = __builtin_alloca(sizeof *q); q->v = i; q->next = h; h = q; }
  int s = 0; for (; h; h = h->next) s = 10 * s + h->v; return s; }
int block(int n) { int y = 3, z = 4, *p = &y; if (n) { int x = 2; p = &x; } memcpy(&z, p, 4); return z; }
"""
RUNS: dict[tuple[object, ...], int | str] = {
    ("read", 0): 0, ("read", 1): GONE,
    ("written", 0): 7, ("written", 1): GONE,
    ("in_time", 1): 5, ("in_time", 0): 0,
    ("renewed", 1): 3, ("renewed", 0): 3,
    ("compared", 0): 0, ("compared", 1): GONE,
    ("moved", 0): 8, ("moved", 1): GONE,
    ("copied", 0): 0, ("copied", 1): 1,
    ("number", 1): GONE,
    ("last_round", 0): 0, ("last_round", 1): 0, ("last_round", 2): GONE,
    ("this_round", 3): 3,
    ("do_round", 1): 0, ("do_round", 2): GONE, ("cleaned", 2): 7,
    ("kept", 1): 9, ("kept", 5): 5,
    ("left", 0): 0, ("left", 1): GONE,
    ("broken", 0): 0, ("broken", 1): GONE,
    ("in_memory", 0): 1, ("in_memory", 1): GONE,
    ("behind", 0): 1, ("behind", 1): GONE,
    ("array", 0): 0, ("array", 1): GONE,
    ("one_of_two", 0): 1, ("one_of_two", 1): 1, ("one_of_two", 2): GONE,
    ("returned", 0): 0, ("returned", 3): GONE,
    ("again", 1): 0, ("again", 3): 3,
    ("inlined", 4): 5,
    ("unnamed", 1): 6, ("unnamed", 7): 3,
    ("filled", 0, 4): 0, ("filled", 1, 4): GONE, ("filled", 1, 0): 3,
    ("block", 0): 3, ("block", 1): GONE,
    ("own_copies", 3): 2103,
    ("inlined_by_clang", 2): 4, ("inlined_by_clang", 3): 8,
    ("chained", 3): 210,
    ("result", 3): 5,
    ("assigned", 3): 6,
    ("result_of_result", 0): 8, ("result_of_result", 2): 8,
    ("given_on", 3): 17,
    ("given_twice", 3): 23,
    ("in_array", 3): 9,
    ("counted", 4): 3,
    ("chosen", 0): 7, ("chosen", 1): 5, ("chosen", 2): 2,
    ("literal", 3): 11,
    ("result_kept", 3): GONE,
}  # fmt: skip


@pytest.mark.parametrize("call", RUNS, ids=lambda call: "-".join(map(str, call)))
def test_runs(call: tuple) -> None:
    assert came_out(PROGRAMS, *call[1:], function=call[0]) == RUNS[call]


@pytest.fixture(scope="module")
def native() -> Iterator[NativeOracle]:
    with NativeOracle(PROGRAMS) as oracle:
        yield oracle


@pytest.mark.parametrize(
    "call", [call for call in RUNS if call[0] != "number"], ids=lambda call: "-".join(map(str, call))
)
def test_runs_natively(call: tuple, native: NativeOracle) -> None:
    run, expected = native.run(call[0], call[1:]), RUNS[call]
    assert (run.status, run.return_value) == (("ok", expected) if isinstance(expected, int) else ("undefined", None))


@pytest.mark.parametrize(("call", "variable"), [(("stays", 3), "x")])
def test_a_variable_that_is_declared_again_holds_nothing(call: tuple, variable: str) -> None:
    """Without an initializer it need not keep what it held in the round before (C11 6.2.4p6)."""
    found = came_out(PROGRAMS, *call[1:], function=call[0])
    assert isinstance(found, str) and found.startswith("unknown") and variable in found
    assert came_out(PROGRAMS, *call[1:], function=call[0], uninitialised=[0, 8]) == 3 + 8


def added(function: str) -> list[tuple[str, tuple[str, ...]]]:
    """The instructions that tell of lives, with the locals that they name."""
    found = module(PROGRAMS)
    ours = ("begin", "expire", "outlive", "outlived")
    code = with_lifetimes_and_points(found.functions[function], found)[0].instructions()
    return [(i.op, tuple(o.name for o in i.operands if isinstance(o, ir.Local))) for i in code if i.op in ours]


@pytest.mark.parametrize("name", ["in_time", "kept"])
def test_nothing_is_said_of_what_no_one_can_notice(name: str) -> None:
    assert not [one for one in added(name) if one[0] in ("outlive", "outlived", "expire")]
    assert not [c for c in statements(flowgraph(PROGRAMS, name), Check) if c.kind == "dangling-pointer"]


def test_a_function_in_which_nothing_ends_is_left_as_it_is() -> None:
    found = module("int f(int n) { int x = n; while (x > 3) x--; return x; }")
    assert with_lifetimes_and_points(found.functions["f"], found)[0] is found.functions["f"]


@pytest.mark.parametrize("function", sorted(f.name for f in module(PROGRAMS).defined()))
def test_where_pointers_point_is_that_of_the_function_with_the_ends_of_lives(function: str) -> None:
    """Also where the analysis of the function without them is taken over."""
    found = module(PROGRAMS)
    made, points = with_lifetimes_and_points(found.functions[function], found)
    assert points == analyse(made, found)


def test_what_is_put_in() -> None:
    assert [op for op, _ in added("read")] == ["outlived"]
    assert added("read")[0][1][1:] == ("x",)
    assert ("begin", ("x",)) in added("unnamed")
    assert ("outlive", ("p", "x")) in added("last_round")
    assert "begin" not in [op for op, _ in added("read")]  # control comes there only once


def test_an_object_that_others_may_point_to_expires() -> None:
    text = "void keep(int *); void f(int n) { for (int i = 0; i < n; i++) { int x = i; keep(&x); } }"
    assert statements(flowgraph(text), Expire)
    assert not statements(flowgraph(text.replace("keep(&x)", "keep(&n)")), Expire)


def test_a_pointer_in_memory_to_what_is_gone_is_noticed_where_it_is_used() -> None:
    text = "int *table[2]; int f(int n) { table[0] = &n; if (n) { int x = 5; table[n & 1] = &x; } return *table[0]; }"
    assert came_out(text, 0) == 0
    found = came_out(text, 2)
    assert isinstance(found, str) and found.startswith("undefined: access to x")


MARKED = """
define i32 @f(i32 %n) {
entry:
  %x = alloca i32
  %y = alloca i32
  %p = alloca ptr
  store i32 3, ptr %y
  store ptr %y, ptr %p
  call void @llvm.lifetime.start.p0(i64 4, ptr %x)
  store i32 5, ptr %x
  %c = icmp eq i32 %n, 0
  br i1 %c, label %over, label %taken
taken:
  store ptr %x, ptr %p
  br label %over
over:
  MARKER
  %q = load ptr, ptr %p
  %r = load i32, ptr %q
  ret i32 %r
}
declare void @llvm.lifetime.start.p0(i64, ptr)
declare void @llvm.lifetime.end.p0(i64, ptr)
"""


def test_markers_of_assembly() -> None:
    ended = MARKED.replace("MARKER", "call void @llvm.lifetime.end.p0(i64 4, ptr %x)")
    lives = MARKED.replace("MARKER", "")
    assert (came_out(ended, 0), came_out(ended, 1)) == (3, GONE)
    assert (came_out(lives, 0), came_out(lives, 1)) == (3, 5)


def test_a_local_itself_is_not_used_behind_its_marker() -> None:
    text = MARKED.replace("MARKER", "call void @llvm.lifetime.end.p0(i64 4, ptr %x)").replace(
        "load i32, ptr %q", "load i32, ptr %x"
    )
    assert (came_out(text, 0), came_out(text, 1)) == (GONE, GONE)


def test_a_local_lives_again_behind_the_next_marker() -> None:
    again = "call void @llvm.lifetime.end.p0(i64 4, ptr %x)\n  call void @llvm.lifetime.start.p0(i64 4, ptr %x)\n  store i32 6, ptr %x"
    text = MARKED.replace("MARKER", again).replace("load i32, ptr %q", "load i32, ptr %x")
    assert (came_out(text, 0), came_out(text, 1)) == (6, 6)


def test_a_life_that_ends_on_one_way_only_is_not_over_where_the_ways_meet() -> None:
    """Nothing is said of an object that may live; its marker on the other way says nothing of this one."""
    text = MARKED.replace("MARKER", "").replace(
        "taken:\n", "taken:\n  call void @llvm.lifetime.end.p0(i64 4, ptr %x)\n"
    )
    assert came_out(text, 0) == 3

"""Where pointers point: sets of places by hand, and what follows for which scalars are variables."""

from __future__ import annotations

import pytest

from loopless.flowgraph.memory.called_memory import call_kind
from loopless.flowgraph.memory.places import DEAD, NULL, Base, MemoryAccess, PointerTargets, PointsTo
from loopless.flowgraph.memory.points_to import analyse
from loopless.flowgraph.memory.promotion import promotable
from loopless.source import ir
from runs_of_text import module

A, B, G, P, Q = (
    Base("local", "a"),
    Base("local", "b"),
    Base("global", "g"),
    Base("parameter", "p"),
    Base("parameter", "q"),
)
Places = set[tuple[Base, int | None]]


def pointee(holder: str, offset: int = 0) -> Base:
    return Base("pointee", f"{holder}+{offset}")


def test_targets_are_joined_and_too_many_offsets_are_any() -> None:
    target = PointerTargets({(A, 0)})
    assert not target.include(PointerTargets({(A, 0)}))
    assert target.include(PointerTargets({(A, 8), (B, 4)}))
    assert target.places == {(A, 0), (A, 8), (B, 4)} and not target.unknown
    assert target.include(PointerTargets({(A, at) for at in range(16, 48, 8)}))
    assert {at for base, at in target.places if base == A} == {0, 8, 16, 24, 32, 40}
    assert target.include(PointerTargets({(A, 48)}))  # the seventh
    assert target.places == {(A, None), (B, 4)}
    assert not target.include(PointerTargets({(A, 3)}))
    assert target.include(PointerTargets({(B, None)}))
    assert target.places == {(A, None), (B, None)}
    assert target.include(PointerTargets(unknown=True)) and target.unknown
    assert not target.include(PointerTargets(unknown=True))


def test_steps_move_offsets_and_leave_null_where_it_is() -> None:
    target = PointerTargets({(A, 4), (B, None), (NULL, None)})
    assert target.moved(-4).places == {(A, 0), (B, None), (NULL, None)}
    assert target.moved(None).places == {(A, None), (B, None), (NULL, None)}
    assert PointerTargets(unknown=True).moved(8).unknown


def test_the_one_object_and_what_lives() -> None:
    assert PointerTargets({(A, 0), (A, 4)}).base == A
    assert PointerTargets({(A, 0), (B, 0)}).base is None
    assert PointerTargets({(A, 0)}, unknown=True).base is None
    assert PointerTargets().base is None
    assert PointerTargets({(A, 0), (NULL, None), (DEAD, None)}).living == {(A, 0)}


def analysed(
    body: str, parameters: str = "ptr %p, ptr %q, i64 %n", *, result: str = "void", more: str = ""
) -> PointsTo:
    text = (
        f"\n@g = global [4 x ptr] zeroinitializer\n@k = global i32 1\n@c = constant [2 x ptr] [ptr null, ptr getelementptr (i8, ptr @k, i64 4)]\n{more}\n"
        f"define {result} @f({parameters}) {{\nentry:\n%a = alloca [4 x ptr]\n%b = alloca i64\n{body}\n}}\n"
        "declare void @outside(ptr)\ndeclare i32 @puts(ptr)\ndeclare ptr @memcpy(ptr, ptr, i64)\n"
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\ndeclare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
        "declare i64 @strlen(ptr)\ndeclare i32 @atoi(ptr)\ndeclare i64 @reader(ptr) memory(read)\n"
        "declare ptr @strchr(ptr, i32)\n"
    )
    found = module(text, inlined=False)
    return analyse(found.functions["f"], found)


END = "ret void"
GK = Base("global", "k")


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ("%x = getelementptr i8, ptr %a, i64 12", {(A, 12)}),
        ("%x = getelementptr [4 x ptr], ptr %a, i64 0, i64 3", {(A, 24)}),
        ("%x = getelementptr ptr, ptr %a, i64 %n", {(A, None)}),
        ("%y = getelementptr i8, ptr %a, i64 12\n%x = getelementptr i8, ptr %y, i64 -4", {(A, 8)}),
        ("%x = getelementptr i8, ptr %p, i64 4", {(P, 4)}),
        ("%x = freeze ptr %q", {(Q, 0)}),
        ("%c = icmp eq i64 %n, 0\n%x = select i1 %c, ptr %a, ptr %b", {(A, 0), (B, 0)}),
        ("%c = icmp eq i64 %n, 0\n%x = select i1 %c, ptr null, ptr @k", {(NULL, None), (GK, 0)}),
        ("%c = icmp eq i64 %n, 0\nbr i1 %c, label %one, label %two\none:\nbr label %two\n"
         "two:\n%x = phi ptr [ %a, %entry ], [ %p, %one ]", {(A, 0), (P, 0)}),
        ("br label %round\nround:\n%x = phi ptr [ %a, %entry ], [ %y, %round ]\n%y = getelementptr i8, ptr %x, i64 8\n"
         "%c = icmp eq i64 %n, 0\nbr i1 %c, label %round, label %out\nout:", {(A, None)}),
        ("store ptr %b, ptr %a\n%x = load ptr, ptr %a", {(B, 0)}),
        ("store ptr %b, ptr %a\nstore ptr @k, ptr %a\n%x = load ptr, ptr %a", {(B, 0), (GK, 0)}),
        ("%s = getelementptr i8, ptr %a, i64 8\nstore ptr %b, ptr %s\nstore ptr %p, ptr %a\n%x = load ptr, ptr %s", {(B, 0)}),
        ("store ptr null, ptr %a\n%x = load ptr, ptr %a", {(NULL, None)}),
        ("store ptr getelementptr (i8, ptr @k, i64 4), ptr %a\n%x = load ptr, ptr %a", {(GK, 4)}),
        # What pointers in memory point to, and what is stored there.
        ("%x = load ptr, ptr %p", {(pointee("parameter p"), 0)}),
        ("%x = load ptr, ptr @g", {(pointee("global g"), 0)}),
        ("%y = getelementptr i8, ptr %p, i64 16\n%z = load ptr, ptr %y\n%x = getelementptr i8, ptr %z, i64 4",
         {(pointee("parameter p", 16), 4)}),
        ("%y = load ptr, ptr %p\n%x = load ptr, ptr %y", {(pointee("pointee parameter p+0"), 0)}),
        ("store ptr %q, ptr %p\n%x = load ptr, ptr %p", {(pointee("parameter p"), 0), (Q, 0)}),
        ("%y = getelementptr ptr, ptr %p, i64 %n\nstore ptr %q, ptr %y\n%x = load ptr, ptr %p",
         {(pointee("parameter p"), 0), (Q, 0)}),
        ("%u = inttoptr i64 %n to ptr\nstore ptr %q, ptr %u\n%x = load ptr, ptr %p",
         {(pointee("parameter p"), 0), (Q, 0)}),
        ("%y = getelementptr ptr, ptr %p, i64 %n\n%x = load ptr, ptr %y", {(Base("reached", "parameter p"), None)}),
        ("%y = getelementptr ptr, ptr %p, i64 %n\n%z = load ptr, ptr %y\n%x = load ptr, ptr %p",
         {(Base("reached", "parameter p"), None)}),  # which may be the same one
        ("%x = load ptr, ptr %p\n%y = load ptr, ptr %q\n%c = icmp ult ptr %x, %y",
         {(pointee("parameter p"), None)}),  # the two are one object
        ("%x = load ptr, ptr %p\n%c = icmp ult ptr %x, %q", {(pointee("parameter p"), None), (Q, None)}),
        ("store ptr %b, ptr %a\ncall void @outside(ptr %a)\n%x = load ptr, ptr %a", {(B, 0), (pointee("local a"), 0)}),
        ("store ptr %b, ptr %a\ncall void @outside(ptr %a)\nstore ptr %p, ptr %q\n%x = load ptr, ptr %a",
         {(B, 0), (pointee("local a"), 0), (P, 0)}),  # where %q may point to %a
        ("%x = load ptr, ptr getelementptr (i8, ptr @c, i64 8)", {(GK, 4)}),
        ("%x = load ptr, ptr @c", {(NULL, None)}),
        ("%y = getelementptr ptr, ptr @c, i64 %n\n%x = load ptr, ptr %y", {(GK, 4), (NULL, None)}),
        # Unknown: what comes from outside, or from where something else than pointers was written.
        ("store i64 %n, ptr %p\n%x = load ptr, ptr %p", None),
        ("%y = getelementptr i8, ptr %p, i64 4\nstore i64 %n, ptr %y\n%x = load ptr, ptr %p", None),
        ("%y = getelementptr i8, ptr %p, i64 %n\nstore i8 0, ptr %y\n%x = load ptr, ptr %p", None),
        ("call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 8, i1 false)\n%x = load ptr, ptr %p", None),
        ("%x = load ptr, ptr %a", None),
        ("%x = inttoptr i64 %n to ptr", None),
        ("%x = alloca i8, i64 %n", {(Base("local", "x"), 0)}),
        ("store ptr %b, ptr %a\n%x = load volatile ptr, ptr %a", None),
        ("store ptr %b, ptr %a\n%s = getelementptr ptr, ptr %a, i64 %n\n%x = load ptr, ptr %s", None),
        ("store ptr %b, ptr %a\n%h = load i32, ptr %a\n%x = load ptr, ptr %a", None),
        ("store ptr %b, ptr %a\ncall void @llvm.memset.p0.i64(ptr %a, i8 0, i64 4, i1 false)\n%x = load ptr, ptr %a", None),
    ],
)  # fmt: skip
def test_targets(body: str, places: Places | None) -> None:
    found = analysed(f"{body}\n{END}").of(ir.Local("x", ir.PtrT()))
    assert found.unknown == (places is None)
    assert places is None or found.places == places


@pytest.mark.parametrize(
    ("body", "escaped", "lent"),
    [
        ("store i64 1, ptr %b", set(), set()),
        ("store ptr %b, ptr %a", set(), set()),
        ("store ptr %b, ptr %p", {B}, set()),
        ("store ptr %b, ptr @g", {B}, set()),
        ("store volatile ptr %b, ptr %a", {B}, set()),
        ("%s = getelementptr ptr, ptr %a, i64 %n\nstore ptr %b, ptr %s", {A, B}, set()),
        ("store ptr %b, ptr %a\nstore ptr %a, ptr %p", {A, B}, set()),  # and what it points to
        ("%i = ptrtoint ptr %b to i64\nstore i64 %i, ptr %p", {B}, set()),
        ("%i = ptrtoint ptr %b to i64\n%j = ptrtoint ptr %p to i64\n%d = sub i64 %i, %j", set(), set()),
        ("call void @outside(ptr %b)", set(), {B}),
        ("store ptr %b, ptr %a\ncall void @outside(ptr %a)", set(), {A, B}),
        ("%z = call i32 @puts(ptr %b)", set(), set()),
        ("%z = call i32 @atoi(ptr %b)", set(), set()),
        ("%z = call i64 @strlen(ptr %b)", set(), set()),  # a length
        ("%z = call i64 @reader(ptr %b)", {B}, set()),  # as far as its type goes, it may hand its argument back
        ("%z = call ptr @strchr(ptr %b, i32 0)", {B}, set()),
        ("%z = insertvalue {ptr, i64} undef, ptr %b, 0", {B}, set()),
        ("%z = cmpxchg ptr %a, ptr null, ptr %b seq_cst seq_cst", {A, B}, set()),
    ],
)
def test_what_others_may_reach(body: str, escaped: set[Base], lent: set[Base]) -> None:
    found = analysed(f"{body}\n{END}")
    assert {base for base in found.escaped if base.kind == "local"} == escaped
    assert {base for base in found.lent if base.kind == "local"} == lent


def test_what_is_returned_escapes() -> None:
    assert B in analysed("ret ptr %b", result="ptr").escaped
    assert B not in analysed("%r = load i64, ptr %b\nret i64 %r", result="i64").escaped


@pytest.mark.parametrize(
    ("body", "together"),
    [
        ("%c = icmp ult ptr %p, %q", True),
        ("%c = icmp eq ptr %p, %q", True),
        ("%x = getelementptr i8, ptr %p, i64 %n\n%c = icmp ne ptr %x, %q", True),
        ("%i = ptrtoint ptr %p to i64\n%j = ptrtoint ptr %q to i64\n%d = sub i64 %i, %j", True),
        ("%c = icmp eq ptr %p, null", False),
        ("%c = icmp eq ptr %p, %a\n%d = icmp eq ptr %q, %b", False),
        ("%x = load i64, ptr %p\n%y = load i64, ptr %q\n%c = icmp eq i64 %x, %y", False),
    ],
)
def test_parameters_that_are_compared_share_an_object(body: str, together: bool) -> None:
    found = analysed(f"{body}\n{END}")
    assert found.parameters == {"p": P, "q": P if together else Q}
    assert found.shared == ({"p", "q"} if together else set())
    assert found.of(ir.Local("q", ir.PtrT())).places == {(P, None)} if together else {(Q, 0)}


def test_comparisons_chain_parameters() -> None:
    body = "%c = icmp eq ptr %q, %r\n%d = icmp eq ptr %p, %q\n"
    found = analysed(body + END, "ptr %p, ptr %q, ptr %r, ptr %s")
    assert found.parameters == {"p": P, "q": P, "r": P, "s": Base("parameter", "s")}


# -- which scalars are variables ---------------------------------------------------------------------------------------


def access(base: Base, offset: int | None, size: int = 4, **other: bool | int) -> MemoryAccess:
    return MemoryAccess(
        (base, offset),
        size,
        bool(other.get("pointer")),
        bool(other.get("plain", True)),
        True,
        other.get("bits", 8 * size),
    )


@pytest.mark.parametrize(
    ("accesses", "size", "offsets"),
    [
        ([access(A, 0), access(A, 4), access(A, 0)], 8, {0, 4}),
        ([access(A, 0, 2), access(A, 2, 2), access(A, 4)], 8, {0, 2, 4}),
        ([access(A, 4)], None, {4}),
        ([access(A, 0), access(A, 2)], 8, None),  # they overlap
        ([access(A, 0), access(A, 0, 2)], 8, None),
        ([access(A, 0, 8), access(A, 0, 8, pointer=True)], 8, None),
        ([access(A, 0, 1), access(A, 0, 1, bits=1)], 8, None),
        ([access(A, 0), access(A, None)], 8, None),
        ([access(A, 0), access(A, 4, plain=False)], 8, {0}),
        ([access(A, -4)], 8, None),
        ([access(A, 8)], 8, None),
        ([access(A, 6)], 8, None),
    ],
)
def test_scalars_that_nothing_overlaps_are_variables(
    accesses: list[MemoryAccess], size: int | None, offsets: set[int] | None
) -> None:
    found = promotable(PointsTo(accesses=[*accesses, access(B, 0)]), {A: size, B: 4})
    assert set(found) == ({A, B} if offsets is not None else {B})
    assert offsets is None or set(found[A]) == offsets


@pytest.mark.parametrize(
    ("state", "variables"),
    [
        ({}, {A, B, G, P}),
        ({"touched": {A}}, {B, G, P}),
        ({"escaped": {A, G}}, {B, G, P}),  # others reach globals anyway
        ({"lent": {A}}, {A, B, G, P}),
        ({"unknown_access": True}, {A, B}),
        ({"unknown_access": True, "lent": {A}}, {B}),
        ({"formal_access": True}, {A, B, G, P}),
        ({"formal_access": True, "lent": {A}}, {B, G, P}),
        ({"several": {P}}, {A, B, G}),
        ({"defined_calls": True, "lent": {B}}, {A, B, G, P}),  # what such a call changes, it says
        ({"unknown_calls": True, "lent": {B}}, {A, B, G, P}),  # what such a call may change is forgotten behind it
    ],
)
def test_what_others_may_read_or_write_is_no_variable(state: dict, variables: set[Base]) -> None:
    accesses = [access(base, 0) for base in (A, B, G, P, NULL, Base("function", "h"))]
    assert set(promotable(PointsTo(accesses=accesses, **state), {})) == variables


@pytest.mark.parametrize(
    ("source", "variable"),
    [
        ("int f(int n) { int x = n; return x; }", True),
        ("int f(int n) { int x = n; char *c = (char *)&x; return x + c[1]; }", False),
        ("int f(int n) { volatile int x = n; return x; }", False),
        ("int f(int n) { int x = n, y = 1, *p = n ? &x : &y; return *p; }", False),
        ("int f(int n) { int x = n, *p = n ? &x : 0; return *p; }", True),  # null is never read
        ("void *memset(void *, int, unsigned long); int f(int n) { int x; memset(&x, n, 4); return x; }", False),
        ("void *memset(void *, int, unsigned long); int f(int n) { int x; memset(&x, 0, 4); return x; }", True),
        (
            "void *memset(void *, int, unsigned long); int f(int n) { int x = n; memset((char *)&x + 1, 0, 2); return x; }",
            False,
        ),
        ("void *memset(void *, int, unsigned long); int f(int n) { int x = n; memset(&x, 0, 8); return x; }", False),
        ("int f(int n) { int x = n; return (&x)[1]; }", True),  # which is undefined,
        ("int h(int *); int f(int n) { int x = n; h(&x); return x; }", True),
        ("int *h(int *); int f(int n) { int x = n; *h(&x) = 1; return x; }", False),
    ],
)
def test_in_c(source: str, variable: bool) -> None:
    found = module(source)
    points = analyse(found.functions["f"], found)
    x = Base("local", "x")
    assert (x in promotable(points, {x: 4})) == variable


ALLOCATING = """
struct s { long size; long *held; };
void *malloc(unsigned long); void *realloc(void *, unsigned long); void *mine(unsigned long); void *calloc(unsigned long, unsigned long);
"""


@pytest.mark.parametrize(
    ("body", "variable"),
    [
        ("long *a = malloc(8 * n);", True),
        ("long *a = calloc(8, n); a = realloc(a, 16 * n);", True),
        ("long *a = realloc(p->held, 16 * n);", True),
        ("long *a = n ? malloc(8) : p->held;", True),  # what p->held points to does not overlap with *p: listed
        ("long *a = mine(8 * n);", False),
        ("long **b = malloc(8), *a; *b = &p->size; a = *b;", False),  # what is held there is not followed
        ("long *a = n ? malloc(8) : &p->size;", False),
    ],
)
def test_what_is_allocated_is_no_other_object(body: str, variable: bool) -> None:
    loop = "long i = 0; while (i < p->size) a[i++] = 1; return i;"
    found = module(f"{ALLOCATING} long f(struct s *p, long n) {{ {body} {loop} }}")
    points = analyse(found.functions["f"], found)
    assert (0 in promotable(points, {P: None}).get(P, {})) == variable


def test_a_program_may_define_what_allocates() -> None:
    own = "void *malloc(unsigned long n) { return n & 1 ? &g : 0; }"
    text = f"long g; {ALLOCATING} {own}"
    body = "long *a = malloc(n), i = 0; while (i < g) { i++; *a = n; } return i;"
    found = module(f"{text} long f(long n) {{ {body} }}", inlined=False)
    points = analyse(found.functions["f"], found)
    assert G not in promotable(points, {G: 8})


# -- calls -------------------------------------------------------------------------------------------------------------

CALLED = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i32 @llvm.smin.i32(i32, i32)
declare i32 @abs(i32)
declare i64 @strlen(ptr)
declare ptr @strncat(ptr, ptr, i64)
declare ptr @malloc(i64)
declare void @free(ptr)
declare i32 @stranger(ptr)
declare i32 @reader(ptr) memory(read)
declare i32 @function(ptr) memory(none)
define i32 @own(ptr %p) {
  ret i32 1
}
define i32 @own_function(ptr %p) memory(none) {
  ret i32 1
}
define i64 @strnlen(ptr %p, i64 %n) {
  ret i64 1
}
define void @f(ptr %p, ptr %q) {
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 4, i1 false)
  %1 = call i32 @llvm.smin.i32(i32 1, i32 2)
  %2 = call i32 @abs(i32 1)
  %3 = call i64 @strlen(ptr %p)
  %4 = call ptr @strncat(ptr %p, ptr %q, i64 2)
  %5 = call ptr @malloc(i64 4)
  call void @free(ptr %p)
  %6 = call i32 @stranger(ptr %p)
  %7 = call i32 @reader(ptr %p)
  %8 = call i32 @function(ptr %p)
  %9 = call i32 @own(ptr %p)
  %10 = call i32 @own_function(ptr %p)
  %11 = call i64 @strnlen(ptr %p, i64 3)
  %12 = call i32 %q(ptr %p)
  ret void
}
"""


def test_kinds_of_calls() -> None:
    found = module(CALLED, inlined=False)
    calls = [i for i in found.functions["f"].instructions() if i.op == "call"]
    assert [(i.callee_name, call_kind(i, found)) for i in calls] == [
        ("llvm.memcpy.p0.p0.i64", "block"),
        ("llvm.smin.i32", "ignored"),
        ("abs", "ignored"),
        ("strlen", "reads"),
        ("strncat", "unknown"),
        ("malloc", "ignored"),
        ("free", "ignored"),
        ("stranger", "unknown"),
        ("reader", "reads"),
        ("function", "ignored"),
        ("own", "defined"),
        ("own_function", "ignored"),
        ("strnlen", "defined"),  # a function of one's own, whatever its name
        (None, "unknown"),
    ]

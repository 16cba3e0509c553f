"""The memory of a function: its objects, which scalars are variables of which types, and how C names them."""

from __future__ import annotations

import struct

import pytest

from loopless.flowgraph.memory.objects import FunctionMemory, Options, describe_memory
from loopless.flowgraph.memory.places import NULL, Base
from loopless.flowgraph.model import Kind
from loopless.flowgraph.source_types import leaf_type
from loopless.terms import INTEGERS, ZERO, IntType, const, evaluate
from runs_of_text import module

S8, U8, S16, S32, U32, BIT = (
    IntType(8),
    IntType(8, False),
    IntType(16),
    IntType(32),
    IntType(32, False),
    IntType(1, False),
)


def memory(text: str, options: Options | None = None) -> FunctionMemory:
    found = module(text)
    return describe_memory(found.functions["f"], found, options or Options())


def slots(text: str, options: Options | None = None) -> dict[str, IntType]:
    """The scalars that are variables, by what they are called, with their types; of pointers the offset's."""
    found = memory(text, options)
    return {found.variables[slot.var].shown: slot.var.type for slot in found.slots.values()}


RECORD = (
    "struct in { char c; short k; }; struct s { int n; unsigned u; struct in inner; int row[3]; struct s *next; };\n"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int f(int x, unsigned y) { return x + (int)y; }", {"x": S32, "y": U32}),
        ("int f(void) { signed char a = 1; unsigned char b = 2; short c = 3; return a + b + c; }", {"a": S8, "b": U8, "c": S16}),
        (RECORD + "int f(void) { struct s a; a.n = 1; a.u = 2; a.inner.k = 3; a.row[2] = 4; return a.n; }",
         {"a.n": S32, "a.u": U32, "a.inner.k": S16, "a.row[2]": S32}),
        (RECORD + "void f(struct s *p) { p->n = 1; p->inner.c = 2; p->row[1] = 3; p[2].u = 4; }",
         {"p->n": S32, "p->inner.c": S8, "p->row[1]": S32, "p[2].u": U32}),
        ("void f(int *p) { *p = 1; p[3] = 2; }", {"*p": S32, "p[3]": S32}),
        ("int g; static unsigned char h[4]; void f(void) { g = 1; h[2] = 2; }", {"g": S32, "h[2]": U8}),
        ("void f(void *p) { *(int *)p = 1; *(short *)((char *)p + 6) = 2; }", {"p+0": S32, "p+6": S16}),
        ("int f(int n) { int x = n; { int x = 3; n += x; } return n + x; }", {"n": S32, "x": S32, "x#": S32}),
        # What is not as its declaration says is signed.
        ("void f(unsigned *p) { p[3] = 2; }", {"p[3]": U32}),
        ("int f(void) { unsigned u[2]; *(short *)u = 1; return *(short *)u; }", {"u": S16}),
    ],
)  # fmt: skip
def test_scalars_have_the_types_and_names_of_the_source(text: str, expected: dict[str, IntType]) -> None:
    found = memory(text)
    infos = [found.variables[slot.var] for slot in found.slots.values()]
    shown = [(info.shown, info.var.type) for info in infos if not info.pointer_part]
    assert sorted(shown, key=str) == sorted(((n.removesuffix("#"), t) for n, t in expected.items()), key=str)


@pytest.mark.parametrize(
    ("body", "type"),
    [
        ("_Bool b = 1; b = n; b = !n; b = n > 3; return b;", BIT),
        ("_Bool b = c; return b;", BIT),
        ("_Bool b = 0; *(unsigned char *)&b = n; return b;", U8),
        ("_Bool b = 0; *(unsigned char *)&b = 2; return b;", U8),
        ("_Bool b = 0; *(unsigned char *)&b = 1; return b;", BIT),
        ("union { _Bool b; unsigned char c; } b; b.c = n; return b.b;", S8),
    ],
)
def test_a_truth_value_is_one_bit_where_all_that_is_stored_is_one(body: str, type: IntType) -> None:
    found = slots(f"int f(int n, _Bool c) {{ {body} }}")
    assert next(t for name, t in found.items() if name.split(".")[0] == "b") == type


def test_mathematical_variables_are_of_the_integers_where_they_are_signed() -> None:
    text = "int f(int x, unsigned y, short z) { _Bool b = x > 3; return x + (int)y + z + b; }"
    assert slots(text, Options(mathematical=True)) == {"x": INTEGERS, "y": U32, "z": INTEGERS, "b": BIT}
    assert slots(text) == {"x": S32, "y": U32, "z": S16, "b": BIT}
    found = memory(text, Options(mathematical=True))
    assert found.number_type(1, signed=True) == IntType(1, signed=False)  # a truth value is 0 or 1


def test_pointers_are_variables_as_far_as_they_vary() -> None:
    text = "int f(int n) { int a[2] = {1, 2}, b = 3; int *one = a, *moved = a, *either = &b, *two = n > 5 ? a : a + 1; while (n--) moved++; %s }"
    found = memory(text % "if (n) either = a; return *one + *moved + *either + *two;")
    by_name = {found.variables[slot.var].shown: slot for slot in found.slots.values()}
    number = found.number(Base("local", "a"))
    one, moved, either, two = (by_name[name] for name in ("one", "moved", "either", "two"))
    assert (two.fixed_object, two.fixed_offset, two.object_var) == (number, None, None)
    assert (one.fixed_object, one.fixed_offset, one.object_var) == (number, 0, None)
    assert (moved.fixed_object, moved.fixed_offset, moved.object_var) == (number, None, None)
    assert either.fixed_object is None and either.object_var is not None
    info = found.variables[either.object_var]
    assert (info.shown, info.pointer_part, info.kind) == ("either.object", "object", Kind.LOCAL)
    assert found.variables[either.var].pointer_part == "offset"
    assert either.var.type == found.offset_type == IntType(62)


def test_a_pointer_that_a_call_may_change_is_not_fixed() -> None:
    found = memory("void stranger(int **); int f(int n) { int x = n, *p = &x; stranger(&p); return p == &x; }")
    slot = found.slots[Base("local", "p"), 0]
    assert slot.fixed_object is None and slot.object_var is not None


def test_offsets_are_as_wide_as_the_target_allows() -> None:
    text = '\ntarget datalayout = "e-p:32:32"\ntarget triple = "i386-unknown-linux-gnu"\ndefine void @f(ptr %p) {\n  ret void\n}\n'
    assert memory(text).offset_type == IntType(31)


def test_kinds_of_variables() -> None:
    found = memory("int g; int f(int n, int *p) { int x = n; g = x; *p = x; return g; }")
    kinds = {info.shown: info.kind for info in found.variables.values()}
    assert kinds == {"n": Kind.LOCAL, "p": Kind.LOCAL, "x": Kind.LOCAL, "g": Kind.GLOBAL, "*p": Kind.POINTEE} | (
        {"p.object": Kind.LOCAL} if "p.object" in kinds else {}
    )
    x = next(info for info in found.variables.values() if info.shown == "x")
    assert (x.object, x.offset, x.size) == (found.number(Base("local", "x")), 0, 4)
    assert x.declared is not None and x.declared.line == 1


def test_names_are_told_apart_by_numbers() -> None:
    found = memory("int f(void) { return 0; }")
    names = [found.fresh(shown, Kind.TEMPORARY, S32).name for shown in ("t", "t", "u", "t")]
    assert names == ["t", "t#2", "u", "t#3"]
    assert [info.shown for var, info in found.variables.items() if var.name in names] == ["t", "t", "u", "t"]


def test_objects_are_numbered_once_and_null_is_0() -> None:
    found = memory("int g; int f(void) { return g; }")
    assert found.number(NULL) == 0
    g = found.number(Base("global", "g"))
    other = found.number(Base("global", "other"))
    assert g == found.number(Base("global", "g")) != other and 0 not in (g, other)
    assert found.objects[g].name == "g"


TABLES = """
struct node { int key; struct node *next; };
static const short table[3] = {1, -2, 3};
static struct node last = {7, 0}, first = {5, &last};
extern int elsewhere[], beside[4], one;
union { int i; char c; } mixed;
long f(int n, int *p, const char *s) {
    int a[10]; char c = n; int b = a[n & 7];
    { int a[2]; a[n & 1] = 3; b += a[0]; }
    elsewhere[0] = beside[1] = one; mixed.i = 1;
    return table[n] + first.key + p[n] + s[n] + c + b + (long)&elsewhere[0] + last.key;
}
"""


def test_objects_are_described_as_they_are_declared() -> None:
    found = memory(TABLES)
    described = {
        name: found.objects[found.number(Base(kind, name))]
        for kind, name in [("global", g) for g in ("table", "last", "first", "elsewhere", "beside", "one", "mixed")]
        + [("parameter", "p"), ("parameter", "s"), ("local", "a"), ("local", "c")]
    }
    sizes = {name: object.size for name, object in described.items()}
    assert sizes == {
        "table": 6, "last": 16, "first": 16, "elsewhere": None, "beside": None, "one": 4, "mixed": 4, "p": None, "s": None, "a": 40, "c": 1,
    }  # fmt: skip
    table, first = described["table"], described["first"]
    assert (table.element, table.constant, table.content) == (S16, True, struct.pack("<3h", 1, -2, 3))
    assert (first.element, first.constant, first.content) == (None, False, struct.pack("<i12x", 5))
    assert first.relocations == ((8, "last", 0),)
    assert described["one"].content is None and described["mixed"].element is None
    assert (described["p"].element, described["p"].parameter, described["s"].parameter) == (S32, 1, 2)
    assert (described["a"].element, described["c"].element) == (S32, S8)
    assert (table.symbol, described["p"].symbol) == ("table", "")


def test_arrays_of_one_name_are_told_apart() -> None:
    found = memory(TABLES)
    for object in [
        Base("local", name) for name, target in found.points.targets.items() if target.base == Base("local", name)
    ]:
        found.number(object)
    arrays = [o for o in found.objects.values() if o.element == S32 and o.kind == "local" and (o.size or 0) > 4]
    assert sorted((o.name, o.size) for o in arrays) in ([("a", 8), ("a@9", 40)], [("a", 40), ("a@9", 8)])


def test_only_parameters_that_are_compared_with_null_may_be_null() -> None:
    found = memory("int f(int *p, int *q, int *r) { if (!p) return 0; return *p + *q + (r == q); }")
    bases = {base.name for base in found.nullable}
    assert bases == {"p"}
    assert not memory("int f(int n) { int x = n, *p = &x; return p == 0; }").nullable
    (null,) = found.nullable.values()
    assert (found.variables[null].shown, null.type) == ("p is NULL", BIT)
    p, q = Base("parameter", "p"), found.points.parameters["q"]
    assert [evaluate(found.object_term(p), {null: value}) for value in (0, 1)] == [found.number(p), 0]
    assert found.object_term(q) is const(found.number(q))
    assert found.object_term(NULL) is ZERO


def test_a_pointer_into_one_object_for_sure() -> None:
    found = memory(
        "int f(int *p, int n) { int a[2] = {0}, *x = n ? a : 0, *y = a + n, *z = n ? a : p; if (p) n++; return *x + *y + *z; }"
    )
    cells = found.points.cells
    a = found.number(Base("local", "a"))
    fixed = {name: found.fixed(cells[Base("local", name), 0]) for name in ("x", "y", "z")}
    assert fixed == {"x": None, "y": a, "z": None}
    assert found.fixed(found.points.targets["p"]) is None  # it may be null


def test_types_of_bits_inside_of_a_type() -> None:
    found = module(
        "struct in { char c; unsigned short k; }; struct s { int n : 5; unsigned u; struct in inner[2]; _Bool b; int *p; };\n"
        "union flag { _Bool b; unsigned char c; }; union plain { unsigned u; char c[4]; };\n"
        "struct s s; union flag flag; union plain plain; int count; int f(void) { return s.n + flag.c + plain.c[0] + count; }"
    )
    types = found.debug_types

    def leaf(name: str, offset: int, bits: int) -> tuple[int, bool | None] | None:
        debug = found.globals[name].debug
        assert debug is not None
        leaf = leaf_type(types, debug.type, offset, bits)
        return None if leaf is None else (leaf.bits, leaf.signed)

    assert leaf("s", 32, 32) == (32, False)
    assert leaf("s", 64, 8) == (8, True)
    assert leaf("s", 80, 16) == (16, False)
    assert leaf("s", 112, 16) == (16, False)  # s.inner[1].k
    assert leaf("s", 128, 8) == (8, False)
    assert leaf("s", 128, 1) == (8, False)  # a truth value of one bit
    assert leaf("s", 0, 5) is None  # a bit-field
    assert leaf("s", 32, 16) is None  # half of a member
    assert leaf("s", 72, 8) is None  # padding
    assert leaf("count", 0, 32) == (32, True) and leaf("count", 32, 32) is None
    assert leaf("plain", 0, 32) == (32, False)
    assert leaf("plain", 8, 8) == (8, True)
    assert leaf("flag", 0, 8) is None  # what else is stored there need not be 0 or 1


def test_the_size_of_what_is_allocated_in_assembly() -> None:
    text = "\ndefine void @f(i32 %n) {\n  %a = alloca i16, i32 3\n  %b = alloca i16\n  %c = alloca i16, i32 %n\n  ret void\n}\n"
    assert [memory(text).size(Base("local", name)) for name in "abcd"] == [6, 2, None, None]

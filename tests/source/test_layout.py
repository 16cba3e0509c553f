"""Sizes, alignments, offsets and member names against what clang itself computes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopless.source.compile import SourceOptions, compile_ir
from loopless.source.debug import TypeKind
from loopless.source.ir import AddressOf, ArrayT, FloatT, GlobalRef, IntConst, IntT, PtrT, StructT, VectorT, VoidT
from loopless.source.layout import DataLayout
from loopless.source.reader import read_module

SCALARS = ["char", "short", "int", "long", "long long", "float", "double", "long double", "void *", "_Bool"]
FIELD = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: st.tuples(inner, st.integers(1, 3)) | st.lists(inner, min_size=1, max_size=3),
    max_leaves=4,
)
STRUCTS = st.lists(st.lists(FIELD, min_size=1, max_size=5), min_size=10, max_size=10)


def c_member(field: object, name: str) -> str:
    match field:
        case str():
            return f"{field} {name}"
        case tuple():
            element, count = field
            return c_member(element, f"{name}[{count}]")
        case list():
            return "struct { " + " ".join(c_member(f, f"m{k}") + ";" for k, f in enumerate(field)) + " } " + name
    raise AssertionError(field)


def leaves(field: object, path: str) -> list[tuple[str, str]]:
    """The scalars in a member: how C names each behind the object."""
    match field:
        case str():
            return [(path, field)]
        case tuple():
            element, count = field
            return [leaf for k in range(count) for leaf in leaves(element, f"{path}[{k}]")]
        case list():
            return [leaf for k, f in enumerate(field) for leaf in leaves(f, f"{path}.m{k}")]
    raise AssertionError(field)


@settings(max_examples=6)
@given(STRUCTS, st.sampled_from(["ILP32", "LP64"]))
def test_layout_and_member_names_agree_with_clang(structs, data_model):
    lines = ["#include <stddef.h>"]
    for n, fields in enumerate(structs):
        lines.append(f"struct S{n} {{ " + " ".join(c_member(f, f"m{k}") + ";" for k, f in enumerate(fields)) + " };")
        lines.append(f"struct S{n} g{n}; size_t size{n} = sizeof g{n}, align{n} = _Alignof(struct S{n});")
        for k, field in enumerate(fields):
            lines.append(f"size_t off{n}_{k} = offsetof(struct S{n}, m{k});")
            for j, (path, _) in enumerate(leaves(field, f".m{k}")):
                lines.append(f"void *at{n}_{k}_{j} = &g{n}{path}; size_t len{n}_{k}_{j} = sizeof g{n}{path};")
    m = read_module(compile_ir("\n".join(lines), SourceOptions(data_model=data_model)))

    def number(name: str) -> int:
        value = m.globals[name].initializer
        assert isinstance(value, IntConst)
        return value.unsigned

    for n, fields in enumerate(structs):
        t = m.globals[f"g{n}"].type
        assert isinstance(t, StructT) and len(t.fields) == len(fields)
        assert m.layout.size_of(t) == number(f"size{n}")
        assert m.layout.align_of(t) == number(f"align{n}")
        debug = m.globals[f"g{n}"].debug.type
        assert debug.bits == 8 * number(f"size{n}")
        for k, field in enumerate(fields):
            assert m.layout.offset_of(t, k) == number(f"off{n}_{k}")
            for j, (path, _) in enumerate(leaves(field, f".m{k}")):
                address = m.globals[f"at{n}_{k}_{j}"].initializer
                offset = address.offset if isinstance(address, AddressOf) else 0
                assert isinstance(address, AddressOf | GlobalRef) and address.name == f"g{n}"
                assert m.debug_types.member_path(debug, offset, number(f"len{n}_{k}_{j}")) == path


@pytest.mark.parametrize(("data_model", "sizes"), [("ILP32", (4, 4, 12, 4)), ("LP64", (8, 8, 16, 8))])
def test_the_data_models(read, data_model, sizes):
    # System V ABI, i386 (fig. 2.1: long double is 12 bytes, double aligns to 4) and x86-64 (fig. 3.1).
    text = "unsigned s[] = { sizeof(long), sizeof(void *), sizeof(long double), _Alignof(struct { double d; }) };"
    program = read(text, data_model=data_model)
    assert tuple(v.value for v in program.module.globals["s"].initializer.elements) == sizes
    assert (program.data_model, program.pointer_bits) == (data_model, 8 * sizes[1])
    layout = program.module.layout
    assert (layout.size_of(PtrT()), layout.size_of(FloatT("x86_fp80"))) == sizes[1:3]


def test_layout_strings_and_types_without_layout():
    # LLVM Language Reference, "Data Layout": defaults i1:8 i8:8 i16:16 i32:32 i64:32:64 p:64:64, f64:64, v128:128.
    layout = DataLayout.parse("")
    assert (layout.align_of(IntT(64)), layout.align_of(IntT(128)), layout.align_of(IntT(24))) == (4, 4, 4)
    assert (layout.size_of(IntT(24)), layout.store_size(IntT(24)), layout.size_of(IntT(37))) == (4, 3, 8)
    assert layout.size_of(VectorT(3, IntT(32))) == 16
    assert layout.size_of(StructT((IntT(8), IntT(64)), packed=True)) == 9
    assert layout.size_of(ArrayT(0, IntT(32))) == 0
    other = DataLayout.parse("E-p:16:16-p1:32:32:32:24-i64:64-a:0:32-f64:32-v64:32")
    assert (other.big_endian, other.pointer_bits(), other.pointer_bits(1), other.index_bits(1)) == (True, 16, 32, 24)
    assert (other.align_of(IntT(64)), other.align_of(StructT((IntT(8),))), other.align_of(FloatT("double"))) == (
        8,
        1,
        4,
    )
    with pytest.raises(ValueError, match="no size"):
        layout.size_of(VoidT())


TYPES = """
typedef unsigned char byte; typedef byte octet; typedef const volatile octet careful;
enum Plain { A, B }; enum Negative { C = -1, D };
struct Node { struct Node *next; int value; };
union Mix { int i; float f; };
octet o; careful cv; enum Plain p; enum Negative q; _Bool b; char c; signed char sc; unsigned short us; long l;
unsigned long long ull; float f; double d; int *ip; const char *const s = "x"; int (*fp)(int, char *); void *vp;
int m[2][3]; struct Node node; union Mix mix; struct Node *list; char *argv[4]; __int128 wide; _BitInt(13) narrow;
struct Unknown *opaque; int (*rows)[3]; int (**fpp)(int, char *); int (*fs[2])(char *, ...);
"""


def test_debug_types(read):
    m = read(TYPES, data_model="LP64").module
    found = {g.debug.name: g.debug.type for g in m.globals.values() if g.debug is not None}
    expected = {
        "o": ("octet", TypeKind.CHAR, 8, False),
        "cv": ("careful", TypeKind.CHAR, 8, False),
        "p": ("enum Plain", TypeKind.UNSIGNED, 32, False),
        "q": ("enum Negative", TypeKind.SIGNED, 32, True),
        "b": ("_Bool", TypeKind.BOOL, 8, False),
        "c": ("char", TypeKind.CHAR, 8, True),
        "sc": ("signed char", TypeKind.CHAR, 8, True),
        "us": ("unsigned short", TypeKind.UNSIGNED, 16, False),
        "l": ("long", TypeKind.SIGNED, 64, True),
        "ull": ("unsigned long long", TypeKind.UNSIGNED, 64, False),
        "f": ("float", TypeKind.FLOAT, 32, None),
        "d": ("double", TypeKind.FLOAT, 64, None),
        "ip": ("int *", TypeKind.POINTER, 64, None),
        "s": ("const char *const", TypeKind.POINTER, 64, None),
        "fp": ("int (*)(int, char *)", TypeKind.POINTER, 64, None),
        "fpp": ("int (**)(int, char *)", TypeKind.POINTER, 64, None),
        "rows": ("int (*)[3]", TypeKind.POINTER, 64, None),
        "fs": ("int (*[2])(char *, ...)", TypeKind.ARRAY, 128, None),
        "vp": ("void *", TypeKind.POINTER, 64, None),
        "m": ("int[2][3]", TypeKind.ARRAY, 192, None),
        "node": ("struct Node", TypeKind.STRUCT, 128, None),
        "mix": ("union Mix", TypeKind.STRUCT, 32, None),
        "list": ("struct Node *", TypeKind.POINTER, 64, None),
        "argv": ("char *[4]", TypeKind.ARRAY, 256, None),
        "wide": ("__int128", TypeKind.SIGNED, 128, True),
        "opaque": ("struct Unknown *", TypeKind.POINTER, 64, None),
    }
    for name, facts in expected.items():
        t = found[name]
        assert (t.description, t.kind, t.bits, t.signed) == facts, name
    assert found["narrow"].signed is True and "13" in found["narrow"].description
    assert found["cv"].volatile and not found["o"].volatile
    assert found["mix"].union and not found["node"].union
    assert found["p"].enumeration and found["m"].counts == (2, 3)
    types = m.debug_types
    node = types.element(found["list"])
    assert [(x.name, x.offset, x.bits) for x in types.members(node)] == [("next", 0, 64), ("value", 64, 32)]
    assert types.members(types.element(types.members(node)[0].type)) == types.members(node)
    assert types.element(found["vp"]) is None


def test_member_paths_of_unions_bit_fields_and_misses(read):
    text = """
    struct In { char *p; long len; };
    struct S { int a; unsigned b : 3; signed c : 5; struct In in; int arr[2][3]; struct { int x; };
      union { int i; float f; } u; };
    struct S s; struct One { int only; } one; int row[4];
    """
    m = read(text, data_model="LP64").module
    t = {g.debug.name: g.debug.type for g in m.globals.values()}
    path = m.debug_types.member_path
    s = t["s"]
    assert path(s, 0, 4) == ".a"
    assert path(s, 4, 1) is None  # two bit-fields share the byte
    assert m.debug_types.bit_path(s, 32, 3) == ".b" and m.debug_types.bit_path(s, 35, 5) == ".c"
    assert path(s, 8, 8) == ".in.p" and path(s, 16, 8) == ".in.len" and path(s, 8, 16) == ".in"
    assert path(s, 24 + 4 * 4, 4) == ".arr[1][1]"
    assert path(s, 48, 4) == ".x"
    assert path(s, 52, 4) == ".u.i"
    assert path(s, 2, 2) is None and path(s, 4, 8) is None and path(s, 4000, 4) is None
    assert path(s, 0, s.bits // 8) == ""
    assert path(t["one"], 0, 4) == ".only"
    assert path(t["row"], 12, 4) == "[3]" and path(t["row"], 16, 4) is None and path(t["row"], 0, 16) == ""

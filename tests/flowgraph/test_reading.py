"""What is read of a module before it is a flowgraph: initial bytes, uses, homes of parameters, truth values."""

from __future__ import annotations

import struct
from itertools import product
from pathlib import Path

import pytest

from loopless.flowgraph.callees.self_calls import inverse
from loopless.flowgraph.control import untold_control
from loopless.flowgraph.memory.initial_bytes import initial_content
from loopless.flowgraph.uses import find_uses
from loopless.flowgraph.values import FLAG_TYPE, Address, Flag, Number, different_address, number_of_flag, same_address
from loopless.source import ir, load
from loopless.terms import IntType, Var, add, const, evaluate, holds, less, mul, sub, wrap

GLOBALS = """
struct record { char a; int b; short c[2]; };
int numbers[3] = { 1, -2, 70000 };
struct record one = { 'x', -5, { 7, -8 } };
struct record rows[2] = { { 1, 2, { 3, 4 } } };
char text[6] = "hey";
long zeros[4];
int *inside = &numbers[2];
struct { char tag; char *name; } named = { 3, text };
extern int elsewhere;
int use(void) { return numbers[0] + one.b + rows[0].b + text[0] + (int)zeros[0] + *inside + named.tag + elsewhere; }
"""
RECORD = struct.Struct("<b3xihh")
CONTENT = {
    "numbers": (struct.pack("<iii", 1, -2, 70000), ()),
    "one": (RECORD.pack(ord("x"), -5, 7, -8), ()),
    "rows": (RECORD.pack(1, 2, 3, 4) + RECORD.pack(0, 0, 0, 0), ()),
    "text": (b"hey" + bytes(3), ()),
    "zeros": (bytes(32), ()),
    "inside": (bytes(8), ((0, "numbers", 8),)),
    "named": (struct.pack("<b7x8x", 3), ((8, "text", 0),)),
    "elsewhere": (None, ()),
}


def module(text: str, folder: Path) -> ir.Module:
    file = folder / "a.c"
    file.write_text(text)
    return load([file]).module


def test_initial_bytes_are_as_c_lays_them_out(tmp_path: Path) -> None:
    found = module(GLOBALS, tmp_path)
    for name, expected in CONTENT.items():
        assert initial_content(found, found.globals[name]) == expected, name


def test_the_initial_bytes_of_what_is_very_large_are_not_made(tmp_path: Path) -> None:
    found = module("char big[3000000]; char small[1000]; int f(void) { return big[5] + small[5]; }", tmp_path)
    assert initial_content(found, found.globals["big"]) == (None, ())
    assert initial_content(found, found.globals["small"]) == (bytes(1000), ())


def test_results_are_read_as_their_operations_read_them(tmp_path: Path) -> None:
    found = module("int f(int a, unsigned b, int c) { return a / 3 + (int)(b / 5) + (c >> 2) + (b > 7u); }", tmp_path)
    function = found.functions["f"]
    signed = find_uses(function).signed
    divided = {i.op: i for i in function.instructions() if i.op in ("sdiv", "udiv", "ashr", "icmp")}
    assert set(divided) == {"sdiv", "udiv", "ashr", "icmp"}

    def operand(op: str) -> str:
        first = divided[op].operands[0]
        assert isinstance(first, ir.Local)
        return first.name

    assert [signed[operand(op)] for op in ("sdiv", "ashr", "udiv", "icmp")] == [True, True, False, False]


def test_what_another_block_uses_is_told_apart_from_what_does_not_leave_its_own(tmp_path: Path) -> None:
    found = module("int f(int a, int b) { return a > 3 && b > a; }", tmp_path)
    function = found.functions["f"]
    uses = find_uses(function)
    home = {i.result: block.label for block in function.blocks for i in block.instructions if i.result is not None}
    for block in function.blocks:
        for i in block.instructions:
            for value in i.operands:
                if isinstance(value, ir.Local) and i.op != "phi" and not i.is_debug and value.name in home:
                    assert (value.name in uses.elsewhere) >= (home[value.name] != block.label)
                    assert uses.last_in_block[block.label, value.name] >= block.instructions.index(i)
    # The choice of && is a phi, which reads its second operand at the very end of the block there.
    (phi,) = [i for i in function.instructions() if i.op == "phi"]
    ends = {(label, value.name) for value, label in phi.incoming if isinstance(value, ir.Local)}
    assert ends
    assert all(uses.last_in_block[end] >= max(len(block.instructions) for block in function.blocks) for end in ends)
    assert not uses.speculates


def test_bytes_that_are_read_as_truth_values_are_marked(tmp_path: Path) -> None:
    found = module("int f(_Bool *b, unsigned char *c) { return *b + *c; }", tmp_path)
    function = found.functions["f"]
    loads = [i for i in function.instructions() if i.op == "load" and i.type == ir.IntT(8)]
    assert len(loads) == 2
    assert find_uses(function).truths == {loads[0].result}


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("int f(int n) { static void *at[] = { &&a, &&b }; goto *at[n]; a: return 1; b: return 2; }", "computed goto"),
        (
            "#include <setjmp.h>\njmp_buf e; int f(int n) { if (setjmp(e)) return 1; return n; }",
            "may return more than once",
        ),
        ("int f(int n) { switch (n) { case 1: return 4; case 2: n++; } return n; }", None),
        ("int g(int); int f(int n) { while (n > 3) n = g(n); return n; }", None),
    ],
)
def test_control_that_no_edge_tells_is_found(text: str, detail: str | None, tmp_path: Path) -> None:
    found = module(text, tmp_path)
    why = untold_control(found.functions["f"], found)
    assert (why is None) == (detail is None)
    assert why is None or (detail is not None and detail in why.detail)


# -- values ------------------------------------------------------------------------------------------------------------

S8, U8 = IntType(8), IntType(8, signed=False)
X, Y, Z = Var("x", U8), Var("y", U8), Var("z", S8)


def test_bits_are_read_as_signed_and_unsigned() -> None:
    for value in range(256):
        read = struct.unpack("b", bytes([value]))[0]
        assert evaluate(Number(X, U8).read(signed=True), {X: value}) == read
        assert evaluate(Number(Z, S8).read(signed=False), {Z: read}) == value
        assert Number(X, U8).read(signed=False) is X


def test_truth_values_are_widened_by_zeros_or_by_their_sign() -> None:
    flag = Flag(less(X, Y))
    for x, y in ((1, 2), (2, 1)):
        at = {X: x, Y: y}
        assert evaluate(flag.term, at) == (x < y)
        assert evaluate(number_of_flag(flag, 32, signed_extension=False).term, at) == (x < y)
        assert evaluate(number_of_flag(flag, 32, signed_extension=True).term, at) == -(x < y)
    assert number_of_flag(flag, 1, signed_extension=False).type == FLAG_TYPE


def test_pointers_are_equal_where_object_and_offset_are() -> None:
    one, two = Address(X, Z), Address(Y, const(3))
    for x, y, z in product((1, 2), (1, 2), (3, 4)):
        at = {X: x, Y: y, Z: z}
        equal = (x, z) == (y, 3)
        assert holds(same_address(one, two), at) == equal
        assert holds(different_address(one, two), at) == (not equal)
        assert holds(different_address(one, Address(X, const(3))), at) == (z != 3)


def test_the_inverse_of_a_move_gives_back_what_was_there() -> None:
    moves = [wrap(add(X, mul(Y, const(7)), const(100)), U8), wrap(sub(X, Y), U8), add(Z, const(-3))]
    for moved in moves:
        var = Z if Z in moved.variables else X
        back = inverse(var, moved, {Y})
        assert back is not None
        for value, y in product(range(0, 100, 9), range(0, 256, 15)):
            after = evaluate(moved, {var: value, Y: y})
            assert evaluate(back, {var: after, Y: y}) == value, (str(moved), value, y)
    assert inverse(X, wrap(mul(X, const(2)), U8), {Y}) is None
    assert inverse(X, wrap(add(X, Y), U8), set()) is None

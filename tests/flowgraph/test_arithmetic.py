"""Integer instructions at 8 bits against LLVM's language reference and C11 6.5, worked out here on plain integers.

What an instruction computes does not depend on whether its operands are held as signed or as unsigned numbers: every
one is tried with parameters of each kind.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from loopless.flowgraph import Options
from loopless.flowgraph.model import Check, Havoc
from loopless.refusals import Reason
from loopless.terms import IntType
from runs_of_text import came_out, ends, flowgraph, statements

S8 = IntType(8)
EDGES = (-128, -127, -100, -64, -16, -3, -2, -1, 0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 64, 100, 126, 127)
KINDS = ("signext", "zeroext")
OVERFLOW, DIVISION, SHIFT, POISON = (
    f"undefined: {kind}" for kind in ("signed overflow", "division by zero", "shift", "poison")
)


def unsigned(value: int) -> int:
    return value & 255


def quotient(a: int, b: int) -> int:
    """C's division, which cuts off towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def fits(value: int) -> bool:
    return -128 <= value <= 127


def divided(a: int, b: int, value: Callable[[int, int], int]) -> int | str:
    """A signed division or remainder: -128 / -1 is 128, which no i8 holds."""
    return DIVISION if b == 0 else OVERFLOW if (a, b) == (-128, -1) else value(a, b)


def remainder(a: int, b: int) -> int:
    return a - b * quotient(a, b)


def shifted(a: int, b: int, value: Callable[[int, int], int | str]) -> int | str:
    return value(a, unsigned(b)) if unsigned(b) < 8 else SHIFT


BINARY: dict[str, Callable[[int, int], int | str]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "add nsw": lambda a, b: a + b if fits(a + b) else OVERFLOW,
    "sub nsw": lambda a, b: a - b if fits(a - b) else OVERFLOW,
    "mul nsw": lambda a, b: a * b if fits(a * b) else OVERFLOW,
    "add nuw": lambda a, b: a + b if unsigned(a) + unsigned(b) < 256 else POISON,
    "sub nuw": lambda a, b: a - b if unsigned(a) >= unsigned(b) else POISON,
    "mul nuw": lambda a, b: a * b if unsigned(a) * unsigned(b) < 256 else POISON,
    "sdiv": lambda a, b: divided(a, b, quotient),
    "srem": lambda a, b: divided(a, b, remainder),
    "udiv": lambda a, b: unsigned(a) // unsigned(b) if b else DIVISION,
    "urem": lambda a, b: unsigned(a) % unsigned(b) if b else DIVISION,
    "sdiv exact": lambda a, b: divided(a, b, lambda a, b: quotient(a, b) if remainder(a, b) == 0 else POISON),
    "udiv exact": lambda a, b: DIVISION if not b else POISON if unsigned(a) % unsigned(b) else unsigned(a) // unsigned(b),
    "shl": lambda a, b: shifted(a, b, lambda a, n: a << n),
    "shl nsw": lambda a, b: shifted(a, b, lambda a, n: a << n if fits(a << n) else POISON),
    "shl nuw": lambda a, b: shifted(a, b, lambda a, n: a << n if unsigned(a) << n < 256 else POISON),
    "lshr": lambda a, b: shifted(a, b, lambda a, n: unsigned(a) >> n),
    "ashr": lambda a, b: shifted(a, b, lambda a, n: a >> n),
    "lshr exact": lambda a, b: shifted(a, b, lambda a, n: POISON if a % (1 << n) else unsigned(a) >> n),
    "ashr exact": lambda a, b: shifted(a, b, lambda a, n: POISON if a % (1 << n) else a >> n),
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "or disjoint": lambda a, b: POISON if a & b else a | b,
    "icmp eq": lambda a, b: a == b,
    "icmp ne": lambda a, b: a != b,
    "icmp slt": lambda a, b: a < b,
    "icmp sle": lambda a, b: a <= b,
    "icmp sgt": lambda a, b: a > b,
    "icmp sge": lambda a, b: a >= b,
    "icmp ult": lambda a, b: unsigned(a) < unsigned(b),
    "icmp ule": lambda a, b: unsigned(a) <= unsigned(b),
    "icmp ugt": lambda a, b: unsigned(a) > unsigned(b),
    "icmp uge": lambda a, b: unsigned(a) >= unsigned(b),
    "smin": min,
    "smax": max,
    "umin": lambda a, b: min(a, b, key=unsigned),
    "umax": lambda a, b: max(a, b, key=unsigned),
    "pick": lambda a, b: min(b, a),
}  # fmt: skip


def _body(operation: str) -> str:
    if operation.startswith("icmp"):
        return f"%c = {operation} i8 %a, %b\n  %r = zext i1 %c to i8"
    if operation == "pick":
        return "%c = icmp slt i8 %a, %b\n  %r = select i1 %c, i8 %a, i8 %b"
    if operation[1:] in ("min", "max"):
        return f"%r = call i8 @llvm.{operation}.i8(i8 %a, i8 %b)"
    return f"%r = {operation} i8 %a, %b"


def _name(*words: str) -> str:
    return "_".join(words).replace(" ", "_")


BINARY_IR = (
    "\n"
    + "\n".join(
        f"define signext i8 @{_name(operation, *kinds)}(i8 {kinds[0]} %a, i8 {kinds[1]} %b) {{\n  {_body(operation)}\n  ret i8 %r\n}}"
        for operation in BINARY
        for kinds in product(KINDS, repeat=2)
    )
    + "".join(f"\ndeclare i8 @llvm.{name}.i8(i8, i8)" for name in ("smin", "smax", "umin", "umax"))
)


@pytest.mark.parametrize("operation", BINARY)
def test_binary(operation: str) -> None:
    for kinds in product(KINDS, repeat=2):
        for a, b in product(EDGES, repeat=2):
            given = [value if kind == "signext" else unsigned(value) for value, kind in zip((a, b), kinds, strict=True)]
            expected = BINARY[operation](a, b)
            expected = S8.wrap(expected) if isinstance(expected, int) else expected
            found = came_out(BINARY_IR, *given, function=_name(operation, *kinds))
            assert found == expected, (kinds, a, b)


UNARY: dict[str, tuple[str, str, Callable[[int], int | str]]] = {
    "zext": ("%r = zext i8 %a to i16", "i16", unsigned),
    "sext": ("%r = sext i8 %a to i16", "i16", lambda a: a),
    "zext nneg": ("%r = zext nneg i8 %a to i16", "i16", lambda a: a if a >= 0 else POISON),
    "trunc": ("%r = trunc i8 %a to i4", "i4", lambda a: IntType(4).wrap(a)),
    "trunc nsw": ("%r = trunc nsw i8 %a to i4", "i4", lambda a: a if -8 <= a < 8 else POISON),
    "trunc nuw": ("%r = trunc nuw i8 %a to i4", "i4", lambda a: IntType(4).wrap(a) if 0 <= a < 16 else POISON),
    "lowest bit": ("%t = trunc i8 %a to i1\n  %r = zext i1 %t to i8", "i8", lambda a: a & 1),
    "lowest bit as sign": ("%t = trunc i8 %a to i1\n  %r = sext i1 %t to i8", "i8", lambda a: -(a & 1)),
    "promised bit": ("%t = trunc nuw i8 %a to i1\n  %r = zext i1 %t to i8", "i8", lambda a: a if a in (0, 1) else POISON),
    "freeze": ("%r = freeze i8 %a", "i8", lambda a: a),
    "abs": ("%r = call i8 @llvm.abs.i8(i8 %a, i1 false)", "i8", lambda a: S8.wrap(abs(a))),
    "abs that fits": ("%r = call i8 @llvm.abs.i8(i8 %a, i1 true)", "i8", lambda a: abs(a) if a > -128 else OVERFLOW),
    "expect": ("%r = call i8 @llvm.expect.i8(i8 %a, i8 3)", "i8", lambda a: a),
    "by a constant": ("%r = udiv i8 %a, -3", "i8", lambda a: unsigned(a) // 253),
    "wider shift": ("%w = zext i8 %a to i16\n  %s = shl i16 %w, 8\n  %r = ashr i16 %s, 8", "i16", lambda a: a),
}  # fmt: skip
UNARY_IR = (
    "\n"
    + "\n".join(
        f"define signext {type} @{_name(kind, *name.replace(',', '').split())}(i8 {kind} %a) {{\n  {body}\n  ret {type} %r\n}}"
        for name, (body, type, _) in UNARY.items()
        for kind in KINDS
    )
    + "\ndeclare i8 @llvm.abs.i8(i8, i1)\ndeclare i8 @llvm.expect.i8(i8, i8)"
)


@pytest.mark.parametrize("operation", UNARY)
@pytest.mark.parametrize("kind", KINDS)
def test_unary(operation: str, kind: str) -> None:
    name = _name(kind, *operation.replace(",", "").split())
    for a in range(-128, 128):
        given = a if kind == "signext" else unsigned(a)
        assert came_out(UNARY_IR, given, function=name) == UNARY[operation][2](a), a


TRUTHS: dict[str, Callable[[bool, bool], bool]] = {
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "xor": lambda a, b: a != b,
    "add": lambda a, b: (a + b) % 2 == 1,
    "sub": lambda a, b: (a - b) % 2 == 1,
    "mul": lambda a, b: a and b,
    "select": lambda a, b: b if a else not b,
}
TRUTHS_IR = "\n" + "\n".join(
    f"define i8 @f_{op}(i8 %x, i8 %y) {{\n  %a = icmp slt i8 %x, 5\n  %b = icmp slt i8 %y, 5\n"
    + ("  %n = xor i1 %b, true\n  %c = select i1 %a, i1 %b, i1 %n\n" if op == "select" else f"  %c = {op} i1 %a, %b\n")
    + "  %r = zext i1 %c to i8\n  ret i8 %r\n}"
    for op in TRUTHS
)


@pytest.mark.parametrize("operation", TRUTHS)
def test_truth_values(operation: str) -> None:
    for x, y in product((4, 5), repeat=2):
        assert came_out(TRUTHS_IR, x, y, function=f"f_{operation}") == TRUTHS[operation](x < 5, y < 5)


OPTIMIZED = """
define signext i8 @f(i8 signext %a, i8 signext %b) {
  %r = INSTRUCTION i8 %a, %b
  %f = freeze i8 %r
  ret i8 %f
}
"""


@pytest.mark.parametrize("operation", [op for op in BINARY if " " in op and not op.startswith("icmp")])
def test_a_broken_promise_in_optimized_code_is_not_answered_and_else_all_is_as_before(operation: str) -> None:
    """What is undefined at once (a division by zero) is so there too; poison is, and shifts by too much give, no value."""
    text = OPTIMIZED.replace("INSTRUCTION", operation)
    refused = [end.refused for end in ends(flowgraph(text)) if end.kind == "unsupported"]
    for a, b in product(EDGES[::2], repeat=2):
        expected, found = BINARY[operation](a, b), came_out(text, a, b)
        promise = expected in (POISON, SHIFT) or (expected == OVERFLOW and "div" not in operation)
        if promise:
            assert {why.reason for why in refused if why is not None} == {Reason.UNDEF_VALUE}
            assert isinstance(found, str) and found.startswith("unknown") and "breaks a promise" in found
        else:
            assert found == (S8.wrap(expected) if isinstance(expected, int) else expected)


# -- as C has it -------------------------------------------------------------------------------------------------------

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LEFT_SHIFT = "undefined: left shift"
SHIFT_OVERFLOW = "undefined: shift overflow"
IN_C = """
int plus(int a, int b) { return a + b; }
int times(int a, int b) { return a * b; }
int minus(int a) { return -a; }
int over(int a, int b) { return a / b; }
int rest(int a, int b) { return a % b; }
unsigned uplus(unsigned a, unsigned b) { return a + b; }
unsigned uminus(unsigned a) { return -a; }
int left(int a, int b) { return a << b; }
unsigned uleft(unsigned a, unsigned b) { return a << b; }
int right(int a, int b) { return a >> b; }
int mixed(int a, unsigned b) { return a < b; }
int same(int a, unsigned b) { return a == b; }
int narrow(int a) { return (signed char)a; }
int unarrow(int a) { return (unsigned char)a; }
long widen(unsigned a) { return (int)a; }
long uwiden(int a) { return (unsigned)a; }
int narrow_sum(short a, short b) { return (short)(a + b); }
int truth(int a) { return !a + 2 * !!a; }
_Bool to_bool(int a) { return a; }
"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (("plus", INT_MAX, 0), INT_MAX),
        (("plus", INT_MAX, 1), OVERFLOW),
        (("plus", INT_MIN, -1), OVERFLOW),
        (("times", 65536, 32767), 2147418112),
        (("times", 65536, 32768), OVERFLOW),
        (("times", INT_MIN, -1), OVERFLOW),
        (("minus", INT_MIN), OVERFLOW),
        (("minus", INT_MAX), -INT_MAX),
        (("over", 7, -2), -3),
        (("over", -7, 2), -3),
        (("over", 7, 0), DIVISION),
        (("over", INT_MIN, -1), OVERFLOW),
        (("rest", -7, 2), -1),
        (("rest", 7, -2), 1),
        (("rest", INT_MIN, -1), OVERFLOW),
        (("rest", 0, 0), DIVISION),
        (("uplus", 2**32 - 1, 2), 1),
        (("uminus", 1), 2**32 - 1),
        (("left", 1, 30), 2**30),
        (("left", 1, 31), SHIFT_OVERFLOW),
        (("left", -1, 0), "undefined: shift of negative"),
        (("left", 1, 32), LEFT_SHIFT),
        (("left", 1, -1), LEFT_SHIFT),
        (("left", 0, 31), 0),
        (("uleft", 3, 31), 2**31),
        (("uleft", 3, 32), SHIFT),
        (("right", -1, 31), -1),
        (("right", -8, 1), -4),
        (("right", 1, 32), SHIFT),
        (("mixed", -1, 1), 0),
        (("mixed", 1, 2**32 - 1), 1),
        (("same", -1, 2**32 - 1), 1),
        (("same", -1, 1), 0),
        (("narrow", 200), -56),
        (("narrow", -129), 127),
        (("unarrow", -1), 255),
        (("widen", 2**32 - 1), -1),
        (("uwiden", -1), 2**32 - 1),
        (("narrow_sum", 32767, 1), -32768),
        (("truth", 0), 1),
        (("truth", -5), 2),
        (("to_bool", 256), 1),
        (("to_bool", 0), 0),
    ],
)
def test_c(call: tuple[str, ...], expected: int | str) -> None:
    assert came_out(IN_C, *call[1:], function=call[0]) == expected


WRAPPING, MATHEMATICAL = Options(wrapv=True), Options(mathematical=True)


@pytest.mark.parametrize(
    ("options", "call", "expected"),
    [
        (WRAPPING, ("plus", INT_MAX, 1), INT_MIN),
        (WRAPPING, ("times", 65536, 65536), 0),
        (WRAPPING, ("minus", INT_MIN), INT_MIN),
        (WRAPPING, ("left", -1, 4), -16),
        (WRAPPING, ("left", 3, 31), INT_MIN),
        (WRAPPING, ("left", 1, 32), SHIFT),
        (WRAPPING, ("over", 1, 0), DIVISION),
        (WRAPPING, ("over", INT_MIN, -1), OVERFLOW),
        (MATHEMATICAL, ("plus", INT_MAX, INT_MAX), 2**32 - 2),
        (MATHEMATICAL, ("times", 2**40, 2**40), 2**80),
        (MATHEMATICAL, ("minus", INT_MIN), 2**31),
        (MATHEMATICAL, ("over", -7, 2), -3),
        (MATHEMATICAL, ("over", INT_MIN, -1), 2**31),
        (MATHEMATICAL, ("over", 3, 0), DIVISION),
        (MATHEMATICAL, ("uplus", 2**32 - 1, 2), 1),
        (MATHEMATICAL, ("mixed", -1, 1), 0),
        (MATHEMATICAL, ("same", -1, 2**32 - 1), 1),
        (MATHEMATICAL, ("same", 2**32 + 5, 5), 1),
        (MATHEMATICAL, ("uwiden", -1), 2**32 - 1),
        (MATHEMATICAL, ("truth", 2**70), 2),
    ],
)
def test_c_read_otherwise(options: Options, call: tuple[str, ...], expected: int | str) -> None:
    assert came_out(IN_C, *call[1:], function=call[0], options=options) == expected


@pytest.mark.parametrize("operation", ["a & b", "a | b", "a ^ b", "a << b", "a >> b"])
def test_bits_of_mathematical_integers_have_no_meaning(operation: str) -> None:
    (havoc,) = statements(flowgraph(f"int f(int a, int b) {{ return {operation}; }}", options=MATHEMATICAL), Havoc)
    assert havoc.refused.reason is Reason.UNSUPPORTED_INSTRUCTION
    assert "bit operations on ℤ" in havoc.refused.detail


# -- what is not followed ----------------------------------------------------------------------------------------------


def refusals(text: str) -> set[Reason]:
    g = flowgraph(text)
    found = {h.refused.reason for h in statements(g, Havoc) if h.refused is not None}
    return found | {end.refused.reason for end in ends(g) if end.refused is not None}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("int f(int n) { return 0.5f + n > 1; }", Reason.FLOAT),
        ("int f(int n) { return (int)(n * 0.5); }", Reason.FLOAT),
        ("double f(int n) { return 0.5 + n; }", Reason.FLOAT),
        ("long f(long n) { return *(long *)n; }", Reason.POINTER),
        ("int f(int n) { int a, b; int *p = n ? &a : &b, *q = n ? &b : &a; return p < q; }", Reason.POINTER),
        ("typedef int v __attribute__((vector_size(16))); int f(v a, v b) { return (a + b)[0]; }",
         Reason.UNSUPPORTED_INSTRUCTION),
        ("typedef int v __attribute__((vector_size(16))); int f(v a, v b) { return (a < b)[0]; }",
         Reason.UNSUPPORTED_INSTRUCTION),
        ("\ndefine i8 @f(i8 %a) {\n  %r = add i8 %a, undef\n  ret i8 %r\n}", Reason.UNDEF_VALUE),
        ("\ndefine i8 @f(i8 %a) {\n  %r = icmp eq i8 %a, poison\n  %z = zext i1 %r to i8\n  ret i8 %z\n}",
         Reason.UNDEF_VALUE),
        ("\ndefine i8 @f(i8 %a) {\n  %r = sub i8 poison, %a\n  ret i8 %r\n}", Reason.UNDEF_VALUE),
    ],
)  # fmt: skip
def test_what_is_not_followed_says_why(text: str, reason: Reason) -> None:
    assert refusals(text) == {reason}


def test_an_undefined_value_makes_a_run_unknown_only_where_it_is_needed() -> None:
    text = "\ndefine i8 @f(i1 %c, i8 %a) {\n  %r = select i1 %c, i8 %a, i8 undef\n  ret i8 %r\n}"
    assert came_out(text, 1, 7) == 7
    found = came_out(text, 0, 7)
    assert isinstance(found, str) and found.startswith("unknown") and "undefined value" in found


# -- pointers ----------------------------------------------------------------------------------------------------------

POINTERS = """
int equal(int i, int j) { int a[4]; return a + i == a + j; }
int below(int i, int j) { int a[4]; return a + i < a + j; }
int most(int i, int j) { int a[4]; return a + i >= a + j; }
long apart(int i, int j) { int a[4]; return &a[i] - &a[j]; }
int others(int i) { int a[4], b[4]; return (a + i == b + i) + 2 * (a + i != b + i); }
int chosen(int n) { int a = 3, b = 4; int *p = n > 0 ? &a : &b; return *p; }
int null(int n) { int a; int *p = n ? &a : 0; return p == 0; }
unsigned long difference(int i) { int a[4]; return (unsigned long)(a + i) - (unsigned long)a; }
"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (("equal", 1, 1), 1),
        (("equal", 1, 2), 0),
        (("below", 1, 2), 1),
        (("below", 2, 2), 0),
        (("most", 2, 2), 1),
        (("most", 1, 2), 0),
        (("apart", 3, 1), 2),
        (("apart", 0, 4), -4),
        (("others", 1), 2),
        (("chosen", 1), 3),
        (("chosen", 0), 4),
        (("null", 0), 1),
        (("null", 1), 0),
        (("difference", 3), 12),
    ],
)
def test_pointers(call: tuple[str, ...], expected: int) -> None:
    assert came_out(POINTERS, *call[1:], function=call[0]) == expected


@pytest.mark.parametrize("operation", ["add", "sub", "mul"])
@pytest.mark.parametrize("sign", ["s", "u"])
def test_operations_that_tell_whether_they_overflow(operation: str, sign: str) -> None:
    pair = "{ i8, i1 }"
    text = (
        f"declare {pair} @llvm.{sign}{operation}.with.overflow.i8(i8, i8)\n"
        "define i32 @f(i8 signext %a, i8 signext %b) {\n"
        f"  %p = call {pair} @llvm.{sign}{operation}.with.overflow.i8(i8 %a, i8 %b)\n"
        f"  %v = extractvalue {pair} %p, 0\n  %o = extractvalue {pair} %p, 1\n"
        "  %w = zext i8 %v to i32\n  %k = zext i1 %o to i32\n"
        "  %s = shl i32 %k, 8\n  %r = or i32 %w, %s\n  ret i32 %r\n}\n"
    )
    compute = {"add": int.__add__, "sub": int.__sub__, "mul": int.__mul__}[operation]
    for a, b in product((-128, -100, -3, 0, 1, 2, 16, 100, 127), repeat=2):
        exact = compute(a, b) if sign == "s" else compute(unsigned(a), unsigned(b))
        kept = fits(exact) if sign == "s" else 0 <= exact <= 255
        assert came_out(text, a, b) == unsigned(exact) + (0 if kept else 256), (a, b)


SELECTED = """
@a = global i32 3
@b = global [2 x i32] [i32 0, i32 4]
define i32 @f(i32 %n) {
  %c = icmp sgt i32 %n, 0
  %second = getelementptr i8, ptr @b, i64 4
  %p = select i1 %c, ptr @a, ptr %second
  %r = load i32, ptr %p
  ret i32 %r
}
"""


def test_a_pointer_is_selected_with_its_object_and_its_offset() -> None:
    assert (came_out(SELECTED, 1), came_out(SELECTED, 0)) == (3, 4)


def test_checks_stand_for_what_they_say_and_no_others_are_made() -> None:
    """Each operation of C brings the checks of its kind, and one whose operands are known to be fine brings none."""

    def kinds(body: str) -> list[str]:
        return [check.kind for check in statements(flowgraph(f"int f(int a, int b) {{ return {body}; }}"), Check)]

    assert kinds("a / b") == ["division-by-zero", "signed-overflow"]
    assert kinds("a / 7") == []
    assert kinds("a / -1") == ["signed-overflow"]
    assert kinds("(a & 255) + (b & 255)") == []
    assert kinds("a >> 3") == []
    assert kinds("(unsigned)a + (unsigned)b") == []

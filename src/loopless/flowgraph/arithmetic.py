"""Integer instructions: what they compute, and where they are undefined."""

from __future__ import annotations

import re
from collections.abc import Callable

from loopless.flowgraph.access import alive, only_object, surely_there
from loopless.flowgraph.model import NULL_OBJECT, End, Origin
from loopless.flowgraph.same_objects import Order
from loopless.flowgraph.translate import Translator
from loopless.flowgraph.values import (
    FLAG_TYPE,
    Address,
    Flag,
    Nothing,
    Number,
    Value,
    different_address,
    number_of_flag,
    same_address,
)
from loopless.flowgraph.words import ADDRESS
from loopless.refusals import Reason
from loopless.source import ir, marks
from loopless.terms import (
    INTEGERS,
    ONE,
    TRUE,
    ZERO,
    Condition,
    Const,
    IntType,
    Term,
    TermTooLarge,
    Var,
    add,
    between,
    bit_and,
    bit_or,
    bit_xor,
    conjunction,
    const,
    disjunction,
    equal,
    ite,
    less,
    less_equal,
    maximum,
    minimum,
    mul,
    neg,
    negate,
    not_equal,
    not_zero,
    shift_left,
    shift_right,
    sub,
    trunc_div,
    trunc_rem,
    wrap,
)

BINARY = frozenset(["add", "sub", "mul", "sdiv", "udiv", "srem", "urem", "shl", "lshr", "ashr", "and", "or", "xor"])
CASTS = frozenset(("zext", "sext", "trunc", "ptrtoint", "inttoptr", "bitcast", "addrspacecast", "freeze"))
_OVERFLOWING = re.compile(r"llvm\.([su])(add|sub|mul)\.with\.overflow\.i(\d+)")
_BITWISE: dict[str, Callable[[Term, Term], Term]] = {"and": bit_and, "or": bit_or, "xor": bit_xor}
_RING: dict[str, Callable[[Term, Term], Term]] = {"add": add, "sub": sub, "mul": mul}


def binary(t: Translator, instruction: ir.Instruction) -> Value:
    """The result of a binary instruction."""
    if not isinstance(instruction.type, ir.IntT):
        return _not_followed(t, instruction)
    if instruction.type.bits == 1:
        return _truth_table(t, instruction)
    left, right = (t.number(operand) for operand in instruction.operands)
    if left is None or right is None:
        why = next(v for v in map(t.value, instruction.operands) if not isinstance(v, Number | Flag))
        refused = why.refused if isinstance(why, Nothing) else None
        name = instruction.result or instruction.op
        return t.unknown(instruction.type, Origin.UNSUPPORTED, name, instruction.loc, refused)
    if instruction.op in ("shl", "lshr", "ashr", "and", "or", "xor") and None in (left.type.width, right.type.width):
        refused = t.refused("bit operations on ℤ have no meaning under mathematical integers", instruction.loc)
        return t.unknown(instruction.type, Origin.UNSUPPORTED, instruction.op, instruction.loc, refused)
    try:
        return _number(t, instruction, left, right, instruction.type.bits)
    except TermTooLarge as error:
        refused = t.refused(f"the expression is too large: {error}", instruction.loc, Reason.BUDGET)
        return t.unknown(instruction.type, Origin.UNSUPPORTED, instruction.op, instruction.loc, refused)


def _number(t: Translator, instruction: ir.Instruction, left: Number, right: Number, bits: int) -> Number:
    op = instruction.op
    if op in _RING:
        return _ring(t, instruction, left, right, bits)
    if op in ("sdiv", "srem", "udiv", "urem"):
        return _division(t, instruction, left, right, bits)
    if op in _BITWISE:
        type = _common(left, right, bits)
        if op == "or" and "disjoint" in instruction.flags:
            # "or disjoint" is an addition whose operands share no bit, else poison.
            both = bit_and(left.read(signed=type.signed), right.read(signed=type.signed))
            t.promised(equal(both, ZERO), "poison", instruction.loc)
        return Number(_BITWISE[op](left.read(signed=type.signed), right.read(signed=type.signed)), type)
    amount = right.read(signed=False)
    of_signed = bool(instruction.flags & {marks.SIGNED, marks.SIGNED_CXX}) and not t.memory.options.wrapv
    t.promised(less(amount, const(bits)), "left-shift" if of_signed else "shift", instruction.loc)
    if op == "shl":
        return _shift_left(t, instruction, left, amount, bits)
    signed = op == "ashr"
    if "exact" in instruction.flags:
        lost = sub(left.read(signed=signed), shift_left(shift_right(left.read(signed=signed), amount), amount))
        t.promised(equal(lost, ZERO), "poison", instruction.loc)
    return Number(shift_right(left.read(signed=signed), amount), IntType(bits, signed))


def _common(left: Number, right: Number, bits: int) -> IntType:
    """How the result of an operation on bits is read: unsigned where an operand that is not a constant is."""
    unsigned = any(not n.type.signed and not isinstance(n.term, Const) for n in (left, right))
    return IntType(bits, signed=not unsigned)


def _ring(t: Translator, instruction: ir.Instruction, left: Number, right: Number, bits: int) -> Number:
    make = _RING[instruction.op]
    nsw = "nsw" in instruction.flags and not t.memory.options.wrapv
    nuw = "nuw" in instruction.flags
    if left.type.width is None or right.type.width is None:
        type = INTEGERS if (nsw or all(n.type.signed for n in (left, right))) else IntType(bits, signed=False)
        return Number(wrap(make(left.term, right.term), type), type)
    if nsw:
        exact = make(left.read(signed=True), right.read(signed=True))
        type = IntType(bits)
        if not t.memory.options.mathematical:
            t.promised(between(type.min, exact, type.max), "signed-overflow", instruction.loc)
            return Number(exact, type)  # past the check it fits
        return Number(exact, INTEGERS)
    if nuw:
        exact = make(left.read(signed=False), right.read(signed=False))
        type = IntType(bits, signed=False)
        t.promised(between(type.min, exact, type.max), "poison", instruction.loc)
        return Number(exact, type)
    type = _common(left, right, bits)
    return Number(wrap(make(left.term, right.term), type), type)


def _division(t: Translator, instruction: ir.Instruction, left: Number, right: Number, bits: int) -> Number:
    signed = instruction.op[0] == "s"
    a, b = left.converted(bits, signed=signed), right.converted(bits, signed=signed)
    type = IntType(bits, signed)
    divides(t, a, b, type if left.type.width is not None else INTEGERS, instruction.loc)
    if "exact" in instruction.flags:
        t.promised(equal(trunc_rem(a, b), ZERO), "poison", instruction.loc)
    value = trunc_div(a, b) if instruction.op.endswith("div") else trunc_rem(a, b)
    if signed and left.type.width is None:
        return Number(value, INTEGERS)
    return Number(wrap(value, type), type)


def divides(t: Translator, a: Term, b: Term, type: IntType, loc: ir.Loc | None) -> None:
    """Check that the quotient of two numbers of a type exists and fits it."""
    t.check(not_equal(b, ZERO), "division-by-zero", loc)
    if type.signed and type.min is not None:
        t.check(negate(conjunction((equal(a, const(type.min)), equal(b, const(-1))))), "signed-overflow", loc)


def _shift_left(t: Translator, instruction: ir.Instruction, left: Number, amount: Term, bits: int) -> Number:
    if not t.memory.options.wrapv and instruction.flags & {marks.SIGNED, marks.SIGNED_CXX, marks.PERHAPS_SIGNED}:
        return _signed_shift_left(t, instruction, left, amount, bits)
    type = IntType(bits, left.type.signed)
    exact = shift_left(left.term, amount)
    for flag, signed in (("nsw", True), ("nuw", False)):
        if flag in instruction.flags:
            ranged = IntType(bits, signed)
            t.promised(
                between(ranged.min, shift_left(left.read(signed=signed), amount), ranged.max), "poison", instruction.loc
            )
    return Number(wrap(exact, type), type)


def _signed_shift_left(t: Translator, instruction: ir.Instruction, left: Number, amount: Term, bits: int) -> Number:
    """A left shift of a signed operand: C wants it not negative and the result representable; C++ lets bits get into
    the sign, but not out of it. What is not representable goes first: that is an overflow, whatever the operand.
    """
    type, loc = IntType(bits), instruction.loc
    if marks.SIGNED_CXX in instruction.flags:
        whole = shift_left(left.read(signed=False), amount)
        t.check(between(0, whole, IntType(bits, signed=False).max), "shift-overflow", loc)
        return Number(wrap(whole, type), type)
    operand = left.read(signed=True)
    exact = shift_left(operand, amount)
    fits, natural = between(type.min, exact, type.max), less_equal(ZERO, operand)
    if marks.SIGNED in instruction.flags:
        t.check(fits, "shift-overflow", loc)
        t.check(natural, "shift-of-negative", loc)
        return Number(exact, type)  # past the check it fits
    detail = "with checks the compiler reads other code here, so it is not known whether the shift is of a signed value"
    t.split_unless(conjunction((natural, fits)), End("unsupported", None, None, loc, t.refused(detail, loc)), loc)
    return Number(exact, type)


def _truth_table(t: Translator, instruction: ir.Instruction) -> Value:
    flags = [t.value(operand) for operand in instruction.operands]
    a, b = (flag.condition if isinstance(flag, Flag) else None for flag in flags)
    if a is None or b is None:
        return t.unknown(instruction.type, Origin.UNSUPPORTED, instruction.op, instruction.loc)
    match instruction.op:
        case "and" | "mul":
            return Flag(conjunction((a, b)))
        case "or":
            return Flag(disjunction((a, b)))
        case "xor" | "add" | "sub":
            return Flag(disjunction((conjunction((a, negate(b))), conjunction((negate(a), b)))))
        case _:
            return t.unknown(instruction.type, Origin.UNSUPPORTED, instruction.op, instruction.loc)


def _not_followed(t: Translator, instruction: ir.Instruction) -> Nothing:
    if isinstance(instruction.type, ir.FloatT):
        return Nothing(t.refused("floating-point values are not followed", instruction.loc, Reason.FLOAT))
    return Nothing(t.refused(f"{instruction.op} on vectors is not followed", instruction.loc))


def compare(t: Translator, instruction: ir.Instruction) -> Value:
    """The truth value of an ``icmp``."""
    predicate = instruction.predicate or "eq"
    if isinstance(instruction.type, ir.VectorT):
        return _not_followed(t, instruction)
    if isinstance(instruction.operands[0].type, ir.PtrT):
        return _compare_pointers(t, instruction, predicate)
    left, right = (t.number(operand) for operand in instruction.operands)
    if left is None or right is None:
        refused = next((v.refused for v in map(t.value, instruction.operands) if isinstance(v, Nothing)), None)
        return t.unknown(instruction.type, Origin.UNSUPPORTED, "icmp", instruction.loc, refused)
    assert isinstance(instruction.operands[0].type, ir.IntT)
    bits, signed = instruction.operands[0].type.bits, predicate[0] == "s"
    if predicate in ("eq", "ne"):
        signed = _equality_reading(left, right)
        a, b = left.converted(bits, signed=signed), right.converted(bits, signed=signed)
        return Flag(equal(a, b) if predicate == "eq" else not_equal(a, b))
    return Flag(_ordering(predicate[1:], left.converted(bits, signed=signed), right.converted(bits, signed=signed)))


def _equality_reading(left: Number, right: Number) -> bool:
    """Equality does not depend on the reading: take one that needs no reduction."""
    if isinstance(left.term, Const):
        return right.type.signed
    if isinstance(right.term, Const) or left.type.signed == right.type.signed:
        return left.type.signed
    return None not in (left.type.width, right.type.width)  # what is of ℤ is compared with unsigned as C converts it


def _ordering(relation: str, a: Term, b: Term) -> Condition:
    match relation:
        case "lt":
            return less(a, b)
        case "le":
            return less_equal(a, b)
        case "gt":
            return less(b, a)
        case _:
            return less_equal(b, a)


def _compare_pointers(t: Translator, instruction: ir.Instruction, predicate: str) -> Value:
    if not t.uses.speculates:
        for operand in instruction.operands:
            alive(t, operand, instruction.loc)
    a, b = (t.address(operand, instruction.loc) for operand in instruction.operands)
    if predicate == "eq":
        return Flag(same_address(a, b))
    if predicate == "ne":
        return Flag(different_address(a, b))
    if a.object is not b.object and len({only_object(t, operand) for operand in instruction.operands}) == 1:
        a, b = (surely_there(t, operand, instruction.loc) for operand in instruction.operands)
    if a.object is b.object:
        return Flag(_ordering(predicate[1:], a.offset, b.offset))
    refused = t.refused("pointers into different objects are ordered", instruction.loc, Reason.POINTER)
    found = t.unknown(ir.IntT(1), Origin.UNSUPPORTED, "order", instruction.loc, refused)
    if isinstance(found, Flag) and isinstance(a.object, Var) and isinstance(b.object, Var):
        (var,) = found.condition.variables
        t.orders[var] = Order(a.object, b.object, _ordering(predicate[1:], a.offset, b.offset))
    return found


def cast(t: Translator, instruction: ir.Instruction) -> Value:
    """The result of a cast."""
    operand = instruction.operands[0]
    if instruction.op in ("freeze", "bitcast", "addrspacecast"):
        same = type(operand.type) is type(instruction.type)
        value = t.value(operand)
        return value if same or isinstance(value, Nothing) else _not_followed(t, instruction)
    if instruction.op == "ptrtoint" and isinstance(instruction.type, ir.IntT):
        if not t.uses.speculates:
            alive(t, operand, instruction.loc)
        # Integers made of pointers, null ones too, may be subtracted; clang has a name of its own for pointers.
        subtracted = instruction.result in t.uses.subtracted and (instruction.result or "").startswith("sub.ptr")
        address = surely_there(t, operand, instruction.loc) if subtracted else t.address(operand, instruction.loc)
        return _address_number(t, operand, address, instruction.type.bits, instruction.loc)
    if instruction.op == "inttoptr" or not isinstance(instruction.type, ir.IntT):
        refused = t.refused("a number is made a pointer", instruction.loc, Reason.POINTER)
        return t.unknown(instruction.type, Origin.UNSUPPORTED, instruction.op, instruction.loc, refused)
    return _resize(t, instruction, t.value(operand), instruction.type.bits)


def _resize(t: Translator, instruction: ir.Instruction, value: Value, bits: int) -> Value:
    op = instruction.op
    match value:
        case Flag() if op == "trunc":
            return value
        case Flag():
            return number_of_flag(value, bits, signed_extension=op == "sext")
        case Number() if op == "trunc" and bits == 1:
            _kept_by_cast(t, instruction, value, bits)
            if marks.TRUTH in instruction.flags:
                byte = value.converted(8, signed=False)
                t.check(less_equal(byte, ONE), "invalid-bool", instruction.loc)
                return Flag(not_zero(byte))
            return Flag(not_zero(wrap(value.term, FLAG_TYPE)))
        case Number() if op == "trunc":
            if value.type.width is None:
                return value
            _kept_by_cast(t, instruction, value, bits)
            type = IntType(bits, value.type.signed)
            return Number(wrap(value.term, type), type)
        case Number():
            if instruction.result in t.uses.lengths:
                _surely_length(t, instruction, value)
            if value.type.width is None:
                same = op == "sext" or "nneg" in instruction.flags
                return value if same else _zero_extended(instruction, value, bits)
            if "nneg" in instruction.flags:
                t.promised(less_equal(ZERO, value.read(signed=True)), "poison", instruction.loc)
            # A zero-extended value is never negative, so either reading of the wider type agrees.
            return Number(value.read(signed=op == "sext"), IntType(bits, signed=True))
        case _:
            refused = value.refused if isinstance(value, Nothing) else None
            return t.unknown(ir.IntT(bits), Origin.UNSUPPORTED, op, instruction.loc, refused)


def _surely_length(t: Translator, instruction: ir.Instruction, value: Number) -> None:
    """The length of an array is widened by zeros, whatever its sign: a negative one is undefined, a large unsigned one
    is not, and which it is, the code does not tell, but for ℤ.
    """
    term = value.read(signed=True)
    if value.type.width is None:
        t.check(less(ZERO, term), "array-length", instruction.loc)
        return
    detail = "the length of an array is negative, or a large unsigned number; which, the compiler's code does not tell"
    refused = t.refused(detail, instruction.loc)
    t.split_unless(less_equal(ZERO, term), End("unsupported", None, None, instruction.loc, refused), instruction.loc)


def _kept_by_cast(t: Translator, instruction: ir.Instruction, value: Number, bits: int) -> None:
    """The promise of a ``trunc`` that no bits are lost."""
    for flag, signed in (("nsw", True), ("nuw", False)):
        if flag in instruction.flags and value.type.width is not None:
            kept = IntType(bits, signed)
            t.promised(between(kept.min, value.read(signed=signed), kept.max), "poison", instruction.loc)


def _zero_extended(instruction: ir.Instruction, value: Number, bits: int) -> Number:
    """What is of ℤ converted to an unsigned type, and that to a wider one."""
    assert isinstance(instruction.operands[0].type, ir.IntT)
    return Number(value.converted(instruction.operands[0].type.bits, signed=False), IntType(bits, signed=True))


def _address_number(t: Translator, operand: ir.Value, address: Address, bits: int, loc: ir.Loc | None) -> Number:
    """A pointer as a number: the unknown address of its object plus the offset; 0 where it is null."""
    base = _base_number(t, operand, address.object)
    if base is None:
        refused = t.refused("a pointer is used as a number, and where in memory it points to is not known", loc)
        found = t.unknown(ir.IntT(bits), Origin.UNSUPPORTED, ADDRESS, loc, refused)
        assert isinstance(found, Number)
        return found
    type = IntType(bits, signed=False)
    return Number(wrap(add(base, address.offset), type), type)


def _base_number(t: Translator, operand: ir.Value, owner: Term) -> Term | None:
    """The address of the object ``owner`` that a pointer points into; None where that may be one of several."""
    if isinstance(owner, Const):
        return t.object_address(owner.value)
    number = only_object(t, operand)
    return None if number is None else ite(equal(owner, const(NULL_OBJECT)), ZERO, t.object_address(number))


def select(t: Translator, instruction: ir.Instruction) -> Value:
    """The result of a ``select``."""
    condition = t.value(instruction.operands[0])
    then, otherwise = (t.value(operand) for operand in instruction.operands[1:])
    if not isinstance(condition, Flag):
        return t.unknown(instruction.type, Origin.UNSUPPORTED, "select", instruction.loc)
    match then, otherwise:
        case Number(), Number() if isinstance(instruction.type, ir.IntT):
            type = _common(then, otherwise, instruction.type.bits)
            if then.type.width is None or otherwise.type.width is None:
                return Number(ite(condition.condition, then.read(signed=True), otherwise.read(signed=True)), INTEGERS)
            return Number(
                ite(condition.condition, then.read(signed=type.signed), otherwise.read(signed=type.signed)), type
            )
        case Flag(), Flag():
            chosen = conjunction((condition.condition, then.condition))
            other = conjunction((negate(condition.condition), otherwise.condition))
            return Flag(disjunction((chosen, other)))
        case Address(), Address():
            owner = ite(condition.condition, then.object, otherwise.object)
            return Address(owner, ite(condition.condition, then.offset, otherwise.offset))
        case _:
            return t.unknown(instruction.type, Origin.UNSUPPORTED, "select", instruction.loc)


def intrinsic(t: Translator, instruction: ir.Instruction, name: str) -> Value | None:
    """The result of an integer intrinsic (min, max, abs, expect), None for others."""
    if not isinstance(instruction.type, ir.IntT) or instruction.type.bits == 1:
        return None
    stem = name.split(".")[1]
    numbers = [t.number(operand) for operand in instruction.operands[:2]]
    if not numbers or numbers[0] is None:
        return None
    bits = instruction.type.bits
    if stem == "expect":
        return numbers[0]
    if stem == "abs":
        return absolute(t, numbers[0], bits, instruction.loc, wraps=t.value(instruction.operands[1]) != Flag(TRUE))
    if stem in ("smin", "smax", "umin", "umax") and numbers[1] is not None:
        signed = stem[0] == "s"
        make = minimum if stem.endswith("min") else maximum
        a, b = (number.converted(bits, signed=signed) for number in (numbers[0], numbers[1]))
        unbounded = signed and any(number.type.width is None for number in (numbers[0], numbers[1]))
        return Number(make(a, b), INTEGERS if unbounded else IntType(bits, signed))
    return None


def absolute(t: Translator, number: Number, bits: int, loc: ir.Loc | None, *, wraps: bool) -> Number:
    """The absolute value of a signed number. That of the least one does not fit: an overflow, unless it ``wraps``."""
    value = number.read(signed=True)
    positive = maximum(value, neg(value))
    if number.type.width is None:
        return Number(positive, INTEGERS)
    type = IntType(bits)
    if wraps or t.memory.options.wrapv:
        return Number(wrap(positive, type), type)
    t.promised(not_equal(value, const(-(1 << (bits - 1)))), "signed-overflow", loc)
    return Number(positive, type)  # past the check it fits


def overflowing(t: Translator, instruction: ir.Instruction, name: str) -> bool:
    """An addition, subtraction or multiplication that tells whether it overflowed (``__builtin_add_overflow``): its two
    results, of which ``extractvalue`` takes one. Whether it is one that is followed.
    """
    found = _OVERFLOWING.match(name)
    if found is None or instruction.result is None:
        return False
    left, right = (t.number(operand) for operand in instruction.operands)
    bits = int(found[3])
    if left is None or right is None or None in (left.type.width, right.type.width):
        return False
    type = IntType(bits, signed=found[1] == "s")
    try:
        exact = _RING[found[2]](left.read(signed=type.signed), right.read(signed=type.signed))
        low, high = type.min, type.max
        assert low is not None
        assert high is not None
        value, outside = Number(wrap(exact, type), type), Flag(negate(between(low, exact, high)))
    except TermTooLarge:
        return False
    # Whatever changes until they are used, they are what they were here.
    t.overflowing[instruction.result] = t.saved(instruction.result, value), t.saved(instruction.result, outside)
    return True


def extracted(t: Translator, instruction: ir.Instruction) -> Value | None:
    """What ``extractvalue`` takes out of a pair as :func:`overflowing` makes it, None for others."""
    (whole,) = instruction.operands
    if not isinstance(whole, ir.Local) or whole.name not in t.overflowing or len(instruction.indices) != 1:
        return None
    return t.overflowing[whole.name][instruction.indices[0]]


def truth_of(t: Translator, operand: ir.Value, loc: ir.Loc | None) -> Condition:
    """The condition of a branch."""
    value = t.value(operand)
    if isinstance(value, Flag):
        return value.condition
    refused = value.refused if isinstance(value, Nothing) else None
    found = t.unknown(ir.IntT(1), Origin.UNSUPPORTED, "condition", loc, refused)
    assert isinstance(found, Flag)
    return found.condition

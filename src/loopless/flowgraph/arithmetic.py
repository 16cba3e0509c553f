"""Integer instructions: what they compute, and where they are undefined."""

from __future__ import annotations

from collections.abc import Callable

from loopless import terms as t
from loopless.flowgraph.memory.access import alive, only_object, surely_there
from loopless.flowgraph.memory.same_objects import Order
from loopless.flowgraph.memory.varying_size import is_signed_length
from loopless.flowgraph.model import NULL_OBJECT, End, Origin
from loopless.flowgraph.translate import Translator
from loopless.flowgraph.values import (
    FLAG_TYPE,
    Address,
    Flag,
    Number,
    UnfollowedValue,
    Value,
    different_address,
    number_of_flag,
    same_address,
)
from loopless.flowgraph.words import ADDRESS
from loopless.patterns import pattern
from loopless.refusals import Reason
from loopless.source import ir, marks

BINARY = frozenset(["add", "sub", "mul", "sdiv", "udiv", "srem", "urem", "shl", "lshr", "ashr", "and", "or", "xor"])
CASTS = frozenset(("zext", "sext", "trunc", "ptrtoint", "inttoptr", "bitcast", "addrspacecast", "freeze"))
_OVERFLOWING = pattern(r"llvm\.([su])(add|sub|mul)\.with\.overflow\.i(\d+)")
_BITWISE: dict[str, Callable[[t.Term, t.Term], t.Term]] = {"and": t.bit_and, "or": t.bit_or, "xor": t.bit_xor}
_RING: dict[str, Callable[[t.Term, t.Term], t.Term]] = {"add": t.add, "sub": t.sub, "mul": t.mul}


def binary(translator: Translator, instruction: ir.Instruction) -> Value:
    """The result of a binary instruction."""
    if not isinstance(instruction.type, ir.IntT):
        return _not_followed(translator, instruction)
    if instruction.type.bits == 1:
        return _truth_table(translator, instruction)
    left, right = (translator.number(operand) for operand in instruction.operands)
    if left is None or right is None:
        why = next(v for v in map(translator.value, instruction.operands) if not isinstance(v, Number | Flag))
        refused = why.refused if isinstance(why, UnfollowedValue) else None
        name = instruction.result or instruction.op
        return translator.unknown(instruction.type, Origin.UNSUPPORTED, name, instruction.loc, refused)
    if instruction.op in ("shl", "lshr", "ashr", "and", "or", "xor") and None in (left.type.width, right.type.width):
        refused = translator.refused("bit operations on ℤ have no meaning under mathematical integers", instruction.loc)
        return translator.unknown(instruction.type, Origin.UNSUPPORTED, instruction.op, instruction.loc, refused)
    try:
        return _number(translator, instruction, left, right, instruction.type.bits)
    except t.TermTooLarge as error:
        refused = translator.refused(f"the expression is too large: {error}", instruction.loc, Reason.BUDGET)
        return translator.unknown(instruction.type, Origin.UNSUPPORTED, instruction.op, instruction.loc, refused)


def _number(translator: Translator, instruction: ir.Instruction, left: Number, right: Number, bits: int) -> Number:
    op = instruction.op
    if op in _RING:
        return _ring(translator, instruction, left, right, bits)
    if op in ("sdiv", "srem", "udiv", "urem"):
        return _division(translator, instruction, left, right, bits)
    if op in _BITWISE:
        type = _common(left, right, bits)
        if op == "or" and "disjoint" in instruction.flags:
            # "or disjoint" is an addition whose operands share no bit, else poison.
            both = t.bit_and(left.read(signed=type.signed), right.read(signed=type.signed))
            translator.promised(both.eq(0), "poison", instruction.loc)
        return Number(_BITWISE[op](left.read(signed=type.signed), right.read(signed=type.signed)), type)
    amount = right.read(signed=False)
    of_signed = bool(instruction.flags & {marks.SIGNED, marks.SIGNED_CXX}) and not translator.memory.options.wrapv
    translator.promised(amount.lt(bits), "left-shift" if of_signed else "shift", instruction.loc)
    if op == "shl":
        return _shift_left(translator, instruction, left, amount, bits)
    signed = op == "ashr"
    if "exact" in instruction.flags:
        lost = left.read(signed=signed) - t.shift_left(t.shift_right(left.read(signed=signed), amount), amount)
        translator.promised(lost.eq(0), "poison", instruction.loc)
    return Number(t.shift_right(left.read(signed=signed), amount), t.IntType(bits, signed))


def _common(left: Number, right: Number, bits: int) -> t.IntType:
    """How the result of an operation on bits is read: unsigned where an operand that is not a constant is."""
    unsigned = any(not n.type.signed and not isinstance(n.term, t.Const) for n in (left, right))
    return t.IntType(bits, signed=not unsigned)


def _ring(translator: Translator, instruction: ir.Instruction, left: Number, right: Number, bits: int) -> Number:
    make = _RING[instruction.op]
    nsw = "nsw" in instruction.flags and not translator.memory.options.wrapv
    nuw = "nuw" in instruction.flags
    if left.type.width is None or right.type.width is None:
        type = t.INTEGERS if (nsw or all(n.type.signed for n in (left, right))) else t.IntType(bits, signed=False)
        return Number(t.wrap(make(left.term, right.term), type), type)
    if nsw:
        exact = make(left.read(signed=True), right.read(signed=True))
        type = t.IntType(bits)
        if not translator.memory.options.mathematical:
            translator.promised(t.between(type.min, exact, type.max), "signed-overflow", instruction.loc)
            return Number(exact, type)  # past the check it fits
        return Number(exact, t.INTEGERS)
    if nuw:
        exact = make(left.read(signed=False), right.read(signed=False))
        type = t.IntType(bits, signed=False)
        translator.promised(t.between(type.min, exact, type.max), "poison", instruction.loc)
        return Number(exact, type)
    type = _common(left, right, bits)
    return Number(t.wrap(make(left.term, right.term), type), type)


def _division(translator: Translator, instruction: ir.Instruction, left: Number, right: Number, bits: int) -> Number:
    signed = instruction.op[0] == "s"
    a, b = left.converted(bits, signed=signed), right.converted(bits, signed=signed)
    type = t.IntType(bits, signed)
    divides(translator, a, b, type if left.type.width is not None else t.INTEGERS, instruction.loc)
    if "exact" in instruction.flags:
        translator.promised(t.trunc_rem(a, b).eq(0), "poison", instruction.loc)
    value = t.trunc_div(a, b) if instruction.op.endswith("div") else t.trunc_rem(a, b)
    if signed and left.type.width is None:
        return Number(value, t.INTEGERS)
    return Number(t.wrap(value, type), type)


def divides(translator: Translator, a: t.Term, b: t.Term, type: t.IntType, loc: ir.Loc | None) -> None:
    """Check that the quotient of two numbers of a type exists and fits it."""
    translator.check(b.ne(0), "division-by-zero", loc)
    if type.signed and type.min is not None:
        translator.check(~(a.eq(type.min) & b.eq(-1)), "signed-overflow", loc)


def _shift_left(translator: Translator, instruction: ir.Instruction, left: Number, amount: t.Term, bits: int) -> Number:
    if not translator.memory.options.wrapv and instruction.flags & {
        marks.SIGNED,
        marks.SIGNED_CXX,
        marks.PERHAPS_SIGNED,
    }:
        return _signed_shift_left(translator, instruction, left, amount, bits)
    type = t.IntType(bits, left.type.signed)
    exact = t.shift_left(left.term, amount)
    for flag, signed in (("nsw", True), ("nuw", False)):
        if flag in instruction.flags:
            ranged = t.IntType(bits, signed)
            translator.promised(
                t.between(ranged.min, t.shift_left(left.read(signed=signed), amount), ranged.max),
                "poison",
                instruction.loc,
            )
    return Number(t.wrap(exact, type), type)


def _signed_shift_left(
    translator: Translator, instruction: ir.Instruction, left: Number, amount: t.Term, bits: int
) -> Number:
    """A left shift of a signed operand: C wants it not negative and the result representable; C++ lets bits get into
    the sign, but not out of it. What is not representable goes first: that is an overflow, whatever the operand.
    """
    type, loc = t.IntType(bits), instruction.loc
    if marks.SIGNED_CXX in instruction.flags:
        whole = t.shift_left(left.read(signed=False), amount)
        translator.check(t.between(0, whole, t.IntType(bits, signed=False).max), "shift-overflow", loc)
        return Number(t.wrap(whole, type), type)
    operand = left.read(signed=True)
    exact = t.shift_left(operand, amount)
    fits, natural = t.between(type.min, exact, type.max), operand.ge(0)
    if marks.SIGNED in instruction.flags:
        translator.check(fits, "shift-overflow", loc)
        translator.check(natural, "shift-of-negative", loc)
        return Number(exact, type)  # past the check it fits
    detail = "with checks the compiler reads other code here, so it is not known whether the shift is of a signed value"
    translator.split_unless(natural & fits, End("unsupported", None, None, loc, translator.refused(detail, loc)), loc)
    return Number(exact, type)


def _truth_table(translator: Translator, instruction: ir.Instruction) -> Value:
    flags = [translator.value(operand) for operand in instruction.operands]
    a, b = (flag.condition if isinstance(flag, Flag) else None for flag in flags)
    if a is None or b is None:
        return translator.unknown(instruction.type, Origin.UNSUPPORTED, instruction.op, instruction.loc)
    match instruction.op:
        case "and" | "mul":
            return Flag(a & b)
        case "or":
            return Flag(a | b)
        case "xor" | "add" | "sub":
            return Flag(a & ~b | ~a & b)
        case _:
            return translator.unknown(instruction.type, Origin.UNSUPPORTED, instruction.op, instruction.loc)


def _not_followed(translator: Translator, instruction: ir.Instruction) -> UnfollowedValue:
    if isinstance(instruction.type, ir.FloatT):
        return UnfollowedValue(
            translator.refused("floating-point values are not followed", instruction.loc, Reason.FLOAT)
        )
    return UnfollowedValue(translator.refused(f"{instruction.op} on vectors is not followed", instruction.loc))


def compare(translator: Translator, instruction: ir.Instruction) -> Value:
    """The truth value of an ``icmp``."""
    predicate = instruction.predicate or "eq"
    if isinstance(instruction.type, ir.VectorT):
        return _not_followed(translator, instruction)
    if isinstance(instruction.operands[0].type, ir.PtrT):
        return _compare_pointers(translator, instruction, predicate)
    left, right = (translator.number(operand) for operand in instruction.operands)
    if left is None or right is None:
        refused = next(
            (v.refused for v in map(translator.value, instruction.operands) if isinstance(v, UnfollowedValue)), None
        )
        return translator.unknown(instruction.type, Origin.UNSUPPORTED, "icmp", instruction.loc, refused)
    assert isinstance(instruction.operands[0].type, ir.IntT)
    bits, signed = instruction.operands[0].type.bits, predicate[0] == "s"
    if predicate in ("eq", "ne"):
        signed = _equality_reading(left, right)
        a, b = left.converted(bits, signed=signed), right.converted(bits, signed=signed)
        return Flag(a.eq(b) if predicate == "eq" else a.ne(b))
    return Flag(_ordering(predicate[1:], left.converted(bits, signed=signed), right.converted(bits, signed=signed)))


def _equality_reading(left: Number, right: Number) -> bool:
    """Equality does not depend on the reading: take one that needs no reduction."""
    if isinstance(left.term, t.Const):
        return right.type.signed
    if isinstance(right.term, t.Const) or left.type.signed == right.type.signed:
        return left.type.signed
    return None not in (left.type.width, right.type.width)  # what is of ℤ is compared with unsigned as C converts it


def _ordering(relation: str, a: t.Term, b: t.Term) -> t.Condition:
    match relation:
        case "lt":
            return a.lt(b)
        case "le":
            return a.le(b)
        case "gt":
            return b.lt(a)
        case _:
            return b.le(a)


def _compare_pointers(translator: Translator, instruction: ir.Instruction, predicate: str) -> Value:
    if not translator.uses.speculates:
        for operand in instruction.operands:
            alive(translator, operand, instruction.loc)
    a, b = (translator.address(operand, instruction.loc) for operand in instruction.operands)
    if predicate == "eq":
        return Flag(same_address(a, b))
    if predicate == "ne":
        return Flag(different_address(a, b))
    if a.object is not b.object and len({only_object(translator, operand) for operand in instruction.operands}) == 1:
        a, b = (surely_there(translator, operand, instruction.loc) for operand in instruction.operands)
    if a.object is b.object:
        return Flag(_ordering(predicate[1:], a.offset, b.offset))
    refused = translator.refused("pointers into different objects are ordered", instruction.loc, Reason.POINTER)
    found = translator.unknown(ir.IntT(1), Origin.UNSUPPORTED, "order", instruction.loc, refused)
    if isinstance(found, Flag) and isinstance(a.object, t.Var) and isinstance(b.object, t.Var):
        (var,) = found.condition.variables
        translator.orders[var] = Order(a.object, b.object, _ordering(predicate[1:], a.offset, b.offset))
    return found


def cast(translator: Translator, instruction: ir.Instruction) -> Value:
    """The result of a cast."""
    operand = instruction.operands[0]
    if instruction.op in ("freeze", "bitcast", "addrspacecast"):
        same = type(operand.type) is type(instruction.type)
        value = translator.value(operand)
        return value if same or isinstance(value, UnfollowedValue) else _not_followed(translator, instruction)
    if instruction.op == "ptrtoint" and isinstance(instruction.type, ir.IntT):
        if not translator.uses.speculates:
            alive(translator, operand, instruction.loc)
        # Integers made of pointers, null ones too, may be subtracted; clang has a name of its own for pointers.
        subtracted = instruction.result in translator.uses.subtracted and (instruction.result or "").startswith(
            "sub.ptr"
        )
        address = (
            surely_there(translator, operand, instruction.loc)
            if subtracted
            else translator.address(operand, instruction.loc)
        )
        return _address_number(translator, operand, address, instruction.type.bits, instruction.loc)
    if instruction.op == "inttoptr" or not isinstance(instruction.type, ir.IntT):
        refused = translator.refused("a number is made a pointer", instruction.loc, Reason.POINTER)
        return translator.unknown(instruction.type, Origin.UNSUPPORTED, instruction.op, instruction.loc, refused)
    return _resize(translator, instruction, translator.value(operand), instruction.type.bits)


def _resize(translator: Translator, instruction: ir.Instruction, value: Value, bits: int) -> Value:
    op = instruction.op
    match value:
        case Flag() if op == "trunc":
            return value
        case Flag():
            return number_of_flag(value, bits, signed_extension=op == "sext")
        case Number() if op == "trunc" and bits == 1:
            _kept_by_cast(translator, instruction, value, bits)
            if marks.TRUTH in instruction.flags:
                byte = value.converted(8, signed=False)
                translator.check(byte.le(1), "invalid-bool", instruction.loc)
                return Flag(t.not_zero(byte))
            return Flag(t.not_zero(t.wrap(value.term, FLAG_TYPE)))
        case Number() if op == "trunc":
            if value.type.width is None:
                return value
            _kept_by_cast(translator, instruction, value, bits)
            type = t.IntType(bits, value.type.signed)
            return Number(t.wrap(value.term, type), type)
        case Number():
            if instruction.result in translator.uses.lengths:
                return _length(translator, instruction, value, bits)
            if value.type.width is None:
                same = op == "sext" or "nneg" in instruction.flags
                return value if same else _zero_extended(instruction, value, bits)
            if "nneg" in instruction.flags:
                translator.promised(value.read(signed=True).ge(0), "poison", instruction.loc)
            # A zero-extended value is never negative, so either reading of the wider type agrees.
            return Number(value.read(signed=op == "sext"), t.IntType(bits, signed=True))
        case _:
            refused = value.refused if isinstance(value, UnfollowedValue) else None
            return translator.unknown(ir.IntT(bits), Origin.UNSUPPORTED, op, instruction.loc, refused)


def _length(translator: Translator, instruction: ir.Instruction, value: Number, bits: int) -> Number:
    """The length of an array, widened. It is widened by zeros, whatever its sign: a negative one is undefined (C11,
    6.7.6.2p5), a large unsigned one is not.
    """
    memory, term = translator.memory, value.read(signed=True)
    wraps = memory.options.wrapv
    signed = is_signed_length(instruction.operands[0], memory.function, memory.module, memory.made, wraps=wraps)
    if signed is False and value.type.width is not None:
        return Number(value.read(signed=False), t.IntType(bits, signed=True))
    widened = Number(term, value.type if value.type.width is None else t.IntType(bits, signed=True))
    if signed or value.type.width is None:
        translator.check(term.gt(0), "array-length", instruction.loc)
        return widened
    detail = "the length of an array is negative, or a large unsigned number; which, the compiler's code does not tell"
    refused = translator.refused(detail, instruction.loc)
    translator.split_unless(term.ge(0), End("unsupported", None, None, instruction.loc, refused), instruction.loc)
    return widened


def _kept_by_cast(translator: Translator, instruction: ir.Instruction, value: Number, bits: int) -> None:
    """The promise of a ``trunc`` that no bits are lost."""
    for flag, signed in (("nsw", True), ("nuw", False)):
        if flag in instruction.flags and value.type.width is not None:
            kept = t.IntType(bits, signed)
            translator.promised(t.between(kept.min, value.read(signed=signed), kept.max), "poison", instruction.loc)


def _zero_extended(instruction: ir.Instruction, value: Number, bits: int) -> Number:
    """What is of ℤ converted to an unsigned type, and that to a wider one."""
    assert isinstance(instruction.operands[0].type, ir.IntT)
    return Number(value.converted(instruction.operands[0].type.bits, signed=False), t.IntType(bits, signed=True))


def _address_number(
    translator: Translator, operand: ir.Value, address: Address, bits: int, loc: ir.Loc | None
) -> Number:
    """A pointer as a number: the unknown address of its object plus the offset; 0 where it is null."""
    base = _base_number(translator, operand, address.object)
    if base is None:
        refused = translator.refused(
            "a pointer is used as a number, and where in memory it points to is not known", loc
        )
        found = translator.unknown(ir.IntT(bits), Origin.UNSUPPORTED, ADDRESS, loc, refused)
        assert isinstance(found, Number)
        return found
    type = t.IntType(bits, signed=False)
    return Number(t.wrap(base + address.offset, type), type)


def _base_number(translator: Translator, operand: ir.Value, owner: t.Term) -> t.Term | None:
    """The address of the object ``owner`` that a pointer points into; None where that may be one of several."""
    if isinstance(owner, t.Const):
        return translator.object_address(owner.value)
    number = only_object(translator, operand)
    return None if number is None else t.ite(owner.eq(NULL_OBJECT), t.ZERO, translator.object_address(number))


def select(translator: Translator, instruction: ir.Instruction) -> Value:
    """The result of a ``select``."""
    condition = translator.value(instruction.operands[0])
    then, otherwise = (translator.value(operand) for operand in instruction.operands[1:])
    if not isinstance(condition, Flag):
        return translator.unknown(instruction.type, Origin.UNSUPPORTED, "select", instruction.loc)
    match then, otherwise:
        case Number(), Number() if isinstance(instruction.type, ir.IntT):
            type = _common(then, otherwise, instruction.type.bits)
            if then.type.width is None or otherwise.type.width is None:
                return Number(
                    t.ite(condition.condition, then.read(signed=True), otherwise.read(signed=True)), t.INTEGERS
                )
            return Number(
                t.ite(condition.condition, then.read(signed=type.signed), otherwise.read(signed=type.signed)), type
            )
        case Flag(), Flag():
            chosen = condition.condition & then.condition
            other = ~condition.condition & otherwise.condition
            return Flag(chosen | other)
        case Address(), Address():
            owner = t.ite(condition.condition, then.object, otherwise.object)
            return Address(owner, t.ite(condition.condition, then.offset, otherwise.offset))
        case _:
            return translator.unknown(instruction.type, Origin.UNSUPPORTED, "select", instruction.loc)


def intrinsic(translator: Translator, instruction: ir.Instruction, name: str) -> Value | None:
    """The result of an integer intrinsic (min, max, abs, expect), None for others."""
    if not isinstance(instruction.type, ir.IntT) or instruction.type.bits == 1:
        return None
    stem = name.split(".")[1]
    numbers = [translator.number(operand) for operand in instruction.operands[:2]]
    if not numbers or numbers[0] is None:
        return None
    bits = instruction.type.bits
    if stem == "expect":
        return numbers[0]
    if stem == "abs":
        return absolute(
            translator,
            numbers[0],
            bits,
            instruction.loc,
            wraps=translator.value(instruction.operands[1]) != Flag(t.TRUE),
        )
    if stem in ("smin", "smax", "umin", "umax") and numbers[1] is not None:
        signed = stem[0] == "s"
        make = t.minimum if stem.endswith("min") else t.maximum
        a, b = (number.converted(bits, signed=signed) for number in (numbers[0], numbers[1]))
        unbounded = signed and any(number.type.width is None for number in (numbers[0], numbers[1]))
        return Number(make(a, b), t.INTEGERS if unbounded else t.IntType(bits, signed))
    return None


def absolute(translator: Translator, number: Number, bits: int, loc: ir.Loc | None, *, wraps: bool) -> Number:
    """The absolute value of a signed number. That of the least one does not fit: an overflow, unless it ``wraps``."""
    value = number.read(signed=True)
    positive = t.maximum(value, -value)
    if number.type.width is None:
        return Number(positive, t.INTEGERS)
    type = t.IntType(bits)
    if wraps or translator.memory.options.wrapv:
        return Number(t.wrap(positive, type), type)
    translator.promised(value.ne(-(1 << (bits - 1))), "signed-overflow", loc)
    return Number(positive, type)  # past the check it fits


def overflowing(translator: Translator, instruction: ir.Instruction, name: str) -> bool:
    """An addition, subtraction or multiplication that tells whether it overflowed (``__builtin_add_overflow``): its two
    results, of which ``extractvalue`` takes one. Whether it is one that is followed.
    """
    found = _OVERFLOWING.match(name)
    if found is None or instruction.result is None:
        return False
    left, right = (translator.number(operand) for operand in instruction.operands)
    bits = int(found[3])
    if left is None or right is None or None in (left.type.width, right.type.width):
        return False
    type = t.IntType(bits, signed=found[1] == "s")
    try:
        exact = _RING[found[2]](left.read(signed=type.signed), right.read(signed=type.signed))
        low, high = type.min, type.max
        assert low is not None
        assert high is not None
        value, outside = Number(t.wrap(exact, type), type), Flag(~t.between(low, exact, high))
    except t.TermTooLarge:
        return False
    # Whatever changes until they are used, they are what they were here.
    translator.overflowing[instruction.result] = (
        translator.saved(instruction.result, value),
        translator.saved(instruction.result, outside),
    )
    return True


def extracted(translator: Translator, instruction: ir.Instruction) -> Value | None:
    """What ``extractvalue`` takes out of a pair as :func:`overflowing` makes it, None for others."""
    (whole,) = instruction.operands
    if not isinstance(whole, ir.Local) or whole.name not in translator.overflowing or len(instruction.indices) != 1:
        return None
    return translator.overflowing[whole.name][instruction.indices[0]]


def truth_of(translator: Translator, operand: ir.Value, loc: ir.Loc | None) -> t.Condition:
    """The condition of a branch."""
    value = translator.value(operand)
    if isinstance(value, Flag):
        return value.condition
    refused = value.refused if isinstance(value, UnfollowedValue) else None
    found = translator.unknown(ir.IntT(1), Origin.UNSUPPORTED, "condition", loc, refused)
    assert isinstance(found, Flag)
    return found.condition

"""Calls: the verification vocabulary, library functions by their effects, intrinsics, other functions."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Final

from loopless.flowgraph.access import alive, is_constant, nowhere, null_check, writable
from loopless.flowgraph.arithmetic import absolute, divides, intrinsic, overflowing
from loopless.flowgraph.called_memory import call_kind
from loopless.flowgraph.effects import NOT_MAIN, Touched, is_internal
from loopless.flowgraph.model import (
    ASSEMBLY,
    THROUGH_POINTER,
    Allocate,
    Assume,
    Call,
    Copy,
    End,
    Fill,
    Havoc,
    Kind,
    Origin,
    Pointer,
)
from loopless.flowgraph.objects import Slot
from loopless.flowgraph.places import Base
from loopless.flowgraph.translate import Translator
from loopless.flowgraph.values import FLAG_TYPE, Address, Flag, Nothing, Number, Value, flag_of
from loopless.refusals import Reason, Refused
from loopless.source import ir
from loopless.source.function_names import in_source
from loopless.source.inlining import recursive_functions
from loopless.source.vocabulary import (
    ABSOLUTE_VALUES,
    DIVISIONS,
    LEAVES,
    SIZES,
    TARGET,
    WORKED_OUT,
    Effect,
    Meaning,
    effect_of,
    library_function,
    meaning_of,
    nondet_signed,
)
from loopless.terms import (
    FALSE,
    INTEGERS,
    ZERO,
    Condition,
    Const,
    IntType,
    Term,
    Var,
    add,
    const,
    disjunction,
    equal,
    equals_zero,
    less_equal,
    mod,
    not_zero,
    product,
    sub,
    wrap,
)

ITSELF: Final = ".itself"
"""What a function calls instead of itself while it is read as a loop (:mod:`loopless.flowgraph.recursion`): it touches
no memory, but may change all globals that are variables. No name in C has a dot."""


def call(t: Translator, instruction: ir.Instruction) -> None:
    """Translate a call (or an invoke's call)."""
    name = instruction.callee_name
    loc = instruction.loc
    if name is None:
        _indirect(t, instruction)
        return
    if name.startswith("llvm."):
        _intrinsic(t, instruction, name)
        return
    function = t.memory.module.functions.get(name)
    meaning = meaning_of(name, defined=function is not None and not function.is_declaration)
    if meaning is not None:
        _meaningful(t, instruction, name, meaning)
        return
    if function is None or function.is_declaration:
        _library_uses(t, instruction, name)
    kind = call_kind(instruction, t.memory.module)
    gone = _gone(t, instruction, name, function)
    if gone is not None and kind != "defined":
        t.end = gone  # what it changes on the way out, nothing here sees
        return
    if effect_of(name, t.memory.module.stubs) is Effect.ALLOCATES and (function is None or function.is_declaration):
        _allocate(t, instruction, name)
        return
    if (function is None or function.is_declaration) and _computes(t, instruction, name):
        return
    t.callees.add(name)
    if kind == "defined" or kind in ("ignored", "reads"):
        _known(t, instruction, name, kind)
    else:
        refused = Refused(Reason.UNKNOWN_CALL, t.where(loc), f"{_shown(function, name)} is not defined in the program")
        _opaque(t, instruction, name, refused)
    if gone is not None:
        t.end = gone


def _computes(t: Translator, instruction: ir.Instruction, name: str) -> bool:
    """Whether the call is of an absolute value in the library, which is then worked out. Of a quotient and remainder
    in a structure it is checked that they exist.
    """
    if name in t.memory.module.stubs or name not in ABSOLUTE_VALUES | DIVISIONS:
        return False
    numbers = [t.number(operand) for operand in instruction.operands]
    types = [operand.type for operand in instruction.operands]
    match numbers, types:
        case [Number() as of], [ir.IntT(bits=bits) as type] if name in ABSOLUTE_VALUES and instruction.type == type:
            t.define(instruction, absolute(t, of, bits, instruction.loc, wraps=False))
            return True
        case [Number() as left, Number() as right], [ir.IntT(bits=bits) as type, same] if type == same:
            exact = None in (left.type.width, right.type.width)
            a, b = left.converted(bits, signed=True), right.converted(bits, signed=True)
            divides(t, a, b, INTEGERS if exact else IntType(bits), instruction.loc)
        case _:
            pass
    return False


_LENGTHS: Final = {
    **dict.fromkeys(("memcpy", "memmove", "mempcpy", "memset", "strncpy", "stpncpy", "read", "recv"), 2),
    **dict.fromkeys(("bzero", "explicit_bzero", "snprintf", "vsnprintf"), 1),
}
"""Library functions that write nothing where this argument is 0."""
_SURELY: Final = frozenset(_LENGTHS) - {"read", "recv"} | {
    "strcpy",
    "strcat",
    "strncat",
    "stpcpy",
    "gets",
    "sprintf",
    "vsprintf",
    "gettimeofday",
}
"""Library functions that write at all, but for a length of 0: others need not, for reasons not in their arguments."""


def _library_uses(t: Translator, instruction: ir.Instruction, name: str) -> None:
    """What a library function reads or writes through must live, and what it writes must not be constant."""
    known = library_function(name, t.memory.module.stubs)
    if known is None or known.effect is Effect.NONE:
        return
    plain = name.removeprefix("__").removesuffix("_chk")
    for operand in instruction.operands:
        if isinstance(operand.type, ir.PtrT):
            alive(t, operand, instruction.loc)
    if name in WORKED_OUT:
        size = t.number(instruction.operands[SIZES[name]]) if SIZES.get(name, 9) < len(instruction.operands) else None
        unread = equals_zero(size.read(signed=False)) if size is not None else FALSE
        for operand in instruction.operands:
            if isinstance(operand.type, ir.PtrT):
                null_check(t, operand, instruction.loc, unread)
    at = _LENGTHS.get(plain)
    length = t.number(instruction.operands[at]) if at is not None and at < len(instruction.operands) else None
    if plain not in _SURELY or (at is not None and length is None):
        return
    nothing = equals_zero(length.read(signed=False)) if length is not None else FALSE
    for index in known.writes:
        if 0 <= index < len(instruction.operands):
            writable(t, instruction.operands[index], instruction.loc, nothing)


def _gone(t: Translator, instruction: ir.Instruction, name: str, function: ir.Function | None) -> End | None:
    """The end of a run at a call that does not come back, None where it does.

    It may end the program, or leave for a place above (``longjmp``), or run for ever: only for functions whose names
    say it (:func:`loopless.source.vocabulary.meaning_of`) is it known which.
    """
    attributes = instruction.attributes | (function.attributes if function is not None else frozenset())
    stranger = function is None or function.is_declaration
    if "noreturn" not in attributes and not (stranger and name in LEAVES):
        return None
    thrown = name in ("__cxa_throw", "__cxa_rethrow")
    detail = f"{_shown(function, name)} does not return, and where it leaves to is not known"
    detail = "an exception is thrown, which is not followed" if thrown else detail
    refused = Refused(Reason.EXCEPTION if thrown else Reason.UNKNOWN_CALL, t.where(instruction.loc), detail)
    return End("unsupported", None, None, instruction.loc, refused)


def _shown(function: ir.Function | None, name: str) -> str:
    return in_source(name) if function is None or function.source_name == name else function.source_name


def _error(t: Translator) -> str:
    """How a run ends that comes to the error function: where it is to get to another place, it has failed."""
    return "abort" if TARGET in t.memory.module.functions else "error"


def _meaningful(t: Translator, instruction: ir.Instruction, name: str, meaning: Meaning) -> None:
    loc = instruction.loc
    match meaning:
        case Meaning.NONDET:
            signed = nondet_signed(name) is not False
            shown = name.removeprefix("__VERIFIER_")
            t.define(instruction, t.unknown(instruction.type, Origin.NONDET, shown, loc, None, signed=signed))
        case Meaning.ASSUME:
            condition = _argument_condition(t, instruction)
            t.statements.append(Assume(condition, loc))
        case Meaning.ASSERT:
            t.split_unless(_argument_condition(t, instruction), End(_error(t), None, None, loc), loc)
        case Meaning.ERROR:
            t.end = End(_error(t), None, None, loc)
        case Meaning.TARGET:
            t.end = End("error", None, None, loc)
        case Meaning.ABORT:
            t.end = End("abort", None, None, loc)
        case Meaning.EXIT:
            t.end = End("exit", None, None, loc)
        case Meaning.IGNORE:
            pass
        case Meaning.SYMBOLIC | Meaning.ENTRY:
            refused = Refused(Reason.UNKNOWN_CALL, t.where(loc), f"a call of {name} is not followed")
            _opaque(t, instruction, name, refused)


def _argument_condition(t: Translator, instruction: ir.Instruction) -> Condition:
    value = t.value(instruction.operands[0]) if instruction.operands else Flag(FALSE)
    match value:
        case Flag():
            return value.condition
        case Number():
            return not_zero(value.term)
        case _:
            refused = value.refused if isinstance(value, Nothing) else None
            unknown = t.unknown(ir.IntT(1), Origin.UNSUPPORTED, "condition", instruction.loc, refused)
            assert isinstance(unknown, Flag)
            return unknown.condition


def _indirect(t: Translator, instruction: ir.Instruction) -> None:
    if isinstance(instruction.callee, ir.OtherConst) and "asm" in instruction.callee.text:
        refused = Refused(Reason.INLINE_ASM, t.where(instruction.loc), "inline assembly is not read")
        _opaque(t, instruction, ASSEMBLY, refused)
        return
    refused = Refused(Reason.UNKNOWN_CALL, t.where(instruction.loc), "a call through a pointer may do anything")
    _opaque(t, instruction, THROUGH_POINTER, refused)


def _opaque(t: Translator, instruction: ir.Instruction, name: str, refused: Refused) -> None:
    """A call that may change everything that the outside can reach."""
    loc = instruction.loc
    target, owner, value = _result(t, instruction, name)
    why = refused if refused.reason is Reason.INLINE_ASM else None  # what is not defined only returns something
    touched = t.memory.touched(instruction)
    reads = _variables(slot for _, slot in t.memory.held(touched.reads))
    changed = _changed(t, touched)
    outside = name not in (THROUGH_POINTER, ASSEMBLY)
    call = Call(name, _arguments(t, instruction), target, owner, True, loc, why, reads=reads, outside=outside)
    _emit(t, call, touched)
    if target is not None:
        t.emit(Havoc(target, Origin.CALL, name, loc, refused))
        if owner is not None:
            t.emit(Havoc(owner, Origin.CALL, name, loc, refused))
    for base, slot in changed:
        t.havoc_slot(slot, Origin.CALL, name, loc, _by_the_program(t, base, name, loc) or refused)
    _finish(t, instruction, value)


def _by_the_program(t: Translator, base: Base, name: str, loc: ir.Loc | None) -> Refused | None:
    """Why nobody outside chooses what code that is not known leaves in a global: only functions of the program change
    it, which that code may call. None where others may.
    """
    found = t.memory.module.globals.get(base.name) if base.kind == "global" else None
    if found is None or not is_internal(found):
        return None
    detail = f"{t.memory.shown(base)} is changed by functions of the program that {name} may call"
    return Refused(Reason.MEMORY, t.where(loc), detail)


def _changed(t: Translator, touched: Touched) -> list[tuple[Base, Slot]]:
    """The variables in memory that a call may change."""
    changed = [(key, slot) for key, slot in t.memory.held(touched.writes) if not is_constant(t, key[0])]
    if touched.strange and t.memory.around is not None:
        hit = {key for key, _ in changed}
        if any(key not in hit for key, _ in t.memory.held(t.memory.around.facts.strange.main)):
            t.memory.granted[NOT_MAIN] = None
    return [(base, slot) for (base, _), slot in changed]


def _variables(slots: Iterable[Slot]) -> tuple[Var, ...]:
    return tuple(var for slot in slots for var in (slot.var, slot.object_var) if var is not None)


def _emit(t: Translator, call: Call, touched: Touched) -> None:
    t.emit(call)
    t.called.append((call, touched))


def _known(t: Translator, instruction: ir.Instruction, name: str, kind: str) -> None:
    """A defined function that was not inlined, or a library function that changes nothing of ours."""
    loc = instruction.loc
    target, owner, value = _result(t, instruction, name)
    reads: tuple[Var, ...] = ()
    changes: tuple[Var, ...] = ()
    touched = Touched(frozenset(), frozenset())
    if name == ITSELF:
        for (base, _), slot in t.memory.slots.items():
            if base.kind == "global":
                t.save_mentions(slot.var)
        changes = _variables(slot for (base, _), slot in t.memory.slots.items() if _is_known_elsewhere(t, base))
    elif kind in ("defined", "reads") and t.memory.around is not None:
        touched = t.memory.touched(instruction)
        reads = _variables(slot for _, slot in t.memory.held(touched.reads))
        if kind == "defined":
            changes = _variables(slot for _, slot in _changed(t, touched))
    arguments = _own_arguments(t, instruction) if name == ITSELF else _arguments(t, instruction)
    refused = None
    if kind == "defined" and name in _recursive(t.memory.module):
        shown = _shown(t.memory.module.functions.get(name), name)
        detail = f"what the calls of {shown}, which can call itself again, come to in a loop is not followed"
        refused = Refused(Reason.RECURSION, t.where(loc), detail)
    own = kind == "defined"
    outside = not own and name != ITSELF
    call = Call(name, arguments, target, owner, own, loc, refused, reads=reads, changes=changes, outside=outside)
    if own:
        _emit(t, call, touched)
    else:
        t.emit(call)
    _finish(t, instruction, value)


def _is_known_elsewhere(t: Translator, base: Base) -> bool:
    """Whether the address of a local may be known to others."""
    return base.kind == "local" and t.memory.around is not None and base in t.memory.around.kept


@functools.lru_cache(maxsize=2)
def _recursive(module: ir.Module) -> frozenset[str]:
    """The functions of a module that can call themselves again."""
    return recursive_functions(module)


def _result(t: Translator, instruction: ir.Instruction, name: str) -> tuple[Var | None, Var | None, Value | None]:
    """Variables that take the result of a call: (integer or offset, object, the value they make)."""
    if instruction.result is None:
        return None, None, None
    shown = f"%{instruction.result}"
    match instruction.type:
        case ir.IntT(bits=1):
            var = t.memory.fresh(shown, Kind.FLAG, FLAG_TYPE)
            return var, None, flag_of(var)
        case ir.IntT(bits=bits):
            type = t.memory.number_type(bits, signed=_returns_signed(t, instruction, name))
            var = t.memory.fresh(shown, Kind.TEMPORARY, type)
            return var, None, Number(var, type)
        case ir.PtrT():
            var = t.memory.fresh(shown, Kind.TEMPORARY, t.memory.offset_type, pointer_part="offset")
            owner = t.memory.fresh(f"{shown}.object", Kind.TEMPORARY, INTEGERS, pointer_part="object")
            return var, owner, Address(owner, var)
        case _:
            refused = t.refused(f"the result of {name} is not followed", instruction.loc)
            return None, None, Nothing(refused)


def _returns_signed(t: Translator, instruction: ir.Instruction, name: str) -> bool:
    """How the result of a call is read: as it is used, but over ℤ, where this makes a difference, as it is declared."""
    function = t.memory.function if name == ITSELF else t.memory.module.functions.get(name)
    declared = function.result_debug if function is not None else None
    if t.memory.options.mathematical and declared is not None and declared.signed is not None:
        return declared.signed
    return t.uses.signed.get(instruction.result or "", True)


def _finish(t: Translator, instruction: ir.Instruction, value: Value | None) -> None:
    if value is not None:
        t.define(instruction, _told(t, instruction, value))


def _told(t: Translator, instruction: ir.Instruction, value: Value) -> Value:
    """The result of a call, by what a stub says of it: between what it lies.

    It is told by the value, which is the same wherever the stub is right: a condition would be one on what is called
    whether or not anything depends on the result.
    """
    stub = t.memory.module.stubs.get(instruction.callee_name or "")
    if stub is None or stub.returns is None or not isinstance(value, Number):
        return value
    least, most = stub.returns
    term = add(const(least), mod(sub(value.read(signed=least < 0), const(least)), const(most - least + 1)))
    return Number(term if value.type.width is None else wrap(term, value.type), value.type)


def _arguments(t: Translator, instruction: ir.Instruction) -> tuple[Term | Pointer, ...]:
    arguments: list[Term | Pointer] = []
    size = SIZES.get(instruction.callee_name or "")
    for at, operand in enumerate(instruction.operands):
        value = t.value(operand)
        match value:
            case Number() if at == size and not t.memory.options.mathematical:
                arguments.append(value.read(signed=False))
            case Number() if t.memory.options.mathematical:
                arguments.append(value.read(signed=True))  # which is the value where the parameter is of ℤ
            case Number() | Flag():
                arguments.append(value.term)
            case Address():
                arguments.append(Pointer(value.object, value.offset))
            case Nothing():
                filler = t.unknown(ir.IntT(64), Origin.UNSUPPORTED, "argument", instruction.loc, value.refused)
                assert isinstance(filler, Number)
                arguments.append(filler.term)
    return tuple(arguments)


def _own_arguments(t: Translator, instruction: ir.Instruction) -> tuple[Term | Pointer, ...]:
    """The arguments of a call of the function by itself, integers in the ranges of its parameters."""
    arguments = list(_arguments(t, instruction))
    for at, (operand, param) in enumerate(zip(instruction.operands, t.memory.function.params, strict=False)):
        value = t.value(operand)
        if isinstance(value, Number) and value.type.width is not None:
            signed = param.signed if param.signed is not None else t.uses.signed.get(param.name, True)
            arguments[at] = value.read(signed=signed)
    return tuple(arguments)


def _allocate(t: Translator, instruction: ir.Instruction, name: str) -> None:
    """malloc, calloc, alloca: a fresh object, or null where the allocation fails."""
    var = t.memory.fresh(f"%{instruction.result or name}.object", Kind.TEMPORARY, INTEGERS, pointer_part="object")
    sizes = [t.number(operand) for operand in instruction.operands]
    known = [size.read(signed=False) for size in sizes if size is not None]
    if not known or len(known) != len(sizes) or name not in ("malloc", "calloc"):
        refused = Refused(Reason.MEMORY, t.where(instruction.loc), f"{name} is not modelled")
        t.emit(Havoc(var, Origin.MEMORY, name, instruction.loc, refused))
    else:
        t.emit(Allocate(var, product(known), name == "calloc", instruction.loc))
    t.define(instruction, Address(var, ZERO))


def _intrinsic(t: Translator, instruction: ir.Instruction, name: str) -> None:
    loc = instruction.loc
    if name.startswith("llvm.lifetime.start"):
        pointer = instruction.operands[-1]
        meant = {base for base, _ in t.memory.points.of(pointer).places}
        for (base, _), slot in t.memory.slots.items():
            if base in meant:
                t.havoc_slot(slot, Origin.UNINITIALISED, t.memory.variables[slot.var].shown, loc, None)
        return
    if name.startswith(("llvm.memset", "llvm.memcpy", "llvm.memmove")):
        _block_operation(t, instruction, name)
        return
    if name in ("llvm.trap", "llvm.ubsantrap", "llvm.debugtrap"):
        t.end = End("abort", None, None, loc)
        return
    if instruction.result is None or overflowing(t, instruction, name):
        return
    value = intrinsic(t, instruction, name)
    if value is None:
        refused = t.refused(f"the intrinsic {name} is not followed", loc)
        value = t.unknown(instruction.type, Origin.UNSUPPORTED, name.removeprefix("llvm."), loc, refused)
    t.define(instruction, value)


def _block_operation(t: Translator, instruction: ir.Instruction, name: str) -> None:
    loc = instruction.loc
    target = t.address(instruction.operands[0], loc)
    length = t.number(instruction.operands[2])
    if length is None:
        t.blocked[t.label] = t.refused(f"{name} with a length that is not followed", loc)
        return
    nothing = equals_zero(length.read(signed=False))
    for operand in instruction.operands[: 1 if name.startswith("llvm.memset") else 2]:
        alive(t, operand, loc, nothing)
    writable(t, instruction.operands[0], loc, nothing)
    if nowhere(t, instruction.operands[0], write=True):
        return
    pointer = Pointer(target.object, target.offset)
    if name.startswith("llvm.memset"):
        byte = t.number(instruction.operands[1])
        if byte is not None:
            filled = Fill(pointer, byte.read(signed=False), length.read(signed=False), loc)
            t.emit_access(filled, instruction.operands[0])
        return
    source = t.address(instruction.operands[1], loc)
    size = length.read(signed=False)
    known = isinstance(target.object, Const) and isinstance(source.object, Const)
    moves = name.startswith("llvm.memmove")
    if known and not moves and target.object is source.object:
        # The same place is fine: clang assigns a structure to itself in this way.
        to, at = target.offset, source.offset
        behind = (less_equal(add(to, size), at), less_equal(add(at, size), to))
        t.check(disjunction((equal(size, ZERO), equal(to, at), *behind)), "overlap", loc)
    copied = Copy(pointer, Pointer(source.object, source.offset), size, loc, apart=not moves and not known)
    t.emit_access(copied, instruction.operands[0])

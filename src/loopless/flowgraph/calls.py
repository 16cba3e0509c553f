"""Calls: the verification vocabulary, library functions by their effects, intrinsics, other functions."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Final

from loopless import terms as t
from loopless.flowgraph.arithmetic import absolute, divides, intrinsic, overflowing
from loopless.flowgraph.memory.access import alive, is_constant, nowhere, null_check, writable
from loopless.flowgraph.memory.called_memory import call_kind
from loopless.flowgraph.memory.mod_ref import NOT_MAIN, Touched, is_internal
from loopless.flowgraph.memory.objects import Slot
from loopless.flowgraph.memory.own_heap import is_address
from loopless.flowgraph.memory.places import Base
from loopless.flowgraph.memory.points_to import zeroed_by
from loopless.flowgraph.model import (
    ASSEMBLY,
    THROUGH_POINTER,
    Allocate,
    Assign,
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
from loopless.flowgraph.translate import Translator
from loopless.flowgraph.values import FLAG_TYPE, Address, Flag, Number, UnfollowedValue, Value, flag_of
from loopless.refusals import Reason, Refused
from loopless.source import ir
from loopless.source.function_names import in_source
from loopless.source.inlining import recursive_functions
from loopless.source.string_copies import APART
from loopless.source.vocabulary import (
    ABSOLUTE_VALUES,
    DIVISIONS,
    ENDS_ONCE,
    FINITE,
    LEAVES,
    SIZES,
    STANDARD_INPUT_DRAW,
    STANDARD_INPUT_SIZE,
    TARGET,
    WORKED_OUT,
    LibraryEffect,
    Meaning,
    effect_of,
    library_function,
    meaning_of,
    nondet_signed,
)

ITSELF: Final = ".itself"
"""What a function calls instead of itself while it is read as a loop (:mod:`loopless.flowgraph.callees.recursion`): it
touches no memory, but may change all globals that are variables. No name in C has a dot.
"""


def call(translator: Translator, instruction: ir.Instruction) -> None:
    """Translate a call (or an invoke's call)."""
    name = instruction.callee_name
    loc = instruction.loc
    if name is None:
        _indirect(translator, instruction)
        return
    if name.startswith("llvm."):
        _intrinsic(translator, instruction, name)
        return
    function = translator.memory.module.functions.get(name)
    meaning = meaning_of(name, defined=function is not None and not function.is_declaration)
    if meaning is not None:
        _meaningful(translator, instruction, name, meaning)
        return
    if function is None or function.is_declaration:
        _library_uses(translator, instruction, name)
    kind = call_kind(instruction, translator.memory.module)
    gone = _gone(translator, instruction, name, function)
    if gone is not None and kind != "defined":
        translator.end = gone  # what it changes on the way out, nothing here sees
        return
    if effect_of(name, translator.memory.module.stubs) is LibraryEffect.ALLOCATES and (
        function is None or function.is_declaration
    ):
        _allocate(translator, instruction, name)
        return
    if (function is None or function.is_declaration) and _computes(translator, instruction, name):
        return
    translator.callees.add(name)
    if kind == "defined" or kind in ("ignored", "reads"):
        _known(translator, instruction, name, kind)
    else:
        refused = Refused(
            Reason.UNKNOWN_CALL, translator.where(loc), f"{_shown(function, name)} is not defined in the program"
        )
        _opaque(translator, instruction, name, refused)
    if gone is not None:
        translator.end = gone


def _computes(translator: Translator, instruction: ir.Instruction, name: str) -> bool:
    """Whether the call is of an absolute value in the library, which is then worked out. Of a quotient and remainder
    in a structure it is checked that they exist.
    """
    if name in translator.memory.module.stubs or name not in ABSOLUTE_VALUES | DIVISIONS:
        return False
    numbers = [translator.number(operand) for operand in instruction.operands]
    types = [operand.type for operand in instruction.operands]
    match numbers, types:
        case [Number() as of], [ir.IntT(bits=bits) as type] if name in ABSOLUTE_VALUES and instruction.type == type:
            translator.define(instruction, absolute(translator, of, bits, instruction.loc, wraps=False))
            return True
        case [Number() as left, Number() as right], [ir.IntT(bits=bits) as type, same] if type == same:
            exact = None in (left.type.width, right.type.width)
            a, b = left.converted(bits, signed=True), right.converted(bits, signed=True)
            divides(translator, a, b, t.INTEGERS if exact else t.IntType(bits), instruction.loc)
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


def _library_uses(translator: Translator, instruction: ir.Instruction, name: str) -> None:
    """What a library function reads or writes through must live, and what it writes must not be constant."""
    known = library_function(name, translator.memory.module.stubs)
    if known is None or known.effect is LibraryEffect.NONE:
        return
    plain = name.removeprefix("__").removesuffix("_chk")
    for operand in instruction.operands:
        if isinstance(operand.type, ir.PtrT):
            alive(translator, operand, instruction.loc)
    if name in WORKED_OUT:
        size = (
            translator.number(instruction.operands[SIZES[name]])
            if SIZES.get(name, 9) < len(instruction.operands)
            else None
        )
        unread = t.equals_zero(size.read(signed=False)) if size is not None else t.FALSE
        for operand in instruction.operands:
            if isinstance(operand.type, ir.PtrT):
                null_check(translator, operand, instruction.loc, unread)
    at = _LENGTHS.get(plain)
    length = translator.number(instruction.operands[at]) if at is not None and at < len(instruction.operands) else None
    if plain not in _SURELY or (at is not None and length is None):
        return
    nothing = t.equals_zero(length.read(signed=False)) if length is not None else t.FALSE
    for index in known.writes:
        if 0 <= index < len(instruction.operands):
            writable(translator, instruction.operands[index], instruction.loc, nothing)


def _gone(
    translator: Translator, instruction: ir.Instruction, name: str, function: ir.SourceFunction | None
) -> End | None:
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
    refused = Refused(Reason.EXCEPTION if thrown else Reason.UNKNOWN_CALL, translator.where(instruction.loc), detail)
    return End("unsupported", None, None, instruction.loc, refused)


def _shown(function: ir.SourceFunction | None, name: str) -> str:
    return in_source(name) if function is None or function.source_name == name else function.source_name


def _error(translator: Translator) -> str:
    """How a run ends that comes to the error function: where it is to get to another place, it has failed."""
    return "abort" if TARGET in translator.memory.module.functions else "error"


def _meaningful(translator: Translator, instruction: ir.Instruction, name: str, meaning: Meaning) -> None:
    loc = instruction.loc
    match meaning:
        case Meaning.NONDET:
            signed = nondet_signed(name) is not False
            shown = name.removeprefix("__VERIFIER_")
            if name.startswith(STANDARD_INPUT_DRAW):
                translator.memory.granted[FINITE if name == STANDARD_INPUT_SIZE else ENDS_ONCE] = None
            translator.define(
                instruction, translator.unknown(instruction.type, Origin.NONDET, shown, loc, None, signed=signed)
            )
        case Meaning.ASSUME:
            condition = _argument_condition(translator, instruction)
            translator.statements.append(Assume(condition, loc))
        case Meaning.ASSERT:
            translator.split_unless(
                _argument_condition(translator, instruction), End(_error(translator), None, None, loc), loc
            )
        case Meaning.ERROR:
            translator.end = End(_error(translator), None, None, loc)
        case Meaning.TARGET:
            translator.end = End("error", None, None, loc)
        case Meaning.ABORT:
            translator.end = End("abort", None, None, loc)
        case Meaning.EXIT:
            translator.end = End("exit", None, None, loc)
        case Meaning.IGNORE:
            pass
        case Meaning.SYMBOLIC | Meaning.ENTRY:
            refused = Refused(Reason.UNKNOWN_CALL, translator.where(loc), f"a call of {name} is not followed")
            _opaque(translator, instruction, name, refused)


def _argument_condition(translator: Translator, instruction: ir.Instruction) -> t.Condition:
    value = translator.value(instruction.operands[0]) if instruction.operands else Flag(t.FALSE)
    match value:
        case Flag():
            return value.condition
        case Number():
            return t.not_zero(value.term)
        case _:
            refused = value.refused if isinstance(value, UnfollowedValue) else None
            unknown = translator.unknown(ir.IntT(1), Origin.UNSUPPORTED, "condition", instruction.loc, refused)
            assert isinstance(unknown, Flag)
            return unknown.condition


def _indirect(translator: Translator, instruction: ir.Instruction) -> None:
    if isinstance(instruction.callee, ir.OtherConst) and "asm" in instruction.callee.text:
        refused = Refused(Reason.INLINE_ASM, translator.where(instruction.loc), "inline assembly is not read")
        _opaque(translator, instruction, ASSEMBLY, refused)
        return
    refused = Refused(
        Reason.UNKNOWN_CALL, translator.where(instruction.loc), "a call through a pointer may do anything"
    )
    _opaque(translator, instruction, THROUGH_POINTER, refused)


def _opaque(translator: Translator, instruction: ir.Instruction, name: str, refused: Refused) -> None:
    """A call that may change everything that the outside can reach."""
    loc = instruction.loc
    target, owner, value = _result(translator, instruction, name)
    why = refused if refused.reason is Reason.INLINE_ASM else None  # what is not defined only returns something
    touched = translator.memory.touched(instruction)
    reads = _variables(slot for _, slot in translator.memory.held(touched.reads))
    changed = _changed(translator, touched)
    outside = name not in (THROUGH_POINTER, ASSEMBLY)
    call = Call(name, _arguments(translator, instruction), target, owner, True, loc, why, reads=reads, outside=outside)
    _emit(translator, call, touched)
    if target is not None:
        translator.emit(Havoc(target, Origin.CALL, name, loc, refused))
        if owner is not None:
            translator.emit(Havoc(owner, Origin.CALL, name, loc, refused))
    for base, slot in changed:
        translator.havoc_slot(slot, Origin.CALL, name, loc, _by_the_program(translator, base, name, loc) or refused)
    _finish(translator, instruction, value)


def _by_the_program(translator: Translator, base: Base, name: str, loc: ir.Loc | None) -> Refused | None:
    """Why nobody outside chooses what code that is not known leaves in a global: only functions of the program change
    it, which that code may call. None where others may.
    """
    found = translator.memory.module.globals.get(base.name) if base.kind == "global" else None
    if found is None or not is_internal(found):
        return None
    detail = f"{translator.memory.shown(base)} is changed by functions of the program that {name} may call"
    return Refused(Reason.MEMORY, translator.where(loc), detail)


def _changed(translator: Translator, touched: Touched) -> list[tuple[Base, Slot]]:
    """The variables in memory that a call may change."""
    changed = [
        (key, slot) for key, slot in translator.memory.held(touched.writes) if not is_constant(translator, key[0])
    ]
    if touched.strange and translator.memory.around is not None:
        hit = {key for key, _ in changed}
        if any(key not in hit for key, _ in translator.memory.held(translator.memory.around.facts.strange.main)):
            translator.memory.granted[NOT_MAIN] = None
    return [(base, slot) for (base, _), slot in changed]


def _variables(slots: Iterable[Slot]) -> tuple[t.Var, ...]:
    return tuple(var for slot in slots for var in (slot.var, slot.object_var) if var is not None)


def _emit(translator: Translator, call: Call, touched: Touched) -> None:
    translator.emit(call)
    translator.called.append((call, touched))


def _known(translator: Translator, instruction: ir.Instruction, name: str, kind: str) -> None:
    """A defined function that was not inlined, or a library function that changes nothing of ours."""
    loc = instruction.loc
    target, owner, value = _result(translator, instruction, name)
    reads: tuple[t.Var, ...] = ()
    changes: tuple[t.Var, ...] = ()
    touched = Touched(frozenset(), frozenset())
    if name == ITSELF:
        for (base, _), slot in translator.memory.slots.items():
            if base.kind == "global":
                translator.save_mentions(slot.var)
        changes = _variables(
            slot for (base, _), slot in translator.memory.slots.items() if _is_known_elsewhere(translator, base)
        )
    elif kind in ("defined", "reads") and translator.memory.around is not None:
        touched = translator.memory.touched(instruction)
        reads = _variables(slot for _, slot in translator.memory.held(touched.reads))
        if kind == "defined":
            changes = _variables(slot for _, slot in _changed(translator, touched))
    arguments = _own_arguments(translator, instruction) if name == ITSELF else _arguments(translator, instruction)
    refused = None
    if kind == "defined" and name in _recursive(translator.memory.module):
        shown = _shown(translator.memory.module.functions.get(name), name)
        detail = f"what the calls of {shown}, which can call itself again, come to in a loop is not followed"
        refused = Refused(Reason.RECURSION, translator.where(loc), detail)
    own = kind == "defined"
    outside = not own and name != ITSELF
    call = Call(name, arguments, target, owner, own, loc, refused, reads=reads, changes=changes, outside=outside)
    if own or (kind == "reads" and translator.memory.around is not None):
        _emit(translator, call, touched)
    else:
        translator.emit(call)
    _finish(translator, instruction, value)


def _is_known_elsewhere(translator: Translator, base: Base) -> bool:
    """Whether the address of a local may be known to others."""
    return base.kind == "local" and translator.memory.around is not None and base in translator.memory.around.kept


@functools.lru_cache(maxsize=2)
def _recursive(module: ir.Module) -> frozenset[str]:
    """The functions of a module that can call themselves again."""
    return recursive_functions(module)


def _result(
    translator: Translator, instruction: ir.Instruction, name: str
) -> tuple[t.Var | None, t.Var | None, Value | None]:
    """Variables that take the result of a call: (integer or offset, object, the value they make)."""
    if instruction.result is None:
        return None, None, None
    shown = f"%{instruction.result}"
    match instruction.type:
        case ir.IntT(bits=1):
            var = translator.memory.fresh(shown, Kind.FLAG, FLAG_TYPE)
            return var, None, flag_of(var)
        case ir.IntT(bits=bits):
            type = translator.memory.number_type(bits, signed=_returns_signed(translator, instruction, name))
            var = translator.memory.fresh(shown, Kind.TEMPORARY, type)
            return var, None, Number(var, type)
        case ir.PtrT():
            var = translator.memory.fresh(shown, Kind.TEMPORARY, translator.memory.offset_type, pointer_part="offset")
            owner = translator.memory.fresh(f"{shown}.object", Kind.TEMPORARY, t.INTEGERS, pointer_part="object")
            return var, owner, Address(owner, var)
        case _:
            refused = translator.refused(f"the result of {name} is not followed", instruction.loc)
            return None, None, UnfollowedValue(refused)


def _returns_signed(translator: Translator, instruction: ir.Instruction, name: str) -> bool:
    """How the result of a call is read: as it is used, but over ℤ, where this makes a difference, as it is declared."""
    function = translator.memory.function if name == ITSELF else translator.memory.module.functions.get(name)
    declared = function.result_debug if function is not None else None
    if translator.memory.options.mathematical and declared is not None and declared.signed is not None:
        return declared.signed
    return translator.uses.signed.get(instruction.result or "", True)


def _finish(translator: Translator, instruction: ir.Instruction, value: Value | None) -> None:
    if value is not None:
        translator.define(instruction, _told(translator, instruction, value))


def _told(translator: Translator, instruction: ir.Instruction, value: Value) -> Value:
    """The result of a call, by what a stub says of it: between what it lies.

    It is told by the value, which is the same wherever the stub is right: a condition would be one on what is called
    whether or not anything depends on the result.
    """
    stub = translator.memory.module.stubs.get(instruction.callee_name or "")
    if stub is None or stub.returns is None or not isinstance(value, Number):
        return value
    least, most = stub.returns
    term = least + (value.read(signed=least < 0) - least) % (most - least + 1)
    return Number(term if value.type.width is None else t.wrap(term, value.type), value.type)


def _arguments(translator: Translator, instruction: ir.Instruction) -> tuple[t.Term | Pointer, ...]:
    arguments: list[t.Term | Pointer] = []
    size = SIZES.get(instruction.callee_name or "")
    for at, operand in enumerate(instruction.operands):
        value = translator.value(operand)
        match value:
            case Number() if at == size and not translator.memory.options.mathematical:
                arguments.append(value.read(signed=False))
            case Number() if translator.memory.options.mathematical:
                arguments.append(value.read(signed=True))  # which is the value where the parameter is of ℤ
            case Number() | Flag():
                arguments.append(value.term)
            case Address():
                arguments.append(Pointer(value.object, value.offset))
            case UnfollowedValue():
                filler = translator.unknown(ir.IntT(64), Origin.UNSUPPORTED, "argument", instruction.loc, value.refused)
                assert isinstance(filler, Number)
                arguments.append(filler.term)
    return tuple(arguments)


def _own_arguments(translator: Translator, instruction: ir.Instruction) -> tuple[t.Term | Pointer, ...]:
    """The arguments of a call of the function by itself, integers in the ranges of its parameters."""
    arguments = list(_arguments(translator, instruction))
    for at, (operand, param) in enumerate(zip(instruction.operands, translator.memory.function.params, strict=False)):
        value = translator.value(operand)
        if isinstance(value, Number) and value.type.width is not None:
            signed = param.signed if param.signed is not None else translator.uses.signed.get(param.name, True)
            arguments[at] = value.read(signed=signed)
    return tuple(arguments)


def _allocate(translator: Translator, instruction: ir.Instruction, name: str) -> None:
    """malloc, calloc, alloca: a fresh object, or null where the allocation fails."""
    var = translator.memory.fresh(
        f"%{instruction.result or name}.object", Kind.TEMPORARY, t.INTEGERS, pointer_part="object"
    )
    sizes = [translator.number(operand) for operand in instruction.operands]
    known = [size.read(signed=False) for size in sizes if size is not None]
    if not known or len(known) != len(sizes) or name not in ("malloc", "calloc"):
        refused = Refused(Reason.MEMORY, translator.where(instruction.loc), f"{name} is not modelled")
        translator.emit(Havoc(var, Origin.MEMORY, name, instruction.loc, refused))
    else:
        own = is_address(instruction.result or "")
        translator.emit(Allocate(var, t.product(known), name == "calloc", instruction.loc, own))
    translator.define(instruction, Address(var, t.ZERO))


def _intrinsic(translator: Translator, instruction: ir.Instruction, name: str) -> None:
    loc = instruction.loc
    if name.startswith("llvm.lifetime.start"):
        pointer = instruction.operands[-1]
        meant = {base for base, _ in translator.memory.points.of(pointer).places}
        for (base, _), slot in translator.memory.slots.items():
            if base in meant:
                translator.havoc_slot(
                    slot, Origin.UNINITIALISED, translator.memory.variables[slot.var].shown, loc, None
                )
        return
    if name.startswith(("llvm.memset", "llvm.memcpy", "llvm.memmove")):
        _block_operation(translator, instruction, name)
        return
    if name in ("llvm.trap", "llvm.ubsantrap", "llvm.debugtrap"):
        translator.end = End("abort", None, None, loc)
        return
    if instruction.result is None or overflowing(translator, instruction, name):
        return
    value = intrinsic(translator, instruction, name)
    if value is None:
        refused = translator.refused(f"the intrinsic {name} is not followed", loc)
        value = translator.unknown(instruction.type, Origin.UNSUPPORTED, name.removeprefix("llvm."), loc, refused)
    translator.define(instruction, value)


def _clear(
    translator: Translator, instruction: ir.Instruction, pointer: Pointer, base: Base, start: int, length: int
) -> None:
    """Bytes become 0, of which some are variables: these, and what lies between them."""
    memory, loc, end = translator.memory, instruction.loc, start + length
    inside = sorted((at, slot.var) for (held, at), slot in memory.slots.items() if held == base and start <= at < end)
    for _, var in inside:
        translator.emit(Assign(var, t.ZERO, loc))
    if base in memory.promoted and base.kind == "local" and base not in memory.points.lent:
        return
    behind = [at + memory.variables[var].size for at, var in inside]
    for low, high in zip((start, *behind), (*(at for at, _ in inside), end), strict=True):
        if low < high:
            place = Pointer(pointer.object, pointer.offset + (low - start))
            translator.emit_access(Fill(place, t.ZERO, t.const(high - low), loc), instruction.operands[0])


def _block_operation(translator: Translator, instruction: ir.Instruction, name: str) -> None:
    loc = instruction.loc
    target = translator.address(instruction.operands[0], loc)
    length = translator.number(instruction.operands[2])
    if length is None:
        translator.blocked[translator.label] = translator.refused(f"{name} with a length that is not followed", loc)
        return
    nothing = t.equals_zero(length.read(signed=False))
    for operand in instruction.operands[: 1 if name.startswith("llvm.memset") else 2]:
        alive(translator, operand, loc, nothing)
    writable(translator, instruction.operands[0], loc, nothing)
    if nowhere(translator, instruction.operands[0], write=True):
        return
    pointer = Pointer(target.object, target.offset)
    if name.startswith("llvm.memset"):
        byte = translator.number(instruction.operands[1])
        cleared = zeroed_by(instruction, translator.memory.points)
        if cleared is not None and any(base == cleared[0] for base, _ in translator.memory.slots):
            _clear(translator, instruction, pointer, *cleared)
        elif byte is not None:
            filled = Fill(pointer, byte.read(signed=False), length.read(signed=False), loc)
            translator.emit_access(filled, instruction.operands[0])
        return
    source = translator.address(instruction.operands[1], loc)
    size = length.read(signed=False)
    known = isinstance(target.object, t.Const) and isinstance(source.object, t.Const)
    moves = name.startswith("llvm.memmove")
    to, at = target.offset, source.offset
    # The same place is fine: clang assigns a structure to itself in this way. The library does not.
    same = t.FALSE if APART in instruction.flags else to.eq(at)
    if known and not moves and target.object is source.object:
        behind = ((to + size).le(at), (at + size).le(to))
        translator.check(t.disjunction((size.eq(0), same, *behind)), "overlap", loc)
    elif not known and same is t.FALSE:
        translator.check(t.disjunction((size.eq(0), target.object.ne(source.object), to.ne(at))), "overlap", loc)
    copied = Copy(pointer, Pointer(source.object, source.offset), size, loc, apart=not moves and not known)
    translator.emit_access(copied, instruction.operands[0])

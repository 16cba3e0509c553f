"""What calls read and change: the effects of functions on memory (mod/ref), from callees to callers.

The effects of a function are places: of what its pointer parameters point into, of globals, and *outside*, which is all
that a pointer may point to that was loaded from memory or comes from code that is not known. At a call, the places of
parameters become those that the arguments point to. The scheme is that of Cooper and Kennedy (PLDI 1988), with sets of
places in the place of names: one pass over the strongly connected components of the call graph, each repeated until
nothing is added.

Code that is not known may read and change what it can have an address of: globals that are not internal, and objects
whose address was kept somewhere. And it may call the functions of the program that it can know: those that are not
internal, and those whose address is taken; so what these change of other globals, it may change.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Final

from loopless.flowgraph.callees.call_graph import CallGraph, mentioned
from loopless.flowgraph.memory.at_calls import CallPlaces, Holders, copied, holders_of, seen_by_callers
from loopless.flowgraph.memory.called_memory import call_kind, library_at, may_hand_back
from loopless.flowgraph.memory.cells import (
    ANYTHING_OUTSIDE,
    Cell,
    Cells,
    cells_accessed,
    cells_from,
    cells_of,
    collapsed,
    whole_objects,
)
from loopless.flowgraph.memory.lifetimes import with_lifetimes_and_points
from loopless.flowgraph.memory.places import Base, PointerTargets, PointsTo
from loopless.flowgraph.memory.points_to import reachable_objects
from loopless.graphs import bottom_up, least_fixed_point
from loopless.records import dataclass
from loopless.source import ir
from loopless.source.vocabulary import LibraryEffect, LibraryFunction, Meaning, meaning_of

_INTERNAL: Final = ("internal", "private")
_FOLLOWED: Final = frozenset(
    {
        "load",
        "store",
        "getelementptr",
        "phi",
        "select",
        "bitcast",
        "addrspacecast",
        "freeze",
        "icmp",
        "ptrtoint",
        "ret",
        "insertvalue",
        "insertelement",
        "cmpxchg",
        "atomicrmw",
        "alloca",
        "br",
        "switch",
        "call",
        "invoke",
        "begin",
        "expire",
        "outlive",
        "outlived",
        "unreachable",
        "fence",
        "extractvalue",
        "extractelement",
    }
)
"""Instructions in which the analysis of pointers follows addresses, or which give none of theirs away."""
_HARMLESS: Final = (
    "llvm.dbg.",
    "llvm.lifetime.",
    "llvm.invariant.",
    "llvm.assume",
    "llvm.expect",
    "llvm.objectsize",
    "llvm.prefetch",
    "llvm.experimental.noalias",
    "llvm.donothing",
    "llvm.stacksave",
    "llvm.stackrestore",
    "llvm.trap",
    "llvm.debugtrap",
    "llvm.ubsantrap",
    "llvm.is.constant",
    "llvm.ptrmask",
    "llvm.ptr.annotation",
    "llvm.var.annotation",
    "llvm.va_end",
    "llvm.launder",
    "llvm.strip",
)
"""Intrinsics with pointer arguments that read and write nothing."""
NOT_MAIN: Final = "what is not defined here does not call main"
"""What is taken for granted where a variable that ``main`` changes survives such a call."""
_KEEPING: Final = ("strto", "wcsto")
"""Library functions that store what they are given in memory, whatever they return."""


@dataclass(frozen=True, slots=True)
class Effects:
    """What a call of a function may do to memory that its caller can see: places of parameters (bases of the callee),
    of globals, of what pointers in these point to (formal pointees, with their ``holders``), and outside.
    ``strange``: it may come to code that is not known; ``looks``: to such that writes nothing.
    ``keeps``: the parameters whose address may still be known to somebody when the call is over.
    """

    reads: Cells = frozenset()
    writes: Cells = frozenset()
    strange: bool = False
    looks: bool = False
    keeps: frozenset[str] = frozenset()
    holders: Holders = field(default_factory=dict)


NO_EFFECTS: Final = Effects()


@dataclass(frozen=True, slots=True)
class Strange:
    """What code that is not known may read and change beside what is outside: globals that it has no address of, by the
    functions that it may call. ``main`` has what is added where it may call ``main``, which programs do not do.
    """

    reads: Cells = frozenset()
    writes: Cells = frozenset()
    main: Cells = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class ModuleFacts:
    """The effects of the defined functions of a module by name.

    ``exposed``: the globals that pointers of unknown origin may point to; ``kept``: those of them whose address the
    module itself keeps somewhere; ``given``: the exposed ones, and those whose address is an argument somewhere.
    """

    module: ir.Module
    effects: Mapping[str, Effects]
    exposed: frozenset[str]
    kept: frozenset[str]
    given: frozenset[str]
    strange: Strange


@dataclass(frozen=True, slots=True)
class Touched:
    """What one call may read and write, in the objects of the caller. ``strange``: it may come to unknown code.
    ``looks``: it may read what such code may read, and writes nothing but what is said here.
    """

    reads: Cells
    writes: Cells
    strange: bool = False
    looks: bool = False


@dataclass(slots=True)
class _Body:
    """What is to be known of a function before its callees are: its own accesses, calls, and what it gives away."""

    function: ir.SourceFunction
    points: PointsTo
    reads: set[Cell] = field(default_factory=set)
    writes: set[Cell] = field(default_factory=set)
    calls: list[ir.Instruction] = field(default_factory=list)
    escaped: set[Base] = field(default_factory=set)
    kept: set[Base] = field(default_factory=set)
    callees: set[str] = field(default_factory=set)
    named: dict[Base, tuple[Base, int | None]] = field(default_factory=dict)


# -- the analysis of pointers, once for each function -----------------------------------------------------------------


@functools.lru_cache(maxsize=4)
def _analysed(module: ir.Module) -> dict[tuple[str, bool], tuple[ir.SourceFunction, PointsTo]]:  # noqa: ARG001  the key
    return {}


def with_points(
    function: ir.SourceFunction, module: ir.Module, *, apart: bool = True
) -> tuple[ir.SourceFunction, PointsTo]:
    """The function with the ends of lives that matter, and where its pointers point (``apart`` as there)."""
    if module.functions.get(function.name) is not function:
        return with_lifetimes_and_points(function, module, apart=apart)
    known, key = _analysed(module), (function.name, apart)
    if key not in known:
        known[key] = with_lifetimes_and_points(function, module, apart=apart)
    return known[key]


# -- one function -----------------------------------------------------------------------------------------------------


def _body(function: ir.SourceFunction, module: ir.Module) -> _Body:
    own, points = with_points(function, module)
    body = _Body(function, points, escaped=set(points.escaped), named=dict(points.pointees))
    for instruction in own.instructions():
        if not instruction.is_debug:
            _note(instruction, body, module)
    return body


def _note(instruction: ir.Instruction, body: _Body, module: ir.Module) -> None:
    points, layout = body.points, module.layout
    operands = instruction.operands
    match instruction.op:
        case "load":
            body.reads |= cells_accessed(points, operands[0], layout.store_size(instruction.type))
        case "store":
            body.writes |= cells_accessed(points, operands[1], layout.store_size(operands[0].type))
        case "cmpxchg" | "atomicrmw":
            found = cells_of(points.of(operands[0]), layout.store_size(operands[1].type))
            body.reads |= found
            body.writes |= found
        case "call" | "invoke" | "callbr":
            body.calls.append(instruction)
            body.callees.update(_callees(instruction, points, module) or ())
        case "unsupported":
            body.escaped.update(base for target in points.targets.values() for base, _ in target.places)
            body.reads.add(ANYTHING_OUTSIDE)
            body.writes.add(ANYTHING_OUTSIDE)
        case op if op not in _FOLLOWED:
            for operand in operands:
                if _may_point(operand):
                    target = points.of(operand)
                    body.escaped |= reachable_objects(points, target)
                    body.reads |= whole_objects(target)
                    body.writes |= whole_objects(target)
        case _:
            pass


def _callees(instruction: ir.Instruction, points: PointsTo, module: ir.Module) -> tuple[str, ...] | None:
    """The defined functions that one of may be called, None where it may be others."""
    name = instruction.callee_name
    if name is not None:
        names: tuple[str, ...] = (name,)
    elif instruction.callee is None or isinstance(instruction.callee, ir.OtherConst):
        return None
    else:
        target = points.of(instruction.callee)
        if target.unknown or not target.living or any(b.kind != "global" for b, _ in target.living):
            return None
        names = tuple(sorted({base.name for base, _ in target.living}))
    for name in names:
        function = module.functions.get(name)
        if function is None or function.is_declaration or function.linkage in ir.REPLACEABLE:
            return None
    return names


def is_internal(found: ir.GlobalVar | ir.SourceFunction) -> bool:
    """Whether no other module can name it."""
    return found.linkage in _INTERNAL


def _may_point(operand: ir.Value) -> bool:
    return isinstance(operand, ir.OtherConst) or isinstance(operand.type, ir.PtrT)


# -- one call ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Caller:
    """A function as its calls see it: ``named`` are the places of the pointers that its formal pointees are named
    after, which grow by what only calls speak of.
    """

    function: ir.SourceFunction
    points: PointsTo
    module: ir.Module
    named: dict[Base, tuple[Base, int | None]]


def touched(instruction: ir.Instruction, caller: Caller, facts: ModuleFacts) -> Touched:
    """What a call may read and write, in the objects of its caller."""
    found = _touched(instruction, caller, facts.module, facts.effects)
    more = facts.strange
    outside = frozenset({ANYTHING_OUTSIDE})
    if not found.strange:
        return replace(found, reads=found.reads | outside | more.reads) if found.looks else found
    return Touched(found.reads | outside | more.reads, found.writes | outside | more.writes, strange=True)


def _touched(instruction: ir.Instruction, caller: Caller, known: ir.Module, effects: Mapping[str, Effects]) -> Touched:
    """What a call touches beside what code that is not known does; ``effects`` are of the functions of ``known``."""
    points, module = caller.points, caller.module
    name, operands = instruction.callee_name, instruction.operands
    nothing = frozenset[Cell]()
    if name is not None and name.startswith("llvm."):
        return _of_intrinsic(instruction, name, points)
    declared = module.functions.get(name) if name is not None else None
    stranger = declared is None or declared.is_declaration
    meaning = meaning_of(name, defined=not stranger) if name is not None else None
    if meaning is Meaning.SYMBOLIC:
        return Touched(nothing, frozenset(cells_from(points.of(operands[0]))) if operands else nothing)
    if meaning is not None and meaning is not Meaning.ENTRY:
        return Touched(nothing, nothing)
    library = library_at(instruction, module)
    if library is not None:
        return _of_library(library, operands, points)
    if call_kind(instruction, module) == "ignored":
        return Touched(nothing, nothing)
    names = _callees(instruction, points, known)
    if names is not None:
        reads: set[Cell] = set()
        writes: set[Cell] = set()
        for callee in names:
            function, found = known.functions[callee], effects.get(callee, NO_EFFECTS)
            own = CallPlaces(function, operands, caller.function, points, module, found.holders, caller.named)
            reads.update(own.of(found.reads))
            writes.update(own.of(found.writes))
            reads.update(copied(function, operands, points, known))
        inside = [effects.get(callee, NO_EFFECTS) for callee in names]
        strange, looks = any(e.strange for e in inside), any(e.looks for e in inside)
        return Touched(frozenset(reads), frozenset(writes), strange, looks)
    given = {cell for operand in operands if _may_point(operand) for cell in whole_objects(points.of(operand))}
    if call_kind(instruction, module) == "reads":
        return Touched(frozenset(given), nothing, looks=True)
    return Touched(frozenset(given), frozenset(given), strange=True)


def _of_intrinsic(instruction: ir.Instruction, name: str, points: PointsTo) -> Touched:
    operands, nothing = instruction.operands, frozenset[Cell]()
    if name.startswith(("llvm.memset", "llvm.memcpy", "llvm.memmove")):
        length = operands[2]
        size = length.unsigned if isinstance(length, ir.IntConst) else None
        source = nothing if name.startswith("llvm.memset") else frozenset(cells_of(points.of(operands[1]), size))
        return Touched(source, frozenset(cells_of(points.of(operands[0]), size)))
    if name.startswith(_HARMLESS):
        return Touched(nothing, nothing)
    given = frozenset(cell for o in operands if _may_point(o) for cell in whole_objects(points.of(o)))
    return Touched(given, given)


def _of_library(library: LibraryFunction, operands: tuple[ir.Value, ...], points: PointsTo) -> Touched:
    if library.effect in (LibraryEffect.NONE, LibraryEffect.FREES, LibraryEffect.MOVES):
        return Touched(frozenset(), frozenset())
    reads: set[Cell] = set()
    writes: set[Cell] = set()
    last = max((index for index in library.writes), default=0)
    for index, operand in enumerate(operands):
        if not _may_point(operand):
            continue
        written = index in library.writes or (-1 in library.writes and index > last)
        (writes if written else reads).update(cells_from(points.of(operand)))
        reads.update(cells_from(points.of(operand)) if written else ())  # as strcat does
    return Touched(frozenset(reads), frozenset(writes), looks=library.anywhere)


# -- what is given away -----------------------------------------------------------------------------------------------


def kept_by(
    calls: Iterable[ir.Instruction],
    points: PointsTo,
    module: ir.Module,
    known: ir.Module,
    effects: Mapping[str, Effects],
) -> set[Base]:
    """The objects whose addresses calls may keep, or give to others."""
    kept: set[Base] = set()
    for instruction in calls:
        if (instruction.callee_name or "").startswith(_HARMLESS) and not isinstance(instruction.type, ir.PtrT):
            continue
        for index, operand in enumerate(instruction.operands):
            if not _may_point(operand):
                continue
            target = points.of(operand)
            kept |= _held(points, target)
            if _keeps(instruction, index, points, module, known, effects):
                kept |= reachable_objects(points, target)
    return kept


def _held(points: PointsTo, target: PointerTargets) -> set[Base]:
    """The objects that pointers point to which lie in the objects that ``target`` points to, and so on."""
    found: set[Base] = set()
    for base in {base for base, _ in target.places}:
        for offset in points.held(base):
            found |= reachable_objects(points, points.cells[base, offset])
    return found


def _keeps(
    instruction: ir.Instruction,
    index: int,
    points: PointsTo,
    module: ir.Module,
    known: ir.Module,
    effects: Mapping[str, Effects],
) -> bool:
    """Whether the address that an argument is may be known to others behind the call, its result included."""
    name, hands_back = instruction.callee_name, may_hand_back(instruction, module)
    if name is not None and name.startswith("llvm."):
        plain = name.startswith(("llvm.memset", "llvm.memcpy", "llvm.memmove", *_HARMLESS))
        return hands_back or not plain
    declared = module.functions.get(name) if name is not None else None
    stranger = declared is None or declared.is_declaration
    if name is not None and (meaning_of(name, defined=not stranger) not in (None, Meaning.ENTRY)):
        return hands_back
    if name is not None and library_at(instruction, module) is not None:
        return hands_back or any(word in name for word in _KEEPING)
    if call_kind(instruction, module) in ("ignored", "reads"):
        return hands_back
    names = _callees(instruction, points, known)
    if names is None:
        return True
    for callee in names:
        params = known.functions[callee].params
        if index >= len(params) or not isinstance(params[index].type, ir.PtrT):
            return True
        if params[index].byval is None and params[index].name in effects.get(callee, NO_EFFECTS).keeps:
            return True
    return False


# -- the module -------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=2)
def facts_of(module: ir.Module) -> ModuleFacts:
    """The effects of all functions of a module; worked out once."""
    bodies = {function.name: _body(function, module) for function in module.defined()}
    calls = {name: body.callees & bodies.keys() for name, body in bodies.items()}

    def transfer(name: str, effects: Mapping[str, Effects]) -> Effects:
        return _effects(bodies[name], module, effects)

    repeated = least_fixed_point(calls, transfer, start=NO_EFFECTS, join=_joined)
    effects = bottom_up(calls, transfer, recursive=repeated, unknown=NO_EFFECTS)
    kept, given = _kept_globals(bodies, module)
    exposed = kept | {name for name, found in module.globals.items() if not is_internal(found)}
    strange = _strange(module, effects, exposed)
    return ModuleFacts(module, effects, exposed, kept, exposed | given, strange)


def _effects(body: _Body, module: ir.Module, effects: Mapping[str, Effects]) -> Effects:
    reads, writes, strange, looks = set(body.reads), set(body.writes), False, False
    caller = Caller(body.function, body.points, module, body.named)
    for instruction in body.calls:
        found = _touched(instruction, caller, module, effects)
        reads |= found.reads
        writes |= found.writes
        strange |= found.strange
        looks |= found.looks
    body.kept = body.escaped | kept_by(body.calls, body.points, module, module, effects)
    own = {param.name: body.points.parameters[param.name] for param in body.function.params if _points(param)}
    keeps = frozenset(name for name, base in own.items() if base in body.kept)
    seen_reads, seen_writes = (
        collapsed(seen_by_callers(cells, body.function, body.points, body.named)) for cells in (reads, writes)
    )
    return Effects(seen_reads, seen_writes, strange, looks, keeps, holders_of((seen_reads, seen_writes), body.named))


def _joined(one: Effects, other: Effects) -> Effects:
    """What one or the other may do."""
    return Effects(
        collapsed((*one.reads, *other.reads)),
        collapsed((*one.writes, *other.writes)),
        one.strange or other.strange,
        one.looks or other.looks,
        one.keeps | other.keeps,
        {**one.holders, **other.holders},
    )


def _points(param: ir.Param) -> bool:
    return isinstance(param.type, ir.PtrT)


def _kept_globals(bodies: Mapping[str, _Body], module: ir.Module) -> tuple[frozenset[str], frozenset[str]]:
    """The globals whose addresses the module keeps somewhere, or gives to code that is not known; and those whose
    addresses are arguments.
    """
    exposed = {name for found in module.globals.values() if found.initializer for name in mentioned(found.initializer)}
    for alias, meant in module.aliases.items():
        exposed |= {alias, *mentioned(meant)}
    given: set[str] = set()
    for body in bodies.values():
        exposed |= {base.name for base in body.kept if base.kind == "global"}
        for instruction in body.function.instructions():
            if instruction.is_debug:
                continue
            for value in (*instruction.operands, *(value for value, _ in instruction.incoming)):
                if not isinstance(value, ir.Local | ir.GlobalRef | ir.AddressOf | ir.IntConst):
                    exposed.update(mentioned(value))
            if instruction.op == "unsupported":
                exposed.update(mentioned(ir.OtherConst(ir.VoidT(), instruction.text)))
        for instruction in body.calls:
            for operand in instruction.operands:
                if _may_point(operand):
                    given |= {b.name for b in reachable_objects(body.points, body.points.of(operand))}
    return frozenset(exposed), frozenset(given)


def _strange(module: ir.Module, effects: Mapping[str, Effects], exposed: frozenset[str]) -> Strange:
    # An alias is a name that others may know, and what is kept for no reason in the text somebody else speaks of.
    kept = [found.initializer for name, found in module.globals.items() if name.startswith("llvm.")]
    used = [meant for meant in kept if meant]
    taken = {*CallGraph(module).taken, *(n for meant in (*module.aliases.values(), *used) for n in mentioned(meant))}
    visible = [function.name for function in module.defined() if not is_internal(function) or function.name in taken]

    def hidden(cells: Cells) -> set[Cell]:
        return {cell for cell in cells if cell.base.kind == "global" and cell.base.name not in exposed}

    reads: set[Cell] = set()
    writes: set[Cell] = set()
    main: set[Cell] = set()
    for name in visible:
        reads |= hidden(effects[name].reads)
        (main if name == "main" and name not in taken else writes).update(hidden(effects[name].writes))
    return Strange(collapsed(reads), collapsed(writes), collapsed(main))

"""Calls through pointers as branches over what they may come to.

A pointer that is read from a table of functions which nothing writes leads to the function that the index says: the
call becomes a switch over the index. A pointer that is known to point to some functions of the program, and to nothing
else, is compared with each of them; one that is read from a variable which nothing writes points to its function.
Outside of the table, and for null pointers, a call is undefined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from loopless.flowgraph.memory.mod_ref import with_points
from loopless.flowgraph.memory.places import PointsTo
from loopless.limits.flowgraph import MAX_TABLE, MAX_TARGETS
from loopless.records import dataclass
from loopless.source import ir


@dataclass(frozen=True, slots=True)
class _Choice:
    """What a call through a pointer comes to: for ``index`` the functions by its values, else by the pointer itself."""

    index: ir.Value | None
    cases: Mapping[str, Sequence[int]]


def dispatched(module: ir.Module, fixed: frozenset[str]) -> ir.Module:
    """The module in which calls through pointers are branches, where what they come to is known; the same module where
    there are none. ``fixed``: the globals that nothing writes.
    """
    functions = {name: _function(found, module, fixed) for name, found in module.functions.items()}
    same = all(functions[name] is found for name, found in module.functions.items())
    return module if same else replace(module, functions=functions)


def _function(function: ir.SourceFunction, module: ir.Module, fixed: frozenset[str]) -> ir.SourceFunction:
    calls = [i for i in function.instructions() if i.op == "call" and _is_indirect(i)]
    if not calls:
        return function
    _, points = with_points(function, module, apart=False)
    defined = {i.result: i for i in function.instructions() if i.result is not None}
    chosen = {id(i): c for i in calls if (c := _choice(i, defined, points, module, fixed)) is not None}
    if not chosen:
        return function
    made = _Made(function, chosen)
    return replace(function, blocks=made.blocks())


def _is_indirect(instruction: ir.Instruction) -> bool:
    return isinstance(instruction.callee, ir.Local)


def _choice(
    call: ir.Instruction,
    defined: Mapping[str, ir.Instruction],
    points: PointsTo,
    module: ir.Module,
    fixed: frozenset[str],
) -> _Choice | None:
    assert isinstance(call.callee, ir.Local)
    found = _by_table(call.callee, defined, module, fixed)
    if found is None:
        target = points.of(call.callee)
        places = target.living
        if target.unknown or not places or any(base.kind != "global" or offset for base, offset in places):
            return None
        found = _Choice(None, dict.fromkeys(sorted({base.name for base, _ in places}), ()))
    if not 0 < len(found.cases) <= MAX_TARGETS or not all(_fits(name, call, module) for name in found.cases):
        return None
    return found


def _by_table(
    callee: ir.Local, defined: Mapping[str, ir.Instruction], module: ir.Module, fixed: frozenset[str]
) -> _Choice | None:
    """The functions of a table from which a pointer is read, by the index there."""
    read = defined.get(callee.name)
    if read is None or read.op != "load" or read.access is None or read.access.volatile or read.access.atomic:
        return None
    place = read.operands[0]
    if isinstance(place, ir.GlobalRef | ir.AddressOf):
        only = _entry(place, module) if place.name in fixed else None
        return _Choice(None, {only.name: ()}) if isinstance(only, ir.GlobalRef) else None
    where = defined.get(place.name) if isinstance(place, ir.Local) else None
    gep = where.gep if where is not None else None
    if gep is None or not isinstance(gep.base, ir.GlobalRef) or gep.offset or len(gep.steps) != 1:
        return None
    table = module.globals.get(gep.base.name)
    if table is None or gep.base.name not in fixed or not isinstance(table.initializer, ir.ConstantAggregate):
        return None
    entries = table.initializer.elements
    index, stride = gep.steps[0]
    pointer = module.pointer_bits // 8
    is_array = isinstance(table.type, ir.ArrayT) and isinstance(table.type.element, ir.PtrT)
    if not is_array or stride != pointer or len(entries) > MAX_TABLE or not isinstance(index.type, ir.IntT):
        return None
    cases: dict[str, list[int]] = {}
    for at, entry in enumerate(entries):
        if isinstance(entry, ir.NullPtr):
            continue
        if not isinstance(entry, ir.GlobalRef):
            return None
        cases.setdefault(entry.name, []).append(at)
    return _Choice(index, cases)


def _entry(place: ir.GlobalRef | ir.AddressOf, module: ir.Module) -> ir.Value | None:
    """What a variable of pointer type, or an array of these, holds at first at a place that is a constant."""
    variable, offset = module.globals[place.name], place.offset if isinstance(place, ir.AddressOf) else 0
    if isinstance(variable.type, ir.PtrT):
        return variable.initializer if offset == 0 else None
    entries = variable.initializer.elements if isinstance(variable.initializer, ir.ConstantAggregate) else ()
    index, rest = divmod(offset, module.pointer_bits // 8)
    is_array = isinstance(variable.type, ir.ArrayT) and isinstance(variable.type.element, ir.PtrT)
    return entries[index] if is_array and not rest and 0 <= index < len(entries) else None


def _fits(name: str, call: ir.Instruction, module: ir.Module) -> bool:
    """Whether a function is defined here, for good, and takes what the call gives."""
    found = module.functions.get(name)
    if found is None or found.is_declaration or found.variadic:
        return False
    if found.linkage not in ("external", "internal", "private"):  # another module may define it otherwise
        return False
    given, taken = [value.type for value in call.operands], [param.type for param in found.params]
    return given == taken and found.result == call.type


class _Made:
    """The blocks of a function with branches for calls."""

    def __init__(self, function: ir.SourceFunction, chosen: Mapping[int, _Choice]) -> None:
        self.function, self.chosen = function, chosen
        self.last: dict[str, str] = {}
        """By the label of a block that is taken apart, that of its last part."""
        self._taken = {block.label for block in function.blocks}
        self._names = {i.result for i in function.instructions() if i.result is not None}
        self._names |= {param.name for param in function.params}

    def blocks(self) -> tuple[ir.SourceBlock, ...]:
        """All blocks, in order."""
        made = [part for block in self.function.blocks for part in self._parts(block)]
        return tuple(self._renamed(block) for block in made)

    def _parts(self, block: ir.SourceBlock) -> list[ir.SourceBlock]:
        label, begun = block.label, list[ir.Instruction]()
        parts: list[ir.SourceBlock] = []
        for instruction in block.instructions:
            choice = self.chosen.get(id(instruction))
            if choice is None:
                begun.append(instruction)
                continue
            behind = self._label(block.label, "behind")
            head, arms, result = self._branch(block.label, behind, instruction, choice)
            parts.append(ir.SourceBlock(label, (*begun, *head)))
            parts += arms
            label, begun = behind, result
        parts.append(ir.SourceBlock(label, tuple(begun)))
        self.last[block.label] = label
        return parts

    def _branch(
        self, label: str, behind: str, call: ir.Instruction, choice: _Choice
    ) -> tuple[list[ir.Instruction], list[ir.SourceBlock], list[ir.Instruction]]:
        """What ends the block in front of a call, the blocks of the calls, and what stands behind them."""
        arms: dict[str, ir.SourceBlock] = {}
        incoming: list[tuple[ir.Value, str]] = []
        for name in choice.cases:
            own = self._label(label, "to")
            result = self._name(call.result) if call.result is not None else None
            made = replace(call, callee=ir.GlobalRef(name), result=result)
            arms[name] = ir.SourceBlock(own, (made, _jump(behind, call)))
            if result is not None:
                incoming.append((ir.Local(result, call.type), own))
        undefined = ir.Instruction("unreachable", None, ir.VoidT(), loc=call.loc)
        nowhere = ir.SourceBlock(self._label(label, "nowhere"), (undefined,))
        phi = ir.Instruction("phi", call.result, call.type, incoming=tuple(incoming), loc=call.loc)
        behind_it = [phi] if call.result is not None else []
        if choice.index is not None:
            cases = tuple((value, arms[name].label) for name, values in choice.cases.items() for value in values)
            targets = (nowhere.label, *(target for _, target in cases))
            switch = ir.Instruction(
                "switch", None, ir.VoidT(), (choice.index,), cases=cases, targets=targets, loc=call.loc
            )
            return [switch], [*arms.values(), nowhere], behind_it
        assert call.callee is not None
        tests: list[ir.SourceBlock] = []
        names = list(choice.cases)
        labels = [label, *(self._label(label, "or") for _ in names[1:]), nowhere.label]
        for number, name in enumerate(names):
            test = self._name("is")
            asked = ir.Instruction(
                "icmp", test, ir.IntT(1), (call.callee, ir.GlobalRef(name)), predicate="eq", loc=call.loc
            )
            targets = (arms[name].label, labels[number + 1])
            jump = ir.Instruction("br", None, ir.VoidT(), (ir.Local(test, ir.IntT(1)),), targets=targets, loc=call.loc)
            tests.append(ir.SourceBlock(labels[number], (asked, jump)))
        return list(tests[0].instructions), [*tests[1:], *arms.values(), nowhere], behind_it

    def _renamed(self, block: ir.SourceBlock) -> ir.SourceBlock:
        """The block whose values come from the last parts of blocks."""
        if not any(i.op == "phi" for i in block.instructions):
            return block
        instructions = tuple(
            replace(i, incoming=tuple((value, self.last.get(label, label)) for value, label in i.incoming))
            if i.op == "phi"
            else i
            for i in block.instructions
        )
        return replace(block, instructions=instructions)

    def _label(self, label: str, part: str) -> str:
        name = next(n for k in range(len(self._taken) + 1) if (n := f"{label}.{part}{k}") not in self._taken)
        self._taken.add(name)
        return name

    def _name(self, like: str | None) -> str:
        name = next(n for k in range(len(self._names) + 1) if (n := f"{like}.by{k}") not in self._names)
        self._names.add(name)
        return name


def _jump(to: str, call: ir.Instruction) -> ir.Instruction:
    return ir.Instruction("br", None, ir.VoidT(), targets=(to,), loc=call.loc)

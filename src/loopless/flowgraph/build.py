"""From an IR function to its flowgraph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from loopless import terms as t
from loopless.flowgraph.arithmetic import BINARY, CASTS, binary, cast, compare, extracted, select, truth_of
from loopless.flowgraph.calls import call
from loopless.flowgraph.control import untold_control
from loopless.flowgraph.liveness import without_dead
from loopless.flowgraph.loops import loop_forest
from loopless.flowgraph.memory.access import alloca, constant_address, gep, lifetime, load, store, with_objects
from loopless.flowgraph.memory.covered import with_covered
from loopless.flowgraph.memory.early_loads import with_early_loads
from loopless.flowgraph.memory.mod_ref import with_points
from loopless.flowgraph.memory.objects import FunctionMemory, Options, describe_memory
from loopless.flowgraph.memory.places import Base
from loopless.flowgraph.memory.pointees import STANDING_IN
from loopless.flowgraph.memory.same_objects import with_orders
from loopless.flowgraph.memory.stack_slots import stack_slot_of
from loopless.flowgraph.memory.varying_size import with_sizes
from loopless.flowgraph.model import Block, Edge, End, Flowgraph, Havoc, Kind, Origin, Parameter, Statement
from loopless.flowgraph.translate import Translator
from loopless.flowgraph.uses import Uses, find_uses
from loopless.flowgraph.values import FLAG_TYPE, Address, Flag, Number, UnfollowedValue, Value, flag_of
from loopless.flowgraph.words import operation_in_words
from loopless.graphs import reachable, reverse_postorder
from loopless.refusals import Reason
from loopless.source import ir
from loopless.source.debug import TypeKind as DebugKind
from loopless.source.vocabulary import WORKED_OUT


def build(
    function: ir.SourceFunction, module: ir.Module, options: Options | None = None, *, known: ir.Module | None = None
) -> Flowgraph:
    """The flowgraph of a defined function of ``module``.

    ``known``: the module by which it is known what calls do, where ``module`` was made of it.
    """
    options = options or Options()
    function, points = with_points(function, module, apart=options.apart)
    memory = describe_memory(function, module, options, points, known)
    return _Builder(function, memory).build()


class _Builder:
    def __init__(self, function: ir.SourceFunction, memory: FunctionMemory) -> None:
        self.function = function
        self.memory = memory
        self.uses: Uses = find_uses(function)
        self.translator = Translator(memory, self.uses)
        self.phis: dict[str, list[tuple[ir.Instruction, Value]]] = {}
        self.blocks: dict[str, Block] = {}
        self.jumps: dict[str, tuple[str, ...]] = {}
        self.parameters: tuple[Parameter, ...] = ()
        self.named = {param.name: param for param in reversed(function.params)}
        self.folded = {line for _, line in memory.module.folded_overflows}

    def build(self) -> Flowgraph:
        self.parameters = tuple(self._parameter(param) for param in self.function.params)
        by_label = {block.label: block for block in self.function.blocks}
        following = {label: block.successors for label, block in by_label.items()}
        reachable = reverse_postorder(following, self.function.entry.label)
        self._declare_phis(by_label[label] for label in reachable)
        for label in reachable:
            self._block(by_label[label])
        ordered = {b.label: self.blocks[b.label] for b in self.function.blocks if b.label in self.blocks}
        ordered |= {label: block for label, block in self.blocks.items() if label not in ordered}
        if self.translator.orders:
            ordered = with_orders(ordered, self.function.entry.label, self.translator.orders)
        seen_by_caller = frozenset(
            var
            for (base, _), slot in self.memory.slots.items()
            if base.kind != "local"
            for var in (slot.var, slot.object_var)
            if var is not None
        )
        named = frozenset(var for var, info in self.memory.variables.items() if info.is_source)
        numbers = {self.memory.number(base): size for base, size in self.memory.extents.items()}
        ordered, extents = with_sizes(ordered, numbers, self.memory.variables, self.function.entry.label)
        for number, extent in extents.items():
            self.memory.objects[number] = replace(self.memory.objects[number], extent=extent)
        blocks, live = without_dead(ordered, seen_by_caller, named)
        blocks = with_covered(self._with_written(blocks), self.function.entry.label)
        blocks = self._with_uninitialised(blocks, live[self.function.entry.label])
        places = {label: self._first_place(by_label.get(label)) for label in blocks}
        loops, irreducible = loop_forest(blocks, self.function.entry.label, self.function, places, self.jumps)
        graph = Flowgraph(
            self.function.name,
            self.function.source_name,
            self.parameters,
            self._result_type(),
            isinstance(self.function.result, ir.PtrT),
            blocks,
            self.function.entry.label,
            self.memory.variables,
            self.memory.objects,
            loops,
            irreducible,
            self.function.loc,
            frozenset(self.translator.callees),
            self._assumptions(),
            self.translator.blocked,
            untold_control(self.function, self.memory.module),
            self.memory.unnumbered,
            self.memory.holders,
        )
        return with_early_loads(graph)

    # -- parameters -----------------------------------------------------------------------------------------------

    def _parameter(self, param: ir.Param) -> Parameter:
        shown = param.debug.name if param.debug is not None else param.name
        stack_slot = stack_slot_of(param, self.function, self.memory)
        if isinstance(param.type, ir.PtrT):
            return self._pointer_parameter(param, shown, stack_slot)
        if not isinstance(param.type, ir.IntT):
            refused = self.translator.refused(f"the parameter {shown} is not an integer", self.function.loc)
            self.translator.values[param.name] = UnfollowedValue(refused)
            return Parameter(shown, None, None)
        signed = param.signed if param.signed is not None else self.uses.signed.get(param.name, True)
        if stack_slot is not None and param.debug is None:  # a part of a structure
            piece = self.memory.slots[stack_slot].var
            shown = self.memory.variables[piece].shown
            signed = piece.type.signed if piece.type.width is not None else True
        boolean = param.debug is not None and param.debug.kind is DebugKind.BOOL
        bits = param.type.bits
        source_type = FLAG_TYPE if bits == 1 or boolean else t.IntType(bits, signed)
        if stack_slot is not None:
            var = self.memory.slots[stack_slot].var
        else:
            held = source_type if source_type == FLAG_TYPE else self.memory.number_type(bits, signed=signed)
            var = self.memory.fresh(shown, Kind.PARAMETER, held)
        info = self.memory.variables[var]
        self.memory.variables[var] = replace(info, kind=Kind.PARAMETER)
        if bits == 1:
            self.translator.values[param.name] = flag_of(var)
        else:
            self.translator.values[param.name] = Number(
                var, var.type if var.type.width is None else t.IntType(bits, signed)
            )
        return Parameter(shown, var, source_type)

    def _pointer_parameter(self, param: ir.Param, shown: str, stack_slot: tuple[Base, int] | None) -> Parameter:
        base = self.memory.points.parameters[param.name]
        number = self.memory.number(base)
        null = self.memory.nullable.get(base)
        owner = self.memory.object_term(base)
        if stack_slot is not None:
            slot = self.memory.slots[stack_slot]
            var = slot.var
        else:
            var = self.memory.fresh(shown, Kind.PARAMETER, self.memory.offset_type, pointer_part="offset")
        shared = param.name in self.memory.points.shared
        self.translator.values[param.name] = Address(owner, var if shared else t.const(0))
        debug = self.memory.debug_type(base)
        pointee = None
        if debug is not None and debug.signed is not None and debug.bits:
            pointee = FLAG_TYPE if debug.kind is DebugKind.BOOL else t.IntType(debug.bits, debug.signed)
        return Parameter(shown, var, None, number, pointee, null, "readonly" in param.attributes, shared)

    # -- blocks ---------------------------------------------------------------------------------------------------

    def _declare_phis(self, blocks: Iterable[ir.SourceBlock]) -> None:
        for block in blocks:
            for instruction in block.instructions:
                if instruction.op == "phi" and instruction.result is not None:
                    value = self._phi_value(instruction)
                    self.translator.values[instruction.result] = value
                    self.phis.setdefault(block.label, []).append((instruction, value))

    def _phi_value(self, phi: ir.Instruction) -> Value:
        name = phi.result or ""
        shown, kind = self._phi_name(phi)
        match phi.type:
            case ir.IntT(bits=1):
                return flag_of(self.memory.fresh(f"%{name}", Kind.FLAG, FLAG_TYPE))
            case ir.IntT(bits=bits):
                signed = self.uses.signed.get(name, True)
                type = self.memory.number_type(bits, signed=signed)
                var = self.memory.fresh(shown, kind, type)
                return Number(var, type if type.width is None else t.IntType(bits, signed))
            case ir.PtrT():
                offset = self.memory.fresh(shown, kind, self.memory.offset_type, pointer_part="offset")
                fixed = self.memory.fixed(self.memory.points.of(phi.value))
                if fixed is not None:
                    return Address(t.const(fixed), offset)
                owner = self.memory.fresh(f"{shown}.object", kind, t.INTEGERS, pointer_part="object")
                return Address(owner, offset)
            case _:
                return UnfollowedValue(self.translator.refused("a value of this type is not followed", phi.loc))

    def _phi_name(self, phi: ir.Instruction) -> tuple[str, Kind]:
        for block in self.function.blocks:
            for record in block.instructions:
                named = record.op == "dbg_value" and record.variable is not None and not record.expression
                if named and any(isinstance(op, ir.Local) and op.name == phi.result for op in record.operands):
                    assert record.variable is not None
                    return record.variable.name, Kind.LOCAL
        # Without debug records the values of the IR are the variables that people know.
        return f"%{phi.result}", Kind.LOCAL if self.function.loc is None else Kind.TEMPORARY

    def _block(self, block: ir.SourceBlock) -> None:
        translator = self.translator
        translator.start(block.label)
        self._note_folded_overflow(block)
        code = [(index, i) for index, i in enumerate(block.instructions) if not i.is_debug]
        for number, (index, instruction) in enumerate(code, 1):
            if instruction.op == "phi":
                continue
            if translator.end is not None:
                break
            translator.position, translator.next = index, code[number][1] if number < len(code) else None
            self._instruction(instruction)
        translator.finish(self.blocks)

    def _note_folded_overflow(self, block: ir.SourceBlock) -> None:
        """A block with a constant that came of a signed overflow: whether the run meets it cannot be told from here."""
        if self.memory.options.wrapv:
            return
        for instruction in block.instructions if self.folded else ():
            loc = instruction.loc
            while loc is not None:
                if loc.line in self.folded and (Path(loc.file).name, loc.line) in self.memory.module.folded_overflows:
                    detail = "a constant expression overflows here, and the compiler has folded it"
                    self.translator.blocked[block.label] = self.translator.refused(
                        detail, loc, Reason.OVERFLOW_UNDECIDED
                    )
                    return
                loc = loc.inlined_at

    def _instruction(self, instruction: ir.Instruction) -> None:
        translator = self.translator
        for operand in instruction.operands:
            constant_address(translator, operand, instruction.loc)
        match instruction.op:
            case "load":
                load(translator, instruction)
            case "store":
                self._store(instruction)
            case "alloca":
                alloca(translator, instruction)
            case "getelementptr":
                gep(translator, instruction)
            case "icmp":
                translator.define(instruction, compare(translator, instruction))
            case "select":
                translator.define(instruction, select(translator, instruction))
            case "call":
                call(translator, instruction)
            case op if op in BINARY:
                translator.define(instruction, binary(translator, instruction))
            case op if op in CASTS:
                translator.define(instruction, cast(translator, instruction))
            case op if op in ir.TERMINATORS:
                self._terminator(instruction)
            case "begin" | "expire" | "outlive" | "outlived":
                lifetime(translator, instruction)
            case "fence":
                pass
            case "extractvalue" if (part := extracted(translator, instruction)) is not None:
                translator.define(instruction, part)
            case _:
                self._unsupported(instruction)

    def _store(self, instruction: ir.Instruction) -> None:
        value = instruction.operands[0]
        if isinstance(value, ir.Local):
            param = self.named.get(value.name)
            if param is not None and stack_slot_of(param, self.function, self.memory) is not None:
                return  # the variable is the parameter
        store(self.translator, instruction)

    def _unsupported(self, instruction: ir.Instruction) -> None:
        translator = self.translator
        name = instruction.op if instruction.op != "unsupported" else (instruction.text.strip().split() or ["?"])[0]
        touches_memory = instruction.op in ("cmpxchg", "atomicrmw", "va_arg", "unsupported")
        floating = isinstance(instruction.type, ir.FloatT) or instruction.op in ("fcmp", "fptosi", "fptoui")
        reason = Reason.FLOAT if floating else Reason.UNSUPPORTED_INSTRUCTION
        reason = Reason.CONCURRENCY if instruction.op in ("cmpxchg", "atomicrmw") else reason
        refused = translator.refused(
            f"{operation_in_words(name, floating=floating)} is not followed", instruction.loc, reason
        )
        if touches_memory:
            translator.blocked[translator.label] = refused
        if instruction.result is not None:
            translator.define(
                instruction, translator.unknown(instruction.type, Origin.UNSUPPORTED, name, instruction.loc, refused)
            )

    # -- terminators ----------------------------------------------------------------------------------------------

    def _terminator(self, instruction: ir.Instruction) -> None:
        translator, loc = self.translator, instruction.loc
        match instruction.op:
            case "br" if len(instruction.targets) == 1:
                translator.edges = [self._edge(t.TRUE, instruction.targets[0], loc)]
            case "br":
                condition = truth_of(translator, instruction.operands[0], loc)
                yes, no = instruction.targets
                edges = ((condition, yes), (~condition, no))
                translator.edges = [self._edge(c, target, loc) for c, target in edges]
            case "switch":
                self._switch(instruction)
            case "ret":
                self._return(instruction)
            case "unreachable":
                translator.end = End("undefined", None, None, loc)
            case "invoke":
                self._invoke(instruction)
            case _:
                refused = translator.refused(f"control flow by {instruction.op} is not followed", loc)
                self.jumps[translator.shown_label] = instruction.targets
                translator.end = End("unsupported", None, None, loc, refused)

    def _invoke(self, instruction: ir.Instruction) -> None:
        """A call that goes on at one of two places. No run passes it, but loops may be entered again behind it."""
        translator, loc = self.translator, instruction.loc
        call(translator, instruction)
        leaves = (
            translator.end is not None and translator.end.kind == "unsupported"
        )  # it does not return, so it may throw
        if translator.end is not None and not leaves:
            return
        translator.end = None
        translator.blocked[translator.label] = translator.refused(
            "a call that may throw is not followed", loc, Reason.EXCEPTION
        )
        normal, unwind = instruction.targets
        if leaves:
            translator.edges = [self._edge(t.TRUE, unwind, loc)]
            return
        thrown = translator.unknown(ir.IntT(1), Origin.UNSUPPORTED, "throws", loc, translator.blocked[translator.label])
        assert isinstance(thrown, Flag)
        edges = ((~thrown.condition, normal), (thrown.condition, unwind))
        translator.edges = [self._edge(c, target, loc) for c, target in edges]

    def _switch(self, instruction: ir.Instruction) -> None:
        translator = self.translator
        operand, loc = instruction.operands[0], instruction.loc
        number = translator.number(operand)
        if number is None:  # any of the places may be where it goes
            refused = translator.refused("a switch over a value that is not followed", loc)
            unknown = translator.unknown(operand.type, Origin.UNSUPPORTED, "switch", loc, refused)
            assert isinstance(unknown, Number)
            number = unknown
        term = number.read(signed=True)
        by_target: dict[str, list[t.Condition]] = {}
        for value, target in instruction.cases:
            by_target.setdefault(target, []).append(term.eq(value))
        default = t.conjunction(term.ne(value) for value, _ in instruction.cases)
        by_target.setdefault(instruction.targets[0], []).append(default)
        translator.edges = [self._edge(c, target, instruction.loc) for target, cs in by_target.items() for c in cs]

    def _return(self, instruction: ir.Instruction) -> None:
        translator = self.translator
        if not instruction.operands:
            translator.end = End("return", None, None, instruction.loc)
            return
        value = translator.value(instruction.operands[0])
        match value:
            case Number():
                result = self._result_type()
                signed = result.signed if result is not None else value.type.signed
                term = value.read(signed=signed)
                if value.type.width is None and result is not None and not result.signed and result != FLAG_TYPE:
                    term = t.wrap(term, result)
                translator.end = End("return", term, None, instruction.loc)
            case Flag():
                translator.end = End("return", value.term, None, instruction.loc)
            case Address():
                translator.end = End("return", value.offset, value.object, instruction.loc)
            case UnfollowedValue():
                translator.end = End("return", None, None, instruction.loc, value.refused)

    def _edge(self, condition: t.Condition, target: str, loc: ir.Loc | None) -> Edge:
        assigns: list[tuple[t.Var, t.Term]] = []
        for phi, held in self.phis.get(target, []):
            incoming = next((value for value, label in phi.incoming if label == self.translator.label), None)
            if incoming is not None:
                assigns.extend(self._phi_assigns(phi, held, self.translator.value(incoming)))
        return Edge(condition, target, tuple(assigns), loc)

    def _phi_assigns(self, phi: ir.Instruction, held: Value, value: Value) -> list[tuple[t.Var, t.Term]]:
        if isinstance(value, UnfollowedValue) and not isinstance(held, UnfollowedValue):
            value = self.translator.unknown(phi.type, Origin.UNSUPPORTED, phi.result or "phi", phi.loc, value.refused)
        match held, value:
            case Number(term=t.Var() as var), Number():
                if var.type.width is None:
                    return [(var, value.read(signed=True))]
                return [(var, value.converted(var.type.width, signed=var.type.signed))]
            case Flag(), Flag():
                var = next(iter(held.condition.variables))
                return [(var, value.term)]
            case Address(offset=t.Var() as offset), Address():
                pairs = [(offset, value.offset)]
                if isinstance(held.object, t.Var):
                    pairs.append((held.object, value.object))
                return pairs
            case _:
                return []

    # -- the whole ------------------------------------------------------------------------------------------------

    def _result_type(self) -> t.IntType | None:
        if not isinstance(self.function.result, ir.IntT):
            return None
        debug = self.function.result_debug
        bits = self.function.result.bits
        if bits == 1 or (debug is not None and debug.kind is DebugKind.BOOL):
            return FLAG_TYPE
        signed = debug.signed if debug is not None and debug.signed is not None else True
        if debug is None and "zeroext" in self.function.result_attributes:
            signed = False
        return t.IntType(bits, signed)

    def _with_uninitialised(self, blocks: dict[str, Block], live: frozenset[t.Var]) -> dict[str, Block]:
        """Locals that may be read before they are written take an unknown value at the start."""
        given = {var for p in self.parameters for var in (p.var, p.null) if var is not None}
        lacking = [
            var
            for var, info in self.memory.variables.items()
            if var in live and var not in given and info.kind not in (Kind.GLOBAL, Kind.POINTEE)
        ]
        lacking = [var for var in lacking if var not in self.translator.addresses.values()]
        entry = blocks[self.function.entry.label]
        havocs = tuple(
            Havoc(var, Origin.UNINITIALISED, self.memory.variables[var].shown, self.memory.variables[var].declared)
            for var in lacking
        )
        blocks[entry.label] = Block(entry.label, (*havocs, *entry.statements), entry.edges, entry.end)
        return blocks

    def _with_written(self, blocks: dict[str, Block]) -> dict[str, Block]:
        """Calls say which objects they may write, and accesses in which they may lie, now that all have numbers."""
        told: dict[int, Statement] = {id(access): found for access, found in with_objects(self.translator)}
        for made, found in self.translator.called:
            objects, looks = self.memory.objects_in(found.writes), self.memory.objects_in(found.reads)
            told[id(made)] = replace(made, objects=objects, looks=looks)
        if not told:
            return blocks
        return {
            label: replace(block, statements=tuple(told.get(id(s), s) for s in block.statements))
            for label, block in blocks.items()
        }

    def _first_place(self, block: ir.SourceBlock | None) -> ir.Loc | None:
        if block is None:
            return None
        found = (i.loc for i in block.instructions if i.loc is not None and i.loc.line and not i.is_debug)
        return next(found, None)

    def _assumptions(self) -> tuple[str, ...]:
        """What is taken for granted about parameters that point to memory."""
        bases: dict[Base, bool] = {}
        for access in self.memory.points.accesses:
            if access.place is not None and access.place[0].kind in ("parameter", "global", *STANDING_IN):
                base = access.place[0]
                bases[base] = bases.get(base, False) or access.writes
        written = {cell.base for _, call in self.translator.called for cell in call.writes}
        bases |= {base: True for base in written if base.kind in ("parameter", *STANDING_IN)}
        read = [base for base in self._worked_out() if base.kind in ("parameter", "global", *STANDING_IN)]
        bases |= {base: bases.get(base, False) for base in read}
        pointees = [base for base in bases if base.kind in ("parameter", *STANDING_IN)]
        followed = self._followed()
        others = sorted(bases)
        found: list[str] = []
        groups: dict[Base, list[str]] = {}
        for param in self.function.params:
            if param.name in self.memory.points.shared:
                shown = param.debug.name if param.debug is not None else param.name
                groups.setdefault(self.memory.points.parameters[param.name], []).append(shown)
        found.extend(f"{', '.join(names)} point into the same object" for names in groups.values())
        for i, a in enumerate(others):
            found.extend(
                f"{self.memory.in_words(a)} and {self.memory.in_words(b)} {self._apart(a, b)}"
                for b in others[i + 1 :]
                if (a in pointees or b in pointees) and (bases[a] or bases[b])
                if (a.kind not in STANDING_IN and b.kind not in STANDING_IN) or a in followed or b in followed
            )
        if any(base.kind == "global" and self.memory.is_given(base) for base in written):
            found.extend(
                f"{self.memory.in_words(a)} and the globals that calls change do not overlap" for a in sorted(pointees)
            )
        found.extend(self.memory.granted)
        return tuple(found)

    def _worked_out(self) -> Iterator[Base]:
        """The objects that library functions read whose result is worked out from these."""
        for block in self.function.blocks:
            for i in block.instructions:
                if i.op == "call" and i.callee_name in WORKED_OUT:
                    for operand in i.operands:
                        if isinstance(operand.type, ir.PtrT):
                            yield from (base for base, _ in self.memory.points.of(operand).places)

    def _apart(self, one: Base, other: Base) -> str:
        alike = self.memory.points.alike
        same = other in alike.get(one, ()) or one in alike.get(other, ())
        return "are the same or do not overlap" if same else "do not overlap"

    def _followed(self) -> set[Base]:
        """The objects of which something is a variable, and those in which the pointers to such formal pointees lie."""
        found = {base for base, _ in self.memory.slots}
        pointees = self.memory.pointees
        return set(reachable(found, lambda base: (pointees[base][0],) if base.kind in STANDING_IN else ()))

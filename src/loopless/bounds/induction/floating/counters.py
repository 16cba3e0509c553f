"""How often loops run that a floating-point variable counts, which starts with a constant, is changed by constants and
compared with one.

A counter is a local variable whose address is only read and written through, or a phi, that each completed iteration
changes once. What the loop is entered with must be a constant on every way in; what each iteration does, and the
comparison that leaves the loop, must speak of the counter and of constants alone. Then the arithmetic of the machine
says how many iterations there are (:mod:`loopless.bounds.induction.floating.runs`).

Types other than ``float`` and ``double``, operations of a faster arithmetic and programs that change how is rounded
(:mod:`loopless.bounds.induction.floating.environment`) have no such counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from loopless import terms as t
from loopless.bounds.induction.counts import Counted
from loopless.bounds.induction.floating.arithmetic import KINDS, converted, number_of
from loopless.bounds.induction.floating.environment import is_standard
from loopless.bounds.induction.floating.expressions import (
    OPERATIONS,
    Comparison,
    Expression,
    FloatingCounter,
    alike,
    applied,
    compares_with_number,
    counters,
    digits,
    evaluator,
    holder,
    order,
    shifts,
)
from loopless.bounds.induction.floating.runs import FloatingExit, completed
from loopless.bounds.model import TermBound
from loopless.flowgraph.model import Flowgraph
from loopless.graphs import cycles, dominators, predecessors, reachable
from loopless.limits.bounds import MAX_FLOATING_DEPTH, MAX_FLOATING_STEPS
from loopless.records import dataclass
from loopless.source import ir
from loopless.stepping import forbidden

NAME: Final = "floating counter"
"""What bounds are called that floating counters give."""
_MARKERS: Final = ("llvm.lifetime.start", "llvm.lifetime.end")
_CONSTANT: Final = frozenset({"private", "internal", "external"})
"""The linkages of constants whose initializers no other module may replace."""

_Place = tuple[str, int]
"""An instruction: the label of its block, and its index there."""


def floating_counts(function: ir.SourceFunction, module: ir.Module, graph: Flowgraph) -> dict[str, Counted]:
    """What floating counters say of the loops of ``graph``, which is that of ``function``; by their names.

    None where stepping is forbidden (:mod:`loopless.stepping`).
    """
    compared = {i.operands[0].type for i in function.instructions() if i.op == "fcmp"}
    if not any(isinstance(term, ir.FloatT) and term.kind in KINDS for term in compared) or forbidden():
        return {}
    if graph.refused is not None or not is_standard(function, module):
        return {}
    code = _Code(function, module)
    found = {}
    for loop in graph.loops:
        body = code.loop(loop.header)
        if body is None or not loop.blocks & code.following.keys() <= body.blocks:
            continue  # a loop that is not one of the instructions, as that of a recursion
        tests = {test.label: test for test in body.tests()}
        counts = [test.most for test in tests.values() if test.most is not None]
        if not counts:
            continue
        count = min(counts)
        exits = {label for label, _ in loop.exits} | {label for label, _ in body.exits}
        # A way out without a count is not taken before the limit of steps.
        later = {
            test.label
            for test in tests.values()
            if test.unique and (test.most is not None or count <= MAX_FLOATING_STEPS)
        }
        exact = exits <= later
        bounds = (TermBound(t.const(count), method=NAME),)
        regular = not graph.irreducible
        once = loop.parent is None and regular
        total, number = bounds if once else (), t.const(count) if exact else None
        visits = body.visits(tests, count) if regular else {}
        found[loop.name] = Counted(bounds, number, bounds, total, method=NAME, visits=visits)
    return found


@dataclass(frozen=True, slots=True)
class _Test:
    """A way out of a loop that each iteration comes past: the most iterations before it is taken, None where no number
    is known; ``unique``: there is only one such number.
    """

    label: str
    most: int | None
    unique: bool


class _Code:
    """The instructions of a function: where local variables are written, and what is constant."""

    def __init__(self, function: ir.SourceFunction, module: ir.Module) -> None:
        self.module = module
        entry = function.entry.label
        successors = {block.label: block.successors for block in function.blocks}
        labels = set(reachable((entry,), lambda label: successors[label]))
        self.blocks = {block.label: block for block in function.blocks if block.label in labels}
        self.following = {label: successors[label] for label in self.blocks}
        self.sources = predecessors(self.following)
        self.nearest = dominators(self.following, entry)
        self.places: dict[str, _Place] = {}
        self._constants: dict[str, float | int | None] = {}
        self.writes: dict[str, list[_Place]] = {}
        self.declared: dict[str, set[str]] = {}
        for label, block in self.blocks.items():
            for index, i in enumerate(block.instructions):
                if i.result is not None:
                    self.places[i.result] = (label, index)
        self._find_slots(entry)

    # -- local variables ----------------------------------------------------------------------------------------------

    def _find_slots(self, entry: str) -> None:
        """Local variables that nothing but loads and stores of their own types can reach, and where they change."""
        types = {
            i.result: i.access.type
            for i in self.blocks[entry].instructions
            if i.op == "alloca" and i.result is not None and i.access is not None and not i.operands
            if isinstance(i.access.type, ir.IntT | ir.FloatT)
        }
        self.writes = {name: [] for name in types}
        for label, block in self.blocks.items():
            for index, i in enumerate(block.instructions):
                for name in _locals_of(i) & types.keys():
                    if i.op == "dbg_declare":
                        self.declared.setdefault(name, set()).add(label)
                    elif _is_marker(i):
                        self.writes.get(name, []).append((label, index))
                    elif not i.is_debug and not _accesses(i, name, types[name]):
                        self.writes.pop(name, None)  # its address goes elsewhere
                    elif i.op == "store" and name in self.writes:
                        self.writes[name].append((label, index))
                if i.op == "unsupported":
                    self.writes = {}  # who knows what it does
                    return

    def at(self, place: _Place) -> ir.Instruction:
        """The instruction there."""
        return self.blocks[place[0]].instructions[place[1]]

    def reaching(self, slot: str, ends: Iterable[_Place]) -> set[_Place] | None:
        """What may have written last to a slot before one of the places ``ends``; None where nothing may have."""
        by_block: dict[str, list[int]] = {}
        for label, index in self.writes[slot]:
            by_block.setdefault(label, []).append(index)
        found: set[_Place] = set()
        todo, seen = list(ends), set[str]()
        while todo:
            label, end = todo.pop()
            before = [index for index in by_block.get(label, ()) if index < end]
            if before:
                found.add((label, max(before)))
                continue
            sources = self.sources[label]
            if not sources:
                return None
            todo += [(source, len(self.blocks[source].instructions)) for source in sources if source not in seen]
            seen |= set(sources)
        return found

    # -- constants ----------------------------------------------------------------------------------------------------

    def constant(self, value: ir.Value, depth: int = 0) -> float | int | None:
        """The number that a value always is; None where that is not known."""
        if depth > MAX_FLOATING_DEPTH:
            return None
        match value:
            case ir.FloatConst():
                return number_of(value)
            case ir.IntConst(value=number):
                return number
            case ir.Local(name=name) if name in self.places:
                if name not in self._constants:
                    self._constants[name] = None  # what depends on itself is none
                    self._constants[name] = self._computed(self.places[name], depth + 1)
                return self._constants[name]
            case _:
                return None

    def _computed(self, place: _Place, depth: int) -> float | int | None:
        i = self.at(place)
        if i.op == "load":
            return self._loaded(i, place, depth)
        if i.op in ("sitofp", "uitofp") and isinstance(i.type, ir.FloatT):
            number = self.constant(i.operands[0], depth)
            known = isinstance(number, int) and (number >= 0 or i.op == "sitofp")
            return converted(int(number), i.type.kind) if known and number is not None else None
        if i.op in ("phi", "select"):
            values = [value for value, _ in i.incoming] if i.op == "phi" else i.operands[1:]
            return None if i.flags else self._only(self.numbers(values, depth))
        op = operation_of(i)
        if op is None or not isinstance(i.type, ir.FloatT):
            return None
        arguments = [self.constant(operand, depth) for operand in i.operands]
        floats = [a for a in arguments if isinstance(a, float)]
        result = applied(op, i.type.kind, floats) if len(floats) == len(arguments) else None
        return result if isinstance(result, float) else None

    def _loaded(self, load: ir.Instruction, place: _Place, depth: int) -> float | int | None:
        address = load.operands[0]
        if isinstance(address, ir.GlobalRef) and not _is_volatile(load):
            variable = self.module.globals.get(address.name)
            known = variable is not None and variable.constant and not variable.externally_initialized
            if variable is None or not known or variable.type != load.type or variable.linkage not in _CONSTANT:
                return None
            return None if variable.initializer is None else self.constant(variable.initializer, depth)
        if not isinstance(address, ir.Local) or address.name not in self.writes:
            return None
        return self._only(self._stored(address.name, [place], depth))

    def _stored(self, slot: str, ends: Iterable[_Place], depth: int = 0) -> list[float | int] | None:
        """The different constants that a slot may hold at one of the places; None where it may hold something else."""
        writes = self.reaching(slot, ends)
        if writes is None:
            return None
        return self.numbers([self.at(w).operands[0] if self.at(w).op == "store" else None for w in writes], depth)

    def starts(self, slot: str, ends: Iterable[_Place]) -> list[float]:
        """The different numbers with which a loop may be entered; none where that is not known."""
        return [a for a in self._stored(slot, ends) or () if isinstance(a, float)]

    def numbers(self, values: Iterable[ir.Value | None], depth: int = 0) -> list[float | int] | None:
        """The different constants among values; None where one is no constant."""
        found: list[float | int] = []
        for value in values:
            number = None if value is None else self.constant(value, depth)
            if number is None:
                return None
            if not any(_is_same(number, other) for other in found):
                found.append(number)
        return found

    @staticmethod
    def _only(numbers: list[float | int] | None) -> float | int | None:
        return numbers[0] if numbers is not None and len(numbers) == 1 else None

    # -- loops --------------------------------------------------------------------------------------------------------

    def dominates(self, upper: str, lower: str) -> bool:
        """Whether all ways to ``lower`` come past ``upper``."""
        current: str | None = lower
        while current is not None and current != upper:
            current = self.nearest.get(current)
        return current is not None

    def loop(self, header: str) -> _Loop | None:
        """The natural loop with this header."""
        latches = [label for label in self.sources.get(header, ()) if self.dominates(header, label)]
        return _Loop(self, header, latches) if latches else None


class _Loop:
    """A natural loop of the instructions."""

    def __init__(self, code: _Code, header: str, latches: list[str]) -> None:
        self.code, self.header = code, header
        sources = code.sources
        self.blocks = frozenset(reachable((header, *latches), lambda label: sources[label] if label != header else ()))
        self.entries = [label for label in sources[header] if label not in self.blocks]
        self.exits = [
            (label, target) for label in self.blocks for target in code.following[label] if target not in self.blocks
        ]
        inside = {
            label: [term for term in code.following[label] if term in self.blocks and term != header]
            for label in self.blocks
        }
        again = {label for cycle in cycles(inside) for label in cycle}
        self.once = frozenset(
            label for label in self.blocks - again if all(code.dominates(label, latch) for latch in latches)
        )
        """The blocks that each completed iteration comes past exactly once."""

    def tests(self) -> Iterator[_Test]:
        """The ways out that each iteration comes past, of which counters decide."""
        for label in dict.fromkeys(label for label, _ in self.exits if label in self.once):
            found = self._comparison(label)
            names = {c.name for c in counters(found.left) | counters(found.right)} if found is not None else set()
            if found is None or len(names) != 1:
                continue
            (name,) = names
            runs = self._runs(name, found)
            if runs:
                counts = {completed(run, start) for run, start in runs}
                known = [count for count in counts if count is not None]
                yield _Test(label, max(known) if len(known) == len(counts) else None, len(counts) == 1)

    def visits(self, tests: Mapping[str, _Test], count: int) -> dict[str, t.Term]:
        """How many iterations come to a block at most, the last one, which is left in between, included."""
        limits = [label for label, test in tests.items() if test.most == count]
        behind = {b for b in self.blocks if any(b != at and self.code.dominates(at, b) for at in limits)}
        return {b: t.const(count if b in behind else count + 1) for b in self.blocks}

    def _comparison(self, label: str) -> Comparison | None:
        """The condition under which the loop is not left at a block."""
        branch = self.code.blocks[label].terminator
        inside = [target in self.blocks for target in branch.targets]
        if branch.op != "br" or sorted(inside) != [False, True]:
            return None
        condition, negated = branch.operands[0], inside[1]
        while isinstance(condition, ir.Local) and condition.name in self.code.places:
            place = self.code.places[condition.name]
            i = self.code.at(place)
            if i.op == "xor" and isinstance(i.operands[1], ir.IntConst) and i.operands[1].value == -1:
                condition, negated = i.operands[0], not negated
                continue
            if i.op != "fcmp" or i.flags or i.predicate is None or place[0] not in self.once:
                return None
            left, right = (self._expression(operand) for operand in i.operands)
            return None if left is None or right is None else Comparison(i.predicate, left, right, negated)
        return None

    def _expression(self, value: ir.Value, depth: int = 0) -> Expression | None:
        """What a value of type float or double is in an iteration; of places that each comes past once."""
        if not isinstance(value.type, ir.FloatT) or value.type.kind not in KINDS or depth > MAX_FLOATING_DEPTH:
            return None
        number = self.code.constant(value)
        if isinstance(number, float):
            return number
        if not isinstance(value, ir.Local) or value.name not in self.code.places:
            return None
        place = self.code.places[value.name]
        i = self.code.at(place)
        if place[0] not in self.once:
            return None
        if i.op == "phi":
            return FloatingCounter(value.name) if place[0] == self.header else None
        if i.op == "load":
            return self._read(i, place)
        op = operation_of(i)
        arguments = [self._expression(operand, depth + 1) for operand in i.operands] if op is not None else []
        known = [a for a in arguments if a is not None]
        if op is None or len(known) < len(arguments):
            return None
        return applied(op, value.type.kind, known)

    def _read(self, load: ir.Instruction, place: _Place) -> Expression | None:
        """A variable that the loop writes at one place only."""
        address = load.operands[0]
        change = self._change(address.name) if isinstance(address, ir.Local) else None
        if change is None or not isinstance(address, ir.Local):
            return None
        if change[0] == place[0]:
            return FloatingCounter(address.name, later=change[1] < place[1])
        return FloatingCounter(address.name, later=self.code.dominates(change[0], place[0]))

    def _change(self, slot: str) -> _Place | None:
        """The one store of a loop to a slot, where each iteration comes past it once."""
        if slot not in self.code.writes or not self.code.declared.get(slot, set()).isdisjoint(self.blocks):
            return None
        inside = [place for place in self.code.writes[slot] if place[0] in self.blocks]
        if len(inside) != 1 or inside[0][0] not in self.once or self.code.at(inside[0]).op != "store":
            return None
        return inside[0]

    def _runs(self, name: str, test: Comparison) -> list[tuple[FloatingExit, float]]:
        """What a counter and a comparison of it come to, for each number that the counter may start with."""
        phi = self.code.places[name] if name not in self.code.writes else None
        if phi is not None:
            incoming = self.code.at(phi).incoming
            given = self.code.numbers([value for value, label in incoming if label not in self.blocks])
            starts = [a for a in given or () if isinstance(a, float)]
            updates = [self._expression(value) for value, label in incoming if label in self.blocks]
        else:
            starts = self.code.starts(name, [(e, len(self.code.blocks[e].instructions)) for e in self.entries])
            change = self._change(name)
            updates = [] if change is None else [self._expression(self.code.at(change).operands[0])]
        first = updates[0] if updates else None
        if first is None or not all(u is not None and alike(u, first) for u in updates):
            return []
        if counters(first) - {FloatingCounter(name)}:
            return []
        kind = self._kind(name)
        compute = evaluator(first)
        stands = order(test) if shifts(first) and compares_with_number(test) else None
        run = FloatingExit(lambda value: compute(value, value), holder(test), stands, digits(first, kind))
        return [(run, start) for start in starts]

    def _kind(self, name: str) -> str:
        """The type of a counter."""
        i = self.code.at(self.code.places[name])
        type = i.type if i.access is None else i.access.type
        assert isinstance(type, ir.FloatT)
        return type.kind


def operation_of(i: ir.Instruction) -> str | None:
    """The floating-point operation of an instruction, if it is one of the strict arithmetic."""
    name = i.callee_name if i.op == "call" else None
    op = "fabs" if name is not None and name.startswith("llvm.fabs.") else i.op
    strict = not i.flags - {"tail"} and op in OPERATIONS
    return op if strict and all(isinstance(o.type, ir.FloatT) and o.type.kind in KINDS for o in i.operands) else None


def _locals_of(i: ir.Instruction) -> set[str]:
    """The locals that an instruction speaks of."""
    values = (*i.operands, *(value for value, _ in i.incoming), *(() if i.callee is None else (i.callee,)))
    return {value.name for value in values if isinstance(value, ir.Local)}


def _is_marker(i: ir.Instruction) -> bool:
    """Whether it says where the life of a variable begins or ends: it holds no value then."""
    return i.op == "call" and (i.callee_name or "").startswith(_MARKERS)


def _is_volatile(i: ir.Instruction) -> bool:
    return i.access is None or i.access.volatile or bool(i.access.atomic)


def _accesses(i: ir.Instruction, name: str, type: ir.Type) -> bool:
    """Whether an instruction reads or writes the variable at this address, as what it is, and no more."""
    if i.op not in ("load", "store") or _is_volatile(i) or i.access is None or i.access.type != type:
        return False
    return i.op == "load" or not (isinstance(i.operands[0], ir.Local) and i.operands[0].name == name)


def _is_same(a: float, b: float) -> bool:
    return type(a) is type(b) and repr(a) == repr(b)  # which tells 0 from -0, and no NaN from another one

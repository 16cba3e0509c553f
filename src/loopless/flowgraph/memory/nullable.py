"""Which pointer parameters may be null, as a function sees it: those that it compares with null.

What a search of the C library returns (``strchr``) points into its argument or is null, so a comparison of it with null
says nothing of the argument, which must point to a string.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopless.flowgraph.memory.places import Base, PointsTo, is_pointer
from loopless.graphs import reachable
from loopless.source import ir
from loopless.source.vocabulary import POINTS_INTO_FIRST


def compared_with_null(function: ir.SourceFunction, points: PointsTo, module: ir.Module) -> list[Base]:
    """The objects of the parameters that ``function`` compares with null, in the order in which it does."""
    found: dict[Base, None] = {}
    origins: _Origins | None = None
    for instruction in function.instructions():
        if instruction.op != "icmp" or not any(isinstance(op, ir.NullPtr) for op in instruction.operands):
            continue
        for operand in instruction.operands:
            bases = [base for base, _ in points.of(operand).places if base.kind == "parameter"]
            if isinstance(operand, ir.Local) and any(base not in found for base in bases):
                origins = origins or _Origins(function, module)
                found |= dict.fromkeys(bases if origins.may_be_given(operand) else ())
    return list(found)


class _Origins:
    """Where the pointers of a function come from: copies, steps, and variables that only loads and stores touch."""

    def __init__(self, function: ir.SourceFunction, module: ir.Module) -> None:
        self.module = module
        self.made = {i.result: i for i in function.instructions() if i.result is not None}
        self.stored: dict[str, list[ir.Value]] = {}
        self.escaped: set[str] = set()
        for instruction in function.instructions():
            if instruction.is_debug:
                continue
            values = [*instruction.operands, *(value for value, _ in instruction.incoming)]
            if instruction.op in ("load", "store"):
                address = values.pop()
                if instruction.op == "store" and isinstance(address, ir.Local):
                    self.stored.setdefault(address.name, []).append(values[0])
            self.escaped |= {value.name for value in values if isinstance(value, ir.Local)}

    def may_be_given(self, pointer: ir.Value) -> bool:
        """Whether a pointer may be one that the function was given, and not one that a search returned."""
        start: tuple[ir.Value | None] = (pointer,)
        return None in reachable(start, self._from)

    def _from(self, pointer: ir.Value | None) -> Iterator[ir.Value | None]:
        """The pointers that this one may be, or be in the object of; None for one of which that is not known."""
        if not isinstance(pointer, ir.Local):
            return
        maker = self.made.get(pointer.name)
        if maker is None:
            yield None  # a parameter
            return
        match maker.op:
            case "call" if self._searches(maker):
                return
            case "load":
                address = maker.operands[0]
                home = self.made.get(address.name) if isinstance(address, ir.Local) else None
                if home is None or home.op != "alloca" or home.result is None or home.result in self.escaped:
                    yield None
                else:
                    yield from self.stored.get(home.result, ())
            case "getelementptr" if maker.gep is not None:
                yield maker.gep.base
            case "phi" | "select" | "freeze":
                yield from (value for value, _ in maker.incoming)
                yield from (operand for operand in maker.operands if is_pointer(operand))
            case _:
                yield None

    def _searches(self, call: ir.Instruction) -> bool:
        name = call.callee_name
        declared = None if name is None else self.module.functions.get(name)
        return name in POINTS_INTO_FIRST and (declared is None or declared.is_declaration)

"""Where results are used, and whether their uses read them as signed or unsigned."""

from __future__ import annotations

from collections import Counter

from loopless.flowgraph.memory.own_heap import is_allocated, is_ours
from loopless.graphs import reachable
from loopless.records import dataclass
from loopless.source import ir, marks

_SIGNED = frozenset(("sext", "sdiv", "srem", "ashr", "sitofp"))
_SIGNED_RESULTS = frozenset(("nsw", marks.SIGNED, marks.SIGNED_CXX))
_UNSIGNED = frozenset(("zext", "udiv", "urem", "lshr", "uitofp"))


@dataclass(frozen=True, slots=True)
class Uses:
    """``elsewhere``: results that another block (or a phi) uses; ``last_in_block``: index of the last use within a
    block, by (label, name); ``signed``: how a result is read, where its uses or its source variable tell;
    ``speculates``: whether the code has been optimized, so that it may compute what it then does not use; ``truths``:
    loads that read a ``_Bool``; ``lengths``: widened values that arrays of variable length are made with;
    ``subtracted``: pointers made numbers that are only subtracted from one another.
    """

    elsewhere: frozenset[str]
    last_in_block: dict[tuple[str, str], int]
    signed: dict[str, bool]
    speculates: bool = False
    truths: frozenset[str] = frozenset()
    lengths: frozenset[str] = frozenset()
    subtracted: frozenset[str] = frozenset()


def find_uses(function: ir.SourceFunction) -> Uses:  # noqa: C901
    """The uses of all results of ``function``."""
    home: dict[str, str] = {}
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.result is not None:
                home[instruction.result] = block.label
    elsewhere: set[str] = set()
    last: dict[tuple[str, str], int] = {}
    votes: Counter[str] = Counter()
    decided: dict[str, bool] = {}
    for block in function.blocks:
        label = block.label
        for index, instruction in enumerate(block.instructions):
            if instruction.op == "dbg_value":
                _read_variable(instruction, decided)
            if instruction.is_debug:
                continue
            if instruction.result is not None and instruction.flags and instruction.flags & _SIGNED_RESULTS:
                votes[instruction.result] += 1
            vote = _vote(instruction)
            for operand in instruction.operands:
                if isinstance(operand, ir.Local):
                    name = operand.name
                    if vote:
                        votes[name] += vote
                    last[label, name] = index
                    if home.get(name, label) != label:
                        elsewhere.add(name)
            if instruction.op == "phi":
                for value, source in instruction.incoming:
                    if isinstance(value, ir.Local):
                        # Used at the very end of the block that it comes from.
                        last[source, value.name] = 1 << 30
                        if home.get(value.name, source) != source:
                            elsewhere.add(value.name)
    signed = {name: count > 0 for name, count in votes.items() if count}
    signed |= decided
    return Uses(
        frozenset(elsewhere),
        last,
        signed,
        _speculates(function),
        _truths(function),
        _lengths(function),
        _subtracted(function),
    )


def _read_variable(record: ir.Instruction, decided: dict[str, bool]) -> None:
    if record.variable is None or record.variable.type.signed is None or record.expression:
        return
    for operand in record.operands:
        if isinstance(operand, ir.Local):
            decided.setdefault(operand.name, record.variable.type.signed)


def _vote(instruction: ir.Instruction) -> int:
    if instruction.op in _SIGNED or (instruction.flags and instruction.flags & _SIGNED_RESULTS):
        return 1
    if instruction.op in _UNSIGNED:
        return -1
    if instruction.op == "icmp" and instruction.predicate is not None:
        return {"s": 1, "u": -1}.get(instruction.predicate[0], 0)
    return 0


def _subtracted(function: ir.SourceFunction) -> frozenset[str]:
    """The numbers of pointers each use of which is a difference of two such numbers."""
    made = {i.result for i in function.instructions() if i.op == "ptrtoint" and i.result is not None}
    found = set(made)
    for instruction in function.instructions() if made else ():
        if instruction.is_debug:
            continue
        values = (*instruction.operands, *(value for value, _ in instruction.incoming))
        names = [value.name for value in values if isinstance(value, ir.Local)]
        constant = [value for value in values if isinstance(value, ir.OtherConst) and value.op == "ptrtoint"]
        if instruction.op != "sub" or len(names) + len(constant) < 2 or not made.issuperset(names):
            found.difference_update(names)
    return frozenset(found)


def _truths(function: ir.SourceFunction) -> frozenset[str]:
    """The loads of a byte that is used as a truth value, or promised to be one."""
    code = [i for i in function.instructions() if i.op in ("load", "trunc")]
    read = {i.operands[0] for i in code if i.op == "trunc" and i.type == ir.IntT(1) and i.flags & {marks.TRUTH, "nuw"}}
    loads = (i for i in code if i.op == "load" and i.type == ir.IntT(8) and i.result is not None)
    return frozenset(i.result for i in loads if i.result and (i.value in read or marks.TRUTH in i.flags))


def _lengths(function: ir.SourceFunction) -> frozenset[str]:
    """The values that are widened to a dimension of an array of variable length."""
    made = {i.result: i for i in function.instructions() if i.result is not None}

    def maker(operand: ir.Value) -> ir.Instruction | None:
        return made.get(operand.name) if isinstance(operand, ir.Local) else None

    def factors(operand: ir.Value) -> tuple[ir.Value, ...]:
        by = maker(operand)
        return by.operands if by is not None and by.op == "mul" else ()

    arrays = [i for name, i in made.items() if i.op == "alloca" and not is_allocated(name)]
    dimensions = [operand for i in arrays for operand in i.operands]
    makers = (maker(operand) for operand in reachable(dimensions, factors))
    return frozenset(by.result for by in makers if by is not None and by.op == "zext" and by.result is not None)


_PROMISES = frozenset(("nsw", "nuw", "exact", "disjoint", "nneg"))


def _speculates(function: ir.SourceFunction) -> bool:
    """Whether the code may compute what it then does not use.

    Code as clang writes it keeps variables in memory and chooses by branches; it selects only between constants and
    values that it loads, by any condition. What is loaded keeps no promise of the address.
    """
    code = [i for i in function.instructions() if not i.is_debug and not (i.result and is_ours(i.result))]
    operations = {i.op for i in code}
    integers = any(i.op == "phi" and i.type != ir.IntT(1) for i in code)
    if "freeze" in operations or (integers and "alloca" not in operations):
        return True
    promised: set[str] = set()
    for instruction in code:
        if instruction.result is None or instruction.op == "load":
            continue
        uses_promised = any(isinstance(o, ir.Local) and o.name in promised for o in instruction.operands)
        if instruction.op == "select" and uses_promised:
            arms = instruction.operands[1:]
            if any(isinstance(arm, ir.Local) and arm.name in promised for arm in arms):
                return True
        if uses_promised or (instruction.flags and instruction.flags & _PROMISES):
            promised.add(instruction.result)
    return False

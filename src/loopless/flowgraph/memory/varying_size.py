"""Objects whose size varies: how many bytes arrays of variable length have, and which lengths C allows.

``int a[n]`` that a call makes once at most is a local object as others are (:class:`.Begin`). Its size is a variable of
its own at first. Where the variables that it was computed from keep their values behind the array's declaration, as
``n`` mostly does, it is the term ``4*n`` instead (:func:`with_sizes`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopless import terms as t
from loopless.flowgraph.def_use import assigned_in, defined_by
from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.model import Assign, Begin, Block, Check, Kind, Statement, VariableInfo
from loopless.flowgraph.source_types import is_declared_signed
from loopless.graphs import reachable
from loopless.source import ir

_SIGNED = frozenset(("sext", "sdiv", "srem", "ashr"))
_UNSIGNED = frozenset(("udiv", "urem", "lshr"))
_MODULAR = frozenset(("add", "sub", "mul", "shl"))
_BITWISE = frozenset(("and", "or", "xor"))


# -- lengths ----------------------------------------------------------------------------------------------------------


def is_signed_length(
    value: ir.Value,
    function: ir.SourceFunction,
    module: ir.Module,
    made: Mapping[str, ir.Instruction],
    *,
    wraps: bool = False,
) -> bool | None:
    """Whether the length of an array is of a signed type, by debug types and by what the compiler promises of
    operations; None where that is not known. ``made``: the instructions of ``function`` by their results; ``wraps``:
    signed operations have no promises (``-fwrapv``).
    """
    param = next((p for p in function.params if isinstance(value, ir.Local) and p.name == value.name), None)
    if param is not None:
        return param.signed
    i = made.get(value.name) if isinstance(value, ir.Local) else None
    if i is None or not isinstance(i.type, ir.IntT):
        return None
    if i.op == "load":
        return is_declared_signed(i.operands[0], i.type.bits, function, module, made)
    if i.op in _SIGNED or "nsw" in i.flags:
        return True
    if i.op == "zext":
        return True  # of a narrower type, which is promoted to int: never negative
    if i.op in _UNSIGNED or (i.op in _MODULAR and not wraps):
        return False
    if i.op in _BITWISE:
        operands = [value for value in i.operands if not isinstance(value, ir.IntConst)]
        signs = [is_signed_length(value, function, module, made, wraps=wraps) for value in operands]
        return None if None in signs or not signs else all(signs)  # one unsigned operand makes the result unsigned
    if i.op == "call" and i.callee_name is not None and i.callee_name in module.functions:
        result = module.functions[i.callee_name].result_debug
        return None if result is None else result.signed
    return None


# -- sizes ------------------------------------------------------------------------------------------------------------


def with_sizes(
    blocks: Mapping[str, Block], sizes: Mapping[int, t.Var], variables: Mapping[t.Var, VariableInfo], entry: str
) -> tuple[dict[str, Block], dict[int, t.Term]]:
    """The blocks in which sizes are terms over variables that keep their values, and by object the sizes.

    ``sizes``: by object the variable that holds its size. One that is told where no object of that size is yet (in a
    condition on whether there is one) begins with 0.
    """
    made, extents = dict(blocks), dict[int, t.Term](sizes)
    if not sizes:
        return made, extents
    early = live_at_entry(blocks, frozenset())[entry]
    definitions = _Definitions(blocks, variables)
    terms = {size: definitions.resolved(size) for size in sizes.values() if size not in early}
    terms = {size: term for size, term in terms.items() if term is not size}
    made = {label: replace(block, statements=_over(block.statements, terms)) for label, block in blocks.items()}
    lacking = tuple(Assign(size, t.ZERO) for size in sizes.values() if size in early)
    made[entry] = replace(made[entry], statements=(*lacking, *made[entry].statements))
    return made, {number: terms.get(size, size) for number, size in sizes.items()}


def _over(statements: tuple[Statement, ...], terms: Mapping[t.Var, t.Term]) -> tuple[Statement, ...]:
    """The statements with terms for the variables of sizes, which nothing but checks and objects speaks of."""
    found: list[Statement] = []
    for statement in statements:
        match statement:
            case Assign(target=target) if target in terms:
                continue
            case Check(condition=condition) if not terms.keys().isdisjoint(condition.variables):
                found.append(replace(statement, condition=t.substitute(condition, terms)))
            case Begin(size=size):
                found.append(replace(statement, size=t.substitute(size, terms)))
            case _:
                found.append(statement)
    return tuple(found)


class _Definitions:
    """Where variables get their values, as far as one place alone gives them one."""

    def __init__(self, blocks: Mapping[str, Block], variables: Mapping[t.Var, VariableInfo]) -> None:
        self.blocks = blocks
        self.variables = variables
        self.places: dict[t.Var, list[tuple[str, int]]] = {}
        for label, block in blocks.items():
            for index, statement in enumerate(block.statements):
                for target in defined_by(statement):
                    self.places.setdefault(target, []).append((label, index))
            for edge in block.edges:
                for target, _ in edge.assigns:
                    self.places.setdefault(target, []).append((label, len(block.statements)))

    def resolved(self, var: t.Var) -> t.Term:
        """The value of a variable over others that keep their values wherever it has one; itself where it must stay."""
        places = self.places.get(var, [])
        info = self.variables.get(var)
        if len(places) != 1 or info is None or info.kind is not Kind.TEMPORARY:
            return var
        label, index = places[0]
        block = self.blocks[label]
        statement = block.statements[index] if index < len(block.statements) else None
        if not isinstance(statement, Assign):
            return var
        later = reachable(block.successors, lambda at: self.blocks[at].successors)
        if label in later:
            return var
        rest = replace(block, statements=block.statements[index + 1 :])
        if not assigned_in((rest, *(self.blocks[at] for at in later))).isdisjoint(statement.value.variables):
            return var
        return t.substitute(statement.value, {one: self.resolved(one) for one in statement.value.variables})


def inside(offset: t.Term, size: int | t.Term, last: int) -> t.Condition:
    """Whether an offset lies in an object of ``size`` bytes, from its start to ``last`` bytes behind its end."""
    if isinstance(size, int):
        return t.between(0, offset, size + last)
    return offset.ge(0) & offset.le(size + last)

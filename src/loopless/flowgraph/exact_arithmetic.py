"""A function in which what is beside control never overflows: its signed operations give exact results, however large.

A run of such a function is the run of the function itself until a signed operation overflows there. So if it never
ends, the run of the function never ends either, or meets that overflow. That tells a hang from the counter beside it
(``count++``), whose overflow ends the run by the letter of the standard only.

A variable is *widened* where an operation without its check may leave the range of the variable's type: then another
variable over ℤ stands for it. Inputs, memory, arguments of calls and results keep their types, and operations that wrap
around do so still. So each input of such a function is one of the function itself, which ``--integers mathematical``
does not promise. What decides control keeps its checks: there a run behind an overflow would be another one.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from loopless import terms as t
from loopless.flowgraph.def_use import definitions
from loopless.flowgraph.model import (
    Allocate,
    Assign,
    Assume,
    Begin,
    Block,
    Call,
    Check,
    Copy,
    Edge,
    End,
    Expire,
    Fill,
    Flowgraph,
    Havoc,
    Kind,
    Load,
    MemoryObject,
    Pointer,
    Statement,
    Store,
)

OVERFLOW: Final = "signed-overflow"
"""The kind of the checks that are left out."""

_MARK: Final = " exactly"
"""Behind the name of a variable in that of the one over ℤ which stands for it. No name of a source has a space."""


def overflow_checks(graph: Flowgraph, blocks: Iterable[str], control: Container[t.Var] = ()) -> Iterator[Check]:
    """The checks of signed overflow in these blocks, in their order, but those of ``control`` alone."""
    for label in blocks:
        yield from (s for s in graph.blocks[label].statements if isinstance(s, Check) and _is_beside(s, control))


def with_exact_arithmetic(graph: Flowgraph, control: Container[t.Var] | None = None) -> Flowgraph:
    """The function without overflow of signed operations; the same one where it has no check of that.

    With ``control`` checks stay outside of loops, and where variables of ``control`` alone are operands: then only what
    counts beside a loop does not overflow. Nothing that is put into a variable of ``control`` may depend on others.
    Values of widened variables as they were before: :func:`as_typed`.
    """
    inside = {label for loop in graph.loops for label in loop.blocks} if control is not None else graph.blocks.keys()
    blocks = {
        label: without_overflow_checks(block, control or ()) if label in inside else block
        for label, block in graph.blocks.items()
    }
    if blocks == graph.blocks:
        return graph
    wide = _widened(graph, blocks, control or ())
    made = _Rewriter(graph, wide)
    blocks = {label: made.block(block) for label, block in blocks.items()}
    entry = blocks[graph.entry]
    given = tuple(Assign(wide[var], var, graph.loc) for var in wide if made.is_input(var))
    blocks[graph.entry] = replace(entry, statements=(*given, *entry.statements))
    infos = {wide[var]: replace(graph.variables[var], var=wide[var], object=None, offset=0, size=0) for var in wide}
    objects = {number: made.object(one) for number, one in graph.objects.items()}
    return replace(graph, blocks=blocks, variables={**graph.variables, **infos}, objects=objects)


def as_typed(graph: Flowgraph) -> dict[t.Var, t.Term]:
    """By the widened variables of such a function, those that they stand for: for conditions over states in which no
    operation has overflowed yet.
    """
    by_name: dict[str, t.Var] = {var.name: var for var in graph.variables if var.type.width is not None}
    wide = [var for var in graph.variables if var.name.endswith(_MARK)]
    return {var: by_name[var.name.removesuffix(_MARK)] for var in wide}


def without_overflow_checks(block: Block, control: Container[t.Var] = ()) -> Block:
    """The block without the checks of signed overflow, but those of ``control`` alone."""
    kept = tuple(s for s in block.statements if not (isinstance(s, Check) and _is_beside(s, control)))
    return block if len(kept) == len(block.statements) else replace(block, statements=kept)


def _is_beside(check: Check, control: Container[t.Var]) -> bool:
    """Whether a check is of an overflow, and of what is beside ``control``."""
    operands = check.condition.variables
    return check.kind == OVERFLOW and not (operands and all(var in control for var in operands))


def _widened(graph: Flowgraph, blocks: Mapping[str, Block], control: Container[t.Var]) -> dict[t.Var, t.Var]:
    """By variables that may leave the range of their type, those over ℤ that stand for them."""
    assigned = [pair for block in blocks.values() for pair in _assigned(block) if pair[0] not in control]
    wide: dict[t.Var, t.Var] = {}
    while True:
        found = [var for var, value in assigned if var not in wide and _leaves(graph, var, value, wide)]
        if not found:
            return wide
        wide |= {var: t.Var(var.name + _MARK, t.INTEGERS) for var in found}


def _assigned(block: Block) -> Iterator[tuple[t.Var, t.Term]]:
    yield from ((target, value) for target, _, value in definitions(block) if value is not None)


def _leaves(graph: Flowgraph, var: t.Var, value: t.Term, wide: Mapping[t.Var, t.Var]) -> bool:
    """Whether a value may be none of the variable's type, as far as the ranges of its operands tell."""
    depends = not value.variables.isdisjoint(wide)
    info = graph.variables.get(var)
    if not depends and (not var.type.signed or info is None or info.pointer_part):
        return False  # another check keeps it in its range
    return not _fits(t.substitute(value, wide) if depends else value, var.type)


def _fits(value: t.Term, type: t.IntType) -> bool:
    if type.min is None or type.max is None:
        return True
    low, high = t.range_of(value)
    return low is not None and high is not None and type.min <= low and high <= type.max


class _Rewriter:
    """Statements over the widened variables."""

    def __init__(self, graph: Flowgraph, wide: Mapping[t.Var, t.Var]) -> None:
        self.graph, self.wide = graph, wide
        self.typed: dict[t.Var, t.Term] = {var: t.wrap(other, var.type) for var, other in wide.items()}
        self.parameters = {parameter.var for parameter in graph.parameters}

    def is_input(self, var: t.Var) -> bool:
        """Whether the function begins with a value of the variable."""
        return var in self.parameters or self.graph.variables[var].kind in (Kind.GLOBAL, Kind.POINTEE)

    def block(self, block: Block) -> Block:
        """The block over the widened variables."""
        statements = tuple(made for statement in block.statements for made in self._statement(statement))
        end = None if block.end is None else self._end(block.end)
        if end is not None:
            statements = (*statements, *self._kept_in_memory())
        return Block(block.label, statements, tuple(map(self._edge, block.edges)), end)

    def object(self, one: MemoryObject) -> MemoryObject:
        """The object, its size over the widened variables."""
        return one if one.extent is None else replace(one, extent=self._wrapped(one.extent))

    def _kept_in_memory(self) -> Iterator[Assign]:
        """What others see of variables that stand for memory."""
        for var in self.wide:
            if self.graph.variables[var].object is not None:
                yield Assign(var, self.typed[var])

    def _edge(self, edge: Edge) -> Edge:
        assigns = tuple((self.wide.get(target, target), self._exact(value)) for target, value in edge.assigns)
        return replace(edge, condition=self._over(edge.condition), assigns=assigns)

    def _end(self, end: End) -> End:
        if end.value is None:
            return end
        value, type = self._exact(end.value), self.graph.result
        if type is not None and value is not end.value and not _fits(value, type):
            value = t.wrap(value, type)
        return replace(end, value=value)

    def _over(self, condition: t.Condition) -> t.Condition:
        return condition if condition.variables.isdisjoint(self.wide) else t.substitute(condition, self.wide)

    def _exact(self, term: t.Term) -> t.Term:
        return term if term.variables.isdisjoint(self.wide) else t.substitute(term, self.wide)

    def _wrapped(self, term: t.Term) -> t.Term:
        return term if term.variables.isdisjoint(self.typed) else t.substitute(term, self.typed)

    def _at(self, pointer: Pointer) -> Pointer:
        return Pointer(self._wrapped(pointer.object), self._exact(pointer.offset))

    def _behind(self, *targets: t.Var | None) -> Iterator[Assign]:
        """What a statement puts into a variable goes into the one that stands for it, too."""
        yield from (Assign(self.wide[var], var) for var in targets if var is not None and var in self.wide)

    def _statement(self, statement: Statement) -> Iterator[Statement]:
        match statement:
            case Assign():
                target = self.wide.get(statement.target, statement.target)
                yield replace(statement, target=target, value=self._exact(statement.value))
            case Check():
                place = None if statement.place is None else self._at(statement.place)
                yield replace(statement, condition=self._over(statement.condition), place=place)
            case Assume():
                yield replace(statement, condition=self._over(statement.condition))
            case Havoc():
                yield statement
                yield from self._behind(statement.target)
            case Load():
                yield replace(statement, address=self._at(statement.address))
                yield from self._behind(statement.target, statement.target_object)
            case Store():
                value = self._exact(statement.value)
                value = value if _fits(value, statement.type) else t.wrap(value, statement.type)
                other = None if statement.value_object is None else self._wrapped(statement.value_object)
                yield replace(statement, address=self._at(statement.address), value=value, value_object=other)
            case Fill():
                byte, length = self._exact(statement.byte), self._exact(statement.length)
                yield replace(statement, address=self._at(statement.address), byte=byte, length=length)
            case Copy():
                to, source = self._at(statement.target), self._at(statement.source)
                yield replace(statement, target=to, source=source, length=self._exact(statement.length))
            case Allocate():
                yield replace(statement, size=self._wrapped(statement.size))
                yield from self._behind(statement.target)
            case Begin():
                yield replace(statement, size=self._wrapped(statement.size))
            case Expire():
                yield statement
            case Call():
                yield from self._kept_in_memory()
                arguments = tuple(
                    self._at(a) if isinstance(a, Pointer) else self._wrapped(a) for a in statement.arguments
                )
                yield replace(statement, arguments=arguments)
                yield from self._behind(statement.target, statement.target_object)

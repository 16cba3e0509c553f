"""What comes from outside, value after value, as streams: the k-th input of the program, what the k-th call of a
function that the program only declares returns or leaves in a variable, the k-th look at a volatile object.

In place of a value of which nothing is known, a loop reads the next element of a stream, and a variable counts how many
it has read. So what such a loop does is a function of what it gets, as that of a loop that reads an array is of what
the array holds; and where paths read a different number of values, the count says which value each of them gets.

All inputs (``__VERIFIER_nondet_int`` and its kin) are one stream, since they come in one order. Else only loops read
streams. This is for answers; it is not what is run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from loopless.flowgraph.model import (
    THROUGH_POINTER,
    Assign,
    Block,
    Call,
    Flowgraph,
    Havoc,
    Kind,
    Origin,
    Statement,
    VariableInfo,
)
from loopless.refusals import Reason
from loopless.source.ir import Loc
from loopless.source.vocabulary import STRING_LENGTHS
from loopless.terms import INTEGERS, ONE, STREAM, Var, add, read

INPUTS: Final = f"nondet{STREAM}"
"""The stream of the program's inputs."""
_COUNTER: Final = "reads of "
_COUNTED: Final = (Origin.NONDET, Origin.CALL, Origin.VOLATILE)


def with_streams(graph: Flowgraph, *, inputs: bool = False) -> Flowgraph:
    """The function with streams in its loops; itself where these take nothing from outside. ``inputs``: it reads inputs
    as a stream outside of loops, too.
    """
    labels = frozenset(label for loop in graph.loops for label in loop.blocks)
    made = _Streams(graph)
    blocks = {label: made.block(block) if label in labels else block for label, block in graph.blocks.items()}
    if not made.counters:
        return graph
    if inputs:
        blocks = {label: block if label in labels else made.with_inputs(block) for label, block in blocks.items()}
    counters = {var: VariableInfo(var, var.name, Kind.READS) for var in made.counters.values()}
    return replace(graph, blocks=blocks, variables={**graph.variables, **counters})


def counts_inputs(var: Var) -> bool:
    """Whether the variable counts the inputs that were read."""
    return stream_of(var) == INPUTS


def stream_of(var: Var) -> str | None:
    """The stream whose values the variable counts; None where it is another variable."""
    return var.name.removeprefix(_COUNTER) if var.name.startswith(_COUNTER) and var.type == INTEGERS else None


def counter_of(stream: str) -> Var:
    """The variable that counts the values of a stream that were read."""
    return Var(f"{_COUNTER}{stream}", INTEGERS)


@dataclass(slots=True)
class _Streams:
    graph: Flowgraph
    counters: dict[str, Var] = field(default_factory=dict)
    """By the name of a stream the variable that counts what was read of it."""

    def block(self, block: Block) -> Block:
        statements = tuple(after for statement in self._apart(block) for after in self._statement(statement))
        return block if statements == block.statements else replace(block, statements=statements)

    def with_inputs(self, block: Block) -> Block:
        """The same with its inputs only as a stream."""
        statements = tuple(
            after
            for statement in block.statements
            for after in (
                self._statement(statement)
                if isinstance(statement, Havoc) and statement.origin is Origin.NONDET
                else (statement,)
            )
        )
        return block if statements == block.statements else replace(block, statements=statements)

    @staticmethod
    def _apart(block: Block) -> Iterator[Statement]:
        """The statements, with the results of calls as values of their own."""
        for at, statement in enumerate(block.statements):
            if not isinstance(statement, Call) or statement.target is None or statement.target_object is not None:
                yield statement
            elif statement.refused is None and statement.outside and statement.callee not in STRING_LENGTHS:
                yield replace(statement, target=None)
                following = block.statements[at + 1] if at + 1 < len(block.statements) else None
                if not isinstance(following, Havoc) or following.target != statement.target:
                    yield Havoc(statement.target, Origin.CALL, statement.callee, statement.loc)
            else:
                yield statement

    def _statement(self, statement: Statement) -> tuple[Statement, ...]:
        match statement:
            case Havoc(target=target, origin=origin, name=name, loc=loc) if self._is_stream(statement):
                return self._read(target, self._named(target, origin, name), loc)
            case _:
                return (statement,)

    def _is_stream(self, havoc: Havoc) -> bool:
        info = self.graph.variables.get(havoc.target)
        if havoc.origin not in _COUNTED or (info is not None and info.pointer_part):
            return False
        if havoc.refused is not None and havoc.refused.reason is not Reason.UNKNOWN_CALL:
            return False
        # What functions of the program return or change depends on the program's state: it is not from outside.
        return havoc.origin is not Origin.CALL or havoc.name != THROUGH_POINTER

    def _named(self, target: Var, origin: Origin, name: str) -> str:
        info = self.graph.variables.get(target)
        if origin is Origin.NONDET:
            return INPUTS
        if origin is Origin.CALL and info is not None and info.object is not None:
            return f"{info.shown} by {name}{STREAM}"
        return f"{name}{STREAM}"

    def _read(self, target: Var, stream: str, loc: Loc | None) -> tuple[Statement, ...]:
        counter = self.counters.setdefault(stream, counter_of(stream))
        return Assign(target, read(stream, counter, target.type), loc), Assign(counter, add(counter, ONE), loc)

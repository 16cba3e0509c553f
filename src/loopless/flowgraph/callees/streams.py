"""What comes from outside, value after value, as streams: the k-th input of the program, what the k-th call of a
function that the program only declares returns or leaves in a variable, the k-th look at a volatile object.

In place of a value of which nothing is known, a loop reads the next element of a stream, and a variable counts how many
it has read. So what such a loop does is a function of what it gets, as that of a loop that reads an array is of what
the array holds; and where paths read a different number of values, the count says which value each of them gets.

All inputs (``__VERIFIER_nondet_int`` and its kin) are one stream, since they come in one order. What no loop reads is
no stream: a value that is taken once has a name of its own. This is for answers; it is not what is run.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import field, replace
from typing import Final

from loopless import terms as t
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
from loopless.records import dataclass
from loopless.refusals import Reason
from loopless.source.function_names import in_source
from loopless.source.ir import Loc
from loopless.source.vocabulary import COMPARISONS, SPANS, STRING_LENGTHS

INPUTS: Final = f"nondet{t.STREAM}"
"""The stream of the program's inputs."""
_COUNTER: Final = "reads of "
_COUNTED: Final = (Origin.NONDET, Origin.CALL, Origin.VOLATILE)


def with_streams(graph: Flowgraph) -> Flowgraph:
    """The function with streams in its loops, and what else it takes of these; itself where its loops take nothing from
    outside.
    """
    labels = frozenset(label for loop in graph.loops for label in loop.blocks)
    made = _Streams(graph)
    inside = {label: made.block(block) for label, block in graph.blocks.items() if label in labels}
    if not made.counters:
        return graph
    made.only = frozenset(made.counters)
    blocks = {label: inside[label] if label in labels else made.block(block) for label, block in graph.blocks.items()}
    counters = {var: VariableInfo(var, var.name, Kind.READS) for var in made.counters.values()}
    return replace(graph, blocks=blocks, variables={**graph.variables, **counters})


def counts_inputs(var: t.Var) -> bool:
    """Whether the variable counts the inputs that were read."""
    return stream_of(var) == INPUTS


def stream_of(var: t.Var) -> str | None:
    """The stream whose values the variable counts; None where it is another variable."""
    return var.name.removeprefix(_COUNTER) if var.name.startswith(_COUNTER) and var.type == t.INTEGERS else None


def counter_of(stream: str) -> t.Var:
    """The variable that counts the values of a stream that were read."""
    return t.Var(f"{_COUNTER}{stream}", t.INTEGERS)


@dataclass(slots=True)
class _Streams:
    graph: Flowgraph
    counters: dict[str, t.Var] = field(default_factory=dict)
    """By the name of a stream the variable that counts what was read of it."""
    called: dict[str, str] = field(default_factory=dict)
    """By their names in the module what functions are called."""
    only: frozenset[str] | None = None
    """The streams that are read, all where it is None."""

    def block(self, block: Block) -> Block:
        statements = tuple(after for statement in self._apart(block) for after in self._statement(statement))
        return block if statements == block.statements else replace(block, statements=statements)

    def _apart(self, block: Block) -> Iterator[Statement]:
        """The statements, with the results of calls as values of their own."""
        for at, statement in enumerate(block.statements):
            if not isinstance(statement, Call) or statement.target is None or statement.target_object is not None:
                yield statement
            elif self._has_stream(statement) and statement.callee in COMPARISONS:
                # What memory does not tell of the result is the stream's.
                yield Havoc(statement.target, Origin.CALL, statement.callee, statement.loc)
                yield replace(statement, drawn=True)
            elif self._has_stream(statement):
                yield replace(statement, target=None)
                following = block.statements[at + 1] if at + 1 < len(block.statements) else None
                if not isinstance(following, Havoc) or following.target != statement.target:
                    yield Havoc(statement.target, Origin.CALL, statement.callee, statement.loc)
            else:
                yield statement

    def _has_stream(self, call: Call) -> bool:
        """Whether the results of the call are a stream."""
        if call.refused is not None or not call.outside or call.callee in STRING_LENGTHS | SPANS:
            return False
        return self.only is None or self._of(call.callee) in self.only

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
        if havoc.origin is Origin.CALL and havoc.name == THROUGH_POINTER:
            return False
        return self.only is None or self._named(havoc.target, havoc.origin, havoc.name) in self.only

    def _named(self, target: t.Var, origin: Origin, name: str) -> str:
        info = self.graph.variables.get(target)
        if origin is Origin.NONDET:
            return INPUTS
        if origin is Origin.CALL and info is not None and info.object is not None:
            return f"{target.name} by {self._of(name)}"
        return self._of(name)

    def _of(self, callee: str) -> str:
        """The stream of what a function returns, by its name in the source; of functions of one name by numbers."""
        if callee not in self.called:
            shown = in_source(callee)
            names = itertools.chain((shown,), (f"{shown}#{number}" for number in itertools.count(2)))
            self.called[callee] = next(name for name in names if name not in self.called.values())
        return f"{self.called[callee]}{t.STREAM}"

    def _read(self, target: t.Var, stream: str, loc: Loc | None) -> tuple[Statement, ...]:
        counter = self.counters.setdefault(stream, counter_of(stream))
        return Assign(target, t.read(stream, counter, target.type), loc), Assign(counter, counter + 1, loc)

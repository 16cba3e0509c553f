"""Which variables hold values of one kind: those that the program compares with, or computes from, one another.

Places in an array are of another kind than what lies there, though both are integers, wherever the program does not mix
them (types by use: O'Callahan and Jackson, Lackwit, ICSE 1997).
"""

from __future__ import annotations

from collections.abc import Iterator

from loopless import terms as t
from loopless.flowgraph.model import Assign, Assume, Check, Flowgraph


class Kinds:
    """The variables of a flowgraph by kind."""

    def __init__(self, graph: Flowgraph) -> None:
        self._above: dict[t.Var, t.Var] = {}
        for block in graph.blocks.values():
            for statement in block.statements:
                match statement:
                    case Assign(target=target, value=value):
                        self._assigned(target, value)
                    case Check(condition=condition) | Assume(condition=condition):
                        self._compared(condition)
                    case _:
                        pass
            for edge in block.edges:
                self._compared(edge.condition)
                for target, value in edge.assigns:
                    self._assigned(target, value)

    def same(self, a: t.Var, b: t.Var) -> bool:
        """Whether two variables are of one kind."""
        return self._top(a) == self._top(b)

    def _top(self, var: t.Var) -> t.Var:
        while var in self._above:
            var = self._above[var]
        return var

    def _together(self, variables: Iterator[t.Var]) -> None:
        first = next(variables, None)
        for other in variables:
            assert first is not None
            a, b = self._top(first), self._top(other)
            if a != b:
                self._above[a] = b

    def _assigned(self, target: t.Var, value: t.Term) -> None:
        self._compared(value)
        self._together(iter((target, *_giving(value))))

    def _compared(self, node: t.Node) -> None:
        for part in t.walk(node):
            if isinstance(part, t.Compare):
                self._together(_giving(part.term))


def _giving(term: t.Node) -> Iterator[t.Var]:
    """The variables of which a term is a sum, a choice or a product: not those that decide which."""
    waiting: list[t.Node] = [term]
    while waiting:
        match waiting.pop():
            case t.Var() as var:
                yield var
            case t.Ite(then=then, otherwise=otherwise):
                waiting += (then, otherwise)
            case t.Condition() | t.Read():
                pass
            case one:
                waiting += one.children

"""Behind which ways out of a loop the function goes on: it may return there, or come to the loop again."""

from __future__ import annotations

from typing import Final

from loopless.flowgraph.model import End, Flowgraph, LoopInfo
from loopless.graphs import cycles, predecessors, reachable
from loopless.refusals import Reason

_ENDS: Final = frozenset({"abort", "exit", "error", "undefined"})
_LEFT: Final = (Reason.UNKNOWN_CALL, Reason.EXCEPTION)
"""Why an end is "unsupported" where a call does not come back: the run ends there, or goes on further up."""


def _is_last(end: End) -> bool:
    left = end.kind == "unsupported" and end.refused is not None and end.refused.reason in _LEFT
    return left or end.kind in _ENDS


class Endings:
    """The blocks of a function behind which runs end."""

    def __init__(self, graph: Flowgraph) -> None:
        self._graph = graph
        following = {label: block.successors for label, block in graph.blocks.items()}
        sources = predecessors(following)
        returns = [label for label, block in graph.blocks.items() if block.end and not _is_last(block.end)]
        leading = reachable(returns, sources.__getitem__)
        self._never_return = frozenset(following).difference(leading)
        if not self._never_return:
            self._end_soon = self._never_return
            return
        again = [label for component in cycles(following) for label in component]
        leading = reachable(again, sources.__getitem__)
        self._end_soon = self._never_return.difference(leading)
        """Also without any cycle on the way."""

    def behind(self, loop: LoopInfo) -> frozenset[str]:
        """Blocks behind which the function does not go on, of those that ``loop`` leads to.

        Where no way out leads to the function's end or back to the loop, what may go round a cycle for ever goes on
        too: the function may serve there until the program ends.
        """
        if not self._never_return:
            return frozenset()
        around = next((other.blocks for other in self._graph.loops if other.header == loop.parent), frozenset[str]())
        leaving = {self._graph.blocks[label].edges[edge].target for label, edge in loop.exits}
        ending = self._never_return - around
        return self._end_soon if leaving <= ending else ending

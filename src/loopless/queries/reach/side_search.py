"""Searches for the sides of the branches of one function, over one reading of the program: where each side has a block
of its own, the graph with that block as its error is made without reading anything again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from loopless import clock
from loopless.flowgraph.model import Block, End
from loopless.queries.call_values.reached import Reached
from loopless.queries.program import load
from loopless.queries.reach.answering import answered
from loopless.queries.reach.covering_driver import CoveringDriver, SideDriver
from loopless.queries.reach.question import ReachQuestion, graph_with_errors
from loopless.queries.settings import Settings
from loopless.source.targets import SIDE, SourceTarget


class SideSearch:
    """Searches for the sides of the branches of one function, over one reading of the program. ``covering``: native
    runs that tell the sides; None: there are none.

    Raises:
        SourceError: the program does not compile.
    """

    def __init__(
        self,
        files: Sequence[Path],
        function: str,
        settings: Settings,
        covering: CoveringDriver | None,
        *,
        summaries: bool,
    ) -> None:
        divided = replace(settings, source=replace(settings.source, target=SourceTarget(within=function)))
        self.program = load(files, divided)
        graph = graph_with_errors(self.program, function, settings)
        self.function, self.settings, self.covering, self.summaries = function, divided, covering, summaries
        ended = {label: _without_errors(block) for label, block in graph.blocks.items()}
        self.graph = replace(graph, blocks=ended)

    def answer(self, number: int, target: SourceTarget, seconds: float) -> Reached:
        """What a search for the side of this number comes to: no proof is tried. ``target``: what it is called;
        ``seconds``: of counted work, for the methods, once runs are possible.
        """
        driver = SideDriver(self.covering, number) if self.covering is not None else None
        if driver is not None:
            driver.oracle.ready()
        until = clock.counted() + seconds
        named = re.compile(rf"{re.escape(SIDE)}{number}(?!\d)")  # copies of the block have more behind it
        labels = [label for label in self.graph.blocks if named.search(label)]
        if self.graph.refused is None and not labels:
            return Reached(target, self.function, "unknown", reason="the side is not told apart from others")
        blocks = dict(self.graph.blocks)
        for label in labels:
            blocks[label] = replace(blocks[label], statements=(), edges=(), end=End("error"))
        question = ReachQuestion(
            self.program,
            target,
            self.function,
            self.settings,
            until,
            summaries=self.summaries,
            driver=driver,
            proofs=False,
            graph=replace(self.graph, blocks=blocks),
        )
        return answered(question)


def _without_errors(block: Block) -> Block:
    """The block, in which other errors than the target only end the run."""
    error = block.end is not None and block.end.kind == "error"
    return replace(block, end=replace(block.end, kind="abort")) if error and block.end is not None else block

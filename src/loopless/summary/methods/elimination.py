"""Elimination of paths by maximal runs (design, section 5.3): Gauss's elimination on the graph of pieces.

A piece that is eliminated is first accelerated: it becomes pieces that each stand for its longest run and land outside
its domain. Every other piece that lands in the domain is then continued by these. A cycle of paths shows up as a piece
that lands in itself; its runs are Proteus's periods, nested to any depth. What only lands where the loop has ended is
an ending; in the end all pieces are continued to endings, backwards.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import networkx as nx

from loopless.logic import BudgetExceeded, Region, budget
from loopless.refusals import Reason, Refused
from loopless.summary.rewrite.auxiliary import preimage
from loopless.summary.transitions.guarded import composed, convex, divided, is_translation, resolved, simplified, split
from loopless.summary.transitions.nonlinear_repeat import cut
from loopless.summary.transitions.repeat import Stuck, brief_runs, is_simple, longest_runs
from loopless.summary.transitions.subsumption import gathered
from loopless.summary.transitions.system import System, where
from loopless.summary.transitions.transformer import Nothing, Piece

MAX_PIECES = 200
"""More pieces than this are not kept (design, section 5.6)."""

MAX_ENDINGS = 400
"""Nor more ways in which the loop ends, where only an answer without gaps counts."""

MAX_RUNS = 16
"""A piece is not made of more runs than this: what takes turns in ever new orders is not followed for long."""

OPERATIONS = 2_000_000
"""isl's operations allowed for eliminating the paths of one loop, and for going back from its ends."""

STEP_OPERATIONS = 500_000
"""And for the runs of one piece."""


@dataclass(slots=True, eq=False)
class Ending:
    """Entry values in ``piece.where`` come by ``piece`` to an end.

    "ended": the loop is left; "forever": ``again`` then repeats for ever; "stuck": ``why`` nothing more is known.
    """

    piece: Piece
    kind: Literal["ended", "forever", "stuck"]
    again: Piece | None = None
    why: Refused | None = None


class _TooCostly(BudgetExceeded):
    """The runs of one piece take too many steps of the logic."""


@dataclass(slots=True, eq=False)
class Node:
    """A piece, and the pieces in which one step of it may land."""

    piece: Piece
    after: set[Node] = field(default_factory=set)
    unsure: set[Node] = field(default_factory=set)
    """Those of ``after`` for which that has not been looked at."""
    seen: bool = False
    """Whether steps that are translations on the domain have been looked for."""
    mixed: bool = True
    """Whether some of the piece may lead to endings at once."""
    brief: list[Piece] | None = None
    """The runs of a step without closed form that are known to be short."""


def eliminate(
    system: System,
    pieces: Iterable[Piece],
    endings: Iterable[Ending] = (),
    *,
    cutting: bool = True,
    dividing: bool = False,
) -> list[Ending]:
    """How the loop ends, for all values of the universe: the domains of the result partition it.

    ``pieces`` partition with the system's ended values and those of ``endings`` the universe. What exceeds a limit is
    stuck. ``cutting``: runs that the logic cannot express are cut (:mod:`loopless.summary.transitions.nonlinear_repeat`), not followed.
    ``dividing``: domains on which the runs of a piece are not known are divided.
    """
    return _Elimination(system, cutting=cutting, dividing=dividing).solve(list(pieces), list(endings))


class _Elimination:
    def __init__(self, system: System, *, cutting: bool, dividing: bool) -> None:
        self.system = system
        self.cutting = cutting
        self.dividing = dividing
        self.nodes: list[Node] = []
        self.levels: list[list[Piece]] = []
        self.endings: list[Ending] = []

    def solve(self, pieces: list[Piece], endings: list[Ending]) -> list[Ending]:
        self.endings = [Ending(Piece(self.system.ended, {}, Nothing()), "ended"), *endings]
        self.nodes = [Node(piece) for piece in pieces if not piece.where.is_empty()]
        try:
            with budget(OPERATIONS):
                for node in self.nodes:
                    node.after = node.unsure = set(self.nodes)
                for node in self.nodes:
                    self._look_again(node)
                while self.nodes:
                    self._cut_tails()
                    self._eliminate(self._next())
        except BudgetExceeded:
            for node in self.nodes:
                self.endings.append(_stuck(node.piece.where, self._too_costly()))
        return self._back()

    def _too_costly(self) -> Refused:
        detail = "the paths take turns in a way that needs more steps or cases than the budget for this loop"
        return Refused(Reason.BUDGET, where(self.system.paths), detail)

    # -- the graph of pieces --------------------------------------------------------------------------------------

    @staticmethod
    def _lands(piece: Piece, region: Region) -> bool:
        return not preimage(region, piece.control).disjoint(piece.where)

    def _next(self) -> Node:
        """The piece to eliminate next: such that few pieces go through it, and simple runs first.

        What a piece that repeats leads to comes after it, else its rounds would be peeled off one by one; where domains
        are divided, what any cycle of pieces leads to.
        """
        cycle_of = self._cycles()

        def cost(node: Node) -> tuple[int, int, int, bool]:
            before = [other for other in self.nodes if other is not node and node in other.after]
            behind = any(other in cycle_of and cycle_of[other] != cycle_of.get(node) for other in before)
            if behind and self.dividing:
                hard = 4
            elif node in node.after:
                hard = 0 if is_translation(node.piece) else 2 if is_simple(node.piece) else 3
            else:
                hard = 4 if any(other in other.after for other in before) else 1
            return (0 if not before else 1, hard, len(before) * len(node.after), behind)

        return min(self.nodes, key=cost)

    def _cycles(self) -> dict[Node, int]:
        """The strongly connected component, by its number, of each piece that may follow itself after some others."""
        graph: nx.DiGraph[Node] = nx.DiGraph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from((node, after) for node in self.nodes for after in node.after)
        found: dict[Node, int] = {}
        for number, component in enumerate(nx.strongly_connected_components(graph)):
            if len(component) > 1 or any(node in node.after for node in component):
                found.update(dict.fromkeys(component, number))
        return found

    def _eliminate(self, node: Node) -> None:
        if node in node.after and not is_simple(node.piece):
            # What lands in itself once or twice is followed, not divided: each part would go through all that is left.
            node.brief = brief_runs(node.piece)
            if node.brief is None and self._divide(node):
                return
        try:
            self._pass_through(node)
        except (Stuck, _TooCostly) as failure:
            parts = divided(node.piece) if self.dividing else None
            if parts is not None:
                self._replace({node: [Node(part, node.after) for part in parts]})
            elif isinstance(failure, Stuck):
                self._pass_through(node, stuck=failure)
            else:
                raise
        if len(self.nodes) + len(self.endings) > MAX_PIECES:
            raise BudgetExceeded("too many pieces")

    def _pass_through(self, node: Node, stuck: Stuck | None = None) -> None:
        """Continue every piece that lands in ``node`` by its runs, which are not known if it is ``stuck``.

        Nothing has changed if this raises :class:`Stuck` or :class:`BudgetExceeded`.
        """
        if not node.after:
            ended = self._to_endings(node.piece, self.endings)
            made: list[list[Node]] = []
            before: list[Node] = []
        else:
            before = [other for other in self.nodes if other is not node and node in other.after]
            if stuck is not None:
                runs: list[Piece] = []
                ended = [_stuck(node.piece.where, stuck.refused)]
            else:
                runs, ended = ([node.piece], []) if node not in node.after else self._accelerate(node)
            level = [Node(run, node.after - {node}) for run in runs]
            made = [self._continued(other, node, level) for other in before]
            self.levels.append(runs)
        self.endings += ended
        self.nodes.remove(node)
        for other in self.nodes:
            other.after.discard(node)
        self._replace(dict(zip(before, made, strict=True)))

    def _continued(self, node: Node, gone: Node, level: list[Node]) -> list[Node]:
        """``node``, which may land in ``gone``, with its continuations through the runs of ``gone``."""
        piece = node.piece
        rest = piece.where
        made: list[Node] = []
        for run in level:
            landing = preimage(run.piece.where, piece.control) & piece.where
            if landing.is_empty():
                continue
            rest -= landing
            through = composed(piece, run.piece, landing.coalesce())
            if through.effect.length > MAX_RUNS:
                raise BudgetExceeded("too many runs one after another")
            made += [Node(part, run.after) for part in resolved(through)]
        if not rest.is_empty():
            made.append(Node(piece.within(rest.coalesce()), node.after - {gone}))
        return made

    def _replace(self, replaced: Mapping[Node, list[Node]]) -> None:
        """The pieces made of others stand in their place; their successors are candidates, and are looked at here."""
        new = {made for parts in replaced.values() for made in parts}
        self.nodes = [node for node in self.nodes if node not in replaced] + [
            m for parts in replaced.values() for m in parts
        ]
        for node in self.nodes:
            unsure = node.after if node in new else node.after & replaced.keys()
            if unsure:
                candidates = {c for after in unsure for c in replaced.get(after, [after])}
                node.after = node.after - unsure | candidates
                node.unsure |= candidates
        for node in self.nodes:
            self._look_again(node)

    def _look_again(self, node: Node) -> None:
        """Drop successors in which the piece does not land after all, and end at once what lands in none."""
        node.after = {a for a in node.after if a not in node.unsure or self._lands(node.piece, a.piece.where)}
        node.unsure = set()
        if node in node.after and not is_translation(node.piece) and not node.seen:
            node.seen = True
            node.piece = Piece(node.piece.where, simplified(node.piece.control, node.piece.where), node.piece.effect)

    def _cut_tails(self) -> None:
        """End at once what surely leaves by a piece, where another piece leads only there: it is then no cycle."""
        for node in self.nodes:
            before = [other for other in self.nodes if other is not node and node in other.after]
            if node.mixed and before and node.after:
                self._cut_tail(node, before)
            node.mixed = False

    def _cut_tail(self, node: Node, before: list[Node]) -> None:
        piece = node.piece
        going_on = [preimage(a.piece.where, piece.control) & piece.where for a in node.after]
        rest = going_on[0]
        for region in going_on[1:]:
            rest |= region
        rest = rest.coalesce()
        tail = (piece.where - rest).coalesce()
        if tail.is_empty() or all(self._lands(other.piece, rest) for other in before):
            return
        self.endings += self._to_endings(piece.within(tail), self.endings)
        node.piece = piece.within(rest)
        for other in self.nodes:
            if node in other.after and not self._lands(other.piece, rest):
                other.after = other.after - {node}

    # -- runs -----------------------------------------------------------------------------------------------------

    def _accelerate(self, node: Node) -> tuple[list[Piece], list[Ending]]:
        """The runs of a piece that lands in itself, and how it ends otherwise. Raises :class:`Stuck`."""
        piece = node.piece
        if node.brief is not None:
            return gathered(node.brief), []
        try:
            with budget(STEP_OPERATIONS):
                runs, never = longest_runs(self.system, piece, cutting=self.cutting)
        except BudgetExceeded as error:
            raise _TooCostly(str(error)) from None
        runs = gathered(runs)
        if never.is_empty():
            return runs, []
        return runs, [Ending(Piece(never, {}, Nothing()), "forever", again=piece)]

    def _divide(self, node: Node) -> bool:
        """Replace a piece without closed forms for the logic by parts; False where no part is easier."""
        parts = convex(node.piece) if self.cutting else None
        if parts is None and (not self.cutting or cut(node.piece) is None):
            parts = split(node.piece)
        if parts is None:
            return False
        self._replace({node: [Node(part, node.after) for part in parts]})
        return True

    # -- backwards ------------------------------------------------------------------------------------------------

    def _back(self) -> list[Ending]:
        endings = list(self.endings)
        with budget(OPERATIONS):
            for level in reversed(self.levels):
                endings += [ending for piece in level for ending in self._back_from(piece, endings)]
            with contextlib.suppress(BudgetExceeded):
                endings = _together(endings)
        return endings

    def _back_from(self, piece: Piece, endings: list[Ending]) -> list[Ending]:
        """The endings of a piece; past a limit it is stuck."""
        with contextlib.suppress(BudgetExceeded):
            found = self._to_endings(piece, endings)
            if len(endings) + len(found) <= (MAX_ENDINGS if self.dividing else MAX_PIECES):
                return found
        return [_stuck(piece.where, self._too_costly())]

    @staticmethod
    def _to_endings(piece: Piece, endings: list[Ending]) -> list[Ending]:
        """The piece continued by the endings in which it lands."""
        found = []
        for ending in endings:
            landing = preimage(ending.piece.where, piece.control)
            if not landing.disjoint(piece.where):
                whole = composed(piece, ending.piece, (landing & piece.where).coalesce())
                found.append(Ending(whole, ending.kind, ending.again, ending.why))
        return found


def _together(endings: list[Ending]) -> list[Ending]:
    """The endings with pieces of the same effect put together."""
    plain = gathered([ending.piece for ending in endings if ending.kind == "ended"])
    return [Ending(piece, "ended") for piece in plain] + [e for e in endings if e.kind != "ended"]


def _stuck(region: Region, why: Refused) -> Ending:
    return Ending(Piece(region, {}, Nothing()), "stuck", why=why)

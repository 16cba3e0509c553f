"""Whether a certificate proves what it says of a program: read anew, block by block, by Z3 alone.

A certificate has conditions at cutpoints. The judge compiles the program itself and asks of every way from the
beginning, and from each cutpoint, to the next: does it make the conditions there true (initiation and consecution), and
can it come to what must not happen (safety)? Nothing of how the conditions were found is used.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import z3  # type: ignore[import-untyped]

from loopless.check.certificates.formulas import condition_of, symbols_of, term_of
from loopless.check.certificates.regions import Arrival, Region, check_cut, nodes_of
from loopless.check.certificates.theories import Bits, Integers
from loopless.errors import UsageError
from loopless.flowgraph.model import Call, End, Flowgraph, Havoc, Origin, Statement
from loopless.graphs import reachable
from loopless.terms import Condition, Node, Term, conjunction

Violates = Callable[[Statement | End], bool]
Follows = Callable[[Call], bool]

QUESTION_MS: Final = 10_000
"""Milliseconds for one question in one theory. A guess."""
THEORIES: Final = (Integers, Bits)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a certificate says: ``invariants`` by label, each a conjunction of SMT-LIB expressions; ``ranks``, where it
    is about termination, by label what falls lexicographically from one visit of a cutpoint to the next. ``recurrent``:
    by label, a set of states that no run leaves in which the values from outside are the ``chosen`` ones.
    """

    invariants: Mapping[str, Sequence[str]]
    ranks: Mapping[str, Sequence[str]] | None = None
    recurrent: Mapping[str, Sequence[str]] | None = None
    chosen: Mapping[tuple[str, int], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgement:
    """``accepted``: all questions were answered as they must; ``failed`` says which were not. ``undefined``: the kinds
    of undefined behaviour that the invariants do not exclude, which end runs. ``questions``: how many were asked.
    """

    accepted: bool
    failed: tuple[str, ...] = ()
    undefined: tuple[str, ...] = ()
    questions: int = 0
    seconds: float = 0.0
    theories: tuple[str, ...] = field(default_factory=tuple)


def judged(graph: Flowgraph, claim: Claim, violates: Violates, follows: Follows, *, seconds: float = 60.0) -> Judgement:
    """Whether the claim holds of the flowgraph.

    Raises:
        UsageError: the certificate cannot be read, or leaves a cycle without a cutpoint.
    """
    started = time.monotonic()
    labels = tuple(claim.invariants)
    check_cut(graph, labels)
    symbols = symbols_of(graph.variables)
    held = {label: tuple(condition_of(text, symbols) for text in texts) for label, texts in claim.invariants.items()}
    ranks = None
    if claim.ranks is not None:
        ranks = {label: tuple(term_of(text, symbols) for text in texts) for label, texts in claim.ranks.items()}
    judge = _Judge(graph, held, ranks, violates, follows, started + seconds)
    for start in (None, *labels):
        judge.region(start)
    undefined = tuple(dict.fromkeys(judge.undefined))
    failed = tuple(judge.failed)
    return Judgement(not failed, failed, undefined, judge.questions, time.monotonic() - started, tuple(judge.used))


def judged_recurrent(graph: Flowgraph, claim: Claim, *, seconds: float = 60.0) -> Judgement:
    """Whether the recurrent set of the claim is closed: from each of its states a run that takes the chosen values
    comes to another one. That it is reached is not said.

    Raises:
        UsageError: the certificate cannot be read, or leaves a cycle without a cutpoint.
    """
    started = time.monotonic()
    assert claim.recurrent is not None
    symbols = symbols_of(graph.variables)
    texts = claim.recurrent
    held = {label: tuple(condition_of(text, symbols) for text in conjuncts) for label, conjuncts in texts.items()}
    labels = (*held, *(label for label in claim.invariants if label not in held))
    check_cut(graph, labels)
    failed: list[str] = []
    used: dict[str, None] = {}
    for place, value in claim.chosen.items():
        block = graph.blocks.get(place[0])
        statement = block.statements[place[1]] if block is not None and place[1] < len(block.statements) else None
        if not isinstance(statement, Havoc) or not statement.target.type.holds(value):
            raise UsageError(f"the certificate chooses a value at {place[0]}, where the program takes none")
        if statement.origin not in (Origin.NONDET, Origin.CALL, Origin.UNINITIALISED):
            raise UsageError(f"the certificate chooses a value at {place[0]} that is not for the run to choose")
    nodes = [*nodes_of(graph), *(condition for conditions in held.values() for condition in conditions)]
    for start, conditions in held.items():
        answer = None
        for kind in THEORIES:
            theory = kind.wide(nodes, z3.Context())
            if theory is None:
                continue
            region = Region(graph, theory, start, labels, lambda _: False, lambda _: False, claim.chosen)
            world = _World(region, theory, conditions)
            stays = [
                z3.And([one.guard, *(world.at(one, condition) for condition in held[one.target])])
                for one in region.arrivals
                if one.target in held
            ]
            bad = [event.guard for event in region.events]
            left = int(1000 * (started + seconds - time.monotonic()))
            answer = world.impossible([z3.Or([z3.Not(z3.Or(stays)), *bad])], min(QUESTION_MS, left))
            if answer is not None:
                used[kind.__name__.lower()] = None
                break
        if not answer:
            failed.append(f"a run need not stay in the set from {start} on")
    return Judgement(not failed, tuple(failed), (), len(held), time.monotonic() - started, tuple(used))


class _Judge:
    def __init__(
        self,
        graph: Flowgraph,
        held: Mapping[str, tuple[Condition, ...]],
        ranks: Mapping[str, tuple[Term, ...]] | None,
        violates: Violates,
        follows: Follows,
        until: float,
    ) -> None:
        self.graph, self.held, self.ranks = graph, held, ranks
        self.violates, self.follows, self.until = violates, follows, until
        self.failed: list[str] = []
        self.undefined: list[str] = []
        self.questions = 0
        self.used: dict[str, None] = {}
        nodes: list[Node] = nodes_of(graph)
        nodes += [condition for conditions in held.values() for condition in conditions]
        nodes += [term for terms in (ranks or {}).values() for term in terms]
        self.nodes = nodes

    def region(self, start: str | None) -> None:
        """All questions about what happens from one cutpoint on."""
        worlds = [world for world in (self._world(start, theory) for theory in THEORIES) if world is not None]
        place = "the beginning" if start is None else start
        for index, arrival in enumerate(worlds[0].region.arrivals):
            for part in range(len(self.held[arrival.target])):
                if not self._shown(worlds, lambda w, i=index, p=part: w.loses(i, self.held, p)):  # type: ignore[misc]
                    self.failed.append(f"from {place} to {arrival.target}: conjunct {part + 1} need not hold there")
            again = self.ranks is not None and start is not None and self._same_cycle(start, arrival.target)
            if again and not self._shown(worlds, lambda w, i=index: w.rises(i, start, self.ranks or {})):  # type: ignore[misc]
                self.failed.append(f"from {place} to {arrival.target}: the rank need not fall")
        for index, event in enumerate(worlds[0].region.events):
            excluded = self._shown(worlds, lambda w, i=index: [w.region.events[i].guard])  # type: ignore[misc]
            if excluded:
                continue
            if event.kind in ("violation", "unfollowed"):
                at = f" at {event.loc}" if event.loc is not None else ""
                self.failed.append(f"from {place}: {event.kind}{at} is not excluded")
            else:
                self.undefined.append(event.kind)

    def _same_cycle(self, a: str, b: str) -> bool:
        """Whether a run at ``b`` may come to ``a``: the ways that may be taken again and again."""
        return a in reachable((b,), lambda label: self.graph.blocks[label].successors)

    def _world(self, start: str | None, kind: type[Integers]) -> _World | None:
        context = z3.Context()
        theory = kind.wide(self.nodes, context)
        if theory is None:
            return None
        region = Region(self.graph, theory, start, self.held, self.violates, self.follows)
        return _World(region, theory, self.held.get(start, ()) if start is not None else ())

    def _shown(self, worlds: Sequence[_World], goal: Callable[[_World], list[Any]]) -> bool:
        """Whether what ``goal`` says of a world cannot be."""
        self.questions += 1
        for world in worlds:
            left = int(1000 * (self.until - time.monotonic()))
            if left <= 0:
                return False
            found = world.impossible(goal(world), min(left, QUESTION_MS))
            if found is not None:
                self.used[type(world.theory).__name__.lower()] = None
                return found
        return False


class _World:
    """A region in one theory, where the invariant of its start holds."""

    def __init__(self, region: Region, theory: Integers, given: Sequence[Condition]) -> None:
        self.region, self.theory = region, theory
        self.given = theory.node(conjunction(given), region.first)

    def impossible(self, parts: Sequence[Any], milliseconds: int) -> bool | None:
        """Whether these cannot hold together; None where Z3 gives up."""
        solver = z3.Solver(ctx=self.theory.context)
        solver.set(timeout=milliseconds, random_seed=1)
        solver.add(self.given, *parts, *self.theory.facts)
        try:
            found = solver.check()
        except z3.Z3Exception:
            return None
        if found == z3.sat and self.theory.approximate:
            return None
        return None if found == z3.unknown else bool(found == z3.unsat)

    def loses(self, arrival: int, held: Mapping[str, tuple[Condition, ...]], part: int) -> list[Any]:
        """That a run arrives where a conjunct does not hold."""
        one = self.region.arrivals[arrival]
        return [one.guard, z3.Not(self.at(one, held[one.target][part]))]

    def rises(self, arrival: int, start: str, ranks: Mapping[str, tuple[Term, ...]]) -> list[Any]:
        """That a run arrives without that the rank has become less: lexicographically, by a component that was not
        negative.
        """
        one = self.region.arrivals[arrival]
        falls = list(self._falls(one, ranks[start], ranks[one.target]))
        falls.append(z3.BoolVal(False, self.theory.context))
        return [one.guard, z3.Not(z3.Or(falls))]

    def _falls(self, one: Arrival, before: Sequence[Term], after: Sequence[Term]) -> Iterator[Any]:
        same: list[Any] = []
        for old, new in zip(before, after, strict=True):
            a, b = self.theory.node(old, self.region.first), self.at(one, new)
            yield z3.And([*same, a >= self.theory.number(0), b < a])
            same.append(a == b)

    def at(self, one: Arrival, node: Node) -> Any:
        """A term or condition at an arrival."""
        return self.theory.node(node, one.values)

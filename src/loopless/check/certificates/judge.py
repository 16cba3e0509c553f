"""Whether a certificate proves what it says of a program: read anew, block by block, by Z3 alone.

A certificate has conditions at cutpoints. The judge compiles the program itself and asks of every way from the
beginning, and from each cutpoint, to the next: does it make the conditions there true (initiation and consecution), and
can it come to what must not happen (safety)? Nothing of how the conditions were found is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice, permutations
from typing import Final

import z3  # type: ignore[import-untyped]

from loopless import clock
from loopless import terms as t
from loopless.check.certificates.formulas import condition_of, symbols_of, term_of
from loopless.check.certificates.regions import Arrival, CutpointRegion, ElementRead, check_cut
from loopless.check.certificates.theories import Bits, Integers
from loopless.errors import UsageError
from loopless.flowgraph.model import Call, End, Flowgraph, FollowedCell, Havoc, Origin, Statement
from loopless.graphs import reachable
from loopless.limits.check import ASIDE_QUESTION_MS, MAX_ELEMENT_CHOICES, MAX_PAIR_CHOICES, QUESTION_MS
from loopless.metering import check, limit, new_context
from loopless.records import dataclass
from loopless.terms.ideals import cases_of_constants, eliminated, excluded_by_equations

Violates = Callable[[Statement | End], bool]
Follows = Callable[[Call], bool]


THEORIES: Final = (Integers, Bits)


@dataclass(frozen=True, slots=True)
class CertifiedClaim:
    """What a certificate says: ``invariants`` by label, each a conjunction of SMT-LIB expressions; ``ranks``, where it
    is about termination, by label what falls lexicographically from one visit of a cutpoint to the next. ``recurrent``:
    by label, a set of states that no run leaves in which the values from outside are the ``chosen`` ones. Or
    ``repeating``: the inputs, the last one again and again, of a run that comes to a state in which it was before.
    Or ``all_runs``: that all runs, taken one by one, come to their end.
    ``elements``: the invariants are of each element of followed objects, for all of them at once: they are used of
    those that are read, too. ``pairs``: they are of each two elements of one object, too.
    """

    invariants: Mapping[str, Sequence[str]]
    ranks: Mapping[str, Sequence[str]] | None = None
    recurrent: Mapping[str, Sequence[str]] | None = None
    chosen: Mapping[tuple[str, int], int] = field(default_factory=dict)
    repeating: Sequence[int] | None = None
    elements: bool = False
    all_runs: bool = False
    pairs: bool = False


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


def judged(
    graph: Flowgraph, claim: CertifiedClaim, violates: Violates, follows: Follows, *, seconds: float = 60.0
) -> Judgement:
    """Whether the claim holds of the flowgraph.

    Raises:
        UsageError: the certificate cannot be read, or leaves a cycle without a cutpoint.
    """
    started, begun = clock.counted(), clock.now()
    labels = tuple(claim.invariants)
    check_cut(graph, labels)
    symbols = symbols_of(graph.variables)
    held = {label: tuple(condition_of(text, symbols) for text in texts) for label, texts in claim.invariants.items()}
    ranks = None
    if claim.ranks is not None:
        ranks = {label: tuple(term_of(text, symbols) for text in texts) for label, texts in claim.ranks.items()}
    judge = _Judge(graph, held, ranks, violates, follows, started + seconds, elements=claim.elements)
    for start in (None, *labels):
        judge.region(start)
    undefined = tuple(dict.fromkeys(judge.undefined))
    failed = tuple(judge.failed)
    return Judgement(not failed, failed, undefined, judge.questions, clock.now() - begun, tuple(judge.used))


def judged_recurrent(graph: Flowgraph, claim: CertifiedClaim, *, seconds: float = 60.0) -> Judgement:
    """Whether the recurrent set of the claim is closed: from each of its states a run that takes the chosen values
    comes to another one. That it is reached is not said.

    Raises:
        UsageError: the certificate cannot be read, or leaves a cycle without a cutpoint.
    """
    started, begun = clock.counted(), clock.now()
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
    for start, conditions in held.items():
        region = CutpointRegion(graph, start, labels, lambda _: False, lambda _: False, claim.chosen)
        stays = t.disjunction(
            t.conjunction((one.guard, *(t.substitute(condition, one.values) for condition in held[one.target])))
            for one in region.arrivals
            if one.target in held
        )
        leaves = t.disjunction((~stays, *(event.guard for event in region.events)))
        left = int(1000 * (started + seconds - clock.counted()))
        if not impossible(t.conjunction((*conditions, *region.facts, leaves)), min(QUESTION_MS, left), used):
            failed.append(f"a run need not stay in the set from {start} on")
    return Judgement(not failed, tuple(failed), (), len(held), clock.now() - begun, tuple(used))


class _Judge:
    def __init__(
        self,
        graph: Flowgraph,
        held: Mapping[str, tuple[t.Condition, ...]],
        ranks: Mapping[str, tuple[t.Term, ...]] | None,
        violates: Violates,
        follows: Follows,
        until: float,
        *,
        elements: bool = False,
    ) -> None:
        self.elements = elements
        self.graph, self.held, self.ranks = graph, held, ranks
        self.violates, self.follows, self.until = violates, follows, until
        self.failed: list[str] = []
        self.undefined: list[str] = []
        self.questions = 0
        self.used: dict[str, None] = {}

    def region(self, start: str | None) -> None:
        """All questions about what happens from one cutpoint on."""
        region = CutpointRegion(self.graph, start, self.held, self.violates, self.follows)
        held = self.held[start] if start is not None else ()
        given = t.conjunction((*region.facts, *held, *(_of_elements(held, region) if self.elements else ())))
        place = "the beginning" if start is None else start
        for arrival in region.arrivals:
            for part, condition in enumerate(self.held[arrival.target]):
                behind = t.substitute(condition, arrival.values)
                if not self._shown((given, arrival.guard, ~behind)):
                    way = f"from {place} to {arrival.target}"
                    self.failed.append(f"{way}: conjunct {part + 1} is not shown to hold there")
            again = self.ranks is not None and start is not None and self._same_cycle(start, arrival.target)
            if again and not self._shown((given, arrival.guard, ~self._falls(str(start), arrival))):
                self.failed.append(f"from {place} to {arrival.target}: the rank is not shown to fall")
        for event in region.events:
            must = event.kind in ("violation", "unfollowed")
            if self._shown((given, event.guard), QUESTION_MS if must else ASIDE_QUESTION_MS):
                continue
            if must:
                at = f" at {event.loc}" if event.loc is not None else ""
                self.failed.append(f"from {place}: {event.kind}{at} is not excluded")
            else:
                self.undefined.append(event.kind)

    def _same_cycle(self, a: str, b: str) -> bool:
        """Whether a run at ``b`` may come to ``a``: the ways that may be taken again and again."""
        return a in reachable((b,), lambda label: self.graph.blocks[label].successors)

    def _falls(self, start: str, arrival: Arrival) -> t.Condition:
        """That the rank has become less: lexicographically, by a component that was not negative."""
        assert self.ranks is not None
        falls: list[t.Condition] = []
        same: list[t.Condition] = []
        for old, new in zip(self.ranks[start], self.ranks[arrival.target], strict=True):
            behind = t.substitute(new, arrival.values)
            falls.append(t.conjunction((*same, old.ge(0), behind.lt(old))))
            same.append(behind.eq(old))
        return t.disjunction(falls)

    def _shown(self, parts: Sequence[t.Condition], milliseconds: int = QUESTION_MS) -> bool:
        """Whether these cannot hold together."""
        self.questions += 1
        left = int(1000 * (self.until - clock.counted()))
        return left > 0 and impossible(t.conjunction(parts), min(left, milliseconds), self.used)


def _of_elements(held: Sequence[t.Condition], region: CutpointRegion) -> Iterator[t.Condition]:
    """What holds of elements that are read, since it holds wherever the place of a cell is.

    The place is any but fixed, and no condition of the program depends on it: runs that differ in it alone do the same
    to all else. So what is shown at the cutpoint of all these runs is true of all elements of the memory there at once;
    of an element that is read, and that nothing has written since, it is used as of any other. What the run with that
    place has in variables that only stand for other elements, or held earlier, is not known: these are any.
    """
    yield from region.of_elements
    choices: dict[int, list[ElementRead]] = {}
    for one in region.elements:
        choices.setdefault(one.object, []).append(one)
    chosen: list[tuple[ElementRead, ...]] = [()]
    for reads in choices.values():
        chosen += [(*others, one) for others in chosen for one in reads]
    for some in chosen[1 : 1 + MAX_ELEMENT_CHOICES]:
        yield from _of_chosen(held, region, some)
    if region.start is not None:
        yield region.graph.same_where_one_place()
    for number, second in region.graph.pairs.items():
        yield from _of_pairs(held, region, region.graph.cells[number], second)


def _of_chosen(
    held: Sequence[t.Condition], region: CutpointRegion, some: Sequence[ElementRead]
) -> Iterator[t.Condition]:
    """What holds with the cells of some objects where these are read; and with those of all others there, too, where
    that is one place.
    """
    cells = region.graph.cells
    values: dict[t.Var, t.Term] = {}
    guard: t.Condition = t.TRUE
    for one in some:
        cell = cells[one.object]
        index = one.offset // cell.size
        values |= {**region.any_cell(cell, index), cell.cell: one.value}
        guard = t.conjunction((guard, one.guard, (one.offset % cell.size).eq(0), region.graph.has_element(cell, index)))
    if guard is t.FALSE:
        return
    yield t.implies(guard, t.conjunction(t.substitute(condition, values) for condition in held))
    indices = {one.offset // cells[one.object].size for one in some}
    others = [number for number in cells if all(number != one.object for one in some)]
    if len(indices) == 1 and others:
        (index,) = indices
        for number in others:
            values |= region.any_cell(cells[number], index)
            guard = guard & region.graph.has_element(cells[number], index)
        yield t.implies(guard, t.conjunction(t.substitute(condition, values) for condition in held))


def _of_pairs(
    held: Sequence[t.Condition], region: CutpointRegion, first: FollowedCell, second: FollowedCell
) -> Iterator[t.Condition]:
    """What holds of each two elements of an object of which one is read: the other is read, too, or one of the two that
    are followed; and of these two in the other order.

    Both places are any but fixed, each independent of the other, so the argument for one element is that for two. What
    is assumed of the places when the run begins is the same of both, so they may stand for each other. Where both are
    one place, the runs count in which what memory holds there is one value.
    """
    told: list[tuple[t.Condition, t.Term, t.Term]] = [(t.TRUE, cell.number, cell.cell) for cell in (first, second)]
    for read in region.elements:
        if read.object == first.object:
            index = read.offset // first.size
            inside = (read.guard, (read.offset % first.size).eq(0), region.graph.has_element(first, index))
            told.append((t.conjunction(inside), index, read.value))
    for (when, at, value), (other_when, other_at, other) in islice(
        permutations(dict.fromkeys(told), 2), 1, 1 + MAX_PAIR_CHOICES
    ):
        values = region.any_cell(first, at) | region.any_cell(second, other_at)
        values |= {first.cell: value, second.cell: other}
        guard = when & other_when
        if guard is not t.FALSE:
            yield t.implies(guard, t.conjunction(t.substitute(condition, values) for condition in held))


def impossible(goal: t.Condition, milliseconds: int, used: dict[str, None]) -> bool:
    """Whether a condition has no solution, by one of the theories, whose name is added to ``used``."""
    if excluded_by_equations((goal,)):
        used["equations"] = None
        return True
    cases = cases_of_constants(goal)
    if cases != [goal]:
        until = clock.counted() + milliseconds / 1000
        left = (int(1000 * (until - clock.counted())) for _ in cases)
        return all(each > 0 and impossible(case, each, used) for case, each in zip(cases, left, strict=True))
    rest = eliminated(goal)
    if rest is not goal:
        if rest is t.FALSE or excluded_by_equations((rest,)):
            used["equations"] = None
            return True
        return _unsolvable(rest, milliseconds // 2, used) or _unsolvable(goal, milliseconds // 2, used)
    return _unsolvable(goal, milliseconds, used)


def _unsolvable(goal: t.Condition, milliseconds: int, used: dict[str, None]) -> bool:
    """Whether a theory says that there is no solution."""
    for kind in THEORIES:
        theory = kind.wide((goal,), new_context())
        if theory is None:
            continue
        values = {var: theory.fresh(var.name, var) for var in sorted(goal.variables, key=lambda var: var.key)}
        formula = theory.node(goal, values)
        # The plain solver is at its best where products are mere names, the one of tactics where they are not.
        for solver_of, share in ((z3.SimpleSolver, 3), (z3.Solver, 1)):
            solver = solver_of(ctx=theory.context)
            solver.set(random_seed=1)
            limit(solver, milliseconds // share)
            solver.add(formula, *theory.facts)
            try:
                found = check(solver)
            except z3.Z3Exception:
                continue
            if found == z3.unsat or (found == z3.sat and not theory.approximate):
                used[kind.__name__.lower()] = None
                return bool(found == z3.unsat)
    return False

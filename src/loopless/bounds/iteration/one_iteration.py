"""One iteration of a loop as a whole: what it does to each variable, and what holds whenever it is completed.

One walk over the loop's blocks, in which ways that meet become one: values that differ by constants become one value
with an interval (the interval increments of induction variables), others a symbol of which nothing is known. Loops
inside are passed over. The walk never asks the logic, so it costs about as much as reading the code; what it says is
less than what paths say (:mod:`loopless.bounds.looperman.scopes`), and holds for all of them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import field

from loopless import terms as t
from loopless.bounds.callees.effects import At, Behind, Returned, behind, told_at
from loopless.bounds.iteration.body_facts import NOTHING_BEYOND, Beyond, LoopBodyFacts, Point
from loopless.bounds.iteration.facts import NO_FACTS, Facts, SymbolIntervals, factors, split
from loopless.bounds.iteration.library_results import Results
from loopless.bounds.iteration.loaded import LoadedCells
from loopless.bounds.iteration.loop_effects import LoopEffect
from loopless.bounds.iteration.meetings import Meeting, ends_of
from loopless.bounds.iteration.walk_values import is_short, is_truth, substituted
from loopless.bounds.reads.choices import Game
from loopless.bounds.reads.moves import IterationMoves, Move
from loopless.flowgraph.def_use import defined_by
from loopless.flowgraph.memory.statement_effects import Written, changed_by, changed_in, read_type
from loopless.flowgraph.model import (
    Assume,
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
    Load,
    LoopInfo,
    Origin,
    Store,
)
from loopless.flowgraph.transfer import Domain, Source, along, through
from loopless.graphs import reverse_postorder
from loopless.limits.bounds import LARGE_CONSTANT, MAX_ALTERNATIVES, MAX_CONDITION_DEPTH, MAX_DISTANCE, MAX_WAYS
from loopless.paths.build import changed_variables
from loopless.paths.symbolic import obstacle
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.source.ir import Loc
from loopless.terms.ranges import Range, hull, near


def whole_iteration(
    graph: Flowgraph,
    loop: LoopInfo | None,
    wanted: frozenset[t.Var],
    live: Mapping[str, frozenset[t.Var]],
    inner: Mapping[str, LoopEffect],
    bounded: frozenset[str] = frozenset(),
    *,
    beyond: Beyond = NOTHING_BEYOND,
) -> LoopBodyFacts | Refused:
    """What is known of all iterations of ``loop``, for None of a call of the function; a refusal where runs go on in
    ways that are not followed.

    ``wanted``: the variables whose values matter; ``live``: by block; ``inner``: what is known of the loops inside, by
    their headers; ``bounded``: which of these surely come to an end; ``beyond``: what is known of what lies outside.
    """
    return _Walk(graph, loop, wanted, live, inner, bounded=bounded, beyond=beyond).whole()


class _Unfollowed(Exception):
    def __init__(self, refused: Refused) -> None:
        super().__init__(str(refused))
        self.refused = refused


@dataclass(slots=True)
class _Here:
    """A place inside of a block, as :class:`Point`; it changes as the walk goes on."""

    values: dict[t.Var, t.Term]
    facts: Facts


@dataclass
class _Walk(Domain[_Here]):
    graph: Flowgraph
    loop: LoopInfo | None
    followed: frozenset[t.Var]
    """The variables whose values matter."""
    live: Mapping[str, frozenset[t.Var]]
    effects: Mapping[str, LoopEffect]
    intervals: SymbolIntervals = field(default_factory=SymbolIntervals)
    origins: dict[t.Var, Meeting] = field(default_factory=dict)
    """By symbols for values that ways brought along: where these met."""
    met: dict[t.Var, Meeting] = field(default_factory=dict)
    """The same, also of values through which conditions are not followed back."""
    bounded: frozenset[str] = frozenset()
    """The headers of loops inside that have a bound."""
    beyond: Beyond = NOTHING_BEYOND
    choices: IterationMoves = field(default_factory=IterationMoves)
    cells: LoadedCells = field(default_factory=LoadedCells)
    waiting: dict[str, list[Point]] = field(default_factory=dict)
    entered: dict[str, Point] = field(default_factory=dict)
    back: list[Point] = field(default_factory=list)
    exits: list[Facts] = field(default_factory=list)
    ended: list[Facts] = field(default_factory=list)
    returned: list[Returned] = field(default_factory=list)
    granted: dict[str, None] = field(default_factory=dict)
    called: bool = False
    _label: str = ""

    @functools.cached_property
    def results(self) -> Results:
        return Results(self.graph, self.intervals)

    @functools.cached_property
    def written(self) -> Written:
        return changed_in(self.graph, self.labels)

    @functools.cached_property
    def start(self) -> str:
        return self.graph.entry if self.loop is None else self.loop.header

    @functools.cached_property
    def labels(self) -> frozenset[str]:
        return frozenset(self.graph.blocks) if self.loop is None else self.loop.blocks

    @functools.cached_property
    def inner(self) -> dict[str, LoopInfo]:
        """The loops inside, by their headers."""
        return {info.header: info for info in self.graph.loops if self.loop is None or info.blocks < self.labels}

    def whole(self) -> LoopBodyFacts | Refused:
        try:
            return self._whole()
        except _Unfollowed as unfollowed:
            return unfollowed.refused

    def _whole(self) -> LoopBodyFacts:
        loop = self.loop
        changed = changed_variables(self.graph, loop) if loop is not None else frozenset()
        self._walked(changed)
        if self.waiting:
            detail = "jumps enter a cycle at several places"
            place = self.graph.loc if loop is None else loop.loc
            raise _Unfollowed(Refused(Reason.IRREDUCIBLE, str(place or self.graph.source_name), detail))
        if loop is None:
            return self._whole_function()
        return self._whole_loop(loop, changed)

    def _walked(self, changed: frozenset[t.Var]) -> None:
        """Go through all blocks, each behind those that lead to it; what waits in the end is in a cycle."""
        loop, start, labels = self.loop, self.start, self.labels
        symbols = self.intervals.symbols
        self.choices = IterationMoves.of(self.graph, start, self.written, lambda var: var in changed or var in symbols)
        order = reverse_postorder({label: self._following(label) for label in labels}, start)
        self.waiting[start] = [Point(self._at_entry(), self.beyond.holding)]
        for label in order:
            points = self.waiting.pop(label, None)
            if points is None:
                continue
            meeting = Meeting(tuple(point.facts for point in points))
            point = self._joined(self.live[label], points, meeting)
            if label in self.inner:
                if self.inner[label].parent == (None if loop is None else start):
                    self.entered[label] = point
                point = self._passed_over(self.inner[label], point)
            block = self.graph.blocks[label]
            after = self._through(block, point)
            if after is not None and block.end is None:
                self._onward(block, after, meeting)
            elif after is not None and block.end is not None and block.end.kind == "return" and loop is None:
                self.returned.append(self._returning(block.end, after))

    def _returning(self, end: End, after: Point) -> Returned:
        """A return, with what it returns where that is a number."""
        value = end.value if end.value_object is None else None
        result = None
        if value is not None and self.graph.result is not None:
            result = self._value(value, after.values, after.facts, self.graph.result)
        return Returned(after.facts, after.values, result)

    def _whole_function(self) -> LoopBodyFacts:
        return LoopBodyFacts(
            None,
            NO_FACTS,
            {},
            (),
            self.intervals,
            frozenset(),
            self.entered,
            None,
            self.met,
            returned=tuple(self.returned),
            granted=tuple(self.granted),
        )

    def _whole_loop(self, loop: LoopInfo, changed: frozenset[t.Var]) -> LoopBodyFacts:
        exits, ended, granted = tuple(self.exits), tuple(self.ended), tuple(self.granted)
        if not self.back:  # no iteration is ever completed
            return LoopBodyFacts(
                loop,
                NO_FACTS.impossible(),
                {},
                exits,
                self.intervals,
                changed,
                self.entered,
                ended=ended,
                granted=granted,
                called=self.called,
            )
        start = self.start
        end = self._joined(self.live[start], self.back)
        kept = self.live[start] - self.beyond.constants.keys()
        after_all = {v: term for v, term in end.values.items() if term is not v and v in kept}
        tracked = changed & kept & self.followed
        steady = frozenset(var for var in tracked if end.values.get(var, var) is var)
        game = Game(self.choices, (start, 0), changed, after_all, self.met, self.intervals)
        return LoopBodyFacts(
            loop,
            end.facts,
            after_all,
            exits,
            self.intervals,
            changed,
            self.entered,
            game,
            self.met,
            ended,
            granted=granted,
            called=self.called,
            steady=steady,
        )

    def _onward(self, block: Block, after: Point, meeting: Meeting) -> None:
        """Over the edges of a block."""
        leaving = [s.callee for s in block.statements if isinstance(s, Call) and s.leaves]
        if leaving:
            self.choices.leaving[block.label] = leaving
        for edge in block.edges:
            condition, target = substituted(edge.condition, after.values), edge.target
            found = self._alternatives(after, condition)
            taken = self._one(found, after)
            if taken is None:
                continue
            stopped = obstacle(self.graph.blocks[target])
            if stopped is not None:
                raise _Unfollowed(stopped)
            goal: bool | tuple[str, int] = False
            if self.loop is not None and target == self.start:
                self.back.append(self._along(taken, edge))
                goal = True
            elif target not in self.labels:
                (self.ended if target in self.beyond.ending else self.exits).extend(point.facts for point in found)
            elif self._is_back_edge(block.label, target):
                goal = target in self.bounded
            else:
                goal = target, len(self.waiting.get(target, ()))
                self.waiting.setdefault(target, []).append(self._along(taken, edge))
            self._may_choose(block.label, meeting, Move(condition, goal))

    def _is_back_edge(self, label: str, target: str) -> bool:  # of a loop inside
        return target in self.inner and label in self.inner[target].blocks

    def _may_choose(self, label: str, meeting: Meeting, move: Move) -> None:
        """A way on from a block, for each of the ways by which it was come to."""
        for way in range(len(meeting.facts)):
            brought = {symbol: values[way] for symbol, values in meeting.values.items()}
            condition = substituted(move.condition, brought) if brought else move.condition
            if condition is not t.FALSE:
                self.choices.moves.setdefault((label, way), []).append(Move(condition, move.goal))

    def _at_entry(self) -> dict[t.Var, t.Term]:
        """A pointer parameter points to the start of what it points to."""
        if self.loop is not None:
            return dict(self.beyond.constants)
        parameters = self.graph.parameters
        return {p.var: t.ZERO for p in parameters if p.object is not None and p.var is not None and not p.shared}

    def _following(self, label: str) -> list[str]:
        return [
            target
            for target in self.graph.blocks[label].successors
            if target in self.labels
            and not (self.loop is not None and target == self.start)
            and not self._is_back_edge(label, target)
        ]

    # -- statements ---------------------------------------------------------------------------------------------------

    def _through(self, block: Block, point: Point) -> Point | None:
        blocked = self.graph.blocked.get(block.label)
        if blocked is not None:
            raise _Unfollowed(blocked)
        self._label = block.label
        for here in through(self, block, _Here(dict(point.values), point.facts)):
            return Point(here.values, here.facts)
        return None

    def wanted(self, target: t.Var) -> bool:
        return target in self.followed

    def value(self, state: _Here, term: t.Term, target: t.Var) -> t.Term:
        return self._value(term, state.values, state.facts, target.type)

    def assigned(self, state: _Here, values: Mapping[t.Var, t.Term], loc: Loc | None) -> _Here:  # noqa: ARG002
        state.values.update(values)
        return state

    def fresh(self, state: _Here, target: t.Var, origin: Origin, name: str, source: Source) -> _Here:  # noqa: ARG002
        if target in self.followed:
            symbol = state.values[target] = self.intervals.symbol(target.type)
            left = isinstance(source, Call) and target in source.changes
            self.choices.note(symbol, source, state.values, left=left)
        return state

    def keeps(self, label: str, statement: Check | Assume) -> bool:  # noqa: ARG002
        # Some values in other checks are not followed.
        return isinstance(statement, Assume) or statement.condition.variables <= self.followed

    def holds(self, state: _Here, label: str, statement: Check | Assume) -> Sequence[_Here]:
        condition = substituted(statement.condition, state.values)
        if isinstance(statement, Check):
            state.facts = self._checked(state.facts, condition)
            return (state,)
        self.choices.assumed.setdefault(label, []).append(condition)
        now = Point(state.values, state.facts)
        taken = self._one(self._alternatives(now, condition), now)
        if taken is None:
            return ()
        state.facts = taken.facts
        return (state,)

    def write(self, state: _Here, statement: Store | Fill | Copy | Expire) -> Sequence[_Here]:
        self.cells.written(changed_by(self.graph, statement), state.values)
        return (state,)

    def havoc(self, state: _Here, statement: Havoc) -> Sequence[_Here]:
        return [self._learned(statement, after) for after in super().havoc(state, statement)]

    def call(self, state: _Here, statement: Call) -> Sequence[_Here]:
        self.results.note(statement, functools.partial(self._argument, state.values, state.facts), state.facts)
        after = self._called(statement, state)
        return () if after is None else (self._learned(statement, after),)

    def _learned(self, statement: Call | Havoc, state: _Here) -> _Here:
        """The state with what is known of a result of the library."""
        state.facts, claim = self.results.learned(statement, state.values, state.facts)
        if claim is not None:
            self.choices.assumed.setdefault(self._label, []).append(claim)
        return state

    def _argument(self, values: Mapping[t.Var, t.Term], facts: Facts, argument: t.Term) -> t.Term | None:
        """An argument of a call over the values at the beginning, where these are followed."""
        return self._value(argument, values, facts, t.INTEGERS) if argument.variables <= self.followed else None

    def _called(self, call: Call, before: _Here) -> _Here | None:
        """Behind a call, of which it may be known what it does; None where it does not return."""
        found = None if self.followed.isdisjoint(defined_by(call)) else self._behind(call, before)
        written = changed_by(self.graph, call)
        if found is None:
            self.cells.written(written, before.values)
            return self.havocked(before, call)
        points = []
        for one in found:
            values = {**before.values, **{v: self._short(v, term) for v, term in one.values.items()}}
            self.cells.written(written, values)
            points.append(Point(values, one.facts))
        if not points:
            return None
        joined = self._joined(frozenset(points[0].values), points)
        return _Here(dict(joined.values), joined.facts)

    def _behind(self, call: Call, before: _Here) -> list[Behind] | None:
        calls = self.beyond.calls
        transformer = calls.of(call.callee) if calls is not None else None
        if calls is None or transformer is None:
            return None
        granted = told_at(transformer, call, self.graph, listed=calls.taken)
        if granted is None:
            return None
        at = At(self.graph, before.values, before.facts, self.intervals)
        found = behind(transformer, call, at, lambda var: self._left(call, var, before.values))
        if found is not None:
            self.called = True
            self.granted |= dict.fromkeys(granted)
        return found

    def _left(self, call: Call, var: t.Var, values: Mapping[t.Var, t.Term]) -> t.Var:
        """What stands for a variable of which nothing is known behind a call."""
        symbol = self.intervals.symbol(var.type)
        self.choices.note(symbol, call, {**values, var: symbol}, left=var in call.changes)
        return symbol

    def _short(self, var: t.Var, value: t.Term) -> t.Term:
        return value if is_short(value) else self.intervals.symbol(var.type)

    def _checked(self, facts: Facts, condition: t.Condition) -> Facts:
        """What a check says of small numbers, as of the ends of an array or of a shift."""
        for part in t.conjuncts(condition):
            if isinstance(part, t.Compare) and part.relation == "le" and abs(split(part.term)[1]) < LARGE_CONSTANT:
                facts = facts.under(part, self.intervals) or facts
        return facts

    def load(self, state: _Here, statement: Load) -> Sequence[_Here]:
        if not any(map(self.wanted, defined_by(statement))):
            return (state,)
        values, facts = state.values, state.facts
        owner = self._value(statement.address.object, values, facts, t.INTEGERS)
        known = owner.value if isinstance(owner, t.Const) and owner.value in self.graph.objects else None
        offset = self._value(statement.address.offset, values, facts, t.INTEGERS)
        hidden = known is None or self.written.hits(known)
        if known is None or hidden or statement.target_object is not None:
            cells = self.cells.of(statement, owner, offset)
            cells = {term: cell for term, cell in cells.items() if term in self.followed}
            if not all(cell in values for cell in cells.values()):
                for target in defined_by(statement):
                    self.fresh(state, target, Origin.MEMORY, "", statement)
                values.update({cell: values[target] for target, cell in cells.items()})
            found = {target: t.wrap(values[cell], target.type) for target, cell in cells.items()}
            values.update({target: self.intervals.unwrapped(value, facts) for target, value in found.items()})
            return (state,)
        values[statement.target] = t.read(self.graph.objects[known].name, offset, read_type(statement))
        return (state,)

    def _value(self, value: t.Term, values: Mapping[t.Var, t.Term], facts: Facts, type: t.IntType) -> t.Term:
        try:
            found = self.intervals.unwrapped(t.substitute(value, values), facts)
        except t.TermTooLarge:
            return self.intervals.symbol(type)
        return found if is_short(found) else self.intervals.symbol(type)

    def _along(self, point: Point, edge: Edge) -> Point:
        if not edge.assigns:
            return point
        here = along(self, edge, _Here(dict(point.values), point.facts))
        return Point(here.values, here.facts)

    def _passed_over(self, info: LoopInfo, point: Point) -> Point:
        """At the last visit of the header of a loop inside."""
        effect = self.effects.get(info.header, LoopEffect())
        values, live = dict(point.values), self.live[info.header]
        times = effect.times(values, point.facts, self.intervals)
        for var in sorted(changed_variables(self.graph, info) & self.followed):
            moved = effect.moved(var, values.get(var, var), times, self.intervals) if var in live else None
            moved = None if moved is None else self.intervals.unwrapped(moved, point.facts)
            values[var] = self.intervals.symbol(var.type) if moved is None else moved
        self.cells.written(changed_in(self.graph, info.blocks), values)
        facts = effect.behind(point.values, values, point.facts, times, self.intervals)
        return Point(values, facts)

    # -- conditions ---------------------------------------------------------------------------------------------------

    def _alternatives(self, point: Point, condition: t.Condition, depth: int = 0) -> list[Point]:
        """The point where ``condition`` holds: the ways in which that may be, none where it cannot."""
        found = [point]
        for part in t.conjuncts(condition):
            found = [after for before in found for after in self._where(before, part, depth)]
            if len(found) > MAX_ALTERNATIVES:
                found = [Point(point.values, Facts.met([after.facts for after in found], self.intervals))]
        return found

    def _where(self, point: Point, part: t.Condition, depth: int) -> list[Point]:
        if part is t.FALSE:
            return []
        if isinstance(part, t.Or):
            if depth >= MAX_CONDITION_DEPTH or len(part.args) > MAX_ALTERNATIVES:
                return [point]
            return [after for arg in t.disjuncts(part) for after in self._alternatives(point, arg, depth + 1)]
        if not isinstance(part, t.Compare):
            return [point]
        symbol = next((v for v in sorted(part.variables) if v in self.origins), None)
        if symbol is not None and depth < MAX_CONDITION_DEPTH:
            ways = []
            meeting = self.origins[symbol]
            for way, (facts, value) in enumerate(zip(meeting.facts, meeting.values[symbol], strict=True)):
                both = point.facts.joined_with(facts, self.intervals)
                claim = t.FALSE if both is None else substituted(part, {symbol: value})
                if both is not None and claim is not t.FALSE:
                    ways += self._alternatives(Point(meeting.on(way, point.values), both), claim, depth + 1)
            return ways
        plain = self.intervals.unwrapped(part, point.facts)
        if not isinstance(plain, t.Compare):
            return [] if plain is t.FALSE else [point]
        there = point.facts.under(plain, self.intervals)
        for factor in factors(part):
            there = None if there is None else there.under(factor, self.intervals)
        return [] if there is None else [Point(point.values, there)]

    def _one(self, found: Sequence[Point], before: Point) -> Point | None:
        """One point for alternatives of it; None for none."""
        if len(found) <= 1:
            return next(iter(found), None)
        return Point(before.values, Facts.met([point.facts for point in found], self.intervals))

    # -- meeting ------------------------------------------------------------------------------------------------------

    def _joined(self, live: frozenset[t.Var], points: Sequence[Point], meeting: Meeting | None = None) -> Point:
        values = self.cells.common([point.values for point in points])
        if len(points) == 1:
            values |= {v: term for v, term in points[0].values.items() if v in live}
            return Point(values, points[0].facts)
        changed = {var for point in points for var in point.values if var in live}
        meeting = meeting or Meeting(tuple(point.facts for point in points))
        for var in sorted(changed):
            terms = [point.values.get(var, var) for point in points]
            values[var] = terms[0] if all(term is terms[0] for term in terms) else self._merged(var, terms, meeting)
        facts = Facts.met([point.facts for point in points], self.intervals)
        for claim in ends_of(meeting, self.intervals) if meeting.others else ():
            facts = facts.at_most(claim, self.intervals) or facts
        return Point(values, facts)

    def _merged(self, var: t.Var, terms: Sequence[t.Term], meeting: Meeting) -> t.Term:
        """One value for several: the same but for a symbol in an interval, where they differ by what is known."""
        plain = [
            value.arg if isinstance(value, t.Wrap) and value.type.width == var.type.width else value for value in terms
        ]
        core = self._core(plain[0])
        rests = [term - core for term in plain]
        interval: Range = (None, None)
        if all(rest.variables <= self.intervals.bounded for rest in rests):
            interval = near(hull(map(self.intervals.range_of, rests)), MAX_DISTANCE)
        if interval == (None, None):
            # Nothing is known of the value but where it came from.
            symbol = self.intervals.symbol(var.type)
            if all(is_truth(value) for value in terms):
                self.intervals.narrow(symbol, (0, 1))
                self._remember(symbol, terms, meeting)
            elif len(terms) <= MAX_ALTERNATIVES:
                meeting.others[symbol] = tuple(terms)
                self.met[symbol] = meeting
                low, high = near(hull(map(self.intervals.range_of, terms)), MAX_DISTANCE)
                low, high = var.type.min if low is None else low, var.type.max if high is None else high
                if (low, high) != (var.type.min, var.type.max):
                    self.intervals.narrow(symbol, (low, high))
            return symbol
        symbol = self.intervals.symbol(t.INTEGERS, interval)
        self._remember(symbol, rests, meeting)
        found = core + symbol
        return t.wrap(found, var.type) if any(isinstance(value, t.Wrap) for value in terms) else found

    def _remember(self, symbol: t.Var, values: Sequence[t.Term], meeting: Meeting) -> None:
        if len(values) <= MAX_WAYS:
            meeting.values[symbol] = tuple(values)
            self.origins[symbol] = self.met[symbol] = meeting

    def _core(self, term: t.Term) -> t.Term:
        """What is left of a value without constants and symbols in intervals."""
        bounded = self.intervals.bounded
        items = t.polynomial(term).items()
        return t.from_polynomial(
            {m: c for m, c in items if m and not (len(m) == 1 and m[0][1] == 1 and m[0][0] in bounded)}
        )

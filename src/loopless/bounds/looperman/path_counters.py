"""How often: upper bounds on visits and iterations by measures that the iterations decrease.

A measure is a term r with r ≥ 1 wherever what is counted happens, taken from the conditions on the way there. Let every
iteration that comes past decrease it by at least d ≥ 1, and the others add g₁, g₂, … at most. Then it happens no more
than ceil((r₀ + Σ gᵢ·nᵢ) / d) times, where nᵢ is how often the i-th of the others is done. This is the bound that
Looperman's computeBounds draws from an inequality over path counters (section 3.3), without the closed forms: each
iteration is looked at by itself, with its condition known, so that what wraps around or is chosen by inputs needs no
form.

Iterations that set the measure anew, to m, start another phase: each adds ceil(m / d) (Sinn, Zuleger, Veith, CAV 2014).
Iterations of inner loops count like the others, so that what an inner loop uses up for good is not counted once for
every iteration of the outer one, and what an inner loop gives back is counted (Looperman, section 7, the third case).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from loopless import terms as t
from loopless.bounds.induction.loop_counts import LoopCounts, What
from loopless.bounds.induction.measures import Becomes, Grows, at_least_one, entails, straight
from loopless.bounds.induction.residues import visits_by_residue
from loopless.bounds.looperman.nested import lifted
from loopless.bounds.looperman.progressions import by_progression
from loopless.bounds.looperman.scopes import Iteration, Scope, Scopes
from loopless.bounds.model import Bounds, TermBound, both, by_types, ceiling, kept, plus, positive, size
from loopless.flowgraph.memory.statement_effects import changed_in
from loopless.limits.bounds import MAX_COUNTER_MEASURES
from loopless.paths.build import changed_variables
from loopless.records import dataclass

ITERATIONS = "iterations"
"""What is counted: the complete iterations of a loop."""


@dataclass(frozen=True, slots=True)
class CountedTarget:
    """What is counted in a loop: ``conditions`` under which it happens in an iteration, ``iterations`` that may come
    past it.
    """

    conditions: tuple[t.Condition, ...]
    iterations: frozenset[int]


class PathCounters(LoopCounts):
    """Bounds for the loops of one function. Bounds are over the values at the entry of a loop, the base."""

    def __init__(self, scopes: Scopes, given: Mapping[str, Bounds] | None = None, *, in_call: bool = False) -> None:
        """``given``: bounds on the iterations of one entry, by the loop's header, that are known from elsewhere.
        ``in_call``: bounds need hold only for entries in calls of the function, so that constants at the entry are
        known.
        """
        super().__init__(scopes, in_call=in_call)
        self.given = dict(given or {})
        self._known: dict[tuple[str, str, What], Bounds] = {}
        self._working: set[tuple[str, str, What]] = set()
        self._iteration_measures: dict[str, list[t.Term]] = {}

    # -- asking -------------------------------------------------------------------------------------------------------

    def count(self, base: str, header: str, what: What) -> Bounds:
        """Bounds on how often ``what`` happens in the loop ``header`` during one entry of the loop ``base`` around it
        (or itself): a block of the loop, some of its iterations by number, or :data:`ITERATIONS`. None is no bound.
        """
        key = (base, header, what)
        if key in self._known:
            return self._known[key]
        if key in self._working:
            return ()
        self._working.add(key)
        try:
            found = kept(self.known_entry(base, bound) for bound in self._found(base, header, what))
        except t.TermTooLarge:
            found = ()
        self._working.discard(key)
        # What was found while something around it was being worked out may lack what that would have given.
        if found or not self._working:
            self._known[key] = found
        return found

    def known_entry(self, base: str, bound: TermBound) -> TermBound:
        """The bound with what is known of the values at the entry of ``base``."""
        constants = self.constants.get(base)
        return bound.at(constants) if constants else bound

    # -- finding ------------------------------------------------------------------------------------------------------

    def _found(self, base: str, header: str, what: What) -> Iterator[TermBound]:
        if base == header and what == ITERATIONS:
            yield from self.given.get(header, ())
        scope = self.scope(header)
        if scope is None:
            return
        target = self._target(scope, what)
        if target is None:
            return
        if not target.conditions:
            yield TermBound(t.ZERO)
            return
        if what == header:
            yield from self._visits_of_header(base, header)
            return
        if base != header and isinstance(what, str) and what != ITERATIONS:
            # Each entry of the loop may end in an iteration that is not complete, and uses up nothing.
            yield from self._in_iterations_and_at_the_end(base, header, target)
            yield from lifted(self, base, header, what)
            return
        measures = self._measures(base, scope, target)
        direct = [bound for measure in measures for bound in self._ranked(base, scope, target, measure)]
        if base == header and what == ITERATIONS:
            direct += [bound for measure in measures for bound in self._progressing(scope, target, measure)]
        yield from direct
        if base == header and isinstance(what, str) and what != ITERATIONS:
            yield from visits_by_residue(self, scope, what)
        if base != header:
            yield from lifted(self, base, header, what)
        elif all(bound.when is not t.TRUE or by_types(bound.term) for bound in direct):
            yield from self._by_parts(header, what, target)

    def _visits_of_header(self, base: str, header: str) -> Iterator[TermBound]:
        """Iterations and entries."""
        yield from self._with_entries(base, header, self.count(base, header, ITERATIONS))

    def _in_iterations_and_at_the_end(self, base: str, header: str, target: CountedTarget) -> Iterator[TermBound]:
        """The iterations that may come past, and entries."""
        yield from self._with_entries(base, header, self.count(base, header, tuple(sorted(target.iterations))))

    def _with_entries(self, base: str, header: str, iterations: Bounds) -> Iterator[TermBound]:
        around = self.scopes.parent(header)
        entries = (TermBound(t.ONE),) if base == header or around is None else self.count(base, around, header)
        for bound in iterations:
            yield from (TermBound(plus(bound.term, entry.term), both(bound.when, entry.when)) for entry in entries)

    def _by_parts(self, header: str, what: What, target: CountedTarget) -> Iterator[TermBound]:
        """Each iteration counted for itself, and all iterations for what happens in some of them."""
        if not isinstance(what, tuple) and what != ITERATIONS:
            whole = self.count(header, header, ITERATIONS)
            yield from (TermBound(plus(bound.term, t.ONE), bound.when) for bound in whole)
        exactly = isinstance(what, tuple) or what == ITERATIONS
        if not exactly or len(target.iterations) > 1:
            parts = [self.count(header, header, (number,)) for number in sorted(target.iterations)]
            if all(parts):
                last = t.ZERO if exactly else t.ONE
                yield TermBound(plus(last, *(part[0].term for part in parts)), t.conjunction(p[0].when for p in parts))

    def _target(self, scope: Scope, what: What) -> CountedTarget | None:
        if what == ITERATIONS:
            return CountedTarget(
                tuple(iteration.condition for iteration in scope.iterations), frozenset(range(len(scope.iterations)))
            )
        if isinstance(what, tuple):
            return CountedTarget(tuple(scope.iterations[number].condition for number in what), frozenset(what))
        if what == scope.header:
            return CountedTarget((t.TRUE,), frozenset(range(len(scope.iterations))))
        if self.scopes.home(what) != scope.header and self.scopes.parent(what) != scope.header:
            raise ValueError(f"{what} does not lie directly in {scope.header}")
        if what not in scope.visits:
            return CountedTarget((), frozenset())
        past = frozenset(n for n, iteration in enumerate(scope.iterations) if what in iteration.visited)
        return CountedTarget(tuple(state.holds for state in scope.visits[what]), past)

    def measures(self, scope: Scope) -> list[t.Term]:
        """Terms that are at least 1 wherever an iteration of the loop is complete, the short ones first."""
        found = self._iteration_measures.get(scope.header)
        if found is None:
            target = self._target(scope, ITERATIONS)
            assert target is not None
            found = [term for term, two_sided in self._measures(scope.header, scope, target) if not two_sided]
            self._iteration_measures[scope.header] = found
        return found

    # -- measures -----------------------------------------------------------------------------------------------------

    def _measures(self, base: str, scope: Scope, target: CountedTarget) -> list[tuple[t.Term, bool]]:
        """Terms that may be measures, the short ones first; with True those that must be known not to be negative."""
        found: dict[tuple[t.Term, bool], None] = {}
        havocs = scope.havocs()
        for condition in target.conditions:
            for node in t.walk(condition):
                if not isinstance(node, t.Compare):
                    continue
                for term, two_sided in _from(node):
                    # What inner loops have made of variables may be no more than the values before them.
                    plain = term if term.variables <= self.variables else straight(term, havocs)
                    if plain is not None and plain.variables <= self.variables:
                        found[plain, two_sided] = None
        graph = self.scopes.graph
        names = changed_in(graph, self.scopes.by_header[base].blocks).names(graph)
        usable = [(value, q) for value, q in found if all(_means_something(n, names) for n in t.walk(value))]
        usable.sort(key=lambda pair: (pair[1], size(pair[0]), pair[0].key))
        return usable[:MAX_COUNTER_MEASURES]

    def _ranked(
        self, base: str, scope: Scope, target: CountedTarget, candidate: tuple[t.Term, bool]
    ) -> Iterator[TermBound]:
        """The bound that a measure gives, if it is one."""
        measure, two_sided = candidate
        kept_up: t.Condition = t.TRUE
        if two_sided:
            if base != scope.header or not self._stays(base, measure):
                return
            kept_up = measure.ge(0)
        if not all(entails(both(condition, kept_up), at_least_one(measure)) for condition in target.conditions):
            return
        found = _Sum([], [], [])
        for header in self.scopes.inside(base):
            inner = self.scope(header)
            if inner is None:
                if not measure.variables.isdisjoint(self._changed_by(header)):
                    return
                continue
            for number, iteration in enumerate(inner.iterations):
                counted = header == scope.header and number in target.iterations
                # Inside, the measure may have been lowered on the way there.
                known = kept_up if header == base else t.TRUE
                if not self._add(base, found, measure, iteration, known, (header, number), counted=counted):
                    return
        before = self._on_the_way(base, scope.header, measure)
        if before is None:
            return
        if any(place[0] != base for place, _ in found.resets):
            # What was used up in the iteration around by then would be used up once more.
            return
        bound = self._total(base, measure, found, before)
        if bound is not None:
            yield TermBound(bound.term, both(bound.when, kept_up))

    def _progressing(self, scope: Scope, target: CountedTarget, candidate: tuple[t.Term, bool]) -> Iterator[TermBound]:
        """The bound that the closed form of a measure gives."""
        measure, two_sided = candidate
        if not two_sided and all(entails(condition, at_least_one(measure)) for condition in target.conditions):
            yield from by_progression(measure, scope.iterations, self.variables)

    def _changed_by(self, header: str) -> frozenset[t.Var]:
        return changed_variables(self.scopes.graph, self.scopes.by_header[header])

    def _stays(self, base: str, measure: t.Term) -> bool:
        """Whether the measure never gets below 0 from above it."""
        for header in self.scopes.inside(base):
            scope = self.scope(header)
            if scope is None:
                return False
            for iteration in scope.iterations:
                after = t.substitute(measure, iteration.values)
                if after is measure:
                    continue
                known = both(iteration.condition, measure.ge(0))
                if not entails(known, after.ge(0)):
                    return False
        return True

    def _add(
        self,
        base: str,
        found: _Sum,
        measure: t.Term,
        iteration: Iteration,
        kept_up: t.Condition,
        place: tuple[str, int],
        *,
        counted: bool,
    ) -> bool:
        """What one iteration does to the measure; whether that is any good."""
        effect = self.effect(base, measure, iteration, kept_up)
        if effect is None:
            return False
        if counted:
            if not isinstance(effect, Grows):
                return False
            if not isinstance(effect.by, t.Const):
                if not entails(both(iteration.condition, kept_up), at_least_one(-effect.by), solver=True):
                    return False
                found.decrease.append(t.maximum(t.ONE, -effect.by))
            elif effect.by.value >= 0:
                return False
            else:
                found.decrease.append(-effect.by)
        elif isinstance(effect, Becomes):
            found.resets.append((place, effect.value))
        elif not (isinstance(effect.by, t.Const) and effect.by.value <= 0):
            found.growing.append((place, positive(effect.by)))
        return True

    def _on_the_way(self, base: str, header: str, measure: t.Term) -> t.Term | None:
        """How much the measure grows at most from the base's header through incomplete iterations to that of
        ``header``.
        """
        total: list[t.Term] = []
        current = header
        while current != base:
            around = self.scopes.by_header[current].parent
            scope = self.scope(around) if around is not None else None
            if scope is None or around is None:
                return None
            effects = [self.effect(base, measure, state) for state in scope.visits.get(current, ())]
            known = [effect.by for effect in effects if isinstance(effect, Grows)]
            if len(known) < len(effects):
                return None
            total.append(t.maximum(t.ZERO, *known))
            current = around
        return t.add(*total)

    def _total(self, base: str, measure: t.Term, found: _Sum, before: t.Term) -> TermBound | None:
        divisor = t.minimum(*found.decrease) if found.decrease else t.ONE
        when: list[t.Condition] = []
        grown = self.grown(base, found.growing)
        if grown is None:
            return None
        growths = [before, grown.term]
        when.append(grown.when)
        if not found.resets:
            total = positive(ceiling(plus(measure, *growths), divisor))
            return TermBound(total, t.conjunction(when))
        parts = [positive(ceiling(measure, divisor)), *growths]
        for (header, number), value in found.resets:
            times = self.count(base, header, (number,))
            if not times:
                return None
            # The path to what is counted raises the measure in each phase.
            parts.append(times[0].term * plus(positive(ceiling(value, divisor)), before))
            when.append(times[0].when)
        return TermBound(plus(*parts), t.conjunction(when))


@dataclass(slots=True)
class _Sum:
    """What the iterations do to a measure: by how much those that count decrease it, by how much others raise it, to
    what they set it. ``decrease`` is the least where there are several.
    """

    decrease: list[t.Term]
    growing: list[tuple[tuple[str, int], t.Term]]
    resets: list[tuple[tuple[str, int], t.Term]]


def _means_something(node: t.Node, written: Collection[str]) -> bool:
    """Whether a part of a measure has a value at the entry of the loop, and the same one all along if it is memory."""
    if isinstance(node, t.Read):
        return node.array not in written
    if isinstance(node, t.Aggregate):
        return False
    partial = isinstance(node, t.Op) and node.op in t.PARTIAL
    return not partial or (isinstance(node, t.Op) and isinstance(node.args[1], t.Const))


def _from(comparison: t.Compare) -> Iterator[tuple[t.Term, bool]]:
    """The measures that a comparison suggests."""
    term = comparison.term
    match comparison.relation:
        case "le":
            yield 1 - term, False
        case "eq":
            yield 1 + term, False
            yield 1 - term, False
        case _:
            yield term, True
            yield -term, True

"""Loops that read data: exact, in terms of what they read.

What does not depend on data (:mod:`loopless.summary.data.oblivious`) says how many iterations N there are at most, and
what lies where in each; an exit that depends on data is taken in the first iteration t < N in which its condition
holds, of the values that :mod:`loopless.summary.data.sequences` has for iteration t. Undefined behaviour is such an
exit, too; where it is a sum's that moves one way, the last value tells of it.

Proteus (4.2) and Looperman bound such loops by path counters; here the counters are counts over what is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from loopless import terms as t
from loopless.limits.summary import AGGREGATION_OPERATIONS, AGGREGATION_SHORTENING_OPERATIONS, MAX_SHORTENED_COMPARISONS
from loopless.logic import BudgetExceeded, NotPresburger, budget, expanded
from loopless.paths.model import Exit, LoopPaths, Path
from loopless.portfolio import LIMITS, Method, NoAnswer, Tried, answered
from loopless.summary.case_builder import Cases, TakenIterations
from loopless.summary.data.inside import facts_of, inside_objects, moves_through_objects, read_inside
from loopless.summary.data.measure import most_iterations
from loopless.summary.data.oblivious import Oblivious, oblivious_part, reads_data
from loopless.summary.data.possible import possible
from loopless.summary.data.sequences import Sequences
from loopless.summary.methods import earliest_exit
from loopless.summary.model import Case, Interleaving, LoopSummary, PathRun, Residual, Undefined, first_to_fail
from loopless.summary.rewrite.abstraction import NamedTerms
from loopless.summary.transitions.system import place_of
from loopless.terms.knowing import Known, without_implied

_T: Final = t.position("|t")


class _Loop:
    """A loop that reads data, and the cases as they are found."""

    def __init__(self, paths: LoopPaths, *, affine: bool = False) -> None:
        """``affine``: what is not affine in the number of iterations counts as data."""
        self.paths = paths = inside_objects(paths)
        self.inside_objects = read_inside(paths.iterative)
        self.part: Oblivious = oblivious_part(paths, self.inside_objects, affine=affine)
        self.sequences = Sequences(paths, self.part)
        self.cases = Cases(place_of(paths))
        known = Known([self.part.common])
        self.inside = {path.id: without_implied(known.decide(path.condition)) for path in paths.exits}
        """What each exit asks for while the oblivious part goes on."""
        for path in paths.exits:
            condition = self.inside[path.id]
            if condition is not t.FALSE and not possible(self.part.common & condition):
                self.inside[path.id] = t.FALSE
        self.summed_up = self._summed_up()

    def run(self) -> Cases:
        """All cases and regions."""
        self._at_once()
        skeleton = self._skeleton()
        for case in skeleton.cases:
            self._within(case)
        for part in skeleton.residual:
            self.cases.residual.append(Residual(self.part.kept & part.when, part.why))
        if skeleton.diverges is not t.FALSE:
            self._unbounded(self.part.kept & skeleton.diverges)
        return self.cases

    def _at_once(self) -> None:
        """Entry values that do not satisfy what iterations leave true."""
        when = ~self.part.kept
        if when is t.FALSE:
            return
        for path in self.paths.exits:
            if possible(when & path.condition):
                self._leave(when & path.condition, path, t.ZERO, TakenIterations(t.ZERO, {}, ()))

    def _skeleton(self) -> LoopSummary:
        methods, skeleton = earliest_exit.OF_ONE_PATH, self.part.skeleton
        tried = answered(methods, skeleton, self.cases.place, complete=lambda found: found.complete)
        if tried.answer is None:
            raise NoAnswer(next(iter(tried.refused), None))
        return tried.answer

    def _unbounded(self, when: t.Condition) -> None:
        """Nothing but what is read bounds the iterations: the end of the object that is read, or a measure that is not
        oblivious; else they may have no end.
        """
        within = self._exits_within()
        through = moves_through_objects(self.paths.iterative, self.part.update)
        most = t.EVERYWHERE if through else most_iterations(self.paths, self.inside_objects)
        if within and most is not None:
            times = self._first(within, most)
            self._leave_by(within, self._defined(when, times), times, lambda path: self.inside[path.id])
            return
        every = [path for path in self.paths.exits if self.inside[path.id] is not t.FALSE]
        some = self._shorter(t.disjunction(self.inside[path.id] for path in every))
        times = t.earliest(_T, self._there(some, _T))
        self._leave_by(every, when & times.ge(0), times, lambda path: self.inside[path.id])
        self.cases.diverges.append(when & times.lt(0))

    def _exits_within(self) -> list[Path]:
        """Exits that may be taken while the oblivious part goes on, without those of sums that leave their type."""
        return [p for p in self.paths.exits if self.inside[p.id] is not t.FALSE and p.id not in self.summed_up]

    def _within(self, skeleton: Case) -> None:
        """Entry values for which the oblivious part allows ``skeleton.iterations`` iterations."""
        most = skeleton.iterations
        entered = self.part.kept & skeleton.when
        if not possible(entered):
            return
        within = self._exits_within()
        beyond = [path for path in self.paths.exits if self._beyond(path)]
        limit = most
        if within and all(map(self._regardless, within)):
            # Whether they are taken does not depend on the oblivious part, so neither behind its last iteration.
            limit, beyond = most + 1, [path for path in beyond if path not in within]
        times = self._first(within, limit)
        if within:
            when = self._defined(entered & times.lt(limit), times)
            self._leave_by(within, when, times, lambda path: self.inside[path.id])
        if beyond:
            when = self._defined(entered & (times.eq(limit) if within else t.TRUE), most)
            self._leave_by(beyond, when, most, lambda path: path.condition)

    def _regardless(self, path: Path) -> bool:
        """Whether the exit's condition is the same whether or not the oblivious part goes on."""
        return without_implied(path.condition) is self.inside[path.id]

    def _first(self, exits: Sequence[Path], most: t.Term) -> t.Term:
        """The first iteration before which one of the ``exits`` is taken; ``most`` if there is none."""
        some = self._shorter(t.disjunction(self.inside[path.id] for path in exits))
        return most if some is t.FALSE else t.first(_T, most, self._there(some, _T))

    @staticmethod
    def _shorter(condition: t.Condition) -> t.Condition:
        """The same in fewer words, as far as that is cheap."""
        if not isinstance(condition, t.Or) or sum(1 for _ in t.comparisons(condition)) > MAX_SHORTENED_COMPARISONS:
            return condition
        names = NamedTerms()
        named = names.named(condition)
        try:
            with budget(AGGREGATION_SHORTENING_OPERATIONS):
                return names.condition(expanded(named, names.bounds()))
        except (NotPresburger, BudgetExceeded):
            return condition

    def _leave_by(
        self, exits: Sequence[Path], when: t.Condition, times: t.Term, condition: Callable[[Path], t.Condition]
    ) -> None:
        """Where ``when`` holds one of the ``exits`` is taken after ``times`` iterations."""
        if when is t.FALSE:
            return
        taken = self._taken(times)
        for path in exits:
            alone = t.TRUE if len(exits) == 1 else self._there(condition(path), times)
            self._leave(when & alone, path, times, taken)

    def _beyond(self, path: Path) -> bool:
        """Whether the exit may be taken where the oblivious part does not go on."""
        over = self.part.kept & ~self.part.common
        return possible(over & path.condition & facts_of(path))

    def _there(self, condition: t.Condition, time: t.Term) -> t.Condition:
        """``condition`` before iteration ``time``."""
        return t.substitute(condition, self.sequences.at(time, condition.variables))

    # -- undefined behaviour on the way --

    def _defined(self, when: t.Condition, times: t.Term) -> t.Condition:
        """Those entry values that satisfy ``when`` for which no sum leaves its type before iteration ``times``; where
        one does is a region of its own.
        """
        by_sum: dict[t.Var, list[Exit]] = {}
        for path in self.paths.exits:
            if path.id in self.summed_up and path.exit is not None:
                by_sum.setdefault(self.summed_up[path.id], []).append(path.exit)
        for var, exits in by_sum.items():
            value = self.sequences.at(times, frozenset((var,)))[var]
            outside = ~t.between(var.type.min, value, var.type.max)
            region = when & outside
            if region is not t.FALSE:
                kind, line = first_to_fail(exits)
                self.cases.undefined.append(Undefined(region, kind, line))
            when = when & ~outside
        return when

    def _summed_up(self) -> dict[str, t.Var]:
        """Exits to undefined behaviour that are taken, some time, just where a sum that only grows, or only falls, ends
        outside of its type; and the sum.
        """
        found: dict[str, t.Var] = {}
        checked: dict[t.Var, bool] = {}
        for path in self.paths.exits:
            if not _is_undefined(path) or self.inside[path.id] is t.FALSE:
                continue
            condition = self.inside[path.id]
            for var in sorted(condition.variables & self.sequences.made.keys()):
                added = self.sequences.monotone_summand(var)
                if added is None:
                    continue
                if var not in checked:
                    checked[var] = self._always_fits(var)
                fits = t.between(var.type.min, var + added, var.type.max)
                if checked[var] and not possible(self.part.common & condition & fits):
                    found[path.id] = var
                    break
        return found

    def _always_fits(self, var: t.Var) -> bool:
        """Whether what a completed iteration makes of ``var`` fits its type by the path's condition."""
        return not any(
            possible(path.condition & ~t.between(var.type.min, path.update[var], var.type.max))
            for path in self.paths.iterative
            if var in path.update
        )

    # -- cases --------------------------------------------------------------------------------------------------------

    def _taken(self, times: t.Term) -> TakenIterations:
        iterative = self.paths.iterative
        if len(iterative) == 1:
            only = iterative[0].id
            return TakenIterations(times, {only: times}, (PathRun(only, times),) if times is not t.ZERO else ())
        conditions = self.sequences.choices.conditions([[path] for path in iterative])
        counts = {
            path.id: t.count(_T, times, self._there(condition, _T))
            for path, condition in zip(iterative, conditions, strict=True)
        }
        return TakenIterations(times, counts, (Interleaving(tuple(counts), times),))

    def _leave(self, when: t.Condition, path: Path, times: t.Term, taken: TakenIterations) -> None:
        if when is t.FALSE:
            return
        needed = set(path.outputs)
        for term in (*path.update.values(), *([path.result] if path.result is not None else [])):
            needed |= term.variables
        self.cases.leave(when, path, self.sequences.at(times, frozenset(needed)), taken)


def _is_undefined(path: Path) -> bool:
    return path.exit is not None and path.exit.kind == "undefined"


def _run(paths: LoopPaths, _: Tried[LoopSummary]) -> LoopSummary:
    found: Cases | None = None
    try:
        found = _Loop(paths).run()
        if not found.residual:
            return found.summary(paths)
        other = _Loop(paths, affine=True).run()
    except (NoAnswer, *LIMITS):
        if found is not None:
            return found.summary(paths)  # a limit takes nothing from it
        return _Loop(paths, affine=True).run().summary(paths)
    return (found if other.residual else other).summary(paths)


def _applies(paths: LoopPaths, tried: Tried[LoopSummary]) -> bool:
    if not paths.iterative or (tried.answer is not None and tried.answer.complete):
        return False
    changing = frozenset(var for path in paths.iterative for var in path.update)
    nodes = [node for path in paths.all for node in (path.condition, *path.update.values())]
    reads = (part for node in nodes for part in t.walk_inside(node) if isinstance(part, t.Read))
    if any(part.type.width == 1 and not part.array.endswith(t.STREAM) for part in reads):
        return False  # what is read may be no truth value, where the run ends
    return any(reads_data(node, changing) for node in nodes)


METHOD = Method(
    "aggregation",
    "ours; counters of paths after Looperman (Čadek, Strejček, Trtík 2016) and APC (Strejček, Trtík, ISSTA 2012)",
    _run,
    _applies,
    AGGREGATION_OPERATIONS,
)
"""For loops whose paths read memory at addresses that change."""

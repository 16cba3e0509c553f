"""Summaries in the words that people read: conditions without what goes without saying, in the order of the source.

Nothing changes its meaning: every condition holds for the same entry values (within the types' ranges, and where the
context holds), every term has the same value where its case applies. What would cost too much stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import assert_never

from loopless import terms as t
from loopless.limits.summary import (
    LARGE_SHOWN_CONSTANT,
    MAX_PLAIN_REGIONS,
    MAX_READABLE_QUESTIONS,
    READABLE_CONDITION_OPERATIONS,
    READABLE_NONLINEAR_OPERATIONS,
    READABLE_OPERATIONS,
    READABLE_PATH_OPERATIONS,
    REMEMBERED_ENDS,
)
from loopless.logic import (
    BudgetExceeded,
    NotPresburger,
    Questions,
    Region,
    budget,
    is_quasi_affine,
    pruned,
    shortest_where,
    simplify,
    without_implied,
    without_nonlinear,
)
from loopless.paths.model import LoopPaths, Path
from loopless.records import dataclass
from loopless.summary.model import Case, Cycle, Interleaving, LoopSummary, PathRun, Residual, Step, Undefined
from loopless.summary.presentation.contents import joined_sums
from loopless.summary.presentation.nonlinear import decided, plainer


def readable(
    summary: LoopSummary,
    given: t.Condition = t.TRUE,
    operations: int = READABLE_OPERATIONS,
    divided: t.Condition = t.TRUE,
) -> LoopSummary:
    """The same summary to be read where ``given`` and ``divided`` hold: cases without an iteration first, then short
    ones. ``divided``: facts with quotients, which make some conditions shorter, and others longer.
    """
    with budget(operations) as granted:
        questions = MAX_READABLE_QUESTIONS * granted // READABLE_OPERATIONS
        writer = _Writer(Guards.of(summary.paths), given, given & divided, questions)
        cases = (case for case in map(writer.case, summary.cases) if case.when is not t.FALSE)
        return replace(
            summary,
            cases=tuple(sorted(cases, key=_rank)),
            diverges=writer.condition(summary.diverges),
            undefined=tuple(writer.undefined(summary.undefined)),
            residual=tuple(writer.residual(summary.residual)),
        )


def readable_paths(paths: LoopPaths) -> LoopPaths:
    """The paths with their conditions in fewer words: what types say anyway is left out.

    Assumptions about the entry values are not: later iterations need not satisfy them.
    """
    guards = Guards.of(paths)

    def shorter(path: Path) -> Path:
        short = simplify(path.condition, t.TRUE, operations=READABLE_PATH_OPERATIONS)
        return replace(path, condition=guards.arranged(without_implied(short, operations=READABLE_PATH_OPERATIONS)))

    return replace(paths, iterative=tuple(map(shorter, paths.iterative)), exits=tuple(map(shorter, paths.exits)))


def _rank(case: Case) -> tuple[bool, int, int]:
    return case.iterations is not t.ZERO, len(case.trace), len(t.text(case.when))


def without_divided(when: t.Condition, paths: LoopPaths, given: t.Condition, divided: t.Condition) -> t.Condition:
    """A condition of few words without what facts with quotients say, where ``given`` holds."""
    with budget(READABLE_OPERATIONS):
        return _Writer(Guards.of(paths), given, given & divided).condition(when)


class _Writer:
    def __init__(
        self, guards: Guards, given: t.Condition, all_given: t.Condition, questions: int = MAX_READABLE_QUESTIONS
    ) -> None:
        self.guards = guards
        self.given, self.all_given = given, all_given
        self.questions = Questions(questions)

    def plain(self, condition: t.Condition) -> t.Condition:
        """The condition, plainer where it is not Presburger."""
        return condition if is_quasi_affine(condition) else plainer(with_constants(condition), self.all_given)

    def condition(self, condition: t.Condition) -> t.Condition:
        """The condition in few words."""
        return self.guards.arranged(self._where_divided(self._of_one(condition)))

    def _of_one(self, condition: t.Condition) -> t.Condition:
        """The condition in few words, to be joined with those of other cases: what quotients say of one alone would
        stand in the way of that.
        """
        plain = self.plain(with_constants(condition))
        return self._short(plain, self.given if is_quasi_affine(plain) else self.all_given)

    def _where_divided(self, short: t.Condition) -> t.Condition:
        """A short condition without what quotients say."""
        if self.all_given is self.given or not is_quasi_affine(short):
            return short
        there = self._short(short, self.all_given)
        return there if _comparisons(there) < _comparisons(short) else short

    def _short(self, plain: t.Condition, given: t.Condition) -> t.Condition:
        if given is t.TRUE and any(isinstance(node, t.Op) for node in t.walk(plain)):
            # Sets with divisions are slow, and most of these conditions come from the logic.
            short = pruned(plain, operations=READABLE_CONDITION_OPERATIONS)
        else:
            short = simplify(plain, given, operations=READABLE_CONDITION_OPERATIONS)
        if not is_quasi_affine(short):
            short = without_implied(short, given, operations=READABLE_NONLINEAR_OPERATIONS)
            short = without_nonlinear(short, given, self.questions)
        return short

    def case(self, case: Case) -> Case:
        """The case with its terms in the fewest words that its condition allows."""
        when = self.guards.arranged(self._of_one(case.when))
        return replace(
            case,
            when=when,
            then={var: _value(term, when) for var, term in case.then.items()},
            iterations=_value(case.iterations, when),
            per_path={path: _value(term, when) for path, term in case.per_path.items()},
            totals={name: _value(term, when) for name, term in case.totals.items()},
            trace=tuple(_step(step, when) for step in case.trace),
            result=None if case.result is None else _value(case.result, when),
            contents=None if case.contents is None else dict(self._contents(case.contents, when)),
        )

    def _contents(self, contents: t.Contents, when: t.Condition) -> Iterator[tuple[str, t.Layers]]:
        """What memory holds, in the fewest words that ``when`` allows; without layers that have no element there."""
        given = when & self.given
        for array in sorted(contents):
            layers = tuple(self._layer(layer, when, given) for layer in contents[array])
            yield array, tuple(layer for layer in layers if layer.where is not t.FALSE)

    def _layer(self, layer: t.Layer, when: t.Condition, given: t.Condition) -> t.Layer:
        plain = self.plain(layer.where)
        where = self.guards.arranged(simplify(plain, given, operations=READABLE_CONDITION_OPERATIONS))
        value = None if layer.value is None else joined_sums(_value(layer.value, when & where), when & where)
        pointer = None if layer.pointer is None else layer.pointer.of(lambda term: _value(term, when))
        return replace(layer, start=_value(layer.start, when), where=where, value=value, pointer=pointer)

    def undefined(self, parts: Iterable[Undefined]) -> Iterable[Undefined]:
        """One region for each kind and line."""
        groups: dict[tuple[str, int], list[t.Condition]] = {}
        for part in parts:
            groups.setdefault((part.kind, part.line), []).append(part.when)
        return [Undefined(self.union(regions), *place) for place, regions in groups.items()]

    def residual(self, parts: Sequence[Residual]) -> Iterable[Residual]:
        """One region for each reason."""
        self.questions.left = 0  # where nothing exact is known need not be told as shortly as can be
        reasons = list(dict.fromkeys(part.why for part in parts))
        return [Residual(self.union([p.when for p in parts if p.why == why]), why) for why in reasons]

    def union(self, regions: Sequence[t.Condition]) -> t.Condition:
        """Some of the regions, in few words."""
        whole = t.disjunction(regions)
        if len(regions) <= MAX_PLAIN_REGIONS:
            whole = t.disjunction(map(self.plain, regions))
        if len(regions) > 1:
            try:
                with budget(READABLE_CONDITION_OPERATIONS):
                    whole = Region.of(whole).joined().condition()
            except (BudgetExceeded, NotPresburger):
                pass
        return self.condition(whole)


def _comparisons(condition: t.Condition) -> frozenset[t.Condition]:
    """The comparisons that a condition is made of."""
    return frozenset(part for part in t.walk(condition) if isinstance(part, t.Compare))


def _value(term: t.Term, when: t.Condition) -> t.Term:
    return shortest_where(decided(term, when), when)


def _step(step: Step, when: t.Condition) -> Step:
    times = None if step.times is None else _value(step.times, when)
    match step:
        case PathRun() | Interleaving():
            return replace(step, times=times)
        case Cycle():
            return replace(step, times=times, body=tuple(_step(inner, when) for inner in step.body))
        case _:
            assert_never(step)


def with_constants(condition: t.Condition) -> t.Condition:
    """``condition`` with the variables that it equates to a number replaced by that in its other parts."""
    match condition:
        case t.Or():
            return t.disjunction(with_constants(part) for part in condition.args)
        case t.And():
            pinned = {var: value for part in condition.args for var, value in _number(part)}
            if not pinned:
                return condition
            try:
                return t.conjunction(
                    part if any(_number(part)) else t.substitute(part, pinned) for part in condition.args
                )
            except t.TermTooLarge:
                return condition
        case _:
            return condition


def _number(part: t.Condition) -> list[tuple[t.Var, t.Term]]:
    """The variable that ``part`` says is a number, and the number."""
    if not (isinstance(part, t.Compare) and part.relation == "eq" and len(part.variables) == 1):
        return []
    poly = t.polynomial(part.term)
    (variable,) = part.variables
    if poly.pop(((variable, 1),), 0) != 1:
        return []
    rest = t.from_polynomial({m: -c for m, c in poly.items()})
    return [(variable, rest)] if isinstance(rest, t.Const) else []


@dataclass(frozen=True, slots=True)
class Guards:
    """The comparisons that a loop makes, in the order of its source; ``checks`` are those that guard operations.

    ``places``: the first place in the order of each, and of what it excludes; ``alike``, ``near``: the first place of a
    comparison of just these variables, and of one that has this variable. ``arranging``: what was arranged already.
    """

    order: tuple[t.Condition, ...]
    checks: frozenset[t.Condition]
    places: Mapping[t.Condition, int]
    alike: Mapping[frozenset[t.Var], int]
    near: Mapping[t.Var, int]
    arranging: dict[t.Condition, t.Condition] = field(default_factory=dict, compare=False)

    @staticmethod
    def of(paths: LoopPaths) -> Guards:
        """Those of the paths."""
        order: dict[t.Condition, None] = {}
        decided: set[t.Condition] = set()
        failing: set[t.Condition] = set()
        for path in paths.all:
            undefined = path.exit is not None and path.exit.kind == "undefined"
            for part in t.conjuncts(path.condition):
                for one in t.disjuncts(part):
                    order.setdefault(one)
                    (failing if undefined else decided).add(one)
        return Guards.ordered(order, failing - decided)

    @staticmethod
    def ordered(order: Collection[t.Condition], checks: Collection[t.Condition]) -> Guards:
        """Those in this order."""
        places: dict[t.Condition, int] = {}
        alike: dict[frozenset[t.Var], int] = {}
        near: dict[t.Var, int] = {}
        for place, guard in enumerate(order):
            places.setdefault(guard, place)
            places.setdefault(~guard, place)
            alike.setdefault(guard.variables, place)
            for var in guard.variables:
                near.setdefault(var, place)
        return Guards(tuple(order), frozenset(checks), places, alike, near)

    def arranged(self, condition: t.Condition) -> t.Condition:
        """``condition`` with its conjuncts in the order of the source, then what bounds the types' ends, and last what
        divides by what the others keep from 0.
        """
        found = self.arranging.get(condition)
        if found is None:
            match condition:
                case t.And():
                    found = t.conjunction(sorted(map(self.arranged, condition.args), key=self._rank))
                case t.Or():
                    found = t.disjunction(self.arranged(part) for part in condition.args)
                case _:
                    found = condition
            self.arranging[condition] = found
        return found

    def _rank(self, part: t.Condition) -> tuple[bool, int, int, int, int, str]:
        if t.may_lack_value(part):
            return True, 0, 0, 0, 0, ""  # in their order: one may be what another one needs
        exact = self.places.get(part)
        check = part in self.checks or (isinstance(part, t.Compare) and ~part in self.checks)
        last = len(self.order)
        near = min((self.near[var] for var in part.variables if var in self.near), default=last)
        nearest = self.alike.get(part.variables, near)
        large = _has_large(part)
        if exact is not None and not check:
            tier, place = 0, exact
        elif large or check:
            tier, place = 3, nearest
        elif isinstance(part, t.Or):
            tier, place = 2, last
        else:
            tier, place = 1, nearest
        return False, tier, place, _shape(part), len(part.variables), part.key


@lru_cache(REMEMBERED_ENDS)
def _has_large(part: t.Condition) -> bool:
    """Whether the part is a bound that comes from the ends of types."""
    terms = [node.term for node in t.walk(part) if isinstance(node, t.Compare) and node.relation != "eq"]
    return any(abs(t.polynomial(term).get((), 0)) >= LARGE_SHOWN_CONSTANT for term in terms)


def _shape(part: t.Condition) -> int:
    """Equalities, then lower bounds, then upper bounds, then the rest."""
    if not isinstance(part, t.Compare):
        return 3
    if part.relation == "eq":
        return 0
    first = next((c for m, c in t.polynomial(part.term).items() if m), 1)
    return 1 if part.relation == "le" and first < 0 else 2

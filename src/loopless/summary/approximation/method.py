"""The over-approximate summary of a loop by path counters, for what no method summarizes exactly.

Proteus (FSE 2016), section 4.2, introduces a counter for each path and forgets the order in which paths are taken. What
is added always alike is then known by the counts; what moves one way, or is set, lies between bounds. A run that leaves
after some iterations was, before the last of them, at the header in a state from which a path leads on, and is in a
state from which one leads out: with the counts these two conditions bound the number of iterations, and say where the
run ends. Proteus' approximations are what comes of it: a condition on the input says nothing ("abstracted as true"), a
variable that moves by at least one is as good as one that moves by one where iterations are counted, and of paths that
take turns in no order there are the counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from loopless import terms as t
from loopless.flowgraph.words import afterwards
from loopless.limits.summary import (
    APPROXIMATION_OPERATIONS,
    APPROXIMATION_SHORTENING_OPERATIONS,
    APPROXIMATION_STEP_OPERATIONS,
    MAX_APPROXIMATED_EXITS,
)
from loopless.logic import Region, budget, enclosing_region, simplify
from loopless.paths.model import Exit, LoopPaths, Path
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.summary.approximation.steps import (
    UNDECIDED,
    CountedPaths,
    StepNames,
    after,
    groups_of,
    is_plain,
    small,
    value_after,
)
from loopless.summary.approximation.words import larger, written
from loopless.summary.model import Approximation, Case, LoopSummary, Outcome, Residual, Undefined
from loopless.summary.transitions.system import place_of

NAME: Final = "path counters"
"""What answers call the method."""


def approximated(
    paths: LoopPaths, outcome: Outcome, within: t.Condition = t.TRUE, told: Collection[t.Var] | None = None
) -> Outcome:
    """``outcome``, the summary by ``paths`` of the entry states in ``within`` or why there is none, with an
    approximation of what is not exact; as it is where it is complete, or where there are no paths to speak of.
    ``told``: as in :func:`approximation`.
    """
    if not paths.exits and not paths.iterative:
        return outcome
    if isinstance(outcome, Refused):
        paths = paths.uncounted()
        residual = (Residual(t.TRUE, outcome),)
        outcome = LoopSummary(paths.loop, paths, (), t.FALSE, (), residual, "", paths.assumptions)
    if outcome.complete or outcome.approximation is not None:
        return outcome
    left = t.disjunction(part.when for part in outcome.residual)
    found = approximation(outcome.paths, within & outcome.entered & left, told)
    method = f"{outcome.method}, {NAME}" if outcome.method else NAME
    return replace(outcome, approximation=found, method=method)


def approximation(
    paths: LoopPaths, within: t.Condition = t.TRUE, told: Collection[t.Var] | None = None
) -> Approximation:
    """What runs from states at the header that satisfy ``within`` may do, whatever they take from outside.

    ``told``: the variables whose values at the exit are of interest, all by default; of others these are left out where
    they are not known. Never fails: facts that :data:`APPROXIMATION_OPERATIONS` do not suffice for are left out.
    """
    paths = paths.uncounted()
    if len(paths.exits) > MAX_APPROXIMATED_EXITS:
        return _anything(paths, told)
    try:
        with budget(APPROXIMATION_OPERATIONS):
            return _Loop(paths, within, told).approximation()
    except UNDECIDED:
        return _anything(paths, told)


def _anything(paths: LoopPaths, told: Collection[t.Var] | None) -> Approximation:
    """What holds of any loop with these paths: it leaves by one of its exits, whenever, with any values."""
    names = StepNames.of(paths)
    total = names.fresh("k")
    cases: list[Case] = []
    undefined: list[Undefined] = []
    lost: list[Residual] = []
    endless = t.FALSE if not paths.iterative else t.TRUE
    for path in paths.exits:
        assert path.exit is not None
        match path.exit.kind:
            case "undefined":
                undefined.append(Undefined(t.TRUE, path.exit.detail, path.exit.line))
            case "endless":
                endless = t.TRUE
            case "unsupported" | "unknown":
                lost.append(Residual(t.TRUE, _not_followed(paths, path.exit)))
            case _:
                outputs = sorted(path.outputs | set(path.update), key=lambda var: var.key)
                changed = {*path.update, *names.state}
                values = [v for v in outputs if v in changed and (told is None or v in told)]
                then: dict[t.Var, t.Term] = {var: names.fresh(afterwards(var.name), var.type) for var in values}
                result = None if path.result is None else names.fresh("return'")
                free = (
                    *(v for v in then.values() if isinstance(v, t.Var)),
                    total,
                    *(() if result is None else (result,)),
                )
                case = Case(t.TRUE, then, path.exit, path.id, total, {}, (), result, exact=False, free=free)
                cases.append(replace(case, facts=total.ge(0)))
    return Approximation(tuple(cases), endless, tuple(dict.fromkeys(undefined)), tuple(lost))


def _not_followed(paths: LoopPaths, exit: Exit) -> Refused:
    """Why a run is not followed where it leaves so."""
    detail = exit.detail or "the run is not followed from there"
    return exit.refused or Refused(Reason.UNSUPPORTED_INSTRUCTION, place_of(paths), detail)


@dataclass(frozen=True, slots=True)
class _Values:
    """What an exit path says of values: ``known`` by terms over the header where it leaves, ``open`` by free variables.

    ``equations`` say what the free variables are, as far as that is known.
    """

    known: Mapping[t.Var, t.Term]
    open: Mapping[t.Var, t.Var]
    result: t.Term | None
    equations: t.Condition
    returned: t.Var | None = None

    @property
    def free(self) -> tuple[t.Var, ...]:
        """The free variables."""
        return tuple(dict.fromkeys((*self.open.values(), *((self.returned,) if self.returned is not None else ()))))

    def of(self, forms: Mapping[t.Var, t.Term]) -> _Values:
        """The same with ``forms`` for the values at the header."""
        known = {var: t.substitute(term, forms) for var, term in self.known.items()}
        result = self.result
        if result is not None and result is not self.returned:
            result = t.substitute(result, forms)
        return replace(self, known=known, result=result)


class _Loop:
    """One loop, and what is known of the header after any number of iterations."""

    def __init__(self, paths: LoopPaths, within: t.Condition, told: Collection[t.Var] | None) -> None:
        self.paths = paths
        self.told = told
        self.names = StepNames.of(paths)
        self.groups = groups_of(paths, self.names)
        self.counters = tuple(group.counter for group in self.groups)
        self.total = t.add(*self.counters)
        self.counted = t.conjunction((*(c.ge(0) for c in self.counters), self.total.ge(1)))
        self.limited = within is not t.TRUE
        self.within = self._region(within, self.names.entry) or Region.universe(self.names.entry)
        self.reached = self._reached()

    # -- the header after at least one iteration ----------------------------------------------------------------------

    def _reached(self) -> Region:
        """Entry values, counts and values at the header after an iteration: over ``names.entry``, the counters and
        ``names.end``.
        """
        variables = (*self.names.entry, *self.counters, *self.names.end.values())
        found = Region.of(self.counted, variables)
        here = after(self.groups, {c: c for c in self.counters}, self.names.end)
        found = _both(found, self._region(here, variables))
        found = _both(found, self.within)
        begun = [self._begun(group) for group in self.groups]
        found = _both(found, _some(begun))
        came = _some([self._came_by(group) for group in self.groups])
        found = _both(found, came)
        if len(self.groups) > 1:
            for group in self.groups:
                found = _both(found, self._often(group))
        return found

    def _begun(self, group: CountedPaths) -> Region | None:
        """The entry values from which the first iteration may be one of the group."""
        if group.step is None:
            return None
        try:
            with budget(APPROXIMATION_STEP_OPERATIONS):
                before = group.step.project_out(self.names.end.values())
                return _renamed(before, {self.names.last[var]: var for var in self.names.state})
        except UNDECIDED:
            return None

    def _came_by(self, group: CountedPaths) -> Region | None:
        """The states in which the last iteration was one of the group."""
        if group.step is None:
            return None
        counts: dict[t.Var, t.Term] = {c: c for c in self.counters}
        counts[group.counter] = group.counter - 1
        try:
            with budget(APPROXIMATION_STEP_OPERATIONS):
                here = t.conjunction(
                    (
                        *(count.ge(0) for count in counts.values()),
                        after(self.groups, counts, self.names.last),
                    )
                )
                return small((Region.of(here) & group.step).project_out(self.names.last.values()))
        except UNDECIDED:
            return None

    def _often(self, group: CountedPaths) -> Region | None:
        """How often the group is taken at most: before the last time of it its condition held."""
        if group.step is None:
            return None
        fewer = {c: t.Var(f"{c.name}@last", t.INTEGERS) for c in self.counters}
        counts: dict[t.Var, t.Term] = dict(fewer)
        counts[group.counter] = group.counter - 1
        del fewer[group.counter]
        between = [part for c, m in fewer.items() for part in (m.ge(0), m.le(c))]
        try:
            with budget(APPROXIMATION_STEP_OPERATIONS):
                before = group.step.project_out(self.names.end.values())
                here = Region.of(t.conjunction((group.counter.ge(1), *between, self._at_last(counts))))
                taken = (here & before).project_out((*fewer.values(), *self.names.last.values()))
                return small(taken | Region.of(group.counter.le(0), taken.variables))
        except UNDECIDED:
            return None

    def _at_last(self, counts: Mapping[t.Var, t.Term]) -> t.Condition:
        return after(self.groups, counts, self.names.last)

    # -- what comes of it ---------------------------------------------------------------------------------------------

    def approximation(self) -> Approximation:
        """Case by case, at first those without an iteration."""
        cases: list[Case] = []
        endless = [self._endless()]
        undefined: list[Undefined] = []
        lost: list[Residual] = []
        for path in self._exits():
            assert path.exit is not None
            match path.exit.kind:
                case "undefined":
                    undefined.append(Undefined(self._where(path), path.exit.detail, path.exit.line))
                case "endless":
                    endless.append(self._where(path))
                case "unsupported" | "unknown":
                    lost.append(Residual(self._where(path), _not_followed(self.paths, path.exit)))
                case _:
                    cases += [case for case in (self._at_once(path), self._later(path)) if case is not None]
        return Approximation(
            tuple(sorted(cases, key=lambda case: case.iterations is not t.ZERO)),
            self._plain(t.disjunction(endless)),
            tuple(self._grouped(undefined)),
            tuple(part for part in lost if part.when is not t.FALSE),
        )

    def _exits(self) -> Iterable[Path]:
        """The exit paths; those that come to the same, of what is told, as one."""
        found: dict[object, Path] = {}
        for path in self.paths.exits:
            outputs = frozenset(var for var in path.outputs if self.told is None or var in self.told)
            update = {var: term for var, term in path.update.items() if var in outputs}
            key = (path.exit, path.result, tuple(sorted(update.items(), key=lambda item: item[0].key)), outputs)
            other = found.get(key)
            condition = path.condition if other is None else other.condition | path.condition
            found[key] = replace(other or path, condition=condition, update=update, outputs=outputs)
        return found.values()

    def _endless(self) -> t.Condition:
        """Where the number of iterations is not bounded."""
        if not self.groups:
            return t.FALSE
        total = t.Var("iterations@all", t.INTEGERS)
        try:
            with budget(APPROXIMATION_STEP_OPERATIONS):
                counted = self.reached & Region.of(total.eq(self.total))
                region = small(counted.project_onto((*self.names.entry, total)))
                found = [part.project_out((total,)) for part in region.without_upper_bound(total)]
                return self._words(_some(found)) if found else t.FALSE
        except UNDECIDED:
            return t.TRUE

    def _where(self, path: Path) -> t.Condition:
        """The entry values from which a run may leave by ``path``."""
        at_once = self._leaving(path.condition, self.names.entry, at_end=False)
        later = self._leaving(path.condition, (), at_end=True)
        if at_once is None or later is None:
            return t.TRUE
        try:
            with budget(APPROXIMATION_STEP_OPERATIONS):
                after_some = (self.reached & later).project_onto(self.names.entry)
                return self._words(small((at_once & self.within) | after_some))
        except UNDECIDED:
            return t.TRUE

    def _leaving(self, condition: t.Condition, variables: Iterable[t.Var], *, at_end: bool) -> Region | None:
        """Where ``condition`` may hold at the header, whatever comes from outside; over what is not from there."""
        if at_end:
            condition = t.substitute(condition, self.names.end)
        return self._region(condition, variables, {*self.names.entry, *self.names.end.values()})

    def _at_once(self, path: Path) -> Case | None:
        """A run that leaves by ``path`` without an iteration."""
        values = self._values(path, frozenset(self.names.entry))
        whole = path.condition & values.equations
        region = self._region(whole, {*self.names.entry, *values.free})
        return self._case(path, values, region, t.ZERO, dict.fromkeys((p.id for p in self.paths.iterative), t.ZERO))

    def _later(self, path: Path) -> Case | None:
        """A run that leaves by ``path`` after some iterations."""
        if not self.groups:
            return None
        forms = {var: value_after(var, self.groups, {c: c for c in self.counters}) for var in self.names.state}
        exact = {var: form for var, form in forms.items() if form is not None}
        values = self._values(path, self.names.fixed | exact.keys())
        whole = t.substitute(path.condition & values.equations, self.names.end)
        leaving = self._region(whole, values.free, {*self.names.entry, *self.names.end.values(), *values.free})
        try:
            region: Region | None = _both(self.reached.over(values.free), leaving)
        except UNDECIDED:
            region = None
        counts: dict[str, t.Term] = {g.paths[0].id: g.counter for g in self.groups if len(g.paths) == 1}
        return self._case(path, values.of(exact), region, self.total, counts)

    def _case(
        self, path: Path, values: _Values, region: Region | None, iterations: t.Term, counts: Mapping[str, t.Term]
    ) -> Case | None:
        """The case of leaving by ``path`` in the states of ``region``; None where there are none."""
        assert path.exit is not None
        counters = () if iterations is t.ZERO else self.counters
        free = (*values.free, *counters)
        then: dict[t.Var, t.Term] = {**values.known, **values.open}
        case = Case(t.TRUE, then, path.exit, path.id, iterations, counts, (), values.result, exact=False, free=free)
        case = replace(case, facts=self.counted if counters else t.TRUE)
        if region is None:
            return case
        try:
            with budget(APPROXIMATION_STEP_OPERATIONS):
                region = small(_both(region, self.within).project_onto((*self.names.entry, *free)))
                if region.is_empty():
                    return None
                entry = small(region.project_onto(self.names.entry))
            case = replace(case, when=larger(self._words(entry), frozenset()))
            with budget(APPROXIMATION_STEP_OPERATIONS):
                return written(case, region)
        except UNDECIDED:
            return case

    def _values(self, path: Path, spoken: frozenset[t.Var]) -> _Values:
        """The values at an exit: by terms where these speak of ``spoken`` only, and always have a value."""
        known: dict[t.Var, t.Term] = {}
        left: dict[t.Var, t.Var] = {}
        equations: list[t.Condition] = []
        changed = frozenset(self.names.state)
        for var in sorted({*path.outputs, *path.update}, key=lambda v: v.key):
            term = path.update.get(var, var)
            if term is var and var not in changed:
                continue
            if is_plain(term, spoken) and not t.may_lack_value(term):
                known[var] = term
            else:
                left[var] = self.names.fresh(afterwards(var.name), var.type)
                equations.append(left[var].eq(term))
        result, returned = path.result, None
        if result is not None and not (is_plain(result, spoken) and not t.may_lack_value(result)):
            returned = self.names.fresh("return'")
            equations.append(returned.eq(result))
        return _Values(known, left, returned or result, t.conjunction(equations), returned)

    # -- sets and words -----------------------------------------------------------------------------------------------

    def _region(
        self, condition: t.Condition, variables: Iterable[t.Var], kept: Collection[t.Var] | None = None
    ) -> Region | None:
        """Where ``condition`` may hold, over ``kept`` where that is given; None where that is not decided."""
        try:
            with budget(APPROXIMATION_STEP_OPERATIONS):
                found = enclosing_region(condition, {*condition.variables, *variables})
                return found if kept is None else found.project_out(v for v in found.variables if v not in kept)
        except UNDECIDED:
            return None

    def _words(self, region: Region | None) -> t.Condition:
        """A condition on entry values, in which ``within`` is taken for granted."""
        if region is None:
            return t.TRUE
        try:
            with budget(APPROXIMATION_SHORTENING_OPERATIONS):
                return (region.gist(self.within) if self.limited else region).joined().condition()
        except UNDECIDED:
            pass
        try:
            return region.rough_condition()
        except UNDECIDED:
            return t.TRUE

    def _grouped(self, parts: Sequence[Undefined]) -> Iterator[Undefined]:
        """One region for each kind and line."""
        places: dict[tuple[str, int], list[t.Condition]] = {}
        for part in parts:
            places.setdefault((part.kind, part.line), []).append(part.when)
        for (kind, line), regions in places.items():
            when = t.disjunction(regions)
            when = when if len(regions) == 1 else self._plain(when)
            if when is not t.FALSE:
                yield Undefined(when, kind, line)

    def _plain(self, condition: t.Condition) -> t.Condition:
        return simplify(condition, operations=APPROXIMATION_SHORTENING_OPERATIONS)


def _both(region: Region, other: Region | None) -> Region:
    """Their intersection, or the first where that is not found or not known."""
    if other is None:
        return region
    try:
        with budget(APPROXIMATION_STEP_OPERATIONS):
            return small(region & other)
    except UNDECIDED:
        return region


def _some(regions: Sequence[Region | None]) -> Region | None:
    """Their union; None where one of them is not known, or where there is none."""
    known = [region for region in regions if region is not None]
    if not known or len(known) < len(regions):
        return None
    try:
        with budget(APPROXIMATION_STEP_OPERATIONS):
            found = known[0]
            for region in known[1:]:
                found = found | region
            return small(found)
    except UNDECIDED:
        return None


def _renamed(region: Region, names: Mapping[t.Var, t.Var]) -> Region:
    """The region over other variables of the same types."""
    return region.preimage(dict(names)).project_out(names)

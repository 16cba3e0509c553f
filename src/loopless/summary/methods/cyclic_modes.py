"""Tables per cycle: paths that take turns by the value of one variable, which runs through finitely many values.

Where a *selector* moves by a constant in each path and alone decides which path is taken, its values form a functional
graph, and a run ends up in one of the graph's cycles. On a cycle y_0 … y_(p-1), from phase φ, after t iterations the
selector is y_((φ+t) mod p), and a variable v to which each value adds a constant is v + P·floor((φ+t)/p) + S[(φ+t) mod
p] - S[φ] with the prefix sums S and the sum P of one round. The run ends where the other
variables say so: one least value. What comes before the cycle is left to elimination.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import Final

from loopless import terms as t
from loopless.limits.summary import MAX_CYCLE_INTERVALS, MAX_SELECTOR_CYCLES, MAX_SELECTOR_VALUES
from loopless.logic import NotPresburger, Region, first_exit
from loopless.paths.model import Exit, Path
from loopless.portfolio import Method, NoAnswer, Tried
from loopless.records import dataclass
from loopless.stepping import enumerating
from loopless.summary.case_builder import CaseBuilder
from loopless.summary.exit_time.linear import many_wraps
from loopless.summary.exit_time.run_length import what_may_fail
from loopless.summary.obligations.along_run import Undecided
from loopless.summary.parts import PartQuestion
from loopless.summary.transitions.elimination import ExitSegment, eliminate
from loopless.summary.transitions.system import ControlSystem, ExitView
from loopless.summary.transitions.transformer import (
    COUNTER,
    TOTAL,
    GuardedTransition,
    NoIteration,
    Obligation,
    Once,
    TurnForms,
    Turns,
    counter_of,
)

LEAST_PATHS: Final = 3
"""Two paths that take turns are an oscillation, which has a form without tables; in one cycle two of more may do so."""


@dataclass(frozen=True, slots=True)
class Round:
    """One cycle of a selector: its values in their order, and the transition that each of them takes."""

    selector: t.Var
    values: tuple[int, ...]
    members: tuple[GuardedTransition, ...]

    @property
    def inside(self) -> t.Condition:
        """That the selector has one of the values."""
        return t.disjunction(_spread(self.selector, run) for run in _runs(sorted(self.values)))

    def looked_up(self, entries: Sequence[int]) -> t.Term:
        """The entry that belongs to the selector's value, of one for each of :attr:`values` in their order."""
        ordered = sorted(self.values)
        gap = min((b - a for a, b in pairwise(ordered)), default=1)
        even = all((b - a) % gap == 0 for a, b in pairwise(ordered))
        gap = gap if even else 1
        known = dict(zip(self.values, entries, strict=True))
        filled = [known.get(v, entries[0]) for v in range(ordered[0], ordered[-1] + 1, gap)]
        return t.table((self.selector - ordered[0]) // gap, filled)

    @property
    def place(self) -> t.Term:
        """φ + t: where in the sequence of values the selector is after t = :data:`COUNTER` iterations."""
        return self.looked_up(range(len(self.values))) + COUNTER

    def summed(self, added: Sequence[int]) -> t.Term:
        """What :data:`COUNTER` iterations add, if each value of the selector adds what stands at its place."""
        if len(set(added)) == 1:
            return COUNTER * added[0]
        prefix = [sum(added[:i]) for i in range(len(added))]
        period = t.const(len(added))
        rounds = self.place // period * sum(added)
        return rounds + t.table(self.place % period, prefix) + self.looked_up(prefix) * -1


def _run(part: PartQuestion, _: Tried[CaseBuilder]) -> CaseBuilder:
    """The cases of a loop with its cycles in closed form."""
    system = part.system
    cycles = accelerate_cycles(system)
    if cycles is None:
        raise NoAnswer
    builder = _ByModes(system, cycles.core)
    for segment in eliminate(system, cycles.transitions, cycles.segments):
        builder.add(segment)
    return builder


class _ByModes(CaseBuilder):
    """Which exit is taken from a cycle does not depend on its selector, which the logic need not look up."""

    def __init__(self, system: ControlSystem, core: Region) -> None:
        super().__init__(system)
        self.core = core

    def landed(self, transition: GuardedTransition, view: ExitView) -> Region:
        looked_up = [v for v, term in transition.control.items() if _has_table(term)]
        if not looked_up:
            return super().landed(transition, view)
        others = {v: term for v, term in transition.control.items() if v not in looked_up}
        return (view.where & self.system.ended & self.core).project_out(looked_up).preimage(others)


def _has_table(term: t.Term) -> bool:
    return any(isinstance(node, t.Op) and node.op == "table" for node in t.walk(term))


@dataclass(frozen=True, slots=True)
class Accelerated:
    """``transitions`` outside the cycles of a selector, and the ``segments`` of runs that begin in a cycle, at
    ``core``.
    """

    transitions: list[GuardedTransition]
    segments: list[ExitSegment]
    core: Region


def accelerate_cycles(system: ControlSystem) -> Accelerated | None:
    """The loop with the cycles of a selector in closed form, None if there is no selector.

    Raises :class:`loopless.logic.BudgetExceeded`.
    """
    for selector in sorted(system.control):
        cycles = _cycles(selector, _members(selector, system.transitions))
        inside = t.disjunction(cycle.inside for cycle in cycles)
        core = Region.of(inside, system.variables) & system.universe
        if not all(_is_product(view.where & system.ended & core, selector, core) for view in system.exits):
            continue
        segments: list[ExitSegment] = []
        left = list(system.transitions)
        for cycle in cycles:
            found = _runs_on(system, cycle)
            if found is not None:
                segments += found
                left = _outside(left, cycle)
        if segments:
            return Accelerated(left, segments, core)
    return None


def _outside(transitions: Iterable[GuardedTransition], cycle: Round) -> list[GuardedTransition]:
    found = []
    for transition in transitions:
        rest = transition.where - Region.of(cycle.inside, transition.where.variables)
        if not rest.is_empty():
            found.append(transition.within(rest.coalesce()))
    return found


# -- finding ----------------------------------------------------------------------------------------------------------


def _members(selector: t.Var, transitions: Iterable[GuardedTransition]) -> list[GuardedTransition]:
    """The transitions that move the selector by a constant, those of one path and step as one: what other variables do
    is as the path says it, wrap-around included.
    """
    found: dict[tuple[str, int], GuardedTransition] = {}
    for transition in transitions:
        step = _step(selector, transition)
        if step is not None and isinstance(transition.transformer, Once):
            path = transition.transformer.path
            other = found.get((path.id, step))
            where = transition.where if other is None else (transition.where | other.where).coalesce()
            found[path.id, step] = GuardedTransition(
                where, {**path.update, selector: selector + step}, transition.transformer
            )
    return list(found.values())


def _step(selector: t.Var, transition: GuardedTransition) -> int | None:
    moved = transition.control.get(selector, selector) - selector
    return moved.value if isinstance(moved, t.Const) else None


def _cycles(selector: t.Var, transitions: Sequence[GuardedTransition]) -> list[Round]:
    """The cycles in which several transitions take part, of at least :data:`LEAST_PATHS`; none if these are not chosen
    by the selector.
    """
    if len(transitions) < LEAST_PATHS:
        return []
    moves = [_step(selector, transition) or 0 for transition in transitions]
    if not min(moves) < 0 < max(moves):
        return []
    spans = [_spans(selector, transition.where.project_onto([selector])) for transition in transitions]
    window = _window(spans, moves)
    enumerating(len(window), f"the cycle of {selector.name}")
    taken: dict[int, int] = {}
    for value in window:
        chosen = [i for i, parts in enumerate(spans) if any(part.has(value) for part in parts)]
        if len(chosen) == 1:
            taken[value] = chosen[0]
    found = []
    state: dict[int, int] = {}
    for start in taken:
        value = start
        while value in taken and value not in state:
            state[value] = start
            value += moves[taken[value]]
        if value in taken and state[value] == start:
            values = [value]
            following = value + moves[taken[value]]
            while following != value:
                values.append(following)
                following += moves[taken[following]]
            if len({taken[v] for v in values}) > 1:
                least = values.index(min(values))
                values = values[least:] + values[:least]
                found.append(Round(selector, tuple(values), tuple(transitions[taken[v]] for v in values)))
    few = len(found) <= MAX_SELECTOR_CYCLES and all(len(_runs(sorted(c.values))) <= MAX_CYCLE_INTERVALS for c in found)
    return found if few else []


@dataclass(frozen=True, slots=True)
class _Span:
    """Values of a selector from ``low`` to ``high``, None being no bound; with ``gaps`` only those in that region."""

    selector: t.Var
    low: int | None
    high: int | None
    gaps: Region | None

    def has(self, value: int) -> bool:
        """Whether the value is one of them."""
        if (self.low is not None and value < self.low) or (self.high is not None and value > self.high):
            return False
        return self.gaps is None or self.gaps.contains({self.selector: value})


def _spans(selector: t.Var, region: Region) -> list[_Span]:
    found = []
    for part in region.coalesce().split():
        low, high = part.range_of(selector)
        whole = part.is_equal(Region.of(t.between(low, selector, high), [selector]))
        found.append(_Span(selector, low, high, None if whole else part))
    return found


def _window(spans: Sequence[Sequence[_Span]], moves: Sequence[int]) -> range:
    """Values among which every cycle is: those within a step of where one path gives way to another."""
    ends = {part.high for parts in spans for part in parts if part.high is not None}
    starts = {part.low for parts in spans for part in parts if part.low is not None}
    borders = [end for end in ends if end + 1 in starts]
    if not borders:
        return range(0)
    reach = max(abs(move) for move in moves)
    window = range(min(borders) - reach, max(borders) + reach + 2)
    return window if window.stop - window.start <= MAX_SELECTOR_VALUES else range(0)


def _runs(ordered: Sequence[int]) -> list[list[int]]:
    """The values in few groups of one gap each."""
    gaps = [b - a for a, b in pairwise(ordered)]
    if not gaps or len(set(gaps)) == 1:
        return [list(ordered)]
    runs = [[ordered[0]]]
    for before, value in pairwise(ordered):
        if value == before + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return runs


def _spread(selector: t.Var, run: Sequence[int]) -> t.Condition:
    if len(run) == 1:
        return selector.eq(run[0])
    gap = t.const(run[1] - run[0])
    even = ((selector - run[0]) % gap).eq(0)
    return t.between(run[0], selector, run[-1]) & even


# -- running ----------------------------------------------------------------------------------------------------------


def _runs_on(system: ControlSystem, cycle: Round) -> list[ExitSegment] | None:
    """How the runs that begin in the cycle end; None if something but the other variables decides that."""
    x = cycle.selector
    core = Region.of(cycle.inside, system.variables) & system.universe
    rest = _common(cycle, core)
    if rest is None:
        return None
    forms = _forms(cycle)
    others = sorted((system.control & {v for transition in cycle.members for v in transition.control}) - {x})
    if any(v in forms.lost for v in others):
        return None
    control = {v: forms.values[v] for v in others}
    whole = (rest.over(system.variables) & core).coalesce()
    try:
        staying = what_may_fail(
            rest,
            [GuardedTransition(rest, _steady(cycle, i, others), p.transformer) for i, p in enumerate(cycle.members)],
        )
        if any(many_wraps(t.substitute(part, control), COUNTER) for part in t.conjuncts(staying.rough_condition())):
            return None
        found = first_exit(staying, control, COUNTER, system.variables, within=whole)
    except NotPresburger:
        return None
    segments = []
    for region, count in found.pieces:
        after = {v: t.substitute(forms.values[v], {COUNTER: count}) for v in (*control, x)}
        turns = Turns(forms, count, partial(_obligations, cycle, forms, count))
        segments.append(ExitSegment(GuardedTransition(region, after, turns), "ended"))
    if not found.never.is_empty():
        turns = Turns(forms, COUNTER, partial(_obligations, cycle, forms, None))
        again = GuardedTransition(found.never, control, turns)
        segments.append(ExitSegment(GuardedTransition(found.never, {}, NoIteration()), "forever", again=again))
    return segments


def _common(cycle: Round, core: Region) -> Region | None:
    """What all members ask of the other variables, if they ask the same for all values of the selector."""
    x = cycle.selector
    common: Region | None = None
    for transition in dict.fromkeys(cycle.members):
        own = [v for v, member in zip(cycle.values, cycle.members, strict=True) if member is transition]
        values = t.disjunction(_spread(x, run) for run in _runs(sorted(own)))
        here = transition.where & core & Region.of(values, core.variables)
        rest = here.project_out([x])
        if common is None:
            common = rest
        if not rest.is_equal(common) or not here.is_equal(
            rest.over(core.variables) & core & Region.of(values, core.variables)
        ):
            return None
    return common


def _is_product(region: Region, x: t.Var, core: Region) -> bool:
    return region.is_equal(region.project_out([x]).over(core.variables) & core)


def _forms(cycle: Round) -> TurnForms:
    """All variables and counters after :data:`COUNTER` iterations."""
    x = cycle.selector
    paths = [_path(transition) for transition in cycle.members]
    values: dict[t.Var, t.Term] = {TOTAL: TOTAL + COUNTER}
    values[x] = t.table(cycle.place % len(paths), cycle.values)
    lost: dict[t.Var, str] = {}
    ids = tuple(dict.fromkeys(path.id for path in paths))
    for path in {path.id: path for path in paths}.values():
        counter = counter_of(path)
        values[counter] = counter + cycle.summed([int(p.id == path.id) for p in paths])
    for var in sorted({v for path in paths for v in path.update} - {x}):
        added = _added(var, cycle)
        if added is None:
            lost[var] = f"what {var.name} comes to while paths {', '.join(ids)} take turns has no closed form"
            continue
        total = var + cycle.summed([amount for amount, _ in added])
        ring = next((ring for _, ring in added if ring is not None), None)
        values[var] = total if ring is None else t.wrap(total, ring.type)
    return TurnForms(values, lost, ids)


def _added(var: t.Var, cycle: Round) -> list[tuple[int, t.Wrap | None]] | None:
    """What each value of the selector adds to ``var``, over ℤ or in one ring; None if that is not a constant."""
    found: list[tuple[int, t.Wrap | None]] = []
    for value, transition in zip(cycle.values, cycle.members, strict=True):
        update = _path(transition).update.get(var, var)
        ring = update if isinstance(update, t.Wrap) else None
        plain = update.arg if isinstance(update, t.Wrap) else update
        added = t.substitute(plain - var, {cycle.selector: t.const(value)})
        if not isinstance(added, t.Const):
            return None
        found.append((added.value, ring))
    # A smaller ring than the variable's would reduce what other places keep.
    return found if {ring.type for _, ring in found if ring is not None} <= {var.type} else None


def _steady(cycle: Round, index: int, others: Iterable[t.Var]) -> dict[t.Var, t.Term]:
    """One step of the other control variables, at one place of the cycle."""
    found = {}
    for var in others:
        amount, ring = (_added(var, cycle) or [])[index]
        moved = var + amount
        found[var] = moved if ring is None else t.wrap(moved, ring.type)
    return found


def _path(transition: GuardedTransition) -> Path:
    assert isinstance(transition.transformer, Once)
    return transition.transformer.path


def _obligations(cycle: Round, forms: TurnForms, count: t.Term | None) -> tuple[Obligation, ...]:
    """What the checks along ``count`` iterations (None: for ever) require: sums that move one way fit at the end."""
    limits: dict[tuple[t.Var, int], list[tuple[int, int]]] = {}
    exits: dict[tuple[t.Var, int], set[Exit]] = {}
    for index, (value, transition) in enumerate(zip(cycle.values, cycle.members, strict=True)):
        for obligation in transition.transformer.obligations():
            var, sign, slack = _limit(t.substitute(obligation.condition, {cycle.selector: t.const(value)}), forms)
            limits.setdefault((var, sign), []).append((index, slack))
            exits.setdefault((var, sign), set()).add(obligation.exit)
    found = []
    for (var, sign), places in limits.items():
        moved = [sign * amount for amount, _ in _added(var, cycle) or ()]
        bounds = {slack + moved[index] for index, slack in places}
        checked = {index for index, _ in places}
        outer = var.type.max if sign > 0 else None if var.type.min is None else -var.type.min
        if (
            count is None
            or len(bounds) > 1
            or len(exits[var, sign]) > 1
            or min(moved) < 0
            or any(amount and index not in checked for index, amount in enumerate(moved))
            or outer is None
            or min(bounds) < outer
        ):
            raise Undecided(f"whether {var.name} stays in its range all along is not decided")
        final = t.substitute(forms.values[var], {COUNTER: count})
        bound = t.const(bounds.pop())
        fits = final.le(bound) if sign > 0 else final.ge(bound * -1)
        found.append(Obligation(fits, exits[var, sign].pop()))
    return tuple(found)


def _limit(condition: t.Condition, forms: TurnForms) -> tuple[t.Var, int, int]:
    """The check as sign·var ≤ slack."""
    if isinstance(condition, t.Compare) and condition.relation == "le":
        rest = dict(t.polynomial(condition.term))
        slack = -rest.pop((), 0)
        if len(rest) == 1:
            ((monomial, sign),) = rest.items()
            var = monomial[0][0]
            plain = len(monomial) == 1 and monomial[0][1] == 1 and isinstance(var, t.Var)
            if plain and abs(sign) == 1 and isinstance(var, t.Var) and var in forms.values:
                return var, sign, slack
    raise Undecided(f"whether {t.brief(condition)} holds all along is not decided")


METHOD = Method("cyclic modes", "ours: tables over a cycle", _run, lambda part, _: not part.system.auxiliaries)
"""Where a mode variable that runs through few values decides which path is taken."""

"""Invariants from summaries of loops, by history variables: what a run has come to after so many iterations.

The state at the header of a loop is a function of the state in which the loop was entered and of the iterations since:
the summary of the same loop with one more exit, which is taken once it has gone round so often. That is an invariant
without quantifiers over history variables (:mod:`loopless.check.certificates.history`), with one alternative for each
phase; and what makes runs safe need only hold where the loop is entered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from loopless import terms as t
from loopless.check.certificates.history import SPACE, HistoryVariable, with_history
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.limits.verification import MAX_HISTORY_CASES, SUMMARY_OPERATIONS
from loopless.logic import BudgetExceeded, NotPresburger, budget
from loopless.paths.build import changed_variables
from loopless.paths.model import Exit, LoopPaths, Path
from loopless.records import dataclass
from loopless.summary import LoopSummary, summarize
from loopless.transition.relation import START, TransitionSystem
from loopless.transition.star import Leaps

_GONE: Final = t.Var("gone round", t.INTEGERS)
_TIMES: Final = t.Var("times to go round", t.INTEGERS)
"""How often the loop goes round before its further exit."""
_STOP: Final = "after so many iterations"
"""The path of that exit."""


@dataclass(frozen=True, slots=True)
class HistoryInvariants:
    """Conditions at cutpoints that speak of ``history``; ``proposed``, since nobody has shown that they hold.
    ``also``: variables of the program that they speak of wherever a run is.
    """

    history: tuple[HistoryVariable, ...]
    proposed: Mapping[str, tuple[t.Condition, ...]]
    also: frozenset[t.Var] = frozenset()


def history_invariants(
    system: TransitionSystem, leaps: Leaps, safe: Mapping[str, Sequence[t.Condition]]
) -> HistoryInvariants | None:
    """What may hold at the headers of loops with summaries; ``safe``: by header, conditions that keep runs safe from
    there on. None where no loop has a closed form for each iteration.
    """
    made = _Making(system, leaps, safe)
    loops = [loop for loop in system.graph.loops if loop.header in leaps]
    try:
        with budget(SUMMARY_OPERATIONS):
            for loop in sorted(loops, key=lambda loop: loop.depth):
                made.closed(loop)
            proposed = {label: tuple(dict.fromkeys(made.at(label))) for label in system.cutpoints}
    except (t.TermTooLarge, BudgetExceeded, NotPresburger):
        return None
    return HistoryInvariants(tuple(made.history), proposed) if made.cases else None


def instrumented(graph: Flowgraph, history: Sequence[HistoryVariable]) -> tuple[Flowgraph, frozenset[t.Var]]:
    """The flowgraph as the judge has it, with its history variables."""
    made = with_history(graph, history)
    return made, frozenset(made.variables.keys() - graph.variables.keys())


@dataclass(frozen=True, slots=True)
class _Reached:
    """Under ``when``, what the variables ``hold`` at the header: both over the entry and the count."""

    when: t.Condition
    hold: Mapping[t.Var, t.Term]


@dataclass(slots=True)
class _Making:
    system: TransitionSystem
    leaps: Leaps
    safe: Mapping[str, Sequence[t.Condition]]
    history: list[HistoryVariable] = field(default_factory=list)
    cases: dict[str, tuple[_Reached, ...]] = field(default_factory=dict)
    """By header, what iterations come to."""
    entries: dict[str, dict[t.Var, t.Var]] = field(default_factory=dict)
    """By header, the history variables for what variables held at the entry."""

    def closed(self, loop: LoopInfo) -> None:
        """Adds the history of a loop and the states that it comes to, where these have closed forms."""
        summary = _stopping(self.leaps[loop.header].summary.paths)
        if summary is None:
            return
        number = len(self.entries)
        count = t.Var(f"{SPACE}iterations{number}", t.INTEGERS)
        state = self.system.state[loop.header]
        entry = {var: t.Var(f"{SPACE}entry{number}.{i}", var.type) for i, var in enumerate(state)}
        changed = changed_variables(self.system.graph, loop)
        found = []
        for case in summary.cases:
            at = {_GONE: t.ZERO, _TIMES: count, **entry}
            when = t.substitute(case.when, at)
            if case.exit_path != _STOP or when is t.FALSE:
                continue
            known = summary.known(case)
            hold = {var: t.substitute(known[var], at) for var in state if var in known}
            hold |= {var: entry[var] for var in state if var not in changed}
            found.append(_Reached(t.conjunction((count.ge(0), when)), hold))
        if not found or len(found) > MAX_HISTORY_CASES:
            return
        self.cases[loop.header], self.entries[loop.header] = tuple(found), entry
        self.history.append(HistoryVariable(count.name, loop=loop.header))
        for var, held in entry.items():
            symbol = t.symbol(var.name).strip("|")
            self.history.append(HistoryVariable(held.name, loop=loop.header, variable=symbol))

    def at(self, label: str) -> Iterator[t.Condition]:
        """Conditions at a cutpoint."""
        leap = self.leaps.get(label)
        if leap is not None and leap.lasting:
            yield from t.conjuncts(leap.given)
        if label not in self.cases:
            yield from self.safe.get(label, ())
            return
        yield from self.entered(label)
        alternatives = [
            (*t.conjuncts(one.when), *(var.eq(term) for var, term in one.hold.items())) for one in self.cases[label]
        ]
        yield from one_of(alternatives)

    def entered(self, label: str) -> tuple[t.Condition, ...]:
        """What holds of the entry of a loop: of outer ones what makes runs safe, of others how they were come to."""
        entry = self.entries[label]
        if self._around(label) is None:
            leap = self.leaps[label]
            parts = (*t.conjuncts(leap.given), *self.safe.get(label, ()))
            return tuple(t.substitute(part, entry) for part in parts)
        ways: list[tuple[t.Condition, ...]] = []
        loop = next(loop for loop in self.system.graph.loops if loop.header == label)
        for step in self.system.transitions:
            if step.target != label or step.source in loop.blocks or step.source == START:
                continue
            if step.source not in self.cases:
                return ()
            before = self.entered(step.source)
            taken = {one.var for one in step.inputs}
            for one in self.cases[step.source]:
                unknown = taken | (set(self.system.state[step.source]) - one.hold.keys())
                after = {var: step.update.get(var, var) for var in entry}
                parts = (
                    *t.conjuncts(step.condition),
                    *(entry[var].eq(term) for var, term in after.items()),
                )
                known = (t.substitute(part, one.hold) for part in parts if not part.variables & unknown)
                ways.append((*before, *t.conjuncts(one.when), *known))
            if len(ways) > MAX_HISTORY_CASES:
                return ()
        return tuple(one_of(ways))

    def _around(self, label: str) -> LoopInfo | None:
        """The innermost loop with closed forms around another."""
        loops = self.system.graph.loops
        own = next(loop for loop in loops if loop.header == label)
        around = [loop for loop in loops if label in loop.blocks and loop is not own and loop.header in self.cases]
        return max(around, key=lambda loop: loop.depth, default=None)


def one_of(alternatives: Sequence[Sequence[t.Condition]]) -> Iterator[t.Condition]:
    """That all conditions of one alternative hold, as few conditions: what all have in common, then the rest."""
    told = [[part for one in parts for part in t.conjuncts(one) if t.smt(part) is not None] for parts in alternatives]
    if not told:
        return
    common = [part for part in told[0] if all(part in other for other in told)]
    yield from common
    if len(told) > 1:
        yield t.disjunction(t.conjunction(part for part in parts if part not in common) for parts in told)


def _stopping(paths: LoopPaths) -> LoopSummary | None:
    """The summary of a loop that is also left once it has gone round so often; None where nothing exact is said."""
    if any(path.unknowns for path in paths.iterative):
        return None
    plain = paths.uncounted()
    goes = _GONE.lt(_TIMES)
    end = Exit("normal", plain.loop.line, plain.loop.header)
    stop = Path(_STOP, _GONE.ge(_TIMES), {}, end, (), (), outputs=frozenset(plain.state))
    iterative = tuple(
        replace(path, condition=path.condition & goes, update={**path.update, _GONE: _GONE + 1})
        for path in plain.iterative
    )
    exits = tuple(replace(path, condition=path.condition & goes) for path in plain.exits)
    stopping = replace(
        plain,
        iterative=iterative,
        exits=(*exits, stop),
        state=(*plain.state, _GONE),
        invariants=(*plain.invariants, _TIMES),
        shown=tuple(dict.fromkeys((*plain.shown, *plain.state))),
    )
    found = summarize(stopping)
    return found if isinstance(found, LoopSummary) and found.exact and found.cases else None

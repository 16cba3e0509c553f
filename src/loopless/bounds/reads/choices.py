"""Loops that run as long as what they read lets them: a game on one iteration.

Values that are read anew in each iteration (from memory that is not followed, or as results of calls) are chosen by one
player, together with what no iteration changes; whatever else a condition speaks of is chosen by the other. If the
first one has constants, the same in every iteration, with which each iteration comes to its end whatever the other
chooses, no counter bounds the loop: from some states it goes on as long as the values that it reads let it, undefined
behaviour aside. A variable that is set to what is read has that constant from the second iteration on.

Memory that is read at several places holds one value everywhere, so that no two of the constants contradict each other
where the places are the same. What calls of the program's own functions return is nobody's choice: such a function may
count.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from loopless import terms as t
from loopless.bounds.iteration.facts import SymbolIntervals
from loopless.bounds.iteration.meetings import Meetings
from loopless.bounds.iteration.outside import NO_READS, Reads
from loopless.bounds.reads.moves import Atom, EntryFacts, IterationMoves, Place, memory_of
from loopless.limits.bounds import MAX_ASSUMED_WAYS, MAX_CHOICE_STEPS, MAX_COMBINATIONS, MAX_READ_VALUES

_N = TypeVar("_N", t.Term, t.Condition, t.Term | t.Condition)


class Game:
    """Looks for constants with which every iteration comes to its end."""

    def __init__(
        self,
        choices: IterationMoves,
        start: Place,
        changed: frozenset[t.Var],
        after: Mapping[t.Var, t.Term],
        meetings: Meetings,
        intervals: SymbolIntervals,
    ) -> None:
        self.choices, self.start, self.changed, self.after = choices, start, changed, after
        self.meetings, self.intervals = meetings, intervals
        self._atoms_of: dict[t.Var, frozenset[Atom] | None] = {}
        self._begun: Mapping[t.Var, int] = {}
        self._defined: Mapping[t.Var, t.Term] = {}
        self._holding: list[t.Condition] = []
        self._kept: frozenset[t.Var] = frozenset()
        """Variables of which a constant is chosen, too, if the iteration leaves it as it is."""
        self._adverse: frozenset[Atom] = frozenset()
        self._candidates: dict[Atom, list[int]] = {}
        self._arrays: dict[str, t.Var] = {}
        self._varying: set[Atom] = set()
        self._plains: dict[t.Node, t.Node] = {}
        self._valued: set[t.Var] = set()
        """Variables whose value is being found out."""
        self._reading: dict[t.Node, bool] = {}
        self._steps = 0

    def reads(self, entered: EntryFacts) -> Reads:
        """What decides how long the loop runs, where nothing else does."""
        self._begun, self._defined = entered.begun, entered.defined
        self.choices.sort()
        alone = self._reads(entered)
        if alone.sources:
            return alone
        self._kept = frozenset(var for var, value in self.after.items() if self._comes_back(var, value))
        return self._reads(entered) if self._kept else NO_READS

    def _comes_back(self, var: t.Var, value: t.Term) -> bool:
        """Whether the value of a variable behind the iteration depends on the one before."""
        brought = [value, *(term for met in value.variables for term in self._brought(met) or ())]
        return any(var in term.variables for term in brought)

    def _reads(self, entered: EntryFacts) -> Reads:
        self._atoms_of.clear()
        if self._is_hopeless():
            return NO_READS
        self._holding = []
        starting = [claim for claim in entered.starting if self._is_about_choices(claim)]
        self._holding = self._that_matter([*entered.holding, *starting])
        self._prepare()
        found = self._played({})
        if found is None:
            return NO_READS
        seen = [atom for atom in found if self._is_read(atom)]
        needed = [atom for atom in seen if self._without(found, frozenset({atom}))]
        if not needed:
            needed = seen if seen and self._without(found, frozenset(seen)) else []
        sources = tuple(dict.fromkeys(self._source(atom) for atom in needed))
        calls = dict.fromkeys(name for names in self.choices.leaving.values() for name in names)
        if not sources:
            return NO_READS
        return Reads(sources, self.choices.unsure.isdisjoint(sources), tuple(calls))

    def _is_about_choices(self, claim: t.Condition) -> bool:
        """Whether what holds before the first iteration must hold of the constants: of what is kept, all, and limits of
        what is set to something that is chosen, since the first iteration has the same constants.
        """
        limit = not isinstance(claim, t.Compare) or claim.relation != "eq"
        known = limit and all(self._of(var) is not None for var in claim.variables)
        return known or not self._kept.isdisjoint(claim.variables)

    def _that_matter(self, holding: Sequence[t.Condition]) -> list[t.Condition]:
        """The conditions that speak of what the iteration depends on, or of what other such conditions speak of.

        The others hold in the runs that come to the loop, whatever is chosen here.
        """
        assumed = [condition for some in self.choices.assumed.values() for condition in some]
        moves = [move.condition for some in self.choices.moves.values() for move in some]
        about = self._spoken_of([*assumed, *moves])
        found: list[t.Condition] = []
        left = {condition: self._spoken_of([condition]) for condition in holding}
        while more := [condition for condition, atoms in left.items() if atoms & about]:
            found += more
            about |= {atom for condition in more for atom in left.pop(condition)}
        return found

    def _spoken_of(self, conditions: Iterable[t.Condition]) -> set[Atom]:
        parts = dict.fromkeys(part for condition in conditions for part in _parts(condition))
        return {atom for part in parts for atom in self._all_atoms(part) or ()}

    def _is_hopeless(self) -> bool:
        """Whether the iteration need not come to its end even if one could choose anew at each place."""
        won: dict[Place, bool] = {}
        for node in reversed(self.choices.moves):  # which stand in the order of the iteration
            moves = self.choices.moves[node]
            results = [won.get(move.goal, False) if isinstance(move.goal, tuple) else move.goal for move in moves]
            choice = any(self._atoms(part) for move in moves for part in _parts(move.condition))
            won[node] = any(results) if choice else bool(results) and all(results)
        return not won.get(self.start, False)

    def _without(self, found: Mapping[Atom, int], some: frozenset[Atom]) -> bool:
        """Whether the iteration need not come to its end where the other player chooses ``some``."""
        self._adverse = some
        lost = self._played({atom: value for atom, value in found.items() if atom not in some}) is None
        self._adverse = frozenset()
        return lost

    def _source(self, atom: Atom) -> str:
        return self.choices.fresh.get(atom) or memory_of(atom.name[1:])

    # -- what is chosen -----------------------------------------------------------------------------------------------

    def _atoms(self, node: t.Term | t.Condition) -> frozenset[Atom] | None:
        """What decides a term or a condition, but for the other player; None where something else does."""
        found = self._all_atoms(node)
        return None if found is None or found & self._adverse else found

    def _all_atoms(self, node: t.Term | t.Condition) -> frozenset[Atom] | None:
        node = self._plain(node)
        found: set[Atom] = set()
        for var in node.variables:
            atoms = self._of(var)
            if atoms is None:
                return None
            found |= atoms
        return None if self._is_reading(node) else frozenset(found)

    def _is_reading(self, node: t.Term | t.Condition) -> bool:
        """Whether memory is read in it."""
        known = self._reading.get(node)
        if known is None:
            known = self._reading[node] = any(isinstance(part, t.Read) for part in t.walk_inside(node))
        return known

    def _plain(self, node: _N) -> _N:
        """The node with symbols for what is read of free memory: one for each object, of which all has one type."""
        if node not in self._plains:
            replaced: dict[t.Term, t.Term] = {}
            for part in t.walk(node):
                if isinstance(part, t.Read) and part.array in self.choices.free:
                    symbol = self._arrays.setdefault(part.array, t.Var(f"'{part.array}", part.type))
                    if symbol.type == part.type:
                        replaced[part] = symbol
                    if not part.offset.variables.isdisjoint(self.changed | self.intervals.symbols):
                        self._varying.add(symbol)
            self._plains[node] = t.replace_terms(node, replaced) if replaced else node
        return self._plains[node]  # type: ignore[return-value]

    def _of(self, var: t.Var) -> frozenset[Atom] | None:
        var = self.choices.same.get(var, var)
        if var not in self._atoms_of:
            self._atoms_of[var] = None  # while it is being found out
            self._atoms_of[var] = self._found(var)
        return self._atoms_of[var]

    def _found(self, var: t.Var) -> frozenset[Atom] | None:
        if var in self.choices.fresh or var in self._arrays.values() or var in self._kept:
            return frozenset({var})
        brought = self._brought(var)
        if brought is None and var in self.after:
            brought = (self.after[var],)
        if brought is not None:
            atoms = [self._all_atoms(term) for term in brought]
            known = [found for found in atoms if found is not None]
            return frozenset().union(*known) if len(known) == len(atoms) else None
        unknown = var in self.intervals.symbols or var in self.changed
        return None if unknown else frozenset({var})

    def _is_read(self, atom: Atom) -> bool:
        """Whether it is read anew in each iteration."""
        return (atom in self.choices.fresh and atom not in self.choices.steady) or atom in self._varying

    def _brought(self, var: t.Var) -> tuple[t.Term, ...] | None:
        """The values that ways brought along to where they meet, or the one from before the loop."""
        if var in self._defined:
            return (self._defined[var],)
        meeting = self.meetings.get(var)
        if meeting is None:
            return None
        return meeting.values.get(var) or meeting.others.get(var)

    def _value(self, var: t.Var, chosen: Mapping[Atom, int], first: Mapping[t.Var, int]) -> int | None:
        var = self.choices.same.get(var, var)
        if var in chosen:
            return chosen[var]
        brought = self._brought(var)
        if brought is None and var in self.after:
            if var in first:
                return first[var]
            brought = (self.after[var],)
        if var in self._valued:
            return None  # it comes from itself, by an iteration of a loop inside
        self._valued.add(var)
        values = {self._number(term, chosen, first) for term in brought or ()}
        self._valued.discard(var)
        return values.pop() if len(values) == 1 else None

    def _number(self, term: t.Term, chosen: Mapping[Atom, int], first: Mapping[t.Var, int]) -> int | None:
        term = self._plain(term)
        values: dict[t.Var, int] = {}
        for var in term.variables:
            value = self._value(var, chosen, first)
            if value is None:
                return None
            values[var] = value
        try:
            return t.evaluate(term, values)
        except t.EvaluationError:
            return None

    def _holds(self, condition: t.Condition, chosen: Mapping[Atom, int], first: Mapping[t.Var, int]) -> bool | None:
        """Whether a condition holds; None where that is not known."""
        if isinstance(condition, t.And | t.Or):
            parts = {self._holds(part, chosen, first) for part in condition.args}
            decided = isinstance(condition, t.Or)
            return decided if decided in parts else None if None in parts else not decided
        if self._atoms(condition) is None:
            return None
        condition = self._plain(condition)
        values: dict[t.Var, int] = {}
        for var in condition.variables:
            value = self._value(var, chosen, first)
            if value is None:
                return None
            values[var] = value
        try:
            return t.holds(condition, values)
        except t.EvaluationError:
            return None

    # -- values that are tried ----------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Values around the constants that a thing is compared with, at the ends of its type; one for each outcome of
        the comparisons.
        """
        speaking: dict[Atom, list[t.Condition]] = {}
        conditions = [move.condition for moves in self.choices.moves.values() for move in moves]
        conditions += [condition for some in self.choices.assumed.values() for condition in some] + self._holding
        for condition in dict.fromkeys(part for whole in conditions for part in _parts(whole)):
            for atom in self._atoms(condition) or ():
                speaking.setdefault(atom, []).append(condition)
        for atom, about in speaking.items():
            if atom in self._begun and (atom not in self.changed or atom in self._kept):
                self._candidates[atom] = [self._begun[atom]]
                continue
            alone = [condition for condition in about if self._atoms(condition) == frozenset({atom})]
            told: dict[tuple[bool | None, ...], list[int]] = {}
            for value in _near(about, atom.type):
                if not self._fits(atom, value):
                    continue
                told.setdefault(tuple(self._holds(one, {atom: value}, {}) for one in alone), []).append(value)
            several = len(alone) < len(about)  # others are compared with it
            values = [value for some in told.values() for value in (some[:1] + some[-1:] if several else some[:1])]
            self._candidates[atom] = list(dict.fromkeys(values))[:MAX_READ_VALUES]

    def _fits(self, atom: t.Var, value: int) -> bool:
        low, high = self.intervals.known.get(atom, (None, None))
        return (low is None or low <= value) and (high is None or value <= high)

    # -- the game -----------------------------------------------------------------------------------------------------

    def _played(self, chosen: Mapping[Atom, int]) -> dict[Atom, int] | None:
        """Constants, those ``chosen`` among them, with which the first and every other iteration come to their end.

        None where none are found.
        """
        self._steps = 0
        first = any(var in self._begun for var in self.after)
        return self._on([(self.start, False), *([(self.start, True)] if first else [])], frozenset(), dict(chosen))

    def _on(
        self, waiting: list[tuple[Place, bool]], seen: frozenset[tuple[Place, bool]], chosen: dict[Atom, int]
    ) -> dict[Atom, int] | None:
        passed = set(seen)
        while waiting:
            node, is_first = here = waiting.pop()
            if here in passed:
                continue
            self._steps += 1
            if self._steps > MAX_CHOICE_STEPS:
                return None
            moves, first = self.choices.moves.get(node, []), self._begun if is_first else {}
            lacking = self._lacking(node, chosen)
            if lacking:
                for values in self._together(lacking):
                    more = chosen | dict(zip(lacking, values, strict=True))
                    found = self._on([*waiting, here], frozenset(passed), more)
                    if found is not None or self._steps > MAX_CHOICE_STEPS:
                        return found
                return None
            passed.add(here)
            if not all(self._is_granted(one, chosen, first) for one in self._assumed(node[0])):
                return None
            goals = [move.goal for move in moves if self._holds(move.condition, chosen, first) is not False]
            if not goals or any(goal is False for goal in goals):
                return None
            waiting += [(goal, is_first) for goal in goals if isinstance(goal, tuple)]
        return self._keeping(passed, chosen)

    def _keeping(self, passed: set[tuple[Place, bool]], chosen: dict[Atom, int]) -> dict[Atom, int] | None:
        """What is chosen, with what must be chosen besides so that all that is kept stays as it is."""
        kept = sorted(self._kept & chosen.keys())
        decided = [self._atoms(self.after[var]) for var in kept]
        if None in decided:
            return None
        lacking = dict.fromkeys(atom for atoms in decided for atom in sorted(atoms or ()) if atom not in chosen)
        if lacking:
            for values in self._together(list(lacking)):
                found = self._on([], frozenset(passed), chosen | dict(zip(lacking, values, strict=True)))
                if found is not None:
                    return found
            return None
        return chosen if all(self._number(self.after[var], chosen, {}) == chosen[var] for var in kept) else None

    def _assumed(self, label: str) -> list[t.Condition]:
        """What is taken for granted in a block, and where the iteration begins what holds where the loop is entered."""
        return [*self.choices.assumed.get(label, ()), *(self._holding if label == self.start[0] else ())]

    def _lacking(self, node: Place, chosen: Mapping[Atom, int]) -> list[Atom]:
        """What has to be chosen for the conditions at a node."""
        conditions = [move.condition for move in self.choices.moves.get(node, ())]
        conditions += self._assumed(node[0])
        found: dict[Atom, None] = {}
        for condition in conditions:
            for part in _parts(condition):
                atoms = self._atoms(part) or ()
                found |= dict.fromkeys(sorted((a for a in atoms if a not in chosen), key=str))
        return list(found)

    def _together(self, atoms: Sequence[Atom]) -> Iterator[tuple[int, ...]]:
        return itertools.islice(
            itertools.product(*(self._candidates.get(atom, [0]) for atom in atoms)), MAX_COMBINATIONS
        )

    def _is_granted(self, condition: t.Condition, chosen: Mapping[Atom, int], first: Mapping[t.Var, int]) -> bool:
        """Whether what is chosen does not break an assumption: then there would be no run. What speaks of nothing that
        is chosen is granted.
        """
        if self._holds(condition, chosen, first) is True:
            return True
        condition = self._plain(condition)
        told = {var for var in condition.variables if self._of(var)}
        known = {var: value for var in told if (value := self._value(var, chosen, first)) is not None}
        if not told or self._surely(condition, known):
            return True
        met = next(
            (var for var in sorted(told - known.keys()) if 0 < len(self._brought(var) or ()) <= MAX_ASSUMED_WAYS), None
        )
        if met is None:
            return False
        brought = self._brought(met) or ()
        return all(self._is_granted(t.substitute(condition, {met: term}), chosen, first) for term in brought)

    def _surely(self, condition: t.Condition, values: Mapping[t.Var, int]) -> bool:
        """Whether a condition holds whatever the variables are that have no value."""
        if isinstance(condition, t.And | t.Or):
            return (all if isinstance(condition, t.And) else any)(self._surely(one, values) for one in condition.args)
        if not isinstance(condition, t.Compare) or condition.relation != "le":
            return False
        high = self.intervals.range_of(t.substitute(condition.term, {v: t.const(k) for v, k in values.items()}))[1]
        return high is not None and high <= 0


def _parts(condition: t.Condition) -> list[t.Condition]:
    """The conditions that a condition is made of by "and" and "or"."""
    if isinstance(condition, t.And | t.Or):
        return [part for arg in condition.args for part in _parts(arg)]
    return [condition]


def _near(conditions: Iterable[t.Condition], type: t.IntType) -> list[int]:
    """Values of a type around the constants of conditions, and at the ends of the type."""
    constants = {0, 1}
    for condition in conditions:
        for node in t.walk(condition):
            if isinstance(node, t.Compare):
                constants.add(abs(t.polynomial(node.term).get((), 0)))
            if isinstance(node, t.Const):
                constants.add(node.value)
    near = {sign * value + by for value in constants for sign in (1, -1) for by in (-1, 0, 1)}
    near |= {end for end in (type.min, type.max) if end is not None}
    return sorted((value for value in near if type.holds(value)), key=lambda value: (abs(value), value))

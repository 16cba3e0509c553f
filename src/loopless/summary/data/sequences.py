"""What each variable holds before iteration t, as a function of what was read until then.

Variables fall into strata, the strongly connected components of "its update, or the choice of its update, depends on":
each stratum sees those below it as sequences that are known. By the shape of a stratum the sequence is a sum, the value
assigned last, an extreme, or a fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from loopless import terms as t
from loopless.graphs import components
from loopless.paths.model import LoopPaths
from loopless.summary.data.choices import Choice, PathChoices, chosen
from loopless.summary.data.oblivious import Oblivious
from loopless.summary.data.possible import possible

Extreme = Callable[..., t.Term]
"""The least or the greatest of terms."""


class Sequences:
    """The variables of a loop before each of its iterations.

    What is said of an iteration holds if the loop comes to it: all before it were completed.
    """

    def __init__(self, paths: LoopPaths, part: Oblivious) -> None:
        self.part = part
        self.choices = PathChoices(paths.iterative, part.common)
        changed = {var for path in paths.iterative for var in path.update}
        self.made = {var: self.choices.of(var) for var in sorted(changed - part.closed.keys())}
        """What an iteration makes of each variable that depends on what was read."""
        self.sums: dict[t.Var, tuple[tuple[t.Condition, t.Term], ...]] = {}
        """Of those that are summed up the summands, one of which is chosen in each iteration, over the values then."""
        graph = {var: self._depends(choices) & self.made.keys() for var, choices in self.made.items()}
        self._stratum = {var: stratum for stratum in components(graph) for var in stratum}
        self._numbers = {var: number for number, var in enumerate(self.made)}
        self._known: dict[tuple[t.Var, t.Term], t.Term] = {}

    @staticmethod
    def _depends(choices: Sequence[Choice]) -> frozenset[t.Var]:
        return frozenset[t.Var]().union(*(choice.when.variables | choice.then.variables for choice in choices))

    def at(self, time: t.Term, variables: frozenset[t.Var] | None = None) -> dict[t.Var, t.Term]:
        """The values of ``variables`` (those in conditions, by default all) before iteration ``time``."""
        found = self.part.at(time)
        for var in sorted(self.made.keys() if variables is None else variables & self.made.keys()):
            found[var] = self._value(var, time)
        return found

    def _value(self, var: t.Var, time: t.Term) -> t.Term:
        """The value of ``var`` before iteration ``time``."""
        found = self._known.get((var, time))
        if found is None:
            found = self._known[var, time] = t.substitute(self._sequence(var), {NOW: time})
        return found

    def _sequence(self, var: t.Var) -> t.Term:
        """The value before iteration :data:`NOW`."""
        found = self._known.get((var, NOW))
        if found is None:
            stratum = self._stratum[var]
            choices = self.made[var]
            if len(stratum) > 1:
                found = self._fold(var, stratum)
            else:
                found = self._sum(var, choices) or self._last(var, choices) or self._extreme(var, choices)
                found = found if found is not None else self._fold(var, stratum)
            self._known[var, NOW] = found
        return found

    def monotone_summand(self, var: t.Var) -> t.Term | None:
        """What an iteration adds to ``var``, where that is summed up over the integers and never changes its sign."""
        if len(self._stratum[var]) > 1:
            return None
        self._sequence(var)
        summands = self.sums.get(var)
        if summands is None or _common_wrap(var, self.made[var]) is not None:
            return None
        ranges = [t.range_of(added) for _, added in summands]
        rising = all(low is not None and low >= 0 for low, _ in ranges)
        falling = all(high is not None and high <= 0 for _, high in ranges)
        return chosen(summands) if rising or falling else None

    def _then(self, at: t.Term, *nodes: t.Condition | t.Term) -> dict[t.Var, t.Term]:
        """The values before iteration ``at`` that ``nodes`` speak of."""
        return self.at(at, frozenset[t.Var]().union(*(node.variables for node in nodes)))

    # -- sums --

    def _sum(self, var: t.Var, choices: Sequence[Choice]) -> t.Term | None:
        """``v = v + e`` on every path: the sum of all e, reduced once where it wraps around."""
        if any(var in choice.when.variables for choice in choices):
            return None
        type = _common_wrap(var, choices)
        summands: list[tuple[t.Condition, t.Term]] = []
        for choice in choices:
            added = _stripped(choice.then, type) - var
            if var in added.variables:
                return None
            summands.append((choice.when, added))
        summands.sort(key=lambda one: one[1] is t.ZERO)  # what adds nothing comes last: it needs no condition
        self.sums[var] = tuple(summands)
        summand = chosen(summands)
        time = t.position("|sum")
        whole = var + t.total(time, NOW, t.substitute(summand, self._then(time, summand)))
        return t.wrap(whole, type) if type is not None else whole

    # -- the value assigned last --

    def _last(self, var: t.Var, choices: Sequence[Choice]) -> t.Term | None:
        """``v = e``, or v as it is: what was assigned last."""
        assigned = [choice for choice in choices if choice.then is not var]
        if any(var in choice.when.variables for choice in choices):
            return None
        if any(var in choice.then.variables for choice in assigned):
            return None
        value = chosen([(choice.when, choice.then) for choice in assigned])
        if len(assigned) == len(choices):
            before = NOW - 1
            return t.ite(NOW.gt(0), t.substitute(value, self._then(before, value)), var)
        some = t.disjunction(choice.when for choice in assigned)
        time = t.position("|last")
        found = t.last(time, NOW, t.substitute(some, self._then(time, some)))
        return t.ite(found.ge(0), t.substitute(value, self._then(found, value)), var)

    # -- extremes --

    def _extreme(self, var: t.Var, choices: Sequence[Choice]) -> t.Term | None:
        """``if (e < v) v = e;``: the least of v and all e, offered by those iterations whose condition on other values
        says so. Each path must make of v exactly the extreme of v and what is offered on it.
        """
        offers = [choice.then for choice in choices if choice.then is not var]
        if not offers or any(var in offer.variables for offer in offers):
            return None
        for extreme, function in ((t.minimum, t.least), (t.maximum, t.greatest)):
            offered = self._offered(var, extreme)
            if offered is not None:
                time = t.position("|extreme")
                # what an iteration without an offer leaves as it is, the start does too
                there = self.at(time, offered.variables - {var})
                return function(time, NOW, var, t.substitute(offered, there))
        return None

    def _offered(self, var: t.Var, extreme: Extreme) -> t.Term | None:
        """What every iteration offers; None where v does not become the extreme of that and v."""
        paths = self.choices.paths
        groups = self._groups(var)
        offers: list[tuple[t.Condition, t.Term]] = []
        conditions = self._apart(groups, var) if len(groups) > 1 else [t.TRUE]
        if conditions is None:
            return None
        for group, when in zip(groups, conditions, strict=True):
            terms = list(dict.fromkeys(paths[at].update.get(var, var) for at in group))
            made = extreme(var, *(term for term in terms if term is not var))
            for at in group:
                differs = paths[at].update.get(var, var).ne(made)
                if possible(paths[at].condition & differs):
                    return None
            others = [term for term in terms if term is not var]
            offers.append((when, extreme(*others) if others else var))
        return chosen(offers)

    def _groups(self, var: t.Var) -> list[list[int]]:
        """The paths, by their numbers; in one group those which conditions without ``var`` do not tell apart."""
        rest = [self.choices.rest[path.id] for path in self.choices.paths]
        free = [tuple(part for part in parts if var not in part.variables) for parts in rest]
        groups: list[list[int]] = []
        for number, own in enumerate(free):
            meeting = [
                group
                for group in groups
                if any(own == free[at] or possible(t.conjunction((self.part.common, *own, *free[at]))) for at in group)
            ]
            groups = [group for group in groups if group not in meeting]
            groups.append(sorted([number, *(at for group in meeting for at in group)]))
        return groups

    def _apart(self, groups: list[list[int]], var: t.Var) -> list[t.Condition] | None:
        """Conditions without ``var`` that tell groups of paths apart."""
        paths = self.choices.paths
        found = self.choices.conditions([[paths[at] for at in group] for group in groups], avoided=var)
        return None if any(var in condition.variables for condition in found) else found

    # -- folds --

    def _fold(self, var: t.Var, stratum: Sequence[t.Var]) -> t.Term:
        """Variables that depend on one another: one step an iteration."""
        time = t.position("|fold")
        inside = {v: t.Var(f"|{self._numbers[v]}", v.type) for v in stratum}
        step: dict[t.Var, tuple[t.Term, t.Term]] = {}
        for v in stratum:
            following = chosen([(choice.when, choice.then) for choice in self.made[v]])
            lower = self.at(time, following.variables - inside.keys())
            step[inside[v]] = v, t.substitute(following, {**lower, **inside})
        return t.fold(time, NOW, step, inside[var])


NOW: Final = t.position("|now")
"""The iteration before which a variable is looked at."""


def _common_wrap(var: t.Var, choices: Sequence[Choice]) -> t.IntType | None:
    """The type into which all paths reduce what they assign."""
    types = {choice.then.type for choice in choices if isinstance(choice.then, t.Wrap)}
    if len(types) != 1 or any(not isinstance(choice.then, t.Wrap) and choice.then is not var for choice in choices):
        return None
    (type,) = types
    low, high = t.range_of(var)
    fits_in = type.min is None or (low is not None and type.min <= low and high is not None and high <= (type.max or 0))
    return type if fits_in else None


def _stripped(term: t.Term, type: t.IntType | None) -> t.Term:
    return term.arg if type is not None and isinstance(term, t.Wrap) else term

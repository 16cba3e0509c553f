"""The paths of a loop as the logic sees them: regions and steps over the variables that conditions depend on.

What the logic cannot express is over-approximated, and how far a result can be trusted is kept beside it.
"""

from __future__ import annotations

from enum import IntEnum

from loopless import terms as t
from loopless.automaton.conditions import changing_variables, is_from_outside, variables_from_outside
from loopless.graphs import reachable
from loopless.logic import Region, has_point, independent, over_approximation
from loopless.paths import LoopPaths, Path
from loopless.records import dataclass


class Precision(IntEnum):
    """How a region relates to the states that it stands for; the greater of two is that of their combination."""

    EXACT = 0
    """The same states."""
    INVARIANT = 1
    """The same, if the loop-invariant terms that the logic cannot express are taken as independent values."""
    INPUT = 2
    """No fewer states: what arrays hold, or what inputs are, may exclude some."""
    LOGIC = 3
    """No fewer states: the logic cannot express the rest."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One path: ``where`` it can be taken, and its ``step`` as a region over the values before and (primed) after.

    Both speak of control variables and invariants only; unknowns are projected out.
    """

    path: Path
    where: Region
    where_precision: Precision
    step: Region
    step_precision: Precision
    changed: tuple[t.Var, ...]

    def after(self, before: Region) -> Region:
        """Where one iteration from the states ``before`` may lead."""
        primes = {primed(var): var for var in self.changed}
        return (before & self.step).project_out(self.changed).preimage(primes)

    def before(self, after: Region) -> Region:
        """The states from which one iteration may lead to ``after``."""
        primes = {var: primed(var) for var in self.changed}
        return (self.step & after.preimage(primes)).project_out(primes.values())


def primed(var: t.Var) -> t.Var:
    """The value of ``var`` after the iteration."""
    return t.Var(f"{var.name} after", var.type)


class View:
    """The paths of one loop as regions.

    ``control`` are the changing variables on which some path condition depends, directly or through updates.
    ``opaque`` names loop-invariant terms that the logic cannot express, as variables that stand for them.
    """

    def __init__(self, paths: LoopPaths) -> None:
        self.paths = paths
        self.changing = changing_variables(paths)
        self.outside = variables_from_outside(paths)
        self.unknowns = frozenset(unknown.var for path in paths.all for unknown in path.unknowns)
        self.control = _control_variables(paths, self.changing)
        self.opaque: dict[t.Var, t.Term] = {}
        self._behaviours: dict[str, Behaviour] = {}

    def behaviour(self, path: Path) -> Behaviour:
        """``path`` as regions. Raises :class:`loopless.logic.BudgetExceeded`."""
        found = self._behaviours.get(path.id)
        if found is None:
            where, where_precision = self.region(path.condition)
            changed = tuple(sorted(var for var in path.update if var in self.control)) if path.exit is None else ()
            parts = [primed(var).eq(path.update[var]) for var in changed]
            step, step_precision = self.region(t.conjunction((path.condition, *parts)))
            step = step.over(map(primed, changed))
            found = Behaviour(path, where, where_precision, step, step_precision, changed)
            self._behaviours[path.id] = found
        return found

    def region(self, condition: t.Condition) -> tuple[Region, Precision]:
        """The states in which ``condition`` holds for some values of the unknowns. Raises
        :class:`loopless.logic.BudgetExceeded`.
        """
        relaxed = over_approximation(condition)
        precision = Precision.EXACT
        names: dict[t.Var, t.Term] = {}
        dropped = set(self.unknowns)
        for var, term in relaxed.unknowns:
            if term.variables.isdisjoint(self.changing | self.unknowns):
                names[var] = self._opaque(term)
                precision = max(precision, Precision.INVARIANT)
            else:
                dropped.add(var)
                from_outside = is_from_outside(term, self.unknowns, self.changing)
                precision = max(precision, Precision.INPUT if from_outside else Precision.LOGIC)
        found = Region.universe(())
        # What has nothing in common is taken by itself: alternatives of values that are dropped do not multiply.
        for part in independent(t.conjuncts(t.substitute(relaxed.condition, names))):
            if not part.variables <= dropped or not has_point(part):
                found &= Region.of(part).project_out(dropped).coalesce()
        return found, precision

    def _opaque(self, term: t.Term) -> t.Var:
        var = t.Var(f"({t.text(term)})", t.INTEGERS)
        self.opaque[var] = term
        return var

    def readable(self, condition: t.Condition) -> t.Condition:
        """``condition`` with the terms that the opaque variables stand for."""
        return t.substitute(condition, self.opaque)

    def readable_term(self, term: t.Term) -> t.Term:
        """``term`` with the terms that the opaque variables stand for."""
        return t.substitute(term, self.opaque)


def _control_variables(paths: LoopPaths, changing: frozenset[t.Var]) -> frozenset[t.Var]:
    def read(var: t.Var) -> set[t.Var]:
        found = (path.update[var].variables for path in paths.iterative if var in path.update)
        return set().union(*found) & changing

    return frozenset(reachable({var for path in paths.all for var in path.condition.variables & changing}, read))

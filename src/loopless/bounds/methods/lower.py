"""How often at least: lower bounds on iterations, where there is no exact count.

A loop is left only where a measure t is no more than 0; if no iteration lowers t by more than c, every run that leaves
the loop has made ceil(t₀ / c) iterations before. That is the mirror image of the bounds above
(:mod:`loopless.bounds.looperman.path_counters`), and what a choice of inputs cannot go below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from loopless import terms as t
from loopless.bounds.induction.measures import entails
from loopless.bounds.iteration.linearize import range_under
from loopless.bounds.looperman.scopes import HavocLoop, Scope, Scopes, SymbolicState
from loopless.bounds.model import ceiling, positive, reads, size
from loopless.flowgraph.model import Call
from loopless.limits.bounds import (
    LARGE_CONSTANT,
    LOWER_OPERATIONS,
    MAX_LOWER_BOUNDS,
    MAX_LOWER_MEASURES,
    MAX_LOWER_NODES,
)
from loopless.logic import BudgetExceeded, budget
from loopless.paths import LoopPaths
from loopless.refusals import Refused

NO_RUN: Final = frozenset(("undefined", "assumption", "endless"))
"""Kinds of exits that no run takes which ends and meets no undefined behaviour."""


Step = tuple[t.Condition, Mapping[t.Var, t.Term]]
"""An iteration: when it is made, and the values after it of what it changes."""


def least_iterations(paths: LoopPaths) -> t.Term:
    """The iterations of every run from these values at the header which ends and meets no undefined behaviour."""
    if not paths.exact:
        return t.ZERO
    exits = [path.condition for path in paths.exits if path.exit is not None and path.exit.kind not in NO_RUN]
    steps = [(path.condition, path.update) for path in paths.iterative]
    return _least(exits, steps, frozenset(paths.state) | frozenset(paths.invariants))


def least_iterations_of(scope: Scope, variables: frozenset[t.Var]) -> t.Term:
    """As :func:`least_iterations`, of what inner loops do only knowing the directions in which they move values."""
    exits = [state.holds for state in (*scope.exits, *scope.ends)]
    return _least(exits, [(iteration.condition, iteration.values) for iteration in scope.iterations], variables)


def _least(exits: Sequence[t.Condition], steps: Sequence[Step], known: frozenset[t.Var]) -> t.Term:
    try:
        with budget(LOWER_OPERATIONS):
            found = [_before(exit, steps, known) for exit in exits]
            return t.minimum(*found) if found else t.ZERO
    except (BudgetExceeded, t.TermTooLarge):
        return t.ZERO


def _before(exit: t.Condition, steps: Sequence[Step], known: frozenset[t.Var]) -> t.Term:
    """The iterations before an exit can be taken."""
    found: list[t.Term] = []
    for measure in _measures(exit, known)[:MAX_LOWER_MEASURES]:
        if not entails(exit, measure.le(0)):
            continue
        falls = [_fall(step, measure) for step in steps]
        most = max((fall for fall in falls if fall is not None), default=0)
        if 0 < most < LARGE_CONSTANT and None not in falls:
            found.append(positive(ceiling(measure, t.const(most))))
            if len(found) == MAX_LOWER_BOUNDS:
                break
    return t.maximum(t.ZERO, *found)


def _measures(exit: t.Condition, known: frozenset[t.Var]) -> list[t.Term]:
    """Terms that may be no more than 0 at the exit."""
    found: dict[t.Term, None] = {}
    for node in t.walk(exit):
        if isinstance(node, t.Compare) and node.relation != "ne":
            found[node.term] = None
            if node.relation == "eq":
                found[-node.term] = None
    usable = [value for value in found if value.variables <= known and not reads(value)]
    return sorted(usable, key=lambda value: (size(value), value.key))


def _fall(step: Step, measure: t.Term) -> int | None:
    """By how much an iteration lowers the measure at most."""
    condition, values = step
    fall = measure - t.substitute(measure, values)
    return fall.value if isinstance(fall, t.Const) else range_under(fall, condition)[1]


class LeastIterations:
    """Lower bounds on the iterations of the loops of one function, over a call."""

    def __init__(self, scopes: Scopes, paths: Mapping[str, LoopPaths]) -> None:
        """``paths``: the paths of loops, by their headers, as far as they are known."""
        self.scopes = scopes
        self.paths = paths
        self.inputs = frozenset(scopes.graph.variables)
        self._known: dict[str, t.Term] = {}

    def per_entry(self, header: str) -> t.Term:
        """The least iterations of one entry of a loop, over the values there."""
        if header not in self._known:
            scope = self.scopes.scopes[header]
            found = t.ZERO if isinstance(scope, Refused) else least_iterations_of(scope, self.inputs)
            if found is t.ZERO and header in self.paths and not self._may_end_inside(header):
                found = least_iterations(self.paths[header])
            self._known[header] = found
        return self._known[header]

    def _may_end_inside(self, header: str) -> bool:
        """Whether the loop has calls that need not return, of which its paths do not tell."""
        blocks = (self.scopes.graph.blocks[label] for label in self.scopes.by_header[header].blocks)
        return any(isinstance(s, Call) and s.leaves for block in blocks for s in block.statements)

    def in_call(self, header: str) -> t.Term:
        """The least iterations of a loop in a call that ends and meets no undefined behaviour, over the inputs."""
        function = self.scopes.scopes[""]
        around = self.scopes.ancestors(header)
        outermost = around[-1] if around else header
        if isinstance(function, Refused) or not function.ends:
            return t.ZERO
        try:
            with budget(LOWER_OPERATIONS):
                iterations = self._in_entry(outermost, header)
                return self._at_ends(function.ends, outermost, iterations) if iterations is not t.ZERO else t.ZERO
        except (BudgetExceeded, t.TermTooLarge):
            return t.ZERO

    def _in_entry(self, base: str, header: str) -> t.Term:
        """The least iterations of a loop during one entry of a loop around it, or itself."""
        iterations = self.per_entry(base)
        if not iterations.variables <= self.scopes.variables:
            return t.ZERO
        if base == header or iterations is t.ZERO:
            return iterations
        scope = self.scopes.scopes[base]
        if isinstance(scope, Refused) or not scope.iterations:
            return t.ZERO
        inside = [h for h in (header, *self.scopes.ancestors(header)) if self.scopes.by_header[h].parent == base]
        inner = self._in_entry(inside[0], header)
        each = [self._passing(iteration.passed, inside[0], inner) for iteration in scope.iterations]
        fewest = t.minimum(*each)
        return iterations * fewest if self._stays(fewest, scope) else t.ZERO

    def _passing(self, passed: Sequence[HavocLoop], header: str, iterations: t.Term) -> t.Term:
        """The iterations made on a way, over the values at its beginning; 0 for what these do not tell."""
        found = [t.substitute(iterations, havoc.entry()) for havoc in passed if havoc.header == header]
        # What is read from memory may have been written on the way.
        return t.add(*(term if term.variables <= self.inputs and not reads(term) else t.ZERO for term in found))

    @staticmethod
    def _stays(term: t.Term, scope: Scope) -> bool:
        return term.variables.isdisjoint(scope.changed)

    def _at_ends(self, ends: Sequence[SymbolicState], header: str, iterations: t.Term) -> t.Term:
        """The least of what runs have made when they end."""
        made = [(end, self._passing(end.passed, header, iterations)) for end in ends]
        terms = {term for _, term in made}
        for most in sorted(terms - {t.ZERO}, key=lambda value: (-size(value), value.key)):
            others = [(end, term) for end, term in made if not _reaches(end, term, most)]
            if not others:
                return most
            when = t.disjunction(end.holds for end, _ in others)
            if when.variables <= self.inputs and size(when) <= MAX_LOWER_NODES and not reads(when):
                fewest = [term for _, term in others]
                return t.ite(when, t.ZERO if t.ZERO in fewest else t.minimum(most, *fewest), most)
        return t.minimum(*terms)


def _reaches(end: SymbolicState, made: t.Term, most: t.Term) -> bool:
    return made is most or entails(end.holds, most.le(made))

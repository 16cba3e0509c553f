"""IV and NIV conditions of a loop (Proteus, section 2.2): which comparisons move by the same amount in every iteration.

A comparison ``E ~ 0`` is an *IV condition* if E is an induction variable: along every iterative path E changes by an
amount that the loop itself does not change. The other conditions are *NIV*; those whose change comes from outside the
loop (an input, the content of an array) are *input-dependent*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from loopless import terms as t
from loopless.automaton.single import value_of_variable
from loopless.limits.automaton import CHANGE_OPERATIONS
from loopless.logic import BudgetExceeded, NotPresburger, Region, budget
from loopless.paths import LoopPaths, Path
from loopless.records import dataclass

_SILENT = ("undefined", "assumption")
"""Exits that are no way out of the loop: such runs have no meaning, or do not exist."""


@dataclass(frozen=True, slots=True)
class LoopCondition:
    """One comparison that decides which path an iteration takes.

    ``condition`` is ``E ~ 0`` as some path has it. ``changes``: by path id, how much E changes in one iteration, where
    that is loop-invariant. ``induction``: whether it is for every iterative path. ``input_dependent``: not induction,
    and the change comes from an input or from the content of an array. ``reason`` says for NIV conditions which path
    changes E how.
    """

    condition: t.Condition
    changes: Mapping[str, t.Term]
    induction: bool
    input_dependent: bool
    reason: str

    @property
    def kind(self) -> Literal["IV", "NIV"]:
        """The word of Proteus's Table 1."""
        return "IV" if self.induction else "NIV"


def loop_conditions(paths: LoopPaths) -> tuple[LoopCondition, ...]:
    """The conditions of a loop, each classified, in the order in which its paths name them."""
    changing = changing_variables(paths)
    outside = variables_from_outside(paths)
    return tuple(_classified(atom, paths, changing, outside) for atom in branch_conditions(paths))


def branch_conditions(paths: LoopPaths) -> tuple[t.Compare, ...]:
    """The comparisons that the loop branches on; of a comparison and its negation the one that is named first.

    Checks for undefined behaviour and assumptions are no branches: only one side of them goes on. So a comparison
    counts if it and its negation both occur on paths that go on or leave the loop. (One whose other side no run can
    take decides nothing and does not count either.)
    """
    atoms = dict.fromkeys(
        node
        for path in paths.all
        if path.exit is None or path.exit.kind not in _SILENT
        for node in t.comparisons(path.condition)
    )
    found: dict[t.Compare, None] = {}
    for atom in atoms:
        opposite = ~atom
        if opposite in atoms and opposite not in found:
            found[atom] = None
    return tuple(found)


def changing_variables(paths: LoopPaths) -> frozenset[t.Var]:
    """The variables that an iteration may change."""
    return frozenset(paths.state).union(*(path.update for path in paths.iterative))


def variables_from_outside(paths: LoopPaths) -> frozenset[t.Var]:
    """The unknowns, and the variables that some iteration sets from one or from an array at a moving place."""
    changing = changing_variables(paths)
    found = {unknown.var for path in paths.all for unknown in path.unknowns}
    growing = True
    while growing:
        new = {
            var
            for path in paths.iterative
            for var, value in path.update.items()
            if var not in found and is_from_outside(value, found, changing)
        }
        found |= new
        growing = bool(new)
    return frozenset(found)


def is_from_outside(node: t.Node, outside: Iterable[t.Var], changing: frozenset[t.Var]) -> bool:
    """Whether ``node`` mentions a variable of ``outside`` or reads an array at a place that the loop moves."""
    return not node.variables.isdisjoint(outside) or any(
        isinstance(part, t.Read) and not part.variables.isdisjoint(changing) for part in t.walk_inside(node)
    )


def _classified(
    atom: t.Compare, paths: LoopPaths, changing: frozenset[t.Var], outside: frozenset[t.Var]
) -> LoopCondition:
    expression = unwrapped(atom.term)
    changes: dict[str, t.Term] = {}
    reason = ""
    from_outside = is_from_outside(expression, outside, changing)
    if from_outside:
        reason = f"{t.text(atom)} depends on an input"
    else:
        for path in paths.iterative:
            try:
                change = _change(expression, path, changing, outside)
            except t.TermTooLarge:
                change = None
            if change is not None:
                changes[path.id] = change
            elif not reason:
                reason = f"path {path.id} does not always change {t.text(atom)} by the same amount"
    return LoopCondition(atom, changes, not reason, from_outside, reason)


def _change(expression: t.Term, path: Path, changing: frozenset[t.Var], outside: frozenset[t.Var]) -> t.Term | None:
    """By how much one iteration of ``path`` changes ``expression``; None where that is not loop-invariant."""
    bindings = {var: unwrapped(value) for var, value in path.update.items() if var in expression.variables}
    change = t.substitute(expression, bindings) - expression
    if change.variables.isdisjoint(changing | outside):
        return change
    if not change.variables.isdisjoint(outside):
        return None
    return _pinned(change, path, changing)


def _pinned(change: t.Term, path: Path, changing: frozenset[t.Var]) -> t.Term | None:
    """The change where the path's condition pins it to one value for given invariants (s := 1 where s = 4: -3)."""
    amount = t.Var("#change", t.INTEGERS)
    unknowns = {unknown.var for unknown in path.unknowns}
    try:
        with budget(CHANGE_OPERATIONS):
            where = Region.of(path.condition) & Region.of(amount.eq(change))
            return value_of_variable(where.project_out(changing | unknowns), amount)
    except (NotPresburger, BudgetExceeded):
        return None


def unwrapped(term: t.Term) -> t.Term:
    """``term`` with machine wraps left out: a counter that wraps still counts as an induction variable."""
    done: dict[t.Node, t.Term] = {}
    for node in t.walk(term):
        if isinstance(node, t.Term):
            done[node] = _without_wrap(node, done)
    return done[term]


def _without_wrap(node: t.Term, done: Mapping[t.Node, t.Term]) -> t.Term:
    match node:
        case t.Wrap():
            return done[node.arg]
        case t.Sum():
            parts = []
            for monomial, coefficient in node.items:
                factors = [done[atom] for atom, exponent in monomial for _ in range(exponent)]
                parts.append(t.product(factors) * coefficient)
            return t.add(*parts)
        case t.Op():
            return t.operation(node.op, tuple(done[arg] for arg in node.args))
        case t.Ite():
            return t.ite(node.condition, done[node.then], done[node.otherwise])
        case _:
            return node

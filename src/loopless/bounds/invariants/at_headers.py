"""What holds at each header in every call: inequalities that all transitions to the header keep, found by weakening."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from loopless import terms as t
from loopless.bounds.ranking.cutpoints import ENTRY, CutpointGraph
from loopless.limits.bounds import MAX_HEADER_CANDIDATES, MAX_HEADER_QUESTIONS
from loopless.logic.steps import PlaceStep
from loopless.paths import Path
from loopless.paths.invariants import TooManyQuestions, inductive_subsets


def invariants_at(cutpoints: CutpointGraph) -> Mapping[str, t.Condition]:
    """By header, what holds there whenever a run comes there; the entry included."""
    headers = dict.fromkeys((ENTRY, *cutpoints.source.values()))
    known = frozenset((*cutpoints.paths.state, *cutpoints.paths.invariants))
    proposed = list(_candidates(cutpoints, known))[:MAX_HEADER_CANDIDATES]
    candidates = {header: proposed if header != ENTRY else [] for header in headers}
    steps = (
        PlaceStep(cutpoints.source[path.id], cutpoints.target[path.id], path.condition, path.update)
        for path in cutpoints.paths.iterative
    )
    try:
        found = inductive_subsets(candidates, steps, solver=False, most=MAX_HEADER_QUESTIONS)
    except TooManyQuestions:
        return dict.fromkeys(headers, t.TRUE)
    return {header: t.conjunction(facts) for header, facts in found.items()}


def _candidates(cutpoints: CutpointGraph, known: frozenset[t.Var]) -> Iterator[t.Condition]:
    seen: set[t.Condition] = set()
    for term in _terms(cutpoints):
        if not term.variables or not term.variables <= known or not _affine(term):
            continue
        condition = term.ge(0)
        if condition not in (t.TRUE, t.FALSE) and condition not in seen:
            seen.add(condition)
            yield condition


def _terms(cutpoints: CutpointGraph) -> Iterator[t.Term]:
    """Terms that may be ≥ 0: the signs of variables, what they are set to, conditions, and what is left of these."""
    for path in cutpoints.paths.iterative:
        yield from _assigned(cutpoints, path)
    for path in cutpoints.paths.iterative:
        yield from _beside(cutpoints, path)
    for path in cutpoints.paths.iterative:
        yield from _renamed(path)
    for variable in cutpoints.paths.state:
        yield from (variable, variable - 1)
    for path in cutpoints.paths.iterative:
        for row in _rows(path.condition):
            yield from (row, row + 1)
    for variable in cutpoints.paths.state:
        yield from (-variable, -1 - variable)


def _assigned(cutpoints: CutpointGraph, path: Path) -> Iterator[t.Term]:
    """A variable beside the constant, or the variable that does not change, that it is set to."""
    for variable, value in path.update.items():
        plain = isinstance(value, t.Const) or (isinstance(value, t.Var) and value not in path.update)
        if variable in cutpoints.paths.state and plain:
            yield from (variable - value, value - variable)


def _beside(cutpoints: CutpointGraph, path: Path) -> Iterator[t.Term]:
    """Two variables that a transition makes differ by a constant."""
    changed = [v for v in cutpoints.paths.state if v in path.update]
    for at, variable in enumerate(changed):
        value = path.update[variable]
        for other in (*changed[at + 1 :], *(v for v in value.variables if v not in path.update)):
            apart = value - path.update.get(other, other)
            if isinstance(apart, t.Const) and other is not variable:
                difference = variable - other - apart
                yield from (difference, -difference)


def _renamed(path: Path) -> Iterator[t.Term]:
    """The conditions of a transition in terms of the values after it, where steps are by constants."""
    back: dict[t.Var, t.Term] = {}
    lost: set[t.Var] = set()
    for variable, value in path.update.items():
        step = value - variable
        if isinstance(step, t.Const):
            back[variable] = variable - step
        else:
            lost.add(variable)
            if isinstance(value, t.Var) and value is not variable and value not in path.update:
                back.setdefault(value, variable)
    for row in _rows(path.condition):
        moved = t.substitute(row, back)
        if row.variables.isdisjoint(lost) or moved is not row:
            yield moved


def _rows(condition: t.Condition) -> Iterable[t.Term]:
    for part in t.conjuncts(condition):
        if isinstance(part, t.Compare) and part.relation != "ne":
            yield -part.term
            if part.relation == "eq":
                yield part.term


def _affine(term: t.Term) -> bool:
    return all(
        not m or (len(m) == 1 and m[0][1] == 1 and isinstance(m[0][0], t.Var)) for m in t.polynomial(term)
    ) and not any(isinstance(node, t.Const) and abs(node.value) > 1 << 20 for node in t.walk(term))

"""The part of a loop that does not depend on what it reads: how many iterations it allows, and what is where in each.

A variable is oblivious where all paths change it alike, by a term over oblivious variables and invariants. What all
paths demand of these bounds the iterations; the loop of these conditions and updates alone is summarized as any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopless import terms as t
from loopless.logic import is_quasi_affine
from loopless.paths.model import Exit, LoopPaths, Path
from loopless.records import dataclass
from loopless.recurrences import Closed, solve
from loopless.summary.data.possible import possible
from loopless.summary.transitions.transformer import COUNTER
from loopless.terms.knowing import without_implied


def reads_data(node: t.Node, changing: frozenset[t.Var]) -> bool:
    """Whether a part of ``node`` is read at an address that iterations change."""
    parts = (part for part in t.walk_inside(node) if isinstance(part, t.Read | t.Aggregate))
    return any(not changing.isdisjoint(part.variables) for part in parts)


@dataclass(frozen=True, slots=True)
class Oblivious:
    """The oblivious part of a loop.

    ``common``: what every iteration demands of it. ``kept``: that part of ``common`` which every completed iteration
    leaves true, so that it is asked at the entry only. ``update``: what becomes of its variables; none wraps around
    where ``common`` keeps it from that. ``skeleton``: the loop of these alone, where ``kept`` holds.
    """

    common: t.Condition
    kept: t.Condition
    update: Mapping[t.Var, t.Term]
    closed: Mapping[t.Var, Closed]
    skeleton: LoopPaths

    def at(self, position: t.Term) -> dict[t.Var, t.Term]:
        """The variables after so many iterations, if every one before fulfils ``common``."""
        return {var: _at(closed, position) for var, closed in self.closed.items()}


def _at(closed: Closed, position: t.Term) -> t.Term:
    assert closed.term is not None
    value = t.substitute(closed.term, {COUNTER: position})
    for early in reversed(range(closed.valid_from)):
        value = t.ite(position.le(early), closed.at(early), value)
    return value


def oblivious_part(paths: LoopPaths, given: t.Condition = t.TRUE, *, affine: bool = False) -> Oblivious:
    """The oblivious part of the loop, as large as it may be; ``given`` holds in every completed iteration. ``affine``:
    without conditions that are not affine in the number of iterations.
    """
    changing = frozenset(var for path in paths.iterative for var in path.update) | frozenset(paths.state)
    update = _alike(paths, changing)
    while True:
        oblivious = [
            part
            for part in shared_conjuncts(paths)
            if part.variables & changing <= update.keys() and not reads_data(part, changing)
        ]
        common = without_implied(t.conjunction(oblivious))
        plain = {var: _unwrapped(term, common & given) for var, term in update.items()}
        solution = solve(plain, COUNTER)
        closed = {var: found for var, found in solution.closed.items() if found.term is not None}
        if len(closed) == len(update):
            break
        update = _closed_under({var: update[var] for var in closed}, changing)
    if affine:
        there = {var: _at(found, COUNTER) for var, found in closed.items()}
        common = t.conjunction(part for part in t.conjuncts(common) if is_quasi_affine(t.substitute(part, there)))
    kept = t.conjunction(part for part in t.conjuncts(common) if _is_kept(part, plain, common & given))
    asked = t.conjunction(part for part in t.conjuncts(common) if part not in t.conjuncts(kept))
    skeleton = _skeleton(paths, asked, _needed(plain, asked.variables))
    return Oblivious(common, kept, plain, closed, skeleton)


def shared_conjuncts(paths: LoopPaths) -> list[t.Condition]:
    """What all iterative paths demand."""
    first, *others = paths.iterative
    return [
        part for part in t.conjuncts(first.condition) if all(part in t.conjuncts(path.condition) for path in others)
    ]


def _is_kept(part: t.Condition, update: Mapping[t.Var, t.Term], given: t.Condition) -> bool:
    """Whether an iteration under ``given``, which ``part`` is a part of, leaves it true."""
    after = t.substitute(part, update)
    return after is part or not possible(given & ~after)


def _alike(paths: LoopPaths, changing: frozenset[t.Var]) -> dict[t.Var, t.Term]:
    """Variables that all paths change alike, without a look at what is read."""
    found: dict[t.Var, t.Term] = {}
    for var in sorted(changing):
        # A value lies in the range of its variable: where a path knows that nothing wraps around, it does not wrap.
        terms = sorted({path.update.get(var, var) for path in paths.iterative}, key=lambda term: _is_wrap(term, var))
        term = terms[-1]
        alike = len(terms) == 1 or (len(terms) == 2 and isinstance(term, t.Wrap) and terms[0] is term.arg)
        if alike and (len(terms) == 1 or _is_wrap(term, var)) and not reads_data(term, changing):
            found[var] = term
    return _closed_under(found, changing)


def _is_wrap(term: t.Term, var: t.Var) -> bool:
    """Whether a term is reduced into the range of a variable."""
    return isinstance(term, t.Wrap) and term.type == var.type


def _closed_under(update: dict[t.Var, t.Term], changing: frozenset[t.Var]) -> dict[t.Var, t.Term]:
    """Those whose terms speak of one another and of invariants only."""
    while True:
        left = {var: term for var, term in update.items() if term.variables & changing <= update.keys()}
        if len(left) == len(update):
            return left
        update = left


def _unwrapped(term: t.Term, common: t.Condition) -> t.Term:
    """The term without its wrap where it fits its type in every iteration."""
    if isinstance(term, t.Wrap) and term.type.width is not None and not t.fits(term.arg, term.type):
        outside = ~t.between(term.type.min, term.arg, term.type.max)
        if not possible(common & outside):
            return term.arg
    return term


def _needed(update: Mapping[t.Var, t.Term], wanted: frozenset[t.Var]) -> dict[t.Var, t.Term]:
    """The variables on which ``wanted`` ones depend."""
    found: dict[t.Var, t.Term] = {}
    waiting = sorted(wanted & update.keys())
    while waiting:
        var = waiting.pop()
        if var not in found:
            found[var] = update[var]
            waiting += sorted((update[var].variables & update.keys()) - found.keys())
    return found


def _skeleton(paths: LoopPaths, common: t.Condition, update: Mapping[t.Var, t.Term]) -> LoopPaths:
    """The loop that goes on while ``common`` holds."""
    first = paths.iterative[0]
    again = replace(
        first, condition=common, update={var: term for var, term in update.items() if term is not var}, unknowns=()
    )
    exits: tuple[Path, ...] = ()
    over = ~common
    if over is not t.FALSE:
        leaving = Exit("normal", first.lines[0] if first.lines else 0, paths.loop.header)
        exits = (Path("e1", over, {}, leaving, (), ()),)
    occurring = common.variables | {v for term in update.values() for v in term.variables}
    invariants = tuple(sorted(occurring - update.keys(), key=lambda var: var.key))
    state = tuple(sorted(update, key=lambda var: var.key))
    return LoopPaths(paths.loop, (again,), exits, state, invariants, (), ())

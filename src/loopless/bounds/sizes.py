"""How large and how small variables are at a loop's header and behind it, over the values at its entry.

From how often the loop runs times what an iteration changes at most, from what iterations set variables to, and from
the conditions under which the loop is left: the better of them counts (size bounds, after Brockschmidt et al., TOPLAS
2016). With them a bound on a loop that follows, or on the loop around this one, is a term over earlier values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from loopless.bounds.growth import Counted, Growth
from loopless.bounds.ranking import Ranking
from loopless.bounds.transitions import Transition, system, with_untold
from loopless.logic.farkas import Farkas
from loopless.paths import LoopPaths
from loopless.terms import (
    TRUE,
    Condition,
    Op,
    Term,
    Var,
    conjunction,
    const,
    maximum,
    minimum,
    neg,
)

LEAVING = ("normal", "return")
"""The kinds of exits behind which the program goes on."""


@dataclass(frozen=True, slots=True)
class Size:
    """``lower`` ≤ value ≤ ``upper``, terms over entry values; None where there is no bound (of unbounded integers)."""

    lower: Term | None
    upper: Term | None


@dataclass(frozen=True, slots=True)
class Sizes:
    """For each variable that the loop changes: ``header``, in every state at the header; ``behind``, at the exits by
    which the program goes on. They hold for entry states with ``valid_when`` (and what was known of the entry).
    """

    header: Mapping[Var, Size]
    behind: Mapping[Var, Size]
    valid_when: Condition


def sizes(paths: LoopPaths, ranking: Ranking | None = None) -> Sizes:
    """Size bounds of a loop, by a bound on its iterations if there is one. They hold under that bound's ``valid_when``
    and what it was found with. The range of a type stands where nothing better is known.
    """
    told = with_untold(paths)
    invariants = ranking.invariants if ranking is not None else ()
    given = conjunction(invariants)
    made = system(told, given, split=True)
    engine = Farkas()
    growths = [
        _with_counts(Growth(made, engine, wide=False, by_value=by_value), ranking) for by_value in (False, True)
    ]
    header = {v: _both(v, lambda term: _least(g.upper(term) for g in growths)) for v in told.state}
    leaving = tuple(path for path in paths.exits if path.exit is not None and path.exit.kind in LEAVING)
    behind: dict[Var, Size] = {}
    if len(told.iterative) == len(paths.iterative):
        exits = system(replace(told, iterative=leaving), given, split=True).transitions
        for variable in told.state:
            if all(variable in path.outputs for path in leaving):
                behind[variable] = _both(variable, lambda term: _behind(growths, exits, term))
    return Sizes(header, behind, ranking.valid_when if ranking is not None else TRUE)


def _behind(growths: Sequence[Growth], exits: Sequence[Transition], term: Term) -> Term | None:
    """The greatest value at some exit."""
    values = [_least(bound for growth in growths for bound in growth.after(exit, term)) for exit in exits]
    known = [value for value in values if value is not None]
    return maximum(*known) if known and len(known) == len(values) else None


def _with_counts(growth: Growth, ranking: Ranking | None) -> Growth:
    if ranking is None:
        return growth
    transitions = growth.system.transitions
    for path, bound in ranking.per_path.items():
        growth.count(Counted(frozenset(t.name for t in transitions if t.path.id == path), bound))
    growth.count(Counted(frozenset(t.name for t in transitions), ranking.iterations))
    return growth


def _both(variable: Var, upper: Callable[[Term], Term | None]) -> Size:
    most, least = upper(variable), upper(neg(variable))
    low, high = variable.type.min, variable.type.max
    if most is None:
        most = const(high) if high is not None else None
    elif high is not None:
        most = minimum(most, const(high))
    bottom = _opposite(least) if least is not None else None
    if bottom is None:
        bottom = const(low) if low is not None else None
    elif low is not None:
        bottom = maximum(bottom, const(low))
    return Size(bottom, most)


def _opposite(term: Term) -> Term:
    """The negation, into extremes."""
    if isinstance(term, Op) and term.op in ("min", "max"):
        return (maximum if term.op == "min" else minimum)(*(_opposite(arg) for arg in term.args))
    return neg(term)


def _least(bounds: Iterable[Term | None]) -> Term | None:
    known = [bound for bound in bounds if bound is not None]
    return minimum(*known) if known else None


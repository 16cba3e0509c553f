"""What a summary says of the number of iterations, beside bounds that were found without it."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import Final

from loopless import terms as t
from loopless.bounds.induction.measures import entails
from loopless.bounds.model import Bounds, by_types, least, size
from loopless.limits.bounds import (
    MAX_CLAIM_ALTERNATIVES,
    MAX_COMPARED_PIECES,
    MAX_EXTRA_SIZE,
    MAX_EXTRA_SIZE_WITH_GAPS,
    MAX_PIECES,
    PIECE_OPERATIONS,
)
from loopless.logic import (
    BudgetExceeded,
    NotPresburger,
    Point,
    Region,
    budget,
    feasible,
    may_be_equal,
    sample_points,
    simplify,
)
from loopless.records import dataclass
from loopless.summary.exit_time.exponential import consequences
from loopless.summary.function import CallSummary
from loopless.summary.model import LoopSummary
from loopless.summary.presentation.nonlinear import decided


@dataclass(frozen=True, slots=True)
class Claim:
    """How often something happens.

    At most ``upper`` times (None: no bound), at least ``lower`` times in every run that ends and meets no undefined
    behaviour. ``exact``: in such runs it is ``upper`` times. All of this where ``when`` holds; ``never``: where the
    loop surely never ends; ``gap``: where no bound is known; ``undefined``: where a run meets undefined behaviour and
    may take fewer, if ``when`` does not leave that out. ``reached``: what some run surely takes, if that is not
    ``lower``: for some inputs there may be no run of which that speaks. ``always_undefined``: where every run meets
    undefined behaviour, as far as that is told here. ``entered``:
    whether some run surely comes to a state in ``never``; else the states in which the loop is entered may not be
    among these. ``completed``: the exact number in one entry of
    a loop behind which the function goes on (it returns, or comes to the loop again), where that is known and not
    ``exact``, since calls and exits may end runs inside.
    """

    upper: t.Term | None
    lower: t.Term = t.ZERO
    exact: bool = False
    when: t.Condition = t.TRUE
    never: t.Condition = t.FALSE
    gap: t.Condition = t.FALSE
    undefined: t.Condition = t.FALSE
    reached: t.Term | None = None
    completed: t.Term | None = None
    always_undefined: t.Condition = t.FALSE
    entered: bool = True
    method: str = field(default="", compare=False)
    """The method that gave ``upper``, or those that gave its parts."""

    @property
    def may_be_fewer(self) -> bool:
        """Whether a run that meets undefined behaviour may take fewer than ``lower``, ``exact``, ``completed`` say."""
        told = self.exact or self.completed is not None or self.lower is not t.ZERO
        return self.undefined is not t.FALSE and told

    @property
    def has_gap(self) -> bool:
        """Whether there are inputs for which no bound is known."""
        return self.gap is not t.FALSE


COMPOSITION: Final = "composition"
"""The method of counts that the summary of a whole function has."""

Pieces = Sequence[tuple[t.Condition, t.Term]]


def claim(summary: LoopSummary | None, bounds: Bounds) -> Claim:
    """The iterations of one entry of a loop, from its summary, if there is one, and from bounds on them."""
    if summary is None:
        return _named(_by_bounds(bounds), "", bounds)
    pieces = [(case.when, case.iterations) for case in summary.cases if case.exact]
    silent = [residual.when for residual in summary.residual]
    silent += [case.when for case in summary.cases if not case.exact]
    undefined = t.disjunction(u.when for u in summary.undefined)
    return _named(_claimed(pieces, summary.diverges, silent, undefined, bounds), summary.method, bounds)


def _named(found: Claim, counted_by: str, bounds: Bounds) -> Claim:
    """The claim with the names of the methods that gave its bound: an exact one is a count of the summary."""
    if found.upper is None:
        return found
    if found.exact or not bounds:
        return replace(found, method=counted_by)
    always = [bound for bound in bounds if bound.when is t.TRUE]
    names = [bound.method for bound in always or bounds[:1]]
    return replace(found, method=", ".join(dict.fromkeys(name for name in names if name)))


def claim_of_call(summary: CallSummary | None, loop: str, bounds: Bounds) -> Claim:
    """The iterations of a loop, by its name, in one call of its function."""
    if summary is None or loop not in summary.loops:  # a summary says nothing of loops that it does not know
        return _named(_by_bounds(bounds), "", bounds)
    exact = [case for case in summary.cases if case.kind != "assumption" and case.exact]
    pieces = [(case.when, case.iterations.get(loop, t.ZERO)) for case in exact if loop not in case.uncounted]
    never = t.disjunction(region.when for region in summary.diverges if region.loop == loop)
    silent = [residual.when for residual in summary.residual]
    silent += [case.when for case in exact if loop in case.uncounted]
    silent += [case.when for case in summary.cases if not case.exact]
    silent += [region.when for region in summary.diverges if region.loop != loop]
    undefined = t.disjunction(u.when for u in summary.undefined)
    found = _named(_claimed(pieces, never, silent, undefined, bounds), COMPOSITION, bounds)
    assumed = t.disjunction(case.when for case in summary.cases if case.kind == "assumption" and case.exact)
    if assumed is t.FALSE:
        return found
    # Where a run breaks an assumption, the count says nothing of any run.
    count = found.upper if found.exact and found.upper is not None else found.lower
    return replace(found, reached=t.ite(assumed, t.ZERO, count))


def _by_bounds(bounds: Bounds) -> Claim:
    upper = least(bounds)
    if upper is not None:
        return Claim(upper)
    if bounds:
        return Claim(bounds[0].term, when=bounds[0].when, gap=~bounds[0].when)
    return Claim(None, gap=t.TRUE)


def _claimed(
    pieces: Pieces, never: t.Condition, silent: Iterable[t.Condition], undefined: t.Condition, bounds: Bounds
) -> Claim:
    never = t.disjunction(part for part in _alternatives(never) if _possible(part))
    unknown = t.disjunction(silent)
    covered = ~never & ~unknown & ~undefined
    found = _chosen(pieces, never, unknown, covered, bounds)
    return found if found.when is covered else replace(found, undefined=undefined)


def _alternatives(condition: t.Condition) -> list[t.Condition]:
    """The alternatives of a condition, one level of them inside a conjunction too."""
    if isinstance(condition, t.Or):
        found = [part for arg in condition.args for part in _alternatives(arg)]
        return found if len(found) <= MAX_CLAIM_ALTERNATIVES else [condition]
    either = next((part for part in t.conjuncts(condition) if isinstance(part, t.Or)), None)
    if either is None or len(either.args) > MAX_CLAIM_ALTERNATIVES:
        return [condition]
    rest = [part for part in t.conjuncts(condition) if part is not either]
    return [t.conjunction((*rest, arg)) for arg in either.args]


def _possible(condition: t.Condition) -> bool:
    """Whether a condition may hold, also by what exit times that never come say in plainer terms."""
    return feasible(t.conjunction((condition, *consequences(condition))))


def _chosen(pieces: Pieces, never: t.Condition, unknown: t.Condition, covered: t.Condition, bounds: Bounds) -> Claim:
    general = least(bounds)
    for bound in bounds if pieces else ():
        if all(_agrees(when & bound.when, times, bound.term) for when, times in pieces):
            if bound.when is not t.TRUE and (
                general is not None or not all(entails(when, bound.when) for when, _ in pieces)
            ):
                continue
            exact = unknown is t.FALSE
            lower = bound.term if exact and bound.when is t.TRUE else _piecewise(pieces, t.ZERO)
            gap = t.FALSE if exact else unknown & ~bound.when
            # Beyond the pieces other bounds may be lower.
            upper = general if not exact and bound.when is t.TRUE and general is not None else bound.term
            return Claim(upper, lower, exact, bound.when, never, gap)
    grouped = _grouped(pieces)
    constants = [times.value for _, times in grouped if isinstance(times, t.Const)]
    if len(grouped) > MAX_PIECES and len(constants) == len(grouped) and (general is None or by_types(general)):
        most = t.const(max(constants))
        return Claim(most, _piecewise(pieces, t.ZERO), exact=False, when=covered, never=never, gap=unknown)
    words = sum(size(when) + size(times) for when, times in grouped)
    if general is not None and (len(grouped) > MAX_PIECES or words > size(general) + MAX_EXTRA_SIZE):
        return Claim(general, _piecewise(pieces, t.ZERO), exact=False, never=never)
    if not grouped:
        found = _by_bounds(bounds)
        gap = found.gap if never is t.FALSE else unknown & found.gap
        return Claim(found.upper, found.lower, found.exact, found.when, never, gap)
    conditional = general is None and bounds and covered is not t.TRUE
    plain = _as_maximum(pieces) if general is None and not conditional else None
    if plain is not None:
        lower = plain if unknown is t.FALSE else _piecewise(pieces, t.ZERO)
        return Claim(plain, lower, unknown is t.FALSE, covered, never, unknown)
    if conditional:
        bound = bounds[0]
        if (
            unknown is not t.FALSE
            and words + size(unknown) > size(bound.term) + size(bound.when) + MAX_EXTRA_SIZE_WITH_GAPS
        ):
            gap = simplify(~bound.when & ~never)
            return Claim(bound.term, when=bound.when, never=never, gap=gap)
        upper = _piecewise(pieces, bound.term)
        valid = simplify(covered | bound.when & ~never)
        gap = simplify(unknown & ~bound.when)
        return Claim(upper, _piecewise(pieces, t.ZERO), unknown is t.FALSE, valid, never, gap)
    if general is not None and covered is not t.TRUE:
        upper = _piecewise(pieces, general)
        return Claim(upper, _piecewise(pieces, t.ZERO), unknown is t.FALSE, t.TRUE, never)
    upper = _piecewise(pieces, None)
    lower = upper if covered is t.TRUE else _piecewise(pieces, t.ZERO)
    return Claim(upper, lower, unknown is t.FALSE, covered, never, unknown)


def _agrees(when: t.Condition, times: t.Term, other: t.Term) -> bool:
    """Whether two counts are equal wherever ``when`` holds."""
    return may_be_equal(times, other, _points(when)) and entails(when, times.eq(other), solver=True)


@functools.lru_cache(maxsize=256)
def _points(when: t.Condition) -> tuple[Point, ...]:
    try:
        with budget(PIECE_OPERATIONS):
            return sample_points(Region.of(when))
    except (BudgetExceeded, NotPresburger):
        return ()


def _grouped(pieces: Pieces) -> list[tuple[t.Condition, t.Term]]:
    """The pieces, those of one number of iterations together; what takes most words to tell comes last."""
    groups: dict[t.Term, list[t.Condition]] = {}
    for when, times in pieces:
        groups.setdefault(times, []).append(when)
    found = [(t.disjunction(whens), times) for times, whens in groups.items()]
    return sorted(found, key=lambda pair: (size(pair[0]), size(pair[1]), pair[1].key))


def _piecewise(pieces: Pieces, otherwise: t.Term | None) -> t.Term:
    """One term for all pieces, and for the rest; without ``otherwise`` the last piece stands for the rest too."""
    grouped = _grouped(pieces)
    if otherwise is None:
        *grouped, (_, otherwise) = grouped
    needed = []
    for when, times in grouped:
        small = size(when) + size(times) + size(otherwise) <= MAX_COMPARED_PIECES
        if not (small and _agrees(when, times, otherwise)):
            needed.append((when, times))
    return _in_turn(needed, otherwise)


def _in_turn(pieces: Pieces, otherwise: t.Term) -> t.Term:
    """The pieces for a reader who reaches one only where those before it do not hold."""
    found: list[tuple[t.Condition, t.Term]] = []
    rest: t.Condition = t.TRUE
    for when, times in pieces:
        shorter = simplify(when, rest, operations=PIECE_OPERATIONS)
        found.append((shorter, decided(times, rest & when, operations=PIECE_OPERATIONS)))
        rest = rest & ~when
    result = otherwise if rest is t.TRUE else decided(otherwise, rest, operations=PIECE_OPERATIONS)
    for when, times in reversed(found):
        result = t.ite(when, times, result)
    return result


def piecewise(pieces: Pieces) -> t.Term:
    """One term for all pieces; values that none of them covers have that of the last one."""
    return _as_maximum(pieces) or _piecewise(pieces, None)


def _as_maximum(pieces: Pieces) -> t.Term | None:
    """``max(0, t)`` where that is right for all pieces, t being the longest of them."""
    longest = max((times for _, times in pieces), key=lambda term: (size(term), term.key))
    candidate = t.maximum(t.ZERO, longest)
    if all(entails(when, times.eq(candidate)) for when, times in pieces):
        return candidate
    return None

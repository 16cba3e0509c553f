"""Oscillation in closed form (LoopSCC, section 4.3.2, made symbolic): a two-step oscillation rotates an interval.

A *selector* is a linear form L: below 0 every path of the group adds a > 0 to it, from 0 on every path takes b > 0
away. Among the first t iterations the high ones are H(t) = min(t, max(0, floor((L + b + a·t) / (a + b)))), for every
L at the start and as long as the run stays in the group. What each path adds by constants is then a sum over t and
H(t); several selectors that move independently are a sum of such terms. The run ends where it leaves the domains of
the group: one parametric least value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from loopless.logic import BudgetExceeded, Region, budget
from loopless.paths.model import Path
from loopless.summary.effects import (
    COUNTER,
    TOTAL,
    Lost,
    Nothing,
    Once,
    Piece,
    Side,
    TurnForms,
    Turns,
    counter_of,
)
from loopless.summary.elimination import Ending, resolved
from loopless.summary.lengths import run_lengths
from loopless.summary.side import Undecided, tightest
from loopless.summary.system import System
from loopless.summary.turning import Turning, accumulated, is_late
from loopless.terms import (
    INTEGERS,
    ZERO,
    And,
    Compare,
    Condition,
    Const,
    Or,
    Term,
    Var,
    add,
    at_most_zero,
    conjunction,
    conjuncts,
    const,
    floor_div,
    greater,
    less,
    less_equal,
    maximum,
    minimum,
    negate,
    polynomial,
    scale,
    sub,
    substitute,
)

MAX_SELECTORS = 3
"""Products of more oscillations than this are not looked for."""

OPERATIONS = 500_000
"""isl's operations allowed for the runs of one group."""


@dataclass(frozen=True, slots=True)
class Selector:
    """``low`` is the condition L < 0, as a term that is ≤ 0 there; ``up`` = a, ``down`` = b."""

    low: Term
    up: int
    down: int

    @property
    def high_steps(self) -> Term:
        """How many of the first :data:`COUNTER` iterations are high."""
        moved = add(self.low, const(self.down - 1), scale(COUNTER, self.up))
        return minimum(COUNTER, maximum(ZERO, floor_div(moved, const(self.up + self.down))))

    @property
    def inside(self) -> Condition:
        """The interval that is gone round, -b <= L < a."""
        return conjunction((less_equal(const(1 - self.down), self.low), less_equal(self.low, const(self.up))))

    @property
    def high_steps_inside(self) -> Term:
        """:attr:`high_steps` for starts in the interval."""
        moved = add(self.low, const(self.down - 1), scale(COUNTER, self.up))
        return floor_div(moved, const(self.up + self.down))


@dataclass(slots=True, eq=False)
class Group:
    """Pieces that take turns as selectors say: ``signs`` has for each piece which selectors are high."""

    members: tuple[Piece, ...]
    selectors: tuple[Selector, ...]
    signs: tuple[tuple[bool, ...], ...]
    inside: bool = False
    """Whether the members are restricted to where the selectors are in their intervals."""

    @property
    def highs(self) -> list[Term]:
        """How many of the first :data:`COUNTER` iterations are high, for each selector."""
        return [s.high_steps_inside if self.inside else s.high_steps for s in self.selectors]


def accelerate_groups(system: System) -> tuple[list[Piece], list[Ending]]:
    """The pieces of the loop with each oscillating group replaced by its longest runs, and where those never end.

    Raises :class:`loopless.logic.BudgetExceeded` only where the budget around the call is used up.
    """
    pieces = list(system.pieces)
    found: list[Piece] = []
    endings: list[Ending] = []
    while True:
        group = find_group(pieces)
        if group is None:
            return pieces + found, endings
        pieces = [piece for piece in pieces if piece not in group.members]
        if len(group.selectors) == 1:
            # The way into the interval is a run of one path, which elimination finds more easily.
            group, outside = _restricted(group)
            found += outside
        try:
            with budget(OPERATIONS):
                runs, ends = longest_runs(group)
        except BudgetExceeded:
            found += group.members
            continue
        found += runs
        endings += ends


def _restricted(group: Group) -> tuple[Group, list[Piece]]:
    """The group inside the interval that it goes round, and the parts of its members outside."""
    core = Region.of(group.selectors[0].inside, group.members[0].where.variables)
    members = []
    outside = []
    for piece in group.members:
        members.append(piece.within((piece.where & core).coalesce()))
        rest = (piece.where - core).coalesce()
        if not rest.is_empty():
            outside.append(piece.within(rest))
    return Group(tuple(members), group.selectors, group.signs, inside=True), outside


# -- finding ----------------------------------------------------------------------------------------------------------


def find_group(pieces: Sequence[Piece]) -> Group | None:
    """A group of at least two pieces that goes round, of as many pieces as possible."""
    moving = [piece for piece in pieces if isinstance(piece.effect, Once) and steps(piece) is not None]
    candidates = _candidates(moving)
    tried: list[Group] = []
    for low in candidates:
        for members in _memberships(low, moving):
            group = _grouped(members, low, candidates)
            if group is not None and _goes_round(group, pieces):
                tried.append(group)
    return max(tried, key=lambda group: len(group.members), default=None)


def steps(piece: Piece) -> dict[Var, int] | None:
    """By how much each control variable moves, None where one does not move by a constant."""
    found = {}
    for var, term in piece.control.items():
        moved = sub(term, var)
        if not isinstance(moved, Const):
            return None
        found[var] = moved.value
    return found


def _candidates(pieces: Iterable[Piece]) -> list[Term]:
    """Linear terms that are ≤ 0 in a condition of some path."""
    found: dict[Term, None] = {}
    for piece in pieces:
        _collect(piece.where.rough_condition(), frozenset(piece.control), found)
    return list(found)


def _collect(condition: Condition, control: frozenset[Var], found: dict[Term, None]) -> None:
    match condition:
        case Compare():
            term = condition.term
            if condition.relation == "le" and term.variables & control and _is_linear(term):
                found[term] = None
        case And() | Or():
            for part in condition.args:
                _collect(part, control, found)
        case _:
            pass


def _is_linear(term: Term) -> bool:
    return all(
        not monomial or (len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], Var))
        for monomial in polynomial(term)
    )


def _step_of(term: Term, moves: Mapping[Var, int]) -> int:
    """By how much a linear term moves."""
    total = 0
    for monomial, coefficient in polynomial(term).items():
        if monomial and isinstance(monomial[0][0], Var):
            total += coefficient * moves.get(monomial[0][0], 0)
    return total


def _side_of(piece: Piece, low: Term) -> bool | None:
    """Whether the piece is high (True) or low for the selector, None where it is neither throughout."""
    is_low = Region.of(at_most_zero(low), piece.where.variables)
    try:
        if piece.where.is_subset(is_low):
            return False
        return True if piece.where.disjoint(is_low) else None
    except ValueError:
        return None


def _memberships(low: Term, pieces: Iterable[Piece]) -> list[list[tuple[Piece, bool]]]:
    """The sets of pieces that ``low`` may select between: one for each pair of steps."""
    lows: dict[int, list[Piece]] = {}
    highs: dict[int, list[Piece]] = {}
    for piece in pieces:
        if not low.variables <= set(piece.where.variables):
            continue
        side = _side_of(piece, low)
        if side is None:
            continue
        moves = steps(piece)
        assert moves is not None
        step = _step_of(low, moves)
        if not side and step > 0:
            lows.setdefault(step, []).append(piece)
        elif side and step < 0:
            highs.setdefault(-step, []).append(piece)
    return [
        [(piece, False) for piece in below] + [(piece, True) for piece in above]
        for below in lows.values()
        for above in highs.values()
    ]


def _grouped(members: list[tuple[Piece, bool]], low: Term, candidates: Iterable[Term]) -> Group | None:
    """The group of these members, with further selectors where the first does not decide all movement."""
    pieces = tuple(piece for piece, _ in members)
    first_selector = _selector(low, members)
    if first_selector.up == first_selector.down:
        return None  # strict alternation: elimination finds it, with the trace
    selectors = [first_selector]
    columns = [[high for _, high in members]]
    group = Group(pieces, tuple(selectors), tuple(zip(*columns, strict=True)))
    if _is_separable(group):
        return group
    for other in candidates:
        if other is low or len(selectors) == MAX_SELECTORS:
            continue
        found = [m for m in _memberships(other, pieces) if len(m) == len(pieces)]
        if not found:
            continue
        sides = {id(piece): high for piece, high in found[0]}
        column = [sides[id(piece)] for piece in pieces]
        if column in columns or [not high for high in column] in columns:
            continue
        selectors.append(_selector(other, found[0]))
        columns.append(column)
        group = Group(pieces, tuple(selectors), tuple(zip(*columns, strict=True)))
        if _is_separable(group):
            return group
    return None


def _selector(low: Term, members: Iterable[tuple[Piece, bool]]) -> Selector:
    found = {}
    for piece, high in members:
        moves = steps(piece)
        assert moves is not None
        found[high] = abs(_step_of(low, moves))
    return Selector(low, found[False], found[True])


def _is_separable(group: Group) -> bool:
    """Whether the selectors decide, each on its own, how the control variables move."""
    moves = [steps(piece) or {} for piece in group.members]
    control = {var for move in moves for var in move}
    return all(separated(group.signs, [move.get(var, 0) for move in moves]) is not None for var in control)


def separated(signs: Sequence[Sequence[bool]], values: Sequence[int]) -> list[int] | None:
    """Integers c_0, c_1, … with value = c_0 + Σ c_j over the high selectors j, for every member; else None."""
    width = len(signs[0]) + 1
    rows = [
        [Fraction(1), *(Fraction(int(high)) for high in row), Fraction(value)]
        for row, value in zip(signs, values, strict=True)
    ]
    pivots: list[int] = []
    for column in range(width):
        at = len(pivots)
        pivot = next((i for i in range(at, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [x / rows[at][column] for x in rows[at]]
        for i, row in enumerate(rows):
            if i != at and row[column]:
                rows[i] = [x - row[column] * y for x, y in zip(row, rows[at], strict=True)]
        pivots.append(column)
    if any(row[-1] for row in rows[len(pivots) :]):
        return None
    result = [Fraction(0)] * width
    for i, column in enumerate(pivots):
        result[column] = rows[i][-1]
    return [int(x) for x in result] if all(x.denominator == 1 for x in result) else None


def _goes_round(group: Group, pieces: Iterable[Piece]) -> bool:
    """Whether inside the intervals that the selectors go round no other piece takes over."""
    variables = group.members[0].where.variables
    core = Region.of(conjunction(s.inside for s in group.selectors), variables)
    others = [piece for piece in pieces if piece not in group.members]
    for member in group.members:
        begun = member.where & core
        if begun.is_empty():
            return False
        if any(not other.where.preimage(member.control).disjoint(begun) for other in others):
            return False
    return True


# -- running ----------------------------------------------------------------------------------------------------------


def longest_runs(group: Group) -> tuple[list[Piece], list[Ending]]:
    """The longest runs of a group, and where they never end. Raises :class:`loopless.logic.BudgetExceeded`."""
    control, forms = _forms(group)
    whole = group.members[0].where
    for member in group.members[1:]:
        whole |= member.where
    whole = whole.coalesce()
    lengths, never = run_lengths(whole, group.members, control)
    runs: list[Piece] = []
    for region, count in lengths:
        after = {var: substitute(form, {COUNTER: count}) for var, form in control.items()}
        sides = partial(_sides, group, forms, region, count)
        runs += resolved(Piece(region, after, Turns(forms, count, sides)))
    if never.is_empty():
        return runs, []
    again = Piece(never, control, Turns(forms, COUNTER, partial(_sides_for_ever, group, forms, never)))
    return runs, [Ending(Piece(never, {}, Nothing()), "forever", again=again)]


def _forms(group: Group) -> tuple[dict[Var, Term], TurnForms]:
    """The control variables, and all variables and counters, after :data:`COUNTER` iterations."""
    highs = group.highs
    paths = [_path(piece) for piece in group.members]
    control: dict[Var, Term] = {}
    values: dict[Var, Term] = {TOTAL: add(TOTAL, COUNTER)}
    lost: dict[Var, str] = {}
    moves = [steps(piece) or {} for piece in group.members]
    for var in sorted({v for move in moves for v in move}):
        factors = separated(group.signs, [move.get(var, 0) for move in moves])
        assert factors is not None
        control[var] = add(var, _total(factors, highs))
    ids = list(dict.fromkeys(path.id for path in paths))
    shares: dict[str, Term] = {}
    for id, path in {path.id: path for path in paths}.items():
        counter = counter_of(path)
        share = separated(group.signs, [int(p.id == id) for p in paths])
        if share is None:
            lost[counter] = f"how often path {id} is taken has no closed form"
        else:
            shares[id] = _total(share, highs)
            values[counter] = add(counter, shares[id])
    single = [high for (high,) in group.signs] if len(group.selectors) == 1 else None
    turning = Turning(paths, single, shares, group.selectors[0].low, highs[0], control)
    for var in sorted({v for path in paths for v in path.update} - control.keys()):
        form = accumulated(var, turning)
        if form is None:
            lost[var] = f"what {var.name} comes to while paths {', '.join(ids)} take turns has no closed form"
        else:
            values[var] = form
    checked = any(member.effect.checked for member in group.members)
    return control, TurnForms(values | control, lost, tuple(ids), checked)


def _path(piece: Piece) -> Path:
    assert isinstance(piece.effect, Once)
    return piece.effect.path


def _total(factors: Sequence[int], highs: Sequence[Term]) -> Term:
    return add(scale(COUNTER, factors[0]), *(scale(h, c) for h, c in zip(highs, factors[1:], strict=True)))


def _sides(group: Group, forms: TurnForms, region: Region, count: Term) -> tuple[Side, ...]:
    """What the checks of the members along a run of ``count`` iterations require of the entry values."""
    found: list[Side] = []
    alone = group.inside and len(group.members) == 2
    for member, (high, *_) in zip(group.members, group.signs, strict=True):
        sides = member.effect.sides()
        if not sides:
            continue
        if alone:
            during, known = _while_selected(group.selectors[0], high=high), group.selectors[0].low.variables
            bound: dict[Var, Term] = {_LENGTH: count}
        else:
            control = {var: forms.values[var] for var in member.control}
            span = Region.of(conjunction((less_equal(ZERO, COUNTER), less(COUNTER, count))))
            during, known, bound = member.where.preimage(control) & region & span, frozenset(region.variables), {}
        for side in sides:
            shown = _along(group, forms, member, side)
            found += [Side(c, side.exit) for c in tightest(side.condition, shown, COUNTER, during, known, bound)]
    return tuple(dict.fromkeys(found))


_LENGTH = Var("#n", INTEGERS)
"""How many iterations the run takes, where the logic need not know."""


def _while_selected(selector: Selector, *, high: bool) -> Region:
    """The starts in the interval and the counters below the length of the run at which a high (or low) step comes."""
    down = scale(selector.high_steps_inside, -selector.up - selector.down)
    here = add(selector.low, scale(COUNTER, selector.up), down)
    turn = greater(here, ZERO) if high else at_most_zero(here)
    return Region.of(conjunction((selector.inside, less_equal(ZERO, COUNTER), less(COUNTER, _LENGTH), turn)))


def _sides_for_ever(group: Group, forms: TurnForms, never: Region) -> tuple[Side, ...]:
    """The checks of the members, after :data:`COUNTER` iterations from values in ``never``."""
    found: list[Side] = []
    # Of a low and a high piece each is taken again and again; of several high ones perhaps one only.
    recurs = len(group.members) == 2
    for member in group.members:
        sides = member.effect.sides()
        if sides:
            control = {var: forms.values[var] for var in member.control}
            parts = conjuncts(member.where.preimage(control).rough_condition())
            made = conjunction(part for part in parts if COUNTER in part.variables or not _holds_in(never, part))
            found += [Side(_along(group, forms, member, side), side.exit, made, recurs) for side in sides]
    return tuple(dict.fromkeys(found))


def _holds_in(region: Region, part: Condition) -> bool:
    return Region.of(negate(part), region.variables).disjoint(region)


def _along(group: Group, forms: TurnForms, member: Piece, side: Side) -> Condition:
    """A check of a member after :data:`COUNTER` iterations. Raises :class:`Lost`, :class:`Undecided`."""
    gone = sorted(v for v in side.condition.variables if v in forms.lost)
    if gone:
        raise Lost(forms.lost[gone[0]])
    paths = [_path(piece) for piece in group.members]
    others = side.condition.variables & forms.values.keys() - member.control.keys()
    if any(is_late(var, paths) for var in others):
        raise Undecided(f"{side.condition} takes its final form only after some iterations")
    return substitute(side.condition, forms.values)

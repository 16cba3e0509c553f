"""Elimination of paths by maximal runs (design, section 5.3): Gauss's elimination on the graph of pieces.

A piece that is eliminated is first accelerated: it becomes pieces that each stand for its longest run and land outside
its domain. Every other piece that lands in the domain is then continued by these. A cycle of paths shows up as a piece
that lands in itself; its runs are Proteus's periods, nested to any depth. What only lands where the loop has ended is
an ending; in the end all pieces are continued to endings, backwards.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from loopless.automaton.runs import effect
from loopless.logic import BudgetExceeded, NotPresburger, Region, budget, pieces_of
from loopless.refusals import Reason, Refused
from loopless.summary.alike import gathered
from loopless.summary.effects import COUNTER, Nothing, Piece, Repeat, Then, Values
from loopless.summary.lengths import run_lengths
from loopless.summary.model import Run
from loopless.summary.system import System, where
from loopless.terms import (
    INTEGERS,
    ONE,
    Condition,
    Const,
    Ite,
    Op,
    Term,
    TermTooLarge,
    Var,
    add,
    brief,
    const,
    equal,
    negate,
    sub,
    substitute,
    walk,
)

MAX_PIECES = 200
"""More pieces than this are not kept (design, section 5.6)."""

MAX_SPLIT = 70
"""A step that takes more different values than this is not split by them."""

OPERATIONS = 1_500_000
"""isl's operations allowed for eliminating the paths of one loop, and for going back from its ends."""

STEP_OPERATIONS = 500_000
"""And for the runs of one piece."""

MAX_ROUNDS = 70
"""Runs without closed form are followed where they have fewer rounds than this: a width, for doubling and halving."""


@dataclass(slots=True, eq=False)
class Ending:
    """Entry values in ``piece.where`` come by ``piece`` to an end.

    "ended": the loop is left; "forever": ``again`` then repeats for ever; "stuck": ``why`` nothing more is known.
    """

    piece: Piece
    kind: Literal["ended", "forever", "stuck"]
    again: Piece | None = None
    why: Refused | None = None


@dataclass(slots=True, eq=False)
class Node:
    """A piece, and the pieces in which one step of it may land."""

    piece: Piece
    after: set[Node] = field(default_factory=set)
    unsure: set[Node] = field(default_factory=set)
    """Those of ``after`` for which that has not been looked at."""
    seen: bool = False
    """Whether steps that are translations on the domain have been looked for."""
    mixed: bool = True
    """Whether some of the piece may lead to endings at once."""


class Stuck(Exception):
    """The runs of a piece are not known; carries the refusal."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(str(refused))
        self.refused = refused


def eliminate(system: System, pieces: Iterable[Piece], endings: Iterable[Ending] = ()) -> list[Ending]:
    """How the loop ends, for all values of the universe: the domains of the result partition it.

    ``pieces`` partition with the system's ended values and those of ``endings`` the universe. What exceeds a limit is
    stuck.
    """
    return _Elimination(system).solve(list(pieces), list(endings))


class _Elimination:
    def __init__(self, system: System) -> None:
        self.system = system
        self.nodes: list[Node] = []
        self.levels: list[list[Piece]] = []
        self.endings: list[Ending] = []

    def solve(self, pieces: list[Piece], endings: list[Ending]) -> list[Ending]:
        self.endings = [Ending(Piece(self.system.ended, {}, Nothing()), "ended"), *endings]
        self.nodes = [Node(piece) for piece in pieces if not piece.where.is_empty()]
        try:
            with budget(OPERATIONS):
                for node in self.nodes:
                    node.after = node.unsure = set(self.nodes)
                for node in self.nodes:
                    self._look_again(node)
                while self.nodes:
                    self._cut_tails()
                    self._eliminate(self._next())
        except BudgetExceeded:
            for node in self.nodes:
                self.endings.append(_stuck(node.piece.where, self._too_costly()))
        return self._back()

    def _too_costly(self) -> Refused:
        detail = "the paths take turns in a way that needs more steps or cases than the budget for this loop"
        return Refused(Reason.BUDGET, where(self.system.paths), detail)

    # -- the graph of pieces --------------------------------------------------------------------------------------

    @staticmethod
    def _lands(piece: Piece, region: Region) -> bool:
        return not region.preimage(piece.control).disjoint(piece.where)

    def _next(self) -> Node:
        """The piece to eliminate next: such that few pieces go through it, and simple runs first."""
        looping = {node for node in self.nodes if node in node.after}

        def cost(node: Node) -> tuple[int, int, int]:
            before = [other for other in self.nodes if other is not node and node in other.after]
            if node in looping:
                hard = 0 if _is_translation(node.piece) else 2 if _simple(node.piece) else 3
            else:
                # What a piece that repeats leads to comes after it, else its rounds would be peeled off one by one.
                hard = 1 if looping.isdisjoint(before) else 4
            return (0 if not before else 1, hard, len(before) * len(node.after))

        return min(self.nodes, key=cost)

    def _eliminate(self, node: Node) -> None:
        if node in node.after and not _simple(node.piece) and self._split(node):
            return
        self._pass_through(node)
        if len(self.nodes) + len(self.endings) > MAX_PIECES:
            raise BudgetExceeded("too many pieces")

    def _pass_through(self, node: Node) -> None:
        """Continue every piece that lands in ``node`` by its runs. Nothing has changed if this raises."""
        if not node.after:
            ended = self._to_endings(node.piece, self.endings)
            made: list[list[Node]] = []
            before: list[Node] = []
        else:
            before = [other for other in self.nodes if other is not node and node in other.after]
            runs, ended = ([node.piece], []) if node not in node.after else self._accelerate(node)
            level = [Node(run, node.after - {node}) for run in runs]
            made = [self._continued(other, node, level) for other in before]
            self.levels.append(runs)
        self.endings += ended
        self.nodes.remove(node)
        for other in self.nodes:
            other.after.discard(node)
        self._replace(dict(zip(before, made, strict=True)))

    def _continued(self, node: Node, gone: Node, level: list[Node]) -> list[Node]:
        """``node``, which may land in ``gone``, with its continuations through the runs of ``gone``."""
        piece = node.piece
        rest = piece.where
        made: list[Node] = []
        for run in level:
            landing = run.piece.where.preimage(piece.control) & piece.where
            if landing.is_empty():
                continue
            rest -= landing
            through = composed(piece, run.piece, landing.coalesce())
            made += [Node(part, run.after) for part in resolved(through)]
        if not rest.is_empty():
            made.append(Node(piece.within(rest.coalesce()), node.after - {gone}))
        return made

    def _replace(self, replaced: Mapping[Node, list[Node]]) -> None:
        """The pieces made of others stand in their place; their successors are candidates, and are looked at here."""
        new = {made for parts in replaced.values() for made in parts}
        self.nodes = [node for node in self.nodes if node not in replaced] + [
            m for parts in replaced.values() for m in parts
        ]
        for node in self.nodes:
            unsure = node.after if node in new else node.after & replaced.keys()
            if unsure:
                candidates = {c for after in unsure for c in replaced.get(after, [after])}
                node.after = node.after - unsure | candidates
                node.unsure |= candidates
        for node in self.nodes:
            self._look_again(node)

    def _look_again(self, node: Node) -> None:
        """Drop successors in which the piece does not land after all, and end at once what lands in none."""
        node.after = {a for a in node.after if a not in node.unsure or self._lands(node.piece, a.piece.where)}
        node.unsure = set()
        if node in node.after and not _is_translation(node.piece) and not node.seen:
            node.seen = True
            node.piece = Piece(node.piece.where, simplified(node.piece.control, node.piece.where), node.piece.effect)

    def _cut_tails(self) -> None:
        """End at once what surely leaves by a piece, where another piece leads only there: it is then no cycle."""
        for node in self.nodes:
            before = [other for other in self.nodes if other is not node and node in other.after]
            if node.mixed and before and node.after:
                self._cut_tail(node, before)
            node.mixed = False

    def _cut_tail(self, node: Node, before: list[Node]) -> None:
        piece = node.piece
        going_on = [a.piece.where.preimage(piece.control) & piece.where for a in node.after]
        rest = going_on[0]
        for region in going_on[1:]:
            rest |= region
        rest = rest.coalesce()
        tail = (piece.where - rest).coalesce()
        if tail.is_empty() or all(self._lands(other.piece, rest) for other in before):
            return
        self.endings += self._to_endings(piece.within(tail), self.endings)
        node.piece = piece.within(rest)
        for other in self.nodes:
            if node in other.after and not self._lands(other.piece, rest):
                other.after = other.after - {node}

    # -- runs -----------------------------------------------------------------------------------------------------

    def _accelerate(self, node: Node) -> tuple[list[Piece], list[Ending]]:
        """The runs of a piece that lands in itself, and how it ends otherwise."""
        piece = node.piece
        try:
            with budget(STEP_OPERATIONS):
                runs, never = longest_runs(self.system, piece)
        except Stuck as stuck:
            return [], [_stuck(piece.where, stuck.refused)]
        runs = gathered(runs)
        if never.is_empty():
            return runs, []
        return runs, [Ending(Piece(never, {}, Nothing()), "forever", again=piece)]

    def _split(self, node: Node) -> bool:
        """Replace a piece whose step is no translation by pieces whose step is; False where that is not possible."""
        parts = split(node.piece)
        if parts is None:
            return False
        self._replace({node: [Node(part, node.after) for part in parts]})
        return True

    # -- backwards ------------------------------------------------------------------------------------------------

    def _back(self) -> list[Ending]:
        endings = list(self.endings)
        with budget(OPERATIONS):
            for level in reversed(self.levels):
                endings += [ending for piece in level for ending in self._back_from(piece, endings)]
            with contextlib.suppress(BudgetExceeded):
                endings = _together(endings)
        return endings

    def _back_from(self, piece: Piece, endings: list[Ending]) -> list[Ending]:
        """The endings of a piece; past a limit it is stuck."""
        with contextlib.suppress(BudgetExceeded):
            found = self._to_endings(piece, endings)
            if len(endings) + len(found) <= MAX_PIECES:
                return found
        return [_stuck(piece.where, self._too_costly())]

    @staticmethod
    def _to_endings(piece: Piece, endings: list[Ending]) -> list[Ending]:
        """The piece continued by the endings in which it lands."""
        found = []
        for ending in endings:
            landing = ending.piece.where.preimage(piece.control)
            if not landing.disjoint(piece.where):
                whole = composed(piece, ending.piece, (landing & piece.where).coalesce())
                found.append(Ending(whole, ending.kind, ending.again, ending.why))
        return found


def _together(endings: list[Ending]) -> list[Ending]:
    """The endings with pieces of the same effect put together."""
    plain = gathered([ending.piece for ending in endings if ending.kind == "ended"])
    return [Ending(piece, "ended") for piece in plain] + [e for e in endings if e.kind != "ended"]


def _stuck(region: Region, why: Refused) -> Ending:
    return Ending(Piece(region, {}, Nothing()), "stuck", why=why)


# -- pieces -----------------------------------------------------------------------------------------------------------


def composed(first: Piece, second: Piece, region: Region) -> Piece:
    """``second`` after ``first``, on ``region``."""
    if isinstance(second.effect, Nothing):
        return first.within(region)
    control = dict(first.control)
    for var, term in second.control.items():
        control[var] = substitute(term, first.control)
    equalities = region.equalities()
    return Piece(region, _recognised_steps(control, equalities), Then(first, second, equalities))


def _is_translation(piece: Piece) -> bool:
    return all(isinstance(sub(term, var), Const) for var, term in piece.control.items())


def _recognised_steps(control: Values, equalities: Values) -> dict[Var, Term]:
    """The values, those written as steps that are steps because of the equalities."""
    found = dict(control)
    if not equalities:
        return found
    for var, term in control.items():
        if not _is_step(var, term):
            value = substitute(term, equalities)
            moved = substitute(sub(term, var), equalities)
            if isinstance(value, Const):
                found[var] = value
            elif isinstance(moved, Const):
                found[var] = add(var, moved)
    return found


def simplified(control: Values, region: Region) -> dict[Var, Term]:
    """The values with those that the region fixes, or that move by a constant there, written so."""
    found = {}
    for var, term in control.items():
        found[var] = term if _is_step(var, term) else _recognised(var, term, region)
    return found


def _is_step(var: Var, term: Term) -> bool:
    return isinstance(term, Const | Var) or isinstance(sub(term, var), Const)


def _recognised(var: Var, term: Term, region: Region) -> Term:
    try:
        low, high = region.range_of(term)
        if low is not None and low == high:
            return const(low)
        low, high = region.range_of(sub(term, var))
    except (NotPresburger, ValueError):
        return term
    if low is not None and low == high:
        return add(var, const(low))
    return term


def resolved(piece: Piece) -> list[Piece]:
    """The piece split so that no control variable's value is a choice."""
    result = [piece]
    for var, term in piece.control.items():
        if not any(_is_choice(node) for node in walk(term)):
            continue
        parts: list[Piece] = []
        for part in result:
            for region, value in pieces_of(term, part.where):
                parts.append(Piece(region, {**part.control, var: value}, part.effect))
        result = parts
    return result


def _is_choice(node: object) -> bool:
    return isinstance(node, Ite) or (isinstance(node, Op) and node.op in ("min", "max"))


def _simple(piece: Piece) -> bool:
    """Whether the piece's step has closed forms that the logic can follow."""
    cached = piece.effect.__dict__.setdefault("simple_by_control", {})
    key = tuple(sorted(piece.control.items()))
    if key not in cached:
        cached[key] = isinstance(control_forms(piece), dict)
    return bool(cached[key])


def control_forms(piece: Piece) -> dict[Var, Term] | str:
    """The control variables after :data:`COUNTER` ≥ 1 rounds; or why there are no forms that the logic can follow."""
    try:
        found = effect(piece.control, frozenset())
    except TermTooLarge:
        return "its closed form is too large"
    if found.scattered:
        names = ", ".join(sorted(var.name for var in found.scattered))
        return f"{names} has no closed form"
    for var, form in found.forms.items():
        try:
            Region.of(equal(Var("#value", INTEGERS), form))
        except NotPresburger:
            shown = brief(substitute(form, {COUNTER: Var("k", INTEGERS)}))
            return f"{var.name} after k rounds is {shown}, which is not affine"
    return dict(found.forms)


def longest_runs(system: System, piece: Piece) -> tuple[list[Piece], Region]:
    """The longest runs of a piece that may land in itself, and where it never lands outside.

    Raises :class:`Stuck`, :class:`BudgetExceeded`.
    """
    forms = control_forms(piece)
    if isinstance(forms, str):
        few = short_runs(piece)
        if few is not None:
            return few, Region.empty(system.variables)
        word = piece.effect.trace()
        several = len(word) != 1 or not isinstance(word[0], Run)
        reason = Reason.MULTI_PATH if several else Reason.NO_CLOSED_FORM
        raise Stuck(Refused(reason, where(system.paths), f"how often the paths repeat is not known: {forms}"))
    lengths, never = run_lengths(piece.where, [piece], forms)
    runs: list[Piece] = []
    for region, count in lengths:
        if count is ONE:
            runs.append(piece.within(region))
            continue
        control = {var: substitute(form, {COUNTER: count}) for var, form in forms.items()}
        runs += resolved(Piece(region, control, Repeat(piece, count, region)))
    return runs, never


def short_runs(piece: Piece) -> list[Piece] | None:
    """The longest runs of a piece that never takes more than :data:`MAX_ROUNDS` rounds; None if it may."""
    runs: list[Piece] = []
    going_on = piece
    for _ in range(MAX_ROUNDS):
        staying = piece.where.preimage(going_on.control) & going_on.where
        leaving = (going_on.where - staying).coalesce()
        if not leaving.is_empty():
            runs.append(going_on.within(leaving))
        if staying.is_empty():
            return runs
        going_on = composed(going_on, piece, staying.coalesce())
    return None


def split(piece: Piece) -> list[Piece] | None:
    """The piece by the values of a step that is no translation, or by whether it changes anything; None if neither
    divides it.
    """
    for var, term in sorted(piece.control.items()):
        if _is_step(var, term):
            continue
        for measured in _measures(var, term):
            try:
                low, high = piece.where.range_of(measured)
            except (NotPresburger, ValueError):
                continue
            if low is None or high is None or not 0 < high - low < MAX_SPLIT:
                continue
            return _parts(piece, [equal(measured, const(number)) for number in range(low, high + 1)])
        resting = equal(term, var)
        parts = _parts(piece, [resting, negate(resting)])
        if len(parts) == 2:
            return parts
    return None


def _parts(piece: Piece, conditions: Iterable[Condition]) -> list[Piece]:
    """The piece where each of the conditions holds, those left out where none can."""
    found = []
    for condition in conditions:
        here = piece.where & Region.of(condition, piece.where.variables)
        if not here.is_empty():
            here = here.coalesce()
            found.append(Piece(here, simplified(piece.control, here), piece.effect))
    return found


def _measures(var: Var, term: Term) -> list[Term]:
    """What may be counted: the step itself, the value, the quotients in it."""
    quotients = [node for node in walk(term) if isinstance(node, Op) and node.op in ("floor_div", "mod")]
    return [sub(term, var), term, *quotients]

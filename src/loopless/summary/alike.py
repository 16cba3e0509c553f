"""Pieces with the same effect as one: short runs and ties often are instances of a longer word with counts of 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loopless.summary.effects import Nothing, Piece, joined
from loopless.summary.model import Cycle, Interleaving, Run, Step
from loopless.terms import ONE, ZERO, Term, Var, sub, substitute

MAX_COMPARED = 40
"""Of more pieces than this not all pairs are compared."""


def gathered(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces, those whose effect and word are instances of another one's put together with that one."""
    if len(pieces) < 2 or len(pieces) > MAX_COMPARED:
        return list(pieces)
    fixed = [piece.where.equalities() for piece in pieces]
    # The most general ones come first, so that the others are put together with these.
    order = sorted(range(len(pieces)), key=lambda i: len(fixed[i]))
    fixed = [fixed[i] for i in order]
    kept: list[Piece | None] = [pieces[i] for i in order]
    for i, piece in enumerate(kept):
        equalities = fixed[i]
        if piece is None or isinstance(piece.effect, Nothing) or not equalities:
            continue  # without equalities its word could only be another one's with the same terms
        word = _normal(piece.effect.trace(), equalities)
        for j, other in enumerate(kept):
            if other is None or other is piece or isinstance(other.effect, Nothing):
                continue
            if _normal(other.effect.trace(), equalities) == word and is_instance(piece, other, equalities):
                whole = other.within((other.where | piece.where).coalesce())
                kept[j] = whole
                fixed[j] = {} if not fixed[j] else whole.where.equalities()
                kept[i] = None
                break
    return [piece for piece in kept if piece is not None]


def is_instance(piece: Piece, of: Piece, equalities: Mapping[Var, Term]) -> bool:
    """Whether the values that ``of`` gives are those of ``piece`` wherever the ``equalities`` hold."""

    def same(a: Term, b: Term) -> bool:
        return a is b or substitute(sub(a, b), equalities) is ZERO

    control = {*piece.control, *of.control}
    if not all(same(piece.control.get(v, v), of.control.get(v, v)) for v in control):
        return False
    if piece.effect.lost or of.effect.lost:
        return False
    first, second = piece.effect.values, of.effect.values
    return all(same(first.get(v, v), second.get(v, v)) for v in {*first, *second} - control)


def _normal(steps: Sequence[Step], equalities: Mapping[Var, Term]) -> tuple[Step, ...]:
    """The word under the equalities, parts that never run left out, single rounds written out."""
    found: list[Step] = []
    for step in steps:
        times = substitute(step.times, equalities) if step.times is not None else None
        if times is ZERO:
            continue
        match step:
            case Run():
                found.append(Run(step.path, times))
            case Cycle():
                if times is ONE:
                    found += step.body
                else:
                    found.append(Cycle(step.body, times))
            case Interleaving():
                found.append(Interleaving(step.paths, times))
    return joined(tuple(found))

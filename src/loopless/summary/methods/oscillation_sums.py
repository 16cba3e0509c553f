"""What accumulators come to while paths take turns in a rotation (see :mod:`loopless.summary.methods.oscillation`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loopless import terms as t
from loopless.logic import Region
from loopless.paths.model import Path
from loopless.records import dataclass
from loopless.recurrences import solve
from loopless.summary.obligations.powers import after
from loopless.summary.transitions.closed_form import Forms, closed_form, forms_of, in_all_rounds
from loopless.summary.transitions.transformer import COUNTER


@dataclass(frozen=True, slots=True)
class Turning:
    """Paths that take turns: which of them are ``high`` (for one selector, else None), which share of the iterations
    each takes by its id, as a term of :data:`COUNTER` (missing where there is none); ``low`` the selector, ≤ 0 where a
    low path comes next; ``rounds`` how many of the first iterations are high; ``control`` the control variables after
    :data:`COUNTER` iterations.
    """

    paths: Sequence[Path]
    high: Sequence[bool] | None
    shares: Mapping[str, t.Term]
    low: t.Term
    rounds: t.Term
    control: Mapping[t.Var, t.Term]

    @property
    def changing(self) -> frozenset[t.Var]:
        """All variables that some path changes."""
        return frozenset(v for path in self.paths for v in path.update)


def accumulated(var: t.Var, turning: Turning) -> t.Term | None:
    """The value of ``var`` after :data:`COUNTER` ≥ 1 iterations, None where there is no form."""
    if len({path.id for path in turning.paths}) == 1:
        return _of_one_path(var, turning.paths[0])
    for method in (_last_value, _kept_or_set, _sum, _private_value):
        try:
            found = method(var, turning)
        except t.TermTooLarge:
            continue
        if found is not None:
            return found
    return None


def private_forms(paths: Sequence[Path]) -> dict[str, Forms]:
    """By the id of a path, the forms of the variables that it alone changes and that read nothing else that changes.

    They are over :data:`COUNTER` iterations of this path.
    """
    updates = {path.id: path.update for path in paths}
    changing = frozenset(v for update in updates.values() for v in update)
    found = {}
    for id, update in updates.items():
        others = {v for other, theirs in updates.items() if other != id for v in theirs}
        own = {v: term for v, term in update.items() if v not in others}
        while any(term.variables & changing - own.keys() for term in own.values()):
            own = {v: term for v, term in own.items() if not term.variables & changing - own.keys()}
        found[id] = forms_of(own, COUNTER, {})
    return found


def _private_value(var: t.Var, turning: Turning) -> t.Term | None:
    """A variable that one path changes by itself: what it comes to in as many iterations as there are of that path."""
    for id, forms in private_forms(turning.paths).items():
        share = turning.shares.get(id)
        if var in forms.values and share is not None:
            value = after(var, forms.values[var], COUNTER, share)
            return t.ite(share.gt(0), value, var) if var in forms.late else value
    return None


def checks_of_one(
    condition: t.Condition, id: str, paths: Sequence[Path], share: t.Term, region: Region
) -> list[t.Condition] | None:
    """The entry values in ``region`` for which a check of the path ``id`` holds in all of its ``share`` iterations;
    None where the check reads what other paths change. Raises :class:`Undecided`.
    """
    forms = private_forms(paths)[id]
    changing = {v for path in paths for v in path.update}
    if condition.variables & changing - forms.values.keys():
        return None
    early, shown = forms.along(condition)
    return in_all_rounds(condition, early, shown, COUNTER, share, region)


def is_late(var: t.Var, paths: Sequence[Path]) -> bool:
    """Whether the form of :func:`accumulated` may be wrong for no iteration at all."""
    if len({path.id for path in paths}) == 1:
        closed = solve(paths[0].update, COUNTER).closed.get(var)
        return closed is None or closed.valid_from > 0
    updates = [path.update.get(var, var) for path in paths]
    set_anew = all(var not in update.variables for update in updates)
    return set_anew or any(isinstance(update, t.Wrap) and update.type != var.type for update in updates)


def _of_one_path(var: t.Var, path: Path) -> t.Term | None:
    """Turns of one path that only differ in whether a step wraps around."""
    closed = solve(path.update, COUNTER).closed.get(var)
    return closed_form(closed) if closed is not None else None


def _last_value(var: t.Var, turning: Turning) -> t.Term | None:
    """A variable that every path sets anew: what the last iteration set it to."""
    updates = [path.update.get(var) for path in turning.paths]
    known = frozenset(turning.control)
    if any(update is None or update.variables & turning.changing - known for update in updates):
        return None
    before = {COUNTER: COUNTER - 1}
    last = {v: t.substitute(form, before) for v, form in turning.control.items()}
    values = [t.substitute(update, last) for update in updates if update is not None]
    if all(value is values[0] for value in values):
        return values[0]
    if turning.high is None:
        return None
    by_obligation = dict(zip(turning.high, values, strict=True))
    if any(by_obligation[high] is not value for high, value in zip(turning.high, values, strict=True)):
        return None
    return t.ite(t.at_most_zero(t.substitute(turning.low, last)), by_obligation[False], by_obligation[True])


def _kept_or_set(var: t.Var, turning: Turning) -> t.Term | None:
    """A variable that some paths set in a way that doing it again does not change, and the others keep."""
    updates = {path.id: path.update.get(var, var) for path in turning.paths}
    different = {update for update in updates.values() if update is not var}
    if len(different) != 1:
        return None
    update = different.pop()
    if update.variables & turning.changing - {var} or not _is_idempotent(update, var):
        return None
    times = _times_set(var, turning)
    if times is None:
        return None
    return t.ite(times.gt(0), update, var)


def _times_set(var: t.Var, turning: Turning) -> t.Term | None:
    """How often a path is taken that changes ``var``; None where that has no closed form."""
    setting = dict.fromkeys(path.id for path in turning.paths if path.update.get(var, var) is not var)
    if any(id not in turning.shares for id in setting):
        return None
    return t.add(*(turning.shares[id] for id in setting))


def _is_idempotent(update: t.Term, var: t.Var) -> bool:
    """Whether doing ``update`` again changes nothing."""
    if isinstance(update, t.Op) and var in update.args:
        others = [arg for arg in update.args if arg is not var]
        free = len(others) == len(update.args) - 1 and all(var not in arg.variables for arg in others)
        if free and (update.op in ("bit_and", "bit_or", "min", "max") or _is_remainder(update, var)):
            return True
    return t.substitute(update, {var: update}) is update


def _is_remainder(update: t.Op, var: t.Var) -> bool:
    return update.op in ("mod", "trunc_rem") and update.args[0] is var


# -- sums -------------------------------------------------------------------------------------------------------------


def _sum(var: t.Var, turning: Turning) -> t.Term | None:
    """A variable to which each path adds what is linear in control variables, over ℤ or all in one ring."""
    updates = [path.update.get(var, var) for path in turning.paths]
    rings = {update.type if isinstance(update, t.Wrap) else None for update in updates if update is not var}
    if len(rings) != 1:
        return None
    ring = rings.pop()
    added = [(update.arg if isinstance(update, t.Wrap) else update) - var for update in updates]
    if any(term.variables & turning.changing - turning.control.keys() for term in added):
        return None
    total = _total(added, turning)
    if total is None:
        return None
    if ring is None:
        return var + total
    reduced = t.wrap(var + total, ring)
    if ring == var.type or not any(update is var for update in updates):
        return reduced
    times = _times_set(var, turning)  # a path that keeps the value does not reduce it
    return t.ite(times.gt(0), reduced, var) if times is not None else None


def _total(added: Sequence[t.Term], turning: Turning) -> t.Term | None:
    if all(term is added[0] for term in added):
        return _over_all(added[0], turning)
    if turning.high is None:
        return _by_shares(added, turning)
    by_obligation = dict(zip(turning.high, added, strict=True))
    if any(by_obligation[high] is not term for high, term in zip(turning.high, added, strict=True)):
        return _by_shares(added, turning)
    every, more = (
        _over_all(by_obligation[False], turning),
        _over_high(by_obligation[True] - by_obligation[False], turning),
    )
    return every + more if every is not None and more is not None else None


def _by_shares(added: Sequence[t.Term], turning: Turning) -> t.Term | None:
    """The sum where what is added does not change."""
    by_path: dict[str, t.Term] = {}
    for path, term in zip(turning.paths, added, strict=True):
        if term.variables & turning.changing or by_path.setdefault(path.id, term) is not term:
            return None
    if any(id not in turning.shares for id, term in by_path.items() if term is not t.ZERO):
        return None
    return t.add(*(term * turning.shares[id] for id, term in by_path.items() if term is not t.ZERO))


@dataclass(frozen=True, slots=True)
class _Line:
    """start + step·j + turns·H(j), for the j-th iteration."""

    start: t.Term
    step: t.Term
    turns: t.Term


def _quotient(turning: Turning) -> tuple[t.Term, t.Term, t.Op] | None:
    """(r, s, q) where H(t) = r + s·t + q, and q is one quotient."""
    start, step, atom = [], [], None
    for monomial, coefficient in t.polynomial(turning.rounds).items():
        term = t.from_polynomial({monomial: coefficient})
        if COUNTER not in term.variables:
            start.append(term)
        elif monomial == ((COUNTER, 1),):
            step.append(t.const(coefficient))
        elif coefficient == 1 and len(monomial) == 1 and isinstance(monomial[0][0], t.Op) and atom is None:
            atom = monomial[0][0]
        else:
            return None
    if atom is None or atom.op != "floor_div" or not isinstance(atom.args[1], t.Const):
        return None
    return t.add(*start), t.add(*step), atom


def _line(term: t.Term, turning: Turning) -> _Line | None:
    """A term that is linear in control variables, in the j-th iteration."""
    quotient = _quotient(turning)
    if quotient is None:
        return None
    start, step, turns = [], [], []
    for monomial, coefficient in t.polynomial(t.substitute(term, dict(turning.control))).items():
        moving = [pair for pair in monomial if COUNTER in pair[0].variables]
        rest = t.from_polynomial({tuple(pair for pair in monomial if pair not in moving): coefficient})
        if not moving:
            start.append(rest)
        elif moving == [(COUNTER, 1)]:
            step.append(rest)
        elif moving == [(quotient[2], 1)]:
            turns.append(rest)
            start.append(-(rest * quotient[0]))
            step.append(-(rest * quotient[1]))
        else:
            return None
    return _Line(t.add(*start), t.add(*step), t.add(*turns))


def _over_all(term: t.Term, turning: Turning) -> t.Term | None:
    """The sum over all iterations before :data:`COUNTER`."""
    if not term.variables & turning.changing:
        return term * COUNTER
    line = _line(term, turning)
    if line is None:
        return None
    total = line.start * COUNTER + line.step * _pairs(COUNTER)
    if line.turns is t.ZERO:
        return total
    rounds = _rounds_summed(turning)
    return total + line.turns * rounds if rounds is not None else None


def _over_high(term: t.Term, turning: Turning) -> t.Term | None:
    """The sum over the high iterations before :data:`COUNTER`.

    With H(j+1) - H(j) = 1 for high j: Σ j·ΔH(j) = t·H(t) - Σ_{j<t} H(j) - H(t), Σ H(j)·ΔH(j) = H(t)·(H(t) - 1)/2.
    """
    if not term.variables & turning.changing:
        return term * turning.rounds
    line = _line(term, turning)
    rounds = _rounds_summed(turning)
    if line is None or rounds is None:
        return None
    high = turning.rounds
    by_step = COUNTER * high - rounds - high
    return line.start * high + line.step * by_step + line.turns * _pairs(high)


def _pairs(count: t.Term) -> t.Term:
    return count * (count - 1) // 2


def _rounds_summed(turning: Turning) -> t.Term | None:
    """The sum of H(j) over the iterations before :data:`COUNTER`; None where H is more than one quotient."""
    quotient = _quotient(turning)
    if quotient is None:
        return None
    start, step, atom = quotient
    numerator, divisor = atom.args
    slope = t.polynomial(numerator).get(((COUNTER, 1),), 0)
    first = numerator - COUNTER * slope
    if COUNTER in first.variables or not isinstance(divisor, t.Const):
        return None
    quotients = t.floor_sum(COUNTER, divisor.value, t.const(slope), first)
    return start * COUNTER + step * _pairs(COUNTER) + quotients

"""Exit times: when a condition on a value that moves by a constant, plainly or modulo m, fails for the first time.

 The value after k iterations is start + step·k, or its residue; the condition fails where
it comes into a window. The first such k is an expression where the window cannot be stepped over, a modular inverse
where it is one residue, and else the named function ``first_in_range``.
"""

from __future__ import annotations

from math import gcd

from loopless import terms as t
from loopless.limits.summary import SMALL_MODULUS
from loopless.records import dataclass


class NoExitTime(Exception):
    """A condition is not about one value that moves by a constant; the text says in which way not."""


@dataclass(frozen=True, slots=True)
class ExitTime:
    """Where ``guard`` holds: whether the condition fails at all (``exists``) and, if so, the first time at which."""

    guard: t.Condition
    exists: t.Condition
    time: t.Term
    curve: t.Coefficients | None = None
    """If given: the condition fails exactly where the value of this exponential polynomial of k is positive."""


@dataclass(frozen=True, slots=True)
class _Window:
    """The condition fails where low ≤ (start + step·k) [mod modulus] ≤ high; None: no such end (plain values only)."""

    start: t.Term
    step: int
    modulus: int | None
    low: t.Term | None
    high: t.Term | None


def exit_times(condition: t.Condition, counter: t.Var) -> tuple[ExitTime, ...]:
    """When ``condition``, in closed form over the entry values and ``counter`` = k, is false for the first k ≥ 0.

    The guards of the answers partition the entry values. Raises :class:`NoExitTime`.
    """
    if counter not in condition.variables:
        return (ExitTime(t.TRUE, ~condition, t.ZERO),)
    if isinstance(condition, t.Compare) and condition.relation == "eq":
        return (_left(condition, counter),)
    window = _window(condition, counter)
    return (_plain(window),) if window.modulus is None else _modular(window, window.modulus)


def many_wraps(condition: t.Condition, counter: t.Var) -> bool:
    """Whether the value may pass its window many times before it meets it, which is too much for isl."""
    if counter not in condition.variables:
        return False
    try:
        window = _window(condition, counter)
    except NoExitTime:
        return False
    if window.modulus is None or window.modulus <= SMALL_MODULUS or window.low is window.high:
        return False
    step = _shortest(window.step, window.modulus)
    if abs(step) == gcd(step, window.modulus):
        return False
    least = t.range_of(_size(window, window.modulus))[0]
    return least is None or least < abs(step)


def residue_equality(condition: t.Condition) -> t.Condition:
    """``condition`` with each equality of two values reduced modulo the same 2^width as one equality of a residue."""
    if isinstance(condition, t.Or):
        return t.disjunction(residue_equality(arg) for arg in condition.args)
    if not isinstance(condition, t.Compare) or condition.relation == "le":
        return condition
    terms = t.polynomial(condition.term)
    for monomial, coefficient in terms.items():
        if len(monomial) == 1 and monomial[0][1] == 1 and abs(coefficient) == 1:
            atom = monomial[0][0]
            if isinstance(atom, t.Wrap):
                other = t.from_polynomial({m: c for m, c in terms.items() if m != monomial}) * -coefficient
                if t.fits(other, atom.type):
                    difference = t.wrap(atom.arg - other, atom.type)
                    return (t.equals_zero if condition.relation == "eq" else t.not_zero)(difference)
    return condition


def _window(condition: t.Condition, counter: t.Var) -> _Window:
    match condition:
        case t.Compare(relation="le" | "ne"):
            return _compared(condition, counter)
        case t.Or():
            windows = [_window(arg, counter) for arg in condition.args]
            first = windows[0]
            if any((w.start, w.step, w.modulus) != (first.start, first.step, first.modulus) for w in windows):
                raise NoExitTime("it is about several values")
            lows = [w.low for w in windows if w.low is not None]
            highs = [w.high for w in windows if w.high is not None]
            low = t.maximum(*lows) if lows else None
            high = t.minimum(*highs) if highs else None
            return _Window(first.start, first.step, first.modulus, low, high)
        case _:
            raise NoExitTime("it is not about one value that moves by a constant")


def _compared(condition: t.Compare, counter: t.Var) -> _Window:
    atom, coefficient, rest = one_moving(condition, counter)
    if atom is counter:
        # the sign such that the value grows; the constant belongs to the window
        sign = 1 if coefficient > 0 else -1
        base = rest * sign
        shift = t.const(t.polynomial(base).get((), 0))
        start, step = base - shift, abs(coefficient)
        if condition.relation == "ne":
            return _Window(start, step, None, -shift, -shift)
        # sign·value ≤ 0 fails from 1 on
        bound = sign - shift
        return _Window(start, step, None, bound, None) if sign > 0 else _Window(start, step, None, None, bound)
    arg, modulus, lowest = residue_of(atom)
    start, step = _linear(arg, counter)
    start = start - lowest
    ((low, high),) = failing_windows(condition, coefficient, rest, lowest, modulus)
    return _Window(start, step, modulus, low, high)


def failing_windows(
    condition: t.Compare, coefficient: int, rest: t.Term, lowest: int, modulus: int
) -> list[tuple[t.Term, t.Term]]:
    """In which windows of r = residue - lowest a comparison of coefficient·residue + rest with 0 fails."""
    size = abs(coefficient)
    value = rest if coefficient > 0 else -rest
    # size·(r + lowest) + value ≤ 0, = 0, or ≥ 0 for a negative coefficient
    last = t.const(modulus - 1)
    if condition.relation != "le":
        low = _ceil_div(-value, size) - lowest
        high = -value // size - lowest
        if condition.relation == "ne":
            return [(low, high)]
        return [(t.ZERO, low - 1), (high + 1, last)]
    if coefficient > 0:
        return [(_ceil_div(1 - value, size) - lowest, last)]
    high = (-value - 1) // size
    return [(t.ZERO, high - lowest)]


def one_moving(condition: t.Compare, counter: t.Var) -> tuple[t.Term, int, t.Term]:
    """The one atom that moves, its coefficient, and the rest."""
    still: dict[tuple[tuple[t.Term, int], ...], int] = {}
    moving: list[tuple[t.Term, int]] = []
    for monomial, coefficient in t.polynomial(condition.term).items():
        if not any(counter in atom.variables for atom, _ in monomial):
            still[monomial] = coefficient
        elif len(monomial) == 1 and monomial[0][1] == 1:
            moving.append((monomial[0][0], coefficient))
        else:
            raise NoExitTime("it is not linear in the number of iterations")
    if len(moving) != 1:
        raise NoExitTime("it is about several values that move")
    return *moving[0], t.from_polynomial(still)


def residue_of(atom: t.Term) -> tuple[t.Term, int, int]:
    """What is reduced, the modulus, and the least residue."""
    if isinstance(atom, t.Wrap) and atom.type.width is not None and atom.type.min is not None:
        return atom.arg, 1 << atom.type.width, atom.type.min
    if isinstance(atom, t.Op) and atom.op == "mod":
        divisor = atom.args[1]
        if isinstance(divisor, t.Const) and divisor.value > 1:
            return atom.args[0], divisor.value, 0
    raise NoExitTime("it is not about a residue that moves by a constant")


def _linear(term: t.Term, counter: t.Var) -> tuple[t.Term, int]:
    start = dict(t.polynomial(term))
    step = start.pop(((counter, 1),), 0)
    rest = t.from_polynomial(start)
    if counter in rest.variables:
        raise NoExitTime("it is about a value that does not move by a constant")
    return rest, step


def _left(condition: t.Compare, counter: t.Var) -> ExitTime:
    """An equality that keeps the loop running: it fails at once or after one step."""
    atom, coefficient, rest = one_moving(condition, counter)
    if atom is counter:
        return ExitTime(t.TRUE, t.TRUE, t.ite(t.equals_zero(rest), t.ONE, t.ZERO))
    arg, modulus, lowest = residue_of(atom)
    start, step = _linear(arg, counter)
    value = rest * -coefficient
    low, high = t.range_of(value)
    if abs(coefficient) > 1 or low is None or low < lowest or high is None or high >= lowest + modulus:
        raise NoExitTime("it is an equality of values of different ranges")
    same = ((start - value) % modulus).eq(0)
    if step % modulus == 0:
        return ExitTime(t.TRUE, ~same, t.ZERO)
    return ExitTime(t.TRUE, t.TRUE, t.ite(same, t.ONE, t.ZERO))


def _plain(window: _Window) -> ExitTime:
    """A value that grows by ``step`` > 0."""
    if window.low is None:
        assert window.high is not None
        return ExitTime(t.TRUE, window.start.le(window.high), t.ZERO)
    step = t.const(window.step)
    distance = window.low - window.start
    if window.low is window.high:
        reached = distance.ge(0) & (distance % step).eq(0)
        return ExitTime(t.TRUE, reached, distance // step)
    time = t.maximum(t.ZERO, _ceil_div(distance, window.step))
    if window.high is None:
        return ExitTime(t.TRUE, t.TRUE, time, {(1, 1): step, (1, 0): 1 - distance})
    builder = window.start + time * window.step
    return ExitTime(t.TRUE, builder.le(window.high), time)


def _size(window: _Window, modulus: int) -> t.Term:
    """How many residues the window has; at most 0 if it is empty."""
    low, high = _ends(window, modulus)
    return high - low + 1


def _ends(window: _Window, modulus: int) -> tuple[t.Term, t.Term]:
    assert window.low is not None
    assert window.high is not None
    return t.maximum(window.low, t.ZERO), t.minimum(window.high, t.const(modulus - 1))


def _shortest(step: int, modulus: int) -> int:
    forward = step % modulus
    return forward if 2 * forward <= modulus else forward - modulus


def _modular(window: _Window, modulus: int) -> tuple[ExitTime, ...]:
    low, high = _ends(window, modulus)
    step = _shortest(window.step, modulus)
    divisor = gcd(step, modulus)
    start = window.start % modulus
    if step == 0:
        return (ExitTime(t.TRUE, _within(low, start, high), t.ZERO),)
    if window.low is window.high:
        return (_point(window, modulus, divisor),)
    size = _size(window, modulus)
    reached = size.ge(1) & (((window.start - low) % divisor).le(high - low) if divisor > 1 else t.TRUE)
    least, most = t.range_of(size)
    straight = _straight(start, step, modulus, low, high)
    if abs(step) == divisor:
        return (ExitTime(t.TRUE, reached, straight),)
    wide = size.ge(abs(step))
    if least is not None and least >= abs(step):
        return (ExitTime(t.TRUE, t.TRUE, straight),)
    visit = ExitTime(~wide, reached, _visit(window, step, modulus))
    if most is not None and most < abs(step):
        return (visit,)
    return ExitTime(wide, t.TRUE, straight), visit


def _visit(window: _Window, step: int, modulus: int) -> t.Term:
    assert window.low is not None
    assert window.high is not None
    return t.first_in_range(window.start, t.const(step), modulus, window.low, window.high)


def _ceil_div(term: t.Term, divisor: int) -> t.Term:
    return (term + (divisor - 1)) // divisor


def _within(low: t.Term, term: t.Term, high: t.Term) -> t.Condition:
    return low.le(term) & term.le(high)


def _point(window: _Window, modulus: int, divisor: int) -> ExitTime:
    assert window.low is not None
    distance = window.low - window.start
    inside = _within(t.ZERO, window.low, t.const(modulus - 1))
    divides = (distance % divisor).eq(0) if divisor > 1 else t.TRUE
    return ExitTime(t.TRUE, inside & divides, t.first_equal(distance, window.step, modulus))


def _straight(start: t.Term, step: int, modulus: int, low: t.Term, high: t.Term) -> t.Term:
    """The first visit of a window that is not stepped over: at once, or after the distance to its near end."""
    end = t.const(modulus - 1)
    if step > 0 and high is end:
        return t.maximum(t.ZERO, _ceil_div(low - start, step))
    if step < 0 and low is t.ZERO:
        return t.maximum(t.ZERO, _ceil_div(start - high, -step))
    distance = (low - start if step > 0 else start - high) % modulus
    inside = _within(low, start, high)
    if inside is t.FALSE:
        return _ceil_div(distance, abs(step))
    return t.ite(inside, t.ZERO, _ceil_div(distance, abs(step)))

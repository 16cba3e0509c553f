"""Exit times: when a condition on a value that moves by a constant, plainly or modulo m, fails for the first time.

 The value after k iterations is start + step·k, or its residue; the condition fails where
it comes into a window. The first such k is an expression where the window cannot be stepped over, a modular inverse
where it is one residue, and else the named function ``first_in_range``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Final

from loopless.terms import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Coefficients,
    Compare,
    Condition,
    Const,
    Op,
    Or,
    Term,
    Var,
    Wrap,
    add,
    conjunction,
    const,
    disjunction,
    equal,
    equals_zero,
    first_equal,
    first_in_range,
    fits,
    floor_div,
    from_polynomial,
    greater_equal,
    ite,
    less_equal,
    maximum,
    minimum,
    mod,
    neg,
    negate,
    not_zero,
    polynomial,
    range_of,
    scale,
    sub,
    wrap,
)

SMALL_MODULUS: Final = 1 << 10
"""Up to this modulus isl finds first visits of any window. A power of two beyond the moduli of 8 bits, below those
of 16."""


class NoExitTime(Exception):
    """A condition is not about one value that moves by a constant; the text says in which way not."""


@dataclass(frozen=True, slots=True)
class ExitTime:
    """Where ``guard`` holds: whether the condition fails at all (``exists``) and, if so, the first time at which."""

    guard: Condition
    exists: Condition
    time: Term
    curve: Coefficients | None = None
    """If given: the condition fails exactly where the value of this exponential polynomial of k is positive."""


@dataclass(frozen=True, slots=True)
class _Window:
    """The condition fails where low ≤ (start + step·k) [mod modulus] ≤ high; None: no such end (plain values only)."""

    start: Term
    step: int
    modulus: int | None
    low: Term | None
    high: Term | None


def exit_times(condition: Condition, counter: Var) -> tuple[ExitTime, ...]:
    """When ``condition``, in closed form over the entry values and ``counter`` = k, is false for the first k ≥ 0.

    The guards of the answers partition the entry values. Raises :class:`NoExitTime`.
    """
    if counter not in condition.variables:
        return (ExitTime(TRUE, negate(condition), ZERO),)
    if isinstance(condition, Compare) and condition.relation == "eq":
        return (_left(condition, counter),)
    window = _window(condition, counter)
    return (_plain(window),) if window.modulus is None else _modular(window, window.modulus)


def many_wraps(condition: Condition, counter: Var) -> bool:
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
    least = range_of(_size(window, window.modulus))[0]
    return least is None or least < abs(step)


def residue_equality(condition: Condition) -> Condition:
    """``condition`` with each equality of two values reduced modulo the same 2^width as one equality of a residue."""
    if isinstance(condition, Or):
        return disjunction(residue_equality(arg) for arg in condition.args)
    if not isinstance(condition, Compare) or condition.relation == "le":
        return condition
    terms = polynomial(condition.term)
    for monomial, coefficient in terms.items():
        if len(monomial) == 1 and monomial[0][1] == 1 and abs(coefficient) == 1:
            atom = monomial[0][0]
            if isinstance(atom, Wrap):
                other = scale(from_polynomial({m: c for m, c in terms.items() if m != monomial}), -coefficient)
                if fits(other, atom.type):
                    difference = wrap(sub(atom.arg, other), atom.type)
                    return (equals_zero if condition.relation == "eq" else not_zero)(difference)
    return condition


def _window(condition: Condition, counter: Var) -> _Window:
    match condition:
        case Compare(relation="le" | "ne"):
            return _compared(condition, counter)
        case Or():
            windows = [_window(arg, counter) for arg in condition.args]
            first = windows[0]
            if any((w.start, w.step, w.modulus) != (first.start, first.step, first.modulus) for w in windows):
                raise NoExitTime("it is about several values")
            lows = [w.low for w in windows if w.low is not None]
            highs = [w.high for w in windows if w.high is not None]
            low = maximum(*lows) if lows else None
            high = minimum(*highs) if highs else None
            return _Window(first.start, first.step, first.modulus, low, high)
        case _:
            raise NoExitTime("it is not about one value that moves by a constant")


def _compared(condition: Compare, counter: Var) -> _Window:
    atom, coefficient, rest = one_moving(condition, counter)
    if atom is counter:
        # the sign such that the value grows; the constant belongs to the window
        sign = 1 if coefficient > 0 else -1
        base = scale(rest, sign)
        shift = const(polynomial(base).get((), 0))
        start, step = sub(base, shift), abs(coefficient)
        if condition.relation == "ne":
            return _Window(start, step, None, neg(shift), neg(shift))
        # sign·value ≤ 0 fails from 1 on
        bound = sub(const(sign), shift)
        return _Window(start, step, None, bound, None) if sign > 0 else _Window(start, step, None, None, bound)
    arg, modulus, lowest = residue_of(atom)
    start, step = _linear(arg, counter)
    start = sub(start, const(lowest))
    ((low, high),) = failing_windows(condition, coefficient, rest, lowest, modulus)
    return _Window(start, step, modulus, low, high)


def failing_windows(
    condition: Compare, coefficient: int, rest: Term, lowest: int, modulus: int
) -> list[tuple[Term, Term]]:
    """In which windows of r = residue - lowest a comparison of coefficient·residue + rest with 0 fails."""
    size = abs(coefficient)
    value = rest if coefficient > 0 else neg(rest)
    # size·(r + lowest) + value ≤ 0, = 0, or ≥ 0 for a negative coefficient
    last = const(modulus - 1)
    if condition.relation != "le":
        low = sub(_ceil_div(neg(value), size), const(lowest))
        high = sub(floor_div(neg(value), const(size)), const(lowest))
        if condition.relation == "ne":
            return [(low, high)]
        return [(ZERO, sub(low, ONE)), (add(high, ONE), last)]
    if coefficient > 0:
        return [(sub(_ceil_div(sub(ONE, value), size), const(lowest)), last)]
    high = floor_div(sub(neg(value), ONE), const(size))
    return [(ZERO, sub(high, const(lowest)))]


def one_moving(condition: Compare, counter: Var) -> tuple[Term, int, Term]:
    """The one atom that moves, its coefficient, and the rest."""
    still: dict[tuple[tuple[Term, int], ...], int] = {}
    moving: list[tuple[Term, int]] = []
    for monomial, coefficient in polynomial(condition.term).items():
        if not any(counter in atom.variables for atom, _ in monomial):
            still[monomial] = coefficient
        elif len(monomial) == 1 and monomial[0][1] == 1:
            moving.append((monomial[0][0], coefficient))
        else:
            raise NoExitTime("it is not linear in the number of iterations")
    if len(moving) != 1:
        raise NoExitTime("it is about several values that move")
    return *moving[0], from_polynomial(still)


def residue_of(atom: Term) -> tuple[Term, int, int]:
    """What is reduced, the modulus, and the least residue."""
    if isinstance(atom, Wrap) and atom.type.width is not None and atom.type.min is not None:
        return atom.arg, 1 << atom.type.width, atom.type.min
    if isinstance(atom, Op) and atom.op == "mod":
        divisor = atom.args[1]
        if isinstance(divisor, Const) and divisor.value > 1:
            return atom.args[0], divisor.value, 0
    raise NoExitTime("it is not about a residue that moves by a constant")


def _linear(term: Term, counter: Var) -> tuple[Term, int]:
    start = dict(polynomial(term))
    step = start.pop(((counter, 1),), 0)
    rest = from_polynomial(start)
    if counter in rest.variables:
        raise NoExitTime("it is about a value that does not move by a constant")
    return rest, step


def _left(condition: Compare, counter: Var) -> ExitTime:
    """An equality that keeps the loop running: it fails at once or after one step."""
    atom, coefficient, rest = one_moving(condition, counter)
    if atom is counter:
        return ExitTime(TRUE, TRUE, ite(equals_zero(rest), ONE, ZERO))
    arg, modulus, lowest = residue_of(atom)
    start, step = _linear(arg, counter)
    value = scale(rest, -coefficient)
    low, high = range_of(value)
    if abs(coefficient) > 1 or low is None or low < lowest or high is None or high >= lowest + modulus:
        raise NoExitTime("it is an equality of values of different ranges")
    same = equal(mod(sub(start, value), const(modulus)), ZERO)
    if step % modulus == 0:
        return ExitTime(TRUE, negate(same), ZERO)
    return ExitTime(TRUE, TRUE, ite(same, ONE, ZERO))


def _plain(window: _Window) -> ExitTime:
    """A value that grows by ``step`` > 0."""
    if window.low is None:
        assert window.high is not None
        return ExitTime(TRUE, less_equal(window.start, window.high), ZERO)
    step = const(window.step)
    distance = sub(window.low, window.start)
    if window.low is window.high:
        reached = conjunction((greater_equal(distance, ZERO), equal(mod(distance, step), ZERO)))
        return ExitTime(TRUE, reached, floor_div(distance, step))
    time = maximum(ZERO, _ceil_div(distance, window.step))
    if window.high is None:
        return ExitTime(TRUE, TRUE, time, {(1, 1): step, (1, 0): sub(ONE, distance)})
    builder = add(window.start, scale(time, window.step))
    return ExitTime(TRUE, less_equal(builder, window.high), time)


def _size(window: _Window, modulus: int) -> Term:
    """How many residues the window has; at most 0 if it is empty."""
    low, high = _ends(window, modulus)
    return add(sub(high, low), ONE)


def _ends(window: _Window, modulus: int) -> tuple[Term, Term]:
    assert window.low is not None
    assert window.high is not None
    return maximum(window.low, ZERO), minimum(window.high, const(modulus - 1))


def _shortest(step: int, modulus: int) -> int:
    forward = step % modulus
    return forward if 2 * forward <= modulus else forward - modulus


def _modular(window: _Window, modulus: int) -> tuple[ExitTime, ...]:
    low, high = _ends(window, modulus)
    step = _shortest(window.step, modulus)
    divisor = gcd(step, modulus)
    start = mod(window.start, const(modulus))
    if step == 0:
        return (ExitTime(TRUE, _within(low, start, high), ZERO),)
    if window.low is window.high:
        return (_point(window, modulus, divisor),)
    size = _size(window, modulus)
    reached = conjunction(
        (
            less_equal(ONE, size),
            less_equal(mod(sub(window.start, low), const(divisor)), sub(high, low)) if divisor > 1 else TRUE,
        )
    )
    least, most = range_of(size)
    straight = _straight(start, step, modulus, low, high)
    if abs(step) == divisor:
        return (ExitTime(TRUE, reached, straight),)
    wide = greater_equal(size, const(abs(step)))
    if least is not None and least >= abs(step):
        return (ExitTime(TRUE, TRUE, straight),)
    visit = ExitTime(negate(wide), reached, _visit(window, step, modulus))
    if most is not None and most < abs(step):
        return (visit,)
    return ExitTime(wide, TRUE, straight), visit


def _visit(window: _Window, step: int, modulus: int) -> Term:
    assert window.low is not None
    assert window.high is not None
    return first_in_range(window.start, const(step), modulus, window.low, window.high)


def _ceil_div(term: Term, divisor: int) -> Term:
    return floor_div(add(term, const(divisor - 1)), const(divisor))


def _within(low: Term, term: Term, high: Term) -> Condition:
    return conjunction((less_equal(low, term), less_equal(term, high)))


def _point(window: _Window, modulus: int, divisor: int) -> ExitTime:
    assert window.low is not None
    distance = sub(window.low, window.start)
    inside = _within(ZERO, window.low, const(modulus - 1))
    divides = equal(mod(distance, const(divisor)), ZERO) if divisor > 1 else TRUE
    return ExitTime(TRUE, conjunction((inside, divides)), first_equal(distance, window.step, modulus))


def _straight(start: Term, step: int, modulus: int, low: Term, high: Term) -> Term:
    """The first visit of a window that is not stepped over: at once, or after the distance to its near end."""
    end = const(modulus - 1)
    if step > 0 and high is end:
        return maximum(ZERO, _ceil_div(sub(low, start), step))
    if step < 0 and low is ZERO:
        return maximum(ZERO, _ceil_div(sub(start, high), -step))
    distance = mod(sub(low, start) if step > 0 else sub(start, high), const(modulus))
    inside = _within(low, start, high)
    if inside is FALSE:
        return _ceil_div(distance, abs(step))
    return ite(inside, ZERO, _ceil_div(distance, abs(step)))

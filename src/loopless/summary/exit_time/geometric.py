"""Exit times of values that are multiplied by a constant and wrap around: when x·b^k + c modulo 2^w meets a window.

An even factor moves all bits out in the end, after which the value stays; an odd one has few powers where w is small.
Both are the named function ``first_scaled``. Other powers that wrap around have no form.
"""

from __future__ import annotations

from math import lcm

from loopless import terms as t
from loopless.recurrences import NoClosedForm, curves_of
from loopless.summary.exit_time.linear import ExitTime, NoExitTime, failing_windows, one_moving, residue_of
from loopless.terms.modular import has_few_powers


def exit_times_of_geometric(condition: t.Condition, counter: t.Var) -> list[ExitTime]:
    """When ``condition``, in closed form over the entry values and ``counter`` = k, fails, by exit times of which the
    least counts: for a value start·base^k + offset modulo 2^w with an even base, or small w. None for other conditions.
    """
    if not isinstance(condition, t.Compare):
        return []
    try:
        atom, coefficient, rest = one_moving(condition, counter)
        value, modulus, least = residue_of(atom)
        divisor, multiple = _multiplied_out(value)
        (whole,), (curve,) = curves_of(value, counter), curves_of(multiple, counter)
    except (NoExitTime, NoClosedForm, ValueError, t.TermTooLarge):
        return []
    powers = [(base, c) for (base, degree), c in curve.items() if c is not t.ZERO and (base, degree) != (1, 0)]
    if not isinstance(atom, t.Wrap) or len(powers) != 1 or any(degree for _, degree in curve):
        return []
    ((base, start),) = powers
    offset = curve.get((1, 0), t.ZERO)
    if multiple - (start * t.power(t.const(base), counter) + offset) is not t.ZERO:
        return []
    if not any(all(whole.get(key, t.ZERO) * f is c for key, c in curve.items()) for f in range(1, divisor + 1)):
        return []  # some quotient is not whole
    even = divisor & -divisor
    modulus *= even
    if not has_few_powers(base, modulus):
        return []
    inverse = pow(divisor // even, -1, modulus)
    start, offset = start * inverse, offset * inverse - least * even
    times = []
    for low, high in failing_windows(condition, coefficient, rest, least, modulus // even):
        time = t.first_scaled(start, base, offset, modulus, low * even, high * even)
        times.append(ExitTime(t.TRUE, time.ge(0), time))
    return times


def _multiplied_out(value: t.Term) -> tuple[int, t.Term]:
    """A number d, and d·``value`` if its quotients by constants are whole."""
    quotients = [node for node in _atoms(value) if isinstance(node, t.Op) and node.op == "floor_div"]
    divisors = {node: node.args[1].value for node in quotients if isinstance(node.args[1], t.Const)}
    divisor = lcm(*divisors.values())
    whole = {node: node.args[0] * (divisor // by) for node, by in divisors.items()}
    parts = []
    for monomial, coefficient in t.polynomial(value).items():
        factors = [atom for atom, exponent in monomial for _ in range(exponent)]
        by = next((atom for atom in factors if atom in whole), None)
        if by is None:
            parts.append(t.product(factors) * (coefficient * divisor))
        else:
            factors.remove(by)
            parts.append(t.product([whole[by], *factors]) * coefficient)
    return divisor, t.add(*parts)


def _atoms(term: t.Term) -> list[t.Term]:
    return [atom for monomial in t.polynomial(term) for atom, _ in monomial]

"""What operators and named functions make of numbers, exact at any size."""

from __future__ import annotations

from collections.abc import Sequence

from loopless.terms import curves, modular, powers

MAX_BITS = 1 << 22
"""No intermediate value may have more bits than this: beyond it evaluation refuses."""


class EvaluationError(ArithmeticError):
    """A value does not exist or is out of reach: division by zero, an unbound variable, a number too large."""


class NoValue(EvaluationError):
    """There is no value: a division by zero, a negative exponent or count."""


def named(op: str, args: Sequence[int]) -> int:
    """The value of a function of :data:`loopless.terms.nodes.NAMED_FUNCTIONS`. Raises :class:`EvaluationError`."""
    try:
        match op:
            case "first_in_range":
                return modular.first_visit(args[0], args[1], args[2], args[3], args[4])
            case "first_scaled":
                return modular.first_scaled(args[0], args[1], args[2], args[3], args[4], args[5])
            case "floor_sum":
                return modular.floor_sum(args[0], args[1], args[2], args[3])
            case "first_positive" | "first_zero":
                groups = zip(args[::3], args[1::3], args[2::3], strict=True)
                curve = {(base, degree): coefficient for base, degree, coefficient in groups}
                return curves.first_of_sign(curve, int(op == "first_positive"))
            case "linear_power":
                return powers.first_component(args)
            case "digits":
                return powers.horner_of_digits(args[0], args[1], args[2], args[3])
            case "divided":
                return powers.divided(args[0], args[1], args[2], args[3], args[4])
            case "table":
                return args[1 + min(max(args[0], 0), len(args) - 2)]
            case _:
                raise AssertionError(op)
    except ValueError as error:
        kind = NoValue if op in ("first_in_range", "floor_sum") else EvaluationError  # others: too large
        raise kind(str(error)) from None


def apply(op: str, a: int, b: int) -> int:  # noqa: C901, PLR0912  one line an operator
    """The value of a binary operator of :data:`loopless.terms.nodes.OPERATORS`. Raises :class:`EvaluationError`."""
    if op in ("floor_div", "mod", "trunc_div", "trunc_rem") and b == 0:
        raise NoValue("division by zero")
    if op in ("shl", "shr", "pow") and b < 0:
        raise NoValue(f"{op} by {b}")
    match op:
        case "floor_div":
            return a // b
        case "mod":
            return a % b
        case "trunc_div":
            return _truncated(a, b)
        case "trunc_rem":
            return a - b * _truncated(a, b)
        case "bit_and":
            return a & b
        case "bit_or":
            return a | b
        case "bit_xor":
            return a ^ b
        case "shl":
            if b > MAX_BITS and a:
                raise EvaluationError(f"a shift by {b}")
            return a << b
        case "shr":
            return a >> b
        case "pow":
            if b * max(a.bit_length(), 1) > MAX_BITS and a not in (0, 1, -1):
                raise EvaluationError(f"a power with exponent {b}")
            return int(a**b)
        case "min":
            return min(a, b)
        case "max":
            return max(a, b)
        case _:
            raise AssertionError(op)


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a >= 0) == (b > 0) else -quotient

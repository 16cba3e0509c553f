"""How often a value can be divided, or lose a bit, before it is 0."""

from __future__ import annotations

from loopless.terms import Const, Op, Term, Var, Wrap, const, sub


def divisions(value: Term, var: Var, most: int) -> int | None:
    """How often a value of at most ``most`` is positive before it is divided, or loses a bit, to 0."""
    if not isinstance(value, Op):
        return None
    match value.op, value.args:
        case ("floor_div" | "trunc_div", (argument, Const(value=by))) if argument is var and by >= 2:
            return _digits(most, by)
        case "shr", (argument, Const(value=by)) if argument is var and by >= 1:
            return _digits(most, 1 << by)
        case "bit_and", args if var in args:
            other = args[0] if args[1] is var else args[1]
            # Of a narrower type the difference may be -1, which takes no bit away.
            whole = isinstance(other, Wrap) and other.type.width == var.type.width
            below = other.arg if whole and isinstance(other, Wrap) else other
            return most.bit_length() if sub(below, var) is const(-1) else None
        case _:
            return None


def _digits(value: int, base: int) -> int:
    digits = 0
    while value:
        value //= base
        digits += 1
    return digits

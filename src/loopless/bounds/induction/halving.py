"""How often a value can be divided, lose a bit, or be a remainder, before it is 0."""

from __future__ import annotations

from loopless import terms as t


def log(of: t.Term, base: int, least: int = 1) -> t.Term:
    """How often a number is at least ``least`` ≥ 1 before it is divided by ``base`` ≥ 2, rounded down: the least k ≥ 0
    with ``least``·``base``^k > ``of``, since floor(x / b^k) ≥ l is x ≥ l·b^k.
    """
    return t.first_positive({(base, 0): t.const(least), (1, 0): -of})


def quotient_of(value: t.Term, var: t.Var) -> int | None:
    """By what constant, at least 2, ``value`` divides a variable; None where it does not."""
    match value:
        case t.Op(op="floor_div" | "trunc_div", args=(argument, t.Const(value=by))) if argument is var and by >= 2:
            return by
        case _:
            return None


def divisions(value: t.Term, var: t.Var, most: int) -> int | None:
    """How often a value of at most ``most`` is positive before it loses a bit, or more, to 0: which its lowest bit that
    is set is, and what x & (x - 1) leaves.
    """
    match value:
        case t.Op(op="bit_and", args=args) if var in args:
            other = args[0] if args[1] is var else args[1]
            # Of a narrower type the difference may be -1, which takes no bit away.
            whole = isinstance(other, t.Wrap) and other.type.width == var.type.width
            below = other.arg if whole and isinstance(other, t.Wrap) else other
            return most.bit_length() if below - var is t.const(-1) else None
        case t.Op(op="bit_xor", args=args) if var in args:
            return most.bit_length() if _is_lowest_bit(args[0] if args[1] is var else args[1], var) else None
        case _:
            taken = var - (value.arg if isinstance(value, t.Wrap) and value.type == var.type else value)
            # The bit is no more than the value, so the difference does not wrap around.
            return most.bit_length() if _is_lowest_bit(taken, var) else None


def _is_lowest_bit(value: t.Term, var: t.Var) -> bool:
    """Whether ``value`` is x & -x, of the variable's width."""
    if not isinstance(value, t.Op) or value.op != "bit_and" or var not in value.args:
        return False
    other = value.args[0] if value.args[1] is var else value.args[1]
    whole = isinstance(other, t.Wrap) and other.type.width == var.type.width
    return (other.arg if whole and isinstance(other, t.Wrap) else other) is -var


def is_remainder(value: t.Term, var: t.Var) -> t.Var | None:
    """The variable whose remainder by ``var`` ``value`` is."""
    match value:
        case t.Op(op="mod" | "trunc_rem", args=(t.Var() as other, divisor)) if divisor is var:
            return other
        case _:
            return None


def euclid(most: int) -> int:
    """The most steps (a, b) → (b, a mod b) with b > 0, where b is at most ``most`` at first: Lamé's theorem.

    With b₀ > b₁ > … > b_n = 0 the values of b, b_(k-1) ≥ b_k + b_(k+1) for 0 < k < n, whatever a was; so
    b_(n-k) ≥ F_(k+1) with Fibonacci's F₁ = F₂ = 1, and n steps need b₀ ≥ F_(n+1): attained by a = F_(n+2). (Knuth, The
    Art of Computer Programming 2, section 4.5.3.)
    """
    steps, now, following = 0, 1, 1
    while following <= most:
        steps, now, following = steps + 1, following, now + following
    return steps

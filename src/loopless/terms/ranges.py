"""Ranges of terms by interval arithmetic over the types of their variables. Sound, not tight."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import assert_never

from loopless.terms import curves, powers
from loopless.terms.nodes import (
    NAMED_FUNCTIONS,
    Aggregate,
    Const,
    Ite,
    Monomial,
    Node,
    Op,
    Read,
    Sum,
    Term,
    Var,
    Wrap,
    walk,
)

Range = tuple[int | None, int | None]
"""Least and greatest value, both included; None where there is no bound."""

EVERYTHING: Range = (None, None)
MAX_BITS = 4096
"""Products that may have more bits than this count as without bound."""
_POW_LIMIT = 4096
_MAX_BITS = 8192


def range_of(term: Term) -> Range:
    """Bounds on the values that ``term`` takes over all values of its variables."""
    if term._range is None and all(child._range is not None for child in term.children):
        term._range = _writable(_compute(term))  # so it is where a term was built step by step
    elif term._range is None:
        for node in walk(term, _has_range):
            if isinstance(node, Term):
                node._range = _writable(_compute(node))
    found: Range = term._range
    return found


def range_from(term: Term, known: Callable[[Term], Range]) -> Range:
    """Bounds on the values of ``term`` by what is ``known`` of its operands."""
    return _compute(term, known)


def _has_range(node: Node) -> bool:
    return node._range is not None


def _writable(found: Range) -> Range:
    """``found`` without ends that are too large to be written as constants."""
    low, high = (None if end is not None and end.bit_length() > _MAX_BITS else end for end in found)
    return low, high


def _known(node: Node) -> Range:
    found: Range = node._range
    return found


def _compute(term: Term, known: Callable[[Term], Range] = _known) -> Range:
    match term:
        case Const():
            return term.value, term.value
        case Var() | Read() | Wrap():
            own = (term.type.min, term.type.max)
            if isinstance(term, Wrap) and term.type.width is None:
                return known(term.arg)
            return own
        case Sum():
            total: Range = (0, 0)
            for monomial, coefficient in term.items:
                total = _add(total, _scale(_monomial(monomial, known), coefficient))
            return total
        case Ite():
            return _union(known(term.then), known(term.otherwise))
        case Aggregate():
            return _aggregate(term, known)
        case Op():
            if term.op in NAMED_FUNCTIONS:
                return _named(term.op, [known(arg) for arg in term.args])
            return _operator(term.op, [known(arg) for arg in term.args])
        case _:
            raise AssertionError(type(term))


def _named(op: str, args: list[Range]) -> Range:
    match op:
        case "table":
            entries = [low for low, _ in args[1:] if low is not None]
            lowest, highest = args[0]
            end = len(entries) - 1
            begin = min(max(lowest or 0, 0), end)
            possible = entries[begin : (end if highest is None else min(max(highest, begin), end)) + 1]
            return min(possible), max(possible)
        case "first_in_range":
            return 0, args[2][1]
        case "first_scaled":
            return -1, None if args[3][1] is None else max(args[3][1].bit_length(), 1 << 10)
        case "first_positive":
            return _first_positive(args)
        case "first_zero":
            return -1, None
        case "linear_power":
            natural = all(low is not None and low >= 0 for low, _ in args[2:])
            return 0 if natural else None, None
        case "digits":
            factor = args[2][0]
            return 0 if factor is not None and factor >= 0 else None, None
        case "divided":
            return _divided(args)
        case _:  # floor_sum
            count, modulus, step, start = args
            if count[1] is None or modulus[0] is None:
                return EVERYTHING
            last = max(count[1] - 1, 0)
            low, high = _add(_union((0, 0), _scale(step, last)), start)
            summand = (None if low is None else low // modulus[0], None if high is None else high // modulus[0])
            return _union((0, 0), _scale(summand, max(count[1], 0)))


def _aggregate(term: Aggregate, known: Callable[[Term], Range]) -> Range:
    if term.kind == "earliest":
        return -1, None
    most = known(term.outside[0])[1]
    most = None if most is None else max(most, 0)
    match term.kind:
        case "first":
            return 0, most
        case "last":
            return -1, None if most is None else most - 1
        case "sum":
            low, high = range_of(_term(term.inside[0]))
            return (
                0 if low is not None and low >= 0 else None if low is None or most is None else low * most,
                0 if high is not None and high <= 0 else None if high is None or most is None else high * most,
            )
        case "least" | "greatest":
            start, value = known(term.outside[1]), range_of(_term(term.inside[0]))
            low, high = _union(start, value)
            return (low, start[1]) if term.kind == "least" else (start[0], high)
        case _:
            number = term.outside[1]
            assert isinstance(number, Const)
            return _union(known(term.outside[2 + number.value]), range_of(_term(term.inside[number.value])))


def _term(node: Node) -> Term:
    assert isinstance(node, Term)
    return node


def _divided(args: list[Range]) -> Range:
    """What is divided moves one way, to where it stays; all of it is the greater, the greater the operands are."""
    _, start, inner, divisor, outer = args
    by = divisor[0] or 2
    low, high = (
        None if x is None or a is None or b is None else powers.divided(_AGAIN, x, a, by, b)
        for x, a, b in zip(start, inner, outer, strict=True)
    )
    return _union(start, (low, high))


_AGAIN = 1 << 62
"""More steps than any repeated division changes anything in."""


def _first_positive(args: list[Range]) -> Range:
    """A greater coefficient makes the value greater at every k ≥ 0, and so come the first positive one earlier."""
    keys = [(base[0] or 0, degree[0] or 0) for base, degree in zip(args[::3], args[1::3], strict=True)]
    lows = {key: low for key, (low, _) in zip(keys, args[2::3], strict=True) if low is not None}
    highs = {key: high for key, (_, high) in zip(keys, args[2::3], strict=True) if high is not None}
    try:
        earliest = curves.first_of_sign(highs, 1) if len(highs) == len(keys) else 0
        if earliest < 0:
            return -1, -1
        latest = curves.first_of_sign(lows, 1) if len(lows) == len(keys) else -1
    except ValueError:
        return -1, None
    if latest >= 0:
        return earliest, latest
    lead = lows.get(max(keys), 0)
    return (earliest if lead > 0 else -1), None


def _add(a: Range, b: Range) -> Range:
    low = None if a[0] is None or b[0] is None else a[0] + b[0]
    high = None if a[1] is None or b[1] is None else a[1] + b[1]
    return low, high


def _scale(a: Range, factor: int) -> Range:
    low = None if a[0] is None else a[0] * factor
    high = None if a[1] is None else a[1] * factor
    return (low, high) if factor >= 0 else (high, low)


def _union(a: Range, b: Range) -> Range:
    low = None if a[0] is None or b[0] is None else min(a[0], b[0])
    high = None if a[1] is None or b[1] is None else max(a[1], b[1])
    return low, high


def _multiply(a: Range, b: Range) -> Range:
    if None not in a and None not in b:
        corners = [x * y for x in a for y in b if x is not None and y is not None]
        if max(corner.bit_length() for corner in corners) <= MAX_BITS:
            return min(corners), max(corners)
        return (0, None) if min(corners) >= 0 else EVERYTHING
    if a[0] is not None and a[0] >= 0 and b[0] is not None and b[0] >= 0:
        return a[0] * b[0], None
    return EVERYTHING


def _monomial(monomial: Monomial, known: Callable[[Term], Range]) -> Range:
    result: Range = (1, 1)
    for atom, exponent in monomial:
        base = known(atom)
        if exponent % 2 == 0:
            base = _even_power(base)
            exponent //= 2
        elif exponent > 1:
            result = _multiply(result, base)
            base = _even_power(base)
            exponent //= 2
        for _ in range(exponent):
            result = _multiply(result, base)
    return result


def _even_power(base: Range) -> Range:
    low, high = base
    if low is None or high is None:
        return 0, None
    floor = 0 if low <= 0 <= high else min(low * low, high * high)
    return floor, max(low * low, high * high)


def _operator(op: str, args: list[Range]) -> Range:
    match op:
        case "min" | "max":
            return _extreme(op, args)
        case "floor_div" | "trunc_div":
            return _divide(args[0], args[1], truncate=op == "trunc_div")
        case "mod":
            return _mod(args[0], args[1])
        case "trunc_rem":
            return _trunc_rem(args[0], args[1])
        case "bit_and" | "bit_or" | "bit_xor":
            return _bits(op, args)
        case "shr" | "shl" | "pow":
            return _shift_or_power(op, args[0], args[1])
        case _:
            assert_never(op)  # type: ignore[arg-type]


def _extreme(op: str, args: list[Range]) -> Range:
    lows = [low for low, _ in args]
    highs = [high for _, high in args]
    known_lows = [low for low in lows if low is not None]
    known_highs = [high for high in highs if high is not None]
    if op == "min":
        return (min(known_lows) if len(known_lows) == len(lows) else None, min(known_highs, default=None))
    return (max(known_lows, default=None), max(known_highs) if len(known_highs) == len(highs) else None)


def _divide(a: Range, b: Range, *, truncate: bool) -> Range:
    low, high = a
    if b[0] is None or b[1] is None or (b[0] <= 0 <= b[1]):
        return EVERYTHING
    corners: list[int] = []
    for divisor in (b[0], b[1]):
        for end in (low, high):
            if end is not None:
                quotient = abs(end) // abs(divisor) * (1 if (end >= 0) == (divisor > 0) else -1)
                corners.append(quotient if truncate else end // divisor)
    nonnegative = low is not None and low >= 0 and b[0] > 0
    if low is None or high is None:
        if nonnegative:
            return min(corners), None
        return EVERYTHING
    return min(corners), max(corners)


def _mod(a: Range, b: Range) -> Range:
    if b[0] is None or b[1] is None:
        return EVERYTHING
    if b[0] > 0:
        if a[0] is not None and a[1] is not None and a[0] >= 0 and a[1] < b[0]:
            return a
        top = b[1] - 1
        if a[0] is not None and a[0] >= 0 and a[1] is not None:
            top = min(top, a[1])
        return 0, top
    return (min(0, b[0] + 1), max(0, b[1] - 1))


def _trunc_rem(a: Range, b: Range) -> Range:
    if b[0] is None or b[1] is None:
        return EVERYTHING
    largest = max(abs(b[0]), abs(b[1])) - 1
    low = -largest if a[0] is None or a[0] < 0 else 0
    high = largest if a[1] is None or a[1] > 0 else 0
    if a[0] is not None:
        low = max(low, min(a[0], 0))
    if a[1] is not None:
        high = min(high, max(a[1], 0))
    return low, high


def _bits(op: str, args: list[Range]) -> Range:
    lows = [low for low, _ in args]
    highs = [high for _, high in args]
    if op == "bit_and":
        bounded = [high for low, high in args if low is not None and low >= 0 and high is not None]
        if bounded:
            return 0, min(bounded)
    if any(value is None for value in lows + highs):
        return EVERYTHING
    widest = max(max(-low, high + 1) for low, high in args if low is not None and high is not None)
    power = 1 << max(widest - 1, 0).bit_length()
    if all(low is not None and low >= 0 for low in lows):
        return 0, power - 1
    return -power, power - 1


def _shift_or_power(op: str, a: Range, b: Range) -> Range:
    if b[0] is None or b[0] < 0 or b[1] is None or b[1] > _POW_LIMIT:
        return (0, None) if a[0] is not None and a[0] >= 0 else EVERYTHING
    if op == "pow":
        if a[0] is None or a[0] < 0 or a[1] is None:
            return EVERYTHING
        return prod([a[0]] * b[0]) if a[0] else int(b[1] == 0), prod([a[1]] * b[1]) if a[1] else 1
    corners = [
        (end << amount if op == "shl" else end >> amount) for end in a if end is not None for amount in (b[0], b[1])
    ]
    if a[0] is None or a[1] is None:
        return (min(corners), None) if a[0] is not None and a[0] >= 0 else EVERYTHING
    return min(corners), max(corners)

"""How fast counts grow: the class of a bound, and the class that a count surely reaches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, product
from math import floor, log2
from typing import Final

from loopless import terms as t
from loopless.bounds import LOG, AsymptoticClass, Claim, asymptotic_class
from loopless.limits.bounds import (
    EXPONENT_ROUNDING,
    EXPONENT_SLACK,
    FIRST_SAMPLE_BITS,
    MAX_SAMPLE_BITS,
    MAX_SAMPLED_VARIABLES,
    MIN_SAMPLES,
)
from loopless.records import dataclass


def class_of_bound(term: t.Term | None, shown: Mapping[t.Var, str], *, exact: bool) -> AsymptoticClass | None:
    """How fast a bound grows with its variables, by their names in the source; ``exact``: it is a count."""
    return None if term is None else asymptotic_class(term, lambda var: shown.get(var, var.name), exact=exact)


def class_of_claim(found: Claim, shown: Mapping[t.Var, str]) -> AsymptoticClass | None:
    """How fast the upper bound grows; None where it does not hold for all inputs for which the count ends."""
    return class_of_bound(found.upper, shown, exact=found.exact) if has_class(found) else None


def has_class(found: Claim) -> bool:
    """Whether there is an upper bound for all inputs for which the count ends, and some such inputs."""
    return found.upper is not None and not found.has_gap and found.when is not t.FALSE


@dataclass(frozen=True, slots=True)
class LowerClass:
    """That a count reaches n^degree for some inputs of size n: those with the variables at their sign in ``ray``, 0, 1
    or -1, times n. ``text``: as Ω, in the variables where it is the class of an exact count. ``until``: for larger n
    runs meet undefined behaviour, or nothing is known of them; None where it goes on up to the types' ends.
    """

    degree: int
    ray: Mapping[t.Var, int]
    text: str
    until: int | None = None


def lower_class(found: Claim, shown: Mapping[t.Var, str]) -> str | None:
    """The class that a count reaches for some inputs of a size, as ``Omega(n*m)``; None where none is seen."""
    grows = lower_class_of(found, shown)
    return None if grows is None else grows.text


def lower_class_of(found: Claim, shown: Mapping[t.Var, str], *, limited: bool = False) -> LowerClass | None:
    """How fast the count's lower bound grows along some ray of inputs: the fastest that is seen, of those the one with
    the largest counts; None where none is. ``limited``: also where it does for inputs up to a size only, if it is
    faster there.

    The count is taken at sizes up to the types' ends; over the integers at sizes beyond what the constants in the
    bound and its conditions can bring about. An exact count that grows by the degree of the upper bound has that
    bound's class.
    """
    exact = found.exact and found.reached is None
    grows = class_of_claim(found, shown)
    nodes = (reached(found), found.when, found.never, found.undefined)
    variables = sorted({var for node in nodes for var in node.variables}, key=lambda var: var.key)
    if len(variables) > MAX_SAMPLED_VARIABLES or any(
        isinstance(node, t.Aggregate) for root in nodes for node in t.walk(root)
    ):
        return None  # an aggregate is evaluated in one pass over its positions, of which samples have 2^30
    far = _beyond_constants(found)
    best: LowerClass | None = None
    most = (0, False, 0)
    for signs in product((1, 0, -1), repeat=len(variables)):
        ray = dict(zip(variables, signs, strict=True))
        seen = _Seen(found, ray, _sizes(ray, far), most[0] if best is not None else 0)
        if seen.degree is None or (seen.until is not None and not limited):
            continue
        degree = seen.degree
        if grows is not None:
            # What the samples show is no more than what holds for all inputs.
            degree = min(degree, floor(grows.degree))
        rank = (degree, seen.until is None, seen.counts[2])
        if best is None or rank > most:
            most = rank
            of_upper = exact and grows is not None and degree == grows.degree and _is_reached(grows, seen, shown)
            text = grows.text("Omega") if of_upper and grows is not None else _omega(degree)
            best = LowerClass(degree, ray, text, seen.until)
    return best


def reached(found: Claim) -> t.Term:
    """What some run surely takes."""
    if found.reached is not None:
        return found.reached
    return found.upper if found.exact and found.upper is not None else found.lower


def _is_reached(grows: AsymptoticClass, seen: _Seen, shown: Mapping[t.Var, str]) -> bool:
    """Whether a class is one product, of what grows along the ray, and the counts grow by its logarithms too."""
    if len(grows.products) != 1:
        return False
    moving = {shown.get(var, var.name) for var, sign in seen.ray.items() if sign}
    (powers,) = grows.products
    smallest, largest = (log2(size) for size in (seen.sizes[0], seen.sizes[-1]))
    by = 0.0
    for name, exponent in powers:
        if name.removeprefix(LOG) not in moving:
            return False
        by += float(exponent) * (log2(largest / smallest) if name.startswith(LOG) else largest - smallest)
    return log2(seen.counts[-1]) - log2(seen.counts[0]) >= by * (1 - EXPONENT_SLACK) - EXPONENT_ROUNDING


def _omega(degree: int) -> str:
    """The class in the size of the inputs."""
    return "Omega(1)" if degree == 0 else "Omega(size)" if degree == 1 else f"Omega(size^{degree})"


def _sizes(ray: Mapping[t.Var, int], far: int) -> Iterator[int]:
    """Sizes that grow up to the ends of the types along the ray; over the integers beyond 2^``far``.

    They are no powers of two, and leave remainders of all kinds.
    """
    ends = [var.type.max if sign > 0 else var.type.min for var, sign in ray.items() if sign]
    limit = min((abs(end) for end in ends if end is not None), default=None)
    if limit is None:
        bits: Sequence[int] = (
            *range(FIRST_SAMPLE_BITS, FIRST_SAMPLE_BITS + 4),
            far,
            far + 1,
            far + 2,
            2 * far,
            2 * far + 1,
        )
        yield from map(_odd_size, bits)
        return
    last = limit - limit // 8
    for bits_of_size in count(FIRST_SAMPLE_BITS):
        if 5 << bits_of_size - 2 > last:
            break
        yield _odd_size(bits_of_size)
    yield last


def _odd_size(bits: int) -> int:
    """From 2^bits to 5/4 of that."""
    return (1 << bits) + pow(_MULTIPLIER, bits, 1 << bits + 5) // _DIVISOR % (1 << bits - 2)


_MULTIPLIER: Final = 2_654_435_761
"""Knuth's multiplier, 2^32 by the golden ratio: makes sizes that have no pattern in bits."""
_DIVISOR: Final = 37
"""An odd number; any would do."""


def _beyond_constants(found: Claim) -> int:
    """So many bits has an input beside which all that the constants of a claim can bring about is small."""
    bits = 64
    for root in (reached(found), found.when, found.never, found.undefined):
        for node in t.walk(root):
            if isinstance(node, t.Const):
                bits += node.value.bit_length()
            elif isinstance(node, t.Sum):
                bits += sum(c.bit_length() for _, c in node.items)
    return bits


class _Seen:
    """The counts along a ray: by which ``degree`` they surely grow, None where they do not, or not by ``least``;
    ``until`` which size, None up to the last one.
    """

    def __init__(self, found: Claim, ray: Mapping[t.Var, int], sizes: Iterator[int], least: int) -> None:
        self.ray = ray
        self.counts: list[int] = []
        self.sizes: list[int] = []
        self.degree: int | None = None
        self.until: int | None = None
        known = self.sizes
        degree: int | None = None
        for size in sizes:
            often = (
                _count_at(found, {v: s * size for v, s in ray.items()})
                if size.bit_length() <= MAX_SAMPLE_BITS
                else None
            )
            if often is None and len(known) >= MIN_SAMPLES:
                self.until = known[-1]
                break
            if often is None or often <= 0:
                return
            if known:
                grown = max(0, _power_of(self.counts[-1], often, known[-1], size))
                degree = grown if degree is None else min(degree, grown)
                if degree < least:
                    return
            self.counts.append(often)
            known.append(size)
        if degree is not None and len(known) >= MIN_SAMPLES:
            self.degree = degree


def _count_at(found: Claim, values: Mapping[t.Var, int]) -> int | None:
    """The count, or what is surely reached; types that cannot hold a value have none, nor have runs that may meet
    undefined behaviour.
    """
    if not all(var.type.holds(value) for var, value in values.items()):
        return None
    try:
        covered = (
            t.holds(found.when, values) and not t.holds(found.never, values) and not t.holds(found.undefined, values)
        )
        return t.evaluate(reached(found), values) if covered else None
    except t.EvaluationError:
        return None


def _power_of(a: int, b: int, smaller: int, larger: int) -> int:
    """The whole exponent with which a count surely grows from ``a`` to ``b`` while its inputs do from ``smaller``."""
    return floor((log2(b) - log2(a)) / (log2(larger) - log2(smaller)) + EXPONENT_SLACK)

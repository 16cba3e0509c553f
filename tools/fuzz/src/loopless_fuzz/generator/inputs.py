"""Inputs for generated (and other) functions: small ones so that loops end soon, edges so that arithmetic is tried."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from loopless.check.oracle.signature import CType, Opaque, PointerType, Signature
from loopless_fuzz.generator.syntax import ARRAY_LENGTH, DATA_LENGTH

Arguments = tuple[int | tuple[int, ...], ...]
"""One value per parameter; a tuple for what a pointer points to."""

LETTERS: Final = (0, 0, 1, 32, 48, 57, 59, 61, 65, 97, 122, -1, 127)
"""What loops over strings look for."""


def edges(ctype: CType) -> list[int]:
    """0, ±1, the ends of every narrower type and of this one, and powers of two, each ±1, as far as they fit."""
    found = {0, 1, -1, 2, 3, ctype.low, ctype.low + 1, ctype.high, ctype.high - 1}
    for bits in range(2, ctype.bits + 1):
        for off in (-1, 0, 1):
            found.update(((1 << bits) + off, -(1 << bits) + off))
    return sorted(value for value in found if ctype.low <= value <= ctype.high)


def inputs(
    signature: Signature, seed: int, count: int, *, array_length: int = ARRAY_LENGTH, edge_share: float = 0.25
) -> list[Arguments]:
    """``count`` argument tuples for a signature, the same for the same seed.

    About ``edge_share`` of them have at least one edge value; the others are small and lie close to one another, so
    that differences between parameters, and with them iteration counts, are small. Two 8-bit parameters or less are
    *not* enumerated: see :func:`all_inputs`.

    Raises:
        ValueError: for a parameter that is no integer and no pointer to integers.
    """
    rng = random.Random(f"inputs:{seed}")
    return [_arguments(signature, rng, array_length, edge_share) for _ in range(count)]


def all_inputs(signature: Signature) -> list[Arguments]:
    """Every argument tuple of a function with integer parameters only; meant for one or two of 8 bits.

    Raises:
        ValueError: if there are more than 2^16 tuples, or a parameter is no integer.
    """
    ranges: list[range] = []
    total = 1
    for param in signature.params:
        if not isinstance(param, CType):
            raise ValueError("only integer parameters can be enumerated")  # noqa: TRY004
        ranges.append(range(param.low, param.high + 1))
        total *= 1 << param.bits
    if total > 1 << 16:
        raise ValueError("too many inputs to enumerate")
    found: list[tuple[int, ...]] = [()]
    for values in ranges:
        found = [(*prefix, value) for prefix in found for value in values]
    return list(found)


def _arguments(signature: Signature, rng: random.Random, array_length: int, edge_share: float) -> Arguments:
    base = rng.choice((0, 0, 0, 0, 10, rng.randint(-20, 120)))
    edgy = rng.random() < edge_share
    made: list[int | tuple[int, ...]] = []
    for param in signature.params:
        match param:
            case CType():
                made.append(_edge(param, rng) if edgy and rng.random() < 0.6 else _near(param, base, rng))
            case PointerType(element):
                made.append(tuple(_near(element, base, rng) for _ in range(array_length)))
            case Opaque(name):  # the caller's value is at fault, for all that it is told by its type
                raise ValueError(f"no inputs for a parameter of type {name}")
    return tuple(made)


def _edge(ctype: CType, rng: random.Random) -> int:
    if rng.random() < 0.3:
        return rng.randint(ctype.low, ctype.high)
    return rng.choice(edges(ctype))


def _near(ctype: CType, base: int, rng: random.Random) -> int:
    spread = rng.choice((3, 10, 10, 40))
    value = base + rng.randint(-spread // 3, spread)
    return min(max(value, ctype.low), ctype.high)


def nondet_stream(seed: int, length: int = 400) -> tuple[int, ...]:
    """Values for input functions: mostly small, with zeros so that input-driven loops end; each is cut to its type."""
    rng = random.Random(f"nondet:{seed}")
    pool: Sequence[int] = (0, 0, 0, 1, 1, 2, -1, 5, 10)
    return tuple(rng.choice(pool) if rng.random() < 0.9 else rng.randint(-(2**31), 2**31 - 1) for _ in range(length))


# ------------------------------------------------------------------------------------------- functions that read data


def data_inputs(signature: Signature, seed: int, count: int) -> list[Arguments]:
    """``count`` argument tuples for functions that read data, the same for the same seed.

    What pointers point to has :data:`DATA_LENGTH` elements, the last one 0, most of them of a few values among which
    are those of the other arguments; limits are small.

    Raises:
        ValueError: as :func:`inputs`.
    """
    rng = random.Random(f"data:{seed}")
    return [_with_data(signature, args, rng) for args in inputs(signature, seed, count, array_length=DATA_LENGTH)]


def _with_data(signature: Signature, args: Arguments, rng: random.Random) -> Arguments:
    scalars = [value for value in args if isinstance(value, int)]
    if rng.random() < 0.7:
        scalars = [rng.choice((value, rng.randint(0, DATA_LENGTH), rng.choice(LETTERS))) for value in scalars]
    made: list[int | tuple[int, ...]] = []
    for param, value in zip(signature.params, args, strict=True):
        if isinstance(param, CType):
            wanted = scalars.pop(0)
            made.append(wanted if param.low <= wanted <= param.high else value)
        elif isinstance(param, PointerType):
            made.append(_data(param.element, [v for v in args if isinstance(v, int)], rng))
    return tuple(made)


def _data(ctype: CType, known: list[int], rng: random.Random) -> tuple[int, ...]:
    pool = [0, 1, *LETTERS, *known, *known, ctype.low, ctype.high, 3, 5, 49, 50]
    fitting = [value for value in pool if ctype.low <= value <= ctype.high]
    letters = [rng.choice(fitting) for _ in range(rng.choice((1, 2, 2, 3, 4, 8)))]
    loose = rng.choice((0.0, 0.0, 0.1, 0.5))
    drawn = [
        rng.randint(ctype.low, ctype.high) if rng.random() < loose else rng.choice(letters)
        for _ in range(DATA_LENGTH - 1)
    ]
    if rng.random() < 0.1:
        drawn.sort()
    return (*drawn, 0)

"""Powers of integer matrices and Horner sums of digits, over ℤ or modulo m, in time logarithmic in the exponent."""

from __future__ import annotations

from collections.abc import Sequence

MAX_BITS = 1 << 20
"""Values over ℤ may have so many bits."""


def first_component(args: Sequence[int], modulus: int | None = None, *, limit: int = MAX_BITS) -> int:
    """The first component of A^max(k, 0)·x for ``args`` = k, size, the rows of A one after the other, x.

    Modulo ``modulus`` if that is given; else a value of more than ``limit`` bits raises ValueError.
    """
    k, size = max(args[0], 0), args[1]
    matrix = [list(args[2 + i * size : 2 + i * size + size]) for i in range(size)]
    vector = list(args[2 + size * size :])
    while True:
        if k & 1:
            vector = [sum(a * x for a, x in zip(row, vector, strict=True)) for row in matrix]
            vector = _reduced(vector, modulus, limit)
        k >>= 1
        if not k:
            return vector[0] if modulus is None else vector[0] % modulus
        columns = list(zip(*matrix, strict=True))
        product = [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in matrix]
        matrix = [_reduced(row, modulus, limit) for row in product]


def _reduced(values: list[int], modulus: int | None, limit: int) -> list[int]:
    if modulus is not None:
        return [value % modulus for value in values]
    if any(value.bit_length() > limit for value in values):
        raise ValueError(f"a value has more than {limit} bits")
    return values


def horner_of_digits(
    n: int, base: int, factor: int, count: int, modulus: int | None = None, *, limit: int = MAX_BITS
) -> int:
    """Σ d_i·factor^(count-1-i) over 0 ≤ i < count, d_i = floor(n / base^i) mod base; 0 for count ≤ 0; base ≥ 2.

    Modulo ``modulus`` if that is given; else a value of more than ``limit`` bits raises ValueError.
    """
    total = 0
    left = max(count, 0)
    while left and n not in (0, -1):
        n, digit = divmod(n, base)
        total = _reduced([total * factor + digit], modulus, limit)[0]
        left -= 1
    # from here on all digits are 0, or base - 1 for a negative n
    digit = 0 if n == 0 else base - 1
    if not left or (not total and not digit):
        return total if modulus is None else total % modulus
    return first_component([left, 2, factor, digit, 0, 1, total, 1], modulus, limit=limit)


def divided(k: int, x: int, a: int, c: int, b: int) -> int:
    """What x comes to by doing x = (x + a) / c + b, with C's quotient, max(k, 0) times; c ≥ 2.

    The map keeps the order of numbers and brings them closer together, so that after so many steps as x has digits in
    base c, and a few more, nothing changes any more. Raises ValueError for other c.
    """
    if c < 2:
        raise ValueError(f"division by {c} again and again")
    for _ in range(k):
        number = x + a
        moved = (number // c if number >= 0 else -(-number // c)) + b
        if moved == x:
            break
        x = moved
    return x

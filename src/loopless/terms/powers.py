"""Powers of integer matrices and Horner sums of digits, over ℤ or modulo m, in time logarithmic in the exponent.

All powers of matrices of numbers are worked out here. The products are FLINT's, which is imported where one is asked
for: from the third power of two on it is faster than sums in Python even for two rows, and a hundred times for twelve.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from loopless.limits.terms import MAX_INTEGER_BITS, REMEMBERED_POWERS

if TYPE_CHECKING:
    from flint import fmpz_mat, fmpz_mod_mat


def first_component(args: Sequence[int], modulus: int | None = None, *, limit: int = MAX_INTEGER_BITS) -> int:
    """The first component of A^max(k, 0)·x for ``args`` = k, size, the rows of A one after the other, x.

    Modulo ``modulus`` if that is given; else a value of more than ``limit`` bits raises ValueError.
    """
    if modulus is not None:
        return _first_component(args, modulus, limit)
    found = _power_within(tuple(args), limit)
    if found is None:
        raise ValueError(_too_large(limit))
    return found


@functools.lru_cache(REMEMBERED_POWERS)
def _power_within(args: tuple[int, ...], limit: int) -> int | None:
    """The component over ℤ; None where it has more bits than that, or what leads to it has."""
    try:
        return _first_component(args, None, limit)
    except ValueError:
        return None


def _first_component(args: Sequence[int], modulus: int | None, limit: int) -> int:
    k, size = args[0], args[1]
    matrix = [args[2 + i * size : 2 + i * size + size] for i in range(size)]
    return repeated(matrix, args[2 + size * size :], k, modulus, limit=limit)


def _too_large(limit: int) -> str:
    return f"a value has more than {limit} bits"


def repeated(
    matrix: Sequence[Sequence[int]],
    start: Sequence[int],
    k: int,
    modulus: int | None = None,
    *,
    limit: int = MAX_INTEGER_BITS,
) -> int:
    """The first component of ``matrix``^max(k, 0) · ``start``: a linear map applied again and again.

    Modulo ``modulus`` if that is given; else a value of more than ``limit`` bits raises ValueError.
    """
    if k <= 0:
        return start[0] if modulus is None else start[0] % modulus
    if not any(start):
        return 0
    import flint

    power: fmpz_mat | fmpz_mod_mat = flint.fmpz_mat(matrix)
    vector: fmpz_mat | fmpz_mod_mat = flint.fmpz_mat([[value] for value in start])
    if modulus is not None:
        ring = flint.fmpz_mod_ctx(modulus)
        power, vector = flint.fmpz_mod_mat(power, ring), flint.fmpz_mod_mat(vector, ring)
    # FLINT's own power takes no exponent beyond a machine word, and looks at no limit on the way.
    while True:
        if k & 1:
            vector = _within(power * vector, limit)
        k >>= 1
        if not k:
            return int(vector[0, 0])
        power = _within(power * power, limit)


def _within(values: fmpz_mat | fmpz_mod_mat, limit: int) -> fmpz_mat | fmpz_mod_mat:
    import flint

    if isinstance(values, flint.fmpz_mat) and any(int(value).bit_length() > limit for value in values.entries()):
        raise ValueError(_too_large(limit))
    return values


def horner_of_digits(
    n: int, base: int, factor: int, count: int, modulus: int | None = None, *, limit: int = MAX_INTEGER_BITS
) -> int:
    """Σ d_i·factor^(count-1-i) over 0 ≤ i < count, d_i = floor(n / base^i) mod base; 0 for count ≤ 0; base ≥ 2.

    Modulo ``modulus`` if that is given; else a value of more than ``limit`` bits raises ValueError.
    """
    total = 0
    left = max(count, 0)
    while left and n not in (0, -1):
        n, digit = divmod(n, base)
        total = total * factor + digit
        if modulus is not None:
            total %= modulus
        elif total.bit_length() > limit:
            raise ValueError(_too_large(limit))
        left -= 1
    # from here on all digits are 0, or base - 1 for a negative n
    digit = 0 if n == 0 else base - 1
    if not left or (not total and not digit):
        return total if modulus is None else total % modulus
    return first_component([left, 2, factor, digit, 0, 1, total, 1], modulus, limit=limit)


def divided(k: int, x: int, a: int, c: int, b: int) -> int:
    """The value of x after doing x = (x + a) / c + b, with C's quotient, max(k, 0) times; c ≥ 2.

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

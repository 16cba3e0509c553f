"""Euclid-like algorithms on u + a·t modulo m: first visit of an interval, and sums of quotients. Logarithmic in m."""

from __future__ import annotations

from loopless.limits.terms import MAX_ORDER_MODULUS


def first_in_range(u: int, a: int, m: int, low: int, high: int) -> int | None:
    """The least t ≥ 0 with (u + a·t) mod m in [low, high], None if there is none; m ≥ 1, 0 ≤ low ≤ high < m.

    ``u`` and ``a`` may be any integers. None exactly if (u - low) mod gcd(a, m) > high - low.
    Raises ValueError for an interval outside [0, m).
    """
    if m < 1 or not 0 <= low <= high < m:
        raise ValueError(f"[{low}, {high}] is not an interval of residues modulo {m}")
    distance = (u - low) % m
    if distance <= high - low:
        return 0
    start = m - distance
    return _first_multiple(a % m, m, start, start + high - low)


def first_visit(u: int, a: int, m: int, low: int, high: int) -> int:
    """As :func:`first_in_range` for any interval of integers, of which only what lies in [0, m) can be visited; m where
    there is no visit. (A first visit is always before m.) Raises ValueError for m < 1.
    """
    if m < 1:
        raise ValueError(f"residues modulo {m}")
    low, high = max(low, 0), min(high, m - 1)
    found = first_in_range(u, a, m, low, high) if low <= high else None
    return m if found is None else found


def _first_multiple(a: int, m: int, low: int, high: int) -> int | None:
    """The least t ≥ 0 with a·t mod m in [low, high]; 0 ≤ a < m, 0 < low ≤ high < m.

    If no multiple of a lies in the interval before the first turn, then after y turns a·t = m·y + (something in the
    interval), and y is the least with (-m·y) mod a … that is m·y mod a in [-high, -low] mod a: the same question for
    (m mod a, a). Written as a loop; the moduli at least halve every two rounds.
    """
    levels: list[tuple[int, int, int]] = []
    found = 0
    while low > 0:
        if a == 0:
            return None
        found = -(-low // a)
        if a * found <= high:
            break
        found = 0
        levels.append((a, m, low))
        a, m, low, high = m % a, a, -high % a, -low % a
    for step, modulus, bound in reversed(levels):
        found = -(-(bound + modulus * found) // step)
    return found


def has_few_powers(b: int, m: int) -> bool:
    """Whether ``b`` has few enough different powers modulo m, a power of 2, for :func:`first_scaled`."""
    return b % 2 == 0 or m <= MAX_ORDER_MODULUS


def first_scaled(u: int, b: int, c: int, m: int, low: int, high: int) -> int:
    """The least k ≥ 0 with (u·b^k + c) mod m in [low, high], -1 if there is none; m a power of 2.

    b is even, so that no power of it from the w-th on, m = 2^w, is other than 0 modulo m; or m is at most
    :data:`MAX_ORDER_MODULUS`, so that its powers repeat after m / 4. Raises ValueError for other b and m.
    """
    if m < 1 or m & (m - 1) or not has_few_powers(b, m):
        raise ValueError(f"powers of {b} modulo {m}")
    for k in range(max(m.bit_length(), m // 4 if b % 2 else 0)):
        if low <= (u + c) % m <= high:
            return k
        u = u * b % m
    return -1


def floor_sum(n: int, m: int, a: int, b: int) -> int:
    """The sum of floor((a·i + b) / m) for 0 ≤ i < n; n ≥ 0, m ≥ 1, any integers a and b.

    With it, the sum of (u + a·i) mod m for i < n is u·n + a·n(n-1)/2 - m·floor_sum(n, m, a, u).
    Raises ValueError for n < 0 or m < 1.
    """
    if n < 0 or m < 1:
        raise ValueError(f"floor_sum over {n} summands with divisor {m}")
    total = 0
    sign = 1
    while n:
        total += sign * ((n - 1) * n // 2 * (a // m) + n * (b // m))
        a, b = a % m, b % m
        top = a * n + b
        if top < m:
            break
        # count lattice points below the line by rows instead of columns
        rows = top // m
        total += sign * n * rows
        sign = -sign
        n, m, a, b = rows, a, m, m - b + a - 1
    return total


def sum_of_residues(n: int, m: int, a: int, u: int) -> int:
    """The sum of (u + a·i) mod m for 0 ≤ i < n: what a wider accumulator gains from a variable that wraps."""
    return u * n + a * (n * (n - 1) // 2) - m * floor_sum(n, m, a, u)

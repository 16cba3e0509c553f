"""Quotients and remainders by variables that have few values, spelled out: 3 / z is one of 3, 1, 0, -1 and -3.

Which one it is is a linear question about the divisor, and the remainder is linear once the quotient is known. So what
the logic could not express becomes a choice between terms that it can. Where the divisor is 0 the new term has some
value; no iteration gets there, since a check comes before each division.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import overload

from loopless import terms as t
from loopless.limits.summary import MAX_QUOTIENTS
from loopless.paths.model import LoopPaths, Path


def with_few_quotients(paths: LoopPaths) -> LoopPaths:
    """The paths with equivalent conditions and updates; the paths themselves where none changes."""
    iterative, exits = tuple(map(_of_path, paths.iterative)), tuple(map(_of_path, paths.exits))
    if all(new is old for new, old in zip((*iterative, *exits), paths.all, strict=True)):
        return paths
    return replace(paths, iterative=iterative, exits=exits)


def _of_path(path: Path) -> Path:
    condition = spelled(path.condition)
    update = {var: spelled(term) for var, term in path.update.items()}
    if condition is path.condition and all(update[var] is term for var, term in path.update.items()):
        return path
    return replace(path, condition=condition, update=update)


@overload
def spelled(node: t.Term) -> t.Term: ...
@overload
def spelled(node: t.Condition) -> t.Condition: ...
def spelled(node: t.Term | t.Condition) -> t.Term | t.Condition:
    """An equivalent term or condition in which quotients of few values are choices."""
    while found := _first(node):
        node = t.replace_terms(node, found)
    return node


def _first(node: t.Term | t.Condition) -> dict[t.Term, t.Term]:
    """The innermost quotient of few values, and what it is."""
    for part in t.walk(node):
        if isinstance(part, t.Op) and part.op in t.DIVISIONS:
            choice = _choice(part)
            if choice is not None:
                return {part: choice}
    return {}


def _choice(term: t.Op) -> t.Term | None:
    number, divisor = term.args
    if isinstance(divisor, t.Const):
        return None
    low, high = t.range_of(number)
    least = t.range_of(divisor)[0]
    if low is None or high is None or max(-low, high) > MAX_QUOTIENTS:
        return None
    if term.op in ("floor_div", "mod") and (low < 0 or least is None or least < 0):
        return None
    cases = list(_quotients(number, low, high, divisor))
    if len(cases) > MAX_QUOTIENTS:
        return None
    remainder = term.op in ("mod", "trunc_rem")
    result: t.Term = number if remainder else t.ZERO
    for condition, quotient in reversed(cases):
        result = t.ite(condition, number - divisor * quotient if remainder else t.const(quotient), result)
    return result


def _quotients(number: t.Term, low: int, high: int, divisor: t.Term) -> Iterator[tuple[t.Condition, int]]:
    """The quotients other than 0, and where they are what comes out; the conditions exclude each other."""
    least, most = t.range_of(divisor)
    signs = [sign for sign, possible in ((1, most is None or most > 0), (-1, least is None or least < 0)) if possible]
    for of_divisor in signs:
        size = divisor if of_divisor > 0 else -divisor
        if low == high:
            for quotient in sorted({abs(low) // by for by in range(1, abs(low) + 1)}):
                first, last = abs(low) // (quotient + 1) + 1, abs(low) // quotient
                where = size.ge(first) & size.le(last)
                yield where, quotient * of_divisor * (1 if low > 0 else -1)
            continue
        for of_number, largest in ((1, high), (-1, -low)):
            count = number if of_number > 0 else -number
            for quotient in range(1, largest + 1):
                multiple = size * quotient
                inside = multiple.le(count) & count.lt(multiple + size)
                yield (
                    size.gt(0) & count.ge(0) & inside,
                    (quotient * of_divisor * of_number),
                )

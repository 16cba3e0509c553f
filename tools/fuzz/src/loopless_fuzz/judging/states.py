"""States at a loop's header to judge a summary by: all of them where they are few, else drawn, edges included."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from loopless import terms as t

MAX_STATES = 1 << 16
"""The largest number of states that counts as few."""


def all_states(variables: Sequence[t.Var]) -> Iterator[dict[t.Var, int]] | None:
    """Every state, None where there are more than :data:`MAX_STATES`."""
    if sum(var.type.width or 1000 for var in variables) > MAX_STATES.bit_length() - 1:
        return None
    ranges = [range(var.type.min or 0, (var.type.max or 0) + 1) for var in variables]
    return (dict(zip(variables, values, strict=True)) for values in product(*ranges))


def constants(nodes: Iterable[t.Node]) -> frozenset[int]:
    """The numbers that occur in terms and conditions, with either sign, since comparisons are kept as differences."""
    found: set[int] = set()
    for node in nodes:
        for part in t.walk(node):
            match part:
                case t.Const(value=value):
                    found.add(value)
                case t.Sum():
                    found.update(coefficient for _, coefficient in part.items)
                case _:
                    pass
    return frozenset(found | {-value for value in found})


def draw_states(variables: Sequence[t.Var], numbers: Iterable[int], seed: int, count: int) -> list[dict[t.Var, int]]:
    """``count`` states: small and near one another, near the loop's own ``numbers``, near the edges of the types, and
    of any size.
    """
    rng = random.Random(f"states:{seed}")
    own = sorted(numbers) or [0]
    return [_state(variables, own, rng) for _ in range(count)]


def _state(variables: Sequence[t.Var], own: Sequence[int], rng: random.Random) -> dict[t.Var, int]:
    base = rng.choice((0, 0, 0, 10, 50, rng.randint(-200, 300), rng.choice(own)))
    wild = rng.random() < 0.25
    state: dict[t.Var, int] = {}
    for var in variables:
        kind = rng.choice(("edge", "any", "near", "own")) if wild else rng.choice(("near", "near", "near", "own"))
        state[var] = _fitted(var, _value(var, kind, state, (base, own), rng))
    return state


def _value(
    var: t.Var, kind: str, state: Mapping[t.Var, int], around: tuple[int, Sequence[int]], rng: random.Random
) -> int:
    base, own = around
    low, high = var.type.min or 0, var.type.max or 0
    match kind:
        case "edge":
            return rng.choice((low, high, 0, low + rng.randint(0, 9), high - rng.randint(0, 9)))
        case "any":
            bits = rng.randint(1, var.type.width or 64)
            return rng.choice((rng.randint(low, high), rng.getrandbits(bits), -rng.getrandbits(bits)))
        case "own":
            return rng.choice(own) + rng.choice((0, 0, 1, -1, 2, -2, rng.randint(-12, 12)))
        case _:
            if state and rng.random() < 0.3:
                base = rng.choice(list(state.values()))
            return base + rng.randint(-rng.choice((1, 5, 20, 100)), rng.choice((1, 10, 50, 300)))


def _fitted(var: t.Var, value: int) -> int:
    if var.type.holds(value):
        return value
    low, high = var.type.min, var.type.max
    assert low is not None
    assert high is not None
    return min(max(value, low), high) if value % 3 else var.type.wrap(value)

"""Entries to judge a loop by that reads memory: states at its header, with what the objects hold that it reads.

What is drawn is such that loops find what they look for: few different elements, numbers of the loop and values of its
variables among them, indices near the ends of objects.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Final

from loopless import terms as t
from loopless.check.interpreter.expressions import byte_size
from loopless_fuzz.judging.contents import Content, Entry
from loopless_fuzz.judging.loop_alone import LoopAlone
from loopless_fuzz.judging.states import draw_states

MOST_ENTRIES: Final = 10_000
"""The largest number of entries that are all visited."""
LONGEST: Final = 4
"""The largest number of elements of an object where all contents are visited."""
_REACHES: Final = (0, 1, 1, 2, 3, 4, 4, 5, 6, 8, 8, 11, 16, 33)
_TRIES: Final = (0, 3, 6, 12)
_LOOK: Final = 40
"""How many iterations are followed to see that something happens."""
_WILD: Final = 0.15


def draw_entries(alone: LoopAlone, numbers: Iterable[int], seed: int, count: int) -> list[Entry]:
    """``count`` entries, the same for the same seed; ``numbers`` are the loop's own."""
    if not alone.contents:
        return [Entry(state) for state in draw_states(alone.entry, numbers, seed, count)]
    rng = random.Random(f"entries:{seed}")
    own = sorted(numbers) or [0]
    wild = draw_states(alone.entry, own, seed, count)
    return [_lively(alone, own, rng, state) for state in wild]


def _lively(alone: LoopAlone, own: Sequence[int], rng: random.Random, wild: Mapping[t.Var, int]) -> Entry:
    """An entry from which the loop does something, if one is found soon."""
    found = _entry(alone, own, rng, wild)
    for _ in range(rng.choice(_TRIES)):
        truth = alone.run(found.values, found.contents, max_steps=_LOOK)
        if truth.iterations and truth.status != "outside":
            break
        if truth.status == "outside" and rng.random() < 0.5:
            longer = {name: data * 2 + data[-1:] * 8 for name, data in found.contents.items()}
            sized = {content.name for content in alone.contents if content.size is not None}
            found = Entry(found.values, {**found.contents, **{n: d for n, d in longer.items() if n not in sized}})
        else:
            found = _entry(alone, own, rng, wild)
    return found


def _entry(alone: LoopAlone, own: Sequence[int], rng: random.Random, wild: Mapping[t.Var, int]) -> Entry:
    reach = rng.choice(_REACHES)
    values = dict(wild)
    far = rng.random() < _WILD
    for var in alone.entry:
        if var in alone.owners:
            values[var] = _owner(alone, rng)
        elif not (far and rng.random() < 0.4):
            values[var] = _fitted(var.type, _near(alone, var, reach, own, rng))
    contents = {}
    for content in alone.contents:
        if content.fixed is None:
            element = rng.choice(content.types)
            letters = _letters(element, [*own, *values.values()], rng)
            length = content.size if content.size is not None else _length(content, reach, rng)
            contents[content.name] = _drawn(element, letters, length, rng)
    return Entry(values, contents)


def _owner(alone: LoopAlone, rng: random.Random) -> int:
    return 0 if rng.random() < 0.05 else rng.choice(alone.contents).number


def _near(alone: LoopAlone, var: t.Var, reach: int, own: Sequence[int], rng: random.Random) -> int:
    """An index or a bound of one, a number of the loop, or an edge of the type."""
    unit = byte_size(rng.choice(rng.choice(alone.contents).types)) if var in alone.positions else 1
    kind = rng.random()
    if kind < 0.35:
        return 0
    if kind < 0.6 or var in alone.positions:
        return unit * rng.choice((reach, reach, reach, rng.randint(0, reach), reach + 1, reach - 1))
    if kind < 0.75:
        return rng.randint(0, reach)
    if kind < 0.92:
        return rng.choice(own) + rng.choice((0, 0, 0, 1, -1))
    return rng.choice((var.type.min or 0, var.type.max or 0, -1, 1, (var.type.max or 1) - reach))


def _length(content: Content, reach: int, rng: random.Random) -> int:
    whole = content.stride * (reach + 1)
    kind = rng.random()
    if kind < 0.1:
        return rng.randint(0, whole)
    return whole if kind < 0.6 else whole + content.stride * rng.randint(1, 8)


def _letters(element: t.IntType, known: Sequence[int], rng: random.Random) -> list[int]:
    """A few values that elements have: small ones, those that the loop knows, and edges of the type."""
    low, high = element.min or 0, element.max or 0
    if element.width == 1:
        return [0, 1]
    pools: tuple[Sequence[int], ...] = ((0, 1), (0, 1, 2, 3, -1, -2), known, known, (low, high, low + 1, high - 1, -1))
    drawn = [rng.choice(rng.choice(pools)) + rng.choice((0, 0, 0, 1, -1)) for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.6:
        drawn.append(rng.choice(known))
    return [element.wrap(value) for value in drawn]


def _drawn(element: t.IntType, letters: Sequence[int], length: int, rng: random.Random) -> bytes:
    size = byte_size(element)
    loose = 0.0 if element.width == 1 else rng.choice((0.0, 0.0, 0.1, 0.6))
    low, high = element.min or 0, element.max or 0
    values = [
        rng.randint(low, high) if rng.random() < loose else rng.choice(letters) for _ in range(-(-length // size))
    ]
    kind = rng.random()
    if kind < 0.15:
        values.sort()
    if values and rng.random() < 0.5:
        values[-1] = 0  # a string ends so
    return _bytes(element, values)[:length]


def _bytes(element: t.IntType, values: Iterable[int]) -> bytes:
    size = byte_size(element)
    return b"".join((value % (1 << 8 * size)).to_bytes(size, "little") for value in values)


def _fitted(held: t.IntType, value: int) -> int:
    return value if held.holds(value) else held.wrap(value)


# ------------------------------------------------------------------------------------------------------ all of them


def every_entry(
    alone: LoopAlone, numbers: Iterable[int], *, longest: int = LONGEST, most: int = MOST_ENTRIES
) -> Iterator[Entry]:
    """All states with all contents of up to ``longest`` elements out of a few, as far as these are at most ``most``.

    Variables take all values where they are of 8 bits and that makes no more entries, else those that matter: indices,
    elements and edges. Of more entries ``most`` are drawn, always the same. Objects of a known size repeat a content.
    """
    own = sorted(set(numbers) | {0})
    objects = [content for content in alone.contents if content.fixed is None]
    letters = 3 if len(objects) < 2 else 2
    held = [_all_contents(content, own, longest, letters) for content in objects]
    narrow = [_all_values(var) if var not in alone.positions | alone.owners else None for var in alone.entry]
    full = [values or _few_values(alone, var, own, longest) for var, values in zip(alone.entry, narrow, strict=True)]
    few = [_few_values(alone, var, own, longest) for var in alone.entry]
    choices = full if prod(map(len, (*full, *held))) <= most else few
    ranges: list[Sequence[int | bytes]] = [*choices, *held]

    def entry(chosen: Sequence[int | bytes]) -> Entry:
        values = {var: value for var, value in zip(alone.entry, chosen, strict=False) if isinstance(value, int)}
        found = zip(objects, chosen[len(alone.entry) :], strict=True)
        return Entry(values, {content.name: data for content, data in found if isinstance(data, bytes)})

    if prod(map(len, ranges)) <= most:
        yield from map(entry, product(*ranges))
    else:
        rng = random.Random("every entry")
        for _ in range(most):
            found = entry([rng.choice(values) for values in ranges])
            for _ in range(rng.choice(_TRIES)):
                truth = alone.run(found.values, found.contents, max_steps=_LOOK)
                if truth.iterations and truth.status != "outside":
                    break
                found = entry([rng.choice(values) for values in ranges])
            yield found


def _all_contents(content: Content, own: Sequence[int], longest: int, letters: int) -> list[bytes]:
    element = content.types[0]
    known = [0, *(value for value in own if value > 1), 1, element.min or -1, element.max or 0]
    alphabet = list(dict.fromkeys(value for value in known if element.holds(value)))[:letters]
    if content.size is not None:
        patterns = [_bytes(element, values) for values in product(alphabet, repeat=longest)]
        return list(dict.fromkeys((one * content.size)[: content.size] for one in patterns))
    unit = max(1, content.stride // byte_size(element))
    found: dict[bytes, None] = {}
    for length in range(longest + 1):
        for values in product(alphabet, repeat=length):
            found[_bytes(element, [value for value in values for _ in range(unit)])] = None  # the same in a row
            found[_bytes(element, values * unit)] = None
    return list(found)


def _all_values(var: t.Var) -> range | None:
    low, high = var.type.min, var.type.max
    return range(low, high + 1) if low is not None and high is not None and high - low < 256 else None


def _few_values(alone: LoopAlone, var: t.Var, own: Sequence[int], longest: int) -> list[int]:
    if var in alone.owners:
        return [content.number for content in alone.contents]
    if var in alone.positions:
        unit = byte_size(alone.contents[0].types[0])
        return [unit * index for index in range(longest + 2)]
    near = [value for value in own if 0 < value < 256][:3]
    found = dict.fromkeys((*range(-1, longest + 2), *near, var.type.min or 0, var.type.max or 0))
    return [value for value in found if var.type.holds(value)]

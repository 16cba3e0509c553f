"""The order in which compiled blocks stand: nested regions, one for each loop, and a number for each block.

A region becomes one ``while True:`` whose body is a sequence of items, blocks and inner regions, in an order in which
control mostly flows forward. Control goes to a later item by setting the number ``b`` and falling through, to an
earlier one by ``continue``, out of the region by ``break``. That is right for every graph and every nesting of regions;
that regions are loops only makes it fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from loopless.flowgraph.model import Block, LoopInfo
from loopless.graphs import reverse_postorder
from loopless.limits.check import MAX_NESTING
from loopless.records import dataclass


@dataclass(slots=True, eq=False)
class BlockRegion:
    """``loop`` is the index of its loop, None for the whole function; ``items`` are labels and inner regions."""

    loop: int | None
    header: str
    blocks: frozenset[str]
    parent: BlockRegion | None
    depth: int
    items: list[str | BlockRegion] = field(default_factory=list)
    place: dict[str, int] = field(default_factory=dict)
    """For each block inside, the index of the item that holds it."""
    low: int = 0
    high: int = 0
    again: bool = False
    """Whether control can go from an item to the same or an earlier one."""
    doors: frozenset[str] = frozenset()
    """The blocks at which the body is entered from its top: from outside, or going back."""


@dataclass(slots=True)
class BlockLayout:
    """The regions of a function, the number of each block, and the innermost region that holds it."""

    top: BlockRegion
    numbers: dict[str, int]
    home: dict[str, BlockRegion]
    incoming: dict[str, int]
    order: list[str]


def layout(blocks: Mapping[str, Block], entry: str, loops: Sequence[LoopInfo]) -> BlockLayout:
    """Arrange the blocks."""
    order = reverse_postorder({label: block.successors for label, block in blocks.items()}, entry)
    index = {label: at for at, label in enumerate(order)}
    top = BlockRegion(None, entry, frozenset(order), None, 0)
    regions = [top]
    for number, loop in sorted(enumerate(loops), key=lambda pair: (-len(pair[1].blocks), pair[0])):
        inside = loop.blocks & top.blocks
        around = [region for region in regions if inside <= region.blocks]
        strangers = [r for r in regions if r not in around and not inside.isdisjoint(r.blocks)]
        if loop.header not in inside or strangers or any(r.header == loop.header for r in around[1:]):
            continue
        parent = min(around, key=lambda region: len(region.blocks), default=top)
        if parent.depth < MAX_NESTING:
            regions.append(BlockRegion(number, loop.header, inside, parent, parent.depth + 1))
    found = BlockLayout(top, {}, {}, dict.fromkeys(order, 0), order)
    for region in regions:  # larger regions first, so the innermost one stays
        for label in region.blocks:
            found.home[label] = region
    _arrange(regions, index, found)
    _connect(regions, blocks, found)
    return found


def _arrange(regions: list[BlockRegion], index: Mapping[str, int], found: BlockLayout) -> None:
    for region in regions:
        inner: list[str | BlockRegion] = [r for r in regions if r.parent is region]
        own: list[str | BlockRegion] = [label for label in region.blocks if found.home[label] is region]

        def first(item: str | BlockRegion) -> int:
            return index[item] if isinstance(item, str) else index[item.header]

        region.items = sorted(inner + own, key=first)
        for at, item in enumerate(region.items):
            for label in (item,) if isinstance(item, str) else item.blocks:
                region.place[label] = at
    _number(regions[0], found)


def _number(region: BlockRegion, found: BlockLayout) -> None:
    region.low = len(found.numbers)
    for item in region.items:
        if isinstance(item, str):
            found.numbers[item] = len(found.numbers)
        else:
            _number(item, found)
    region.high = len(found.numbers) - 1


def _connect(regions: list[BlockRegion], blocks: Mapping[str, Block], found: BlockLayout) -> None:
    doors: dict[int, set[str]] = {id(region): set() for region in regions}
    for label in found.order:
        for edge in blocks[label].edges:
            found.incoming[edge.target] += 1
            region: BlockRegion | None = found.home[edge.target]
            while region is not None:
                if label not in region.blocks:
                    doors[id(region)].add(edge.target)
                elif region.place[edge.target] <= region.place[label]:
                    inner = found.home[edge.target]
                    while inner is not region and label not in inner.blocks and inner.parent is not None:
                        inner = inner.parent
                    if inner is region:
                        region.again = True
                        doors[id(region)].add(edge.target)
                region = region.parent
    for region in regions:
        if found.order[0] in region.blocks:
            doors[id(region)].add(found.order[0])
        region.doors = frozenset(doors[id(region)])

"""What the tasks of a suite do with arrays: nothing, read them and fill each once, or more.

    python bench/array_kinds.py SVCOMP [--property unreach-call] [--answers FILE]

The kind is that of all that ``main`` calls, by the instructions of LLVM as they are written. An *element* is memory at an
address with an index that varies, or behind a pointer that is kept in memory. A program has

- ``none`` where no element is read or written;
- ``read or filled once`` where each array (local, global or allocated; a parameter is what callers give) is written by one
  instruction at most, and nothing of the array is read in the outermost loop around that one;
- ``more`` else: sorting, shifting, elements from elements, pointers that are followed.

``--answers`` is what ``bench/verify.py --keep`` wrote: how many of each kind were right, unknown and wrong.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from loopless.errors import LooplessError
from loopless.graphs import components, reachable
from loopless.source import load
from loopless.source.compile import SourceOptions
from loopless.source.ir import Instruction, IntConst, Local, Module, SourceFunction, Value

KINDS: Final = ("none", "read or filled once", "more")
_ALLOCATE: Final = ("malloc", "calloc", "alloca", "realloc")
_MEMORY: Final = frozenset({"memory"})
_Given = dict[tuple[str, str], list[tuple[SourceFunction, Value]]]
"""For each parameter, what callers give."""


class Element(NamedTuple):
    """An access to an element: of which arrays, and where."""

    arrays: frozenset[str]
    writes: bool
    function: str
    loop: frozenset[str]
    """The blocks of the outermost loop around it; none where it is in none."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=Path)
    parser.add_argument("--property", default="unreach-call")
    parser.add_argument("--answers", type=Path)
    options = parser.parse_args()
    judged = (
        {one["file"]: one["judgement"] for one in json.loads(options.answers.read_text())} if options.answers else {}
    )
    files: defaultdict[str, list[str]] = defaultdict(list)
    for task in json.loads((options.suite / "manifest.json").read_text()):
        if (task.get("expected") or {}).get(options.property) is not None:
            files[kind(options.suite / task["file"], task.get("data_model") or "ILP32")].append(task["file"])
    for name in files:
        count = Counter(judged.get(file, "not asked") for file in files[name])
        print(
            f"{name}: {len(files[name])} tasks; "
            + ", ".join(f"{number} {what}" for what, number in sorted(count.items()))
        )
        if name != "none":
            print("  " + "\n  ".join(f"{judged.get(file, ''):8}{file}" for file in sorted(files[name])))


def kind(file: Path, data_model: str) -> str:
    """One of ``KINDS``, or why the program could not be read."""
    try:
        module = load([file], SourceOptions(data_model=data_model)).module
    except LooplessError as error:
        return f"not read: {error}"
    return kind_of(module)


def kind_of(module: Module) -> str:
    """One of ``KINDS``."""
    elements = list(elements_of(module))
    if not elements:
        return "none"
    if any("memory" in one.arrays or len(one.arrays) != 1 for one in elements):
        return "more"
    by_array: defaultdict[frozenset[str], list[Element]] = defaultdict(list)
    for one in elements:
        by_array[one.arrays].append(one)
    return KINDS[1] if all(map(_filled_once, by_array.values())) else "more"


def _filled_once(elements: list[Element]) -> bool:
    writes = [one for one in elements if one.writes]
    if not writes:
        return True
    apart = all(
        one.writes or not one.loop or one.function != writes[0].function or one.loop != writes[0].loop
        for one in elements
    )
    return len(writes) == 1 and apart


def elements_of(module: Module) -> Iterator[Element]:
    """The accesses to elements in what ``main`` calls."""
    called = {name: sorted(_calls(module, name)) for name in module.functions}
    bodies = [
        module.functions[name]
        for name in reachable(["main"], lambda name: called.get(name, ()))
        if name in module.functions
    ]
    given: _Given = defaultdict(list)
    for body in bodies:
        for instruction in body.instructions():
            callee = module.functions.get(instruction.callee_name or "")
            if instruction.op == "call" and callee is not None:
                for param, argument in zip(callee.params, instruction.operands, strict=False):
                    given[callee.name, param.name].append((body, argument))
    for body in bodies:
        made = _made(body)
        loops = _outermost(body)
        for block in body.blocks:
            for one in block.instructions:
                if one.op in ("load", "store"):
                    address = one.operands[0 if one.op == "load" else 1]
                    varies, arrays = _arrays(body, address, made, given)
                    if varies or "memory" in arrays:
                        yield Element(arrays, one.op == "store", body.name, loops.get(block.label, frozenset()))


def _calls(module: Module, name: str) -> set[str]:
    return {one.callee_name for one in module.functions[name].instructions() if one.callee_name in module.functions}  # type: ignore[misc]


def _outermost(body: SourceFunction) -> dict[str, frozenset[str]]:
    """For each block that is in a loop the blocks of the outermost one."""
    graph = {block.label: tuple(block.instructions[-1].targets) for block in body.blocks}
    found = {}
    for members in components(graph):
        if len(members) > 1 or members[0] in graph[members[0]]:
            found.update(dict.fromkeys(members, frozenset(members)))
    return found


def _arrays(
    body: SourceFunction,
    address: Value,
    made: dict[str, Instruction],
    given: _Given,
    seen: frozenset[tuple[str, str]] = frozenset(),
) -> tuple[bool, frozenset[str]]:
    """Whether an index varies on the way to an address, and the objects that it leads to."""
    if not isinstance(address, Local):
        return False, frozenset({getattr(address, "name", "constant")})
    if (body.name, address.name) in seen:  # a pointer that moves on
        return True, frozenset()
    seen |= {(body.name, address.name)}
    one = made.get(address.name)
    if one is None:  # a parameter
        return _joined(
            _arrays(caller, argument, _made(caller), given, seen) for caller, argument in given[body.name, address.name]
        )
    if one.op == "alloca":
        return bool(one.operands) and not isinstance(one.operands[0], IntConst), frozenset(
            {f"{body.name}:{address.name}"}
        )
    if one.op == "getelementptr" and one.gep is not None:
        varies, arrays = _arrays(body, one.gep.base, made, given, seen)
        return varies or any(not isinstance(index, IntConst) for index, _ in one.gep.steps), arrays
    if one.op in ("bitcast", "freeze"):
        return _arrays(body, one.operands[0], made, given, seen)
    if one.op == "call" and one.callee_name in _ALLOCATE:
        return True, frozenset({f"{body.name}:{address.name}"})
    kept = _kept(body, one.operands[0], made) if one.op == "load" else None
    return _joined(_arrays(body, value, made, given, seen) for value in kept or ())


def _joined(found: Iterable[tuple[bool, frozenset[str]]]) -> tuple[bool, frozenset[str]]:
    """What several values are together; where there is none, some place in memory."""
    every = list(found)
    return any(varies for varies, _ in every), frozenset().union(*(arrays for _, arrays in every)) if every else _MEMORY


def _made(body: SourceFunction) -> dict[str, Instruction]:
    return {one.result: one for one in body.instructions() if one.result is not None}


def _kept(body: SourceFunction, slot: Value, made: dict[str, Instruction]) -> list[Value] | None:
    """The values that are stored to a local of one pointer; None where it is something else, or its address is taken."""
    if not isinstance(slot, Local) or slot.name not in made or made[slot.name].op != "alloca":
        return None
    values = []
    for one in body.instructions():
        if one.is_debug or (slot not in one.operands and not (one.gep is not None and one.gep.base == slot)):
            continue
        if one.op == "store" and one.operands[1] == slot and one.operands[0] != slot:
            values.append(one.operands[0])
        elif one.op != "load":
            return None
    return values


if __name__ == "__main__":
    main()

"""Structures that a call passes by value in memory: the callee has a copy of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loopless.check.interpreter.memory import World
from loopless.check.interpreter.storage import Storage, blank, copy_bytes
from loopless.check.interpreter.values import Stop
from loopless.flowgraph.model import Flowgraph


def own_copies(
    callee: Flowgraph, arguments: Sequence[Any], world: World
) -> tuple[tuple[Any, ...], tuple[Storage, ...]]:
    """The arguments of a call, with pointers to copies in place of those to structures that are passed by value; and
    the copies, whose lives end with the call. The size of what a parameter points to is known of these alone.
    """
    given, copies = list(arguments), list[Storage]()
    for at, (parameter, argument) in enumerate(zip(callee.parameters, arguments, strict=False)):
        described = callee.objects.get(parameter.object) if parameter.object is not None else None
        if described is None or described.kind != "parameter" or described.size is None:
            continue
        if not isinstance(argument, tuple):
            continue
        storage, offset = argument
        if storage is None:
            raise Stop("undefined", "access through a null pointer")
        copy = world.add(blank(described.name, described.size))
        copy_bytes(copy, 0, storage, offset, described.size)
        given[at] = (copy, 0)
        copies.append(copy)
    return tuple(given), tuple(copies)

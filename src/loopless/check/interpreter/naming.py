"""Which object, or function, a name means."""

from __future__ import annotations

from loopless import terms as t
from loopless.flowgraph.model import THROUGH_POINTER, Flowgraph, MemoryObject
from loopless.source.function_names import in_source


def object_named(flowgraph: Flowgraph, name: str) -> int:
    """The number of the object that a read names, -1 where that is not one. Objects that are variables altogether, and
    so are not read, may have the same name as another one.
    """
    objects = flowgraph.objects.values()
    found = [o.number for o in objects if symbol_of(o) == name] or [o.number for o in objects if o.name == name]
    if len(found) > 1:
        variables = {info.object for info in flowgraph.variables.values()}
        found = [n for n in found if flowgraph.objects[n].kind != "local" or n not in variables]
    return found[0] if len(found) == 1 else -1


def symbol_of(described: MemoryObject) -> str:
    """What identifies a global in the whole program."""
    return described.symbol or described.name


def holding(held: int, type: t.IntType) -> int:
    """What is held, if that is a value of the type. Raises :class:`EvaluationError` where it is no truth value."""
    if not type.holds(held):
        raise t.EvaluationError("a byte holds no truth value")
    return held


def callee_named(name: str) -> str:
    """The function that is called, in words."""
    return "what a pointer leads to" if name == THROUGH_POINTER else in_source(name)

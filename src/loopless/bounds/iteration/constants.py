"""Variables that hold one constant wherever they are read, as limits that are set once at the top of a function."""

from __future__ import annotations

from loopless import terms as t
from loopless.flowgraph.def_use import definitions
from loopless.flowgraph.model import Flowgraph, Kind

_WITHIN = (Kind.LOCAL, Kind.TEMPORARY, Kind.FLAG)


def constants(graph: Flowgraph, live_at_entry: frozenset[t.Var]) -> dict[t.Var, t.Const]:
    """The variables all assignments to which are of one constant, and that are not read before one of them.

    ``live_at_entry``: those that may be read so.
    """
    found: dict[t.Var, t.Const] = {}
    others = set(live_at_entry) | {parameter.var for parameter in graph.parameters}

    def note(var: t.Var, value: t.Term | None) -> None:
        if not isinstance(value, t.Const) or found.setdefault(var, value) != value:
            others.add(var)

    for block in graph.blocks.values():
        for var, _, value in definitions(block):
            note(var, value)
    return {var: value for var, value in found.items() if var not in others and _is_within(graph, var)}


def _is_within(graph: Flowgraph, var: t.Var) -> bool:
    """Whether nobody but the function gives the variable values."""
    info = graph.variables.get(var)
    return info is not None and info.kind in _WITHIN

"""Functions of one program as transition systems, and what the counters say of them, for tests of ``reach``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from loopless.check.certificates.property import Property, graph_of, violates
from loopless.logic.solver import SmtAnswer
from loopless.navigation.counters import CounterSystem
from loopless.navigation.product import product_of
from loopless.navigation.splitting import without_wraps
from loopless.source import load
from loopless.transition.building import system_of
from loopless.transition.relation import START, Kind, TransitionSystem

HEAD = "extern void reach_error(void);\n"


def system(source: str, folder: Path) -> TransitionSystem:
    """The ways of ``f`` to the error."""
    file = folder / "f.c"
    file.write_text(HEAD + source, encoding="utf-8")
    graph = graph_of(load([file]), "f", Property.UNREACH_CALL, apart=True, cells=False)
    made = system_of(graph, violates(Property.UNREACH_CALL), lambda _: None, ways=24, accesses=True)
    assert isinstance(made, TransitionSystem)
    return without_wraps(made)


def counters(made: TransitionSystem, **known: int) -> object:
    """The answer of the counters, where variables hold what is known at the beginning."""
    by_name = {var.name: var for var in made.graph.variables}
    product = product_of(made, START, {by_name[name]: value for name, value in known.items()})
    return SmtAnswer.NO if product.goal is None else CounterSystem(product, made).solve()


def of_kind(made: TransitionSystem, kind: Kind) -> TransitionSystem:
    """The same system, of whose steps no more is known than the kind says."""
    return replace(made, transitions=tuple(replace(step, kind=kind) for step in made.transitions))

"""The inputs of a call: their variables, the names that they share, and bounds that speak of nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from loopless import terms as t
from loopless.bounds import Claim
from loopless.bounds.claims.joint import Apart, in_all
from loopless.bounds.model import Bounds, by_types, reads
from loopless.bounds.reads.without_data import over_inputs as without_reads
from loopless.flowgraph.model import Flowgraph, Kind
from loopless.patterns import pattern
from loopless.queries.bounds.answers import FunctionBound
from loopless.queries.program import AnalyzedFunction

_INPUTS: Final = (Kind.PARAMETER, Kind.GLOBAL, Kind.POINTEE)


def inputs_of(graph: Flowgraph) -> frozenset[t.Var]:
    """The variables that the inputs of a call are in."""
    return frozenset(var for var, info in graph.variables.items() if info.kind in _INPUTS)


_ROOT: Final = pattern(r"\w+")


def ambiguous(function: AnalyzedFunction, graph: Flowgraph | None, found: FunctionBound) -> frozenset[str]:
    """The names that two inputs of a function share, an input and what a bound speaks of, or two globals of the program
    of which one occurs.
    """
    terms = [found.call.upper, *(term for loop in found.counts for term in (loop.call.upper, loop.any_entry))]
    terms += [line.upper for loop in found.counts for line in loop.lines]
    speaks = {var for term in terms if term is not None for var in term.variables}
    speaks |= {var for claim in (found.call, *(loop.call for loop in found.counts)) for var in claim.when.variables}
    variables = graph.variables if graph is not None else {}
    inputs = {var for var, info in variables.items() if info.kind in _INPUTS and not info.pointer_part}
    named = {var: info.shown for var, info in variables.items()} | dict(found.shown)
    count = Counter(named.get(var, var.name) for var in speaks | inputs)
    shared = {name for name, times in count.items() if times > 1}
    of_program = Counter(
        variable.debug.name if variable.debug is not None else name
        for name, variable in function.program.source.module.globals.items()
    )
    for var in inputs:
        root = _ROOT.search(variables[var].shown)
        if variables[var].kind is Kind.GLOBAL and root is not None and of_program[root[0]] > 1:
            shared.add(variables[var].shown)
    return frozenset(shared)


def over_inputs(
    graph: Flowgraph,
    upper: t.Term,
    uppers: Sequence[t.Term | None],
    totals: Sequence[Bounds],
    apart: Apart = (),
) -> t.Term | None:
    """A bound on all iterations of a call over its inputs alone, where ``upper`` speaks of what the call reads;
    ``uppers`` and ``totals`` have what is known of each loop, ``apart`` the loops of which a run takes one.
    """
    inputs = inputs_of(graph)
    if is_over_inputs(upper, inputs):
        return None
    most = [without_reads(of_loop, more, inputs) for of_loop, more in zip(uppers, totals, strict=True)]
    known = [total for total in most if total is not None and not by_types(total)]
    return in_all(known, apart) if len(known) == len(most) else None


def loop_over_inputs(call: Claim, total: Bounds, inputs: frozenset[t.Var]) -> t.Term | None:
    """A bound on the iterations of a loop in a call over the call's ``inputs`` alone, where that of the claim speaks of
    what the call reads, and holds for all inputs; ``total``: further bounds on them.
    """
    if call.upper is None or call.has_gap or call.never is not t.FALSE or is_over_inputs(call.upper, inputs):
        return None
    most = without_reads(call.upper, total, inputs)
    return None if most is None or by_types(most) else most


def is_over_inputs(upper: t.Term, inputs: frozenset[t.Var]) -> bool:
    """Whether a bound speaks of ``inputs`` alone."""
    return upper.variables <= inputs and not reads(upper)

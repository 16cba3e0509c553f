"""How much a variable grows over a call of a function: what is counted by hand, as ticks or allocated bytes."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from loopless import terms as t
from loopless.bounds.asymptotics.classes import asymptotic_class
from loopless.bounds.claims.of_summaries import piecewise
from loopless.bounds.invariants.in_call import with_invariants
from loopless.bounds.looperman.nested import above
from loopless.bounds.looperman.path_counters import PathCounters
from loopless.bounds.looperman.scopes import scopes_of
from loopless.bounds.methods.components import growth_in_call
from loopless.bounds.model import by_types
from loopless.flowgraph.model import Call, Flowgraph, Kind
from loopless.limits.bounds import MAX_PIECES
from loopless.logic import simplify
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.summary.function import CallSummary


@dataclass(frozen=True, slots=True)
class Cost:
    """By how much a variable is larger at the end of a call than at its beginning (a local variable: than 0): at most
    ``upper``, at least ``lower``, in calls that end; None where there is no bound. ``exact``: it is ``upper``.
    """

    upper: t.Term | None
    lower: t.Term | None
    refused: Refused | None = None
    exact: bool = False


_SEEN: Final = (Kind.GLOBAL, Kind.POINTEE)


def cost_of(graph: Flowgraph, variable: t.Var, summary: CallSummary | None = None) -> Cost:
    """Bounds on the growth of ``variable``, over the function's inputs; exactly where its summary says it."""
    kind = graph.variables[variable].kind
    # A variable of the function itself begins as nothing: what it is in the end is what it has grown by.
    start = t.ZERO if kind is Kind.LOCAL else variable
    # Summaries say what callers see; a parameter is no more theirs.
    known = _by_summary(summary, variable, start) if kind in _SEEN and summary is not None else None
    if known is not None:
        return known
    found = _by_counts(graph, variable, start)
    whole = growth_in_call(graph, variable, start)
    if whole is None:
        return found
    if found.upper is None or by_types(found.upper) or _grows(found.upper) > _grows(whole):
        return Cost(whole, found.lower)
    return Cost(t.minimum(found.upper, whole), found.lower)


def _grows(term: t.Term) -> Fraction:
    grows = asymptotic_class(term, lambda var: var.name)
    return grows.degree if grows is not None else Fraction(1000)


def _by_summary(summary: CallSummary, variable: t.Var, start: t.Term) -> Cost | None:
    """The growth in all calls that end, if the summary has few enough cases."""
    if summary.residual or not summary.exact:
        return None
    cases = [case for case in summary.cases if case.kind != "assumption"]
    ends = t.disjunction(case.when for case in cases)
    pieces = [(case.when, case.then.get(variable, variable) - start) for case in cases]
    if not pieces:
        return None
    values: dict[t.Term, list[t.Condition]] = {}
    for when, value in pieces:
        values.setdefault(value, []).append(when)
    if len(values) > MAX_PIECES:
        return None
    # Of calls that do not end nothing is said.
    plain = [(simplify(t.disjunction(whens), ends), value) for value, whens in values.items()]
    upper = piecewise(plain)
    return Cost(upper, upper, exact=True)


def _by_counts(graph: Flowgraph, variable: t.Var, start: t.Term) -> Cost:
    """How often loops run times what they add."""
    scopes = with_invariants(scopes_of(graph, frozenset((variable,))))
    counter = PathCounters(scopes, in_call=True)
    function = scopes.scopes[""]
    place = str(graph.loc) if graph.loc is not None else graph.source_name
    if isinstance(function, Refused):
        return Cost(None, None, function)
    growths = [(state.values.get(variable, variable) - start, state) for state in function.ends]
    highs = [above(counter, growth, state) for growth, state in growths]
    lows = [above(counter, -growth, state) for growth, state in growths]
    upper = t.maximum(*(h for h in highs if h is not None)) if highs and None not in highs else None
    lower = t.minimum(*(-low for low in lows if low is not None)) if lows and None not in lows else None
    if upper is not None:
        return Cost(upper, lower)
    called = any(isinstance(statement, Call) for block in graph.blocks.values() for statement in block.statements)
    calls = " and the calls" if called else ""
    detail = f"what the loops{calls} add to {variable.name} has no bound"
    return Cost(None, lower, Refused(Reason.NO_BOUND, place, detail))

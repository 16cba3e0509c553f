"""How much a variable grows over a call of a function: what is counted by hand, as ticks or allocated bytes."""

from __future__ import annotations

from dataclasses import dataclass

from loopless.bounds.counting import Counter
from loopless.bounds.facts import with_facts
from loopless.bounds.nesting import above
from loopless.bounds.scopes import scopes_of
from loopless.flowgraph.model import Flowgraph, Kind
from loopless.refusals import Reason, Refused
from loopless.terms import ZERO, Term, Var, maximum, minimum, neg, sub


@dataclass(frozen=True, slots=True)
class Cost:
    """By how much a variable is larger at the end of a call than at its beginning (a local variable: than 0): at most
    ``upper``, at least ``lower``, in calls that end; None where there is no bound.
    """

    upper: Term | None
    lower: Term | None
    refused: Refused | None = None


def cost_of(graph: Flowgraph, variable: Var) -> Cost:
    """Bounds on the growth of ``variable``, over the function's inputs."""
    scopes = with_facts(scopes_of(graph, frozenset((variable,))))
    counter = Counter(scopes, in_call=True)
    function = scopes.scopes[""]
    place = str(graph.loc) if graph.loc is not None else graph.source_name
    if isinstance(function, Refused):
        return Cost(None, None, function)
    # A variable of the function itself begins as nothing: what it is in the end is what it has grown by.
    local = graph.variables[variable].kind is Kind.LOCAL
    start = ZERO if local else variable
    growths = [(sub(stand.values.get(variable, variable), start), stand) for stand in function.ends]
    highs = [above(counter, growth, stand) for growth, stand in growths]
    lows = [above(counter, neg(growth), stand) for growth, stand in growths]
    upper = maximum(*(h for h in highs if h is not None)) if highs and None not in highs else None
    lower = minimum(*(neg(low) for low in lows if low is not None)) if lows and None not in lows else None
    if upper is not None:
        return Cost(upper, lower)
    detail = f"what the loops add to {variable.name} has no bound"
    return Cost(None, lower, Refused(Reason.NO_BOUND, place, detail))

"""How much a variable grows in a call, as text and as JSON."""

from __future__ import annotations

from typing import Any

from loopless import terms as t
from loopless.queries.bounds.costs import CostAnswer
from loopless.queries.call_values.at_inputs import number_at
from loopless.queries.call_values.inputs import Given
from loopless.report.bounds import given_words, maybe_expression
from loopless.report.json_report import refused_json
from loopless.report.names import Names
from loopless.report.text import where_lines, why


def cost_text(answer: CostAnswer, given: Given | None) -> str:
    """The growth of a variable, as text."""
    names, cost = _cost_names(answer), answer.cost
    head = f"{answer.variable} grows in a call of {answer.bound.name} by"
    kind = "exactly" if cost.exact else "at most"
    words = f"{head} {kind} {names.text(cost.upper)}" if cost.upper is not None else f"{head} no known bound"
    if cost.lower is not None and not cost.exact:
        words += f", at least {names.text(cost.lower)}"
    value = number_at(answer.bound.names, cost.upper, t.TRUE, given) if given else None
    lines = [words] + ([f"  at {given_words(given)}: {value}"] if given and value is not None else [])
    lines += why(cost.refused) if cost.refused is not None else []
    return "\n".join([*lines, *where_lines(names)])


def _cost_names(answer: CostAnswer) -> Names:
    nodes = [term for term in (answer.cost.upper, answer.cost.lower) if term is not None]
    return Names(answer.bound.counts[0].answer if answer.bound.counts else None, nodes, answer.bound.shown)


def cost_json(answer: CostAnswer, given: Given | None) -> dict[str, Any]:
    """The ``cost`` of a document."""
    names, cost = _cost_names(answer), answer.cost
    return {
        "variable": answer.variable,
        "function": answer.bound.name,
        "upper": maybe_expression(cost.upper, names),
        "lower": maybe_expression(cost.lower, names),
        "value": number_at(answer.bound.names, cost.upper, t.TRUE, given) if given else None,
        "refused": refused_json(cost.refused) if cost.refused is not None else None,
    }

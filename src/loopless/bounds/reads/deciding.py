"""What decides whether a loop goes on, where no count says it: why there is no bound, or none that is worth the name.

An exit condition may compare with what a call may have changed, with a value that is not followed, or with nothing that
moves one way. The first two are found by going back from the conditions of a loop's exits to what sets their variables
in the loop; what is said of them is true whatever else is in the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from loopless import terms as t
from loopless.bounds.claims.of_summaries import Claim
from loopless.flowgraph.def_use import defined_by
from loopless.flowgraph.model import OBJECT_PART, Assign, Flowgraph, Havoc, LoopInfo, Origin, Statement
from loopless.flowgraph.words import function_in_words
from loopless.limits.bounds import SHOWN_CAUSES
from loopless.refusals import Reason

_END_OF_A_TYPE: Final = (1 << 31) - 1


def causes(graph: Flowgraph, loop: LoopInfo) -> tuple[str, ...]:
    """What is in the way of a bound of the loop, each in words, the same in every run: none where nothing of the kind
    is found.
    """
    setters = _setters(graph, loop)
    deciding = {var for label, index in loop.exits for var in graph.blocks[label].edges[index].condition.variables}
    waiting, found = sorted(deciding, key=lambda var: var.key), dict[str, None]()
    while waiting:
        for statement in setters.get(waiting.pop(), ()):
            said = _cause(graph, statement)
            if said:
                found[said] = None
            if isinstance(statement, Assign):
                more = statement.value.variables - deciding
                deciding |= more
                waiting += sorted(more, key=lambda var: var.key)
    return tuple(found)


def loosening(graph: Flowgraph, loop: LoopInfo, found: Claim) -> tuple[str, ...]:
    """What is in the way of a smaller bound, where one is as large as a type; none where it is not."""
    constants = (
        (part.value for part in t.walk(found.upper) if isinstance(part, t.Const)) if found.upper is not None else ()
    )
    if found.exact or not any(value >= _END_OF_A_TYPE for value in constants):
        return ()
    return causes(graph, loop)


def in_a_sentence(found: Sequence[str]) -> str:
    """The causes in one sentence."""
    return "; ".join(found[:SHOWN_CAUSES]) + ("; …" if len(found) > SHOWN_CAUSES else "")


def _setters(graph: Flowgraph, loop: LoopInfo) -> Mapping[t.Var, list[Statement]]:
    """By variable the statements of the loop that set it; what edges assign counts as assigned."""
    found: dict[t.Var, list[Statement]] = {}
    for label in sorted(loop.blocks):
        block = graph.blocks[label]
        for statement in (*block.statements, *_assigned(graph, label)):
            for target in defined_by(statement):
                found.setdefault(target, []).append(statement)
    return found


def _assigned(graph: Flowgraph, label: str) -> Iterator[Assign]:
    for edge in graph.blocks[label].edges:
        yield from (Assign(target, value, edge.loc) for target, value in edge.assigns)


def _cause(graph: Flowgraph, statement: Statement) -> str:
    """Why nothing is known of what a statement sets; empty where something is."""
    if not isinstance(statement, Havoc):
        return ""
    info = graph.variables.get(statement.target)
    where = f" at {statement.loc}" if statement.loc is not None else ""
    why = statement.refused
    if statement.origin is Origin.CALL and info is not None and info.object is not None:
        name = info.shown.removesuffix(OBJECT_PART)
        return f"{name} may be changed by {function_in_words(statement.name)}{where}"
    if statement.origin is Origin.UNSUPPORTED and why is not None and why.reason is Reason.FLOAT:
        return f"an exit depends on floating-point values{where}, and these are not followed"
    if statement.origin is Origin.UNSUPPORTED and why is not None:
        return f"an exit depends on what is not followed: {why.detail}{where}"
    return ""

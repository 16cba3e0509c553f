"""The path dependency automata of loops as one DOT document."""

from __future__ import annotations

from collections.abc import Sequence

from loopless import terms as t
from loopless.automaton import dot
from loopless.queries.loops.answer import LoopAnswer


def drawing(answers: Sequence[LoopAnswer]) -> str:
    """One graph a loop, one after the other (as ``dot -Tsvg -O`` takes them); a comment where there is none."""
    parts = []
    for answer in answers:
        if answer.automaton is not None:
            with t.as_declared(answer.layouts):
                parts.append(dot(answer.automaton, answer.loop.name))
        else:
            refused = answer.untyped or answer.refused
            parts.append(f"// {answer.loop.name}: {refused}\n")
    return "\n".join(parts)

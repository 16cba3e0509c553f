"""Bounds as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from loopless import terms as t
from loopless.bounds import Claim
from loopless.bounds.asymptotics.lower import class_of_claim
from loopless.queries.bounds.answers import FunctionBound, LoopBound, class_of
from loopless.report.bounds import (
    choice_words,
    claim_conditions,
    claim_words,
    granted,
    granted_for,
    names_of,
    names_of_call,
    only_inlined,
    overflow_words,
    selected,
    worst_inputs,
)
from loopless.report.html import box, condition, heading, note, refusal, row, table
from loopless.report.names import Names

_COLUMNS: Final = ("", "how often", "grows as", "where, and at least")


def bounds(found: FunctionBound, names: Sequence[str]) -> str:
    """The bounds of the loops called ``names``, then those of their function, as ``bound`` tells them."""
    chosen = selected([found], names)
    parts = [part for bound in chosen for part in _loop(bound)]
    if chosen or only_inlined(found):
        parts += _function(found)
    return box(parts or [heading(found.name, "no loops")])


def _loop(bound: LoopBound) -> Iterable[str]:
    names, loop = names_of(bound), bound.answer.loop
    yield heading(loop.name)
    grows = class_of_claim(bound.call, bound.function.shown)
    rows = [_claim("iterations in a call", bound.call, grows.text() if grows is not None else "", names)]
    if bound.counts.over_inputs is not None:
        rows.append(_row("whatever it reads", f"at most {names.text(bound.counts.over_inputs)}"))
    end = bound.counts.ends_by_overflow
    if end is not None:
        if end.call is not t.FALSE and end.entered:
            what = f"never ends when {names.text(end.call)}"
        elif end.entry is not t.FALSE:
            what = f"may never end from states at the header with {names.text(end.entry)}"
        else:
            what = "no bound is known"
        rows.append(_row(f"without {overflow_words(end)}", what))
    if bound.per_entry.upper is not None or bound.call.never is t.FALSE:
        rows.append(_claim("in one entry, over the values there", bound.per_entry, "", names))
    if loop.parent is not None and bound.any_entry is not None:
        rows.append(_row("in any entry", f"at most {names.text(bound.any_entry)}"))
    same = {bound.call.upper, bound.per_entry.upper}
    rows += [
        _row(f"visits of line {line.line} in a call", f"at most {names.text(line.upper)}")
        for line in bound.lines
        if line.upper not in same and line.line != loop.line
    ]
    yield table(_COLUMNS, rows)
    for states in bound.counts.recurrent:
        word = f"need not end{choice_words(states)}," if states.chosen else "never ends"
        yield note(f"one entry {word} when", [" or ".join(condition(states.condition, names))])
    yield note("taken for granted:", granted_for(bound))
    for refused in dict.fromkeys(r for r in (bound.counts.refused, bound.counts.refused_call) if r is not None):
        yield refusal(refused)


def _function(found: FunctionBound) -> Iterable[str]:
    names = names_of_call(found)
    grows = class_of(found)
    rows = [_claim("iterations of all loops", found.call, grows.text() if grows is not None else "", names)]
    if found.over_inputs is not None:
        rows.append(_row("whatever it reads", f"at most {names.text(found.over_inputs)}"))
    yield heading(found.name, "in a call")
    yield table(_COLUMNS, rows)
    worst = worst_inputs(found)
    yield note("worst inputs seen:", [worst] if worst else [])
    yield note("taken for granted:", granted(found))
    if found.refused is not None:
        yield refusal(found.refused)


def _claim(title: str, claim: Claim, grows: str, names: Names) -> str:
    words = claim_words(claim, names).removesuffix(" on the iterations").removesuffix(" iterations")
    lines = [line.strip() for line in claim_conditions(claim, names)]
    return row([[title], [words], [grows] if grows else [], lines], words=(0, 3))


def _row(title: str, words: str) -> str:
    return row([[title], [words], [], []], words=(0,))

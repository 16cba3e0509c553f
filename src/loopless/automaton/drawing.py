"""The automaton as DOT text, for Graphviz and its kin. The same automaton gives the same text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from loopless.automaton.model import Automaton, State, Transition
from loopless.terms import TRUE, Term, Var, conjuncts, text

_WIDE: Final = 60
"""Conditions longer than this are broken at their conjunctions. A guess."""


def dot(automaton: Automaton, title: str | None = None) -> str:
    """The automaton as Proteus draws it: states with path condition and value changes, transitions with φ, ϕ and U.

    Initial states have an arrow from nowhere and are red, exit states have a double border, terminal states are
    octagons, transitions that are over-approximated are dashed; a legend says so. States name the path that they are.
    ``title`` defaults to the loop's name.
    """
    lines = ["digraph loop {"]
    heading = _quoted(title if title is not None else automaton.loop.name, *_legend(automaton))
    lines.append(f"  label={heading}; labelloc=t; labeljust=l; rankdir=TB;")
    # Courier is the monospaced font whose letters every layout engine can measure.
    lines.append('  fontname="Courier"; edge [fontname="Courier"];')
    lines.append('  node [fontname="Courier", shape=box, style=rounded];')
    lines.extend(f"  {state.name} {_node(state)};" for state in automaton.states)
    for state in automaton.initial:
        lines.append(f"  start_{state.name} [shape=point, color=red];")
        lines.append(f"  start_{state.name} -> {state.name} [color=red];")
    lines.extend(f"  {_edge(transition)};" for transition in automaton.transitions)
    lines.append("}")
    return "\n".join(lines) + "\n"


def _legend(automaton: Automaton) -> list[str]:
    """What the marks mean that this automaton has."""
    marks = {
        "red: the loop may begin here": automaton.initial,
        "double border: leaves the loop": [s for s in automaton.states if s.accepting and not s.terminal],
        "octagon: no path follows, which is for ever or undefined": [s for s in automaton.states if s.terminal],
        "dashed: an over-approximation": [t for t in automaton.transitions if not t.exact],
    }
    lines = ["; ".join(words for words, those in marks.items() if those)]
    if automaton.transitions:
        lines.append("φ: how often the path is taken before the next one; ϕ: when that one follows; U: the values then")
    return lines


def _node(state: State) -> str:
    name = f"{state.name} = path {state.path.id}"
    parts = [name if state.path.exit is None else f"{name}: {_exit(state)}", _condition_lines(state)]
    if state.iterative:
        parts.append(_assignments("Δ", state.changes))
    attributes = [f"label={_quoted(*parts)}"]
    if state.initial:
        attributes.append("color=red")
    if state.terminal:
        attributes.append("shape=octagon, style=solid")
    elif state.accepting:
        attributes.append("peripheries=2")
    return f"[{', '.join(attributes)}]"


def _exit(state: State) -> str:
    exit = state.path.exit
    assert exit is not None
    kind = f"{exit.kind} ({exit.detail})" if exit.detail else exit.kind
    return f"{kind}, line {exit.line}" if exit.line else kind


def _condition_lines(state: State) -> str:
    whole = text(state.condition)
    if len(whole) <= _WIDE:
        return whole
    return " &&\n".join(_part(part) for part in map(text, conjuncts(state.condition)))


def _part(shown: str) -> str:
    return f"({shown})" if " || " in shown else shown


def _assignments(sign: str, terms: Mapping[Var, Term]) -> str:
    inner = ", ".join(f"{var.name}: {text(terms[var])}" for var in sorted(terms))
    return f"{sign} {{{inner}}}" if inner else ""


def _edge(transition: Transition) -> str:
    if transition.times is not None:
        constraint = f"{transition.counter.name} = {text(transition.times)}"
    else:
        constraint = text(transition.constraint)
    update = [f"{var.name}' = {text(transition.update[var])}" for var in sorted(transition.update)]
    update += [f"{var.name}' = ?" for var in sorted(transition.unstated)]
    parts = [f"φ: {constraint}", f"ϕ: {text(transition.guard)}" if transition.guard is not TRUE else "ϕ: true"]
    parts.append("U: " + ", ".join(update) if update else "")
    style = "" if transition.exact else ", style=dashed"
    return f"{transition.source} -> {transition.target} [label={_quoted(*parts)}{style}]"


def _quoted(*parts: str) -> str:
    """A DOT string, its parts and lines left-aligned below each other."""
    lines = [line for part in parts if part for line in part.split("\n")]
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return '"' + "".join(f"{line}\\l" for line in escaped) + '"' if len(escaped) > 1 else f'"{"".join(escaped)}"'

"""The automaton as DOT text, for Graphviz and its kin. The same automaton gives the same text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import shorten
from typing import Final

from loopless import terms as t
from loopless.automaton.model import PathAutomaton, State, Transition
from loopless.limits.automaton import DETAILED_TRANSITIONS, PICTURE_LINE

_START: Final = "#2a5db0"
_WRONG: Final = "#b3261e"
_WRONG_INSIDE: Final = "#fbe9e7"


def dot(automaton: PathAutomaton, title: str | None = None, *, folded: bool = False) -> str:
    """The automaton much as Proteus draws it: states are paths, with their condition and what an iteration changes;
    transitions say how often the path is taken before the next one follows (φ there), when that is so (ϕ) and what the
    values are then (U).

    The loop begins at arrows from nowhere; exit states have a double border, those of undefined behaviour are red and
    filled, terminal states are octagons, transitions that are over-approximated are dashed; a legend says so. States
    name the path that they are. ``title`` defaults to the loop's name. ``folded``: where there are more than
    :data:`DETAILED_TRANSITIONS` transitions, states with the same neighbours are one, and so are all undefined ones.
    """
    groups = (
        _groups(automaton)
        if folded and len(automaton.transitions) > DETAILED_TRANSITIONS
        else [(s,) for s in automaton.states]
    )
    lines = ["digraph loop {"]
    heading = _quoted(title if title is not None else automaton.loop.name, *_legend(automaton, groups))
    lines.append(f"  label={heading}; labelloc=t; labeljust=l; rankdir=TB;")
    # Courier is the monospaced font whose letters every layout engine can measure.
    lines.append('  fontname="Courier"; edge [fontname="Courier"];')
    lines.append('  node [fontname="Courier", shape=box, style=rounded];')
    lines.extend(f"  {group[0].name} {_node(group)};" for group in groups)
    for group in groups:
        if any(state.initial for state in group):
            name = group[0].name
            lines.append(f'  start_{name} [shape=point, color="{_START}"];')
            lines.append(f'  start_{name} -> {name} [color="{_START}"];')
    lines.extend(f"  {edge};" for edge in _edges(automaton, groups))
    lines.append("}")
    return "\n".join(lines) + "\n"


def number_of_edges(automaton: PathAutomaton) -> int:
    """How many transitions a folded picture has."""
    if len(automaton.transitions) <= DETAILED_TRANSITIONS:
        return len(automaton.transitions)
    return len(_between(automaton, _groups(automaton)))


# -- folding ----------------------------------------------------------------------------------------------------------

_Group = Sequence[State]


def _groups(automaton: PathAutomaton) -> list[_Group]:
    """The states in groups that look alike from all others, in the order of their first ones: iterative states with
    the same neighbours outside of the group, and the same from each to each inside; and all that are undefined.
    """
    after = {state.name: set(automaton.successors(state.name)) for state in automaton.states}
    before = {state.name: {other for other, them in after.items() if state.name in them} for state in automaton.states}

    def alike(a: State, b: State) -> bool:
        if not (a.iterative and b.iterative):
            return _is_undefined(a) and _is_undefined(b)
        both = {a.name, b.name}
        same = after[a.name] - both == after[b.name] - both and before[a.name] - both == before[b.name] - both
        return same and a.terminal == b.terminal and (b.name in after[a.name]) == (a.name in after[b.name])

    groups: list[list[State]] = []
    for state in automaton.states:
        home = next((group for group in groups if all(alike(other, state) for other in group)), None)
        if home is None:
            groups.append([state])
        else:
            home.append(state)
    return [tuple(group) for group in groups]


def _between(automaton: PathAutomaton, groups: Iterable[_Group]) -> dict[tuple[str, str], list[Transition]]:
    """The transitions from group to group, by the names of their first states."""
    home = {state.name: group[0].name for group in groups for state in group}
    found: dict[tuple[str, str], list[Transition]] = {}
    for transition in automaton.transitions:
        found.setdefault((home[transition.source], home[transition.target]), []).append(transition)
    return found


# -- what is written --------------------------------------------------------------------------------------------------


def _legend(automaton: PathAutomaton, groups: Iterable[_Group]) -> list[str]:
    """What the marks mean that this automaton has."""
    marks = {
        "arrow from nowhere: the loop may begin here": automaton.initial,
        "double border: leaves the loop": [s for s in automaton.states if _leaves(s)],
        "red: undefined behaviour": [s for s in automaton.states if _is_undefined(s)],
        "octagon: no path follows, which is for ever or undefined": [s for s in automaton.states if s.terminal],
        "dashed: an over-approximation": [transition for transition in automaton.transitions if not transition.exact],
    }
    lines = ["; ".join(words for words, those in marks.items() if those)]
    if automaton.transitions:
        lines.append("times: how often the path is taken before the next one; if: when that follows; x': x then")
    if any(len(group) > 1 for group in groups):
        lines.append("several paths in one state: the same paths follow them; --format dot has each by itself")
    return lines


def _is_undefined(state: State) -> bool:
    return state.path.exit is not None and state.path.exit.kind == "undefined"


def _leaves(state: State) -> bool:
    return state.path.exit is not None and state.path.exit.kind not in ("undefined", "endless")


def _node(group: _Group) -> str:
    state = group[0]
    attributes = [f"label={_quoted(*(_several(group) if len(group) > 1 else _one(state)))}"]
    if _is_undefined(state):
        attributes.append(f'style=filled, color="{_WRONG}", fillcolor="{_WRONG_INSIDE}"')
    elif _leaves(state):
        attributes.append("peripheries=2")
    elif state.terminal or not state.iterative:
        attributes.append("shape=octagon, style=solid")
    return f"[{', '.join(attributes)}]"


def _one(state: State) -> list[str]:
    name = f"{state.name} = path {state.path.id}"
    parts = [name if state.path.exit is None else f"{name}: {_exit(state)}", _broken(f"if {t.text(state.condition)}")]
    if state.iterative:
        parts.append(_broken(_effect(state), ", "))
    return parts


def _several(group: _Group) -> list[str]:
    """A line for each state of a group, shortened."""
    names = f"{', '.join(state.name for state in group)}:"
    first = group[0]
    parts = [f"{names} {'undefined' if _is_undefined(first) else 'one of these paths'}"]
    for state in group:
        about = f"{state.path.id}: {_exit(state)} " if state.path.exit is not None else f"{state.path.id}: "
        what = f": {_effect(state)}" if state.iterative else ""
        room = max(PICTURE_LINE // 2, 2 * PICTURE_LINE - len(about) - len(what))
        parts.append(f"{about}if {shorten(t.text(state.condition), room, placeholder=' …')}{what}")
    return parts


def _effect(state: State) -> str:
    update = state.path.update
    return ", ".join(f"{var.name}' = {t.text(update[var])}" for var in sorted(state.changes) if var in update)


def _exit(state: State) -> str:
    exit = state.path.exit
    assert exit is not None
    words = {
        "normal": "leaves",
        "return": "returns",
        "abort": "ends the program",
        "exit": "ends the program",
        "error": "reaches the error",
        "assumption": "no such run",
        "endless": "never leaves a loop inside",
    }
    kind = words.get(exit.kind, exit.kind)
    kind = f"{kind} ({exit.detail.replace('-', ' ')})" if exit.detail else kind
    return f"{kind}, line {exit.line}" if exit.line else kind


def _edges(automaton: PathAutomaton, groups: Sequence[_Group]) -> Iterator[str]:
    for (source, target), transitions in _between(automaton, groups).items():
        label = _label(transitions[0]) if len(transitions) == 1 else [f"in {len(transitions)} ways"]
        style = "" if all(transition.exact for transition in transitions) else ", style=dashed"
        yield f"{source} -> {target} [label={_quoted(*label)}{style}]"


def _label(transition: Transition) -> list[str]:
    if transition.times is not None:
        constraint = f"times: {t.text(transition.times)}"
    else:
        constraint = f"times {transition.counter.name}: {t.text(transition.constraint)}"
    update = [f"{var.name}' = {t.text(transition.update[var])}" for var in sorted(transition.update)]
    update += [f"{var.name}' = ?" for var in sorted(transition.unstated)]
    guard = _broken(f"if {t.text(transition.guard)}") if transition.guard is not t.TRUE else ""
    return [_broken(constraint), guard, _broken(", ".join(update), ", ")]


_CONNECTIVES: Final = r"(?<= && )|(?<= \|\| )"


def _broken(shown: str, ends: str = "") -> str:
    """The text in lines of at most :data:`PICTURE_LINE` letters, as far as its parts allow. Parts end with ``ends``, or
    are those of a condition.
    """
    lines: list[str] = []
    for part in re.split(f"(?<={re.escape(ends)})" if ends else _CONNECTIVES, shown):
        if lines and len(lines[-1]) + len(part.rstrip()) <= PICTURE_LINE:
            lines[-1] += part
        else:
            lines.append(f"  {part}" if lines else part)
    return "\n".join(line.rstrip() for line in lines)


def _quoted(*parts: str) -> str:
    """A DOT string, its parts and lines left-aligned below each other."""
    lines = [line for part in parts if part for line in part.split("\n")]
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return '"' + "".join(f"{line}\\l" for line in escaped) + '"' if len(escaped) > 1 else f'"{"".join(escaped)}"'

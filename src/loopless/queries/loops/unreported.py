"""Variables and memory that a loop changes but its summary omits, by their names.

A summary tells of variables that are used behind the loop; a reader does not know which these are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from loopless import terms as t
from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.memory.statement_effects import written_by
from loopless.flowgraph.model import OBJECT_PART, Call, Copy, Fill, Flowgraph, LoopInfo, MemoryObject, Store
from loopless.flowgraph.words import afterwards
from loopless.paths import LoopPaths
from loopless.paths.build import changed_variables, seen_at_ends, used_behind
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.summary import LoopSummary


@dataclass(frozen=True, slots=True)
class Untold:
    """Something that iterations change, and of which nothing is told: ``name`` as the source calls it, ``dst[]`` for
    the elements of an array, ``*p`` for what a pointer points to; ``used``: whether something behind the loop may use
    it.
    """

    name: str
    used: bool


def untold(
    graph: Flowgraph, loop: LoopInfo, summary: LoopSummary | None, asked: Iterable[t.Var] | None
) -> tuple[Untold, ...]:
    """What ``loop`` changes and ``summary`` does not tell, of the variables ``asked`` for where these are named."""
    ends = seen_at_ends(graph)
    live = live_at_entry(graph.blocks, ends)
    used = used_behind(graph, loop, live, ends)
    changed = changed_variables(graph, loop)
    matter = changed & (used | live[loop.header]) if asked is None else changed & frozenset(asked)
    told = _told(summary) if summary is not None else frozenset()
    found: dict[str, bool] = {}
    if summary is None or summary.cases or summary.approximation is not None:
        for var in sorted(matter - told, key=lambda var: var.key):
            info = graph.variables[var]
            if info.is_source and info.pointer_part != "object":
                found[info.shown] = found.get(info.shown, False) or var in used
        if asked is None:
            found |= dict.fromkeys(_written(graph, loop, summary), True)
    return tuple(Untold(name, used) for name, used in found.items())


def pointers_shown(graph: Flowgraph | Refused, shown: Collection[t.Var]) -> dict[t.Var, str]:
    """Of the variables ``shown``, those that are 0 where a pointer is null, and flags of one bit that say that an
    argument is, with the name that people know it by.
    """
    if isinstance(graph, Refused):
        return {}
    found = {
        var: info.shown.removesuffix(OBJECT_PART)
        for var, info in graph.variables.items()
        if var in shown and info.pointer_part == "object"
    }
    moved = set(found.values())
    for parameter in graph.parameters:
        if parameter.null is not None and parameter.null in shown:  # the pointer itself may be another one by now
            found[parameter.null] = f"{'the argument ' * (parameter.name in moved)}{parameter.name}"
    return found


def used_variables(graph: Flowgraph, loop: LoopInfo) -> tuple[t.Var, ...]:
    """The variables that ``loop`` changes and that are used behind it, in the order of their names."""
    ends = seen_at_ends(graph)
    used = used_behind(graph, loop, live_at_entry(graph.blocks, ends), ends)
    return tuple(sorted(changed_variables(graph, loop) & used, key=lambda var: var.key))


def _told(summary: LoopSummary) -> frozenset[t.Var]:
    """The variables of which some case says what they are at the exit."""
    found = {var for case in summary.cases for var in summary.known(case)}
    for case in summary.approximation.cases if summary.approximation is not None else ():
        spoken = case.facts.variables | case.when.variables
        others = [term for var, term in case.then.items() if term not in case.free]
        spoken |= {var for term in others for var in term.variables}
        found |= {var for var, term in case.then.items() if term not in case.free or term in spoken}
    return frozenset(found)


def _written(graph: Flowgraph, loop: LoopInfo, summary: LoopSummary | None) -> Iterator[str]:
    """The names of memory that the loop writes and of which the summary does not tell all, of that which is not held in
    variables.
    """
    nodes = summary is not None and any(t.in_list(array) for case in summary.cases for array in case.contents or ())
    for label in sorted(loop.blocks):
        for statement in graph.blocks[label].statements:
            match statement:
                case Store() | Fill() | Copy():
                    named = _named(graph, written_by(statement) or ())
                    yield from (
                        _missing_behind_pointers(graph, summary) if not named or nodes else _missing(named, summary)
                    )
                case Call(outside=False):
                    numbers = written_by(statement) or frozenset()
                    yield from _missing(_named(graph, numbers), summary)
                    words = sorted(words for number, words in graph.unnumbered.items() if words and number in numbers)
                    yield from (one for one in words if _is_missing(one, summary))
                case _:
                    pass


def _named(graph: Flowgraph, numbers: Iterable[int]) -> list[MemoryObject]:
    """These objects, of those that have a name."""
    objects = [graph.objects[number] for number in sorted(numbers) if number in graph.objects]
    return [found for found in objects if found.name]


def _missing(objects: Iterable[MemoryObject], summary: LoopSummary | None) -> Iterator[str]:
    """What some case does not tell of the contents of the objects at its exit."""
    cases = summary.cases if summary is not None and summary.approximation is None else ()
    for found in objects:
        told = [None if case.contents is None else case.contents.get(found.name, ()) for case in cases]
        if not told or any(layers is None or any(map(_is_all_unknown, layers)) for layers in told):
            yield _name(found)
        elif any(not layer.is_told for layers in told for layer in layers or ()):
            yield f"part of {_name(found)}"


def _missing_behind_pointers(graph: Flowgraph, summary: LoopSummary | None) -> Iterator[str]:
    """That some case does not tell all elements behind pointers that lead to no named object."""
    named = {*(found.name for found in graph.objects.values()), *graph.unnumbered.values()}
    cases = summary.cases if summary is not None and summary.approximation is None else ()
    contents = [case.contents for case in cases]
    others = [layers for told in contents if told is not None for array, layers in told.items() if array not in named]
    if not contents or None in contents or any(not layer.is_told for layers in others for layer in layers):
        yield "what a pointer points to"


def _is_missing(array: str, summary: LoopSummary | None) -> bool:
    """Whether some case does not tell all elements of what is called so."""
    cases = summary.cases if summary is not None and summary.approximation is None else ()
    told = [None if case.contents is None else case.contents.get(array, ()) for case in cases]
    return not told or any(layers is None or any(not layer.is_told for layer in layers) for layers in told)


def _is_all_unknown(layer: t.Layer) -> bool:
    return not layer.is_told and layer.where is t.TRUE


def _name(found: MemoryObject) -> str:
    """How a piece of memory is called."""
    if found.element is not None:
        return f"{found.name}[]"
    return f"*{found.name}" if found.size is None and found.kind == "parameter" else found.name


def occurring(paths: LoopPaths) -> list[t.Var]:
    """The variables of which paths speak."""
    found: set[t.Var] = set(paths.state) | set(paths.invariants) | set(paths.shown)
    for path in paths.all:
        found |= path.condition.variables | set(path.update)
        found |= {v for term in path.update.values() for v in term.variables}
        if path.result is not None:
            found |= path.result.variables
        found |= {unknown.var for unknown in path.unknowns}
    return sorted(found, key=lambda var: var.key)


def shown_at_exit(summary: LoopSummary, shown: Mapping[t.Var, str]) -> dict[t.Var, str]:
    """The names of final values that an approximation leaves open: x' for that of x."""
    found: dict[t.Var, str] = {}
    for case in summary.approximation.cases if summary.approximation is not None else ():
        values = {term: var for var, term in case.then.items() if var in shown}
        found |= {var: afterwards(shown[values[var]]) for var in case.free if var in values}
    return found

"""How much a counter variable grows over a call, and how often loops run in a whole program."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from loopless.bounds.joint_claims import always
from loopless.bounds.methods.cost import Cost, cost_of
from loopless.errors import UsageError
from loopless.queries.bound_answers import FunctionBound, LoopBound
from loopless.queries.jobs import work
from loopless.queries.loop_name import LoopName
from loopless.queries.program import Function, Program
from loopless.queries.sandbox import Overrun, failure
from loopless.queries.selection import variables_named
from loopless.queries.settings import Settings
from loopless.refusals import Reason, Refused
from loopless.summary import FunctionSummary
from loopless.terms import Term, add, maximum


@dataclass(frozen=True, slots=True)
class CostAnswer:
    """The growth of the variable that the source calls ``variable`` over a call of the function of ``bound``."""

    variable: str
    bound: FunctionBound
    cost: Cost


def function_with(functions: Sequence[Function], name: str) -> Function:
    """The one function that has a variable of this name, or ``main`` among several. Raises ``UsageError``."""
    found = []
    for function in functions:
        graph = function.graph()
        if not isinstance(graph, Refused) and variables_named(graph, name, graph.variables):
            found.append(function)
    found = found or [function for function in functions if _in_memory(function, name)]
    if len(found) > 1:
        found = [function for function in found if function.name == "main"] or found
    if len(found) == 1:
        return found[0]
    if not found and len(functions) == 1 and _is_global(functions[0].program, name):
        return functions[0]
    if found:
        choices = ", ".join(f.name for f in found)
        raise UsageError(f"several functions have a variable {name}: {choices}; use --function")
    raise UsageError(f"no function with loops has a variable {name}")


def _is_global(program: Program, name: str) -> bool:
    return name in program.source.inlined.globals


_STEP: Final = re.compile(r"(?:\.|(->))(\w+)|\[\d+\]")


def _in_memory(function: Function, name: str) -> bool:
    """Whether C has an integer of this name, such as ``x``, ``s.a[2]`` or ``p->k``, in the text of the function."""
    types = function.program.source.module.debug_types
    steps = list(_STEP.finditer(name))
    root = name[: steps[0].start()] if steps else name
    if "".join((root, *(step[0] for step in steps))) != name:
        return False
    code = function.program.source.module.functions[function.code.name]
    declared = [*code.variables.values(), *(param.debug for param in code.params if param.debug is not None)]
    for variable in declared:
        type = variable.type if variable.name == root else None
        for step in steps:
            if type is not None and (step[1] or not step[2]):
                type = types.element(type)
            if type is not None and step[2]:
                type = next((member.type for member in types.members(type) if member.name == step[2]), None)
        if type is not None and type.signed is not None:
            return True
    return False


def answer_cost(
    function: Function, name: str, bound: FunctionBound, settings: Settings, until: float | None = None
) -> CostAnswer:
    """Bounds on the growth of a variable over a call, under the limits of a loop."""
    index = function.program.functions.index(function)
    job = functools.partial(_cost, function.program, index, name, bound.summary)
    (found,) = work([job], settings, until)
    cost = Cost(None, None, found.refused(function.place)) if isinstance(found, Overrun) else found
    return CostAnswer(name, bound, cost)


def _cost(program: Program, index: int, name: str, summary: FunctionSummary | None) -> Cost:
    function = program.functions[index]
    graph = function.graph()
    if isinstance(graph, Refused):
        return Cost(None, None, graph)
    named = variables_named(graph, name, graph.variables)
    if not named and _in_memory(function, name):
        detail = f"{name} is no variable of its own here: it is read or written together with what is beside it"
        detail += " in memory, its address is given away, or nothing uses it"
        return Cost(None, None, Refused(Reason.MEMORY, function.place, detail))
    if not named:
        detail = f"{name} is changed in calls only, and what they add to it is not known"
        return Cost(None, None, Refused(Reason.UNKNOWN_CALL, function.place, detail))
    if len(named) > 1:
        raise UsageError(f"{name} may be any of {', '.join(v.name for v in named)} in {function.name}; name one")
    try:
        return cost_of(graph, named[0], summary)
    except Exception as error:  # noqa: BLE001  # an error here must not take the bounds with it
        return Cost(None, None, failure(error).refused(function.place))


@dataclass(frozen=True, slots=True)
class RunBound:
    """How often a loop runs in a run of the program from an entry function, all its copies by inlining together.

    ``total``: its iterations in all; ``any_entry``: those of any one entry; both over the inputs of the entry function,
    None where a function with the loop may be called that is not inlined. ``copies``: the loops of the entry function
    that it stands for, some of which may be of another loop at its place; ``number``: its place among the loops of its
    own function in the order of their ends. ``exact``: ``total`` is the count of this loop.
    """

    loop: LoopName
    total: Term | None
    any_entry: Term | None
    copies: tuple[LoopBound, ...]
    number: int = 0
    exact: bool = False


def run_bounds(program: Program, entry: Function, bound: FunctionBound) -> list[RunBound]:
    """The loops that a run of the program from ``entry`` may come to, in the order of the source."""
    elsewhere = frozenset(entry.reached.names)
    written = [(function, _own(function)) for function in program.functions]
    homes: dict[str, list[tuple[Function, LoopName]]] = {}
    for function, loops in written:
        for loop in loops:
            homes.setdefault(loop.place, []).append((function, loop))
    callees = {loop.name: _callee(loop.id) for loop in entry.loops}
    copies: dict[str, list[LoopBound]] = {}
    """By the names of loops. Several of one name, or at one place of one function, as in a macro, share theirs."""
    known: set[str] = set()
    for found in bound.loops:
        loop = found.answer.loop
        there = homes.get(loop.place, ())
        of = [(f, home) for f, home in there if f.name == callees.get(loop.name)] or there
        if not of and not is_recursion(loop):
            known.add(loop.name)
            copies.setdefault(loop.name, []).append(found)
        for name in dict.fromkeys(home.name for _, home in of):
            copies.setdefault(name, []).append(found)
    runs: dict[str, RunBound] = {}
    for function, loops in written:
        for loop in loops:
            of = [(f, home) for f, home in homes[loop.place] if f.name == function.name]
            own = copies.get(loop.name, ())
            again = any(f.code.name in elsewhere for f, home in of if home.name == loop.name)
            if loop.name in runs or not (own or again):
                continue
            run = RunBound(loop, None, None, tuple(own)) if again else _together(loop, own, shared=len(of) > 1)
            runs[loop.name] = replace(run, number=by_end(loops).index(loop))
    for found in bound.loops:
        loop = found.answer.loop
        if loop.name in known and loop.name not in runs:
            runs[loop.name] = _together(loop, copies[loop.name])
    return list(runs.values())


def _own(function: Function) -> list[LoopName]:
    """The loops that stand in the text of a function."""
    return [loop.id for loop in function.loops if loop.id.inlined_from is None and not is_recursion(loop.id)]


def _callee(loop: LoopName) -> str:
    """The function in whose text a loop stands that may have been inlined; empty where that is not known."""
    return loop.info.loc.function if loop.info is not None and loop.info.loc is not None else ""


def _together(loop: LoopName, copies: Sequence[LoopBound], *, shared: bool = False) -> RunBound:
    totals = [total for bound in copies if (total := always(bound.call)) is not None]
    entries = [_of_entry(bound) for bound in copies]
    known = [term for term in entries if term is not None]
    return RunBound(
        loop,
        add(*totals) if len(totals) == len(copies) else None,
        maximum(*known) if len(known) == len(copies) else None,
        tuple(copies),
        exact=not shared and all(copy.call.exact and not copy.calls.unshown for copy in copies),
    )


def _of_entry(bound: LoopBound) -> Term | None:
    """A bound on any entry; what is entered once at most takes no more than it takes in all."""
    if bound.any_entry is not None:
        return bound.any_entry
    return always(bound.call)


RETURNS: Final = "~returns"
"""How the names of the loops end that stand for what a recursion does on its way up again."""


def is_recursion(loop: LoopName) -> bool:
    """Whether a loop stands for a function that calls itself."""
    return loop.column == 0 or loop.name.endswith(RETURNS)


def by_end(loops: Sequence[LoopName]) -> list[LoopName]:
    """The loops in the order of their ends: inner ones before those around them."""
    children: dict[str | None, list[LoopName]] = {}
    plain = [loop for loop in loops if not is_recursion(loop)]
    names = {loop.name for loop in plain}
    for loop in sorted(plain, key=lambda loop: (loop.line, loop.column, loop.name)):
        children.setdefault(loop.parent if loop.parent in names else None, []).append(loop)

    def order(parent: str | None) -> Iterator[LoopName]:
        for loop in children.get(parent, ()):
            yield from order(loop.name)
            yield loop

    return list(order(None))

"""The paths of a loop: sliced, executed on symbols, merged, numbered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from loopless import terms as t
from loopless.flowgraph.callees.streams import counts_inputs
from loopless.flowgraph.def_use import assigned_in, defined_by, edge_uses
from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.memory.early_loads import moved_pointers
from loopless.flowgraph.model import (
    ASSEMBLY,
    THROUGH_POINTER,
    Call,
    Copy,
    Edge,
    Flowgraph,
    Kind,
    Load,
    LoopInfo,
    Pointer,
    Statement,
    Store,
)
from loopless.logic import Intervals, feasible
from loopless.paths.checks import with_checks
from loopless.paths.execution import ExecutionState, Finished, TooManyPaths, Unreadable
from loopless.paths.iteration_memory import LostTogether
from loopless.paths.joining import join
from loopless.paths.model import Exit, Inner, LoopPaths, NoPaths, Path, Unknown, Write
from loopless.paths.readings import not_null
from loopless.paths.relevance import Writes, frees, relevance
from loopless.paths.symbolic import ENDING, Body, Doubtful, spoken_of, terms_of
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.source.function_names import in_source
from loopless.source.vocabulary import WORKED_OUT, LibraryEffect, effect_of

_EXIT_ORDER = (
    "normal",
    "return",
    "exit",
    "abort",
    "error",
    "assumption",
    "endless",
    "unsupported",
    "unknown",
    "undefined",
)

Inners = Callable[[LoopInfo, tuple[t.Var, ...], t.Condition, bool], Inner | Refused]
"""What an inner loop does where a condition holds at its entry, for the variables whose values behind it matter;
True where all of its checks do."""


def loop_paths(
    graph: Flowgraph,
    loop: LoopInfo,
    interest: Iterable[t.Var] | None = None,
    inner: Inners | None = None,
    *,
    all_checks: bool | None = None,
    given: t.Condition = t.TRUE,
    writes: Writes = Writes.NOTHING,
) -> LoopPaths | NoPaths:
    """All feasible paths of ``loop``, for the variables of ``interest`` (default: those that the loop changes and that
    are used after it, else all that it changes). A refusal is a value.

    ``all_checks``: whether all that may be undefined matters, by default where no interest is named. Loops inside this
    one are passed by what ``inner`` gives. ``given``: what holds at the header before every iteration. ``writes``:
    whether paths tell what they write to memory (:attr:`.Path.writes`); a loop that may write objects which are not
    known is refused then.
    """
    ends = seen_at_ends(graph)
    live = live_at_entry(graph.blocks, ends)
    changed = changed_variables(graph, loop)
    wanted = tuple(interest) if interest is not None else default_interest(graph, loop, live, ends, changed)
    checked = all_checks if all_checks is not None else interest is None
    relevant = relevance(graph, loop, wanted, all_checks=checked, writes=writes)
    inside = live_inside(graph, loop, live, ends, frozenset(wanted))

    def steps(within: LoopInfo, context: t.Condition) -> Inner | Refused:
        if inner is None:
            return Refused(Reason.NESTED, _where(within), "it was not summarized")
        used = used_behind(graph, within, inside, ends) & changed_variables(graph, within) & relevant.variables
        found = inner(within, tuple(sorted(used, key=_by_name)), context, checked)
        if isinstance(found, Inner) and not used <= found.covered:
            return Refused(Reason.NESTED, _where(within), "its summary leaves values open that are used behind it")
        return found

    try:
        body, finished = _executed(
            lambda doubtful: Body(graph, loop, relevant, inside, steps, given, doubtful=doubtful),
            Doubtful(moving=changed if writes is Writes.NODES else frozenset()),
        )
    except TooManyPaths:
        detail = "the body has too many different paths; ask for fewer variables with --vars"
        return NoPaths(loop, Refused(Reason.BUDGET, _where(loop), detail))
    except Unreadable as unreadable:
        return NoPaths(loop, unreadable.refused, unreadable.alike)
    counters = {var: name for var, name in body.counters.items() if name not in body.uncounted}
    needed = inside[loop.header] & relevant.variables
    again = _merge(finished, None, needed | counters.keys())
    behind = _Behind(live, ends, frozenset(wanted), frozenset(counters))
    leaving = _exit_paths(graph, finished, relevant.variables, behind)
    if body.passed_inner and all(path.state.exact for path in finished):
        again, leaving = with_checks(again, leaving, changed)
    iterative, exits = _numbered(again, ""), _numbered(leaving, "e")
    occurring = _occurring((*iterative, *exits)) - counters.keys()
    state = tuple(sorted((changed & needed), key=_by_name))
    invariants = tuple(sorted(occurring - set(state) - {v for p in iterative for v in p.update}, key=_by_name))
    granted = _granted(body, occurring | set(state))
    found = LoopPaths(loop, iterative, exits, state, invariants, wanted, granted, counters)
    stored = None if body.stored is None else tuple(body.stored)
    return _with_frees(replace(found, stored=stored, pointers=body.pointers), graph, body)


def _granted(body: Body, variables: Iterable[t.Var]) -> tuple[str, ...]:
    """What the paths take for granted that speak of ``variables``."""
    found = [] if not body.relevant.dropped_checks else ["no undefined behaviour in what was sliced away"]
    found += [*body.assumptions, *calls_assumptions(body.graph, body.loop)]
    found += memory_assumptions(body.graph, body.loop.blocks, variables)
    return tuple(dict.fromkeys(found))


def _with_frees(paths: LoopPaths, graph: Flowgraph, body: Body) -> LoopPaths:
    """The paths with what is known of the memory whose life calls in the loop end."""
    calls = (s for label in paths.loop.blocks for s in graph.blocks[label].statements if isinstance(s, Call))
    ending = [call for call in calls if _ends_life(call)]
    told = body.relevant.writes is Writes.NODES and not body.passed_inner and all(map(frees, ending))
    return replace(paths, may_free=bool(ending), tells_freed=told)


def _ends_life(call: Call) -> bool:
    """Whether a call may end the life of memory: all but those of library functions that do not."""
    return effect_of(call.callee) in (None, LibraryEffect.FREES, LibraryEffect.MOVES)


def _occurring(paths: Iterable[Path]) -> set[t.Var]:
    """The variables that paths speak of, without what iterations take from outside."""
    found: set[t.Var] = set()
    for path in paths:
        found |= path.condition.variables | set(path.update)
        found |= {v for term in path.update.values() for v in term.variables}
        found |= {v for node in terms_of(path.writes) for v in node.variables} - {t.INDEX}
        found |= {v for unknown in path.unknowns if unknown.held is not None for v in unknown.held.variables}
        found -= {unknown.var for unknown in path.unknowns}
    return found


def _executed(body: Callable[[Doubtful], Body], doubtful: Doubtful) -> tuple[Body, list[Finished[ExecutionState]]]:
    """One iteration. Two kinds of memory are not followed: what is read through a pointer that iterations move to
    another object, and what may lie in an object that is lost. ``doubtful``: what is not followed at first.

    Where an iteration makes a pointer null, nothing is read through it from then on. What is asked of two pointers is
    asked at the entry, so no iteration changes where they point.
    """
    while True:
        executed = body(doubtful)
        try:
            finished = executed.run()
        except LostTogether as lost:
            others = doubtful.together.get(lost.words, frozenset()) | {lost.array}
            doubtful = replace(doubtful, together={**doubtful.together, lost.words: others})
            continue
        except Unreadable as unreadable:
            asked = frozenset[t.Var]() if unreadable.alike is None else unreadable.alike.variables
            moved = {owner for owner in asked if any(value is not owner for value in _values_behind(executed, owner))}
            if moved <= doubtful.moving:
                raise
            doubtful = replace(doubtful, moving=doubtful.moving | moved)
            continue
        moved = {
            owner
            for owner in executed.behind
            if any(not_null(value) not in (owner, t.ZERO) for value in _values_behind(executed, owner))
        }
        if not moved:
            return executed, finished
        doubtful = replace(doubtful, moving=doubtful.moving | moved)


def _values_behind(executed: Body, var: t.Var) -> list[t.Term]:
    """What a variable holds behind the iterations that another one follows."""
    return [path.state.values.get(var, var) for path in executed.finished if path.exit is None]


def _by_name(var: t.Var) -> str:
    return var.key


def _where(loop: LoopInfo) -> str:
    return str(loop.loc) if loop.loc is not None else loop.name


def seen_at_ends(graph: Flowgraph) -> frozenset[t.Var]:
    """The variables that the caller of the function sees: globals and pointees, and how many inputs are read."""
    return frozenset(
        var
        for var, info in graph.variables.items()
        if counts_inputs(var)
        or (
            info.object is not None
            and info.object in graph.objects
            and graph.objects[info.object].kind in ("global", "parameter", "pointee")
        )
    )


def changed_variables(graph: Flowgraph, loop: LoopInfo) -> frozenset[t.Var]:
    """The variables that some block of the loop assigns."""
    return assigned_in(graph.blocks[label] for label in loop.blocks)


def live_inside(
    graph: Flowgraph,
    loop: LoopInfo,
    live: Mapping[str, frozenset[t.Var]],
    ends: frozenset[t.Var],
    wanted: frozenset[t.Var],
) -> dict[str, frozenset[t.Var]]:
    """Liveness as if ``wanted`` were used behind every exit of the loop: their final values are asked for."""
    behind = {
        graph.blocks[label].edges[index].target: live[graph.blocks[label].edges[index].target] | wanted
        for label, index in loop.exits
    }
    blocks = {label: graph.blocks[label] for label in graph.blocks if label in loop.blocks}
    return dict(live) | live_at_entry(blocks, ends | wanted, behind)


def default_interest(
    graph: Flowgraph,
    loop: LoopInfo,
    live: Mapping[str, frozenset[t.Var]],
    ends: frozenset[t.Var],
    changed: frozenset[t.Var],
) -> tuple[t.Var, ...]:
    """The variables that the loop changes and that are used after it, as those are whose places in memory go along with
    them; all that it changes where none is.
    """
    used = changed & used_behind(graph, loop, live, ends)
    if all(counts_inputs(var) for var in used):
        used |= changed & live[loop.header]
    for load in moved_pointers(graph, loop).values():
        used |= changed & frozenset(defined_by(load))
    return tuple(sorted(used, key=_by_name))


def used_behind(
    graph: Flowgraph, loop: LoopInfo, live: Mapping[str, frozenset[t.Var]], ends: frozenset[t.Var]
) -> frozenset[t.Var]:
    """The variables whose values at some exit of ``loop`` are used, ``live`` being what is used in the blocks."""
    found: set[t.Var] = set()
    for label, index in loop.exits:
        edge = graph.blocks[label].edges[index]
        found |= _used_on(graph, edge, live[edge.target])
    for label in loop.blocks:
        end = graph.blocks[label].end
        if end is not None:
            found |= ends | (end.value.variables if end.value is not None else frozenset())
    return frozenset(found)


def _used_on(graph: Flowgraph, edge: Edge, live: frozenset[t.Var]) -> frozenset[t.Var]:
    """The variables whose values on an edge out of a loop matter, ``live`` being used behind it: variables that decide
    about the edge are asked for as well, but values on the way to that are not.
    """
    deciding = frozenset(var for var in edge.condition.variables if graph.variables[var].is_source)
    return frozenset(edge_uses(replace(edge, condition=t.TRUE), live)) | deciding


def calls_assumptions(graph: Flowgraph, loop: LoopInfo) -> list[str]:
    """What is taken for granted of the calls in a loop: those that need not return do."""
    found: set[str] = set()
    for block in (graph.blocks[label] for label in loop.blocks):
        calls = [statement for statement in block.statements if isinstance(statement, Call)]
        leaves = block.end is not None and block.end.kind == "unsupported"  # the last call may be the one that does not
        found.update(calls_return(call) for call in (calls[:-1] if leaves else calls) if not call.returns)
    return sorted(found)


def calls_return(call: Call) -> str:
    """What is taken for granted where a run is followed past a call, as it is not certain."""
    return f"{called(call.callee)} return" + (f", which they need not: {call.leaves}" if call.leaves else "")


def called(callee: str) -> str:
    """The calls of what a flowgraph calls by this name."""
    if callee == THROUGH_POINTER:
        return "calls through pointers"
    return "inline assembly" if callee == ASSEMBLY else f"calls of {in_source(callee)}"


def memory_assumptions(graph: Flowgraph, labels: Iterable[str], variables: Iterable[t.Var]) -> list[str]:
    """What is taken for granted about memory that these blocks touch."""
    touched: set[str] = set()
    follows_memory = any(_outside(graph, var) for var in variables)
    if any(_is_behind_memory(graph, var) for var in variables):
        touched.add("accesses through pointers stay inside the memory that they point to")
    for label in labels:
        for statement in graph.blocks[label].statements:
            if isinstance(statement, Copy) and statement.apart:
                touched.add("what is copied does not overlap what it is copied to")
            for address in _addresses(statement):
                follows_memory = True
                owner = address.object
                if isinstance(owner, t.Const) and owner.value in graph.objects:
                    found = graph.objects[owner.value]
                    name = found.name if found.size is None and found.extent is None else ""
                    if name:
                        touched.add(f"accesses to {name} stay inside the memory that it points to")
                else:
                    name = "pointers"
                    touched.add("accesses through pointers stay inside the memory that they point to")
                if name and isinstance(statement, Load) and statement.type.width == 1:
                    touched.add(f"what is read as a truth value through {name} is 0 or 1")
    return [*(graph.assumptions if follows_memory else ()), *sorted(touched)]


def _addresses(statement: Statement) -> Iterable[Pointer]:
    """Through which pointers a statement reads or writes, as far as what it finds there is told."""
    match statement:
        case Load() | Store():
            return (statement.address,)
        case Call() if statement.callee in WORKED_OUT:
            return (argument for argument in statement.arguments if isinstance(argument, Pointer))
        case _:
            return ()


def _is_behind_memory(graph: Flowgraph, var: t.Var) -> bool:
    """Whether the variable stands for what a pointer in memory points to."""
    info = graph.variables.get(var)
    found = None if info is None or info.object is None else graph.objects.get(info.object)
    return found is not None and found.kind == "pointee"


def _outside(graph: Flowgraph, var: t.Var) -> bool:
    info = graph.variables.get(var)
    return info is not None and info.kind in (Kind.GLOBAL, Kind.POINTEE)


# -- finished paths ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Behind:
    """What is used behind the loop: by block, at the ends of runs, what is asked for, and the counters."""

    live: Mapping[str, frozenset[t.Var]]
    ends: frozenset[t.Var]
    wanted: frozenset[t.Var]
    counters: frozenset[t.Var]


def _exit_paths(
    graph: Flowgraph,
    finished: list[Finished[ExecutionState]],
    relevant: frozenset[t.Var],
    behind: _Behind,
) -> list[Path]:
    kinds = list(dict.fromkeys(f.exit for f in finished if f.exit is not None))
    kinds.sort(key=lambda e: (_EXIT_ORDER.index(e.kind), e.line, e.block, e.edge or 0, e.detail))
    paths: list[Path] = []
    for exit in kinds:
        if exit.edge is not None and exit.target is not None:
            edge = graph.blocks[exit.block].edges[exit.edge]
            needed = (_used_on(graph, edge, behind.live[exit.target]) | behind.wanted) & relevant
        elif exit.kind in ("return", "exit", "abort"):
            needed = (behind.ends | behind.wanted) & relevant
        else:
            needed = frozenset()
        if exit.kind not in ENDING:
            needed |= behind.counters
        paths.extend(_merge([f for f in finished if f.exit == exit], exit, needed))
    return paths


def _merge(
    finished: list[Finished[ExecutionState]],
    exit: Exit | None,
    needed: frozenset[t.Var],
) -> list[Path]:
    """Paths of equal effect become one."""
    groups: dict[_Effect, list[Finished[ExecutionState]]] = {}
    for path in finished:
        if path.exit != exit:
            continue
        kept = tuple(
            (v, value) for v, value in sorted(path.state.values.items(), key=lambda p: p[0].key) if v in needed
        )
        kept = tuple((v, value) for v, value in kept if value is not v)
        writes = path.state.writes
        if exit is not None and exit.kind in ENDING and all(write.owner is None for write in writes):
            writes = ()  # nothing asks for them; of nodes they say what the path reads
        values: list[t.Node] = [*(term for _, term in kept), *terms_of(writes)]
        values += [path.result] if path.result is not None else []
        shown_unknowns = spoken_of(path.state.unknowns, values)
        groups.setdefault((kept, shown_unknowns, path.result, path.state.exact, writes), []).append(path)
    merged = []
    for (kept, shown_unknowns, result, exact, writes), group in groups.items():
        condition = t.conjunction(join([f.state.condition for f in group]))
        every = dict.fromkeys(unknown for f in group for unknown in f.state.unknowns)
        unknowns = tuple(u for u in every if u in shown_unknowns or u in spoken_of(every, [condition]))
        lines = tuple(sorted({line for f in group for line in f.state.lines}))
        update = {v: simplest(value, condition) for v, value in kept}
        shown = simplest(result, condition) if result is not None else None
        update = {v: value for v, value in update.items() if value is not v}
        outputs = needed if exit is not None else frozenset()
        writes = tuple(_simplest_write(write, condition) for write in writes)
        merged.append(Path("", condition, update, exit, unknowns, lines, shown, outputs, exact, writes))
    return merged


_Effect = tuple[tuple[tuple[t.Var, t.Term], ...], tuple[Unknown, ...], t.Term | None, bool, tuple[Write, ...]]
"""What paths that become one agree in: values, unknown values, the result, whether they are exact, and writes."""


def _simplest_write(write: Write, condition: t.Condition) -> Write:
    """The write by simpler terms that are equal wherever ``condition`` holds."""
    offset = None if write.offset is None else simplest(write.offset, condition)
    value = None if write.value is None else simplest(write.value, condition & write.where)
    return replace(write, offset=offset, value=value)


def _numbered(paths: Iterable[Path], prefix: str) -> tuple[Path, ...]:
    return tuple(replace(p, id=f"{prefix}{i}") for i, p in enumerate(paths, start=1))


def simplest(term: t.Term, condition: t.Condition) -> t.Term:
    """``term`` without reductions that change nothing and without roundings towards 0 that are floors, wherever
    ``condition`` holds.
    """
    return _with_floors(without_wraps(term, condition), condition)


def _with_floors(term: t.Term, condition: t.Condition) -> t.Term:
    """``term`` with C's divisions as floors where the sign of what is divided is known."""
    floors: dict[t.Term, t.Term] = {}
    for node in t.walk(term):
        if isinstance(node, t.Op) and node.op in ("trunc_div", "trunc_rem") and isinstance(node.args[1], t.Const):
            floor = t.floor_div if node.op == "trunc_div" else t.mod
            if node.args[1].value <= 0:
                continue
            if _follows(t.at_most_zero(-node.args[0]), condition):
                floors[node] = floor(*node.args)
            elif _follows(t.at_most_zero(node.args[0]), condition):
                floors[node] = -floor(-node.args[0], node.args[1])
    return t.replace_terms(term, floors) if floors else term


def _follows(claim: t.Condition, condition: t.Condition) -> bool:
    """Whether ``claim`` holds wherever ``condition`` does, as far as that is quickly seen."""
    return claim is t.TRUE or not feasible(condition & ~claim, solver=False)


def without_wraps(term: t.Term, condition: t.Condition) -> t.Term:
    """``term`` with each reduction removed that changes nothing wherever ``condition`` holds."""
    found = [node for node in t.walk(term) if isinstance(node, t.Wrap)]
    if not found:
        return term
    known = Intervals((condition,))
    replaced = {wrapped: wrapped.arg for wrapped in found if _fits_under(wrapped, condition, known)}
    return _strip(term, replaced) if replaced else term


def _fits_under(wrapped: t.Wrap, condition: t.Condition, known: Intervals) -> bool:
    inside = t.between(wrapped.type.min, wrapped.arg, wrapped.type.max)
    return known.decides(inside) is True or _follows(inside, condition)


def _strip(term: t.Term, replaced: Mapping[t.Wrap, t.Term]) -> t.Term:
    """``term`` with nodes replaced; only whole nodes of sums and the term itself are looked at."""
    if isinstance(term, t.Wrap):
        return _strip(replaced[term], replaced) if term in replaced else term
    parts = []
    for monomial, coefficient in t.polynomial(term).items():
        factors = [
            t.product([_strip(atom, replaced) if isinstance(atom, t.Wrap) else atom] * e) for atom, e in monomial
        ]
        parts.append(t.product(factors) * coefficient)
    return t.add(*parts)

"""What a call does to the variables of its caller, from callees to callers, without inlining.

A function is looked at once, as a whole, by the walk of :mod:`loopless.bounds.iteration.one_iteration`: on each way to
its return, what holds, what the integers that callers see become, and the result, over the values in front of the call
and symbols of which intervals are known. At a call this becomes ways that meet in the caller. It is an
over-approximation: where ways are too many, or nothing is known of a value, symbols stand for it. The scheme is that of
summaries by transfer functions (Sharir and Pnueli, Two approaches to interprocedural data flow analysis, 1981).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Final

from loopless import terms as t
from loopless.bounds.iteration.facts import Facts, SymbolIntervals
from loopless.bounds.iteration.meetings import Meetings, ways
from loopless.flowgraph.callees.call_sites import Handed
from loopless.flowgraph.callees.summaries import CalleeSummaries, Fact
from loopless.flowgraph.model import Call, Flowgraph, Kind, Pointer
from loopless.limits.bounds import MAX_CALLEE_BLOCKS, MAX_OUTCOMES, MAX_TOLD_FACTS
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class ReturnWay:
    """One way to a return: what holds there, the ``values`` of the variables that changed, and the result."""

    facts: Facts
    values: Mapping[t.Var, t.Term]
    result: t.Term | None


@dataclass(frozen=True, slots=True)
class Returned:
    """A return as the walk comes to it, where ways have met."""

    facts: Facts
    values: Mapping[t.Var, t.Term]
    result: t.Term | None


@dataclass(frozen=True, slots=True, eq=False)
class CallTransformer:
    """What calls of a function do. ``bits``: the widths of its parameters as compiled, None for those that are no
    integers; ``intervals``: where the symbols of ``outcomes`` lie. No outcomes: no call returns.
    """

    graph: Flowgraph
    bits: Sequence[int | None]
    outcomes: tuple[ReturnWay, ...]
    intervals: SymbolIntervals


TRANSFORMER: Final[Fact[CallTransformer | None]] = Fact("transformer", None)
"""What calls of a function do to variables."""

Walked = Callable[[Flowgraph, "Transformers"], tuple[Sequence[Returned], Meetings, SymbolIntervals] | None]
"""The returns of a function; None where they cannot be told."""


@dataclass(slots=True)
class Transformers:
    """The transformers of the functions of a program, each made when it is first asked for.

    ``graphs``: gives the flowgraph of a function by its name in the IR, with the widths of its parameters, None where
    another may be called, or nothing is known; ``taken``: whether what is taken for granted in a callee may be listed
    in its callers, else it has to hold there; ``callees``: has what was made.
    """

    graphs: Callable[[str], tuple[Flowgraph, Sequence[int | None]] | None]
    walked: Walked
    taken: bool = True
    callees: CalleeSummaries = field(default_factory=CalleeSummaries)

    def __post_init__(self) -> None:
        self.callees.provide(TRANSFORMER, self._made)

    def of(self, name: str) -> CallTransformer | None:
        """The transformer of a function; None where nothing is known, and while it is being made: it calls itself."""
        return self.callees.ask(name, TRANSFORMER)

    def _made(self, name: str) -> CallTransformer | None:
        found = self.graphs(name)
        if found is None or len(found[0].blocks) > MAX_CALLEE_BLOCKS:
            return None
        graph, bits = found
        walked = self.walked(graph, self)
        if walked is None:
            return None
        returns, meetings, intervals = walked
        outcomes = [outcome for one in returns for outcome in _outcomes(graph, one, meetings, intervals)]
        if len(outcomes) > MAX_OUTCOMES:
            merged = (ReturnWay(one.facts, _seen(graph, one.values), one.result) for one in returns)
            outcomes = [_told(one, intervals) for one in merged]
        return CallTransformer(graph, bits, tuple(outcomes), intervals) if len(outcomes) <= MAX_OUTCOMES else None


def is_seen(graph: Flowgraph, var: t.Var) -> bool:
    """Whether callers see an integer variable: it is a global, or what a pointer points to."""
    info = graph.variables.get(var)
    return info is not None and info.kind in (Kind.GLOBAL, Kind.POINTEE) and not info.pointer_part


def _seen(graph: Flowgraph, values: Mapping[t.Var, t.Term]) -> dict[t.Var, t.Term]:
    return {var: value for var, value in values.items() if value is not var and is_seen(graph, var)}


def _outcomes(graph: Flowgraph, returned: Returned, meetings: Meetings, intervals: SymbolIntervals) -> list[ReturnWay]:
    seen = _seen(graph, returned.values)
    variables = list(seen)
    terms = [*seen.values(), *([returned.result] if returned.result is not None else [])]
    found = []
    for way in ways(terms, returned.facts, meetings, intervals):
        values = dict(zip(variables, way.terms, strict=False))
        result = way.terms[-1] if returned.result is not None else None
        found.append(_told(ReturnWay(way.facts, values, result), intervals))
    return found


def _told(outcome: ReturnWay, intervals: SymbolIntervals) -> ReturnWay:
    """Without what is read from memory, which callers know by other names."""
    facts = outcome.facts
    most = {linear: number for linear, number in facts.most.items() if not _reads(linear)}
    unequal = tuple(term for term in facts.unequal if not _reads(term))
    values = {v: intervals.symbol(v.type) if _reads(term) else term for v, term in outcome.values.items()}
    result = None if outcome.result is not None and _reads(outcome.result) else outcome.result
    return ReturnWay(Facts(most, unequal, facts.possible), values, result)


def _reads(term: t.Term) -> bool:
    return any(isinstance(node, t.Read) for node in t.walk_inside(term))


# -- at a call --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Behind:
    """The caller behind a call that went one way: what holds, and what variables are."""

    facts: Facts
    values: Mapping[t.Var, t.Term]


@dataclass(frozen=True, slots=True)
class At:
    """A place in a caller: variables have ``values``, and ``facts`` hold."""

    graph: Flowgraph
    values: Mapping[t.Var, t.Term]
    facts: Facts
    intervals: SymbolIntervals


def behind(transformer: CallTransformer, call: Call, at: At, unknown: Callable[[t.Var], t.Term]) -> list[Behind] | None:
    """The ways behind a call; none where it does not return; None where nothing is known. ``unknown`` gives a value for
    a variable of which nothing is.
    """
    try:
        return _AtCall(transformer, call, at).ways(at.facts, unknown)
    except t.TermTooLarge:
        return None


def told_at(transformer: CallTransformer, call: Call, graph: Flowgraph, *, listed: bool) -> list[str] | None:
    """What is taken for granted of pointers where a transformer is used at a call; None where that is not so, or must
    not be taken for granted, since it is not ``listed``.
    """
    granted = transformer.graph.assumptions
    if granted and not listed and not Handed(graph, transformer.graph, transformer.bits).apart(call):
        return None
    if _overlap(transformer, call, graph):
        return None
    shown = transformer.graph.source_name
    return [f"where {shown} is called, {text}" for text in granted] if listed else []


def _overlap(transformer: CallTransformer, call: Call, graph: Flowgraph) -> bool:
    """Whether two pointers that a call is given surely lead into one object, or one into a global that the callee uses
    as a variable.
    """
    callee = transformer.graph
    given = [
        value.object.value
        for parameter, value in zip(callee.parameters, call.arguments, strict=False)
        if parameter.object is not None and isinstance(value, Pointer) and isinstance(value.object, t.Const)
    ]
    numbers = [number for number in given if number]
    held = (info.object for info in callee.variables.values() if info.object is not None)
    used = {callee.objects[number].symbol for number in held if number in callee.objects}
    symbols = {graph.objects[number].symbol for number in numbers if number in graph.objects} - {""}
    return len(set(numbers)) < len(numbers) or not symbols.isdisjoint(used)


class _AtCall:
    """One call: the values of the callee over those of the caller."""

    def __init__(self, transformer: CallTransformer, call: Call, at: At) -> None:
        self.transformer, self.call, self.values, self.intervals = transformer, call, at.values, at.intervals
        self.handed = Handed(at.graph, transformer.graph, transformer.bits)
        self.found: dict[t.Var, t.Term] = {}
        self.unknowns: dict[t.Var, t.Term] = {}
        self.own: dict[t.Var, t.Var] = {}
        """By variables of the caller, those of the callee for the same memory."""
        for var in transformer.graph.variables:
            if is_seen(transformer.graph, var):
                same = self.handed.value(call, var)
                if isinstance(same, t.Var) and same.type == var.type:
                    self.own[same] = var

    def ways(self, facts: Facts, unknown: Callable[[t.Var], t.Term]) -> list[Behind]:
        """See :func:`behind`."""
        found = []
        for outcome in self.transformer.outcomes:
            here = self._facts(outcome.facts, facts)
            if here is None:
                continue
            new: dict[t.Var, t.Term] = {}
            for var in self.call.changes:
                if var not in self.own:
                    new[var] = self._lacking(var, unknown)
                elif self.own[var] in outcome.values:
                    new[var] = self._here(outcome.values[self.own[var]])
            target = self.call.target
            if target is not None:
                if outcome.result is None or self.call.target_object is not None:
                    new[target] = self._lacking(target, unknown)
                else:
                    new[target] = t.wrap(self._here(outcome.result), target.type)
            owner = self.call.target_object
            if owner is not None:
                new[owner] = self._lacking(owner, unknown)
            found.append(Behind(here, new))
        return found

    def _lacking(self, var: t.Var, unknown: Callable[[t.Var], t.Term]) -> t.Term:
        """What stands for a variable of which nothing is known behind the call, the same on each way."""
        if var not in self.unknowns:
            self.unknowns[var] = unknown(var)
        return self.unknowns[var]

    def _facts(self, told: Facts, facts: Facts) -> Facts | None:
        """The facts with those of a way of the callee; None where they contradict each other."""
        found = facts
        for linear, most in list(told.most.items())[:MAX_TOLD_FACTS]:
            after = found.at_most(self._here(linear) - most, self.intervals)
            if after is None:
                return None
            found = after
        for term in told.unequal[:MAX_TOLD_FACTS]:
            claim = t.not_zero(self._here(term))
            after = found.under(claim, self.intervals) if isinstance(claim, t.Compare) else found
            if after is None:
                return None
            found = after
        return found

    def _here(self, term: t.Term) -> t.Term:
        """A term of the callee over the values in front of the call. Raises :class:`loopless.terms.TermTooLarge`."""
        for var in term.variables:
            if var not in self.found:
                self.found[var] = self._value(var)
        return self.intervals.unwrapped(t.substitute(term, self.found), Facts())

    def _value(self, var: t.Var) -> t.Term:
        callee = self.transformer.intervals
        if var in callee.symbols:
            return self.intervals.symbol(var.type, callee.known.get(var))
        value = self.handed.value(self.call, var)
        return self.intervals.symbol(var.type) if value is None else t.substitute(value, self.values)

"""From which states a loop never ends, and whether the function enters it in one of them.

A summary speaks of all states of a loop's header, and so does a recurrent set. What is told of a function is about
those in which it enters the loop: states are left out in which it surely does not, and where a path from the function's
beginning leads to one, the inputs are told that take it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from loopless import terms as t
from loopless.bounds import Claim
from loopless.bounds.claims.joint import always
from loopless.bounds.methods.nontermination import Recurrent, has_point, recurrent
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.limits.queries import SHORTENING_OPERATIONS
from loopless.logic import feasible, simplify
from loopless.paths.context import entry_facts
from loopless.queries.functions import FunctionAnswer, outcomes_of
from loopless.queries.loops.answer import LoopAnswer
from loopless.queries.program import AnalyzedFunction
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.summary.arrivals import Arrivals

_NOT_CHOSEN: Final = ("call", "uninitialised")
"""Kinds of inputs of which nobody knows that they may have a value: what calls return whose bodies are not known."""


@dataclass(frozen=True, slots=True)
class LoopClaims:
    """What is told of one loop: of one entry, of a call, and recurrent sets."""

    entry: Claim
    call: Claim
    recurrent: tuple[Recurrent, ...] = ()


class Entries:
    """The states in which a function enters its loops, of which ``answers`` tell."""

    def __init__(self, function: AnalyzedFunction, graph: Flowgraph | Refused, answer: FunctionAnswer) -> None:
        self._function, self._graph, self._answers = function, graph, answer.loops
        known = answer.summary.inputs if answer.summary is not None else ()
        self._not_chosen = frozenset(one.var for one in known if one.kind in _NOT_CHOSEN)

    def told(self, loop: LoopInfo | None, found: LoopClaims, any_entry: t.Term | None) -> LoopClaims:
        """The same, of those states alone in which the function may enter the loop; whether it does, and with which
        inputs. ``any_entry``: a bound on every entry.
        """
        entry, call, recurs = found.entry, found.call, found.recurrent
        bounded = any_entry is not None or always(call) is not None
        entry = self._where_entered(loop, entry, bounded=bounded)
        if entry.never is t.FALSE and not recurs:
            return replace(found, entry=entry)
        if bounded:
            return LoopClaims(replace(entry, never=t.FALSE), call)  # it ends, whatever it is entered with
        if loop is not None and not isinstance(self._graph, Refused):
            facts = entry_facts(self._graph, loop)
            entry = replace(entry, never=entry.never if _may_hold(entry.never, facts) else t.FALSE)
            recurs = tuple(states for states in recurs if _may_hold(states.condition, facts))
            if call.never is t.FALSE:
                call = self._with_inputs(loop, entry, call, recurs)
        entered = self._may_be_chosen(call.never) or self._may_be_chosen(self._witness(loop, entry, recurs))
        return LoopClaims(replace(entry, entered=entered), call, recurs)

    def _may_be_chosen(self, inputs: t.Condition) -> bool:
        """Whether a call surely has such inputs."""
        return inputs is not t.FALSE and inputs.variables.isdisjoint(self._not_chosen) and has_point(inputs)

    def _witness(self, loop: LoopInfo | None, entry: Claim, recurs: Sequence[Recurrent]) -> t.Condition:
        """Inputs that lead to a recurrent set, where nothing decides whether any lead to where the loop never ends."""
        if loop is None or isinstance(self._graph, Refused) or not undecided(entry.never):
            return t.FALSE
        states = t.disjunction(one.condition for one in recurs if not one.chosen)
        return self._arrivals.inputs_for(loop, states) if states is not t.FALSE else t.FALSE

    def _where_entered(self, loop: LoopInfo | None, entry: Claim, *, bounded: bool) -> Claim:
        """A claim with a bound, which lacks none in states in which no run enters the loop, nor anywhere if every entry
        is ``bounded`` otherwise.
        """
        if entry.upper is None or not entry.has_gap or loop is None or isinstance(self._graph, Refused):
            return entry
        facts = entry_facts(self._graph, loop)
        when = entry.when if _may_hold(~entry.when, facts) else t.TRUE
        gap = t.FALSE if bounded or when is t.TRUE or not _may_hold(entry.gap, facts) else entry.gap
        return replace(entry, when=when, gap=gap)

    def _with_inputs(self, loop: LoopInfo, entry: Claim, call: Claim, recurs: Sequence[Recurrent]) -> Claim:
        """The claim about a call with inputs that lead to where the loop never ends."""
        states = t.disjunction((entry.never, *(one.condition for one in recurs if not one.chosen)))
        never = self._arrivals.inputs_for(loop, states) if states is not t.FALSE else t.FALSE
        if never is t.FALSE or not feasible(never):
            return call
        never = simplify(never, operations=SHORTENING_OPERATIONS)
        return replace(call, never=never, gap=call.gap & ~never)

    @functools.cached_property
    def _arrivals(self) -> Arrivals:
        plain = self._function.graph()
        assert not isinstance(plain, Refused)
        return Arrivals(plain, outcomes_of(self._answers))


def undecided(states: t.Condition) -> bool:
    """Whether nothing decides if there are such states: of what aggregates say."""
    return states is not t.FALSE and not has_point(states)


def recurrent_sets(loop: LoopAnswer, entry: Claim) -> tuple[Recurrent, ...]:
    """The recurrent sets of a loop that is not bounded everywhere, but for those of which the summary tells; and those
    of a loop of which nothing decides whether it ever goes on without end.
    """
    if loop.paths is None or not (entry.upper is None or entry.has_gap or undecided(entry.never)):
        return ()
    found = list(recurrent(loop.paths, loop.summary))
    for states in tuple(found):
        others = [r.condition for r in found if r is not states and (states.chosen or not r.chosen)]
        told = t.disjunction((entry.never, *others))
        if not feasible(states.condition & ~told, solver=False):
            found.remove(states)
    return tuple(found)


def _may_hold(states: t.Condition, facts: t.Condition) -> bool:
    return states is not t.FALSE and feasible(states & facts, solver=False)

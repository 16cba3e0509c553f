"""A coding rule: every loop has a bound (NASA/JPL's rule 2 of ten; what users of bounded model checkers ask for)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from loopless.bounds.joint_claims import always
from loopless.queries.bound_answers import FunctionBound, LoopBound
from loopless.queries.bounds import answer_bounds
from loopless.queries.program import Loop, Program
from loopless.queries.selection import select_loops
from loopless.queries.settings import Settings
from loopless.terms import Condition, Term, disjunction


@dataclass(frozen=True, slots=True)
class RuledLoop:
    """A loop under the rule. ``bound``: the most iterations of one entry, whatever the values there; ``never``: from
    these states at its header it never ends; ``meant``: it is on the list of those that are to run for ever.
    """

    function: FunctionBound
    found: LoopBound
    bound: Term | None
    never: Condition
    meant: bool

    @property
    def kept(self) -> bool:
        """Whether the loop keeps the rule, as far as is known."""
        return self.bound is not None or self.meant


def bounded_loops(
    program: Program, meant: Sequence[str], settings: Settings, until: float | None = None
) -> list[RuledLoop]:
    """The loops of a program under the rule; ``meant``: places of those that are to run for ever.

    Raises:
        UsageError: there is no loop at a place of ``meant``.
    """
    forever: Collection[Loop] = select_loops(program, (), tuple(meant)) if meant else ()
    names = {loop.name for loop in forever}
    functions = [function for function in program.functions if not function.is_stub and function.loops]
    return [
        _ruled(answer, found, meant=found.answer.loop.name in names)
        for answer in answer_bounds(functions, "all", settings, until)
        for found in answer.loops
        if found.answer.loop.inlined_from is None
    ]


def _ruled(answer: FunctionBound, found: LoopBound, *, meant: bool) -> RuledLoop:
    bound = always(found.entry)
    if bound is None:
        bound = found.any_entry if found.any_entry is not None else always(found.call)
    never = disjunction((found.entry.never, *(one.condition for one in found.recurrent if not one.chosen)))
    return RuledLoop(answer, found, bound, never, meant)

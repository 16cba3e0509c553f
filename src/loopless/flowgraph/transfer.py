"""The meaning of statements, once, as a function of a domain.

A walk over a flowgraph follows values from some place on: terms, terms with intervals, or what is known of one block.
The values are the walk's, and so is what becomes of runs that it does not follow. The same for all walks is the order
of evaluation, that a condition holds behind its check, which variables a call changes, and that the assignments of an
edge happen all at once (abstract interpretation: Cousot and Cousot, POPL 1977). A :class:`Domain` is the walk's part.

The judge (``check``) has an interpreter of its own, and asks nothing of this.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Generic, TypeAlias, TypeVar

from loopless import terms as t
from loopless.flowgraph.def_use import defined_by
from loopless.flowgraph.model import (
    Allocate,
    Assign,
    Assume,
    Begin,
    Block,
    Call,
    Check,
    Copy,
    Edge,
    Expire,
    Fill,
    Havoc,
    Load,
    Origin,
    Statement,
    Store,
)
from loopless.source.ir import Loc

_S = TypeVar("_S")

Source: TypeAlias = Havoc | Load | Allocate | Call
"""Statements that give variables values from outside."""

ALLOCATION = "malloc"
"""How the source of an allocated object's number is called."""


class Domain(ABC, Generic[_S]):
    """What differs between walks. A state is where a walk is. A method may change the state that it is given, where it
    returns it: nobody else holds it.
    """

    # -- values -------------------------------------------------------------------------------------------------------

    def wanted(self, target: t.Var) -> bool:  # noqa: ARG002
        """Whether the values of ``target`` matter."""
        return True

    @abstractmethod
    def value(self, state: _S, term: t.Term, target: t.Var) -> t.Term:
        """What ``term`` is in ``state``, where it becomes the value of ``target``."""

    @abstractmethod
    def assigned(self, state: _S, values: Mapping[t.Var, t.Term], loc: Loc | None) -> _S:
        """The state in which variables hold new values, all at once."""

    @abstractmethod
    def fresh(self, state: _S, target: t.Var, origin: Origin, name: str, source: Source) -> _S:
        """The state in which ``target`` holds a value from outside. ``name``: what that comes from, as a function, an
        object, or the construct.
        """

    # -- conditions ---------------------------------------------------------------------------------------------------

    def keeps(self, label: str, statement: Check | Assume) -> bool:  # noqa: ARG002
        """Whether a condition in the block ``label`` matters."""
        return True

    @abstractmethod
    def holds(self, state: _S, label: str, statement: Check | Assume) -> Sequence[_S]:
        """The states behind a check or an assumption, in which its condition holds. A walk that follows ends of runs
        notes here that the run ends elsewhere.
        """

    # -- memory -------------------------------------------------------------------------------------------------------

    def read(self, state: _S, load: Load) -> Mapping[t.Var, t.Term] | str:  # noqa: ARG002
        """What ``load`` gives to its targets; the name of what it reads where that is not known."""
        return "memory"

    def write(self, state: _S, statement: Store | Fill | Copy | Expire) -> Sequence[_S]:  # noqa: ARG002
        """The states behind a statement that changes memory alone."""
        return (state,)

    # -- statements that a walk may know more of ----------------------------------------------------------------------

    def havoc(self, state: _S, statement: Havoc) -> Sequence[_S]:
        """The states behind a value from outside."""
        return (self.fresh(state, statement.target, statement.origin, statement.name, statement),)

    def load(self, state: _S, statement: Load) -> Sequence[_S]:
        """The states behind a load: the targets hold what is read, or some value."""
        targets = defined_by(statement)
        if not any(map(self.wanted, targets)):
            return (state,)
        found = self.read(state, statement)
        if not isinstance(found, str):
            return (self.assigned(state, found, statement.loc),)
        for target in targets:
            state = self.fresh(state, target, Origin.MEMORY, found, statement)
        return (state,)

    def allocate(self, state: _S, statement: Allocate) -> Sequence[_S]:
        """The states behind an allocation: which number the object has, the outside decides."""
        return (self.fresh(state, statement.target, Origin.CALL, ALLOCATION, statement),)

    def call(self, state: _S, statement: Call) -> Sequence[_S]:
        """The states behind a call; none where none returns."""
        return (self.havocked(state, statement),)

    def havocked(self, state: _S, call: Call) -> _S:
        """The state in which all that a call may change holds some value."""
        for target in defined_by(call):
            state = self.fresh(state, target, Origin.CALL, call.callee, call)
        return state


def after(domain: Domain[_S], label: str, statement: Statement, state: _S) -> Sequence[_S]:
    """The states behind a statement of the block ``label``; none where no run goes on."""
    match statement:
        case Assign(target=target, value=value):
            if not domain.wanted(target):
                return (state,)
            return (domain.assigned(state, {target: domain.value(state, value, target)}, statement.loc),)
        case Check() | Assume():
            return domain.holds(state, label, statement) if domain.keeps(label, statement) else (state,)
        case Havoc():
            return domain.havoc(state, statement)
        case Load():
            return domain.load(state, statement)
        case Store() | Fill() | Copy() | Expire():
            return domain.write(state, statement)
        case Allocate():
            return domain.allocate(state, statement)
        case Begin():
            return (state,)  # nothing has a value in there yet, and nothing is read before it is written
        case Call():
            return domain.call(state, statement)


def through(domain: Domain[_S], block: Block, state: _S) -> Sequence[_S]:
    """The states behind the statements of a block, in their order; none where no run gets so far."""
    states: Sequence[_S] = (state,)
    for statement in block.statements:
        states = [end for begin in states for end in after(domain, block.label, statement, begin)]
    return states


def along(domain: Domain[_S], edge: Edge, state: _S) -> _S:
    """The state at the target of an edge that is taken: all values are those before any is assigned."""
    values = {target: domain.value(state, value, target) for target, value in edge.assigns if domain.wanted(target)}
    return domain.assigned(state, values, None) if values else state

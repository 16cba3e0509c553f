"""What steps do to memory: statements over the state at a step's source, and what ways that meet have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from loopless import terms as t
from loopless.flowgraph.model import Allocate, Call, Copy, Fill, Load, Pointer, Statement, Store
from loopless.transition.relation import Access


def over(statement: Statement, values: Mapping[t.Var, t.Term]) -> Statement:
    """The statement with these values in it."""

    def at(pointer: Pointer) -> Pointer:
        return Pointer(t.substitute(pointer.object, values), t.substitute(pointer.offset, values))

    match statement:
        case Load(address=address):
            return replace(statement, address=at(address))
        case Store(address=address, value=value, value_object=owner):
            held = t.substitute(owner, values) if owner is not None else None
            return replace(statement, address=at(address), value=t.substitute(value, values), value_object=held)
        case Fill(address=address, byte=byte, length=length):
            return replace(
                statement, address=at(address), byte=t.substitute(byte, values), length=t.substitute(length, values)
            )
        case Copy(target=target, source=source, length=length):
            return replace(statement, target=at(target), source=at(source), length=t.substitute(length, values))
        case Allocate(size=size):
            return replace(statement, size=t.substitute(size, values))
        case Call(arguments=arguments):
            given = tuple(at(one) if isinstance(one, Pointer) else t.substitute(one, values) for one in arguments)
            return replace(statement, arguments=given)
        case _:
            return statement


def giving(statement: Statement, names: Mapping[t.Var, t.Term]) -> Statement:
    """The statement with these names of what it reads or returns. What else a call changes is not followed."""

    def named(var: t.Var) -> t.Var:
        found = names.get(var, var)
        return found if isinstance(found, t.Var) else var

    match statement:
        case Allocate(target=target):
            return replace(statement, target=named(target))
        case Load(target=target, target_object=owner):
            return replace(statement, target=named(target), target_object=named(owner) if owner else None)
        case Call(target=result, target_object=owner):
            value = named(result) if result else None
            return replace(statement, target=value, target_object=named(owner) if owner else None, changes=())
        case _:
            return statement


def together(every: Sequence[Sequence[Access]]) -> tuple[Access, ...]:
    """What states that meet have all done to memory, up to where they differ."""
    common = 0
    while all(len(one) > common and one[common] == every[0][common] for one in every):
        common += 1
    differ = any(len(one) > common for one in every)
    return (*every[0][:common], *((None,) if differ else ()))

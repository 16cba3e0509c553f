"""Substitution: replacing variables by terms, simultaneously, with simplification on the way up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import overload

from loopless.limits.terms import REMEMBERED_BINDINGS, REMEMBERED_NODES
from loopless.terms import aggregates, build, conditions, functions
from loopless.terms.nodes import (
    ONE,
    OPENED,
    STREAM,
    TRUE,
    ZERO,
    Aggregate,
    And,
    Compare,
    Condition,
    Ite,
    Node,
    Op,
    Or,
    Read,
    Sum,
    Term,
    Var,
    Wrap,
)
from loopless.terms.types import IntType


@overload
def substitute(node: Term, bindings: Mapping[Var, Term]) -> Term: ...
@overload
def substitute(node: Condition, bindings: Mapping[Var, Term]) -> Condition: ...
def substitute(node: Node, bindings: Mapping[Var, Term]) -> Node:
    """``node`` with each variable of ``bindings`` replaced by its term, all at once.

    Raises :class:`loopless.terms.build.TermTooLarge` where a product grows beyond its limit.
    """
    if isinstance(node, Var):
        return bindings.get(node, node)
    bindings = {variable: bindings[variable] for variable in node.variables if variable in bindings}
    if not bindings:
        return node
    done = _known(bindings)
    found = done.get(node)
    if found is not None:
        return found
    bound = frozenset(bindings)

    def at_once(current: Node) -> Node | None:
        if current.variables.isdisjoint(bound):
            return current
        return bindings.get(current) if isinstance(current, Var) else None

    def inside(part: Node, opened: Mapping[Var, Term]) -> Node:
        return substituted(part, {**bindings, **opened})

    return _worked_out(node, done, at_once, inside)


def _worked_out(
    node: Node,
    done: dict[Node, Node],
    at_once: Callable[[Node], Node | None],
    inside: Callable[[Node, Mapping[Var, Term]], Node],
) -> Node:
    """What ``node`` becomes where its parts become others, simplified on the way up. ``at_once``: what a node becomes
    without a look into it, None where that is needed. ``inside``: what becomes of a part of an aggregate, where the
    bound variables get other names.
    """
    stack: list[Node] = [node]
    while stack:
        current = stack[-1]
        if current in done:
            stack.pop()
            continue
        found = at_once(current)
        if found is not None:
            done[current] = found
            continue
        below = current.outside if isinstance(current, Aggregate) else current.children
        missing = [child for child in below if child not in done]
        if missing:
            stack += missing
        else:
            done[current] = _rebuild(current, done, inside)
    return done[node]


def substituted(node: Node, bindings: Mapping[Var, Term]) -> Node:
    """:func:`substitute` in a term or a condition."""
    if isinstance(node, Term):
        return substitute(node, bindings)
    return substitute(_condition(node), bindings)


def aggregate(kind: str, outside: tuple[Term, ...], bound: tuple[Var, ...], inside: tuple[Node, ...]) -> Term:
    """What ``kind`` makes of the positions of a sequence, see :class:`loopless.terms.nodes.Aggregate`. The variables
    ``bound`` are bound in what is ``inside``, whatever they are called.
    """
    simple = aggregates.simplified(kind, outside, bound, inside)
    if simple is not None:
        return simple
    names = aggregates.bound_names(bound, inside)
    if names != bound:
        renaming: dict[Var, Term] = dict(zip(bound, names, strict=True))
        inside = tuple(substituted(part, renaming) for part in inside)
    return Aggregate(kind, outside, names, inside)


_recent: dict[frozenset[tuple[Var, Term]], dict[Node, Node]] = {}


def _known(bindings: Mapping[Var, Term]) -> dict[Node, Node]:
    """What nodes become under the bindings, as far as that was worked out lately: the same are asked for often."""
    key = frozenset(bindings.items())
    found = _recent.get(key)
    if found is None or len(found) > REMEMBERED_NODES:
        if len(_recent) >= REMEMBERED_BINDINGS:
            del _recent[next(iter(_recent))]
        found = _recent[key] = {}
    return found


@overload
def transform(node: Term, leaf: Callable[[Var], Term]) -> Term: ...
@overload
def transform(node: Condition, leaf: Callable[[Var], Term]) -> Condition: ...
@overload
def transform(node: Node, leaf: Callable[[Var], Term]) -> Node: ...
def transform(node: Node, leaf: Callable[[Var], Term]) -> Node:
    """Rebuild ``node`` bottom-up, simplified, with ``leaf`` applied to each variable that is not bound in it."""

    def inside(part: Node, opened: Mapping[Var, Term]) -> Node:
        return transform(part, lambda variable: opened.get(variable) or leaf(variable))

    return _worked_out(node, {}, lambda part: leaf(part) if isinstance(part, Var) else None, inside)


@overload
def replace_terms(node: Term, replaced: Mapping[Term, Term]) -> Term: ...
@overload
def replace_terms(node: Condition, replaced: Mapping[Term, Term]) -> Condition: ...
@overload
def replace_terms(node: Term | Condition, replaced: Mapping[Term, Term]) -> Term | Condition: ...
@overload
def replace_terms(node: Node, replaced: Mapping[Term, Term]) -> Node: ...
def replace_terms(node: Node, replaced: Mapping[Term, Term]) -> Node:
    """``node`` with whole subterms replaced, and simplified on the way up. A replacement is not looked into again."""

    def at_once(part: Node) -> Node | None:
        found = replaced.get(part) if isinstance(part, Term) else None
        return part if found is None and isinstance(part, Var) else found

    def inside(part: Node, opened: Mapping[Var, Term]) -> Node:
        return replace_terms(substituted(part, opened), replaced)

    return _worked_out(node, {}, at_once, inside)


@overload
def renamed_arrays(node: Term, names: Mapping[str, str]) -> Term: ...
@overload
def renamed_arrays(node: Condition, names: Mapping[str, str]) -> Condition: ...
@overload
def renamed_arrays(node: Node, names: Mapping[str, str]) -> Node: ...
def renamed_arrays(node: Node, names: Mapping[str, str]) -> Node:
    """``node`` where what it reads of the arrays ``names`` is read of what they are called there."""

    def at_once(part: Node) -> Node | None:
        if isinstance(part, Read) and part.array in names:
            return build.read(names[part.array], renamed_arrays(part.offset, names), part.type)
        return part if isinstance(part, Var) else None

    def inside(part: Node, opened: Mapping[Var, Term]) -> Node:
        return renamed_arrays(substituted(part, opened), names)

    return _worked_out(node, {}, at_once, inside)


Reads = Callable[[str, Term, IntType, Condition], Term]
"""What an element is, of an object at a byte offset by a type, where a condition holds."""

_NO_VALUES: Mapping[Var, Term] = {}


def with_reads(node: Node, of: Callable[[str, Term, IntType], Term]) -> Node:
    """``node`` with each element that it reads, of an object at a byte offset by a type, replaced by what ``of`` gives
    for it. Values of streams stay as they are.
    """
    return with_reads_where(node, lambda array, offset, read_as, _: of(array, offset, read_as))


def with_reads_where(node: Node, of: Reads, values: Mapping[Var, Term] = _NO_VALUES, given: Condition = TRUE) -> Node:
    """``node`` with each element that it reads replaced by what ``of`` gives for it, and each variable of ``values`` by
    its term, all at once: what is put there is not looked into again.

    ``of`` is told what is known where an element is read: ``given``, and where the positions of aggregates around it
    lie. Values of streams stay as they are. Raises :class:`loopless.terms.build.TermTooLarge`.
    """

    def at_once(part: Node) -> Node | None:
        if isinstance(part, Read):
            offset = _term(with_reads_where(part.offset, of, values, given))
            stream = part.array.endswith(STREAM)
            return build.read(part.array, offset, part.type) if stream else of(part.array, offset, part.type, given)
        if isinstance(part, Aggregate):
            return _aggregate_with_reads(part, of, values, given)
        return values.get(part, part) if isinstance(part, Var) else None

    return _worked_out(node, {}, at_once, lambda part, _: part)


def _aggregate_with_reads(node: Aggregate, of: Reads, values: Mapping[Var, Term], given: Condition) -> Term:
    outside = tuple(_term(with_reads_where(part, of, values, given)) for part in node.outside)
    names, renaming = _opened(node)
    given = conditions.conjunction((given, conditions.greater_equal(names[0], ZERO)))
    if node.kind != "earliest":
        given = conditions.conjunction((given, conditions.less(names[0], outside[0])))
    inside = (with_reads_where(substituted(part, renaming), of, values, given) for part in node.inside)
    return aggregate(node.kind, outside, names, tuple(inside))


def _rebuild(node: Node, done: dict[Node, Node], inside: Callable[[Node, Mapping[Var, Term]], Node]) -> Node:
    """The node with what its operands became; see :func:`_worked_out`."""
    if isinstance(node, Aggregate):
        return _rebuild_aggregate(node, done, inside)
    children = node.children
    if all(done[child] is child for child in children):
        return node
    match node:
        case Sum():
            return _rebuild_sum(node, done)
        case Op():
            args = tuple(_term(done[arg]) for arg in node.args)
            return functions.operation(node.op, args)
        case Wrap():
            return build.wrap(_term(done[node.arg]), node.type)
        case Ite():
            return build.ite(_condition(done[node.condition]), _term(done[node.then]), _term(done[node.otherwise]))
        case Read():
            return build.read(node.array, _term(done[node.offset]), node.type)
        case Compare():
            relation = {
                "le": conditions.at_most_zero,
                "eq": conditions.equals_zero,
                "ne": conditions.not_zero,
            }[node.relation]
            return relation(_term(done[node.term]))
        case And():
            return conditions.conjunction(_condition(done[arg]) for arg in node.args)
        case Or():
            return conditions.disjunction(_condition(done[arg]) for arg in node.args)
        case _:
            raise AssertionError(type(node))


def _rebuild_aggregate(
    node: Aggregate, done: dict[Node, Node], inside: Callable[[Node, Mapping[Var, Term]], Node]
) -> Term:
    """The bound variables get names that nothing has while what is inside is worked on: what is put there may have
    aggregates of its own, which changes how those around them are named.
    """
    names, renaming = _opened(node)
    outside = tuple(_term(done[part]) for part in node.outside)
    return aggregate(node.kind, outside, names, tuple(inside(part, renaming) for part in node.inside))


def _opened(node: Aggregate) -> tuple[tuple[Var, ...], dict[Var, Term]]:
    """The names of the bound variables while what is inside is worked on, and the renaming to them."""
    names = tuple(Var(OPENED + variable.name, variable.type) for variable in node.bound)
    return names, dict(zip(node.bound, names, strict=True))


def _rebuild_sum(node: Sum, done: dict[Node, Node]) -> Term:
    parts: list[Term] = []
    for monomial, coefficient in node.items:
        factor: Term = ONE
        for atom, exponent in monomial:
            factor = build.mul(factor, build.product([_term(done[atom])] * exponent))
        parts.append(build.scale(factor, coefficient))
    return build.add(*parts)


def _term(node: Node) -> Term:
    assert isinstance(node, Term)
    return node


def _condition(node: Node) -> Condition:
    assert isinstance(node, Condition)
    return node

"""Substitution: replacing variables by terms, simultaneously, with simplification on the way up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import overload

from loopless.terms import build, conditions, functions
from loopless.terms.nodes import (
    ONE,
    And,
    Compare,
    Condition,
    Const,
    Ite,
    Node,
    Op,
    Or,
    Read,
    Sum,
    Term,
    Truth,
    Var,
    Wrap,
    walk,
)


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

    def leaf(variable: Var) -> Term:
        return bindings.get(variable, variable)

    stack: list[Node] = [node]
    while stack:
        current = stack[-1]
        if current in done:
            stack.pop()
            continue
        if current.variables.isdisjoint(bound):
            done[current] = current
            continue
        missing = [child for child in current.children if child not in done]
        if missing:
            stack += missing
        else:
            done[current] = _rebuild(current, done, leaf)
    return done[node]


_MOST_BINDINGS = 1024
_MOST_NODES = 20_000
_recent: dict[frozenset[tuple[Var, Term]], dict[Node, Node]] = {}


def _known(bindings: Mapping[Var, Term]) -> dict[Node, Node]:
    """What nodes become under the bindings, as far as that was worked out lately: the same are asked for often."""
    key = frozenset(bindings.items())
    found = _recent.get(key)
    if found is None or len(found) > _MOST_NODES:
        if len(_recent) >= _MOST_BINDINGS:
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
    """Rebuild ``node`` bottom-up, simplified, with ``leaf`` applied to each variable."""
    done: dict[Node, Node] = {}
    for current in walk(node):
        done[current] = _rebuild(current, done, leaf)
    return done[node]


@overload
def replace_terms(node: Term, replaced: Mapping[Term, Term]) -> Term: ...
@overload
def replace_terms(node: Condition, replaced: Mapping[Term, Term]) -> Condition: ...
def replace_terms(node: Term | Condition, replaced: Mapping[Term, Term]) -> Node:
    """``node`` with whole subterms replaced, and simplified on the way up. A replacement is not looked into again."""
    done: dict[Node, Node] = {}
    for current in walk(node):
        found = replaced.get(current) if isinstance(current, Term) else None
        done[current] = _rebuild(current, done, lambda variable: variable) if found is None else found
    return done[node]


def _rebuild(node: Node, done: dict[Node, Node], leaf: Callable[[Var], Term]) -> Node:
    match node:
        case Var():
            return leaf(node)
        case Const() | Truth():
            return node
        case _:
            pass
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

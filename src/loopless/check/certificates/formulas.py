"""SMT-LIB expressions over the integers as terms and conditions: how certificates write invariants."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Final

from loopless import terms as t
from loopless.errors import UsageError
from loopless.patterns import pattern

_TOKEN: Final = pattern(r"\s*(?:(\()|(\))|\|([^|]*)\||([^\s()|]+))")

_Tree = str | list["_Tree"]
_Bound = Mapping[str, t.Term | t.Condition]

_COMPARISONS: Final[Mapping[str, Callable[[t.Term, t.Term], t.Condition]]] = {
    "=": t.equal,
    "<": t.less,
    "<=": t.less_equal,
    ">": t.greater,
    ">=": t.greater_equal,
    "distinct": t.not_equal,
}


def condition_of(text: str, variables: Mapping[str, t.Var]) -> t.Condition:
    """The condition that ``text`` says; ``variables`` by their symbols. Raises ``UsageError``."""
    found = _Reader(variables).read(_parsed(text), {})
    if not isinstance(found, t.Condition):
        raise UsageError(f"the certificate has a term where a condition belongs: {text}")
    return found


def term_of(text: str, variables: Mapping[str, t.Var]) -> t.Term:
    """The term that ``text`` says. Raises ``UsageError``."""
    found = _Reader(variables).read(_parsed(text), {})
    if not isinstance(found, t.Term):
        raise UsageError(f"the certificate has a condition where a term belongs: {text}")
    return found


def symbols_of(variables: Mapping[t.Var, object]) -> dict[str, t.Var]:
    """The variables by what certificates call them."""
    return {t.symbol(var.name).strip("|"): var for var in variables}


def _parsed(text: str) -> _Tree:
    stack: list[list[_Tree]] = [[]]
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            raise UsageError(f"the certificate has an expression that cannot be read: {text}")
        position = match.end()
        opened, closed, quoted, word = match.groups()
        if opened:
            stack.append([])
        elif closed:
            if len(stack) < 2:
                raise UsageError(f"the certificate has an expression with one ')' too many: {text}")
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(f"|{quoted}" if quoted is not None else word)
    if len(stack) != 1 or len(stack[0]) != 1:
        raise UsageError(f"the certificate has an expression that does not end: {text}")
    return stack[0][0]


class _Reader:
    def __init__(self, variables: Mapping[str, t.Var]) -> None:
        self.variables = variables

    def read(self, tree: _Tree, bound: _Bound) -> t.Term | t.Condition:
        """A tree of words as a term or a condition."""
        if isinstance(tree, str):
            return self._word(tree, bound)
        if not tree:
            raise UsageError("the certificate has an expression without an operator")
        head, *rest = tree
        if head == "let":
            if len(rest) != 2 or not all(isinstance(pair, list) and len(pair) == 2 for pair in rest[0]):
                raise UsageError("the certificate has a let that cannot be read")
            inner = {str(pair[0]).strip("|"): self.read(pair[1], bound) for pair in rest[0]}
            return self.read(rest[1], {**bound, **inner})
        if not isinstance(head, str):
            raise UsageError("the certificate applies what is no operator")
        return self._applied(head, [self.read(part, bound) for part in rest])

    def _word(self, word: str, bound: _Bound) -> t.Term | t.Condition:
        if re.fullmatch(r"\d+", word):
            return t.const(int(word))
        if word in ("true", "false"):
            return t.TRUE if word == "true" else t.FALSE
        name = word.removeprefix("|")
        if name in bound:
            return bound[name]
        if name not in self.variables:
            raise UsageError(f"the certificate speaks of {name}, which the program does not have")
        return self.variables[name]

    def _applied(self, head: str, parts: list[t.Term | t.Condition]) -> t.Term | t.Condition:
        conditions = [part for part in parts if isinstance(part, t.Condition)]
        terms = [part for part in parts if isinstance(part, t.Term)]
        if head == "ite" and len(parts) == 3 and isinstance(when := parts[0], t.Condition):
            then, otherwise = parts[1:]
            if isinstance(then, t.Term) and isinstance(otherwise, t.Term):
                return t.ite(when, then, otherwise)
            if isinstance(then, t.Condition) and isinstance(otherwise, t.Condition):
                return when & then | ~when & otherwise
        if len(conditions) == len(parts):
            return _of_conditions(head, conditions)
        if len(terms) == len(parts):
            return _of_terms(head, terms)
        raise UsageError(f"the certificate mixes terms and conditions under {head}")


def _of_conditions(head: str, parts: list[t.Condition]) -> t.Condition:
    match head, len(parts):
        case "and", _:
            return t.conjunction(parts)
        case "or", _:
            return t.disjunction(parts)
        case "not", 1:
            return ~parts[0]
        case "=>", 2:
            return t.implies(parts[0], parts[1])
        case _:
            raise UsageError(f"the certificate has an operator of conditions that is not known: {head}")


def _of_terms(head: str, parts: list[t.Term]) -> t.Term | t.Condition:
    if head in _COMPARISONS and len(parts) == 2:
        return _COMPARISONS[head](parts[0], parts[1])
    match head, len(parts):
        case "+", _:
            return t.add(*parts)
        case "-", 1:
            return parts[0] * -1
        case "-", _:
            return reduce(t.sub, parts)
        case "*", _:
            return reduce(t.mul, parts)
        case "div", 2:
            return parts[0] // parts[1]
        case "mod", 2:
            return _remainder(parts[0], parts[1])
        case _:
            raise UsageError(f"the certificate has an operator of terms that is not known: {head}")


def _remainder(dividend: t.Term, divisor: t.Term) -> t.Term:
    """A remainder; by a power of two it is what unsigned arithmetic of the program comes to, and written as that: then
    terms that are equal as polynomials modulo the power are the same term.
    """
    power = divisor.value if isinstance(divisor, t.Const) else 0
    if power > 1 and not power & (power - 1):
        return t.wrap(dividend, t.IntType(power.bit_length() - 1, signed=False))
    return dividend % divisor

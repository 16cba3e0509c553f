"""Terms and conditions in SMT-LIB 2, theory of integers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from loopless.limits.terms import MAX_PLAIN_LENGTH, MAX_SHARED_NODES
from loopless.patterns import pattern
from loopless.terms.build import from_polynomial, polynomial
from loopless.terms.nodes import (
    ZERO,
    Aggregate,
    And,
    Compare,
    Const,
    Ite,
    Monomial,
    Node,
    Op,
    Or,
    Read,
    Sum,
    Truth,
    Var,
    Wrap,
    walk,
)
from loopless.terms.operators import OPERATORS, RELATIONS
from loopless.terms.sharing import FreshNames, is_plain, number_of_parts, operands, parts_to_name
from loopless.terms.term_ranges import range_of

_PLAIN = pattern(r"[A-Za-z_][A-Za-z_0-9]*")
_TAKEN = frozenset(
    (
        "let",
        "forall",
        "exists",
        "match",
        "par",
        "as",
        "assert",
        "echo",
        "exit",
        "pop",
        "push",
        "reset",
        "true",
        "false",
        "not",
        "and",
        "or",
        "xor",
        "distinct",
        "ite",
        "implies",
        "iff",
        "div",
        "mod",
        "abs",
        "divisible",
        "to_real",
        "to_int",
        "is_int",
        "Int",
        "Bool",
        "Real",
        "Array",
        "select",
        "store",
        "concat",
        "extract",
        "repeat",
        "lambda",
        "_",
        "BINARY",
        "DECIMAL",
        "HEXADECIMAL",
        "NUMERAL",
        "STRING",
        "String",
        "Seq",
        "Set",
        "BitVec",
        "RoundingMode",
    )
)
"""Words of the language and of its theories that a program may use as names."""


class Functions(Protocol):
    """Functions of a document that stand for what the theory of integers has no words for."""

    def read(self, node: Read, offset: str) -> str | None:
        """What is read, at this offset; None where there is no function for it."""

    def aggregate(self, node: Aggregate, outside: Sequence[str]) -> str | None:
        """An aggregate of so many positions, with these starts; None where there is no function for it."""


def smt(node: Node, names: Mapping[Var, str] | None = None, functions: Functions | None = None) -> str | None:
    """``node`` as an SMT-LIB expression over Int; None where the theory has no exact counterpart (bit operations,
    powers, division by variables, the named functions but ``table``; reads and aggregates, but for ``functions``), or
    there are more than :data:`loopless.limits.terms.MAX_SHARED_NODES` different parts.

    ``names``: symbols for variables; the others are called by :func:`symbol`. What a long expression says more than
    once, and what is nested deep, is bound by ``let``: the text is linear in the number of different parts.
    """
    try:
        if is_plain(node):
            try:
                return _Printer(names or {}, MAX_PLAIN_LENGTH, functions).text(node)
            except _TooLong:
                pass
        if number_of_parts(node) > MAX_SHARED_NODES:
            return None
        return _with_lets(node, names or {})
    except _NotExpressible:
        return None


class _NotExpressible(Exception):
    pass


class _TooLong(Exception):
    pass


def _with_lets(node: Node, names: Mapping[Var, str]) -> str:
    """``node`` with ``let`` around it, one for all bindings that need none but those further out."""
    taken = {names.get(variable) or symbol(variable.name) for variable in node.variables}
    fresh = FreshNames(taken)
    printer = _Printer(names)
    while printer.local in taken:
        printer.local += "m"
    bindings: list[list[str]] = []
    levels: dict[Node, int] = {}
    for part in parts_to_name(node, _uses):
        own = walk(part, levels.__contains__)
        level = max((levels[child] + 1 for below in own for child in below.children if child in levels), default=0)
        if level == len(bindings):
            bindings.append([])
        name = fresh(part)
        bindings[level].append(f"({name} {printer.text(part)})")
        printer.bound[part] = name
        levels[part] = level
    lets = "".join(f"(let ({' '.join(row)}) " for row in bindings)
    return f"{lets}{printer.text(node)}{')' * len(bindings)}"


def _uses(node: Node) -> Iterator[tuple[Node, int]]:
    """The operands of a node, and how often each is written for it."""
    match node:
        case Op(op="table"):
            yield node.args[0], len(node.args)
            yield from ((arg, 1) for arg in node.args[1:])
        case Op():
            words = OPERATORS[node.op].smt or "{0} {1}"
            yield from ((arg, words.count("{0}" if place == 0 else "{1}")) for place, arg in enumerate(node.args))
        case _:
            yield from operands(node)


def symbol(name: str) -> str:
    """A name as an SMT-LIB symbol: quoted where needed, with a dot behind it where the name is one of the language."""
    if name in _TAKEN:
        return f"{name}."
    if _PLAIN.fullmatch(name):
        return name
    return "|" + "".join("_" if c in "|\\" or not c.isprintable() else c for c in name) + "|"


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


def _known(found: str | None) -> str:
    if found is None:
        raise _NotExpressible
    return found


class _Printer:
    def __init__(self, names: Mapping[Var, str], most: int | None = None, functions: Functions | None = None) -> None:
        """``most``: how long the text may be, None for any length, as is right where parts are ``bound``."""
        self.names = names
        self.functions = functions
        self.most = most
        self.bound: dict[Node, str] = {}
        self.local = "m"
        """A symbol for what is written twice; no variable may have it."""

    def _checked(self, found: str) -> str:
        """``found``, if it is not too long."""
        if self.most is not None and len(found) > self.most:
            raise _TooLong
        return found

    def text(self, node: Node) -> str:
        return self._checked(self.bound.get(node) or self._written(node))

    def _written(self, node: Node) -> str:
        match node:
            case Const():
                return _number(node.value)
            case Var():
                return self.names.get(node) or symbol(node.name)
            case Sum():
                return self._sum(node)
            case Op():
                return self._operator(node)
            case Wrap():
                return self._wrap(node)
            case Ite():
                return f"(ite {self.text(node.condition)} {self.text(node.then)} {self.text(node.otherwise)})"
            case Truth():
                return "true" if node.value else "false"
            case Compare():
                return self._compare(node)
            case And() | Or():
                word = "and" if isinstance(node, And) else "or"
                return f"({word} {' '.join(self.text(a) for a in node.args)})"
            case Read() if self.functions is not None:
                return _known(self.functions.read(node, self.text(node.offset)))
            case Aggregate() if self.functions is not None:
                return _known(self.functions.aggregate(node, [self.text(part) for part in node.outside]))
            case _:
                raise _NotExpressible

    def _compare(self, node: Compare) -> str:
        """The negative parts of the term on the right: x ≤ y, not x - y ≤ 0."""
        left: dict[Monomial, int] = {}
        right: dict[Monomial, int] = {}
        bound = node.term in self.bound
        for monomial, coefficient in ((((node.term, 1),), 1),) if bound else polynomial(node.term).items():
            (left if coefficient > 0 else right)[monomial] = abs(coefficient)
        relation = RELATIONS[node.relation].smt
        if node.relation == "le" and left.get(()) == 1 and len(left) > 1:
            del left[()]
            relation = "<"
        if node.relation == "le" and not any(left):  # c <= x is x >= c
            relation, left, right = ">=" if relation == "<=" else ">", right, left
        return f"({relation} {self.text(from_polynomial(left))} {self.text(from_polynomial(right))})"

    def _sum(self, node: Sum) -> str:
        plus = [self._monomial(m, c) for m, c in node.items if c > 0]
        minus = [self._monomial(m, -c) for m, c in node.items if c < 0]
        first = f"(+ {' '.join(plus)})" if len(plus) > 1 else "".join(plus)
        if not minus:
            return first
        if plus:
            return f"(- {first} {' '.join(minus)})"
        rest = f"(+ {' '.join(minus)})" if len(minus) > 1 else minus[0]
        return f"(- {rest})"

    def _monomial(self, monomial: Monomial, coefficient: int) -> str:
        factors = [] if coefficient == 1 and monomial else [_number(coefficient)]
        for atom, exponent in monomial:
            factors.extend([self.text(atom)] * exponent)
        return factors[0] if len(factors) == 1 else f"(* {' '.join(factors)})"

    def _operator(self, node: Op) -> str:
        if node.op == "table":
            return self._table(node)
        operator = OPERATORS[node.op]
        if operator.smt is None:
            raise _NotExpressible
        if operator.domain != "all":
            divisor = node.args[-1]
            least = range_of(divisor)[0]
            if divisor is ZERO or least is None or least < 0:  # by 0 nothing is divided: there a term has no value
                raise _NotExpressible
        return self._nested(operator.smt, [self.text(arg) for arg in node.args])

    def _nested(self, words: str, shown: list[str]) -> str:
        """An operator of two operands, applied to the first ones, then to that and the next one."""
        whole = shown[0]
        for other in shown[1:]:
            if self.most is None and whole is not shown[0]:
                name = self.local
                whole = f"(let (({name} {whole})) {words.format(name, other)})"
            else:
                whole = self._checked(words.format(whole, other))
        return whole

    def _table(self, node: Op) -> str:
        """A choice by halves, as deep as the logarithm of the table's length."""
        index = self.text(node.args[0])
        entries = [self.text(arg) for arg in node.args[1:]]

        def choose(low: int, high: int) -> str:
            if len(set(entries[low:high])) == 1:
                return entries[low]
            middle = (low + high) // 2
            return self._checked(f"(ite (< {index} {middle}) {choose(low, middle)} {choose(middle, high)})")

        return choose(0, len(entries))

    def _wrap(self, node: Wrap) -> str:
        arg = self.text(node.arg)
        if node.type.width is None:
            return arg
        modulus = 1 << node.type.width
        if not node.type.signed:
            return f"(mod {arg} {modulus})"
        half = modulus // 2
        return f"(- (mod (+ {arg} {half}) {modulus}) {half})"

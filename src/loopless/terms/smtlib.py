"""Terms and conditions in SMT-LIB 2, theory of integers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from loopless.terms.build import from_polynomial, polynomial
from loopless.terms.nodes import (
    NAMED_FUNCTIONS,
    And,
    Compare,
    Const,
    Ite,
    Monomial,
    Node,
    Op,
    Or,
    Sum,
    Truth,
    Var,
    Wrap,
)

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_TAKEN = frozenset((
    "let", "forall", "exists", "match", "par", "as", "assert", "echo", "exit", "pop", "push", "reset", "true",
    "false", "not", "and", "or", "xor", "distinct", "ite", "implies", "iff", "div", "mod", "abs", "divisible",
    "to_real", "to_int", "is_int", "Int", "Bool", "Real", "Array", "select", "store", "concat", "extract",
    "repeat", "lambda", "_", "BINARY", "DECIMAL", "HEXADECIMAL", "NUMERAL", "STRING", "String", "Seq", "Set",
    "BitVec", "RoundingMode",
))  # fmt: skip
"""Words of the language and of its theories that a program may use as names."""

MAX_NODES: Final = 20_000
"""Longer expressions have no text: one that shares much is exponentially longer written out."""


def smt(node: Node, names: Mapping[Var, str] | None = None) -> str | None:
    """``node`` as an SMT-LIB expression over Int; None where the theory has no exact counterpart (bit operations,
    powers, array reads, division by variables, the named functions but ``table``), or the text would
    be longer than anyone can use.

    ``names``: symbols for variables; the others are called by :func:`symbol`.
    """
    try:
        return _Printer(names or {}).text(node)
    except _NotExpressible:
        return None


class _NotExpressible(Exception):
    pass


def symbol(name: str) -> str:
    """A name as an SMT-LIB symbol: quoted where needed, with a dot behind it where the name is one of the language."""
    if name in _TAKEN:
        return f"{name}."
    if _PLAIN.fullmatch(name):
        return name
    return "|" + "".join("_" if c in "|\\" or not c.isprintable() else c for c in name) + "|"


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


class _Printer:
    def __init__(self, names: Mapping[Var, str]) -> None:
        self.names = names
        self.left = MAX_NODES

    def text(self, node: Node) -> str:
        self.left -= 1
        if self.left < 0:
            raise _NotExpressible
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
            case _:
                raise _NotExpressible

    def _compare(self, node: Compare) -> str:
        """The negative parts of the term on the right: x ≤ y, not x - y ≤ 0."""
        left: dict[Monomial, int] = {}
        right: dict[Monomial, int] = {}
        for monomial, coefficient in polynomial(node.term).items():
            (left if coefficient > 0 else right)[monomial] = abs(coefficient)
        relation = {"le": "<=", "eq": "=", "ne": "distinct"}[node.relation]
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
        if node.op in NAMED_FUNCTIONS:
            raise _NotExpressible
        shown = [self.text(arg) for arg in node.args]
        if node.op in ("min", "max"):
            return self._extreme("<=" if node.op == "min" else ">=", shown)
        a, b = shown
        divisor = node.args[1]
        if not (isinstance(divisor, Const) and divisor.value > 0):
            raise _NotExpressible
        match node.op:
            case "floor_div":
                return f"(div {a} {b})"
            case "mod":
                return f"(mod {a} {b})"
            case "trunc_div":
                return f"(ite (>= {a} 0) (div {a} {b}) (- (div (- {a}) {b})))"
            case "trunc_rem":
                return f"(ite (>= {a} 0) (mod {a} {b}) (- (mod (- {a}) {b})))"
            case _:
                raise _NotExpressible

    def _extreme(self, before: str, shown: list[str]) -> str:
        whole = shown[0]
        for other in shown[1:]:
            self.left -= whole.count(" ")  # it is written twice
            if self.left < 0:
                raise _NotExpressible
            whole = f"(ite ({before} {whole} {other}) {whole} {other})"
        return whole

    def _table(self, node: Op) -> str:
        """A choice by halves, as deep as the logarithm of the table's length."""
        index = self.text(node.args[0])
        entries = [self.text(arg) for arg in node.args[1:]]

        def choose(low: int, high: int) -> str:
            if len(set(entries[low:high])) == 1:
                return entries[low]
            self.left -= index.count(" ") + 1
            if self.left < 0:
                raise _NotExpressible
            middle = (low + high) // 2
            return f"(ite (< {index} {middle}) {choose(low, middle)} {choose(middle, high)})"

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

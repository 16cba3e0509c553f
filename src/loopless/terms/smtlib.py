"""Terms and conditions in SMT-LIB 2, theory of integers."""

from __future__ import annotations

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

_RELATIONS = {"le": "<=", "eq": "=", "ne": "distinct"}


def smt(node: Node) -> str | None:
    """``node`` as an SMT-LIB expression over Int; None where the theory has no exact counterpart (bit operations,
    powers, array reads, ``first_in_range`` and ``floor_sum``, which are recursive).
    """
    try:
        return _print(node)
    except _NotExpressible:
        return None


class _NotExpressible(Exception):
    pass


def symbol(name: str) -> str:
    """A name as an SMT-LIB symbol, quoted where needed."""
    return name if name.replace("_", "a").isalnum() and not name[0].isdigit() else f"|{name}|"


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


def _print(node: Node) -> str:
    match node:
        case Const():
            return _number(node.value)
        case Var():
            return symbol(node.name)
        case Sum():
            parts = [_monomial(m, c) for m, c in node.items]
            return parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"
        case Op():
            return _operator(node)
        case Wrap():
            return _wrap(node)
        case Ite():
            return f"(ite {_print(node.condition)} {_print(node.then)} {_print(node.otherwise)})"
        case Truth():
            return "true" if node.value else "false"
        case Compare():
            return f"({_RELATIONS[node.relation]} {_print(node.term)} 0)"
        case And() | Or():
            return f"({'and' if isinstance(node, And) else 'or'} {' '.join(_print(a) for a in node.args)})"
        case _:
            raise _NotExpressible


def _monomial(monomial: Monomial, coefficient: int) -> str:
    factors = [] if coefficient == 1 and monomial else [_number(coefficient)]
    for atom, exponent in monomial:
        factors.extend([_print(atom)] * exponent)
    return factors[0] if len(factors) == 1 else f"(* {' '.join(factors)})"


def _operator(node: Op) -> str:
    if node.op in ("min", "max"):
        shown = _print(node.args[0])
        for arg in node.args[1:]:
            other = _print(arg)
            shown = f"(ite ({'<=' if node.op == 'min' else '>='} {shown} {other}) {shown} {other})"
        return shown
    if node.op == "table":
        return _table(node)
    if node.op in NAMED_FUNCTIONS:
        raise _NotExpressible
    a, b = (_print(arg) for arg in node.args)
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


def _table(node: Op) -> str:
    """A choice by halves, as deep as the logarithm of the table's length."""
    index = _print(node.args[0])
    entries = [_print(arg) for arg in node.args[1:]]

    def choose(low: int, high: int) -> str:
        if len(set(entries[low:high])) == 1:
            return entries[low]
        middle = (low + high) // 2
        return f"(ite (< {index} {middle}) {choose(low, middle)} {choose(middle, high)})"

    return choose(0, len(entries))


def _wrap(node: Wrap) -> str:
    arg = _print(node.arg)
    if node.type.width is None:
        return arg
    modulus = 1 << node.type.width
    if not node.type.signed:
        return f"(mod {arg} {modulus})"
    half = modulus // 2
    return f"(- (mod (+ {arg} {half}) {modulus}) {half})"

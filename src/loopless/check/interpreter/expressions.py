"""Terms and conditions as Python expressions over local variables, exact at any size.

A small term becomes one expression. A large or deep one is written as statements that fill temporaries, because Python
limits how deep source may be nested; what C and the term evaluate lazily (the branches of a choice, the later operands
of a conjunction) stays lazy in both forms. The helper functions that expressions call are in :data:`HELPERS`.

The meaning of operators is written down here anew, and not taken from :mod:`loopless.terms.operators`: an error in that
table is to be found by the judge, not shared. Named functions alone are those of terms, which have oracles in tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from loopless import terms as t
from loopless.check.interpreter.values import Stop
from loopless.limits.check import (
    MAX_ADDENDS,
    MAX_INLINE_DEPTH,
    MAX_INLINE_SIZE,
    MAX_PLAIN_SHIFT,
    MAX_REPEATED_SIZE,
    MAX_VALUE_BITS,
)


def _trunc_div(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a >= 0) == (b > 0) else -quotient


def _trunc_rem(a: int, b: int) -> int:
    rest = abs(a) % abs(b)
    return rest if a >= 0 else -rest


def _too_large() -> Stop:
    return Stop("unknown", f"a value has more than {MAX_VALUE_BITS} bits")


def _times(*factors: int) -> int:
    result = factors[0]
    for factor in factors[1:]:
        if result.bit_length() + factor.bit_length() > MAX_VALUE_BITS:
            raise _too_large()
        result *= factor
    return result


def _shift_left(a: int, amount: int) -> int:
    if amount > MAX_VALUE_BITS and a:
        raise _too_large()
    return a << amount


def _power(base: int, exponent: int) -> int:
    if exponent < 0:
        raise ValueError("negative exponent")
    if exponent * base.bit_length() > MAX_VALUE_BITS and base not in (0, 1, -1):
        raise _too_large()
    return int(base**exponent)


def _power_modulo(base: int, exponent: int, mask: int) -> int:
    if exponent < 0:
        raise ValueError("negative exponent")
    return pow(base, exponent, mask + 1)


def _shift_modulo(a: int, amount: int, mask: int) -> int:
    if amount < 0:
        raise ValueError("negative shift")
    return a * pow(2, amount, mask + 1) & mask


_FUNCTIONS = frozenset(
    ("first_in_range", "first_scaled", "floor_sum", "first_positive", "first_zero", "divided", "table")
)
"""The named functions that expressions call; the others are evaluated modulo powers of two, where they are wrapped."""

_named = lru_cache(maxsize=10_000)(t.named)

HELPERS: Mapping[str, Callable[..., Any]] = {
    "tdiv": _trunc_div,
    "trem": _trunc_rem,
    "named": _named,
    "times": _times,
    "shl": _shift_left,
    "power": _power,
    "powmod": _power_modulo,
    "shlmod": _shift_modulo,
}
"""The names that expressions use besides variables and ``ld``, the reader of memory."""


class Lines:
    """Source lines with their indentation."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.level = 0

    def __call__(self, line: str) -> None:
        self.lines.append(" " * self.level + line)

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """The lines inside belong to the line before."""
        self.level += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self("pass")
        self.level -= 1


class Expressions:
    """Writes terms as Python. ``names`` gives each variable its identifier, ``objects`` each memory object its number.

    The methods return an expression; for large terms they first write statements to ``out``.
    """

    def __init__(self, out: Lines, names: Mapping[t.Var, str], objects: Callable[[str], int]) -> None:
        self.out = out
        self.names = names
        self.objects = objects
        self._count = 0
        self._scopes: list[dict[t.Node, str]] = [{}]
        self._measures: dict[t.Node, tuple[int, int]] = {}

    def begin(self) -> None:
        """Forget the temporaries of the statement before."""
        self._scopes = [{}]

    def term(self, node: t.Term) -> str:
        """An expression for the term."""
        if self.small(node):
            return self._inline(node)
        held = self._held(node)
        if held is not None:
            return held
        self._share(node)
        name = self._temporary()
        if isinstance(node, t.Ite):
            self._choice(node, name)
        elif isinstance(node, t.Sum):
            items = [self._monomial(m, c, first=True) for m, c in node.items]
            self.out(f"{name} = {' + '.join(items[:MAX_ADDENDS])}")
            for start in range(MAX_ADDENDS, len(items), MAX_ADDENDS):
                self.out(f"{name} += {' + '.join(items[start : start + MAX_ADDENDS])}")
        else:
            self.out(f"{name} = {self._inline(node)}")
        self._scopes[-1][node] = name
        return name

    def condition(self, node: t.Condition) -> str:
        """An expression for the condition; its value is only good for its truth."""
        if self.small(node) or not isinstance(node, t.And | t.Or):
            return self._inline_condition(node)
        held = self._held(node)
        if held is not None:
            return held
        self._share(node)
        name = self._temporary()
        first, *others = sorted(node.args, key=partial)
        self.out(f"{name} = {self.condition(first)}")
        for arg in others:
            self.out(f"if {name}:" if isinstance(node, t.And) else f"if not {name}:")
            with self._scope():
                self.out(f"{name} = {self.condition(arg)}")
        self._scopes[-1][node] = name
        return name

    def _held(self, node: t.Node) -> str | None:
        """What gives the value of a node that was written before, where that may be used."""
        return next((scope[node] for scope in self._scopes if node in scope), None)

    def _share(self, node: t.Node) -> None:
        """Write what a large node has in several places as functions without parameters, which work out their value
        when it is asked for first: in each branch that may need it, its text would be exponential in the end.
        """
        if self._measure(node)[1] <= MAX_REPEATED_SIZE:
            return
        times: dict[t.Node, int] = {}
        order = list(t.walk(node, lambda part: self._held(part) is not None))
        for part in order:
            for child in part.children:
                times[child] = times.get(child, 0) + 1
        for part in order:
            if part is node or times[part] < 2 or self.small(part) or isinstance(part, t.Compare):
                continue
            name = self._temporary()
            self.out(f"def {name}(known=[]):")
            with self._scope():
                self.out("if not known:")
                with self._scope():
                    written = self.term(part) if isinstance(part, t.Term) else self._truth(part)
                    self.out(f"known.append({written})")
                self.out("return known[0]")
            self._scopes[-1][part] = f"{name}()"

    def _truth(self, node: t.Node) -> str:
        assert isinstance(node, t.Condition)
        return self.condition(node)

    def _temporary(self) -> str:
        self._count += 1
        return f"t{self._count}"

    @contextmanager
    def _scope(self) -> Iterator[None]:
        with self.out.deeper():
            self._scopes.append({})
            yield
            self._scopes.pop()

    def small(self, node: t.Node) -> bool:
        """Whether the node becomes one expression without statements before it."""
        depth, size = self._measure(node)
        return depth <= MAX_INLINE_DEPTH and size <= MAX_INLINE_SIZE

    def _measure(self, root: t.Node) -> tuple[int, int]:
        """Depth and size of the node written out as a tree."""
        measures = self._measures
        if root not in measures:
            for node in t.walk(root):
                if node not in measures:
                    below = [measures[child] for child in node.children]
                    size = 1 + sum(size for _, size in below)
                    if isinstance(node, t.Sum):
                        size = 1 + sum(e * measures[a][1] for m, _ in node.items for a, e in m) + len(node.items)
                    measures[node] = (1 + max((depth for depth, _ in below), default=0), size)
        return measures[root]

    def _choice(self, node: t.Ite, name: str) -> None:
        """A chain of choices as statements one after the other, so that long chains do not nest."""
        pending = self._temporary()
        self.out(f"{pending} = True")
        rest: t.Term = node
        while isinstance(rest, t.Ite) and not self.small(rest):
            self.out(f"if {pending}:")
            with self._scope():
                self.out(f"if {self.condition(rest.condition)}:")
                with self._scope():
                    self.out(f"{name} = {self.term(rest.then)}")
                    self.out(f"{pending} = False")
            rest = rest.otherwise
        self.out(f"if {pending}:")
        with self._scope():
            self.out(f"{name} = {self.term(rest)}")

    def _inline(self, node: t.Term) -> str:
        match node:
            case t.Const():
                return str(node.value) if node.value >= 0 else f"({node.value})"
            case t.Var():
                return self.names[node]
            case t.Sum():
                return f"({self._sum(node.items)})"
            case t.Wrap():
                return self._wrap(node.arg, node.type)
            case t.Ite():
                condition = self.condition(node.condition)
                return f"({self.term(node.then)} if {condition} else {self.term(node.otherwise)})"
            case t.Read():
                size, signed = byte_size(node.type), node.type.signed
                return f"ld({self.objects(node.array)}, {self.term(node.offset)}, {size}, {signed})"
            case t.Op():
                return self._operator(node)
            case _:
                raise AssertionError(type(node))

    def _sum(self, items: tuple[tuple[t.Monomial, int], ...]) -> str:
        shown = ""
        for monomial, coefficient in items:
            sign = "-" if coefficient < 0 else "+"
            part = self._monomial(monomial, abs(coefficient), first=True)
            if shown:
                shown += f" {sign} {part}"
            else:
                shown = part if sign == "+" else f"-{part}"
        return shown or "0"

    def _monomial(self, monomial: t.Monomial, coefficient: int, *, first: bool) -> str:
        if not monomial:
            return str(coefficient) if coefficient >= 0 or not first else f"({coefficient})"
        factors: list[str] = []
        unbounded = False
        for atom, exponent in monomial:
            factors.extend([self.term(atom)] * exponent)
            unbounded |= None in t.range_of(atom)
        if unbounded and len(factors) > 1:
            factors = [f"times({', '.join(factors)})"]
        if coefficient != 1:
            factors.insert(0, str(coefficient) if coefficient > 0 else f"({coefficient})")
        return "*".join(factors)

    def _wrap(self, arg: t.Term, type: t.IntType) -> str:
        if type.width is None:
            return self.term(arg)
        mask = (1 << type.width) - 1
        half = 1 << (type.width - 1)
        if isinstance(arg, t.Op) and arg.op in ("pow", "shl") and not _bounded_amount(arg):
            helper = "powmod" if arg.op == "pow" else "shlmod"
            value = f"{helper}({self.term(arg.args[0])}, {self.term(arg.args[1])}, {mask})"
            return value if not type.signed else f"((({value}) + {half} & {mask}) - {half})"
        value = self.term(arg)
        if not type.signed:
            return f"({value} & {mask})"
        return f"(({value} + {half} & {mask}) - {half})"

    def _operator(self, node: t.Op) -> str:
        if node.op in ("min", "max"):
            return f"{node.op}({', '.join(self.term(arg) for arg in node.args)})"
        if node.op in _FUNCTIONS:
            return f"named({node.op!r}, ({', '.join(self.term(arg) for arg in node.args)}))"
        if len(node.args) != 2:
            raise AssertionError(node.op)
        left, right = node.args
        a, b = self.term(left), self.term(right)
        match node.op:
            case "floor_div":
                return f"({a} // {b})"
            case "mod":
                return f"({a} % {b})"
            case "trunc_div" | "trunc_rem":
                if isinstance(right, t.Const) and right.value > 0:
                    sign = "//" if node.op == "trunc_div" else "%"
                    held = self._temporary()
                    return f"({held} {sign} {b} if ({held} := {a}) >= 0 else -(-{held} {sign} {b}))"
                return f"{'tdiv' if node.op == 'trunc_div' else 'trem'}({a}, {b})"
            case "bit_and":
                return f"({a} & {b})"
            case "bit_or":
                return f"({a} | {b})"
            case "bit_xor":
                return f"({a} ^ {b})"
            case "shl":
                return f"({a} << {b})" if _bounded_amount(node) else f"shl({a}, {b})"
            case "shr":
                return f"({a} >> {b})"
            case "pow":
                return f"power({a}, {b})"
            case _:
                raise AssertionError(node.op)

    def _inline_condition(self, node: t.Condition) -> str:
        match node:
            case t.Truth():
                return str(node.value)
            case t.Compare():
                return self._compare(node)
            case t.And() | t.Or():
                word = " and " if isinstance(node, t.And) else " or "
                return f"({word.join(self._inline_condition(arg) for arg in sorted(node.args, key=partial))})"
            case _:
                raise AssertionError(type(node))

    def _compare(self, node: t.Compare) -> str:
        sign = {"le": "<=", "eq": "==", "ne": "!="}[node.relation]
        term = node.term
        if not isinstance(term, t.Sum) or not self.small(term):
            return f"{self.term(term)} {sign} 0"
        constant = dict(term.items).get((), 0)
        left = [(m, c) for m, c in term.items if m and c > 0]
        right = [(m, -c) for m, c in term.items if m and c < 0]
        if constant == 1 and sign == "<=":
            sign = "<"
        elif not left or (right and constant > 0):
            left.append(((), constant))
        else:
            right.append(((), -constant))
        return f"{self._sum(tuple(left))} {sign} {self._sum(tuple(right))}"


def _bounded_amount(node: t.Op) -> bool:
    low, high = t.range_of(node.args[1])
    return node.op == "shl" and low is not None and high is not None and low >= 0 and high <= MAX_PLAIN_SHIFT


def byte_size(type: t.IntType) -> int:
    """How many bytes a value of the type takes in memory; 0 for all of ℤ, which has no size."""
    return 0 if type.width is None else (type.width + 7) // 8


def partial(node: t.Node) -> bool:
    """Whether evaluating the node may fail or end the run (division by a variable, a shift, a read of memory)."""
    for part in t.walk(node):
        match part:
            case t.Read():
                return True
            case t.Op(op="floor_div" | "mod" | "trunc_div" | "trunc_rem"):
                divisor = part.args[1]
                if not (isinstance(divisor, t.Const) and divisor.value):
                    return True
            case t.Op(op="shl" | "shr" | "pow"):
                return True
            case t.Op() if part.op in _FUNCTIONS:
                return True
            case _:
                pass
    return False

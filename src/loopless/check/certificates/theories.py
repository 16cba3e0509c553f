"""Terms and conditions for Z3, over unbounded integers or in bit vectors wide enough for every value.

What a theory has no words for is any value of its range, which proves less and never too much. The words of operators
are written down here anew, and not taken from :mod:`loopless.logic.operators`, which the judge does not trust.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import z3  # type: ignore[import-untyped]

from loopless import terms as t
from loopless.limits.check import MAX_TABLE_ENTRIES, MAX_VECTOR_BITS

_QUOTIENTS: Final = ("floor_div", "mod", "trunc_div", "trunc_rem")


class Integers:
    """Terms as Z3's integers."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self.facts: list[Any] = []
        self.approximate = False  # something stands for more than it is: only that there is no solution is sure then
        self._fresh = 0
        self._unknown: dict[tuple[Any, ...], tuple[Any, list[Any]]] = {}  # and operands, whose numbers it keeps

    @classmethod
    def wide(cls, nodes: Iterable[t.Node], context: Any) -> Integers | None:
        """The theory for these; None where it cannot hold them."""
        del nodes
        return cls(context)

    def number(self, value: int) -> Any:
        """A constant."""
        return z3.IntVal(value, self.context)

    def fresh(self, name: str, term: t.Term) -> Any:
        """A new constant, in the range of ``term``."""
        self._fresh += 1
        made = self.constant(f"{name}!{self._fresh}")
        low, high = t.range_of(term)
        if low is not None:
            self.facts.append(made >= self.number(low))
        if high is not None:
            self.facts.append(made <= self.number(high))
        return made

    def constant(self, name: str) -> Any:
        """A constant of that name."""
        return z3.Int(name, self.context)

    def node(self, root: t.Node, values: Mapping[t.Var, Any]) -> Any:
        """A term or condition at the ``values`` of its variables."""
        done: dict[t.Node, Any] = {}
        for node in t.walk(root):
            done[node] = values[node] if isinstance(node, t.Var) else self._made(node, done)
        return done[root]

    def _made(self, node: t.Node, done: Mapping[t.Node, Any]) -> Any:  # noqa: C901, PLR0912  one case for each kind
        match node:
            case t.Truth():
                return z3.BoolVal(node.value, self.context)
            case t.Compare():
                term, zero = done[node.term], self.number(0)
                return {"le": term <= zero, "eq": term == zero, "ne": term != zero}[node.relation]
            case t.And():
                return z3.And([done[arg] for arg in node.args])
            case t.Or():
                return z3.Or([done[arg] for arg in node.args])
            case t.Const():
                return self.number(node.value)
            case t.Sum():
                total = self.number(0)
                for monomial, coefficient in node.items:
                    product = self.number(coefficient)
                    for atom, exponent in monomial:
                        for _ in range(exponent):
                            product = product * done[atom]
                    total = total + product
                return total
            case t.Ite():
                return z3.If(done[node.condition], done[node.then], done[node.otherwise])
            case t.Wrap():
                return self.wrapped(node, done[node.arg])
            case t.Op():
                args = [done[arg] for arg in node.args]
                made = self.entry(node, args) if node.op == "table" else self.operation(node, args)
                if made is None:
                    return self.unknown(node, args)
                if node.op in _QUOTIENTS and _has_zero(node.args[1]):
                    return z3.If(args[1] == self.number(0), self.fresh(node.op, node), made)
                return made
            case t.Read():
                name = f"{node.array}:{node.type}"
                sort = self.number(0).sort()
                element = z3.Function(name, sort, sort)(done[node.offset])
                low, high = t.range_of(node)
                self.facts += [] if low is None else [element >= self.number(low)]
                self.facts += [] if high is None else [element <= self.number(high)]
                return element
            case t.Aggregate():
                self.approximate = True
                return self.fresh("aggregate", node)
            case _:
                raise AssertionError(node)

    def entry(self, node: t.Op, args: list[Any]) -> Any:
        """What a table of constants has at an index: the first one below 0, the last one beyond the end."""
        least, most = t.range_of(node.args[0])
        entries = node.args[1:]

        def chosen(low: int, high: int) -> Any:
            middle = (low + high) // 2
            if low + 1 == high:
                return args[1 + low]
            if most is not None and most < middle:
                return chosen(low, middle)
            if least is not None and least >= middle:
                return chosen(middle, high)
            return z3.If(args[0] < self.number(middle), chosen(low, middle), chosen(middle, high))

        return chosen(0, len(entries)) if len(entries) <= MAX_TABLE_ENTRIES else None

    def unknown(self, node: t.Op, args: list[Any]) -> Any:
        """What an operator without a word comes to: any value, the same one for the same operands."""
        self.approximate = True
        key = (node.op, *(arg.get_id() for arg in args))
        if key not in self._unknown:
            self._unknown[key] = self.fresh(node.op, node), args
        return self._unknown[key][0]

    def wrapped(self, node: t.Wrap, value: Any) -> Any:
        """A value reduced into the range of a type."""
        width, low = node.type.width, node.type.min
        if width is None or low is None:
            return value
        return (value - low) % (1 << width) + low

    def operation(self, node: t.Op, args: list[Any]) -> Any:
        """An operator, None where there is no word for it."""
        a, b = args[0], args[-1]
        zero = self.number(0)
        match node.op:
            case "min" | "max":
                found = args[0]
                for other in args[1:]:
                    keeps = found <= other if node.op == "min" else found >= other
                    found = z3.If(keeps, found, other)
                return found
            case "floor_div" | "mod" | "trunc_div" | "trunc_rem":
                # Z3's quotient leaves a remainder that is not negative.
                floor = z3.If(b > zero, a / b, (-a) / (-b))
                size = z3.If(b > zero, b, -b)
                magnitude = z3.If(a >= zero, a / size, (-a) / size)
                truncated = z3.If((a >= zero) == (b > zero), magnitude, -magnitude)
                match node.op:
                    case "floor_div":
                        return floor
                    case "mod":
                        return a - b * floor
                    case "trunc_div":
                        return truncated
                    case _:
                        return a - b * truncated
            case _:
                return None


class Bits(Integers):
    """Terms as signed bit vectors in which nothing overflows."""

    def __init__(self, context: Any, width: int) -> None:
        super().__init__(context)
        self.width = width

    @classmethod
    def wide(cls, nodes: Iterable[t.Node], context: Any) -> Bits | None:
        """The theory for these; None where a value has no range, or a too large one."""
        most = 1
        for root in nodes:
            for node in t.walk(root):
                if not isinstance(node, t.Term):
                    continue
                low, high = t.range_of(node)
                if low is None or high is None:
                    return None
                most = max(most, low.bit_length(), high.bit_length())
                if isinstance(node, t.Sum):  # the parts of a sum may be larger than the whole
                    most = max(most, _largest_part(node))
        return cls(context, most + 4) if most + 4 <= MAX_VECTOR_BITS else None

    def number(self, value: int) -> Any:
        return z3.BitVecVal(value, self.width, self.context)

    def constant(self, name: str) -> Any:
        return z3.BitVec(name, self.width, self.context)

    def wrapped(self, node: t.Wrap, value: Any) -> Any:
        if node.type.width is None:
            return value
        low = z3.Extract(node.type.width - 1, 0, value)
        missing = self.width - node.type.width
        return z3.SignExt(missing, low) if node.type.signed else z3.ZeroExt(missing, low)

    def operation(self, node: t.Op, args: list[Any]) -> Any:
        a, b = args[0], args[-1]
        zero = self.number(0)
        match node.op:
            case "bit_and":
                return a & b
            case "bit_or":
                return a | b
            case "bit_xor":
                return a ^ b
            case "shl" | "shr" if not _may_be_negative(node.args[1]):
                return a << b if node.op == "shl" else a >> b
            case "pow" if isinstance(node.args[0], t.Const) and node.args[0].value == 2:
                return None if _may_be_negative(node.args[1]) else self.number(1) << b
            case "floor_div" | "mod" | "trunc_div" | "trunc_rem":
                quotient, rest = a / b, z3.SRem(a, b)  # Z3's / on bit vectors is signed, and truncates
                match node.op:
                    case "trunc_div":
                        return quotient
                    case "trunc_rem":
                        return rest
                    case "floor_div":
                        return z3.If(z3.Or(rest == zero, (a < zero) == (b < zero)), quotient, quotient - 1)
                    case _:
                        return z3.If(z3.Or(rest == zero, (a < zero) == (b < zero)), rest, rest + b)
            case "min" | "max":
                return super().operation(node, args)
            case _:
                return None


def _largest_part(node: t.Sum) -> int:
    most = 0
    total = 0
    for monomial, coefficient in node.items:
        size = abs(coefficient)
        for atom, exponent in monomial:
            low, high = t.range_of(atom)
            assert low is not None
            assert high is not None
            size *= max(abs(low), abs(high), 1) ** exponent
        total += size
        most = max(most, total.bit_length())
    return most


def _has_zero(term: t.Term) -> bool:
    """Whether a divisor may be 0, where a quotient has no value."""
    low, high = t.range_of(term)
    return (low is None or low <= 0) and (high is None or high >= 0)


def _may_be_negative(term: t.Term) -> bool:
    low, _ = t.range_of(term)
    return low is None or low < 0

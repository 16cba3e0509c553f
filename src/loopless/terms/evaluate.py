"""Evaluation of terms and conditions at given values of their variables, exact at any size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from loopless.terms import curves, modular, powers
from loopless.terms.nodes import (
    NAMED_FUNCTIONS,
    And,
    Compare,
    Condition,
    Const,
    Ite,
    Monomial,
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
from loopless.terms.ranges import range_of
from loopless.terms.types import IntType

MAX_BITS = 1 << 22
"""No intermediate value may have more bits than this: beyond it evaluation refuses."""

Reader = Callable[[str, int, IntType], int]
"""Gives the element of a type at a byte offset of a named memory object."""


class EvaluationError(ArithmeticError):
    """A value does not exist or is out of reach: division by zero, an unbound variable, a number too large."""


class NoValue(EvaluationError):
    """There is no value: a division by zero, a negative exponent or count."""


def evaluate(term: Term, values: Mapping[Var, int], reader: Reader | None = None) -> int:
    """The value of ``term``. ``reader`` answers array reads. Raises :class:`EvaluationError`."""
    return _Evaluator(values, reader).value(term)


def holds(
    condition: Condition, values: Mapping[Var, int], reader: Reader | None = None, *, missing: int = 0
) -> bool:
    """Whether ``condition`` holds. A false part decides a conjunction and a true one a disjunction, whatever their
    order: others need no value then. Where that does not decide, quotients by zero and the like are ``missing``, as far
    as their range allows. The logic takes them for values that are not known, so that a summary is right whatever they
    are, if they are the same everywhere. Raises :class:`EvaluationError`.
    """
    try:
        return _Evaluator(values, reader).truth(condition)
    except NoValue:
        return _Evaluator(values, reader, missing).truth(condition)


def may_lack_value(node: Node) -> bool:
    """Whether ``node`` divides by, or shifts or raises to the power of, what might be 0 or negative: where it does not
    hold that it is not, it has no value.
    """
    for part in walk(node):
        if isinstance(part, Op) and part.op in _PARTIAL:
            last = part.args[-1]
            if not isinstance(last, Const) or last.value < (part.op in _DIVISIONS):
                return True
        elif isinstance(part, Op) and part.op in NAMED_FUNCTIONS:
            return True
    return False


_DIVISIONS = frozenset(("floor_div", "mod", "trunc_div", "trunc_rem"))
_PARTIAL = _DIVISIONS | {"shl", "shr", "pow"}


_MOST_DEEP: Final = 60
"""How deep an evaluation goes down before it starts anew from what it needs there: each step takes several calls."""


class _Deeper(Exception):
    """What is needed lies too deep: it is to be found first."""

    def __init__(self, node: Node, modulus: int | None) -> None:
        super().__init__()
        self.needed = (node, modulus)


class _Evaluator:
    """Each node is evaluated once, and so is each of its residues; that it has no value is remembered like a value."""

    def __init__(self, values: Mapping[Var, int], reader: Reader | None, missing: int | None = None) -> None:
        """``missing`` stands for values that do not exist."""
        self.values = values
        self.missing = missing
        self.reader = reader
        self.known: dict[tuple[Node, int | None], int | EvaluationError] = {}
        self.depth = 0

    def value(self, term: Term) -> int:
        """The value of ``term``, however deep it is nested."""
        try:
            return self.term(term)
        except _Deeper as deeper:
            self._prepare((term, None), deeper.needed)
            return self.term(term)

    def truth(self, condition: Condition) -> bool:
        """Whether ``condition`` holds, however deep it is nested."""
        try:
            return self.condition(condition)
        except _Deeper as deeper:
            self._prepare((condition, None), deeper.needed)
            return self.condition(condition)

    def _prepare(self, *pending: tuple[Node, int | None]) -> None:
        """Find what is needed, the last first, and what that needs before it."""
        left = list(pending)
        while left:
            self.depth = 0
            try:
                self._found(*left[-1])
            except _Deeper as deeper:
                left.append(deeper.needed)
                continue
            except EvaluationError:
                pass  # it is known now
            left.pop()

    def term(self, term: Term) -> int:
        match term:
            case Const():
                return term.value
            case Var():
                try:
                    return self.values[term]
                except KeyError:
                    raise EvaluationError(f"{term.name} has no value") from None
            case _:
                return self._found(term, None)

    def _found(self, node: Node, modulus: int | None) -> int:
        """The value of a term, its residue, or the truth of a condition as a number, from what is known or anew."""
        found = self.known.get((node, modulus))
        if found is None:
            if self.depth >= _MOST_DEEP:
                raise _Deeper(node, modulus)
            self.depth += 1
            try:
                found = self._worked_out(node, modulus)
            except EvaluationError as error:
                found = error
            self.depth -= 1
            self.known[node, modulus] = found
        if isinstance(found, EvaluationError):
            raise found.with_traceback(None)  # else each use would lengthen it
        return found

    def _worked_out(self, node: Node, modulus: int | None) -> int:
        if isinstance(node, Condition):
            return int(self._decided(node))
        assert isinstance(node, Term)
        if modulus is not None:
            return self._residue(node, modulus)
        try:
            found = node.value if isinstance(node, Const) else self._compute(node)
        except NoValue:
            if self.missing is None:
                raise
            found = _within(self.missing, range_of(node))
        if found.bit_length() > MAX_BITS:
            raise EvaluationError(f"a value has more than {MAX_BITS} bits")
        return found

    def _compute(self, term: Term) -> int:
        match term:
            case Var():
                return self.term(term)
            case Sum():
                return sum(self._monomial(m) * c for m, c in term.items)
            case Wrap():
                if term.type.width is None:
                    return self.term(term.arg)
                return term.type.wrap(self.modulo(term.arg, 1 << term.type.width))
            case Ite():
                return self.term(term.then if self.condition(term.condition) else term.otherwise)
            case Read():
                if self.reader is None:
                    raise EvaluationError(f"the content of {term.array} is not given")
                return self.reader(term.array, self.term(term.offset), term.type)
            case Op():
                if term.op in NAMED_FUNCTIONS:
                    return self._named(term)
                if term.op in ("min", "max"):
                    return (min if term.op == "min" else max)(self.term(arg) for arg in term.args)
                return apply(term.op, self.term(term.args[0]), self.term(term.args[1]))
            case _:
                raise AssertionError(type(term))

    def _named(self, term: Op) -> int:
        if term.op == "table":
            place = min(max(self.term(term.args[0]), 0), len(term.args) - 2)
            return self.term(term.args[1 + place])
        return named(term.op, [self.term(arg) for arg in term.args])

    def _monomial(self, monomial: Monomial) -> int:
        result = 1
        for atom, exponent in monomial:
            result *= self.term(atom) ** exponent
        return result

    def modulo(self, term: Term, modulus: int) -> int:
        """``term`` modulo ``modulus``, without the huge powers below sums and exact-divided sums being built."""
        if isinstance(term, Const | Var):
            return self.term(term) % modulus
        return self._found(term, modulus)

    def _residue(self, term: Term, modulus: int) -> int:
        match term:
            case Sum():
                total = 0
                for monomial, coefficient in term.items:
                    part = coefficient
                    for atom, exponent in monomial:
                        part = part * pow(self.modulo(atom, modulus), exponent, modulus) % modulus
                    total += part
                return total % modulus
            case Op(op="pow"):
                exponent = self.term(term.args[1])
                if exponent < 0:
                    raise NoValue("a negative exponent")
                return pow(self.modulo(term.args[0], modulus), exponent, modulus)
            case Op(op="floor_div") if isinstance(term.args[1], Const) and term.args[1].value > 0:
                divisor = term.args[1].value
                # floor(a/d) mod m is determined by a mod d·m
                return self.modulo(term.args[0], modulus * divisor) // divisor
            case Op(op="linear_power"):
                return self._linear_power(term, modulus)
            case Op(op="digits"):
                args = [self.term(arg) for arg in term.args]
                return powers.horner_of_digits(args[0], args[1], args[2], args[3], modulus)
            case Op(op="shl"):
                amount = self.term(term.args[1])
                if amount < 0:
                    raise NoValue("a negative shift")
                return self.modulo(term.args[0], modulus) * pow(2, amount, modulus) % modulus
            case Ite():
                return self.modulo(term.then if self.condition(term.condition) else term.otherwise, modulus)
            case _:
                return self.term(term) % modulus

    def _linear_power(self, term: Op, modulus: int) -> int:
        count, size = self.term(term.args[0]), self.term(term.args[1])
        rest = [self.modulo(arg, modulus) for arg in term.args[2:]]
        return powers.first_component([count, size, *rest], modulus)

    def condition(self, condition: Condition) -> bool:
        return bool(self._found(condition, None))

    def _decided(self, condition: Condition) -> bool:
        match condition:
            case Truth():
                return condition.value
            case Compare(relation="le"):
                return self.term(condition.term) <= 0
            case Compare(relation="eq"):
                return self.term(condition.term) == 0
            case Compare():
                return self.term(condition.term) != 0
            case And() | Or():
                return self._joined(condition.args, decisive=isinstance(condition, Or))
            case _:
                raise AssertionError(type(condition))

    def _joined(self, parts: Iterable[Condition], *, decisive: bool) -> bool:
        missing: EvaluationError | None = None
        for part in parts:
            try:
                if self.condition(part) is decisive:
                    return decisive
            except EvaluationError as error:
                missing = missing or error
        if missing is not None:
            raise missing
        return not decisive


def _within(value: int, bounds: tuple[int | None, int | None]) -> int:
    low, high = bounds
    value = value if low is None else max(value, low)
    return value if high is None else min(value, high)


def named(op: str, args: Sequence[int]) -> int:
    """The value of a function of :data:`loopless.terms.nodes.NAMED_FUNCTIONS`. Raises :class:`EvaluationError`."""
    try:
        match op:
            case "first_in_range":
                return modular.first_visit(args[0], args[1], args[2], args[3], args[4])
            case "first_scaled":
                return modular.first_scaled(args[0], args[1], args[2], args[3], args[4], args[5])
            case "floor_sum":
                return modular.floor_sum(args[0], args[1], args[2], args[3])
            case "first_positive" | "first_zero":
                groups = zip(args[::3], args[1::3], args[2::3], strict=True)
                curve = {(base, degree): coefficient for base, degree, coefficient in groups}
                return curves.first_of_sign(curve, int(op == "first_positive"))
            case "linear_power":
                return powers.first_component(args)
            case "digits":
                return powers.horner_of_digits(args[0], args[1], args[2], args[3])
            case "divided":
                return powers.divided(args[0], args[1], args[2], args[3], args[4])
            case "table":
                return args[1 + min(max(args[0], 0), len(args) - 2)]
            case _:
                raise AssertionError(op)
    except ValueError as error:
        kind = NoValue if op in ("first_in_range", "floor_sum") else EvaluationError  # others: too large
        raise kind(str(error)) from None


def apply(op: str, a: int, b: int) -> int:  # noqa: C901, PLR0912  one line an operator
    """The value of a binary operator of :data:`loopless.terms.nodes.OPERATORS`. Raises :class:`EvaluationError`."""
    if op in ("floor_div", "mod", "trunc_div", "trunc_rem") and b == 0:
        raise NoValue("division by zero")
    if op in ("shl", "shr", "pow") and b < 0:
        raise NoValue(f"{op} by {b}")
    match op:
        case "floor_div":
            return a // b
        case "mod":
            return a % b
        case "trunc_div":
            return _truncated(a, b)
        case "trunc_rem":
            return a - b * _truncated(a, b)
        case "bit_and":
            return a & b
        case "bit_or":
            return a | b
        case "bit_xor":
            return a ^ b
        case "shl":
            if b > MAX_BITS and a:
                raise EvaluationError(f"a shift by {b}")
            return a << b
        case "shr":
            return a >> b
        case "pow":
            if b * max(a.bit_length(), 1) > MAX_BITS and a not in (0, 1, -1):
                raise EvaluationError(f"a power with exponent {b}")
            return int(a**b)
        case "min":
            return min(a, b)
        case "max":
            return max(a, b)
        case _:
            raise AssertionError(op)


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a >= 0) == (b > 0) else -quotient

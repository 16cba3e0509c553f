"""Evaluation of terms and conditions at given values of their variables, exact at any size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from loopless.limits.terms import MAX_BITS, MAX_ELEMENTS, MAX_EVALUATION_DEPTH, REMEMBERED_PARTIAL
from loopless.terms import powers
from loopless.terms.nodes import (
    Aggregate,
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
    walk_inside,
)
from loopless.terms.operators import (
    DIVISIONS,
    OPERATORS,
    PARTIAL,
    RELATIONS,
    EvaluationError,
    NoValue,
)
from loopless.terms.term_ranges import range_of
from loopless.terms.types import IntType

Reader = Callable[[str, int, IntType], int]
"""Gives the element of a type at a byte offset of a named memory object."""


def evaluate(term: Term, values: Mapping[Var, int], reader: Reader | None = None) -> int:
    """The value of ``term``. ``reader`` answers array reads. Raises :class:`EvaluationError`."""
    return _Evaluator(values, reader).value(term)


def holds(condition: Condition, values: Mapping[Var, int], reader: Reader | None = None, *, missing: int = 0) -> bool:
    """Whether ``condition`` holds. A false part decides a conjunction and a true one a disjunction, whatever their
    order: others need no value then. Where that does not decide, quotients by zero and the like are ``missing``, as far
    as their range allows. The logic takes them for values that are not known, so that a summary is right whatever they
    are, if they are the same everywhere. Raises :class:`EvaluationError`.
    """
    return Valuation(values, reader, missing=missing).holds(condition)


class Valuation:
    """Values of variables, and what memory holds, at which several terms and conditions are evaluated: what they have
    in common is worked out once.
    """

    def __init__(self, values: Mapping[Var, int], reader: Reader | None = None, *, missing: int = 0) -> None:
        """``reader`` answers array reads; ``missing`` as for :func:`holds`."""
        self.elements = 0
        """How many elements of memory were read."""
        self._reader = reader
        self._missing = missing
        self._exact = _Evaluator(values, None if reader is None else self._read)
        self._with_missing: _Evaluator | None = None

    def _read(self, array: str, offset: int, type: IntType) -> int:
        assert self._reader is not None
        self.elements += 1
        return self._reader(array, offset, type)

    def evaluate(self, term: Term) -> int:
        """As :func:`evaluate`."""
        return self._exact.value(term)

    def holds(self, condition: Condition) -> bool:
        """As :func:`holds`."""
        try:
            return self._exact.truth(condition)
        except NoValue:
            if self._with_missing is None:
                self._with_missing = _Evaluator(self._exact.values, self._exact.reader, self._missing)
            return self._with_missing.truth(condition)


@lru_cache(REMEMBERED_PARTIAL)
def may_lack_value(node: Node) -> bool:
    """Whether ``node`` divides by, or shifts or raises to the power of, what might be 0 or negative: where it does not
    hold that it is not, it has no value.
    """
    for part in walk_inside(node):
        if isinstance(part, Op) and part.op in PARTIAL:
            last = part.args[-1]
            if not isinstance(last, Const) or last.value < (part.op in DIVISIONS):
                return True
        elif isinstance(part, Op) and OPERATORS[part.op].domain == "some":
            return True
    return False


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
        self.passes: dict[Any, _Pass] = {}
        self.elements = [0]

    def value(self, term: Term) -> int:
        """The value of ``term``, however deep it is nested."""
        try:
            return self.term(term)
        except _Deeper as deeper:
            self._refuse_outer(deeper)
            self._prepare((term, None), deeper.needed)
            return self.term(term)

    def truth(self, condition: Condition) -> bool:
        """Whether ``condition`` holds, however deep it is nested."""
        try:
            return self.condition(condition)
        except _Deeper as deeper:
            self._refuse_outer(deeper)
            self._prepare((condition, None), deeper.needed)
            return self.condition(condition)

    def _refuse_outer(self, deeper: _Deeper) -> None:
        """Raise it again where an evaluation around this one has to find what is needed."""

    def _prepare(self, *pending: tuple[Node, int | None]) -> None:
        """Find what is needed, the last first, and what that needs before it."""
        left = list(pending)
        while left:
            self.depth = 0
            try:
                self.found(*left[-1])
            except _Deeper as deeper:
                self._refuse_outer(deeper)
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
                return self.found(term, None)

    def found(self, node: Node, modulus: int | None) -> int:
        """The value of a term, its residue, or the truth of a condition as a number, from what is known or anew."""
        found = self.known.get((node, modulus))
        if found is None:
            if self.depth >= MAX_EVALUATION_DEPTH:
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
                total = 0
                for monomial, coefficient in term.items:
                    if len(monomial) == 1 and monomial[0][1] == 1:
                        total += coefficient * self.term(monomial[0][0])
                    else:
                        total += coefficient * self._monomial(monomial)
                return total
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
            case Aggregate():
                return self._aggregate(term)
            case Op():
                if term.op == "table":
                    return self._chosen(term)
                return OPERATORS[term.op].fold(*[self.term(arg) for arg in term.args])
            case _:
                raise AssertionError(type(term))

    def _aggregate(self, term: Aggregate) -> int:
        length = None if term.kind == "earliest" else max(self.term(term.outside[0]), 0)
        home = self.home(term)
        key = term.kind, term.bound, term.inside, term.outside[2 if term.kind == "fold" else 1 :]
        found = home.passes.get(key)
        if found is None:
            found = home.passes[key] = _Pass(home, term)
        return found.earliest() if length is None else found.value(term, length)

    def home(self, term: Aggregate) -> _Evaluator:  # noqa: ARG002  what is around all has all
        """The outermost evaluation that has all which the elements depend on: there they are remembered."""
        return self

    def _chosen(self, term: Op) -> int:
        """The entry of a table, without a look at the others."""
        place = min(max(self.term(term.args[0]), 0), len(term.args) - 2)
        return self.term(term.args[1 + place])

    def _monomial(self, monomial: Monomial) -> int:
        result = 1
        for atom, exponent in monomial:
            result *= self.term(atom) ** exponent
        return result

    def modulo(self, term: Term, modulus: int) -> int:
        """``term`` modulo ``modulus``, without the huge powers below sums and exact-divided sums being built."""
        if isinstance(term, Const | Var):
            return self.term(term) % modulus
        return self.found(term, modulus)

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
        return bool(self.found(condition, None))

    def _decided(self, condition: Condition) -> bool:
        match condition:
            case Truth():
                return condition.value
            case Compare():
                return bool(RELATIONS[condition.relation].fold(self.term(condition.term), 0))
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


class _Inside(_Evaluator):
    """What is inside of an aggregate, position by position; what does not depend on the position is left to the
    evaluation around it.
    """

    def __init__(self, outer: _Evaluator, bound: Sequence[Var]) -> None:
        self.own: dict[Var, int] = dict(outer.values)
        super().__init__(self.own, outer.reader, outer.missing)
        self.outer = outer
        self.bound = frozenset(bound)
        self.elements = outer.elements

    def at(self, values: Iterable[tuple[Var, int]]) -> None:
        """Go to a position."""
        self.own.update(values)
        self.known.clear()
        self.passes.clear()
        self.depth = 0
        self.elements[0] += 1
        if self.elements[0] > MAX_ELEMENTS:
            raise EvaluationError(f"more than {MAX_ELEMENTS} elements are read")

    def found(self, node: Node, modulus: int | None) -> int:
        if self.bound.isdisjoint(node.variables):
            return self.outer.found(node, modulus)
        return super().found(node, modulus)

    def _refuse_outer(self, deeper: _Deeper) -> None:
        if self.bound.isdisjoint(deeper.needed[0].variables):
            raise deeper

    def home(self, term: Aggregate) -> _Evaluator:
        every = (*term.outside[1:], *term.inside)
        free = frozenset[Var]().union(*(part.variables for part in every)) - frozenset(term.bound)
        return self if not self.bound.isdisjoint(free) else self.outer.home(term)


class Sweep:
    """Terms and conditions at one value of ``index`` after the other. What does not depend on it is worked out once,
    and an aggregate over a longer prefix goes on where that over a shorter one stopped.
    """

    def __init__(self, index: Var, values: Mapping[Var, int], reader: Reader | None = None) -> None:
        """``values`` of all other variables; ``reader`` answers array reads."""
        self._index = index
        self._inside = _Inside(_Evaluator(values, reader), (index,))

    def go(self, at: int) -> None:
        """Go to a value of the index. Raises :class:`EvaluationError` where that was done too often."""
        self._inside.at([(self._index, at)])

    def evaluate(self, term: Term) -> int:
        """As :func:`evaluate`."""
        return self._inside.value(term)

    def holds(self, condition: Condition) -> bool:
        """As :func:`holds`."""
        try:
            return self._inside.truth(condition)
        except NoValue:
            return holds(condition, self._inside.values, self._inside.reader)


class _Pass:
    """One pass over a sequence, as far as it was needed: a longer one goes on where it stopped."""

    def __init__(self, home: _Evaluator, term: Aggregate) -> None:
        self.bound = term.bound
        self.parts = term.inside
        self.inside = _Inside(home, term.bound)
        self.starts = tuple(home.term(start) for start in term.outside[2 if term.kind == "fold" else 1 :])
        self.begin()

    def begin(self) -> None:
        """Stand before the first position."""
        self.at = 0
        self.hit: int | None = None
        self.now: tuple[int, ...] = self.starts or (0,)

    def value(self, term: Aggregate, length: int) -> int:
        """The aggregate of so many positions."""
        if self.at > length and not (term.kind == "first" and self.hit is not None):
            self.begin()
        if term.kind == "first":
            return self._first(length)
        while self.at < length:
            self._step(term.kind)
        if term.kind == "last":
            return -1 if self.hit is None else self.hit
        number = self.parts_chosen(term)
        return self.now[number]

    @staticmethod
    def parts_chosen(term: Aggregate) -> int:
        """Which of the values is asked for."""
        number = term.outside[1] if term.kind == "fold" else None
        return number.value if isinstance(number, Const) else 0

    def earliest(self) -> int:
        """The first position at which the condition holds; the search ends by the limit on elements, not with -1."""
        while self.hit is None:
            self._look()
        return self.hit

    def _first(self, length: int) -> int:
        while self.hit is None and self.at < length:
            self._look()
        return length if self.hit is None else min(self.hit, length)

    def _look(self) -> None:
        self.inside.at([(self.bound[0], self.at)])
        if self._holds():
            self.hit = self.at
        self.at += 1

    def _step(self, kind: str) -> None:
        self.inside.at([(self.bound[0], self.at), *zip(self.bound[1:], self.now, strict=False)])
        if kind == "last":
            if self._holds():
                self.hit = self.at
        else:
            found = tuple(self.inside.value(part) for part in self.parts if isinstance(part, Term))
            match kind:
                case "sum":
                    self.now = (self.now[0] + found[0],)
                case "least":
                    self.now = (min(self.now[0], found[0]),)
                case "greatest":
                    self.now = (max(self.now[0], found[0]),)
                case _:
                    self.now = found
        self.at += 1

    def _holds(self) -> bool:
        part = self.parts[0]
        assert isinstance(part, Condition)
        return self.inside.truth(part)


def _within(value: int, bounds: tuple[int | None, int | None]) -> int:
    low, high = bounds
    value = value if low is None else max(value, low)
    return value if high is None else min(value, high)

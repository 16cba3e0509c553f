"""What an iteration makes of floating-point numbers: expressions of one counter and of constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from loopless.bounds.induction.floating.arithmetic import PREDICATES, operation, same
from loopless.records import dataclass

OPERATIONS: Final = frozenset({"fadd", "fsub", "fmul", "fdiv", "fneg", "fabs", "fpext", "fptrunc"})
_DIGITS: Final = {"float": 24, "double": 53}
_CONVERSIONS: Final = frozenset({"fpext", "fptrunc"})


@dataclass(frozen=True, slots=True)
class FloatingCounter:
    """The value of a variable in an iteration: at its beginning, or behind its change (``later``)."""

    name: str
    later: bool = False


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation with a result of the type ``kind``."""

    op: str
    kind: str
    args: tuple[Expression, ...]


Expression = float | FloatingCounter | Apply


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left`` ``predicate`` ``right``, as ``fcmp`` has them; or, ``negated``, that this does not hold."""

    predicate: str
    left: Expression
    right: Expression
    negated: bool = False


def applied(op: str, kind: str, args: Sequence[Expression]) -> Expression | None:
    """The result of an operation, its value where all arguments are numbers; None where it is not known."""
    compute = operation(op, kind)
    if compute is None:
        return None
    numbers = [a for a in args if isinstance(a, float)]
    return compute(*numbers) if len(numbers) == len(args) else Apply(op, kind, tuple(args))


def counters(e: Expression) -> frozenset[FloatingCounter]:
    """The values of counters that an expression speaks of."""
    match e:
        case FloatingCounter():
            return frozenset({e})
        case Apply():
            return frozenset().union(*map(counters, e.args))
        case _:
            return frozenset()


def alike(a: Expression, b: Expression) -> bool:
    """Whether two expressions are the same; 0 and -0 are not."""
    if isinstance(a, Apply) and isinstance(b, Apply):
        return (a.op, a.kind) == (b.op, b.kind) and all(map(alike, a.args, b.args))
    return same(a, b) if isinstance(a, float) and isinstance(b, float) else a == b


def digits(e: Expression, kind: str) -> int:
    """The length in bits of the shortest significand among the types of an expression of type ``kind``."""
    found = _DIGITS[kind]
    return min([found, *(digits(a, e.kind) for a in e.args)]) if isinstance(e, Apply) else found


def shifts(e: Expression) -> bool:
    """Whether the expression is a counter to which a constant is added, or from which it is subtracted, once."""
    added = 0
    while isinstance(e, Apply):
        match e.op, e.args:
            case ("fpext" | "fptrunc", (inner,)):
                e = inner
            case ("fadd", (inner, float())) | ("fsub", (inner, float())) | ("fadd", (float(), inner)):
                e, added = inner, added + 1
            case _:
                return False
    return isinstance(e, FloatingCounter) and added == 1


def compares_with_number(test: Comparison) -> bool:
    """Whether one side is a counter, however it is converted, and the other one a number."""
    sides = [test.left, test.right]
    for index, side in enumerate(sides):
        while isinstance(side, Apply) and side.op in _CONVERSIONS:
            (side,) = side.args
        sides[index] = side
    return any(isinstance(side, FloatingCounter) for side in sides) and any(isinstance(side, float) for side in sides)


def evaluator(e: Expression) -> Callable[[float, float], float]:
    """The expression as a function of the counter at the beginning of an iteration, and behind its change."""
    match e:
        case float():
            return lambda _now, _later: e
        case FloatingCounter(later=False):
            return lambda now, _later: now
        case FloatingCounter():
            return lambda _now, later: later
        case Apply():
            return _computed(e)


def _computed(e: Apply) -> Callable[[float, float], float]:
    compute = operation(e.op, e.kind)
    assert compute is not None  # else there is no such expression
    match e.args:
        case (float() as number, FloatingCounter(later=False)):
            return lambda now, _later: compute(number, now)
        case (FloatingCounter(later=False), float() as number):
            return lambda now, _later: compute(now, number)
        case (one,):
            inner = evaluator(one)
            return lambda now, later: compute(inner(now, later))
        case _:
            left, right = (evaluator(a) for a in e.args)
            return lambda now, later: compute(left(now, later), right(now, later))


def holder(test: Comparison) -> Callable[[float, float], bool]:
    """The comparison as such a function."""
    compare, left, right = PREDICATES[test.predicate], evaluator(test.left), evaluator(test.right)
    if test.negated:
        return lambda now, later: not compare(left(now, later), right(now, later))
    return lambda now, later: compare(left(now, later), right(now, later))


def order(test: Comparison) -> Callable[[float, float], int]:
    """How the left side stands to the right one, as such a function: -1, 0 or 1; 2 where one is no number."""
    left, right = evaluator(test.left), evaluator(test.right)

    def stands(now: float, later: float) -> int:
        a, b = left(now, later), right(now, later)
        return -1 if a < b else 0 if a == b else 1 if a > b else 2

    return stands

"""Whether one bound is larger than another at some inputs, from what their JSON says of them in SMT-LIB."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from loopless import terms as t
from loopless.limits.report import GROWTH_SOLVER_MS, MAX_MIXED_POINTS
from loopless.patterns import pattern
from loopless.records import dataclass

_SMALL: Final = range(1 << 31)
"""Where an answer does not tell the range of an input, it is taken to have these values; others are not excluded."""
_SIZES: Final = (100, 1000, 10, 10_000, 1_000_000, 3, 2, 1, 0, -1, -100)
"""The values that all inputs have where bounds are compared first; the first of them at which one is larger is told."""


@dataclass(frozen=True, slots=True)
class Growth:
    """A bound that is larger at some inputs.

    ``at``: such inputs; ``old`` and ``new`` the bounds there, None where there is none (or the loop never ends).
    """

    at: Mapping[str, int]
    old: int
    new: int | None

    def text(self) -> str:
        """By how much, in words."""
        where = ", ".join(f"{name}={value}" for name, value in self.at.items()) or "all inputs"
        if self.new is None:
            return f"{self.old} at {where}, now no bound"
        by = f"{self.new - self.old} more"
        if self.old and self.new >= 2 * self.old:
            by = f"{_short(self.new / self.old)} times as many"
        return f"{self.old} at {where}, now {self.new} ({by})"


def _short(ratio: float) -> str:
    return str(round(ratio)) if ratio >= 100 or ratio == round(ratio) else f"{ratio:.3g}"


@dataclass(frozen=True, slots=True)
class _Bound:
    upper: t.Term
    when: t.Condition


class _Unread(Exception):
    """What the JSON says is no expression that is known here."""


def grown(old: Mapping[str, Any], new: Mapping[str, Any]) -> Growth | bool | None:
    """Whether the row ``new`` has a larger bound than ``old``, or none, at some inputs at which ``old`` has one: where;
    False where there are surely none; None where that is not known.
    """
    types = {**_types(old), **_types(new)}
    try:
        was, now = _read(old, types), _read(new, types)
    except (_Unread, RecursionError, t.TermTooLarge):
        return None
    variables = sorted(_variables(was, now), key=lambda var: var.key)
    untold = [var for var in variables if var.name not in types]
    seen = [growth for point in _points(variables, untold) if (growth := _at(was, now, point)) is not None]
    if seen:
        return next((growth for growth in seen if growth.new is not None), seen[0])
    larger = now.when & t.maximum(t.ZERO, now.upper).gt(t.maximum(t.ZERO, was.upper))
    return _searched(was, now, was.when & (~now.when | larger), untold)


def _searched(was: _Bound, now: _Bound, states: t.Condition, untold: Sequence[t.Var]) -> Growth | bool | None:
    """The same by a solver."""
    from loopless.logic import SmtAnswer, satisfiable

    if states is t.FALSE:
        return False
    outcome = satisfiable(states, GROWTH_SOLVER_MS)
    if outcome.answer is SmtAnswer.NO:
        return False
    if outcome.model is None:
        return None
    point = {var: outcome.model.values.get(var, 0) for var in _variables(was, now)}
    return _at(was, now, point) if all(point[var] in _SMALL for var in untold) else None


def _variables(*bounds: _Bound) -> set[t.Var]:
    return {var for bound in bounds for node in (bound.upper, bound.when) for var in node.variables}


def _at(was: _Bound, now: _Bound, point: Mapping[t.Var, int]) -> Growth | None:
    """How the bound grows at one point, if it does."""
    try:
        if not t.holds(was.when, point):
            return None
        old = max(0, t.evaluate(was.upper, point))
        new = max(0, t.evaluate(now.upper, point)) if t.holds(now.when, point) else None
    except t.EvaluationError:
        return None
    at = {var.name: value for var, value in point.items()}
    return Growth(at, old, new) if new is None or new > old else None


def _points(variables: Sequence[t.Var], untold: Sequence[t.Var]) -> Iterator[dict[t.Var, int]]:
    """Values for the variables, within their types, or where these are ``untold`` small ones."""
    if not variables:
        yield {}
        return
    ranges = {var: (var.type.min, var.type.max) for var in variables}
    ranges |= dict.fromkeys(untold, (_SMALL.start, _SMALL.stop - 1))

    def within(var: t.Var, value: int) -> int:
        low, high = ranges[var]
        return max(low if low is not None else value, min(value, high if high is not None else value))

    for size in _SIZES:
        yield {var: within(var, size) for var in variables}
    ends = [value for pair in ranges.values() for value in pair if value is not None]
    choices = list(dict.fromkeys((*_SIZES, *ends)))
    if len(choices) ** len(variables) <= MAX_MIXED_POINTS:
        for values in itertools.product(choices, repeat=len(variables)):
            yield {var: within(var, value) for var, value in zip(variables, values, strict=True)}
        return
    draw = random.Random(0)
    for _ in range(MAX_MIXED_POINTS):
        yield {var: within(var, draw.choice(choices)) for var in variables}


# -- reading ----------------------------------------------------------------------------------------------------------


def _types(row: Mapping[str, Any]) -> dict[str, t.IntType]:
    """The types of the inputs, where the row tells them."""
    inputs = row.get("inputs")
    found: dict[str, t.IntType] = {}
    for name, type in inputs.items() if isinstance(inputs, dict) else ():
        if isinstance(type, dict) and isinstance(type.get("bits"), int) and type["bits"] > 0:
            found[name] = t.IntType(type["bits"], signed=bool(type.get("signed")))
        elif isinstance(type, dict) and type.get("bits", 0) is None:
            found[name] = t.INTEGERS
    return found


def _read(row: Mapping[str, Any], types: Mapping[str, t.IntType]) -> _Bound:
    when = row.get("valid_when")
    upper = _expression(row.get("upper"), types)
    condition = t.TRUE if when is None else _expression(when, types)
    if not isinstance(upper, t.Term) or not isinstance(condition, t.Condition):
        raise _Unread
    return _Bound(upper, condition)


def _expression(shown: Any, types: Mapping[str, t.IntType]) -> t.Node:
    text = shown.get("smt") if isinstance(shown, dict) else None
    if not isinstance(text, str):
        raise _Unread
    tokens = _TOKEN.findall(text)
    tree, rest = _parsed(tokens, 0)
    if rest != len(tokens):
        raise _Unread
    return _node(tree, {}, types)


_TOKEN: Final = pattern(r"[()]|\|[^|]*\||[^\s()|]+")


def _parsed(tokens: Sequence[str], at: int) -> tuple[Any, int]:
    """The expression from a token on, as nested lists, and where it ends."""
    if at >= len(tokens) or tokens[at] == ")":
        raise _Unread
    if tokens[at] != "(":
        return tokens[at], at + 1
    found: list[Any] = []
    at += 1
    while at < len(tokens) and tokens[at] != ")":
        part, at = _parsed(tokens, at)
        found.append(part)
    if at == len(tokens):
        raise _Unread
    return found, at + 1


def _node(tree: Any, bound: Mapping[str, t.Node], types: Mapping[str, t.IntType]) -> t.Node:
    if isinstance(tree, str):
        return _atom(tree, bound, types)
    if not tree or not isinstance(tree[0], str):
        raise _Unread
    head, *rest = tree
    if head == "let":
        if len(rest) != 2 or not all(isinstance(pair, list) and len(pair) == 2 for pair in rest[0]):
            raise _Unread
        return _node(rest[1], {**bound, **{name: _node(value, bound, types) for name, value in rest[0]}}, types)
    args = [_node(part, bound, types) for part in rest]
    conditions = [arg for arg in args if isinstance(arg, t.Condition)]
    numbers = [arg for arg in args if isinstance(arg, t.Term)]
    if head == "ite" and len(args) == 3 and len(conditions) == 1 and args[0] is conditions[0]:
        return t.ite(conditions[0], *numbers)
    if len(conditions) == len(args):
        return _condition(head, conditions)
    if len(numbers) == len(args):
        return _term(head, numbers)
    raise _Unread


def _atom(word: str, bound: Mapping[str, t.Node], types: Mapping[str, t.IntType]) -> t.Node:
    if word in bound:
        return bound[word]
    if word in ("true", "false"):
        return t.TRUE if word == "true" else t.FALSE
    if word.isdigit():
        return t.const(int(word))
    name = word.strip("|")
    return t.Var(name, types.get(name, t.INTEGERS))


def _condition(head: str, args: Sequence[t.Condition]) -> t.Condition:
    if head == "and":
        return t.conjunction(args)
    if head == "or":
        return t.disjunction(args)
    if head == "not" and len(args) == 1:
        return ~args[0]
    raise _Unread


_RELATIONS: Final[Mapping[str, Callable[[t.Term, t.Term], t.Condition]]] = {
    "<=": t.less_equal,
    "<": t.less,
    ">=": t.greater_equal,
    ">": t.greater,
    "=": t.equal,
    "distinct": t.not_equal,
}


def _term(head: str, args: Sequence[t.Term]) -> t.Node:
    match head:
        case "+":
            return t.add(*args)
        case "-" if len(args) == 1:
            return -args[0]
        case "-":
            return args[0] - t.add(*args[1:])
        case "*":
            found = args[0]
            for arg in args[1:]:
                found = found * arg
            return found
        case "div" | "mod" if len(args) == 2 and isinstance(args[1], t.Const) and args[1].value > 0:
            return t.floor_div(*args) if head == "div" else t.mod(*args)
        case _ if head in _RELATIONS and len(args) == 2:
            return _RELATIONS[head](args[0], args[1])
        case _:
            raise _Unread

"""Terms share their parts: what is asked of them and written of them is linear in the parts, however large the tree is.

Work is counted, not timed. The trees of the terms here have more than 2^40 parts, or are nested 10,000 deep.
"""

from __future__ import annotations

import importlib
import pickle
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import z3

from loopless.bounds.asymptotics import classes as asymptotics
from loopless.check.interpreter.expressions import HELPERS, Expressions, Lines
from loopless.limits.terms import MAX_SHARED_NODES
from loopless.logic.simplify import shorter
from loopless.recurrences import lifting
from loopless.recurrences.expoly import ExpPoly, constant
from loopless.recurrences.sequences import Sequence
from loopless.terms import (
    ONE,
    ZERO,
    Condition,
    Definitions,
    IntType,
    Node,
    Term,
    Var,
    add,
    comparisons,
    conditions,
    conjunction,
    const,
    disjunction,
    equals_zero,
    evaluate,
    floor_div,
    holds,
    ite,
    less,
    minimum,
    mod,
    mul,
    neg,
    negate,
    range_of,
    scale,
    smt,
    sub,
    substitute,
    symbol,
    text,
    trunc_div,
    trunc_rem,
    walk,
    with_comparisons,
    wrap,
)
from loopless.terms.knowing import Known
from loopless.terms.pickling import dumps

EVALUATOR = importlib.import_module("loopless.terms.evaluate")._Evaluator  # the package has a function of that name
INT = IntType(32)
UNSIGNED = IntType(32, signed=False)
X, Y, Z, M = Var("x", INT), Var("y", INT), Var("t1", UNSIGNED), Var("m", INT)
DEPTH = 40


def repeated(step: Callable[[Term, int], Term], times: int = DEPTH) -> Term:
    term: Term = X
    for number in range(times):
        term = step(term, number)
    return term


def generator(times: int) -> Term:
    return repeated(lambda t, _: trunc_rem(add(scale(t, 133), const(81)), const(8095)), times)


TERMS = {
    "generator": generator(DEPTH),
    "quotients": repeated(lambda t, k: add(trunc_div(scale(t, 2), const(3)), trunc_div(t, const(5)), const(k))),
    "floors": repeated(
        lambda t, k: add(scale(floor_div(t, const(7)), 7), scale(floor_div(add(t, Y), const(5)), 5), const(k)), 12
    ),
    "products": repeated(
        lambda t, _: trunc_rem(add(mul(t, add(floor_div(t, const(7)), const(3))), mod(t, const(5))), const(1009))
    ),
    "minima": repeated(lambda t, k: minimum(add(neg(t), Y, const(k)), trunc_div(t, const(3)), add(M, const(3 * k)), Z)),
    "choices": repeated(
        lambda t, k: ite(less(t, scale(Y, k)), add(scale(t, 2), const(-k)), trunc_rem(add(t, Y), const(97 + k)))
    ),
    "wraps": repeated(
        lambda t, k: wrap(add(floor_div(t, const(3)), floor_div(add(t, Y), const(5 + k)), scale(Z, k)), INT)
    ),
}


def alternating() -> Condition:
    condition = less(X, Y)
    for k in range(DEPTH):
        first = conjunction((condition, less(X, const(7 * k))))
        condition = disjunction((first, conjunction((negate(condition), less(Y, add(X, const(k)))))))
    return condition


CONDITIONS = {"alternating": alternating(), **{name: less(term, Y) for name, term in TERMS.items()}}
NODES = {**TERMS, **{f"{name}, a condition": condition for name, condition in CONDITIONS.items()}}


def parts(node: Node) -> int:
    """The parts and their operands, each once: what the node takes in memory."""
    return sum(1 + len(part.children) for part in walk(node))


def points(node: Node, number: int = 5) -> Iterator[dict[Var, int]]:
    chance = random.Random(7)
    for size in (10, 1000, 1 << 31)[:number] * 2:
        yield {v: v.type.wrap(chance.randrange(-size, size)) for v in sorted(node.variables)}


class Counted:
    """A function that may be called so many times; more is an error, long before it would be no end."""

    def __init__(self, function: Callable[..., Any], most: int) -> None:
        self.function = function
        self.left = most

    def __call__(self, *args: Any, **more: Any) -> Any:
        self.left -= 1
        assert self.left >= 0, "each part is worked on again and again"
        return self.function(*args, **more)


def limit(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, most: int) -> None:
    counted = Counted(getattr(owner, name), most)
    monkeypatch.setattr(owner, name, lambda *args: counted(*args))  # noqa: PLW0108  a function becomes a method


# -- working with terms -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TERMS)
def test_each_part_has_its_value_found_once(name, monkeypatch):
    term = TERMS[name]
    limit(monkeypatch, EVALUATOR, "_worked_out", 4 * DEPTH * parts(term))
    at = dict.fromkeys(term.variables, 12345)
    low, high = range_of(term)
    value = evaluate(term, at)
    assert (low is None or low <= value) and (high is None or value <= high)


def test_residues_are_found_once(monkeypatch):
    term = wrap(
        repeated(lambda t, k: add(mul(floor_div(t, const(3)), Y), floor_div(add(t, Y), const(3)), const(k))), INT
    )
    limit(monkeypatch, EVALUATOR, "_worked_out", 20 * parts(term))
    x, y = 1 << 20, 3
    wanted = x
    for k in range(DEPTH):
        wanted = wanted // 3 * y + (wanted + y) // 3 + k
    assert evaluate(term, {X: x, Y: y}) == INT.wrap(wanted)


def test_truths_are_found_once(monkeypatch):
    condition = CONDITIONS["alternating"]
    limit(monkeypatch, EVALUATOR, "_worked_out", 4 * parts(condition))
    x, y = 3, 5
    wanted = x < y
    for k in range(DEPTH):
        wanted = (wanted and x < 7 * k) or (not wanted and y < x + k)
    assert holds(condition, {X: x, Y: y}) is wanted


def test_a_missing_value_is_found_missing_once(monkeypatch):
    term: Term = floor_div(X, Y)
    for k in range(DEPTH):
        term = ite(less(term, const(k)), add(term, ONE), add(term, const(2)))
    limit(monkeypatch, EVALUATOR, "_worked_out", 4 * parts(term))
    assert holds(disjunction((less(term, ZERO), less(X, const(9)))), {X: 1, Y: 0})
    with pytest.raises(ArithmeticError, match="division by zero"):
        evaluate(term, {X: 1, Y: 0})


def test_conditions_are_rebuilt_once_for_each_part(monkeypatch):
    condition = CONDITIONS["alternating"]
    count = parts(condition)
    assert with_comparisons(condition, Counted(lambda part: part, count)) is condition
    assert len(list(comparisons(condition))) <= count
    known = Known([less(X, const(3)), less(const(8), Y)])
    limit(monkeypatch, Known, "_compared", count)
    decided = known.decide(condition)
    for at in ({X: 1, Y: 9}, {X: -50, Y: 77}, {X: 2, Y: 1 << 30}):
        assert holds(decided, at) == holds(condition, at)
    assert shorter(condition, less(X, Y)) is less(X, Y)


def test_flags_of_flags_are_lifted_once(monkeypatch):
    limit(monkeypatch, conditions, "_lift", 40 * DEPTH)
    yes, no = ZERO, ONE
    for k in range(DEPTH):
        yes, no = ite(less(X, const(k)), yes, no), ite(less(Y, const(k)), no, yes)
    flag = equals_zero(yes)
    for at in ({X: 3, Y: 7}, {X: 20, Y: 2}, {X: 39, Y: 39}):
        assert holds(flag, at) == (evaluate(yes, at) == 0)


def test_choices_of_choices_are_wrapped_once():
    term: Term = mul(X, Y)
    for k in range(DEPTH):
        term = ite(less(mul(X, Y), const(k)), term, ite(less(X, const(k)), term, scale(mul(X, Y), k + 2)))
    wrapped = wrap(term, IntType(16))
    assert parts(wrapped) <= 20 * parts(term)
    at = {X: 1234, Y: 567}
    assert evaluate(wrapped, at) == IntType(16).wrap(evaluate(term, at))


def test_the_class_of_a_term_is_found_once(monkeypatch):
    term = TERMS["quotients"]
    limit(monkeypatch, asymptotics._Classes, "_towards", 4 * parts(term))
    assert str(asymptotics.asymptotic_class(term, lambda var: var.name).text()) == "O(x)"


def test_sequences_are_found_once(monkeypatch):
    i = Var("i", UNSIGNED)
    term: Term = i
    for k in range(DEPTH):
        term = add(scale(floor_div(add(term, const(k)), const(2)), 2), mod(term, const(2)), const(-k))
    limit(monkeypatch, lifting, "_lifted", 8 * parts(term))
    counter = Sequence((), (ExpPoly({(1, 1, ()): constant(1).items[1, 0, ()]}),))
    found = lifting.lift(term, {i: lifting.KnownSequence(counter)})
    for n in range(5):
        assert evaluate(found.at(n).value_term(), {}) == evaluate(term, {i: n})


def test_terms_travel_as_they_are():
    for node in (*NODES.values(), generator(10_000)):
        sent = dumps(("answer", node, [node]))
        kind, first, (second,) = pickle.loads(sent)
        assert kind == "answer" and first is node and second is node
        assert len(sent) <= 400 * parts(node)


@pytest.mark.parametrize("node", [TERMS["choices"], CONDITIONS["alternating"]], ids=["term", "condition"])
def test_the_judges_code_has_each_part_once(node):
    lines = Lines()
    names = {X: "x", Y: "y"}
    writer = Expressions(lines, names, lambda _: 0)
    lines("def run(x, y):")
    with lines.deeper():
        lines(f"return {writer.term(node) if isinstance(node, Term) else writer.condition(node)}")
    assert len(lines.lines) <= 20 * parts(node)
    space: dict[str, Any] = dict(HELPERS)
    exec("\n".join(lines.lines), space)
    for at in points(node):
        wanted = evaluate(node, at) if isinstance(node, Term) else holds(node, at)
        assert space["run"](at[X], at[Y]) == wanted


# -- nested deep ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_ten_thousand_steps_are_as_good_as_twenty():
    term = generator(10_000)
    value = 5
    for _ in range(10_000):
        value = (value * 133 + 81) % 8095
    assert evaluate(term, {X: 5}) == value
    assert evaluate(substitute(term, {X: sub(Y, ONE)}), {Y: 6}) == value
    shown = Definitions({"x"})
    whole = shown.text(term)
    assert len(whole) + sum(len(part) for _, part in shown.values) <= 40 * parts(term)
    assert max(one.count("(") for one in (whole, *(part for _, part in shown.values))) <= 200
    written = smt(term)
    assert written is not None and len(written) <= 120 * parts(term)
    assert negate(negate(less(term, Y))) is less(term, Y)


# -- writing ----------------------------------------------------------------------------------------------------------


class C(int):
    """An integer with C's quotient and remainder."""

    def __truediv__(self, other: int) -> C:
        quotient = abs(self) // abs(other)
        return C(quotient if (self >= 0) == (other > 0) else -quotient)

    def __mod__(self, other: int) -> C:
        return C(self - other * (self / other))

    def __add__(self, other: int) -> C:
        return C(int(self) + other)

    def __radd__(self, other: int) -> C:
        return C(int(self) + other)

    def __sub__(self, other: int) -> C:
        return C(int(self) - other)

    def __rsub__(self, other: int) -> C:
        return C(other - int(self))

    def __mul__(self, other: int) -> C:
        return C(int(self) * other)

    def __rmul__(self, other: int) -> C:
        return C(int(self) * other)

    def __neg__(self) -> C:
        return C(-int(self))


FUNCTIONS = {
    "floor_div": lambda a, b: C(int(a) // int(b)),
    "ceil_div": lambda a, b: C(-(-int(a) // int(b))),
    "mod": lambda a, b: C(int(a) - int(a) // int(b) * int(b)),
    "min": lambda *args: C(min(args)),
    "max": lambda *args: C(max(args)),
}


def read(shown: str, values: dict[str, Any]) -> Any:
    return eval(shown, {**FUNCTIONS, **values})


@pytest.mark.parametrize("name", ["generator", "quotients", "floors", "products", "minima"])
def test_a_text_with_names_says_what_the_term_does(name):
    term = TERMS[name]
    shown = Definitions({var.name for var in term.variables})
    whole = shown.text(term)
    assert len(whole) + sum(map(len, dict(shown.values).values())) <= 60 * parts(term)
    assert not {name for name, _ in shown.values} & {var.name for var in term.variables}
    for at in points(term):
        values: dict[str, Any] = {var.name: C(value) for var, value in at.items()}
        for part, meaning in shown.values:
            assert part not in values
            values[part] = read(meaning, values)
        assert read(whole, values) == evaluate(term, at)


@pytest.mark.parametrize("name", NODES)
def test_texts_are_linear_in_the_parts(name):
    node = NODES[name]
    assert len(text(node)) <= 80 * parts(node)
    # It has names for parts: whole it would be exponentially longer, or is nested deeper than people read.
    assert name.startswith("generator") or " where " in text(node)


def test_what_is_short_is_written_whole():
    assert " where " not in text(generator(20))
    assert smt(generator(2)) is not None
    assert "let" not in smt(generator(2))


def test_several_texts_share_their_names():
    shown = Definitions({"x"})
    first = shown.text(TERMS["quotients"])
    count = len(shown.values)
    assert count > 10
    again = shown.text(add(TERMS["quotients"], ONE))
    assert len(shown.values) <= count + 1
    assert first != again


def test_a_form_that_would_be_much_longer_stays_the_canonical_one():
    # 7*floor_div(e, 7) - y reads better as t - mod(e, 7) where e is t + y, but says t twice, and so on inside of t
    def rounded(term: Term, _: int) -> Term:
        rest = add(X, Y, M)
        return trunc_rem(sub(scale(floor_div(add(rest, term), const(7)), 7), rest), const(1009))

    assert text(rounded(mul(X, Y), 0)).count("x*y") == 2
    term = repeated(rounded, 14)
    assert len(text(term)) <= 80 * parts(term)


@pytest.mark.slow
def test_what_is_too_large_is_said_to_be():
    term = repeated(lambda t, k: ite(less(Y, const(k)), add(t, const(k)), const(k)), MAX_SHARED_NODES // 3)
    assert re.fullmatch(r"an expression of \d+ parts, too large to be written", text(term))
    assert smt(term) is None


@pytest.mark.parametrize("name", NODES)
def test_smt_lib_says_what_the_node_does(name):
    node = NODES[name]
    written = smt(node)
    assert written is not None
    assert len(written) <= 200 * parts(node)
    assert "(let " in written
    names = {var: symbol(var.name) for var in sorted(node.variables)}
    for at in points(node, 3):
        solver = z3.Solver()
        given = [f"(declare-const {names[v]} Int)(assert (= {names[v]} {_number(value)}))" for v, value in at.items()]
        if isinstance(node, Condition):
            claim = written if holds(node, at) else f"(not {written})"
        else:
            claim = f"(= {written} {_number(evaluate(node, at))})"
        solver.from_string("".join(given) + f"(assert (not {claim}))")
        assert solver.check() == z3.unsat


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


def test_let_takes_no_name_of_a_variable():
    taken = [Var(name, INT) for name in ("t1", "t2", "m", "mm", "c1")]
    term: Term = add(*taken)
    for k in range(20):
        term = minimum(add(neg(term), taken[2], const(k)), trunc_div(term, const(3)), taken[k % 5], taken[3])
    written = smt(term)
    assert written is not None
    for name in ("t1", "t2", "m", "mm", "c1"):
        assert f"(({name} " not in written
        assert f" ({name} " not in written

"""Aggregates: what they mean, that bound variables are nobody else's, that one pass suffices."""

from __future__ import annotations

import random

import pytest

from loopless.terms import (
    INTEGERS,
    Aggregate,
    Condition,
    EvaluationError,
    IntType,
    Layout,
    Node,
    Rows,
    Scalar,
    Style,
    Term,
    Var,
    add,
    aggregates_in,
    conjunction,
    const,
    count,
    equal,
    evaluate,
    first,
    fold,
    greater,
    greatest,
    holds,
    ite,
    last,
    least,
    less,
    mul,
    negate,
    position,
    range_of,
    read,
    replace_terms,
    scale,
    sub,
    substitute,
    text,
    total,
    transform,
)

INT = IntType(32, signed=True)
BYTE = IntType(8, signed=False)
START, N, X, Y = (Var(name, INT) for name in "inxy")
T, U = position("t"), position("u")


def element(at: Term, array: str = "a") -> Term:
    return read(array, at, BYTE)


def reader(content: bytes):
    def reads(array: str, offset: int, type: IntType) -> int:
        assert type == BYTE
        assert array == "a"
        if not 0 <= offset < len(content):
            raise EvaluationError(f"{offset} lies outside")
        return content[offset]

    return reads


def everywhere(_array: str, offset: int, _type: IntType) -> int:
    """An element at every offset."""
    return CONTENT[offset % len(CONTENT)]


CONTENT = bytes((3, 0, 7, 7, 200, 1, 0, 5))


@pytest.mark.parametrize("length", range(-1, 9))
def test_each_kind_is_what_its_definition_says(length: int) -> None:
    n = max(length, 0)
    part = CONTENT[:n]
    found = {
        "first": first(T, N, equal(element(T), const(7))),
        "last": last(T, N, equal(element(T), const(7))),
        "sum": total(T, N, mul(element(T), T)),
        "count": count(T, N, greater(element(T), const(2))),
        "least": least(T, N, X, element(T)),
        "greatest": greatest(T, N, X, element(T)),
        "fold": fold(T, N, {X: (const(1), add(scale(Y, 3), element(T))), Y: (X, X)}, X),
    }
    x = y = 0
    x, y = 1, 4
    for value in part:
        x, y = 3 * y + value, x
    expected = {
        "first": next((at for at, value in enumerate(part) if value == 7), n),
        "last": max((at for at, value in enumerate(part) if value == 7), default=-1),
        "sum": sum(at * value for at, value in enumerate(part)),
        "count": sum(value > 2 for value in part),
        "least": min([4, *part]),
        "greatest": max([4, *part]),
        "fold": x,
    }
    assert {k: evaluate(t, {N: length, X: 4}, reader(CONTENT)) for k, t in found.items()} == expected


def test_a_search_reads_nothing_behind_what_it_finds() -> None:
    found = first(T, N, equal(element(T), const(200)))
    assert evaluate(found, {N: 1 << 60}, reader(CONTENT)) == 4
    with pytest.raises(EvaluationError):
        evaluate(first(T, N, equal(element(T), const(9))), {N: 1 << 60}, reader(CONTENT))


def test_a_false_part_decides_before_an_element_that_is_not_there() -> None:
    inside = conjunction((less(T, const(8)), equal(element(T), const(9))))
    assert evaluate(first(T, N, negate(inside)), {N: 20}, reader(CONTENT)) == 0
    stays = conjunction((less(T, const(8)), less(element(T), const(201))))
    assert evaluate(first(T, N, negate(stays)), {N: 20}, reader(CONTENT)) == 8


def test_names_of_bound_variables_do_not_matter() -> None:
    one = total(T, N, total(U, T, mul(element(U), T)))
    other = total(U, N, total(T, U, mul(element(T), U)))
    assert one is other
    assert one.variables == {N}
    assert total(T, N, element(T)) is total(Var("anything", T.type), N, element(Var("anything", T.type)))


def _random(rng: random.Random, depth: int, scope: tuple[Var, ...]) -> Term:
    """A term over N, X, what is bound around it, and elements, with aggregates."""
    choice = rng.randrange(9 if depth else 4)
    if choice < 2:
        return rng.choice([X, Y, const(rng.randrange(5)), *scope, *scope])
    if choice == 2:
        return element(_index(rng, scope))
    if choice == 3:
        return add(rng.choice([X, Y, *scope]), const(rng.randrange(3)))
    if choice == 4:
        return add(_random(rng, depth - 1, scope), _random(rng, depth - 1, scope))
    if choice == 5:
        return ite(_condition(rng, depth - 1, scope), _random(rng, depth - 1, scope), _random(rng, depth - 1, scope))
    at = Var(f"p{len(scope)}", T.type)
    length = rng.choice([N, const(3), *scope, add(N, const(1))])
    within = (*scope, at)
    match rng.randrange(6):
        case 0:
            return first(at, length, _condition(rng, depth - 1, within))
        case 1:
            return last(at, length, _condition(rng, depth - 1, within))
        case 2:
            return count(at, length, _condition(rng, depth - 1, within))
        case 3:
            kind = least if rng.random() < 0.5 else greatest
            return kind(at, length, _random(rng, depth - 1, scope), _random(rng, depth - 1, within))
        case 4:
            held = Var(f"s{len(scope)}", INTEGERS)
            following = _random(rng, depth - 1, (*within, held))
            return fold(at, length, {held: (_random(rng, depth - 1, scope), following)}, held)
        case _:
            return total(at, length, _random(rng, depth - 1, within))


def _index(rng: random.Random, scope: tuple[Var, ...]) -> Term:
    inside = [var for var in scope if var.name.startswith("p")]
    return rng.choice([const(rng.randrange(8)), N, *inside])


def _condition(rng: random.Random, depth: int, scope: tuple[Var, ...]) -> Condition:
    return rng.choice((less, equal, greater))(_random(rng, depth, scope), _random(rng, depth, scope))


def _naive(node: Node, values: dict[Var, int]) -> int:
    """The value by replacing positions by numbers, one after another: no pass, no memory."""
    inner = [part for part in aggregates_in(node) if not any(v.name.startswith("~") for v in part.variables)]
    outermost = [
        part for part in inner if not any(part is not other and part in aggregates_in(other) for other in inner)
    ]
    known: dict[Term, Term] = {part: const(_by_definition(part, values)) for part in outermost}
    plain = replace_terms(node, known)
    return holds(plain, values, everywhere) if isinstance(plain, Condition) else evaluate(plain, values, everywhere)


def _by_definition(part: Aggregate, values: dict[Var, int]) -> int:
    length = max(_naive(part.outside[0], values), 0)
    states = [_naive(start, values) for start in part.outside[2 if part.kind == "fold" else 1 :]]
    found: list[int] = []
    for at in range(length):
        depth = len(values)
        names = (Var(f"at {depth}", T.type), *(Var(f"{i} of {depth}", INTEGERS) for i in range(len(part.bound) - 1)))
        here = {**values, **dict(zip(names, (at, *states)[: len(names)], strict=True))}
        renamed = [
            substitute(inside, dict(zip(part.bound, names, strict=True)))  # type: ignore[arg-type,call-overload]
            for inside in part.inside
        ]
        now = [_naive(inside, here) for inside in renamed]
        if part.kind == "fold":
            states = now
        found += now[:1]
    match part.kind:
        case "first":
            return next((at for at, hit in enumerate(found) if hit), length)
        case "last":
            return max((at for at, hit in enumerate(found) if hit), default=-1)
        case "sum":
            return sum(found)
        case "least":
            return min([*states, *found])
        case "greatest":
            return max([*states, *found])
        case _:
            return states[part.outside[1].value]  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", range(60))
def test_substitution_and_passes_on_random_terms(seed: int) -> None:
    rng = random.Random(seed)
    whole, put = _random(rng, 3, ()), _random(rng, 2, ())
    values = {X: rng.randrange(6), Y: rng.randrange(6), N: rng.randrange(4)}
    by_passes = evaluate(put, values, everywhere)
    after = {**values, X: by_passes}
    expected = _naive(whole, after)
    assert by_passes == _naive(put, values)
    assert evaluate(whole, after, everywhere) == expected
    replaced = substitute(whole, {X: put})
    assert evaluate(replaced, values, everywhere) == expected
    assert evaluate(transform(whole, lambda v: put if v is X else v), values, everywhere) == expected
    assert replaced is replace_terms(whole, {X: put})
    low, high = range_of(replaced)
    assert (low is None or low <= expected) and (high is None or expected <= high)


def test_prefixes_take_one_pass() -> None:
    reads = 0

    def counting(array: str, offset: int, type: IntType) -> int:
        nonlocal reads
        reads += 1
        return 1

    exceeds = first(U, N, greater(total(T, U, element(T)), const(10**6)))
    assert evaluate(exceeds, {N: 3000}, counting) == 3000
    assert reads <= 3000


def test_what_is_simple_is_no_aggregate() -> None:
    assert total(T, N, const(2)) is evaluate_free(N)
    assert total(T, const(0), element(T)) is const(0)
    assert first(T, const(-3), equal(element(T), X)) is const(0)
    assert not any(aggregates_in(least(T, N, X, Y)))


def evaluate_free(n: Var) -> Term:
    from loopless.terms import maximum

    return scale(maximum(n, const(0)), 2)


def test_printed() -> None:
    bytes_of_a = Layout((Rows(0, None, 1, "", {(0, 1): Scalar("", BYTE)}),))
    style = Style(layouts={"a": bytes_of_a})
    found = first(T, sub(N, START), equal(element(add(START, T)), X))
    assert text(found, style) == "first(k < n - i: a[i + k] == x)"
    assert text(count(T, N, greater(element(T), const(2))), style) == "count(k < n: a[k] >= 3)"
    k = Var("k", INT)
    assert text(total(T, k, element(T)), style) == "sum(k1 < k: a[k1])"
    shown = fold(T, N, {X: (const(1), add(scale(X, 31), element(T)))}, X)
    assert text(shown, style) == "fold(v = 1; k < n: v' = a[k] + 31*v)"


def test_what_is_not_declared_is_printed_by_its_bytes() -> None:
    assert text(element(T)) == f"*(uint8_t *)((char *)a + {T.name})"
    other = Layout((Rows(0, None, 2, "", {(0, 2): Scalar("", IntType(16))}),))
    assert text(element(T), Style(layouts={"a": other})) == f"*(uint8_t *)((char *)a + {T.name})"
    same_width = Layout((Rows(0, None, 1, "", {(0, 1): Scalar("", IntType(8))}),))
    assert text(element(T), Style(layouts={"a": same_width})) == f"(uint8_t)a[{T.name}]"
    assert text(equal(element(T), const(200)), Style(layouts={"a": same_width})) == f"a[{T.name}] == -56"
    assert text(less(element(T), const(200)), Style(layouts={"a": same_width})) == f"(uint8_t)a[{T.name}] < 200"

"""What ``--assume`` reads is what a compiler makes of the same text: compared with native runs at the ends of all types."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest

from loopless.check.oracle.native import NativeOracle, NativeRun
from loopless.errors import UsageError
from loopless.queries.assume.c_arithmetic import IntegerKind, Reading
from loopless.queries.assume.conditions import parse_condition
from loopless.source.compile import SourceOptions
from loopless.terms import IntType, Var, holds

MODELS = {
    "LP64": Reading(int_bits=32, long_bits=64, pointer_bits=64),
    "ILP32": Reading(int_bits=32, long_bits=32, pointer_bits=32),
}
TYPES = {
    "a": ("signed char", 8, True),
    "b": ("unsigned char", 8, False),
    "c": ("short", 16, True),
    "d": ("unsigned short", 16, False),
    "e": ("int", 32, True),
    "f": ("int", 32, True),
    "g": ("unsigned", 32, False),
    "h": ("unsigned int", 32, False),
    "i": ("long", 0, True),
    "j": ("unsigned long", 0, False),
    "k": ("long long", 64, True),
    "l": ("unsigned long long", 64, False),
    "m": ("_Bool", 1, False),
}
CASTS = (
    *("unsigned char", "signed char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long", "_Bool"),
    *("long long", "unsigned long long", "short int", "long unsigned int", "signed"),
)
LITERALS = (
    *("0", "1", "2", "3", "7", "31", "127", "128", "255", "32767", "65535", "65536", "2147483647", "2147483648"),
    *("4294967295", "4294967296", "9223372036854775807", "0u", "1u", "3U", "4294967295u", "1l", "2L", "1ul", "3LU"),
    *("1ll", "5ull", "18446744073709551615u", "0x7fffffff", "0x80000000", "0xFFFFFFFF", "0x7fffffffffffffff"),
    *("0xffffffffffffffff", "017", "037777777777", "'a'", "'\\n'", "'\\0'", "'\\101'", "'\\x7f'", "0b101"),
)
BINARY = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||")
NEVER = re.compile("the divisor is 0|has no value|a shift of")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def typed(reading: Reading) -> dict[str, IntType]:
    return {name: IntType(bits or reading.long_bits, signed) for name, (_, bits, signed) in TYPES.items()}


def expression(dice: random.Random, depth: int) -> str:
    """A random expression with all its parentheses. What is shifted to the left is unsigned: see the last test."""
    if depth == 0 or dice.random() < 0.1:
        return dice.choice(tuple(TYPES)) if dice.random() < 0.65 else dice.choice(LITERALS)
    kind = dice.random()
    if kind < 0.12:
        return f"{dice.choice('-~!+')}({expression(dice, depth - 1)})"
    if kind < 0.24:
        return f"({dice.choice(CASTS)})({expression(dice, depth - 1)})"
    sign = dice.choice(BINARY)
    left = f"(unsigned{' long long' * (dice.random() < 0.5)})" if sign == "<<" else ""
    return f"({left}({expression(dice, depth - 1)})) {sign} ({expression(dice, depth - 1)})"


def flat(dice: random.Random) -> str:
    """Operators in a row, so that precedence decides; no two comparisons of one precedence among them."""
    parts = [dice.choice(tuple(TYPES))]
    free = {"<": True, "==": True}
    for _ in range(dice.randint(2, 5)):
        sign = dice.choice([sign for sign in BINARY if sign != "<<"])
        if sign in ("&&", "||"):
            free = {"<": True, "==": True}
        level = "==" if sign in ("==", "!=") else "<" if sign in COMPARISONS else ""
        if level and not free[level]:
            continue
        free[level] = False
        atom = dice.choice(tuple(TYPES)) if dice.random() < 0.6 else dice.choice(("1", "2", "3u", "'a'", "0x80000000"))
        parts += [sign, dice.choice(("", "", "-", "~", "!", "(unsigned)")) + atom]
    return " ".join(parts)


def drawn(dice: random.Random, type: IntType) -> int:
    """A value of a type, often at an end of some type."""
    bits = dice.choice((1, 8, 16, 32, 64))
    near = dice.choice((0, 1 << bits, 1 << bits - 1, -(1 << bits - 1))) + dice.randint(-2, 2)
    value = dice.choice((near, dice.randint(-4, 40), dice.getrandbits(64)))
    return value & 1 if type.width == 1 else type.wrap(value)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "seed"), [("LP64", 1), ("LP64", 2), ("ILP32", 3)])
def test_conditions_hold_where_they_do_natively(model, seed):
    dice, reading = random.Random(seed), MODELS[model]
    variables = {name: Var(name, type) for name, type in typed(reading).items()}

    def lookup(name):
        type = variables[name].type
        return variables[name], reading.sized(type.width, signed=type.signed)

    texts, seen = {}, Counter()
    while len(texts) < 150:
        text = flat(dice) if dice.random() < 0.4 else expression(dice, dice.randint(1, 4))
        try:
            texts[text] = parse_condition(text, lookup, reading)
        except UsageError as error:
            seen["never defined" if NEVER.search(str(error)) else "wrong"] += 1
    program = "".join(f"{words} {name};\n" for name, (words, _, _) in TYPES.items())
    program += "\n".join(f"int f{n}(void) {{ return ({text}) ? 1 : 0; }}" for n, text in enumerate(texts))
    with NativeOracle(program, options=SourceOptions(data_model=model)) as oracle:
        for n, (text, condition) in enumerate(texts.items()):
            rows = [{name: drawn(dice, variables[name].type) for name in TYPES} for _ in range(40)]
            runs = [NativeRun((), globals=row) for row in rows]
            for row, outcome in zip(rows, oracle.run_many(f"f{n}", runs), strict=True):
                values = {variables[name]: value for name, value in row.items()}
                assert outcome.status in ("ok", "undefined"), outcome
                expected = outcome.status == "ok" and outcome.return_value == 1
                assert holds(condition, values) == expected, (text, row, str(outcome))
                seen[outcome.status if outcome.status != "ok" else str(expected)] += 1
    assert seen["True"] > 500
    assert seen["False"] > 500
    assert seen["undefined"] > 200
    assert seen["never defined"] < 100
    assert not seen["wrong"]


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_each_operator_at_the_ends_of_all_pairs_of_types(model):
    reading = MODELS[model]
    variables = {name: Var(name, type) for name, type in typed(reading).items()}
    variables |= {f"{name}_too": Var(f"{name}_too", type) for name, type in typed(reading).items()}

    def lookup(name):
        type = variables[name].type
        return variables[name], reading.sized(type.width, signed=type.signed)

    pairs = [(x, f"{y}_too") for x in "aegil" for y in "aegil"]
    asked = [(x, y) for x, y in pairs for sign in BINARY if sign != "<<" or x in "gjl"]
    texts = [f"({x} {sign} {y}) > c" for x, y in pairs for sign in BINARY if sign != "<<" or x in "gjl"]
    program = "".join(f"{words} {name}, {name}_too;\n" for name, (words, _, _) in TYPES.items())
    program += "\n".join(f"int f{n}(void) {{ return {text}; }}" for n, text in enumerate(texts))
    seen = Counter()
    with NativeOracle(program, options=SourceOptions(data_model=model)) as oracle:
        for n, text in enumerate(texts):
            x, y = asked[n]
            ends = [(variables[v].type.min, -1, 1, variables[v].type.max) for v in (x, y)]
            rows = [
                {x: variables[x].type.wrap(a), y: variables[y].type.wrap(b), "c": c}
                for a in ends[0]
                for b in (*ends[1], 0, 31)
                for c in (-1, 40)
            ]
            condition = parse_condition(text, lookup, reading)
            outcomes = oracle.run_many(f"f{n}", [NativeRun((), globals=row) for row in rows])
            for row, outcome in zip(rows, outcomes, strict=True):
                expected = outcome.status == "ok" and outcome.return_value == 1
                values = {variables[name]: value for name, value in row.items()}
                assert holds(condition, values) == expected, (text, row, str(outcome))
                seen[outcome.status] += 1
    assert seen["ok"] > 12_000
    assert seen["undefined"] > 1_000


def test_a_signed_shift_to_the_left_has_a_value_where_c11_gives_it_one():
    """C11, 6.5.7: E1 not negative, and E1 times 2 to the power E2 representable in the type of the result."""
    names = {"x": Var("x", IntType(32)), "n": Var("n", IntType(32)), "w": Var("w", IntType(64))}

    def lookup(name):
        return names[name], IntegerKind(names[name].type.width, signed=True)

    defined = parse_condition("(x << n) * 0 == 0", lookup)
    wide = parse_condition("(w << n) * 0 == 0", lookup)
    for x in (-(2**31), -1, 0, 1, 2, 3, 2**30 - 1, 2**30, 2**31 - 1):
        for n in (-1, 0, 1, 2, 29, 30, 31, 32, 63, 64):
            values = {names["x"]: x, names["n"]: n, names["w"]: x}
            assert holds(defined, values) == (0 <= n < 32 and x >= 0 and x << n < 2**31), (x, n)
            assert holds(wide, values) == (0 <= n < 64 and x >= 0 and x << n < 2**63), (x, n)
    assert holds(parse_condition("x << 3 == 40", lookup), {names["x"]: 5})
    wraps = parse_condition("x << 31 == -2147483648", lookup, Reading(wrapv=True))
    assert holds(wraps, {names["x"]: 3})

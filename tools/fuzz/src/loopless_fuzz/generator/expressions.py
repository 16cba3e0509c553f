"""Random expressions and conditions over the variables of a generated function."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from loopless.check.oracle.signature import CType
from loopless_fuzz.generator.profile import Profile
from loopless_fuzz.generator.syntax import (
    ARRAY_LENGTH,
    INT,
    LLONG,
    UINT,
    ULLONG,
    Binary,
    Call,
    Cast,
    Choice,
    Const,
    Element,
    Expr,
    Unary,
    Var,
)

T = TypeVar("T")

_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


@dataclass(slots=True)
class Names:
    """What a function's statements can name at the place that is being written."""

    scalars: dict[str, CType] = field(default_factory=dict)
    arrays: dict[str, CType] = field(default_factory=dict)
    tables: dict[str, CType] = field(default_factory=dict)
    helpers: dict[str, int] = field(default_factory=dict)
    references: dict[str, CType] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    bounded: set[str] = field(default_factory=set)

    def free(self) -> list[str]:
        """The scalars that may be changed here: all but counters and bounds of loops around."""
        return [name for name in self.scalars if name not in self.kept]


class Expressions:
    """Draws expressions; ``random`` is shared with the caller, so that a seed fixes everything."""

    def __init__(self, rng: random.Random, profile: Profile, names: Names, types: tuple[CType, ...]) -> None:
        self.random = rng
        self.profile = profile
        self.names = names
        self.types = types

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self.random.random() < probability

    def pick(self, *options: T) -> T:
        """One of the options."""
        return self.random.choice(options)

    def small(self) -> int:
        """A constant as loops of real programs have them."""
        if self.chance(0.15):
            return -self.pick(1, 2, 5, 9)
        return self.pick(0, 1, 1, 2, 2, 3, 4, 5, 7, 8, 10, 16, 31, 64, 100)

    def literal(self, value: int) -> Const:
        """A literal for a value, of the least type that C would give it."""
        for ctype in (INT, UINT, LLONG, ULLONG) if value > INT.high and self.chance(0.5) else (INT, LLONG, ULLONG):
            if ctype.low <= value <= ctype.high:
                return Const(value, ctype)
        raise ValueError(f"{value} fits no type")

    def constant(self) -> Const:
        """A literal: mostly small, sometimes at the edge of a type."""
        if self.chance(self.profile.edge_constants):
            ctype = self.random.choice(self.types)
            return self.literal(self.pick(ctype.low, ctype.high, ctype.high - 1, 1 << (ctype.bits - 2)))
        if self.chance(0.06):
            return Const(abs(self.small()), UINT)
        return Const(self.small())

    def variable(self) -> Expr:
        """A scalar, or now and then an element of an array."""
        if self.names.arrays and self.chance(0.25):
            return self.element()
        return Var(self.random.choice(list(self.names.scalars)))

    def element(self) -> Element:
        """An element of an array at an index that is in range."""
        array = self.random.choice(list(self.names.arrays))
        if self.names.bounded and self.chance(0.8):
            return Element(array, Var(self.random.choice(sorted(self.names.bounded))), masked=False)
        if self.chance(0.4):
            return Element(array, Const(self.random.randrange(ARRAY_LENGTH)), masked=False)
        return Element(array, Var(self.random.choice(list(self.names.scalars))))

    def value(self, depth: int = 2) -> Expr:
        """Any expression."""
        if depth == 0 or self.chance(0.45):
            return self.variable() if self.chance(0.7) else self.constant()
        profile = self.profile
        weighted = (
            (1.0, self._sum),
            (profile.products, self._product),
            (profile.casts, self._cast),
            (profile.ternaries, self._choice),
            (profile.division, self._quotient),
            (profile.shifts, self._shift),
            (profile.masks, self._bits),
            (0.06, self._unary),
            (profile.helpers if self.names.helpers else 0.0, self.call),
        )
        weights, makers = zip(*weighted, strict=True)
        maker: Callable[[int], Expr] = self.random.choices(makers, weights)[0]
        return maker(depth - 1)

    def _sum(self, depth: int) -> Expr:
        return Binary(self.pick("+", "+", "-"), self.value(depth), self.value(depth) if depth else self.constant())

    def _product(self, _depth: int) -> Expr:
        return Binary("*", self.variable(), Const(self.pick(2, 3, 5, -1, 10)) if self.chance(0.6) else self.variable())

    def _cast(self, depth: int) -> Expr:
        return Cast(self.random.choice(self.types), self.value(depth))

    def _choice(self, depth: int) -> Expr:
        return Choice(self.comparison(), self.value(depth), self.value(depth))

    def _quotient(self, depth: int) -> Expr:
        divisor: Expr = Const(self.pick(2, 3, 4, 7, 10, 16, -2, -3)) if self.chance(0.65) else self.variable()
        return Binary(self.pick("/", "%"), self.value(depth), divisor)

    def _shift(self, depth: int) -> Expr:
        if self.chance(0.75):
            return Binary(self.pick("<<", ">>"), self.value(depth), Const(self.pick(1, 1, 2, 3, 4, 7)))
        amount = Binary("&", self.variable(), Const(self.pick(3, 7, 15))) if self.chance(0.7) else self.variable()
        return Binary(self.pick("<<", ">>"), self.value(depth), amount)

    def _bits(self, depth: int) -> Expr:
        if self.chance(0.7):
            return Binary("&", self.value(depth), Const(self.pick(1, 3, 7, 15, 127, 255, 6)))
        return Binary(self.pick("&", "|", "^"), self.value(depth), self.value(depth))

    def _unary(self, _depth: int) -> Expr:
        return Unary(self.pick("-", "~"), self.variable())

    def call(self, depth: int) -> Expr:
        """A call of a helper function."""
        name = self.random.choice(list(self.names.helpers))
        return Call(name, tuple(self.value(min(depth, 1)) for _ in range(self.names.helpers[name])))

    def comparison(self) -> Expr:
        """A comparison of a variable with something."""
        roll = self.random.random()
        if roll < 0.1:
            remainder = Binary("%", self.variable(), Const(self.pick(2, 3, 5)))
            return Binary(self.pick("==", "!="), remainder, Const(self.pick(0, 1)))
        if roll < 0.15:
            return Binary("&", self.variable(), Const(self.pick(1, 2, 4)))
        left = self.variable()
        right = self.variable() if self.chance(0.5) else self.constant() if self.chance(0.8) else self.value(1)
        if right == left:
            right = self.constant()
        return Binary(self.random.choice(_COMPARISONS), left, right)

    def condition(self, depth: int = 2) -> Expr:
        """A condition, perhaps with connectives."""
        if depth and self.chance(self.profile.connectives):
            if self.chance(0.1):
                return Unary("!", self.condition(depth - 1))
            return Binary(self.pick("&&", "||"), self.condition(depth - 1), self.condition(depth - 1))
        if self.chance(self.profile.nondet):
            return Call(self.pick("__VERIFIER_nondet_int", "__VERIFIER_nondet_uint", "__VERIFIER_nondet_char"))
        return self.comparison()

"""Random statements about what loops read: conditions on elements, and what an iteration does with them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from loopless.check.oracle.signature import CType
from loopless_fuzz.generator.expressions import Names
from loopless_fuzz.generator.inputs import LETTERS
from loopless_fuzz.generator.loops import Loops
from loopless_fuzz.generator.profile import Profile
from loopless_fuzz.generator.syntax import (
    ARRAY_LENGTH,
    CHAR,
    INT,
    LLONG,
    SCHAR,
    SHORT,
    UCHAR,
    UINT,
    ULLONG,
    USHORT,
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Choice,
    Const,
    Element,
    Expr,
    If,
    Return,
    Stmt,
    Unary,
    Var,
)

ROW: Final = 4
"""The elements of a row, where loops go over rows."""
_COUNTERS: Final = (INT, INT, INT, INT, INT, UINT, UINT, ULLONG, LLONG, SHORT, UCHAR)
_SUMS: Final = (INT, INT, INT, UINT, UINT, UINT, ULLONG, LLONG, UCHAR, USHORT, SHORT)


class Work(Loops):
    """Draws what is done with elements."""

    def __init__(self, rng: random.Random, profile: Profile) -> None:
        super().__init__(rng, profile, Names(), tuple(rng.choice(profile.types) for _ in range(2)))
        small = profile.reach < ARRAY_LENGTH
        self.counters = profile.types if small else _COUNTERS
        self.sums = profile.types if small else _SUMS
        self.streams: dict[str, CType] = {}
        """The arrays that are read with indices that are in range by themselves."""
        self.reduced: dict[str, CType] = {}
        """Short arrays, whose indices are masked."""
        self.drawing = self.pick(0.4, 1.0) if self.chance(profile.nondet) else 0.0
        """How often an input is taken in place of an element."""
        self.limit = "n"
        self.place = self.pick("same", "same", "same", "double", "back", "next")

    # -------------------------------------------------------------------------------------------- elements, conditions

    def letter(self, ctype: CType = INT) -> Expr:
        """What elements are compared with."""
        others = [name for name in self.names.scalars if name in ("x", "y")]
        if others and self.chance(0.35):
            return Var(self.random.choice(others))
        wide = (0, 0, 1, 5, -1, 10, 100, ctype.high, ctype.low + 1)
        value = self.pick(*(LETTERS if ctype.bits == 8 else wide))
        return Const(value) if INT.low <= value <= INT.high else self.literal(value)

    def item(self, at: Expr, name: str = "") -> Expr:
        """An element at the place of index ``at``, or an input."""
        if not name and self.chance(self.drawing):
            return Call(self.pick("__VERIFIER_nondet_int", "__VERIFIER_nondet_uint", "__VERIFIER_nondet_char"))
        if not name and self.reduced and self.chance(0.2):
            table = self.random.choice(list(self.reduced))
            inner = self.item(at, "a") if self.chance(0.5) else at
            return Element(table, inner)
        name = name or (self.random.choice(list(self.streams)) if self.chance(0.5) else next(iter(self.streams)))
        return Element(name, self._placed(at), masked=False)

    def _placed(self, at: Expr) -> Expr:
        match self.place:
            case "double":
                even = Binary("*", at, Const(2))
                return Binary("+", even, Const(1)) if self.chance(0.5) else even
            case "back":
                return Binary("-", Binary("-", Var(self.limit), Const(1)), at)
            case "next" if self.chance(0.4):
                return Binary("+", at, Const(1))
            case _:
                return at

    def about(self, item: Callable[[], Expr], depth: int = 1) -> Expr:
        """A condition on elements."""
        roll = self.random.random()
        if depth and roll < 0.15:
            return Binary(self.pick("&&", "&&", "||"), self.about(item, 0), self.about(item, 0))
        element = item()
        other = item()
        if roll < 0.3 and other != element:
            return Binary(self.pick("==", "!=", "<", ">="), element, other)
        if roll < 0.36:
            return Binary("&", element, Const(self.pick(1, 2, 128)))
        if roll < 0.42:
            return Binary("&&", Binary(">=", element, Const(48)), Binary("<=", element, Const(57)))
        if roll < 0.47 and "x" in self.names.scalars:
            return Binary(
                self.pick("||", "&&"), Binary(">", Var("x"), Const(3)), Binary("==", element, self.letter(CHAR))
            )
        if roll < 0.52:
            return Binary("<", element, Const(0))
        if roll < 0.56:
            return Binary("==", Binary("%", element, Const(self.pick(2, 3, 10))), Const(self.pick(0, 1)))
        return Binary(self.pick("==", "!=", "==", "!=", "<", ">", "<=", ">="), element, self.letter(self.types[0]))

    # ----------------------------------------------------------------------------------------------------------- bodies

    def work(self, item: Callable[[], Expr], at: Expr | None) -> tuple[Block, Block]:
        """What an iteration does with elements: declarations before the loop, and statements in it."""
        sums = (self._summed, self._summed, self._folded)
        makers = (*sums, self._count, self._last, self._extreme, self._flag, self._longest)
        before: list[Stmt] = []
        body: list[Stmt] = []
        for _ in range(self.pick(1, 1, 1, 2, 2, 3)):
            declared, done = self.random.choice(makers)(item, at)
            before.extend(declared)
            body.extend(done)
        return tuple(before), tuple(body)

    def total(self, prefix: str, start: int | None = None) -> tuple[Stmt, Var]:
        """A variable that sums up."""
        value: Expr = Const(start if start is not None else self.pick(0, 0, 0, 1, 5))
        if start is None and "x" in self.names.scalars and self.chance(0.1):
            value = Var("x")
        made = self.declare(prefix, self.random.choice(self.sums), value)
        return made, Var(made.name)

    def _summed(self, item: Callable[[], Expr], _: Expr | None) -> tuple[Block, Block]:
        made, total = self.total("s")
        roll = self.random.random()
        if roll < 0.35:
            return (made,), (Assign(total, self.pick("+", "+", "+", "-", "^", "|", "&"), item()),)
        if roll < 0.5:
            amount = Choice(self.about(item), Const(self.pick(1, 2, 5)), Const(self.pick(0, 5, -1)))
            return (made,), (Assign(total, "+", amount),)
        if roll < 0.65:
            factor = Const(self.pick(31, 33, 10, 2, 256))
            return (made,), (Assign(total, "", Binary("+", Binary("*", total, factor), item())),)
        if roll < 0.75:
            modulus = Const(self.pick(65521, 251, 10))
            return (made,), (Assign(total, "", Binary("%", Binary("+", total, item()), modulus)),)
        if roll < 0.87:
            more, running = self.total("r")
            return (made, more), (Assign(total, "+", item()), Assign(running, "+", total))
        return (made,), (If(self.about(item), (Assign(total, "+", item()),)),)

    def _count(self, item: Callable[[], Expr], _: Expr | None) -> tuple[Block, Block]:
        made, total = self.total("c", 0)
        count: Block = (self.step(total.name, self.pick(1, 1, 1, 2)),)
        if self.chance(0.6):
            return (made,), (If(self.about(item), count),)
        more, other = self.total("d", 0)
        rest: Block = (self.step(other.name, 1),)
        return (made, more), (If(self.about(item), count, (If(self.about(item), rest),) if self.chance(0.4) else rest),)

    def _last(self, item: Callable[[], Expr], at: Expr | None) -> tuple[Block, Block]:
        made = self.declare("k", self.random.choice(self.counters), Const(self.pick(-1, 0)))
        value = at if at is not None and self.chance(0.7) else item()
        return (made,), (If(self.about(item), (Assign(Var(made.name), "", value),)),)

    def _extreme(self, item: Callable[[], Expr], at: Expr | None) -> tuple[Block, Block]:
        ctype = self.types[0]
        start = self.pick(0, ctype.low + 1, ctype.high, 50)
        made = self.declare(
            "m",
            self.pick(ctype, INT if ctype.bits < 32 and self.profile.reach > ROW else ctype),
            Const(start) if abs(start) <= INT.high else self.literal(start),
        )
        extreme, element = Var(made.name), item()
        test = Binary(self.pick("<", ">", "<=", ">="), element, extreme)
        new: list[Stmt] = [Assign(extreme, "", element)]
        before: list[Stmt] = [made]
        if at is not None and self.chance(0.35):
            place = self.declare("k", self.random.choice(self.counters), Const(0))
            before.append(place)
            new.append(Assign(Var(place.name), "", at))
        elif self.chance(0.2):
            return (made,), (Assign(extreme, "", Choice(test, element, extreme)),)
        chosen: Stmt = If(test, tuple(new))
        return tuple(before), (If(self.about(item), (chosen,)) if self.chance(0.15) else chosen,)

    def _flag(self, item: Callable[[], Expr], _: Expr | None) -> tuple[Block, Block]:
        made = self.declare("in", SCHAR if self.profile.reach <= ROW else INT, Const(0))
        flag = Var(made.name)
        more, total = self.total("c", 0)
        count = self.step(total.name, 1)
        roll = self.random.random()
        if roll < 0.25:
            return (made, more), (If(self.about(item), (Assign(flag, "", Const(1)),)), If(Unary("!", flag), (count,)))
        if roll < 0.5:  # words
            rest = If(Unary("!", flag), (Assign(flag, "", Const(1)), count))
            return (made, more), (If(self.about(item), (Assign(flag, "", Const(0)),), (rest,)),)
        if roll < 0.75:  # quotes
            leaves = If(self.about(item), (Assign(flag, "", Const(0)),))
            enters = If(self.about(item), (Assign(flag, "", Const(1)), count))
            return (made, more), (If(flag, (leaves,), (enters,)),)
        toggled = If(self.about(item), (Assign(flag, "", Unary("!", flag)),))
        return (made, more), (toggled, If(flag, (count,)))

    def _longest(self, item: Callable[[], Expr], _: Expr | None) -> tuple[Block, Block]:
        made, current = self.total("u", 0)
        more, best = self.total("v", 0)
        longer = (self.step(current.name, 1), If(Binary(">", current, best), (Assign(best, "", current),)))
        return (made, more), (If(self.about(item), longer, (Assign(current, "", Const(0)),)),)

    def _folded(self, item: Callable[[], Expr], _: Expr | None) -> tuple[Block, Block]:
        made, state = self.total("h")
        mixed = Binary("^", state, item())
        if self.reduced and self.chance(0.6):
            table = self.random.choice(list(self.reduced))
            return (made,), (Assign(state, "", Binary("^", Binary(">>", state, Const(1)), Element(table, mixed))),)
        return (made,), (Assign(state, "", Binary("*", mixed, Const(self.pick(3, 5, 16777619)))),)

    def leaving(self, item: Callable[[], Expr], at: Expr | None) -> Block:
        """A condition on elements under which the loop, or the function, is left."""
        answer: Expr = at if at is not None and self.chance(0.6) else Const(self.pick(-1, 0, 1))
        stop: Stmt = Break() if self.jumps.can_break and self.chance(0.6) else Return(answer)
        return (If(self.about(item), (stop,)),)

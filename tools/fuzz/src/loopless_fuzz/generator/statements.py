"""Random statements: assignments, branches, exits; loops are in :mod:`loopless_fuzz.generator.loops`."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from loopless.check.oracle.signature import CType
from loopless_fuzz.generator.expressions import Names
from loopless_fuzz.generator.profile import Profile
from loopless_fuzz.generator.syntax import (
    Assign,
    Block,
    Break,
    Call,
    Const,
    Continue,
    Declare,
    Expr,
    If,
    Invoke,
    Return,
    Step,
    Stmt,
    Switch,
    Var,
)
from loopless_fuzz.generator.undefined import Undefined


@dataclass(slots=True)
class _Jumps:
    """Which jumps are possible at the place that is being written."""

    in_loop: bool = False
    can_break: bool = False
    can_continue: bool = False
    labels: int = 0
    fresh: dict[str, int] = field(default_factory=dict)


class Statements(Undefined):
    """Draws statements and blocks."""

    def __init__(self, rng: random.Random, profile: Profile, names: Names, types: tuple[CType, ...]) -> None:
        super().__init__(rng, profile, names, types)
        self.jumps = _Jumps()
        self.result = types[0]

    @contextmanager
    def scope(self, *, keep: tuple[str, ...] = (), bounded: str | None = None) -> Iterator[None]:
        """A nested block: names declared in it vanish after it, and those in ``keep`` cannot be changed in it."""
        names = self.names
        before = (dict(names.scalars), dict(names.arrays), dict(names.tables), set(names.kept), set(names.bounded))
        names.kept.update(keep)
        if bounded:
            names.bounded.add(bounded)
        yield
        names.scalars, names.arrays, names.tables, names.kept, names.bounded = before

    @contextmanager
    def jumping(self, *, can_break: bool, can_continue: bool, loop: bool = True) -> Iterator[None]:
        """The body of a loop (or an arm of a switch)."""
        jumps = self.jumps
        before = (jumps.in_loop, jumps.can_break, jumps.can_continue)
        jumps.in_loop = jumps.in_loop or loop
        jumps.can_break, jumps.can_continue = can_break, can_continue
        yield
        jumps.in_loop, jumps.can_break, jumps.can_continue = before

    def fresh(self, prefix: str) -> str:
        """A name that the function does not have yet."""
        number = self.jumps.fresh.get(prefix, 0)
        self.jumps.fresh[prefix] = number + 1
        name = f"{prefix}{number}" if number else prefix
        taken = self.names.scalars, self.names.arrays, self.names.tables
        return name if not any(name in names for names in taken) else self.fresh(prefix)

    def declare(self, prefix: str, ctype: CType, value: Expr) -> Declare:
        """Declare a new local here."""
        name = self.fresh(prefix)
        self.names.scalars[name] = ctype
        return Declare(name, ctype, value)

    def target(self) -> str | None:
        """A scalar that may be changed here."""
        free = self.names.free()
        return self.random.choice(free) if free else None

    def step(self, name: str, amount: int) -> Assign | Step:
        """Change a variable by a constant, in one of the ways that C has for it."""
        if amount == 1 and self.chance(0.7):
            return Step(Var(name), "++", self.chance(0.3))
        if amount == -1 and self.chance(0.7):
            return Step(Var(name), "--", self.chance(0.3))
        return Assign(Var(name), "+" if amount >= 0 else "-", Const(abs(amount)))

    def assignment(self) -> Block:
        """One change of a variable or an array element; nothing where nothing may be changed."""
        names, profile = self.names, self.profile
        if names.arrays and self.chance(0.4):
            return (Assign(self.element(), self.pick("", "", "+", "^"), self.value(1)),)
        name = self.target()
        if name is None:
            return ()
        ctype = names.scalars[name]
        if ctype in names.references.values() and self.chance(0.5):
            fitting = [helper for helper, wanted in names.references.items() if wanted == ctype]
            return (Invoke(self.random.choice(fitting), Var(name)),)
        if self.chance(profile.nondet):
            return (Assign(Var(name), "", Call(self.pick("__VERIFIER_nondet_int", "__VERIFIER_nondet_char"))),)
        roll = self.random.random()
        if roll < 0.35:
            return (self.step(name, self.pick(1, 1, 1, -1, -1, 2, 3, -2, 5)),)
        if roll < 0.6:
            return (Assign(Var(name), self.pick("+", "+", "-"), self.variable()),)
        if roll < 0.75:
            return (self._special(name),)
        if names.helpers and roll < 0.82:
            return (Assign(Var(name), self.pick("", "+"), self.call(1)),)
        return (Assign(Var(name), self.pick("", "", "+", "-"), self.value()),)

    def _special(self, name: str) -> Stmt:
        profile = self.profile
        options: tuple[tuple[float, Stmt], ...] = (
            (profile.division, Assign(Var(name), self.pick("/", "%"), Const(self.pick(2, 3, 5, 10)))),
            (profile.shifts, Assign(Var(name), self.pick("<<", ">>"), Const(self.pick(1, 2)))),
            (profile.masks, Assign(Var(name), self.pick("&", "|", "^"), Const(self.pick(1, 3, 15, 255, 5)))),
            (profile.products, Assign(Var(name), "*", Const(self.pick(2, 3, -1)))),
            (0.1, Assign(Var(name), "", Const(self.small()))),
        )
        weights, made = zip(*options, strict=True)
        drawn: Stmt = self.random.choices(made, weights)[0]
        return drawn

    def straight(self) -> Block:
        """One to a few assignments."""
        return tuple(stmt for _ in range(self.random.randint(1, 2)) for stmt in self.assignment())

    def statement(self) -> Block:
        """One statement that is no loop."""
        profile = self.profile
        if profile.undefined and self.chance(profile.undefined):
            return self.undefined()
        if self.jumps.in_loop and self.chance(profile.exits * 0.5):
            return self.leave()
        if self.jumps.can_continue and self.chance(profile.continues):
            return (If(self.condition(1), (*self.assignment(), Continue())),)
        if self.chance(profile.switches):
            return (self.switch(),)
        if self.chance(profile.branches):
            return (self.branch(2),)
        return self.assignment()

    def leave(self) -> Block:
        """A conditional exit from the loop or the function."""
        exit_stmt: Stmt = Break() if self.jumps.can_break and self.chance(0.65) else Return(self.answer())
        return (If(self.condition(1), (*(self.assignment() if self.chance(0.3) else ()), exit_stmt)),)

    def answer(self) -> Expr:
        """What a function returns."""
        return self.variable() if self.chance(0.6) else self.constant() if self.chance(0.3) else self.value(1)

    def branch(self, depth: int) -> If:
        """A branch, with an ``else`` more often than not."""
        then = self._arm(depth)
        otherwise = self._arm(depth) if self.chance(0.6) else ()
        return If(self.condition(), then or otherwise, otherwise if then else ())

    def _arm(self, depth: int) -> Block:
        if depth > 1 and self.chance(self.profile.branches * 0.4):
            return (self.branch(depth - 1),)
        return self.straight()

    def switch(self) -> Switch:
        """A switch over a few values."""
        subject = self.variable()
        values = sorted(self.random.sample(range(-1, 6), self.random.randint(1, 3)))
        with self.jumping(can_break=False, can_continue=self.jumps.can_continue, loop=False):
            return Switch(subject, tuple((value, self.straight()) for value in values), self.straight())

"""Random statements that may be undefined in their own ways: signed left shifts, bytes other than 0 and 1 in a
``_Bool``, copies of what overlaps, pointers that walk past the end of an array, writes to a constant table.

Only profiles with :attr:`loopless_fuzz.generator.profile.Profile.undefined` have them; all others draw what they did.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Final

from loopless.check.oracle.signature import CType
from loopless_fuzz.generator.expressions import Expressions
from loopless_fuzz.generator.syntax import (
    ARRAY_LENGTH,
    BOOL,
    Assign,
    Binary,
    Block,
    Const,
    CopyElements,
    DeclareArray,
    Element,
    Expr,
    If,
    OverwriteByte,
    OverwriteTable,
    Stmt,
    Var,
    Walk,
)


class Undefined(Expressions, ABC):
    """Draws the statements of :data:`KINDS`."""

    def undefined(self) -> Block:
        """One such statement, with the declarations that it needs."""
        kinds = self.profile.kinds
        kind = self.random.choices(list(kinds), list(kinds.values()))[0]
        return KINDS[kind](self)

    def scalar(self) -> str | None:
        """A scalar that may be changed here and is no truth value."""
        free = [name for name in self.names.free() if self.names.scalars[name] != BOOL]
        return self.random.choice(free) if free else None

    def shift(self) -> Block:
        """A left shift, of signed values more often than not."""
        name = self.scalar()
        if name is None:
            return ()
        by: Expr = Const(self.pick(1, 1, 2, 3, 5, 8, 24))
        if self.chance(0.4):
            by = Binary("&", self.variable(), Const(self.pick(3, 7, 31)))
        if self.chance(0.5):
            return (Assign(Var(name), "<<", by),)
        left = self.variable() if self.chance(0.6) else Const(self.pick(0, 1, 1, 3))
        return (Assign(Var(name), self.pick("", "+"), Binary("<<", left, by)),)

    def truth(self) -> Block:
        """A ``_Bool``, a byte written over it, and what depends on it."""
        known = [name for name in self.names.free() if self.names.scalars[name] == BOOL]
        if not known:
            return (self.declare("b", BOOL, self.comparison()), *self.truth())
        name = self.random.choice(known)
        roll = self.random.random()
        if roll < 0.45:
            value: Expr = Const(self.pick(0, 0, 1, 1, 1, 2, 255))
            if self.chance(0.6):
                value = Binary("&", self.variable(), Const(self.pick(1, 1, 3)))
            return (OverwriteByte(Var(name), value),)
        if roll < 0.6:
            return (Assign(Var(name), "", self.condition(1)),)
        other = self.scalar()
        return (If(Var(name), (Assign(Var(other), "+", Const(1)),)),) if other is not None else ()

    def copy(self) -> Block:
        """A ``memcpy`` (now and then a ``memmove``) within an array."""
        before, array = self._array()

        def at() -> Expr:
            return Const(self.pick(0, 1, 2, 3)) if self.chance(0.4) else self.variable()

        length: Expr = Const(self.pick(0, 1, 1, 2, 3)) if self.chance(0.5) else self.variable()
        return (*before, CopyElements(array, at(), at(), length, self.chance(0.2)))

    def table(self) -> Block:
        """A constant table that is read, and rarely written through a cast."""
        names = self.names
        before: Block = ()
        if not names.tables:
            before = (self._declared("t", constant=True),)
        table = self.random.choice(list(names.tables))
        name = self.scalar()
        if self.chance(0.12):
            return (*before, OverwriteTable(table, names.tables[table], self.variable(), self.variable()))
        if name is None:
            return before
        return (*before, Assign(Var(name), self.pick("", "+"), Element(table, self.variable())))

    def walk(self) -> Block:
        """A pointer that goes over an array, sometimes past its end."""
        before, array = self._array()
        name = self.scalar()
        if name is None:
            return before
        limit: Expr = Const(self.pick(4, ARRAY_LENGTH, ARRAY_LENGTH, ARRAY_LENGTH + 1))
        limit = limit if self.chance(0.4) else self.variable()
        return (*before, Walk(array, limit, Var(name)))

    def _array(self) -> tuple[Block, str]:
        names = self.names
        if not names.arrays or (self.chance(0.2) and "q" not in names.arrays):
            made = self._declared("q", constant=False)
            return (made,), made.name
        return (), self.random.choice(list(names.arrays))

    def _declared(self, prefix: str, *, constant: bool) -> DeclareArray:
        ctype = self.random.choice(self.types)
        values = tuple(self.pick(0, 1, 2, 3, 5, 9, 40, 127) for _ in range(ARRAY_LENGTH))
        name = self.fresh(prefix)
        (self.names.tables if constant else self.names.arrays)[name] = ctype
        return DeclareArray(name, ctype, values, constant)

    @abstractmethod
    def declare(self, prefix: str, ctype: CType, value: Expr) -> Stmt:
        """Declare a new local here."""

    @abstractmethod
    def fresh(self, prefix: str) -> str:
        """A name that the function does not have yet."""


KINDS: Final[Mapping[str, Callable[[Undefined], Block]]] = {
    "shift": Undefined.shift,
    "truth": Undefined.truth,
    "copy": Undefined.copy,
    "table": Undefined.table,
    "walk": Undefined.walk,
}
"""By the names that profiles weigh."""

"""Random nests of loops: inner loops whose bounds hang on the outer loop, and which feed back into it."""

from __future__ import annotations

from loopless_fuzz.generator.loops import Loops
from loopless_fuzz.generator.syntax import Assign, Binary, Block, Const, Expr, If, Stmt, Var


class Nests(Loops):
    """Draws loops around loops; at the last depth a loop that counts."""

    def _nest(self, depth: int) -> Block:
        """A counting loop with one or two loops in its body."""
        if depth < 2:
            return self._counting(depth)
        falling = self.chance(0.2)
        before, outer = self.counter(self.variable() if falling else None)
        limit: Expr = Const(self.pick(0, 0, 1)) if falling else self.bound(outer)
        condition: Expr = Binary(self.pick(">", ">=") if falling else self.pick("<", "<", "<", "<="), Var(outer), limit)
        if self.chance(0.1):
            condition = Binary("!=", Var(outer), limit)
        progress = self.step(outer, self.pick(-1, -1, -2) if falling else self.pick(1, 1, 1, 1, 2, 3))

        def make() -> Block:
            made: list[Stmt] = []
            with self.scope(keep=_names(outer, limit)):
                if self.chance(0.35):
                    made.extend(self.statement())
                for _ in range(self.pick(1, 1, 1, 2)):
                    if not self.chance(0.15):
                        made.extend(self._inner(outer, limit, depth - 1))
                        continue
                    test = self.comparison()
                    with self.scope():
                        made.append(If(test, self._inner(outer, limit, depth - 1)))
                if self.chance(0.6):
                    made.extend(self.statement())
            return tuple(made)

        if self.chance(0.12):  # the inner loops alone move the counter, so the loop may run for ever
            return (*before, *self.around(condition, make, None))
        return (*before, *self.around(self.guarded(condition), make, progress))

    def _counting(self, depth: int) -> Block:
        return self._down(depth) if self.chance(0.25) else self._up(depth)

    def _inner(self, outer: str, limit: Expr, depth: int) -> Block:
        kind = self.random.choices(
            (self._triangle, self._feeding, self._accumulated, self._carried, None), (3.0, 2.0, 1.5, 1.5, 2.0)
        )[0]
        if kind is None or (depth > 1 and self.chance(0.5)):
            return self._nest(depth)
        return kind(outer, limit, depth)

    def _triangle(self, outer: str, limit: Expr, depth: int) -> Block:
        """From, or up to, the outer counter."""
        i = Var(outer)
        zero = Const(0)
        options: tuple[tuple[Expr, Expr], ...] = (
            (zero, i),
            (zero, i),
            (i, limit),
            (Binary("+", i, Const(1)), limit),
            (zero, Binary("+", i, Const(self.pick(1, 2, 3)))),
            (zero, Binary("*", Const(self.pick(2, 3)), i)),
            (i, Binary("*", Const(2), i)),
            (zero, Binary("-", limit, i)),
        )
        start, stop = self.random.choice(options)
        inner = self.declare("j", self.names.scalars[outer], zero if self.chance(0.5) else start)
        first = Assign(Var(inner.name), "", start) if inner.value != start or self.chance(0.5) else None
        condition: Expr = Binary(self.pick("<", "<", "<", "<="), Var(inner.name), stop)
        progress = self.step(inner.name, self.pick(1, 1, 1, 1, 2))
        if self.chance(0.2):  # downwards
            start, stop = stop, start
            first = Assign(Var(inner.name), "", start)
            condition = Binary(">", Var(inner.name), stop)
            progress = self.step(inner.name, -1)
        with self.scope(keep=_names(outer, limit)):
            return (inner, *self.around(condition, lambda: self.body(depth, inner.name, stop), progress, first))

    def _feeding(self, outer: str, limit: Expr, _depth: int) -> Block:
        """An inner loop that moves the outer counter."""
        inner = self.declare("j", self.random.choice(self.types), Const(self.pick(0, 0, 1)))
        within: Expr = Binary("<", Var(inner.name), Const(self.pick(2, 3, 5, 10)))
        if self.chance(0.4):
            within = self.comparison()
        condition: Expr = Binary("&&", Binary("<", Var(outer), limit), within) if self.chance(0.75) else within

        def make() -> Block:
            with self.scope(keep=_names(outer, limit, inner.name)):
                extra = self.straight() if self.chance(0.5) else ()
            return (self.step(outer, self.pick(1, 1, 1, 2, -1)), *extra)

        return (inner, *self.around(condition, make, self.step(inner.name, 1)))

    def _accumulated(self, outer: str, limit: Expr, depth: int) -> Block:
        """An inner bound that the outer loop changes."""
        grown = self.target()
        if grown is None:
            return self._triangle(outer, limit, depth)
        inner = self.declare("j", self.names.scalars[grown], Const(0))
        condition: Expr = Binary("<", Var(inner.name), Var(grown))
        if self.chance(0.3):
            condition = Binary("&&", condition, Binary("<", Var(inner.name), Const(self.pick(10, 50))))
        made = self.around(
            condition, lambda: self.body(depth, inner.name, Var(grown)), self.step(inner.name, self.pick(1, 1, 2))
        )
        change = self.step(grown, self.pick(1, 1, 2, 3, -1))
        return (inner, *made, change) if self.chance(0.7) else (inner, change, *made)

    def _carried(self, outer: str, limit: Expr, _depth: int) -> Block:
        """An inner counter that goes on where it was, or is set back only sometimes."""
        carried = self.target()
        if carried is None:
            return self._triangle(outer, limit, 1)
        stop: Expr = Var(outer) if self.chance(0.5) else self.bound(carried)
        up = self.chance(0.75)

        def make() -> Block:
            with self.scope(keep=_names(outer, limit, carried)):
                extra = self.straight() if self.chance(0.6) else ()
            return (*extra, self.step(carried, self.pick(1, 1, 2) if up else self.pick(-1, -1, -2)))

        made = self.around(Binary("<" if up else ">", Var(carried), stop if up else Const(0)), make, None)
        back = self.pick((Assign(Var(carried), "", Const(0)),), (Assign(Var(carried), "", Var(outer)),), ())
        return (*made, *back)


def _names(outer: str, limit: Expr, *more: str) -> tuple[str, ...]:
    return (outer, *more, limit.name) if isinstance(limit, Var) else (outer, *more)

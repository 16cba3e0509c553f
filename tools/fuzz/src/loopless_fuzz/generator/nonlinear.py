"""Random loops whose counters move by more than constants, or whose conditions are not linear."""

from __future__ import annotations

from loopless_fuzz.generator.nests import Nests
from loopless_fuzz.generator.syntax import Assign, Binary, Block, Const, Declare, Expr, If, Stmt, Var


class Nonlinear(Nests):
    """Draws loops with variable steps, growth by factors, recurrences and products in conditions."""

    def _extra(self, *keep: str | Expr) -> Block:
        """Now and then a statement that leaves some variables alone, or a sum over the counter."""
        names = tuple(name.name if isinstance(name, Var) else name for name in keep if isinstance(name, str | Var))
        with self.scope(keep=names):
            total = self.target()
            if total is not None and names and self.chance(0.3):
                return (Assign(Var(total), self.pick("+", "+", "-"), self.polynomial(names[0])),)
            return self.statement() if self.chance(0.5) else ()

    def polynomial(self, name: str) -> Expr:
        """A polynomial in a variable."""
        var = Var(name)
        square = Binary("*", var, var)
        options: tuple[Expr, ...] = (
            var,
            square,
            Binary("*", square, var),
            Binary("+", square, var),
            Binary("-", square, Const(self.pick(1, 7))),
            Binary("/", Binary("*", var, Binary("+", var, Const(1))), Const(2)),
            Binary("+", Binary("*", Const(2), var), Const(1)),
        )
        return self.random.choice(options)

    def _other(self, *than: str) -> Expr:
        names = [name for name in self.names.scalars if name not in than]
        return Var(self.random.choice(names)) if names else Const(self.pick(1, 3, 7))

    def _variable_step(self, _depth: int) -> Block:
        """Steps x += y and x -= k*m, with and without a sign test before."""
        up = self.chance(0.6)
        before, moving = self.counter(None if up else self.variable())
        by = self._other(moving)
        amount: Expr = by if self.chance(0.6) else Binary("*", by, self._other(moving))
        if self.chance(0.2):
            amount = Binary("*", Const(self.pick(2, 3, 5)), by)
        limit = self.bound(moving) if up else Const(self.pick(0, 0, 1, -3))
        op = self.pick("<", "<", "<=", "!=") if up else self.pick(">", ">=", ">")
        condition: Expr = Binary(op, Var(moving), limit)
        if not up and self.chance(0.3):
            condition = Binary(">=", Var(moving), by)
        progress = Assign(Var(moving), "+" if up else "-", amount)
        kept = [moving, *(part.name for part in (by, limit) if isinstance(part, Var))]
        if isinstance(amount, Binary):
            kept += [part.name for part in (amount.left, amount.right) if isinstance(part, Var)]
        loop = self.around(self.guarded(condition), lambda: self._extra(*kept), progress)
        if self.chance(0.65):
            return (*before, If(Binary(">", by, Const(0)), loop))
        return (*before, *loop)

    def _subtraction(self, _depth: int) -> Block:
        """Division and greatest common divisors by subtraction."""
        ctype = self.random.choice(self.types)
        first, second = self.declare("a", ctype, self.variable()), self.declare("b", ctype, self.variable())
        a, b = Var(first.name), Var(second.name)
        zero = Const(0)
        if self.chance(0.5):
            with self.scope(keep=(first.name, second.name)):
                count = self.target()
            progress = Assign(a, "-", b)
            more: Block = (Assign(Var(count), "+", Const(1)),) if count is not None else ()
            loop = self.around(Binary(">=", a, b), lambda: more, progress)
            guard = Binary("&&", Binary(">", b, zero), Binary(">=", a, zero)) if ctype.signed else Binary(">", b, zero)
            return (first, second, *((If(guard, loop),) if self.chance(0.8) else loop))
        positive = Binary("&&", Binary(">", a, zero), Binary(">", b, zero))
        condition: Expr = Binary("&&", positive, Binary("!=", a, b)) if self.chance(0.7) else positive

        def subtract() -> Block:
            return (If(Binary(self.pick(">", ">="), a, b), (Assign(a, "-", b),), (Assign(b, "-", a),)),)

        return (first, second, *self.around(condition, subtract, None))

    def _affine_step(self, _depth: int) -> Block:
        """Steps x = a*x + b up to a bound, or for a number of rounds: hashes and congruential generators."""
        before, moving = self.counter(Const(self.pick(1, 1, 2, 0)))
        x = Var(moving)
        if self.chance(0.5):
            factor, more = self.pick(2, 2, 3, -2, 10), self.pick(0, 1, 1, -1, 7)
            limit = self.bound(moving)
            step: Stmt = Assign(x, "", Binary("+", Binary("*", Const(factor), x), Const(more)))
            if self.chance(0.25):
                step = Assign(x, "", Binary("-", Binary("*", Const(factor), x), self._other(moving)))
            kept = (moving, limit)
            return (*before, *self.around(Binary("<", x, limit), lambda: (*self._extra(*kept), step), None))
        clock = self.declare("k", self.random.choice(self.types), Const(0))
        limit = self.bound(clock.name)
        factor, more = self.pick((31, 7), (33, 0), (1103515245, 12345), (5, 3), (3, -1), (-1, 4), (2, 1), (17, 17))
        step = Assign(x, "", Binary("+", Binary("*", x, Const(factor)), Const(more)))
        condition: Expr = Binary("<", Var(clock.name), limit)
        if self.chance(0.3):
            condition = Binary("&&", condition, Binary("!=", Binary("&", x, Const(self.pick(3, 7, 255))), Const(5)))
        names = (clock.name, moving, limit)
        return (*before, clock, *self.around(condition, lambda: (*self._extra(*names), step), self.step(clock.name, 1)))

    def _linear_map(self, _depth: int) -> Block:
        """Fibonacci's and other maps of two variables, for a number of rounds or up to a bound."""
        ctype = self.random.choice(self.types)
        first, second = self.declare("a", ctype, Const(self.pick(0, 1))), self.declare("b", ctype, Const(1))
        clock = self.declare("k", self.random.choice(self.types), Const(0))
        a, b = Var(first.name), Var(second.name)
        limit = self.bound(clock.name)
        condition: Expr = Binary("<", Var(clock.name), limit)
        if self.chance(0.3):
            condition = Binary("<", a, self.bound(first.name))
        options: tuple[Expr, ...] = (
            Binary("+", a, b),
            Binary("-", b, a),
            Binary("+", Binary("*", Const(2), b), a),
            Binary("-", Binary("*", Const(3), b), Binary("*", Const(2), a)),
            a,
        )
        new = self.random.choice(options)

        def make() -> Block:
            if self.chance(0.3):  # one after the other, so that no third variable is needed
                return (
                    Assign(a, "+", b),
                    Assign(b, self.pick("+", "-"), a if self.chance(0.4) else Const(self.pick(1, 2))),
                )
            rest = self.fresh("next")
            return (Declare(rest, ctype, new), Assign(a, "", b), Assign(b, "", Var(rest)))

        return (first, second, clock, *self.around(condition, make, self.step(clock.name, 1)))

    def _square_bound(self, _depth: int) -> Block:
        """i*i <= n, i*j < n, a cube, a root by odd numbers."""
        before, counter = self.counter(Const(self.pick(0, 1, 1, 2)))
        i, limit = Var(counter), self.bound(counter)
        left: Expr = Binary("*", i, i)
        roll = self.random.random()
        if roll < 0.25:
            left = Binary("*", i, self._other(counter))
        elif roll < 0.35:
            left = Binary("*", left, i)
        elif roll < 0.45:
            left = Binary("+", left, i)
        condition: Expr = Binary(self.pick("<=", "<=", "<"), left, limit)
        kept = [counter, limit, *([left.right] if isinstance(left, Binary) and isinstance(left.right, Var) else [])]
        if self.chance(0.25):
            divides = Binary("!=", Binary("%", limit, i), Const(0))
            condition = Binary("&&", condition, divides if self.chance(0.5) else self.comparison())
        step = self.step(counter, self.pick(1, 1, 1, 2, 6))
        return (*before, *self.around(condition, lambda: self._extra(*kept), step))

    def _quadratic(self, _depth: int) -> Block:
        """Steps x += y; y += c: the root of a number by odd numbers, a ballistic curve."""
        before, moving = self.counter(Const(self.pick(0, 0, 1)))
        speed = self.declare("v", self.names.scalars[moving], Const(self.pick(1, 1, 3, 10)))
        x, v = Var(moving), Var(speed.name)
        limit = self.bound(moving)
        condition: Expr = Binary(self.pick("<", "<="), x, limit)
        gain = self.pick(2, 1, 3, -1)
        if gain < 0:
            condition = Binary(self.pick(">", ">="), x, Const(self.pick(0, -20)))
        kept = (moving, speed.name, limit)

        def make() -> Block:
            moves: Block = (Assign(x, "+", v), self.step(speed.name, gain))
            return (*self._extra(*kept), *(moves if self.chance(0.6) else moves[::-1]))

        return (*before, speed, *self.around(self.guarded(condition), make, None))

    def _digits(self, _depth: int) -> Block:
        """Digits and bits of a number, and powers by squaring."""
        value = self.declare("m", self.random.choice(self.types), self.variable())
        m = Var(value.name)
        with self.scope(keep=(value.name,)):
            total = self.target()
        base, shift = self.pick((10, 0), (2, 0), (2, 1), (3, 0), (16, 4))
        condition: Expr = self.pick(Binary(">", m, Const(0)), Binary("!=", m, Const(0)), Binary(">", m, Const(base)))
        last: Expr = Binary("%", m, Const(base)) if not shift else Binary("&", m, Const(base - 1))
        step = Assign(m, "/", Const(base)) if not shift else Assign(m, ">>", Const(shift))

        def make() -> Block:
            if total is None:
                return ()
            t = Var(total)
            options: tuple[Block, ...] = (
                (Assign(t, "+", last),),
                (Assign(t, "", Binary("+", Binary("*", t, Const(base)), last)),),
                (Assign(t, "+", Const(1)),),
                (If(Binary("!=", last, Const(0)), (Assign(t, "+", Const(1)),)),),
                (If(Binary("==", last, Const(1)), (Assign(t, "*", Const(3)),)), Assign(t, "*", t)),
            )
            return self.random.choice(options)

        return (value, *self.around(condition, make, step))

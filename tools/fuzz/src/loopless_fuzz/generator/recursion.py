"""Random functions that call themselves: countdowns, sums, Euclid, and a few that branch into two calls."""

from __future__ import annotations

from loopless.check.oracle.signature import CType
from loopless_fuzz.generator.nonlinear import Nonlinear
from loopless_fuzz.generator.syntax import (
    Assign,
    Binary,
    Block,
    Call,
    Const,
    Declare,
    Expr,
    Function,
    If,
    Param,
    Return,
    Stmt,
    Var,
)


class Recursion(Nonlinear):
    """Draws one recursive function; its names are its parameters and the globals it may change."""

    def recursive(
        self, name: str, result: CType, params: tuple[Param, ...], globals_: tuple[str, ...] = ()
    ) -> Function:
        """A function of scalar parameters that calls itself on most ways, at least one parameter coming nearer."""
        names = [param.name for param in params]
        made = self._euclid_like(name, names) if len(names) > 1 and self.chance(0.25) else None
        body = made if made is not None else self._counted(name, names, globals_)
        return Function(name, result, params, body)

    def _euclid_like(self, name: str, names: list[str]) -> Block:
        a, b, more = Var(names[0]), Var(names[1]), tuple(Var(other) for other in names[2:])
        zero = Const(0)
        if self.chance(0.6):
            stop = If(Binary("==", b, zero), (Return(a),))
            return (stop, Return(self._combined(Call(name, (b, Binary("%", a, b), *more)), [names[0]], tail=0.7)))
        equal = If(Binary("||", Binary("<=", a, zero), Binary("<=", b, zero)), (Return(Binary("+", a, b)),))
        first = If(Binary(">", a, b), (Return(Call(name, (Binary("-", a, b), b, *more))),))
        return (equal, first, Return(Call(name, (a, Binary("-", b, a), *more))))

    def _counted(self, name: str, names: list[str], globals_: tuple[str, ...]) -> Block:
        """One parameter counts down, up or by a factor; the others stay or gather."""
        n, others = Var(names[0]), names[1:]
        kind = self.pick("down", "down", "down", "up", "halve")
        limit: Expr = Const(self.pick(0, 0, 0, 1))
        if kind == "up":
            limit = Var(others[0]) if others and self.chance(0.6) else Const(self.pick(10, 50, 100))
        stop: Expr = Binary(self.pick(">=", ">") if kind == "up" else self.pick("<=", "<=", "<"), n, limit)
        if kind == "down" and self.chance(0.4):
            stop = Binary("||", stop, Binary(">", n, Const(self.pick(200, 1000))))
        if kind == "down" and self.chance(0.15):
            stop = Binary("==", n, limit)
        bases: tuple[Expr, ...] = (Const(self.pick(0, 0, 1, 2)), n, Var(self.random.choice(names)))
        base = self.random.choice(bases)
        call = self._call(name, names, kind, limit)
        body: list[Stmt] = [If(stop, (Return(base),))]
        if self.chance(0.2):  # two ways on, each with one call
            test: Expr = Binary("==", Binary("%", n, Const(self.pick(2, 3))), Const(0))
            test = test if self.chance(0.6) else self.comparison()
            body.append(If(test, (Return(self._combined(self._call(name, names, kind, limit), names)),)))
        if globals_ and self.chance(0.5):
            body.append(Assign(Var(self.random.choice(globals_)), self.pick("+", "-", "^"), self._term(names)))
        if (globals_ and self.chance(0.6)) or self.chance(0.2):
            rest = Declare("rest", self.random.choice(self.types), call)
            after: Block = ()
            if globals_:
                after = (Assign(Var(self.random.choice(globals_)), "+", self.pick(Var("rest"), self._term(names))),)
            return (*body, rest, *after, Return(self._combined(Var("rest"), names)))
        if self.chance(0.05):  # a tree
            return (*body, Return(Binary("+", call, Call(name, (Binary("-", n, Const(2)), *map(Var, others))))))
        return (*body, Return(self._combined(call, names)))

    def _call(self, name: str, names: list[str], kind: str, limit: Expr) -> Call:
        n = Var(names[0])
        amount = Const(self.pick(1, 1, 1, 2, 3))
        moved: Expr = Binary("-" if kind == "down" else "+", n, amount)
        if kind == "halve":
            moved = (
                Binary(">>", n, Const(self.pick(1, 2))) if self.chance(0.3) else Binary("/", n, Const(self.pick(2, 3)))
            )
        kept = {limit.name} if isinstance(limit, Var) else set()
        args: list[Expr] = [moved]
        for other in names[1:]:
            if other in kept or self.chance(0.4):
                args.append(Var(other))
            else:
                args.append(Binary(self.pick("+", "+", "-", "^"), Var(other), self._term(names)))
        return Call(name, tuple(args))

    def _term(self, names: list[str]) -> Expr:
        """What a call adds of its own."""
        var = Var(self.random.choice(names))
        return self.random.choice((Const(1), Const(2), Var(names[0]), var, Binary("*", var, Var(names[0]))))

    def _combined(self, rest: Expr, names: list[str], *, tail: float = 0.3) -> Expr:
        """What a call makes of the result of the call below it."""
        if self.chance(tail):
            return rest
        term = self._term(names)
        options: tuple[Expr, ...] = (
            Binary("+", rest, term),
            Binary("+", rest, term),
            Binary("+", term, rest),
            Binary("+", rest, Const(1)),
            Binary("*", rest, term),
            Binary("*", Const(2), rest),
            Binary("+", Binary("*", Const(self.pick(2, 3, -1)), rest), term),
            Binary("-", rest, term),
            Binary("-", term, rest),
            Binary("^", rest, term),
            Binary("%", Binary("+", Binary("*", Const(10), rest), term), Const(1000)),
        )
        return self.random.choice(options)

"""Random loops, by shape: each shape has a clear kind of progress, so that most loops end, and some do not."""

from __future__ import annotations

from collections.abc import Callable

from loopless.check.oracle.signature import CType
from loopless_fuzz.generator.statements import Statements
from loopless_fuzz.generator.syntax import (
    ARRAY_LENGTH,
    INT,
    Assign,
    Binary,
    Block,
    Const,
    Declare,
    DoWhile,
    Expr,
    For,
    GotoLoop,
    If,
    Step,
    Stmt,
    Switch,
    Var,
    While,
)


class Loops(Statements):
    """Draws loops with their preparation (declarations and initial values of their counters)."""

    def loop(self, depth: int) -> Block:
        """A loop that may nest ``depth - 1`` more; what is returned starts with what the loop needs."""
        if self.names.arrays and self.chance(0.6):
            return self._scan(depth)
        shapes = self.profile.shapes
        shape = self.random.choices(list(shapes), list(shapes.values()))[0]
        maker: Callable[[int], Block] = getattr(self, f"_{shape.replace('-', '_')}")
        return maker(depth)

    # ------------------------------------------------------------------------------------------------- ingredients

    def counter(self, start: Expr | None = None) -> tuple[Block, str]:
        """A variable to count with: a new one, or one that is there already."""
        free = self.names.free()
        if free and self.chance(0.4) and start is None:
            return (), self.random.choice(free)
        if start is None:
            start = Const(self.pick(0, 0, 0, 1, 2, 5)) if self.chance(0.7) else self.variable()
        made = self.declare("i", self.random.choice(self.types), start)
        return (made,), made.name

    def bound(self, counter: str) -> Expr:
        """What a counter runs up to: mostly a variable that its type can pass."""
        ctype = self.names.scalars[counter]
        fitting = [name for name, other in self.names.scalars.items() if name != counter and other.high <= ctype.high]
        anything = [name for name in self.names.scalars if name != counter]
        if self.chance(0.2):
            return Const(self.pick(3, 5, 8, 10, 20, 64, 100))
        if self.chance(0.06):
            return self.literal(self.pick(ctype.high, ctype.high - 1, 1000))
        names = fitting if fitting and not self.chance(0.06) else anything
        return Var(self.random.choice(names)) if names else Const(10)

    def body(self, depth: int, counter: str, bound: Expr, bounded: str | None = None) -> Block:
        """Statements that leave the counter and its bound alone, perhaps with a loop among them."""
        keep = (counter, bound.name) if isinstance(bound, Var) else (counter,)
        made: list[Stmt] = []
        with self.scope(keep=keep, bounded=bounded):
            for _ in range(self.random.randint(*self.profile.body)):
                made.extend(self.statement())
            if depth > 1 and self.chance(0.6):
                made.extend(self.loop(depth - 1))
        return tuple(made)

    def around(
        self, condition: Expr, make: Callable[[], Block], progress: Stmt | None, start: Stmt | None = None
    ) -> Block:
        """A loop in one of C's four forms around a body; ``progress`` is done at the end of each iteration."""
        profile, roll = self.profile, self.random.random()
        if progress is not None and isinstance(progress, Assign | Step) and roll < profile.for_loops:
            with self.jumping(can_break=True, can_continue=True):
                body = make()
            first = start if isinstance(start, Assign) else None
            return (*((start,) if start and not first else ()), For(first, condition, progress, body))
        before: Block = (start,) if start else ()
        roll -= profile.for_loops
        end: Block = (progress,) if progress is not None else ()
        if roll < profile.goto_loops:
            self.jumps.labels += 1
            label = self.jumps.labels
            with self.jumping(can_break=False, can_continue=False):
                return (*before, GotoLoop(label, condition, (*make(), *end), self.chance(0.6)))
        roll -= profile.goto_loops
        with self.jumping(can_break=True, can_continue=progress is None or self.chance(0.1)):
            body = make() + end
        return (*before, DoWhile(body, condition) if roll < profile.do_loops else While(condition, body))

    def guarded(self, condition: Expr) -> Expr:
        """Now and then with another conjunct or disjunct."""
        if not self.chance(self.profile.connectives * 0.5):
            return condition
        return Binary(self.pick(*["&&"] * 6, "||"), condition, self.comparison())

    # ------------------------------------------------------------------------------------------------------ shapes

    def _up(self, depth: int) -> Block:
        before, counter = self.counter()
        limit = self.bound(counter)
        condition = self.guarded(Binary(self.pick("<", "<", "<", "<="), Var(counter), limit))
        progress = self.step(counter, self.pick(1, 1, 1, 2, 3, 5))
        start = Assign(Var(counter), "", Const(0)) if self.chance(0.3) else None
        return (*before, *self.around(condition, lambda: self.body(depth, counter, limit), progress, start))

    def _down(self, depth: int) -> Block:
        before, counter = self.counter(self.variable() if self.chance(0.6) else None)
        limit: Expr = Const(self.pick(0, 0, 1, -5)) if self.chance(0.7) else self.bound(counter)
        condition = self.guarded(Binary(self.pick(">", ">", ">", ">="), Var(counter), limit))
        progress = self.step(counter, self.pick(-1, -1, -1, -2, -3))
        return (*before, *self.around(condition, lambda: self.body(depth, counter, limit), progress))

    def _unequal(self, depth: int) -> Block:
        before, counter = self.counter()
        limit = self.bound(counter)
        condition = self.guarded(Binary("!=", Var(counter), limit))
        progress = self.step(counter, self.pick(1, 1, 1, -1, 2))
        return (*before, *self.around(condition, lambda: self.body(depth, counter, limit), progress))

    def _geometric(self, depth: int) -> Block:
        if self.chance(0.5):
            before, counter = self.counter(self.variable())
            op, base = self.pick(("/", 2), ("/", 10), (">>", 1), ("/", 3), (">>", 3))
            condition: Expr = self.pick(Binary(">", Var(counter), Const(0)), Binary("!=", Var(counter), Const(0)))
            limit: Expr = Const(0)
        else:
            before, counter = self.counter(Const(self.pick(1, 1, 2, 3)))
            limit = self.bound(counter)
            op, base = self.pick(("*", 2), ("*", 3), ("<<", 1), ("*", 10))
            condition = Binary("<", Var(counter), limit)
        progress = Assign(Var(counter), op, Const(base))
        return (*before, *self.around(condition, lambda: self.body(depth, counter, limit), progress))

    def _two_counters(self, _depth: int) -> Block:
        before, first = self.counter()
        with self.scope(keep=(first,)):
            more, second = self.counter()
        if more and isinstance(more[0], Declare):
            self.names.scalars[second] = more[0].type
        limit = self.bound(first)
        condition: Expr = Binary("<", Var(first), limit)
        if self.chance(0.4):
            condition = Binary(self.pick("&&", "||"), condition, Binary("<", Var(second), self.bound(second)))
        test: Expr = Binary(self.pick("<", "<=", ">", ">="), Var(second), Var(first))
        if self.chance(0.4):
            test = self.condition()

        def make() -> Block:
            one, other = self.step(first, self.pick(1, 1, 2, 3)), self.step(second, self.pick(1, 1, 2, -1))
            arms: tuple[Block, Block] = ((one,), (other,)) if self.chance(0.5) else ((other,), (one,))
            with self.scope(keep=(first, second, *([limit.name] if isinstance(limit, Var) else []))):
                extra = self.assignment() if self.chance(0.5) else ()
            return (If(test, arms[0] + extra, arms[1]),)

        return (*before, *more, *self.around(condition, make, None))

    def _oscillation(self, _depth: int) -> Block:
        before, clock = self.counter(Const(0))
        with self.scope(keep=(clock,)):
            more, moving = self.counter()
        if more and isinstance(more[0], Declare):
            self.names.scalars[moving] = more[0].type
        limit = self.bound(clock)
        threshold: Expr = Const(self.pick(5, 10, 20, 50)) if self.chance(0.7) else self.bound(moving)
        up, down = self.step(moving, self.pick(1, 2, 3, 7)), self.step(moving, self.pick(-1, -3, -5, -13))

        def make() -> Block:
            with self.scope(keep=(clock, moving, *([limit.name] if isinstance(limit, Var) else []))):
                extra = self.assignment() if self.chance(0.7) else ()
            return (If(Binary("<", Var(moving), threshold), (up, *extra), (down,)),)

        return (*before, *more, *self.around(Binary("<", Var(clock), limit), make, self.step(clock, 1)))

    def _phases(self, _depth: int) -> Block:
        before, counter = self.counter()
        limit = self.bound(counter)
        cut: Expr = Const(self.pick(3, 10, 40)) if self.chance(0.5) else self.bound(counter)

        def make() -> Block:
            slow, fast = self.step(counter, self.pick(1, 1, 2)), self.step(counter, self.pick(1, 2, 3, 10))
            with self.scope(keep=(counter, *([limit.name] if isinstance(limit, Var) else []))):
                one, other = self.straight(), self.assignment()
            test = Binary(self.pick("<", "<", ">"), Var(counter), cut) if self.chance(0.8) else self.condition()
            return (If(test, (slow, *one), (*other, fast)),)

        return (*before, *self.around(self.guarded(Binary("<", Var(counter), limit)), make, None))

    def _euclid(self, _depth: int) -> Block:
        ctype = self.random.choice(self.types)
        first = self.declare("a", ctype, self.variable())
        second = self.declare("b", ctype, self.variable())
        a, b = Var(first.name), Var(second.name)
        zero = Const(0)
        if self.chance(0.5):

            def remainder() -> Block:
                rest = self.fresh("rest")
                return (Declare(rest, ctype, Binary("%", a, b)), Assign(a, "", b), Assign(b, "", Var(rest)))

            return (first, second, *self.around(Binary("!=", b, zero), remainder, None))
        positive = Binary("&&", Binary(">", a, zero), Binary(">", b, zero))
        bounded = Binary("&&", Binary("<=", a, Const(100)), Binary("!=", a, b))

        def subtract() -> Block:
            return (If(Binary(">", a, b), (Assign(a, "-", b),), (Assign(b, "-", a),)),)

        return (first, second, *self.around(Binary("&&", positive, bounded), subtract, None))

    def _state_machine(self, _depth: int) -> Block:
        state = self.declare("state", self.random.choice(self.types), Const(self.pick(0, 0, 1)))
        before, clock = self.counter(Const(0))
        limit = self.bound(clock)
        count = self.random.randint(2, 3)

        def arm(index: int) -> Block:
            jump: Stmt = Assign(Var(state.name), "", Const((index + 1) % count))
            if self.chance(0.4):
                jump = If(self.comparison(), (jump,))
            with self.scope(keep=(clock, state.name, *([limit.name] if isinstance(limit, Var) else []))):
                return (*self.assignment(), jump)

        def make() -> Block:
            if self.profile.switches or self.chance(0.3):
                with self.jumping(can_break=False, can_continue=False):
                    return (Switch(Var(state.name), tuple((i, arm(i)) for i in range(count - 1)), arm(count - 1)),)
            return (If(Binary("==", Var(state.name), Const(0)), arm(0), arm(count - 1)),)

        return (state, *before, *self.around(Binary("<", Var(clock), limit), make, self.step(clock, 1)))

    def _reset(self, _depth: int) -> Block:
        before, outer = self.counter(Const(0))
        inner = self.declare("j", self.random.choice(self.types), Const(0))
        limit, turn = self.bound(outer), self.bound(inner.name)
        back = Assign(Var(inner.name), "", Const(0))

        def make() -> Block:
            kept = [bound.name for bound in (limit, turn) if isinstance(bound, Var)]
            with self.scope(keep=(outer, inner.name, *kept)):
                extra = self.assignment() if self.chance(0.6) else ()
            advance = self.step(outer, self.pick(1, 1, 2))
            test = Binary("<", Var(inner.name), turn)
            return (If(test, (self.step(inner.name, 1), *extra), (back, advance)),)

        return (*before, inner, *self.around(Binary("<", Var(outer), limit), make, None))

    def _wild(self, depth: int) -> Block:
        clock = self.declare("clock", self.random.choice([t for t in self.types if t.bits > 8] or [INT]), Const(0))
        limit = Const(self.pick(10, 50, 100))
        ticking = self.chance(0.85)
        condition = self.condition()
        if ticking:
            condition = Binary("&&", Binary("<", Var(clock.name), limit), condition)
        progress = self.step(clock.name, 1)
        return (clock, *self.around(condition, lambda: self.body(depth, clock.name, limit), progress))

    def _scan(self, depth: int) -> Block:
        """A ``for`` over an array, so that indices need no mask."""
        ctype: CType = self.random.choice(self.types)
        counter = self.declare("k", ctype, Const(0))
        limit = Const(self.pick(ARRAY_LENGTH, ARRAY_LENGTH, 5))
        condition: Expr = Binary("<", Var(counter.name), limit)
        if self.chance(0.4):
            condition = Binary("&&", condition, self.comparison())
        with self.jumping(can_break=True, can_continue=True):
            body = self.body(depth, counter.name, limit, bounded=counter.name)
        start = Assign(Var(counter.name), "", Const(self.pick(0, 0, 0, 1)))
        return (counter, For(start, condition, self.step(counter.name, self.pick(1, 1, 1, 2)), body))

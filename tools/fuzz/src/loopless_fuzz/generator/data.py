"""Random functions whose loops read what they do not write: strings, arrays of parameters, tables and globals.

Indices are bounded as people bound them: ``n`` is cut to what the arrays have, before the loop; strings end with a 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loopless.check.oracle.signature import CType
from loopless_fuzz.generator.profile import OBSERVED
from loopless_fuzz.generator.syntax import (
    ARRAY_LENGTH,
    CHAR,
    DATA_LENGTH,
    INT,
    LLONG,
    SCHAR,
    Assign,
    Binary,
    Block,
    Cast,
    Choice,
    Const,
    DeclareArray,
    DeclarePointer,
    DoWhile,
    Element,
    Expr,
    Function,
    GeneratedProgram,
    GlobalArray,
    GlobalVar,
    If,
    Param,
    Return,
    Stmt,
    Unary,
    Var,
    While,
)
from loopless_fuzz.generator.work import ROW, Work


@dataclass(slots=True)
class _Stream:
    """How a loop goes over its arrays: ``before`` it, while ``condition``, with ``progress``; ``at`` is the index."""

    before: Block
    condition: Expr
    progress: Stmt
    at: Expr
    counter: str


class Data(Work):
    """Draws whole programs."""

    # --------------------------------------------------------------------------------------------------- the program

    def program(self) -> GeneratedProgram:
        """A program."""
        rng = self.random
        params, arrays = self._given()
        shapes = list(self.profile.shapes)
        chosen = rng.choices(
            shapes, list(self.profile.shapes.values()), k=rng.choice((1, 1, 1, 1, self.profile.sequence))
        )
        body = list(self._start("rows" in chosen))
        for shape in chosen:
            maker: Callable[[], Block] = getattr(self, f"_{shape}")
            body.extend(maker())
        outer = {param.name for param in params}
        observed = [name for name in self.names.scalars if name not in outer or name == self.limit]
        finals = tuple(GlobalVar(f"{OBSERVED}{name}", self.names.scalars[name], 0) for name in observed)
        body.extend(Assign(Var(f"{OBSERVED}{name}"), "", Var(name)) for name in observed)
        body.append(Return(Var(rng.choice(list(self.names.scalars)))))
        function = Function("f", self.pick(INT, INT, LLONG, self.types[0]), params, tuple(body))
        return GeneratedProgram(finals, (), function, arrays)

    def _given(self) -> tuple[tuple[Param, ...], tuple[GlobalArray, ...]]:
        rng = self.random
        params: list[Param] = []
        for name in ("a", "b")[: self.pick(1, 2)]:
            params.append(Param(name, rng.choice(self.types), array=True, constant=True))
            self.streams[name] = params[-1].type
        for name in ("n", "x", "y")[: rng.randint(*self.profile.params)]:
            ctype = rng.choice(
                self.counters if name == "n" else (*self.types, INT if len(set(self.counters)) > 2 else SCHAR)
            )
            params.append(Param(name, ctype))
            self.names.scalars[name] = ctype
        arrays: tuple[GlobalArray, ...] = ()
        if self.chance(0.15):
            ctype = rng.choice(self.types)
            arrays = (GlobalArray("g", ctype, self._values(ctype, DATA_LENGTH), self.chance(0.4)),)
            self.streams["g"] = ctype
        rng.shuffle(params)
        return tuple(params), arrays

    def _values(self, ctype: CType, length: int) -> tuple[int, ...]:
        pool = [
            value
            for value in (0, 0, 1, 1, 2, 3, 5, 9, 32, 61, -1, -7, 97, 200, 1000, ctype.low + 1, ctype.high)
            if ctype.low <= value <= ctype.high
        ]
        return tuple(self.random.choice(pool) for _ in range(length))

    def _start(self, rows: bool) -> Block:  # noqa: FBT001
        """The limit is cut to what there is; local tables."""
        reach = self.profile.reach // (ROW if rows else 2 if self.place == "double" else 1)
        limit = Var(self.limit)
        cut: Stmt = Assign(limit, "", Const(reach))
        made: list[Stmt] = [
            If(Binary(">", limit, Const(reach)), (Return(Const(self.pick(0, -1))),) if self.chance(0.1) else (cut,))
        ]
        if self.names.scalars[self.limit].signed:
            made.append(If(Binary("<", limit, Const(0)), (Assign(limit, "", Const(0)),)))
        if self.chance(0.25):
            name, ctype = self.fresh("t"), self.random.choice(self.types)
            self.reduced[name] = ctype
            made.append(DeclareArray(name, ctype, self._values(ctype, ARRAY_LENGTH), self.chance(0.7)))
        return tuple(made)

    # ----------------------------------------------------------------------------------------------------------- shapes

    def stream(self) -> _Stream:
        """A way over the arrays."""
        limit, ctype = Var(self.limit), self.names.scalars[self.limit]
        roll = self.random.random()
        if roll < 0.12:
            made = self.declare("i", ctype, limit)
            i = Var(made.name)
            return _Stream((made,), Binary(">", i, Const(0)), self.step(i.name, -1), Binary("-", i, Const(1)), i.name)
        if roll < 0.22 and ctype.signed:
            made = self.declare("i", ctype, Binary("-", limit, Const(1)))
            i = Var(made.name)
            return _Stream((made,), Binary(">=", i, Const(0)), self.step(i.name, -1), i, i.name)
        start: Expr = Const(self.pick(0, 0, 0, 0, 1))
        if "x" in self.names.scalars and self.chance(0.08):
            start = Binary("&", Var("x"), Const(3))
        made = self.declare("i", ctype if self.chance(0.85) else self.random.choice(self.counters), start)
        i = Var(made.name)
        step = self.step(i.name, self.pick(1, 1, 1, 1, 1, 2))
        return _Stream((made,), Binary("<", i, limit), step, i, i.name)

    def _sweep(self) -> Block:
        """Over the arrays, with work on their elements and perhaps an early end."""
        way = self.stream()

        def item() -> Expr:
            return self.item(way.at)

        before, body = self.work(item, way.at)
        condition = way.condition
        if self.chance(0.25):
            condition = Binary("&&", condition, self.about(item, 0))
        elif self.chance(0.2):
            sums = [stmt.target for stmt in body if isinstance(stmt, Assign) and isinstance(stmt.target, Var)]
            if sums:
                condition = Binary("&&", condition, Binary("<", sums[0], self.pick(self.letter(), Const(100))))

        def make() -> Block:
            leaving = self.leaving(item, way.at) if self.chance(0.3) else ()
            return (*leaving, *body) if self.chance(0.5) else (*body, *leaving)

        return (*way.before, *before, *self.while_or_for(condition, make, way.progress))

    def while_or_for(self, condition: Expr, make: Callable[[], Block], progress: Stmt | None) -> Block:
        """A loop that is entered only where its condition holds."""
        *before, loop = self.around(condition, make, progress)
        return (*before, If(condition, (loop,)) if isinstance(loop, DoWhile) else loop)

    def _search(self) -> Block:
        """Until something is found."""
        way = self.stream()

        def item() -> Expr:
            return self.item(way.at)

        if self.chance(0.35):

            def make() -> Block:
                return self.leaving(item, way.at)

            return (*way.before, *self.while_or_for(way.condition, make, way.progress))
        wanted: Expr = Binary("!=", item(), self.letter(self.types[0])) if self.chance(0.6) else self.about(item, 0)
        if self.chance(0.35):
            wanted = Binary("&&", wanted, Binary("!=", self.item(way.at), self.letter(CHAR)))
        return (*way.before, *self.while_or_for(Binary("&&", way.condition, wanted), lambda: (), way.progress))

    def _string(self) -> Block:
        """To the terminator, which is the last element of each array at the latest."""
        text = self._terminated()
        made = self.declare("i", self.random.choice(self.counters), Const(0))
        i = Var(made.name)
        element = Element(text, i, masked=False)

        def item() -> Expr:
            return element

        condition: Expr = element if self.chance(0.5) else Binary("!=", element, Const(0))
        if self.chance(0.4):
            condition = Binary("&&", condition, Binary("!=", element, self.letter(CHAR)))
        before, body = self.work(item, i) if self.chance(0.6) else ((), ())
        return (made, *before, *self.while_or_for(condition, lambda: body, self.step(i.name, 1)))

    def _terminated(self) -> str:
        """An array that surely ends with a 0: one of a parameter."""
        return self.random.choice([name for name in self.streams if name != "g"])

    def _pointer(self) -> Block:
        """A pointer that goes over an array, to an end, a terminator or what is searched; or back from its end."""
        text = self._terminated()
        ctype = self.streams[text]
        name, end = self.fresh("p"), self.fresh("e")
        self.names.tables[name] = self.names.tables[end] = ctype  # the names are taken
        p, limit = Var(name), Var(self.limit)

        def item() -> Expr:
            return Unary("*", p)

        start = DeclarePointer(name, ctype, text, Const(0))
        roll = self.random.random()
        if roll < 0.15:
            previous = Element(name, Const(-1), masked=False)
            back = Binary("&&", Binary(">", p, Var(text)), Binary("==", previous, self.letter(ctype)))
            from_end = DeclarePointer(name, ctype, text, limit)
            return (from_end, While(back, (self.step(name, -1),)), self._moved(name, text))
        before, body = self.work(item, None) if self.chance(0.6) else ((), ())
        declared: Block = (start,)
        found = Binary("!=", item(), self.letter(ctype))
        if roll < 0.5:
            condition: Expr = Unary("*", p) if self.chance(0.5) else Binary("&&", Unary("*", p), found)
        else:
            declared = (start, DeclarePointer(end, ctype, text, limit))
            condition = Binary(self.pick("<", "<", "!="), p, Var(end))
            if self.chance(0.5):
                condition = Binary("&&", condition, found)
        loop = While(condition, (*body, self.step(name, 1)))
        return (*declared, *before, loop, self._moved(name, text))

    def _moved(self, pointer: str, text: str) -> Stmt:
        difference = Cast(LLONG, Binary("-", Var(pointer), Var(text)))
        return self.declare("w", self.pick(LLONG, INT) if self.profile.reach > ROW else SCHAR, difference)

    def _rows(self) -> Block:
        """Over rows of four elements; what the inner loop finds, the outer one may use."""
        outer = self.declare("i", self.names.scalars[self.limit], Const(0))
        inner = self.declare("j", self.random.choice(self.counters), Const(0))
        i, j = Var(outer.name), Var(inner.name)
        name = self.random.choice(list(self.streams))
        element = Element(name, Binary("+", Binary("*", i, Const(ROW)), j), masked=False)

        def item() -> Expr:
            return element

        before, body = self.work(item, j)
        more, outside = self.work(lambda: Element(name, i, masked=False), i) if self.chance(0.3) else ((), ())
        condition: Expr = Binary("<", j, Const(ROW))
        if self.chance(0.4):
            condition = Binary("&&", condition, self.about(item, 0))
        within = While(condition, (*body, self.step(inner.name, 1)))
        after: Block = ()
        if self.chance(0.4):
            made, total = self.total("c", 0)
            more = (*more, made)
            after = (If(Binary("<", j, Const(ROW)), (self.step(total.name, 1),)),)
        reset: Stmt = Assign(j, "", Const(0))
        whole = While(Binary("<", i, Var(self.limit)), (reset, within, *after, *outside, self.step(outer.name, 1)))
        return (outer, inner, *before, *more, whole)

    def _compare(self) -> Block:
        """Two arrays beside one another."""
        names = list(self.streams)
        one, other = (names[0], names[-1]) if len(names) > 1 else (names[0], names[0])
        made = self.declare("i", self.names.scalars[self.limit], Const(0))
        i = Var(made.name)
        second: Expr = i if one != other else Binary("+", i, Const(1))
        left, right = Element(one, i, masked=False), Element(other, second, masked=False)
        bounded = Binary("<", i, Var(self.limit))
        if self.chance(0.3):
            bounded = Binary("&&", bounded, left)
        equal = Binary("&&", bounded, Binary(self.pick("==", "==", "!=", "<="), left, right))
        loop = self.while_or_for(equal, lambda: (), self.step(i.name, 1))
        return (made, *loop)

    def _trim(self) -> Block:
        """From the end, as long as there is something to cut."""
        made = self.declare("e", self.names.scalars[self.limit], Var(self.limit))
        e = Var(made.name)
        last = Element(next(iter(self.streams)), Binary("-", e, Const(1)), masked=False)
        cut: Expr = Binary("==", last, self.letter(CHAR))
        if self.chance(0.4):
            cut = Binary("||", cut, Binary("==", last, self.letter(CHAR)))
        return (made, While(Binary("&&", Binary(">", e, Const(0)), cut), (self.step(e.name, -1),)))

    def _number(self) -> Block:
        """Digits, as ``atoi`` reads them."""
        made, value = self.total("v", 0)
        counter = self.declare("i", self.names.scalars[self.limit], Const(0))
        i = Var(counter.name)
        digit = Element(next(iter(self.streams)), i, masked=False)
        digits = Binary("&&", Binary(">=", digit, Const(48)), Binary("<=", digit, Const(57)))
        condition: Expr = Binary("&&", Binary("<", i, Var(self.limit)), digits)
        read = Binary("+", Binary("*", value, Const(10)), Binary("-", digit, Const(48)))
        return (made, counter, *self.while_or_for(condition, lambda: (Assign(value, "", read),), self.step(i.name, 1)))

    def _hop(self) -> Block:
        """How far it goes on, elements say."""
        made = self.declare("i", self.names.scalars[self.limit], Const(0))
        i = Var(made.name)
        element = Element(next(iter(self.streams)), i, masked=False)
        more, total = self.total("c", 0)
        if self.chance(0.5):
            hop: Stmt = Assign(i, "+", Binary("+", Binary("&", element, Const(3)), Const(1)))
        else:
            far = Choice(Binary("<", element, self.letter(CHAR)), Const(1), Const(self.pick(2, 3)))
            hop = Assign(i, "+", far)
        return (made, more, While(Binary("<", i, Var(self.limit)), (self.step(total.name, 1), hop)))

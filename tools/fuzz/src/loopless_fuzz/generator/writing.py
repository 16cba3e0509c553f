"""Random functions whose loops write memory: fills, copies, maps, in place, guarded, strided, carried, swapped, cells,
compaction, scatter, histograms, rings, nests over rows, structures, bytes of wider elements, one array under two names,
pointers that iterations load from memory, calls of functions that are not inlined.

A program is text of one statement a line, so that it can be made smaller line by line.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from loopless.check.oracle.signature import CType
from loopless_fuzz.generator.syntax import CHAR, INT, LLONG, SCHAR, SHORT, UCHAR, UINT, ULLONG, USHORT

LENGTH: Final = 26
"""The elements of each array. No index is beyond it for a count of :data:`MOST`, whatever the arrays hold."""
MOST: Final = 6
ROW: Final = 4

Argument = int | tuple[int, ...]
Lines = list[str]


BYTES: Final = (SCHAR, UCHAR)
_TYPES: Final = (*BYTES, CHAR, SHORT, USHORT, INT, INT, UINT, LLONG, ULLONG)
_COUNTERS: Final = (
    INT,
    INT,
    UINT,
    CType("long", 64, signed=True),
    CType("unsigned long", 64, signed=False),
    SHORT,
    UCHAR,
)


@dataclass(frozen=True, slots=True)
class Writing:
    """A program: ``text`` defines ``f``, whose ``parameters`` are arrays (of elements of a type) and numbers.
    ``shapes``: what its loops are.
    """

    text: str
    parameters: tuple[tuple[CType, bool], ...]
    shapes: tuple[str, ...]

    def rows(self, seed: int, count: int) -> list[tuple[Argument, ...]]:
        """Arguments: contents and numbers, small ones and edges; the first number is a count up to :data:`MOST`."""
        rng = random.Random(f"contents:{seed}")
        found: list[tuple[Argument, ...]] = []
        for number in range(count):
            row: list[Argument] = []
            counted = False
            for kind, is_array in self.parameters:
                if is_array:
                    row.append(_content(rng, kind, calm=number % 2 == 0))
                elif not counted:
                    counted = True
                    row.append(number % (MOST + 1) if number < 2 * MOST else rng.randint(0, MOST))
                else:
                    row.append(_number(rng, kind))
            found.append(tuple(row))
        return found


def _number(rng: random.Random, kind: CType) -> int:
    value = rng.choice((0, 1, 2, 3, 5, 9, -1, -2, 100, kind.low, kind.high, kind.high - 1))
    return value if kind.low <= value <= kind.high else kind.high


def _content(rng: random.Random, kind: CType, *, calm: bool) -> tuple[int, ...]:
    edges = (kind.low, kind.high, kind.low + 1, kind.high - 1)
    pools: tuple[Sequence[int], ...] = ((0, 1, 2, 3, 4, 5, 6, 7), (0, 1, -1), tuple(range(-5, 9)), (3, 2, 1, 0, 9))
    pool = rng.choice(pools) if calm else rng.choice((*pools, edges, (0, 1, *edges)))
    values = [rng.choice(pool) for _ in range(LENGTH)]
    if not calm and rng.random() < 0.3:
        values = [rng.randint(kind.low, kind.high) for _ in values]
    fitting = [value if kind.low <= value <= kind.high else value % (kind.high + 1) for value in values]
    return tuple(sorted(fitting) if rng.random() < 0.2 else fitting)


def writing(seed: int, *, narrow: bool = False) -> Writing:
    """The program of a seed; ``narrow``: all arrays and numbers are of 8 bits."""
    return _Writer(random.Random(f"writing:{seed}:{narrow}"), narrow=narrow).program()


class _Writer:
    def __init__(self, rng: random.Random, *, narrow: bool) -> None:
        self.rng = rng
        self.narrow = narrow
        self.arrays: dict[str, CType] = {}
        self.counter = rng.choice(BYTES if narrow else _COUNTERS)
        self.scalars: dict[str, CType] = {}
        self.made = 0
        self.helpers: Lines = []
        """What the function needs in front of it: types, and functions that it calls."""
        self.before = False
        """Whether the element before that of the index is there."""

    # -- the program --------------------------------------------------------------------------------------------------

    def program(self) -> Writing:
        rng = self.rng
        for name in ("a", "b", "c")[: rng.choice((1, 2, 2, 2, 3))]:
            self.arrays[name] = self.kind()
        if rng.random() < 0.3:
            self.arrays = dict.fromkeys(self.arrays, self.kind())
        same = rng.random() < 0.15 and len(self.arrays) > 1
        if same:
            self.arrays = dict.fromkeys(self.arrays, self.kind())
        for name in ("x", "y")[: rng.choice((0, 1, 1, 2))]:
            self.scalars[name] = self.kind()
        given = dict(self.arrays)
        numbers = {"n": self.counter, **self.scalars}
        lines = self._declared()
        shapes = [rng.choice(self.shapes()) for _ in range(rng.choice((1, 1, 1, 1, 2, 2, 3)))]
        for shape in shapes:
            maker: Callable[[], Lines] = getattr(self, f"_{shape}")
            lines += maker()
        lines.append(f"return {rng.choice(('s', 'k', '0'))};")
        if same:
            return self._aliased(lines, given, numbers, tuple(shapes))
        text = self._head("long long f", given, numbers, lines)
        parameters = (*((one, True) for one in given.values()), *((one, False) for one in numbers.values()))
        return Writing(text, tuple(parameters), tuple(shapes))

    def _aliased(
        self, lines: Lines, given: dict[str, CType], numbers: dict[str, CType], shapes: tuple[str, ...]
    ) -> Writing:
        """The same array under several names, the others a little further on."""
        first, *others = given
        args = ", ".join((first, *(f"{first} + {self.rng.choice((0, 0, 1, 2))}" for _ in others), *numbers))
        outer = ", ".join((f"{given[first].name} *{first}", *(f"{kind.name} {name}" for name, kind in numbers.items())))
        tail = f"long long f({outer}) {{\n  return inner({args});\n}}\n"
        text = self._head("static long long inner", given, numbers, lines) + tail
        parameters = ((given[first], True), *((one, False) for one in numbers.values()))
        return Writing(text, parameters, (*shapes, "aliases"))

    def _head(self, name: str, given: dict[str, CType], numbers: dict[str, CType], lines: Lines) -> str:
        params = [f"{kind.name} *{array}" for array, kind in given.items()]
        params += [f"{kind.name} {number}" for number, kind in numbers.items()]
        body = "\n".join(f"  {line}" for line in lines)
        structure = "struct pair { int key; short low; unsigned char tag[2]; };\n"
        head = "\n".join((f"#include <string.h>\n#include <stddef.h>\n{structure}", *self.helpers, ""))
        return f"{head}{name}({', '.join(params)}) {{\n{body}\n}}\n"

    def _declared(self) -> Lines:
        rng = self.rng
        kind = self.kind()
        lines = [f"{kind.name} s = {rng.choice(('0', '1', *self.scalars))};", f"{self.counter.name} k = 0;"]
        if rng.random() < 0.3:
            lines.append(f"if (n > {MOST}) n = {MOST};")
        if rng.random() < 0.2:
            self.arrays["t"] = self.kind()
            start = rng.choice(("{0}", "{1, 2, 3}"))
            lines.append(f"{self.arrays['t'].name} t[{LENGTH}] = {start};")
        return lines

    def kind(self) -> CType:
        """A type of elements or numbers."""
        return self.rng.choice(BYTES if self.narrow else _TYPES)

    def shapes(self) -> tuple[str, ...]:
        """The names of loops, some more than once."""
        often = ("sweep",) * 6 + ("carried", "guarded", "strided", "cell", "overlap", "overlap") * 2
        rare = ("swap", "pointers", "string", "compaction", "scatter", "ring", "rows", "rows", "structure", "bytes")
        more = ("shift", "insertion", "down", "library", "triangle", "removal", "removal")
        return (*often, *rare, *more, "loaded", "loaded", "called", "called")

    # -- expressions --------------------------------------------------------------------------------------------------

    def pick(self, *choices: str) -> str:
        """One of several texts."""
        return self.rng.choice(choices)

    def array(self) -> str:
        """An array."""
        return self.rng.choice(list(self.arrays))

    def index(self, i: str = "i") -> str:
        """An index that is inside for i up to :data:`MOST`."""
        before = (f"{i} - 1",) if self.before else ()
        far = (f"n - 1 - {i}", f"n - {i}", f"2 * {i}", f"2 * {i} + 1", f"3 * {i}", f"{i} / 2", f"{i} % 3", f"{i} & 3")
        if self.rng.random() < 0.6:
            return self.pick(i, i, i, i, f"{i} + 1", f"{i} + 2", *before)
        mask = "7" if self.rng.random() < 0.5 else "3"
        loose = (f"({self.array()}[{i}] & {mask})", f"(({i} + {self.number()}) & 7)", "0", "1", "3")
        return self.pick(*far, *loose)

    def number(self) -> str:
        """A number that no iteration changes."""
        return self.pick(*self.scalars, "n", "1", "2", "5")

    def element(self, i: str = "i") -> str:
        """An element."""
        return f"{self.array()}[{self.index(i)}]"

    def near(self, i: str = "i") -> str:
        """The element of this iteration."""
        return f"{self.array()}[{i}]"

    def value(self, i: str = "i", depth: int = 0) -> str:
        """A value to write."""
        roll = self.rng.random()
        if roll < 0.3 or depth > 1:
            return self.pick("0", "1", "-1", "7", "200", i, i, *self.scalars, "s", "n")
        if roll < 0.6:
            return self.near(i) if self.rng.random() < 0.5 else self.element(i)
        if roll < 0.85:
            left, right = self.value(i, depth + 1), self.value(i, depth + 1)
            return f"{left} {self.pick('+', '+', '-', '+', '^', '&', '*')} {right}"
        if roll < 0.92:
            return self.pick(
                f"{i} * {i}", f"2 * {i} + 1", f"-{self.near(i)}", f"~{self.near(i)}", f"{self.near(i)} >> 1"
            )
        return f"({self.condition(i)} ? {self.value(i, 2)} : {self.value(i, 2)})"

    def condition(self, i: str = "i") -> str:
        """A condition."""
        left = self.near(i) if self.rng.random() < 0.7 else self.pick(i, f"{i} % 2", f"{i} & 1", *self.scalars)
        right = self.pick("0", "1", "3", i, *self.scalars) if self.rng.random() < 0.8 else self.element(i)
        return f"{left} {self.pick('<', '>', '==', '!=', '>=')} {right}"

    # -- statements ---------------------------------------------------------------------------------------------------

    def write(self, i: str = "i") -> Lines:
        """A statement that writes an element."""
        place = f"{self.array()}[{self.index(i)}]"
        roll = self.rng.random()
        if roll < 0.6:
            return [f"{place} = {self.value(i)};"]
        if roll < 0.75:
            return [f"{place} {self.pick('+=', '-=', '^=')} {self.value(i)};"]
        if roll < 0.8:
            return [f"{place}++;"]
        if roll < 0.95:
            return [f"if ({self.condition(i)})", f"  {place} = {self.value(i)};"]
        return [f"if ({self.condition(i)}) {{", *self.write(i), "} else {", *self.write(i), "}"]

    def statement(self, i: str = "i") -> Lines:
        """A statement of a body."""
        roll = self.rng.random()
        if roll < 0.75:
            return self.write(i)
        if roll < 0.9:
            return [f"s {self.pick('+=', '=', '^=')} {self.value(i)};"]
        if roll < 0.95:
            return [f"if ({self.condition(i)})", f"  {self.pick('break', 'continue', 'break')};"]
        return ["k++;"]

    def body(self, most: int = 3, i: str = "i") -> Lines:
        """Statements, one of which writes."""
        lines: Lines = []
        for _ in range(self.rng.randint(0, most - 1)):
            lines += self.statement(i)
        return [*lines, *self.write(i)]

    # -- loops --------------------------------------------------------------------------------------------------------

    def loop(self, body: Lines, *, first: str = "0", step: str = "i++", condition: str = "i < n") -> Lines:
        """A loop that counts."""
        return [f"for ({self.counter.name} i = {first}; {condition}; {step}) {{", *body, "}"]

    def _sweep(self) -> Lines:
        self.before = self.rng.random() < 0.2
        found = self.loop(self.body(), first="1" if self.before else self.pick("0", "0", "0", "1", "2"))
        self.before = False
        return found

    def _down(self) -> Lines:
        body = self.body(2)
        if self.rng.random() < 0.5:
            return [f"for ({self.counter.name} i = n; i > 0; i--) {{", *body, "}"]
        head = f"for ({self.counter.name} i = n; i-- > 0;) {{"
        return [head, *body, "}"] if "continue" not in "".join(body) else self.loop(body)

    def _strided(self) -> Lines:
        return self.loop(self.body(2), first=self.pick("0", "0", "1"), step=self.pick("i += 2", "i += 3"))

    def _guarded(self) -> Lines:
        one, other = self.write(), self.write() if self.rng.random() < 0.5 else []
        otherwise = ["} else {", *other] if other else []
        return self.loop([f"if ({self.condition()}) {{", *one, *otherwise, "}"])

    def _carried(self) -> Lines:
        name, back = self.array(), self.rng.choice((1, 1, 1, 2, 3))
        more = self.pick("1", "i", f"{self.array()}[i]", "s", f"{name}[i]")
        value = self.pick(f"{name}[i - {back}]", f"{name}[i - {back}] + {more}", f"{name}[i - {back}] - {more}")
        if self.rng.random() < 0.2:
            value = f"{name}[i - 1] + {name}[i - 2]"
            back = 2
        lines = [f"{name}[i] = {value};"]
        if self.rng.random() < 0.3:
            lines = [f"if ({self.condition()})", f"  {lines[0]}"]
        if self.rng.random() < 0.3:
            lines += self.write()
        return self.loop(lines, first=str(back))

    def _shift(self) -> Lines:
        name, by = self.array(), self.rng.choice((1, 1, 2))
        way = self.rng.random()
        if way < 0.5:
            return self.loop([f"{name}[i] = {name}[i + {by}];"])
        if way < 0.8:
            return self.loop([f"{name}[i + {by}] = {name}[i];"])
        return [f"for ({self.counter.name} i = n; i > 0; i--) {{", f"{name}[i] = {name}[i - 1];", "}"]

    def _swap(self) -> Lines:
        name, other = self.array(), self.array()
        kind = self.arrays[name].name
        swapped = [f"{kind} h = {name}[i];", f"{name}[i] = {other}[j];", f"{other}[j] = h;"]
        if self.rng.random() < 0.5:
            declared = "for (int i = 0, j = n - 1; i < j; i++, j--) {"
            return [declared, *swapped, "}"]
        j = self.pick("i + 1", "i + 3", "n - 1 - i", "2 * i")
        return self.loop([f"int j = {j};", *swapped])

    def _cell(self) -> Lines:
        name = self.array()
        at = self.pick("0", "0", "1", "n", *(f"({x} & 3)" for x in self.scalars))
        cell = f"{name}[{at}]"
        lines = [f"{cell} {self.pick('+=', '=', '-=', '^=')} {self.value()};"]
        if self.rng.random() < 0.4:
            lines = [f"if ({self.condition()})", f"  {lines[0]}"]
        if self.rng.random() < 0.3:
            lines = [f"if ({self.near()} > {cell})", f"  {cell} = {self.near()};"]
        if self.rng.random() < 0.4:
            lines += self.write()
        return self.loop(lines, first=self.pick("0", "1"))

    def _overlap(self) -> Lines:
        """Writes of several kinds to one array."""
        name = self.array()
        lines: Lines = []
        for _ in range(self.rng.choice((2, 2, 3))):
            write = f"{name}[{self.index()}] = {self.value()};"
            guarded = self.rng.random() < 0.3
            lines += [f"if ({self.condition()})", f"  {write}"] if guarded else [write]
        return self.loop(lines, step=self.pick("i++", "i++", "i++", "i += 2"))

    def _pointers(self) -> Lines:
        to, source = self.array(), self.array()
        p, q = self.fresh("p"), self.fresh("q")
        lines = [f"{self.arrays[to].name} *{p} = {to};", f"{self.arrays[source].name} *{q} = {source};"]
        if self.rng.random() < 0.4:
            value = self.pick(f"*{q}++", f"*{q}++ + 1", "0", "i")
            return [*lines, *self.loop([f"*{p}++ = {value};"])]
        if self.rng.random() < 0.5:
            end = self.fresh("e")
            by = self.pick("1", "1", "2")
            step = [f"*{p} = {self.pick('0', 's', f'*{p} + 1', f'*{q}')};", f"{p} += {by};", f"{q} += 1;"]
            return [*lines, f"{self.arrays[to].name} *{end} = {to} + 2 * n;", f"while ({p} < {end}) {{", *step, "}"]
        start = [f"{p} += n;"]
        return [*lines, *start, f"while ({p} > {to}) {{", f"*--{p} = {self.pick('1', f'*{q}', f'*{q}++')};", "}"]

    def fresh(self, name: str) -> str:
        """A name that no other variable has."""
        self.made += 1
        return f"{name}{self.made}"

    def _string(self) -> Lines:
        to, source = self.array(), self.array()
        i = self.fresh("i")
        stop = f"{i} < n && {source}[{i}]"
        write = self.pick(f"{to}[{i}] = {source}[{i}];", f"{to}[{i}] = {source}[{i}] + 1;", f"{to}[{i}] = 0;")
        after = self.pick("", f"{to}[{i}] = 0;")
        lines = [f"int {i} = 0;", f"while ({stop}) {{", write, f"{i}++;", "}"]
        return [*lines, after] if after else lines

    def _compaction(self) -> Lines:
        to = self.array()
        k = self.fresh("k")
        kept = self.pick(self.near(), self.near(), "i", "i + 1")
        place = self.pick(f"{to}[{k}++] = {kept};", f"{to}[{k}++] = {kept};", f"{to}[++{k}] = {kept};")
        more = self.write() if self.rng.random() < 0.2 else []
        return [f"int {k} = 0;", *self.loop([f"if ({self.condition()})", f"  {place}", *more]), f"s = {k};"]

    def _removal(self) -> Lines:
        """Elements are moved to a place that data chooses, in the array in which they are looked for."""
        name, k = self.array(), self.fresh("k")
        kept = f"{name}[{k}]"
        condition = self.pick(self.condition(), f"{name}[i] {self.pick('!=', '>', '<')} {self.pick('0', '1', kept)}")
        value = self.pick(
            f"{name}[i]", f"{name}[i]", f"{name}[i]", f"{name}[i] + 1", f"{name}[i + 1]", f"{kept} + 1", "s"
        )
        move = self.pick(f"{k}++;", f"{k}++;", f"{k} += 2;", f"{k} += {name}[i] & 1;", f"{k} += {self.condition()};")
        moved = [f"{kept} = {value};", move] if self.rng.random() < 0.8 else [move, f"{kept} = {value};"]
        more = self.statement() if self.rng.random() < 0.2 else []
        start = self.pick("0", "0", "0", "1", "2")
        return [f"int {k} = {start};", *self.loop([f"if ({condition}) {{", *moved, "}", *more]), f"s = {k};"]

    def _scatter(self) -> Lines:
        to, source = self.array(), self.array()
        at = f"{to}[{source}[i] & {self.pick('3', '7', '7')}]"
        done = self.pick(f"{at} = {self.value()};", f"{at}++;", f"{at} += 1;", f"{at} = i;", f"{at} += {self.near()};")
        guard = [f"if ({self.condition()})", f"  {done}"] if self.rng.random() < 0.25 else [done]
        return self.loop(guard)

    def _ring(self) -> Lines:
        to = self.array()
        h = self.fresh("h")
        start = self.pick("0", "3", *self.scalars)
        mask = self.pick("7", "3")
        body = [f"{to}[{h} & {mask}] = {self.value()};", f"{h}++;"]
        if self.rng.random() < 0.4:
            body = [f"if ({self.condition()}) {{", *body, "}"]
        return [f"unsigned {h} = {start};", *self.loop(body)]

    def _rows(self) -> Lines:
        name = self.array()
        i, j = "i", "j"
        place = self.pick(f"{ROW} * {i} + {j}", f"{ROW} * {i} + {j}", f"{ROW} * {j} + {i}", f"{i} + {j}", j)
        value = self.pick("0", f"{i} + {j}", f"{name}[{place}] + 1", f"{i} * {j}", self.near("i"), self.near("j"), "s")
        write = f"{name}[{place}] {self.pick('=', '=', '=', '+=')} {value};"
        guarded = [f"if ({self.condition('j')})", f"  {write}"] if self.rng.random() < 0.2 else [write]
        before = self.write() if self.rng.random() < 0.2 else []
        after = [f"{self.array()}[i] = s;"] if self.rng.random() < 0.2 else []
        top = f"for ({self.counter.name} i = 0; i < n && i < {ROW + 1}; i++) {{"
        bound = self.pick(str(ROW), str(ROW), "2", "n")
        return [top, *before, f"for (int j = 0; j < {bound} && j < {ROW}; j++) {{", *guarded, "}", *after, "}"]

    def _triangle(self) -> Lines:
        name = self.array()
        value = self.pick("1", "i", "j", f"{name}[j] + 1", f"{name}[{ROW} * i]")
        inner = self.pick("j = 0; j < i", "j = i; j < 4", "j = 0; j <= i")
        head = f"for (int i = 0; i < n && i < {ROW}; i++) {{"
        return [head, f"for (int {inner}; j++) {{", f"{name}[{ROW} * i + j] = {value};", "}", "}"]

    def _insertion(self) -> Lines:
        name = self.array()
        j = self.fresh("j")
        kind = self.arrays[name].name
        lines = [f"int {j} = n;", f"{kind} v{j} = {name}[{j}];"]
        loop = [f"while ({j} > 0 && {name}[{j} - 1] > v{j}) {{", f"{name}[{j}] = {name}[{j} - 1];", f"{j}--;", "}"]
        return [*lines, *loop, f"{name}[{j}] = v{j};"]

    def _structure(self) -> Lines:
        """Members of structures in an array of ints or bytes, which hold eight bytes each."""
        wide = [name for name, kind in self.arrays.items() if kind.bits in (32, 64)]
        if not wide:
            return self._sweep()
        p = self.fresh("p")
        lines = [f"struct pair *{p} = (struct pair *){self.rng.choice(wide)};"]
        members = (f"{p}[i].key", f"{p}[i].low", f"{p}[i].tag[0]", f"{p}[i].tag[1]", f"{p}[i].key")
        roll = self.rng.random()
        if roll < 0.25:
            cell = self.pick(f"{p}->key", f"{p}->low", f"{p}[1].key")
            return [*lines, *self.loop([f"{cell} {self.pick('+=', '=')} {self.pick('1', 'i', f'{p}[i].low')};"])]
        if roll < 0.4:
            start = f"{p}->key = 0;"
            return [*lines, start, *self.loop([f"{p}[1 + ({p}->key++ & 3)].low = i;"])]
        body: Lines = []
        for _ in range(self.rng.choice((1, 2, 2))):
            value = self.pick("i", "0", "1", self.rng.choice(members), f"{self.rng.choice(members)} + 1", "s")
            body.append(f"{self.rng.choice(members)} = {value};")
        if self.rng.random() < 0.2:
            body.append(f"{p}[i] = {p}[i + 1];")
        return [*lines, *self.loop([f"if (i < {MOST - 1}) {{", *body, "}"] if self.rng.random() < 0.2 else body)]

    def _bytes(self) -> Lines:
        """Bytes of wider elements, beside these."""
        name = self.array()
        p = self.fresh("p")
        lines = [f"unsigned char *{p} = (unsigned char *){name};"]
        at = self.pick("i", "2 * i", "2 * i + 1", "i + 1", "i")
        body = [f"{p}[{at}] = {self.pick('i', '0', '255', f'{p}[i + 1]', self.near())};"]
        if self.rng.random() < 0.5:
            body = [*body, *self.write()] if self.rng.random() < 0.5 else [*self.write(), *body]
        return [*lines, *self.loop(body)]

    def _library(self) -> Lines:
        to, source = self.array(), self.array()
        byte = self.pick("0", "255", "1")
        size = f"sizeof {to}[0]"
        inside = [f"memset({to} + i, {byte}, {size});"]
        if to != source and self.arrays[to].bits <= self.arrays[source].bits:
            inside = [f"memcpy({to} + i, {source} + i, {size});"]
        if self.rng.random() < 0.6:
            more = self.write() if self.rng.random() < 0.5 else []
            return self.loop([*inside, *more])
        return [f"memset({to}, {byte}, n * {size});", *self._sweep()]

    def _loaded(self) -> Lines:
        """Writes through pointers that lie in a structure, which each iteration loads anew: in one whose address nobody
        keeps, or in one that is known elsewhere.
        """
        to, source = self.array(), self.array()
        kind, other = self.arrays[to].name, self.arrays[source].name
        z, held = self.fresh("z"), self.fresh("held")
        self.helpers.append(f"struct {held} {{ {kind} *to; int at; {other} *from; short left; {kind} **again; }};")
        known = self.rng.random() < 0.7
        way = f"{z}->" if known else f"{z}."
        lines = [f"struct {held} {z} = {{{to}, 0, {source}, 3, 0}};"]
        if known:
            self.helpers.append(f"static struct {held} *kept_{held};")
            keeps = f"static __attribute__((noinline)) void keep_{held}(struct {held} *p) {{ kept_{held} = p; }}"
            self.helpers.append(keeps)
            lines = [f"struct {held} of_{z} = {{{to}, 0, {source}, 3, 0}};", f"keep_{held}(&of_{z});"]
            lines += [f"struct {held} *{z} = kept_{held};"] if self.rng.random() < 0.5 else []
            way = f"{z}->" if len(lines) == 3 else f"kept_{held}->"
        index = self.pick("i", "i", f"{way}at++", f"{way}at++", f"({way}from[i] & 7)")
        value = self.pick("i", f"{way}from[i]", f"{way}from[i] + 1", f"{way}to[i]", "s")
        body = [f"{way}to[{index}] = {value};"]
        if self.rng.random() < 0.2:
            body.append(self.pick(f"{way}left--;", f"if ({self.condition()}) {way}to++;", f"{way}to = {to} + (i & 3);"))
        if self.rng.random() < 0.3:
            body += self.write()
        return [*lines, *self.loop(body), f"s = {way}at;"]

    def _called(self) -> Lines:
        """Calls of functions that read memory, write it, or neither; those that call themselves nobody inlines."""
        to, source = self.array(), self.array()
        kind, other = self.arrays[to].name, self.arrays[source].name
        name = self.fresh("g")
        roll = self.rng.random()
        if roll < 0.3:
            given, body, args = "", f"return v {self.pick('+ 3', '& 7', '^ 1')};", ""
        elif roll < 0.55:
            given, body, args = f"const {other} *p, ", "return p[v & 7] & 15;", f"{source}, "
        else:
            written = self.pick("p[v & 7] = 1;", "p[0]++;", "p[v & 3] = p[v & 7];", "if (v & 1) p[2] = 5;")
            given, body, args = f"{other} *p, ", f"{written} return v & 3;", f"{source}, "
        again = f"if (v < -1) return {name}({'p, ' if given else ''}v / 2); " if self.rng.random() < 0.7 else ""
        self.helpers.append(f"static __attribute__((noinline)) int {name}({given}int v) {{ {again}{body} }}")
        call = f"{name}({args}{self.pick('i', 'i', '0', 's & 7')})"
        used = self.pick(f"{to}[i] = {call};", f"s = {call};", f"{to}[{call} & 7] = i;", f"{call};", f"{call};")
        if self.rng.random() < 0.2:
            used = f"{to}[i] = ({kind}) (s + {call});"
        more = self.write() if self.rng.random() < 0.8 else []
        return self.loop([used, *more] if self.rng.random() < 0.5 else [*more, used])

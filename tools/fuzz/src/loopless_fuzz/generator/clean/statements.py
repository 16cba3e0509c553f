"""The statements of a program in C, and those of them that C++ has, too: declarations in nested blocks, loops, jumps,
objects that end with their blocks, and pointers to what lives.
"""

from __future__ import annotations

from collections.abc import Callable

from loopless_fuzz.generator.clean.pieces import Piece
from loopless_fuzz.generator.clean.shapes import cast
from loopless_fuzz.generator.clean.writer import Writer

Block = tuple[Piece, ...]


class Statements:
    """Draws the statements of one function after the other; ``s`` is an ``unsigned`` that each changes."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.rng = writer.rng
        both: list[Callable[[int], Block]] = [
            *[self.declared_structure] * 4,
            *[self.assigned_structure] * 3,
            *[self.declared_integer] * 2,
            *[self.summed] * 3,
            self.changed_member,
            self.changed_integer,
            self.array_of_structures,
            self.line_of_numbers,
            self.pointer_to_object,
            self.pointer_to_integer,
            self.updated,
            self.copied,
            self.branch,
            self.branch,
            self.counted_loop,
            self.counted_loop,
            self.while_loop,
            self.do_loop,
            self.switch,
            self.block,
            self.lent_pointer,
            self.again,
            self.left,
            self.static_local,
            self.moved,
            self.remembered,
        ]
        only_c: list[Callable[[int], Block]] = [
            self.literal_object,
            self.literal_line,
            self.variable_length,
            self.length_at_edge,
            self.rows,
            self.on_heap,
            self.on_heap,
            self.allocated,
            self.chain,
            self.over_declaration,
            self.switch_over_declaration,
            self.cleaned,
            self.in_statements,
            self.pieces_of_union,
            self.again_over_declaration,
        ]
        self.kinds = both + (only_c if writer.language == "c" else [])

    def several(self, depth: int, most: int = 3) -> Block:
        """Some statements in a row, in the scope that is open."""
        found: list[Piece] = []
        for _ in range(self.rng.randint(1, most)):
            found += self.rng.choice(self.kinds)(depth)
        return tuple(found)

    def inner(self, depth: int, most: int = 3) -> Block:
        """The statements of a block of its own."""
        with self.writer.scope():
            return self.several(depth - 1, most) if depth > 0 else self.summed(0)

    # ------------------------------------------------------------------------------------------------- declarations

    def declared_structure(self, _depth: int) -> Block:
        writer, shape = self.writer, self.rng.choice(self.writer.shapes)
        value = writer.literal(shape) if writer.chance(0.3) else writer.value(shape)
        name = writer.fresh("t")
        writer.names.objects.append((name, shape))
        return (Piece(f"{shape.type} {name} = {value};"),)

    def declared_integer(self, _depth: int) -> Block:
        value, name = self.writer.number(), self.writer.fresh("x")
        type_ = self.rng.choice(("int", "int", "short", "unsigned char", "signed char", "long"))
        if self.writer.chance(0.2):
            self.writer.names.read_only.append(name)
            return (Piece(f"const int {name} = {value};"),)
        self.writer.names.integers.append(name)
        if type_ == "int" and self.writer.chance(0.3):  # it has its value on all paths, but not at once
            other = self.writer.number()
            test = f"if ({self.writer.condition()}) {name} = {value}; else {name} = {other};"
            return (Piece(f"int {name};\n{test}"),)
        return (Piece(f"{type_} {name} = ({type_})({value});"),)

    def array_of_structures(self, _depth: int) -> Block:
        writer, shape, name = self.writer, self.rng.choice(self.writer.shapes), self.writer.fresh("v")
        if writer.chance(0.5):
            text = f"{shape.type} {name}[2] = {{{writer.value(shape)}, {writer.value(shape, 1)}}};"
            pieces: Block = (Piece(text),)
        else:
            fill = Piece(f"{name}[k] = {writer.value(shape)};")
            loop = self._loop("for (int k = 0; @k < 2; k++) {", (fill,))
            pieces = (Piece(f"{shape.type} {name}[2];", needed=True), replace_needed(loop))
        writer.names.arrays.append((name, shape))
        return pieces

    def line_of_numbers(self, _depth: int) -> Block:
        name, count = self.writer.fresh("r"), self.rng.choice((2, 4))
        values = ", ".join(self.writer.number(1) for _ in range(count))
        self.writer.names.lines.append((name, count))
        return (Piece(f"int {name}[{count}] = {{{values}}};"),)

    def static_local(self, _depth: int) -> Block:
        name = self.writer.fresh("kept")
        return (
            Piece(
                f"static int {name} = 3;\n{name} = ({name} + {self.writer.number(1)}) & 255;\ns += (unsigned){name};"
            ),
        )

    # -------------------------------------------------------------------------------------------------- assignments

    def assigned_structure(self, depth: int) -> Block:
        places = [(name, shape) for name, shape in self.writer.names.objects]
        places += [(f"{name}[{self.writer.index(2)}]", shape) for name, shape in self.writer.names.arrays]
        places += [(f"*{name}", shape) for name, shape in self.writer.names.places]
        if not places:
            return self.declared_structure(depth)
        name, shape = self.rng.choice(places)
        return (Piece(f"{name} = {self.writer.value(shape)};"),)

    def changed_member(self, depth: int) -> Block:
        target = self._target()
        if target is None:
            return self.declared_structure(depth)
        text, type_ = target
        return (Piece(f"{text} = {cast(type_, self.writer.number())};"),)

    def changed_integer(self, depth: int) -> Block:
        if not self.writer.names.integers:
            return self.declared_integer(depth)
        name = self.rng.choice(self.writer.names.integers)
        return (Piece(f"{name} = ({self.writer.number()}) & 127;"),)

    def summed(self, _depth: int) -> Block:
        if self.writer.chance(0.4):
            shape = self.rng.choice(self.writer.shapes)
            return (Piece(f"s = s * 17u + sum_{shape.name}({self.writer.value(shape)});"),)
        return (Piece(f"s = s * 31u + (unsigned)({self.writer.number(3)});"),)

    def copied(self, _depth: int) -> Block:
        """A structure is copied as bytes."""
        writer = self.writer
        shape, name = self.rng.choice(writer.shapes), writer.fresh("t")
        source = [other for other, of in writer.names.objects if of is shape]
        pieces: Block = ()
        if not source:
            value = writer.value(shape)
            source = [writer.fresh("t")]
            writer.names.objects.append((source[0], shape))
            pieces = (Piece(f"{shape.type} {source[0]} = {value};"),)
        writer.names.objects.append((name, shape))
        call = self.rng.choice(("memcpy", "memmove"))
        text = f"{shape.type} {name};\n{call}(&{name}, &{self.rng.choice(source)}, sizeof {name});"
        return (*pieces, Piece(text))

    def moved(self, depth: int) -> Block:
        """Elements move within an array."""
        if not self.writer.names.lines:
            return self.line_of_numbers(depth)
        name, count = self.rng.choice(self.writer.names.lines)
        return (Piece(f"memmove({name}, {name} + 1, {count - 1} * sizeof *{name});"),)

    def remembered(self, _depth: int) -> Block:
        """A global changes."""
        return (Piece(f"seen{self.writer.tag} = (seen{self.writer.tag} * 3 + {self.writer.number(1)}) & 1023;"),)

    # ----------------------------------------------------------------------------------------------------- pointers

    def pointer_to_object(self, depth: int) -> Block:
        if not self.writer.names.objects:
            return self.declared_structure(depth)
        (name, shape), pointer = self.rng.choice(self.writer.names.objects), self.writer.fresh("p")
        self.writer.names.places.append((pointer, shape))
        return (Piece(f"{shape.type} *{pointer} = &{name};"),)

    def pointer_to_integer(self, depth: int) -> Block:
        found = self._target()
        if found is None or found[1] != "int":
            if not self.writer.names.integers:
                return self.declared_integer(depth)
            pointer, value, own = self.writer.fresh("p"), self.writer.number(1), self.writer.fresh("x")
            self.writer.names.pointers.append(pointer)
            return (Piece(f"int {own} = {value}, *{pointer} = &{own};"),)
        pointer = self.writer.fresh("p")
        self.writer.names.pointers.append(pointer)
        return (Piece(f"int *{pointer} = &{found[0]};"),)

    def lent_pointer(self, depth: int) -> Block:
        """A pointer from outside points into a block, and away again before the block ends."""
        writer = self.writer
        shape, outer, pointer, inner = self.rng.choice(writer.shapes), *map(writer.fresh, "tpt")
        first = f"{shape.type} {outer} = {writer.value(shape)}, *{pointer} = &{outer};"
        with writer.scope():
            head = f"{shape.type} {inner} = {writer.value(shape)};\n{pointer} = &{inner};"
            writer.names.objects.append((inner, shape))
            writer.names.places.append((pointer, shape))
            inside = (
                Piece(head, needed=True),
                *self.several(depth - 1, 2),
                Piece(f"{pointer} = &{outer};", needed=True),
            )
        writer.names.objects.append((outer, shape))
        writer.names.places.append((pointer, shape))
        kind = self.rng.choice(("{", f"if ({writer.condition()}) {{", "do {"))
        return Piece(first), Piece(kind, inside, "} while (0);" if kind == "do {" else "}")

    def updated(self, depth: int) -> Block:
        """A function changes an object by its address."""
        of = {shape.type: shape for shape in self.writer.shapes if shape.type in self.writer.made.updaters}
        places = [(f"&{name}", shape) for name, shape in self.writer.names.objects if shape.type in of]
        places += [(name, shape) for name, shape in self.writer.names.places if shape.type in of]
        if not places:
            return self.summed(depth)
        name, shape = self.rng.choice(places)
        call = self.rng.choice(self.writer.made.updaters[shape.type])
        return (Piece(f"{call.format(name, self.writer.number(1))};"),)

    def _target(self) -> tuple[str, str] | None:
        """A member that may be written, by a name or a pointer, and its type."""
        places = [*self.writer.names.objects, *((f"(*{name})", shape) for name, shape in self.writer.names.places)]
        if not places:
            return None
        name, shape = self.rng.choice(places)
        return shape.addressed(self.rng, name, self.writer._place)  # noqa: SLF001

    # ------------------------------------------------------------------------------------------------- control flow

    def branch(self, depth: int) -> Block:
        if depth <= 0:
            return self.summed(depth)
        then = Piece(f"if ({self.writer.condition()}) {{", self.inner(depth), "}")
        return (then,) if self.writer.chance(0.5) else (then, Piece("else {", self.inner(depth), "}"))

    def block(self, depth: int) -> Block:
        return (Piece("{", self.inner(depth), "}"),)

    def counted_loop(self, depth: int) -> Block:
        if depth <= 0:
            return self.summed(depth)
        name, count = self.writer.fresh("i"), self.rng.choice(("2", "3", "4", f"({self.writer.number(1)}) % 5"))
        with self.writer.scope():
            self.writer.names.read_only.append(name)
            inside = (*self.several(depth - 1), *self._jump())
        return (self._loop(f"for (int {name} = 0; @{name} < {count}; {name}++) {{", inside),)

    def while_loop(self, depth: int) -> Block:
        if depth <= 0:
            return self.summed(depth)
        name, more = self.writer.fresh("w"), ""
        if self.writer.chance(0.4):  # the condition makes a structure in each iteration
            shape = self.rng.choice(self.writer.shapes)
            more = f" && sum_{shape.name}({self.writer.value(shape)}) % 7u"
        inside = (Piece(f"{name}--;", needed=True), *self.inner(depth), *self._jump())
        loop = self._loop(f"while (@{name} > 0{more}) {{", inside)
        return Piece(f"int {name} = {self.rng.randint(1, 4)};"), loop

    def do_loop(self, depth: int) -> Block:
        if depth <= 0:
            return self.summed(depth)
        name = self.writer.fresh("d")
        number = self._number()
        inside = (Piece(f"/*body #{number}*/;"), *self.inner(depth), *self._jump())
        loop = Piece(f"/*enter #{number}*/;\ndo {{", inside, f"}} while (++{name} < {self.rng.randint(1, 3)});")
        return Piece(f"int {name} = 0;"), loop

    def switch(self, depth: int) -> Block:
        if depth <= 0:
            return self.summed(depth)
        arms = []
        for value in range(self.rng.randint(1, 3)):
            ends = Piece("break;") if self.writer.chance(0.7) else Piece(";")
            arms.append(Piece(f"case {value}: {{", (*self.inner(depth, 2), ends), "}"))
        arms.append(Piece("default: {", self.inner(depth, 2), "}"))
        return (Piece(f"switch (({self.writer.number(1)}) & 3) {{", tuple(arms), "}"),)

    def again(self, depth: int) -> Block:
        """A jump back, into the block or in front of it."""
        if depth <= 0:
            return self.summed(depth)
        name, label, number = self.writer.fresh("n"), self.writer.fresh("again"), self._number()
        back = Piece(f"if (++{name} < {self.rng.randint(1, 3)}) goto {label};")
        body = self.inner(depth)
        inside = Piece("{", (*body, back), "}") if self.writer.chance(0.5) else Piece("{", body, "}")
        after = () if back in inside.inside else (back,)
        head = f"int {name} = 0;\n/*enter #{number}*/;\n{label}:;\n/*body #{number}*/;"
        return (Piece("{", (Piece(head, needed=True), inside, *after), "}"),)

    def left(self, depth: int) -> Block:
        """A jump out of blocks and loops."""
        if depth <= 0:
            return self.summed(depth)
        label = self.writer.fresh("out")
        inside = (*self.inner(depth, 2), Piece(f"if ({self.writer.condition()}) goto {label};"), *self.inner(depth, 2))
        name = self.writer.fresh("j")
        loop = self._loop(f"for (int {name} = 0; @{name} < 2; {name}++) {{", inside)
        return (Piece("{", (Piece("{", (*self.inner(depth, 1), loop), "}"), Piece(f"{label}:;", needed=True)), "}"),)

    def _jump(self) -> Block:
        """Perhaps a jump out of an iteration."""
        if not self.writer.chance(0.35):
            return ()
        return (Piece(f"if ({self.writer.condition()}) {self.rng.choice(('break', 'continue'))};"), *self.summed(0))

    def _number(self) -> str:
        return self.writer.fresh(f"{self.writer.tag}000")

    def _loop(self, head: str, inside: Block) -> Piece:
        return Piece(self.counted(head), inside, "}")

    def counted(self, head: str) -> str:
        """The head of a loop, with what counts it: at ``@``, in front of its condition."""
        number = self._number()
        return f"/*enter #{number}*/;\n{head.replace('@', f'/*head #{number}*/')}"

    # ------------------------------------------------------------------------------------------------------- C only

    def literal_object(self, _depth: int) -> Block:
        """A compound literal lives as long as the block that it stands in."""
        shape, pointer = self.rng.choice(self.writer.shapes), self.writer.fresh("p")
        self.writer.names.places.append((pointer, shape))
        return (Piece(f"{shape.type} *{pointer} = &({shape.type}){self.writer.literal(shape)};"),)

    def literal_line(self, _depth: int) -> Block:
        name, values = self.writer.fresh("p"), ", ".join(self.writer.number(1) for _ in range(4))
        self.writer.names.lines.append((name, 4))
        return (Piece(f"int *{name} = (int[]){{{values}}};"),)

    def variable_length(self, _depth: int) -> Block:
        name, count = self.writer.fresh("y"), self.writer.fresh("c")
        length = f"{count} = (int)(({self.writer.number(1)}) & 3) + 4"
        fill = self._loop(f"for (int k = 0; @k < {count}; k++) {{", (Piece(f"{name}[k] = {self.writer.number(1)};"),))
        self.writer.names.lines.append((name, 4))
        return Piece(f"int {length};\nint {name}[{count}];", needed=True), replace_needed(fill)

    def length_at_edge(self, _depth: int) -> Block:
        """An array whose length is perhaps zero, negative, or too small for what is read: then the run is not clean."""
        writer, name, count = self.writer, self.writer.fresh("y"), self.writer.fresh("c")
        type_ = self.rng.choice(("int", "unsigned", "signed char", "unsigned char", "short", "long", "unsigned long"))
        element = self.rng.choice(("int", "char", "unsigned short", "long"))
        length = self.rng.choice(("{} & 7", "{} % 9", "{} % 20 + 5", "({} & 3) - 1", "{} > 3 ? 12 : 1"))
        first = f"{type_} {count} = ({type_})({length.format(f'({writer.number(1)})')});"
        fill = self._loop(
            f"for ({type_} k = 0; @k < {count}; k++) {{", (Piece(f"{name}[k] = ({element})({writer.number(1)});"),)
        )
        read = (
            f"s = s * 5u + (unsigned){name}[{self._near(count)}];",
            f"{count} = 1;\ns += (unsigned)(sizeof {name} / sizeof *{name});",
            f"{element} *e = {name} + {count};\nwhile (e != {name}) s = s * 3u + (unsigned)*--e;",
            f"memset({name}, 1, {self.rng.choice((f'sizeof {name}', f'{count}', '4'))});\ns += (unsigned){name}[0];",
        )
        declared = Piece(f"{element} {name}[{count}];", needed=True)
        return (
            Piece("{", (Piece(first, needed=True), declared, replace_needed(fill), Piece(self.rng.choice(read))), "}"),
        )

    def rows(self, _depth: int) -> Block:
        """An array of arrays, of both of which the length varies."""
        writer, name, high, wide = self.writer, *map(self.writer.fresh, "ycc")
        lengths = f"int {high} = ({writer.number(1)}) & 3, {wide} = ({writer.number(1)}) % 4 + 2;"
        first = f"{lengths}\nint {name}[{high}][{wide}];"
        inner = self._loop(f"for (int j = 0; @j < {wide}; j++) {{", (Piece(f"{name}[i][j] = {writer.number(1)};"),))
        fill = self._loop(f"for (int i = 0; @i < {high}; i++) {{", (inner,))
        read = Piece(f"s = s * 5u + (unsigned){name}[{self._near(high)}][{self._near(wide)}];")
        return (Piece("{", (Piece(first, needed=True), replace_needed(fill), read), "}"),)

    def on_heap(self, _depth: int) -> Block:
        """An array on the heap, of a length that is perhaps zero, or too small for what is read."""
        writer, name, count = self.writer, self.writer.fresh("h"), self.writer.fresh("c")
        type_, element = (
            self.rng.choice(("int", "unsigned", "long", "unsigned char")),
            self.rng.choice(("int", "short")),
        )
        first = f"{type_} {count} = ({type_})({writer.number(1)}) {self.rng.choice(('& 7', '% 9', '% 12'))};"
        zeroed = writer.chance(0.4)
        room = f"calloc({count}, sizeof *{name})" if zeroed else f"malloc({count} * sizeof *{name})"
        made = Piece(f"{element} *{name} = {room};", needed=True)
        fill = self._loop(
            f"for ({type_} k = 0; @k < {count}; k++) {{", (Piece(f"{name}[k] = ({element})({writer.number(1)});"),)
        )
        read = (
            f"s = s * 5u + (unsigned){name}[{self._near(count)}];",
            f"{element} *e = {name} + {count};\nwhile (e != {name}) s = s * 3u + (unsigned)*--e;",
            f"{count} = 0;\ns += (unsigned){name}[2];",
            f"if ({writer.condition()}) {{ free({name}); {name} = 0; }}\nif ({name}) s += (unsigned)*{name};",
        )
        inside = (fill if zeroed else replace_needed(fill), Piece(self.rng.choice(read)))
        used = Piece(f"if ({name}) {{", inside, "}")
        end = Piece(f"free({name});", needed=True)
        return (Piece("{", (Piece(first, needed=True), made, used, *((end,) if writer.chance(0.7) else ())), "}"),)

    def _near(self, count: str) -> str:
        """An index of an array of this length, or one that is just outside."""
        inside = f"({self.writer.number(1)} & 127) % {count}"
        return self.rng.choice((inside, inside, f"{count} - 1", "0", "1", "3", count))

    def allocated(self, _depth: int) -> Block:
        name = self.writer.fresh("l")
        first, second = self.writer.number(1), self.writer.number(1)
        self.writer.names.lines.append((name, 2))
        size = self.rng.choice(("8", f"(unsigned)(({self.writer.number(1)}) & 7) + 8"))
        return (Piece(f"int *{name} = __builtin_alloca({size});\n{name}[0] = {first};\n{name}[1] = {second};"),)

    def chain(self, _depth: int) -> Block:
        """Objects that live to the end of the function, one of each iteration."""
        node, at = f"node{self.writer.tag}", self.writer.fresh("h")
        fill = (
            Piece(
                f"struct {node} *q = __builtin_alloca(sizeof *q);\nq->v = {self.writer.number(1)};\n"
                f"q->next = {at};\n{at} = q;"
            ),
        )
        count = self.rng.choice(("2", "3", f"({self.writer.number(1)}) % 4"))
        make = self._loop(f"for (int k = 0; @k < {count}; k++) {{", fill)
        walk = self._loop(f"for (; @{at}; {at} = {at}->next) {{", (Piece(f"s = s * 7u + (unsigned){at}->v;"),))
        return Piece(f"struct {node} *{at} = 0;"), make, walk

    def over_declaration(self, _depth: int) -> Block:
        """A jump into a block, behind a declaration in it."""
        label, name = self.writer.fresh("in"), self.writer.fresh("x")
        inside = (
            Piece(f"int {name};\n{name} = {self.writer.number(1)};\ns += (unsigned){name};"),
            Piece(f"{label}:\n{name} = {self.writer.number(1)};\ns += (unsigned)*&{name};", needed=True),
        )
        return (Piece("{", (Piece(f"if ({self.writer.condition()}) goto {label};"), Piece("{", inside, "}")), "}"),)

    def switch_over_declaration(self, _depth: int) -> Block:
        """A declaration that no run comes to."""
        name = self.writer.fresh("x")
        arms = (
            Piece(f"int {name};", needed=True),
            Piece(f"case 0: {name} = {self.writer.number(1)}; s += (unsigned){name}; break;"),
            Piece(f"case 1: {name} = {self.writer.number(1)}; s += (unsigned)*&{name};"),
            Piece("default: s++;"),
        )
        return (Piece(f"switch (({self.writer.number(1)}) & 3) {{", arms, "}"),)

    def again_over_declaration(self, _depth: int) -> Block:
        """A jump back over a declaration in the same block, which does not end the life of what it declares."""
        name, label, number = self.writer.fresh("n"), self.writer.fresh("again"), self._number()
        own, pointer = self.writer.fresh("x"), self.writer.fresh("p")
        head = f"int {name} = 0, *{pointer} = 0;\n/*enter #{number}*/;\n{label}:;\n/*body #{number}*/;"
        with self.writer.scope():
            first = (
                f"int {own} = {self.writer.number(1)};\nif ({pointer}) s += (unsigned)*{pointer};\n{pointer} = &{own};"
            )
            self.writer.names.integers.append(own)
            inside = self.several(0, 2)
        back = Piece(f"if (++{name} < 3) goto {label};")
        return (Piece("{", (Piece(head, needed=True), Piece(first, needed=True), *inside, back), "}"),)

    def cleaned(self, depth: int) -> Block:
        """A function is called with what leaves its scope."""
        with self.writer.scope():
            name = self.writer.fresh("x")
            first = Piece(f"__attribute__((cleanup(clean{self.writer.tag}))) int {name} = {self.writer.number(1)};")
            self.writer.names.integers.append(name)
            inside = (first, *self.several(depth - 1, 2))
        return (Piece("{", inside, "}"),)

    def in_statements(self, depth: int) -> Block:
        """A statement expression with a block of its own."""
        with self.writer.scope():
            inside = self.several(depth - 1, 2)
            value = self.writer.number(1)
        return (Piece("s += (unsigned)({", (*inside, Piece(f"({value});", needed=True)), "});"),)

    def pieces_of_union(self, depth: int) -> Block:
        unions = [shape for shape in self.writer.shapes if shape.is_union]
        if not unions:
            return self.summed(depth)
        shape, name = self.rng.choice(unions), self.writer.fresh("u")
        byte = f"{name}.bytes[{self.writer.index(2)}] = (unsigned char)({self.writer.number(1)});"
        text = f"{shape.type} {name} = {self.writer.value(shape)};\n{byte}"
        self.writer.names.objects.append((name, shape))
        return (Piece(f"{text}\ns += (unsigned){name}.whole;"),)


def replace_needed(piece: Piece) -> Piece:
    """The piece as one that stays, with all that is in it: what it fills is read."""
    return Piece(piece.head, tuple(map(replace_needed, piece.inside)), piece.tail, needed=True)

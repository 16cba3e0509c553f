"""Draws whole programs: structures, functions that make, change and take them, and one that calls these."""

from __future__ import annotations

from typing import Final

from loopless_fuzz.generator.clean.classes import Classes
from loopless_fuzz.generator.clean.pieces import CleanProgram, Language, Piece
from loopless_fuzz.generator.clean.shapes import Member, Shape, cast, draw_shapes
from loopless_fuzz.generator.clean.statements import Block, Statements
from loopless_fuzz.generator.clean.writer import Writer

_HEADS: Final = {
    "c": (
        "",
        "static ",
        "static inline ",
        "static inline __attribute__((always_inline)) ",
        "static __attribute__((noinline)) ",
    ),
    "c++": (
        "static ",
        "static inline ",
        "static inline __attribute__((always_inline)) ",
        "static __attribute__((noinline)) ",
    ),
}


def generate_clean(seed: int, language: Language) -> CleanProgram:
    """The program of a seed."""
    return _Generator(seed, language).program()


class _Generator:
    def __init__(self, seed: int, language: Language) -> None:
        self.writer = Writer(seed, language)
        self.rng = self.writer.rng
        self.statements = Statements(self.writer)
        self.seed, self.language = seed, language
        self.pieces: list[Piece] = []
        self.ending = " noexcept" if language == "c++" and self.rng.random() < 0.8 else ""
        """What says that functions do not throw."""

    def program(self) -> CleanProgram:
        writer, tag = self.writer, self.writer.tag
        writer.shapes = draw_shapes(self.rng, tag, self.language)
        self.pieces.append(Piece(f"static const int {writer.table}[4] = {{7, 30, 11, 2}};", needed=True))
        self.pieces.append(Piece(f"static int seen{tag};"))
        if self.language == "c":
            self.pieces.append(Piece(f"struct node{tag} {{ int v; struct node{tag} *next; }};"))
            self.pieces.append(Piece(f"static void clean{tag}(int *p) {{ seen{tag} += *p & 15; }}"))
        for shape in writer.shapes:
            self.pieces.append(Piece(shape.text))
            adds = (self.statements.counted(line) if "@" in line else line for line in shape.sum("t"))
            start = f"/*begin sum_{shape.name} | | */;\nunsigned s = {self.rng.randrange(9)};"
            lines = (Piece(start, needed=True), *map(Piece, adds), Piece("return /*leave*/(s);", needed=True))
            self.pieces.append(Piece(f"static unsigned sum_{shape.name}({shape.type} t){self.ending}\n{{", lines, "}"))
        shared = self._shared()
        kinds = [
            self._maker,
            self._maker,
            self._maker,
            self._changer,
            self._user,
            self._updater,
            self._picker,
            self._plain,
        ]
        if self.language == "c++":
            classes = Classes(writer, self.statements, self.ending)
            self.pieces += classes.definitions()
            self.statements.kinds += classes.kinds * 3
        for number in range(self.rng.randint(2, 4)):
            with writer.scope():
                writer.names.objects += shared
                kind = kinds[0] if number == 0 else self.rng.choice(kinds)
                kind(self.rng.choice(writer.shapes), f"f{tag}_{number}")
        with writer.scope():
            writer.names.objects += shared
            writer.names.integers += ["a", "b"]
            body = (*self.statements.several(3, 3), *self.statements.several(2, 2))
        entry = f"run{tag}"
        extern = 'extern "C" ' if self.language == "c++" else ""
        inside = (
            Piece(f"/*begin {entry} | a; b | */;\nunsigned s = 1;", needed=True),
            *body,
            Piece(f"return /*leave*/((int)((s ^ (unsigned)seen{tag}) & 2147483647u));", needed=True),
        )
        self.pieces.append(Piece(f"{extern}int {entry}(int a, int b){self.ending}\n{{", inside, "}", needed=True))
        return CleanProgram(self.seed, self.language, entry, tuple(self.pieces))

    def _shared(self) -> list[tuple[str, Shape]]:
        """A global structure, perhaps."""
        if self.writer.chance(0.5):
            return []
        shape, name = self.rng.choice(self.writer.shapes), f"shared{self.writer.tag}"
        self.pieces.append(Piece(f"static {shape.type} {name};"))
        return [] if any(member.kind in ("text", "table") for member in _all(shape)) else [(name, shape)]

    def _function(self, head: str, body: Block, last: str, names: str = "") -> None:
        """A function that ends by ``last``; what returns earlier stands in the body."""
        begin = f"/*begin {names or head} | | */;\nunsigned s = 0;"
        end = Piece(last, needed=True)
        self.pieces.append(
            Piece(
                f"{self.rng.choice(_HEADS[self.language])}{head}{self.ending}\n{{",
                (Piece(begin, needed=True), *body, end),
                "}",
            )
        )

    def _maker(self, shape: Shape, name: str) -> None:
        """Returns a structure: a named variable, on one way or on all; an expression; or from a loop."""
        writer = self.writer
        head = f"{shape.type} {name}(int n)"
        writer.names.integers.append("n")
        first, result = self.statements.several(1, 1) if writer.chance(0.5) else (), writer.fresh("t")
        declared = f"{shape.type} {result} = {writer.literal(shape) if writer.chance(0.6) else writer.value(shape, 1)};"
        draw = self.rng.randrange(7)
        if draw <= 1:
            writer.names.objects.append((result, shape))
            self._function(
                head, (*first, Piece(declared, needed=True), *self.statements.several(1, 2)), f"return {result};", name
            )
        elif draw == 2:
            with writer.scope():
                writer.names.objects.append((result, shape))
                inside = (Piece(declared), *self.statements.several(1, 1), Piece(f"return {result};"))
            then = Piece(f"if ({writer.condition()}) {{", inside, "}")
            self._function(head, (*first, then), f"return {writer.value(shape, 1)};", name)
        elif draw == 3:
            writer.names.objects.append((result, shape))
            early = Piece(f"if ({writer.condition()}) return {writer.value(shape, 1)};")
            self._function(head, (*first, Piece(declared, needed=True), early), f"return {result};", name)
        elif draw == 4:
            with writer.scope():
                writer.names.read_only.append("k")
                writer.names.objects.append((result, shape))
                inside = (Piece(declared, needed=True), Piece(f"if (k >= (n & 3)) return {result};", needed=True))
            self._function(
                head,
                (*first, Piece(self.statements.counted("for (int k = 0; @1; k++) {"), inside, "}", needed=True)),
                ";",
                name,
            )
        elif draw == 5 and self.language == "c":
            body = Piece(f"if (n <= 0) {{ {declared} return {result}; }}", needed=True)
            again = f"{shape.type} {result} = {name}(n > 3 ? 3 : n - 1);"
            writer.names.objects.append((result, shape))
            self._function(
                head,
                (*first, body, Piece(again, needed=True), *self.statements.changed_member(0)),
                f"return {result};",
                name,
            )
        else:
            self._function(head, first, f"return {writer.value(shape)};", name)
        writer.made.makers.setdefault(shape.type, []).append(f"{name}({{}})")

    def _changer(self, shape: Shape, name: str) -> None:
        """Takes a structure by value, changes its own, and returns it, or another."""
        writer = self.writer
        writer.names.integers.append("n")
        writer.names.objects.append(("t", shape))
        body = (*self.statements.changed_member(0), *self.statements.several(1, 2))
        last = "return t;" if writer.chance(0.6) else f"return {writer.value(shape, 1)};"
        self._function(f"{shape.type} {name}({shape.type} t, int n)", body, last, name)
        writer.made.changers.setdefault(shape.type, []).append(f"{name}({{}}, {{}})")

    def _user(self, shape: Shape, name: str) -> None:
        """Takes a structure by value, in C++ also by reference, and returns an integer."""
        writer = self.writer
        writer.names.integers.append("n")
        constant = self.language == "c++" and writer.chance(0.5)
        (writer.names.constants if constant else writer.names.objects).append(("t", shape))
        kind = f"const {shape.type} &" if constant else f"{shape.type} "
        first = () if constant else self.statements.changed_member(0)
        body = (*first, *self.statements.several(1, 3))
        last = f"return /*leave*/((int)((s + (unsigned)({writer.number()})) & 1023u));"
        self._function(f"int {name}({kind}t, int n)", body, last, name)
        writer.made.users.setdefault(shape.type, []).append(f"{name}({{}}, {{}})")

    def _updater(self, shape: Shape, name: str) -> None:
        """Changes a structure where it is."""
        writer = self.writer
        writer.names.integers.append("n")
        writer.names.places.append(("p", shape))
        body = (Piece(f"*p = {writer.value(shape, 1)};"), *self.statements.several(1, 2))
        self._function(f"void {name}({shape.type} *p, int n)", body, f"seen{writer.tag} ^= (int)(s & 255u);", name)
        writer.made.updaters.setdefault(shape.type, []).append(f"{name}({{}}, {{}})")

    def _picker(self, shape: Shape, name: str) -> None:
        """Returns one of the pointers that it is given."""
        self.writer.names.integers.append("n")
        head = f"{shape.type} *{name}({shape.type} *p, {shape.type} *q, int n)"
        self._function(head, (Piece(f"if ({self.writer.condition()}) p = q;"),), "(void)s; return p;", name)
        self.writer.made.pickers[shape.type] = name

    def _plain(self, shape: Shape, name: str) -> None:
        """Integers alone; in C perhaps called by an address in a table."""
        del shape
        writer = self.writer
        writer.names.integers.append("n")
        last = f"return /*leave*/((int)((s ^ (unsigned)({writer.number()})) & 1023u));"
        self._function(f"int {name}(int n)", self.statements.several(2, 3), last, name)
        if writer.chance(0.1):
            self.pieces.append(Piece(f"static int (*const by_{name}[2])(int) = {{{name}, {name}}};"))
            writer.made.plain.append(f"by_{name}[{cast('unsigned', 'seen' + writer.tag)} & 1]({{}})")
        writer.made.plain.append(f"{name}({{}})")


def _all(shape: Shape) -> list[Member]:
    found: list[Member] = []
    for member in shape.members:
        found.append(member)
        found += _all(member.shape) if member.shape is not None else []
    return found

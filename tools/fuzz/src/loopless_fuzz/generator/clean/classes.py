"""What C++ has besides: classes with constructors and destructors, references to temporaries, lambdas, templates."""

from __future__ import annotations

from collections.abc import Callable

from loopless_fuzz.generator.clean.pieces import Piece
from loopless_fuzz.generator.clean.statements import Block, Statements
from loopless_fuzz.generator.clean.writer import Writer


class Classes:
    """One class of a program, functions about it, and statements that use them."""

    def __init__(self, writer: Writer, statements: Statements, ending: str) -> None:
        """``ending``: what stands behind the parameters of functions."""
        self.ending = ending
        self.writer, self.rng, self.statements = writer, writer.rng, statements
        self.name = f"K{writer.tag}"
        self.trace = f"trace{writer.tag}"
        self.kinds: list[Callable[[int], Block]] = [
            self.object,
            self.bound_temporary,
            self.moved_temporary,
            self.lambda_,
            self.range_for,
            self.bindings,
            self.chained,
            self.in_condition,
            self.array,
            self.elided,
            self.by_template,
            self.reference,
            self.thrown_away,
        ]

    def definitions(self) -> list[Piece]:
        """The class, and functions that make and take its objects."""
        name, trace, rng, ending = self.name, self.trace, self.rng, self.ending
        extra = rng.randint(0, 5)
        members = [
            Piece(f"int v;\nint w[{extra + 1}];", needed=True),
            Piece(
                f"{name}(int a = {rng.randint(0, 9)}){ending} : v(a), w{{}} {{ w[{extra}] = a & 15; {trace} += 1; }}",
                needed=True,
            ),
            Piece(
                f"{name}(const {name} &o){ending} : v(o.v), w{{}} {{ w[0] = o.w[{extra}]; w[{extra}] = o.w[{extra}]; }}"
            ),
            Piece(f"~{name}() {{ {trace} = {trace} * 3u + (unsigned)v; }}"),
            Piece(f"{name} &add(int a){ending} {{ v = (v + a) & 1023; return *this; }}", needed=True),
            Piece(f"int get() const{ending} {{ return v + w[{extra}]; }}", needed=True),
            Piece(
                f"{name} operator+(const {name} &o) const{ending} {{ {name} r(v & 511); r.v += o.v & 511; return r; }}"
            ),
            Piece(f"int &operator[](int i){ending} {{ return w[i & {extra and 1}]; }}"),
            Piece(f"static {name} made(int a){ending} {{ {name} r(a); r.add(2); return r; }}"),
        ]
        if self.writer.chance(0.5):
            members.insert(
                3, Piece(f"{name} &operator=(const {name} &o){ending} {{ v = o.v; w[0] = o.w[0]; return *this; }}")
            )
        calls = [
            Piece(f"static unsigned {trace};", needed=True),
            Piece(f"struct {name} {{", tuple(members), "};", needed=True),
            Piece(f"static {name} make{name}(int n){ending}\n{{", self._makes(), "}"),
            Piece(
                f"static int take{name}({name} k, int n = {rng.randint(1, 4)}){ending} {{ k.add(n); return k.get(); }}"
            ),
            Piece(f"static int look{name}(const {name} &k){ending} {{ return k.get() & 255; }}"),
            Piece(f"template <class T> static T twice{name}(T t){ending} {{ T r = t; return r; }}"),
            Piece(f"template <class F> static int call{name}(F f, int n){ending} {{ return f(n) + f(n + 1); }}"),
        ]
        self.writer.names.calls += [f"make{name}({{}}).get()", f"take{name}(make{name}({{}}))", f"look{name}({{}})"]
        return calls

    def _makes(self) -> Block:
        name, draw = self.name, self.rng.randrange(4)
        if draw == 0:
            return Piece(f"{name} r(n & 63);"), Piece(f"if ({'n > 3'}) r.add(n & 7);"), Piece("return r;", needed=True)
        if draw == 1:
            return (
                Piece(f"if (n & 1) return {name}(n & 31);"),
                Piece(f"return {name}::made(n & 15) + {name}(2);", needed=True),
            )
        if draw == 2:
            inside = (Piece(f"{name} r(k & 63);", needed=True), Piece("if (k >= (n & 3)) return r;", needed=True))
            return (Piece("for (int k = 0;; k++) {", inside, "}", needed=True),)
        return (Piece(f"{name} r = {name}::made(n & 63);"), Piece(f"return n > 5 ? r : {name}(n & 15);", needed=True))

    def value(self) -> str:
        """An expression that makes an object."""
        number, name = f"(int)({self.writer.number(1)})", self.name
        kinds = (
            f"{name}({number})",
            f"make{name}({number})",
            f"{name}::made({number})",
            f"(make{name}({number}) + {name}(3))",
        )
        return self.rng.choice((*kinds, f"twice{name}(make{name}({number}))", f"{name}()"))

    def _adds(self, of: str) -> Piece:
        return Piece(f"s = s * 5u + (unsigned){of}.get();")

    # --------------------------------------------------------------------------------------------------- statements

    def object(self, depth: int) -> Block:
        name = self.writer.fresh("k")
        head = f"{self.name} {name}{{}};" if self.writer.chance(0.2) else f"{self.name} {name} = {self.value()};"
        change = Piece(f"{name}.add({self.writer.number(1)});")
        return (
            Piece("{", (Piece(head, needed=True), *self.statements.inner(depth, 2), change, self._adds(name)), "}"),
        )

    def bound_temporary(self, _depth: int) -> Block:
        """A temporary lives as long as the reference."""
        name = self.writer.fresh("r")
        if self.writer.chance(0.5):
            shape = self.rng.choice(self.writer.shapes)
            head = Piece(f"const {shape.type} &{name} = {self.writer.value(shape)};")
            self.writer.names.constants.append((name, shape))
            return (head,)
        return Piece(f"const {self.name} &{name} = {self.value()};", needed=True), self._adds(name)

    def moved_temporary(self, _depth: int) -> Block:
        name = self.writer.fresh("r")
        return Piece(f"{self.name} &&{name} = {self.value()};\n{name}.add(1);", needed=True), self._adds(name)

    def lambda_(self, _depth: int) -> Block:
        name, kept = self.writer.fresh("l"), self.writer.fresh("x")
        capture = self.rng.choice(("[&]", "[=]", f"[{kept}]", f"[&{kept}]", f"[{kept}, m = {kept} + 1]"))
        with self.writer.scope():
            outer = self.writer.names
            if capture not in ("[&]", "[=]"):
                self.writer.names = type(outer)(calls=list(outer.calls))
            self.writer.names.integers = [*(self.writer.names.integers if capture == "[&]" else ()), "q"]
            self.writer.names.read_only.append(kept)
            value = self.writer.number(2)
            self.writer.names = outer
        body = f"return (int)({value}) + ({kept} & 7);"
        made = f"auto {name} = {capture}(int q){self.ending} -> int {{ {body} }};"
        head = f"int {kept} = {self.writer.number(1)};\n{made}"
        used = (
            f"s += (unsigned)call{self.name}({name}, {self.writer.number(1)});"
            if self.writer.chance(0.4)
            else f"s += (unsigned){name}({self.writer.number(1)});"
        )
        return (Piece(f"{head}\n{used}"),)

    def range_for(self, _depth: int) -> Block:
        name, line = self.writer.fresh("e"), self.writer.fresh("r")
        values = ", ".join(f"(int)({self.writer.number(1)})" for _ in range(3))
        kind = self.rng.choice(("int", "int &", "const int &"))
        loop = Piece(f"for ({kind} {name} : {line}) {{", (Piece(f"s = s * 3u + (unsigned){name};"),), "}")
        return Piece(f"int {line}[3] = {{{values}}};", needed=True), loop

    def bindings(self, _depth: int) -> Block:
        names = [self.writer.fresh("b") for _ in range(2)]
        type_ = self.writer.fresh("Two")
        number = [f"(int)({self.writer.number(1)})" for _ in range(2)]
        kind = self.rng.choice(("auto", "const auto &", "auto &&"))
        text = (
            f"struct {type_} {{ int x, y; }};\n{kind} [{names[0]}, {names[1]}] = {type_}{{{number[0]}, {number[1]}}};"
        )
        return (Piece(f"{text}\ns += (unsigned)({names[0]} * 2 + {names[1]});"),)

    def chained(self, _depth: int) -> Block:
        """Members called of a temporary, and of what they return."""
        calls = f"{self.value()}.add({self.writer.number(1)}).add(2)"
        return (Piece(f"s += (unsigned)({calls}.get());"),)

    def in_condition(self, depth: int) -> Block:
        name = self.writer.fresh("x")
        inside = (Piece(f"s += (unsigned){name};"), *self.statements.inner(depth, 2))
        test = f"if (int {name} = {self.value()}.get(); {name} & 1) {{"
        return (Piece(test, inside, "}"),)

    def array(self, _depth: int) -> Block:
        name = self.writer.fresh("v")
        head = Piece(f"{self.name} {name}[2] = {{{self.value()}, {self.name}({self.rng.randint(0, 9)})}};", needed=True)
        index = self.writer.index(2)
        return (Piece("{", (head, Piece(f"{name}[{index}] = {self.value()};"), self._adds(f"{name}[1]")), "}"),)

    def elided(self, _depth: int) -> Block:
        """An object is made where the caller wants it, in each iteration."""
        name, number = self.writer.fresh("k"), self.writer.fresh("i")
        inside = (Piece(f"{self.name} {name} = {self.value()};", needed=True), self._adds(name))
        return (Piece(f"for (int {number} = 0; {number} < {self.rng.randint(1, 3)}; {number}++) {{", inside, "}"),)

    def by_template(self, _depth: int) -> Block:
        shape = self.rng.choice(self.writer.shapes)
        return (Piece(f"s += sum_{shape.name}(twice{self.name}({self.writer.value(shape)}));"),)

    def reference(self, depth: int) -> Block:
        """Another name for an object that is there."""
        if not self.writer.names.objects:
            return self.statements.declared_structure(depth)
        (of, shape), name = self.rng.choice(self.writer.names.objects), self.writer.fresh("r")
        self.writer.names.objects.append((name, shape))
        return (Piece(f"{shape.type} &{name} = {of};"),)

    def thrown_away(self, _depth: int) -> Block:
        return (Piece(f"{self.value()}{self.rng.choice(('', '.add(1)', '[0] = 4'))};\ns ^= {self.trace};"),)

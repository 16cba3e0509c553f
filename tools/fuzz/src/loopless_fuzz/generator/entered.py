"""Random programs with a ``main`` whose loops are entered in few of the states that their headers allow.

Inputs are tested, assumed, masked, looked up in tables or set to constants before the loops, and what the loops do from
other states is often something else: they never end, or meet undefined behaviour. The text has the comments of
:mod:`loopless_fuzz.judging.counting`, by which native runs count.
"""

from __future__ import annotations

import random
import re
from typing import Final

TYPES: Final = ("unsigned", "unsigned", "int", "int", "unsigned char", "unsigned short", "short", "long")
NONDET: Final = {
    "unsigned": "uint",
    "int": "int",
    "unsigned char": "uchar",
    "unsigned short": "ushort",
    "short": "short",
    "long": "long",
}
_HEAD: Final = "extern void __VERIFIER_assume(int);\n" + "".join(
    f"extern {kind} __VERIFIER_nondet_{name}(void);\n" for kind, name in NONDET.items()
)
_WORDS: Final = ("hello", "a", "abcabc", "xyz", "")
_SHAPES: Final = (
    "collatz",
    "collatz",
    "until",
    "until",
    "down",
    "count",
    "count",
    "modular",
    "halve",
    "gcd",
    "shift",
    "nest",
)
_HELPERS: Final = 0.35
"""How many of the loops stand in a function of their own."""


class _Writer:
    """Draws one program."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(f"entered:{seed}")
        self.functions: list[str] = []
        self.loops = 0
        self.names = 0

    def new(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def enter(self) -> tuple[str, int]:
        """The comment before a loop, and the number of the loop."""
        number = self.loops
        self.loops += 1
        return f"/*enter {number}*/;", number

    def text(self) -> str:
        body: list[str] = []
        known: dict[str, str] = {}
        for _ in range(self.r.choice((0, 1, 1, 2))):
            body += self.input(known)
        for _ in range(self.r.choice((0, 1))):
            name, kind = self.new("c"), self.r.choice(TYPES)
            known[name] = kind
            body.append(f"{kind} {name} = {self.r.randint(0, 12)};")
        for _ in range(self.r.choice((1, 1, 2))):
            body += self.part(known)
        inside = "\n".join(f"    {line}" for line in body)
        main = f"int main(void)\n{{\n    /*begin main | */;\n{inside}\n    return /*leave*/(0);\n}}\n"
        return _numbered(_HEAD + "".join(self.functions) + main)

    # -- what is known before the loops ----------------------------------------------------------------------------

    def input(self, known: dict[str, str]) -> list[str]:
        r = self.r
        name, kind = self.new("x"), r.choice(TYPES)
        known[name] = kind
        low = r.choice((0, 0, 1, 2, 3))
        high = low + r.choice((0, 1, 5, 9, 28, 120))
        lines = [f"{kind} {name} = __VERIFIER_nondet_{NONDET[kind]}();"]
        inside = f"{name} >= {low} && {name} <= {high}"
        match r.choice(("assume", "assume", "return", "return", "one", "modulo", "mask", "table", "even", "free")):
            case "assume":
                lines.append(f"__VERIFIER_assume({inside});")
            case "return":
                lines += _leaving(f"!({inside})")
            case "one":
                lines += _leaving(f"{name} != {high}")
            case "modulo":
                lines.append(f"{name} = ({kind})((unsigned){name} % {r.choice((3, 6, 17))}u);")
            case "mask":
                lines.append(f"{name} &= {r.choice((1, 7, 15))};")
            case "table":
                table = self.new("t")
                values = ", ".join(str(r.choice((1, 2, 3, 6, 7, 9, 27))) for _ in range(4))
                lines.append(f"static const {kind} {table}[4] = {{{values}}};")
                lines.append(f"{name} = {table}[(unsigned){name} % 4u];")
            case "even":
                lines += _leaving(f"{name} % 2 != {r.choice((0, 1))}")
                if r.random() < 0.6:
                    lines.append(f"__VERIFIER_assume({inside});")
            case _:
                pass
        return lines

    # -- loops -----------------------------------------------------------------------------------------------------

    def part(self, known: dict[str, str]) -> list[str]:
        """A loop over a variable that is known, perhaps in a function that is called with it."""
        r = self.r
        if not known or r.random() < 0.2:
            return self.walk()
        name = r.choice(sorted(known))
        if r.random() < _HELPERS:
            function, kind = self.new("f"), known[name]
            guard = _leaving(f"n > {r.choice((2, 9))}", "n") if r.random() < 0.3 else []
            inside = "\n".join(f"    {line}" for line in [*guard, *self.loop("n", kind)])
            begin = f"/*begin {function} | n*/;"
            head = r.choice(("static ", "static ", "static __attribute__((noinline)) ", ""))
            self.functions.append(
                f"{head}{kind} {function}({kind} n)\n{{\n    {begin}\n{inside}\n    return /*leave*/(n);\n}}\n"
            )
            return [f"{name} = {function}({name});"]
        return self.loop(name, known[name])

    def loop(self, x: str, kind: str) -> list[str]:
        r = self.r
        shape = r.choice(_SHAPES)
        step, goal = r.choice((1, 2, 3, 5)), r.choice((0, 1, 1, 2, 7))
        enter, number = self.enter()
        match shape:
            case "collatz":
                test = f"/*head {number}*/({x} != 1)"
                three = f"{x} = ({kind})(3 * {x} + 1)"
                return [enter, f"while ({test}) {{ if ({x} % 2) {three}; else {x} = {x} / 2; }}"]
            case "until":
                return [enter, f"while (/*head {number}*/({x} != {goal})) {x} += {step};"]
            case "down":
                return [enter, f"while (/*head {number}*/({x} != {goal})) {x} -= {step};"]
            case "modular":
                m = r.choice((6, 8, 12, 13))
                again = f"{x} = ({kind})(({x} * {step} + {r.choice((1, 2, 4))}) % {m})"
                return [enter, f"while (/*head {number}*/({x} != {goal})) {again};"]
            case "halve":
                return [enter, f"while (/*head {number}*/({x} > {goal})) {x} = {x} / 2 + {r.choice((0, 1))};"]
            case "shift":
                return [enter, f"while (/*head {number}*/({x} & {r.choice((1, 3, 6))})) {x} = ({kind})({x} << 1);"]
            case "gcd":
                y = self.new("y")
                loop = f"while (/*head {number}*/({x} != {y})) {{ if ({x} > {y}) {x} -= {y}; else {y} -= {x}; }}"
                return [f"{kind} {y} = {r.choice((4, 6, 9))};", enter, loop]
            case "nest":
                i, (inner, other) = self.new("i"), self.enter()
                return [
                    f"{kind} {i} = 0;",
                    enter,
                    f"while (/*head {number}*/({i} < {x})) {{",
                    f"    {kind} j = {i};",
                    f"    {inner}",
                    f"    while (/*head {other}*/(j != {x})) j += {r.choice((1, 1, 2))};",
                    f"    {i} += {r.choice((1, 2))};",
                    "}",
                ]
            case _:
                i, end = self.new("i"), r.choice((x, f"{x} + 1", "10", f"2 * {x}"))
                how = r.choice(("<", "<=", "!="))
                return [
                    f"{kind} {i} = {r.choice(('0', x, '1'))};",
                    enter,
                    f"for (; /*head {number}*/({i} {how} {end}); {i} += {step}) {{",
                    *([f"    if ({i} == {r.choice((x, '5'))}) break;"] if r.random() < 0.3 else []),
                    "}",
                ]

    def walk(self) -> list[str]:
        """A walk round a text, or a table, of which the contents decide when it ends."""
        r = self.r
        enter, number = self.enter()
        i, a = self.new("i"), self.new("a")
        word = r.choice(_WORDS)
        size = len(word) + 1
        first = f'char {a}[{size}] = "{word}";'
        if r.random() < 0.4:
            values = [r.choice((0, 1, 2, 3)) for _ in range(4)]
            size, first = 4, f"int {a}[4] = {{{', '.join(map(str, values))}}};"
        step, start = r.choice((1, 1, 2, 3)), r.randrange(size)
        test = r.choice((f"{a}[{i}]", f"{a}[{i}]", f"{a}[{i}] != {r.choice((1, 2, 98, 99))}"))
        return [
            first,
            f"int {i} = {start};",
            enter,
            f"while (/*head {number}*/({test})) {i} = ({i} + {step}) % {size};",
        ]


def _leaving(test: str, value: str = "1") -> list[str]:
    """Lines that return where a test holds; a return stands alone in its line."""
    return [f"if ({test}) {{", f"    return /*leave*/({value});", "}"]


def _numbered(text: str) -> str:
    """The text with loops that are numbered in its order."""
    order = {number: str(at) for at, number in enumerate(re.findall(r"/\*enter (\d+)", text))}
    return re.sub(r"(/\*(?:enter|head) )(\d+)", lambda found: found[1] + order[found[2]], text)


def entered_program(seed: int) -> str:
    """The program of a seed."""
    return _Writer(seed).text()

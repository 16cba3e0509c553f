"""Random C programs with a ``main`` that reads few inputs of small ranges, for ``bench/verify_random.py``."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from loopless.check.outcome import Outcome

TYPES: Final = (
    "int", "int", "int", "unsigned", "unsigned", "signed char", "unsigned char", "short", "unsigned short",
    "long long", "unsigned long long", "char",
)  # fmt: skip
NONDET: Final = {
    "int": "int", "unsigned": "uint", "signed char": "char", "unsigned char": "uchar", "short": "short",
    "unsigned short": "ushort", "long long": "longlong", "unsigned long long": "ulonglong", "char": "char",
}  # fmt: skip
EDGES: Final = ("2147483600", "2147483647", "-2147483640", "-128", "127", "65535", "4294967290u")


@dataclass
class Draft:
    """A program without its assertion: text with the marks ``/*HERE k*/`` where variables are looked at."""

    head: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    domain: tuple[int, ...] = ()
    looked_at: list[list[tuple[str, str]]] = field(default_factory=list)


class Writer:
    """Draws a program."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(f"verify:{seed}")
        self.draft = Draft()
        self.names: dict[str, str] = {}
        self.arrays: dict[str, tuple[str, int]] = {}
        self.pointers: dict[str, str] = {}
        self.steady: set[str] = set()
        self.count = 0
        self.inner_inputs = self.r.random() < 0.25
        self.depth_of_loop = 0
        self.functions: list[tuple[str, int]] = []
        self.bumps: list[tuple[str, str]] = []

    def new(self, prefix: str = "v") -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def program(self) -> Draft:
        r, d = self.r, self.draft
        top = r.choice((2, 4, 6))
        low = r.choice((0, 0, 0, -2))
        d.domain = tuple(range(low - 1, top + 2))
        if self.inner_inputs:
            d.domain = (-1, 0, 1, 2)
            low, top = 0, 1
        self.outside()
        lines = self.inputs(low, top)
        for _ in range(r.choice((1, 2, 2, 3))):
            name, kind = self.new(), r.choice(TYPES)
            start = r.choice(("0", "0", "1", "10", "-1", "250", r.choice(EDGES), self.atom()))
            lines.append(
                f"{'static ' if start.lstrip('-').isdigit() and r.random() < 0.1 else ''}{kind} {name} = {start};"
            )
            self.names[name] = kind
        if r.random() < 0.2:
            name, kind, size = self.new("a"), r.choice(TYPES), r.choice((2, 4))
            lines.append(f"{kind} {name}[{size}] = {{{r.choice(('0', '1, 2'))}}};")
            self.arrays[name] = (kind, size)
        if r.random() < 0.2:
            target = r.choice(sorted(self.names))
            name = self.new("p")
            lines.append(f"{self.names[target]} *{name} = &{target};")
            self.pointers[name] = self.names[target]
        for _ in range(r.choice((1, 1, 1, 2, 2))):
            lines += self.loop(r.choice((1, 1, 2)))
            if r.random() < 0.3:
                lines += self.statement(0)
        lines.append(self.here())
        d.body = lines
        return d

    def outside(self) -> None:
        """Functions, globals and tables."""
        r, d = self.r, self.draft
        for _ in range(r.choice((0, 0, 1, 2))):
            self.helper()
        if r.random() < 0.3:
            kind = r.choice(("int", "unsigned", "short"))
            d.head.append(f"static void bump({kind} *p) {{ *p {r.choice(('+= 1', '-= 1', '+= 2', '^= 1', '*= 2'))}; }}")
            self.bumps.append(("bump", kind))
        for _ in range(r.choice((0, 0, 1, 2))):
            name, kind = self.new("g"), r.choice(TYPES)
            d.head.append(f"{r.choice(('static ', ''))}{kind} {name}{r.choice(('', ' = 1', ' = 5', ' = -1'))};")
            self.names[name] = kind
        if r.random() < 0.2:
            name, kind = self.new("t"), r.choice(TYPES)
            values = ", ".join(str(r.choice((0, 1, 2, 3, 5, 7, -1))) for _ in range(4))
            d.head.append(f"{r.choice(('static const ', 'const ', 'static ', ''))}{kind} {name}[4] = {{{values}}};")
            self.arrays[name] = (kind, -4 if "const" in d.head[-1] else 4)

    def inputs(self, low: int, top: int) -> list[str]:
        """The declarations of inputs."""
        r = self.r
        lines: list[str] = []
        for _ in range(r.choice((0, 1, 1, 2)) if not self.inner_inputs else r.choice((0, 1))):
            name = self.new("n")
            kind = r.choice(TYPES)
            test = f"{name} <= {top}" if kind.startswith("unsigned") else f"{low} <= {name} && {name} <= {top}"
            lines.append(f"{kind} {name} = __VERIFIER_nondet_{NONDET[kind]}();")
            if r.random() < 0.75:
                lines.append(f"if (!({test})) return 0;")
            elif r.random() < 0.5:
                lines.append(f"__VERIFIER_assume({test});")
            else:
                lines.append(f"assume_abort_if_not({test});")
            self.names[name] = kind
            if r.random() < 0.5:
                self.steady.add(name)
        return lines

    def helper(self) -> None:
        r = self.r
        name = self.new("f")
        kinds = [r.choice(TYPES) for _ in range(r.choice((1, 2)))]
        params = ", ".join(f"{kind} x{i}" for i, kind in enumerate(kinds))
        body = r.choice(
            (
                f"return x0 {r.choice('+-*&|^')} {r.choice(('1', '2', 'x' + str(len(kinds) - 1)))};",
                "if (x0 > 3) return 3; return x0;",
                f"int s = 0; while (x0 > 0 && s < {r.choice((3, 10))}) {{ x0--; s++; }} return s;",
                "static int calls; calls++; return calls;",
                "switch (x0) { case 0: return 1; case 1: x0 = 2; default: return x0; }",
            )
        )
        self.draft.head.append(f"static {r.choice(TYPES)} {name}({params}) {{ {body} }}")
        self.functions.append((name, len(kinds)))

    # expressions

    def atom(self) -> str:
        r = self.r
        if self.names and r.random() < 0.7:
            return r.choice(sorted(self.names))
        if self.pointers and r.random() < 0.3:
            return "*" + r.choice(sorted(self.pointers))
        if self.arrays and r.random() < 0.4:
            name = r.choice(sorted(self.arrays))
            size = abs(self.arrays[name][1])
            index = r.choice(sorted(self.names)) if self.names and r.random() < 0.6 else "1"
            return f"{name}[({index}) & {size - 1}]" if r.random() < 0.8 else f"{name}[{index}]"
        return str(r.choice((0, 1, 1, 2, 3, 5, -1, 7, 100, 255, 127)))

    def expression(self, depth: int = 1) -> str:
        r = self.r
        if depth == 0 or r.random() < 0.35:
            return self.atom()
        kind = r.randrange(14)
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        if kind < 6:
            return f"({a} {r.choice(('+', '+', '-', '-', '*'))} {b})"
        if kind == 6:
            return f"({a} {r.choice('/%')} {r.choice(('2', '3', '5', '-2', b, '10'))})"
        if kind == 7:
            return f"({a} {r.choice(('&', '|', '^'))} {b})"
        if kind == 8:
            return f"({a} {r.choice(('<<', '>>'))} {r.choice(('1', '2', '3', b))})"
        if kind == 9:
            return f"({r.choice(TYPES)})({a})"
        if kind == 10:
            return f"({self.condition()} ? {a} : {b})"
        if kind == 11:
            return f"{r.choice('-~!')}({a})"
        if kind == 12 and self.functions:
            name, count = r.choice(self.functions)
            return f"{name}({', '.join((a, b)[:count])})"
        return f"({a} + {r.choice(('1', '2', '-1'))})"

    def condition(self) -> str:
        r = self.r
        if self.inner_inputs and r.random() < 0.3:
            return "__VERIFIER_nondet_bool()"
        kind = r.randrange(8)
        if kind == 0:
            return f"{self.atom()} % {r.choice((2, 3))} == {r.choice((0, 1))}"
        if kind == 1:
            return f"({self.condition()} {r.choice(('&&', '||'))} {self.condition()})"
        return f"{self.expression(1)} {r.choice(('<', '<=', '>', '>=', '==', '!='))} {self.atom()}"

    # statements

    def target(self) -> str | None:
        r = self.r
        free = [name for name in sorted(self.names) if name not in self.steady]
        if self.pointers and r.random() < 0.3:
            return "*" + r.choice(sorted(self.pointers))
        writable = [name for name, (_, size) in self.arrays.items() if size > 0]
        if writable and r.random() < 0.25:
            name = r.choice(writable)
            return f"{name}[({self.atom()}) & {self.arrays[name][1] - 1}]"
        return r.choice(free) if free else None

    def statement(self, depth: int) -> list[str]:
        r = self.r
        target = self.target()
        kind = r.randrange(16)
        if target is None:
            return [";"]
        if kind < 4:
            return [f"{target} {r.choice(('+=', '+=', '-=', '^=', '*='))} {r.choice(('1', '2', '3', self.atom()))};"]
        if kind < 8:
            return [f"{target} = {self.expression(2)};"]
        if kind == 8:
            return [f"{target}{r.choice(('++', '--'))};"]
        if kind < 12:
            lines = [f"if ({self.condition()}) {{", *self.statement(depth), "}"]
            if r.random() < 0.5:
                lines += ["else {", *self.statement(depth), "}"]
            return lines
        if kind == 12 and self.depth_of_loop:
            return [f"if ({self.condition()}) {r.choice(('break', 'continue'))};"]
        if kind == 13:
            default = ["default:", *self.statement(depth)] if r.random() < 0.5 else []
            return [f"switch ({self.atom()}) {{", "case 0:", *self.statement(0), r.choice(("break;", "")), "case 1: ;",
                    *default, "}"]  # fmt: skip
        if kind == 14 and self.bumps:
            name, wanted = self.bumps[0]
            fitting = [n for n, k in self.names.items() if k == wanted and n not in self.steady]
            if fitting:
                return [f"{name}(&{r.choice(fitting)});"]
        if kind == 15:
            return [r.choice(("if (" + self.condition() + ") return 0;", "if (" + self.condition() + ") abort();"))]
        return [f"{target} = {self.atom()};"]

    def block(self, depth: int) -> list[str]:
        r = self.r
        lines: list[str] = []
        outside = dict(self.names)
        for _ in range(r.choice((1, 1, 2, 3))):
            lines += self.statement(depth)
        if depth > 1 and r.random() < 0.7:
            lines += self.loop(depth - 1)
        if r.random() < 0.3:
            lines.append(self.here())
        self.names = outside
        return lines

    def loop(self, depth: int) -> list[str]:
        r = self.r
        self.depth_of_loop += 1
        shape = r.randrange(9)
        name, kind = self.new("i"), r.choice(TYPES)
        bound = r.choice(("3", "10", "20", "100", "300", self.atom(), self.atom(), self.atom()))
        bound = r.choice(("2", "3")) if self.inner_inputs else bound
        step = r.choice(("1", "1", "1", "2", "3"))
        self.names[name] = kind
        keep = r.random() < 0.75
        if keep:
            self.steady.add(name)
        body = self.block(depth)
        declared = [f"{kind} {name} = {r.choice(('0', '0', '1', self.atom() if self.count > 3 else '0'))};"]
        declared = [line if f"= {name};" not in line else f"{kind} {name} = 0;" for line in declared]
        if shape < 3:
            lines = [
                *declared,
                f"for (; {name} {r.choice(('<', '<', '<=', '!='))} {bound}; {name} += {step}) {{",
                *body,
                "}",
            ]
        elif shape == 3:
            lines = [f"{kind} {name} = {bound};", f"while ({name} > 0) {{", f"{name} -= {step};", *body, "}"]
        elif shape == 4:
            lines = [*declared, "do {", *body, f"{name}++;", f"}} while ({name} < {bound});"]
        elif shape == 5:
            lines = [*declared, "for (;;) {", f"if ({name} >= {bound}) break;", *body, f"{name} += {step};", "}"]
        elif shape == 6:
            label = self.new("l")
            body = [line.replace("continue;", ";").replace("break;", ";") for line in body]
            lines = [*declared, f"{label}: ;", *body, f"{name}++;", f"if ({name} < {bound}) goto {label};"]
        elif shape == 7:
            last = f"if ({name} > 20) break;" if r.random() < 0.7 else ";"
            lines = [*declared, f"while ({self.condition()}) {{", *body, f"{name} += {step};", last, "}"]
        else:
            lines = [f"{kind} {name} = {bound};", f"while ({name} != 0) {{", f"{name} {r.choice(('-= 1', '/= 2', '>>= 1'))};",
                     *body, "}"]  # fmt: skip
        self.depth_of_loop -= 1
        return lines

    def here(self) -> str:
        """A mark where variables are looked at, perhaps with those of one loop only."""
        number = len(self.draft.looked_at)
        chosen = [(name, kind) for name, kind in self.names.items()]
        self.r.shuffle(chosen)
        self.draft.looked_at.append(chosen[:4])
        return f"/*HERE {number}*/"


HEAD: Final = """\
extern void abort(void);
void reach_error(void) { abort(); }
extern void assume_abort_if_not(int);
extern void __VERIFIER_assume(int);
extern int __VERIFIER_nondet_int(void); extern unsigned __VERIFIER_nondet_uint(void);
extern char __VERIFIER_nondet_char(void); extern unsigned char __VERIFIER_nondet_uchar(void);
extern short __VERIFIER_nondet_short(void); extern unsigned short __VERIFIER_nondet_ushort(void);
extern long long __VERIFIER_nondet_longlong(void); extern unsigned long long __VERIFIER_nondet_ulonglong(void);
extern _Bool __VERIFIER_nondet_bool(void);
"""


def text_of(draft: Draft, marks: Mapping[int, str], more: str = "") -> str:
    """The program with these statements at its marks."""
    body = "\n".join("    " + line for line in draft.body)
    for number in range(len(draft.looked_at)):
        body = body.replace(f"/*HERE {number}*/", marks.get(number, ";"))
    head = "\n".join(draft.head)
    return f"{HEAD}{head}\n{more}\nint main(void) {{\n{body}\n    return 0;\n}}\n"


def watching(draft: Draft) -> str:
    """The program that keeps the least and the largest values that it sees at its marks, and those of differences."""
    marks, more = {}, []
    for number, seen in enumerate(draft.looked_at):
        parts = [f"o{number} = 1;"]
        for name, value in _quantities(seen).items():
            tag = f"{number}_{name}"
            more.append(f"long long lo{tag} = 9223372036854775807LL; long long hi{tag} = -9223372036854775807LL;")
            parts.append(
                f"{{ long long w = (long long)({value}); if (w < lo{tag}) lo{tag} = w; if (w > hi{tag}) hi{tag} = w; }}"
            )
        more.append(f"long long o{number};")
        marks[number] = "{ " + " ".join(parts) + " }"
    return text_of(draft, marks, "\n".join(more))


def _quantities(seen: Sequence[tuple[str, str]]) -> dict[str, str]:
    found = {f"v{i}": name for i, (name, _) in enumerate(seen)}
    if len(seen) > 1:
        a, b = seen[0][0], seen[1][0]
        found["d"] = f"(int)((unsigned){a} - (unsigned){b})"
        found["s"] = f"(int)((unsigned){a} + (unsigned){b})"
        found["m"] = f"(unsigned){a} % 2u"
    return found


def with_assertion(draft: Draft, outcomes: Sequence[Outcome], r: random.Random) -> str | None:
    """The program with an assertion that its runs keep, or one that is off by one; None where nothing was seen."""
    usable = [o.globals for o in outcomes if o.status == "ok"]
    choices: list[tuple[int, str]] = []
    for number, seen in enumerate(draft.looked_at):
        there = [g for g in usable if g.get(f"o{number}")]
        if not there:
            continue
        for name, value in _quantities(seen).items():
            low = min(g[f"lo{number}_{name}"] for g in there)
            high = max(g[f"hi{number}_{name}"] for g in there)
            off = r.choice((0, 0, 1))
            wide = f"(long long)({value})"
            if abs(low) > 1 << 62 or abs(high) > 1 << 62:
                continue
            choices.append((number, f"{wide} <= {high - off}LL"))
            choices.append((number, f"{wide} >= {low + off}LL"))
            if low == high:
                choices += [(number, f"{wide} == {high + off}LL")] * 3
            elif not off:
                choices.append((number, f"({wide} >= {low}LL && {wide} <= {high}LL)"))
    if not choices:
        return None
    number, relation = r.choice(choices)
    return text_of(draft, {number: f"if (!({relation})) reach_error();"})

"""Random programs of several functions, with ``main``; the same seed gives the same program everywhere.

Functions share globals, structures that point to one another, tables, and what they are given the addresses of. They
call one another: in loops, in conditions, by pointers, themselves with a falling measure. Arguments may overlap one
another and globals. What is named is initialised and lives as long as it may be used, so that only arithmetic can be
undefined; a run may be long, and whoever runs a program bounds that.
"""

from __future__ import annotations

import random
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from loopless.check.oracle.signature import CType
from loopless_fuzz.generator.expressions import Names
from loopless_fuzz.generator.profile import EVERYTHING
from loopless_fuzz.generator.programs.bodies import Bodies, World
from loopless_fuzz.generator.programs.model import VOID, Kind, Parameter, Program, Routine, Shared, Structure
from loopless_fuzz.generator.syntax import (
    ARRAY_LENGTH,
    INT,
    LLONG,
    SCHAR,
    SHORT,
    UCHAR,
    UINT,
    ULLONG,
    USHORT,
    Assign,
    Binary,
    Block,
    Call,
    Const,
    Declare,
    Evaluate,
    Expr,
    If,
    Return,
    Stmt,
    Var,
)

PROGRAMS: Final = replace(
    EVERYTHING,
    name="programs",
    types=(*(INT,) * 7, UINT, UINT, SCHAR, UCHAR, SHORT, USHORT, LLONG, ULLONG),
    depth=2,
    sequence=2,
    body=(1, 2),
    do_loops=0.1,
    goto_loops=0.05,
    branches=0.2,
    exits=0.1,
    continues=0.03,
    switches=0.03,
    helpers=0.08,
    references=0.0,
    nondet=0.02,
    casts=0.05,
    ternaries=0.05,
    division=0.04,
    shifts=0.02,
    masks=0.05,
    products=0.02,
    connectives=0.12,
    edge_constants=0.005,
    shapes=MappingProxyType(
        {"up": 6.0, "down": 2.5, "unequal": 0.4, "geometric": 0.6, "phases": 0.4, "two-counters": 0.4, "wild": 0.3}
    ),
)
_PADDING: Final = 520
"""Stores that make a function too large to be inlined."""


def generate_program(seed: int) -> Program:
    """The program of a seed."""
    return _Programs(random.Random(f"programs:{seed}")).program()


class _Programs:
    """Draws programs."""

    def __init__(self, rng: random.Random) -> None:
        self.random = rng
        self.types: tuple[CType, ...] = tuple(rng.choice(PROGRAMS.types) for _ in range(rng.choice((1, 2, 2, 3))))
        self.world = World()
        self.globals: list[Shared] = []
        self.pointers: list[tuple[str, CType]] = []

    def program(self) -> Program:
        self._objects()
        count = self.random.choice((2, 2, 2, 3, 3, 4, 5, 7))
        for index in range(count):
            self._routine(f"f{index}")
            if index in (1, 3):
                self._table(index)
        self.world.routines.append(self._main())
        return Program(self.world.structure, tuple(self.globals), tuple(self.world.routines))

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def type(self) -> CType:
        return self.random.choice(self.types)

    # -------------------------------------------------------------------------------------------------- globals

    def _objects(self) -> None:
        rng, world = self.random, self.world
        for name in ("g", "h", "k")[: rng.randint(1, 3)]:
            ctype, value = self.type(), rng.choice((0, 0, 1, 3, 6, 10))
            constant = self.chance(0.15)
            self._global(name, f"{'const ' * constant}{ctype.name} {name} = {value};")
            world.scalars[name] = ctype
            if constant:
                world.constants.add(name)
        if self.chance(0.4):
            ctype = self.type()
            self._global("a", f"{ctype.name} a[{ARRAY_LENGTH}] = {self._values()};")
            world.arrays["a"] = ctype
        if self.chance(0.4):
            ctype = self.type()
            self._global("table", f"const {ctype.name} table[{ARRAY_LENGTH}] = {self._values()};")
            for name in (f"table[{rng.randrange(ARRAY_LENGTH)}]", f"table[{rng.choice(list(world.scalars))} & 7]"):
                world.scalars[name] = ctype
                world.constants.add(name)
        if self.chance(0.6):
            self._structures()
        if self.chance(0.3):
            targets = [name for name in ("g", "h", "k") if name in world.scalars and name not in world.constants]
            if targets:
                target = rng.choice(targets)
                ctype = world.scalars[target]
                self._global("q", f"{ctype.name} *q = &{target};")
                world.scalars["(*q)"] = ctype

    def _global(self, name: str, text: str) -> None:
        self.globals.append(Shared(name, ("static " if self.chance(0.7) else "") + text))

    def _values(self) -> str:
        return "{" + ", ".join(str(self.random.choice((0, 1, 2, 3, 5, 8, 12))) for _ in range(ARRAY_LENGTH)) + "}"

    def _structures(self) -> None:
        rng, world = self.random, self.world
        members = tuple((name, self.type()) for name in ("a", "b", "c")[: rng.randint(1, 3)])
        pointees = [
            ctype for name, ctype in world.scalars.items() if name in ("g", "h", "k") and name not in world.constants
        ]
        pointee = rng.choice(pointees) if pointees and self.chance(0.5) else None
        array = self.type() if self.chance(0.3) else None
        world.structure = Structure(members, array, pointee, self.chance(0.3))
        for name in ("s", "t")[: rng.randint(1, 2)]:
            self._global(name, f"struct S {name} = {self.initial(f'&{name}')};")
            world.structures.append(f"&{name}")

    def initial(self, own: str) -> str:
        """What a structure begins with; ``own`` is its address."""
        rng, structure = self.random, self.world.structure
        assert structure is not None
        parts = [str(rng.choice((0, 1, 2, 4, 9))) for _ in structure.scalars]
        parts += [self._values()] if structure.array is not None else []
        if structure.pointee is not None:
            inside = [
                f"{own}{'.' if own.startswith('&') else '->'}{name}"
                for name, ctype in structure.scalars
                if ctype == structure.pointee
            ]
            outside = [
                f"&{name}"
                for name, ctype in self.world.scalars.items()
                if ctype == structure.pointee and name in ("g", "h", "k") and name not in self.world.constants
            ]
            parts.append(rng.choice(inside) if inside and self.chance(0.3) else rng.choice(outside))
        if structure.linked:
            parts.append(rng.choice([own, *self.world.structures]))
        return "{" + ", ".join(parts) + "}"

    def _table(self, index: int) -> None:
        unary = [routine.name for routine in self.world.routines if routine.unary and not routine.measured]
        if not unary or not self.chance(0.5):
            return
        names = [self.random.choice(unary) for _ in range(self.random.choice((2, 2, 4)))]
        name = f"calls{index}"
        constant = "const " if self.chance(0.7) else ""
        self.globals.append(
            Shared(name, f"static int (*{constant}{name}[{len(names)}])(int) = {{{', '.join(names)}}};", True)
        )
        self.world.tables[name] = len(names)

    # ------------------------------------------------------------------------------------------------ functions

    def _bodies(self, params: tuple[Parameter, ...], result: CType) -> Bodies:
        """A writer that may name the parameters and globals."""
        world = self.world
        writer = Bodies(self.random, PROGRAMS, Names(), self.types, world)
        names = writer.names
        for name, ctype in world.scalars.items():
            names.scalars[name] = ctype
        names.arrays.update(world.arrays)
        names.kept.update(world.constants)
        for address in world.structures:
            if self.chance(0.6):
                writer.add_structure(address)
        for param in params:
            match param.kind:
                case "value":
                    names.scalars[param.name] = param.type
                case "pointer":
                    names.scalars[f"(*{param.name})"] = param.type
                case "array":
                    names.arrays[param.name] = param.type
                case "structure":
                    writer.structures.append(param.name)
                    writer.add_structure(param.name)
                case "callback":
                    writer.callbacks.append(param.name)
        writer.returns = result
        writer.result = result
        return writer

    def _params(self) -> tuple[Parameter, ...]:
        rng, world = self.random, self.world
        made = [Parameter(name, "value", self.type()) for name in ("n", "x")[: rng.choice((0, 1, 1, 2))]]
        kinds: list[Kind] = ["pointer", "pointer", "array"]
        if world.structures:
            kinds += ["structure", "structure"]
        if any(routine.unary and not routine.measured for routine in world.routines):
            kinds.append("callback")
        for _ in range(rng.choice((0, 1, 1, 2, 2))):
            kind = rng.choice(kinds)
            name = {"pointer": "p", "array": "v", "structure": "u", "callback": "call", "value": "y"}[kind]
            name += "" if not any(param.name == name for param in made) else "2"
            if not any(param.name == name for param in made):
                made.append(Parameter(name, kind, INT if kind in ("callback", "structure") else self.type()))
        return tuple(made)

    def _routine(self, name: str) -> None:
        roll = self.random.random()
        if roll < 0.2:
            self._recursive(name)
        elif roll < 0.4:
            self._plain(name, (Parameter("n", "value", INT),), INT)
        else:
            self._plain(name, self._params(), VOID if self.chance(0.25) else self.type())

    def _plain(self, name: str, params: tuple[Parameter, ...], result: CType) -> None:
        """A function without recursion."""
        writer = self._bodies(params, result)
        watched, regions = _watched(writer, params, self.world)
        body: list[Stmt] = list(writer.declared(lambda: self._locals(writer)))
        for _ in range(self.random.choice((0, 0, 1, 1, 1, 1, 2, 3))):
            body.extend(writer.loop(PROGRAMS.depth if self.chance(0.3) else 1))
            if self.chance(0.4):
                body.extend(writer.statement())
        if len(body) < 3:
            body.extend(writer.statement())
        body += self._padding()
        body.extend(writer.declared(lambda: (writer.finish(None),)))
        static = self.chance(0.8)
        self.world.routines.append(Routine(name, result, params, tuple(body), watched, regions, static))

    def _locals(self, writer: Bodies) -> Block:
        made: list[Stmt] = []
        for _ in range(self.random.randint(1, 2)):
            value: Expr = Const(self.random.choice((0, 0, 1, 3)))
            if writer.names.scalars and self.chance(0.3):
                value = writer.variable()
            made.append(writer.declare("l", self.type(), value))
        if self.world.structure is not None and self.chance(0.25):
            made.append(Evaluate(Var(f"struct S e = {self.initial('&e')}")))
            writer.structures.append("&e")
            writer.add_structure("&e")
        return tuple(made)

    def _padding(self) -> list[Stmt]:
        """Perhaps so many stores that the function is not inlined; they cost nothing else."""
        if not self.chance(0.3):
            return []
        stores = "; ".join(f"room = {index % 7}" for index in range(_PADDING))
        return [Evaluate(Var(f"int room; {stores}"))]

    def _recursive(self, name: str) -> None:
        """A function that calls itself with a smaller first argument: once, twice, or by way of another function."""
        rng = self.random
        measure = Parameter("n", "value", INT if self.chance(0.7) else self.type())
        params = (measure, *(param for param in self._params() if param.name != "n" and param.kind != "callback"))
        result = VOID if self.chance(0.3) else self.type()
        names = (name, f"{name}b") if self.chance(0.25) else (name,)
        tree = len(names) == 1 and self.chance(0.3)
        for index, own in enumerate(names):
            other = names[1 - index] if len(names) == 2 else own
            writer = self._bodies(params, result)
            writer.names.kept.add("n")
            watched, regions = _watched(writer, params, self.world)
            body: list[Stmt] = [If(Binary("<=", Var("n"), Const(0)), (writer.finish(Const(rng.choice((0, 1, 2)))),))]
            body.extend(writer.declared(lambda: self._locals(writer)))  # noqa: B023  # it is called at once
            if self.chance(0.3):
                body.extend(writer.loop(1))
            body.extend(writer.declared(writer.assignment))
            if self.chance(0.15):
                body.append(writer.ending())
            if tree:
                body.extend(writer.declared(lambda: (Evaluate(Call(other, self._onward(writer, params))),)))  # noqa: B023
            body.extend(writer.declared(lambda: self._last(Call(other, self._onward(writer, params)), writer)))  # noqa: B023
            routine = Routine(own, result, params, tuple(body), watched, regions, measured=True)
            self.world.routines.append(routine)

    def _last(self, again: Call, writer: Bodies) -> Block:
        """The call of itself at the end of a function."""
        if writer.returns == VOID:
            return (Evaluate(again), *(writer.assignment() if self.chance(0.4) else ()), Return(Var("")))
        return (Return(Binary("+", again, Const(1)) if self.chance(0.5) else again),)

    def _onward(self, writer: Bodies, params: tuple[Parameter, ...]) -> tuple[Expr, ...]:
        """The arguments of a call of itself: mostly those it has."""
        step = Binary("-", Var("n"), Const(self.random.choice((1, 1, 1, 2))))
        rest = [Var(param.name) if self.chance(0.8) else writer.argument(param) for param in params[1:]]
        return (step, *rest)

    def _main(self) -> Routine:
        """``main``: inputs in ranges, and calls."""
        rng = self.random
        writer = self._bodies((), INT)
        watched, regions = _watched(writer, (), self.world)
        body: list[Stmt] = []
        for name in ("n", "m", "x")[: rng.randint(1, 3)]:
            ctype = self.type()
            source = rng.choice(("__VERIFIER_nondet_int", "__VERIFIER_nondet_int", "__VERIFIER_nondet_uint"))
            body.append(Declare(name, ctype, Call(source)))
            body.extend(self._range(name))
            writer.names.scalars[name] = ctype
        body.extend(writer.declared(lambda: self._locals(writer)))
        writable = [name for name in self.world.scalars if name not in self.world.constants]
        inputs = [name for name in ("n", "m", "x") if name in writer.names.scalars]
        body += [Assign(Var(name), "", Var(rng.choice(inputs))) for name in writable if self.chance(0.25)]
        for _ in range(rng.randint(1, 3)):
            if self.chance(0.5):
                body.extend(writer.loop(2 if self.chance(0.3) else 1))
            body.extend(writer.declared(writer.calling))
        while any(routine.name not in self.world.called for routine in self.world.routines) and self.chance(0.9):
            body.extend(writer.declared(writer.calling))
        body.append(Return(Const(0) if self.chance(0.5) else Binary("&", writer.variable(), Const(127))))
        return Routine("main", INT, (), tuple(body), watched, regions, static=False)

    def _range(self, name: str) -> Block:
        low, high = self.random.choice(((0, 5), (0, 10), (0, 20), (1, 8), (2, 6)))
        roll = self.random.random()
        if roll < 0.4:
            outside = Binary("||", Binary("<", Var(name), Const(low)), Binary(">", Var(name), Const(high)))
            return (If(outside, (Assign(Var(name), "", Const(self.random.randint(low, high))),)),)
        if roll < 0.75:
            return (Assign(Var(name), "&", Const(self.random.choice((3, 7, 7, 15)))),)
        if roll < 0.9:
            outside = Binary("||", Binary("<", Var(name), Const(low)), Binary(">", Var(name), Const(high)))
            return (If(outside, (Return(Const(1)),)),)
        return ()


def _watched(
    writer: Bodies, params: tuple[Parameter, ...], world: World
) -> tuple[tuple[str, ...], tuple[tuple[str, str, str], ...]]:
    """What is noted at a function's entry: integers, and objects that may overlap."""
    values = [name for name in writer.names.scalars if "&" not in name]
    values += [f"{array}[{index}]" for array in writer.names.arrays for index in range(ARRAY_LENGTH)]
    regions = [(name, f"&{name}", f"sizeof {name}") for name in world.scalars if name.isidentifier()]
    regions += [(name, name, f"sizeof {name}") for name in world.arrays]
    regions += [(address[1:], address, f"sizeof {address[1:]}") for address in world.structures]
    for param in params:
        if param.kind in ("pointer", "structure"):
            regions.append((param.name, param.name, f"sizeof *{param.name}"))
        elif param.kind == "array":
            regions.append((param.name, param.name, f"{ARRAY_LENGTH} * sizeof *{param.name}"))
    regions += [
        (name[2:-1], name[2:-1], f"sizeof {name}")
        for name in writer.names.scalars
        if name.startswith("(*") and "->" in name
    ]
    regions += [("q", "q", "sizeof *q")] if "(*q)" in world.scalars else []
    return tuple(values), tuple(dict.fromkeys(regions))

"""Statements of functions that share memory: calls with addresses and functions as arguments, ends of the run."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from loopless.check.oracle.signature import CType
from loopless_fuzz.generator.expressions import Names
from loopless_fuzz.generator.loops import Loops
from loopless_fuzz.generator.profile import Profile
from loopless_fuzz.generator.programs.model import VOID, Parameter, Routine, Structure
from loopless_fuzz.generator.syntax import (
    ARRAY_LENGTH,
    Assign,
    Binary,
    Block,
    Call,
    Const,
    DeclareArray,
    Evaluate,
    Expr,
    If,
    Return,
    Stmt,
    Var,
)

CALLS: Final = 0.3
"""How many of the statements call a function."""


@dataclass(slots=True)
class World:
    """What the functions of a program share: names of read-only scalars, objects by address, functions so far."""

    structure: Structure | None = None
    constants: set[str] = field(default_factory=set)
    structures: list[str] = field(default_factory=list)
    """Addresses of global structures."""
    scalars: dict[str, CType] = field(default_factory=dict)
    arrays: dict[str, CType] = field(default_factory=dict)
    routines: list[Routine] = field(default_factory=list)
    tables: dict[str, int] = field(default_factory=dict)
    """Tables of functions ``int (int)`` that may be called by now, with their lengths."""
    called: set[str] = field(default_factory=set)
    """The functions that some function before calls by name."""


class Bodies(Loops):
    """Draws the body of one function; what it calls must be in ``world.routines``."""

    def __init__(
        self, rng: random.Random, profile: Profile, names: Names, types: tuple[CType, ...], world: World
    ) -> None:
        super().__init__(rng, profile, names, types)
        self.world = world
        self.structures: list[str] = list(world.structures)
        self.callbacks: list[str] = []
        self.returns: CType = VOID
        self.pending: list[Stmt] = []
        """Declarations that must stand before the statement that is being made."""
        if world.routines:
            names.helpers[""] = 0  # so that expressions may be calls

    # ---------------------------------------------------------------------------------------------------- loops

    def loop(self, depth: int) -> Block:
        """A loop; over an array less often than in programs of one function, where arrays are rare."""
        arrays = self.names.arrays
        if not self.chance(0.2):
            self.names.arrays = {}
        shapes = self.profile.shapes
        shape = self.random.choices(list(shapes), list(shapes.values()))[0]
        if self.names.arrays:
            shape = "scan"
        self.names.arrays = arrays
        maker: Callable[[int], Block] = getattr(self, f"_{shape.replace('-', '_')}")
        return self.declared(lambda: maker(depth))

    def bound(self, counter: str) -> Expr:
        """What a counter runs up to, now and then what a call returns."""
        if self.world.routines and self.chance(0.08):
            made = self.called()
            if made is not None and self.valued(made):
                return made
        return super().bound(counter)

    def declared(self, make: Callable[[], Block]) -> Block:
        """What is made, with the declarations before it that calls in it ask for."""
        outer, self.pending = self.pending, []
        made = make()
        pending, self.pending = self.pending, outer
        return (*pending, *made)

    # ----------------------------------------------------------------------------------------------- statements

    def statement(self) -> Block:
        """One statement that is no loop."""
        roll = self.random.random()
        if self.world.routines and roll < CALLS:
            return self.declared(self.calling)
        if roll < CALLS + 0.05:
            return (self.ending(),)
        if roll < CALLS + 0.1 and self.structures:
            return self.aiming()
        return self.declared(super().statement)

    def straight(self) -> Block:
        """Assignments, now and then with a call among them."""
        made = super().straight()
        if self.world.routines and self.chance(0.15):
            made += self.declared(self.calling)
        return made

    def answer(self) -> Expr:
        """What this function returns."""
        if self.returns == VOID:
            return Var("")
        return super().answer()

    def ending(self) -> Stmt:
        """The end of the run, behind a condition that is not often true."""
        test = Binary("==", Var(self.scalar_name()), Const(self.pick(3, 5, 7, 11)))
        if self.chance(0.5):
            test = Binary(">", Var(self.scalar_name()), Const(self.pick(8, 20, 60)))
        return If(test, (Evaluate(Call("exit", (Const(self.pick(0, 1)),))),))

    def aiming(self) -> Block:
        """Another target for a pointer in a structure: a global, or a part of a structure."""
        structure, at = self.world.structure, self.member_of(self.random.choice(self.structures))
        if structure is None:
            return ()
        if structure.pointee is not None and self.chance(0.7):
            options = [f"&{name}" for name, ctype in self.world.scalars.items() if ctype == structure.pointee]
            options = [name for name in options if name[1:] not in self.world.constants]
            return (Assign(Var(f"{at}p"), "", Var(self.random.choice(options))),) if options else ()
        if structure.linked and self.world.structures:
            return (Assign(Var(f"{at}o"), "", Var(self.random.choice(self.world.structures))),)
        return ()

    def calling(self) -> Block:
        """A statement that calls a function, of the program or by a pointer."""
        call = self.called()
        if call is None:
            return ()
        target = self.target()
        roll = self.random.random()
        if roll < 0.5 or target is None or not self.valued(call):
            return (Evaluate(call),)
        if roll < 0.85:
            return (Assign(Var(target), self.pick("", "", "+"), call),)
        test = Binary(self.pick("<", ">", "!="), call, Const(self.small()))
        return (If(test, self.assignment() or (Evaluate(Var(target)),)),)

    def valued(self, call: Call) -> bool:
        """Whether a call gives a value."""
        return all(routine.result != VOID for routine in self.world.routines if routine.name == call.function)

    def call(self, depth: int) -> Expr:
        """A call as an expression, or a variable where nothing that gives a value can be called."""
        del depth
        made = self.called()
        return made if made is not None and self.valued(made) else self.variable()

    # ---------------------------------------------------------------------------------------------------- calls

    def called(self) -> Call | None:
        """A call of a function of the program, through a pointer now and then."""
        if self.callbacks and self.chance(0.4):
            return Call(self.random.choice(self.callbacks), (self.argument_value(),))
        if self.world.tables and self.chance(0.25):
            table, length = self.random.choice(list(self.world.tables.items()))
            index = f"{self.scalar_name()} & {length - 1}"
            return Call(f"{table}[{index}]", (self.argument_value(),))
        if not self.world.routines:
            return None
        fresh = [routine for routine in self.world.routines if routine.name not in self.world.called]
        routine = self.random.choice(fresh if fresh and self.chance(0.6) else self.world.routines)
        self.world.called.add(routine.name)
        return Call(routine.name, self.arguments(routine.params, measured=routine.measured))

    def arguments(self, params: Sequence[Parameter], *, measured: bool = False) -> tuple[Expr, ...]:
        """Arguments for a function; the first is small where that bounds how deep it calls itself."""
        made: list[Expr] = []
        for index, param in enumerate(params):
            if measured and index == 0:
                made.append(Binary("&", Var(self.scalar_name()), Const(self.pick(3, 3, 7))))
                continue
            before = [
                arg
                for arg, other in zip(made, params, strict=False)
                if (other.kind, other.type) == (param.kind, param.type)
            ]
            again = param.kind != "value" and before and self.chance(0.35)
            made.append(before[0] if again else self.argument(param))
        return tuple(made)

    def argument(self, param: Parameter) -> Expr:
        """An argument of the kind that a parameter has."""
        match param.kind:
            case "value":
                return self.argument_value()
            case "pointer":
                return self.address(param.type)
            case "array":
                return self.array(param.type)
            case "structure":
                return Var(self.random.choice(self.structures))
            case "callback":
                named = [routine.name for routine in self.world.routines if routine.unary and not routine.measured]
                return Var(self.random.choice([*self.callbacks, *named]))

    def argument_value(self) -> Expr:
        """An integer to pass on."""
        return Var(self.scalar_name()) if self.chance(0.7) else Const(self.pick(0, 1, 2, 3, 5, 8, 12))

    def scalar_name(self) -> str:
        """Any scalar."""
        return self.random.choice(list(self.names.scalars))

    def address(self, ctype: CType) -> Expr:
        """The address of an integer that may be changed: of a counter of a loop around now and then."""
        free = [name for name, of in self.names.scalars.items() if of == ctype and name not in self.world.constants]
        if not self.chance(0.1):
            free = [name for name in free if name not in self.names.kept]
        elements = [name for name, of in self.names.arrays.items() if of == ctype]
        if elements and self.chance(0.2):
            return Var(f"&{self.random.choice(elements)}[{self.random.randrange(ARRAY_LENGTH)}]")
        if free and self.chance(0.9):
            name = self.random.choice(free)
            return Var(name[2:-1] if name.startswith("(*") else f"&{name}")
        made = self.declare("m", ctype, Const(self.pick(0, 1, 4)))
        del self.names.scalars[made.name]  # it stands before the statement, perhaps outside of this block
        self.pending.append(made)
        return Var(f"&{made.name}")

    def array(self, ctype: CType) -> Expr:
        """An array."""
        fitting = [name for name, of in self.names.arrays.items() if of == ctype]
        if fitting:
            return Var(self.random.choice(fitting))
        name = self.fresh("w")
        values = tuple(self.pick(0, 1, 2, 3, 9) for _ in range(ARRAY_LENGTH))
        self.pending.append(DeclareArray(name, ctype, values))
        return Var(name)

    # --------------------------------------------------------------------------------------------------- memory

    @staticmethod
    def member_of(address: str) -> str:
        """What stands before the name of a member of the structure at an address."""
        return f"{address[1:]}." if address.startswith("&") else f"{address}->"

    def add_structure(self, address: str) -> None:
        """Name the members of a structure."""
        structure = self.world.structure
        assert structure is not None
        at = self.member_of(address)
        self.names.scalars.update({f"{at}{name}": ctype for name, ctype in structure.scalars})
        if structure.array is not None:
            self.names.arrays[f"{at}v"] = structure.array
        if structure.pointee is not None:
            self.names.scalars[f"(*{at}p)"] = structure.pointee
        if structure.linked and self.chance(0.5):
            name, ctype = self.random.choice(structure.scalars)
            self.names.scalars[f"{at}o->{name}"] = ctype

    def finish(self, value: Expr | None) -> Stmt:
        """The last statement of a function."""
        return Return(Var("") if self.returns == VOID else value if value is not None else self.answer())

"""Random C functions with loops, and inputs for them; the same seed gives the same program everywhere.

>>> program = generate(7)
>>> text = print_program(program)
>>> program == generate(7)
True
"""

from __future__ import annotations

import random

from loopless.check.oracle.signature import CType, Signature
from loopless_fuzz.generator.data import Data
from loopless_fuzz.generator.expressions import Names
from loopless_fuzz.generator.features import FEATURES, features
from loopless_fuzz.generator.inputs import Arguments, data_inputs, inputs, nondet_stream
from loopless_fuzz.generator.loops import Loops
from loopless_fuzz.generator.printer import print_program
from loopless_fuzz.generator.profile import EVERYTHING, LOOP_SHAPES, OBSERVED, PROFILES, Profile
from loopless_fuzz.generator.recursion import Recursion
from loopless_fuzz.generator.syntax import (
    ARRAY_LENGTH,
    Assign,
    Assume,
    Binary,
    Block,
    Call,
    Const,
    DeclareArray,
    Function,
    GeneratedProgram,
    GlobalVar,
    If,
    Param,
    Reference,
    Return,
    Stmt,
    Var,
)

__all__ = [
    "ARRAY_LENGTH",
    "EVERYTHING",
    "FEATURES",
    "LOOP_SHAPES",
    "PROFILES",
    "GeneratedProgram",
    "Profile",
    "features",
    "generate",
    "inputs",
    "inputs_of",
    "nondet_stream",
    "print_program",
]

FUNCTION = "f"
"""The name of the function under test."""

RECURSIVE = "again"
"""The name of a helper that calls itself."""


def generate(seed: int, profile: Profile = EVERYTHING) -> GeneratedProgram:
    """The program of a seed under a profile. Nothing but these two decides it."""
    if profile.reach:
        return Data(random.Random(f"{profile.name}:{seed}"), profile).program()
    return _Programs(random.Random(f"{profile.name}:{seed}"), profile).program()


def inputs_of(profile: Profile, signature: Signature, seed: int, count: int) -> list[Arguments]:
    """``count`` argument tuples for programs of a profile, the same for the same seed; as :func:`inputs` and, for loops
    that read data, :func:`data_inputs`.
    """
    return (data_inputs if profile.reach else inputs)(signature, seed, count)


class _Programs:
    """Draws whole programs."""

    def __init__(self, rng: random.Random, profile: Profile) -> None:
        self.random = rng
        self.profile = profile
        width = rng.choice((1, 1, 2, 2, 3))
        self.types: tuple[CType, ...] = tuple(rng.choice(profile.types) for _ in range(width))

    def program(self) -> GeneratedProgram:
        rng, profile = self.random, self.profile
        names = Names()
        writer = Recursion(rng, profile, names, self.types)
        helpers = self._helpers(names)
        variables: list[GlobalVar] = []
        if writer.chance(profile.globals):
            for name in ("g", "h")[: rng.randint(1, 2)]:
                variables.append(GlobalVar(name, rng.choice(self.types), rng.choice((0, 0, 1, 5))))
                names.scalars[name] = variables[-1].type
        params = self._params(names)
        if profile.recursion and rng.random() < profile.recursion:
            if rng.random() < 0.4:
                changed = tuple(var.name for var in variables)
                function = writer.recursive(FUNCTION, rng.choice(self.types), params, changed)
                return GeneratedProgram(tuple(variables), tuple(helpers), function)
            helpers.append(self._recursive(params))
        body: list[Stmt] = list(self._start(writer, params))
        for helper in helpers:
            if isinstance(helper, Function) and helper.name == RECURSIVE:
                body.extend(self._called(writer, helper))
        for _ in range(rng.randint(1, profile.sequence)):
            body.extend(writer.loop(profile.depth))
            if writer.chance(0.3):
                body.extend(writer.statement())
        observed = self._observe(names, {var.name for var in variables})
        body.extend(Assign(Var(var.name), "", Var(source)) for var, source in observed)
        body.append(Return(writer.answer()))
        result = rng.choice(self.types)
        function = Function(FUNCTION, result, params, tuple(body))
        return GeneratedProgram((*variables, *(var for var, _ in observed)), tuple(helpers), function)

    def _params(self, names: Names) -> tuple[Param, ...]:
        rng, profile = self.random, self.profile
        count = rng.randint(*profile.params)
        params = [Param(name, rng.choice(self.types)) for name in ("n", "x", "y", "z")[:count]]
        names.scalars.update({param.name: param.type for param in params})
        if rng.random() < profile.arrays:
            params.append(Param("p", rng.choice(self.types), array=True))
            names.arrays["p"] = params[-1].type
        return tuple(params)

    def _recursive(self, params: tuple[Param, ...]) -> Function:
        """A recursive helper with parameters like those of the function, the first one perhaps of another type."""
        own = [
            Param(param.name, self.random.choice(self.types) if at == 0 else param.type)
            for at, param in enumerate(param for param in params if not param.array)
        ]
        own = own[: self.random.randint(1, 3)]
        names = Names({param.name: param.type for param in own})
        inner = Recursion(self.random, self.profile, names, self.types)
        return inner.recursive(RECURSIVE, self.random.choice(self.types), tuple(own))

    def _called(self, writer: Recursion, helper: Function) -> Block:
        """A local that takes the result of a call."""
        args = tuple(writer.variable() if writer.chance(0.85) else writer.constant() for _ in helper.params)
        return (writer.declare("c", helper.result, Call(helper.name, args)),)

    def _start(self, writer: Loops, params: tuple[Param, ...]) -> Block:
        """Declarations, an assumption, an early return."""
        rng, profile, names = self.random, self.profile, writer.names
        made: list[Stmt] = []
        for prefix in ("s", "t", "u")[: rng.randint(*profile.locals)]:
            value = Const(rng.choice((0, 0, 0, 1, 3))) if rng.random() < 0.7 else writer.variable()
            made.append(writer.declare(prefix, rng.choice(self.types), value))
        if rng.random() < (0.4 if names.arrays else profile.arrays * 0.7):
            ctype = rng.choice(self.types)
            values = tuple(rng.choice((0, 1, 2, 3, 5, 9, 40, 127)) for _ in range(ARRAY_LENGTH))
            made.append(DeclareArray("q", ctype, values))
            names.arrays["q"] = ctype
        if profile.undefined and rng.random() < 0.7:
            made.extend(writer.undefined())
        scalar = Var(rng.choice([param.name for param in params if not param.array]))
        if rng.random() < profile.assumes:
            low, high = rng.choice(((0, 100), (-10, 100), (0, 1000), (1, 20)))
            above = Binary(">=", scalar, Const(low))
            made.append(Assume(rng.choice((above, Binary("&&", above, Binary("<=", scalar, Const(high)))))))
        if rng.random() < profile.guards:
            test = rng.choice((Binary("<", scalar, Const(0)), Binary(">", scalar, Const(rng.choice((100, 50))))))
            made.append(If(test, (Return(writer.constant()),)))
        return tuple(made)

    def _helpers(self, names: Names) -> list[Function | Reference]:
        """Helpers, registered in ``names``: pure functions, some with a loop, and ones that change their argument."""
        rng, profile = self.random, self.profile
        helpers: list[Function | Reference] = []
        if rng.random() < profile.helpers:
            result = rng.choice(self.types)
            own = Names()
            params = tuple(Param(name, rng.choice(self.types)) for name in ("v", "w")[: rng.randint(1, 2)])
            own.scalars.update({param.name: param.type for param in params})
            writer = Loops(rng, _HELPER, own, self.types)
            body: Block = (writer.branch(1),) if rng.random() < 0.5 else ()
            if rng.random() < 0.35:
                body += writer.loop(1)
            helpers.append(Function("helper", result, params, (*body, Return(writer.value()))))
            names.helpers["helper"] = len(params)
        if rng.random() < profile.references:
            ctype = rng.choice(self.types)
            op = rng.choice(("+", "+", "-", "*", "^"))
            helpers.append(Reference("bump", ctype, op, rng.choice((1, 1, 2, 3))))
            names.references["bump"] = ctype
        return helpers

    def _observe(self, names: Names, globals_: set[str]) -> list[tuple[GlobalVar, str]]:
        """Globals that take the final values of the scalars that are not globals already."""
        if self.random.random() >= self.profile.observe:
            return []
        inner = [name for name in names.scalars if name not in globals_]
        return [(GlobalVar(f"{OBSERVED}{name}", names.scalars[name], 0), name) for name in inner]


_HELPER = Profile(
    "helper",
    depth=1,
    sequence=1,
    body=(1, 1),
    exits=0.1,
    arrays=0.0,
    helpers=0.0,
    references=0.0,
    nondet=0.0,
    assumes=0.0,
    goto_loops=0.0,
    shapes={"up": 1.0, "down": 1.0},
)

"""What kind of programs to generate, and which features a generated program has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from loopless.check.generate_ast import (
    INT,
    SCHAR,
    TYPES,
    UCHAR,
    UINT,
    Assign,
    Assume,
    Binary,
    Break,
    Call,
    Cast,
    Choice,
    Const,
    Continue,
    Declare,
    DeclareArray,
    DoWhile,
    Element,
    For,
    Function,
    GeneratedProgram,
    GotoLoop,
    If,
    Invoke,
    Param,
    Return,
    Step,
    Switch,
    While,
    parts,
    used,
    walk,
)
from loopless.check.native_signature import CType

LOOP_SHAPES: Final = (
    "up",
    "down",
    "unequal",
    "geometric",
    "two-counters",
    "oscillation",
    "phases",
    "euclid",
    "state-machine",
    "reset",
    "wild",
)
"""The shapes of loops: counting up or down, to an inequality, by multiples, and the papers' multi-branch shapes."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Which programs to generate. Weights and probabilities are relative to 1; 0 switches a feature off.

    ``shapes`` weighs the loop shapes; ``depth`` bounds how deep loops nest, ``sequence`` how many follow one another;
    ``params`` and ``locals`` bound the numbers of scalars; ``observe`` stores final values in globals, so that a run
    shows every variable and not only what is returned.
    """

    name: str
    types: tuple[CType, ...] = (*TYPES, INT, INT, INT, UINT)
    params: tuple[int, int] = (1, 4)
    locals: tuple[int, int] = (1, 3)
    depth: int = 2
    sequence: int = 2
    body: tuple[int, int] = (1, 3)
    shapes: Mapping[str, float] = field(default_factory=lambda: MappingProxyType(dict.fromkeys(LOOP_SHAPES, 1.0)))
    for_loops: float = 0.35
    do_loops: float = 0.12
    goto_loops: float = 0.1
    branches: float = 0.4
    exits: float = 0.25
    continues: float = 0.08
    switches: float = 0.08
    arrays: float = 0.2
    helpers: float = 0.3
    references: float = 0.2
    globals: float = 0.3
    nondet: float = 0.06
    assumes: float = 0.15
    guards: float = 0.15
    casts: float = 0.12
    ternaries: float = 0.15
    division: float = 0.15
    shifts: float = 0.15
    masks: float = 0.1
    products: float = 0.12
    connectives: float = 0.3
    edge_constants: float = 0.04
    observe: float = 0.8


OBSERVED: Final = "final_"
"""How the names of the globals begin that only take final values (:attr:`Profile.observe`)."""

_STRAIGHT: Final = MappingProxyType({"up": 3.0, "down": 2.0, "unequal": 1.0, "geometric": 1.0})
_BRANCHING: Final = MappingProxyType(
    {"two-counters": 3.0, "oscillation": 2.0, "phases": 2.0, "reset": 1.0, "state-machine": 1.0, "up": 1.0}
)
_WITHOUT_EUCLID: Final = MappingProxyType(dict.fromkeys((s for s in LOOP_SHAPES if s != "euclid"), 1.0))
"""Euclid's algorithm steps by variables, so it is no loop of constant steps: that is for loops with nonlinear steps."""
_COUNTING: Final = MappingProxyType({"up": 4.0, "down": 2.0, "unequal": 0.5})

EVERYTHING: Final = Profile("everything")
_SCALAR: Final = replace(
    EVERYTHING,
    switches=0.0,
    arrays=0.0,
    helpers=0.0,
    references=0.0,
    globals=0.0,
    nondet=0.0,
    assumes=0.0,
    goto_loops=0.0,
)
SINGLE_PATH: Final = replace(
    _SCALAR,
    name="single-path",
    depth=1,
    sequence=1,
    shapes=_STRAIGHT,
    branches=0.0,
    exits=0.0,
    continues=0.0,
    ternaries=0.0,
    guards=0.0,
)
MULTI_BRANCH: Final = replace(
    _SCALAR, name="multi-branch", depth=1, sequence=1, shapes=_BRANCHING, branches=0.7, continues=0.0, guards=0.0
)
NESTS: Final = replace(_SCALAR, name="nests", depth=3, sequence=2, body=(1, 2), exits=0.1, shapes=_COUNTING)
ARRAYS: Final = replace(_SCALAR, name="arrays", arrays=0.95)
EIGHT_BIT: Final = replace(
    _SCALAR, name="eight-bit", types=(SCHAR, UCHAR), params=(1, 2), locals=(1, 2), sequence=1, goto_loops=0.1
)
SINGLE_LOOP: Final = replace(
    _SCALAR,
    name="single-loop",
    shapes=_WITHOUT_EUCLID,
    depth=1,
    sequence=1,
    goto_loops=0.1,
    exits=0.4,
    continues=0.12,
    switches=0.1,
    guards=0.0,
    products=0.2,
    observe=1.0,
)
SINGLE_LOOP_8: Final = replace(SINGLE_LOOP, name="single-loop-8", types=(SCHAR, UCHAR), params=(1, 2), locals=(0, 2))
COMPOSED: Final = replace(
    EVERYTHING,
    name="composed",
    params=(1, 3),
    depth=1,
    sequence=3,
    body=(1, 2),
    shapes=_STRAIGHT,
    branches=0.05,
    exits=0.1,
    continues=0.0,
    switches=0.0,
    arrays=0.0,
    helpers=0.5,
    nondet=0.03,
    guards=0.6,
    ternaries=0.05,
)
COMPOSED_8: Final = replace(
    COMPOSED, name="composed-8", types=(SCHAR, UCHAR), params=(1, 2), locals=(1, 2), globals=0.0, nondet=0.0
)

PROFILES: Final = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            EVERYTHING,
            SINGLE_PATH,
            MULTI_BRANCH,
            NESTS,
            ARRAYS,
            EIGHT_BIT,
            SINGLE_LOOP,
            SINGLE_LOOP_8,
            COMPOSED,
            COMPOSED_8,
        )
    }
)
"""The profiles by name; ``everything`` is the default one."""

FEATURES: Final = (
    "while",
    "for",
    "do-while",
    "goto-loop",
    "branch",
    "nested-branch",
    "and",
    "or",
    "break",
    "continue",
    "return-in-loop",
    "nest",
    "loops-in-sequence",
    "switch",
    "ternary",
    "cast",
    "compound-assignment",
    "increment",
    "decrement",
    "division-by-constant",
    "division-by-variable",
    "remainder-by-constant",
    "remainder-by-variable",
    "shift-by-constant",
    "shift-by-variable",
    "mask",
    "product",
    "local-array",
    "array-parameter",
    "array-written",
    "helper-call",
    "helper-with-loop",
    "helper-by-reference",
    "global",
    "nondet",
    "assume",
    "edge-constant",
    "mixed-types",
    "mixed-signs",
    *(ctype.name for ctype in TYPES),
)
"""Everything that :func:`features` can report."""

_LOOPS: Final = (While, DoWhile, For, GotoLoop)
_EDGES: Final = frozenset(
    edge + off for bits in (7, 8, 15, 16, 31, 32, 63, 64) for edge in (1 << bits, -(1 << bits)) for off in (-1, 0, 1)
)


def features(program: GeneratedProgram) -> frozenset[str]:
    """The features that a program shows, found by looking at it."""
    found: set[str] = set()
    helpers = {helper.name: helper for helper in program.helpers}
    for node in walk(program):
        found.update(_of_node(node))
        if isinstance(node, Call):
            found.add("nondet" if node.function.startswith("__VERIFIER") else "helper-call")
    if any(isinstance(helper, Function) and _loops_below(helper) for helper in helpers.values()):
        found.add("helper-with-loop")
    if used(program.function) & {var.name for var in program.globals if not var.name.startswith(OBSERVED)}:
        found.add("global")
    types = [node.type for node in walk(program) if isinstance(node, Declare | Param | DeclareArray)]
    found.update(ctype.name for ctype in types)
    if len(set(types)) > 1:
        found.add("mixed-types")
    if len({ctype.signed for ctype in types}) > 1:
        found.add("mixed-signs")
    if sum(isinstance(stmt, _LOOPS) for stmt in program.function.body) > 1:
        found.add("loops-in-sequence")
    return frozenset(found)


def _loops_below(node: object) -> int:
    return sum(isinstance(item, _LOOPS) for part in parts(node) for item in walk(part))


def _below(node: object, kind: type) -> bool:
    return any(isinstance(item, kind) for part in parts(node) for item in walk(part))


_KINDS: Final[dict[type, str]] = {
    While: "while",
    DoWhile: "do-while",
    For: "for",
    GotoLoop: "goto-loop",
    If: "branch",
    Break: "break",
    Continue: "continue",
    Switch: "switch",
    Choice: "ternary",
    Cast: "cast",
    Assume: "assume",
    Invoke: "helper-by-reference",
    DeclareArray: "local-array",
}


def _of_node(node: object) -> set[str]:
    found = {_KINDS[type(node)]} if type(node) in _KINDS else set()
    match node:
        case While() | DoWhile() | For() | GotoLoop():
            return (
                found
                | ({"nest"} if _loops_below(node) else set())
                | ({"return-in-loop"} if _below(node, Return) else set())
            )
        case If():
            return found | ({"nested-branch"} if _below(node, If) else set())
        case Param(array=True):
            return {"array-parameter"}
        case Step(_, op):
            return {"increment" if op == "++" else "decrement"}
        case Assign(target, op, value):
            written = {"array-written"} if isinstance(target, Element) else set()
            return written | ({"compound-assignment"} | _of_operator(op, value) if op else set())
        case Binary(op, _, right):
            return _of_operator(op, right)
        case Const(value) if value in _EDGES and abs(value) > 64:
            return {"edge-constant"}
        case _:
            return found


def _of_operator(op: str, right: object) -> set[str]:
    kind = "constant" if isinstance(right, Const) else "variable"
    match op:
        case "&&":
            return {"and"}
        case "||":
            return {"or"}
        case "/":
            return {f"division-by-{kind}"}
        case "%":
            return {f"remainder-by-{kind}"}
        case "<<" | ">>":
            return {f"shift-by-{kind}"}
        case "&" if isinstance(right, Const):
            return {"mask"}
        case "*" if not isinstance(right, Const):
            return {"product"}
        case _:
            return set()

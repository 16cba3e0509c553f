"""What kind of programs to generate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from loopless.check.oracle.signature import CType
from loopless_fuzz.generator.syntax import CHAR, INT, LLONG, SCHAR, SHORT, TYPES, UCHAR, UINT, ULLONG, USHORT

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

NONLINEAR_SHAPES: Final = (
    "variable-step",
    "subtraction",
    "affine-step",
    "linear-map",
    "square-bound",
    "quadratic",
    "digits",
    "euclid",
    "geometric",
)
"""Shapes that move by variables and factors, or stop at products; only profiles that name them have them."""


VALUES: Final = MappingProxyType({"shift": 2.0, "truth": 3.0, "copy": 1.0})
OBJECTS: Final = MappingProxyType({"table": 1.0, "walk": 1.0})
"""Kinds of statements that may be undefined: for what values are, and for which object an address means."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Which programs to generate. Weights and probabilities are relative to 1; 0 switches a feature off.

    ``shapes`` weighs the loop shapes; ``depth`` bounds how deep loops nest, ``sequence`` how many follow one another;
    ``params`` and ``locals`` bound the numbers of scalars; ``observe`` stores final values in globals, so that a run
    shows every variable and not only what is returned. ``recursion`` is for a function that calls itself: a helper or
    the function under test. ``undefined`` is for statements that may be undefined in other ways than arithmetic, of the
    ``kinds`` of :mod:`loopless_fuzz.generator.undefined`. ``reach``: how far indices go in programs whose loops read
    data (:mod:`loopless_fuzz.generator.data`); where it is not 0, ``shapes`` are those of that module.
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
    recursion: float = 0.0
    undefined: float = 0.0
    reach: int = 0
    kinds: Mapping[str, float] = field(default_factory=lambda: VALUES)


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
_USUAL: Final = (*(INT,) * 6, UINT, UINT, UINT, SCHAR, UCHAR, SHORT, LLONG, ULLONG)
NESTS: Final = replace(
    _SCALAR,
    name="nests",
    types=_USUAL,
    depth=3,
    sequence=1,
    body=(1, 2),
    exits=0.12,
    continues=0.03,
    branches=0.2,
    division=0.08,
    masks=0.05,
    shapes=MappingProxyType({"nest": 30.0, **_COUNTING}),
)
NESTS_8: Final = replace(
    NESTS, name="nests-8", types=(SCHAR, UCHAR), params=(1, 2), locals=(0, 2), depth=2, goto_loops=0.0
)
NONLINEAR: Final = replace(
    _SCALAR,
    name="nonlinear",
    types=_USUAL,
    depth=1,
    sequence=1,
    body=(1, 2),
    exits=0.1,
    continues=0.02,
    branches=0.15,
    guards=0.05,
    ternaries=0.05,
    division=0.08,
    shapes=MappingProxyType({**dict.fromkeys(NONLINEAR_SHAPES, 1.0), "variable-step": 2.0, "square-bound": 1.5}),
)
NONLINEAR_8: Final = replace(NONLINEAR, name="nonlinear-8", types=(SCHAR, UCHAR), params=(1, 2), locals=(0, 2))
RECURSION: Final = replace(
    _SCALAR,
    name="recursion",
    types=_USUAL,
    depth=1,
    sequence=1,
    params=(1, 3),
    locals=(1, 2),
    body=(1, 2),
    globals=0.5,
    shapes=_COUNTING,
    recursion=1.0,
)
RECURSION_8: Final = replace(RECURSION, name="recursion-8", types=(SCHAR, UCHAR), params=(1, 2))
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

UNDEFINED: Final = replace(
    _SCALAR,
    name="undefined",
    types=_USUAL,
    params=(1, 3),
    depth=1,
    sequence=1,
    body=(1, 4),
    exits=0.1,
    guards=0.05,
    observe=0.5,
    shapes=_COUNTING,
    undefined=0.6,
)
UNDEFINED_8: Final = replace(UNDEFINED, name="undefined-8", types=(SCHAR, UCHAR), params=(1, 2), locals=(0, 2))
DATA_SHAPES: Final = (
    "sweep",
    "search",
    "string",
    "pointer",
    "rows",
    "compare",
    "trim",
    "number",
    "hop",
)
"""The shapes of loops that read data."""
DATA: Final = replace(
    _SCALAR,
    name="data",
    nondet=0.2,
    types=(CHAR, CHAR, SCHAR, UCHAR, UCHAR, SHORT, USHORT, INT, INT, UINT, LLONG),
    params=(1, 3),
    sequence=2,
    observe=1.0,
    reach=16,
    shapes=MappingProxyType({**dict.fromkeys(DATA_SHAPES, 1.0), "sweep": 5.0, "search": 2.0, "pointer": 1.5}),
)
DATA_8: Final = replace(DATA, name="data-8", types=(SCHAR, UCHAR), params=(1, 2), sequence=1, reach=4)

UNDEFINED_OBJECTS: Final = replace(UNDEFINED, name="undefined-objects", kinds=OBJECTS)

PROFILES: Final = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            EVERYTHING,
            SINGLE_PATH,
            MULTI_BRANCH,
            NESTS,
            NESTS_8,
            NONLINEAR,
            NONLINEAR_8,
            RECURSION,
            RECURSION_8,
            ARRAYS,
            EIGHT_BIT,
            SINGLE_LOOP,
            SINGLE_LOOP_8,
            COMPOSED,
            COMPOSED_8,
            UNDEFINED,
            UNDEFINED_8,
            UNDEFINED_OBJECTS,
            DATA,
            DATA_8,
        )
    }
)
"""The profiles by name; ``everything`` is the default one."""
